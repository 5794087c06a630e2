"""Progress of builds, memory limits, and estimates of tree sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from riverboat.core import budget
from riverboat.core.budget import BuildMonitor, BuildProgress, build_context, require_memory
from riverboat.core.errors import InputError, MemoryLimitError, ZeroSumError
from riverboat.games import tree_layout
from riverboat.games.base import TERMINAL, ConstantPayoff, Outcome, PrivateDeal
from riverboat.games.registry import game_from_spec
from riverboat.trees.compile import compile_game, to_history_tree


@dataclass(frozen=True)
class Deep:
    """A uniform tree with `width` actions per node and depth `depth` (None: infinite), a game of both shapes."""

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
    def deal(self) -> PrivateDeal:
        return PrivateDeal.independent([1.0], [1.0])


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

    def payoff(self) -> ConstantPayoff:
        return ConstantPayoff((1.0, -1.0))


SHAPES = [Deep, DeepPublic]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the limits at every count."""
    monkeypatch.setattr(budget, "CHECK_INTERVAL", 0.0)
    monkeypatch.setattr(budget, "ESTIMATE_DELAY", 0.02)
    monkeypatch.setattr(budget, "ESTIMATE_SECONDS", 0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_infinite_game_is_rejected(hasty: None, shape: Any) -> None:
    with pytest.raises(
        MemoryLimitError,
        match=r"^deep: (more than 1e\+300|about [0-9.e+]+) (histories|public states), which.* no random line .*unbounded",
    ):
        compile_game(shape(None))


@pytest.mark.parametrize("shape", SHAPES)
def test_memory_limits(hasty: None, shape: Any) -> None:
    game = shape(10)  # 2,047 nodes
    with pytest.raises(MemoryLimitError, match=r"deep: ([0-9,]+( of about [0-9.e+]+)?|about [0-9.e+]+) .*20 kB"):
        compile_game(game, memory=20_000)
    assert len(compile_game(game, memory=10**12).nodes.actor) == 2047
    with pytest.raises(InputError, match="memory=0"):
        compile_game(game, memory=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_progress_is_reported_to_the_end(hasty: None, shape: Any) -> None:
    reports: list[BuildProgress] = []
    compile_game(shape(8), progress=reports.append)
    assert [t.state for t in reports] == ["growing"] * (len(reports) - 1) + ["done"]
    assert [t.count for t in reports] == sorted(t.count for t in reports)
    assert reports[-1].count == 510  # the last of 511 nodes
    assert reports[0].task == "building the tree of deep"


def test_the_default_limit_is_half_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "available_memory", lambda: 1_000_000)
    require_memory("small", 500_000)
    with pytest.raises(MemoryLimitError, match=r"^big: .*501 kB.*500 kB"):
        require_memory("big", 501_000)
    with build_context(memory=600_000):
        require_memory("big", 501_000)
        with build_context(), pytest.raises(MemoryLimitError, match=r"bigger: .*700 kB.*600 kB"):
            require_memory("bigger", 700_000)
    monkeypatch.setattr(budget, "available_memory", lambda: None)
    assert budget.memory_budget() == budget.DEFAULT_MEMORY_BUDGET


@pytest.mark.parametrize("shape", SHAPES)
def test_an_interrupt_is_reported_and_raised_again(hasty: None, shape: Any) -> None:
    reports: list[BuildProgress] = []

    def stop(progress: BuildProgress) -> None:
        reports.append(progress)
        if progress.count == 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_game(shape(10), progress=stop)
    assert (reports[-1].state, reports[-1].count) == ("interrupted", 100)


def test_out_of_memory_becomes_a_memory_limit_error() -> None:
    def work() -> None:
        with BuildMonitor("full", "filling", "things", 1) as monitor:
            monitor(3)
            raise MemoryError

    with pytest.raises(MemoryLimitError, match=r"full: .*3 things"):
        work()


def test_nodes_are_numbered_in_32_bits(hasty: None) -> None:
    with (
        pytest.raises(MemoryLimitError, match="2,147,483,647 things"),
        build_context(memory=10**15),
        BuildMonitor("n", "x", "things", 1) as g,
    ):
        g(2**31 - 1)


@pytest.mark.parametrize(("depth", "width"), [(0, 1), (3, 2), (5, 3)])
def test_the_estimate_is_exact_for_uniform_trees(depth: int, width: int) -> None:
    nodes = sum(width**k for k in range(depth + 1))
    assert tree_layout.estimate_num_nodes(Deep(depth, width).root(), 1.0) == nodes


@pytest.mark.parametrize("name", ["kuhn", "leduc", "bluff:1,1", "rpst"])
def test_the_estimate_is_unbiased(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Over many lines the estimate is close to the count of the compiled tree."""
    monkeypatch.setattr(tree_layout, "MAX_PROBES", 20_000)
    game = game_from_spec(name)
    estimate = tree_layout.estimate_num_nodes(game.root(), 60.0)
    assert estimate == pytest.approx(len(compile_game(game).nodes.actor), rel=0.2)


def test_a_game_of_moderate_excess_is_rejected_early(hasty: None) -> None:
    """Seven estimates that agree prove what a single one does not: four times the limit is refused at once."""
    nodes = 2**21 - 1
    needed = nodes * tree_layout.MIN_HISTORY_BYTES
    reports: list[BuildProgress] = []
    with pytest.raises(MemoryLimitError, match=r"about 2\.1e\+06 histories.*lines have up to 20 actions$"):
        compile_game(Deep(20), memory=needed // 4, progress=reports.append)
    assert reports[-1].count < nodes / 8


def test_the_smallest_of_several_estimates_decides() -> None:
    """One estimate that is too high, of seven, does not refuse a game that fits."""

    def estimate(seconds: float, seed: int) -> tree_layout.TreeSizeEstimate:
        return tree_layout.TreeSizeEstimate(400.0 if seed == 3 else 90.0, longest=5, endless=False)

    with build_context(memory=100), BuildMonitor("skewed", "building", "nodes", 1, estimate) as monitor:
        monitor._check_estimate(estimate, 0)
        assert monitor.expected == pytest.approx((400 + 6 * 90) / 7)
    with (
        pytest.raises(MemoryLimitError, match=r"skewed: about 1\.3e\+02 nodes.*random lines have up to 5 actions"),
        build_context(memory=90 // 2),
        BuildMonitor("skewed", "building", "nodes", 1, estimate) as monitor,
    ):
        monitor._check_estimate(estimate, 0)


@pytest.mark.parametrize(("nodes", "times"), [(50.0, 1), (200.0, 3)])
def test_only_games_near_the_limit_are_estimated_again(
    monkeypatch: pytest.MonkeyPatch, nodes: float, times: int
) -> None:
    now, calls = 0.0, 0

    def estimate(seconds: float, seed: int) -> tree_layout.TreeSizeEstimate:
        nonlocal calls
        calls += 1
        return tree_layout.TreeSizeEstimate(nodes, longest=5, endless=False)

    monkeypatch.setattr(budget.clock, "monotonic", lambda: now)
    with build_context(memory=1_000), BuildMonitor("near", "building", "nodes", 1, estimate) as monitor:
        while now < 5:  # estimates at about one, two and four seconds
            now += 0.25
            monitor(1)
    assert calls == times * budget.NUM_ESTIMATES


@pytest.mark.parametrize("shape", SHAPES)
def test_a_line_without_end_is_rejected(shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one action everywhere, no estimate of the size can tell that the game is unbounded."""
    monkeypatch.setattr(tree_layout, "MAX_DEPTH", 2_000)
    with pytest.raises(InputError, match=r"^deep: a line of more than 2,000 actions.*unbounded"):
        compile_game(shape(None, width=1))
    assert len(compile_game(shape(1_900, width=1)).nodes.actor) == 1_901


# --- early rejection of unsupported games ---


def test_games_of_three_players_are_rejected_before_the_first_state() -> None:
    class Never(Deep):
        def root(self) -> DeepState:
            raise AssertionError("traversed")

    with pytest.raises(ZeroSumError, match="deep: 3 players"):
        compile_game(Never(None, players=3), constant_sum=True)


def test_payoffs_of_another_sum_are_rejected_at_once() -> None:
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

    with pytest.raises(ZeroSumError, match=r"2 and 1.*2 and 2"):
        compile_game(Counted(40), constant_sum=True)
    assert ends == 2
    assert (
        to_history_tree(compile_game(Deep(3, pay=(2.0, 1.0)))).players == 2
    )  # its tree can be built without the check
