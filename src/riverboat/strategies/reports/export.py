"""Nodes of a solution as JSON and as CSV (docs/formats.md, "Exported nodes").

Only hands that can be there are written: those of the starting range that the board leaves, with their reach as a
fraction. Figures are rounded to six decimals; what is not known is null, or empty.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from riverboat.cards.deck import card_name
from riverboat.cards.notation import show_cards, show_hand
from riverboat.core import atomic_io
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.strategies.reports.node import figures, names, pot, stacks, street, summary

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution, Spotlight

FORMAT_VERSION = 1
DIGITS = 6
HEAD = ("line", "board", "pot", "player", "hand", "weight", "ev", "equity", "eqr")


def nodes(solution: Solution, line: str = "", depth: int = 1) -> Iterator[Spotlight]:
    """The decisions from a line on, over `depth` streets, with every card that can be dealt between them."""
    if depth < 1:
        raise InputError(f"depth {depth}: must be at least 1, the street of the line itself")
    tree = solution.tree
    betting, joiner = tree.betting, tree.game.joiner
    start = solution[line]
    work = [(line, start.place, start.board, depth)]
    while work:
        here, node, board, left = work.pop()
        if betting.actor[node] == TERMINAL:
            continue
        if betting.actor[node] == CHANCE:
            deals = tree.game.deals[betting.street[node]]
            if left > 1 and deals != 1:
                raise InputError(f"{tree.name}: {deals} cards are dealt at once after {here!r}; export one street")
            cards = [int(c) for c in tree.game.deck.cards if c not in board] if left > 1 else []
            work += [(f"{here}/{card_name(c)}", node + 1, (*board, c), left - 1) for c in reversed(cards)]
            continue
        yield solution[here]
        below = [(f"{here}{joiner}{betting.label[c]}" if here else betting.label[c], c) for c in betting.children(node)]
        work += [(name, child, board, left) for name, child in reversed(below)]


def _round(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), DIGITS)


def node_dict(node: Spotlight) -> dict[str, Any]:
    """A node for JSON, with every hand of both players."""
    told = summary(node)
    exported: dict[str, Any] = {
        "line": node.line,
        "board": show_cards(node.board),
        "street": street(node),
        "pot": pot(node),
        "stacks": stacks(node),
        "player": told.player,
        "actions": list(node.actions),
        "frequencies": {name: round(share, DIGITS) for name, share in told.frequencies.items()},
    }
    for who, name in enumerate(names(node.tree.game)):
        sums = {key: getattr(told, key)[who] for key in ("combos", "ev", "equity", "eqr")}
        facts: dict[str, Any] = {key: None if x is None else round(x, DIGITS) for key, x in sums.items()}
        exported[name] = facts | {"hands": list(_hands(node, who))}
    return exported


def _hands(node: Spotlight, who: int) -> Iterator[dict[str, Any]]:
    mine, acts = figures(node, who), node.player == who
    for h in np.flatnonzero(mine.here)[::-1].tolist():
        row: dict[str, Any] = {"hand": show_hand(h), "weight": _round(mine.reach[h])}
        row |= {"ev": _round(mine.ev[h]), "equity": _round(mine.equity[h]), "eqr": _round(mine.eqr[h])}
        if acts:
            row["strategy"] = dict(zip(node.actions, map(_round, node.strategy[:, h]), strict=True))
            row["action_ev"] = dict(zip(node.actions, map(_round, node.action_ev()[:, h]), strict=True))
        yield row


def facts(solution: Solution) -> dict[str, Any]:
    """What stands at the head of an export."""
    game = solution.tree.game
    return {
        "format": "riverboat-nodes",
        "format_version": FORMAT_VERSION,
        "game": solution.tree.name,
        "root_board": show_cards(game.board),
        "unit": game.unit,
        "provenance": dict(solution.provenance),
    }


def export(solution: Solution, path: str | Path, line: str = "", depth: int | None = None) -> int:
    """Write a node, or with `depth` all nodes from it over so many streets, to a .json or .csv file. Returns how many."""
    path = Path(path)
    if path.suffix.lower() not in (".json", ".csv"):
        raise InputError(f"export to {path}: unknown kind {path.suffix!r}; use .json or .csv")
    with atomic_io.text_file(path) as file:
        return write(solution, file, line, depth, as_json=path.suffix.lower() == ".json")


def write(solution: Solution, out: TextIO, line: str = "", depth: int | None = None, *, as_json: bool) -> int:
    """The same to an open file."""
    chosen = iter([solution[line]]) if depth is None else nodes(solution, line, depth)
    if as_json:
        return write_json(solution, chosen, out)
    return write_csv(chosen, out, wide=depth is None)


def write_json(solution: Solution, chosen: Iterator[Spotlight], out: TextIO) -> int:
    """One object: facts, and the nodes one by one as they are computed. Returns how many."""
    head = json.dumps(facts(solution), default=str)
    out.write(f'{head[:-1]}, "nodes": [')
    count = 0
    for node in chosen:
        out.write(("," if count else "") + "\n" + json.dumps(node_dict(node), allow_nan=False))
        count += 1
    out.write("\n]}\n")
    return count


def write_csv(chosen: Iterator[Spotlight], out: TextIO, *, wide: bool = False) -> int:
    """A row for each hand and action; `wide`, for one node: a row for each hand, with columns for its actions."""
    writer = csv.writer(out, lineterminator="\n")
    if wide:
        return _write_wide(next(chosen), writer)
    writer.writerow((*HEAD, "action", "frequency", "action_ev"))
    count = 0
    for count, node in enumerate(chosen, 1):  # noqa: B007 the count of the last is the answer
        for head, row in _rows(node):
            moves = row.get("strategy")
            if moves is None:
                writer.writerow((*head, None, None, None))
                continue
            writer.writerows((*head, name, share, row["action_ev"][name]) for name, share in moves.items())
    return count


def _write_wide(node: Spotlight, writer: Any) -> int:
    names = node.actions
    writer.writerow((*HEAD, *(f"frequency_{name}" for name in names), *(f"ev_{name}" for name in names)))
    for head, row in _rows(node):
        more = [row.get(key, {}).get(name) for key in ("strategy", "action_ev") for name in names]
        writer.writerow((*head, *more))
    return 1


def _rows(node: Spotlight) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """What stands first in each line, and the hand."""
    board, chips = show_cards(node.board), pot(node)
    for who, name in enumerate(names(node.tree.game)):
        for row in _hands(node, who):
            yield (node.line, board, chips, name, *(row[key] for key in HEAD[4:])), row
