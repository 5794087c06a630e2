"""Many threads do what one does, to the last bit."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from random_games import random_public_game
from riverboat.core.errors import InputError
from riverboat.games.base import Game
from riverboat.games.registry import make
from riverboat.solvers.schedules import SCHEDULES
from riverboat.solvers.tabular import best_response, threads
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.threads import Walker
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game, histories

pytestmark = pytest.mark.smoke

GAMES: dict[str, Game] = {
    "leduc": make("leduc"),
    "leduc, many cards": make("leduc:ranks=5,suits=3"),
    "kuhn, many cards": make("kuhn:cards=45"),
    "kuhn, no limit": make("kuhn:cards=5,stack=5"),
    "bluff": make("bluff:1,1"),
    "random": random_public_game(20, depth=5),
}


@pytest.fixture(autouse=True)
def _small_trees_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SMALL", 0)
    monkeypatch.setattr("riverboat.core.cores.available_cores", lambda: 3)  # on a machine with one core as well


def assert_bitwise(one: CFR, many: CFR) -> None:
    for table in ("regret", "average_sums", "prediction"):
        assert getattr(one, table).tobytes() == getattr(many, table).tobytes(), table


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("schedule", [*SCHEDULES, "pcfr+:alternating=0", "vanilla:alternating=1"])
def test_learning(name: str, schedule: str) -> None:
    tree = compile_game(GAMES[name])
    one, two, three = (CFR(tree, schedule, threads=n) for n in (1, 2, 3))
    assert [solver._walker.threads for solver in (one, two, three)] == [1, 2, 3]
    for solver in (one, two, three):
        for count in (1, 4, 5):
            solver.step(count)
    assert_bitwise(one, two)
    assert_bitwise(one, three)
    assert one.current().probabilities.tobytes() == two.current().probabilities.tobytes()


LEARN = """
import hashlib, os, sys
os.cpu_count = lambda: 2
from riverboat.games.registry import make
from riverboat.solving import threads
from riverboat.solving.cfr import CFR
from riverboat.trees.compile import compile_game
threads.SMALL = 0
tree = compile_game(make("bluff:1,1"))
for count in map(int, sys.argv[1:]):
    solver = CFR(tree, "vanilla", threads=count)
    solver.step(10)
    print(hashlib.sha256(solver.regret.tobytes()).hexdigest())
"""


def test_learning_does_not_depend_on_which_loops_were_loaded_first() -> None:
    """One thread calls a loop around `walk`, two call `walk` itself: as they are on disk, in either order."""
    tree = compile_game(GAMES["bluff"])
    for count in (1, 2):  # so that both are on disk
        CFR(tree, "vanilla", threads=count).step(10)
    found = set()
    for order in (["1", "2"], ["2", "1"]):
        command = [sys.executable, "-c", LEARN, *order]
        found |= set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert len(found) == 1


@pytest.mark.parametrize("name", GAMES)
def test_reading(name: str) -> None:
    """Values and best responses, and the table of the best response."""
    tree = compile_game(GAMES[name])
    sums = np.random.default_rng(0).random(tree.table)
    strategy = Strategy.from_sums(tree, sums)
    assert best_response.quality(strategy, threads=1) == best_response.quality(strategy, threads=2)
    assert best_response.quality_of_sums(tree, sums, threads=1) == best_response.quality_of_sums(tree, sums, threads=3)
    one, two = Walker(tree, np.float64, 1), Walker(tree, np.float64, 2)
    for me in (0, 1):
        tables = best_response._strategy_tables(tree, me, sums)
        for mode in (traversal.EVALUATE, traversal.RESPOND):
            assert one.walk(me, tables, mode).tobytes() == two.walk(me, tables, mode).tobytes()
        chosen = []
        for walker in (one, two):
            best = np.full(tables.average.shape, np.nan)
            walker.walk(me, tables._replace(delta=best), traversal.RESPOND)
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
    """Cuts are apart, ascending, no leaves, and leave a small trunk."""
    tree = compile_game(GAMES["bluff"])
    walker = Walker(tree, np.float64, 2)
    cuts, end = walker.cuts, tree.nodes.end
    assert len(cuts) >= threads.TASKS
    assert (np.diff(cuts) > 0).all()
    assert (end[cuts[:-1]] <= cuts[1:]).all()
    assert (end[cuts] - cuts > 1).all()
    assert (end[cuts] - cuts).max() <= len(end) // threads.TASKS


def test_walks_repeat() -> None:
    tree = compile_game(GAMES["leduc, many cards"])
    runs = [CFR(tree, "dcfr", threads=2) for _ in range(2)]
    for run in runs:
        run.step(20)
    assert_bitwise(*runs)


def test_where_threads_do_not_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """Histories share blocks, sampled walks have one path, and small trees are done before a thread has begun."""
    tree = compile_game(GAMES["leduc"])
    unrolled: Any = histories(tree)
    assert Walker(unrolled, np.float64, 2).threads == 1
    one, two = (CFR(unrolled, "dcfr", threads=n) for n in (1, 2))
    one.step(5)
    two.step(5)
    assert_bitwise(one, two)
    one, two = (CFR(tree, "linear", "external", threads=n) for n in (1, 2))
    one.step(500)
    two.step(500)
    assert_bitwise(one, two)
    monkeypatch.setattr(threads, "SMALL", 20_000)
    assert Walker(tree, np.float64, 2).threads == 1
    with pytest.raises(InputError, match="threads=0"):
        Walker(tree, np.float64, 0)


def test_errors_in_a_thread_are_raised() -> None:
    walker = Walker(compile_game(GAMES["leduc"]), np.float64, 2)

    def fails(task: int, room: Any) -> None:
        raise MemoryError(f"task {task}")

    with pytest.raises(MemoryError, match="task"):
        walker._spread(0, fails, walker.cuts)
