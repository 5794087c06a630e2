"""Bet sizes as players write them, and their conversion to whole chips.

    52%       of the pot; a raise: on top of the bet faced, of the pot once that is called
    2.5x      times the bet faced; raises only
    100c      chips; a raise: on top of the bet faced
    a         all-in
    2e   e    geometric: the same share of the pot on two streets (on all remaining streets) puts the stack in
    3e200%    the same, but at most 200 % of the pot

A list is separated by commas. Shares are exact fractions, so that halves are always rounded up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TypeAlias

from riverboat.core.errors import InputError, short_repr

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_SIZE = re.compile(
    rf"(?P<number>{_NUMBER})(?P<kind>[%xc])|(?P<all>a)|(?P<streets>{_NUMBER})?e(?:(?P<cap>{_NUMBER})%)?", re.IGNORECASE
)
_SHARE = re.compile(rf"\s*({_NUMBER})\s*%\s*")
MAX_SIZE_NUMBER = 10**16  # largest number in a size
SIZE_SYNTAX = "write 52% of the pot, 2.5x the bet faced, 100c chips, a for all-in, or 2e geometric over two streets"


@dataclass(frozen=True)
class BetSize:
    """A bet size of a menu."""

    kind: str  # % x c a e
    number: Decimal = Decimal(0)  # percent, factor, chips, or streets (0: all remaining); unused for a
    cap: Decimal | None = None  # percent of the pot, for e

    @cached_property
    def ratio(self) -> tuple[int, int]:
        """Factor of the pot or of the bet faced, as numerator and denominator."""
        return (Fraction(self.number) / (100 if self.kind == "%" else 1)).as_integer_ratio()

    def __str__(self) -> str:
        if self.kind == "a":
            return "a"
        if self.kind == "e":
            return f"{_format_decimal(self.number) if self.number else ''}e" + (
                f"{_format_decimal(self.cap)}%" if self.cap else ""
            )
        return f"{_format_decimal(self.number)}{self.kind}"


BetSizes: TypeAlias = tuple[BetSize, ...]


@dataclass(frozen=True)
class MenuThresholds:
    """Thresholds for adding all-in to a menu and for merging close sizes; shares of the pot in percent."""

    add_all_in: Decimal = Decimal(0)
    force_all_in: Decimal = Decimal(0)
    merge: Decimal = Decimal(0)

    @cached_property
    def ratios(self) -> tuple[tuple[int, int], ...]:
        """Thresholds of adding all-in, forcing it, and merging sizes: numerators and denominators of pot shares."""
        return tuple((Fraction(t) / 100).as_integer_ratio() for t in (self.add_all_in, self.force_all_in, self.merge))


NO_THRESHOLDS = MenuThresholds()


@dataclass(frozen=True)
class SizingContext:
    """Amounts that bet sizes refer to, in whole chips; totals are those of one player on this street."""

    pot: int  # once the bet faced is called
    bet_faced: int  # total of the opponent; 0 before the first bet
    last_raise: int  # increment of the last bet or raise; 0 before the first bet
    stack: int  # the largest possible total: all-in
    streets_left: int  # including this one


# --- parsing and formatting ---


def parse_sizes(text: str, where: str = "sizes", *, facing_bet: bool = True) -> BetSizes:
    """Parse a list of sizes such as `33%, 2e, a`; an empty text has none.

    `facing_bet` allows multiples of a bet, such as `2.5x`; `where` names the text in error messages.
    """
    if not isinstance(text, str):
        raise InputError(f"{where} = {short_repr(text)}: must be a text, such as '33%, 75%'")
    tokens = [token.strip() for token in text.split(",")] if text.strip() else []
    return tuple(
        _parse_size(token, f"{where}: size {short_repr(token)} (number {n} of {short_repr(text)})", facing_bet)
        for n, token in enumerate(tokens, 1)
    )


def _parse_size(token: str, where: str, facing_bet: bool) -> BetSize:
    match = _SIZE.fullmatch(token)
    if match is None:
        raise InputError(f"{where}: {SIZE_SYNTAX}")
    if match["all"]:
        return BetSize("a")
    kind = match["kind"].lower() if match["kind"] else "e"
    number = _decimal(match["number"] or match["streets"] or "0")
    if kind == "e":
        cap = None if match["cap"] is None else _decimal(match["cap"])
        if match["streets"] is not None and (number < 1 or number != int(number)):
            raise InputError(
                f"{where}: the number of streets must be a whole number of at least 1; write e for all remaining streets"
            )
        if cap is not None and cap <= 0:
            raise InputError(
                f"{where}: at most {_format_decimal(cap)}% of the pot is no bet; the cap must be above zero"
            )
        return BetSize("e", number, cap)
    if number > MAX_SIZE_NUMBER:
        raise InputError(f"{where}: the number is too large; write a for all-in")
    if number <= 0:
        raise InputError(f"{where}: a bet must be above zero; omit the size for no bet")
    if kind == "x" and not facing_bet:
        raise InputError(f"{where}: there is no bet to raise here; x is for raises, write a bet as 52% or 100c")
    if kind == "x" and number <= 1:
        raise InputError(
            f"{where}: a raise to {_format_decimal(number)} times the bet is not a raise; write more than 1x"
        )
    if kind == "c" and number != int(number):
        raise InputError(f"{where}: chips are whole numbers; multiply all amounts by the same number")
    return BetSize(kind, number)


def format_sizes(sizes: BetSizes) -> str:
    """Format sizes so that `parse_sizes` reads them: `33%, 2e, a`."""
    return ", ".join(str(size) for size in sizes)


def parse_share(text: str, where: str) -> Decimal:
    """Parse a share of the pot, 150 from `150%`."""
    match = _SHARE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"{where} = {short_repr(text)}: write a share of the pot in quotes, such as '100%'")
    share = _decimal(match[1])
    if share < 0:
        raise InputError(f"{where} = {short_repr(text)}: must not be negative; '0%' switches it off")
    return share


def format_share(share: Decimal) -> str:
    """Format a share of the pot as `150%`."""
    return f"{_format_decimal(share)}%"


def _decimal(text: str) -> Decimal:
    return Decimal(text).normalize()


def _format_decimal(number: Decimal) -> str:
    return f"{number.normalize():f}"


# --- conversion to chips ---


def min_raise_total(context: SizingContext) -> int:
    """Return the total of the smallest legal bet or raise; less only if it is all-in."""
    return min(context.bet_faced + max(1, context.last_raise), context.stack)


def size_total(size: BetSize, context: SizingContext) -> int:
    """Return the player's total on this street for a size, not yet limited to the minimum raise and the stack."""
    if size.kind == "a":
        return context.stack
    if size.kind == "x":
        return _scale_chips(context.bet_faced, size)
    if size.kind == "c":
        return context.bet_faced + int(size.number)
    if size.kind == "%":
        return context.bet_faced + _scale_chips(context.pot, size)
    # (1 + 2 f)^streets = 1 + 2 stack / pot: a bet of f pots on every street, called each time, puts the stack in.
    streets = int(size.number) or context.streets_left
    share = ((1 + 2 * (context.stack - context.bet_faced) / context.pot) ** (1 / streets) - 1) / 2
    if size.cap is not None:
        share = min(share, float(size.cap) / 100)
    return int(context.bet_faced + floor(context.pot * share + 0.5))


