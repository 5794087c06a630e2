"""`riverboat ledger`: recorded results as tables, a page and a plot."""

from __future__ import annotations

from pathlib import Path

from riverboat.cli.terminal import print_result, save_picture, say
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
        from riverboat.plots.results import plot_strength_against_cost  # loads matplotlib

        save_picture(plot_strength_against_cost(book), plot)
    parts = [part for titled_table in report.ledger_tables(book) for part in titled_table]
    print_result(report.ledger_to_dict(book), [*parts, report.describe_scale(book)], json)
