"""Sequential tests: error rates over 1,000 simulated matches, also with heavy tails, and invalid bounds."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.baselines import BaselineAgent
from riverboat.core.errors import InputError
from riverboat.evaluation.confidence_intervals import (
    BETTER,
    BETWEEN,
    MIN_PAIRS,
    OPEN,
    WORSE,
    SampleSums,
    SequentialTest,
)
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.rules import read_game

pytestmark = pytest.mark.smoke

MATCHES, PAIRS, LOOK = 1000, 8_000, 500
LOW, HIGH = -100.0, 100.0


def normal(rng, shape):
    return rng.normal(0, 5000, shape)


def like_poker(rng, shape):
    """Small pots, some large ones, and one pair in a hundred for stacks of 200 big blinds."""
    kind = rng.random(shape)
    size = np.where(kind < 0.6, 1000.0, np.where(kind < 0.99, 6000.0, 100_000.0))
    return size * rng.normal(0, 1, shape)


def skewed(rng, shape):
    """Rare large wins, else small losses: the mean of few pairs is mostly below the true mean."""
    return np.where(rng.random(shape) < 0.01, 50_000.0, -500.0 / 0.99) + rng.normal(0, 1000, shape)


def verdicts(draw, mean: float, seed: int, pairs: int = PAIRS) -> list[str]:
    """Return the verdicts of matches that are tested after every LOOK pairs."""
    rng, found, test = np.random.default_rng(seed), [], SequentialTest(LOW, HIGH, pairs)
    for _ in range(MATCHES // 100):
        samples = (mean + draw(rng, (100, pairs))).reshape(100, pairs // LOOK, LOOK)
        sums, squares = samples.sum(axis=2).cumsum(axis=1), (samples**2).sum(axis=2).cumsum(axis=1)
        for total, square in zip(sums, squares, strict=True):
            told = OPEN
            for k in range(pairs // LOOK):
                told = test.verdict(SampleSums((k + 1) * LOOK, float(total[k]), float(square[k])))
                if told != OPEN:
                    break
            found.append(told)
    return found


@pytest.mark.parametrize("draw", [normal, like_poker, pytest.param(skewed, marks=pytest.mark.slow)])
def test_error_rates(draw) -> None:
    """For any true mean, at most 5 of 100 verdicts are false; at the bounds it is hardest."""
    at_high, at_low = verdicts(draw, HIGH, 1), verdicts(draw, LOW, 2)
    assert at_high.count(BETTER) + at_high.count(WORSE) <= 0.05 * MATCHES
    assert at_low.count(WORSE) + at_low.count(BETTER) <= 0.05 * MATCHES
    assert verdicts(draw, HIGH + 1, 3).count(BETWEEN) <= 0.05 * MATCHES


def test_power() -> None:
    """Clear cases are decided, and sooner than close ones."""
    assert verdicts(normal, 700, 4).count(BETTER) > 0.95 * MATCHES
    assert verdicts(normal, -700, 5).count(WORSE) > 0.95 * MATCHES
    inside = verdicts(lambda rng, shape: rng.normal(0, 1500, shape), 0, 6)
    assert inside.count(BETWEEN) > 0.95 * MATCHES
    assert verdicts(normal, 0, 7, pairs=2 * MIN_PAIRS).count(OPEN) > 0.9 * MATCHES


def test_match_stops_early() -> None:
    rules = read_game("nolimit-200bb")
    fold, raises = BaselineAgent("always-fold"), BaselineAgent("always-raise")
    found = play_match(fold, raises, rules, 20_000, bounds=(-50, 50))
    assert (found.verdict, found.pairs, found.mbb_per_game, found.ci95) == (WORSE, MIN_PAIRS, -750, 0)
    assert found.record()["bounds"] == [-50, 50]
    even = play_match(BaselineAgent("always-call"), raises, rules, 20_000, bounds=(-50, 50))  # every pair is even
    assert (even.verdict, even.pairs) == (BETWEEN, MIN_PAIRS)
    wild = play_match(BaselineAgent("random"), BaselineAgent("rule-based"), rules, 2 * MIN_PAIRS, bounds=(-1, 1))
    assert wild.verdict in (OPEN, WORSE)
    plain = play_match(BaselineAgent("random"), BaselineAgent("rule-based"), rules, 2 * MIN_PAIRS)
    assert (wild.mbb_per_game, wild.hands) == (plain.mbb_per_game, plain.hands)
    assert wild.ci95 > plain.ci95  # it holds at every sample size


def test_invalid_bounds() -> None:
    with pytest.raises(InputError, match="50,-50"):
        SequentialTest(50, -50, 5000)
    with pytest.raises(InputError, match=r"999 .*1,000"):
        SequentialTest(-50, 50, MIN_PAIRS - 1)
