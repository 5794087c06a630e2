"""Buckets after each possible next card, against the look-up of whole deals."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless_abstraction, next_buckets
from riverboat.cards.deck import Deck
from riverboat.core.errors import InputError


def check(cards: CardAbstraction, boards: np.ndarray) -> None:
    deck = cards.deck
    before = np.zeros((len(boards), deck.num_hands), np.int32)
    for b, board in enumerate(boards):
        for h, hand in enumerate(deck.hands):
            if not set(hand) & set(board):
                before[b, h] = cards.buckets(np.array([[*hand, *board]]))[0, 0, -1]
    found = next_buckets(cards, boards, before)
    for b, board in enumerate(boards):
        for c, card in enumerate(deck.cards):
            for h, hand in enumerate(deck.hands):
                known = {*hand.tolist(), *board.tolist(), int(card)}
                free = len(known) == len(hand) + len(board) + 1
                wanted = cards.buckets(np.array([[*hand, *board, card]]))[0, 0, -1] if free else 0
                assert found[b, c, h] == wanted


def test_small_decks() -> None:
    deck = Deck.small(4, 3)
    check(lossless_abstraction((3, 1), deck), np.array([deck.cards[[0, 4, 7]], deck.cards[[3, 4, 5]]]))
    one = Deck.small(3, 2, 1)
    check(lossless_abstraction((1, 1, 1), one), one.cards[[[0, 3], [2, 1]]])


def test_next_street_must_have_one_card() -> None:
    deck = Deck.small(4, 3)
    with pytest.raises(InputError, match=r"lossless.* 0"):
        next_buckets(
            lossless_abstraction((3, 1), deck), np.zeros((1, 0), np.uint8), np.zeros((1, deck.num_hands), np.int32)
        )
