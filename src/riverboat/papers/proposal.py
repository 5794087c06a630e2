"""Propositions 3, 5 and 6 of Ganzfried's thesis proposal, one construction each, and its figure 2.

The propositions are on purification and endgames. The interpretation of each, as the text is not quoted here:

- 3: against an equilibrium of the full game purification may win or lose arbitrarily much, depending on the game. (It
  precedes proposition 4, which says when nothing changes.)
- 5: an endgame solved with the ranges of an equilibrium need not give an equilibrium of the whole game, even if that
  equilibrium is unique. The example is sequential rock-paper-scissors with a hidden first action.
- 6: if every strategy that loses more than ε in the whole game loses more than δ in the endgame, then a δ-equilibrium
  of the endgame gives an ε-equilibrium. Linear programs find the smallest such ε.

Figure 2 has three histograms that L2 distance cannot distinguish and earth mover's distance can.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from riverboat.abstraction.clustering.kmeans import earth_movers_distance, euclidean_distance
from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.games.small.normal_form import rock_paper_scissors
from riverboat.papers.framework import ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, new_row, printed_row, theorem_row
from riverboat.solvers.exact.matrix_games import solve_matrix_games
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.postprocessing import purify
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

ROCK_PAPER_SCISSORS = ((0.0, -1.0, 1.0), (1.0, 0.0, -1.0), (-1.0, 1.0, 0.0))
NUM_SAMPLED_EQUILIBRIA = 50  # δ-equilibria sampled in an endgame
# Two entries to an endgame, two actions of player 1 in each; the second entry is worse for it unless player 2 errs.
TWO_ENTRY_PAYOFFS = ((2.0, -1.0, 0.0), (-1.0, 1.0, 0.5), (1.0, -2.0, -1.0), (-2.0, 2.0, -0.5))


# --- Proposition 3 ---


def purification_game(gain: float) -> Array:
    """Return a 2 × 3 game in which purification of the equilibrium of the first two columns gains exactly `gain`.

    The equilibrium against those two columns is (2/5, 3/5), so purification selects the second row. The third column is
    worse for player 1 in both rows, and player 2 always plays it: the second row earns `gain` more than the mixture.
    """
    first, second = (-2 - 2.5 * gain, -2.0) if gain >= 0 else (-2.0, -2 + 2.5 * gain)
    return np.array([[2.0, -1.0, first], [-1.0, 1.0, second]])


def purification_gain(payoffs: Array) -> float:
    """Return the gain of purifying player 1's equilibrium of the game without the last column.

    The opponent is player 2's equilibrium of the full game.
    """
    full, small = solve_matrix_games(payoffs[None]), solve_matrix_games(payoffs[None, :, :-1])
    row_values = payoffs @ full.columns[0]
    return float((purify(small.rows)[0] - small.rows[0]) @ row_values)


# --- Propositions 5 and 6 ---


@dataclass(frozen=True, eq=False)
class SimultaneousEndgame:
    """A simultaneous endgame that player 1 reaches by one of several entries, which player 2 cannot distinguish.

    Endgame solving fixes the probability of each entry; in the whole game player 1 chooses it.
    """

    payoffs: Array  # float64 [rows, columns]: of player 1; a row is an entry and an action
    entry_rows: tuple[tuple[int, ...], ...]  # rows of each entry
    entry_weights: tuple[float, ...]  # probability of each entry in the base strategy

    def __post_init__(self) -> None:
        if sorted(row for entry in self.entry_rows for row in entry) != list(range(len(self.payoffs))):
            raise InputError(f"entry_rows {self.entry_rows}: must partition the {len(self.payoffs)} rows")
        if len(self.entry_weights) != len(self.entry_rows):
            raise InputError(f"{len(self.entry_weights)} entry_weights for {len(self.entry_rows)} entries")

    def exploitabilities(self, strategy: Array) -> tuple[float, float]:
        """Return the exploitability of player 2's strategy in the endgame and in the whole game."""
        in_game = float((self.payoffs @ strategy).max()) - float(solve_matrix_games(self.payoffs[None]).value[0])
        return self._conceded(strategy) - self._endgame_value(), in_game

    def _conceded(self, strategy: Array) -> float:
        """Return what player 2's strategy concedes to the best actions of player 1 in the endgame."""
        earned = self.payoffs @ strategy
        entries = zip(self.entry_weights, self.entry_rows, strict=True)
        return float(sum(weight * earned[list(rows)].max() for weight, rows in entries))

    def _solve(self, objective: Array, limit: float | None = None) -> Array:
        """Return the strategy of player 2 that minimizes an objective over its actions and the best values of entries.

        With `limit`, only over strategies that concede at most `limit` in the endgame. objective: [columns + entries]
        """
        columns = self.payoffs.shape[1]
        best = np.zeros((len(self.payoffs), len(self.entry_rows)))
        for k, entry in enumerate(self.entry_rows):
            best[list(entry), k] = -1.0  # no action of an entry exceeds its best value
        upper, right = np.concatenate([self.payoffs, best], axis=1), np.zeros(len(self.payoffs))
        equal = np.concatenate([np.ones(columns), np.zeros(len(self.entry_rows))])[None]
        if limit is not None:
            upper = np.vstack([upper, np.concatenate([np.zeros(columns), self.entry_weights])])
            right = np.append(right, limit)
        bounds = [(0, None)] * columns + [(None, None)] * len(self.entry_rows)
        optimum = linprog(objective, A_ub=upper, b_ub=right, A_eq=equal, b_eq=[1.0], bounds=bounds)
        if optimum.status != 0:
            raise InputError(f"endgame: {optimum.message}")
        strategy: Array = optimum.x[:columns]
        return strategy

    def _endgame_value(self) -> float:
        """Return the value of the endgame to player 1."""
        return self._conceded(self._solve(np.concatenate([np.zeros(self.payoffs.shape[1]), self.entry_weights])))

    def delta_equilibrium(self, delta: float, objective: Array) -> Array:
        """Return the δ-equilibrium strategy of player 2 in the endgame that minimizes `objective`."""
        return self._solve(np.concatenate([objective, np.zeros(len(self.entry_rows))]), self._endgame_value() + delta)

    def max_exploitability(self, delta: float) -> float:
        """Return the largest exploitability in the whole game of a δ-equilibrium strategy of the endgame."""
        return max(self.exploitabilities(self.delta_equilibrium(delta, -row))[1] for row in self.payoffs)


