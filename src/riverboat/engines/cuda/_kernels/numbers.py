"""`numba.cuda`, and numbers of tables on a GPU: as they are, or in sixteen bits as `riverboat.compiled.simd` keeps them."""

from __future__ import annotations

import os

import numpy as np

from riverboat.compiled.simd import BIAS, ENTRY, SHIFTS, TURN

vars(np).setdefault("row_stack", np.vstack)  # NumPy 2.4 took it away, and numba-cuda still asks for it when imported
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")  # a small game has few blocks: no news to anybody

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

    def prefetch(table, at, count):
        """Nothing is near here."""

    def load4(memory, at):
        """Four numbers from one on."""
        return memory[at], memory[at + np.uint64(1)], memory[at + np.uint64(2)], memory[at + np.uint64(3)]

    def store4(memory, at, a, b, c, d):
        """The same way back."""
        memory[at], memory[at + np.uint64(1)], memory[at + np.uint64(2)], memory[at + np.uint64(3)] = a, b, c, d

else:
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic
    from numba.cuda.libdevice import fast_fdividef as quotient
    from numba.cuda.libdevice import float_as_int, int_as_float

    @intrinsic
    def prefetch(context, table, at, count):
        """Ask for numbers of a table, from one on, before they are read: they come to the device's cache meanwhile."""

        def code(context, builder, signature, arguments):
            wide, short = ir.IntType(64), ir.IntType(32)
            cells = context.make_array(signature.args[0])(context, builder, arguments[0])
            begin = builder.ptrtoint(builder.gep(cells.data, [arguments[1]]), wide)
            size = builder.mul(arguments[2], wide(context.get_abi_sizeof(context.get_data_type(table.dtype))))
            end = builder.add(begin, size)
            low = builder.and_(begin, wide(-16))  # whole units of 16 bytes
            bytes_ = builder.trunc(builder.and_(builder.add(builder.sub(end, low), wide(15)), wide(-16)), short)
            kind = ir.FunctionType(ir.VoidType(), [wide, short])
            builder.call(ir.InlineAsm(kind, "cp.async.bulk.prefetch.L2.global [$0], $1;", "l,r", True), [low, bytes_])
            return context.get_dummy_value()

        return types.void(table, types.uint64, types.uint64), code

    def four(context, builder, kind, array, at):
        """Where four numbers begin, the first at a multiple of four: they are moved at once."""
        cells = context.make_array(kind)(context, builder, array)
        whole = ir.VectorType(context.get_data_type(kind.dtype), 4)
        return whole, builder.bitcast(builder.gep(cells.data, [at]), whole.as_pointer())

    @intrinsic
    def load4(context, memory, at):
        """Four numbers from one on."""

        def code(context, builder, signature, arguments):
            _, place = four(context, builder, memory, *arguments)
            cells = builder.load(place, align=16)
            numbers = [builder.extract_element(cells, ir.IntType(32)(k)) for k in range(4)]
            return context.make_tuple(builder, signature.return_type, numbers)

        return types.UniTuple(memory.dtype, 4)(memory, types.uint64), code

    @intrinsic
    def store4(context, memory, at, a, b, c, d):
        """The same way back."""

        def code(context, builder, signature, arguments):
            whole, place = four(context, builder, memory, *arguments[:2])
            cells = ir.Constant(whole, ir.Undefined)
            for k, number in enumerate(arguments[2:]):
                cells = builder.insert_element(cells, number, ir.IntType(32)(k))
            builder.store(cells, place, align=16)
            return context.get_dummy_value()

        return types.void(memory, types.uint64, *[memory.dtype] * 4), code


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
