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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS, RANKS, SUITS, hand_index
from riverboat.cards.grid import CLASS_OF_HAND, HandGrid, class_index
from riverboat.cards.notation import Cards, as_board, as_hand, format_hand, parse_hand
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import MAX_TOML_BYTES, read_text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

_TOKEN = re.compile(r"any\s+two[^\s,;]*|[^\s,;]+", re.IGNORECASE)
_CLASS = re.compile(rf"([{RANKS}])([{RANKS}])([so]?)", re.IGNORECASE)
_HAND = re.compile(rf"([{RANKS}][{SUITS}]){{2}}", re.IGNORECASE)
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_ANY_HAND = re.compile(r"random|\*|any(\s+two)?", re.IGNORECASE)
_SYNTAX_HELP = (
    "write hands such as QQ, QQ+, 88-55, AK, AKs, KTs+, A5s-A2s, 98o-65o, AsKs or random, with :0.5 for a weight"
)
_KINDS = ("", "s", "o")
_ALL_HANDS = slice(None)

Cells: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Range:
    """Weights of the 1326 hands: `Range.parse("QQ+,AKs,A5s-A2s:0.5")`.

    Ranges compare by their weights, print as text, and combine by `|` (maximum), `&` (minimum) and `*` (a factor).

    Parameters
    ----------
    weights
        float64 [1326], 0 to 1, in the order of `HAND_CARDS`. The range holds a read-only copy.

    Raises
    ------
    InputError
        The array has another shape, or weights outside 0 to 1.

    Examples
    --------
    >>> held = Range.parse("QQ+,AKs:0.5")
    >>> held.combos, held["AKs"], str(held)
    (20.0, 0.5, 'QQ+,AKs:0.5')
    """

    weights: Array  # float64 [1326], 0 to 1, in the order of HAND_CARDS; read-only

    def __post_init__(self) -> None:
        weights = np.array(self.weights, np.float64) + 0.0  # no negative zeros, which differ in bytes
        if weights.shape != (NUM_HANDS,):
            raise InputError(f"range of shape {weights.shape}: {NUM_HANDS} weights are needed")
        wrong = np.flatnonzero(~((weights >= 0) & (weights <= 1)))
        if len(wrong):
            raise InputError(f"range: weight {weights[wrong[0]]} of {format_hand(wrong[0])}: 0 to 1 is allowed")
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    @staticmethod
    def parse(text: str, *, allow_empty: bool = False) -> Range:
        """Parse a range from its text, or from a file as `@name`.

        Parameters
        ----------
        text
            Tokens as described at the top of this module, or `@` and the name of a file of them.
        allow_empty
            Whether a range without hands is accepted.

        Raises
        ------
        InputError
            A token is invalid, the range has no hands, or the file cannot be read.
        """
        if text.lstrip().startswith("@"):
            name = text.strip()[1:]
            return _parse_range(_read_range_file(name), lambda: f"range file {name}", allow_empty)
        return _parse_range(text, lambda: f"range {_abbreviate(text)!r}", allow_empty)

    @property
    def combos(self) -> float:
        """Number of hands in the range, each counted with its weight."""
        return fsum(self.weights)

    @property
    def percent(self) -> float:
        """Combos as a percentage of all hands."""
        return 100 * self.combos / NUM_HANDS

    def weight(self, hand: Cards) -> float:
        """Return the weight of one hand.

        Parameters
        ----------
        hand
            Text such as `AsKs`, or two card numbers.
        """
        return float(self.weights[hand_index(*as_hand(hand))])

    def __getitem__(self, token: str) -> float:
        """Return the average weight of the hands of a token, such as `AKs` or `QQ+`."""
        try:
            return float(self.weights[_token_hands(token.strip())].mean())
        except ValueError as error:
            raise InputError(f"hands {short_repr(token)}: {error}") from None

    def class_weights(self, board: Cards = ()) -> Array:
        """Return the average weights of each class over hands that the board does not block. float64 [13, 13], as in a grid

        Parameters
        ----------
        board
            Text or card numbers of a board; none by default.
        """
        live = _live_hands(board)
        sums = np.bincount(CLASS_OF_HAND[live], self.weights[live], 169)
        count = np.bincount(CLASS_OF_HAND[live], minlength=169)
        return np.minimum(sums / np.maximum(count, 1), 1.0).reshape(13, 13)

    def remove(self, board: Cards) -> Range:
        """Return the range without hands that hold a card of the board.

        Parameters
        ----------
        board
            Text or card numbers of a board.
        """
        return Range(np.where(_live_hands(board), self.weights, 0.0))

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
        """Format the range as a short text that `parse` reads back.

        With a board, the weights of blocked hands are ignored: such hands are written like the other hands of their
        class if those are alike, and are left out otherwise.

        Parameters
        ----------
        board
            Text or card numbers of a board; none by default.
        digits
            Decimals to which weights are rounded; None for all.
        """
        weights = self.weights if digits is None else np.round(self.weights, digits) + 0.0
        live = _live_hands(board)
        lowest, highest = class_extremes(weights, live)
        alike = np.where(lowest == highest, lowest, 0.0)[CLASS_OF_HAND]
        return _format_weights(np.where(live, weights, alike))

    def __repr__(self) -> str:
        return f"Range({str(self)!r})"

    def grid(self, board: Cards = (), title: str = "") -> HandGrid:
        """Return the range as a 13 × 13 grid.

        Parameters
        ----------
        board
            Text or card numbers of a board whose blocked hands do not count.
        title
            Title above the grid.
        """
        return HandGrid(self.class_weights(board), title=title)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        yield self.grid()
        yield Text(self._summary())

    def _repr_html_(self) -> str:
        return f"{self.grid()._repr_html_()}<div>{self._summary()}</div>"

    def _summary(self) -> str:
        return f"{self.combos:,.6g} combos, {self.percent:.2f} % of all hands"


