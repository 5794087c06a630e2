"""SIMD vectors and table formats: stored numbers are loaded again, and nothing else is touched."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from numba import njit

from riverboat.compiled.simd import (
    SIMD_WIDTH,
    broadcast,
    broadcast_native,
    decode_codes,
    load,
    load_masked,
    load_native,
    maximum,
    native_width,
    native_width_of,
    select_greater,
    store,
    store_masked,
    store_native,
    transpose,
)
from riverboat.core.arrays import Array

pytestmark = pytest.mark.smoke

U = np.uint64
FORMATS = ("float64", "float32", "uint16", "int16")
UNIT = 2.0**-31  # the smallest step of the 16-bit formats is a fraction of it
FRACTION = {"uint16": 11, "int16": 10}  # bits of the mantissa


@njit
def write(table, at, numbers, some, turn=1):
    store_masked(table, U(at), load(numbers, U(0)), U(some), U(turn))


@njit
def follow(table, numbers, first, last, out, frozen=False):
    """Update weighted means of numbers [turns, 16] as a schedule does, stored in `table` between turns; decode to
    `out`.
    """
    for t in range(first, last):
        store(out, U(0), load_masked(table, U(0), U(SIMD_WIDTH)))
        for k in range(SIMD_WIDTH):
            out[k] += (numbers[t - first, k] - out[k]) * (4 / (t + 4))
        store_masked(table, U(0), load(out, U(0)), U(SIMD_WIDTH), U(0 if frozen else t))


@njit
def read(table, at, some, out):
    store(out, U(0), load_masked(table, U(at), U(some)))


def work(dtype: str) -> Any:
    """Return the dtype in which numbers of a table are computed."""
    return np.float64 if dtype == "float64" else np.float32


def through(dtype: str, numbers: Array, turn: int = 1) -> Array:
    """Store numbers to a table and load them again, sixteen at a time."""
    padded = np.zeros(-(-len(numbers) // SIMD_WIDTH) * SIMD_WIDTH, work(dtype))
    padded[: len(numbers)] = numbers
    table, out = np.zeros(len(padded), dtype), np.empty_like(padded)
    for at in range(0, len(padded), SIMD_WIDTH):
        write(table, at, padded[at:].copy(), SIMD_WIDTH, turn)
        read(table, at, SIMD_WIDTH, out[at:])
    np.testing.assert_array_equal(decode_codes(table), out)  # the same outside of compiled loops
    return out[: len(numbers)]


def all_codes(dtype: str) -> Array:
    """Return every number of a 16-bit format."""
    return decode_codes(np.arange(65_536).astype(np.uint16).view(dtype))


# --- formats ---


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_floats_round_trip(dtype: str) -> None:
    numbers = np.random.default_rng(1).normal(size=100).astype(dtype) * work(dtype)(1e20)
    np.testing.assert_array_equal(through(dtype, numbers), numbers)


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_16_bit_codes_round_trip(dtype: str) -> None:
    numbers = all_codes(dtype)
    assert numbers.dtype == np.float32
    np.testing.assert_array_equal(through(dtype, numbers), numbers)


def test_values_of_16_bit_codes() -> None:
    """2^e (1 + m / 2^bits) - 2^-31, by hand: the exponents are -31 … 0."""
    for dtype, bits in FRACTION.items():
        codes = np.arange(1 << (5 + bits))
        by_hand = 2.0 ** (codes // 2**bits - 31.0) * (1 + codes % 2**bits / 2**bits) - UNIT
        np.testing.assert_allclose(decode_codes(codes.astype(np.uint16).view(dtype)), by_hand, rtol=1e-7, atol=0)
    whole = all_codes("int16")
    np.testing.assert_array_equal(whole[32_768:], -whole[:32_768])
    assert decode_codes(np.arange(3.0)).dtype == np.float64  # other arrays are not converted


@pytest.mark.parametrize("turn", [1, 2, 77, 10**6])
@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_numbers_are_rounded_to_neighbouring_codes(dtype: str, turn: int) -> None:
    """A number between two codes becomes one of the two: a relative step of 2^-11, signed 2^-10."""
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
def test_rounding_is_unbiased_over_the_turns(dtype: str) -> None:
    """Over 500 turns each number is rounded up in proportion to its distance from the lower code, to a hundredth of a
    step.
    """
    numbers = np.random.default_rng(4).uniform(0.1, 1.9, 320).astype(np.float32)
    mean = np.mean([through(dtype, numbers, turn) for turn in range(1, 501)], axis=0)
    step = 2.0 ** (np.floor(np.log2(numbers)) - FRACTION[dtype])
    assert np.abs((mean - numbers) / step).max() < 0.012


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_means_converge_in_16_bits(dtype: str) -> None:
    """A mean over many turns whose steps are far below what sixteen bits can hold: it ends near the true one.

    Rounded by the same threshold every time it stops: at turn 100,000 one turn is 1/25,000 of
    the distance, a step of the format 1/2,000.
    """
    rng, turns = np.random.default_rng(5), 100_000
    middle, swing, pace = (rng.uniform(a, b, SIMD_WIDTH) for a, b in ((0.2, 0.8), (0.05, 0.2), (3.0, 40.0)))
    t = np.arange(1, turns + 1)[:, None]
    numbers = middle + swing * np.sin(pace * np.log(t)) * (1 - t / turns)  # like strategies: in ever slower circles
    table, out, exact = np.zeros(SIMD_WIDTH, dtype), np.zeros(SIMD_WIDTH, np.float32), np.zeros(SIMD_WIDTH)
    follow(table, numbers, 1, turns + 1, out)
    follow(exact, numbers, 1, turns + 1, np.zeros(SIMD_WIDTH))
    bound = 3 * 2.0 ** -FRACTION[dtype]
    assert np.abs(decode_codes(table) / exact - 1).max() < bound
    follow(table := np.zeros(SIMD_WIDTH, dtype), numbers, 1, turns + 1, out, True)
    assert np.abs(decode_codes(table) / exact - 1).max() > 3 * bound  # without dithering over the turns it fails


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
def test_ends_of_the_16_bit_range(dtype: str) -> None:
    top = float(all_codes(dtype).max())
    assert 2 - 2.0 ** (1 - FRACTION[dtype]) < top < 2
    large = np.array([0.0, 1.0, top, 2.0, 5.0, 1e30, np.inf], np.float32)
    np.testing.assert_allclose(through(dtype, large), [0, 1, top, top, top, top, top], rtol=2.0**-11)
    assert through(dtype, np.zeros(3)).tolist() == [0.0, 0.0, 0.0]  # zero is exact
    tiny = np.array([2.0**-58, -(2.0**-58)], np.float32)
    assert (through(dtype, tiny[: 1 if dtype == "uint16" else 2]) == 0).all()
    if dtype == "int16":
        np.testing.assert_array_equal(through(dtype, -large), -through(dtype, large))
        assert np.sign(through(dtype, np.array([-1e-6, 1e-6]))).tolist() == [-1, 1]


@pytest.mark.parametrize("dtype", FORMATS)
def test_order_is_preserved(dtype: str) -> None:
    """Numbers more than a step apart keep their order: regret matching compares them."""
    step = 2.0 ** -FRACTION[dtype] if dtype in FRACTION else 1e-3
    numbers = np.arange(0, 1.9, 1.01 * step).astype(work(dtype))
    assert np.all(np.diff(through(dtype, numbers)) >= 0)


@pytest.mark.parametrize("dtype", FORMATS)
def test_partial_vectors_do_not_touch_the_rest(dtype: str) -> None:
    numbers = (0.25 + 3 / 32 * np.arange(SIMD_WIDTH)).astype(work(dtype))
    written = through(dtype, numbers)
    fresh = np.arange(1, 3 * SIMD_WIDTH + 1).astype(dtype)
    for at in (0, 1, 7, SIMD_WIDTH):
        for some in range(SIMD_WIDTH + 1):
            table = fresh.copy()
            write(table, at, numbers, some)
            inside = np.zeros(len(table), bool)
            inside[at : at + some] = True
            np.testing.assert_array_equal(table[~inside], fresh[~inside])
            np.testing.assert_array_equal(decode_codes(table[inside]), written[:some])
            out = np.full(SIMD_WIDTH, -1, work(dtype))
            read(table, at, some, out)
            np.testing.assert_array_equal(out[:some], written[:some])
            assert not out[some:].any()  # followed by zeros


@pytest.mark.parametrize("dtype", FORMATS)
def test_the_last_vector_may_end_with_the_table(dtype: str) -> None:
    """A masked access does not touch memory behind the table: here the end of a page that cannot be read."""
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
        numbers = (0.25 + 3 / 32 * np.arange(SIMD_WIDTH)).astype(work(dtype))
        out = np.empty(SIMD_WIDTH, work(dtype))
        write(table, len(table) - 5, numbers, 5)
        read(table, len(table) - 5, 5, out)
        np.testing.assert_array_equal(out[:5], through(dtype, numbers)[:5])
        assert not out[5:].any()
    finally:
        assert protect(place + page, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0


# --- arithmetic ---


@njit
def arithmetic(x, y, out):
    a, b, n = load(x, U(0)), load(y, U(0)), U(SIMD_WIDTH)
    store(out, U(0), a + b)
    store(out, n, a - b)
    store(out, U(2) * n, a * b)
    store(out, U(3) * n, a / b)
    store(out, U(4) * n, maximum(a, b))
    store(out, U(5) * n, select_greater(a, broadcast(x, x.dtype.type(0.5)), b, a))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arithmetic_agrees_with_numpy(dtype: str) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, SIMD_WIDTH)).astype(dtype)
    x[3] = y[3]
    out = np.empty(6 * SIMD_WIDTH, dtype)
    arithmetic(x, y, out)
    for got, function in zip(
        out.reshape(6, SIMD_WIDTH),
        (operator.add, operator.sub, operator.mul, operator.truediv, np.maximum),
        strict=False,
    ):
        np.testing.assert_array_equal(got, function(x, y))
    np.testing.assert_array_equal(out[5 * SIMD_WIDTH :], np.where(x > 0.5, y, x))


@njit
def turn_blocks(source, source_at, out, out_at, shift):
    transpose(source, source_at, out, out_at, shift)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_transpose(dtype: str) -> None:
    rng = np.random.default_rng(5)
    square = rng.normal(size=(SIMD_WIDTH, SIMD_WIDTH)).astype(dtype)
    out = np.zeros(SIMD_WIDTH * SIMD_WIDTH + 3, dtype)
    turn_blocks(square.ravel(), U(0), out, U(2), U(0))  # consecutive vectors
    np.testing.assert_array_equal(out[2:-1].reshape(SIMD_WIDTH, SIMD_WIDTH), square.T)
    assert (out[:2] == 0).all()
    assert out[-1] == 0
    # vectors at offsets in any order, with a shift, into consecutive vectors and back
    stride, shift = 40, 16
    offsets = rng.permutation(SIMD_WIDTH).astype(np.int64) * stride
    scattered = rng.normal(size=SIMD_WIDTH * stride + shift).astype(dtype)
    pieces = np.array([scattered[o + shift : o + shift + SIMD_WIDTH] for o in offsets])
    turned = np.zeros(SIMD_WIDTH * SIMD_WIDTH, dtype)
    turn_blocks(scattered, offsets, turned, U(0), U(shift))
    np.testing.assert_array_equal(turned.reshape(SIMD_WIDTH, SIMD_WIDTH), pieces.T)
    again = np.zeros_like(scattered)
    turn_blocks(turned, U(0), again, offsets, U(shift))
    for o, piece in zip(offsets, pieces, strict=True):
        np.testing.assert_array_equal(again[o + shift : o + shift + SIMD_WIDTH], piece)
        assert not again[o : o + shift].any()


@njit
def add_one(numbers, at):
    store_native(numbers, U(at), load_native(numbers, U(at)) + broadcast_native(numbers, numbers.dtype.type(1)))
    return native_width_of(numbers)


@pytest.mark.parametrize(("dtype", "count"), [("float32", 16), ("float64", 4)])
def test_native_width_depends_on_the_type(dtype: str, count: int) -> None:
    numbers = np.zeros(40, dtype)
    assert add_one(numbers, 5) == count == native_width(numbers.itemsize)
    assert numbers.tolist() == [0] * 5 + [1] * count + [0] * (35 - count)
