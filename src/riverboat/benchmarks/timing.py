"""Timing of work, and rows of benchmarks."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Row: TypeAlias = dict[str, Any]


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of `work` and its seconds."""
    started = clock.perf_counter()
    return work(), clock.perf_counter() - started


def best_seconds(work: Callable[[int], object], min_seconds: float = 0.2, rounds: int = 5) -> float:
    """Return the seconds of one repetition of `work`: the best round, each of at least `min_seconds` seconds."""
    work(1)
    count = 1
    while (spent := timed(partial(work, count))[1]) < min_seconds:
        count *= 2
    return min(spent, *(timed(partial(work, count))[1] for _ in range(rounds))) / count


def repeated(work: Callable[[], object]) -> Callable[[int], None]:
    """Return a function that does the work some number of times."""

    def run(count: int) -> None:
        for _ in range(count):
            work()

    return run


def round_figures(row: Row) -> Row:
    """Round the floats of a row to four digits."""
    return {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in row.items()}
