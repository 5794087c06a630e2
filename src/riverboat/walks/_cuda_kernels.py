"""The walk over betting × boards for a GPU: what `riverboat.walks._board_kernels` does for processors.

A block of threads takes one board and one root of the betting on its street at a time; a thread owns some rows of hands.
Reach goes down and values come up within the block, so threads meet only where terminals are paid. Streets follow each other
across the whole device: first all boards of the first street go down, then those of the second, until the last street, which
goes down and up at once; then the others go up. Whole iterations run in one launch; blocks wait for each other between
streets (`everyone`), so no more blocks are launched than fit on the device at the same time.

Functions are compiled for a format of tables, a mode and a schedule by `riverboat.walks.cuda_code`.
"""

from __future__ import annotations

from typing import NamedTuple

from riverboat.arrays import Array
from riverboat.walks._cuda_node_kernels import (
    EXIT,
    FOUR,
    NUMBERS,
    ONE,
    THREE,
    TWO,
    ZERO,
    U,
    go_down,
    go_up,
    real,
    settle,
)
from riverboat.walks._cuda_numbers import cuda


class Nodes(NamedTuple):
    """Betting, all streets of all shapes one after the other, in preorder below each root."""

    actor: Array  # int8 [nodes]: player, EXIT, END
    end: Array  # int32 [nodes]: end of the subtree on this street
    width: Array  # int32 [nodes]
    slot: Array  # int32 [nodes]: decision: first row of its actor on this street; exit: its number on this street
    reach: Array  # int32 [nodes * 2]: which vector of its root holds each player's reach
    below: Array  # int32 [nodes]: decision: the vector of its actor's reach after its first move
    kid_at: Array  # int32 [nodes]: where its children begin in `kid`
    kid: Array  # int32 [moves + 3]: children, counted from the root
    end_at: Array  # int32 [nodes]: root: its first terminal; showdowns come first
    ends: Array  # int32 [nodes]: root: how many there are
    shows: Array  # int32 [nodes]: root: how many of them are showdowns
    end_node: Array  # int32 [terminals]: counted from the root
    end_reach: Array  # int32 [terminals * 2]: which vector holds each player's reach
    pay: Array  # float [terminals * 6]: for each player the factor on what it beats, does not lose to, on everything


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
    hand: Array  # uint16 [hands * 4]: for each board and player by row: rows of its hands, their places from weak to strong
    # and in the running sums of their two cards
    rep: Array  # uint16 [rows * 9]: for each board and player by row: the opponent's row with the same cards (or NONE),
    # then places in its running sums
    list_at: Array  # uint16 [boards * 2 * 53]: where the running sums of each card begin
    exit_at: Array  # int64 [boards]: first vector of its exits
    value_at: Array  # int64 [boards]: vector of its first node
    first: Array  # int32 [boards]: that node
    game: Array  # int32 [boards]
    lock_at: Array  # int32 [boards + 1]: its locks


class Items(NamedTuple):
    """Pieces of work: what one block does without the others."""

    inner_at: Array  # int32 [streets]: pieces of each street but the last
    inner: Array  # int32 [pieces * 3]: board, root, the exit that leads to it
    exit_at: Array  # int32 [streets]: exits of each street but the last
    exit: Array  # int32 [exits * 3]: board, number on the board, root of the next street
    part_at: Array  # int32 [exits before the last street + 1]: pieces of the last street that belong to each
    last: Array  # int32 [pieces * 5]: board before (or the board itself), root, first board, end, exit


class Room(NamedTuple):
    """Vectors, `stride` numbers each."""

    root_own: Array  # float [games * 2 * stride]: how each player's hands come to the root, as it sees itself
    root_opp: Array  # float […]: as the opponent sees them
    reach: Array  # float [blocks * 2 * vectors * stride]
    value: Array  # float [blocks * nodes * stride]: values on the last street
    inner: Array  # float [boards' nodes * stride]: values on the streets before
    exit_own: Array  # float [exits * stride]
    exit_opp: Array  # float […]
    gained: Array  # float […]: values at exits
    part: Array  # float [pieces of the last street * stride]
    result: Array  # float [games * (1 + moves) * stride] OUT: values at the root and after each move there


class Tables(NamedTuple):
    """See `riverboat.walks._node_kernels.Tables`."""

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
            pass
        cuda.threadfence()
    cuda.syncthreads()


# --- pieces of work -----------------------------------------------------------------------------------------------


