"""Continuous games: private signals, a finite betting tree, and payoffs by actions and by who has the higher signal.

The model is that of Ganzfried & Sandholm (2010, "Computing equilibria by incorporating qualitative models"). A tree
consists of `DecisionNode` and `Leaf`. `ContinuousGame` compiles it to *situations*, information sets without the
signal, and to leaves with the path of each player's choices. A situation has the name of its line of actions, `root` at
the start. Nodes with the same name are one situation: the player cannot tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from riverboat.continuous.signals import Signals
from riverboat.core.errors import InputError, RecallError

ROOT = "root"
MAX_LEAVES = 500  # solving time grows faster than the number of leaves
JOINER = "-"
Choice: TypeAlias = tuple[int, int]  # indices of a situation and of an action


@dataclass(frozen=True)
class Leaf:
    """A terminal node: player p gets `base[p]`, and the contender with the highest signal wins the prize.

    Ties split the prize.

    Parameters
    ----------
    base
        Payoff of each player before the prize.
    prize
        Amount that the contenders compete for.
    contenders
        Players who may win the prize; all by default, if there is a prize.
    signal_weights
        Value to each player of each unit of its own signal: auctions pay the winner its valuation.

    Examples
    --------
    >>> Leaf((-1.0, -1.0), prize=2.0).contenders
    ()
    """

    base: tuple[float, ...]
    prize: float = 0.0
    contenders: tuple[int, ...] = ()
    signal_weights: tuple[float, ...] = ()


@dataclass(frozen=True)
class DecisionNode:
    """A node where a player acts.

    Parameters
    ----------
    player
        Player who acts, from 0.
    moves
        Pairs of a label and the subtree after it.
    situation
        Name of what the player knows; by default the line of actions.

    Examples
    --------
    >>> DecisionNode(0, (("x", Leaf((0.0, 0.0))), ("b", Leaf((1.0, -1.0))))).player
    0
    """

    player: int
    moves: tuple[tuple[str, ContinuousTree], ...]
    situation: str | None = None


ContinuousTree: TypeAlias = DecisionNode | Leaf


def nodes_with_lines(tree: ContinuousTree, line: str = "") -> Iterator[tuple[ContinuousTree, str]]:
    """Iterate over the nodes of a tree with their lines of actions, parents before children.

    Parameters
    ----------
    tree
        The tree.
    line
        Line of its root.

    Yields
    ------
    tuple
        A node and its line.

    Examples
    --------
    >>> check = DecisionNode(1, (("x", Leaf((0.0, 0.0))),))
    >>> [line for _, line in nodes_with_lines(DecisionNode(0, (("x", check),)))]
    ['', 'x', 'x-x']
    """
    yield tree, line
    if isinstance(tree, DecisionNode):
        for label, child in tree.moves:
            yield from nodes_with_lines(child, f"{line}{JOINER}{label}" if line else label)


@dataclass(frozen=True)
class ContinuousSituation:
    """An information set without the signal: a point where a player acts, for all its signals.

    Attributes
    ----------
    name
        Line of actions, or the name of the node.
    player
        Player who acts.
    moves
        Labels of the actions.
    parent
        The player's previous choice: indices of a situation and of an action; None at its first situation.

    Examples
    --------
    >>> ContinuousSituation("b", 1, ("f", "c"), None).moves
    ('f', 'c')
    """

    name: str
    player: int
    moves: tuple[str, ...]
    parent: Choice | None  # the player's previous choice


@dataclass(frozen=True)
class LeafPath:
    """A leaf, and each player's choices on the path to it.

    Attributes
    ----------
    leaf
        The leaf.
    line
        Line of actions.
    choices
        Choices of each player: indices of situations and actions.

    Examples
    --------
    >>> LeafPath(Leaf((0.0, 0.0)), "x-x", (((0, 0),), ((1, 0),))).line
    'x-x'
    """

    leaf: Leaf
    line: str
    choices: tuple[tuple[Choice, ...], ...]  # [players]


@dataclass(frozen=True, eq=False)
class ContinuousGame:
    """A game with continuous private signals.

    Parameters
    ----------
    name
        Name in messages and results.
    signals
        Distribution of the signals.
    tree
        Betting tree of `DecisionNode` and `Leaf`.
    scale
        Unit of ε: the pot of a river, the highest bid of an auction; above zero.
    unit
        Unit of the payoffs.

    Raises
    ------
    InputError
        If the tree is invalid or has more than 500 leaves.
    RecallError
        If nodes of one situation differ in player, moves, or the player's earlier moves.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Computing equilibria by incorporating qualitative models", AAMAS 2010.

    Examples
    --------
    >>> from riverboat.continuous.signals import uniform
    >>> tree = DecisionNode(0, (("x", Leaf((-1.0, -1.0), 2.0)), ("f", Leaf((-1.0, 1.0)))))
    >>> game = ContinuousGame("toy", uniform(), tree, scale=2.0)
    >>> [situation.name for situation in game.situations], game.constant_sum
    (['root'], 0.0)
    """

    name: str
    signals: Signals
    tree: ContinuousTree
    scale: float = 1.0
    unit: str = "chips"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise InputError(f"{self.name}: scale {self.scale:g}: must be above zero")
        _ = self._situations_and_leaves  # raises on invalid trees

    @property
    def players(self) -> int:
        """Number of players."""
        return self.signals.players

    @property
    def situations(self) -> tuple[ContinuousSituation, ...]:
        """All situations, parents before children."""
        return self._situations_and_leaves[0]

    @property
    def leaf_paths(self) -> tuple[LeafPath, ...]:
        """All leaves with their paths."""
        return self._situations_and_leaves[1]

    def situation_index(self, name: str) -> int:
        """Return the index of a situation by its name.

        Parameters
        ----------
        name
            Name of the situation, `root` for the first.

        Raises
        ------
        InputError
            If there is no such situation.
        """
        names = [situation.name for situation in self.situations]
        if name not in names:
            raise InputError(f"{self.name}: unknown situation {name!r}; use one of {', '.join(names)}")
        return names.index(name)

    def own_situations(self, player: int) -> list[int]:
        """Return the indices of a player's situations, parents before children.

        Parameters
        ----------
        player
            Player, from 0.
        """
        return [s for s, situation in enumerate(self.situations) if situation.player == player]

    @cached_property
    def constant_sum(self) -> float | None:
        """Sum of all players' payoffs if it is the same at every leaf, else None."""
        sums = {round(sum(e.leaf.base) + e.leaf.prize, 12) for e in self.leaf_paths}
        weighted = any(any(e.leaf.signal_weights) for e in self.leaf_paths)
        return sums.pop() if len(sums) == 1 and not weighted else None

    @cached_property
    def _situations_and_leaves(self) -> tuple[tuple[ContinuousSituation, ...], tuple[LeafPath, ...]]:
        situations: dict[str, ContinuousSituation] = {}  # by name
        paths: list[LeafPath] = []

        def visit(tree: ContinuousTree, line: str, choices: tuple[tuple[Choice, ...], ...]) -> None:
            if isinstance(tree, Leaf):
                if len(paths) == MAX_LEAVES:
                    raise InputError(f"{self.name}: more than {MAX_LEAVES} leaves; use fewer sizes, raises or bids")
                leaf = _validate_leaf(tree, self.players, f"{self.name}: {line or ROOT}")
                paths.append(LeafPath(leaf, line, choices))
                return
            name = tree.situation or line or ROOT
            where = f"{self.name}: {name}"
            if not 0 <= tree.player < self.players:
                raise InputError(f"{where}: player {tree.player}: must be 0 to {self.players - 1}")
            moves = tuple(label for label, _ in tree.moves)
            if not moves or len(set(moves)) < len(moves):
                raise InputError(f"{where}: moves {moves}: must be one or more, without duplicates")
            own_choices = choices[tree.player]
            situation = ContinuousSituation(name, tree.player, moves, own_choices[-1] if own_choices else None)
            if situations.setdefault(name, situation) != situation:
                raise RecallError(
                    f"{where}: nodes of one situation differ in player, moves, or the player's earlier moves"
                )
            s = list(situations).index(name)
            for k, (label, child) in enumerate(tree.moves):
                after = tuple((*c, (s, k)) if p == tree.player else c for p, c in enumerate(choices))
                visit(child, f"{line}{JOINER}{label}" if line else label, after)

        visit(self.tree, "", ((),) * self.players)
        if not situations:
            raise InputError(f"{self.name}: the tree has no decision")
        return tuple(situations.values()), tuple(paths)


def _validate_leaf(leaf: Leaf, players: int, where: str) -> Leaf:
    """Check a leaf and fill in its default fields."""
    base = tuple(map(float, leaf.base))
    signal_weights = tuple(map(float, leaf.signal_weights)) or (0.0,) * players
    if len(base) != players or len(signal_weights) != players:
        raise InputError(f"{where}: pays {leaf.base}: must be one number for each of {players} players")
    numbers = (*base, *signal_weights, leaf.prize)
    if not all(map(math.isfinite, numbers)):
        raise InputError(f"{where}: pays {numbers}: must be finite")
    contenders = tuple(sorted(set(leaf.contenders))) or (tuple(range(players)) if leaf.prize else ())
    if not all(0 <= p < players for p in contenders):
        raise InputError(f"{where}: contenders {leaf.contenders}: must be players 0 to {players - 1}")
    if len(contenders) == 1:  # no opponent: the prize is certain
        base = tuple(b + (leaf.prize if p in contenders else 0.0) for p, b in enumerate(base))
        return Leaf(base, 0.0, (), signal_weights)
    return Leaf(base, float(leaf.prize), contenders if leaf.prize else (), signal_weights)
