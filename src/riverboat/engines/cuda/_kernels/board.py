"""Traversal of betting × boards for a GPU, the counterpart of `riverboat.engines.cpu._kernels.board`.

A thread block runs a program (`riverboat.engines.cuda.program`) on one board and some roots of the betting on its
street; a thread owns some rows of hands. Streets follow each other across the whole device. First all boards of the
first street go down, then those of the second. The last street goes down and up at once, with its vectors in shared
memory if they fit. Then the earlier streets go up. Whole iterations run in one launch. Blocks wait for each other
between streets (`grid_barrier`), so no more blocks are launched than can be resident at the same time.

`riverboat.engines.cuda.compilation` compiles the functions for a table format, a mode and a schedule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import int32, uint16

from riverboat.core.arrays import Array
from riverboat.engines.cpu._kernels.node import BoardTables
from riverboat.engines.cuda._kernels.intrinsics import cuda, prefetch
from riverboat.engines.cuda._kernels.node import (
    BEST_RESPONSE,
    FOUR,
    MAX_PAID_TERMINALS,
    MODE,
    ONE,
    OP_OPPONENT_DOWN,
    OP_OPPONENT_UP,
    OP_OWN_DOWN,
    OP_OWN_UP,
    OP_ROOT_REACH,
    OP_ROOT_VALUES,
    OP_TERMINALS,
    OP_WIDTH,
    OP_WINDOW,
    OP_WINDOW_SHORTS,
    PREFETCH_DISTANCE,
    THREE,
    TWO,
    UPDATE,
    ZERO,
    CudaBoardView,
    U,
    V,
    clear_lists,
    pull_values_up,
    push_reach_down,
    real,
    sum_action_values,
    terminal_values,
)
from riverboat.engines.cuda._kernels.root import CudaGadgets, enter_root, update_root

COMPUTE_TYPE = None  # set when compiled: number type of computations
ONE_STREET = None  # set when compiled: whether games have one street
HAS_GADGET = None  # set when compiled: whether some game has a gadget
SHARED_SLOTS = None  # set when compiled: whether the vectors of the last street are in shared memory
INNER_WIDTH, EXIT_WIDTH, LAST_WIDTH = 10, 8, 8  # numbers of a work item


class CudaProgram(NamedTuple):
    """Programs of thread blocks for all betting shapes, streets and players; see `riverboat.engines.cuda.program`."""

    op: Array  # int32 [ops * 8]
    entry: Array  # int32 [entries * 2]: slot of the values, whether they are added to it
    pay: Array  # float [entries * 3]: factors on hands beaten, on hands beaten or tied, on all hands
    addend: Array  # int32: slots that are summed
    weight: Array  # float: weight of an action's regret, see `CpuBoardEngine`


class CudaBoards(NamedTuple):
    """Boards of all games, see `riverboat.trees.boards.BoardArrays`, with further arrays for the device."""

    rows: Array  # int32 [boards * 2]
    base: Array  # int64 [boards * 2]
    child: Array  # int32 [boards]: first child board
    child_end: Array  # int32 [boards]
    up_at: Array  # int64 [boards * 2]
    up: Array  # uint16
    member: Array  # int32 [boards]
    member_end: Array  # int32 [boards]
    down_at: Array  # int64 [members * 2]
    down: Array  # uint16
    chance: Array  # float [boards]: probability of one member of its children
    hand_at: Array  # int64 [boards * 2]
    hands: Array  # int32 [boards * 2]
    hand: Array  # uint16 [hands * 3]
    rep: Array  # uint16 [rows * 10], at `up_at`
    list_at: Array  # uint16 [boards * 2 * 53]: offset of the running sums of each card
    slot_at: Array  # int64 [boards]: first slot, on earlier streets
    game: Array  # int32 [boards]
    lock_at: Array  # int32 [boards + 1]: first lock


class CudaWorkItems(NamedTuple):
    """Work items: parts of a traversal that thread blocks do independently of each other."""

    inner_at: Array  # int32 [streets]: first item of each street but the last
    inner: Array  # int32 [items * 10]: board, parent; for each player first op, end of the pass down, of the pass up
    exit_at: Array  # int32 [streets]: first exit of each street but the last
    exit: Array  # int32 [exits * 8]: board; for each player the slot of its value; the same of the root on child
    # boards; first of its parts, distance between them, count
    last: Array  # int32 [items * 8]: parent board (or the board itself), first board, end, first part; for each player
    # first op, end


class CudaWorkspace(NamedTuple):
    """Vectors of reach and values in the device's memory, `stride` numbers each."""

    root_own: Array  # float [games * 2 * stride]: each player's own reach at the root
    root_opp: Array  # float […]: each player's reach at the root, for the opponent's values
    slot: Array  # float [blocks * slots * stride]: vectors of the last street, if they are not in shared memory
    inner: Array  # float [slots of earlier streets * stride]
    part: Array  # float [parts * stride]: values of last-street roots on some boards, by rows of the parent board
    result: Array  # float [2 * games * (1 + actions) * stride] OUT: each player's values at the root and its children


