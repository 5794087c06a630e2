"""Nested percentile buckets."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.abstraction.cards.percentile_buckets import percentile_buckets
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.errors import InputError

# Decisions of limit hold'em on each street, both players together. With at most four bets, the first street has 8
# decisions and 7 continuations (the blind is the first bet, and a fold to it ends the game). Later streets have 10 and 9.
LIMIT_HOLDEM_DECISIONS = (8, 7 * 10, 7 * 9 * 10, 7 * 9 * 9 * 10)
HANDS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 24), st.integers(0, 3)), min_size=1, max_size=40
)  # value, weight, parent: few values, so that many are equal


def plain(hands: list[tuple[int, int, int]], n: int) -> list[int]:
    """Return the buckets from the definition, hand by hand, in fractions."""
    labels = []
    for value, _, parent in hands:
        family = [(v, w) for v, w, p in hands if p == parent]
        below = sum(w for v, w in family if v < value)
        own = sum(w for v, w in family if v == value)
        share = (below + Fraction(own, 2)) / sum(w for _, w in family)
        labels.append(parent * n + min(int(n * share), n - 1))
    return labels


@settings(deadline=None)
@given(HANDS, st.integers(1, 7))
def test_definition(hands: list[tuple[int, int, int]], n: int) -> None:
    value, weight, parent = np.array(hands).T
    assert percentile_buckets(value / 7, weight, parent, n).tolist() == plain(hands, n)


def test_equal_parts_of_the_weight() -> None:
    rng = np.random.default_rng(0)
    values, weights = rng.random(10_000), rng.integers(1, 25, 10_000)
    labels = percentile_buckets(values, weights, None, 8)
    sizes = np.bincount(labels, weights)
    assert len(sizes) == 8
    assert np.abs(sizes - weights.sum() / 8).max() <= 24  # one hand
    assert (np.diff(labels[np.argsort(values)]) >= 0).all()


def test_nested() -> None:
    rng = np.random.default_rng(1)
    labels = None
    for street in range(1, 4):
        before = labels
        labels = percentile_buckets(rng.random(6000), None, labels, 5)
        assert np.bincount(labels, minlength=5**street).tolist() == pytest.approx([6000 / 5**street] * 5**street, abs=2)
        if before is not None:
            assert (labels // 5 == before).all()


def test_streets_of_a_small_deck() -> None:
    """Canonical hands are weighted by their deals: the weight of a sequence is that of its children."""
    indexer = HandIndexer((2, 3, 1), ranks=5, suits=2)
    rng = np.random.default_rng(2)
    sequence: np.ndarray | None = None
    mass = np.zeros(0)
    for street, further in enumerate((1, comb(8, 3), 5)):  # continuations of one deal of the previous street
        hands = np.arange(indexer.size(street))
        deals, times = indexer.unindex(hands, street), indexer.count(hands, street)
        parents = None if sequence is None else sequence[indexer.index(deals[:, : indexer.widths[street - 1]])]
        labels = percentile_buckets(rng.random(len(hands)), times, parents, 3)
        if sequence is not None:
            assert (labels // 3 == parents).all()
            before = np.bincount(sequence, mass, minlength=3**street)
            assert np.bincount(labels // 3, times, minlength=3**street).tolist() == (before * further).tolist()
        sequence, mass = labels, times
    assert len(np.unique(sequence)) == 27


def test_ties_stay_together() -> None:
    assert percentile_buckets([0.5] * 6, None, None, 3).tolist() == [1] * 6
    # One value has 80 % of the weight: its middle, 50 %, is in the third of five parts; the second and fourth stay empty.
    assert percentile_buckets([0.1, 0.5, 0.9], [1, 8, 1], None, 5).tolist() == [0, 2, 4]


def betting(first_bets: int, cap: int = 4) -> tuple[int, int]:
    """Return the decisions of one street of limit betting, and its number of continuations."""

    def traverse(bets: int, behind: bool, moved: bool) -> tuple[int, int]:
        decisions, ways = 1, 0
        options = [(bets, False, "call" if behind else "check")]
        if bets < cap:
            options.append((bets + 1, True, "raise"))
        for number, facing, move in options:  # a fold ends the game
            if move == "raise":
                d, w = traverse(number, facing, True)
            elif moved:
                d, w = 0, 1
            else:
                d, w = traverse(number, facing, True)
            decisions, ways = decisions + d, ways + w
        return decisions, ways

    return traverse(first_bets, first_bets > 0, False)


def test_decisions_of_limit_holdem() -> None:
    (preflop, on), (later, further) = betting(1), betting(0)
    assert (preflop, on * later, on * further * later, on * further**2 * later) == LIMIT_HOLDEM_DECISIONS


@pytest.mark.parametrize(
    ("n", "millions", "count"),
    # Johanson et al. 2012 (public chance sampling), figure 3, has the abstractions with 5, 8, 10 and 12 buckets in millions.
    # The exact counts are derived from the decisions above, 8n + 70n² + 630n³ + 5670n⁴, and agree with those millions.
    [(5, 3.6, 3_624_290), (8, 23.6, 23_551_424), (10, 57.3, 57_337_080), (12, 118.6, 118_671_936)],
)
def test_information_sets(n: int, millions: float, count: int) -> None:
    assert sum(decisions * n ** (street + 1) for street, decisions in enumerate(LIMIT_HOLDEM_DECISIONS)) == count
    assert abs(count / 1e6 - millions) < 0.1


def test_errors() -> None:
    with pytest.raises(InputError, match=r"\(1,\).*finite"):
        percentile_buckets([np.nan], None, None, 2)
    with pytest.raises(InputError, match="n=0"):
        percentile_buckets([1.0], None, None, 0)
    with pytest.raises(InputError, match=r"\(2,\)"):
        percentile_buckets([1.0], [1, 2], None, 2)
    with pytest.raises(InputError, match="weights"):
        percentile_buckets([1.0], [0], None, 2)
    with pytest.raises(InputError, match="parents of dtype int"):
        percentile_buckets([1.0], None, [-1], 2)
    assert percentile_buckets([], None, None, 3).tolist() == []
