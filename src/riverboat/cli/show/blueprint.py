"""`riverboat show` for blueprints and agents: summary, preflop grids, and the strategy at any line on any board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from riverboat.api import show as show_api
from riverboat.api.artifacts import agent_blueprint, describe, load_blueprint, load_policy
from riverboat.cards.grid import HandGrid
from riverboat.cli.progress import ProgressLine
from riverboat.cli.show.spot import ROOT, ShowOptions, print_range, print_rows, sort_rows
from riverboat.cli.terminal import emit, print_parts, print_result, save_picture, say
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportTable
from riverboat.games.holdem.menus import SEATS
from riverboat.reports import ledger
from riverboat.strategies.reports import blueprint as report
from riverboat.strategies.reports.node import WEIGHT_DIGITS
from riverboat.strategies.reports.public_state import PublicStateNode

if TYPE_CHECKING:
    from riverboat.strategies.blueprint import Blueprint

PREFLOP = "preflop"
MAX_GRIDS = 6  # preflop grids drawn: the most frequent decisions


def show_blueprint(
    folder: Path, line: str | None, view: ShowOptions, json: bool, abstraction: Path | None = None
) -> None:
    """Print the summary of a blueprint, the grids of the first street, or one decision with its grids and table."""
    if view.runouts:
        raise InputError(f"{folder}: contains a blueprint; --runouts is for spots, here give --board")
    strategy = load_blueprint(folder, abstraction)
    if line == PREFLOP:
        show_preflop(strategy, view, json)
    elif line is not None or view.needs_node:
        moves = "" if line in (None, ROOT) else str(line)
        show_decision(show_api.blueprint_node(strategy, moves, view.board), view, json)
    else:
        entries = describe(folder).entries
        _show_summary(strategy, "" if entries is None else entries["kind"], json)


# --- Summary ---


def _show_summary(strategy: Blueprint, kind: str, json: bool) -> None:
    facts = show_api.blueprint_summary(strategy, kind)
    menu = "" if strategy.menu is None else str(strategy.menu)
    if json:
        emit(facts | {"menu": menu or None, "rules": str(strategy.rules)} | dict(strategy.provenance))
        return
    known = {key: value for key, value in (facts | dict(strategy.provenance)).items() if value is not None}
    parts = [f"{key:>16}  {_format_value(value)}" for key, value in known.items()] + ([f"\n{menu}"] if menu else [])
    size = strategy.tree.table_size(strategy.buckets, max(table.dtype.itemsize for table in strategy.average))
    print_parts([*parts, size])
    say("'preflop' shows the first grids; name a line for any other node, such as "
        f"{_example_line(strategy)!r}")  # fmt: skip


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_format_value(x) for x in value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _example_line(strategy: Blueprint) -> str:
    """Return a line to suggest: calls up to the second street, or the root if the game has only one street."""
    node = 0
    while strategy.tree.actor[node] >= 0 and strategy.tree.street[node] == 0:
        node = next(c for c in strategy.tree.children(node) if strategy.tree.label(c) == "c")
    return strategy.tree.line(node) if strategy.tree.actor[node] >= 0 else ROOT


# --- First street ---


def show_preflop(
    strategy: Blueprint, view: ShowOptions, json: bool, extra_fields: Mapping[str, Any] | None = None
) -> None:
    """Print all preflop decisions as a table and grids of the most frequent ones; for one hand only the table.

    `extra_fields` come first in JSON.
    """
    if option := view.first_of("board", "table", "range", "values"):
        raise InputError(f"preflop and {option}: name one line instead, such as {_example_line(strategy)!r} or root")
    nodes = list(report.first_street_nodes(strategy))
    if view.player is not None:
        nodes = [node for node in nodes if node.seat == report.parse_seat(node, view.player)]
    frequent = sorted(nodes, key=lambda node: -node.reach_probability)[:MAX_GRIDS]
    main = [node for node in nodes if node in frequent]
    table = sort_rows(report.decisions_table(nodes, view.hand), view.sort)
    if view.picture is not None:
        for node in main:
            where = f"-{node.line}" if node.node else ""
            _save_grid(report.strategy_grid(node), view.picture.with_stem(view.picture.stem + where))
    if json:
        node_fields = [] if view.hand is not None else [_node_to_dict(node, None, None) for node in main]
        emit({**(extra_fields or {}), "game": strategy.rules.name, **table.to_dict(), "nodes": node_fields})
        return
    print_rows(table, view.limit)
    if view.hand is not None:
        return
    for node in main:
        print_parts(["", _bold(report.headline(node)), report.strategy_grid(node) or report.hands_table(node)])
    if len(nodes) > len(main):
        say(f"shown: the {len(main)} most frequent of {len(nodes):,} decisions; name a line to see another")


# --- One node ---


def show_decision(
    node: PublicStateNode, view: ShowOptions, json: bool, extra_fields: dict[str, Any] | None = None
) -> None:
    """Print a public state with its grids and table, or the requested part of it; `extra_fields` come first in JSON."""
    if view.picture is not None:
        _save_grid(report.strategy_grid(node, view.player), view.picture)
    if view.values:
        if not isinstance(node, report.BlueprintNode):
            raise InputError(f"--values at {node.line!r}: only for blueprints; name the folder of one, without options")
        _show_values(node, view, json)
        return
    if view.range:
        _show_range(node, view.player, json)
        return
    if view.hand is not None:
        hand = report.hand_report(node, view.hand, view.player)
        print_result((extra_fields or {}) | hand, _hand_lines(hand), json)
        return
    if json:
        emit((extra_fields or {}) | _node_to_dict(node, view.table, view.player, view.sort))
        return
    if view.table is None:
        # By default both ranges: the strategy of the player to act, and the opponent's range.
        seats = [report.parse_seat(node, view.player)] if view.player is not None else [node.seat, 1 - node.seat]
        grids = [report.strategy_grid(node, seat) for seat in seats]
        print_parts([_bold(report.headline(node))])
        for part in (report.ranges_table(node), report.actions_table(node), *grids):
            if part is not None:
                print_parts([part, ""])
    print_rows(_hand_table(node, view.table, view.player, view.sort), view.limit)


def _show_values(node: report.BlueprintNode, view: ShowOptions, json: bool) -> None:
    """Print the EVs of all hands in self-play and against best responses."""
    if view.range:
        raise InputError("--values and --range: give only one of them")
    with ProgressLine("values on all runouts"):
        values = show_api.node_values(node, player=view.player, hand=view.hand, table=view.table)
    if values.hand is not None:
        hand = values.hand
        figures = f"EV {hand['ev']:,.2f}, best response {hand['best']:,.2f}"
        line = f"{hand['hand']} ({hand['player']}): weight {100 * hand['weight']:.1f} %, {figures}"
        print_result(hand, [line], json)
        return
    assert values.hands is not None
    table = sort_rows(values.hands, view.sort)
    if json:
        sides = {str(row["player"]): {key: row[key] for key in ("ev", "best", "gain")} for row in values.seats}
        emit(report.node_summary(node) | {"values": sides | {"unit": values.unit}, "table": table.to_dict()})
        return
    print_parts([_bold(report.headline(node)), values.seats, ""])
    print_rows(table, view.limit)


def _show_range(node: PublicStateNode, player: str | None, json: bool) -> None:
    seat = report.parse_seat(node, player)
    hand_range = node.range(seat)
    if hand_range is None:
        raise InputError(f"--range at {node.line!r}: hands of one card have no range notation")
    text = hand_range.text(node.board, WEIGHT_DIGITS)
    print_range(text, node.line, node.board, SEATS[seat], hand_range.combos, json)


def _bold(text: str) -> Text:
    return Text(text, style="bold")


def _hand_lines(hand: dict[str, Any]) -> Iterator[str]:
    """Yield one hand in two lines."""
    where = f"at {hand['line'] or ROOT}" + (f" on {hand['board']}" if hand["board"] else "")
    bucket = f", bucket {hand['bucket']:,}" if "bucket" in hand else ""
    yield f"{hand['hand']} ({hand['player']}) {where}: weight {100 * hand['weight']:.1f} %{bucket}"
    if hand["frequencies"]:
        yield "  ".join(f"{name} {100 * share:.1f} %" for name, share in hand["frequencies"].items())


def _hand_table(node: PublicStateNode, by: str | None, player: str | None, sort: str | None) -> ReportTable:
    return sort_rows(report.hands_table(node, by, player), sort)


def _node_to_dict(node: PublicStateNode, by: str | None, player: str | None, sort: str | None = None) -> dict[str, Any]:
    """Return the summary of a node and its table of hands as a JSON object."""
    return report.node_summary(node) | {"table": _hand_table(node, by, player, sort).to_dict()}


def _save_grid(grid: HandGrid | None, path: Path) -> None:
    if grid is None:
        raise InputError(f"picture {path}: hands of one card have no grid; leave out --picture")
    save_picture(grid.figure(), path)


# --- Agents: their strategy after action translation and post-processing ---


def show_agent(name: str, line: str | None, view: ShowOptions, json: bool, game: str | None = None) -> None:
    """Print the strategy of an agent at a line, by default at the first decision, with ranges of self-play.

    An agent that plays a blueprint also has the preflop decisions, buckets and values of the blueprint.
    """
    if view.runouts:
        raise InputError(f"agent {name!r}: --runouts is for spots, here give --board")
    with ProgressLine(f"reading {name}"):
        agent, rules = load_policy(name, game)
    moves = "" if line in (None, ROOT) else str(line)
    strategy = agent_blueprint(agent) if line == PREFLOP or view.values or view.table == report.BUCKETS_TABLE else None
    if strategy is not None:
        if line == PREFLOP:
            show_preflop(strategy, view, json, {"agent": name})
        else:
            show_decision(show_api.blueprint_node(strategy, moves, view.board), view, json, {"agent": name})
        return
    if line == PREFLOP or view.values:
        option = PREFLOP if line == PREFLOP else "--values"
        raise InputError(f"agent {name!r}: {option} is for agents that play a blueprint; name a line, such as {ROOT}")
    node = show_api.agent_node(agent, rules, moves, view.board)
    measurements = ledger.describe_shipped_agent() if name == "default" and line is None else []
    if measurements and not json:
        table, _ = ledger.shipped_measurement_table()
        print_parts([measurements[0], ledger.MEASUREMENTS_HEADING, table, ""])
    facts = {"agent": name, "game": rules.name}
    show_decision(node, view, json, facts | ({"known": measurements} if measurements else {}))
