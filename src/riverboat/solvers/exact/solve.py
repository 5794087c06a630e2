"""Solve by LP or EGT on the sequence form, with the same `Result` as CFR, certified by exact best responses."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from riverboat.core.errors import DiskError, UnsavedError
from riverboat.games.base import Game
from riverboat.games.boards.board_game import BoardGame, UnrolledBoardGame
from riverboat.solvers.exact.egt import EGT
from riverboat.solvers.exact.lp import solve_lp, undominated
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.result import LAST, Callback, Result, Stopper, make_result
from riverboat.solvers.solver_run import SolveLimits, SolverRun, effective_limits, run_to_end
from riverboat.solvers.tabular.best_response import Quality, quality
from riverboat.strategies import files
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import check_history_count, compile_game

MAX_CHECK_INTERVAL = 200  # largest number of EGT iterations between two checks


def solve_exact(
    game: str | Game,
    method: str,
    requested: SolveLimits,
    *,
    out: str | Path | None = None,
    seed: int = 0,
    log: str | Path | None = None,
    check_every: int | None = None,
    callback: Callback | None = None,
    stop: Iterable[Stopper] = (),
) -> Result:
    """Solve on the sequence form: exactly by `lp` and `undominated`, up to the given limits by `egt`."""
    _ = requested.stoppers  # raises if a limit is invalid
    if out is not None:
        files.check_unused(out)
    game_object = make_game(game)
    (unit, unit_scale), tree_game = (game_object.unit, 1.0), game_object
    if isinstance(game_object, BoardGame):  # use the unit in which CFR reports figures
        (unit, unit_scale), tree_game = game_object.scale, UnrolledBoardGame.from_game(game_object)
    check_history_count(tree_game)
    tree = compile_game(tree_game, constant_sum=True)
    if method == "egt":
        run, user_stoppers = EGTRun(tree, unit, unit_scale, seed, log, check_every), list(stop)
        limits = requested if user_stoppers else effective_limits(game_object, method, requested)
        result = run_to_end(run, limits, callback, user_stoppers)
    else:
        started = clock.perf_counter()
        strategy = (solve_lp if method == "lp" else undominated)(tree).strategy
        seconds = clock.perf_counter() - started
        exact = quality(strategy).scaled(unit_scale)
        reached = requested.until is None or exact.exploitability <= requested.until
        facts = {"method": method, "iterations": 1, "seconds": seconds, "unit": unit, "seed": seed, "reached": reached}
        result = make_result(strategy, exact, **facts)
    if out is not None:
        assert isinstance(result.strategy, Strategy)
        try:
            files.save(result.strategy, Path(out) / "strategy", game_object)
        except DiskError as error:
            raise UnsavedError(str(error), result) from error
    return result


class EGTRun(SolverRun):
    """A run of the excessive gap technique. Figures are in `unit`: those of the tree times `unit_scale`."""

    def __init__(
        self, tree: Tree, unit: str, unit_scale: float, seed: int, log: str | Path | None, check_every: int | None
    ) -> None:
        super().__init__(log, check_every)
        self.solver = EGT(tree)
        self.unit, self.unit_scale, self.seed = unit, unit_scale, seed

    def _next_check(self, iteration: int) -> int:
        last = self.history[-1].iteration if self.history else 0
        return last + min(max(1, last // 8), MAX_CHECK_INTERVAL)

    def _measure(self) -> Quality:
        return quality(self.solver.average()).scaled(self.unit_scale)

    def result(self) -> Result:
        """Return the result of the run so far."""
        facts: dict[str, Any] = {"answer": LAST, "answer_iteration": self.iteration, "seed": self.seed}
        return self._make_result(self.solver.average(), self.check(), **facts)
