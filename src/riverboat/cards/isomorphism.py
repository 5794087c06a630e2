"""Suit isomorphism: dense indices for deals that differ only in suit names or in the order of cards dealt together.

The indices have no gaps, so that they index arrays: 169 starting hands, 1,286,792 hands with a flop. The method is
Waugh's ("A fast and optimal hand isomorphism algorithm", 2013). Each suit of a deal has a shape, the number of its
cards in each round, and an index among all suits of that shape. Suits of one shape are interchangeable: a deal is the
family of its shapes and, for each shape, a multiset of indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, groupby, permutations, product
from math import comb, prod
from typing import TypeAlias

import numpy as np

from riverboat.cards._kernels import isomorphism as kernels
from riverboat.cards.deck import FULL_DECK, RANKS, SUITS, Deck, card_name
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

IndexTables: TypeAlias = kernels.IndexTables
SuitShape: TypeAlias = tuple[int, ...]  # cards of one suit in each round

MAX_SPREADS = 1 << 18  # spreads of the rounds over the suits: the one table that grows fast with the rounds
MAX_CLASSES = 1 << 60


class HandIndexer:
    """Dense isomorphism indices of all deals of some rounds: `HandIndexer((2, 3))` for two hole cards and a flop.

    The order of cards within a round does not matter, and trailing rounds may be omitted. Cards are 4 · rank + suit,
    with ranks and suits from 0; `for_deck` takes the cards of a deck instead.

    Parameters
    ----------
    rounds
        Cards dealt in each round.
    ranks
        Number of ranks of the deck.
    suits
        Number of suits of the deck.

    Raises
    ------
    InputError
        The deck has too few cards for the rounds, or the tables would be too large.

    References
    ----------
    .. [1] Waugh, "A fast and optimal hand isomorphism algorithm", AAAI Workshop on Computer Poker, 2013.

    Examples
    --------
    >>> indexer = HandIndexer((2, 3))
    >>> indexer.size(0), indexer.size()
    (169, 1286792)
    >>> int(indexer.index([51, 47])) == int(indexer.index([50, 46]))  # AsKs and AhKh
    True
    """

    def __init__(self, rounds: tuple[int, ...], ranks: int = len(RANKS), suits: int = len(SUITS)) -> None:
        self.rounds = tuple(rounds)
        self.widths = tuple(accumulate(self.rounds))  # cards dealt up to and including each round
        if not (1 <= ranks <= len(RANKS) and 1 <= suits <= len(SUITS)):
            raise InputError(f"deck of {ranks} ranks and {suits} suits: at most {len(RANKS)} and {len(SUITS)}")
        if not self.rounds or min(self.rounds) < 1 or self.widths[-1] > ranks * suits:
            raise InputError(f"rounds {self.rounds}: one card or more in each, and {ranks * suits} at most in all")
        num_spreads = prod(comb(n + 3, 3) for n in self.rounds)
        if num_spreads > MAX_SPREADS:
            raise InputError(
                f"rounds {rounds}: {num_spreads:,} splits into suits, {MAX_SPREADS:,} at most: join rounds"
            )
        self._tables = [_build_index_tables(self.rounds[: r + 1], ranks, suits) for r in range(len(self.rounds))]
        self._set_cards([4 * rank + suit for rank in range(ranks) for suit in range(suits)])

    @classmethod
    def for_deck(cls, deck: Deck, rounds: tuple[int, ...]) -> HandIndexer:
        """Return an indexer for the cards of a deck, which keep their numbers.

        Parameters
        ----------
        deck
            The deck.
        rounds
            Cards dealt in each round.
        """
        indexer = cls(rounds, len(deck.ranks), len(deck.suits))
        indexer._set_cards(deck.cards.tolist())
        return indexer

    def _set_cards(self, cards: list[int]) -> None:
        """Set the cards of the deck in all tables; `cards` are ordered by rank, then suit."""
        place, card, suits = np.full(256, kernels.NOT_IN_DECK, np.uint8), np.zeros(64, np.uint8), self._tables[0].suits
        for k, c in enumerate(cards):
            place[c] = 16 * (k % suits) + k // suits
            card[place[c]] = c
        self._tables = [t._replace(place=place, card=card) for t in self._tables]

    def __repr__(self) -> str:
        return f"HandIndexer({self.rounds}, {self.size():,} classes)"

    def tables(self, round: int = -1) -> IndexTables:
        """Return the tables for kernels that index deals up to a round.

        Parameters
        ----------
        round
            Round from 0; -1 for the last.
        """
        count = len(self.rounds)
        if not -count <= round < count:
            raise InputError(f"round {round} of rounds {self.rounds}: must be 0 to {count - 1}, or -1 for the last")
        return self._tables[round]

    def size(self, round: int = -1) -> int:
        """Return the number of isomorphism classes of deals up to a round.

        Parameters
        ----------
        round
            Round from 0; -1 for the last.
        """
        return int(self.tables(round).offset[-1])

    def index(self, cards: Array | Sequence[int], *, check: bool = True) -> Array:
        """Return the indices of deals up to any round. uint8 [..., cards] -> int64 [...]

        Parameters
        ----------
        cards
            Cards of each deal, round by round.
        check
            Whether to reject invalid and duplicate cards. Without it they give wrong indices or crash.

        Raises
        ------
        InputError
            The number of cards fits no round, or a deal is invalid.
        """
        array = np.asarray(cards)
        width = array.shape[-1] if array.ndim else 0
        if width not in self.widths:
            choice = ", ".join(map(str, self.widths))
            raise InputError(f"deals of shape {array.shape}: expected [deals, cards] with {choice} cards")
        if array.dtype.kind not in "iu":
            raise InputError(f"cards of type {array.dtype}: give whole numbers, uint8 for speed")
        tables = self._tables[self.widths.index(width)]
        if check and array.dtype != np.uint8:
            array = np.where((array >= 0) & (array < kernels.NOT_IN_DECK), array, kernels.NOT_IN_DECK)
        flat = np.ascontiguousarray(array, np.uint8).reshape(-1)
        if check:
            invalid = kernels.first_invalid_deal(tables, flat, width)
            if invalid >= 0:
                raise self._deal_error(np.asarray(cards).reshape(-1, width)[invalid].tolist(), invalid)
        out = np.empty(len(flat) // width, np.int64)
        kernels.index_batch(tables, flat, width, out)
        return out.reshape(array.shape[:-1])[()]

    def unindex(self, indices: Array | Sequence[int] | int, round: int = -1) -> Array:
        """Return a deal for each index, cards of a round ascending. int64 [...] -> uint8 [..., cards]

        Parameters
        ----------
        indices
            Indices of deals up to the round.
        round
            Round from 0; -1 for the last.

        Raises
        ------
        InputError
            An index is out of range.
        """
        tables, array = self.tables(round), self._check_indices(indices, round)
        width = self.widths[round]
        out = np.empty((array.size, width), np.uint8)
        scratch = np.empty((4, len(tables.rounds)), np.int64)
        kernels.unindex_batch(tables, array.reshape(-1), width, np.empty(4, np.int64), scratch, out.reshape(-1))
        return out.reshape(*array.shape, width)

    def count(self, indices: Array | Sequence[int] | int, round: int = -1) -> Array:
        """Return the number of deals of each index, cards of a round unordered. int64 [...] -> int64 [...]

        Parameters
        ----------
        indices
            Indices of deals up to the round.
        round
            Round from 0; -1 for the last.

        Raises
        ------
        InputError
            An index is out of range.
        """
        tables, array = self.tables(round), self._check_indices(indices, round)
        out = np.empty(array.size, np.int64)
        kernels.count_deals(tables, array.reshape(-1), np.empty(4, np.int64), out)
        return out.reshape(array.shape)[()]

    def _check_indices(self, indices: Array | Sequence[int] | int, round: int) -> Array:
        array = np.asarray(indices)
        if array.dtype.kind not in "iu" and array.size:
            raise InputError(f"indices of type {array.dtype}: give whole numbers")
        size = self.size(round)
        outside = (array < 0) | (array >= size)
        if outside.any():
            first = array[outside].flat[0]
            raise InputError(f"index {first}: deals of rounds {self._tables[round].rounds} have 0 to {size - 1:,}")
        return np.asarray(array, np.int64, order="C")

    def _deal_error(self, cards: list[int], row: int) -> InputError:
        """Return the error for an invalid deal."""
        shown = " ".join(card_name(c) if 0 <= c < 52 else str(c) for c in cards)
        deck_cards = np.flatnonzero(self._tables[0].place != kernels.NOT_IN_DECK).tolist()
        foreign = [c for c in cards if c not in deck_cards]
        if foreign:
            names = " ".join(map(card_name, deck_cards)) if len(deck_cards) < 52 else "0 to 51"
            return InputError(f"deal {row} is {shown}: card {foreign[0]} is not one of {names}")
        twice = next(c for c in cards if cards.count(c) > 1)
        return InputError(f"deal {row} is {shown}: duplicate card {card_name(twice)}")


def join_tables(tables: Sequence[IndexTables]) -> tuple[IndexTables, Array]:
    """Concatenate the tables of several indexers of one deck for `deal_index_in_joined_tables`.

    Parameters
    ----------
    tables
        Tables of indexers, as `HandIndexer.tables` returns them.

    Returns
    -------
    tuple of IndexTables and Array
        The tables, and where the spreads and families of each begin, int64 [tables, 2].

    Examples
    --------
    >>> joined, first = join_tables([HandIndexer((2,)).tables(), HandIndexer((3,)).tables()])
    >>> first.tolist()
    [[0, 0], [10, 2]]
    """
    spreads, families = ([0, *accumulate(len(getattr(t, name)) for t in tables)] for name in ("family", "kind"))
    first = np.array([spreads[:-1], families[:-1]], np.int64).T.copy()
    offset = np.concatenate([t.offset[:-1] for t in tables])
    family, kind, scale = (np.concatenate([getattr(t, name) for t in tables]) for name in ("family", "kind", "scale"))
    return tables[0]._replace(family=family, offset=offset, kind=kind, scale=scale), first


@cache
def suit_permutations(deck: Deck = FULL_DECK) -> tuple[Array, Array]:
    """Return the images of all cards and of the deck's hands under each permutation of the deck's suits.

    Parameters
    ----------
    deck
        The deck.

    Returns
    -------
    tuple of Array
        Images of cards, uint8 [permutations, 52], and of hands, int32 [permutations, hands].

    Examples
    --------
    >>> cards, hands = suit_permutations(Deck("AK", "cd", 1))
    >>> hands.tolist()
    [[0, 1, 2, 3], [1, 0, 3, 2]]
    """
    suits = sorted(SUITS.index(suit) for suit in deck.suits)
    orders = list(permutations(suits))
    suit_maps = np.tile(np.arange(4), (len(orders), 1))
    suit_maps[:, suits] = orders
    rank, suit = np.divmod(np.arange(52), 4)
    cards = (4 * rank + suit_maps[:, suit]).astype(np.uint8)
    return cards, np.array([deck.hand_indices(image[deck.hands]) for image in cards], np.int32)


@cache
def canonical_boards(cards: int, deck: Deck = FULL_DECK) -> tuple[Array, Array]:
    """Return one board of each isomorphism class.

    Parameters
    ----------
    cards
        Number of cards, one to five.
    deck
        The deck.

    Returns
    -------
    tuple of Array
        Boards, uint8 [classes, cards], and the number of boards of each class, int64 [classes].

    Examples
    --------
    >>> boards, counts = canonical_boards(3)
    >>> len(boards), int(counts.sum())
    (1755, 22100)
    """
    indexer = _board_indexer(cards, deck)
    indices = np.arange(indexer.size())
    boards, weights = indexer.unindex(indices), indexer.count(indices)
    boards.flags.writeable = weights.flags.writeable = False
    return boards, weights


def board_index(boards: Array, deck: Deck = FULL_DECK, *, check: bool = True) -> Array:
    """Return the rows of `canonical_boards` for the classes of boards.

    Parameters
    ----------
    boards
        uint8 [..., cards], one to five cards.
    deck
        The deck.
    check
        Whether to reject invalid and duplicate cards.

    Returns
    -------
    Array
        int64 [...].

    Examples
    --------
    >>> boards, _ = canonical_boards(3)
    >>> board_index(boards[5:8]).tolist()
    [5, 6, 7]
    """
    return _board_indexer(np.asarray(boards).shape[-1], deck).index(boards, check=check)


@cache
def _board_indexer(cards: int, deck: Deck) -> HandIndexer:
    if not 1 <= cards <= 5:
        raise InputError(f"boards of {cards} cards: a board has one to five")
    return HandIndexer.for_deck(deck, (cards,))


@cache
def _rank_sets() -> tuple[Array, Array, Array]:
    """Return `sets`, `sorted_sets` and `first` of `IndexTables`: a numbering of the sets of ranks of each size."""
    sizes = np.array([mask.bit_count() for mask in range(1 << 13)])
    ranked = np.argsort(sizes, kind="stable")  # among sets of one size, colexicographic order is numeric order
    first = np.searchsorted(sizes[ranked], np.arange(14))
    sets = np.empty(1 << 13, np.uint16)
    sets[ranked] = 16 * (np.arange(1 << 13) - first[sizes[ranked]]) + sizes[ranked]
    return sets, ranked.astype(np.uint16), first.astype(np.int64)


@cache
def _build_index_tables(rounds: tuple[int, ...], ranks: int, suits: int) -> IndexTables:
    """Build the tables for all rounds given, without the cards."""
    spread = list(_families(rounds, ranks, suits))
    families = sorted({family for family in spread if family})
    groups = [[(shape, len(list(alike))) for shape, alike in groupby(family)] for family in families]
    sizes = [[comb(_count_suit_deals(shape, ranks) + m - 1, m) for shape, m in group] for group in groups]
    offset = [0, *accumulate(map(prod, sizes))]
    if offset[-1] > MAX_CLASSES:
        raise InputError(f"rounds {rounds}: {offset[-1]:,} classes, {MAX_CLASSES:,} at most: deal fewer cards")
    kind = [[m - j for _, m in group for j in range(m)] for group in groups]
    scale = [
        [prod(size[g + 1 :]) for g, (_, m) in enumerate(group) for _ in range(m)]
        for group, size in zip(groups, sizes, strict=True)
    ]
    family_index = {family: f for f, family in enumerate(families)}
    sets, ranked, first = _rank_sets()
    return IndexTables(
        place=np.empty(0, np.uint8),
        card=np.empty(0, np.uint8),
        rounds=np.array(rounds, np.int64),
        choices=np.array([comb(max(ranks - a, 0), b) for a in range(16) for b in range(16)], np.int64),
        sets=sets,
        sorted_sets=ranked,
        first=first,
        num_spreads=np.array([comb(n + 3, 3) for n in range(53)], np.int64),
        spread=_spread_numbers(),
        family=np.array([family_index[family] if family else -1 for family in spread], np.int16),
        offset=np.array(offset, np.int64),
        kind=np.array(kind, np.int8),
        scale=np.array(scale, np.int64),
        shape=np.array(families, np.int8),
        suits=suits,
    )


def _families(rounds: tuple[int, ...], ranks: int, suits: int) -> Iterator[tuple[SuitShape, ...] | None]:
    """Yield the family of every combination of spreads, one spread of the cards over the suits for each round.

    A family has the shapes of the four suits, largest first; None if the deck has too few cards.
    """
    suit_sizes = [ranks if suit < suits else 0 for suit in range(4)]
    for counts in product(*map(_spreads, rounds)):
        shapes = list(zip(*counts, strict=True))
        possible = all(sum(shape) <= n for shape, n in zip(shapes, suit_sizes, strict=True))
        yield tuple(sorted(shapes, reverse=True)) if possible else None


def _spreads(cards: int) -> list[tuple[int, int, int, int]]:
    """Return the spreads of cards over the four suits: all ways to split their number into four counts.

    The index of a spread depends on its first three counts only, not on the number of cards.
    """
    return [
        (total - second, second - third, third, cards - total)
        for total in range(cards + 1)
        for second in range(total + 1)
        for third in range(second + 1)
    ]


@cache
def _spread_numbers() -> Array:
    """Return the index of every spread, by the counts of the first three suits, four bits each. uint16 [4096]"""
    numbers = np.zeros(1 << 12, np.uint16)
    for k, (a, b, c, _) in enumerate(_spreads(3 * len(RANKS))):
        if max(a, b, c) <= len(RANKS):
            numbers[a | b << 4 | c << 8] = k
    return numbers


def _count_suit_deals(shape: SuitShape, ranks: int) -> int:
    """Return the number of ways to choose the ranks of one suit with this shape, its number of cards in each round."""
    return prod(comb(ranks - used, n) for used, n in zip(accumulate(shape, initial=0), shape, strict=False))
