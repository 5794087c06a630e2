"""A number that threads in compiled loops take turns at."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


@intrinsic
def take(_context: Any, counter: Any) -> Any:
    """The first number of an int64 array, which then grows by one; no two threads get the same."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", place, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counter), code
