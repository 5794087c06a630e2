"""Counterfactual regret minimisation on betting × boards: spots and whole hold'em games.

The same schedules as everywhere (`riverboat.solvers.schedules`). The average is kept as a mean, not as a sum, so that it fits
into sixteen bits; what it stands for is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.errors import InputError
from riverboat.engines import tables
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.cpu.ties import Ties
from riverboat.engines.devices import AUTO, CPU, AnyBatch, AnyWalker, choose, learner
from riverboat.engines.tables import table_format
from riverboat.games.base import Array
from riverboat.solvers import schedules
from riverboat.solvers.schedules import AnySchedule, dcfr
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

BOARD_SCHEDULE = dcfr(alpha=1.4, beta=0.25, gamma=3.0)  # docs/decisions/0014-schedule-of-spots.md
WHOLE_SCHEDULE = dcfr(alpha=1.3, beta=0.25, gamma=4.0, stakes=0.8)  # docs/decisions/0043-schedule-of-whole-games.md
LIMIT_SCHEDULE = dcfr(alpha=1.4, beta=0.25, gamma=4.0, stakes=1.0)  # of those of limit hold'em
# Of subgames on one street, and on several: docs/decisions/0041-moves-weigh-by-their-stakes.md
LAST_STREET_SCHEDULE = dcfr(alpha=0.8, beta=0.25, gamma=4.0, stakes=0.8, rise=0.8)
STAKES_SCHEDULE = dcfr(alpha=1.0, beta=0.25, gamma=4.0, stakes=0.8, rise=0.4)


def table_bytes(tree: BoardTree, schedule: AnySchedule, dtype: str = "compact") -> int:
    """Memory that a solver's tables will take."""
    apart = not schedule.alternating
    return tables.table_bytes(tree.table, table_format(dtype), predictive=schedule.predictive, apart=apart)


def step_rows(schedule: AnySchedule, iteration: int, weight: float, count: int) -> tuple[Array, float]:
    """The numbers of the iterations that come after some, as a `Walker` wants them, and the weight of all until then.

    Decay and gain keep the average a mean; `weight` is that of the iterations so far, in units of the last one's.
    """
    rows = np.zeros((count, 6))
    for i in range(count):
        step = schedule.step(iteration + i + 1)
        old = weight * step.decay
        weight = old + 1.0
        rows[i] = step.positive, step.negative, step.floor, old / weight, step.t, 1.0 / weight
    return rows, weight


def quality_of(walker: AnyWalker, thread: int = 0) -> Quality:
    """Best-response values and values of a walker's averages, a gadget's choice included, in the tree's unit.

    Where what is paid sums to a constant, the values of the profile cancel and need no walk of their own: they are
    left at the middle of the certified interval.
    """
    best = [walker.earnings(p, respond=True, thread=thread) for p in (0, 1)]
    values = None if walker.constant is not None else [walker.earnings(p, thread=thread) for p in (0, 1)]
    return _quality(walker.tree.per_chip, best, values, walker.constant)


def qualities(batch: AnyBatch, among: Sequence[int] | None = None) -> list[Quality]:
    """The same of all games of a batch, or of some."""
    some = range(len(batch.trees)) if among is None else among
    best = [batch.earnings(p, respond=True, among=among) for p in (0, 1)]
    constants = batch.constants
    values = None if all(constants[g] is not None for g in some) else [batch.earnings(p, among=among) for p in (0, 1)]
    return [
        _quality(
            batch.trees[g].per_chip,
            [best[0][k], best[1][k]],
            None if values is None or constants[g] is not None else [values[0][k], values[1][k]],
            constants[g],
        )
        for k, g in enumerate(some)
    ]


def _quality(unit: float, best: Sequence[float], values: Sequence[float] | None, constant: float | None) -> Quality:
    """From what players earn in chips, by best responses and, where that is no constant, as they play."""
    first, second = unit * best[0], unit * best[1]
    if values is not None:
        return Quality((first, second), (unit * values[0], unit * values[1]), None)
    assert constant is not None
    total = unit * constant
    middle = (first + total - second) / 2
    return Quality((first, second), (middle, total - middle), total)


UNTIED = "untied_average"  # in checkpoints of runs with buckets: what learning goes on with, before rows are tied


