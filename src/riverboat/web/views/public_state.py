"""A decision of a blueprint or an agent as JSON, in the format of solution nodes; EVs and equities are unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.api.nodes import PublicNode
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.hand_classes import HandClasses, classify_all
from riverboat.cards.notation import format_cards, parse_board
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import SEATS, ActionMenu, MenuActions, menu_from_table
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.reports.blueprint import BlueprintNode, first_street_nodes, node_at_line
from riverboat.strategies.reports.public_state import PublicStateNode
from riverboat.web.models import ExampleLine
from riverboat.web.views.node import class_columns, round_array, round_or_none

if TYPE_CHECKING:
    from riverboat.strategies.blueprint import Blueprint

NO_BETS = menu_from_table({"preflop": ""})
ACTION_KINDS = {"f": "fold", "c": "call", "r": "raise"}


def public_node_to_dict(node: PublicNode) -> dict[str, Any]:
    """Return a decision, a deal whose cards are not given, or the end of a hand as fields of `NodeResponse`.

    Actions of the blueprint's tree are listed even if no hand plays them.
    """
    rules, state = node.rules, node.state
    path = _path_to_state(rules, node.menu, state)
    if node.kind == "end":
        return _empty_node(node, state) | {"kind": "end", "path": path}
    on_tree = all(step["chosen"] in step["menu"] for step in path)
    tree_actions = _menu_actions(rules, node.menu, state) if on_tree else []
    if node.public is None:
        fields = _empty_node(node, state) | {"kind": "deal", "needs": rules.board_sizes[state.street]}
    else:
        fields = _decision_to_dict(node.public, tree_actions)
        tree_actions = [move["name"] for move in fields["moves"]]
    last = {"line": state.line, "kind": "decision", "player": SEATS[state.actor], "moves": tree_actions, "chosen": None}
    return fields | {"path": [*path, last]}


def _empty_node(node: PublicNode, state: BettingState) -> dict[str, Any]:
    dealt = state.deal_due_streets()
    return {
        "line": state.line, "board": node.board, "street": node.rules.streets[dealt.street], "pot": float(sum(dealt.spent)),
        "names": list(SEATS), "players": {seat: {} for seat in SEATS},
    }  # fmt: skip


def _decision_to_dict(node: PublicStateNode, own_actions: Sequence[str] = ()) -> dict[str, Any]:
    """Return a decision with the ranges of both seats as fields of `NodeResponse`.

    Actions of `own_actions` are listed even if no hand plays them.
    """
    rules = node.rules
    names = sorted({*node.moves, *own_actions}, key=_action_order)
    if rules.deck != FULL_DECK:
        raise InputError(f"{rules.name}: only hands of the standard deck have a grid; use riverboat show")
    stacks = rules.stacks and [float(stack - put) for stack, put in zip(rules.stacks, node.spent, strict=True)]
    classes = classify_all(node.board) if node.board else None
    return {
        "line": node.line,
        "kind": "decision",
        "board": format_cards(node.board),
        "street": rules.streets[node.street],
        "pot": float(sum(node.spent)),
        "stacks": stacks,
        "player": SEATS[node.seat],
        "played": round_or_none(node.reach_probability, 8),
        "names": list(SEATS),
        "moves": [_action_to_dict(node, name) for name in names],
        "players": {name: _player_to_dict(node, seat, names, classes) for seat, name in enumerate(SEATS)},
    }


def _action_order(name: str) -> tuple[int, int]:
    """Return the sort key of an action: fold, call, raises upwards; for a range of raises its first total."""
    return "fcr".index(name[0]), int(name[1:].partition("-")[0] or 0)


def _action_probabilities(node: PublicStateNode, name: str) -> Array:
    """Return the probability of an action with each hand; 0 for actions that no hand plays. float64 [n]"""
    if name not in node.moves:
        return np.zeros(len(node.hands))
    return np.asarray(node.action_probabilities[:, node.moves.index(name)])


def _action_to_dict(node: PublicStateNode, name: str) -> dict[str, Any]:
    spent, kind = node.spent, ACTION_KINDS.get(name[:1], "raise")
    to_call = max(spent[1 - node.seat] - spent[node.seat], 0)
    if not to_call:  # preflop, the big blind counts as a bet
        blinds = node.rules.blinds
        opened = node.street == 0 and blinds[0] != blinds[1]
        kind = {"call": "check", "raise": "raise" if opened else "bet"}.get(kind, kind)
    total = int(name[1:]) if kind in ("bet", "raise") and name[1:].isdecimal() else None
    paid = to_call if kind == "call" else 0 if total is None else total - spent[node.seat]
    share = None if total is None else (total - max(spent)) / (sum(spent) + to_call)
    stacks = node.rules.stacks
    return {
        "name": name, "kind": kind, "chips": paid, "share": round_or_none(share, 4), "line": node.line + name,
        "allin": total is not None and stacks is not None and total >= stacks[node.seat],
        "frequency": round_or_none(node.frequencies.get(name, 0.0)),
        "combos": round_or_none(float(node.reach[node.seat] @ _action_probabilities(node, name))),
    }  # fmt: skip


def _player_to_dict(
    node: PublicStateNode, seat: int, names: Sequence[str], classes: HandClasses | None
) -> dict[str, Any]:
    """Return all hands in a player's range, with their classes if there is a board."""
    indices, deals = FULL_DECK.hand_indices(node.hands), node.deal_weights[seat]
    rows = np.argsort(indices)
    rows = rows[node.reach[seat][rows] > 0]
    index, unknown = indices[rows], [None] * len(rows)
    hands: dict[str, Any] = {
        "index": index.tolist(), "weight": round_array(node.reach[seat][rows]),
        "deals": round_array(deals[rows] / max(deals.sum(), 1e-300), 7), "ev": unknown, "equity": unknown, "eqr": unknown,
        "strategy": [round_array(_action_probabilities(node, name)[rows], 4) for name in names] if node.seat == seat else [],
        **class_columns(index, classes),
    }  # fmt: skip
    return {"combos": round_or_none(float(node.reach[seat].sum())), "hands": hands}


