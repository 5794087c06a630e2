"""Exploitability of a blueprint inside its own abstract game, where responders see buckets too.

Training brings this quantity to zero; Johanson et al. (2012) plot it in their Figure 3.
`evaluation.best_response.exact` measures the exploitability in the full game, where responders see cards and the loss
through the abstraction remains.

One pass over the boards, with all hands as vectors, sums terminal values by bucket. The best responses are then found
in the tree of betting and buckets. That tree needs perfect recall: each bucket must determine the buckets before it.
"""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr import _kernels as kernels
from riverboat.solvers.mccfr.tables import BucketTables, make_sampling_game
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.mccfr.traversers import board_workspace, deck_hands, hand_frames
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.blueprint import Blueprint, normalize_table

MAX_BOARDS = 1_000_000


def abstract_quality(solver: BlueprintTrainer | Blueprint, *, averages: bool = True) -> Quality:
    """Compute best-response values against the average (or current) strategy and its value, in the abstract game.

    Values are in chips.
    """
    if isinstance(solver, Blueprint):
        tables = [normalize_table(w, *solver.slots(s)).astype(np.float32) for s, w in enumerate(solver.average)]
    else:
        tables = [solver.tables.strategies(street, averages=averages) for street in range(solver.tree.rules.rounds)]
    return _quality(solver.tree, solver.cards, tables)


def _quality(tree: ActionTree, cards: CardAbstraction, tables: list[Array]) -> Quality:
    counts = cards.counts[: tree.rules.rounds]
    boards, weights = _boards(tree)
    before = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    parent = np.full(sum(counts), kernels.UNKNOWN, np.int64)
    sizes = np.where(tree.actor < 0, np.array(counts)[tree.street], 0)
    start = (np.cumsum(sizes) - sizes).astype(np.int64)
    out = np.zeros((2, int(sizes.sum())))
    rows = np.concatenate([[0], np.cumsum([table.size for table in tables])[:-1]]).astype(np.int64)
    workspace = deck_hands(tree), board_workspace(tree), hand_frames(tree)
    table = np.concatenate([t.reshape(-1) for t in tables])
    strategy, parents_of = kernels.BucketStrategyTable(table, rows), kernels.BucketParents(before, parent)
    inputs = make_sampling_game(tree, cards, BucketTables(tree, counts)), cards.lookup, *workspace, strategy
    kernels.tabulate_terminal_values(*inputs, boards, weights, parents_of, kernels.BucketTerminalValues(start, out))
    if (parent == kernels.AMBIGUOUS).any():
        raise InputError(
            f"{cards.name}: a bucket follows several buckets of the previous street; a best response inside the abstract "
            "game needs perfect recall, `evaluation.best_response.exact` measures in the full game"
        )
    parents = [np.maximum(parent[b : b + n], 0) for b, n in zip(before, counts, strict=True)]
    terminal_values = [[out[seat, s : s + n] for s, n in zip(start, sizes, strict=True)] for seat in (0, 1)]
    best = tuple(_betting_value(tree, terminal_values[seat], parents, seat, None) for seat in (0, 1))
    value = _betting_value(tree, terminal_values[0], parents, 0, tables)
    return Quality(best, (value, -value))


def _boards(tree: ActionTree) -> tuple[Array, Array]:
    """Return complete boards up to suit isomorphism, and the share of all boards that each represents."""
    rules = tree.rules
    rounds = tuple(n for n in rules.board if n)
    if not rounds:
        return np.zeros((1, 0), np.uint8), np.ones(1)
    indexer = HandIndexer.for_deck(rules.deck, rounds)
    if indexer.size() > MAX_BOARDS:
        raise InputError(f"{rules.name}: {indexer.size():,} boards, more than the {MAX_BOARDS:,} that are supported")
    indices = np.arange(indexer.size())
    multiplicity = indexer.count(indices).astype(np.float64)
    return np.ascontiguousarray(indexer.unindex(indices), np.uint8), multiplicity / multiplicity.sum()


def _betting_value(
    tree: ActionTree, terminal_values: list[Array], parents: list[Array], seat: int, tables: list[Array] | None
) -> float:
    """Return a seat's expected value in chips with a best response, or with the strategies in `tables`.

    `terminal_values` has the seat's counterfactual values of a terminal by its buckets, `parents` the bucket of the
    previous street for each bucket of a street.
    """
    value = list(terminal_values)
    for node in range(len(tree) - 1, -1, -1):  # children come after parents
        if tree.actor[node] < 0:
            continue
        street = int(tree.street[node])
        action_values = []
        for child in tree.children(node):
            after = int(tree.street[child])
            child_value = value[child]
            for s in range(after, street, -1):
                child_value = np.bincount(parents[s], child_value, len(parents[s - 1]))
            action_values.append(child_value)
        if tree.actor[node] != seat:
            value[node] = np.sum(action_values, axis=0)
        elif tables is None:
            value[node] = np.max(action_values, axis=0)
        else:
            at = int(tree.slot[node])
            value[node] = (tables[street][:, at : at + len(action_values)].T * action_values).sum(axis=0)
    return float(value[0].sum())
