"""Sixteen numbers as one value in compiled loops.

LLVM vectorises simple loops by itself, but not the sweep over hands at a showdown, where one hand's cards decide which sums
are read and written. With sixteen terminals side by side that sweep is plain arithmetic on whole vectors. `Lanes` makes
such a vector a value of its own in Numba: `load` and `store` move it, `+ - *` and a few functions work on it. LLVM maps it to
whatever registers the machine has.

Sixteen are too many where few terminals are alike. `load_fitting`, `store_fitting` and `same_fitting` move as many as the
type of the array says (`fitting`): sixteen of float32, for large work, and four of float64, for small and exact work.

Arrays are addressed flat, by unsigned offsets.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic

LANES = 16
_FLAGS = ("contract", "nsz")  # fused multiplication: the same code everywhere, so the same result everywhere
_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)


class LanesType(types.Type):
    """Numba's name for sixteen numbers, or for fewer."""

    def __init__(self, dtype: Any, count: int = LANES) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Lanes({dtype}, {count})")


def fitting(itemsize: int) -> int:
    """How many numbers of so many bytes are side by side where the type decides."""
    return LANES if itemsize < 8 else 4


@register_default(LanesType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: LanesType) -> None:
        super().__init__(manager, kind, _vector(kind.dtype, kind.count))


def _vector(dtype: Any, count: int = LANES) -> ir.VectorType:
    elements = {types.float32: ir.FloatType(), types.float64: ir.DoubleType(), types.uint16: _I16, types.int16: _I16}
    return ir.VectorType(elements[dtype], count)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any, count: int = LANES) -> Any:
    """Where the lanes of an array begin."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _vector(kind.dtype, count).as_pointer())


def _mask(builder: Any, some: Any) -> Any:
    """Which lanes are there."""
    numbers = ir.Constant(ir.VectorType(_I32, LANES), [ir.Constant(_I32, k) for k in range(LANES)])
    return builder.icmp_unsigned("<", numbers, _splat(builder, builder.trunc(some, _I32)))


def _splat(builder: Any, x: Any, count: int = LANES) -> Any:
    """One number in every lane."""
    kind = ir.VectorType(x.type, count)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), x, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(_I32, count), None))


def _loading(count: Callable[[Any], int], doc: str) -> Any:
    def load(_context: Any, array: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            x = builder.load(_place(context, builder, sig.args[0], args[0], args[1], count(array)))
            x.align = array.dtype.bitwidth // 8
            return x

        return LanesType(array.dtype, count(array))(array, types.uintp), code

    load.__doc__ = doc
    return intrinsic(load)


def _storing(count: Callable[[Any], int], doc: str) -> Any:
    def store(_context: Any, array: Any, at: Any, x: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            done = builder.store(args[2], _place(context, builder, sig.args[0], args[0], args[1], count(array)))
            done.align = array.dtype.bitwidth // 8
            return context.get_dummy_value()

        return types.void(array, types.uintp, x), code

    store.__doc__ = doc
    return intrinsic(store)


def _spreading(count: Callable[[Any], int], doc: str) -> Any:
    def same(_context: Any, array: Any, x: Any) -> Any:
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _splat(builder, args[1], count(array))

        return LanesType(array.dtype, count(array))(array, array.dtype), code

    same.__doc__ = doc
    return intrinsic(same)


def _sixteen(_array: Any) -> int:
    return LANES


def _fitting(array: Any) -> int:
    return fitting(array.dtype.bitwidth // 8)


load = _loading(_sixteen, "The sixteen numbers from `at` on.")
store = _storing(_sixteen, "Write sixteen numbers.")
same = _spreading(_sixteen, "One number in every lane, of the array's type.")
load_fitting = _loading(_fitting, "As many numbers from `at` on as the array's type says.")
store_fitting = _storing(_fitting, "Write as many numbers as the array's type says.")
same_fitting = _spreading(_fitting, "One number in as many lanes as the array's type says.")


@intrinsic
def lanes_of(_context: Any, array: Any) -> Any:
    """How many that are, known when a loop is compiled."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(_I64, _fitting(array))

    return types.uint64(array), code


def _operator(function: Any, instruction: str) -> None:
    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], LanesType) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args, flags=_FLAGS)

    lower_builtin(function, LanesType, LanesType)(lower)


for _function, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _operator(_function, _instruction)
_operator(operator.truediv, "fdiv")


@intrinsic
def larger(_context: Any, x: Any, y: Any) -> Any:
    """The larger of two, lane by lane."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return x(x, y), code


@intrinsic
def where_above(_context: Any, x: Any, bound: Any, yes: Any, no: Any) -> Any:
    """`yes` where x > bound, else `no`, lane by lane."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return yes(x, bound, yes, no), code


