"""Hold'em benchmarks: spots, [2-1] hold'em, and a plain C++ program on the same river.

An infoset-action is one entry of a table. There are two counts: as stored, where suit-isomorphic hands share a row, and with
one row per hand, as other solvers count. Seconds to a target include the exploitability checks.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riverboat.benchmarks.timing import Row, best_seconds, round_figures, timed
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.ranking import rank_batch
from riverboat.core.errors import InputError
from riverboat.engines.tables import TABLE_FORMATS
from riverboat.games import registry
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.menus import menu_from_table
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.result import SolveProgress
from riverboat.solvers.run import CFRRun, default_schedule
from riverboat.solvers.run_loop import after_seconds, exploitability_below
from riverboat.strategies.reports.node import node_summary
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

REPOSITORY_ROOT = Path(__file__).parents[3]  # spots and the C++ program are not part of the package
SPOT_FOLDER, CPP_PROGRAM = REPOSITORY_ROOT / "examples" / "spots", REPOSITORY_ROOT / "bench" / "plain_river.cpp"
TITLES = {
    "spot_sizes": "spots: infoset-actions and MB",
    "spot_bytes": "spots: bytes per infoset-action",
    "spot_speed": "spots: one iteration for both players",
    "spot_targets": "spots: time to an exploitability in % of the pot, checks included",
    "all_hands": "subgames with all hands, time to an exploitability in % of the pot",
    "spot_values": "three-bet pot: values at the last target",
    "holdem": "[2-1] hold'em, unabstracted, to 1 mbb/g",
    "calibration": "a river with 1,081 hands each and 122 actions, one thread, against plain C++",
}


class PublishedTimings(NamedTuple):
    """Timings of the fastest open solver (Rust, float32, built for the native CPU) on a 2-core machine of this kind.

    Only its three-bet pot is the same spot. Its flop, turn and river have as many hands as the examples here; their
    menus were chosen so that flop and turn have as many infoset-actions. Seconds per iteration therefore compare well,
    seconds to a target roughly. Flop, turn and river were timed on one thread; two threads took half of that.
    """

    seconds_per_iteration: dict[int, float]
    seconds: dict[int, dict[float, float]]  # by threads, then by target in % of the pot
    iterations: dict[float, int] | None = None
    table_mb: float | None = None


RUST_TIMINGS = {
    "river": PublishedTimings({1: 0.07e-3, 2: 0.035e-3}, {1: {0.5: 5e-3}, 2: {0.5: 2.5e-3}}),
    "turn": PublishedTimings({1: 0.024, 2: 0.012}, {1: {0.5: 3.1}, 2: {0.5: 1.55}}, table_mb=24),
    "flop": PublishedTimings({1: 0.84, 2: 0.42}, {1: {0.5: 73.0}, 2: {0.5: 36.5}}, table_mb=869),
    "3bet_pot": PublishedTimings(
        {1: 1.18, 2: 0.64}, {2: {0.5: 65.7, 0.3: 79.5, 0.1: 202.5}}, {0.5: 90, 0.3: 110, 0.1: 290}, table_mb=1310
    ),
}
# Bytes per infoset-action: its float32 tables (ours take six bytes), and its 16-bit tables.
RUST_BYTES = {"compact": 8, "16-bit": 4}
# A plain C++ loop on that machine, in the same quarter hour: DCFR on a river with 1,081 hands and 122 actions.
CPP_MILLISECONDS = (0.70, 0.75)
# Values that several solvers agree on, and tolerances.
THREE_BET_VALUES = {"ev_oop": (105.11, 0.2), "ev_ip": (74.89, 0.2), "equity_oop": (0.55347, 0.5e-5)}
TWO_SIZES = "50%, 100%, a", "100%, a", "a"  # bets, raises, later raises
ALL_HANDS_SUBGAMES = (  # board, stack in pots, sizes, target in % of the pot, time budget in seconds on two threads
    ("Ks7d5h2c9s", 5, TWO_SIZES, 0.3, 0.03),
    ("Ks7d5h2c9s", 20, TWO_SIZES, 0.3, 0.03),
    ("Ks7d5h2c", 5, TWO_SIZES, 0.5, 2.0),
    ("Ks7d5h2c", 40, ("66%", "100%"), 0.3, 4.0),
    ("Ks7d5h2c", 40, TWO_SIZES, 0.3, 4.0),
)
HOLDEM_TARGET_SECONDS = 120.0  # time budget of [2-1] hold'em on two threads


def run_spot_benchmarks(full: bool, progress: Callable[[str], None]) -> dict[str, list[Row]]:
    """Run all spot benchmarks; without `full` only those that take seconds."""
    if not SPOT_FOLDER.is_dir():
        progress("bench: examples/spots not found; spots are only timed in a checkout of the repository")
        return {}
    tables: dict[str, list[Row]] = {title: [] for title in TITLES}
    for name in RUST_TIMINGS if full else ("river", "turn"):
        progress(f"bench: {name}")
        tree, built = timed(partial(BoardTree, read_example_spot(name)))
        tables["spot_sizes"].append(tree_sizes(name, tree) | round_figures({"build_seconds": built}))
        tables["spot_bytes"] += table_formats(name, tree)
        tables["spot_speed"] += iteration_speed(name, tree)
        goals = (0.5, 0.3, 0.1) if name == "3bet_pot" else (0.5,)
        for threads in (2,) if tree.streets == 3 else (1, 2):
            rows, last = times_to_targets(name, tree, goals, threads)
            tables["spot_targets"] += rows
        if name == "3bet_pot":
            tables["spot_values"] = compare_values(last)
        del tree, last  # free memory for the next tables
    if full:
        progress("bench: holdem:2-1")
        tables["holdem"] = [limit_holdem_speed()]
    tables["all_hands"] = [subgame_speed(*each) for each in ALL_HANDS_SUBGAMES if full or len(each[0]) == 10]
    tables["calibration"] = calibrate(progress)
    return {table: rows for table, rows in tables.items() if rows}


def read_example_spot(name: str) -> Spot:
    """Load a spot of the examples."""
    spot = registry.game_from_spec(str(SPOT_FOLDER / f"{name}.toml"))
    assert isinstance(spot, Spot)
    return spot


# --- Sizes ---


def count_unmerged_actions(tree: BoardTree) -> int:
    """Count infoset-actions with one row per hand that is possible on a board."""
    hands = np.add.reduceat(tree.hand_counts, tree.street_start[:-1], axis=0, dtype=np.int64)
    return int((hands * tree.forest.slots).sum())


def tree_sizes(name: str, tree: BoardTree) -> Row:
    """Return the size of a tree and of its tables."""
    first, second = (len(held) for held in tree.held)
    unmerged = count_unmerged_actions(tree)
    row: Row = {"spot": name, "hands": f"{first} × {second}", "infoset_actions": tree.table_size}
    row["a_row_for_each_hand"] = unmerged
    row["table_mb"] = tree.table_size * TABLE_FORMATS["compact"].bytes_per_entry / 1e6
    row["table_mb_16_bit"] = tree.table_size * TABLE_FORMATS["16-bit"].bytes_per_entry / 1e6
    row["tree_mb"] = tree.layout_bytes / 1e6
    row["mb_at_8_bytes_a_row_for_each_hand"] = unmerged * RUST_BYTES["compact"] / 1e6
    return round_figures(row | {"rust_mb": RUST_TIMINGS[name].table_mb})


def table_formats(name: str, tree: BoardTree) -> list[Row]:
    """Return the bytes per infoset-action by table format."""
    rows, unmerged = [], count_unmerged_actions(tree)
    for kind, theirs in RUST_BYTES.items():
        table = tree.table_size * TABLE_FORMATS[kind].bytes_per_entry
        total = table + tree.layout_bytes
        row: Row = {"spot": name, "tables": kind}
        row |= {"bytes": table / tree.table_size, "with_the_tree": total / tree.table_size}
        row |= {"a_row_for_each_hand": table / unmerged, "and_with_the_tree": total / unmerged}
        rows.append(round_figures(row | {"rust_bytes": theirs}))
    return rows


# --- Speed ---


def iteration_speed(name: str, tree: BoardTree) -> list[Row]:
    """Time an iteration on one thread and on two."""
    rows: list[Row] = []
    for threads in (1, 2):
        solver = BoardCFR(tree, default_schedule(tree), threads=threads)
        seconds, published = best_seconds(solver.step), RUST_TIMINGS[name].seconds_per_iteration[threads]
        row: Row = {"spot": name, "threads": threads, "seconds": seconds}
        row["ns_an_infoset_action"] = 1e9 * seconds / tree.table_size
        row["ns_a_row_for_each_hand"] = 1e9 * seconds / count_unmerged_actions(tree)
        row["times_one_thread"] = rows[0]["seconds"] / seconds if rows else None
        rows.append(round_figures(row | {"rust_seconds": published, "share_of_it": seconds / published}))
    return rows


def times_to_targets(name: str, tree: BoardTree, goals: Sequence[float], threads: int) -> tuple[list[Row], CFRRun]:
    """Measure the time to each target in one run; if runs are short, the best of several."""
    runs, spent = [], 0.0
    while spent < 1:
        runs.append(run_to_targets(tree, goals, threads=threads))
        spent += max(runs[-1][1].seconds, 0.1)
    rows, published = [], RUST_TIMINGS[name]
    for goal, reached in zip(goals, zip(*(checks for checks, _ in runs), strict=True), strict=True):
        best = min(reached, key=lambda progress: progress.seconds)
        row: Row = {"spot": name, "threads": threads, "target": goal, "exploitability": best.exploitability}
        row |= {"iterations": best.iteration, "seconds": best.seconds}
        row["rust_iterations"] = None if published.iterations is None else published.iterations[goal]
        row["rust_seconds"] = theirs = published.seconds.get(threads, {}).get(goal)
        rows.append(round_figures(row | {"share_of_it": None if theirs is None else best.seconds / theirs}))
    return rows, runs[-1][1]


def run_to_targets(
    tree: BoardTree, goals: Sequence[float], max_seconds: float = math.inf, **options: Any
) -> tuple[list[SolveProgress], CFRRun]:
    """Solve to one target after the other; return the check that reached each, and the run."""
    game: Any = tree.game
    run, reached = CFRRun(game, tree=tree, **options), []
    for goal in goals:
        run.target = goal  # schedules checks where the target is likely to be reached
        run.iterate([exploitability_below(goal), after_seconds(max_seconds)])
        last = run.history[-1]
        if last.exploitability is None or last.exploitability > goal:
            break
        reached.append(last)
    return reached, run


def subgame_speed(
    board: str, pots: int, sizes: Sequence[str], goal: float, allowed: float, threads: int = 2, checks: int = 5
) -> Row:
    """Time a subgame as search solves it, with every possible hand on both sides."""
    spot = Spot.make(board=board, pot=100, stack=100 * pots, oop="random", ip="random", bets="a")
    spot = replace(spot, menu=menu_from_table({"preflop": list(sizes)}))
    solve = partial(solve_many, [spot], until=goal, check_every=checks, threads=threads)
    solve(iterations=1)
    solves: list[tuple[float, float, Solution]] = []
    while not solves or sum(wall for wall, _, _ in solves) < 1:
        start, processor = clock.perf_counter(), clock.process_time()
        solution = solve()[0]
        solves.append((clock.perf_counter() - start, clock.process_time() - processor, solution))
    seconds, processor, solution = min(solves, key=lambda each: each[0])
    row: Row = {"board": board, "pots": pots, "sizes": "; ".join(sizes), "threads": threads}
    row |= {"infoset_actions": solution.tree.table_size, "target": goal}
    row |= {key: solution.provenance[key] for key in ("exploitability", "iterations")}
    row |= {"seconds": seconds, "processor_seconds": processor, "target_seconds": allowed}
    return round_figures(row | {"share_of_it": seconds / allowed})


def compare_values(run: CFRRun) -> list[Row]:
    """Compare EVs and equity at the root with the published ones."""
    solution: Any = run.solver.average()
    root = node_summary(solution[""])
    rows = []
    for (quantity, (known, within)), ours in zip(THREE_BET_VALUES.items(), (*root.ev, root.equity[0]), strict=True):
        ok = ours is not None and abs(ours - known) <= within
        rows.append({"what": quantity, "ours": ours, "known": known, "within": within, "ok": ok})
    return rows


def limit_holdem_speed(target: float = 1.0, threads: int = 2) -> Row:
    """Time limit hold'em with two rounds and one bet in each, from the deal."""
    name = "holdem:2-1"
    tree, built = timed(lambda: BoardTree(registry.game_from_spec(name)))  # type: ignore[arg-type]
    [last], _ = run_to_targets(tree, (target,), threads=threads)
    row: Row = {"game": name, "infoset_actions": tree.table_size, "threads": threads, "build_seconds": built}
    row |= {"mbb_a_game": last.exploitability, "iterations": last.iteration, "seconds": last.seconds}
    share = last.seconds / HOLDEM_TARGET_SECONDS
    return round_figures(row | {"target_seconds": HOLDEM_TARGET_SECONDS, "share_of_it": share})


