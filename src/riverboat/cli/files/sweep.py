"""The command that solves games × schedules × seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from riverboat.api.sweep import Trial, sweep
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError


def run(
    games: list[str], schedules: list[str], options: dict[str, Any], plot: Path | None, csv: Path | None, json: bool
) -> bool:
    """Solve, print the table, draw the picture; true unless a target was missed."""
    if plot is not None:
        atomic_io.check_picture(plot)  # told before the work, not after it
    if csv is not None and csv.is_dir():
        raise InputError(f"--csv {csv}: is a folder; give the name of a file")
    with ProgressLine("sweep") as line:

        def heard(trial: Trial, done: int, of: int) -> None:
            line.update(done / of, f"{done} of {of}: {trial.game} {trial.schedule} seed {trial.seed}")

        swept = sweep(games, schedules, **options, progress=heard)
    table = swept.table()
    if json:
        emit({"rows": list(table), "trials": [vars(trial) for trial in swept.trials], "exploitability_is": "exact"})
    else:
        plain_console().print(table)
    if csv is not None:
        atomic_io.write_text(csv, swept.to_csv())
        say(f"table: {csv}")
    if plot is not None:
        swept.plot(plot)
        say(f"picture: {plot}")
    missed = [trial for trial in swept.trials if not trial.reached]
    for trial in missed:
        reached = f"{trial.exploitability:.4g} {trial.unit}"
        say(f"{trial.game} {trial.schedule} seed {trial.seed}: the target was not reached: {reached}")
    return not missed
