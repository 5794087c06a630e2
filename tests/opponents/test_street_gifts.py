"""Gifts along hands: their mean is the opponent's real loss; and the risk bank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from random_blueprints import blueprint_of, random_blueprint
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.actions import HIDDEN_CARD
from riverboat.games.holdem.hand_records import HandRecords, concatenate_records
from riverboat.opponents.gifts import last_street_gifts
from riverboat.opponents.risk import RiskBank, combine_seats
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.strategies.blueprint import Blueprint


def played(x: Blueprint, y: Blueprint, hands: int) -> HandRecords:
    records: list[HandRecords] = []
    play_match(
        BlueprintAgent(x, "x", seed=4), BlueprintAgent(y, "y", seed=5), x.rules, hands, 6, observe=records.append
    )
    return concatenate_records(records)


@pytest.mark.slow
def test_mean_gift_equals_the_loss() -> None:
    """Kuhn with all cards seen: exact best responses, within five standard errors. With hidden cards it is less."""
    x, y = random_blueprint("kuhn", seed=1), random_blueprint("kuhn", seed=2)
    hands = played(x, y, 400)
    gifts = last_street_gifts(BlueprintAgent(x, "x"), hands, "y", None)
    best_response_values = abstract_quality(x).best  # of the opponent, by seat
    losses = [
        best_response_values[0] - abstract_quality(combine_seats(y, x)).values[0],
        best_response_values[1] - abstract_quality(combine_seats(x, y)).values[1],
    ]
    for seat in (0, 1):
        seat_gifts = gifts[hands.seat_of("y") == seat]
        error = seat_gifts.std() / np.sqrt(len(seat_gifts))
        assert abs(seat_gifts.mean() - losses[seat]) < 5 * error
        assert seat_gifts.mean() > 5 * error
    assert gifts.min() >= 0
    visible_gifts = last_street_gifts(BlueprintAgent(x, "x"), hands.seen_by("x"), "y", None)
    assert ((visible_gifts == gifts) | (visible_gifts == 0)).all()
    assert 0 < visible_gifts.sum() < gifts.sum()


def test_only_the_last_street_counts() -> None:
    """In a longer game; `max_hands` limits the evaluated hands."""
    x = blueprint_of("pot")
    hands = played(x, x, 300)
    gifts = last_street_gifts(BlueprintAgent(x, "x"), hands, "y", x.menu)
    last = np.array([sum(c == "/" for c in hands.betting(i).line) == x.rules.rounds - 1 for i in range(len(hands))])
    assert (gifts[~last] == 0).all()
    assert gifts[last].max() > 0
    limited = last_street_gifts(BlueprintAgent(x, "x"), hands, "y", x.menu, max_hands=20)
    assert np.count_nonzero(limited) <= 20
    np.testing.assert_array_equal(limited[limited > 0], gifts[limited > 0])


def test_hidden_hands_count_zero() -> None:
    x = blueprint_of("pot")
    hands = played(x, x, 100)
    blind = replace(hands, cards=np.full_like(hands.cards, HIDDEN_CARD))
    assert not last_street_gifts(BlueprintAgent(x, "x"), blind, "y", x.menu).any()
    with pytest.raises(InputError, match="'nobody'"):
        last_street_gifts(BlueprintAgent(x, "x"), hands, "nobody", x.menu)


def test_risk_bank() -> None:
    bank = RiskBank(budget=2.0)
    assert bank.allowed_risk(10) == 2.0
    bank.charge(2.0, 10)
    bank.credit(30.0)
    assert bank.allowed_risk(10) == 5.0
    bank.charge(4.0, 10)
    assert (bank.chips, bank.total_gifts, bank.total_risked) == (10.0, 30.0, 20.0)
    with pytest.raises(InputError, match=r"20 chips.*10"):
        bank.charge(4.0, 10)
    with pytest.raises(InputError, match=r"gift .*-1"):
        bank.credit(-1.0)
    with pytest.raises(InputError, match="budget=-1"):
        RiskBank(-1.0)
