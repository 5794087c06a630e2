"""Depth-limited subgames as public trees: a subtree that ends at leaves, with payoffs or choices in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from riverboat.core import validation
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array, MatrixPayoff, PublicState
from riverboat.games.tree_layout import PublicTreeLayout
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead._kernels import link_nodes, pair_values
from riverboat.trees.gadgets import PublicSubgame
from riverboat.trees.public import PublicTree

T = TypeVar("T")


@dataclass(frozen=True)
class DepthLimit:
    """End of a depth-limited subgame: whichever of the two limits comes first, or the end of the game.

    Attributes
    ----------
    actions
        Number of the players' actions after the root; chance events do not count. None: no limit.
    rounds
        Number of betting rounds: leaves are the public chance events that end them. None: no limit.

    Raises
    ------
    InputError
        If a limit is below 1.

    Examples
    --------
    >>> import riverboat as rb
    >>> tree = rb.compile_game(rb.game("leduc"))
    >>> [tree.line(node) for node in DepthLimit(actions=2).leaves(tree, 0)]
    ['cc', 'cr', 'rc', 'rr']
    >>> [tree.line(node) for node in DepthLimit(rounds=1).leaves(tree, 0)]
    ['cc', 'crc', 'crrc', 'rc', 'rrc']
    """

    actions: int | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        validation.optional(validation.check_integer, "depth", self.actions, 1)
        validation.optional(validation.check_integer, "rounds", self.rounds, 1)

    def leaves(self, tree: PublicTree, root: int) -> list[int]:
        """Return the leaves of the subgame at a node, in preorder. Terminals are no leaves.

        Parameters
        ----------
        tree
            Public tree.
        root
            Root of the subgame.
        """
        found, actor = [], tree.nodes.actor
        stack = [(root, 0, 0)]
        while stack:
            node, actions, events = stack.pop()
            if actor[node] == TERMINAL:
                continue
            event = actor[node] == CHANCE and node != root
            if actions == self.actions or (event and events + 1 == self.rounds):
                found.append(node)
                continue
            after = actions + (actor[node] != CHANCE), events + event
            stack += [(child, *after) for child in reversed(list(tree.children(node)))]
        return found

    def __str__(self) -> str:
        limits = (self.actions, "action"), (self.rounds, "round")
        texts = [f"{count} {unit}{'s' * (count > 1)}" for count, unit in limits if count is not None]
        return " or ".join(texts) or "no limit"


@dataclass(frozen=True)
class LeafState:
    """A leaf as value functions see it.

    Attributes
    ----------
    tree
        Public tree of the whole game.
    node
        Node of the leaf in it.

    Examples
    --------
    >>> import riverboat as rb
    >>> leaf = LeafState(rb.compile_game(rb.game("leduc")), 2)
    >>> leaf.line, leaf.possible[0].all()
    ('cc', np.True_)
    """

    tree: PublicTree
    node: int

    @cached_property
    def line(self) -> str:
        """Public actions and chance outcomes so far."""
        return self.tree.line(self.node)

    @cached_property
    def state(self) -> PublicState:
        """Public state of the game."""
        state = self.tree.game.root()
        for _, k in self.tree.path(self.node):
            state = state.child(k)
        return state

    @property
    def possible(self) -> tuple[Array, Array]:
        """Mask of the hands of each player that the public outcomes leave possible. bool [hands]"""
        board = self.tree.board_of_node[self.node]
        return self.tree.possible_hands[0][board], self.tree.possible_hands[1][board]


def normalized_range(weights: Array, possible: Array) -> Array:
    """Return ranges that sum to one; uniform over the possible hands where all weights are zero. float64 [states, hands]"""
    found = np.where(weights.sum(axis=-1, keepdims=True) > 0, weights, possible)
    result: Array = found / found.sum(axis=-1, keepdims=True)
    return result


class PairEvaluator:
    """Expected payoffs of pairs of hands from any node of a public tree on, under pairs of strategies.

    Parameters
    ----------
    tree
        Public tree.

    Examples
    --------
    >>> import riverboat as rb
    >>> tree = rb.compile_game(rb.game("kuhn"))
    >>> uniform = rb.Strategy.uniform(tree).probabilities
    >>> PairEvaluator(tree).values(tree.node("r"), uniform, uniform)[2, :2].tolist()  # king against jack, queen
    [1.5, 1.5]
    """

    def __init__(self, tree: PublicTree) -> None:
        self.tree, count = tree, len(tree.nodes.actor)
        self.parent, self.depth = np.zeros(count, np.int32), np.zeros(count, np.int32)
        self.row = np.zeros(count, np.int64)
        link_nodes(tree.nodes, self.parent, self.row, self.depth)
        self.sums = np.zeros((tree.depth + 2, *tree.hand_counts))

    def values(self, node: int, first: Array, second: Array) -> Array:
        """Return player 0's expected payoff for each pair of hands. float64 [hands of player 0, hands of player 1]

        Entries of pairs that exclude each other have no meaning.

        Parameters
        ----------
        node
            Node at which play begins.
        first
            Probabilities of player 0. float64 [table_size]
        second
            Probabilities of player 1. float64 [table_size]
        """
        rows = self.tree.player_tables(first)[0], self.tree.player_tables(second)[1]
        out = np.empty(self.tree.hand_counts)
        side = self.tree.player_arrays[0]
        pair_values(self.tree.nodes, side, self.parent, self.row, self.depth, *rows, node, self.sums, out)
        return out


class LimitedTree(NamedTuple):
    """A depth-limited subgame as a public tree."""

    tree: PublicTree
    origin: Array  # int64 [table]: index in the table of the whole tree, -1 at the choices of leaves
    leaves: Array  # int64 [leaves]: nodes in this tree
    position: dict[int, int]  # nodes of the whole tree that are in this one, leaves included


def limited_tree(
    whole: PublicTree,
    root: int,
    leaves: Sequence[int],
    weights: tuple[Array, Array],
    payoffs: Sequence[Sequence[tuple[Array, Array]]],
    chooser: int,
) -> LimitedTree:
    """Make the subgame that begins at a node and ends at leaves.

    `weights`: float64 [hands] per player, the deal at the root. `payoffs`: for each leaf one entry for each continuation
    strategy of the `chooser`, each with float64 [hands of player 0, hands of player 1] per player. With one entry the
    leaf is a terminal, otherwise a decision of the chooser, which knows its hand.
    """
    layout = whole.layout
    actor: list[int] = []
    index: list[int] = []
    end: list[int] = []
    new_payoffs: list[MatrixPayoff] = []
    position: dict[int, int] = {}
    sources: list[int] = []  # of the decisions and chance events that are copied
    rows: tuple[list[Array], list[Array]] = ([], [])  # rows of the whole tree's tables, -1 at choices
    leaf_payoffs = dict(zip(leaves, payoffs, strict=True))
    for node in _limited_preorder(whole, root, leaves):
        position[node] = len(actor)
        if node in leaf_payoffs:
            entries = leaf_payoffs[node]
            if len(entries) > 1:
                actor.append(chooser)
                index.append(-len(entries))
                end.append(len(actor) + len(entries))
                rows[chooser].append(np.full(len(entries), -1))
            for first, second in entries:
                actor.append(TERMINAL)
                index.append(len(layout.payoffs) + len(new_payoffs))
                end.append(len(actor))
                new_payoffs.append(MatrixPayoff((first, second)))  # type: ignore[arg-type]  # arrays, never hashed
            continue
        who = int(layout.actor[node])
        if who >= 0:
            rows[who].append(int(whole.nodes.data[node]) + np.arange(int(whole.nodes.width[node])))
        sources.append(node)
        actor.append(who)
        index.append(int(layout.index[node]))
        end.append(0)
    position[int(layout.end[root])] = len(actor)
    for node in sources:
        end[position[node]] = position[int(layout.end[node])]
    del position[int(layout.end[root])]
    choices = sorted({-number for number in index if number < 0})
    menus = [tuple(f"continuation {c}" for c in range(count)) for count in choices]
    actors = np.array(actor, np.int8)
    numbers = np.array([
        len(layout.action_labels) + choices.index(-number) if number < 0 else number for number in index
    ], np.int32)  # fmt: skip
    all_payoffs = (*layout.payoffs, *new_payoffs)
    part = PublicTreeLayout(
        actors,
        np.array(end, np.int32),
        numbers,
        _renumber(numbers, actors >= 0, (*layout.action_labels, *menus)),
        _renumber(numbers, actors == CHANCE, layout.chance_outcomes),
        _renumber(numbers, actors == TERMINAL, all_payoffs),
    )
    tree = PublicTree(replace(PublicSubgame.at(whole, root, weights), name=f"{whole.name}, depth-limited"), part)
    origin = np.full(tree.table_size, -1, np.int64)
    for player, indices in enumerate(tree.player_tables(origin)):
        if rows[player]:
            source = np.concatenate(rows[player])[:, None]
            hands = np.arange(whole.hand_counts[player])
            entries_at = whole.player_offsets[player] + source * whole.hand_counts[player] + hands
            indices[:] = np.where(source >= 0, entries_at, -1)
    return LimitedTree(tree, origin, np.array([position[leaf] for leaf in leaves], np.int64), position)


def _limited_preorder(whole: PublicTree, root: int, leaves: Sequence[int]) -> Iterator[int]:
    """Yield the nodes of a subtree in preorder, without what follows leaves."""
    ends = {leaf: int(whole.nodes.end[leaf]) for leaf in leaves}
    node, stop = root, int(whole.nodes.end[root])
    while node < stop:
        yield node
        node = ends.get(node, node + 1)


def _renumber(numbers: Array, mask: Array, entries: Sequence[T]) -> tuple[T, ...]:
    """Number the entries that the masked nodes use from 0, in place, and return them."""
    used, numbers[mask] = np.unique(numbers[mask], return_inverse=True)
    return tuple(entries[k] for k in used)


def public_strategy(base: object) -> Strategy:
    """Return the strategy, or raise InputError unless it is one of a two-player public game.

    Parameters
    ----------
    base
        Strategy of a compiled game.

    Examples
    --------
    >>> import riverboat as rb
    >>> public_strategy(rb.solve("kuhn", iterations=5).strategy).tree.name
    'kuhn'
    """
    if not isinstance(base, Strategy):
        raise InputError(
            f"base={type(base).__name__}: give a strategy of a compiled game, as rb.solve returns it in result.strategy, or "
            "rb.Strategy.uniform(rb.compile_game(game))"
        )
    if not isinstance(base.tree, PublicTree):
        raise InputError(
            f"{base.tree.name}: search needs a public game of two players: public actions, and hands that are dealt "
            "before the first action (docs/your-own-game.md)"
        )
    return base
