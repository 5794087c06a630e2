"""Continuation strategies, tables and functions as evaluators of leaves: what solvers of depth-limited subgames use."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol

import numpy as np

from riverboat.core.arrays import normalize, safe_divide
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import Array
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.tree_engine import TreeEngine
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead.leaf_values import (
    BLUEPRINT,
    Continuations,
    Ranges,
    ValueFunction,
    ValueTable,
    biased,
    parse_bias,
)
from riverboat.subgames.lookahead.trees import LeafState, PairEvaluator, normalized_range
from riverboat.trees.public import PublicTree

_FULL_STEP = np.array([1.0, 1.0, -np.inf, 1.0, 1.0, 0.0])  # a step without discounts, floor or rounding bound


def continuation_table(base: Strategy, given: str | Strategy) -> Array:
    """Return the probabilities of a continuation strategy. float64 [table_size]"""
    if isinstance(given, Strategy):
        if given.tree.fingerprint != base.tree.fingerprint:
            raise InputError(
                f"a continuation strategy for {given.tree.name}, which is another game than {base.tree.name}"
            )
        return given.probabilities
    bias = parse_bias(given)
    if bias is None:
        return (base if given == BLUEPRINT else Strategy.uniform(base.tree)).probabilities
    labels = sorted({action for infoset in base.tree.infosets() for action in infoset.actions})
    if not any(fnmatchcase(label, bias[0]) for label in labels):
        raise InputError(f"continuation {given!r}: {base.tree.name} has no such action: {', '.join(labels[:20])}")
    return biased(base, *bias).probabilities


class LeafEvaluator(Protocol):
    """Values leaves during iterations, for engines."""

    def evaluate(self, me: int, own: Array, opponent: Array, step: Array) -> Array:
        """Return counterfactual values of the leaves for one player. float64 [leaves, its hands]

        `own`, `opponent`: weights of both players' hands at each leaf, float64 [leaves, hands]; `step`: as in
        `traversal.traverse`.
        """


class LeafEngine(TreeEngine):
    """Engine of a depth-limited tree whose leaves an evaluator values in each traversal."""

    def __init__(self, tree: PublicTree, leaves: Array, evaluator: LeafEvaluator) -> None:
        super().__init__(tree, np.float64)
        self.evaluator, counts = evaluator, tree.hand_counts
        self.leaf_cuts = tuple(
            traversal.SubtreeCuts(
                leaves.astype(np.int32), *(np.zeros((len(leaves), counts[p])) for p in (me, me, 1 - me))
            )
            for me in (0, 1)
        )

    def traverse(self, me: int, tables: traversal.RegretTables, mode: int, step: Array = _FULL_STEP) -> Array:
        """Collect the reach at the leaves, value them, and traverse the tree with these values."""
        sides, frames, cuts = self.tree.player_arrays, self.player_frames[me], self.leaf_cuts[me]
        for each in (traversal.COLLECT_REACH, mode):
            frames.own[0], frames.opp[0] = 1.0, sides[me].weight_opp
            self._traverse_from(me, 0, tables, step, each, frames, cuts)
            if each == traversal.COLLECT_REACH and len(cuts.node):
                # The weights of a player's hands are those that its opponent's traversals begin with.
                cuts.value[:] = self.evaluator.evaluate(me, cuts.own * sides[1 - me].weight_opp, cuts.opp, step)
        return np.array(frames.value[0])


# --- continuation strategies ---


class ContinuationModel:
    """Leaf values by continuation strategies, for one searching player."""

    def __init__(self, base: Strategy, player: int, choice: Continuations) -> None:
        assert isinstance(base.tree, PublicTree)
        self.tree, self.base, self.player, self.choice = base.tree, base, player, choice
        self.pairs = PairEvaluator(base.tree)
        self.opponents = [continuation_table(base, given) for given in choice.strategies]

    def payoffs(self, leaves: Sequence[int], responses: Sequence[Array] = ()) -> list[list[tuple[Array, Array]]]:
        """Return both players' payoffs for pairs of hands, for each leaf and continuation of the opponent."""
        own, found = self.base.probabilities, []
        for leaf in leaves:
            row = []
            for other in (*self.opponents, *responses):
                values = self.pairs.values(leaf, *((own, other) if self.player == 0 else (other, own)))
                row.append((values, -values))
            found.append(row)
        return found

    def simultaneous(self, leaves: Sequence[int]) -> SimultaneousChoices:
        """Return an evaluator for leaves at which both players choose."""
        values = [[[self.pairs.values(leaf, a, b) for b in self.opponents] for a in self.opponents] for leaf in leaves]
        return SimultaneousChoices(np.array(values), self.tree.deal.joint() > 0)


class SimultaneousChoices:
    """Leaves at which both players choose a continuation by regret matching+, each with its hand, at the same time."""

    def __init__(self, values: Array, compatible: Array) -> None:
        self.values = values * compatible  # float64 [leaves, continuations, continuations, hands 0, hands 1]
        count, own, other, first, second = values.shape
        self.regrets = np.zeros((count, own, first)), np.zeros((count, other, second))

    def evaluate(self, me: int, own: Array, opponent: Array, step: Array) -> Array:
        strategies = [normalize(regret, axis=1) for regret in self.regrets]
        weighted = strategies[1 - me] * opponent[:, None]
        equation = "nabij,nbj->nai" if me == 0 else "nabij,nai->nbj"
        by_choice = np.einsum(equation, self.values if me == 0 else -self.values, weighted)
        value: Array = (strategies[me] * by_choice).sum(axis=1)
        self.regrets[me][:] = np.maximum(self.regrets[me] + by_choice - value[:, None], 0.0)
        return value