@intrinsic
def transpose(_context: Any, source: Any, source_at: Any, out: Any, out_at: Any, shift: Any) -> Any:
    """Sixteen pieces of sixteen, turned round: number j of piece k becomes number k of piece j.

    Pieces lie at offsets: an array of sixteen, to which `shift` is added, or one number for pieces one after the other.
    """

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kinds = sig.args

        def place(array: int, k: int) -> Any:
            where = array + 1
            if isinstance(kinds[where], types.Array):
                offsets = context.make_array(kinds[where])(context, builder, args[where]).data
                at = builder.add(builder.load(builder.gep(offsets, [ir.Constant(_I64, k)])), args[4])
            else:
                at = builder.add(args[where], ir.Constant(_I64, k * LANES))
            return _place(context, builder, kinds[array], args[array], at)

        align = source.dtype.bitwidth // 8
        rows = [builder.load(place(0, k)) for k in range(LANES)]
        for row in rows:
            row.align = align
        for k, row in enumerate(_turned(builder, rows)):
            builder.store(row, place(2, k)).align = align
        return context.get_dummy_value()

    where = [a if isinstance(a, types.Array) else types.uintp for a in (source_at, out_at)]
    return types.void(source, where[0], out, where[1], types.uintp), code


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """The transpose of a square of vectors, by exchanging blocks of 1, 2, 4 and 8."""
    step = 1
    while step < LANES:
        low = [j if not j & step else (j ^ step) + LANES for j in range(LANES)]
        high = [(j | step) if not j & step else j + LANES for j in range(LANES)]
        for i in (i for i in range(LANES) if not i & step):
            pair = rows[i], rows[i | step]
            rows[i] = builder.shuffle_vector(*pair, _pattern(low))
            rows[i | step] = builder.shuffle_vector(*pair, _pattern(high))
        step *= 2
    return rows


