"""Features of decisions, against `cards.hand_classes` and counts by hand."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.features.hand_features import board_hand_strengths
from riverboat.cards.hand_classes import MADE_HANDS, classify, classify_all, classify_batch
from riverboat.cards.notation import format_hand, parse_cards
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.features import (
    BOARD_FEATURES,
    HAND_FEATURES,
    SITUATION_FEATURES,
    SUIT_LEVELS,
    hand_features,
    situation_features,
)


def seen(hand: str, board: str) -> dict[str, float]:
    holes, boards = np.array([parse_cards(hand)], np.uint8), np.array([parse_cards(board)], np.uint8)
    return {name: float(x[0]) for name, x in hand_features(holes, boards.reshape(1, -1)).items()}


def level(name: str) -> float:
    return float(MADE_HANDS[::-1].index(name))


@pytest.mark.parametrize(
    ("hand", "board", "facts"),
    [
        ("AhKc", "QsJh2h", {"made": level("ace high"), "high card": 12, "gutshot": 1, "overcards": 1, "suited": 0}),
        (
            "QcTd",
            "QsJh2h",
            {"made": level("top pair"), "kicker": 8, "top card": 10, "suits": SUIT_LEVELS.index("two of a suit")},
        ),
        ("Ah9h", "QsJh2h", {"nut flush draw": 1, "flush draw": 1, "nut flush card": 1, "flush cards": 2, "draw": 1}),
        ("AhAc", "QsJh2h", {"made": level("overpair"), "pocket pair": 1, "nut flush card": 1, "flush draw": 0}),
        ("8s7s", "9c6dKh", {"straight draw": 1, "gap": 0, "paired": 0, "connected": 0}),
        ("8s7s", "9c9d6h", {"paired": 1, "connected": 0, "suits": SUIT_LEVELS.index("rainbow")}),
        ("AsKs", "Td9d8d", {"connected": 3, "suits": SUIT_LEVELS.index("three of a suit")}),
        ("7c2d", "", {"made": -1, "kicker": 0, "draw": 0, "gap": 4, "suits": 0}),
    ],
)
def test_features(hand: str, board: str, facts: dict[str, float]) -> None:
    found = seen(hand, board)
    assert {name: found[name] for name in facts} == facts
    assert set(found) == {f.name for f in HAND_FEATURES + BOARD_FEATURES}


def test_rows_are_independent() -> None:
    """Features of a row on its own board equal those of the row alone."""
    rng = np.random.default_rng(3)
    cards = np.array([rng.choice(52, 7, replace=False) for _ in range(60)], np.uint8)
    for num_cards in (3, 4, 5):
        made, draws = classify_batch(cards[:, :2], cards[:, 2 : 2 + num_cards])
        together = hand_features(cards[:, :2], cards[:, 2 : 2 + num_cards])
        for k, row in enumerate(cards):
            alone = classify(tuple(row[:2].tolist()), tuple(row[2 : 2 + num_cards].tolist()))
            assert MADE_HANDS[made[k]] == alone.made
            assert draws[k].sum() == len(alone.draws)
            single = hand_features(row[None, :2], row[None, 2 : 2 + num_cards])
            assert all(single[name][0] == together[name][k] for name in single)


def test_strength_is_the_share_of_hands_that_are_beaten() -> None:
    board = parse_cards("QsJh2h7c")
    live = np.flatnonzero(classify_all(board).made >= 0)
    boards = np.broadcast_to(np.array(board, np.uint8), (len(live), 4))
    found = hand_features(HAND_CARDS[live], boards, {"strength"})["strength"]
    exact = board_hand_strengths(board)[live]  # against compatible hands only; the feature counts all unblocked hands
    assert np.abs(found - exact).max() < 0.05
    assert format_hand(int(live[found.argmax()]))[0] == "Q"


def test_situations() -> None:
    public_states = PublicStates.from_lines(
        read_game("nolimit-200bb"), ["", "cr300c/", "cr300c/cr900"], ["", "8c8d5c", "8c8d5c"]
    )
    found = situation_features(public_states.rules, public_states.states)
    assert set(found) == {f.name for f in SITUATION_FEATURES}
    assert found["street"].tolist() == [0, 1, 1]
    assert found["in position"].tolist() == [1, 0, 0]
    assert found["facing"].tolist() == [1, 0, 1]
    assert found["price"] == pytest.approx([50 / 200, 0, 600 / 1800])
    assert found["stack to pot"] == pytest.approx([19900 / 200, 19700 / 600, 19100 / 1800])
    assert found["they led"].tolist() == [0, 0, 0]
    assert found["you led"].tolist() == [0, 1, 1]
