"""Depth-limited solving of one street by CFR, with leaf values and root gadgets (Brown, Sandholm & Amos 2018).

    tree = build_street_tree(state, menu)
    solver = DepthLimitedSolver(tree, hands, ranges, leaves, seat=0)
    solver.step(200)
    solver.average_strategy(node)       # float64 [actions, hands]

The searching seat follows its blueprint after the street. The opponent chooses a continuation strategy at every leaf,
with each hand, so that the searching seat must do well against all of them. `LeafValues` gives the values of all leaves
at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.core.arrays import Array, normalize
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import ActionMenu, MenuActions
from riverboat.solvers.boards.cfr import SEVERAL_STREETS_SCHEDULE
from riverboat.solvers.schedules import ScheduleStep
from riverboat.strategies.blueprint import Blueprint

StreetStrategy = Mapping[int, Array]  # node -> action probabilities, float64 [actions, hands]
MAX_NODES = 20_000
SHOWDOWN_NODE = -1  # instead of a node: no betting after a leaf, or none in the blueprint's tree


@dataclass(frozen=True, eq=False)
class StreetTree:
    """Betting tree of one street in preorder: decisions, folds, and leaves.

    A leaf is a node where the next card is dealt or no further betting is possible.
    """

    states: tuple[BettingState, ...]
    moves: tuple[tuple[int, ...], ...]  # actions at decisions, numbered as in `games.holdem.actions`
    children: tuple[tuple[int, ...], ...]

    @property
    def leaves(self) -> list[int]:
        """Nodes where the street ends without a fold."""
        return [node for node, state in enumerate(self.states) if not self.moves[node] and state.folded is None]

    def child(self, node: int, move: int) -> int | None:
        """Return the child after an action; None if the tree does not have it."""
        return self.children[node][self.moves[node].index(move)] if move in self.moves[node] else None


def build_street_tree(root: BettingState, menu: ActionMenu) -> StreetTree:
    """Build the betting tree of the rest of a state's street."""
    if root.actor < 0:
        raise InputError(f"{root.line!r}: nobody acts, so there is no street to solve")
    choices = MenuActions(root.rules, menu)
    states: list[BettingState] = []
    moves: list[tuple[int, ...]] = []
    children: list[list[int]] = []
    stack = [(root, -1)]
    while stack:
        state, parent = stack.pop()
        node = len(states)
        if node > MAX_NODES:
            raise InputError(f"{root.line!r}: more than {MAX_NODES:,} nodes on one street; give fewer sizes")
        if parent >= 0:
            children[parent].append(node)
        states.append(state)
        moves.append(choices.actions(state.compact) if state.actor >= 0 else ())
        children.append([])
        stack += [(state.apply_action(move), node) for move in reversed(moves[node])]
    return StreetTree(tuple(states), tuple(moves), tuple(tuple(c) for c in children))


def has_later_betting(state: BettingState) -> bool:
    """Return whether players bet on the next street after a leaf; False after an all-in and on the last street."""
    return state.actor == CHANCE and state.next_street().actor >= 0


class LeafValues(Protocol):
    """Counterfactual values of leaves, given the reach of both players. Arrays are over the unblocked hands.

    A value is a sum over the opponent's compatible hands, weighted by their reach. It is the share of the pot at the
    leaf minus later bets, in chips.
    """

    num_continuations: int  # continuation strategies that the opponent chooses from

    def opponent_values(self, reach: Array) -> Array:
        """Return the opponent's values for each continuation.

        float64 [2 (the searching seat first), leaves, hands] -> [leaves, continuations, hands]
        """

    def searcher_values(self, reach: Array, continuation_reach: Array) -> Array:
        """Return the searching seat's values.

        `continuation_reach` is the opponent's reach times its choice of continuation.
        float64 [2, leaves, hands], [leaves, continuations, hands] -> [leaves, hands]
        """


