"""Exact equilibria of small two-player zero-sum (or constant-sum) games by linear programming.

The program of player 0 (Koller, Megiddo & von Stengel 1996; its dual is the program of player 1):

    maximise q_0  subject to  E x = e,  F'q <= A'x,  x >= 0

where q_0 is what x guarantees and the multipliers of F'q <= A'x are an optimal plan of player 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csc_array, hstack, vstack

from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import Array
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy, Tree

_TIGHTEST, _USUAL = 1e-10, 1e-7  # the smallest tolerance that HiGHS takes, and its own
CORNERS = 5000  # sequences of both players from which on an interior point is far sooner there than corners
_NOISE = 1e-12  # plan entries below this are rounding

highspy: Any
try:  # servers may lack it, and need it for nothing else
    import highspy
except ImportError:
    highspy = None


@dataclass(frozen=True, eq=False)
class LPSolution:
    """An equilibrium with its proof: best responses to it show that the value lies in the bracket."""

    value: float  # to player 0: the middle of the bracket
    bracket: tuple[float, float]  # what player 0's half guarantees, what player 1's half concedes
    strategy: Strategy
    plans: tuple[Array, Array]

    @property
    def gap(self) -> float:
        """Width of the bracket: the sum of what both players could gain by deviating."""
        return self.bracket[1] - self.bracket[0]


def solve_lp(tree: Tree) -> LPSolution:
    """An equilibrium of a zero-sum or constant-sum game with perfect recall.

    Information sets that a player's own plan never reaches are played uniformly.
    """
    form = _constant_sum(tree)
    program = Program(form, 0)
    x, y = program.solve()
    return _solution(form, x, y, "lp")


def undominated(tree: Tree, against: Strategy | None = None, tremble: float = 1e-3) -> LPSolution:
    """An equilibrium in which neither player's strategy is weakly dominated.

    Of all optimal plans of a player take one that does best against a fully mixed strategy of the other: a
    plan that dominated it would be optimal too, and better against that one (Ganzfried & Sandholm 2015 name
    the refinement). The fully mixed strategy is uniform, or `against` with `tremble` of uniform mixed in.
    Where a player's own plan never goes, nothing it could do there matters to any pay-off, and it is uniform.
    """
    if not 0 < tremble <= 1:
        raise InputError(f"{tree.name}: tremble={tremble:g}: must be above 0 and at most 1")
    form = _constant_sum(tree)
    uniform = Strategy.uniform(tree)
    mixed = uniform
    if against is not None:
        form.plan(against, 0)  # refuses a strategy for another tree
        mixed = Strategy(tree, (1 - tremble) * against.probabilities + tremble * uniform.probabilities)
    x, y = (Program(form, p).refine(form.payoffs[p] @ form.plan(mixed, 1 - p)) for p in (0, 1))
    return _solution(form, x, y, "undominated lp")


def quasi_perfect(tree: Tree, tremble: float = 1e-3) -> LPSolution:
    """An equilibrium in which both expect the other to err now and then: nearly quasi-perfect (Miltersen & Sørensen 2010).

    Every sequence is played with at least `tremble` to the power of its length, by both; what is optimal then, less the
    errors that were asked for. Theory lets the tremble go to zero; numbers stop at about 1e-3, and at short trees.
    """
    if not 0 < tremble <= 0.1:
        raise InputError(f"{tree.name}: tremble={tremble:g}: must be above 0 and at most 0.1")
    form = _constant_sum(tree)
    least = tuple(tremble ** _lengths(form, player) for player in (0, 1))
    plans = []
    for player in (0, 1):
        plan = Program(form, player).trembling(least[player], least[1 - player])
        plex = form.treeplexes[player]
        arrives = np.repeat(plan[plex.parent], plex.width)
        errs = plan[1:] <= 2 * tremble * arrives
        plans.append(np.concatenate([[1.0], np.where(errs, 0.0, plan[1:])]))
    return _solution(form, plans[0], plans[1], "quasi-perfect lp")


def _lengths(form: SequenceForm, player: int) -> Array:
    """Moves of each sequence. float64 [sequences]"""
    plex = form.treeplexes[player]
    lengths = np.zeros(plex.sequences)
    for parent, first, width in zip(plex.parent.tolist(), plex.first.tolist(), plex.width.tolist(), strict=True):
        lengths[first : first + width] = lengths[parent] + 1
    return lengths


def preferred(tree: Tree, liking: Array) -> LPSolution:
    """Of all equilibria one whose realization plans, weighted by `liking`, sum to the most. float64 [tree.table]

    A game may have a whole family of equilibria, and a vertex of it that a program happens on can be hard to read.
    """
    if liking.shape != (tree.table,) or not np.all(np.isfinite(liking)):
        raise InputError(f"{tree.name}: likings of shape {liking.shape}: must be {tree.table} finite numbers")
    form = _constant_sum(tree)
    x, y = (Program(form, player).refine(form.likings(liking, player)) for player in (0, 1))
    return _solution(form, x, y, "preferred lp")


def _constant_sum(tree: Tree) -> SequenceForm:
    form = SequenceForm(tree)
    form.histories.check_constant_sum()
    return form


def _solution(form: SequenceForm, x: Array, y: Array, method: str) -> LPSolution:
    strategy = form.strategy(_clean(x), _clean(y), {"method": method})
    plans = form.plans(strategy)  # E x = e to the last digit
    low, high = form.bracket(*plans)
    return LPSolution((low + high) / 2, (low, high), strategy, plans)


def _clean(plan: Array) -> Array:
    return np.where(plan > _NOISE, plan, 0.0)


class Form(Protocol):
    """What a program is made from: a `SequenceForm`, or another game in that form."""

    payoffs: tuple[Any, Any]  # csr [own sequences, the other's], of each player

    @property
    def name(self) -> str: ...

    def constraints(self, player: int, /) -> tuple[Any, Array]:
        """E and e: the plans are the x >= 0 with E x = e."""
        ...


class Program:
    """One player's linear program in HiGHS: variables x, then q; rows E x = e, then F'q - P'x <= 0."""

    def __init__(self, form: Form, player: int) -> None:
        if highspy is None:
            raise InputError(f"{form.name}: linear programs need HiGHS, which is not here: pip install highspy")
        self.form, self.player = form, player
        payoffs = form.payoffs[player]
        scale = float(np.abs(payoffs.data).max(initial=0.0)) or 1.0  # tolerances are absolute
        own, right = form.constraints(player)
        other, _ = form.constraints(1 - player)
        self.sequences, self.sets, self.bounds = own.shape[1], other.shape[0], other.shape[1]
        self.first_bound = len(right)
        self.payoffs = payoffs / scale
        matrix = csc_array(
            vstack([hstack([own, csc_array((len(right), self.sets))]), hstack([-self.payoffs.T, other.T])])
        )
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
        lp.col_cost_ = np.zeros(lp.num_col_)
        lp.col_lower_ = np.concatenate([np.zeros(self.sequences), np.full(self.sets, -highspy.kHighsInf)])
        lp.col_upper_ = np.full(lp.num_col_, highspy.kHighsInf)
        lp.row_lower_ = np.concatenate([right, np.full(self.bounds, -highspy.kHighsInf)])
        lp.row_upper_ = np.concatenate([right, np.zeros(self.bounds)])
        self.name = form.name
        self.highs = highspy.Highs()
        self._options({"output_flag": False, "small_matrix_value": 1e-12})  # HiGHS drops entries below 1e-9 unasked
        self.highs.passModel(lp)
        self.highs.changeColCost(self.sequences, -1.0)  # minimise -q_0

    def _options(self, options: dict[str, Any]) -> None:
        for key, value in options.items():
            self.highs.setOptionValue(key, value)

    def solve(self) -> tuple[Array, Array]:
        """Optimal plans of the player and, from the multipliers, of the other.

        From many sequences on by an interior point, whose plans are optimal to some 1e-9 of the largest pay-off.
        """
        interior = self.sequences + self.bounds > CORNERS
        if interior:
            self._options({"solver": "ipm", "run_crossover": "off"})
        solution = self._run((_USUAL,) if interior else (_TIGHTEST, _USUAL))
        x = np.asarray(solution.col_value)[: self.sequences]
        y = -np.asarray(solution.row_dual)[self.first_bound :]
        return x, y

    def refine(self, gain: Array) -> Array:
        """Of the player's optimal plans, one with the most gain, which is linear in the sequences."""
        best = np.asarray(self._run().col_value)[self.sequences]
        self.highs.changeColBounds(self.sequences, best, highspy.kHighsInf)
        cost = np.zeros(self.sequences + self.sets)
        cost[: self.sequences] = -gain / (np.abs(gain).max(initial=0.0) or 1.0)
        self.highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        return np.asarray(self._run().col_value)[: self.sequences]

    def trembling(self, own: Array, other: Array) -> Array:
        """The best plan where each sequence is played at least so often, the other doing the same.

        maximise f'q + k'(P'x − F'q), where k is the least of the other: what slack there is the other loses by its errors.
        """
        matrix, (_, right) = self.payoffs, self.form.constraints(1 - self.player)
        treeplex, _ = self.form.constraints(1 - self.player)
        cost = -np.concatenate([matrix @ other, right - treeplex @ other])
        count = self.sequences
        self.highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        lower, upper = own.astype(float), np.full(count, highspy.kHighsInf)
        self.highs.changeColsBounds(count, np.arange(count, dtype=np.int32), lower, upper)
        return np.asarray(self._run().col_value)[:count]

    def _run(self, tolerances: tuple[float, ...] = (_TIGHTEST, _USUAL)) -> Any:
        """Optimise; where rounding keeps HiGHS from the tightest tolerance, accept its usual one."""
        for tolerance in tolerances:
            self._options({"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance})
            self.highs.run()
            status = self.highs.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                return self.highs.getSolution()
        raise RiverboatError(
            f"{self.name}: HiGHS stopped with {self.highs.modelStatusToString(status)!r}; use a CFR schedule instead"
        )
