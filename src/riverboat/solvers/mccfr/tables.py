"""Tables of a blueprint, and what the kernels read of its game.

The table is one flat array of cells. A street has a row for each bucket, a row has the street's decisions one after the
other, and a decision its regrets, then its averages: cell base[street] + bucket · width[street] + 2 · slot[node] + a is
the regret of move a, and its average stands as many cells later as there are moves. So a visit reads one place in memory,
and the buckets of a public bucket are one slice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import BLOCK as BLOCK  # iterations are done in whole blocks
from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.equity.equities import hand_classes, preflop_table
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.compiled.hugepages import zeros
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown
from riverboat.engines.sampling._kernels import cell as cell_kernels
from riverboat.engines.sampling._kernels import external as kernels
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers import schedules

DTYPES = {"float32": np.float32, "16-bit": np.uint16}
_MOST = 20  # two-byte regrets hold up to 2^20 times the largest pay-off
_LINE = 64  # bytes of a cache line
HOT = 1 << 17  # cells of the first street, if threads are to copy it
_PARTS = 1 << 10  # of one iteration: what a discounted weight is rounded to
_SMALL_DECK = 20  # cards: there is a number for each set of them
_MOST_DIRECT = 1 << 23


class BucketTables:
    """Regrets and averages of all information sets."""

    def __init__(self, tree: ActionTree, counts: Sequence[int], dtype: str = "float32", copies: int = 0) -> None:
        if dtype not in DTYPES:
            raise unknown("dtype", dtype, DTYPES)
        self.tree, self.dtype, self.counts = tree, dtype, tuple(counts)
        self.width = 2 * tree.width  # int64 [streets]: cells of a row
        kind = np.dtype(DTYPES[dtype])
        per_line = _LINE // kind.itemsize
        sizes = self.width * np.array(counts, np.int64)
        ends = np.cumsum(-(-sizes // per_line) * per_line)  # streets begin with a cache line
        self.base = ends - -(-sizes // per_line) * per_line  # int64 [streets]
        # Every deal writes to the few rows of the first street: threads may have copies of it, behind the table.
        self.hot = int(ends[0]) if copies and dtype == "float32" and ends[0] <= HOT else 0
        size = int(ends[-1]) + per_line  # and some cells that may be read beside the last
        self.everything = zeros(size + 2 * copies * self.hot, kind)  # a copy, and what it was when it was taken
        self.cells = self.everything[:size]
        largest = float(np.abs(tree.pay).max())
        self.unit = 1.0  # chips of a regret of one
        self.share = 1.0  # what one visit adds to averages
        if dtype == "16-bit":
            self.unit = 2.0 ** (_MOST - 1 + math.ceil(math.log2(largest)))
            self.share = 2.0**-31

    @property
    def infoset_actions(self) -> int:
        """Moves of all information sets."""
        return int((self.tree.width * np.array(self.counts)).sum())

    @property
    def nbytes(self) -> int:
        """Of the table."""
        return int(self.cells.nbytes)

    @cached_property
    def _decisions(self) -> list[tuple[Array, Array, Array]]:
        """By street: cells of a row before each decision, its moves, and its seat. int32, int8, int8 [decisions]"""
        tree = self.tree
        by_street = [np.flatnonzero((tree.actor >= 0) & (tree.street == street)) for street in range(len(self.counts))]
        return [(2 * tree.slot[nodes], tree.count[nodes], tree.actor[nodes]) for nodes in by_street]

    def _rows(self, street: int, rows: Array | None) -> Array:
        if rows is None:
            return np.arange(self.counts[street], dtype=np.int64)
        numbers = np.asarray(rows, np.int64)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < self.counts[street]:
            raise InputError(f"buckets {numbers.min()} to {numbers.max()}: street {street} has {self.counts[street]:,}")
        return numbers

    def strategies(self, street: int, rows: Array | None = None, *, averages: bool = True) -> Array:
        """Average or current strategy of the buckets `rows` of a street. float32 [rows, width]"""
        chosen = self._rows(street, rows)
        out = np.zeros((len(chosen), int(self.tree.width[street])), np.float32)
        slot, count, _ = self._decisions[street]
        base, width = int(self.base[street]), int(self.width[street])
        cell_kernels.strategies(self.cells, base, width, chosen, slot, count, averages, out)
        return out

    def strategy(self, node: int, bucket: int, *, averages: bool = True) -> Array:
        """Average or current strategy at one decision. float32 [moves]"""
        tree = self.tree
        if not 0 <= node < len(tree) or tree.actor[node] < 0:
            raise InputError(f"node {node}: no decision of this tree; `tree.find(line)` gives the node of a line")
        street = int(tree.street[node])
        slot, count = 2 * tree.slot[node : node + 1], tree.count[node : node + 1]
        out = np.zeros((1, int(tree.width[street])), np.float32)
        rows = self._rows(street, np.array([bucket]))
        base, width = int(self.base[street]), int(self.width[street])
        cell_kernels.strategies(self.cells, base, width, rows, slot, count, averages, out)
        at = int(tree.slot[node])
        return out[0, at : at + int(tree.count[node])]

    def survey(self, street: int, rows: Array | None = None) -> tuple[int, Array]:
        """Information sets visited in some rows, and sums of their largest regrets by seat, in chips. int, float64 [2]"""
        regret = np.zeros(2)
        base, width = int(self.base[street]), int(self.width[street])
        touched = cell_kernels.survey(
            self.cells, base, width, self._rows(street, rows), *self._decisions[street], regret
        )
        return int(touched), regret * self.unit

    def discount(
        self, positive: float, negative: float, decay: float, seed: int, part: int = 0, parts: int = 1
    ) -> None:
        """Multiply regrets above and below zero, and averages; one part of the rows out of some."""
        factors = cell_kernels.Factors(np.float32(positive), np.float32(negative), decay)
        for street, count in enumerate(self.counts):
            first, end = count * part // parts, count * (part + 1) // parts
            slot, moves, _ = self._decisions[street]
            base, width = int(self.base[street]), int(self.width[street])
            cell_kernels.discount(self.cells, base, width, first, end, slot, moves, factors, np.uint64(seed))


def make_game(tree: ActionTree, cards: CardAbstraction, tables: BucketTables, runouts: int = 0) -> kernels.Game:
    """Nodes, pay-offs in units of the tables, and cards, as kernels read them.

    `runouts` is on how many boards an all-in before the last street is paid; 0: the one that was dealt.
    """
    rules = tree.rules
    if cards.deck != rules.deck or cards.deals[: rules.rounds - 1] != rules.board[1:] or rules.board[0]:
        raise InputError(
            f"{cards.name} has boards of {cards.deals} cards from {len(cards.deck.cards)}: the game {rules.name!r} deals "
            f"{rules.board} from {len(rules.deck.cards)}"
        )
    if len(cards.streets) != rules.rounds:
        raise InputError(f"{cards.name} has {len(cards.streets)} streets: the game {rules.name!r} has {rules.rounds}")
    nodes = np.zeros((len(tree), 4), np.int32)
    over = tree.actor < 0
    nodes[:, 0] = (
        tree.street + kernels.SEAT * (tree.actor == 1) + kernels.OVER * over + kernels.SHOWDOWN * tree.showdown
    )
    nodes[:, 0] += tree.count.astype(np.int32) << kernels.COUNT_AT
    nodes[:, 1] = np.where(over, 0, tree.first)
    nodes[:, 2] = np.where(over, 0, 2 * tree.slot)
    nodes.view(np.float32)[:, 3] = tree.pay / tables.unit
    board = sum(rules.board)
    return kernels.Game(
        nodes.reshape(-1),
        nodes.view(np.float32).reshape(-1),
        tables.base,
        tables.width,
        rules.deck.cards,
        ranking_tables(rules.hole + board),
        _direct(cards, rules.rounds),
        rules.hole,
        board,
        _first_equity(cards, rules.rounds) if runouts else np.zeros((0, 0), np.float32),
        runouts,
    )


def _first_equity(cards: CardAbstraction, rounds: int) -> Array:
    """What an all-in before the flop of hold'em comes to, by canonical hands; empty in other games. float32 [169, 169]"""
    if cards.deck != FULL_DECK or sum(cards.deals[: rounds - 1]) != 5:
        return np.zeros((0, 0), np.float32)
    number, kind = cards.indexer(0).index(cards.deck.hands), hand_classes()
    class_of = np.zeros(cards.indexer(0).size(), np.int64)
    class_of[number] = kind
    return (2 * preflop_table(threads=2)[np.ix_(class_of, class_of)] - 1).astype(np.float32)


