"""Cells of the tables of sampled solvers: four bytes (float32), or two.

Two bytes are a sign, five bits of exponent and ten of mantissa for regrets, five and eleven for averages, for numbers below
two in steps of 2^-41 and finer than 1 in 1,000 (the format of `riverboat.compiled.simd`, whose `decode` reads whole arrays). What
does not fit between two steps is rounded up or down at random, by how near it is: sums stay right on average, though a term
may be far below the step of its sum. Averages of four bytes are rounded in the same way, since past 2^24 a float32 would not
grow by one any more. What is beyond the largest number of two bytes stays at it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from riverboat.compiled.jit import kernel

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_F32, _F64 = ir.FloatType(), ir.DoubleType()
_BIAS = 96 << 23  # the bits of 2^-31 as a float32
_SHIFTS = {True: 13, False: 12}  # bits of a float32 that are dropped: signed, unsigned


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [at])


def _decode(builder: Any, code: Any, signed: bool) -> Any:
    """A float32 from sixteen bits."""
    wide = builder.zext(code, _I32)
    size = builder.and_(wide, _I32(0x7FFF)) if signed else wide
    size = builder.add(builder.shl(size, _I32(_SHIFTS[signed])), _I32(_BIAS))
    size = builder.fsub(builder.bitcast(size, _F32), ir.Constant(_F32, 2.0**-31))
    if not signed:
        return size
    sign = builder.shl(builder.lshr(wide, _I32(15)), _I32(31))
    return builder.bitcast(builder.or_(builder.bitcast(size, _I32), sign), _F32)


def _encode(builder: Any, x: Any, noise: Any, signed: bool) -> Any:
    """Sixteen bits from a float32, rounded by the low bits of `noise`."""
    shift = _SHIFTS[signed]
    bits = builder.bitcast(x, _I32)
    size = builder.bitcast(builder.and_(bits, _I32(0x7FFFFFFF)), _F32)
    size = builder.bitcast(builder.fadd(size, ir.Constant(_F32, 2.0**-31)), _I32)
    size = builder.add(builder.sub(size, _I32(_BIAS)), builder.and_(noise, _I32((1 << shift) - 1)))
    most = _I32((1 << 28) - 1)
    code = builder.lshr(builder.select(builder.icmp_unsigned("<", size, most), size, most), _I32(shift))
    if signed:
        code = builder.or_(code, builder.shl(builder.lshr(bits, _I32(31)), _I32(15)))
    return builder.trunc(code, _I16)


@intrinsic
def regret_at(_context: Any, cells: Any, at: Any) -> Any:
    """A regret, as float32."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x = builder.load(_place(context, builder, sig.args[0], *args))
        return _decode(builder, x, True) if cells.dtype.bitwidth == 16 else x

    return types.float32(cells, types.uintp), code


@intrinsic
def set_regret(_context: Any, cells: Any, at: Any, x: Any, noise: Any) -> Any:
    """Write a regret; `noise` is 32 random bits."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = _encode(builder, args[2], args[3], True) if cells.dtype.bitwidth == 16 else args[2]
        builder.store(value, _place(context, builder, sig.args[0], *args[:2]))
        return context.get_dummy_value()

    return types.void(cells, types.uintp, types.float32, types.uint32), code


@intrinsic
def average_at(_context: Any, cells: Any, at: Any) -> Any:
    """A weight of the average strategy, as float64."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x = builder.load(_place(context, builder, sig.args[0], *args))
        return builder.fpext(_decode(builder, x, False) if cells.dtype.bitwidth == 16 else x, _F64)

    return types.float64(cells, types.uintp), code


