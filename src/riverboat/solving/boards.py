"""Counterfactual regret minimisation on betting × boards: spots and whole hold'em games.

The same schedules as everywhere (`riverboat.solving.schedules`). The average is kept as a mean, not as a sum, so that it fits
into sixteen bits; what it stands for is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from riverboat.errors import InputError, MemoryLimitError, shown
from riverboat.games.base import Array
from riverboat.memory import available_memory
from riverboat.solving import rules, schedules
from riverboat.solving.response import Quality
from riverboat.solving.schedules import AnySchedule
from riverboat.strategy.locks import lock_arrays
from riverboat.strategy.solution import Solution
from riverboat.trees.boards import BoardTree
from riverboat.walks.board_walk import EVALUATE, RESPOND, BoardWalker, Tables
from riverboat.words import show_bytes

BEHIND = 16  # numbers behind the end of a table: vectors are read whole


class Format(NamedTuple):
    """What tables are kept in, and what is computed in."""

    regret: str
    average: str
    work: str

    @property
    def bytes(self) -> int:
        """For one information set and action."""
        return np.dtype(self.regret).itemsize + np.dtype(self.average).itemsize


FORMATS = {
    "compact": Format("float32", "uint16", "float32"),
    "16-bit": Format("int16", "uint16", "float32"),
    "float32": Format("float32", "float32", "float32"),
    "float64": Format("float64", "float64", "float64"),
}


def table_format(name: str) -> Format:
    """A format by name."""
    if name not in FORMATS:
        raise InputError(f"dtype {shown(name)}: one of {', '.join(FORMATS)}")
    return FORMATS[name]


def table_bytes(tree: BoardTree, schedule: AnySchedule, dtype: str = "compact") -> int:
    """Memory that a solver's tables will take."""
    form = table_format(dtype)
    more = schedule.predictive + (not schedule.alternating) * (1 + schedule.predictive)
    return tree.table * (form.bytes + more * np.dtype(form.regret).itemsize)


