"""Equities: the share of the pot that a hand or a range wins when no more bets are made. Exact unless stated otherwise.

Two hands are compared on every runout. Ranges are evaluated board by board: hands are sorted once, and one pass with
card removal gives every hand's share against the other range. More than two players are enumerated if that is feasible,
else sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import TypeAlias, TypeVar

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, NUM_HANDS, STANDARD_RULES, Deck
from riverboat.cards.equity._kernels import runout
from riverboat.cards.equity._kernels import showdown as kernels
from riverboat.cards.equity._kernels.showdown_values import ShowdownWorkspace
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import format_cards, parse_board
from riverboat.cards.ranges import Range, can_deal_disjoint_hands, class_extremes
from riverboat.compiled.simd import SIMD_WIDTH
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.cache import cached_arrays
from riverboat.core.cancellation import check_cancellation
from riverboat.core.errors import InputError, check_threads, short_repr
from riverboat.core.parallel import map_in_order
from riverboat.core.validation import check_integer

HandOrRange: TypeAlias = str | Range
ProgressCallback: TypeAlias = Callable[[float], None]
T = TypeVar("T")

# Limits above which the equities of several ranges are sampled: showdowns, and combinations of hands.
MAX_ENUMERATED_SHOWDOWNS = 200_000_000
MAX_ENUMERATED_COMBINATIONS = 1_000_000
MAX_SAMPLES = 1_000_000_000
SAMPLES_PER_CALL = 20_000  # samples per compiled call
MAX_DRAWS_PER_SAMPLE = 1000  # sampling stops when a sample takes more draws than this on average
_HAND_CARDS = np.array(HAND_CARDS)
_VERSION = 1


@dataclass(frozen=True)
class Equity:
    """Shares of the pot, one per player; they sum to one.

    Attributes
    ----------
    shares
        Share of each player.
    exact
        Whether all runouts were enumerated.
    half_width
        Half-widths of the 95 % confidence intervals, zero where exact.
    showdowns
        Boards, or boards times pairs of hands, or samples.
    wins
        Pots won alone by each player, for single hands.
    ties
        Pots split by each player, for single hands.
    by_hand
        float64 [1326]: share of each hand of the first of two ranges, NaN for others.

    Examples
    --------
    >>> equity("AsAh", "KsKh", board="QsJh2h8c3d").shares
    (1.0, 0.0)
    """

    shares: tuple[float, ...]
    exact: bool
    half_width: tuple[float, ...]  # 95 % confidence, zero where exact
    showdowns: int  # boards, or boards times pairs of hands, or samples
    wins: tuple[int, ...] | None = None  # pots won alone, for single hands
    ties: tuple[int, ...] | None = None  # pots split
    by_hand: Array | None = None  # float64 [1326]: share of each hand of the first range, NaN for others


def equity(
    *sides: HandOrRange,
    board: str | Sequence[int] = "",
    deck: Deck = FULL_DECK,
    threads: int = 1,
    samples: int = 1_000_000,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    dead: Sequence[int] = (),
) -> Equity:
    """Compute the equity of each hand or range against the others.

    Parameters
    ----------
    sides
        Two to ten hands or ranges.
    board
        Board of none, three, four or five cards.
    deck
        Cards and hand rules: `Deck.for_rules("short")` for short deck.
    threads
        Threads that evaluate boards. Results do not depend on it.
    samples
        Number of samples if several ranges cannot be enumerated.
    seed
        Seed of the samples.
    progress
        Called with the share of the work that is done.
    dead
        Cards that cannot be dealt, such as those of players without a share in this pot. Only for hands.

    Returns
    -------
    Equity
        Shares of the pot, whether they are exact, and the 95 % half-widths.

    Raises
    ------
    InputError
        A range has no hand that the board allows, hands share cards, or a number is out of range.

    Examples
    --------
    >>> result = equity("AsKs", "QdQc", board="QsJh2s")
    >>> [round(share, 4) for share in result.shares], result.showdowns
    ([0.3293, 0.6707], 990)
    """
    known = parse_board(board) if isinstance(board, str) else tuple(int(c) for c in board)
    if len(known) not in (0, 3, 4, 5):
        raise InputError(
            f"board {short_repr(format_cards(known))} has {len(known)} cards: none, three, four or five are dealt"
        )
    check_threads(threads)
    check_integer("samples", samples, 1, MAX_SAMPLES)
    if not 2 <= len(sides) <= 10:
        raise InputError(f"{len(sides)} hands or ranges: two to ten can be compared")
    foreign = [card for card in known if card not in deck.cards]
    if foreign:
        raise InputError(f"board {short_repr(format_cards(known))}: {format_cards(foreign[:1])} is not in this deck")
    needed = 2 * len(sides) + 5
    if deck.hole != 2 or needed > len(deck.cards):
        raise InputError(f"deck of {len(deck.cards)} cards: {len(sides)} hands of two and a board need {needed}")
    ranges = [_live_weights(side, known, deck, number) for number, side in enumerate(sides, start=1)]
    held = [np.flatnonzero(weights) for weights in ranges]
    if all(len(h) == 1 for h in held):
        return _equity_of_hands([int(h[0]) for h in held], known, deck, dead)
    if dead:
        raise InputError(f"dead {format_cards(dead)}: dead cards can be given for hands only, not for ranges")
    if can_deal_disjoint_hands(held) is False:
        raise InputError("the ranges are incompatible: no deal gives every player a hand of its range")
    if len(sides) == 2:
        return _equity_of_two_ranges(ranges[0], ranges[1], known, deck, threads, progress)
    return _equity_of_several_ranges(ranges, held, known, deck, samples, seed, progress)


def _missing_cards(deck: Deck) -> np.uint64:
    """Return the bits of the cards that are not in the deck."""
    return np.uint64(sum(1 << card for card in range(52) if card not in deck.cards))


def _live_weights(side: HandOrRange, board: tuple[int, ...], deck: Deck, number: int) -> Array:
    """Return a side's weights without hands that the board blocks or the deck does not have."""
    chosen = Range.parse(side) if isinstance(side, str) else side
    weights = np.array(chosen.weights, float)
    weights[~np.isin(_HAND_CARDS, np.setdiff1d(deck.cards, board)).all(axis=1)] = 0.0
    if not weights.sum() > 0:
        where = f"on {format_cards(board)!r}" if board else "in this deck"
        raise InputError(f"hand or range number {number} ({short_repr(str(side))}): no hand of it is possible {where}")
    return weights


