"""A decision of a blueprint or an agent for the page, told as nodes of solutions are; EVs and equities are not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from riverboat.cards.deck import FULL_DECK
from riverboat.cards.hand_classes import classify_all
from riverboat.cards.notation import parse_board, show_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import moves_of, play_move, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.menus import SEATS, Choices, Menu, menu_from
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.public_strategy import Answering
from riverboat.strategies.reports.blueprint import at_line
from riverboat.strategies.reports.public_state import PlaceNode, hand_numbers, player_node
from riverboat.web.views.node import number, numbers

NO_BETS = menu_from({"preflop": ""})
KINDS = {"f": "fold", "c": "call", "r": "raise"}


def blueprint_node(strategy: BlueprintStrategy, line: str, board: str) -> dict[str, Any]:
    """Return a decision of a blueprint's own tree; a deal where the cards of the street are not given."""
    return _node(strategy.rules, strategy.menu, line, board, lambda cards: at_line(strategy, line, cards))


def agent_node(agent: Answering, rules: Rules, line: str, board: str) -> dict[str, Any]:
    """Return a decision of an agent at any line. Actions of its blueprint's tree are listed even if it never plays them."""
    return _node(rules, own_menu(agent), line, board, lambda cards: player_node(agent, rules, line, cards))


def own_menu(agent: Answering) -> Menu | None:
    """Return the menu of the blueprint that an agent plays or is made of; None where it has none."""
    parts = (getattr(each, "strategy", None) for each in (agent, *getattr(agent, "made_of", ())))
    return next((part.menu for part in parts if isinstance(part, BlueprintStrategy)), None)


def _node(rules: Rules, menu: Menu | None, line: str, board: str, read: Callable[[str], PlaceNode]) -> dict[str, Any]:
    state = settled(Betting.from_line(rules, line))
    line, board = state.line, _cut(rules, state.street, board)
    path = _path(rules, menu, state)
    if state.actor < 0:
        return {"kind": "end"} | _empty(rules, line, board) | {"path": path}
    told = _missing(rules, state.street, line, board)
    on_tree = all(step["chosen"] in step["menu"] for step in path)
    own = _moves(rules, menu, state) if on_tree else []
    if told is None:
        told = place_node(read(board), own)
        own = [move["name"] for move in told["moves"]]
    last = {"line": line, "kind": "decision", "player": SEATS[state.actor], "moves": own, "chosen": None}
    return told | {"path": [*({key: step[key] for key in last} for step in path), last]}


def _cut(rules: Rules, street: int, board: str) -> str:
    """The cards of a board that are there on a street: who walks back keeps those that come later."""
    return show_cards(parse_board(board)[: rules.board_sizes[street]])


def _missing(rules: Rules, street: int, line: str, board: str) -> dict[str, Any] | None:
    """The deal, where the cards of a street are not given."""
    if len(parse_board(board)) >= rules.board_sizes[street]:
        return None
    return {"kind": "deal", "needs": rules.board_sizes[street]} | _empty(rules, line, board)


def _empty(rules: Rules, line: str, board: str) -> dict[str, Any]:
    state = settled(Betting.from_line(rules, line))
    side: dict[str, Any] = {
        "combos": None,
        "ev": None,
        "equity": None,
        "eqr": None,
        "hands": {"index": [], "weight": [], "deals": []},
    }
    return {
        "line": line, "board": board, "street": rules.streets[state.street], "pot": float(sum(state.spent)), "stacks": None,
        "player": None, "played": None, "names": list(SEATS), "joiner": "", "moves": [], "cards": [], "path": [],
        "players": dict.fromkeys(SEATS, side),
    }  # fmt: skip


def place_node(node: PlaceNode, own: Sequence[str] = ()) -> dict[str, Any]:
    """A place with what both seats hold there; actions of `own` are listed even if no hand plays them."""
    rules = node.rules
    names = sorted({*node.moves, *own}, key=_size)
    if rules.deck != FULL_DECK:
        raise InputError(f"{rules.name}: hands of another deck than hold'em's have no grid; riverboat show prints them")
    stacks = None
    if rules.stacks is not None:
        stacks = [float(stack - put) for stack, put in zip(rules.stacks, node.spent, strict=True)]
    return {
        "line": node.line,
        "kind": "decision",
        "board": show_cards(node.board),
        "street": rules.streets[node.street],
        "pot": float(sum(node.spent)),
        "stacks": stacks,
        "player": SEATS[node.seat],
        "played": number(node.chance, 8),
        "names": list(SEATS),
        "joiner": "",
        "moves": [_move(node, name) for name in names],
        "cards": [],
        "players": {name: _side(node, seat, names) for seat, name in enumerate(SEATS)},
    }


