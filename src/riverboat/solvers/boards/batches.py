"""Solve many spots at once: thousands of small subgames, as search, training data and reports need."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, NamedTuple

from riverboat.core import validation
from riverboat.core.cancellation import check_cancellation, has_cancellation_check
from riverboat.core.errors import InputError, short_repr
from riverboat.core.parallel import map_in_order
from riverboat.engines.cpu.board_engine import shape_for_game, trees_of_one_shape
from riverboat.engines.devices import CPU, AnyBatchEngine, create_batch_engine, free_memory, resolve_device
from riverboat.engines.roots import next_adjustment
from riverboat.engines.rules import running
from riverboat.engines.tables import COMPACT, SIXTEEN_BITS, parse_table_format, table_bytes
from riverboat.games.spots.spot import Spot
from riverboat.solvers import schedules
from riverboat.solvers.boards import cfr as boards
from riverboat.solvers.result import LAST, Result, make_result
from riverboat.solvers.schedules import AnySchedule, ScheduleOrFactory
from riverboat.solvers.solver_run import FIRST_BOARD_CHECK, optimistic_check
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.solution import Solution
from riverboat.trees.betting import BettingShape
from riverboat.trees.boards import BoardTree

# Fields of a spot that do not affect the betting.
CARD_FIELDS = {"board", "ranges", "locks", "deck", "name", "gadget", "unit", "joiner"}
MAX_CACHED_SHAPES, HAND_MULTIPLE = 1024, 64  # cached betting shapes, and the multiple to which hands are rounded up
POLL_ITERATIONS = 5  # iterations between two polls, if the solve can be cancelled
# Share of a device's free memory for tables and boards; the rest is for vectors of traversals.
DEVICE_MEMORY_SHARE = 0.7


def solve_many(
    spots: Sequence[Spot],
    *,
    iterations: int = 1000,
    until: float | None = None,
    seconds: float | None = None,
    check_every: int = 50,
    schedule: str | ScheduleOrFactory | None = None,
    threads: int = 1,
    dtype: str | None = None,
    memory: int | None = None,
    device: str = CPU,
) -> list[Solution]:
    """Solve spots, with the gadgets at their roots, and return the solutions in the given order.

    Spots with the same betting share its tree. Every solution is bitwise the one that the spot would get alone.

    Parameters
    ----------
    spots
        Spots to solve.
    iterations
        Iterations for every spot, at most.
    until
        Exploitability, in % of the pot, at which a spot ends early. It is checked first after 16 iterations, then in
        steps of `check_every` when the target could be met.
    seconds
        Time for each spot, at which it ends early.
    threads
        Threads work on several spots, or on the boards of one spot that is alone.
    dtype
        Table format. By default spots with cards to come use 16 bits on the CPU: their tables exceed the cache of a
        core.
    device
        On a GPU, spots with the same number of streets are solved in parallel, as many as its memory holds. Solutions
        equal those of the CPU up to rounding.

    Returns
    -------
    list[Solution]
        The provenance of each solution holds its iterations and exploitability.
    """
    if isinstance(spots, str) or not isinstance(spots, Iterable):
        raise InputError(f"spots={short_repr(spots)}: must be a list of spots")
    spots = list(spots)
    for index, spot in enumerate(spots):
        if not isinstance(spot, Spot):
            raise InputError(f"spots[{index}]={short_repr(spot)}: must be a Spot; make one by Spot.make or parse_spot")
    validation.check_integer("iterations", iterations)
    validation.check_integer("check_every", check_every, 1)
    validation.check_thread_count(threads)
    validation.optional(validation.check_integer, "memory", memory)
    for name, limit in (("until", until), ("seconds", seconds)):
        validation.optional(validation.check_number, name, limit)
        if limit == 0:
            raise InputError(f"{name}={limit}: must be above zero")
    goal = BatchGoal(iterations, until, seconds, check_every)
    answers = solve_with_quality(spots, goal, schedule, dtype, device, threads=threads, memory=memory)
    return [solution for solution, _ in answers]


def solve_with_quality(
    spots: Sequence[Spot],
    goal: BatchGoal,
    schedule: str | ScheduleOrFactory | None = None,
    dtype: str | None = None,
    device: str = CPU,
    *,
    threads: int = 1,
    memory: int | None = None,
) -> list[tuple[Solution, Quality]]:
    """Solve spots as `solve_many` does, and return each solution with its quality."""
    user_schedule = None if schedule is None else schedules.parse(schedule)
    where = resolve_device(device)
    batches = _group_by_betting(spots)
    trees: dict[int, BoardTree] = {}
    if where != CPU:
        for numbers in batches:
            trees |= zip(numbers, trees_of_one_shape([spots[n] for n in numbers], _shape_for), strict=True)
        batches = _device_batches(trees, dtype or COMPACT, where)
    parallel = threads if where == CPU and len(batches) > 1 else 1

    def solve(indices: list[int]) -> list[tuple[Solution, Quality]]:
        first = spots[indices[0]]
        rule = user_schedule or (boards.SEVERAL_STREETS_SCHEDULE if first.deals else boards.LAST_STREET_SCHEDULE)
        kind = dtype or (SIXTEEN_BITS if where == CPU and first.deals and not first.locks else COMPACT)
        chosen = [spots[n] for n in indices]
        own_trees = [trees[n] for n in indices] if trees else trees_of_one_shape(chosen, _shape_for)
        resources: dict[str, Any] = {"threads": 1 if parallel > 1 else threads, "memory": memory}
        resources |= boards.engine_options(rule)
        engine = create_batch_engine(where, own_trees, parse_table_format(kind), **resources)
        return run_batch(engine, rule, goal, kind)

    answers: dict[int, tuple[Solution, Quality]] = {}
    for indices, solved in zip(batches, map_in_order(solve, batches, parallel), strict=True):
        answers |= zip(indices, solved, strict=True)
    return [answers[n] for n in range(len(spots))]


def _group_by_betting(spots: Sequence[Spot]) -> list[list[int]]:
    """Group indices of spots with equal betting; spots with locks, which do not support 16 bits, form own groups."""
    groups: dict[Any, list[int]] = {}
    for number, spot in enumerate(spots):
        groups.setdefault((_betting_key(spot), bool(spot.locks)), []).append(number)
    return list(groups.values())


def _device_batches(trees: Mapping[int, BoardTree], dtype: str, device: str) -> list[list[int]]:
    """Divide spots into batches for a GPU: equal numbers of streets in a batch, and no more than fit in its memory."""
    free = free_memory(device)
    available = math.inf if free is None else DEVICE_MEMORY_SHARE * free
    batches: list[list[int]] = []
    streets, used = 0, math.inf
    for n in sorted(trees, key=lambda n: (trees[n].streets, n)):
        required = table_bytes(trees[n].table_size, parse_table_format(dtype)) + trees[n].layout_bytes
        if trees[n].streets != streets or used + required > available:
            batches.append([])
            streets, used = trees[n].streets, 0
        batches[-1].append(n)
        used += required
    return batches


@dataclass(frozen=True)
class _SpotBetting:
    """Cache key of a betting shape: compares spots by their betting alone."""

    key: Any
    spot: Spot = field(compare=False)


def _shape_for(spot: Any, hands: int) -> BettingShape:
    return _cached_shape(_SpotBetting(_betting_key(spot), spot), -(-hands // HAND_MULTIPLE) * HAND_MULTIPLE)


@lru_cache(maxsize=MAX_CACHED_SHAPES)
def _cached_shape(betting: _SpotBetting, hands: int) -> BettingShape:
    """Return the betting shape of a spot. A match with search meets a few hundred shapes tens of thousands of times."""
    return shape_for_game(betting.spot, hands)


def _betting_key(spot: Spot) -> Any:
    """Return the fields of a spot that determine its betting."""
    facts = [(f.name, getattr(spot, f.name)) for f in fields(spot) if f.name not in CARD_FIELDS]
    return (len(spot.board), *facts)


class BatchGoal(NamedTuple):
    """Limits of a batch solve: iterations, target exploitability, seconds for each spot, iterations between checks."""

    iterations: int
    until: float | None
    seconds: float | None
    check_every: int

    @property
    def first(self) -> int:
        """Iteration of the first check: 16 rounded up to a multiple of `check_every`; without a target, the last."""
        return self.iterations if self.until is None else -(-FIRST_BOARD_CHECK // self.check_every) * self.check_every

    def next(self, done: int, due: int, spent: float, seconds: float) -> int:
        """Return how many iterations to run before the check at iteration `due`: fewer if time is short, 0 at the end.

        The `done` iterations so far took `spent` of the `seconds` for the whole batch.
        """
        left = min(self.iterations, due) - done
        if self.seconds is None or left <= 0:
            return left
        if not done:
            return 1
        # Reserve the cost of the result, about one iteration, and two more in case the machine slows down.
        return int(max(0, min(left, (seconds - spent) / (spent / done) - 3)))


def run_batch(batch: AnyBatchEngine, rule: AnySchedule, goal: BatchGoal, dtype: str) -> list[tuple[Solution, Quality]]:
    """Solve all spots of a batch engine, and return each solution with its quality.

    `dtype` is the name of the engine's table format, for the provenance of the solutions.
    """
    active, done, started = list(range(len(batch.trees))), 0, time.perf_counter()
    iterations_done, due = [0] * len(active), [goal.first] * len(active)
    seconds = (goal.seconds or 0.0) * len(active)
    weight, qualities = 0.0, dict[int, Quality]()  # quality at the last check, unless iterated since
    limited = [k for k, root in enumerate(batch.roots) if root.has_limits]
    while active and (count := goal.next(done, min(due[k] for k in active), time.perf_counter() - started, seconds)):
        if goal.seconds is not None:  # run a quarter at a time, so that a slow machine is noticed
            count = max(1, count // 4)
        if has_cancellation_check():
            check_cancellation()
            count = min(count, POLL_ITERATIONS)
        if limited:
            adjustment = next(time for time in _adjustments() if time > done)
            count = min(count, adjustment - done)
        steps, weight = boards.schedule_rows(rule, done, weight, count)
        with running(rule.rule):
            batch.iterate(steps, active)
        done += count
        for k in active:
            iterations_done[k] = done
            qualities.pop(k, None)
        if limited and done == adjustment < goal.iterations:
            batch.adjust_gadgets([k for k in limited if k in active])
        checked = [k for k in active if due[k] == done < goal.iterations]
        for k, quality in zip(checked, boards.batch_qualities(batch, checked) if checked else (), strict=True):
            assert goal.until is not None
            qualities[k] = quality
            due[k] = optimistic_check(done, quality.exploitability, goal.until, goal.check_every)
            if quality.exploitability <= goal.until:
                active.remove(k)
    unchecked = [k for k in range(len(batch.trees)) if k not in qualities]
    qualities.update(zip(unchecked, boards.batch_qualities(batch, unchecked) if unchecked else (), strict=True))
    solutions = zip(batch.trees, batch.averages(), iterations_done, sorted(qualities.items()), strict=True)
    run = {"method": "cfr", "schedule": str(rule), "traversal": "full"}
    answers = []
    for tree, (average, root), iterations, (_, quality) in solutions:
        provenance = {"game": tree.name, **run, "iterations": iterations, "seed": 0, "dtype": dtype}
        provenance |= {"exploitability": quality.exploitability, "unit": tree.unit}
        answers.append((Solution(tree, average, provenance, root), quality))
    return answers


def _adjustments() -> Iterator[int]:
    """Yield the iterations at which gadgets with limits are adjusted."""
    time = 0
    while True:
        yield (time := next_adjustment(time))


# --- results of a batch on a GPU ---

MAX_ITERATIONS = 100_000  # if only exploitability ends the solve
CHECK_EVERY = 5  # iterations between two possible checks


def solve_batch(
    spots: Sequence[Spot],
    device: str,
    *,
    iterations: int | None = None,
    until: float | None = None,
    schedule: str | ScheduleOrFactory | None = None,
    dtype: str | None = None,
) -> list[Result]:
    """Solve spots in parallel on a device and return a `Result` for each, as `solve` does up to rounding.

    The seconds of each result are an equal share of the total time.
    """
    rule = schedules.parse(boards.BOARD_SCHEDULE if schedule is None else schedule)
    kind, started = dtype or "compact", time.perf_counter()
    goal = BatchGoal(MAX_ITERATIONS if iterations is None else iterations, until, None, CHECK_EVERY)
    answers = solve_with_quality(spots, goal, rule, kind, device)
    seconds = (time.perf_counter() - started) / max(1, len(spots))
    results = []
    for solution, quality in answers:
        tree, at = solution.tree, solution.provenance["iterations"]
        facts = {"answer": LAST, "answer_iteration": at, "reached": until is None or quality.exploitability <= until}
        facts |= {"table_bytes": boards.board_table_bytes(tree, rule, kind), "layout_bytes": tree.layout_bytes}
        results.append(make_result(solution, quality, seconds=seconds, **facts))
    return results
