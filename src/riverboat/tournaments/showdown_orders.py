"""How three hands stand to one another at showdown, for every three classes of starting hands: exact. And two.

Three hands can stand in 13 orders, ties included; side pots need all of them. Each board is gone through once for all
classes (`_order_kernels`), and boards that differ in the names of suits alone once for all of them: 134,459 instead of
2,598,960.

    table = three_way(threads=2)          # once; then from the cache
    table.orders(0, 14, 28)               # float64 [13]: AA, KK, QQ
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.equity.equities import Progress, spread
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.ranking import hand_strengths, rank_batch
from riverboat.compiled.simd import LANES
from riverboat.core.arrays import Array
from riverboat.core.cache import kept
from riverboat.core.errors import InputError, check_threads
from riverboat.tournaments._kernels import order as kernels

# By how many hands are better than each of the three. The first six are strict, then one loser, one winner, all level.
ORDERS = (
    (0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0),
    (0, 0, 2), (0, 2, 0), (2, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0),
)  # fmt: skip
BATCH = 64  # boards in one call
BATCHES = (
    6  # after which sums of 32 bits are added up: 384 boards, each at most 24 suits and 12³ triples, leave them exact
)
_VERSION = 1


@dataclass(frozen=True, eq=False)
class ThreeWay:
    """Orders of three hands by class; players in ascending order of their classes."""

    classes: int
    shares: (
        Array  # float32 [triples, 13]: of the deals of three hands and a board; zero where no three hands can be dealt
    )
    hands: Array  # int64 [triples]: ways to deal three hands of these classes

    def orders(self, *classes: int) -> Array:
        """Probability of each of `ORDERS` for three classes, in the order of the players. float64 [13]"""
        if len(classes) != 3 or not all(0 <= c < self.classes for c in classes):
            raise InputError(f"classes {classes}: three of 0 to {self.classes - 1} are needed")
        place = np.argsort(classes, kind="stable")
        row = self.shares[triple_index(*(classes[p] for p in place))]
        shares = np.zeros(len(ORDERS))
        for k, order in enumerate(ORDERS):
            shares[k] = row[ORDERS.index(tuple(order[p] for p in place))]
        return shares


def triple_index(a: int, b: int, c: int) -> int:
    """The number of three classes a ≤ b ≤ c."""
    return a + b * (b + 1) // 2 + c * (c + 1) * (c + 2) // 6


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Two hands by class."""

    wins: Array  # float64 [classes, classes]: the chance that the first has the better hand
    ties: Array  # float64 [classes, classes]: that both are level
    hands: Array  # int64 [classes, classes]: ways to deal two hands of these classes


def two_way(threads: int = 1, progress: Progress | None = None) -> TwoWay:
    """The table of the 169 classes of starting hands; computed once, then kept on disk."""

    def make() -> dict[str, Array]:
        table = count_two(FULL_DECK, CLASS_OF_HAND, threads, progress)
        return {"wins": table.wins, "ties": table.ties, "hands": table.hands}

    return TwoWay(**kept(f"equity/two-way-{_VERSION}", make))


def count_two(deck: Deck, group: Array, threads: int = 1, progress: Progress | None = None, board: int = 5) -> TwoWay:
    """The same for any deck and classes, as `count`."""
    hands, classes = _hands(deck, group), int(group.max()) + 1
    boards, times = canonical_boards(board, deck)

    def work(part: slice) -> tuple[Array, ...]:
        room = _room(hands, classes)
        wins, ties = (np.zeros((classes, room.counts.shape[1])) for _ in range(2))
        strengths, orders = _sorted(deck, boards[part])
        kernels.count_pairs(hands, times[part].astype(np.int32), strengths, orders, room, wins, ties)
        return wins[:, :classes], ties[:, :classes]

    parts = spread(work, len(boards), threads, progress, chunk=1024)
    wins, ties = (np.sum([part[k] for part in parts], axis=0) for k in range(2))
    deals = wins + wins.T + ties
    chance = 1 / np.maximum(deals, 1)
    return TwoWay(wins * chance, ties * chance, (deals / comb(len(deck.cards) - 4, board)).astype(np.int64))


