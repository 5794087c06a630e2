"""Operations of a GPU program on one board: terminal values, reach down, values up, updates of regrets and averages.

Vectors are stored in slots, `stride` numbers each (`riverboat.engines.cuda.program`). A thread owns some rows of all of
them, so threads exchange data only at terminals. `riverboat.engines.cuda.compilation` compiles the functions and sets
the names that are None here. Arrays are flat and indices unsigned: an index that might be negative costs five more
instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.engines.cuda._kernels.intrinsics import cuda, load4, store4

UPDATE, EVALUATE, BEST_RESPONSE = 0, 1, 2
MIN_REGRET_SUM = np.float32(1e-30)  # smaller sums of positive regrets count as zero
ROUNDING_DUST = np.float32(2.0**-40)  # see `riverboat.engines.cpu._kernels.node`
SUM_CHUNK = 31  # hands that one thread sums; odd, so that neighbours use different memory banks
MAX_PAID_TERMINALS = 16  # most terminals that are evaluated together
PAID_VECTORS = 4  # most reach vectors that are processed together: their numbers are interleaved and moved at once
END_BITS = 5  # bits of an end in OP_TERMINALS
U = np.uint64
ZERO, ONE, TWO, THREE, FOUR = U(0), U(1), U(2), U(3), U(4)
CARDS = U(52)
V = np.uint32  # 32-bit divisions are faster

# Set when compiled.
MODE: Any = None  # UPDATE, EVALUATE or BEST_RESPONSE
PREDICTIVE: Any = None  # whether the schedule is predictive
WEIGHS_STAKES: Any = None  # whether regrets are weighted by stakes
LOCKED: Any = None  # whether there are locks
real: Any = None  # number type of computations
divide: Any = None
fetch_regret: Any = None
keep_regret: Any = None
fetch_average: Any = None
keep_average: Any = None


# Kinds of operations.
OP_ROOT_REACH, OP_OWN_DOWN, OP_OPPONENT_DOWN, OP_TERMINALS, OP_OWN_UP, OP_OPPONENT_UP, OP_ROOT_VALUES = range(7)
OP_WIDTH = 8  # numbers of an operation
PREFETCH_DISTANCE = 3  # operations between the prefetch of table entries and their use
OP_WINDOW = 32  # operations that are loaded into shared memory at a time
OP_WINDOW_SHORTS = 2 * OP_WIDTH * (OP_WINDOW + PREFETCH_DISTANCE)  # their 16-bit numbers at the start of shared memory


class CudaBoardView(NamedTuple):
    """One board for one player: sizes, and offsets in tables and shared memory."""

    board: Any
    me: Any
    rows: Any  # rows of the player
    others: Any  # rows of the opponent
    base: Any  # offset of the player's tables
    other_base: Any
    hands: Any  # hands of the opponent
    stride: Any  # numbers of a slot
    hand: Any  # offset of `CudaBoards.hand` in shared memory; `rep` begins at OP_WINDOW_SHORTS
    lists: Any  # offset of `list_at`
    notes: Any  # offset of the terminals copied from the program
    ups: Any  # offset of the rows of the parent board, the player's and the opponent's
    pays: Any  # offset of the payoffs copied from the program, in compute numbers
    sums: Any  # offset of the running sums, in compute numbers


# --- terminals ----------------------------------------------------------------------------------------------------


def clear_lists(memory, short, table):
    """Write the zero at the start of every list of running sums, which stays while the board is the same."""
    zero = real(0)
    c, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    while c <= CARDS:
        at = table.hands + ONE + U(short[table.lists + c]) if c < CARDS else ZERO
        store4(memory, table.sums + FOUR * at, zero, zero, zero, zero)
        c += step


def running_sums(memory, short, table):
    """Compute running sums of all hands and of the hands of each card, for four vectors: one thread for each list.

    The list of all hands is summed in chunks; the totals of previous chunks are summed afterwards. The next numbers are
    read before anything is written, because the compiler cannot prove that they do not overlap.
    """
    hands = table.hands
    chunks = U((V(hands) + V(SUM_CHUNK - 1)) // V(SUM_CHUNK))
    tasks = CARDS + chunks
    chunk_sums = table.sums + FOUR * (THREE * hands + U(54))
    task, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    while task < tasks:
        if task < CARDS:
            k = hands + TWO + U(short[table.lists + task])
            end = hands + ONE + U(short[table.lists + task + ONE])
        else:
            k = (task - CARDS) * U(SUM_CHUNK) + ONE
            end = min((task - CARDS + ONE) * U(SUM_CHUNK), hands) + ONE
        k, end = table.sums + FOUR * k, table.sums + FOUR * end
        t0, t1, t2, t3 = real(0), real(0), real(0), real(0)
        a0, a1, a2, a3 = load4(memory, k)
        b0, b1, b2, b3 = load4(memory, k + FOUR)
        while k + FOUR < end:
            c0, c1, c2, c3 = load4(memory, k + U(8))
            d0, d1, d2, d3 = load4(memory, k + U(12))
            t0, t1, t2, t3 = t0 + a0, t1 + a1, t2 + a2, t3 + a3
            store4(memory, k, t0, t1, t2, t3)
            t0, t1, t2, t3 = t0 + b0, t1 + b1, t2 + b2, t3 + b3
            store4(memory, k + FOUR, t0, t1, t2, t3)
            a0, a1, a2, a3 = c0, c1, c2, c3
            b0, b1, b2, b3 = d0, d1, d2, d3
            k += U(8)
        if k < end:
            t0, t1, t2, t3 = t0 + a0, t1 + a1, t2 + a2, t3 + a3
            store4(memory, k, t0, t1, t2, t3)
        if task >= CARDS:
            store4(memory, chunk_sums + FOUR * (task - CARDS), t0, t1, t2, t3)
        task += step
    cuda.syncthreads()
    task = U(cuda.threadIdx.x)
    while task <= chunks:
        k, end = chunk_sums, chunk_sums + FOUR * task
        t0, t1, t2, t3 = real(0), real(0), real(0), real(0)
        while k < end:
            a0, a1, a2, a3 = load4(memory, k)
            t0, t1, t2, t3 = t0 + a0, t1 + a1, t2 + a2, t3 + a3
            k += FOUR
        store4(memory, chunk_sums + FOUR * (chunks + task), t0, t1, t2, t3)
        task += step
    cuda.syncthreads()


def write_terminal_values(entry, end, table, memory, short, slots, r, y, z, every):
    """Write the values of row r at the terminals entry … end - 1, which share one vector of the opponent's reach.

    `y`, `z`, `every`: compatible reach of weaker hands, of hands that are not stronger, and of all hands.
    """
    while entry < end:
        pay, out = table.pays + THREE * entry, table.notes + TWO * entry
        x = memory[pay + TWO] * every + memory[pay] * y + memory[pay + ONE] * z
        to = U(short[out]) * U(table.stride) + r
        slots[to] = x + slots[to] if short[out + ONE] else x
        entry += ONE


def terminal_values(program, op, table, slots, memory, short):
    """Compute the values at terminals that share four vectors of the opponent's reach, in O(hands).

    The algorithm is that of `riverboat.engines.cpu._kernels.board.terminal_values`. Shared memory holds running sums
    over the opponent's hands from weak to strong, [1 + hands], the same for the hands of each card, [2 * hands + 53],
    the sums of chunks and those of all previous chunks; four vectors are interleaved.
    """
    rows, hands, stride = U(table.rows), U(table.hands), U(table.stride)
    tid, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    first, count, ends = U(op[1]), U(op[2]), U(op[3])
    v0, v1, v2, v3 = U(op[4]) * stride, U(op[5]) * stride, U(op[6]) * stride, U(op[7]) * stride
    pay, out = real(0), 0  # read now, and written to shared memory after they have arrived
    if tid < THREE * count:
        pay = program.pay[THREE * first + tid]
    if tid < TWO * count:
        out = program.entry[TWO * first + tid]
    cuda.syncthreads()  # reach is complete
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
        memory[table.pays + t] = pay if t == tid else program.pay[THREE * first + t]
        if t < TWO * count:
            short[table.notes + t] = out if t == tid else program.entry[TWO * first + t]
        t += step
    cuda.syncthreads()
    running_sums(memory, short, table)
    has_showdown = ends >> U(4 * END_BITS)
    end0, end1 = ends & U(31), (ends >> U(END_BITS)) & U(31)
    end2, end3 = (ends >> U(2 * END_BITS)) & U(31), (ends >> U(3 * END_BITS)) & U(31)
    sums, last = U(table.sums), U((V(hands) + V(SUM_CHUNK - 1)) // V(SUM_CHUNK))
    lists, before = sums + FOUR * (hands + ONE), sums + FOUR * (THREE * hands + U(54) + last)
    i = tid
    while i < rows:  # from weak to strong
        at = U(OP_WINDOW_SHORTS) + U(10) * i
        r, same_hand = U(short[at]), U(short[at + ONE])
        m0, m1, m2, m3 = real(0), real(0), real(0), real(0)
        if same_hand < table.others:
            m0, m1, m2, m3 = slots[v0 + same_hand], slots[v1 + same_hand], slots[v2 + same_hand], slots[v3 + same_hand]
        a0, a1, a2, a3 = load4(memory, before + FOUR * last)
        b0, b1, b2, b3 = load4(memory, lists + FOUR * U(short[at + U(8)]))
        c0, c1, c2, c3 = load4(memory, lists + FOUR * U(short[at + U(9)]))
        every0, every1, every2, every3 = a0 - b0 - c0 + m0, a1 - b1 - c1 + m1, a2 - b2 - c2 + m2, a3 - b3 - c3 + m3
        y0, y1, y2, y3 = real(0), real(0), real(0), real(0)
        z0, z1, z2, z3 = real(0), real(0), real(0), real(0)
        if has_showdown:  # the operation contains showdowns
            weaker, not_stronger = U(short[at + TWO]), U(short[at + U(5)])
            a0, a1, a2, a3 = load4(memory, sums + FOUR * weaker)
            b0, b1, b2, b3 = load4(memory, before + FOUR * U(V(max(weaker, ONE) - ONE) // V(SUM_CHUNK)))
            c0, c1, c2, c3 = load4(memory, lists + FOUR * U(short[at + THREE]))
            d0, d1, d2, d3 = load4(memory, lists + FOUR * U(short[at + FOUR]))
            y0, y1, y2, y3 = a0 + b0 - (c0 + d0), a1 + b1 - (c1 + d1), a2 + b2 - (c2 + d2), a3 + b3 - (c3 + d3)
            a0, a1, a2, a3 = load4(memory, sums + FOUR * not_stronger)
            b0, b1, b2, b3 = load4(memory, before + FOUR * U(V(max(not_stronger, ONE) - ONE) // V(SUM_CHUNK)))
            c0, c1, c2, c3 = load4(memory, lists + FOUR * U(short[at + U(6)]))
            d0, d1, d2, d3 = load4(memory, lists + FOUR * U(short[at + U(7)]))
            z0, z1 = a0 + b0 - (c0 + d0) + m0, a1 + b1 - (c1 + d1) + m1
            z2, z3 = a2 + b2 - (c2 + d2) + m2, a3 + b3 - (c3 + d3) + m3
        write_terminal_values(ZERO, end0, table, memory, short, slots, r, y0, z0, every0)
        write_terminal_values(end0, end1, table, memory, short, slots, r, y1, z1, every1)
        write_terminal_values(end1, end2, table, memory, short, slots, r, y2, z2, every2)
        write_terminal_values(end2, end3, table, memory, short, slots, r, y3, z3, every3)
        i += step
    cuda.syncthreads()  # shared memory may be overwritten from here on


# --- decisions ----------------------------------------------------------------------------------------------------


def action_weight(regret, prediction, average, at):
    """Return the weight of an action: the positive part of its regret with prediction; of its average if not UPDATE."""
    if MODE != UPDATE:
        return max(fetch_average(average, at), real(0))
    x = fetch_regret(regret, at)
    if PREDICTIVE:
        x += fetch_regret(prediction, at)
    return max(x, real(0))


def push_row_reach(own, tables, regret, prediction, at, rows, width, reach, slots, out, stride, step):
    """Compute the reach after each action for one row of a player or the opponent, and update the averages if `own`.

    Four actions are read together, for one memory latency; missing actions repeat the first.
    """
    average, decay, gain, turn = tables.average, step[3], step[5], U(step[4])
    second = at + rows if width > ONE else at
    third = at + rows + rows if width > TWO else at
    fourth = at + rows + rows + rows if width > THREE else at
    w0, w1 = action_weight(regret, prediction, average, at), action_weight(regret, prediction, average, second)
    w2, w3 = action_weight(regret, prediction, average, third), action_weight(regret, prediction, average, fourth)
    old0, old1, old2, old3 = real(0), real(0), real(0), real(0)
    if own:
        old0, old1 = fetch_average(average, at), fetch_average(average, second)
        old2, old3 = fetch_average(average, third), fetch_average(average, fourth)
    w1 = w1 if width > ONE else real(0)
    w2 = w2 if width > TWO else real(0)
    w3 = w3 if width > THREE else real(0)
    total = (w0 + w1) + (w2 + w3)
    a = FOUR
    while a < width:
        total += action_weight(regret, prediction, average, at + a * rows)
        a += ONE
    positive = total > MIN_REGRET_SUM
    share = divide(reach, total if positive else real(width))
    x0, x1 = w0 * share if positive else share, w1 * share if positive else share
    x2, x3 = w2 * share if positive else share, w3 * share if positive else share
    slots[out] = x0
    if own:
        keep_average(average, at, old0 * decay + x0 * gain, turn)
    if width > ONE:
        slots[out + stride] = x1
        if own:
            keep_average(average, second, old1 * decay + x1 * gain, turn)
    if width > TWO:
        slots[out + TWO * stride] = x2
        if own:
            keep_average(average, third, old2 * decay + x2 * gain, turn)
    if width > THREE:
        slots[out + THREE * stride] = x3
        if own:
            keep_average(average, fourth, old3 * decay + x3 * gain, turn)
    a = FOUR
    while a < width:
        entry = at + a * rows
        w = action_weight(regret, prediction, average, entry)
        x = w * share if positive else share
        slots[out + a * stride] = x
        if own:
            keep_average(average, entry, fetch_average(average, entry) * decay + x * gain, turn)
        a += ONE


def push_rows_reach(own, tables, regret, prediction, at, rows, width, source, slots, out, stride, step):
    """Compute the reach after each action for all rows, see `push_row_reach`."""
    r = U(cuda.threadIdx.x)
    while r < rows:  # code for two and three actions is shorter if the compiler knows the number
        reach, to = slots[source + r], out + r
        if width == TWO:
            push_row_reach(own, tables, regret, prediction, at + r, rows, TWO, reach, slots, to, stride, step)
        elif width == THREE:
            push_row_reach(own, tables, regret, prediction, at + r, rows, THREE, reach, slots, to, stride, step)
        else:
            push_row_reach(own, tables, regret, prediction, at + r, rows, width, reach, slots, to, stride, step)
        r += U(cuda.blockDim.x)


def update_regret(tables, at, old, gain, step):
    """Update a regret: discount, add the instantaneous regret, apply the floor."""
    new = (old * (step[0] if old > real(0) else step[1]) + gain + real(ROUNDING_DUST)) - real(ROUNDING_DUST)
    keep_regret(tables.regret, at, max(new, step[2]), U(step[4]))
    if PREDICTIVE:
        keep_regret(tables.prediction, at, gain, U(step[4]))


def own_action_weight(tables, at, old):
    """Return the weight of an action of the player, like `action_weight`; `old`: its regret, already read."""
    if MODE != UPDATE:
        return max(fetch_average(tables.average, at), real(0))
    x = old
    if PREDICTIVE:
        x += fetch_regret(tables.prediction, at)
    return max(x, real(0))


def decision_value(stakes, program, weight, tables, at, rows, width, slots, kid, stride, step):
    """Compute the value of one row at a decision of the player, and update its regrets.

    `kid`: offset of the value after the first action; `stakes`: weights of the first four actions.
    """
    second = at + rows if width > ONE else at
    third = at + rows + rows if width > TWO else at
    fourth = at + rows + rows + rows if width > THREE else at
    r0, r1, r2, r3 = real(0), real(0), real(0), real(0)
    if MODE == UPDATE:
        r0, r1 = fetch_regret(tables.regret, at), fetch_regret(tables.regret, second)
        r2, r3 = fetch_regret(tables.regret, third), fetch_regret(tables.regret, fourth)
    w0, w1 = own_action_weight(tables, at, r0), own_action_weight(tables, second, r1)
    w2, w3 = own_action_weight(tables, third, r2), own_action_weight(tables, fourth, r3)
    v0 = slots[kid]
    v1 = slots[kid + stride if width > ONE else kid]
    v2 = slots[kid + TWO * stride if width > TWO else kid]
    v3 = slots[kid + THREE * stride if width > THREE else kid]
    w1 = w1 if width > ONE else real(0)
    w2 = w2 if width > TWO else real(0)
    w3 = w3 if width > THREE else real(0)
    total = (w0 + w1) + (w2 + w3)
    weighted_sum = (w0 * v0 + w1 * v1) + (w2 * v2 + w3 * v3)
    plain_sum = v0
    plain_sum += v1 if width > ONE else real(0)
    plain_sum += v2 if width > TWO else real(0)
    plain_sum += v3 if width > THREE else real(0)
    a = FOUR
    while a < width:
        w = action_weight(tables.regret, tables.prediction, tables.average, at + a * rows)
        v = slots[kid + a * stride]
        total += w
        weighted_sum += w * v
        plain_sum += v
        a += ONE
    positive = total > MIN_REGRET_SUM
    mean = divide(weighted_sum if positive else plain_sum, total if positive else real(width))
    if MODE == UPDATE:
        update_regret(tables, at, r0, (v0 - mean) * stakes[0], step)
        if width > ONE:
            update_regret(tables, second, r1, (v1 - mean) * stakes[1], step)
        if width > TWO:
            update_regret(tables, third, r2, (v2 - mean) * stakes[2], step)
        if width > THREE:
            update_regret(tables, fourth, r3, (v3 - mean) * stakes[3], step)
        a = FOUR
        while a < width:
            entry = at + a * rows
            v = slots[kid + a * stride]
            old, stake = fetch_regret(tables.regret, entry), program.weight[weight + a] if WEIGHS_STAKES else real(1)
            update_regret(tables, entry, old, (v - mean) * stake, step)
            a += ONE
    return mean


def push_reach_down(op, table, slots, tables, step):
    """Compute the reach after each action of a decision, and update the averages of the player's own decision."""
    own, width, stride = op[0] == OP_OWN_DOWN, U(op[3]), U(table.stride)
    rows = U(table.rows) if own else U(table.others)
    at = (table.base if own else table.other_base) + U(op[4]) * rows
    source, out = U(op[1]) * stride, U(op[2]) * stride
    if not own:
        regret, prediction = tables.opp_regret, tables.opp_prediction
        push_rows_reach(False, tables, regret, prediction, at, rows, width, source, slots, out, stride, step)
    elif MODE == UPDATE:
        regret, prediction = tables.regret, tables.prediction
        push_rows_reach(True, tables, regret, prediction, at, rows, width, source, slots, out, stride, step)


