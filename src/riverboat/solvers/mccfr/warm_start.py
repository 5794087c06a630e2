"""Coarse to fine: a blueprint begins where one with fewer buckets or fewer bets stands.

    carry(coarse, fine)                  # same game; other cards, another menu, or both
    fine.step(10_000_000)

A bucket of the finer cards gets regrets and averages of the buckets that its hands come from, each in proportion to the part
of its hands that came along. Parts are rounded to powers of two in all, so that a bucket that was split plays bitwise as
before until it learns more. A decision is found again by its line; a new bet begins with no regret and no share of the
average, and all that follows it is learnt from nothing. `keep` is the share of the past that counts: a discounted restart.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import BLOCK, exact_weight
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies import files
from riverboat.strategies.blueprint import CHECKPOINT, load_blueprint

DEALS = 1 << 20  # by which hands are counted that two buckets share
_CHUNK = 1 << 15


def carry(coarse: Blueprint, fine: Blueprint, keep: float = 1.0, deals: int = DEALS) -> None:
    """Put what one solver has learnt into another, which has learnt nothing yet."""
    if not 0 < keep <= 1:
        raise InputError(f"keep={keep:g}: the share of the past that counts, above 0 and at most 1")
    if coarse.tree.rules != fine.tree.rules:
        raise InputError(f"{coarse.tree.rules.name} and {fine.tree.rules.name}: one game, with other cards or bets")
    if coarse.tables.dtype != "float32" or fine.tables.dtype != "float32":
        raise InputError(f"tables of {coarse.tables.dtype} and {fine.tables.dtype}: only float32 is carried over")
    if fine.iterations:
        raise InputError(f"{fine.iterations:,} iterations: what is carried over goes to a solver that has not begun")
    parts = bucket_parts(coarse.cards, fine.cards, coarse.tree.rules.rounds, fine.seed, deals)
    for street, part in enumerate(parts):
        mine, theirs = cells_of(coarse.tree, fine.tree, street)
        before, after = _rows(coarse, street), _rows(fine, street)
        after[:, mine] = keep * (part.T @ before[:, theirs])
    fine.iterations = int(keep * coarse.iterations) // BLOCK * BLOCK  # the clock of the weighting
    fine.updates = int(keep * coarse.updates)
    fine.weight = exact_weight(keep * coarse.weight)
    fine.payoff = keep * coarse.payoff


def blueprint_of(folder: str | Path, threads: int = 1) -> tuple[Blueprint, float]:
    """What the run in a folder has learnt, from its last checkpoint, and the seconds that it took."""
    checkpoints = files.checkpoints(Path(folder)) if Path(folder).is_dir() else []
    if not checkpoints:
        raise InputError(f"{folder}: no checkpoint of a training there; `riverboat train --out {folder}` makes one")
    strategy = load_blueprint(folder)
    meta, arrays = artifacts.read(checkpoints[-1])
    meta.text("kind", (CHECKPOINT,))
    if "cells" not in arrays:
        raise InputError(
            f"{checkpoints[-1]}: trained by a cluster, whose tables are in parts; begin with a run of one process"
        )
    solver = Blueprint(strategy.tree, strategy.cards, threads=threads)
    arrays.check_state(solver.state())
    solver.restore(arrays)
    return solver, meta.table("provenance").number("seconds", 0)


def _rows(solver: Blueprint, street: int) -> Array:
    """The table of a street. float32 [buckets, cells], not a copy"""
    tables = solver.tables
    first, width, count = int(tables.base[street]), int(tables.width[street]), tables.counts[street]
    return tables.cells[first : first + count * width].reshape(count, width)


def bucket_parts(
    coarse: CardAbstraction, fine: CardAbstraction, rounds: int, seed: int = 0, deals: int = DEALS
) -> list[Array]:
    """Which part of each coarse bucket goes to each fine one, on each street. float32 [coarse buckets, fine buckets]

    Hands are counted on random deals. Each column is scaled so that its largest part is a power of two.
    """
    if coarse.deck != fine.deck or coarse.deals[: rounds - 1] != fine.deals[: rounds - 1]:
        raise InputError(f"card abstractions {coarse.name!r} and {fine.name!r}: not of one game")
    deck, shown = coarse.deck, sum(coarse.deals[: rounds - 1])
    counts = [np.zeros((coarse.counts[r], fine.counts[r]), np.float32) for r in range(rounds)]
    rng = np.random.default_rng(seed)
    for begin in range(0, deals, _CHUNK):
        drawn = rng.random((min(_CHUNK, deals - begin), len(deck.cards)))
        size = min(deck.hole + shown, len(deck.cards) - 1)
        dealt = deck.cards[np.argpartition(drawn, size, axis=1)[:, : deck.hole + shown]].astype(np.uint8)
        dealt = rng.permuted(dealt, axis=1)
        old, new = (cards.buckets(dealt, check=False)[:, 0] for cards in (coarse, fine))
        for r, count in enumerate(counts):
            np.add.at(count, (old[:, r], new[:, r]), 1.0)
    return [_powers(count / np.maximum(count.sum(axis=1, keepdims=True), 1.0)) for count in counts]


def _powers(part: Array) -> Array:
    """Columns scaled so that the largest entry of each is a power of two. float32"""
    largest = part.max(axis=0)
    there = largest > 0
    scale = np.ones(len(largest))
    scale[there] = np.exp2(np.rint(np.log2(largest[there]))) / largest[there]
    out: Array = (part * scale).astype(np.float32)
    out[np.argmax(part, axis=0)[there], np.flatnonzero(there)] = np.exp2(np.rint(np.log2(largest[there])))
    return out


def cells_of(coarse: ActionTree, fine: ActionTree, street: int) -> tuple[Array, Array]:
    """Cells of a row of the fine table that the coarse one has too, and where. int64 [cells] each"""
    mine: list[int] = []
    theirs: list[int] = []
    work = [(0, 0)]
    while work:
        here, there = work.pop()
        if fine.actor[here] < 0 or coarse.actor[there] < 0 or fine.street[here] > street:
            continue
        old = {label: a for a, label in enumerate(coarse.moves(there))}
        count, before = int(fine.count[here]), int(coarse.count[there])
        for a, label in enumerate(fine.moves(here)):
            if label not in old:
                continue
            work.append((int(fine.first[here]) + a, int(coarse.first[there]) + old[label]))
            if fine.street[here] == street:
                mine += [2 * int(fine.slot[here]) + a, 2 * int(fine.slot[here]) + count + a]
                theirs += [2 * int(coarse.slot[there]) + old[label], 2 * int(coarse.slot[there]) + before + old[label]]
    return np.array(mine, np.int64), np.array(theirs, np.int64)