def endgame_with_one_row_entries(payoffs: Array, weights: Array) -> SimultaneousEndgame:
    """Return the endgame with each row as its own entry: player 1 has no decision in it."""
    return SimultaneousEndgame(payoffs, tuple((row,) for row in range(len(payoffs))), tuple(weights))


def _proposition_6_rows(
    title: str, endgame: SimultaneousEndgame, delta: float, rng: np.random.Generator
) -> list[ComparisonRow]:
    epsilon = endgame.max_exploitability(delta)
    objectives = [np.asarray(rng.normal(size=endgame.payoffs.shape[1])) for _ in range(NUM_SAMPLED_EQUILIBRIA)]
    sampled = [endgame.exploitabilities(endgame.delta_equilibrium(delta, objective)) for objective in objectives]
    conceded, worst = np.max(sampled, axis=0)
    name = f"6, {title}, δ = {delta:g}"
    label = f"{name}: worst of {NUM_SAMPLED_EQUILIBRIA} answers in the endgame"
    return [
        new_row(f"{name}: least ε", epsilon),
        theorem_row(label, delta, conceded, "<=", rounding=1e-8),
        theorem_row(f"{name}: worst of them in the whole game", epsilon, worst, "<=", rounding=1e-8),
    ]


def run_propositions(full: bool, seed: int) -> ExperimentReport:
    """Check propositions 3, 5 and 6 on one construction each, and 6 also on sampled δ-equilibria."""
    rng = np.random.default_rng(seed)
    rows = [
        theorem_row(f"3: gain of purification in the game made for {k:g}", k, purification_gain(purification_game(k)))
        for k in (1.0, 1000.0, -1.0, -1000.0)
    ]
    payoffs = np.array(ROCK_PAPER_SCISSORS)
    uniform = np.full(3, 1 / 3)
    unseen, rock = endgame_with_one_row_entries(payoffs, uniform), np.array([1.0, 0.0, 0.0])
    tree = compile_game(rock_paper_scissors())
    played = Strategy.from_mapping(
        tree, {"player 1": {"rock": 1.0}, "player 0": dict.fromkeys(("rock", "paper", "scissors"), 1 / 3)}
    )
    rows += [
        theorem_row("5: rock against 1/3 each, exploitability in the endgame", 0.0, unseen.exploitabilities(rock)[0]),
        theorem_row("5: the same in the whole game", 1.0, unseen.exploitabilities(rock)[1]),
        theorem_row("5: the same by the best response of player 0", 1.0, quality(played).best[0]),
    ]
    two_entries = np.array(TWO_ENTRY_PAYOFFS)
    for title, endgame, delta in (
        ("rock-paper-scissors", unseen, 0.0),
        ("one way in", SimultaneousEndgame(two_entries[:2], ((0, 1),), (1.0,)), 0.1),
        ("two ways in", SimultaneousEndgame(two_entries, ((0, 1), (2, 3)), (0.5, 0.5)), 0.1),
        ("two ways in, one used", SimultaneousEndgame(two_entries, ((0, 1), (2, 3)), (1.0, 0.0)), 0.1),
    ):
        rows += _proposition_6_rows(title, endgame, delta, rng)
    return ExperimentReport(rows, format_notes("propositions"))


# --- Distances of histograms ---


def run_emd_example(full: bool, seed: int) -> ExperimentReport:
    """Compare L2 and earth mover's distances of histograms (figure 2): all mass in bin 1, in bin 2, and in bin 5."""
    histograms = np.eye(5)
    l2_near, l2_far = euclidean_distance(histograms[0], histograms[[1, 4]])
    emd_near, emd_far = earth_movers_distance(histograms[0], histograms[[1, 4]])
    rows = (
        printed_row("L2, bin 1 to bin 2", math.sqrt(2), l2_near),
        printed_row("L2, bin 1 to bin 5", math.sqrt(2), l2_far),
        printed_row("EMD, bin 1 to bin 2", 1.0, emd_near),
        printed_row("EMD, bin 1 to bin 5", 4.0, emd_far),
    )
    return ExperimentReport(rows)
