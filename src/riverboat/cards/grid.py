"""The 13 × 13 grid of the 169 starting hands: pairs on the diagonal, suited above it, offsuit below, aces first.

A grid shows weights, or the frequencies of actions side by side in every cell, with the weight as height. It prints in
a terminal, displays in a notebook, and is drawn as an image.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.cards.deck import HAND_CARDS, RANKS
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.plots.colours import (
    CALL_COLOUR,
    CHALK,
    DARK,
    FOLD_COLOUR,
    INK,
    LIGHT,
    PALE,
    RAISE_COLOURS,
    WEIGHT_COLOUR,
)
from riverboat.plots.figures import save_figure

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

RANK_ORDER = RANKS[::-1]  # order of rows and columns: aces first


def class_index(high: int, low: int, suited: bool) -> int:
    """Return the cell of two ranks in the grid.

    Parameters
    ----------
    high, low
        Ranks from 0 for the deuce to 12 for the ace, in any order.
    suited
        Whether the hand is suited; pairs are on the diagonal in any case.

    Returns
    -------
    int
        13 × row + column.

    Examples
    --------
    >>> CLASS_NAMES[class_index(12, 11, True)], CLASS_NAMES[class_index(12, 11, False)]
    ('AKs', 'AKo')
    """
    high, low = max(high, low), min(high, low)
    return 13 * (12 - high) + 12 - low if suited or high == low else 13 * (12 - low) + 12 - high


def _class_names() -> tuple[str, ...]:
    return tuple(
        RANK_ORDER[min(row, column)] + RANK_ORDER[max(row, column)] + ("" if row == column else "so"[row > column])
        for row, column in product(range(13), range(13))
    )


def _class_of_hand() -> Array:
    cells = [class_index(b >> 2, a >> 2, a & 3 == b & 3) for a, b in HAND_CARDS.tolist()]
    numbers = np.array(cells, np.int64)
    numbers.flags.writeable = False
    return numbers


CLASS_NAMES = _class_names()  # 169 names, row by row: AA, AKs, …, 22
CLASS_OF_HAND = _class_of_hand()  # int64 [1326]: the cell of every hand

TEXT_WIDTH = 3 + 13 * 5  # characters per line of a grid without colours


def action_colours(names: Sequence[str]) -> dict[str, str]:
    """Choose colours of actions: blue for folding, green for checking and calling, reds from light to dark for bets.

    Parameters
    ----------
    names
        Names of the actions; bets in increasing order.

    Returns
    -------
    dict of str
        Colour of each action, such as `#5b9bd9`.

    Examples
    --------
    >>> action_colours(["fold", "call"])
    {'fold': '#5b9bd9', 'call': '#63ba70'}
    """
    passive = {"f": FOLD_COLOUR, "c": CALL_COLOUR, "k": CALL_COLOUR, "x": CALL_COLOUR}
    bets = [name for name in names if name[:1].lower() not in passive]
    reds = {name: _interpolate_colour(RAISE_COLOURS, (k + 0.5) / len(bets)) for k, name in enumerate(bets)}
    return {name: reds.get(name) or passive[name[0].lower()] for name in names}


class HandGrid:
    """Weights of the 169 starting hands, or frequencies of actions.

    A grid prints as text, displays in a notebook and in rich terminals, and is drawn by `figure` and `save`.

    Parameters
    ----------
    values
        Weights from 0 to 1, float [13, 13]: pairs on the diagonal, suited above it, aces first.
    labels
        169 texts of the cells, row by row.
    title
        Title above the grid.

    Raises
    ------
    InputError
        The array has another shape, or weights outside 0 to 1, or there are not 169 labels.

    Examples
    --------
    >>> grid = HandGrid(np.eye(13), title="pairs")
    >>> print(str(grid).splitlines()[2])
      A   AA    ·    ·    ·    ·    ·    ·    ·    ·    ·    ·    ·    ·
    """

    def __init__(self, values: Array, labels: Sequence[str] = CLASS_NAMES, title: str = "") -> None:
        self.weight = _check_shares("weights", values)  # float64 [13, 13]
        self.labels = tuple(labels)
        if len(self.labels) != 169:
            raise InputError(f"grid with {len(self.labels)} labels: 169 are needed, row by row from AA")
        self.title = title
        self.combos = np.bincount(CLASS_OF_HAND, minlength=169).reshape(13, 13)  # number of hands per cell
        self.frequencies: dict[str, Array] = {}  # by action, from left to right; empty in a grid of weights
        self.colours: dict[str, str] = {}

    @classmethod
    def actions(
        cls,
        frequencies: Mapping[str, Array],
        weight: Array | None = None,
        combos: Array | None = None,
        title: str = "",
    ) -> HandGrid:
        """Make a grid of actions side by side in every cell, with the weight as height.

        Parameters
        ----------
        frequencies
            Frequencies of each action, float [13, 13]; they sum to 1 in cells with weight. Passive actions come first.
        weight
            Weights from 0 to 1, float [13, 13]; 1 by default.
        combos
            Numbers of hands per cell, for the totals in the legend: 6, 4 and 12 by default, fewer on a board.
        title
            Title above the grid.

        Raises
        ------
        InputError
            There are no actions, or frequencies do not sum to 1.
        """
        if not frequencies:
            raise InputError("grid of actions: no actions given")
        grid = cls(np.ones((13, 13)) if weight is None else weight, title=title)
        if combos is not None:
            grid.combos = _check_square("combos", combos)
        live = grid.weight > 0
        squares = {}
        for name, values in frequencies.items():
            what = f"frequencies of {name!r}"
            squares[name] = _check_shares(what, np.where(live, _check_square(what, values), 0.0))
        total = sum(squares.values(), np.zeros((13, 13)))
        wrong = np.argwhere(live & (np.abs(total - 1) > 1e-6))
        if len(wrong):
            row, column = wrong[0]
            name = CLASS_NAMES[13 * row + column]
            raise InputError(f"grid of actions: the frequencies of {name} sum to {total[row, column]:.6g}, not to 1")
        grid.colours = action_colours(list(squares))
        grid.frequencies = dict(reversed(squares.items()))  # the largest bet is on the left
        return grid

    def layers(self, row: int, column: int) -> list[tuple[str, float]]:
        """Return the colours and widths that fill a cell from the left; the widths sum to 1.

        Parameters
        ----------
        row, column
            The cell, from 0; aces first.
        """
        if not self.frequencies:
            return [(WEIGHT_COLOUR, 1.0)]
        shares = [(self.colours[name], float(f[row, column])) for name, f in self.frequencies.items()]
        return [(colour, width) for colour, width in shares if width > 0]

    def _colour_at(self, row: int, column: int, place: float) -> str:
        """Return the colour at a position from 0, the left of a cell, to 1."""
        layers = self.layers(row, column)
        ends = np.cumsum([width for _, width in layers])
        return layers[int(np.searchsorted(ends[:-1], place))][0]

    def share(self, action: str) -> float:
        """Return the frequency of an action over all hands.

        Parameters
        ----------
        action
            Name of the action.
        """
        held = self.weight * self.combos
        return float((self.frequencies[action] * held).sum() / max(held.sum(), 1e-300))

    def legend(self) -> list[tuple[str, str]]:
        """Return the colours and texts of the legend, in the order in which the actions were given."""
        return [(self.colours[name], f"{name} {self.share(name):.1%}") for name in reversed(self.frequencies)]

    # --- text ---

    def __str__(self) -> str:
        titles = [self.title] if self.title else []
        if not self.frequencies:
            return "\n".join([*titles, *self._table(self.weight, self.labels)])
        tables = []
        for name, values in reversed(self.frequencies.items()):
            tables += [f"{name} {self.share(name):.1%}", *self._table(values, None), ""]
        return "\n".join([*titles, *tables[:-1]])

    def _table(self, values: Array, full: Sequence[str] | None) -> Iterable[str]:
        """Yield lines with a percentage in each cell; cells of weight 1 show the name in `full`, if given."""
        yield ("   " + "".join(f"{rank:>5}" for rank in RANK_ORDER)).rstrip()
        for row in range(13):
            cells = [self._format_entry(values, full, row, column) for column in range(13)]
            yield f"{RANK_ORDER[row]:>3}" + "".join(f"{cell:>5}" for cell in cells)

    def _format_entry(self, values: Array, full: Sequence[str] | None, row: int, column: int) -> str:
        value = float(values[row, column])
        if value == 0:
            return "0%" if full is None and self.weight[row, column] > 0 else "·"
        if value == 1 and full is not None:
            return full[13 * row + column]
        return "<1%" if value < 0.01 else f"{100 * value:.0f}%"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Text]:
        from rich.text import Text

        if console.color_system is None or console.no_color:
            if options.max_width < TEXT_WIDTH:
                yield Text(
                    f"{self.title}: the terminal is too narrow for the grid, which needs {TEXT_WIDTH} columns without colours"
                )
            else:
                yield Text(str(self), no_wrap=True, overflow="ignore")
            return
        if self.title:
            yield Text(self.title, style="bold")
        # width of a cell, and the gap between cells
        size, gap = (5, " ") if options.max_width >= 77 else (4, "") if options.max_width >= 52 else (3, "")
        for row in range(13):
            line = Text(no_wrap=True, overflow="ignore")
            for column in range(13):
                self._paint(line, row, column, size)
                line.append(gap if column < 12 else "")
            yield line
        legend = Text()
        for colour, text in self.legend():
            if legend and len(legend) + len(text) + 3 > options.max_width:
                yield legend
                legend = Text()
            legend.append("██", style=colour).append(f" {text}   ")
        if legend:
            yield legend

    def _paint(self, line: Text, row: int, column: int, size: int) -> None:
        """Append a cell of `size` characters, coloured in whole characters."""
        label, weight = f"{self.labels[13 * row + column]:^{size}}"[:size], float(self.weight[row, column])
        if weight == 0:
            line.append(label, style=f"{PALE} on {DARK}")
            return
        colours = [self._colour_at(row, column, (k + 0.5) / size) for k in range(size)]
        for colour, letters in groupby(zip(colours, label, strict=True), key=itemgetter(0)):
            ground = _interpolate_colour((DARK, colour), 0.25 + 0.75 * weight)
            line.append("".join(letter for _, letter in letters), style=f"{_legible_ink(ground)} on {ground}")

    # --- notebook ---

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr>{''.join(self._html(row, column) for column in range(13))}</tr>" for row in range(13))
        title = f"<div><b>{escape(self.title)}</b></div>" if self.title else ""
        marks = "".join(
            f'<span style="background:{colour};padding:0 .6em;margin-right:.4em"></span>'
            f'<span style="margin-right:1.2em">{escape(text)}</span>'
            for colour, text in self.legend()
        )
        legend = f"<div>{marks}</div>" if marks else ""
        style = "border-collapse:separate;border-spacing:1px;table-layout:fixed;font:11px sans-serif"
        return f'{title}<table style="{style}">{rows}</table>{legend}'

    def _html(self, row: int, column: int) -> str:
        cell, weight = 13 * row + column, float(self.weight[row, column])
        stops, start = [], 0.0
        for colour, width in self.layers(row, column) if weight > 0 else []:
            stops.append(f"{colour} {100 * start:.4g}% {100 * (start + width):.4g}%")
            start += width
        height = f"bottom/100% {100 * weight:.4g}% no-repeat"
        fill = f"linear-gradient(to right,{','.join(stops)}) {height} " if stops else ""
        tip = escape(f"{CLASS_NAMES[cell]}: {self._describe_cell(row, column)}")
        colours = f"background:{fill}{LIGHT};color:{self.text_colour(row, column)}"
        style = f"{colours};width:38px;height:32px;padding:0;text-align:center"
        return f'<td title="{tip}" style="{style}">{escape(self.labels[cell])}</td>'

    def text_colour(self, row: int, column: int) -> str:
        """Return the colour of a label in the middle of a light cell.

        Parameters
        ----------
        row, column
            The cell, from 0; aces first.
        """
        weight = self.weight[row, column]
        return PALE if weight == 0 else INK if weight < 0.5 else _legible_ink(self._colour_at(row, column, 0.5))

    def _describe_cell(self, row: int, column: int) -> str:
        shares = [f"{name} {f[row, column]:.1%}" for name, f in reversed(self.frequencies.items())]
        return ", ".join([f"weight {self.weight[row, column]:.4g}", *shares])

    # --- images ---

    def figure(self) -> Any:
        """Draw the grid as a matplotlib figure."""
        from riverboat.plots.hand_grids import plot_grid  # loads matplotlib

        return plot_grid(self)

    def draw(self, axes: Any) -> None:
        """Draw the grid into matplotlib axes, with title and legend; several grids may share a figure.

        Parameters
        ----------
        axes
            The axes.
        """
        from riverboat.plots.hand_grids import draw_grid

        draw_grid(axes, self)

    def save(self, path: str | Path) -> None:
        """Draw the grid into a file.

        Parameters
        ----------
        path
            File with the suffix .png, .svg or .pdf.
        """
        save_figure(self.figure(), path)


def _check_square(what: str, values: Array) -> Array:
    """Return the values as float64 [13, 13], or raise InputError."""
    square = np.array(values, np.float64)
    if square.shape != (13, 13):
        raise InputError(f"grid: {what} of shape {square.shape}; (13, 13) is needed, aces first")
    return square


def _check_shares(what: str, values: Array) -> Array:
    """Return the values as float64 [13, 13] between 0 and 1, or raise InputError."""
    square = _check_square(what, values)
    wrong = np.argwhere(~((square >= 0) & (square <= 1 + 1e-9)))
    if len(wrong):
        row, column = wrong[0]
        raise InputError(
            f"grid: {what} at {CLASS_NAMES[13 * row + column]} are {square[row, column]}; 0 to 1 are allowed"
        )
    return np.minimum(square, 1.0)


def _interpolate_colour(colours: Sequence[str], place: float) -> str:
    """Interpolate linearly between colours such as `#5b9bd9`: place 0 is the first one, 1 the last."""
    stops = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in colours])
    positions = np.linspace(0, 1, len(stops))
    return "#" + "".join(f"{round(float(np.interp(place, positions, stops[:, k]))):02x}" for k in range(3))


def _legible_ink(ground: str) -> str:
    """Return dark or light text, whichever is legible on the colour."""
    red, green, blue = (int(ground[k : k + 2], 16) for k in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else CHALK
