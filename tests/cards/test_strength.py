"""The share of other hands that each hand beats, for all hands at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.features.hand_features import board_hand_strengths
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError


@pytest.mark.parametrize(
    ("deck", "board"),
    [
        (FULL_DECK, ()),
        (FULL_DECK, (0, 5, 50)),
        (FULL_DECK, (51, 47, 43, 39, 2)),
        (Deck.small(4, 2, 1), (51,)),
        (Deck.small(5, 4), (51, 46, 40, 39)),
    ],
)
def test_strength_of_all_hands(deck: Deck, board: tuple[int, ...]) -> None:
    """Against every other hand, one by one; ties are half."""
    found, hands = board_hand_strengths(board, deck), [tuple(hand) for hand in deck.hands.tolist()]
    live = [h for h, hand in enumerate(hands) if not set(hand) & set(board)]
    for h in np.random.default_rng(0).permutation(live)[:12].tolist():
        left = [card for card in deck.cards.tolist() if card not in (*hands[h], *board)]
        own, others = rank((*hands[h], *board)), [rank((*hand, *board)) for hand in combinations(left, deck.hole)]
        assert found[h] == sum(2 * (own > x) + (own == x) for x in others) / (2 * len(others))
    assert all(found[h] == 0 for h in range(len(hands)) if h not in live)


def test_invalid_boards() -> None:
    for board in ((1, 1), (0,), tuple(range(40, 46))):
        with pytest.raises(InputError, match="board"):
            board_hand_strengths(board, Deck.small(9, 4) if board == (0,) else FULL_DECK)
