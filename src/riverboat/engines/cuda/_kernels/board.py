"""The walk over betting × boards for a GPU: what `riverboat.engines.cpu._kernels.board` does for processors.

A block of threads follows a program (`riverboat.engines.cuda.program`) over one board and some roots of the betting on its
street; a thread owns some rows of hands. Streets follow each other across the whole device: first all boards of the first
street go down, then those of the second, until the last street, which goes down and up at once, its vectors being near the
block where they fit; then the others go up. Whole iterations run in one launch; blocks wait for each other between streets
(`everyone`), so no more blocks are launched than fit on the device at the same time.

Functions are compiled for a format of tables, a mode and a schedule by `riverboat.engines.cuda.compilation`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import int32, uint16

from riverboat.core.arrays import Array
from riverboat.engines.cuda._kernels.node import (
    AHEAD,
    ARRIVE,
    DOWN_MINE,
    DOWN_THEIRS,
    ENTRIES,
    FINISH,
    FOUR,
    FRONT,
    LEARN,
    MODE,
    ONE,
    PAY,
    RESPOND,
    STEPS,
    THREE,
    TWO,
    UP_MINE,
    UP_THEIRS,
    WIDE,
    ZERO,
    Table,
    U,
    V,
    add_up,
    clear_lists,
    go_down,
    go_up,
    pay,
    real,
)
from riverboat.engines.cuda._kernels.numbers import cuda, prefetch
from riverboat.engines.cuda._kernels.root import enter_root, learn_root

KIND = None  # set when compiled: the type of what is computed in
ALONE = None  # set when compiled: whether games have one street
GADGET = None  # set when compiled: whether some game has a gadget
NEAR = None  # set when compiled: whether the vectors of the last street are in the block's own memory
INNER, EXIT, LAST = 10, 8, 8  # numbers of a piece of work


class Program(NamedTuple):
    """What blocks do on one board, for all shapes of betting, streets and players; see `riverboat.engines.cuda.program`."""

    op: Array  # int32 [ops * 8]
    entry: Array  # int32 [entries * 2]: slot of the values, whether they are added to what is there
    pay: Array  # float [entries * 3]: factors on what I beat, on what I do not lose to, on everything
    addend: Array  # int32: slots that are summed
    weight: Array  # float: how much a move of mine counts, see `BoardWalker`


class Boards(NamedTuple):
    """See `riverboat.trees.boards.Boards`; the boards of all games, and what the device needs besides."""

    rows: Array  # int32 [boards * 2]
    base: Array  # int64 [boards * 2]
    child: Array  # int32 [boards]: the boards that follow
    child_end: Array  # int32 [boards]
    up_at: Array  # int64 [boards * 2]
    up: Array  # uint16
    member: Array  # int32 [boards]
    member_end: Array  # int32 [boards]
    down_at: Array  # int64 [members * 2]
    down: Array  # uint16
    chance: Array  # float [boards]: of one member of its children
    hand_at: Array  # int64 [boards * 2]
    hands: Array  # int32 [boards * 2]
    hand: Array  # uint16 [hands * 3]
    rep: Array  # uint16 [rows * 10], at `up_at`
    list_at: Array  # uint16 [boards * 2 * 53]: where the running sums of each card begin
    slot_at: Array  # int64 [boards]: its first slot, on streets before the last
    game: Array  # int32 [boards]
    lock_at: Array  # int32 [boards + 1]: its locks


class Items(NamedTuple):
    """Pieces of work: what one block does without the others."""

    inner_at: Array  # int32 [streets]: pieces of each street but the last
    inner: Array  # int32 [pieces * 10]: board, the one before; for each player first op, end of the way down, of the way up
    exit_at: Array  # int32 [streets]: exits of each street but the last
    exit: Array  # int32 [exits * 8]: board; for each player the slot of its value; and of the root that follows, on the next
    # boards; first of its parts, steps between them, how many
    last: Array  # int32 [pieces * 8]: board before (or the board itself), first board, end, first part; for each player
    # first op, end


class Room(NamedTuple):
    """Vectors, `stride` numbers each."""

    root_own: Array  # float [games * 2 * stride]: how each player's hands come to the root, as it sees itself
    root_opp: Array  # float […]: as the opponent sees them
    slot: Array  # float [blocks * slots * stride]: vectors of the last street, where they are not in the block's memory
    inner: Array  # float [slots of boards before the last street * stride]
    part: (
        Array  # float [parts * stride]: values of roots of the last street on some boards, by rows of the board before
    )
    result: Array  # float [2 * games * (1 + moves) * stride] OUT: of each player, at the root and after each move there


class DeviceTables(NamedTuple):
    """See `riverboat.engines.cpu._kernels.node.BoardTables`."""

    regret: Array
    average: Array
    prediction: Array
    opp_regret: Array
    opp_prediction: Array
    lock: Array  # int32 [locks * 2]: node, where its strategy begins in locked
    locked: Array  # float


def everyone(barrier, count):
    """Wait until all blocks have come here `count` times."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(barrier, 0, 1)
        while cuda.atomic.add(barrier, 0, 0) < count * cuda.gridDim.x:
            cuda.nanosleep(np.uint32(40))
        cuda.threadfence()
    cuda.syncthreads()


