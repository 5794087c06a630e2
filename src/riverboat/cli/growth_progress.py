"""What a person sees while something grows."""

from __future__ import annotations

from riverboat.cli.progress import ProgressLine
from riverboat.core.budget import Grown, guessed


class Told:
    """Shows what grows as a line of progress; remembers what an interrupt has ended."""

    def __init__(self) -> None:
        self.line: ProgressLine | None = None
        self.interrupted = ""

    def __call__(self, grown: Grown) -> None:
        if grown.state == "growing":
            if self.line is None:
                self.line = ProgressLine(grown.what)
            ahead = grown.about if grown.about is not None and grown.about > grown.count else None
            self.line.update(None if ahead is None else grown.count / ahead, show(grown))
            return
        if self.line is not None:
            self.line.done()
            self.line = None
        if grown.state == "interrupted":
            self.interrupted = f" while {grown.what}, at {grown.count:,} {grown.unit}"


def show(grown: Grown) -> str:
    """`1,234,567 of about 2.3e+07 histories`"""
    about = f" of {guessed(grown.about)}" if grown.about is not None and grown.about > grown.count else ""
    return f"{grown.count:,}{about} {grown.unit}"
