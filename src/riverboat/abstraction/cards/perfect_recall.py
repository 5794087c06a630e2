"""Perfect-recall percentile buckets of a whole game: all of hold'em, n buckets a street.

On each street the hands that share all their buckets so far are ordered by E[HS²] (or E[HS]) and cut into n parts of equal
weight, as `percentile.percentile_buckets` does it. The strategies of Johanson et al. 2012 (public chance sampling) have
5, 8, 10 and 12 buckets of this kind.

A hand's value does not depend on the order in which the board came, only its sequence of buckets does. So a street keeps
the values of its hands, with boards without order, and for each sequence the values at which it is cut: no table over
ordered deals is made. The cuts come from counts of the values in each sequence, and those from one pass over the boards:
each canonical board stands for its deals and may have been dealt in several ways (20 for five cards as 3, 1, 1). The board
before, such as the turn's, is a canonical board of its own street after a permutation of the suits, so that the sequences of
all hands on it are a row of a table, and no hand is numbered twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, combinations, permutations
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from riverboat.abstraction.cards._kernels import recall as kernels
from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction, StreetBuckets
from riverboat.cards.deck import FULL_DECK, SUITS, Deck
from riverboat.cards.equity.equities import spread
from riverboat.cards.features import small_deck_features, street_features
from riverboat.cards.features.small_deck_features import small_histograms, small_strengths
from riverboat.cards.isomorphism import board_index, canonical_boards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown

Share: TypeAlias = Callable[[float], None]
Progress: TypeAlias = Callable[[str, float], None]  # the stage, and the share of it that is done

VALUES = ("square", "mean")  # E[HS²], E[HS]
NEVER = 65535  # a cut that no value reaches
SCALE = NEVER - 1
CHUNK = 256  # boards
MOST_COUNTS = 1 << 29


def percentile_abstraction(
    n: int | Sequence[int],
    value: str = "square",
    deck: Deck = FULL_DECK,
    deals: tuple[int, ...] = (3, 1, 1),
    values: Sequence[Array | None] | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> CardAbstraction:
    """n buckets for each sequence of the street before, on every street; or a number for each street.

    `values` may bring the values of streets that are known, as `cut_street` takes them, and None for the others.
    """
    shown = _shown(deals)
    parts = (n,) * len(shown) if isinstance(n, int) else tuple(n)
    known: tuple[Array | None, ...] = (None,) * len(shown) if values is None else tuple(values)
    if len(parts) != len(shown) or len(known) != len(shown):
        raise InputError(f"{len(parts)} numbers of buckets and values of {len(known)} streets: there are {len(shown)}")
    streets: list[StreetBuckets] = []
    for r, (count, given) in enumerate(zip(parts, known, strict=True)):
        if given is None:
            given = hand_values(r, value, deck, deals, threads, _stage(progress, f"values of street {r}"))
        stage = _stage(progress, f"cuts of street {r}")
        streets.append(cut_street(streets, given, count, deck, deals, threads, stage, {"value": value}))
    name = f"percentile {value} {'-'.join(map(str, parts))}"
    recipe = {"method": "percentile", "value": value, "n": list(parts)}
    return CardAbstraction(tuple(streets), deals, deck, name=name, recipe=recipe)


def _shown(deals: tuple[int, ...]) -> tuple[int, ...]:
    """Board cards that lie on each street."""
    if not deals or min(deals) < 1:
        raise InputError(f"boards dealt {deals}: give the cards of each street after the first, one or more")
    return tuple(accumulate(deals, initial=0))


def _stage(progress: Progress | None, stage: str) -> Share | None:
    return None if progress is None else partial(progress, stage)


# --- values of the hands ----------------------------------------------------------------------------


def hand_values(
    street: int,
    value: str = "square",
    deck: Deck = FULL_DECK,
    deals: tuple[int, ...] = (3, 1, 1),
    threads: int = 1,
    progress: Share | None = None,
) -> Array:
    """What hands of a street are ordered by, boards without order. uint16 [hands]

    The last street has 2 wins + ties, which has the order of HS and of HS²; earlier ones E[HS²] or E[HS] times 65,534.
    """
    if value not in VALUES:
        raise unknown("value", value, VALUES)
    shown = _shown(deals)
    if not 0 <= street < len(shown):
        raise InputError(f"street {street} of boards dealt {deals}: must be 0 to {len(deals)}")
    holdem = deck == FULL_DECK and deals == (3, 1, 1)
    if street == len(deals):
        last = shown[-1]
        return stored(street_features.river_strengths(threads, progress) if holdem else small_strengths(deck, last))
    if holdem:
        strengths = street_features.features(STREETS[street], 1, threads, progress)
    else:
        strengths = small_histograms(deck, deals, street, 1)
    return stored(strengths.square if value == "square" else strengths.mean)


def stored(values: Array) -> Array:
    """Values as a street keeps them: floats from 0 to 1 times 65,534, whole numbers as they are. uint16 [hands]"""
    values = np.asarray(values)
    most = 1 if values.dtype.kind == "f" else SCALE
    if values.ndim != 1 or values.dtype.kind not in "fiu" or not (values.min() >= 0 and values.max() <= most):
        raise InputError(
            f"values of shape {values.shape} and type {values.dtype}: "
            f"expected one for each hand, from 0 to 1 or whole numbers up to {SCALE:,}"
        )
    if most == SCALE:
        return values.astype(np.uint16, copy=False)
    return np.rint(values.astype(np.float64) * SCALE).astype(np.uint16)


# --- cuts -------------------------------------------------------------------------------------------


def cut_street(
    before: Sequence[StreetBuckets],
    values: Array,
    n: int,
    deck: Deck = FULL_DECK,
    deals: tuple[int, ...] = (3, 1, 1),
    threads: int = 1,
    progress: Share | None = None,
    facts: Mapping[str, Any] | None = None,
) -> StreetBuckets:
    """The street after those `before`, which must be of this kind, with n buckets for each of their last sequences.

    `values` has the value of every canonical hand, boards without order: float from 0 to 1 or whole numbers below 65,535.
    """
    begun = perf_counter()
    shown, r = _shown(deals), len(before)
    if r >= len(shown):
        raise InputError(f"{r} streets before: boards dealt {deals} have {len(shown)} streets in all")
    if n < 2:
        raise InputError(f"n={n} buckets: must be at least 2")
    for k, street in enumerate(before):
        if len(street.cuts) * (street.cuts.shape[1] + 1) != street.count or len(street.labels) != 1:
            raise InputError(f"street {k} before: {street.count} buckets without cuts; take what `cut_street` gives")
    value, indexer = stored(values), small_deck_features.hands_of(deck, shown[r])
    if len(value) != indexer.size():
        raise InputError(f"{len(value):,} values on street {r}: there are {indexer.size():,} canonical hands")
    sequences, width = before[-1].count if before else 1, int(value.max()) + 1
    if sequences * width > MOST_COUNTS:
        raise InputError(f"street {r}: counts of {width:,} values in {sequences:,} sequences: take fewer buckets")
    if before:
        counts = _counts(before, value, sequences, width, _Game(deck, shown), threads, progress)
    else:
        counts = np.bincount(value, indexer.count(np.arange(indexer.size())), width).astype(np.int64)[None]
    cuts, sizes = cuts_of(counts, n)
    filled = sizes[sizes > 0] * len(sizes) / sizes.sum()
    known = {
        "method": "percentile",
        "n": n,
        "sequences": len(sizes),
        "filled": len(filled),
        "least": float(filled.min()),  # weights of filled buckets, 1 for an equal share
        "most": float(filled.max()),
        "seconds": perf_counter() - begun,
    }
    return StreetBuckets(len(sizes), value[None], cuts=cuts, sizes=sizes, facts=known | dict(facts or {}))


def cuts_of(counts: Array, n: int) -> tuple[Array, Array]:
    """Where each sequence is cut, and the weights of its parts. int64 [sequences, values] -> uint16 [sequences, n - 1],
    float64 [sequences · n]

    A value goes to the part in which the middle of its weight falls, as in `percentile.percentile_buckets`.
    """
    cuts, sizes = np.full((len(counts), n - 1), NEVER, np.uint16), np.zeros((len(counts), n))
    for sequence, row in enumerate(counts):
        met = np.flatnonzero(row)
        if not len(met):
            continue
        mass = row[met]
        reached = np.cumsum(mass)
        part = np.minimum(n * (2 * reached - mass) // (2 * reached[-1]), n - 1)
        first = np.searchsorted(part, np.arange(1, n))  # the least value of that part or a higher one
        cuts[sequence] = np.r_[met, NEVER][first]
        sizes[sequence] = np.bincount(part, mass, n)
    return cuts, sizes.ravel()


def _counts(
    before: Sequence[StreetBuckets],
    value: Array,
    sequences: int,
    width: int,
    game: _Game,
    threads: int,
    progress: Share | None,
) -> Array:
    """Deals of each value in each sequence of the street before. int64 [sequences, values]"""
    r = len(before)
    known = _sequences(before, game, threads)
    boards, times = game.boards(r)
    rooms: SimpleQueue[Array] = SimpleQueue()
    totals = [np.zeros((sequences, width), np.int64) for _ in range(threads)]
    for total in totals:
        rooms.put(total)

    def work(part: slice) -> tuple[Array, ...]:
        ways, total = _ways(game, r, boards[part], value), rooms.get()
        kernels.count_values(ways, known, game.moved, times[part], total)
        rooms.put(total)
        return ()

    spread(work, len(boards), threads, progress, chunk=CHUNK)
    return np.asarray(sum(totals[1:], totals[0]))


def _sequences(before: Sequence[StreetBuckets], game: _Game, threads: int) -> Array:
    """The last sequence of every hand on every canonical board, for every way in which it may have been dealt.
    uint16 or int32 [boards · ways, hands]"""
    known = np.zeros((1, len(game.deck.hands)), np.uint16 if before[-1].count <= 1 << 16 else np.int32)
    for r, street in enumerate(before):
        known = _extended(known, street, r, game, threads)
    return known


def _extended(known: Array, street: StreetBuckets, r: int, game: _Game, threads: int) -> Array:
    """`_sequences` of a street by those of the street before it."""
    boards, ways = game.boards(r)[0], len(game.ways[r])
    n = street.cuts.shape[1] + 1
    cuts = np.full((len(street.cuts), 1 << (n - 1).bit_length()), NEVER, np.uint16)
    cuts[:, : n - 1] = street.cuts
    out = np.zeros((len(boards) * ways, known.shape[1]), known.dtype)

    def work(part: slice) -> tuple[Array, ...]:
        here = out[part.start * ways : part.stop * ways]
        kernels.extend(_ways(game, r, boards[part], street.labels[0]), known, game.moved, cuts, n, here)
        return ()

    spread(work, len(boards), threads, chunk=CHUNK)
    return out


# --- boards, and the boards before them ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Game:
    """A deck and the cards that lie on each street."""

    deck: Deck
    shown: tuple[int, ...]

    def boards(self, street: int) -> tuple[Array, Array]:
        """Canonical boards and the boards that each stands for. uint8 [boards, cards], int64 [boards]"""
        cards = self.shown[street]
        return canonical_boards(cards, self.deck) if cards else (np.zeros((1, 0), np.uint8), np.ones(1, np.int64))

    @cached_property
    def ways(self) -> list[Array]:
        """For each street, the ways to deal its board: the street of each card. int64 [ways, cards]"""
        tables = [np.zeros((1, 0), np.int64)]
        for street, cards in enumerate(self.shown[1:], start=1):
            fresh = cards - self.shown[street - 1]
            rows = []
            for last in combinations(range(cards), fresh):
                rest = [card for card in range(cards) if card not in last]
                row = np.full((len(tables[-1]), cards), street)
                row[:, rest] = tables[-1]
                rows.append(row)
            tables.append(np.concatenate(rows))
        return tables

    @cached_property
    def turned(self) -> Array:
        """What each card becomes under each permutation of the deck's suits. uint8 [permutations, 52]"""
        suits = sorted(SUITS.index(s) for s in self.deck.suits)
        turns = list(permutations(suits))
        to = np.tile(np.arange(4), (len(turns), 1))
        to[:, suits] = turns
        cards = np.arange(52)
        return (4 * (cards >> 2) + to[:, cards & 3]).astype(np.uint8)

    @cached_property
    def moved(self) -> Array:
        """What each hand becomes under each permutation. int16 [permutations, hands]"""
        masks = _masks(self.deck.hands)
        order = np.argsort(masks)
        places = np.searchsorted(masks, _masks(self.turned[:, self.deck.hands]), sorter=order)
        return order[places].astype(np.int16)


