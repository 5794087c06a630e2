"""Blueprints: external-sampling MCCFR over a betting tree × buckets of cards.

An iteration is one deal, walked twice, with each seat as traverser (Lanctot et al. 2009); the opponent's average grows where
its moves are drawn. Deals are walked in groups with the strategy of the group's start: both traversers answer the same
profile, so that samples are unbiased, and the time that memory takes is hidden.

    rules = read_game("leduc")
    solver = Blueprint(compile_actions(rules), lossless(rules.board[1:], rules.deck), seed=1)
    solver.step(1_000_000)
    solver.average(0, bucket=2)      # the opening with the third bucket: probabilities of the moves

Tables are bucket-major and hold 8 bytes an infoset-action, or 4: `16-bit`. Modes: `racing`, in which many threads write to
the same tables without locks, as on the blades of Brown, Ganzfried & Sandholm (2015), and one thread gives the same result
for a seed; `deterministic`, in which increments of a batch wait and are added in a fixed order: the same result on any
number of threads. Batches end at fixed iterations, so a run depends on its seed and its end, and not on its steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads, unknown
from riverboat.engines.sampling._kernels import external as kernels
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr import workspace
from riverboat.solvers.mccfr.tables import BLOCK, BucketTables, Weighting, as_weighting, exact_weight, make_game
from riverboat.solvers.mccfr.tables import Pruning as Pruning

MODES = ("racing", "deterministic")
MOST_RUNOUTS = 1000
_JOURNALS = 1 << 28  # bytes of a batch's journals
_LEAST_APART, _MOST_APART = 4, 64  # blocks between two exchanges of copies
_LINE = 16  # numbers of a thread lie so far apart that no other thread writes to their cache lines


class Blueprint:
    """A blueprint in training."""

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        seed: int = 0,
        threads: int = 1,
        mode: str = "racing",
        weighting: str | Weighting = "none",
        prune: Pruning | None = None,
        dtype: str = "float32",
        batch: int = 1024,
        runouts: int = 0,
    ) -> None:
        if mode not in MODES:
            raise unknown("mode", mode, MODES)
        check_threads(threads)
        if batch < 1:
            raise InputError(f"batch={batch}: deals that wait together in the deterministic mode, at least 1")
        if not 0 <= runouts <= MOST_RUNOUTS:
            raise InputError(
                f"runouts={runouts}: boards that an all-in is paid on, 0 to {MOST_RUNOUTS}; 0: the dealt one"
            )
        self.tree, self.cards, self.seed = tree, cards, seed
        self.mode, self.threads = mode, threads
        self.tables = BucketTables(tree, cards.counts, dtype, threads if mode == "racing" and threads > 1 else 0)
        self.game = make_game(tree, cards, self.tables, runouts)
        self.weighting, self.pruning = as_weighting(weighting), prune
        self.iterations = 0
        self.updates = 0  # decisions visited, by traversers and opponents
        self.weight = 0.0  # of all iterations together, as discounted
        self.payoff = np.zeros(2)  # sums of what each seat won as traverser, undiscounted
        self._need = workspace.most_need(self.game.nodes, len(tree))
        self.group = workspace.fitting_group(self._need)
        self._places = [
            (workspace.make_block(self.game, BLOCK), workspace.make_notes(self._need, self.group))
            for _ in range(self.threads)
        ]
        self._journals = self._make_journals(batch) if mode == "deterministic" else workspace.no_journal()

    # --- training ----------------------------------------------------------------------------------

    def step(self, iterations: int) -> None:
        """Train for at least so many iterations: whole blocks of 64, or whole batches in the deterministic mode.

        One long step and many short ones are the same run.
        """
        if iterations < 0:
            raise InputError(f"{iterations} iterations: must not be negative")
        target = -(-(self.iterations + iterations) // BLOCK) * BLOCK
        while self.iterations < target:
            period = self.weighting.period
            begin = self.iterations // period * period if self.weighting.discounts else 0
            end = target if self.mode == "racing" else self._end_of_batch(begin)
            if self.weighting.discounts:
                end = min(end, begin + period)
            (self._race if self.mode == "racing" else self._wait)(end)
            self.weight += end - self.iterations
            self.iterations = end
            if self.weighting.discounts and end % period == 0:
                self._discount(end // period + 1)

    def _end_of_batch(self, begin: int) -> int:
        """Return the iteration at which the current batch ends. Batches are counted from `begin`, the start of the period.

        It must not depend on where a step ends: the strategy changes when the increments of a batch are added.
        """
        size = len(self._journals.used) * self.group
        return begin + ((self.iterations - begin) // size + 1) * size

    def _race(self, end: int) -> None:
        """Threads take deals in turn, each with a copy of the first street.

        All threads write to the few rows of the first street on every deal. Without copies its cache lines travel between
        cores all the time: two threads were 1.2 times as fast as one.
        """
        tables = self.tables
        tally, payoff = np.zeros((self.threads, _LINE), np.int64), self._payoffs(_LINE)
        begin = self.iterations
        while begin < end:
            stop = min(end, max(begin + 1024, 2 * begin))  # what has been learnt decides how long copies may differ
            every = self._apart(begin)
            hot = tables.hot if every else 0
            shared = *self._given(begin, stop)[1:], self._journals

            def go(thread: int, given: Any = shared, hot: int = hot, every: int = every) -> None:
                mine = len(tables.cells) + 2 * thread * hot
                game = self.game._replace(base=np.where(tables.base < hot, tables.base + mine, tables.base))
                mine_done = kernels.Tally(tally[thread, :2], payoff[thread, :2])
                kernels.train(game, *given, *self._places[thread], kernels.Hot(hot, mine, every), mine_done)

            self._spread(go)
            begin = stop
        self._count(tally[:, :2], payoff[:, :2])

    def _payoffs(self, columns: int) -> Array:
        """Running sums of what both seats have won, for each thread; the first goes on from those of the run.

        So one thread adds the same numbers in the same order, however its steps are cut. float64 [threads, columns]
        """
        sums = np.zeros((self.threads, columns))
        sums[0, :2] = self.payoff / self.tables.unit  # a power of two: exact
        return sums

    def _apart(self, iterations: int) -> int:
        """Blocks that a thread walks before it exchanges its copy of the first street; 0: too few for a copy to pay.

        Regrets of a row grow like the root of its visits. What a row learns elsewhere in the meantime is kept to a part of
        that: a row is visited twice in as many deals as there are rows.
        """
        if not self.tables.hot:
            return 0
        deals = math.isqrt(iterations * self.tables.counts[0] // 2) // 4
        every = deals // self.threads // BLOCK
        return min(every, _MOST_APART) if every >= _LEAST_APART else 0

    def _wait(self, end: int) -> None:
        """Walk one batch and add its increments."""
        groups = len(self._journals.used)
        done = kernels.Tally(np.zeros((groups, 2), np.int64), np.zeros((groups, 2)))
        given = *self._given(self.iterations, end), self._journals
        count = -(-(end - self.iterations) // self.group)

        def gather(thread: int) -> None:
            kernels.collect(*given, *self._places[thread], done)

        def add(thread: int) -> None:
            kernels.apply(self.tables.everything, self._journals, count, self._rule.floor, thread, self.threads)

        self._spread(gather)
        self._spread(add)
        self._count(done.decisions, np.vstack([self.payoff / self.tables.unit, done.payoff]))

    def _given(self, begin: int, end: int) -> tuple[Any, ...]:
        return self.game, self.cards.look, self.tables.everything, self._deals(begin, end), self._rule

    def _deals(self, begin: int, end: int) -> kernels.Deals:
        """Some deals of the run, all of them still to be taken."""
        return kernels.Deals(np.uint64(self.seed % 2**64), begin, end, np.zeros(1, np.int64))

    @property
    def _rule(self) -> kernels.Rule:
        return workspace.rule_of(self.tables, self.pruning)

    def _count(self, tally: Array, payoff: Array) -> None:
        """Note decisions that were visited, and the sums of payoffs, those of the run so far among them."""
        self.updates += int(tally.sum())
        self.payoff = payoff.sum(axis=0) * self.tables.unit

    def _discount(self, period: int) -> None:
        """Tables at the start of a period, in the words of `schedules`."""
        factors = self.weighting.factors(period)
        if factors is not None:
            positive, negative, decay = factors
            self._spread(lambda t: self.tables.discount(positive, negative, decay, self.iterations, t, self.threads))
            self.weight = exact_weight(self.weight * positive)

    def _spread(self, task: Callable[[int], None]) -> None:
        if self.threads == 1:
            task(0)
        else:
            list(self._pool.map(task, range(self.threads)))

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads)

    def _make_journals(self, batch: int) -> kernels.Journal:
        """Allocate journals for as many groups as a batch has, or memory holds. Batches fill blocks, or divide them."""
        entries, moves = int(self._need[0] + self._need[1]) * self.group, int(self.tree.count.max())
        groups = max(1, min(-(-batch // self.group), _JOURNALS // (16 * entries + 4 * entries * moves)))
        whole = BLOCK // self.group  # groups of a block
        groups = groups // whole * whole if groups >= whole else 1 << groups.bit_length() - 1
        return workspace.make_journals(self._need, self.group, moves, groups)

    # --- what has been learned ---------------------------------------------------------------------

    def average(self, node: int, bucket: int) -> Array:
        """The average strategy at a decision: probabilities of its moves. float32 [moves]"""
        return self.tables.strategy(node, bucket, averages=True)

    def current(self, node: int, bucket: int) -> Array:
        """What regret matching plays there now. float32 [moves]"""
        return self.tables.strategy(node, bucket, averages=False)

    def averages(self, street: int, rows: Array | None = None) -> Array:
        """The average strategy of a street, for all buckets or some. float32 [buckets, width]

        The moves of a decision lie from its slot in `tree.slot` on.
        """
        return self.tables.strategies(street, rows, averages=True)

    def touched(self) -> tuple[int, ...]:
        """Information sets that have been visited, by street."""
        return tuple(self.tables.survey(street)[0] for street in range(len(self.tables.base)))

    def regret(self, rows: int = 4096) -> tuple[float, float]:
        """An estimate of each seat's average regret, in chips a hand: the sum over its information sets of the largest
        regret, over the weight of all iterations. It bounds the sampled regret from above, and falls with training.

        At most so many buckets of a street are read, evenly spread, and stand for all.
        """
        total = np.zeros(2)
        for street, buckets in enumerate(self.tables.counts):
            chosen = np.linspace(0, buckets - 1, min(rows, buckets)).astype(np.int64)
            total += self.tables.survey(street, chosen)[1] * (buckets / len(chosen))
        first, second = total / max(self.weight, 1.0)
        return float(first), float(second)

    @property
    def value(self) -> float:
        """What seat 0 has won a hand on average over the run, as traverser and as opponent."""
        return float(self.payoff[0] - self.payoff[1]) / 2 / max(self.iterations, 1)

    # --- state -------------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        """All that is needed to go on. The table itself, not a copy."""
        numbers = np.array([self.iterations, self.updates], np.int64)
        return {
            "cells": self.tables.cells,
            "numbers": numbers,
            "seed": np.array([self.seed % 2**64], np.uint64),
            "sums": np.array([self.weight, *self.payoff]),
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a state: on one thread, or in the deterministic mode, exactly as if nothing had happened."""
        cells = state["cells"]
        if cells.shape != self.tables.cells.shape or cells.dtype != self.tables.cells.dtype:
            mine = self.tables.cells
            raise InputError(
                f"state of {cells.size:,} cells ({cells.dtype}): this game and abstraction have {mine.size:,} ({mine.dtype})"
            )
        self.tables.cells[:] = cells
        self.iterations, self.updates = (int(n) for n in state["numbers"])
        self.seed = int(state["seed"][0])
        self.weight = float(state["sums"][0])
        self.payoff = np.array(state["sums"][1:], float)
