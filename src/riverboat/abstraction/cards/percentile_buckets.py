"""Percentile buckets: hands sorted by a strength value and cut into parts of equal weight.

Perfect-recall percentile buckets of a whole game: on each street the hands with the same sequence of buckets so far are
sorted by E[HS²] (or E[HS]) and cut into n parts of equal weight, as in `percentile_buckets`. The strategies of Johanson
et al. 2012 (public chance sampling) have 5, 8, 10 and 12 buckets of this kind.

A hand's value does not depend on the order of the board, only its sequence of buckets does. So a street stores the
values of its hands with unordered boards, and the cuts of each sequence; no table over ordered deals is needed. The
cuts come from counts of the values in each sequence, which take one pass over the boards. Each canonical board
represents its deals and may have been dealt in several orders (20 for five cards as 3, 1, 1). The previous board, such
as the turn, is a canonical board of its own street after a permutation of the suits. So the sequences of all hands on
it are a row of a table, and no hand is indexed twice.

The module also has strength buckets for games with a showdown on their second street, such as flop hold'em.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, combinations
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from riverboat.abstraction.cards import _kernels as kernels
from riverboat.abstraction.cards.card_abstraction import (
    STREETS,
    CardAbstraction,
    StreetBuckets,
    lossless_abstraction,
)
from riverboat.cards.deck import FULL_DECK, Deck, card_masks
from riverboat.cards.equity.equities import ProgressCallback, map_chunks
from riverboat.cards.features import hand_features, small_deck_features
from riverboat.cards.features.small_deck_features import small_deck_strengths
from riverboat.cards.isomorphism import HandIndexer, board_index, canonical_boards, suit_permutations
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name

PercentileProgress: TypeAlias = Callable[[str, float], None]  # the stage, and the completed share of it

STRENGTH_VALUES = ("square", "mean")  # E[HS²], E[HS]
UNREACHED_CUT = 65535  # a cut that no value reaches
VALUE_SCALE = UNREACHED_CUT - 1
CHUNK_BOARDS = 256
MAX_COUNTS = 1 << 29


def percentile_abstraction(
    n: int | Sequence[int],
    value: str = "square",
    deck: Deck = FULL_DECK,
    deals: tuple[int, ...] = (3, 1, 1),
    values: Sequence[Array | None] | None = None,
    threads: int = 1,
    progress: PercentileProgress | None = None,
) -> CardAbstraction:
    """Build a perfect-recall abstraction: each bucket of the previous street is cut into n buckets of equal weight.

    `n` may be given by street. `value` is `square` (sort by E[HS²]) or `mean` (E[HS]). `values` may contain known
    values of the hands of streets, as for `cut_street`, and None for the others.
    """
    shown = _board_sizes(deals)
    parts = (n,) * len(shown) if isinstance(n, int) else tuple(n)
    street_values: tuple[Array | None, ...] = (None,) * len(shown) if values is None else tuple(values)
    if len(parts) != len(shown) or len(street_values) != len(shown):
        raise InputError(
            f"{len(parts)} numbers of buckets and values of {len(street_values)} streets, but there are {len(shown)} streets"
        )
    streets: list[StreetBuckets] = []
    for r, (count, hand_value) in enumerate(zip(parts, street_values, strict=True)):
        if hand_value is None:
            hand_value = hand_values(r, value, deck, deals, threads, _stage_progress(progress, f"values of street {r}"))
        stage = _stage_progress(progress, f"cuts of street {r}")
        streets.append(cut_street(streets, hand_value, count, deck, deals, threads, stage, {"value": value}))
    name = f"percentile {value} {'-'.join(map(str, parts))}"
    recipe = {"method": "percentile", "value": value, "n": list(parts)}
    return CardAbstraction(tuple(streets), deals, deck, name=name, recipe=recipe)


def _board_sizes(deals: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of board cards on each street."""
    if not deals or min(deals) < 1:
        raise InputError(f"boards dealt {deals}: each street after the first needs one card or more")
    return tuple(accumulate(deals, initial=0))


def _stage_progress(progress: PercentileProgress | None, stage: str) -> ProgressCallback | None:
    return None if progress is None else partial(progress, stage)


