"""A node of a solution as JSON: the summary, and arrays over the hands that are possible there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.cards.deck import NUM_HANDS, card_name
from riverboat.cards.hand_classes import HandClasses, classify_all
from riverboat.cards.notation import format_cards
from riverboat.core.arrays import Array
from riverboat.core.tables import Cell
from riverboat.games.base import CHANCE
from riverboat.games.boards.board_game import DealtCards
from riverboat.games.spots.locks import locked_hands
from riverboat.games.spots.spot import Spot
from riverboat.strategies.reports import node as node_report

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution, SolutionNode

DIGITS = 5
ACTION_KINDS = {"f": "fold", "x": "check", "c": "call", "b": "bet", "r": "raise", "a": "bet"}


def round_array(values: Array, digits: int = DIGITS) -> list[Any]:
    """Return rounded values as a list, with None for NaN and infinity."""
    rounded = np.round(np.asarray(values, float), digits)
    listed: list[Any] = rounded.tolist()
    for k in np.flatnonzero(~np.isfinite(rounded)).tolist():
        listed[k] = None
    return listed


def round_or_none(value: Cell, digits: int = DIGITS) -> float | None:
    """Return a rounded value, or None for NaN and infinity."""
    return None if value is None or not np.isfinite(float(value)) else round(float(value), digits)


def solution_node_to_dict(solution: Solution, line: str) -> dict[str, Any]:
    """Return a node of a solution (decision, deal or end) as the fields of `NodeResponse`."""
    node = solution[line]
    summary = node_report.node_summary(node)
    is_deal = node.player == CHANCE
    classes = classify_all(node.board, node.tree.game.deck) if node.board else None
    return {
        "line": node.line,
        "kind": "decision" if node.player >= 0 else "deal" if is_deal else "end",
        "board": format_cards(node.board),
        "street": summary.street,
        "pot": summary.pot,
        "stacks": summary.stacks,
        "player": summary.player,
        "played": round_or_none(node.reach_probability, 8),
        "names": list(summary.names),
        "joiner": node.tree.game.joiner,
        "moves": [
            _action_to_dict(node, child, row)  # a deal has a child, but no actions
            for row, child in zip(summary.actions, node.tree.betting.children(node.betting_node), strict=False)
        ],
        "cards": possible_cards(node) if is_deal else [],
        "path": path_to_node(node),
        "players": {name: _player_to_dict(node, summary, k, classes) for k, name in enumerate(summary.names)},
        "locked": np.flatnonzero(_locked_hands(node, node.betting_node, node.dealt_cards)).tolist(),
    }


def _locked_hands(node: SolutionNode, place: int, dealt: DealtCards) -> Array:
    """Return which hands of the player to act are locked at betting node `place` after some deals. bool [1326]"""
    game = node.tree.game
    return locked_hands(game, place, dealt) if isinstance(game, Spot) and game.locks else np.zeros(NUM_HANDS, bool)


def _action_to_dict(node: SolutionNode, child: int, row: dict[str, Any]) -> dict[str, Any]:
    """Return an action that leads to a child in the betting tree, with the chips that it adds and its size."""
    betting, player, name = node.tree.betting, node.player, str(row["action"])
    spent = betting.spent[node.betting_node]
    paid = float(betting.spent[child, player] - spent[player])
    to_call = float(max(spent[1 - player] - spent[player], 0.0))
    stacks, is_raise = node_report.stacks(node), paid > to_call
    share = (paid - to_call) / (node_report.pot(node) + to_call) if is_raise else None
    return {
        "name": name, "kind": ACTION_KINDS.get(name[:1], "bet"), "chips": paid, "share": round_or_none(share, 4),
        "allin": is_raise and stacks is not None and paid >= stacks[player],
        "line": f"{node.line}{node.tree.game.joiner}{name}" if node.line else name,
        **{key: round_or_none(row[key]) for key in ("frequency", "combos", "ev", "equity", "eqr")},
    }  # fmt: skip


def possible_cards(node: SolutionNode) -> list[str]:
    """Return the cards that can be dealt next."""
    return [card_name(int(c)) for c in node.tree.game.deck.cards if int(c) not in node.board]


def path_to_node(node: SolutionNode) -> list[dict[str, Any]]:
    """Return the path from the root to a node: every decision and deal with its actions and the one that was taken."""
    betting, joiner, steps = node.tree.betting, node.tree.game.joiner, []
    line, num_deals, dealt = "", 0, list(node.dealt_cards)
    names = node_report.player_names(node.tree.game)
    for betting_node, child in zip(node.path, [*node.path[1:], None], strict=True):
        actor = int(betting.actor[betting_node])
        step: dict[str, Any] = {"line": line, "player": names[actor] if actor >= 0 else None}
        step |= {"kind": "decision" if actor >= 0 else "deal" if actor == CHANCE else "end"}
        step |= {"moves": list(betting.actions(betting_node)) if actor >= 0 else [], "chosen": None}
        step["locked"] = actor >= 0 and bool(_locked_hands(node, betting_node, node.dealt_cards[:num_deals]).any())
        num_deals += actor == CHANCE
        if child is not None:
            chosen = betting.label[child] if actor >= 0 else format_cards(dealt.pop(0))
            step["chosen"] = chosen
            line = f"{line}/{chosen}" if actor < 0 else f"{line}{joiner}{chosen}" if line else chosen
        steps.append(step)
    return steps


def _player_to_dict(
    node: SolutionNode, summary: node_report.NodeSummary, who: int, classes: HandClasses | None
) -> dict[str, Any]:
    """Return the means and, as columns over its hands in range, the figures of player `who`; EVs in chips."""
    figures, acts = node_report.hand_figures(node, who), node.player == who
    hands = np.flatnonzero(figures.in_range)
    columns = {
        "index": hands.tolist(),
        "weight": round_array(figures.reach[hands]),
        "deals": round_array(figures.deals[hands] / max(figures.deals.sum(), 1e-300), 7),
        "ev": round_array(figures.ev[hands], 3),
        "equity": round_array(figures.equity[hands], 4),
        "eqr": round_array(figures.eqr[hands], 3),
        "strategy": [round_array(row[hands], 4) for row in node.strategy] if acts else [],
        "action_ev": [round_array(row[hands], 3) for row in node.action_ev()] if acts else [],
        **class_columns(hands, classes),
    }
    means = {key: round_or_none(getattr(summary, key)[who]) for key in ("combos", "ev", "equity", "eqr")}
    return {**means, "hands": columns}


def class_columns(hands: Array, classes: HandClasses | None) -> dict[str, list[int]]:
    """Return the indices of made hands and the bit sets of draws of some hands; nothing without a board."""
    if classes is None:
        return {}
    made, draws = classes
    return {"made": made[hands].tolist(), "draws": (draws[hands] @ (1 << np.arange(draws.shape[1]))).tolist()}
