"""A small table that shows itself: in a terminal, in a notebook, as CSV, as dictionaries.

Figures are kept as they are; shares are printed as percentages.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from riverboat.errors import InputError, unknown

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

Cell: TypeAlias = str | float | None
TEXT, SHARE, CHIPS, COUNT = "text", "share", "chips", "count"


class Column(NamedTuple):
    """What stands in a column; `kind` says how it is printed."""

    name: str
    kind: str = TEXT
    title: str = ""  # where it is printed under another name


def show(value: Cell, kind: str) -> str:
    """A cell as it is printed: shares in %, chips to a hundredth; nothing for what is not known."""
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
    """Rows under named columns. The first column names the row: `table["KsJs"]` is that row as a dictionary."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return (dict(zip(self.names, row, strict=True)) for row in self.rows)

    def __getitem__(self, name: str) -> dict[str, Cell]:
        for row in self.rows:
            if row[0] == name:
                return dict(zip(self.names, row, strict=True))
        raise unknown(self.columns[0].name, name, [str(row[0]) for row in self.rows])

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
        return replace(self, rows=self.rows[:count])

    # --- out --------------------------------------------------------------------------------

    def to_csv(self) -> str:
        """Comma-separated, with the names of the columns first; empty where nothing is known."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows(self.rows)
        return text.getvalue()

    def _titles(self) -> list[str]:
        marks = {SHARE: " %"}
        return [(column.title or column.name) + marks.get(column.kind, "") for column in self.columns]

    def _cells(self) -> Iterable[Sequence[str]]:
        return ([show(cell, column.kind) for cell, column in zip(row, self.columns, strict=True)] for row in self.rows)

    def __str__(self) -> str:
        lines = [self._titles(), *self._cells()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.columns))]
        pads = [str.ljust if column.kind == TEXT else str.rjust for column in self.columns]
        body = ["  ".join(pads[k](line[k], widths[k]) for k in range(len(widths))).rstrip() for line in lines]
        return "\n".join([self.title, *body] if self.title else body)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.table import Table
        from rich.text import Text

        if self.title:
            yield Text(self.title, style="bold")
        table = Table(box=None, pad_edge=False)
        for title, column in zip(self._titles(), self.columns, strict=True):
            table.add_column(title, justify="left" if column.kind == TEXT else "right", no_wrap=True)
        for cells in self._cells():
            table.add_row(*(Text(cell) for cell in cells))
        yield table

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(title)}</th>" for title in self._titles())
        sides = ["left" if column.kind == TEXT else "right" for column in self.columns]
        body = "".join(
            "<tr>"
            + "".join(f'<td style="text-align:{side}">{escape(c)}</td>' for side, c in zip(sides, cells, strict=True))
            + "</tr>"
            for cells in self._cells()
        )
        title = f"<div><b>{escape(self.title)}</b></div>" if self.title else ""
        return f"{title}<table><tr>{head}</tr>{body}</table>"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"title": self.title, "rows": list(self)}
