"""Ranges: a weight from 0 to 1 for each of the 1326 hands, written as players write them.

    AA  AKs  AKo  AK       a pair, suited, offsuit, both
    QQ+                    this pair and higher ones
    KTs+                   the kicker rises to just below the first card: KTs, KJs, KQs; so 76s+ is 76s
    88-55  A9s-A6s         pairs, kickers, from one to the other in either direction
    98o-65o                both cards fall together: 98o, 87o, 76o, 65o
    AsKs                   one hand
    random  *  any two     every hand
    AKs:0.5                any of these with a weight; 0 takes hands out

Tokens are separated by commas, semicolons or white space. A later token overrides an earlier one for the hands in both.
`@name` reads a text file, where `#` starts a comment. Case does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS, RANKS, SUITS, hand_index
from riverboat.cards.grid import CLASS_OF_HAND, Grid, class_of
from riverboat.cards.notation import Cards, as_board, as_hand, parse_hand, show_hand
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown
from riverboat.core.text_files import MOST_TOML, read_text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

_TOKEN = re.compile(r"any\s+two[^\s,;]*|[^\s,;]+", re.IGNORECASE)
_CLASS = re.compile(rf"([{RANKS}])([{RANKS}])([so]?)", re.IGNORECASE)
_HAND = re.compile(rf"([{RANKS}][{SUITS}]){{2}}", re.IGNORECASE)
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_EVERY = re.compile(r"random|\*|any(\s+two)?", re.IGNORECASE)
_ALLOWED = "write hands such as QQ, QQ+, 88-55, AK, AKs, KTs+, A5s-A2s, 98o-65o, AsKs or random, with :0.5 for a weight"
_KINDS = ("", "s", "o")

Cells: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Range:
    """How often each hand is held: `Range.parse("QQ+,AKs,A5s-A2s:0.5")`."""

    weights: Array  # float64 [1326], 0 to 1, in the order of HAND_CARDS; read-only

    def __post_init__(self) -> None:
        weights = np.array(self.weights, np.float64) + 0.0  # no negative zeros, which differ in bytes
        if weights.shape != (HANDS,):
            raise InputError(f"range of shape {weights.shape}: {HANDS} weights are needed")
        wrong = np.flatnonzero(~((weights >= 0) & (weights <= 1)))
        if len(wrong):
            raise InputError(f"range: weight {weights[wrong[0]]} of {show_hand(wrong[0])}: 0 to 1 is allowed")
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    @staticmethod
    def parse(text: str, *, allow_empty: bool = False) -> Range:
        """A range from its text, or from a file as `@name`."""
        if text.lstrip().startswith("@"):
            name = text.strip()[1:]
            return _read(_contents(name), lambda: f"range file {name}", allow_empty)
        return _read(text, lambda: f"range {_short(text)!r}", allow_empty)

    @staticmethod
    def from_weights(weights: Array) -> Range:
        """A range from 1326 weights in the order of `HAND_CARDS`, 2d2c 2h2c 2h2d …: PioSOLVER's order too."""
        return Range(weights)

    @property
    def combos(self) -> float:
        """The sum of the weights."""
        return fsum(self.weights)

    @property
    def percent(self) -> float:
        """Combos as a share of all hands."""
        return 100 * self.combos / HANDS

    def weight(self, hand: Cards) -> float:
        """The weight of one hand, such as `AsKs`."""
        return float(self.weights[hand_index(*as_hand(hand))])

    def __getitem__(self, token: str) -> float:
        """The average weight of what a token stands for, such as `AKs` or `QQ+`."""
        try:
            return float(self.weights[_hands(token.strip())].mean())
        except ValueError as error:
            raise InputError(f"hands {shown(token)}: {error}") from None

    def class_weights(self, board: Cards = ()) -> Array:
        """Average weights over the hands of each class that the board leaves. float64 [13, 13], as in a grid"""
        live = _live(board)
        sums = np.bincount(CLASS_OF_HAND[live], self.weights[live], 169)
        count = np.bincount(CLASS_OF_HAND[live], minlength=169)
        return np.minimum(sums / np.maximum(count, 1), 1.0).reshape(13, 13)

    def remove(self, board: Cards) -> Range:
        """The range without the hands that hold a card of the board."""
        return Range(np.where(_live(board), self.weights, 0.0))

    def __or__(self, other: Range) -> Range:
        return Range(np.maximum(self.weights, other.weights)) if isinstance(other, Range) else NotImplemented

    def __and__(self, other: Range) -> Range:
        return Range(np.minimum(self.weights, other.weights)) if isinstance(other, Range) else NotImplemented

    def __mul__(self, factor: float) -> Range:
        return Range(self.weights * factor) if isinstance(factor, int | float) else NotImplemented

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash(self.weights.tobytes())

    def __str__(self) -> str:
        return self.text()

    def text(self, board: Cards = (), digits: int | None = None) -> str:
        """As it is written, weights to so many digits.

        With a board, hands that it blocks count for nothing: they are written as the other hands of their class are,
        where those are alike, and are left out otherwise.
        """
        weights = self.weights if digits is None else np.round(self.weights, digits) + 0.0
        live = _live(board)
        lowest, highest = np.ones(169), np.zeros(169)
        np.minimum.at(lowest, CLASS_OF_HAND[live], weights[live])
        np.maximum.at(highest, CLASS_OF_HAND[live], weights[live])
        alike = np.where(lowest == highest, lowest, 0.0)[CLASS_OF_HAND]
        return _write(np.where(live, weights, alike))

    def __repr__(self) -> str:
        return f"Range({str(self)!r})"

    def grid(self, board: Cards = (), title: str = "") -> Grid:
        """The range as a 13 × 13 grid."""
        return Grid(self.class_weights(board), title=title)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        yield self.grid()
        yield Text(self._summary())

    def _repr_html_(self) -> str:
        return f"{self.grid()._repr_html_()}<div>{self._summary()}</div>"

    def _summary(self) -> str:
        return f"{self.combos:,.6g} combos, {self.percent:.2f} % of all hands"


