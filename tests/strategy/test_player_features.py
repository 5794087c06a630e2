"""What players see, against the plain words of cards.classes and counting by hand."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.features.strength import shares_beaten
from riverboat.cards.hand_classes import MADE, classify, classify_all, classify_rows
from riverboat.cards.notation import parse_cards, show_hand
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.features import BOARDS, HANDS, SITUATIONS, SUITS, hand_columns, situation_columns


def seen(hand: str, board: str) -> dict[str, float]:
    holes, boards = np.array([parse_cards(hand)], np.uint8), np.array([parse_cards(board)], np.uint8)
    return {name: float(x[0]) for name, x in hand_columns(holes, boards.reshape(1, -1)).items()}


def level(name: str) -> float:
    return float(MADE[::-1].index(name))


@pytest.mark.parametrize(
    ("hand", "board", "facts"),
    [
        ("AhKc", "QsJh2h", {"made": level("ace high"), "high card": 12, "gutshot": 1, "overcards": 1, "suited": 0}),
        (
            "QcTd",
            "QsJh2h",
            {"made": level("top pair"), "kicker": 8, "top card": 10, "suits": SUITS.index("two of a suit")},
        ),
        ("Ah9h", "QsJh2h", {"nut flush draw": 1, "flush draw": 1, "nut flush card": 1, "flush cards": 2, "draw": 1}),
        ("AhAc", "QsJh2h", {"made": level("overpair"), "pocket pair": 1, "nut flush card": 1, "flush draw": 0}),
        ("8s7s", "9c6dKh", {"straight draw": 1, "gap": 0, "paired": 0, "connected": 0}),
        ("8s7s", "9c9d6h", {"paired": 1, "connected": 0, "suits": SUITS.index("rainbow")}),
        ("AsKs", "Td9d8d", {"connected": 3, "suits": SUITS.index("three of a suit")}),
        ("7c2d", "", {"made": -1, "kicker": 0, "draw": 0, "gap": 4, "suits": 0}),
    ],
)
def test_facts(hand: str, board: str, facts: dict[str, float]) -> None:
    found = seen(hand, board)
    assert {name: found[name] for name in facts} == facts
    assert set(found) == {f.name for f in HANDS + BOARDS}


def test_each_row_has_its_own_board() -> None:
    """A row on its own board is what it is alone: nothing leaks from its neighbours."""
    rng = np.random.default_rng(3)
    cards = np.array([rng.choice(52, 7, replace=False) for _ in range(60)], np.uint8)
    for shown in (3, 4, 5):
        made, draws = classify_rows(cards[:, :2], cards[:, 2 : 2 + shown])
        together = hand_columns(cards[:, :2], cards[:, 2 : 2 + shown])
        for k, row in enumerate(cards):
            alone = classify(tuple(row[:2].tolist()), tuple(row[2 : 2 + shown].tolist()))
            assert MADE[made[k]] == alone.made
            assert draws[k].sum() == len(alone.draws)
            one = hand_columns(row[None, :2], row[None, 2 : 2 + shown])
            assert all(one[name][0] == together[name][k] for name in one)


def test_strength_is_the_share_of_hands_that_are_beaten() -> None:
    board = parse_cards("QsJh2h7c")
    live = np.flatnonzero(classify_all(board).made >= 0)
    boards = np.broadcast_to(np.array(board, np.uint8), (len(live), 4))
    found = hand_columns(HAND_CARDS[live], boards, {"strength"})["strength"]
    exact = shares_beaten(board)[live]  # against hands that share no card; here all hands that the board leaves count
    assert np.abs(found - exact).max() < 0.05
    assert show_hand(int(live[found.argmax()]))[0] == "Q"


def test_situations() -> None:
    places = Places.from_lines(read_game("nolimit-200bb"), ["", "cr300c/", "cr300c/cr900"], ["", "8c8d5c", "8c8d5c"])
    found = situation_columns(places.rules, places.states)
    assert set(found) == {f.name for f in SITUATIONS}
    assert found["street"].tolist() == [0, 1, 1]
    assert found["in position"].tolist() == [1, 0, 0]
    assert found["facing"].tolist() == [1, 0, 1]
    assert found["price"] == pytest.approx([50 / 200, 0, 600 / 1800])
    assert found["stack to pot"] == pytest.approx([19900 / 200, 19700 / 600, 19100 / 1800])
    assert found["they led"].tolist() == [0, 0, 0]
    assert found["you led"].tolist() == [0, 1, 1]
