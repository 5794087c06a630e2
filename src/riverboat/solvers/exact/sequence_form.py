"""`SequenceForm`: a two-player game as two treeplexes and a sparse pay-off matrix.

A sequence is what one player has done so far; a *realization plan* gives each sequence the product of the
player's probabilities along it. Plans are the x >= 0 with E x = e, pay-offs are bilinear in them, and so a
game becomes a linear program whose size is that of the game tree (Koller, Megiddo & von Stengel 1996).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Array
from riverboat.solvers.exact import _kernels as _treeplex_kernels
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees._kernels import tree as _kernels
from riverboat.trees.compile import histories
from riverboat.trees.history import HistoryTree, Treeplex


class SequenceForm:
    """The sequence form of a two-player tree in which nobody forgets."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.histories: HistoryTree = histories(tree)
        if self.histories.players != 2:
            raise InputError(
                f"{tree.name}: {self.histories.players} players; the sequence form is for two, "
                f"use a CFR schedule instead"
            )
        self.treeplexes: tuple[Treeplex, Treeplex] = self.histories.treeplex(0), self.histories.treeplex(1)
        # Where pay-offs sum to a constant, half of it is taken from each player, so that they cancel.
        self.half = (self.histories.constant_sum or 0.0) / 2
        self.payoffs = self._payoffs(0), self._payoffs(1)  # csr [own sequences, the other's sequences]

    @property
    def name(self) -> str:
        """Of the game."""
        return self.tree.name

    @property
    def matrix(self) -> Any:
        """A: what player 0 gets, less `half`, weighted by chance. csr [sequences of player 0, sequences of player 1]"""
        return self.payoffs[0]

    def _payoffs(self, player: int) -> Any:
        """A player's pay-offs with its own sequences as rows. Histories with equal sequences add up."""
        tree = self.histories
        ends = np.flatnonzero(tree.nodes.actor == TERMINAL)
        pay = tree.chance_reach[ends] * (tree.payoffs[tree.nodes.data[ends], player] - self.half)
        own, other = tree.last_sequence[ends, player], tree.last_sequence[ends, 1 - player]
        shape = self.treeplexes[player].sequences, self.treeplexes[1 - player].sequences
        matrix = csr_array((pay, (own, other)), shape=shape)
        matrix.eliminate_zeros()
        return matrix

    def constraints(self, player: int) -> tuple[Any, Array]:
        """E and e: the plans are the x >= 0 with E x = e. csr [1 + infosets, sequences], float64 [1 + infosets]

        Row 0 sets the empty sequence to one; row i + 1 says that the moves at information set i share what
        arrives there.
        """
        plex = self.treeplexes[player]
        sets = np.arange(1, len(plex.parent) + 1)
        rows = np.concatenate([[0], sets, np.repeat(sets, plex.width)])
        columns = np.concatenate([[0], plex.parent, np.arange(1, plex.sequences)])
        values = np.ones(len(rows))
        values[1 : len(sets) + 1] = -1.0
        right = np.zeros(len(sets) + 1)
        right[0] = 1.0
        return csr_array((values, (rows, columns)), shape=(len(right), plex.sequences)), right

    # --- plans and strategies ---------------------------------------------------------------

    def plan(self, strategy: Strategy, player: int) -> Array:
        """The realization plan of a player's half of a strategy. float64 [sequences]"""
        if strategy.tree is not self.tree and strategy.tree.fingerprint != self.tree.fingerprint:
            raise InputError(f"{self.tree.name}: the strategy is for another tree ({strategy.tree.name})")
        origin = self._places(player)
        plex = self.treeplexes[player]
        behaviour = np.ones(plex.sequences)
        behaviour[1:] = strategy.probabilities[origin]
        plan = np.empty(plex.sequences)
        _treeplex_kernels.expand(plex.parent, plex.first, plex.width, behaviour, plan)
        return plan

    def plans(self, strategy: Strategy) -> tuple[Array, Array]:
        """The realization plans of both players."""
        return self.plan(strategy, 0), self.plan(strategy, 1)

    def strategy(self, x: Array, y: Array, provenance: Mapping[str, Any] | None = None) -> Strategy:
        """The behaviour of two plans, on the tree that was given.

        Uniform at information sets that a player's own plan never reaches: the plan says nothing there.
        """
        sums = np.zeros(self.tree.table)
        for player, plan in enumerate((x, y)):
            if plan.shape != (self.treeplexes[player].sequences,):
                raise InputError(
                    f"{self.tree.name}: a plan of shape {plan.shape} for player {player}, who has "
                    f"{self.treeplexes[player].sequences} sequences"
                )
            sums[self._places(player)] = np.maximum(plan[1:], 0.0)
        return Strategy.from_sums(self.tree, sums, provenance)

    def _places(self, player: int) -> Array:
        """Where each sequence but the empty one lives in the table of the given tree."""
        table: Array = self.treeplexes[player].table[1:]
        return table if self.histories is self.tree or self.histories.origin is None else self.histories.origin[table]

    def likings(self, table: Array, player: int) -> Array:
        """Numbers of the tree's table as numbers of a player's sequences; the empty one has none. float64 [sequences]"""
        return np.concatenate([[0.0], table[self._places(player)]])

    # --- values -----------------------------------------------------------------------------

    def value(self, x: Array, y: Array) -> float:
        """What player 0 expects: x'A y, and its half of what pay-offs sum to."""
        return float(x @ (self.matrix @ y)) + self.half

    def respond(self, player: int, other: Array) -> tuple[float, Array]:
        """The most a player can get against the other's plan, less `half`, and a pure plan that gets it."""
        plex = self.treeplexes[player]
        value = self.payoffs[player] @ other
        best = np.empty(len(plex.parent), np.int32)
        _kernels.respond(plex.parent, plex.first, plex.width, value, best)
        behaviour = np.zeros(plex.sequences)
        behaviour[plex.first + best] = 1.0
        plan = np.empty(plex.sequences)
        _treeplex_kernels.expand(plex.parent, plex.first, plex.width, behaviour, plan)
        return float(value[0]), plan

    def bracket(self, x: Array, y: Array) -> tuple[float, float]:
        """What x guarantees to player 0 and what y concedes: the value of a constant-sum game lies between them."""
        return self.half - self.respond(1, x)[0], self.half + self.respond(0, y)[0]
