"""Propositions on purification and on endgames, one construction each.

How they were read, as the text is not quoted here:

- 3: against an equilibrium of the full game purification may win or lose as much as one likes, by the game. (It stands
  before proposition 4, which says when nothing changes.)
- 5: an endgame solved with the ranges of an equilibrium need not give an equilibrium of the whole game, even where that
  equilibrium is unique. Rock-paper-scissors, one after the other and unseen, is the example.
- 6: if every strategy that loses more than ε in the whole game loses more than δ in the endgame, then a δ-equilibrium of
  the endgame gives an ε-equilibrium. The least such ε is found here by linear programs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.games.small.normal_form import rock_paper_scissors
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, new, theorem
from riverboat.solvers.exact.matrix_games import equilibria
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.postprocessing import purify
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

ROCK_PAPER_SCISSORS = ((0.0, -1.0, 1.0), (1.0, 0.0, -1.0), (-1.0, 1.0, 0.0))
ANSWERS = 50  # δ-equilibria of an endgame that are tried
# Two ways into an endgame, two moves of player 1 in each; the second way is worse for it unless player 2 errs.
TWO_WAYS = ((2.0, -1.0, 0.0), (-1.0, 1.0, 0.5), (1.0, -2.0, -1.0), (-2.0, 2.0, -0.5))


# --- proposition 3 ----------------------------------------------------------------------------


def swing(gain: float) -> Array:
    """A 2 × 3 game in which purification of the equilibrium of the first two columns gains just so much.

    Those two columns are met with (2/5, 3/5), so that the second row is purified. The third column is worse for player 1
    in both rows, and player 2 always takes it: the second row earns `gain` more than the mix.
    """
    first, second = (-2 - 2.5 * gain, -2.0) if gain >= 0 else (-2.0, -2 + 2.5 * gain)
    return np.array([[2.0, -1.0, first], [-1.0, 1.0, second]])


def gain_of_purification(payoffs: Array) -> float:
    """What purifying player 1's equilibrium without the last column earns, against player 2's equilibrium with it."""
    full, small = equilibria(payoffs[None]), equilibria(payoffs[None, :, :-1])
    worth = payoffs @ full.columns[0]
    return float((purify(small.rows)[0] - small.rows[0]) @ worth)


# --- propositions 5 and 6 ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Endgame:
    """Player 1 has come here by one of some ways, which player 2 cannot tell apart; both move at once.

    Solving the endgame fixes how often player 1 comes by each way; in the whole game it chooses.
    """

    payoffs: Array  # float64 [rows, columns]: player 1's; a row is a way and a move
    ways: tuple[tuple[int, ...], ...]  # the rows of each way
    weights: tuple[float, ...]  # how often the base strategy comes by each

    def __post_init__(self) -> None:
        if sorted(row for way in self.ways for row in way) != list(range(len(self.payoffs))):
            raise InputError(f"ways {self.ways}: must share out the {len(self.payoffs)} rows")
        if len(self.weights) != len(self.ways):
            raise InputError(f"{len(self.weights)} weights for {len(self.ways)} ways")

    def loses(self, strategy: Array) -> tuple[float, float]:
        """Exploitability of player 2's strategy in the endgame and in the whole game."""
        earned = self.payoffs @ strategy
        inside = sum(w * earned[list(way)].max() for w, way in zip(self.weights, self.ways, strict=True))
        return float(inside) - self._least(), float(earned.max()) - float(equilibria(self.payoffs[None]).value[0])

    def _program(self) -> tuple[Array, Array]:
        """Variables: strategy, then the best of each way. Rows: no move of a way earns more than its best."""
        columns = self.payoffs.shape[1]
        best = np.zeros((len(self.payoffs), len(self.ways)))
        for k, way in enumerate(self.ways):
            best[list(way), k] = -1.0
        equal = np.concatenate([np.ones(columns), np.zeros(len(self.ways))])[None]
        return np.concatenate([self.payoffs, best], axis=1), equal

    def _solve(self, objective: Array, limit: float | None = None) -> Array:
        """Minimise over strategies of player 2, of those that concede at most `limit` in the endgame."""
        upper, equal = self._program()
        right = np.zeros(len(upper))
        columns = self.payoffs.shape[1]
        if limit is not None:
            upper = np.vstack([upper, np.concatenate([np.zeros(columns), self.weights])])
            right = np.append(right, limit)
        bounds = [(0, None)] * columns + [(None, None)] * len(self.ways)
        optimum = linprog(objective, A_ub=upper, b_ub=right, A_eq=equal, b_eq=[1.0], bounds=bounds)
        if optimum.status != 0:
            raise InputError(f"endgame: {optimum.message}")
        strategy: Array = optimum.x[:columns]
        return strategy

    def _least(self) -> float:
        """What player 1 earns in the endgame where player 2 plays best."""
        columns = self.payoffs.shape[1]
        earned = self.payoffs @ self._solve(np.concatenate([np.zeros(columns), self.weights]))
        return float(sum(w * earned[list(way)].max() for w, way in zip(self.weights, self.ways, strict=True)))

    def answers(self, delta: float, objective: Array) -> Array:
        """A δ-equilibrium strategy of player 2 in the endgame: the one that minimises `objective`."""
        return self._solve(np.concatenate([objective, np.zeros(len(self.ways))]), self._least() + delta)

    def epsilon(self, delta: float) -> float:
        """The most that a δ-equilibrium strategy of the endgame loses in the whole game."""
        return max(self.loses(self.answers(delta, -row))[1] for row in self.payoffs)


