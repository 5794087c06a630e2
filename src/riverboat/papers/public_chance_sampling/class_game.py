"""Poker whose hands are classes with a memory: all that matters of the cards is how often two classes meet, and who wins.

Where every class tells the class before it (perfect recall), a game of cards is a tree of betting and, on each street, the
joint distribution of both players' classes. Best responses and CFR then need no boards: reach probabilities of all terminals
of a street are one matrix, and one product with the joint counts values them. Percentile buckets are such classes, and so
is what GameShrink leaves of Rhode Island hold'em.

Seats are alike: a pair of classes is as likely either way round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.tabular.best_response import Quality

DENSE = 4  # times as many numbers as there are pairs that blocks may have
ROOTS = 96  # subtrees of the next street that are walked at a time: memory is terminals of so many × classes


@dataclass(frozen=True, eq=False)
class ClassGame:
    """A tree of betting, and how classes follow and meet each other."""

    tree: ActionTree
    parents: tuple[Array, ...]  # int64 [classes of a street]: the class of the street before; zeros on the first
    meets: Any  # float [classes, classes] on the last street: probability that seats hold the two; an array, or csr
    wins: Any  # the same: of that, how much more often the first wins than the second

    def __post_init__(self) -> None:
        if len(self.parents) != self.tree.rules.rounds:
            raise InputError(f"classes of {len(self.parents)} streets: the game has {self.tree.rules.rounds}")
        last = len(self.parents[-1])
        if self.meets.shape != (last, last) or self.wins.shape != (last, last):
            raise InputError(
                f"counts of shape {self.meets.shape} and {self.wins.shape}: {last} classes meet each other"
            )

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Classes of each street."""
        return tuple(len(above) for above in self.parents)

    @cached_property
    def folds(self) -> tuple[Array, ...]:
        """Whether a class belongs to one of the street before, as sums over it. csr [classes before, classes]"""
        matrices = []
        for street, above in enumerate(self.parents):
            before = self.counts[street - 1] if street else 1
            ones = np.ones(len(above), self.meets.dtype)
            matrices.append(csr_array((ones, (above, np.arange(len(above)))), shape=(before, len(above))))
        return tuple(matrices)

    @cached_property
    def meetings(self) -> tuple[Any, ...]:
        """How likely two classes of each street are to meet: sums of those that follow them."""
        tables = [self.meets]
        for fold in reversed(self.folds[1:]):
            tables.append(fold @ tables[-1] @ fold.T)
        return tuple(reversed(tables))

    @cached_property
    def against(self) -> tuple[Callable[[Array], Array], ...]:
        """For each street how often a class meets what arrives, and last how much more often it wins. [rows, classes] both"""
        return tuple(products(table) for table in (*self.meetings, self.wins))


def products(table: Any) -> Callable[[Array], Array]:
    """Rows times a table of pairs. Where classes of one board never meet those of another, board by board."""
    if not isinstance(table, csr_array):
        return lambda rows: rows @ table.T
    count, board = connected_components(table, directed=False)
    size = np.bincount(board, minlength=count)
    if count * int(size.max()) ** 2 > DENSE * table.nnz:
        return lambda rows: np.asarray(rows @ table.T)
    order = np.argsort(board, kind="stable")
    place = np.empty(len(board), np.int64)  # of a class among those of its board
    place[order] = np.arange(len(board)) - np.repeat(np.cumsum(size) - size, size)
    pairs = table.tocoo()
    blocks = np.zeros((count, size.max(), size.max()), table.dtype)
    blocks[board[pairs.row], place[pairs.row], place[pairs.col]] = pairs.data
    spot = board * size.max() + place

    def times(rows: Array) -> Array:
        lined = np.zeros((count * size.max(), len(rows)), rows.dtype)
        lined[spot] = rows.T
        met = blocks @ lined.reshape(count, size.max(), len(rows))
        shares: Array = met.reshape(lined.shape)[spot].T
        return shares

    return times


class Player(Protocol):
    """How a walk values the decisions of one seat, and what it meets at those of the other."""

    def theirs(self, node: int, street: int, reach: Array) -> Array:
        """What the other plays. float [moves, classes]"""
        ...

    def mine(self, node: int, street: int, moves: Array) -> Array:
        """The value of a decision from those of its moves, float [moves, classes]."""
        ...


def walk(game: ClassGame, seat: int, player: Player) -> Array:
    """Values of a seat's classes on the first street, times their probability. float [classes]"""
    reach = np.ones((1, game.counts[0]), game.meets.dtype)
    values: Array = _street(game, seat, player, 0, [0], reach)[0]
    return values


def _street(game: ClassGame, seat: int, player: Player, street: int, roots: Sequence[int], reach: Array) -> Array:
    """Values at nodes where a street begins, given the other's reach there. float [roots, classes] both"""
    tree = game.tree
    arrived: dict[int, Array] = {}  # the other's reach at what ends the street
    order: list[int] = []  # decisions, parents first
    work = [(node, reach[k]) for k, node in enumerate(roots)]
    while work:
        node, here = work.pop()
        if tree.actor[node] < 0 or tree.street[node] != street:
            arrived[node] = here
            continue
        order.append(node)
        if tree.actor[node] == seat:
            work += [(child, here) for child in tree.children(node)]
        else:
            shares = player.theirs(node, street, here)
            work += [(child, here * share) for child, share in zip(tree.children(node), shares, strict=True)]
    value = _ends(game, seat, player, street, arrived)
    for node in reversed(order):
        moves = np.stack([value.pop(child) for child in tree.children(node)])
        value[node] = player.mine(node, street, moves) if tree.actor[node] == seat else moves.sum(axis=0)
    return np.stack([value[node] for node in roots])


