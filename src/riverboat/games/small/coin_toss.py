"""A game with a known answer: Coin Toss.

Coin Toss (Brown & Sandholm 2017): a fair coin is seen by player 0, who takes Left, worth +0.5 on heads and
-0.5 on tails, or Right, where player 1 guesses: right -1 for player 0, wrong or forfeit +1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Compare, Constant, Deal, Outcome, Payoff

_HEADS_WINS = ((2, 0), (1,))  # strengths: heads beats, tails loses


def _by_first_hand(high: float, low: float) -> Compare:
    """A terminal that pays player 0 `high` with its first hand and `low` with its second."""
    return Compare(_HEADS_WINS, (high, -high), (0.0, 0.0), (low, -low))


@dataclass(frozen=True)
class CoinToss:
    """Coin Toss, with the worth of Left on heads."""

    left: float = 0.5
    name: str = field(default="coin_toss", init=False)
    unit: str = field(default="points", init=False)
    joiner: str = field(default="-", init=False)
    hands: tuple[tuple[str, ...], tuple[str, ...]] = field(default=(("heads", "tails"), ("guesser",)), init=False)

    def __post_init__(self) -> None:
        if not math.isfinite(self.left):
            raise InputError(f"coin_toss: left={self.left:g}: must be finite")

    @cached_property
    def deal(self) -> Deal:
        """A fair coin."""
        return Deal.independent([1.0, 1.0], [1.0])

    def root(self) -> _CoinState:
        """Player 0 has seen the coin."""
        return _CoinState(self, ())


@dataclass(frozen=True)
class _CoinState:
    game: CoinToss
    line: tuple[str, ...]

    @property
    def actor(self) -> int:
        if not self.line:
            return 0
        return 1 if self.line == ("right",) else TERMINAL

    def actions(self) -> tuple[str, ...]:
        return ("left", "right") if not self.line else ("heads", "tails", "forfeit")

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def child(self, index: int) -> _CoinState:
        return _CoinState(self.game, (*self.line, self.actions()[index]))

    def payoff(self) -> Payoff:
        last = self.line[-1]
        if last == "left":
            return _by_first_hand(self.game.left, -self.game.left)
        if last == "forfeit":
            return Constant((1.0, -1.0))
        return _by_first_hand(-1.0, 1.0) if last == "heads" else _by_first_hand(1.0, -1.0)