def pull_values_up(program, op, table, slots, tables, boards, step):
    """Compute the player's values at its own decision, and update its regrets."""
    width, stride, rows = U(op[3]), U(table.stride), U(table.rows)
    at = table.base + U(op[4]) * rows
    to, kid, weight = U(op[1]) * stride, U(op[2]) * stride, U(op[6])
    stakes = real(1), real(1), real(1), real(1)
    if WEIGHS_STAKES:
        stakes = (
            program.weight[weight], program.weight[weight + ONE], program.weight[weight + TWO], program.weight[weight + THREE]
        )  # fmt: skip
    r = U(cuda.threadIdx.x)
    while r < rows:
        if MODE == BEST_RESPONSE:
            mean, a = slots[kid + r], ONE
            while a < width:
                mean = max(mean, slots[kid + a * stride + r])
                a += ONE
        elif width == TWO:
            mean = decision_value(stakes, program, weight, tables, at + r, rows, TWO, slots, kid + r, stride, step)
        elif width == THREE:
            mean = decision_value(stakes, program, weight, tables, at + r, rows, THREE, slots, kid + r, stride, step)
        else:
            mean = decision_value(stakes, program, weight, tables, at + r, rows, width, slots, kid + r, stride, step)
        slots[to + r] = mean
        r += U(cuda.blockDim.x)
    if LOCKED and MODE != EVALUATE:
        apply_lock(op, table, slots, tables, boards)