def next_piece(barrier, counter, memory, at):
    """The number of a piece that nobody has begun."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        memory[at] = cuda.atomic.add(barrier, counter, 1) + cuda.gridDim.x
    cuda.syncthreads()
    return U(memory[at])


def copy(source, source_at, count, out, to):
    """Copy numbers."""
    r = U(cuda.threadIdx.x)
    while r < count:
        out[to + r] = source[source_at + r]
        r += U(cuda.blockDim.x)


# --- one board ----------------------------------------------------------------------------------------------------


def sit(boards, sizes, b, me, memory, short):
    """Sit down at a board: its indices are copied to the block's memory."""
    seat, other = TWO * b + me, TWO * b + ONE - me
    rows, hands, stride = U(boards.rows[seat]), U(boards.hands[other]), U(sizes[1])
    hand = U(FRONT) + U(10) * stride
    lists = hand + THREE * U(sizes[2])
    ups = lists + U(53) + U(2 * ENTRIES)
    cuda.syncthreads()
    copy(boards.rep, U(10) * U(boards.up_at[seat]), U(10) * rows, short, U(FRONT))
    copy(boards.hand, THREE * U(boards.hand_at[other]), THREE * hands, short, hand)
    copy(boards.list_at, U(53) * other, U(53), short, lists)
    if not ALONE:
        copy(boards.up, U(boards.up_at[seat]), rows, short, ups)
        copy(boards.up, U(boards.up_at[other]), U(boards.rows[other]), short, ups + stride)
    table = Table(
        V(b), V(me), V(rows), V(boards.rows[other]), U(boards.base[seat]), U(boards.base[other]), V(hands), V(stride),
        V(hand), V(lists), V(lists + U(53)), V(ups), V(sizes[3]), V(sizes[3] + 3 * ENTRIES),
    )  # fmt: skip
    cuda.syncthreads()
    clear_lists(memory, short, table)
    return table


def arrive(boards, room, gadgets, op, table, before, first, slots, memory, short):
    """Reach of both players at two roots: that of the rows of the board before, or at the root of the game."""
    stride, b, me = U(table.stride), U(table.board), U(table.me)
    one, two = U(op[1]) * stride, U(op[4]) * stride
    if first:
        own = (TWO * U(boards.game[b]) + me) * stride
        opp = (TWO * U(boards.game[b]) + ONE - me) * stride
        r = U(cuda.threadIdx.x)
        while r < stride:
            slots[one + r] = room.root_own[own + r]
            slots[one + stride + r] = room.root_opp[opp + r]
            r += U(cuda.blockDim.x)
        if GADGET and MODE == LEARN:
            enter_root(gadgets, U(boards.game[b]), table, slots, one, one + stride, memory)
        return
    base = U(boards.slot_at[before])
    if MODE == LEARN:
        source, other = (base + U(op[2])) * stride, (base + U(op[5])) * stride
        bring(room.inner, source, other, short, U(table.ups), U(table.rows), slots, one, two)
    source, other = (base + U(op[3])) * stride, (base + U(op[6])) * stride
    bring(room.inner, source, other, short, U(table.ups) + stride, U(table.others), slots, one + stride, two + stride)


