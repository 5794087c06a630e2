"""Rows that share a bucket: a card abstraction on top of a `BoardTree`.

A walk that learns on boards changes the regret of each row by what its hand gained. Where several hands share a bucket,
the bucket's regret changes by what they gained together. Its rows have the same regret before, and the schedule's factors
are the same for all, so what the bucket has afterwards is the mean of its rows; the floor comes after the mean. Averages are
sums, and a mean of sums may be taken at any time. So the walk stays as it is: between two walks rows that share a bucket
are tied together.
"""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.deck import HAND_CARDS
from riverboat.core.errors import InputError
from riverboat.engines.cpu._kernels import tie as kernels
from riverboat.engines.cpu.workspace import Rooms, aligned
from riverboat.games.base import Array
from riverboat.trees.boards import NOWHERE, BoardTree


class Ties:
    """Which rows of a tree's boards share a bucket, and what each of them stands for."""

    def __init__(self, tree: BoardTree, cards: CardAbstraction) -> None:
        _check(tree, cards)
        self.tree, self.cards = tree, cards
        rows: list[tuple[Array, Array] | None] = [None, None]
        self._streets: list[list[kernels.StreetRows]] = [[], []]
        alike = np.array_equal(tree.held[0], tree.held[1])
        for street in range(tree.streets):
            for player in (0, 1):
                if player == 0 or not alike:
                    rows[player] = _rows(tree, cards, street, player)
                bucket, weight = rows[player] or rows[0]  # type: ignore[misc]
                self._streets[player].append(_street(tree, street, player, bucket, weight, cards.counts[street]))

    @property
    def nbytes(self) -> int:
        """Memory of the maps."""
        arrays = {id(a): a.nbytes for side in self._streets for s in side for a in (s.bucket, s.weight)}
        return sum(arrays.values())

    def tie(self, rooms: Rooms, table: Array, player: int, floor: float = -np.inf, turn: int = 0) -> None:
        """Give rows that share a bucket the mean of their numbers, not below the floor."""
        for s in self._streets[player]:
            counter = np.zeros(1, np.int64)

            def work(thread: int, s: kernels.StreetRows = s, counter: Array = counter) -> None:
                mean = np.zeros(s.buckets, rooms.dtype)
                room = aligned(self.tree.stride, rooms.dtype)
                kernels.tie(table, s, floor, turn, counter, mean, room)

            rooms.on_all(work)


def _check(tree: BoardTree, cards: CardAbstraction) -> None:
    game = tree.game
    if game.board or cards.deck != game.deck or cards.deals[: tree.streets - 1] != tuple(game.deals):
        raise InputError(
            f"{cards.name}: buckets for boards of {cards.deals} cards from {len(cards.deck.cards)}; {tree.name} deals "
            f"{tuple(game.deals)} from {len(game.deck.cards)} on {'a board' if game.board else 'no board'}"
        )
    if len(cards.streets) < tree.streets:
        raise InputError(f"{cards.name}: buckets for {len(cards.streets)} streets, and {tree.name} has {tree.streets}")


def _rows(tree: BoardTree, cards: CardAbstraction, street: int, player: int) -> tuple[Array, Array]:
    """Bucket of each row on the boards of a street, and its share of the bucket. int32, float64 [rows of all boards]"""
    buckets, weights = [], []
    for b in range(tree.street_at[street], tree.street_at[street + 1]):
        reps = tree.reps(b, player)
        board = _in_order(tree, b)
        dealt = np.concatenate([HAND_CARDS[reps], np.broadcast_to(board, (len(reps), len(board)))], axis=1)
        buckets.append(cards.buckets(dealt.astype(np.uint8), check=False)[:, 0, street])
        row_of = tree.row_of[b, player]
        hands = np.bincount(row_of[row_of != NOWHERE], minlength=len(reps))
        weights.append(hands * float(_members(tree, b)))
    bucket = np.concatenate(buckets).astype(np.int32)
    weight = np.concatenate(weights)
    total = np.bincount(bucket, weight, minlength=cards.counts[street])
    return bucket, weight / total[bucket]


def _in_order(tree: BoardTree, board: int) -> Array:
    """The cards of a board, deal after deal. uint8 [cards]"""
    deals: list[tuple[int, ...]] = []
    while board > 0:
        deals.insert(0, tree.deals.dealt(board))
        board = int(tree.deals.parents[board])
    return np.array([card for deal in deals for card in deal], np.uint8)


def _members(tree: BoardTree, board: int) -> int:
    """How many ways of dealing a board stands for."""
    count = 1
    while board > 0:
        count *= int(tree.boards.member[board + 1] - tree.boards.member[board])
        board = int(tree.deals.parents[board])
    return count


def _street(
    tree: BoardTree, street: int, player: int, bucket: Array, weight: Array, buckets: int
) -> kernels.StreetRows:
    here = slice(tree.street_at[street], tree.street_at[street + 1])
    rows = tree.rows[here, player].astype(np.int64)
    first = np.cumsum(rows) - rows
    slots = int(tree.forest.slots[street, player])
    return kernels.StreetRows(tree.boards.base[here, player].copy(), rows, first, bucket, weight, slots, buckets)
