"""Benchmarks of a GPU on fixed workloads, next to its memory bandwidth; compile time is separate.

The bytes of an iteration are a minimum: each regret is read twice (for the player and as the opponent's) and written once,
each average is read and written once. Vectors of hands add to it if they do not stay in cache.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

import numpy as np

from riverboat.benchmarks.blueprints import training_speed
from riverboat.benchmarks.spots import read_example_spot, run_to_targets
from riverboat.benchmarks.timing import Row, round_figures, timed
from riverboat.cards.notation import format_cards
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import trees_of_one_shape
from riverboat.engines.devices import CPU, CUDA, resolve_device
from riverboat.engines.tables import parse_table_format
from riverboat.games.boards.holdem import holdem
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards import cfr
from riverboat.solvers.boards.batches import BatchGoal, run_batch
from riverboat.solvers.schedules import AnySchedule
from riverboat.trees.boards import BoardTree

TITLES = {
    "device": "the device",
    "device_iterations": "iterations on the device",
    "device_targets": "spots and games on the device: time to an exploitability, checks included",
    "device_training": "training by deals on the device",
    "device_batches": "batches on the device: endgames with all hands, to an exploitability in % of the pot",
}
ALL_HANDS = "random"
EXPLOITABILITY_TARGETS = (0.5, 0.3, 0.1)


def run_device_benchmarks(device: str) -> dict[str, list[Row]]:
    """Run all GPU benchmarks; raise an error if there is no GPU."""
    if resolve_device(device) == CPU:
        raise InputError(f"--device {device}: no GPU is available; without --device the CPU is measured")
    speed = copy_bandwidth()
    copies = {"what": "copies its own memory at", "gigabytes_a_second": round(speed / 1e9)}
    report: dict[str, list[Row]] = {"device": [copies]}
    rivers = trees_of_one_shape(random_endgames(500, 5, 10.0, "33%,66%,100%", "2.5x,a"))
    pot, turn = (BoardTree(read_example_spot(name)) for name in ("3bet_pot", "turn"))
    report["device_iterations"] = [
        iteration_speed("4,000 rivers, all hands, 122 actions", rivers * 8, speed),
        iteration_speed("3bet_pot", [pot], speed),
        iteration_speed("turn", [turn], speed),
    ]
    report["device_targets"] = [
        row for dtype in ("compact", "16-bit") for row in times_to_targets("3bet_pot", pot, cfr.BOARD_SCHEDULE, dtype)
    ]
    report["device_training"] = training_speed(CUDA)
    limit = BoardTree(holdem("2-4"))
    report["device_targets"] += times_to_targets("holdem:2-4", limit, cfr.LIMIT_SCHEDULE, "compact", (1.0,))
    report["device_batches"] = [
        batch_speed(name, random_endgames(count, cards, pots, "75%", "3x"), 0.3, rule)
        for name, count, cards, pots, rule in (
            ("4,000 rivers, 20 pots behind", 4000, 5, 20.0, cfr.LAST_STREET_SCHEDULE),
            ("64 turns, 5 pots behind", 64, 4, 5.0, cfr.SEVERAL_STREETS_SCHEDULE),
            ("64 turns, 40 pots behind", 64, 4, 40.0, cfr.SEVERAL_STREETS_SCHEDULE),
        )
    ]
    return report


def copy_bandwidth(size: int = 1 << 30) -> float:
    """Measure the bytes per second, read and written, of copies within the device's memory."""
    from riverboat.engines.cuda.compilation import cuda

    first, second = (cuda.device_array(size, np.uint8) for _ in range(2))

    def copy(count: int) -> None:
        for _ in range(count):
            second.copy_to_device(first)
        cuda.synchronize()

    copy(1)  # compiles nothing, but touches the memory first
    return 20.0 * size / timed(lambda: copy(10))[1]


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
    steps, _ = cfr.schedule_rows(cfr.BOARD_SCHEDULE, 0, 0.0, count)
    engine.iterate(steps)
    seconds = min(timed(lambda: engine.iterate(steps))[1] for _ in range(3)) / count
    numbers = sum(tree.table_size for tree in trees)
    used = numbers * (3 * np.dtype(form.regret).itemsize + 2 * np.dtype(form.average).itemsize) / seconds
    boards = sum(int(tree.street_start[-1] - tree.street_start[-2]) for tree in trees)
    row: Row = {"spots": name, "millions_of_numbers": numbers / 1e6, "milliseconds": seconds * 1e3}
    row |= {"microseconds_a_river": seconds * 1e6 / boards, "gigabytes_a_second": used / 1e9}
    return round_figures(row | {"of_copy_speed": used / bandwidth})


def times_to_targets(
    name: str, tree: BoardTree, schedule: AnySchedule, dtype: str, targets: Sequence[float] = EXPLOITABILITY_TARGETS
) -> list[Row]:
    """Measure the seconds to each exploitability target, checks included; give up after a minute."""
    checks, _ = run_to_targets(tree, targets, 60.0, schedule=schedule, dtype=dtype, device=CUDA)
    rows = []
    for goal, check in zip(targets, checks, strict=False):
        row: Row = {"spot": name, "schedule": str(schedule), "tables": dtype, "goal": goal, "unit": tree.unit}
        row |= {"iterations": check.iteration, "exploitability": check.exploitability, "seconds": check.seconds}
        rows.append(round_figures(row))
    return rows


def batch_speed(name: str, spots: Sequence[Spot], goal: float, schedule: AnySchedule) -> Row:
    """Solve a batch as `solve_many` does, with set-up timed separately."""
    from riverboat.engines.cuda.board_engine import CudaBatchEngine

    trees, built = timed(lambda: trees_of_one_shape(spots))
    start = clock.perf_counter()
    engine = CudaBatchEngine(trees, parse_table_format("compact"), stakes=schedule.stakes)
    engine.compile()
    uploaded = clock.perf_counter() - start
    limits = BatchGoal(1000, goal, None, check_every=10)
    answers, seconds = timed(lambda: run_batch(engine, schedule, limits, "compact"))
    row: Row = {"spots": name, "goal": goal, "schedule": str(schedule)}
    row["left"] = sum(quality.exploitability > goal for _, quality in answers)
    row["iterations"] = max(solution.provenance["iterations"] for solution, _ in answers)
    row |= {"seconds": seconds, "milliseconds_each": 1e3 * seconds / len(spots)}
    return round_figures(row | {"trees_seconds": built, "upload_seconds": uploaded})
