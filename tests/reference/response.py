"""Reference for values of a blueprint and best responses to it: one hand, one board and one opponent hand at a time."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import comb

import numpy as np

from riverboat.cards.ranking import rank
from riverboat.strategies.blueprint import Blueprint

Hand = tuple[int, ...]


def response_value(
    strategy: Blueprint, seat: int, respond: bool = True, own: Blueprint | None = None, since: int = 0
) -> float:
    """Winnings per hand of a seat with its best response or the strategy itself; before street `since` with `own`."""
    hands = list(combinations(strategy.rules.deck.cards.tolist(), strategy.rules.hole))
    pairs = sum(not set(a) & set(b) for a, b in permutations(hands, 2))
    return sum(hand_values(strategy, seat, 0, (), dict.fromkeys(hands, 1.0), respond, own, since).values()) / pairs


def hand_values(
    strategy: Blueprint,
    seat: int,
    start: int,
    board: Hand,
    weights: dict[Hand, float],
    respond: bool = True,
    own: Blueprint | None = None,
    since: int = 0,
) -> dict[Hand, float]:
    """Winnings of each hand of a seat from a node on, summed over the opponent's hands by weight.

    They are in chips over the whole hand.
    """
    tree, rules, cards = strategy.tree, strategy.rules, strategy.cards
    deck = rules.deck.cards.tolist()

    @cache
    def bucket(hand: Hand, board: Hand) -> int:
        return cards.bucket(hand, board)

    @cache
    def shares(node: int, where: int) -> tuple[float, ...]:
        return tuple(strategy.probabilities(node, np.array([where]))[0].tolist())

    def showdown(mine: Hand, board: Hand, other: Hand) -> int:
        a, b = rank([*mine, *board]), rank([*other, *board])
        return (a > b) - (a < b)

    def value(node: int, board: Hand, mine: Hand, others: dict[Hand, float]) -> float:
        """Sum over the opponent's hands, each with its weight."""
        over = tree.actor[node] < 0
        if over and not tree.showdown[node]:
            return float(tree.payoff[node]) * (1 if seat == 0 else -1) * sum(others.values())
        lies = rules.board_sizes[-1 if over else int(tree.street[node])]
        if len(board) < lies:  # one street at a time, all sets of cards equally likely
            count = next(n for n in rules.board_sizes if n > len(board)) - len(board)
            left = [c for c in deck if c not in board and c not in mine]
            chance = 1 / comb(len(left) - rules.hole, count)
            total = 0.0
            for dealt in combinations(left, count):
                rest = {hand: weight for hand, weight in others.items() if not set(hand) & set(dealt)}
                if rest:
                    total += chance * value(node, board + dealt, mine, rest)
            return total
        if over:
            return float(tree.payoff[node]) * sum(w * showdown(mine, board, hand) for hand, w in others.items())
        children = tree.children(node)
        if tree.actor[node] == seat:
            result = [value(child, board, mine, others) for child in children]
            if respond and tree.street[node] >= since:
                return max(result)
            played = (own or strategy).probabilities(node, np.array([bucket(mine, board)]))[0].tolist()
            return float(sum(p * v for p, v in zip(played, result, strict=True)))
        total = 0.0
        for a, child in enumerate(children):
            moved = {hand: weight * shares(node, bucket(hand, board))[a] for hand, weight in others.items()}
            total += value(child, board, mine, moved)
        return total

    left = [card for card in deck if card not in board]
    return {
        mine: value(start, board, mine, {o: w for o, w in weights.items() if not set(o) & (set(mine) | set(board))})
        for mine in combinations(left, rules.hole)
    }
