"""What a hand is like, for every canonical hand of a street: the raw material of card abstraction.

River strength is (wins + ties / 2) / 990 against a random hand. Earlier streets have its mean E[HS], its mean square
E[HS²] and its histogram over all runouts; OCHS is the strength against each of several groups of starting hands (Johanson et
al. 2013). Everything is computed board by board: one sort and one sweep give all hands of a board, never hand by hand.

Tables are indexed by `Indexer(rounds)`: (2,) preflop, (2, 3) flop, (2, 4) turn, (2, 5) river.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity._kernels import runout
from riverboat.cards.equity._kernels import showdown as kernels
from riverboat.cards.equity.equities import hand_classes, spread
from riverboat.cards.isomorphism import Indexer, canonical_boards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads, unknown

Progress: TypeAlias = Callable[[float], None]

BOARD_CARDS = {"preflop": 0, "flop": 3, "turn": 4, "river": 5}
FULL = 2 * kernels.MEETS  # a hand that beats everything: strengths are stored as 2 wins + ties
_CARDS = np.array(HAND_CARDS)

# Eight groups of starting hands from the weakest (1) to the big pairs (8), as published by Johanson et al. 2013: rows and
# columns A to 2, pairs on the diagonal, suited above it.
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


@dataclass(frozen=True, eq=False)
class Features:
    """Strength of every canonical hand of a street."""

    street: str
    mean: Array  # float32 [hands]: E[HS]
    square: Array  # float32 [hands]: E[HS²]
    histogram: Array  # uint8 or uint16 [hands, bins]: runouts by river strength


def rounds(street: str) -> tuple[int, ...]:
    """The rounds of cards by which a street's tables are indexed."""
    if street not in BOARD_CARDS:
        raise unknown("street", street, BOARD_CARDS)
    return (2,) if street == "preflop" else (2, BOARD_CARDS[street])


