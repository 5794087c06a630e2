"""Tables of a blueprint, discounts and pruning, and the arrays that the sampling kernels read.

The table is one flat array of cells. A street has a row for each bucket, a row has the street's decisions one after the
other, and a decision its regrets, then its averages. The regret of action a at a node is cell base[street] + bucket ·
width[street] + 2 · slot[node] + a. Its average is as many cells later as the node has actions. So a visit reads one
contiguous range, and the buckets of a public bucket are one slice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np

from riverboat.abstraction.cards._kernels import LOOKUP_BLOCK as LOOKUP_BLOCK
from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.equity.equities import preflop_equities, starting_hand_classes
from riverboat.cards.ranking import rank_tables as ranking_tables
from riverboat.core.arrays import Array, aligned_zeros, zeros
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.engines.sampling._kernels import cell as cell_kernels
from riverboat.engines.sampling._kernels import deal as deal_kernels
from riverboat.engines.sampling._kernels import external as kernels
from riverboat.engines.threads import ThreadTeam
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers import schedules

DTYPES = {"float32": np.float32, "16-bit": np.uint16}
_MAX_REGRET_BITS = 20  # 16-bit regrets hold up to 2^20 times the largest payoff
SINGLE_THREAD = ThreadTeam(1)
_LINE = 64  # bytes of a cache line
MAX_COPIED_CELLS = 1 << 17  # largest first street of which threads have copies
_WEIGHT_STEPS = 1 << 10  # discounted weights are rounded to 1 / _WEIGHT_STEPS of an iteration
_MAX_DIRECT_CARDS = 20  # largest deck with a table entry for each set of cards
_MAX_DIRECT_ENTRIES = 1 << 23


def bucket_rows(street: int, count: int, rows: Array | None) -> Array:
    """Return bucket indices `rows` as int64, by default all `count` of a street; raise InputError if out of range."""
    numbers = np.arange(count, dtype=np.int64) if rows is None else np.asarray(rows, np.int64)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
        raise InputError(f"buckets {numbers.min()} to {numbers.max()}: street {street} has {count:,}")
    return numbers


class BucketTables:
    """Regrets and averages of all information sets.

    `counts` are the numbers of buckets by street. With `copies`, as many threads get copies of the first street.
    """

    def __init__(self, tree: ActionTree, counts: Sequence[int], dtype: str = "float32", copies: int = 0) -> None:
        if dtype not in DTYPES:
            raise unknown_name_error("dtype", dtype, DTYPES)
        self.tree, self.dtype, self.counts = tree, dtype, tuple(counts)
        self.width = 2 * tree.width  # int64 [streets]: cells of a row
        kind = np.dtype(DTYPES[dtype])
        per_line = _LINE // kind.itemsize
        sizes = self.width * np.array(counts, np.int64)
        ends = np.cumsum(-(-sizes // per_line) * per_line)  # streets begin with a cache line
        self.base = ends - -(-sizes // per_line) * per_line  # int64 [streets]
        # Every deal writes to the few rows of the first street: threads may have copies of it, after the table.
        self.copied_cells = int(ends[0]) if copies and dtype == "float32" and ends[0] <= MAX_COPIED_CELLS else 0
        size = int(ends[-1]) + per_line  # padding that kernels may read after the last cell
        # Each copy has a second one with its value at the last exchange.
        self.all_cells = aligned_zeros(size + 2 * copies * self.copied_cells, kind)
        self.cells = self.all_cells[:size]
        largest = float(np.abs(tree.payoff).max())
        self.unit = 1.0  # chips that a stored regret of one stands for
        self.share = 1.0  # increment of averages per visit
        if dtype == "16-bit":
            self.unit = 2.0 ** (_MAX_REGRET_BITS - 1 + math.ceil(math.log2(largest)))
            self.share = 2.0**-31

    @property
    def infoset_actions(self) -> int:
        """Number of infoset-actions."""
        return int((self.tree.width * np.array(self.counts)).sum())

    @property
    def nbytes(self) -> int:
        """Size of the table in bytes."""
        return int(self.cells.nbytes)

    @cached_property
    def _decisions(self) -> list[tuple[Array, Array, Array]]:
        """By street: offset of each decision in a row, number of actions, seat. int32, int8, int8 [decisions]"""
        tree = self.tree
        by_street = [np.flatnonzero((tree.actor >= 0) & (tree.street == street)) for street in range(len(self.counts))]
        return [(2 * tree.slot[nodes], tree.count[nodes], tree.actor[nodes]) for nodes in by_street]

    def strategies(self, street: int, rows: Array | None = None, *, averages: bool = True) -> Array:
        """Return average or current strategies of the buckets `rows` of a street. float32 [rows, width]

        Columns are the actions of all decisions of the street; those of a node begin at `tree.slot[node]`.
        """
        chosen = bucket_rows(street, self.counts[street], rows)
        out = np.zeros((len(chosen), int(self.tree.width[street])), np.float32)
        slot, count, _ = self._decisions[street]
        base, width = int(self.base[street]), int(self.width[street])
        cell_kernels.read_strategies(self.cells, base, width, chosen, slot, count, averages, out)
        return out

    def put(self, cells: Array | None, owner: str = "this game and abstraction") -> None:
        """Replace all cells, or reset them to zero if `cells` is None; raise InputError if number or type differ.

        `owner` names this table in the message.
        """
        if cells is None:
            self.cells[:] = 0
            return
        if cells.shape != self.cells.shape or cells.dtype != self.cells.dtype:
            raise InputError(
                f"the state has {cells.size:,} cells ({cells.dtype}), {owner} {self.cells.size:,} ({self.cells.dtype})"
            )
        self.cells[:] = cells

    def street_rows(self, street: int) -> Array:
        """Return a view of the cells of a street. [buckets, cells of a row]"""
        first, width, count = int(self.base[street]), int(self.width[street]), self.counts[street]
        return self.cells[first : first + count * width].reshape(count, width)

    def visited_and_regret(self, street: int, rows: Array | None = None) -> tuple[int, Array]:
        """Count visited information sets of a street, and sum their largest regrets by seat, in chips. int, float64 [2]

        `rows` are the buckets to read, by default all.
        """
        regret = np.zeros(2)
        base, width = int(self.base[street]), int(self.width[street])
        chosen = bucket_rows(street, self.counts[street], rows)
        touched = cell_kernels.survey_rows(self.cells, base, width, chosen, *self._decisions[street], regret)
        return int(touched), regret * self.unit

    def sampled_regret(self, rows: int | None, scale: float = 1.0) -> tuple[Array, Array]:
        """Count visited information sets by street, and sum their largest regrets by seat, in chips.

        With `rows`, only that many evenly spaced buckets of a street are read: regrets are extrapolated to all buckets,
        visits are not. `scale` multiplies regrets.
        """
        visited, regret = np.zeros(len(self.counts), np.int64), np.zeros(2)
        for street, count in enumerate(self.counts):
            if count:
                chosen = np.linspace(0, count - 1, min(rows or count, count)).astype(np.int64)
                visited[street], sums = self.visited_and_regret(street, chosen)
                regret += sums * (count / len(chosen)) * scale
        return visited, regret

    def discount(
        self, positive: float, negative: float, decay: float, seed: int, team: ThreadTeam = SINGLE_THREAD
    ) -> None:
        """Multiply positive and negative regrets and averages by factors, on a team of threads.

        `seed` is for the random rounding of cells.
        """
        factors = cell_kernels.DiscountFactors(np.float32(positive), np.float32(negative), decay)

        def discount_part(part: int) -> None:
            for street, count in enumerate(self.counts):
                first, end = count * part // team.threads, count * (part + 1) // team.threads
                slot, moves, _ = self._decisions[street]
                base, width = int(self.base[street]), int(self.width[street])
                cell_kernels.discount_rows(self.cells, base, width, first, end, slot, moves, factors, np.uint64(seed))

        team.run(discount_part)


def make_sampling_game(
    tree: ActionTree, cards: CardAbstraction, tables: BucketTables, runouts: int = 0
) -> deal_kernels.SamplingGame:
    """Return betting nodes, payoffs (in units of the tables), table layout and cards, as sampling kernels read them.

    An all-in before the last street is averaged over `runouts` boards; with 0 it is paid on the dealt board.
    """
    rules = tree.rules
    if cards.deck != rules.deck or cards.deals[: rules.rounds - 1] != rules.board[1:] or rules.board[0]:
        raise InputError(
            f"{cards.name} has boards of {cards.deals} cards from {len(cards.deck.cards)}, but the game {rules.name!r} deals "
            f"{rules.board} from {len(rules.deck.cards)}"
        )
    if len(cards.streets) != rules.rounds:
        streets = f"{len(cards.streets)} streets"
        raise InputError(f"{cards.name} has {streets}, but the game {rules.name!r} has {rules.rounds}")
    nodes = np.zeros((len(tree), 4), np.int32)
    terminal = tree.actor < 0
    nodes[:, 0] = tree.street + (tree.count.astype(np.int32) << kernels.COUNT_SHIFT)
    nodes[:, 0] += kernels.SEAT_BIT * (tree.actor == 1) + kernels.TERMINAL_BIT * terminal
    nodes[:, 0] += kernels.SHOWDOWN_BIT * tree.showdown
    nodes[:, 1] = np.where(terminal, 0, tree.first)
    nodes[:, 2] = np.where(terminal, 0, 2 * tree.slot)
    nodes.view(np.float32)[:, 3] = tree.payoff / tables.unit
    board = sum(rules.board)
    equity = _preflop_equity(cards, rules.rounds) if runouts else np.zeros((0, 0), np.float32)
    layout = nodes.reshape(-1), nodes.view(np.float32).reshape(-1), tables.base, tables.width
    deck = rules.deck.cards, ranking_tables(rules.hole + board), _direct_lookup(cards, rules.rounds)
    return deal_kernels.SamplingGame(*layout, *deck, rules.hole, board, equity, runouts)


def _preflop_equity(cards: CardAbstraction, rounds: int) -> Array:
    """Return the expected payoff of a preflop all-in for one chip, 2 × equity - 1, by canonical hands of both players.

    float32 [169, 169]; empty in other games than hold'em.
    """
    if cards.deck != FULL_DECK or sum(cards.deals[: rounds - 1]) != 5:
        return np.zeros((0, 0), np.float32)
    number, kind = cards.indexer(0).index(cards.deck.hands), starting_hand_classes()
    class_of = np.zeros(cards.indexer(0).size(), np.int64)
    class_of[number] = kind
    return (2 * preflop_equities(threads=2)[np.ix_(class_of, class_of)] - 1).astype(np.float32)


def _direct_lookup(cards: CardAbstraction, rounds: int) -> deal_kernels.DirectLookup:
    """Tabulate the buckets of all hands on all boards, if they are few and do not depend on the order of deals.

    Otherwise the table of buckets is empty, and kernels do not use it.
    """
    deck, shown = cards.deck, cards.board_sizes[:rounds]
    size, hole, hands = len(deck.cards), deck.hole, deck.num_hands
    sizes = [hands * math.comb(size, n) for n in shown]
    place, hand = np.zeros(52, np.uint8), np.zeros(size**hole, np.int32)
    place[deck.cards] = np.arange(size)
    start = np.cumsum([0, *sizes[:-1]])
    history_free = cards.public is None and all(len(street.cuts) <= 1 for street in cards.streets)
    if not history_free or size > _MAX_DIRECT_CARDS or sum(sizes) > _MAX_DIRECT_ENTRIES:
        return deal_kernels.DirectLookup(
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
            hole_cards = np.broadcast_to(deck.hands[k], (int(free.sum()), hole))
            table[free, k] = cards.buckets(np.hstack([hole_cards, deck.cards[boards[free]]]), check=False)[:, 0, street]
    return deal_kernels.DirectLookup(place, hand, board, bucket, start, np.array(shown, np.int64), hands)


@dataclass(frozen=True)
class Weighting:
    """Weighting of iterations: a schedule that advances once a period.

    At the end of period t regrets and averages are multiplied by the factors of `schedule.step(t + 1)`. Pluribus does
    so for linear weighting (Brown & Sandholm 2019). Discounts stop after the period that ends with iteration `until`.
    """

    schedule: str | schedules.Schedule = "vanilla"
    period: int = 1 << 20  # iterations
    until: int | None = None

    def __post_init__(self) -> None:
        schedule = schedules.parse("vanilla" if self.schedule == "none" else self.schedule)
        if not isinstance(schedule, schedules.Schedule) or schedule.floored or schedule.predictive or schedule.stakes:
            raise InputError(
                f"weighting {self.schedule}: must be none, linear or dcfr:alpha=…,beta=…,gamma=… with sampling"
            )
        object.__setattr__(self, "schedule", schedule)
        if self.period < 1:
            raise InputError(f"weighting {schedule}: period={self.period}: must be at least 1 iteration")
        object.__setattr__(self, "period", -(-self.period // LOOKUP_BLOCK) * LOOKUP_BLOCK)

    @property
    def discounts(self) -> bool:
        """Whether any factor differs from one."""
        return schedules.parse(self.schedule).discounts

    def factors(self, period: int) -> tuple[float, float, float] | None:
        """Return the factors on positive regrets, negative regrets and averages at the start of a period (from 1)."""
        if self.until is not None and (period - 1) * self.period > self.until:
            return None
        step = schedules.parse(self.schedule).step(period)
        return step.positive, step.negative, step.decay


def round_weight(weight: float) -> float:
    """Round the discounted weight of a run to 1/1,024, so that adding iterations is exact for steps of any length."""
    return round(weight * _WEIGHT_STEPS) / _WEIGHT_STEPS


@dataclass(frozen=True)
class Pruning:
    """Regret-based pruning: actions with very negative regret are skipped on most deals (Pluribus, Brown & Sandholm
    2019).

    Actions are never pruned on the last street, nor if they end the hand, nor all at a decision.
    """

    threshold: float  # chips, negative: actions with smaller regrets are pruned
    after: int = 0  # iterations before pruning begins
    odds: float = 0.95  # share of deals with pruning
    floor: float | None = None  # lower bound of regrets, so that actions can recover; by default 31/30 of the threshold

    def __post_init__(self) -> None:
        if not -math.inf < self.threshold < 0:
            raise InputError(f"pruning threshold {self.threshold:g}: must be a number of chips below zero")
        if not 0 <= self.odds <= 1:
            raise InputError(f"pruning odds {self.odds:g}: must be a share of the deals, 0 to 1")
        if self.floor is not None and self.floor > self.threshold:
            raise InputError(f"pruning floor {self.floor:g}: must not be above the threshold of {self.threshold:g}")

    @property
    def regret_floor(self) -> float:
        """Lower bound of regrets."""
        return self.threshold * 31 / 30 if self.floor is None else self.floor


# --- workspaces and threads of sampling kernels ---

_NEVER = 1 << 62  # first deal that may prune, without pruning
MAX_GROUP = 16  # deals traversed with the same strategy, if memory allows
_MAX_NOTE_BYTES = 1 << 26  # memory for the notes of a group


class DealGroup:
    """Memory sizes of a group of deals, which are traversed together with the strategy of the group's start."""

    def __init__(self, nodes: Array) -> None:
        # Most own decisions, opponent decisions and slots in both traversals of one deal. int64 [3]
        self.need = np.zeros(3, np.int64)
        kernels.max_notes(nodes, np.zeros((len(nodes) // 4, 3), np.int64), self.need)
        fitting = max(1, _MAX_NOTE_BYTES // int(self.need @ (24, 8, 8)))
        self.size = min(MAX_GROUP, 1 << fitting.bit_length() - 1)  # deals of a group: a power of two
        self.entries = int(self.need[0] + self.need[1]) * self.size  # most entries of a group's journal

    def make_notes(self, *front: int) -> kernels.TraversalNotes:
        """Allocate notes of the traversals of a group; `front` are leading axes of the arrays, for many groups."""
        own, other, slots = (int(n) * self.size + 1 for n in self.need)
        slots += 2 * self.size
        return kernels.TraversalNotes(
            **zeros((*front, own), own=np.uint64, at=np.uint64, first=np.int64),
            other=np.zeros((*front, other), np.uint64),
            **zeros((*front, slots), sigma=np.float32, value=np.float32, cut=np.uint64),
            sign=np.zeros((*front, 2 * kernels.SIGNS * self.size), np.float32),
        )

    def make_journals(self, max_actions: int, groups: int) -> kernels.Journal:
        """Allocate journals, which collect the increments of as many groups until they are applied to the tables."""
        amounts = np.zeros((groups, self.entries * max_actions), np.float32)
        return kernels.Journal(np.zeros((groups, self.entries, 2), np.uint64), amounts, np.zeros((groups, 2), np.int64))


def make_block(game: deal_kernels.SamplingGame, deals: int, streets: int | None = None) -> deal_kernels.DealBlock:
    """Allocate the memory of a block of deals, with buckets of all streets or of the first `streets`."""
    size, streets = 2 * game.hole + game.board, streets or len(game.base)
    return deal_kernels.DealBlock(
        keys=np.zeros(deals, np.uint64),
        cards=np.zeros((deals + 1) * size, np.uint8),
        layers=np.zeros((deals, streets), np.int64),
        numbers=np.zeros((deals, 2, streets), np.int64),
        buckets=np.zeros((deals, 2, streets), np.int32),
        result=np.zeros(deal_kernels.STREETS * deals, np.float32),
        rows=np.zeros(8 * deals, np.uint64),
        weight=np.ones(deals, np.float32),
        prune=np.zeros(deals, np.bool_),
    )


def empty_journal() -> kernels.Journal:
    """Return a journal without entries, with which kernels apply increments to the tables immediately."""
    return kernels.Journal(np.zeros((0, 2), np.uint64), np.zeros(0, np.float32), np.zeros(2, np.int64))


def update_rule(tables: BucketTables, pruning: Pruning | None) -> kernels.UpdateRule:
    """Return weights of increments and pruning thresholds, in units of the tables."""
    if pruning is None:
        return kernels.UpdateRule(tables.share, -np.inf, -np.inf, 0.0, _NEVER)
    least, threshold = pruning.regret_floor / tables.unit, pruning.threshold / tables.unit
    return kernels.UpdateRule(tables.share, least, threshold, pruning.odds, pruning.after)


def deal_range(seed: int, begin: int, end: int) -> deal_kernels.DealRange:
    """Return deals begin … end - 1 of the run with a seed, with a counter from which threads take blocks of them."""
    return deal_kernels.DealRange(np.uint64(seed % 2**64), begin, end, np.zeros(1, np.int64))
