"""What grows is counted, told, and refused where memory ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from riverboat.core import budget
from riverboat.core.budget import Grown, Growth, heard, require
from riverboat.core.errors import InputError, MemoryLimitError, ZeroSumError
from riverboat.games import tree_size
from riverboat.games.base import TERMINAL, Constant, Deal, Outcome
from riverboat.games.registry import make
from riverboat.trees.compile import compile_game, histories


@dataclass(frozen=True)
class Deep:
    """Every move leads to `width` others until `depth`; endless where that is None. It is a game of both shapes."""

    depth: int | None
    width: int = 2
    public: bool = False
    players: int = 2
    pay: tuple[float, ...] = (1.0, -1.0)
    name: str = "deep"
    unit: str = "points"

    def root(self) -> DeepState:
        return DeepState(self, 0)


@dataclass(frozen=True)
class DeepPublic(Deep):
    joiner: str = "-"
    hands: tuple[tuple[str, ...], tuple[str, ...]] = (("h",), ("h",))

    @property
    def deal(self) -> Deal:
        return Deal.independent([1.0], [1.0])


@dataclass(frozen=True)
class DeepState:
    game: Deep
    at: int

    @property
    def actor(self) -> int:
        return TERMINAL if self.at == self.game.depth else 0

    def actions(self) -> tuple[str, ...]:
        return tuple(str(k) for k in range(self.game.width))

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def probabilities(self) -> Sequence[float]:
        return ()

    def child(self, index: int) -> DeepState:
        return DeepState(self.game, self.at + 1)

    def infoset(self) -> str:
        return f"level {self.at}"

    def payoffs(self) -> Sequence[float]:
        return self.game.pay

    def payoff(self) -> Constant:
        return Constant((1.0, -1.0))


SHAPES = [Deep, DeepPublic]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look around at every count."""
    monkeypatch.setattr(budget, "BEAT", 0.0)
    monkeypatch.setattr(budget, "PATIENCE", 0.02)
    monkeypatch.setattr(budget, "GUESSING", 0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_game_without_end_is_refused(hasty: None, shape: Any) -> None:
    with pytest.raises(
        MemoryLimitError, match=r"^deep: (more than 1e\+300|about [0-9.e+]+) (histories|public states), which"
    ):
        compile_game(shape(None))


@pytest.mark.parametrize("shape", SHAPES)
def test_what_takes_too_much_is_refused_and_more_memory_lets_it_through(hasty: None, shape: Any) -> None:
    game = shape(10)  # 2,047 nodes
    with pytest.raises(MemoryLimitError, match=r"deep: [0-9,]+( of about [0-9.e+]+)? .*, and 20 kB are allowed"):
        compile_game(game, memory=20_000)
    assert len(compile_game(game, memory=10**12).nodes.actor) == 2047
    with pytest.raises(InputError, match="memory=0: must be above zero"):
        compile_game(game, memory=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_growth_is_told_to_the_end(hasty: None, shape: Any) -> None:
    told: list[Grown] = []
    compile_game(shape(8), progress=told.append)
    assert [t.state for t in told] == ["growing"] * (len(told) - 1) + ["done"]
    assert [t.count for t in told] == sorted(t.count for t in told)
    assert told[-1].count == 510  # the last of 511 nodes
    assert told[0].what == "building the tree of deep"


def test_without_a_word_half_of_the_free_memory_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "available_memory", lambda: 1_000_000)
    require("small", 500_000)
    with pytest.raises(MemoryLimitError, match=r"^big: needs 501 kB, and 500 kB, half of what is free, are allowed"):
        require("big", 501_000)
    with heard(memory=600_000):
        require("big", 501_000)
        with heard(), pytest.raises(MemoryLimitError, match=r"bigger: needs 700 kB, and 600 kB are allowed"):
            require("bigger", 700_000)
    monkeypatch.setattr(budget, "available_memory", lambda: None)
    assert budget.allowed() == budget.UNKNOWN


@pytest.mark.parametrize("shape", SHAPES)
def test_an_interrupt_is_told_and_raised_again(hasty: None, shape: Any) -> None:
    told: list[Grown] = []

    def stop(grown: Grown) -> None:
        told.append(grown)
        if grown.count == 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_game(shape(10), progress=stop)
    assert (told[-1].state, told[-1].count) == ("interrupted", 100)


def test_memory_that_runs_out_is_an_error_of_ours() -> None:
    def work() -> None:
        with Growth("full", "filling", "things", 1) as grown:
            grown(3)
            raise MemoryError

    with pytest.raises(MemoryLimitError, match="full: memory ran out after 3 things"):
        work()


def test_nodes_are_numbered_in_32_bits(hasty: None) -> None:
    with (
        pytest.raises(MemoryLimitError, match="2,147,483,647 things"),
        heard(memory=10**15),
        Growth("n", "x", "things", 1) as g,
    ):
        g(2**31 - 1)


@pytest.mark.parametrize(("depth", "width"), [(0, 1), (3, 2), (5, 3)])
def test_the_guess_is_exact_where_all_lines_are_alike(depth: int, width: int) -> None:
    nodes = sum(width**k for k in range(depth + 1))
    assert tree_size.size(Deep(depth, width).root(), 1.0) == nodes


@pytest.mark.parametrize("name", ["kuhn", "leduc", "bluff:1,1", "rpst"])
def test_the_guess_is_unbiased(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Over many lines it comes near the count of the compiled tree."""
    monkeypatch.setattr(tree_size, "LINES", 20_000)
    game = make(name)
    guess = tree_size.size(game.root(), 60.0)
    assert guess == pytest.approx(len(compile_game(game).nodes.actor), rel=0.2)


# --- early refusals -------------------------------------------------------------------------------


def test_other_than_two_players_are_refused_before_the_first_state() -> None:
    class Never(Deep):
        def root(self) -> DeepState:
            raise AssertionError("walked")

    with pytest.raises(ZeroSumError, match="deep: 3 players; this needs a two-player zero-sum game"):
        compile_game(Never(None, players=3), constant_sum=True)


def test_pay_of_another_sum_is_refused_at_once() -> None:
    ends = 0

    class Counted(Deep):
        def root(self) -> DeepState:
            return CountedState(self, 0)

    class CountedState(DeepState):
        def child(self, index: int) -> DeepState:
            return CountedState(self.game, self.at + 1)

        def payoffs(self) -> Sequence[float]:
            nonlocal ends
            ends += 1
            return (2.0, float(ends))

    with pytest.raises(ZeroSumError, match="not zero-sum: one history pays 2 and 1, another 2 and 2"):
        compile_game(Counted(40), constant_sum=True)
    assert ends == 2
    assert histories(compile_game(Deep(3, pay=(2.0, 1.0)))).players == 2  # a tree of it can be had all the same
