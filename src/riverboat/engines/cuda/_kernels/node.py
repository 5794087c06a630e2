"""Steps of the walk for a GPU on one board: terminals are paid, reach goes down, values come up, and what is learnt.

Vectors of a walk lie in slots, `stride` numbers each (`riverboat.engines.cuda.program`); a thread owns some rows of all of
them, so threads meet only where terminals are paid. Compiled by `riverboat.engines.cuda.compilation`, which sets the names that are
None here. Arrays are flat and indices unsigned: an index that might be negative costs five instructions more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.engines.cuda._kernels.numbers import cuda, load4, store4

LEARN, EVALUATE, RESPOND = 0, 1, 2
TINY = np.float32(1e-30)  # positive regrets that sum to less count as none
DUST = np.float32(2.0**-40)  # see `riverboat.engines.cpu._kernels.node`
CHUNK = 31  # hands that one thread sums; odd, so that neighbours read from other banks
ENTRIES = 16  # terminals that are paid at once, at most
SIDE = 4  # vectors that are paid side by side, at most: their numbers lie side by side, and are moved at once
ENDS = 5  # bits of an end in a payment's numbers
U = np.uint64
ZERO, ONE, TWO, THREE, FOUR = U(0), U(1), U(2), U(3), U(4)
CARDS = U(52)
V = np.uint32  # divisions of these are short

# Set when compiled.
MODE: Any = None  # LEARN, EVALUATE or RESPOND
GUESSES: Any = None  # whether a schedule predicts
STAKED: Any = None  # whether moves count by their stakes
LOCKED: Any = None  # whether there are locks
real: Any = None  # what is computed in
divide: Any = None
fetch_regret: Any = None
keep_regret: Any = None
fetch_average: Any = None
keep_average: Any = None


ARRIVE, DOWN_MINE, DOWN_THEIRS, PAY, UP_MINE, UP_THEIRS, FINISH = range(7)  # what an `Op` of a program does
WIDE = 8  # numbers of one
AHEAD = 3  # steps before numbers of tables are read, when they are asked for
STEPS = 32  # that are brought near at a time
FRONT = 2 * WIDE * (STEPS + AHEAD)  # room for them, in short numbers, before everything else in a block's memory


class Table(NamedTuple):
    """One board as one player sees it; sizes and where things begin."""

    board: Any
    me: Any
    rows: Any  # mine
    others: Any  # rows of the opponent
    base: Any  # where my numbers begin in the tables
    other_base: Any
    hands: Any  # of the opponent
    stride: Any  # numbers of a slot
    hand: Any  # where `Boards.hand` begins in the block's memory; `rep` begins at `FRONT`
    lists: Any  # … and `list_at`
    notes: Any  # … and what is copied from the program
    ups: Any  # … and rows of the board before, mine and the opponent's
    pays: Any  # the same, in numbers
    sums: Any  # where the running sums begin, in numbers


# --- terminals ----------------------------------------------------------------------------------------------------


def clear_lists(memory, short, table):
    """Zero in front of every list of running sums, which nobody writes over while the board is the same."""
    zero = real(0)
    c, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    while c <= CARDS:
        at = table.hands + ONE + U(short[table.lists + c]) if c < CARDS else ZERO
        store4(memory, table.sums + FOUR * at, zero, zero, zero, zero)
        c += step


def sum_all(memory, short, table):
    """Running sums of the hands and of those of each card, of four vectors: a thread for each list.

    The list of all hands is summed in chunks; what comes before each chunk is summed afterwards. What comes next is read
    before anything is written: the processor does not know that they are apart.
    """
    hands = table.hands
    chunks = U((V(hands) + V(CHUNK - 1)) // V(CHUNK))
    tasks = CARDS + chunks
    behind = table.sums + FOUR * (THREE * hands + U(54))
    task, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    while task < tasks:
        if task < CARDS:
            k = hands + TWO + U(short[table.lists + task])
            end = hands + ONE + U(short[table.lists + task + ONE])
        else:
            k = (task - CARDS) * U(CHUNK) + ONE
            end = min((task - CARDS + ONE) * U(CHUNK), hands) + ONE
        k, end = table.sums + FOUR * k, table.sums + FOUR * end
        t0, t1, t2, t3 = real(0), real(0), real(0), real(0)
        a0, a1, a2, a3 = load4(memory, k)
        b0, b1, b2, b3 = load4(memory, k + FOUR)
        while k + FOUR < end:
            c0, c1, c2, c3 = load4(memory, k + U(8))
            d0, d1, d2, d3 = load4(memory, k + U(12))
            t0 += a0
            t1 += a1
            t2 += a2
            t3 += a3
            store4(memory, k, t0, t1, t2, t3)
            t0 += b0
            t1 += b1
            t2 += b2
            t3 += b3
            store4(memory, k + FOUR, t0, t1, t2, t3)
            a0, a1, a2, a3 = c0, c1, c2, c3
            b0, b1, b2, b3 = d0, d1, d2, d3
            k += U(8)
        if k < end:
            t0 += a0
            t1 += a1
            t2 += a2
            t3 += a3
            store4(memory, k, t0, t1, t2, t3)
        if task >= CARDS:
            store4(memory, behind + FOUR * (task - CARDS), t0, t1, t2, t3)
        task += step
    cuda.syncthreads()
    task = U(cuda.threadIdx.x)
    while task <= chunks:
        k, end = behind, behind + FOUR * task
        t0, t1, t2, t3 = real(0), real(0), real(0), real(0)
        while k < end:
            a0, a1, a2, a3 = load4(memory, k)
            t0 += a0
            t1 += a1
            t2 += a2
            t3 += a3
            k += FOUR
        store4(memory, behind + FOUR * (chunks + task), t0, t1, t2, t3)
        task += step
    cuda.syncthreads()


def spend(entry, end, table, memory, short, slots, r, y, z, every):
    """Pay a row at the terminals of one vector."""
    while entry < end:
        worth, out = table.pays + THREE * entry, table.notes + TWO * entry
        x = memory[worth + TWO] * every + memory[worth] * y + memory[worth + ONE] * z
        to = U(short[out]) * U(table.stride) + r
        slots[to] = x + slots[to] if short[out + ONE] else x
        entry += ONE


def pay(program, op, table, slots, memory, short):
    """Pay the terminals at which the opponent's reach is one of four vectors: O(hands), see `_board_kernels.settle`.

    The block's memory holds running sums over the opponent's hands from weak to strong, [1 + hands], the same for the hands
    of each card, [2 * hands + 53], the sums of chunks and those of all chunks before; of all four side by side.
    """
    rows, hands, stride = U(table.rows), U(table.hands), U(table.stride)
    tid, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    first, count, ends = U(op[1]), U(op[2]), U(op[3])
    v0, v1, v2, v3 = U(op[4]) * stride, U(op[5]) * stride, U(op[6]) * stride, U(op[7]) * stride
    worth, out = real(0), 0  # read now, and put where all can read them when they have come
    if tid < THREE * count:
        worth = program.pay[THREE * first + tid]
    if tid < TWO * count:
        out = program.entry[TWO * first + tid]
    cuda.syncthreads()  # reach is there
    k = tid
    while k < hands:
        h = table.hand + THREE * k
        row, begin = U(short[h]), hands + ONE
        one, two = begin + U(short[h + ONE]), begin + U(short[h + TWO])
        x0, x1, x2, x3 = slots[v0 + row], slots[v1 + row], slots[v2 + row], slots[v3 + row]
        store4(memory, table.sums + FOUR * (ONE + k), x0, x1, x2, x3)
        store4(memory, table.sums + FOUR * one, x0, x1, x2, x3)
        store4(memory, table.sums + FOUR * two, x0, x1, x2, x3)
        k += step
    t = tid
    while t < THREE * count:
        memory[table.pays + t] = worth if t == tid else program.pay[THREE * first + t]
        if t < TWO * count:
            short[table.notes + t] = out if t == tid else program.entry[TWO * first + t]
        t += step
    cuda.syncthreads()
    sum_all(memory, short, table)
    shown = ends >> U(4 * ENDS)
    end0, end1 = ends & U(31), (ends >> U(ENDS)) & U(31)
    end2, end3 = (ends >> U(2 * ENDS)) & U(31), (ends >> U(3 * ENDS)) & U(31)
    sums, last = U(table.sums), U((V(hands) + V(CHUNK - 1)) // V(CHUNK))
    lists, before = sums + FOUR * (hands + ONE), sums + FOUR * (THREE * hands + U(54) + last)
    i = tid
    while i < rows:  # from weak to strong
        at = U(FRONT) + U(10) * i
        r, twin = U(short[at]), U(short[at + ONE])
        m0, m1, m2, m3 = real(0), real(0), real(0), real(0)
        if twin < table.others:
            m0, m1, m2, m3 = slots[v0 + twin], slots[v1 + twin], slots[v2 + twin], slots[v3 + twin]
        a0, a1, a2, a3 = load4(memory, before + FOUR * last)
        b0, b1, b2, b3 = load4(memory, lists + FOUR * U(short[at + U(8)]))
        c0, c1, c2, c3 = load4(memory, lists + FOUR * U(short[at + U(9)]))
        every0, every1, every2, every3 = a0 - b0 - c0 + m0, a1 - b1 - c1 + m1, a2 - b2 - c2 + m2, a3 - b3 - c3 + m3
        y0, y1, y2, y3 = real(0), real(0), real(0), real(0)
        z0, z1, z2, z3 = real(0), real(0), real(0), real(0)
        if shown:  # some of the terminals are showdowns
            less, upto = U(short[at + TWO]), U(short[at + U(5)])
            a0, a1, a2, a3 = load4(memory, sums + FOUR * less)
            b0, b1, b2, b3 = load4(memory, before + FOUR * U(V(max(less, ONE) - ONE) // V(CHUNK)))
            c0, c1, c2, c3 = load4(memory, lists + FOUR * U(short[at + THREE]))
            d0, d1, d2, d3 = load4(memory, lists + FOUR * U(short[at + FOUR]))
            y0, y1, y2, y3 = a0 + b0 - (c0 + d0), a1 + b1 - (c1 + d1), a2 + b2 - (c2 + d2), a3 + b3 - (c3 + d3)
            a0, a1, a2, a3 = load4(memory, sums + FOUR * upto)
            b0, b1, b2, b3 = load4(memory, before + FOUR * U(V(max(upto, ONE) - ONE) // V(CHUNK)))
            c0, c1, c2, c3 = load4(memory, lists + FOUR * U(short[at + U(6)]))
            d0, d1, d2, d3 = load4(memory, lists + FOUR * U(short[at + U(7)]))
            z0, z1 = a0 + b0 - (c0 + d0) + m0, a1 + b1 - (c1 + d1) + m1
            z2, z3 = a2 + b2 - (c2 + d2) + m2, a3 + b3 - (c3 + d3) + m3
        spend(ZERO, end0, table, memory, short, slots, r, y0, z0, every0)
        spend(end0, end1, table, memory, short, slots, r, y1, z1, every1)
        spend(end1, end2, table, memory, short, slots, r, y2, z2, every2)
        spend(end2, end3, table, memory, short, slots, r, y3, z3, every3)
        i += step
    cuda.syncthreads()  # what was read may be written over


# --- decisions ----------------------------------------------------------------------------------------------------


def weigh(regret, guess, average, at):
    """What a move is played in proportion to: a regret with what is guessed of the next one, or an average."""
    if MODE != LEARN:
        return max(fetch_average(average, at), real(0))
    x = fetch_regret(regret, at)
    if GUESSES:
        x += fetch_regret(guess, at)
    return max(x, real(0))


def descend_theirs(tables, at, rows, width, comes, slots, out, stride):
    """The opponent's reach after each move, one row.

    Four moves are read at once, to wait for memory once: where there are fewer, the first one again.
    """
    second = at + rows if width > ONE else at
    third = at + rows + rows if width > TWO else at
    fourth = at + rows + rows + rows if width > THREE else at
    w0 = weigh(tables.opp_regret, tables.opp_prediction, tables.average, at)
    w1 = weigh(tables.opp_regret, tables.opp_prediction, tables.average, second)
    w2 = weigh(tables.opp_regret, tables.opp_prediction, tables.average, third)
    w3 = weigh(tables.opp_regret, tables.opp_prediction, tables.average, fourth)
    w1 = w1 if width > ONE else real(0)
    w2 = w2 if width > TWO else real(0)
    w3 = w3 if width > THREE else real(0)
    total = (w0 + w1) + (w2 + w3)
    a = FOUR
    while a < width:
        total += weigh(tables.opp_regret, tables.opp_prediction, tables.average, at + a * rows)
        a += ONE
    some = total > TINY
    share = divide(comes, total if some else real(width))
    slots[out] = w0 * share if some else share
    if width > ONE:
        slots[out + stride] = w1 * share if some else share
    if width > TWO:
        slots[out + TWO * stride] = w2 * share if some else share
    if width > THREE:
        slots[out + THREE * stride] = w3 * share if some else share
    a = FOUR
    while a < width:
        w = weigh(tables.opp_regret, tables.opp_prediction, tables.average, at + a * rows)
        slots[out + a * stride] = w * share if some else share
        a += ONE


def descend_mine(tables, at, rows, width, comes, slots, out, stride, decay, gain, turn):
    """My reach after each move, one row, and the averages."""
    second = at + rows if width > ONE else at
    third = at + rows + rows if width > TWO else at
    fourth = at + rows + rows + rows if width > THREE else at
    w0 = weigh(tables.regret, tables.prediction, tables.average, at)
    w1 = weigh(tables.regret, tables.prediction, tables.average, second)
    w2 = weigh(tables.regret, tables.prediction, tables.average, third)
    w3 = weigh(tables.regret, tables.prediction, tables.average, fourth)
    old0, old1 = fetch_average(tables.average, at), fetch_average(tables.average, second)
    old2, old3 = fetch_average(tables.average, third), fetch_average(tables.average, fourth)
    w1 = w1 if width > ONE else real(0)
    w2 = w2 if width > TWO else real(0)
    w3 = w3 if width > THREE else real(0)
    total = (w0 + w1) + (w2 + w3)
    a = FOUR
    while a < width:
        total += weigh(tables.regret, tables.prediction, tables.average, at + a * rows)
        a += ONE
    some = total > TINY
    share = divide(comes, total if some else real(width))
    x = w0 * share if some else share
    slots[out] = x
    keep_average(tables.average, at, old0 * decay + x * gain, turn)
    if width > ONE:
        x = w1 * share if some else share
        slots[out + stride] = x
        keep_average(tables.average, second, old1 * decay + x * gain, turn)
    if width > TWO:
        x = w2 * share if some else share
        slots[out + TWO * stride] = x
        keep_average(tables.average, third, old2 * decay + x * gain, turn)
    if width > THREE:
        x = w3 * share if some else share
        slots[out + THREE * stride] = x
        keep_average(tables.average, fourth, old3 * decay + x * gain, turn)
    a = FOUR
    while a < width:
        here = at + a * rows
        w = weigh(tables.regret, tables.prediction, tables.average, here)
        x = w * share if some else share
        slots[out + a * stride] = x
        keep_average(tables.average, here, fetch_average(tables.average, here) * decay + x * gain, turn)
        a += ONE


def absorb(tables, at, old, gain, up, down, floor, turn):
    """Discount a regret, add what the move would have gained, floor."""
    new = (old * (up if old > real(0) else down) + gain + real(DUST)) - real(DUST)
    keep_regret(tables.regret, at, max(new, floor), turn)
    if GUESSES:
        keep_regret(tables.prediction, at, gain, turn)


def weight_of(tables, at, old):
    """What a move of mine is played in proportion to, its regret being known."""
    if MODE != LEARN:
        return max(fetch_average(tables.average, at), real(0))
    x = old
    if GUESSES:
        x += fetch_regret(tables.prediction, at)
    return max(x, real(0))


def ascend(stakes, program, weight, tables, at, rows, width, slots, kid, stride, up, down, floor, turn):
    """The value of one of my rows at a decision, and what it learns. `kid`: where its value after the first move is;
    `stakes`: how much the first four moves count."""
    second = at + rows if width > ONE else at
    third = at + rows + rows if width > TWO else at
    fourth = at + rows + rows + rows if width > THREE else at
    r0, r1, r2, r3 = real(0), real(0), real(0), real(0)
    if MODE == LEARN:
        r0, r1 = fetch_regret(tables.regret, at), fetch_regret(tables.regret, second)
        r2, r3 = fetch_regret(tables.regret, third), fetch_regret(tables.regret, fourth)
    w0, w1 = weight_of(tables, at, r0), weight_of(tables, second, r1)
    w2, w3 = weight_of(tables, third, r2), weight_of(tables, fourth, r3)
    v0 = slots[kid]
    v1 = slots[kid + stride if width > ONE else kid]
    v2 = slots[kid + TWO * stride if width > TWO else kid]
    v3 = slots[kid + THREE * stride if width > THREE else kid]
    w1 = w1 if width > ONE else real(0)
    w2 = w2 if width > TWO else real(0)
    w3 = w3 if width > THREE else real(0)
    total = (w0 + w1) + (w2 + w3)
    worth = (w0 * v0 + w1 * v1) + (w2 * v2 + w3 * v3)
    plain = v0
    plain += v1 if width > ONE else real(0)
    plain += v2 if width > TWO else real(0)
    plain += v3 if width > THREE else real(0)
    a = FOUR
    while a < width:
        w = weigh(tables.regret, tables.prediction, tables.average, at + a * rows)
        v = slots[kid + a * stride]
        total += w
        worth += w * v
        plain += v
        a += ONE
    some = total > TINY
    mean = divide(worth if some else plain, total if some else real(width))
    if MODE == LEARN:
        absorb(tables, at, r0, (v0 - mean) * stakes[0], up, down, floor, turn)
        if width > ONE:
            absorb(tables, second, r1, (v1 - mean) * stakes[1], up, down, floor, turn)
        if width > TWO:
            absorb(tables, third, r2, (v2 - mean) * stakes[2], up, down, floor, turn)
        if width > THREE:
            absorb(tables, fourth, r3, (v3 - mean) * stakes[3], up, down, floor, turn)
        a = FOUR
        while a < width:
            here = at + a * rows
            v = slots[kid + a * stride]
            absorb(
                tables,
                here,
                fetch_regret(tables.regret, here),
                (v - mean) * (program.weight[weight + a] if STAKED else real(1)),
                up,
                down,
                floor,
                turn,
            )
            a += ONE
    return mean


def go_down(op, table, slots, tables, step):
    """Reach after each move of a decision; averages on the way where it is mine."""
    mine, width, stride = op[0] == DOWN_MINE, U(op[3]), U(table.stride)
    rows = U(table.rows) if mine else U(table.others)
    at = (table.base if mine else table.other_base) + U(op[4]) * rows
    source, out = U(op[1]) * stride, U(op[2]) * stride
    if mine:
        if MODE == LEARN:
            decay, gain, turn = step[3], step[5], U(step[4])
            r = U(cuda.threadIdx.x)
            while r < rows:  # the code of the usual numbers of moves is shorter when they are known to the compiler
                comes = slots[source + r]
                if width == TWO:
                    descend_mine(tables, at + r, rows, TWO, comes, slots, out + r, stride, decay, gain, turn)
                elif width == THREE:
                    descend_mine(tables, at + r, rows, THREE, comes, slots, out + r, stride, decay, gain, turn)
                else:
                    descend_mine(tables, at + r, rows, width, comes, slots, out + r, stride, decay, gain, turn)
                r += U(cuda.blockDim.x)
        return
    r = U(cuda.threadIdx.x)
    while r < rows:
        comes = slots[source + r]
        if width == TWO:
            descend_theirs(tables, at + r, rows, TWO, comes, slots, out + r, stride)
        elif width == THREE:
            descend_theirs(tables, at + r, rows, THREE, comes, slots, out + r, stride)
        else:
            descend_theirs(tables, at + r, rows, width, comes, slots, out + r, stride)
        r += U(cuda.blockDim.x)


def go_up(program, op, table, slots, tables, boards, step):
    """My values at a decision of mine, and what I learn there."""
    up, down, floor, turn = step[0], step[1], step[2], U(step[4])
    width, stride, rows = U(op[3]), U(table.stride), U(table.rows)
    at = table.base + U(op[4]) * rows
    to, kid, weight = U(op[1]) * stride, U(op[2]) * stride, U(op[6])
    stakes = real(1), real(1), real(1), real(1)
    if STAKED:
        stakes = (
            program.weight[weight], program.weight[weight + ONE], program.weight[weight + TWO], program.weight[weight + THREE]
        )  # fmt: skip
    r = U(cuda.threadIdx.x)
    while r < rows:
        if MODE == RESPOND:
            mean, a = slots[kid + r], ONE
            while a < width:
                mean = max(mean, slots[kid + a * stride + r])
                a += ONE
        elif width == TWO:
            mean = ascend(
                stakes, program, weight, tables, at + r, rows, TWO, slots, kid + r, stride, up, down, floor, turn
            )
        elif width == THREE:
            mean = ascend(
                stakes, program, weight, tables, at + r, rows, THREE, slots, kid + r, stride, up, down, floor, turn
            )
        else:
            mean = ascend(
                stakes, program, weight, tables, at + r, rows, width, slots, kid + r, stride, up, down, floor, turn
            )
        slots[to + r] = mean
        r += U(cuda.blockDim.x)
    if LOCKED and MODE != EVALUATE:
        hold(op, table, slots, tables, boards)


def add_up(program, op, table, slots):
    """My values at a decision of the opponent: the sum over its moves."""
    stride, count, first = U(table.stride), U(op[2]), U(op[3])
    to, one, two, three, four = (
        U(op[1]) * stride,
        U(op[4]) * stride,
        U(op[5]) * stride,
        U(op[6]) * stride,
        U(op[7]) * stride,
    )
    r = U(cuda.threadIdx.x)
    while r < table.rows:
        total = slots[one + r]
        if count > ONE:
            total += slots[two + r]
        if count > TWO:
            total += slots[three + r]
        if count > THREE:
            total += slots[four + r]
        k = FOUR
        while k < count:
            total += slots[U(program.addend[first + k]) * stride + r]
            k += ONE
        slots[to + r] = total
        r += U(cuda.blockDim.x)


def hold(op, table, slots, tables, boards):
    """At a locked node: regrets that play the given strategy, or in RESPOND its value."""
    width, stride, rows = U(op[3]), U(table.stride), U(table.rows)
    at = table.base + U(op[4]) * rows
    to, kid = U(op[1]) * stride, U(op[2]) * stride
    for lock in range(boards.lock_at[table.board], boards.lock_at[table.board + ONE]):
        if tables.lock[U(lock) * TWO] == op[5]:
            given = U(tables.lock[U(lock) * TWO + ONE])
            r = U(cuda.threadIdx.x)
            while r < rows:
                if tables.locked[given + r] >= real(0):
                    total = real(0)
                    a = ZERO
                    while a < width:
                        p = tables.locked[given + a * rows + r]
                        total += p * slots[kid + a * stride + r]
                        if MODE == LEARN:
                            keep_regret(tables.regret, at + a * rows + r, p, ZERO)
                            if GUESSES:
                                keep_regret(tables.prediction, at + a * rows + r, real(0), ZERO)
                        a += ONE
                    if MODE == RESPOND:
                        slots[to + r] = total
                r += U(cuda.blockDim.x)
