"""Work on threads while requests wait: bounded queues, cancellation with the request, and a gate for priority.

    queue = WorkQueue("reading", threads=4, max_waiting=100)
    result = await queue.run(work, seconds=60)

A request whose client has disconnected leaves the queue without being computed. Running work stops when it next polls
for cancellation. The threads are daemons: they never keep the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time as clock
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, InvalidStateError
from typing import Any, TypeVar

from riverboat.core.cancellation import CancelledError, cancellation_check
from riverboat.core.errors import RiverboatError

GATE_POLL_SECONDS = 0.05  # seconds between two checks of work that waits at the gate
T = TypeVar("T")


class BusyError(RiverboatError):
    """The server is busy, or a computation took too long; `retry`: seconds to wait before the next attempt."""

    def __init__(self, message: str, retry: int = 2) -> None:
        super().__init__(message)
        self.retry = retry


class PriorityGate:
    """A gate at which other work pauses while urgent work runs."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._urgent = 0

    @contextlib.contextmanager
    def urgent(self) -> Iterator[None]:
        """Make other work pause at the gate within this context."""
        with self._changed:
            self._urgent += 1
        try:
            yield
        finally:
            with self._changed:
                self._urgent -= 1
                self._changed.notify_all()

    def wait(self, stopped: Callable[[], bool]) -> None:
        """Wait until no urgent work runs, or until `stopped` returns True."""
        with self._changed:
            while self._urgent and not stopped():
                self._changed.wait(GATE_POLL_SECONDS)


class QueuedTask:
    """A task in a queue: its result is a `Future`, and `cancel` stops it at any stage."""

    def __init__(self, work: Callable[[], Any], gate: PriorityGate | None, *, uninterruptible: bool) -> None:
        self.work, self.gate, self.uninterruptible = work, gate, uninterruptible
        self.future: Future[Any] = Future()
        self.cancelled = threading.Event()
        self.started = False

    def cancel(self) -> None:
        """Remove the task from the queue, or stop it at its next poll; no one waits for it any more."""
        self.cancelled.set()
        self.future.cancel()

    def fail(self, error: RiverboatError) -> None:
        """Cancel the task and give waiting callers an error immediately, even if the work does not poll."""
        self.cancelled.set()
        with contextlib.suppress(InvalidStateError):
            self.future.set_exception(error)

    def check(self) -> None:
        """Raise `CancelledError` if the task was cancelled; wait while urgent work runs."""
        if self.gate is not None:
            self.gate.wait(self.cancelled.is_set)
        if self.cancelled.is_set():
            raise CancelledError("this computation was cancelled")

    def run(self) -> None:
        """Run the work unless it was cancelled; uninterruptible work, which writes files, is not stopped."""
        self.started = True
        try:
            with cancellation_check(None if self.uninterruptible else self.check):
                if not self.uninterruptible:
                    self.check()
                result = self.work()
        except BaseException as error:
            with contextlib.suppress(InvalidStateError):  # cancelled in the meantime
                self.future.set_exception(error)
        else:
            with contextlib.suppress(InvalidStateError):
                self.future.set_result(result)