class CudaContext(NamedTuple):
    """Arrays that the functions of a thread block use."""

    program: CudaProgram
    boards: CudaBoards
    items: CudaWorkItems
    workspace: CudaWorkspace
    gadgets: CudaGadgets
    tables: BoardTables  # of all games; lock: int32 [locks * 2], node and offset of its strategy in locked
    sizes: Array  # int64 [7], see `traverse`
    slots: Array  # float: vectors of the last street
    memory: Array  # shared memory as float, uint16 and int32
    short: Array
    words: Array


def grid_barrier(barrier, count):
    """Wait until all blocks have called this `count` times in the launch: a barrier across the device."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(barrier, 0, 1)
        while cuda.atomic.add(barrier, 0, 0) < count * cuda.gridDim.x:
            cuda.nanosleep(np.uint32(40))
        cuda.threadfence()
    cuda.syncthreads()


def next_work_item(barrier, counter, memory, at):
    """Return the next work item that no block has taken, by the atomic counter `barrier[counter]`."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        memory[at] = cuda.atomic.add(barrier, counter, 1) + cuda.gridDim.x
    cuda.syncthreads()
    return U(memory[at])


def block_copy(source, source_at, count, out, to):
    """Copy `count` numbers with all threads of a block."""
    r = U(cuda.threadIdx.x)
    while r < count:
        out[to + r] = source[source_at + r]
        r += U(cuda.blockDim.x)


# --- one board ----------------------------------------------------------------------------------------------------


def load_board(boards, sizes, b, me, memory, short):
    """Load the indices of board b for player `me` into shared memory, and return the board's view."""
    seat, other = TWO * b + me, TWO * b + ONE - me
    rows, hands, stride = U(boards.rows[seat]), U(boards.hands[other]), U(sizes[1])
    hand = U(OP_WINDOW_SHORTS) + U(10) * stride
    lists = hand + THREE * U(sizes[2])
    ups = lists + U(53) + U(2 * MAX_PAID_TERMINALS)
    cuda.syncthreads()
    block_copy(boards.rep, U(10) * U(boards.up_at[seat]), U(10) * rows, short, U(OP_WINDOW_SHORTS))
    block_copy(boards.hand, THREE * U(boards.hand_at[other]), THREE * hands, short, hand)
    block_copy(boards.list_at, U(53) * other, U(53), short, lists)
    if not ONE_STREET:
        block_copy(boards.up, U(boards.up_at[seat]), rows, short, ups)
        block_copy(boards.up, U(boards.up_at[other]), U(boards.rows[other]), short, ups + stride)
    view = CudaBoardView(
        V(b), V(me), V(rows), V(boards.rows[other]), U(boards.base[seat]), U(boards.base[other]), V(hands), V(stride),
        V(hand), V(lists), V(lists + U(53)), V(ups), V(sizes[3]), V(sizes[3] + 3 * MAX_PAID_TERMINALS),
    )  # fmt: skip
    cuda.syncthreads()
    clear_lists(memory, short, view)
    return view