class SingleLeafValues(ABC):
    """Leaf values with one continuation of the opponent: the same function of the reach for both seats."""

    num_continuations = 1

    @abstractmethod
    def values(self, reach: Array, side: int) -> Array:
        """Return the values of the searching seat (side 0) or of the opponent (1).

        float64 [2 (the searching seat first), leaves, hands] -> [leaves, hands]
        """

    def opponent_values(self, reach: Array) -> Array:
        """Return the opponent's counterfactual values. float64 [2, leaves, hands] -> [leaves, 1, hands]"""
        return self.values(reach, 1)[:, None]

    def searcher_values(self, reach: Array, continuation_reach: Array) -> Array:
        """Return the searching seat's counterfactual values against the only continuation. float64 [leaves, hands]"""
        return self.values(np.stack([reach[0], continuation_reach[:, 0]]), 0)


def unblocked_hands(deck: Deck, board: Sequence[int]) -> Array:
    """Return whether each hand is in a deck without the board cards. bool [1326]"""
    return np.asarray(np.isin(HAND_CARDS, np.setdiff1d(deck.cards, board)).all(axis=1))


class CompatibleWeights:
    """Callable that sums, for each hand of a list, the weights of the hands that share no card with it."""

    def __init__(self, hands: Array) -> None:
        self.cards = HAND_CARDS[hands].astype(np.int64)
        self.card_matrix = np.zeros((len(hands), 52))
        np.put_along_axis(self.card_matrix, self.cards, 1.0, axis=1)

    @cached_property
    def compatible(self) -> Array:
        """Pairs of hands that share no card. bool [hands, hands]"""
        return np.equal(self.card_matrix @ self.card_matrix.T, 0.0)

    def __call__(self, weights: Array) -> Array:
        """Return the total weight of compatible hands. float64 [..., hands] -> [..., hands]"""
        by_card = weights @ self.card_matrix
        shared = by_card[..., self.cards[:, 0]] + by_card[..., self.cards[:, 1]] - weights
        compatible: Array = weights.sum(axis=-1, keepdims=True) - shared
        return compatible


