"""Report tables that render in a terminal, in a notebook, as CSV, as dictionaries and for pandas.

Cells hold unformatted values; shares are printed as percentages. A table fits the given width: it wraps columns of
prose first, then drops columns one by one, those of the highest rank first and of equal rank the rightmost. A last line
names the dropped columns. The first column is never dropped, and no cell is ever truncated.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import isnan
from operator import index
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

from riverboat.core.errors import InputError, unknown_name_error

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType


def to_dataframe(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Make a `pandas.DataFrame` from named columns. Riverboat itself does not need pandas.

    Parameters
    ----------
    columns
        Cells of each column, by name.

    Returns
    -------
    pandas.DataFrame
        The columns in the given order.

    Raises
    ------
    InputError
        pandas is not installed.

    Examples
    --------
    >>> list(to_dataframe({"hand": ["AA"], "ev": [2.5]}))  # doctest: +SKIP
    ['hand', 'ev']
    """
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise InputError(
            "to_frame() needs pandas, which is not installed: pip install pandas, or use to_dict()"
        ) from None
    return pandas.DataFrame(dict(columns))


Cell: TypeAlias = str | float | None
TEXT, PROSE, FIGURE, SHARE, CHIPS, COUNT = "text", "prose", "figure", "share", "chips", "count"
LEFT_ALIGNED = (TEXT, PROSE)  # the others are numbers, aligned to the right
COLUMN_GAP = "  "
MIN_PROSE_WIDTH = 24  # narrower than this, prose is hard to read


class ReportColumn(NamedTuple):
    """A column of a table; its kind says how its cells are printed.

    Parameters
    ----------
    name
        Name of the column, unique in its table.
    kind
        `text` is never wrapped, `prose` may be. A `figure` is a formatted number. A `share` is printed in %, `chips`
        with two decimals, a `count` with four digits.
    title
        Printed name, if it differs from `name`.
    rank
        Columns of a higher rank are dropped first where the width is too small.

    Examples
    --------
    >>> ReportColumn("share", SHARE, rank=1).kind
    'share'
    """

    name: str
    kind: str = TEXT
    title: str = ""  # printed name, if it differs
    rank: int = 0  # columns of a higher rank are dropped first


def format_cell(value: Cell, kind: str) -> str:
    """Format a cell; empty for unknown values.

    Parameters
    ----------
    value
        A text, a number, or None.
    kind
        Kind of its column.

    Returns
    -------
    str
        The text of the cell.

    Examples
    --------
    >>> format_cell(0.125, SHARE), format_cell(1234.5, CHIPS), format_cell(None, COUNT)
    ('12.5', '1,234.50', '')
    """
    if value is None or isinstance(value, str):
        return value or ""
    if kind == SHARE:
        return f"{100 * value:.1f}"
    return f"{value:,.2f}" if kind == CHIPS else f"{value:,.4g}"


def none_if_nan(value: float) -> float | None:
    """Return None for NaN, else the number.

    Parameters
    ----------
    value
        A number.

    Returns
    -------
    float or None
        The number, if it is one.

    Examples
    --------
    >>> none_if_nan(float("nan")) is None, none_if_nan(1)
    (True, 1.0)
    """
    return None if isnan(value) else float(value)


