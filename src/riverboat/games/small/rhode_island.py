"""Rhode Island hold'em (Shi & Littman 2001): one card each, two public cards, three rounds of betting.

Antes of 5; bets of 10 in the first round and 20 in the others, at most three raises a round, a bet being the first. The
best hand of three cards wins: straight flush, three of a kind, straight, flush, pair, high card. An ace is high, and low in
A-2-3. It was the largest poker game that was solved without loss when Gilpin and Sandholm (2005, 2007) did it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from riverboat.core.errors import InputError
from riverboat.games.small.betting import SmallRules
from riverboat.games.small.poker import OneCardPoker

ANTE, BETS, RAISES = 5.0, (10.0, 20.0, 20.0), 3
ROUNDS = 3
HIGH, PAIR, FLUSH, STRAIGHT, TRIPS, STRAIGHT_FLUSH = range(6)


def three_cards(ranks: tuple[int, ...], suits: tuple[int, ...], most: int) -> int:
    """The strength of three cards; ranks count from 0 to most - 1, and the highest is also below the lowest in a straight."""
    high, middle, low = sorted(ranks, reverse=True)
    flush = len(set(suits)) == 1
    top = middle if (high, middle, low) == (most - 1, 1, 0) else high
    straight = (high - middle, middle - low) == (1, 1) or (top != high and most > ROUNDS)
    if high == low:
        kind, order = TRIPS, (high, 0, 0)
    elif straight:
        kind, order = STRAIGHT_FLUSH if flush else STRAIGHT, (top, 0, 0)
    elif flush:
        kind, order = FLUSH, (high, middle, low)
    elif high == middle or middle == low:
        kind, order = PAIR, (middle, low if high == middle else high, 0)
    else:
        kind, order = HIGH, (high, middle, low)
    return ((kind * most + order[0]) * most + order[1]) * most + order[2]


@dataclass(frozen=True)
class RhodeIsland(OneCardPoker):
    """The game with any number of ranks and suits."""

    def strengths(self, board: tuple[int, ...]) -> tuple[int, ...]:
        """How strong each card is with both public cards; those on the board are nobody's."""
        return _strengths(self.ranks, self.suits, frozenset(board))


@lru_cache(maxsize=4096)
def _strengths(ranks: int, suits: int, board: frozenset[int]) -> tuple[int, ...]:
    strengths = []
    for card in range(ranks * suits):
        cards = (card, *sorted(board))
        strengths.append(
            0
            if card in board
            else three_cards(tuple(c // suits for c in cards), tuple(c % suits for c in cards), ranks)
        )
    return tuple(strengths)


def rhode_island(ranks: int = 13, suits: int = 4, cap: int = RAISES) -> RhodeIsland:
    """Rhode Island hold'em; with fewer cards it is as small as one likes."""
    if not 2 <= ranks <= 13:
        raise InputError(f"rhode_island: ranks={ranks}: must be 2 to 13")
    return RhodeIsland("rhode_island", ranks, suits, ROUNDS, SmallRules(ANTE, BETS, cap))
