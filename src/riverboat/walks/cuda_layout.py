"""Many trees laid out for a GPU: the betting of their shapes, their boards, and the pieces of work for blocks of threads.

Trees of one number of streets stand one after the other, whatever their betting, boards and rows; a single spot is a batch
of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.trees.boards import NOWHERE, BoardTree
from riverboat.trees.streets import Shape
from riverboat.walks._cuda_kernels import Boards, Items, Nodes
from riverboat.walks._cuda_node_kernels import END, EXIT, NONE
from riverboat.walks.locks import lock_arrays
from riverboat.walks.rooms import scale_of
from riverboat.walks.tables import BEHIND, Format, hold

CARDS_OF = np.zeros((HANDS, 52), np.int32)
CARDS_OF[np.arange(HANDS)[:, None], HAND_CARDS] = 1


class Layout(NamedTuple):
    """All arrays, in the processor's memory."""

    nodes: Nodes
    boards: Boards
    items: Items
    streets: int
    stride: int
    vectors: int  # of one player's reach, below one root
    values: int  # nodes below one root of the last street
    exits: int
    inner: int  # vectors of values on streets before the last
    moves: int  # most at a root
    table: Array  # int64 [games + 1]: where the tables of each game begin
    lock: Array  # int32 [locks * 2], see `_cuda_kernels.Tables`
    locked: Array  # float [numbers]


def lay_out(trees: Sequence[BoardTree], work: str, blocks: int) -> Layout:
    """Trees for a device that runs so many blocks at a time."""
    if not trees:
        raise InputError("no games for the device")
    streets = trees[0].streets
    if any(tree.streets != streets for tree in trees):
        raise InputError("games of one batch must have the same number of streets")
    shapes = {id(tree.shape): tree.shape for tree in trees}
    offsets: dict[int, int] = {}
    pieces, count = [], 0
    for key, shape in shapes.items():
        offsets[key] = count
        pieces.append(_nodes(shape, count, work))
        count += len(shape.forest.actor)
    nodes = _joined_nodes(pieces)
    boards, table, exits, inner = _boards(trees, offsets, work)
    boards, lock, locked = _locks(trees, offsets, boards, work)
    stride = -(-int(boards.rows.max()) // 32) * 32
    items = _items(trees, offsets, boards, blocks)
    roots = np.concatenate([s.forest.root + offsets[key] for key, s in shapes.items()])
    last = np.concatenate([_roots(s, streets - 1) + offsets[key] for key, s in shapes.items()])
    below = [np.concatenate([[1], nodes.below[r : nodes.end[r]] + nodes.width[r : nodes.end[r]]]).max() for r in roots]
    return Layout(
        nodes, boards, items, streets, stride, int(max(below)), int((nodes.end[last] - last).max()), exits, inner,
        int(nodes.width[list(offsets.values())].max()), table, lock, locked,
    )  # fmt: skip


def _roots(shape: Shape, street: int) -> Array:
    """The roots of a street, as nodes."""
    f = shape.forest
    return f.root[f.root_at[f.batch_at[street]] : f.root_at[f.batch_at[street + 1]]]


# --- betting ------------------------------------------------------------------------------------------------------


def _nodes(shape: Shape, offset: int, work: str) -> Nodes:
    f, betting = shape.forest, shape.betting
    count = len(f.actor)
    actor = np.where(f.actor == CHANCE, EXIT, np.where(f.actor == TERMINAL, END, f.actor)).astype(np.int8)
    reach, below = np.zeros((count, 2), np.int32), np.zeros(count, np.int32)
    end_at, ends_of, shows = (np.zeros(count, np.int32) for _ in range(3))
    kid_at = np.zeros(count, np.int32)
    terminals: list[int] = []
    kids: list[int] = []
    for root in f.root:
        at = [1, 1]
        for n in range(root, f.end[root]):
            if f.actor[n] < 0:
                continue
            who, width = int(f.actor[n]), int(f.width[n])
            below[n], kid_at[n] = at[who], len(kids)
            at[who] += width
            child = n + 1
            for a in range(width):
                reach[child] = reach[n]
                reach[child, who] = below[n] + a
                kids.append(child - int(root))
                child = int(f.end[child])
        ends = np.arange(root, f.end[root])[f.actor[root : f.end[root]] == TERMINAL]
        shown = betting.showdown[f.node[ends]].astype(bool)
        end_at[root], ends_of[root], shows[root] = len(terminals), len(ends), int(shown.sum())
        terminals.extend([*ends[shown], *ends[~shown]])
    ends_all = np.array(terminals, np.int64)
    starts = np.repeat(f.root, [ends_of[r] for r in f.root])
    pay = np.zeros((count, 2, 3))
    scale = scale_of(betting)
    for me in (0, 1):
        above, tie, under = (betting.pay[f.node, k, me] for k in ((0, 1, 2) if me == 0 else (2, 1, 0)))
        pay[:, me] = np.stack([above - tie, tie - under, under], axis=1) * scale
    return Nodes(
        actor, f.end + np.int32(offset), f.width.astype(np.int32), f.slot, reach.ravel(), below, kid_at,
        np.array([*kids, 0, 0, 0], np.int32), end_at, ends_of, shows, (ends_all - starts).astype(np.int32),
        reach[ends_all].ravel(), pay[ends_all].astype(work).ravel(),
    )  # fmt: skip


def _joined_nodes(pieces: list[Nodes]) -> Nodes:
    ends = kids = 0
    for k, piece in enumerate(pieces):
        pieces[k] = piece._replace(end_at=piece.end_at + np.int32(ends), kid_at=piece.kid_at + np.int32(kids))
        ends, kids = ends + len(piece.end_node), kids + len(piece.kid)
    return Nodes(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))


