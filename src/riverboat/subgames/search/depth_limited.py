"""Depth-limited search: solve one street of a hand in play, with leaf values at its end.

The searching seat follows its blueprint after the street; the opponent chooses among several continuation strategies
(`depth_limited.leaf_values`). Safe methods put a gadget at the root (`depth_limited.solver`): the opponent's values
against the blueprint are computed with the same leaf values. Roots and positions have the same interface as those of
later streets (`search.subgames`), so that a line leads from one subgame to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, NUM_HANDS
from riverboat.core.arrays import Array
from riverboat.core.blas import single_threaded_blas
from riverboat.games.base import CHANCE
from riverboat.games.holdem.actions import CALL, END_OF_LINE
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import ActionMenu
from riverboat.games.holdem.public_states import PublicStates
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.policy import BlueprintPolicy
from riverboat.subgames.depth_limited.leaf_values import LEAF_METHODS, make_leaf_values
from riverboat.subgames.depth_limited.rollouts import NUM_RUNOUTS
from riverboat.subgames.depth_limited.solver import (
    SHOWDOWN_NODE,
    BlueprintLeaf,
    DepthLimitedStreet,
    StreetTree,
    build_street_tree,
    has_later_betting,
    make_gadget_solver,
    unblocked_hands,
)
from riverboat.subgames.search.subgames import SEARCH_METHODS, SubgameRoot, normalize_range, street_nodes, undo_floor

CHECK_EVERY = 20  # iterations between checks of the clock and the exploitability
NO_VALUES = "none: before this street hands had no values of their own"
# Sampled runouts, by board cards: five-card runouts vary more, and their values are cached.
RUNOUTS_BY_CARDS = {0: 16 * NUM_RUNOUTS, 3: NUM_RUNOUTS}


class SearchContext(NamedTuple):
    """Functions and strategies that a search provides to its depth-limited subgames."""

    reader: BlueprintPolicy  # maps real lines to the blueprint's tree by a deterministic translation
    base: Blueprint  # strategy on the streets after the subgame
    # adds values against the blueprint to a root on a later street
    with_blueprint_values: Callable[[SubgameRoot, int], SubgameRoot]


@dataclass(frozen=True, eq=False)
class DepthLimitedSubgame:
    """A depth-limited subgame to be solved for one seat."""

    seat: int
    root: SubgameRoot
    menu: ActionMenu
    context: SearchContext
    floor: float  # minimum weight of the opponent's hands
    own_floor: float  # minimum weight of own hands
    method: str = "unsafe"  # one of `search.subgames.SEARCH_METHODS`
    leaf_method: str = "continuations"  # one of `depth_limited.leaf_values.LEAF_METHODS`

    @cached_property
    def tree(self) -> StreetTree:
        """Betting tree of the street."""
        return build_street_tree(self.root.state, self.menu)

    @cached_property
    def hands(self) -> Array:
        """Indices of the unblocked hands. int64 [n]"""
        return np.flatnonzero(unblocked_hands(self.root.state.rules.deck, self.root.board))

    @cached_property
    def unfloored_ranges(self) -> tuple[Array, Array]:
        """Ranges of both seats without minimum weights, scaled to a maximum of one. float64 [n] each"""
        live = unblocked_hands(self.root.state.rules.deck, self.root.board)
        first, second = (normalize_range(weights, live)[self.hands] for weights in self.root.ranges)
        return first, second

    @cached_property
    def ranges(self) -> tuple[Array, Array]:
        """Ranges of both seats with minimum weights. float64 [n] each"""
        ranges = list(self.unfloored_ranges)
        ranges[self.seat] = np.maximum(ranges[self.seat], self.own_floor)
        ranges[1 - self.seat] = np.maximum(ranges[1 - self.seat], self.floor)
        return ranges[0], ranges[1]

    def leaf_nodes(self) -> list[BlueprintLeaf]:
        """Return the leaves of the street, with the corresponding nodes of the blueprint's tree."""
        states, rules = [self.tree.states[node] for node in self.tree.leaves], self.root.state.rules
        cards = np.setdiff1d(rules.deck.cards, self.root.board).tolist()  # which cards are dealt does not matter
        board = (*self.root.board, *cards)[: rules.board_sizes[self.root.state.street + 1]]
        continuing = [state.next_street() for state in states if has_later_betting(state)]
        nodes = iter(street_nodes(self.context.reader, continuing, board, self.seat))
        leaf_nodes = [next(nodes) if has_later_betting(state) else SHOWDOWN_NODE for state in states]
        return [BlueprintLeaf(node, float(state.pot)) for node, state in zip(leaf_nodes, states, strict=True)]

    def blueprint_strategy(self) -> dict[int, Array]:
        """Return the blueprint's strategy on the street. float64 [actions, n] by node

        The probability of a size that the street's tree lacks is added to that of the nearest size.
        """
        tree = self.tree
        nodes = [node for node, moves in enumerate(tree.moves) if moves]
        public_states = PublicStates.from_betting([tree.states[node] for node in nodes], [self.root.board] * len(nodes))
        batch = self.context.reader.strategies(public_states)
        rows = np.searchsorted(FULL_DECK.hand_indices(self.root.state.rules.deck.hands), self.hands)
        out = {}
        for i, node in enumerate(nodes):
            probabilities = np.zeros((len(tree.moves[node]), len(self.hands)))
            for move, column in zip(batch.moves[i].tolist(), batch.probabilities[i].T, strict=True):
                if move != END_OF_LINE:
                    probabilities[_nearest_move(tree.moves[node], move)] += column[rows]
            out[node] = probabilities
        return out

    def solve(self, iterations: int, until: float, seconds: float | None) -> DepthLimitedPosition:
        """Solve the subgame and return its root position.

        Stops after `iterations`, at an exploitability of `until` % of the pot, or after `seconds`.
        """
        start, pot = perf_counter(), self.root.state.pot
        with single_threaded_blas():
            base, leaves, board = self.context.base, self.leaf_nodes(), self.root.board
            street = DepthLimitedStreet(
                base, self.tree, leaves, board, self.hands, self.ranges, self.blueprint_strategy
            )
            values = make_leaf_values(self.leaf_method, street, self.seat, runouts=RUNOUTS_BY_CARDS[len(board)])
            solver, margins = make_gadget_solver(self.method, street, values, self.seat)
            while solver.iterations < iterations:
                before = perf_counter()
                solver.step(min(CHECK_EVERY, iterations - solver.iterations))
                remaining = None if seconds is None else seconds - (perf_counter() - start)
                if remaining is not None and remaining < 1.5 * (perf_counter() - before):
                    break
                if solver.exploitability() <= until / 100 * pot:
                    break
            exploitability = 100 * solver.exploitability() / pot
        hand_margins = np.full(NUM_HANDS, np.nan)
        hand_margins[self.hands] = margins()
        strategies = {node: solver.average_strategy(node) for node in solver.nodes}
        known_margins = None if self.method == "unsafe" else hand_margins
        solution = DepthLimitedSolution(strategies, solver.iterations, exploitability, known_margins)
        return DepthLimitedPosition(self, solution, 0)


