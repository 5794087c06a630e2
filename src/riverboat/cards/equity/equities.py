"""Equities: how much of the pot a hand or a range wins when no more bets are made. Exact unless it says otherwise.

Two hands are played out on every runout. Ranges go board by board: all hands are sorted once and one sweep with card removal
gives every hand's share of the other range. More than two players are enumerated where that is feasible, else sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import TypeAlias

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.card_removal import can_be_dealt
from riverboat.cards.deck import FULL_DECK, HAND_CARDS, HANDS, Deck
from riverboat.cards.equity._kernels import runout
from riverboat.cards.equity._kernels import showdown as kernels
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import parse_board, show_cards
from riverboat.cards.ranges import Range
from riverboat.cards.ranking_rules import STANDARD
from riverboat.core.arrays import Array
from riverboat.core.cache import kept
from riverboat.core.cancellation import poll
from riverboat.core.errors import InputError, check_threads, shown, within

Side: TypeAlias = str | Range
Progress: TypeAlias = Callable[[float], None]

MULTIWAY_RUNOUTS = 200_000_000  # showdowns that are still enumerated,
MULTIWAY_COMBINATIONS = 1_000_000  # over at most so many combinations of hands
MAX_SAMPLES = 1_000_000_000
CHUNK = 20_000  # samples in one compiled call
DRAWS = 1000  # for one sample, at most and on average
_CARDS = np.array(HAND_CARDS)
_VERSION = 1


@dataclass(frozen=True)
class Equity:
    """Shares of the pot, one for each player; they sum to one."""

    shares: tuple[float, ...]
    exact: bool
    half_width: tuple[float, ...]  # 95 % confidence, zero where exact
    showdowns: int  # boards, or boards times pairs of hands, or samples
    wins: tuple[int, ...] | None = None  # pots won alone, where single hands are played out
    ties: tuple[int, ...] | None = None  # pots divided
    by_hand: Array | None = None  # float64 [1326]: share of each hand of the first range, NaN where it is not held


def equity(
    *sides: Side,
    board: str | Sequence[int] = "",
    deck: Deck = FULL_DECK,
    threads: int = 1,
    samples: int = 1_000_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Equity:
    """The share of the pot of each hand or range against the others, from a board of none, three, four or five cards.

    `deck` says which cards there are and how hands are ranked: `Deck.of_rules("short")` for short deck.
    """
    known = parse_board(board) if isinstance(board, str) else tuple(int(c) for c in board)
    if len(known) not in (0, 3, 4, 5):
        raise InputError(
            f"board {shown(show_cards(known))} has {len(known)} cards: none, three, four or five are dealt"
        )
    check_threads(threads)
    within("samples", samples, 1, MAX_SAMPLES)
    if not 2 <= len(sides) <= 10:
        raise InputError(f"{len(sides)} hands or ranges: two to ten can be compared")
    foreign = [card for card in known if card not in deck.cards]
    if foreign:
        raise InputError(f"board {shown(show_cards(known))}: {show_cards(foreign[:1])} is not in this deck")
    needed = 2 * len(sides) + 5
    if deck.hole != 2 or needed > len(deck.cards):
        raise InputError(f"deck of {len(deck.cards)} cards: {len(sides)} hands of two and a board need {needed}")
    ranges = [_live(side, known, deck, number) for number, side in enumerate(sides, start=1)]
    held = [np.flatnonzero(weights) for weights in ranges]
    if all(len(h) == 1 for h in held):
        return _hands([int(h[0]) for h in held], known, deck)
    if can_be_dealt(held) is False:
        raise InputError("the ranges cannot be held together: no deal gives every player a hand of its range")
    if len(sides) == 2:
        return _two_ranges(ranges[0], ranges[1], known, deck, threads, progress)
    return _several(ranges, held, known, deck, samples, seed, progress)


def _gone(deck: Deck) -> np.uint64:
    """A bit for each card that is not in the deck."""
    return np.uint64(sum(1 << card for card in range(52) if card not in deck.cards))


def _live(side: Side, board: tuple[int, ...], deck: Deck, number: int) -> Array:
    """A side's weights without the hands that the board blocks or the deck does not have."""
    chosen = Range.parse(side) if isinstance(side, str) else side
    weights = np.array(chosen.weights, float)
    weights[~np.isin(_CARDS, np.setdiff1d(deck.cards, board)).all(axis=1)] = 0.0
    if not weights.sum() > 0:
        where = f"on {show_cards(board)!r}" if board else "in this deck"
        raise InputError(f"hand or range number {number} ({shown(str(side))}): nothing is left of it {where}")
    return weights


def _scratch(players: int) -> tuple[Array, Array, runout.Pots]:
    best, share, square = np.zeros(players, np.uint16), np.zeros(players), np.zeros(players)
    pots = runout.Pots(best, share, square, np.zeros((players, 2), np.int64))
    return np.zeros(52, np.uint8), np.zeros(5, np.int64), pots


