"""Hand ranking: classes 1 … 7,462 of the best five cards out of five, six or seven; larger is better.

Class 1 is 7-5-4-3-2 of mixed suits, 7,462 a royal flush; hands of one class tie. One to four cards can be ranked too,
by pairs and kickers alone: their classes compare among hands of the same number of cards. Short deck has rules and
classes of its own, 1 … 1,404; only the data differ (`HandRules`), the tables and loops are the same.

Every card has a key. The low half of the sum of a hand's keys identifies its ranks in any order; the high half counts
suits. Sums are packed into a small table by row displacement (Tarjan & Yao 1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import comb
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels import ranking
from riverboat.cards.deck import (
    FULL_DECK,
    HAND_RULES,
    RANKS,
    STANDARD_RULES,
    Deck,
    HandRules,
    card_name,
    get_hand_rules,
)
from riverboat.cards.notation import as_cards
from riverboat.core.arrays import Array
from riverboat.core.cache import cached_arrays
from riverboat.core.errors import InputError

# The smallest numbers, found greedily, for which all sums over equally many cards (up to seven, at most four of a rank)
# are distinct. A test verifies it.
RANK_KEYS = (0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262349, 636345, 1479181)

_CODE_BASE = 13  # a code is the category's index · 13^5 + five ranks in base 13
_VERSION = 1  # of the tables on disk


class RankTables(NamedTuple):
    """Tables for kernels that rank hands of one size.

    Attributes
    ----------
    key
        uint64 [52]: rank key, and the suit's counter in the high half.
    mask
        uint64 [52]: a bit for the rank, 16 bits a suit.
    offset
        int32 [rows]: where the row of a sum begins.
    value
        uint16 [packed entries]: class of a hand without a flush.
    flush
        uint16 [8192]: class of a flush by the set of its ranks.

    Examples
    --------
    >>> rank_tables(5).key.shape
    (52,)
    """

    key: Array  # uint64 [52]: rank key, and the suit's counter in the high half
    mask: Array  # uint64 [52]: a bit for the rank, 16 bits a suit
    offset: Array  # int32 [rows]: where the row of a sum begins
    value: Array  # uint16 [packed entries]: class of a hand without a flush
    flush: Array  # uint16 [8192]: class of a flush by the set of its ranks


def _hand_code(ranks: tuple[int, ...], rules: HandRules) -> int:
    """Return the code of a hand, ignoring flushes: category and ranks of its best five cards as one number.

    Codes sort by strength. Hands of fewer than five cards have codes too.
    """
    cards, by_count = len(ranks), sorted(((ranks.count(r), r) for r in set(ranks)), reverse=True)
    most, first = by_count[0]
    next_most, second = by_count[1] if len(by_count) > 1 else (0, 0)
    straight = _straight_high_rank(sum(1 << r for _, r in by_count), rules) if cards >= 5 else -1
    # categories, the ranks that make them, and whether the hand has them
    candidates: list[tuple[str, list[int], bool]] = [
        ("high card", [], True),
        ("pair", [first], most >= 2),
        ("two pair", sorted((first, second), reverse=True), most >= 2 and next_most >= 2),
        ("three of a kind", [first], most >= 3),
        ("full house", [first, second], most >= 3 and next_most >= 2 and cards >= 5),
        ("four of a kind", [first], most == 4),
        ("straight", [straight], straight >= 0),
    ]
    category, made, _ = max(filter(itemgetter(2), candidates), key=lambda held: rules.order.index(held[0]))
    kickers = sorted(set(ranks) - set(made), reverse=True)
    return _pack_code(category, made + kickers[: max(0, min(5, cards) - _CARDS_IN_CATEGORY[category])], rules)


# Number of cards that make the category; the others are kickers.
_CARDS_IN_CATEGORY = {
    "high card": 0, "pair": 2, "two pair": 4, "three of a kind": 3, "straight": 5, "full house": 5, "four of a kind": 4,
}  # fmt: skip


def _straight_high_rank(mask: int, rules: HandRules) -> int:
    """Return the rank of the highest card of a straight, or -1; the ace also counts as one below the lowest rank."""
    for high in range(12, rules.lowest + 3, -1):
        if mask >> (high - 4) & 0b11111 == 0b11111:
            return high
    low = 1 << 12 | 0b1111 << rules.lowest
    return rules.lowest + 3 if mask & low == low else -1


def _pack_code(category: str, ranks: Sequence[int], rules: HandRules) -> int:
    code = rules.order.index(category)
    for k in range(5):
        code = code * _CODE_BASE + (ranks[k] if k < len(ranks) else 0)
    return code


def _multisets(cards: int) -> list[tuple[int, ...]]:
    """Return the ranks of every hand of `cards` cards, ignoring suits."""
    return [m for m in combinations_with_replacement(range(13), cards) if all(m.count(r) <= 4 for r in set(m))]


def _flush_codes(rules: HandRules) -> dict[int, int]:
    """Return the code of the best flush or straight flush by the set of ranks of one suit, five or more, as bits."""
    codes = {}
    for mask in range(1 << 13):
        ranks = [r for r in range(12, -1, -1) if mask >> r & 1]
        if len(ranks) >= 5:
            high = _straight_high_rank(mask, rules)
            codes[mask] = (
                _pack_code("straight flush", [high], rules) if high >= 0 else _pack_code("flush", ranks[:5], rules)
            )
    return codes


@cache
def _rank_classes(rules: HandRules) -> tuple[Array, dict[int, int]]:
    """Return the codes of all five-card hands, ascending (entry k has class k + 1), and `_flush_codes`."""
    flushes = _flush_codes(rules)
    plain = {_hand_code(m, rules) for m in _multisets(5) if min(m) >= rules.lowest}
    suited = {code for mask, code in flushes.items() if not mask & ((1 << rules.lowest) - 1)}
    return np.array(sorted(plain | suited), np.int64), flushes


@cache
def rank_tables(cards: int, rules: str = STANDARD_RULES) -> RankTables:
    """Return the tables for hands of one to seven cards, from the cache; building takes two seconds for seven cards.

    Parameters
    ----------
    cards
        Number of cards of a hand.
    rules
        A name of `HAND_RULES`.

    Returns
    -------
    RankTables
        The tables, for kernels.

    Raises
    ------
    InputError
        The number of cards is outside 1 to 7, or the rules are unknown.

    Notes
    -----
    Rows of a sparse table are shifted over one another until no entries collide (Tarjan & Yao 1979).

    Examples
    --------
    >>> len(rank_tables(5).flush)
    8192
    """
    if not 1 <= cards <= 7:
        raise InputError(f"hands of {cards} cards: one to seven can be ranked")
    chosen = get_hand_rules(rules)
    name = f"{cards}-{_VERSION}" if chosen == HAND_RULES[STANDARD_RULES] else f"{rules}-{cards}-{_VERSION}"
    return RankTables(**cached_arrays(f"ranking/{name}", lambda: _build_rank_tables(cards, chosen)._asdict()))


def _build_rank_tables(cards: int, rules: HandRules) -> RankTables:
    """Build the tables that rank hands of `cards` cards.

    Cards that are not in the deck have entries too, with meaningless values: loops need not check for them.
    """
    sets = _multisets(cards)
    sums = np.array([sum(RANK_KEYS[r] for r in m) for m in sets], np.int64)
    codes = np.array([_hand_code(m, rules) for m in sets], np.int64)
    classes, flushes = _rank_classes(rules)
    order = classes if cards >= 5 else np.unique(codes)
    values = (np.searchsorted(order, codes) + 1).astype(np.uint16)
    offset, value = _displace(sums, values)
    flush = np.zeros(1 << 13, np.uint16)
    for mask, code in flushes.items():
        flush[mask] = np.searchsorted(classes, code) + 1
    numbers = np.arange(52)
    key = np.array(RANK_KEYS, np.uint64)[numbers >> 2] + (np.uint64(1) << (32 + 4 * (numbers & 3)).astype(np.uint64))
    mask_bits = np.uint64(1) << (16 * (numbers & 3) + (numbers >> 2)).astype(np.uint64)
    return RankTables(key, mask_bits, offset, value, flush)


def _displace(sums: Array, values: Array) -> tuple[Array, Array]:
    """Pack a sparse table, given by sums of keys and values, by row displacement (Tarjan & Yao 1979).

    Rows are placed fullest first. Returns `offset` and `value` of `RankTables`.
    """
    width = 1 << ranking.ROW_BITS
    rows = sums >> ranking.ROW_BITS
    filled, sizes = np.unique(rows, return_counts=True)
    rank_of = np.zeros(int(rows.max()) + 1, np.int64)  # fullest first
    rank_of[filled[np.argsort(-sizes, kind="stable")]] = np.arange(len(filled))
    order = np.lexsort((sums, rank_of[rows]))
    offset = np.zeros(len(rank_of), np.int32)
    packed = np.zeros(4 * len(sums) + width, np.uint16)
    used = ranking.displace_rows(sums[order], values[order], offset, packed)
    # Kernels only look up sums of real hands, which are all in the table: no bounds checks are needed.
    return offset, packed[:used].copy()


def rank(cards: str | Sequence[int], rules: str = STANDARD_RULES) -> int:
    """Return the class of one hand of one to seven cards.

    Parameters
    ----------
    cards
        Text such as `AsKsQsJsTs`, or card numbers.
    rules
        A name of `HAND_RULES`.

    Returns
    -------
    int
        Class of the best five cards, from 1; larger is better.

    Raises
    ------
    InputError
        Cards repeat, are invalid, or are not in the deck of the rules.

    Examples
    --------
    >>> rank("AsKsQsJsTs"), rank("7c5d4h3s2c")
    (7462, 1)
    """
    return int(rank_batch(np.array([as_cards(cards)], np.uint8), rules)[0])


def rank_batch(cards: Array, rules: str = STANDARD_RULES, *, check: bool = True) -> Array:
    """Return the classes of many hands of one to seven cards.

    Parameters
    ----------
    cards
        uint8 [hands, cards].
    rules
        A name of `HAND_RULES`.
    check
        Whether to reject invalid and duplicate cards. Without it they give wrong classes or crash.

    Returns
    -------
    Array
        uint16 [hands]: classes, from 1.

    Raises
    ------
    InputError
        The array has another shape, or a hand is invalid.

    Examples
    --------
    >>> hands = np.array([[0, 4, 8, 12, 17], [51, 47, 43, 39, 35]], np.uint8)
    >>> rank_batch(hands).tolist() == [rank("2c3c4c5c6d"), 7462]
    True
    """
    if cards.ndim != 2 or not 1 <= cards.shape[1] <= 7:
        raise InputError(f"cards of shape {cards.shape}: expected [hands, 1 to 7 cards]")
    hands = np.ascontiguousarray(cards, np.uint8)
    out = np.empty(len(hands), np.uint16)
    if check:
        wrong = ranking.first_invalid_hand(hands)
        if wrong >= 0:
            shown = [card_name(c) if 0 <= c < 52 else str(c) for c in cards[wrong].tolist()]
            raise InputError(f"hand {wrong} is {' '.join(shown)}: cards must differ and be numbered 0 to 51")
        foreign = hands[hands >> 2 < get_hand_rules(rules).lowest]
        if len(foreign):
            raise InputError(f"card {card_name(int(foreign[0]))}: rules {rules} are for a deck without it")
    ranking.rank_batch(hands, rank_tables(hands.shape[1], rules), out)
    return out


def category(value: int, rules: str = STANDARD_RULES) -> str:
    """Return the category of a class of five or more cards.

    Parameters
    ----------
    value
        Class of a hand.
    rules
        A name of `HAND_RULES`.

    Returns
    -------
    str
        A name of `HAND_CATEGORIES`, such as `full house`.

    Raises
    ------
    InputError
        There is no such class.

    Examples
    --------
    >>> category(7462)
    'straight flush'
    """
    return get_hand_rules(rules).order[_class_code(value, rules) // _CODE_BASE**5]


def _class_code(value: int, rules: str) -> int:
    order = _rank_classes(get_hand_rules(rules))[0]
    if not 1 <= value <= len(order):
        raise InputError(f"hand class {value}: classes are 1 to {len(order):,}")
    return int(order[value - 1])


def describe(value: int, rules: str = STANDARD_RULES) -> str:
    """Describe a class in words.

    Parameters
    ----------
    value
        Class of a hand of five or more cards.
    rules
        A name of `HAND_RULES`.

    Returns
    -------
    str
        Category and ranks, such as `full house, K over 7`.

    Raises
    ------
    InputError
        There is no such class.

    Examples
    --------
    >>> describe(rank("KsKhKd7c7d"))
    'full house, K over 7'
    """
    code, ranks = _class_code(value, rules), []
    for _ in range(5):
        code, r = divmod(code, _CODE_BASE)
        ranks.append(RANKS[r])
    ranks.reverse()
    name = category(value, rules)
    if name in ("straight", "straight flush"):
        return "royal flush" if (name, ranks[0]) == ("straight flush", "A") else f"{name}, {ranks[0]} high"
    if name == "full house":
        return f"{name}, {ranks[0]} over {ranks[1]}"
    shown = {"four of a kind": 2, "three of a kind": 3, "two pair": 3, "pair": 4}.get(name, 5)
    return f"{name}, {' '.join(ranks[:shown])}"


def count_rank_classes(cards: int) -> Array:
    """Count the hands of each class among all hands of five to seven cards.

    Parameters
    ----------
    cards
        5, 6 or 7.

    Returns
    -------
    Array
        int64 [7463]: number of hands of each class; entry 0 is zero.

    Raises
    ------
    InputError
        The number of cards is another.

    Examples
    --------
    >>> int(count_rank_classes(5)[7462])  # royal flushes
    4
    """
    if cards not in (5, 6, 7):
        raise InputError(f"hands of {cards} cards: 5, 6 or 7 have categories")
    counts = np.zeros(len(_rank_classes(HAND_RULES[STANDARD_RULES])[0]) + 1, np.int64)
    ranking.count_rank_classes(cards, rank_tables(cards), np.zeros(8, np.int64), counts)
    assert counts.sum() == comb(52, cards)
    return counts


def hand_strengths(board: Sequence[int], deck: Deck = FULL_DECK) -> Array:
    """Return the class of every hand of a deck on a board.

    Parameters
    ----------
    board
        Card numbers; up to seven cards with the hole cards.
    deck
        Deck with one or two hole cards, and its rules.

    Returns
    -------
    Array
        uint16 [hands]: classes that compare on this board; zero for hands that the board blocks.

    Raises
    ------
    InputError
        A card repeats, or is not in the deck.

    Examples
    --------
    >>> hand_strengths([42], Deck("JQK", "hs", hole=1)).tolist()  # jacks, the other queen, kings
    [55, 55, 0, 89, 66, 66]
    """
    known = np.array(board, np.uint8)
    foreign = [card_name(int(c)) for c in known if c not in deck.cards]
    if foreign:
        raise InputError(f"board card {foreign[0]} is not in this deck")
    if len(set(known.tolist())) < len(known) or not 1 <= deck.hole + len(known) <= 7:
        raise InputError(f"board of {len(known)} cards: they must differ, and make up to seven with the hole cards")
    blocked = (deck.hands[:, :, None] == known).any(axis=(1, 2))
    out = np.zeros(len(deck.hands), np.uint16)
    live = deck.hands[~blocked]
    cards = np.concatenate([live, np.broadcast_to(known, (len(live), len(known)))], axis=1)
    out[~blocked] = rank_batch(cards, deck.rules, check=False)
    return out
