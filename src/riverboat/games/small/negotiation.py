"""A negotiation: a seller and a buyer name prices by turns, each with a secret limit.

The seller (player 0) has a cost and the buyer (player 1) a value, each one of 0 … limits - 1, drawn evenly and in secret. The
seller names a price first; whoever has heard one accepts it, or names another while offers are left. Afterwards an
onlooker who knows both limits says who did better: at a price p the seller has gained p less its cost and the buyer its value
less p, and whoever has gained more wins a point. Whoever lets the last offer go loses a point if a price could have pleased
both, that is if the value is at least the cost; if not, nobody wins.

Johanson et al. 2012 name negotiations as games in which vectors of secrets are paid in O(n), as hands are in poker: here by
comparing gains, which has one order of each player's secrets for every price.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Compare, Deal, Outcome, Payoff

MOST_SETS = 4_000_000  # information sets: seconds and some 700 MB to build
ACCEPT, WALK = "a", "w"


@dataclass(frozen=True)
class Negotiation:
    """Limits and prices are 0 … limits - 1; so many offers are made at most."""

    limits: int
    offers: int
    unit: str = field(default="points", init=False)
    joiner: str = field(default="-", init=False)

    def __post_init__(self) -> None:
        if self.limits < 1 or self.offers < 1:
            raise InputError(f"{self.name}: limits and offers must be at least 1")
        lines, longest = 1, 1  # of offers that somebody answers; each is one information set for each limit
        for _ in range(min(self.offers, MOST_SETS // self.limits + 1)):
            longest *= self.limits
            lines += longest
            if lines * self.limits > MOST_SETS:
                raise InputError(
                    f"{self.name}: {lines:,} lines of offers or more, each with {self.limits:,} limits: {MOST_SETS:,} "
                    "information sets at most; take fewer limits or offers"
                )

    @property
    def name(self) -> str:
        """As it is written on the command line."""
        return f"negotiation:limits={self.limits},offers={self.offers}"

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Costs and values."""
        return tuple(f"cost{k}" for k in range(self.limits)), tuple(f"value{k}" for k in range(self.limits))

    @cached_property
    def deal(self) -> Deal:
        """Both are drawn on their own."""
        return Deal.independent([1.0] * self.limits, [1.0] * self.limits)

    def root(self) -> _Talk:
        """The seller is to speak."""
        return _Talk(self, 0, None, "")

    def agreed(self, price: int) -> Compare:
        """Who has gained more at a price."""
        gains = tuple(price - k for k in range(self.limits)), tuple(k - price for k in range(self.limits))
        return Compare(gains, (1.0, -1.0), (0.0, 0.0), (-1.0, 1.0))

    def broken(self, player: int) -> Compare:
        """`player` has let the last offer go: a point for the other where value is at least cost."""
        loss = (-1.0, 1.0) if player == 0 else (1.0, -1.0)
        limits = tuple(range(self.limits))
        return Compare((limits, limits), (0.0, 0.0), loss, loss)


@dataclass(frozen=True)
class _Talk:
    game: Negotiation
    made: int  # offers so far
    price: int | None  # the last
    end: str  # how it ended

    @property
    def actor(self) -> int:
        return TERMINAL if self.end else self.made % 2

    def actions(self) -> tuple[str, ...]:
        prices = tuple(str(k) for k in range(self.game.limits))
        if self.price is None:
            return prices
        return (ACCEPT, *prices) if self.made < self.game.offers else (ACCEPT, WALK)

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def child(self, index: int) -> _Talk:
        move = self.actions()[index]
        if move in (ACCEPT, WALK):
            return _Talk(self.game, self.made, self.price, move)
        return _Talk(self.game, self.made + 1, int(move), "")

    def payoff(self) -> Payoff:
        assert self.price is not None
        return self.game.agreed(self.price) if self.end == ACCEPT else self.game.broken(self.made % 2)


def negotiation(limits: int = 5, offers: int = 3) -> Negotiation:
    """A negotiation by name: `negotiation:limits=5,offers=3`."""
    return Negotiation(limits, offers)