def _pattern(numbers: list[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(_I32, LANES), [ir.Constant(_I32, n) for n in numbers])


# --- tables ---------------------------------------------------------------------------------------------------------
# Tables have no room behind a row, so the last vector of a row is moved under a mask. They hold float64, float32, or
# sixteen bits: uint16 for numbers in [0, 2) as 5 bits of exponent and 11 of mantissa, int16 for numbers in (-2, 2) with a
# sign and one bit of mantissa less. 2^-31 is the unit of the smallest; what is nearer to zero becomes zero.

BIAS = 96 << 23  # the bits of 2^-31 as a float32
SHIFTS = {True: 13, False: 12}  # bits of a float32 that are dropped: signed, unsigned
ENTRY, TURN = (
    2654435769,
    3242174889,
)  # 2^32 / the golden ratio, / the plastic number: turns and entries that spread evenly


def _bits(builder: Any, number: int) -> Any:
    return _splat(builder, ir.Constant(_I32, number))


def _unpack(builder: Any, x: Any, signed: bool) -> Any:
    """Sixteen-bit codes as float32."""
    wide = builder.zext(x, ir.VectorType(_I32, LANES))
    size = builder.and_(wide, _bits(builder, 0x7FFF)) if signed else wide
    size = builder.add(builder.shl(size, _bits(builder, 13 if signed else 12)), _bits(builder, BIAS))
    floats = ir.VectorType(ir.FloatType(), LANES)
    size = builder.fsub(builder.bitcast(size, floats), _splat(builder, ir.Constant(ir.FloatType(), 2.0**-31)))
    if not signed:
        return size
    sign = builder.shl(builder.lshr(wide, _bits(builder, 15)), _bits(builder, 31))
    return builder.bitcast(builder.or_(builder.bitcast(size, sign.type), sign), floats)


def _threshold(builder: Any, at: Any, turn: Any, shift: int) -> Any:
    """What is added to the bits that are dropped, for each lane: `shift` bits that step through all values in turn."""
    numbers = ir.Constant(ir.VectorType(_I32, LANES), [ir.Constant(_I32, k * ENTRY % 2**32) for k in range(LANES)])
    first = builder.mul(builder.trunc(at, _I32), _I32(ENTRY))
    first = builder.add(first, builder.mul(builder.trunc(turn, _I32), _I32(TURN)))
    return builder.lshr(builder.add(_splat(builder, first), numbers), _bits(builder, 32 - shift))


def _pack(builder: Any, x: Any, threshold: Any, signed: bool) -> Any:
    """float32 numbers as sixteen-bit codes, rounded by a threshold, the largest kept where one does not fit."""
    wide = ir.VectorType(_I32, LANES)
    bits = builder.bitcast(x, wide)
    size = builder.bitcast(builder.and_(bits, _bits(builder, 0x7FFFFFFF)), x.type)
    size = builder.bitcast(builder.fadd(size, _splat(builder, ir.Constant(ir.FloatType(), 2.0**-31))), wide)
    shift = SHIFTS[signed]
    size = builder.add(builder.sub(size, _bits(builder, BIAS)), threshold)
    most = _bits(builder, (1 << 28) - 1)
    size = builder.select(builder.icmp_signed("<", size, most), size, most)
    code = builder.lshr(size, _bits(builder, shift))
    if signed:
        code = builder.or_(code, builder.shl(builder.lshr(bits, _bits(builder, 31)), _bits(builder, 15)))
    return builder.trunc(code, ir.VectorType(_I16, LANES))


def decode(codes: Any) -> Any:
    """Sixteen-bit numbers outside of compiled loops, as float32; other arrays as they are."""
    if codes.dtype.itemsize != 2:
        return codes
    signed = codes.dtype.kind == "i"
    bits = codes.view(np.uint16).astype(np.uint32)
    size = (((bits & 0x7FFF) << 13) if signed else (bits << 12)) + np.uint32(BIAS)
    values = size.view(np.float32) - np.float32(2.0**-31)
    return np.where(bits >> 15, -values, values) if signed else values


def _whole(builder: Any, some: Any) -> Any:
    """Whether all sixteen are there: then no mask, which few processors have for all widths."""
    return builder.icmp_unsigned(">=", some, ir.Constant(some.type, LANES))


def _masked(builder: Any, name: str, vector: ir.VectorType, result: Any, arguments: list[Any]) -> Any:
    """Call `llvm.masked.load` or `llvm.masked.store`."""
    element = {_I16: "i16", ir.FloatType(): "f32", ir.DoubleType(): "f64"}[vector.element]
    module, full = builder.module, f"llvm.masked.{name}.v{LANES}{element}.p0"
    kind = ir.FunctionType(result, [a.type for a in arguments])
    function = module.globals.get(full) or ir.Function(module, kind, full)
    return builder.call(function, arguments)


@intrinsic
def fetch(_context: Any, table: Any, at: Any, some: Any) -> Any:
    """The first `some` numbers from `at` on in a table, zeros behind."""
    short = table.dtype.bitwidth == 16

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = _vector(table.dtype)
        place = _place(context, builder, sig.args[0], args[0], args[1])
        align = ir.Constant(_I32, table.dtype.bitwidth // 8)
        with builder.if_else(_whole(builder, args[2]), likely=True) as (then, otherwise):
            with then:
                all_of_it = builder.load(place)
                all_of_it.align = table.dtype.bitwidth // 8
                first = builder.block
            with otherwise:
                mask = _mask(builder, args[2])
                part = _masked(builder, "load", vector, vector, [place, align, mask, ir.Constant(vector, None)])
                second = builder.block
        x = builder.phi(vector)
        x.add_incoming(all_of_it, first)
        x.add_incoming(part, second)
        return _unpack(builder, x, table.dtype.signed) if short else x

    result = LanesType(types.float32 if short else table.dtype)
    return result(table, types.uintp, types.uintp), code


@intrinsic
def prefetch(_context: Any, table: Any, at: Any) -> Any:
    """Ask for the memory around a place of a table, which will be read soon. Beyond its end nothing happens."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, _I32, _I32, _I32])
        function = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(
            builder.module, kind, "llvm.prefetch.p0"
        )
        builder.call(function, [place, *(ir.Constant(_I32, n) for n in (0, 3, 1))])  # read, keep near, data
        return context.get_dummy_value()

    return types.void(table, types.uintp), code


@intrinsic
def keep(_context: Any, table: Any, at: Any, x: Any, some: Any, turn: Any) -> Any:
    """Write the first `some` numbers to a table. What sixteen bits cannot hold is rounded by the threshold of the `turn`."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = _vector(table.dtype)
        place = _place(context, builder, sig.args[0], args[0], args[1])
        align = ir.Constant(_I32, table.dtype.bitwidth // 8)
        value = args[2]
        if table.dtype.bitwidth == 16:
            signed = table.dtype.signed
            value = _pack(builder, value, _threshold(builder, args[1], args[4], SHIFTS[signed]), signed)
        with builder.if_else(_whole(builder, args[3]), likely=True) as (then, otherwise):
            with then:
                builder.store(value, place).align = table.dtype.bitwidth // 8
            with otherwise:
                _masked(builder, "store", vector, ir.VoidType(), [value, place, align, _mask(builder, args[3])])
        return context.get_dummy_value()

    return types.void(table, types.uintp, x, types.uintp, types.uintp), code
