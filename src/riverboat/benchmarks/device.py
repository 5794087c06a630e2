"""Benchmarks of a GPU on fixed workloads, next to its memory bandwidth; compile time is separate.

The bytes of an iteration are a minimum: each regret is read twice (for the player and as the opponent's) and written once,
each average is read and written once. Vectors of hands add to it if they do not stay in cache.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from typing import Any

import numpy as np

from riverboat.benchmarks.spots import read_example_spot
from riverboat.cards.notation import format_cards
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import trees_of_one_shape
from riverboat.engines.devices import CPU, CUDA, resolve_device
from riverboat.engines.tables import parse_table_format
from riverboat.games.boards.holdem import holdem
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import (
    BOARD_SCHEDULE,
    LAST_STREET_SCHEDULE,
    LIMIT_SCHEDULE,
    SEVERAL_STREETS_SCHEDULE,
    BoardCFR,
    batch_qualities,
    schedule_rows,
)
from riverboat.solvers.schedules import AnySchedule, dcfr
from riverboat.solvers.solver_run import FIRST_BOARD_CHECK, optimistic_check
from riverboat.trees.boards import BoardTree

TITLES = {
    "device": "the device",
    "device_iterations": "iterations on the device",
    "device_targets": "spots and games on the device: time to an exploitability, checks included",
    "device_batches": "batches on the device: endgames with all hands, to an exploitability in % of the pot",
}
Row = dict[str, Any]
ALL_HANDS = "random"
EXPLOITABILITY_TARGETS = (0.5, 0.3, 0.1)
STAKES_WEIGHTED_SCHEDULE = dcfr(
    alpha=1.3, beta=0.25, gamma=4.0, stakes=0.5
)  # 10 % to 17 % fewer iterations on 3bet_pot


def run_device_benchmarks(device: str) -> dict[str, list[Row]]:
    """Run all GPU benchmarks; raise an error if there is no GPU."""
    if resolve_device(device) == CPU:
        raise InputError(f"--device {device}: no GPU is available; without --device the CPU is measured")
    speed = copy_bandwidth()
    report: dict[str, list[Row]] = {
        "device": [{"what": "copies its own memory at", "gigabytes_a_second": round(speed / 1e9)}]
    }
    rivers = trees_of_one_shape(random_endgames(500, 5, 10.0, "33%,66%,100%", "2.5x,a"))
    pot, turn = (BoardTree(read_example_spot(name)) for name in ("3bet_pot", "turn"))
    report["device_iterations"] = [
        iteration_speed("4,000 rivers, all hands, 122 actions", rivers * 8, speed),
        iteration_speed("3bet_pot", [pot], speed),
        iteration_speed("turn", [turn], speed),
    ]
    report["device_targets"] = [
        row
        for rule, dtype in (
            (BOARD_SCHEDULE, "compact"),
            (STAKES_WEIGHTED_SCHEDULE, "compact"),
            (STAKES_WEIGHTED_SCHEDULE, "16-bit"),
        )
        for row in times_to_targets("3bet_pot", pot, rule, dtype)
    ]
    limit = BoardTree(holdem("2-4"))
    report["device_targets"] += times_to_targets("holdem:2-4", limit, LIMIT_SCHEDULE, "compact", (1.0,), 10)
    report["device_batches"] = [
        batch_speed(
            "4,000 rivers, 20 pots behind", random_endgames(4000, 5, 20.0, "75%", "3x"), 0.3, LAST_STREET_SCHEDULE
        ),
        batch_speed("64 turns, 5 pots behind", random_endgames(64, 4, 5.0, "75%", "3x"), 0.3, SEVERAL_STREETS_SCHEDULE),
        batch_speed(
            "64 turns, 40 pots behind", random_endgames(64, 4, 40.0, "75%", "3x"), 0.3, SEVERAL_STREETS_SCHEDULE
        ),
    ]
    return report


def copy_bandwidth(size: int = 1 << 30) -> float:
    """Measure the bytes per second, read and written, of copies within the device's memory."""
    from riverboat.engines.cuda.compilation import cuda

    first, second = (cuda.device_array(size, np.uint8) for _ in range(2))
    second.copy_to_device(first)
    cuda.synchronize()
    start = clock.perf_counter()
    for _ in range(10):
        second.copy_to_device(first)
    cuda.synchronize()
    return 20.0 * size / (clock.perf_counter() - start)


