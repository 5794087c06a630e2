"""Strength features of every canonical hand of a street, the input of card abstraction.

River strength is (wins + ties / 2) / 990 against a uniformly random hand. Earlier streets have its mean E[HS], its mean
square E[HS²] and its histogram over all runouts. OCHS (opponent cluster hand strength) is the strength against each of
several groups of starting hands (Johanson et al. 2013). Everything is computed board by board: one sort and one pass
give all hands of a board, never hand by hand.

Tables are indexed by `HandIndexer(rounds)`: (2,) preflop, (2, 3) flop, (2, 4) turn, (2, 5) river. Other functions have
the features of the hands of one board, and the current strength of hands on incomplete boards.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import comb
from typing import NamedTuple, TypeVar

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, NUM_HANDS, Deck, card_masks
from riverboat.cards.equity._kernels import runout
from riverboat.cards.equity._kernels import showdown as kernels
from riverboat.cards.equity._kernels.showdown import HandStrengthTables
from riverboat.cards.equity.equities import ProgressCallback, map_chunks, showdown_workspace, starting_hand_classes
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.cards.ranking import rank_tables
from riverboat.compiled.simd import SIMD_WIDTH
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.core.validation import check_name

BOARD_CARDS = {"preflop": 0, "flop": 3, "turn": 4, "river": 5}
RUNOUTS = {3: 1081, 4: 46, 5: 1}  # runouts that a hand does not block, by the number of board cards
MAX_STRENGTH = 2 * kernels.OPPONENT_HANDS  # strength of a hand that beats all others, stored as 2 wins + ties
_HAND_CARDS = np.array(HAND_CARDS)

# Eight groups of starting hands from the weakest (1) to the big pairs (8), as published by Johanson et al. 2013: rows
# and columns A to 2, pairs on the diagonal, suited above it.
OCHS_GROUPS = """
8777777766666
7877776666664
7787755554444
7758555544444
7755855533332
7655583333222
6655338333222
6644333733211
6644333373111
6644222216111
6444222111611
6442221111161
6442221111114
""".strip()


class StrengthFeatures(NamedTuple):
    """Strength features of every canonical hand of a street, or of every hand on one board.

    Attributes
    ----------
    mean
        float [hands]: E[HS], the mean of river strength over all runouts.
    square
        float [hands]: E[HS²].
    histogram
        [hands, bins]: number of runouts by river strength, or their share; empty for all hands of the river.

    Examples
    --------
    >>> StrengthFeatures(np.zeros(2), np.zeros(2), np.zeros((2, 50))).histogram.shape
    (2, 50)
    """

    mean: Array  # float32 [hands]: E[HS]
    square: Array  # float32 [hands]: E[HS²]
    histogram: Array  # uint8 or uint16 [hands, bins]: number of runouts by river strength


def street_rounds(street: str) -> tuple[int, ...]:
    """Return the rounds of cards that index the tables of a street.

    Parameters
    ----------
    street
        preflop, flop, turn or river.

    Returns
    -------
    tuple of int
        Rounds for `HandIndexer`.

    Raises
    ------
    InputError
        There is no such street.

    Examples
    --------
    >>> street_rounds("turn")
    (2, 4)
    """
    check_name("street", street, BOARD_CARDS)
    return (2,) if street == "preflop" else (2, BOARD_CARDS[street])


def strength_bins(bins: int) -> Array:
    """Return the bin of every stored river strength.

    Parameters
    ----------
    bins
        Number of bins of equal width, 1 to 256; a strength of one is in the last.

    Returns
    -------
    Array
        uint8 [1981].

    Raises
    ------
    InputError
        The number of bins is out of range.

    Examples
    --------
    >>> strength_bins(50)[[0, 990, 1980]].tolist()
    [0, 25, 49]
    """
    if not 1 <= bins <= 256:
        raise InputError(f"bins={bins}: must be 1 to 256")
    return np.minimum(np.arange(MAX_STRENGTH + 1) * bins // MAX_STRENGTH, bins - 1).astype(np.uint8)


def live_deals(boards: Array, deck: Deck = FULL_DECK) -> tuple[Array, Array]:
    """Return which hands each board does not block, and the cards of these hands with the board's.

    Parameters
    ----------
    boards
        uint8 [boards, cards].
    deck
        The deck.

    Returns
    -------
    tuple of Array
        bool [boards, hands], and uint8 [live hands of all boards, hole + cards], board by board.

    Examples
    --------
    >>> live, deals = live_deals(np.array([[51, 47, 43]], np.uint8))
    >>> int(live.sum()), deals.shape
    (1176, (1176, 5))
    """
    live = (card_masks(deck.hands) & card_masks(boards)[:, None]) == 0
    board, hand = np.nonzero(live)
    return live, np.concatenate([deck.hands[hand], boards[board]], axis=1)


def strengths_on_boards(boards: Array) -> Array:
    """Return the river strength of every hand on full boards.

    Parameters
    ----------
    boards
        uint8 [n, 5].

    Returns
    -------
    Array
        uint16 [n, 1326]: 2 wins + ties against all other hands, at most MAX_STRENGTH; 65535 for blocked hands.

    Examples
    --------
    >>> int(strengths_on_boards(np.array([[48, 44, 40, 36, 32]], np.uint8))[0, -1])  # all tie on a royal flush
    990
    """
    out = np.empty((len(boards), NUM_HANDS), np.uint16)
    arrays = np.ascontiguousarray(boards, np.uint8), rank_tables(7), showdown_workspace(NUM_HANDS)
    kernels.strengths_on_boards(*arrays, out)
    return out


def runout_features(boards: Array, bins: int) -> tuple[Array, Array, Array]:
    """Count river strengths by bin, and sum them and their squares, over the runouts of boards.

    Parameters
    ----------
    boards
        uint8 [n, 3 to 5].
    bins
        Number of bins of equal width.

    Returns
    -------
    tuple of Array
        Counts, uint16 [n, 1326, bins], sums and sums of squares, int64 [n, 1326]. Strengths are 2 wins + ties.

    Examples
    --------
    >>> counts, sums, squares = runout_features(np.array([[51, 47, 43, 39]], np.uint8), 10)
    >>> int(counts[0, 0].sum())  # rivers that 2d2c meets
    46
    """
    count, size = np.zeros((len(boards), NUM_HANDS, bins), np.uint16), (len(boards), NUM_HANDS)
    total, total_square = np.zeros(size, np.int64), np.zeros(size, np.int64)
    arrays = np.ascontiguousarray(boards, np.uint8), rank_tables(7), showdown_workspace(NUM_HANDS)
    kernels.runout_features(*arrays, strength_bins(bins), count, total, total_square)
    return count, total, total_square


def ochs_on_boards(boards: Array, group: Array) -> Array:
    """Sum the share of each group of hands that every hand beats over the runouts of boards (OCHS, Johanson et al. 2013).

    Parameters
    ----------
    boards
        uint8 [n, 3 to 5].
    group
        int8 [1326]: group of each of the opponent's hands, from 0.

    Returns
    -------
    Array
        float64 [n, 1326, groups]; divide by `RUNOUTS` for the mean.

    Examples
    --------
    >>> shares = ochs_on_boards(np.array([[48, 44, 40, 36, 32]], np.uint8), np.zeros(1326, np.int8))
    >>> float(shares[0, -1, 0])  # all tie on a royal flush
    0.5
    """
    groups = int(group.max()) + 1
    out = np.zeros((len(boards), NUM_HANDS, groups))
    arrays = np.ascontiguousarray(boards, np.uint8), group, rank_tables(7)
    kernels.ochs_on_boards(*arrays, showdown_workspace(NUM_HANDS, SIMD_WIDTH), out)
    return out


def river_strengths(threads: int = 1, progress: ProgressCallback | None = None) -> Array:
    """Compute the strength of all 123,156,254 canonical river hands.

    Parameters
    ----------
    threads
        Number of threads.
    progress
        Called with the share of the work that is done.

    Returns
    -------
    Array
        uint16 [hands]: 2 wins + ties, at most 1,980.

    Examples
    --------
    >>> river_strengths(threads=8).shape  # doctest: +SKIP
    (123156254,)
    """
    boards, _ = canonical_boards(5)
    indexer = HandIndexer((2, 5))
    out = np.empty(indexer.size(), np.uint16)

    def work(part: slice) -> None:
        live, deals = live_deals(boards[part])
        out[indexer.index(deals, check=False)] = strengths_on_boards(boards[part])[live]

    map_chunks(work, len(boards), threads, progress, chunk=128)
    return out


def street_features(
    street: str, bins: int = 50, threads: int = 1, progress: ProgressCallback | None = None
) -> StrengthFeatures:
    """Compute E[HS], E[HS²] and the histogram of river strength of every canonical hand of a street.

    Parameters
    ----------
    street
        preflop, flop, turn or river.
    bins
        Number of bins of equal width.
    threads
        Number of threads.
    progress
        Called with the share of the work that is done.

    Returns
    -------
    StrengthFeatures
        Features, indexed by `HandIndexer(street_rounds(street))`.

    Raises
    ------
    InputError
        The street is unknown, or a number is out of range.

    Examples
    --------
    >>> street_features("turn", threads=8).histogram.shape  # doctest: +SKIP
    (13960050, 50)
    """
    check_threads(threads)
    bin_of = strength_bins(bins)
    if street == "river":
        shares = river_strengths(threads, progress).astype(np.float32) / MAX_STRENGTH
        # each hand has one runout: the mean has all information
        return StrengthFeatures(shares, shares * shares, np.zeros((0, bins), np.uint8))
    if street == "preflop":
        return _preflop_features(bin_of, bins, threads, progress)
    indexer = HandIndexer(street_rounds(street))
    boards, _ = canonical_boards(BOARD_CARDS[street])
    runouts, size = RUNOUTS[BOARD_CARDS[street]], indexer.size()
    mean, square = np.empty(size, np.float32), np.empty(size, np.float32)
    histogram = np.empty((size, bins), np.uint16 if runouts > 255 else np.uint8)

    def work(part: slice) -> None:
        count, total, total_square = runout_features(boards[part], bins)
        live, deals = live_deals(boards[part])
        index = indexer.index(deals, check=False)
        mean[index] = total[live] / (MAX_STRENGTH * runouts)
        square[index] = total_square[live] / (MAX_STRENGTH**2 * runouts)
        histogram[index] = count[live]

    map_chunks(work, len(boards), threads, progress, chunk=4 if street == "flop" else 32)
    return StrengthFeatures(mean, square, histogram)


def flop_features_from_turn(
    turn: StrengthFeatures, threads: int = 1, progress: ProgressCallback | None = None
) -> StrengthFeatures:
    """Compute the features of the flop from those of the turn: equal to those over all runouts, and several times faster.

    Parameters
    ----------
    turn
        Features of the turn.
    threads
        Number of threads.
    progress
        Called with the share of the work that is done.

    Returns
    -------
    StrengthFeatures
        Features of the flop.

    Examples
    --------
    >>> flop_features_from_turn(street_features("turn")).histogram.shape  # doctest: +SKIP
    (1286792, 50)
    """
    flop_indexer, turn_indexer = (HandIndexer(street_rounds(street)) for street in ("flop", "turn"))
    size, bins = flop_indexer.size(), turn.histogram.shape[1]
    mean, square = np.empty(size, np.float32), np.empty(size, np.float32)
    histogram = np.empty((size, bins), np.uint16)

    def work(part: slice) -> None:
        hands = part.stop - part.start
        out = StrengthFeatures(np.zeros(hands), np.zeros(hands), np.zeros((hands, bins), np.int64))
        workspace = runout.next_card_workspace(6, 1, 2)
        runout.sum_over_next_cards(flop_indexer.tables(), turn_indexer.tables(), part.start, 5, workspace, turn, out)
        mean[part], square[part] = out.mean, out.square
        histogram[part] = out.histogram // 2  # each runout is counted once per order of its two cards

    map_chunks(work, size, threads, progress, chunk=4096)
    return StrengthFeatures(mean, square, histogram)


def _preflop_features(bin_of: Array, bins: int, threads: int, progress: ProgressCallback | None) -> StrengthFeatures:
    """Compute the features of the 169 starting hands over all boards."""
    boards, times = canonical_boards(5)
    index = HandIndexer((2,)).index(_HAND_CARDS)

    def work(part: slice) -> tuple[Array, ...]:
        points = strengths_on_boards(boards[part])
        live = points != 65535
        board, hand = np.nonzero(live)
        strength, weight = points[live].astype(np.int64), times[part][board].astype(float)
        group = index[hand]
        return (
            np.bincount(group, weight * strength, minlength=169),
            np.bincount(group, weight * strength**2, minlength=169),
            np.bincount(group * bins + bin_of[strength], weight, minlength=169 * bins),
        )

    results = map_chunks(work, len(boards), threads, progress, chunk=512)
    first, second, count = (sum(a[k] for a in results) for k in range(3))
    histogram = np.asarray(count).reshape(169, bins)
    total = histogram.sum(axis=1)
    mean = np.asarray(first) / (MAX_STRENGTH * total)
    square = np.asarray(second) / (MAX_STRENGTH**2 * total)
    return StrengthFeatures(mean.astype(np.float32), square.astype(np.float32), histogram)


def ochs_features(
    street: str,
    groups: Array | None = None,
    threads: int = 1,
    progress: ProgressCallback | None = None,
    out: Array | None = None,
) -> Array:
    """Compute the strength against each group of starting hands, averaged over the runouts (OCHS).

    Parameters
    ----------
    street
        flop, turn or river.
    groups
        Group 0, 1, … of each of the 169 classes in the order of the grid; the eight published ones by default.
    threads
        Number of threads.
    progress
        Called with the share of the work that is done.
    out
        Array for the result, which may be memory-mapped; float16 on the river and float32 before by default. An integer
        table is scaled from 0 to its largest number.

    Returns
    -------
    Array
        [hands, groups]; the strength against all hands where no hand of a group can be met.

    Raises
    ------
    InputError
        The street is unknown, or groups or `out` have another shape.

    References
    ----------
    .. [1] Johanson, Burch, Valenzano & Bowling, "Evaluating state-space abstractions in extensive-form games",
       AAMAS 2013.

    Examples
    --------
    >>> ochs_features("turn", threads=8).shape  # doctest: +SKIP
    (13960050, 8)
    """
    check_name("street", street, ("flop", "turn", "river"))
    chosen = published_ochs_groups() if groups is None else np.asarray(groups)
    if chosen.shape != (169,) or chosen.min() < 0 or chosen.max() > 126:
        raise InputError(f"groups of shape {chosen.shape}: give a number from 0 for each of the 169 classes")
    count = int(chosen.max()) + 1
    group = chosen[starting_hand_classes()].astype(np.int8)
    indexer, (boards, _) = HandIndexer(street_rounds(street)), canonical_boards(BOARD_CARDS[street])
    if out is None:
        out = np.empty((indexer.size(), count), np.float16 if street == "river" else np.float32)
    elif out.shape != (indexer.size(), count):
        raise InputError(f"out of shape {out.shape}: expected {(indexer.size(), count)}")
    table, scale = out, np.iinfo(out.dtype).max if out.dtype.kind in "iu" else 0

    def work(part: slice) -> None:
        live, deals = live_deals(boards[part])
        shares = ochs_on_boards(boards[part], group)[live] / RUNOUTS[BOARD_CARDS[street]]
        table[indexer.index(deals, check=False)] = np.rint(scale * shares) if scale else shares

    map_chunks(work, len(boards), threads, progress, chunk={"flop": 2, "turn": 16, "river": 64}[street])
    return table


def published_ochs_groups() -> Array:
    """Return the eight groups of starting hands published by Johanson et al. 2013, from 0.

    Returns
    -------
    Array
        int8 [169], in the order of the grid.

    Examples
    --------
    >>> published_ochs_groups()[:3].tolist()
    [7, 6, 6]
    """
    return np.array([int(c) - 1 for c in OCHS_GROUPS.replace("\n", "")], np.int8)


# --- current hand strength ---

MAX_STREETS = 4
StreetPart = TypeVar("StreetPart")


@lru_cache(maxsize=64)
def hand_strength_tables(deck: Deck, board_sizes: tuple[int, ...]) -> HandStrengthTables:
    """Return tables for boards of these numbers of cards, by street.

    Parameters
    ----------
    deck
        The deck.
    board_sizes
        Number of board cards of each street.

    Returns
    -------
    HandStrengthTables
        Tables for kernels, padded to `MAX_STREETS` streets.

    Examples
    --------
    >>> len(hand_strength_tables(FULL_DECK, (0, 3)).ranks)
    4
    """
    return HandStrengthTables(
        deck.cards, deck.hands, pad_streets(rank_tables(deck.hole + cards, deck.rules) for cards in board_sizes)
    )


def pad_streets(parts: Iterable[StreetPart]) -> tuple[StreetPart, ...]:
    """Pad a sequence by street to MAX_STREETS entries: loops are compiled for tuples of one length.

    Parameters
    ----------
    parts
        One entry for each street.

    Returns
    -------
    tuple
        The entries; the last one is repeated.

    Examples
    --------
    >>> pad_streets("ab")
    ('a', 'b', 'b', 'b')
    """
    streets = tuple(parts)
    return streets + streets[-1:] * (MAX_STREETS - len(streets))


def board_wins(board: Iterable[int], deck: Deck = FULL_DECK) -> Array:
    """Count 2 × wins + ties of every hand on a board against all hands that share no card with it.

    Parameters
    ----------
    board
        Card numbers, up to seven with the hole cards.
    deck
        Deck of the game.

    Returns
    -------
    int64 [hands]
        In the order of `deck.hands`; 0 for blocked hands.

    Raises
    ------
    InputError
        If the cards are not in the deck or not different.

    Examples
    --------
    >>> int(board_wins([48, 44, 40, 36, 1]).max())
    1980
    """
    cards = np.array([*board], np.uint8)
    if len(set(cards.tolist())) < len(cards) or not np.isin(cards, deck.cards).all() or deck.hole + len(cards) > 7:
        raise InputError(f"board {cards.tolist()}: different cards of the deck, up to seven with the hole cards")
    tables, workspace = hand_strength_tables(deck, (len(cards),)), showdown_workspace(deck.num_hands)
    kernels.hand_strength_of_all(tables, 0, cards.reshape(1, -1), 0, len(cards), workspace)
    return workspace.twice


def board_hand_strengths(board: Iterable[int], deck: Deck = FULL_DECK) -> Array:
    """Return the share of other hands that every hand beats on a board, ties counting half.

    Parameters
    ----------
    board
        Card numbers; up to seven cards with the hole cards.
    deck
        The deck.

    Returns
    -------
    Array
        float64 [hands]; zero for hands that the board blocks.

    Raises
    ------
    InputError
        A card repeats or is not in the deck, or there are too many.

    Examples
    --------
    >>> board_hand_strengths([42], Deck("JQK", "hs", hole=1)).tolist()
    [0.125, 0.125, 0.0, 1.0, 0.625, 0.625]
    """
    cards = [*board]
    return board_wins(cards, deck) / (2 * comb(len(deck.cards) - len(cards) - deck.hole, deck.hole))


def hand_strengths_on_boards(holes: Array, boards: Array, deck: Deck = FULL_DECK) -> Array:
    """Return the share of other hands that each hand beats on its own board, ties counting half.

    Parameters
    ----------
    holes
        uint8 [n, hole].
    boards
        uint8 [n, cards]; all boards have the same number of cards.
    deck
        The deck.

    Returns
    -------
    Array
        float64 [n].

    Raises
    ------
    InputError
        The shapes do not fit, or there are too many cards.

    Examples
    --------
    >>> hand_strengths_on_boards(np.array([[43]]), np.array([[42]]), Deck("JQK", "hs", hole=1)).tolist()
    [1.0]
    """
    if deck.hole + boards.shape[1] > 7 or len(holes) != len(boards) or holes.shape[1] != deck.hole:
        raise InputError(f"hands {holes.shape} on boards {boards.shape}: one of each, up to seven cards together")
    out, board_cards = np.empty((len(holes), 2), np.int64), boards.shape[1]
    arrays = np.ascontiguousarray(holes, np.uint8), np.ascontiguousarray(boards, np.uint8)
    kernels.hand_strength_batch(hand_strength_tables(deck, (board_cards,)), 0, *arrays, board_cards, out)
    return out[:, 0] / out[:, 1]
