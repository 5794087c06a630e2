"""The independent chip model: known values, the sum over permutations, and invariants for any stacks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.icm import finish_probabilities_by_permutation
from riverboat.core.errors import InputError
from riverboat.tournaments.icm import ICM, finish_probabilities, icm_values_batch

STACKS = st.lists(st.floats(0.01, 1000), min_size=1, max_size=6)


def test_known_values() -> None:
    """By hand: the leader of (2, 1, 1) is second with probability 2 · 1/4 · 2/3."""
    assert ICM((2, 1, 1), (50, 30, 20)).values == pytest.approx([115 / 3, 185 / 6, 185 / 6])
    assert ICM((7, 7, 7), (50, 30, 20)).call_off_equity(0, 1) == pytest.approx(4 / 7)
    assert ICM((1, 1, 1), (1, 0.5)).call_off_equity(2, 0) == pytest.approx(0.6)


@settings(max_examples=60, deadline=None)
@given(STACKS)
def test_finish_probabilities_by_permutation(stacks: list[float]) -> None:
    assert finish_probabilities(stacks) == pytest.approx(finish_probabilities_by_permutation(stacks), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(STACKS, st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_values_by_integration_and_by_sets_of_players(stacks: list[float], payouts: list[float]) -> None:
    payouts = payouts[: len(stacks)]
    found = ICM(tuple(stacks), tuple(payouts))
    assert icm_values_batch(np.array([stacks]), found.prizes)[0] == pytest.approx(found.values, abs=1e-8)
    assert found.values.sum() == pytest.approx(sum(payouts))


@pytest.mark.parametrize("players", [9, 60, 200])
def test_large_fields(players: int) -> None:
    stacks = np.random.default_rng(players).random(players) ** 3 + 1e-3
    found = finish_probabilities(stacks)
    assert found.sum(axis=0) == pytest.approx(np.ones(players), abs=1e-9)
    assert found[:, 0] == pytest.approx(stacks / stacks.sum(), abs=1e-9)
    by_sets = icm_values_batch(stacks[None], [50.0, 30.0])[0]  # by sets of players
    assert found[:, :2] @ [50.0, 30.0] == pytest.approx(by_sets, abs=1e-8)


def test_winner_takes_all_is_linear_in_chips() -> None:
    found = ICM((3, 8, 11), (100,))
    assert [found.bubble_factor(i, j) for i in range(3) for j in range(3) if i != j] == pytest.approx([1.0] * 6)
    assert ICM((3, 8, 11), (50, 30, 20)).bubble_factor(0, 1) > 1


def test_elimination_pays_the_last_place() -> None:
    assert ICM((5, 10, 5), (50, 30, 20)).values_after_all_in(1, 0)[0] == 20
    assert ICM((5, 10, 5), (50, 30)).values_after_all_in(1, 2)[2] == 0
    partly = ICM((5, 10, 5), (50, 30, 20)).values_after_all_in(0, 1)
    assert partly == pytest.approx(ICM((10, 5, 5), (50, 30, 20)).values)


@pytest.mark.parametrize(
    ("stacks", "payouts", "message"),
    [
        ((), (1,), "stacks: 0 numbers"),
        ((1, 0), (1,), "stacks: number 2 is 0.0"),
        ((1, float("nan")), (1,), "stacks: number 2 is nan"),
        ((1, 2), (-1,), "payouts: number 1 is -1.0"),
        ((1, 2), (3, 2, 1), "3 payouts for 2 players"),
    ],
)
def test_bad_input(stacks: tuple[float, ...], payouts: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ICM(stacks, payouts)
    with pytest.raises(InputError, match="player 5"):
        ICM((1, 2), (3,)).values_after_all_in(5, 0)
