"""Hold'em benchmarks: spots, [2-1] hold'em, and a plain C++ program on the same river.

An infoset-action is one entry of a table. There are two counts: as stored, where suit-isomorphic hands share a row, and with
one row per hand, as other solvers count. Seconds to a target include the exploitability checks.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

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
from riverboat.solvers.run import CFRRun, default_schedule
from riverboat.solvers.run_loop import exploitability_below
from riverboat.strategies.reports.node import node_summary
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

Row = dict[str, Any]
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


@dataclass(frozen=True)
class PublishedTimings:
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
RUST_BYTES = {
    "compact": 8,
    "16-bit": 4,
}  # bytes per infoset-action: its float32 tables (ours take six bytes), and its 16-bit tables
# A plain C++ loop on that machine, in the same quarter hour: DCFR on a river with 1,081 hands and 122 actions.
CPP_MILLISECONDS = (0.70, 0.75)
THREE_BET_VALUES = {"ev_oop": 105.11, "ev_ip": 74.89, "equity_oop": 0.55347}  # values that several solvers agree on
THREE_BET_TOLERANCES = {"ev_oop": 0.2, "ev_ip": 0.2, "equity_oop": 0.5e-5}
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
        started = clock.perf_counter()
        tree = BoardTree(read_example_spot(name))
        built = clock.perf_counter() - started
        tables["spot_sizes"].append(tree_sizes(name, tree) | {"build_seconds": _round_figure(built)})
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
    return {
        "spot": name,
        "hands": f"{first} × {second}",
        "infoset_actions": tree.table_size,
        "a_row_for_each_hand": unmerged,
        "table_mb": _round_figure(tree.table_size * TABLE_FORMATS["compact"].bytes_per_entry / 1e6),
        "table_mb_16_bit": _round_figure(tree.table_size * TABLE_FORMATS["16-bit"].bytes_per_entry / 1e6),
        "tree_mb": _round_figure(tree.layout_bytes / 1e6),
        "mb_at_8_bytes_a_row_for_each_hand": _round_figure(unmerged * RUST_BYTES["compact"] / 1e6),
        "rust_mb": RUST_TIMINGS[name].table_mb,
    }


def table_formats(name: str, tree: BoardTree) -> list[Row]:
    """Return the bytes per infoset-action by table format."""
    rows = []
    for kind, theirs in RUST_BYTES.items():
        table = tree.table_size * TABLE_FORMATS[kind].bytes_per_entry
        rows.append(
            {
                "spot": name,
                "tables": kind,
                "bytes": table / tree.table_size,
                "with_the_tree": _round_figure((table + tree.layout_bytes) / tree.table_size),
                "a_row_for_each_hand": _round_figure(table / count_unmerged_actions(tree)),
                "and_with_the_tree": _round_figure((table + tree.layout_bytes) / count_unmerged_actions(tree)),
                "rust_bytes": theirs,
            }
        )
    return rows


def _round_figure(figure: float) -> float:
    """Round a measurement to four digits."""
    return float(f"{figure:.4g}")


# --- Speed ---


def best_seconds(work: Callable[[int], None], min_seconds: float = 0.2, rounds: int = 5) -> float:
    """Return the seconds of one repetition of `work`: the best round, each of at least `min_seconds` seconds."""
    work(1)
    count = 1
    while (spent := _elapsed_seconds(work, count)) < min_seconds:
        count *= 2
    return min(spent, *(_elapsed_seconds(work, count) for _ in range(rounds))) / count


def _elapsed_seconds(work: Callable[[int], None], count: int) -> float:
    started = clock.perf_counter()
    work(count)
    return clock.perf_counter() - started


def iteration_speed(name: str, tree: BoardTree) -> list[Row]:
    """Time an iteration on one thread and on two."""
    rows: list[Row] = []
    for threads in (1, 2):
        solver = BoardCFR(tree, default_schedule(tree), threads=threads)
        seconds = best_seconds(solver.step)
        published = RUST_TIMINGS[name].seconds_per_iteration[threads]
        rows.append(
            {
                "spot": name,
                "threads": threads,
                "seconds": _round_figure(seconds),
                "ns_an_infoset_action": _round_figure(1e9 * seconds / tree.table_size),
                "ns_a_row_for_each_hand": _round_figure(1e9 * seconds / count_unmerged_actions(tree)),
                "times_one_thread": _round_figure(rows[0]["seconds"] / seconds) if rows else None,
                "rust_seconds": published,
                "share_of_it": _round_figure(seconds / published),
            }
        )
    return rows


def times_to_targets(name: str, tree: BoardTree, goals: Sequence[float], threads: int) -> tuple[list[Row], CFRRun]:
    """Measure the time to each target in one run; if runs are short, the best of several."""
    runs = list(_timed_runs(tree, goals, threads))
    rows = []
    for goal, reached in zip(goals, zip(*(history for history, _ in runs), strict=True), strict=True):
        best = min(reached, key=lambda progress: progress.seconds)
        published = RUST_TIMINGS[name].seconds.get(threads, {}).get(goal)
        theirs = RUST_TIMINGS[name].iterations
        rows.append(
            {
                "spot": name,
                "threads": threads,
                "target": goal,
                "exploitability": _round_figure(best.exploitability),
                "iterations": best.iteration,
                "seconds": _round_figure(best.seconds),
                "rust_iterations": None if theirs is None else theirs[goal],
                "rust_seconds": published,
                "share_of_it": None if published is None else _round_figure(best.seconds / published),
            }
        )
    return rows, runs[-1][1]


def _timed_runs(tree: BoardTree, goals: Sequence[float], threads: int) -> Iterator[tuple[list[Any], CFRRun]]:
    """Yield runs, each with its progress at the moment it reached each target."""
    spent = 0.0
    while spent < 1:
        task = CFRRun(tree.game, threads=threads, tree=tree)  # type: ignore[arg-type]
        reached = []
        for goal in goals:
            task.target = goal  # schedules checks where the target is likely to be reached
            task.iterate([exploitability_below(goal)])
            reached.append(task.history[-1])
        yield reached, task
        spent += max(task.seconds, 0.1)


def subgame_speed(
    board: str, pots: int, sizes: Sequence[str], goal: float, allowed: float, threads: int = 2, checks: int = 5
) -> Row:
    """Time a subgame as search solves it, with every possible hand on both sides."""
    spot = Spot.make(board=board, pot=100, stack=100 * pots, oop="random", ip="random", bets="a")
    spot = replace(spot, menu=menu_from_table({"preflop": list(sizes)}))
    solve = partial(solve_many, [spot], until=goal, check_every=checks, threads=threads)
    solve(iterations=1)
    timed: list[tuple[float, float, Solution]] = []
    while not timed or sum(wall for wall, _, _ in timed) < 1:
        start, processor = clock.perf_counter(), clock.process_time()
        solution = solve()[0]
        timed.append((clock.perf_counter() - start, clock.process_time() - processor, solution))
    seconds, processor, solution = min(timed, key=lambda each: each[0])
    return {
        "board": board,
        "pots": pots,
        "sizes": "; ".join(sizes),
        "threads": threads,
        "infoset_actions": solution.tree.table_size,
        "target": goal,
        "exploitability": _round_figure(solution.provenance["exploitability"]),
        "iterations": solution.provenance["iterations"],
        "seconds": _round_figure(seconds),
        "processor_seconds": _round_figure(processor),
        "target_seconds": allowed,
        "share_of_it": _round_figure(seconds / allowed),
    }


def compare_values(run: CFRRun) -> list[Row]:
    """Compare EVs and equity at the root with the published ones."""
    solution: Any = run.solver.average()
    root = node_summary(solution[""])
    figures = {"ev_oop": root.ev[0], "ev_ip": root.ev[1], "equity_oop": root.equity[0]}
    return [
        {
            "what": quantity,
            "ours": ours,
            "known": THREE_BET_VALUES[quantity],
            "within": THREE_BET_TOLERANCES[quantity],
            "ok": ours is not None and abs(ours - THREE_BET_VALUES[quantity]) <= THREE_BET_TOLERANCES[quantity],
        }
        for quantity, ours in figures.items()
    ]


def limit_holdem_speed(target: float = 1.0, threads: int = 2) -> Row:
    """Time limit hold'em with two rounds and one bet in each, from the deal."""
    started = clock.perf_counter()
    name = "holdem:2-1"
    game: Any = registry.game_from_spec(name)
    tree = BoardTree(game)
    built = clock.perf_counter() - started
    task = CFRRun(game, threads=threads, tree=tree)
    task.target = target
    task.iterate([exploitability_below(target)])
    last = task.history[-1]
    assert last.exploitability is not None
    return {
        "game": name,
        "infoset_actions": tree.table_size,
        "threads": threads,
        "build_seconds": _round_figure(built),
        "mbb_a_game": _round_figure(last.exploitability),
        "iterations": last.iteration,
        "seconds": _round_figure(last.seconds),
        "target_seconds": HOLDEM_TARGET_SECONDS,
        "share_of_it": _round_figure(last.seconds / HOLDEM_TARGET_SECONDS),
    }


