"""What may be risked: a budget a hand, and a bank of gifts that are proved.

RWYWE's rule (Ganzfried & Sandholm 2015), with two changes. The value of the game is replaced by what the blueprint
guarantees, g(b). And what was given is not worked out for the whole game after every hand, which only small games
allow, but estimated along the hand by numbers that are never negative and whose mean is at most the gift (`street_gifts`).

Then the guarantee is one of expectation. Let x be what is played in hand t, r its risk g(b) − g(x), y the opponent's strategy
and δ = u(x, y) − g(x) its gift. So u(x, y) = g(b) − r + δ. The bank k begins at 0, is charged r less the budget β before a
hand, never more than it holds, and gets d after it, with E[d] ≤ δ whatever was before. Summed over T hands,

    E[Σ u] ≥ T (g(b) − β) + E[k after the last hand] ≥ T (g(b) − β).

RWYW, which banks what was won, fails here: winnings may be negative, and a bank below zero is never paid back.
"""

from __future__ import annotations

from dataclasses import dataclass

from riverboat.core.errors import InputError


@dataclass
class Bank:
    """Chips that may be risked beyond a budget of chips a hand."""

    budget: float
    chips: float = 0.0
    given: float = 0.0  # all gifts so far
    risked: float = 0.0  # all that was charged

    def __post_init__(self) -> None:
        if not self.budget >= 0 or not self.chips >= 0:
            raise InputError(f"budget={self.budget:g}, chips={self.chips:g}: chips, 0 or more")

    def allows(self, hands: int) -> float:
        """Chips that may be risked in each of so many hands."""
        return self.budget + self.chips / hands

    def charge(self, risk: float, hands: int) -> None:
        """So many hands are about to be played at a risk."""
        cost = max(0.0, risk - self.budget) * hands
        if cost > self.chips * (1 + 1e-9) + 1e-9:
            raise InputError(f"risk of {cost:g} chips: the bank holds {self.chips:g}")
        self.chips = max(0.0, self.chips - cost)
        self.risked += cost

    def credit(self, gift: float) -> None:
        """What an opponent certainly gave."""
        if not gift >= 0:
            raise InputError(f"gift of {gift:g} chips: must be 0 or more")
        self.chips += gift
        self.given += gift
