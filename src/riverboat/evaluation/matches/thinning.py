"""Pairs of a match of which only some are played: fewer, the less is at stake.

    play_match(searching, blueprint, rules, 4_096, thin=Thinning("turn"))

An agent that searches from the turn on costs nothing before it, and wins nothing there of its own blueprint: both play alike.
So every deal is played first by the second agent against itself, which is cheap. The pair is then played with a probability
that grows with the pot at the beginning of a street, and counts by the inverse of it; one that is not played counts zero.
The mean is the same for any two agents. The interval is narrower for the same time where luck grows with that pot, and it is
wider for the same number of deals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown
from riverboat.evaluation.matches.aivat import pots_of
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands

WHOLE = 30.0  # big blinds
LEAST = 0.2  # no pair counts more than five times: small pots may grow to whole stacks
_STREAM = 7  # of the seed: not that of the cards


@dataclass(frozen=True)
class Thinning:
    """How likely pairs are to be played."""

    street: str  # whose first pot counts
    whole: float = WHOLE  # big blinds: with such a pot, or a larger one, all pairs are played
    least: float = LEAST  # the probability of those with the smallest, and of those that do not come to the street

    def __post_init__(self) -> None:
        if not self.whole > 0:
            raise InputError(f"whole={self.whole:g}: must be above zero, big blinds")
        if not 0 < self.least <= 1:
            raise InputError(f"least={self.least:g}: must be above 0 and at most 1")

    def check(self, rules: Rules) -> None:
        """Refuse games that do not have its street."""
        if self.street not in rules.streets:
            raise unknown("street", self.street, rules.streets)

    def chances(self, trial: Hands) -> Array:
        """Of pairs, from both hands of each as the trial played them. float64 [pairs]"""
        rules = trial.rules
        pots = pots_of(trial)[0::2, rules.streets.index(self.street)]
        return np.clip(pots / (self.whole * rules.big_blind), self.least, 1.0)


def draws(seed: int) -> np.random.Generator:
    """One number for each pair, in their order: the same however they are dealt out to batches."""
    return np.random.default_rng((seed, _STREAM))
