"""Games other than two-player zero-sum with perfect recall: what a result certifies, and what it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import riverboat as rb
from random_games import history_games, public_games
from riverboat.core.errors import RecallError, ZeroSumError
from riverboat.games.base import (
    Array,
    ComparisonPayoff,
    ConstantPayoff,
    Game,
    HistoryGame,
    HistoryState,
    Payoff,
    PrivateDeal,
)
from riverboat.solvers.exact.lp import solve_lp, undominated
from riverboat.solvers.result import GENERAL_SUM, IMPERFECT_RECALL
from riverboat.solvers.tabular.best_response import best_response, quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game
from riverboat.trees.history import HistoryTree

DATA = Path(__file__).parents[1] / "games" / "data"
DILEMMA = rb.matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], ["stay", "tell"], ["stay", "tell"], "dilemma")


# --- constant sums ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShiftedState:
    """Every terminal pays `by` more to each player."""

    state: HistoryState
    by: tuple[float, float]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)

    def child(self, index: int) -> ShiftedState:
        return ShiftedState(self.state.child(index), self.by)

    def payoffs(self) -> Sequence[float]:
        return [pay + more for pay, more in zip(self.state.payoffs(), self.by, strict=True)]


@dataclass(frozen=True)
class Shifted:
    """A history game with shifted payoffs."""

    game: HistoryGame
    by: tuple[float, float]
    name: str = "shifted"
    players: int = 2
    unit: str = "points"

    def root(self) -> Any:
        return ShiftedState(self.game.root(), self.by)


@settings(max_examples=25, deadline=None)
@given(game=history_games(depth=4))
def test_shifted_payoffs_shift_only_the_value(game: HistoryGame) -> None:
    shifted = Shifted(game, (3.0, -1.0))
    plain, moved = (rb.solve(each, method="lp") for each in (game, shifted))
    assert moved.value == pytest.approx(plain.value + 3, abs=1e-7)
    for result in (moved, rb.solve(shifted, iterations=100)):
        assert result.certified
        assert result.value_low - 1e-7 <= plain.value + 3 <= result.value_high + 1e-7
        assert result.value_high - result.value_low == pytest.approx(result.nash_conv, abs=1e-7)
        assert sum(result.values) == pytest.approx(2.0)


def test_egt_and_undominated_on_a_constant_sum() -> None:
    game = rb.matrix(
        [[[3, 0], [1, 2]], [[2, 5], [4, 3]]]
    )  # both sum to 5; by hand: value 3/2 from 1/4, 3/4 and a half each
    result = rb.solve(game, method="egt", until=1e-6)
    assert result.value_low <= 1.5 <= result.value_high
    assert result.values == pytest.approx((1.5, 3.5), abs=1e-5)
    refined = undominated(compile_game(game))
    assert refined.value == pytest.approx(1.5)
    assert refined.strategy["player 0"]["r1"] == pytest.approx(0.25)


def test_spot_by_lp_has_the_unit_of_cfr() -> None:
    """As by CFR: shares of the pot, not differences from half of it."""
    game = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=100, oop="AA,88", ip="KK", bets="a")
    exact = rb.solve(game, method="lp")
    cfr = rb.solve(game, iterations=500)
    assert sum(exact.values) == pytest.approx(100)
    assert exact.value == pytest.approx(cfr.value, abs=0.5)


@dataclass(frozen=True)
class Showdown:
    """A public game with one action, in which two hands each are compared."""

    tie: tuple[float, float]
    strengths: tuple[tuple[int, ...], tuple[int, ...]]
    name: str = "showdown"
    unit: str = "points"
    joiner: str = ""
    hands: tuple[tuple[str, ...], tuple[str, ...]] = (("a", "b"), ("c", "d"))
    deal: PrivateDeal = field(default_factory=lambda: PrivateDeal.independent([1, 1], [1, 1]))

    def root(self) -> Any:
        return ShowdownState(self, 0)


@dataclass(frozen=True)
class ShowdownState:
    game: Showdown
    at: int

    @property
    def actor(self) -> int:
        return 0 if self.at == 0 else -2

    def actions(self) -> Sequence[str]:
        return ("fold", "show")

    def child(self, index: int) -> ShowdownState:
        return replace(self, at=1 + index)

    def payoff(self) -> Payoff:
        return (
            ConstantPayoff((1.0, 3.0))
            if self.at == 1
            else ComparisonPayoff(self.game.strengths, (4.0, 0.0), self.game.tie, (0.0, 4.0))
        )


@pytest.mark.parametrize(
    ("strengths", "tie", "total"),
    [
        (((0, 2), (1, 3)), (0.0, 0.0), 4.0),  # no ties occur, so their payoff does not matter
        (((0, 1), (1, 3)), (0.0, 0.0), None),
        (((0, 1), (1, 3)), (2.0, 2.0), 4.0),
    ],
)
def test_tie_payoffs_count_only_if_ties_occur(strengths: Any, tie: Any, total: float | None) -> None:
    tree = compile_game(Showdown(tie, strengths))
    assert tree.constant_sum == total
    assert quality(Strategy.uniform(tree)).total == total


# --- general sums -------------------------------------------------------------------------------


def test_prisoners_dilemma() -> None:
    """Both players defect; no value is certified, but each player's expected value is reported."""
    result = rb.solve(DILEMMA, iterations=200)
    assert result.values == pytest.approx((1, 1), abs=1e-4)
    assert max(result.gains) < 1e-4
    assert not result.certified
    assert result.to_dict()["guarantee"] == GENERAL_SUM
    assert result.value_low is result.value_high is None
    assert result.value == result.values[0]


