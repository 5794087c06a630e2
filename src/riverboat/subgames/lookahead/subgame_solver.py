"""Solver of depth-limited subgames of public trees, for one player and one kind of leaf values.

The subgame is cut at its leaves and solved as a tree of its own: with choices of continuation strategies as decisions
of the opponent, with the values of a table as payoffs, or with values of a function that every traversal computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riverboat.core import validation
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import Array
from riverboat.solvers.tabular.best_response import best_response, check_zero_sum
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead.leaf_models import (
    BatchEvaluator,
    ContinuationModel,
    FunctionValues,
    HandValues,
    LeafEngine,
    LeafEvaluator,
    TableValues,
    hand_payoffs,
)
from riverboat.subgames.lookahead.leaf_values import Continuations, Leaves, Ranges
from riverboat.subgames.lookahead.trees import DepthLimit, LeafState, LimitedTree, limited_tree, public_strategy
from riverboat.subgames.resolving import (
    GadgetSolver,
    VectorSolver,
    solve_gadget,
    splice_gadget,
)
from riverboat.subgames.values import SubgameRootValues, subgame_gifts, subgame_root_values
from riverboat.trees.gadgets import TreeSubgame, find_subgame
from riverboat.trees.public import PublicTree

METHODS = ("unsafe", "resolve", "maxmargin", "reach_maxmargin")
EXACT_GAP = 1e-9  # largest difference of values that still counts as exact, as a share of the largest payoff


@dataclass(frozen=True, eq=False)
class SolvedRoot:
    """Solution at one root for one player, before it is written to a table of the whole game."""

    limited: LimitedTree
    trunk: Strategy  # on `limited.tree`, with average values at leaves that a function valued
    hands: tuple[Array, Array]  # bool [hands]: the hands of each player that have a solution
    iterations: int

    def write(self, table: Array, players: Sequence[int], *, root_only: bool = False) -> None:
        """Write the players' rows to a table of the whole game, or those of the root alone."""
        tree = self.limited.tree
        chosen = np.zeros(tree.table_size, bool)
        for player in players:
            rows = tree.player_tables(chosen)[player]
            rows[: int(tree.nodes.width[0]) if root_only else None, self.hands[player]] = True
        chosen &= self.limited.origin >= 0
        table[self.limited.origin[chosen]] = self.trunk.probabilities[chosen]

    def opponent_values(self, player: int, node: int) -> SubgameRootValues:
        """Return the root of the subgame at a node of the whole tree: the opponent responds best down to the leaves."""
        tree = self.limited.tree
        at = TreeSubgame(tree, "", np.array([self.limited.position[node]]))
        return subgame_root_values(self.trunk, player, [at])[0]


