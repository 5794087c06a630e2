"""Whether hands of several ranges can be dealt together."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from riverboat.cards import card_removal
from riverboat.cards.card_removal import can_be_dealt
from riverboat.cards.deck import HAND_CARDS, hand_index
from riverboat.cards.equity import equities
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError


def held(*ranges: str) -> list[np.ndarray]:
    return [np.flatnonzero(Range.parse(text).weights) for text in ranges]


@pytest.mark.parametrize(
    ("ranges", "possible"),
    [
        (["AA", "AA"], True),
        (["AA", "AA", "AA"], False),  # four aces
        (["AA", "AA", "AKs"], False),
        (["AA", "AKs", "AKs"], True),
        (["AKs", "AKs", "AKs", "AKs", "AK"], False),  # no ace is left
        (["AKs", "AKs", "AKs", "AKs", "22+"], True),
        (["AsKs", "AsQs", "22+"], False),
        (["22+,A2s+"] * 10, True),
        (["QQ+"] * 7, False),  # twelve cards
        (["QQ+"] * 6, True),
    ],
)
def test_what_can_be_dealt(ranges: list[str], possible: bool) -> None:
    assert can_be_dealt(held(*ranges)) is possible


@pytest.mark.parametrize("seed", range(200))
def test_the_search_is_exact(seed: int) -> None:
    """Against every combination, on hands of seven cards."""
    random = np.random.default_rng(seed)
    hands = [hand_index(a, b) for a, b in combinations(range(7), 2)]
    given = [random.choice(hands, random.integers(1, 5), replace=False) for _ in range(random.integers(2, 5))]
    by_hand = any(len(set(HAND_CARDS[list(deal)].ravel().tolist())) == 2 * len(given) for deal in product(*given))
    assert can_be_dealt(given) is by_hand


def test_a_search_that_is_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_removal, "STATES", 2)
    assert can_be_dealt(held("AA", "AKs", "AKs")) is None


@pytest.mark.parametrize("ranges", [["AA", "AA", "AA"], ["AA", "AsAh,AsAd,AsAc,AhAd,AhAc,AdAc", "A2s+"] * 2])
def test_impossible_ranges_are_refused_before_any_showdown(monkeypatch: pytest.MonkeyPatch, ranges: list[str]) -> None:
    monkeypatch.setattr(equities, "_several", None)
    with pytest.raises(InputError, match="no deal gives every player a hand of its range"):
        equities.equity(*ranges)


@pytest.mark.parametrize("board", ["", "2c7d9h"])
def test_samples_come_with_progress_and_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch, board: str) -> None:
    ranges = ["22+", "A2s+", "K2s+"]
    monkeypatch.setattr(equities, "MULTIWAY_RUNOUTS", 0)
    whole = equities.equity(*ranges, board=board, samples=1000, seed=3)
    monkeypatch.setattr(equities, "CHUNK", 99)
    told: list[float] = []
    parts = equities.equity(*ranges, board=board, samples=1000, seed=3, progress=told.append)
    assert parts.shares == pytest.approx(whole.shares, abs=1e-12)
    assert (len(told), told[-1], told) == (11, 1.0, sorted(told))


@pytest.mark.parametrize("options", [{"samples": 0}, {"samples": 10**12}, {"threads": 0}, {"threads": 10**6}])
def test_numbers_have_ranges(options: dict[str, int]) -> None:
    ((name, value),) = options.items()
    with pytest.raises(InputError, match=f"{name}={value:,}: must be 1 to "):
        equities.equity("AA", "22+", "A2s+", **options)
