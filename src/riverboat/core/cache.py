"""Cache of expensive arrays in the user's cache folder, with checksums; and of values in memory.

`riverboat cache` shows and clears it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from riverboat.core import files
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

_CHECKSUM_KEY = "check"
_SECONDS_KEY = "compute_seconds"
Value = TypeVar("Value")


def cache_folder() -> Path:
    """Return the folder of the cache."""
    return user_folder("cache")


def user_folder(kind: str) -> Path:
    """Return the user's folder for files that can be recomputed (`cache`) or not (`data`).

    Works without platformdirs, which servers may lack.
    """
    try:
        import platformdirs
    except ImportError:
        default = Path.home() / {"cache": ".cache"}.get(kind, ".local/share")
        return Path(os.environ.get(f"XDG_{kind.upper()}_HOME") or default) / "riverboat"
    find = platformdirs.user_cache_dir if kind == "cache" else platformdirs.user_data_dir
    return Path(find("riverboat"))


class _ReusedTime:
    """Computing time that reads of the cache have saved in this process."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.lock = Lock()

    def add(self, seconds: float) -> None:
        with self.lock:
            self.seconds += seconds


_reused_time = _ReusedTime()


def reused_seconds() -> float:
    """Return the computing time in seconds that reads of the cache have saved in this process so far.

    The time of a computation is its wall-clock time and the increase of this number.
    """
    return _reused_time.seconds


def cached_arrays(name: str, compute: Callable[[], Mapping[str, Array]]) -> dict[str, Array]:
    """Load arrays from the cache by name, or compute and store them; `name` must contain a version of its contents.

    The time of computing is stored with them (`reused_seconds`). Files without it, from before it was stored, count with
    their array `seconds` if they have one.
    """
    arrays = load_arrays(name)
    if arrays is not None:
        _reused_time.add(float(arrays.pop(_SECONDS_KEY, arrays.get("seconds", np.zeros(())))))
        return arrays
    start_time, reused = time.perf_counter(), reused_seconds()
    arrays = dict(compute())
    seconds = time.perf_counter() - start_time + reused_seconds() - reused
    store_arrays(name, {**arrays, _SECONDS_KEY: np.array(seconds)})
    return arrays


def load_arrays(name: str, identity: str = "") -> dict[str, Array] | None:
    """Load arrays from the cache, or return None if they are missing, damaged, or stored with another identity."""
    try:
        with _path(name).open("rb") as file, np.load(file, allow_pickle=False) as file_arrays:
            arrays = {key: file_arrays[key] for key in file_arrays.files}
        return arrays if str(arrays.pop(_CHECKSUM_KEY)) == _checksum(arrays, identity) else None
    except Exception:  # missing or damaged: readers of zip files and headers raise errors of many kinds
        return None


def store_arrays(name: str, arrays: Mapping[str, Array], identity: str = "") -> None:
    """Store arrays in the cache; `identity` says what they are made from, if the name is only a hash of that."""
    # an unwritable folder only costs time
    with contextlib.suppress(OSError), files.atomic_write(_path(name)) as draft:
        entries: dict[str, Any] = {**arrays, _CHECKSUM_KEY: np.array(_checksum(arrays, identity))}
        with draft.open("wb") as opened:
            np.savez(opened, **entries)


def _path(name: str) -> Path:
    return cache_folder() / f"{name}.npz"


def _checksum(arrays: Mapping[str, Array], identity: str) -> str:
    digest = hashlib.sha256(identity.encode())
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        digest.update(repr((key, array.shape, array.dtype.str)).encode())
        digest.update(array.data)
    return digest.hexdigest()


class LRUCache(Generic[Value]):
    """Thread-safe cache of the values used last.

    `capacity` bounds the number of values, or the sum of their sizes if `size` is given. The last value always stays.

    Parameters
    ----------
    capacity
        Largest number of values, or of bytes if `size` is given.
    size
        Function that returns the size of a value in bytes.

    Examples
    --------
    >>> cache = LRUCache[int](2)
    >>> [cache.get_or_compute(key, lambda: 7) for key in (b"a", b"b", b"c")], cache.get(b"a")
    ([7, 7, 7], None)
    """

    def __init__(self, capacity: int = 1024, size: Callable[[Value], int] | None = None) -> None:
        if capacity < 1:
            raise InputError(f"capacity={capacity}: must be at least 1")
        self.capacity, self._size, self._total_size = capacity, size or (lambda value: 1), 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> Value | None:
        """Return the cached value of a key, or None.

        Parameters
        ----------
        key
            Key of the value.
        """
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Hashable, value: Value) -> Value:
        """Store a value and return it; evict least recently used values over the capacity.

        Parameters
        ----------
        key
            Key of the value.
        value
            Value to store.
        """
        with self._lock:
            if key in self._values:
                self._total_size -= self._size(self._values.pop(key))
            self._values[key] = value
            self._total_size += self._size(value)
            while self._total_size > self.capacity and len(self._values) > 1:
                self._total_size -= self._size(self._values.popitem(last=False)[1])
        return value

    def get_or_compute(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the cached value of a key, or compute and store it.

        Parameters
        ----------
        key
            Key of the value.
        make
            Function that computes the value.
        """
        value = self.get(key)
        return self.put(key, make()) if value is None else value

    def discard(self, key: Hashable) -> None:
        """Forget the value of a key, if it is cached.

        Parameters
        ----------
        key
            Key of the value.
        """
        with self._lock:
            if key in self._values:
                self._total_size -= self._size(self._values.pop(key))

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._values.clear()
            self._total_size = 0
