"""The sequence form against plain recursions over the same games."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_games import Forgetful, RandomPublicGame, history_games, public_games, random_history_game
from riverboat.core.errors import InputError, RecallError
from riverboat.games.base import CHANCE, TERMINAL, Array, ComparisonPayoff, ConstantPayoff, Payoff, PublicState
from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import NormalForm, matrix
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import compile_game
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


def random_strategy(tree: Tree, seed: int, zeros: float = 0.0) -> Strategy:
    """Random behavior; with `zeros`, some actions have probability zero."""
    rng = np.random.default_rng(seed)
    return Strategy.from_sums(tree, rng.random(tree.table_size) * (rng.random(tree.table_size) >= zeros))


def expected(tree: HistoryTree, strategy: Array, node: int = 0) -> Array:
    """Expected values of each player, by recursion over the histories."""
    player, data = tree.nodes.actor[node], int(tree.nodes.data[node])
    if player == TERMINAL:
        return tree.payoffs[data]
    weights = tree.chance if player == CHANCE else strategy
    total = np.zeros(tree.players)
    for k, child in enumerate(tree.children(node)):
        total += weights[data + k] * expected(tree, strategy, child)
    return total


def pay(payoff: Payoff, h0: int, h1: int) -> float:
    """Payoff to player 0."""
    if isinstance(payoff, ConstantPayoff):
        return payoff.payoffs[0]
    if isinstance(payoff, ComparisonPayoff):
        a, b = payoff.strengths[0][h0], payoff.strengths[1][h1]
        return (payoff.win if a > b else payoff.tie if a == b else payoff.lose)[0]
    return payoff.payoffs[0][h0][h1]


def expected_public(game: RandomPublicGame, strategy: Strategy) -> float:
    """Expected value of player 0, by recursion over the game's own states and pairs of hands."""

    def walk(state: PublicState, line: str, h0: int, h1: int) -> float:
        if state.actor == TERMINAL:
            return pay(state.payoff(), h0, h1)
        if state.actor == CHANCE:
            outcomes = state.outcomes()
            moves = [(o.label, o.weight * (h0 not in o.dead[0] and h1 not in o.dead[1])) for o in outcomes]
        else:
            hand = game.hands[state.actor][(h0, h1)[state.actor]]
            moves = list(strategy[f"{hand}:{line}"].items())
        return sum(
            p * walk(state.child(k), f"{line},{label}" if line else label, h0, h1)
            for k, (label, p) in enumerate(moves)
            if p > 0
        )

    joint = game.deal.joint()
    return sum(joint[h0, h1] * walk(game.root(), "", h0, h1) for h0, h1 in np.argwhere(joint > 0).tolist())


@pytest.mark.parametrize(
    ("spec", "sequences"), [("rps", 4), ("kuhn", 13), ("leduc", 1093), ("kuhn:cards=3,suits=2", 25)]
)
def test_sizes(spec: str, sequences: int) -> None:
    form = SequenceForm(compile_game(game_from_spec(spec)))
    assert form.matrix.shape == (sequences, sequences)
    for player in (0, 1):
        E, e = form.constraints(player)
        assert E.shape == (1 + len(form.treeplexes[player].infosets), sequences)
        assert e.tolist() == [1.0] + [0.0] * (len(e) - 1)


def test_matrix_game_is_its_own_payoff() -> None:
    table = [[1.0, -2.0, 3.0], [0.0, 5.0, -1.0]]
    form = SequenceForm(compile_game(matrix(table)))
    assert form.matrix.toarray()[1:, 1:].tolist() == table
    assert form.matrix.toarray()[0].tolist() == [0.0] * 4
    value, best = form.best_response(0, np.array([1.0, 0.0, 1.0, 0.0]))
    assert value == 5.0
    assert best.tolist() == [1.0, 0.0, 1.0]
    assert form.bracket(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])) == (-2.0, 5.0)


