"""Benchmarks of solvers, hand ranking, equities and start-up on fixed workloads.

Everything runs on one thread unless a row says otherwise, compile time is measured separately, and OpenSpiel is timed in the
same run.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time as clock
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.benchmarks import blueprints, spots
from riverboat.benchmarks import device as benchmark_device
from riverboat.cards import ranking
from riverboat.cards.deck import card_name
from riverboat.cards.equity.equities import equity, preflop_equities
from riverboat.cards.features import hand_features
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.core.resources import peak_memory
from riverboat.engines.devices import CPU
from riverboat.solvers.exact.solve import solve_exact
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.solver_run import SolveLimits
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

# --- Cards: ranking, equities, and feature tables of whole streets ---

Row = dict[str, Any]


def ranking_speed() -> list[Row]:
    """Measure hands ranked per second on one thread: a NumPy batch of random hands, and an enumeration of all hands."""
    rng = np.random.default_rng(0)
    hands = np.argsort(rng.random((1_000_000, 52), dtype=np.float32), axis=1)[:, :7].astype(np.uint8)
    ranking.rank_batch(hands[:10])
    rows = []
    for work, check, target in (
        ("random seven-card hands, NumPy batch, cards checked", True, 100.0),
        ("the same, not checked", False, 100.0),
    ):
        best = min(_elapsed_seconds(partial(ranking.rank_batch, hands, check=check)) for _ in range(5))
        rows.append({"work": work, "million_a_second": len(hands) / best / 1e6, "target": target})
    best = min(_elapsed_seconds(lambda: ranking.count_rank_classes(7)) for _ in range(2))
    rows.append({"work": "all 133,784,560 seven-card hands", "million_a_second": 133.78456 / best, "target": 400.0})
    try:
        import phevaluator
    except ImportError:
        return rows
    names = [[card_name(c) for c in hand] for hand in hands[:50_000].tolist()]
    seconds = _elapsed_seconds(lambda: [phevaluator.evaluate_cards(*hand) for hand in names])
    rows.append({"work": "phevaluator, one call a hand", "million_a_second": 0.05 / seconds, "target": None})
    return rows


def _elapsed_seconds(work: Any) -> float:
    started = clock.perf_counter()
    work()
    return clock.perf_counter() - started


def known_equities() -> list[Row]:
    """Compare equities with known values, and time them."""
    rows = []
    for first, second, known in (
        ("AA", "KK", 0.819461),
        ("AsAh", "KsKd", 0.819461),
        ("AsKs", "QhQd", 0.462145),
        ("2c2d", "AhKh", 0.499158),
        ("JsTs", "2c2d", 0.539794),
    ):
        started = clock.perf_counter()
        ours = equity(first, second, threads=2).shares[0]
        rows.append(
            {
                "match_up": f"{first} v {second}",
                "equity": ours,
                "known": known,
                "ok": abs(ours - known) < 1e-6,
                "seconds": clock.perf_counter() - started,
            }
        )
    started = clock.perf_counter()
    table = preflop_equities(threads=2)
    rows.append(
        {
            "match_up": "169 × 169 table, two threads (or from the cache)",
            "equity": float(table[0, 14]),
            "known": 0.819461,
            "ok": bool(np.allclose(table + table.T, 1)),
            "seconds": clock.perf_counter() - started,
        }
    )
    return rows


def feature_table_speed(progress: Callable[[str], None], threads: int = 2) -> list[Row]:
    """Time the feature tables of whole streets."""
    canonical_boards(5)
    HandIndexer((2, 5))
    rows: list[Row] = []

    def measure(what: str, hands: int, target: float | None, work: Any) -> None:
        progress(f"bench: {what}")
        before = peak_memory() or 0
        started = clock.perf_counter()
        result = work()
        seconds = clock.perf_counter() - started
        growth_gb = max(0, (peak_memory() or 0) - before) / 2**30
        rows.append(
            {
                "work": what,
                "hands": hands,
                "seconds": seconds,
                "target_seconds": target,
                "threads": threads,
                "gb_grown": growth_gb,
            }
        )
        del result

    measure("river E[HS]", 123_156_254, 45.0, lambda: hand_features.river_strengths(threads))
    measure("turn histograms, 50 bins", 13_960_050, None, lambda: hand_features.street_features("turn", 50, threads))
    measure("flop histograms, 50 bins", 1_286_792, None, lambda: hand_features.street_features("flop", 50, threads))
    seconds_of_both = rows[1]["seconds"] + rows[2]["seconds"]
    rows.append(
        {
            "work": "turn and flop together", "hands": 15_246_842, "seconds": seconds_of_both, "target_seconds": 240.0,
            "threads": threads, "gb_grown": 0.0,
        }
    )  # fmt: skip
    return rows


OPEN_SPIEL_GAMES = {"leduc": "leduc_poker", "bluff:1,1": "liars_dice"}


def seconds_per_call(work: Callable[[int], None], seconds: float = 1.0) -> float:
    """Return the seconds of one repetition of `work`, the best of three rounds."""
    work(1)
    count, spent = 1, 0.0
    while spent < seconds / 10:
        count = max(count * 2, int(count * seconds / 3 / max(spent, 1e-7)) if spent > 0 else 1)
        started = clock.perf_counter()
        work(count)
        spent = clock.perf_counter() - started
    best = spent / count
    for _ in range(2):
        started = clock.perf_counter()
        work(count)
        best = min(best, (clock.perf_counter() - started) / count)
    return best


def _open_spiel_solvers(name: str) -> tuple[Callable[[int], None], Callable[[int], None]] | None:
    """Return OpenSpiel's C++ CFR+ and external sampling on the same game, or None if it is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(OPEN_SPIEL_GAMES[name])
    full = pyspiel.CFRPlusSolver(game)
    external = pyspiel.ExternalSamplingMCCFRSolver(game)

    def run_full(count: int) -> None:
        for _ in range(count):
            full.evaluate_and_update_policy()

    def run_external(count: int) -> None:
        for _ in range(count):
            external.run_iteration()

    return run_full, run_external