# --- Calibration ---


def calibrate(
    progress: Callable[[str], None], name: str = "calibration_river", iterations: int = 400, block: int = 20
) -> list[Row]:
    """Run the same DCFR on the same river in a plain C++ program, compiled now, and in the solver."""
    tree = BoardTree(read_example_spot(name))
    solver = BoardCFR(tree, "dcfr", dtype="float32")
    solver.step(iterations)
    seconds = best_seconds(BoardCFR(tree, "dcfr").step)
    gap, ev = solver.exploitability(), solver.average().expected_value(0)

    def row(program: str, milliseconds: float | None, gap: float | None, ev: float | None, ok: bool | None) -> Row:
        return {
            "program": program,
            "milliseconds_an_iteration": None if milliseconds is None else _round_figure(milliseconds),
            "riverboat_is_its_share": None if milliseconds is None else _round_figure(1e3 * seconds / milliseconds),
            "iterations": None if gap is None else iterations,
            "exploitability": None if gap is None else _round_figure(gap),
            "ev_oop": None if ev is None else round(ev, 4),
            "ok": ok,
        }

    rows = [row("riverboat", 1e3 * seconds, gap, ev, None)]
    plain = run_cpp_river(cpp_input(tree, iterations, block), progress)
    if plain is not None:
        # tolerance of single precision; in double precision they agree to the last digits (see the tests)
        ok = abs(plain["exploitability"] - gap) <= 0.01 and abs(plain["ev_oop"] - ev) <= 0.01
        rows.append(row("plain C++, now", plain["milliseconds"], plain["exploitability"], plain["ev_oop"], ok))
    published = sum(CPP_MILLISECONDS) / 2
    return [*rows, row("plain C++, published", published, None, None, None)]


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
        output = subprocess.run(
            [program], input=text, check=True, capture_output=True, text=True, encoding="utf-8"
        ).stdout
    return {key: float(figure) for key, figure in (line.split() for line in output.splitlines())}
