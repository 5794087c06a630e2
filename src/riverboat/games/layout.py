"""A public game's tree as arrays in preorder: what `trees.PublicTree` is compiled from.

Most games let `from_states` walk them. A game with tens of millions of public nodes (Bluff(2,2))
fills the same arrays by its own means and returns them from `layout()`.
"""

from __future__ import annotations

from array import array as column
from dataclasses import dataclass
from functools import partial

import numpy as np

from riverboat.core.budget import Growth
from riverboat.core.errors import InputError, shown
from riverboat.games import tree_size
from riverboat.games.base import CHANCE, TERMINAL, Array, Outcome, Payoff, PublicGame, PublicState, extend

BYTES = 30  # of a public node while the tree is built, at the least


@dataclass(frozen=True, eq=False)
class Layout:
    """Nodes in preorder: the first child of n is n + 1, the subtree of n is n … end[n] - 1."""

    actor: Array  # int8 [nodes]: player, CHANCE or TERMINAL
    end: Array  # int32 [nodes]: one past the last node of the subtree
    index: Array  # int32 [nodes]: row of menus, chances or payoffs, by the actor
    menus: tuple[tuple[str, ...], ...]  # labels of the moves of a decision
    chances: tuple[tuple[Outcome, ...], ...]
    payoffs: tuple[Payoff, ...]


def from_states(game: PublicGame) -> Layout:
    """Walk a public game once; equal menus, chance events and pay-offs are stored once."""
    root = game.root()
    with Growth(game.name, "building the tree of", "public states", BYTES, partial(tree_size.size, root)) as grown:
        return _walk(game, root, grown)


def _walk(game: PublicGame, root: PublicState, grown: Growth) -> Layout:
    actor, end, index = (column(kind) for kind in "bii")
    menus: dict[tuple[str, ...], int] = {}
    chances: dict[tuple[Outcome, ...], int] = {}
    payoffs: dict[Payoff, int] = {}

    # An explicit stack: lines may be longer than Python's recursion allows.
    work: list[tuple[PublicState | None, int, str]] = [(root, -1, "")]
    while work:
        state, closing, line = work.pop()
        if state is None:
            end[closing] = len(actor)
            continue
        node, who = len(actor), state.actor
        grown(node)
        if who not in (0, 1, CHANCE, TERMINAL):
            raise InputError(f"{game.name}: actor {shown(who)} at {shown(line)}: must be 0, 1, CHANCE or TERMINAL")
        actor.append(who)
        end.append(node + 1)
        index.append(0)
        if who == TERMINAL:
            index[node] = payoffs.setdefault(state.payoff(), len(payoffs))
            continue
        if who == CHANCE:
            outcomes = tuple(state.outcomes())
            index[node] = chances.setdefault(outcomes, len(chances))
            labels = tuple(o.label for o in outcomes)
        else:
            labels = tuple(state.actions())
            index[node] = menus.setdefault(labels, len(menus))
        if not labels:
            raise InputError(f"{game.name}: no moves at {shown(line)}, which is not terminal")
        if len(set(labels)) != len(labels):
            raise InputError(f"{game.name}: two moves have one label at {shown(line)}: {labels}")
        work.append((None, node, ""))
        for k in reversed(range(len(labels))):
            work.append((state.child(k), -1, extend(line, game.joiner, labels[k])))
    return Layout(
        np.asarray(actor, np.int8),
        np.asarray(end, np.int32),
        np.asarray(index, np.int32),
        tuple(menus),
        tuple(chances),
        tuple(payoffs),
    )
