"""Arrays that are costly to compute and cheap to keep: in the user's cache folder, with a checksum.

`riverboat cache` shows and clears them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.core import atomic_io
from riverboat.core.arrays import Array

_CHECK = "check"


def folder() -> Path:
    """Where they are."""
    return own_folder("cache")


def own_folder(kind: str) -> Path:
    """The user's folder for what can be made again (`cache`) or not (`data`). Servers may lack platformdirs."""
    try:
        import platformdirs
    except ImportError:
        home = Path(
            os.environ.get(f"XDG_{kind.upper()}_HOME") or Path.home() / {"cache": ".cache"}.get(kind, ".local/share")
        )
        return home / "riverboat"
    return Path(
        platformdirs.user_cache_dir("riverboat") if kind == "cache" else platformdirs.user_data_dir("riverboat")
    )


def kept(name: str, make: Callable[[], Mapping[str, Array]]) -> dict[str, Array]:
    """The arrays of that name, from disk where they are there and whole, else made and written. Names carry a version."""
    path = folder() / f"{name}.npz"
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as file_arrays:
            arrays = {key: file_arrays[key] for key in file_arrays.files}
        if str(arrays.pop(_CHECK)) == _checksum(arrays):
            return arrays
    except Exception:  # not there, or spoilt: readers of zip files and headers raise errors of many kinds
        pass
    arrays = dict(make())
    with (
        contextlib.suppress(OSError),
        atomic_io.beside(path) as draft,
    ):  # a place that cannot be written to only costs time
        everything: dict[str, Any] = {**arrays, _CHECK: np.array(_checksum(arrays))}
        with draft.open("wb") as opened:
            np.savez(opened, **everything)
    return arrays


def _checksum(arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256()
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        digest.update(repr((key, array.shape, array.dtype.str)).encode())
        digest.update(array.data)
    return digest.hexdigest()
