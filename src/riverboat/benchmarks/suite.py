"""Benchmarks of solvers, hand ranking, equities and start-up on fixed workloads.

Everything runs on one thread unless a row says otherwise, compile time is measured separately, and OpenSpiel is timed in the
same run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from riverboat.benchmarks import blueprints, scaling, spots
from riverboat.benchmarks import device as benchmark_device
from riverboat.benchmarks.timing import Row, best_seconds, repeated, timed
from riverboat.cards import ranking
from riverboat.cards.deck import card_name
from riverboat.cards.equity.equities import equity, preflop_equities
from riverboat.cards.features import hand_features
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.core.resources import peak_memory
from riverboat.engines.devices import CPU
from riverboat.solvers import game_values
from riverboat.solvers.exact.solve import solve_exact
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.run_loop import step_until
from riverboat.solvers.solver_run import SolveLimits
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

# --- Cards: ranking, equities, and feature tables of whole streets ---


def ranking_speed() -> list[Row]:
    """Measure hands ranked per second on one thread: a NumPy batch of random hands, and an enumeration of all hands."""
    rng = np.random.default_rng(0)
    hands = np.argsort(rng.random((1_000_000, 52), dtype=np.float32), axis=1)[:, :7].astype(np.uint8)
    ranking.rank_batch(hands[:10])
    rows = []
    for check in (True, False):
        work = "random seven-card hands, NumPy batch, cards checked" if check else "the same, not checked"
        best = min(timed(partial(ranking.rank_batch, hands, check=check))[1] for _ in range(5))
        rows.append({"work": work, "million_a_second": len(hands) / best / 1e6, "target": 100.0})
    best = min(timed(lambda: ranking.count_rank_classes(7))[1] for _ in range(2))
    rows.append({"work": "all 133,784,560 seven-card hands", "million_a_second": 133.78456 / best, "target": 400.0})
    try:
        import phevaluator
    except ImportError:
        return rows
    names = [[card_name(c) for c in hand] for hand in hands[:50_000].tolist()]
    _, seconds = timed(lambda: [phevaluator.evaluate_cards(*hand) for hand in names])
    rows.append({"work": "phevaluator, one call a hand", "million_a_second": 0.05 / seconds, "target": None})
    return rows


def known_equities() -> list[Row]:
    """Compare equities with known values, and time them."""
    rows: list[Row] = []

    def add(match_up: str, ours: float, known: float, ok: bool, seconds: float) -> None:
        rows.append({"match_up": match_up, "equity": ours, "known": known, "ok": ok, "seconds": seconds})

    for first, second, known in (
        ("AA", "KK", 0.819461),
        ("AsAh", "KsKd", 0.819461),
        ("AsKs", "QhQd", 0.462145),
        ("2c2d", "AhKh", 0.499158),
        ("JsTs", "2c2d", 0.539794),
    ):
        found, seconds = timed(partial(equity, first, second, threads=2))
        add(f"{first} v {second}", found.shares[0], known, abs(found.shares[0] - known) < 1e-6, seconds)
    table, seconds = timed(partial(preflop_equities, threads=2))
    ok = bool(np.allclose(table + table.T, 1))
    add("169 × 169 table, two threads (or from the cache)", float(table[0, 14]), 0.819461, ok, seconds)
    return rows


def feature_table_speed(progress: Callable[[str], None], threads: int = 2) -> list[Row]:
    """Time the feature tables of whole streets."""
    canonical_boards(5)
    HandIndexer((2, 5))
    rows: list[Row] = []

    def add(what: str, hands: int, seconds: float, target: float | None, growth: float) -> None:
        row: Row = {"work": what, "hands": hands, "seconds": seconds, "target_seconds": target}
        rows.append(row | {"threads": threads, "gb_grown": growth})

    def measure(what: str, hands: int, target: float | None, work: Callable[[], object]) -> float:
        progress(f"bench: {what}")
        before = peak_memory() or 0
        _, seconds = timed(work)
        add(what, hands, seconds, target, max(0, (peak_memory() or 0) - before) / 2**30)
        return seconds

    measure("river E[HS]", 123_156_254, 45.0, lambda: hand_features.river_strengths(threads))
    features = hand_features.street_features
    turn = measure("turn histograms, 50 bins", 13_960_050, None, lambda: features("turn", 50, threads))
    flop = measure("flop histograms, 50 bins", 1_286_792, None, lambda: features("flop", 50, threads))
    add("turn and flop together", 15_246_842, turn + flop, 240.0, 0.0)
    return rows


OPEN_SPIEL_GAMES = {"leduc": "leduc_poker", "bluff:1,1": "liars_dice"}


def _open_spiel_solvers(name: str) -> tuple[Callable[[int], None], Callable[[int], None]] | None:
    """Return OpenSpiel's C++ CFR+ and external sampling on the same game, or None if it is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(OPEN_SPIEL_GAMES[name])
    full, external = pyspiel.CFRPlusSolver(game), pyspiel.ExternalSamplingMCCFRSolver(game)
    return repeated(full.evaluate_and_update_policy), repeated(external.run_iteration)