def _size(name: str) -> tuple[int, int]:
    """Order of actions: fold, call, raises upwards; of a span of raises its first total."""
    return "fcr".index(name[0]), int(name[1:].partition("-")[0] or 0)


def _played(node: PlaceNode, name: str) -> Array:
    """Probability of an action with each hand. float64 [n]"""
    probabilities: Array = node.played[:, node.moves.index(name)] if name in node.moves else np.zeros(len(node.hands))
    return probabilities


def _move(node: PlaceNode, name: str) -> dict[str, Any]:
    spent, kind = node.spent, KINDS.get(name[:1], "raise")
    to_call = max(spent[1 - node.seat] - spent[node.seat], 0)
    if not to_call:  # a big blind that nobody raised is a bet already
        blinds = node.rules.blinds
        opened = node.street == 0 and blinds[0] != blinds[1]
        kind = {"call": "check", "raise": "raise" if opened else "bet"}.get(kind, kind)
    total = int(name[1:]) if kind in ("bet", "raise") and name[1:].isdecimal() else None
    paid = to_call if kind == "call" else 0 if total is None else total - spent[node.seat]
    share = None if total is None else (total - max(spent)) / (sum(spent) + to_call)
    stacks = node.rules.stacks
    return {
        "name": name, "kind": kind, "chips": paid, "share": number(share, 4), "line": node.line + name,
        "allin": total is not None and stacks is not None and total >= stacks[node.seat],
        "frequency": number(node.frequencies.get(name, 0.0)),
        "combos": number(float(node.reach[node.seat] @ _played(node, name))),
        "ev": None, "equity": None, "eqr": None,
    }  # fmt: skip


def _side(node: PlaceNode, seat: int, names: Sequence[str]) -> dict[str, Any]:
    """All hands that are held there; the board's classes where there is one."""
    held = np.flatnonzero(node.reach[seat] > 0)
    index = hand_numbers(node.hands)[held]
    order = np.argsort(index)
    held, index = held[order], index[order]
    deals = node.deals[seat]
    nothing = [None] * len(held)
    hands: dict[str, Any] = {
        "index": index.tolist(), "weight": numbers(node.reach[seat][held]),
        "deals": numbers(deals[held] / max(deals.sum(), 1e-300), 7), "ev": nothing, "equity": nothing, "eqr": nothing,
        "strategy": [numbers(_played(node, name)[held], 4) for name in names] if node.seat == seat else [],
        "action_ev": [],
    }  # fmt: skip
    if node.board:
        made, draws = classify_all(node.board)
        hands |= {"made": made[index].tolist(), "draws": (draws[index] @ (1 << np.arange(draws.shape[1]))).tolist()}
    return {"combos": number(float(node.reach[seat].sum())), "ev": None, "equity": None, "eqr": None, "hands": hands}


def _path(rules: Rules, menu: Menu | None, end: Betting) -> list[dict[str, Any]]:
    """Return the decisions before a state: the actions of the menu there, and the one that was chosen."""
    state, steps = Betting.start(rules), []
    for move in moves_of(rules, end.line):
        chosen, own = show_move(move, rules), _moves(rules, menu, state)
        step = {"line": state.line, "kind": "decision", "player": SEATS[state.actor], "chosen": chosen, "menu": own}
        steps.append(step | {"moves": sorted({*own, chosen}, key=_size)})
        state = play_move(state, move)
    return steps


def _moves(rules: Rules, menu: Menu | None, state: Betting) -> list[str]:
    """Return the labels of the actions that a menu has at a state; without one, fold and call."""
    return [show_move(move, rules) for move in Choices(rules, menu or NO_BETS).moves(state.at)]
