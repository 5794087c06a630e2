"""Steps of the walk for a GPU on one board: terminals are paid, reach goes down, values come up, and what is learnt.

Vectors of a walk lie in slots, `stride` numbers each (`riverboat.walks.cuda_program`); a thread owns some rows of all of
them, so threads meet only where terminals are paid. Compiled by `riverboat.walks.cuda_code`, which sets the names that are
None here. Arrays are flat and indices unsigned: an index that might be negative costs five instructions more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.walks._cuda_numbers import cuda

LEARN, EVALUATE, RESPOND = 0, 1, 2
TINY = np.float32(1e-30)  # positive regrets that sum to less count as none
DUST = np.float32(2.0**-40)  # see `riverboat.walks._node_kernels`
CHUNK = 31  # hands that one thread sums; odd, so that neighbours read from other banks
ENTRIES = 16  # terminals that are paid at once, at most
SIDE = 4  # vectors that are paid side by side, at most
U = np.uint64
ZERO, ONE, TWO, THREE, FOUR = U(0), U(1), U(2), U(3), U(4)
CARDS = U(52)
V = np.uint32  # divisions of these are short
NOTES = 3 * SIDE + 3

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
WIDE = 7  # numbers of one


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
    hand: Any  # where `Boards.hand` begins in the block's memory; `rep` begins at zero
    lists: Any  # … and `list_at`
    notes: Any  # … and what is copied from the program
    pays: Any  # the same, in numbers
    sums: Any  # where the running sums begin, in numbers


# --- terminals ----------------------------------------------------------------------------------------------------


def clear_lists(memory, short, table, side):
    """Zero in front of every list of running sums, which nobody writes over while the board is the same."""
    size = room_of(table.hands)
    task, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    while task < U(side) * (CARDS + ONE):
        j = V(task) // V(53)
        c = task - U(j) * (CARDS + ONE)
        memory[table.sums + j * size + (table.hands + ONE + U(short[table.lists + c]) if c < CARDS else ZERO)] = 0
        task += step


def room_of(hands):
    """Numbers for the running sums of one vector: all hands, the hands of each card, sums of chunks and those before."""
    return THREE * hands + U(54) + TWO * U((V(hands) + V(CHUNK - 1)) // V(CHUNK)) + ONE


def sum_all(memory, short, table, size, some):
    """Running sums of the hands and of those of each card, of some vectors: a thread for each list.

    The list of all hands is summed in chunks; what comes before each chunk is summed afterwards. What comes next is read
    before anything is written: the processor does not know that they are apart.
    """
    hands = table.hands
    chunks = U((V(hands) + V(CHUNK - 1)) // V(CHUNK))
    tasks = CARDS + chunks
    behind = THREE * hands + U(54)
    task, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    while task < some * tasks:
        j = U(V(task) // V(tasks))
        begin, c = table.sums + j * size, task - j * tasks
        if c < CARDS:
            low = begin + hands + ONE + U(short[table.lists + c])
            end = begin + hands + ONE + U(short[table.lists + c + ONE])
        else:
            low = begin + (c - CARDS) * U(CHUNK)
            end = begin + min((c - CARDS + ONE) * U(CHUNK), hands) + ONE
        total = real(0)
        k = low + ONE
        x0, x1, x2, x3 = memory[k], memory[k + ONE], memory[k + TWO], memory[k + THREE]
        while k + FOUR <= end:
            y0, y1, y2, y3 = memory[k + FOUR], memory[k + U(5)], memory[k + U(6)], memory[k + U(7)]
            x0 += total
            x1 += x0
            x2 += x1
            total = x3 + x2
            memory[k], memory[k + ONE], memory[k + TWO], memory[k + THREE] = x0, x1, x2, total
            x0, x1, x2, x3 = y0, y1, y2, y3
            k += FOUR
        if k < end:
            total += x0
            memory[k] = total
        if k + ONE < end:
            total += x1
            memory[k + ONE] = total
        if k + TWO < end:
            total += x2
            memory[k + TWO] = total
        if c >= CARDS:
            memory[begin + behind + c - CARDS] = total
        task += step
    cuda.syncthreads()
    task = U(cuda.threadIdx.x)
    while task < some * (chunks + ONE):
        j = U(V(task) // V(chunks + ONE))
        c = task - j * (chunks + ONE)
        k = table.sums + j * size + behind
        end, total = k + c, real(0)
        to = k + chunks + c
        while k < end:
            total += memory[k]
            k += ONE
        memory[to] = total
        task += step
    cuda.syncthreads()


def place(memory, at, one, two, x):
    """Put a hand's reach where it will be summed."""
    memory[at] = x
    memory[one] = x
    memory[two] = x


