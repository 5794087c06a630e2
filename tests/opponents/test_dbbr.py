"""Opponent models from public actions, and deviation-based best response."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.games.small.normal_form import rpst
from riverboat.games.small.poker import kuhn, leduc
from riverboat.opponents.dbbr import (
    FITS,
    combine_strategies,
    count_public_actions,
    fit_em,
    fit_l1,
    fit_l2,
    fit_opponent_model,
    map_public_histories,
    play_match,
    posterior_frequencies,
    public_frequencies,
    public_histories,
)
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import best_response, quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

KUHN = compile_game(kuhn())
LEDUC = compile_game(leduc())
assert isinstance(KUHN, PublicTree)
assert isinstance(LEDUC, PublicTree)


def random_strategy(tree: PublicTree, seed: int) -> Strategy:
    return Strategy.from_sums(tree, np.random.default_rng(seed).exponential(size=tree.table_size))


def random_problem(seed: int) -> tuple[Array, Array, Array]:
    """Random weights, rows and target."""
    rng = np.random.default_rng(seed)
    buckets, actions = rng.integers(1, 7), rng.integers(2, 4)
    rows = rng.dirichlet(np.full(actions, 0.5), buckets)
    rows[rng.random(buckets) < 0.3] = np.eye(actions)[0]
    weights = rng.dirichlet(np.ones(buckets))
    target = rng.dirichlet(np.ones(actions))
    if rng.random() < 0.3:
        target = np.eye(actions)[rng.integers(actions)]
    return weights, rows, target


# --- models ---------------------------------------------------------------------------------


def test_kuhn_frequencies() -> None:
    """Player 1's equilibrium bets and calls 4/9 of the time: K always, J or Q a third."""
    found = public_frequencies(solve_lp(KUHN).strategy, 1)
    assert set(found) == {"c", "r"}
    for line in found:
        np.testing.assert_allclose(found[line], [5 / 9, 4 / 9], atol=1e-9)


def test_leduc_public_histories() -> None:
    """Boards do not separate them: by hand, three in the first round and five after each of five lines to the second."""
    for player in (0, 1):
        found = public_histories(LEDUC, player)
        assert len(found) == 18
        assert sum(len(h.nodes) for h in found) == int((LEDUC.nodes.actor == player).sum())
        assert all(len(h.nodes) == (6 if "/" in h.line else 1) for h in found)
        assert all(LEDUC.labels(n) == h.actions for h in found for n in h.nodes)


def test_frequencies_by_enumeration() -> None:
    """Second round of Leduc: over all cards and boards, by the player's own reach alone."""
    strategy = random_strategy(LEDUC, 1)
    total = np.zeros(2)
    for board in LEDUC.hands[1]:
        for hand in LEDUC.hands[1]:
            if hand != board:
                reach = strategy[f"{hand}:c"]["c"]
                row = strategy[f"{hand}:cc/{board}/c"]
                total += reach * np.array([row["c"], row["r"]])
    np.testing.assert_allclose(public_frequencies(strategy, 1)["cc/c"], total / total.sum())


def test_posterior() -> None:
    """As many observed hands as the prior has: equal weights."""
    found = posterior_frequencies({"c": np.array([5 / 9, 4 / 9])}, {"c": np.array([0.0, 5.0])}, 5.0)
    np.testing.assert_allclose(found["c"], [5 / 18, 1 / 2 + 2 / 9])
    np.testing.assert_allclose(posterior_frequencies({"c": np.array([0.3, 0.7])}, {})["c"], [0.3, 0.7])
    with pytest.raises(InputError, match="prior=0"):
        posterior_frequencies({}, {}, 0.0)


def test_counts_match_the_profile() -> None:
    """Frequencies of many hands are those of the profile, given the other player's reach."""
    profile = random_strategy(KUHN, 5)
    counts = count_public_actions(KUHN, profile, 1, 40_000, np.random.default_rng(0))
    assert sum(c.sum() for c in counts.values()) == 40_000  # player 1 acts once per hand
    for line in counts:
        shares = counts[line] / counts[line].sum()
        assert np.abs(shares - joint(profile, line)).max() < 4 / np.sqrt(counts[line].sum())


def joint(profile: Strategy, line: str) -> Array:
    """Probabilities of player 1's two actions after `line`, over all deals."""
    total = np.zeros(2)
    for own in "JQK":
        for other in "JQK":
            if own != other:
                row = profile[f"{other}:{line}"]
                total += profile[f"{own}:"][line] * np.array(list(row.values()))
    return total / total.sum()


