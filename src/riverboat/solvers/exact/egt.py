"""The excessive gap technique (Nesterov 2005), a first-order method for two-player zero-sum games.

Both best-response values are smoothed by an entropy: for plans x and y

    v_0(y) = max_x x'A y - mu_0 d_0(x)        v_1(x) = max_y -x'A y - mu_1 d_1(y)

As long as v_0(y) + v_1(x) <= 0, the excessive gap condition, the true gap of (x, y) is at most mu_0 max d_0 + mu_1 max
d_1. Each step reduces one mu and moves x and y so that the condition still holds; the gap falls as 1/t. On treeplexes
(Hoda, Gilpin, Peña & Sandholm 2010) the entropy is dilated: that of each information set is multiplied by a weight and
by its reach probability, and a smoothed response is one softmax for each information set. The weights are those of
Farina, Kroer & Sandholm (2021).

Where theory prescribes worst-case bounds, the parameters are found by search (Hoda et al. 2010; Kroer, Farina &
Sandholm 2018): the smallest initial mu that satisfies the condition, the larger mu to reduce, and the longest step
after which the condition, which is checked, still holds. When the gap has fallen by a factor, or falls no more, a new
round starts around the best plans so far (Gilpin, Peña & Sandholm 2012). This is much faster than 1/t on small games.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.solvers.exact import _kernels
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.run_loop import step_until
from riverboat.strategies.tabular import Strategy, Tree

CHECK_INTERVAL = 10  # steps between two computations of the gap

# Payoffs are divided by the largest, so these constants suit every game.
_INITIAL_MU = 1e-6
_MIN_MU = 1e-14  # below this the smoothing is lost in rounding
_ROUNDING = 1e-15  # tolerated violation of the excessive gap condition
_MIN_STEP = 1e-10
_UNIFORM_MIX = 5.0  # times the gap: weight of uniform behavior in a new center


class _SmoothedResponse(NamedTuple):
    value: float  # smoothed best-response value
    logs: Array  # float64 [sequences]: logarithm of the behavior strategy
    plan: Array  # float64 [sequences]: realization plan


class _SmoothedPlayer:
    """One player's treeplex, entropy, and payoffs against plans of the opponent."""

    def __init__(self, form: SequenceForm, player: int, scale: float) -> None:
        self.plex = plex = form.treeplexes[player]
        self.payoffs = form.payoffs[player] / scale
        self.weight: Array = _kernels.entropy_weights(plex.parent, plex.first, plex.width, plex.sequences)
        self.centre = np.zeros(plex.sequences)

    def recentre(self, plan: Array, mix: float) -> None:
        """Set the center of the dilated entropy to a plan's behavior strategy, mixed with uniform by the weight `mix`.

        Information sets that the plan does not reach get the uniform strategy.
        """
        uniform = 1.0 / np.repeat(self.plex.width, self.plex.width)
        parent_reach = np.repeat(plan[self.plex.parent], self.plex.width)
        behaviour = np.divide(plan[1:], parent_reach, out=uniform.copy(), where=parent_reach > 0)
        self.centre[1:] = np.log((1 - mix) * behaviour + mix * uniform)

    def respond(self, gain: Array, mu: float, centre: Array | None = None) -> _SmoothedResponse:
        """Compute the smoothed best response: the plan x that maximizes gain·x - mu d(x), with the dilated entropy d.

        `gain` is the payoff of each sequence; `centre` the log-behavior at which d is zero, by default the player's.
        """
        plex = self.plex
        value, logs, plan = gain.copy(), (self.centre if centre is None else centre).copy(), np.empty_like(gain)
        _kernels.smoothed_best_response(plex.parent, plex.first, plex.width, self.weight, mu, value, logs, plan)
        return _SmoothedResponse(float(value[0]), logs, plan)


