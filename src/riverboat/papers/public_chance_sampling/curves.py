"""Shared parts of the figures of Johanson et al. (2012): runs with checks at doubling times, and speed-up factors.

Time is CPU time of one core, without measurements, so it does not depend on the load of the machine. At full size each
run is a cached part (`papers.framework`), so that an interrupted figure resumes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import geometric_mean
from typing import NamedTuple

import numpy as np

from riverboat.core.errors import InputError
from riverboat.papers.framework import Curve, ExperimentParts
from riverboat.papers.rows import ComparisonRow, finding_row, new_row
from riverboat.solvers.mccfr.trainer import BlueprintTrainer

SAMPLERS = {"chance": "CS", "opcs": "OPCS", "spcs": "SPCS", "pcs": "PCS"}
CS_AND_PCS = {"chance": "CS", "pcs": "PCS"}


class TrainingCheck(NamedTuple):
    """A measurement of a training run."""

    seconds: float  # CPU time until the check
    iterations: int
    infosets_visited: int  # decisions, counted once for each hand
    value: float  # the measure: smaller is better


def doubling_times(seconds: float, checks: int) -> list[float]:
    """Return seconds / 2^(checks - 1), …, seconds / 2 and seconds."""
    return [seconds / 2 ** (checks - 1 - k) for k in range(checks)]


def iterate_target_times(
    step: Callable[[int], None],
    count_iterations: Callable[[], int],
    targets: Sequence[float],
    clock: Callable[[], float] = time.process_time,
) -> Iterator[float]:
    """Call `step` until each target time is reached, and yield the elapsed time; time between yields does not count.

    `step` takes a number of iterations and may do more of them; `count_iterations` returns how many were done.
    """
    elapsed, chunk = 0.0, 1
    for target in targets:
        while elapsed < target:
            start_time, before = clock(), count_iterations()
            step(chunk)
            duration = max(clock() - start_time, 1e-6)
            elapsed += duration
            rate = (count_iterations() - before) / duration
            chunk = max(1, min(2 * chunk, int(rate * (target - elapsed) / 2)))
        yield elapsed


def train_with_checks(
    trainer: BlueprintTrainer, measure: Callable[[BlueprintTrainer], float], seconds: float, checks: int
) -> list[TrainingCheck]:
    """Train for `seconds` of CPU time, and call `measure` at `checks` doubling times (`doubling_times`)."""
    return [
        TrainingCheck(elapsed, trainer.iterations, trainer.updates, measure(trainer))
        for elapsed in iterate_target_times(trainer.step, lambda: trainer.iterations, doubling_times(seconds, checks))
    ]


def num_checks(seconds: float, first_check: float) -> int:
    """Return the number of checks of a run whose first check comes after `first_check` seconds."""
    if seconds < first_check:
        raise InputError(f"seconds={seconds:g}: must be at least {first_check:g}, the time of the first check")
    return int(math.log2(seconds / first_check)) + 1


def cached_run(
    parts: ExperimentParts, part_name: str, train: Callable[[], Sequence[TrainingCheck]]
) -> list[TrainingCheck] | None:
    """Return a run with its checks from its cached part; None if it is neither cached nor requested."""

    names = ("spent", "iterations", "visited", "figure")  # arrays of the part, in the order of the fields
    arrays = parts.get_or_compute(part_name, lambda: dict(zip(names, zip(*train(), strict=True), strict=True)))
    if arrays is None:
        return None
    numbers = zip(*(arrays[name].tolist() for name in names), strict=True)
    return [TrainingCheck(seconds, int(iterations), int(visits), x) for seconds, iterations, visits, x in numbers]


def cached_runs(
    parts: ExperimentParts, train: Callable[[str], Sequence[TrainingCheck]], prefix: str = ""
) -> dict[str, list[list[TrainingCheck]]]:
    """Return the available runs of CS and PCS by name, each from its cached part; `train` takes the traversal."""
    runs = {name: cached_run(parts, prefix + name, partial(train, key)) for key, name in CS_AND_PCS.items()}
    return {name: [run] for name, run in runs.items() if run is not None}


def format_seconds(seconds: float) -> str:
    """Format seconds with two digits, or with all digits before the decimal point."""
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


def geometric_mean_run(runs: Sequence[Sequence[TrainingCheck]]) -> list[TrainingCheck]:
    """Return geometric means of several runs at each check, as the axes are logarithmic."""
    return [
        TrainingCheck(
            geometric_mean(c.seconds for c in same_check),
            int(np.mean([c.iterations for c in same_check])),
            int(np.mean([c.infosets_visited for c in same_check])),
            geometric_mean(c.value for c in same_check),
        )
        for same_check in zip(*runs, strict=True)
    ]


def time_to_reach(run: Sequence[TrainingCheck], value: float) -> tuple[float, bool]:
    """Return the time at which a run reached a value, by log-log interpolation, and whether it is exact.

    The time is only a bound if the first check is already below the value, or if the run never reached it.
    """
    if run[0].value <= value:
        return run[0].seconds, False
    for before, after in pairwise(run):
        if after.value <= value < before.value:
            share = math.log(before.value / value) / math.log(before.value / after.value)
            return before.seconds * (after.seconds / before.seconds) ** share, True
    return run[-1].seconds, False


def speed_up(slow: Sequence[TrainingCheck], fast: Sequence[TrainingCheck]) -> tuple[float, str]:
    """Return the ratio of times of two runs to the final value of the worse one, and a description."""
    target = max(slow[-1].value, fast[-1].value)
    (first, first_exact), (second, second_exact) = time_to_reach(slow, target), time_to_reach(fast, target)
    bound = "" if first_exact and second_exact else ", a bound"
    return first / second, f"to {target:.4g}: {first:.3g} s against {second:.3g} s{bound}"


def sampler_rows(runs: Mapping[str, Sequence[Sequence[TrainingCheck]]], unit: str) -> list[ComparisonRow]:
    """Return the values of all samplers at all checks: means over seeds, and minimum and maximum."""
    rows = []
    for name, seed_runs in runs.items():
        for k, check in enumerate(geometric_mean_run(seed_runs)):
            values = [run[k].value for run in seed_runs]
            interval = (min(values), max(values)) if len(seed_runs) > 1 else None
            note = f"{unit}; {check.iterations:,} iterations, {check.infosets_visited:,} visits"
            rows.append(new_row(f"{name}, {format_seconds(check.seconds)}", check.value, interval, note=note))
    return rows


def claim_rows(runs: Mapping[str, Sequence[Sequence[TrainingCheck]]], measure: str) -> list[ComparisonRow]:
    """Check the paper's claim that PCS is faster than other samplers: at the end, and by what factor of time."""
    means = {name: geometric_mean_run(seed_runs) for name, seed_runs in runs.items()}
    pcs, rows = means.pop("PCS"), []
    for other, mean in means.items():
        share, (factor, note) = pcs[-1].value / mean[-1].value, speed_up(mean, pcs)
        rows.append(finding_row(f"{measure}: PCS at the end, shares of {other}", 1.0, share, "<="))
        rows.append(new_row(f"{measure}: times as long as PCS that {other} takes", factor, note=note))
    return rows


def sampler_curves(runs: Mapping[str, Sequence[Sequence[TrainingCheck]]], panel: str) -> list[Curve]:
    """Return a curve of the measured value over time for each sampler, as a geometric mean over seeds."""
    means = {name: geometric_mean_run(seed_runs) for name, seed_runs in runs.items()}
    return [Curve(name, [c.seconds for c in mean], [c.value for c in mean], panel) for name, mean in means.items()]
