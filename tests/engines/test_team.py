"""Teams of threads: all run the task, and a failure of one ends the work of all."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riverboat.core import resources
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.threads import ThreadTeam
from riverboat.games.registry import game_from_spec
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.trees.boards import BoardTree

TURN = Path(__file__).parents[2] / "examples" / "spots" / "turn.toml"


def test_each_thread_runs_the_task_once() -> None:
    team, numbers = ThreadTeam(4), []
    for _ in range(20):
        team.run(numbers.append)
    assert sorted(numbers) == sorted([0, 1, 2, 3] * 20)


@pytest.mark.parametrize("failing", [0, 2])
def test_a_failure_abandons_the_others(failing: int) -> None:
    ended = threading.Event()

    def task(thread: int) -> None:
        if thread == failing:
            raise MemoryError(f"thread {thread}")
        assert ended.wait(30), "never told to end"

    with pytest.raises(MemoryError, match=f"thread {failing}"):
        ThreadTeam(3).run(task, ended.set)


def test_threads_that_cannot_start_end_a_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of two extra threads starts and waits for the others; the second does not start."""
    monkeypatch.setattr(resources, "available_cores", lambda: 3)
    solver = BoardCFR(BoardTree(game_from_spec(str(TURN))), threads=3)
    start, started = threading.Thread.start, []

    def limited(thread: threading.Thread) -> Any:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        return start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    with pytest.raises(RuntimeError, match="new thread"):
        solver.step(2)


def test_an_engine_with_threads_is_freed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tables may take gigabytes, so no cycle of references may keep them; threads in its kernel leave soon."""
    monkeypatch.setattr(resources, "available_cores", lambda: 2)
    solver = BoardCFR(BoardTree(game_from_spec(str(TURN))), threads=2)
    solver.step(1)
    engine, deadline = weakref.ref(solver.engine), time.monotonic() + 30
    gc.disable()
    try:
        del solver
        while engine() is not None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert engine() is None
    finally:
        gc.enable()


def test_callers_on_several_threads_read_their_own_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel waits, so that callers who shared its arguments would read each other's values."""
    solver = BoardCFR(BoardTree(game_from_spec(str(TURN))))
    solver.step(5)
    solution = solver.average()
    starts = None, solution["x-x/2c"].traversal_start(3)
    calls = [(player, start) for start in starts for player in (0, 1)]
    expected = [solution.engine.strategy_values(*call) for call in calls]
    run_kernel = CpuBoardEngine._run_kernel

    def wait(*arguments: Any, **options: Any) -> None:
        time.sleep(0.02)
        run_kernel(*arguments, **options)

    monkeypatch.setattr(CpuBoardEngine, "_run_kernel", wait)
    with ThreadPoolExecutor(len(calls)) as pool:
        found = pool.map(lambda call: solution.engine.strategy_values(*call), calls)
    for values, alone in zip(found, expected, strict=True):
        np.testing.assert_array_equal(values, alone)
