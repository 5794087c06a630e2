"""Traversal of best responses with boards on a GPU.

The CPU deals the boards below one board of the second street, ranks their hands and finds their buckets
(`list_boards_below`). The device evaluates the betting on all of them and returns the values at the ends of the first
street, which the CPU evaluates. So pieces, folders and results are those of `ResponseTraversal`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from threading import Lock
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import format_bytes
from riverboat.engines.cuda.board_engine import free_bytes, to_device
from riverboat.engines.cuda.compilation import SIMULATED, compile_kernels, cuda, cuda_unavailable_reason
from riverboat.evaluation.best_response import traversal
from riverboat.evaluation.best_response._kernels import cuda as device_kernels
from riverboat.evaluation.best_response._kernels import last_street
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response._kernels.cuda import NUM_CARDS, ResponseDeviceSizes
from riverboat.evaluation.best_response.traversal import ResponsePlan, ResponseTraversal
from riverboat.strategies.blueprint import Blueprint

THREADS = 3 if SIMULATED else 128
SHOWDOWN_BLOCK_BYTES = 27_136  # shared memory of a showdown block: eight blocks fill one multiprocessor
MEMORY_FRACTION = 0.6  # share of the free memory for the boards of the last street
MAX_BYTES = 1 << 20 if SIMULATED else 24 << 30
MAX_REGISTERS = 64


KERNELS = (
    "propagate_reach", "pay_folds", "gather_street_ends", "average_street_ends", "backup_values", "load_entry_reach",
    "accumulate_showdowns", "evaluate_last_street",
)  # fmt: skip


class _DeviceStreet(NamedTuple):
    """Data of a street between the first and the last, on the device."""

    table: Any  # the opponent's strategy
    own_table: Any  # strategy of players with FOLLOW_STRATEGY
    folds: Any  # items of its folds
    street_ends: Any  # items of its street ends
    entry_items: Any  # items that street ends of the previous street lead to
    reach: Any
    value: Any
    gained: Any  # summed values of its street ends


@dataclass(frozen=True)
class DealWorkspace:
    """Workspace of a CPU thread that deals boards."""

    workspace: kernels.ResponseWorkspace
    dealt: tuple[kernels.DealtBoards, ...]
    boards: Array  # int64 [streets]: boards of each street

    @property
    def boards_visited(self) -> Array:
        """Boards visited, by street."""
        return self.workspace.boards_visited


@cache
def compile_response_kernels(dtype: Any) -> SimpleNamespace:
    """Compile all CUDA kernels of best responses for a precision of the last street."""
    kind = np.dtype(dtype)
    names = {**vars(device_kernels), "real": np.float32 if kind == np.float32 else np.float64}
    names.update(KIND=from_dtype(kind), DOUBLE=from_dtype(np.dtype(np.float64)))
    limits = {} if SIMULATED else {"max_registers": MAX_REGISTERS}
    return compile_kernels(names, KERNELS, **dict.fromkeys(KERNELS, limits))


class DeviceResponseTraversal(ResponseTraversal):
    """`ResponseTraversal` that evaluates boards on a GPU: CPU threads deal boards, one at a time uses the GPU."""

    group_size = 1  # boards of the second street that the device evaluates at once

    def __init__(self, strategy: Blueprint, plan: ResponsePlan) -> None:
        reason = cuda_unavailable_reason()
        if reason is not None:
            raise InputError(f"{strategy.rules.name}: cannot compute a best response on a GPU: {reason}")
        super().__init__(strategy, plan)
        self.hands = len(self.cards.held.mask)
        self.lock, self.kernels = Lock(), compile_response_kernels(plan.last.pay.dtype)
        if not len(self.boards.cards):
            return
        self.end = self.rules.rounds - 1  # the last street
        count, cards = len(self.rules.deck.cards), self.cards
        self.hands_per_board = [comb(count - int(shown), cards.hole) for shown in cards.shown]
        self.max_boards = [1, 1]  # boards of each street below one board of the second
        for s in range(2, self.end + 1):
            self.max_boards.append(self.max_boards[-1] * comb(count - int(cards.shown[s - 1]), int(cards.dealt[s])))
        self._check_memory(strategy)
        self._items = type(plan.items)(*map(to_device, plan.items))
        self._pairs, self._maps = to_device(_hand_of_cards(cards)), to_device(cards.hand_maps.astype(np.int32).ravel())
        self._dealt = tuple(kernels.DealtBoards(*map(to_device, street)) for street in self._empty_streets())
        self._root = to_device(self.root.reach[:, : self.hands].ravel())
        self._first = cuda.device_array(len(self.street_ends) * self.hands, np.float64)  # values of the street ends
        ranges = zip(self.items.at[1:-1], self.items.at[2:], strict=True)
        self._first_vectors = [0, *(int(self.items.reach[low:high].min()) for low, high in ranges), 0]
        self._middle = [self._send_street(s) for s in range(1, self.end)]
        self._send_last(strategy)

    # --- Memory ---

    def _check_memory(self, strategy: Blueprint) -> None:
        free = free_bytes()
        need = self.plan.weight_bytes(strategy.buckets[-1])
        for s in range(1, self.end):
            low, high = self.items.at[s : s + 2]
            need += 3 * 8 * int(high - low) * self.max_boards[s] * self.hands_per_board[s]
        if free is not None and need > free * (1 - MEMORY_FRACTION):
            raise MemoryLimitError(
                f"best response in {self.rules.name}: tables and vectors need {format_bytes(need)} and the device has "
                f"{format_bytes(free)} free: use device='cpu'"
            )

    def _empty_streets(self) -> list[kernels.DealtBoards]:
        streets = []
        for s in range(self.end + 1):
            num_boards, live = self.max_boards[s], self.hands_per_board[s]
            hand, bucket, packed = (np.zeros(num_boards * live, dtype) for dtype in (np.uint16, np.int32, np.uint32))
            place, first = np.zeros(num_boards * self.hands, np.int16), np.zeros(num_boards + 1, np.int32)
            parent, multiplicity, group = (np.zeros(num_boards, dtype) for dtype in (np.int32, np.float64, np.int64))
            streets.append(kernels.DealtBoards(hand, place, bucket, packed, first, parent, multiplicity, group))
        streets[0].hand[:] = np.arange(self.hands_per_board[0])
        streets[0].first[1] = 1
        return streets

    def _send_street(self, s: int) -> _DeviceStreet:
        items = self.items
        low, high = (int(x) for x in items.at[s : s + 2])
        kind, vectors = items.kind[low:high], items.reach[low:high]
        numbers = self.max_boards[s] * self.hands_per_board[s]
        street_ends = low + np.flatnonzero(kind == kernels.STREET_END)
        strategies = self.opponent_tables.tables[s], self.own_tables.tables[s]
        places = low + np.flatnonzero(kind == kernels.FOLD), street_ends, self._entry_items(s)
        rows = int(vectors.max() - vectors.min()) + 1, high - low, max(1, len(street_ends))
        memory = (cuda.device_array(count * numbers, np.float64) for count in rows)
        return _DeviceStreet(*map(to_device, strategies + places), *memory)

    def _entry_items(self, s: int) -> Array:
        """Return the items of street s that the ends of the previous street lead to, in their order."""
        low, high = self.items.at[s : s + 2]
        entries: Array = low + np.flatnonzero(self.items.entry[low:high] >= 0)
        return np.asarray(entries[np.argsort(self.items.entry[entries])])

    def _send_last(self, strategy: Blueprint) -> None:
        last, weight = self.plan.last, self.last.weight
        if not len(weight):
            weight = traversal.with_all_weights(traversal.with_table(last, strategy), strategy.buckets[-1]).weight
        self.lanes = last.entry.shape[1]
        columns, first, shown_first = _sequence_columns(last)
        self.width, self.num_showdowns = len(columns.at), int((columns.shown >= 0).sum())
        self._columns = device_kernels.SequenceColumns(*map(to_device, columns))
        begin = np.append(last.batch[:, 3], last.batch[-1, 4]).astype(np.int32)
        op, entry = (numbers.astype(np.int32).ravel() for numbers in (last.op, last.entry))
        program = begin, op, last.pay, first, shown_first, entry
        self._program = device_kernels.LastStreetProgram(*map(to_device, program))
        self.levels = int(last.op[:, 2].max()) + 1
        self._weight, self.length = to_device(weight), len(last.source)
        parents, live, dtype = self.max_boards[self.end - 1], self.hands_per_board[self.end], last.pay.dtype
        before = parents * self.hands_per_board[self.end - 1]
        self._entry_reach = cuda.device_array(last.entry.size * before, dtype)
        self._entry_values = cuda.device_array(last.entry.size * before, np.float64)
        free, board_bytes = free_bytes(), (self.width + self.num_showdowns) * live * dtype.itemsize
        limit = MAX_BYTES if free is None else min(MAX_BYTES, int(free * MEMORY_FRACTION))
        self.boards_per_launch = max(self.max_boards[self.end] // parents, limit // board_bytes)
        self._net = cuda.device_array(max(1, self.num_showdowns) * live * self.boards_per_launch, dtype)
        self._compatible = cuda.device_array(self.width * live * self.boards_per_launch, dtype)

    def make_workspace(self) -> Any:
        """Create a workspace for a thread that deals."""
        boards = np.zeros(self.end + 1, np.int64)
        return DealWorkspace(super().make_workspace(), tuple(self._empty_streets()), boards)

    # --- Traversal ---

    def evaluate_boards(self, workspace: Any, boards: Array, multiplicity: Array, groups: Array) -> Array:
        """Return the values that a board of the second street adds at the ends of the first. float64 [ends, hands]"""
        board, out = kernels.ResponseBoards(boards, multiplicity, groups), (workspace.dealt, workspace.boards)
        kernels.list_boards_below(self.cards, self.lookup, board, workspace.workspace, *out)
        with self.lock:
            return self._evaluate(workspace)

    def _evaluate(self, workspace: DealWorkspace) -> Array:
        boards = [1, *(int(n) for n in workspace.boards[1:])]
        for s in range(1, self.end + 1):
            self._send_boards(s, workspace.dealt[s], boards[s])
        launch = self.kernels
        for s, street in enumerate(self._middle, 1):
            sizes, before = self._sizes(s, boards), self._root if s == 1 else self._middle[s - 2].reach
            reach = self._dealt[s], before, street.reach
            launch.propagate_reach[_grid(sizes.span)](self._items, street.table, *reach, sizes)
            if len(street.folds):
                memory = 8 * (sizes.live + NUM_CARDS + 1)
                launch.pay_folds[(len(street.folds), boards[s]), THREADS, 0, memory](
                    self._items, street.folds, self._pairs, self._dealt[s], street.reach, street.value, sizes
                )
        gained, street_ends, lanes = self._evaluate_last_street(boards, workspace.dealt[self.end - 1].first)
        for s in range(self.end - 1, 0, -1):
            street, sizes = self._middle[s - 1], self._sizes(s, boards)
            launch.average_street_ends[_grid(sizes.span, len(street_ends))](
                street_ends, lanes, self._dealt[s], self._maps, self.cards.chance[s + 1], gained, street.value, sizes
            )
            launch.backup_values[_grid(sizes.span)](self._items, street.own_table, self._dealt[s], street.value, sizes)
            before = self._dealt[s - 1]
            gained = self._middle[s - 2].gained if s > 1 else self._first
            launch.gather_street_ends[_grid(sizes.before_span, len(street.entry_items))](
                street.entry_items, before.hand, before.first, self._dealt[s], street.value, gained, sizes
            )
            street_ends, lanes = (self._middle[s - 2].street_ends if s > 1 else self.street_ends), 1
        return self._fetch(gained, street_ends, lanes)

    def _fetch(self, gained: Any, street_ends: Any, lanes: int) -> Array:
        """Copy the values at the ends of the first street to the CPU, in their order. float64 [ends, hands]

        `gained` is interleaved by lane; entries of `street_ends` below 0 are unused lanes.
        """
        items = street_ends if isinstance(street_ends, np.ndarray) else street_ends.copy_to_host()
        raw = gained[: len(items) * self.hands].copy_to_host().reshape(-1, self.hands, lanes)
        by_item = raw.transpose(0, 2, 1).reshape(len(items), self.hands)
        out = np.zeros((len(self.street_ends), self.hands))
        used = items >= 0
        out[np.searchsorted(self.street_ends, items[used])] = by_item[used]
        return out

    def _evaluate_last_street(self, boards: list[int], first: Array) -> tuple[Any, Any, int]:
        """Evaluate the last street; return the values at its entries, their items and the number of lanes."""
        launch, end, lanes, program = self.kernels, self.end, self.lanes, self._program
        sizes = self._sizes(end, boards)
        parent_reach = self._middle[-1].reach if self._middle else self._root
        batches = len(program.column)
        launch.load_entry_reach[_grid(sizes.before_span * lanes, batches)](
            program, self._items, lanes, parent_reach, self._entry_reach, sizes
        )
        here, before = self._dealt[end], self._dealt[end - 1]
        size = self.plan.last.pay.dtype.itemsize
        showdown_threads = THREADS if SIMULATED else SHOWDOWN_BLOCK_BYTES // (NUM_CARDS * size) // 32 * 32
        low = 0
        while low < boards[end - 1]:  # as many boards of the previous street as fit in memory with their children
            high = low + 1
            while high < boards[end - 1] and first[high + 1] - first[low] <= self.boards_per_launch:
                high += 1
            count = int(first[high] - first[low])
            chunk_sizes = sizes._replace(low=int(first[low]), high=self.num_showdowns, vector=self.width)
            launch.accumulate_showdowns[
                (-(-self.width // showdown_threads), count), showdown_threads, 0, showdown_threads * NUM_CARDS * size
            ](here, self._columns, lanes, self._weight, self._entry_reach, self._net, self._compatible, chunk_sizes)
            threads = _grid(sizes.before_live * lanes)[0]
            tables = self._weight, self._net, self._compatible, self._entry_values
            launch.evaluate_last_street[(threads, batches, high - low), THREADS, 0, self.levels * THREADS * size](
                program, here, before, lanes, *tables, chunk_sizes._replace(low=low)
            )
            low = high
        return self._entry_values, program.entry, lanes

    def _sizes(self, s: int, boards: list[int]) -> ResponseDeviceSizes:
        low, high, stride = 0, 0, self.length
        if s < self.end:
            low, high, stride = int(self.items.at[s]), int(self.items.at[s + 1]), int(self.opponent_tables.stride[s])
        live, before_live = self.hands_per_board[s], self.hands_per_board[s - 1]
        counts = live, boards[s] * live, before_live, boards[s - 1] * before_live
        vectors = self._first_vectors[s], self._first_vectors[s - 1]
        return ResponseDeviceSizes(self.hands, int(self.cards.hole == 2), *counts, low, high, *vectors, stride)

    def _send_boards(self, s: int, dealt: kernels.DealtBoards, boards: int) -> None:
        target: Any
        for part, target in zip(dealt, self._dealt[s], strict=True):
            used = boards + 1 if part is dealt.first else boards * (len(part) // self.max_boards[s])
            target[:used].copy_to_device(part[:used])


def _grid(count: int, others: int = 1) -> tuple[Any, int]:
    blocks = -(-count // THREADS)
    return ((blocks, others) if others > 1 else blocks), THREADS


def _hand_of_cards(cards: kernels.ResponseCards) -> Array:
    """Return the index of the hand of each pair of cards; -1: none. int16 [NUM_CARDS · NUM_CARDS]"""
    pairs = np.full((NUM_CARDS, NUM_CARDS), -1, np.int16)
    for h, (first, second) in enumerate(zip(cards.held.first, cards.held.second, strict=True)):
        pairs[first, second] = pairs[second, first] = h
    return pairs.ravel()


def _sequence_columns(last: last_street.LastStreet) -> tuple[device_kernels.SequenceColumns, Array, Array]:
    """Return the columns of all batches, and the first column of each batch, among all and with a showdown."""
    lanes = last.entry.shape[1]
    parts = []
    for b, (begin, num_shown, size, low, high) in enumerate(last.batch.tolist()):
        sequence, ops = np.repeat(np.arange(size), lanes), last.op[low:high]
        folds = ops[ops[:, 0] == last_street.OP_FOLD, 1]
        at = begin + np.arange(size * lanes)
        parts.append((at, np.full(size * lanes, b), sequence < num_shown, np.isin(sequence, folds)))
    at, batch, shows, folded = (np.concatenate(column) for column in zip(*parts, strict=True))
    shown = np.where(shows, np.cumsum(shows) - 1, -1)
    at, batch, shown = (part.astype(np.int32) for part in (at, batch, shown))
    columns = device_kernels.SequenceColumns(at, batch, shown, folded.astype(np.int8))
    first, shown_first = (np.append(0, np.cumsum(last.batch[:-1, k] * lanes)).astype(np.int32) for k in (2, 1))
    return columns, first, shown_first
