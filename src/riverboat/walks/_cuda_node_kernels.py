"""Steps of the walk for a GPU on one board: terminals are paid, reach goes down, values come up, and what is learnt.

Compiled by `riverboat.walks.cuda_code`, which sets the names that are None here. Arrays are flat and indices unsigned: an
index that might be negative costs five instructions more, and loops are bounded by how many instructions there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.walks._cuda_numbers import cuda

LEARN, EVALUATE, RESPOND = 0, 1, 2
EXIT, END = -1, -2
TINY = np.float32(1e-30)  # positive regrets that sum to less count as none
DUST = np.float32(2.0**-40)  # see `riverboat.walks._node_kernels`
NONE = np.uint64(0xFFFF)  # instead of a row: there is none
CHUNK = np.uint64(63)  # hands that one thread sums; odd, so that neighbours read from other banks
MEMORY = 49_152  # bytes that a block has for itself
U = np.uint64
ZERO, ONE, TWO, THREE, FOUR = U(0), U(1), U(2), U(3), U(4)
CARDS = U(52)

# Set when compiled.
MODE: Any = None  # LEARN, EVALUATE or RESPOND
GUESSES: Any = None  # whether a schedule predicts
LOCKED: Any = None  # whether there are locks
NUMBERS: Any = None  # how many a block has room for
real: Any = None  # what is computed in
fetch_regret: Any = None
keep_regret: Any = None
fetch_average: Any = None
keep_average: Any = None


# --- terminals ----------------------------------------------------------------------------------------------------


def sum_all(shared, size, some, hands, boards, list_at):
    """Running sums of the hands and of those of each card, of some terminals: a thread for each list.

    The list of all hands is summed in chunks, and the chunks by one thread.
    """
    chunks = (hands + CHUNK - ONE) // CHUNK
    tasks = CARDS + chunks
    behind = THREE * hands + U(54)
    task, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    while task < some * tasks:
        j = task // tasks
        begin, c = j * size, task - j * tasks
        if c < CARDS:
            low = begin + hands + ONE + U(boards.list_at[list_at + c])
            end = begin + hands + ONE + U(boards.list_at[list_at + c + ONE])
        else:
            low = begin + (c - CARDS) * CHUNK
            end = begin + min((c - CARDS + ONE) * CHUNK, hands) + ONE
        total = real(0)
        k = low + ONE
        while k + FOUR <= end:  # four at once: the processor does not know that what is written is not read
            x0, x1, x2, x3 = shared[k], shared[k + ONE], shared[k + TWO], shared[k + THREE]
            x0 += total
            x1 += x0
            x2 += x1
            total = x3 + x2
            shared[k], shared[k + ONE], shared[k + TWO], shared[k + THREE] = x0, x1, x2, total
            k += FOUR
        while k < end:
            total += shared[k]
            shared[k] = total
            k += ONE
        if c >= CARDS:
            shared[begin + behind + c - CARDS + ONE] = total
        task += step
    cuda.syncthreads()
    j = U(cuda.threadIdx.x)
    while j < some:
        begin = j * size + behind
        shared[begin] = 0
        k = begin
        while k < begin + chunks:
            shared[k + ONE] += shared[k]
            k += ONE
        j += step
    cuda.syncthreads()


def four(nodes, terminal, some, player, reach, row, stride):
    """A row's reach at four terminals that follow each other, or fewer: all are asked for before one is used."""
    at = TWO * terminal + player
    first = U(nodes.end_reach[at])
    second = U(nodes.end_reach[at + TWO]) if some > ONE else first
    third = U(nodes.end_reach[at + FOUR]) if some > TWO else first
    fourth = U(nodes.end_reach[at + FOUR + TWO]) if some > THREE else first
    return (
        reach[row + first * stride],
        reach[row + second * stride],
        reach[row + third * stride],
        reach[row + fourth * stride],
    )


def place(shared, at, one, two, x):
    """Put a hand's reach where it will be summed."""
    shared[at] = x
    shared[one] = x
    shared[two] = x


