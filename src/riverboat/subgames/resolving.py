"""Subgame refinement on compiled trees: unsafe, re-solve, maxmargin, reach-maxmargin, and values of public states.

Brown and Sandholm (2017) say *endgame* for subgame. Each subgame is solved separately, given only the base strategy, so
several can be refined in any order or at once. The safe methods never raise the exploitability of either player's
strategy:

- The opponent's value V'(I) in a subgame stays at or below CBV(I) for each of its hands I (re-solve, maxmargin). So all
  its values on the path stay at or below those against the base strategy.
- Reach-maxmargin maximizes margins that include the hand's gift: what its path gives up elsewhere. A single subgame may
  spend the gift. Of several, each obeys V'(I) ≤ CBV(I), so that gifts only loosen margins ("Refining multiple endgames
  independently" of Brown and Sandholm 2017).
- Its later form for several subgames (NIPS 2017) splits gifts among the subgames below them instead, and lets V'(I) rise
  by its share, so that again CBV'(I') ≤ CBV(I') at every decision of the opponent on the path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riverboat.core.arguments import parse_count
from riverboat.core.arrays import normalize, safe_divide
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE, TERMINAL, Array, Game
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.run_loop import step_until
from riverboat.solvers.schedules import ScheduleOrFactory, ScheduleStep
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.best_response import check_zero_sum, hand_values, quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.tree_engine import TreeEngine
from riverboat.strategies.queries import tabular_ranges
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.subgames.values import SubgameRootValues, history_reach, subgame_root_values
from riverboat.trees.compile import as_tree, to_history_tree
from riverboat.trees.gadgets import (
    GadgetTree,
    HandWeights,
    TreeSubgame,
    ValueLimits,
    locked_gadget,
    maxmargin_gadget,
    resolve_gadget,
    subgame_tree,
    unsafe_gadget,
)
from riverboat.trees.public import PublicTree

EngineFactory = Callable[[PublicTree], TreeEngine]

# --- maxmargin by CFR ---------------------------------------------------------------------------


def solve_vector_maxmargin(
    subgame: TreeSubgame,
    player: int,
    reach: Array,
    shifts: Array,
    iterations: int = 1000,
    schedule: str | ScheduleOrFactory = "dcfr",
    limits: ValueLimits | None = None,
    engine: EngineFactory | None = None,
) -> tuple[GadgetTree, Strategy]:
    """Solve the game of `maxmargin_gadget` by CFR on vectors of hands, for large public trees.

    Returns the subgame and a strategy in which only the part of `player` is meaningful. `reach` is the player's range,
    float64 [its hands]; `shifts` is float64 [hands of the opponent]. Let w[I] be the compatible weight of hand I, v[I]
    its counterfactual value in the subgame, and ρ the opponent's probabilities over hands. The opponent enters with the
    range ρ[I] / w[I], and hand I has the value v[I] / w[I] − shift[I].

    Parameters
    ----------
    subgame
        Subgame of a public tree.
    player
        Player whose strategy is solved.
    reach
        Range of the player. float64 [its hands]
    shifts
        Shift of each hand of the opponent. float64 [hands of the opponent]
    iterations
        Number of iterations of CFR.
    schedule
        CFR variant.
    limits
        Most that each hand of the opponent may be worth; None: no limits.
    engine
        Makes the engine that traverses the subgame; by default a `TreeEngine`.

    Returns
    -------
    tuple[GadgetTree, Strategy]
        The subgame with its gadget, and a strategy in which only the part of `player` is meaningful.

    Examples
    --------
    >>> import riverboat as rb
    >>> strategy = rb.solve("leduc", iterations=20).strategy
    >>> [each.endgame for each in rb.refine(strategy, "cc/Kh/", solver=20).endgames]
    ['cc/Kh/', 'cc/Kh/']
    """
    tree, opponent = subgame.tree, 1 - player
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name} is not a public tree: solve maxmargin_gadget instead")
    possible_hands = tree.possible_hands[opponent][tree.board_of_node[subgame.roots[0]]]
    opponent_range = np.where(possible_hands, tree.deal.weights[opponent], 0.0)
    gadget = unsafe_gadget(subgame, (reach, opponent_range) if player == 0 else (opponent_range, reach))
    sub = gadget.tree
    assert isinstance(sub, PublicTree)
    compatible = sub.deal.joint() > 0
    weight = (compatible if opponent == 0 else compatible.T) @ sub.deal.weights[player]
    possible = weight > 0
    entering_range = np.zeros(len(weight))  # read by every traversal of the player
    sides = list(sub.player_arrays)
    sides[player] = sides[player]._replace(weight_opp=entering_range)
    sub.player_arrays = sides[0], sides[1]

    solver, traversals = CFR(sub, schedule), engine(sub) if engine is not None else TreeEngine(sub, np.float64)
    if not solver.schedule.alternating:
        raise InputError(f"{tree.name}: schedule {solver.schedule}: the maxmargin gadget needs an alternating schedule")
    bounds = ValueLimits(np.zeros(len(weight)), 0.0) if limits is None else limits
    regret, choice = np.zeros(len(weight)), possible / possible.sum()
    enter_regret, enter = np.zeros((2, len(weight))), np.zeros(len(weight))  # regrets of stopping and of entering
    for t in range(1, iterations + 1):
        step = solver.schedule.step(t)
        row = np.array([*step, solver.noise])
        entering_range[:] = safe_divide(choice + bounds.multiplier * enter, weight)
        traversals.traverse(player, solver.tables[player], traversal.UPDATE, row)
        values = safe_divide(traversals.traverse(opponent, solver.tables[opponent], traversal.UPDATE, row), weight)
        hand_values = np.where(possible, values - shifts, 0.0)
        excess = np.where(possible, values - bounds.values, 0.0)
        regret = _add_regrets(regret, np.where(possible, hand_values - choice @ hand_values, 0.0), step)
        enter_regret = _add_regrets(enter_regret, np.array([-enter * excess, (1 - enter) * excess]), step)
        choice = normalize(np.maximum(regret, 0.0)) if regret.max() > 0 else possible / possible.sum()
        enter = normalize(np.maximum(enter_regret, 0.0))[1] * possible
    solver.iteration = iterations
    return gadget, solver.average()


def _add_regrets(regret: Array, instant: Array, step: ScheduleStep) -> Array:
    """Return cumulative regrets after one step of a schedule."""
    discounted: Array = regret * np.where(regret > 0, step.positive, step.negative)
    return np.asarray(np.maximum(discounted + instant, step.floor))


# --- values of public states --------------------------------------------------------------------

MAX_LP_HISTORIES = 200_000  # larger subgames are solved by CFR
MAX_ITERATIONS = 100_000


@dataclass(frozen=True)
class StateValues:
    """Equilibrium of the game from a public state on.

    Values are in the game's unit; values by hand are conditional on the hand.

    Attributes
    ----------
    line
        Line to the public state.
    value_low
        Certified lower bound of player 0's value.
    value_high
        Certified upper bound of player 0's value.
    by_hand
        Value of each hand of each player, given the hand.
    strategy
        Equilibrium strategy of the subgame.

    Examples
    --------
    >>> import riverboat as rb
    >>> values = state_values(rb.compile_game(rb.game("kuhn")), "cr")
    >>> bool(values.value_low <= values.value_high)
    True
    """

    line: str
    value_low: float  # certified bounds of player 0's value
    value_high: float
    by_hand: tuple[dict[str, float], dict[str, float]]
    strategy: Strategy

    @property
    def value(self) -> float:
        """Midpoint of the certified interval."""
        return (self.value_low + self.value_high) / 2


def state_values(
    tree: PublicTree, line: str, ranges: tuple[HandWeights, HandWeights] | None = None, until: float = 1e-6
) -> StateValues:
    """Solve the game from a public state on with given ranges: by LP if it is small, otherwise by CFR to `until`.

    Parameters
    ----------
    tree
        Public tree.
    line
        Line to a public state.
    ranges
        Weight of each hand of each player at the state; None: all that the deal has.
    until
        Target exploitability of CFR, in the game's unit.

    Returns
    -------
    StateValues
        Values and an equilibrium strategy.

    Raises
    ------
    InputError
        If the tree has no such line, or a range is invalid.

    Examples
    --------
    >>> import riverboat as rb
    >>> len(state_values(rb.compile_game(rb.game("kuhn")), "r").by_hand[1])
    3
    """
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: values of a public state need a public game")
    sub = subgame_tree(tree, line, ranges)
    check_zero_sum(sub)
    if len(sub.nodes.actor) * sub.hand_counts[0] * sub.hand_counts[1] <= MAX_LP_HISTORIES:
        strategy = solve_lp(sub).strategy
    else:
        solver = CFR(sub, "dcfr")
        step_until(solver, lambda: solver.exploitability() <= until, MAX_ITERATIONS)
        strategy = solver.average()
    low, high = quality(strategy).bracket
    by_hand = []
    for player in (0, 1):
        possible = sub.deal.weights[player] > 0
        values = hand_values(strategy, player)
        by_hand.append({sub.hands[player][h]: float(values[h]) for h in np.flatnonzero(possible)})
    return StateValues(line, low, high, (by_hand[0], by_hand[1]), strategy)


def ranges_at(strategy: Strategy, line: str) -> tuple[Array, Array]:
    """Return both players' ranges at a public state under a strategy: deal weight × own reach.

    Parameters
    ----------
    strategy
        Strategy of a public tree.
    line
        Line to a public state.

    Returns
    -------
    tuple[Array, Array]
        Range of each player. float64 [hands] each

    Examples
    --------
    >>> import riverboat as rb
    >>> [len(weights) for weights in ranges_at(rb.solve("kuhn", iterations=5).strategy, "r")]
    [3, 3]
    """
    tree = strategy.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: ranges need a public game")
    return tabular_ranges(strategy, tree.node(line))


METHODS = (
    "unsafe", "resolve", "maxmargin", "reach_maxmargin", "reach_maxmargin_split", "reach_maxmargin_whole", "optimal",
)  # fmt: skip
GadgetSolver = Callable[[Tree], Strategy]


@dataclass(frozen=True)
class VectorSolver:
    """Solver of gadget games of public trees by DCFR on vectors of hands, with an engine of the caller's.

    Attributes
    ----------
    iterations
        Number of iterations.
    engine
        Makes the engine that traverses a gadget game, such as one that values leaves by a function.

    Examples
    --------
    >>> import numpy as np
    >>> import riverboat as rb
    >>> solver = VectorSolver(500, lambda tree: TreeEngine(tree, np.float64))
    >>> bool(abs(quality(solver(rb.compile_game(rb.game("kuhn")))).value + 1 / 18) < 1e-3)
    True
    """

    iterations: int
    engine: EngineFactory

    def __call__(self, tree: Tree) -> Strategy:
        assert isinstance(tree, PublicTree)
        solver, engine = CFR(tree, "dcfr"), self.engine(tree)
        for t in range(1, self.iterations + 1):
            row = np.array([*solver.schedule.step(t), solver.noise])
            for player in (0, 1):
                engine.traverse(player, solver.tables[player], traversal.UPDATE, row)
        solver.iteration = self.iterations
        return solver.average()


def lp_solver(tree: Tree) -> Strategy:
    """Solve a gadget game exactly by linear programming.

    Parameters
    ----------
    tree
        Gadget game.

    Returns
    -------
    Strategy
        An equilibrium.

    Examples
    --------
    >>> import riverboat as rb
    >>> round(lp_solver(rb.compile_game(rb.matrix([[0, 3], [1, 0]])))["player 0"]["r1"], 6)
    0.25
    """
    return solve_lp(tree).strategy


def lines_after_chance(tree: str | Game | Tree, event: int = 1) -> list[str]:
    """Return the lines right after the given public chance event, counted from 1: the roots of a betting round.

    Parameters
    ----------
    tree
        Public game, its name, or its tree.
    event
        Number of the chance event, from 1.

    Returns
    -------
    list[str]
        The lines right after the given public chance event, counted from 1.

    Examples
    --------
    >>> import riverboat as rb
    >>> lines_after_chance("leduc")[:3]
    ['cc/Jh/', 'cc/Js/', 'cc/Qh/']
    """
    tree, event = as_tree(tree), parse_count(event, "event", 1)
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: lines need a public game; name information sets instead")
    actor, lines = tree.nodes.actor, []
    stack = [(0, 0)]
    while stack:
        node, events = stack.pop()
        if events < event:
            child_events = events + (actor[node] == CHANCE)
            stack += [(child, child_events) for child in reversed(list(tree.children(node)))]
        elif actor[node] != TERMINAL:
            lines.append(tree.line(node))
    return lines


FIRST_MULTIPLIER, MAX_MULTIPLIER = 4.0, 4.0**8
EXACT_EXCESS, ITERATED_EXCESS = 1e-8, 1e-3  # most by which a hand may exceed its limit, as a share of the payoffs' span


def solve_gadget(
    base: Strategy,
    subgame: TreeSubgame,
    player: int,
    method: str,
    root: SubgameRootValues,
    solver: GadgetSolver | int,
    *,
    limited: bool = False,
) -> tuple[GadgetTree, Strategy] | None:
    """Make and solve the gadget game of a method for one subgame.

    Parameters
    ----------
    base
        Strategy outside of the subgame, which unsafe solving takes both ranges from.
    subgame
        Subgame of the base strategy's tree.
    player
        Player whose strategy is refined.
    method
        One of `METHODS`, but `optimal`.
    root
        Range of the player, and values and gifts of the opponent's hands: a safe gadget bounds their sum.
    solver
        As in `refine`.
    limited
        Whether no hand of the opponent may exceed its value in `root`, whatever its gift. The multiplier of the penalty
        grows until that holds.

    Returns
    -------
    tuple[GadgetTree, Strategy] | None
        The gadget game and its solution; None if the base strategy never reaches the subgame.

    Examples
    --------
    >>> import riverboat as rb
    >>> base = rb.Strategy.uniform(rb.compile_game(rb.game("kuhn")))
    >>> from riverboat.trees.gadgets import find_subgame
    >>> subgame = find_subgame(base.tree, "c")
    >>> root = subgame_root_values(base, 1, [subgame])[0]
    >>> gadget, strategy = solve_gadget(base, subgame, 1, "resolve", root, lp_solver)
    >>> strategy["K:enter"]
    {'c': 0.0, 'r': 1.0}
    """
    if not limited:
        return _solve_gadget(base, subgame, player, method, root, solver)
    most = (ITERATED_EXCESS if isinstance(solver, int) else EXACT_EXCESS) * _payoff_span(subgame.tree)
    multiplier = FIRST_MULTIPLIER
    while True:
        solved = _solve_gadget(base, subgame, player, method, root, solver, ValueLimits(root.values, multiplier))
        if solved is None or multiplier >= MAX_MULTIPLIER:
            return solved
        table = np.array(base.probabilities, float)
        splice_gadget(*solved, base, player, root, table)
        (after,) = subgame_root_values(Strategy(base.tree, table), player, [subgame])
        if (after.values - root.values)[root.weights > 0].max() <= most:
            return solved
        multiplier *= 4.0


def _solve_gadget(
    base: Strategy,
    subgame: TreeSubgame,
    player: int,
    method: str,
    root: SubgameRootValues,
    solver: GadgetSolver | int,
    limits: ValueLimits | None = None,
) -> tuple[GadgetTree, Strategy] | None:
    """Make and solve the gadget game of a method; None if the subgame has reach zero under the base strategy.

    A safe gadget bounds the opponent's value with each hand by `root.values`, plus `root.gifts` for reach-maxmargin, and
    by `limits`.
    """
    if not (root.weights > 0).any():
        return None
    if "maxmargin" in method:
        shifts = root.values + _bound_gifts(subgame.tree, root)
        if isinstance(solver, int | VectorSolver) and isinstance(subgame.tree, PublicTree):
            count, engine = (solver, None) if isinstance(solver, int) else (solver.iterations, solver.engine)
            return solve_vector_maxmargin(subgame, player, root.reach, shifts, count, limits=limits, engine=engine)
        gadget = maxmargin_gadget(subgame, player, root.reach, shifts, limits)
    elif method == "resolve":
        gadget = resolve_gadget(subgame, player, root.reach, root.values)
    elif isinstance(subgame.tree, PublicTree):
        ranges = ranges_at(base, subgame.name)
        if not ((subgame.tree.deal.joint() > 0) & (ranges[0][:, None] > 0) & (ranges[1] > 0)).any():
            return None
        gadget = unsafe_gadget(subgame, ranges)
    else:
        reach = history_reach(base, -1)[subgame.roots]
        if not (reach > 0).any():
            return None
        gadget = unsafe_gadget(subgame, reach)
    return gadget, run_solver(solver, gadget.tree)


def run_solver(solver: GadgetSolver | int, tree: Tree) -> Strategy:
    """Solve a tree by a function, or by a number of iterations of DCFR.

    Parameters
    ----------
    solver
        Function that solves a tree, or a number of iterations.
    tree
        Tree to solve.

    Returns
    -------
    Strategy
        The solution.

    Examples
    --------
    >>> import riverboat as rb
    >>> len(run_solver(10, rb.compile_game(rb.game("kuhn"))))
    12
    """
    if not isinstance(solver, int):
        solved = solver(tree)
        if not isinstance(solved, Strategy):
            raise InputError(
                f"solver: returns {short_repr(solved)}: must return a Strategy for the tree that it is given"
            )
        return solved
    cfr = CFR(tree, "dcfr")
    cfr.step(solver)
    return cfr.average()


def _bound_gifts(tree: Tree, root: SubgameRootValues) -> Array:
    """Return gifts minus the least gift, capped at twice the span of payoffs, which does not change the solutions.

    The gift of a hand with almost no weight may exceed all payoffs. A constant added to all hands changes nothing.
    Neither does the part above the cap, since another hand's margin is then always smaller.
    """
    gifts = np.broadcast_to(root.gifts, root.values.shape)
    excess: Array = gifts - gifts[root.weights > 0].min()
    return excess.clip(0.0, 2 * _payoff_span(tree))


def _payoff_span(tree: Tree) -> float:
    """Return an upper bound on the difference of two payoffs."""
    side = tree.player_arrays[0]
    return 2 * max(float(np.abs(side.pay).max(initial=0.0)), float(np.abs(side.matrix).max(initial=0.0)))


def splice_gadget(
    gadget: GadgetTree, solved: Strategy, base: Strategy, player: int, root: SubgameRootValues, table: Array
) -> None:
    """Write the refined player's part of a gadget solution to the table of the whole game.

    Its hands with reach zero under the base strategy are not in the gadget and keep their strategy.

    Parameters
    ----------
    gadget
        Gadget game.
    solved
        Its solution.
    base
        Strategy of the whole game.
    player
        Player whose strategy is refined.
    root
        Range of the player at the root of the subgame.
    table
        Probabilities of the whole game, which change. float64 [table_size]

    Examples
    --------
    >>> import riverboat as rb
    >>> base = rb.Strategy.uniform(rb.compile_game(rb.game("kuhn")))
    >>> from riverboat.trees.gadgets import find_subgame
    >>> subgame = find_subgame(base.tree, "c")
    >>> root = subgame_root_values(base, 1, [subgame])[0]
    >>> table = base.probabilities.copy()
    >>> splice_gadget(*solve_gadget(base, subgame, 1, "resolve", root, lp_solver), base, 1, root, table)
    >>> Strategy(base.tree, table)["K:c"]
    {'c': 0.0, 'r': 1.0}
    """
    tree, origin = base.tree, gadget.origin
    refined = np.zeros(tree.table_size, bool)
    if isinstance(tree, PublicTree):
        tree.player_tables(refined)[player][:, root.reach > 0] = True
    else:
        for infoset in tree.infosets():
            if infoset.player == player:
                refined[infoset.offset : infoset.offset + len(infoset.actions)] = True
    copied = (origin >= 0) & refined[origin]
    table[origin[copied]] = solved.probabilities[copied]


def refine_jointly(
    base: Strategy, player: int, parts: Sequence[TreeSubgame], solver: GadgetSolver | int, table: Array
) -> None:
    """Refine all subgames at once, on the whole tree with the player's strategy fixed outside them.

    Parameters
    ----------
    base
        Strategy of the whole game.
    player
        Player whose strategy is refined.
    parts
        The subgames.
    solver
        Function that solves a game, or a number of iterations of DCFR.
    table
        Probabilities of the whole game; those of the player inside the subgames are replaced. float64 [table_size]

    Examples
    --------
    >>> import riverboat as rb
    >>> base = rb.Strategy.uniform("leduc")
    >>> table = np.array(base.probabilities)
    >>> refine_jointly(base, 0, [TreeSubgame(base.tree, "cc/Kh/", np.array([base.tree.node("cc/Kh/")]))], lp_solver, table)
    >>> rb.quality(Strategy(base.tree, table)).best[1] <= rb.quality(base).best[1] + 1e-9
    True
    """
    tree = base.tree
    flat = to_history_tree(tree)
    origin = flat.origin if flat.origin is not None and flat is not tree else np.arange(flat.table_size)
    inside = np.zeros(tree.table_size, bool)  # the player's entries in the subgames
    for subgame in parts:
        for node in np.flatnonzero(subgame.node_mask & (tree.nodes.actor == player)):
            first, width = int(tree.nodes.data[node]), int(tree.nodes.width[node])
            tree.player_tables(inside)[player][first : first + width] = True
    own = np.flatnonzero(flat.nodes.actor == player)
    free = np.zeros(len(flat.nodes.actor), bool)
    free[own] = inside[origin[flat.nodes.data[own]]]
    gadget = locked_gadget(flat, base.probabilities[origin], player, free)
    solved = run_solver(solver, gadget.tree)
    copied = gadget.origin >= 0
    copied[copied] = inside[origin[gadget.origin[copied]]]
    table[origin[gadget.origin[copied]]] = solved.probabilities[copied]
