"""`PublicTree`: public nodes in preorder, private hands as vectors.

Johanson et al. (2011) traverse such a public tree once with vectors of hands instead of one traversal for each hand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from riverboat.core.budget import require_memory
from riverboat.core.errors import InputError
from riverboat.games.base import (
    CHANCE,
    TERMINAL,
    Array,
    ComparisonPayoff,
    ConstantPayoff,
    Game,
    MatrixPayoff,
    PublicGame,
    append_label,
)
from riverboat.games.tree_layout import MAX_WIDTH, PublicTreeLayout, layout_from_states
from riverboat.trees._kernels import tree
from riverboat.trees._kernels.tree import (
    COMPARE_PAYOFF,
    CONSTANT_PAYOFF,
    MATRIX_PAYOFF,
    PlayerArrays,
    TreeNodes,
    constant_sum_of,
)


class Infoset(NamedTuple):
    """An information set and its location in a table.

    Attributes
    ----------
    name
        Name: `hand:line` in a public tree.
    player
        Player to act.
    actions
        Labels of the actions.
    offset
        Index of the first action in a table.
    stride
        Distance between two actions in a table.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> PublicTree(kuhn()).infoset("K:c").actions
    ('c', 'r')
    """

    name: str
    player: int
    actions: tuple[str, ...]
    offset: int  # index of the first action
    stride: int  # distance between two actions


def child_nodes(nodes: Any, node: int) -> Iterator[int]:
    """Yield the children of a node.

    Parameters
    ----------
    nodes
        Number of children (`width`) and end of the subtree (`end`) of each node, in preorder.
    node
        Index of the node.

    Returns
    -------
    Iterator[int]
        Indices of the children, in order.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> list(child_nodes(compile_game(kuhn()).nodes, 0))
    [1, 6]
    """
    child = node + 1
    for _ in range(int(nodes.width[node])):
        yield child
        child = int(nodes.end[child])


class PreorderTree:
    """Nodes in preorder, of public states or of histories."""

    nodes: TreeNodes

    def children(self, node: int) -> Iterator[int]:
        """Yield the child nodes, in the order of the labels.

        Parameters
        ----------
        node
            Index of a node, in preorder.
        """
        return child_nodes(self.nodes, node)

    def _repr_svg_(self) -> str | None:
        from riverboat.trees.drawing import small_svg  # draws both kinds of tree, so it imports them

        return small_svg(self)  # type: ignore[arg-type]  # one of the two kinds


class PublicTree(PreorderTree):
    """A public game compiled to flat arrays.

    Parameters
    ----------
    game
        Game with public states and private hands.
    layout
        Shape of the tree, if it is known; by default the game is traversed.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> tree = PublicTree(kuhn())
    >>> tree.infoset_count, tree.line(tree.node("cr"))
    (12, 'cr')
    """

    shared = False  # each node owns its block of the table
    players = 2

    def __init__(self, game: Game, layout: PublicTreeLayout | None = None) -> None:
        if not isinstance(game, PublicGame):
            raise InputError(f"{type(game).__name__} has no public states and hands: use compile_game")
        if layout is None:
            own = getattr(game, "layout", None)
            layout = own() if own is not None else layout_from_states(game)
        self.game = game
        self.name, self.unit, self.joiner, self.hands = game.name, game.unit, game.joiner, game.hands
        self.deal = game.deal
        self.layout = layout
        self.hand_counts = (len(self.hands[0]), len(self.hands[1]))
        for player in (0, 1):
            if self.deal.weights[player].shape != (self.hand_counts[player],):
                raise InputError(
                    f"{self.name}: {self.deal.weights[player].shape} deal weights for "
                    f"{self.hand_counts[player]} hands of player {player}"
                )
        self._check_layout(layout)
        require_memory(self.name, self._required_bytes(layout))
        self.nodes, rows = _make_nodes(layout)
        # The table holds player 0's rows, then player 1's; a row has one entry for each hand.
        sizes = [rows[p] * self.hand_counts[p] for p in (0, 1)]
        self.player_offsets = (0, sizes[0])
        self.table_size = sum(sizes)
        self.depth = tree.tree_depth(layout.end)
        self.max_width = max(map(len, layout.action_labels), default=1)  # most actions at a decision
        self.total: float = self._pair_mass()
        self.player_arrays = self._make_player_arrays(0), self._make_player_arrays(1)

    def _check_layout(self, layout: PublicTreeLayout) -> None:
        """Raise InputError for invalid deal weights, excluded pairs, outcomes or payoffs, and for too many actions."""
        for player in (0, 1):
            weights = self.deal.weights[player]
            if not np.all(np.isfinite(weights)) or weights.min() < 0:
                raise InputError(
                    f"{self.name}: a deal weight of player {player} is {weights.min():g}: must be 0 or more"
                )
        for pair in self.deal.excludes:
            if not all(0 <= pair[p] < self.hand_counts[p] for p in (0, 1)):
                raise InputError(f"{self.name}: the excluded pair {pair} names a hand that does not exist")
        for labels in (*layout.action_labels, *layout.chance_outcomes):
            if len(labels) > MAX_WIDTH:
                raise InputError(f"{self.name}: {len(labels):,} actions at one node, more than {MAX_WIDTH:,}")
        for outcome in (o for chance in layout.chance_outcomes for o in chance):
            if not (np.isfinite(outcome.weight) and outcome.weight >= 0):
                raise InputError(f"{self.name}: outcome {outcome.label!r} has probability {outcome.weight:g}")
            for player in (0, 1):
                if any(not 0 <= h < self.hand_counts[player] for h in outcome.dead[player]):
                    raise InputError(
                        f"{self.name}: outcome {outcome.label!r} rules out a hand of player {player} that does not exist"
                    )
        for payoff in layout.payoffs:
            numbers = np.array(
                (payoff.win, payoff.tie, payoff.lose) if isinstance(payoff, ComparisonPayoff) else payoff.payoffs
            )
            if not np.all(np.isfinite(numbers)):
                raise InputError(f"{self.name}: a payoff is not finite: {payoff}")

    def _required_bytes(self, layout: PublicTreeLayout) -> float:
        """Estimate the memory of the largest arrays in bytes: pairs of hands, payoffs and chance outcomes."""
        first, second = self.hand_counts
        orders = len({p.strengths for p in layout.payoffs if isinstance(p, ComparisonPayoff)})
        matrices = sum(isinstance(p, MatrixPayoff) for p in layout.payoffs)
        outcomes = sum(len(chance) for chance in layout.chance_outcomes)
        return (3 + 2 * matrices) * 8.0 * first * second + (16.0 * orders + 32.0 * outcomes) * (first + second)

    def _pair_mass(self) -> float:
        # Sum over the pairs: the total minus the excluded pairs would cancel where little is left (a rare subgame).
        pairs = np.outer(*self.deal.weights)
        for pair in self.deal.excludes:
            pairs[pair] = 0.0
        mass = float(pairs.sum())
        if not mass > 0:
            raise InputError(f"{self.name}: no pair of hands can be dealt")
        return mass

    def _make_player_arrays(self, me: int) -> PlayerArrays:
        """Make the arrays of payoffs, outcomes and deal for one player."""
        layout, counts = self.layout, self.hand_counts
        own, opp = counts[me], counts[1 - me]
        entries: list[tuple[int, list[float], int]] = []  # kind, payoffs, row
        rank: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        matrix: list[Array] = []
        for payoff in layout.payoffs:
            if isinstance(payoff, ConstantPayoff):
                entries.append((CONSTANT_PAYOFF, [payoff.payoffs[me]] * 3, 0))
            elif isinstance(payoff, ComparisonPayoff):
                order = (payoff.win, payoff.tie, payoff.lose)
                pay = [p[me] for p in (order if me == 0 else order[::-1])]
                own_strength, opp_strength = payoff.strengths[me], payoff.strengths[1 - me]
                if (len(own_strength), len(opp_strength)) != (own, opp):
                    raise InputError(
                        f"{self.name}: a payoff has strengths for {len(own_strength)} x {len(opp_strength)} hands"
                    )
                entries.append((COMPARE_PAYOFF, pay, rank.setdefault((own_strength, opp_strength), len(rank))))
            else:
                assert isinstance(payoff, MatrixPayoff)
                entries.append((MATRIX_PAYOFF, [0.0] * 3, len(matrix)))
                table = np.asarray(payoff.payoffs[me], float)
                matrix.append(table if me == 0 else table.T)
                if matrix[-1].shape != (own, opp):
                    raise InputError(f"{self.name}: a payoff matrix of shape {matrix[-1].shape}, not {own, opp}")
        kind, pays, row = zip(*entries, strict=True) if entries else ((), (), ())
        strengths = [(np.array(own_strength), np.array(opp_strength)) for own_strength, opp_strength in rank]
        orders = [np.argsort(opp_strength, kind="stable") for _, opp_strength in strengths]
        outcomes = [o for chance in layout.chance_outcomes for o in chance]
        live = [np.ones((len(outcomes), n)) for n in counts]
        for k, outcome in enumerate(outcomes):
            for player in (0, 1):
                live[player][k, list(outcome.dead[player])] = 0.0
        blocked: list[list[int]] = [[] for _ in range(own)]
        for pair in sorted(self.deal.excludes):
            blocked[pair[me]].append(pair[1 - me])
        exclude = np.full((own, max((len(b) for b in blocked), default=0)), -1, np.int32)
        for h, hands in enumerate(blocked):
            exclude[h, : len(hands)] = hands
        return PlayerArrays(
            weight=np.ascontiguousarray(self.deal.weights[me], float),
            weight_opp=np.ascontiguousarray(self.deal.weights[1 - me], float),
            share=np.ascontiguousarray(self.deal.weights[me], float) / self.total,
            exclude=exclude,
            kind=np.array(kind, np.int8),
            pay=np.array(pays, float).reshape(-1, 3),
            row=np.array(row, np.int32),
            order=np.array(orders, np.int32).reshape(-1, opp),
            place=np.array([np.argsort(order) for order in orders], np.int32).reshape(-1, opp),
            below=_strength_counts(strengths, orders, "left").reshape(-1, own),
            upto=_strength_counts(strengths, orders, "right").reshape(-1, own),
            matrix=np.array(matrix, float).reshape(-1, own, opp),
            chance=np.array([o.weight for o in outcomes], float),
            live=live[me],
            live_opp=live[1 - me],
        )

    # --- possible hands ---------------------------------------------------------------------

    @cached_property
    def board_of_node(self) -> Array:
        """Board of each node: index in `possible_hands` of the public chance outcomes so far. int32 [nodes]"""
        return self._boards_and_hands[0]

    @cached_property
    def possible_hands(self) -> tuple[Array, Array]:
        """Mask of each player's hands that are possible on each board. bool [boards, hands] per player"""
        return self._boards_and_hands[1]

    @cached_property
    def _boards_and_hands(self) -> tuple[Array, tuple[Array, Array]]:
        joint = self.deal.joint() > 0
        rows0, rows1 = [joint.any(axis=1)], [joint.any(axis=0)]
        actor, end = self.nodes.actor, self.nodes.end
        chance_nodes = np.flatnonzero(actor == CHANCE)
        if not len(chance_nodes):
            board: Array = np.broadcast_to(np.int32(0), actor.shape)
            return board, (np.array(rows0), np.array(rows1))
        board = np.zeros(len(actor), np.int32)
        for node in chance_nodes:
            child = node + 1
            for outcome in self.layout.chance_outcomes[self.layout.index[node]]:
                alive0, alive1 = rows0[board[node]].copy(), rows1[board[node]].copy()
                alive0[list(outcome.dead[0])] = False
                alive1[list(outcome.dead[1])] = False
                possible = joint & alive0[:, None] & alive1[None, :]
                board[child : end[child]] = len(rows0)
                rows0.append(possible.any(axis=1))
                rows1.append(possible.any(axis=0))
                child = end[child]
        return board, (np.array(rows0), np.array(rows1))

    @cached_property
    def infoset_count(self) -> int:
        """Number of information sets that some deal reaches."""
        return self._count_weighted(np.ones_like(self.nodes.width))

    @cached_property
    def action_count(self) -> int:
        """Number of actions, summed over the information sets that some deal reaches."""
        return self._count_weighted(self.nodes.width)

    def _count_weighted(self, weight: Array) -> int:
        total = 0
        for player in (0, 1):
            alive = self.possible_hands[player].sum(axis=1)
            own_nodes = self.nodes.actor == player
            if len(alive) == 1:
                total += int(weight[own_nodes].sum(dtype=np.int64)) * int(alive[0])
            else:
                total += int((weight[own_nodes].astype(np.int64) * alive[self.board_of_node[own_nodes]]).sum())
        return total

    @cached_property
    def constant_sum(self) -> float | None:
        """Sum of both players' payoffs at every terminal; None if it is not constant."""
        first, second = self.player_arrays
        sums = first.pay + second.pay[:, ::-1]
        compares = np.flatnonzero(first.kind == COMPARE_PAYOFF)
        orders = first.row[compares]
        without_ties = compares[np.all(first.below[orders] == first.upto[orders], axis=1)]
        sums[without_ties, 1] = sums[without_ties, 0]  # no ties occur, so their payoff does not matter
        parts = [sums[first.kind != MATRIX_PAYOFF].ravel()]
        parts += [(own + opp.T).ravel() for own, opp in zip(first.matrix, second.matrix, strict=True)]
        return constant_sum_of(np.concatenate(parts))

    # --- names ------------------------------------------------------------------------------

    def labels(self, node: int) -> tuple[str, ...]:
        """Return the labels of the actions or outcomes at a node.

        Parameters
        ----------
        node
            Index of a node, in preorder.
        """
        index = int(self.layout.index[node])
        who = self.nodes.actor[node]
        if who == CHANCE:
            return tuple(o.label for o in self.layout.chance_outcomes[index])
        return () if who == TERMINAL else self.layout.action_labels[index]

    def line(self, node: int) -> str:
        """Return the public actions that lead to a node.

        Parameters
        ----------
        node
            Index of a node, in preorder.
        """
        line = ""
        for ancestor, k in self.path(node):
            line = append_label(line, self.joiner, self.labels(ancestor)[k])
        return line

    def path(self, node: int) -> list[tuple[int, int]]:
        """Return the ancestors of a node from the root on, each with the index of the child on the path.

        Parameters
        ----------
        node
            Index of a node, in preorder.
        """
        path: list[tuple[int, int]] = []
        here = 0
        while here != node:
            children = enumerate(self.children(here))
            k, child = next((k, child) for k, child in children if child <= node < self.nodes.end[child])
            path.append((here, k))
            here = child
        return path

    def node(self, line: str) -> int:
        """Return the node that a line leads to.

        Parameters
        ----------
        line
            Labels of the actions and outcomes from the root, joined as the game joins them.
        """
        here, rest = 0, line
        while rest:
            matches = [
                (len(label), child)
                for child, label in zip(self.children(here), self.labels(here), strict=True)
                if rest.startswith(label)
            ]
            if not matches:
                so_far = line[: len(line) - len(rest)]
                raise InputError(
                    f"{self.name}: no action {rest!r} at {so_far!r}: {', '.join(self.labels(here)) or 'the game is over'}"
                )
            length, here = max(matches)
            rest = rest[length:].removeprefix(self.joiner)
        return here

    def infoset(self, name: str) -> Infoset:
        """Return an information set by its name, `hand:line`.

        Parameters
        ----------
        name
            Name of the information set, `hand:line`.
        """
        hand, colon, line = name.partition(":")
        if not colon:
            raise InputError(
                f"{self.name}: information set {name!r}: write hand:line, such as {next(self.infosets()).name!r}"
            )
        node = self.node(line)
        player = int(self.nodes.actor[node])
        if player < 0:
            raise InputError(f"{self.name}: nobody acts at {line!r}")
        if hand not in self.hands[player]:
            names = ", ".join(self.hands[player])
            raise InputError(f"{self.name}: player {player} acts at {line!r} and has no hand {hand!r} (hands: {names})")
        index = self.hands[player].index(hand)
        if not self.possible_hands[player][self.board_of_node[node], index]:
            raise InputError(f"{self.name}: hand {hand!r} is not possible at {line!r}")
        return self._infoset(node, index, line)

    def _infoset(self, node: int, hand: int, line: str) -> Infoset:
        player = int(self.nodes.actor[node])
        stride = self.hand_counts[player]
        offset = self.player_offsets[player] + int(self.nodes.data[node]) * stride + hand
        return Infoset(f"{self.hands[player][hand]}:{line}", player, self.labels(node), offset, stride)

    def player_tables(self, table: Array) -> tuple[Array, Array]:
        """Split a flat table into the players' rows. float [rows of player p, hands of player p]

        Parameters
        ----------
        table
            Flat table, float [table_size].
        """
        parts = table[: self.player_offsets[1]], table[self.player_offsets[1] :]
        first, second = (part.reshape(-1, hands) for part, hands in zip(parts, self.hand_counts, strict=True))
        return first, second

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield every decision node with the line that leads to it, in preorder."""
        open_nodes: list[tuple[int, str, Iterator[str]]] = []  # end of subtree, line, labels to come
        for node, (who, end) in enumerate(zip(self.nodes.actor, self.nodes.end, strict=True)):
            while open_nodes and node >= open_nodes[-1][0]:
                open_nodes.pop()
            line = ""
            if open_nodes:
                _, parent_line, labels = open_nodes[-1]
                line = append_label(parent_line, self.joiner, next(labels))
            if who != TERMINAL:
                open_nodes.append((int(end), line, iter(self.labels(node))))
            if who >= 0:
                yield node, line

    def infosets(self) -> Iterator[Infoset]:
        """Yield all information sets, in preorder, then by hand."""
        for node, line in self.lines():
            player = int(self.nodes.actor[node])
            for hand in np.flatnonzero(self.possible_hands[player][self.board_of_node[node]]):
                yield self._infoset(node, int(hand), line)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that a strategy for this tree depends on."""
        digest = hashlib.sha256()
        for array in (self.layout.actor, self.layout.end, self.layout.index):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr((self.layout.action_labels, self.layout.chance_outcomes, self.hands)).encode())
        for side in self.player_arrays:
            for array in side:
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _make_nodes(layout: PublicTreeLayout) -> tuple[TreeNodes, list[int]]:
    """Return the nodes, and the number of table rows of each player: one for each action, numbered in preorder."""
    width, data = np.zeros(len(layout.actor), np.int16), layout.index.astype(np.int64)
    rows = []
    for who, labels in ((CHANCE, layout.chance_outcomes), (0, layout.action_labels), (1, layout.action_labels)):
        own, widths = np.flatnonzero(layout.actor == who), np.array([len(each) for each in labels], np.int64)
        width[own] = widths[layout.index[own]]
        if who == CHANCE:  # the first outcome; equal chance events are stored once
            data[own] = (np.cumsum(widths) - widths)[layout.index[own]]
        else:
            data[own] = np.cumsum(width[own], dtype=np.int64) - width[own]
            rows.append(int(width[own].sum(dtype=np.int64)))
    return TreeNodes(layout.actor, layout.end, width, data), rows


def _strength_counts(pairs: list[tuple[Array, Array]], orders: list[Array], side: Literal["left", "right"]) -> Array:
    """Count the opponent's hands that each hand beats (left), or beats or ties (right). int32 [pairs, own hands]

    `pairs`: strengths of the player's and of the opponent's hands; `orders`: the opponent's hands from weak to strong.
    """
    counts = [np.searchsorted(theirs[order], mine, side) for (mine, theirs), order in zip(pairs, orders, strict=True)]
    return np.array(counts, np.int32)
