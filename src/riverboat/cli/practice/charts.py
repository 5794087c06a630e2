"""`riverboat charts`: what is done with each starting hand, as grids on the screen and as one picture."""

from __future__ import annotations

from pathlib import Path

from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError
from riverboat.core.formatting import quote
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.practice.charts import Book, Chart, charts_of, difference, save_sheet

WIDEST = 12  # cells of a comparison that are shown


def charts(source: str, lines: list[str], against: str | None, out: Path | None, list_only: bool, json: bool) -> None:
    """Print charts, compare them with those of another source, or draw them."""
    if out is not None:
        atomic_io.check_picture(out)
    book = charts_of(source)
    chosen = [_chart(book, source, line) for line in lines] if lines else list(book.charts)
    if out is not None:
        save_sheet(chosen if lines else chosen[:6], out)
        say(f"picture: {out}")
    if against is not None:
        _compare(chosen if lines else chosen[:1], source, against, json)
        return
    if json:
        states = {"state": book.state, "states": list(book.states)} if book.states else {}
        emit({"source": source, **states, "charts": [chart.to_dict() for chart in chosen]})
        return
    console = plain_console()
    columns = Column("line"), Column("who"), Column("reached", FIGURE), Column("moves")
    console.print(ReportTable("", columns, tuple(_row(chart) for chart in (chosen if lines else book.charts))))
    for chart in chosen if lines else () if list_only else _main(book):
        console.print(chart.grid)
    if book.states:
        folder = source.partition("?")[0]
        some = ", ".join(book.states[:: max(1, len(book.states) // 4)][:4])
        other = quote(f"{folder}?state={book.states[-1]}")
        said = f"stacks {book.state}; {len(book.states):,} states ({some}, …): riverboat charts {other}"
        console.print(said, highlight=False, soft_wrap=True)


def _chart(book: Book, source: str, line: str) -> Chart:
    """One of the book, or one deeper in a solved spot."""
    return book[line] if any(chart.line == line for chart in book.charts) else charts_of(source, line)[line]


def _main(book: Book) -> list[Chart]:
    """The charts that are drawn without being asked for: the first decision, and the answer to a shove."""
    return [*book.charts[:1], *(chart for chart in book.charts[1:] if chart.line == book.shove)]


def _row(chart: Chart) -> tuple[str, ...]:
    often = chart.reached
    reached = "" if often is None else "never" if often == 0 else f"{100 * often:.1f} %"
    moves = ", ".join(f"{name} {100 * chart.grid.share(name):.0f} %" for name in chart.moves)
    return chart.line or "–", chart.who, reached, moves


def _compare(chosen: list[Chart], source: str, against: str, json: bool) -> None:
    other = charts_of(against)
    told = [difference(chart, _chart(other, against, chart.line)) for chart in chosen]
    if json:
        emit({"source": source, "against": against, "charts": told})
        return
    if not told:
        raise InputError(f"{source}: no charts to compare")
    console = plain_console()
    for comparison in told:
        console.print(
            f"{comparison['lines'][0] or 'first decision'}: {100 * comparison['mean']:.1f} % of hands differ",
            highlight=False,
        )
        order = sorted(range(169), key=lambda cell: -comparison["apart"][cell])[:WIDEST]
        rows = []
        for cell in order:
            change = ", ".join(
                f"{m} {100 * comparison['change'][m][cell]:+.0f} %"
                for m in comparison["moves"]
                if comparison["change"][m][cell]
            )
            rows.append((comparison["cells"][cell], f"{100 * comparison['apart'][cell]:.0f} %", change))
        console.print(ReportTable("", (Column("hand"), Column("differs", FIGURE), Column("change")), tuple(rows)))
