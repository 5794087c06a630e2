"""Solve one depth-limited subgame of a public tree by any method of subgame solving.

The subgame is cut at its leaves and solved as a tree of its own: with choices of continuation strategies as decisions
of the opponent, with the values of a table as payoffs, or with values of a function that every traversal computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from riverboat.core import validation
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import Array
from riverboat.solvers.tabular.best_response import best_response, check_zero_sum, quality
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead.histories import limited_histories
from riverboat.subgames.lookahead.leaf_values import (
    BatchEvaluator,
    ContinuationModel,
    Continuations,
    FunctionValues,
    HandValues,
    LeafEngine,
    LeafEvaluator,
    Ranges,
    TableValues,
    ValueFunction,
    ValueTable,
    continuation_table,
    hand_payoffs,
)
from riverboat.subgames.lookahead.trees import DepthLimit, LeafState, LimitedTree, limited_tree, public_strategy
from riverboat.subgames.resolving import (
    GadgetSolver,
    VectorSolver,
    lp_solver,
    ranges_at,
    run_solver,
    solve_gadget,
    splice_gadget,
)
from riverboat.subgames.values import SubgameRootValues, subgame_gifts, subgame_root_values
from riverboat.trees.gadgets import TreeSubgame, find_subgame
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree

METHODS = ("unsafe", "resolve", "maxmargin", "reach_maxmargin")
Leaves: TypeAlias = Continuations | ValueTable | ValueFunction
EXACT_GAP = 1e-9  # largest difference of values that still counts as exact, as a share of the largest payoff


@dataclass(frozen=True, eq=False)
class LimitedSolution:
    """Solution of a depth-limited subgame.

    Attributes
    ----------
    strategy
        Strategy of the whole game: the base strategy, with the solution in the subgame down to its leaves.
    trunk
        Solution on the tree that ends at the leaves, where choices of continuation strategies are decisions.
    leaves
        Lines to the leaves.
    method
        Method at the root.
    values
        Value of each hand of the opponent at the root, given the hand, if it responds best down to the leaves; of a game
        without hands, the one value at `start`.
    iterations
        Iterations of CFR, 0 for linear programs.

    Examples
    --------
    >>> import riverboat as rb
    >>> solution = solve_limited(rb.solve("leduc", iterations=50).strategy, "r", player=1, depth=1)
    >>> solution.leaves, len(solution.values)
    (('rc', 'rr'), 6)
    """

    strategy: Strategy
    trunk: Strategy
    leaves: tuple[str, ...]
    method: str
    values: dict[str, float]
    iterations: int


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
        self.base, self.player, self.limit, self.leaves, self.solver = (
            public_strategy(base),
            player,
            limit,
            leaves,
            solver,
        )
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


def solve_limited(
    base: Strategy,
    line: str = "",
    *,
    player: int,
    depth: int | None = None,
    rounds: int | None = None,
    leaves: Leaves = Continuations(),  # noqa: B008  # frozen
    method: str = "resolve",
    solver: GadgetSolver | int = lp_solver,
) -> LimitedSolution:
    """Solve one depth-limited subgame for one player.

    Parameters
    ----------
    base
        Strategy of a game: play outside of the subgame, both players' ranges, and the opponent's values at the root. Games
        with hidden actions are searched from their root.
    line
        Line to the root of the subgame; by default the whole game.
    player
        Player whose strategy is searched.
    depth
        Number of actions after which the subgame ends; None: no limit.
    rounds
        Number of betting rounds after which the subgame ends; None: no limit.
    leaves
        Values of the leaves: `Continuations` of the base strategy; a table with the values of both players' hands by line
        (`value_table`); or a function of public states and ranges. It is called with a list of `LeafState` and with both
        players' ranges, float64 [states, hands] whose rows sum to one, and returns the expected payoff of each hand of
        both players, in arrays of the same shapes.
    method
        `unsafe`, `resolve`, `maxmargin` or `reach_maxmargin`. If the opponent has not acted before the root, both ranges are
        facts, and the subgame is solved without a gadget.
    solver
        Function that solves gadget games, or a number of iterations of DCFR. Linear programs need `Continuations`.

    Returns
    -------
    LimitedSolution
        The strategy with the solution in the subgame.

    Raises
    ------
    InputError
        If the game is not a zero-sum game of two players, an option is invalid, or leaf values have the wrong shape
        or are not finite.

    References
    ----------
    .. [1] Brown, Sandholm and Amos, "Depth-limited solving for imperfect-information games", NeurIPS 2018.
    .. [2] Moravcik et al., "DeepStack: expert-level artificial intelligence in heads-up no-limit poker", Science 2017.

    Examples
    --------
    >>> import riverboat as rb
    >>> base = rb.solve("leduc", iterations=50).strategy
    >>> leaves = Continuations(["blueprint", "r:5", "f:5"])
    >>> solution = solve_limited(base, "cc/Kh/", player=0, depth=2, leaves=leaves)
    >>> solution.leaves, round(sum(solution.strategy["Ks:cc/Kh/"].values()), 6)
    (('cc/Kh/cr', 'cc/Kh/rr'), 1.0)
    """
    check_arguments(method, (player,), leaves, solver)
    if isinstance(base, Strategy) and isinstance(base.tree, HistoryTree):
        return _solve_limited_histories(base, line, player, DepthLimit(depth, rounds), leaves, solver)
    tree = public_strategy(base).tree
    assert isinstance(tree, PublicTree)
    limited_solver = LimitedSolver(base, player, DepthLimit(depth, rounds), leaves, solver)
    subgame = find_subgame(tree, line)
    node = int(subgame.roots[0])
    root = root_values(base, player, subgame, method)
    method = method if opponent_acted(tree, node, player) else "unsafe"
    table = np.array(base.probabilities, float)
    solved = limited_solver.solve(node, method, root, ranges_at(base, line), table)
    if solved is None:
        raise InputError(f"{tree.name}: the base strategy never reaches {line!r}: there is nothing to search")
    solved.write(table, (player,))
    values = solved.opponent_values(player, node)
    names = tree.hands[1 - player]
    return LimitedSolution(
        Strategy(tree, table, {**base.provenance, "searched": line, "method": method}),
        solved.trunk,
        tuple(tree.line(leaf) for leaf in limited_solver.limit.leaves(tree, node)),
        method,
        {names[h]: float(values.values[h]) for h in np.flatnonzero(values.weights > 0)},
        solved.iterations,
    )


def _solve_limited_histories(
    base: Strategy, line: str, player: int, limit: DepthLimit, leaves: Leaves, solver: GadgetSolver | int
) -> LimitedSolution:
    """Solve a history game down to a number of actions, from its root."""
    tree = base.tree
    assert isinstance(tree, HistoryTree)
    tree.check_zero_sum()
    plain = isinstance(leaves, Continuations) and not leaves.both and not leaves.responses
    if line or limit.rounds is not None or not plain:
        raise InputError(
            f"{tree.name}: a game without public states has depth-limited subgames from its root only (line='', depth=…), "
            "and leaf values by Continuations(strategies)"
        )
    assert isinstance(leaves, Continuations)
    own = tree.spread(tree.owner == player)
    others = [continuation_table(base, given) for given in leaves.strategies]
    profiles = [np.where(own, base.probabilities, other) for other in others]
    limited = limited_histories(tree, limit.actions, 1 - player, profiles)
    trunk = run_solver(solver, limited.tree)
    table = np.array(base.probabilities, float)
    copied = limited.origin >= 0
    copied[copied] = own[limited.origin[copied]]
    table[limited.origin[copied]] = trunk.probabilities[copied]
    value = quality(trunk).best[1 - player]
    strategy = Strategy(tree, table, {**base.provenance, "searched": "start", "method": "unsafe"})
    iterations = solver if isinstance(solver, int) else 0
    return LimitedSolution(strategy, trunk, limited.leaves, "unsafe", {"start": value}, iterations)


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