class BoardCFR:
    """The state of a run on a `BoardTree`: regrets, averages and clock. Bitwise equal on any number of threads."""

    def __init__(
        self,
        tree: BoardTree,
        schedule: str | AnySchedule = "dcfr",
        *,
        threads: int = 1,
        dtype: str = "compact",
        memory: int | None = None,
    ) -> None:
        self.tree, self.dtype, self.seed = tree, dtype, 0
        self.schedule = schedules.parse(schedule)
        self.format = table_format(dtype)
        if self.schedule.rule is not None and self.format.regret == "int16":
            raise InputError("a rule of your own needs float32 or float64 regrets: dtype='compact' or 'float64'")
        self.iteration = 0
        self.weight = 0.0  # of all iterations so far, in units of the last one's
        self._walker = BoardWalker(
            tree, self.format.work, threads, rules.board_kernels(self.schedule, self.format.work)
        )
        self.threads = self._walker.threads
        self._allocate(memory)

    def _allocate(self, limit: int | None) -> None:
        need, free = table_bytes(self.tree, self.schedule, self.dtype), available_memory()
        bound = min(x for x in (limit, free, need) if x is not None)
        if need > bound:
            smaller = "" if self.dtype == "16-bit" else "; dtype='16-bit' needs the least"
            raise MemoryLimitError(
                f"{self.tree.name}: the tables need {show_bytes(need)} and {show_bytes(bound)} are allowed{smaller}"
            )
        size = self.tree.table + BEHIND
        self.regret = np.zeros(size, self.format.regret)
        self.average_table = np.zeros(size, self.format.average)
        self.prediction = np.zeros(size if self.schedule.predictive else 0, self.format.regret)
        apart = not self.schedule.alternating
        self._seen = self.regret.copy() if apart else self.regret
        self._seen_prediction = self.prediction.copy() if apart else self.prediction
        lock, locked = lock_arrays(self.tree, self.format.work)
        self._hold_locks(lock, locked)
        self.tables = Tables(
            self.regret, self.average_table, self.prediction, self._seen, self._seen_prediction, lock, locked
        )

    def _hold_locks(self, lock: Array, locked: Array) -> None:
        """Regrets that play what is locked; the walk puts them back after each update."""
        if len(lock) and self.format.regret == "int16":
            raise InputError("locks need float32 or float64 regrets: dtype='compact'")
        f, boards = self.tree.forest, self.tree.boards
        for board, node, at in lock:
            who = f.actor[node]
            rows = int(boards.rows[board, who])
            size = int(f.width[node]) * rows
            begin = int(boards.base[board, who]) + int(f.slot[node]) * rows
            given = locked[at : at + size]
            self.regret[begin : begin + size] = np.maximum(given, 0.0)

    # --- learning ---------------------------------------------------------------------------

    def step(self, count: int = 1) -> None:
        """Run `count` iterations: one walk for each player, each."""
        if count < 0:
            raise InputError(f"step({count}): must not be negative")
        steps = np.array([self._next() for _ in range(count)]).reshape(count, 6)
        if self.schedule.alternating:
            self._walker.learn(self.tables, steps)
            return
        for i in range(count):  # both answer the same profile
            self._seen[:] = self.regret
            self._seen_prediction[:] = self.prediction
            self._walker.learn(self.tables, steps[i : i + 1])

    def _next(self) -> tuple[float, ...]:
        """The numbers of the next iteration; decay and gain keep the average a mean."""
        self.iteration += 1
        step = self.schedule.step(self.iteration)
        old = self.weight * step.decay
        self.weight = old + 1.0
        return step.positive, step.negative, step.floor, old / self.weight, step.t, 1.0 / self.weight

    def warm(self) -> None:
        """Compile now what the first step would compile, so that clocks measure solving alone."""
        self._walker.warm(self.tables)

    # --- checkpoints ------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """What a checkpoint holds."""
        arrays = {"regret": self.regret, "average": self.average_table}
        if len(self.prediction):
            arrays["prediction"] = self.prediction
        return arrays, {"iteration": self.iteration, "weight": self.weight}

    def restore(self, arrays: Mapping[str, Array], state: Mapping[str, Any]) -> None:
        """Take up the state of a checkpoint."""
        self.regret[:] = arrays["regret"]
        self.average_table[:] = arrays["average"]
        if len(self.prediction):
            self.prediction[:] = arrays["prediction"]
        self.iteration, self.weight = int(state["iteration"]), float(state["weight"])

    # --- reading ----------------------------------------------------------------------------

    @property
    def nodes_touched(self) -> int:
        """Public nodes entered so far: decisions, terminals and deals, on every board."""
        per_street = np.diff(self.tree.forest.first).astype(np.int64)
        return 2 * self.iteration * int((per_street * np.diff(self.tree.street_at)).sum())

    def average_provenance(self) -> dict[str, Any]:
        """Where the average strategy comes from."""
        return {
            "game": self.tree.name,
            "method": "cfr",
            "schedule": str(self.schedule),
            "traversal": "full",
            "iterations": self.iteration,
            "seed": 0,
            "dtype": self.dtype,
        }

    @property
    def averages(self) -> Array:
        """The table that the average strategy is read from."""
        return self.average_table

    def average(self, table: Array | None = None, iteration: int | None = None) -> Solution:
        """The average strategy, which converges. It shares the solver's table: further steps change it.

        With `table` and `iteration`, what an earlier copy of the averages stood for.
        """
        if table is None:
            return Solution(self.tree, self.average_table, self.average_provenance())
        return Solution(self.tree, table, {**self.average_provenance(), "iterations": iteration})

    def quality(self) -> Quality:
        """Best-response values and values of the average strategy, in the tree's unit.

        Where what is paid sums to a constant, the values of the profile cancel and need no walk of their own: they are
        left at the middle of the certified interval.
        """
        tree, walker = self.tree, self._walker
        best = [tree.per_chip * walker.earnings(self.tables, RESPOND, p) for p in (0, 1)]
        if tree.constant is None:
            values = [tree.per_chip * walker.earnings(self.tables, EVALUATE, p) for p in (0, 1)]
            return Quality((best[0], best[1]), (values[0], values[1]), None)
        total = tree.per_chip * tree.constant
        middle = (best[0] + total - best[1]) / 2
        return Quality((best[0], best[1]), (middle, total - middle), total)

    def exploitability(self) -> float:
        """Half of NashConv of the average strategy, in the tree's unit."""
        return self.quality().exploitability
