"""Counterfactual regret minimisation: any schedule, any traversal, any tree. The caller may own the loop.

solver = CFR(tree, "dcfr")
while solver.exploitability() > 1e-3:
    solver.step(100)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from riverboat.core.errors import InputError, MemoryLimitError, shown
from riverboat.core.formatting import show_bytes
from riverboat.core.resources import available_memory
from riverboat.games.base import Array
from riverboat.solvers import schedules, traversals
from riverboat.solvers.schedules import AnySchedule
from riverboat.solvers.tabular import best_response, rules
from riverboat.solvers.tabular._kernels import traversal as _kernels
from riverboat.solvers.tabular.threads import Walker
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.public import PublicTree

DTYPES = ("float64", "float32")
ROUNDING = 1e-14  # of the largest pay-off
BATCH = 65_536  # iterations in one compiled call


def check_dtype(dtype: str) -> None:
    """Raise unless tables can be of this kind."""
    if dtype not in DTYPES:
        raise InputError(f"dtype {shown(dtype)}: one of {', '.join(DTYPES)}")


def table_bytes(tree: Tree, schedule: AnySchedule, dtype: str = "float64") -> int:
    """Memory that a solver's tables will take."""
    check_dtype(dtype)
    return tables_of(schedule, shared=tree.shared) * tree.table * np.dtype(dtype).itemsize


def tables_of(schedule: AnySchedule, *, shared: bool) -> int:
    """How many tables a schedule learns in; `shared`: several nodes have one information set."""
    tables = 2 + schedule.predictive + shared
    return tables if schedule.alternating else tables + 1 + schedule.predictive


def _noise(tree: Tree, dtype: str) -> float:
    """Regrets up to this come from rounding alone.

    Actions often tie exactly, above all in the first iterations. Regret matching would turn a difference of 1e-18 into
    a pure strategy, and runs would depend on the order of additions. Single precision has no room for such a bound.
    """
    if dtype != "float64":
        return 0.0
    largest = max(
        max(float(np.abs(side.pay).max(initial=0.0)), float(np.abs(side.matrix).max(initial=0.0)))
        * float(side.weight_opp.sum())
        for side in tree.sides
    )
    return ROUNDING * largest


