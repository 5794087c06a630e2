"""What the figures of the public-chance paper share: runs measured each time after twice as long, and factors of time.

Time is that of the processor, of one core, without the measuring: it does not depend on what else the machine does. At full
size each run is a piece (`papers.pieces`), so that an interrupted figure goes on where it was.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from riverboat.core.errors import InputError
from riverboat.papers.framework import Curve
from riverboat.papers.pieces import Pieces
from riverboat.papers.rows import Row, finding, new

SAMPLERS = {"chance": "CS", "opcs": "OPCS", "spcs": "SPCS", "pcs": "PCS"}


@dataclass(frozen=True)
class Check:
    """A run at a check."""

    seconds: float  # of one core, until then
    iterations: int
    visited: int  # decisions, each as often as it carries hands
    figure: float  # what is measured: the less the better


def doublings(
    step: Callable[[int], None],
    done: Callable[[], int],
    seconds: float,
    checks: int,
    clock: Callable[[], float] = time.process_time,
) -> Iterator[float]:
    """Work in steps, and say how long it took after seconds / 2^(checks - 1), …, seconds / 2 and seconds."""
    return stages(step, done, [seconds / 2 ** (checks - 1 - k) for k in range(checks)], clock)


def stages(
    step: Callable[[int], None],
    done: Callable[[], int],
    targets: Sequence[float],
    clock: Callable[[], float] = time.process_time,
) -> Iterator[float]:
    """Work in steps, and say how long it took after each of some numbers of seconds.

    `done` counts iterations: a step may do more of them than it was asked for.
    """
    spent, chunk = 0.0, 1
    for target in targets:
        while spent < target:
            begun, before = clock(), done()
            step(chunk)
            took = max(clock() - begun, 1e-6)
            spent += took
            rate = (done() - before) / took
            chunk = max(1, min(2 * chunk, int(rate * (target - spent) / 2)))
        yield spent


def checks_of(seconds: float, first: float) -> int:
    """How many checks a run has whose first comes after `first` seconds, or somewhat later."""
    if seconds < first:
        raise InputError(f"seconds={seconds:g}: the first check comes after {first:g}")
    return int(math.log2(seconds / first)) + 1


def piece(pieces: Pieces, what: str, make: Callable[[], Sequence[Check]]) -> list[Check] | None:
    """A run with its checks, from its piece where that is there; None where it is not, and is not to be made."""

    def columns() -> dict[str, list[float]]:
        run = make()
        return {
            "spent": [c.seconds for c in run],
            "iterations": [c.iterations for c in run],
            "visited": [c.visited for c in run],
            "figure": [c.figure for c in run],
        }

    figures = pieces.get(what, columns)
    if figures is None:
        return None
    numbers = zip(*(figures[name] for name in ("spent", "iterations", "visited", "figure")), strict=True)
    return [Check(float(spent), int(done), int(visits), float(x)) for spent, done, visits, x in numbers]


def shown_seconds(seconds: float) -> str:
    """Two digits, or as many as stand before the point."""
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


def mean_run(runs: Sequence[Sequence[Check]]) -> list[Check]:
    """Several runs as one: geometric means at each check, as the axes are logarithmic."""
    return [
        Check(
            math.exp(np.mean([math.log(c.seconds) for c in here])),
            int(np.mean([c.iterations for c in here])),
            int(np.mean([c.visited for c in here])),
            math.exp(np.mean([math.log(c.figure) for c in here])),
        )
        for here in zip(*runs, strict=True)
    ]


def time_to(run: Sequence[Check], figure: float) -> tuple[float, bool]:
    """When a run came down to a figure, along straight lines between its checks on logarithmic axes; and whether it did.

    Before the first check nothing is known, and a run that never came so far needs at least as long as it took: then the
    time is a bound, and false stands beside it.
    """
    if run[0].figure <= figure:
        return run[0].seconds, False
    for before, after in pairwise(run):
        if after.figure <= figure < before.figure:
            share = math.log(before.figure / figure) / math.log(before.figure / after.figure)
            return before.seconds * (after.seconds / before.seconds) ** share, True
    return run[-1].seconds, False


def speed_up(slow: Sequence[Check], fast: Sequence[Check]) -> tuple[float, str]:
    """How many times as long the first takes as the second to the figure at which the worse of the two ends; in words."""
    target = max(slow[-1].figure, fast[-1].figure)
    (first, sure), (second, safe) = time_to(slow, target), time_to(fast, target)
    bound = "" if sure and safe else ", a bound"
    return first / second, f"to {target:.4g}: {first:.3g} s against {second:.3g} s{bound}"


def rows_of(runs: Mapping[str, Sequence[Sequence[Check]]], unit: str) -> list[Row]:
    """Figures of all samplers at all checks: means over seeds, and the least and the most of them."""
    rows = []
    for name, some in runs.items():
        for k, check in enumerate(mean_run(some)):
            figures = [run[k].figure for run in some]
            interval = (min(figures), max(figures)) if len(some) > 1 else None
            note = f"{unit}; {check.iterations:,} iterations, {check.visited:,} visits"
            rows.append(new(f"{name}, {shown_seconds(check.seconds)}", check.figure, interval, note=note))
    return rows


def claims(runs: Mapping[str, Sequence[Sequence[Check]]], what: str, better: str, worse: Sequence[str]) -> list[Row]:
    """The paper's claim that one sampler is faster than others: at the end, and by what factor of time."""
    means = {name: mean_run(some) for name, some in runs.items()}
    rows = []
    for other in worse:
        share = means[better][-1].figure / means[other][-1].figure
        factor, words = speed_up(means[other], means[better])
        rows.append(finding(f"{what}: {better} at the end, shares of {other}", 1.0, share, "<="))
        rows.append(new(f"{what}: times as long as {better} that {other} takes", factor, note=words))
    return rows


def curves_of(runs: Mapping[str, Sequence[Sequence[Check]]], panel: str) -> list[Curve]:
    """A line for each sampler."""
    return [
        Curve(name, tuple(c.seconds for c in mean), tuple(c.figure for c in mean), panel)
        for name, mean in ((name, mean_run(some)) for name, some in runs.items())
    ]
