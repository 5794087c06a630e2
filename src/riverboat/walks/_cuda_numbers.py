"""`numba.cuda`, and numbers of tables on a GPU: as they are, or in sixteen bits as `riverboat.lanes` keeps them."""

from __future__ import annotations

import os

import numpy as np

from riverboat.lanes import BIAS, ENTRY, SHIFTS, TURN

vars(np).setdefault("row_stack", np.vstack)  # NumPy 2.4 took it away, and numba-cuda still asks for it when imported

from numba import cuda as cuda  # noqa: E402

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
LEAST = np.float32(2.0**-31)  # the unit of the smallest number
MOST = np.int32((1 << 28) - 1)
BITS = np.uint64(0xFFFFFFFF)
PLACE, TIME = np.uint64(ENTRY), np.uint64(TURN)
SIGNED, UNSIGNED = np.uint32(SHIFTS[True]), np.uint32(SHIFTS[False])
UP_SIGNED, UP_UNSIGNED = np.uint32(32 - SHIFTS[True]), np.uint32(32 - SHIFTS[False])

if SIMULATED:

    def int_as_float(x):
        """The float32 with these bits."""
        return np.int32(x).view(np.float32)

    def float_as_int(x):
        """The bits of a float32."""
        return int(np.float32(x).view(np.int32))

    def quotient(x, y):
        """Of two float32."""
        return x / y

else:
    from numba.cuda.libdevice import fast_fdividef as quotient
    from numba.cuda.libdevice import float_as_int, int_as_float


def fetch(table, at):
    """A number as it is."""
    return table[at]


def keep(table, at, x, turn):
    """The same way back."""
    table[at] = x


def divide(x, y):
    """Of two float64."""
    return x / y


def divide_fast(x, y):
    """Of two float32: the last bit may differ."""
    return quotient(x, y)


def fetch_unsigned(table, at):
    """A number in [0, 2)."""
    return int_as_float(np.int32((np.int32(table[at]) << 12) + BIAS)) - LEAST


def fetch_signed(table, at):
    """A number in (-2, 2)."""
    bits = np.int32(table[at])
    size = int_as_float(np.int32(((bits & 0x7FFF) << 13) + BIAS)) - LEAST
    return -size if bits < 0 else size


def threshold(at, turn, bits):
    """Steps through all values in turn; 32 bits are all that is needed."""
    first, second = np.uint64(np.uint32(at)) * PLACE & BITS, np.uint64(np.uint32(turn)) * TIME & BITS
    return np.uint32((first + second) & BITS) >> bits


def keep_unsigned(table, at, x, turn):
    """Rounded by a threshold."""
    size = np.int32(float_as_int(np.float32(abs(x) + LEAST)) - BIAS)
    size = min(np.int32(size + np.int32(threshold(at, turn, UP_UNSIGNED))), MOST)
    table[at] = np.uint32(size) >> UNSIGNED


def keep_signed(table, at, x, turn):
    """The same with a sign."""
    size = np.int32(float_as_int(np.float32(abs(x) + LEAST)) - BIAS)
    size = min(np.int32(size + np.int32(threshold(at, turn, UP_SIGNED))), MOST)
    size = np.int32(np.uint32(size) >> SIGNED)
    table[at] = np.int32(size - 0x8000) if x < 0 else size


OF = {"uint16": (fetch_unsigned, keep_unsigned), "int16": (fetch_signed, keep_signed)}
