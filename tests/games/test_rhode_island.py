"""Rhode Island hold'em: ranking of three cards, and sizes."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.games.small.betting import card_names
from riverboat.games.small.poker import rank_three_cards, rhode_island


def strength(text: str) -> int:
    cards = [card_names(13, 4).index(name) for name in text.split()]
    return rank_three_cards(tuple(c // 4 for c in cards), tuple(c % 4 for c in cards), 13)


def test_order_of_hands() -> None:
    rising = [
        "2c 3d 5h", "Ac Kd Jh", "2c 2d 3h", "Ac Ad Kh", "2c 3c 5c", "Ac Kc Jc", "Ac 2d 3h", "2c 3d 4h", "Qc Kd Ah",
        "2c 2d 2h", "Ac Ad Ah", "Ac 2c 3c", "2c 3c 4c", "Qc Kc Ac",
    ]  # fmt: skip
    found = [strength(text) for text in rising]
    assert found == sorted(set(found))


def test_counts_of_categories() -> None:
    """Of 22,100 hands: the table of three-card poker (Gilpin & Sandholm 2005)."""
    seen = Counter()
    for hand in combinations(range(52), 3):
        seen[rank_three_cards(tuple(c // 4 for c in hand), tuple(c % 4 for c in hand), 13) // 13**3] += 1
    assert [seen[kind] for kind in range(6)] == [16_440, 3744, 1096, 720, 52, 48]


def test_strengths_use_all_three_cards() -> None:
    game = rhode_island()
    names = game.hands[0]
    found = game.strengths((names.index("Kc"), names.index("Qc")))
    assert max(range(52), key=found.__getitem__) == names.index("Ac")
    assert found[names.index("Ad")] < found[names.index("Kd")] + 13**3 * 3  # a straight, below three of a kind
    assert found[names.index("9c")] > found[names.index("Kd")]  # a flush beats a pair


@pytest.mark.parametrize("spec", ["rhode_island:ranks=1", "rhode_island:ranks=14", "rhode_island:suits=5"])
def test_invalid_options(spec: str) -> None:
    with pytest.raises(InputError):
        game_from_spec(spec)
