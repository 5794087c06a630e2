"""Bet sizes: round trips, and their conversion to chips."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverboat.core.errors import InputError
from riverboat.games.holdem.bet_sizes import (
    BetSize,
    MenuThresholds,
    SizingContext,
    format_share,
    format_sizes,
    min_raise_total,
    parse_share,
    parse_sizes,
    resolve_sizes,
    size_total,
)


def opening(pot: int, stack: int, streets: int = 1) -> SizingContext:
    return SizingContext(pot, 0, 0, stack, streets)


def chips(text: str, at: SizingContext, add: str = "0", force: str = "0", merge: str = "0") -> tuple[int, ...]:
    return resolve_sizes(parse_sizes(text), at, MenuThresholds(Decimal(add), Decimal(force), Decimal(merge)))


# --- parsing ---


@pytest.mark.parametrize("text", ["52%", "33.3%, 75%", "2.5x", "100c", "a", "2e", "e", "e150%", "3e200%, a", ""])
def test_texts_round_trip(text: str) -> None:
    assert format_sizes(parse_sizes(text)) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (" 52 % ", None),
        ("52.0%,75.50%", "52%, 75.5%"),
        (" A,E ", "a, e"),
        ("+10%", "10%"),
        ("1e2%", "1e2%"),
        (".5%", "0.5%"),
    ],
)
def test_equivalent_texts(text: str, short: str | None) -> None:
    if short is None:
        with pytest.raises(InputError):
            parse_sizes(text)
    else:
        assert format_sizes(parse_sizes(text)) == short


NUMBERS = st.decimals(min_value="0.01", max_value="5000", places=2).map(lambda d: d.normalize())
SIZES = st.one_of(
    st.builds(BetSize, st.just("%"), NUMBERS),
    st.builds(BetSize, st.just("x"), NUMBERS.filter(lambda d: d > 1)),
    st.builds(BetSize, st.just("c"), st.integers(1, 10**6).map(lambda n: Decimal(n).normalize())),
    st.just(BetSize("a")),
    st.builds(BetSize, st.just("e"), st.integers(0, 4).map(Decimal), st.none() | NUMBERS),
)
MENUS = st.lists(SIZES, max_size=5).map(tuple)


@given(MENUS)
def test_sizes_round_trip(sizes: tuple[BetSize, ...]) -> None:
    assert parse_sizes(format_sizes(sizes)) == sizes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("33%, 0%", ("flop.bet: size '0%' (number 2 of '33%, 0%')",)),
        ("-5%", ("flop.bet: size '-5%'",)),
        ("0c", ("flop.bet: size '0c'",)),
        ("50", ("'50' (number 1 of '50')",)),
        ("33%,,a", ("'' (number 2 of '33%,,a')",)),
        ("2.5e", ("flop.bet: size '2.5e'",)),
        ("0e", ("flop.bet: size '0e'",)),
        ("2e0%", ("flop.bet: size '2e0%'", "cap")),
        ("1x", ("flop.bet: size '1x'",)),
        ("10.5c", ("flop.bet: size '10.5c'",)),
        (50, ("flop.bet = 50",)),
    ],
)
def test_invalid_sizes(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        parse_sizes(text, "flop.bet")
    for word in words:
        assert word in str(caught.value)


def test_multiples_are_for_raises_only() -> None:
    with pytest.raises(InputError, match=r"size '2\.5x'"):
        parse_sizes("2.5x", facing_bet=False)


@pytest.mark.parametrize("text", ["100%", "0%", "12.5%"])
def test_shares(text: str) -> None:
    assert format_share(parse_share(text, "merge")) == text


@pytest.mark.parametrize(
    ("text", "word"), [("-1%", "'-1%'"), ("1.5", r"'1\.5'"), (1.5, r"merge = 1\.5"), ("", "merge = ''")]
)
def test_invalid_shares(text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        parse_share(text, "merge")


# --- chips ---


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("52%", opening(180, 910), (94,)),  # 93.6
        ("45%", SizingContext(368, 94, 94, 910, 3), (260,)),  # 94 + 165.6
        ("50%", opening(25, 100), (13,)),  # 12.5, half up
        ("0.1%", opening(100, 100), (1,)),  # at least a chip
        ("2.5x", SizingContext(400, 100, 100, 900, 1), (250,)),
        ("1.5x", SizingContext(400, 100, 100, 900, 1), (200,)),  # the minimum raise adds as much as the bet did
        ("1.1x", SizingContext(800, 300, 200, 900, 1), (500,)),  # a raise from 100 to 300 added 200
        ("10%", SizingContext(400, 100, 100, 150, 1), (150,)),  # all-in, less than a minimum raise
        ("100c", opening(50, 900), (100,)),
        ("100c", SizingContext(400, 90, 50, 900, 1), (190,)),
        ("a", opening(50, 900), (900,)),
        ("200%, 300%, a", opening(100, 150), (150,)),  # one action
        ("75%, 33%", opening(100, 900), (33, 75)),
        ("50%", SizingContext(400, 100, 100, 100, 1), ()),  # the opponent is all-in
        ("2e", opening(100, 400), (100,)),  # 1 + 2 · 4 = 3²
        ("e", opening(100, 400, streets=2), (100,)),
        ("e", opening(100, 400), (400,)),
        ("e", SizingContext(300, 100, 100, 400, 1), (400,)),
        ("2e80%", opening(100, 400), (80,)),
        ("3e", opening(200, 900), (115,)),  # (10^(1/3) - 1) / 2 = 0.5772
    ],
)
def test_sizes_in_chips(text: str, at: SizingContext, expected: tuple[int, ...]) -> None:
    assert chips(text, at) == expected


@pytest.mark.parametrize(
    ("stack", "add", "expected"),
    [(150, "150", (50, 150)), (151, "150", (50,)), (50, "0", (50,)), (60, "0", (50,))],
)
def test_all_in_is_added_if_it_is_close(stack: int, add: str, expected: tuple[int, ...]) -> None:
    assert chips("50%", opening(100, stack), add=add) == expected


def test_all_in_is_added_to_raises_by_its_increment() -> None:
    assert chips("50%", SizingContext(300, 100, 100, 400, 1), add="100") == (250, 400)
    assert chips("50%", SizingContext(300, 100, 100, 401, 1), add="100") == (250,)


def test_all_in_is_added_to_an_empty_menu() -> None:
    assert chips("", opening(100, 100), add="100") == (100,)
    assert chips("", opening(100, 101), add="100") == ()


@pytest.mark.parametrize(("stack", "expected"), [(79, 79), (80, 50), (81, 50)])
def test_a_size_that_leaves_little_is_all_in(stack: int, expected: int) -> None:
    """After 50 into 100 and a call, 15 % of the pot are 30 chips."""
    assert chips("50%", opening(100, stack), force="15") == (expected,)


@pytest.mark.parametrize(
    ("text", "merge", "expected"),
    [
        ("50%, 60%", "0", (50, 60)),
        ("50%, 60%", "6", (50, 60)),  # 160 / 150 = 1.0667
        ("50%, 60%", "7", (60,)),
        ("10%, 21%", "10", (10, 21)),  # 121 / 110 = 1.1, not less
        ("50%, 55%, 60%", "4", (50, 60)),  # 160 / 155 = 1.032 drops 55; 50 is compared with 60, which stayed
        ("50%, 55%, 60%", "7", (60,)),
    ],
)
def test_sizes_that_are_close_are_merged(text: str, merge: str, expected: tuple[int, ...]) -> None:
    assert chips(text, opening(100, 900), merge=merge) == expected


@st.composite
def situations(draw: st.DrawFn) -> SizingContext:
    faced = draw(st.integers(0, 300))
    raised = draw(st.integers(1, faced)) if faced else 0
    stack = faced + draw(st.integers(0 if faced else 1, 1000))
    pot = draw(st.integers(1, 1000)) + 2 * faced
    return SizingContext(pot, faced, raised, stack, draw(st.integers(1, 3)))


SHARES = st.integers(0, 200).map(Decimal)


@given(MENUS, situations(), st.builds(MenuThresholds, SHARES, SHARES, st.integers(0, 50).map(Decimal)))
def test_totals_are_legal(sizes: tuple[BetSize, ...], at: SizingContext, thresholds: MenuThresholds) -> None:
    totals = resolve_sizes(sizes, at, thresholds)
    assert all(low < high for low, high in pairwise(totals))
    assert all(min_raise_total(at) <= t <= at.stack for t in totals)
    assert bool(totals) <= (at.bet_faced < at.stack)
    assert resolve_sizes(sizes[::-1], at, thresholds) == totals
    assert resolve_sizes(sizes * 2, at, thresholds) == totals
    share = 1 + Fraction(thresholds.merge) / 100
    for low, high in pairwise(totals):
        assert Fraction(at.pot + high - at.bet_faced, at.pot + low - at.bet_faced) >= share
    for t in totals:
        if t < at.stack:
            left, pot = at.stack - t, at.pot + 2 * (t - at.bet_faced)
            assert Fraction(left, pot) >= Fraction(thresholds.force_all_in) / 100
    if at.bet_faced < at.stack and Fraction(at.stack - at.bet_faced, at.pot) <= Fraction(thresholds.add_all_in) / 100:
        assert totals[-1] == at.stack


@given(MENUS, situations())
def test_without_thresholds_all_sizes_are_used(sizes: tuple[BetSize, ...], at: SizingContext) -> None:
    if at.bet_faced < at.stack:
        fitted = {min(max(size_total(size, at), min_raise_total(at)), at.stack) for size in sizes}
        assert resolve_sizes(sizes, at) == tuple(sorted(fitted))


@given(st.integers(1, 1000), st.integers(1, 10**6))
def test_halves_are_rounded_up(percent: int, pot: int) -> None:
    """The nearest integer to percent · pot / 100, by exact fractions; the same for multiples of a bet."""
    nearest = floor(Fraction(percent * pot, 100) + Fraction(1, 2))
    assert size_total(BetSize("%", Decimal(percent)), opening(pot, 1)) == nearest
    faced = SizingContext(pot=1, bet_faced=pot, last_raise=pot, stack=10**9, streets_left=1)
    assert size_total(BetSize("x", Decimal(percent) / 100), faced) == nearest


@given(st.integers(50, 1000), st.integers(1, 20), st.integers(1, 3))
def test_geometric_sizes_put_the_stack_in(pot: int, times: int, streets: int) -> None:
    """With a bet and a call on every street the last bet is all-in, up to rounding."""
    stack = pot * times
    for left in range(streets, 0, -1):
        (bet,) = chips("e", opening(pot, stack, left))
        pot, stack = pot + 2 * bet, stack - bet
    assert stack == 0
