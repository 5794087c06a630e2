"""Solving many spots at once: what search and training data ask for, thousands of small subgames."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, NamedTuple

from riverboat.core import validation
from riverboat.core.cancellation import is_polled, poll
from riverboat.core.errors import InputError, shown
from riverboat.engines.cpu.batch_engine import alike_trees, shape_of
from riverboat.engines.devices import CPU, AnyBatch, batch_learner, choose, free_memory
from riverboat.engines.tables import table_bytes, table_format
from riverboat.games.spots.spot import Spot
from riverboat.solvers import schedules
from riverboat.solvers.boards.cfr import LAST_STREET_SCHEDULE, STAKES_SCHEDULE, qualities, step_rows
from riverboat.solvers.check_schedule import FIRST, hopeful_check
from riverboat.solvers.schedules import AnySchedule
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree
from riverboat.trees.streets import Shape

CARDS = {"board", "ranges", "locks", "deck", "name", "gadget", "unit", "joiner"}  # fields that betting does not look at
SHAPES, ROWS = 1024, 64  # bettings that are kept, and for hands in steps of how many
SIX_BYTES, SIXTEEN_BITS = "compact", "16-bit"
POLLED = 5  # iterations between two polls, where somebody may stop or delay a solve
DEVICE_SHARE = 0.7  # of a device's free memory, for tables and boards: vectors of walks need some too


def solve_many(
    spots: Sequence[Spot],
    *,
    iterations: int = 1000,
    until: float | None = None,
    seconds: float | None = None,
    check_every: int = 50,
    schedule: str | AnySchedule | None = None,
    threads: int = 1,
    dtype: str | None = None,
    memory: int | None = None,
    device: str = CPU,
) -> list[Solution]:
    """Solve spots, with whatever stands at their roots, in the order given.

    Spots with the same betting share its tree. Threads take spots in turn, of all bettings where there are several, or
    the boards of one that is alone; each answer is the one that the spot would get alone, to the bit. Every spot gets
    `iterations`, or fewer where exploitability falls to `until` (in % of the pot, looked at after 16
    iterations and then, in steps of `check_every`, whenever it could be there), or where `seconds` for each spot are over:
    what it has learnt by then is its answer. The provenance of a solution says how many, and how exploitable it is.
    Without `dtype`, spots with deals to come learn in 16 bits on processors: their tables are more than a core keeps at
    hand. On a GPU (`device`) spots of as many streets are solved side by side, whatever their betting, as many as its memory
    holds; answers are those of the processor to rounding.
    """
    if isinstance(spots, str) or not isinstance(spots, Iterable):
        raise InputError(f"spots={shown(spots)}: give a list of spots")
    spots = list(spots)
    for place, spot in enumerate(spots):
        if not isinstance(spot, Spot):
            raise InputError(f"spots[{place}]={shown(spot)}: no spot; Spot.make or parse_spot makes one")
    validation.whole("iterations", iterations)
    validation.whole("check_every", check_every, 1)
    validation.threads(threads)
    validation.unless_none(validation.whole, "memory", memory)
    for name, limit in (("until", until), ("seconds", seconds)):
        validation.unless_none(validation.number, name, limit)
        if limit == 0:
            raise InputError(f"{name}={limit}: must be above zero")
    goal = Goal(iterations, until, seconds, check_every)
    return [solution for solution, _ in judged(spots, goal, schedule, dtype, device, threads=threads, memory=memory)]


def judged(
    spots: Sequence[Spot],
    goal: Goal,
    schedule: str | AnySchedule | None = None,
    dtype: str | None = None,
    device: str = CPU,
    *,
    threads: int = 1,
    memory: int | None = None,
) -> list[tuple[Solution, Quality]]:
    """The same, with how good each is."""
    chosen = None if schedule is None else schedules.parse(schedule)
    where = choose(device)
    groups = _alike(spots)
    trees = _trees(spots, groups) if where != CPU else {}
    bundles = _bundles(trees, dtype or SIX_BYTES, where) if trees else list(groups.values())
    answers: list[tuple[Solution, Quality] | None] = [None] * len(spots)
    side_by_side = threads if where == CPU and len(bundles) > 1 else 1

    def solve(numbers: list[int]) -> None:
        first = spots[numbers[0]]
        rule = chosen or (STAKES_SCHEDULE if first.deals else LAST_STREET_SCHEDULE)
        kind = dtype or (SIXTEEN_BITS if where == CPU and first.deals and not first.locks else SIX_BYTES)
        walker = batch_learner(
            where,
            [trees[n] for n in numbers] if trees else alike_trees([spots[n] for n in numbers], _shaped),
            table_format(kind),
            predictive=rule.predictive,
            simultaneous=not rule.alternating,
            threads=1 if side_by_side > 1 else threads,
            rule=rule.rule,
            memory=memory,
            stakes=rule.stakes,
        )
        for n, answer in zip(numbers, _solve(walker, rule, goal, kind), strict=True):
            answers[n] = answer

    if side_by_side > 1:
        with ThreadPoolExecutor(side_by_side, thread_name_prefix="riverboat") as pool:
            list(pool.map(solve, bundles))
    else:
        for numbers in bundles:
            solve(numbers)
    return [answer for answer in answers if answer is not None]


def _alike(spots: Sequence[Spot]) -> dict[Any, list[int]]:
    """The spots of each betting, with locks and without: those with locks cannot learn in 16 bits."""
    groups: dict[Any, list[int]] = {}
    for number, spot in enumerate(spots):
        groups.setdefault((_betting_key(spot), bool(spot.locks)), []).append(number)
    return groups


def _trees(spots: Sequence[Spot], groups: Mapping[Any, list[int]]) -> dict[int, BoardTree]:
    """The tree of each spot; those of one betting share its shape."""
    trees: dict[int, BoardTree] = {}
    for numbers in groups.values():
        trees.update(zip(numbers, alike_trees([spots[n] for n in numbers], _shaped), strict=True))
    return trees


def _bundles(trees: Mapping[int, BoardTree], dtype: str, device: str) -> list[list[int]]:
    """Spots that a device solves side by side: of one number of streets, and no more than its memory holds."""
    free = free_memory(device)
    room = math.inf if free is None else DEVICE_SHARE * free
    bundles: list[list[int]] = []
    streets, taken = 0, math.inf
    for n in sorted(trees, key=lambda n: (trees[n].streets, n)):
        need = table_bytes(trees[n].table, table_format(dtype)) + trees[n].layout_bytes
        if trees[n].streets != streets or taken + need > room:
            bundles.append([])
            streets, taken = trees[n].streets, 0
        bundles[-1].append(n)
        taken += need
    return bundles


@dataclass(frozen=True)
class _Betting:
    """A spot, told apart from others by its betting alone."""

    key: Any
    spot: Spot = field(compare=False)


def _shaped(spot: Any, hands: int) -> Shape:
    return _kept_shape(_Betting(_betting_key(spot), spot), -(-hands // ROWS) * ROWS)


@lru_cache(maxsize=SHAPES)
def _kept_shape(betting: _Betting, hands: int) -> Shape:
    """Bettings come again: a match with search meets a few hundred of them tens of thousands of times."""
    return shape_of(betting.spot, hands)


def _betting_key(spot: Spot) -> Any:
    """What the betting of a spot is made from."""
    facts = [(f.name, getattr(spot, f.name)) for f in fields(spot) if f.name not in CARDS]
    return (len(spot.board), *facts)


class Goal(NamedTuple):
    """When a solve ends."""

    iterations: int
    until: float | None
    seconds: float | None
    check_every: int

    @property
    def first(self) -> int:
        """The iteration of the first look: sooner nothing is good enough."""
        return self.iterations if self.until is None else -(-FIRST // self.check_every) * self.check_every

    def next(self, done: int, due: int, spent: float, seconds: float) -> int:
        """Iterations until a look is due, `spent` being the seconds so far: few, where time is short; 0: the end."""
        left = min(self.iterations, due) - done
        if self.seconds is None or left <= 0:
            return left
        if not done:
            return 1
        one = spent / done
        # What an answer costs in the end, about an iteration, and twice that where the machine falters.
        return int(max(0, min(left, (seconds - spent) / one - 3)))


def _solve(batch: AnyBatch, rule: AnySchedule, goal: Goal, dtype: str) -> list[tuple[Solution, Quality]]:
    open_, done, began = list(range(len(batch.trees))), 0, time.perf_counter()
    ended, due = [0] * len(open_), [goal.first] * len(open_)
    seconds = (goal.seconds or 0.0) * len(open_)
    weight, seen = 0.0, dict[int, Quality]()  # what the last look at each told, if it has not learnt since
    while open_ and (count := goal.next(done, min(due[k] for k in open_), time.perf_counter() - began, seconds)):
        if goal.seconds is not None:  # in pieces, so that a slow one is noticed
            count = max(1, count // 4)
        if is_polled():
            poll()
            count = min(count, POLLED)
        steps, weight = step_rows(rule, done, weight, count)
        batch.learn(steps, open_)
        done += count
        for k in open_:
            ended[k] = done
            seen.pop(k, None)
        looked = [k for k in open_ if due[k] == done < goal.iterations]
        for k, quality in zip(looked, qualities(batch, looked) if looked else (), strict=True):
            assert goal.until is not None
            seen[k] = quality
            due[k] = hopeful_check(done, quality.exploitability, goal.until, goal.check_every)
            if quality.exploitability <= goal.until:
                open_.remove(k)
    rest = [k for k in range(len(batch.trees)) if k not in seen]
    seen.update(zip(rest, qualities(batch, rest) if rest else (), strict=True))
    answers = zip(batch.trees, batch.averages(), ended, sorted(seen.items()), strict=True)
    return [
        (Solution(tree, average, _provenance(tree, rule, iterations, dtype, quality), root), quality)
        for tree, (average, root), iterations, (_, quality) in answers
    ]


def _provenance(tree: BoardTree, rule: AnySchedule, iterations: int, dtype: str, quality: Quality) -> dict[str, Any]:
    return {
        "game": tree.name,
        "method": "cfr",
        "schedule": str(rule),
        "traversal": "full",
        "iterations": iterations,
        "seed": 0,
        "dtype": dtype,
        "exploitability": quality.exploitability,
        "unit": tree.unit,
    }
