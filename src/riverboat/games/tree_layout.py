"""Trees as arrays in preorder, from which `PublicTree` and `HistoryTree` are compiled, and estimates of tree sizes.

Most games are traversed by `layout_from_states` or `layout_from_histories`. A game that can fill the same arrays faster
(Bluff(2,2) with tens of millions of public nodes, OpenSpiel games) returns them from `layout()`.

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
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.budget import BuildMonitor
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import (
    CHANCE,
    TERMINAL,
    HistoryGame,
    HistoryState,
    Outcome,
    Payoff,
    PublicGame,
    PublicState,
    TreeState,
    append_label,
)

T = TypeVar("T")
MAX_DEPTH = 100_000  # actions of a line; trees of games have 100, and one without end would fill the memory
PayoffCheck: TypeAlias = Callable[[Sequence[float]], None]


def traverse_preorder(root: T, visit: Callable[[T], Sequence[T]], name: str = "tree") -> column[int]:
    """Visit the nodes of a tree in preorder; `visit` is called once per node and returns its children.

    Returns, for each node in preorder, the index one past the last node of its subtree. Nodes are any objects except
    plain integers. `name` is for the message about a line of more than `MAX_DEPTH` actions.
    """
    end = column("i")
    work: list[Any] = [root]  # an explicit stack, since lines may exceed Python's recursion limit
    depth = 0
    while work:
        node = work.pop()
        if type(node) is int:  # the subtree of this index is complete; states may be of subclasses
            end[node] = len(end)
            depth -= 1
            continue
        index = len(end)
        end.append(index + 1)
        children = visit(node)
        if children:
            work.append(index)
            work += reversed(children)
            depth += 1
            if depth > MAX_DEPTH:
                raise too_deep_error(name, index)
    return end


def too_deep_error(name: str, node: int) -> InputError:
    """Return the error for a game with a line of more than `MAX_DEPTH` actions."""
    return InputError(
        f"{name}: a line of more than {MAX_DEPTH:,} actions, at node {node:,}: the game is unbounded, or far too long; "
        f"limit the length of its lines"
    )


# --- estimates of tree sizes ---

MAX_PROBES = 2_000


def num_children(state: TreeState) -> int:
    """Return the number of children of a state."""
    if state.actor == CHANCE and hasattr(state, "outcomes"):
        return len(state.outcomes())
    return len(state.actions())


@dataclass
class TreeSizeEstimate:
    """Estimated numbers of nodes, decisions and actions of a tree, from random lines."""

    nodes: float = 0.0
    decisions: dict[int, float] = field(default_factory=lambda: defaultdict(float))  # by player
    actions: dict[int, float] = field(default_factory=lambda: defaultdict(float))  # by player, over all decisions
    longest: int = 0  # actions of the longest line
    endless: bool = True  # whether no line came to an end


def estimate_num_nodes(root: TreeState, seconds: float) -> float:
    """Estimate the number of nodes below a state in at most `seconds` of computing time."""
    return estimate_tree_size(root, seconds).nodes


def estimate_tree_size(root: TreeState, seconds: float, seed: int = 0) -> TreeSizeEstimate:
    """Estimate the nodes below a state, and each player's decisions and actions, from random lines (Knuth 1975).

    Computing takes at most `seconds`. Different seeds give independent estimates.
    """
    draw = random.Random(seed)
    stop = clock.monotonic() + seconds
    total, lines = TreeSizeEstimate(), 0
    while lines < MAX_PROBES and (lines == 0 or clock.monotonic() < stop):
        _probe_line(root, draw, stop, total)
        lines += 1
    total.nodes /= lines
    for count in (total.decisions, total.actions):
        for player in count:
            count[player] /= lines
    return total


def _probe_line(root: TreeState, draw: random.Random, stop: float, total: TreeSizeEstimate) -> None:
    """Follow one random line, and add to `total` the product of branching factors above each of its nodes.

    A line that the time limit `stop` cuts short underestimates.
    """
    state, product, depth = root, 1.0, 0
    total.nodes += 1.0
    while state.actor != TERMINAL and clock.monotonic() < stop and math.isfinite(total.nodes):
        branching = num_children(state)
        if state.actor >= 0:
            total.decisions[state.actor] += product
            total.actions[state.actor] += product * branching
        product *= branching
        total.nodes += product
        state = state.child(draw.randrange(branching))
        depth += 1
    total.longest = max(total.longest, depth)
    total.endless &= state.actor != TERMINAL


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
    estimate = partial(estimate_tree_size, root)
    with BuildMonitor(game.name, "building the tree of", "public states", BYTES_PER_PUBLIC_NODE, estimate) as monitor:
        end = traverse_preorder((root, ""), visit, game.name)
        arrays = np.asarray(actor, np.int8), np.asarray(end, np.int32), np.asarray(index, np.int32)
        return PublicTreeLayout(*arrays, tuple(menus), tuple(chances), tuple(payoffs))


# --- histories ---

MIN_HISTORY_BYTES = 60  # lower bound while a tree is built: its arrays, and a name for one infoset in ten
MAX_WIDTH = 2**15 - 1  # most children of a node: trees store widths in 16 bits


class ChanceLayout(NamedTuple):
    """The outcomes of a chance node: their labels and probabilities."""

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class HistoryTreeLayout:
    """A tree of histories in preorder: the first child of n is n + 1, the subtree of n is n … end[n] - 1."""

    actor: Array  # int8 [nodes]: player, CHANCE or TERMINAL
    end: Array  # int32 [nodes]: one past the last node of the subtree
    index: Array  # int32 [nodes]: information set, index into chance or payoffs, depending on the actor
    infoset_names: tuple[str, ...]  # by first visit
    infoset_labels: Array  # int32 [infosets]: index into action_labels
    action_labels: tuple[tuple[str, ...], ...]
    chance: tuple[ChanceLayout, ...]
    payoffs: Array  # float64 [payoffs, players]


class HistoryLayoutBuilder:
    """Tables of a tree of histories: information sets, chance outcomes and payoffs, each stored once and validated.

    Parameters
    ----------
    name
        Name of the game, for messages.
    players
        Number of players.
    check_payoffs
        Function that is called with each new row of payoffs and may raise an error.
    """

    def __init__(self, name: str, players: int, check_payoffs: PayoffCheck | None = None) -> None:
        self.name, self.players = name, players
        self.actor, self.end, self.index = column("b"), column("i"), column("i")
        self.payoffs: dict[tuple[float, ...], int] = {}
        self.chance: dict[ChanceLayout, int] = {}
        self.action_labels: dict[tuple[str, ...], int] = {}
        # Columns instead of one object for each information set, which the garbage collector would visit again and again.
        self.infoset_names: list[str] = []
        self.infoset_players, self.infoset_labels = column("b"), column("i")
        self._check_payoffs = check_payoffs

    def payoff(self, pay: tuple[float, ...]) -> int:
        """Return the index of the payoffs of a terminal."""
        known = self.payoffs.get(pay)
        if known is not None:
            return known
        if len(pay) != self.players:
            raise InputError(f"{self.name}: {len(pay)} payoffs for {self.players} players")
        if not all(math.isfinite(x) for x in pay):
            raise InputError(f"{self.name}: node {len(self.index)} pays {pay}: must be finite")
        if self._check_payoffs is not None:
            self._check_payoffs(pay)
        return self.payoffs.setdefault(pay, len(self.payoffs))

    def outcomes(self, labels: tuple[str, ...], probabilities: tuple[float, ...]) -> int:
        """Return the index of the outcomes of a chance node."""
        event = ChanceLayout(labels, probabilities)
        known = self.chance.get(event)
        if known is not None:
            return known
        node = len(self.index)
        self.check_labels(labels)
        valid = len(probabilities) == len(labels) and min(probabilities) >= 0 and abs(sum(probabilities) - 1) <= 1e-6
        if not valid:  # also where one of them is NaN
            raise InputError(f"{self.name}: chance at node {node} has probabilities {probabilities} for {labels}")
        return self.chance.setdefault(event, len(self.chance))

    def add_infoset(self, name: str, player: int, labels: tuple[str, ...]) -> int:
        """Add an information set, and return its index."""
        number = self.action_labels.get(labels)
        if number is None:
            self.check_labels(labels)
            number = self.action_labels.setdefault(labels, len(self.action_labels))
        self.infoset_names.append(name)
        self.infoset_players.append(player)
        self.infoset_labels.append(number)
        return len(self.infoset_names) - 1

    def check_infoset(self, infoset: int, player: int, labels: tuple[str, ...]) -> None:
        """Raise InputError if an information set has another player or other actions at another node."""
        owner, number = self.infoset_players[infoset], self.infoset_labels[infoset]
        if owner != player or self.action_labels.get(labels) != number:
            name, actions = self.infoset_names[infoset], list(self.action_labels)[number]
            raise InputError(
                f"{self.name}: information set {name!r} belongs to player {owner} with actions "
                f"{actions} at one node and to player {player} with {labels} at another"
            )

    def check_labels(self, labels: tuple[str, ...]) -> None:
        """Raise InputError unless the labels of the children of the next node are valid."""
        node = len(self.index)
        if len(labels) > MAX_WIDTH:
            raise InputError(f"{self.name}: {len(labels):,} actions at node {node}, more than {MAX_WIDTH:,}")
        if not labels:
            raise InputError(f"{self.name}: no actions at node {node}, which is not terminal")
        if len(set(labels)) != len(labels):
            raise InputError(f"{self.name}: two actions have the same label at node {node}: {labels}")

    def layout(self) -> HistoryTreeLayout:
        """Return the layout of the nodes that were appended to `actor`, `end` and `index`."""
        return HistoryTreeLayout(
            actor=np.asarray(self.actor, np.int8),
            end=np.asarray(self.end, np.int32),
            index=np.asarray(self.index, np.int32),
            infoset_names=tuple(self.infoset_names),
            infoset_labels=np.asarray(self.infoset_labels, np.int32),
            action_labels=tuple(self.action_labels),
            chance=tuple(self.chance),
            payoffs=np.array(list(self.payoffs)).reshape(-1, self.players),
        )


def layout_from_histories(game: HistoryGame, check_payoffs: PayoffCheck | None = None) -> HistoryTreeLayout:
    """Build the layout of a history game by one traversal of its states.

    `check_payoffs` is called with each new row of payoffs and may raise an error.
    """
    build = HistoryLayoutBuilder(game.name, game.players, check_payoffs)
    numbers: dict[str, int] = {}

    def visit(state: HistoryState) -> list[HistoryState]:
        node, who = len(build.actor), state.actor
        monitor(node)
        if not TERMINAL <= who < game.players:
            raise InputError(f"{game.name}: actor {who!r} at node {node}: there are players 0 to {game.players - 1}")
        if who == TERMINAL:
            index = build.payoff(tuple(float(x) for x in state.payoffs()))
            labels: tuple[str, ...] = ()
        else:
            labels = tuple(state.actions())
            if who == CHANCE:
                index = build.outcomes(labels, tuple(float(p) for p in state.probabilities()))
            else:
                name = state.infoset()
                if name not in numbers:
                    numbers[name] = build.add_infoset(name, who, labels)
                index = numbers[name]
                build.check_infoset(index, who, labels)
        build.actor.append(who)
        build.index.append(index)
        return [state.child(k) for k in range(len(labels))]

    root = game.root()
    estimate = partial(estimate_tree_size, root)
    with BuildMonitor(game.name, "building the tree of", "histories", MIN_HISTORY_BYTES, estimate) as monitor:
        build.end = traverse_preorder(root, visit, game.name)
        return build.layout()
