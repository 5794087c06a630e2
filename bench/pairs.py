"""Compare the speed of two checkouts: the same work in turn, medians and spreads of the ratios.

    git worktree add /tmp/before HEAD~50
    python bench/pairs.py /tmp/before . --pairs 5 --rounds 15 --cores 0,1

Each checkout has a process of its own with its `src` and its own copy of this script, pinned to the given cores. Both run at
the same time and do each piece of work in turn, for some rounds: other load on the machine, which varies within seconds,
affects both. A pair is two such processes; its ratio is the median over its rounds. A line is worse if the median over
pairs is above 1.05. `--only WORD` selects the lines that contain the word.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

SPOTS = Path(__file__).resolve().parents[1] / "examples" / "spots"
WORSE = 1.05
MEMORY = "peak MB"
Work = tuple[str, Callable[[], object]]


def small_games() -> Iterator[Work]:
    """Iterations on history trees and public trees."""
    import numpy as np

    from riverboat.cards.ranking import rank_batch
    from riverboat.games import registry
    from riverboat.solvers.tabular.cfr import CFR
    from riverboat.trees.compile import compile_game

    for game, traversal, count in (("leduc", "full", 2000), ("leduc", "external", 20_000), ("bluff:1,1", "full", 300)):
        solver = CFR(
            compile_game(registry.game_from_spec(game)), "cfr+" if traversal == "full" else "vanilla", traversal
        )
        yield f"{game} {traversal}", lambda solver=solver, count=count: solver.step(count)
    cards = np.argsort(np.random.default_rng(0).random((300_000, 52)), axis=1)[:, :7].astype(np.uint8)
    yield "rank 7 cards", lambda: [rank_batch(cards, check=False) for _ in range(20)]


def spots() -> Iterator[Work]:
    """Trees, iterations and best responses of spots."""
    from riverboat.games import registry
    from riverboat.solvers.boards.cfr import BoardCFR
    from riverboat.trees.boards import BoardTree

    for name, dtype, steps, checks in (
        ("river", "compact", 3000, 300),
        ("turn", "compact", 20, 10),
        ("turn", "16-bit", 20, 10),
        ("turn", "float64", 10, 5),
        ("flop", "compact", 1, 1),
    ):
        spot = registry.game_from_spec(str(SPOTS / f"{name}.toml"))
        if dtype == "compact":
            yield f"{name}: tree", lambda spot=spot: BoardTree(spot).boards
        cfr = BoardCFR(BoardTree(spot), "dcfr", dtype=dtype)
        yield f"{name} {dtype}: iterations", lambda cfr=cfr, steps=steps: cfr.step(steps)
        yield (
            f"{name} {dtype}: exploitability",
            lambda cfr=cfr, checks=checks: [cfr.exploitability() for _ in range(checks)],
        )


def blueprints() -> Iterator[Work]:
    """Betting trees, sampled iterations, best responses, matches."""
    import numpy as np

    from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    from riverboat.agents.registry import make_agent
    from riverboat.evaluation.best_response.exact import quality
    from riverboat.evaluation.matches.match import play_match
    from riverboat.games.holdem.action_tree import compile_action_tree
    from riverboat.games.holdem.menus import one_size_menu
    from riverboat.games.holdem.rules import PokerRules, read_game
    from riverboat.solvers.mccfr.trainer import BlueprintTrainer
    from riverboat.strategies.blueprint import Blueprint

    rules = PokerRules(stacks=(2000, 2000), ranks=5, board=(0, 3, 1), name="small")
    deep = PokerRules(stacks=(20_000, 20_000), name="deep")
    menu = one_size_menu("100%", 3)
    yield "small game: betting", lambda: [compile_action_tree(rules, menu) for _ in range(30)]
    yield "200 big blinds: betting", lambda: [compile_action_tree(deep, menu) for _ in range(30)]
    tree, exact = compile_action_tree(rules, menu), lossless_abstraction(rules.board[1:], rules.deck)
    blueprint = BlueprintTrainer(tree, exact, seed=1)
    yield "small game: sampled iterations", lambda: blueprint.step(200_000)
    tables = [np.zeros((count, int(w)), np.uint8) for count, w in zip(exact.counts, tree.width, strict=False)]
    strategy = Blueprint(rules, tree.menu, tree, exact, tuple(tables))
    yield "small game: best response", lambda: quality(strategy)
    two, flat = read_game("bench-2x52"), one_size_menu("100%", 1)
    short, all_hands = compile_action_tree(two, flat), lossless_abstraction(two.board[1:], two.deck)
    rows = [np.zeros((count, int(w)), np.uint8) for count, w in zip(all_hands.counts, short.width, strict=False)]
    wide = Blueprint(two, flat, short, all_hands, tuple(rows))
    yield "two streets of 52 cards: best response", lambda: quality(wide)
    game, first, second = read_game("nolimit-200bb"), make_agent("rule-based"), make_agent("random")
    yield "matches of baseline agents", lambda: play_match(first, second, game, 10_000, seed=1)


def child(word: str) -> None:
    """Print the name of each piece of work, then run it for every input line until an empty one, and print the seconds."""
    out, sys.stdout = sys.stdout, sys.stderr
    for kind in (small_games, spots, blueprints):
        for name, work in kind():
            if word not in name:
                continue
            print(name, file=out, flush=True)
            work()  # compiles
            while sys.stdin.readline().strip():
                started = time.perf_counter()
                work()
                print(time.perf_counter() - started, file=out, flush=True)
    print(MEMORY, file=out, flush=True)
    while sys.stdin.readline().strip():
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=out, flush=True)
    print(file=out, flush=True)


def begin(checkout: Path, cores: str, word: str) -> subprocess.Popen[str]:
    """Start a process with the package of a checkout."""
    path = os.pathsep.join([str(checkout.resolve() / "src"), os.environ.get("PYTHONPATH", "")])
    script = checkout.resolve() / "bench" / "pairs.py"  # its own: names inside the package may differ
    command = ["taskset", "-c", cores, sys.executable, str(script), "--child", "--only", word]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env={**os.environ, "PYTHONPATH": path})


def ask(process: subprocess.Popen[str], line: str) -> str:
    """Send a line to a process and return its reply."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def pair(sides: tuple[Path, Path], cores: str, word: str, rounds: int) -> dict[str, tuple[float, float, float]]:
    """Return medians of both sides, and of the ratio of neighbors, for each piece of work."""
    processes = [begin(side, cores, word) for side in sides]
    names = [process.stdout.readline().strip() for process in processes if process.stdout]
    medians = {}
    while names[0]:
        times: list[list[float]] = [[], []]
        for number in range(rounds if names[0] != MEMORY else 1):
            for side in (0, 1) if number % 2 else (1, 0):
                times[side].append(float(ask(processes[side], "again")))
        ratios = [after / before for before, after in zip(*times, strict=True)]
        medians[names[0]] = (median(times[0]), median(times[1]), median(ratios))
        names = [ask(process, "") for process in processes]
    for process in processes:
        process.wait()
    return medians


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("after", type=Path, nargs="?")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cores", default="0,1")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--child", action="store_true")
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.only)
        return
    pairs = [
        pair((arguments.before, arguments.after), arguments.cores, arguments.only, arguments.rounds)
        for _ in range(arguments.pairs)
    ]
    print(f"{'work':34} {'before':>10} {'after':>10} {'ratio':>7}  {'least':>6} {'most':>6}")
    for name in pairs[0]:
        ratios = sorted(run[name][2] for run in pairs)
        first, second = (median(run[name][side] for run in pairs) for side in (0, 1))
        mark = "  worse" if median(ratios) > WORSE else ""
        print(f"{name:34} {first:10.4g} {second:10.4g} {median(ratios):7.3f}  {ratios[0]:6.3f} {ratios[-1]:6.3f}{mark}")


if __name__ == "__main__":
    main()
