"""Scaling over threads: the same work on 1, 2, 4, … threads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from riverboat.abstraction.build import build_abstraction
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.abstraction.recipe import load_recipe
from riverboat.agents.registry import default_folder
from riverboat.benchmarks.blueprints import uniform_blueprint
from riverboat.benchmarks.spots import SPOT_FOLDER, read_example_spot, run_to_targets
from riverboat.benchmarks.timing import Row, best_seconds, repeated, round_figures, timed
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response import exact
from riverboat.evaluation.local_best_response import local_best_response
from riverboat.evaluation.matches.duel import duel
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.run import default_schedule
from riverboat.strategies.blueprint import load_blueprint
from riverboat.strategies.policy import BlueprintPolicy
from riverboat.subgames.database.database import build_database
from riverboat.trees.boards import BoardTree

TITLES = {"scaling": "scaling over threads: the same work on each; efficiency is the speed-up divided by the threads"}
MAX_THREADS = 256
TARGET = 0.5  # % of the pot
TRAINING_GAME = "bench-2x52"
DEALS, DUEL_HANDS, LBR_HANDS, ENDGAMES = 4_000_000, 100_000, 3_200, 64
Workload: TypeAlias = tuple[str, Callable[[int], float]]  # name, and seconds of the work on a number of threads


def parse_thread_counts(text: str) -> list[int]:
    """Parse numbers of threads such as `1,2,4,8,16`, and sort them."""
    words = [word.strip() for word in text.split(",")]
    counts = sorted({int(word) if word.isdecimal() and len(word) < 5 else 0 for word in words})
    if not 1 <= counts[0] <= counts[-1] <= MAX_THREADS:
        raise InputError(f"threads={text!r}: must be numbers from 1 to {MAX_THREADS} with commas, such as 1,2,4,8")
    return counts


def scaling_rows(threads: Sequence[int], full: bool, progress: Callable[[str], None]) -> list[Row]:
    """Time each workload on each number of threads; without `full` only workloads that take seconds."""
    rows: list[Row] = []
    for name, seconds_on in _workloads(full, max(threads)):
        seconds_on(max(threads))  # compiles, and fills caches
        first = None
        for count in threads:
            seconds = seconds_on(count)
            first = first or seconds * count  # as if linear up to the first number
            row: Row = {"work": name, "threads": count, "seconds": seconds}
            rows.append(round_figures(row | {"speedup": first / seconds, "efficiency": first / seconds / count}))
            progress(f"bench: {name}, threads {count}: {seconds:.4g} s")
    return rows


def _workloads(full: bool, most_threads: int) -> Iterator[Workload]:
    """Yield the workloads, one at a time: each keeps its trees in memory."""
    for name in ("turn", "flop") if full else ("turn",):
        if not SPOT_FOLDER.is_dir():
            break  # spots are part of a checkout only
        tree = BoardTree(read_example_spot(name))
        yield f"{name}: one iteration", partial(_iteration_seconds, tree)
        yield f"{name}: exploitability", partial(_check_seconds, tree)
        yield f"{name}: to {TARGET} % of the pot, without the layout", partial(_solve_seconds, tree)
        del tree
    rules = read_game(TRAINING_GAME)
    betting = compile_action_tree(rules, one_size_menu("100%", 1))
    cards = lossless_abstraction(rules.board[1:], rules.deck)
    trainer = BlueprintTrainer(betting, cards, seed=1, threads=most_threads)
    trainer.step(DEALS)
    state = {name: array.copy() for name, array in trainer.state().items()}

    def train(threads: int) -> float:  # from the same state, since the cost of a deal depends on the strategy
        solver = BlueprintTrainer(betting, cards, seed=1, threads=threads)
        solver.step(64)
        solver.restore(state)
        return timed(partial(solver.step, DEALS))[1]

    yield f"external sampling, {TRAINING_GAME}: {DEALS:,} deals", train
    uniform = uniform_blueprint(betting, cards)
    yield f"best response, {TRAINING_GAME}", lambda threads: exact.quality(uniform, threads).seconds
    shipped = load_blueprint(default_folder())
    yield (
        f"duel of default with itself: {DUEL_HANDS:,} hands",
        lambda threads: timed(partial(duel, shipped, shipped, DUEL_HANDS, 1, threads))[1],
    )
    policy = BlueprintPolicy(shipped)
    yield (
        f"local best response to default: {LBR_HANDS} hands",
        lambda threads: local_best_response(policy, shipped.rules, hands=LBR_HANDS, threads=threads).seconds,
    )
    if full:
        yield (
            f"endgame database: {ENDGAMES} rivers",
            _in_folder(lambda folder, threads: build_database(shipped, folder, ENDGAMES, threads=threads)),
        )
        yield (
            "card abstraction tiny",
            _in_folder(lambda folder, threads: build_abstraction(load_recipe("tiny"), folder, threads)),
        )


def _iteration_seconds(tree: BoardTree, threads: int) -> float:
    return best_seconds(BoardCFR(tree, default_schedule(tree), threads=threads).step)


def _check_seconds(tree: BoardTree, threads: int) -> float:
    return best_seconds(repeated(BoardCFR(tree, default_schedule(tree), threads=threads).exploitability))


def _solve_seconds(tree: BoardTree, threads: int) -> float:
    return min(run_to_targets(tree, (TARGET,), threads=threads)[0][0].seconds for _ in range(2))


def _in_folder(work: Callable[[Path, int], object]) -> Callable[[int], float]:
    """Return a function that times work which writes to an empty folder."""

    def seconds_on(threads: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            return timed(partial(work, Path(folder) / "out", threads))[1]

    return seconds_on