def bin_numbers(bins: int) -> Array:
    """The bin of every stored river strength; equal widths, a strength of one in the last. uint8 [1981]"""
    if not 1 <= bins <= 256:
        raise InputError(f"bins={bins}: must be 1 to 256")
    return np.minimum(np.arange(FULL + 1) * bins // FULL, bins - 1).astype(np.uint8)


def _deals(boards: Array, live: Array) -> Array:
    """Hole cards and board of every live hand on every board. uint8 [deals, 2 + cards]"""
    which, hand = np.nonzero(live)
    return np.concatenate([_CARDS[hand], boards[which]], axis=1)


def river_strengths(threads: int = 1, progress: Progress | None = None) -> Array:
    """2 wins + ties of 1,980, for all 123,156,254 canonical river hands. uint16 [hands]"""
    boards, _ = canonical_boards(5)
    indexer, tables = Indexer((2, 5)), ranking.tables(7)
    out = np.empty(indexer.size(), np.uint16)

    def work(part: slice) -> tuple[Array, ...]:
        here = boards[part]
        strength = np.empty((len(here), 1326), np.uint16)
        kernels.strength_boards(here, _CARDS, tables, kernels.scratch(), np.zeros(52, np.int32), strength)
        live = strength != 65535
        out[indexer.index(_deals(here, live), check=False)] = strength[live]
        return ()

    spread(work, len(boards), threads, progress, chunk=128)
    return out


def features(street: str, bins: int = 50, threads: int = 1, progress: Progress | None = None) -> Features:
    """E[HS], E[HS²] and the histogram of river strength of every canonical hand of a street."""
    check_threads(threads)
    bin_of = bin_numbers(bins)
    if street == "river":
        return _river(bin_of, bins, threads, progress)
    if street == "preflop":
        return _preflop(bin_of, bins, threads, progress)
    indexer = Indexer(rounds(street))
    boards, _ = canonical_boards(BOARD_CARDS[street])
    runouts = {"flop": 1081, "turn": 46}[street]
    size = indexer.size()
    mean, square = np.empty(size, np.float32), np.empty(size, np.float32)
    histogram = np.empty((size, bins), np.uint16 if runouts > 255 else np.uint8)
    tables = ranking.tables(7)

    def work(part: slice) -> tuple[Array, ...]:
        here = boards[part]
        count = np.zeros((len(here), 1326, bins), np.uint16)
        first, second = np.zeros((len(here), 1326), np.int64), np.zeros((len(here), 1326), np.int64)
        kernels.runout_features(
            here, _CARDS, tables, kernels.scratch(), np.zeros(52, np.int32), np.zeros(5, np.uint8), bin_of,
            count, first, second,
        )  # fmt: skip
        live = ~(_CARDS[None, :, :, None] == here[:, None, None, :]).any(axis=(2, 3))
        index = indexer.index(_deals(here, live), check=False)
        mean[index] = first[live] / (FULL * runouts)
        square[index] = second[live] / (FULL**2 * runouts)
        histogram[index] = count[live]
        return ()

    spread(work, len(boards), threads, progress, chunk=4 if street == "flop" else 32)
    return Features(street, mean, square, histogram)


def flop_from_turn(turn: Features, threads: int = 1, progress: Progress | None = None) -> Features:
    """The features of the flop from those of the turn: several times faster than from all runouts, and the same."""
    here, after, bins = Indexer(rounds("flop")), Indexer(rounds("turn")), turn.histogram.shape[1]
    size = here.size()
    mean, square = np.empty(size, np.float32), np.empty(size, np.float32)
    histogram = np.empty((size, bins), np.uint16)
    known = runout.Strengths(turn.mean, turn.square, turn.histogram)

    def work(part: slice) -> tuple[Array, ...]:
        hands = part.stop - part.start
        out = runout.Strengths(np.zeros(hands), np.zeros(hands), np.zeros((hands, bins), np.int64))
        room = runout.NextRoom(
            np.zeros(6, np.uint8), np.zeros(4, np.int64), np.zeros((4, 2), np.int64), np.zeros(52, np.int64)
        )
        runout.sum_next(here.tables(), after.tables(), part.start, 5, room, known, out)
        mean[part], square[part] = out.mean, out.square
        histogram[part] = out.histogram // 2  # two cards come in either order, and are one runout
        return ()

    spread(work, size, threads, progress, chunk=4096)
    return Features("flop", mean, square, histogram)


def _river(bin_of: Array, bins: int, threads: int, progress: Progress | None) -> Features:
    strength = river_strengths(threads, progress)
    mean = strength.astype(np.float32) / FULL
    histogram = np.zeros((0, bins), np.uint8)  # one runout each: the bin of the mean says it all
    return Features("river", mean, mean * mean, histogram)


def _preflop(bin_of: Array, bins: int, threads: int, progress: Progress | None) -> Features:
    """The 169 starting hands over all boards."""
    boards, times = canonical_boards(5)
    tables, indexer = ranking.tables(7), Indexer((2,))
    index = indexer.index(_CARDS)

    def work(part: slice) -> tuple[Array, ...]:
        here = boards[part]
        points = np.empty((len(here), 1326), np.uint16)
        kernels.strength_boards(here, _CARDS, tables, kernels.scratch(), np.zeros(52, np.int32), points)
        live = points != 65535
        which, hand = np.nonzero(live)
        strength, weight = points[live].astype(np.int64), times[part][which].astype(float)
        group = index[hand]
        return (
            np.bincount(group, weight * strength, minlength=169),
            np.bincount(group, weight * strength**2, minlength=169),
            np.bincount(group * bins + bin_of[strength], weight, minlength=169 * bins),
        )

    answers = spread(work, len(boards), threads, progress, chunk=512)
    first, second, count = (sum(a[k] for a in answers) for k in range(3))
    histogram = np.asarray(count).reshape(169, bins)
    total = histogram.sum(axis=1)
    mean = np.asarray(first) / (FULL * total)
    square = np.asarray(second) / (FULL**2 * total)
    return Features("preflop", mean.astype(np.float32), square.astype(np.float32), histogram)


def ochs(
    street: str,
    groups: Array | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    out: Array | None = None,
) -> Array:
    """Strength against each group of starting hands, averaged over the runouts. float [hands, groups]

    `groups` gives the group 0, 1, … of each of the 169 classes in the order of the grid; the eight published ones by
    default. `out` may be a memory-mapped array; without it the table is float16 on the river and float32 before. One of
    whole numbers gets steps from 0 to the largest it can hold.
    """
    if street not in ("flop", "turn", "river"):
        raise unknown("street", street, ("flop", "turn", "river"))
    chosen = published_groups() if groups is None else np.asarray(groups)
    if chosen.shape != (169,) or chosen.min() < 0 or chosen.max() > 126:
        raise InputError(f"groups of shape {chosen.shape}: give a number from 0 for each of the 169 classes")
    count = int(chosen.max()) + 1
    group = chosen[hand_classes()].astype(np.int8)
    indexer, tables = Indexer(rounds(street)), ranking.tables(7)
    boards, _ = canonical_boards(BOARD_CARDS[street])
    runouts = {"flop": 1081, "turn": 46, "river": 1}[street]
    if out is None:
        out = np.empty((indexer.size(), count), np.float16 if street == "river" else np.float32)
    elif out.shape != (indexer.size(), count):
        raise InputError(f"out of shape {out.shape}: expected {(indexer.size(), count)}")
    table, steps = out, np.iinfo(out.dtype).max if out.dtype.kind in "iu" else 0

    def work(part: slice) -> tuple[Array, ...]:
        here = boards[part]
        beaten = np.zeros((len(here), 1326, count))
        kernels.group_boards(
            here, _CARDS, group, tables, kernels.scratch(count), np.zeros(5, np.uint8), np.zeros((1326, count)), beaten
        )
        live = ~(_CARDS[None, :, :, None] == here[:, None, None, :]).any(axis=(2, 3))
        shares = beaten[live] / runouts
        table[indexer.index(_deals(here, live), check=False)] = np.rint(steps * shares) if steps else shares
        return ()

    spread(work, len(boards), threads, progress, chunk={"flop": 2, "turn": 16, "river": 64}[street])
    return table


def published_groups() -> Array:
    """The eight published groups, from 0. int8 [169]"""
    return np.array([int(c) - 1 for c in OCHS_GROUPS.replace("\n", "")], np.int8)
