"""Strategies brought to another tree of the same game: out of a card abstraction, and two halves put together."""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.small.public_buckets import BucketedGame
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree


def lift(strategy: Strategy, abstraction: BucketedGame, tree: PublicTree) -> Strategy:
    """A strategy of a bucketed game in the full game: every hand plays as its bucket."""
    table = np.array(Strategy.uniform(tree).probabilities)
    work: list[tuple[int, tuple[str, ...], tuple[str, ...]]] = [(0, (), ())]
    while work:
        node, board, moves = work.pop()
        player, labels = int(tree.nodes.actor[node]), tree.labels(node)
        for child, label in zip(tree.children(node), labels, strict=True):
            if player == CHANCE:
                work.append((child, (*board, label), moves))
            else:
                work.append((child, board, (*moves, label)))
        if player < 0:
            continue
        first, width = int(tree.nodes.data[node]), int(tree.nodes.width[node])
        rows = tree.views(table)[player]
        for hand in np.flatnonzero(tree.live[player][tree.boards[node]]):
            infoset = strategy.tree.infoset(abstraction.infoset(player, tree.hands[player][hand], board, moves))
            if infoset.actions != labels:
                raise InputError(
                    f"{tree.name}: moves {labels} at {tree.line(node)!r}, {infoset.actions} in the abstraction"
                )
            rows[first : first + width, hand] = strategy.row(infoset)
    return Strategy(tree, table, {**strategy.provenance, "lifted from": abstraction.name})


def pair(first: Strategy, second: Strategy) -> Strategy:
    """The profile in which player 0 plays as in `first` and player 1 as in `second`."""
    tree = first.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: pairing strategies needs a public game")
    if second.tree is not tree and second.tree.fingerprint != tree.fingerprint:
        raise InputError(f"strategies for different trees: {tree.name} and {second.tree.name}")
    table = np.concatenate([first.probabilities[: tree.bases[1]], second.probabilities[tree.bases[1] :]])
    return Strategy(tree, table, {"player 0": dict(first.provenance), "player 1": dict(second.provenance)})