def solver_speed(name: str) -> list[Row]:
    """Time a full CFR+ iteration and an external-sampling iteration, ours and OpenSpiel's."""
    tree = compile_game(make_game(name))
    rows = []
    peer = _open_spiel_solvers(name)
    for index, (work, schedule, traversal, target) in enumerate(
        (("full CFR+ iteration", "cfr+", "full", 100.0), ("external-sampling iteration", "vanilla", "external", 20.0))
    ):
        solver = CFR(tree, schedule, traversal)
        _, compiled = timed(partial(solver.step, 1))
        ours = best_seconds(solver.step)
        theirs = best_seconds(peer[index]) if peer is not None else None
        row: Row = {"game": name, "work": work, "microseconds": ours * 1e6}
        row["open_spiel_microseconds"] = None if theirs is None else theirs * 1e6
        row["ratio"] = None if theirs is None else theirs / ours
        rows.append(row | {"target_ratio": target, "first_call_seconds": compiled})
    return rows


def known_values() -> list[Row]:
    """Compute known game values by LP, EGT and CFR, and compare them."""
    rows: list[Row] = []

    def add(what: str, ours: float, known: float, within: float, seconds: float) -> None:
        row: Row = {"what": what, "ours": ours, "known": known, "within": within, "seconds": seconds}
        rows.append(row | {"ok": abs(ours - known) <= within})

    for name, known in (("kuhn", -1 / 18), ("leduc", -0.085606424078)):
        for method, within in (("lp", 1e-9), ("egt", 1e-4)):
            r = solve_exact(name, method, SolveLimits(until=None if method == "lp" else 1e-5))
            add(f"{name} value by {method}", r.value, known, within, r.seconds)
    for name, conv in (("kuhn", 11 / 12), ("leduc", 4.747222222222222)):
        tree = compile_game(make_game(name))
        add(f"{name} NashConv of uniform", quality(Strategy.uniform(tree)).nash_conv, conv, 1e-12, 0.0)
    for name, known, within, width in (("bluff:1,1", -0.02713, 2e-5, 2e-5), ("bluff:2,1", 0.6165, 4e-4, 8e-4)):
        solver = CFR(compile_game(make_game(name)), "dcfr")
        is_known = partial(_is_narrow, solver, width)
        _, seconds = timed(partial(step_until, solver, is_known, game_values.MAX_ITERATIONS))
        what = f"{name} value by dcfr ({solver.iteration} iterations)"
        add(what, solver.quality().value, known, within, seconds)
    return rows


def _is_narrow(solver: CFR, width: float) -> bool:
    """Return whether the value of a game is known to within a width."""
    low, high = solver.quality().bracket
    return high - low <= width


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
    what, ok = "exploitability of an exported Leduc strategy", abs(ours - theirs) <= 1e-9
    return [{"what": what, "here": ours, "open_spiel": theirs, "ok": ok}]


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
        built_in = best_seconds(CFR(tree, "vanilla:alternating=1").step)
        own = best_seconds(CFR(tree, Rule(strategy, update, "plain")).step)
        row: Row = {"game": name, "built_in_microseconds": built_in * 1e6, "own_rule_microseconds": own * 1e6}
        rows.append(row | {"slowdown": own / built_in})
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
            environment = os.environ | ({"NUMBA_CACHE_DIR": folder} if fresh else {})
            command = [*program, *arguments]
            _, seconds = timed(partial(subprocess.run, command, check=True, capture_output=True, env=environment))
            rows.append({"what": label, "seconds": seconds, "target_seconds": target})
    return rows


def bluff_2_2_speed(progress: Callable[[str], None], threads: int = 2, iterations: int = 30) -> Row:
    """Time Bluff(2,2), solved from the values of the smaller games: 352,321,536 information sets."""

    def report(name: str, width: float, wanted: float) -> None:
        progress(f"solving {name} first: {width:.2g} / {wanted:.2g}")

    tree, built = timed(lambda: compile_game(make_game("bluff:2,2", report)))
    solver = CFR(tree, "dcfr", "pcs", threads=threads, dtype="float32")
    solver.step(1)  # first touch of the memory
    times = []
    while solver.iteration < iterations:
        times.append(timed(partial(solver.step, 1))[1])
        progress(f"bluff:2,2 iteration {solver.iteration}: {times[-1]:.2f} s")
    measured, checked = timed(solver.quality)
    low, high = measured.bracket
    row: Row = {"infosets": tree.infoset_count, "infoset_actions": tree.action_count}
    row |= {"peak_gb": (peak_memory() or 0) / 2**30, "build_seconds": built}
    row |= {"seconds_per_iteration": sum(times) / len(times), "best_seconds_per_iteration": min(times)}
    row |= {"nanoseconds_per_infoset_action": 1e9 * min(times) / (2 * tree.action_count), "threads": threads}
    row |= {"iterations": solver.iteration, "exploitability": measured.exploitability}
    return row | {"value_low": low, "value_high": high, "check_seconds": checked, "unit": tree.unit}


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
    **scaling.TITLES,
    **benchmark_device.TITLES,
}


def run_benchmarks(
    full: bool, device: str, threads: Sequence[int] | None, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Run all benchmarks and return their rows by the keys of `TITLES`.

    With a GPU device only those of the GPU run, with `threads` only scaling over these numbers of threads. `progress` gets a
    line of text before each part that takes long.
    """
    if threads is not None:
        return {"scaling": scaling.scaling_rows(threads, full, progress)}
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
