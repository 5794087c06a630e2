"""Percentile buckets: hands in order of a value, cut into parts of equal weight.

Nested, they keep perfect recall: among the hands with the same buckets so far, each street cuts anew, so that n buckets a
street make n, n², n³ and n⁴ sequences. The strategies of Johanson et al. 2012 (public chance sampling) are of this kind, with
E[HS²] as the value.
"""

from __future__ import annotations

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

# Decisions of limit hold'em, both players together, on each street. With at most four bets, the first street has 8 and goes
# on in 7 ways (its blind is the first bet, and a fold to it ends the game); later ones have 10 and go on in 9 ways.
LIMIT_DECISIONS = (8, 7 * 10, 7 * 9 * 10, 7 * 9 * 9 * 10)


def percentile_buckets(values: Array, weights: Array | None, parents: Array | None, n: int) -> Array:
    """The bucket sequence of each hand: that of its parent times n, plus 0 (lowest values) to n - 1. int64 [hands]

    Values are float [hands], weights above zero (equal for None), parents the sequences of the street before (None on the
    first). Hands of equal value in one sequence stay together: they go where the middle of their weight falls. Where
    a value is heavier than a part, parts beside it may be empty, and their numbers stay free.

    A hand must have one parent. From the flop on, that takes an index that remembers the order of the streets, such as
    `Indexer((2, 3, 1))`: in `Indexer((2, 4))` one turn hand comes from as many as four flops.
    """
    value = np.asarray(values)
    if value.ndim != 1 or not np.isfinite(value).all():
        raise InputError(f"values of shape {value.shape}: expected one finite number for each hand")
    if n < 1:
        raise InputError(f"n={n} buckets: must be at least 1")
    weight = np.ones(len(value)) if weights is None else np.asarray(weights, np.float64)
    parent = np.zeros(len(value), np.int64) if parents is None else np.asarray(parents)
    if weight.shape != value.shape or parent.shape != value.shape:
        shapes = f"weights of shape {weight.shape} and parents of shape {parent.shape}"
        raise InputError(f"{shapes}: expected {value.shape}, one for each value")
    if not (np.isfinite(weight).all() and (weight > 0).all()):
        raise InputError("weights: must be finite and above zero")
    if parent.dtype.kind not in "iu" or (len(parent) and int(parent.min()) < 0):
        raise InputError(f"parents of dtype {parent.dtype}: expected whole numbers from 0")
    if not len(value):
        return np.zeros(0, np.int64)
    order = np.lexsort((value, parent))
    value, parent, weight = value[order], parent[order].astype(np.int64), weight[order]
    new_parent = np.r_[True, parent[1:] != parent[:-1]]
    new_value = new_parent | np.r_[True, value[1:] != value[:-1]]
    # Equal values of one parent become one group.
    first = np.flatnonzero(new_value)
    mass = np.add.reduceat(weight, first)
    family = np.cumsum(new_parent)[first] - 1
    heads = np.flatnonzero(new_parent[first])
    total = np.add.reduceat(mass, heads)
    before = np.cumsum(mass) - mass
    middle = before - before[heads][family] + mass / 2
    part = np.minimum((n * middle) // total[family], n - 1).astype(np.int64)
    labels = np.empty(len(value), np.int64)
    labels[order] = parent * n + np.repeat(part, np.diff(np.r_[first, len(value)]))
    return labels


def limit_information_sets(n: int) -> int:
    """Information sets of two-player limit hold'em with n nested buckets a street, both players together."""
    if n < 1:
        raise InputError(f"n={n} buckets: must be at least 1")
    return sum(decisions * n ** (street + 1) for street, decisions in enumerate(LIMIT_DECISIONS))
