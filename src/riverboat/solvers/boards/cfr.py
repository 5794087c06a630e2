"""CFR on betting trees × boards, full or sampled: spots and whole hold'em games.

The schedules are those of `riverboat.solvers.schedules`. The average is stored as a mean instead of a sum, so that it
fits into sixteen bits; it represents the same strategy. `SampledBoardCFR` trains with the samplers of blueprints and
measures the result exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless_abstraction
from riverboat.core.arguments import parse_count
from riverboat.core.arrays import aligned_zeros
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.cpu.ties import TiedRows, row_buckets
from riverboat.engines.devices import AUTO, CPU, AnyBatchEngine, AnyBoardEngine, create_engine, resolve_device
from riverboat.engines.rules import running
from riverboat.engines.tables import TABLE_PADDING, parse_table_format, table_bytes
from riverboat.games.base import Array
from riverboat.games.boards.holdem import Holdem, holdem
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.solvers import schedules
from riverboat.solvers.cfr_solver import CFRSolver
from riverboat.solvers.mccfr.tables import LOOKUP_BLOCK, Weighting
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.schedules import AnySchedule, Schedule, ScheduleOrFactory, dcfr
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.blueprint_game import write_bucket_strategy
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

# For spots, with full traversals (docs/decisions/0062-weight-regrets-by-stakes-in-spots.md) and with sampled ones
BOARD_SCHEDULE = dcfr(alpha=1.2, beta=0.1, gamma=3.0, stakes=0.8, rise=0.4)
SAMPLED_SCHEDULE = dcfr(alpha=1.4, beta=0.25, gamma=3.0)
# For whole games of hold'em, and of limit hold'em: docs/decisions/0043-weight-regrets-by-stakes-in-whole-hold-em.md
WHOLE_GAME_SCHEDULE = dcfr(alpha=1.3, beta=0.25, gamma=4.0, stakes=0.8)
LIMIT_SCHEDULE = dcfr(alpha=1.4, beta=0.25, gamma=4.0, stakes=1.0)
# For subgames on one street, and on several: docs/decisions/0041-weight-regrets-of-actions-by-their-stakes.md
LAST_STREET_SCHEDULE = dcfr(alpha=0.8, beta=0.25, gamma=4.0, stakes=0.8, rise=0.8)
SEVERAL_STREETS_SCHEDULE = dcfr(alpha=1.0, beta=0.25, gamma=4.0, stakes=0.8, rise=0.4)


def board_table_bytes(tree: BoardTree, schedule: AnySchedule, dtype: str = "compact") -> int:
    """Return the memory of a solver's tables, in bytes."""
    options = {"predictive": schedule.predictive, "simultaneous": not schedule.alternating}
    return table_bytes(tree.table_size, parse_table_format(dtype), **options)


def engine_options(schedule: AnySchedule) -> dict[str, Any]:
    """Return the options of `create_engine` that a schedule determines: predictive, simultaneous, rule and stakes."""
    options = {"predictive": schedule.predictive, "simultaneous": not schedule.alternating}
    return {**options, "rule": schedule.rule, "stakes": schedule.stakes}


def schedule_rows(schedule: AnySchedule, iteration: int, weight: float, count: int) -> tuple[Array, float]:
    """Return the schedule of the next `count` iterations, as a board engine reads it, and the total weight after them.

    float64 [count, 6]: factors on positive and negative regrets, floor, decay of the average, t, and weight of the new
    strategy in the average. Decay and weight keep the average a mean. The total `weight` of the iterations so far is in
    units of the last one's.
    """
    rows = np.zeros((count, 6))
    for i in range(count):
        step = schedule.step(iteration + i + 1)
        old = weight * step.decay
        weight = old + 1.0
        rows[i] = step.positive, step.negative, step.floor, old / weight, step.t, 1.0 / weight
    return rows, weight


def engine_quality(engine: AnyBoardEngine) -> Quality:
    """Compute best-response and expected values of an engine's averages, gadget included, in the tree's unit.

    If the payoffs have a constant sum, NashConv does not need the profile's values. They are then set to the middle of
    the certified interval instead of being computed.
    """
    best = engine.expected_values(respond=True)
    values = None if engine.constant_sum is not None else engine.expected_values()
    return _quality(engine.tree.per_chip, best, values, engine.constant_sum)


