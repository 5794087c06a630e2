"""Buckets of all hands that boards leave, for whoever works with whole ranges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.strategies._kernels import policy as kernels
from riverboat.strategies.blueprint import MOST_STREETS


class BoardBuckets(NamedTuple):
    """Of boards with equally many cards."""

    live: Array  # int32 [boards, hands]: numbers of the hands that a board leaves, and nothing behind
    left: Array  # int64 [boards]: how many they are
    buckets: Array  # int32 [boards, MOST_STREETS, hands]: on all streets so far; 0 where a hand is blocked


def board_buckets(cards: CardAbstraction, boards: Array) -> BoardBuckets:
    """Hands that boards leave, and their buckets. uint8 [boards, cards that lie]"""
    hands, n = cards.deck.hand_count, len(boards)
    live, left = np.zeros((n, hands), np.int32), np.zeros(n, np.int64)
    deals = np.empty((live.size, cards.deck.hole + boards.shape[1]), np.uint8)
    count = kernels.lay_out(cards.deck.hands, boards, live, left, deals)
    buckets = np.zeros((n, MOST_STREETS, hands), np.int32)
    kernels.sort_out(live, left, cards.buckets(deals[:count], check=False), buckets)
    return BoardBuckets(live, left, buckets)
