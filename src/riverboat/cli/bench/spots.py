"""The hold'em part of `riverboat bench`: spots, [2-1] hold'em, and a plain C++ program on the same river.

An infoset-action is one number of a table. Two countings: as stored, where hands that suits cannot tell apart share a row,
and with a row for each hand, as other solvers count. Seconds to a target hold the checks of exploitability too.
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
from riverboat.cli.terminal import say
from riverboat.core.errors import InputError
from riverboat.engines.tables import FORMATS
from riverboat.games import registry
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.menus import menu_from
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.run import Run, default_schedule
from riverboat.solvers.run_loop import below
from riverboat.strategies.reports.node import summary
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

Row = dict[str, Any]
ROOT = Path(__file__).parents[3]  # of the repository: spots and the C++ program are no part of the package
SPOTS, PLAIN = ROOT / "examples" / "spots", ROOT / "bench" / "plain_river.cpp"
TITLES = {
    "spot_sizes": "spots: infoset-actions and MB",
    "spot_bytes": "spots: bytes an infoset-action",
    "spot_speed": "spots: an iteration for both players",
    "spot_targets": "spots: time to an exploitability in % of the pot, checks included",
    "all_hands": "subgames with all hands, time to an exploitability in % of the pot",
    "spot_values": "three-bet pot: values at the last target",
    "holdem": "[2-1] hold'em, unabstracted, to 1 mbb/g",
    "calibration": "a river with 1,081 hands each and 122 actions, one thread, against plain C++",
}


@dataclass(frozen=True)
class Published:
    """What the fastest open solver, in Rust, needs: float32, built for the native CPU, a 2-core machine of this kind.

    Only its three-bet pot is the same spot. Its flop, turn and river have as many hands as the examples here; the menus of
    these were chosen so that flop and turn have as many infoset-actions, so seconds an iteration compare well and seconds to
    a target roughly. On flop, turn and river it was timed on one thread; two threads took half of that.
    """

    iteration: dict[int, float]
    seconds: dict[int, dict[float, float]]  # by threads, then by target in % of the pot
    iterations: dict[float, int] | None = None
    table_mb: float | None = None


RUST = {
    "river": Published({1: 0.07e-3, 2: 0.035e-3}, {1: {0.5: 5e-3}, 2: {0.5: 2.5e-3}}),
    "turn": Published({1: 0.024, 2: 0.012}, {1: {0.5: 3.1}, 2: {0.5: 1.55}}, table_mb=24),
    "flop": Published({1: 0.84, 2: 0.42}, {1: {0.5: 73.0}, 2: {0.5: 36.5}}, table_mb=869),
    "3bet_pot": Published(
        {1: 1.18, 2: 0.64}, {2: {0.5: 65.7, 0.3: 79.5, 0.1: 202.5}}, {0.5: 90, 0.3: 110, 0.1: 290}, table_mb=1310
    ),
}
RUST_BYTES = {"compact": 8, "16-bit": 4}  # an infoset-action: its float32 tables beside ours of six bytes, and 16 bits
# A plain C++ loop on that machine, in the same quarter hour: DCFR on a river with 1,081 hands and 122 actions.
PLAIN_MILLISECONDS = (0.70, 0.75)
THREE_BET = {"ev_oop": 105.11, "ev_ip": 74.89, "equity_oop": 0.55347}  # answers that authors of solvers agree on
THREE_BET_WITHIN = {"ev_oop": 0.2, "ev_ip": 0.2, "equity_oop": 0.5e-5}
TWO_SIZES = "50%, 100%, a", "100%, a", "a"  # bets, raises, and from then on
ALL_HANDS = (  # board, pots behind, sizes, target in % of the pot, seconds that it may take on two threads
    ("Ks7d5h2c9s", 5, TWO_SIZES, 0.3, 0.03),
    ("Ks7d5h2c9s", 20, TWO_SIZES, 0.3, 0.03),
    ("Ks7d5h2c", 5, TWO_SIZES, 0.5, 2.0),
    ("Ks7d5h2c", 40, ("66%", "100%"), 0.3, 4.0),
    ("Ks7d5h2c", 40, TWO_SIZES, 0.3, 4.0),
)
HOLDEM_SECONDS = 120.0  # what [2-1] hold'em may take on two threads


def run(full: bool) -> dict[str, list[Row]]:
    """All tables; without `full`, those that take seconds."""
    if not SPOTS.is_dir():
        say("bench: examples/spots is not here; the spots are timed from a checkout of the repository")
        return {}
    tables: dict[str, list[Row]] = {title: [] for title in TITLES}
    for name in RUST if full else ("river", "turn"):
        say(f"bench: {name}")
        started = clock.perf_counter()
        tree = BoardTree(read(name))
        built = clock.perf_counter() - started
        tables["spot_sizes"].append(sizes(name, tree) | {"build_seconds": _short(built)})
        tables["spot_bytes"] += table_formats(name, tree)
        tables["spot_speed"] += speed(name, tree)
        goals = (0.5, 0.3, 0.1) if name == "3bet_pot" else (0.5,)
        for threads in (2,) if tree.streets == 3 else (1, 2):
            rows, last = targets(name, tree, goals, threads)
            tables["spot_targets"] += rows
        if name == "3bet_pot":
            tables["spot_values"] = values(last)
        del tree, last  # the next tables need the room
    if full:
        say("bench: holdem:2-1")
        tables["holdem"] = [holdem()]
    tables["all_hands"] = [all_hands(*each) for each in ALL_HANDS if full or len(each[0]) == 10]
    tables["calibration"] = calibration()
    return {table: rows for table, rows in tables.items() if rows}


def read(name: str) -> Spot:
    """A spot of the examples."""
    spot = registry.make(str(SPOTS / f"{name}.toml"))
    assert isinstance(spot, Spot)
    return spot


# --- sizes ------------------------------------------------------------------------------------


def unmerged(tree: BoardTree) -> int:
    """Infoset-actions with a row for each hand that a board leaves."""
    hands = np.add.reduceat(tree.hand_counts, tree.street_at[:-1], axis=0, dtype=np.int64)
    return int((hands * tree.forest.slots).sum())


def sizes(name: str, tree: BoardTree) -> Row:
    """How large a tree is, and what its tables take."""
    first, second = (len(held) for held in tree.held)
    apart = unmerged(tree)
    return {
        "spot": name,
        "hands": f"{first} × {second}",
        "infoset_actions": tree.table,
        "a_row_for_each_hand": apart,
        "table_mb": _short(tree.table * FORMATS["compact"].bytes / 1e6),
        "table_mb_16_bit": _short(tree.table * FORMATS["16-bit"].bytes / 1e6),
        "tree_mb": _short(tree.layout_bytes / 1e6),
        "mb_at_8_bytes_a_row_for_each_hand": _short(apart * RUST_BYTES["compact"] / 1e6),
        "rust_mb": RUST[name].table_mb,
    }


def table_formats(name: str, tree: BoardTree) -> list[Row]:
    """Bytes an infoset-action, by format."""
    rows = []
    for kind, theirs in RUST_BYTES.items():
        table = tree.table * FORMATS[kind].bytes
        rows.append(
            {
                "spot": name,
                "tables": kind,
                "bytes": table / tree.table,
                "with_the_tree": _short((table + tree.layout_bytes) / tree.table),
                "a_row_for_each_hand": _short(table / unmerged(tree)),
                "and_with_the_tree": _short((table + tree.layout_bytes) / unmerged(tree)),
                "rust_bytes": theirs,
            }
        )
    return rows


def _short(figure: float) -> float:
    """Four digits, as many as a measurement deserves."""
    return float(f"{figure:.4g}")


# --- speed ------------------------------------------------------------------------------------


def fastest(work: Callable[[int], None], least: float = 0.2, rounds: int = 5) -> float:
    """Seconds that one of `work`'s repetitions takes: the best of some rounds, each of at least `least` seconds."""
    work(1)
    count = 1
    while (spent := _timed(work, count)) < least:
        count *= 2
    return min(spent, *(_timed(work, count) for _ in range(rounds))) / count


