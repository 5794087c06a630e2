"""The sequence form of a game of classes: how large its linear program is, and the program itself where that is small.

A sequence is a class and a move at one of the player's decisions. The program of one player has a row for each of its own
information sets and for each sequence of the other, one more for its empty sequence, and as many columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.papers.public_chance_sampling.class_game import ClassGame, class_quality
from riverboat.solvers.exact.lp import Program
from riverboat.solvers.tabular.best_response import Quality

MOST_ENTRIES = 20_000_000  # of the pay-off matrix of a program that is made


@dataclass(frozen=True)
class Size:
    """How large a linear program is."""

    sequences: int
    infosets: int
    payoffs: int  # entries that are not zero

    @property
    def rows(self) -> int:
        """Rows, and columns."""
        return self.sequences + self.infosets + 1

    @property
    def entries(self) -> int:
        """All that is not zero: both players' constraints, and pay-offs."""
        return self.payoffs + 2 * (self.sequences + self.infosets)


def sizes(game: ClassGame) -> Size:
    """Of the program of seat 0. Counted, not made."""
    tree = game.tree
    mine, over = tree.actor == 0, tree.actor < 0
    sequences, infosets = 1, 0
    payoffs = int(tree.showdown.sum()) * _filled(game.wins)
    for street, classes in enumerate(game.counts):
        here = mine & (tree.street == street)
        infosets += classes * int(here.sum())
        sequences += classes * int(tree.count[here].sum(dtype=np.int64))
        payoffs += int((over & ~tree.showdown & (tree.street == street)).sum()) * _filled(game.meetings[street])
    return Size(sequences, infosets, payoffs)


def _filled(table: Any) -> int:
    """Entries that are not zero."""
    return int(np.count_nonzero(table.data if hasattr(table, "indptr") else table))


class ClassForm:
    """Sequences of both seats, and what they pay."""

    def __init__(self, game: ClassGame) -> None:
        if sizes(game).payoffs > MOST_ENTRIES:
            raise InputError(
                f"{game.tree.rules.name}: a linear program with {sizes(game).payoffs:,} pay-offs: more than "
                f"{MOST_ENTRIES:,}; use CFR"
            )
        self.game = game
        self.name: str = game.tree.rules.name
        self.first: dict[int, int] = {}  # of a decision: its first sequence; class by class, move by move
        self.sequences = [1, 1]
        for node in np.flatnonzero(game.tree.actor >= 0):
            seat = int(game.tree.actor[node])
            self.first[int(node)] = self.sequences[seat]
            self.sequences[seat] += game.counts[int(game.tree.street[node])] * int(game.tree.count[node])
        self.payoffs = self._payoffs()

    def _before(self, node: int, seat: int) -> Array:
        """The last sequence of a seat before a node, for each class there. int64 [classes]"""
        tree, street = self.game.tree, int(self.game.tree.street[node])
        label = np.arange(self.game.counts[street])
        while node:
            above = int(tree.parent[node])
            for s in range(street, int(tree.street[above]), -1):
                label = self.game.parents[s][label]
            street = int(tree.street[above])
            if tree.actor[above] == seat:
                return self.first[above] + label * int(tree.count[above]) + (node - int(tree.first[above]))
            node = above
        return np.zeros(len(label), np.int64)

    def _payoffs(self) -> tuple[Any, Any]:
        """What each seat gets, its own sequences as rows. csr"""
        tree, rows, columns, values = self.game.tree, [], [], []
        for node in np.flatnonzero(tree.actor < 0).tolist():
            street = int(tree.street[node])
            table = coo_array(self.game.wins if tree.showdown[node] else self.game.meetings[street])
            rows.append(self._before(node, 0)[table.coords[0]])
            columns.append(self._before(node, 1)[table.coords[1]])
            values.append(float(tree.pay[node]) * table.data)
        where = np.concatenate(rows), np.concatenate(columns)
        first = csr_array((np.concatenate(values).astype(float), where), shape=tuple(self.sequences))
        first.eliminate_zeros()
        return first, csr_array(-first.T)

    def constraints(self, seat: int) -> tuple[Any, Array]:
        """E and e: plans are the x >= 0 with E x = e. csr [1 + infosets, sequences], float64 [1 + infosets]"""
        tree = self.game.tree
        rows, columns, values, made = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [np.ones(1)], 1
        for node, first in self.first.items():
            if tree.actor[node] != seat:
                continue
            classes, moves = self.game.counts[int(tree.street[node])], int(tree.count[node])
            infosets = made + np.arange(classes)
            rows += [infosets, np.repeat(infosets, moves)]
            columns += [self._before(node, seat), first + np.arange(classes * moves)]
            values += [-np.ones(classes), np.ones(classes * moves)]
            made += classes
        right = np.zeros(made)
        right[0] = 1.0
        where = np.concatenate(rows), np.concatenate(columns)
        return csr_array((np.concatenate(values), where), shape=(made, self.sequences[seat])), right

    @cached_property
    def plans(self) -> tuple[Array, Array]:
        """Optimal realization plans of both seats, by HiGHS."""
        return Program(self, 0).solve()

    def quality(self) -> Quality:
        """Of the equilibrium that the program finds: exact best responses to it."""
        tree = self.game.tree
        tables = [np.zeros((n, int(w))) for n, w in zip(self.game.counts, tree.width, strict=True)]
        for node, first in self.first.items():
            classes, moves = self.game.counts[int(tree.street[node])], int(tree.count[node])
            plan = self.plans[int(tree.actor[node])][first : first + classes * moves].reshape(classes, moves)
            plan = np.maximum(plan, 0.0)
            total = plan.sum(axis=1, keepdims=True)
            shares = np.where(total > 1e-12, plan / np.where(total > 1e-12, total, 1.0), 1.0 / moves)
            at = int(tree.slot[node])
            tables[int(tree.street[node])][:, at : at + moves] = shares
        return class_quality(self.game, tables)
