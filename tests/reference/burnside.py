"""Numbers of deals up to suit isomorphism by Burnside's lemma: the mean number of fixed deals."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import comb, factorial, prod

Deal = tuple[int, ...]  # cards dealt in each round


def cycles(permutation: tuple[int, ...]) -> list[int]:
    """Lengths of the cycles."""
    left, lengths = set(range(len(permutation))), []
    while left:
        at, length = left.pop(), 1
        while (at := permutation[at]) in left:
            left.remove(at)
            length += 1
        lengths.append(length)
    return lengths


def fixed_deals(rounds: Deal, ranks: int, lengths: list[int]) -> int:
    """Deals fixed by a suit permutation: the cards of a rank along a cycle are dealt together."""
    methods = Counter({tuple(0 for _ in rounds): 1})
    for length in lengths * ranks:
        before, methods = methods, methods.copy()  # none of these cards is dealt, or all of them in round r
        for dealt, count in before.items():
            for r, most in enumerate(rounds):
                if dealt[r] + length <= most:
                    methods[(*dealt[:r], dealt[r] + length, *dealt[r + 1 :])] += count
    return methods[rounds]


def count_classes(rounds: Deal, ranks: int = 13, suits: int = 4) -> int:
    """Number of deals up to suit isomorphism."""
    shapes = Counter(tuple(sorted(cycles(p))) for p in permutations(range(suits)))
    total = sum(n * fixed_deals(rounds, ranks, list(lengths)) for lengths, n in shapes.items())
    return total // factorial(suits)


def count_deals(rounds: Deal, cards: int = 52) -> int:
    """Number of all deals, with cards of a round unordered."""
    return prod(comb(cards - sum(rounds[:r]), n) for r, n in enumerate(rounds))
