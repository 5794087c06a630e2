"""All ε-safe best responses of a small game at once: the corners of what is played and what it guarantees.

What a plan x guarantees is concave and piecewise linear in x. So the set of pairs (x, w) with w at most the guarantee of
x is a polyhedron, and it does not depend on the opponent model or on ε. Maximising any model's pay-off over the
ε-safe plans is a linear program over that polyhedron cut by w >= v* - ε, and an optimum is a mix of at most two of its
corners. With the corners listed once (a few dozen in Kuhn), a response costs a microsecond instead of a call of a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.opponents import _kernels
from riverboat.solvers.exact.sequence_form import SequenceForm

MOST_SYSTEMS = 500_000  # linear systems that `corners` is ready to solve
_ZERO = 1e-10


@dataclass(frozen=True, eq=False)
class Corners:
    """Corners of a player's plans and guarantees, those that another one dominates left out."""

    form: SequenceForm
    player: int
    plans: Array  # float64 [corners, own sequences]
    worst: Array  # float64 [corners]: what each guarantees

    @property
    def value(self) -> float:
        """What the player can guarantee: the value of the game to it."""
        return float(self.worst.max())

    def respond(self, model: Array, epsilon: float, prefer: Array | None = None) -> Array:
        """The ε-safe best response to the opponent's plan `model`. float64 [own sequences]

        Of several, one of corners with the largest `prefer`, float64 [corners], which counts by a weight of 1e-9.
        """
        if not epsilon >= 0:
            raise InputError(f"{self.form.tree.name}: epsilon={epsilon}: must be 0 or more")
        gain = self.plans @ (self.form.payoffs[self.player] @ model)
        if prefer is not None:
            gain = gain + _kernels.TIE * prefer
        first, second, share = _kernels.mix(gain, self.worst, self.value - epsilon)
        plan: Array = (1 - share) * self.plans[first] + share * self.plans[second]
        return plan

    @property
    def boldness(self) -> Array:
        """How much each corner bets, raises and calls. float64 [corners]

        A move counts by its place in its menu (which goes from folding to raising), half as much with every own
        move before it.
        """
        plex = self.form.treeplexes[self.player]
        reach = np.ones(plex.sequences)
        weight = np.zeros(plex.sequences)
        for parent, first, width in zip(plex.parent, plex.first, plex.width, strict=True):
            reach[first : first + width] = reach[parent] / 2
            weight[first : first + width] = reach[parent] * np.arange(width) / max(width - 1, 1)
        bold: Array = self.plans @ weight
        return bold

    @property
    def boldest_equilibrium(self) -> int:
        """The corner that bets most of those that guarantee the value."""
        return int(np.argmax(np.where(self.worst > self.value - _ZERO, self.boldness, -np.inf)))


def corners(form: SequenceForm, player: int) -> Corners:
    """List the corners for a player of a small zero-sum game in which the opponent decides once.

    A corner is where as many independent constraints are tight as the plans have dimensions. Constraints are the
    own sequences that nothing follows, which cannot be negative, and the planes on which two moves of the
    opponent are worth the same. All choices of them are tried.
    """
    form.histories.check_zero_sum()
    own, other = form.treeplexes[player], form.treeplexes[1 - player]
    if np.any(other.parent):
        raise InputError(
            f"{form.tree.name}: player {1 - player} decides more than once on a path; "
            f"corners are listed for one decision, use safe_response instead"
        )
    equal, right = form.constraints(player)
    equal = equal.toarray()
    cost = form.payoffs[player].toarray().T  # [opponent sequences, own sequences]
    inner = np.isin(np.arange(own.sequences), own.parent)
    planes = list(np.eye(own.sequences)[~inner])
    for first, width in zip(other.first, other.width, strict=True):
        planes += [cost[first + a] - cost[first + b] for a, b in combinations(range(width), 2)]
    free = own.sequences - len(right)
    if comb(len(planes), free) > MOST_SYSTEMS:
        raise InputError(
            f"{form.tree.name}: {comb(len(planes), free):,} places to look for corners, more than {MOST_SYSTEMS:,}; "
            f"use safe_response instead"
        )
    rows = np.array(planes)
    chosen = np.array(list(combinations(range(len(planes)), free)))
    systems = np.concatenate([np.broadcast_to(equal, (len(chosen), *equal.shape)), rows[chosen]], axis=1)
    regular = np.abs(np.linalg.det(systems)) > _ZERO
    sides = np.concatenate([right, np.zeros(free)])
    points = np.linalg.solve(systems[regular], np.broadcast_to(sides[:, None], (int(regular.sum()), len(sides), 1)))
    points = points[..., 0]
    points = points[points.min(axis=1) > -_ZERO]
    _, kept = np.unique(np.round(points, 9), axis=0, return_index=True)
    plans = np.maximum(points[np.sort(kept)], 0.0)
    pays = plans @ cost.T  # [points, opponent sequences]
    worst = pays[:, 0] + sum(
        pays[:, first : first + width].min(axis=1) for first, width in zip(other.first, other.width, strict=True)
    )
    keep = _undominated(pays, worst, other.first, other.width)
    return Corners(form, player, np.ascontiguousarray(plans[keep]), np.ascontiguousarray(worst[keep]))


def _undominated(pays: Array, worst: Array, first: Array, width: Array) -> Array:
    """Corners that no other one beats or equals against everything and in the guarantee."""
    ahead = pays[:, None, 0] - pays[None, :, 0]  # [a, b]: at least so much better is a than b
    for f, w in zip(first, width, strict=True):
        ahead += (pays[:, None, f : f + w] - pays[None, :, f : f + w]).min(axis=2)
    beats = (ahead >= -_ZERO) & (worst[:, None] >= worst[None, :] - _ZERO)
    equal = beats & beats.T
    beats &= ~equal | (np.arange(len(worst))[:, None] < np.arange(len(worst))[None, :])  # of equals keep the first
    np.fill_diagonal(beats, False)
    return np.flatnonzero(~beats.any(axis=0))
