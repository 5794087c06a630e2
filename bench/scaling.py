"""Scaling of external sampling over threads: iterations per second of one game on 1, 2, 4, … threads.

    python bench/scaling.py [--recipe demo --abstraction DIR] [--threads 1,2,4,8,16] [--seconds 5]

Without a recipe: the two-street game of 52 cards that `riverboat bench` trains.
"""

from __future__ import annotations

import argparse
import time

from riverboat.abstraction.cards.card_abstraction import load_abstraction, lossless_abstraction
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.solvers.mccfr.trainer import BlueprintTrainer

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--recipe")
parser.add_argument("--abstraction")
parser.add_argument("--game", default="bench-2x52")
parser.add_argument("--threads", default="1,2")
parser.add_argument("--seconds", type=float, default=5.0)
options = parser.parse_args()
if options.recipe:
    recipe = load_train_recipe(options.recipe)
    tree, cards = compile_action_tree(recipe.rules, recipe.menu), load_abstraction(options.abstraction)
else:
    rules = read_game(options.game)
    tree = compile_action_tree(rules, one_size_menu("100%", 1))
    cards = lossless_abstraction(rules.board[1:], rules.deck)
counts = sorted(map(int, options.threads.split(",")))
first = BlueprintTrainer(tree, cards, seed=1, threads=counts[-1])
started = time.perf_counter()
while time.perf_counter() - started < 2 * options.seconds:
    first.step(200_000)
state = {name: array.copy() for name, array in first.state().items()}
one = None
for threads in counts:  # all from the same state: the cost of a deal depends on the strategy
    solver = BlueprintTrainer(tree, cards, threads=threads)
    solver.step(64)
    solver.restore(state)
    iterations, updates, started = solver.iterations, solver.updates, time.perf_counter()
    while time.perf_counter() - started < options.seconds:
        solver.step(100_000 * threads)
    took = time.perf_counter() - started
    rate, visits = (solver.iterations - iterations) / took, (solver.updates - updates) / took
    one = one or (rate / threads, visits / threads)
    print(
        f"{options.recipe or options.game}: {threads:2d} threads, {rate:12,.0f} iterations/s "
        f"({rate / one[0]:5.2f} times one), {visits:14,.0f} visits/s ({visits / one[1]:5.2f})",
        flush=True,
    )
