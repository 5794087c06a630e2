"""Warm start of a trainer from one with a coarser card abstraction or a smaller action menu.

    warm_start(coarse, fine)             # same game; other cards, another menu, or both
    fine.step(10_000_000)

A bucket of the finer abstraction gets regrets and averages of the coarse buckets that its hands come from, each times
the share of the coarse bucket's hands that the fine bucket has. Shares are scaled so that the largest is a power of
two: a bucket that was split plays bitwise the same strategy until it is trained further. Decisions are matched by their
lines; a new bet starts with no regret and no average, and everything after it starts from zero. `keep` is the weight of
the earlier training: a discounted restart.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import LOOKUP_BLOCK, round_weight
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies import files
from riverboat.strategies.blueprint import CHECKPOINT_KIND, load_blueprint

NUM_DEALS = 1 << 20  # random deals that estimate the overlap of buckets
_CHUNK = 1 << 15


def warm_start(coarse: BlueprintTrainer, fine: BlueprintTrainer, keep: float = 1.0, deals: int = NUM_DEALS) -> None:
    """Copy regrets and averages of one trainer to another that has not been trained, times the weight `keep`.

    `deals` is the number of random deals that estimate which buckets overlap.
    """
    if not 0 < keep <= 1:
        raise InputError(f"keep={keep:g}: weight of the earlier training, must be above 0 and at most 1")
    if coarse.tree.rules != fine.tree.rules:
        raise InputError(f"{coarse.tree.rules.name} and {fine.tree.rules.name}: must be the same game")
    if coarse.tables.dtype != "float32" or fine.tables.dtype != "float32":
        raise InputError(f"tables of {coarse.tables.dtype} and {fine.tables.dtype}: a warm start needs float32")
    if fine.iterations:
        raise InputError(f"{fine.iterations:,} iterations: a warm start needs a trainer that has not been trained")
    shares = bucket_shares(coarse.cards, fine.cards, coarse.tree.rules.rounds, fine.seed, deals)
    for street, share in enumerate(shares):
        fine_cells, coarse_cells = shared_cells(coarse.tree, fine.tree, street)
        before, after = coarse.tables.street_rows(street), fine.tables.street_rows(street)
        after[:, fine_cells] = keep * (share.T @ before[:, coarse_cells])
    # The number of iterations determines the current period of the weighting.
    fine.iterations = int(keep * coarse.iterations) // LOOKUP_BLOCK * LOOKUP_BLOCK
    fine.updates = int(keep * coarse.updates)
    fine.weight = round_weight(keep * coarse.weight)
    fine.payoff = keep * coarse.payoff


def trainer_from_checkpoint(folder: str | Path, threads: int = 1) -> tuple[BlueprintTrainer, float]:
    """Restore a trainer from the last checkpoint of a run, and return it with its training seconds."""
    checkpoints = files.checkpoints(Path(folder)) if Path(folder).is_dir() else []
    if not checkpoints:
        raise InputError(f"{folder}: no training checkpoint; `riverboat train --out {folder}` makes one")
    strategy = load_blueprint(folder)
    meta, arrays = artifacts.read(checkpoints[-1])
    meta.text("kind", (CHECKPOINT_KIND,))
    if "cells" not in arrays:
        raise InputError(
            f"{checkpoints[-1]}: trained by a cluster, whose tables are in parts; start from a run of one process"
        )
    solver = BlueprintTrainer(strategy.tree, strategy.cards, threads=threads)
    arrays.check_state(solver.state())
    solver.restore(arrays)
    return solver, meta.table("provenance").number("seconds", 0)


def bucket_shares(
    coarse: CardAbstraction, fine: CardAbstraction, rounds: int, seed: int = 0, deals: int = NUM_DEALS
) -> list[Array]:
    """Estimate, for each street, the share of each coarse bucket's hands that are in each fine bucket.

    Hands are counted on random deals. Each column is scaled by a constant so that its largest share is a power of two:
    then a bucket that was only split plays bitwise as before. float32 [coarse buckets, fine buckets]
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
    return [_scale_to_powers(count / np.maximum(count.sum(axis=1, keepdims=True), 1.0)) for count in counts]


def _scale_to_powers(part: Array) -> Array:
    """Scale columns so that the largest entry of each is a power of two. float32"""
    largest = part.max(axis=0)
    nonzero = largest > 0
    powers, scale = np.exp2(np.rint(np.log2(largest[nonzero]))), np.ones(len(largest))
    scale[nonzero] = powers / largest[nonzero]
    out: Array = (part * scale).astype(np.float32)
    out[np.argmax(part, axis=0)[nonzero], np.flatnonzero(nonzero)] = powers
    return out


def shared_cells(coarse: ActionTree, fine: ActionTree, street: int) -> tuple[Array, Array]:
    """Return the cells of a fine table row whose actions the coarse tree has too, and their cells in a coarse row.

    Actions are matched by their lines. int64 [cells] each
    """
    fine_cells: list[int] = []
    coarse_cells: list[int] = []
    stack = [(0, 0)]
    while stack:
        node, coarse_node = stack.pop()
        if fine.actor[node] < 0 or coarse.actor[coarse_node] < 0 or fine.street[node] > street:
            continue
        coarse_actions = {label: a for a, label in enumerate(coarse.actions(coarse_node))}
        count, coarse_count = int(fine.count[node]), int(coarse.count[coarse_node])
        for a, label in enumerate(fine.actions(node)):
            if label not in coarse_actions:
                continue
            b = coarse_actions[label]
            stack.append((int(fine.first[node]) + a, int(coarse.first[coarse_node]) + b))
            if fine.street[node] == street:  # the regret and the average
                cell, coarse_cell = 2 * int(fine.slot[node]) + a, 2 * int(coarse.slot[coarse_node]) + b
                fine_cells += [cell, cell + count]
                coarse_cells += [coarse_cell, coarse_cell + coarse_count]
    return np.array(fine_cells, np.int64), np.array(coarse_cells, np.int64)
