"""Layout of many trees for a GPU: programs of their betting, their boards, and the work items of thread blocks.

Trees with one number of streets are concatenated, with any betting, boards and rows; a single spot is a batch of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS
from riverboat.core.errors import InputError
from riverboat.engines.cuda._kernels.board import (
    EXIT_WIDTH,
    INNER_WIDTH,
    LAST_WIDTH,
    CudaBoards,
    CudaProgram,
    CudaWorkItems,
)
from riverboat.engines.cuda._kernels.node import MAX_PAID_TERMINALS, OP_WINDOW_SHORTS, PAID_VECTORS, SUM_CHUNK
from riverboat.engines.cuda.program import NodeSlots, OpSpan, ProgramBuilder, StreetProgramBuilder
from riverboat.engines.tables import TABLE_PADDING, TableFormat, lock_arrays, write_locked_regrets
from riverboat.games.base import Array
from riverboat.trees.betting import BettingShape
from riverboat.trees.boards import NO_ROW, BoardTree

HAND_CARD_MATRIX = np.zeros((NUM_HANDS, 52), np.int32)
HAND_CARD_MATRIX[np.arange(NUM_HANDS)[:, None], HAND_CARDS] = 1
ITEMS_PER_BLOCK = 8  # work items for each block at least, because their lengths differ


class CudaLayout(NamedTuple):
    """Arrays of all games for the device, in the processor's memory, and their sizes."""

    program: CudaProgram
    boards: CudaBoards
    items: CudaWorkItems
    streets: int
    stride: int
    hands: int  # most hands on a board
    slots: int  # slots of the last street
    inner: int  # slots of all boards of earlier streets
    parts: int
    moves: int  # most actions at a root
    table: Array  # int64 [games + 1]: offset of the tables of each game
    lock: Array  # int32 [locks * 2], see `CudaContext`
    locked: Array  # float [numbers]

    def shared_memory(self, itemsize: int) -> tuple[int, int, int]:
        """Return sizes of a block's shared memory, in numbers of `itemsize` bytes.

        They are the offset of the running sums, the offset of the slots, and the total.
        """
        ups = 2 * self.stride if self.streets > 1 else 0
        shorts = OP_WINDOW_SHORTS + 10 * self.stride + 3 * self.hands + 53 + 2 * MAX_PAID_TERMINALS + ups
        sums = -(-2 * shorts // (PAID_VECTORS * itemsize)) * PAID_VECTORS
        chunks = -(-self.hands // SUM_CHUNK)
        slots = sums + 3 * MAX_PAID_TERMINALS + PAID_VECTORS * (3 * self.hands + 56 + 2 * chunks)
        return sums, slots, slots + self.slots * self.stride


def make_layout(trees: Sequence[BoardTree], work: str, blocks: int, stakes: float = 0.0) -> CudaLayout:
    """Lay out trees for a device with about `blocks` resident blocks; `work`: number type of computations."""
    if not trees:
        raise InputError("no games for the device")
    streets = trees[0].streets
    if any(tree.streets != streets for tree in trees):
        raise InputError("games of one batch must have the same number of streets")
    shapes = {id(tree.shape): tree.shape for tree in trees}
    programs = ProgramBuilder(work, stakes)
    num_groups = _num_root_groups(trees, blocks)
    betting_programs: dict[int, BettingPrograms] = {}
    offsets: dict[int, int] = {}  # offset of the nodes of each shape
    for key, shape in shapes.items():
        offsets[key] = sum(len(shapes[other].forest.actor) for other in offsets)
        betting_programs[key] = _compile_betting(programs, shape, streets, offsets[key], num_groups)
    boards, table, inner = _concatenate_boards(trees, betting_programs, work)
    boards, lock, locked = _concatenate_locks(trees, offsets, boards, work)
    stride = -(-int(boards.rows.max()) // 32) * 32
    items, parts = _make_work_items(trees, betting_programs, boards, blocks)
    moves = max(int(shape.forest.width[0]) for shape in shapes.values())
    return CudaLayout(
        programs.arrays(), boards, items, streets, stride, int(boards.hands.max()),
        max(script.most for script in betting_programs.values()), inner, parts, moves, table, lock, locked,
    )  # fmt: skip


# --- betting ------------------------------------------------------------------------------------------------------


class BettingPrograms(NamedTuple):
    """Programs of one betting shape, for all streets and both players."""

    inner: list[list[tuple[OpSpan, OpSpan]]]  # [street][root], for each player
    size: list[int]  # slots of a board, for each earlier street
    exits: list[list[tuple[NodeSlots, NodeSlots]]]  # [street][exit]
    roots: list[list[tuple[NodeSlots, NodeSlots]]]  # [street][root], of earlier streets
    # Groups of roots of the last street: first root, end, operations of each player.
    last: list[tuple[int, int, OpSpan, OpSpan]]
    most: int  # most slots of the last street


def _street_roots(shape: BettingShape, street: int) -> list[int]:
    """Return the roots of a street, as nodes."""
    f = shape.forest
    return [int(n) for n in f.root[f.root_at[f.batch_at[street]] : f.root_at[f.batch_at[street + 1]]]]


def _compile_betting(
    programs: ProgramBuilder, shape: BettingShape, streets: int, offset: int, groups: int
) -> BettingPrograms:
    """Compile the programs of all streets of a shape.

    `offset`: number of its first node among the nodes of all shapes; `groups`: number of groups of last-street roots.
    """
    betting = BettingPrograms([], [], [], [], [], 0)
    sources: tuple[list[NodeSlots] | None, list[NodeSlots] | None] = (None, None)
    for s in range(streets - 1):
        builders = [StreetProgramBuilder(programs, shape, s, me, offset) for me in (0, 1)]
        pieces = [
            [
                builder.compile_inner_root(n, source[k] if source else None)
                for k, n in enumerate(_street_roots(shape, s))
            ]
            for builder, source in zip(builders, sources, strict=True)
        ]
        betting.inner.append([(a[0], b[0]) for a, b in zip(*pieces, strict=True)])
        betting.roots.append([(a[1], b[1]) for a, b in zip(*pieces, strict=True)])
        first, second = ([builder.exits[k] for k in range(len(builder.exits))] for builder in builders)
        betting.exits.append(list(zip(first, second, strict=True)))
        betting.size.append(max(builder.max_slots for builder in builders))
        sources = first, second
    roots = list(enumerate(_street_roots(shape, streets - 1)))
    builders = [StreetProgramBuilder(programs, shape, streets - 1, me, offset) for me in (0, 1)]
    for group in _group_roots(roots, shape.forest.end, groups):
        spans = [builder.compile_last_roots(group, sources[me]) for me, builder in enumerate(builders)]
        betting.last.append((group[0][0], group[-1][0] + 1, spans[0], spans[1]))
    return betting._replace(most=max(builder.max_slots for builder in builders))


def _group_roots(roots: list[tuple[int, int]], end: Array, count: int) -> list[list[tuple[int, int]]]:
    """Split roots (index, node) into about `count` groups with about the same number of nodes below them."""
    sizes = np.cumsum([int(end[n]) - n for _, n in roots])
    groups_so_far = [roots[0:0]]
    for root, cumulative in zip(roots, sizes, strict=True):
        if groups_so_far[-1] and cumulative > len(groups_so_far) * sizes[-1] / count:
            groups_so_far.append([])
        groups_so_far[-1].append(root)
    return groups_so_far


# --- boards -------------------------------------------------------------------------------------------------------


def _concatenate_boards(
    trees: Sequence[BoardTree], scripts: dict[int, BettingPrograms], work: str
) -> tuple[CudaBoards, Array, int]:
    """Concatenate the boards of all games.

    Returns them with the table offsets and the number of slots of earlier streets.
    """
    parts: dict[str, list[Array]] = {name: [] for name in CudaBoards._fields}
    table = np.concatenate([[0], np.cumsum([tree.table_size for tree in trees])])
    board = member = up = down = hand = inner = 0
    for g, tree in enumerate(trees):
        b, n = tree.boards, len(tree.boards.rows)
        street = np.repeat(np.arange(tree.streets), np.diff(tree.street_start))
        slots = np.array([*scripts[id(tree.shape)].size, 0])
        slot_at = np.concatenate([[0], np.cumsum(slots[street])])
        hand_at, listed, rep = tree.running_sum_layout()
        fields = {
            "rows": b.rows, "base": b.base + table[g], "child": b.child[:-1] + board, "child_end": b.child[1:] + board,
            "up_at": b.up_at + up, "up": b.up, "member": b.member[:-1] + member, "member_end": b.member[1:] + member,
            "down_at": b.down_at + down, "down": b.down, "chance": b.chance.astype(work), "hand_at": hand_at + hand,
            "hands": tree.hand_counts, "hand": listed, "rep": rep, "slot_at": slot_at[:-1] + inner,
            "game": np.full(n, g, np.int32),
        }  # fmt: skip
        for name, numbers in fields.items():
            parts[name].append(numbers)
        board, member, up = board + n, member + len(b.down_at), up + len(b.up)
        down, hand, inner = down + len(b.down), hand + len(listed), inner + int(slot_at[-1])
    arrays = {name: np.concatenate(numbers).ravel() for name, numbers in parts.items() if numbers}
    arrays.update(lock_at=np.zeros(board + 1, np.int32), list_at=_card_list_starts(trees).ravel())
    for name in ("child", "child_end", "member", "member_end"):
        arrays[name] = arrays[name].astype(np.int32)
    return CudaBoards(**arrays), table, inner


def _card_list_starts(trees: Sequence[BoardTree]) -> Array:
    """Return the offsets of the running sums of each card, for each board and player. uint16 [boards, 2, 53]"""
    cards = HAND_CARD_MATRIX.astype(np.float32)
    pieces = []
    for tree in trees:
        for low in range(0, len(tree.rows), 1024):
            held = (tree.row_of[low : low + 1024] != NO_ROW).astype(np.float32)
            counts = (held.reshape(-1, NUM_HANDS) @ cards).reshape(-1, 2, 52)
            lists = np.zeros((len(counts), 2, 53), np.uint16)
            lists[:, :, 1:] = np.cumsum(counts + 1, axis=2)
            pieces.append(lists)
    return np.concatenate(pieces)


# --- locks --------------------------------------------------------------------------------------------------------


def _concatenate_locks(
    trees: Sequence[BoardTree], offsets: dict[int, int], boards: CudaBoards, work: str
) -> tuple[CudaBoards, Array, Array]:
    """Concatenate the locks of all games; return boards with `lock_at`, and `lock` and `locked` of the tables."""
    index: list[tuple[int, int]] = []
    counts = np.zeros(len(boards.game), np.int32)
    strategies: list[Array] = []
    first = start = 0
    for tree in trees:
        lock, locked = lock_arrays(tree, work)
        for board, node, at in lock.tolist():
            counts[first + board] += 1
            index.append((node + offsets[id(tree.shape)], start + at))
        first, start = first + len(tree.rows), start + len(locked)
        strategies.append(locked)
    lock_at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return boards._replace(lock_at=lock_at), np.array(index, np.int32).ravel(), np.concatenate(strategies)


def locked_regrets(trees: Sequence[BoardTree], layout: CudaLayout, form: TableFormat) -> Iterator[tuple[int, Array]]:
    """Yield the regrets of games with locks, which play the locked strategies, and their offsets."""
    for g, tree in enumerate(trees):
        lock, locked = lock_arrays(tree, form.compute)
        if len(lock):
            regret = np.zeros(tree.table_size + TABLE_PADDING, form.regret)
            write_locked_regrets(tree, form, regret, lock, locked)
            yield int(layout.table[g]), regret[: tree.table_size]


# --- work items ---------------------------------------------------------------------------------------------------


def _make_work_items(
    trees: Sequence[BoardTree], scripts: dict[int, BettingPrograms], boards: CudaBoards, blocks: int
) -> tuple[CudaWorkItems, int]:
    """Make the work items of thread blocks, the longest first, and return the number of parts."""
    streets = trees[0].streets
    base = np.concatenate([[0], np.cumsum([len(tree.rows) for tree in trees])])
    inner: list[list[tuple[int, ...]]] = [[] for _ in range(streets - 1)]
    exits: list[list[tuple[int, ...]]] = [[] for _ in range(streets - 1)]
    last: list[tuple[int, ...]] = []
    share = _boards_per_item(trees, scripts, blocks)
    parts = 0
    for g, tree in enumerate(trees):
        script, start = scripts[id(tree.shape)], int(base[g])
        if streets == 1:
            _, _, x, y = script.last[0]
            last.append((start, start, start + 1, 0, x.first, x.end, y.first, y.end))
            continue
        for s in range(streets - 1):
            for b in range(start + tree.street_start[s], start + tree.street_start[s + 1]):
                parent = start + int(tree.deals.parents[b - start])
                inner[s].extend((b, parent, *x, 0, *y, 0) for x, y in script.inner[s])
                part = [(0, 0, 0)] * len(script.exits[s])
                if s == streets - 2:
                    cuts = range(int(boards.child[b]), int(boards.child_end[b]), share)
                    for low, high, x, y in script.last:
                        many = high - low
                        part[low:high] = [(parts + k, many, len(cuts)) for k in range(many)]
                        for c in cuts:
                            end = min(c + share, int(boards.child_end[b]))
                            last.append((b, c, end, parts - low, x.first, x.end, y.first, y.end))
                            parts += many
                for k, slots in enumerate(script.exits[s]):
                    roots = script.roots[s + 1][k] if s < streets - 2 else (NodeSlots(0, 0, 0), NodeSlots(0, 0, 0))
                    exits[s].append((b, *(x.value for x in (*slots, *roots)), *part[k]))
    last.sort(key=lambda x: -(x[2] - x[1]) * (x[5] - x[4]))
    return CudaWorkItems(
        *_concatenate_items(inner), *_concatenate_items(exits), np.array(last, np.int32).ravel()
    ), parts


def _concatenate_items(items: list[list[tuple[int, ...]]]) -> tuple[Array, Array]:
    """Return the first item of each street, and all items as one flat array."""
    starts = np.cumsum([0, *map(len, items)]).astype(np.int32)
    return starts, np.array([item for some in items for item in some], np.int32).ravel()


def select_games(items: CudaWorkItems, game: Array, some: Sequence[int]) -> CudaWorkItems:
    """Return the work items of the games `some`. `game`: game of each board"""
    chosen = np.isin(game, some)

    def select(pieces: Array, starts: Array, width: int) -> tuple[Array, Array]:
        rows = pieces.reshape(-1, width)
        keep = chosen[rows[:, 0]]
        counts = np.concatenate([[0], np.cumsum(keep)])
        return counts[starts].astype(np.int32), rows[keep].ravel()

    inner_at, inner = select(items.inner, items.inner_at, INNER_WIDTH)
    exit_at, exits = select(items.exit, items.exit_at, EXIT_WIDTH)
    last = items.last.reshape(-1, LAST_WIDTH)
    return CudaWorkItems(inner_at, inner, exit_at, exits, last[chosen[last[:, 1]]].ravel())


def _num_root_groups(trees: Sequence[BoardTree], blocks: int) -> int:
    """Return the number of root groups on the last street: few boards need more, for several work items a block."""
    if trees[0].streets == 1:
        return 1
    boards = sum(int(tree.street_start[-1] - tree.street_start[-2]) for tree in trees)
    return int(np.clip(-(-blocks * ITEMS_PER_BLOCK // boards), 1, 64))


def _boards_per_item(trees: Sequence[BoardTree], scripts: dict[int, BettingPrograms], blocks: int) -> int:
    """Return the boards of the last street in one work item: few enough that all blocks have several items."""
    if trees[0].streets == 1:
        return 1
    work = sum((t.street_start[-1] - t.street_start[-2]) * len(scripts[id(t.shape)].last) for t in trees)
    return int(np.clip(work // (blocks * ITEMS_PER_BLOCK), 1, 16))