def random_endgames(count: int, cards: int, pots: float, bets: str, raises: str) -> list[Spot]:
    """Return spots on random boards with all hands in both ranges."""
    rng, hands = np.random.default_rng(1), Range.parse(ALL_HANDS)
    boards = [format_cards(rng.permutation(52)[:cards].tolist()) for _ in range(count)]
    return [
        Spot.make(board=board, pot=100, stack=round(100 * pots), bets=bets, raises=raises, oop=hands, ip=hands)
        for board in boards
    ]


def iteration_speed(name: str, trees: Sequence[BoardTree], bandwidth: float, count: int = 20) -> Row:
    """Measure the time and the memory bandwidth of an iteration."""
    from riverboat.engines.cuda.board_engine import CudaBatchEngine

    form = parse_table_format("compact")
    engine = CudaBatchEngine(trees, form)
    steps, _ = schedule_rows(BOARD_SCHEDULE, 0, 0.0, count)
    engine.iterate(steps)
    seconds = []
    for _ in range(3):
        start = clock.perf_counter()
        engine.iterate(steps)
        seconds.append((clock.perf_counter() - start) / count)
    numbers = sum(tree.table_size for tree in trees)
    used = numbers * (3 * np.dtype(form.regret).itemsize + 2 * np.dtype(form.average).itemsize) / min(seconds)
    boards = sum(int(tree.street_start[-1] - tree.street_start[-2]) for tree in trees)
    return {
        "spots": name,
        "millions_of_numbers": round(numbers / 1e6, 1),
        "milliseconds": round(min(seconds) * 1e3, 3),
        "microseconds_a_river": round(min(seconds) * 1e6 / boards, 3),
        "gigabytes_a_second": round(used / 1e9),
        "of_copy_speed": round(used / bandwidth, 3),
    }


def times_to_targets(
    name: str,
    tree: BoardTree,
    schedule: AnySchedule,
    dtype: str,
    targets: Sequence[float] = EXPLOITABILITY_TARGETS,
    check_every: int = 5,
    max_seconds: float = 60.0,
) -> list[Row]:
    """Measure the seconds to each exploitability target, checked whenever the next one could be reached."""
    solver = BoardCFR(tree, schedule, dtype=dtype, device=CUDA)
    solver.warm()
    rows: list[Row] = []
    remaining, due = list(targets), -(-FIRST_BOARD_CHECK // check_every) * check_every
    start = clock.perf_counter()
    while remaining and clock.perf_counter() - start < max_seconds:
        solver.step(due - solver.iteration)
        gap, spent = solver.exploitability(), clock.perf_counter() - start
        while remaining and gap <= remaining[0]:
            facts = {"iterations": solver.iteration, "exploitability": round(gap, 4), "seconds": round(spent, 3)}
            goal = {"goal": remaining.pop(0), "unit": tree.unit}
            rows.append({"spot": name, "schedule": str(schedule), "tables": dtype, **goal, **facts})
        due = optimistic_check(solver.iteration, gap, remaining[0], check_every) if remaining else due
    return rows


def batch_speed(
    name: str,
    spots: Sequence[Spot],
    goal: float,
    schedule: AnySchedule,
    check_every: int = 10,
    max_iterations: int = 1000,
) -> Row:
    """Solve a batch as `solve_many` does, with set-up timed separately."""
    from riverboat.engines.cuda.board_engine import CudaBatchEngine

    start = clock.perf_counter()
    trees = trees_of_one_shape(spots)
    middle = clock.perf_counter()
    engine = CudaBatchEngine(trees, parse_table_format("compact"), stakes=schedule.stakes)
    engine.compile()
    ready = clock.perf_counter()
    left, due, done, weight = list(range(len(trees))), [check_every] * len(trees), 0, 0.0
    while left and done < max_iterations:
        steps, weight = schedule_rows(schedule, done, weight, min(due[g] for g in left) - done)
        engine.iterate(steps, left)
        done += len(steps)
        checked = [g for g in left if due[g] == done]
        for g, quality in zip(checked, batch_qualities(engine, checked), strict=True):
            due[g] = optimistic_check(done, quality.exploitability, goal, check_every)
            if quality.exploitability <= goal:
                left.remove(g)
    seconds = clock.perf_counter() - ready
    return {
        "spots": name,
        "goal": goal,
        "schedule": str(schedule),
        "left": len(left),
        "iterations": done,
        "seconds": round(seconds, 3),
        "milliseconds_each": round(1e3 * seconds / len(spots), 3),
        "trees_seconds": round(middle - start, 3),
        "upload_seconds": round(ready - middle, 3),
    }
