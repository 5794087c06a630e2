"""What all hands win of many ranges at once when no more bets are made, on a board that is complete or not.

    table = Showdowns(FULL_DECK, 5)
    table.met(ranges)                                  # float64 [n, hands]: weight that shares no card with each hand
    table.won(board, ranges)                           # how much of that each hand beats, ties counting half
    table.won_by(table.margins(board), ranges)         # the same

A few runouts are swept one by one, sixteen ranges side by side. Where there are many, all pairs of hands are played out once
(`margins`); then every range costs a product with a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.equity._kernels import batch as kernels
from riverboat.cards.equity._kernels.batch import CARDS, Held, Room
from riverboat.cards.equity.equities import hand_classes, preflop_table
from riverboat.compiled.simd import LANES
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

PLAYED_OUT = 20_000  # runouts over which all pairs of hands are played out; beyond, so many are drawn
NO_CARD = 52


@dataclass(frozen=True)
class Showdowns:
    """Showdowns of a deck on boards that have so many cards when they are complete. Hands are numbered as `deck.hands`."""

    deck: Deck
    cards: int

    def __post_init__(self) -> None:
        if not 1 <= self.deck.hole + self.cards <= 7:
            raise InputError(f"{self.deck.hole} hole and {self.cards} board cards: one to seven together can be ranked")

    @cached_property
    def _held(self) -> Held:
        hands, tables = self.deck.hands, ranking.tables(self.deck.hole + self.cards, self.deck.rules)
        two = hands.shape[1] == 2
        second = hands[:, 1] if two else np.full(len(hands), NO_CARD, np.uint8)
        bits = (np.uint64(1) << hands.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
        key, suits = (part[hands].sum(axis=1, dtype=np.uint64) for part in (tables.key, tables.mask))
        first, second = (np.ascontiguousarray(column) for column in (hands[:, 0], second))
        return Held(first, second, bits, key, suits, self.deck.cards, tables, two, self.deck.hole + self.cards >= 5)

    @cached_property
    def _holds(self) -> Array:
        """Which hands hold a card. float64 [hands, 52]"""
        holds = np.zeros((self.deck.hand_count, 52))
        for column in self.deck.hands.T:
            holds[np.arange(len(holds)), column] = 1.0
        return holds

    @cached_property
    def _apart(self) -> Array:
        """Pairs of hands that share no card. bool [hands, hands]"""
        mask = self._held.mask
        apart: Array = (mask[:, None] & mask) == 0
        return apart

    def _room(self) -> Room:
        hands = self.deck.hand_count
        return Room(
            np.zeros(hands, np.int32), np.zeros(hands, np.int32), np.zeros(257, np.int64), np.zeros(hands, np.uint16),
            np.zeros(hands, np.uint8), np.zeros(hands, np.uint8), np.zeros(hands, np.uint16),
            np.zeros(hands * LANES), np.zeros(hands * LANES), np.zeros(CARDS * LANES),
        )  # fmt: skip

    # --- cards that follow ------------------------------------------------------------------------

    def live(self, board: tuple[int, ...]) -> Array:
        """Hands that a board leaves. bool [hands]"""
        taken = np.uint64(sum(1 << card for card in board))
        free: Array = (self._held.mask & taken) == 0
        return free

    def pairs(self, board: int) -> int:
        """Pairs of hands, one of each player, that a board of so many cards leaves."""
        left, hole = len(self.deck.cards) - board, self.deck.hole
        return comb(left, hole) * comb(left - hole, hole)

    def count(self, board: int) -> int:
        """Runouts of a board of so many cards."""
        return comb(len(self.deck.cards) - board, self.cards - board)

    def runouts(self, board: tuple[int, ...]) -> Array:
        """All complete boards that a board may become. uint8 [runouts, cards]"""
        left = [card for card in self.deck.cards.tolist() if card not in board]
        rest = list(combinations(left, self.cards - len(board)))
        return np.array([(*board, *cards) for cards in rest], np.uint8).reshape(len(rest), self.cards)

    def drawn(self, board: tuple[int, ...], count: int, rng: np.random.Generator) -> Array:
        """Some of them, each drawn alone. uint8 [count, cards]"""
        left = np.setdiff1d(self.deck.cards, np.array(board, np.uint8))
        rest = rng.permuted(np.tile(left, (count, 1)), axis=1)[:, : self.cards - len(board)]
        known = np.broadcast_to(np.array(board, np.uint8), (count, len(board)))
        return np.ascontiguousarray(np.concatenate([known, rest], axis=1), np.uint8)

    # --- ranges -----------------------------------------------------------------------------------

    def met(self, ranges: Array) -> Array:
        """How much of each range shares no card with each hand. float64 [n, hands] -> float64 [n, hands]"""
        by_card = ranges @ self._holds
        weights: Array = ranges.sum(axis=1)[:, None] - by_card @ self._holds.T
        return weights + ranges if self.deck.hole == 2 else weights

    def won(self, board: tuple[int, ...], ranges: Array, boards: Array | None = None) -> Array:
        """How much of each range every hand beats, ties counting half, on average over the runouts of a board, or over some.

        Hands that the board blocks must weigh nothing. float64 [n, hands] -> float64 [n, hands]
        """
        boards = self.runouts(board) if boards is None else boards
        n, hands = ranges.shape
        groups = -(-n // LANES)
        lanes, out = np.zeros((groups, hands, LANES)), np.zeros((groups, hands, LANES))
        for g in range(groups):
            some = ranges[g * LANES : (g + 1) * LANES]
            lanes[g, :, : len(some)] = some.T
        kernels.add_beaten(self._held, boards, lanes.reshape(-1), self._room(), out.reshape(-1))
        twice: Array = out.transpose(0, 2, 1).reshape(-1, hands)[:n]
        return twice / (2.0 * len(boards) * self._share(len(board)))

    def _share(self, board: int) -> float:
        """Of the runouts of a board of so many cards, those that two hands leave."""
        left, missing = len(self.deck.cards) - board, self.cards - board
        return comb(left - 2 * self.deck.hole, missing) / comb(left, missing)

    # --- pairs of hands ---------------------------------------------------------------------------

    def margins(self, board: tuple[int, ...]) -> Array:
        """How often each hand beats another less how often it loses to it, 0 where they share a card. float32 [hands, hands]

        Over all runouts, or over PLAYED_OUT that are drawn where there are more: with few cards on the board of a large deck.
        With none of 52, the exact mean over the suits of two starting hands.
        """
        if not board and self.deck == FULL_DECK and self.cards == 5:
            return self._starting
        every = self.count(len(board)) <= PLAYED_OUT
        boards = self.runouts(board) if every else self.drawn(board, PLAYED_OUT, np.random.default_rng(0))
        size = (len(boards), self.deck.hand_count)
        above, below = np.empty(size, np.int16), np.empty(size, np.int16)
        kernels.rank_boards(self._held, boards, self._room(), above, below)
        out = np.zeros((self.deck.hand_count,) * 2, np.int16)
        kernels.count_pairs(above, below, out)
        half = out.astype(np.float32) / np.float32(len(boards) * self._share(len(board)))
        edges: Array = (half - half.T) * self._apart
        return edges

    @cached_property
    def _starting(self) -> Array:
        group = hand_classes()
        margins: Array = (2 * preflop_table() - 1)[np.ix_(group, group)].astype(np.float32) * self._apart
        return margins

    def won_by(self, margins: Array, ranges: Array) -> Array:
        """`won`, by the margins of all pairs. float64 [n, hands] -> float64 [n, hands]"""
        edge = (ranges.astype(np.float32) @ margins.T).astype(np.float64)
        return 0.5 * (self.met(ranges) + edge)
