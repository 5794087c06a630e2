"""The command that writes a game, or another solver's file, as a file of another kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.errors import InputError
from riverboat.core.text_files import read_text
from riverboat.formats.game_export import write_game
from riverboat.formats.other_solvers import is_other, load_other
from riverboat.games.base import Game
from riverboat.games.registry import FILES
from riverboat.solvers.game_values import game as make_game


def convert(source: str, out: Path, board: str | None, oop: str | None, ip: str | None, json: bool) -> None:
    """Read, write, and say what was left out."""
    if out.exists():
        raise InputError(f"--out {out}: exists already; choose another name")
    game, facts = _read(source, board, oop, ip)
    written = write_game(game, out)
    for note in facts["left_out"]:
        say(f"left out: {note}")
    if json:
        emit({"file": str(written), **facts})
    else:
        plain_console().print(f"{written}: {facts['game']}, from {facts['source']}")


def _read(source: str, board: str | None, oop: str | None, ip: str | None) -> tuple[Game, dict[str, Any]]:
    path = Path(source)
    if path.suffix.lower() not in FILES and path.is_file() and is_other(read_text(path, "file of another solver")):
        imported = load_other(path, board=board, oop=oop, ip=ip)
        return imported.spot, {"game": imported.spot.name, "source": imported.source, "left_out": list(imported.notes)}
    if board or oop or ip:
        raise InputError(f"--board, --oop and --ip go with another solver's file; {source} is none")
    game = make_game(source)
    return game, {"game": game.name, "source": source, "left_out": []}
