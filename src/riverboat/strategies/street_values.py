"""What all nodes of one street on one board share: one walk for the EVs of all of them, and equities of pairs of hands.

A walk from the first node of a street passes every other node of it, and what it finds there is what a walk from that node
would find. So a street is walked once for each player, whichever of its nodes are read.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import comb

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS, Deck
from riverboat.cards.equity.equities import runouts
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.protocol import Start

AT_ONCE = 64  # runouts whose hands are ranked together


class StreetFigures:
    """One street on one board, entered with some ranges."""

    def __init__(self, walker: BoardWalker, start: Start) -> None:
        self.walker, self.start = walker, start
        self.pairs: PairEquities | None = None  # where `Solution.prepare` has made them
        self._values: list[Array | None] = [None, None]

    def walk(self) -> None:
        """Walk for both players side by side: a walk from a node has its player's room to itself."""
        if any(every is None for every in self._values):
            with ThreadPoolExecutor(2) as pool:
                self._values = list(pool.map(lambda player: self.walker.round_values(player, self.start), (0, 1)))

    def values(self, player: int, node: int) -> Array:
        """What each row of a player wins from a node of the forest on, and after each move there. float64 [1 + moves, rows]

        Sums over the opponent's hands, each times its weight and what it played on the way.
        """
        every = self._values[player]
        if every is None:
            every = self._values[player] = self.walker.round_values(player, self.start)
        forest, nodes, child = self.walker.tree.forest, [node], node + 1
        for _ in range(int(forest.width[node])):
            nodes.append(child)
            child = int(forest.end[child])
        chosen: Array = every[np.array(nodes) - self.start.node]
        return chosen


class PairEquities:
    """Share of the pot that each hand of one player wins against each hand of the other by checking down."""

    def __init__(self, board: tuple[int, ...], held: tuple[Array, Array], deck: Deck) -> None:
        self.hands = held  # int [n] each: numbers of hands that the board leaves
        cards = [HAND_CARDS[numbers] for numbers in held]
        boards = runouts(board, deck)
        twice = np.zeros((len(held[0]), len(held[1])), np.uint16)  # 2 for each runout that is won, 1 for a tie
        beats = np.empty(twice.shape, bool)
        for low in range(0, len(boards), AT_ONCE):
            some = boards[low : low + AT_ONCE]
            # A hand that a runout blocks has a strength that nothing is counted with.
            first, second = (_strengths(of, some, deck, blocked) for of, blocked in zip(cards, (0, 65535), strict=True))
            for mine, theirs in zip(first, second, strict=True):
                for compared in (np.greater, np.greater_equal):
                    compared(mine[:, None], theirs[None, :], out=beats)
                    np.add(twice, beats, out=twice, casting="unsafe")
        shared = (cards[0][:, None, :, None] == cards[1][None, :, None, :]).any(axis=(2, 3))
        self.possible: Array = np.where(shared, 0.0, 1.0)
        times = comb(len(deck.cards) - len(board) - 4, 5 - len(board))  # runouts that leave both hands
        self.won: Array = twice / (2.0 * times) * self.possible

    def of(self, reach: tuple[Array, Array]) -> tuple[Array, Array]:
        """Equity of every hand of both against the other's range; NaN where it meets nothing. float64 [1326] each"""
        weights = [reach[p][self.hands[p]] for p in (0, 1)]
        lost = self.possible - self.won
        sums = (self.won @ weights[1], self.possible @ weights[1]), (weights[0] @ lost, weights[0] @ self.possible)
        shares = []
        for p, (won, met) in enumerate(sums):
            out = np.full(HANDS, np.nan)
            with np.errstate(divide="ignore", invalid="ignore"):
                out[self.hands[p]] = np.where(met > 0, won / met, np.nan)
            shares.append(out)
        return shares[0], shares[1]


def _strengths(cards: Array, boards: Array, deck: Deck, blocked: int) -> Array:
    """Strength of hands on full boards. uint16 [boards, hands]"""
    count, hands = len(boards), len(cards)
    whole = np.empty((count, hands, 7), np.uint8)
    whole[:, :, :2], whole[:, :, 2:] = cards, boards[:, None, :]
    shared = (cards[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
    strength = rank_batch(whole.reshape(-1, 7), deck.rules, check=False).reshape(count, hands)
    return np.where(shared, np.uint16(blocked), strength)