def _live_hands(board: Cards) -> Array:
    """Return which hands hold no card of the board. bool [1326]"""
    blocked = np.isin(HAND_CARDS, as_board(board))
    return ~(blocked[:, 0] | blocked[:, 1])


def class_extremes(weights: Array, live: Array | slice = _ALL_HANDS) -> tuple[Array, Array]:
    """Return the lowest and the highest weight of each class of starting hands.

    Parameters
    ----------
    weights
        float64 [1326], 0 to 1.
    live
        Hands that count, bool [1326]; all by default.

    Returns
    -------
    tuple of Array
        float64 [169] each, in the order of the grid; 1 and 0 for classes without a live hand.

    Examples
    --------
    >>> lowest, highest = class_extremes(Range.parse("AsKs").weights)
    >>> float(lowest[1]), float(highest[1])  # AKs
    (0.0, 1.0)
    """
    lowest, highest = np.ones(169), np.zeros(169)
    np.minimum.at(lowest, CLASS_OF_HAND[live], weights[live])
    np.maximum.at(highest, CLASS_OF_HAND[live], weights[live])
    return lowest, highest


# --- parsing ---


def _read_range_file(name: str) -> str:
    """Read a range file without its comments; lines and columns of tokens stay the same, for error messages."""
    try:
        text = read_text(Path(name).expanduser(), "range file", MAX_TOML_BYTES)
    except RuntimeError:  # ~ of an unknown user
        raise InputError(f"range file {short_repr(name)}: there is no such home folder") from None
    return re.sub(r"#[^\n]*", "", text)


