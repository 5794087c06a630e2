"""The 13 × 13 grid of the 169 starting hands: pairs on the diagonal, suited above it, offsuit below, aces first.

A grid shows weights, or the frequencies of actions beside each other in every cell, as high as the weight. It prints in
a terminal, displays in a notebook, and is drawn as a picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.cards.deck import HAND_CARDS, RANKS
from riverboat.core import atomic_io
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

ORDER = RANKS[::-1]  # of rows and columns


def class_of(high: int, low: int, suited: bool) -> int:
    """The cell, 13 × row + column, of two ranks."""
    high, low = max(high, low), min(high, low)
    return 13 * (12 - high) + 12 - low if suited or high == low else 13 * (12 - low) + 12 - high


def _names() -> tuple[str, ...]:
    cells = ((row, column) for row in range(13) for column in range(13))
    return tuple(
        ORDER[min(cell)] + ORDER[max(cell)] + ("" if cell[0] == cell[1] else "s" if cell[0] < cell[1] else "o")
        for cell in cells
    )


def _class_of_hand() -> Array:
    cells = [class_of(b >> 2, a >> 2, a & 3 == b & 3) for a, b in HAND_CARDS.tolist()]
    numbers = np.array(cells, np.int64)
    numbers.flags.writeable = False
    return numbers


CLASS_NAMES = _names()  # 169 names, row by row: AA, AKs, …, 22
CLASS_OF_HAND = _class_of_hand()  # int64 [1326]: the cell of every hand

DARK, LIGHT = "#23272e", "#eceef1"  # cells without weight: in terminals, on paper
INK, CHALK, PALE = "#16191d", "#f4f6f8", "#8b929c"  # text on light colours, on dark ones, in empty cells
WEIGHT = "#e9b44c"
TEXT_WIDTH = 3 + 13 * 5  # columns of a grid without colours
FOLD, CALL = "#5b9bd9", "#63ba70"
RAISES = ("#f6b09c", "#e2503d", "#8f1518")  # small, middle, large


def action_colours(names: Sequence[str]) -> dict[str, str]:
    """Blue for folding, green for checking and calling, reds for the rest, darker in the order given."""
    calm = {"f": FOLD, "c": CALL, "k": CALL, "x": CALL}
    bets = [name for name in names if name[:1].lower() not in calm]
    reds = {name: _mix(RAISES, (place + 0.5) / len(bets)) for place, name in enumerate(bets)}
    return {name: reds.get(name) or calm[name[0].lower()] for name in names}


class Grid:
    """Weights of the 169 starting hands, or actions with them: `str`, rich, notebook, `.figure()`, `.save(path)`."""

    def __init__(self, values: Array, labels: Sequence[str] = CLASS_NAMES, title: str = "") -> None:
        self.weight = _checked("weights", values)  # float64 [13, 13]
        self.labels = tuple(labels)
        if len(self.labels) != 169:
            raise InputError(f"grid with {len(self.labels)} labels: 169 are needed, row by row from AA")
        self.title = title
        self.combos = np.bincount(CLASS_OF_HAND, minlength=169).reshape(13, 13)  # hands that each cell stands for
        self.frequencies: dict[str, Array] = {}  # of actions, from left to right; none in a grid of weights
        self.colours: dict[str, str] = {}

    @classmethod
    def actions(
        cls,
        frequencies: Mapping[str, Array],
        weight: Array | None = None,
        combos: Array | None = None,
        title: str = "",
    ) -> Grid:
        """Actions side by side in every cell, as high as its weight; passive ones come first. All arrays are [13, 13].

        Frequencies sum to 1 where there is weight; the weight is 1 if left out. Combos are the hands that each cell
        stands for, for the totals in the legend: 6, 4 and 12 if left out, fewer on a board.
        """
        if not frequencies:
            raise InputError("grid of actions: no actions given")
        grid = cls(np.ones((13, 13)) if weight is None else weight, title=title)
        if combos is not None:
            grid.combos = _square("combos", combos)
        live = grid.weight > 0
        squares = {name: _square(f"frequencies of {name!r}", values) for name, values in frequencies.items()}
        squares = {name: _checked(f"frequencies of {name!r}", np.where(live, f, 0.0)) for name, f in squares.items()}
        total = sum(squares.values(), np.zeros((13, 13)))
        wrong = np.argwhere(live & (np.abs(total - 1) > 1e-6))
        if len(wrong):
            row, column = wrong[0]
            name = CLASS_NAMES[13 * row + column]
            raise InputError(f"grid of actions: the frequencies of {name} sum to {total[row, column]:.6g}, not to 1")
        grid.colours = action_colours(list(squares))
        grid.frequencies = dict(reversed(squares.items()))  # the largest bet stands on the left
        return grid

    def layers(self, row: int, column: int) -> list[tuple[str, float]]:
        """Colours and widths that fill a cell from the left; the widths sum to 1."""
        if not self.frequencies:
            return [(WEIGHT, 1.0)]
        shares = [(self.colours[name], float(f[row, column])) for name, f in self.frequencies.items()]
        return [(colour, width) for colour, width in shares if width > 0]

    def _colour_at(self, row: int, column: int, place: float) -> str:
        """The colour at a place from 0, the left of a cell, to 1."""
        layers = self.layers(row, column)
        ends = np.cumsum([width for _, width in layers])
        return layers[int(np.searchsorted(ends[:-1], place))][0]

    def share(self, action: str) -> float:
        """How often an action is taken, over all hands."""
        held = self.weight * self.combos
        return float((self.frequencies[action] * held).sum() / max(held.sum(), 1e-300))

    def _shares(self) -> list[tuple[str, str]]:
        """Colours and texts of the legend, in the order the actions were given."""
        return [(self.colours[name], f"{name} {self.share(name):.1%}") for name in reversed(self.frequencies)]

    # --- text -------------------------------------------------------------------------------

    def __str__(self) -> str:
        titles = [self.title] if self.title else []
        if not self.frequencies:
            return "\n".join([*titles, *self._table(self.weight, self.labels)])
        tables = []
        for name, values in reversed(self.frequencies.items()):
            tables += [f"{name} {self.share(name):.1%}", *self._table(values, None), ""]
        return "\n".join([*titles, *tables[:-1]])

    def _table(self, values: Array, full: Sequence[str] | None) -> Iterable[str]:
        """Lines with a percentage in each cell; with names where cells are `full`, if there are any."""
        yield ("   " + "".join(f"{rank:>5}" for rank in ORDER)).rstrip()
        for row in range(13):
            cells = [self._entry(values, full, row, column) for column in range(13)]
            yield f"{ORDER[row]:>3}" + "".join(f"{cell:>5}" for cell in cells)

    def _entry(self, values: Array, full: Sequence[str] | None, row: int, column: int) -> str:
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
                yield Text(f"{self.title}: no room for the grid, {TEXT_WIDTH} columns without colours")
            else:
                yield Text(str(self), no_wrap=True, overflow="ignore")
            return
        if self.title:
            yield Text(self.title, style="bold")
        # columns of a cell, and between cells
        size, gap = (5, " ") if options.max_width >= 77 else (4, "") if options.max_width >= 52 else (3, "")
        for row in range(13):
            line = Text(no_wrap=True, overflow="ignore")
            for column in range(13):
                self._paint(line, row, column, size)
                line.append(gap if column < 12 else "")
            yield line
        legend = Text()
        for colour, text in self._shares():
            if legend and len(legend) + len(text) + 3 > options.max_width:
                yield legend
                legend = Text()
            legend.append("██", style=colour).append(f" {text}   ")
        if legend:
            yield legend

    def _paint(self, line: Text, row: int, column: int, size: int) -> None:
        """A cell of some characters, coloured in whole characters."""
        label, weight = f"{self.labels[13 * row + column]:^{size}}"[:size], float(self.weight[row, column])
        if weight == 0:
            line.append(label, style=f"{PALE} on {DARK}")
            return
        colours = [self._colour_at(row, column, (place + 0.5) / size) for place in range(size)]
        for colour, letters in groupby(zip(colours, label, strict=True), key=itemgetter(0)):
            ground = _mix((DARK, colour), 0.25 + 0.75 * weight)
            line.append("".join(letter for _, letter in letters), style=f"{_ink(ground)} on {ground}")

    # --- notebook ---------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr>{''.join(self._html(row, column) for column in range(13))}</tr>" for row in range(13))
        title = f"<div><b>{escape(self.title)}</b></div>" if self.title else ""
        marks = "".join(
            f'<span style="background:{colour};padding:0 .6em;margin-right:.4em"></span>'
            f'<span style="margin-right:1.2em">{escape(text)}</span>'
            for colour, text in self._shares()
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
        tip = escape(f"{CLASS_NAMES[cell]}: {self._facts(row, column)}")
        colours = f"background:{fill}{LIGHT};color:{self._text_colour(row, column)}"
        style = f"{colours};width:38px;height:32px;padding:0;text-align:center"
        return f'<td title="{tip}" style="{style}">{escape(self.labels[cell])}</td>'

    def _text_colour(self, row: int, column: int) -> str:
        """Of a label in the middle of a light cell."""
        weight = self.weight[row, column]
        return PALE if weight == 0 else INK if weight < 0.5 else _ink(self._colour_at(row, column, 0.5))

    def _facts(self, row: int, column: int) -> str:
        shares = [f"{name} {f[row, column]:.1%}" for name, f in reversed(self.frequencies.items())]
        return ", ".join([f"weight {self.weight[row, column]:.4g}", *shares])

    # --- picture ----------------------------------------------------------------------------

    def figure(self) -> Any:
        """A matplotlib figure."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 8.4 if self.title or self.frequencies else 8), layout="constrained")
        self.draw(figure.add_subplot())
        return figure

    def draw(self, axes: Any) -> None:
        """Draw into axes of matplotlib, with title and legend: several grids may share a figure."""
        from matplotlib.patches import Patch, Rectangle

        axes.set(xlim=(0, 13), ylim=(13, 0), aspect="equal")
        axes.set_axis_off()
        for row in range(13):
            for column in range(13):
                weight, left = float(self.weight[row, column]), column + 0.02
                axes.add_patch(Rectangle((left, row + 0.02), 0.96, 0.96, color=LIGHT, lw=0))
                for colour, width in self.layers(row, column) if weight > 0 else []:
                    size = 0.96 * width, 0.96 * weight
                    axes.add_patch(Rectangle((left, row + 0.98 - size[1]), *size, color=colour, lw=0))
                    left += size[0]
                label, ink = self.labels[13 * row + column], self._text_colour(row, column)
                axes.text(column + 0.5, row + 0.5, label, color=ink, ha="center", va="center")
        if self.title:
            axes.set_title(self.title)
        if self.frequencies:
            marks = [Patch(color=colour, label=text) for colour, text in self._shares()]
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": min(len(marks), 5)}
            axes.legend(handles=marks, frameon=False, **below)

    def save(self, path: str | Path) -> None:
        """Draw the grid into a .png, .svg or .pdf file."""
        atomic_io.save_picture(self.figure(), path)


def _square(what: str, values: Array) -> Array:
    """Float64 [13, 13]."""
    square = np.array(values, np.float64)
    if square.shape != (13, 13):
        raise InputError(f"grid: {what} of shape {square.shape}; (13, 13) is needed, aces first")
    return square


def _checked(what: str, values: Array) -> Array:
    """Float64 [13, 13] of numbers from 0 to 1."""
    square = _square(what, values)
    wrong = np.argwhere(~((square >= 0) & (square <= 1 + 1e-9)))
    if len(wrong):
        row, column = wrong[0]
        raise InputError(
            f"grid: {what} at {CLASS_NAMES[13 * row + column]} are {square[row, column]}; 0 to 1 are allowed"
        )
    return np.minimum(square, 1.0)


def _mix(colours: Sequence[str], place: float) -> str:
    """A colour from 0, the first one, to 1, the last."""
    stops = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in colours])
    at = np.linspace(0, 1, len(stops))
    return "#" + "".join(f"{round(float(np.interp(place, at, stops[:, k]))):02x}" for k in range(3))


def _ink(ground: str) -> str:
    """Dark or light text, whichever is legible on the colour."""
    red, green, blue = (int(ground[k : k + 2], 16) for k in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else CHALK