def _masks(cards: Array) -> Array:
    """Sets of cards as bits, over the last axis. uint8 [..., cards] -> uint64 [...]"""
    masks: Array = np.bitwise_or.reduce(np.uint64(1) << cards.astype(np.uint64), axis=-1)
    return masks


def _ways(game: _Game, street: int, boards: Array, value: Array) -> kernels.Ways:
    """What the loops need of some boards of a street, whose canonical hands have these values."""
    hands = game.deck.hands
    live = (_masks(hands) & _masks(boards)[:, None]) == 0
    which, hand = np.nonzero(live)
    deals = np.concatenate([hands[hand], boards[which]], axis=1)
    index = small_deck_features.hands_of(game.deck, boards.shape[1]).index(deals, check=False)
    row, turn = np.zeros((2, len(boards), len(game.ways[street])), np.int64)
    for way, streets in enumerate(game.ways[street]):
        inner = streets < street
        if inner.any():
            row[:, way], turn[:, way] = _before(game, street - 1, boards[:, inner], streets[inner])
    shape = len(boards), -1
    return kernels.Ways(
        hand.astype(np.int16).reshape(shape), value[index].reshape(shape), row.astype(np.int32), turn.astype(np.int8)
    )


def _before(game: _Game, street: int, boards: Array, way: Array) -> tuple[Array, Array]:
    """Rows of `_sequences` for boards that were dealt in one way, and the permutations of the suits that lead there.
    int64 [boards], both"""
    numbers = board_index(boards, game.deck, check=False)
    goal = _masks(game.boards(street)[0])[numbers]
    turn = (_masks(game.turned[:, boards]) == goal).argmax(axis=0)
    # The canonical board has its cards in order: where each card goes tells which way it is there.
    cards = game.turned[turn[:, None], boards]
    place = (cards[:, :, None] > cards[:, None, :]).sum(axis=2)
    base = len(game.shown) ** np.arange(boards.shape[1])
    codes = game.ways[street] @ base
    order = np.argsort(codes)
    which = order[np.searchsorted(codes, (way * base[place]).sum(axis=1), sorter=order)]
    return numbers * len(codes) + which, turn
