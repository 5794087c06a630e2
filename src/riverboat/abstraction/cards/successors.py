"""Buckets of all hands with every card that may come next."""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards._kernels import successor as kernels
from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError


def next_buckets(cards: CardAbstraction, boards: Array, before: Array) -> Array:
    """On boards of one street with each card of the deck behind them, where the next street is one card.

    `boards` is uint8 [boards, cards that lie], `before` int32 [boards, hands] the buckets there; the answer int32 [boards,
    cards, hands], with 0 where a card would be dealt twice. Whoever calls knows that the boards are right.
    """
    street = cards.street_of(boards[0]) + 1
    if street >= len(cards.streets) or cards.deals[street - 1] != 1:
        raise InputError(f"{cards.name}: no street of one card follows boards of {boards.shape[1]}")
    deck = cards.deck
    out = np.empty((len(boards), len(deck.cards), deck.hand_count), np.int32)
    layers = np.zeros(len(deck.cards), np.int64)
    kernels.next_buckets(cards.look, deck.hands, deck.cards, street, np.ascontiguousarray(boards), before, layers, out)
    return out
