"""`riverboat ledger`: recorded results as tables, a page and a plot."""

from __future__ import annotations

from pathlib import Path

from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import files
from riverboat.reports import ledger as report


def ledger(
    file: Path = Path("ledger.jsonl"),
    *,
    add: list[Path] | None = None,
    write: Path | None = None,
    plot: Path | None = None,
    json: bool = False,
) -> None:
    """Show recorded results: ratings over all matches, exploitability bounds, agents.

    Parameters
    ----------
    file
        The ledger: a text file with one result per line.
    add
        Add a result file: output of match, lbr, exploitability or cost with --json.
    write
        Write a page in Markdown.
    plot
        Plot strength against core-hours, megabytes and seconds.
    """
    book = report.open_ledger(file, add or ())
    if add:
        say(f"ledger: {file}, {len(book.entries)} results")
    if write is not None:
        files.write_text(write, report.to_markdown_page(book, write))
        say(f"page: {write}")
    if plot is not None:
        from riverboat.reports.plots.results import plot_strength_against_cost

        plot_strength_against_cost(book, plot)
        say(f"picture: {plot}")
    if json:
        emit(report.ledger_to_dict(book))
        return
    console = plain_console()
    for title, table in report.ledger_tables(book):
        console.print(title)
        console.print(table)
    console.print(report.describe_scale(book))
