"""Equilibria of push or fold by fictitious play (Brown 1951) and CFR+, with the remaining gain of each player.

Every player acts at most once on a line. So mixing actions is mixing strategies, as fictitious play requires, and the
best action at every line is the best response. The largest gain of any player, ε, is exact in the game that is solved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.core.arrays import Array, normalize
from riverboat.core.cancellation import check_cancellation
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.tournaments.many_players import ManyPlayerPushFold
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.stage_game import PLAYERS, PushFoldStage

METHODS = ("cfr", "fp")


PushFoldGame: TypeAlias = PushFoldStage | ManyPlayerPushFold  # over classes of hands


@dataclass(frozen=True, eq=False)
class PushFoldSolution:
    """A strategy, its expected values, and each player's gain by a best response.

    Attributes
    ----------
    game
        The game that was solved.
    strategy
        Probability of going all-in, float64 [lines, classes].
    values
        Expected value of each player, float64 [players].
    gains
        Best-response value less value, float64 [players].
    iterations
        Iterations that were run.
    method
        `cfr` or `fp`.

    Examples
    --------
    >>> solution = solve(make_push_fold_game(PushFold((10, 10))), iterations=10)
    >>> solution.strategy.shape, solution.method
    ((2, 169), 'cfr')
    """

    game: PushFoldGame
    strategy: Array  # float64 [lines, classes]: probability of going all-in
    values: Array  # float64 [players]
    gains: Array  # float64 [players]: best-response value less value
    iterations: int
    method: str

    @property
    def epsilon(self) -> float:
        """The largest gain of any player by a best response, ε of the equilibrium."""
        return float(self.gains.max())


def make_push_fold_game(spot: PushFold, seed: int = 0, threads: int = 1) -> PushFoldGame:
    """Build the game of a spot: exact for two or three players, the model of `many_players` for more.

    Parameters
    ----------
    spot
        Stacks, blinds, ante and payouts.
    seed
        Seed of the sampled four-way showdowns of the model.
    threads
        Threads of the model.

    Returns
    -------
    PushFoldGame
        The game over classes of starting hands.

    Examples
    --------
    >>> make_push_fold_game(PushFold((10, 10))).lines
    {'': 0, 'J': 1}
    """
    return PushFoldStage(spot) if spot.players in PLAYERS else ManyPlayerPushFold(spot, seed, threads=threads)


def deviation_gains(game: PushFoldGame, strategy: Array, values: Array) -> Array:
    """Compute each player's gain by its best actions. float64 [players]

    Parameters
    ----------
    game
        The game.
    strategy
        Probability of going all-in, float64 [lines, classes].
    values
        Counterfactual values at the strategy, float64 [lines, 2, classes].

    Returns
    -------
    Array
        Gain of each player, float64 [players].

    Examples
    --------
    >>> game = make_push_fold_game(PushFold((10, 10)))
    >>> always = np.ones((2, 169))
    >>> deviation_gains(game, always, game.counterfactual_values(always)).round(2)
    array([0.57, 0.38])
    """
    gain_by_class = np.maximum(values[:, 0], values[:, 1]) - strategy * values[:, 0] - (1 - strategy) * values[:, 1]
    gains = np.zeros(game.spot.players)
    for line, k in game.lines.items():
        gains[len(line)] += gain_by_class[k].sum()
    return gains


def solve(
    game: PushFoldGame,
    method: str = "cfr",
    iterations: int = 1000,
    until: float = 0.0,
    progress: Callable[[int, float], None] | None = None,
) -> PushFoldSolution:
    """Iterate until no player can gain more than `until`, at most `iterations` times.

    Parameters
    ----------
    game
        A push-or-fold game.
    method
        `cfr` for CFR+, `fp` for fictitious play.
    iterations
        Largest number of iterations.
    until
        Target ε, in the unit of the payoffs.
    progress
        Function of the iteration and ε.

    Returns
    -------
    PushFoldSolution
        The average strategy with its ε, which is exact in this game.

    Raises
    ------
    InputError
        If the method is unknown, or `iterations` is below 1.

    Notes
    -----
    For two players both methods converge to an equilibrium. For more players there is no guarantee, and ε measures the
    result.

    References
    ----------
    .. [1] Brown, "Iterative solution of games by fictitious play", 1951.
    .. [2] Tammelin, "Solving large imperfect information games using CFR+", 2014.

    Examples
    --------
    With ten big blinds, the small blind goes all-in with 59 % of its hands:

    >>> solution = solve(make_push_fold_game(PushFold((10, 10))), iterations=100)
    >>> share_of_hands(solution.strategy).round(2)
    array([0.59, 0.37])
    """
    check_name("method", method, METHODS)
    if iterations < 1:
        raise InputError(f"iterations={iterations}: must be at least 1")
    algorithm = _FictitiousPlay(game) if method == "fp" else _RegretMatchingPlus(game)
    check = 1
    for t in range(1, iterations + 1):
        check_cancellation()
        algorithm.step(t, recompute=t >= check)
        if t >= check or t == iterations:
            check = 2 * t + 1
            gains = deviation_gains(game, algorithm.mean, game.counterfactual_values(algorithm.mean))
            if progress is not None:
                progress(t, float(gains.max()))
            if gains.max() <= until or t == iterations:
                return PushFoldSolution(game, algorithm.mean, game.values(algorithm.mean), gains, t, method)
    raise AssertionError


class _FictitiousPlay:
    """Fictitious play: every player best-responds to the average of past strategies."""

    def __init__(self, game: PushFoldGame) -> None:
        self.game = game
        self.mean = np.full((len(game.lines), game.classes), 0.5)

    def step(self, t: int, recompute: bool) -> None:
        values = self.game.counterfactual_values(self.mean, recompute)
        self.mean += ((values[:, 0] > values[:, 1]) - self.mean) / t


class _RegretMatchingPlus(_FictitiousPlay):
    """CFR+: regrets floored at zero, averages weighted by the iteration."""

    def __init__(self, game: PushFoldGame) -> None:
        super().__init__(game)
        self.current = self.mean.copy()
        self.regret = np.zeros((len(game.lines), 2, game.classes))

    def step(self, t: int, recompute: bool) -> None:
        values = self.game.counterfactual_values(self.current, recompute)
        expected = self.current * values[:, 0] + (1 - self.current) * values[:, 1]
        self.regret = np.maximum(self.regret + values - expected[:, None], 0.0)
        self.current = normalize(self.regret, axis=1)[:, 0]
        self.mean += (self.current - self.mean) * 2 / (t + 1)


def share_of_hands(strategy: Array) -> Array:
    """Return the share of all 1,326 hands that go all-in, for a strategy over the 169 classes. float64 [lines]

    Parameters
    ----------
    strategy
        Probability of going all-in, float64 [lines, 169].

    Returns
    -------
    Array
        Share of hands at each line.

    Examples
    --------
    >>> share_of_hands(np.full((1, 169), 0.25))
    array([0.25])
    """
    combos = np.bincount(CLASS_OF_HAND, minlength=strategy.shape[-1])
    return np.asarray(strategy @ combos / combos.sum())
