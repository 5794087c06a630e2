"""How loops are compiled, once for the whole project, and how compiled code is kept on disk.

Kernels take arrays and allocate nothing, so they need no reference counts: without them (`_nrt=False`) a walk of a small
game is several times faster and quicker to compile. `part` marks the small pieces of a kernel: they are inlined, since a
call that passes a tuple of arrays costs more than the work behind it, and are never called from Python. `maker` is for the
few loops that return arrays of their own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import serialize

# Re-association lets sums use vector registers; NaN and infinity keep their meaning. Multiplications and additions are
# not fused: where that happens depends on what is inlined where, and equal runs must stay equal bit for bit.
FAST = {"reassoc", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": FAST, "_nrt": False}
_PART: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_dumps: Any = serialize.dumps  # pickles what pickle alone cannot
_PACKAGE = Path(__file__).parent
_IMPORT = re.compile(r"^(?:from|import) ([\w.]+)(?: import (\([^)]*\)|.*))?", re.MULTILINE)


@cache
def _read(module: Path, package: Path) -> tuple[bytes, list[Path]]:
    """A module's text, and the modules of the package that it imports when it is loaded."""
    text = module.read_bytes()
    names = set()
    for base, some in _IMPORT.findall(text.decode()):
        names |= {base, *(f"{base}.{name}" for name in re.findall(r"\w+", some))}
    paths = [package.parent.joinpath(*name.split(".")).with_suffix(".py") for name in sorted(names)]
    return text, [path for path in paths if package in path.parents and path.is_file()]


def sources(module: Path, package: Path) -> set[Path]:
    """A module and the modules of the package that it is made from: what it imports, what those import, and so on."""
    found, work = {module}, [module]
    while work:
        new = set(_read(work.pop(), package)[1]) - found
        found |= new
        work += new
    return found


@cache
def stamp(module: Path, package: Path = _PACKAGE) -> str:
    """A name for the state of a module's sources, whenever and wherever they were written."""
    digest = hashlib.sha256()
    for path in sorted(sources(module, package)):
        digest.update(hashlib.sha256(_read(path, package)[0]).digest())
    return digest.hexdigest()[:16]


class CodeFiles:
    """Compiled code on disk: one file for each function, state of the sources, and signature.

    Numba's own files know only the source of the function, not of what was inlined into it; and they go through an index,
    which two processes that compile at once can leave pointing at each other's code.
    """

    def __init__(self, folder: Path, base: str, sources: str) -> None:
        self._folder, self._base, self._sources = folder, base, sources

    def load(self, key: Any) -> Any:
        """The code for a key, or None."""
        try:
            found, data = pickle.loads(self._path(key).read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return None  # not there, or cut short
        return data if found == key else None

    def save(self, key: Any, data: Any) -> None:
        """Keep the code for a key, and forget that of other sources."""
        path = self._path(key)
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        beside.write_bytes(_dumps((key, data)))
        beside.replace(path)
        function = self._base.rpartition("-")[0]  # the rest is its line, which may have changed
        for old in self._folder.glob(f"{function}-*.nb[ci]"):
            if self._sources not in old.name:
                with contextlib.suppress(OSError):  # another process was faster, or Windows has it open
                    old.unlink()

    def any(self) -> bool:
        """Whether there is code of these sources for any key."""
        return any(self._folder.glob(f"{self._base}.{self._sources}.*.nbc"))

    def flush(self) -> None:
        """Forget all code of the function."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr((numba.__version__, key)).encode()).hexdigest()[:16]
        return self._folder / f"{self._base}.{self._sources}.{digest}.nbc"


def _compiler(**options: Any) -> Any:
    def compile_later(function: Callable[..., Any]) -> Any:
        loop: Any = njit(**options)(function)
        loop.enable_caching()
        files = loop._cache
        state = stamp(Path(function.__code__.co_filename))
        files._cache_file = CodeFiles(Path(files.cache_path), files._impl.filename_base, state)
        return loop

    return compile_later


def on_disk(loop: Any) -> bool:
    """Whether an earlier process has left a loop compiled, for some arguments."""
    return bool(loop._cache._cache_file.any())


kernel: Any = _compiler(**OPTIONS)
part: Any = _compiler(**OPTIONS, **_PART)
maker: Any = _compiler(nogil=True)
