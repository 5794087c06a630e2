"""Decorators that compile loops by Numba, with the same options everywhere, and store the code on disk.

Kernels (`kernel`) take arrays and allocate nothing, so they need no reference counts: without them (`_nrt=False`) the
traversal of a small game is several times faster and compiles faster. `inline` marks the building blocks of kernels.
They are inlined, since a call that passes a tuple of arrays costs more than its work, and are never called from Python.
`allocating_kernel` is for the few loops that return new arrays.

Compiling a loop takes seconds, so it is done once: `riverboat.compiled.code_cache` stores code on disk under the state
of the sources that it is compiled from, with a checksum. If several processes need the same loop, one compiles and the
others wait for its file. The result of a loop does not depend on when, where or after what it was compiled
(`riverboat.compiled.code_linking`).

This needs internals of Numba. With an unsupported version each process compiles its loops: the results are the same
after a longer start, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.cpu import CPUTargetOptions

from riverboat.compiled.code_cache import warn_unsupported

try:
    from riverboat.compiled import code_linking

    unsupported_reason = ""
except (ImportError, AttributeError) as error:
    code_linking = None  # type: ignore[assignment]
    unsupported_reason = str(error)


def _supported_options(**options: Any) -> dict[str, Any]:
    """Drop options that this version of Numba does not know: they save time and change no results."""
    return {name: value for name, value in options.items() if hasattr(CPUTargetOptions, name)}


# Re-association lets sums use vector registers; NaN and infinity keep their meaning. Multiplications and additions are
# not fused: fusion would depend on inlining, and equal runs must be equal bit for bit.
FASTMATH_FLAGS = {"reassoc", "nsz", "arcp"}
KERNEL_OPTIONS: dict[str, Any] = {
    **_supported_options(nogil=True, error_model="numpy", fastmath=FASTMATH_FLAGS),
    **_supported_options(_nrt=False),
}
_INLINE_OPTIONS = {
    **KERNEL_OPTIONS,
    **_supported_options(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True),
}


def _make_decorator(compiler: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a decorator that compiles functions on their first call; `compiler` names a class of `code_linking`."""

    def compile_later(function: Callable[..., Any]) -> Any:
        """Compile a loop on its first call, and store its code on disk.

        Parameters
        ----------
        function
            Function over arrays and scalars, in the part of Python that Numba compiles.

        Returns
        -------
        Dispatcher
            The compiled function; `py_func` is the original.

        Examples
        --------
        >>> @kernel
        ... def total(x):
        ...     result = 0.0
        ...     for k in range(len(x)):
        ...         result += x[k]
        ...     return result
        >>> total.py_func([1.0, 2.5])
        3.5
        """
        if code_linking is not None:
            try:
                loop = njit(**options, pipeline_class=getattr(code_linking, compiler))(function)
                code_linking.cache_on_disk(loop)
                return loop
            except (AttributeError, TypeError) as error:
                warn_unsupported(str(error))
        return njit(**options)(function)

    return compile_later


def is_cached(loop: Any) -> bool:
    """Return whether an earlier process has stored the compiled loop, for some argument types.

    Parameters
    ----------
    loop
        A function made by a decorator of this module.

    Returns
    -------
    bool
        False if the loop would be compiled on its first call.

    Examples
    --------
    >>> is_cached(lambda: None)
    False
    """
    files = getattr(loop, "code_files", None)
    return files is not None and files.has_code()


if code_linking is None:
    warn_unsupported(unsupported_reason)
kernel: Any = _make_decorator("KernelCompiler", **KERNEL_OPTIONS)
unrolled_kernel: Any = _make_decorator("UnrolledKernelCompiler", **KERNEL_OPTIONS)  # whose loops are short
inline: Any = _make_decorator("InlineCompiler", **_INLINE_OPTIONS)
# For traversals with many branches, which get a tenth faster; using it everywhere would compile a fifth longer.
inline_optimized: Any = _make_decorator("OptimizedInlineCompiler", **_INLINE_OPTIONS)
allocating_kernel: Any = _make_decorator("KernelCompiler", nogil=True)
