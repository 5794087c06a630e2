"""Reference implementation of three-way showdowns and of push or fold, hand by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations, product

import numpy as np

from riverboat.cards.deck import Deck
from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array


def classes_of(deck: Deck) -> Array:
    """Group hands by ranks and suitedness."""
    names: dict[tuple[int, int, bool], int] = {}
    return np.array([names.setdefault((a >> 2, b >> 2, a & 3 == b & 3), len(names)) for a, b in deck.hands.tolist()])


def deals(deck: Deck, players: int, board: int):  # type: ignore[no-untyped-def]
    """All deals of hands and a board, with the rank of each hand: the number of better hands."""
    cards = [frozenset(hand) for hand in deck.hands.tolist()]
    for board_cards in combinations(deck.cards.tolist(), board):
        strength = hand_strengths(board_cards, deck)
        live = np.flatnonzero(strength > 0).tolist()
        for hands in permutations(live, players):
            if len(frozenset().union(*(cards[h] for h in hands))) == 2 * players:
                ranks = [int(strength[h]) for h in hands]
                yield hands, tuple(sum(other > own for other in ranks) for own in ranks)


Worth = Callable[[str, tuple[int, ...]], tuple[float, ...]]


def play(
    deck: Deck, board: int, players: int, lines: dict[str, int], strategy: Array, worth: Worth
) -> tuple[Array, Array]:
    """Values of all-in and fold at every line, and the players' values: all deals, all lines.

    float64 [lines, 2, classes], float64 [players]
    """
    group = classes_of(deck)
    result, values, total = np.zeros((len(lines), 2, group.max() + 1)), np.zeros(players), 0
    for hands, order in deals(deck, players, board):
        total += 1
        for moves in product("JF", repeat=players):
            line = "".join(moves)
            chance = [1.0] * players
            for i, move in enumerate(moves):
                if line[:i] in lines:
                    jam = strategy[lines[line[:i]], group[hands[i]]]
                    chance[i] = jam if move == "J" else 1 - jam
                elif move == "J":
                    chance[i] = 0.0  # no opponent left
            money = worth(line, order)
            for i, move in enumerate(moves):
                others = np.prod([c for j, c in enumerate(chance) if j != i])
                values[i] += money[i] * others * chance[i]
                if line[:i] in lines:
                    result[lines[line[:i]], 0 if move == "J" else 1, group[hands[i]]] += money[i] * others
    return result / total, values / total
