"""Exact equilibria of small two-player constant-sum games by linear programming on the sequence form.

The program of player 0 (Koller, Megiddo & von Stengel 1996; its dual is the program of player 1) is

    maximize q_0  subject to  E x = e,  F'q <= A'x,  x >= 0

where q_0 is the value that x guarantees, and the dual variables of F'q <= A'x are an optimal plan of player 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import block_array

from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import Array
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy, Tree

MAX_GAP = 1e-7  # share of the largest payoff; a solution with a larger gap is improved
_TIGHTEST_TOLERANCE, _DEFAULT_TOLERANCE = 1e-10, 1e-7  # the smallest tolerance of HiGHS, and its default
# Above this number of sequences of both players, an interior-point method is far faster than the simplex.
MAX_SIMPLEX_SEQUENCES = 5000
_NOISE = 1e-12  # plan entries below this are rounding errors

highspy: Any
try:  # optional on servers, which need it for nothing else
    import highspy
except ImportError:
    highspy = None


@dataclass(frozen=True, eq=False)
class LPSolution:
    """An equilibrium with its certificate: best responses to it show that the value lies in the bracket.

    Attributes
    ----------
    value
        Value to player 0: the middle of the bracket.
    bracket
        What player 0's strategy guarantees, and what player 1's strategy concedes.
    strategy
        The equilibrium.
    plans
        Realization plans of both players. float64 [sequences] each

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.lp import solve_lp
    >>> solve_lp(rb.compile_game(rb.game("kuhn"))).gap < 1e-9
    True
    """

    value: float  # to player 0: the middle of the bracket
    bracket: tuple[float, float]  # what player 0's strategy guarantees, what player 1's strategy concedes
    strategy: Strategy
    plans: tuple[Array, Array]

    @property
    def gap(self) -> float:
        """Width of the bracket, which is NashConv."""
        return self.bracket[1] - self.bracket[0]


def solve_lp(tree: Tree) -> LPSolution:
    """Compute an equilibrium of a constant-sum game with perfect recall.

    Information sets that a player's own plan never reaches are played uniformly.

    Parameters
    ----------
    tree
        Tree of a two-player game.

    Returns
    -------
    LPSolution
        The equilibrium and its certificate.

    Raises
    ------
    InputError
        If the game has another number of players, imperfect recall, or HiGHS is not installed.
    ZeroSumError
        If payoffs do not sum to a constant.
    RiverboatError
        If HiGHS finds no optimum.

    References
    ----------
    .. [1] Koller, Megiddo & von Stengel, "Efficient computation of equilibria for extensive two-person games", 1996.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.lp import solve_lp
    >>> round(solve_lp(rb.compile_game(rb.game("kuhn"))).value, 6)
    -0.055556
    """
    form = _constant_sum_form(tree)
    x, y = SequenceFormLP(form, 0).solve()
    solution = _solution(form, x, y, "lp")
    if solution.gap <= MAX_GAP * float(np.abs(form.payoffs[0].data).max(initial=0.0)):
        return solution
    # The plan from dual variables was rounded where the other player hardly ever goes: solve that player's program, too.
    best_y, _ = SequenceFormLP(form, 1).solve()
    return min((solution, _solution(form, x, best_y, "lp")), key=lambda found: found.gap)


def undominated(tree: Tree, against: Strategy | None = None, tremble: float = 1e-3) -> LPSolution:
    """Compute an equilibrium in which neither player's strategy is weakly dominated.

    Among all optimal plans of a player, choose one that does best against a fully mixed strategy of the opponent: a
    plan that dominated it would be optimal too, and better against that strategy [1]_. Information sets that a player's
    own plan never reaches affect no payoff and are played uniformly.

    Parameters
    ----------
    tree
        Tree of a two-player constant-sum game.
    against
        Strategy whose mixture with uniform is the fully mixed one; by default uniform.
    tremble
        Share of uniform in that mixture, above 0 and at most 1.

    Returns
    -------
    LPSolution
        The equilibrium and its certificate.

    Raises
    ------
    InputError
        If `tremble` is out of range, or `against` is for another tree.

    References
    ----------
    .. [1] Ganzfried & Sandholm, "Endgame solving in large imperfect-information games", AAMAS 2015.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.lp import undominated
    >>> round(undominated(rb.compile_game(rb.game("kuhn"))).value, 6)
    -0.055556
    """
    if not 0 < tremble <= 1:
        raise InputError(f"{tree.name}: tremble={tremble:g}: must be above 0 and at most 1")
    form = _constant_sum_form(tree)
    uniform = Strategy.uniform(tree)
    mixed = uniform
    if against is not None:
        form.plan(against, 0)  # raises if the strategy is for another tree
        mixed = Strategy(tree, (1 - tremble) * against.probabilities + tremble * uniform.probabilities)
    x, y = (SequenceFormLP(form, p).refine(form.payoffs[p] @ form.plan(mixed, 1 - p)) for p in (0, 1))
    return _solution(form, x, y, "undominated lp")


def quasi_perfect(tree: Tree, tremble: float = 1e-3) -> LPSolution:
    """Approximate a quasi-perfect equilibrium: both players allow for errors of the other.

    Both players play every sequence with at least `tremble` to the power of its length; the result is the optimum under
    this constraint, without the imposed errors. In theory the tremble tends to zero; numerically about 1e-3 is the
    limit, and only short trees work.

    Parameters
    ----------
    tree
        Tree of a two-player constant-sum game.
    tremble
        Probability of an error, above 0 and at most 0.1.

    Returns
    -------
    LPSolution
        The strategies, with their certificate.

    Raises
    ------
    InputError
        If `tremble` is out of range.

    References
    ----------
    .. [1] Miltersen & Sørensen, "Computing a quasi-perfect equilibrium of a two-player game", Economic Theory 2010.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.lp import quasi_perfect
    >>> round(quasi_perfect(rb.compile_game(rb.game("kuhn"))).value, 2)
    -0.06
    """
    if not 0 < tremble <= 0.1:
        raise InputError(f"{tree.name}: tremble={tremble:g}: must be above 0 and at most 0.1")
    form = _constant_sum_form(tree)
    lower_bounds = tuple(tremble ** _sequence_lengths(form, player) for player in (0, 1))
    plans = []
    for player in (0, 1):
        plan = SequenceFormLP(form, player).solve_with_trembles(lower_bounds[player], lower_bounds[1 - player])
        plex = form.treeplexes[player]
        imposed = plan[1:] <= 2 * tremble * np.repeat(plan[plex.parent], plex.width)
        plans.append(np.concatenate([[1.0], np.where(imposed, 0.0, plan[1:])]))
    return _solution(form, plans[0], plans[1], "quasi-perfect lp")


def _sequence_lengths(form: SequenceForm, player: int) -> Array:
    """Return the number of actions in each sequence. float64 [sequences]"""
    plex = form.treeplexes[player]
    lengths = np.zeros(plex.sequences)
    for parent, first, width in zip(plex.parent.tolist(), plex.first.tolist(), plex.width.tolist(), strict=True):
        lengths[first : first + width] = lengths[parent] + 1
    return lengths


def preferred_equilibrium(tree: Tree, weights: Array) -> LPSolution:
    """Compute an equilibrium whose realization plans maximize a weighted sum.

    A game may have a whole family of equilibria, and the vertex that a program happens to find can be hard to read.

    Parameters
    ----------
    tree
        Tree of a two-player constant-sum game.
    weights
        Weight of each sequence, in the layout of the tree's table. float64 [tree.table_size]

    Returns
    -------
    LPSolution
        The equilibrium and its certificate.

    Raises
    ------
    InputError
        If `weights` has another shape or is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.lp import preferred_equilibrium
    >>> tree = rb.compile_game(rb.game("kuhn"))
    >>> round(preferred_equilibrium(tree, np.ones(tree.table_size)).value, 6)
    -0.055556
    """
    if weights.shape != (tree.table_size,) or not np.all(np.isfinite(weights)):
        raise InputError(f"{tree.name}: weights of shape {weights.shape}: must be {tree.table_size} finite numbers")
    form = _constant_sum_form(tree)
    x, y = (SequenceFormLP(form, player).refine(form.sequence_weights(weights, player)) for player in (0, 1))
    return _solution(form, x, y, "preferred lp")


def _constant_sum_form(tree: Tree) -> SequenceForm:
    form = SequenceForm(tree)
    form.histories.check_constant_sum()
    return form


def _solution(form: SequenceForm, x: Array, y: Array, method: str) -> LPSolution:
    x, y = (np.where(plan > _NOISE, plan, 0.0) for plan in (x, y))
    strategy = form.strategy(x, y, {"method": method})
    plans = form.plans(strategy)  # E x = e exactly
    low, high = form.bracket(*plans)
    return LPSolution((low + high) / 2, (low, high), strategy, plans)


class SequenceFormProtocol(Protocol):
    """Input of a program: a `SequenceForm`, or another game in that form."""

    payoffs: tuple[Any, Any]  # csr [own sequences, opponent sequences], of each player

    @property
    def name(self) -> str: ...

    def constraints(self, player: int, /) -> tuple[Any, Array]:
        """Return E and e: the plans are the x >= 0 with E x = e.

        Parameters
        ----------
        player
            Seat, 0 or 1.
        """


class SequenceFormLP:
    """One player's linear program in HiGHS: variables x, then q; rows E x = e, then F'q - P'x <= 0.

    Parameters
    ----------
    form
        The game in sequence form.
    player
        Seat, 0 or 1.

    Raises
    ------
    InputError
        If HiGHS is not installed.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.lp import SequenceFormLP
    >>> from riverboat.solvers.exact.sequence_form import SequenceForm
    >>> x, y = SequenceFormLP(SequenceForm(rb.compile_game(rb.game("kuhn"))), 0).solve()
    >>> len(x), len(y)
    (13, 13)
    """

    def __init__(self, form: SequenceFormProtocol, player: int) -> None:
        if highspy is None:
            raise InputError(f"{form.name}: linear programs need HiGHS: pip install highspy")
        self.form, self.player = form, player
        payoffs = form.payoffs[player]
        scale = float(np.abs(payoffs.data).max(initial=0.0)) or 1.0  # tolerances are absolute
        own, right = form.constraints(player)
        other, _ = form.constraints(1 - player)
        self.sequences, self.num_infosets, self.num_bounds = own.shape[1], other.shape[0], other.shape[1]
        self.first_bound = len(right)
        self.payoffs = payoffs / scale
        matrix = block_array([[own, None], [-self.payoffs.T, other.T]], format="csc")
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
        lp.col_cost_ = np.zeros(lp.num_col_)
        lp.col_lower_ = np.concatenate([np.zeros(self.sequences), np.full(self.num_infosets, -highspy.kHighsInf)])
        lp.col_upper_ = np.full(lp.num_col_, highspy.kHighsInf)
        lp.row_lower_ = np.concatenate([right, np.full(self.num_bounds, -highspy.kHighsInf)])
        lp.row_upper_ = np.concatenate([right, np.zeros(self.num_bounds)])
        self.highs = highspy.Highs()
        # By default HiGHS drops entries below 1e-9.
        self._set_options({"output_flag": False, "small_matrix_value": 1e-12})
        self.highs.passModel(lp)
        self.highs.changeColCost(self.sequences, -1.0)  # minimize -q_0

    def _set_options(self, options: dict[str, Any]) -> None:
        for key, value in options.items():
            self.highs.setOptionValue(key, value)

    def solve(self) -> tuple[Array, Array]:
        """Return optimal plans of the player and, from the dual variables, of the opponent.

        Large games use an interior-point method, whose plans are optimal to about 1e-9 of the largest payoff.
        """
        interior = self.sequences + self.num_bounds > MAX_SIMPLEX_SEQUENCES
        if interior:
            self._set_options({"solver": "ipm", "run_crossover": "off"})
        solution = self._run((_DEFAULT_TOLERANCE,) if interior else (_TIGHTEST_TOLERANCE, _DEFAULT_TOLERANCE))
        x = np.asarray(solution.col_value)[: self.sequences]
        return x, -np.asarray(solution.row_dual)[self.first_bound :]

    def refine(self, objective: Array) -> Array:
        """Return, among the player's optimal plans, one that maximizes a linear objective on the sequences.

        Parameters
        ----------
        objective
            Weight of each sequence. float64 [sequences]
        """
        best = np.asarray(self._run().col_value)[self.sequences]
        self.highs.changeColBounds(self.sequences, best, highspy.kHighsInf)
        cost = np.zeros(self.sequences + self.num_infosets)
        cost[: self.sequences] = -objective / (np.abs(objective).max(initial=0.0) or 1.0)
        self.highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        return np.asarray(self._run().col_value)[: self.sequences]

    def solve_with_trembles(self, own: Array, other: Array) -> Array:
        """Return the best plan if both players play each sequence with at least a given probability.

        Maximizes f'q + k'(P'x − F'q), where k are the opponent's lower bounds: any slack is what the opponent loses by
        its errors.

        Parameters
        ----------
        own
            Lower bounds of the player's sequences. float64 [sequences]
        other
            Lower bounds of the opponent's sequences. float64 [sequences]
        """
        treeplex, right = self.form.constraints(1 - self.player)
        cost = -np.concatenate([self.payoffs @ other, right - treeplex @ other])
        count = self.sequences
        self.highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        lower, upper = own.astype(float), np.full(count, highspy.kHighsInf)
        self.highs.changeColsBounds(count, np.arange(count, dtype=np.int32), lower, upper)
        return np.asarray(self._run().col_value)[:count]

    def _run(self, tolerances: tuple[float, ...] = (_TIGHTEST_TOLERANCE, _DEFAULT_TOLERANCE)) -> Any:
        """Optimize; if rounding prevents the tightest tolerance, accept the default one."""
        for tolerance in tolerances:
            self._set_options({"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance})
            self.highs.run()
            status = self.highs.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                return self.highs.getSolution()
        raise RiverboatError(
            f"{self.form.name}: HiGHS stopped with {self.highs.modelStatusToString(status)!r}; use a CFR schedule instead"
        )