@dataclass(frozen=True)
class ReportTable:
    """Rows under named columns. The first column names the row.

    `table["KsJs"]` and `table[0]` return a row as a dictionary, `table[:5]` returns a table of the first five rows.

    Parameters
    ----------
    title
        Title above the table; may be empty.
    columns
        The columns.
    rows
        Cells of each row, unformatted; None for unknown values.

    Examples
    --------
    >>> columns = ReportColumn("hand"), ReportColumn("share", SHARE)
    >>> table = ReportTable("", columns, (("KsJs", 0.25), ("AA", 0.75)))
    >>> print(table)
    hand  share %
    KsJs     25.0
    AA       75.0
    >>> table["AA"]
    {'hand': 'AA', 'share': 0.75}
    """

    title: str
    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return map(self._dict, self.rows)

    @overload
    def __getitem__(self, key: str | int) -> dict[str, Cell]: ...
    @overload
    def __getitem__(self, key: slice) -> ReportTable: ...
    def __getitem__(self, key: str | int | slice) -> dict[str, Cell] | ReportTable:
        if isinstance(key, slice):
            return replace(self, rows=self.rows[key])
        if isinstance(key, str):
            for row in self.rows:
                if row[0] == key:
                    return self._dict(row)
            kind = self.columns[0].name if self.columns else "row"
            raise unknown_name_error(kind, key, [str(row[0]) for row in self.rows])
        try:
            position = index(key)
        except TypeError:
            raise InputError(f"row {key!r}: give its name, its number, or a slice such as [:10]") from None
        if not -len(self.rows) <= position < len(self.rows):
            raise InputError(f"row {position}: the table has {len(self.rows):,} rows, from 0 on")
        return self._dict(self.rows[position])

    def _dict(self, row: tuple[Cell, ...]) -> dict[str, Cell]:
        return dict(zip(self.names, row, strict=True))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> list[Cell]:
        """Return all cells of a column.

        Parameters
        ----------
        name
            Name of the column.
        """
        position = self._column_index(name)
        return [row[position] for row in self.rows]

    def _column_index(self, name: str) -> int:
        if name not in self.names:
            raise unknown_name_error("column", name, self.names)
        return self.names.index(name)

    def sorted(self, by: str, *, descending: bool = True) -> ReportTable:
        """Return the table sorted by a column, unknown values last.

        Parameters
        ----------
        by
            Name of the column.
        descending
            Whether the largest values come first.
        """
        position = self._column_index(by)
        known = [row for row in self.rows if row[position] is not None]
        unknown = [row for row in self.rows if row[position] is None]
        known.sort(key=lambda row: row[position], reverse=descending)  # type: ignore[arg-type,return-value]
        return replace(self, rows=(*known, *unknown))

    def top(self, count: int) -> ReportTable:
        """Return a table of the first `count` rows.

        Parameters
        ----------
        count
            Number of rows, 0 or more.
        """
        if count < 0:
            raise InputError(f"top({count}): must not be negative")
        return self[:count]

    # --- output ---

    def to_csv(self) -> str:
        """Return the table as comma-separated values with a header; unknown values are empty."""
        import csv  # here and below: imported by every command otherwise

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows(self.rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a dictionary for JSON."""
        return {"title": self.title, "rows": list(self)}

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return to_dataframe({name: self.column(name) for name in self.names})

    def text(self, width: int | None = None) -> str:
        """Return the table as text without its title, in full or in the given width.

        Columns that do not fit are named in a last line.

        Parameters
        ----------
        width
            Width in terminal columns; None for the full table.
        """
        lines = [self._titles(), *self._cells()]
        widths, left_out = self._fit_columns(lines, width)
        kinds = [column.kind for column in self.columns]
        body = [text for cells in lines for text in _format_row(cells, kinds, widths)]
        if left_out:
            text = f"no room for: {', '.join(left_out)}"
            body += wrap(text, max(width or 0, MIN_PROSE_WIDTH), break_long_words=False)
        return "\n".join(body)

    def _fit_columns(self, lines: Sequence[Sequence[str]], width: int | None) -> tuple[dict[int, int], list[str]]:
        """Return the widths of the columns that fit, and the titles of the others."""
        widths = {k: max(_cell_width(cells[k]) for cells in lines) for k in range(len(self.columns))}
        if width is None:
            return widths, []
        dropped: list[int] = []
        least = {k: min(w, MIN_PROSE_WIDTH) if self.columns[k].kind == PROSE else w for k, w in widths.items()}
        while len(widths) > 1 and _total_width({k: least[k] for k in widths}) > width:
            worst = max(list(widths)[1:], key=lambda k: (self.columns[k].rank, k))
            del widths[worst]
            dropped.append(worst)
        prose = sorted((k for k in widths if self.columns[k].kind == PROSE), key=lambda k: widths[k])
        for position, k in enumerate(prose):  # share the remaining width; narrow columns leave more to the others
            wide = prose[position:]
            available = width - _total_width({j: 0 if j in wide else w for j, w in widths.items()})
            widths[k] = min(widths[k], max(available // len(wide), MIN_PROSE_WIDTH))
        return widths, [lines[0][k] for k in sorted(dropped)]

    def _titles(self) -> list[str]:
        return [(column.title or column.name) + " %" * (column.kind == SHARE) for column in self.columns]

    def _cells(self) -> Iterable[Sequence[str]]:
        kinds = [column.kind for column in self.columns]
        return ([format_cell(*cell) for cell in zip(row, kinds, strict=True)] for row in self.rows)

    def __str__(self) -> str:
        return "\n".join([self.title, self.text()] if self.title else [self.text()])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        if self.title:
            yield Text(self.title, style="bold")
        head, _, body = self.text(options.max_width).partition("\n")
        yield Text(head, style="bold", overflow="fold")
        yield from [Text(body, overflow="fold")] if body else []

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{escape(title)}</th>" for title in self._titles())
        sides = ["left" if column.kind in LEFT_ALIGNED else "right" for column in self.columns]
        body = ""
        for cells in self._cells():
            html = (escape(cell).replace("\n", "<br>") for cell in cells)
            row = (f'<td style="text-align:{side}">{cell}</td>' for side, cell in zip(sides, html, strict=True))
            body += f"<tr>{''.join(row)}</tr>"
        title = f"<div><b>{escape(self.title)}</b></div>" if self.title else ""
        return f"{title}<table><tr>{head}</tr>{body}</table>"


def _cell_width(cell: str) -> int:
    """Return the width of a cell in terminal columns; a cell may have several lines."""
    from rich.cells import cell_len

    return max(map(cell_len, cell.split("\n")))


def _total_width(widths: dict[int, int]) -> int:
    return sum(widths.values()) + len(COLUMN_GAP) * (len(widths) - 1)


def _format_row(cells: Sequence[str], kinds: Sequence[str], widths: dict[int, int]) -> Iterator[str]:
    """Yield the lines of a row."""
    parts = {
        k: [piece for line in cells[k].split("\n") for piece in (wrap(line, w) if kinds[k] == PROSE else [line])]
        for k, w in widths.items()
    }
    for number in range(max(1, *map(len, parts.values())) if parts else 0):
        line = {k: part[number] if number < len(part) else "" for k, part in parts.items()}
        pads = {k: " " * (w - _cell_width(line[k])) for k, w in widths.items()}
        padded = (line[k] + pads[k] if kinds[k] in LEFT_ALIGNED else pads[k] + line[k] for k in widths)
        yield COLUMN_GAP.join(padded).rstrip()