def _timed(work: Callable[[int], None], count: int) -> float:
    started = clock.perf_counter()
    work(count)
    return clock.perf_counter() - started


def speed(name: str, tree: BoardTree) -> list[Row]:
    """An iteration on one thread and on two."""
    rows: list[Row] = []
    for threads in (1, 2):
        solver = BoardCFR(tree, default_schedule(tree), threads=threads)
        seconds = fastest(solver.step)
        published = RUST[name].iteration[threads]
        rows.append(
            {
                "spot": name,
                "threads": threads,
                "seconds": _short(seconds),
                "ns_an_infoset_action": _short(1e9 * seconds / tree.table),
                "ns_a_row_for_each_hand": _short(1e9 * seconds / unmerged(tree)),
                "times_one_thread": _short(rows[0]["seconds"] / seconds) if rows else None,
                "rust_seconds": published,
                "share_of_it": _short(seconds / published),
            }
        )
    return rows


def targets(name: str, tree: BoardTree, goals: Sequence[float], threads: int) -> tuple[list[Row], Run]:
    """Time to each target, in one run; the best of several runs where they are short."""
    runs = list(_runs(tree, goals, threads))
    rows = []
    for goal, reached in zip(goals, zip(*(history for history, _ in runs), strict=True), strict=True):
        best = min(reached, key=lambda progress: progress.seconds)
        published = RUST[name].seconds.get(threads, {}).get(goal)
        theirs = RUST[name].iterations
        rows.append(
            {
                "spot": name,
                "threads": threads,
                "target": goal,
                "exploitability": _short(best.exploitability),
                "iterations": best.iteration,
                "seconds": _short(best.seconds),
                "rust_iterations": None if theirs is None else theirs[goal],
                "rust_seconds": published,
                "share_of_it": None if published is None else _short(best.seconds / published),
            }
        )
    return rows, runs[-1][1]


