"""The head of a cluster: the tables of the first street, and the two passes of Algorithm 4.

The first pass (`record`) deals the hands of a batch, walks the first street with the strategy of the batch's start, and notes
the continuations: where walks go on to the next street. It changes nothing. When the blades have valued them, the second
pass (`finish`) goes up the notes of the first and adds regrets and averages. So no random choice is made twice.

Hands that are all-in before the flop need no blade: the head deals them a board of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.engines.sampling._kernels import cluster as kernels
from riverboat.engines.sampling._kernels import external as walks
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import BLOCK, BucketTables, Pruning, make_game
from riverboat.solvers.mccfr.workspace import (
    fitting_group,
    make_block,
    make_journals,
    make_notes,
    most_need,
    rule_of,
    spread,
)

_NOTES = 1 << 29  # bytes of the notes of a batch


@dataclass(frozen=True)
class _Notes:
    """What the second pass needs of the first."""

    groups: kernels.Groups
    block: walks.Block
    hands: Array  # uint8 [deals · 2 · hole]
    cuts: kernels.Cuts


class Head:
    """Tables and walks of the first street."""

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        seed: int = 0,
        threads: int = 1,
        dtype: str = "float32",
        prune: Pruning | None = None,
        batch: int = 4096,
    ) -> None:
        if batch < 1:
            raise InputError(f"batch={batch}: deals that are sent together, at least 1")
        check_threads(threads)
        self.tree, self.cards, self.seed, self.threads, self.prune = tree, cards, seed, threads, prune
        self.tables = BucketTables(tree, (cards.counts[0], *[0] * (tree.rules.rounds - 1)), dtype)
        self.game = make_game(tree, cards, self.tables)
        self.payoff = np.zeros(2)  # sums of what each seat won as traverser, in chips
        self.updates = 0  # decisions of the first street
        hands = 2 * cards.deck.hole
        self.flops = comb(len(cards.deck.cards) - hands, tree.rules.board[1])  # that avoid any four cards: 17,296
        self._need = self._first_street()
        self.group = fitting_group(self._need)
        self.batch = self._fitting(-(-batch // BLOCK) * BLOCK)
        self._notes = self._make_notes()
        self._deals = 0
        self._start = np.zeros(1, np.int64)

    # --- passes ------------------------------------------------------------------------------------

    def record(self, first: int, deals: int) -> kernels.Batch:
        """The first pass over deals `first` … of the run: what the blades are asked."""
        notes, rule = self._notes, rule_of(self.tables, self.prune)
        some = walks.Deals(np.uint64(self.seed % 2**64), first, first + deals, np.zeros(1, np.int64))

        def go(_: int) -> None:
            room = kernels.LookRoom(np.zeros((BLOCK, 1), np.int64), np.zeros((BLOCK, 2, 1), np.int64))
            given = self.game, self.cards.look, self.tables.cells, some, rule
            kernels.record(*given, notes.groups, notes.block, notes.hands, notes.cuts, room)

        spread(go, self.threads)
        groups = -(-deals // self.group)
        self._deals, self._start = deals, np.zeros(deals + 1, np.int64)
        root = np.zeros(int(notes.cuts.own[:groups, 2].sum()), np.int32)
        kernels.pack(notes.cuts, deals, self.group, self._start, root)
        held = 2 * self.cards.deck.hole
        keys, prune = notes.block.keys[:deals], notes.block.prune[:deals]
        return kernels.Batch(keys, notes.hands[: deals * held], prune, self._start, root)

    def finish(self, answers: Iterable[tuple[Array, Array]]) -> None:
        """The second pass: values and |F| of every blade, float32 [continuations] and int32 [deals]."""
        notes, deals, start = self._notes, self._deals, self._start
        total, flops = np.zeros(int(start[-1])), np.zeros(deals, np.int64)
        for values, counts in answers:
            kernels.mix(start, np.array(counts), np.array(values), total)
            flops += counts
        assert (flops == self.flops).all(), f"{flops.min()} to {flops.max()} flops of all blades, not {self.flops}"
        total /= self.flops
        groups, turn = -(-deals // self.group), np.zeros(1, np.int64)
        payoff, rule = np.zeros((groups, 2)), rule_of(self.tables, self.prune)

        def rise(_: int) -> None:
            given = self.tables.cells, deals, rule, turn, notes.groups, notes.block
            kernels.finish(*given, start, notes.cuts, total, payoff)

        def add(thread: int) -> None:
            walks.apply(self.tables.cells, notes.groups.journals, groups, rule.floor, thread, self.threads)

        spread(rise, self.threads)
        spread(add, self.threads)
        self.updates += int(notes.cuts.own[:groups, :2].sum())
        self.payoff += payoff.sum(axis=0) * self.tables.unit

    # --- room --------------------------------------------------------------------------------------

    def _first_street(self) -> Array:
        """What both walks of a deal may need on the first street. int64 [3]"""
        nodes = self.game.nodes.reshape(-1, 4).copy()
        nodes[self.tree.street > 0, 0] = 0  # ends there
        return most_need(nodes.reshape(-1), len(self.tree))

    def _fitting(self, batch: int) -> int:
        """At most so many deals as there is room for notes: whole blocks."""
        each = int(self._need @ (48, 24, 24)) + 8 * int(self._need[0] + self._need[1]) * int(self.tree.count.max())
        return min(batch, max(BLOCK, _NOTES // each // BLOCK * BLOCK))

    def _make_notes(self) -> _Notes:
        groups, moves = -(-self.batch // self.group), int(self.tree.count[self.tree.street == 0].max())
        most = (int(self._need[2]) + 2) * self.group
        cuts = kernels.Cuts(
            np.zeros((groups, most), np.int32),
            np.zeros((groups, most), np.int32),
            np.zeros(self.batch + 1, np.int64),
            np.zeros((groups, 3), np.int64),
        )
        walked = make_notes(self._need, self.group, groups)
        return _Notes(
            kernels.Groups(walked, make_journals(self._need, self.group, moves, groups)),
            make_block(self.game, self.batch, streets=1),
            np.zeros(self.batch * 2 * self.cards.deck.hole, np.uint8),
            cuts,
        )