def batch_qualities(batch: AnyBatchEngine, indices: Sequence[int]) -> list[Quality]:
    """Compute the qualities of some games of a batch (see `engine_quality`)."""
    best = batch.expected_values(respond=True, indices=indices)
    trees, constant_sums = batch.trees, batch.constant_sums  # lists that are made anew each time
    constants = [constant_sums[g] for g in indices]
    values = None if None not in constants else batch.expected_values(indices=indices)
    qualities = []
    for k, g in enumerate(indices):
        own = None if values is None or constants[k] is not None else values[k]
        qualities.append(_quality(trees[g].per_chip, best[k], own, constants[k]))
    return qualities


def _quality(unit: float, best: Sequence[float], values: Sequence[float] | None, constant: float | None) -> Quality:
    """Make a Quality from values in chips; `values` is None if the payoffs have a constant sum."""
    first, second = unit * best[0], unit * best[1]
    if values is not None:
        return Quality((first, second), (unit * values[0], unit * values[1]), None)
    assert constant is not None
    total = unit * constant
    middle = (first + total - second) / 2
    return Quality((first, second), (middle, total - middle), total)


UNTIED_AVERAGE = "untied_average"  # array in checkpoints of runs with buckets: averages before buckets are averaged


class BoardCFR(CFRSolver[Solution]):
    """A full CFR run on a `BoardTree`: an engine and an iteration counter. Bitwise equal on any number of threads.

    A GPU (`device`) gives the same results up to rounding, and a run may continue on the other device. With `cards`,
    hands of a bucket share a strategy: the abstract game is solved, and qualities are still exact in the full game.
    """

    tree: BoardTree

    def __init__(
        self,
        tree: BoardTree,
        schedule: str | ScheduleOrFactory = "dcfr",
        *,
        threads: int = 1,
        dtype: str = "compact",
        memory: int | None = None,
        device: str = CPU,
        cards: CardAbstraction | None = None,
    ) -> None:
        self.tree, self.dtype = tree, dtype
        self.device = CPU if cards is not None and device == AUTO else resolve_device(device)
        if cards is not None and self.device != CPU:
            raise InputError(f"{tree.name}: card abstractions need device='cpu'")
        self.cards, self.ties = cards, None if cards is None else TiedRows(tree, cards)
        self.schedule = schedules.parse(schedule)
        self.weight = 0.0  # averaging weight of all iterations so far, in units of the last one's
        table_format, options = parse_table_format(dtype), engine_options(self.schedule)
        self.engine = create_engine(self.device, tree, table_format, threads=threads, memory=memory, **options)
        self.threads = self.engine.threads

    # --- iterations -------------------------------------------------------------------------

    def step(self, count: int = 1) -> None:
        """Run `count` iterations, each with one traversal per player."""
        count = parse_count(count, "step")
        steps, self.weight = schedule_rows(self.schedule, self.iteration, self.weight, count)
        self.iteration += count
        with running(self.schedule.rule):
            if self.ties is None:
                self.engine.iterate(steps)
            elif isinstance(self.engine, CpuBoardEngine):
                self._tied_averages = None
                self.engine.iterate_tied(steps, self.ties)

    _tied_averages: Array | None = None  # copy of the averages, if read since the last step

    @property
    def averages(self) -> Array:
        """The table of the average strategy.

        With buckets it is a copy in which rows of a bucket have the bucket's average: reading does not change the run.
        """
        if self.ties is None or not isinstance(self.engine, CpuBoardEngine):
            return self.engine.read("average")
        if self._tied_averages is None:
            self._tied_averages = self.engine.tied_averages(self.ties, self.iteration)
        return self._tied_averages

    def warm(self) -> None:
        """Compile the kernels now, so that timings measure solving alone."""
        with running(self.schedule.rule):
            self.engine.compile()

    # --- checkpoints ------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Return the arrays and numbers of a checkpoint."""
        arrays = {name: self.engine.read(name) for name in self.engine.table_names}
        if self.ties is not None:
            arrays |= {"average": self.averages, UNTIED_AVERAGE: arrays["average"]}
        return arrays, {"iteration": self.iteration, "weight": self.weight}

    def restore(self, arrays: Mapping[str, Array], state: Mapping[str, Any]) -> None:
        """Restore the state of a checkpoint."""
        for name in self.engine.table_names:
            self.engine.write(name, arrays[UNTIED_AVERAGE if name == "average" and UNTIED_AVERAGE in arrays else name])
        self._tied_averages = None
        self.iteration, self.weight = int(state["iteration"]), float(state["weight"])

    # --- strategies and their quality --------------------------------------------------------

    @property
    def nodes_touched(self) -> int:
        """Number of public nodes visited so far: decisions, terminals and chance nodes, on every board."""
        return 2 * self.iteration * self._nodes

    @cached_property
    def _nodes(self) -> int:
        """Number of public nodes on all boards."""
        per_street = np.diff(self.tree.forest.first).astype(np.int64)
        return int((per_street * np.diff(self.tree.street_start)).sum())

    def _strategy(self, table: Array | None, provenance: dict[str, Any]) -> Solution:
        if table is not None:
            return Solution(self.tree, table, provenance)
        root = self.engine.read("root_average") if "root_average" in self.engine.table_names else None
        return Solution(self.tree, self.averages, provenance, root)

    def quality(self) -> Quality:
        """Compute best-response values and expected values of the average strategy, in the tree's unit."""
        if self.ties is None:
            return engine_quality(self.engine)
        return engine_quality(CpuBoardEngine.from_average(self.tree, self.averages, self.threads))


