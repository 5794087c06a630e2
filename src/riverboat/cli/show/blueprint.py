"""`riverboat show` for blueprints: facts, the preflop grids, and the strategy at any line on any board."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riverboat.cards.grid import Grid
from riverboat.cards.notation import show_cards
from riverboat.cli.progress import ProgressLine
from riverboat.cli.show.spot import ROOT, View
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import artifacts
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportTable
from riverboat.games.holdem.menus import SEATS
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy, load_blueprint
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.strategies.files import newest
from riverboat.strategies.reports import blueprint as report
from riverboat.strategies.reports import values as values_report
from riverboat.strategies.reports.blueprint import BlueprintNode
from riverboat.strategies.reports.node import DIGITS
from riverboat.strategies.reports.public_state import PlaceNode

PREFLOP = "preflop"
THREADS = 2  # of walks that give values
GRIDS = 6  # drawn of the preflop: the decisions that come most often


def show(folder: Path, line: str | None, view: View, json: bool, abstraction: Path | None = None) -> None:
    """Facts of a blueprint; the grids of the first street; or one decision with its grids and table."""
    if view.runouts:
        raise InputError(f"{folder}: holds a blueprint; --runouts is for spots, here give --board")
    strategy = load_blueprint(folder, abstraction)
    if line == PREFLOP:
        show_preflop(strategy, view, json)
    elif line is not None or view.asks:
        show_node(strategy, "" if line in (None, ROOT) else str(line), view, json)
    else:
        _facts(strategy, artifacts.manifest(newest(folder))["kind"], json)


# --- facts ------------------------------------------------------------------------------------


def _facts(strategy: BlueprintStrategy, kind: str, json: bool) -> None:
    rules, tables = strategy.rules, strategy.average
    bytes_each = max(table.dtype.itemsize for table in tables)
    counts = strategy.tree.counts(strategy.buckets, bytes_each)
    facts: dict[str, Any] = {
        "kind": kind,
        "game": rules.name,
        "betting": "limit" if rules.limit else "no-limit",
        "blinds": list(rules.blinds),
        "stacks": None if rules.stacks is None else list(rules.stacks),
        "abstraction": strategy.cards.name,
        "abstraction_path": None if strategy.cards_path is None else str(strategy.cards_path),
        "buckets": list(strategy.buckets),
        "nodes": len(strategy.tree),
        "infosets": sum(counts.infosets),
        "infoset_actions": sum(counts.infoset_actions),
        "table": str(tables[0].dtype),
        "table_bytes": sum(int(table.nbytes) for table in tables),
        "actions": list(strategy.moves(0)),
    }
    menu = "" if strategy.menu is None else str(strategy.menu)
    if json:
        emit(facts | {"menu": menu or None, "rules": str(rules)} | dict(strategy.provenance))
        return
    console = plain_console()
    for key, value in (facts | dict(strategy.provenance)).items():
        if value is not None:
            console.print(f"{key:>16}  {_shown(value)}")
    if menu:
        console.print(f"\n{menu}")
    console.print(counts)
    say("preflop draws the first grids; name a line for any other node, such as "
        f"{_example(strategy)!r}")  # fmt: skip


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_shown(x) for x in value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _example(strategy: BlueprintStrategy) -> str:
    """The line to the second street by calls alone."""
    node = 0
    while strategy.tree.actor[node] >= 0 and strategy.tree.street[node] == 0:
        node = next(c for c in strategy.tree.children(node) if strategy.tree.label(c) == "c")
    return strategy.tree.line(node) if strategy.tree.actor[node] >= 0 else ROOT


# --- the first street -------------------------------------------------------------------------


def show_preflop(strategy: BlueprintStrategy, view: View, json: bool, facts: Mapping[str, Any] | None = None) -> None:
    """All decisions as a table and grids of the main ones; of one hand, the table alone. `facts` stand first in JSON."""
    given = (
        (f"--board {view.board}", view.board is not None), (f"--table {view.table}", view.table is not None),
        ("--range", view.range), ("--values", view.values),
    )  # fmt: skip
    option = next((name for name, is_given in given if is_given), None)
    if option is not None:
        raise InputError(f"preflop and {option}: name one line instead, such as {_example(strategy)!r} or root")
    nodes = list(report.first_street(strategy))
    if view.player is not None:
        nodes = [node for node in nodes if node.seat == report.seat_of(node, view.player)]
    often = sorted(nodes, key=lambda node: -node.chance)[:GRIDS]
    main = [node for node in nodes if node in often]
    table = report.overview(nodes, view.hand)
    if view.sort is not None:
        table = table.sorted(view.sort)
    if view.picture is not None:
        for node in main:
            where = f"-{node.line}" if node.node else ""
            _draw(report.grid(node), view.picture.with_stem(view.picture.stem + where))
    if json:
        told = [] if view.hand is not None else [_told(node, None, None) for node in main]
        emit({**(facts or {}), "game": strategy.rules.name, **table.to_dict(), "nodes": told})
        return
    console = plain_console()
    console.print(table.top(view.limit))
    if len(table) > view.limit:
        say(f"… {len(table) - view.limit:,} more rows; raise --limit")
    if view.hand is not None:
        return
    for node in main:
        console.print()
        console.print(report.headline(node), style="bold")
        console.print(report.grid(node) or report.table(node))
    if len(nodes) > len(main):
        say(f"the {len(main)} that come most often of {len(nodes):,} decisions; name a line to see another")


# --- one node ---------------------------------------------------------------------------------


def show_node(
    strategy: BlueprintStrategy, line: str, view: View, json: bool, facts: dict[str, Any] | None = None
) -> None:
    """Who gets there with what, and what is played. `facts` stand first in JSON."""
    place = strategy.tree.find(line)
    strategy.moves(place)  # refuses where nobody acts
    need_board(strategy.rules, int(strategy.tree.street[place]), line, view.board)
    show_place(report.at_line(strategy, line, view.board or ""), view, json, facts)


def need_board(rules: Rules, street: int, line: str, board: str | None) -> None:
    """Refuse a later street without its cards, and say how they are given."""
    need = rules.board_sizes[street]
    if need and board is None:
        such, cards = show_cards(rules.deck.cards[::-1][:need]), f"{need} card{'s' * (need != 1)}"
        raise InputError(f"line {line!r} is on the {rules.streets[street]}: give its {cards} with --board {such}")


def show_place(node: PlaceNode, view: View, json: bool, facts: dict[str, Any] | None = None) -> None:
    """A place with its grids and table, or what else is asked for; `facts` stand first in JSON."""
    if view.picture is not None:
        _draw(report.grid(node, view.player), view.picture)
    if view.values:
        if not isinstance(node, BlueprintNode):
            raise InputError(f"--values at {node.line!r}: of blueprints; name the folder of one, without options")
        _values(node, view, json)
        return
    if view.range:
        _range(node, view.player, json)
        return
    if view.hand is not None:
        told = report.hand(node, view.hand, view.player)
        if json:
            emit((facts or {}) | told)
        else:
            _hand(told)
        return
    if json:
        emit((facts or {}) | _told(node, view.table, view.player, view.sort))
        return
    console = plain_console()
    if view.table is None:
        console.print(report.headline(node), style="bold")
        for part in (report.sides(node), report.actions(node)):
            console.print(part)
            console.print()
        # Both ranges, unless one was asked for: what is played, and whom it is played against.
        seats = [report.seat_of(node, view.player)] if view.player is not None else [node.seat, 1 - node.seat]
        for grid in (report.grid(node, seat) for seat in seats):
            if grid is not None:
                console.print(grid)
                console.print()
    table = _table(node, view.table, view.player, view.sort)
    console.print(table.top(view.limit))
    if len(table) > view.limit:
        say(f"… {len(table) - view.limit:,} more rows; raise --limit")


def _values(node: BlueprintNode, view: View, json: bool) -> None:
    """EVs of all hands: those of self-play beside those of best responses."""
    if view.range:
        raise InputError("--values and --range: one at a time")
    seat = report.seat_of(node, view.player)
    with ProgressLine("values on all boards that may come"):
        values = blueprint_values(node.strategy, node.line, node.board, threads=THREADS)
    if view.hand is not None:
        one = values_report.hand(values, view.hand, seat)
        if json:
            emit(one)
        else:
            figures = f"EV {one['ev']:,.2f}, of the best response {one['best']:,.2f}"
            plain_console().print(f"{one['hand']} ({one['player']}): weight {100 * one['weight']:.1f} %, {figures}")
        return
    table = values_report.table(values, seat, view.table)
    table = table if view.sort is None else table.sorted(view.sort)
    if json:
        sides = {
            str(row["player"]): {key: row[key] for key in ("ev", "best", "gain")} for row in values_report.sides(values)
        }
        emit(report.summary(node) | {"values": sides | {"unit": values.unit}, "table": table.to_dict()})
        return
    console = plain_console()
    console.print(report.headline(node), style="bold")
    console.print(values_report.sides(values))
    console.print()
    console.print(table.top(view.limit))
    if len(table) > view.limit:
        say(f"… {len(table) - view.limit:,} more rows; raise --limit")


def _range(node: PlaceNode, player: str | None, json: bool) -> None:
    """A range as text, alone on stdout."""
    seat = report.seat_of(node, player)
    held = node.range(seat)
    if held is None:
        raise InputError(f"--range at {node.line!r}: hands of one card make no range")
    text = held.text(node.board, DIGITS)
    if json:
        where = {"line": node.line, "board": show_cards(node.board), "player": SEATS[seat]}
        emit(where | {"range": text, "combos": held.combos, "digits": DIGITS})
    else:
        print(text)


def _hand(told: dict[str, Any]) -> None:
    """One hand in two lines."""
    where = f"at {told['line'] or ROOT}" + (f" on {told['board']}" if told["board"] else "")
    console = plain_console()
    console.print(
        f"{told['hand']} ({told['player']}) {where}: weight {100 * told['weight']:.1f} %"
        + (f", bucket {told['bucket']:,}" if "bucket" in told else ""),
    )
    if told["frequencies"]:
        moves = (f"{name} {100 * share:.1f} %" for name, share in told["frequencies"].items())
        console.print("  ".join(moves))


def _table(node: PlaceNode, by: str | None, player: str | None, sort: str | None) -> ReportTable:
    table = report.table(node, by, player)
    return table if sort is None else table.sorted(sort)


def _told(node: PlaceNode, by: str | None, player: str | None, sort: str | None = None) -> dict[str, Any]:
    """A node for JSON."""
    return report.summary(node) | {"table": _table(node, by, player, sort).to_dict()}


def _draw(grid: Grid | None, path: Path) -> None:
    if grid is None:
        raise InputError(f"picture {path}: hands of one card have no grid; leave --picture out")
    grid.save(path)
    say(f"picture: {path}")
