"""The tables of a walk: what numbers are kept in, how much memory they take, and the memory itself."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from riverboat.compiled.hugepages import zeros
from riverboat.compiled.simd import BIAS, SHIFTS
from riverboat.core.errors import InputError, MemoryLimitError, shown
from riverboat.core.formatting import show_bytes
from riverboat.core.resources import available_memory
from riverboat.engines.cpu._kernels.node import BoardTables
from riverboat.engines.cpu.locks import lock_arrays
from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree

BEHIND = 16  # numbers behind the end of a table: vectors are read whole


class Format(NamedTuple):
    """What tables are kept in, and what is computed in."""

    regret: str
    average: str
    work: str

    @property
    def bytes(self) -> int:
        """For one information set and action."""
        return np.dtype(self.regret).itemsize + np.dtype(self.average).itemsize


FORMATS = {
    "compact": Format("float32", "uint16", "float32"),
    "16-bit": Format("int16", "uint16", "float32"),
    "float32": Format("float32", "float32", "float32"),
    "float64": Format("float64", "float64", "float64"),
}


def table_format(name: str) -> Format:
    """A format by name."""
    if name not in FORMATS:
        raise InputError(f"dtype {shown(name)}: one of {', '.join(FORMATS)}")
    return FORMATS[name]


def format_of(average: Any) -> Format:
    """The format in which a table of averages may have been learnt, the widest of them."""
    return next(form for form in FORMATS.values() if form.average == np.dtype(average).name)


def table_bytes(size: int, form: Format, *, predictive: bool = False, apart: bool = False) -> int:
    """Memory of tables of so many numbers. `apart`: players answer a copy, so that both see the same profile."""
    more = predictive + apart * (1 + predictive)
    return size * (form.bytes + more * np.dtype(form.regret).itemsize)


def allocate(
    tree: BoardTree, form: Format, *, predictive: bool = False, apart: bool = False, memory: int | None = None
) -> BoardTables:
    """Tables to learn in, all zeros but for the locks; refused where they take more than `memory` or than is free."""
    need, free = table_bytes(tree.table, form, predictive=predictive, apart=apart), available_memory()
    bound = min(x for x in (memory, free, need) if x is not None)
    if need > bound:
        smaller = "" if form == FORMATS["16-bit"] else "; dtype='16-bit' needs the least"
        raise MemoryLimitError(
            f"{tree.name}: the tables need {show_bytes(need)} and {show_bytes(bound)} are allowed{smaller}"
        )
    size = tree.table + BEHIND
    regret, average = zeros(size, form.regret), zeros(size, form.average)
    prediction = zeros(size if predictive else 0, form.regret)
    lock, locked = lock_arrays(tree, form.work)
    hold(tree, form, regret, lock, locked)
    seen = (regret.copy(), prediction.copy()) if apart else (regret, prediction)
    return BoardTables(regret, average, prediction, *seen, lock, locked)


def hold(tree: BoardTree, form: Format, regret: Array, lock: Array, locked: Array) -> None:
    """Regrets that play what is locked; the walk puts them back after each update."""
    if len(lock) and form.regret == "int16":
        raise InputError("locks need float32 or float64 regrets: dtype='compact'")
    for board, node, at in lock:
        start, width, rows = block(tree, int(board), int(node))
        size = width * rows
        regret[start : start + size] = np.maximum(locked[at : at + size], 0.0)


def reading(tree: BoardTree, average: Array) -> BoardTables:
    """A table of averages as walks want it, with nothing to learn. It is read where it lies."""
    if average.ndim != 1 or len(average) < tree.table:
        raise InputError(f"{tree.name}: {average.shape} numbers for a table of {tree.table}")
    if not average.flags.writeable:  # the loops were compiled for arrays without that mark; nothing is written
        memory = (ctypes.c_char * average.nbytes).from_address(average.ctypes.data)
        average = np.frombuffer(memoryview(memory), average.dtype)
    form = format_of(average.dtype)
    none = np.zeros(0, form.regret)
    return BoardTables(none, average, none, none, none, *lock_arrays(tree, form.work))


def block(tree: BoardTree, board: int, node: int) -> tuple[int, int, int]:
    """Where the numbers of a decision on a board begin in a table, how many moves it has, and how many rows."""
    f, boards = tree.forest, tree.boards
    who = int(f.actor[node])
    rows = int(boards.rows[board, who])
    return int(boards.base[board, who]) + int(f.slot[node]) * rows, int(f.width[node]), rows


def copy_play(
    source: BoardTree, given: Array, target: BoardTree, table: Array, pairs: Iterable[tuple[int, int]]
) -> None:
    """Write what a table plays at some nodes into the table of another tree of the same boards and rows.

    Pairs are nodes of the two forests; each pair has the same player and moves.
    """
    if given.dtype != table.dtype:
        raise InputError(f"{source.name}: a table of {given.dtype} is not written into one of {table.dtype}")
    if not np.array_equal(source.boards.rows, target.boards.rows):
        raise InputError(f"{source.name}: other boards or rows than in {target.name}")
    for here, there in pairs:
        if (source.forest.actor[here], source.forest.width[here]) != (
            target.forest.actor[there],
            target.forest.width[there],
        ):
            raise InputError(f"{source.name}: node {here} is another decision than node {there} of {target.name}")
        street = int(np.searchsorted(source.forest.first, here, "right")) - 1
        for board in range(source.street_at[street], source.street_at[street + 1]):
            at, width, rows = block(source, board, here)
            to, _, _ = block(target, board, there)
            table[to : to + width * rows] = given[at : at + width * rows]


def encoded(numbers: Array, dtype: Any) -> Array:
    """Numbers from 0 to 1 as a table of averages of some type keeps them: of sixteen bits, what `lanes.decode` reads back."""
    if np.dtype(dtype) != np.uint16:
        return np.asarray(numbers, dtype)
    bits = (np.asarray(numbers, np.float32) + np.float32(2.0**-31)).view(np.uint32) - np.uint32(BIAS)
    half = np.uint32(1 << (SHIFTS[False] - 1))
    codes: Array = ((bits + half) >> np.uint32(SHIFTS[False])).astype(np.uint16)
    return codes
