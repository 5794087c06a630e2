"""`HistoryTree`: one node for each history; nodes of one information set share a block of the table.

Gambit files, OpenSpiel games and matrix games compile to it, and a small `PublicTree` unrolls to it. Information sets
are numbered by their first visit in preorder, so parents precede children.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.core.errors import InputError, RecallError, ZeroSumError
from riverboat.games.base import CHANCE, TERMINAL, Array, HistoryGame
from riverboat.games.tree_layout import HistoryTreeLayout, PayoffCheck, layout_from_histories
from riverboat.trees._kernels import tree as _kernels
from riverboat.trees._kernels.tree import (
    CONSTANT_PAYOFF,
    MATRIX_PAYOFF,
    SUM_TOLERANCE,
    PlayerArrays,
    TreeNodes,
    constant_sum_of,
)
from riverboat.trees.public import Infoset, PreorderTree, PublicTree


@dataclass(frozen=True, eq=False)
class Treeplex:
    """Sequences of one player in sequence form (Koller, Megiddo & von Stengel 1996).

    Sequence 0 is the empty one; information set i has the sequences first[i] … first[i] + width[i] - 1.

    Attributes
    ----------
    infosets
        Index of each information set in the tree. int32 [i]
    parent
        Sequence before each information set. int32 [i]
    first
        First sequence of each information set. int32 [i]
    width
        Number of actions of each information set. int32 [i]
    table_index
        int64 [sequences]: index in the tree's table, -1 for the empty sequence.

    References
    ----------
    .. [1] Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person games", GEB
    14, 1996.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game, to_history_tree
    >>> treeplex = to_history_tree(compile_game(kuhn())).treeplex(0)
    >>> len(treeplex.infosets), len(treeplex.table_index)
    (6, 13)
    """

    infosets: Array  # int32 [i]: index in the tree
    parent: Array  # int32 [i]: parent sequence
    first: Array  # int32 [i]
    width: Array  # int32 [i]
    table_index: Array  # int64 [sequences]: index in the tree's table, -1 for the empty sequence

    @property
    def sequences(self) -> int:
        """Number of sequences, including the empty one."""
        return len(self.table_index)


class HistoryTree(PreorderTree):
    """A game compiled to histories.

    Parameters
    ----------
    name
        Name of the game.
    unit
        Unit of the payoffs.
    nodes
        Shape of the tree in preorder.
    infoset
        Information set of each node; -1 except at decisions. int32 [nodes]
    owner
        Player of each information set. int8 [infosets]
    payoffs
        Payoffs of the players at the terminals. float64 [payoffs, players]
    chance
        Probability of each chance outcome. float64 [outcomes]
    infoset_info
        Function that returns the name and the actions of each information set, called on first use.
    outcome_labels
        Labels of the chance outcomes, if the game has some.

    Examples
    --------
    >>> from riverboat.games.small.normal_form import rock_paper_scissors
    >>> tree = HistoryTree.from_game(rock_paper_scissors())
    >>> tree.infoset_count, [each.name for each in tree.infosets()]
    (2, ['player 0', 'player 1'])
    """

    def __init__(
        self,
        name: str,
        unit: str,
        nodes: TreeNodes,
        infoset: Array,  # int32 [nodes], -1 except at decisions
        owner: Array,  # int8 [infosets]
        payoffs: Array,  # float64 [payoffs, players]
        chance: Array,  # float64 [outcomes]
        infoset_info: Callable[[], list[tuple[str, tuple[str, ...]]]],
        outcome_labels: tuple[str, ...] | None = None,
    ) -> None:
        self.name, self.unit, self.nodes = name, unit, nodes
        self.game: HistoryGame | None = None  # the game that was compiled, if any
        self.node_infoset, self.owner = infoset, owner
        self.payoffs, self.chance = payoffs, chance
        self.players = payoffs.shape[1]
        self.outcome_labels = outcome_labels
        self.origin: Array | None = None  # int64 [table]: index in the table of the public tree that was unrolled
        self._infoset_info = infoset_info
        decisions = np.flatnonzero(infoset >= 0)
        visited, at = np.unique(infoset[decisions], return_index=True)
        self.first_node = decisions[at]  # [infosets]
        self.action_counts = nodes.width[self.first_node].astype(np.int32)
        self.offsets = nodes.data[self.first_node]
        self.table_size = int(self.action_counts.sum(dtype=np.int64))
        self.infoset_count = len(visited)
        self.action_count = self.table_size
        self.depth = _kernels.tree_depth(nodes.end)
        self.max_width = int(self.action_counts.max(initial=1))  # most actions at a decision
        self.shared = bool(len(decisions) > len(visited))
        self.hand_counts = (1, 1)
        self.total = 1.0
        self.player_arrays = tuple(self._make_player_arrays(p) for p in range(self.players))

    @staticmethod
    def from_game(game: HistoryGame, *, constant_sum: bool = False) -> HistoryTree:
        """Compile a game by traversing its states once.

        With `constant_sum` it raises ZeroSumError as soon as the payoffs have no constant sum.

        Parameters
        ----------
        game
            Game to compile.
        constant_sum
            Raise ZeroSumError as soon as the payoffs have no constant sum.
        """
        check: PayoffCheck | None = None
        if constant_sum:
            check_players(game.name, game.players)
            check = _constant_sum_check(game.name)
        own = getattr(game, "layout", None)
        tree = _tree_of_layout(game, layout_from_histories(game, check) if own is None else own(check))
        tree.game = game
        return tree

    def _make_player_arrays(self, me: int) -> PlayerArrays:
        rows = len(self.payoffs)
        outcomes = len(self.chance)
        return PlayerArrays(
            weight=np.ones(1),
            weight_opp=np.ones(1),
            share=np.ones(1),
            exclude=np.zeros((1, 0), np.int32),
            kind=np.full(rows, CONSTANT_PAYOFF, np.int8),
            pay=np.ascontiguousarray(np.repeat(self.payoffs[:, me : me + 1], 3, axis=1)),
            row=np.zeros(rows, np.int32),
            order=np.zeros((0, 1), np.int32),
            place=np.zeros((0, 1), np.int32),
            below=np.zeros((0, 1), np.int32),
            upto=np.zeros((0, 1), np.int32),
            matrix=np.zeros((0, 1, 1)),
            chance=self.chance,
            live=np.ones((outcomes, 1)),
            live_opp=np.ones((outcomes, 1)),
        )

    def player_tables(self, table: Array) -> tuple[Array, ...]:
        """View a flat table as rows of one hand; every player sees all of it. float [rows, 1]

        Parameters
        ----------
        table
            Flat table, float [table_size].
        """
        rows: tuple[Array, ...] = (table.reshape(-1, 1),) * self.players
        return rows

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle: the names instead of the function that makes them, and no game object."""
        return {**self.__dict__, "_info": self._info, "_infoset_info": None, "game": None}

    def spread(self, numbers: Array) -> Array:
        """Repeat a number of each information set for each of its actions. [table]

        Parameters
        ----------
        numbers
            One number for each information set.
        """
        return np.repeat(numbers, self.action_counts)

    # --- names ------------------------------------------------------------------------------

    @cached_property
    def _info(self) -> list[tuple[str, tuple[str, ...]]]:
        return self._infoset_info()

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {name: i for i, (name, _) in enumerate(self._info)}

    def infosets(self) -> Iterator[Infoset]:
        """Yield all information sets by index."""
        for i in range(self.infoset_count):
            yield self._infoset(i)

    def _infoset(self, i: int) -> Infoset:
        name, actions = self._info[i]
        return Infoset(name, int(self.owner[i]), actions, int(self.offsets[i]), 1)

    def infoset(self, name: str) -> Infoset:
        """Return an information set by its name.

        Parameters
        ----------
        name
            Name of the information set.
        """
        if name not in self._by_name:
            examples = ", ".join(repr(n) for n in list(self._by_name)[:6])
            raise InputError(f"{self.name}: no information set {name!r} (information sets: {examples}, …)")
        return self._infoset(self._by_name[name])

    def labels(self, node: int) -> tuple[str, ...]:
        """Return the labels of the actions or outcomes at a node.

        Parameters
        ----------
        node
            Index of a node.
        """
        if self.nodes.actor[node] == CHANCE:
            first, width = int(self.nodes.data[node]), int(self.nodes.width[node])
            if self.outcome_labels is None:
                return tuple(f"{k}" for k in range(width))
            return self.outcome_labels[first : first + width]
        i = int(self.node_infoset[node])
        return self._info[i][1] if i >= 0 else ()

    # --- sequences --------------------------------------------------------------------------

    @cached_property
    def _sequences(self) -> tuple[Array, Array, Array]:
        """First sequence of each infoset, chance probability of each node, and last sequences of all players there."""
        first = np.zeros(self.infoset_count, np.int64)
        for player in range(self.players):
            infosets = np.flatnonzero(self.owner == player)
            first[infosets] = (
                1 + np.concatenate([[0], np.cumsum(self.action_counts[infosets])[:-1]]) if len(infosets) else 0
            )
        n = self.nodes
        reach, last = _kernels.trace_sequences(
            n.actor, n.end, n.data, self.node_infoset, first, self.chance, self.players
        )
        return first, reach, last

    @property
    def chance_reach(self) -> Array:
        """Chance probability of each node. float64 [nodes]"""
        return self._sequences[1]

    @property
    def last_sequence(self) -> Array:
        """Last sequence of each player before each node. int32 [nodes, players]"""
        return self._sequences[2]

    def treeplex(self, player: int) -> Treeplex:
        """Return a player's treeplex; raise RecallError if the player has imperfect recall.

        Parameters
        ----------
        player
            Player, from 0.
        """
        self.check_recall(player)
        first, _, last = self._sequences
        infosets = np.flatnonzero(self.owner == player).astype(np.int32)
        table = np.full(1 + int(self.action_counts[infosets].sum()), -1, np.int64)
        for i in infosets:
            table[first[i] : first[i] + self.action_counts[i]] = self.offsets[i] + np.arange(self.action_counts[i])
        parent = last[self.first_node[infosets], player].astype(np.int32)
        return Treeplex(infosets, parent, first[infosets].astype(np.int32), self.action_counts[infosets], table)

    def perfect_recall_treeplex(self, player: int) -> tuple[Treeplex, Array]:
        """Return a player's treeplex under perfect recall of its own actions, and its last sequence at each node.

        The sequences are int32 [nodes]. With perfect recall this is the player's treeplex. Otherwise its information
        sets are split by its own past actions. More information can do no harm, so the best value here is an upper
        bound.

        Parameters
        ----------
        player
            Player, from 0.
        """
        if player not in self._perfect_recall_treeplexes:
            self._perfect_recall_treeplexes[player] = (
                _split_infosets(self, player) if self.imperfect_recall_infoset(player) is not None else
                (self.treeplex(player), self.last_sequence[:, player])
            )  # fmt: skip
        return self._perfect_recall_treeplexes[player]

    @cached_property
    def _perfect_recall_treeplexes(self) -> dict[int, tuple[Treeplex, Array]]:
        return {}

    def imperfect_recall_infoset(self, player: int) -> str | None:
        """Return an information set that a player reaches by different actions of its own, or None.

        Parameters
        ----------
        player
            Player, from 0.
        """
        last = self.last_sequence[:, player]
        nodes = np.flatnonzero((self.node_infoset >= 0) & (self.nodes.actor == player))
        infoset = self.node_infoset[nodes]
        wrong = np.flatnonzero(last[nodes] != last[self.first_node[infoset]])
        return self._info[int(infoset[wrong[0]])][0] if len(wrong) else None

    @cached_property
    def perfect_recall(self) -> bool:
        """Whether all players have perfect recall."""
        return all(self.imperfect_recall_infoset(player) is None for player in range(self.players))

    def check_recall(self, player: int) -> None:
        """Raise RecallError unless all nodes of each information set follow the same own actions.

        Parameters
        ----------
        player
            Player, from 0.
        """
        name = self.imperfect_recall_infoset(player)
        if name is not None:
            raise RecallError(
                f"{self.name}: imperfect recall: player {player} reaches information set {name!r} by different "
                f"actions of its own; split it, or use CFR, which gives a result without a guarantee"
            )

    @cached_property
    def constant_sum(self) -> float | None:
        """Sum of two players' payoffs at every terminal; None if it is not constant or there are not two players."""
        return constant_sum_of(self.payoffs.sum(axis=1)) if self.players == 2 else None

    def check_zero_sum(self) -> None:
        """Raise ZeroSumError unless there are two players whose payoffs sum to zero."""
        check_players(self.name, self.players)
        for pay in self.payoffs:
            check_zero_sum_payoffs(self.name, pay)

    def check_constant_sum(self) -> None:
        """Raise ZeroSumError unless there are two players whose payoffs have a constant sum."""
        check_players(self.name, self.players)
        if self.constant_sum is not None:
            return
        for pay in self.payoffs:
            check_same_payoff_sum(self.name, self.payoffs[0], pay)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that a strategy for this tree depends on."""
        digest = hashlib.sha256()
        for array in (*self.nodes, self.node_infoset, self.payoffs, self.chance):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr(self._info).encode())
        return digest.hexdigest()


def check_players(name: str, players: int) -> None:
    """Raise ZeroSumError unless there are two players.

    Parameters
    ----------
    name
        Name of the game.
    players
        Number of players.

    Raises
    ------
    ZeroSumError
        Unless there are two players.

    Examples
    --------
    >>> check_players("kuhn", 2)
    """
    if players != 2:
        raise ZeroSumError(f"{name}: {players} players; this needs a two-player zero-sum game")


def check_zero_sum_payoffs(name: str, pay: Sequence[float]) -> None:
    """Raise ZeroSumError unless two payoffs sum to zero.

    Parameters
    ----------
    name
        Name of the game.
    pay
        Payoffs of both players at one history.

    Raises
    ------
    ZeroSumError
        If they do not sum to zero.

    Examples
    --------
    >>> check_zero_sum_payoffs("kuhn", (1.0, -1.0))
    """
    if abs(pay[0] + pay[1]) > SUM_TOLERANCE:
        raise ZeroSumError(f"{name}: not zero-sum: one history pays {pay[0]:g} and {pay[1]:g}")


def check_same_payoff_sum(name: str, first: Sequence[float], pay: Sequence[float]) -> None:
    """Raise ZeroSumError unless two histories have the same sum of payoffs.

    Parameters
    ----------
    name
        Name of the game.
    first
        Payoffs at one history.
    pay
        Payoffs at another.

    Raises
    ------
    ZeroSumError
        If their sums differ.

    Examples
    --------
    >>> check_same_payoff_sum("spot", (60.0, 40.0), (100.0, 0.0))
    """
    if constant_sum_of(np.array([sum(first), sum(pay)])) is None:
        raise ZeroSumError(
            f"{name}: not zero-sum: one history pays {first[0]:g} and {first[1]:g}, another {pay[0]:g} and {pay[1]:g}, "
            f"with a different sum; this method needs a constant sum, CFR does not"
        )


def _constant_sum_check(name: str) -> PayoffCheck:
    """Return a function that raises ZeroSumError when the sum of payoffs differs from the first one."""
    first: list[Sequence[float]] = []

    def check(pay: Sequence[float]) -> None:
        first.append(pay)
        check_same_payoff_sum(name, first[0], pay)
        del first[1:]

    return check


def _tree_of_layout(game: HistoryGame, layout: HistoryTreeLayout) -> HistoryTree:
    """Build the tree of a game from its layout."""
    build = HistoryTreeBuilder()
    first_outcome = [build.add_outcomes(np.array(event.probabilities), event.labels) for event in layout.chance]
    width, data = np.zeros(len(layout.actor), np.int64), layout.index.astype(np.int64)
    chance, decision = layout.actor == CHANCE, layout.actor >= 0
    labels_width = np.array([len(labels) for labels in layout.action_labels], np.int64)
    width[chance] = np.array([len(event.labels) for event in layout.chance], np.int64)[layout.index[chance]]
    width[decision] = labels_width[layout.infoset_labels[layout.index[decision]]]
    data[chance] = np.array(first_outcome, np.int64)[layout.index[chance]]

    names, labels, number = layout.infoset_names, layout.action_labels, layout.infoset_labels

    def info(infosets: Array) -> list[tuple[str, tuple[str, ...]]]:
        return [(names[i], labels[k]) for i, k in zip(infosets.tolist(), number[infosets].tolist(), strict=True)]

    build.append(layout.actor, layout.end, width, data, np.where(decision, layout.index, -1))
    return build.assemble(game.name, game.unit, layout.payoffs, info)[0]


def _split_infosets(tree: HistoryTree, player: int) -> tuple[Treeplex, Array]:
    """Split a player's infosets by its own past actions; return the treeplex and its last sequence at every node."""
    n = tree.nodes
    last = np.zeros(len(n.actor), np.int32)
    seen: dict[tuple[int, int], int] = {}  # (information set, own last sequence) to its first sequence
    parent: list[int] = []
    sets: list[int] = []
    first: list[int] = []
    sequences = 1
    for node in range(len(n.actor)):
        who = int(n.actor[node])
        if who == TERMINAL:
            continue
        here, number = int(last[node]), int(tree.node_infoset[node])
        if who == player and (number, here) not in seen:
            seen[number, here] = sequences
            sets.append(number)
            parent.append(here)
            first.append(sequences)
            sequences += int(tree.action_counts[number])
        for k, child in enumerate(tree.children(node)):
            last[child] = seen[number, here] + k if who == player else here
    infosets = np.array(sets, np.int32)
    widths = tree.action_counts[infosets]
    within = np.arange(sequences - 1) - np.repeat(np.array(first, np.int64) - 1, widths)
    table = np.concatenate([[-1], np.repeat(tree.offsets[infosets], widths) + within]).astype(np.int64)
    return Treeplex(infosets, np.array(parent, np.int32), np.array(first, np.int32), widths, table), last


