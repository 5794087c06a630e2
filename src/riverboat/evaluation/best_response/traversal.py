"""One walk over all boards for some players who meet a strategy, in pieces that may be walked in any order and anywhere.

A piece is a fixed group of boards of the second street with everything that follows them. What pieces find is added up in
their order, so the result does not depend on who walked them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import RiverboatError
from riverboat.evaluation.best_response import layout
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response._kernels.last_street import LastStreet
from riverboat.evaluation.best_response.layout import Player
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.strategies.blueprint import BlueprintStrategy

PIECES = 195  # of nine flops each in hold'em
# Of weights for all buckets of the last street; larger ones are made board by board. Short rows are made faster than they
# come from memory, so those of small trees only stay where they are near.
ROWS_BYTES, SHORT_ROWS_BYTES = 1 << 30, 1 << 22
_NOTHING = kernels.Boards(np.zeros((0, 0), np.uint8), np.zeros(0), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Plan:
    """The betting of a game, laid out for some players."""

    tree: ActionTree
    players: tuple[Player, ...]
    items: kernels.Items
    last: LastStreet
    ends: layout.Ends

    @classmethod
    def of(cls, tree: ActionTree, players: tuple[Player, ...], dtype: type[np.floating[Any]] = np.float64) -> Plan:
        """Lay it out; `dtype` is that of the last street."""
        items, places = layout.items_of(tree, players)
        return cls(tree, players, items, *layout.last_street(tree, players, places, dtype))

    def rows_bytes(self, buckets: int) -> int:
        """Weights of the last street for so many buckets."""
        return buckets * len(self.last.source) * self.last.pay.dtype.itemsize

    def lazy(self, buckets: int) -> bool:
        """Whether they are made board by board."""
        return self.rows_bytes(buckets) > (ROWS_BYTES if self.last.pay.dtype == np.float32 else SHORT_ROWS_BYTES)

    def room_bytes(self, buckets: int) -> int:
        """Room of one thread."""
        hands = self.tree.rules.deck.hand_count
        return layout.room_bytes(self.items, self.last, hands, lazy=self.lazy(buckets))


class StoppedError(RiverboatError):
    """A piece was given up, because nobody waits for it."""


class ResponseWalk:
    """A walk of the players of a plan, who meet a strategy; they follow `mine` where they follow anybody."""

    def __init__(self, strategy: BlueprintStrategy, plan: Plan, mine: BlueprintStrategy | None = None) -> None:
        rules = strategy.rules
        self.rules, self.plan, self.items = rules, plan, plan.items
        self.cards, self.look = layout.cards_of(rules), strategy.cards.look
        self.lazy = plan.lazy(strategy.buckets[-1])
        self.side = layout.side_of(strategy)
        self.mine = self.side if mine is None else layout.side_of(mine)
        last = layout.with_table(plan.last, strategy)
        if mine is not None and any(player.last == kernels.FOLLOW for player in plan.players):
            self.lazy = False
            self.last = layout.following(layout.with_table(plan.last, mine), last, strategy.buckets[-1])
        else:
            self.last = last if self.lazy else layout.filled(last, strategy.buckets[-1])
        hole, count = rules.hole, len(rules.deck.cards)
        self.pairs = comb(count, hole) * comb(count - hole, hole)
        self.exits = np.flatnonzero(self.items.kind[: self.items.at[1]] == kernels.EXIT)
        self.root = layout.make_room(self.items, self.last, self.cards, lazy=self.lazy)
        self._phase(kernels.DOWN, self.root, _NOTHING)
        goes_on = rules.rounds > 1 and self.root.chosen[1, 0] != kernels.SPENT
        self.boards = self._second_street() if goes_on else _NOTHING
        self.pieces = min(PIECES, len(self.boards.cards))

    def _phase(self, phase: int, room: kernels.Room, boards: kernels.Boards) -> None:
        kernels.walk(self.items, self.last, self.cards, self.look, self.side, self.mine, phase, boards, room)

    def _second_street(self) -> kernels.Boards:
        """Its boards up to suits, how many each stands for, and the permutations that keep it."""
        dealt, count = int(self.cards.dealt[1]), 0
        while True:  # count, then write
            boards = np.zeros((count, dealt), np.uint8)
            times, groups = np.zeros(count), np.zeros(count, np.int64)
            listed = kernels.list_deals(self.cards, self.root, boards, times, groups)
            if listed == count:
                return kernels.Boards(boards, times, groups)
            count = listed

    def room(self) -> kernels.Room:
        """Room for a thread that walks pieces."""
        return layout.copied(self.root)

    def piece(self, number: int, room: kernels.Room, stop: Callable[[], bool] = lambda: False) -> tuple[Array, Array]:
        """What a piece adds to the exits of the first street, and the boards that were walked, by street.

        `stop` is asked before each board of the second street, which may take seconds: then the piece is lost.
        """
        before, gained = room.walked.copy(), np.zeros((len(self.exits), len(self.cards.mask)))
        for k in range(number, len(self.boards.cards), self.pieces):
            if stop():
                raise StoppedError(f"piece {number} of a best response was stopped")
            gained += self.walk_boards(room, *(part[k : k + 1] for part in self.boards))
        return gained, room.walked - before

    def walk_boards(self, room: kernels.Room, boards: Array, times: Array, groups: Array) -> Array:
        """What some boards add to the exits of the first street. float64 [exits, hands]"""
        self._phase(kernels.BOARDS, room, kernels.Boards(boards, times, groups))
        hands = len(self.cards.mask)
        gained: Array = room.value[self.exits, :hands].copy()
        return gained

    def values(self, gained: Array | None) -> tuple[float, ...]:
        """What each player wins a hand, in chips, from what all pieces have found together; None where there are none."""
        hands = len(self.cards.mask)
        if gained is not None:
            self.root.value[self.exits, :hands] = gained
        self._phase(kernels.UP, self.root, _NOTHING)
        return tuple(float(self.root.value[root, :hands].sum()) / self.pairs for root in self.items.root)
