"""Solving many spots at once: what search and training data ask for, thousands of small subgames."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

from riverboat.errors import InputError
from riverboat.games.spot import Spot
from riverboat.solving import schedules
from riverboat.solving.boards import BOARD_SCHEDULE, quality_of, step_rows
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
    check_every: int = 50,
    schedule: str | AnySchedule = BOARD_SCHEDULE,
    threads: int = 1,
    dtype: str = "compact",
    memory: int | None = None,
) -> list[Solution]:
    """Solve spots, with whatever stands at their roots, in the order given.

    Spots with the same betting share its tree. Threads take spots in turn, of all bettings where there are several, or the
    boards of one that is alone; each answer is the one that the spot would get alone, to the bit. Every spot gets
    `iterations`, or fewer where exploitability falls to `until` (in % of the pot, looked at every `check_every`
    iterations). The provenance of a solution says how many, and how exploitable it is.
    """
    if iterations < 0:
        raise InputError(f"iterations={iterations}: must not be negative")
    if check_every < 1:
        raise InputError(f"check_every={check_every}: must be at least 1")
    groups: dict[Any, list[int]] = {}
    for number, spot in enumerate(spots):
        groups.setdefault(_betting_key(spot), []).append(number)
    found: list[Solution | None] = [None] * len(spots)
    rule = schedules.parse(schedule)
    side_by_side = threads if len(groups) > 1 else 1

    def solve(numbers: list[int]) -> None:
        own = 1 if side_by_side > 1 else threads
        walker = BatchWalker(
            alike_trees([spots[n] for n in numbers]),
            table_format(dtype),
            predictive=rule.predictive,
            simultaneous=not rule.alternating,
            threads=own,
            rule=rule.rule,
            memory=memory,
        )
        for n, solution in zip(numbers, _solve(walker, rule, iterations, until, check_every, dtype), strict=True):
            found[n] = solution

    if side_by_side > 1:
        with ThreadPoolExecutor(side_by_side, thread_name_prefix="riverboat") as pool:
            list(pool.map(solve, groups.values()))
    else:
        for numbers in groups.values():
            solve(numbers)
    return [solution for solution in found if solution is not None]


def _betting_key(spot: Spot) -> Any:
    """What the betting of a spot is made from."""
    facts = [(f.name, getattr(spot, f.name)) for f in fields(spot) if f.name not in CARDS]
    return (len(spot.board), *facts)


def _solve(
    batch: BatchWalker, rule: AnySchedule, iterations: int, until: float | None, check_every: int, dtype: str
) -> list[Solution]:
    open_, done = list(range(len(batch.walkers))), 0
    ended = [iterations] * len(open_)
    weight = 0.0
    while done < iterations and open_:
        count = min(check_every, iterations - done) if until is not None else iterations
        steps, weight = step_rows(rule, done, weight, count)
        batch.learn(steps, open_)
        done += count
        if until is not None and done < iterations:
            for k, quality in zip(open_, batch.each(quality_of, open_), strict=True):
                ended[k] = done if quality.exploitability <= until else iterations
            open_ = [k for k in open_ if ended[k] == iterations]
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
