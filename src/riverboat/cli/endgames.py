"""`riverboat endgames`: databases of solved river endgames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from riverboat.api import endgames
from riverboat.api.devices import note_cpu_fallback
from riverboat.cli.progress import ProgressBar, StageDisplay
from riverboat.cli.terminal import figure, make_table, print_result, prose, say
from riverboat.core.formatting import format_bytes, format_seconds


def build(folder: Path, *, estimate: bool = False, resume: bool = False, json: bool = False, **options: Any) -> None:
    """Solve rivers that a blueprint reaches, and index them by the equities of both ranges.

    Parameters
    ----------
    folder
        Folder of the database.
    estimate
        Solve twenty and print the estimated time and memory of all.
    resume
        Continue the build in that folder.
    """
    note_cpu_fallback(StageDisplay(), options.get("device", ""))
    if estimate:
        facts = endgames.estimate_endgames(folder, **options)
        line = (
            f"{facts['endgames']:,} endgames: about {format_seconds(facts['seconds'])} on {facts['threads']} threads "
            f"({1000 * facts['processor_seconds_each']:.0f} ms of CPU time each, measured on "
            f"{endgames.ESTIMATE_SAMPLE_SIZE}), {format_bytes(facts['bytes'])}"
        )
        print_result(facts, [line], json)
        return
    saved, total = 0, 0

    def report(done: int, target: int) -> None:
        nonlocal saved, total
        saved, total = done, target
        bar(done / target)

    try:
        with ProgressBar("endgames") as bar:
            built = endgames.build_endgames(folder, resume=resume, **options, progress=report)
    except KeyboardInterrupt:
        if saved:
            say(f"{saved:,} of {total:,} endgames are saved in {folder}; the same command with --resume continues")
        raise
    line = (
        f"{built.endgames:,} endgames in {folder}, {format_seconds(built.seconds)} "
        f"({format_seconds(built.processor_seconds)} of CPU time)"
    )
    print_result(built, [line], json)


def show(folder: Path, *, json: bool = False) -> None:
    """Show the contents of a database.

    Parameters
    ----------
    folder
        Folder of the database.
    """
    facts = endgames.describe_endgames(folder)
    rows = (
        (f"{row['stack_in_pots']:g}", f"{row['endgames']:,}", "" if (d := row["nearest_other"]) is None else f"{d:.4f}")
        for row in facts["rungs"]
    )
    table = make_table(map(figure, ("stack in pots", "endgames", "distance to nearest")), rows)
    line = f"{facts['endgames']:,} endgames of {', '.join(map(str, facts['agents']))}; distances are medians"
    print_result(facts, [table, line], json)


def query(folder: Path, *, json: bool = False, **options: Any) -> None:
    """Find the nearest endgame, and print its values and first action.

    Parameters
    ----------
    folder
        Folder of the database.
    """
    match = endgames.query_endgames(folder, **options)
    distance = f"{match.distance:.4f} (EMD of equity, maximum over both players), found in {match.microseconds:.0f} µs"
    rows = [
        ("nearest", f"entry {match.entry:,} at stack level {match.stack_level:g} pots"),
        ("distance", distance),
        ("value", ", ".join(f"{name} {value:.3f}" for name, value in match.values.items()) + " pots"),
    ]
    if match.exact is not None:
        rows.append(("solved", ", ".join(f"{name} {value:.3f}" for name, value in match.exact.items()) + " pots"))
    rows.append(("first", ", ".join(f"{move} {share:.0%}" for move, share in match.first.items())))
    print_result(match, [make_table(["endgame", prose("")], rows)], json)
