"""What options of commands may be, and those that many commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.core.errors import MAX_THREADS

# What whole numbers of options may be: beyond, they are a slip, and the loops count in 64 bits.
MANY = 10**15
THREADS = MAX_THREADS
SEED = 2**63 - 1
PORT = 2**16 - 1

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")]
Agent = Annotated[
    str, typer.Argument(help="A yardstick, a folder with a blueprint (runs/x?purify), module:Class, demo or default.")
]
Game = Annotated[str | None, typer.Option(help="A game or .game file; what the agents play by default.")]
Folder = Annotated[Path, typer.Argument(help="Folder of a run or a strategy.")]
SolvedGame = Annotated[
    str | None, typer.Option("--game", help="The game it was solved from, where that was module:object.")
]
