"""`riverboat bench --device cuda`: fixed work on a GPU, compile time apart, beside the speed of the device's own memory.

The bytes of an iteration are those that it cannot do without: of each number of the tables a regret is read as one's own,
read as the opponent's and written, an average read and written. Vectors of hands come on top, where they are not near
a block.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from typing import Any

import numpy as np

from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.cli.bench.spots import read
from riverboat.core.errors import InputError
from riverboat.engines.cpu.batch_engine import alike_trees
from riverboat.engines.devices import CPU, CUDA, choose
from riverboat.engines.tables import table_format
from riverboat.games.boards.full_holdem import holdem
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import (
    BOARD_SCHEDULE,
    LAST_STREET_SCHEDULE,
    LIMIT_SCHEDULE,
    STAKES_SCHEDULE,
    BoardCFR,
    qualities,
    step_rows,
)
from riverboat.solvers.check_schedule import FIRST, hopeful_check
from riverboat.solvers.schedules import AnySchedule, dcfr
from riverboat.trees.boards import BoardTree

TITLES = {
    "device": "the device",
    "device_iterations": "iterations on it",
    "device_targets": "spots and games on it: time to an exploitability, checks included",
    "device_batches": "batches on it: endgames with all hands, to an exploitability in % of the pot",
}
Row = dict[str, Any]
ALL_HANDS = "random"
GOALS = (0.5, 0.3, 0.1)
WEIGHED = dcfr(alpha=1.3, beta=0.25, gamma=4.0, stakes=0.5)  # needs a tenth to a sixth fewer iterations on 3bet_pot


def run(device: str) -> dict[str, list[Row]]:
    """All tables; refused where there is no device."""
    if choose(device) == CPU:
        raise InputError(f"--device {device}: no GPU is here; without --device the processor is measured")
    speed = copy_speed()
    report: dict[str, list[Row]] = {
        "device": [{"what": "copies its own memory at", "gigabytes_a_second": round(speed / 1e9)}]
    }
    rivers = alike_trees(endgames(500, 5, 10.0, "33%,66%,100%", "2.5x,a"))
    pot, turn = (BoardTree(read(name)) for name in ("3bet_pot", "turn"))
    report["device_iterations"] = [
        iteration("4,000 rivers, all hands, 122 actions", rivers * 8, speed),
        iteration("3bet_pot", [pot], speed),
        iteration("turn", [turn], speed),
    ]
    report["device_targets"] = [
        row
        for rule, dtype in ((BOARD_SCHEDULE, "compact"), (WEIGHED, "compact"), (WEIGHED, "16-bit"))
        for row in targets("3bet_pot", pot, rule, dtype)
    ]
    limit = BoardTree(holdem("2-4"))
    report["device_targets"] += targets("holdem:2-4", limit, LIMIT_SCHEDULE, "compact", (1.0,), 10)
    report["device_batches"] = [
        batch("4,000 rivers, 20 pots behind", endgames(4000, 5, 20.0, "75%", "3x"), 0.3, LAST_STREET_SCHEDULE),
        batch("64 turns, 5 pots behind", endgames(64, 4, 5.0, "75%", "3x"), 0.3, STAKES_SCHEDULE),
        batch("64 turns, 40 pots behind", endgames(64, 4, 40.0, "75%", "3x"), 0.3, STAKES_SCHEDULE),
    ]
    return report


def copy_speed(size: int = 1 << 30) -> float:
    """Bytes a second that the device copies in its memory, read and written."""
    from riverboat.engines.cuda.compilation import cuda

    first, second = (cuda.device_array(size, np.uint8) for _ in range(2))
    second.copy_to_device(first)
    cuda.synchronize()
    start = clock.perf_counter()
    for _ in range(10):
        second.copy_to_device(first)
    cuda.synchronize()
    return 20.0 * size / (clock.perf_counter() - start)


def endgames(count: int, cards: int, pots: float, bets: str, raises: str) -> list[Spot]:
    """Spots on random boards, with all hands."""
    rng, hands = np.random.default_rng(1), Range.parse(ALL_HANDS)
    boards = [show_cards(rng.permutation(52)[:cards].tolist()) for _ in range(count)]
    return [
        Spot.make(board=board, pot=100, stack=round(100 * pots), bets=bets, raises=raises, oop=hands, ip=hands)
        for board in boards
    ]


def iteration(name: str, trees: Sequence[BoardTree], speed: float, count: int = 20) -> Row:
    """Time and bandwidth of an iteration."""
    from riverboat.engines.cuda.board_engine import CudaBatch

    form = table_format("compact")
    walker = CudaBatch(trees, form)
    steps, _ = step_rows(BOARD_SCHEDULE, 0, 0.0, count)
    walker.learn(steps)
    seconds = []
    for _ in range(3):
        start = clock.perf_counter()
        walker.learn(steps)
        seconds.append((clock.perf_counter() - start) / count)
    numbers = sum(tree.table for tree in trees)
    used = numbers * (3 * np.dtype(form.regret).itemsize + 2 * np.dtype(form.average).itemsize) / min(seconds)
    boards = sum(int(tree.street_at[-1] - tree.street_at[-2]) for tree in trees)
    return {
        "spots": name,
        "millions_of_numbers": round(numbers / 1e6, 1),
        "milliseconds": round(min(seconds) * 1e3, 3),
        "microseconds_a_river": round(min(seconds) * 1e6 / boards, 3),
        "gigabytes_a_second": round(used / 1e9),
        "of_copy_speed": round(used / speed, 3),
    }


def targets(
    name: str,
    tree: BoardTree,
    rule: AnySchedule,
    dtype: str,
    aims: Sequence[float] = GOALS,
    every: int = 5,
    most: float = 60.0,
) -> list[Row]:
    """Seconds to some exploitabilities, looked at whenever one could be reached."""
    solver = BoardCFR(tree, rule, dtype=dtype, device=CUDA)
    solver.warm()
    rows: list[Row] = []
    goals, due = list(aims), -(-FIRST // every) * every
    start = clock.perf_counter()
    while goals and clock.perf_counter() - start < most:
        solver.step(due - solver.iteration)
        gap, spent = solver.exploitability(), clock.perf_counter() - start
        while goals and gap <= goals[0]:
            facts = {"iterations": solver.iteration, "exploitability": round(gap, 4), "seconds": round(spent, 3)}
            goal = {"goal": goals.pop(0), "unit": tree.unit}
            rows.append({"spot": name, "schedule": str(rule), "tables": dtype, **goal, **facts})
        due = hopeful_check(solver.iteration, gap, goals[0], every) if goals else due
    return rows


def batch(name: str, spots: Sequence[Spot], goal: float, rule: AnySchedule, every: int = 10, most: int = 1000) -> Row:
    """Solve many at once as `solve_many` does, set-up apart."""
    from riverboat.engines.cuda.board_engine import CudaBatch

    start = clock.perf_counter()
    trees = alike_trees(spots)
    middle = clock.perf_counter()
    walker = CudaBatch(trees, table_format("compact"), stakes=rule.stakes)
    walker.warm()
    ready = clock.perf_counter()
    left, due, done, weight = list(range(len(trees))), [every] * len(trees), 0, 0.0
    while left and done < most:
        steps, weight = step_rows(rule, done, weight, min(due[g] for g in left) - done)
        walker.learn(steps, left)
        done += len(steps)
        looked = [g for g in left if due[g] == done]
        for g, quality in zip(looked, qualities(walker, looked), strict=True):
            due[g] = hopeful_check(done, quality.exploitability, goal, every)
            if quality.exploitability <= goal:
                left.remove(g)
    seconds = clock.perf_counter() - ready
    return {
        "spots": name,
        "goal": goal,
        "schedule": str(rule),
        "left": len(left),
        "iterations": done,
        "seconds": round(seconds, 3),
        "milliseconds_each": round(1e3 * seconds / len(spots), 3),
        "trees_seconds": round(middle - start, 3),
        "upload_seconds": round(ready - middle, 3),
    }