# --- Calibration ---


def calibrate(progress: Callable[[str], None], iterations: int = 400) -> list[Row]:
    """Run the same DCFR on the same river in a plain C++ program, compiled now, and in the solver."""
    tree = BoardTree(read_example_spot("calibration_river"))
    solver = BoardCFR(tree, "dcfr", dtype="float32")
    solver.step(iterations)
    seconds = best_seconds(BoardCFR(tree, "dcfr").step)
    gap, ev = solver.exploitability(), solver.average().expected_value(0)

    def row(
        program: str, milliseconds: float, gap: float | None = None, ev: float | None = None, ok: bool | None = None
    ) -> Row:
        share, count = 1e3 * seconds / milliseconds, None if gap is None else iterations
        figures: Row = {"program": program, "milliseconds_an_iteration": milliseconds, "riverboat_is_its_share": share}
        return round_figures(figures | {"iterations": count, "exploitability": gap, "ev_oop": ev, "ok": ok})

    rows = [row("riverboat", 1e3 * seconds, gap, ev)]
    plain = run_cpp_river(cpp_input(tree, iterations, block=20), progress)
    if plain is not None:
        # tolerance of single precision; in double precision they agree to the last digits (see the tests)
        ok = abs(plain["exploitability"] - gap) <= 0.01 and abs(plain["ev_oop"] - ev) <= 0.01
        rows.append(row("plain C++, now", plain["milliseconds"], plain["exploitability"], plain["ev_oop"], ok))
    return [*rows, row("plain C++, published", sum(CPP_MILLISECONDS) / 2)]


