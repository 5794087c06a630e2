"""State shared by all routes: the data folder, jobs, open solutions, and the work queues.

There are four queues with their own threads: playing, which has priority; reading, with a limit of a minute; costly
computations that a user requested; and reviews in the background. Costly work and reviews pause between two steps while
a move is computed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from riverboat.core import resources
from riverboat.core.cancellation import check_cancellation
from riverboat.core.resources import available_memory
from riverboat.web.data_folder import DataFolder
from riverboat.web.jobs.queue import JobQueue
from riverboat.web.practice import PracticeService
from riverboat.web.solutions import SolutionStore
from riverboat.web.specs import is_cheap
from riverboat.web.work_queue import BusyError, PriorityGate, ReviewQueue, WorkQueue

READ_THREADS = 4  # threads for reads that need computation
MAX_WAITING_READS = 100  # queued reads; further ones are rejected
MAX_WAITING_COSTLY = 16  # queued costly computations
MAX_WAITING_REVIEWS = 500  # queued reviews
READ_SECONDS = 60.0  # time limit of a read, including its time in the queue
COSTLY_SECONDS = 1200.0  # time limit of a costly computation
BACKGROUND_NICENESS = 10  # lower priority of reviews and costly work
LOOKAHEAD_DELAY = 0.05  # seconds to wait for further requests for a node before the next nodes are computed
SHUTDOWN_SECONDS = 2.0  # seconds for computations to stop at shutdown
JOB_MEMORY_SHARE = 0.7  # share of the memory free at start-up that jobs may use
T = TypeVar("T")


class Server:
    """The state of a server process."""

    def __init__(self, data: str | Path, *, jobs: int = 1, memory: int | None = None) -> None:
        self.data = DataFolder(data)
        self.cores = resources.available_cores()
        if memory is None:
            memory = int(JOB_MEMORY_SHARE * (available_memory() or 4 << 30))
        self.jobs = JobQueue(self.data, max_running=jobs, memory=memory)
        self.solutions = SolutionStore(self.data)
        self.practice = PracticeService(self.data)
        self.closing = threading.Event()
        gate = PriorityGate()
        nice = BACKGROUND_NICENESS
        self.play_queue = WorkQueue("playing", max_waiting=MAX_WAITING_READS, gate=gate, urgent=True)
        self.read_queue = WorkQueue("reading", threads=READ_THREADS, max_waiting=MAX_WAITING_READS)
        self.costly_queue = WorkQueue("costly", max_waiting=MAX_WAITING_COSTLY, gate=gate, nice=nice)
        self.review_work_queue = WorkQueue("reviewing", max_waiting=MAX_WAITING_REVIEWS, gate=gate, nice=nice)
        self._lookahead_queue = WorkQueue("ahead", max_waiting=1, nice=nice)
        self._queues = (
            self.play_queue, self.read_queue, self.costly_queue, self.review_work_queue, self._lookahead_queue,
        )  # fmt: skip
        self.reviews = ReviewQueue(self.review_work_queue)
        self.last_node: tuple[str, str] | None = None  # run and line of the last node that was read

    async def compute(self, work: Callable[[], T]) -> T:
        """Run a read on a thread within a minute, so that other requests are answered meanwhile."""
        return await self.read_queue.run(work, seconds=READ_SECONDS)

    async def compute_costly(self, work: Callable[[], T]) -> T:
        """Compute something that may take minutes, one at a time; only for POST requests."""
        return await self.costly_queue.run(work, seconds=COSTLY_SECONDS)

    async def compute_from(self, source: str | None, work: Callable[[], T]) -> T:
        """Run work that uses an agent or a run: as costly work if it searches or must be solved, else as a read.

        Only for POST requests.
        """
        return await (self.compute if source is None or is_cheap(source, self.data) else self.compute_costly)(work)

    async def write(self, work: Callable[[], T]) -> T:
        """Write to the data folder; not started if the client has disconnected, and never interrupted."""
        return await self.read_queue.run(work, uninterruptible=True)

    async def play(self, work: Callable[[], T]) -> T:
        """Run a step of a practice session: at the highest priority, one at a time, and never interrupted."""
        return await self.play_queue.run(work, uninterruptible=True)

    def precompute_next_nodes(self, run: str, line: str) -> None:
        """Cache the likely next nodes after the node that was just read, while the server is idle."""
        self.last_node = (run, line)
        with suppress(BusyError):  # one is queued already, and will use the last node
            self._lookahead_queue.submit(self._precompute)

    def _precompute(self) -> None:
        time.sleep(LOOKAHEAD_DELAY)
        last = self.last_node
        for work in self.solutions.next_nodes(*last) if last is not None else ():
            while self.read_queue.num_pending or self.play_queue.num_pending:  # requests have priority
                check_cancellation()
                time.sleep(LOOKAHEAD_DELAY / 10)
            if self.last_node != last:
                return
            work()

    def stop(self) -> None:
        """Accept no more work, and cancel queued and running work."""
        self.closing.set()
        self.last_node = None
        for queue in self._queues:
            queue.close()

    def close(self) -> bool:
        """Stop, and let jobs write a checkpoint; return whether all computations have stopped in time."""
        self.stop()
        self.jobs.close()
        end = time.monotonic() + SHUTDOWN_SECONDS
        return all(queue.is_idle(max(0.0, end - time.monotonic())) for queue in self._queues)
