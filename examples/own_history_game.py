"""A history game of your own: matching pennies with a hidden action and a leak. See docs/your-own-game.md.

Player 0 hides a penny, heads or tails. With probability 1/4 player 1 sees it. Player 1 guesses: a right guess pays 1 to
player 1, a wrong guess pays 1 to player 0. The value to player 0 is -1/4: it loses whenever the penny leaks, and the
rest is even.
"""

from __future__ import annotations

from dataclasses import dataclass

from riverboat.games.base import CHANCE, TERMINAL

LEAK = 0.25


@dataclass(frozen=True)
class Pennies:
    """The game: name, number of players, and the initial history."""

    name: str = "pennies"
    unit: str = "points"
    players: int = 2

    def root(self) -> _History:
        """Return the initial history."""
        return _History(())


@dataclass(frozen=True)
class _History:
    moves: tuple[str, ...]

    @property
    def actor(self) -> int:
        return (0, CHANCE, 1, TERMINAL)[len(self.moves)]

    def actions(self) -> tuple[str, ...]:
        return ("hidden", "seen") if self.actor == CHANCE else ("heads", "tails")

    def probabilities(self) -> tuple[float, ...]:
        return (1 - LEAK, LEAK)

    def child(self, index: int) -> _History:
        return _History((*self.moves, self.actions()[index]))

    def infoset(self) -> str:
        if self.actor == 0:
            return "hide"
        return f"guess, saw {self.moves[0]}" if self.moves[1] == "seen" else "guess"

    def payoffs(self) -> tuple[float, float]:
        right = self.moves[0] == self.moves[2]
        return (-1.0, 1.0) if right else (1.0, -1.0)


PENNIES = Pennies()