class HistoryTreeBuilder:
    """Builder of a history tree in preorder, from single nodes and from blocks of nodes.

    Parameters
    ----------
    chance
        Probabilities of chance outcomes that the nodes refer to.
    labels
        Labels of these outcomes.

    Examples
    --------
    >>> build = HistoryTreeBuilder()
    >>> coin = build.add_chance_node(np.array([0.5, 0.5]), ["heads", "tails"])
    >>> build.size, build.labels
    (1, ['heads', 'tails'])
    """

    def __init__(self, chance: Sequence[Array] = (), labels: Iterable[str] = ()) -> None:
        self.columns: tuple[list[Array], ...] = ([], [], [], [], [])  # actor, end, width, data, key
        self.chance, self.labels = [*chance], [*labels]
        self.size = 0
        self.closed_ends: dict[int, int] = {}  # ends of single nodes

    def append(self, *columns: Array) -> None:
        """Append nodes.

        Parameters
        ----------
        *columns
            Actor, end, width, data and key of each node, see `TreeNodes`. The key identifies an information set and is
            negative except at decisions, whose data is ignored.
        """
        for parts, numbers in zip(self.columns, columns, strict=True):
            parts.append(numbers)
        self.size += len(columns[0])

    def add_node(self, actor: int, width: int, data: int = 0, key: int = -1) -> int:
        """Add a single node, and return it; call `close_node` after its subtrees.

        Parameters
        ----------
        actor
            Player, CHANCE or TERMINAL.
        width
            Number of children.
        data
            First outcome of a chance node, payoff of a terminal.
        key
            Key of the information set; negative except at decisions.
        """
        node = self.size
        self.append(*(np.array([number]) for number in (actor, node + 1, width, data, key)))
        return node

    def add_outcomes(self, probabilities: Array, labels: Sequence[str]) -> int:
        """Add chance outcomes, and return the index of the first.

        Parameters
        ----------
        probabilities
            Probability of each outcome.
        labels
            Labels of the outcomes.
        """
        first = len(self.labels)
        self.chance.append(np.asarray(probabilities, float))
        self.labels += labels
        return first

    def add_chance_node(self, probabilities: Array, labels: Sequence[str]) -> int:
        """Add a chance node, and return it; call `close_node` after its subtrees.

        Parameters
        ----------
        probabilities
            Probability of each outcome.
        labels
            Labels of the outcomes.
        """
        return self.add_node(CHANCE, len(labels), self.add_outcomes(probabilities, labels))

    def close_node(self, node: int) -> None:
        """Close a node after its subtrees have been added.

        Parameters
        ----------
        node
            Index of the node.
        """
        self.closed_ends[node] = self.size

    def assemble(
        self, name: str, unit: str, payoffs: Array, info: Callable[[Array], list[tuple[str, tuple[str, ...]]]]
    ) -> tuple[HistoryTree, Array]:
        """Build the tree, with information sets numbered by their first visit.

        Parameters
        ----------
        name
            Name of the game.
        unit
            Unit of the payoffs.
        payoffs
            Payoffs of the players at the terminals. float64 [payoffs, players]
        info
            Function that returns the name and the actions of the information sets with some keys, called on first use.

        Returns
        -------
        tuple[HistoryTree, Array]
            The tree, and the key of each information set.

        Examples
        --------
        One decision between payoffs of 1 and -1:

        >>> builder = HistoryTreeBuilder()
        >>> builder.append(*map(np.array, ([0, -2, -2], [3, 2, 3], [2, 0, 0], [0, 0, 1], [7, -1, -1])))
        >>> payoffs = np.array([[1.0, -1.0], [-1.0, 1.0]])
        >>> tree, keys = builder.assemble("bet", "chips", payoffs, lambda keys: [("root", ("l", "r"))])
        >>> tree.infoset_count, tree.action_count, keys
        (1, 2, array([7]))
        """
        actor, end, width, data, key = map(np.concatenate, self.columns)
        end[list(self.closed_ends)] = list(self.closed_ends.values())
        keys, infoset, first = number_by_first_visit(key)
        data, decisions = data.astype(np.int64), infoset >= 0
        data[decisions] = (np.cumsum(width[first], dtype=np.int64) - width[first])[infoset[decisions]]
        nodes = TreeNodes(actor.astype(np.int8), end.astype(np.int32), width.astype(np.int16), data)
        parts = infoset, nodes.actor[first], payoffs, np.concatenate([np.zeros(0), *self.chance])
        return HistoryTree(name, unit, nodes, *parts, lambda: info(keys), tuple(self.labels)), keys


