"""How loops are linked into loops, so that machine code depends on the sources alone.

Numba links the optimised code of a function into each function that calls it, and optimises it there once more. The copy
has the name of the original, and where both are in memory, the one that was loaded first is called. With re-association
the two do not round alike: what a loop computes would depend on what else was loaded before it. Names are numbered as
functions come, so that a name on disk may even be that of another function in this process.

Here a copy is made from the code before it was optimised, as the original is. It stays private to its file, and names
are numbered by the sources. What is linked is always what a file holds, whether it was compiled now or loaded.

Parts are inlined wherever they are used: they are optimised in full only there (`InlinedCode`), and have no machine code.

All this stands on inner names of Numba. Where one is missing, this module cannot be imported, or `broken` is set: then
`riverboat.compiled.jit` compiles loops as Numba does, and stores none.
"""

from __future__ import annotations

import contextlib
import hashlib
import weakref
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core import serialize
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from riverboat.compiled.code_files import CodeFiles, warn_unsupported
from riverboat.compiled.code_sources import stamp

# What is overridden or called below. An override that nobody calls would be worse than none.
_INNER_NAMES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (JITCodeLibrary, ("_optimize_final_module", "_finalize_final_module", "_get_module_for_linking")),
    (JITCodeLibrary, ("_finalize_dynamic_globals", "_verify_declare_only_symbols", "enable_object_caching")),
    (Compiler, ("_compile_bytecode",)),
    (FunctionCache, ("load_overload", "save_overload", "cache_path")),
    (Dispatcher, ("compile", "enable_caching")),
    (serialize, ("dumps",)),
)
for _owner, _names in _INNER_NAMES:
    for _name in _names:
        if not hasattr(_owner, _name):
            raise ImportError(f"{_owner.__name__}.{_name} is missing in Numba {numba.__version__}")

broken: list[Exception] = []  # what failed although all names were there; from then on nothing is stored


@contextlib.contextmanager
def _guarded() -> Iterator[None]:
    """Note a failure, and go on as Numba does."""
    try:
        yield
    except Warning:
        raise
    except Exception as error:
        broken.append(error)
        warn_unsupported(str(error))


def _or_as_numba_does(method: Callable[[Any], None]) -> Callable[[Any], None]:
    """Use Numba's own method where this one fails."""

    @wraps(method)
    def run(library: Any) -> None:
        done = False
        with _guarded():
            method(library)
            done = True
        if not done:
            getattr(JITCodeLibrary, method.__name__)(library)

    return run


def _share(library: Any) -> None:
    """Let others link the code as it is now, in the form that files hold."""
    if library._shared_module is not None:
        return
    module = binding.parse_bitcode(library._final_module.as_bitcode())
    for function in module.functions:
        if not function.is_declaration and function.linkage == binding.Linkage.external:
            function.linkage = "linkonce_odr"  # one that several linked modules hold counts once
    library._shared_module = binding.parse_bitcode(module.as_bitcode())


def _run_passes(library: Any, **options: Any) -> None:
    """Optimise a library's code, in full unless the options say otherwise."""
    passes = library._codegen._module_pass_manager(**options)
    if isinstance(passes, tuple):
        passes[0].run(library._final_module, passes[1])
    else:  # until Numba 0.61
        passes.run(library._final_module)


def _simplify(library: Any) -> None:
    """Inline parts and simplify what is there, but do not vectorise yet."""
    _run_passes(library, opt=1, loop_vectorize=False, slp_vectorize=False)


class KernelCode(JITCodeLibrary):
    """The code of a kernel: others link what it was before it was optimised, and what it links is its own."""

    @_or_as_numba_does
    def _optimize_final_module(self) -> None:
        _share(self)
        _simplify(self)  # before loops are vectorised: walks of small games are a third faster so
        _run_passes(self)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.linkonce_odr:
                function.linkage = "internal"


class InlinedCode(JITCodeLibrary):
    """The code of a part, for the kernels that inline it: simplified, but not yet vectorised, and without machine code.

    A part in a part in a kernel would else be optimised in full three times, and turned into machine code that nobody calls.
    """

    @_or_as_numba_does
    def _optimize_final_module(self) -> None:
        _simplify(self)
        _share(self)

    @_or_as_numba_does
    def _finalize_final_module(self) -> None:
        if self._finalized:
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        # What Numba writes to when a function is loaded must be somewhere: the variables of its environments.
        names = [v.name for v in self._final_module.global_variables if v.name.startswith("_ZN08NumbaEnv")]
        lines = [
            str(self._codegen._create_empty_module(self.name)),
            *(f'@"{n}" = common global i8* null' for n in names),
        ]
        self._place = binding.parse_assembly("\n".join(lines))
        self._place._CPUCodeLibrary__library = weakref.proxy(self)  # its object file is the one that is stored on disk
        self._codegen._add_module(self._place)
        self._codegen._engine.finalize_object()
        self._finalized = True


class OptimisedCode(InlinedCode):
    """The same, optimised in full by itself as well."""

    @_or_as_numba_does
    def _optimize_final_module(self) -> None:
        JITCodeLibrary._optimize_final_module(self)
        _share(self)


class KernelCompiler(Compiler):
    """Numba's compiler, with another library for the code, and names that are numbered by the sources."""

    library: type[JITCodeLibrary] = KernelCode

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        with _guarded():
            library = self.library(self.state.targetctx.codegen(), "loop")
            library.enable_object_caching()
            self.state.library = library

    def _compile_bytecode(self) -> Any:
        with _guarded():
            function = self.state.func_id
            where = (function.modname, function.func_qualname, function.firstlineno, stamp(Path(function.filename)))
            number = int.from_bytes(hashlib.sha256(repr(where).encode()).digest()[:7], "big")
            function.unique_name = function.unique_name.replace(str(function.unique_id), str(number))
            function.unique_id = number
        return super()._compile_bytecode()


class PartCompiler(KernelCompiler):
    """The same for parts."""

    library = InlinedCode


class OptimisedPartCompiler(KernelCompiler):
    """The same for parts that are optimised in full by themselves as well."""

    library = OptimisedCode


class CodeCache(FunctionCache):
    """Numba's cache of a function, in other files: what cannot be loaded is compiled, what cannot be stored is not."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        state = stamp(Path(function.__code__.co_filename))
        self.files = CodeFiles(Path(self.cache_path), self._impl.filename_base, state, serialize.dumps)
        del self._cache_file  # fails where Numba calls it otherwise: it would go on with its own
        self._cache_file: Any = self.files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not broken:
            with _guarded(), contextlib.suppress(OSError):
                super().save_overload(sig, data)


def cache_on_disk(loop: Any) -> None:
    """Store a loop's code in files, where a folder can be written, and let one process compile where several need it."""
    if not hasattr(loop, "_cache"):
        raise AttributeError("Dispatcher._cache")
    try:
        loop._cache = CodeCache(loop.py_func)
    except (OSError, RuntimeError):  # Numba's words for a folder that cannot be written
        return
    compile_now, files = loop.compile, loop._cache.files

    def compile_in_turn(signature: Any) -> Any:
        with global_compiler_lock, files.turn(signature):  # in this order: no thread waits for another's process
            return compile_now(signature)

    loop.compile, loop.code_files = compile_in_turn, files
