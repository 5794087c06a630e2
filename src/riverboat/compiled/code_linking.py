"""Linking of loops into loops, such that machine code depends on the sources alone.

Numba links the optimized code of a function into each function that calls it, and optimizes it there once more. The
copy has the name of the original; where both are in memory, the one that was loaded first is called. With
re-association the two round differently, so the result of a loop would depend on what else was loaded before it. Numba
also numbers names in the order in which functions are compiled: a name on disk may belong to another function in this
process.

Here a copy is made from the unoptimized code, like the original. It stays private to its file, and names are numbered
by the sources. What is linked is always the content of a file, whether it was compiled now or loaded.

Functions marked `inline` are inlined wherever they are used: they are optimized in full only there (`InlinedCode`), and
have no machine code of their own.

This module relies on internals of Numba. If one is missing, importing this module fails, or `failures` is not empty:
then `riverboat.compiled.jit` compiles loops as Numba does, and stores none.
"""

from __future__ import annotations

import contextlib
import hashlib
import weakref
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar

import numba
from llvmlite import binding
from numba.core import serialize
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from riverboat.compiled.code_cache import CodeFiles, source_stamp, warn_unsupported

# Internals that are overridden or called below. An override that Numba no longer calls would be worse than none.
_REQUIRED_INTERNALS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (JITCodeLibrary, ("_optimize_final_module", "_finalize_final_module", "_get_module_for_linking")),
    (JITCodeLibrary, ("_finalize_dynamic_globals", "_verify_declare_only_symbols", "enable_object_caching")),
    (Compiler, ("_compile_bytecode",)),
    (FunctionCache, ("load_overload", "save_overload", "cache_path")),
    (Dispatcher, ("compile", "enable_caching")),
    (serialize, ("dumps",)),
)
for _owner, _names in _REQUIRED_INTERNALS:
    for _name in _names:
        if not hasattr(_owner, _name):
            raise ImportError(f"{_owner.__name__}.{_name} is missing in Numba {numba.__version__}")

failures: list[Exception] = []  # failures although all names exist; after one, no code is stored


@contextlib.contextmanager
def _recording_failures() -> Iterator[None]:
    """Record exceptions of the block in `failures` instead of raising them, so that Numba's own behavior remains."""
    try:
        yield
    except Warning:
        raise
    except Exception as error:
        failures.append(error)
        warn_unsupported(str(error))


def _with_numba_fallback(method: Callable[[Any], None]) -> Callable[[Any], None]:
    """Decorate a method of a code library so that Numba's own method of the same name runs if it fails."""

    @wraps(method)
    def run(library: Any) -> None:
        done = False
        with _recording_failures():
            method(library)
            done = True
        if not done:
            getattr(JITCodeLibrary, method.__name__)(library)

    return run


def _make_linkable(library: Any) -> None:
    """Make the current code of a library available for linking, in the form that files hold."""
    if library._shared_module is not None:
        return
    module = binding.parse_bitcode(library._final_module.as_bitcode())
    for function in module.functions:
        if not function.is_declaration and function.linkage == binding.Linkage.external:
            function.linkage = "linkonce_odr"  # several linked modules may hold the same function
    library._shared_module = binding.parse_bitcode(module.as_bitcode())


def _run_passes(library: Any) -> None:
    """Run all of LLVM's optimization passes on a library's code."""
    passes = library._codegen._module_pass_manager()
    if isinstance(passes, tuple):
        passes[0].run(library._final_module, passes[1])
    else:  # until Numba 0.61
        passes.run(library._final_module)


def _simplify(library: Any, *, unroll: bool = False) -> None:
    """Inline and simplify code without vectorizing it yet. Loops that are unrolled here are not vectorized later."""
    tuning = binding.create_pipeline_tuning_options(1)
    tuning.loop_vectorization = tuning.slp_vectorization = False
    tuning.loop_unrolling = unroll
    builder = binding.create_pass_builder(library._codegen._tm, tuning)
    builder.getModulePassManager().run(library._final_module, builder)


