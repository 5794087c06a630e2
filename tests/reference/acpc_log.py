"""Winnings of the players of an ACPC log, computed as the protocol describes it: chips on a table, no states."""

from __future__ import annotations

import re

from phevaluator import evaluate_cards

from riverboat.cards.deck import RANKS
from riverboat.games.holdem.rules import PokerRules


def play_log(text: str, rules: PokerRules) -> dict[str, int]:
    """Chips by name."""
    total: dict[str, int] = {}
    for line in text.splitlines():
        if line.startswith("STATE:"):
            _, _, betting, cards, _, names = line.split(":")
            won = play_hand(betting, cards, rules)
            for name, chips in zip(names.split("|"), won, strict=True):
                total[name] = total.get(name, 0) + chips
    return total


def play_hand(betting: str, cards: str, rules: PokerRules) -> tuple[int, int]:
    """Chips won by seat 0 and seat 1."""
    spent = [*rules.blinds]
    for street, moves in enumerate(betting.split("/")):
        seat = rules.first[street]
        for move in re.findall(r"f|c|r\d*", moves):
            if move == "f":
                return (-spent[0], spent[0]) if seat == 0 else (spent[1], -spent[1])
            if move == "c":
                spent[seat] = max(spent)
            else:
                spent[seat] = int(move[1:]) if move[1:] else max(spent) + rules.raise_sizes[street]
            seat = 1 - seat
    assert spent[0] == spent[1]
    holes, *board = cards.split("/")
    own, other = (strength(hole + "".join(board)) for hole in holes.split("|"))
    return (spent[0], -spent[0]) if own > other else (-spent[0], spent[0]) if own < other else (0, 0)


def strength(text: str) -> int:
    """Larger is better. One or two cards: a pair, then the hole card."""
    cards = [text[k : k + 2] for k in range(0, len(text), 2)]
    if len(cards) >= 5:
        return -int(evaluate_cards(*cards))
    ranks = [RANKS.index(card[0]) for card in cards]
    return 100 * (len(ranks) == 2 and ranks[0] == ranks[1]) + ranks[0]
