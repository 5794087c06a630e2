"""The compiled walk over betting × boards (`riverboat.trees.boards`).

On each board the betting of the street is walked down with reach, its terminals are paid, and it is walked up with values;
between the two, on inner streets, the boards that may follow are walked in the same way. Vectors over the rows of a board are
taken sixteen at a time, terminals sixteen side by side (`riverboat.compiled.simd`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import LANES, load, same, store, transpose
from riverboat.core.arrays import Array
from riverboat.engines.cpu._kernels.gadget import NONE, enter, learn_root
from riverboat.engines.cpu._kernels.node import LEARN, down, up

OPEN, SHARE, CLOSE, WHOLE = 0, 1, 2, 3
MAX_WIDTH = 64  # moves at one node
U = np.uint64
L = U(LANES)


class WalkVectors(NamedTuple):
    """Room for one walk."""

    own: Array  # float [vectors * stride]: my reach
    sigma: Array  # float [vectors * stride]: my strategy, beside the reach after each of my actions
    opp: Array  # float [vectors * stride]: the opponent's reach; the last vector stays zero
    value: Array  # float [vectors * stride]
    reach: Array  # float [(stride + 1) * 16]: the opponent's reach at sixteen terminals; the last row stays zero
    worth: Array  # float [(stride + 1) * 16]: their values
    forgone: Array  # float [(stride + 1) * 16]: values of folds that face the same hands
    held: Array  # float [52 * 16]: what the opponent's hands with each card weigh, so far
    beaten: Array  # float [groups * 32]: what all hands weaker than each strength weigh, and those not stronger
    blocked: Array  # float [places * 32]: the same of those hands that hold one of its cards
    dealt_own: Array  # float [deals * (stride + 1) * 16]: my reach at sixteen exits side by side, for each deal
    dealt_opp: Array  # float […]: the opponent's
    gained: Array  # float […]: what was collected there
    pay: Array  # float [chunks, 4, 16]
    kids: Array  # int64 [MAX_WIDTH] scratch
    weight: Array  # float [MAX_WIDTH] scratch
    board: Array  # int64 [streets]: boards that are open
    next: Array  # int64 [streets]: their children that come next


@part
def clear(out, to, count):
    """Zeros, in sixteens."""
    zero = same(out, out.dtype.type(0))
    for k in range(U(0), count, L):
        store(out, to + k, zero)


@part
def weigh(hand, low, high, reach, held, total):
    """Add some of the opponent's hands to what they weigh in all, and card by card."""
    for k in range(low, high):
        x = load(reach, U(hand[k, 0]) * L)
        total = total + x
        first, second = U(hand[k, 1]) * L, U(hand[k, 2]) * L
        store(held, first, load(held, first) + x)
        store(held, second, load(held, second) + x)
    return total


