"""Gifts of a blueprint's earlier streets: what the opponent's hands gave up before the first searched street.

A gift is the value of a hand's best action at a decision on the path minus that of the action that it took, both against
the blueprint (Brown & Sandholm 2017). Values need a table of the blueprint from the street on with all cards to come: a
fraction of a second on the turn, minutes and gigabytes on the flop.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from riverboat.cards.deck import NUM_HANDS
from riverboat.core.arrays import Array
from riverboat.games.base import CHANCE
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.blueprint_values import blueprint_solution


def blueprint_gifts(
    strategy: Blueprint, start: int, node: int, board: tuple[int, ...], reach: Array, opponent: int, threads: int = 1
) -> Array:
    """Return what each hand of the opponent gave up on a street against a blueprint, in chips. float64 [1326]

    Parameters
    ----------
    strategy
        Blueprint that the searching seat plays.
    start
        First decision of the street on the path, a node of the blueprint's tree.
    node
        Node where the next street begins.
    board
        Board cards of the street.
    reach
        Reach probability of the searching seat's hands at `start`. float64 [1326]
    opponent
        Seat of the opponent.
    threads
        Number of threads.

    Returns
    -------
    Array
        Gifts in chips of the blueprint's tree; zero for hands without compatible hands.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> strategy = make_agent("default").strategy
    >>> start, node = strategy.tree.find("cc/cc/"), strategy.tree.find("cc/cc/cc/")
    >>> gifts = blueprint_gifts(strategy, start, node, (0, 5, 22, 39), np.ones(1326), 0)
    >>> gifts.shape, bool(gifts.min() >= 0)
    ((1326,), True)
    """
    ranges = [reach, np.ones(NUM_HANDS)] if opponent == 1 else [np.ones(NUM_HANDS), reach]
    solution = blueprint_solution(strategy, strategy.tree.line(start), board, ranges, threads)
    betting, at, total = solution.tree.betting, 0, np.zeros(NUM_HANDS)
    for action in _actions_on_path(strategy, start, node):
        children = list(betting.children(at))
        if betting.actor[at] == opponent:
            values = solution.node(at, ()).best_response_action_values(opponent)
            total += np.nan_to_num(values.max(axis=0) - values[action])
        at = children[action]
        if betting.actor[at] == CHANCE:
            break
    return total


def _actions_on_path(strategy: Blueprint, start: int, node: int) -> Sequence[int]:
    """Return the index of each action on the path from one node of a blueprint's tree to another."""
    tree, path = strategy.tree, strategy.tree.path(node)
    return [child - int(tree.first[parent]) for parent, child in pairwise(path[path.index(start) :])]
