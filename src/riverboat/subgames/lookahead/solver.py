"""Solve one depth-limited subgame by any method of subgame solving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead.histories import limited_histories
from riverboat.subgames.lookahead.leaf_models import continuation_table
from riverboat.subgames.lookahead.leaf_values import Continuations, Leaves
from riverboat.subgames.lookahead.subgame_solver import (
    LimitedSolver,
    check_arguments,
    opponent_acted,
    root_values,
)
from riverboat.subgames.lookahead.trees import DepthLimit, public_strategy
from riverboat.subgames.resolving import (
    GadgetSolver,
    lp_solver,
    ranges_at,
    run_solver,
)
from riverboat.trees.gadgets import find_subgame
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


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
