"""Runs of iterative solvers: default limits, the schedule of checks, their log, and the final result."""

from __future__ import annotations

import json
import math
import time as clock
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from riverboat.core import files
from riverboat.core.errors import InputError, UnsavedError, short_repr
from riverboat.games.spots.spot import Spot
from riverboat.solvers.result import (
    BEST,
    DONE,
    LAST,
    LIMIT,
    STALLED,
    TARGET,
    Answer,
    Callback,
    Result,
    SolveProgress,
    Stopper,
    make_result,
)
from riverboat.solvers.run_loop import RunLoop, after_iterations, after_seconds, exploitability_below
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy

# --- default limits ---

DEFAULT_ITERATIONS = 1_000  # of CFR
DEFAULT_SPOT_TARGET = 0.5  # % of the pot
DEFAULT_EGT_TARGET = 1e-4  # in the game's unit


class SolveLimits(NamedTuple):
    """Iterations, seconds and target exploitability; a solve ends at the first that is reached."""

    iterations: int | None = None
    time: float | None = None
    until: float | None = None

    @property
    def stoppers(self) -> list[Callable[[Any], bool]]:
        """A stopper for each limit. Raises InputError if a limit is invalid."""
        makers: tuple[Callable[[Any], Any], ...] = (after_iterations, after_seconds, exploitability_below)
        return [make(limit) for make, limit in zip(makers, self, strict=True) if limit is not None]

    @property
    def answer(self) -> Answer:
        """Strategy to return by default: BEST with a target or a time only, LAST with a number of iterations."""
        return BEST if self.iterations is None and (self.until is not None or self.time is not None) else LAST


def effective_limits(game: object, method: str, requested: SolveLimits) -> SolveLimits:
    """Return the requested limits, or the default of the game and the method if there are none."""
    if any(limit is not None for limit in requested) or method not in ("cfr", "egt"):
        return requested
    if isinstance(game, Spot):
        return SolveLimits(until=DEFAULT_SPOT_TARGET)
    return SolveLimits(until=DEFAULT_EGT_TARGET) if method == "egt" else SolveLimits(iterations=DEFAULT_ITERATIONS)


def effective_answer(limits: SolveLimits, requested: str | None, *, cards: bool = False) -> Answer:
    """Return which strategy a CFR run returns: the requested one, or the default of its limits.

    With `cards`, a solve with card buckets, it is the last one: an earlier one may be better in the full game, but does
    not solve the abstract game.
    """
    if requested not in (None, LAST, BEST):
        raise InputError(f"answer={short_repr(requested)}: must be {LAST!r} or {BEST!r}")
    if cards and requested == BEST:
        raise InputError(
            f"answer={requested!r}: with card buckets it must be {LAST!r}, the solution of the abstract game"
        )
    if requested is not None:
        return BEST if requested == BEST else LAST
    return LAST if cards else limits.answer


# --- schedule of checks ---

CHECK_GROWTH = 1.25  # factor between the iterations of two checks
FIRST_BOARD_CHECK = 16  # iteration of the first check on boards, if there is a target
# Powers of the iterations with which exploitability falls on boards: the first guess, and bounds of estimates
FIRST_POWER, MIN_POWER, MAX_POWER = 2.0, 1.5, 4.0
# The next check on boards is a share of the way to the predicted iteration, in logarithms, since exploitability may fall
# faster than predicted: a smaller one if that iteration is farther than a factor.
FAR_GROWTH, FAR_SHARE, NEAR_SHARE = 1.5, 0.6, 0.9
MIN_PATIENT_GROWTH, MAX_PATIENT_GROWTH = 1.02, 1.8  # factors between the iterations of two checks on boards
MIN_CHECK_GROWTH = 1.03  # least factor between the iterations of two checks before a target
UNREACHED_ITERATION = 1 << 62  # an iteration that no run reaches
STALL_FACTOR, STALL_GAIN, STALL_FIRST = 4, 0.99, 1_000  # see `is_stalled`; earlier checks than STALL_FIRST never stall

Check = tuple[int, float]  # iteration, exploitability


