"""A small table that shows itself: in a terminal, in a notebook, as CSV, as dictionaries.

Figures are kept as they are; shares are printed as percentages. A table fits the width that it is given. Columns of
prose are wrapped first. Then columns are left out one by one, those of the highest rank first and the rightmost of one
rank, and a last line names them. The first column stays, and nothing is ever cut inside a cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import isnan
from operator import index
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

from riverboat.core.dataframes import frame
from riverboat.core.errors import InputError, unknown

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

Cell: TypeAlias = str | float | None
TEXT, PROSE, FIGURE, SHARE, CHIPS, COUNT = "text", "prose", "figure", "share", "chips", "count"
LEFT = (TEXT, PROSE)  # the others are figures, and stand on the right
GAP = "  "
PROSE_LEAST = 24  # narrower than this, prose is hard to read


class Column(NamedTuple):
    """What stands in a column; `kind` says how it is printed.

    `text` is never wrapped, `prose` may be; `figure` is a number that is written already; a `share` is printed in %,
    `chips` to a hundredth, a `count` to four digits.
    """

    name: str
    kind: str = TEXT
    title: str = ""  # where it is printed under another name
    rank: int = 0  # columns of a higher rank are left out first


def show(value: Cell, kind: str) -> str:
    """A cell as it is printed; nothing for what is not known."""
    if value is None or isinstance(value, str):
        return value or ""
    if kind == SHARE:
        return f"{100 * value:.1f}"
    return f"{value:,.2f}" if kind == CHIPS else f"{value:,.4g}"


def known(value: float) -> float | None:
    """A number, or None for NaN."""
    return None if isnan(value) else float(value)


@dataclass(frozen=True)
class ReportTable:
    """Rows under named columns. The first column names the row.

    `table["KsJs"]` and `table[0]` are that row as a dictionary, `table[:5]` is a table of the first five.
    """

    title: str
    columns: tuple[Column, ...]
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
            raise unknown(self.columns[0].name if self.columns else "row", key, [str(row[0]) for row in self.rows])
        try:
            place = index(key)
        except TypeError:
            raise InputError(f"row {key!r}: give its name, its number, or a slice such as [:10]") from None
        if not -len(self.rows) <= place < len(self.rows):
            raise InputError(f"row {place}: the table has {len(self.rows):,} rows, from 0 on")
        return self._dict(self.rows[place])

    def _dict(self, row: tuple[Cell, ...]) -> dict[str, Cell]:
        return dict(zip(self.names, row, strict=True))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> list[Cell]:
        """All cells of a column."""
        place = self._place(name)
        return [row[place] for row in self.rows]

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise unknown("column", name, self.names)
        return self.names.index(name)

    def sorted(self, by: str, *, descending: bool = True) -> ReportTable:
        """The same rows by a column; unknown figures come last."""
        place = self._place(by)
        told = [row for row in self.rows if row[place] is not None]
        rest = [row for row in self.rows if row[place] is None]
        told.sort(key=lambda row: row[place], reverse=descending)  # type: ignore[arg-type,return-value]
        return replace(self, rows=(*told, *rest))

    def top(self, count: int) -> ReportTable:
        """The first rows."""
        if count < 0:
            raise InputError(f"top({count}): must not be negative")
        return self[:count]

    # --- out --------------------------------------------------------------------------------

    def to_csv(self) -> str:
        """Comma-separated, with the names of the columns first; empty where nothing is known."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows(self.rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"title": self.title, "rows": list(self)}

    def to_frame(self) -> Any:
        """For pandas, under the names of the columns."""
        return frame({name: self.column(name) for name in self.names})

    def text(self, width: int | None = None) -> str:
        """Without the title, as wide as it is or in the width given; names of columns that found no room come last."""
        lines = [self._titles(), *self._cells()]
        widths, left_out = self._fit(lines, width)
        kinds = [column.kind for column in self.columns]
        body = [text for cells in lines for text in _row(cells, kinds, widths)]
        if left_out:
            body += wrap("no room for: " + ", ".join(left_out), max(width or 0, PROSE_LEAST), break_long_words=False)
        return "\n".join(body)

    def _fit(self, lines: Sequence[Sequence[str]], width: int | None) -> tuple[dict[int, int], list[str]]:
        """The widths of the columns that are printed, and the titles of the others."""
        widths = {k: max(_width(cells[k]) for cells in lines) for k in range(len(self.columns))}
        if width is None:
            return widths, []
        dropped: list[int] = []
        while len(widths) > 1 and _total(self._narrowest(widths)) > width:
            worst = max(list(widths)[1:], key=lambda k: (self.columns[k].rank, k))
            del widths[worst]
            dropped.append(worst)
        prose = sorted((k for k in widths if self.columns[k].kind == PROSE), key=lambda k: widths[k])
        for place, k in enumerate(prose):  # what is left is shared out; who needs less leaves more to the others
            wide = prose[place:]
            room = width - _total({j: 0 if j in wide else w for j, w in widths.items()})
            widths[k] = min(widths[k], max(room // len(wide), PROSE_LEAST))
        return widths, [lines[0][k] for k in sorted(dropped)]

    def _narrowest(self, widths: dict[int, int]) -> dict[int, int]:
        return {k: min(w, PROSE_LEAST) if self.columns[k].kind == PROSE else w for k, w in widths.items()}

    def _titles(self) -> list[str]:
        marks = {SHARE: " %"}
        return [(column.title or column.name) + marks.get(column.kind, "") for column in self.columns]

    def _cells(self) -> Iterable[Sequence[str]]:
        return ([show(cell, column.kind) for cell, column in zip(row, self.columns, strict=True)] for row in self.rows)

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
        head = "".join(f"<th>{escape(title)}</th>" for title in self._titles())
        sides = ["left" if column.kind in LEFT else "right" for column in self.columns]
        body = "".join(
            "<tr>"
            + "".join(f'<td style="text-align:{side}">{_html(c)}</td>' for side, c in zip(sides, cells, strict=True))
            + "</tr>"
            for cells in self._cells()
        )
        title = f"<div><b>{escape(self.title)}</b></div>" if self.title else ""
        return f"{title}<table><tr>{head}</tr>{body}</table>"


def _html(cell: str) -> str:
    return escape(cell).replace("\n", "<br>")


def _width(cell: str) -> int:
    """Columns of a terminal that a cell takes; it may have several lines."""
    from rich.cells import cell_len

    return max(map(cell_len, cell.split("\n")))


def _total(widths: dict[int, int]) -> int:
    return sum(widths.values()) + len(GAP) * (len(widths) - 1)


def _row(cells: Sequence[str], kinds: Sequence[str], widths: dict[int, int]) -> Iterator[str]:
    """The lines of a row, from those of its cells."""
    parts = {
        k: [piece for line in cells[k].split("\n") for piece in (wrap(line, w) if kinds[k] == PROSE else [line])]
        for k, w in widths.items()
    }
    for number in range(max(1, *map(len, parts.values())) if parts else 0):
        line = {k: part[number] if number < len(part) else "" for k, part in parts.items()}
        pads = {k: " " * (w - _width(line[k])) for k, w in widths.items()}
        yield GAP.join(line[k] + pads[k] if kinds[k] in LEFT else pads[k] + line[k] for k in widths).rstrip()
