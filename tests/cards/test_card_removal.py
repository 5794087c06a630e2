"""Whether hands of several ranges can be dealt together."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from riverboat.cards import ranges as card_removal
from riverboat.cards.deck import HAND_CARDS, hand_index
from riverboat.cards.equity import equities
from riverboat.cards.ranges import Range, can_deal_disjoint_hands
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
def test_ranges_that_can_be_dealt(ranges: list[str], possible: bool) -> None:
    assert can_deal_disjoint_hands(held(*ranges)) is possible


@pytest.mark.parametrize("seed", range(200))
def test_the_search_is_exact(seed: int) -> None:
    """Against every combination, on hands of seven cards."""
    random = np.random.default_rng(seed)
    hands = [hand_index(a, b) for a, b in combinations(range(7), 2)]
    given = [random.choice(hands, random.integers(1, 5), replace=False) for _ in range(random.integers(2, 5))]
    by_hand = any(len(set(HAND_CARDS[list(deal)].ravel().tolist())) == 2 * len(given) for deal in product(*given))
    assert can_deal_disjoint_hands(given) is by_hand


def test_a_long_search_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_removal, "MAX_SEARCH_STATES", 2)
    assert can_deal_disjoint_hands(held("AA", "AKs", "AKs")) is None


@pytest.mark.parametrize("ranges", [["AA", "AA", "AA"], ["AA", "AsAh,AsAd,AsAc,AhAd,AhAc,AdAc", "A2s+"] * 2])
def test_incompatible_ranges_are_rejected_before_any_showdown(
    monkeypatch: pytest.MonkeyPatch, ranges: list[str]
) -> None:
    monkeypatch.setattr(equities, "_equity_of_several_ranges", None)
    with pytest.raises(InputError, match="ranges"):
        equities.equity(*ranges)


@pytest.mark.parametrize("board", ["", "2c7d9h"])
def test_samples_report_progress_and_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch, board: str) -> None:
    ranges = ["22+", "A2s+", "K2s+"]
    monkeypatch.setattr(equities, "MAX_ENUMERATED_SHOWDOWNS", 0)
    whole = equities.equity(*ranges, board=board, samples=1000, seed=3)
    monkeypatch.setattr(equities, "SAMPLES_PER_CALL", 99)
    reports: list[float] = []
    parts = equities.equity(*ranges, board=board, samples=1000, seed=3, progress=reports.append)
    assert parts.shares == pytest.approx(whole.shares, abs=1e-12)
    assert (len(reports), reports[-1], reports) == (11, 1.0, sorted(reports))


@pytest.mark.parametrize("options", [{"samples": 0}, {"samples": 10**12}, {"threads": 0}, {"threads": 10**6}])
def test_numbers_out_of_range(options: dict[str, int]) -> None:
    ((name, value),) = options.items()
    with pytest.raises(InputError, match=f"{name}=({value}|{value:,}): "):
        equities.equity("AA", "22+", "A2s+", **options)
