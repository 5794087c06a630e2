"""Room for compiled walks, and the threads that do them; shared by solvers whose walks are those of `_blueprint_kernels`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels import deal as deal_kernels
from riverboat.engines.sampling._kernels import external as kernels
from riverboat.solvers.mccfr.tables import BucketTables, Pruning

_NEVER = 1 << 62
GROUP = 16  # deals that are walked with the same strategy, where there is room
_ROOM = 1 << 26  # bytes of a group's notes


def most_need(nodes: Array, count: int) -> Array:
    """Own decisions, opponents' decisions and slots that both walks of one deal may need. int64 [3]"""
    need = np.zeros(3, np.int64)
    kernels.room(nodes, np.zeros((count, 3), np.int64), need)
    return need


def fitting_group(need: Array, most: int = _ROOM) -> int:
    """How many deals a group may have: a power of two."""
    room = max(1, most // int(need @ (24, 8, 8)))
    return min(GROUP, 1 << room.bit_length() - 1)


def make_block(game: kernels.Game, deals: int, streets: int | None = None) -> kernels.Block:
    """Room for some deals, on all streets or the first ones."""
    all_streets, size = len(game.base), 2 * game.hole + game.board
    streets = all_streets if streets is None else streets
    return kernels.Block(
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


def make_notes(need: Array, group: int, *front: int) -> kernels.WalkNotes:
    """Notes of the walks of a group of deals; with `front`, of many groups."""
    own, other, slots = (int(n) * group + 1 for n in need)
    slots += 2 * group
    return kernels.WalkNotes(
        own=np.zeros((*front, own), np.uint64),
        other=np.zeros((*front, other), np.uint64),
        at=np.zeros((*front, own), np.uint64),
        first=np.zeros((*front, own), np.int64),
        sigma=np.zeros((*front, slots), np.float32),
        value=np.zeros((*front, slots), np.float32),
        cut=np.zeros((*front, slots), np.uint64),
        sign=np.zeros((*front, 2 * kernels.SIGNS * group), np.float32),
    )


def no_journal() -> kernels.Journal:
    """Increments are written at once."""
    return kernels.Journal(np.zeros((0, 2), np.uint64), np.zeros(0, np.float32), np.zeros(2, np.int64))


def make_journals(need: Array, group: int, most_moves: int, groups: int) -> kernels.Journal:
    """Room for the increments of some groups of deals."""
    entries = int(need[0] + need[1]) * group
    return kernels.Journal(
        np.zeros((groups, entries, 2), np.uint64),
        np.zeros((groups, entries * most_moves), np.float32),
        np.zeros((groups, 2), np.int64),
    )


def rule_of(tables: BucketTables, pruning: Pruning | None) -> kernels.Rule:
    """How increments are weighed and moves pruned, in units of the tables."""
    if pruning is None:
        return kernels.Rule(tables.share, -np.inf, -np.inf, 0.0, _NEVER)
    least, threshold = pruning.least / tables.unit, pruning.threshold / tables.unit
    return kernels.Rule(tables.share, least, threshold, pruning.odds, pruning.after)


def spread(task: Callable[[int], None], threads: int) -> None:
    """Do a task once on each of some threads."""
    if threads == 1:
        task(0)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="riverboat") as pool:
        list(pool.map(task, range(threads)))
