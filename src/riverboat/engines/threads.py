"""Threads that run the same task in parallel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cached_property
from typing import Any

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