def cpp_input(tree: BoardTree, iterations: int, block: int) -> str:
    """Format a river as input for bench/plain_river.cpp; both ranges must contain every hand with weight one."""
    game, betting = tree.game, tree.betting
    live = HAND_CARDS[~np.isin(HAND_CARDS, game.board).any(axis=1)]
    if len(game.board) != 5 or any(np.count_nonzero(weights == 1) != len(live) for weights in game.weights):
        raise InputError(f"{game.name}: the plain C++ program needs a river with every hand in both ranges")
    strength = rank_batch(np.hstack([live, np.tile(np.array(game.board, np.uint8), (len(live), 1))]).astype(np.uint8))
    pot = betting.payoffs[betting.actor == TERMINAL][0, 0].sum()
    lines = [f"{iterations} {block} {pot:g}", str(len(live))]
    lines += [f"{live[h, 0]} {live[h, 1]} {strength[h]}" for h in np.argsort(strength, kind="stable")]
    lines.append(str(len(betting.actor)))
    for n, who in enumerate(betting.actor):
        pay = " ".join(f"{chips:.9g}" for chips in betting.payoffs[n].ravel())
        lines.append(f"{max(who, -1)} {betting.end[n]} {int(betting.showdown[n])} {pay}")
    return "\n".join(lines) + "\n"


def run_cpp_river(text: str, progress: Callable[[str], None], real_type: str = "float") -> dict[str, float] | None:
    """Run the plain C++ program on an input, in float or double; return None if there is no compiler."""
    compiler = shutil.which("g++")
    if compiler is None or not CPP_PROGRAM.is_file():
        reason = "no g++" if compiler is None else f"{CPP_PROGRAM} not found"
        progress(f"bench: {reason}; the plain C++ program is left out")
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "plain_river")
        arguments = [compiler, "-O3", "-march=native", f"-DREAL={real_type}", str(CPP_PROGRAM), "-o", program]
        subprocess.run(arguments, check=True, capture_output=True)
        options: dict[str, Any] = {"check": True, "capture_output": True, "encoding": "utf-8"}
        output = subprocess.run([program], input=text, **options).stdout
    return {key: float(figure) for key, figure in (line.split() for line in output.splitlines())}
