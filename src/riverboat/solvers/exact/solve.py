"""LP and EGT on the sequence form: the same `Result` as CFR, certified by exact best responses."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from riverboat.core.errors import DiskError, UnsavedError
from riverboat.games.base import Game
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.boards.unrolled import Unrolled
from riverboat.solvers import check_schedule
from riverboat.solvers.exact.egt import EGT
from riverboat.solvers.exact.lp import solve_lp, undominated
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.limits import Limits, limits_for
from riverboat.solvers.result import LAST, Callback, Progress, Result, Stopper, figures
from riverboat.solvers.solver_run import SolverRun, finish
from riverboat.solvers.tabular.best_response import Quality, quality
from riverboat.strategies import files
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import check_unrolled, compile_game

MOST_BETWEEN = 200  # iterations of EGT between two checks


def solve_exact(
    game: str | Game,
    method: str,
    given: Limits,
    *,
    out: str | Path | None = None,
    seed: int = 0,
    log: str | Path | None = None,
    check_every: int | None = None,
    callback: Callback | None = None,
    stop: Iterable[Stopper] = (),
) -> Result:
    """Solve on the sequence form: exactly by `lp` and `undominated`, to the given limits by `egt`."""
    _ = given.stoppers  # raises where a limit is invalid
    if out is not None:
        files.check_free(out)
    made = make_game(game)
    (unit, each), plain = (made.unit, 1.0), made
    if isinstance(made, BoardGame):  # figures are told in the unit that CFR tells them in
        (unit, each), plain = made.scale, Unrolled.of(made)
    check_unrolled(plain)
    tree = compile_game(plain, constant_sum=True)
    if method == "egt":
        run, own = EGTRun(tree, unit, each, seed, log, check_every), list(stop)
        limits = given if own else limits_for(made, method, given)
        result = finish(run, limits, callback, own)
    else:
        started = clock.perf_counter()
        strategy = (solve_lp if method == "lp" else undominated)(tree).strategy
        seconds = clock.perf_counter() - started
        result = _result(strategy, quality(strategy).times(each), unit, method, seed, seconds)
        result = replace(result, reached=given.until is None or result.exploitability <= given.until)
    if out is not None:
        assert isinstance(result.strategy, Strategy)
        try:
            files.save(result.strategy, Path(out) / "strategy", made)
        except DiskError as error:
            raise UnsavedError(str(error), result) from error
    return result


class EGTRun(SolverRun):
    """A run of the excessive gap technique, with figures in `unit`, which is `each` of the tree's unit."""

    saves = False  # the strategy is written at the end

    def __init__(
        self, tree: Tree, unit: str, each: float, seed: int, log: str | Path | None, check_every: int | None
    ) -> None:
        super().__init__(log, check_every)
        self.solver = EGT(tree)
        self.unit, self.each, self.seed = unit, each, seed
        self._quality: Quality | None = None
        self._strategy: Strategy | None = None
        self._checked_at = -1

    def _next_check(self, iteration: int) -> int:
        if self.check_every is not None:
            return check_schedule.next_check(iteration, self.checks(), target=None, every=self.check_every)
        last = self.history[-1].iteration if self.history else 0
        return last + min(max(1, last // 8), MOST_BETWEEN)

    def look(self, seconds: float, iterations: int) -> None:
        """Check where that is due."""
        if self.iteration >= self._due:
            self.check()

    def check(self) -> tuple[Strategy, Quality]:
        """Compute the exploitability now, and record it."""
        if self._strategy is None or self._quality is None or self._checked_at != self.iteration:
            started = clock.perf_counter()
            self._strategy = self.solver.average()
            self._quality = quality(self._strategy).times(self.each)
            self.seconds += clock.perf_counter() - started
            self._checked_at = self.iteration
            self.record(self.standing(), self.unit)
        return self._strategy, self._quality

    def standing(self) -> Progress:
        """Where the run stands."""
        checked = self._checked_at == self.iteration
        return Progress.of(self.iteration, self.seconds, 0, self._quality, checked=checked)

    def save(self) -> None:
        """Nothing is written on the way."""

    def result(self) -> Result:
        """The answer of the run so far."""
        strategy, exact = self.check()
        result, at = _result(strategy, exact, self.unit, "egt", self.seed, self.seconds), self.iteration
        return replace(result, iterations=at, history=tuple(self.history), answer=LAST, answer_iteration=at)


def _result(strategy: Strategy, measured: Quality, unit: str, method: str, seed: int, seconds: float) -> Result:
    return Result(
        game=strategy.tree.name,
        method=method,
        schedule=None,
        traversal=None,
        iterations=1,
        seconds=seconds,
        unit=unit,
        infosets=strategy.tree.infoset_count,
        seed=seed,
        nodes=0,
        reached=True,
        strategy=strategy,
        **figures(measured),
    )