class EGT:
    """The excessive gap technique on one tree, step by step.

    `finished` means that rounding prevents further progress.

    Parameters
    ----------
    tree
        Tree of a two-player constant-sum game.
    restart
        Factor above 1 by which the gap must fall before a new round starts around the best plans; infinity: no restarts.

    Raises
    ------
    InputError
        If `restart` is 1 or less, or the game has another number of players.
    ZeroSumError
        If payoffs do not sum to a constant.

    References
    ----------
    .. [1] Nesterov, "Excessive gap technique in nonsmooth convex minimization", SIAM J. Optimization 2005.
    .. [2] Hoda, Gilpin, Peña & Sandholm, "Smoothing techniques for computing Nash equilibria of sequential games",
       2010.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.egt import EGT
    >>> method = EGT(rb.compile_game(rb.game("kuhn")))
    >>> method.step(200)
    >>> method.gap() < 1e-3
    True
    """

    nodes_touched = 0  # it traverses no tree

    def __init__(self, tree: Tree, restart: float = 4.0) -> None:
        if not restart > 1:
            raise InputError(f"{tree.name}: restart={restart:g}: the gap must fall by a factor above 1")
        self.form = SequenceForm(tree)
        self.form.histories.check_constant_sum()
        self._scale = scale = float(np.abs(self.form.histories.payoffs - self.form.half_sum).max(initial=0.0)) or 1.0
        self.tree, self.restart = tree, restart
        self.iteration, self.finished = 0, False
        self._players = _SmoothedPlayer(self.form, 0, scale), _SmoothedPlayer(self.form, 1, scale)
        self._mu = [_INITIAL_MU, _INITIAL_MU]
        uniform = self.form.plans(Strategy.uniform(tree))
        self._best, self._best_at = (uniform, self.form.bracket(*uniform)), 0
        self._restart()

    # --- results ----------------------------------------------------------------------------

    def _best_plans(self) -> tuple[tuple[Array, Array], tuple[float, float]]:
        """Return the better of the current plans and the best ones of earlier checks, with their bracket.

        It changes no state: the result does not depend on when and how often a caller reads it.
        """
        plans = self._plan[0], self._plan[1]
        bracket = self.form.bracket(*plans)
        return (plans, bracket) if _interval_width(bracket) < _interval_width(self._best[1]) else self._best

    @property
    def plans(self) -> tuple[Array, Array]:
        """The realization plans of both players."""
        return self._best_plans()[0]

    def average(self) -> Strategy:
        """Return the strategy of the best plans: the iterates of this method are averages already."""
        return self.form.strategy(*self.plans, {"method": "egt", "iterations": self.iteration})

    def bracket(self) -> tuple[float, float]:
        """Return what player 0's strategy guarantees and what player 1's strategy concedes: the value lies between."""
        return self._best_plans()[1]

    def gap(self) -> float:
        """Return the width of the bracket, which is NashConv."""
        return _interval_width(self.bracket())

    # --- the method -------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Take steps, or fewer if rounding ends the method.

        Parameters
        ----------
        n
            Number of steps.
        """
        for _ in range(n):
            if self.finished:
                return
            self._reduce_smoothing()
            self.iteration += 1
            if self.iteration % CHECK_INTERVAL == 0:
                self._update_best()
                if self._should_restart():
                    self._restart()

    def _update_best(self) -> None:
        """Store the current plans if they are better than those of all checks before."""
        plans, bracket = self._best_plans()
        if bracket is not self._best[1]:
            self._best, self._best_at = (plans, bracket), self.iteration

    def _should_restart(self) -> bool:
        """Return whether to start a new round: the gap has fallen by the factor `restart`, or no longer falls.

        The gap no longer falls if the last improvement is more than twice as many steps ago as the round took up to it.
        """
        if self.restart == math.inf:
            return False
        fallen = _interval_width(self._best[1]) * self.restart < self._centre_gap
        improving, since = self._best_at - self._started_at, self.iteration - self._best_at
        return fallen or 0 < 2 * improving < since

    def _restart(self) -> None:
        """Start a round with the entropy centered on the best plans, and the first mu that meets the condition."""
        centre = self._best[0]
        self._centre_gap = _interval_width(self._best[1])
        self._started_at = self._best_at = self.iteration
        # An action of the equilibrium that the plans hardly play would need much entropy to recover. So the center
        # plays every action with a probability of about the gap.
        mix = min(0.5, max(1e-12, _UNIFORM_MIX * self._centre_gap / self._scale))
        for seat, plan in zip(self._players, centre, strict=True):
            seat.recentre(plan, mix)
        first, second = self._players
        mu = max(self._mu)
        opponent_gain = second.payoffs @ first.respond(np.zeros_like(centre[0]), mu).plan
        while not self.finished:
            y = second.respond(opponent_gain, mu).plan
            x = first.respond(first.payoffs @ y, mu).plan
            self._plan, self._gain, self._mu = [x, y], [first.payoffs @ y, second.payoffs @ x], [mu, mu]
            self._response = [seat.respond(gain, mu) for seat, gain in zip(self._players, self._gain, strict=True)]
            if self._response[0].value + self._response[1].value <= _ROUNDING:
                break
            mu *= 1.5
            self.finished = mu > 1e6  # theory needs far less
        self._tau = 0.5

    def _reduce_smoothing(self) -> None:
        """Take a step: multiply the larger mu by 1 - tau, with the first tau tried that preserves the condition."""
        me = 0 if self._mu[0] >= self._mu[1] else 1
        other = 1 - me
        own_player, opponent = self._players[me], self._players[other]
        mu_me, mu_other = self._mu[me], self._mu[other]
        response = self._response[me]
        response_gain = opponent.payoffs @ response.plan
        tau = min(0.5, 1.1 * self._tau)
        while True:
            factor = 1.0 - tau
            y = opponent.respond(factor * self._gain[other] + tau * response_gain, mu_other).plan
            gain = own_player.payoffs @ y
            # A proximal step from the response.
            x = own_player.respond(gain, mu_me * factor / tau, centre=response.logs).plan
            gain_me = factor * self._gain[me] + tau * gain
            gain_other = factor * self._gain[other] + tau * (opponent.payoffs @ x)
            next_me = own_player.respond(gain_me, factor * mu_me)
            next_other = opponent.respond(gain_other, mu_other)
            if next_me.value + next_other.value <= _ROUNDING:
                break
            tau /= 2
            if tau < _MIN_STEP:
                self.finished = True
                return
        self._tau = tau
        for seat, plan, gains, following in ((me, x, gain_me, next_me), (other, y, gain_other, next_other)):
            self._plan[seat] = factor * self._plan[seat] + tau * plan
            self._gain[seat], self._response[seat] = gains, following
        self._mu[me] = factor * mu_me
        self.finished = max(self._mu) < _MIN_MU


def _interval_width(bracket: tuple[float, float]) -> float:
    return bracket[1] - bracket[0]


def solve_egt(
    tree: Tree, until: float = 1e-4, iterations: int = 100_000, callback: Callable[[EGT], bool | None] | None = None
) -> EGT:
    """Run the excessive gap technique to a target.

    Parameters
    ----------
    tree
        Tree of a two-player constant-sum game.
    until
        Gap (NashConv) at which the method ends, in the game's unit.
    iterations
        Most iterations, 0 or more.
    callback
        Callback every few steps; returning true stops the method.

    Returns
    -------
    EGT
        The method after its last step.

    Raises
    ------
    InputError
        If `iterations` is negative, or the game is not supported.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.egt import solve_egt
    >>> solve_egt(rb.compile_game(rb.game("kuhn")), until=1e-2).gap() <= 1e-2
    True
    """
    if iterations < 0:
        raise InputError(f"{tree.name}: iterations={iterations}: must not be negative")
    egt = EGT(tree)

    def is_done() -> bool:
        return bool(callback is not None and egt.iteration > 0 and callback(egt)) or egt.gap() <= until

    step_until(egt, is_done, iterations, CHECK_INTERVAL)
    return egt
