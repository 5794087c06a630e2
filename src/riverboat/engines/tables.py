"""Tables of an engine: number formats, memory, allocation, and locked nodes of a spot."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from riverboat.compiled.simd import CODE_BIAS, DROPPED_BITS
from riverboat.core.arrays import aligned_zeros
from riverboat.core.errors import InputError, MemoryLimitError, short_repr
from riverboat.core.formatting import format_bytes
from riverboat.core.resources import available_memory
from riverboat.engines.cpu._kernels.node import BoardTables
from riverboat.games.base import Array
from riverboat.games.boards.board_game import DealtCards, expand_deals
from riverboat.games.spots.spot import Spot
from riverboat.trees.boards import BoardTree

# --- locked nodes -------------------------------------------------------------------------------------

UNLOCKED = -1.0  # a row that is not locked


def lock_arrays(tree: BoardTree, dtype: Any) -> tuple[Array, Array]:
    """Return the index and the strategies of locked nodes: `lock` and `locked` of `BoardTables`.

    Later locks take precedence.
    """
    game = tree.game
    if not isinstance(game, Spot) or not game.locks:
        return np.zeros((0, 3), np.int32), np.zeros(0, dtype)
    forest_node = {int(node): n for n, node in enumerate(tree.forest.node)}
    tables: dict[tuple[int, int], Array] = {}
    for lock in game.locks:
        at, pattern = tree.betting.find(lock.line, game.joiner, any_card=True)
        node, actions = forest_node[at], tree.betting.actions(at)
        player, probabilities = int(tree.forest.actor[node]), dict(lock.strategy)
        strategy = np.array([[probabilities.get(action, 0.0)] for action in actions])
        dealt = expand_deals(pattern, game.board, game.deck.cards.tolist(), game.deals)
        # The symmetries of the tree fix a lock's hands and the cards in its line. So one hand represents its row,
        # and one board of each class represents the boards that match `*`.
        for board, hands in _locked_boards(tree, dealt):
            rows = int(tree.boards.rows[board, player])
            table = tables.setdefault((board, node), np.full((len(actions), rows), UNLOCKED))
            held = (
                slice(None)
                if lock.hands is None
                else lock.hands.weights[hands[tree.representatives(board, player)]] > 0
            )
            table[:, held] = strategy
    index, start = [], 0
    for (board, node), table in sorted(tables.items()):
        index.append((board, node, start))
        start += table.size
    return np.array(index, np.int32), np.concatenate([t.ravel() for _, t in sorted(tables.items())]).astype(dtype)


def _locked_boards(tree: BoardTree, dealt: Iterable[DealtCards]) -> Iterator[tuple[int, Array]]:
    """Yield the representative board of each deal, once, and the map from its hands to the hands dealt. int64 [1326]"""
    seen: set[int] = set()
    for deal in dealt:
        boards, maps = tree.deals.locate(deal)
        if boards[-1] not in seen:
            seen.add(boards[-1])
            dealt_hand = np.empty(len(maps[-1]), np.int64)
            dealt_hand[maps[-1]] = np.arange(len(dealt_hand))
            yield boards[-1], dealt_hand


TABLE_PADDING = 16  # entries after the end of a table: SIMD vectors are read whole


class TableFormat(NamedTuple):
    """Number formats: of stored regrets, of stored averages, and of computations."""

    regret: str
    average: str
    compute: str

    @property
    def bytes_per_entry(self) -> int:
        """Memory of one information set and action, in bytes."""
        return np.dtype(self.regret).itemsize + np.dtype(self.average).itemsize


COMPACT, SIXTEEN_BITS = "compact", "16-bit"
TABLE_FORMATS = {
    COMPACT: TableFormat("float32", "uint16", "float32"),
    SIXTEEN_BITS: TableFormat("int16", "uint16", "float32"),
    "float32": TableFormat("float32", "float32", "float32"),
    "float64": TableFormat("float64", "float64", "float64"),
}


def parse_table_format(name: str) -> TableFormat:
    """Return a table format by its name."""
    if name not in TABLE_FORMATS:
        raise InputError(f"dtype {short_repr(name)}: one of {', '.join(TABLE_FORMATS)}")
    return TABLE_FORMATS[name]


def format_of_average(average: Any) -> TableFormat:
    """Return the table format for a number type of averages, with the most precise regrets."""
    return next(form for form in TABLE_FORMATS.values() if form.average == np.dtype(average).name)


def choose_format(sizes: Mapping[str, int], memory: int | None, *, locks: bool) -> str:
    """Return the format of a spot's tables: compact, or 16-bit if compact tables need more bytes than `memory`.

    `sizes` has the bytes by format. Locked nodes need regrets without rounding.
    """
    return SIXTEEN_BITS if memory is not None and not locks and sizes[COMPACT] > memory else COMPACT


def table_bytes(size: int, form: TableFormat, *, predictive: bool = False, simultaneous: bool = False) -> int:
    """Return the bytes of tables with `size` entries. `simultaneous` adds copies that the opponent plays from."""
    extra = predictive + simultaneous * (1 + predictive)
    return size * (form.bytes_per_entry + extra * np.dtype(form.regret).itemsize)


def check_table_memory(name: str, required: int, memory: int | None, advice: str) -> None:
    """Raise MemoryLimitError if tables need more bytes than `memory` or than are free; `advice` ends its message."""
    allowed = min(x for x in (memory, available_memory(), required) if x is not None)
    if required > allowed:
        raise MemoryLimitError(
            f"{name}: the tables need {format_bytes(required)} and {format_bytes(allowed)} are allowed{advice}"
        )


def allocate_tables(
    tree: BoardTree,
    form: TableFormat,
    *,
    predictive: bool = False,
    simultaneous: bool = False,
    memory: int | None = None,
) -> BoardTables:
    """Allocate tables of zeros, with the regrets of locked nodes set.

    Raises MemoryLimitError if they need more than `memory` or more than is free.
    """
    required = table_bytes(tree.table_size, form, predictive=predictive, simultaneous=simultaneous)
    advice = "" if form == TABLE_FORMATS["16-bit"] else "; dtype='16-bit' needs the least"
    check_table_memory(tree.name, required, memory, advice)
    size = tree.table_size + TABLE_PADDING
    regret, average = aligned_zeros(size, form.regret), aligned_zeros(size, form.average)
    prediction = aligned_zeros(size if predictive else 0, form.regret)
    lock, locked = lock_arrays(tree, form.compute)
    write_locked_regrets(tree, form, regret, lock, locked)
    opponent_tables = (regret.copy(), prediction.copy()) if simultaneous else (regret, prediction)
    return BoardTables(regret, average, prediction, *opponent_tables, lock, locked)


def write_locked_regrets(tree: BoardTree, form: TableFormat, regret: Array, lock: Array, locked: Array) -> None:
    """Write locked strategies to a table of regrets, so that regret matching plays them. Traversals keep them there."""
    if len(lock) and form.regret == "int16":
        raise InputError("locks need float32 or float64 regrets: dtype='compact'")
    for board, node, at in lock:
        start, width, rows = table_block(tree, int(board), int(node))
        size = width * rows
        regret[start : start + size] = np.maximum(locked[at : at + size], 0.0)


def tables_from_average(tree: BoardTree, average: Array) -> BoardTables:
    """Return tables for evaluation only: a table of averages, not copied, and no regrets."""
    if average.ndim != 1 or len(average) < tree.table_size:
        raise InputError(f"{tree.name}: {average.shape} numbers for a table of {tree.table_size}")
    form = format_of_average(average.dtype)
    empty = np.zeros(0, form.regret)
    return BoardTables(empty, writeable_alias(average), empty, empty, empty, *lock_arrays(tree, form.compute))


def writeable_alias(table: Array) -> Array:
    """Return the same memory without the read-only flag, for which Numba would compile every kernel again."""
    if table.flags.writeable:
        return table
    memory = (ctypes.c_char * table.nbytes).from_address(table.ctypes.data)
    alias: Array = np.frombuffer(memoryview(memory), table.dtype)
    return alias


def table_block(tree: BoardTree, board: int, node: int) -> tuple[int, int, int]:
    """Return the offset of a decision on a board in a table, its number of actions, and its number of rows."""
    f, boards = tree.forest, tree.boards
    who = int(f.actor[node])
    rows = int(boards.rows[board, who])
    return int(boards.base[board, who]) + int(f.slot[node]) * rows, int(f.width[node]), rows


def copy_strategy(
    source: BoardTree, source_table: Array, target: BoardTree, table: Array, pairs: Iterable[tuple[int, int]]
) -> None:
    """Copy the strategy at some nodes into the table of another tree with the same boards and rows.

    `pairs`: a node of the source's forest and one of the target's, with the same player and number of actions.
    """
    if source_table.dtype != table.dtype:
        raise InputError(f"{source.name}: a table of {source_table.dtype} cannot be copied into one of {table.dtype}")
    if not np.array_equal(source.boards.rows, target.boards.rows):
        raise InputError(f"{source.name}: its boards or rows differ from those of {target.name}")
    old, new = source.forest, target.forest
    for source_node, target_node in pairs:
        if old.actor[source_node] != new.actor[target_node] or old.width[source_node] != new.width[target_node]:
            raise InputError(
                f"{source.name}: node {source_node} and node {target_node} of {target.name} are different decisions"
            )
        street = int(np.searchsorted(old.first, source_node, "right")) - 1
        for board in range(source.street_start[street], source.street_start[street + 1]):
            at, width, rows = table_block(source, board, source_node)
            to, _, _ = table_block(target, board, target_node)
            table[to : to + width * rows] = source_table[at : at + width * rows]


def encode_averages(numbers: Array, dtype: Any) -> Array:
    """Encode numbers from 0 to 1 for a table of averages; 16-bit codes are those that `simd.decode_codes` reads."""
    if np.dtype(dtype) != np.uint16:
        return np.asarray(numbers, dtype)
    bits = (np.asarray(numbers, np.float32) + np.float32(2.0**-31)).view(np.uint32) - np.uint32(CODE_BIAS)
    half = np.uint32(1 << (DROPPED_BITS[False] - 1))
    codes: Array = ((bits + half) >> np.uint32(DROPPED_BITS[False])).astype(np.uint16)
    return codes
