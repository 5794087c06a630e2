"""Compare schedules of CFR on twenty spots: iterations to each target, relative to another schedule.

    python bench/schedules.py dcfr:gamma=4 "dcfr:alpha=1.5,beta=0.5,gamma=3"
    python bench/schedules.py --group confirm --base dcfr:alpha=1.4,beta=0.25,gamma=3 default
    python bench/schedules.py --answers

Spots are those of `twenty_spots.toml`. Exploitability is computed every `--every` iterations, and the iteration that meets
a target is interpolated in logarithms. Printed are the ratios for each spot, and their geometric means by target. `--answers`
solves each spot to 0.02 % of the pot and compares the EV with the stored one.
"""

from __future__ import annotations

import argparse
import itertools
import math
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import riverboat as rb
from riverboat.games.spots.spot import Spot
from riverboat.solvers import schedules
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE, BoardCFR
from riverboat.trees.boards import BoardTree

FILE = Path(__file__).parent / "twenty_spots.toml"
TARGETS = (0.5, 0.3, 0.1)  # % of the pot
MOST_ITERATIONS = 1500


def parse(word: str) -> schedules.AnySchedule:
    """Parse a schedule; `default` is that of spots."""
    return BOARD_SCHEDULE if word == "default" else schedules.parse(word)


def read_spots(group: str) -> dict[str, tuple[Spot, Mapping[str, Any]]]:
    """Read the spots of a group with their entries in the file."""
    text = tomllib.loads(FILE.read_text(encoding="utf-8"))
    spots = {}
    for name, entry in text[group].items():
        facts = {key: entry[key] for key in ("board", "pot", "stack", "bets", "raises")}
        spots[name] = Spot.make(oop=text["ranges"][entry["oop"]], ip=text["ranges"][entry["ip"]], **facts), entry
    return spots


def iterations_to_targets(tree: BoardTree, schedule: schedules.AnySchedule, every: int) -> list[float]:
    """Return the iteration that meets each target, interpolated between checks; infinity if none does."""
    solver, checks = BoardCFR(tree, schedule), []
    while solver.iteration < MOST_ITERATIONS and not (checks and checks[-1][1] <= TARGETS[-1]):
        solver.step(every)
        checks.append((solver.iteration, solver.exploitability()))
    return [first_below(checks, target) for target in TARGETS]


def first_below(checks: list[tuple[int, float]], target: float) -> float:
    """Interpolate the iteration after which exploitability is at most the target."""
    for (t0, e0), (t1, e1) in itertools.pairwise(checks):
        if e1 <= target < e0:
            return math.exp(math.log(t0) + (math.log(t1 / t0)) * math.log(e0 / target) / math.log(e0 / e1))
    return checks[0][0] if checks[0][1] <= target else math.inf


def compare(group: str, rows: dict[str, schedules.AnySchedule], every: int, threads: int) -> None:
    """Print the ratio of iterations of each schedule to the first, in the mean and at worst, and iterations of the first."""
    trees = {name: BoardTree(spot) for name, (spot, _) in read_spots(group).items()}
    first = None
    with ThreadPoolExecutor(threads) as pool:
        for label, schedule in rows.items():
            found = list(pool.map(lambda tree, s=schedule: iterations_to_targets(tree, s, every), trees.values()))
            first = found if first is None else first
            logs = np.log(np.array(found) / np.array(first))
            means = "".join(f"{math.exp(mean):8.3f}" for mean in logs.mean(axis=0))
            worst = "".join(f"{math.exp(most):8.3f}" for most in logs.max(axis=0))
            print(f"{label:50}{means}   worst{worst}", flush=True)
    facts = (f"{name} " + "/".join(f"{t:.0f}" for t in row) for name, row in zip(trees, first or [], strict=True))
    print("\niterations of the first: " + "; ".join(facts))


def check_answers() -> None:
    """Solve all spots and compare their EVs with those of the file."""
    for group in ("choose", "confirm"):
        for name, (spot, entry) in read_spots(group).items():
            solution = rb.solve(spot, until=0.02, threads=2)
            value, bound = solution.value, solution.exploitability
            known = entry.get("ev")
            verdict = "no answer yet" if known is None else "agrees" if abs(value - known) <= 2 * bound else "DIFFERS"
            print(
                f"{name:18}{value:10.3f} ± {bound:.3f} % of the pot, {solution.iterations} iterations: {verdict}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schedules", nargs="*", help="schedules as in --schedule")
    parser.add_argument("--base", default="default", help="schedule to which the others are compared")
    parser.add_argument("--group", choices=("choose", "confirm"), default="choose")
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="spots that are solved at once")
    parser.add_argument("--answers", action="store_true")
    options = parser.parse_args()
    if options.answers:
        check_answers()
    else:
        words = [options.base, *options.schedules]
        compare(options.group, {word: parse(word) for word in words}, options.every, options.threads)


if __name__ == "__main__":
    main()