def solver_speed(name: str) -> list[Row]:
    """Time a full CFR+ iteration and an external-sampling iteration, ours and OpenSpiel's."""
    tree = compile_game(make_game(name))
    rows = []
    peer = _open_spiel_solvers(name)
    for index, (work, schedule, traversal, target) in enumerate(
        (("full CFR+ iteration", "cfr+", "full", 100.0), ("external-sampling iteration", "vanilla", "external", 20.0))
    ):
        started = clock.perf_counter()
        solver = CFR(tree, schedule, traversal)
        solver.step(1)
        compiled = clock.perf_counter() - started
        ours = seconds_per_call(solver.step)
        theirs = seconds_per_call(peer[index]) if peer is not None else None
        rows.append(
            {
                "game": name,
                "work": work,
                "microseconds": ours * 1e6,
                "open_spiel_microseconds": None if theirs is None else theirs * 1e6,
                "ratio": None if theirs is None else theirs / ours,
                "target_ratio": target,
                "first_call_seconds": compiled,
            }
        )
    return rows


def known_values() -> list[Row]:
    """Compute known game values by LP, EGT and CFR, and compare them."""
    rows: list[Row] = []

    def add(what: str, ours: float, known: float, within: float, seconds: float) -> None:
        row = {"what": what, "ours": ours, "known": known, "within": within, "seconds": seconds}
        rows.append(row | {"ok": abs(ours - known) <= within})

    for name, known in (("kuhn", -1 / 18), ("leduc", -0.085606424078)):
        for method, within in (("lp", 1e-9), ("egt", 1e-4)):
            r = solve_exact(name, method, SolveLimits(until=None if method == "lp" else 1e-5))
            add(f"{name} value by {method}", r.value, known, within, r.seconds)
    for name, conv in (("kuhn", 11 / 12), ("leduc", 4.747222222222222)):
        tree = compile_game(make_game(name))
        add(f"{name} NashConv of uniform", quality(Strategy.uniform(tree)).nash_conv, conv, 1e-12, 0.0)
    for name, known, within, width in (("bluff:1,1", -0.02713, 2e-5, 2e-5), ("bluff:2,1", 0.6165, 4e-4, 8e-4)):
        solver, started = CFR(compile_game(make_game(name)), "dcfr"), clock.perf_counter()
        low, high = -1.0, 1.0
        while high - low > width:
            solver.step(max(10, solver.iteration // 4))
            low, high = solver.quality().bracket
        add(
            f"{name} value by dcfr ({solver.iteration} iterations)",
            (low + high) / 2,
            known,
            within,
            clock.perf_counter() - started,
        )
    return rows


def exported_exploitability() -> list[Row]:
    """Compare the exploitability of an exported Leduc strategy here and in OpenSpiel."""
    try:
        from open_spiel.python.algorithms import exploitability as peer
    except ImportError:
        return []
    import pyspiel

    from riverboat.strategies.open_spiel import to_open_spiel

    solver = CFR(compile_game(make_game("leduc")), "dcfr")
    solver.step(500)
    ours = solver.exploitability()
    theirs = float(peer.exploitability(pyspiel.load_game("leduc_poker"), to_open_spiel(solver.average())))
    return [
        {
            "what": "exploitability of an exported Leduc strategy",
            "here": ours,
            "open_spiel": theirs,
            "ok": abs(ours - theirs) <= 1e-9,
        }
    ]


def custom_rule_speed() -> list[Row]:
    """Time regret matching written as a user's rule against the built-in one."""
    from numba import njit

    from riverboat.solvers.schedules import Rule

    @njit(nogil=True)
    def strategy(regret: Any, prediction: Any, t: float, out: Any) -> None:
        actions, hands = regret.shape
        for h in range(hands):
            total = 0.0
            for a in range(actions):
                out[a, h] = max(regret[a, h], 0.0)
                total += out[a, h]
            for a in range(actions):
                out[a, h] = out[a, h] / total if total > 0 else 1.0 / actions

    @njit(nogil=True)
    def update(regret: Any, prediction: Any, instant: Any, t: float) -> None:
        actions, hands = regret.shape
        for a in range(actions):
            for h in range(hands):
                regret[a, h] += instant[a, h]

    rows = []
    for name in OPEN_SPIEL_GAMES:
        tree = compile_game(make_game(name))
        built_in = seconds_per_call(CFR(tree, "vanilla:alternating=1").step)
        own = seconds_per_call(CFR(tree, Rule(strategy, update, "plain")).step)
        rows.append(
            {
                "game": name,
                "built_in_microseconds": built_in * 1e6,
                "own_rule_microseconds": own * 1e6,
                "slowdown": own / built_in,
            }
        )
    return rows


def startup_times() -> list[Row]:
    """Time `--help`, and the first and a later solve in new processes."""
    rows = []
    program = [sys.executable, "-m", "riverboat.cli.main"]
    for label, arguments, target, fresh in (
        ("riverboat --help", ["--help"], 0.5, False),
        ("first riverboat solve leduc, nothing compiled", ["solve", "leduc", "--json"], 10.0, True),
        ("later riverboat solve leduc", ["solve", "leduc", "--json"], 10.0, False),
    ):
        with tempfile.TemporaryDirectory() as folder:
            import os

            environment = dict(os.environ)
            if fresh:
                environment["NUMBA_CACHE_DIR"] = str(Path(folder))
            started = clock.perf_counter()
            subprocess.run([*program, *arguments], check=True, capture_output=True, env=environment)
            rows.append({"what": label, "seconds": clock.perf_counter() - started, "target_seconds": target})
    return rows


def bluff_2_2_speed(progress: Callable[[str], None], threads: int = 2, iterations: int = 30) -> Row:
    """Time Bluff(2,2), solved from the values of the smaller games: 352,321,536 information sets."""
    started = clock.perf_counter()
    game = make_game(
        "bluff:2,2", lambda name, width, wanted: progress(f"solving {name} first: {width:.2g} / {wanted:.2g}")
    )
    tree = compile_game(game)
    built = clock.perf_counter() - started
    solver = CFR(tree, "dcfr", "pcs", threads=threads, dtype="float32")
    solver.step(1)  # first touch of the memory
    times = []
    while solver.iteration < iterations:
        started = clock.perf_counter()
        solver.step(1)
        times.append(clock.perf_counter() - started)
        progress(f"bluff:2,2 iteration {solver.iteration}: {times[-1]:.2f} s")
    started = clock.perf_counter()
    measured = solver.quality()
    low, high = measured.bracket
    return {
        "infosets": tree.infoset_count,
        "infoset_actions": tree.action_count,
        "peak_gb": (peak_memory() or 0) / 2**30,
        "build_seconds": built,
        "seconds_per_iteration": sum(times) / len(times),
        "best_seconds_per_iteration": min(times),
        "nanoseconds_per_infoset_action": 1e9 * min(times) / (2 * tree.action_count),
        "threads": threads,
        "iterations": solver.iteration,
        "exploitability": measured.exploitability,
        "value_low": low,
        "value_high": high,
        "check_seconds": clock.perf_counter() - started,
        "unit": tree.unit,
    }


TITLES = {
    "speed": "speed, one thread, against OpenSpiel's C++ solvers in the same run",
    "values": "values",
    "exported": "exported to OpenSpiel",
    "own_rule": "user-defined rule: vanilla CFR written as one",
    "startup": "start-up",
    "ranking": "ranking, one thread",
    "matchups": "equities",
    "streets": "feature tables",
    **spots.TITLES,
    **blueprints.TITLES,
    "bluff22": "Bluff(2,2)",
    **benchmark_device.TITLES,
}


def run_benchmarks(full: bool, device: str, progress: Callable[[str], None]) -> dict[str, Any]:
    """Run all benchmarks and return their rows by the keys of `TITLES`; with a GPU device only those of the GPU.

    `progress` gets a line of text before each part that takes long.
    """
    if device != CPU:
        return benchmark_device.run_device_benchmarks(device)
    report: dict[str, Any] = {"speed": [row for name in OPEN_SPIEL_GAMES for row in solver_speed(name)]}
    report["values"] = known_values()
    report["exported"] = exported_exploitability()
    report["own_rule"] = custom_rule_speed()
    report["startup"] = startup_times()
    report["ranking"] = ranking_speed()
    report["matchups"] = known_equities()
    report |= spots.run_spot_benchmarks(full, progress)
    if full:
        report["streets"] = feature_table_speed(progress)
        report |= blueprints.run_blueprint_benchmarks()
        report["bluff22"] = bluff_2_2_speed(progress)
    return report