# --- values of hands --------------------------------------------------------------------------------


def hand_values(
    street: int,
    value: str = "square",
    deck: Deck = FULL_DECK,
    deals: tuple[int, ...] = (3, 1, 1),
    threads: int = 1,
    progress: ProgressCallback | None = None,
) -> Array:
    """Compute the values by which the hands of a street are sorted, with unordered boards. uint16 [hands]

    The last street has 2 wins + ties, which sorts like HS and HS². Earlier streets have E[HS²] or E[HS] times 65,534.
    """
    check_name("value", value, STRENGTH_VALUES)
    shown = _board_sizes(deals)
    if not 0 <= street < len(shown):
        raise InputError(f"street {street} of boards dealt {deals}: must be 0 to {len(deals)}")
    holdem = deck == FULL_DECK and deals == (3, 1, 1)
    if street == len(deals):
        last = hand_features.river_strengths(threads, progress) if holdem else small_deck_strengths(deck, shown[-1])
        return quantize_values(last)
    strengths = (
        hand_features.street_features(STREETS[street], 1, threads, progress)
        if holdem
        else small_deck_features.small_deck_features(deck, deals, street, 1)
    )
    return quantize_values(strengths.square if value == "square" else strengths.mean)


def quantize_values(values: Array) -> Array:
    """Quantize values: floats from 0 to 1 are scaled by 65,534, whole numbers stay unchanged. uint16 [hands]"""
    values = np.asarray(values)
    max_value = 1 if values.dtype.kind == "f" else VALUE_SCALE
    if values.ndim != 1 or values.dtype.kind not in "fiu" or not (values.min() >= 0 and values.max() <= max_value):
        raise InputError(
            f"values of shape {values.shape} and type {values.dtype}: "
            f"expected one for each hand, from 0 to 1 or whole numbers up to {VALUE_SCALE:,}"
        )
    if max_value == VALUE_SCALE:
        return values.astype(np.uint16, copy=False)
    return np.rint(values.astype(np.float64) * VALUE_SCALE).astype(np.uint16)


# --- cuts -------------------------------------------------------------------------------------------


