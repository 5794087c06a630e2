"""Gadgets at the root of a subgame, which make its solution safe to play in the full game.

One player's strategy is re-solved in the subgame; the opponent, the gadget's `player`, gets a choice at the root.
Without a gadget (unsafe re-solving) both players begin with their ranges. Vectors run over all hands of the deck, in
chips, as the game pays the gadget's player from the root on; entries of impossible hands are ignored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.deck import NUM_HANDS
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr

# Three points that match the first five moments of a normal distribution, and their weights.
QUADRATURE = ((-(3**0.5), 1 / 6), (0.0, 2 / 3), (3**0.5, 1 / 6))


@dataclass(frozen=True, eq=False)
class _RootGadget(ABC):
    """Base class of root gadgets. Two gadgets are equal if type, player and all vectors are."""

    player: int

    @property
    @abstractmethod
    def vectors(self) -> tuple[Array, ...]:
        """All vectors over hands that define the gadget, to compare and hash it. float64 [1326] each"""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RootGadget) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return type(self), self.player, *(vector.tobytes() for vector in self.vectors)


@dataclass(frozen=True, eq=False)
class ResolvingGadget(_RootGadget):
    """Re-solving gadget (Burch, Johanson & Bowling 2014): with each hand the player may stop for a payoff, or enter.

    Hands are dealt by chance alone, not by the player's reach probabilities.

    If the payoffs are estimates, `spread` is their standard deviation: the stop payoff is then drawn around the
    estimate (`QUADRATURE`), and the player sees it before the choice (Brown & Sandholm 2017).

    If stopping pays too well no hand enters, and the strategy inside is not determined. `forced` is the probability
    that a hand must enter.
    """

    payoffs: Array  # float64 [1326]: stop payoffs
    spread: Array | float = 0.0  # float64 [1326], not negative
    forced: Array | float = 0.0  # float64 [1326], from 0 to 1

    def __post_init__(self) -> None:
        _check_player(self.player)
        object.__setattr__(self, "payoffs", _check_vector(self.payoffs, "stop payoffs"))
        object.__setattr__(self, "spread", _check_vector(self.spread, "spreads", 0.0))
        object.__setattr__(self, "forced", _check_vector(self.forced, "forced shares", 0.0, 1.0))

    @property
    def stop_payoff_draws(self) -> tuple[tuple[Array, Array], ...]:
        """Possible stop payoffs, -inf if the hand must enter, and their probabilities. float64 [1326] each"""
        spread, forced = np.asarray(self.spread), np.asarray(self.forced)
        points = QUADRATURE if spread.any() else ((0.0, 1.0),)
        free = tuple((self.payoffs + x * spread, chance * (1 - forced)) for x, chance in points)
        return (*free, (np.full(NUM_HANDS, -np.inf), forced)) if forced.any() else free

    @property
    def vectors(self) -> tuple[Array, ...]:
        """Stop payoffs, then spreads and forced shares if there are any. float64 [1326] each"""
        spread, forced = np.asarray(self.spread), np.asarray(self.forced)
        if forced.any():
            return self.payoffs, spread, forced
        return (self.payoffs, spread) if spread.any() else (self.payoffs,)


@dataclass(frozen=True, eq=False)
class MaxmarginGadget(_RootGadget):
    """Maxmargin gadget (Moravčík et al. 2016): the player chooses its hand h and earns weight[h] · value(h) − shift[h].

    The value of a hand is its mean against the opponent's compatible hands. With weights of one and counterfactual
    best-response values as shifts, the value of the choice is minus the smallest margin. In reach-maxmargin (Brown &
    Sandholm 2017) the margin belongs to an earlier decision that leads here with probability weight[h]. Of the player's
    range only its support matters.

    With `limits`, the value of a hand may not exceed limit[h]: besides its choice, the player may enter with each hand
    for multiplier[h] / hands · weight[h] · (value(h) − limit[h]). That is an exact penalty: from some multiplier on no
    hand exceeds its limit in an equilibrium, and the smallest margin is the largest under this constraint.
    """

    shifts: Array  # float64 [1326]
    weights: Array | float = 1.0  # float64 [1326], not negative
    limits: Array | None = None  # float64 [1326]
    multipliers: Array | float = 4.0  # float64 [1326], not negative, in units of the mean probability of a choice

    def __post_init__(self) -> None:
        _check_player(self.player)
        object.__setattr__(self, "shifts", _check_vector(self.shifts, "shifts"))
        object.__setattr__(self, "weights", _check_vector(self.weights, "weights", 0.0))
        if self.limits is not None:
            object.__setattr__(self, "limits", _check_vector(self.limits, "limits"))
            object.__setattr__(self, "multipliers", _check_vector(self.multipliers, "multipliers", 0.0))

    @property
    def vectors(self) -> tuple[Array, ...]:
        """Shifts and weights, then limits and multipliers if there are any. float64 [1326] each"""
        own = self.shifts, np.asarray(self.weights)
        return own if self.limits is None else (*own, self.limits, np.asarray(self.multipliers))


RootGadget: TypeAlias = ResolvingGadget | MaxmarginGadget


def _check_player(player: Any) -> None:
    if player not in (0, 1):
        raise InputError(f"root gadget: player {short_repr(player)}: 0 (oop) or 1 (ip)")


def _check_vector(given: Array | float, what: str, least: float = -inf, most: float = inf) -> Array:
    """Return a read-only vector over hands, float64 [1326]; a number is repeated for all hands.

    Raises InputError unless all entries are finite and from `least` to `most`.
    """
    numbers = (
        np.array(given if np.ndim(given) else np.full(NUM_HANDS, given), np.float64) + 0.0
    )  # no -0.0: bytes differ
    if numbers.shape != (NUM_HANDS,):
        raise InputError(f"root gadget: {what} of shape {numbers.shape}: one for each of {NUM_HANDS} hands is needed")
    if not np.isfinite(numbers).all():
        raise InputError(f"root gadget: {what} contain {numbers[~np.isfinite(numbers)][0]}; they must be finite")
    if not least <= numbers.min() <= numbers.max() <= most:
        limits = "must not be negative" if most == inf else f"must be from {least:g} to {most:g}"
        raise InputError(f"root gadget: {what} {numbers.min():g} to {numbers.max():g}: {limits}")
    numbers.flags.writeable = False
    return numbers