def apart(payoffs: Array, weights: Array) -> Endgame:
    """Every row a way of its own: player 1 has nothing left to decide."""
    return Endgame(payoffs, tuple((row,) for row in range(len(payoffs))), tuple(weights))


def _proposition_6(title: str, endgame: Endgame, delta: float, rng: np.random.Generator) -> list[Row]:
    epsilon = endgame.epsilon(delta)
    worst, conceded = -np.inf, -np.inf
    for _ in range(ANSWERS):
        inside, whole = endgame.loses(endgame.answers(delta, np.asarray(rng.normal(size=endgame.payoffs.shape[1]))))
        worst, conceded = max(worst, whole), max(conceded, inside)
    name = f"6, {title}, δ = {delta:g}"
    return [
        new(f"{name}: least ε", epsilon),
        theorem(f"{name}: worst of {ANSWERS} answers in the endgame", delta, conceded, "<=", rounding=1e-8),
        theorem(f"{name}: worst of them in the whole game", epsilon, worst, "<=", rounding=1e-8),
    ]


def run(full: bool, seed: int) -> Report:
    """All of it is exact."""
    rng = np.random.default_rng(seed)
    rows = [
        theorem(f"3: gain of purification in the game made for {k:g}", k, gain_of_purification(swing(k)))
        for k in (1.0, 1000.0, -1.0, -1000.0)
    ]
    payoffs = np.array(ROCK_PAPER_SCISSORS)
    uniform = np.full(3, 1 / 3)
    unseen, rock = apart(payoffs, uniform), np.array([1.0, 0.0, 0.0])
    tree = compile_game(rock_paper_scissors())
    played = Strategy.from_mapping(
        tree, {"player 1": {"rock": 1.0}, "player 0": dict.fromkeys(("rock", "paper", "scissors"), 1 / 3)}
    )
    rows += [
        theorem("5: rock against 1/3 each, exploitability in the endgame", 0.0, unseen.loses(rock)[0]),
        theorem("5: the same in the whole game", 1.0, unseen.loses(rock)[1]),
        theorem("5: the same by the best response of player 0", 1.0, quality(played).best[0]),
    ]
    two_ways = np.array(TWO_WAYS)
    rows += _proposition_6("rock-paper-scissors", unseen, 0.0, rng)
    rows += _proposition_6("one way in", Endgame(two_ways[:2], ((0, 1),), (1.0,)), 0.1, rng)
    rows += _proposition_6("two ways in", Endgame(two_ways, ((0, 1), (2, 3)), (0.5, 0.5)), 0.1, rng)
    rows += _proposition_6("two ways in, one used", Endgame(two_ways, ((0, 1), (2, 3)), (1.0, 0.0)), 0.1, rng)
    notes = (
        "3 is read as: purification may gain or lose without bound. 5 as: an endgame solved with equilibrium ranges may "
        "leave the equilibrium. 6 as: where losing more than ε means losing more than δ in the endgame, δ-equilibria of "
        "the endgame are ε-equilibria.",
        "Rock-paper-scissors shows why 6 has its premise: with δ = 0 the least ε is 1, all there is. With one way in both "
        "games are the same, and ε is δ.",
    )
    return Report(tuple(rows), notes)


EXPERIMENT = Experiment(
    "propositions",
    "Propositions on purification and on endgames, constructed",
    "Ganzfried, thesis proposal, propositions 3, 5 and 6",
    "1 s",
    "1 s",
    run,
)
