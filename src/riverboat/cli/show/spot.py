"""`riverboat show` and `riverboat export` for solutions of hold'em."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from riverboat.cards.notation import show_cards
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.core.schema import Fields
from riverboat.core.tables import ReportTable
from riverboat.strategies.reports import export as node_export
from riverboat.strategies.reports import node as node_report
from riverboat.strategies.reports import runouts as card_report
from riverboat.strategies.solution import Solution, Spotlight
from riverboat.strategies.tabular import Strategy

if TYPE_CHECKING:
    from rich.console import Console

FIGURES = "EVs and equities"  # what takes its time
ONE_HAND = re.compile(r"\s*(?:[2-9TJQKA][cdhs][\s,]*){2}", re.IGNORECASE)
ROOT = "root"  # the line of the first decision, where an empty text is awkward to type


class View(NamedTuple):
    """What of a node is asked for."""

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

    @property
    def asks(self) -> bool:
        """Whether something is asked for that only a node has."""
        asked = self.hand, self.table, self.player, self.picture, self.board
        return self.runouts or self.range or self.values or any(x is not None for x in asked)


def node_of(solution: Solution, line: str | None) -> Spotlight:
    """The node that a line names."""
    return solution["" if line in (None, ROOT) else str(line)]


def show(solution: Solution, entries: Fields, line: str | None, view: View, json: bool) -> None:
    """Facts of a solution and its root; or of one node its summary, its grid and its table, or what else is asked for."""
    if view.values:
        raise InputError("--values is for blueprints; of a spot every node has its EVs")
    if view.board is not None:
        raise InputError(f"--board {view.board}: the cards of a spot stand in its lines, such as x-x/8h")
    if line is None and not view.asks:
        _facts(solution, entries, json)
    elif line is not None and card_report.stands_for_many(line):
        _cards(solution, line, view, json)
    elif view.range:
        _range(node_of(solution, line), view, json)
    else:
        _node(node_of(solution, line), view, json)


def _node(node: Spotlight, view: View, json: bool) -> None:
    if view.picture is not None:
        node_report.grid(node, view.player).save(view.picture)
        say(f"picture: {view.picture}")
    with ProgressLine(FIGURES):  # what is computed once is kept by the node
        parts, summary = _parts(node, view), node_report.summary(node).to_dict()
    if json:
        emit(summary | {name: part.to_dict() for name, part in parts.items()})
        return
    console = plain_console()
    if "hand" in parts:
        console.print(str(parts["hand"]))
        return
    if set(parts) == {"table"} and view.table is None:
        _overview(console, node, view.player)
    for part in parts.values():
        print_rows(console, part, view.limit)


def _overview(console: Console, node: Spotlight, player: str | None = None) -> None:
    console.print(node_report.summary(node))
    console.print()
    console.print(node_report.grid(node, player))
    console.print()


def _parts(node: Spotlight, view: View) -> dict[str, Any]:
    """Reports by name; the table of groups where nothing else is asked for."""
    if view.hand is not None and (view.table is not None or view.runouts):
        raise InputError(f"--hand {shown(view.hand)} with --table or --runouts: one at a time")
    if view.hand is not None and ONE_HAND.fullmatch(view.hand):
        return {"hand": node_report.hand(node, view.hand, view.player)}
    parts: dict[str, Any] = {}
    if view.hand is not None:
        parts["hands"] = sort_rows(node_report.hands(node, view.hand, view.player), view.sort)
        return parts
    if view.runouts:
        parts["runouts"] = sort_rows(card_report.runouts(node), view.sort)
    if view.table is not None or not view.runouts:
        parts["table"] = sort_rows(node_report.table(node, view.table, view.player), view.sort)
    return parts


def sort_rows(table: ReportTable, by: str | None) -> ReportTable:
    """By a column, if one is given; a last row with the means stays the last."""
    if by is None:
        return table
    means = 1 if len(table) and table.rows[-1][0] == node_report.ALL else 0
    return replace(table, rows=table[: len(table) - means].sorted(by).rows + table.rows[len(table) - means :])


def print_rows(console: Console, table: ReportTable, limit: int) -> None:
    """The first rows, and how many more there are; the row of the means is always there."""
    means = table.rows[-1:] if len(table) and table.rows[-1][0] == node_report.ALL else ()
    rows = table.rows[: len(table) - len(means)]
    console.print(replace(table, rows=rows[:limit] + means))
    if len(rows) > limit:
        say(f"… {len(rows) - limit:,} more rows; raise --limit")


def _range(node: Spotlight, view: View, json: bool) -> None:
    """A range as text, alone on stdout."""
    text = node_report.range_text(node, view.player)
    if json:
        who = node_report.player_of(node, view.player)
        where = {"line": node.line, "board": show_cards(node.board), "player": node_report.names(node.tree.game)[who]}
        emit(where | {"range": text, "combos": node.combos[who], "digits": node_report.DIGITS})
    else:
        print(text)


def _cards(solution: Solution, line: str, view: View, json: bool) -> None:
    """Every card that `*` stands for, and the means."""
    for name, given in (("--hand", view.hand), ("--table", view.table), ("--player", view.player),
                        ("--picture", view.picture), ("--range", view.range or None)):  # fmt: skip
        if given is not None:
            raise InputError(f"line {line!r} and {name}: '*' is any card, and one node is asked for; name the card")
    with ProgressLine(f"{FIGURES} on every card"):
        table = sort_rows(card_report.over(solution, line), view.sort)
    if json:
        emit({"line": line, "deals": len(table) - 1, "means": table[node_report.ALL], **table.to_dict()})
    else:
        print_rows(plain_console(), table, view.limit)


def _facts(solution: Solution, entries: Fields, json: bool) -> None:
    game = solution.tree.game
    facts: dict[str, Any] = {"kind": entries["kind"], "game": solution.tree.name, "board": show_cards(game.board)}
    facts |= {key: getattr(game, key) for key in ("pot", "stack") if hasattr(game, key)}
    facts |= {"unit": solution.tree.unit, "infosets": solution.tree.infoset_count} | entries.plain("provenance", 1)
    history = (
        [row for row in entries.tables("history") if row["exploitability"] is not None] if "history" in entries else []
    )
    if history:  # the answer may be that of an earlier check than the last
        answered = [row for row in history if row["iteration"] == facts.get("iterations")]
        facts |= {"exploitability": (answered or history)[-1].number("exploitability")}
        facts |= {"seconds": history[-1].number("seconds")}
    facts["actions"] = list(solution[""].actions)
    root = solution[""]
    with ProgressLine(FIGURES):
        told = node_report.summary(root).to_dict()
    if json:
        emit(facts | {"root": told})
        return
    console = plain_console()
    for key, value in facts.items():
        console.print(f"{key:>14}  {_shown(value)}")
    console.print()
    _overview(console, root)
    example = next((name for name in root.actions if name not in "xcf"), facts["actions"][0])
    say(f"name a line to see a node: root for the root's table of hands, or moves such as {example}")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)


# --- export -----------------------------------------------------------------------------------


def export(
    read: Solution | Strategy, line: str | None, depth: int | None, out: Path | None, *, csv: bool, json: bool
) -> None:
    """Nodes as CSV or JSON, to a file or to stdout."""
    if csv and json:
        raise InputError("export: --csv or --json, not both")
    if depth is not None and isinstance(read, Strategy):
        raise InputError(f"--depth {depth} is for hold'em; of {read.tree.name} all information sets are written")
    as_json = json or (not csv and out is not None and out.suffix.lower() == ".json")
    with nullcontext(sys.stdout) if out is None else atomic_io.text_file(out) as file:
        if isinstance(read, Strategy):
            count, what = _infosets(read, line, file, as_json=as_json), "information sets"
        else:
            start = "" if line in (None, ROOT) else str(line)
            count = node_export.write(read, file, start, depth, as_json=as_json)
            what = "nodes"
    if out is not None:
        say(f"{count:,} {what} written to {out}")


def _infosets(strategy: Strategy, line: str | None, file: Any, *, as_json: bool) -> int:
    """The strategy of a small game, one row for each information set and action."""
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
        writer.writerows((player, name, action, chance) for action, chance in row.items())
    return len(rows)
