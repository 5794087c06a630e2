"""What all routes share: the data folder, jobs, opened solutions, and the queues of what takes time.

Four queues, each with threads of its own: playing, which goes first; reading, which is answered within a minute; costly
computations that a person has asked for; and reviews, which run behind everything. Costly work and reviews pause between two
steps while a move is computed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from riverboat.core import cores
from riverboat.core.cancellation import poll
from riverboat.core.resources import available_memory
from riverboat.web.data_folder import DataFolder
from riverboat.web.jobs.queue import Jobs
from riverboat.web.practice.review_queue import Reviews
from riverboat.web.practice.sessions import Desk
from riverboat.web.request_costs import is_cheap
from riverboat.web.runs.solutions import Shelf
from riverboat.web.work_queue import BusyError, Gate, WorkQueue

THREADS = 4  # for reads that are computed
MOST_WAITING = 100  # such reads that wait; more are refused
MOST_COSTLY = 16  # costly computations that wait
MOST_REVIEWS = 500  # reviews that wait
READ_SECONDS = 60.0  # that a computed read may take, with its time in the queue
COSTLY_SECONDS = 1200.0  # the same of what somebody has asked to be computed
BEHIND = 10  # steps of priority that reviews and costly work leave to everything else
MOMENT = 0.05  # seconds that a page may ask for more of a node before others are computed
GRACE = 2.0  # seconds that computations have to notice that the server ends
SHARE = 0.7  # of the memory that is free at the start, for jobs
T = TypeVar("T")


class Server:
    """One for each process."""

    def __init__(self, data: str | Path, *, jobs: int = 1, memory: int | None = None) -> None:
        self.data = DataFolder(data)
        self.cores = cores.available_cores()
        free = available_memory() or 4 << 30
        self.jobs = Jobs(self.data, most=jobs, memory=int(SHARE * free) if memory is None else memory)
        self.shelf = Shelf(self.data)
        self.desk = Desk(self.data)
        self.closing = threading.Event()
        gate = Gate()
        self.playing = WorkQueue("playing", threads=1, most=MOST_WAITING, gate=gate, urgent=True)
        self.reading = WorkQueue("reading", threads=THREADS, most=MOST_WAITING)
        self.costly = WorkQueue("costly", threads=1, most=MOST_COSTLY, gate=gate, nice=BEHIND)
        self.reviewing = WorkQueue("reviewing", threads=1, most=MOST_REVIEWS, gate=gate, nice=BEHIND)
        self._ahead = WorkQueue("ahead", threads=1, most=1, nice=BEHIND)
        self.reviews = Reviews(self.reviewing)
        self.last: tuple[str, str] | None = None  # the node that was read last

    async def compute(self, work: Callable[[], T]) -> T:
        """Read what takes time on a thread, so that other requests are answered meanwhile."""
        return await self.reading.run(work, seconds=READ_SECONDS)

    async def compute_costly(self, work: Callable[[], T]) -> T:
        """Compute what may take minutes, one at a time; for POSTs alone."""
        return await self.costly.run(work, seconds=COSTLY_SECONDS)

    async def compute_from(self, source: str | None, work: Callable[[], T]) -> T:
        """Compute something with an agent or a run: as costly where that searches or must be solved; for POSTs alone."""
        return await (self.compute if source is None or is_cheap(source, self.data) else self.compute_costly)(work)

    async def write(self, work: Callable[[], T]) -> T:
        """Write to the data folder: not begun once the client has gone, and never stopped half-way."""
        return await self.reading.run(work, finishes=True)

    async def play(self, work: Callable[[], T]) -> T:
        """Deal, move or ask: before everything else, one at a time, and never stopped half-way."""
        return await self.playing.run(work, finishes=True)

    def look_ahead(self, run: str, line: str) -> None:
        """Compute what is likely to be asked next, while nobody waits: only after the node that was read last."""
        self.last = (run, line)
        with suppress(BusyError):  # one waits already, and takes the node that is the last by then
            self._ahead.submit(self._look_ahead)

    def _look_ahead(self) -> None:
        time.sleep(MOMENT)
        last = self.last
        for work in self.shelf.next_nodes(*last) if last is not None else ():
            while self.reading.busy or self.playing.busy:  # who asks goes first
                poll()
                time.sleep(MOMENT / 10)
            if self.last != last:
                return
            work()

    def stop(self) -> None:
        """Take no more work, and cancel what waits and runs."""
        self.closing.set()
        self.last = None
        for queue in self._queues:
            queue.close()

    def close(self) -> bool:
        """Stop, and let jobs save and end; whether all computations have noticed in time."""
        self.stop()
        self.jobs.close()
        end = time.monotonic() + GRACE
        return all(queue.is_idle(max(0.0, end - time.monotonic())) for queue in self._queues)

    @property
    def _queues(self) -> tuple[WorkQueue, ...]:
        return self.playing, self.reading, self.costly, self.reviewing, self._ahead
