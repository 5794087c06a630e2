"""A decision of a blueprint or an agent for the page, told as nodes of solutions are; EVs and equities are not known."""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.cards.classes import classify_all
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.notation import parse_board, show_cards
from riverboat.errors import InputError
from riverboat.games.acpc import Rules
from riverboat.games.betting import Betting
from riverboat.games.match_state import settled
from riverboat.games.menus import SEATS
from riverboat.interfaces.web.node_json import number, numbers
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.strategy.blueprint_report import at_line
from riverboat.strategy.place_node import PlaceNode, hand_numbers, player_node
from riverboat.strategy.public_answers import Answering

KINDS = {"f": "fold", "c": "call", "r": "raise"}


def blueprint_node(strategy: BlueprintStrategy, line: str, board: str) -> dict[str, Any]:
    """A decision of a blueprint's own tree; where a street begins without its cards, the deal."""
    tree, rules = strategy.tree, strategy.rules
    node = tree.find(line)
    if tree.actor[node] >= 0:
        board = _cut(rules, int(tree.street[node]), board)
        told = _missing(rules, int(tree.street[node]), line, board) or place_node(at_line(strategy, line, board))
        return told | {"path": _path(strategy, node)}
    return {"kind": "end"} | _empty(rules, line, board)


def agent_node(agent: Answering, rules: Rules, line: str, board: str) -> dict[str, Any]:
    """A decision of an agent, whatever was bet."""
    state = settled(Betting.from_line(rules, line))
    board = _cut(rules, state.street, board)
    told = _missing(rules, state.street, line, board) or place_node(player_node(agent, rules, line, board))
    return told | {"path": []}


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


def place_node(node: PlaceNode) -> dict[str, Any]:
    """A place with what both seats hold there."""
    rules = node.rules
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
        "moves": [_move(node, name, k) for k, name in enumerate(node.moves)],
        "cards": [],
        "players": {name: _side(node, seat) for seat, name in enumerate(SEATS)},
    }


def _move(node: PlaceNode, name: str, k: int) -> dict[str, Any]:
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
        "frequency": number(node.frequencies[name]), "combos": number(float(node.reach[node.seat] @ node.played[:, k])),
        "ev": None, "equity": None, "eqr": None,
    }  # fmt: skip


def _side(node: PlaceNode, seat: int) -> dict[str, Any]:
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
        "strategy": [numbers(row, 4) for row in node.played[held].T] if node.seat == seat else [], "action_ev": [],
    }  # fmt: skip
    if node.board:
        made, draws = classify_all(node.board)
        hands |= {"made": made[index].tolist(), "draws": (draws[index] @ (1 << np.arange(draws.shape[1]))).tolist()}
    return {"combos": number(float(node.reach[seat].sum())), "ev": None, "equity": None, "eqr": None, "hands": hands}


def _path(strategy: BlueprintStrategy, place: int) -> list[dict[str, Any]]:
    """The decisions from the root of the tree to a place of it."""
    tree, steps = strategy.tree, []
    after = None
    while True:
        step: dict[str, Any] = {"line": tree.line(place), "kind": "decision", "player": SEATS[int(tree.actor[place])]}
        steps.append(step | {"moves": list(tree.moves(place)), "chosen": None if after is None else tree.label(after)})
        if place == 0:
            return steps[::-1]
        after, place = place, int(tree.parent[place])
