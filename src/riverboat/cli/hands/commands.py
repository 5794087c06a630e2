"""Commands about hands that people or programs have played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import Agent, Game, Json


def hands(
    files: Annotated[list[Path], typer.Argument(help="Hands on record: .phh, .phhs (PHH) or .log (ACPC), .gz too.")],
    player: Annotated[list[str] | None, typer.Option(help="Whose facts; those with the most hands by default.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the facts with their intervals.")] = None,
    game: Game = None,
    json: Json = False,
) -> None:
    """Read hands on record: how many, what was refused and why, and how their players play."""
    from riverboat.cli.hands import statistics

    statistics.hands(files, player or [], plot, game, json)


def model(
    agent: Agent,
    files: Annotated[list[Path], typer.Argument(help="Hands on record, as for `riverboat hands`.")],
    player: Annotated[
        list[str] | None, typer.Option(help="Who is modelled; those with the most hands by default.")
    ] = None,
    fit: Annotated[str, typer.Option(help="The kind of the model of --out: tied, l1, l2, em or clusters.")] = "l1",
    learn: Annotated[float, typer.Option(help="Share of a player's hands that is learnt from.")] = 0.8,
    out: Annotated[
        Path | None, typer.Option(help="Save the model of one --player, learnt from all hands: a blueprint.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw what was foretold beside what was done.")] = None,
    json: Json = False,
) -> None:
    """Models of players in a blueprint's tree, judged by what they say of hands not seen."""
    from riverboat.cli.hands import player_models

    options = player_models.Options(players=player or [], fit=fit, learn=learn, out=out, plot=plot, json=json)
    player_models.model(agent, files, options)


COMMANDS = (hands, model)
