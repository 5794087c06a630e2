"""Public information about a blueprint's play: all translations of a line, one hand at a time, as dictionaries."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np

from reference import blueprint_agent as twin
from riverboat.abstraction.actions.translation import PotFraction, translate_bet
from riverboat.cards.ranking import rank
from riverboat.games.holdem.betting import BettingState, split_line

OFF = twin.OFF


def readings(tree, node, state, total, mapping, tie):
    """The nodes to which the opponent's raise may be mapped, with their probabilities."""
    stack, high = min(state.rules.stacks or (2**40,)), max(state.spent)
    raises = twin.raises_of(tree, node)
    if not raises and twin.ends_round(tree, node):
        return {OFF: 1.0}
    allowed = [twin.after_call(tree, node), *raises]
    menu = [twin.size_of(tree, node, child, stack) for child in allowed]
    result = translate_bet(mapping, menu, PotFraction((total - high) / (2 * high), total >= stack), tie)
    return {allowed[place]: p for place, p in result.items()}


def after_move(tree, place, state, label, seat, mapping, tie):
    """States after an action, with their probabilities."""
    node, off = place
    if off == "small" and label != "c":
        return {(int(tree.parent[node]), "beyond"): 1.0}
    if node is OFF or off:
        return {place: 1.0}
    if label == "c":
        return {(twin.after_call(tree, node), ""): 1.0}
    total = state.apply_action(state.parse_action(label)).spent[state.turn]
    if state.turn == seat:
        result = {twin.read_own(tree, node, state, total): 1.0}
    else:
        result = readings(tree, node, state, total, mapping, tie)
    out = {}
    for after, p in result.items():
        if after is OFF:
            out[node, "beyond"] = p
        else:
            small = tree.label(after) == "c" and twin.ends_round(tree, node)
            out[after, "small" if small else ""] = p
    return out


def row_at(agent, place, state, seat, hole, board, first):
    """Real actions with their probabilities at a state; the row is post-processed by `agent`'s own rule."""
    tree = agent.strategy.tree
    node, off = place
    if off == "beyond":
        node = node if tree.actor[node] == seat else int(tree.parent[node])
        usable = tree.actor[node] == seat and tree.street[node] == state.street and tree.actions(node)[0] == "f"
        node = node if usable else OFF
    if off == "small":
        return {"c": 1.0}
    if node is OFF:
        return {"c" if not state.to_call or worth(agent.rules, state, hole, board) else "f": 1.0}
    row = agent.strategy.probabilities(node, np.array([agent.strategy.cards.bucket(hole, board)]))[0]
    labels = agent.strategy.moves(node)
    row = agent.rule(row, labels, first)
    out = defaultdict(float)
    for child, p in zip(tree.children(node), row, strict=True):
        real = twin.real_move(tree, node, child, state)
        out["c" if off == "beyond" and real[0] == "r" else real] += p
    return out


def worth(rules, state, hole, board):
    """Whether a hand is worth the price: it beats that share of all other hands, and a fifth more."""
    left = [c for c in rules.deck.cards.tolist() if c not in (*hole, *board)]
    own = rank((*hole, *board))
    others = [rank((*pair, *board)) for pair in combinations(left, rules.hole)]
    strong = sum((own > x) + (own == x) / 2 for x in others) / len(others)
    return strong >= state.to_call / (state.pot + state.to_call) + 0.2


def play(agent, line, seat, hole, board):
    """Probability that the hand plays its actions of the line, and its strategy there (empty if it does not act)."""
    rules, tree = agent.rules, agent.strategy.tree
    state, places, prior, own = BettingState.start(rules), {(0, ""): 1.0}, {(0, ""): 1.0}, 0
    for label in split_line(line):
        if label == "/":
            state = state.next_street()
            places, prior = (dealt(table, tree, state.street) for table in (places, prior))
            continue
        if state.turn == seat:
            visible = board[: rules.board_sizes[state.street]]
            for place in places:
                places[place] *= row_at(agent, place, state, seat, hole, visible, own == 0).get(label, 0.0)
            own += 1
        if label == "f":
            return sum(places.values()), {}
        tables = []
        for table in (places, prior):
            new = defaultdict(float)
            for place, weight in table.items():
                for after, p in after_move(tree, place, state, label, seat, agent.translation, agent.tie).items():
                    new[after] += weight * p
            tables.append(new)
        places, prior = tables
        state = state.apply_action(state.parse_action(label))
    total = sum(places.values())
    if state.actor != seat:
        return total, {}
    table, whole, mean = (places, total, defaultdict(float)) if total > 0 else (prior, 1.0, defaultdict(float))
    for place, weight in table.items():
        for label, p in row_at(agent, place, state, seat, hole, board, own == 0).items():
            mean[label] += weight / whole * p
    return total, dict(mean)


def dealt(table, tree, street):
    """States after the deal of a round."""
    new = defaultdict(float)
    for (node, _), weight in table.items():
        new[OFF if node is OFF else twin.deal_round(tree, node, street), ""] += weight
    return new