class LimitedSolver:
    """Solves depth-limited subgames of one tree for one player, with one kind of leaf values.

    Parameters
    ----------
    base
        Strategy of the whole game.
    player
        Player whose strategy is searched.
    limit
        End of the subgames.
    leaves
        Values of the leaves.
    solver
        As in `riverboat.refine`.
    """

    def __init__(
        self, base: Strategy, player: int, limit: DepthLimit, leaves: Leaves, solver: GadgetSolver | int
    ) -> None:
        self.base, self.player, self.limit, self.solver = public_strategy(base), player, limit, solver
        assert isinstance(base.tree, PublicTree)
        self.tree = base.tree
        check_zero_sum(self.tree)
        self.model: ContinuationModel | None = None
        self.by_hand: HandValues | None = None
        if isinstance(leaves, Continuations):
            self.model = ContinuationModel(base, player, leaves)
        elif isinstance(leaves, Mapping):
            self.by_hand = TableValues(self.tree, leaves)
        elif callable(leaves):
            self.by_hand = FunctionValues(self.tree, leaves)
        else:
            raise InputError(
                f"leaves={short_repr(leaves)}: must be Continuations(…), a table of values by line, or a function of public "
                "states and ranges"
            )

    def solve(self, node: int, method: str, root: SubgameRootValues, ranges: Ranges, table: Array) -> SolvedRoot | None:
        """Solve the subgame at a node; None if it is not reached.

        `root` is for the gadget; `ranges` are both players' reach there, float64 [hands]; `table` is the strategy of the
        whole game that the subgame is part of, float64 [table_size].
        """
        possible = LeafState(self.tree, node).possible
        ranges_here = [ranges[p] * possible[p] for p in (0, 1)]
        weights = [ranges_here[p] if method == "unsafe" else self.tree.deal.weights[p] * possible[p] for p in (0, 1)]
        weights[self.player] = ranges_here[self.player] if method == "unsafe" else root.reach * possible[self.player]
        if not ((self.tree.deal.joint() > 0) & (weights[0][:, None] > 0) & (weights[1] > 0)).any():
            return None
        hands = weights[0] > 0, weights[1] > 0
        leaves = self.limit.leaves(self.tree, node)
        responses: list[Array] = []
        while True:
            solved = self._solve_tree(node, leaves, (weights[0], weights[1]), method, root, table, responses)
            if solved is None:
                return None
            found = SolvedRoot(solved[0], solved[1], hands, self.solver if isinstance(self.solver, int) else 0)
            response = self._response(found, node, table) if leaves and len(responses) < self._max_responses else None
            if response is None:
                return found
            responses.append(response)

    @property
    def _max_responses(self) -> int:
        return self.model.choice.responses if self.model is not None else 0

    def _response(self, found: SolvedRoot, node: int, table: Array) -> Array | None:
        """Return the opponent's best response to a solution; None if no leaf is worth more to it than in the solution."""
        whole = table.copy()
        found.write(whole, (self.player,))
        strategy = Strategy(self.tree, whole)
        true = subgame_root_values(strategy, self.player, [TreeSubgame(self.tree, "", np.array([node]))])[0]
        here = found.opponent_values(self.player, node)
        largest = max(float(np.abs(side.pay).max(initial=0.0)) for side in self.tree.player_arrays)
        if ((true.values - here.values)[true.weights > 0] <= EXACT_GAP * max(largest, 1.0)).all():
            return None
        return best_response(strategy, 1 - self.player)[1].probabilities

    def _solve_tree(
        self,
        node: int,
        leaves: list[int],
        weights: tuple[Array, Array],
        method: str,
        root: SubgameRootValues,
        table: Array,
        responses: Sequence[Array],
    ) -> tuple[LimitedTree, Strategy] | None:
        """Make and solve the depth-limited tree; return it and the strategy of its players, without the gadget."""
        evaluator: LeafEvaluator | None = None
        batches: BatchEvaluator | None = None
        zero = [np.zeros((len(leaves), hands)) for hands in self.tree.hand_counts]
        if self.model is not None and self.model.choice.both:
            evaluator, payoffs = self.model.simultaneous(leaves) if leaves else None, hand_payoffs(zero)
        elif self.model is not None:
            payoffs = self.model.payoffs(leaves, responses)
        elif isinstance(self.by_hand, TableValues):
            payoffs = hand_payoffs(self.by_hand.values(leaves, (zero[0], zero[1])))
        else:
            assert self.by_hand is not None
            evaluator = batches = BatchEvaluator(self.by_hand, self.tree, leaves)
            payoffs = hand_payoffs(zero)
        limited = limited_tree(self.tree, node, leaves, weights, payoffs, 1 - self.player)
        solver = self.solver
        if evaluator is not None and leaves:
            assert isinstance(solver, int)
            solver = VectorSolver(solver, _EngineMaker(limited, evaluator))
        trunk = _trunk_strategy(limited, table)
        solved = solve_gadget(
            trunk,
            find_subgame(limited.tree, ""),
            self.player,
            method,
            root,
            solver,
            limited=method == "reach_maxmargin",
        )
        if solved is None:
            return None
        probabilities = np.array(trunk.probabilities, float)
        splice_gadget(
            *solved,
            trunk,
            self.player,
            SubgameRootValues(weights[self.player], root.values, root.weights),
            probabilities,
        )
        if method in ("unsafe", "resolve"):  # the opponent's part is meaningful too
            whole = SubgameRootValues(weights[1 - self.player], root.values, root.weights)
            splice_gadget(*solved, trunk, 1 - self.player, whole, probabilities)
        if batches is not None and leaves:
            limited = limited_tree(self.tree, node, leaves, weights, hand_payoffs(batches.averages()), 1 - self.player)
        return limited, Strategy(limited.tree, probabilities)