@part
def settle(
    boards,  # Boards
    b,
    me,
    seat,
    chunk,
    shows,  # whether some of the terminals are showdowns
    stride,
    f,
):
    """Pay sixteen terminals: O(hands), by sums over the opponent's hands from weak to strong.

    What is weaker than my hand, less those of them that hold one of my cards: nobody holds both but my own hand, which
    ties with itself. Sums are only looked at where strength changes, for the cards that hands of that strength hold: so they
    stay small. Beside a showdown the fold that faces the same hands is paid.
    """
    other = 1 - me
    hand_at, rep_at = U(boards.hand_at[b, other]), U(boards.rep_at[b, me])
    end, rows = hand_at + U(boards.hands[b, other]), U(boards.rows[b, me])
    reach, held, beaten, blocked, worth = f.reach, f.held, f.beaten, f.blocked, f.worth
    hand, rep, group, touched = boards.hand, boards.rep, boards.group, boards.touched
    for h in range(U(0), U(boards.rows[b, other]), L):
        transpose(f.opp, seat.lane_opp[chunk], reach, h * L, h)
    pay = f.pay[chunk]
    win, tie, lose, fold = load(pay, U(0)), load(pay, L), load(pay, L + L), load(pay, L + L + L)
    total = same(reach, reach.dtype.type(0))
    clear(held, U(0), U(52) * L)
    if shows:
        k, first, base = hand_at, U(boards.touched_at[b, me]), U(boards.touched_at[b, me])
        group_at = U(boards.group_at[b, me])
        for g in range(U(boards.groups[b, me])):
            high, last = hand_at + U(group[group_at + g, 0]), base + U(group[group_at + g, 1])
            for j in range(first, last):
                store(blocked, (j - base) * (L + L), load(held, U(touched[j]) * L))
            store(beaten, g * (L + L), total)
            total = weigh(hand, k, high, reach, held, total)
            for j in range(first, last):
                store(blocked, (j - base) * (L + L) + L, load(held, U(touched[j]) * L))
            store(beaten, g * (L + L) + L, total)
            k, first = high, last
    else:
        total = weigh(hand, hand_at, end, reach, held, total)
    for i in range(rep_at, rep_at + rows):
        to = U(rep[i, 0]) * L
        mine = load(reach, U(rep[i, 1]) * L)
        every = total - load(held, U(rep[i, 2]) * L) - load(held, U(rep[i, 3]) * L) + mine
        x = lose * every
        if shows:
            group_of, one, two = U(rep[i, 4]) * (L + L), U(rep[i, 5]) * (L + L), U(rep[i, 6]) * (L + L)
            less = load(beaten, group_of) - load(blocked, one) - load(blocked, two)
            upto = load(beaten, group_of + L) - load(blocked, one + L) - load(blocked, two + L)
            x = x + win * less + tie * (upto + mine)  # in this order: what is equal stays equal to the bit
            store(f.forgone, to, fold * every)
        store(worth, to, x)
    for h in range(U(0), rows, L):
        transpose(worth, h * L, f.value, seat.lane_value[chunk], h)
    if shows:
        for h in range(U(0), rows, L):
            transpose(f.forgone, h * L, f.value, seat.lane_fold[chunk], h)


@part
def settle_batch(batch, boards, b, me, seat, stride, f):
    """Pay all terminals of a batch."""
    for chunk in range(seat.chunk[batch, 0], seat.chunk[batch, 2]):
        settle(boards, b, me, seat, chunk, chunk < seat.chunk[batch, 1], stride, f)


@part
def lay_out(forest, seat, street, boards, b, me, stride, f):
    """Put the reach at the exits of a board side by side, sixteen exits at a time, for the boards that follow."""
    size = (stride + U(1)) * L
    zero = same(f.gained, f.gained.dtype.type(0))
    for k in range(forest.deal_at[forest.batch_at[street + 1]], forest.deal_at[forest.batch_at[street + 2]]):
        at = U(k) * size
        for h in range(U(0), U(boards.rows[b, me]), L):
            transpose(f.own, seat.exit[0, k], f.dealt_own, at + h * L, h)
        for h in range(U(0), U(boards.rows[b, 1 - me]), L):
            transpose(f.opp, seat.exit[1, k], f.dealt_opp, at + h * L, h)
        for r in range(U(boards.rows[b, me])):
            store(f.gained, at + r * L, zero)


@part
def deal(forest, batch, boards, b, me, seat, stride, mode, f):
    """Reach at the roots of a batch: each row has that of the row it comes from."""
    size = (stride + U(1)) * L
    for k in range(forest.deal_at[batch], forest.deal_at[batch + 1]):
        at = U(k) * size
        rows, up_at = U(boards.rows[b, 1 - me]), U(boards.up_at[b, 1 - me])
        for r in range(rows):
            store(f.worth, r * L, load(f.dealt_opp, at + U(boards.up[up_at + r]) * L))
        for h in range(U(0), rows, L):
            transpose(f.worth, h * L, f.opp, seat.root[1, k], h)
        if mode == LEARN:
            rows, up_at = U(boards.rows[b, me]), U(boards.up_at[b, me])
            for r in range(rows):
                store(f.worth, r * L, load(f.dealt_own, at + U(boards.up[up_at + r]) * L))
            for h in range(U(0), rows, L):
                transpose(f.worth, h * L, f.own, seat.root[0, k], h)


