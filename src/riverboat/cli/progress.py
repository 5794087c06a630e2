"""What is under way, on stderr: one line that is drawn again and again on a terminal, plain lines now and then elsewhere.

    Card abstraction, step 1 of 7: turn features  9 %  15 s left

The title comes first, then the share that is done, then facts in the order of their importance; the time so far where nobody
knows how much is left. A terminal shows as many of them as it has room for, from the first on, and a bar in what is left; it
leaves out the title and the share before the first fact. A thread of its own draws and speaks: nothing is silent while
the work itself says nothing.
"""

from __future__ import annotations

import os
import sys
import threading
import time as clock
from collections.abc import Sequence
from math import exp, log
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from riverboat.cli.terminal import Speech, say
from riverboat.core.formatting import show_seconds

if TYPE_CHECKING:
    from riverboat.solvers.result import Progress

FIRST = 1.5  # seconds of silence before the first plain line,
EVERY = 5.0  # between two of them,
OFTEN = 60.0  # and after a while
DELAY, REDRAW = 0.3, 0.2  # seconds before a line is drawn, and until it is drawn again
BAR = (8, 24)  # columns of a bar, at least and at most
GAP = "  "
FULL, EMPTY = "━", "╌"
FAR = 20.0  # logarithm of how many times the work so far may be left; beyond that nothing is said


def fit(facts: Sequence[str], share: float | None, width: int, marks: tuple[str, str] = (FULL, EMPTY)) -> str:
    """As many facts as there is room for, from the first on; a bar behind the first one."""
    least = 0 if share is None else BAR[0] + len(GAP)
    kept: list[str] = []
    for fact in facts:
        if kept and len(GAP.join([*kept, fact])) + least > width:
            break
        kept.append(fact)
    room = width - len(GAP.join(kept)) - len(GAP)
    if share is not None and room >= BAR[0]:
        columns = min(room, BAR[1])
        done = round(columns * min(max(share, 0.0), 1.0))
        kept.insert(1, marks[0] * done + marks[1] * (columns - done))
    return GAP.join(kept)[:width]