def unroll(tree: PublicTree) -> HistoryTree:
    """Unroll a public tree into histories: chance deals player 0's hand, then player 1's, then play begins.

    Parameters
    ----------
    tree
        Public tree.

    Returns
    -------
    HistoryTree
        The histories of the same game.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> unroll(PublicTree(kuhn())).infoset_count
    12
    """
    joint = tree.deal.joint()
    marginal = joint.sum(axis=1)
    boards, (live0, live1) = tree.board_of_node, tree.possible_hands
    actor0, end0 = tree.nodes.actor, tree.nodes.end
    side, first_hands = tree.player_arrays[0], np.flatnonzero(marginal > 0)
    build = HistoryTreeBuilder()
    payoffs: list[Array] = []
    top = build.add_chance_node(marginal[first_hands], [tree.hands[0][h] for h in first_hands])
    for h0 in first_hands.tolist():
        second_hands = np.flatnonzero(joint[h0] > 0)
        deal = build.add_chance_node(joint[h0][second_hands] / marginal[h0], [tree.hands[1][h] for h in second_hands])
        for h1 in second_hands.tolist():
            keep = live0[boards, h0] & live1[boards, h1]
            end = np.concatenate([[0], np.cumsum(keep)])[end0[keep]] + build.size
            who = actor0[keep].astype(np.int64)
            data = tree.nodes.data[keep].copy()
            width = tree.nodes.width[keep].astype(np.int64)
            key = np.select(
                [who == 0, who == 1],
                [data * tree.hand_counts[0] + h0, tree.player_offsets[1] + data * tree.hand_counts[1] + h1],
                default=-1,
            )
            data[who == TERMINAL] += len(payoffs) * len(side.kind)
            payoffs.append(_pair_payoffs(tree, h0, h1))
            for node in np.flatnonzero(who == CHANCE):
                span = slice(int(data[node]), int(data[node] + width[node]))
                possible = (tree.player_arrays[0].live[span, h0] * tree.player_arrays[1].live[span, h1]) > 0
                names = tree.labels(int(np.flatnonzero(keep)[node]))
                data[node] = build.add_outcomes(
                    side.chance[span][possible], [names[k] for k in np.flatnonzero(possible)]
                )
                width[node] = int(possible.sum())
            build.append(who, end, width, data, key)
        build.close_node(deal)
    build.close_node(top)

    def info(keys: Array) -> list[tuple[str, tuple[str, ...]]]:
        by_offset = {i.offset: (i.name, i.actions) for i in tree.infosets()}
        return [by_offset[int(key)] for key in keys]

    whole, keys = build.assemble(tree.name, tree.unit, np.concatenate(payoffs), info)
    strides = np.where(whole.owner == 0, *tree.hand_counts)
    whole.origin = whole.spread(keys) + (np.arange(whole.table_size) - whole.spread(whole.offsets)) * whole.spread(
        strides
    )
    return whole


