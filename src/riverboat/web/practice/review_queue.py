"""Reviews of hands, computed one at a time behind play: asked for by a POST, looked at by GETs.

reviews.request("sitting/demo-1", 3, work)     # queued, unless it is known or on its way
reviews.look("sitting/demo-1", 3)              # {"state": "running", "review": None, …}
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from riverboat.core.cancellation import CancelledError
from riverboat.core.errors import RiverboatError
from riverboat.web.work_queue import Task, WorkQueue

MOST_KEPT = 5_000  # reviews that are computed
NONE, WAITING, RUNNING, DONE, FAILED = "none", "waiting", "running", "done", "failed"
Key = tuple[str, Hashable]  # whose review it is, and of which hand


@dataclass(eq=False)
class _Entry:
    task: Task | None = None
    state: str = WAITING
    review: dict[str, Any] | None = None
    error: str | None = None


class Reviews:
    """All reviews of a server, by owner: a session or a file of hands."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._lock = threading.RLock()
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()

    def request(self, owner: str, hand: Hashable, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Queue a review where it is not known or on its way; one that failed is tried again."""
        with self._lock:
            entry = self._entries.get((owner, hand))
            if entry is None or entry.state == FAILED:
                entry = _Entry()
                entry.task = self.queue.submit(lambda: self._compute((owner, hand), entry, work))
                self._entries[owner, hand] = entry
                self._bound()
            return self.look(owner, hand)

    def look(self, owner: str, hand: Hashable) -> dict[str, Any]:
        """Return where a review stands, and the review once it is done; asking starts nothing."""
        with self._lock:
            entry = self._entries.get((owner, hand), _Entry(state=NONE))
            waiting = [one for one in self._entries.values() if one.state in (WAITING, RUNNING)]
            ahead = waiting.index(entry) if entry.state == WAITING else 0
            return {"state": entry.state, "ahead": ahead, "review": entry.review, "error": entry.error}

    def cancel(self, owner: str) -> None:
        """Give up the reviews of an owner that are not done: nobody waits for them."""
        self._drop(owner, (WAITING, RUNNING))

    def forget(self, owner: str) -> None:
        """The same, and forget those that are done: the owner is gone, and its name may come again."""
        self._drop(owner, (WAITING, RUNNING, DONE, FAILED))

    def _drop(self, owner: str, states: tuple[str, ...]) -> None:
        with self._lock:
            for key in [key for key, entry in self._entries.items() if key[0] == owner and entry.state in states]:
                entry = self._entries.pop(key)
                if entry.task is not None:
                    entry.task.cancel()

    def _compute(self, key: Key, entry: _Entry, work: Callable[[], dict[str, Any]]) -> None:
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
            error = f"{type(failed).__name__}: {failed} (a fault of Riverboat)"[:500]
        with self._lock:
            entry.review, entry.error, entry.task = review, error, None
            entry.state = DONE if error is None else FAILED

    def _bound(self) -> None:
        """Let the oldest that are done go where there are too many."""
        done = [key for key, entry in self._entries.items() if entry.state in (DONE, FAILED)]
        for key in done[: max(0, len(done) - MOST_KEPT)]:
            del self._entries[key]