class DepthLimitedSolver:
    """CFR on one street with leaf values, for the strategy of the searching `seat`.

    The schedule is that of subgames on several streets; the opponent also chooses a continuation at each leaf.
    """

    def __init__(
        self,
        tree: StreetTree,
        hands: Array,
        ranges: Sequence[Array] | Array,
        leaves: LeafValues,
        seat: int,
        buckets: Sequence[Array] | None = None,
        gadget: StreetGadget | None = None,
    ) -> None:
        """Set up tables for the unblocked `hands`, with both seats' `ranges` over them.

        `buckets` gives each seat's bucket of each hand if hands of a bucket must play alike; exploitability is still
        that of all hands. `gadget` replaces the opponent's range at the root.
        """
        self.buckets, self.gadget = buckets, gadget
        self.tree, self.hands, self.leaves, self.seat = tree, hands, leaves, seat
        self.ranges = tuple(np.asarray(weights, float) for weights in ranges)
        self.compatible_weights = CompatibleWeights(hands)
        self.leaf_nodes = tree.leaves
        self.nodes = [n for n, moves in enumerate(tree.moves) if moves]
        n = len(hands)
        self.actor = {node: tree.states[node].actor for node in self.nodes}
        rows = (n, n) if buckets is None else tuple(int(part.max()) + 1 for part in buckets)
        self.regret = {node: np.zeros((len(tree.moves[node]), rows[seat])) for node, seat in self.actor.items()}
        self.strategy_sums = {node: np.zeros_like(table) for node, table in self.regret.items()}
        self.stake_weight = {node: _stake_ratios(tree, node) ** SEVERAL_STREETS_SCHEDULE.stakes for node in self.nodes}
        self.continuation_regret = np.zeros((len(self.leaf_nodes), leaves.num_continuations, n))
        self.continuation_sums = np.zeros_like(self.continuation_regret)
        self.iterations = 0
        spent = np.array([tree.states[e].spent for e in self.leaf_nodes], float).reshape(-1, 2)
        self.spent_since_root = spent - np.array(tree.states[0].spent, float)  # chips that each seat put in

    # --- iterations -----------------------------------------------------------------------------

    def step(self, iterations: int) -> None:
        """Run some more iterations."""
        for _ in range(iterations):
            self.iterations += 1
            self.schedule_step = SEVERAL_STREETS_SCHEDULE.step(self.iterations)
            for player in (0, 1):
                self._update_player(player)

    def update_player(self, player: int, ranges: Array) -> Array:
        """Run one player's half of an iteration with given ranges; return its counterfactual values. float64 [hands]"""
        self.ranges = (ranges[0], ranges[1])
        self.iterations += player == 0
        self.schedule_step = SEVERAL_STREETS_SCHEDULE.step(max(self.iterations, 1))
        return self._update_player(player)

    def _update_player(self, player: int) -> Array:
        if self.gadget is not None:
            self._set_opponent_range(self.gadget.entering_range(self.gadget.strategy()))
        rows = {n: normalize(self.stake_weight[n] * np.maximum(self.regret[n], 0.0), 0) for n in self.nodes}
        strategy = {n: self._rows_to_hands(n, rows[n]) for n in self.nodes}
        value = self.values(player, strategy, normalize(np.maximum(self.continuation_regret, 0.0), 1), update=True)
        if self.gadget is not None and player != self.seat:
            self.gadget.update_regrets(value, self.schedule_step)
        return value

    def _set_opponent_range(self, other: Array) -> None:
        """Set the opponent's range at the root."""
        own = self.ranges[self.seat]
        self.ranges = (own, other) if self.seat == 0 else (other, own)

    def _rows_to_hands(self, node: int, rows: Array) -> Array:
        """Map rows of a decision's table to hands. float64 [actions, rows] -> [actions, hands]"""
        return rows if self.buckets is None else rows[:, self.buckets[self.actor[node]]]

    @property
    def table_size(self) -> int:
        """Number of stored regrets and averages."""
        return sum(2 * table.size for table in self.regret.values())

    def average_strategy(self, node: int) -> Array:
        """Return the average strategy at a decision. float64 [actions, hands]"""
        return self._rows_to_hands(node, normalize(self.strategy_sums[node], axis=0))

    def average_strategies(self) -> tuple[dict[int, Array], Array]:
        """Return the average strategy at all decisions, and the opponent's average continuation choices at leaves."""
        return {node: self.average_strategy(node) for node in self.nodes}, normalize(self.continuation_sums, axis=1)

    # --- values ---------------------------------------------------------------------------------

    def reach(self, strategy: StreetStrategy) -> dict[int, Array]:
        """Return the reach of both players at each node. float64 [2, hands] by node"""
        reach = {0: np.stack(self.ranges)}
        for node in self.nodes:
            for probability, child in zip(strategy[node], self.tree.children[node], strict=True):
                reach[child] = reach[node].copy()
                reach[child][self.actor[node]] *= probability
        return reach

    def exploitability(self) -> float:
        """Return the exploitability of the averages in this game, half of both best-response gains. Chips per deal."""
        strategy, continuations = self.average_strategies()
        if self.gadget is not None:
            self._set_opponent_range(self.gadget.entering_range(self.gadget.average_strategy()))
        gain = 0.0
        for player in (0, 1):
            best, current = (self.values(player, strategy, continuations, respond=flag) for flag in (True, False))
            if self.gadget is not None and player != self.seat:
                gain += self.gadget.best_response_gain(best, current)
            else:
                gain += float(self.ranges[player] @ (best - current))
        if self.gadget is not None:
            return gain / 2 / max(self.gadget.total_weight, 1e-300)
        return gain / 2 / max(float(self.ranges[0] @ self.compatible_weights(self.ranges[1])), 1e-300)

    def values(
        self,
        player: int,
        strategy: StreetStrategy,
        continuations: Array,
        *,
        update: bool = False,
        respond: bool = False,
    ) -> Array:
        """Return a player's counterfactual values at the root, and `update` its regrets and averages. float64 [hands]

        `strategy` has the decisions of both players, `continuations` the opponent's choices at the leaves. With
        `respond`, the player best-responds instead, and nothing is updated.
        """
        tree, other = self.tree, 1 - player
        reach = self.reach(strategy)
        leaf_reach = np.stack([reach[leaf] for leaf in self.leaf_nodes], axis=1)  # [2, leaves, hands]
        from_seat = leaf_reach[::-1] if self.seat == 1 else leaf_reach  # the searching seat first
        leaf_values = self._leaf_values(player, from_seat, continuations, update=update, respond=respond)
        spent = self.spent_since_root[:, player, None] * self.compatible_weights(leaf_reach[other])
        value: dict[int, Array] = dict(zip(self.leaf_nodes, leaf_values - spent, strict=True))
        pot, start = tree.states[0].pot, tree.states[0].spent
        for node in range(len(tree.states) - 1, -1, -1):
            if node in value:
                continue
            if not tree.moves[node]:  # a fold
                state = tree.states[node]
                called = state.spent[state.turn] - start[state.turn]  # only called chips change hands
                payoff = pot + called if state.turn != player else -called
                value[node] = payoff * self.compatible_weights(reach[node][other])
            else:
                child_values = np.stack([value.pop(child) for child in tree.children[node]])
                if self.actor[node] != player:
                    value[node] = child_values.sum(axis=0)
                elif respond:
                    value[node] = child_values.max(axis=0)
                else:
                    value[node] = (strategy[node] * child_values).sum(axis=0)
                    if update:
                        regret = self._sum_over_buckets(child_values - value[node], node, self.ranges[player])
                        self.regret[node] = discount_regrets(self.regret[node], self.schedule_step) + regret
                        weighted = self._sum_over_buckets(reach[node][player] * strategy[node], node)
                        self.strategy_sums[node] = self.schedule_step.decay * self.strategy_sums[node] + weighted
        return value[0]

    def _sum_over_buckets(self, numbers: Array, node: int, weight: Array | float = 1.0) -> Array:
        """Sum values over the hands of each bucket by weight. [actions, hands] -> [actions, rows]"""
        if self.buckets is None:
            return numbers
        bucket, rows = self.buckets[self.actor[node]], self.regret[node].shape[1]
        return np.stack([np.bincount(bucket, weight * row, minlength=rows) for row in numbers])

    def _leaf_values(self, player: int, reach: Array, continuations: Array, *, update: bool, respond: bool) -> Array:
        """Return a player's values at the leaves. float64 [leaves, hands]"""
        if player == self.seat:
            return self.leaves.searcher_values(reach, reach[1][:, None] * continuations)
        by_continuation = self.leaves.opponent_values(reach)
        if respond:
            best: Array = by_continuation.max(axis=1)
            return best
        value: Array = (by_continuation * continuations).sum(axis=1)
        if update:
            step = self.schedule_step
            discounted = discount_regrets(self.continuation_regret, step)
            self.continuation_regret = discounted + by_continuation - value[:, None]
            self.continuation_sums = step.decay * self.continuation_sums + reach[1][:, None] * continuations
        return value


