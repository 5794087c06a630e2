"""Means and how sure they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

NORMAL_95 = 1.959963984540054  # 97.5 % of a normal variable lies below so many standard deviations


@dataclass(frozen=True)
class Interval:
    """The mean of independent samples; the true one lies within `half_width` of it in 95 cases of 100."""

    mean: float
    half_width: float
    count: int


@dataclass(frozen=True)
class Tally:
    """Independent samples, counted: their number, their sum and the sum of their squares."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def plus(self, samples: Array) -> Tally:
        """With more of them. Whole numbers are added up exactly."""
        values = samples.tolist()
        squares = sum(x * x for x in values)
        return Tally(self.count + len(values), self.total + sum(values), self.squares + squares)

    def times(self, factor: float) -> Tally:
        """The same samples in another unit."""
        return Tally(self.count, self.total * factor, self.squares * factor * factor)

    @property
    def mean(self) -> float:
        """Of the samples."""
        return self.total / self.count

    @property
    def deviation(self) -> float:
        """Standard deviation of a sample."""
        if self.count < 2:
            raise InputError(f"{self.count} samples: an interval needs two or more")
        return math.sqrt(max(self.squares - self.count * self.mean * self.mean, 0.0) / (self.count - 1))

    def interval(self) -> Interval:
        """The mean and how sure it is; normal, which samples by the hundreds are enough for.

        In a duplicate match a sample is a pair of hands: the two share their cards and are not independent.
        """
        return Interval(self.mean, NORMAL_95 * self.deviation / math.sqrt(self.count), self.count)


def interval(count: int, total: float, squares: float) -> Interval:
    """Of `count` samples by their sum and the sum of their squares."""
    if count < 1:
        raise InputError(f"{count} samples: an interval needs two or more")
    return Tally(count, total, squares).interval()
