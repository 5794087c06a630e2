"""Many trees laid out for a GPU: the betting of their shapes, their boards, and the pieces of work for blocks of threads.

Trees of one number of streets stand one after the other, whatever their betting, boards and rows; a single spot is a batch
of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.core.errors import InputError
from riverboat.engines.cpu.locks import lock_arrays
from riverboat.engines.cuda._kernels.board import EXIT, INNER, LAST, Boards, Items, Program
from riverboat.engines.cuda._kernels.node import CHUNK, ENTRIES, FRONT, SIDE
from riverboat.engines.cuda.program import Place, Programs, Span, Street
from riverboat.engines.tables import BEHIND, Format, hold
from riverboat.games.base import Array
from riverboat.trees.boards import NOWHERE, BoardTree
from riverboat.trees.streets import Shape

CARDS_OF = np.zeros((HANDS, 52), np.int32)
CARDS_OF[np.arange(HANDS)[:, None], HAND_CARDS] = 1
PIECES = 8  # for each block, at least: some are longer than others


class Layout(NamedTuple):
    """All arrays, in the processor's memory."""

    program: Program
    boards: Boards
    items: Items
    streets: int
    stride: int
    hands: int  # most on a board
    slots: int  # of the last street
    inner: int  # slots of boards of the streets before
    parts: int
    moves: int  # most at a root
    table: Array  # int64 [games + 1]: where the tables of each game begin
    lock: Array  # int32 [locks * 2], see `_cuda_kernels.DeviceTables`
    locked: Array  # float [numbers]

    def memory(self, itemsize: int) -> tuple[int, int, int]:
        """A block's own memory: numbers in front of the running sums, in front of the slots, and in all."""
        ups = 2 * self.stride if self.streets > 1 else 0
        shorts = FRONT + 10 * self.stride + 3 * self.hands + 53 + 2 * ENTRIES + ups
        sums = -(-2 * shorts // (SIDE * itemsize)) * SIDE
        chunks = -(-self.hands // CHUNK)
        slots = sums + 3 * ENTRIES + SIDE * (3 * self.hands + 56 + 2 * chunks)
        return sums, slots, slots + self.slots * self.stride


def lay_out(trees: Sequence[BoardTree], work: str, blocks: int, stakes: float = 0.0) -> Layout:
    """Trees for a device that runs so many blocks at a time."""
    if not trees:
        raise InputError("no games for the device")
    streets = trees[0].streets
    if any(tree.streets != streets for tree in trees):
        raise InputError("games of one batch must have the same number of streets")
    shapes = {id(tree.shape): tree.shape for tree in trees}
    programs = Programs(work, stakes)
    work_of = _groups_wanted(trees, blocks)
    scripts: dict[int, Script] = {}
    offsets: dict[int, int] = {}
    count = 0
    for key, shape in shapes.items():
        offsets[key] = count
        scripts[key] = _script(programs, shape, streets, count, work_of)
        count += len(shape.forest.actor)
    boards, table, inner = _boards(trees, scripts, work)
    boards, lock, locked = _locks(trees, offsets, boards, work)
    stride = -(-int(boards.rows.max()) // 32) * 32
    items, parts = _items(trees, scripts, boards, blocks)
    moves = max(int(shape.forest.width[0]) for shape in shapes.values())
    return Layout(
        programs.arrays(), boards, items, streets, stride, int(boards.hands.max()),
        max(script.most for script in scripts.values()), inner, parts, moves, table, lock, locked,
    )  # fmt: skip


# --- betting ------------------------------------------------------------------------------------------------------


class Script(NamedTuple):
    """The programs of a shape."""

    inner: list[list[tuple[Span, Span]]]  # [street][root], for each player
    size: list[int]  # slots of a board, for each street before the last
    exits: list[list[tuple[Place, Place]]]  # [street][exit]
    roots: list[list[tuple[Place, Place]]]  # [street][root], of streets before the last
    last: list[tuple[int, int, Span, Span]]  # groups of roots of the last street: first root, end
    most: int  # slots of the last street


def _roots(shape: Shape, street: int) -> list[int]:
    """The roots of a street, as nodes."""
    f = shape.forest
    return [int(n) for n in f.root[f.root_at[f.batch_at[street]] : f.root_at[f.batch_at[street + 1]]]]


def _script(programs: Programs, shape: Shape, streets: int, offset: int, groups: int) -> Script:
    """Programs for all streets."""
    script = Script([], [], [], [], [], 0)
    sources: tuple[list[Place] | None, list[Place] | None] = (None, None)
    for s in range(streets - 1):
        walks = [Street(programs, shape, s, me, offset) for me in (0, 1)]
        pieces = []
        for me, walk in enumerate(walks):
            source = sources[me]
            pieces.append(
                [walk.stays(n, None if source is None else source[k]) for k, n in enumerate(_roots(shape, s))]
            )
        script.inner.append([(a[0], b[0]) for a, b in zip(*pieces, strict=True)])
        script.roots.append([(a[1], b[1]) for a, b in zip(*pieces, strict=True)])
        places = [[walk.exits[k] for k in range(len(walk.exits))] for walk in walks]
        script.exits.append(list(zip(places[0], places[1], strict=True)))
        script.size.append(max(walk.most for walk in walks))
        sources = (places[0], places[1])
    roots = list(enumerate(_roots(shape, streets - 1)))
    walks = [Street(programs, shape, streets - 1, me, offset) for me in (0, 1)]
    for some in _groups(roots, shape.forest.end, groups):
        spans = [walk.passes(some, sources[me]) for me, walk in enumerate(walks)]
        script.last.append((some[0][0], some[-1][0] + 1, spans[0], spans[1]))
    return script._replace(most=max(walk.most for walk in walks))


def _groups(roots: list[tuple[int, int]], end: Array, count: int) -> list[list[tuple[int, int]]]:
    """Roots in some groups of about the same size."""
    sizes = np.cumsum([int(end[n]) - n for _, n in roots])
    cut = [roots[0:0]]
    for root, behind in zip(roots, sizes, strict=True):
        if cut[-1] and behind > len(cut) * sizes[-1] / count:
            cut.append([])
        cut[-1].append(root)
    return cut


# --- boards -------------------------------------------------------------------------------------------------------


def _boards(trees: Sequence[BoardTree], scripts: dict[int, Script], work: str) -> tuple[Boards, Array, int]:
    """The boards of all games; where tables begin; how many slots boards before the last street have."""
    parts: dict[str, list[Array]] = {name: [] for name in Boards._fields}
    table = np.concatenate([[0], np.cumsum([tree.table for tree in trees])])
    board = member = up = down = hand = inner = 0
    for g, tree in enumerate(trees):
        b, n = tree.boards, len(tree.boards.rows)
        street = np.repeat(np.arange(tree.streets), np.diff(tree.street_at))
        slots = np.array([*scripts[id(tree.shape)].size, 0])
        slot_at = np.concatenate([[0], np.cumsum(slots[street])])
        hand_at, listed, rep = tree.running_lists()
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
    arrays.update(lock_at=np.zeros(board + 1, np.int32), list_at=_lists(trees).ravel())
    for name in ("child", "child_end", "member", "member_end"):
        arrays[name] = arrays[name].astype(np.int32)
    return Boards(**arrays), table, inner


def _lists(trees: Sequence[BoardTree]) -> Array:
    """Where the running sums of each card begin, for each board and player. uint16 [boards, 2, 53]"""
    cards = CARDS_OF.astype(np.float32)
    pieces = []
    for tree in trees:
        for low in range(0, len(tree.rows), 1024):
            held = (tree.row_of[low : low + 1024] != NOWHERE).astype(np.float32)
            counts = (held.reshape(-1, HANDS) @ cards).reshape(-1, 2, 52)
            lists = np.zeros((len(counts), 2, 53), np.uint16)
            lists[:, :, 1:] = np.cumsum(counts + 1, axis=2)
            pieces.append(lists)
    return np.concatenate(pieces)


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


def _items(trees: Sequence[BoardTree], scripts: dict[int, Script], boards: Boards, blocks: int) -> tuple[Items, int]:
    """What blocks do, the longest first; and how many parts there are."""
    streets = trees[0].streets
    base = np.concatenate([[0], np.cumsum([len(tree.rows) for tree in trees])])
    inner: list[list[tuple[int, ...]]] = [[] for _ in range(streets - 1)]
    exits: list[list[tuple[int, ...]]] = [[] for _ in range(streets - 1)]
    last: list[tuple[int, ...]] = []
    share = _share(trees, scripts, blocks)
    parts = 0
    for g, tree in enumerate(trees):
        script, start = scripts[id(tree.shape)], int(base[g])
        if streets == 1:
            _, _, x, y = script.last[0]
            last.append((start, start, start + 1, 0, x.first, x.end, y.first, y.end))
            continue
        for s in range(streets - 1):
            for b in range(start + tree.street_at[s], start + tree.street_at[s + 1]):
                before = start + int(tree.deals.parents[b - start])
                inner[s].extend((b, before, *x, 0, *y, 0) for x, y in script.inner[s])
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
                for k, (mine, theirs) in enumerate(script.exits[s]):
                    ours = script.roots[s + 1][k] if s < streets - 2 else (Place(0, 0, 0), Place(0, 0, 0))
                    exits[s].append((b, mine.home, theirs.home, ours[0].home, ours[1].home, *part[k]))
    last.sort(key=lambda x: -(x[2] - x[1]) * (x[5] - x[4]))
    return Items(
        np.cumsum([0, *map(len, inner)]).astype(np.int32),
        np.array([x for some in inner for x in some], np.int32).ravel(),
        np.cumsum([0, *map(len, exits)]).astype(np.int32),
        np.array([x for some in exits for x in some], np.int32).ravel(),
        np.array(last, np.int32).ravel(),
    ), parts


def of_games(items: Items, game: Array, some: Sequence[int]) -> Items:
    """The pieces of some games. `game`: that of each board"""
    chosen = np.isin(game, some)

    def kept(pieces: Array, starts: Array, width: int) -> tuple[Array, Array]:
        rows = pieces.reshape(-1, width)
        keep = chosen[rows[:, 0]]
        counts = np.concatenate([[0], np.cumsum(keep)])
        return counts[starts].astype(np.int32), rows[keep].ravel()

    inner_at, inner = kept(items.inner, items.inner_at, INNER)
    exit_at, exits = kept(items.exit, items.exit_at, EXIT)
    last = items.last.reshape(-1, LAST)
    return Items(inner_at, inner, exit_at, exits, last[chosen[last[:, 1]]].ravel())


def _last_boards(trees: Sequence[BoardTree]) -> int:
    return sum(int(tree.street_at[-1] - tree.street_at[-2]) for tree in trees)


def _groups_wanted(trees: Sequence[BoardTree], blocks: int) -> int:
    """Groups of roots on the last street: where boards are few, so many that all blocks have several pieces."""
    return 1 if trees[0].streets == 1 else int(np.clip(-(-blocks * PIECES // _last_boards(trees)), 1, 64))


def _share(trees: Sequence[BoardTree], scripts: dict[int, Script], blocks: int) -> int:
    """Boards of the last street for one piece of work: few enough that all blocks have several."""
    if trees[0].streets == 1:
        return 1
    work = sum((t.street_at[-1] - t.street_at[-2]) * len(scripts[id(t.shape)].last) for t in trees)
    return int(np.clip(work // (blocks * PIECES), 1, 16))