def _runs(tree: BoardTree, goals: Sequence[float], threads: int) -> Iterator[tuple[list[Any], Run]]:
    """What each of some runs had reached when it met each target, and the run."""
    spent = 0.0
    while spent < 1:
        task = Run(tree.game, threads=threads, tree=tree)  # type: ignore[arg-type]
        reached = []
        for goal in goals:
            task.target = goal  # checks fall where it is likely to be met
            task.go([below(goal)])
            reached.append(task.history[-1])
        yield reached, task
        spent += max(task.seconds, 0.1)


def all_hands(
    board: str, pots: int, sizes: Sequence[str], goal: float, allowed: float, threads: int = 2, checks: int = 5
) -> Row:
    """A subgame as search solves it, with every hand that the board leaves on both sides."""
    spot = Spot.make(board=board, pot=100, stack=100 * pots, oop="random", ip="random", bets="a")
    spot = replace(spot, menu=menu_from({"preflop": list(sizes)}))
    solve = partial(solve_many, [spot], until=goal, check_every=checks, threads=threads)
    solve(iterations=1)
    timed: list[tuple[float, float, Solution]] = []
    while not timed or sum(wall for wall, _, _ in timed) < 1:
        began, processor = clock.perf_counter(), clock.process_time()
        solution = solve()[0]
        timed.append((clock.perf_counter() - began, clock.process_time() - processor, solution))
    seconds, processor, solution = min(timed, key=lambda each: each[0])
    return {
        "board": board,
        "pots": pots,
        "sizes": "; ".join(sizes),
        "threads": threads,
        "infoset_actions": solution.tree.table,
        "target": goal,
        "exploitability": _short(solution.provenance["exploitability"]),
        "iterations": solution.provenance["iterations"],
        "seconds": _short(seconds),
        "processor_seconds": _short(processor),
        "target_seconds": allowed,
        "share_of_it": _short(seconds / allowed),
    }


def values(run: Run) -> list[Row]:
    """EVs and equity at the root, beside the published ones."""
    solution: Any = run.solver.average()
    root = summary(solution[""])
    figures = {"ev_oop": root.ev[0], "ev_ip": root.ev[1], "equity_oop": root.equity[0]}
    return [
        {
            "what": what,
            "ours": ours,
            "known": THREE_BET[what],
            "within": THREE_BET_WITHIN[what],
            "ok": ours is not None and abs(ours - THREE_BET[what]) <= THREE_BET_WITHIN[what],
        }
        for what, ours in figures.items()
    ]


