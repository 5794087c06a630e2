"""`riverboat bench`: fixed work, one thread, compile time apart; ratios against OpenSpiel in the same run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from riverboat.cli.bench import blueprints, cards, spots
from riverboat.cli.bench import device as benchmark_device
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.resources import peak_memory
from riverboat.core.tables import FIGURE, TEXT, Column, ReportTable
from riverboat.engines.devices import CPU
from riverboat.solvers.exact.solve import solve_exact
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.limits import Limits
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

PEERS = {"leduc": "leduc_poker", "bluff:1,1": "liars_dice"}
Row = dict[str, Any]


def per_call(work: Callable[[int], None], seconds: float = 1.0) -> float:
    """Seconds that one of `work`'s repetitions takes, the best of three rounds."""
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


def _peer(name: str) -> tuple[Callable[[int], None], Callable[[int], None]] | None:
    """OpenSpiel's C++ CFR+ and external sampling on the same game."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(PEERS[name])
    full = pyspiel.CFRPlusSolver(game)
    external = pyspiel.ExternalSamplingMCCFRSolver(game)

    def run_full(count: int) -> None:
        for _ in range(count):
            full.evaluate_and_update_policy()

    def run_external(count: int) -> None:
        for _ in range(count):
            external.run_iteration()

    return run_full, run_external


def speed(name: str) -> list[Row]:
    """A full CFR+ iteration and an external-sampling iteration, ours and theirs."""
    tree = compile_game(make_game(name))
    rows = []
    peer = _peer(name)
    for place, (what, schedule, traversal, target) in enumerate(
        (("full CFR+ iteration", "cfr+", "full", 100.0), ("external-sampling iteration", "vanilla", "external", 20.0))
    ):
        started = clock.perf_counter()
        solver = CFR(tree, schedule, traversal)
        solver.step(1)
        compiled = clock.perf_counter() - started
        ours = per_call(solver.step)
        theirs = per_call(peer[place]) if peer is not None else None
        rows.append(
            {
                "game": name,
                "work": what,
                "microseconds": ours * 1e6,
                "open_spiel_microseconds": None if theirs is None else theirs * 1e6,
                "ratio": None if theirs is None else theirs / ours,
                "target_ratio": target,
                "first_call_seconds": compiled,
            }
        )
    return rows


def values() -> list[Row]:
    """Known values by LP, EGT and CFR, with what they should be."""
    rows: list[Row] = []

    def add(what: str, ours: float, known: float, within: float, seconds: float) -> None:
        row = {"what": what, "ours": ours, "known": known, "within": within, "seconds": seconds}
        rows.append(row | {"ok": abs(ours - known) <= within})

    for name, known in (("kuhn", -1 / 18), ("leduc", -0.085606424078)):
        for method, within in (("lp", 1e-9), ("egt", 1e-4)):
            r = solve_exact(name, method, Limits(until=None if method == "lp" else 1e-5))
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


def exported() -> list[Row]:
    """A solved Leduc strategy, exported: its exploitability here and in OpenSpiel."""
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


def own_rule() -> list[Row]:
    """Regret matching written as a user's rule, against the built-in one."""
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
    for name in PEERS:
        tree = compile_game(make_game(name))
        built_in = per_call(CFR(tree, "vanilla:alternating=1").step)
        own = per_call(CFR(tree, Rule(strategy, update, "plain")).step)
        rows.append(
            {
                "game": name,
                "built_in_microseconds": built_in * 1e6,
                "own_rule_microseconds": own * 1e6,
                "slowdown": own / built_in,
            }
        )
    return rows


def startup() -> list[Row]:
    """How long a person waits: `--help`, and the first solve with nothing compiled yet."""
    rows = []
    program = [sys.executable, "-m", "riverboat.cli.main"]
    for what, arguments, target, fresh in (
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
            rows.append({"what": what, "seconds": clock.perf_counter() - started, "target_seconds": target})
    return rows


def bluff22(threads: int = 2, iterations: int = 30) -> Row:
    """Bluff(2,2), solved from the values of the smaller games: 352,321,536 information sets."""
    started = clock.perf_counter()
    game = make_game("bluff:2,2", lambda name, width, wanted: say(f"solving {name} first: {width:.2g} / {wanted:.2g}"))
    tree = compile_game(game)
    built = clock.perf_counter() - started
    solver = CFR(tree, "dcfr", "pcs", threads=threads, dtype="float32")
    solver.step(1)  # touches the memory for the first time
    times = []
    while solver.iteration < iterations:
        started = clock.perf_counter()
        solver.step(1)
        times.append(clock.perf_counter() - started)
        say(f"bluff:2,2 iteration {solver.iteration}: {times[-1]:.2f} s")
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


def main(full: bool, device: str, json: bool) -> None:
    """Everything, as tables or as one object; of a GPU, where one is asked for, only what runs there."""
    if device != CPU:
        _tell(benchmark_device.run(device), benchmark_device.TITLES, json)
        return
    report: dict[str, Any] = {"speed": [row for name in PEERS for row in speed(name)]}
    report["values"] = values()
    report["exported"] = exported()
    report["own_rule"] = own_rule()
    report["startup"] = startup()
    report["ranking"] = cards.ranking_speed()
    report["matchups"] = cards.matchups()
    report |= spots.run(full)
    if full:
        report["streets"] = cards.streets()
        report |= blueprints.run()
        report["bluff22"] = bluff22()
    titles = {
        "speed": "speed, one thread, against OpenSpiel's C++ solvers in the same run",
        "values": "values",
        "exported": "exported to OpenSpiel",
        "own_rule": "a rule of one's own: vanilla CFR written as one",
        "startup": "start-up",
        "ranking": "ranking, one thread",
        "matchups": "equities",
        "streets": "feature tables",
        **spots.TITLES,
        **blueprints.TITLES,
        "bluff22": "Bluff(2,2)",
    }
    _tell(report, titles, json)


def _tell(report: dict[str, Any], titles: dict[str, str], json: bool) -> None:
    if json:
        emit(report)
        return
    console = plain_console()
    for key, title in titles.items():
        rows = report.get(key)
        if rows:
            _print(console, title, [{"what": k, "is": v} for k, v in rows.items()] if isinstance(rows, dict) else rows)


def _print(console: Console, title: str, rows: list[Row]) -> None:
    columns = [
        Column(name, TEXT if isinstance(value, str) else FIGURE, name.replace("_", " "))
        for name, value in rows[0].items()
    ]
    console.print(ReportTable(title, tuple(columns), tuple(tuple(map(_show, row.values())) for row in rows)))
    console.print()


def _show(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.10g}" if abs(value) < 10 and value not in (0.5,) else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