class BoardCFR:
    """A run on a `BoardTree`: a walker that learns, and a clock. Bitwise equal on any number of threads.

    On a GPU (`device`) it is the same to rounding, and a run may go on from one device to the other. With `cards`, hands that
    share a bucket are played alike: the abstract game is solved, and qualities are still exact in the full one.
    """

    finished = False  # there is always another iteration

    def __init__(
        self,
        tree: BoardTree,
        schedule: str | AnySchedule = "dcfr",
        *,
        threads: int = 1,
        dtype: str = "compact",
        memory: int | None = None,
        device: str = CPU,
        cards: CardAbstraction | None = None,
    ) -> None:
        self.tree, self.dtype, self.seed = tree, dtype, 0
        self.device = CPU if cards is not None and device == AUTO else choose(device)
        if cards is not None and self.device != CPU:
            raise InputError(f"{tree.name}: buckets are tied on processors: take device='cpu'")
        self.cards, self.ties = cards, None if cards is None else Ties(tree, cards)
        self.schedule = schedules.parse(schedule)
        self.iteration = 0
        self.weight = 0.0  # of all iterations so far, in units of the last one's
        self.walker = learner(
            self.device,
            tree,
            table_format(dtype),
            predictive=self.schedule.predictive,
            simultaneous=not self.schedule.alternating,
            threads=threads,
            rule=self.schedule.rule,
            memory=memory,
            stakes=self.schedule.stakes,
        )
        self.threads = self.walker.threads

    # --- learning ---------------------------------------------------------------------------

    def step(self, count: int = 1) -> None:
        """Run `count` iterations: one walk for each player, each."""
        if count < 0:
            raise InputError(f"step({count}): must not be negative")
        steps, self.weight = step_rows(self.schedule, self.iteration, self.weight, count)
        self.iteration += count
        if self.ties is None:
            self.walker.learn(steps)
        elif isinstance(self.walker, BoardWalker):
            self._tied = None
            self.walker.learn_tied(steps, self.ties)

    _tied: Array | None = None  # a copy of the averages, where it was read since the last step

    @property
    def averages(self) -> Array:
        """The table that the average strategy is read from.

        With buckets it is a copy, in which rows that share a bucket have its average: reading does not change the run.
        """
        if self.ties is None or not isinstance(self.walker, BoardWalker):
            return self.walker.read("average")
        if self._tied is None:
            self._tied = self.walker.tied_averages(self.ties, self.iteration)
        return self._tied

    def warm(self) -> None:
        """Compile now what the first step would compile, so that clocks measure solving alone."""
        self.walker.warm()

    # --- checkpoints ------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """What a checkpoint holds."""
        arrays = {name: self.walker.read(name) for name in self.walker.names}
        if self.ties is not None:
            arrays |= {"average": self.averages, UNTIED: arrays["average"]}
        return arrays, {"iteration": self.iteration, "weight": self.weight}

    def restore(self, arrays: Mapping[str, Array], state: Mapping[str, Any]) -> None:
        """Take up the state of a checkpoint."""
        for name in self.walker.names:
            self.walker.write(name, arrays[UNTIED if name == "average" and UNTIED in arrays else name])
        self._tied = None
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
            **({} if self.cards is None else {"cards": self.cards.name, "cards_fingerprint": self.cards.fingerprint}),
        }

    def average(self, table: Array | None = None, iteration: int | None = None) -> Solution:
        """The average strategy, which converges. It shares the solver's table: further steps change it.

        With `table` and `iteration`, what an earlier copy of the averages stood for.
        """
        if table is None:
            root = self.walker.read("root_average") if "root_average" in self.walker.names else None
            return Solution(self.tree, self.averages, self.average_provenance(), root)
        return Solution(self.tree, table, {**self.average_provenance(), "iterations": iteration})

    def quality(self) -> Quality:
        """Best-response values and values of the average strategy, in the tree's unit."""
        if self.ties is None:
            return quality_of(self.walker)
        return quality_of(BoardWalker.reader(self.tree, self.averages, self.threads))

    def exploitability(self) -> float:
        """Half of NashConv of the average strategy, in the tree's unit."""
        return self.quality().exploitability