def three_way(threads: int = 1, progress: Progress | None = None) -> ThreeWay:
    """The table of the 169 classes of starting hands; computed once, then kept on disk."""

    def make() -> dict[str, Array]:
        table = count(FULL_DECK, CLASS_OF_HAND, threads, progress)
        return {"shares": table.shares, "hands": table.hands}

    arrays = kept(f"equity/three-way-{_VERSION}", make)
    return ThreeWay(169, arrays["shares"], arrays["hands"])


def count(deck: Deck, group: Array, threads: int = 1, progress: Progress | None = None, board: int = 5) -> ThreeWay:
    """The same for any deck of two hole cards and any classes of its hands that do not look at suits."""
    hands, classes = _hands(deck, group), int(group.max()) + 1
    boards, times = canonical_boards(board, deck)

    check_threads(threads)
    free = [_Counter(deck, hands, classes) for _ in range(threads)]

    def work(part: slice) -> tuple[Array, ...]:
        counter = free.pop()
        counter.add(boards[part], times[part])
        free.append(counter)
        return ()

    spread(work, len(boards), threads, progress, chunk=BATCH * BATCHES)
    first, *others = free
    for other in others:  # whole numbers below 2^53: the order does not matter
        first.join(other)
    return _table(first.counts(), classes, comb(len(deck.cards) - 6, board))


def _hands(deck: Deck, group: Array) -> kernels.Hands:
    cards = np.asarray(deck.hands, np.uint8)
    number = np.full((52, 52), -1, np.int16)
    for h, (a, b) in enumerate(cards.tolist()):
        number[a, b] = number[b, a] = h
    ranks = sorted({int(c) >> 2 for c in deck.cards})
    rank = np.full(52, kernels.NONE, np.uint8)
    for c in deck.cards.tolist():
        rank[c] = ranks.index(c >> 2)
    held: list[list[int]] = [[] for _ in ranks]
    local = np.zeros((len(cards), 2), np.uint8)
    for h, pair in enumerate(cards.tolist()):
        for s, c in enumerate(pair):
            known = held[rank[c]]
            if int(group[h]) not in known:
                known.append(int(group[h]))
            local[h, s] = known.index(int(group[h]))
    member = np.full((len(ranks), _padded(max(map(len, held)))), -1, np.int16)
    for r, known in enumerate(held):
        member[r, : len(known)] = known
    return kernels.Hands(cards, number, group.astype(np.int16), local, rank, member)


