"""Progress on stderr: one line that is redrawn on a terminal, or occasional plain lines elsewhere.

    Card abstraction, step 1 of 7: turn features  9 %  15 s left

The title comes first, then the share that is done, then details in order of importance. Without a known share the
elapsed time is shown. A terminal shows as many details as fit, and a bar in the remaining columns; the title and the
share are dropped before the first detail. A thread draws the line, so that it also updates while the work reports
nothing.
"""

from __future__ import annotations

import os
import sys
import threading
import time as clock
from collections.abc import Sequence
from math import exp, log
from typing import TYPE_CHECKING, ClassVar, Self

from riverboat.cli.terminal import StderrState, say
from riverboat.core.budget import BuildProgress, format_estimate
from riverboat.core.formatting import format_seconds
from riverboat.core.observer import Observer

if TYPE_CHECKING:
    from riverboat.solvers.result import SolveProgress

FIRST_LINE_SECONDS = 1.5  # seconds before the first plain line
LINE_SECONDS = 5.0  # seconds between two plain lines; twice as many after FREQUENT_SECONDS
FREQUENT_SECONDS = 60.0
DRAW_DELAY, REDRAW_SECONDS = 0.3, 0.2  # seconds before the first drawing, and between two
BAR_COLUMNS = (8, 24)  # fewest and most columns of a bar
GAP = "  "
FULL, EMPTY = "━", "╌"
MAX_LOG_REMAINING = 20.0  # log of remaining work over work done; beyond it no estimate is shown


def fit_columns(details: Sequence[str], share: float | None, width: int, marks: tuple[str, str] = (FULL, EMPTY)) -> str:
    """Join as many details as fit into `width` columns, from the first on, with a bar after the first one."""
    bar_columns = 0 if share is None else BAR_COLUMNS[0] + len(GAP)
    shown: list[str] = []
    for detail in details:
        if shown and len(GAP.join([*shown, detail])) + bar_columns > width:
            break
        shown.append(detail)
    room = width - len(GAP.join(shown)) - len(GAP)
    if share is not None and room >= BAR_COLUMNS[0]:
        columns = min(room, BAR_COLUMNS[1])
        done = round(columns * min(max(share, 0.0), 1.0))
        shown.insert(1, marks[0] * done + marks[1] * (columns - done))
    return GAP.join(shown)[:width]


