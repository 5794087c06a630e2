"""Perfect-recall percentile buckets of a whole game: all of hold'em, n buckets a street.

On each street the hands that share all their buckets so far are ordered by E[HS²] (or E[HS]) and cut into n parts of equal
weight, as `percentile.percentile_buckets` does it. The strategies of Johanson et al. 2012 (public chance sampling) have
5, 8, 10 and 12 buckets of this kind.

A hand's value does not depend on the order in which the board came, only its sequence of buckets does. So a street keeps
the values of its hands, with boards without order, and for each sequence the values at which it is cut: no table over
ordered deals is made. The cuts come from counts of the values in each sequence, and those from one pass over the boards:
each canonical board stands for its deals, and each way to split it into streets (20 for five cards) is walked for all
hands at once. What came before, such as a flop, is a canonical board of its own street and a permutation of the suits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, combinations, permutations
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from riverboat.abstraction import _recall_kernels as kernels
from riverboat.abstraction.card_abstraction import STREETS, CardAbstraction, StreetBuckets
from riverboat.arrays import Array
from riverboat.cards import features, small_features
from riverboat.cards.deck import FULL_DECK, SUITS, Deck
from riverboat.cards.equity import spread
from riverboat.cards.isomorphism import board_index, canonical_boards
from riverboat.cards.small_features import small_histograms, small_strengths
from riverboat.errors import InputError, unknown

Share: TypeAlias = Callable[[float], None]
Progress: TypeAlias = Callable[[str, float], None]  # the stage, and the share of it that is done

VALUES = ("square", "mean")  # E[HS²], E[HS]
NEVER = 65535  # a cut that no value reaches
SCALE = NEVER - 1
CHUNK = 256  # boards
MOST_COUNTS = 1 << 29
_NO_BOARD = np.zeros((1, 0), np.uint8)


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
        return stored(features.river_strengths(threads, progress) if holdem else small_strengths(deck, last))
    if holdem:
        found = features.features(STREETS[street], 1, threads, progress)
    else:
        found = small_histograms(deck, deals, street, 1)
    return stored(found.square if value == "square" else found.mean)


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
    value, indexer = stored(values), small_features.hands_of(deck, shown[r])
    if len(value) != indexer.size():
        raise InputError(f"{len(value):,} values on street {r}: there are {indexer.size():,} canonical hands")
    sequences, width = before[-1].count if before else 1, int(value.max()) + 1
    if sequences * width > MOST_COUNTS:
        raise InputError(f"street {r}: counts of {width:,} values in {sequences:,} sequences: take fewer buckets")
    if before:
        counts = _counts(before, value, sequences, width, deck, shown[: r + 1], threads, progress)
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
    deck: Deck,
    shown: tuple[int, ...],
    threads: int,
    progress: Share | None,
) -> Array:
    """Deals of each value in each sequence of the street before. int64 [sequences, values]"""
    boards, times = canonical_boards(shown[-1], deck)
    turns = list(permutations(sorted(SUITS.index(s) for s in deck.suits)))
    past = _past(before, deck, shown, turns)
    inner = [np.array(list(combinations(range(shown[-1]), cards)), np.int64) for cards in shown[1:-1]]
    first = np.cumsum([1, *(len(canonical_boards(cards, deck)[0]) for cards in shown[1:-2])])
    rooms: SimpleQueue[Array] = SimpleQueue()
    totals = [np.zeros((sequences, width), np.int64) for _ in range(max(1, threads))]
    for total in totals:
        rooms.put(total)

    def work(part: slice) -> tuple[Array, ...]:
        some = boards[part]
        rows, used = [np.zeros((len(some), 1), np.int64)], [np.zeros((len(some), 1), np.int64)]
        for subsets, offset in zip(inner, first, strict=False):
            found, turn = _recognise(some[:, subsets], deck, turns)
            rows.append(found + offset)
            used.append(turn)
        here, live = _on_boards(value, some, deck)
        total = rooms.get()
        try:
            kernels.count_values(
                past, here, live, np.concatenate(rows, axis=1).astype(np.int32),
                np.concatenate(used, axis=1).astype(np.int8), times[part],
                np.empty((len(past.up), live.shape[1]), np.int32), total,
            )  # fmt: skip
        finally:
            rooms.put(total)
        return ()

    spread(work, len(boards), threads, progress, chunk=CHUNK)
    return np.asarray(sum(totals[1:], totals[0]))


def _past(
    before: Sequence[StreetBuckets], deck: Deck, shown: tuple[int, ...], turns: Sequence[tuple[int, ...]]
) -> kernels.Past:
    """Everything about the streets before that does not depend on the board."""
    # Ways to come to the board: sets of its cards that lay on each street, each set within the next.
    level: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]  # node before, street, cards
    nodes, inner = list(level), [(0, level[0][2])]
    for street, cards in enumerate(shown[1:-1], start=1):
        ways = list(combinations(range(shown[-1]), cards))
        inner += [(street, way) for way in ways]
        base = len(nodes) - len(level)
        level = [
            (base + k, street, way) for k, (_, _, held) in enumerate(level) for way in ways if set(held) <= set(way)
        ]
        nodes += level
    place = {board: k for k, board in enumerate(inner)}
    parts = [street.cuts.shape[1] + 1 for street in before]
    first = np.cumsum([0, *(len(street.cuts) for street in before)])
    cuts = np.full((first[-1], 1 << max(n - 1 for n in parts).bit_length()), NEVER, np.uint16)
    for known, begin in zip(before, first, strict=False):
        cuts[begin : begin + len(known.cuts), : known.cuts.shape[1]] = known.cuts
    values = [
        _on_boards(known.labels[0], canonical_boards(cards, deck)[0] if cards else _NO_BOARD, deck)[0]
        for known, cards in zip(before, shown, strict=False)
    ]
    return kernels.Past(
        up=np.array([up for up, _, _ in nodes], np.int64),
        inner=np.array([place[street, way] for _, street, way in nodes], np.int64),
        parts=np.array([parts[street] for _, street, _ in nodes], np.int64),
        first=np.array([first[street] for _, street, _ in nodes], np.int64),
        leaves=len(nodes) - len(level),
        cuts=cuts,
        values=np.concatenate(values),
        moved=_moved(deck, turns),
    )


def _masks(cards: Array) -> Array:
    """Sets of cards as bits, over the last axis. uint8 [..., cards] -> uint64 [...]"""
    found: Array = np.bitwise_or.reduce(np.uint64(1) << cards.astype(np.uint64), axis=-1)
    return found


def _on_boards(value: Array, boards: Array, deck: Deck) -> tuple[Array, Array]:
    """Values of all hands of the deck on some boards, zero where a card lies there; and the hands without such a card.
    uint16 [boards, hands], int16 [boards, live hands]"""
    live = (_masks(deck.hands) & _masks(boards)[:, None]) == 0
    which, hand = np.nonzero(live)
    deals = np.concatenate([deck.hands[hand], boards[which]], axis=1)
    out = np.zeros(live.shape, np.uint16)
    out[live] = value[small_features.hands_of(deck, boards.shape[1]).index(deals, check=False)]
    return out, hand.astype(np.int16).reshape(len(boards), -1)


def _recognise(boards: Array, deck: Deck, turns: Sequence[tuple[int, ...]]) -> tuple[Array, Array]:
    """The class of each board, and which permutation of the suits makes it the canonical one. int64 [...], both"""
    found = board_index(boards, deck, check=False)
    goal = _masks(canonical_boards(boards.shape[-1], deck)[0])[found]
    return found, (_masks(_turned(deck, turns)[:, boards]) == goal).argmax(axis=0)


def _turned(deck: Deck, turns: Sequence[tuple[int, ...]]) -> Array:
    """What each card becomes under each permutation of the deck's suits. uint8 [permutations, 52]"""
    suits = sorted(SUITS.index(s) for s in deck.suits)
    to = np.tile(np.arange(4), (len(turns), 1))
    to[:, suits] = turns
    cards = np.arange(52)
    return (4 * (cards >> 2) + to[:, cards & 3]).astype(np.uint8)


def _moved(deck: Deck, turns: Sequence[tuple[int, ...]]) -> Array:
    """What each hand becomes under each permutation. int16 [permutations, hands]"""
    masks = _masks(deck.hands)
    order = np.argsort(masks)
    return order[np.searchsorted(masks, _masks(_turned(deck, turns)[:, deck.hands]), sorter=order)].astype(np.int16)