def _stake_ratios(tree: StreetTree, node: int) -> Array:
    """Return, for each action of a decision, the smallest stake of its actions divided by the action's own stake.

    The stake is the pot if all bets are called; powers of the ratios weight regrets. float64 [actions, 1]
    """
    states = [tree.states[child] for child in tree.children[node]]
    pots = np.array([2.0 * (min(s.spent) if s.folded is not None else max(s.spent)) for s in states])
    ratios: Array = pots.min() / pots
    return ratios[:, None]


def discount_regrets(regret: Array, schedule_step: ScheduleStep) -> Array:
    """Multiply positive and negative regrets by the discounts of a schedule's iteration."""
    return regret * np.where(regret > 0, schedule_step.positive, schedule_step.negative)


class ShowdownLeafValues(SingleLeafValues):
    """Leaf values of the last street: showdowns of all pairs of compatible hands."""

    def __init__(self, hands: Array, rank: Array, pots: Array) -> None:
        """Set the strength of each hand (`rank`) and the pot at each leaf."""
        self.compatible_weights, self.pots = CompatibleWeights(hands), pots
        share = (1 + np.sign(rank[:, None].astype(np.int64) - rank)) / 2
        self.win_matrix: Array = (share * self.compatible_weights.compatible).astype(np.float32)

    @staticmethod
    def with_pots(other: ShowdownLeafValues, pots: Array) -> ShowdownLeafValues:
        """Return leaf values of the same board and hands with other pots at the leaves; showdowns are shared."""
        leaves = copy(other)
        leaves.pots = pots
        return leaves

    def values(self, reach: Array, side: int) -> Array:
        """Return counterfactual values of a side: 0 is the searching seat, 1 the opponent. float64 [leaves, hands]"""
        return self.winnings(reach[1 - side])

    def winnings(self, other: Array) -> Array:
        """Return counterfactual showdown values, given the other seat's reach. float64 [leaves, hands] each"""
        return self.pots[:, None] * (other.astype(np.float32) @ self.win_matrix.T)


