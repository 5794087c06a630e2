"""Commands about files of games, tables of runs and what is passed on: convert, ship and sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import MANY, THREADS, Json
from riverboat.cli.terminal import duration


def convert(
    source: Annotated[str, typer.Argument(help="A game, or a file of PioSOLVER, TexasSolver or WASM Postflop.")],
    out: Annotated[Path, typer.Option(help="FILE.efg, FILE.nfg (matrix games) or FILE.toml (spots).")],
    board: Annotated[str | None, typer.Option(help="For another solver's file: in place of its board.")] = None,
    oop: Annotated[str | None, typer.Option(help="The range of the player out of position.")] = None,
    ip: Annotated[str | None, typer.Option(help="The range of the player in position.")] = None,
    json: Json = False,
) -> None:
    """Write a game as a Gambit file, or another solver's spot as a spot file."""
    from riverboat.cli.files import convert as converting

    converting.convert(source, out, board, oop, ip, json)


def sweep(
    games: Annotated[list[str], typer.Argument(help="Games by name or file.")],
    schedule: Annotated[list[str] | None, typer.Option(help="A schedule; give it again for more.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=10_000, help="So many seeds, from 0 on; one where nothing is drawn.")
    ] = 1,
    traversal: Annotated[str, typer.Option(help="full, chance, external, outcome, pcs, opcs or spcs.")] = "full",
    iterations: Annotated[int | None, typer.Option(min=0, max=MANY, help="Of each solve.")] = None,
    time: Annotated[str | None, typer.Option(help="Of each solve: 90s, 5m, 8h.")] = None,
    until: Annotated[float | None, typer.Option(help="Exploitability at which a solve ends.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=THREADS, help="Processes, or processors of the cluster.")] = 1,
    cluster: Annotated[str | None, typer.Option(help="Ray: local, auto or an address.")] = None,
    answer: Annotated[str, typer.Option(help="Strategy to measure: last, or best check.")] = "last",
    plot: Annotated[Path | None, typer.Option(help="Draw exploitability by iterations, a panel for each game.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write a row for each solve.")] = None,
    json: Json = False,
) -> None:
    """Solve games × schedules × seeds: one table, and one picture."""
    from riverboat.cli.files import sweep as sweeping

    options = {
        "seeds": seeds, "traversal": traversal, "iterations": iterations, "time": duration(time) if time else None,
        "until": until, "workers": workers, "cluster": cluster, "answer": answer,
    }  # fmt: skip
    if not sweeping.run(games, schedule or ["dcfr"], options, plot, csv, json):
        raise typer.Exit(1)


def ship(
    blueprint: Annotated[str, typer.Argument(help="Its folder, or an agent: demo, 'demo?purify'.")],
    out: Annotated[Path, typer.Option(help="A folder that is not there yet.")],
    steps: Annotated[int, typer.Option(help="How finely shares are told, up to 255: coarser ones zip better.")] = 63,
    json: Json = False,
) -> None:
    """Write a blueprint in the few megabytes that an agent is shipped with: it needs no card abstraction beside it."""
    from riverboat.cli.files import ship as shipping

    shipping.ship(blueprint, out, steps, json)


COMMANDS = (convert, ship, sweep)