def _scale_chips(chips: int, size: BetSize) -> int:
    """Multiply chips by the ratio of a size, rounded to the nearest integer, halves up."""
    numerator, denominator = size.ratio
    return (2 * numerator * chips + denominator) // (2 * denominator)


def resolve_sizes(
    sizes: BetSizes, context: SizingContext, thresholds: MenuThresholds = NO_THRESHOLDS
) -> tuple[int, ...]:
    """Return the totals on this street that a menu allows, ascending and distinct; `context.stack` is all-in.

    Sizes below the minimum raise are increased to it, and those above the stack become all-in. `force_all_in`: so does
    a size that would leave less than this share of the pot behind after a call. `add_all_in`: all-in is added if it is
    at most this share of the pot. `merge`: going down from the largest size X, a size Y is dropped if
    (pot + X) / (pot + Y) < 1 + merge.
    """
    if context.bet_faced >= context.stack:
        return ()
    (add, add_of), (force, force_of), (merge, merge_of) = thresholds.ratios
    pot, faced, stack, least = context.pot, context.bet_faced, context.stack, min_raise_total(context)
    totals = {min(max(size_total(size, context), least), stack) for size in sizes}
    if force:
        totals = {stack if (stack - t) * force_of < force * (pot + 2 * (t - faced)) else t for t in totals}
    if (stack - faced) * add_of <= add * pot:
        totals.add(stack)
    distinct: list[int] = []
    for t in sorted(totals, reverse=True):
        if not distinct or (pot + distinct[-1] - faced) * merge_of >= (merge_of + merge) * (pot + t - faced):
            distinct.append(t)
    return tuple(reversed(distinct))
