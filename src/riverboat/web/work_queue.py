"""Work on threads while requests wait: a bounded queue, work that is cancelled with its request, and a gate for priority.

    queue = WorkQueue("reading", threads=4, most=100)
    answer = await queue.run(work, seconds=60)

A request whose client has gone leaves the queue without being computed. Work that has begun is stopped at its next
`cancellation.poll`. The threads are daemons: they never keep the process from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time as clock
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from typing import Any, TypeVar

from riverboat.core.cancellation import CancelledError, polled
from riverboat.core.errors import RiverboatError

BEAT = 0.05  # seconds between two looks of work that waits at the gate
T = TypeVar("T")


class BusyError(RiverboatError):
    """Too much is being computed already, or a computation took too long. `retry` is when to ask again, in seconds."""

    def __init__(self, message: str, retry: int = 2) -> None:
        super().__init__(message)
        self.retry = retry


class Gate:
    """Lets urgent work go first: whoever passes waits while some is under way."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._urgent = 0

    @contextlib.contextmanager
    def urgent(self) -> Iterator[None]:
        """Hold everybody else at the gate."""
        with self._changed:
            self._urgent += 1
        try:
            yield
        finally:
            with self._changed:
                self._urgent -= 1
                self._changed.notify_all()

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Wait until nothing urgent is under way, or somebody stops the wait."""
        with self._changed:
            while self._urgent and not stopped():
                self._changed.wait(BEAT)


class Task:
    """Work in the queue: its result is a `Future`, and `cancel` stops it wherever it stands."""

    def __init__(self, work: Callable[[], Any], gate: Gate | None = None, *, finishes: bool = False) -> None:
        self.work, self.gate, self.finishes = work, gate, finishes
        self.future: Future[Any] = Future()
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        """Take it out of the queue, or stop it at its next poll. Nobody waits for it any more."""
        self.cancelled.set()
        self.future.cancel()

    def fail(self, error: RiverboatError) -> None:
        """The same, and let who waits for it have an error at once, even where the work polls nothing."""
        self.cancelled.set()
        with contextlib.suppress(InvalidStateError):
            self.future.set_exception(error)

    def check(self) -> None:
        """Raise `CancelledError` once it was cancelled; wait while something urgent runs."""
        if self.gate is not None:
            self.gate.wait(self.cancelled.is_set)
        if self.cancelled.is_set():
            raise CancelledError("this computation was cancelled")

    def run(self) -> None:
        """Compute, unless it was cancelled before. Work that finishes is not stopped half-way: it writes."""
        try:
            with polled(None if self.finishes else self.check):
                if not self.finishes:
                    self.check()
                result = self.work()
        except BaseException as error:
            with contextlib.suppress(InvalidStateError):  # cancelled meanwhile
                self.future.set_exception(error)
        else:
            with contextlib.suppress(InvalidStateError):
                self.future.set_result(result)


class WorkQueue:
    """Threads that take tasks in their order."""

    def __init__(
        self, name: str, *, threads: int, most: int, gate: Gate | None = None, urgent: bool = False, nice: int = 0
    ) -> None:
        self.name, self.threads, self.most, self.nice = name, threads, most, nice
        self.gate, self.urgent = gate, urgent
        self.begun = 0  # tasks that were computed, or are
        self._ready = threading.Condition()
        self._waiting: dict[Task, None] = {}
        self._running: set[Task] = set()
        self._started = 0
        self._closed = False

    @property
    def busy(self) -> int:
        """Tasks that wait or run."""
        return len(self._waiting) + len(self._running)

    def submit(self, work: Callable[[], Any], *, finishes: bool = False) -> Task:
        """Put work at the end of the queue. `finishes`: once begun it is never stopped half-way."""
        task = Task(work, None if self.urgent else self.gate, finishes=finishes)
        with self._ready:
            if self._closed:
                raise BusyError("the server is stopping")
            if len(self._waiting) >= self.most:
                raise BusyError(f"{self.most} requests wait to be computed already; try again in a moment")
            self._waiting[task] = None
            if self._started < self.threads and self._started < self.busy:
                self._started += 1
                threading.Thread(target=self._work, name=f"{self.name}-{self._started}", daemon=True).start()
            self._ready.notify()
        task.future.add_done_callback(lambda _: self._forget(task))
        return task

    async def run(self, work: Callable[[], T], *, seconds: float | None = None, finishes: bool = False) -> T:
        """Compute on a thread. Cancelling the caller cancels the work; after `seconds` it is given up."""
        task = self.submit(work, finishes=finishes)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(task.future), seconds)
        except TimeoutError:
            raise BusyError(
                f"not computed within {seconds:g} s, and given up; ask for less, or again later", 30
            ) from None
        finally:
            task.cancel()

    def close(self) -> None:
        """Cancel everything; nothing new is taken."""
        with self._ready:
            self._closed = True
            tasks = [*self._waiting, *self._running]
            self._ready.notify_all()
        for task in tasks:
            task.fail(BusyError("the server is stopping"))

    def is_idle(self, seconds: float) -> bool:
        """Wait for what still runs, so long at most; whether nothing does."""
        end = clock.monotonic() + seconds
        with self._ready:
            while self._running and (left := end - clock.monotonic()) > 0:
                self._ready.wait(left)
            return not self._running

    def _forget(self, task: Task) -> None:
        with self._ready:
            self._waiting.pop(task, None)

    def _work(self) -> None:
        _lower_priority(self.nice)
        while True:
            with self._ready:
                while not self._waiting and not self._closed:
                    self._ready.wait()
                if not self._waiting:
                    return
                task = next(iter(self._waiting))
                del self._waiting[task]
                if task.future.done():
                    continue
                self._running.add(task)
                self.begun += 1
            try:
                with self.gate.urgent() if self.gate is not None and self.urgent else contextlib.nullcontext():
                    task.run()
            finally:
                with self._ready:
                    self._running.discard(task)
                    self._ready.notify_all()
                del task


def _lower_priority(steps: int) -> None:
    """Let this thread leave the processor to others, where the system knows priorities of threads."""
    if steps and sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), steps)
