"""What a person sees while something grows: nothing for a second, then how far it is."""

from __future__ import annotations

import sys

from riverboat.growth import Grown, guessed
from riverboat.interfaces.terminal import say

FIRST = 1.0  # seconds of silence before the first line
AGAIN, SHARE = 1.8, 0.1  # seconds to the next where it cannot be rewritten: so many, and this share of the time so far


class Told:
    """A line on stderr: rewritten on a terminal, else a new one now and then."""

    def __init__(self) -> None:
        self.next = FIRST
        self.shown = 0  # letters that stand on the terminal
        self.interrupted = ""  # what an interrupt has ended

    def __call__(self, grown: Grown) -> None:
        if grown.state != "growing":
            self._wipe()
            self.next = FIRST
            if grown.state == "interrupted":
                self.interrupted = f" while {grown.what}, at {grown.count:,} {grown.unit}"
        elif sys.stderr.isatty() and grown.seconds >= FIRST:
            text = show(grown)
            sys.stderr.write("\r" + text.ljust(self.shown))
            sys.stderr.flush()
            self.shown = len(text)
        elif grown.seconds >= self.next:
            say(show(grown))
            self.next = grown.seconds + max(AGAIN, SHARE * grown.seconds)

    def _wipe(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * self.shown + "\r")
            sys.stderr.flush()
            self.shown = 0


def show(grown: Grown) -> str:
    """`building the tree of leduc: 1,234,567 of about 2.3e+07 histories, 4 s`"""
    about = f" of {guessed(grown.about)}" if grown.about is not None and grown.about > grown.count else ""
    return f"{grown.what}: {grown.count:,}{about} {grown.unit}, {grown.seconds:.0f} s"
