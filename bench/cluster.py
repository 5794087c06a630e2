"""Cost of Ray: iterations per second of a head and two blades as actors, and of the same work in one process.

    python bench/cluster.py ABSTRACTION [--seconds 10] [--rounds 5] [--warm 1000000]
                               [--batch 16384] [--menu small|large]

ABSTRACTION is a folder with public buckets, such as `riverboat abstract tartanian7` builds. Both engines have the same
seed, do the same batches and use two cores: in one process the blades are called in turn, each with two threads; as
actors they work in parallel with one thread each. Rounds alternate, and the ratio is that of the medians. Plain
external sampling in one process is measured for comparison: there a deal is traversed on one board, here on one board
per blade.
"""

from __future__ import annotations

import argparse
import statistics
import time

from riverboat.abstraction.cards.card_abstraction import load_abstraction
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import menu_from_table
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.cluster.distributed import DistributedTrainer
from riverboat.solvers.mccfr.trainer import BlueprintTrainer

MENUS = {
    "small": {"preflop": ["100%"], "flop": ["100%"], "turn": ["100%"], "river": ["100%"]},
    "large": {"preflop": ["2.5x, a", "100%, a", "a"], "flop": ["50%, 100%, a", "100%, a", "a"]},
}


def iterations_per_second(solver: DistributedTrainer | BlueprintTrainer, chunk: int, seconds: float) -> float:
    """Train for some seconds and return the rate."""
    started, before = time.perf_counter(), solver.iterations
    while time.perf_counter() - started < seconds:
        solver.step(chunk)
    return (solver.iterations - before) / (time.perf_counter() - started)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("abstraction")
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--warm", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--batch", type=int, default=1 << 14)
    options.add_argument("--menu", choices=MENUS, default="small")
    options.add_argument("--game", default="nolimit-200bb")
    arguments = options.parse_args()
    cards = load_abstraction(arguments.abstraction)
    tree = compile_action_tree(read_game(arguments.game), menu_from_table(MENUS[arguments.menu]))
    counts = tree.table_size(cards.counts)
    print(f"{tree.rules.name}: {len(tree):,} nodes, {sum(counts.infoset_actions):,} infoset-actions, {cards}")
    common = {"seed": 1, "batch": arguments.batch, "first_batch": arguments.batch}
    solvers = {
        "one process": DistributedTrainer(tree, cards, blades=2, threads=2, **common),
        "ray": DistributedTrainer(
            tree, cards, blades=2, threads=1, engine="ray", cards_path=arguments.abstraction, **common
        ),
    }
    rates: dict[str, list[float]] = {name: [] for name in solvers}
    try:
        for solver in solvers.values():
            solver.step(arguments.warm)  # compile, and load the pages of tables and abstraction
        chunk = 4 * arguments.batch
        for round_ in range(arguments.rounds):
            names = list(solvers) if round_ % 2 == 0 else list(solvers)[::-1]
            for name in names:
                rates[name].append(iterations_per_second(solvers[name], chunk, arguments.seconds))
            last = ", ".join(f"{name} {speeds[-1]:,.0f}" for name, speeds in rates.items())
            print(f"round {round_}: {last}", flush=True)
        visits = {name: solver.updates / solver.iterations for name, solver in solvers.items()}
    finally:
        for solver in solvers.values():
            solver.close()
    plain = BlueprintTrainer(tree, cards, seed=1, threads=2)
    plain.step(arguments.warm)
    rate = iterations_per_second(plain, chunk, arguments.seconds)
    middle = {name: statistics.median(speeds) for name, speeds in rates.items()}
    for name, speeds in middle.items():
        print(f"{name}: {speeds:,.0f} iterations/s, {speeds * visits[name]:,.3g} decisions/s")
    visited = rate * plain.updates / plain.iterations
    print(f"plain external sampling, two threads: {rate:,.0f} iterations/s, {visited:,.3g} decisions/s")
    print(f"ray / one process: {middle['ray'] / middle['one process']:.3f}")


if __name__ == "__main__":
    main()
