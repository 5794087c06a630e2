"""Damage to files of the cache of arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

HARMS = ("truncated", "altered", "empty", "other")


def damage(path: Path, harm: str, array: str) -> None:
    """Damage a cached file: cut it, change a number of an array without the checksum, empty it, or replace its arrays."""
    body = path.read_bytes()
    if harm == "truncated":
        path.write_bytes(body[: len(body) // 2])
    elif harm == "altered":
        with np.load(path) as found:
            arrays = dict(found)
        arrays[array].flat[0] += 1
        np.savez(path, **arrays)
    elif harm == "empty":
        path.write_bytes(b"")
    else:
        np.savez(path, **{array: np.arange(3)})
