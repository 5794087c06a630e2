"""Solutions that are open, and nodes as they were sent: a node is computed once, and read again from memory."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from riverboat import artefact
from riverboat.errors import InputError, shown
from riverboat.interfaces.web.data_folder import DataFolder
from riverboat.interfaces.web.node_json import solution_node
from riverboat.strategy import files
from riverboat.strategy.solution import Solution

MOST_BYTES = 128 << 20  # of answers that are kept
MOST_OPEN = 4  # solutions


class Answers:
    """Bytes by key, the ones used last; as many as fit."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most, self.size = most, 0
        self._kept: OrderedDict[tuple[Any, ...], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[Any, ...]) -> bytes | None:
        """What is kept, and now the last to be let go."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: tuple[Any, ...], body: bytes) -> bytes:
        """Keep an answer."""
        with self._lock:
            self.size += len(body) - len(self._kept.pop(key, b""))
            self._kept[key] = body
            while self.size > self.most and len(self._kept) > 1:
                self.size -= len(self._kept.popitem(last=False)[1])
        return body


class Shelf:
    """Everything that is read from runs. Methods that may take time are called from threads."""

    def __init__(self, data: DataFolder) -> None:
        self.data, self.answers = data, Answers()
        self._open: OrderedDict[tuple[Any, ...], tuple[Solution, threading.Lock]] = OrderedDict()
        self._lock, self._opening = threading.Lock(), threading.Lock()

    def mark(self, name: str) -> tuple[Any, ...]:
        """What changes when a run does: which artefact is its newest, and when that was written."""
        return self._place(name)[1]

    def _place(self, name: str) -> tuple[Path, tuple[Any, ...]]:
        place = files.newest(self.data.run(name))
        return place, (str(place), *artefact.stamp(place / artefact.MANIFEST))

    def solution(self, name: str) -> tuple[Solution, threading.Lock]:
        """A solution, opened once, and the lock that its walks need."""
        place, mark = self._place(name)
        with self._opening:
            with self._lock:
                if mark in self._open:
                    self._open.move_to_end(mark)
                    return self._open[mark]
            found = files.load_solved(place)
            if not isinstance(found, Solution):
                raise InputError(
                    f"run {shown(name)}: holds {found.tree.name}, which is no hold'em and has no nodes to draw"
                )
            with self._lock:
                self._open[mark] = found, threading.Lock()
                while len(self._open) > MOST_OPEN:
                    self._open.popitem(last=False)
                return self._open[mark]

    def kept(self, name: str, *key: Any) -> bytes | None:
        """An answer that was given before, if its run has not changed."""
        return self.answers.get((self.mark(name), *key))

    def read(self, name: str, *key: Any, make: Callable[[Solution], Any]) -> bytes:
        """An answer as JSON, computed where it is not known yet."""
        whole = (self.mark(name), *key)
        found = self.answers.get(whole)
        if found is None:
            solution, lock = self.solution(name)
            with lock:
                found = self.answers.get(whole) or self.answers.put(whole, to_bytes(make(solution)))
        return found

    def node(self, name: str, line: str) -> bytes:
        """A node of a solution."""
        return self.read(name, "node", line, make=lambda solution: solution_node(solution, line) | {"run": name})


def to_bytes(value: Any) -> bytes:
    """JSON without spaces; figures that are not numbers must have become null before."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=str).encode()