def _direct(cards: CardAbstraction, rounds: int) -> kernels.Direct:
    """Buckets of all hands on all boards, where there are few and the way to a board does not matter."""
    deck, shown = cards.deck, cards.shown[:rounds]
    size, hole, hands = len(deck.cards), deck.hole, deck.hand_count
    sizes = [hands * math.comb(size, n) for n in shown]
    place, hand = np.zeros(52, np.uint8), np.zeros(size**hole, np.int32)
    place[deck.cards] = np.arange(size)
    start = np.cumsum([0, *sizes[:-1]])
    forgets = cards.public is None and all(len(street.cuts) <= 1 for street in cards.streets)
    if not forgets or size > _SMALL_DECK or sum(sizes) > _MOST_DIRECT:
        return kernels.Direct(
            place, hand, np.zeros(0, np.uint16), np.zeros(0, np.int32), start, np.array(shown, np.int64), hands
        )
    for order in permutations(range(hole)):
        hand[place[deck.hands[:, order]] @ size ** np.arange(hole)] = np.arange(hands)
    board, bucket = np.zeros(1 << size, np.uint16), np.zeros(sum(sizes), np.int32)
    for street, count in enumerate(shown):
        boards = np.array(list(combinations(range(size), count)), np.int64).reshape(math.comb(size, count), count)
        board[(1 << boards).sum(axis=1)] = np.arange(len(boards))
        table = bucket[start[street] :][: sizes[street]].reshape(len(boards), hands)
        for k, hidden in enumerate(place[deck.hands]):  # a hand at a time, so that little memory is needed
            free = ~(boards[:, :, None] == hidden).any(axis=(1, 2))
            held = np.broadcast_to(deck.hands[k], (int(free.sum()), hole))
            table[free, k] = cards.buckets(np.hstack([held, deck.cards[boards[free]]]), check=False)[:, 0, street]
    return kernels.Direct(place, hand, board, bucket, start, np.array(shown, np.int64), hands)