class ProgressLine:
    """A line about some work, from its making until `done`; also as a context."""

    _open: ClassVar[ProgressLine | None] = None

    def __init__(self, title: str) -> None:
        self.title = title
        self.share: float | None = None  # of the work that is done
        self.facts: tuple[str, ...] = ()
        self.started = clock.monotonic()
        self._shown = 0  # columns that the line takes on the terminal
        self._over = threading.Event()
        self._terminal = sys.stderr.isatty()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._before = ProgressLine._open  # which waits while this one is shown
        with Speech.lock:
            if Speech.wipe is not None:
                Speech.wipe()
            ProgressLine._open, Speech.wipe = self, self._wipe
        self._thread.start()

    def update(self, share: float | None, *facts: str) -> None:
        """What is known now, the most important first."""
        self.share, self.facts = share, tuple(fact for fact in facts if fact)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.done()

    def done(self) -> None:
        """Take the line away."""
        self._over.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join()  # an interrupt may come before it is started
        with Speech.lock:
            self._wipe()
            if ProgressLine._open is self:
                ProgressLine._open = self._before
                Speech.wipe = None if self._before is None else self._before._wipe

    @classmethod
    def stop(cls) -> None:
        """Take any line away, before an error is printed."""
        while cls._open is not None:
            cls._open.done()

    # --- the thread ---------------------------------------------------------------------------

    def _watch(self) -> None:
        wait = DELAY if self._terminal else FIRST
        while not self._over.wait(wait):
            if ProgressLine._open is not self:
                continue
            if self._terminal:
                self._draw()
                wait = REDRAW
            else:
                say(self.plain())
                wait = EVERY if clock.monotonic() - self.started < OFTEN else 2 * EVERY

    def _facts(self) -> list[str]:
        """The share that is done, what is known, and the time so far where no share is."""
        if self.share is None:
            return [*self.facts, show_seconds(round(clock.monotonic() - self.started))]
        return [f"{100 * self.share:.0f} %", *self.facts]

    def plain(self) -> str:
        """The whole line, for files and pipes."""
        return GAP.join([self.title, *self._facts()])

    def line(self, width: int) -> str:
        """The line in so many columns."""
        try:
            (FULL + EMPTY).encode(sys.stderr.encoding or "ascii")
            marks = FULL, EMPTY
        except (UnicodeEncodeError, LookupError):
            marks = "=", "."
        room = width - (0 if self.share is None else BAR[0] + len(GAP))
        facts = [self.title, *self._facts()]
        if self.facts and len(GAP.join(facts[:4])) > room:  # the title gives way to the first facts,
            del facts[0]
            if self.share is not None and len(GAP.join(facts[:2])) > room:  # and the share to the first of them
                del facts[0]
        return fit([fact.replace("µ", "u") if marks[0] == "=" else fact for fact in facts], self.share, width, marks)

    def _draw(self) -> None:
        with Speech.lock:
            if self._over.is_set() or ProgressLine._open is not self:
                return
            try:
                width = os.get_terminal_size(sys.stderr.fileno()).columns
            except (OSError, ValueError):
                width = 80
            text = self.line(max(width, 1) - 1)  # the last column would start a new line
            sys.stderr.write("\r" + text.ljust(self._shown))
            sys.stderr.flush()
            self._shown = len(text)

    def _wipe(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0


class Bar(ProgressLine):
    """Progress of work that tells the share of it that is done."""

    def __call__(self, share: float) -> None:
        spent = clock.monotonic() - self.started
        self.update(share, f"{show_seconds(spent * (1 / share - 1))} left" if 0 < share <= 1 else "")


class LateBar:
    """A bar that is there from the first word on until all is done: of work that may have nothing to do."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar: Bar | None = None

    def __call__(self, share: float) -> None:
        if self.bar is None:
            self.bar = Bar(self.title)
        self.bar(share)
        if share >= 1:
            self.close()

    def of(self, done: int, all_of_it: int) -> None:
        """The same for who counts."""
        self(done / all_of_it)

    def close(self) -> None:
        """Take it away."""
        if self.bar is not None:
            self.bar.done()
            self.bar = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Live(ProgressLine):
    """Progress of a solve, which comes as a callback: exploitability first, and how long it may still take."""

    def __init__(
        self, title: str, unit: str, *, iterations: int | None, seconds: float | None, until: float | None
    ) -> None:
        self.unit, self.iterations, self.seconds, self.until = unit, iterations, seconds, until
        self.checks: list[tuple[int, float]] = []
        super().__init__(title)

    def __call__(self, now: Progress) -> None:
        new = now.checked and now.iteration > (self.checks[-1][0] if self.checks else 0)
        if new and now.exploitability is not None:
            self.checks.append((now.iteration, now.exploitability))
        known = "no check yet" if now.exploitability is None else f"exploitability {now.exploitability:.3g} {self.unit}"
        speed = now.iteration / now.seconds if now.seconds > 0 else 0.0
        left = self._left(now, speed)
        share = None if left is None else now.seconds / (now.seconds + left) if left > 0 else 1.0
        still = "" if left is None else f"{show_seconds(left)} left"
        self.update(share, known, still, f"iteration {now.iteration:,}", f"{speed:,.3g}/s" if speed else "")

    def _left(self, now: Progress, speed: float) -> float | None:
        """Seconds to the nearest of the limits, where something can be said."""
        left = [] if self.seconds is None else [self.seconds - now.seconds]
        if speed > 0:
            counts = (self.iterations, expected(self.checks, self.until))
            left += [(count - now.iteration) / speed for count in counts if count is not None]
        return max(0.0, min(left)) if left else None


def expected(checks: Sequence[tuple[int, float]], until: float | None) -> float | None:
    """The iteration that meets a target, if exploitability falls on as it did since a quarter of the iterations."""
    if until is None or until <= 0 or len(checks) < 2:
        return None
    last, e1 = checks[-1]
    first, e0 = [check for check in checks[:-1] if check[0] <= last / 4 or check == checks[0]][-1]
    if not 0 < e1 < e0 or first < 1:
        return None
    steps = log(max(e1 / until, 1.0)) * log(last / first) / log(e0 / e1)
    return last * exp(steps) if steps < FAR else None
