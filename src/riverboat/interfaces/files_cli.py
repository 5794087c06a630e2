"""Commands about files of games and tables of runs: convert and sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.interfaces.options import Json


def convert(
    source: Annotated[str, typer.Argument(help="A game, or a file of PioSOLVER, TexasSolver or WASM Postflop.")],
    out: Annotated[Path, typer.Option(help="FILE.efg, FILE.nfg (matrix games) or FILE.toml (spots).")],
    board: Annotated[str | None, typer.Option(help="For another solver's file: in place of its board.")] = None,
    oop: Annotated[str | None, typer.Option(help="The range of the player out of position.")] = None,
    ip: Annotated[str | None, typer.Option(help="The range of the player in position.")] = None,
    json: Json = False,
) -> None:
    """Write a game as a Gambit file, or another solver's spot as a spot file."""
    from riverboat.interfaces import converting

    converting.convert(source, out, board, oop, ip, json)


COMMANDS = (convert,)
