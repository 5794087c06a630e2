"""Safety relative to a blueprint: risks, shares, and mixtures as one strategy."""

from __future__ import annotations

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets
from riverboat.core.errors import InputError
from riverboat.opponents.models.tree import strategy_tables
from riverboat.opponents.risk import RelativeRisk, combine_seats, exact_risk, expected_gain, mix_strategies
from riverboat.papers.exploitation.restricted_nash import (
    RestrictedNashGame,
    RestrictedNashPoint,
    excess_over_mixture,
    perturb_blueprint,
    trade_off_curve,
)
from riverboat.papers.sampling import leduc_with_merged_ranks
from riverboat.solvers.mccfr.abstract_response import abstract_quality


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_mixture_has_mean_gain_and_bounded_risk(share: float) -> None:
    """Drawing before each hand earns the mean of both strategies: payoffs are bilinear, guarantees concave."""
    response, blueprint, other = (random_blueprint("leduc", seed=k) for k in (1, 2, 3))
    mixture = mix_strategies(response, blueprint, share)
    assert expected_gain(mixture, other) == pytest.approx(
        share * expected_gain(response, other) + (1 - share) * expected_gain(blueprint, other), abs=1e-5
    )
    risk = exact_risk(response, blueprint)
    assert exact_risk(mixture, blueprint).chips <= share * risk.chips + 1e-5
    for table, blueprint_table in zip(strategy_tables(mixture), strategy_tables(blueprint), strict=True):
        assert np.allclose(table, blueprint_table, atol=1e-6) == (share == 0)


def test_allowed_share() -> None:
    risk = RelativeRisk(40.0)
    assert [risk.allowed_share(budget) for budget in (0.0, 10.0, 40.0, 90.0)] == [0.0, 0.25, 1.0, 1.0]
    assert RelativeRisk(-3.0).allowed_share(0.0) == 1.0
    with pytest.raises(InputError, match="budget=-1"):
        risk.allowed_share(-1.0)


def test_combine_seats() -> None:
    first, second = (random_blueprint("leduc", seed=k) for k in (1, 2))
    assert abstract_quality(combine_seats(first, second)).best[0] == pytest.approx(abstract_quality(second).best[0])
    assert abstract_quality(combine_seats(first, second)).best[1] == pytest.approx(abstract_quality(first).best[1])
    with pytest.raises(InputError, match="'kuhn'"):
        combine_seats(first, random_blueprint("kuhn"))
    with pytest.raises(InputError, match="share=2"):
        mix_strategies(first, second, 2.0)


def test_mixtures_need_perfect_recall() -> None:
    tree, merged = leduc_with_merged_ranks()
    single_bucket = StreetBuckets(1, np.zeros((1, merged.indexer(1).size()), np.uint16))
    cards = CardAbstraction((merged.streets[0], single_bucket), merged.deals, tree.rules.deck, name="forgets")
    strategy = random_blueprint("leduc", cards=cards)
    with pytest.raises(InputError, match="forgets"):
        mix_strategies(strategy, strategy, 0.5)


def test_excess_over_mixture() -> None:
    first, last = RestrictedNashPoint(0, 10, 0, 0, 0), RestrictedNashPoint(1, 30, 0, 40, 0)
    assert excess_over_mixture(RestrictedNashPoint(0.5, 28, 0, 10, 0), first, last) == 13.0


def test_trade_off_curve() -> None:
    """The whole experiment on Leduc with merged ranks: responses with more risk win more from the model."""
    rows, curves = trade_off_curve("leduc", RestrictedNashGame(leduc_with_merged_ranks, 500, 30_000), seed=1)
    assert all(row.passes for row in rows if row.kind != "finding")
    (least,) = (row.ours for row in rows if row.kind == "finding")
    assert least > -10  # mbb/g; so short a training need not lie above the chord everywhere
    gain = np.array(curves[0].y)
    risk = np.array(curves[0].x)
    assert gain[-1] > gain[0] + 1
    assert risk[-1] > risk[0] + 1
    unperturbed = perturb_blueprint(random_blueprint("leduc"), 0.0, 3)
    for table, expected in zip(strategy_tables(unperturbed), strategy_tables(random_blueprint("leduc")), strict=True):
        np.testing.assert_allclose(table, expected, atol=1e-6)
