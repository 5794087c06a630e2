"""Sixteen numbers as one value, and the formats of tables: what is written comes back, and nothing else is touched."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from numba import njit

from riverboat.compiled.atomics import take
from riverboat.compiled.simd import (
    LANES,
    decode,
    fetch,
    fitting,
    keep,
    lanes_of,
    larger,
    load,
    load_fitting,
    same,
    same_fitting,
    store,
    store_fitting,
    transpose,
    where_above,
)
from riverboat.core.arrays import Array

pytestmark = pytest.mark.smoke

U = np.uint64
FORMATS = ("float64", "float32", "uint16", "int16")
UNIT = 2.0**-31  # the smallest step of the 16-bit formats is a part of it
FRACTION = {"uint16": 11, "int16": 10}  # bits of the mantissa


@njit
def write(table, at, numbers, some, turn=1):
    keep(table, U(at), load(numbers, U(0)), U(some), U(turn))


@njit
def follow(table, numbers, first, last, out, frozen=False):
    """Means of numbers [turns, 16], weighted as by a schedule: `table` holds them between turns, `out` when read."""
    for t in range(first, last):
        store(out, U(0), fetch(table, U(0), U(LANES)))
        for k in range(LANES):
            out[k] += (numbers[t - first, k] - out[k]) * (4 / (t + 4))
        keep(table, U(0), load(out, U(0)), U(LANES), U(0 if frozen else t))


@njit
def read(table, at, some, out):
    store(out, U(0), fetch(table, U(at), U(some)))


def work(dtype: str) -> Any:
    """What numbers of a table are computed in."""
    return np.float64 if dtype == "float64" else np.float32


def through(dtype: str, numbers: Array, turn: int = 1) -> Array:
    """Numbers written to a table and read again, sixteen at a time."""
    padded = np.zeros(-(-len(numbers) // LANES) * LANES, work(dtype))
    padded[: len(numbers)] = numbers
    table, out = np.zeros(len(padded), dtype), np.empty_like(padded)
    for at in range(0, len(padded), LANES):
        write(table, at, padded[at:].copy(), LANES, turn)
        read(table, at, LANES, out[at:])
    np.testing.assert_array_equal(decode(table), out)  # outside of loops it reads the same
    return out[: len(numbers)]


def all_codes(dtype: str) -> Array:
    """Every number that a 16-bit format has."""
    return decode(np.arange(65_536).astype(np.uint16).view(dtype))


# --- formats ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_floats_come_back_as_they_are(dtype: str) -> None:
    numbers = np.random.default_rng(1).normal(size=100).astype(dtype) * work(dtype)(1e20)
    np.testing.assert_array_equal(through(dtype, numbers), numbers)


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_every_16_bit_number_comes_back_as_it_is(dtype: str) -> None:
    numbers = all_codes(dtype)
    assert numbers.dtype == np.float32
    np.testing.assert_array_equal(through(dtype, numbers), numbers)


def test_what_16_bit_numbers_mean() -> None:
    """2^e (1 + m / 2^bits) - 2^-31, by hand: the exponents are -31 … 0."""
    for dtype, bits in FRACTION.items():
        codes = np.arange(1 << (5 + bits))
        by_hand = 2.0 ** (codes // 2**bits - 31.0) * (1 + codes % 2**bits / 2**bits) - UNIT
        np.testing.assert_allclose(decode(codes.astype(np.uint16).view(dtype)), by_hand, rtol=1e-7, atol=0)
    whole = all_codes("int16")
    np.testing.assert_array_equal(whole[32_768:], -whole[:32_768])
    assert decode(np.arange(3.0)).dtype == np.float64  # other arrays are left alone


@pytest.mark.parametrize("turn", [1, 2, 77, 10**6])
@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_16_bit_numbers_are_neighbours(dtype: str, turn: int) -> None:
    """What is between two numbers of the format becomes one of the two: a step is 2^-11 of it, with a sign 2^-10."""
    rng = np.random.default_rng(2)
    numbers = (2.0 ** rng.uniform(-33, 0.99, 20_000)).astype(np.float32)
    if dtype == "int16":
        numbers *= rng.choice([-1, 1], len(numbers)).astype(np.float32)
    found = through(dtype, numbers, turn)
    grid = np.sort(np.unique(all_codes(dtype).astype(float)))
    right = np.searchsorted(grid, numbers).clip(1, len(grid) - 1)
    # float32 arithmetic on |x| + 2^-31 rounds once more: 2^-24 of it
    slack = 2.0**-23 * (np.abs(numbers) + UNIT)
    assert np.all(found >= grid[right - 1] - slack)
    assert np.all(found <= grid[right] + slack)
    large = np.abs(numbers) > 2.0**-20
    assert np.abs(found / numbers - 1)[large].max() <= 2.0 ** -FRACTION[dtype] * 1.001


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_rounding_is_right_over_the_turns(dtype: str) -> None:
    """Over 500 turns each number is rounded up as often as it lies above the lower one, to a hundredth of a step."""
    numbers = np.random.default_rng(4).uniform(0.1, 1.9, 320).astype(np.float32)
    mean = np.mean([through(dtype, numbers, turn) for turn in range(1, 501)], axis=0)
    step = 2.0 ** (np.floor(np.log2(numbers)) - FRACTION[dtype])
    assert np.abs((mean - numbers) / step).max() < 0.012


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_means_go_on_moving(dtype: str) -> None:
    """A mean over many turns whose steps are far below what sixteen bits can hold: it ends near the true one.

    Rounded by the same threshold every time it stops: at turn 100,000 one turn is 1/25,000 of
    the distance, a step of the format 1/2,000.
    """
    rng, turns = np.random.default_rng(5), 100_000
    middle, swing, pace = (rng.uniform(a, b, LANES) for a, b in ((0.2, 0.8), (0.05, 0.2), (3.0, 40.0)))
    t = np.arange(1, turns + 1)[:, None]
    numbers = middle + swing * np.sin(pace * np.log(t)) * (1 - t / turns)  # as strategies do: in circles, ever slower
    table, out, exact = np.zeros(LANES, dtype), np.zeros(LANES, np.float32), np.zeros(LANES)
    follow(table, numbers, 1, turns + 1, out)
    follow(exact, numbers, 1, turns + 1, np.zeros(LANES))
    bound = 3 * 2.0 ** -FRACTION[dtype]
    assert np.abs(decode(table) / exact - 1).max() < bound
    follow(table := np.zeros(LANES, dtype), numbers, 1, turns + 1, out, True)
    assert np.abs(decode(table) / exact - 1).max() > 3 * bound  # the turns are what does it


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_ends_of_the_16_bit_range(dtype: str) -> None:
    top = float(all_codes(dtype).max())
    assert 2 - 2.0 ** (1 - FRACTION[dtype]) < top < 2
    large = np.array([0.0, 1.0, top, 2.0, 5.0, 1e30, np.inf], np.float32)
    np.testing.assert_allclose(through(dtype, large), [0, 1, top, top, top, top, top], rtol=2.0**-11)
    assert through(dtype, np.zeros(3)).tolist() == [0.0, 0.0, 0.0]  # zero is zero, not the unit
    tiny = np.array([2.0**-58, -(2.0**-58)], np.float32)
    assert (through(dtype, tiny[: 1 if dtype == "uint16" else 2]) == 0).all()
    if dtype == "int16":
        np.testing.assert_array_equal(through(dtype, -large), -through(dtype, large))
        assert np.sign(through(dtype, np.array([-1e-6, 1e-6]))).tolist() == [-1, 1]


@pytest.mark.parametrize("dtype", FORMATS)
def test_order_is_kept(dtype: str) -> None:
    """Numbers that lie more than a step apart never turn round: regret matching compares them."""
    step = 2.0 ** -FRACTION[dtype] if dtype in FRACTION else 1e-3
    numbers = np.arange(0, 1.9, 1.01 * step).astype(work(dtype))
    assert np.all(np.diff(through(dtype, numbers)) >= 0)


@pytest.mark.parametrize("dtype", FORMATS)
def test_a_part_of_a_vector_leaves_the_rest_alone(dtype: str) -> None:
    numbers = (0.25 + 3 / 32 * np.arange(LANES)).astype(work(dtype))
    written = through(dtype, numbers)
    fresh = np.arange(1, 3 * LANES + 1).astype(dtype)
    for at in (0, 1, 7, LANES):
        for some in range(LANES + 1):
            table = fresh.copy()
            write(table, at, numbers, some)
            inside = np.zeros(len(table), bool)
            inside[at : at + some] = True
            np.testing.assert_array_equal(table[~inside], fresh[~inside])
            np.testing.assert_array_equal(decode(table[inside]), written[:some])
            out = np.full(LANES, -1, work(dtype))
            read(table, at, some, out)
            np.testing.assert_array_equal(out[:some], written[:some])
            assert not out[some:].any()  # zeros behind, whatever lies there


@pytest.mark.parametrize("dtype", FORMATS)
def test_the_last_vector_may_end_with_the_table(dtype: str) -> None:
    """A masked move does not touch what lies behind: here the end of a page that cannot be read."""
    import ctypes
    import mmap

    page = mmap.PAGESIZE
    room = mmap.mmap(-1, 2 * page)
    place = ctypes.addressof(ctypes.c_char.from_buffer(room))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(place + page, page, 0) == 0
    try:
        table = np.frombuffer(room, dtype, count=page // np.dtype(dtype).itemsize)
        numbers = (0.25 + 3 / 32 * np.arange(LANES)).astype(work(dtype))
        out = np.empty(LANES, work(dtype))
        write(table, len(table) - 5, numbers, 5)
        read(table, len(table) - 5, 5, out)
        np.testing.assert_array_equal(out[:5], through(dtype, numbers)[:5])
        assert not out[5:].any()
    finally:
        assert protect(place + page, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0


# --- arithmetic -------------------------------------------------------------------------------


@njit
def arithmetic(x, y, out):
    a, b, n = load(x, U(0)), load(y, U(0)), U(LANES)
    store(out, U(0), a + b)
    store(out, n, a - b)
    store(out, U(2) * n, a * b)
    store(out, U(3) * n, a / b)
    store(out, U(4) * n, larger(a, b))
    store(out, U(5) * n, where_above(a, same(x, x.dtype.type(0.5)), b, a))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arithmetic_is_that_of_numpy(dtype: str) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, LANES)).astype(dtype)
    x[3] = y[3]
    out = np.empty(6 * LANES, dtype)
    arithmetic(x, y, out)
    for got, function in zip(
        out.reshape(6, LANES), (operator.add, operator.sub, operator.mul, operator.truediv, np.maximum), strict=False
    ):
        np.testing.assert_array_equal(got, function(x, y))
    np.testing.assert_array_equal(out[5 * LANES :], np.where(x > 0.5, y, x))


@njit
def turn_blocks(source, source_at, out, out_at, shift):
    transpose(source, source_at, out, out_at, shift)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_transpose(dtype: str) -> None:
    rng = np.random.default_rng(5)
    square = rng.normal(size=(LANES, LANES)).astype(dtype)
    out = np.zeros(LANES * LANES + 3, dtype)
    turn_blocks(square.ravel(), U(0), out, U(2), U(0))  # one after the other, both ways
    np.testing.assert_array_equal(out[2:-1].reshape(LANES, LANES), square.T)
    assert (out[:2] == 0).all()
    assert out[-1] == 0
    # pieces at offsets, in any order, with a shift, into pieces one after the other and back
    stride, shift = 40, 16
    offsets = rng.permutation(LANES).astype(np.int64) * stride
    scattered = rng.normal(size=LANES * stride + shift).astype(dtype)
    pieces = np.array([scattered[o + shift : o + shift + LANES] for o in offsets])
    turned = np.zeros(LANES * LANES, dtype)
    turn_blocks(scattered, offsets, turned, U(0), U(shift))
    np.testing.assert_array_equal(turned.reshape(LANES, LANES), pieces.T)
    again = np.zeros_like(scattered)
    turn_blocks(turned, U(0), again, offsets, U(shift))
    for o, piece in zip(offsets, pieces, strict=True):
        np.testing.assert_array_equal(again[o + shift : o + shift + LANES], piece)
        assert not again[o : o + shift].any()


# --- the counter ------------------------------------------------------------------------------


@njit(nogil=True)
def take_many(counter, limit, out):
    count = 0
    while True:
        k = take(counter)
        if k >= limit:
            return count
        out[k] += 1
        count += 1


def test_threads_never_get_the_same_number() -> None:
    from concurrent.futures import ThreadPoolExecutor

    counter, taken = np.zeros(1, np.int64), np.zeros(200_000, np.int8)
    take_many(np.zeros(1, np.int64), 1, np.zeros(1, np.int8))  # compiled before the race
    with ThreadPoolExecutor(3) as pool:
        counts = [pool.submit(take_many, counter, len(taken), taken) for _ in range(3)]
    assert sum(f.result() for f in counts) == len(taken)
    assert (taken == 1).all()
    assert counter[0] == len(taken) + 3


@njit
def add_one(numbers, at):
    store_fitting(numbers, U(at), load_fitting(numbers, U(at)) + same_fitting(numbers, numbers.dtype.type(1)))
    return lanes_of(numbers)


@pytest.mark.parametrize(("dtype", "count"), [("float32", 16), ("float64", 4)])
def test_the_type_says_how_many_fit(dtype: str, count: int) -> None:
    numbers = np.zeros(40, dtype)
    assert add_one(numbers, 5) == count == fitting(numbers.itemsize)
    assert numbers.tolist() == [0] * 5 + [1] * count + [0] * (35 - count)
