"""Commands about files: convert, ship and sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from riverboat.cli.command import command
from riverboat.cli.options import MAX_COUNT, THREAD_LIMIT, JsonOption
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, parse_duration, plain_console, say
from riverboat.core.errors import InputError
from riverboat.core.files import check_image_path, write_text
from riverboat.core.formatting import format_bytes


@command("riverboat.api.artifacts:convert")
def convert(
    source: Annotated[str, typer.Argument(help="A game, or a file of PioSOLVER, TexasSolver or WASM Postflop.")],
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Convert a game to a Gambit file, or another solver's file to a spot file."""
    from riverboat.api import artifacts

    written = artifacts.convert(source, **options)
    for note in written.left_out:
        say(f"left out: {note}")
    if json:
        emit(written.to_dict())
    else:
        plain_console().print(f"{written.file}: {written.game}, from {written.source}")


def sweep(
    games: Annotated[list[str], typer.Argument(help="Games by name or file.")],
    schedule: Annotated[list[str] | None, typer.Option(help="A CFR schedule; repeat for several.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=10_000, help="Number of seeds, from 0; one if nothing is sampled.")
    ] = 1,
    traversal: Annotated[str, typer.Option(help="full, chance, external, outcome, pcs, opcs or spcs.")] = "full",
    iterations: Annotated[int | None, typer.Option(min=0, max=MAX_COUNT, help="Iterations of each solve.")] = None,
    time: Annotated[str | None, typer.Option(help="Time of each solve: 90s, 5m, 8h.")] = None,
    until: Annotated[float | None, typer.Option(help="Exploitability at which a solve stops.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=THREAD_LIMIT, help="Processes, or CPUs of the cluster.")] = 1,
    cluster: Annotated[str | None, typer.Option(help="Ray: local, auto or an address.")] = None,
    answer: Annotated[str, typer.Option(help="Strategy to measure: last, or best check.")] = "last",
    plot: Annotated[Path | None, typer.Option(help="Plot exploitability by iterations, one panel per game.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one row per solve to a CSV file.")] = None,
    json: JsonOption = False,
) -> None:
    """Solve games × schedules × seeds, and print one table."""
    from riverboat.api import sweep as api

    if plot is not None:
        check_image_path(plot)  # raises before the work, not after it
    if csv is not None and csv.is_dir():
        raise InputError(f"--csv {csv}: is a folder; give the name of a file")
    seconds = parse_duration(time) if time else None
    with ProgressLine("sweep") as line:

        def report(trial: api.SweepTrial, done: int, of: int) -> None:
            line.update(done / of, f"{done} of {of}: {trial.game} {trial.schedule} seed {trial.seed}")

        result = api.sweep(
            games, schedule or ["dcfr"], seeds, traversal=traversal, iterations=iterations, time=seconds, until=until,
            workers=workers, cluster=cluster, answer=answer, progress=report,  # type: ignore[arg-type]
        )  # fmt: skip
    emit(result.to_dict()) if json else plain_console().print(result.table())
    if csv is not None:
        write_text(csv, result.to_csv())
        say(f"table: {csv}")
    if plot is not None:
        result.plot(plot)
        say(f"picture: {plot}")
    missed = [trial for trial in result.trials if not trial.reached]
    for trial in missed:
        reached = f"{trial.exploitability:.4g} {trial.unit}"
        say(f"{trial.game} {trial.schedule} seed {trial.seed}: the target was not reached: {reached}")
    if missed:
        raise typer.Exit(1)


@command("riverboat.api.artifacts:ship")
def ship(
    blueprint: Annotated[str, typer.Argument(help="Folder of the blueprint, or an agent: demo, 'demo?purify'.")],
    json: JsonOption = False,
    **options: Any,
) -> None:
    """Compress a blueprint to a few megabytes; the result needs no separate card abstraction."""
    from riverboat.api import artifacts

    shipped = artifacts.ship(blueprint, **options)
    if json:
        emit(shipped.to_dict())
        return
    buckets = " – ".join(f"{count:,}" for count in shipped.buckets)
    sizes = f"{format_bytes(shipped.bytes)}, {format_bytes(shipped.zipped)} in a wheel"
    plain_console().print(f"{shipped.folder}: {sizes}, {shipped.nodes:,} nodes, buckets {buckets}")


COMMANDS = (convert, ship, sweep)
