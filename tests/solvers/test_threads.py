"""Several threads give the same results as one, bitwise."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from random_games import random_public_game
from riverboat.core.errors import InputError
from riverboat.games.base import Game
from riverboat.games.registry import game_from_spec
from riverboat.solvers.schedules import SCHEDULES
from riverboat.solvers.tabular import best_response, tree_engine
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.tree_engine import TreeEngine
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game, to_history_tree

pytestmark = pytest.mark.smoke

GAMES: dict[str, Game] = {
    "leduc": game_from_spec("leduc"),
    "leduc, many cards": game_from_spec("leduc:ranks=5,suits=3"),
    "kuhn, many cards": game_from_spec("kuhn:cards=45"),
    "kuhn, no limit": game_from_spec("kuhn:cards=5,stack=5"),
    "bluff": game_from_spec("bluff:1,1"),
    "random": random_public_game(20, depth=5),
}


@pytest.fixture(autouse=True)
def _small_trees_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_engine, "MIN_PARALLEL_NODES", 0)
    monkeypatch.setattr("riverboat.core.resources.available_cores", lambda: 3)  # also on a machine with one core


def assert_bitwise(one: CFR, many: CFR) -> None:
    for table in ("regret", "averages", "prediction"):
        assert getattr(one, table).tobytes() == getattr(many, table).tobytes(), table


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("schedule", [*SCHEDULES, "pcfr+:alternating=0", "vanilla:alternating=1"])
def test_iterations(name: str, schedule: str) -> None:
    tree = compile_game(GAMES[name])
    one, two, three = (CFR(tree, schedule, threads=n) for n in (1, 2, 3))
    assert [solver._engine.threads for solver in (one, two, three)] == [1, 2, 3]
    for solver in (one, two, three):
        for count in (1, 4, 5):
            solver.step(count)
    assert_bitwise(one, two)
    assert_bitwise(one, three)
    assert one.current().probabilities.tobytes() == two.current().probabilities.tobytes()


LEARN = """
import hashlib, os, sys
os.cpu_count = lambda: 2
from riverboat.games.registry import game_from_spec
from riverboat.solvers.tabular import tree_engine
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.compile import compile_game
tree_engine.MIN_PARALLEL_NODES = 0
tree = compile_game(game_from_spec("bluff:1,1"))
for count in map(int, sys.argv[1:]):
    solver = CFR(tree, "vanilla", threads=count)
    solver.step(10)
    print(hashlib.sha256(solver.regret.tobytes()).hexdigest())
"""


def test_iterations_do_not_depend_on_the_order_of_loading() -> None:
    """One thread calls a kernel around `traverse`, two threads call `traverse` itself: cached on disk, in either order."""
    tree = compile_game(GAMES["bluff"])
    for count in (1, 2):  # so that both are cached on disk
        CFR(tree, "vanilla", threads=count).step(10)
    result = set()
    for order in (["1", "2"], ["2", "1"]):
        command = [sys.executable, "-c", LEARN, *order]
        result |= set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert len(result) == 1


@pytest.mark.parametrize("name", GAMES)
def test_values_and_best_responses(name: str) -> None:
    """Values, best-response values, and the table of the best response."""
    tree = compile_game(GAMES[name])
    sums = np.random.default_rng(0).random(tree.table_size)
    strategy = Strategy.from_sums(tree, sums)
    assert best_response.quality(strategy, threads=1) == best_response.quality(strategy, threads=2)
    assert best_response.quality_of_averages(tree, sums, threads=1) == best_response.quality_of_averages(
        tree, sums, threads=3
    )
    one, two = TreeEngine(tree, np.float64, 1), TreeEngine(tree, np.float64, 2)
    for me in (0, 1):
        tables = best_response._strategy_tables(tree, me, sums)
        for mode in (traversal.EVALUATE, traversal.RESPOND):
            assert one.traverse(me, tables, mode).tobytes() == two.traverse(me, tables, mode).tobytes()
        chosen = []
        for engine in (one, two):
            best = np.full(tables.average.shape, np.nan)
            engine.traverse(me, tables._replace(delta=best), traversal.RESPOND)
            chosen.append(best)
        assert chosen[0].tobytes() == chosen[1].tobytes()
        assert not np.isnan(chosen[0]).any()


@pytest.mark.slow
def test_single_precision() -> None:
    tree = compile_game(GAMES["leduc"])
    one, two = (CFR(tree, "dcfr", threads=n, dtype="float32") for n in (1, 2))
    one.step(10)
    two.step(10)
    assert_bitwise(one, two)
    assert one.quality() == two.quality()


def test_the_tree_is_cut_once() -> None:
    """Cuts are disjoint, ascending, not leaves, and leave a small trunk."""
    tree = compile_game(GAMES["bluff"])
    engine = TreeEngine(tree, np.float64, 2)
    cuts, end = engine.cuts, tree.nodes.end
    assert len(cuts) >= tree_engine.TASKS_PER_TREE
    assert (np.diff(cuts) > 0).all()
    assert (end[cuts[:-1]] <= cuts[1:]).all()
    assert (end[cuts] - cuts > 1).all()
    assert (end[cuts] - cuts).max() <= len(end) // tree_engine.TASKS_PER_TREE


def test_traversals_are_reproducible() -> None:
    tree = compile_game(GAMES["leduc, many cards"])
    runs = [CFR(tree, "dcfr", threads=2) for _ in range(2)]
    for run in runs:
        run.step(20)
    assert_bitwise(*runs)


def test_cases_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """History trees share information sets, sampled traversals have one path, and small trees are too fast for threads."""
    tree = compile_game(GAMES["leduc"])
    unrolled: Any = to_history_tree(tree)
    assert TreeEngine(unrolled, np.float64, 2).threads == 1
    one, two = (CFR(unrolled, "dcfr", threads=n) for n in (1, 2))
    one.step(5)
    two.step(5)
    assert_bitwise(one, two)
    one, two = (CFR(tree, "linear", "external", threads=n) for n in (1, 2))
    one.step(500)
    two.step(500)
    assert_bitwise(one, two)
    monkeypatch.setattr(tree_engine, "MIN_PARALLEL_NODES", 20_000)
    assert TreeEngine(tree, np.float64, 2).threads == 1
    with pytest.raises(InputError, match="threads=0"):
        TreeEngine(tree, np.float64, 0)


def test_errors_in_a_thread_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = CFR(compile_game(GAMES["leduc"]), threads=2)
    traverse = TreeEngine._traverse_from

    def fails(engine: TreeEngine, me: int, root: int, *rest: Any) -> None:
        if root:  # of a task, which a thread runs; the trunk begins at the root of the tree
            raise MemoryError(f"task {root}")
        traverse(engine, me, root, *rest)

    monkeypatch.setattr(TreeEngine, "_traverse_from", fails)
    with pytest.raises(MemoryError, match="task"):
        solver.step(1)