def holdem(target: float = 1.0, threads: int = 2) -> Row:
    """Limit hold'em of two rounds with one bet in each, from the deal."""
    started = clock.perf_counter()
    name = "holdem:2-1"
    game: Any = registry.make(name)
    tree = BoardTree(game)
    built = clock.perf_counter() - started
    task = Run(game, threads=threads, tree=tree)
    task.target = target
    task.go([below(target)])
    last = task.history[-1]
    assert last.exploitability is not None
    return {
        "game": name,
        "infoset_actions": tree.table,
        "threads": threads,
        "build_seconds": _short(built),
        "mbb_a_game": _short(last.exploitability),
        "iterations": last.iteration,
        "seconds": _short(last.seconds),
        "target_seconds": HOLDEM_SECONDS,
        "share_of_it": _short(last.seconds / HOLDEM_SECONDS),
    }


# --- calibration ------------------------------------------------------------------------------


def calibration(name: str = "calibration_river", iterations: int = 400, block: int = 20) -> list[Row]:
    """The same DCFR on the same river by a plain C++ program, compiled now, and by the solver."""
    tree = BoardTree(read(name))
    solver = BoardCFR(tree, "dcfr", dtype="float32")
    solver.step(iterations)
    seconds = fastest(BoardCFR(tree, "dcfr").step)
    gap, ev = solver.exploitability(), solver.average().earnings(0)

    def row(program: str, milliseconds: float | None, gap: float | None, ev: float | None, ok: bool | None) -> Row:
        return {
            "program": program,
            "milliseconds_an_iteration": None if milliseconds is None else _short(milliseconds),
            "riverboat_is_its_share": None if milliseconds is None else _short(1e3 * seconds / milliseconds),
            "iterations": None if gap is None else iterations,
            "exploitability": None if gap is None else _short(gap),
            "ev_oop": None if ev is None else round(ev, 4),
            "ok": ok,
        }

    rows = [row("riverboat", 1e3 * seconds, gap, ev, None)]
    plain = plain_river(plain_input(tree, iterations, block))
    if plain is not None:
        # what single precision leaves open; in double they agree to the last digits, see the tests
        ok = abs(plain["exploitability"] - gap) <= 0.01 and abs(plain["ev_oop"] - ev) <= 0.01
        rows.append(row("plain C++, now", plain["milliseconds"], plain["exploitability"], plain["ev_oop"], ok))
    published = sum(PLAIN_MILLISECONDS) / 2
    return [*rows, row("plain C++, published", published, None, None, None)]


def plain_input(tree: BoardTree, iterations: int, block: int) -> str:
    """A river as bench/plain_river.cpp reads it. It holds every hand for both players, each as often."""
    game, betting = tree.game, tree.betting
    live = HAND_CARDS[~np.isin(HAND_CARDS, game.board).any(axis=1)]
    if len(game.board) != 5 or any(np.count_nonzero(weights == 1) != len(live) for weights in game.weights):
        raise InputError(f"{game.name}: the plain program takes a river with every hand for both players")
    strength = rank_batch(np.hstack([live, np.tile(np.array(game.board, np.uint8), (len(live), 1))]).astype(np.uint8))
    pot = betting.pay[betting.actor == TERMINAL][0, 0].sum()
    lines = [f"{iterations} {block} {pot:g}", str(len(live))]
    lines += [f"{live[h, 0]} {live[h, 1]} {strength[h]}" for h in np.argsort(strength, kind="stable")]
    lines.append(str(len(betting.actor)))
    for n, who in enumerate(betting.actor):
        pay = " ".join(f"{chips:.9g}" for chips in betting.pay[n].ravel())
        lines.append(f"{max(who, -1)} {betting.end[n]} {int(betting.showdown[n])} {pay}")
    return "\n".join(lines) + "\n"


def plain_river(text: str, real: str = "float") -> dict[str, float] | None:
    """What the plain program prints for an input, computed in float or double; None where there is no compiler for it."""
    compiler = shutil.which("g++")
    if compiler is None or not PLAIN.is_file():
        say(f"bench: {'no g++' if compiler is None else f'{PLAIN} is not here'}; the plain C++ program is left out")
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "plain_river")
        words = [compiler, "-O3", "-march=native", f"-DREAL={real}", str(PLAIN), "-o", program]
        subprocess.run(words, check=True, capture_output=True)
        told = subprocess.run(
            [program], input=text, check=True, capture_output=True, text=True, encoding="utf-8"
        ).stdout
    return {key: float(figure) for key, figure in (line.split() for line in told.splitlines())}