def next_check(iteration: int, checks: Sequence[Check], *, target: float | None, patient: bool = False) -> int:
    """Return the iteration of the next check: 1 to 8, 10, 12, 15, 18, … growing by a quarter.

    Near a target, the check is due when the last two checks, extrapolated linearly in logarithms, predict that it is
    met. A `patient` run with a target, on boards, where a check costs two thirds of an iteration, relies on the
    prediction alone (`_patient_check`).
    """
    if patient and target is not None:
        return max(iteration + 1, _patient_check(checks, target))
    due = 1
    while due <= iteration:
        due = max(due + 1, int(due * CHECK_GROWTH))
    expected = predict_target_iteration(checks, target)
    return max(iteration + 1, due if expected is None else min(due, expected))


def _patient_check(checks: Sequence[Check], target: float) -> int:
    """Return the iteration of the next check on boards.

    Exploitability falls there with a power of the iterations, in steps: the last two checks estimate the power.
    """
    if not checks:
        return FIRST_BOARD_CHECK
    last, exploitability = checks[-1]
    power = FIRST_POWER
    if len(checks) > 1 and checks[-2][1] > 0 < exploitability:
        fall = math.log(checks[-2][1] / exploitability)
        power = min(max(fall / math.log(last / checks[-2][0]), MIN_POWER), MAX_POWER)
    growth: float = (max(exploitability, target) / target) ** (1 / power)
    growth **= FAR_SHARE if growth > FAR_GROWTH else NEAR_SHARE
    return math.ceil(last * min(max(growth, MIN_PATIENT_GROWTH), MAX_PATIENT_GROWTH))


