"""Cards, hands and decks as numbers: one order for the whole project.

A card is 4 × rank + suit, with ranks 2 … A = 0 … 12 and suits c, d, h, s = 0 … 3: `2c` is 0, `As` is 51. A hold'em
hand of cards a < b has the index b (b - 1) / 2 + a, 0 … 1325 (colexicographic: hands without the ace of spades come
first). A small deck keeps these numbers for its cards and numbers its own hands the same way over its own cards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from riverboat.cards.ranking_rules import RULES, STANDARD, hand_rules
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown

RANKS = "23456789TJQKA"
SUITS = "cdhs"
HANDS = 1326
SHORT_RANKS = "6789TJQKA"


def card_name(card: int) -> str:
    """`As` for 51."""
    if not 0 <= card < 52:
        raise InputError(f"card number {card}: must be 0 to 51")
    return RANKS[card >> 2] + SUITS[card & 3]


def parse_card(text: str) -> int:
    """51 for `As`."""
    if len(text) == 2:
        rank, suit = RANKS.find(text[0].upper()), SUITS.find(text[1].lower())
        if rank >= 0 and suit >= 0:
            return 4 * rank + suit
    raise InputError(f"card {shown(text)}: write a rank of {RANKS} and a suit of {SUITS}, such as As")


def hand_index(first: int, second: int) -> int:
    """The number of a two-card hand."""
    low, high = sorted((first, second))
    if not 0 <= low < high < 52:
        raise InputError(f"hand of cards {first} and {second}: two different cards of 0 to 51 are needed")
    return high * (high - 1) // 2 + low


def _hand_cards() -> Array:
    cards = np.array([(a, b) for b in range(52) for a in range(b)], np.uint8)
    cards.flags.writeable = False
    return cards


HAND_CARDS = _hand_cards()  # uint8 [1326, 2]: the two cards of every hand, the lower first


@dataclass(frozen=True)
class Deck:
    """Some ranks in some suits, and how many hole cards a player gets. 52 cards and two of them by default."""

    ranks: str = RANKS
    suits: str = SUITS
    hole: int = 2
    rules: str = field(default="", repr=False)  # how hands are ranked: a name of RULES; empty is standard

    def __post_init__(self) -> None:
        for what, given, known in (("ranks", self.ranks, RANKS), ("suits", self.suits, SUITS)):
            wrong = [c for c in given if c not in known]
            if not given or wrong or len(set(given)) != len(given):
                raise InputError(f"deck with {what}={shown(given)}: use different ones of {known}")
        if self.hole not in (1, 2):
            raise InputError(f"deck with hole={self.hole}: one or two hole cards")
        self._check_rules()
        if len(self.ranks) * len(self.suits) < 2 * self.hole:
            raise InputError(f"deck of {len(self.ranks) * len(self.suits)} cards: too few for two hands")

    def _check_rules(self) -> None:
        short = set(self.ranks) == set(SHORT_RANKS)
        if not self.rules:
            if short and len(self.suits) == 4 and self.hole == 2:
                raise InputError(
                    f"deck of 36 cards, {SHORT_RANKS}: short deck ranks hands in its own ways; name one as rules: "
                    "short (a flush beats a full house), short-trips (and three of a kind a straight), or standard"
                )
            object.__setattr__(self, "rules", STANDARD)
        if hand_rules(self.rules) != RULES[STANDARD] and not short:
            raise InputError(f"deck with ranks={shown(self.ranks)}: rules {self.rules} are for {SHORT_RANKS}")

    @staticmethod
    def small(ranks: int, suits: int = 4, hole: int = 2) -> Deck:
        """The highest `ranks` ranks in `suits` suits."""
        if not (1 <= ranks <= 13 and 1 <= suits <= 4):
            raise InputError(f"deck of {ranks} ranks and {suits} suits: at most 13 and 4")
        return Deck(RANKS[13 - ranks :], SUITS[4 - suits :], hole, STANDARD)

    @staticmethod
    def of_rules(rules: str) -> Deck:
        """The whole deck that some rules are played with: 52 cards, or 36 for short deck."""
        return Deck(SHORT_RANKS if hand_rules(rules).lowest else RANKS, SUITS, 2, rules)

    @cached_property
    def cards(self) -> Array:
        """The cards, ascending. uint8 [cards]"""
        ranks, suits = sorted(RANKS.index(r) for r in self.ranks), sorted(SUITS.index(s) for s in self.suits)
        return np.array([4 * r + s for r in ranks for s in suits], np.uint8)

    @cached_property
    def hands(self) -> Array:
        """Every hand's cards, in the order of their highest card, then the other. uint8 [hands, hole]"""
        if self.hole == 1:
            return self.cards.reshape(-1, 1)
        ordered = sorted(combinations(self.cards.tolist(), 2), key=lambda pair: (pair[1], pair[0]))
        return np.array(ordered, np.uint8)

    @property
    def hand_count(self) -> int:
        """How many hands there are."""
        return comb(len(self.cards), self.hole)


FULL_DECK = Deck()
