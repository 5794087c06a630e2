"""The walk of a best response with its boards on a GPU.

The processor deals the boards below one board of the second street, ranks their hands and finds their buckets
(`_response_deal_kernels`); the device walks the betting on all of them and gives back what they are worth at the exits of the
first street, which is walked by the processor as ever. So pieces, folders and results are those of `response_walk`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.engines.cuda.board_engine import free_bytes
from riverboat.engines.cuda.compilation import SIMULATED, bound, cuda, why_not
from riverboat.evaluation.best_response import layout
from riverboat.evaluation.best_response._kernels import cuda as device_kernels
from riverboat.evaluation.best_response._kernels import deal as deals
from riverboat.evaluation.best_response._kernels import last_street as ends
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response._kernels.cuda import CARDS, Columns, Program, Sizes
from riverboat.evaluation.best_response._kernels.deal import Dealt
from riverboat.evaluation.best_response.traversal import Plan, ResponseWalk
from riverboat.strategies.blueprint import BlueprintStrategy

THREADS = 3 if SIMULATED else 128
SUMS = 27_136  # bytes of a block that sweeps: eight blocks at a time fill one of the device's processors
PART = 0.6  # of the free memory, for what is worked out of the boards of the last street
MOST = 1 << 20 if SIMULATED else 24 << 30
REGISTERS = 64
NAMES = ("walk_down", "pay_folds", "gather", "average_exits", "walk_up", "lay_out_entries", "sweep", "value_ends")


class Kernels(NamedTuple):
    """What is launched."""

    walk_down: Any
    pay_folds: Any
    gather: Any
    average_exits: Any
    walk_up: Any
    lay_out_entries: Any
    sweep: Any
    value_ends: Any


class _Middle(NamedTuple):
    """A street before the last and after the first, on the device."""

    low: int  # items
    high: int
    vector: int  # the first vector of reach
    live: int
    table: Any  # what the opponent plays
    mine: Any
    stride: int
    folds: Any
    exits: Any
    entered: Any  # the items of this street that exits of the one before lead to
    reach: Any
    value: Any
    gained: Any  # at its exits


@dataclass(frozen=True)
class DealRoom:
    """What a thread of the processor needs."""

    room: kernels.Room
    dealt: tuple[Dealt, ...]
    boards: Array  # int64 [streets]: how many there are

    @property
    def walked(self) -> Array:
        """Boards, for the record."""
        return self.room.walked


@cache
def compiled(dtype: Any) -> Kernels:
    """All steps, with numbers of the last street of a type."""
    kind = np.dtype(dtype)
    names = {**vars(device_kernels), "real": np.float32 if kind == np.float32 else np.float64}
    names.update(KIND=from_dtype(kind), DOUBLE=from_dtype(np.dtype(np.float64)))
    limits = {} if SIMULATED else {"max_registers": REGISTERS}
    return Kernels(*(cuda.jit(bound(names[name], names), **limits) for name in NAMES))


class DeviceWalk(ResponseWalk):
    """`ResponseWalk` on a device. Threads of the processor deal; one at a time has the device."""

    def __init__(self, strategy: BlueprintStrategy, plan: Plan) -> None:
        reason = why_not()
        if reason is not None:
            raise InputError(f"{strategy.rules.name}: no best response on a GPU: {reason}")
        super().__init__(strategy, plan)
        self.lock, self.kernels = Lock(), compiled(plan.last.pay.dtype)
        if not len(self.boards.cards):
            return
        self.end = self.rules.rounds - 1
        count, cards = len(self.rules.deck.cards), self.cards
        self.live = [comb(count - int(shown), cards.hole) for shown in cards.shown]
        self.most = [1, 1]  # boards of each street below one of the second
        for s in range(2, self.end + 1):
            self.most.append(self.most[-1] * comb(count - int(cards.shown[s - 1]), int(cards.dealt[s])))
        self._check_memory(strategy)
        self.hands = len(cards.mask)
        self._items = type(plan.items)(*map(_send, plan.items))
        self._pairs, self._maps = _send(_pairs(cards)), _send(cards.hand_maps.astype(np.int32).ravel())
        self._dealt = tuple(Dealt(*map(_send, street)) for street in self._empty_streets())
        self._root = _send(self.root.reach[:, : self.hands].ravel())
        self._first = cuda.device_array(len(self.exits) * self.hands, np.float64)  # what its exits gain
        self._middle = [self._send_street(s) for s in range(1, self.end)]
        self._send_last(strategy)

    # --- memory -----------------------------------------------------------------------------

    def _check_memory(self, strategy: BlueprintStrategy) -> None:
        free = free_bytes()
        need = self.plan.rows_bytes(strategy.buckets[-1])
        for s in range(1, self.end):
            low, high = self.items.at[s : s + 2]
            need += 3 * 8 * int(high - low) * self.most[s] * self.live[s]
        if free is not None and need > free * (1 - PART):
            raise MemoryLimitError(
                f"best response in {self.rules.name}: tables and vectors need {show_bytes(need)} and the device has "
                f"{show_bytes(free)} free: take device='cpu'"
            )

    def _empty_streets(self) -> list[Dealt]:
        streets = []
        for s in range(self.end + 1):
            most, live = self.most[s], self.live[s]
            streets.append(
                Dealt(
                    np.zeros(most * live, np.uint16),
                    np.zeros(most * len(self.cards.mask), np.int16),
                    np.zeros(most * live, np.int32),
                    np.zeros(most * live, np.uint32),
                    np.zeros(most + 1, np.int32),
                    np.zeros(most, np.int32),
                    np.zeros(most),
                    np.zeros(most, np.int64),
                )
            )
        streets[0].hand[:] = np.arange(self.live[0])
        streets[0].first[1] = 1
        return streets

    def _send_street(self, s: int) -> _Middle:
        items = self.items
        low, high = (int(x) for x in items.at[s : s + 2])
        kind, vectors = items.kind[low:high], items.reach[low:high]
        numbers = self.most[s] * self.live[s]
        exits = low + np.flatnonzero(kind == kernels.EXIT)
        return _Middle(
            low,
            high,
            int(vectors.min()),
            self.live[s],
            _send(self.side.tables[s]),
            _send(self.mine.tables[s]),
            int(self.side.stride[s]),
            _send(low + np.flatnonzero(kind == kernels.FOLD)),
            _send(exits),
            _send(self._entered(s)),
            cuda.device_array((int(vectors.max() - vectors.min()) + 1) * numbers, np.float64),
            cuda.device_array((high - low) * numbers, np.float64),
            cuda.device_array(max(1, len(exits)) * numbers, np.float64),
        )

    def _entered(self, s: int) -> Array:
        """For the exits of the street before: the items of street s that they lead to."""
        low, high = self.items.at[s : s + 2]
        there: Array = low + np.flatnonzero(self.items.entry[low:high] >= 0)
        order: Array = there[np.argsort(self.items.entry[there])]
        return order

    def _send_last(self, strategy: BlueprintStrategy) -> None:
        last = self.plan.last
        whole = self.last
        if not len(whole.weight):
            whole = layout.filled(layout.with_table(last, strategy), strategy.buckets[-1])
        self.lanes = last.entry.shape[1]
        columns, first, shown_first = _columns(last)
        self.width, self.shows = len(columns.at), int((columns.shown >= 0).sum())
        self._columns = Columns(*map(_send, columns))
        begin = np.append(last.batch[:, 3], last.batch[-1, 4]).astype(np.int32)
        self._program = Program(
            _send(begin),
            _send(last.op.astype(np.int32).ravel()),
            _send(last.pay),
            _send(first),
            _send(shown_first),
            _send(last.entry.astype(np.int32).ravel()),
        )
        self.levels = int(last.op[:, 2].max()) + 1
        self._weight, self.length = _send(whole.weight), len(last.source)
        before, size = self.most[self.end - 1] * self.live[self.end - 1], last.pay.dtype.itemsize
        self._came = cuda.device_array(last.entry.size * before, last.pay.dtype)
        self._gained = cuda.device_array(last.entry.size * before, np.float64)
        free, each = free_bytes(), (self.width + self.shows) * self.live[self.end] * size
        room = MOST if free is None else min(MOST, int(free * PART))
        follow = self.most[self.end] // self.most[self.end - 1]  # boards that follow one
        self.together = max(follow, room // each)
        self._net = cuda.device_array(max(1, self.shows) * self.live[self.end] * self.together, last.pay.dtype)
        self._met = cuda.device_array(self.width * self.live[self.end] * self.together, last.pay.dtype)

    def room(self) -> Any:
        """Room for a thread that deals."""
        return DealRoom(layout.copied(self.root), tuple(self._empty_streets()), np.zeros(self.end + 1, np.int64))

    # --- the walk ---------------------------------------------------------------------------

    def walk_boards(self, room: Any, boards: Array, times: Array, groups: Array) -> Array:
        """What a board of the second street adds to the exits of the first. float64 [exits, hands]"""
        board = kernels.Boards(boards, times, groups)
        deals.lay_out_boards(self.cards, self.look, board, room.room, room.dealt, room.boards)
        with self.lock:
            return self._walk(room)

    def _walk(self, room: DealRoom) -> Array:
        boards = [1, *(int(n) for n in room.boards[1:])]
        for s in range(1, self.end + 1):
            self._send_boards(s, room.dealt[s], boards[s])
        steps = self.kernels
        for s, street in enumerate(self._middle, 1):
            sizes, above = self._sizes(s, boards), self._root if s == 1 else self._middle[s - 2].reach
            count = sizes.span
            steps.walk_down[_grid(count)](self._items, street.table, self._dealt[s], above, street.reach, sizes)
            if len(street.folds):
                memory = 8 * (street.live + CARDS + 1)
                steps.pay_folds[(len(street.folds), boards[s]), THREADS, 0, memory](
                    self._items, street.folds, self._pairs, self._dealt[s], street.reach, street.value, sizes
                )
        gained, exits, lanes = self._walk_last(boards, room.dealt[self.end - 1].first)
        for s in range(self.end - 1, 0, -1):
            street, sizes = self._middle[s - 1], self._sizes(s, boards)
            steps.average_exits[_grid(sizes.span, len(exits))](
                exits, lanes, self._dealt[s], self._maps, self.cards.chance[s + 1], gained, street.value, sizes
            )
            steps.walk_up[_grid(sizes.span)](self._items, street.mine, self._dealt[s], street.value, sizes)
            before = self._dealt[s - 1]
            gained = self._middle[s - 2].gained if s > 1 else self._first
            steps.gather[_grid(sizes.before_span, len(street.entered))](
                street.entered, before.hand, before.first, self._dealt[s], street.value, gained, sizes
            )
            exits, lanes = (self._middle[s - 2].exits if s > 1 else self.exits), 1
        return self._fetch(gained, exits, lanes)

    def _fetch(self, gained: Any, exits: Any, lanes: int) -> Array:
        """What was gained at the exits of the first street, in their order."""
        items = exits if isinstance(exits, np.ndarray) else exits.copy_to_host()
        raw = gained[: len(items) * self.hands].copy_to_host().reshape(-1, self.hands, lanes)
        by_item = raw.transpose(0, 2, 1).reshape(len(items), self.hands)
        out = np.zeros((len(self.exits), self.hands))
        there = items >= 0
        out[np.searchsorted(self.exits, items[there])] = by_item[there]
        return out

    def _walk_last(self, boards: list[int], first: Array) -> tuple[Any, Any, int]:
        """What the last street is worth at its entries, the exits before it: where that lies, for which items, in lanes."""
        steps, end, lanes, program = self.kernels, self.end, self.lanes, self._program
        sizes = self._sizes(end, boards)
        above = self._middle[-1].reach if self._middle else self._root
        batches = len(program.column)
        steps.lay_out_entries[_grid(sizes.before_span * lanes, batches)](
            program, self._items, lanes, above, self._came, sizes
        )
        here, before = self._dealt[end], self._dealt[end - 1]
        size = self.plan.last.pay.dtype.itemsize
        sweepers = THREADS if SIMULATED else SUMS // (CARDS * size) // 32 * 32
        low = 0
        while low < boards[end - 1]:  # as many boards of the street before as there is room for what follows them
            high = low + 1
            while high < boards[end - 1] and first[high + 1] - first[low] <= self.together:
                high += 1
            count = int(first[high] - first[low])
            some = sizes._replace(low=int(first[low]), high=self.shows, vector=self.width)
            steps.sweep[(-(-self.width // sweepers), count), sweepers, 0, sweepers * CARDS * size](
                here, self._columns, lanes, self._weight, self._came, self._net, self._met, some
            )
            threads = _grid(sizes.before_live * lanes)[0]
            steps.value_ends[(threads, batches, high - low), THREADS, 0, self.levels * THREADS * size](
                program, here, before, lanes, self._weight, self._net, self._met, self._gained, some._replace(low=low)
            )
            low = high
        return self._gained, program.entry, lanes

    def _sizes(self, s: int, boards: list[int]) -> Sizes:
        above = self._middle[s - 2] if s > 1 else None
        street = self._middle[s - 1] if s < self.end else None
        return Sizes(
            hands=self.hands,
            two=int(self.cards.hole == 2),
            live=self.live[s],
            span=boards[s] * self.live[s],
            before_live=self.live[s - 1],
            before_span=boards[s - 1] * self.live[s - 1],
            low=street.low if street else 0,
            high=street.high if street else 0,
            vector=street.vector if street else 0,
            before_vector=above.vector if above else 0,
            stride=street.stride if street else self.length,
        )

    def _send_boards(self, s: int, dealt: Dealt, boards: int) -> None:
        there: Any
        for part, there in zip(dealt, self._dealt[s], strict=True):
            used = boards + 1 if part is dealt.first else boards * (len(part) // self.most[s])
            there[:used].copy_to_device(part[:used])


def _grid(count: int, others: int = 1) -> tuple[Any, int]:
    blocks = -(-count // THREADS)
    return ((blocks, others) if others > 1 else blocks), THREADS


def _send(numbers: Array) -> Any:
    return (
        cuda.to_device(np.ascontiguousarray(numbers))
        if numbers.size
        else cuda.to_device(np.zeros(1, numbers.dtype))[:0]
    )


def _pairs(cards: kernels.Cards) -> Array:
    """The hand of each pair of cards, -1 where there is none. int16 [CARDS · CARDS]"""
    pairs = np.full((CARDS, CARDS), -1, np.int16)
    for h, (first, second) in enumerate(cards.hands.tolist()):
        pairs[first, second] = pairs[second, first] = h
    return pairs.ravel()


def _columns(last: ends.LastStreet) -> tuple[Columns, Array, Array]:
    """The sequences of all batches, and the first of each batch among all and among those that meet a showdown."""
    lanes = last.entry.shape[1]
    parts = []
    for b, (begin, met, size, low, high) in enumerate(last.batch.tolist()):
        sequence, ops = np.repeat(np.arange(size), lanes), last.op[low:high]
        folds = ops[ops[:, 0] == ends.FOLDED, 1]
        at = begin + np.arange(size * lanes)
        parts.append((at, np.full(size * lanes, b), sequence < met, np.isin(sequence, folds)))
    at, batch, shows, folded = (np.concatenate(column) for column in zip(*parts, strict=True))
    shown = np.where(shows, np.cumsum(shows) - 1, -1)
    columns = Columns(at.astype(np.int32), batch.astype(np.int32), shown.astype(np.int32), folded.astype(np.int8))
    first, shown_first = (np.append(0, np.cumsum(last.batch[:-1, k] * lanes)).astype(np.int32) for k in (2, 1))
    return columns, first, shown_first
