"""What was worked out at public places, kept for the next time: a cache and nothing else.

Whoever uses it must be able to work everything out again from the place alone, with equal bytes: entries may be gone at any
time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from riverboat.core.errors import InputError

Value = TypeVar("Value")


class PublicCache(Generic[Value]):
    """Values by the bytes of a line, a board or both; those that were asked for last are kept, up to a number of them.

    With `size` it is the sum of their sizes that is bounded; the last value is kept whatever its size.
    """

    def __init__(self, most: int = 1024, size: Callable[[Value], int] | None = None) -> None:
        if most < 1:
            raise InputError(f"most={most}: a cache keeps at least one value")
        self.most, self._size, self._held = most, size or (lambda value: 1), 0
        self._values: OrderedDict[bytes, Value] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: bytes) -> Value | None:
        """What is kept under a key, if it is there still."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: bytes, value: Value) -> Value:
        """Keep a value; the one that was not asked for longest may go."""
        with self._lock:
            if key in self._values:
                self._held -= self._size(self._values.pop(key))
            self._values[key] = value
            self._held += self._size(value)
            while self._held > self.most and len(self._values) > 1:
                self._held -= self._size(self._values.popitem(last=False)[1])
        return value

    def at(self, key: bytes, make: Callable[[], Value]) -> Value:
        """What is kept, or what is made now."""
        value = self.get(key)
        return self.keep(key, make()) if value is None else value

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._held = 0