def bring(source, one_at, two_at, short, up, rows, slots, one, two):
    """Reach of one player at two roots."""
    r = U(cuda.threadIdx.x)
    while r < rows:
        row = U(short[up + r])
        x, y = source[one_at + row], source[two_at + row]
        slots[one + r] = x
        slots[two + r] = y
        r += U(cuda.blockDim.x)


def followed(boards, b, me, r, value, value_at):
    """What a row of the board before wins on the boards that b stands for."""
    total, rows = real(0), U(boards.rows[TWO * b + me])
    m, end = U(boards.member[b]), U(boards.member_end[b])
    while m < end:
        row = U(boards.down[U(boards.down_at[TWO * m + me]) + r])
        if row < rows:
            total += value[value_at + row]
        m += ONE
    return total


def finish(boards, room, op, table, before, part, fresh, slots):
    """Values of three roots of the last street, by rows of the board before, added to what is there unless it is `fresh`."""
    stride, b, me = U(table.stride), U(table.board), U(table.me)
    x_at, y_at, z_at = U(op[1]) * stride, U(op[3]) * stride, U(op[5]) * stride
    x_to, y_to, z_to = (part + U(op[2])) * stride, (part + U(op[4])) * stride, (part + U(op[6])) * stride
    rows, above = U(table.rows), U(boards.rows[TWO * before + me])
    first, last = U(boards.member[b]), U(boards.member_end[b])
    cuda.syncthreads()
    r = U(cuda.threadIdx.x)
    while r < above:
        x, y, z, m = real(0), real(0), real(0), first
        if not fresh:
            x, y, z = room.part[x_to + r], room.part[y_to + r], room.part[z_to + r]
        while m < last:
            row = U(boards.down[U(boards.down_at[TWO * m + me]) + r])
            if row < rows:
                x += slots[x_at + row]
                y += slots[y_at + row]
                z += slots[z_at + row]
            m += ONE
        room.part[x_to + r], room.part[y_to + r], room.part[z_to + r] = x, y, z
        r += U(cuda.blockDim.x)
    cuda.syncthreads()


def bring_steps(program, k, words):
    """Copy the steps that come next to the block's memory, and some behind them."""
    cuda.syncthreads()
    first = U(WIDE) * k
    copy(program.op, first, min(U(WIDE * (STEPS + AHEAD)), U(len(program.op)) - first), words, ZERO)
    cuda.syncthreads()


def read_op(words, k):
    """A step of a program, of those that are near."""
    at = U(WIDE) * k
    return (
        words[at], words[at + ONE], words[at + TWO], words[at + THREE], words[at + FOUR], words[at + U(5)],
        words[at + U(6)], words[at + U(7)],
    )  # fmt: skip


def foresee(words, k, table, tables):
    """Ask for the numbers that a step further on will read."""
    at = U(WIDE) * k
    kind = words[at]
    if kind == DOWN_THEIRS or (MODE != RESPOND and (kind == DOWN_MINE or kind == UP_MINE)):  # noqa: SIM109
        mine = kind != DOWN_THEIRS
        rows = U(table.rows) if mine else U(table.others)
        begin = (table.base if mine else table.other_base) + U(words[at + FOUR]) * rows
        count = U(words[at + THREE]) * rows
        if MODE == LEARN:
            prefetch(tables.regret if mine else tables.opp_regret, begin, count)
        if kind == DOWN_MINE or MODE != LEARN:
            prefetch(tables.average, begin, count)