def settle(nodes, boards, b, me, root, stride, reach, reach_at, value, value_at, shared):
    """Pay the terminals below a root, as many at a time as there is room for: O(hands), see `_board_kernels.settle`.

    For each terminal the block's memory holds running sums over the opponent's hands from weak to strong, [1 + hands], the
    same for the hands of each card, [2 * hands + 53], and the sums of chunks.
    """
    seat, other = TWO * b + me, TWO * b + ONE - me
    rows, hands = U(boards.rows[seat]), U(boards.hands[other])
    hand_at, rep_at = FOUR * U(boards.hand_at[other]), U(9) * U(boards.up_at[seat])
    list_at = U(53) * other
    first, ends, shows = U(nodes.end_at[root]), U(nodes.ends[root]), U(nodes.shows[root])
    behind = THREE * hands + U(54)
    last = (hands + CHUNK - ONE) // CHUNK
    size = behind + last + ONE
    side = U(NUMBERS) // size
    tid, step = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    e = ZERO
    while e < ends:
        some = min(side, ends - e)
        cuda.syncthreads()
        k = tid
        while k < hands:
            row = reach_at + U(boards.hand[hand_at + k])
            at = U(boards.hand[hand_at + hands + k])
            one = hands + ONE + U(boards.hand[hand_at + hands + hands + k])
            two = hands + ONE + U(boards.hand[hand_at + hands + hands + hands + k])
            j = ZERO
            while j < some:  # four at once, to wait for memory once
                x0, x1, x2, x3 = four(nodes, first + e + j, some - j, ONE - me, reach, row, stride)
                place(shared, at, one, two, x0)
                if some - j > ONE:
                    place(shared, at + size, one + size, two + size, x1)
                if some - j > TWO:
                    place(shared, at + size + size, one + size + size, two + size + size, x2)
                if some - j > THREE:
                    more = size + size + size
                    place(shared, at + more, one + more, two + more, x3)
                at += FOUR * size
                one += FOUR * size
                two += FOUR * size
                j += FOUR
            k += step
        task = tid
        while task < some * (CARDS + ONE):
            j = task // (CARDS + ONE)
            c = task - j * (CARDS + ONE)
            shared[j * size + (hands + ONE + U(boards.list_at[list_at + c]) if c < CARDS else ZERO)] = 0
            task += step
        cuda.syncthreads()
        sum_all(shared, size, some, hands, boards, list_at)
        r = tid
        while r < rows:
            at = rep_at + r
            twin = U(boards.rep[at])
            at += rows
            less = U(boards.rep[at])
            at += rows
            less_one = hands + ONE + U(boards.rep[at])
            at += rows
            less_two = hands + ONE + U(boards.rep[at])
            at += rows
            upto = U(boards.rep[at])
            at += rows
            upto_one = hands + ONE + U(boards.rep[at])
            at += rows
            upto_two = hands + ONE + U(boards.rep[at])
            at += rows
            all_one = hands + ONE + U(boards.rep[at])
            at += rows
            all_two = hands + ONE + U(boards.rep[at])
            less_chunk = behind + (max(less, ONE) - ONE) // CHUNK
            upto_chunk = behind + (max(upto, ONE) - ONE) // CHUNK
            begin, j = ZERO, ZERO
            while j < some:
                x0, x1, x2, x3 = real(0), real(0), real(0), real(0)
                if twin != NONE:
                    x0, x1, x2, x3 = four(nodes, first + e + j, some - j, ONE - me, reach, reach_at + twin, stride)
                i = ZERO
                while i < FOUR and j + i < some:
                    mine = x0 if i == ZERO else x1 if i == ONE else x2 if i == TWO else x3
                    pay = U(6) * (first + e + j + i) + THREE * me
                    every = shared[begin + behind + last] - shared[begin + all_one] - shared[begin + all_two] + mine
                    x = nodes.pay[pay + TWO] * every
                    if e + j + i < shows:
                        y = shared[begin + less] + shared[begin + less_chunk]
                        y -= shared[begin + less_one] + shared[begin + less_two]
                        z = shared[begin + upto] + shared[begin + upto_chunk]
                        z -= shared[begin + upto_one] + shared[begin + upto_two]
                        x += nodes.pay[pay] * y + nodes.pay[pay + ONE] * (z + mine)
                    value[value_at + U(nodes.end_node[first + e + j + i]) * stride + r] = x
                    begin += size
                    i += ONE
                j += FOUR
            r += step
        e += side


# --- decisions ----------------------------------------------------------------------------------------------------


def weigh(regret, guess, average, at):
    """What a move is played in proportion to: a regret with what is guessed of the next one, or an average."""
    if MODE != LEARN:
        return max(fetch_average(average, at), real(0))
    x = fetch_regret(regret, at)
    if GUESSES:
        x += fetch_regret(guess, at)
    return max(x, real(0))


