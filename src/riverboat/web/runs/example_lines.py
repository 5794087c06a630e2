"""Example lines of a blueprint: lines that its own strategy plays often, on every street from the flop on."""

from __future__ import annotations

from typing import Any

from riverboat.cards.deck import FULL_DECK
from riverboat.cards.notation import parse_board, show_cards
from riverboat.games.holdem.menus import SEATS
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.reports.blueprint import BlueprintNode, at_line, first_street

RUNOUT = "Kh7c2s9d3h"
HAND = "QdJd"  # of table states: no card of the runout
FOLD = "f"


def example_lines(strategy: BlueprintStrategy) -> list[dict[str, Any]]:
    """Return a line for each street after the first deal: the most frequent one to the flop, and the usual way on.

    Games with another deck have no grid, and so no examples.
    """
    tree, rules = strategy.tree, strategy.rules
    if rules.deck != FULL_DECK or rules.rounds < 2:
        return []
    cards, examples = parse_board(RUNOUT), []
    node: int | None = _to_the_flop(strategy)
    while node is not None:
        street = int(tree.street[node])
        board = cards[: rules.board_sizes[street]]
        here = at_line(strategy, tree.line(node), board)
        examples.append(_example(here))
        node = _to_next_street(here)
    return examples


def _to_the_flop(strategy: BlueprintStrategy) -> int | None:
    """Return the node of the flop that is reached most often; None where no line leads there."""
    tree = strategy.tree
    reached: dict[int, float] = {}
    for here in first_street(strategy):
        for child, share in zip(tree.children(here.node), here.frequencies.values(), strict=True):
            if tree.street[child] > 0 and tree.actor[child] >= 0:
                reached[child] = here.chance * share
    return max(reached, key=lambda child: reached[child], default=None)


def _to_next_street(here: BlueprintNode) -> int | None:
    """Follow the most frequent actions to the next street; None where the hand ends on the way."""
    tree, street = here.strategy.tree, here.street
    while tree.street[here.node] == street:
        shares = {k: share for k, (name, share) in enumerate(here.frequencies.items()) if name != FOLD}
        after = here.after(max(shares, key=lambda k: shares[k]))
        if tree.actor[after.node] < 0:
            return None
        here = after
    return here.node


def _example(here: BlueprintNode) -> dict[str, Any]:
    shown = [show_cards(here.board[a:b]) for a, b in zip((0, 3, 4), (3, 4, 5), strict=True) if len(here.board) >= b]
    return {
        "street": here.rules.streets[here.street],
        "line": here.line,
        "board": show_cards(here.board),
        "combos": {name: round(float(here.reach[seat].sum()), 2) for seat, name in enumerate(SEATS)},
        "state": f"MATCHSTATE:1:0:{here.line}:|{'/'.join([HAND, *shown])}",
    }
