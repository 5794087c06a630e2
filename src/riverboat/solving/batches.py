"""Solving many spots at once: what search and training data ask for, thousands of small subgames."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any, NamedTuple

from riverboat.errors import InputError
from riverboat.games.spot import Spot
from riverboat.solving import schedules
from riverboat.solving.boards import LAST_STREET_SCHEDULE, STAKES_SCHEDULE, quality_of, step_rows
from riverboat.solving.schedules import AnySchedule
from riverboat.strategy.solution import Solution
from riverboat.walks.batches import BatchWalker, alike_trees
from riverboat.walks.tables import table_format

CARDS = {"board", "ranges", "locks", "deck", "name", "gadget", "unit", "joiner"}  # fields that betting does not look at


def solve_many(
    spots: Sequence[Spot],
    *,
    iterations: int = 1000,
    until: float | None = None,
    seconds: float | None = None,
    check_every: int = 50,
    schedule: str | AnySchedule | None = None,
    threads: int = 1,
    dtype: str = "compact",
    memory: int | None = None,
) -> list[Solution]:
    """Solve spots, with whatever stands at their roots, in the order given.

    Spots with the same betting share its tree. Threads take spots in turn, of all bettings where there are several, or the
    boards of one that is alone; each answer is the one that the spot would get alone, to the bit. Every spot gets
    `iterations`, or fewer where exploitability falls to `until` (in % of the pot, looked at every `check_every`
    iterations), or where `seconds` for each spot are over: what it has learnt by then is its answer. The provenance of a
    solution says how many, and how exploitable it is.
    """
    if iterations < 0:
        raise InputError(f"iterations={iterations}: must not be negative")
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds={seconds}: must be above zero")
    if check_every < 1:
        raise InputError(f"check_every={check_every}: must be at least 1")
    groups: dict[Any, list[int]] = {}
    for number, spot in enumerate(spots):
        groups.setdefault(_betting_key(spot), []).append(number)
    solutions: list[Solution | None] = [None] * len(spots)
    given = None if schedule is None else schedules.parse(schedule)
    goal = _Goal(iterations, until, seconds, check_every)
    side_by_side = threads if len(groups) > 1 else 1

    def solve(numbers: list[int]) -> None:
        own = 1 if side_by_side > 1 else threads
        rule = given or (STAKES_SCHEDULE if spots[numbers[0]].deals else LAST_STREET_SCHEDULE)
        walker = BatchWalker(
            alike_trees([spots[n] for n in numbers]),
            table_format(dtype),
            predictive=rule.predictive,
            simultaneous=not rule.alternating,
            threads=own,
            rule=rule.rule,
            memory=memory,
            stakes=rule.stakes,
        )
        for n, solution in zip(numbers, _solve(walker, rule, goal, dtype), strict=True):
            solutions[n] = solution

    if side_by_side > 1:
        with ThreadPoolExecutor(side_by_side, thread_name_prefix="riverboat") as pool:
            list(pool.map(solve, groups.values()))
    else:
        for numbers in groups.values():
            solve(numbers)
    return [solution for solution in solutions if solution is not None]


def _betting_key(spot: Spot) -> Any:
    """What the betting of a spot is made from."""
    facts = [(f.name, getattr(spot, f.name)) for f in fields(spot) if f.name not in CARDS]
    return (len(spot.board), *facts)


class _Goal(NamedTuple):
    """When a solve ends."""

    iterations: int
    until: float | None
    seconds: float | None
    check_every: int

    def next(self, done: int, spent: float, seconds: float) -> int:
        """Iterations until the next look, `spent` being the seconds so far: few, where time is short; 0: the end."""
        left = self.iterations - done
        if self.until is not None:
            left = min(left, self.check_every - done % self.check_every)
        if self.seconds is None or left <= 0:
            return left
        if not done:
            return 1
        one = spent / done
        # What an answer costs in the end, about an iteration, and twice that where the machine falters.
        return int(max(0, min(left, (seconds - spent) / one - 3)))


def _solve(batch: BatchWalker, rule: AnySchedule, goal: _Goal, dtype: str) -> list[Solution]:
    open_, done, began = list(range(len(batch.walkers))), 0, time.perf_counter()
    ended = [0] * len(open_)
    seconds = (goal.seconds or 0.0) * len(open_)
    weight = 0.0
    while open_ and (count := goal.next(done, time.perf_counter() - began, seconds)):
        if goal.seconds is not None:  # in pieces, so that a slow one is noticed
            count = max(1, count // 4)
        steps, weight = step_rows(rule, done, weight, count)
        batch.learn(steps, open_)
        done += count
        for k in open_:
            ended[k] = done
        if goal.until is not None and done % goal.check_every == 0 and done < goal.iterations:
            measured = batch.each(quality_of, open_)
            open_ = [k for k, q in zip(open_, measured, strict=True) if q.exploitability > goal.until]
    return [
        Solution(
            walker.tree,
            walker.read("average"),
            {
                "game": walker.tree.name,
                "method": "cfr",
                "schedule": str(rule),
                "traversal": "full",
                "iterations": ended[k],
                "seed": 0,
                "dtype": dtype,
                "exploitability": quality.exploitability,
                "unit": walker.tree.unit,
            },
            walker.read("root_average") if "root_average" in walker.names else None,
        )
        for k, (walker, quality) in enumerate(zip(batch.walkers, batch.each(quality_of), strict=True))
    ]