def _scratch(players: int) -> tuple[Array, Array, runout.PotShares]:
    best, share, square = np.zeros(players, np.uint16), np.zeros(players), np.zeros(players)
    pots = runout.PotShares(best, share, square, np.zeros((players, 2), np.int64))
    return np.zeros(52, np.uint8), np.zeros(5, np.int64), pots


def _check_disjoint(hands: Sequence[int], board: Sequence[int]) -> None:
    cards = [int(c) for h in hands for c in _HAND_CARDS[h]] + list(board)
    twice = [c for c in cards if cards.count(c) > 1]
    if twice:
        raise InputError(f"card {format_cards(twice[:1])} is dealt twice")


def _equity_of_hands(hands: list[int], board: tuple[int, ...], cards: Deck, dead: Sequence[int] = ()) -> Equity:
    _check_disjoint(hands, (*board, *dead))
    known = np.array(board, np.uint8)
    tables, missing = ranking.rank_tables(7, cards.rules), _missing_cards(cards)
    missing |= np.uint64(sum(1 << card for card in dead))
    deck, chosen, pots = _scratch(len(hands))
    if len(hands) == 2:
        out = np.zeros(3, np.int64)
        runout.enumerate_heads_up(
            _HAND_CARDS[hands[0]], _HAND_CARDS[hands[1]], known, missing, tables, deck, chosen, out
        )
        total = int(out.sum())
        first = (out[0] + out[1] / 2) / total
        return Equity(
            (float(first), float(1 - first)), True, (0.0, 0.0), total,
            (int(out[0]), int(out[2])), (int(out[1]), int(out[1])),
        )  # fmt: skip
    total = runout.enumerate_multiway(_HAND_CARDS[hands], known, missing, tables, 1.0, deck, chosen, pots)
    return Equity(
        tuple((pots.share / total).tolist()), True, (0.0,) * len(hands), int(total),
        tuple(pots.wins[:, 0].tolist()), tuple(pots.wins[:, 1].tolist()),
    )  # fmt: skip


