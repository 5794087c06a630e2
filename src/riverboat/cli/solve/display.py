"""What `riverboat solve` shows while it works: sizes, stages, progress, notes; and how it stops at a signal."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from riverboat.cli import termination
from riverboat.cli.display import StageDisplay
from riverboat.cli.progress import SolveProgressLine
from riverboat.cli.terminal import COMPILING_MESSAGE, say
from riverboat.core.formatting import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from riverboat.api.solve import SolvePlan
    from riverboat.cli.termination import Interrupted
    from riverboat.solvers.result import SolveProgress


class SolveDisplay(StageDisplay):
    """Shows a solve. From the plan on, a signal is raised between two steps, so that the run can be saved."""

    def __init__(self) -> None:
        super().__init__()
        self.current: SolvePlan | None = None
        self._line: SolveProgressLine | None = None
        self._signals = ExitStack()
        self._interrupted: Callable[[], Interrupted | None] = lambda: None

    def plan(self, plan: SolvePlan) -> None:
        self._close_run()
        self.current = plan
        if plan.large and plan.table_bytes is not None:
            say(f"{plan.game}: {plan.infosets:,} information sets, tables of {format_bytes(plan.table_bytes)}")
        iterations, seconds, until = plan.limits
        self._line = SolveProgressLine(
            f"{plan.game} {plan.method}", plan.unit, iterations=iterations, seconds=seconds, until=until
        )
        if not plan.compiled:
            self._line.update(None, COMPILING_MESSAGE)
        if plan.resumable:
            self._interrupted = self._signals.enter_context(termination.defer_signals())

    def progress(self, now: SolveProgress) -> None:
        if self._line is not None:
            self._line(now)
        signal = self._interrupted()
        if signal is not None:
            raise signal

    def _close_run(self) -> None:
        self._signals.close()
        self._interrupted = lambda: None
        if self._line is not None:
            self._line.done()
            self._line = None

    def close(self) -> None:
        self._close_run()
        super().close()
