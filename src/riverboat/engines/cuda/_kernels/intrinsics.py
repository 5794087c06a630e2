"""Device intrinsics, and number formats of tables on a GPU: plain, or 16-bit codes of `riverboat.compiled.simd`."""

import os

import numpy as np

from riverboat.compiled.simd import CODE_BIAS, DROPPED_BITS, ENTRY_DITHER, STEP_DITHER

vars(np).setdefault("row_stack", np.vstack)  # removed in NumPy 2.4, but numba-cuda still imports it
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")  # a small game has few blocks, which needs no warning

from numba import cuda as cuda  # noqa: E402

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
MIN_UNIT = np.float32(2.0**-31)  # unit of the smallest number
MAX_CODE = np.int32((1 << 28) - 1)
LOW_32_BITS = np.uint64(0xFFFFFFFF)
ENTRY_FACTOR, STEP_FACTOR = np.uint64(ENTRY_DITHER), np.uint64(STEP_DITHER)
SIGNED, UNSIGNED = np.uint32(DROPPED_BITS[True]), np.uint32(DROPPED_BITS[False])
UP_SIGNED, UP_UNSIGNED = np.uint32(32 - DROPPED_BITS[True]), np.uint32(32 - DROPPED_BITS[False])

if SIMULATED:

    def int_as_float(x):
        """Return the float32 with these bits."""
        return np.int32(x).view(np.float32)

    def float_as_int(x):
        """Return the bits of a float32."""
        return int(np.float32(x).view(np.int32))

    def divide_approximately(x, y):
        """Divide two float32."""
        return x / y

    def prefetch(table, at, count):
        """Do nothing: the simulator has no caches."""

    def load4(memory, at):
        """Load four consecutive numbers."""
        return memory[at], memory[at + np.uint64(1)], memory[at + np.uint64(2)], memory[at + np.uint64(3)]

    def store4(memory, at, a, b, c, d):
        """Store four consecutive numbers."""
        memory[at], memory[at + np.uint64(1)], memory[at + np.uint64(2)], memory[at + np.uint64(3)] = a, b, c, d

else:
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic
    from numba.cuda.libdevice import fast_fdividef as divide_approximately
    from numba.cuda.libdevice import float_as_int, int_as_float

    @intrinsic
    def prefetch(context, table, at, count):
        """Prefetch consecutive numbers of a table into the L2 cache of the device."""

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

    def vector_pointer(context, builder, kind, array, at):
        """Return the type of a vector of four numbers, and a pointer to the one at an offset that four divides."""
        cells = context.make_array(kind)(context, builder, array)
        whole = ir.VectorType(context.get_data_type(kind.dtype), 4)
        return whole, builder.bitcast(builder.gep(cells.data, [at]), whole.as_pointer())

    @intrinsic
    def load4(context, memory, at):
        """Load four consecutive numbers."""

        def code(context, builder, signature, arguments):
            _, place = vector_pointer(context, builder, memory, *arguments)
            cells = builder.load(place, align=16)
            numbers = [builder.extract_element(cells, ir.IntType(32)(k)) for k in range(4)]
            return context.make_tuple(builder, signature.return_type, numbers)

        return types.UniTuple(memory.dtype, 4)(memory, types.uint64), code

    @intrinsic
    def store4(context, memory, at, a, b, c, d):
        """Store four consecutive numbers."""

        def code(context, builder, signature, arguments):
            whole, place = vector_pointer(context, builder, memory, *arguments[:2])
            cells = ir.Constant(whole, ir.Undefined)
            for k, number in enumerate(arguments[2:]):
                cells = builder.insert_element(cells, number, ir.IntType(32)(k))
            builder.store(cells, place, align=16)
            return context.get_dummy_value()

        return types.void(memory, types.uint64, *[memory.dtype] * 4), code


def load_entry(table, at):
    """Load a number of a float table."""
    return table[at]


def store_entry(table, at, x, turn):
    """Store a number in a float table; `turn` is not used."""
    table[at] = x


def divide(x, y):
    """Divide two float64."""
    return x / y


def divide_fast(x, y):
    """Divide two float32; the last bit may differ."""
    return divide_approximately(x, y)


def load_unsigned(table, at):
    """Load a 16-bit code as a number in [0, 2)."""
    return int_as_float(np.int32((np.int32(table[at]) << 12) + CODE_BIAS)) - MIN_UNIT


def load_signed(table, at):
    """Load a 16-bit code as a number in (-2, 2)."""
    bits = np.int32(table[at])
    size = int_as_float(np.int32(((bits & 0x7FFF) << 13) + CODE_BIAS)) - MIN_UNIT
    return -size if bits < 0 else size


def rounding_threshold(at, turn, bits):
    """Return the dither of table entry `at` at iteration `turn`: a number of 32 - `bits` bits."""
    first = np.uint64(np.uint32(at)) * ENTRY_FACTOR & LOW_32_BITS
    second = np.uint64(np.uint32(turn)) * STEP_FACTOR & LOW_32_BITS
    return np.uint32((first + second) & LOW_32_BITS) >> bits


def store_unsigned(table, at, x, turn):
    """Store a number in [0, 2) as a 16-bit code, with dithered rounding."""
    size = np.int32(float_as_int(np.float32(abs(x) + MIN_UNIT)) - CODE_BIAS)
    size = min(np.int32(size + np.int32(rounding_threshold(at, turn, UP_UNSIGNED))), MAX_CODE)
    table[at] = np.uint32(size) >> UNSIGNED


def store_signed(table, at, x, turn):
    """Store a number in (-2, 2) as a 16-bit code, with dithered rounding."""
    size = np.int32(float_as_int(np.float32(abs(x) + MIN_UNIT)) - CODE_BIAS)
    size = min(np.int32(size + np.int32(rounding_threshold(at, turn, UP_SIGNED))), MAX_CODE)
    size = np.int32(np.uint32(size) >> SIGNED)
    table[at] = np.int32(size - 0x8000) if x < 0 else size


CODECS = {"uint16": (load_unsigned, store_unsigned), "int16": (load_signed, store_signed)}