class ProgressLine:
    """A progress line for some work, shown from its creation until `done`; also a context manager."""

    _open: ClassVar[ProgressLine | None] = None

    def __init__(self, title: str) -> None:
        self.title = title
        self.share: float | None = None  # share of the work that is done
        self.details: tuple[str, ...] = ()
        self.started = clock.monotonic()
        self._shown = 0  # columns of the line on the terminal
        self._finished = threading.Event()
        self._terminal = sys.stderr.isatty()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._previous = ProgressLine._open  # hidden while this one is shown
        with StderrState.lock:
            if StderrState.erase_progress is not None:
                StderrState.erase_progress()
            ProgressLine._open, StderrState.erase_progress = self, self._erase
        self._thread.start()

    def update(self, share: float | None, *facts: str) -> None:
        """Set the share and the details, the most important first."""
        self.share, self.details = share, tuple(fact for fact in facts if fact)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.done()

    def done(self) -> None:
        """Remove the line."""
        self._finished.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join()  # an interrupt may arrive before it is started
        with StderrState.lock:
            self._erase()
            if ProgressLine._open is self:
                ProgressLine._open = self._previous
                StderrState.erase_progress = None if self._previous is None else self._previous._erase

    @classmethod
    def close_all(cls) -> None:
        """Remove all lines, before an error is printed."""
        while cls._open is not None:
            cls._open.done()

    # --- Drawing thread ---

    def _run(self) -> None:
        wait = DRAW_DELAY if self._terminal else FIRST_LINE_SECONDS
        while not self._finished.wait(wait):
            if ProgressLine._open is not self:
                continue
            if self._terminal:
                self._draw()
                wait = REDRAW_SECONDS
            else:
                say(self.plain_text())
                wait = LINE_SECONDS if clock.monotonic() - self.started < FREQUENT_SECONDS else 2 * LINE_SECONDS

    def _all_details(self) -> list[str]:
        """Return the share and the details, or the details and the elapsed time if no share is known."""
        if self.share is None:
            return [*self.details, format_seconds(round(clock.monotonic() - self.started))]
        return [f"{100 * self.share:.0f} %", *self.details]

    def plain_text(self) -> str:
        """Return the whole line, for files and pipes."""
        return GAP.join([self.title, *self._all_details()])

    def render(self, width: int) -> str:
        """Return the line cut to `width` columns."""
        try:
            (FULL + EMPTY).encode(sys.stderr.encoding or "ascii")
            marks = FULL, EMPTY
        except (UnicodeEncodeError, LookupError):
            marks = "=", "."
        columns = width - (0 if self.share is None else BAR_COLUMNS[0] + len(GAP))
        parts = [self.title, *self._all_details()]
        if self.details and len(GAP.join(parts[:4])) > columns:  # drop the title before the first details,
            del parts[0]
            if self.share is not None and len(GAP.join(parts[:2])) > columns:  # and the share before the first one
                del parts[0]
        if marks[0] == "=":
            parts = [fact.replace("µ", "u") for fact in parts]
        return fit_columns(parts, self.share, width, marks)

    def _draw(self) -> None:
        with StderrState.lock:
            if self._finished.is_set() or ProgressLine._open is not self:
                return
            try:
                width = os.get_terminal_size(sys.stderr.fileno()).columns
            except (OSError, ValueError):
                width = 80
            text = self.render(max(width, 1) - 1)  # the last column would start a new line
            sys.stderr.write("\r" + text.ljust(self._shown))
            sys.stderr.flush()
            self._shown = len(text)

    def _erase(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0


class ProgressBar(ProgressLine):
    """A progress line with a bar, for work that reports the share that is done."""

    def __call__(self, share: float) -> None:
        spent = clock.monotonic() - self.started
        self.update(share, f"{format_seconds(spent * (1 / share - 1))} left" if 0 < share <= 1 else "")


class LineSlot:
    """At most one progress line: opened on demand, and replaced when the title changes."""

    line: ProgressLine | None = None

    def open(self, title: str) -> ProgressBar:
        """Return the bar with this title, which may be new."""
        if not isinstance(self.line, ProgressBar) or self.line.title != title:
            self.close_line()
            self.line = ProgressBar(title)
        return self.line

    def close_line(self) -> None:
        """Erase the line."""
        if self.line is not None:
            self.line.done()
            self.line = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_line()


class DeferredProgressBar(LineSlot):
    """A progress bar that appears with the first report, for work that is often already done."""

    def __init__(self, title: str) -> None:
        self.title = title

    def __call__(self, share: float) -> None:
        self.open(self.title)(share)
        if share >= 1:
            self.close_line()

    def update_count(self, done: int, total: int) -> None:
        """Update by completed parts."""
        self(done / total)


class StageProgressLine(LineSlot):
    """Progress of the current stage: a new line for each stage, with parts done and the remaining time."""

    already_done = 0

    def __call__(self, stage: str, done: int, count: int) -> None:
        before, line = self.line, self.open(stage)
        self.already_done = (self.already_done if line is before else 0) or done  # from an earlier run, in no time
        new = done - self.already_done
        seconds = clock.monotonic() - line.started
        left = f"{format_seconds(round(seconds / new * (count - done)))} left" if new else ""
        line.update(done / count, left, f"{done:,} of {count:,}")


class SolveProgressLine(ProgressLine):
    """Progress of a solve, as a callback: exploitability first, then the estimated remaining time."""

    def __init__(
        self, title: str, unit: str, *, iterations: int | None, seconds: float | None, until: float | None
    ) -> None:
        self.unit, self.iterations, self.seconds, self.until = unit, iterations, seconds, until
        self.checks: list[tuple[int, float]] = []
        super().__init__(title)

    def __call__(self, now: SolveProgress) -> None:
        new = now.checked and now.iteration > (self.checks[-1][0] if self.checks else 0)
        if new and now.exploitability is not None:
            self.checks.append((now.iteration, now.exploitability))
        measure = (
            "no check yet" if now.exploitability is None else f"exploitability {now.exploitability:.3g} {self.unit}"
        )
        speed = now.iteration / now.seconds if now.seconds > 0 else 0.0
        left = self._seconds_left(now, speed)
        share = None if left is None else now.seconds / (now.seconds + left) if left > 0 else 1.0
        remaining = "" if left is None else f"{format_seconds(left)} left"
        self.update(share, measure, remaining, f"iteration {now.iteration:,}", f"{speed:,.3g}/s" if speed else "")

    def _seconds_left(self, now: SolveProgress, speed: float) -> float | None:
        """Return the seconds to the nearest limit, or None if they cannot be estimated."""
        left = [] if self.seconds is None else [self.seconds - now.seconds]
        if speed > 0:
            counts = (self.iterations, extrapolate_iterations(self.checks, self.until))
            left += [(count - now.iteration) / speed for count in counts if count is not None]
        return max(0.0, min(left)) if left else None


def extrapolate_iterations(checks: Sequence[tuple[int, float]], until: float | None) -> float | None:
    """Estimate the iteration that reaches the target, from the decrease since a quarter of the iterations.

    Exploitability is extrapolated as a power of the iteration.
    """
    if until is None or until <= 0 or len(checks) < 2:
        return None
    last, e1 = checks[-1]
    first, e0 = [check for check in checks[:-1] if check[0] <= last / 4 or check == checks[0]][-1]
    if not 0 < e1 < e0 or first < 1:
        return None
    steps = log(max(e1 / until, 1.0)) * log(last / first) / log(e0 / e1)
    return last * exp(steps) if steps < MAX_LOG_REMAINING else None


# --- What commands show while a verb of the API works ---


class StageDisplay(LineSlot, Observer):
    """Shows the stage of the work as a progress line, and notes as lines of text."""

    def stage(self, title: str, detail: str = "") -> None:
        if title:
            self.open(title).update(None, detail)
        else:
            self.close_line()

    def note(self, text: str) -> None:
        say(text)


# --- Growing trees ---


class GrowthProgressLine(LineSlot):
    """Progress of trees that are built, for `core.budget.build_context`."""

    interrupted = ""  # what was interrupted, for the error message

    def __call__(self, grown: BuildProgress) -> None:
        if grown.state == "growing":
            total = grown.expected if grown.expected is not None and grown.expected > grown.count else None
            about = "" if total is None else f" of {format_estimate(total)}"
            share = None if total is None else grown.count / total
            self.open(grown.task).update(share, f"{grown.count:,}{about} {grown.unit}")
            return
        self.close_line()
        if grown.state == "interrupted":
            self.interrupted = f" while {grown.task}, at {grown.count:,} {grown.unit}"
