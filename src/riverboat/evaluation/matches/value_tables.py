"""Value tables: expected values of buckets at the nodes of a blueprint's tree, computed once before a match.

    values = value_tables(strategy)                     # both seats play it
    values = value_tables(strategy, other)              # seat 0 plays the first, seat 1 the other

Deals are sampled, and the whole tree is evaluated with each. The value of a node for a bucket is its mean value
there, weighted by the opponent's reach probability. The tables are estimates, shrunk towards the node's mean where a
bucket has few samples. AIVAT stays unbiased with any fixed values (`aivat`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.features.hand_features import pad_streets
from riverboat.core.arrays import Array
from riverboat.core.budget import require_memory
from riverboat.core.cache import cached_arrays
from riverboat.core.cancellation import check_cancellation, has_cancellation_check
from riverboat.core.errors import InputError
from riverboat.evaluation.matches._kernels import aivat as kernels
from riverboat.evaluation.matches.duel import draw_deals, played_tree
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.strategies.blueprint import Blueprint

NUM_DEALS = 40_000  # sampled deals
BATCH_DEALS = 4_000  # deals per bucket lookup
DEALS_PER_POLL = 50  # deals between two checks for cancellation
PRIOR_WEIGHT = 2.0  # samples of a bucket that weigh as much as its node's mean
SEED = np.uint64(2**63 + 1)  # seed of the deals; outside the range of match seeds
_VERSION = 1
# Nodes that have rows in the tables, by street: nodes after its actions, and nodes at its start (as in `ValueRows`).
NodesByStreet: TypeAlias = tuple[list[Array], list[Array]]


@dataclass(frozen=True, eq=False)
class ValueTables:
    """Expected shares of the pot by node (row) and bucket: (winnings of the hand + chips put in so far) / pot so far.

    A share includes future betting, so it may be below 0 or above 1.
    """

    strategy: Blueprint  # strategy whose tree and card abstraction the tables have
    after_row: Array  # int32 [nodes]: row in `after`, by buckets of the parent's street; -1: none
    begin_row: Array  # int32 [nodes]: row in `begin`, by buckets of the street that the node begins; -1: none
    after: tuple[Array, ...]  # by street: float32 [2, rows, buckets]
    begin: tuple[Array, ...]  # same layout


def value_tables(
    first: Blueprint,
    second: Blueprint | None = None,
    deals: int = NUM_DEALS,
    progress: Callable[[float], None] | None = None,
) -> ValueTables:
    """Compute the value tables of a match between two strategies, `first` in seat 0 and `second` in seat 1.

    Both must have one tree and one card abstraction; without `second`, the first plays itself. Tables are stored in the
    user's cache by the fingerprints of the strategies, and loaded if they exist.
    """
    other = first if second is None else second
    if deals < 1:
        raise InputError(f"deals={deals}: must be at least 1")
    if other is not first and not (
        other.tree.fingerprint == first.tree.fingerprint and other.cards.fingerprint == first.cards.fingerprint
    ):
        raise InputError("value tables of two strategies: both must have one betting tree and one card abstraction")
    nodes = _nodes_with_values(first.tree)
    rows = kernels.ValueRows(*np.full((2, len(first.tree)), -1, np.int32))
    for row_of_node, by_street in zip(rows, nodes, strict=True):
        for street_nodes in by_street:
            row_of_node[street_nodes] = np.arange(len(street_nodes))
    name = f"values/{first.fingerprint[:16]}-{other.fingerprint[:16]}-{deals}-{_VERSION}"
    tables = cached_arrays(name, lambda: _sample_tables(first, other, deals, rows, nodes, progress))
    streets = range(first.rules.rounds)
    after, begin = (pad_streets(tables[f"{kind}_{s}"] for s in streets) for kind in ("after", "begin"))
    return ValueTables(first, *rows, after, begin)


def _nodes_with_values(tree: ActionTree) -> NodesByStreet:
    """Return, by street, the nodes after its actions and the nodes at its start that have rows. int64 [rows] each"""
    parent_street, decides = np.where(tree.parent >= 0, tree.street[tree.parent], -1), tree.actor >= 0
    streets = range(tree.rules.rounds)
    after = [np.flatnonzero((decides | tree.showdown) & (parent_street == street)) for street in streets]
    begin = [np.flatnonzero(decides & (tree.street == street) & (parent_street != street)) for street in streets]
    return after, begin


def _sample_tables(
    first: Blueprint,
    second: Blueprint,
    deals: int,
    rows: kernels.ValueRows,
    nodes: NodesByStreet,
    progress: Callable[[float], None] | None,
) -> dict[str, Array]:
    # Returns the pot shares by name: `after_0`, `begin_0`, `after_1` and so on. float32 [2, rows, buckets] each
    tree, rules, buckets = first.tree, first.rules, first.buckets
    shapes = [[(2, b, len(part), 2) for b, part in zip(buckets, by_street, strict=True)] for by_street in nodes]
    require_memory(f"values of {rules.name}", sum(8 * prod(shape) for by_street in shapes for shape in by_street))
    sums = [[np.zeros(shape, np.float32) for shape in by_street] for by_street in shapes]
    workspace = kernels.ValueSamplerWorkspace(np.zeros((2, len(tree))), np.zeros(len(tree)), np.zeros(len(tree)))
    strategies = _strategy_tables(first, second)
    for begin in range(0, deals, BATCH_DEALS):
        _, cards, result = draw_deals(rules, SEED, begin, min(begin + BATCH_DEALS, deals))
        deal_buckets = first.cards.buckets(cards, 2, check=False)
        step = DEALS_PER_POLL if has_cancellation_check() else len(cards)
        for part in (slice(k, k + step) for k in range(0, len(cards), step)):
            check_cancellation()
            out = (pad_streets(each) for each in sums)
            kernels.sample_values(
                played_tree(tree), rows, *strategies, deal_buckets[part], result[part], workspace, *out
            )
        if progress is not None:
            progress(min(begin + BATCH_DEALS, deals) / deals)
    return {
        f"{name}_{street}": _pot_shares(tree, nodes[kind][street], sums[kind][street])
        for kind, name in enumerate(rows._fields)
        for street in range(rules.rounds)
    }


def _strategy_tables(first: Blueprint, second: Blueprint) -> tuple[Any, Any]:
    """Return the tables of both strategies by street, all with one dtype: uint8 if possible, else float32."""
    tables = (*first.average, *second.average)
    dtype: Any = np.uint8 if all(table.dtype == np.uint8 for table in tables) else np.float32
    one, other = ([np.require(table, dtype, ["C", "W"]) for table in each.average] for each in (first, second))
    return pad_streets(one), pad_streets(other)


def _pot_shares(tree: ActionTree, nodes: Array, sums: Array) -> Array:
    """Convert sums of weighted values and of weights to mean shares of the pot. float32 [2, rows, buckets]

    Shares of buckets with few samples are shrunk to the mean share of the node.
    """
    spent = tree.spent[nodes].astype(float)
    pot = spent.sum(axis=1)
    out = np.empty((2, len(nodes), sums.shape[1]), np.float32)
    for seat in (0, 1):
        value, weight = sums[seat, :, :, 0].T.astype(float), sums[seat, :, :, 1].T.astype(float)
        share = ((1 - 2 * seat) * value + spent[:, seat, None] * weight) / pot[:, None]  # weighted
        mean = (share.sum(axis=1) + PRIOR_WEIGHT * 0.5) / (weight.sum(axis=1) + PRIOR_WEIGHT)
        out[seat] = (share + PRIOR_WEIGHT * mean[:, None]) / (weight + PRIOR_WEIGHT)
    return out
