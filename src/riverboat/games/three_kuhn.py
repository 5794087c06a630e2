"""Three-player Kuhn poker (the ACPC's; Szafron, Gibson & Sturtevant 2013): four cards, an ante of 1, one bet of 1.

Players act in turn. Once somebody has bet, the others call or fold, in turn and once each. The highest card left wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from riverboat.games.base import CHANCE, TERMINAL

CARDS = "JQKA"
_DEALS = tuple(permutations(range(len(CARDS)), 3))


@dataclass(frozen=True)
class ThreeKuhn:
    """The game; lines are written `c` check or call, `r` bet, `f` fold."""

    name: str = "three-player kuhn"
    unit: str = "chips"
    players: int = 3

    def root(self) -> _State:
        """Before the deal."""
        return _State(None, "")


@dataclass(frozen=True)
class _State:
    deal: tuple[int, ...] | None
    line: str

    @property
    def actor(self) -> int:
        if self.deal is None:
            return CHANCE
        bet = self.line.find("r")
        over = len(self.line) == 3 if bet < 0 else len(self.line) == bet + 3
        return TERMINAL if over else len(self.line) % 3

    def actions(self) -> Sequence[str]:
        if self.deal is None:
            return ["".join(CARDS[c] for c in deal) for deal in _DEALS]
        return ("f", "c") if "r" in self.line else ("c", "r")

    def probabilities(self) -> Sequence[float]:
        return [1.0 / len(_DEALS)] * len(_DEALS)

    def child(self, index: int) -> _State:
        if self.deal is None:
            return _State(_DEALS[index], "")
        return _State(self.deal, self.line + self.actions()[index])

    def infoset(self) -> str:
        assert self.deal is not None
        return f"{CARDS[self.deal[self.actor]]}:{self.line}"

    def payoffs(self) -> Sequence[float]:
        assert self.deal is not None
        bet = self.line.find("r")
        paid, left = [1.0] * 3, [0, 1, 2]
        if bet >= 0:
            called = [bet % 3, *(k % 3 for k in range(bet + 1, bet + 3) if self.line[k] == "c")]
            paid = [2.0 if p in called else 1.0 for p in range(3)]
            left = called
        winner = max(left, key=lambda p: self.deal[p])  # type: ignore[index]
        return [sum(paid) - paid[p] if p == winner else -paid[p] for p in range(3)]