# --- fits -----------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), fit=st.sampled_from(sorted(FITS)))
def test_fits_match_the_target(seed: int, fit: str) -> None:
    weights, rows, target = random_problem(seed)
    fitted = FITS[fit](weights, rows, target)
    np.testing.assert_allclose(fitted.sum(axis=1), 1, atol=1e-9)
    assert fitted.min() >= 0
    np.testing.assert_allclose(weights @ fitted, target, atol=1e-9)
    np.testing.assert_allclose(FITS[fit](weights, rows, weights @ rows), rows, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_l1_is_minimal(seed: int) -> None:
    """Against the linear program: minimize Σ β (up + down)."""
    weights, rows, target = random_problem(seed)
    buckets, actions = rows.shape
    cost = np.repeat(weights, actions)
    size = buckets * actions
    frequency = np.kron(weights, np.eye(actions))
    each = np.kron(np.eye(buckets), np.ones(actions))
    found = linprog(
        np.concatenate([cost, cost]),
        A_eq=np.block([[frequency, -frequency], [each, -each]]),
        b_eq=np.concatenate([target - weights @ rows, np.zeros(buckets)]),
        A_ub=np.hstack([-np.eye(size), np.eye(size)]),
        b_ub=rows.ravel(),
    )
    ours = float(weights @ np.abs(fit_l1(weights, rows, target) - rows).sum(axis=1))
    assert ours == pytest.approx(found.fun, abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_l2_is_minimal(seed: int) -> None:
    """Against a general solver."""
    weights, rows, target = random_problem(seed)
    fitted = fit_l2(weights, rows, target)
    ours = float(weights @ ((fitted - rows) ** 2).sum(axis=1))
    constraints = [
        {"type": "eq", "fun": lambda s: weights @ s.reshape(rows.shape) - target},
        {"type": "eq", "fun": lambda s: s.reshape(rows.shape).sum(axis=1) - 1},
    ]
    found = minimize(
        lambda s: float(weights @ ((s.reshape(rows.shape) - rows) ** 2).sum(axis=1)),
        np.tile(target, len(rows)),
        bounds=[(0, 1)] * rows.size,
        constraints=constraints,
        method="SLSQP",
    )
    assert ours <= found.fun + 1e-6


def test_em_moves_whole_buckets() -> None:
    """By hand: two actions, weights 1/4, 1/4, 1/2, and the last action played 0.1, 0.6 and 0.4."""
    weights, rows = np.array([0.25, 0.25, 0.5]), np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]])
    more = fit_em(weights, rows, np.array([0.325, 0.675]))  # from 0.375: the second bucket adds 0.1, the third 0.2
    np.testing.assert_allclose(more[:, 1], [0.1, 1.0, 0.8])
    less = fit_em(weights, rows, np.array([0.75, 0.25]))  # the first bucket gives all of its 0.025, the third 0.1
    np.testing.assert_allclose(less[:, 1], [0.0, 0.6, 0.2])


# --- deviation-based best response ----------------------------------------------------------


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("player", [0, 1])
def test_model_matches_frequencies(fit: str, player: int) -> None:
    """At all public histories at once, although changes above move the weights below."""
    base, other = random_strategy(LEDUC, 1), random_strategy(LEDUC, 2)
    target = public_frequencies(other, player)
    found = fit_opponent_model(base, player, target, fit)
    for line, frequency in public_frequencies(found, player).items():
        np.testing.assert_allclose(frequency, target[line], atol=1e-7)
    other_rows = LEDUC.player_tables(np.asarray(found.probabilities))[1 - player]
    np.testing.assert_array_equal(other_rows, LEDUC.player_tables(np.asarray(base.probabilities))[1 - player])


@pytest.mark.parametrize("fit", FITS)
def test_model_without_deviation_is_the_base(fit: str) -> None:
    base = random_strategy(LEDUC, 3)
    same = fit_opponent_model(base, 0, public_frequencies(base, 0), fit)
    np.testing.assert_allclose(same.probabilities, base.probabilities, atol=1e-7)


@pytest.mark.parametrize("fit", FITS)
def test_always_call(fit: str) -> None:
    """Enough hands give the full best-response value against an opponent that ignores its cards."""
    base = solve_lp(LEDUC).strategy
    table = np.zeros(LEDUC.table_size)
    for infoset in LEDUC.infosets():
        table[infoset.offset + infoset.actions.index("c") * infoset.stride] = 1.0
    caller = Strategy.from_sums(LEDUC, table)
    for player in (0, 1):
        found = play_match(base, caller, player, fit, hands=1200, learning_hands=1000, update_every=50, seed=1)
        base_value = quality(combine_strategies(base, caller, player)).values[player]
        np.testing.assert_allclose(found.expected_values[:1000], base_value)
        assert found.expected_values[-1] == pytest.approx(best_response(caller, player)[0], abs=1e-9)
        assert found.mean > play_match(base, caller, player, None, hands=1200).mean


def test_invalid_input() -> None:
    base = Strategy.uniform(LEDUC)
    with pytest.raises(InputError, match="l3"):
        fit_opponent_model(base, 0, {}, "l3")
    with pytest.raises(InputError, match="leduc"):
        play_match(base, Strategy.uniform(KUHN), 0)
    with pytest.raises(InputError, match="hands=0"):
        play_match(base, base, 0, hands=0)
    plain = Strategy.uniform(compile_game(rpst()))
    with pytest.raises(InputError, match="rpst"):
        map_public_histories(plain, 0, lambda history, weights, rows: rows)
    with pytest.raises(InputError, match="rpst"):
        combine_strategies(plain, plain, 0)