def set_root_reach(boards, workspace, gadgets, op, table, before, first, slots, memory, short):
    """Set both players' reach at two roots: from the parent board `before`, or if `first` at the root of the game."""
    stride, b, me = U(table.stride), U(table.board), U(table.me)
    one, two = U(op[1]) * stride, U(op[4]) * stride
    if first:
        own = (TWO * U(boards.game[b]) + me) * stride
        opp = (TWO * U(boards.game[b]) + ONE - me) * stride
        r = U(cuda.threadIdx.x)
        while r < stride:
            slots[one + r] = workspace.root_own[own + r]
            slots[one + stride + r] = workspace.root_opp[opp + r]
            r += U(cuda.blockDim.x)
        if HAS_GADGET and MODE == UPDATE:
            enter_root(gadgets, U(boards.game[b]), table, slots, one, one + stride, memory)
        return
    base = U(boards.slot_at[before])
    if MODE == UPDATE:
        source, other = (base + U(op[2])) * stride, (base + U(op[5])) * stride
        gather_reach(workspace.inner, source, other, short, U(table.ups), U(table.rows), slots, one, two)
    source, other = (base + U(op[3])) * stride, (base + U(op[6])) * stride
    gather_reach(
        workspace.inner, source, other, short, U(table.ups) + stride, U(table.others), slots, one + stride, two + stride
    )


def gather_reach(source, one_at, two_at, short, up, rows, slots, one, two):
    """Gather one player's reach at two roots from the rows of the parent board. `up`: offset of the map of rows"""
    r = U(cuda.threadIdx.x)
    while r < rows:
        row = U(short[up + r])
        x, y = source[one_at + row], source[two_at + row]
        slots[one + r] = x
        slots[two + r] = y
        r += U(cuda.blockDim.x)


def sum_over_members(boards, b, me, r, value, value_at):
    """Return the value of a row of the parent board, summed over the boards that b represents."""
    total, rows = real(0), U(boards.rows[TWO * b + me])
    m, end = U(boards.member[b]), U(boards.member_end[b])
    while m < end:
        row = U(boards.down[U(boards.down_at[TWO * m + me]) + r])
        if row < rows:
            total += value[value_at + row]
        m += ONE
    return total


def add_root_values(boards, workspace, op, table, before, part, fresh, slots):
    """Add the values of three roots of the last street to the parts of the parent board; `fresh` overwrites them."""
    stride, b, me = U(table.stride), U(table.board), U(table.me)
    x_at, y_at, z_at = U(op[1]) * stride, U(op[3]) * stride, U(op[5]) * stride
    x_to, y_to, z_to = (part + U(op[2])) * stride, (part + U(op[4])) * stride, (part + U(op[6])) * stride
    rows, parent_rows = U(table.rows), U(boards.rows[TWO * before + me])
    first, last = U(boards.member[b]), U(boards.member_end[b])
    cuda.syncthreads()
    r = U(cuda.threadIdx.x)
    while r < parent_rows:
        x, y, z, m = real(0), real(0), real(0), first
        if not fresh:
            x, y, z = workspace.part[x_to + r], workspace.part[y_to + r], workspace.part[z_to + r]
        while m < last:
            row = U(boards.down[U(boards.down_at[TWO * m + me]) + r])
            if row < rows:
                x += slots[x_at + row]
                y += slots[y_at + row]
                z += slots[z_at + row]
            m += ONE
        workspace.part[x_to + r], workspace.part[y_to + r], workspace.part[z_to + r] = x, y, z
        r += U(cuda.blockDim.x)
    cuda.syncthreads()


def load_ops(program, k, words):
    """Load the next operations of a program into shared memory, with some lookahead."""
    cuda.syncthreads()
    first = U(OP_WIDTH) * k
    block_copy(
        program.op, first, min(U(OP_WIDTH * (OP_WINDOW + PREFETCH_DISTANCE)), U(len(program.op)) - first), words, ZERO
    )
    cuda.syncthreads()


def read_op(words, k):
    """Return an operation of the loaded window."""
    at = U(OP_WIDTH) * k
    return (
        words[at], words[at + ONE], words[at + TWO], words[at + THREE], words[at + FOUR], words[at + U(5)],
        words[at + U(6)], words[at + U(7)],
    )  # fmt: skip


