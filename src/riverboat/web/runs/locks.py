"""A lock for every solution that is open: walks of one solution share memory, and several parts of the server walk it.

with walking(agent):
    agent.act(views)
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from riverboat.agents.spot_solution import SolutionAgent
from riverboat.core.cancellation import polled
from riverboat.practice.evaluators import SolutionJudge
from riverboat.strategies.solution import Solution

_LOCKS: WeakKeyDictionary[Solution, threading.RLock] = WeakKeyDictionary()
_GUARD = threading.Lock()


def lock_of(solution: Solution) -> threading.RLock:
    """Return the lock that walks of a solution need: one for each, whoever has opened it."""
    with _GUARD:
        return _LOCKS.setdefault(solution, threading.RLock())


@contextmanager
def walking(who: object) -> Iterator[None]:
    """Walk the solution of an agent or a judge alone; others, which share nothing, need no lock.

    Nobody waits inside for something urgent, which may need the lock: polling is off.
    """
    agent = who.agent if isinstance(who, SolutionJudge) else who
    if not isinstance(agent, SolutionAgent):
        yield
        return
    with lock_of(agent.solution), polled(None):
        yield
