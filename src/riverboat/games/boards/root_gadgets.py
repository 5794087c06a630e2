"""What may stand at the root of a subgame, so that its solution is safe to play in the whole game.

One player's strategy is refined there; the other one, the gadget's `player`, gets a choice in front. Without a gadget
(unsafe solving) both come with their ranges. Numbers run over all hands of the deck, in chips, as the game pays the
gadget's player from the root on; hands that cannot be there are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.deck import HANDS
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown

QUADRATURE = ((-(3**0.5), 1 / 6), (0.0, 2 / 3), (3**0.5, 1 / 6))  # three points with a normal's first five moments


@dataclass(frozen=True, eq=False)
class Stop:
    """Re-solving (Burch, Johanson, Bowling 2014): with each hand the player may stop and be paid, or enter.

    Hands are dealt by the player's range in the game: how likely chance is to deal them, not how likely the player was to
    come here with them.

    Where pay-offs are estimates of a known error, `spread` is its standard deviation: what stopping pays is then drawn around
    the estimate (`QUADRATURE`), and the player sees what it is before it chooses (Brown, Sandholm 2017).

    Where stopping pays too well nobody enters, and nothing is learnt. `forced` is how likely each hand may not stop.
    """

    player: int
    payoffs: Array  # float64 [1326]: what stopping pays
    spread: Array | float = 0.0  # float64 [1326], not negative
    forced: Array | float = 0.0  # float64 [1326], from 0 to 1

    def __post_init__(self) -> None:
        _check_player(self.player)
        object.__setattr__(self, "payoffs", _numbers(self.payoffs, "stop pay-offs"))
        spread = _numbers(np.broadcast_to(np.asarray(self.spread, float), (HANDS,)), "spreads")
        if spread.min() < 0:
            raise InputError(f"root gadget: spread {spread.min():g}: must not be negative")
        object.__setattr__(self, "spread", spread)
        forced = _numbers(np.broadcast_to(np.asarray(self.forced, float), (HANDS,)), "forced shares")
        if forced.min() < 0 or forced.max() > 1:
            raise InputError(f"root gadget: forced {forced.min():g} to {forced.max():g}: must be from 0 to 1")
        object.__setattr__(self, "forced", forced)

    @property
    def draws(self) -> tuple[tuple[Array, Array], ...]:
        """What may be drawn: what stopping pays, -inf where it is forbidden, and how likely that is. float64 [1326] each"""
        spread, forced = np.asarray(self.spread), np.asarray(self.forced)
        points = QUADRATURE if spread.any() else ((0.0, 1.0),)
        free = tuple((self.payoffs + x * spread, chance * (1 - forced)) for x, chance in points)
        return (*free, (np.full(HANDS, -np.inf), forced)) if forced.any() else free

    @property
    def vectors(self) -> tuple[Array, ...]:
        """All numbers by hand."""
        spread, forced = np.asarray(self.spread), np.asarray(self.forced)
        if forced.any():
            return self.payoffs, spread, forced
        return (self.payoffs, spread) if spread.any() else (self.payoffs,)

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __hash__(self) -> int:
        return _hash(self)


@dataclass(frozen=True, eq=False)
class Choose:
    """Maxmargin (Moravčík et al. 2016): the player chooses its hand; hand h then earns weight[h] · value(h) − shift[h].

    The value of a hand is its mean against the opponent's hands that it can meet. With weights of one and counterfactual
    best-response values as shifts, what the choice earns is minus the least margin. In reach-maxmargin (Brown, Sandholm
    2017) the margin sits at an earlier decision that leads here with probability weight[h]. Of the player's range only
    matters which hands are in it.
    """

    player: int
    shifts: Array  # float64 [1326]
    weights: Array | float = 1.0  # float64 [1326], not negative

    def __post_init__(self) -> None:
        _check_player(self.player)
        object.__setattr__(self, "shifts", _numbers(self.shifts, "shifts"))
        weights = _numbers(np.broadcast_to(np.asarray(self.weights, float), (HANDS,)), "weights")
        if weights.min() < 0:
            raise InputError(f"root gadget: weight {weights.min():g}: must not be negative")
        object.__setattr__(self, "weights", weights)

    @property
    def vectors(self) -> tuple[Array, ...]:
        """All numbers by hand."""
        return self.shifts, np.asarray(self.weights)

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __hash__(self) -> int:
        return _hash(self)


RootGadget: TypeAlias = Stop | Choose


def _check_player(player: Any) -> None:
    if player not in (0, 1):
        raise InputError(f"root gadget: player {shown(player)}: 0 (oop) or 1 (ip)")


def _numbers(given: Array, what: str) -> Array:
    numbers = np.array(given, np.float64) + 0.0  # no negative zeros, which differ in bytes
    if numbers.shape != (HANDS,):
        raise InputError(f"root gadget: {what} of shape {numbers.shape}: one for each of {HANDS} hands is needed")
    if not np.isfinite(numbers).all():
        raise InputError(f"root gadget: {what} have {numbers[~np.isfinite(numbers)][0]} in them; give numbers")
    numbers.flags.writeable = False
    return numbers


def _equal(one: RootGadget, other: Any) -> bool:
    return (
        type(one) is type(other)
        and one.player == other.player
        and len(one.vectors) == len(other.vectors)
        and all(np.array_equal(a, b) for a, b in zip(one.vectors, other.vectors, strict=True))
    )


def _hash(gadget: RootGadget) -> int:
    return hash((gadget.player, *(v.tobytes() for v in gadget.vectors)))
