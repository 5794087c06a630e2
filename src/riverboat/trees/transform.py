"""Trees made from trees. A subtree of a `PublicTree` is a slice of its arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array, Deal, PublicGame, PublicState
from riverboat.games.layout import Layout
from riverboat.trees.public import PublicTree

Range: TypeAlias = Mapping[str, float] | Sequence[float] | Array


@dataclass(frozen=True, eq=False)
class Subgame:
    """A public game from one of its public states on, with the hands dealt by given ranges."""

    tree: PublicTree
    node: int
    weights: tuple[Array, Array]

    @property
    def name(self) -> str:
        """The game and the line."""
        return f"{self.tree.name} at {self.tree.line(self.node)!r}"

    @property
    def unit(self) -> str:
        """As in the whole game."""
        return self.tree.unit

    @property
    def joiner(self) -> str:
        """As in the whole game."""
        return self.tree.joiner

    @property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """As in the whole game; impossible ones have no weight."""
        return self.tree.hands

    @cached_property
    def deal(self) -> Deal:
        """The ranges, and the same exclusions."""
        return Deal(self.weights, self.tree.deal.excludes)

    def root(self) -> PublicState:
        """The public state that the line leads to."""
        game: PublicGame = self.tree.game
        state, here = game.root(), 0
        while here != self.node:
            for k, child in enumerate(self.tree.children(here)):
                if child <= self.node < self.tree.nodes.end[child]:
                    state, here = state.child(k), child
                    break
        return state

    def layout(self) -> Layout:
        """The subtree's slice of the whole tree's arrays."""
        whole = self.tree.layout
        part = slice(self.node, int(whole.end[self.node]))
        return Layout(
            whole.actor[part],
            (whole.end[part] - self.node).astype(np.int32),
            whole.index[part],
            whole.menus,
            whole.chances,
            whole.payoffs,
        )


def start_at(tree: PublicTree, line: str, ranges: tuple[Range, Range] | None = None) -> PublicTree:
    """The game from the public state at `line` on.

    A range gives every hand a weight: by name, or one number for each hand in order. Hands that the public cards
    exclude get none. Without ranges all hands that are possible there keep their weight of the deal.
    """
    node = tree.node(line)
    if tree.nodes.actor[node] == -2:
        raise InputError(f"{tree.name}: the game is over at {line!r}")
    weights = []
    for player in (0, 1):
        alive = tree.live[player][tree.boards[node]]
        given = tree.deal.weights[player] if ranges is None else _weights(tree, player, ranges[player])
        weights.append(np.where(alive, given, 0.0))
        if not weights[-1].sum() > 0:
            raise InputError(f"{tree.name}: no hand of player {player}'s range is possible at {line!r}")
    return PublicTree(Subgame(tree, node, (weights[0], weights[1])))


def _weights(tree: PublicTree, player: int, given: Range) -> Array:
    hands = tree.hands[player]
    if isinstance(given, Mapping):
        strange = [name for name in given if name not in hands]
        if strange:
            raise InputError(f"{tree.name}: player {player} has no hand {strange[0]!r} (hands: {', '.join(hands)})")
        values = np.array([float(given.get(name, 0.0)) for name in hands])
    else:
        values = np.asarray(given, float)
    if values.shape != (len(hands),):
        raise InputError(f"{tree.name}: a range of {values.shape} weights for player {player}'s {len(hands)} hands")
    if not np.all(np.isfinite(values)) or values.min() < 0:
        raise InputError(f"{tree.name}: player {player}'s range has a weight of {values.min():g}: must be 0 or more")
    return values
