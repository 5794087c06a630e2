"""Compiled code on disk: a cache with checksums that several processes fill side by side."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import time as clock
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding

try:
    import fcntl
except ImportError:  # pragma: no cover  # on Windows two processes may compile the same loop at once, to no harm
    fcntl = None  # type: ignore[assignment]

PATIENCE = 60.0  # seconds to wait for what another process compiles, before it is done here as well
_DIGEST = hashlib.sha256().digest_size
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")  # NUMBA_OPT and so on


class CodeFiles:
    """One file for each function, state of the sources, and signature: a SHA-256 digest, and what it is the digest of.

    Numba's own files know only the source of the function, not of what was inlined into it; they go through an index,
    which two processes that compile at once can leave pointing at each other's code; and they have no checksum, so that
    one wrong bit in machine code is executed.
    """

    def __init__(self, folder: Path, base: str, sources: str, dumps: Callable[[Any], bytes] = pickle.dumps) -> None:
        self._folder, self._base, self._sources, self._dumps = folder, base, sources, dumps

    def load(self, key: Any) -> Any:
        """Return the code for a key, or None if there is none or it is damaged."""
        try:
            content = self._path(key).read_bytes()
            digest, payload = content[:_DIGEST], content[_DIGEST:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            stored_key, data = pickle.loads(payload)
            return data if stored_key == key else None
        except Exception:  # whatever is wrong with a file, the loop is compiled again
            return None

    def save(self, key: Any, data: Any) -> None:
        """Store the code for a key, and delete that of other sources. A disk that is full or read-only stores nothing."""
        payload = self._dumps((key, data))
        path = self._path(key)
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        try:
            with draft.open("wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
                file.flush()
                os.fsync(file.fileno())  # the bytes come before the name
            draft.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
            return
        function = self._base.rpartition("-")[0]  # the rest is its line, which may have changed
        for old in self._folder.glob(f"{function}-*.nb[ci]"):
            if self._sources not in old.name:
                with contextlib.suppress(OSError):  # another process was faster, or Windows has it open
                    old.unlink()

    @contextlib.contextmanager
    def turn(self, signature: Any) -> Iterator[bool]:
        """Inside, other processes wait before they compile for the same signature; false where they could not be told.

        One byte of one file in the folder is locked, which ends with the process whatever becomes of it.
        """
        place = hashlib.sha256(repr((self._base, self._sources, signature)).encode()).digest()
        at = int.from_bytes(place[:7], "big")
        file = _lock_file(self._folder)
        mine = _lock(file, at)
        try:
            yield mine
        finally:
            if mine:
                fcntl.lockf(file, fcntl.LOCK_UN, 1, at)

    def any(self) -> bool:
        """Whether there is code of these sources for any key."""
        return any(self._folder.glob(f"{self._base}.{self._sources}.*.nbc"))

    def flush(self) -> None:
        """Delete all code of the function."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr((toolchain(), key)).encode()).hexdigest()[:16]
        return self._folder / f"{self._base}.{self._sources}.{digest}.nbc"


def toolchain() -> tuple[Any, ...]:
    """Describe what turns sources into machine code. The processor and its features are in Numba's own key."""
    versions = (numba.__version__, llvmlite.__version__, binding.llvm_version_info, np.__version__)
    return (*versions, *(getattr(numba.config, name, None) for name in _SETTINGS))


@cache
def warn_unsupported(reason: str) -> None:
    """Say once why code is not stored."""
    warnings.warn(
        f"Numba {numba.__version__} is not supported ({reason}): loops are compiled anew in each process, which takes"
        " seconds; `pip install --upgrade riverboat` installs versions that belong together",
        RuntimeWarning,
        stacklevel=3,
    )


@cache
def _lock_file(folder: Path) -> int:
    """Open until the process ends: a lock of this kind would end with the first closing of its file."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / "compiling.lock", os.O_RDWR | os.O_CREAT, 0o666)
    return -1


def _lock(file: int, at: int) -> bool:
    if fcntl is None or file < 0:
        return False
    until = clock.monotonic() + PATIENCE
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
            return True
        except (BlockingIOError, PermissionError):
            if clock.monotonic() >= until:
                return False
            clock.sleep(0.02)
        except OSError:  # no locks here
            return False
