"""A solver that is finished ends every loop, whatever the loop waits for."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.games.registry import make
from riverboat.solvers import game_values
from riverboat.solvers.exact import egt, solve
from riverboat.solvers.result import DONE, LIMIT, TARGET, Progress
from riverboat.solvers.run import Run
from riverboat.solvers.run_loop import RunLoop, after_iterations
from riverboat.solvers.tabular import state_values
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.compile import compile_game

END = 7  # the iteration at which the fakes here are finished
SPOT = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+,AQ,KJ", ip="22+,AT+,QJs", bets="60%")


@pytest.fixture(autouse=True)
def time_out() -> Iterator[None]:
    """Loops that do not end are the fault that is looked for."""

    def late(*_: object) -> None:
        raise TimeoutError("the loop does not end")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def ending(solver: Any, *, says: bool = True) -> Any:
    """A solver that stops stepping at iteration END, and says that it is finished, or does not."""
    step = solver.step

    def limited(count: int = 1) -> None:
        step(max(0, min(count, END - solver.iteration)))
        if says:
            solver.finished = solver.iteration >= END

    solver.step = limited
    return solver


@pytest.mark.parametrize("says", [True, False])
@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("leduc", {}),
        ("leduc", {"traversal": "external", "schedule": "vanilla"}),
        (SPOT, {}),
        ("flop_holdem:one-bet,ranks=4,suits=2", {"traversal": "pcs"}),
    ],
    ids=["tree", "sampled", "spot", "sampled boards"],
)
@pytest.mark.parametrize("limits", [{"iterations": 1000}, {"until": 1e-12}, {"time": 1000.0}])
def test_runs_end(monkeypatch: pytest.MonkeyPatch, game: Any, options: Any, limits: Any, says: bool) -> None:
    real = Run.__init__

    def fake(run: Run, *args: Any, **kwargs: Any) -> None:
        real(run, *args, **kwargs)
        ending(run.solver, says=says)

    monkeypatch.setattr(Run, "__init__", fake)
    result = rb.solve(game, **options, **limits)
    assert END <= result.iterations < 100  # samplers of boards step in blocks of 64
    assert result.reached == ("until" not in limits)
    if says:
        assert result.ended == DONE


@pytest.mark.parametrize("limits", [{"iterations": 1000}, {"until": 1e-12}, {"time": 1000.0}, {}])
def test_a_run_of_egt_ends(monkeypatch: pytest.MonkeyPatch, limits: Any) -> None:
    real = egt.EGT
    monkeypatch.setattr(solve, "EGT", lambda tree: ending(real(tree)))
    result = rb.solve("leduc", method="egt", **limits)
    assert (result.iterations, result.ended) == (END, DONE)


def test_the_loop_of_egt_alone_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    real = egt.EGT
    monkeypatch.setattr(egt, "EGT", lambda tree: ending(real(tree)))
    assert egt.solve_egt(compile_game(make("leduc")), until=0.0).iteration == END


def test_egt_ends_at_its_floor() -> None:
    """Rounding leaves nothing to gain after some 13,000 iterations, and 20,000 were asked for."""
    result = rb.solve("kuhn:4", method="egt", iterations=20_000)
    assert result.iterations < 20_000
    assert result.ended == DONE
    assert result.exploitability < 1e-9
    assert rb.solve("kuhn:4", method="egt", iterations=100).ended == LIMIT
    assert rb.solve("kuhn:4", method="egt").ended == TARGET


def test_a_solve_in_a_sweep_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    real = CFR.__init__

    def fake(solver: CFR, *args: Any, **kwargs: Any) -> None:
        real(solver, *args, **kwargs)
        ending(solver)

    monkeypatch.setattr(CFR, "__init__", fake)
    assert [trial.iterations for trial in rb.sweep("kuhn", ["dcfr", "cfr+"], iterations=100).trials] == [END, END]


def test_values_of_smaller_games_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a smaller game is not known well enough, and it never will be."""
    monkeypatch.setattr(game_values, "CFR", lambda tree, schedule: ending(CFR(tree, schedule)))
    monkeypatch.setattr(game_values, "SMALL", 0)
    with pytest.raises(InputError, match="leduc"):
        game_values._solve("larger", compile_game(make("leduc")), 1e-9, None)


def test_values_of_public_states_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_values, "CFR", lambda tree, schedule: ending(CFR(tree, schedule)))
    monkeypatch.setattr(state_values, "LP_HISTORIES", 0)
    tree = compile_game(make("leduc"))
    assert state_values.state_values(tree, "", until=0.0).strategy.provenance["iterations"] == END


class Bare(RunLoop[Progress]):
    """The loop that runs of solvers and trainings share, around a counter."""

    def __init__(self, *, says: bool) -> None:
        self.count, self.says = 0, says

    saves = False

    @property
    def iteration(self) -> int:
        return self.count

    @property
    def finished(self) -> bool:
        return self.says and self.count >= END

    def standing(self) -> Progress:
        return Progress.of(self.count, self.seconds, 0, None, checked=False)

    def advance(self, iterations: int) -> None:
        self.count = min(END, self.count + iterations)

    def until_check(self) -> int:
        return 1

    def look(self, seconds: float, iterations: int) -> None:
        pass

    def save(self) -> None:
        raise AssertionError("it does not save")


@pytest.mark.parametrize("says", [True, False])
def test_the_loop_that_all_runs_share_ends(says: bool) -> None:
    run = Bare(says=says)
    run.go([after_iterations(1000)])
    assert run.count == END
    run.go([lambda _: False])  # begun when nothing is left
    assert run.count == END