# --- boards -------------------------------------------------------------------------------------------------------


def _boards(trees: Sequence[BoardTree], offsets: dict[int, int], work: str) -> tuple[Boards, Array, int, int]:
    """The boards of all games; where tables begin; how many vectors there are of exits and of inner values."""
    parts: dict[str, list[Array]] = {name: [] for name in Boards._fields}
    table = np.concatenate([[0], np.cumsum([tree.table for tree in trees])])
    board = member = up = down = hand = exits = inner = 0
    for g, tree in enumerate(trees):
        b, f, n = tree.boards, tree.forest, len(tree.boards.rows)
        street = np.repeat(np.arange(tree.streets), np.diff(tree.street_at))
        per_exit = np.array([int((f.actor[f.first[s] : f.first[s + 1]] == CHANCE).sum()) for s in range(tree.streets)])
        per_value = np.array([int(f.first[s + 1] - f.first[s]) for s in range(tree.streets)])
        per_value[-1] = 0
        exit_at, value_at = (np.concatenate([[0], np.cumsum(x[street])]) for x in (per_exit, per_value))
        hand_at, listed, rep = tree.running_lists()
        fields = {
            "rows": b.rows, "base": b.base + table[g], "child": b.child[:-1] + board, "child_end": b.child[1:] + board,
            "up_at": b.up_at + up, "up": b.up, "member": b.member[:-1] + member, "member_end": b.member[1:] + member,
            "down_at": b.down_at + down, "down": b.down, "chance": b.chance.astype(work), "hand_at": hand_at + hand,
            "hands": b.hands, "hand": _hands(tree, listed), "rep": _by_row(tree, rep), "list_at": _lists(tree),
            "exit_at": exit_at[:-1] + exits, "value_at": value_at[:-1] + inner,
            "first": f.first[street] + np.int32(offsets[id(tree.shape)]), "game": np.full(n, g, np.int32),
        }  # fmt: skip
        for name, numbers in fields.items():
            parts[name].append(numbers)
        board, member, up, down, hand = (
            board + n,
            member + len(b.down_at),
            up + len(b.up),
            down + len(b.down),
            hand + len(listed),
        )
        exits, inner = exits + int(exit_at[-1]), inner + int(value_at[-1])
    arrays = {name: np.concatenate(numbers).ravel() for name, numbers in parts.items() if numbers}
    arrays["lock_at"] = np.zeros(board + 1, np.int32)
    for name in ("child", "child_end", "member", "member_end", "first"):
        arrays[name] = arrays[name].astype(np.int32)
    return Boards(**arrays), table, exits, inner


def _by_row(tree: BoardTree, rep: Array) -> Array:
    """Lists of rows (`BoardTree.running_lists`) by row, a hand that the opponent cannot hold being NONE. uint16 [9 * rows]"""
    begin = np.repeat(tree.rep_at.ravel(), tree.rows.ravel())
    by_row = np.empty((len(rep), 9), np.uint16)
    by_row[begin + rep[:, 0]] = rep[:, 1:]
    by_row[by_row[:, 0] >= tree.stride, 0] = NONE
    return _by_column(by_row, tree.rows)


def _hands(tree: BoardTree, hand: Array) -> Array:
    """Lists of hands (`BoardTree.running_lists`) by row, with the place from weak to strong. uint16 [4 * hands]"""
    counts = tree.boards.hands.ravel().astype(np.int64)
    piece = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(hand)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    order = np.lexsort((hand[:, 0], piece))
    rows = np.column_stack([hand[:, 0], place, hand[:, 1:]]).astype(np.uint16)
    return _by_column(rows[order], tree.boards.hands)


