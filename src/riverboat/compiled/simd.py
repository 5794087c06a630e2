"""SIMD vectors of sixteen numbers as values in compiled loops.

LLVM vectorizes simple loops by itself, but not the loop over hands at a showdown, where the cards of a hand decide
which sums are read and written. With sixteen terminals side by side that loop is plain arithmetic on whole vectors.
`SimdType` makes such a vector a Numba value: `load` and `store` move it, `+ - * /` and a few functions work on it. LLVM
maps it to the registers of the machine.

Sixteen are too many where few terminals are alike. `load_native`, `store_native` and `broadcast_native` use the width
of the array's type (`native_width`): sixteen for float32, for large work, and four for float64, for small and exact
work.

Arrays are addressed flat, by unsigned offsets.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic

SIMD_WIDTH = 16
_FLAGS = ("contract", "nsz")  # fused multiply-add: the same code everywhere, so the same result everywhere
_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)


class SimdType(types.Type):
    """Numba type of a SIMD vector."""

    def __init__(self, dtype: Any, count: int = SIMD_WIDTH) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Simd({dtype}, {count})")


def native_width(itemsize: int) -> int:
    """Return the vector width for numbers of `itemsize` bytes."""
    return SIMD_WIDTH if itemsize < 8 else 4


@register_default(SimdType)
class _SimdModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: SimdType) -> None:
        super().__init__(manager, kind, _vector(kind.dtype, kind.count))


def _vector(dtype: Any, count: int = SIMD_WIDTH) -> ir.VectorType:
    elements = {types.float32: ir.FloatType(), types.float64: ir.DoubleType(), types.uint16: _I16, types.int16: _I16}
    return ir.VectorType(elements[dtype], count)


def _vector_pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any, count: int = SIMD_WIDTH) -> Any:
    """Return a pointer to the vector at an offset of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _vector(kind.dtype, count).as_pointer())


def _mask(builder: Any, count: Any) -> Any:
    """Return a mask of sixteen elements that selects the first `count`."""
    return builder.icmp_unsigned("<", _integers(range(SIMD_WIDTH)), _splat(builder, builder.trunc(count, _I32)))


def _splat(builder: Any, x: Any, count: int = SIMD_WIDTH) -> Any:
    """Return a vector with the same number in every element."""
    kind = ir.VectorType(x.type, count)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), x, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(_I32, count), None))


