"""Sampled CFR in whole games of hold'em, measured exactly: the samplers of blueprints, and the walk over boards.

Learning is that of `bucket_sampling`: one deal or one board in an iteration, over all hands or over buckets. For a check the
averages are written to the boards of the game, where best responses take a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless
from riverboat.cards.deck import HAND_CARDS
from riverboat.compiled.hugepages import zeros
from riverboat.core.errors import InputError, unknown
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.tables import BEHIND
from riverboat.games.base import Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.full_holdem import Holdem, holdem
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.solvers import schedules
from riverboat.solvers.boards.cfr import quality_of
from riverboat.solvers.mccfr.samplers import make_blueprint
from riverboat.solvers.mccfr.tables import BLOCK, Weighting
from riverboat.solvers.schedules import AnySchedule, Schedule
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.blueprint_game import write_street
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

SAMPLERS = ("chance", "external", "opcs", "spcs", "pcs")
PERIOD = 1 << 20  # deals between two discounts, at most


class SampledBoards:
    """A sampled run on a `BoardTree`. One thread gives the same run for a seed; several race.

    Discounts of the schedule are applied once a period: as many iterations as there are boards where a board is drawn, and
    a tenth of the information sets where a deal is.
    """

    finished = False  # there is always another iteration

    def __init__(
        self,
        tree: BoardTree,
        schedule: str | AnySchedule = "dcfr",
        traversal: str = "pcs",
        *,
        seed: int = 0,
        threads: int = 1,
        dtype: str = "float32",
        cards: CardAbstraction | None = None,
    ) -> None:
        game = tree.game
        if not isinstance(game, Holdem):
            raise InputError(f"{tree.name}: traversal {traversal!r}: boards are walked in full")
        if traversal not in SAMPLERS:
            raise unknown(f"traversal of {tree.name}", traversal, ("full", *SAMPLERS))
        self.tree, self.dtype, self.seed, self.threads = tree, dtype, seed, threads
        self.schedule = schedules.without_stakes(schedules.parse(schedule), f"traversal {traversal!r}")
        self.traversal, self.cards = traversal, cards
        boards = tree.street_at[-1] - tree.street_at[-2]
        period = boards if traversal in ("opcs", "spcs", "pcs") else min(tree.infoset_count // 10, PERIOD)
        self.actions = compile_actions(game.rules, game.menu)
        self.blueprint = make_blueprint(
            self.actions,
            lossless(tuple(game.deals), game.deck) if cards is None else cards,
            traversal,
            seed=seed,
            threads=threads,
            weighting=Weighting(_weights(self.schedule), max(period, BLOCK)),
            dtype=dtype,
        )
        self._filled_at = -1

    # --- learning ---------------------------------------------------------------------------

    @property
    def iteration(self) -> int:
        """Deals or boards so far: whole blocks of 64."""
        return self.blueprint.iterations

    def step(self, count: int = 1) -> None:
        """Run at least `count` iterations."""
        self.blueprint.step(count)

    def warm(self) -> None:
        """Compile the loops, on a game of a few hands: the clock of a run does not count that."""
        few = BoardTree(holdem("2-1", ranks=4, suits=2))
        SampledBoards(few, "vanilla", self.traversal, threads=self.threads, dtype=self.dtype).step(1)

    # --- checkpoints ------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """What a checkpoint holds."""
        return {**self.blueprint.state(), "average": self.averages}, {"iteration": self.iteration}

    def restore(self, arrays: Mapping[str, Array], state: Mapping[str, Any]) -> None:
        """Take up the state of a checkpoint."""
        self.blueprint.restore(arrays)
        self._filled_at = -1

    # --- reading ----------------------------------------------------------------------------

    @property
    def nodes_touched(self) -> int:
        """Decisions visited."""
        return self.blueprint.updates

    def average_provenance(self) -> dict[str, Any]:
        """Where the average strategy comes from."""
        return {
            "game": self.tree.name,
            "method": "cfr",
            "schedule": str(self.schedule),
            "traversal": self.traversal,
            "iterations": self.iteration,
            "seed": self.seed,
            "dtype": self.dtype,
            **({} if self.cards is None else {"cards": self.cards.name, "cards_fingerprint": self.cards.fingerprint}),
        }

    @property
    def averages(self) -> Array:
        """The average strategy at every hand on every board. float32 [table]"""
        if self._filled_at != self.iteration:
            for street in range(self.tree.streets):
                self._fill(street)
            self._filled_at = self.iteration
        return self._table

    @cached_property
    def _table(self) -> Array:
        return zeros(self.tree.table + BEHIND, np.float32)

    @cached_property
    def _reader(self) -> BoardWalker:
        return BoardWalker.reader(self.tree, self._table, self.threads)

    @cached_property
    def _buckets(self) -> list[Array]:
        """Of the hands that stand for the rows of a street's boards, board after board. int32 [rows] each"""
        tree, cards, buckets = self.tree, self.blueprint.cards, []
        for street in range(tree.streets):
            boards = range(tree.street_at[street], tree.street_at[street + 1])
            shown = np.array([tree.deals.cards(b) for b in boards], np.uint8)  # one deal: their order says nothing
            hands = np.concatenate([tree.reps(b, 0) for b in boards])
            lie = np.repeat(shown, tree.rows[boards.start : boards.stop, 0], axis=0)
            dealt = np.concatenate([HAND_CARDS[hands], lie], axis=1).astype(np.uint8)
            buckets.append(cards.buckets(dealt, check=False)[:, 0, -1].astype(np.int32))
        return buckets

    def _fill(self, street: int) -> None:
        """Write what buckets play on a street as what hands play."""
        columns = np.concatenate([self._columns(street, seat) for seat in (0, 1)])
        played = self.blueprint.averages(street)
        write_street(self.tree, street, played, columns, self._buckets[street], self._table, self.threads)

    def _columns(self, street: int, seat: int) -> Array:
        """Where a seat's moves on a street stand in the rows of buckets, in the order of the boards' tables. int32 [moves]"""
        forest = self.tree.forest
        low, high = forest.first[street : street + 2].tolist()
        mine = low + np.flatnonzero(forest.actor[low:high] == seat)
        slots = self.actions.slot[self._nodes[forest.node[mine]]]
        pieces = [np.arange(slot, slot + width) for slot, width in zip(slots, forest.width[mine], strict=True)]
        return np.concatenate(pieces or [np.zeros(0)]).astype(np.int32)

    @cached_property
    def _nodes(self) -> Array:
        """The node of the flat tree that each node of the nested one is; deals have none of their own. int64 [nodes]"""
        betting, nodes, work = self.tree.betting, np.zeros(len(self.tree.betting.actor), np.int64), [(0, 0)]
        while work:
            node, flat = work.pop()
            nodes[node] = flat
            work += _below(betting, node, flat, self.actions.first)
        return nodes

    def average(self, table: Array | None = None, iteration: int | None = None) -> Solution:
        """The average strategy; with `table` and `iteration`, what an earlier copy of the averages stood for."""
        if table is None:
            return Solution(self.tree, self.averages, self.average_provenance())
        return Solution(self.tree, table, {**self.average_provenance(), "iterations": iteration})

    def quality(self) -> Quality:
        """Best-response values and values of the average strategy, in the tree's unit."""
        _ = self.averages
        return quality_of(self._reader)

    def exploitability(self) -> float:
        """Half of NashConv of the average strategy, in the tree's unit."""
        return self.quality().exploitability


def _below(betting: BettingTree, node: int, flat: int, first: Array) -> list[tuple[int, int]]:
    """Children of a node in both trees. A deal is the same node of the flat tree as what follows it."""
    if betting.actor[node] < 0:
        return [(child, flat) for child in betting.children(node)]
    return [(child, int(first[flat]) + k) for k, child in enumerate(betting.children(node))]


def _weights(schedule: AnySchedule) -> Schedule:
    """A schedule as periods apply it: a floor of zero is taken at the end of each, which no theory covers."""
    if not isinstance(schedule, Schedule) or schedule.predictive:
        raise InputError(f"schedule {schedule}: sampled boards take vanilla, linear, dcfr, or cfr+ without a theory")
    if schedule.floored:
        return Schedule(schedule.name, schedule.alpha, -schedules.NEVER, schedule.gamma)
    return schedule