def test_general_sum_payoffs_of_both() -> None:
    first, second = [[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]
    form = SequenceForm(compile_game(matrix([first, second])))
    assert form.payoffs[0].toarray()[1:, 1:].tolist() == first
    assert form.payoffs[1].toarray()[1:, 1:].T.tolist() == second


@settings(max_examples=40, deadline=None)
@given(game=history_games(zero_sum=False), seed=st.integers(0, 1000))
def test_random_history_games(game, seed: int) -> None:
    tree = HistoryTree.from_game(game)
    form = SequenceForm(tree)
    strategy = random_strategy(tree, seed, zeros=0.3)
    x, y = form.plans(strategy)
    for player, plan in enumerate((x, y)):
        E, e = form.constraints(player)
        np.testing.assert_allclose(E @ plan, e, atol=1e-14)
    truth = expected(tree, strategy.probabilities)
    assert form.value(x, y) == pytest.approx(truth[0], abs=1e-12)
    assert y @ (form.payoffs[1] @ x) + form.half_sum == pytest.approx(truth[1], abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(game=public_games(), seed=st.integers(0, 1000))
def test_random_public_games(game, seed: int) -> None:
    tree = PublicTree(game)
    form = SequenceForm(tree)
    strategy = random_strategy(tree, seed, zeros=0.3)
    x, y = form.plans(strategy)
    assert form.value(x, y) == pytest.approx(expected_public(game, strategy), abs=1e-12)
    assert form.value(x, y) == pytest.approx(
        expected(form.histories, strategy.probabilities[form.histories.origin])[0], abs=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(game=st.one_of(history_games(), public_games()), seed=st.integers(0, 1000))
def test_plans_and_behavior_round_trip(game, seed: int) -> None:
    tree = compile_game(game)
    form = SequenceForm(tree)
    mixed = random_strategy(tree, seed)
    back = form.strategy(*form.plans(mixed))
    assert back.tree is tree
    for infoset in tree.infosets():
        np.testing.assert_allclose(back.row(infoset), mixed.row(infoset), atol=1e-12)
    partial = form.plans(random_strategy(tree, seed, zeros=0.5))
    again = form.plans(form.strategy(*partial))
    for plan, other in zip(partial, again, strict=True):
        np.testing.assert_allclose(other, plan, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(game=history_games(), seed=st.integers(0, 1000))
def test_best_response_is_best(game, seed: int) -> None:
    tree = HistoryTree.from_game(game)
    form = SequenceForm(tree)
    _, y = form.plans(random_strategy(tree, seed))
    value, best = form.best_response(0, y)
    assert form.value(best, y) == pytest.approx(value, abs=1e-12)
    for other in range(5):
        x, _ = form.plans(random_strategy(tree, other, zeros=0.4))
        assert form.value(x, y) <= value + 1e-12


def test_unreached_sets_are_uniform() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    form = SequenceForm(tree)
    x, y = form.plans(Strategy.from_mapping(tree, {"J:": {"r": 1.0}, "J:cr": {"f": 1.0}}))
    strategy = form.strategy(x, y)
    assert strategy["J:"] == {"c": 0.0, "r": 1.0}
    assert strategy["J:cr"] == {"f": 0.5, "c": 0.5}


def test_three_players_are_rejected() -> None:
    game = NormalForm(np.zeros((2, 2, 2, 3)), (("a", "b"),) * 3, "trio")
    with pytest.raises(InputError, match="trio: 3 players"):
        SequenceForm(compile_game(game))


def test_imperfect_recall_is_rejected() -> None:
    with pytest.raises(RecallError, match=r"player 0 .*information set"):
        SequenceForm(compile_game(Forgetful()))


def test_large_trees_are_rejected() -> None:
    with pytest.raises(InputError, match="sequence form"):
        SequenceForm(compile_game(game_from_spec("kuhn:cards=1000,stack=8")))


def test_foreign_strategies_and_plans_are_rejected() -> None:
    form = SequenceForm(compile_game(game_from_spec("kuhn")))
    with pytest.raises(InputError, match=r"kuhn.*rps"):
        form.plan(Strategy.uniform(compile_game(game_from_spec("rps"))), 0)
    with pytest.raises(InputError, match=r"player 1.*\b13\b"):
        form.strategy(np.ones(13), np.ones(12))
    same = Strategy.uniform(compile_game(game_from_spec("kuhn")))
    assert form.plan(same, 0).shape == (13,)


def test_random_games_are_reproducible() -> None:
    one, two = (HistoryTree.from_game(random_history_game(7)) for _ in range(2))
    assert one.fingerprint == two.fingerprint
