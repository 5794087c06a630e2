"""Propositions 9 and 12 on two rounds: against a brute force over the opponent's pure strategies, and known examples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from riverboat.papers.exploitation import two_rounds
from riverboat.papers.exploitation.two_rounds import SMALL_GIFT_GAME, TwoRoundStrategy, strategy_with_gift

UNIFORM = np.full(3, 1 / 3)


def played(second_after_gift: list[list[float]]) -> TwoRoundStrategy:
    """Return a strategy that plays the equilibrium, and after the gift what is given for each own action."""
    second = np.broadcast_to(UNIFORM, (3, 4, 3)).copy()
    second[:, 3] = second_after_gift
    return TwoRoundStrategy(UNIFORM, second)


def test_guarantee_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        payoffs = rng.normal(size=(3, 2))
        strategy = TwoRoundStrategy(rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), (3, 2)))
        totals = []
        for first in range(2):
            for plan in product(range(2), repeat=3):  # second action after each of ours
                later = sum(strategy.first[a] * strategy.second[a, first] @ payoffs[:, plan[a]] for a in range(3))
                totals.append(strategy.first @ payoffs[:, first] + later)
        assert strategy.guarantee(payoffs) == pytest.approx(min(totals))


def test_known_strategies() -> None:
    half_risk = 0.5 * UNIFORM + 0.5 * np.eye(3)[0]  # risks 1/2, more than the gift of 0.3
    third_risk = 0.7 * UNIFORM + 0.3 * np.eye(3)[0]
    assert played([third_risk] * 3).is_expected_profit_safe(SMALL_GIFT_GAME, 0.0)
    assert played([third_risk] * 3).guarantee(SMALL_GIFT_GAME) >= -1e-12
    assert not played([half_risk] * 3).is_expected_profit_safe(SMALL_GIFT_GAME, 0.0)
    assert played([half_risk] * 3).guarantee(SMALL_GIFT_GAME) < -0.1
    # Risks of 1/2, 0 and 0 average to less than the gift: safe, but not 0.3-safe after the first action.
    uneven = played([half_risk, UNIFORM, UNIFORM])
    assert uneven.guarantee(SMALL_GIFT_GAME) >= -1e-12
    assert not uneven.is_expected_profit_safe(SMALL_GIFT_GAME, 0.0)


def test_strategy_with_a_gift() -> None:
    built = strategy_with_gift(SMALL_GIFT_GAME, 0.0)
    assert built is not None
    assert built.guarantee(SMALL_GIFT_GAME) == pytest.approx(0.0, abs=1e-9)
    assert built.risk(SMALL_GIFT_GAME, 0.0) == pytest.approx(0.3)
    assert strategy_with_gift(SMALL_GIFT_GAME[:, :3], 0.0) is None  # rock-paper-scissors has no gifts


def test_rows_exercise_both_directions() -> None:
    rng = np.random.default_rng(1)
    rows = [*two_rounds.proposition_9_rows(10, rng), *two_rounds.proposition_12_rows(300, rng)]
    assert all(row.passes for row in rows)
    shares = [row.ours for row in rows if row.name.endswith("safe share")]
    assert all(0.2 < share < 0.8 for share in shares)
    assert rows[-1].ours > 0  # the proposition needs its reading