def note(program, vector, some, table, memory, short):
    """Copy what is paid from a program to the block's memory: reading it there waits less."""
    first, step = U(program.vector[THREE * vector + TWO]), U(cuda.blockDim.x)
    count = U(program.vector[THREE * (vector + some) + TWO]) - first
    t = U(cuda.threadIdx.x)
    while t < THREE * (some + ONE):
        x = U(program.vector[THREE * vector + t])
        short[table.notes + t] = x - first if t % THREE == TWO else x
        t += step
    t = U(cuda.threadIdx.x)
    while t < TWO * count:
        short[table.notes + U(NOTES) + t] = program.entry[TWO * first + t]
        t += step
    t = U(cuda.threadIdx.x)
    while t < THREE * count:
        memory[table.pays + t] = program.pay[THREE * first + t]
        t += step


def pay(program, vector, some, table, slots, memory, short):
    """Pay the terminals at which the opponent's reach is one of some vectors: O(hands), see `_board_kernels.settle`.

    For each vector the block's memory holds running sums over the opponent's hands from weak to strong, [1 + hands], the same
    for the hands of each card, [2 * hands + 53], the sums of chunks and those of all chunks before.
    """
    rows, hands, stride = U(table.rows), U(table.hands), U(table.stride)
    behind = THREE * hands + U(54)
    last = U((V(hands) + V(CHUNK - 1)) // V(CHUNK))
    size = room_of(hands)
    tid, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    note(program, vector, some, table, memory, short)
    cuda.syncthreads()  # reach is there
    v0 = U(short[table.notes]) * stride
    v1 = U(short[table.notes + THREE]) * stride if some > ONE else v0
    v2 = U(short[table.notes + U(6)]) * stride if some > TWO else v0
    v3 = U(short[table.notes + U(9)]) * stride if some > THREE else v0
    k = tid
    while k < hands:
        h = table.hand + THREE * k
        row = U(short[h])
        at = table.sums + ONE + k
        begin = table.sums + hands + ONE
        one, two = begin + U(short[h + ONE]), begin + U(short[h + TWO])
        x0, x1, x2, x3 = slots[v0 + row], slots[v1 + row], slots[v2 + row], slots[v3 + row]
        place(memory, at, one, two, x0)
        if some > ONE:
            place(memory, at + size, one + size, two + size, x1)
        if some > TWO:
            place(memory, at + size + size, one + size + size, two + size + size, x2)
        if some > THREE:
            more = size + size + size
            place(memory, at + more, one + more, two + more, x3)
        k += step
    cuda.syncthreads()
    sum_all(memory, short, table, size, some)
    i = tid
    while i < rows:  # from weak to strong
        at = U(10) * i
        r = U(short[at])
        twin, begin = U(short[at + ONE]), hands + ONE
        less, upto = U(short[at + TWO]), U(short[at + U(5)])
        less_one, less_two = begin + U(short[at + THREE]), begin + U(short[at + FOUR])
        upto_one, upto_two = begin + U(short[at + U(6)]), begin + U(short[at + U(7)])
        all_one, all_two = begin + U(short[at + U(8)]), begin + U(short[at + U(9)])
        before = behind + last
        less_chunk = before + U(V(max(less, ONE) - ONE) // V(CHUNK))
        upto_chunk = before + U(V(max(upto, ONE) - ONE) // V(CHUNK))
        begin, v = U(table.sums), U(table.notes)
        stop, entry = v + THREE * some, ZERO
        while v < stop:
            mine = real(0)
            if twin < table.others:
                mine = slots[U(short[v]) * stride + twin]
            every = memory[begin + before + last] - memory[begin + all_one] - memory[begin + all_two] + mine
            y, z = real(0), real(0)
            if short[v + ONE]:  # some of its terminals are showdowns
                y = memory[begin + less] + memory[begin + less_chunk]
                y -= memory[begin + less_one] + memory[begin + less_two]
                z = memory[begin + upto] + memory[begin + upto_chunk]
                z -= memory[begin + upto_one] + memory[begin + upto_two]
                z += mine
            v += THREE
            end = U(short[v + TWO])
            while entry < end:
                worth, out = table.pays + THREE * entry, table.notes + U(NOTES) + TWO * entry
                x = memory[worth + TWO] * every + memory[worth] * y + memory[worth + ONE] * z
                to = U(short[out]) * stride + r
                slots[to] = x + slots[to] if short[out + ONE] else x
                entry += ONE
            begin += size
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


def staked(program, weight, gain):
    """What a move would have gained, as much as it counts."""
    if STAKED:
        return gain * program.weight[weight]
    return gain


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


def ascend(program, weight, tables, at, rows, width, slots, kid, stride, up, down, floor, turn):
    """The value of one of my rows at a decision, and what it learns. `kid`: where its value after the first move is."""
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
        absorb(tables, at, r0, staked(program, weight, v0 - mean), up, down, floor, turn)
        if width > ONE:
            absorb(tables, second, r1, staked(program, weight + ONE, v1 - mean), up, down, floor, turn)
        if width > TWO:
            absorb(tables, third, r2, staked(program, weight + TWO, v2 - mean), up, down, floor, turn)
        if width > THREE:
            absorb(tables, fourth, r3, staked(program, weight + THREE, v3 - mean), up, down, floor, turn)
        a = FOUR
        while a < width:
            here = at + a * rows
            v = slots[kid + a * stride]
            absorb(
                tables,
                here,
                fetch_regret(tables.regret, here),
                staked(program, weight + a, v - mean),
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
    to, kid = U(op[1]) * stride, U(op[2]) * stride
    r = U(cuda.threadIdx.x)
    while r < rows:
        if MODE == RESPOND:
            mean, a = slots[kid + r], ONE
            while a < width:
                mean = max(mean, slots[kid + a * stride + r])
                a += ONE
        elif width == TWO:
            mean = ascend(program, U(op[6]), tables, at + r, rows, TWO, slots, kid + r, stride, up, down, floor, turn)
        elif width == THREE:
            mean = ascend(program, U(op[6]), tables, at + r, rows, THREE, slots, kid + r, stride, up, down, floor, turn)
        else:
            mean = ascend(program, U(op[6]), tables, at + r, rows, width, slots, kid + r, stride, up, down, floor, turn)
        slots[to + r] = mean
        r += U(cuda.blockDim.x)
    if LOCKED and MODE != EVALUATE:
        hold(op, table, slots, tables, boards)


def add_up(program, op, table, slots):
    """My values at a decision of the opponent: the sum over its moves."""
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    stride, to = U(table.stride), U(op[1]) * U(table.stride)
    first, end = U(op[2]), U(op[2] + op[3])
    r = tid
    while r < table.rows:
        total, k = slots[U(program.addend[first]) * stride + r], first + ONE
        while k < end:
            total += slots[U(program.addend[k]) * stride + r]
            k += ONE
        slots[to + r] = total
        r += many


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