def _live(board: Cards) -> Array:
    """Which hands hold no card of the board. bool [1326]"""
    blocked = np.isin(HAND_CARDS, as_board(board))
    return ~(blocked[:, 0] | blocked[:, 1])


# --- reading ----------------------------------------------------------------------------------


def _contents(name: str) -> str:
    """The text of a range file, comments blanked so that positions stay."""
    try:
        text = read_text(Path(name).expanduser(), "range file", MOST_TOML)
    except RuntimeError:  # no home for ~
        raise InputError(f"range file {shown(name)}: nobody has such a home folder") from None
    return re.sub(r"#[^\n]*", "", text)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _read(text: str, where: Callable[[], str], allow_empty: bool) -> Range:
    weights = np.zeros(HANDS)
    for match in _TOKEN.finditer(text):
        token = match.group()
        try:
            hands, weight = _weighted(token)
        except ValueError as error:
            line, start = text.count("\n", 0, match.start()), text.rfind("\n", 0, match.start()) + 1
            place = f"line {line + 1}, position" if "\n" in text else "position"
            raise InputError(
                f"{where()}: token {shown(token)} at {place} {match.start() - start + 1}: {error}"
            ) from None
        weights[hands] = weight
    if not allow_empty and not weights.any():
        raise InputError(f"{where()}: no hands in it; {_ALLOWED}")
    return Range(weights)


def _weighted(token: str) -> tuple[Array, float]:
    """The hands of a token and their weight."""
    name, colon, number = token.partition(":")
    if not colon:
        return _hands(name), 1.0
    if not _NUMBER.fullmatch(number) or float(number) > 1:
        raise ValueError(f"weight {shown(number)} must be a number from 0 to 1")
    return _hands(name), float(number)


def _hands(name: str) -> Array:
    """The numbers of the hands that a token without its weight stands for."""
    if _EVERY.fullmatch(name):
        return np.arange(HANDS)
    if _HAND.fullmatch(name):
        if name[:2].lower() == name[2:].lower():
            raise ValueError("this is the same card twice")
        return np.array([hand_index(*parse_hand(name))])
    return np.flatnonzero(np.isin(CLASS_OF_HAND, _cells(name)))


def _cells(name: str) -> list[int]:
    """The cells of a group of hands."""
    first, dash, last = name.partition("-")
    high, low, kind = _ranks(first.removesuffix("+") if not dash else first)
    if first.endswith("+") and not dash:
        if high == low:
            return [class_of(rank, rank, False) for rank in range(low, 13)]
        return [cell for kicker in range(low, high) for cell in _cell(high, kicker, kind)]
    if not dash:
        return list(_cell(high, low, kind))
    other_high, other_low, other_kind = _ranks(last)
    if kind != other_kind:
        raise ValueError(f"{first} and {last} are not of one kind; both are suited, both offsuit, or both neither")
    if (high == low) == (other_high == other_low):
        if high == other_high:
            kickers = range(min(low, other_low), max(low, other_low) + 1)
            return [cell for kicker in kickers for cell in _cell(high, kicker, kind)]
        if high - low == other_high - other_low:
            ranks = range(min(high, other_high), max(high, other_high) + 1)
            return [cell for rank in ranks for cell in _cell(rank, rank - high + low, kind)]
    raise ValueError("a dash joins two pairs, two kickers of one card (A5s-A2s), or two of the same gap (98o-65o)")