def _path_to_state(rules: PokerRules, menu: ActionMenu | None, end: BettingState) -> list[dict[str, Any]]:
    """Return the decisions before a state: actions of the menu, all actions shown, and the one that was chosen."""
    state, steps = BettingState.start(rules), []
    for move in end.actions:
        chosen, own = format_action(move, rules), _menu_actions(rules, menu, state)
        step = {"line": state.line, "kind": "decision", "player": SEATS[state.actor], "chosen": chosen, "menu": own}
        steps.append(step | {"moves": sorted({*own, chosen}, key=_action_order)})
        state = state.play(move)
    return steps


def _menu_actions(rules: PokerRules, menu: ActionMenu | None, state: BettingState) -> list[str]:
    """Return the labels of the actions that a menu has at a state; without one, fold and call."""
    return [format_action(move, rules) for move in MenuActions(rules, menu or NO_BETS).actions(state.compact)]


# --- Example lines: frequent lines of a blueprint, one per street from the flop on ---

EXAMPLE_BOARD = "Kh7c2s9d3h"
EXAMPLE_HAND = "QdJd"  # hole cards of match states, which do not overlap with the board
FOLD = "f"


def example_lines(strategy: Blueprint) -> list[ExampleLine]:
    """Return a line for each street from the flop on: the most frequent line to the flop, then frequent actions.

    Games with another deck have no grid and no examples.
    """
    tree, rules = strategy.tree, strategy.rules
    if rules.deck != FULL_DECK or rules.rounds < 2:
        return []
    cards, examples = parse_board(EXAMPLE_BOARD), []
    node: int | None = _most_frequent_flop(strategy)
    while node is not None:
        current = node_at_line(strategy, node, cards[: rules.board_sizes[tree.street[node]]])
        examples.append(_example_line(current))
        node = _follow_to_next_street(current)
    return examples


def _most_frequent_flop(strategy: Blueprint) -> int | None:
    """Return the decision on the second street that is reached most often; None if no line leads there."""
    tree = strategy.tree
    reached: dict[int, float] = {}
    for here in first_street_nodes(strategy):
        for child, share in zip(tree.children(here.node), here.frequencies.values(), strict=True):
            if tree.street[child] > 0 and tree.actor[child] >= 0:
                reached[child] = here.reach_probability * share
    return max(reached, key=lambda child: reached[child], default=None)


def _follow_to_next_street(here: BlueprintNode) -> int | None:
    """Return the node where the most frequent actions but folds reach the next street; None if the hand ends first."""
    tree, street = here.strategy.tree, here.street
    while tree.street[here.node] == street:
        shares = {k: share for k, (name, share) in enumerate(here.frequencies.items()) if name != FOLD}
        child = here.child(max(shares, key=lambda k: shares[k]))
        if tree.actor[child.node] < 0:
            return None
        here = child
    return here.node


def _example_line(here: BlueprintNode) -> ExampleLine:
    shown = [format_cards(here.board[a:b]) for a, b in zip((0, 3, 4), (3, 4, 5), strict=True) if len(here.board) >= b]
    return ExampleLine(
        street=here.rules.streets[here.street], line=here.line, board=format_cards(here.board),
        combos={name: round(float(here.reach[seat].sum()), 2) for seat, name in enumerate(SEATS)},
        state=f"MATCHSTATE:1:0:{here.line}:|{'/'.join([EXAMPLE_HAND, *shown])}",
    )  # fmt: skip
