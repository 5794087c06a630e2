"""How loops are compiled, once for the whole project.

Kernels take arrays and allocate nothing, so they need no reference counts: without them (`_nrt=False`) a walk of a small
game is several times faster and quicker to compile. `part` marks the small pieces of a kernel: they are inlined, since a
call that passes a tuple of arrays costs more than the work behind it, and are never called from Python.
"""

from __future__ import annotations

from typing import Any

from numba import njit

# Re-association lets sums use vector registers; NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": FAST, "_nrt": False}
_PART: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

kernel: Any = njit(cache=True, **OPTIONS)
part: Any = njit(cache=True, **OPTIONS, **_PART)
