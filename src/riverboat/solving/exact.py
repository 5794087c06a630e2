"""LP and EGT behind the same door as CFR: one `Result`, certified by exact best responses."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat.errors import DiskError, UnsavedError
from riverboat.games.base import Game
from riverboat.games.board_game import BoardGame
from riverboat.games.board_states import Unrolled
from riverboat.solving.egt import EGT
from riverboat.solving.lp import solve_lp, undominated
from riverboat.solving.response import quality
from riverboat.solving.values import game as make_game
from riverboat.strategy import files
from riverboat.strategy.table import Strategy, Tree
from riverboat.trees.compile import check_unrolled, compile_game

if TYPE_CHECKING:
    from riverboat.solving.run import Progress, Result

EGT_ITERATIONS = 1_000_000  # where nothing else says when to stop


def solve_exact(
    game: str | Game,
    method: str,
    *,
    until: float | None,
    iterations: int | None,
    time: float | None,
    out: str | Path | None,
    seed: int,
    callback: Callable[[Progress], None] | None = None,
) -> Result:
    """Solve on the sequence form; `lp` and `undominated` are exact, `egt` stops at `until` (1e-4 where nothing is given)."""
    from riverboat.solving.run import Progress, Result, stoppers

    stoppers(iterations, time, until)  # refuses what is no limit
    if out is not None:
        files.check_free(out)
    made = make_game(game)
    (unit, each), plain = (made.unit, 1.0), made
    if isinstance(made, BoardGame):  # figures are told in the unit that CFR tells them in
        (unit, each), plain = made.scale, Unrolled.of(made)
    check_unrolled(plain)
    tree = compile_game(plain, constant_sum=True)
    started = clock.perf_counter()
    history: list[Progress] = []

    def note(iteration: int, low: float, high: float) -> None:
        spent = clock.perf_counter() - started
        low, high = each * low, each * high
        here = Progress(iteration, spent, 0, (high - low) / 2, high - low, low, high, checked=True)
        history.append(here)
        if callback is not None:
            callback(here)

    if method == "lp":
        strategy, steps = solve_lp(tree).strategy, 1
    elif method == "undominated":
        strategy, steps = undominated(tree).strategy, 1
    else:
        strategy, steps = _egt(tree, None if until is None else until / each, iterations, time, note)
    seconds = clock.perf_counter() - started
    measured = quality(strategy)
    low, high = sorted(each * bound for bound in measured.bracket)  # rounding may cross them at an exact equilibrium
    exploitability = each * measured.exploitability
    result = Result(
        game=tree.name,
        method=method,
        schedule=None,
        traversal=None,
        iterations=steps,
        seconds=seconds,
        value=(low + high) / 2,
        value_low=low,
        value_high=high,
        exploitability=exploitability,
        nash_conv=each * measured.nash_conv,
        unit=unit,
        infosets=tree.infoset_count,
        seed=seed,
        nodes=0,
        reached=until is None or exploitability <= until,
        strategy=strategy,
        history=tuple(history),
        values=tuple(each * value for value in measured.values),
        gains=tuple(each * gain for gain in measured.gains),
    )
    if out is not None:
        try:
            files.save(strategy, Path(out) / "strategy", made)
        except DiskError as error:
            raise UnsavedError(str(error), result) from error
    return result


def _egt(
    tree: Tree,
    until: float | None,
    iterations: int | None,
    time: float | None,
    note: Callable[[int, float, float], None],
) -> tuple[Strategy, int]:
    """Step the excessive gap technique until one of the limits."""
    target = until if until is not None else (1e-4 if iterations is None and time is None else 0.0)
    limit = iterations if iterations is not None else EGT_ITERATIONS
    solver = EGT(tree)
    started = clock.perf_counter()
    while solver.iteration < limit:
        low, high = solver.bracket()
        note(solver.iteration, low, high)
        if (high - low) / 2 <= target or (time is not None and clock.perf_counter() - started >= time):
            break
        solver.step(min(max(1, solver.iteration // 8), 200, limit - solver.iteration))
    return solver.average(), solver.iteration
