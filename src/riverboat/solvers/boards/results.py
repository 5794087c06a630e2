"""Results of spots that are solved side by side on a GPU: what a report over many boards needs."""

from __future__ import annotations

import time
from collections.abc import Sequence

from riverboat.games.spots.spot import Spot
from riverboat.solvers import schedules
from riverboat.solvers.boards.batches import Goal, judged
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE, table_bytes
from riverboat.solvers.result import LAST, Result, figures
from riverboat.solvers.schedules import AnySchedule
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.solution import Solution

MOST = 100_000  # iterations, where exploitability decides
CHECK_EVERY = 5


def solve_side_by_side(
    spots: Sequence[Spot],
    device: str,
    *,
    iterations: int | None = None,
    until: float | None = None,
    schedule: str | AnySchedule | None = None,
    dtype: str | None = None,
) -> list[Result]:
    """Each as `solve` would answer, to rounding; the seconds are shares of what all took."""
    rule = schedules.parse(BOARD_SCHEDULE if schedule is None else schedule)
    kind, began = dtype or "compact", time.perf_counter()
    goal = Goal(MOST if iterations is None else iterations, until, None, CHECK_EVERY)
    answers = judged(spots, goal, rule, kind, device)
    seconds = (time.perf_counter() - began) / max(1, len(spots))
    return [_result(solution, quality, rule, kind, until, seconds) for solution, quality in answers]


def _result(
    solution: Solution, quality: Quality, rule: AnySchedule, dtype: str, until: float | None, seconds: float
) -> Result:
    facts, tree = solution.provenance, solution.tree
    return Result(
        game=facts["game"],
        method="cfr",
        schedule=facts["schedule"],
        traversal=facts["traversal"],
        iterations=facts["iterations"],
        seconds=seconds,
        unit=tree.unit,
        infosets=tree.infoset_count,
        seed=0,
        nodes=0,
        reached=until is None or quality.exploitability <= until,
        strategy=solution,
        answer=LAST,
        answer_iteration=facts["iterations"],
        table_bytes=table_bytes(tree, rule, dtype),
        layout_bytes=tree.layout_bytes,
        **figures(quality),
    )
