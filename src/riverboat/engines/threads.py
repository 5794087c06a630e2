"""Threads that run the same task in parallel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from riverboat.core.errors import check_threads


class ThreadTeam:
    """Threads that are kept from one task to the next: the calling one, and those of a pool."""

    def __init__(self, threads: int) -> None:
        check_threads(threads)
        self.threads = threads

    def run(self, task: Callable[[int], Any]) -> None:
        """Run a task once on each thread, with the thread's index."""
        others = [self.pool.submit(task, thread) for thread in range(1, self.threads)]
        task(0)
        for other in others:
            other.result()

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        """The pool, whose threads start on first use."""
        return ThreadPoolExecutor(self.threads, thread_name_prefix="riverboat")