def descend_theirs(tables, at, rows, width, comes, reach, out, stride):
    """The opponent's reach after each move, one row. Four moves are read at once, to wait for memory once."""
    second, third, fourth = at + rows, at + rows + rows, at + rows + rows + rows
    w0 = weigh(tables.opp_regret, tables.opp_prediction, tables.average, at)
    w1 = weigh(tables.opp_regret, tables.opp_prediction, tables.average, second) if width > ONE else real(0)
    w2 = weigh(tables.opp_regret, tables.opp_prediction, tables.average, third) if width > TWO else real(0)
    w3 = weigh(tables.opp_regret, tables.opp_prediction, tables.average, fourth) if width > THREE else real(0)
    total = (w0 + w1) + (w2 + w3)
    a = FOUR
    while a < width:
        total += weigh(tables.opp_regret, tables.opp_prediction, tables.average, at + a * rows)
        a += ONE
    some = total > TINY
    share = comes / total if some else comes / real(width)
    reach[out] = w0 * share if some else share
    if width > ONE:
        reach[out + stride] = w1 * share if some else share
    if width > TWO:
        reach[out + TWO * stride] = w2 * share if some else share
    if width > THREE:
        reach[out + THREE * stride] = w3 * share if some else share
    a = FOUR
    while a < width:
        w = weigh(tables.opp_regret, tables.opp_prediction, tables.average, at + a * rows)
        reach[out + a * stride] = w * share if some else share
        a += ONE


def descend_mine(tables, at, rows, width, comes, reach, out, stride, decay, gain, turn):
    """My reach after each move, one row, and the averages."""
    second, third, fourth = at + rows, at + rows + rows, at + rows + rows + rows
    w0 = weigh(tables.regret, tables.prediction, tables.average, at)
    w1 = weigh(tables.regret, tables.prediction, tables.average, second) if width > ONE else real(0)
    w2 = weigh(tables.regret, tables.prediction, tables.average, third) if width > TWO else real(0)
    w3 = weigh(tables.regret, tables.prediction, tables.average, fourth) if width > THREE else real(0)
    old0 = fetch_average(tables.average, at)
    old1 = fetch_average(tables.average, second) if width > ONE else real(0)
    old2 = fetch_average(tables.average, third) if width > TWO else real(0)
    old3 = fetch_average(tables.average, fourth) if width > THREE else real(0)
    total = (w0 + w1) + (w2 + w3)
    a = FOUR
    while a < width:
        total += weigh(tables.regret, tables.prediction, tables.average, at + a * rows)
        a += ONE
    some = total > TINY
    share = comes / total if some else comes / real(width)
    x = w0 * share if some else share
    reach[out] = x
    keep_average(tables.average, at, old0 * decay + x * gain, turn)
    if width > ONE:
        x = w1 * share if some else share
        reach[out + stride] = x
        keep_average(tables.average, second, old1 * decay + x * gain, turn)
    if width > TWO:
        x = w2 * share if some else share
        reach[out + TWO * stride] = x
        keep_average(tables.average, third, old2 * decay + x * gain, turn)
    if width > THREE:
        x = w3 * share if some else share
        reach[out + THREE * stride] = x
        keep_average(tables.average, fourth, old3 * decay + x * gain, turn)
    a = FOUR
    while a < width:
        here = at + a * rows
        w = weigh(tables.regret, tables.prediction, tables.average, here)
        x = w * share if some else share
        reach[out + a * stride] = x
        keep_average(tables.average, here, fetch_average(tables.average, here) * decay + x * gain, turn)
        a += ONE


def go_down(nodes, boards, b, me, root, stride, reach, mine_at, theirs_at, tables, step):
    """Reach at all nodes below a root, from reach at it; averages on the way."""
    decay, gain, turn = real(step[3]), real(step[5]), U(step[4])
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    n, end = root, U(nodes.end[root])
    while n < end:
        who = nodes.actor[n]
        if who >= 0 and (MODE == LEARN or U(who) != me):
            p = U(who)
            width, rows = U(nodes.width[n]), U(boards.rows[TWO * b + p])
            at = U(boards.base[TWO * b + p]) + U(nodes.slot[n]) * rows
            begin = mine_at if p == me else theirs_at
            source, out = begin + U(nodes.reach[TWO * n + p]) * stride, begin + U(nodes.below[n]) * stride
            r = tid
            if MODE == LEARN and p == me:
                while r < rows:
                    descend_mine(
                        tables, at + r, rows, width, reach[source + r], reach, out + r, stride, decay, gain, turn
                    )
                    r += many
            else:
                while r < rows:
                    descend_theirs(tables, at + r, rows, width, reach[source + r], reach, out + r, stride)
                    r += many
        n += ONE


def absorb(tables, at, gain, up, down, floor, turn):
    """Discount a regret, add what the move would have gained, floor."""
    old = fetch_regret(tables.regret, at)
    new = (old * (up if old > real(0) else down) + gain + real(DUST)) - real(DUST)
    keep_regret(tables.regret, at, max(new, floor), turn)
    if GUESSES:
        keep_regret(tables.prediction, at, gain, turn)