def arrive(boards, seat, source, source_at, first, reach, to):
    """A player's reach at a root: that of the rows of the board before; `first`: none comes before, rows are the same."""
    rows, up_at = U(boards.rows[seat]), U(boards.up_at[seat])
    r = U(cuda.threadIdx.x)
    while r < rows:
        reach[to + r] = source[source_at + (r if first else U(boards.up[up_at + r]))]
        r += U(cuda.blockDim.x)


def copy(source, source_at, count, out, to):
    """Copy numbers."""
    r = U(cuda.threadIdx.x)
    while r < count:
        out[to + r] = source[source_at + r]
        r += U(cuda.blockDim.x)


def report(nodes, root, game, rows, stride, moves, value, value_at, out):
    """Values at the root of a game and behind its moves."""
    to = game * (ONE + moves) * stride
    copy(value, value_at, rows, out, to)
    a, kid = ZERO, U(nodes.kid_at[root])
    while a < U(nodes.width[root]):
        copy(value, value_at + U(nodes.kid[kid + a]) * stride, rows, out, to + (ONE + a) * stride)
        a += ONE


def begin_board(boards, room, b, me, first, at, stride, mine_at, theirs_at):
    """Reach of both players at a root."""
    if first:
        game = TWO * U(boards.game[b])
        arrive(boards, TWO * b + me, room.root_own, (game + me) * stride, True, room.reach, mine_at)
        arrive(boards, TWO * b + ONE - me, room.root_opp, (game + ONE - me) * stride, True, room.reach, theirs_at)
    else:
        arrive(boards, TWO * b + me, room.exit_own, at * stride, False, room.reach, mine_at)
        arrive(boards, TWO * b + ONE - me, room.exit_opp, at * stride, False, room.reach, theirs_at)


def open_board(nodes, boards, items, room, k, first, me, stride, tables, step, mine_at, theirs_at, shared):
    """The way down of one root on a street before the last: reach at its exits, values of its terminals."""
    b, root = U(items.inner[THREE * k]), U(items.inner[THREE * k + ONE])
    begin_board(boards, room, b, me, first, U(items.inner[THREE * k + TWO]), stride, mine_at, theirs_at)
    go_down(nodes, boards, b, me, root, stride, room.reach, mine_at, theirs_at, tables, step)
    n, end = root, U(nodes.end[root])
    while n < end:
        if nodes.actor[n] == EXIT:
            to = (U(boards.exit_at[b]) + U(nodes.slot[n])) * stride
            mine, theirs = U(nodes.reach[TWO * n + me]), U(nodes.reach[TWO * n + ONE - me])
            copy(room.reach, mine_at + mine * stride, U(boards.rows[TWO * b + me]), room.exit_own, to)
            copy(room.reach, theirs_at + theirs * stride, U(boards.rows[TWO * b + ONE - me]), room.exit_opp, to)
        n += ONE
    value_at = (U(boards.value_at[b]) + root - U(boards.first[b])) * stride
    settle(nodes, boards, b, me, root, stride, room.reach, theirs_at, room.inner, value_at, shared)
    cuda.syncthreads()


def close_board(nodes, boards, items, room, k, first, me, stride, moves, tables, step):
    """The way up of one root on a street before the last."""
    b, root = U(items.inner[THREE * k]), U(items.inner[THREE * k + ONE])
    rows = U(boards.rows[TWO * b + me])
    value_at = (U(boards.value_at[b]) + root - U(boards.first[b])) * stride
    n, end = root, U(nodes.end[root])
    while n < end:
        if nodes.actor[n] == EXIT:
            source = (U(boards.exit_at[b]) + U(nodes.slot[n])) * stride
            copy(room.gained, source, rows, room.inner, value_at + (n - root) * stride)
        n += ONE
    go_up(nodes, boards, b, me, root, stride, room.inner, value_at, tables, step)
    if first:
        report(nodes, root, U(boards.game[b]), rows, stride, moves, room.inner, value_at, room.result)


def collect(boards, items, room, k, before_last, me, stride):
    """The value of an exit: the sum over the boards that follow, times the chance of each."""
    b, number, root = U(items.exit[THREE * k]), U(items.exit[THREE * k + ONE]), U(items.exit[THREE * k + TWO])
    at = (U(boards.exit_at[b]) + number) * stride
    first, end = U(boards.child[b]), U(boards.child_end[b])
    rows, chance = U(boards.rows[TWO * b + me]), boards.chance[first]
    r = U(cuda.threadIdx.x)
    while r < rows:
        total = real(0)
        if before_last:
            part = k - U(items.exit_at[len(items.exit_at) - 2])
            p, behind = U(items.part_at[part]), U(items.part_at[part + ONE])
            while p < behind:
                total += room.part[p * stride + r]
                p += ONE
        else:
            c = first
            while c < end:
                source = (U(boards.value_at[c]) + root - U(boards.first[c])) * stride
                total += followed(boards, c, me, r, room.inner, source)
                c += ONE
        room.gained[at + r] = total * chance
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