def _check_disjoint(hands: Sequence[int], board: Sequence[int]) -> None:
    cards = [int(c) for h in hands for c in _CARDS[h]] + list(board)
    twice = [c for c in cards if cards.count(c) > 1]
    if twice:
        raise InputError(f"card {show_cards(twice[:1])} is dealt twice")


def _hands(hands: list[int], board: tuple[int, ...], cards: Deck) -> Equity:
    _check_disjoint(hands, board)
    known = np.array(board, np.uint8)
    tables, gone = ranking.tables(7, cards.rules), _gone(cards)
    deck, chosen, pots = _scratch(len(hands))
    if len(hands) == 2:
        out = np.zeros(3, np.int64)
        runout.versus(_CARDS[hands[0]], _CARDS[hands[1]], known, gone, tables, deck, chosen, out)
        total = int(out.sum())
        first = (out[0] + out[1] / 2) / total
        return Equity(
            (float(first), float(1 - first)), True, (0.0, 0.0), total,
            (int(out[0]), int(out[2])), (int(out[1]), int(out[1])),
        )  # fmt: skip
    total = runout.multiway(_CARDS[hands], known, gone, tables, 1.0, deck, chosen, pots)
    return Equity(
        tuple((pots.share / total).tolist()), True, (0.0,) * len(hands), int(total),
        tuple(pots.wins[:, 0].tolist()), tuple(pots.wins[:, 1].tolist()),
    )  # fmt: skip


def runouts(board: Sequence[int], deck: Deck = FULL_DECK) -> Array:
    """Every full board that a board can become. uint8 [runouts, 5]"""
    left = [c for c in deck.cards.tolist() if c not in board]
    drawn = list(combinations(left, 5 - len(board)))
    rest = np.array(drawn, np.uint8).reshape(len(drawn), 5 - len(board))
    known = np.broadcast_to(np.array(board, np.uint8), (len(rest), len(board)))
    return np.ascontiguousarray(np.concatenate([known, rest], axis=1))


def _symmetric(weights: Array) -> bool:
    """Whether all suits are alike in a range, so that canonical boards stand for all."""
    ranks, suited = _CARDS >> 2, (_CARDS[:, 0] & 3) == (_CARDS[:, 1] & 3)
    group = ranks[:, 1].astype(int) * 26 + ranks[:, 0] * 2 + suited
    low, high = np.full(338, np.inf), np.full(338, -np.inf)
    np.minimum.at(low, group, weights)
    np.maximum.at(high, group, weights)
    used = high > -np.inf
    return bool(np.all(low[used] == high[used]))


def _two_ranges(
    first: Array, second: Array, board: tuple[int, ...], deck: Deck, threads: int, progress: Progress | None
) -> Equity:
    if not board and _symmetric(first) and _symmetric(second):
        boards, times = canonical_boards(5, deck)
    else:
        boards = runouts(board, deck) if board else _all_boards(deck)
        times = np.ones(len(boards), np.int64)
    won, met = range_shares(second, boards, times.astype(float), threads, progress, deck.rules)
    mass = float(first @ met)
    if not mass > 0:
        raise InputError("the two ranges cannot be held together: every pair of hands shares a card")
    share = float(first @ won) / mass
    with np.errstate(divide="ignore", invalid="ignore"):
        by_hand = np.where((first > 0) & (met > 0), won / met, np.nan)
    return Equity((share, 1 - share), True, (0.0, 0.0), len(boards), by_hand=by_hand)


@cache
def _all_boards(deck: Deck) -> Array:
    """All boards, 2,598,960 of 52 cards. uint8 [boards, 5]"""
    return runouts((), deck)


def range_shares(
    weights: Array,
    boards: Array,
    times: Array,
    threads: int = 1,
    progress: Progress | None = None,
    rules: str = STANDARD,
) -> tuple[Array, Array]:
    """What each hand wins of a range and how much of it it meets, summed over boards. float64 [1326] each"""
    tables = ranking.tables(7, rules)

    def work(part: slice) -> tuple[Array, Array]:
        won, met = np.zeros(HANDS), np.zeros(HANDS)
        kernels.range_boards(boards[part], times[part], _CARDS, tables, weights, kernels.scratch(), won, met)
        return won, met

    won, met = np.zeros(HANDS), np.zeros(HANDS)
    for w, m in spread(work, len(boards), threads, progress):
        won += w
        met += m
    return won, met


def spread(
    work: Callable[[slice], tuple[Array, ...]],
    count: int,
    threads: int,
    progress: Progress | None = None,
    chunk: int = 4096,
) -> list[tuple[Array, ...]]:
    """Do the work chunk by chunk on threads; answers come in order, so that sums do not depend on their number."""
    check_threads(threads)
    parts = [slice(k, min(k + chunk, count)) for k in range(0, count, chunk)]
    done: list[tuple[Array, ...]] = []
    with ThreadPoolExecutor(threads) as pool:
        each = map(work, parts) if min(threads, len(parts)) == 1 else pool.map(work, parts)  # one needs no thread
        try:
            for k, answer in enumerate(each, start=1):
                done.append(answer)
                if progress is not None:
                    progress(k / len(parts))
                poll()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # or leaving waits for all parts
            raise
    return done