def _padded(count: int) -> int:
    return -(-count // LANES) * LANES


def _room(hands: kernels.Hands, classes: int) -> kernels.Room:
    most, wide, f = hands.member.shape[1], _padded(classes), np.float32
    return kernels.Room(
        every=np.zeros((2, wide), f),
        every_by=np.zeros((2, 52, most), f),
        counts=np.zeros((3, wide), f),
        counts_by=np.zeros((3, 52, most), f),
        tied=np.zeros(len(hands.cards), np.int16),
        place=np.zeros(classes, np.int64),
        mark=np.zeros(1 + classes, np.int64),
    )


class _Counter:
    """Sums of one thread."""

    def __init__(self, deck: Deck, hands: kernels.Hands, classes: int) -> None:
        self.deck, self.hands, self.classes = deck, hands, classes
        ranks, most = hands.member.shape
        f, wide = np.float32, _padded(classes)
        self.room = _room(hands, classes)
        self.sums = kernels.Sums(np.zeros((3, classes, classes, wide), f), np.zeros((4, classes, ranks, most, most), f))
        self.strict = np.zeros((classes, wide, wide), f)
        rows = BATCH * len(hands.cards)
        self.above, self.below = np.zeros((rows, wide), f), np.zeros((rows, wide), f)
        cubes = (classes,) * 3
        self.totals = np.zeros(cubes), np.zeros((3, *cubes)), np.zeros(self.sums.shared.shape)

    def add(self, boards: Array, times: Array) -> None:
        """Count the triples of some boards, so few that sums of 32 bits are exact."""
        for at in range(0, len(boards), BATCH):
            self._batch(boards[at : at + BATCH], times[at : at + BATCH].astype(np.int32))
        for total, part in zip(self.totals, (self.strict, *self.sums), strict=True):
            np.add(total, part[..., : total.shape[-2], : total.shape[-1]], out=total)
            part[:] = 0

    def join(self, other: _Counter) -> None:
        """Add what another thread has counted."""
        for total, part in zip(self.totals, other.totals, strict=True):
            total += part

    def counts(self) -> tuple[Array, ...]:
        """Triples of first above and third below the middle hand; of first level with it, and third above, below, level."""
        strict, tie, shared = self.totals
        totals = (strict, *tie)
        for total, gone in zip(totals, shared, strict=True):
            for r, known in enumerate(self.hands.member):
                some = known[known >= 0].astype(np.int64)
                total[:, some[:, None], some] -= gone[:, r, : len(some), : len(some)]
        return totals

    def _batch(self, boards: Array, times: Array) -> None:
        strengths, orders = _sorted(self.deck, boards)
        live = np.bincount(self.hands.group, (strengths > 0).sum(axis=0), minlength=self.classes).astype(np.int64)
        ends = np.cumsum(live)
        self.room.place[:] = ends - live
        kernels.count_triples(
            self.hands, boards, times, strengths, orders, self.above, self.below, self.room, self.sums
        )
        for b, (low, high) in enumerate(zip(ends - live, ends, strict=True)):
            self.strict[b] += self.above[low:high].T @ self.below[low:high]


def _strengths(deck: Deck, boards: Array) -> Array:
    """Strength of every hand on some boards, zero where a card is taken. uint16 [boards, hands]"""
    if boards.shape[1] != 5:
        return np.array([hand_strengths(board.tolist(), deck) for board in boards])
    hands = np.asarray(deck.hands, np.uint8)
    cards = np.empty((len(boards), len(hands), 7), np.uint8)
    cards[:, :, :2], cards[:, :, 2:] = hands, boards[:, None, :]
    blocked = (hands[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
    ranks = np.zeros(blocked.shape, np.uint16)
    ranks[~blocked] = rank_batch(cards[~blocked], deck.rules, check=False)
    return ranks


def _sorted(deck: Deck, boards: Array) -> tuple[Array, Array]:
    """Strengths, and the hands from weak to strong. uint16 and int16 [boards, hands]"""
    strengths = _strengths(deck, boards)
    return strengths, np.argsort(strengths, axis=1, kind="stable").astype(np.int16)


def _table(total: tuple[Array, ...], classes: int, boards: int) -> ThreeWay:
    """Counts by middle hand as shares by ascending classes."""
    strict, above, below, level = total
    i, j, k = triples(classes)
    # the middle hand first, then the first (or level) and the third one
    counts = np.stack(
        [
            strict[j, i, k], strict[k, i, j], strict[i, j, k], strict[k, j, i], strict[i, k, j], strict[j, k, i],
            below[j, i, k], below[k, i, j], below[k, j, i], above[j, k, i], above[i, k, j], above[i, j, k],
            level[j, i, k],
        ],
        axis=1,
    )  # fmt: skip
    deals = counts.sum(axis=1)
    shares = counts / np.maximum(deals, 1)[:, None]
    return ThreeWay(classes, shares.astype(np.float32), deals // boards)


@cache
def triples(classes: int) -> tuple[Array, Array, Array]:
    """Classes a ≤ b ≤ c of every triple. int64 [triples] each"""
    all_triples = [(a, b, c) for c in range(classes) for b in range(c + 1) for a in range(b + 1)]
    a, b, c = np.array(all_triples, np.int64).T
    return a, b, c