# --- root gadgets (vector form of `games.boards.root_gadgets`) ------------------------------------


class StreetResolveGadget:
    """Re-solving gadget: each of the opponent's hands may terminate for a payoff, or follow into the subgame.

    Rows of its tables: follow, terminate.
    """

    def __init__(self, payoffs: Array, opponent_weight: Array) -> None:
        self.stop_values, self.live = payoffs * opponent_weight, (opponent_weight > 0).astype(float)
        self.total_weight = float(opponent_weight.sum())
        self.regret, self.strategy_sums = np.zeros((2, len(opponent_weight))), np.zeros((2, len(opponent_weight)))

    def strategy(self) -> Array:
        """Return the current probabilities of entering and stopping with each hand. float64 [2, hands]"""
        return normalize(np.maximum(self.regret, 0.0), 0)

    def average_strategy(self) -> Array:
        """Return the average probabilities of entering and stopping with each hand. float64 [2, hands]"""
        return normalize(self.strategy_sums, 0)

    def entering_range(self, shares: Array) -> Array:
        """Return the opponent's range in the subgame, given `shares`, its gadget strategy; root weights are equal."""
        entering: Array = shares[0] * self.live
        return entering

    def update_regrets(self, enter_values: Array, schedule_step: ScheduleStep) -> None:
        """Update regrets and averages from the counterfactual values of entering with each hand."""
        values, strategy = np.stack([enter_values, self.stop_values]), self.strategy()
        self.regret = discount_regrets(self.regret, schedule_step) + values - (strategy * values).sum(axis=0)
        self.strategy_sums = schedule_step.decay * self.strategy_sums + strategy

    def best_response_gain(self, best: Array, enter_values: Array) -> float:
        """Return the opponent's gain by the better choice with each hand over its average choice, summed over hands.

        `best` and `enter_values` are counterfactual values of entering, by a best response and by the average strategy.
        """
        current = (self.average_strategy() * np.stack([enter_values, self.stop_values])).sum(axis=0)
        return float(((np.maximum(best, self.stop_values) - current) * self.live).sum())