def _several(
    ranges: list[Array],
    held: list[Array],
    board: tuple[int, ...],
    deck: Deck,
    samples: int,
    seed: int,
    progress: Progress | None,
) -> Equity:
    """More than two players with ranges: every combination where that is feasible, else samples."""
    players = len(ranges)
    left = math.comb(len(deck.cards) - len(board) - 2 * players, 5 - len(board))
    ways = math.prod(len(h) for h in held)
    if ways <= MULTIWAY_COMBINATIONS and ways * left <= MULTIWAY_RUNOUTS:
        return _enumerated(ranges, held, board, deck, progress)
    tables = ranking.tables(7, deck.rules)
    _, _, pots = _scratch(players)
    cumulative = np.cumsum(np.array(ranges), axis=1)
    rng = np.array([np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]], np.uint64)
    done, draws = 0, 0
    while done < samples and draws < DRAWS * (samples + 1000):  # hands that collide are drawn again
        some = min(CHUNK, samples - done)
        draws += runout.sample_multiway(
            _CARDS, cumulative, np.array(board, np.uint8), _gone(deck), some, tables, rng,
            np.zeros((players, 2), np.uint8), pots,
        )  # fmt: skip
        done = round(pots.share.sum())
        if progress is not None:
            progress(max(done / samples, draws / (DRAWS * (samples + 1000))))
    if not done:
        raise InputError(f"the ranges can hardly be held together: {draws:,} draws had hands that share cards")
    mean = pots.share / done
    error = 1.96 * np.sqrt(np.maximum(pots.square / done - mean**2, 0) / done)
    return Equity(tuple(mean.tolist()), False, tuple(error.tolist()), done)


def _enumerated(
    ranges: list[Array], held: list[Array], board: tuple[int, ...], cards_of: Deck, progress: Progress | None
) -> Equity:
    tables, known, gone = ranking.tables(7, cards_of.rules), np.array(board, np.uint8), _gone(cards_of)
    deck, chosen, pots = _scratch(len(ranges))
    total, showdowns = 0.0, 0
    ways = math.prod(len(h) for h in held)
    for k, hands in enumerate(product(*held)):
        if progress is not None:
            progress(k / ways)
        cards = _CARDS[list(hands)].ravel()
        if len(set(cards.tolist())) < len(cards):
            continue
        weight = math.prod(float(r[h]) for r, h in zip(ranges, hands, strict=True))
        boards = runout.multiway(_CARDS[list(hands)], known, gone, tables, weight, deck, chosen, pots)
        total += weight * boards
        showdowns += boards
    if not total > 0:
        raise InputError("the ranges cannot be held together: hands share cards")
    return Equity(tuple((pots.share / total).tolist()), True, (0.0,) * len(ranges), showdowns)


# --- all starting hands against one another -------------------------------------------------------


def hand_classes() -> Array:
    """The class 0 … 168 of every hand, in the order of the 13 × 13 grid: row by row, A first. int16 [1326]"""
    ranks = 12 - (_CARDS >> 2).astype(np.int16)  # 0 is the ace
    high, low = ranks.min(axis=1), ranks.max(axis=1)
    suited = (_CARDS[:, 0] & 3) == (_CARDS[:, 1] & 3)
    numbers: Array = np.where(suited, high * 13 + low, low * 13 + high).astype(np.int16)
    return numbers


def preflop_table(threads: int = 1, progress: Progress | None = None) -> Array:
    """Equity of every class of starting hands against every other, exact; kept on disk. float64 [169, 169]"""
    return kept(f"equity/preflop-{_VERSION}", lambda: {"table": _preflop_table(threads, progress)})["table"]


def _preflop_table(threads: int, progress: Progress | None) -> Array:
    boards, times = canonical_boards(5)
    group, tables = hand_classes(), ranking.tables(7)

    def work(part: slice) -> tuple[Array, ...]:
        twice = np.zeros((169, 169), np.int64)
        below = np.zeros((53, 169), np.int32)
        kernels.class_boards(boards[part], times[part], _CARDS, group, tables, kernels.scratch(), below, twice)
        return (twice,)

    twice = sum(answer[0] for answer in spread(work, len(boards), threads, progress, chunk=2048))
    table: Array = np.asarray(twice) / (2.0 * math.comb(48, 5) * class_pairs())
    return table


def class_pairs() -> Array:
    """Pairs of hands of two classes that share no card. int64 [169, 169]"""
    group = hand_classes()
    a, b = _CARDS[:, 0], _CARDS[:, 1]
    shares = (a[:, None] == a) | (a[:, None] == b) | (b[:, None] == a) | (b[:, None] == b)
    one = np.zeros((HANDS, 169), np.int64)
    one[np.arange(HANDS), group] = 1
    pairs: Array = one.T @ (~shares).astype(np.int64) @ one
    return pairs
