"""Classes of starting hands: how often two and three of them meet, and how they stand. For all models of push or fold.

tables = starting_hands(players=3)
tables.orders(0, [second, third])      # float64 [classes, 13]: chance of each order, by the first player's class
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations

import numpy as np

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.core import cores
from riverboat.core.arrays import Array
from riverboat.tournaments._kernels import ring as kernels
from riverboat.tournaments._kernels import stage as stage_kernels
from riverboat.tournaments.showdown_orders import ORDERS, ThreeWay, TwoWay, three_way, triples, two_way

PAIR_ORDERS = ((0, 1), (1, 0), (0, 0))


@dataclass(frozen=True, eq=False)
class HandTables:
    """Classes of hands, and how two and three of them stand. Chances of deals add up to one."""

    dealt: Array  # float64 [classes]: the chance of each
    met: Array  # float64 [3, classes, classes]: of two classes and of each of `PAIR_ORDERS`
    shares: Array  # float32 [triples, WIDE]: chances of the orders of three, classes ascending
    ways: Array  # float32 [triples]: the chance of three classes, given who holds which
    deck: Deck
    group: Array  # int [hands]: the class of each hand
    board: int

    @staticmethod
    def of(deck: Deck, group: Array, two: TwoWay | None, three: ThreeWay | None, board: int = 5) -> HandTables:
        """From tables of a deck: of two hands, of three, or of both."""
        if two is None:
            assert three is not None
            two = pairs_of(three)
        pairs = two.hands / two.hands.sum()
        shares = np.zeros((0 if three is None else len(three.shares), kernels.WIDE), np.float32)
        ways = np.zeros(len(shares))
        if three is not None:
            shares[:, : len(ORDERS)] = three.shares
            ways = three.hands / (three.hands * _turns(three.classes)).sum()
        met = np.stack([two.wins * pairs, two.wins.T * pairs.T, two.ties * pairs])
        return HandTables(pairs.sum(axis=1), met, shares, ways.astype(np.float32), deck, group, board)

    @property
    def classes(self) -> int:
        """How many there are."""
        return len(self.dealt)

    @cached_property
    def pairs(self) -> Array:
        """The chance of two classes. float64 [classes, classes]"""
        weights: Array = self.met.sum(axis=0)
        return weights

    @cached_property
    def other(self) -> Array:
        """The chance of another player's class, by one's own. float64 [classes, classes]"""
        chances: Array = self.pairs / np.maximum(self.dealt, 1e-300)[:, None]
        return chances

    @cached_property
    def dead(self) -> Array:
        """The chance of two classes and of each of `PAIR_ORDERS`, by the class of a third player.
        float32 [classes, 3, classes, classes]"""
        n, classes = self.classes, triples(self.classes)
        chances = np.zeros((n, 3, n, n), np.float32)
        for i, j, k in permutations(range(3)):  # where the first, the second and the third player's class stand
            for order, (mine, other) in enumerate(PAIR_ORDERS):
                some = np.array([np.sign(x[i] - x[j]) == np.sign(mine - other) for x in ORDERS], np.float32)
                chances[classes[k], order, classes[i], classes[j]] = self.shares[:, : len(ORDERS)] @ some * self.ways
        return chances

    def orders(self, at: int, others: list[Array], rare: float = 0.0) -> Array:
        """The chance of each order of two or three players, by the class of one of them, the others having ranges.

        `at`: the place of that player; `rare`: of three players, who plays a class no more often has not got it.
        float64 [classes, orders]
        """
        if len(others) == 1:
            both = (self.met @ others[0]).T
            return both if at == 0 else both[:, [1, 0, 2]]
        out, room = np.zeros((self.classes, len(ORDERS))), np.zeros((6, kernels.WIDE), np.float32)
        ranges = (*_support(others[0], rare), *_support(others[1], rare))
        if len(ranges[0]) and len(ranges[2]):
            kernels.three_ranges(self.shares, self.ways, turned_threes(), *ranges, room, out)
        return out if at == 0 else out[:, _moved(at)]

    # --- sums over one player's classes ------------------------------------------------------------

    def threes(self, place: int, weights: Array) -> Array:
        """Three players, of whom the one at a place (1 or 2) has a range: the chance of each of `ORDERS` by the classes of
        the two others. float32 [classes, classes, 13]"""
        if _wide(weights):
            return self._all_threes[place] - self._sum_threes(place, 1 - weights)
        return self._sum_threes(place, weights)

    def _sum_threes(self, place: int, weights: Array) -> Array:
        out = np.zeros((self.classes, self.classes, len(ORDERS)), np.float32)
        room, others = np.zeros((6, kernels.WIDE), np.float32), [p for p in range(3) if p != place]
        exchange = {others[0]: others[1], others[1]: others[0], place: place}
        exchanged = np.array([ORDERS.index(tuple(order[exchange[p]] for p in range(3))) for order in ORDERS])
        stage_kernels.sum_threes(
            self.shares, self.ways, turned_threes(), place, *_support(weights, 0.0), exchanged, room, out
        )
        return out

    def rows(self, weights: Array) -> Array:
        """Two players, of whom the first has a range, and a third who has folded: the chance of each of `PAIR_ORDERS` by the
        classes of the third and of the second. float32 [3, classes, classes]"""
        if _wide(weights):
            return self._all_rows - self.rows(1 - weights)
        out = np.zeros(self.met.shape, np.float32)
        stage_kernels.sum_rows(self.dead, *_support(weights, 0.0), out)
        return out

    def folded(self, weights: Array) -> Array:
        """Two players, and a third who has folded with a range: the chance of each of `PAIR_ORDERS` by the two's classes.
        float32 [3, classes, classes]"""
        if _wide(weights):
            return self.met.astype(np.float32) - self.folded(1 - weights)
        out = np.zeros(self.met.shape, np.float32)
        stage_kernels.sum_folded(self.dead, *_support(weights, 0.0), out)
        return out

    @cached_property
    def _all_threes(self) -> dict[int, Array]:
        return {place: self._sum_threes(place, np.ones(self.classes)) for place in (1, 2)}

    @cached_property
    def _all_rows(self) -> Array:
        return np.ascontiguousarray(self.dead.sum(axis=2).transpose(1, 0, 2))


def _wide(weights: Array) -> bool:
    """Whether it is quicker to sum over what is not there."""
    return bool(np.count_nonzero(weights < 1) < np.count_nonzero(weights))


def pairs_of(three: ThreeWay) -> TwoWay:
    """How two hands stand when a third is dealt to somebody who is not asked."""
    n, classes = three.classes, triples(three.classes)
    wins, ties, ways = (np.zeros((n, n, n), np.float32) for _ in range(3))
    for i, j, k in permutations(range(3)):  # where the first, the second and the unknown player's class stand
        at = classes[i], classes[j], classes[k]
        better = np.array([order[i] < order[j] for order in ORDERS], np.float32)
        level = np.array([order[i] == order[j] for order in ORDERS], np.float32)
        ways[at], wins[at], ties[at] = (
            three.hands,
            three.shares @ better * three.hands,
            three.shares @ level * three.hands,
        )
    total = ways.sum(axis=2, dtype=np.float64)
    chance = 1 / np.maximum(total, 1)
    return TwoWay(wins.sum(axis=2, dtype=np.float64) * chance, ties.sum(axis=2, dtype=np.float64) * chance, total)


@cache
def starting_hands(players: int) -> HandTables:
    """The 169 classes of hold'em; the table of two hands for two players, that of three for more."""
    threads = cores.available_cores()  # of the first time: then they are on disk
    if players == 2:
        return HandTables.of(FULL_DECK, CLASS_OF_HAND, two_way(threads), None)
    return HandTables.of(FULL_DECK, CLASS_OF_HAND, None, three_way(threads))


def _support(weights: Array, rare: float) -> tuple[Array, Array]:
    some = np.flatnonzero(weights > rare)
    return some.astype(np.int64), weights[some].astype(np.float32)


def _turns(classes: int) -> Array:
    """In how many ways three players can hold the classes of each triple: 6, 3 or 1. int64 [triples]"""
    a, b, c = triples(classes)
    turns: Array = np.where(a == c, 1, np.where((a == b) | (b == c), 3, 6))
    return turns


def _moved(at: int) -> list[int]:
    """Orders with the player asked about first, as orders of the players in their places: where each is found."""
    numbers = []
    for order in ORDERS:
        first = (order[at], *(order[j] for j in range(3) if j != at))
        numbers.append(ORDERS.index(first))
    return numbers


@cache
def turned_threes() -> Array:
    """The order of ascending classes that an order of the players is, by the order in which they hold them. int64 [6, 13]"""
    places = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    return np.array([[ORDERS.index(tuple(order[p.index(k)] for k in range(3))) for order in ORDERS] for p in places])
