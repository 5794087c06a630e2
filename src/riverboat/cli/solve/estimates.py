"""Print estimates of a solve: `riverboat solve --estimate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from riverboat.api.estimate import ESTIMATED, EXACT
from riverboat.cli.terminal import print_result
from riverboat.core.formatting import format_bytes, format_seconds
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable

MAX_LINES_SHOWN = 40  # lines printed per street


def print_estimate(facts: Mapping[str, Any], json: bool) -> None:
    """Print sizes in chips, nodes and boards of each street, memory and time."""
    lines = _spot_estimate_parts(facts) if "streets" in facts else _tree_estimate_lines(facts)
    print_result(dict(facts), lines, json)


def _tree_estimate_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the estimate of a game other than hold'em."""
    exact = facts["figures_are"] == EXACT
    about = "" if exact else "about "

    def number(x: int) -> str:
        return f"{x:,}" if exact else f"{x:.2g}"

    yield f"{facts['game']}: {about}{number(facts['nodes'])} nodes in the tree"
    if "infosets" in facts:
        yield f"{about}{number(facts['infosets'])} information sets, {number(facts['infoset_actions'])} infoset-actions"
        tables = ", ".join(f"{name} {format_bytes(size)}" for name, size in facts["bytes"].items())
        yield f"tables ({facts['schedule']}): {about}{tables}"
    if not exact:
        yield f"{ESTIMATED}; the solver counts nodes while it builds, and stops if memory runs out"


def _spot_estimate_parts(facts: Mapping[str, Any]) -> Iterator[Any]:
    yield f"{facts['game']}: {facts['infosets']:,} information sets, {facts['infoset_actions']:,} infoset-actions"
    first, *others = facts["streets"][0]
    columns = ReportColumn(first), *(ReportColumn(name, FIGURE, name.replace("_", " ")) for name in others)
    rows = [(str(row[first]), *(f"{row[name]:,}" for name in others)) for row in facts["streets"]]
    yield ReportTable("", columns, tuple(rows))
    tables = ", ".join(f"{name} {format_bytes(size)}" for name, size in facts["bytes"].items())
    yield f"tables ({facts['schedule']}): {tables}; the tree itself {format_bytes(facts['bytes_tree'])}"
    text = f"about {format_seconds(facts['seconds_per_iteration'])} per iteration on {facts['threads']} thread"
    text += "s" if facts["threads"] > 1 else ""
    if facts["seconds_to_target"] is not None:
        duration = format_seconds(facts["seconds_to_target"])
        target, iterations = facts["target_pct"], facts["iterations_to_target"]
        text += f", {duration} to {target:g} % of the pot if that takes {iterations} iterations"
    yield f"{text} (an estimate; your machine may be up to three times faster or slower)"
    yield "sizes in chips, as totals on the street; * is any card"
    for number, row in enumerate(facts["streets"]):
        lines = [line for line in facts["menus"] if line["street"] == number]
        yield f"{row['street']}:"
        for line in lines[:MAX_LINES_SHOWN]:
            where = f"{line['line'] or 'root'}: {line['player']}, pot {line['pot']:g}"
            yield f"  {where}: {' '.join(line['moves'])}"
        if len(lines) > MAX_LINES_SHOWN:
            yield f"  … {len(lines) - MAX_LINES_SHOWN:,} more; --json prints all"