def step_of(steps, i):
    """The numbers of an iteration, as they are used."""
    return (
        real(steps[i, 0]), real(steps[i, 1]), real(steps[i, 2]), real(steps[i, 3]), real(steps[i, 4]),
        real(steps[i, 5]),
    )  # fmt: skip


def follow(
    program,
    begin,
    end,
    boards,
    room,
    gadgets,
    table,
    before,
    first,
    part,
    fresh,
    tables,
    step,
    slots,
    memory,
    short,
    words,
    moves,
):
    """Do what a program says, on one board."""
    k, near = begin, U(STEPS)
    while k < end:
        if near == U(STEPS):
            bring_steps(program, k, words)
            near = ZERO
        if cuda.threadIdx.x == 0 and k + U(AHEAD) < end:
            foresee(words, near + U(AHEAD), table, tables)
        op = read_op(words, near)
        kind = op[0]
        if kind == PAY:
            pay(program, op, table, slots, memory, short)
        elif DOWN_MINE <= kind <= DOWN_THEIRS:
            go_down(op, table, slots, tables, step)
        elif kind == UP_MINE:
            go_up(program, op, table, slots, tables, boards, step)
        elif kind == UP_THEIRS:
            add_up(program, op, table, slots)
        elif kind == ARRIVE:
            arrive(boards, room, gadgets, op, table, before, first, slots, memory, short)
        elif kind == FINISH:
            finish(boards, room, op, table, before, part, fresh, slots)
        else:  # REPORT
            game, games = U(boards.game[table.board]), U(len(room.root_own)) // (TWO * U(table.stride))
            value = U(op[1]) * U(table.stride)
            if GADGET and MODE == LEARN and op[2] == 0:
                learn_root(gadgets, game, table, slots, value, step, memory)
            place = (U(table.me) * games + game) * (ONE + moves) + U(op[2])
            copy(slots, value, table.rows, room.result, place * U(table.stride))
        k += ONE
        near += ONE


# --- pieces of work -----------------------------------------------------------------------------------------------


def inner_board(program, boards, items, room, gadgets, sizes, k, up, first, me, tables, step, memory, short, words):
    """The way down, or up, below one root on a street before the last."""
    at = U(INNER) * k
    b, before, ops = U(items.inner[at]), U(items.inner[at + ONE]), at + TWO + FOUR * me
    begin, middle, end = U(items.inner[ops]), U(items.inner[ops + ONE]), U(items.inner[ops + TWO])
    table = sit(boards, sizes, b, me, memory, short)
    slots = room.inner[U(boards.slot_at[b]) * U(table.stride) :]
    if up:
        begin = middle
    else:
        end = middle
    follow(program, begin, end, boards, room, gadgets, table, before, first, ZERO, True, tables, step, slots, memory, short, words, U(sizes[4]))  # fmt: skip  # noqa: E501


def collect(boards, items, room, k, before_last, me, stride):
    """The value of an exit: the sum over the boards that follow, times the chance of each."""
    at = U(EXIT) * k
    b, home, root = U(items.exit[at]), U(items.exit[at + ONE + me]), U(items.exit[at + THREE + me])
    part, many, count = U(items.exit[at + U(5)]), U(items.exit[at + U(6)]), U(items.exit[at + U(7)])
    to = (U(boards.slot_at[b]) + home) * stride
    first, end = U(boards.child[b]), U(boards.child_end[b])
    rows, chance = U(boards.rows[TWO * b + me]), boards.chance[first]
    r = U(cuda.threadIdx.x)
    while r < rows:
        total = real(0)
        if before_last:
            p = part
            while p < part + many * count:
                total += room.part[p * stride + r]
                p += many
        else:
            c = first
            while c < end:
                total += followed(boards, c, me, r, room.inner, (U(boards.slot_at[c]) + root) * stride)
                c += ONE
        room.inner[to + r] = total * chance
        r += U(cuda.blockDim.x)


