"""Commands about libraries of solved endgames."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import SEED, THREADS, Json

app = typer.Typer(help="Libraries of solved river endgames.", no_args_is_help=True)
Library = Annotated[Path, typer.Argument(help="Folder of the library.")]


@app.command("build")
def build(
    folder: Library,
    agent: Annotated[str, typer.Option(help="A blueprint, whose rivers against itself are solved.")] = "demo",
    count: Annotated[int, typer.Option(min=1, max=10_000_000, help="Endgames that it shall have.")] = 1000,
    resume: Annotated[bool, typer.Option("--resume", help="Go on in that folder.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Solve twenty and tell time and memory of all.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Of the cards.")] = 0,
    threads: Annotated[int, typer.Option(min=1, max=THREADS, help="Threads.")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto for what there is.")] = "cpu",
    json: Json = False,
) -> None:
    """Solve rivers that a blueprint reaches, and keep them by the equities of both ranges."""
    from riverboat.cli.endgames import endgames

    endgames.build(folder, agent, count, resume, estimate, seed, threads, device, json)


@app.command("show")
def show(folder: Library, json: Json = False) -> None:
    """What a library holds."""
    from riverboat.cli.endgames import endgames

    endgames.show(folder, json)


@app.command("query")
def query(
    folder: Library,
    board: Annotated[str, typer.Option(help="Five cards, such as QsJh2h7d7c.")],
    oop: Annotated[str, typer.Option(help="Range of the player who acts first.")],
    ip: Annotated[str, typer.Option(help="Range of the other.")],
    pot: Annotated[float, typer.Option(min=0, help="Chips in the middle.")] = 100.0,
    stack: Annotated[float, typer.Option(min=0, help="Chips behind.")] = 100.0,
    exact: Annotated[bool, typer.Option("--exact", help="Also solve it, and compare.")] = False,
    json: Json = False,
) -> None:
    """The nearest endgame, what it says of the values, and what is played first."""
    from riverboat.cli.endgames import endgames

    endgames.query(folder, board, oop, ip, pot, stack, exact, json)
