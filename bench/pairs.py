"""Two states of the code beside each other: the same work in interleaved pairs, medians and spreads of the ratios.

    git worktree add /tmp/before HEAD~50
    python bench/pairs.py /tmp/before . --pairs 5 --cores 0,1

Each run is a process of its own with the `src` of one checkout, pinned to the cores given. Lists of cores divided by spaces
run so many pairs at once: `--cores 0 1 2 3` gives every process one core. A line is worse where its median ratio is above
1.05.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

SPOTS = Path(__file__).parents[1] / "examples" / "spots"
WORSE = 1.05


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """Seconds of the quickest of some rounds; the first one compiles and is not counted."""
    work()
    found = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def measured() -> dict[str, float]:
    """Seconds of each piece of work, and megabytes."""
    import numpy as np

    from riverboat.abstraction.card_abstraction import lossless
    from riverboat.cards.ranking import rank_batch
    from riverboat.evaluation.best_response import quality
    from riverboat.games import registry
    from riverboat.games.acpc import Rules
    from riverboat.games.action_tree import compile_actions
    from riverboat.games.menus import one_size
    from riverboat.solving.boards import BoardCFR
    from riverboat.solving.bucket_sampling import make_blueprint
    from riverboat.solving.cfr import CFR
    from riverboat.strategy.blueprint import BlueprintStrategy
    from riverboat.trees.boards import BoardTree
    from riverboat.trees.compile import compile_game

    found = {}
    for game, traversal, count in (("leduc", "full", 2000), ("leduc", "external", 20_000), ("bluff:1,1", "full", 500)):
        solver = CFR(compile_game(registry.make(game)), "cfr+" if traversal == "full" else "vanilla", traversal)
        found[f"{game} {traversal}"] = best(lambda solver=solver, count=count: solver.step(count))
    rng = np.random.default_rng(0)
    cards = np.argsort(rng.random((300_000, 52)), axis=1)[:, :7].astype(np.uint8)
    found["rank 7 cards"] = best(lambda: rank_batch(cards, check=False))
    for name, dtype, steps in (
        ("river", "compact", 300),
        ("turn", "compact", 40),
        ("turn", "16-bit", 40),
        ("turn", "float64", 20),
        ("flop", "compact", 2),
    ):
        spot = registry.make(str(SPOTS / f"{name}.toml"))
        tree = BoardTree(spot)
        if dtype == "compact":
            found[f"{name}: tree"] = best(lambda name=name: BoardTree(registry.make(str(SPOTS / f"{name}.toml"))), 3)
        cfr = BoardCFR(tree, "dcfr", dtype=dtype)
        found[f"{name} {dtype}: iterations"] = best(lambda cfr=cfr, steps=steps: cfr.step(steps), 4)
        found[f"{name} {dtype}: exploitability"] = best(cfr.exploitability, 3)
        del cfr
    found["peak MB after the flop"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rules = Rules(stacks=(2000, 2000), ranks=5, board=(0, 3, 1), name="small")
    tree = compile_actions(rules, one_size("100%", 3))
    found["small game: betting"] = best(lambda: compile_actions(rules, one_size("100%", 3)), 3)
    deep = Rules(stacks=(20_000, 20_000), name="deep")
    found["200 big blinds: betting"] = best(lambda: compile_actions(deep, one_size("100%", 3)), 3)
    exact = lossless(rules.board[1:], rules.deck)
    blueprint = make_blueprint(tree, exact, seed=1)
    found["small game: sampled iterations"] = best(lambda: blueprint.step(50_000))
    tables = [np.zeros((count, int(w)), np.uint8) for count, w in zip(exact.counts, tree.width, strict=False)]
    strategy = BlueprintStrategy(rules, tree.menu, tree, exact, tuple(tables))
    found["small game: best response"] = best(lambda: quality(strategy), 3)
    return found | matches(rules)


def matches(rules: object) -> dict[str, float]:
    """Hands between yardsticks."""
    from riverboat.agents.registry import make_agent
    from riverboat.evaluation.matches import play_match
    from riverboat.games.acpc import read_game

    game = read_game("nolimit-200bb")
    first, second = make_agent("rule-based"), make_agent("random")
    return {"matches of yardsticks": best(lambda: play_match(first, second, game, 2000, seed=1), 3)}


def child(source: Path, cores: str) -> dict[str, float]:
    """One run with the package of a checkout."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source / "src"), os.environ.get("PYTHONPATH", "")])}
    command = ["taskset", "-c", cores, sys.executable, str(Path(__file__).resolve()), "--child"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("after", type=Path, nargs="?")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--cores", nargs="+", default=["0,1"])
    parser.add_argument("--child", action="store_true")
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measured()))
        return
    free = list(given.cores)

    def pair(number: int) -> tuple[dict[str, float], dict[str, float]]:
        if len(given.cores) == 1:  # one after the other, in turn
            both = [child(side, free[0]) for side in (given.before, given.after)[:: 1 if number % 2 else -1]]
            return (both[0], both[1]) if number % 2 else (both[1], both[0])
        places = [free.pop(), free.pop()]
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(child, (given.before, given.after), places[:: 1 if number % 2 else -1])
        free.extend(places)
        return first, second

    with ThreadPoolExecutor(max(1, len(given.cores) // 2)) as pool:
        pairs = list(pool.map(pair, range(given.pairs)))
    print(f"{'work':34} {'before':>10} {'after':>10} {'ratio':>7}  {'least':>6} {'most':>6}")
    for name in pairs[0][0]:
        ratios = sorted(after[name] / before[name] for before, after in pairs)
        first, second = (median(run[side][name] for run in pairs) for side in (0, 1))
        mark = "  worse" if median(ratios) > WORSE else ""
        print(f"{name:34} {first:10.4g} {second:10.4g} {median(ratios):7.3f}  {ratios[0]:6.3f} {ratios[-1]:6.3f}{mark}")


if __name__ == "__main__":
    main()
