"""Purification, thresholding and Tartanian7's rule, on rows and on strategies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import postprocess as twin
from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.games.small.poker import leduc
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.postprocessing import (
    apply_rule,
    purify,
    purify_strategy,
    tartanian7,
    tartanian7_strategy,
    threshold,
    threshold_strategy,
)
from riverboat.strategies.tabular import Strategy
from riverboat.testing import check_strategy
from riverboat.trees.compile import compile_game
from riverboat.trees.history import unroll
from riverboat.trees.public import PublicTree

# Brown, Ganzfried & Sandholm 2015, section 4: fold, call, bets of which the third is the pot
EXAMPLE = np.array([0.1, 0.25, 0.15, 0.15, 0.2, 0.15, 0.0, 0.0, 0.0])
LABELS = ("f", "c", "r1", "r2", "r3", "r4", "r5", "r6", "r7")
ROWS = st.lists(st.floats(0.001, 1), min_size=2, max_size=6).map(lambda r: np.array(r) / sum(r))
SHARES = st.floats(0, 1)


def test_example_of_the_paper() -> None:
    assert purify(EXAMPLE).tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0]  # 0.25 is the largest
    assert tartanian7(EXAMPLE, LABELS).tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0]  # bets have 0.65 together
    assert threshold(EXAMPLE, 0.2) == pytest.approx([0, 5 / 9, 0, 0, 4 / 9, 0, 0, 0, 0])


def test_fold_threshold() -> None:
    row = np.array([0.3, 0.3, 0.4])
    assert tartanian7(row, ("f", "c", "r")).tolist() == [1, 0, 0]
    assert tartanian7(row, ("f", "c", "r"), fold_threshold=0.3).tolist() == [0, 0, 1]  # not above it
    assert tartanian7(row[::-1], ("c", "r1", "r2")).tolist() == [0, 0.5, 0.5]  # no fold; bets tie
    assert tartanian7(np.array([0.1, 0.9]), ("f", "c")).tolist() == [0, 1]  # no bets


def test_tartanian7_with_thresholds() -> None:
    # Kinds 0.1, 0.25, 0.65: fold is dropped below 0.15. Bets within 0.65: 0.15 is 0.23, 0.2 is 0.31 of it.
    found = tartanian7(EXAMPLE, LABELS, epsilon=0.15)
    bets = 0.65 / 0.9
    inside = np.array([0.15, 0.15, 0.2, 0.15]) / 0.65
    assert found == pytest.approx([0, 0.25 / 0.9, *(bets * inside), 0, 0, 0])


def test_ties_share() -> None:
    assert purify(np.array([0.4, 0.4, 0.2])).tolist() == [0.5, 0.5, 0]
    assert purify(np.array([0.4, 0.4 + 1e-12, 0.2 - 1e-12])).tolist() == [0.5, 0.5, 0]


def test_threshold_at_equality_and_without_actions() -> None:
    assert threshold(np.array([0.15, 0.85]), 0.15).tolist() == [0.15, 0.85]
    assert threshold(np.array([0.4, 0.35, 0.25]), 0.5).tolist() == [1, 0, 0]


@settings(deadline=None)
@given(ROWS, SHARES, SHARES)
def test_rows_equal_the_reference(row: np.ndarray, epsilon: float, fold: float) -> None:
    labels = ("f", "c", "r1", "r2", "r3", "r4")[: len(row)]
    rows = np.stack([row, row[::-1], np.eye(len(row))[0], np.full(len(row), 1 / len(row))])
    for found, expected in (
        (purify(rows), twin.purify(rows)),
        (threshold(rows, epsilon), twin.threshold(rows, epsilon)),
        (tartanian7(rows, labels, fold), twin.tartanian7(rows, labels, fold)),
        (tartanian7(rows, labels, fold, epsilon), twin.tartanian7(rows, labels, fold, epsilon)),
        (tartanian7(rows, labels[::-1], fold), twin.tartanian7(rows, labels[::-1], fold)),
    ):
        assert found == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(ROWS, SHARES)
def test_rows_stay_distributions(row: np.ndarray, epsilon: float) -> None:
    labels = ("f", "c", "r1", "r2", "r3", "r4")[: len(row)]
    for found in (purify(row), threshold(row, epsilon), tartanian7(row, labels), tartanian7(row, labels, 0.3, epsilon)):
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
        assert not np.any((found > 0) & (row == 0))


@settings(deadline=None)
@given(ROWS, SHARES)
def test_idempotent(row: np.ndarray, epsilon: float) -> None:
    once = threshold(row, epsilon)
    assert threshold(once, epsilon) == pytest.approx(once)
    assert purify(purify(row)) == pytest.approx(purify(row))
    assert threshold(row, 0.0) == pytest.approx(row)


@settings(deadline=None)
@given(ROWS, SHARES, SHARES)
def test_larger_thresholds_keep_less(row: np.ndarray, one: float, two: float) -> None:
    low, high = sorted((one, two))
    if high <= row.max():
        assert set(np.flatnonzero(threshold(row, high))) <= set(np.flatnonzero(threshold(row, low)))


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_many_rows_at_once(width: int, count: int, seed: int) -> None:
    rows = np.random.default_rng(seed).dirichlet(np.ones(width), count)
    labels = ("f", "c", "r1", "r2", "r3")[:width]
    for rule in (purify, lambda r: threshold(r, 0.2), lambda r: tartanian7(r, labels)):
        assert np.array_equal(rule(rows), np.array([rule(row) for row in rows]))


def test_errors() -> None:
    with pytest.raises(InputError, match=r"epsilon=1\.5"):
        threshold(EXAMPLE, 1.5)
    with pytest.raises(InputError, match=r"0\.5, 0\.6"):
        purify(np.array([0.5, 0.6]))
    with pytest.raises(InputError, match=r"9 .*f, c"):
        tartanian7(EXAMPLE, ("f", "c"))
    with pytest.raises(InputError, match="fold_threshold=2"):
        tartanian7(EXAMPLE, LABELS, 2)


# --- strategies -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def equilibrium() -> Strategy:
    return solve_lp(PublicTree(leduc())).strategy


@pytest.mark.parametrize(
    "rule",
    [purify_strategy, lambda s: threshold_strategy(s, 0.15), tartanian7_strategy],
    ids=["purified", "threshold", "tartanian7"],
)
def test_every_row(equilibrium: Strategy, rule: object) -> None:
    found = rule(equilibrium)  # type: ignore[operator]
    check_strategy(found)
    assert found.provenance["post-processing"]
    for infoset in found.tree.infosets():
        row, was = found.row(infoset), equilibrium.row(infoset)
        spared = rule is tartanian7_strategy and infoset.name.partition(":")[2] in ("", "c", "r")
        if spared:
            assert row == pytest.approx(was)
        elif rule is purify_strategy:
            assert row == pytest.approx(purify(was))
        elif rule is tartanian7_strategy:
            assert row == pytest.approx(tartanian7(was, infoset.actions))
        else:
            assert row == pytest.approx(threshold(was, 0.15))


def test_public_and_history_trees_agree(equilibrium: Strategy) -> None:
    tree = equilibrium.tree
    assert isinstance(tree, PublicTree)
    histories = unroll(tree)
    assert histories.origin is not None
    unrolled = Strategy(histories, equilibrium.probabilities[histories.origin])
    for spare in (False, True):
        public, by_history = (
            purify_strategy(equilibrium, spare_first=spare),
            purify_strategy(unrolled, spare_first=spare),
        )
        assert by_history.probabilities == pytest.approx(public.probabilities[histories.origin])


def test_pure_strategies_do_not_change() -> None:
    """Purification is the identity on pure strategies."""
    tree = compile_game(game_from_spec("coin_toss"))
    strategy = purify_strategy(Strategy.uniform(tree))
    again = purify_strategy(strategy)
    assert np.array_equal(strategy.probabilities, again.probabilities)


def test_kuhn_without_bluffs() -> None:
    # Player 1's unique equilibrium calls with the queen and bluffs with the jack one time in three. Purified, it does
    # neither, and the best-response value is 1/6.
    tree = compile_game(game_from_spec("kuhn"))
    found = purify_strategy(solve_lp(tree).strategy)
    assert found["Q:r"] == {"f": 1, "c": 0}
    assert found["J:c"] == {"c": 1, "r": 0}
    assert quality(found).best[0] == pytest.approx(1 / 6)


def test_custom_rule(equilibrium: Strategy) -> None:
    found = apply_rule(
        lambda rows, labels: np.eye(len(labels))[np.zeros(len(rows), int)], equilibrium, name="first move"
    )
    assert all(found.row(i)[0] == 1 for i in found.tree.infosets())