def runouts(board: Sequence[int], deck: Deck = FULL_DECK, cards: int = 5) -> Array:
    """Return every full board that extends a board.

    Parameters
    ----------
    board
        Card numbers.
    deck
        The deck.
    cards
        Number of cards of a full board.

    Returns
    -------
    Array
        uint8 [runouts, cards], the given cards first.

    Examples
    --------
    >>> runouts([51, 47, 43, 39]).shape
    (48, 5)
    """
    left = [c for c in deck.cards.tolist() if c not in board]
    drawn = list(combinations(left, cards - len(board)))
    rest = np.array(drawn, np.uint8).reshape(len(drawn), cards - len(board))
    known = np.broadcast_to(np.array(board, np.uint8), (len(rest), len(board)))
    return np.ascontiguousarray(np.concatenate([known, rest], axis=1))


def _equity_of_two_ranges(
    first: Array, second: Array, board: tuple[int, ...], deck: Deck, threads: int, progress: ProgressCallback | None
) -> Equity:
    if not board and all(np.array_equal(*class_extremes(weights)) for weights in (first, second)):
        # both ranges treat all suits alike: canonical boards are enough
        boards, times = canonical_boards(5, deck)
    else:
        boards = runouts(board, deck) if board else _all_boards(deck)
        times = np.ones(len(boards), np.int64)
    won, met = range_wins(second, boards, times.astype(float), threads, progress, deck.rules)
    mass = float(first @ met)
    if not mass > 0:
        raise InputError("the two ranges are incompatible: every pair of hands shares a card")
    share = float(first @ won) / mass
    by_hand = np.where(first > 0, safe_divide(won, met, np.nan), np.nan)
    return Equity((share, 1 - share), True, (0.0, 0.0), len(boards), by_hand=by_hand)


@cache
def _all_boards(deck: Deck) -> Array:
    """Return all boards of five cards, 2,598,960 for 52 cards. uint8 [boards, 5]"""
    return runouts((), deck)


def range_wins(
    weights: Array,
    boards: Array,
    board_weights: Array,
    threads: int = 1,
    progress: ProgressCallback | None = None,
    rules: str = STANDARD_RULES,
) -> tuple[Array, Array]:
    """Return the weight of a range that each hand beats and that it can meet, summed over boards.

    Parameters
    ----------
    weights
        float64 [1326]: the opponent's range.
    boards
        uint8 [boards, 5].
    board_weights
        float64 [boards].
    threads
        Number of threads. Results do not depend on it.
    progress
        Called with the share of the work that is done.
    rules
        A name of `HAND_RULES`.

    Returns
    -------
    tuple of Array
        Weight beaten, ties counting half, and weight met, float64 [1326] each.

    Notes
    -----
    Hands are sorted once a board; one pass with card removal takes O(n) (Johanson et al. 2011).

    Examples
    --------
    >>> board = np.array([parse_board("QsJh2h8c3d")], np.uint8)
    >>> won, met = range_wins(Range.parse("AA").weights, board, np.ones(1))
    >>> int(met.max())
    6
    """
    tables = ranking.rank_tables(7, rules)

    def work(part: slice) -> tuple[Array, Array]:
        won, met = np.zeros(NUM_HANDS), np.zeros(NUM_HANDS)
        kernels.range_wins_on_boards(
            boards[part], board_weights[part], tables, weights, showdown_workspace(NUM_HANDS), won, met
        )
        return won, met

    won, met = np.zeros(NUM_HANDS), np.zeros(NUM_HANDS)
    for w, m in map_chunks(work, len(boards), threads, progress):
        won += w
        met += m
    return won, met


