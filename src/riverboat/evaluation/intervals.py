"""Means and how sure they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from riverboat.errors import InputError

NORMAL_95 = 1.959963984540054  # 97.5 % of a normal variable lies below so many standard deviations


@dataclass(frozen=True)
class Interval:
    """The mean of independent samples; the true one lies within `half_width` of it in 95 cases of 100."""

    mean: float
    half_width: float
    count: int


def interval(count: int, total: float, squares: float) -> Interval:
    """Of `count` samples by their sum and the sum of their squares; normal, which samples by the hundreds are enough for.

    In a duplicate match a sample is a pair of hands: the two share their cards and are not independent.
    """
    if count < 2:
        raise InputError(f"{count} samples: an interval needs two or more")
    mean = total / count
    variance = max(squares - count * mean * mean, 0.0) / (count - 1)
    return Interval(mean, NORMAL_95 * math.sqrt(variance / count), count)
