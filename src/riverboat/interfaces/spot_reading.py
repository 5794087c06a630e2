"""`riverboat show` and `riverboat export` for solutions of hold'em."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from riverboat.cards.notation import show_cards
from riverboat.errors import InputError
from riverboat.interfaces.terminal import emit, plain_console, say
from riverboat.solving.response import Quality
from riverboat.strategy import node_export, node_report
from riverboat.strategy.solution import Solution, Spotlight
from riverboat.strategy.table import Strategy

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

    @property
    def asks(self) -> bool:
        """Whether something is asked for that only a node has."""
        return self.runouts or any(
            x is not None for x in (self.hand, self.table, self.player, self.picture, self.board)
        )


def node_of(solution: Solution, line: str | None) -> Spotlight:
    """The node that a line names."""
    return solution["" if line in (None, ROOT) else str(line)]


def show(solution: Solution, found: dict[str, Any], line: str | None, view: View, json: bool) -> None:
    """Facts of a solution; or of one node its summary, its grid and its table, or what else is asked for."""
    if line is None and not view.asks:
        _facts(solution, found, json)
        return
    node = node_of(solution, line)
    if view.picture is not None:
        node_report.grid(node, view.player).save(view.picture)
        say(f"picture: {view.picture}")
    parts = _parts(node, view)
    if json:
        summary = node_report.summary(node).to_dict()
        emit(summary | {name: part.to_dict() for name, part in parts.items()})
        return
    console = plain_console()
    if "hand" in parts:
        console.print(str(parts["hand"]))
        return
    if not view.runouts and view.table is None:
        console.print(node_report.summary(node))
        console.print()
        console.print(node_report.grid(node, view.player))
        console.print()
    for part in parts.values():
        console.print(part.top(view.limit))
        if len(part) > view.limit:
            say(f"… {len(part) - view.limit:,} more rows; raise --limit")


def _parts(node: Spotlight, view: View) -> dict[str, Any]:
    """Reports by name; the table of groups where nothing else is asked for."""
    if view.hand is not None:
        return {"hand": node_report.hand(node, view.hand, view.player)}
    found: dict[str, Any] = {}
    if view.runouts:
        found["runouts"] = node_report.runouts(node)
    if view.table is not None or not view.runouts:
        found["table"] = node_report.table(node, view.table, view.player)
    if view.sort is not None:
        found = {name: part.sorted(view.sort) for name, part in found.items()}
    return found


def _facts(solution: Solution, found: dict[str, Any], json: bool) -> None:
    game = solution.tree.game
    facts: dict[str, Any] = {"kind": found["kind"], "game": solution.tree.name, "board": show_cards(game.board)}
    facts |= {key: getattr(game, key) for key in ("pot", "stack") if hasattr(game, key)}
    facts |= {"unit": found["unit"], "infosets": solution.tree.infoset_count} | dict(found["provenance"])
    history = [row for row in found.get("history", ()) if row["exploitability"] is not None]
    if history:
        facts |= {"exploitability": history[-1]["exploitability"], "seconds": history[-1]["seconds"]}
    facts["actions"] = list(solution[""].actions)
    if json:
        emit(facts)
        return
    console = plain_console()
    for key, value in facts.items():
        shown = " ".join(value) if isinstance(value, list) else value
        console.print(f"{key:>14}  {shown}")
    say("name a line to see a node: root, or moves such as x-b94")


def quality(solution: Solution) -> Quality:
    """Best responses to a solution and what it earns, in the unit of the game."""
    tree = solution.tree
    best = [tree.per_chip * solution.earnings(p, respond=True) for p in (0, 1)]
    values = [tree.per_chip * solution.earnings(p) for p in (0, 1)]
    total = None if tree.constant is None else tree.per_chip * tree.constant
    return Quality((best[0], best[1]), (values[0], values[1]), total)


# --- export -----------------------------------------------------------------------------------


def export(
    read: Solution | Strategy, line: str | None, depth: int | None, out: Path | None, *, csv: bool, json: bool
) -> None:
    """Nodes as CSV or JSON, to a file or to stdout."""
    if csv and json:
        raise InputError("export: --csv or --json, not both")
    as_json = json or (not csv and out is not None and out.suffix.lower() == ".json")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext(sys.stdout) if out is None else out.open("w", newline="") as file:
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