def _make_load(count: Callable[[Any], int], doc: str) -> Any:
    def load(_context: Any, array: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            x = builder.load(_vector_pointer(context, builder, sig.args[0], args[0], args[1], count(array)))
            x.align = array.dtype.bitwidth // 8
            return x

        return SimdType(array.dtype, count(array))(array, types.uintp), code

    load.__doc__ = doc
    return intrinsic(load)


def _make_store(count: Callable[[Any], int], doc: str) -> Any:
    def store(_context: Any, array: Any, at: Any, x: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _vector_pointer(context, builder, sig.args[0], args[0], args[1], count(array))
            builder.store(args[2], pointer).align = array.dtype.bitwidth // 8
            return context.get_dummy_value()

        return types.void(array, types.uintp, x), code

    store.__doc__ = doc
    return intrinsic(store)


def _make_broadcast(count: Callable[[Any], int], doc: str) -> Any:
    def same(_context: Any, array: Any, x: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _splat(builder, args[1], count(array))

        return SimdType(array.dtype, count(array))(array, array.dtype), code

    same.__doc__ = doc
    return intrinsic(same)


def _full_width(_array: Any) -> int:
    return SIMD_WIDTH


def _array_native_width(array: Any) -> int:
    return native_width(array.dtype.bitwidth // 8)


load = _make_load(_full_width, "Load sixteen numbers from offset `at`.")
store = _make_store(_full_width, "Store sixteen numbers at offset `at`.")
broadcast = _make_broadcast(_full_width, "Return a vector of sixteen equal numbers, of the array's type.")
load_native = _make_load(_array_native_width, "Load a vector of the array's native width from offset `at`.")
store_native = _make_store(_array_native_width, "Store a vector of the array's native width at offset `at`.")
broadcast_native = _make_broadcast(
    _array_native_width, "Return a vector of equal numbers, of the array's native width and type."
)


@intrinsic
def native_width_of(_context: Any, array: Any) -> Any:
    """Return the native vector width of an array, a constant at compile time."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(_I64, _array_native_width(array))

    return types.uint64(array), code


def _operator(function: Any, instruction: str) -> None:
    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], SimdType) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args, flags=_FLAGS)

    lower_builtin(function, SimdType, SimdType)(lower)


for _name, _instruction in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
    _operator(getattr(operator, _name), _instruction)


@intrinsic
def maximum(_context: Any, x: Any, y: Any) -> Any:
    """Return the element-wise maximum of two vectors."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return x(x, y), code


@intrinsic
def select_greater(_context: Any, x: Any, bound: Any, yes: Any, no: Any) -> Any:
    """Return `yes` where x > bound, else `no`, element by element."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return yes(x, bound, yes, no), code


@intrinsic
def transpose(_context: Any, source: Any, source_at: Any, out: Any, out_at: Any, shift: Any) -> Any:
    """Transpose sixteen vectors of sixteen: element j of vector k becomes element k of vector j.

    `source_at` and `out_at` are arrays of sixteen offsets, to which `shift` is added, or one offset of consecutive
    vectors.
    """

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kinds = sig.args

        def pointer(array: int, k: int) -> Any:
            offset = array + 1
            if isinstance(kinds[offset], types.Array):
                offsets = context.make_array(kinds[offset])(context, builder, args[offset]).data
                at = builder.add(builder.load(builder.gep(offsets, [ir.Constant(_I64, k)])), args[4])
            else:
                at = builder.add(args[offset], ir.Constant(_I64, k * SIMD_WIDTH))
            return _vector_pointer(context, builder, kinds[array], args[array], at)

        align = source.dtype.bitwidth // 8
        rows = [builder.load(pointer(0, k)) for k in range(SIMD_WIDTH)]
        for row in rows:
            row.align = align
        for k, row in enumerate(_transpose_square(builder, rows)):
            builder.store(row, pointer(2, k)).align = align
        return context.get_dummy_value()

    offset_types = [a if isinstance(a, types.Array) else types.uintp for a in (source_at, out_at)]
    return types.void(source, offset_types[0], out, offset_types[1], types.uintp), code


def _transpose_square(builder: Any, rows: list[Any]) -> list[Any]:
    """Transpose a square of vectors by exchanging blocks of 1, 2, 4 and 8."""
    step = 1
    while step < SIMD_WIDTH:
        low = [j if not j & step else (j ^ step) + SIMD_WIDTH for j in range(SIMD_WIDTH)]
        high = [(j | step) if not j & step else j + SIMD_WIDTH for j in range(SIMD_WIDTH)]
        for i in (i for i in range(SIMD_WIDTH) if not i & step):
            pair = rows[i], rows[i | step]
            rows[i] = builder.shuffle_vector(*pair, _integers(low))
            rows[i | step] = builder.shuffle_vector(*pair, _integers(high))
        step *= 2
    return rows


def _integers(numbers: Iterable[int]) -> ir.Constant:
    """Return a constant vector of 32-bit integers."""
    return ir.Constant(ir.VectorType(_I32, SIMD_WIDTH), [ir.Constant(_I32, n) for n in numbers])


# --- tables ---
# Table rows have no padding, so the last vector of a row is loaded and stored under a mask. Tables hold float64,
# float32, or 16-bit codes: uint16 for numbers in [0, 2) with 5 bits of exponent and 11 of mantissa, int16 for numbers
# in (-2, 2) with a sign and one bit of mantissa less. The smallest unit is 2^-31; smaller numbers become zero.

CODE_BIAS = 96 << 23  # the bits of 2^-31 as a float32
DROPPED_BITS = {True: 13, False: 12}  # bits of a float32 that a code drops, by whether it is signed
# 2^32 / golden ratio and / plastic number: evenly spread thresholds over entries and steps
ENTRY_DITHER, STEP_DITHER = 2654435769, 3242174889


def _constant(builder: Any, like: Any, number: float) -> Any:
    """Return a constant of the LLVM type of `like`, a number or a vector, whose elements then are all equal."""
    if not isinstance(like.type, ir.VectorType):
        return ir.Constant(like.type, number)
    return _splat(builder, ir.Constant(like.type.element, number), like.type.count)


def _elements(like: Any, element: Any) -> Any:
    """Return the LLVM type `element`, or a vector type of it if `like` is a vector, with as many elements."""
    return ir.VectorType(element, like.type.count) if isinstance(like.type, ir.VectorType) else element


def decode_code(builder: Any, x: Any, signed: bool) -> Any:
    """Decode a 16-bit code, or a vector of codes, to float32."""
    wide = builder.zext(x, _elements(x, _I32))
    size = builder.and_(wide, _constant(builder, wide, 0x7FFF)) if signed else wide
    size = builder.shl(size, _constant(builder, wide, DROPPED_BITS[signed]))
    size = builder.bitcast(builder.add(size, _constant(builder, wide, CODE_BIAS)), _elements(x, ir.FloatType()))
    size = builder.fsub(size, _constant(builder, size, 2.0**-31))
    if not signed:
        return size
    sign = builder.shl(builder.lshr(wide, _constant(builder, wide, 15)), _constant(builder, wide, 31))
    return builder.bitcast(builder.or_(builder.bitcast(size, sign.type), sign), size.type)


def encode_code(builder: Any, x: Any, threshold: Any, signed: bool) -> Any:
    """Encode a float32, or a vector of them, as 16-bit codes, clipped to the largest code.

    `threshold` is added to the bits that are dropped, so it determines which numbers are rounded up.
    """
    bits = builder.bitcast(x, _elements(x, _I32))
    size = builder.bitcast(builder.and_(bits, _constant(builder, bits, 0x7FFFFFFF)), x.type)
    size = builder.bitcast(builder.fadd(size, _constant(builder, x, 2.0**-31)), bits.type)
    size = builder.add(builder.sub(size, _constant(builder, bits, CODE_BIAS)), threshold)
    largest = _constant(builder, bits, (1 << 28) - 1)
    size = builder.select(builder.icmp_signed("<", size, largest), size, largest)
    code = builder.lshr(size, _constant(builder, bits, DROPPED_BITS[signed]))
    if signed:
        sign = builder.shl(builder.lshr(bits, _constant(builder, bits, 31)), _constant(builder, bits, 15))
        code = builder.or_(code, sign)
    return builder.trunc(code, _elements(x, _I16))


def _threshold(builder: Any, at: Any, step: Any, shift: int) -> Any:
    """Return dither for sixteen table entries from offset `at`, to be added before rounding off `shift` bits.

    Over the steps (iterations) the dither of an entry is spread evenly.
    """
    numbers = _integers([k * ENTRY_DITHER % 2**32 for k in range(SIMD_WIDTH)])
    first = builder.mul(builder.trunc(at, _I32), _I32(ENTRY_DITHER))
    first = builder.add(first, builder.mul(builder.trunc(step, _I32), _I32(STEP_DITHER)))
    return builder.lshr(builder.add(_splat(builder, first), numbers), _constant(builder, numbers, 32 - shift))


def decode_codes(codes: Any) -> Any:
    """Decode 16-bit codes outside of compiled loops to float32; return other arrays unchanged."""
    if codes.dtype.itemsize != 2:
        return codes
    signed = codes.dtype.kind == "i"
    bits = codes.view(np.uint16).astype(np.uint32)
    size = (((bits & 0x7FFF) << 13) if signed else (bits << 12)) + np.uint32(CODE_BIAS)
    values = size.view(np.float32) - np.float32(2.0**-31)
    return np.where(bits >> 15, -values, values) if signed else values


def _is_full(builder: Any, count: Any) -> Any:
    """Return whether all sixteen elements are valid: then no mask is used, since few CPUs support all masked moves."""
    return builder.icmp_unsigned(">=", count, ir.Constant(count.type, SIMD_WIDTH))


def _call_masked(builder: Any, name: str, vector: ir.VectorType, result: Any, arguments: list[Any]) -> Any:
    """Call `llvm.masked.load` or `llvm.masked.store`."""
    element = {_I16: "i16", ir.FloatType(): "f32", ir.DoubleType(): "f64"}[vector.element]
    return _call_llvm(builder, f"masked.{name}.v{SIMD_WIDTH}{element}.p0", result, arguments)


def _call_llvm(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Call an intrinsic of LLVM."""
    kind, full = ir.FunctionType(result, [a.type for a in arguments]), f"llvm.{name}"
    return builder.call(builder.module.globals.get(full) or ir.Function(builder.module, kind, full), arguments)


@intrinsic
def load_masked(_context: Any, table: Any, at: Any, count: Any) -> Any:
    """Load the first `count` numbers from offset `at` of a table, followed by zeros."""
    short = table.dtype.bitwidth == 16

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = _vector(table.dtype)
        pointer = _vector_pointer(context, builder, sig.args[0], args[0], args[1])
        align = ir.Constant(_I32, table.dtype.bitwidth // 8)
        with builder.if_else(_is_full(builder, args[2]), likely=True) as (then, otherwise):
            with then:
                full = builder.load(pointer)
                full.align = table.dtype.bitwidth // 8
                first = builder.block
            with otherwise:
                mask = _mask(builder, args[2])
                part = _call_masked(builder, "load", vector, vector, [pointer, align, mask, ir.Constant(vector, None)])
                second = builder.block
        x = builder.phi(vector)
        x.add_incoming(full, first)
        x.add_incoming(part, second)
        return decode_code(builder, x, table.dtype.signed) if short else x

    result = SimdType(types.float32 if short else table.dtype)
    return result(table, types.uintp, types.uintp), code


@intrinsic
def prefetch(_context: Any, table: Any, at: Any) -> Any:
    """Prefetch the cache line at an offset of a table. Offsets beyond its end have no effect."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        options = [ir.Constant(_I32, n) for n in (0, 3, 1)]  # read, keep near, data
        _call_llvm(builder, "prefetch.p0", ir.VoidType(), [pointer, *options])
        return context.get_dummy_value()

    return types.void(table, types.uintp), code


@intrinsic
def store_masked(_context: Any, table: Any, at: Any, x: Any, count: Any, step: Any) -> Any:
    """Store the first `count` numbers at offset `at` of a table; 16-bit codes are rounded by the dither of `step`."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = _vector(table.dtype)
        pointer = _vector_pointer(context, builder, sig.args[0], args[0], args[1])
        align = ir.Constant(_I32, table.dtype.bitwidth // 8)
        value = args[2]
        if table.dtype.bitwidth == 16:
            signed = table.dtype.signed
            value = encode_code(builder, value, _threshold(builder, args[1], args[4], DROPPED_BITS[signed]), signed)
        with builder.if_else(_is_full(builder, args[3]), likely=True) as (then, otherwise):
            with then:
                builder.store(value, pointer).align = table.dtype.bitwidth // 8
            with otherwise:
                _call_masked(builder, "store", vector, ir.VoidType(), [value, pointer, align, _mask(builder, args[3])])
        return context.get_dummy_value()

    return types.void(table, types.uintp, x, types.uintp, types.uintp), code