def optimistic_check(iteration: int, exploitability: float, target: float, every: int) -> int:
    """Return the iteration of the next check, a multiple of `every`, before which the target cannot plausibly be met.

    Exploitability falls roughly with the square of the iterations. The cube is assumed here, so that the run does not
    pass the target.
    """
    soonest = iteration + every - iteration % every
    if not 0 < target < exploitability < math.inf:
        return soonest
    return max(soonest, int(iteration * (exploitability / target) ** (1 / 3)) // every * every)


def predict_target_iteration(checks: Sequence[Check], target: float | None) -> int | None:
    """Predict the iteration that meets the target by linear extrapolation of the last two checks in logarithms."""
    if target is None or len(checks) < 2:
        return None
    (t0, e0), (t1, e1) = checks[-2:]
    if not e0 > e1 > target or t1 <= t0:
        return None
    slope = math.log(e1 / e0) / math.log(t1 / t0)
    power = (math.log(target) - math.log(e1)) / slope if slope < 0 else math.inf  # a slope may round to zero
    if power >= math.log(UNREACHED_ITERATION / t1):
        return UNREACHED_ITERATION
    return math.ceil(t1 * max(MIN_CHECK_GROWTH, math.exp(power)))


def is_stalled(checks: Sequence[Check]) -> bool:
    """Return whether the last three quarters of the iterations reduced the best exploitability by less than 1 %.

    Rounding, or the limits of the schedule, then prevent progress.
    """
    if not checks or checks[-1][0] < STALL_FIRST:
        return False
    bound = checks[-1][0] / STALL_FACTOR
    early, late = [e for t, e in checks if t <= bound], [e for t, e in checks if t > bound]
    return bool(early) and min(late) > STALL_GAIN * min(early)


class SolverRun(RunLoop[SolveProgress]):
    """Base class of CFR and EGT runs: schedules checks of exploitability and records them in a history and a log."""

    unit: str  # unit of values and exploitabilities
    quality: Quality | None = None  # quality of the strategy at the last check

    def __init__(self, log: str | Path | None, check_every: int | None) -> None:
        if check_every is not None and check_every < 1:
            raise InputError(f"check_every={check_every}: must be at least one iteration")
        self.log = None if log is None else Path(log)
        self.check_every = check_every
        self.history: list[SolveProgress] = []
        self.target: float | None = None  # exploitability at which the run ends, if set
        self._due_iteration = 0
        self._checked_at = -1

    @property
    def iteration(self) -> int:
        """Number of iterations so far."""
        return int(self.solver.iteration)

    @property
    def finished(self) -> bool:
        """Whether further iterations would change nothing."""
        return bool(self.solver.finished)

    def iterate(self, stoppers: Iterable[Stopper], callback: Callback | None = None) -> None:
        """Iterate until a stopper applies. Checks fall on the same iterations in every run."""
        if self.log is not None:
            with files.disk_errors(self.log):  # report a log that cannot be written before the run, not after it
                self.log.parent.mkdir(parents=True, exist_ok=True)
                self.log.open("ab").close()
        super().iterate(stoppers, callback)

    def iterations_until_check(self) -> int:
        """Return the number of iterations before the next check."""
        at, every = self.iteration, self.check_every
        self._due_iteration = self._next_check(at) if every is None else (at // every + 1) * every
        return self._due_iteration - self.iteration

    def set_limits(self, limits: SolveLimits) -> None:
        """Apply the limits of the run: its target decides when checks are due."""
        self.target = limits.until

    @abstractmethod
    def _next_check(self, iteration: int) -> int:
        """Return the iteration of the next check, unless the caller has set how often to check."""

    @abstractmethod
    def _measure(self) -> Quality:
        """Compute values and exploitability of the strategy that the solver has now."""

    @abstractmethod
    def result(self) -> Result:
        """Return the result of the run so far."""

    def _make_result(self, strategy: Strategy | Solution, quality: Quality, **facts: Any) -> Result:
        """Make the result of a strategy with its quality and the run's history; `facts` are fields of `Result`."""
        counts = {"iterations": self.iteration, "seconds": self.seconds, "unit": self.unit}
        return make_result(strategy, quality, **counts, history=tuple(self.history), **facts)

    def check_if_due(self, seconds: float, iterations: int) -> None:
        """Compute and record the exploitability if a check is due at this iteration."""
        if self.iteration >= self._due_iteration:
            self.check()

    def check(self) -> Quality:
        """Compute the exploitability now, unless this iteration was checked, and record it in history and log."""
        if self.quality is None or self._checked_at != self.iteration:
            started = clock.perf_counter()
            self.quality = self._measure()
            self.seconds += clock.perf_counter() - started
            self._checked_at = self.iteration
            progress = self.current_progress()
            self.history.append(progress)
            if self.log is not None:
                row = {k: v for k, v in asdict(progress).items() if k != "checked"} | {"unit": self.unit}
                line, log = json.dumps(row), self.log
                self.try_write(lambda: files.append_line(log, line))
        return self.quality

    def current_progress(self) -> SolveProgress:
        """Return the progress of the run."""
        at, nodes = self.iteration, self.solver.nodes_touched
        return SolveProgress.from_quality(at, self.seconds, nodes, self.quality, checked=self._checked_at == at)

    def checks(self) -> list[Check]:
        """Return iteration and exploitability of the checks so far."""
        return [(p.iteration, p.exploitability) for p in self.history if p.exploitability is not None]


def run_to_end(run: SolverRun, limits: SolveLimits, callback: Callback | None, stop: Iterable[Stopper]) -> Result:
    """Run to the end, save, and return the result, which says why the run ended and whether it met the target.

    A run ends at the first of its limits and the stoppers in `stop`, or when its solver is finished. If the target is
    the only limit, it also ends by stalling. A KeyboardInterrupt, also one that `callback` raises, saves the run first.
    """
    until, user_stoppers, limit_stoppers = limits.until, list(stop), limits.stoppers
    run.set_limits(limits)
    target_only = until is not None and len(limit_stoppers) == 1 and not user_stoppers
    stalled: list[Stopper] = [lambda _: is_stalled(run.checks())] if target_only else []
    try:
        run.iterate([*user_stoppers, *limit_stoppers, *stalled], callback)
        run.check()
        if callback is not None:
            callback(run.current_progress())
    except KeyboardInterrupt:
        if run.saves_checkpoints:
            run.save()
        raise
    last = run.result()
    reached = until is None or last.exploitability <= until
    target_met = until is not None and reached
    ended = TARGET if target_met else DONE if run.finished else STALLED if target_only else LIMIT
    result = replace(last, reached=reached, ended=ended)
    if run.saves_checkpoints:
        run.try_write(run.save)
    if run.write_error is not None:
        raise UnsavedError(str(run.write_error), result)
    return result