class CFR:
    """The state of a run: regrets, averages, clock and random state.

    A sampled run applies the discounts of its schedule to the whole table once every `tick` iterations; its
    clock counts ticks. Full runs apply them every iteration.
    """

    finished = False  # there is always another iteration

    def __init__(
        self,
        tree: Tree,
        schedule: str | AnySchedule = "dcfr",
        traversal: str | traversals.Traversal = "full",
        *,
        seed: int = 0,
        threads: int = 1,
        dtype: str = "float64",
        tick: int | None = None,
        epsilon: float = 0.6,
    ) -> None:
        check_dtype(dtype)
        if seed < 0:
            raise InputError(f"seed {seed}: must not be negative")
        if not 0 < epsilon <= 1:
            raise InputError(f"epsilon={epsilon:g}: exploration must be above 0 and at most 1")
        if tick is not None and tick < 1:
            raise InputError(f"tick={tick}: must be at least one iteration")
        self.tree, self.dtype, self.epsilon = tree, dtype, epsilon
        self.schedule = schedules.without_stakes(schedules.parse(schedule), tree.name)
        self.traversal = traversals.parse(traversal)
        traversals.check(tree, self.traversal)
        # With no public chance to sample, PCS is the full walk.
        self._full = not self.traversal.sampled or (self.traversal.name == "pcs" and not np.any(tree.nodes.actor == -1))
        self.noise = _noise(tree, dtype)
        self.tick = tick or max(1, tree.infoset_count // 10)
        self.iteration = 0
        self.seed, self.threads = seed, threads
        self.rng = np.array([np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]], np.uint64)
        self._kernels = rules.kernels(self.schedule, dtype)
        self._walker = Walker(tree, dtype, threads, self._kernels)
        self._sampler = traversals.sampler(tree, self.traversal)
        self._blocks = traversals.blocks(tree)
        self._allocate()

    def _allocate(self) -> None:
        need, free = table_bytes(self.tree, self.schedule, self.dtype), available_memory()
        if free is not None and need > free:
            raise MemoryLimitError(
                f"{self.tree.name}: the tables need {show_bytes(need)} and {show_bytes(free)} are free; "
                f"{'float32 halves them' if self.dtype == 'float64' else 'use a larger machine'}"
            )
        self.regret = np.zeros(self.tree.table, self.dtype)
        self.average_sums = np.zeros(self.tree.table, self.dtype)
        self.prediction = np.zeros(self.tree.table if self.schedule.predictive else 0, self.dtype)
        delta = np.zeros(self.tree.table if self.tree.shared else 0, self.dtype)
        apart = not self.schedule.alternating and self._full  # the opponent is read from a copy
        seen = self.regret.copy() if apart else self.regret
        seen_prediction = self.prediction.copy() if apart else self.prediction
        self.tables = tuple(
            _kernels.RegretTables(
                self._rows(self.regret, me),
                self._rows(self.average_sums, me),
                self._rows(self.prediction, me),
                self._rows(delta, me),
                self._rows(seen, self._other(me)),
                self._rows(seen_prediction, self._other(me)),
                self._rows(self.average_sums, self._other(me)),
            )
            for me in range(self.tree.players)
        )

    def _rows(self, table: Array, player: int) -> Array:
        hands = self.tree.hand_counts[player] if isinstance(self.tree, PublicTree) else 1
        return self.tree.views(table)[player] if len(table) else np.zeros((0, hands), self.dtype)

    def _other(self, player: int) -> int:
        return (player + 1) % self.tree.players

    # --- learning ---------------------------------------------------------------------------

    def step(self, count: int = 1) -> None:
        """Run `count` iterations: one walk for each player, each."""
        if count < 0:
            raise InputError(f"step({count}): must not be negative")
        if not self._full:
            self._sampled(count)
        elif self._walker.threads == 1:
            for done in range(0, count, BATCH):
                self._full_walks(self.iteration + 1 + done, min(BATCH, count - done))
        else:
            for t in range(self.iteration + 1, self.iteration + 1 + count):
                self._threaded(np.array([*self.schedule.step(t), self.noise]))
        self.iteration += count

    def warm(self) -> None:
        """Compile now what the first step would compile, so that clocks measure solving alone."""
        if not self._full:
            self._sampled_walks(np.array([1.0, 1.0, 0.0, 1.0, 1.0, self.noise]), 0)
        else:
            self._full_walks(0, 0)

    def _full_walks(self, first: int, count: int) -> None:
        steps = np.column_stack([self.schedule.steps(first, count), np.full(count, self.noise)])
        self._kernels.full_iterations(
            self.tree.nodes, self.tree.sides, self._blocks, self.tables, steps,
            not self.schedule.alternating, self.tree.shared, self.rng, self._walker.no_cuts, tuple(self._walker.room),
        )  # fmt: skip

    def _threaded(self, step: Array) -> None:
        if not self.schedule.alternating:
            for me in (0, 1):
                self.tables[me].opp_regret[:] = self.tables[1 - me].regret
                self.tables[me].opp_prediction[:] = self.tables[1 - me].prediction
        for me in (0, 1):
            self._walker.walk(me, self.tables[me], _kernels.LEARN, step)

    def _sampled(self, count: int) -> None:
        done = 0
        while done < count:
            some = count - done
            if self.schedule.discounts:
                some = min(some, self.tick - (self.iteration + done) % self.tick)
            clock = (self.iteration + done) // self.tick + 1
            floor = self.schedule.step(clock).floor
            self._sampled_walks(np.array([1.0, 1.0, floor, 1.0, float(clock), self.noise]), some)
            done += some
            if self.schedule.discounts and (self.iteration + done) % self.tick == 0:
                after = self.schedule.step(clock + 1)
                self._kernels.discount_table(
                    self.average_sums.reshape(-1, 1), self.regret.reshape(-1, 1),
                    after.positive, after.negative, after.decay,
                )  # fmt: skip

    def _sampled_walks(self, step: Array, count: int) -> None:
        tree, room = self.tree, tuple(self._walker.room)
        held = np.zeros(tree.players, np.int64)
        common = tree.nodes, tree.sides, self._sampler, self.tables, step, count
        if self.traversal.name == "external":
            self._kernels.external_iterations(*common, self.rng, held, room)
        elif self.traversal.name == "outcome":
            self._kernels.outcome_iterations(*common, self.epsilon, self.rng, held, room)
        else:
            self._kernels.public_iterations(*common, tree.shared, self.rng, self._walker.no_cuts, room)

    @staticmethod
    def describe(schedule: str | AnySchedule, traversal: str | traversals.Traversal) -> tuple[str, str]:
        """How a schedule and a traversal are written in provenance."""
        return str(schedules.parse(schedule)), traversals.parse(traversal).name

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """What a checkpoint holds."""
        arrays = {"regret": self.regret, "average": self.average_sums}
        if len(self.prediction):
            arrays["prediction"] = self.prediction
        return arrays, {
            "iteration": self.iteration,
            "rng": str(int(self.rng[0])),
            "nodes": self.nodes_touched,
            "tick": self.tick,
            "epsilon": self.epsilon,
        }

    def restore(self, arrays: Mapping[str, Array], state: Mapping[str, Any]) -> None:
        """Take up the state of a checkpoint."""
        self.regret[:] = arrays["regret"]
        self.average_sums[:] = arrays["average"]
        if len(self.prediction):
            self.prediction[:] = arrays["prediction"]
        self.iteration = int(state["iteration"])
        self.rng[0] = int(state["rng"])
        self._walker.room[0].visits[0] = int(state["nodes"])

    # --- reading ----------------------------------------------------------------------------

    @property
    def nodes_touched(self) -> int:
        """Nodes entered so far."""
        return sum(int(room.visits[0]) for room in self._walker.room)

    def average_provenance(self) -> dict[str, Any]:
        """Where the average strategy comes from."""
        return {
            "game": self.tree.name,
            "method": "cfr",
            "schedule": str(self.schedule),
            "traversal": self.traversal.name,
            "iterations": self.iteration,
            "seed": self.seed,
            "dtype": self.dtype,
        }

    @property
    def averages(self) -> Array:
        """The table that the average strategy is read from."""
        return self.average_sums

    def average(self, table: Array | None = None, iteration: int | None = None) -> Strategy:
        """The average strategy, which converges; with `table` and `iteration`, that of an earlier copy of the averages."""
        if table is None:
            return Strategy.from_sums(self.tree, self.average_sums, self.average_provenance())
        return Strategy.from_sums(self.tree, table, {**self.average_provenance(), "iterations": iteration})

    def current(self) -> Strategy:
        """The last iterate: what the regrets play now."""
        out = np.zeros(self.tree.table)
        clock = float(self.iteration + 1 if self._full else self.iteration // self.tick + 1)
        for me, rows in enumerate(self.tree.views(out)):
            self._kernels.current_strategy(self.tree.nodes, me, self.tables[me], clock, rows)
        return Strategy(self.tree, out, {**self.average_provenance(), "iterate": "last"})

    def quality(self) -> best_response.Quality:
        """Best-response values and values of the average strategy, without copying it."""
        return best_response.quality_of_sums(self.tree, self.average_sums, self.threads)

    def exploitability(self) -> float:
        """Half of NashConv of the average strategy, in the game's unit."""
        return self.quality().exploitability