def _ends(game: ClassGame, seat: int, player: Player, street: int, arrived: dict[int, Array]) -> dict[int, Array]:
    """Values of terminals, and of what the next street makes of the others."""
    tree = game.tree
    value: dict[int, Array] = {}
    over = [node for node in arrived if tree.actor[node] < 0]
    shown = [node for node in over if tree.showdown[node]]
    folded = [node for node in over if not tree.showdown[node]]
    if shown and street != len(game.counts) - 1:
        raise InputError("an all-in before the last street: classes of the last one would be needed")
    for nodes, table, sign in ((shown, game.against[-1], 1.0), (folded, game.against[street], 1.0 - 2.0 * seat)):
        if nodes:
            pay = (sign * tree.pay[nodes]).astype(game.meets.dtype)
            shares = table(np.stack([arrived[node] for node in nodes], dtype=pay.dtype))
            value |= dict(zip(nodes, pay[:, None] * shares, strict=True))
    onward = [node for node in arrived if tree.actor[node] >= 0]
    for first in range(0, len(onward), ROOTS):
        nodes = onward[first : first + ROOTS]
        reach = np.stack([arrived[node] for node in nodes])[:, game.parents[street + 1]]
        below = _street(game, seat, player, street + 1, nodes, reach)
        value |= dict(zip(nodes, np.asarray(game.folds[street + 1] @ below.T).T, strict=True))
    return value


# --- strategies and best responses ----------------------------------------------------------------


class Fixed:
    """Both play tables of probabilities; a responder takes its best moves instead."""

    def __init__(self, game: ClassGame, tables: Sequence[Array], *, respond: bool) -> None:
        for street, (table, count) in enumerate(zip(tables, game.counts, strict=True)):
            if table.shape != (count, game.tree.width[street]):
                raise InputError(f"a table of shape {table.shape} on street {street}: {count} classes")
        self.tree, self.tables, self.respond = game.tree, tables, respond

    def theirs(self, node: int, street: int, reach: Array) -> Array:
        """As the tables say."""
        at = int(self.tree.slot[node])
        return self.tables[street][:, at : at + int(self.tree.count[node])].T

    def mine(self, node: int, street: int, moves: Array) -> Array:
        """The best move, or what the tables say."""
        worth: Array = moves.max(axis=0) if self.respond else (self.theirs(node, street, moves) * moves).sum(axis=0)
        return worth


def class_quality(game: ClassGame, tables: Sequence[Array], *, self_play: bool = True) -> Quality:
    """Best responses that see classes, and the value of the tables, float [classes, width] by street, in chips a hand.

    Without `self_play` the value is left out: exploitability needs none.
    """
    best = [float(walk(game, seat, Fixed(game, tables, respond=True)).sum(dtype=np.float64)) for seat in (0, 1)]
    own = float(walk(game, 0, Fixed(game, tables, respond=False)).sum(dtype=np.float64)) if self_play else nan
    return Quality((best[0], best[1]), (own, -own))


# --- learning -------------------------------------------------------------------------------------


class ClassCFR:
    """CFR+ over classes: regrets are floored at zero, iteration t weighs t in the average, seats learn in turn."""

    def __init__(self, game: ClassGame) -> None:
        self.game, self.iterations = game, 0
        tree, kind = game.tree, game.meets.dtype
        shape = {
            node: (int(tree.count[node]), game.counts[int(tree.street[node])])
            for node in np.flatnonzero(tree.actor >= 0)
        }
        self.regret = {int(node): np.zeros(size, kind) for node, size in shape.items()}
        self.sums = {int(node): np.zeros(size, kind) for node, size in shape.items()}

    def step(self, iterations: int = 1) -> None:
        """Learn for so many iterations, both seats in each."""
        for _ in range(iterations):
            self.iterations += 1
            for seat in (0, 1):
                walk(self.game, seat, self)

    def theirs(self, node: int, street: int, reach: Array) -> Array:
        """What the other plays now, which adds to its average."""
        played = _shares(self.regret[node])
        self.sums[node] += self.iterations * reach * played
        return played

    def mine(self, node: int, street: int, moves: Array) -> Array:
        """The value of what is played now; what moves are better by is learnt."""
        regret = self.regret[node]
        value: Array = (_shares(regret) * moves).sum(axis=0)
        regret += moves - value
        np.maximum(regret, 0.0, out=regret)
        return value

    def averages(self) -> list[Array]:
        """The average strategy, by street. float [classes, width]"""
        tree = self.game.tree
        tables = [
            np.zeros((n, int(w)), self.game.meets.dtype) for n, w in zip(self.game.counts, tree.width, strict=True)
        ]
        for node, sums in self.sums.items():
            at = int(tree.slot[node])
            tables[int(tree.street[node])][:, at : at + len(sums)] = _shares(sums).T
        return tables

    def quality(self) -> Quality:
        """Of the average strategy, exact."""
        return class_quality(self.game, self.averages())


def _shares(weights: Array) -> Array:
    """Columns as probabilities, even where there is nothing."""
    total = weights.sum(axis=0)
    empty = total <= 0
    total[empty] = 1
    shares: Array = weights / total
    shares[:, empty] = 1.0 / len(weights)
    return shares
