"""Bet sizes as players write them, and what they come to in whole chips.

    52%       of the pot; a raise: on top of the bet faced, of the pot once that is called
    2.5x      times the bet faced; raises only
    100c      chips; a raise: on top of the bet faced
    a         all-in
    2e   e    the same share of the pot on two streets, on all streets that are left, and the stack is in: geometric
    3e200%    the same, but at most 200 % of the pot

A list is separated by commas. Shares are kept as exact fractions, so that halves are rounded up and never by luck.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TypeAlias

from riverboat.core.errors import InputError, shown

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_SIZE = re.compile(
    rf"(?P<number>{_NUMBER})(?P<kind>[%xc])|(?P<all>a)|(?P<streets>{_NUMBER})?e(?:(?P<cap>{_NUMBER})%)?", re.IGNORECASE
)
_SHARE = re.compile(rf"\s*({_NUMBER})\s*%\s*")
MOST = 10**16  # of a number in a size
ALLOWED = "write 52% of the pot, 2.5x the bet faced, 100c chips, a for all-in, or 2e geometric over two streets"


@dataclass(frozen=True)
class Size:
    """One size of a menu."""

    kind: str  # % x c a e
    number: Decimal = Decimal(0)  # percent, factor, chips, streets (0: those that are left); nothing for a
    cap: Decimal | None = None  # percent of the pot, for e

    @cached_property
    def ratio(self) -> tuple[int, int]:
        """What the pot or the bet faced is multiplied by, as a fraction."""
        return (Fraction(self.number) / (100 if self.kind == "%" else 1)).as_integer_ratio()

    def __str__(self) -> str:
        if self.kind == "a":
            return "a"
        if self.kind == "e":
            return f"{_show(self.number) if self.number else ''}e" + (f"{_show(self.cap)}%" if self.cap else "")
        return f"{_show(self.number)}{self.kind}"


Sizes: TypeAlias = tuple[Size, ...]


@dataclass(frozen=True)
class Thresholds:
    """How all-in joins a menu, and which sizes are too close to be kept apart; shares of the pot in percent."""

    add_all_in: Decimal = Decimal(0)
    force_all_in: Decimal = Decimal(0)
    merge: Decimal = Decimal(0)

    @cached_property
    def ratios(self) -> tuple[tuple[int, int], ...]:
        """The three of them as fractions."""
        return tuple((Fraction(t) / 100).as_integer_ratio() for t in (self.add_all_in, self.force_all_in, self.merge))


NO_THRESHOLDS = Thresholds()


@dataclass(frozen=True)
class Situation:
    """What sizes are measured by. Amounts are whole chips; totals are those of one player on this street."""

    pot: int  # in the middle once the bet faced is called
    faced: int  # total of the opponent; 0 before the first bet
    last_raise: int  # what the last bet or raise added; 0 before the first bet
    stack: int  # the highest total that can be reached: all-in
    streets: int  # that are left, this one included


# --- reading and writing ----------------------------------------------------------------------


def parse_sizes(text: str, where: str = "sizes", *, raising: bool = True) -> Sizes:
    """Sizes from a list such as `33%, 2e, a`; an empty text has none. `raising`: whether a bet is faced."""
    if not isinstance(text, str):
        raise InputError(f"{where} = {shown(text)}: must be a text, such as '33%, 75%'")
    tokens = [token.strip() for token in text.split(",")] if text.strip() else []
    return tuple(
        _parse(token, f"{where}: size {shown(token)} (number {n} of {shown(text)})", raising)
        for n, token in enumerate(tokens, 1)
    )


def _parse(token: str, where: str, raising: bool) -> Size:
    match = _SIZE.fullmatch(token)
    if match is None:
        raise InputError(f"{where}: {ALLOWED}")
    if match["all"]:
        return Size("a")
    kind = match["kind"].lower() if match["kind"] else "e"
    number = _decimal(match["number"] or match["streets"] or "0")
    if kind == "e":
        cap = None if match["cap"] is None else _decimal(match["cap"])
        if match["streets"] is not None and (number < 1 or number != int(number)):
            raise InputError(
                f"{where}: geometric over a whole number of streets, at least 1; plain e for all that are left"
            )
        if cap is not None and cap <= 0:
            raise InputError(
                f"{where}: at most {_show(cap)}% of the pot leaves nothing to bet; the cap must be above zero"
            )
        return Size("e", number, cap)
    if number > MOST:
        raise InputError(f"{where}: more than anyone has; write a for all-in")
    if number <= 0:
        raise InputError(f"{where}: a bet must be above zero; leave it out for no bet")
    if kind == "x" and not raising:
        raise InputError(f"{where}: no bet is faced here; x is for raises, write a bet as 52% or 100c")
    if kind == "x" and number <= 1:
        raise InputError(f"{where}: a raise to {_show(number)} times the bet is none; write more than 1x")
    if kind == "c" and number != int(number):
        raise InputError(f"{where}: chips are whole; multiply all amounts until they are")
    return Size(kind, number)


def show_sizes(sizes: Sizes) -> str:
    """`33%, 2e, a`: what `parse_sizes` reads."""
    return ", ".join(str(size) for size in sizes)


def parse_share(text: str, where: str) -> Decimal:
    """150 from `150%`."""
    match = _SHARE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"{where} = {shown(text)}: write a share of the pot in quotes, such as '100%'")
    share = _decimal(match[1])
    if share < 0:
        raise InputError(f"{where} = {shown(text)}: must not be negative; '0%' switches it off")
    return share


def show_share(share: Decimal) -> str:
    """`150%`."""
    return f"{_show(share)}%"


def _decimal(text: str) -> Decimal:
    return Decimal(text).normalize()


def _show(number: Decimal) -> str:
    return f"{number.normalize():f}"


# --- chips ------------------------------------------------------------------------------------


def least_total(at: Situation) -> int:
    """The total of the smallest legal bet or raise; less only when it is all-in."""
    return min(at.faced + max(1, at.last_raise), at.stack)


def total(size: Size, at: Situation) -> int:
    """The total that a size asks for, before it is fitted to the minimum and the stack."""
    if size.kind == "a":
        return at.stack
    if size.kind == "x":
        return _part(at.faced, size)
    if size.kind == "c":
        return at.faced + int(size.number)
    if size.kind == "%":
        return at.faced + _part(at.pot, size)
    # (1 + 2 f)^streets = 1 + 2 stack / pot: f of the pot on every street, and called, brings the stack in.
    streets = int(size.number) or at.streets
    share = ((1 + 2 * (at.stack - at.faced) / at.pot) ** (1 / streets) - 1) / 2
    if size.cap is not None:
        share = min(share, float(size.cap) / 100)
    return int(at.faced + floor(at.pot * share + 0.5))


def _part(chips: int, size: Size) -> int:
    """Chips times the ratio of a size, to the nearest whole number, a half upwards."""
    above, below = size.ratio
    return (2 * above * chips + below) // (2 * below)


def resolve(sizes: Sizes, at: Situation, thresholds: Thresholds = NO_THRESHOLDS) -> tuple[int, ...]:
    """Totals on this street that a menu allows, ascending, without equal ones; `at.stack` is all-in.

    Sizes below the minimum raise become it and those above the stack all-in. `force_all_in`: so does one that would leave
    less than this share of the pot after a call. `add_all_in`: all-in joins when it is at most this share of the pot.
    `merge`: going down from the largest size X, a size Y is dropped when (pot + X) / (pot + Y) < 1 + merge.
    """
    if at.faced >= at.stack:
        return ()
    (add, add_of), (force, force_of), (merge, merge_of) = thresholds.ratios
    pot, faced, stack, least = at.pot, at.faced, at.stack, least_total(at)
    totals = {min(max(total(size, at), least), stack) for size in sizes}
    if force:
        totals = {stack if (stack - t) * force_of < force * (pot + 2 * (t - faced)) else t for t in totals}
    if (stack - faced) * add_of <= add * pot:
        totals.add(stack)
    kept: list[int] = []
    for t in sorted(totals, reverse=True):
        if not kept or (pot + kept[-1] - faced) * merge_of >= (merge_of + merge) * (pot + t - faced):
            kept.append(t)
    return tuple(reversed(kept))
