"""Export nodes of a solution as JSON or CSV (docs/formats.md, "Exported nodes").

Only hands of the root range that the board does not block are written, with their reach as a fraction. Numbers are
rounded to six decimals; unknown values are null, or empty in CSV.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from riverboat.cards.notation import format_cards, format_hand
from riverboat.core import files
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.strategies.reports.node import hand_figures, node_summary, player_names, pot, stacks, street

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution, SolutionNode

FORMAT_VERSION = 1
DECIMALS = 6
CSV_COLUMNS = ("line", "board", "pot", "player", "hand", "weight", "ev", "equity", "eqr")


def iterate_nodes(solution: Solution, line: str = "", depth: int = 1) -> Iterator[SolutionNode]:
    """Yield the decisions from a line on, over `depth` streets, with every card that can be dealt between them."""
    if depth < 1:
        raise InputError(f"depth {depth}: must be at least 1, the street of the line itself")
    game, betting, start = solution.tree.game, solution.tree.betting, solution[line]
    stack = [(start.betting_node, start.dealt_cards, depth)]
    while stack:
        node, dealt, streets_left = stack.pop()
        if betting.actor[node] == TERMINAL:
            continue
        here = solution.node(node, dealt)
        if betting.actor[node] == CHANCE:
            count = game.deals[betting.street[node]]
            if streets_left > 1 and count != 1:
                raise InputError(f"{game.name}: {count} cards are dealt at once after {here.line!r}; export one street")
            cards = [int(c) for c in game.deck.cards if c not in here.board] if streets_left > 1 else []
            stack += [(node + 1, (*dealt, (card,)), streets_left - 1) for card in reversed(cards)]
            continue
        yield here
        stack += [(child, dealt, streets_left) for child in reversed(list(betting.children(node)))]


def _round_or_none(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), DECIMALS)


def node_dict(node: SolutionNode) -> dict[str, Any]:
    """Return a node as a dictionary for JSON, with all hands of both players."""
    summary = node_summary(node)
    exported: dict[str, Any] = {
        "line": node.line,
        "board": format_cards(node.board),
        "street": street(node),
        "pot": pot(node),
        "stacks": stacks(node),
        "player": summary.player,
        "actions": list(node.actions),
        "frequencies": {name: round(share, DECIMALS) for name, share in summary.frequencies.items()},
    }
    for player, name in enumerate(player_names(node.tree.game)):
        sums = {key: getattr(summary, key)[player] for key in ("combos", "ev", "equity", "eqr")}
        entries: dict[str, Any] = {key: None if x is None else round(x, DECIMALS) for key, x in sums.items()}
        exported[name] = entries | {"hands": list(_hand_entries(node, player))}
    return exported


def _hand_entries(node: SolutionNode, who: int) -> Iterator[dict[str, Any]]:
    figures, acts = hand_figures(node, who), node.player == who
    for h in np.flatnonzero(figures.in_range)[::-1].tolist():
        row: dict[str, Any] = {"hand": format_hand(h), "weight": _round_or_none(figures.reach[h])}
        row |= {key: _round_or_none(getattr(figures, key)[h]) for key in ("ev", "equity", "eqr")}
        if acts:
            row["strategy"] = dict(zip(node.actions, map(_round_or_none, node.strategy[:, h]), strict=True))
            row["action_ev"] = dict(zip(node.actions, map(_round_or_none, node.action_ev()[:, h]), strict=True))
        yield row


def export_header(solution: Solution) -> dict[str, Any]:
    """Return the header of a JSON export: format, game, board at the root, unit and provenance."""
    game = solution.tree.game
    return {
        "format": "riverboat-nodes",
        "format_version": FORMAT_VERSION,
        "game": solution.tree.name,
        "root_board": format_cards(game.board),
        "unit": game.unit,
        "provenance": dict(solution.provenance),
    }


def export(solution: Solution, path: str | Path, line: str = "", depth: int | None = None) -> int:
    """Write a node, or with `depth` all nodes from it over that many streets, to a .json or .csv file.

    Returns the number of nodes.
    """
    path = Path(path)
    if path.suffix.lower() not in (".json", ".csv"):
        raise InputError(f"export to {path}: unknown kind {path.suffix!r}; use .json or .csv")
    with files.atomic_text_file(path) as file:
        return write_nodes(solution, file, line, depth, as_json=path.suffix.lower() == ".json")


def write_nodes(solution: Solution, out: TextIO, line: str = "", depth: int | None = None, *, as_json: bool) -> int:
    """Write nodes to an open file as JSON or CSV, and return their number; `line` and `depth` as in `export`."""
    selected = iter([solution[line]]) if depth is None else iterate_nodes(solution, line, depth)
    if as_json:
        return write_json(solution, selected, out)
    return write_csv(selected, out, wide=depth is None)


def write_json(solution: Solution, selected: Iterator[SolutionNode], out: TextIO) -> int:
    """Write one JSON object with the header and the nodes, one by one as they are computed; return their number."""
    head = json.dumps(export_header(solution), default=str)
    out.write(f'{head[:-1]}, "nodes": [')
    count = 0
    for node in selected:
        out.write(("," if count else "") + "\n" + json.dumps(node_dict(node), allow_nan=False))
        count += 1
    out.write("\n]}\n")
    return count


def write_csv(selected: Iterator[SolutionNode], out: TextIO, *, wide: bool = False) -> int:
    """Write a row for each hand and action; with `wide`, one row for each hand of one node, with action columns."""
    writer = csv.writer(out, lineterminator="\n")
    if wide:
        return _write_wide(next(selected), writer)
    writer.writerow((*CSV_COLUMNS, "action", "frequency", "action_ev"))
    count = 0
    for count, node in enumerate(selected, 1):  # noqa: B007 the last count is returned
        for head, row in _csv_rows(node):
            if "strategy" not in row:
                writer.writerow((*head, None, None, None))
            for name, share in row.get("strategy", {}).items():
                writer.writerow((*head, name, share, row["action_ev"][name]))
    return count


def _write_wide(node: SolutionNode, writer: Any) -> int:
    names = node.actions
    writer.writerow((*CSV_COLUMNS, *(f"frequency_{name}" for name in names), *(f"ev_{name}" for name in names)))
    for head, row in _csv_rows(node):
        writer.writerow((*head, *(row.get(key, {}).get(name) for key in ("strategy", "action_ev") for name in names)))
    return 1


def _csv_rows(node: SolutionNode) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yield, for each hand of both players, the values of CSV_COLUMNS and the hand's entries for JSON."""
    board, chips = format_cards(node.board), pot(node)
    for player, name in enumerate(player_names(node.tree.game)):
        for row in _hand_entries(node, player):
            yield (node.line, board, chips, name, *(row[key] for key in CSV_COLUMNS[4:])), row
