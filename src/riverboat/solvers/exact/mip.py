"""ε-equilibria of three-player games by mixed integer programs.

In the sequence form each player's plan x is linear, but the value of a sequence is a sum of products of the other two
players' plans. A product u v with u and v in boxes lies in McCormick's envelope: four linear inequalities that are off
by at most a quarter of the product of the boxes' widths, and exact at their corners. A binary for each sequence says
whether it may be played, as in the programs of Sandholm, Gilpin & Conitzer (2005): its value must then be within the
slack s of the best action at its information set, and s is minimized. The first program uses the unit interval as
boxes, or boxes around a given strategy; the next ones narrow the boxes around the last solution. This is a heuristic
search, not a proof of existence; the gains of the result are exact, from best responses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import TERMINAL, Array
from riverboat.solvers.exact.sequence_form import place_columns, plan_constraints, product_envelope, realization_plan
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.history import HistoryTree, Treeplex

PLAYERS = 3


@dataclass(frozen=True)
class MIPStep:
    """One program of the search.

    Attributes
    ----------
    width
        Width of the boxes.
    slack
        Slack of the program.
    gains
        Gain of each player's best response to the strategy, exact.
    seconds
        Time of the program.

    Examples
    --------
    >>> from riverboat.solvers.exact.mip import MIPStep
    >>> max(MIPStep(width=1.0, slack=0.0, gains=(0.0, 0.1, 0.0), seconds=0.2).gains)
    0.1
    """

    width: float  # width of the boxes
    slack: float  # slack of the program
    gains: tuple[float, ...]  # gain of each player's best response to the strategy, exact
    seconds: float


@dataclass(frozen=True, eq=False)
class MIPSolution:
    """The best strategy of the search, and the programs solved.

    Attributes
    ----------
    strategy
        The profile.
    values
        Expected value of each player.
    gains
        Gain of each player's best response, exact.
    steps
        The programs, in order.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.mip import MIPSolution
    >>> strategy = rb.Strategy.uniform(rb.compile_game(rb.game("kuhn")))
    >>> MIPSolution(strategy, (0.0, 0.0, 0.0), (0.0, 0.1, 0.0), ()).epsilon
    0.1
    """

    strategy: Strategy
    values: tuple[float, ...]
    gains: tuple[float, ...]
    steps: tuple[MIPStep, ...]

    @property
    def epsilon(self) -> float:
        """The largest gain of a unilateral deviation, exact."""
        return max(self.gains)


def solve_mip(
    tree: HistoryTree,
    *,
    around: Strategy | None = None,
    width: float = 1.0,
    shrink_factor: float = 0.5,
    rounds: int = 12,
    until: float = 1e-6,
    seconds: float = 30.0,
) -> MIPSolution:
    """Search for an ε-equilibrium of a three-player game with perfect recall.

    Parameters
    ----------
    tree
        Tree of a three-player game.
    around
        Strategy around which the first boxes lie; by default they are the unit interval.
    width
        Width of the first boxes, above 0 and at most 1.
    shrink_factor
        Factor on the width from one program to the next, between 0 and 1.
    rounds
        Most programs.
    until
        ε at which the search ends, in the game's unit.
    seconds
        Time limit of each program.

    Returns
    -------
    MIPSolution
        The best strategy found, with its exact gains.

    Raises
    ------
    InputError
        If the game has another number of players, or an option is out of range.
    RiverboatError
        If HiGHS finds no plans.

    References
    ----------
    .. [1] Sandholm, Gilpin & Conitzer, "Mixed-integer programming methods for finding Nash equilibria", AAAI 2005.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.mip import solve_mip
    >>> from riverboat.trees.compile import to_history_tree
    >>> solve_mip(to_history_tree(rb.compile_game(rb.game("kuhn"))))
    Traceback (most recent call last):
    riverboat.core.errors.InputError: kuhn: 2 players, must be 3; for two use method='lp'
    """
    if tree.players != PLAYERS:
        raise InputError(f"{tree.name}: {tree.players} players, must be {PLAYERS}; for two use method='lp'")
    if not (0 < width <= 1 and 0 < shrink_factor < 1 and rounds >= 1):
        raise InputError(
            f"width={width:g}, shrink_factor={shrink_factor:g}, rounds={rounds}: shares of 1, and at least one round"
        )
    program = _ThreePlayerMIP(tree)
    centre = None if around is None else program.plans(around)
    steps, tried = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        plans, slack = program.solve(centre, width, seconds)
        strategy = program.strategy(plans)
        measured = quality(strategy)
        steps.append(MIPStep(width, slack, measured.gains, time.perf_counter() - started))
        tried.append((strategy, measured))
        if max(measured.gains) <= until:
            break
        centre, width = plans, width * shrink_factor
    strategy, measured = min(tried, key=lambda each: max(each[1].gains))
    return MIPSolution(strategy, measured.values, measured.gains, tuple(steps))


class _ThreePlayerMIP:
    """Mixed integer program of a three-player game.

    Columns: plans of all players, their binaries, values of information sets, products of plans, and the slack.
    """

    def __init__(self, tree: HistoryTree) -> None:
        self.tree = tree
        self.plexes: list[Treeplex] = [tree.treeplex(p) for p in range(PLAYERS)]
        self.plan_start = np.concatenate([[0], np.cumsum([plex.sequences for plex in self.plexes])])
        count = int(self.plan_start[-1])
        self.binary_start = count
        self.value_start = 2 * count + np.concatenate([[0], np.cumsum([len(p.infosets) for p in self.plexes])])
        terminals = np.flatnonzero(tree.nodes.actor == TERMINAL)
        chance = tree.chance_reach[terminals]
        pay = tree.payoffs[tree.nodes.data[terminals]]
        last = tree.last_sequence[terminals]
        self.scale = float(np.abs(pay).max()) or 1.0
        # a product for each pair of sequences of two players that meet at a terminal
        self.pairs: dict[tuple[int, int], int] = {}
        # Own sequence, product and payoff, by player.
        self.leaf_payoffs: list[list[tuple[int, int, float]]] = [[] for _ in range(PLAYERS)]
        for z in range(len(terminals)):
            for me in range(PLAYERS):
                a, b = (p for p in range(PLAYERS) if p != me)
                key = int(self.plan_start[a] + last[z, a]), int(self.plan_start[b] + last[z, b])
                product = self.pairs.setdefault(key, len(self.pairs))
                self.leaf_payoffs[me].append((int(last[z, me]), product, float(chance[z] * pay[z, me]) / self.scale))
        self.product_start = int(self.value_start[-1])
        self.slack_column = self.product_start + len(self.pairs)
        self.columns = self.slack_column + 1
        self._fixed = [self._plan_constraints(), self._best_response_constraints()]

    # --- constraints -----------------------------------------------------------------

    def _plan_constraints(self) -> LinearConstraint:
        """Return the plan constraints.

        Actions sum to their parent sequence, the empty sequence is one, and no sequence is played without its binary.
        """
        blocks, lows, highs = [], [], []
        for p, plex in enumerate(self.plexes):
            at, count = int(self.plan_start[p]), plex.sequences
            table, right = plan_constraints(plex)
            moves = np.arange(1, count)
            rows, columns = np.tile(moves - 1, 2), np.concatenate([at + moves, self.binary_start + at + moves])
            played = csr_array((np.repeat([1.0, -1.0], count - 1), (rows, columns)), shape=(count - 1, self.columns))
            order = np.argsort(np.concatenate([[0.0], plex.first - 0.5, moves]))  # each after its information set
            blocks.append(csr_array(vstack([place_columns(table, at, self.columns), played]))[order])
            lows.append(np.append(right, np.full(count - 1, -np.inf))[order])
            highs.append(np.append(right, np.zeros(count - 1))[order])
        return LinearConstraint(vstack(blocks), np.concatenate(lows), np.concatenate(highs))

    def _best_response_constraints(self) -> LinearConstraint:
        """Return the constraints 0 <= V(I) - Q(σ) <= s + M (1 - b(σ)) for every action σ of each information set I.

        V and Q are values of an information set and an action, s is the slack, and b(σ) the binary of σ.
        """
        blocks, lows, highs = [], list[float](), list[float]()
        for p, plex in enumerate(self.plexes):
            at, value_start = int(self.plan_start[p]), int(self.value_start[p])
            sequence_values: dict[int, list[tuple[int, float]]] = {}
            for sequence, product, pay in self.leaf_payoffs[p]:
                sequence_values.setdefault(sequence, []).append((self.product_start + product, pay))
            for i, parent in enumerate(plex.parent):
                sequence_values.setdefault(int(parent), []).append((value_start + i, 1.0))
            big_m = 2.0  # no two actions differ by more, as payoffs are divided by the largest
            for i, infoset in enumerate(np.repeat(np.arange(len(plex.infosets)), plex.width)):
                row = np.zeros(self.columns)
                row[value_start + infoset] = 1.0
                for column, value in sequence_values.get(i + 1, []):
                    row[column] -= value
                slack = row.copy()
                slack[self.slack_column] = -1.0
                slack[self.binary_start + at + i + 1] += big_m
                blocks += [row, slack]
                lows += [0.0, -np.inf]
                highs += [np.inf, big_m]
        return LinearConstraint(csr_array(np.array(blocks)), np.array(lows), np.array(highs))

    def _product_constraints(self, low: Array, high: Array) -> LinearConstraint:
        """Return McCormick's envelope of every product, for plans between `low` and `high`."""
        u, v = np.array(list(self.pairs), int).T
        products = self.product_start + np.arange(len(u))
        boxes = (low[u], high[u]), (low[v], high[v])
        return LinearConstraint(*product_envelope(self.columns, u, v, products, *boxes), np.inf)

    # --- solving ----------------------------------------------------------------------------------

    def solve(self, centre: Array | None, width: float, seconds: float) -> tuple[Array, float]:
        """Solve the program with plans in boxes of a width around `centre`, or in the unit interval if that is None.

        Returns the plans of all players, concatenated, and the slack in the game's unit. `seconds` is the time limit.
        """
        count = int(self.plan_start[-1])
        low, high = np.zeros(count), np.ones(count)
        if centre is not None:
            low, high = np.clip(centre - width / 2, 0.0, 1.0), np.clip(centre + width / 2, 0.0, 1.0)
        values, pairs = self.product_start - 2 * count, len(self.pairs)
        bottom = np.concatenate([low, np.zeros(count), np.full(values, -np.inf), np.zeros(pairs + 1)])
        top = np.concatenate([high, np.ones(count), np.full(values, np.inf), np.ones(pairs), [np.inf]])
        cost = np.zeros(self.columns)
        cost[self.slack_column] = 1.0
        kind = np.zeros(self.columns)
        kind[self.binary_start : self.binary_start + count] = 1
        constraints, options = [*self._fixed, self._product_constraints(low, high)], {"time_limit": seconds}
        optimum = milp(cost, integrality=kind, constraints=constraints, bounds=Bounds(bottom, top), options=options)
        if optimum.x is None:
            raise RiverboatError(f"{self.tree.name}: HiGHS found no plans: {optimum.message}")
        return np.clip(optimum.x[:count], 0.0, 1.0), float(optimum.x[self.slack_column]) * self.scale

    # --- plans and strategies ---------------------------------------------------------------------

    def plans(self, strategy: Strategy) -> Array:
        """Return the plans of a strategy, concatenated."""
        behaviours = [np.append(1.0, strategy.probabilities[plex.table_index[1:]]) for plex in self.plexes]
        return np.concatenate([realization_plan(*each) for each in zip(self.plexes, behaviours, strict=True)])

    def strategy(self, plans: Array) -> Strategy:
        """Return the behavior strategy of plans; uniform at information sets they do not reach."""
        sums = np.zeros(self.tree.table_size)
        for p, plex in enumerate(self.plexes):
            sums[plex.table_index[1:]] = plans[self.plan_start[p] + 1 : self.plan_start[p + 1]]
        return Strategy.from_sums(self.tree, sums, {"game": self.tree.name, "method": "mip"})
