"""The excessive gap technique (Nesterov 2005), a first-order method for two-player zero-sum games.

Both best-response values are smoothed by an entropy: for plans x and y

    v_0(y) = max_x x'A y - mu_0 d_0(x)        v_1(x) = max_y -x'A y - mu_1 d_1(y)

As long as v_0(y) + v_1(x) <= 0, the excessive gap condition, the true gap of (x, y) is at most
mu_0 max d_0 + mu_1 max d_1. Each step makes one mu smaller and moves x and y so that the condition goes on to
hold; the gap falls as 1/t. On treeplexes (Hoda, Gilpin, Peña & Sandholm 2010) the entropy is dilated: that of each
information set counts with a weight and with the probability of coming there, and a smoothed response is one
softmax for each information set. The weights are those of Farina, Kroer & Sandholm (2021).

What theory would choose by worst-case bounds is chosen by trying (Hoda et al. 2010; Kroer, Farina & Sandholm
2018): the smallest first mu that satisfies the condition, the larger mu to shrink, and the longest step after which the
condition, which is checked, still holds. When the gap has fallen by a factor, or falls no more, a new round starts
around the best plans so far (Gilpin, Peña & Sandholm 2012), which is much faster than 1/t on small games.
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
from riverboat.solvers.run_loop import stepped
from riverboat.strategies.tabular import Strategy, Tree

CHECK = 10  # steps between two looks at the gap

# Pay-offs are divided by the largest, so these hold for every game.
_FIRST_MU = 1e-6
_LAST_MU = 1e-14  # below this the smoothing is lost in rounding
_ROUNDING = 1e-15  # by which the excessive gap condition may fail
_SHORTEST_STEP = 1e-10
_MIX = 5.0  # times the gap: how much uniform behaviour is mixed into a new centre


class _Response(NamedTuple):
    value: float
    logs: Array  # float64 [sequences]: log-behaviour
    plan: Array  # float64 [sequences]


class _Seat:
    """One player: its treeplex, its entropy, and its pay-offs for the plans of the other."""

    def __init__(self, form: SequenceForm, player: int, scale: float) -> None:
        self.plex = plex = form.treeplexes[player]
        self.payoffs = form.payoffs[player] / scale
        self.weight: Array = _kernels.entropy_weights(plex.parent, plex.first, plex.width, plex.sequences)
        self.centre = np.zeros(plex.sequences)

    def recentre(self, plan: Array, mix: float) -> None:
        """Measure entropy from the behaviour of a plan, mixed with uniform; from uniform where it does not go."""
        widths = np.repeat(self.plex.width, self.plex.width)
        uniform = 1.0 / widths
        arriving = np.repeat(plan[self.plex.parent], self.plex.width)
        behaviour = np.divide(plan[1:], arriving, out=uniform.copy(), where=arriving > 0)
        self.centre[1:] = np.log((1 - mix) * behaviour + mix * uniform)

    def respond(self, gain: Array, mu: float, centre: Array | None = None) -> _Response:
        """The plan that maximises gain·x - mu d(x), with d measured from the centre."""
        plex = self.plex
        value, logs, plan = gain.copy(), (self.centre if centre is None else centre).copy(), np.empty_like(gain)
        _kernels.smooth_respond(plex.parent, plex.first, plex.width, self.weight, mu, value, logs, plan)
        return _Response(float(value[0]), logs, plan)


class EGT:
    """The method on one tree, step by step.

    `restart` is the factor by which the gap must fall before a new round starts around the plans found; infinity
    gives the method without restarts. `finished` says that rounding leaves nothing more to gain.
    """

    def __init__(self, tree: Tree, restart: float = 4.0) -> None:
        if not restart > 1:
            raise InputError(f"{tree.name}: restart={restart:g}: the gap must fall by a factor above 1")
        self.form = SequenceForm(tree)
        self.form.histories.check_constant_sum()
        self._scale = scale = float(np.abs(self.form.histories.payoffs - self.form.half).max(initial=0.0)) or 1.0
        self.tree, self.restart = tree, restart
        self.iteration, self.finished = 0, False
        self._seats = _Seat(self.form, 0, scale), _Seat(self.form, 1, scale)
        self._mu = [_FIRST_MU, _FIRST_MU]
        uniform = self.form.plans(Strategy.uniform(tree))
        self._best, self._best_at = (uniform, self.form.bracket(*uniform)), 0
        self._start()

    # --- answers ----------------------------------------------------------------------------

    def _look(self) -> tuple[tuple[Array, Array], tuple[float, float]]:
        """The better of the current plans and those around which the next round starts, and their bracket.

        Nothing is stored: when and how often a caller looks changes neither the method nor its answer.
        """
        plans = self._plan[0], self._plan[1]
        bracket = self.form.bracket(*plans)
        return (plans, bracket) if _width(bracket) < _width(self._best[1]) else self._best

    @property
    def plans(self) -> tuple[Array, Array]:
        """The realization plans of both players."""
        return self._look()[0]

    def average(self) -> Strategy:
        """The strategy of these plans: the iterates of this method are averages already."""
        return self.form.strategy(*self.plans, {"method": "egt", "iterations": self.iteration})

    def bracket(self) -> tuple[float, float]:
        """What player 0's half guarantees and what player 1's half concedes: the value lies between."""
        return self._look()[1]

    def gap(self) -> float:
        """Width of the bracket: the sum of what both players could gain by deviating."""
        return _width(self.bracket())

    # --- the method -------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Take n steps, fewer if rounding ends it."""
        for _ in range(n):
            if self.finished:
                return
            self._shrink()
            self.iteration += 1
            if self.iteration % CHECK == 0:
                self._improve()
                if self._ripe():
                    self._start()

    def _improve(self) -> None:
        """Store the current plans if they are the best at any check of the method itself."""
        plans, bracket = self._look()
        if bracket is not self._best[1]:
            self._best, self._best_at = (plans, bracket), self.iteration

    def _ripe(self) -> bool:
        """Whether to start again: the gap has fallen enough, or it did fall and has not for twice as long."""
        if self.restart == math.inf:
            return False
        fallen = _width(self._best[1]) * self.restart < self._centre_gap
        took, since = self._best_at - self._started_at, self.iteration - self._best_at
        return fallen or 0 < 2 * took < since

    def _start(self) -> None:
        """Begin a round around the best plans, with the smallest mu that satisfies the condition."""
        centre = self._best[0]
        self._centre_gap, self._started_at, self._best_at = _width(self._best[1]), self.iteration, self.iteration
        # A move that the plans hardly make but the equilibrium does would cost a great entropy to bring back: so the
        # centre makes every move about as often as the gap leaves open.
        mix = min(0.5, max(1e-12, _MIX * self._centre_gap / self._scale))
        for seat, plan in zip(self._seats, centre, strict=True):
            seat.recentre(plan, mix)
        first, second = self._seats
        mu = max(self._mu)
        against = second.payoffs @ first.respond(np.zeros_like(centre[0]), mu).plan
        while not self.finished:
            y = second.respond(against, mu).plan
            x = first.respond(first.payoffs @ y, mu).plan
            self._plan, self._gain, self._mu = [x, y], [first.payoffs @ y, second.payoffs @ x], [mu, mu]
            self._response = [seat.respond(gain, mu) for seat, gain in zip(self._seats, self._gain, strict=True)]
            if self._response[0].value + self._response[1].value <= _ROUNDING:
                break
            mu *= 1.5
            self.finished = mu > 1e6  # theory needs far less
        self._tau = 0.5

    def _shrink(self) -> None:
        """Make the larger mu smaller by the largest factor 1 - tau that keeps the condition."""
        me = 0 if self._mu[0] >= self._mu[1] else 1
        other = 1 - me
        mine, theirs = self._seats[me], self._seats[other]
        mu_me, mu_other = self._mu[me], self._mu[other]
        response = self._response[me]
        answer = theirs.payoffs @ response.plan
        tau = min(0.5, 1.1 * self._tau)
        while True:
            keep = 1.0 - tau
            y = theirs.respond(keep * self._gain[other] + tau * answer, mu_other).plan
            gain = mine.payoffs @ y
            x = mine.respond(gain, mu_me * keep / tau, centre=response.logs).plan  # a proximal step from the response
            gain_me = keep * self._gain[me] + tau * gain
            gain_other = keep * self._gain[other] + tau * (theirs.payoffs @ x)
            next_me = mine.respond(gain_me, keep * mu_me)
            next_other = theirs.respond(gain_other, mu_other)
            if next_me.value + next_other.value <= _ROUNDING:
                break
            tau /= 2
            if tau < _SHORTEST_STEP:
                self.finished = True
                return
        self._tau = tau
        for seat, plan, gains, following in ((me, x, gain_me, next_me), (other, y, gain_other, next_other)):
            self._plan[seat] = keep * self._plan[seat] + tau * plan
            self._gain[seat], self._response[seat] = gains, following
        self._mu[me] = keep * mu_me
        self.finished = max(self._mu) < _LAST_MU


def _width(bracket: tuple[float, float]) -> float:
    return bracket[1] - bracket[0]


def solve_egt(
    tree: Tree,
    until: float = 1e-4,
    iterations: int = 100_000,
    callback: Callable[[EGT], bool | None] | None = None,
) -> EGT:
    """Run until the gap is at most `until`, in the game's unit, or for a number of iterations, or until it is finished.

    `callback` is called every few steps; the method stops when it returns true.
    """
    if iterations < 0:
        raise InputError(f"{tree.name}: iterations={iterations}: must not be negative")
    egt = EGT(tree)
    while egt.iteration < iterations and egt.gap() > until:
        if not stepped(egt, min(CHECK, iterations - egt.iteration)) or (callback is not None and callback(egt)):
            break
    return egt