def _by_column(table: Array, counts: Array) -> Array:
    """Pieces of a table, `counts` rows each, with their columns one after the other: threads that are neighbours read
    neighbours."""
    width = table.shape[1]
    starts = np.concatenate([[0], np.cumsum(counts.ravel())])[:-1]
    start, count = np.repeat(starts, counts.ravel()), np.repeat(counts.ravel(), counts.ravel()).astype(np.int64)
    inside = np.arange(len(table)) - start
    columns = np.empty(table.size, table.dtype)
    for c in range(width):
        columns[start * width + c * count + inside] = table[:, c]
    return columns


def _lists(tree: BoardTree) -> Array:
    """Where the running sums of each card begin, for each board and player. uint16 [boards, 2, 53]"""
    lists = np.zeros((len(tree.rows), 2, 53), np.uint16)
    for low in range(0, len(tree.rows), 1024):
        held = (tree.row_of[low : low + 1024] != NOWHERE).astype(np.float32)
        lists[low : low + 1024, :, 1:] = np.cumsum(held @ CARDS_OF.astype(np.float32) + 1, axis=2)
    return lists


# --- locks --------------------------------------------------------------------------------------------------------


def _locks(
    trees: Sequence[BoardTree], offsets: dict[int, int], boards: Boards, work: str
) -> tuple[Boards, Array, Array]:
    """The locks of all games: how many each board has, which nodes, and what they play."""
    index: list[tuple[int, int]] = []
    counts = np.zeros(len(boards.game), np.int32)
    played: list[Array] = []
    first = start = 0
    for tree in trees:
        lock, locked = lock_arrays(tree, work)
        for board, node, at in lock.tolist():
            counts[first + board] += 1
            index.append((node + offsets[id(tree.shape)], start + at))
        first, start = first + len(tree.rows), start + len(locked)
        played.append(locked)
    lock_at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return boards._replace(lock_at=lock_at), np.array(index, np.int32).ravel(), np.concatenate(played)


def first_regrets(trees: Sequence[BoardTree], layout: Layout, form: Format) -> Iterator[tuple[int, Array]]:
    """Regrets that play what is locked, of the games that have locks, and where they begin."""
    for g, tree in enumerate(trees):
        lock, locked = lock_arrays(tree, form.work)
        if len(lock):
            regret = np.zeros(tree.table + BEHIND, form.regret)
            hold(tree, form, regret, lock, locked)
            yield int(layout.table[g]), regret[: tree.table]


# --- pieces of work -----------------------------------------------------------------------------------------------


def _items(trees: Sequence[BoardTree], offsets: dict[int, int], boards: Boards, blocks: int) -> Items:
    streets = trees[0].streets
    first = np.concatenate([[0], np.cumsum([len(tree.rows) for tree in trees])])
    inner: list[list[tuple[int, int, int]]] = [[] for _ in range(streets - 1)]
    exits: list[list[tuple[int, int, int]]] = [[] for _ in range(streets - 1)]
    last: list[tuple[int, int, int, int, int]] = []
    parts = [0]
    share = _share(trees, blocks)
    for g, tree in enumerate(trees):
        offset, base = offsets[id(tree.shape)], int(first[g])
        roots = [(_roots(tree.shape, s) + offset).tolist() for s in range(streets)]
        if streets == 1:
            last.append((base, roots[0][0], base, base + 1, 0))
            continue
        for s in range(streets - 1):
            for b in range(tree.street_at[s], tree.street_at[s + 1]):
                above = base + int(tree.deals.parents[b])
                for k, root in enumerate(roots[s]):
                    inner[s].append((base + b, root, int(boards.exit_at[above]) + k if s else 0))
                exits[s].extend((base + b, k, root) for k, root in enumerate(roots[s + 1]))
    if streets > 1:
        for b, k, root in exits[-1]:
            low, high = int(boards.child[b]), int(boards.child_end[b])
            cuts = range(low, high, share)
            last.extend((b, root, c, min(c + share, high), int(boards.exit_at[b]) + k) for c in cuts)
            parts.append(len(last))
    return Items(
        np.cumsum([0, *map(len, inner)]).astype(np.int32),
        np.array([x for some in inner for x in some], np.int32).ravel(),
        np.cumsum([0, *map(len, exits)]).astype(np.int32),
        np.array([x for some in exits for x in some], np.int32).ravel(),
        np.array(parts, np.int32),
        np.array(last, np.int32).ravel(),
    )


def _share(trees: Sequence[BoardTree], blocks: int) -> int:
    """Boards of the last street for one piece of work: few enough that all blocks have several."""
    if trees[0].streets == 1:
        return 1
    work = sum((t.street_at[-1] - t.street_at[-2]) * len(_roots(t.shape, t.streets - 1)) for t in trees)
    return int(np.clip(work // (blocks * 8), 1, 16))
