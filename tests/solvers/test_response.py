"""Best responses and values against brute force, and invariants for any strategy of any game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from random_games import history_games, public_games, random_history_game, random_public_game
from reference import cfr as reference
from reference.cfr import Written, WrittenPublic, expand
from riverboat.core.errors import InputError, RecallError, ZeroSumError
from riverboat.games.base import ComparisonPayoff, ConstantPayoff, Game, MatrixPayoff, Payoff, PrivateDeal
from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import matrix
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.best_response import (
    Quality,
    best_response,
    check_zero_sum,
    hand_values,
    quality,
    quality_of_averages,
)
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.public import PublicTree

GAMES = st.one_of(history_games(depth=4), public_games(depth=3), history_games(depth=4, players=3, width=2))
GENERAL = st.one_of(history_games(depth=4, zero_sum=False), public_games(depth=3, zero_sum=False))
SEEDS = st.integers(0, 2**32 - 1)


def random_strategy(tree: Tree, seed: int) -> Strategy:
    """Random probabilities, a third of them zero; uniform if all are zero."""
    random = np.random.default_rng(seed)
    return Strategy.from_sums(tree, random.random(tree.table_size) * (random.random(tree.table_size) > 1 / 3))


def unrolled(strategy: Strategy) -> Strategy:
    """The same strategy on the history tree of its public tree."""
    tree = to_history_tree(strategy.tree)
    return Strategy(tree, strategy.probabilities[tree.origin])


def assert_like_brute_force(game: Game, strategy: Strategy) -> None:
    root, profile = expand(game), reference.profile(strategy)
    result = quality(strategy)
    assert result.values == pytest.approx(reference.values(root, profile), abs=1e-12)
    for player in range(strategy.tree.players):
        limit, _ = reference.best_response(root, profile, player)
        value, response = best_response(strategy, player)
        assert value == pytest.approx(limit, abs=1e-12)
        assert result.best[player] == pytest.approx(limit, abs=1e-12)
        # It is pure for this player, unchanged for the others, and attains its value.
        answered = reference.profile(response)
        assert reference.values(root, answered)[player] == pytest.approx(value, abs=1e-12)
        for infoset in strategy.tree.infosets():
            if infoset.player == player:
                assert sorted(answered[infoset.name]) == [0.0] * (len(infoset.actions) - 1) + [1.0]
            else:
                assert answered[infoset.name] == profile[infoset.name]


# --- best responses -------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn", "coin_toss", "kuhn:cards=3,stack=2", "clairvoyance:stack=1,chip=0.5", "rps"])
@pytest.mark.parametrize("seed", range(3))
def test_small_games(spec: str, seed: int) -> None:
    game = game_from_spec(spec)
    strategy = random_strategy(compile_game(game), seed)
    assert_like_brute_force(game, strategy)
    if isinstance(strategy.tree, PublicTree):
        assert_like_brute_force(game, unrolled(strategy))


@pytest.mark.parametrize("spec", ["kuhn", "coin_toss", "rps"])
def test_no_pure_strategy_is_better(spec: str) -> None:
    """All pure strategies, one by one: 64 for each player of Kuhn."""
    game = game_from_spec(spec)
    strategy = random_strategy(compile_game(game), 4)
    root, profile = expand(game), reference.profile(strategy)
    for player in (0, 1):
        assert best_response(strategy, player)[0] == pytest.approx(
            reference.best_pure(root, profile, player), abs=1e-12
        )


def test_leduc() -> None:
    game = game_from_spec("leduc")
    strategy = random_strategy(compile_game(game), 0)
    assert_like_brute_force(game, strategy)
    assert quality(unrolled(strategy)).best == pytest.approx(quality(strategy).best, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(game=st.one_of(GAMES, GENERAL), seed=SEEDS)
def test_random_games(game: Any, seed: int) -> None:
    strategy = random_strategy(compile_game(game), seed)
    assert_like_brute_force(game, strategy)
    assert quality(strategy).nash_conv == pytest.approx(
        reference.nash_conv(expand(game), reference.profile(strategy)), abs=1e-11
    )


@settings(max_examples=30, deadline=None)
@given(game=public_games(), seed=SEEDS)
def test_public_tree_equals_history_tree(game: Any, seed: int) -> None:
    """A public tree and its history tree give the same values."""
    public = random_strategy(compile_game(game), seed)
    private = unrolled(public)
    assert quality(public).best == pytest.approx(quality(private).best, abs=1e-12)
    assert quality(public).values == pytest.approx(quality(private).values, abs=1e-12)
    for player in (0, 1):
        value, response = best_response(public, player)
        assert best_response(private, player)[0] == pytest.approx(value, abs=1e-12)
        assert quality(unrolled(response)).values[player] == pytest.approx(value, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(game=GAMES, seed=SEEDS, other=SEEDS)
def test_no_strategy_beats_the_best_response(game: Any, seed: int, other: int) -> None:
    tree = compile_game(game)
    strategy, sample = random_strategy(tree, seed), random_strategy(tree, other)
    for player in range(tree.players):
        mixed = np.array(strategy.probabilities)
        for infoset in (i for i in tree.infosets() if i.player == player):
            where = slice(infoset.offset, infoset.offset + infoset.stride * len(infoset.actions), infoset.stride)
            mixed[where] = sample.probabilities[where]
        assert best_response(strategy, player)[0] >= quality(Strategy(tree, mixed)).values[player] - 1e-12


def test_imperfect_recall_has_no_best_response() -> None:
    again = (0, "i", {"a": (1.0, -1.0), "b": (0.0, 0.0)})
    strategy = Strategy.uniform(compile_game(Written((0, "i", {"a": again, "b": (0.0, 0.0)}))))
    with pytest.raises(RecallError, match="player 0"):
        best_response(strategy, 0)
    assert not quality(strategy).recalls  # bounds of its value: test_sums_and_recall.py


# --- values, brackets and gains ------------------------------------------------------------------


def test_quality() -> None:
    made = Quality((0.5, -0.125), (0.25, -0.25))
    assert made.nash_conv == 0.375
    assert made.exploitability == 0.1875
    assert made.bracket == (0.125, 0.5)


@settings(max_examples=60, deadline=None)
@given(game=st.one_of(history_games(depth=4), public_games(depth=3)), seed=SEEDS)
def test_brackets(game: Any, seed: int) -> None:
    """In a zero-sum game the value of any profile lies in its bracket, and all brackets overlap."""
    tree = compile_game(game)
    check_zero_sum(tree)
    result = quality(random_strategy(tree, seed))
    low, high = result.bracket
    assert low - 1e-12 <= result.values[0] <= high + 1e-12
    assert result.values[0] == pytest.approx(-result.values[1], abs=1e-12)
    assert result.exploitability >= -1e-12
    assert high - low == pytest.approx(result.nash_conv, abs=1e-11)
    other = quality(random_strategy(tree, seed + 1)).bracket
    assert max(low, other[0]) <= min(high, other[1]) + 1e-12


@settings(max_examples=30, deadline=None)
@given(game=GENERAL, seed=SEEDS)
def test_deviations_never_hurt(game: Any, seed: int) -> None:
    result = quality(random_strategy(compile_game(game), seed))
    assert all(best >= value - 1e-12 for best, value in zip(result.best, result.values, strict=True))


def test_prisoners() -> None:
    """Not zero-sum: both cooperate for 3, a defector gets 5."""
    tree = compile_game(matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]]))
    rows = {infoset.name: {infoset.actions[0]: 1.0} for infoset in tree.infosets()}
    assert quality(Strategy.from_mapping(tree, rows)) == Quality((5.0, 5.0), (3.0, 3.0), total=None)
    assert quality(Strategy.from_mapping(tree, rows)).nash_conv == 4
    defect = {infoset.name: {infoset.actions[1]: 1.0} for infoset in tree.infosets()}
    assert quality(Strategy.from_mapping(tree, defect)).nash_conv == 0


def test_sums_need_not_be_normalized() -> None:
    for tree in (
        compile_game(game_from_spec("leduc")),
        compile_game(random_history_game(1)),
        compile_game(random_public_game(5)),
    ):
        sums = np.random.default_rng(0).random(tree.table_size) * 1e6
        normal = quality(Strategy.from_sums(tree, sums))
        assert quality_of_averages(tree, sums).best == pytest.approx(normal.best, abs=1e-12)
        single = quality_of_averages(tree, sums.astype(np.float32))
        assert single.best == pytest.approx(normal.best, abs=1e-5)


def test_strategies_in_any_memory_layout() -> None:
    for tree in (compile_game(game_from_spec("kuhn")), compile_game(random_history_game(1))):
        strategy = random_strategy(tree, 0)
        strided = Strategy(tree, np.repeat(strategy.probabilities, 2)[::2])
        assert quality(strided) == quality(strategy)
        assert best_response(strided, 0)[0] == best_response(strategy, 0)[0]


# --- values by hand -------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(game=public_games(zero_sum=False), seed=SEEDS)
def test_hand_values(game: Any, seed: int) -> None:
    """The value of a hand given that it is dealt; over all hands, the value of the game."""
    strategy = random_strategy(compile_game(game), seed)
    joint = strategy.tree.deal.joint()
    profile = reference.profile(strategy)
    deals = expand(game)
    for player in (0, 1):
        dealt = joint.sum(axis=1 - player)
        values = hand_values(strategy, player)
        assert values @ dealt == pytest.approx(quality(strategy).values[player], abs=1e-12)
        assert hand_values(strategy, player, respond=True) @ dealt == pytest.approx(
            quality(strategy).best[player], abs=1e-12
        )
        assert (hand_values(strategy, player, respond=True) >= values - 1e-12).all()
        expected = np.zeros(len(dealt))
        for pair, p, child in zip(np.argwhere(joint > 0), deals.chance, deals.children, strict=True):
            expected[pair[player]] += p * reference.values(child, profile)[player]
        np.testing.assert_allclose(values * dealt, expected, rtol=0, atol=1e-12)
        assert (values[dealt == 0] == 0).all()


def test_kuhn_hand_values() -> None:
    """The equilibrium that never bets the jack: the value of each card, -1/18 in total."""
    tree = compile_game(game_from_spec("kuhn"))
    third = 1 / 3
    rows = {
        "J:": {"c": 1}, "Q:": {"c": 1}, "K:": {"c": 1}, "J:cr": {"f": 1}, "K:cr": {"c": 1},
        "Q:cr": {"c": third, "f": 1 - third}, "J:c": {"r": third, "c": 1 - third}, "Q:c": {"c": 1}, "K:c": {"r": 1},
        "J:r": {"f": 1}, "Q:r": {"c": third, "f": 1 - third}, "K:r": {"c": 1},
    }  # fmt: skip
    strategy = Strategy.from_mapping(tree, rows)
    assert quality(strategy).nash_conv == pytest.approx(0, abs=1e-12)
    assert hand_values(strategy, 0) == pytest.approx([-1, -1 / 3, 7 / 6])
    assert hand_values(strategy, 0).mean() == pytest.approx(-1 / 18)


def test_histories_have_no_hands() -> None:
    with pytest.raises(InputError, match="public game"):
        hand_values(Strategy.uniform(compile_game(game_from_spec("rps"))), 0)


# --- zero sum -------------------------------------------------------------------------------

TWO = PrivateDeal.one_card(2)


@pytest.mark.parametrize(
    "payoff",
    [
        ConstantPayoff((1.0, 1.0)),
        ComparisonPayoff(((0, 1), (0, 1)), (1.0, -1.0), (0.0, 0.0), (-1.0, 2.0)),
        ComparisonPayoff(((0, 1), (0, 1)), (1.0, -1.0), (0.5, 0.0), (-1.0, 1.0)),
        MatrixPayoff((((0.0, 1.0), (1.0, 0.0)), ((0.0, -1.0), (1.0, 0.0)))),
    ],
)
def test_zero_sum_is_checked(payoff: Payoff) -> None:
    tree = compile_game(WrittenPublic(TWO, (0, {"a": payoff, "b": ConstantPayoff((1.0, -1.0))})))
    for one in (tree, to_history_tree(tree)):
        if isinstance(payoff, ComparisonPayoff) and payoff.tie[0] != 0 and one is not tree:
            continue  # cards differ, so that no history ties
        with pytest.raises(ZeroSumError, match="zero-sum"):
            check_zero_sum(one)


def test_zero_sum_passes() -> None:
    mirror = MatrixPayoff((((0.0, 1.0), (-2.0, 0.0)), ((0.0, -1.0), (2.0, 0.0))))
    split = ComparisonPayoff(((0, 1), (1, 0)), (1.0, -1.0), (0.5, -0.5), (-3.0, 3.0))
    tree = compile_game(WrittenPublic(TWO, (0, {"a": mirror, "b": split, "c": ConstantPayoff((2.0, -2.0))})))
    check_zero_sum(tree)
    check_zero_sum(to_history_tree(tree))
    with pytest.raises(ZeroSumError, match="3 players"):
        check_zero_sum(compile_game(random_history_game(0, players=3)))


# --- terminals ------------------------------------------------------------------------------


@njit
def evaluate_terminal(side, e, opp, low, high, opp_low, opp_high, mass, out):
    traversal.terminal_values(side, e, traversal.HandSpan(low, high, opp_low, opp_high), opp, 0, mass, out, 0)


@st.composite
def terminals(draw: st.DrawFn) -> tuple[PrivateDeal, Payoff]:
    """Any deal with at least one pair, and any payoff."""
    own, opp = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    weights = [np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)), float) for n in (own, opp)]
    pairs = st.tuples(st.integers(0, own - 1), st.integers(0, opp - 1))
    excludes = draw(st.frozensets(pairs, max_size=own * opp - 1))
    money = st.integers(-6, 6).map(float)
    pay = st.tuples(money, money)
    kind = draw(st.sampled_from((ConstantPayoff, ComparisonPayoff, MatrixPayoff)))
    deal = PrivateDeal((weights[0], weights[1]), excludes)
    if kind is ConstantPayoff:
        return deal, ConstantPayoff(draw(pay))
    if kind is ComparisonPayoff:
        first, second = (tuple(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))) for n in (own, opp))
        return deal, ComparisonPayoff((first, second), draw(pay), draw(pay), draw(pay))
    cells = draw(st.lists(st.lists(pay, min_size=opp, max_size=opp), min_size=own, max_size=own))
    mine, other = (tuple(tuple(cell[p] for cell in row) for row in cells) for p in (0, 1))
    return deal, MatrixPayoff((mine, other))


@settings(max_examples=200, deadline=None)
@given(terminals(), SEEDS)
def test_terminals(terminal: tuple[PrivateDeal, Payoff], seed: int) -> None:
    """Every payoff for all hands at once, and for one hand of either side, against separate pairs."""
    deal, payoff = terminal
    tree = compile_game(WrittenPublic(deal, payoff))  # the root is the terminal
    random = np.random.default_rng(seed)
    for me, side in enumerate(tree.player_arrays):
        own, opp = len(side.weight), len(side.weight_opp)
        reach = random.random((1, opp)) * (random.random((1, opp)) > 0.3)
        expected = reference.terminal(payoff, deal, me, reach[0].tolist())
        out, mass = np.full((1, own), np.nan), np.zeros(opp + 1)
        evaluate_terminal(side, 0, reach, 0, own, 0, opp, mass, out)
        np.testing.assert_allclose(out[0], expected, rtol=0, atol=1e-12)
        h, j = int(random.integers(own)), int(random.integers(opp))
        out[:] = np.nan
        evaluate_terminal(side, 0, reach, h, h + 1, 0, opp, mass, out)
        assert out[0, h] == pytest.approx(expected[h], abs=1e-12)
        assert np.isnan(np.delete(out[0], h)).all()
        only = [x if k == j else 0.0 for k, x in enumerate(reach[0].tolist())]
        evaluate_terminal(side, 0, reach, 0, own, j, j + 1, mass, out)
        np.testing.assert_allclose(out[0], reference.terminal(payoff, deal, me, only), rtol=0, atol=1e-12)
    if (tree.deal.joint() > 0).any():
        nothing = Strategy.uniform(tree)
        result = quality(nothing)
        assert result.best == pytest.approx(result.values, abs=1e-12)
        assert result.values == pytest.approx(reference.values(expand(tree.game), {}), abs=1e-12)
