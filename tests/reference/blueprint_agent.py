"""Reference for action translation of a blueprint: how a line is mapped, and its actions in the real pot."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from riverboat.abstraction.actions.translation import PotFraction, translate_bet
from riverboat.games.holdem.betting import BettingState, split_line

OFF = None


def high_of(tree, node):
    return int(max(tree.spent[node]))


def size_of(tree, node, child, stack):
    """The bet size as the translations expect it; None for a fold."""
    if tree.label(child) == "f":
        return None
    high, total = high_of(tree, node), int(tree.total[child])
    return PotFraction(max(0, total - high) / (2 * high), total >= stack)


def after_call(tree, node):
    return next(child for child in tree.children(node) if tree.label(child) == "c")


def ends_round(tree, node):
    """Whether a call is the last action of the round."""
    after = after_call(tree, node)
    return tree.actor[after] < 0 or tree.street[after] != tree.street[node]


def raises_of(tree, node):
    return [child for child in tree.children(node) if tree.label(child)[0] == "r"]


def real_move(tree, node, child, state):
    """The label of the real action for an abstract one."""
    kind, span = tree.label(child)[0], state.raise_range()
    if kind == "f":
        return "f" if state.to_call else "c"
    if kind == "c" or span is None:
        return "c"
    if state.rules.limit:
        return "r"
    stack, high, abstract = min(state.rules.stacks), max(state.spent), high_of(tree, node)
    top = min(span.most, max(span.least, stack))
    total = int(tree.total[child])
    if high != abstract:
        by = floor(Fraction(total - abstract, abstract) * high + Fraction(1, 2))
        all_in = total >= stack and top - high <= 2 * by
        total = top if all_in else min(max(high + by, span.least), top)
        if top - total < state.rules.big_blind:
            total = top
        if total - high < state.rules.big_blind:
            return "c"
    return f"r{min(max(total, span.least), top)}"


def read_other(tree, node, state, total, mapping, tie):
    """The node to which the opponent's raise leads, by a deterministic mapping."""
    stack, high = min(state.rules.stacks or (2**40,)), max(state.spent)
    raises = raises_of(tree, node)
    if not raises and ends_round(tree, node):
        return OFF
    allowed = [after_call(tree, node), *raises]
    menu = [size_of(tree, node, child, stack) for child in allowed]
    result = translate_bet(mapping, menu, PotFraction((total - high) / (2 * high), total >= stack), tie)
    (choice,) = result
    return allowed[choice]


def read_own(tree, node, state, total):
    """The abstract raise whose real size is nearest."""
    best = OFF
    for child in raises_of(tree, node):
        label = real_move(tree, node, child, state)
        came = 0 if label == "c" else state.apply_action(state.parse_action(label)).spent[state.turn]
        error = abs(came - total)
        if best is OFF or error < best[0] or (error == best[0] and total >= min(state.rules.stacks or (2**40,))):
            best = error, child
    return OFF if best is OFF else best[1]


def deal_round(tree, node, street):
    while tree.actor[node] >= 0 and tree.street[node] < street:
        node = after_call(tree, node)
    if tree.actor[node] >= 0:
        return node
    bet = int(tree.parent[node])
    if tree.label(bet)[:1] != "r":
        return OFF
    for smaller in reversed(raises_of(tree, int(tree.parent[bet]))):
        if tree.total[smaller] < tree.total[bet]:
            after = after_call(tree, smaller)
            if tree.actor[after] >= 0:
                return after
    return OFF


def follow(tree, line, seat, mapping, tie="high"):
    """The agent's decision (None: none in the tree), the state of its round, and the real state.

    `beyond`: the decision is reused without raises. `small`: the raise is mapped to a call, and the node is the one
    after it.
    """
    state, node, off = BettingState.start(tree.rules), 0, ""
    for label in split_line(line):
        if label == "/":
            state, off = state.next_street(), ""
            if node is not OFF:
                node = deal_round(tree, node, state.street)
            continue
        if off == "small" and label != "c":
            node, off = int(tree.parent[node]), "beyond"
        elif node is not OFF and not off:
            if label == "c":
                node = after_call(tree, node)
            else:
                total = state.apply_action(state.parse_action(label)).spent[state.turn]
                if state.turn == seat:
                    after = read_own(tree, node, state, total)
                else:
                    after = read_other(tree, node, state, total, mapping, tie)
                if after is OFF:
                    off = "beyond"
                else:
                    off = "small" if tree.label(after) == "c" and ends_round(tree, node) else ""
                    node = after
        state = state.apply_action(state.parse_action(label))
    if off == "beyond":
        node = node if tree.actor[node] == seat else int(tree.parent[node])
        usable = tree.actor[node] == seat and tree.street[node] == state.street and tree.actions(node)[0] == "f"
        node = node if usable else OFF
    return node, off, state