def prefetch_op(words, k, table, tables):
    """Prefetch the table entries that a later operation will read."""
    at = U(OP_WIDTH) * k
    kind = words[at]
    if kind == OP_OPPONENT_DOWN or (MODE != BEST_RESPONSE and (kind == OP_OWN_DOWN or kind == OP_OWN_UP)):
        own = kind != OP_OPPONENT_DOWN
        rows = U(table.rows) if own else U(table.others)
        begin = (table.base if own else table.other_base) + U(words[at + FOUR]) * rows
        count = U(words[at + THREE]) * rows
        if MODE == UPDATE:
            prefetch(tables.regret if own else tables.opp_regret, begin, count)
        if kind == OP_OWN_DOWN or MODE != UPDATE:
            prefetch(tables.average, begin, count)


def schedule_step(steps, i):
    """Return the schedule parameters of an iteration in the compute type."""
    return (
        real(steps[i, 0]), real(steps[i, 1]), real(steps[i, 2]), real(steps[i, 3]), real(steps[i, 4]),
        real(steps[i, 5]),
    )  # fmt: skip


def run_program(context, begin, end, table, before, first, part, fresh, step, slots):
    """Run operations begin … end - 1 of the program on one board.

    `table`: view of the board; `before`: parent board; `first`: whether the street is the first; `part`, `fresh`: see
    `add_root_values`.
    """
    program, boards, workspace, gadgets = context.program, context.boards, context.workspace, context.gadgets
    tables, memory, short, words = context.tables, context.memory, context.short, context.words
    k, position = begin, U(OP_WINDOW)
    while k < end:
        if position == U(OP_WINDOW):
            load_ops(program, k, words)
            position = ZERO
        if cuda.threadIdx.x == 0 and k + U(PREFETCH_DISTANCE) < end:
            prefetch_op(words, position + U(PREFETCH_DISTANCE), table, tables)
        op = read_op(words, position)
        kind = op[0]
        if kind == OP_TERMINALS:
            terminal_values(program, op, table, slots, memory, short)
        elif OP_OWN_DOWN <= kind <= OP_OPPONENT_DOWN:
            push_reach_down(op, table, slots, tables, step)
        elif kind == OP_OWN_UP:
            pull_values_up(program, op, table, slots, tables, boards, step)
        elif kind == OP_OPPONENT_UP:
            sum_action_values(program, op, table, slots)
        elif kind == OP_ROOT_REACH:
            set_root_reach(boards, workspace, gadgets, op, table, before, first, slots, memory, short)
        elif kind == OP_ROOT_VALUES:
            add_root_values(boards, workspace, op, table, before, part, fresh, slots)
        else:  # OP_REPORT
            game, games = U(boards.game[table.board]), U(len(workspace.root_own)) // (TWO * U(table.stride))
            value = U(op[1]) * U(table.stride)
            if HAS_GADGET and MODE == UPDATE and op[2] == 0:
                update_root(gadgets, game, table, slots, value, step, memory)
            index = (U(table.me) * games + game) * (ONE + U(context.sizes[4])) + U(op[2])
            block_copy(slots, value, table.rows, workspace.result, index * U(table.stride))
        k += ONE
        position += ONE


# --- work items ---------------------------------------------------------------------------------------------------


def process_inner_board(context, k, up, first, me, step):
    """Run work item k of an earlier street: the pass down, or `up`, below one root on one board."""
    items, boards, at = context.items, context.boards, U(INNER_WIDTH) * k
    b, before, ops = U(items.inner[at]), U(items.inner[at + ONE]), at + TWO + FOUR * me
    begin, middle, end = U(items.inner[ops]), U(items.inner[ops + ONE]), U(items.inner[ops + TWO])
    table = load_board(boards, context.sizes, b, me, context.memory, context.short)
    slots = context.workspace.inner[U(boards.slot_at[b]) * U(table.stride) :]
    if up:
        begin = middle
    else:
        end = middle
    run_program(context, begin, end, table, before, first, ZERO, True, step, slots)


