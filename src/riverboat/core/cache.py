"""Cache of expensive arrays in the user's cache folder, with checksums.

`riverboat cache` shows and clears it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.core import files
from riverboat.core.arrays import Array

_CHECKSUM_KEY = "check"


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


def cached_arrays(name: str, compute: Callable[[], Mapping[str, Array]]) -> dict[str, Array]:
    """Load arrays from the cache by name, or compute and store them. Names carry a version."""
    path = cache_folder() / f"{name}.npz"
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as file_arrays:
            arrays = {key: file_arrays[key] for key in file_arrays.files}
        if str(arrays.pop(_CHECKSUM_KEY)) == _checksum(arrays):
            return arrays
    except Exception:  # missing or damaged: readers of zip files and headers raise errors of many kinds
        pass
    arrays = dict(compute())
    # an unwritable folder only costs time
    with contextlib.suppress(OSError), files.atomic_write(path) as draft:
        entries: dict[str, Any] = {**arrays, _CHECKSUM_KEY: np.array(_checksum(arrays))}
        with draft.open("wb") as opened:
            np.savez(opened, **entries)
    return arrays


def _checksum(arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256()
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        digest.update(repr((key, array.shape, array.dtype.str)).encode())
        digest.update(array.data)
    return digest.hexdigest()
