"""`riverboat show` for card abstractions: facts and quality, one hand explained, pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from riverboat.abstraction import explanation, quality
from riverboat.abstraction.cards.card_abstraction import KIND, STREETS, CardAbstraction, load_abstraction
from riverboat.cli.show.spot import View
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.errors import InputError, unknown
from riverboat.reports.plots import card_abstraction

PUBLIC = "public"
EXTREMES = 3  # tightest and widest buckets where all streets are shown


def show(folder: Path, part: str | None, view: View, json: bool) -> None:
    """Facts and quality of an abstraction, of one street (`flop`) or of its public buckets; or one hand explained."""
    for name, given in (("--table", view.table), ("--player", view.player), ("--sort", view.sort)):
        if given is not None:
            raise InputError(f"{folder}: holds a {KIND}; {name} is for spots")
    for name, asked in (("--runouts", view.runouts), ("--range", view.range), ("--values", view.values)):
        if asked:
            raise InputError(f"{folder}: holds a {KIND}; {name} is for spots")
    cards = load_abstraction(folder)
    parts = (*STREETS[: len(cards.streets)], *([PUBLIC] if cards.public is not None else []))
    if part is not None and part not in parts:
        raise unknown("part", part, parts)
    if view.hand is not None:
        if part is not None:
            raise InputError(f"{part} and --hand {view.hand}: a hand is shown on all streets up to its --board")
        _hand(cards, view, json)
        return
    if view.picture is not None:
        _picture(cards, part, view.board, view.picture)
    elif view.board is not None:
        raise InputError(f"--board {view.board}: name a hand with --hand, or draw the grid of the board with --picture")
    facts, report = _facts(cards), quality.report(cards, view.limit if part in STREETS else EXTREMES)
    if json:
        emit(facts | _some(report, part))
    else:
        _print(facts, report, part, view.limit)


def _hand(cards: CardAbstraction, view: View, json: bool) -> None:
    """One hand on every street up to its board."""
    assert view.hand is not None
    told = explanation.explain(cards, view.hand, view.board or "")
    if view.picture is not None:
        card_abstraction.save(card_abstraction.hand(told), view.picture)
        say(f"picture: {view.picture}")
    if json:
        emit(told.to_dict())
    else:
        plain_console().print(told)


def _picture(cards: CardAbstraction, part: str | None, board: str | None, path: Path) -> None:
    """The grid of a board; else the public buckets, or the centres of a street, the flop's where none is named."""
    if board is not None:
        figure = card_abstraction.grid(cards, board)
    elif part == PUBLIC or (part is None and cards.public is not None):
        figure = card_abstraction.public_buckets(cards)
    else:
        figure = card_abstraction.centres(cards, part or STREETS[min(1, len(cards.streets) - 1)])
    card_abstraction.save(figure, path)
    say(f"picture: {path}")


def _facts(cards: CardAbstraction) -> dict[str, Any]:
    facts: dict[str, Any] = {"kind": KIND, "name": cards.name, "buckets": list(cards.counts)}
    if cards.public is not None:
        facts["public_buckets"] = cards.public.count
    if cards.recipe.get("about"):
        facts["about"] = cards.recipe["about"]
    facts["table_bytes"] = sum(street.nbytes for street in cards.streets)
    seconds = [street.facts["seconds"] for street in cards.streets if "seconds" in street.facts]
    if seconds:
        facts["seconds"] = round(sum(seconds), 1)
    return facts | {"fingerprint": cards.fingerprint, "recipe": dict(cards.recipe)}


def _some(report: quality.Report, part: str | None) -> dict[str, Any]:
    """The report for JSON: all of it, one street, or the public buckets."""
    facts = report.to_dict()
    if part == PUBLIC:
        return {"public": facts["public"]}
    streets = {street["street"]: street for street in facts["streets"]}
    if part is not None:
        return {"streets": {part: streets[part]}}
    return {"streets": streets} | ({"public": facts["public"]} if facts["public"] else {})


def _print(facts: dict[str, Any], report: quality.Report, part: str | None, limit: int) -> None:
    console = plain_console()
    if part is None:
        for key, value in facts.items():
            if key != "recipe":
                shown = " – ".join(f"{x:,}" for x in value) if isinstance(value, list) else value
                shown = f"{shown:,}" if isinstance(shown, int) else shown
                console.print(f"{key:>14}  {shown}")
        console.print()
    console.print(report.only(part, limit))
    if part in (None, PUBLIC) and len(report.public) > limit:
        say(f"… {len(report.public) - limit:,} more public buckets; raise --limit")
    if part is None:
        say("name a street to see more of its buckets, or a hand with --hand KsJs --board Td9d6h")