def last_boards(
    nodes, boards, items, room, k, alone, me, stride, moves, tables, step, mine_at, theirs_at, value_at, shared
):
    """Some boards of the last street below one root: down and up, and the sum of their values."""
    before, root, part = U(items.last[U(5) * k]), U(items.last[U(5) * k + ONE]), k * stride
    b, end = U(items.last[U(5) * k + TWO]), U(items.last[U(5) * k + THREE])
    above, fresh = U(boards.rows[TWO * before + me]), True
    while b < end:
        begin_board(boards, room, b, me, alone, U(items.last[U(5) * k + FOUR]), stride, mine_at, theirs_at)
        go_down(nodes, boards, b, me, root, stride, room.reach, mine_at, theirs_at, tables, step)
        settle(nodes, boards, b, me, root, stride, room.reach, theirs_at, room.value, value_at, shared)
        go_up(nodes, boards, b, me, root, stride, room.value, value_at, tables, step)
        if alone:
            report(nodes, root, U(boards.game[b]), above, stride, moves, room.value, value_at, room.result)
        else:
            cuda.syncthreads()
            r = U(cuda.threadIdx.x)
            while r < above:
                total = followed(boards, b, me, r, room.value, value_at)
                room.part[part + r] = total if fresh else room.part[part + r] + total
                r += U(cuda.blockDim.x)
        cuda.syncthreads()
        fresh = False
        b += ONE


def walk(
    nodes,  # Nodes
    boards,  # Boards
    items,  # Items
    room,  # Room
    tables,  # Tables
    sizes,  # int64 [5]: streets, stride, vectors of reach in a block, of values, moves at a root
    steps,  # float64 [iterations, 6], see `Walker.learn`
    first_player,
    end_player,
    barrier,  # int64 [1] INOUT: zero before
):
    """Iterations of all games, or their values for one player."""
    shared = cuda.shared.array(NUMBERS, real)
    streets, stride, moves = sizes[0], U(sizes[1]), U(sizes[4])
    block, blocks = U(cuda.blockIdx.x), U(cuda.gridDim.x)
    mine_at = block * TWO * U(sizes[2]) * stride
    theirs_at = mine_at + U(sizes[2]) * stride
    value_at = block * U(sizes[3]) * stride
    pieces = U(len(items.last) // 5)
    passed = 0
    if streets == 1:  # games do not wait for each other
        k = block
        while k < pieces:
            for i in range(len(steps)):
                for me in range(first_player, end_player):
                    last_boards(
                        nodes, boards, items, room, k, True, U(me), stride, moves, tables, steps[i], mine_at, theirs_at,
                        value_at, shared,
                    )  # fmt: skip
            k += blocks
        return
    for i in range(len(steps)):
        for me in range(first_player, end_player):
            for street in range(streets - 1):
                k = U(items.inner_at[street]) + block
                while k < U(items.inner_at[street + 1]):
                    open_board(
                        nodes, boards, items, room, k, street == 0, U(me), stride, tables, steps[i], mine_at, theirs_at,
                        shared,
                    )  # fmt: skip
                    k += blocks
                passed += 1
                everyone(barrier, passed)
            k = block
            while k < pieces:
                last_boards(
                    nodes, boards, items, room, k, False, U(me), stride, moves, tables, steps[i], mine_at, theirs_at,
                    value_at, shared,
                )  # fmt: skip
                k += blocks
            passed += 1
            everyone(barrier, passed)
            for behind in range(streets - 1):
                street = streets - 2 - behind
                k = U(items.exit_at[street]) + block
                while k < U(items.exit_at[street + 1]):
                    collect(boards, items, room, k, behind == 0, U(me), stride)
                    k += blocks
                passed += 1
                everyone(barrier, passed)
                k = U(items.inner_at[street]) + block
                while k < U(items.inner_at[street + 1]):
                    close_board(nodes, boards, items, room, k, street == 0, U(me), stride, moves, tables, steps[i])
                    k += blocks
                passed += 1
                everyone(barrier, passed)