class StreetMaxmarginGadget:
    """Maxmargin gadget: the opponent chooses its hand, and its payoff is the gain over the hand's previous value."""

    total_weight = 1.0

    def __init__(self, shifts: Array, opponent_weight: Array) -> None:
        self.shifts, self.live = shifts, opponent_weight > 0
        self.opponent_weight = np.where(self.live, opponent_weight, 1.0)
        self.regret, self.strategy_sums = np.zeros(len(opponent_weight)), np.zeros(len(opponent_weight))

    def strategy(self) -> Array:
        """Return the current probability of choosing each hand. float64 [hands]"""
        return self._normalize_live(np.maximum(self.regret, 0.0))

    def average_strategy(self) -> Array:
        """Return the average probability of choosing each hand. float64 [hands]"""
        return self._normalize_live(self.strategy_sums)

    def _normalize_live(self, weights: Array) -> Array:
        return normalize(np.where(self.live, weights if weights.any() else 1.0, 0.0), 0)

    def entering_range(self, shares: Array) -> Array:
        """Return the opponent's range in the subgame, given `shares`, its probabilities of choosing each hand.

        Division by each hand's compatible weight makes counterfactual values means over the searching seat's hands.
        """
        return shares / self.opponent_weight

    def update_regrets(self, enter_values: Array, schedule_step: ScheduleStep) -> None:
        """Update regrets and averages from the counterfactual values of entering with each hand."""
        gains, strategy = enter_values / self.opponent_weight - self.shifts, self.strategy()
        self.regret = discount_regrets(self.regret, schedule_step) + (gains - strategy @ gains) * self.live
        self.strategy_sums = schedule_step.decay * self.strategy_sums + strategy

    def best_response_gain(self, best: Array, enter_values: Array) -> float:
        """Return the opponent's gain by choosing the best hand over its average choice.

        `best` and `enter_values` are counterfactual values of entering, by a best response and by the average strategy.
        """
        largest = (best / self.opponent_weight - self.shifts)[self.live].max()
        return float(largest - self.average_strategy() @ (enter_values / self.opponent_weight - self.shifts))


StreetGadget: TypeAlias = StreetResolveGadget | StreetMaxmarginGadget


class BlueprintLeaf(NamedTuple):
    """A leaf of a real street, and the corresponding node of the blueprint's tree."""

    node: int  # first decision of the next street in the blueprint's tree; SHOWDOWN_NODE: a showdown
    pot: float  # real pot


class DepthLimitedStreet(NamedTuple):
    """A street to be solved, and a blueprint that plays the later ones: the root of a depth-limited subgame."""

    strategy: Blueprint
    tree: StreetTree
    leaves: list[BlueprintLeaf]
    board: tuple[int, ...]
    hands: Array  # indices of unblocked hands
    ranges: tuple[Array, Array]  # float64 [hands]: reach of each seat
    blueprint_strategy: Callable[[], StreetStrategy]  # returns the blueprint's strategy on the street itself


def make_gadget_solver(
    method: str, street: DepthLimitedStreet, leaves: LeafValues, seat: int
) -> tuple[DepthLimitedSolver, Callable[[], Array]]:
    """Build a solver with the gadget of a method, and a function that returns the margins of the opponent's hands.

    With a gadget, the opponent's hands have equal root weights. A margin is the decrease of a hand's value, in chips;
    NaN without compatible hands. [hands]
    """
    tree, hands = street.tree, street.hands
    if method == "unsafe":
        return DepthLimitedSolver(tree, hands, street.ranges, leaves, seat), lambda: np.full(len(hands), np.nan)
    other = 1 - seat
    root_weights = [np.ones(len(hands)), np.ones(len(hands))]
    root_weights[seat] = np.asarray(street.ranges[seat], float)
    plain = DepthLimitedSolver(tree, hands, root_weights, leaves, seat)
    opponent_weight = plain.compatible_weights(root_weights[seat])
    divisor = np.where(opponent_weight > 0, opponent_weight, 1.0)
    continuations = np.zeros_like(plain.continuation_sums)
    continuations[:, 0] = 1.0  # the first continuation is the blueprint
    strategy, respond = street.blueprint_strategy(), method != "estimate"
    previous_values = plain.values(other, strategy, continuations, respond=respond) / divisor
    gadget: StreetGadget = StreetMaxmarginGadget(previous_values, opponent_weight)
    if method == "resolve":
        gadget = StreetResolveGadget(previous_values, opponent_weight)
    solver = DepthLimitedSolver(tree, hands, root_weights, leaves, seat, gadget=gadget)

    def margins() -> Array:
        best = solver.values(other, *solver.average_strategies(), respond=True)
        return np.where(opponent_weight > 0, previous_values - best / divisor, np.nan)

    return solver, margins
