"""How loops are compiled, once for the whole project, and how compiled code is stored on disk.

Kernels take arrays and allocate nothing, so they need no reference counts: without them (`_nrt=False`) a walk of a small
game is several times faster and quicker to compile. `part` marks the small pieces of a kernel: they are inlined, since a
call that passes a tuple of arrays costs more than the work behind it, and are never called from Python. `maker` is for the
few loops that return arrays of their own.

A loop costs seconds to compile, so it is done once: code is stored on disk under the state of the sources that it is made
from (`riverboat.compiled.code_sources`), with a checksum, and where several processes need the same loop, one compiles and the
others wait for its file (`riverboat.compiled.code_files`). What a loop computes does not depend on when, where or after what it was
compiled (`riverboat.compiled.code_linking`).

The last needs inner names of Numba. With a version that has others, loops are compiled in each process: the same results
after a longer start, and a warning that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.cpu import CPUTargetOptions

from riverboat.compiled.code_files import warn_unsupported

try:
    from riverboat.compiled import code_linking

    missing = ""
except (ImportError, AttributeError) as error:
    code_linking = None  # type: ignore[assignment]
    missing = str(error)


def _known(**options: Any) -> dict[str, Any]:
    """Leave out options that Numba does not know: they save time, and change no results."""
    return {name: value for name, value in options.items() if hasattr(CPUTargetOptions, name)}


# Re-association lets sums use vector registers; NaN and infinity keep their meaning. Multiplications and additions are
# not fused: where that happens depends on what is inlined where, and equal runs must stay equal bit for bit.
FAST = {"reassoc", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {**_known(nogil=True, error_model="numpy", fastmath=FAST), **_known(_nrt=False)}
_INLINED = {**OPTIONS, **_known(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)}


def _compiler(compiler: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator that compiles functions on their first call."""

    def compile_later(function: Callable[..., Any]) -> Any:
        if code_linking is not None:
            try:
                loop = njit(**options, pipeline_class=getattr(code_linking, compiler))(function)
                code_linking.cache_on_disk(loop)
                return loop
            except (AttributeError, TypeError) as error:
                warn_unsupported(str(error))
        return njit(**options)(function)

    return compile_later


def on_disk(loop: Any) -> bool:
    """Whether an earlier process has left a loop compiled, for some arguments."""
    files = getattr(loop, "code_files", None)
    return files is not None and files.any()


if code_linking is None:
    warn_unsupported(missing)
kernel: Any = _compiler("KernelCompiler", **OPTIONS)
part: Any = _compiler("PartCompiler", **_INLINED)
# For walks that branch a lot, which are a tenth faster so; all parts of the project would take a fifth longer to compile.
walked_part: Any = _compiler("OptimisedPartCompiler", **_INLINED)
maker: Any = _compiler("KernelCompiler", nogil=True)
