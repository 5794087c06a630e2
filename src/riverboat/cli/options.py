"""Limits of numeric options, and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.core.errors import MAX_THREADS

# Limits of integer options: larger values are typing errors, and the loops count in 64 bits.
MAX_COUNT = 10**15
THREAD_LIMIT = MAX_THREADS
MAX_SEED = 2**63 - 1
MAX_PORT = 2**16 - 1

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
AgentArgument = Annotated[
    str, typer.Argument(help="A baseline agent, a blueprint folder (runs/x?purify), module:Class, demo or default.")
]
GameOption = Annotated[str | None, typer.Option(help="A game or .game file; by default the agents' game.")]
FolderArgument = Annotated[Path, typer.Argument(help="Folder of a run or a strategy.")]
SolvedGameOption = Annotated[
    str | None, typer.Option("--game", help="The game that was solved, if it was module:object.")
]