@part
def collect(forest, batch, boards, b, above, me, seat, stride, f):
    """Add the values of the roots of a batch to those of the exits before, for each board that b stands for."""
    size = (stride + U(1)) * L
    rows, before = U(boards.rows[b, me]), U(boards.rows[above, me])
    for k in range(forest.deal_at[batch], forest.deal_at[batch + 1]):
        at = U(k) * size
        for h in range(U(0), rows, L):
            transpose(f.value, seat.root[2, k], f.worth, h * L, h)
        store(f.worth, rows * L, same(f.worth, f.worth.dtype.type(0)))  # where hands go that cannot go on
        for m in range(boards.member[b], boards.member[b + 1]):
            down_at = U(boards.down_at[m, me])
            for r in range(before):
                to = at + r * L
                store(f.gained, to, load(f.gained, to) + load(f.worth, U(boards.down[down_at + r]) * L))


@part
def bring_back(forest, seat, street, boards, b, me, stride, f):
    """Values at the exits of a board: what was collected, times the chance of each deal."""
    size = (stride + U(1)) * L
    rows = U(boards.rows[b, me])
    chance = same(f.gained, f.gained.dtype.type(boards.chance[boards.child[b]]))
    for k in range(forest.deal_at[forest.batch_at[street + 1]], forest.deal_at[forest.batch_at[street + 2]]):
        at = U(k) * size
        for r in range(rows):
            store(f.gained, at + r * L, load(f.gained, at + r * L) * chance)
        for h in range(U(0), rows, L):
            transpose(f.gained, at + h * L, f.value, seat.exit[2, k], h)


@part
def visit(
    forest,
    seat,
    boards,
    parents,
    me,
    low,
    high,  # boards low … high - 1 of one street
    top,  # their street
    go,  # WHOLE: with all boards that follow; OPEN, CLOSE: only the way down, the way up
    first_node,
    end_node,  # where not -1: only these nodes of the boards
    stride,
    tables,
    step,
    mode,
    f,
):
    """Walk some boards: values at the exits before, or at the roots of the first street.

    Each stage of the walk has one place in the code, so that it is compiled once.
    """
    streets = len(forest.first) - 1
    for b0 in range(low, high):
        street, b, batch = top, b0, forest.batch_at[top]
        descending = go != CLOSE
        while True:
            f.board[street] = b
            first, end = forest.batch[batch, 0], forest.batch[batch, 1]
            whole = street > top or first_node < 0
            if not whole:  # a subtree of the top street: its one batch is the one that it lies in
                while end <= first_node:
                    batch += 1
                    end = forest.batch[batch, 1]
                first, end = first_node, end_node
            above = parents[b] if whole else -1
            inner = street < streets - 1
            if descending:
                if above >= 0:
                    deal(forest, batch, boards, b, me, seat, stride, mode, f)
                down(forest, seat, me, first, end, boards.base[b], boards.rows[b], stride, tables, step, mode, f)
                settle_batch(batch, boards, b, me, seat, stride, f)
                if inner:
                    lay_out(forest, seat, street, boards, b, me, stride, f)
                    if go == OPEN:
                        break
                    f.next[street] = boards.child[b]
                    b = boards.child[b]
                    street += 1
                    batch = forest.batch_at[street]
                    continue
            if inner:
                bring_back(forest, seat, street, boards, b, me, stride, f)
            up(forest, seat, me, first, end, b, boards.base[b], boards.rows[b], stride, tables, step, mode, f)
            if above >= 0:
                collect(forest, batch, boards, b, above, me, seat, stride, f)
            descending = True
            if not inner and whole and batch + 1 < forest.batch_at[street + 1]:
                batch += 1
                continue
            if street == top:
                break
            street -= 1  # back on the board before: its next child, or its own way up
            b = f.board[street]
            f.next[street] += 1
            if f.next[street] < boards.child[b + 1]:
                b = f.next[street]
                street += 1
            else:
                descending = False
            batch = forest.batch_at[street]


@part
def copy(source, at, count, out, to):
    """Copy numbers, in sixteens."""
    for k in range(U(0), count, L):
        store(out, to + k, load(source, at + k))