# --- values by hand ---


class HandValues(Protocol):
    """Values of public states by hand."""

    def values(self, nodes: Sequence[int], ranges: Ranges) -> tuple[Array, Array]:
        """Return the value of each hand of both players, given the hand. float64 [states, hands of player p]"""


class TableValues:
    """Values of a table by line."""

    def __init__(self, tree: PublicTree, table: ValueTable) -> None:
        self.tree, self.table = tree, table

    def values(self, nodes: Sequence[int], ranges: Ranges) -> tuple[Array, Array]:
        found: tuple[list[Array], list[Array]] = ([], [])
        for node in nodes:
            line = self.tree.line(node)
            if line not in self.table:
                raise InputError(
                    f"{self.tree.name}: leaves: the table has no values at {line!r}; "
                    "value_table(strategy) has all public states"
                )
            for player, row in enumerate(_check_values(self.tree, self.table[line], (), f"the table at {line!r}")):
                found[player].append(row)
        shapes = [(-1, hands) for hands in self.tree.hand_counts]
        return np.array(found[0]).reshape(shapes[0]), np.array(found[1]).reshape(shapes[1])


class FunctionValues:
    """Values of a function of public states and ranges."""

    def __init__(self, tree: PublicTree, function: ValueFunction) -> None:
        self.tree, self.function = tree, function
        self.states: dict[int, LeafState] = {}

    def values(self, nodes: Sequence[int], ranges: Ranges) -> tuple[Array, Array]:
        states = [self.states.setdefault(node, LeafState(self.tree, node)) for node in nodes]
        return _check_values(self.tree, self.function(states, ranges), (len(states),), "the value function")


def _check_values(tree: PublicTree, given: Any, batch: tuple[int, ...], source: str) -> tuple[Array, Array]:
    """Return both players' values as arrays; raise InputError for another number, shape, or numbers that are not finite."""
    is_pair = isinstance(given, Sequence) or (isinstance(given, np.ndarray) and given.ndim > 0)
    if not is_pair or len(given) != 2:
        raise InputError(
            f"{tree.name}: leaves: {source}: {short_repr(given)} must be a pair: one array for each player"
        )
    arrays = []
    for player, values in enumerate(given):
        shape = (*batch, tree.hand_counts[player])
        try:
            array = np.asarray(values, float)
        except (TypeError, ValueError):
            raise InputError(
                f"{tree.name}: leaves: {source}: values of player {player} must be numbers, in an array of shape {shape}"
            ) from None
        if array.shape != shape:
            raise InputError(
                f"{tree.name}: leaves: {source}: values of shape {array.shape} for player {player}: must be {shape}"
                + (", a row for each public state and a column for each hand" if batch else ", one for each hand")
            )
        if not np.isfinite(array).all():
            wrong = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise InputError(
                f"{tree.name}: leaves: {source}: the value of player {player} at {wrong} is {array[wrong]}: must be finite"
            )
        arrays.append(array)
    return arrays[0], arrays[1]


class BatchEvaluator:
    """Evaluates the leaves of one depth-limited tree by a function, and averages their values over the iterations."""

    def __init__(self, values: HandValues, tree: PublicTree, leaves: Sequence[int]) -> None:
        self.source, self.leaves = values, leaves
        self.compatible = tree.deal.joint() > 0
        boards = tree.board_of_node[list(leaves)]
        self.possible = [tree.possible_hands[player][boards].astype(float) for player in (0, 1)]
        self.sums = [np.zeros((2, len(leaves), hands)) for hands in tree.hand_counts]  # values and weights
        self.last = [np.zeros((len(leaves), hands)) for hands in tree.hand_counts]

    def evaluate(self, me: int, own: Array, opponent: Array, step: Array) -> Array:
        ranges = normalized_range(own, self.possible[me]), normalized_range(opponent, self.possible[1 - me])
        by_hand = self.source.values(self.leaves, ranges if me == 0 else ranges[::-1])[me]
        weight = opponent @ (self.compatible.T if me == 0 else self.compatible) * self.possible[me]
        value: Array = by_hand * weight
        self.sums[me][:] = self.sums[me] * step[3] + np.array([value, weight])
        self.last[me][:] = by_hand
        return value

    def averages(self) -> list[Array]:
        """Return the average value of each hand, given the hand, by player: the last one if no iteration has weight.

        float64 [leaves, hands]
        """
        return [safe_divide(sums[0], sums[1], last) for sums, last in zip(self.sums, self.last, strict=True)]


def hand_payoffs(values: Sequence[Array]) -> list[list[tuple[Array, Array]]]:
    """Return payoffs of leaves that depend on the own hand only, as `limited_tree` needs them."""
    shape = values[0].shape[1], values[1].shape[1]
    pairs = zip(*values, strict=True)
    return [[(np.broadcast_to(a[:, None], shape), np.broadcast_to(b[None], shape))] for a, b in pairs]
