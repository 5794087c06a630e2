"""Leaf values of depth-limited subgames: selection by name, and two alternatives to rollouts with continuations.

    FixedLeafValues         a table from the blueprint: values of hands in self-play, for all ranges alike
    RegressionLeafValues    a regression fitted to solved subgames: a polynomial in equities and the stack

Both have one continuation. The table is the same for all ranges; the regression depends on both ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.ranges import compatible_weights
from riverboat.core.arrays import Array
from riverboat.core.cache import cached_arrays
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.tables import parse_table_format
from riverboat.solvers.boards.cfr import SEVERAL_STREETS_SCHEDULE, schedule_rows
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.blueprint_game import blueprint_subgame
from riverboat.subgames.database.database import ReachedStreet, sample_reached_streets
from riverboat.subgames.depth_limited.rollouts import CONTINUATIONS, NUM_RUNOUTS, RolloutLeafValues, group_hands
from riverboat.subgames.depth_limited.solver import (
    SHOWDOWN_NODE,
    BlueprintLeaf,
    CompatibleWeights,
    DepthLimitedSolver,
    DepthLimitedStreet,
    LeafValues,
    SingleLeafValues,
    has_later_betting,
    unblocked_hands,
)
from riverboat.trees.boards import BoardTree

RIDGE_PENALTY = 1e-3
MIN_WEIGHT = 1e-4  # relative to the largest weight


class FixedLeafValues(SingleLeafValues):
    """Fixed value of each hand at each leaf, in chips, independent of the ranges."""

    def __init__(self, hands: Array, searching: Array, other: Array) -> None:
        """Set the values of the searching seat and of the other one, given the hand. float64 [leaves, hands] each"""
        self.hand_values, self.compatible_weights = (searching, other), CompatibleWeights(hands)

    @staticmethod
    def from_rollouts(rollouts: RolloutLeafValues, hands: Array, reach: Array) -> FixedLeafValues:
        """Compute mean values of blueprint rollouts over ranges. float64 [2 (the searching seat first), leaves, hands]

        Every hand gets a minimum weight, and an empty range counts as uniform: otherwise a hand without compatible
        opponents would have value 0, even quads.
        """
        compatible, largest = CompatibleWeights(hands), reach.max(axis=2, keepdims=True)
        reach = np.where(largest > 0, np.maximum(reach, MIN_WEIGHT * largest), 1.0)
        continuation_reach = np.zeros((reach.shape[1], rollouts.num_continuations, reach.shape[2]))
        continuation_reach[:, 0] = reach[1]  # the first continuation is the blueprint
        other = rollouts.opponent_values(reach)[:, 0] / np.maximum(compatible(reach[0]), 1e-9)
        searching = rollouts.searcher_values(reach, continuation_reach) / np.maximum(compatible(reach[1]), 1e-9)
        return FixedLeafValues(hands, searching, other)

    def values(self, reach: Array, side: int) -> Array:
        """Return counterfactual values of a side: 0 is the searching seat, 1 the opponent. float64 [leaves, hands]"""
        return self.hand_values[side] * self.compatible_weights(reach[1 - side])


def leaf_pair_equities(rollouts: RolloutLeafValues, leaf: int) -> Array:
    """Return the opponent's equity with each hand against each hand of the searching seat. float64 [hands, hands]

    It comes from the rollouts of a leaf without further betting.
    """
    pair = rollouts.values[leaf, 0] / rollouts.pots[leaf]
    equities: Array = pair[np.ix_(rollouts.groups, rollouts.groups)].astype(np.float64)
    return equities


def leaf_features(equity: Array, mean: Array, stacks: Array, acts_first: float) -> Array:
    """Return the regression's features of hands at leaves. [..., hands] -> [..., hands, n]

    `equity` is that of a hand, `mean` that of its whole range, `stacks` are in pots, and `acts_first` is 1 for seat 0.
    """
    e, m, s = np.broadcast_arrays(equity, mean, np.log1p(stacks))
    p = np.full_like(e, acts_first)
    base = [np.ones_like(e), e, e**2, e**3, e**4]
    return np.stack([*base, *(b * m for b in base[:3]), *(b * s for b in base), *(b * p for b in base[:3])], axis=-1)


class LeafValueRegression(NamedTuple):
    """Ridge regression of values in pots on features."""

    weights: Array  # float64 [features]

    @staticmethod
    def fit(inputs: Sequence[Array], targets: Sequence[Array], weights: Sequence[Array]) -> LeafValueRegression:
        """Fit the regression to solved subgames: rows of features, values in pots, and weights of hands."""
        if not inputs:
            raise InputError("no training data: give at least one solved subgame")
        x, y, w = (np.concatenate(part) for part in (inputs, targets, weights))
        scaled = x * w[:, None]
        gram = scaled.T @ x + RIDGE_PENALTY * w.sum() * np.eye(x.shape[1]) * 1e-3
        return LeafValueRegression(np.linalg.solve(gram, scaled.T @ y))

    def __call__(self, inputs: Array) -> Array:
        return inputs @ self.weights


class RegressionLeafValues(SingleLeafValues):
    """Leaf values by regression; showdown values where no further betting is possible."""

    def __init__(
        self, model: LeafValueRegression, pairs: Array, hands: Array, pots: Array, stacks: Array, seat: int
    ) -> None:
        """Set `leaf_pair_equities`, and the stacks at each leaf in pots, 0 without further betting. float64 [leaves]"""
        self.model, self.pairs, self.pots, self.stacks, self.seat = model, pairs, pots, stacks, seat
        self.compatible_weights = CompatibleWeights(hands)

    def values(self, reach: Array, side: int) -> Array:
        """Return counterfactual values of a side: 0 is the searching seat, 1 the opponent. float64 [leaves, hands]"""
        own, other = reach[side], reach[1 - side]
        share = (self.pairs if side else 1.0 - self.pairs.T) * self.compatible_weights.compatible
        opponent_weight = self.compatible_weights(other)
        equity = np.where(opponent_weight > 1e-12, other @ share.T / np.maximum(opponent_weight, 1e-12), 0.5)
        joint_weight = own * opponent_weight
        total, sums = (part.sum(axis=1, keepdims=True) for part in (joint_weight, joint_weight * equity))
        mean = np.where(total > 1e-12, sums / np.maximum(total, 1e-12), 0.5)
        hand_values = self.model(leaf_features(equity, mean, self.stacks[:, None], float(self.seat == side)))
        hand_values = np.where(self.stacks[:, None] > 0, hand_values, equity)
        return hand_values * self.pots[:, None] * opponent_weight


# --- training of the regression -------------------------------------------------------------------

TURN_STREET, FLOP_CARDS = 2, 3
NUM_TRAINING_TURNS = 16
TRAINING_ITERATIONS = 75
MAX_UNGROUPED_HANDS = 100  # up to this number, each hand is a group of its own
REGRESSION_VERSION = 1


def load_or_fit_regression(strategy: Blueprint, count: int = NUM_TRAINING_TURNS, seed: int = 0) -> LeafValueRegression:
    """Return the regression for a blueprint, from the user's cache folder or fitted now to `count` turns.

    Fitting takes two minutes on one core with a full deck.
    """
    name = f"leaves-{REGRESSION_VERSION}-{strategy.fingerprint}-{count}-{seed}"
    return LeafValueRegression(**cached_arrays(name, lambda: fit_regression(strategy, count, seed)._asdict()))


def fit_regression(strategy: Blueprint, count: int, seed: int = 0) -> LeafValueRegression:
    """Solve `count` turns that the blueprint reaches, with noisy ranges, and fit a regression to the hands' values."""
    rng, source = np.random.default_rng([seed, 11]), sample_reached_streets(strategy, [seed, 12], TURN_STREET)
    examples: list[tuple[Array, ...]] = []
    for turn in islice(source, count):
        noise = rng.random((2, len(HAND_CARDS))) ** rng.uniform(0.0, 3.0, (2, 1))
        examples += _training_examples(strategy, turn, np.stack(turn.ranges) * noise)
    return LeafValueRegression.fit(*zip(*examples, strict=True)) if examples else LeafValueRegression.fit([], [], [])


