"""Work on threads while requests wait: bounded queues, cancellation with the request, and a gate for priority.

    queue = WorkQueue("reading", threads=4, max_waiting=100)
    result = await queue.run(work, seconds=60)

A request whose client has disconnected leaves the queue without being computed. Running work stops when it next polls for
cancellation. The threads are daemons: they never keep the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time as clock
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import Any, TypeVar

from riverboat.core.cancellation import CancelledError, cancellation_check
from riverboat.core.errors import RiverboatError

GATE_POLL_SECONDS = 0.05  # seconds between two checks of work that waits at the gate
T = TypeVar("T")


class BusyError(RiverboatError):
    """The server is busy, or a computation took too long; `retry` is the number of seconds until the next attempt."""

    def __init__(self, message: str, retry: int = 2) -> None:
        super().__init__(message)
        self.retry = retry


class PriorityGate:
    """A gate that blocks other work while urgent work runs."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._urgent = 0

    @contextlib.contextmanager
    def urgent(self) -> Iterator[None]:
        """Block other work at the gate."""
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

    def __init__(
        self, work: Callable[[], Any], gate: PriorityGate | None = None, *, uninterruptible: bool = False
    ) -> None:
        self.work, self.gate, self.uninterruptible = work, gate, uninterruptible
        self.future: Future[Any] = Future()
        self.cancelled = threading.Event()

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
    """A queue of tasks with its own threads, first in, first out."""

    def __init__(
        self,
        name: str,
        *,
        threads: int,
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
                self.num_started += 1
            try:
                with self.gate.urgent() if self.gate is not None and self.urgent else contextlib.nullcontext():
                    task.run()
            finally:
                with self._ready:
                    self._running.discard(task)
                    self._ready.notify_all()
                del task


def _lower_priority(steps: int) -> None:
    """Lower the priority of this thread, if the system supports priorities of threads."""
    if steps and sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), steps)


# --- Reviews of hands: requested by POST, read by GET, computed one at a time ---

MAX_REVIEWS_STORED = 5_000  # finished reviews that are kept
NONE, WAITING, RUNNING, DONE, FAILED = "none", "waiting", "running", "done", "failed"
ReviewKey = tuple[str, Hashable]  # owner, and key of the hand


@dataclass(eq=False)
class _ReviewEntry:
    task: QueuedTask | None = None
    state: str = WAITING
    review: dict[str, Any] | None = None
    error: str | None = None


class ReviewQueue:
    """All reviews of a server, by owner: a session or a hand history."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._lock = threading.RLock()
        self._entries: OrderedDict[ReviewKey, _ReviewEntry] = OrderedDict()

    def request(self, owner: str, hand: Hashable, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Queue a review unless it is known or pending; a failed one is tried again."""
        with self._lock:
            entry = self._entries.get((owner, hand))
            if entry is None or entry.state == FAILED:
                entry = _ReviewEntry()
                entry.task = self.queue.submit(lambda: self._compute((owner, hand), entry, work))
                self._entries[owner, hand] = entry
                self._evict_oldest()
            return self.status(owner, hand)

    def status(self, owner: str, hand: Hashable) -> dict[str, Any]:
        """Return the state of a review, and the review when it is done; starts nothing."""
        with self._lock:
            entry = self._entries.get((owner, hand), _ReviewEntry(state=NONE))
            waiting = [other for other in self._entries.values() if other.state in (WAITING, RUNNING)]
            ahead = waiting.index(entry) if entry.state == WAITING else 0
            return {"state": entry.state, "ahead": ahead, "review": entry.review, "error": entry.error}

    def cancel(self, owner: str) -> None:
        """Cancel pending reviews of an owner."""
        self._drop(owner, (WAITING, RUNNING))

    def forget(self, owner: str) -> None:
        """Cancel pending reviews of an owner and delete finished ones: its name may be used again."""
        self._drop(owner, (WAITING, RUNNING, DONE, FAILED))

    def _drop(self, owner: str, states: tuple[str, ...]) -> None:
        with self._lock:
            for key in [key for key, entry in self._entries.items() if key[0] == owner and entry.state in states]:
                entry = self._entries.pop(key)
                if entry.task is not None:
                    entry.task.cancel()

    def _compute(self, key: ReviewKey, entry: _ReviewEntry, work: Callable[[], dict[str, Any]]) -> None:
        entry.state = RUNNING
        review, error = None, None
        try:
            review = work()
        except CancelledError:
            with self._lock:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            return
        except RiverboatError as failed:
            error = str(failed)
        except Exception as failed:
            error = f"{type(failed).__name__}: {failed} (a bug in Riverboat)"[:500]
        with self._lock:
            entry.review, entry.error, entry.task = review, error, None
            entry.state = DONE if error is None else FAILED

    def _evict_oldest(self) -> None:
        """Delete the oldest finished reviews beyond the limit."""
        done = [key for key, entry in self._entries.items() if entry.state in (DONE, FAILED)]
        for key in done[: max(0, len(done) - MAX_REVIEWS_STORED)]:
            del self._entries[key]
