"""Two games with known answers: Coin Toss and the clairvoyance game.

Coin Toss (Brown & Sandholm 2017): a fair coin is seen by player 0, who takes Left, worth +0.5 on heads and
-0.5 on tails, or Right, where player 1 guesses: right -1 for player 0, wrong or forfeit +1.

Clairvoyance (Ankenman & Chen 2006): a pot of 1 (antes of 0.5); player 0 knows whether it
holds the winner and bets any size up to the stack n; player 1 calls or folds. Value n / (2 (n + 1)) to
player 0 when the stack is on the grid of sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from riverboat.errors import InputError
from riverboat.games.base import TERMINAL, Compare, Constant, Deal, Outcome, Payoff

_HEADS_WINS = ((2, 0), (1,))  # strengths: heads (or the winner) beats, tails (the loser) loses


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


@dataclass(frozen=True)
class Clairvoyance:
    """The clairvoyance game: bets are the multiples of `chip` up to `stack`."""

    stack: float = 1.0
    chip: float = 0.1
    name: str = field(default="clairvoyance", init=False)
    unit: str = field(default="pots", init=False)
    joiner: str = field(default="", init=False)
    hands: tuple[tuple[str, ...], tuple[str, ...]] = field(default=(("winner", "loser"), ("caller",)), init=False)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.chip) and math.isfinite(self.stack)):
            raise InputError(f"clairvoyance: stack={self.stack:g}, chip={self.chip:g}: must be finite")
        if self.chip <= 0:
            raise InputError(f"clairvoyance: chip={self.chip:g}: must be above zero")
        if self.stack < self.chip:
            raise InputError(f"clairvoyance: stack={self.stack:g}: must be at least one chip of {self.chip:g}")

    @cached_property
    def bets(self) -> tuple[float, ...]:
        """Every size from one chip to the whole stack."""
        grid = [round(k * self.chip, 10) for k in range(1, int(self.stack / self.chip + 1e-9) + 1)]
        return tuple(grid) if abs(grid[-1] - self.stack) < 1e-9 else (*grid, self.stack)

    @cached_property
    def deal(self) -> Deal:
        """Winner or loser, one half each."""
        return Deal.independent([1.0, 1.0], [1.0])

    def root(self) -> _BetState:
        """Player 0 has seen its hand."""
        return _BetState(self, None, None)


@dataclass(frozen=True)
class _BetState:
    game: Clairvoyance
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

    def outcomes(self) -> tuple[Outcome, ...]:
        return ()

    def child(self, index: int) -> _BetState:
        if self.bet is None:
            return _BetState(self.game, 0.0 if index == 0 else self.game.bets[index - 1], None)
        return _BetState(self.game, self.bet, index == 1)

    def payoff(self) -> Payoff:
        if self.called is False:
            return Constant((0.5, -0.5))
        stakes = 0.5 + (self.bet or 0.0)
        return _by_first_hand(stakes, -stakes)
