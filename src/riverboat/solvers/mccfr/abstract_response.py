"""How good a blueprint is in its own abstract game: responders see buckets, as it does itself.

This is what training brings to zero, and what Johanson et al. 2012 draw in their Figure 3. `evaluation.best_response.exact` says
how good it is in the real game, where responders see cards; there what the buckets lose is never won back.

Boards are walked once, all hands as vectors, and terminals are summed up by bucket; then the best moves are found in the tree
of betting and buckets. That tree needs buckets which tell the ones before them: perfect recall.
"""

from __future__ import annotations

import numpy as np

from riverboat.cards.isomorphism import Indexer
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr import _kernels as kernels
from riverboat.solvers.mccfr.samplers import board_room, frames, hands_of
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.blueprint import BlueprintStrategy

MOST_BOARDS = 1_000_000


def abstract_quality(solver: Blueprint | BlueprintStrategy, *, averages: bool = True) -> Quality:
    """Best responses to the average strategy (or the current one) and its value, in chips, all in the abstract game."""
    if isinstance(solver, BlueprintStrategy):
        tables = [_shares(table, *solver.slots(street)) for street, table in enumerate(solver.average)]
        return _quality(Blueprint(solver.tree, solver.cards), tables)
    return _quality(
        solver, [solver.tables.strategies(street, averages=averages) for street in range(solver.tree.rules.rounds)]
    )


def _shares(table: Array, slot: Array, count: Array) -> Array:
    """Sums or steps as probabilities. float32 [buckets, width]"""
    weights = table.astype(np.float64)
    total = np.repeat(np.add.reduceat(weights, slot, axis=1), count, axis=1)
    uniform = 1.0 / np.repeat(count, count)
    shares: Array = np.where(total > 0, weights / np.where(total > 0, total, 1.0), uniform).astype(np.float32)
    return shares


def _quality(solver: Blueprint, tables: list[Array]) -> Quality:
    tree, cards = solver.tree, solver.cards
    counts = cards.counts[: tree.rules.rounds]
    boards, times = _boards(tree)
    before = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    parent = np.full(sum(counts), kernels.UNKNOWN, np.int64)
    sizes = np.where(tree.actor < 0, np.array(counts)[tree.street], 0)
    start = (np.cumsum(sizes) - sizes).astype(np.int64)
    out = np.zeros((2, int(sizes.sum())))
    lengths = [table.size for table in tables]
    rows = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    room = hands_of(tree), board_room(tree), frames(tree)
    table = np.concatenate([t.reshape(-1) for t in tables])
    played, parents_of = kernels.Played(table, rows), kernels.Parents(before, parent)
    kernels.tabulate(solver.game, cards.look, *room, played, boards, times, parents_of, kernels.Worth(start, out))
    if (parent == kernels.SEVERAL).any():
        raise InputError(
            f"{cards.name}: buckets that follow several buckets of the street before; a best response inside the abstract "
            "game needs perfect recall, `evaluation.best_response.exact` measures in the real game"
        )
    parents = [np.maximum(parent[b : b + n], 0) for b, n in zip(before, counts, strict=True)]
    worth = [[out[seat, s : s + n] * solver.tables.unit for s, n in zip(start, sizes, strict=True)] for seat in (0, 1)]
    best = tuple(_value(tree, worth[seat], parents, counts, seat, None) for seat in (0, 1))
    own = _value(tree, worth[0], parents, counts, 0, tables)
    return Quality(best, (own, -own))


def _boards(tree: ActionTree) -> tuple[Array, Array]:
    """Whole boards up to the names of suits, in the order of the streets, and the share of all that each stands for."""
    rules = tree.rules
    rounds = tuple(n for n in rules.board if n)
    if not rounds:
        return np.zeros((1, 0), np.uint8), np.ones(1)
    indexer = Indexer.for_deck(rules.deck, rounds)
    if indexer.size() > MOST_BOARDS:
        raise InputError(f"{rules.name}: {indexer.size():,} boards, more than the {MOST_BOARDS:,} that are walked")
    every = np.arange(indexer.size())
    times = indexer.count(every).astype(np.float64)
    return np.ascontiguousarray(indexer.unindex(every), np.uint8), times / times.sum()


def _value(
    tree: ActionTree,
    worth: list[Array],
    parents: list[Array],
    counts: tuple[int, ...],
    seat: int,
    tables: list[Array] | None,
) -> float:
    """What a seat wins with its best moves, or with those of the tables."""
    value = list(worth)
    for node in range(len(tree) - 1, -1, -1):  # children come after parents
        if tree.actor[node] < 0:
            continue
        street = int(tree.street[node])
        moves = []
        for child in tree.children(node):
            after = int(tree.street[child])
            below = value[child]
            for s in range(after, street, -1):
                below = np.bincount(parents[s], below, counts[s - 1])
            moves.append(below)
        if tree.actor[node] != seat:
            value[node] = np.sum(moves, axis=0)
        elif tables is None:
            value[node] = np.max(moves, axis=0)
        else:
            at = int(tree.slot[node])
            value[node] = (tables[street][:, at : at + len(moves)].T * moves).sum(axis=0)
    return float(value[0].sum())
