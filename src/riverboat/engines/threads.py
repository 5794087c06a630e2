"""Threads that run the same task in parallel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.compiled.atomics import abandon_team, call_team, is_abandoned, team_state_size
from riverboat.core.arrays import Array
from riverboat.core.errors import check_threads


class ThreadTeam:
    """Team of threads that run tasks in parallel: the calling thread, and a pool that is kept between tasks."""

    def __init__(self, threads: int) -> None:
        check_threads(threads)
        self.threads = threads

    def run(self, task: Callable[[int], Any], abandon: Callable[[], None] | None = None) -> None:
        """Run a task once on each thread, with the thread's index.

        `abandon` is called when the task fails on one thread, so that others need not wait for it.
        """

        def work(thread: int) -> None:
            try:
                task(thread)
            except BaseException:
                if abandon is not None:
                    abandon()
                raise

        others: list[Future[None]] = []
        try:
            for thread in range(1, self.threads):
                others.append(self.pool.submit(work, thread))
            work(0)
        except BaseException:
            if abandon is not None:
                abandon()
            raise
        finally:
            wait(others)
        for other in others:
            other.result()

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        """The pool, whose threads start on first use."""
        return ThreadPoolExecutor(self.threads, thread_name_prefix="riverboat")


class KernelTeam:
    """Team of threads that run calls of a kernel together, and stay in it between calls that follow quickly.

    The calling thread has number 0. The kernel waits for calls with `wait_for_call` on the others, and ends each call at a
    barrier. `state` is the memory of both.
    """

    def __init__(self, threads: int, state: Array) -> None:
        check_threads(threads)
        self.threads, self.state = threads, state
        self._calls, self._away = 0, np.zeros(threads, bool)
        self._futures: dict[int, Future[None]] = {}
        assert len(state) >= team_state_size(threads)

    def run(self, enter: Callable[[int], Any]) -> None:
        """Make a call: `enter` enters the same kernel on this thread (0) and on those that have left it, by number.

        After an error the team cannot be used again.
        """
        self._calls += 1
        try:
            call_team(self.state, self.threads, self._calls, self._away)
            for thread in np.flatnonzero(self._away).tolist():
                self._futures[thread] = self._pool.submit(self._follow, enter, thread)
            enter(0)
        except BaseException:
            abandon_team(self.state)
            wait(self._futures.values())
            raise
        if is_abandoned(self.state):
            for future in self._futures.values():
                future.result()

    def _follow(self, enter: Callable[[int], Any], thread: int) -> None:
        try:
            enter(thread)
        except BaseException:
            abandon_team(self.state)
            raise

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads - 1, thread_name_prefix="riverboat")
