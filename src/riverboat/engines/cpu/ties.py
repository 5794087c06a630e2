"""Rows that share a bucket: a card abstraction on top of a `BoardTree`.

A traversal updates the regret of each row with the gain of its hand. With a card abstraction, the regret of a bucket
changes by the joint gain of its hands. The rows of a bucket have the same regret before, and the schedule's factors are
equal for all, so the new regret of the bucket is the mean of its rows. The floor is applied after the mean. Averages
are sums, so their mean may be taken at any time. So the traversal stays unchanged, and rows of a bucket are averaged
between two traversals.
"""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.deck import HAND_CARDS
from riverboat.core.arrays import aligned_zeros
from riverboat.core.errors import InputError
from riverboat.engines.cpu._kernels import node as kernels
from riverboat.engines.cpu.workspace import EngineWorkspace
from riverboat.games.base import Array
from riverboat.trees.boards import NO_ROW, BoardTree


class TiedRows:
    """Buckets of the rows of a tree's boards, and the weight of each row in its bucket."""

    def __init__(self, tree: BoardTree, cards: CardAbstraction) -> None:
        _check_abstraction(tree, cards)
        self.tree, self.cards = tree, cards
        rows: list[tuple[Array, Array] | None] = [None, None]
        self._streets: list[list[kernels.TiedStreetRows]] = [[], []]
        same_hands = np.array_equal(tree.held[0], tree.held[1])
        for street in range(tree.streets):
            for player in (0, 1):
                if player == 0 or not same_hands:
                    rows[player] = _bucket_shares(tree, cards, street, player)
                bucket, weight = rows[player] or rows[0]  # type: ignore[misc]
                self._streets[player].append(_tied_street(tree, street, player, bucket, weight, cards.counts[street]))

    def average_rows(
        self, workspace: EngineWorkspace, table: Array, player: int, floor: float = -np.inf, rounding_step: int = 0
    ) -> None:
        """Replace the entries of a player's rows that share a bucket by their weighted mean, not below `floor`.

        `rounding_step`: iteration, which determines the dithered rounding of 16-bit tables.
        """
        for s in self._streets[player]:
            counter = np.zeros(1, np.int64)

            def work(thread: int, s: kernels.TiedStreetRows = s, counter: Array = counter) -> None:
                mean = np.zeros(s.buckets, workspace.dtype)
                vector = aligned_zeros(self.tree.stride, workspace.dtype)
                kernels.average_tied_rows(table, s, floor, rounding_step, counter, mean, vector)

            workspace.team.run(work)


def _check_abstraction(tree: BoardTree, cards: CardAbstraction) -> None:
    """Raise InputError if the abstraction does not fit the tree."""
    game = tree.game
    if game.board or cards.deck != game.deck or cards.deals[: tree.streets - 1] != tuple(game.deals):
        raise InputError(
            f"{cards.name}: buckets for boards of {cards.deals} cards from {len(cards.deck.cards)}; {tree.name} deals "
            f"{tuple(game.deals)} from {len(game.deck.cards)} on {'a board' if game.board else 'no board'}"
        )
    if len(cards.streets) < tree.streets:
        raise InputError(f"{cards.name}: buckets for {len(cards.streets)} streets, but {tree.name} has {tree.streets}")


def row_buckets(tree: BoardTree, cards: CardAbstraction, street: int, player: int) -> Array:
    """Return the bucket of each row of a player on the boards of a street. int32 [rows of all boards]"""
    boards = range(tree.street_start[street], tree.street_start[street + 1])
    hands = np.concatenate([tree.representatives(b, player) for b in boards])
    shown = np.array([[card for deal in tree.deals.deals_to(b) for card in deal] for b in boards], np.uint8)
    row_boards = np.repeat(shown, tree.rows[boards.start : boards.stop, player], axis=0)
    dealt = np.concatenate([HAND_CARDS[hands], row_boards], axis=1).astype(np.uint8)
    return cards.buckets(dealt, check=False)[:, 0, street].astype(np.int32)


def _bucket_shares(tree: BoardTree, cards: CardAbstraction, street: int, player: int) -> tuple[Array, Array]:
    """Return the bucket of each row on the boards of a street, and the row's share of the deals in its bucket.

    int32, float64 [rows of all boards]
    """
    bucket, weights = row_buckets(tree, cards, street, player), []
    for b in range(tree.street_start[street], tree.street_start[street + 1]):
        row_of = tree.row_of[b, player]
        hands = np.bincount(row_of[row_of != NO_ROW], minlength=int(tree.rows[b, player]))
        weights.append(hands * float(_deal_count(tree, b)))
    weight = np.concatenate(weights)
    total = np.bincount(bucket, weight, minlength=cards.counts[street])
    return bucket, weight / total[bucket]


def _deal_count(tree: BoardTree, board: int) -> int:
    """Return the number of deals, from the root on, that a board represents by suit symmetry."""
    count = 1
    while board > 0:
        count *= int(tree.boards.member[board + 1] - tree.boards.member[board])
        board = int(tree.deals.parents[board])
    return count


def _tied_street(
    tree: BoardTree, street: int, player: int, bucket: Array, weight: Array, buckets: int
) -> kernels.TiedStreetRows:
    here = slice(tree.street_start[street], tree.street_start[street + 1])
    rows = tree.rows[here, player].astype(np.int64)
    first = np.cumsum(rows) - rows
    slots = int(tree.forest.slots[street, player])
    return kernels.TiedStreetRows(tree.boards.base[here, player].copy(), rows, first, bucket, weight, slots, buckets)