def ascend(tables, at, rows, width, nodes, kid, stride, value, origin, v0, v1, v2, v3, up, down, floor, turn):
    """The value of one of my rows at a decision, and what it learns. `origin`: the row's place in the root's vector."""
    second, third, fourth = at + rows, at + rows + rows, at + rows + rows + rows
    w0 = weigh(tables.regret, tables.prediction, tables.average, at)
    w1 = weigh(tables.regret, tables.prediction, tables.average, second) if width > ONE else real(0)
    w2 = weigh(tables.regret, tables.prediction, tables.average, third) if width > TWO else real(0)
    w3 = weigh(tables.regret, tables.prediction, tables.average, fourth) if width > THREE else real(0)
    total = (w0 + w1) + (w2 + w3)
    worth = (w0 * v0 + w1 * v1) + (w2 * v2 + w3 * v3)
    plain = v0
    if width > ONE:
        plain += v1
    if width > TWO:
        plain += v2
    if width > THREE:
        plain += v3
    a = FOUR
    while a < width:
        w = weigh(tables.regret, tables.prediction, tables.average, at + a * rows)
        v = value[origin + U(nodes.kid[kid + a]) * stride]
        total += w
        worth += w * v
        plain += v
        a += ONE
    mean = worth / total if total > TINY else plain / real(width)
    if MODE == LEARN:
        absorb(tables, at, v0 - mean, up, down, floor, turn)
        if width > ONE:
            absorb(tables, second, v1 - mean, up, down, floor, turn)
        if width > TWO:
            absorb(tables, third, v2 - mean, up, down, floor, turn)
        if width > THREE:
            absorb(tables, fourth, v3 - mean, up, down, floor, turn)
        a = FOUR
        while a < width:
            v = value[origin + U(nodes.kid[kid + a]) * stride]
            absorb(tables, at + a * rows, v - mean, up, down, floor, turn)
            a += ONE
    return mean


def go_up(nodes, boards, b, me, root, stride, value, value_at, tables, step):
    """Values at all nodes below a root, from values at its leaves; regrets on the way."""
    rows, base = U(boards.rows[TWO * b + me]), U(boards.base[TWO * b + me])
    up, down, floor, turn = real(step[0]), real(step[1]), real(step[2]), U(step[4])
    tid, many = U(cuda.threadIdx.x), U(cuda.blockDim.x)
    n = U(nodes.end[root])
    while n > root:
        n -= ONE
        who = nodes.actor[n]
        if who >= 0:
            mine = U(who) == me
            width, kid = U(nodes.width[n]), U(nodes.kid_at[n])
            at = base + U(nodes.slot[n]) * rows
            to = value_at + (n - root) * stride
            first = value_at + U(nodes.kid[kid]) * stride  # where there are fewer moves, the others are not looked at
            second = value_at + U(nodes.kid[kid + ONE]) * stride if width > ONE else first
            third = value_at + U(nodes.kid[kid + TWO]) * stride if width > TWO else first
            fourth = value_at + U(nodes.kid[kid + THREE]) * stride if width > THREE else first
            r = tid
            while r < rows:
                v0, v1, v2, v3 = value[first + r], value[second + r], value[third + r], value[fourth + r]
                if mine and MODE != RESPOND:
                    mean = ascend(
                        tables, at + r, rows, width, nodes, kid, stride, value, value_at + r, v0, v1, v2, v3, up, down,
                        floor, turn,
                    )  # fmt: skip
                else:
                    best = max(max(v0, v1), max(v2, v3))
                    mean = v0
                    if width > ONE:
                        mean += v1
                    if width > TWO:
                        mean += v2
                    if width > THREE:
                        mean += v3
                    a = FOUR
                    while a < width:
                        v = value[value_at + U(nodes.kid[kid + a]) * stride + r]
                        mean += v
                        best = max(best, v)
                        a += ONE
                    if mine:
                        mean = best
                value[to + r] = mean
                r += many
            if LOCKED and mine and MODE != EVALUATE:
                hold(nodes, boards, tables, b, n, at, width, rows, stride, value, value_at, to)


def hold(nodes, boards, tables, b, n, at, width, rows, stride, value, value_at, to):
    """At a locked node: regrets that play the given strategy, or in RESPOND its value."""
    for lock in range(boards.lock_at[b], boards.lock_at[b + ONE]):
        if U(tables.lock[U(lock) * TWO]) == n:
            given = U(tables.lock[U(lock) * TWO + ONE])
            r = U(cuda.threadIdx.x)
            while r < rows:
                if tables.locked[given + r] >= real(0):
                    total = real(0)
                    a = ZERO
                    while a < width:
                        p = tables.locked[given + a * rows + r]
                        total += p * value[value_at + U(nodes.kid[U(nodes.kid_at[n]) + a]) * stride + r]
                        if MODE == LEARN:
                            keep_regret(tables.regret, at + a * rows + r, p, ZERO)
                            if GUESSES:
                                keep_regret(tables.prediction, at + a * rows + r, real(0), ZERO)
                        a += ONE
                    if MODE == RESPOND:
                        value[to + r] = total
                r += U(cuda.blockDim.x)