@part
def add(source, at, count, out, to):
    """Add numbers, in sixteens."""
    for k in range(U(0), count, L):
        store(out, to + k, load(out, to + k) + load(source, at + k))


@kernel
def work(
    forest,  # Forest
    seats,  # (Seat, Seat)
    boards,  # Boards
    parents,  # int32 [boards]
    weights,  # (float64 [rows], float64 [rows]): how each player's hands come to the root
    gadget,  # Gadget: a choice in front of the root
    stride,
    tables,  # BoardTables
    steps,  # float64 [iterations, 6]: positive, negative, floor, decay, t, gain
    mode,
    first_player,
    end_player,
    first_phase,
    end_phase,  # OPEN, SHARE, CLOSE: a thread may do some of them
    blocks,  # int32 [blocks + 1]: boards of the second street that are summed together
    counter,  # int64 [1] INOUT: the next block
    out,  # float [blocks * numbers] OUT: what each block gained
    rooms,  # (WalkVectors, WalkVectors)
    source,  # ((dealt_own, dealt_opp), (…)): of the room of the thread that opened the root
    place,  # int64 [3]: board, street, node of a subtree to be walked alone, reach being set there; or -1
):
    """Walks from the root, for one player or both in turn; or a walk of one subtree.

    The boards of the second street are summed in fixed blocks, so that the result does not depend on who walked what.
    """
    one_street = len(forest.first) == 2
    alone = place[2] >= 0
    deals = U(0) if one_street else U(forest.deal_at[forest.batch_at[2]] - forest.deal_at[forest.batch_at[1]])
    size = (stride + U(1)) * L
    begin = U(0) if one_street else U(forest.deal_at[forest.batch_at[1]]) * size  # of the second street's deals
    for i in range(len(steps)):
        for me in range(first_player, end_player):
            seat, f = seats[me], rooms[me]
            if first_phase == OPEN and not alone:
                counter[0] = 0
                for r in range(U(boards.rows[0, me])):
                    f.own[r] = 1
                for r in range(U(boards.rows[0, 1 - me])):
                    f.opp[r] = weights[1 - me][r]
                if gadget.kind != NONE and mode == LEARN:
                    enter(gadget, me, boards.rows[0, gadget.player], steps[i, 4], f.own, f.opp)
            elif first_phase == SHARE:
                copy(source[me][0], begin, deals * size, f.dealt_own, begin)
                copy(source[me][1], begin, deals * size, f.dealt_opp, begin)
            phase, block = first_phase, np.int64(0)
            while phase < end_phase:
                low, high, top, go = np.int64(0), np.int64(1), np.int64(0), np.int64(phase)
                first, end = np.int64(-1), np.int64(-1)
                if alone:
                    low, high, top, go = place[0], place[0] + 1, place[1], np.int64(WHOLE)
                    first, end = place[2], np.int64(forest.end[place[2]])
                elif one_street:
                    go = np.int64(WHOLE)
                elif phase == SHARE:
                    block = take(counter)
                    if block >= len(blocks) - 1:
                        phase = CLOSE
                        continue
                    low, high, top, go = (
                        np.int64(blocks[block]),
                        np.int64(blocks[block + 1]),
                        np.int64(1),
                        np.int64(WHOLE),
                    )
                    clear(f.gained, begin, deals * size)
                elif phase == CLOSE:
                    copy(out, U(0), deals * size, f.gained, begin)
                    for other in range(U(1), U(len(blocks) - 1)):
                        add(out, other * deals * size, deals * size, f.gained, begin)
                visit(
                    forest, seat, boards, parents, me, low, high, top, go, first, end, stride, tables, steps[i], mode, f
                )
                if one_street or alone:
                    phase = end_phase
                elif phase == SHARE:
                    copy(f.gained, begin, deals * size, out, U(block) * deals * size)
                else:
                    phase += 1
            if gadget.kind != NONE and mode == LEARN and me == gadget.player and end_phase == WHOLE and not alone:
                learn_root(gadget, steps[i], f.value, seat.value[0])
