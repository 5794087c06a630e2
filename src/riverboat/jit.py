"""How loops are compiled, once for the whole project, and how compiled code is kept on disk.

Kernels take arrays and allocate nothing, so they need no reference counts: without them (`_nrt=False`) a walk of a small
game is several times faster and quicker to compile. `part` marks the small pieces of a kernel: they are inlined, since a
call that passes a tuple of arrays costs more than the work behind it, and are never called from Python. `maker` is for the
few loops that return arrays of their own.

A loop costs seconds to compile, so it is done once: parts are optimised in full only in the kernel that inlines them
(`InlinedCode`), and where several processes need the same loop, one compiles and the others wait for its file (`CodeFiles`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import time as clock
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba import njit
from numba.core import serialize
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock

try:
    import fcntl
except ImportError:  # pragma: no cover  # on Windows two processes may compile the same loop at once, to no harm
    fcntl = None  # type: ignore[assignment]

# Re-association lets sums use vector registers; NaN and infinity keep their meaning. Multiplications and additions are
# not fused: where that happens depends on what is inlined where, and equal runs must stay equal bit for bit.
FAST = {"reassoc", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": FAST, "_nrt": False}
_dumps: Any = serialize.dumps  # pickles what pickle alone cannot
PATIENCE = 60.0  # seconds to wait for what another process compiles, before it is done here as well
_PACKAGE = Path(__file__).parent
_IMPORT = re.compile(r"^(?:from|import) ([\w.]+)(?: import (\([^)]*\)|.*))?", re.MULTILINE)


@cache
def _read(module: Path, package: Path) -> tuple[bytes, list[Path]]:
    """A module's text, and what it imports when it is loaded, of the package and of what lies beside the module."""
    text = module.read_bytes()
    names = set()
    for base, some in _IMPORT.findall(text.decode()):
        names |= {base, *(f"{base}.{name}" for name in re.findall(r"\w+", some))}
    paths = [package.parent.joinpath(*name.split(".")).with_suffix(".py") for name in sorted(names)]
    used = [path for path in paths if package in path.parents]
    if package not in module.parents:  # a loop of somebody else's stands on modules beside it
        home = _home(module)
        for name in sorted(names):
            path = home.joinpath(*name.split("."))
            used += [path.with_suffix(".py"), path / "__init__.py"]
    return text, [path for path in used if path.is_file()]


def _home(module: Path) -> Path:
    """The folder that a module of others is imported from: above its package, or its own."""
    folder = module.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def sources(module: Path, package: Path) -> set[Path]:
    """A module and the modules that it is made from: what it imports, what those import, and so on.

    A loop inlines loops and constants of all of them, so a change of any must compile it again.
    """
    modules, work = {module}, [module]
    while work:
        new = set(_read(work.pop(), package)[1]) - modules
        modules |= new
        work += new
    return modules


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
            kept_key, data = pickle.loads(self._path(key).read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return None  # not there, or cut short
        return data if kept_key == key else None

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
        """Forget all code of the function."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr((numba.__version__, key)).encode()).hexdigest()[:16]
        return self._folder / f"{self._base}.{self._sources}.{digest}.nbc"


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


class InlinedCode(JITCodeLibrary):
    """The code of a part, for the kernels that inline it: simplified, but not yet vectorised, and without machine code.

    A part in a part in a kernel would else be optimised in full three times, and turned into machine code that nobody calls.
    """

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        # What Numba writes to when a function is loaded must be somewhere: the variables of its environments.
        names = [v.name for v in self._final_module.global_variables if v.name.startswith("_ZN08NumbaEnv")]
        lines = [
            str(self._codegen._create_empty_module(self.name)),
            *(f'@"{n}" = common global i8* null' for n in names),
        ]
        self._place = binding.parse_assembly("\n".join(lines))
        self._place._CPUCodeLibrary__library = weakref.proxy(self)  # its object file is the one that is kept on disk
        self._codegen._add_module(self._place)
        self._codegen._engine.finalize_object()
        self._finalized = True


class OptimisedCode(InlinedCode):
    """The same, optimised in full by itself as well."""

    _optimize_final_module = JITCodeLibrary._optimize_final_module


class _PartCompiler(Compiler):
    """Numba's compiler, with another place for the code."""

    library: type[JITCodeLibrary] = InlinedCode

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.state.library = self.library(self.state.targetctx.codegen(), "part")
        self.state.library.enable_object_caching()


class _OptimisedPartCompiler(_PartCompiler):
    library = OptimisedCode


def _compiler(**options: Any) -> Any:
    def compile_later(function: Callable[..., Any]) -> Any:
        loop: Any = njit(**options)(function)
        loop.enable_caching()
        files = loop._cache
        state = stamp(Path(function.__code__.co_filename))
        files._cache_file = code = CodeFiles(Path(files.cache_path), files._impl.filename_base, state)
        compile_now = loop.compile

        def compile_in_turn(signature: Any) -> Any:
            with global_compiler_lock, code.turn(signature):  # in this order: no thread waits for another's process
                return compile_now(signature)

        loop.compile = compile_in_turn
        return loop

    return compile_later


def on_disk(loop: Any) -> bool:
    """Whether an earlier process has left a loop compiled, for some arguments."""
    return bool(loop._cache._cache_file.any())


kernel: Any = _compiler(**OPTIONS)
_INLINED: dict[str, Any] = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
part: Any = _compiler(**_INLINED, pipeline_class=_PartCompiler)
# For walks that branch a lot, which are a tenth faster so; all parts of the project would take a fifth longer to compile.
walked_part: Any = _compiler(**_INLINED, pipeline_class=_OptimisedPartCompiler)
maker: Any = _compiler(nogil=True)
