"""What all routes share: the data folder, the queue, opened solutions, and threads for what takes time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from riverboat import cores
from riverboat.errors import RiverboatError
from riverboat.interfaces.web.data_folder import DataFolder
from riverboat.interfaces.web.jobs import Jobs
from riverboat.interfaces.web.practice_desk import Desk
from riverboat.interfaces.web.shelf import Shelf
from riverboat.memory import available_memory

THREADS = 4  # for reads that are computed
MOST_WAITING = 100  # such reads that wait; more are refused
MOMENT = 0.05  # seconds that a page may ask for more of a node before others are computed
SHARE = 0.7  # of the memory that is free at the start, for jobs
T = TypeVar("T")


class BusyError(RiverboatError):
    """Too much is being computed already."""


class Server:
    """One for each process."""

    def __init__(self, data: str | Path, *, jobs: int = 1, memory: int | None = None) -> None:
        self.data = DataFolder(data)
        self.cores = cores.available_cores()
        free = available_memory() or 4 << 30
        self.jobs = Jobs(self.data, most=jobs, memory=int(SHARE * free) if memory is None else memory)
        self.shelf = Shelf(self.data)
        self.desk = Desk(self.data)
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="reading")
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="ahead")
        self.last: tuple[str, str] | None = None  # the node that was read last
        self._waiting = 0

    async def compute(self, work: Callable[[], T]) -> T:
        """Do work that takes time on a thread, so that other requests are answered meanwhile."""
        if self._waiting >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING} requests are being computed already; try again in a moment")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._waiting -= 1

    def look_ahead(self, run: str, line: str) -> None:
        """Compute what is likely to be asked next, while nobody waits: only after the node that was read last."""
        self.last = (run, line)
        self._ahead.submit(self._look_ahead, run, line)

    def _look_ahead(self, run: str, line: str) -> None:
        time.sleep(MOMENT)
        for work in self.shelf.next_nodes(run, line):
            while self._waiting:  # who asks goes first
                time.sleep(MOMENT / 10)
            if self.last != (run, line):
                return
            work()

    def close(self) -> None:
        """Let jobs save and end."""
        self.last = None
        for pool in (self._pool, self._ahead):
            pool.shutdown(wait=False, cancel_futures=True)
        self.jobs.close()
