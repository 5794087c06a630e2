"""Gadgets in front of a street that is solved alone: the root gadgets of subgames (`games.boards.root_gadgets`), in vectors.

    solver, margins = gadget_solver("resolve", tree, hands, ranges, leaves, seat, play)

What the other seat's hands could win against the blueprint is worked out with the same values at exits: by the best they can
do on the street and the best way to go on (`estimate`: as the blueprint). A hand that would win more on the solved street
enters it, so the solution leaves none of them more, as far as these values are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from riverboat.core.arrays import Array
from riverboat.solvers.schedules import Step
from riverboat.subgames.depth_limited.street_game import Leaves, Play, StreetSolver, StreetTree, discounted, shares


class StopOrEnter:
    """Re-solving: each hand may stop and be paid, or enter. Rows: enter, stop."""

    def __init__(self, payoffs: Array, met: Array) -> None:
        self.paid, self.live = payoffs * met, (met > 0).astype(float)
        self.total = float(met.sum())
        self.regret, self.sums = np.zeros((2, len(met))), np.zeros((2, len(met)))

    def shares(self) -> Array:
        """How often each hand enters and stops now."""
        return shares(np.maximum(self.regret, 0.0), 0)

    def average(self) -> Array:
        """How often on average."""
        return shares(self.sums, 0)

    def reach(self, shares: Array) -> Array:
        """All hands are dealt alike."""
        entering: Array = shares[0] * self.live
        return entering

    def learn(self, entered: Array, now: Step) -> None:
        """From what entering has won."""
        each, mixed = np.stack([entered, self.paid]), self.shares()
        self.regret = discounted(self.regret, now) + each - (mixed * each).sum(axis=0)
        self.sums = now.decay * self.sums + mixed

    def gain(self, best: Array, entered: Array) -> float:
        """By the best of both, hand by hand."""
        now = (self.average() * np.stack([entered, self.paid])).sum(axis=0)
        return float(((np.maximum(best, self.paid) - now) * self.live).sum())


class ChooseHand:
    """Maxmargin: the other seat chooses its hand, and is paid what that wins more than before."""

    total = 1.0

    def __init__(self, shifts: Array, met: Array) -> None:
        self.shifts, self.live = shifts, met > 0
        self.met = np.where(self.live, met, 1.0)
        self.regret, self.sums = np.zeros(len(met)), np.zeros(len(met))

    def shares(self) -> Array:
        """How often each hand is chosen now."""
        return self._among(np.maximum(self.regret, 0.0))

    def average(self) -> Array:
        """How often on average."""
        return self._among(self.sums)

    def _among(self, weights: Array) -> Array:
        return shares(np.where(self.live, weights if weights.any() else 1.0, 0.0), 0)

    def reach(self, shares: Array) -> Array:
        """A hand that meets few is dealt more often, so that every hand is worth its mean."""
        return shares / self.met

    def learn(self, entered: Array, now: Step) -> None:
        """From what hands have won."""
        each, chosen = entered / self.met - self.shifts, self.shares()
        self.regret = discounted(self.regret, now) + (each - chosen @ each) * self.live
        self.sums = now.decay * self.sums + chosen

    def gain(self, best: Array, entered: Array) -> float:
        """By the best hand."""
        most = (best / self.met - self.shifts)[self.live].max()
        return float(most - self.average() @ (entered / self.met - self.shifts))


def gadget_solver(
    method: str,
    street: StreetTree,
    hands: Array,
    ranges: Sequence[Array] | Array,
    leaves: Leaves,
    seat: int,
    play: Callable[[], Play],
) -> tuple[StreetSolver, Callable[[], Array]]:
    """A solver with what makes its street safe, and what tells the margins of the other seat's hands.

    `play` is what the blueprint plays on the street. Hands of the other seat are then dealt alike: how often it comes with
    them is its own affair. Margins: how much less than before each hand can win, in chips; NaN where it meets nobody. [hands]
    """
    if method == "unsafe":
        return StreetSolver(street, hands, ranges, leaves, seat), lambda: np.full(len(hands), np.nan)
    other = 1 - seat
    alike = [np.ones(len(hands)), np.ones(len(hands))]
    alike[seat] = np.asarray(ranges[seat], float)
    plain = StreetSolver(street, hands, alike, leaves, seat)
    met = plain.beside(alike[seat])
    some = np.where(met > 0, met, 1.0)
    ways = np.zeros_like(plain.way_sums)
    ways[:, 0] = 1.0  # in self-play: the first continuation is the blueprint
    before = plain.values(other, play(), ways, respond=method != "estimate") / some
    choice = StopOrEnter(before, met) if method == "resolve" else ChooseHand(before, met)
    solver = StreetSolver(street, hands, alike, leaves, seat, choice=choice)

    def margins() -> Array:
        return np.where(met > 0, before - solver.values(other, *solver.averages(), respond=True) / some, np.nan)

    return solver, margins
