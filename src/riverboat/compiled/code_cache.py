"""On-disk cache of compiled code with checksums, safe for several processes at once.

Code is stored under a stamp of all sources that it is compiled from (`source_stamp`), which follows the imports of a
module.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import pickle
import re
import time as clock
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]  # Windows: two processes may compile the same loop, which does no harm

LOCK_TIMEOUT = 60.0  # seconds to wait for another process that compiles the same loop
_DIGEST = hashlib.sha256().digest_size
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")  # NUMBA_OPT and so on


class CodeFiles:
    """Cache files of one function: one file per state of the sources and signature, with a SHA-256 digest in front.

    Numba's own cache files have three problems. They depend on the source of the function only, not on what is inlined
    into it. They share an index, which two processes that compile at once can leave pointing at each other's code. And
    they have no checksum, so that one wrong bit in machine code is executed.
    """

    def __init__(self, folder: Path, base: str, sources: str, dumps: Callable[[Any], bytes] = pickle.dumps) -> None:
        self._folder, self._base, self._sources, self._dumps = folder, base, sources, dumps

    def load(self, key: Any) -> Any:
        """Return the code for a key, or None if it is missing or damaged."""
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
        """Store the code for a key, and delete code of older sources. A full or read-only disk stores nothing."""
        payload = self._dumps((key, data))
        path = self._path(key)
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        try:
            with draft.open("wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
                file.flush()
                os.fsync(file.fileno())  # the content must reach the disk before the name
            draft.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
            return
        function = self._base.rpartition("-")[0]  # without its line number, which may have changed
        for old in self._folder.glob(f"{function}-*.nb[ci]"):
            if self._sources not in old.name:
                with contextlib.suppress(OSError):  # another process was faster, or Windows has it open
                    old.unlink()

    @contextlib.contextmanager
    def compile_lock(self, signature: Any) -> Iterator[bool]:
        """Make other processes wait before they compile for the same signature; yield False if there is no lock.

        The lock is on one byte of one file in the folder. It ends with the process, for whatever reason.
        """
        digest = hashlib.sha256(repr((self._base, self._sources, signature)).encode()).digest()
        at = int.from_bytes(digest[:7], "big")
        file = _lock_file(self._folder)
        acquired = _acquire_lock(file, at)
        try:
            yield acquired
        finally:
            if acquired:
                fcntl.lockf(file, fcntl.LOCK_UN, 1, at)

    def has_code(self) -> bool:
        """Return whether there is code of these sources for any key."""
        return any(self._folder.glob(f"{self._base}.{self._sources}.*.nbc"))

    def flush(self) -> None:
        """Delete all code of the function."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr((toolchain(), key)).encode()).hexdigest()[:16]
        return self._folder / f"{self._base}.{self._sources}.{digest}.nbc"


def toolchain() -> tuple[Any, ...]:
    """Return the versions and settings that machine code depends on. The processor is in Numba's own key."""
    versions = (numba.__version__, llvmlite.__version__, binding.llvm_version_info, np.__version__)
    return (*versions, *(getattr(numba.config, name, None) for name in _SETTINGS))


@cache
def warn_unsupported(reason: str) -> None:
    """Warn once why compiled code is not stored."""
    warnings.warn(
        f"Numba {numba.__version__} is not supported ({reason}): loops are compiled anew in each process, which takes"
        " seconds; `pip install --upgrade riverboat` installs versions that belong together",
        RuntimeWarning,
        stacklevel=3,
    )


