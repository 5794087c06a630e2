"""`numba.cuda`, and numbers of tables on a GPU: as they are, or in sixteen bits as `riverboat.lanes` keeps them."""

from __future__ import annotations

import os

import numpy as np

from riverboat.lanes import BIAS, ENTRY, SHIFTS, TURN

vars(np).setdefault("row_stack", np.vstack)  # NumPy 2.4 took it away, and numba-cuda still asks for it when imported

from numba import cuda as cuda  # noqa: E402

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
LEAST = np.float32(2.0**-31)  # the unit of the smallest number
MOST = (1 << 28) - 1
BITS = np.uint64(0xFFFFFFFF)
PLACE, TIME = np.uint64(ENTRY), np.uint64(TURN)
SIGNED, UNSIGNED = SHIFTS[True], SHIFTS[False]
UP_SIGNED, UP_UNSIGNED = np.uint64(32 - SIGNED), np.uint64(32 - UNSIGNED)

if SIMULATED:

    def int_as_float(x):
        """The float32 with these bits."""
        return np.int32(x).view(np.float32)

    def float_as_int(x):
        """The bits of a float32."""
        return int(np.float32(x).view(np.int32))

else:
    from numba.cuda.libdevice import float_as_int, int_as_float


def fetch(table, at):
    """A number as it is."""
    return table[at]


def keep(table, at, x, turn):
    """The same way back."""
    table[at] = x


def fetch_unsigned(table, at):
    """A number in [0, 2)."""
    return int_as_float((int(table[at]) << 12) + BIAS) - LEAST


def fetch_signed(table, at):
    """A number in (-2, 2)."""
    bits = int(table[at]) & 0xFFFF
    size = int_as_float(((bits & 0x7FFF) << 13) + BIAS) - LEAST
    return -size if bits >> 15 else size


def keep_unsigned(table, at, x, turn):
    """Rounded by a threshold that steps through all values in turn."""
    add = ((at * PLACE + turn * TIME) & BITS) >> UP_UNSIGNED
    size = min(float_as_int(abs(x) + LEAST) - BIAS + np.int64(add), MOST)
    table[at] = size >> UNSIGNED


def keep_signed(table, at, x, turn):
    """The same with a sign."""
    add = ((at * PLACE + turn * TIME) & BITS) >> UP_SIGNED
    size = min(float_as_int(abs(x) + LEAST) - BIAS + np.int64(add), MOST) >> SIGNED
    table[at] = size - 0x8000 if x < 0 else size


OF = {"uint16": (fetch_unsigned, keep_unsigned), "int16": (fetch_signed, keep_signed)}
