"""Public trees as arrays in preorder, from which `PublicTree` is compiled, and estimates of tree sizes.

Most games are traversed by `layout_from_states`. A game with tens of millions of public nodes (Bluff(2,2)) fills the
same arrays by itself and returns them from `layout()`.

Sizes are estimated from random lines through the tree (Knuth 1975, "Estimating the efficiency of backtrack programs").
"""

from __future__ import annotations

import math
import random
import time as clock
from array import array as column
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.budget import BuildMonitor
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE, TERMINAL, Outcome, Payoff, PublicGame, PublicState, TreeState, append_label

T = TypeVar("T")


def traverse_preorder(root: T, visit: Callable[[T], Sequence[T]]) -> column[int]:
    """Visit the nodes of a tree in preorder; `visit` is called once per node and returns its children.

    Returns, for each node in preorder, the index one past the last node of its subtree. Nodes are any objects except
    plain integers.
    """
    end = column("i")
    work: list[Any] = [root]  # an explicit stack, since lines may exceed Python's recursion limit
    while work:
        node = work.pop()
        if type(node) is int:  # the subtree of this index is complete; states may be of subclasses
            end[node] = len(end)
            continue
        index = len(end)
        end.append(index + 1)
        children = visit(node)
        if children:
            work.append(index)
            work += reversed(children)
    return end


# --- estimates of tree sizes ---

MAX_PROBES = 2_000


def num_children(state: TreeState) -> int:
    """Return the number of children of a state."""
    if state.actor == CHANCE and hasattr(state, "outcomes"):
        return len(state.outcomes())
    return len(state.actions())


@dataclass
class TreeSizeEstimate:
    """Estimated numbers of nodes, decisions and actions of a tree."""

    nodes: float = 0.0
    decisions: dict[int, float] = field(default_factory=lambda: defaultdict(float))  # by player
    actions: dict[int, float] = field(default_factory=lambda: defaultdict(float))  # by player, over all decisions


def estimate_num_nodes(root: TreeState, seconds: float) -> float:
    """Estimate the number of nodes below a state in at most `seconds` of computing time."""
    return estimate_tree_size(root, seconds).nodes


def estimate_tree_size(root: TreeState, seconds: float) -> TreeSizeEstimate:
    """Estimate the nodes below a state, and each player's decisions and actions, from random lines (Knuth 1975).

    Computing takes at most `seconds`.
    """
    draw = random.Random(0)
    stop = clock.monotonic() + seconds
    total, lines = TreeSizeEstimate(), 0
    while lines < MAX_PROBES and (lines == 0 or clock.monotonic() < stop):
        _probe_line(root, draw, stop, total)
        lines += 1
    counts = ({player: n / lines for player, n in count.items()} for count in (total.decisions, total.actions))
    return TreeSizeEstimate(total.nodes / lines, *counts)


def _probe_line(root: TreeState, draw: random.Random, stop: float, total: TreeSizeEstimate) -> None:
    """Follow one random line, and add to `total` the product of branching factors above each of its nodes.

    A line that the time limit `stop` cuts short underestimates.
    """
    state, product = root, 1.0
    total.nodes += 1.0
    while state.actor != TERMINAL and clock.monotonic() < stop and math.isfinite(total.nodes):
        branching = num_children(state)
        if state.actor >= 0:
            total.decisions[state.actor] += product
            total.actions[state.actor] += product * branching
        product *= branching
        total.nodes += product
        state = state.child(draw.randrange(branching))


BYTES_PER_PUBLIC_NODE = 30  # minimum memory per node while the tree is built


@dataclass(frozen=True, eq=False)
class PublicTreeLayout:
    """A public tree in preorder: the first child of n is n + 1, the subtree of n is n … end[n] - 1."""

    actor: Array  # int8 [nodes]: player, CHANCE or TERMINAL
    end: Array  # int32 [nodes]: one past the last node of the subtree
    index: Array  # int32 [nodes]: index into action_labels, chance_outcomes or payoffs, depending on the actor
    action_labels: tuple[tuple[str, ...], ...]  # labels of the actions of a decision
    chance_outcomes: tuple[tuple[Outcome, ...], ...]
    payoffs: tuple[Payoff, ...]


def layout_from_states(game: PublicGame) -> PublicTreeLayout:
    """Build the layout of a public game by one traversal of its states.

    Equal action lists, chance events and payoffs are stored once.
    """
    actor, index = column("b"), column("i")
    menus: dict[tuple[str, ...], int] = {}
    chances: dict[tuple[Outcome, ...], int] = {}
    payoffs: dict[Payoff, int] = {}

    def visit(node: tuple[PublicState, str]) -> list[tuple[PublicState, str]]:
        state, line = node
        who = state.actor
        monitor(len(actor))
        if who not in (0, 1, CHANCE, TERMINAL):
            raise InputError(
                f"{game.name}: actor {short_repr(who)} at {short_repr(line)}: must be 0, 1, CHANCE or TERMINAL"
            )
        actor.append(who)
        if who == TERMINAL:
            index.append(payoffs.setdefault(state.payoff(), len(payoffs)))
            return []
        if who == CHANCE:
            outcomes = tuple(state.outcomes())
            index.append(chances.setdefault(outcomes, len(chances)))
            labels = tuple(o.label for o in outcomes)
        else:
            labels = tuple(state.actions())
            index.append(menus.setdefault(labels, len(menus)))
        if not labels:
            raise InputError(f"{game.name}: no actions at {short_repr(line)}, which is not terminal")
        if len(set(labels)) != len(labels):
            raise InputError(f"{game.name}: duplicate action labels at {short_repr(line)}: {labels}")
        return [(state.child(k), append_label(line, game.joiner, label)) for k, label in enumerate(labels)]

    root = game.root()
    estimate = partial(estimate_num_nodes, root)
    with BuildMonitor(game.name, "building the tree of", "public states", BYTES_PER_PUBLIC_NODE, estimate) as monitor:
        end = traverse_preorder((root, ""), visit)
        arrays = np.asarray(actor, np.int8), np.asarray(end, np.int32), np.asarray(index, np.int32)
        return PublicTreeLayout(*arrays, tuple(menus), tuple(chances), tuple(payoffs))
