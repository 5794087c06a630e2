"""Short deck by its rules, hand by hand: five cards at a time, no tables.

36 cards, six to ace. The rules of Triton Poker, "short deck": a flush beats a full house, and A-6-7-8-9 is the lowest
straight. In an older variant, called `trips` here, three of a kind also beats a straight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

LADDER = (
    "high card", "pair", "two pair", "three of a kind", "straight", "full house", "flush", "four of a kind", "straight flush",
)  # fmt: skip
TRIPS = (
    "high card", "pair", "two pair", "straight", "three of a kind", "full house", "flush", "four of a kind", "straight flush",
)  # fmt: skip
RANK_OF = {name: value for value, name in enumerate("6789TJQKA", 6)}  # the ace is 14


def kind(cards: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """The kind of five cards such as `As`, and the ranks that break ties."""
    hand = list(cards)
    ranks = [RANK_OF[card[0]] for card in hand]
    # more frequent ranks first, then higher ones
    order = tuple(sorted(set(ranks), key=lambda rank: (-ranks.count(rank), -rank)))
    shape = sorted(Counter(ranks).values(), reverse=True)
    flush = len({card[1] for card in hand}) == 1
    straight = 0
    if len(set(ranks)) == 5:
        if max(ranks) - min(ranks) == 4:
            straight = max(ranks)
        elif set(ranks) == {14, 6, 7, 8, 9}:
            straight = 9
    if straight:
        return ("straight flush" if flush else "straight"), (straight,)
    if flush:
        return "flush", order
    named = {
        (4, 1): "four of a kind", (3, 2): "full house", (3, 1, 1): "three of a kind", (2, 2, 1): "two pair",
        (2, 1, 1, 1): "pair", (1, 1, 1, 1, 1): "high card",
    }  # fmt: skip
    return named[tuple(shape)], order


def strength(cards: Iterable[str], *, trips: bool = False) -> tuple[int, tuple[int, ...]]:
    """A comparable strength; for more than five cards that of the best five."""
    ladder = TRIPS if trips else LADDER
    fives = (kind(five) for five in combinations(list(cards), 5))
    return max((ladder.index(name), ties) for name, ties in fives)
