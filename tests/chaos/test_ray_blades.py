"""Ray blades are killed at random times, also within a batch: tables equal those of blades in one process."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.solvers.test_cluster import equal, game

from chaos.harness import Found
from riverboat.solvers.cluster.distributed import DistributedTrainer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(find_spec("ray") is None, reason="needs riverboat[cluster]"),
]
TRIALS, STEPS = 5, 6


def test_killed_blades(tmp_path: Path, judge: Callable[[Found], None]) -> None:
    draws, result = random.Random(3), Found()
    with DistributedTrainer(*game("leduc"), blades=3, seed=1, batch=256, engine="ray") as solver:
        expected = DistributedTrainer(*game("leduc"), blades=3, seed=1, batch=256)
        for trial in range(TRIALS):
            result.trials += 1
            for step in range(STEPS):
                expected.step(3_000)
                killer = threading.Thread(
                    target=kill_one, args=(solver, draws.randrange(3), draws.uniform(0, 0.3), result)
                )
                killer.start()
                solver.step(3_000)
                killer.join()
                if draws.random() < 0.3:
                    solver.save(tmp_path / f"{trial}-{step}")
            if solver.iterations == expected.iterations and equal(solver, expected):
                result.equal += 1
            else:
                result.wrong.append(
                    f"trial {trial}: {solver.iterations} iterations, not {expected.iterations}, or other tables"
                )
    judge(result)


def kill_one(solver: DistributedTrainer, number: int, delay: float, found: Found) -> None:
    """Kill the process of a blade after a delay."""
    time.sleep(delay)
    with suppress(Exception):  # it is being restarted
        os.kill(solver.backend.processes()[number], signal.SIGKILL)  # type: ignore[attr-defined]
        found.killed["SIGKILL"] += 1