def _abbreviate(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _parse_range(text: str, where: Callable[[], str], allow_empty: bool) -> Range:
    weights = np.zeros(NUM_HANDS)
    for match in _TOKEN.finditer(text):
        token = match.group()
        try:
            hands, weight = _parse_token(token)
        except ValueError as error:
            line, start = text.count("\n", 0, match.start()), text.rfind("\n", 0, match.start()) + 1
            position = f"line {line + 1}, position" if "\n" in text else "position"
            raise InputError(
                f"{where()}: token {short_repr(token)} at {position} {match.start() - start + 1}: {error}"
            ) from None
        weights[hands] = weight
    if not allow_empty and not weights.any():
        raise InputError(f"{where()}: it has no hands; {_SYNTAX_HELP}")
    return Range(weights)


def _parse_token(token: str) -> tuple[Array, float]:
    """Parse a token into its hands and their weight."""
    name, colon, number = token.partition(":")
    if not colon:
        return _token_hands(name), 1.0
    if not _NUMBER.fullmatch(number) or float(number) > 1:
        raise ValueError(f"weight {short_repr(number)} must be a number from 0 to 1")
    return _token_hands(name), float(number)


def _token_hands(name: str) -> Array:
    """Return the indices of the hands of a token without its weight."""
    if _ANY_HAND.fullmatch(name):
        return np.arange(NUM_HANDS)
    if _HAND.fullmatch(name):
        if name[:2].lower() == name[2:].lower():
            raise ValueError("this is the same card twice")
        return np.array([hand_index(*parse_hand(name))])
    return np.flatnonzero(np.isin(CLASS_OF_HAND, _token_cells(name)))


def _token_cells(name: str) -> list[int]:
    """Return the grid cells of a token such as `AK`, `KTs+`, `88-55` or `98o-65o`."""
    first, dash, last = name.partition("-")
    high, low, kind = _parse_class(first.removesuffix("+") if not dash else first)
    if first.endswith("+") and not dash:
        if high == low:
            return [class_index(rank, rank, False) for rank in range(low, 13)]
        return [cell for kicker in range(low, high) for cell in _class_cells(high, kicker, kind)]
    if not dash:
        return list(_class_cells(high, low, kind))
    other_high, other_low, other_kind = _parse_class(last)
    if kind != other_kind:
        raise ValueError(f"{first} and {last} are not of one kind; both are suited, both offsuit, or both neither")
    if (high == low) == (other_high == other_low):
        if high == other_high:
            kickers = range(min(low, other_low), max(low, other_low) + 1)
            return [cell for kicker in kickers for cell in _class_cells(high, kicker, kind)]
        if high - low == other_high - other_low:
            ranks = range(min(high, other_high), max(high, other_high) + 1)
            return [cell for rank in ranks for cell in _class_cells(rank, rank - high + low, kind)]
    raise ValueError("a dash joins two pairs, two kickers of one card (A5s-A2s), or two of the same gap (98o-65o)")


def _parse_class(name: str) -> tuple[int, int, str]:
    """Parse high rank, low rank and kind of `AKs`."""
    match = _CLASS.fullmatch(name)
    if match is None:
        raise ValueError(_SYNTAX_HELP)
    high, low = sorted((RANKS.index(match[k].upper()) for k in (1, 2)), reverse=True)
    if high == low and match[3]:
        raise ValueError(f"a pair is neither suited nor offsuit; write {name[:2]}")
    return high, low, match[3].lower()


def _class_cells(high: int, low: int, kind: str) -> Cells:
    """Return the grid cell of a class of starting hands; both suited and offsuit cells for `AK`."""
    suited, offsuit = class_index(high, low, True), class_index(high, low, False)
    return (suited,) if kind == "s" or high == low else (offsuit,) if kind == "o" else (suited, offsuit)


# --- formatting ---


def _format_weights(weights: Array) -> str:
    """Format weights as a short text. No hand is in two tokens, since tools differ in what that means."""
    if weights[0] > 0 and (weights == weights[0]).all():
        return "random" + _weight_suffix(weights[0])
    lowest, highest = class_extremes(weights)
    uniform = lowest == highest
    left = {int(cell): float(lowest[cell]) for cell in np.flatnonzero(uniform & (lowest > 0))}
    tokens: list[tuple[RangeClass, str]] = []
    while left:
        # Take the run that saves most characters over naming its classes one by one; runs of kickers and pairs come
        # before runs such as 98o-65o, which would cut them.
        kickers = [
            run for line in _LINES[:_FIRST_GAP_LINE] for run in _runs(line, left) if len(run) * len(run[0].cells) > 1
        ]
        runs = kickers or (run for line in _LINES for run in _runs(line, left))
        run = max(runs, key=lambda run: 4 * len(run) * len(run[0].cells) - len(_run_name(run)))
        tokens.append((run[0], _run_name(run) + _weight_suffix(left[run[0].cells[0]])))
        for item in run:
            for cell in item.cells:
                del left[cell]
    single = np.flatnonzero(~uniform[CLASS_OF_HAND] & (weights > 0))[::-1]
    return ",".join(
        [name for _, name in sorted(tokens)] + [format_hand(h) + _weight_suffix(weights[h]) for h in single]
    )


class RangeClass(NamedTuple):
    """A class of hands, `AKs`, `AKo`, or `AK` for both; sorts in the order of written ranges.

    Parameters
    ----------
    place
        Sort key: pairs, both, suited, offsuit; then from high to low.
    name
        Name of the class.
    cells
        Its cells of the grid, 13 × row + column; two for `AK`.

    Examples
    --------
    >>> RangeClass((2, -12, -11), "AKs", (1,)) < RangeClass((3, -12, -11), "AKo", (13,))
    True
    """

    place: tuple[int, int, int]  # sort key: pairs, both, suited, offsuit; then from high to low
    name: str
    cells: Cells


def _make_class(high: int, low: int, kind: str) -> RangeClass:
    place = 0 if high == low else 1 + _KINDS.index(kind), -high, -low
    return RangeClass(place, RANKS[high] + RANKS[low] + kind, _class_cells(high, low, kind))


def _lines() -> Iterator[list[RangeClass]]:
    """Yield the lines of classes that + and - can run along, from high to low: pairs, kickers, gaps."""
    yield [_make_class(rank, rank, "") for rank in range(12, -1, -1)]
    for kind in _KINDS:
        for high in range(12, 0, -1):
            yield [_make_class(high, low, kind) for low in range(high - 1, -1, -1)]
    for kind in _KINDS:
        for gap in range(1, 12):
            yield [_make_class(high, high - gap, kind) for high in range(12, gap - 1, -1)]


_LINES = list(_lines())
_FIRST_GAP_LINE = 1 + 12 * len(_KINDS)  # index of the first line of equal gaps


def _runs(line: list[RangeClass], left: dict[int, float]) -> Iterator[list[RangeClass]]:
    """Yield the longest runs of classes in a line that have equal weights in `left`, the cells not yet written."""

    def weight(item: RangeClass) -> float | None:
        first = left.get(item.cells[0])
        return first if first == left.get(item.cells[-1]) else None

    for common, run in groupby(line, weight):
        if common is not None:
            yield list(run)


def _run_name(run: list[RangeClass]) -> str:
    """Return the token that names a run of classes: `AK`, `QQ+`, `KTs+` or `98o-65o`."""
    first, last = run[0].name, run[-1].name
    if len(run) == 1:
        return first
    if first == "AA" or (first[0] == last[0] and RANKS.index(first[0]) == RANKS.index(first[1]) + 1):
        return last + "+"
    return f"{first}-{last}"


def _weight_suffix(weight: float) -> str:
    return "" if weight == 1 else f":{float(weight)!r}"


# --- card removal ---

MAX_SEARCH_STATES = 100_000  # states that a search visits before it gives up

_HAND_MASKS = tuple((1 << int(a)) | (1 << int(b)) for a, b in HAND_CARDS)


def can_deal_disjoint_hands(hands_of_players: Sequence[Iterable[int]]) -> bool | None:
    """Return whether disjoint hands exist, one of each list.

    Parameters
    ----------
    hands_of_players
        Hand indices of each player.

    Returns
    -------
    bool or None
        None if the search takes too long.

    Notes
    -----
    The search starts with the shortest list to fail early, and does not visit the same set of used cards twice.

    Examples
    --------
    >>> can_deal_disjoint_hands([[1325], [1325]])
    False
    """
    ranges = sorted(({_HAND_MASKS[h] for h in hands} for hands in hands_of_players), key=len)
    cards_from = [0] * (len(ranges) + 1)  # the cards of a range and of all later ones
    for k in reversed(range(len(ranges))):
        cards_from[k] = cards_from[k + 1]
        for mask in ranges[k]:
            cards_from[k] |= mask
    failed: set[tuple[int, int]] = set()
    visited = 0

    def search(k: int, used: int) -> bool:
        nonlocal visited
        if k == len(ranges):
            return True
        key = k, used & cards_from[k]  # other used cards make no difference
        if key in failed or (cards_from[k] & ~used).bit_count() < 2 * (len(ranges) - k):
            return False
        visited += 1
        if visited > MAX_SEARCH_STATES:
            raise TimeoutError
        if any(search(k + 1, used | mask) for mask in ranges[k] if not mask & used):
            return True
        failed.add(key)
        return False

    try:
        return search(0, 0)
    except TimeoutError:
        return None


def compatible_weights(weights: Array, hands: Array = HAND_CARDS) -> Array:
    """Return for each hand the weight of the hands that share no card with it.

    Parameters
    ----------
    weights
        float64 [n].
    hands
        Cards of the hands, uint8 [n, hole]; `HAND_CARDS` by default.

    Returns
    -------
    Array
        float64 [n].

    Examples
    --------
    >>> compatible_weights(np.ones(1326))[:2].tolist()
    [1225.0, 1225.0]
    """
    hole = hands.shape[1]
    by_card = np.bincount(hands.ravel(), np.repeat(weights, hole), minlength=52)
    # Inclusion-exclusion: a hand itself is subtracted once for each of its cards.
    return np.asarray(np.maximum(weights.sum() - by_card[hands].sum(axis=1) + (hole - 1) * weights, 0.0))