def cut_street(
    previous_streets: Sequence[StreetBuckets],
    values: Array,
    n: int,
    deck: Deck = FULL_DECK,
    deals: tuple[int, ...] = (3, 1, 1),
    threads: int = 1,
    progress: ProgressCallback | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> StreetBuckets:
    """Cut the street after `previous_streets` into n buckets of equal weight for each bucket sequence so far.

    The previous streets must be percentile buckets as well. `values` has the value of every canonical hand with
    unordered boards: floats from 0 to 1, or whole numbers below 65,535.
    """
    started = perf_counter()
    shown, r = _board_sizes(deals), len(previous_streets)
    if r >= len(shown):
        raise InputError(f"{r} previous streets: boards dealt {deals} have {len(shown)} streets in all")
    if n < 2:
        raise InputError(f"n={n} buckets: must be at least 2")
    for k, street in enumerate(previous_streets):
        if len(street.cuts) * (street.cuts.shape[1] + 1) != street.count or len(street.labels) != 1:
            raise InputError(
                f"previous street {k}: {street.count} buckets without cuts; use the result of `cut_street`"
            )
    value, indexer = quantize_values(values), small_deck_features.hand_indexer(deck, shown[r])
    if len(value) != indexer.size():
        raise InputError(f"{len(value):,} values on street {r}: there are {indexer.size():,} canonical hands")
    sequences, width = previous_streets[-1].count if previous_streets else 1, int(value.max()) + 1
    if sequences * width > MAX_COUNTS:
        raise InputError(f"street {r}: counts of {width:,} values in {sequences:,} sequences: use fewer buckets")
    if previous_streets:
        counts = _count_values(previous_streets, value, sequences, width, _BoardOrders(deck, shown), threads, progress)
    else:
        counts = np.bincount(value, indexer.count(np.arange(indexer.size())), width).astype(np.int64)[None]
    cuts, sizes = percentile_cuts(counts, n)
    filled = sizes[sizes > 0] * len(sizes) / sizes.sum()
    statistics = {
        "method": "percentile",
        "n": n,
        "sequences": len(sizes),
        "filled": len(filled),
        "least": float(filled.min()),  # weights of non-empty buckets, 1 for an equal share
        "most": float(filled.max()),
        "seconds": perf_counter() - started,
    }
    return StreetBuckets(len(sizes), value[None], cuts=cuts, sizes=sizes, metadata=statistics | dict(metadata or {}))


def percentile_cuts(counts: Array, n: int) -> tuple[Array, Array]:
    """Compute the cuts of each bucket sequence and the weights of its n parts, from counts of values.

    int64 [sequences, values] -> uint16 [sequences, n - 1], float64 [sequences · n]. A value belongs to the part that
    contains the middle of its weight, as in `percentile_buckets`.
    """
    cuts, sizes = np.full((len(counts), n - 1), UNREACHED_CUT, np.uint16), np.zeros((len(counts), n))
    for sequence, row in enumerate(counts):
        present = np.flatnonzero(row)
        if not len(present):
            continue
        mass = row[present]
        cumulative = np.cumsum(mass)
        part = np.minimum(n * (2 * cumulative - mass) // (2 * cumulative[-1]), n - 1)
        first = np.searchsorted(part, np.arange(1, n))  # the smallest value in that part or a higher one
        cuts[sequence] = np.r_[present, UNREACHED_CUT][first]
        sizes[sequence] = np.bincount(part, mass, n)
    return cuts, sizes.ravel()


def _count_values(
    previous_streets: Sequence[StreetBuckets],
    value: Array,
    sequences: int,
    width: int,
    game: _BoardOrders,
    threads: int,
    progress: ProgressCallback | None,
) -> Array:
    """Count the deals of each value in each bucket sequence of the previous street. int64 [sequences, values]"""
    r = len(previous_streets)
    bucket_sequences = _bucket_sequences(previous_streets, game, threads)
    boards, times = game.boards(r)
    free_totals: SimpleQueue[Array] = SimpleQueue()
    totals = [np.zeros((sequences, width), np.int64) for _ in range(threads)]
    for total in totals:
        free_totals.put(total)

    def work(part: slice) -> None:
        orders, total = _deal_orders(game, r, boards[part], value), free_totals.get()
        kernels.count_values(orders, bucket_sequences, suit_permutations(game.deck)[1], times[part], total)
        free_totals.put(total)

    map_chunks(work, len(boards), threads, progress, chunk=CHUNK_BOARDS)
    return np.asarray(sum(totals[1:], totals[0]))


def _bucket_sequences(previous_streets: Sequence[StreetBuckets], game: _BoardOrders, threads: int) -> Array:
    """Return the bucket sequence, up to the last previous street, of every hand, canonical board and deal order.

    uint16 or int32 [boards · orders, hands]
    """
    sequences = np.zeros((1, len(game.deck.hands)), np.uint16 if previous_streets[-1].count <= 1 << 16 else np.int32)
    for r, street in enumerate(previous_streets):
        sequences = _extend_sequences(sequences, street, r, game, threads)
    return sequences


def _extend_sequences(
    previous_sequences: Array, street: StreetBuckets, r: int, game: _BoardOrders, threads: int
) -> Array:
    """Extend the bucket sequences of the previous street by street r, as in `_bucket_sequences`."""
    boards, orders = game.boards(r)[0], len(game.deal_orders[r])
    out = np.zeros((len(boards) * orders, previous_sequences.shape[1]), previous_sequences.dtype)

    def work(part: slice) -> None:
        here = out[part.start * orders : part.stop * orders]
        dealt = _deal_orders(game, r, boards[part], street.labels[0])
        kernels.extend_sequences(dealt, previous_sequences, suit_permutations(game.deck)[1], street.cuts, here)

    map_chunks(work, len(boards), threads, chunk=CHUNK_BOARDS)
    return out


# --- boards and their previous boards -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _BoardOrders:
    """A deck and the number of board cards on each street, with the orders in which a board can be dealt."""

    deck: Deck
    board_sizes: tuple[int, ...]

    def boards(self, street: int) -> tuple[Array, Array]:
        """Return the canonical boards and how many boards each represents. uint8 [boards, cards], int64 [boards]"""
        cards = self.board_sizes[street]
        return canonical_boards(cards, self.deck) if cards else (np.zeros((1, 0), np.uint8), np.ones(1, np.int64))

    @cached_property
    def deal_orders(self) -> list[Array]:
        """Orders in which the board of each street can be dealt: the street of each card. int64 [orders, cards]"""
        tables = [np.zeros((1, 0), np.int64)]
        for street, cards in enumerate(self.board_sizes[1:], start=1):
            new_cards = cards - self.board_sizes[street - 1]
            rows = []
            for dealt in combinations(range(cards), new_cards):
                previous = [card for card in range(cards) if card not in dealt]
                row = np.full((len(tables[-1]), cards), street)
                row[:, previous] = tables[-1]
                rows.append(row)
            tables.append(np.concatenate(rows))
        return tables


def _deal_orders(game: _BoardOrders, street: int, boards: Array, value: Array) -> kernels.DealOrders:
    """Return the arrays of some boards of a street for the kernels, given the values of the canonical hands."""
    live, deals = hand_features.live_deals(boards, game.deck)
    index = small_deck_features.hand_indexer(game.deck, boards.shape[1]).index(deals, check=False)
    row, permutation = np.zeros((2, len(boards), len(game.deal_orders[street])), np.int64)
    for k, streets in enumerate(game.deal_orders[street]):
        inner = streets < street
        if inner.any():
            row[:, k], permutation[:, k] = _previous_rows(game, street - 1, boards[:, inner], streets[inner])
    shape = len(boards), -1
    hand = np.nonzero(live)[1].astype(np.int16)
    rows = row.astype(np.int32), permutation.astype(np.int8)
    return kernels.DealOrders(hand.reshape(shape), value[index].reshape(shape), *rows)


def _previous_rows(game: _BoardOrders, street: int, boards: Array, way: Array) -> tuple[Array, Array]:
    """Return the rows of previous sequences for boards dealt in one order, and the suit permutations that map to them.

    `way` is the street on which each card was dealt, int64 [cards]. int64 [boards], both
    """
    numbers = board_index(boards, game.deck, check=False)
    goal = card_masks(game.boards(street)[0])[numbers]
    card_maps = suit_permutations(game.deck)[0]
    permutation = (card_masks(card_maps[:, boards]) == goal).argmax(axis=0)
    # The canonical board is sorted: the position of each card identifies the deal order there.
    cards = card_maps[permutation[:, None], boards]
    position = (cards[:, :, None] > cards[:, None, :]).sum(axis=2)
    base = len(game.board_sizes) ** np.arange(boards.shape[1])
    codes = game.deal_orders[street] @ base
    order = np.argsort(codes)
    order_index = order[np.searchsorted(codes, (way * base[position]).sum(axis=1), sorter=order)]
    return numbers * len(codes) + order_index, permutation


# --- percentile buckets of one street -----------------------------------------------------------------


def percentile_buckets(values: Array, weights: Array | None, parents: Array | None, n: int) -> Array:
    """Return the bucket sequence of each hand: its parent's times n, plus 0 (lowest values) to n - 1. int64 [hands]

    Values are float [hands], weights positive (equal for None), parents the sequences of the previous street (None on
    the first). Hands of equal value in one sequence stay together: they belong to the part that contains the middle of
    their weight. Where a value is heavier than a part, adjacent parts may be empty, and their indices stay unused.

    A hand must have one parent. From the flop on, this needs an index that respects the order of the streets, such as
    `HandIndexer((2, 3, 1))`: in `HandIndexer((2, 4))` one turn hand comes from up to four flops.
    """
    value = np.asarray(values)
    if value.ndim != 1 or not np.isfinite(value).all():
        raise InputError(f"values of shape {value.shape}: expected one finite number for each hand")
    if n < 1:
        raise InputError(f"n={n} buckets: must be at least 1")
    weight = np.ones(len(value)) if weights is None else np.asarray(weights, np.float64)
    parent = np.zeros(len(value), np.int64) if parents is None else np.asarray(parents)
    if weight.shape != value.shape or parent.shape != value.shape:
        shapes = f"weights of shape {weight.shape} and parents of shape {parent.shape}"
        raise InputError(f"{shapes}: expected {value.shape}, one for each value")
    if not (np.isfinite(weight).all() and (weight > 0).all()):
        raise InputError("weights: must be finite and above zero")
    if parent.dtype.kind not in "iu" or (len(parent) and int(parent.min()) < 0):
        raise InputError(f"parents of dtype {parent.dtype}: expected whole numbers, 0 or more")
    if not len(value):
        return np.zeros(0, np.int64)
    order = np.lexsort((value, parent))
    value, parent, weight = value[order], parent[order].astype(np.int64), weight[order]
    new_parent = np.r_[True, parent[1:] != parent[:-1]]
    new_value = new_parent | np.r_[True, value[1:] != value[:-1]]
    # Equal values of one parent become one group.
    first = np.flatnonzero(new_value)
    mass = np.add.reduceat(weight, first)
    family = np.cumsum(new_parent)[first] - 1
    heads = np.flatnonzero(new_parent[first])
    total = np.add.reduceat(mass, heads)
    before = np.cumsum(mass) - mass
    middle = before - before[heads][family] + mass / 2
    part = np.minimum((n * middle) // total[family], n - 1).astype(np.int64)
    labels = np.empty(len(value), np.int64)
    labels[order] = parent * n + np.repeat(part, np.diff(np.r_[first, len(value)]))
    return labels


# --- strength buckets for games with a showdown on the second street; the first street is lossless --------


def strength_abstraction(
    buckets: int, deck: Deck = FULL_DECK, cards: int = 3, *, per_board: bool = True
) -> CardAbstraction:
    """Build an abstraction of a two-street game: lossless first street, strength buckets on boards of `cards` cards.

    Buckets have equal weights. With `per_board` they are distributed over the boards; otherwise all boards share them.
    """
    boards, times = canonical_boards(cards, deck)
    if per_board and buckets < len(boards):
        raise InputError(f"flops:{buckets}: there are {len(boards):,} boards, and each needs at least one bucket")
    hands = HandIndexer.for_deck(deck, (deck.hole, cards))
    parts = np.full(len(boards), buckets // len(boards))
    # The remainder goes to the most frequent boards.
    parts[np.argsort(-times, kind="stable")[: buckets % len(boards)]] += 1
    first_bucket = np.cumsum(parts) - parts
    size = hands.size()
    labels, strength, weight = np.zeros(size, np.int32), np.zeros(size), hands.count(np.arange(size)).astype(float)
    for b, board in enumerate(boards):
        _, dealt = hand_features.live_deals(board[None], deck)
        share = weighted_percentiles(rank_batch(dealt, deck.rules, check=False), np.ones(len(dealt)))
        numbers = hands.index(dealt, check=False)
        strength[numbers] = share
        labels[numbers] = first_bucket[b] + np.minimum(share * parts[b], parts[b] - 1).astype(np.int64)
    if not per_board:
        labels = np.minimum(weighted_percentiles(strength, weight) * buckets, buckets - 1).astype(np.int32)
    kind = "flops" if per_board else "strength"
    labels = labels.astype(np.uint16 if buckets <= 1 << 16 else np.int32)
    facts = {"method": "strength on each board" if per_board else "strength"}
    first_street = lossless_abstraction((cards,), deck).streets[0]
    recipe = {"method": kind, "buckets": buckets}
    streets = first_street, StreetBuckets(buckets, labels[None], metadata=facts)
    return CardAbstraction(streets, (cards,), deck, name=f"{kind}:{buckets}", recipe=recipe)


def weighted_percentiles(values: Array, weight: Array) -> Array:
    """Return the share of the weight below each value, plus half of the weight equal to it. float64, from 0 to 1"""
    distinct, where = np.unique(values, return_inverse=True)
    mass = np.bincount(where, weight, minlength=len(distinct))
    return np.asarray((np.cumsum(mass) - mass / 2)[where] / mass.sum())