def _nearest_move(moves: tuple[int, ...], move: int) -> int:
    """Return the index of an action in `moves`; for a missing raise, of the nearest one; otherwise of the call."""
    if move in moves:
        return moves.index(move)
    raises = [m for m in moves if m > CALL] if move > CALL else []
    return moves.index(min(raises, key=lambda m: abs(m - move)) if raises else CALL)


@dataclass(frozen=True, eq=False)
class DepthLimitedSolution:
    """Solution of a depth-limited subgame: strategies of the street, for the hands of `DepthLimitedSubgame.hands`."""

    strategies: dict[int, Array]  # float64 [actions, n] by node
    iterations: int
    exploitability: float  # % of the pot, given the leaf values
    margins: Array | None  # float64 [1326]: decrease of the opponent's values; None without a gadget


@dataclass(frozen=True, eq=False)
class DepthLimitedPosition:
    """A public state in a solved depth-limited subgame, or right after it."""

    subgame: DepthLimitedSubgame
    solution: DepthLimitedSolution
    node: int
    cards: tuple[int, ...] = ()  # cards of the next street, once dealt

    @property
    def state(self) -> BettingState:
        """Real betting state."""
        state = self.subgame.tree.states[self.node]
        return state.next_street() if self.cards else state

    @property
    def board(self) -> tuple[int, ...]:
        """Board cards."""
        return (*self.subgame.root.board, *self.cards)

    @property
    def moves(self) -> tuple[int, ...]:
        """Real actions, ascending."""
        return self.subgame.tree.moves[self.node]

    @property
    def is_chance(self) -> bool:
        """Whether the next street is dealt here."""
        return not self.cards and self.state.actor == CHANCE

    @property
    def nbytes(self) -> int:
        """Memory of the solution in bytes."""
        return sum(table.nbytes for table in self.solution.strategies.values())

    def child(self, move: int) -> DepthLimitedPosition | None:
        """Return the position after a real action; None if the street's tree does not have it."""
        child = self.subgame.tree.child(self.node, move)
        return None if child is None else replace(self, node=child)

    def after_deal(self, cards: tuple[int, ...]) -> DepthLimitedPosition:
        """Return the position after the deal of the next street."""
        return replace(self, cards=cards)

    @cached_property
    def strategy(self) -> Array:
        """Probability of each action with each hand; hands outside the range play its mean. float64 [1326, actions]"""
        seat = self.subgame.tree.states[self.node].actor
        probabilities, reach = self.solution.strategies[self.node].T, self._reach[seat]
        mean = probabilities.mean(axis=0)
        if (reaching := reach > 0).any():
            mean = reach[reaching] @ probabilities[reaching] / max(reach[reaching].sum(), 1e-300)
        out = np.tile(mean, (NUM_HANDS, 1))
        out[self.subgame.hands] = np.where((self.subgame.ranges[seat] > 0)[:, None], probabilities, mean)
        return out

    @cached_property
    def _reach(self) -> Array:
        """Reach of both seats' hands at this node under the solution. float64 [2, n]"""
        tree, reach = self.subgame.tree, np.stack(self.subgame.ranges)
        parent = {child: n for n, children in enumerate(tree.children) for child in children}
        node = self.node
        while node in parent:
            child, node = node, parent[node]
            reach[tree.states[node].actor] *= self.solution.strategies[node][tree.children[node].index(child)]
        return reach

    def subgame_root(self) -> SubgameRoot:
        """Return ranges and values here, as the root of another subgame."""
        subgame, ranges = self.subgame, np.zeros((2, NUM_HANDS))
        ranges[:, subgame.hands] = self._reach
        own, hands = subgame.seat, subgame.hands
        ranges[own, hands] = undo_floor(ranges[own, hands], subgame.unfloored_ranges[own], subgame.ranges[own])
        ranges[:, np.isin(HAND_CARDS, self.board).any(axis=1)] = 0.0
        root = SubgameRoot(self.state, self.board, ranges, None, NO_VALUES)
        return subgame.context.with_blueprint_values(root, subgame.seat) if self.cards else root

    def figures(self) -> dict[str, Any]:
        """Return figures of the solution for reports: method, guarantee, tree size, iterations and exploitability."""
        subgame = self.subgame
        return {
            "method": f"depth-limited, {subgame.method}",
            "guarantee": f"{SEARCH_METHODS[subgame.method]}; as far as values are right where the street ends",
            "values": LEAF_METHODS[subgame.leaf_method],
            "betting_nodes": len(subgame.tree.states),
            "boards": 1,
            "hands": [int(np.count_nonzero(weights)) for weights in subgame.ranges],
            "iterations": self.solution.iterations,
            "exploitability": self.solution.exploitability,
            "unit": "% of pot",
        }