@dataclass(frozen=True)
class Weighting:
    """Which iterations count more: a schedule whose clock ticks once a period.

    At the end of period t regrets and averages are multiplied by the factors of `schedule.step(t + 1)`, as Pluribus does for
    linear weighting (Brown & Sandholm 2019), up to the period that ends with iteration `until`.
    """

    schedule: str | schedules.Schedule = "vanilla"
    period: int = 1 << 20  # iterations
    until: int | None = None

    def __post_init__(self) -> None:
        given = schedules.parse("vanilla" if self.schedule == "none" else self.schedule)
        if not isinstance(given, schedules.Schedule) or given.floored or given.predictive or given.stakes:
            raise InputError(
                f"weighting {self.schedule}: sampled walks take none, linear or dcfr:alpha=…,beta=…,gamma=…"
            )
        object.__setattr__(self, "schedule", given)
        if self.period < 1:
            raise InputError(f"weighting {given}: a period of {self.period} iterations: at least 1")
        object.__setattr__(self, "period", -(-self.period // BLOCK) * BLOCK)

    @property
    def discounts(self) -> bool:
        """Whether anything is ever multiplied."""
        assert isinstance(self.schedule, schedules.Schedule)
        return self.schedule.discounts

    def factors(self, period: int) -> tuple[float, float, float] | None:
        """Factors on regrets above and below zero and on averages at the start of a period, counted from 1."""
        if self.until is not None and (period - 1) * self.period > self.until:
            return None
        assert isinstance(self.schedule, schedules.Schedule)
        step = self.schedule.step(period)
        return step.positive, step.negative, step.decay


def as_weighting(given: str | Weighting) -> Weighting:
    """A weighting by the name of its schedule, or as it is."""
    return given if isinstance(given, Weighting) else Weighting(given)


def exact_weight(weight: float) -> float:
    """Round a weight so that the iterations of later steps are added without an error, however many steps there are."""
    return round(weight * _PARTS) / _PARTS


@dataclass(frozen=True)
class Pruning:
    """Moves that have done badly are skipped on most deals (Brown & Sandholm 2019, Pluribus).

    Never on the last street, nor moves that end the hand, nor all of a decision.
    """

    threshold: float  # chips, negative: regrets below it are bad
    after: int = 0  # iterations before it begins
    odds: float = 0.95  # share of deals on which moves are skipped
    floor: float | None = None  # regrets end here, so that they can come back; by default 31/30 of the threshold

    def __post_init__(self) -> None:
        if not -math.inf < self.threshold < 0:
            raise InputError(f"pruning threshold {self.threshold:g}: a number of chips below zero")
        if not 0 <= self.odds <= 1:
            raise InputError(f"pruning odds {self.odds:g}: a share of the deals, 0 to 1")
        if self.floor is not None and self.floor > self.threshold:
            raise InputError(f"pruning floor {self.floor:g}: must not be above the threshold of {self.threshold:g}")

    @property
    def least(self) -> float:
        """The floor of regrets."""
        return self.threshold * 31 / 30 if self.floor is None else self.floor