def _pair_payoffs(tree: PublicTree, h0: int, h1: int) -> Array:
    """Return both players' payoffs for a pair of hands, by index of the terminals' payoffs. float64 [payoffs, 2]"""
    columns = []
    for player, (own, opp) in enumerate(((h0, h1), (h1, h0))):
        side = tree.player_arrays[player]
        column = side.pay[:, 0].copy()
        for e in range(len(column)):
            row = side.row[e]
            if side.kind[e] == MATRIX_PAYOFF:
                column[e] = side.matrix[row, own, opp]
            elif side.kind[e] != CONSTANT_PAYOFF:
                place = side.place[row, opp]
                column[e] = side.pay[e, 0 if place < side.below[row, own] else 1 if place < side.upto[row, own] else 2]
        columns.append(column)
    return np.stack(columns, axis=1)


def number_by_first_visit(key: Array) -> tuple[Array, Array, Array]:
    """Number keys in the order of their first visit; nodes without a key have a negative one.

    Returns the keys by number, the number of each node (-1 without a key), and the first node of each number. int64,
    int32, int64

    Parameters
    ----------
    key
        Key of each node; negative where there is none. int64 [nodes]

    Returns
    -------
    tuple[Array, Array, Array]
        Keys by number, number of each node, and first node of each number.

    Examples
    --------
    >>> [part.tolist() for part in number_by_first_visit(np.array([7, -1, 3, 7]))]
    [[7, 3], [0, -1, 1, 0], [0, 2]]
    """
    nodes = np.flatnonzero(key >= 0)
    keys, first, inverse = np.unique(key[nodes], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    number = np.empty(len(keys), np.int32)
    number[order] = np.arange(len(keys))
    numbers = np.full(len(key), -1, np.int32)
    numbers[nodes] = number[inverse]
    return keys[order], numbers, nodes[first[order]]
