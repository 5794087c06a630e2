"""The run of a solver: checks on fixed iterations, their log, and the answer at the end."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from riverboat.core import atomic_io
from riverboat.core.errors import InputError, UnsavedError
from riverboat.solvers import check_schedule
from riverboat.solvers.limits import Limits
from riverboat.solvers.result import DONE, LIMIT, STALLED, TARGET, Callback, Progress, Result, Stopper
from riverboat.solvers.run_loop import RunLoop


class SolverRun(RunLoop[Progress]):
    """What runs of CFR and of EGT share."""

    solver: Any  # steps, counts its iterations, and says when it is finished

    def __init__(self, log: str | Path | None, check_every: int | None) -> None:
        if check_every is not None and check_every < 1:
            raise InputError(f"check_every={check_every}: must be at least one iteration")
        self.log = None if log is None else Path(log)
        self.check_every = check_every
        self.history: list[Progress] = []
        self.target: float | None = None  # exploitability that the run is to reach, where one was given
        self._due = 0

    @property
    def iteration(self) -> int:
        """Iterations so far."""
        count: int = self.solver.iteration
        return count

    @property
    def finished(self) -> bool:
        """Whether the solver has nothing more to gain."""
        done: bool = self.solver.finished
        return done

    def go(self, stoppers: Iterable[Stopper], callback: Callback | None = None) -> None:
        """Iterate until a stopper says so; checks fall on the same iterations in every run."""
        if self.log is not None:
            with atomic_io.told(self.log):  # a log that cannot be written is told before the work, not after it
                self.log.parent.mkdir(parents=True, exist_ok=True)
                self.log.open("ab").close()
        super().go(stoppers, callback)

    def advance(self, iterations: int) -> None:
        """Step the solver."""
        self.solver.step(iterations)

    def until_check(self) -> int:
        """Iterations until the next check."""
        self._due = self._next_check(self.iteration)
        return self._due - self.iteration

    def aim(self, limits: Limits) -> None:
        """Take the limits of the run into account: its target decides when checks are due."""
        self.target = limits.until

    @abstractmethod
    def _next_check(self, iteration: int) -> int:
        """The iteration of the next check."""

    @abstractmethod
    def check(self) -> object:
        """Compute the exploitability now, and record it."""

    @abstractmethod
    def result(self) -> Result:
        """The answer of the run so far."""

    def record(self, progress: Progress, unit: str) -> None:
        """Add a check to the history and to the log, with the unit of its figures."""
        self.history.append(progress)
        if self.log is not None:
            row = {k: v for k, v in asdict(progress).items() if k != "checked"} | {"unit": unit}
            line, log = json.dumps(row), self.log
            self.attempt(lambda: atomic_io.append(log, line))

    def checks(self) -> list[check_schedule.Check]:
        """Iteration and exploitability of the checks so far."""
        return [(p.iteration, p.exploitability) for p in self.history if p.exploitability is not None]

    def stalls(self) -> bool:
        """Whether more iterations have stopped to help."""
        return check_schedule.stalls(self.checks())


def finish(
    run: SolverRun,
    limits: Limits,
    callback: Callback | None = None,
    stop: Iterable[Stopper] = (),
    interrupt: Iterable[Stopper] = (),
) -> Result:
    """Run to the end, save, and say whether the target was met.

    A run ends at the first of its limits and of the stoppers in `stop`, or when its solver is finished. Where the target
    is the only limit, it also ends by stalling. Stoppers in `interrupt` are no limits: they raise.
    """
    until, own, made = limits.until, list(stop), limits.stoppers
    run.aim(limits)
    alone = until is not None and len(made) == 1 and not own
    stalled: list[Stopper] = [lambda _: run.stalls()] if alone else []
    try:
        run.go([*interrupt, *own, *made, *stalled], callback)
        run.check()
    except KeyboardInterrupt:
        if run.saves:
            run.save()
        raise
    if callback is not None:
        callback(run.standing())
    last = run.result()
    reached = until is None or last.exploitability <= until
    met = until is not None and reached
    ended = TARGET if met else DONE if run.finished else STALLED if alone else LIMIT
    result = replace(last, reached=reached, ended=ended)
    if run.saves:
        run.attempt(run.save)
    if run.trouble is not None:
        raise UnsavedError(str(run.trouble), result)
    return result