def _ranks(name: str) -> tuple[int, int, str]:
    """High rank, low rank and kind of `AKs`."""
    match = _CLASS.fullmatch(name)
    if match is None:
        raise ValueError(_ALLOWED)
    high, low = sorted((RANKS.index(match[k].upper()) for k in (1, 2)), reverse=True)
    if high == low and match[3]:
        raise ValueError(f"a pair is neither suited nor offsuit; write {name[:2]}")
    return high, low, match[3].lower()


def _cell(high: int, low: int, kind: str) -> Cells:
    """The cell of a class; two for both of `AK`."""
    suited, offsuit = class_of(high, low, True), class_of(high, low, False)
    return (suited,) if kind == "s" or high == low else (offsuit,) if kind == "o" else (suited, offsuit)


# --- writing ----------------------------------------------------------------------------------


def _write(weights: Array) -> str:
    """A short text. No hand stands in two tokens: tools differ in what that means."""
    if weights[0] > 0 and (weights == weights[0]).all():
        return "random" + _suffix(weights[0])
    lowest, highest = np.ones(169), np.zeros(169)
    np.minimum.at(lowest, CLASS_OF_HAND, weights)
    np.maximum.at(highest, CLASS_OF_HAND, weights)
    whole = lowest == highest
    left = {int(cell): float(lowest[cell]) for cell in np.flatnonzero(whole & (lowest > 0))}
    tokens: list[tuple[Class, str]] = []
    while left:
        # Each time the group that saves most characters over naming its classes one by one; runs of kickers and pairs
        # come before 98o-65o, which would cut them.
        kickers = [run for line in _LINES[:_GAPS] for run in _runs(line, left) if len(run) * len(run[0].cells) > 1]
        run = max(kickers or (run for line in _LINES for run in _runs(line, left)), key=_saving)
        tokens.append((run[0], _name(run) + _suffix(left[run[0].cells[0]])))
        for item in run:
            for cell in item.cells:
                del left[cell]
    single = np.flatnonzero(~whole[CLASS_OF_HAND] & (weights > 0))[::-1]
    return ",".join([name for _, name in sorted(tokens)] + [show_hand(h) + _suffix(weights[h]) for h in single])


class Class(NamedTuple):
    """`AKs`, `AKo`, or `AK` for both; sorts as ranges are written."""

    place: tuple[int, int, int]  # pairs, both, suited, offsuit; then from high to low
    name: str
    cells: Cells


def _class(high: int, low: int, kind: str) -> Class:
    place = 0 if high == low else 1 + _KINDS.index(kind), -high, -low
    return Class(place, RANKS[high] + RANKS[low] + kind, _cell(high, low, kind))


def _lines() -> Iterator[list[Class]]:
    """All that + and - can run along, from high to low: pairs, kickers, gaps."""
    yield [_class(rank, rank, "") for rank in range(12, -1, -1)]
    for kind in _KINDS:
        for high in range(12, 0, -1):
            yield [_class(high, low, kind) for low in range(high - 1, -1, -1)]
    for kind in _KINDS:
        for gap in range(1, 12):
            yield [_class(high, high - gap, kind) for high in range(12, gap - 1, -1)]


_LINES = list(_lines())
_GAPS = 1 + 12 * len(_KINDS)  # where the lines of equal gaps begin


def _runs(line: list[Class], left: dict[int, float]) -> Iterator[list[Class]]:
    """The longest pieces of a line that are left and have one weight."""

    def weight(item: Class) -> float | None:
        first = left.get(item.cells[0])
        return first if first == left.get(item.cells[-1]) else None

    for common, run in groupby(line, weight):
        if common is not None:
            yield list(run)


def _saving(run: list[Class]) -> int:
    return 4 * len(run) * len(run[0].cells) - len(_name(run))


def _name(run: list[Class]) -> str:
    """`AK`, `QQ+`, `KTs+` or `98o-65o`."""
    first, last = run[0].name, run[-1].name
    if len(run) == 1:
        return first
    if first == "AA" or (first[0] == last[0] and RANKS.index(first[0]) == RANKS.index(first[1]) + 1):
        return last + "+"
    return f"{first}-{last}"


def _suffix(weight: float) -> str:
    return "" if weight == 1 else f":{float(weight)!r}"
