"""Matches that stop when they are settled: a sequential test on duplicate pairs.

    test = Settling(-50, 50, most=100_000)
    test.told(tally)                                   # better, worse, between or open

The test is a confidence sequence: an interval that holds the true mean at all times at once in 95 matches of 100, so that a
match may stop whenever it likes. `better`: the interval lies above the upper bound; `worse`: below the lower one; `between`:
inside both; `open`: none of these yet. The sequence is the asymptotic one of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas
(2024), which needs no bound on what may be won; it begins after LEAST pairs (docs/decisions).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from riverboat.core.errors import InputError
from riverboat.evaluation.intervals import Interval, Tally

LEAST = 1_000  # pairs before the first look: fewer know too little of rare large pots
ERROR = 0.05
BETTER, WORSE, BETWEEN, OPEN = "better", "worse", "between", "open"


@dataclass(frozen=True)
class Settling:
    """Bounds for what the first agent wins a hand, in any unit, and how many pairs there may be at most."""

    low: float
    high: float
    most: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high)) or self.low >= self.high:
            raise InputError(f"bounds {self.low:g},{self.high:g}: two numbers are needed, the lower first")
        if self.most < LEAST:
            raise InputError(f"at most {self.most:,} pairs: a match cannot be settled before {LEAST:,}")

    def interval(self, tally: Tally) -> Interval:
        """The interval after so many pairs; it is narrowest around a quarter of the most that there may be."""
        return confidence_sequence(tally, max(LEAST, self.most // 4))

    def told(self, tally: Tally) -> str:
        """What is known after these pairs."""
        if tally.count < LEAST:
            return OPEN
        interval = self.interval(tally)
        low, high = interval.mean - interval.half_width, interval.mean + interval.half_width
        if low > self.high:
            return BETTER
        if high < self.low:
            return WORSE
        return BETWEEN if self.low <= low and high <= self.high else OPEN


def confidence_sequence(tally: Tally, tightest: int, error: float = ERROR) -> Interval:
    """An interval that may be looked at after every sample; `tightest` says after how many it is narrowest for its time."""
    count = tally.count
    strict = -2 * math.log(error)
    rho = (strict + math.log(strict) + 1) / tightest  # ρ²
    grown = count * rho + 1
    half = tally.deviation * math.sqrt(2 * grown / (count * count * rho) * math.log(math.sqrt(grown) / error))
    return Interval(tally.mean, half, count)
