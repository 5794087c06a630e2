"""Commands to practise with: drills and charts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import MANY, SEED, Json

Source = Annotated[
    str,
    typer.Argument(help="A folder with a solved spot or tournament, an agent with a blueprint (demo), or push:10,10."),
]


def drill(
    source: Source = "default",
    questions: Annotated[int | None, typer.Option(min=1, max=MANY, help="Leave after so many.")] = None,
    line: Annotated[str | None, typer.Option(help="Ask at this line again and again.")] = None,
    seat: Annotated[str | None, typer.Option(help="oop or ip; both by default.")] = None,
    only: Annotated[str, typer.Option(help="all, close (moves worth nearly the same) or mixed decisions.")] = "all",
    scope: Annotated[
        str, typer.Option(help="one decision of a hand, to the end of the street, or to the end.")
    ] = "one",
    no_focus: Annotated[
        bool, typer.Option("--no-focus", help="Deal as it comes, not more of what was expensive so far.")
    ] = False,
    record: Annotated[Path | None, typer.Option(help="The file of answers; in the data folder by default.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Show the record: where EV is lost, and over time.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, max=SEED, help="Of cards; a new one by default.")] = None,
    json: Json = False,
) -> None:
    """Decisions asked one after the other, graded by EV lost; a record says where it is lost."""
    from riverboat.cli.practice import drill as drilling
    from riverboat.practice.drills import DrillOptions

    asked = DrillOptions(line, seat, only, scope, not no_focus)
    drilling.drill(source, drilling.Options(questions, asked, record, seed, show, json))


def charts(
    source: Source = "default",
    line: Annotated[
        list[str] | None, typer.Option(help="A decision, such as cr300 or J; several may be given.")
    ] = None,
    against: Annotated[str | None, typer.Option(help="Another source: where its charts differ.")] = None,
    out: Annotated[Path | None, typer.Option(help="Draw the charts into one picture: .png, .svg or .pdf.")] = None,
    list_only: Annotated[bool, typer.Option("--list", help="The decisions, without a grid.")] = False,
    json: Json = False,
) -> None:
    """What is done with each starting hand: charts of blueprints, solved spots, push or fold tables, tournaments."""
    from riverboat.cli.practice import charts as charting

    charting.charts(source, line or [], against, out, list_only, json)


COMMANDS = (drill, charts)
