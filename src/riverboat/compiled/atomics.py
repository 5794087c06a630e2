"""Atomic operations for compiled loops."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


@intrinsic
def fetch_add(_context: Any, counter: Any) -> Any:
    """Atomically increment `counter[0]` (int64) and return its old value."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", pointer, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counter), code