def map_chunks(
    work: Callable[[slice], T],
    count: int,
    threads: int,
    progress: ProgressCallback | None = None,
    chunk: int = 4096,
) -> list[T]:
    """Map work over chunks on threads; results come in order, so that sums do not depend on the number of threads.

    Parameters
    ----------
    work
        Called with a slice of the items.
    count
        Number of items.
    threads
        Number of threads.
    progress
        Called with the share of the chunks that are done.
    chunk
        Items of a chunk.

    Returns
    -------
    list
        Results of the chunks, in order.

    Examples
    --------
    >>> map_chunks(lambda part: part.stop - part.start, 10, 2, chunk=4)
    [4, 4, 2]
    """
    check_threads(threads)
    parts = [slice(k, min(k + chunk, count)) for k in range(0, count, chunk)]
    done: list[T] = []
    for result in map_in_order(work, parts, max(1, min(threads, len(parts)))):  # a single chunk needs no thread
        done.append(result)
        if progress is not None:
            progress(len(done) / len(parts))
        check_cancellation()
    return done


def _equity_of_several_ranges(
    ranges: list[Array],
    held: list[Array],
    board: tuple[int, ...],
    deck: Deck,
    samples: int,
    seed: int,
    progress: ProgressCallback | None,
) -> Equity:
    """Compute the equities of more than two ranges: by enumeration if feasible, else by sampling."""
    players = len(ranges)
    num_runouts = math.comb(len(deck.cards) - len(board) - 2 * players, 5 - len(board))
    num_combinations = math.prod(len(h) for h in held)
    if num_combinations <= MAX_ENUMERATED_COMBINATIONS and num_combinations * num_runouts <= MAX_ENUMERATED_SHOWDOWNS:
        return _enumerate_ranges(ranges, held, board, deck, progress)
    tables = ranking.rank_tables(7, deck.rules)
    _, _, pots = _scratch(players)
    cumulative = np.cumsum(np.array(ranges), axis=1)
    rng = np.array([np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]], np.uint64)
    done, draws = 0, 0
    while done < samples and draws < MAX_DRAWS_PER_SAMPLE * (samples + 1000):  # hands that share cards are drawn again
        count = min(SAMPLES_PER_CALL, samples - done)
        draws += runout.sample_multiway(
            _HAND_CARDS, cumulative, np.array(board, np.uint8), _missing_cards(deck), count, tables, rng,
            np.zeros((players, 2), np.uint8), pots,
        )  # fmt: skip
        done = round(pots.share.sum())
        if progress is not None:
            progress(max(done / samples, draws / (MAX_DRAWS_PER_SAMPLE * (samples + 1000))))
    if not done:
        raise InputError(f"the ranges are nearly incompatible: hands shared cards in all of {draws:,} draws")
    mean = pots.share / done
    error = 1.96 * np.sqrt(np.maximum(pots.square / done - mean**2, 0) / done)
    return Equity(tuple(mean.tolist()), False, tuple(error.tolist()), done)


def _enumerate_ranges(
    ranges: list[Array], held: list[Array], board: tuple[int, ...], cards_of: Deck, progress: ProgressCallback | None
) -> Equity:
    tables, known, missing = ranking.rank_tables(7, cards_of.rules), np.array(board, np.uint8), _missing_cards(cards_of)
    deck, chosen, pots = _scratch(len(ranges))
    total, showdowns = 0.0, 0
    num_combinations = math.prod(len(h) for h in held)
    for k, hands in enumerate(product(*held)):
        if progress is not None:
            progress(k / num_combinations)
        cards = _HAND_CARDS[list(hands)].ravel()
        if len(set(cards.tolist())) < len(cards):
            continue
        weight = math.prod(float(r[h]) for r, h in zip(ranges, hands, strict=True))
        boards = runout.enumerate_multiway(_HAND_CARDS[list(hands)], known, missing, tables, weight, deck, chosen, pots)
        total += weight * boards
        showdowns += boards
    if not total > 0:
        raise InputError("the ranges are incompatible: hands share cards")
    return Equity(tuple((pots.share / total).tolist()), True, (0.0,) * len(ranges), showdowns)


