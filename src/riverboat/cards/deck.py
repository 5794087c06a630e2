"""Cards, hands and decks as numbers, in one order for the whole project.

A card is 4 × rank + suit, with ranks 2 … A = 0 … 12 and suits c, d, h, s = 0 … 3: `2c` is 0, `As` is 51. A hold'em
hand of cards a < b has the index b (b - 1) / 2 + a, 0 … 1325 (colexicographic: hands without the ace of spades come
first). A small deck keeps these card numbers, and numbers its hands the same way over its own cards.

`HandRules` say how hands compare at a showdown: the order of categories, and the ace's place in low straights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr, unknown_name_error

HAND_CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)


class HandRules(NamedTuple):
    """Rules for ranking hands.

    Parameters
    ----------
    order
        Categories from worst to best, names of `HAND_CATEGORIES`.
    lowest
        Lowest rank of their deck, from 0 for the deuce; the ace also counts as one below it.

    Examples
    --------
    >>> get_hand_rules("short").order[-4:]
    ('full house', 'flush', 'four of a kind', 'straight flush')
    """

    order: tuple[str, ...]  # categories from worst to best
    lowest: int  # lowest rank of their deck; the ace also counts as one below it


def _short_deck_rules(*worst: str) -> HandRules:
    return HandRules((*worst, "full house", "flush", "four of a kind", "straight flush"), 4)


STANDARD_RULES = "standard"
HAND_RULES = {
    STANDARD_RULES: HandRules(HAND_CATEGORIES, 0),
    "short": _short_deck_rules("high card", "pair", "two pair", "three of a kind", "straight"),
    "short-trips": _short_deck_rules("high card", "pair", "two pair", "straight", "three of a kind"),
}


def get_hand_rules(name: str) -> HandRules:
    """Return hand rules by name.

    Parameters
    ----------
    name
        `standard`, `short` (a flush beats a full house) or `short-trips` (and three of a kind a straight).

    Returns
    -------
    HandRules
        Order of the categories, and the lowest rank.

    Raises
    ------
    InputError
        There are no rules of this name.

    Examples
    --------
    >>> get_hand_rules("standard").lowest
    0
    """
    if name not in HAND_RULES:
        raise unknown_name_error("rules", str(name), HAND_RULES)
    return HAND_RULES[name]


RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_HANDS = 1326
SHORT_RANKS = "6789TJQKA"


def card_name(card: int) -> str:
    """Return the name of a card, `As` for 51.

    Parameters
    ----------
    card
        Number of the card, 0 to 51.

    Returns
    -------
    str
        Rank and suit.

    Raises
    ------
    InputError
        The number is outside that range.

    Examples
    --------
    >>> card_name(51), card_name(0)
    ('As', '2c')
    """
    if not 0 <= card < 52:
        raise InputError(f"card number {card}: must be 0 to 51")
    return RANKS[card >> 2] + SUITS[card & 3]


def parse_card(text: str) -> int:
    """Parse the name of a card, 51 for `As`.

    Parameters
    ----------
    text
        Rank and suit; case does not matter.

    Returns
    -------
    int
        Number of the card, 4 × rank + suit.

    Raises
    ------
    InputError
        The text is no card.

    Examples
    --------
    >>> parse_card("As"), parse_card("2c")
    (51, 0)
    """
    if len(text) == 2:
        rank, suit = RANKS.find(text[0].upper()), SUITS.find(text[1].lower())
        if rank >= 0 and suit >= 0:
            return 4 * rank + suit
    raise InputError(f"card {short_repr(text)}: write a rank of {RANKS} and a suit of {SUITS}, such as As")


def hand_index(first: int, second: int) -> int:
    """Return the index of a two-card hand.

    Parameters
    ----------
    first, second
        Numbers of the cards, in any order.

    Returns
    -------
    int
        Index from 0 to 1325, the row of `HAND_CARDS`.

    Raises
    ------
    InputError
        The cards are equal, or no cards.

    Examples
    --------
    >>> hand_index(1, 0), hand_index(parse_card("As"), parse_card("Ah"))
    (0, 1325)
    """
    low, high = sorted((first, second))
    if not 0 <= low < high < 52:
        raise InputError(f"hand of cards {first} and {second}: two different cards of 0 to 51 are needed")
    return high * (high - 1) // 2 + low


def _hand_cards() -> Array:
    cards = np.array([(a, b) for b in range(52) for a in range(b)], np.uint8)
    cards.flags.writeable = False
    return cards


HAND_CARDS = _hand_cards()  # uint8 [1326, 2]: the two cards of every hand, the lower first


def card_masks(cards: Array) -> Array:
    """Return sets of cards, along the last axis, as bits of numbers.

    Parameters
    ----------
    cards
        Card numbers, uint8 [..., cards].

    Returns
    -------
    Array
        uint64 [...]: bit c is set if the set has card c.

    Examples
    --------
    >>> card_masks(np.array([[0, 1], [0, 51]])).tolist()
    [3, 2251799813685249]
    """
    return np.asarray(np.bitwise_or.reduce(np.uint64(1) << cards.astype(np.uint64), axis=-1))


@dataclass(frozen=True)
class Deck:
    """A deck: ranks, suits, hole cards per player and hand rules. 52 cards and two hole cards by default.

    Parameters
    ----------
    ranks
        Different letters of `RANKS`.
    suits
        Different letters of `SUITS`.
    hole
        Hole cards of a player, one or two.
    rules
        A name of `HAND_RULES`; empty means standard. Decks of the 36 cards of short deck must name theirs.

    Raises
    ------
    InputError
        Ranks or suits repeat or are unknown, the rules do not fit the ranks, or two hands need more cards.

    Examples
    --------
    >>> deck = Deck("JQK", "hs", hole=1)
    >>> [card_name(card) for card in deck.cards], deck.num_hands
    (['Jh', 'Js', 'Qh', 'Qs', 'Kh', 'Ks'], 6)
    """

    ranks: str = RANKS
    suits: str = SUITS
    hole: int = 2
    rules: str = field(default="", repr=False)  # a name of HAND_RULES; empty means standard

    def __post_init__(self) -> None:
        for name, value, allowed in (("ranks", self.ranks, RANKS), ("suits", self.suits, SUITS)):
            wrong = [c for c in value if c not in allowed]
            if not value or wrong or len(set(value)) != len(value):
                raise InputError(f"deck with {name}={short_repr(value)}: use different ones of {allowed}")
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
                    f"deck of 36 cards, {SHORT_RANKS}: short-deck games rank hands differently; choose rules: "
                    "short (a flush beats a full house), short-trips (and three of a kind a straight), or standard"
                )
            object.__setattr__(self, "rules", STANDARD_RULES)
        if get_hand_rules(self.rules) != HAND_RULES[STANDARD_RULES] and not short:
            raise InputError(f"deck with ranks={short_repr(self.ranks)}: rules {self.rules} are for {SHORT_RANKS}")

    @staticmethod
    def small(ranks: int, suits: int = 4, hole: int = 2) -> Deck:
        """Return a deck of the highest `ranks` ranks in `suits` suits.

        Parameters
        ----------
        ranks
            Number of ranks, 1 to 13.
        suits
            Number of suits, 1 to 4; spades come first.
        hole
            Hole cards of a player, one or two.
        """
        if not (1 <= ranks <= 13 and 1 <= suits <= 4):
            raise InputError(f"deck of {ranks} ranks and {suits} suits: at most 13 and 4")
        return Deck(RANKS[13 - ranks :], SUITS[4 - suits :], hole, STANDARD_RULES)

    @staticmethod
    def for_rules(rules: str) -> Deck:
        """Return the full deck of some hand rules: 52 cards, or 36 for short deck.

        Parameters
        ----------
        rules
            A name of `HAND_RULES`.
        """
        return Deck(SHORT_RANKS if get_hand_rules(rules).lowest else RANKS, SUITS, 2, rules)

    @cached_property
    def cards(self) -> Array:
        """Cards of the deck, ascending. uint8 [cards]"""
        ranks, suits = sorted(RANKS.index(r) for r in self.ranks), sorted(SUITS.index(s) for s in self.suits)
        return np.array([4 * r + s for r in ranks for s in suits], np.uint8)

    @cached_property
    def hands(self) -> Array:
        """Cards of every hand, ordered by the higher card, then the lower. uint8 [hands, hole]"""
        if self.hole == 1:
            return self.cards.reshape(-1, 1)
        ordered = sorted(combinations(self.cards.tolist(), 2), key=lambda pair: (pair[1], pair[0]))
        return np.array(ordered, np.uint8)

    @property
    def num_hands(self) -> int:
        """Number of hands."""
        return comb(len(self.cards), self.hole)

    def hand_indices(self, cards: Array) -> Array:
        """Return the indices of hands in `hands`, from their cards in any order. int64 [n]

        Parameters
        ----------
        cards
            Cards of the hands, uint8 [n, hole].
        """
        position = np.full(256, -1, np.int64)
        position[self.cards] = np.arange(len(self.cards))
        ordered = np.sort(position[cards], axis=1)
        return ordered[:, 0] if self.hole == 1 else ordered[:, 1] * (ordered[:, 1] - 1) // 2 + ordered[:, 0]


FULL_DECK = Deck()
