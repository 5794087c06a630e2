"""A blade of a cluster: the tables of all later streets for some public buckets, and the walks that begin there.

A blade is one bucket of flops as far as drawing goes, however many public buckets it has: for each deal of the head it draws
one of its flops that avoid the hands, all with the same chance, then the later cards, and walks on from where the head has
stopped. Its answers are unbiased for the mean over its flops, and the head weights them by |F|, the number of these flops.

Every deal visits every blade, so a flop of this blade is seen with chance 1/|F|, not one over all flops. |F| depends on the
hands that were dealt, and buckets hold many hands: increments are multiplied by |F| over its mean (`weighted`). The paper's
pseudocode leaves this out (`paper`), which matters little with 60 clusters of flops and a lot in small games.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads, shown, unknown
from riverboat.engines.sampling._kernels import cluster as kernels
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import BLOCK, BucketTables, Pruning, make_game
from riverboat.solvers.mccfr.workspace import (
    fitting_group,
    make_block,
    make_notes,
    most_need,
    no_journal,
    rule_of,
    spread,
)

KIND = "blade"
MODES = ("weighted", "paper")
_LINE = 16  # numbers of a thread lie so far apart that no other thread writes to their cache line


@dataclass(frozen=True)
class Share:
    """What a blade owns and how it works."""

    number: int
    first: int  # public buckets first … end - 1
    end: int
    threads: int = 1
    dtype: str = "float32"
    prune: Pruning | None = None
    mode: str = "weighted"


def shares(cards: CardAbstraction, tree: ActionTree, blades: int, **common: Any) -> list[Share]:
    """Public buckets in even parts, one for each blade."""
    rules, public = tree.rules, cards.public
    if public is None:
        raise InputError(
            f"{cards.name} has no public buckets: head and blades need an abstraction such as tartanian7, "
            "whose hands are split by the flop first"
        )
    if rules.rounds < 2 or public.cards != rules.board[1] or not 1 <= public.cards <= 3:
        raise InputError(
            f"{cards.name} has public buckets of {public.cards} cards: {rules.name} must deal as many, 1 to 3, "
            f"after the first round, and deals {rules.board}"
        )
    for r in range(1, rules.rounds):
        if len(cards.streets[r].first) != public.count + 1:
            raise InputError(f"{cards.name}, {rules.streets[r]}: hands of different public buckets share buckets")
    if not 1 <= blades <= public.count:
        raise InputError(f"{blades} blades: {cards.name} has {public.count} public buckets, so 1 to {public.count}")
    parts = np.array_split(np.arange(public.count), blades)
    return [Share(n, int(part[0]), int(part[-1]) + 1, **common) for n, part in enumerate(parts)]


class Blade:
    """Tables and threads of one blade."""

    def __init__(self, tree: ActionTree, cards: CardAbstraction, share: Share) -> None:
        if share.mode not in MODES:
            raise unknown("mode", share.mode, MODES)
        check_threads(share.threads)
        self.tree, self.cards, self.share = tree, cards, share
        owned = [(int(s.first[share.first]), int(s.first[share.end])) for s in cards.streets[1 : tree.rules.rounds]]
        self.rows = [(0, 0), *owned]  # by street: buckets of the abstraction that are here
        self.tables = BucketTables(tree, [end - first for first, end in self.rows], share.dtype)
        game = make_game(tree, cards, self.tables)
        offsets = self.tables.width * np.array([first for first, _ in self.rows], np.int64)
        self.game = game._replace(base=self.tables.base - offsets)
        self.flops = flops_of(cards, share.first, share.end)
        deck, held, shown = len(cards.deck.cards), 2 * cards.deck.hole, self.flops.cards.shape[1]
        # |F| on average over the hands, and all flops that avoid any hands.
        self.mean = len(self.flops.cards) * comb(deck - shown, held) / comb(deck, held)
        self.of_all = self.mean / comb(deck - held, shown)
        need = most_need(self.game.nodes, len(tree))
        group = fitting_group(need)
        scale = 1 / self.mean if share.mode == "weighted" else 0.0
        self._part = kernels.Part(self.flops, share.number, scale)
        rooms = [
            kernels.BladeRoom(make_notes(need, group), no_journal(), np.zeros(BLOCK, np.int64))
            for _ in range(share.threads)
        ]
        self._places = [(make_block(self.game, BLOCK), room) for room in rooms]

    # --- work --------------------------------------------------------------------------------------

    def value(self, batch: kernels.Batch) -> tuple[Array, Array, int]:
        """Value the continuations of a batch and learn from them.

        Values to the traversers, zero where no flop is possible, float32 [continuations]; |F|, int32 [deals]; decisions
        visited.
        """
        batch = kernels.Batch(*(np.array(part) for part in batch))  # what came by message may be read-only
        values, counts = np.zeros(len(batch.root), np.float32), np.zeros(len(batch.keys), np.int32)
        turn, tally = np.zeros(1, np.int64), np.zeros((self.share.threads, _LINE), np.int64)
        rule = rule_of(self.tables, self.share.prune)

        def go(thread: int) -> None:
            given = self.game, self.cards.look, self.tables.cells, self._part, batch, rule, turn
            kernels.value(*given, *self._places[thread], kernels.Answer(values, counts, tally[thread, :2]))

        spread(go, self.share.threads)
        return values, counts, int(tally.sum())

    def discount(self, positive: float, negative: float, decay: float, seed: int) -> None:
        """Multiply regrets and averages."""
        threads = self.share.threads
        spread(lambda t: self.tables.discount(positive, negative, decay, seed, t, threads), threads)

    # --- what has been learned ---------------------------------------------------------------------

    def strategies(self, street: int, rows: Array, averages: bool) -> Array:
        """Average or current strategy of some buckets, by their numbers in the abstraction. float32 [rows, width]"""
        return self.tables.strategies(street, rows - self.rows[street][0], averages=averages)

    def survey(self, rows: int | None) -> tuple[Array, Array]:
        """Information sets visited by street, and sums of largest regrets by seat as parts of the whole game.

        With `rows`, only so many buckets of a street are read, evenly spread, and stand for all.
        """
        touched, regret = np.zeros(len(self.rows), np.int64), np.zeros(2)
        for street, count in enumerate(self.tables.counts):
            if not count:
                continue
            chosen = np.linspace(0, count - 1, min(rows or count, count)).astype(np.int64)
            touched[street], sums = self.tables.survey(street, chosen)
            regret += sums * (count / len(chosen)) * self.of_all
        return touched, regret

    # --- state -------------------------------------------------------------------------------------

    def cells(self) -> Array:
        """The table."""
        return self.tables.cells

    def put(self, cells: Array | None) -> None:
        """Go on from a table, or from the beginning."""
        if cells is None:
            self.tables.cells[:] = 0
            return
        mine = self.tables.cells
        if cells.shape != mine.shape or cells.dtype != mine.dtype:
            raise InputError(
                f"blade {self.share.number}: {cells.size:,} cells ({cells.dtype}) where it has {mine.size:,} ({mine.dtype})"
            )
        mine[:] = cells

    def save(self, folder: str, facts: dict[str, Any]) -> None:
        """Write this blade's part of a checkpoint."""
        artifacts.write(self._place(folder), KIND, {"cells": self.tables.cells}, facts | self._owned())

    def load(self, folder: str, facts: dict[str, Any]) -> None:
        """Go on from this blade's part of a checkpoint; refused where it is of another moment or another share."""
        entries, arrays = artifacts.read(self._place(folder))
        for key, mine in (facts | self._owned()).items():
            if entries.get(key) != mine:
                value = shown(entries.get(key))
                raise InputError(f"{self._place(folder)}: {key} is {value}, not {mine}: of another checkpoint")
        self.put(arrays.take("cells", (self.tables.cells.dtype,), self.tables.cells.shape))

    def _place(self, folder: str) -> Path:
        return Path(folder) / f"blade-{self.share.number:04d}"

    def _owned(self) -> dict[str, Any]:
        return {"number": self.share.number, "public": [self.share.first, self.share.end]}


def flops_of(cards: CardAbstraction, first: int, end: int) -> kernels.Flops:
    """All flops of some public buckets, with counts for `kernels.avoid`."""
    public = cards.public
    assert public is not None
    everything = np.array(list(combinations(cards.deck.cards.tolist(), public.cards)), np.uint8)
    label = public.of(everything)
    mine = np.ascontiguousarray(everything[(label >= first) & (label < end)])
    if not len(mine):
        raise InputError(f"{cards.name}: no flop is in public buckets {first} to {end - 1}: use fewer blades")
    n = kernels.CARDS
    counts = np.zeros(n, np.int32), np.zeros(n * n, np.int32), np.zeros(n**3, np.int32)
    kernels.count_flops(mine, *counts)
    return kernels.Flops(mine, *counts)


def flops_avoiding(flops: kernels.Flops, hands: Array) -> Array:
    """|F|: flops that hold none of the cards of both hands. uint8 [deals, cards] -> int32 [deals]"""
    hands = np.ascontiguousarray(hands, np.uint8)
    out = np.zeros(len(hands), np.int32)
    kernels.avoid(flops, hands.reshape(-1), hands.shape[1], out)
    return out
