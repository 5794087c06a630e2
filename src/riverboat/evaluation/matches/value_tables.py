"""What buckets of hands are worth at the nodes of a blueprint's tree: tables that are made once, before a match.

    values = value_tables(strategy)                     # both seats play it
    values = value_tables(strategy, other)              # seat 0 plays the one, seat 1 the other

Deals are sampled, and with each the whole tree is walked: a node is worth to a bucket what it won there on average, weighted
by what the other seat plays to there. These are estimates, and what needs them may use any fixed numbers (`aivat`); where a
bucket was hardly seen, they lean towards the node's mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.cards.features.strength import padded
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.core.arrays import Array
from riverboat.core.budget import require
from riverboat.core.cache import kept
from riverboat.core.cancellation import is_polled, poll
from riverboat.core.errors import InputError
from riverboat.evaluation.matches._kernels import match as match_kernels
from riverboat.evaluation.matches._kernels import value as kernels
from riverboat.strategies.blueprint import BlueprintStrategy

DEALS = 40_000  # sampled
AT_ONCE = 4_000  # deals whose buckets are looked up together
POLLED = 50  # deals between two polls
LEAN = 2.0  # times that a bucket must be met to weigh as much as its node's mean
SEED = 2**63 + 1  # of the deals; beyond what a match may have
_VERSION = 1


@dataclass(frozen=True, eq=False)
class ValueTables:
    """Shares of the pot that buckets win, the chips that they are yet to put in deducted. Rows are nodes."""

    strategy: BlueprintStrategy  # whose tree and cards they are of
    after_row: Array  # int32 [nodes]: where a node's values by the buckets of the move that leads there are; -1: none
    begin_row: Array  # int32 [nodes]: where its values by the buckets of the street that it begins are; -1: none
    after: tuple[Array, ...]  # by street: float32 [2, rows, buckets]
    begin: tuple[Array, ...]


def value_tables(
    first: BlueprintStrategy,
    second: BlueprintStrategy | None = None,
    deals: int = DEALS,
    progress: Callable[[float], None] | None = None,
) -> ValueTables:
    """The tables of two strategies over one tree and one card abstraction; kept on disk under their fingerprints."""
    other = first if second is None else second
    if deals < 1:
        raise InputError(f"deals={deals}: at least one is sampled")
    if other is not first and not (
        other.tree.fingerprint == first.tree.fingerprint and other.cards.fingerprint == first.cards.fingerprint
    ):
        raise InputError("values of two strategies: they need one betting tree and one card abstraction")
    after_row, begin_row, counts = _rows(first)
    name = f"values/{first.fingerprint[:16]}-{other.fingerprint[:16]}-{deals}-{_VERSION}"
    tables = kept(name, lambda: _sampled(first, other, deals, after_row, begin_row, counts, progress))
    streets = range(first.rules.rounds)
    return ValueTables(
        first,
        after_row,
        begin_row,
        padded(tables[f"after_{s}"] for s in streets),
        padded(tables[f"begin_{s}"] for s in streets),
    )


def _rows(strategy: BlueprintStrategy) -> tuple[Array, Array, Array]:
    """Rows of all nodes, and how many each street has. int32 [nodes] twice, int64 [2, streets]"""
    tree, rounds = strategy.tree, strategy.rules.rounds
    above = np.where(tree.parent >= 0, tree.street[tree.parent], -1)
    goes_on = (tree.actor >= 0) | tree.showdown
    rows = np.full((2, len(tree)), -1, np.int32)
    counts = np.zeros((2, rounds), np.int64)
    for street in range(rounds):
        for kind, nodes in enumerate(
            (goes_on & (above == street), (tree.actor >= 0) & (tree.street == street) & (above != street))
        ):
            there = np.flatnonzero(nodes)
            rows[kind, there] = np.arange(len(there))
            counts[kind, street] = len(there)
    return rows[0], rows[1], counts


def _sampled(
    first: BlueprintStrategy,
    second: BlueprintStrategy,
    deals: int,
    after_row: Array,
    begin_row: Array,
    counts: Array,
    progress: Callable[[float], None] | None,
) -> dict[str, Array]:
    tree, rules, buckets = first.tree, first.rules, first.buckets
    size = 16 * int((counts * np.array(buckets)).sum())
    require(f"values of {rules.name}", 2 * size)
    sums = [
        [np.zeros((2, b, int(rows), 2), np.float32) for b, rows in zip(buckets, counts[kind], strict=True)]
        for kind in (0, 1)
    ]
    shape = kernels.Tree(
        tree.actor,
        tree.street,
        tree.first,
        tree.count,
        tree.parent,
        tree.showdown,
        tree.pay,
        tree.slot,
        after_row,
        begin_row,
    )
    room = kernels.Room(np.zeros((2, len(tree))), np.zeros(len(tree)), np.zeros(len(tree)))
    played = _tables(first, second)
    for begin in range(0, deals, AT_ONCE):
        cards, result = dealt(first, begin, min(begin + AT_ONCE, deals))
        held = first.cards.buckets(cards, 2, check=False)
        step = POLLED if is_polled() else len(cards)
        for part in (slice(k, k + step) for k in range(0, len(cards), step)):
            poll()
            kernels.sample(shape, *played, held[part], result[part], room, *(padded(each) for each in sums))
        if progress is not None:
            progress(min(begin + AT_ONCE, deals) / deals)
    names = ("after", "begin")
    return {
        f"{names[kind]}_{street}": _shares(first, (after_row, begin_row)[kind], kind, street, sums[kind][street])
        for kind in (0, 1)
        for street in range(rules.rounds)
    }


def dealt(strategy: BlueprintStrategy, begin: int, end: int, seed: int = SEED) -> tuple[Array, Array]:
    """Cards of some deals, and who wins them: 1 where seat 0 does. uint8 [deals, 2 hands and board], int8 [deals]"""
    rules, n = strategy.rules, end - begin
    board = rules.board_sizes[-1]
    dealer = match_kernels.Dealer(rules.deck.cards, ranking_tables(rules.hole + board), rules.hole, board)
    cards, result = np.empty((n, 2 * rules.hole + board), np.uint8), np.empty(n, np.int8)
    match_kernels.draw_deals(dealer, np.uint64(seed), begin, cards.reshape(-1), result)
    return cards, result


def _tables(first: BlueprintStrategy, second: BlueprintStrategy) -> tuple[Any, Any]:
    """What both play, in one type."""
    every = (*first.average, *second.average)
    dtype: Any = np.uint8 if all(table.dtype == np.uint8 for table in every) else np.float32
    mine, theirs = (padded(np.require(table, dtype, ["C", "W"]) for table in each.average) for each in (first, second))
    return mine, theirs


def _shares(strategy: BlueprintStrategy, row: Array, kind: int, street: int, sums: Array) -> Array:
    """Sums as shares of the pot by node and bucket. float32 [2, rows, buckets]"""
    tree = strategy.tree
    above = np.where(tree.parent >= 0, tree.street[tree.parent], -1)
    mine = np.flatnonzero((row >= 0) & ((above if kind == 0 else tree.street) == street))
    nodes = mine[np.argsort(row[mine])]
    spent = tree.spent[nodes].astype(float)
    pot = spent.sum(axis=1)
    out = np.empty((2, len(nodes), sums.shape[1]), np.float32)
    for seat in (0, 1):
        value, weight = sums[seat, :, :, 0].T.astype(float), sums[seat, :, :, 1].T.astype(float)
        share = ((1 - 2 * seat) * value + spent[:, seat, None] * weight) / pot[:, None]  # weighted
        mean = (share.sum(axis=1) + LEAN * 0.5) / (weight.sum(axis=1) + LEAN)
        out[seat] = (share + LEAN * mean[:, None]) / (weight + LEAN)
    return out
