"""What commands share: output channels, durations, and a progress line.

Results go to stdout, everything else to stderr: a bar on a terminal, plain lines elsewhere.
"""

from __future__ import annotations

import json
import re
import sys
import time as clock
from typing import TYPE_CHECKING, Any, ClassVar

from riverboat.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from riverboat.solving.run import Progress

UNBOUNDED = 100_000  # columns of what is no terminal
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def duration(text: str) -> float:
    """Seconds from `90s`, `5m`, `8h`, `1h30m` or a bare number of seconds."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhd])", text)
    if not parts or "".join(n + u for n, u in parts) != text:
        raise InputError(f"time {text!r}: write 90s, 5m, 8h or 1h30m")
    return sum(float(n) * _UNITS[u] for n, u in parts)


def say(text: str) -> None:
    """A line for the person, on stderr."""
    print(text, file=sys.stderr, flush=True)


def plain_console(*, stderr: bool = False) -> Console:
    """Where people read: text as it is, no markup, as wide as the terminal. Files and pipes get all of it, however wide."""
    from rich.console import Console

    there = sys.stderr if stderr else sys.stdout
    width = None if there.isatty() else UNBOUNDED
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def emit(value: dict[str, Any]) -> None:
    """The one JSON object of a command, on stdout."""
    print(json.dumps(value, allow_nan=False, default=str))


class Live:
    """Progress of a run: a bar on a terminal, else a line every few seconds."""

    _open: ClassVar[Bar | None] = None

    def __init__(
        self, title: str, unit: str, *, iterations: int | None, seconds: float | None, until: float | None, quiet: bool
    ) -> None:
        self.title, self.unit, self.quiet = title, unit, quiet
        self.iterations, self.seconds, self.until = iterations, seconds, until
        self.bar: Bar | None = None
        self.task: Any = None
        self.first: float | None = None
        self.spoke = clock.monotonic()
        if sys.stderr.isatty() and not quiet:
            self._start_bar()

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.bar.start()
        Live._open = self.bar
        self.task = self.bar.add_task(self.title, total=1.0, facts="")

    def __call__(self, now: Progress) -> None:
        share = self._share(now)
        speed = now.iteration / now.seconds if now.seconds > 0 else 0.0
        known = f"exploitability {now.exploitability:.3g} {self.unit}" if now.exploitability is not None else ""
        facts = f"iteration {now.iteration:,}  {speed:,.4g}/s  {known}"
        if self.bar is not None:
            self.bar.update(self.task, completed=share, facts=facts)
        elif not self.quiet and clock.monotonic() - self.spoke > 5:
            say(f"{self.title}: {facts}  {100 * share:.0f} %")
            self.spoke = clock.monotonic()

    def _share(self, now: Progress) -> float:
        """How far the run is towards the nearest of its limits; exploitability counts in logarithms."""
        from math import log

        shares = [0.0]
        if self.iterations:
            shares.append(now.iteration / self.iterations)
        if self.seconds:
            shares.append(now.seconds / self.seconds)
        if self.until and now.exploitability is not None and now.exploitability > 0:
            if self.first is None:
                self.first = now.exploitability
            if self.first > self.until:
                shares.append(log(self.first / max(now.exploitability, self.until)) / log(self.first / self.until))
        return min(1.0, max(shares))

    def done(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()
            Live._open = None

    @classmethod
    def stop(cls) -> None:
        """Take any open bar away, before an error is printed."""
        if cls._open is not None:
            cls._open.stop()
            cls._open = None
