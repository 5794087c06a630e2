"""Classes of starting hands: joint probabilities and showdown orders of two and three classes, for push-or-fold games.

    tables = starting_hands(players=3)
    tables.order_probabilities(0, [second, third])      # float64 [classes, 13]: by the first player's class

Showdowns of two and three classes are exact: they sum over all hands of the classes and all boards. The tables are
computed once and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations
from math import comb

import numpy as np

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.equity.equities import ProgressCallback, map_chunks
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.ranking import hand_strengths, rank_batch
from riverboat.compiled.simd import SIMD_WIDTH
from riverboat.core import resources
from riverboat.core.arrays import Array
from riverboat.core.cache import cached_arrays
from riverboat.core.errors import InputError, check_threads
from riverboat.tournaments._kernels import push_fold as push_fold_kernels
from riverboat.tournaments._kernels import showdown_orders as order_kernels

# --- Showdowns of two and three classes ---

# Showdown orders: the number of better hands for each of the three. Six strict orders, one loser, one winner, all tied.
TRIPLE_ORDERS = (
    (0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0),
    (0, 0, 2), (0, 2, 0), (2, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0),
)  # fmt: skip
BOARDS_PER_CALL = 64
CALLS_PER_SUM = 6  # float32 sums stay exact: 384 boards, each with at most 24 suit permutations and 12³ triples
_VERSION = 1


@dataclass(frozen=True, eq=False)
class ThreeWayShowdowns:
    """Probabilities of the showdown orders of three hands, for every triple of classes in ascending order."""

    classes: int
    shares: Array  # float32 [triples, 13]: share of the deals of three hands and a board; zero if no deal exists
    hands: Array  # int64 [triples]: number of deals of three hands of these classes

    def orders(self, *classes: int) -> Array:
        """Return the probability of each of `TRIPLE_ORDERS` for three classes, in the order of the players.

        float64 [13]
        """
        if len(classes) != 3 or not all(0 <= c < self.classes for c in classes):
            raise InputError(f"classes {classes}: must be three of 0 to {self.classes - 1}")
        ascending = np.argsort(classes, kind="stable").tolist()
        row = self.shares[triple_index(*(classes[p] for p in ascending))]
        return np.asarray(row[_permute_orders(ascending)], np.float64)


def _permute_orders(seats: Sequence[int]) -> list[int]:
    """Return, for each of `TRIPLE_ORDERS`, the index of the order in which player k has the rank of `seats[k]`."""
    return [TRIPLE_ORDERS.index(tuple(order[seat] for seat in seats)) for order in TRIPLE_ORDERS]


def triple_index(a: int, b: int, c: int) -> int:
    """Return the index of a triple of classes a ≤ b ≤ c."""
    return a + b * (b + 1) // 2 + c * (c + 1) * (c + 2) // 6


@dataclass(frozen=True, eq=False)
class TwoWayShowdowns:
    """Showdowns of two hands by class."""

    wins: Array  # float64 [classes, classes]: probability that the first hand is better
    ties: Array  # float64 [classes, classes]: probability of a tie
    hands: Array  # int64 [classes, classes]: number of deals of two hands of these classes


def load_two_way(threads: int = 1, progress: ProgressCallback | None = None) -> TwoWayShowdowns:
    """Load showdowns of two hands of the 169 starting-hand classes from the cache; compute them the first time."""

    def make() -> dict[str, Array]:
        return vars(count_two_way(FULL_DECK, CLASS_OF_HAND, threads, progress))

    return TwoWayShowdowns(**cached_arrays(f"equity/two-way-{_VERSION}", make))


def count_two_way(
    deck: Deck, group: Array, threads: int = 1, progress: ProgressCallback | None = None, board: int = 5
) -> TwoWayShowdowns:
    """Compute showdown probabilities of two hands by class, over all deals and boards of a deck.

    `group`: class of each hand of the deck, which must ignore suits; `board`: number of board cards.
    """
    hands, classes = _deck_arrays(deck, group), int(group.max()) + 1
    boards, times = canonical_boards(board, deck)

    def work(part: slice) -> tuple[Array, ...]:
        workspace = _make_workspace(hands, classes)
        wins, ties = (np.zeros((classes, workspace.counts.shape[1])) for _ in range(2))
        strengths, orders = _sorted_strengths(deck, boards[part])
        order_kernels.count_pairs(hands, times[part].astype(np.int32), strengths, orders, workspace, wins, ties)
        return wins[:, :classes], ties[:, :classes]

    parts = map_chunks(work, len(boards), threads, progress, chunk=1024)
    wins, ties = (np.sum([part[k] for part in parts], axis=0) for k in range(2))
    deals = wins + wins.T + ties
    scale = 1 / np.maximum(deals, 1)
    return TwoWayShowdowns(wins * scale, ties * scale, (deals / comb(len(deck.cards) - 4, board)).astype(np.int64))


def load_three_way(threads: int = 1, progress: ProgressCallback | None = None) -> ThreeWayShowdowns:
    """Load showdowns of three hands of the 169 starting-hand classes from the cache; compute them the first time."""

    def make() -> dict[str, Array]:
        table = count_three_way(FULL_DECK, CLASS_OF_HAND, threads, progress)
        return {"shares": table.shares, "hands": table.hands}

    return ThreeWayShowdowns(169, **cached_arrays(f"equity/three-way-{_VERSION}", make))


def count_three_way(
    deck: Deck, group: Array, threads: int = 1, progress: ProgressCallback | None = None, board: int = 5
) -> ThreeWayShowdowns:
    """Compute showdown order probabilities of three hands by class, over all deals and boards of a deck.

    `group`: class of each two-card hand of the deck, which must ignore suits; `board`: number of board cards.
    """
    hands, classes = _deck_arrays(deck, group), int(group.max()) + 1
    boards, times = canonical_boards(board, deck)
    check_threads(threads)
    counters = [_TripleCounter(deck, hands, classes) for _ in range(threads)]

    def work(part: slice) -> tuple[Array, ...]:
        counter = counters.pop()
        counter.add(boards[part], times[part])
        counters.append(counter)
        return ()

    map_chunks(work, len(boards), threads, progress, chunk=BOARDS_PER_CALL * CALLS_PER_SUM)
    first, *others = counters
    for other in others:  # integers below 2^53: the order of addition does not matter
        first.join(other)
    return _make_three_way(first.counts(), classes, comb(len(deck.cards) - 6, board))


def _deck_arrays(deck: Deck, group: Array) -> order_kernels.DeckHandArrays:
    """Return the hands and classes of a deck as the kernels read them."""
    cards = np.asarray(deck.hands, np.uint8)
    ranks, rank_of_card = np.unique(deck.cards >> 2, return_inverse=True)
    rank = np.full(52, order_kernels.NONE, np.uint8)
    rank[deck.cards] = rank_of_card
    hand_ranks = rank[cards]
    rank_classes = [np.unique(group[(hand_ranks == r).any(axis=1)]) for r in range(len(ranks))]
    member = np.full((len(ranks), _pad_to_vector(max(map(len, rank_classes)))), -1, np.int16)
    local = np.zeros(cards.shape, np.uint8)
    for r, classes in enumerate(rank_classes):
        member[r, : len(classes)] = classes
        hand, side = np.nonzero(hand_ranks == r)
        local[hand, side] = np.searchsorted(classes, group[hand])
    return order_kernels.DeckHandArrays(cards, hand_numbers(deck), group.astype(np.int16), local, rank, member)


def hand_numbers(deck: Deck) -> Array:
    """Return the index of the hand of two cards, -1 if there is none. int16 [52, 52]

    Parameters
    ----------
    deck
        Deck with hands of two cards.

    Returns
    -------
    Array
        Index by the first and the second card, in both orders.

    Examples
    --------
    >>> hand_numbers(FULL_DECK)[1, 0]
    np.int16(0)
    """
    number = np.full((52, 52), -1, np.int16)
    first, second = np.asarray(deck.hands).T
    number[first, second] = number[second, first] = np.arange(len(first))
    return number


def _pad_to_vector(count: int) -> int:
    return -(-count // SIMD_WIDTH) * SIMD_WIDTH


def _make_workspace(hands: order_kernels.DeckHandArrays, classes: int) -> order_kernels.OrderWorkspace:
    most, wide = hands.member.shape[1], _pad_to_vector(classes)
    shapes = (2, wide), (2, 52, most), (3, wide), (3, 52, most)
    every, every_by, counts, counts_by = (np.zeros(shape, np.float32) for shape in shapes)
    tied, place = np.zeros(len(hands.cards), np.int16), np.zeros(classes, np.int64)
    mark = np.zeros(1 + classes, np.int64)
    return order_kernels.OrderWorkspace(every, every_by, counts, counts_by, tied, place, mark)


class _TripleCounter:
    """Counter of showdown orders of three hands by class, for one thread."""

    def __init__(self, deck: Deck, hands: order_kernels.DeckHandArrays, classes: int) -> None:
        self.deck, self.hands, self.classes = deck, hands, classes
        ranks, most = hands.member.shape
        f, wide = np.float32, _pad_to_vector(classes)
        self.workspace = _make_workspace(hands, classes)
        self.sums = order_kernels.TripleSums(
            np.zeros((3, classes, classes, wide), f), np.zeros((4, classes, ranks, most, most), f)
        )
        self.strict = np.zeros((classes, wide, wide), f)
        rows = BOARDS_PER_CALL * len(hands.cards)
        self.above, self.below = np.zeros((rows, wide), f), np.zeros((rows, wide), f)
        cube = (classes,) * 3
        self.totals = np.zeros(cube), np.zeros((3, *cube)), np.zeros(self.sums.shared.shape)

    def add(self, boards: Array, times: Array) -> None:
        """Count the triples of a few boards, few enough for exact float32 sums."""
        for at in range(0, len(boards), BOARDS_PER_CALL):
            self._batch(boards[at : at + BOARDS_PER_CALL], times[at : at + BOARDS_PER_CALL].astype(np.int32))
        for total, part in zip(self.totals, (self.strict, *self.sums), strict=True):
            np.add(total, part[..., : total.shape[-2], : total.shape[-1]], out=total)
            part[:] = 0

    def join(self, other: _TripleCounter) -> None:
        """Add the counts of another thread."""
        for total, part in zip(self.totals, other.totals, strict=True):
            total += part

    def counts(self) -> tuple[Array, ...]:
        """Return the counts of four kinds of triples, float64 [middle class, first class, third class] each.

        First above and third below the middle hand; then first tied with it and third above, below, tied.
        """
        strict, tie, shared = self.totals
        totals = (strict, *tie)
        for total, pairs in zip(totals, shared, strict=True):
            for r, members in enumerate(self.hands.member):
                classes = members[members >= 0].astype(np.int64)
                total[:, classes[:, None], classes] -= pairs[:, r, : len(classes), : len(classes)]
        return totals

    def _batch(self, boards: Array, times: Array) -> None:
        strengths, orders = _sorted_strengths(self.deck, boards)
        live = np.bincount(self.hands.group, (strengths > 0).sum(axis=0), minlength=self.classes).astype(np.int64)
        ends = np.cumsum(live)
        self.workspace.place[:] = ends - live
        order_kernels.count_triples(
            self.hands, boards, times, strengths, orders, self.above, self.below, self.workspace, self.sums
        )
        for b, (low, high) in enumerate(zip(ends - live, ends, strict=True)):
            self.strict[b] += self.above[low:high].T @ self.below[low:high]


def _strengths(deck: Deck, boards: Array) -> Array:
    """Return the strength of every hand on boards, zero where a card is blocked. uint16 [boards, hands]"""
    if boards.shape[1] != 5:
        return np.array([hand_strengths(board.tolist(), deck) for board in boards])
    hands = np.asarray(deck.hands, np.uint8)
    cards = np.empty((len(boards), len(hands), 7), np.uint8)
    cards[:, :, :2], cards[:, :, 2:] = hands, boards[:, None, :]
    blocked = (hands[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
    ranks = np.zeros(blocked.shape, np.uint16)
    ranks[~blocked] = rank_batch(cards[~blocked], deck.rules, check=False)
    return ranks


def _sorted_strengths(deck: Deck, boards: Array) -> tuple[Array, Array]:
    """Return strengths of hands on boards, and hand indices from weak to strong. uint16 and int16 [boards, hands]"""
    strengths = _strengths(deck, boards)
    return strengths, np.argsort(strengths, axis=1, kind="stable").astype(np.int16)


def _make_three_way(total: tuple[Array, ...], classes: int, boards: int) -> ThreeWayShowdowns:
    """Convert `_TripleCounter.counts` to probabilities by ascending classes; `boards`: boards per deal of hands."""
    strict, above, below, level = total
    i, j, k = all_triples(classes)
    # indices: the middle hand, then the first (or tied) hand and the third one
    counts = np.stack(
        [
            strict[j, i, k], strict[k, i, j], strict[i, j, k], strict[k, j, i], strict[i, k, j], strict[j, k, i],
            below[j, i, k], below[k, i, j], below[k, j, i], above[j, k, i], above[i, k, j], above[i, j, k],
            level[j, i, k],
        ],
        axis=1,
    )  # fmt: skip
    deals = counts.sum(axis=1)
    return ThreeWayShowdowns(classes, (counts / np.maximum(deals, 1)[:, None]).astype(np.float32), deals // boards)


@cache
def all_triples(classes: int) -> tuple[Array, Array, Array]:
    """Return the classes a ≤ b ≤ c of every triple. int64 [triples] each"""
    triples = [(a, b, c) for c in range(classes) for b in range(c + 1) for a in range(b + 1)]
    a, b, c = np.array(triples, np.int64).T
    return a, b, c


PAIR_ORDERS = ((0, 1), (1, 0), (0, 0))  # number of better hands for each of two: win, loss, tie of the first


@dataclass(frozen=True, eq=False)
class HandTables:
    """Joint probabilities and showdown orders of the classes of two and three hands dealt from one deck.

    Probabilities of all deals sum to one.
    """

    class_probabilities: Array  # float64 [classes]
    pair_orders: Array  # float64 [3, classes, classes]: joint probability of two classes and each of `PAIR_ORDERS`
    triple_orders: Array  # float32 [triples, ORDER_WIDTH]: probabilities of the orders of three, classes ascending
    triple_probabilities: Array  # float32 [triples]: probability of three classes for one assignment to players
    deck: Deck
    hand_class: Array  # int [hands]: class of each hand
    board: int  # number of board cards

    @staticmethod
    def from_showdowns(
        deck: Deck, group: Array, two: TwoWayShowdowns | None, three: ThreeWayShowdowns | None, board: int = 5
    ) -> HandTables:
        """Build the tables of a deck from showdowns of two hands, of three, or of both."""
        if two is None:
            assert three is not None
            two = marginal_two_way(three)
        pairs = two.hands / two.hands.sum()
        shares = np.zeros((0 if three is None else len(three.shares), push_fold_kernels.ORDER_WIDTH), np.float32)
        probabilities = np.zeros(len(shares))
        if three is not None:
            a, b, c = all_triples(three.classes)
            assignments = np.where(a == c, 1, np.where((a == b) | (b == c), 3, 6))  # deals of the classes to players
            shares[:, : len(TRIPLE_ORDERS)] = three.shares
            probabilities = three.hands / (three.hands * assignments).sum()
        pair_orders = np.stack([two.wins * pairs, two.wins.T * pairs.T, two.ties * pairs])
        return HandTables(pairs.sum(axis=1), pair_orders, shares, probabilities.astype(np.float32), deck, group, board)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.class_probabilities)

    @cached_property
    def pair_probabilities(self) -> Array:
        """Probability of two classes. float64 [classes, classes]"""
        return np.asarray(self.pair_orders.sum(axis=0))

    @cached_property
    def opponent_probabilities(self) -> Array:
        """Probability of another player's class given the own class. float64 [classes, classes]"""
        return np.asarray(self.pair_probabilities / np.maximum(self.class_probabilities, 1e-300)[:, None])

    @cached_property
    def pair_orders_by_folded_class(self) -> Array:
        """Probability of two classes and each of `PAIR_ORDERS`, by the class of a third player who folded.

        float32 [classes, 3, classes, classes]
        """
        n, classes = self.classes, all_triples(self.classes)
        probabilities = np.zeros((n, 3, n, n), np.float32)
        shares, better = self.triple_orders[:, : len(TRIPLE_ORDERS)], np.array(TRIPLE_ORDERS)
        for i, j, k in permutations(range(3)):  # positions of the first, second and third player's class
            for order, (own_rank, other_rank) in enumerate(PAIR_ORDERS):
                matches = np.sign(better[:, i] - better[:, j]) == np.sign(own_rank - other_rank)
                weights = shares @ matches.astype(np.float32) * self.triple_probabilities
                probabilities[classes[k], order, classes[i], classes[j]] = weights
        return probabilities

    def order_probabilities(self, seat: int, others: list[Array], min_frequency: float = 0.0) -> Array:
        """Compute the probability of each showdown order of two or three players, by the class of the player at `seat`.

        `others`: ranges of the other one or two, as weights of classes; with three players, classes with a weight up to
        `min_frequency` are left out. float64 [classes, orders]
        """
        if len(others) == 1:
            both = (self.pair_orders @ others[0]).T
            return both if seat == 0 else both[:, [1, 0, 2]]
        out = np.zeros((self.classes, len(TRIPLE_ORDERS)))
        workspace = np.zeros((6, push_fold_kernels.ORDER_WIDTH), np.float32)
        ranges = (*_support(others[0], min_frequency), *_support(others[1], min_frequency))
        if len(ranges[0]) and len(ranges[2]):
            push_fold_kernels.three_range_orders(
                self.triple_orders, self.triple_probabilities, permuted_triple_orders(), *ranges, workspace, out
            )
        return out if seat == 0 else out[:, _permute_orders((1, 0, 2) if seat == 1 else (2, 0, 1))]

    def triple_orders_with_range(self, seat: int, weights: Array) -> Array:
        """Compute probabilities of `TRIPLE_ORDERS`, summed over the range of player 1 or 2, by classes of the others.

        float32 [classes, classes, 13]
        """
        if _is_mostly_full(weights):
            return self._full_triple_orders[seat] - self._sum_triple_orders(seat, 1 - weights)
        return self._sum_triple_orders(seat, weights)

    def _sum_triple_orders(self, seat: int, weights: Array) -> Array:
        out = np.zeros((self.classes, self.classes, len(TRIPLE_ORDERS)), np.float32)
        tables = self.triple_orders, self.triple_probabilities, permuted_triple_orders()
        swapped_orders = np.array(_permute_orders((2, 1, 0) if seat == 1 else (1, 0, 2)))
        workspace = np.zeros((6, push_fold_kernels.ORDER_WIDTH), np.float32)
        push_fold_kernels.sum_threes(*tables, seat, *_support(weights, 0.0), swapped_orders, workspace, out)
        return out

    def folded_orders_with_range(self, weights: Array) -> Array:
        """Compute probabilities of `PAIR_ORDERS` of two players behind a fold, summed over the range of the first.

        float32 [3, classes of the folded player, classes of the second]
        """
        return self._sum_folded(push_fold_kernels.sum_rows, self._full_folded_orders, weights)

    def pair_orders_with_folded_range(self, weights: Array) -> Array:
        """Compute probabilities of `PAIR_ORDERS` of two players, summed over the range of a third who has folded.

        float32 [3, classes of the first, classes of the second]
        """
        return self._sum_folded(push_fold_kernels.sum_folded, self.pair_orders.astype(np.float32), weights)

    def _sum_folded(self, add: Callable[..., None], full: Array, weights: Array) -> Array:
        """Apply kernel `add` to a range; for a nearly full range, subtract the sum of its complement from `full`."""
        if _is_mostly_full(weights):
            return full - self._sum_folded(add, full, 1 - weights)
        out = np.zeros(self.pair_orders.shape, np.float32)
        add(self.pair_orders_by_folded_class, *_support(weights, 0.0), out)
        return out

    @cached_property
    def _full_triple_orders(self) -> dict[int, Array]:
        return {seat: self._sum_triple_orders(seat, np.ones(self.classes)) for seat in (1, 2)}

    @cached_property
    def _full_folded_orders(self) -> Array:
        return np.ascontiguousarray(self.pair_orders_by_folded_class.sum(axis=2).transpose(1, 0, 2))


