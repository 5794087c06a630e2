"""Tables as commands print them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from riverboat.core.tables import FIGURE, PROSE, Cell, ReportColumn, ReportTable


def figure(name: str, rank: int = 0) -> ReportColumn:
    """Return a column of formatted numbers."""
    return ReportColumn(name, FIGURE, rank=rank)


def prose(name: str, rank: int = 0) -> ReportColumn:
    """Return a column of texts that may be wrapped."""
    return ReportColumn(name, PROSE, rank=rank)


def make_table(columns: Iterable[str | ReportColumn], rows: Iterable[Sequence[Cell]], title: str = "") -> ReportTable:
    """Return a table; columns given by name hold short texts."""
    named = (ReportColumn(column) if isinstance(column, str) else column for column in columns)
    return ReportTable(title, tuple(named), tuple(map(tuple, rows)))


def format_counts(counts: Iterable[int]) -> str:
    """Return the numbers of buckets of the streets as text."""
    return " – ".join(f"{count:,}" for count in counts)
