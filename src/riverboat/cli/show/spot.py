"""`riverboat show` and `riverboat export` for hold'em solutions."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from riverboat.api.artifacts import is_solution
from riverboat.api.show import solution_summary
from riverboat.cards.notation import format_cards
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, print_parts, save_picture, say
from riverboat.core import files
from riverboat.core.errors import InputError, short_repr
from riverboat.core.schema import FileEntries
from riverboat.core.tables import ReportTable
from riverboat.strategies.reports import comparison as comparison_report
from riverboat.strategies.reports import export as node_export
from riverboat.strategies.reports import node as node_report

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution, SolutionNode
    from riverboat.strategies.tabular import Strategy

FIGURES_TITLE = "EVs and equities"  # title of the progress line
ONE_HAND_PATTERN = re.compile(r"\s*(?:[2-9TJQKA][cdhs][\s,]*){2}", re.IGNORECASE)
ROOT = "root"  # name of the empty line, which is awkward to type


class ShowOptions(NamedTuple):
    """Options of `riverboat show`."""

    hand: str | None = None
    table: str | None = None
    player: str | None = None
    runouts: bool = False
    picture: Path | None = None
    sort: str | None = None
    limit: int = 60
    board: str | None = None
    range: bool = False
    values: bool = False

    def first_of(self, *names: str) -> str:
        """Return the first of these options that was given, such as `--board AsKd2c`; empty if none was."""
        for name in names:
            value = getattr(self, name)
            if value not in (None, False):
                return f"--{name}" if value is True else f"--{name} {value}"
        return ""

    @property
    def needs_node(self) -> bool:
        """Whether an option needs a node."""
        return bool(self.first_of("hand", "table", "player", "picture", "board", "runouts", "range", "values"))


def node_at(solution: Solution, line: str | None) -> SolutionNode:
    """Return the node at a line."""
    return solution["" if line in (None, ROOT) else str(line)]


def show_solution(solution: Solution, entries: FileEntries, line: str | None, view: ShowOptions, json: bool) -> None:
    """Print a summary of a solution and its root, or one node: its summary, grid and table, or the requested part."""
    if view.values:
        raise InputError("--values is for blueprints; every node of a spot has EVs")
    if view.board is not None:
        raise InputError(f"--board {view.board}: the cards of a spot are part of its lines, such as x-x/8h")
    if line is None and not view.needs_node:
        _show_summary(solution, entries, json)
    elif line is not None and comparison_report.has_wildcard(line):
        _show_all_cards(solution, line, view, json)
    elif view.range:
        _show_range(node_at(solution, line), view, json)
    else:
        _show_node(node_at(solution, line), view, json)


def _show_node(node: SolutionNode, view: ShowOptions, json: bool) -> None:
    if view.picture is not None:
        save_picture(node_report.strategy_grid(node, view.player).figure(), view.picture)
    with ProgressLine(FIGURES_TITLE):  # the node caches its values
        parts, summary = _node_reports(node, view), node_report.node_summary(node).to_dict()
    if json:
        emit(summary | {name: part.to_dict() for name, part in parts.items()})
        return
    if "hand" in parts:
        print_parts([str(parts["hand"])])
        return
    if set(parts) == {"table"} and view.table is None:
        print_parts(_overview_parts(node, view.player))
    for part in parts.values():
        print_rows(part, view.limit)


def _overview_parts(node: SolutionNode, player: str | None = None) -> list[Any]:
    return [node_report.node_summary(node), "", node_report.strategy_grid(node, player), ""]


def _node_reports(node: SolutionNode, view: ShowOptions) -> dict[str, Any]:
    """Return the requested reports of a node by their JSON names: hand, hands, runouts or table (the default)."""
    if view.hand is not None:
        if view.table is not None or view.runouts:
            raise InputError(f"--hand {short_repr(view.hand)} with --table or --runouts: give only one of them")
        if ONE_HAND_PATTERN.fullmatch(view.hand):
            return {"hand": node_report.hand_report(node, view.hand, view.player)}
        return {"hands": sort_rows(node_report.selected_hands_table(node, view.hand, view.player), view.sort)}
    parts: dict[str, Any] = {}
    if view.runouts:
        parts["runouts"] = sort_rows(comparison_report.node_runouts(node), view.sort)
    if view.table is not None or not view.runouts:
        parts["table"] = sort_rows(node_report.hands_table(node, view.table, view.player), view.sort)
    return parts


def sort_rows(table: ReportTable, by: str | None) -> ReportTable:
    """Sort a table by a column, if one is given; a row of means stays last."""
    if by is None:
        return table
    num_means = 1 if len(table) and table.rows[-1][0] == node_report.MEANS_ROW else 0
    return replace(table, rows=table[: len(table) - num_means].sorted(by).rows + table.rows[len(table) - num_means :])


def print_rows(table: ReportTable, limit: int) -> None:
    """Print the first rows and the number of further ones; the row of means is always printed."""
    means = table.rows[-1:] if len(table) and table.rows[-1][0] == node_report.MEANS_ROW else ()
    rows = table.rows[: len(table) - len(means)]
    print_parts([replace(table, rows=rows[:limit] + means)])
    if len(rows) > limit:
        say(f"… {len(rows) - limit:,} more rows; increase --limit")


def _show_range(node: SolutionNode, view: ShowOptions, json: bool) -> None:
    player = node_report.parse_player(node, view.player)
    name = node_report.player_names(node.tree.game)[player]
    print_range(node_report.range_text(node, view.player), node.line, node.board, name, node.combos[player], json)


def print_range(text: str, line: str, board: Sequence[int], player: str, combos: float, json: bool) -> None:
    """Print a range as text, with nothing else on stdout."""
    if json:
        where = {"line": line, "board": format_cards(board), "player": player}
        emit(where | {"range": text, "combos": combos, "digits": node_report.WEIGHT_DIGITS})
    else:
        print(text)


def _show_all_cards(solution: Solution, line: str, view: ShowOptions, json: bool) -> None:
    """Print a table for a line with `*`: a row for every card that it stands for, and the means."""
    if name := view.first_of("hand", "table", "player", "picture", "range").partition(" ")[0]:
        raise InputError(f"line {line!r} and {name}: '*' stands for any card, but {name} needs one node; name the card")
    with ProgressLine(f"{FIGURES_TITLE} on every card"):
        table = sort_rows(comparison_report.line_runouts(solution, line), view.sort)
    if json:
        emit({"line": line, "deals": len(table) - 1, "means": table[node_report.MEANS_ROW], **table.to_dict()})
    else:
        print_rows(table, view.limit)


def _show_summary(solution: Solution, entries: FileEntries, json: bool) -> None:
    facts = solution_summary(solution, entries)
    root = solution[""]
    with ProgressLine(FIGURES_TITLE):
        summary = node_report.node_summary(root).to_dict()
    if json:
        emit(facts | {"root": summary})
        return
    lines = [f"{key:>14}  {_format_value(value)}" for key, value in facts.items()]
    print_parts([*lines, "", *_overview_parts(root)])
    example = next((name for name in root.actions if name not in "xcf"), facts["actions"][0])
    say(f"name a line to see a node: root for the root's table of hands, or actions such as {example}")


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)


# --- Export ---


def export_strategy(
    solved: Solution | Strategy, line: str | None, depth: int | None, out: Path | None, *, csv: bool, json: bool
) -> None:
    """Write nodes as CSV or JSON, to a file or to stdout."""
    if csv and json:
        raise InputError("export: --csv and --json: give only one of them")
    if depth is not None and not is_solution(solved):
        raise InputError(f"--depth {depth} is for hold'em; for {solved.tree.name} all information sets are written")
    as_json = json or (not csv and out is not None and out.suffix.lower() == ".json")
    with nullcontext(sys.stdout) if out is None else files.atomic_text_file(out) as file:
        if is_solution(solved):
            start = "" if line in (None, ROOT) else str(line)
            count, noun = node_export.write_nodes(solved, file, start, depth, as_json=as_json), "nodes"
        else:
            count, noun = _write_infosets(solved, line, file, as_json=as_json), "information sets"
    if out is not None:
        say(f"{count:,} {noun} written to {out}")


def _write_infosets(strategy: Strategy, line: str | None, file: Any, *, as_json: bool) -> int:
    """Write the strategy of a small game, one row per information set and action; return the number of infosets."""
    import csv as writers
    import json as texts

    rows = {line: strategy[line]} if line is not None else strategy.mapping()
    if as_json:
        file.write(texts.dumps({"game": strategy.tree.name, "strategy": rows}) + "\n")
        return len(rows)
    writer = writers.writer(file, lineterminator="\n")
    writer.writerow(("player", "infoset", "action", "probability"))
    for name, row in rows.items():
        player = strategy.tree.infoset(name).player
        writer.writerows((player, name, action, probability) for action, probability in row.items())
    return len(rows)