@dataclass(frozen=True)
class _EngineMaker:
    """Makes engines of gadget games of a depth-limited tree, whose nodes follow those of the gadget."""

    limited: LimitedTree
    evaluator: LeafEvaluator

    def __call__(self, tree: PublicTree) -> LeafEngine:
        offset = len(tree.nodes.actor) - len(self.limited.tree.nodes.actor)
        return LeafEngine(tree, self.limited.leaves + offset, self.evaluator)


def _trunk_strategy(limited: LimitedTree, table: Array) -> Strategy:
    """Return the strategy of the whole game on a depth-limited tree; choices of continuations are uniform."""
    probabilities = np.where(limited.origin >= 0, table[limited.origin], 0.0)
    return Strategy.from_sums(limited.tree, probabilities)


def state_ranges(table: Array, tree: PublicTree, node: int) -> Ranges:
    """Return both players' ranges at a node: deal weight × own reach. float64 [hands of player p]"""
    ranges = [np.array(weights, float) for weights in tree.deal.weights]
    for ancestor, k in tree.path(node):
        who = int(tree.nodes.actor[ancestor])
        if who >= 0:
            ranges[who] *= tree.player_tables(table)[who][int(tree.nodes.data[ancestor]) + k]
    return ranges[0], ranges[1]


def check_arguments(method: object, players: object, leaves: Leaves, solver: object) -> None:
    """Raise InputError for an unknown method, unknown players, or a combination of options that has no meaning."""
    validation.check_text("method", method)
    validation.check_name("method", str(method), METHODS)
    if not isinstance(players, Sequence) or not players or any(p not in (0, 1) for p in players):
        raise InputError(f"players={short_repr(players)}: must be 0, 1 or both, in a tuple")
    if not callable(solver):
        validation.check_integer("solver", solver, 1)
    both = isinstance(leaves, Continuations) and leaves.both
    if method == "reach_maxmargin" and (both or not isinstance(leaves, Continuations)):
        raise InputError(
            "method='reach_maxmargin': gifts are values against the strategy that continues at the leaves: "
            "use Continuations(…, both=False), or maxmargin"
        )
    if callable(solver) and (both or callable(leaves)):
        raise InputError(
            "solver=…: linear programs need leaf values that are linear in one player's range: give a number of iterations "
            "for a value function, and where both players choose continuations"
        )
    if callable(solver) and isinstance(leaves, Mapping):
        raise InputError("solver=…: the values of a table need not sum to zero, so give a number of iterations")


def root_values(base: Strategy, player: int, subgame: TreeSubgame, method: str) -> SubgameRootValues:
    """Return the root of a subgame against a strategy, with gifts for reach-maxmargin."""
    (root,) = subgame_root_values(base, player, [subgame])
    if method != "reach_maxmargin":
        return root
    return root._replace(gifts=subgame_gifts(base, player, [subgame], [root], split=False)[0])


def opponent_acted(tree: PublicTree, node: int, player: int) -> bool:
    """Return whether the opponent had a choice before a node."""
    return any(
        tree.nodes.actor[ancestor] == 1 - player and tree.nodes.width[ancestor] > 1 for ancestor, _ in tree.path(node)
    )
