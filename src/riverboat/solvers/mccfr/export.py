"""A blueprint of a small game as a `Strategy` of the same game in its registered form, where it can be measured exactly."""

from __future__ import annotations

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree


def small_game_strategy(blueprint: Blueprint, tree: PublicTree, *, averages: bool = True) -> Strategy:
    """The average strategy (or the current one) on the public tree of the same game, such as `leduc`.

    Lines are matched move by move, `cc/Jh/cr` with `cc/cr`; hands and board cards by their order in the deck, since small
    games call their cards J, Q, K and decks have the highest ranks.
    """
    rules, deck = blueprint.tree.rules, blueprint.tree.rules.deck
    if rules.hole != 1 or len(tree.hands[0]) != len(deck.cards):
        raise InputError(
            f"{tree.name} has {len(tree.hands[0])} hands: the blueprint's deck has {len(deck.cards)} cards, "
            f"{rules.hole} in a hand"
        )
    card = {name: int(deck.cards[k]) for k, name in enumerate(tree.hands[0])}
    strategies = [blueprint.tables.strategies(street, averages=averages) for street in range(rules.rounds)]
    out = np.array(Strategy.uniform(tree).probabilities)
    for infoset in tree.infosets():
        hand, _, line = infoset.name.partition(":")
        parts = line.split("/")
        betting, board = "/".join(parts[::2]), [card[name] for name in parts[1::2]]
        node = blueprint.tree.find(betting)
        if blueprint.tree.moves(node) != infoset.actions:
            raise InputError(
                f"{tree.name}: {', '.join(infoset.actions)} at {infoset.name!r}, but "
                f"{', '.join(blueprint.tree.moves(node))} at {betting!r} of the blueprint: not the same game"
            )
        street = int(blueprint.tree.street[node])
        bucket = blueprint.cards.bucket([card[hand]], board)
        at = int(blueprint.tree.slot[node])
        row: Array = strategies[street][bucket, at : at + len(infoset.actions)]
        for k, p in enumerate(row / row.sum()):
            out[infoset.offset + k * infoset.stride] = p
    return Strategy(tree, out, {"method": "external sampling", "iterations": blueprint.iterations})
