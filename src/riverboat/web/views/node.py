"""A node of a solution for the page: every figure of the library's reports, with arrays over the hands that can be there."""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.cards.deck import HANDS, card_name
from riverboat.cards.hand_classes import Classes, classify_all
from riverboat.cards.notation import show_cards
from riverboat.core.arrays import Array
from riverboat.core.tables import Cell
from riverboat.games.base import CHANCE
from riverboat.games.boards.board_game import Dealt
from riverboat.games.spots.locks import locked_hands
from riverboat.games.spots.spot import Spot
from riverboat.strategies.reports import node as node_report
from riverboat.strategies.solution import Solution, Spotlight

DIGITS = 5
KINDS = {"f": "fold", "x": "check", "c": "call", "b": "bet", "r": "raise", "a": "bet"}


def numbers(values: Array, digits: int = DIGITS) -> list[Any]:
    """Rounded, and null where they are not known."""
    rounded = np.round(np.asarray(values, float), digits)
    listed: list[Any] = rounded.tolist()
    for k in np.flatnonzero(~np.isfinite(rounded)).tolist():
        listed[k] = None
    return listed


def number(value: Cell, digits: int = DIGITS) -> float | None:
    """One of them."""
    return None if value is None or not np.isfinite(float(value)) else round(float(value), digits)


def solution_node(solution: Solution, line: str) -> dict[str, Any]:
    """A node, whoever acts there."""
    node = solution[line]
    solution.street(node).walk()
    told = node_report.summary(node)
    cards = node.player == CHANCE
    return {
        "line": node.line,
        "kind": "decision" if node.player >= 0 else "deal" if cards else "end",
        "board": show_cards(node.board),
        "street": told.street,
        "pot": told.pot,
        "stacks": told.stacks,
        "player": told.player,
        "played": number(node.played, 8),
        "names": list(told.names),
        "joiner": node.tree.game.joiner,
        "moves": [_move(node, row) for row in told.actions],
        "cards": cards_of(node) if cards else [],
        "path": path(node),
        "players": _sides(node, told),
        "locked": np.flatnonzero(_locked(node, node.place, node.dealt)).tolist(),
    }


def _locked(node: Spotlight, place: int, dealt: Dealt) -> Array:
    """Return which hands of the player to act are locked at a node of the betting. bool [1326]"""
    game = node.tree.game
    return locked_hands(game, place, dealt) if isinstance(game, Spot) and game.locks else np.zeros(HANDS, bool)


def _move(node: Spotlight, row: dict[str, Any]) -> dict[str, Any]:
    name = str(row["action"])
    joined = f"{node.line}{node.tree.game.joiner}{name}" if node.line else name
    figures = {key: number(row[key]) for key in ("frequency", "combos", "ev", "equity", "eqr")}
    return {"name": name, **move_facts(node, name), "line": joined} | figures


def move_facts(node: Spotlight, name: str) -> dict[str, Any]:
    """What kind of move it is, the chips that it adds, how large a bet or raise is against the pot, and if all is in then."""
    betting, me, kind = node.tree.betting, node.player, KINDS.get(name[:1], "bet")
    below = next(c for c in betting.children(node.place) if betting.label[c] == name)
    spent = betting.spent[node.place]
    paid = float(betting.spent[below, me] - spent[me])
    to_call = float(max(spent[1 - me] - spent[me], 0.0))
    behind, raised = node_report.stacks(node), paid > to_call
    share = (paid - to_call) / (node_report.pot(node) + to_call) if raised else None
    everything = raised and behind is not None and paid >= behind[me]
    return {"kind": kind, "chips": paid, "share": number(share, 4), "allin": everything}


def cards_of(node: Spotlight) -> list[str]:
    """The cards that may come."""
    return [card_name(int(c)) for c in node.tree.game.deck.cards if int(c) not in node.board]


def path(node: Spotlight) -> list[dict[str, Any]]:
    """The way from the root: every decision and deal with what was chosen there and what else could be."""
    betting, joiner, steps = node.tree.betting, node.tree.game.joiner, []
    line, dealt = "", list(node.dealt)
    seen = 0  # deals so far
    names = node_report.names(node.tree.game)
    way = node.way
    for here, after in zip(way, [*way[1:], None], strict=True):
        actor = int(betting.actor[here])
        step: dict[str, Any] = {"line": line, "player": names[actor] if actor >= 0 else None}
        step |= {"kind": "decision" if actor >= 0 else "deal" if actor == CHANCE else "end"}
        step |= {"moves": list(betting.moves(here)) if actor >= 0 else [], "chosen": None}
        step["locked"] = actor >= 0 and bool(_locked(node, here, node.dealt[:seen]).any())
        seen += actor == CHANCE
        if after is not None:
            chosen = betting.label[after] if actor >= 0 else show_cards(dealt.pop(0))
            step["chosen"] = chosen
            line = f"{line}/{chosen}" if actor < 0 else f"{line}{joiner}{chosen}" if line else chosen
        steps.append(step)
    return steps


def _sides(node: Spotlight, told: node_report.Summary) -> dict[str, Any]:
    classes = classify_all(node.board, node.tree.game.deck) if node.board else None
    return {name: _side(node, told, who, classes) for who, name in enumerate(told.names)}


def _side(node: Spotlight, told: node_report.Summary, who: int, classes: Classes | None) -> dict[str, Any]:
    """One player: means, and every hand."""
    mine, acts = node_report.figures(node, who), node.player == who
    hands = np.flatnonzero(mine.here)
    side: dict[str, Any] = {key: number(getattr(told, key)[who]) for key in ("combos", "ev", "equity", "eqr")}
    side["hands"] = {
        "index": hands.tolist(),
        "weight": numbers(mine.reach[hands]),
        "deals": numbers(mine.deals[hands] / max(mine.deals.sum(), 1e-300), 7),
        "ev": numbers(mine.ev[hands], 3),
        "equity": numbers(mine.equity[hands], 4),
        "eqr": numbers(mine.eqr[hands], 3),
        "strategy": [numbers(row[hands], 4) for row in node.strategy] if acts else [],
        "action_ev": [numbers(row[hands], 3) for row in node.action_ev()] if acts else [],
    }
    if classes is not None:
        made, draws = classes
        side["hands"] |= {
            "made": made[hands].tolist(),
            "draws": (draws[hands] @ (1 << np.arange(draws.shape[1]))).tolist(),
        }
    return side
