"""Search where stacks differ: subgames are those of a game in which both have the shorter stack.

    played, places = even_play(played), even_places(places)   # what is searched
    games.moves.real_moves(position.moves, state)             # what is played at the real table

What the deeper stack has above the other can never be called: a bet of more is all-in in effect, whatever its size.
In the even game it has one size, and all that follows is the same. Where stacks are equal everything stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.policy import Played


def even_rules(rules: Rules) -> Rules:
    """The game in which both have the shorter stack."""
    return rules if rules.stacks is None or len({*rules.stacks}) == 1 else replace(rules, stacks=(rules.stack,) * 2)


def even_strategy(strategy: BlueprintStrategy) -> BlueprintStrategy:
    """A blueprint in that game: its tree has no bets above the shorter stack in either."""
    rules, tree = even_rules(strategy.rules), strategy.tree
    if rules is strategy.rules:
        return strategy
    return replace(strategy, rules=rules, tree=replace(tree, rules=rules, root=replace(tree.root, rules=rules)))


def even_play(played: Played) -> Played:
    """The same of a blueprint as it is played."""
    strategy = even_strategy(played.strategy)
    return played if strategy is played.strategy else replace(played, strategy=strategy)


def even_places(places: Places) -> Places:
    """Places of a game in the even one."""
    rules = even_rules(places.rules)
    if rules is places.rules:
        return places
    return Places(rules, np.minimum(places.moves, rules.stack).astype(np.int32), places.length, places.board)