class WorkQueue:
    """A queue of tasks with its own threads, first in, first out.

    With a `gate`, tasks of an `urgent` queue make those of other queues pause. `nice`: niceness of the threads.
    """

    def __init__(
        self,
        name: str,
        *,
        threads: int = 1,
        max_waiting: int,
        gate: PriorityGate | None = None,
        urgent: bool = False,
        nice: int = 0,
    ) -> None:
        self.name, self.threads, self.max_waiting, self.nice = name, threads, max_waiting, nice
        self.gate, self.urgent = gate, urgent
        self.num_started = 0  # number of tasks started so far
        self._ready = threading.Condition()
        self._waiting: dict[QueuedTask, None] = {}
        self._running: set[QueuedTask] = set()
        self._started = 0
        self._closed = False

    @property
    def num_pending(self) -> int:
        """Number of queued and running tasks."""
        return len(self._waiting) + len(self._running)

    def submit(self, work: Callable[[], Any], *, uninterruptible: bool = False) -> QueuedTask:
        """Append work to the queue; `uninterruptible` work is not stopped once it runs."""
        task = QueuedTask(work, None if self.urgent else self.gate, uninterruptible=uninterruptible)
        with self._ready:
            if self._closed:
                raise BusyError("the server is stopping")
            if len(self._waiting) >= self.max_waiting:
                raise BusyError(f"{self.max_waiting} requests are waiting already; try again in a moment")
            self._waiting[task] = None
            if self._started < self.threads and self._started < self.num_pending:
                self._started += 1
                threading.Thread(target=self._run_tasks, name=f"{self.name}-{self._started}", daemon=True).start()
            self._ready.notify()
        task.future.add_done_callback(lambda _: self._discard(task))
        return task

    async def run(self, work: Callable[[], T], *, seconds: float | None = None, uninterruptible: bool = False) -> T:
        """Run work on a thread and await it. Cancelling the caller cancels the work; after `seconds` it times out."""
        task = self.submit(work, uninterruptible=uninterruptible)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(task.future), seconds)
        except TimeoutError:
            raise BusyError(f"not computed within {seconds:g} s; request less, or try again later", 30) from None
        finally:
            task.cancel()

    def close(self) -> None:
        """Cancel everything and accept no new work."""
        with self._ready:
            self._closed = True
            tasks = [*self._waiting, *self._running]
            self._ready.notify_all()
        for task in tasks:
            task.fail(BusyError("the server is stopping"))

    def is_idle(self, seconds: float) -> bool:
        """Wait up to `seconds` for running work; return whether none is left."""
        end = clock.monotonic() + seconds
        with self._ready:
            while self._running and (left := end - clock.monotonic()) > 0:
                self._ready.wait(left)
            return not self._running

    def _discard(self, task: QueuedTask) -> None:
        with self._ready:
            self._waiting.pop(task, None)

    def _run_tasks(self) -> None:
        if self.nice and sys.platform == "linux":  # elsewhere threads have no priorities of their own
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), self.nice)
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
                self.num_started += 1
            try:
                with self.gate.urgent() if self.gate is not None and self.urgent else contextlib.nullcontext():
                    task.run()
            finally:
                with self._ready:
                    self._running.discard(task)
                    self._ready.notify_all()
                del task


# --- Reviews of hands: requested by POST, read by GET, computed one at a time ---

MAX_REVIEWS_STORED = 5_000  # finished reviews that are kept
ReviewKey = tuple[str, Hashable]  # owner, and key of the hand


class ReviewQueue:
    """All reviews of a server by owner, a session or a hand history, and key of the hand."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._lock = threading.RLock()
        self._tasks: dict[ReviewKey, QueuedTask] = {}

    def request(self, owner: str, hand: Hashable, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Queue `work`, which makes a review, unless it is done or pending; retry failed ones. Return its status."""
        with self._lock:
            if self.status(owner, hand)["state"] in ("none", "failed"):
                self._tasks[owner, hand] = self.queue.submit(work)
                done = [key for key, task in self._tasks.items() if task.future.done()]
                for key in done[: max(0, len(done) - MAX_REVIEWS_STORED)]:  # the oldest ones
                    del self._tasks[key]
            return self.status(owner, hand)

    def status(self, owner: str, hand: Hashable) -> dict[str, Any]:
        """Return the fields of `ReviewResponse`: state of a review, and the review when it is done; starts nothing."""
        status: dict[str, Any] = {"state": "none", "ahead": 0, "review": None, "error": None}
        with self._lock:
            task = self._tasks.get((owner, hand))
            if task is None:
                return status
            pending = [other for other in self._tasks.values() if not other.future.done()]
            if task in pending:
                waiting = {"state": "waiting", "ahead": pending.index(task)}
                return status | ({"state": "running"} if task.started else waiting)
            error = task.future.exception()
        if error is None:
            return status | {"state": "done", "review": task.future.result()}
        if isinstance(error, CancelledError):
            return status
        bug = f"{type(error).__name__}: {error} (a bug in Riverboat)"[:500]
        return status | {"state": "failed", "error": str(error) if isinstance(error, RiverboatError) else bug}

    def cancel(self, owner: str, *, finished: bool = False) -> None:
        """Cancel pending reviews of an owner; with `finished` also delete the others."""
        with self._lock:
            own = {key: task for key, task in self._tasks.items() if key[0] == owner}
            for key, task in own.items():
                if finished or not task.future.done():
                    task.cancel()
                    del self._tasks[key]

    def forget(self, owner: str) -> None:
        """Cancel pending reviews of an owner and delete finished ones: its name may be used again."""
        self.cancel(owner, finished=True)