def sum_exit_values(context, k, before_last, me):
    """Compute the value of exit k: the sum over child boards, times the probability of each deal.

    `before_last`: whether the child boards are on the last street, whose values are in `CudaWorkspace.part`.
    """
    boards, items, workspace = context.boards, context.items, context.workspace
    at, stride = U(EXIT_WIDTH) * k, U(context.sizes[1])
    b, exit_slot, root = U(items.exit[at]), U(items.exit[at + ONE + me]), U(items.exit[at + THREE + me])
    part, distance, count = U(items.exit[at + U(5)]), U(items.exit[at + U(6)]), U(items.exit[at + U(7)])
    to = (U(boards.slot_at[b]) + exit_slot) * stride
    first, end = U(boards.child[b]), U(boards.child_end[b])
    rows, chance = U(boards.rows[TWO * b + me]), boards.chance[first]
    r = U(cuda.threadIdx.x)
    while r < rows:
        total = real(0)
        if before_last:
            p = part
            while p < part + distance * count:
                total += workspace.part[p * stride + r]
                p += distance
        else:
            c = first
            while c < end:
                total += sum_over_members(boards, c, me, r, workspace.inner, (U(boards.slot_at[c]) + root) * stride)
                c += ONE
        workspace.inner[to + r] = total * chance
        r += U(cuda.blockDim.x)


def process_last_boards(context, k, alone, me, step):
    """Run work item k of the last street: both passes below some roots on some boards, and the sum of their values.

    `alone`: whether the last street is the first.
    """
    items, at = context.items, U(LAST_WIDTH) * k
    before, begin, end = U(items.last[at]), U(items.last[at + ONE]), U(items.last[at + TWO])
    part, ops = U(items.last[at + THREE]), at + FOUR + TWO * me
    first, last = U(items.last[ops]), U(items.last[ops + ONE])
    b = begin
    while b < end:
        table = load_board(context.boards, context.sizes, b, me, context.memory, context.short)
        run_program(context, first, last, table, before, alone, part, b == begin, step, context.slots)
        b += ONE


def traverse(
    program,  # CudaProgram
    boards,  # CudaBoards
    items,  # CudaWorkItems
    workspace,  # CudaWorkspace
    gadgets,  # CudaGadgets
    tables,  # BoardTables
    sizes,  # int64 [7]: streets, stride, most hands, offset of running sums in shared memory, most actions at a root,
    # offset of slots in shared memory, slots of the last street
    steps,  # float64 [iterations, 6], see `BoardEngine.iterate`
    first_player,
    end_player,
    barrier,  # int64 [1 + 2 * iterations] INOUT: zero at first; barrier count, then counters of work items
):
    """Run iterations of all games, or compute the values of some players; MODE is a constant of the compilation."""
    memory = cuda.shared.array(0, COMPUTE_TYPE)
    short = cuda.shared.array(0, uint16)
    words = cuda.shared.array(0, int32)
    if len(steps) == 0:  # launch for compilation, without shared memory
        return
    streets, stride = sizes[0], U(sizes[1])
    block, blocks = U(cuda.blockIdx.x), U(cuda.gridDim.x)
    if SHARED_SLOTS:
        slots = memory[U(sizes[5]) :]
    else:
        slots = workspace.slot[block * U(sizes[6]) * stride :]
    context = CudaContext(program, boards, items, workspace, gadgets, tables, sizes, slots, memory, short, words)
    pieces = U(len(items.last) // LAST_WIDTH)
    passed = 0
    if ONE_STREET:  # games do not wait for each other
        k = block
        while k < pieces:
            for i in range(len(steps)):
                for me in range(first_player, end_player):
                    process_last_boards(context, k, True, U(me), schedule_step(steps, i))
            k = next_work_item(barrier, 1, memory, U(sizes[3]))
        return
    for i in range(len(steps)):
        for me in range(first_player, end_player):
            for stage in range(2 * streets - 1):  # down the earlier streets, the last street, and up again
                up = stage >= streets
                street = 2 * streets - 2 - stage if up else stage
                if up:
                    k = U(items.exit_at[street]) + block
                    while k < U(items.exit_at[street + 1]):
                        sum_exit_values(context, k, street == streets - 2, U(me))
                        k += blocks
                    passed += 1
                    grid_barrier(barrier, passed)
                if street == streets - 1:
                    k = block
                    while k < pieces:
                        process_last_boards(context, k, False, U(me), schedule_step(steps, i))
                        k = next_work_item(barrier, 1 + 2 * i + me, memory, U(sizes[3]))
                else:
                    k = U(items.inner_at[street]) + block
                    while k < U(items.inner_at[street + 1]):
                        process_inner_board(context, k, up, street == 0, U(me), schedule_step(steps, i))
                        k += blocks
                passed += 1
                grid_barrier(barrier, passed)
