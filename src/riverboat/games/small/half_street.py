"""Half-street games: player 0 checks or bets any size of a menu, player 1 calls or folds; the pot is 1.

After a check the hands are shown; player 1 may not bet. The clairvoyance game (Ankenman & Chen 2006) and the no-limit Kuhn
poker of Ganzfried & Sandholm (2013) are of this kind, with the hands and the menu as data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Compare, Constant, Deal, Outcome, Payoff
from riverboat.games.small.betting import MAX_SIZES

ANTE = 0.5  # each: the pot is 1


def grid(stack: float, chip: float = 0.1) -> tuple[float, ...]:
    """Every bet from one chip to the whole stack, which is always there."""
    if not (math.isfinite(chip) and math.isfinite(stack)):
        raise InputError(f"stack={stack:g}, chip={chip:g}: must be finite")
    if chip <= 0:
        raise InputError(f"chip={chip:g}: must be above zero")
    if stack < chip:
        raise InputError(f"stack={stack:g}: must be at least one chip of {chip:g}")
    if stack / chip > MAX_SIZES:
        raise InputError(
            f"stack={stack:g} with chip={chip:g}: more than {MAX_SIZES:,} bets; raise chip, or lower stack"
        )
    bets = [round(k * chip, 10) for k in range(1, int(stack / chip + 1e-9) + 1)]
    return tuple(bets) if abs(bets[-1] - stack) < 1e-9 else (*bets, stack)


@dataclass(frozen=True)
class HalfStreet:
    """Bets are fractions of the pot of 1, rising; the last one is all-in."""

    name: str
    bets: tuple[float, ...]
    hands: tuple[tuple[str, ...], tuple[str, ...]]
    strengths: tuple[tuple[int, ...], tuple[int, ...]]
    shared_deck: bool  # hand k of one player excludes hand k of the other
    unit: str = field(default="pots", init=False)
    joiner: str = field(default="", init=False)

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.bets, self.bets[1:], strict=False))
        if not self.bets or not rising or self.bets[0] <= 0 or not math.isfinite(self.bets[-1]):
            raise InputError(f"{self.name}: bets {self.bets}: must be rising fractions of the pot above zero")

    @cached_property
    def deal(self) -> Deal:
        """Different cards of one deck, or independent hands, all equally likely."""
        if self.shared_deck:
            return Deal.one_card(len(self.hands[0]))
        return Deal.independent([1.0] * len(self.hands[0]), [1.0] * len(self.hands[1]))

    def root(self) -> _State:
        """Player 0 has seen its hand."""
        return _State(self, None, None)


@dataclass(frozen=True)
class _State:
    game: HalfStreet
    bet: float | None
    called: bool | None

    @property
    def actor(self) -> int:
        if self.bet is None:
            return 0
        return 1 if self.called is None and self.bet > 0 else TERMINAL

    def actions(self) -> tuple[str, ...]:
        if self.bet is None:
            return ("c", *(f"r{bet:.10g}" for bet in self.game.bets))
        return ("f", "c")

    def sizes(self) -> tuple[tuple[float, bool] | None, ...]:
        """What each move puts in beyond a call, in pots, and whether that is all-in; None for a fold."""
        if self.bet is None:
            return ((0.0, False), *((bet, bet == self.game.bets[-1]) for bet in self.game.bets))
        return (None, (0.0, False))

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def child(self, index: int) -> _State:
        if self.bet is None:
            return _State(self.game, 0.0 if index == 0 else self.game.bets[index - 1], None)
        return _State(self.game, self.bet, index == 1)

    def payoff(self) -> Payoff:
        if self.called is False:
            return Constant((ANTE, -ANTE))
        stakes = ANTE + (self.bet or 0.0)
        return Compare(self.game.strengths, (stakes, -stakes), (0.0, 0.0), (-stakes, stakes))


def clairvoyance(bets: tuple[float, ...]) -> HalfStreet:
    """Player 0 knows whether it holds the winner. Value n / (2 (n + 1)) to player 0 when it may bet n at most."""
    return HalfStreet("clairvoyance", bets, (("winner", "loser"), ("caller",)), ((2, 0), (1,)), shared_deck=False)


def clairvoyance_with_chips(stack: float = 1.0, chip: float = 0.1) -> HalfStreet:
    """The clairvoyance game where bets are the multiples of `chip` up to `stack`."""
    return clairvoyance(grid(stack, chip))


def half_street_kuhn(bets: tuple[float, ...]) -> HalfStreet:
    """Both players hold one of J, Q, K."""
    cards, ranks = ("J", "Q", "K"), (0, 1, 2)
    return HalfStreet("half-street kuhn", bets, (cards, cards), (ranks, ranks), shared_deck=True)