class KernelCode(JITCodeLibrary):
    """Code of a kernel: callers link its unoptimized form, and the code linked into it stays private."""

    unrolls_first: ClassVar[bool] = False

    @_with_numba_fallback
    def _optimize_final_module(self) -> None:
        _make_linkable(self)
        _simplify(self, unroll=self.unrolls_first)
        _run_passes(self)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.linkonce_odr:
                function.linkage = "internal"


class UnrolledCode(KernelCode):
    """Code of a kernel whose loops are short: unrolling them before others are vectorized makes it a sixth faster."""

    unrolls_first: ClassVar[bool] = True


class InlinedCode(JITCodeLibrary):
    """Code of an inlined function for the kernels that use it: simplified, not vectorized, without machine code.

    Otherwise a function inlined in two steps would be optimized in full three times, and compiled to machine code that
    is never called.
    """

    @_with_numba_fallback
    def _optimize_final_module(self) -> None:
        _simplify(self, unroll=True)
        _make_linkable(self)

    @_with_numba_fallback
    def _finalize_final_module(self) -> None:
        if self._finalized:
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        # Numba writes to the environment variables of a function when it loads it, so they must exist.
        names = [v.name for v in self._final_module.global_variables if v.name.startswith("_ZN08NumbaEnv")]
        lines = [str(self._codegen._create_empty_module(self.name))]
        lines += [f'@"{n}" = common global i8* null' for n in names]
        self._environments = binding.parse_assembly("\n".join(lines))
        self._environments._CPUCodeLibrary__library = weakref.proxy(self)  # its object file is stored on disk
        self._codegen._add_module(self._environments)
        self._codegen._engine.finalize_object()
        self._finalized = True


class OptimisedCode(InlinedCode):
    """Code of an inlined function that is also optimized in full by itself."""

    @_with_numba_fallback
    def _optimize_final_module(self) -> None:
        JITCodeLibrary._optimize_final_module(self)
        _make_linkable(self)


class KernelCompiler(Compiler):
    """Numba's compiler with our code library, and with names numbered by the sources."""

    library: type[JITCodeLibrary] = KernelCode

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        with _recording_failures():
            library = self.library(self.state.targetctx.codegen(), "loop")
            library.enable_object_caching()
            self.state.library = library

    def _compile_bytecode(self) -> Any:
        with _recording_failures():
            function = self.state.func_id
            name = function.modname, function.func_qualname, function.firstlineno
            where = (*name, source_stamp(Path(function.filename)))
            number = int.from_bytes(hashlib.sha256(repr(where).encode()).digest()[:7], "big")
            function.unique_name = function.unique_name.replace(str(function.unique_id), str(number))
            function.unique_id = number
        return super()._compile_bytecode()


class UnrolledKernelCompiler(KernelCompiler):
    """Compiler of kernels whose loops are short."""

    library = UnrolledCode


class InlineCompiler(KernelCompiler):
    """Compiler of inlined functions."""

    library = InlinedCode


class OptimizedInlineCompiler(KernelCompiler):
    """Compiler of inlined functions that are also optimized in full by themselves."""

    library = OptimisedCode


class CodeCache(FunctionCache):
    """Numba's cache of a function with our files: failures to load or store only cost compilation time."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        state = source_stamp(Path(function.__code__.co_filename))
        self.files = CodeFiles(Path(self.cache_path), self._impl.filename_base, state, serialize.dumps)
        del self._cache_file  # fails if Numba has renamed it, instead of silently using Numba's own files
        self._cache_file: Any = self.files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not failures:
            with _recording_failures(), contextlib.suppress(OSError):
                super().save_overload(sig, data)


def cache_on_disk(loop: Any) -> None:
    """Store the code of a loop on disk if possible, and let one process compile when several need it."""
    if not hasattr(loop, "_cache"):
        raise AttributeError("Dispatcher._cache")
    try:
        loop._cache = CodeCache(loop.py_func)
    except (OSError, RuntimeError):  # Numba's errors for an unwritable folder
        return
    compile_now, files = loop.compile, loop._cache.files

    def compile_in_turn(signature: Any) -> Any:
        # in this order, so that threads never wait for a lock of their own process
        with global_compiler_lock, files.compile_lock(signature):
            return compile_now(signature)

    loop.compile, loop.code_files = compile_in_turn, files
