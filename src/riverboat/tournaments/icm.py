"""The independent chip model (Malmuth 1987; Harville 1973): the value of stacks when finishing places are paid.

A player finishes first with the probability of its share of the chips, second by the shares of the remaining players,
and so on. This is the order in which exponential clocks ring whose rates are the stacks. So the probability that player
i finishes at place r is an integral over the time at which its clock rings:

    P(i at r) = ∫ s e^(-s t) P(r - 1 of the others before t) dt

The integrand is smooth and decays, so a double-exponential rule with a few hundred points is exact to ten digits, for
nine players and for three hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr

MAX_PLAYERS = 300
_STEP, _CUTOFF = 1 / 64, 3.6  # for nine players: more points do not change the tenth digit
_CHUNK = 128  # quadrature points in one batch


def finish_probabilities(stacks: Sequence[float] | Array) -> Array:
    """Compute each player's probability of each finishing place. float64 [players, places]

    Parameters
    ----------
    stacks
        Chips of each player, above zero, for up to 300 players.

    Returns
    -------
    Array
        Row i has the probabilities of player i for places 1, 2, …

    Raises
    ------
    InputError
        If a stack is not a positive finite number, or there are too many players.

    References
    ----------
    .. [1] Harville, "Assigning probabilities to the outcomes of multi-entry competitions", JASA 1973.
    .. [2] Malmuth, "Gambling theory and other topics", 1987.

    Examples
    --------
    >>> finish_probabilities([2, 1, 1]).round(3)
    array([[0.5  , 0.333, 0.167],
           [0.25 , 0.333, 0.417],
           [0.25 , 0.333, 0.417]])
    """
    rates = _validate_numbers(stacks, "stacks")
    rates = rates / rates.mean()
    times, weights = _quadrature(len(rates))
    probabilities = np.zeros((len(rates), len(rates)))
    for at in range(0, len(times), _CHUNK):
        t = np.outer(times[at : at + _CHUNK], rates)
        density = np.exp(-t) * rates * weights[at : at + _CHUNK, None]
        _add_finish_probabilities(probabilities, density, -np.expm1(-t))
    probabilities /= probabilities.sum(axis=1, keepdims=True)  # removes rounding errors
    return probabilities


def _quadrature(players: int) -> tuple[Array, Array]:
    """Return points and weights of the double-exponential rule on (0, ∞): t = exp(π/2 sinh u), with evenly spaced u.

    More players need more points.
    """
    step = _STEP / max(1.0, (players / 9) ** 0.5)
    u = np.arange(-_CUTOFF, _CUTOFF + step / 2, step)
    times = np.exp(np.pi / 2 * np.sinh(u))
    return times, times * np.pi / 2 * np.cosh(u) * step


def _add_finish_probabilities(
    chances: Array,  # float64 [players, places] INOUT
    density: Array,  # float64 [points, players]: density that a clock rings then, times the weight of the point
    rung: Array,  # float64 [points, players]: probability that it has rung before
) -> None:
    """Add, for each player and place r, the probability that its clock rings after exactly r - 1 others.

    The generating polynomial of all players is a product of factors, and each player's factor is divided out again:
    from the low end if its clock has rung with probability below one half, from the high end otherwise, so that errors
    shrink.
    """
    players = rung.shape[1]
    every = np.zeros((players + 1, len(rung)))
    every[0] = 1.0
    for q in rung.T:
        every[1:] = every[1:] * (1 - q) + every[:-1] * q
        every[0] *= 1 - q
    low = rung < 0.5
    stays, goes = np.where(low, 1 - rung, np.inf), np.where(low, np.inf, rung)
    upwards = range(players), every[:-1], rung, stays
    downwards = reversed(range(players)), every[1:], 1 - rung, goes
    for places, products, factor, divisor in (upwards, downwards):
        quotient = np.zeros_like(rung)
        for r in places:
            quotient = (products[r][:, None] - factor * quotient) / divisor
            chances[:, r] += np.einsum("pi,pi->i", density, quotient)


def icm_values_batch(stacks: Array, prizes: Sequence[float] | Array) -> Array:
    """Compute ICM values of many tables by dynamic programming over sets of players who finished ahead.

    For up to a dozen players, or few prizes: the number of sets grows exponentially.

    Parameters
    ----------
    stacks
        Chips of each player at each table, float64 [n, players].
    prizes
        Prize of each place, first place first.

    Returns
    -------
    Array
        Value of each stack, float64 [n, players].

    Examples
    --------
    >>> icm_values_batch(np.array([[2.0, 1.0, 1.0]]), (50, 30, 20)).round(2)
    array([[38.33, 30.83, 30.83]])
    """
    tables, players = stacks.shape
    paid = max((place + 1 for place, prize in enumerate(prizes) if prize), default=0)
    out = np.zeros(stacks.shape)
    probability: dict[int, Array] = {0: np.ones(tables)}  # by bit set of the players ahead
    chips_left: dict[int, Array] = {0: stacks.sum(axis=1)}
    for place in range(paid):
        next_probability: dict[int, Array] = {}
        for ahead, p in probability.items():
            for i in range(players):
                if not ahead >> i & 1:
                    q = p * stacks[:, i] / chips_left[ahead]
                    out[:, i] += q * prizes[place]
                    successor = ahead | 1 << i
                    next_probability[successor] = next_probability.get(successor, 0.0) + q
                    chips_left.setdefault(successor, chips_left[ahead] - stacks[:, i])
        probability = next_probability
    return out


# --- Values of stacks ---


@dataclass(frozen=True)
class ICM:
    """Stacks and payouts, first place first; trailing places without a prize may be omitted.

    Parameters
    ----------
    stacks
        Chips of each player, above zero; eliminated players are left out.
    payouts
        Prize of each place, not negative, at most one for each player.

    Raises
    ------
    InputError
        If a number is out of range, or there are more payouts than players.

    Examples
    --------
    >>> table = ICM((50, 30, 20), (50, 30, 20))
    >>> table.values.round(2)
    array([38.39, 32.75, 28.86])
    >>> round(table.bubble_factor(0, 1), 3)
    1.169
    """

    stacks: tuple[float, ...]
    payouts: tuple[float, ...]

    def __post_init__(self) -> None:
        _validate_numbers(self.stacks, "stacks")
        _validate_numbers(self.payouts, "payouts", allow_zero=True)
        if len(self.payouts) > len(self.stacks):
            raise InputError(f"{len(self.payouts)} payouts for {len(self.stacks)} players: give at most one for each")

    @property
    def prizes(self) -> tuple[float, ...]:
        """Prize of each place."""
        return (*self.payouts, *[0.0] * (len(self.stacks) - len(self.payouts)))

    @cached_property
    def finish_probabilities(self) -> Array:
        """Probability of each player for each finishing place. float64 [players, places]"""
        return finish_probabilities(self.stacks)

    @cached_property
    def values(self) -> Array:
        """Expected prize of each player in the model. float64 [players]"""
        return np.asarray(self.finish_probabilities @ np.array(self.prizes))

    def values_after_all_in(self, winner: int, loser: int) -> Array:
        """Return the values of the stacks after one player has won an all-in against another. float64 [players]

        A player without chips gets the prize of the last place.

        Parameters
        ----------
        winner
            Player who wins the all-in, from 0.
        loser
            Player who loses it.

        Raises
        ------
        InputError
            If there is no such player, or both are the same.
        """
        for player in (winner, loser):
            if not 0 <= player < len(self.stacks):
                raise InputError(f"player {player}: must be 0 to {len(self.stacks) - 1}")
        if winner == loser:
            raise InputError(f"player {winner} against itself: an all-in needs two different players")
        stacks, chips = list(self.stacks), min(self.stacks[winner], self.stacks[loser])
        stacks[winner] += chips
        stacks[loser] -= chips
        if stacks[loser] > 0:
            return ICM(tuple(stacks), self.payouts).values
        del stacks[loser]
        return np.insert(ICM(tuple(stacks), self.payouts[: len(stacks)]).values, loser, self.prizes[-1])

    def bubble_factor(self, player: int, other: int) -> float:
        """Return a player's loss by losing an all-in over its gain by winning it.

        It is 1 where payoffs are linear in chips.

        Parameters
        ----------
        player
            Player whose factor it is, from 0.
        other
            Opponent in the all-in.
        """
        now, won, lost = self._all_in_values(player, other)
        return (now - lost) / (won - now) if won > now else float("inf")

    def call_off_equity(self, player: int, other: int) -> float:
        """Return the equity a player needs to call an all-in of another, with no chips in the pot before.

        Parameters
        ----------
        player
            Player who calls, from 0.
        other
            Player who is all-in.
        """
        now, won, lost = self._all_in_values(player, other)
        return (now - lost) / (won - lost) if won > lost else 1.0

    def _all_in_values(self, player: int, other: int) -> tuple[float, float, float]:
        won, lost = self.values_after_all_in(player, other), self.values_after_all_in(other, player)
        return float(self.values[player]), float(won[player]), float(lost[player])


def _validate_numbers(numbers: Sequence[float] | Array, name: str, allow_zero: bool = False) -> Array:
    """Return numbers as an array; raise unless their count is valid and all are finite and positive (or zero)."""
    values = np.asarray(numbers, np.float64)
    if values.ndim != 1 or not 1 <= len(values) <= MAX_PLAYERS:
        raise InputError(f"{name}: {values.size} numbers: give 1 to {MAX_PLAYERS:,}")
    for position, number in enumerate(values.tolist(), 1):
        if not isfinite(number) or number < 0 or (number == 0 and not allow_zero):
            rule = "must not be negative" if allow_zero else "must be above zero; leave out eliminated players"
            raise InputError(f"{name}: number {position} is {short_repr(number)}: {rule}")
    return values
