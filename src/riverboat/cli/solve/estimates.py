"""Print estimates of a solve: `riverboat solve --estimate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riverboat.api.estimate import ESTIMATED, EXACT
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.formatting import format_bytes, format_seconds
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable

MAX_LINES_SHOWN = 40  # lines printed per street


def print_estimate(facts: Mapping[str, Any], json: bool) -> None:
    """Print sizes in chips, nodes and boards of each street, memory and time."""
    if json:
        emit(dict(facts))
    elif "streets" in facts:
        _print_spot_estimate(facts)
    else:
        _print_tree_estimate(facts)


def _print_tree_estimate(facts: Mapping[str, Any]) -> None:
    """Print the estimate of a game other than hold'em."""
    exact = facts["figures_are"] == EXACT
    about = "" if exact else "about "

    def number(x: int) -> str:
        return f"{x:,}" if exact else f"{x:.2g}"

    console = plain_console()
    console.print(f"{facts['game']}: {about}{number(facts['nodes'])} nodes in the tree")
    if "infosets" in facts:
        console.print(
            f"{about}{number(facts['infosets'])} information sets, {number(facts['infoset_actions'])} infoset-actions"
        )
        tables = ", ".join(f"{name} {format_bytes(size)}" for name, size in facts["bytes"].items())
        console.print(f"tables ({facts['schedule']}): {about}{tables}")
    if not exact:
        console.print(f"{ESTIMATED}; the solver counts nodes while it builds, and stops if memory runs out")


def _print_spot_estimate(facts: Mapping[str, Any]) -> None:
    console = plain_console()
    console.print(
        f"{facts['game']}: {facts['infosets']:,} information sets, {facts['infoset_actions']:,} infoset-actions"
    )
    first, *others = facts["streets"][0]
    columns = ReportColumn(first), *(ReportColumn(name, FIGURE, name.replace("_", " ")) for name in others)
    rows = [(str(row[first]), *(f"{row[name]:,}" for name in others)) for row in facts["streets"]]
    console.print(ReportTable("", columns, tuple(rows)))
    tables = ", ".join(f"{name} {format_bytes(size)}" for name, size in facts["bytes"].items())
    console.print(f"tables ({facts['schedule']}): {tables}; the tree itself {format_bytes(facts['bytes_tree'])}")
    text = f"about {format_seconds(facts['seconds_per_iteration'])} per iteration on {facts['threads']} thread"
    text += "s" if facts["threads"] > 1 else ""
    if facts["seconds_to_target"] is not None:
        duration = format_seconds(facts["seconds_to_target"])
        target, iterations = facts["target_pct"], facts["iterations_to_target"]
        text += f", {duration} to {target:g} % of the pot if that takes {iterations} iterations"
    console.print(f"{text} (an estimate; your machine may be up to three times faster or slower)")
    console.print("sizes in chips, as totals on the street; * is any card")
    for number, row in enumerate(facts["streets"]):
        lines = [line for line in facts["menus"] if line["street"] == number]
        console.print(f"{row['street']}:")
        for line in lines[:MAX_LINES_SHOWN]:
            where = f"{line['line'] or 'root'}: {line['player']}, pot {line['pot']:g}"
            console.print(f"  {where}: {' '.join(line['moves'])}")
        if len(lines) > MAX_LINES_SHOWN:
            console.print(f"  … {len(lines) - MAX_LINES_SHOWN:,} more; --json prints all")