def _training_examples(strategy: Blueprint, turn: ReachedStreet, ranges: Array) -> list[tuple[Array, ...]]:
    """Return, for both seats, features of hands on the flop, values in pots on the solved turn, and weights."""
    flop = turn.board[:FLOP_CARDS]
    hands = np.flatnonzero(unblocked_hands(strategy.rules.deck, flop))
    groups = group_hands(strategy, flop, hands, 1) if len(hands) <= MAX_UNGROUPED_HANDS else None
    leaves, runouts = [BlueprintLeaf(SHOWDOWN_NODE, 1.0)], 4 * NUM_RUNOUTS
    showdowns = RolloutLeafValues.sample(
        strategy, leaves, flop, hands, 1, groups=groups, runouts=runouts, continuations=("blueprint",)
    )
    pairs, compatible = leaf_pair_equities(showdowns, 0), CompatibleWeights(hands).compatible
    game = blueprint_subgame(strategy, turn.node, turn.board, ranges)
    engine = CpuBoardEngine(BoardTree(game), parse_table_format("float32"), stakes=SEVERAL_STREETS_SCHEDULE.stakes)
    engine.iterate(schedule_rows(SEVERAL_STREETS_SCHEDULE, 0, 0.0, TRAINING_ITERATIONS)[0])
    out: list[tuple[Array, ...]] = []
    for seat in (0, 1):
        opponent_weight = compatible_weights(ranges[1 - seat])[hands]
        share = (pairs if seat == 0 else 1.0 - pairs.T) * compatible
        equity = share @ ranges[1 - seat][hands] / np.maximum(opponent_weight, 1e-12)
        joint_weight = ranges[seat][hands] * opponent_weight
        row = engine.tree.row_of[0, seat][hands]
        possible = joint_weight > 0  # not blocked by the turn card either
        value = engine.strategy_values(seat)[0][row[possible]]
        mean = np.array((joint_weight * equity).sum() / joint_weight.sum())
        features = leaf_features(equity[possible], mean, np.array(turn.stack / turn.pot), float(seat == 0))
        target, weight = value / opponent_weight[possible] / turn.pot, joint_weight[possible]
        out.append((features, target, weight / weight.sum()))
    return out


