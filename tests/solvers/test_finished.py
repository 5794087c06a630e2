"""A finished solver ends every loop, whatever the loop's stopping condition is."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.solvers import game_values
from riverboat.solvers.exact import egt, solve
from riverboat.solvers.result import DONE, LIMIT, TARGET, SolveProgress
from riverboat.solvers.run import CFRRun
from riverboat.solvers.run_loop import RunLoop, after_iterations
from riverboat.solvers.tabular.cfr import CFR
from riverboat.subgames import resolving
from riverboat.trees.compile import compile_game

END = 7  # the iteration at which the fake solvers here are finished
SPOT = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+,AQ,KJ", ip="22+,AT+,QJs", bets="60%")


@pytest.fixture(autouse=True)
def time_out() -> Iterator[None]:
    """Fail on loops that do not end, the defect under test."""

    def late(*_: object) -> None:
        raise TimeoutError("the loop does not end")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def ending(solver: Any, *, says: bool = True) -> Any:
    """Make a solver stop stepping at iteration END, with or without reporting that it is finished."""
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
def test_solver_runs_end(monkeypatch: pytest.MonkeyPatch, game: Any, options: Any, limits: Any, says: bool) -> None:
    real = CFRRun.__init__

    def fake(run: CFRRun, *args: Any, **kwargs: Any) -> None:
        real(run, *args, **kwargs)
        ending(run.solver, says=says)

    monkeypatch.setattr(CFRRun, "__init__", fake)
    result = rb.solve(game, **options, **limits)
    assert END <= result.iterations < 100  # sampled boards step in blocks of 64
    assert result.reached == ("until" not in limits)
    if says:
        assert result.ended == DONE


@pytest.mark.parametrize("limits", [{"iterations": 1000}, {"until": 1e-12}, {"time": 1000.0}, {}])
def test_egt_run_ends(monkeypatch: pytest.MonkeyPatch, limits: Any) -> None:
    real = egt.EGT
    monkeypatch.setattr(solve, "EGT", lambda tree: ending(real(tree)))
    result = rb.solve("leduc", method="egt", **limits)
    assert (result.iterations, result.ended) == (END, DONE)


def test_solve_egt_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    real = egt.EGT
    monkeypatch.setattr(egt, "EGT", lambda tree: ending(real(tree)))
    assert egt.solve_egt(compile_game(game_from_spec("leduc")), until=0.0).iteration == END


def test_egt_ends_at_rounding_limit() -> None:
    """Rounding prevents progress after some 13,000 iterations, before the requested 20,000."""
    result = rb.solve("kuhn:4", method="egt", iterations=20_000)
    assert result.iterations < 20_000
    assert result.ended == DONE
    assert result.exploitability < 1e-9
    assert rb.solve("kuhn:4", method="egt", iterations=100).ended == LIMIT
    assert rb.solve("kuhn:4", method="egt").ended == TARGET


def test_sweep_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    real = CFR.__init__

    def fake(solver: CFR, *args: Any, **kwargs: Any) -> None:
        real(solver, *args, **kwargs)
        ending(solver)

    monkeypatch.setattr(CFR, "__init__", fake)
    assert [trial.iterations for trial in rb.sweep("kuhn", ["dcfr", "cfr+"], iterations=100).trials] == [END, END]


def test_value_of_smaller_game_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a smaller game cannot be found to the required width."""
    monkeypatch.setattr(game_values, "CFR", lambda tree, schedule: ending(CFR(tree, schedule)))
    monkeypatch.setattr(game_values, "MAX_LP_INFOSETS", 0)
    with pytest.raises(InputError, match="leduc"):
        game_values._certified_value("larger", compile_game(game_from_spec("leduc")), 1e-9, None)


def test_values_of_public_states_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolving, "CFR", lambda tree, schedule: ending(CFR(tree, schedule)))
    monkeypatch.setattr(resolving, "MAX_LP_HISTORIES", 0)
    tree = compile_game(game_from_spec("leduc"))
    assert resolving.state_values(tree, "", until=0.0).strategy.provenance["iterations"] == END


class CountingRun(RunLoop[SolveProgress]):
    """A run loop around a counter."""

    def __init__(self, *, says: bool) -> None:
        self.count, self.says = 0, says

    saves_checkpoints = False

    @property
    def iteration(self) -> int:
        return self.count

    @property
    def finished(self) -> bool:
        return self.says and self.count >= END

    def current_progress(self) -> SolveProgress:
        return SolveProgress.from_quality(self.count, self.seconds, 0, None, checked=False)

    def advance(self, iterations: int) -> None:
        self.count = min(END, self.count + iterations)

    def iterations_until_check(self) -> int:
        return 1

    def check_if_due(self, seconds: float, iterations: int) -> None:
        pass

    def save(self) -> None:
        raise AssertionError("it does not save")


@pytest.mark.parametrize("says", [True, False])
def test_run_loop_ends(says: bool) -> None:
    run = CountingRun(says=says)
    run.iterate([after_iterations(1000)])
    assert run.count == END
    run.iterate([lambda _: False])  # started when the solver is finished already
    assert run.count == END