@cache
def _lock_file(folder: Path) -> int:
    """Open the lock file, and keep it open: closing any handle of it would release the lock."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / "compiling.lock", os.O_RDWR | os.O_CREAT, 0o666)
    return -1


def _acquire_lock(file: int, at: int) -> bool:
    if fcntl is None or file < 0:
        return False
    deadline = clock.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
            return True
        except (BlockingIOError, PermissionError):
            if clock.monotonic() >= deadline:
                return False
            clock.sleep(0.02)
        except OSError:  # this file system has no locks
            return False


# --- source stamps ---

PACKAGE_ROOT = Path(__file__).parent.parent
SITE_PACKAGES = {"site-packages", "dist-packages"}  # folders whose packages are independent of each other
_IMPORT_WORD = re.compile(rb"\bimport\b")
_IMPORT_LINE = re.compile(
    rb"^[ \t]*((?:from[ \t]+[.\w]+[ \t]+)?import[ \t]+(?:\([^)]*\)|[^\n;\\(]*))[ \t]*(?:#.*)?$", re.MULTILINE
)
_BLOCK_FIELDS = ("body", "orelse", "finalbody", "handlers", "cases")


def find_sources(module: Path, package: Path = PACKAGE_ROOT) -> set[Path]:
    """Find all modules that the loops of a module are compiled from, including itself."""
    modules, work = {module}, [module]
    while work:
        new = _read_module(work.pop(), package)[1] - modules
        modules |= new
        work += new
    return modules


@cache
def source_stamp(module: Path, package: Path = PACKAGE_ROOT) -> str:
    """Return a digest of the content of a module's sources, independent of their time and location."""
    digest = hashlib.sha256()
    for path in sorted(find_sources(module, package)):
        digest.update(hashlib.sha256(_read_module(path, package)[0]).digest())
    return digest.hexdigest()[:16]


def _parse_imports(text: bytes) -> list[ast.stmt]:
    """Parse the import statements of a module, or the whole module if some do not stand on lines of their own.

    Parsing only the imports is many times faster.
    """
    lines = _IMPORT_LINE.findall(text)
    if len(lines) == len(_IMPORT_WORD.findall(text)) and b"TYPE_CHECKING" not in text:
        with contextlib.suppress(SyntaxError):
            return ast.parse(b"\n".join(lines)).body
    try:
        return ast.parse(text).body
    except SyntaxError:  # this version of Python never imports it
        return []


@cache
def _read_module(module: Path, package: Path) -> tuple[bytes, frozenset[Path]]:
    """Read the text of a module, and find the files that it imports from."""
    text = module.read_bytes()
    home = _import_root(module.parent)
    inside = module.relative_to(home).with_suffix("").parts
    used: set[Path] = set()
    for base, names in _iterate_imports(_parse_imports(text), inside):
        if not base:
            continue
        if base[0] == package.name:
            root = package.parent
        elif package in module.parents or (SITE_PACKAGES & set(home.parts) and base[0] != inside[0]):
            continue  # a third-party package: its version is part of the key of compiled code
        else:
            root = home
        used.update(_resolve_names(root, base, names))
    return text, frozenset(used)


@cache
def _import_root(folder: Path) -> Path:
    """Find the folder that a folder's modules are imported from: above its outermost package, or itself."""
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _iterate_imports(block: Iterable[ast.AST], inside: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield each import in a block as the parts of a module's name, and the names that are taken from it.

    `inside`: parts of the name of the module that contains the block, for relative imports.
    """
    for node in block:
        if isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level] if node.level else ()
            yield (*base, *(node.module.split(".") if node.module else ())), [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                *outer, name = alias.name.split(".")
                yield tuple(outer), [name]
                if alias.asname is None:  # binds the outermost package, so all of its modules can be used
                    for k in range(1, len(outer) + 1):
                        yield tuple(outer[:k]), ["*"]
                if not outer:
                    yield (name,), ["*"]
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _iterate_imports(node.orelse, inside)
        else:
            for part in _BLOCK_FIELDS:
                if isinstance(inner := getattr(node, part, None), list):
                    yield from _iterate_imports(inner, inside)


def _is_type_checking(test: ast.expr) -> bool:
    """Return whether a condition is true for type checkers only."""
    return "TYPE_CHECKING" in (getattr(test, "id", None), getattr(test, "attr", None))


def _resolve_names(root: Path, base: tuple[str, ...], names: list[str]) -> Iterator[Path]:
    """Yield the files that names of a module or a package may come from."""
    module = _module_file(root, base)
    is_package = module is None or module.name == "__init__.py"
    for name in names:
        inner = _module_file(root, (*base, name)) if is_package else None
        if inner is not None:
            yield inner
        # it may hide its module of that name
        if module is not None and (inner is None or name in _identifiers(module)):
            yield module


@cache
def _identifiers(module: Path) -> frozenset[str]:
    """Return all words of a module's text."""
    return frozenset(re.findall(r"\w+", module.read_text("utf-8", "replace")))


@cache
def _module_file(root: Path, name: tuple[str, ...]) -> Path | None:
    """Find the file of a module or a package by its full name."""
    stem = root.joinpath(*name)
    for path in (stem / "__init__.py", stem.with_name(f"{stem.name}.py")):
        if path.is_file():
            return path
    return None