# --- selection by name ----------------------------------------------------------------------------

LEAF_METHODS = {
    "continuations": f"rollouts of the blueprint; the opponent may {', '.join(list(CONTINUATIONS)[1:])} more often",
    "simulation": "rollouts of the blueprint",
    "table": "values of the blueprint's hands in self-play, for all ranges alike",
    "learnt": "regression fitted to solved turns",
}


def make_leaf_values(
    method: str,
    street: DepthLimitedStreet,
    seat: int,
    *,
    runouts: int | None = NUM_RUNOUTS,
    groups: Array | None = None,
    model: LeafValueRegression | None = None,
) -> LeafValues:
    """Build leaf values by name for the search of a seat.

    `runouts=None` takes all runouts. `model` is a fitted regression; the default is that of the blueprint.
    """
    check_name("leaf values", method, LEAF_METHODS)

    def rollouts(leaves: list[BlueprintLeaf], continuations: tuple[str, ...]) -> RolloutLeafValues:
        count = None if runouts is None else runouts * len(CONTINUATIONS) // len(continuations)
        where = street.strategy, leaves, street.board, street.hands, seat
        return RolloutLeafValues.sample(*where, groups=groups, runouts=count, continuations=continuations)

    if method == "continuations":
        return rollouts(street.leaves, tuple(CONTINUATIONS))
    if method == "learnt":
        pots = np.array([leaf.pot for leaf in street.leaves])
        states = [street.tree.states[node] for node in street.tree.leaves]
        stacks = np.array([min(s.behind) / s.pot if has_later_betting(s) else 0.0 for s in states])
        pairs = leaf_pair_equities(rollouts([BlueprintLeaf(SHOWDOWN_NODE, 1.0)], ("blueprint",)), 0)
        model = model or load_or_fit_regression(street.strategy)
        return RegressionLeafValues(model, pairs, street.hands, pots, stacks, seat)
    blueprint_rollouts = rollouts(street.leaves, ("blueprint",))
    if method == "simulation":
        return blueprint_rollouts
    solver = DepthLimitedSolver(street.tree, street.hands, street.ranges, blueprint_rollouts, seat)
    reach = solver.reach(street.blueprint_strategy())
    leaf_reach = np.stack([reach[node][[seat, 1 - seat]] for node in street.tree.leaves], axis=1)
    return FixedLeafValues.from_rollouts(blueprint_rollouts, street.hands, leaf_reach)