# --- classes of starting hands ---


def starting_hand_classes() -> Array:
    """Return the class of every hand, in the order of the 13 × 13 grid: row by row, A first.

    Returns
    -------
    Array
        int16 [1326]: 0 to 168.

    Examples
    --------
    >>> int(starting_hand_classes()[1325])  # AsAh
    0
    """
    return CLASS_OF_HAND.astype(np.int16)


def showdown_workspace(hands: int, width: int = 1) -> ShowdownWorkspace:
    """Allocate scratch memory for one board.

    Parameters
    ----------
    hands
        Number of hands.
    width
        Number of ranges side by side: 1, or `SIMD_WIDTH`.

    Returns
    -------
    ShowdownWorkspace
        Zeros.

    Examples
    --------
    >>> showdown_workspace(1326).order.shape
    (1326,)
    """
    return ShowdownWorkspace(
        np.zeros(hands, np.int32), np.zeros(hands, np.int32), np.zeros(257, np.int64), np.zeros(hands, np.uint16),
        np.zeros(hands, np.uint8), np.zeros(hands, np.uint8), np.zeros(hands, np.uint16),
        np.zeros(hands * width), np.zeros(hands * width), np.zeros(53 * width),
        np.zeros(hands, np.int64), np.zeros(5, np.uint8), np.zeros(52, np.uint8), np.zeros(5, np.int64),
    )  # fmt: skip


def preflop_equities(threads: int = 1, progress: ProgressCallback | None = None) -> Array:
    """Return the exact equity of every class of starting hands against every other, from the cache.

    Parameters
    ----------
    threads
        Threads that compute the table if it is not cached.
    progress
        Called with the share of the work that is done.

    Returns
    -------
    Array
        float64 [169, 169], in the order of the grid; the average over pairs of hands that share no card.

    Examples
    --------
    >>> preflop_equities().shape  # doctest: +SKIP
    (169, 169)
    """
    name = f"equity/preflop-{_VERSION}"
    return cached_arrays(name, lambda: {"table": _compute_preflop_equities(threads, progress)})["table"]


def _compute_preflop_equities(threads: int, progress: ProgressCallback | None) -> Array:
    boards, times = canonical_boards(5)
    group, tables = starting_hand_classes(), ranking.rank_tables(7)

    def work(part: slice) -> Array:
        twice, workspace = np.zeros((169, 11 * SIMD_WIDTH)), showdown_workspace(NUM_HANDS, SIMD_WIDTH)
        kernels.class_wins_on_boards(boards[part], times[part], group, tables, workspace, twice.reshape(-1))
        return twice[:, :169]

    twice = np.sum(map_chunks(work, len(boards), threads, progress, chunk=2048), axis=0)
    return np.asarray(twice / (2.0 * math.comb(48, 5) * count_class_pairs()))


def count_class_pairs() -> Array:
    """Count the pairs of hands of two classes that share no card.

    Returns
    -------
    Array
        int64 [169, 169], in the order of the grid.

    Examples
    --------
    >>> int(count_class_pairs()[0, 0])  # aces against aces
    6
    """
    group = CLASS_OF_HAND
    a, b = _HAND_CARDS[:, 0], _HAND_CARDS[:, 1]
    share_card = (a[:, None] == a) | (a[:, None] == b) | (b[:, None] == a) | (b[:, None] == b)
    one_hot = np.eye(169, dtype=np.int64)[group]
    return np.asarray(one_hot.T @ (~share_card).astype(np.int64) @ one_hot)
