"""Showdown wins of all hands against many ranges at once, on a complete or incomplete board.

    showdown = BatchShowdown(FULL_DECK, 5)
    showdown.compatible_weights(ranges)       # float64 [n, hands]: weight that shares no card with each hand
    showdown.wins(board, ranges)              # the weight that each hand beats, ties counting half
    margins = showdown.pair_margins(board)
    showdown.wins_from_margins(margins, ranges)   # the same as `wins`

A few runouts are evaluated one by one, with sixteen ranges in a SIMD vector. For many runouts `pair_margins` compares
all pairs of hands once; then every range costs a matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import FULL_DECK, Deck, card_masks
from riverboat.cards.equity._kernels import showdown_values as kernels
from riverboat.cards.equity._kernels.showdown_values import NO_CARD, BatchShowdownHands
from riverboat.cards.equity.equities import preflop_equities, runouts, showdown_workspace, starting_hand_classes
from riverboat.compiled.simd import SIMD_WIDTH
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

MAX_RUNOUTS = 20_000  # runouts over which pairs of hands are compared; more are sampled down to this number


@dataclass(frozen=True)
class BatchShowdown:
    """Showdowns of all hands of a deck against ranges; complete boards have `board_cards` cards.

    Hands are numbered as in `deck.hands`.
    """

    deck: Deck
    board_cards: int

    def __post_init__(self) -> None:
        if not 1 <= self.deck.hole + self.board_cards <= 7:
            raise InputError(
                f"{self.deck.hole} hole and {self.board_cards} board cards: one to seven together can be ranked"
            )

    @cached_property
    def kernel_hands(self) -> BatchShowdownHands:
        """Hands of the deck with their ranking keys, for the kernels."""
        hands, tables = self.deck.hands, ranking.rank_tables(self.deck.hole + self.board_cards, self.deck.rules)
        key, suits = (part[hands].sum(axis=1, dtype=np.uint64) for part in (tables.key, tables.mask))
        cards = self.deck.hole + self.board_cards
        two = hands.shape[1] == 2
        first, second = hands[:, 0].copy(), hands[:, 1].copy() if two else np.full(len(hands), NO_CARD, np.uint8)
        bits = card_masks(hands)
        return BatchShowdownHands(hands, first, second, two, bits, key, suits, self.deck.cards, tables, cards)

    @cached_property
    def _hand_has_card(self) -> Array:
        """Incidence of hands and cards. float64 [hands, 52]"""
        holds = np.zeros((self.deck.num_hands, 52))
        for column in self.deck.hands.T:
            holds[np.arange(len(holds)), column] = 1.0
        return holds

    @cached_property
    def _disjoint_pairs(self) -> Array:
        """Whether two hands share no card. bool [hands, hands]"""
        mask = self.kernel_hands.mask
        return np.asarray((mask[:, None] & mask) == 0)

    def live_hands(self, board: tuple[int, ...]) -> Array:
        """Return which hands a board does not block. bool [hands]"""
        taken = np.uint64(sum(1 << card for card in board))
        return np.asarray((self.kernel_hands.mask & taken) == 0)

    def count_hand_pairs(self, board: int) -> int:
        """Return the number of ordered pairs of hands without a common card on a board of `board` cards."""
        left, hole = len(self.deck.cards) - board, self.deck.hole
        return comb(left, hole) * comb(left - hole, hole)

    def count_runouts(self, board: int) -> int:
        """Return the number of runouts of a board of `board` cards."""
        return comb(len(self.deck.cards) - board, self.board_cards - board)

    def runouts(self, board: tuple[int, ...]) -> Array:
        """Return all complete boards that extend a board. uint8 [runouts, cards]"""
        return runouts(board, self.deck, self.board_cards)

    def sample_runouts(self, board: tuple[int, ...], count: int, rng: np.random.Generator) -> Array:
        """Sample independent runouts of a board. uint8 [count, cards]"""
        left = np.setdiff1d(self.deck.cards, np.array(board, np.uint8))
        rest = rng.permuted(np.tile(left, (count, 1)), axis=1)[:, : self.board_cards - len(board)]
        known = np.broadcast_to(np.array(board, np.uint8), (count, len(board)))
        return np.ascontiguousarray(np.concatenate([known, rest], axis=1), np.uint8)

    # --- ranges ---

    def compatible_weights(self, ranges: Array) -> Array:
        """Return the weight of each range that shares no card with each hand. float64 [n, hands], as `ranges`"""
        by_card = ranges @ self._hand_has_card
        weights: Array = ranges.sum(axis=1)[:, None] - by_card @ self._hand_has_card.T
        return weights + ranges if self.deck.hole == 2 else weights

    def wins(self, board: tuple[int, ...], ranges: Array, boards: Array | None = None) -> Array:
        """Return the weight of each range that each hand beats (ties count half), averaged over runouts of a board.

        `boards` restricts the average to some runouts. Hands that the board blocks must have zero weight.
        float64 [n, hands] -> float64 [n, hands]
        """
        boards = self.runouts(board) if boards is None else boards
        n, hands = ranges.shape
        groups = -(-n // SIMD_WIDTH)
        vectors, out = np.zeros((groups, hands, SIMD_WIDTH)), np.zeros((groups, hands, SIMD_WIDTH))
        for g in range(groups):
            batch = ranges[g * SIMD_WIDTH : (g + 1) * SIMD_WIDTH]
            vectors[g, :, : len(batch)] = batch.T
        workspace = showdown_workspace(hands, SIMD_WIDTH)
        kernels.accumulate_wins(self.kernel_hands, boards, vectors.reshape(-1), workspace, out.reshape(-1))
        twice: Array = out.transpose(0, 2, 1).reshape(-1, hands)[:n]
        return twice / (2.0 * len(boards) * self._live_runout_share(len(board)))

    def rank_hands(self, boards: Array) -> tuple[Array, Array]:
        """Rank all hands on complete boards. uint8 [boards, cards] -> int16 [boards, hands], twice

        Blocked hands are above all others in the first array, and below them in the second.
        """
        size = len(boards), self.deck.num_hands
        above, below = np.empty(size, np.int16), np.empty(size, np.int16)
        kernels.rank_hands_on_boards(self.kernel_hands, boards, showdown_workspace(size[1]), above, below)
        return above, below

    def _live_runout_share(self, board: int) -> float:
        """Return the share of the runouts of a board of `board` cards that two given hands do not block."""
        left, missing = len(self.deck.cards) - board, self.board_cards - board
        return comb(left - 2 * self.deck.hole, missing) / comb(left, missing)

    # --- pairs of hands ---

    def pair_margins(self, board: tuple[int, ...]) -> Array:
        """Return win minus loss probability of all pairs of hands, 0 if they share a card. float32 [hands, hands]

        The average is over all runouts, or over MAX_RUNOUTS sampled ones if there are more (few board cards of a large
        deck). Before the flop with 52 cards, it is the exact mean over the suits of two starting hands.
        """
        if not board and self.deck == FULL_DECK and self.board_cards == 5:
            return self._preflop_margins
        exact = self.count_runouts(len(board)) <= MAX_RUNOUTS
        boards = self.runouts(board) if exact else self.sample_runouts(board, MAX_RUNOUTS, np.random.default_rng(0))
        above, below = self.rank_hands(boards)
        out = np.zeros((self.deck.num_hands,) * 2, np.int16)
        kernels.count_pair_margins(above, below, out)
        half = out.astype(np.float32) / np.float32(len(boards) * self._live_runout_share(len(board)))
        return (half - half.T) * self._disjoint_pairs

    @cached_property
    def _preflop_margins(self) -> Array:
        group = starting_hand_classes()
        return np.asarray((2 * preflop_equities() - 1)[np.ix_(group, group)].astype(np.float32) * self._disjoint_pairs)

    def wins_from_margins(self, margins: Array, ranges: Array) -> Array:
        """Compute `wins` from `pair_margins` by a matrix product. float64 [n, hands] -> float64 [n, hands]"""
        margin = (ranges.astype(np.float32) @ margins.T).astype(np.float64)
        return 0.5 * (self.compatible_weights(ranges) + margin)
