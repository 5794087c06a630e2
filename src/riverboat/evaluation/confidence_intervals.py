"""Sample means with confidence intervals, and a sequential test for duplicate matches.

`ConfidenceInterval` is a normal 95 % interval for a fixed number of samples. `SequentialTest` stops a match early: its
`confidence_sequence` holds at every sample size at once, so the test may look at the result after every batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from riverboat.core.arrays import Array
from riverboat.core.claims import Claim, ClaimKind
from riverboat.core.errors import InputError

NORMAL_95 = 1.959963984540054  # the 97.5 % quantile of the standard normal distribution


@dataclass(frozen=True)
class ConfidenceInterval:
    """Mean of independent samples with the half-width of its 95 % confidence interval.

    Attributes
    ----------
    mean
        Mean of the samples.
    half_width
        Half-width of the interval.
    count
        Number of samples.

    Examples
    --------
    >>> from riverboat.evaluation.confidence_intervals import SampleSums
    >>> SampleSums(100, 50.0, 50.0).confidence_interval().mean
    0.5
    """

    mean: float
    half_width: float
    count: int


@dataclass(frozen=True)
class SampleSums:
    """Sufficient statistics of independent samples: their number, sum and sum of squares.

    Attributes
    ----------
    count
        Number of samples.
    total
        Their sum.
    squares
        Sum of their squares.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.evaluation.confidence_intervals import SampleSums
    >>> SampleSums().add_samples(np.array([1, 2, 3])).mean
    2.0
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add_samples(self, samples: Array) -> SampleSums:
        """Return the sums with more samples added; integers are added exactly.

        Parameters
        ----------
        samples
            The samples. [samples]
        """
        values = samples.tolist()
        squares = sum(x * x for x in values)
        return SampleSums(self.count + len(values), self.total + sum(values), self.squares + squares)

    def scale(self, factor: float) -> SampleSums:
        """Return the sums of the same samples in another unit.

        Parameters
        ----------
        factor
            Factor on every sample.
        """
        return SampleSums(self.count, self.total * factor, self.squares * factor * factor)

    @property
    def mean(self) -> float:
        """Mean of the samples."""
        return self.total / self.count

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of one sample."""
        if self.count < 2:
            raise InputError(f"{self.count} samples: an interval needs two or more")
        return math.sqrt(max(self.squares - self.count * self.mean * self.mean, 0.0) / (self.count - 1))

    def confidence_interval(self) -> ConfidenceInterval:
        """Return the mean with its normal 95 % interval, which is accurate from a few hundred samples on.

        In a duplicate match a sample is a pair of hands: the two share their cards and are not independent.

        Raises
        ------
        InputError
            If there are fewer than two samples.
        """
        half_width = NORMAL_95 * self.standard_deviation / math.sqrt(self.count)  # first: it checks the count
        return ConfidenceInterval(self.mean, half_width, self.count)


def mean_interval(samples: Array) -> ConfidenceInterval:
    """Compute the mean of independent samples with its normal 95 % interval.

    Parameters
    ----------
    samples
        The samples, two or more. float64 [samples]

    Returns
    -------
    ConfidenceInterval
        Mean and half-width.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.evaluation.confidence_intervals import mean_interval
    >>> mean_interval(np.array([1.0, 2.0, 3.0])).mean
    2.0
    """
    return SampleSums(len(samples), float(samples.sum()), float((samples * samples).sum())).confidence_interval()


class Winnings:
    """Base class of results with winnings per hand in `chips`, which it converts to mbb/g."""

    chips: ConfidenceInterval
    big_blind: int
    seed: int

    @property
    def mbb_per_game(self) -> float:
        """Winnings in thousandths of a big blind per hand."""
        return 1000 * self.chips.mean / self.big_blind

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval of `mbb_per_game`."""
        return 1000 * self.chips.half_width / self.big_blind

    def _claim(self, name: str, kind: ClaimKind, size: int, samples: str) -> Claim:
        return Claim(name, self.mbb_per_game, "mbb/g", kind, self.ci95, seed=self.seed, size=size, samples=samples)


# --- Sequential test ---

MIN_PAIRS = 1_000  # pairs before the first test: fewer contain too few of the rare large pots
ERROR_RATE = 0.05
BETTER, WORSE, BETWEEN, OPEN = "better", "worse", "between", "open"


@dataclass(frozen=True)
class SequentialTest:
    """Sequential test on duplicate pairs.

    The first agent is better if its mean winnings, in any unit, are above both bounds, worse if they are below both. A
    confidence sequence of the mean decides, as soon as it lies above, below or between the bounds.

    Parameters
    ----------
    low
        Lower bound.
    high
        Upper bound.
    max_pairs
        Largest number of pairs, 1,000 or more.

    Raises
    ------
    InputError
        If the bounds are not two finite numbers in order, or `max_pairs` is too small.

    Examples
    --------
    >>> from riverboat.evaluation.confidence_intervals import SampleSums, SequentialTest
    >>> SequentialTest(-10.0, 10.0, 100_000).verdict(SampleSums(20_000, 800_000.0, 200_000_000.0))
    'better'
    """

    low: float
    high: float
    max_pairs: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high)) or self.low >= self.high:
            raise InputError(f"bounds {self.low:g},{self.high:g}: must be two finite numbers, the lower first")
        if self.max_pairs < MIN_PAIRS:
            raise InputError(f"at most {self.max_pairs:,} pairs: a sequential test needs {MIN_PAIRS:,} or more")

    def interval(self, tally: SampleSums) -> ConfidenceInterval:
        """Return the confidence sequence after some pairs; it is tightest at about a quarter of `max_pairs`.

        Parameters
        ----------
        tally
            Sums of the winnings of the pairs so far.
        """
        return confidence_sequence(tally, max(MIN_PAIRS, self.max_pairs // 4))

    def verdict(self, tally: SampleSums) -> str:
        """Return `better`, `worse` or `between` once the interval decides it, else `open`.

        Parameters
        ----------
        tally
            Sums of the winnings of the pairs so far.
        """
        if tally.count < MIN_PAIRS:
            return OPEN
        interval = self.interval(tally)
        low, high = interval.mean - interval.half_width, interval.mean + interval.half_width
        if low > self.high:
            return BETTER
        if high < self.low:
            return WORSE
        return BETWEEN if self.low <= low and high <= self.high else OPEN


def confidence_sequence(tally: SampleSums, narrowest_at: int, error_rate: float = ERROR_RATE) -> ConfidenceInterval:
    """Compute an interval that holds at every sample size at once.

    Parameters
    ----------
    tally
        Sums of the samples, two or more.
    narrowest_at
        Number of samples at which the interval is tightest.
    error_rate
        Probability that the interval ever misses the mean.

    Returns
    -------
    ConfidenceInterval
        Mean and half-width.

    Raises
    ------
    InputError
        If there are fewer than two samples.

    References
    ----------
    .. [1] Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of Mathematical
       Statistics 1970.

    Examples
    --------
    >>> from riverboat.evaluation.confidence_intervals import SampleSums, confidence_sequence
    >>> round(confidence_sequence(SampleSums(100, 50.0, 50.0), 100).half_width, 4)
    0.1525
    """
    count = tally.count
    log_term = -2 * math.log(error_rate)
    rho = (log_term + math.log(log_term) + 1) / narrowest_at  # ρ² of the normal mixture
    scaled_count = count * rho + 1
    squared_width = 2 * scaled_count / (count * count * rho) * math.log(math.sqrt(scaled_count) / error_rate)
    return ConfidenceInterval(tally.mean, tally.standard_deviation * math.sqrt(squared_width), count)
