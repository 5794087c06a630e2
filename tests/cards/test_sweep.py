"""The O(n) showdown over hands sorted by strength, against every pair of hands."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from riverboat.cards.equity._kernels.showdown_values import compatible_reach, showdown_wins, sort_by_strength, sum_reach
from riverboat.compiled.jit import KERNEL_OPTIONS
from riverboat.compiled.simd import SIMD_WIDTH, broadcast, store

pytestmark = pytest.mark.smoke


@njit(**KERNEL_OPTIONS)
def one(deck, first, second, rank, two, reach, sums, beats, met, all_):
    total = sum_reach(deck, first, second, two, len(rank), reach, sums, 0.0)
    all_[0] = showdown_wins(deck, first, second, rank, two, len(rank), reach, sums, beats, 0.0)
    all_[0] -= total
    for k in range(len(rank)):
        met[k] = compatible_reach(first, second, two, k, reach, sums, total)


@njit(**KERNEL_OPTIONS)
def sixteen(deck, first, second, rank, two, reach, sums, beats, met):
    zero = broadcast(sums, 0.0)
    total = showdown_wins(deck, first, second, rank, two, len(rank), reach, sums, beats, zero)
    for k in range(len(rank)):
        store(met, np.uint64(k * 16), compatible_reach(first, second, two, k, reach, sums, total))


@njit(**KERNEL_OPTIONS)
def sort(hand, strength, spare, count):
    sort_by_strength(hand, len(hand), strength, spare, count)


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_every_pair_of_hands(two: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    deck = np.sort(rng.choice(52, 9, replace=False))
    hands = [(a, b) for a in deck for b in deck if a < b] if two else [(a, 52) for a in deck]
    strength = rng.integers(0, 1 + 300 * seed, len(hands)).astype(np.uint16)  # all equal, many ties, hardly any
    order = np.arange(len(hands))
    sort(order, strength, np.zeros(len(hands), np.int64), np.zeros(257, np.int64))
    np.testing.assert_array_equal(order, np.argsort(strength, kind="stable"))
    cards = np.array(hands, np.uint8)[order]
    first, second, rank = cards[:, 0].copy(), cards[:, 1].copy(), strength[order]
    reach = rng.random((SIMD_WIDTH, len(hands)))
    disjoint = np.array([[not (set(a) & set(b)) - {52} for b in cards.tolist()] for a in cards.tolist()])
    weaker = rank[:, None] > rank[None, :]
    not_stronger = rank[:, None] >= rank[None, :]
    vectors = np.zeros((53, SIMD_WIDTH)), np.zeros((len(hands), SIMD_WIDTH)), np.zeros((len(hands), SIMD_WIDTH))
    sixteen(
        deck, first, second, rank, two, np.ascontiguousarray(reach.T).ravel(), vectors[0].ravel(), vectors[1].reshape(-1),
        vectors[2].reshape(-1),
    )  # fmt: skip
    for k in range(SIMD_WIDTH):
        beats, met, rest = np.zeros(len(hands)), np.zeros(len(hands)), np.ones(1)
        one(deck, first, second, rank, two, reach[k], np.zeros(53), beats, met, rest)
        assert abs(rest[0]) < 1e-12
        for found in (beats, vectors[1][:, k]):
            np.testing.assert_allclose(found, (disjoint * (weaker * 1.0 + not_stronger)) @ reach[k], atol=1e-12)
        for found in (met, vectors[2][:, k]):
            np.testing.assert_allclose(found, disjoint @ reach[k], atol=1e-12)
