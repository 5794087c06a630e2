"""A public game of your own: the half-street AKQ game. See docs/your-own-game.md.

Both players ante 1 and get one card of queen, king and ace. Player 0 checks (`x`, showdown) or bets 1 (`b`), and then
player 1 folds (`f`) or calls (`c`). The value to player 0, who bluffs with a third of its queens, is 1/18.
"""

from __future__ import annotations

from dataclasses import dataclass

from riverboat.games.base import TERMINAL, ComparisonPayoff, ConstantPayoff, Outcome, Payoff, PrivateDeal

CARDS = ("Q", "K", "A")


@dataclass(frozen=True)
class HalfStreet:
    """The game: name, hands, deal, and the initial public state."""

    name: str = "akq"
    unit: str = "chips"
    joiner: str = ""
    hands: tuple[tuple[str, ...], tuple[str, ...]] = (CARDS, CARDS)
    deal = PrivateDeal.one_card(3)

    def root(self) -> _State:
        """Return the initial state."""
        return _State("")


@dataclass(frozen=True)
class _State:
    line: str

    @property
    def actor(self) -> int:
        return {"": 0, "b": 1}.get(self.line, TERMINAL)

    def actions(self) -> tuple[str, ...]:
        return ("x", "b") if self.line == "" else ("f", "c")

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()  # no public cards

    def child(self, index: int) -> _State:
        return _State(self.line + self.actions()[index])

    def payoff(self) -> Payoff:
        if self.line == "bf":
            return ConstantPayoff((1.0, -1.0))
        won = 2.0 if self.line == "bc" else 1.0
        return ComparisonPayoff(((0, 1, 2), (0, 1, 2)), win=(won, -won), tie=(0.0, 0.0), lose=(-won, won))


AKQ = HalfStreet()
