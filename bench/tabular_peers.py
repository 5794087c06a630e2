"""Compare CFR on small games with OpenSpiel and LiteEFG, and the import of OpenSpiel games with an earlier version.

    python bench/tabular_peers.py
    python bench/tabular_peers.py --before ../earlier    # a git worktree: git worktree add ../earlier v0.1.0
    python bench/tabular_peers.py --only import --before ../earlier --json

Full CFR+ iterations on Leduc and liar's dice are timed in turn on one thread, by Riverboat, by OpenSpiel's C++ solver and by
LiteEFG (`pip install LiteEFG`; left out if it is missing), and the fastest round counts. An iteration updates both players
and the average. NashConv after 100 iterations shows that all solve the same game. Imports are measured in processes of their
own, in CPU seconds, each version in turn; `cached` is the second import of the new version.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from riverboat.benchmarks.suite import OPEN_SPIEL_GAMES
from riverboat.benchmarks.timing import Row, repeated, timed
from riverboat.games.registry import game_from_spec
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.compile import compile_game

SCHEDULE = "cfr+"
ITERATIONS_OF_CHECK = 100
IMPORTED = (
    "liars_dice", "liars_dice(dice_sides=7)", "leduc_poker(players=3)", "tic_tac_toe", "tiny_bridge_2p",
    "goofspiel(num_cards=4,imp_info=True)", "universal_poker()",
)  # fmt: skip
IMPORT_CODE = """
import json, sys, time
from riverboat.games.registry import game_from_spec
from riverboat.trees.compile import compile_game
import pyspiel
game = game_from_spec("open_spiel:" + sys.argv[1])
started = time.process_time()
tree = compile_game(game)
print(json.dumps([time.process_time() - started, len(tree.nodes.actor)]))
"""


class Contestant:
    """A solver: its iterations, and NashConv of its average strategy."""

    def __init__(self, step: Callable[[int], None], nash_conv: Callable[[], float]) -> None:
        self.step, self.nash_conv = step, nash_conv


def riverboat_solver(name: str) -> Contestant:
    solver = CFR(compile_game(game_from_spec(name)), SCHEDULE)
    return Contestant(solver.step, lambda: solver.quality().nash_conv)


def open_spiel_solver(name: str) -> Contestant:
    import pyspiel

    game = pyspiel.load_game(OPEN_SPIEL_GAMES[name])
    solver = pyspiel.CFRPlusSolver(game)
    step = repeated(solver.evaluate_and_update_policy)
    return Contestant(step, lambda: pyspiel.nash_conv(game, solver.tabular_average_policy()))


def lite_efg_solver(name: str) -> Contestant | None:
    """Return LiteEFG's CFR+, or None if it is not installed. Its messages are dropped."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            import LiteEFG
            from LiteEFG.baselines import CFRplus
    except ImportError:
        return None
    import pyspiel

    with contextlib.redirect_stdout(sys.stderr):
        graph = CFRplus.graph()
        environment = LiteEFG.OpenSpielEnv(
            pyspiel.load_game(OPEN_SPIEL_GAMES[name]), traverse_type="Enumerate", regenerate=True
        )
        environment.set_graph(graph)

    def iterate() -> None:
        graph.update_graph(environment)
        environment.update_strategy(graph.current_strategy())

    return Contestant(
        repeated(iterate), lambda: sum(environment.exploitability(graph.current_strategy(), "linear-avg-iterate"))
    )


def seconds_in_turn(contestants: dict[str, Contestant], min_seconds: float, rounds: int) -> dict[str, float]:
    """Return the seconds of an iteration of each, from its fastest round; rounds alternate between them."""
    counts = {}
    for name, contestant in contestants.items():
        count = 1
        while timed(lambda count=count, step=contestant.step: step(count))[1] < min_seconds:
            count *= 2
        counts[name] = count
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, contestant in contestants.items():
            _, spent = timed(lambda name=name, step=contestant.step: step(counts[name]))
            best[name] = min(best[name], spent / counts[name])
    return best


def solver_rows(min_seconds: float, rounds: int) -> list[Row]:
    """Return a row for each game and solver, with the ratio to ours."""
    rows = []
    for name in OPEN_SPIEL_GAMES:
        made = {
            "riverboat": riverboat_solver(name), "open_spiel": open_spiel_solver(name), "LiteEFG": lite_efg_solver(name)
        }  # fmt: skip
        contestants = {key: each for key, each in made.items() if each is not None}
        conv = {}
        for key, contestant in contestants.items():
            contestant.step(ITERATIONS_OF_CHECK)
            conv[key] = contestant.nash_conv()
        seconds = seconds_in_turn(contestants, min_seconds, rounds)
        for key, each in seconds.items():
            row: Row = {"game": name, "solver": key, "microseconds": each * 1e6, "iterations_per_second": 1 / each}
            rows.append(row | {"times_ours": each / seconds["riverboat"], "nash_conv_at_100": conv[key]})
    return rows


def import_rows(games: Sequence[str], before: Path | None, rounds: int) -> list[Row]:
    """Return a row for each game: CPU seconds of its import before and after, and from the cache."""
    here = Path(__file__).parents[1]
    rows = []
    for spec in games:
        best: dict[str, float] = {}
        histories = 0
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as cache:
                runs = {"seconds": here, "cached": here} | ({} if before is None else {"before": before})
                for label, version in runs.items():
                    spent, histories = import_seconds(spec, version, cache)
                    best[label] = min(best.get(label, float("inf")), spent)
        row: Row = {"game": spec, "histories": histories, **best}
        if before is not None:
            row["times_faster"] = best["before"] / best["seconds"]
        rows.append(row | {"seconds_per_million": 1e6 * best["seconds"] / histories})
    return rows


def import_seconds(spec: str, version: Path, cache: str) -> tuple[float, int]:
    """Return the CPU seconds of an import in a process of its own, and the number of histories."""
    environment = os.environ | {"PYTHONPATH": str(version / "src"), "XDG_CACHE_HOME": cache}
    command = [sys.executable, "-c", IMPORT_CODE, spec]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    spent, histories = json.loads(done.stdout.splitlines()[-1])
    return spent, histories


def print_table(rows: list[Row]) -> None:
    """Print rows with aligned columns."""
    if not rows:
        return
    cells = [[*rows[0]], *([_format(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    print()


def _format(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def main() -> None:
    """Run the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("solvers", "import"), help="run one of the two comparisons")
    parser.add_argument("--games", nargs="+", default=IMPORTED, help="OpenSpiel games to import")
    parser.add_argument("--before", type=Path, help="working tree of an earlier version, for the import")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which the fastest counts")
    parser.add_argument("--seconds", type=float, default=0.2, help="least seconds of a round of iterations")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    report = {}
    if options.only != "import":
        report["solvers"] = solver_rows(options.seconds, options.rounds)
    if options.only != "solvers":
        report["import"] = import_rows(options.games, options.before, min(options.rounds, 3))
    if options.json:
        print(json.dumps(report))
    else:
        for rows in report.values():
            print_table(rows)


if __name__ == "__main__":
    main()