@intrinsic
def set_average(_context: Any, cells: Any, at: Any, x: Any, noise: Any) -> Any:
    """Write a weight of the average strategy, a float64 of zero or more; `noise` is 32 random bits."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if cells.dtype.bitwidth == 16:
            value = _encode(builder, builder.fptrunc(args[2], _F32), args[3], False)
        else:  # 29 bits of a float64 do not fit: add noise to them, then cut them off
            noise64 = builder.and_(builder.zext(args[3], _I64), _I64((1 << 29) - 1))
            bits = builder.and_(builder.add(builder.bitcast(args[2], _I64), noise64), _I64(-(1 << 29)))
            value = builder.fptrunc(builder.bitcast(bits, _F64), _F32)
        builder.store(value, _place(context, builder, sig.args[0], *args[:2]))
        return context.get_dummy_value()

    return types.void(cells, types.uintp, types.float64, types.uint32), code


# --- whole tables -----------------------------------------------------------------------------
# A row holds the decisions of one street for one bucket; a decision its regrets, then its averages.


class Factors(NamedTuple):
    """Of a period."""

    positive: Any  # float32: on regrets above zero
    negative: Any  # float32: on those below
    decay: float  # on averages


@kernel
def discount(
    cells,  # float32 or uint16 [cells + 1] INOUT
    base,  # cell where rows begin
    width,  # cells of a row
    first,
    end,  # rows first … end - 1
    slot,  # int32 [decisions]: cells of a row before a decision's
    count,  # int8 [decisions]: moves
    factors,  # Factors
    seed,  # uint64: for rounding
):
    """Multiply regrets and averages by the factors of a period."""
    for row in range(first, end):
        for d in range(len(slot)):
            at = np.uint64(base + row * width + slot[d])
            moves = np.uint64(count[d])
            for a in range(moves):
                cell = at + np.uint64(a)
                z = (seed + cell) * np.uint64(0x9E3779B97F4A7C15)
                z = (z ^ (z >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
                x = regret_at(cells, cell)
                factor = factors.positive if x > 0 else factors.negative
                set_regret(cells, cell, x * factor, np.uint32(z >> np.uint64(32)))
                share = average_at(cells, cell + moves) * factors.decay
                set_average(cells, cell + moves, share, np.uint32(z >> np.uint64(32)))


@kernel
def strategies(
    cells,  # float32 or uint16 [cells + 1]
    base,
    width,
    rows,  # int64 [rows]: which
    slot,  # int32 [decisions]
    count,  # int8 [decisions]
    averages,  # whether averages are wanted, or what regrets say now
    out,  # float32 [rows, width / 2] OUT
):
    """Probabilities of the moves, uniform where nothing is known."""
    for i in range(len(rows)):
        for d in range(len(slot)):
            at = np.uint64(base + rows[i] * width + slot[d])
            moves = np.uint64(count[d])
            total = 0.0
            for a in range(moves):
                cell = at + np.uint64(a)
                x = average_at(cells, cell + moves) if averages else max(np.float64(regret_at(cells, cell)), 0.0)
                out[i, slot[d] // 2 + a] = x
                total += x
            for a in range(moves):
                to = slot[d] // 2 + a
                out[i, to] = out[i, to] / total if total > 0 else 1.0 / moves


@kernel
def survey(
    cells,  # float32 or uint16 [cells + 1]
    base,
    width,
    rows,  # int64 [rows]: which
    slot,  # int32 [decisions]
    count,  # int8 [decisions]
    seat,  # int8 [decisions]
    regret,  # float64 [2] INOUT: sums over information sets of the largest regret above zero, by seat
):
    """How many information sets have been visited, and their regrets."""
    touched = 0
    for i in range(len(rows)):
        for d in range(len(slot)):
            at = np.uint64(base + rows[i] * width + slot[d])
            moves = np.uint64(count[d])
            some = False
            most = np.float32(0)
            for a in range(moves):
                x = regret_at(cells, at + np.uint64(a))
                some = some or x != 0 or average_at(cells, at + moves + np.uint64(a)) != 0
                most = max(most, x)
            touched += some
            regret[seat[d]] += most
    return touched
