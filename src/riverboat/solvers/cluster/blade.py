"""A blade of a cluster: the tables of all later streets for some public buckets, and the traversals below the flop.

The algorithm is that of Brown, Ganzfried & Sandholm (2015). For sampling, a blade is one bucket of flops, however many
public buckets it owns. For each deal of the head it draws one of its flops that avoid the hands, uniformly, then the
later cards, and continues from where the head stopped. Its values are unbiased for the mean over its flops, and the
head weights them by |F|, the number of these flops.

Every deal visits every blade, so a flop of this blade is seen with probability 1/|F|, not one over all flops. |F|
depends on the dealt hands, and buckets hold many hands: increments are multiplied by |F| over its mean (`weighted`).
The paper's pseudocode omits this (`paper`), which matters little with 60 clusters of flops and a lot in small games.
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
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.engines.sampling._kernels import cluster as kernels
from riverboat.engines.threads import ThreadTeam
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr import tables as trainer_tables
from riverboat.solvers.mccfr.tables import LOOKUP_BLOCK, BucketTables, Pruning

KIND = "blade"
MODES = ("weighted", "paper")
_LINE = 16  # padding of per-thread counters, so that threads do not share a cache line


@dataclass(frozen=True)
class BladeAssignment:
    """The public buckets of a blade and its options."""

    number: int  # index of the blade
    first: int  # public buckets first … end - 1
    end: int
    threads: int = 1
    dtype: str = "float32"
    prune: Pruning | None = None
    mode: str = "weighted"


def assign_blades(cards: CardAbstraction, tree: ActionTree, blades: int, **common: Any) -> list[BladeAssignment]:
    """Divide the public buckets evenly among the blades; `common` are options of every `BladeAssignment`."""
    rules, public = tree.rules, cards.public
    if public is None:
        raise InputError(
            f"{cards.name} has no public buckets: a cluster needs an abstraction such as tartanian7, "
            "which clusters hands by the flop first"
        )
    if rules.rounds < 2 or public.cards != rules.board[1] or not 1 <= public.cards <= 3:
        raise InputError(
            f"{cards.name} has public buckets of {public.cards} cards: {rules.name} must deal as many, 1 to 3, "
            f"after the first round, but deals {rules.board}"
        )
    for r in range(1, rules.rounds):
        if len(cards.streets[r].first) != public.count + 1:
            raise InputError(f"{cards.name}, {rules.streets[r]}: hands of different public buckets share buckets")
    if not 1 <= blades <= public.count:
        raise InputError(f"{blades} blades: must be 1 to {public.count}, the number of public buckets of {cards.name}")
    parts = np.array_split(np.arange(public.count), blades)
    return [BladeAssignment(n, int(part[0]), int(part[-1]) + 1, **common) for n, part in enumerate(parts)]


class Blade:
    """Tables and traversals of one blade (worker): all streets after the first, for its public buckets."""

    def __init__(self, tree: ActionTree, cards: CardAbstraction, share: BladeAssignment) -> None:
        if share.mode not in MODES:
            raise unknown_name_error("mode", share.mode, MODES)
        self.team = ThreadTeam(share.threads)
        self.tree, self.cards, self.assignment = tree, cards, share
        owned = [(int(s.first[share.first]), int(s.first[share.end])) for s in cards.streets[1 : tree.rules.rounds]]
        self.rows = [(0, 0), *owned]  # by street: range of the abstraction's buckets on this blade
        self.tables = BucketTables(tree, [end - first for first, end in self.rows], share.dtype)
        game = trainer_tables.make_sampling_game(tree, cards, self.tables)
        offsets = self.tables.width * np.array([first for first, _ in self.rows], np.int64)
        self.game = game._replace(base=self.tables.base - offsets)
        self.flops = make_blade_flops(cards, share.first, share.end)
        deck, hole_cards, flop_cards = len(cards.deck.cards), 2 * cards.deck.hole, self.flops.cards.shape[1]
        # Mean of |F| over the hands, and its share of all flops that avoid the hands.
        self.mean_flops = len(self.flops.cards) * comb(deck - flop_cards, hole_cards) / comb(deck, hole_cards)
        self.share_of_flops = self.mean_flops / comb(deck - hole_cards, flop_cards)
        group = trainer_tables.DealGroup(self.game.nodes)
        scale = 1 / self.mean_flops if share.mode == "weighted" else 0.0
        self._part = kernels.BladePart(self.flops, share.number, scale)
        workspaces = [
            kernels.BladeWorkspace(group.make_notes(), trainer_tables.empty_journal(), np.zeros(LOOKUP_BLOCK, np.int64))
            for _ in range(share.threads)
        ]
        self._workspaces = [(trainer_tables.make_block(self.game, LOOKUP_BLOCK), workspace) for workspace in workspaces]

    # --- training --------------------------------------------------------------------------------------

    def value(self, batch: kernels.ContinuationBatch) -> tuple[Array, Array, int]:
        """Compute values of a batch's continuations by external sampling from the flop on, and update the tables.

        Returns the traverser's value of each continuation, float32 [continuations], zero if the dealt hands block all
        flops of this blade; |F|, the number of its flops that they do not block, int32 [deals]; and the number of
        decisions visited.
        """
        batch = kernels.ContinuationBatch(*(np.array(part) for part in batch))  # arrays from messages may be read-only
        values, counts = np.zeros(len(batch.root), np.float32), np.zeros(len(batch.keys), np.int32)
        turn, tally = np.zeros(1, np.int64), np.zeros((self.assignment.threads, _LINE), np.int64)
        rule = trainer_tables.update_rule(self.tables, self.assignment.prune)

        def run(thread: int) -> None:
            arguments = self.game, self.cards.lookup, self.tables.cells, self._part, batch, rule, turn
            answer = kernels.BladeAnswer(values, counts, tally[thread, :2])
            kernels.value_continuations(*arguments, *self._workspaces[thread], answer)

        self.team.run(run)
        return values, counts, int(tally.sum())

    def discount(self, positive: float, negative: float, decay: float, seed: int) -> None:
        """Multiply positive and negative regrets and averages by factors; `seed` is for random rounding."""
        self.tables.discount(positive, negative, decay, seed, self.team)

    # --- strategies ---------------------------------------------------------------------

    def strategies(self, street: int, rows: Array, averages: bool) -> Array:
        """Return average or current strategies of the buckets `rows` of a street. float32 [rows, width]

        `rows` are indices of buckets in the whole abstraction; this blade must own them.
        """
        return self.tables.strategies(street, rows - self.rows[street][0], averages=averages)

    def survey(self, rows: int | None) -> tuple[Array, Array]:
        """Count visited information sets by street, and sum their largest regrets by seat, scaled to the whole game.

        With `rows`, only that many evenly spaced buckets of a street are read (`BucketTables.sampled_regret`).
        """
        return self.tables.sampled_regret(rows, self.share_of_flops)

    # --- state -------------------------------------------------------------------------------------

    def cells(self) -> Array:
        """Return all cells of the table, regrets and averages, without a copy."""
        return self.tables.cells

    def put(self, cells: Array | None) -> None:
        """Replace all cells of the table, or reset them to zero if `cells` is None."""
        self.tables.put(cells, f"blade {self.assignment.number}")

    def save(self, folder: str, facts: dict[str, Any]) -> None:
        """Write this blade's part of a checkpoint."""
        artifacts.write(self._part_folder(folder), KIND, {"cells": self.tables.cells}, facts | self._assignment_facts())

    def load(self, folder: str, facts: dict[str, Any]) -> None:
        """Restore this blade's part of a checkpoint.

        Raises InputError if the part has other `facts`, such as the iteration, or another assignment.
        """
        entries, arrays = artifacts.read(self._part_folder(folder))
        for key, expected in (facts | self._assignment_facts()).items():
            if entries.get(key) != expected:
                value = short_repr(entries.get(key))
                raise InputError(
                    f"{self._part_folder(folder)}: {key} is {value}, not {expected}: part of another checkpoint"
                )
        self.put(arrays.get_checked("cells", (self.tables.cells.dtype,), self.tables.cells.shape))

    def _part_folder(self, folder: str) -> Path:
        return Path(folder) / f"blade-{self.assignment.number:04d}"

    def _assignment_facts(self) -> dict[str, Any]:
        return {"number": self.assignment.number, "public": [self.assignment.first, self.assignment.end]}


def make_blade_flops(cards: CardAbstraction, first: int, end: int) -> kernels.BladeFlops:
    """List all flops of some public buckets, with counts for sampling flops that avoid given cards."""
    public = cards.public
    assert public is not None
    all_flops = np.array(list(combinations(cards.deck.cards.tolist(), public.cards)), np.uint8)
    label = public.buckets(all_flops)
    flops = np.ascontiguousarray(all_flops[(label >= first) & (label < end)])
    if not len(flops):
        raise InputError(f"{cards.name}: public buckets {first} to {end - 1} have no flops: use fewer blades")
    return kernels.count_flops(flops)
