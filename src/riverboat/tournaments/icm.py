"""The independent chip model (Malmuth and Harville): what stacks are worth when places are paid.

The first place goes to a player with the probability of its share of the chips, the second by the shares of those who are
left, and so on. That is the order in which exponential clocks ring whose rates are the stacks, so the chance that player i
comes in at place r is an integral over the time at which its clock rings, of the chance that exactly r - 1 others have
rung:

    P(i at r) = ∫ s e^(-s t) P(r - 1 of the others before t) dt

The integrand is smooth and dies out, so that a double-exponential rule with a few hundred points is exact to ten digits, for
nine players and for three hundred. `by_orders` adds up the orders one by one, as the model is usually told: the twin in the
tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import isfinite

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown

MOST_PLAYERS = 300
_STEP, _REACH = 1 / 64, 3.6  # of the rule for nine players: more points do not change the tenth digit
_CHUNK = 128  # points at a time


def places(stacks: Sequence[float] | Array) -> Array:
    """Probability of each player to come in at each place. float64 [players, places]"""
    rates = _checked(stacks, "stacks", least=1)
    rates = rates / rates.mean()
    times, weights = _rule(len(rates))
    chances = np.zeros((len(rates), len(rates)))
    for at in range(0, len(times), _CHUNK):
        t = np.outer(times[at : at + _CHUNK], rates)
        density = np.exp(-t) * rates * weights[at : at + _CHUNK, None]
        _add(chances, density, -np.expm1(-t))
    chances /= chances.sum(axis=1, keepdims=True)  # rounding alone
    return chances


def _rule(players: int) -> tuple[Array, Array]:
    """Points and weights on (0, ∞): t = exp(π/2 sinh u), evenly in u. The more players, the sharper what is integrated."""
    step = _STEP / max(1.0, (players / 9) ** 0.5)
    u = np.arange(-_REACH, _REACH + step / 2, step)
    times = np.exp(np.pi / 2 * np.sinh(u))
    return times, times * np.pi / 2 * np.cosh(u) * step


def _add(
    chances: Array,  # float64 [players, places] INOUT
    density: Array,  # float64 [points, players]: that a clock rings then, times the weight of the point
    rung: Array,  # float64 [points, players]: that it has rung before
) -> None:
    """Add the chance that exactly so many of the others have rung.

    The generating polynomial of all players is made factor by factor, and each player's factor is divided out again: from the
    low end where it has rung with less than one half, from the high end otherwise, so that errors shrink.
    """
    players = rung.shape[1]
    every = np.zeros((players + 1, len(rung)))
    every[0] = 1.0
    for q in rung.T:
        every[1:] = every[1:] * (1 - q) + every[:-1] * q
        every[0] *= 1 - q
    low = rung < 0.5
    stays, goes = np.where(low, 1 - rung, np.inf), np.where(low, np.inf, rung)
    quotient = np.zeros_like(rung)
    for r in range(players):
        quotient = (every[r][:, None] - rung * quotient) / stays
        chances[:, r] += np.einsum("pi,pi->i", density, quotient)
    quotient = np.zeros_like(rung)
    for r in range(players - 1, -1, -1):
        quotient = (every[r + 1][:, None] - (1 - rung) * quotient) / goes
        chances[:, r] += np.einsum("pi,pi->i", density, quotient)


def many_values(stacks: Array, prizes: Sequence[float] | Array) -> Array:
    """What many tables' stacks are worth, place by place over the sets of players who are in front. float64 [n, players]

    For up to a dozen players, or few prizes: the sets are many.
    """
    tables, players = stacks.shape
    paid = max((place + 1 for place, prize in enumerate(prizes) if prize), default=0)
    out = np.zeros(stacks.shape)
    chance: dict[int, Array] = {0: np.ones(tables)}  # that exactly these players are in front, a bit for each
    left: dict[int, Array] = {0: stacks.sum(axis=1)}
    for place in range(paid):
        after: dict[int, Array] = {}
        for front, p in chance.items():
            for i in range(players):
                if not front >> i & 1:
                    q = p * stacks[:, i] / left[front]
                    out[:, i] += q * prizes[place]
                    to = front | 1 << i
                    after[to] = after[to] + q if to in after else q
                    left.setdefault(to, left[front] - stacks[:, i])
        chance = after
    return out


def by_orders(stacks: Sequence[float]) -> Array:
    """`places` by adding up all orders: slow, for up to nine players. float64 [players, places]"""
    total, n = float(sum(stacks)), len(stacks)
    chances = np.zeros((n, n))
    for order in permutations(range(n)):
        chance, left = 1.0, total
        for i in order:
            chance *= stacks[i] / left
            left -= stacks[i]
        for place, i in enumerate(order):
            chances[i, place] += chance
    return chances


# --- money ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ICM:
    """Stacks and prizes, the first place first; places without a prize may be left out."""

    stacks: tuple[float, ...]
    payouts: tuple[float, ...]

    def __post_init__(self) -> None:
        _checked(self.stacks, "stacks", least=1)
        _checked(self.payouts, "payouts", least=1, zero=True)
        if len(self.payouts) > len(self.stacks):
            raise InputError(f"{len(self.payouts)} payouts for {len(self.stacks)} players: give at most one for each")

    @property
    def prizes(self) -> tuple[float, ...]:
        """One for each place."""
        return (*self.payouts, *[0.0] * (len(self.stacks) - len(self.payouts)))

    @cached_property
    def places(self) -> Array:
        """Probability of each player to come in at each place. float64 [players, places]"""
        return places(self.stacks)

    @cached_property
    def values(self) -> Array:
        """What each stack is worth. float64 [players]"""
        worth: Array = self.places @ np.array(self.prizes)
        return worth

    def after(self, winner: int, loser: int) -> Array:
        """What the stacks are worth once one player has won an all-in from another. float64 [players]

        Who has lost everything is paid for the last place.
        """
        self._known(winner, loser)
        chips = min(self.stacks[winner], self.stacks[loser])
        stacks = list(self.stacks)
        stacks[winner] += chips
        stacks[loser] -= chips
        if stacks[loser] > 0:
            return ICM(tuple(stacks), self.payouts).values
        left = [i for i in range(len(stacks)) if i != loser]
        out = np.empty(len(stacks))
        out[loser] = self.prizes[-1]
        out[left] = ICM(tuple(stacks[i] for i in left), self.payouts[: len(left)]).values
        return out

    def bubble_factor(self, player: int, other: int) -> float:
        """What a player loses by losing an all-in to another, over what it gains by winning it. 1 where chips are money."""
        now, won, lost = self._stakes(player, other)
        return (now - lost) / (won - now) if won > now else float("inf")

    def call_off(self, player: int, other: int) -> float:
        """The share of all-ins that a player must win from another for a call to be worth it, nothing in the pot before."""
        now, won, lost = self._stakes(player, other)
        return (now - lost) / (won - lost) if won > lost else 1.0

    def _stakes(self, player: int, other: int) -> tuple[float, float, float]:
        won, lost = self.after(player, other), self.after(other, player)
        return float(self.values[player]), float(won[player]), float(lost[player])

    def _known(self, *players: int) -> None:
        for player in players:
            if not 0 <= player < len(self.stacks):
                raise InputError(f"player {player}: there are 0 to {len(self.stacks) - 1}")
        if players[0] == players[1]:
            raise InputError(f"player {players[0]} against itself: an all-in has two players")


def _checked(numbers: Sequence[float] | Array, what: str, least: int, zero: bool = False) -> Array:
    """Finite numbers above zero, or at least zero, and neither too few nor too many."""
    values = np.asarray(numbers, np.float64)
    if values.ndim != 1 or not least <= len(values) <= MOST_PLAYERS:
        raise InputError(f"{what}: {values.size} numbers: give {least} to {MOST_PLAYERS:,}")
    for place, number in enumerate(values.tolist(), 1):
        if not isfinite(number) or number < 0 or (number == 0 and not zero):
            rule = "must not be negative" if zero else "must be above zero; leave out who is out"
            raise InputError(f"{what}: number {place} is {shown(number)}: {rule}")
    return values