@settings(max_examples=20, deadline=None)
@given(game=public_games(depth=3, zero_sum=False))
def test_gains_in_general_sums_are_those_of_histories(game: Game) -> None:
    """The public tree and its history tree agree, and NashConv is consistent with values and best responses."""
    result = rb.solve(game, iterations=20)
    tree = compile_game(game)
    assert result.certified == (tree.constant_sum is not None)
    from riverboat.trees.compile import to_history_tree

    flat = to_history_tree(tree)
    again = quality(Strategy(flat, result.strategy.probabilities[flat.origin]))  # type: ignore[union-attr]
    assert again.values == pytest.approx(result.values, abs=1e-9)
    assert again.gains == pytest.approx(result.gains, abs=1e-9)
    assert result.nash_conv == pytest.approx(sum(result.gains), abs=1e-12)


@pytest.mark.parametrize("method", ["lp", "egt"])
def test_exact_methods_need_a_constant_sum(method: Any) -> None:
    with pytest.raises(ZeroSumError, match=r"constant sum.*CFR"):
        rb.solve(DILEMMA, method=method)


# --- imperfect recall ---------------------------------------------------------------------------


def pure(tree: HistoryTree, player: int) -> Iterator[Array]:
    """All pure strategies of a player with imperfect recall, each in a copy of a uniform table."""
    own = [i for i in tree.infosets() if i.player == player]
    for choice in product(*(range(len(i.actions)) for i in own)):
        table = Strategy.uniform(tree).probabilities.copy()
        for infoset, chosen in zip(own, choice, strict=True):
            table[infoset.offset : infoset.offset + len(infoset.actions)] = np.arange(len(infoset.actions)) == chosen
        yield table


@dataclass(frozen=True)
class Blurred:
    """A history game with imperfect recall: information sets with the same owner and actions are merged."""

    game: HistoryGame
    name: str = "blurred"
    players: int = 2
    unit: str = "points"

    def root(self) -> Any:
        return BlurredState(self.game.root())


@dataclass(frozen=True)
class BlurredState:
    state: HistoryState

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)

    def child(self, index: int) -> BlurredState:
        return BlurredState(self.state.child(index))

    def infoset(self) -> str:
        return f"{self.state.actor} {self.state.actions()}"


@settings(max_examples=25, deadline=None)
@given(game=history_games(depth=5, width=2))
def test_gains_with_imperfect_recall_are_upper_bounds(game: HistoryGame) -> None:
    tree = compile_game(Blurred(game))
    assert isinstance(tree, HistoryTree)
    uniform = Strategy.uniform(tree)
    result = quality(uniform)
    assert result.recalls == tree.perfect_recall
    for player in (0, 1):
        best = max(quality(Strategy(tree, table)).values[player] for table in pure(tree, player))
        assert result.best[player] >= best - 1e-12
        if tree.imperfect_recall_infoset(player) is None:
            assert result.best[player] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("traversal", ["full", "external", "outcome", "chance"])
def test_imperfect_recall_is_solved_without_certificate(traversal: str, tmp_path: Path) -> None:
    """The player gets 1 after its own actions `a c` or `b d`, else 0: the best value without memory is 1, by pure play."""
    result = rb.solve(str(DATA / "forgetful.efg"), traversal=traversal, iterations=400, out=tmp_path / "run")
    assert not result.certified
    assert result.guarantee == IMPERFECT_RECALL
    assert result.to_dict()["exploitability_is"].startswith("upper bound")
    assert 0 <= result.exploitability <= 1
    assert rb.quality(rb.load(tmp_path / "run")).kind == "upper bound"
    again = rb.solve(
        str(DATA / "forgetful.efg"), traversal=traversal, iterations=500, out=tmp_path / "run", resume=True
    )
    assert again.iterations == 500
    assert not again.recalls


def test_exact_methods_need_perfect_recall() -> None:
    tree = compile_game(rb.game(str(DATA / "forgetful.efg")))
    with pytest.raises(RecallError, match="CFR"):
        solve_lp(tree)
    with pytest.raises(RecallError, match="'second'"):
        best_response(Strategy.uniform(tree), 0)
    assert best_response(Strategy.uniform(tree), 1)[0] == pytest.approx(-0.5)  # the player with perfect recall has one
