"""`riverboat show` for card abstractions: summary and quality, the buckets of one hand, and images."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riverboat.api import show as show_api
from riverboat.cli.show.spot import ShowOptions
from riverboat.cli.terminal import format_counts, print_result, save_picture, say
from riverboat.core.errors import InputError
from riverboat.games.holdem.rules import STREETS

if TYPE_CHECKING:
    from riverboat.abstraction.cards.card_abstraction import CardAbstraction


def show_abstraction(folder: Path, part: str | None, view: ShowOptions, json: bool) -> None:
    """Print the quality of an abstraction, of one street (`flop`) or of its public buckets; or the buckets of one hand."""
    if name := view.first_of("table", "player", "sort", "runouts", "range", "values").partition(" ")[0]:
        raise InputError(f"{folder}: contains a card abstraction; {name} is for spots")
    cards = show_api.load_abstraction(folder)
    if view.hand is not None:
        if part is not None:
            raise InputError(f"{part} and --hand {view.hand}: a hand is shown on all streets up to its --board")
        buckets = show_api.explain_buckets(cards, view.hand, view.board or "")
        if view.picture is not None:
            from riverboat.reports.card_abstraction import plot_hand  # loads matplotlib

            save_picture(plot_hand(buckets), view.picture)
        print_result(buckets, [buckets], json)
        return
    described = show_api.describe_abstraction(cards, part, limit=view.limit)
    if view.picture is not None:
        _save_picture(cards, part, view.board, view.picture)
    elif view.board is not None:
        raise InputError(f"--board {view.board}: name a hand with --hand, or draw the grid of the board with --picture")
    print_result(described, _report_parts(described, view.limit), json)
    if json:
        return
    if part in (None, show_api.PUBLIC) and len(described.report.public) > view.limit:
        say(f"… {len(described.report.public) - view.limit:,} more public buckets; increase --limit")
    if part is None:
        say("name a street to see more of its buckets, or a hand with --hand KsJs --board Td9d6h")


def _save_picture(cards: CardAbstraction, part: str | None, board: str | None, path: Path) -> None:
    """Draw the grid of a board, the public buckets, or the centroids of a street, by default of the flop."""
    from riverboat.reports import card_abstraction as plots  # loads matplotlib

    if board is not None:
        figure = plots.plot_bucket_grid(cards, board)
    elif part == show_api.PUBLIC or (part is None and cards.public is not None):
        figure = plots.plot_public_buckets(cards)
    else:
        figure = plots.plot_centroids(cards, part or STREETS[min(1, len(cards.streets) - 1)])
    save_picture(figure, path)


def _report_parts(described: show_api.AbstractionDescription, limit: int) -> Iterator[Any]:
    if described.part is None:
        for key, value in described.facts.items():
            if key != "recipe":
                shown = format_counts(value) if isinstance(value, list) else value
                shown = f"{shown:,}" if isinstance(shown, int) else shown
                yield f"{key:>14}  {shown}"
        yield ""
    yield described.report.select(described.part, limit)
