"""Decisions of a spot: all hands of a player at one node, with what each move is worth; and what playing otherwise costs."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.notation import show_cards, show_hand
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.tables import block, encoded
from riverboat.explain.decisions import Cost, Decisions, joined
from riverboat.explain.range_features import range_columns
from riverboat.games.spots.spot import Spot
from riverboat.strategies.features import BOARDS, HANDS, RANGE, SITUATIONS, STREETS, hand_columns
from riverboat.strategies.reports.node import names, pot, title
from riverboat.strategies.reports.runouts import lines
from riverboat.strategies.rule_list import CALL, FOLD, RAISE, Move
from riverboat.strategies.solution import Solution, Spotlight


def spot_decisions(node: Spotlight, *, board_features: bool = False) -> Decisions:
    """What the player who acts does with every hand. `board_features`: keep what is the same for all hands, where nodes are
    joined.
    """
    player = node.player
    if player < 0:
        raise InputError(f"{node.tree.name}: nobody acts at {node.line!r}, so there is nothing to explain")
    weight = node.reach[player] * node.compatible(player)
    hands = np.flatnonzero(weight > 0)
    if not len(hands):
        raise InputError(f"{node.tree.name}: nobody gets to {node.line!r}, so there is nothing to explain")
    played, worth = node.strategy[:, hands].T, node.action_ev()[:, hands].T
    boards = np.broadcast_to(np.array(node.board, np.uint8), (len(hands), len(node.board)))
    columns = hand_columns(HAND_CARDS[hands], boards, deck=node.tree.game.deck)
    equities = node.equity[player], node.equity[1 - player]
    columns |= range_columns(node.reach[player], node.reach[1 - player], equities, hands)
    columns |= _situation(node, len(hands))
    features = [f for f in HANDS + RANGE + BOARDS + SITUATIONS if board_features or np.ptp(columns[f.name]) > 0]
    unit, scale = node.tree.game.scale if isinstance(node.tree.game, Spot) else ("chips", 1.0)
    return Decisions(
        f"{title(node)}: {names(node.tree.game)[player]}",
        tuple(features),
        {f.name: columns[f.name] for f in features},
        moves_of(node),
        np.ones(played.shape, bool),
        played,
        weight[hands] / weight[hands].sum(),
        tuple(show_hand(h) for h in hands.tolist()),
        CLASS_OF_HAND[hands].astype(np.int64),
        worth * scale,
        unit,
    )


def card_decisions(solution: Solution, line: str) -> Decisions:
    """The same on all cards that `*` stands for in a line, `x-x/*`, each as often as it comes when the line is played."""
    nodes = [solution[one] for _, one in lines(solution, line)]
    if nodes[0].player < 0:
        raise InputError(f"{solution.tree.name}: nobody acts at {line!r}, so there is nothing to explain")
    nodes = [node for node in nodes if node.pairs[0] > 0]
    if not nodes:
        raise InputError(f"{solution.tree.name}: nobody gets to {line!r}, so there is nothing to explain")
    parts = []
    for node in nodes:
        part, dealt = spot_decisions(node, board_features=True), show_cards([c for deal in node.dealt for c in deal])
        parts.append(replace(part, names=tuple(f"{name} on {dealt}" for name in part.names)))
    game = solution.tree.game
    whose = f"{line} on {show_cards(game.board, ' ')}, {len(nodes)} deals: {names(game)[nodes[0].player]}"
    whole = joined(parts, whose, [node.pairs[0] for node in nodes])
    differ = tuple(f for f in whole.features if np.ptp(whole.columns[f.name]) > 0)
    return replace(whole, features=differ, columns={f.name: whole.columns[f.name] for f in differ})


def moves_of(node: Spotlight) -> tuple[Move, ...]:
    """What the moves of a node mean."""
    betting, player = node.tree.betting, node.player
    spent = betting.spent[node.place].astype(float)
    call = max(spent[1 - player] - spent[player], 0.0)
    middle = pot(node) + call
    out = []
    for child, label in zip(betting.children(node.place), node.actions, strict=True):
        if label in ("x", "c"):
            out.append(Move(CALL))
        elif label == "f":
            out.append(Move(FOLD))
        else:
            extra = float(betting.spent[child, player]) - spent[player] - call
            out.append(Move(RAISE, inf if label == "a" else round(extra / middle, 4)))
    return tuple(out)


def _situation(node: Spotlight, count: int) -> dict[str, Array]:
    """The same for all hands."""
    betting, game, player = node.tree.betting, node.tree.game, node.player
    spent = betting.spent[node.place].astype(float)
    call = max(spent[1 - player] - spent[player], 0.0)
    behind = [float(b) - s for b, s in zip(game.behind, spent, strict=True)] if isinstance(game, Spot) else [0.0, 0.0]
    middle = pot(node) + call
    led = game.led if isinstance(game, Spot) and not node.dealt else None
    raises = sum(label[0] in "bra" for label in node.line.rpartition("/")[2].split("-") if label)
    facts = {
        "street": float(max(len(node.board) - 2, 0)), "in position": float(player == 1), "facing": float(call > 0),
        "price": call / middle, "raises": float(raises),
        "stack to pot": max(min(behind[1 - player], behind[player] - call), 0.0) / middle,
        "you led": float(led == player), "they led": float(led == 1 - player),
    }  # fmt: skip
    assert len(STREETS) > facts["street"]
    return {name: np.full(count, value) for name, value in facts.items()}


# --- what following rules costs -------------------------------------------------------------------


def replaced(node: Spotlight, decisions: Decisions, played: Array) -> Solution:
    """The solution with what is played at one node replaced, on its board. float64 [n, moves]"""
    solution, tree = node.solution, node.tree
    hands = np.array([_number[name] for name in decisions.names])
    rows = np.array(node.strategy)  # NaN where a hand cannot be there
    rows[:, hands] = played.T
    boards, maps = node.boards
    street = len(node.dealt)
    back = np.empty(len(rows[0]), np.int64)
    back[maps[street]] = np.arange(len(back))
    reps = back[tree.reps(boards[street], node.player)]
    forest = int(np.flatnonzero(tree.forest.node == node.place)[0])
    at, width, count = block(tree, boards[street], forest)
    fixed = np.nan_to_num(rows[:, reps], nan=1.0 / width).reshape(width * count)
    table = np.array(solution.table)
    table[at : at + width * count] = encoded(fixed, table.dtype)
    return Solution(tree, table, {"method": "rules"}, solution.root)


def cost_of(node: Spotlight, decisions: Decisions) -> Cost:
    """What the opponent's best response gains when this decision is played otherwise and all else stays, exact."""
    solution, other = node.solution, 1 - node.player
    before = solution.earnings(other, respond=True)

    def cost(played: Array) -> dict[str, float]:
        best = replaced(node, decisions, played).earnings(other, respond=True)
        return {"exploitability": (best - before) * node.tree.per_chip}

    return cost


_number = {show_hand(h): h for h in range(len(HAND_CARDS))}