def sum_action_values(program, op, table, slots):
    """Compute the player's values at a decision of the opponent: the sum over its actions."""
    stride, count, first = U(table.stride), U(op[2]), U(op[3])
    to, first_slot, second_slot = U(op[1]) * stride, U(op[4]) * stride, U(op[5]) * stride
    third_slot, fourth_slot = U(op[6]) * stride, U(op[7]) * stride
    r = U(cuda.threadIdx.x)
    while r < table.rows:
        total = slots[first_slot + r]
        if count > ONE:
            total += slots[second_slot + r]
        if count > TWO:
            total += slots[third_slot + r]
        if count > THREE:
            total += slots[fourth_slot + r]
        k = FOUR
        while k < count:
            total += slots[U(program.addend[first + k]) * stride + r]
            k += ONE
        slots[to + r] = total
        r += U(cuda.blockDim.x)


def apply_lock(op, table, slots, tables, boards):
    """Apply a lock: write regrets that play its strategy, or in BEST_RESPONSE use its value."""
    width, stride, rows = U(op[3]), U(table.stride), U(table.rows)
    at = table.base + U(op[4]) * rows
    to, kid = U(op[1]) * stride, U(op[2]) * stride
    for lock in range(boards.lock_at[table.board], boards.lock_at[table.board + ONE]):
        if tables.lock[U(lock) * TWO] == op[5]:
            offset = U(tables.lock[U(lock) * TWO + ONE])
            r = U(cuda.threadIdx.x)
            while r < rows:
                if tables.locked[offset + r] >= real(0):
                    total = real(0)
                    a = ZERO
                    while a < width:
                        p = tables.locked[offset + a * rows + r]
                        total += p * slots[kid + a * stride + r]
                        if MODE == UPDATE:
                            keep_regret(tables.regret, at + a * rows + r, p, ZERO)
                            if PREDICTIVE:
                                keep_regret(tables.prediction, at + a * rows + r, real(0), ZERO)
                        a += ONE
                    if MODE == BEST_RESPONSE:
                        slots[to + r] = total
                r += U(cuda.blockDim.x)