def last_boards(program, boards, items, room, gadgets, sizes, k, alone, me, tables, step, slots, memory, short, words):
    """Some boards of the last street below some roots: down and up, and the sum of their values."""
    at = U(LAST) * k
    before, begin, end = U(items.last[at]), U(items.last[at + ONE]), U(items.last[at + TWO])
    part, ops = U(items.last[at + THREE]), at + FOUR + TWO * me
    b = begin
    while b < end:
        table = sit(boards, sizes, b, me, memory, short)
        follow(program, U(items.last[ops]), U(items.last[ops + ONE]), boards, room, gadgets, table, before, alone, part, b == begin, tables, step, slots, memory, short, words, U(sizes[4]))  # fmt: skip  # noqa: E501
        b += ONE


def walk(
    program,  # Program
    boards,  # Boards
    items,  # Items
    room,  # Room
    gadgets,  # Gadgets
    tables,  # DeviceTables
    sizes,  # int64 [7]: streets, stride, most hands, where running sums begin in a block's memory, moves at a root,
    # where slots begin there, slots of the last street
    steps,  # float64 [iterations, 6], see `Walker.learn`
    first_player,
    end_player,
    barrier,  # int64 [1 + 2 * iterations] INOUT: all zero before; pieces of the last street that are taken, besides
):
    """Iterations of all games, or their values for one player."""
    memory = cuda.shared.array(0, KIND)
    short = cuda.shared.array(0, uint16)
    words = cuda.shared.array(0, int32)
    if len(steps) == 0:  # it is compiled: no memory of its own is there
        return
    streets, stride = sizes[0], U(sizes[1])
    block, blocks = U(cuda.blockIdx.x), U(cuda.gridDim.x)
    if NEAR:
        slots = memory[U(sizes[5]) :]
    else:
        slots = room.slot[block * U(sizes[6]) * stride :]
    pieces = U(len(items.last) // LAST)
    passed = 0
    if ALONE:  # one street: games do not wait for each other
        k = block
        while k < pieces:
            for i in range(len(steps)):
                for me in range(first_player, end_player):
                    last_boards(
                        program,
                        boards,
                        items,
                        room,
                        gadgets,
                        sizes,
                        k,
                        True,
                        U(me),
                        tables,
                        step_of(steps, i),
                        slots,
                        memory,
                        short,
                        words,
                    )
            k = next_piece(barrier, 1, memory, U(sizes[3]))
        return
    for i in range(len(steps)):
        for me in range(first_player, end_player):
            for stage in range(2 * streets - 1):  # down the streets before the last, the last, and up again
                up = stage >= streets
                street = 2 * streets - 2 - stage if up else stage
                if up:
                    k = U(items.exit_at[street]) + block
                    while k < U(items.exit_at[street + 1]):
                        collect(boards, items, room, k, street == streets - 2, U(me), stride)
                        k += blocks
                    passed += 1
                    everyone(barrier, passed)
                if street == streets - 1:
                    k = block
                    while k < pieces:
                        last_boards(
                            program,
                            boards,
                            items,
                            room,
                            gadgets,
                            sizes,
                            k,
                            False,
                            U(me),
                            tables,
                            step_of(steps, i),
                            slots,
                            memory,
                            short,
                            words,
                        )
                        k = next_piece(barrier, 1 + 2 * i + me, memory, U(sizes[3]))
                else:
                    k = U(items.inner_at[street]) + block
                    while k < U(items.inner_at[street + 1]):
                        inner_board(
                            program,
                            boards,
                            items,
                            room,
                            gadgets,
                            sizes,
                            k,
                            up,
                            street == 0,
                            U(me),
                            tables,
                            step_of(steps, i),
                            memory,
                            short,
                            words,
                        )
                        k += blocks
                passed += 1
                everyone(barrier, passed)