def _is_mostly_full(weights: Array) -> bool:
    """Whether a range has so many classes with weight 1 that summing over its complement is faster."""
    return bool(np.count_nonzero(weights < 1) < np.count_nonzero(weights))


def marginal_two_way(three: ThreeWayShowdowns) -> TwoWayShowdowns:
    """Compute showdowns of two hands from those of three, by summing over the third player's hand."""
    n, classes = three.classes, all_triples(three.classes)
    wins, ties, deals = (np.zeros((n, n, n), np.float32) for _ in range(3))
    for i, j, k in permutations(range(3)):  # positions of the first, second and unknown player's class
        at = classes[i], classes[j], classes[k]
        first, second = np.array(TRIPLE_ORDERS)[:, [i, j]].T
        deals[at], wins[at] = three.hands, three.shares @ (first < second).astype(np.float32) * three.hands
        ties[at] = three.shares @ (first == second).astype(np.float32) * three.hands
    wins, ties, total = (table.sum(axis=2, dtype=np.float64) for table in (wins, ties, deals))
    scale = 1 / np.maximum(total, 1)
    return TwoWayShowdowns(wins * scale, ties * scale, total)


@cache
def starting_hands(players: int) -> HandTables:
    """Return the tables of the 169 starting-hand classes of hold'em for a number of players.

    Tables for two players have pairs only; those for more players have pairs and triples.
    """
    threads = resources.available_cores()  # used by the first computation; later calls read the cache
    if players == 2:
        return HandTables.from_showdowns(FULL_DECK, CLASS_OF_HAND, load_two_way(threads), None)
    return HandTables.from_showdowns(FULL_DECK, CLASS_OF_HAND, None, load_three_way(threads))


def _support(weights: Array, min_frequency: float) -> tuple[Array, Array]:
    classes = np.flatnonzero(weights > min_frequency)
    return classes.astype(np.int64), weights[classes].astype(np.float32)


@cache
def permuted_triple_orders() -> Array:
    """Return, for each permutation of ascending classes over players, the classes' order for each order of the players.

    int64 [6, 13]
    """
    return np.array([_permute_orders([p.index(k) for k in range(3)]) for p in permutations(range(3))])
