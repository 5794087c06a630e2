"""Cells of the tables of sampling trainers: four bytes (float32), or two bytes.

A two-byte cell has a sign, five bits of exponent and ten of mantissa for regrets, five and eleven for averages. It
holds numbers below two in steps from 2^-41 on, finer than 1 in 1,000 (the format of `riverboat.compiled.simd`, whose
`decode_codes` reads whole arrays). A number between two steps is rounded up or down at random, by its distance to them.
So sums are unbiased, although a term may be far below the step of its sum. Four-byte averages are rounded in the same
way, because beyond 2^24 a float32 no longer grows by one. Numbers beyond the range of two bytes are clipped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from riverboat.compiled.jit import inline, inline_optimized, kernel
from riverboat.compiled.simd import DROPPED_BITS, decode_code, encode_code

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_F32, _F64 = ir.FloatType(), ir.DoubleType()


def _cell_pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [at])


def _encode(builder: Any, x: Any, noise: Any, signed: bool) -> Any:
    """Encode a float32 in sixteen bits, rounded by the low bits of `noise`."""
    return encode_code(builder, x, builder.and_(noise, _I32((1 << DROPPED_BITS[signed]) - 1)), signed)


@intrinsic
def regret_at(_context: Any, cells: Any, at: Any) -> Any:
    """Return a regret as float32."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x = builder.load(_cell_pointer(context, builder, sig.args[0], *args))
        return decode_code(builder, x, True) if cells.dtype.bitwidth == 16 else x

    return types.float32(cells, types.uintp), code


@intrinsic
def set_regret(_context: Any, cells: Any, at: Any, x: Any, noise: Any) -> Any:
    """Write a regret; `noise` is 32 random bits."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = _encode(builder, args[2], args[3], True) if cells.dtype.bitwidth == 16 else args[2]
        builder.store(value, _cell_pointer(context, builder, sig.args[0], *args[:2]))
        return context.get_dummy_value()

    return types.void(cells, types.uintp, types.float32, types.uint32), code


@intrinsic
def average_at(_context: Any, cells: Any, at: Any) -> Any:
    """Return a weight of the average strategy as float64."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x = builder.load(_cell_pointer(context, builder, sig.args[0], *args))
        return builder.fpext(decode_code(builder, x, False) if cells.dtype.bitwidth == 16 else x, _F64)

    return types.float64(cells, types.uintp), code


@intrinsic
def set_average(_context: Any, cells: Any, at: Any, x: Any, noise: Any) -> Any:
    """Write a weight of the average strategy, a float64 of zero or more; `noise` is 32 random bits."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if cells.dtype.bitwidth == 16:
            value = _encode(builder, builder.fptrunc(args[2], _F32), args[3], False)
        else:  # 29 bits of a float64 do not fit: add noise to them, then truncate
            noise64 = builder.and_(builder.zext(args[3], _I64), _I64((1 << 29) - 1))
            bits = builder.and_(builder.add(builder.bitcast(args[2], _I64), noise64), _I64(-(1 << 29)))
            value = builder.fptrunc(builder.bitcast(bits, _F64), _F32)
        builder.store(value, _cell_pointer(context, builder, sig.args[0], *args[:2]))
        return context.get_dummy_value()

    return types.void(cells, types.uintp, types.float64, types.uint32), code


# --- regret matching --------------------------------------------------------------------------


@inline_optimized
def regret_matching_scale(cells, at, count):
    """Return the numbers (scale, rest) of regret matching: an action has probability max(regret, 0) · scale + rest."""
    zero, one = np.float32(0), np.float32(1)
    # Most decisions have two actions, which need no loop.
    total = max(regret_at(cells, at), zero) + max(regret_at(cells, at + np.uint64(1)), zero)
    if count != 2:
        total = zero
        for a in range(count):
            total += max(regret_at(cells, at + np.uint64(a)), zero)
    positive = total > zero
    return one / total if positive else zero, zero if positive else one / np.float32(count)


@inline
def action_probability(cells, cell, scale, rest):
    """Return the probability of the action whose regret is in a cell, from `regret_matching_scale`."""
    return max(regret_at(cells, cell), np.float32(0)) * scale + rest


# --- whole tables -----------------------------------------------------------------------------
# A row holds the decisions of one street for one bucket; a decision its regrets, then its averages.


class DiscountFactors(NamedTuple):
    """Factors by which one discount, at the end of a period, multiplies a table."""

    positive: Any  # float32: on positive regrets
    negative: Any  # float32: on negative regrets
    decay: float  # on averages


@kernel
def discount_rows(
    cells,  # float32 or uint16 [cells + 1] INOUT
    base,  # first cell of the rows
    width,  # cells of a row
    first,
    end,  # rows first … end - 1
    slot,  # int32 [decisions]: offset of a decision in a row
    count,  # int8 [decisions]: number of actions
    factors,  # DiscountFactors
    seed,  # uint64: for rounding
):
    """Multiply regrets and averages by the discount factors of a period."""
    for row in range(first, end):
        for d in range(len(slot)):
            at = np.uint64(base + row * width + slot[d])
            num_actions = np.uint64(count[d])
            for a in range(num_actions):
                cell = at + np.uint64(a)
                z = (seed + cell) * np.uint64(0x9E3779B97F4A7C15)
                z = (z ^ (z >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
                x = regret_at(cells, cell)
                factor = factors.positive if x > 0 else factors.negative
                set_regret(cells, cell, x * factor, np.uint32(z >> np.uint64(32)))
                average = average_at(cells, cell + num_actions) * factors.decay
                set_average(cells, cell + num_actions, average, np.uint32(z >> np.uint64(32)))


@kernel
def read_strategies(
    cells,  # float32 or uint16 [cells + 1]
    base,
    width,
    rows,  # int64 [rows]: indices of rows
    slot,  # int32 [decisions]
    count,  # int8 [decisions]
    averages,  # True: average strategy, False: current strategy from regrets
    out,  # float32 [rows, width / 2] OUT
):
    """Compute the average or the current strategy in some rows, uniform where the table is empty."""
    for i in range(len(rows)):
        for d in range(len(slot)):
            at = np.uint64(base + rows[i] * width + slot[d])
            num_actions = np.uint64(count[d])
            total = 0.0
            for a in range(num_actions):
                cell = at + np.uint64(a)
                x = average_at(cells, cell + num_actions) if averages else max(np.float64(regret_at(cells, cell)), 0.0)
                out[i, slot[d] // 2 + a] = x
                total += x
            for a in range(num_actions):
                to = slot[d] // 2 + a
                out[i, to] = out[i, to] / total if total > 0 else 1.0 / num_actions


@kernel
def survey_rows(
    cells,  # float32 or uint16 [cells + 1]
    base,
    width,
    rows,  # int64 [rows]: indices of rows
    slot,  # int32 [decisions]
    count,  # int8 [decisions]
    seat,  # int8 [decisions]
    regret,  # float64 [2] INOUT: sums over information sets of the largest positive regret, by seat
):
    """Count information sets with a regret or average other than zero, and sum their largest positive regrets."""
    num_visited = 0
    for i in range(len(rows)):
        for d in range(len(slot)):
            at = np.uint64(base + rows[i] * width + slot[d])
            num_actions = np.uint64(count[d])
            visited = False
            max_regret = np.float32(0)
            for a in range(num_actions):
                x = regret_at(cells, at + np.uint64(a))
                visited = visited or x != 0 or average_at(cells, at + num_actions + np.uint64(a)) != 0
                max_regret = max(max_regret, x)
            num_visited += visited
            regret[seat[d]] += max_regret
    return num_visited