# --- sampled CFR in whole hold'em games ---

SAMPLED_TRAVERSALS = ("chance", "external", "opcs", "spcs", "pcs")
MAX_PERIOD = 1 << 20  # largest number of deals between two discounts


class SampledBoardCFR(CFRSolver[Solution]):
    """A sampled CFR run on a `BoardTree`. One thread is reproducible for a seed; several threads race.

    Discounts of the schedule are applied once a period. A period has as many iterations as there are boards if boards
    are sampled, and a tenth of the information sets if deals are.
    """

    tree: BoardTree

    def __init__(
        self,
        tree: BoardTree,
        schedule: str | ScheduleOrFactory = "dcfr",
        traversal: str = "pcs",
        *,
        seed: int = 0,
        threads: int = 1,
        dtype: str = "float32",
        cards: CardAbstraction | None = None,
    ) -> None:
        game = tree.game
        if not isinstance(game, Holdem):
            raise InputError(f"{tree.name}: traversal {traversal!r} is not supported: use 'full'")
        if traversal not in SAMPLED_TRAVERSALS:
            raise unknown_name_error(f"traversal of {tree.name}", traversal, ("full", *SAMPLED_TRAVERSALS))
        self.tree, self.dtype, self.seed, self.threads = tree, dtype, seed, threads
        self.schedule = schedules.reject_stakes(schedules.parse(schedule), f"traversal {traversal!r}")
        self.traversal, self.cards = traversal, cards
        boards = tree.street_start[-1] - tree.street_start[-2]
        period = boards if traversal in ("opcs", "spcs", "pcs") else min(tree.infoset_count // 10, MAX_PERIOD)
        self.actions = compile_action_tree(game.rules, game.menu)
        abstraction = lossless_abstraction(tuple(game.deals), game.deck) if cards is None else cards
        weighting = Weighting(_period_schedule(self.schedule), max(period, LOOKUP_BLOCK))
        options: dict[str, Any] = {"seed": seed, "threads": threads, "dtype": dtype}
        self.trainer = BlueprintTrainer(self.actions, abstraction, traversal, weighting=weighting, **options)
        self._filled_at = -1

    # --- iterations ---------------------------------------------------------------------------

    def step(self, count: int = 1) -> None:
        """Run at least `count` deals or boards, in whole blocks of 64."""
        self.trainer.step(count)
        self.iteration = self.trainer.iterations

    def warm(self) -> None:
        """Compile the kernels on a tiny game, so that timings measure solving alone."""
        tiny = BoardTree(holdem("2-1", ranks=4, suits=2))
        SampledBoardCFR(tiny, "vanilla", self.traversal, threads=self.threads, dtype=self.dtype).step(1)

    # --- checkpoints ------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Return the arrays and numbers of a checkpoint."""
        return {**self.trainer.state(), "average": self.averages}, {"iteration": self.iteration}

    def restore(self, arrays: Mapping[str, Array], state: Mapping[str, Any]) -> None:
        """Restore the state of a checkpoint."""
        self.trainer.restore(arrays)
        self.iteration, self._filled_at = self.trainer.iterations, -1

    # --- strategies and their quality --------------------------------------------------------

    @property
    def nodes_touched(self) -> int:
        """Number of decision nodes visited so far."""
        return self.trainer.updates

    @property
    def averages(self) -> Array:
        """The average strategy at every hand on every board. float32 [table]"""
        if self._filled_at != self.iteration:
            for street in range(self.tree.streets):
                self._write_street(street)
            self._filled_at = self.iteration
        return self._table

    @cached_property
    def _table(self) -> Array:
        return aligned_zeros(self.tree.table_size + TABLE_PADDING, np.float32)

    @cached_property
    def _reader_engine(self) -> CpuBoardEngine:
        return CpuBoardEngine.from_average(self.tree, self._table, self.threads)

    @cached_property
    def _buckets(self) -> list[Array]:
        """Bucket of each row of a street's boards, board after board. int32 [rows] per street"""
        return [row_buckets(self.tree, self.trainer.cards, street, 0) for street in range(self.tree.streets)]

    def _write_street(self, street: int) -> None:
        """Write the bucket strategies of a street as hand strategies into the table."""
        columns = np.concatenate([self._action_columns(street, seat) for seat in (0, 1)])
        strategies = self.trainer.averages(street)
        write_bucket_strategy(self.tree, street, strategies, columns, self._buckets[street], self._table, self.threads)

    def _action_columns(self, street: int, seat: int) -> Array:
        """Return the column of each action of a seat in the trainer's strategies of a street. int32 [actions]

        Strategies are [buckets, columns]; the actions are in the order of the board tree's decisions.
        """
        forest = self.tree.forest
        low, high = forest.first[street : street + 2].tolist()
        decisions = low + np.flatnonzero(forest.actor[low:high] == seat)
        slots = self.actions.slot[self._flat_nodes[forest.node[decisions]]]
        pieces = [np.arange(slot, slot + width) for slot, width in zip(slots, forest.width[decisions], strict=True)]
        return np.concatenate(pieces or [np.zeros(0)]).astype(np.int32)

    @cached_property
    def _flat_nodes(self) -> Array:
        """Node of the flat action tree for each node of the nested betting tree. int64 [nodes]

        A chance node has the same flat node as its successor.
        """
        betting, nodes, work = self.tree.betting, np.zeros(len(self.tree.betting.actor), np.int64), [(0, 0)]
        while work:
            node, flat = work.pop()
            nodes[node] = flat
            for k, child in enumerate(betting.children(node)):
                # In the flat tree a chance node is the same node as its successor.
                work.append((child, flat if betting.actor[node] < 0 else int(self.actions.first[flat]) + k))
        return nodes

    def _strategy(self, table: Array | None, provenance: dict[str, Any]) -> Solution:
        return Solution(self.tree, self.averages if table is None else table, provenance)

    def quality(self) -> Quality:
        """Compute best-response values and expected values of the average strategy, in the tree's unit."""
        _ = self.averages
        return engine_quality(self._reader_engine)


def _period_schedule(schedule: AnySchedule) -> Schedule:
    """Return the schedule that sampling applies once a period.

    A floor of zero becomes a factor of zero on negative regrets at the end of each period (no convergence proof).
    """
    if not isinstance(schedule, Schedule) or schedule.predictive:
        raise InputError(
            f"schedule {schedule}: sampled boards support vanilla, linear, dcfr, and cfr+ (no convergence proof)"
        )
    if schedule.floored:
        return Schedule(schedule.name, schedule.alpha, -schedules.NEVER, schedule.gamma)
    return schedule
