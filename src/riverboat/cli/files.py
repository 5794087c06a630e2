"""Commands about files and many solves: convert, ship and sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from riverboat.api import artifacts
from riverboat.api import sweep as sweep_api
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import format_counts, print_result, save_picture, say
from riverboat.core import files as core_files
from riverboat.core.errors import InputError
from riverboat.core.formatting import format_bytes


def convert(source: str, *, json: bool = False, **options: Any) -> None:
    """Convert a game to a Gambit file, or another solver's file to a spot file.

    Parameters
    ----------
    source
        A game, or a file of PioSOLVER, TexasSolver or WASM Postflop.
    """
    written = artifacts.convert(source, **options)
    for note in written.left_out:
        say(f"left out: {note}")
    print_result(written, [f"{written.file}: {written.game}, from {written.source}"], json)


def ship(blueprint: str, *, json: bool = False, **options: Any) -> None:
    """Compress a blueprint to a few megabytes; the result needs no separate card abstraction.

    Parameters
    ----------
    blueprint
        Folder of the blueprint, or an agent: demo, 'demo?purify'.
    """
    shipped = artifacts.ship(blueprint, **options)
    sizes = f"{format_bytes(shipped.bytes)}, {format_bytes(shipped.zipped)} in a wheel"
    line = f"{shipped.folder}: {sizes}, {shipped.nodes:,} nodes, buckets {format_counts(shipped.buckets)}"
    print_result(shipped, [line], json)


def sweep(
    games: list[str],
    *,
    plot: Path | None = None,
    csv: Path | None = None,
    save: Path | None = None,
    json: bool = False,
    **options: Any,
) -> bool:
    """Solve games × schedules × traversals × seeds, and print one table.

    Parameters
    ----------
    games
        Games by name or file.
    plot
        Plot exploitability by iterations, one panel per game.
    csv
        Write one row per solve to a CSV file.
    save
        Write one row per check of each solve: .csv or .parquet.
    """
    if save is not None:
        sweep_api.check_table_path(save)
    if csv is not None and csv.is_dir():
        raise InputError(f"--csv {csv}: is a folder; give the name of a file")
    with ProgressLine("sweep") as line:

        def report(trial: sweep_api.SweepTrial, done: int, of: int) -> None:
            line.update(done / of, f"{done} of {of}: {trial.game} {trial.schedule} seed {trial.seed}")

        result = sweep_api.sweep(games, progress=report, **options)
    print_result(result, [result.table()], json)
    for text in result.left_out:
        say(f"left out: {text}")
    if csv is not None:
        core_files.write_text(csv, result.to_csv())
        say(f"table: {csv}")
    if save is not None:
        say(f"checks: {result.save(save)}")
    if plot is not None:
        save_picture(result.figure(), plot)
    missed = [trial for trial in result.trials if not trial.reached]
    for trial in missed:
        reached = f"{trial.exploitability:.4g} {trial.unit}"
        say(f"{trial.game} {trial.schedule} seed {trial.seed}: the target was not reached: {reached}")
    return not missed
