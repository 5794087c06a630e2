"""Commands about hands that people or programs have played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.interfaces.options import Game, Json


def hands(
    files: Annotated[list[Path], typer.Argument(help="Hands on record: .phh, .phhs (PHH) or .log (ACPC), .gz too.")],
    player: Annotated[list[str] | None, typer.Option(help="Whose facts; those with the most hands by default.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the facts with their intervals.")] = None,
    game: Game = None,
    json: Json = False,
) -> None:
    """Read hands on record: how many, what was refused and why, and how their players play."""
    from riverboat.interfaces import hand_facts

    hand_facts.hands(files, player or [], plot, game, json)


COMMANDS = (hands,)
