"""When a solve ends, and which strategy it returns, where the caller does not say.

`rb.solve`, `rb.sweep`, `riverboat solve` and the jobs of the web page all take their defaults from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from riverboat.core.errors import InputError, shown
from riverboat.games.spots.spot import Spot
from riverboat.solvers.result import BEST, LAST, Answer
from riverboat.solvers.run_loop import after_iterations, after_seconds, below

ITERATIONS = 1_000  # of CFR
SPOT_TARGET = 0.5  # % of the pot
EGT_TARGET = 1e-4  # in the game's unit


class Limits(NamedTuple):
    """Iterations, seconds and exploitability that end a solve, whichever comes first."""

    iterations: int | None = None
    time: float | None = None
    until: float | None = None

    @property
    def stoppers(self) -> list[Callable[[Any], bool]]:
        """A stopper for each limit; raises InputError where a limit is invalid."""
        made: list[Callable[[Any], bool]] = []
        made += [] if self.iterations is None else [after_iterations(self.iterations)]
        made += [] if self.time is None else [after_seconds(self.time)]
        return made + ([] if self.until is None else [below(self.until)])

    @property
    def answer(self) -> Answer:
        """The last strategy where a number of iterations is asked for; the best check where a target or a time is."""
        return BEST if self.iterations is None and (self.until is not None or self.time is not None) else LAST


def limits_for(game: object, method: str, given: Limits) -> Limits:
    """The limits of a solve: those that were given, or else the default of the game and the method."""
    if any(limit is not None for limit in given):
        return given
    if method not in ("cfr", "egt"):
        return given
    if isinstance(game, Spot):
        return Limits(until=SPOT_TARGET)
    return Limits(until=EGT_TARGET) if method == "egt" else Limits(iterations=ITERATIONS)


def answer_for(limits: Limits, asked: str | None, *, cards: bool = False) -> Answer:
    """Which strategy a CFR run returns: the one that was asked for, or else the default of its limits.

    With buckets it is the last: an earlier one may be better in the full game, and is no solution of the abstract one.
    """
    if asked not in (None, LAST, BEST):
        raise InputError(f"answer={shown(asked)}: must be {LAST!r} or {BEST!r}")
    if cards and asked == BEST:
        raise InputError(f"answer={asked!r}: with card buckets it must be {LAST!r}, the solution of the abstract game")
    if asked is not None:
        return BEST if asked == BEST else LAST
    return LAST if cards else limits.answer
