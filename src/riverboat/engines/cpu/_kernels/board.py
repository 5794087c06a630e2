"""Compiled traversal of betting × boards (`riverboat.trees.boards`) with vectors of hands.

On each board a pass down the street's betting computes reach, then terminals are evaluated, and a pass up computes
values. Between the two, on inner streets, the boards that follow are traversed in the same way. Vectors over the rows
of a board are processed sixteen elements at a time, and terminals in chunks of sixteen (`riverboat.compiled.simd`).
Terminal values are O(hands), as in Johanson et al. 2011.

A team of threads runs whole iterations without returning to Python. Thread 0 traverses the first street. All threads
share the second: a unit of work is a block of its boards, or a block and a batch of its betting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.atomics import barrier, cycle_counter, fetch_add, wait_for_call
from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.simd import SIMD_WIDTH, broadcast, load, store, transpose
from riverboat.core.arrays import Array
from riverboat.engines.cpu._kernels.node import (
    NO_GADGET,
    UPDATE,
    enter_root,
    pull_values_up,
    push_reach_down,
    update_root,
)

# Terminals of the first street are evaluated while other threads begin with the second.
ROOT_DOWN, ROOT_TERMINALS, NEXT_STREETS, ROOT_UP, FULL_TRAVERSAL = range(5)
ALL_BATCHES = -1
MAX_NODE_ACTIONS = 64
MAX_STEPS = 256  # of one call
# Phases of a thread, see `TeamMemory.cycles`: each ends at one place of the loop.
AWAY, FIRST_STREET, WAIT_FOR_UNITS, UNITS, WAIT_FOR_VALUES, SUMS = range(6)
U = np.uint64
L = U(SIMD_WIDTH)


class TraversalVectors(NamedTuple):
    """Scratch memory of one player's traversal on one thread; offsets are those of `SeatLayout`."""

    own: Array  # float [vectors * stride]: the player's reach
    sigma: Array  # float [vectors * stride]: the player's strategy, at the offsets of the reach after each action
    opp: Array  # float [vectors * stride]: the opponent's reach; the last vector stays zero
    value: Array  # float [vectors * stride]
    reach: Array  # float [(stride + 1) * 16]: the opponent's reach at sixteen terminals; the last row stays zero
    terminal_value: Array  # float [(stride + 1) * 16]: their values; also scratch for deals
    fold_value: Array  # float [(stride + 1) * 16]: values of folds that face the same hands
    held: Array  # float [52 * 16]: running total reach of the opponent's hands with each card
    beaten: Array  # float [groups * 32]: total reach of hands weaker than each group, and of hands not stronger
    blocked: Array  # float [positions * 32]: the same, of hands with one of the group's cards
    dealt_own: Array  # float [deals * (stride + 1) * 16]: the player's reach at sixteen exits, interleaved
    dealt_opp: Array  # float […]: the opponent's reach
    exit_value: Array  # float […]: sums of values at the exits
    pay: Array  # float [chunks, 4, 16]
    child_offsets: Array  # int64 [MAX_NODE_ACTIONS] scratch: offsets of the children's values
    weight: Array  # float [MAX_NODE_ACTIONS] scratch
    board: Array  # int64 [streets]: current board of each street
    batch: Array  # int64 [streets]: current batch of each street
    next: Array  # int64 [streets]: next child of each current board


class TeamMemory(NamedTuple):
    """Memory that the threads of a traversal share. The arrays of a player belong to the thread at the root."""

    state: Array  # int64 [team_state_size]: for barriers and calls; its first number counts the units of work
    call: Array  # int64 [4]: number of steps; UPDATE, EVALUATE or BEST_RESPONSE; first player, end
    steps: Array  # float64 [MAX_STEPS, 6]: see `BoardEngine.iterate`
    own: tuple[Array, Array]  # each player's `dealt_own`
    opp: tuple[Array, Array]  # each player's `dealt_opp`
    value: tuple[Array, Array]  # each player's `exit_value`
    block_value: Array  # float [blocks * numbers]: sums of exit values of each block of boards
    cycles: Array  # int64 [threads, 8]: cycles that each thread spent in each phase


@inline
def zero_fill(out, to, count):
    """Write `count` zeros to `out` from offset `to`, sixteen at a time."""
    zero = broadcast(out, out.dtype.type(0))
    for k in range(U(0), count, L):
        store(out, to + k, zero)


@inline
def add_hand_weights(hand, low, high, reach, card_sums, total):
    """Add the reach of hands low … high - 1 to the sums of their cards and to `total`; return the new total."""
    for k in range(low, high):
        x = load(reach, U(hand[k, 0]) * L)
        total = total + x
        first, second = U(hand[k, 1]) * L, U(hand[k, 2]) * L
        store(card_sums, first, load(card_sums, first) + x)
        store(card_sums, second, load(card_sums, second) + x)
    return total


@inline
def terminal_values(
    boards,  # BoardArrays
    b,
    me,
    seat,
    chunk,  # sixteen terminals, see `SeatLayout`
    has_showdowns,  # whether the chunk contains showdowns
    stride,
    vectors,
):
    """Compute the values of sixteen terminals in O(hands), by sums over the opponent's hands from weak to strong.

    For each hand, the compatible weaker reach is the total reach of weaker hands minus that of weaker hands with one of
    its cards. No hand is subtracted twice: only the hand itself has both cards, and it is not weaker. Sums are stored
    only where the strength changes, for the cards of hands of that strength, so they stay small. A fold that faces the
    same hands is evaluated together with a showdown.
    """
    opp = 1 - me
    hand_at, rep_at = U(boards.hand_at[b, opp]), U(boards.rep_at[b, me])
    end, rows = hand_at + U(boards.hands[b, opp]), U(boards.rows[b, me])
    reach, held, terminal_value = vectors.reach, vectors.held, vectors.terminal_value
    beaten, blocked = vectors.beaten, vectors.blocked
    hand, rep, group, touched = boards.hand, boards.rep, boards.group, boards.touched
    for h in range(U(0), U(boards.rows[b, opp]), L):
        transpose(vectors.opp, seat.lane_opp[chunk], reach, h * L, h)
    pay = vectors.pay[chunk]
    win, tie, lose, fold = load(pay, U(0)), load(pay, L), load(pay, L + L), load(pay, L + L + L)
    total = broadcast(reach, reach.dtype.type(0))
    zero_fill(held, U(0), U(52) * L)
    if has_showdowns:
        k, first, base = hand_at, U(boards.touched_at[b, me]), U(boards.touched_at[b, me])
        group_at = U(boards.group_at[b, me])
        for g in range(U(boards.groups[b, me])):
            high, last = hand_at + U(group[group_at + g, 0]), base + U(group[group_at + g, 1])
            for j in range(first, last):
                store(blocked, (j - base) * (L + L), load(held, U(touched[j]) * L))
            store(beaten, g * (L + L), total)
            total = add_hand_weights(hand, k, high, reach, held, total)
            for j in range(first, last):
                store(blocked, (j - base) * (L + L) + L, load(held, U(touched[j]) * L))
            store(beaten, g * (L + L) + L, total)
            k, first = high, last
    else:
        total = add_hand_weights(hand, hand_at, end, reach, held, total)
    for i in range(rep_at, rep_at + rows):
        to = U(rep[i, 0]) * L
        same_hand = load(reach, U(rep[i, 1]) * L)
        all_hands = total - load(held, U(rep[i, 2]) * L) - load(held, U(rep[i, 3]) * L) + same_hand
        x = lose * all_hands
        if has_showdowns:
            group_of, first_card, second_card = U(rep[i, 4]) * (L + L), U(rep[i, 5]) * (L + L), U(rep[i, 6]) * (L + L)
            weaker = load(beaten, group_of) - load(blocked, first_card) - load(blocked, second_card)
            not_stronger = load(beaten, group_of + L) - load(blocked, first_card + L) - load(blocked, second_card + L)
            x = x + win * weaker + tie * (not_stronger + same_hand)  # in this order, equal values stay bitwise equal
            store(vectors.fold_value, to, fold * all_hands)
        store(terminal_value, to, x)
    for h in range(U(0), rows, L):
        transpose(terminal_value, h * L, vectors.value, seat.lane_value[chunk], h)
    if has_showdowns:
        for h in range(U(0), rows, L):
            transpose(vectors.fold_value, h * L, vectors.value, seat.lane_fold[chunk], h)


@inline
def gather_exit_reach(forest, batch, seat, boards, b, me, stride, vectors):
    """Gather both players' reach at the exits of a batch, sixteen exits at a time, for the next street's boards."""
    size = (stride + U(1)) * L
    zero = broadcast(vectors.exit_value, vectors.exit_value.dtype.type(0))
    for k in range(forest.deal_at[forest.child_at[batch]], forest.deal_at[forest.child_at[batch + 1]]):
        at = U(k) * size
        for h in range(U(0), U(boards.rows[b, me]), L):
            transpose(vectors.own, seat.exit[0, k], vectors.dealt_own, at + h * L, h)
        for h in range(U(0), U(boards.rows[b, 1 - me]), L):
            transpose(vectors.opp, seat.exit[1, k], vectors.dealt_opp, at + h * L, h)
        for r in range(U(boards.rows[b, me])):
            store(vectors.exit_value, at + r * L, zero)


@inline
def deal_reach(forest, batch, boards, b, me, seat, stride, mode, vectors):
    """Set the reach at the roots of a batch: each row has the reach of its row on the parent board."""
    size = (stride + U(1)) * L
    for k in range(forest.deal_at[batch], forest.deal_at[batch + 1]):
        at = U(k) * size
        rows, up_at = U(boards.rows[b, 1 - me]), U(boards.up_at[b, 1 - me])
        for r in range(rows):
            store(vectors.terminal_value, r * L, load(vectors.dealt_opp, at + U(boards.up[up_at + r]) * L))
        for h in range(U(0), rows, L):
            transpose(vectors.terminal_value, h * L, vectors.opp, seat.root[1, k], h)
        if mode == UPDATE:
            rows, up_at = U(boards.rows[b, me]), U(boards.up_at[b, me])
            for r in range(rows):
                store(vectors.terminal_value, r * L, load(vectors.dealt_own, at + U(boards.up[up_at + r]) * L))
            for h in range(U(0), rows, L):
                transpose(vectors.terminal_value, h * L, vectors.own, seat.root[0, k], h)


@inline
def add_child_values(forest, batch, boards, b, above, me, seat, stride, vectors):
    """Add the values at a batch's roots on board b to the exits of its parent `above`, for each board b represents."""
    size = (stride + U(1)) * L
    rows, parent_rows = U(boards.rows[b, me]), U(boards.rows[above, me])
    for k in range(forest.deal_at[batch], forest.deal_at[batch + 1]):
        at = U(k) * size
        for h in range(U(0), rows, L):
            transpose(vectors.value, seat.root[2, k], vectors.terminal_value, h * L, h)
        store(
            vectors.terminal_value, rows * L, broadcast(vectors.terminal_value, vectors.terminal_value.dtype.type(0))
        )  # blocked hands read this row
        for m in range(boards.member[b], boards.member[b + 1]):
            down_at = U(boards.down_at[m, me])
            for r in range(parent_rows):
                to = at + r * L
                store(
                    vectors.exit_value,
                    to,
                    load(vectors.exit_value, to) + load(vectors.terminal_value, U(boards.down[down_at + r]) * L),
                )


@inline
def scatter_exit_values(forest, batch, seat, boards, b, me, stride, vectors):
    """Write the values at the exits of a batch: the collected sums times the probability of each deal."""
    size = (stride + U(1)) * L
    rows = U(boards.rows[b, me])
    chance = broadcast(vectors.exit_value, vectors.exit_value.dtype.type(boards.chance[boards.child[b]]))
    for k in range(forest.deal_at[forest.child_at[batch]], forest.deal_at[forest.child_at[batch + 1]]):
        at = U(k) * size
        for r in range(rows):
            store(vectors.exit_value, at + r * L, load(vectors.exit_value, at + r * L) * chance)
        for h in range(U(0), rows, L):
            transpose(vectors.exit_value, at + h * L, vectors.value, seat.exit[2, k], h)


@inline
def traverse_boards(
    forest,
    seat,
    boards,
    parents,
    me,
    low,
    high,  # boards low … high - 1 of one street
    top,  # their street
    top_batch,  # a batch of that street, or ALL_BATCHES
    phase,  # FULL_TRAVERSAL: with all boards that follow; ROOT_DOWN, ROOT_TERMINALS, ROOT_UP: only this part
    first_node,
    end_node,  # if not -1: only these nodes of the boards
    stride,
    tables,
    step,
    mode,
    vectors,
):
    """Traverse some boards and compute values at the parent's exits, or at the roots of the first street.

    Each stage of the traversal occurs once in the code, so that it is compiled once.
    """
    streets = len(forest.first) - 1
    first_batch, end_batch = np.int64(forest.batch_at[top]), np.int64(forest.batch_at[top + 1])
    if top_batch != ALL_BATCHES:
        first_batch, end_batch = np.int64(top_batch), np.int64(top_batch + 1)
    elif first_node >= 0:  # a subtree of the top street lies in one batch
        while forest.batch[first_batch, 1] <= first_node:
            first_batch += 1
        end_batch = first_batch + 1
    for b0 in range(low, high):
        street, b, batch = top, b0, first_batch
        descending = phase != ROOT_UP
        while True:
            vectors.board[street], vectors.batch[street] = b, batch
            first, end = forest.batch[batch, 0], forest.batch[batch, 1]
            whole = street > top or first_node < 0
            if not whole:
                first, end = first_node, end_node
            parent = parents[b] if whole else -1
            inner = street < streets - 1
            if descending:
                if phase != ROOT_TERMINALS:
                    if parent >= 0:
                        deal_reach(forest, batch, boards, b, me, seat, stride, mode, vectors)
                    push_reach_down(
                        forest,
                        seat,
                        me,
                        first,
                        end,
                        boards.base[b],
                        boards.rows[b],
                        stride,
                        tables,
                        step,
                        mode,
                        vectors,
                    )
                    if inner:
                        gather_exit_reach(forest, batch, seat, boards, b, me, stride, vectors)
                    if phase == ROOT_DOWN:
                        break
                for chunk in range(seat.chunk[batch, 0], seat.chunk[batch, 2]):
                    terminal_values(boards, b, me, seat, chunk, chunk < seat.chunk[batch, 1], stride, vectors)
                if phase == ROOT_TERMINALS:
                    break
                if inner and forest.child_at[batch] < forest.child_at[batch + 1]:
                    vectors.next[street] = boards.child[b]
                    b, batch = boards.child[b], forest.child_at[batch]
                    street += 1
                    continue
            if inner:
                scatter_exit_values(forest, batch, seat, boards, b, me, stride, vectors)
            pull_values_up(
                forest, seat, me, first, end, b, boards.base[b], boards.rows[b], stride, tables, step, mode, vectors
            )
            if parent >= 0:
                add_child_values(forest, batch, boards, b, parent, me, seat, stride, vectors)
            descending = True
            if batch + 1 < (end_batch if street == top else forest.child_at[vectors.batch[street - 1] + 1]):
                batch += 1
                continue
            if street == top:
                break
            street -= 1  # back on the parent board: its next child, or its own pass up
            b, batch = vectors.board[street], vectors.batch[street]
            vectors.next[street] += 1
            if vectors.next[street] < boards.child[b + 1]:
                b, batch = vectors.next[street], forest.child_at[batch]
                street += 1
            else:
                descending = False


@inline
def copy_vector(source, at, count, out, to):
    """Copy `count` numbers from offset `at` of `source` to offset `to` of `out`, sixteen at a time."""
    for k in range(U(0), count, L):
        store(out, to + k, load(source, at + k))


@inline
def sum_blocks(block_value, blocks, size, thread, threads, out, to):
    """Sum the exit values of all blocks, `size` numbers each, in the order of blocks; each thread sums a slice."""
    vectors = size // L
    for k in range(vectors * U(thread) // U(threads) * L, vectors * U(thread + 1) // U(threads) * L, L):
        total = load(block_value, k)
        for block in range(U(1), U(blocks)):
            total = total + load(block_value, block * size + k)
        store(out, to + k, total)


@inline
def end_phase(cycles, thread, phase, start):
    """Add the cycles since `start` to a phase of a thread; return the time."""
    now = cycle_counter()
    cycles[thread, phase] += now - start
    return now


@kernel
def traverse(
    forest,  # BettingForest
    seats,  # (SeatLayout, SeatLayout)
    boards,  # BoardArrays
    parents,  # int32 [boards]
    weights,  # (float64 [rows], float64 [rows]): each player's reach at the root
    gadget,  # GadgetState: a choice before the root
    stride,
    tables,  # BoardTables
    blocks,  # int32 [blocks + 1]: boards of the second street that are summed together
    units,  # int64 [units, 2]: units of work in order: block; batch, or ALL_BATCHES
    vectors,  # (TraversalVectors, TraversalVectors) of this thread
    team,  # TeamMemory
    thread,
    threads,
    subtree,  # int64 [3]: board, street, node of a subtree with its reach set, to traverse instead of the tree; or -1
):
    """Traverse the tree from the root, for one player or both in turn; or traverse one subtree.

    Every thread of the team calls this with the same arguments but its own vectors and number. Thread 0 runs one call,
    `team.call`, the others also those that follow quickly. The boards of the second street are summed in fixed blocks, so
    that the result does not depend on the threads.
    """
    subtree_only = subtree[2] >= 0
    alone = len(forest.first) == 2 or subtree_only  # one thread, in one piece
    first_batch = np.int64(0) if alone else np.int64(forest.batch_at[1])
    number = (stride + U(1)) * L
    begin = U(forest.deal_at[first_batch]) * number  # offset of the second street's deals
    size = U(0) if alone else U(forest.deal_at[forest.batch_at[2]]) * number - begin
    call, time = np.int64(0), cycle_counter()
    while True:
        if thread > 0:
            call = wait_for_call(team.state, thread, call)
            if call == 0:
                return
        time = end_phase(team.cycles, thread, AWAY, time)
        count_steps, mode, first_player, end_player = team.call[0], team.call[1], team.call[2], team.call[3]
        updates_gadget = gadget.kind != NO_GADGET and mode == UPDATE
        for i in range(count_steps):
            for me in range(first_player, end_player):
                seat, f, step = seats[me], vectors[me], team.steps[i]
                if thread == 0 and not subtree_only:
                    for r in range(U(boards.rows[0, me])):
                        f.own[r] = 1
                    for r in range(U(boards.rows[0, 1 - me])):
                        f.opp[r] = weights[1 - me][r]
                    if updates_gadget:
                        enter_root(gadget, me, boards.rows[0, gadget.player], step[4], f.own, f.opp)
                phase, shared = np.int64(ROOT_DOWN if thread == 0 else NEXT_STREETS), False
                while phase <= ROOT_UP:
                    low, high, top, stage = np.int64(0), np.int64(1), np.int64(0), phase
                    top_batch, first, end = np.int64(ALL_BATCHES), np.int64(-1), np.int64(-1)
                    block, at, count = U(0), U(0), U(0)
                    if subtree_only:
                        low, high, top = subtree[0], subtree[0] + 1, subtree[1]
                        first, end = subtree[2], np.int64(forest.end[subtree[2]])
                    if alone:
                        stage, phase = np.int64(FULL_TRAVERSAL), np.int64(ROOT_UP)
                    elif phase != ROOT_DOWN and phase != ROOT_UP and not shared:
                        if thread == 0:
                            team.state[0] = 0
                        time = end_phase(team.cycles, thread, FIRST_STREET, time)
                        if not barrier(team.state, threads):
                            return
                        time = end_phase(team.cycles, thread, WAIT_FOR_UNITS, time)
                        if thread > 0:
                            copy_vector(team.own[me], begin, size, f.dealt_own, begin)
                            copy_vector(team.opp[me], begin, size, f.dealt_opp, begin)
                        shared = True
                    if stage == NEXT_STREETS:
                        unit = fetch_add(team.state)
                        if unit >= len(units):
                            time = end_phase(team.cycles, thread, UNITS, time)
                            if not barrier(team.state, threads):
                                return
                            time = end_phase(team.cycles, thread, WAIT_FOR_VALUES, time)
                            sum_blocks(team.block_value, len(blocks) - 1, size, thread, threads, team.value[me], begin)
                            if not barrier(team.state, threads):
                                return
                            time = end_phase(team.cycles, thread, SUMS, time)
                            if thread > 0:
                                break
                            phase = np.int64(ROOT_UP)
                            continue
                        top, stage = np.int64(1), np.int64(FULL_TRAVERSAL)
                        block, at, count = U(units[unit, 0]), begin, size
                        if units[unit, 1] != ALL_BATCHES:
                            top_batch = units[unit, 1]
                            at = U(forest.deal_at[top_batch]) * number
                            count = U(forest.deal_at[top_batch + 1]) * number - at
                        low, high = np.int64(blocks[block]), np.int64(blocks[block + U(1)])
                        zero_fill(f.exit_value, at, count)
                    traverse_boards(
                        forest, seat, boards, parents, me, low, high, top, top_batch, stage, first, end, stride, tables,
                        step, mode, f,
                    )  # fmt: skip
                    if phase == NEXT_STREETS:
                        copy_vector(f.exit_value, at, count, team.block_value, block * size + at - begin)
                    else:
                        phase += 1
                if updates_gadget and me == gadget.player and thread == 0 and not subtree_only:
                    update_root(gadget, step, f.value, seat.value[0])
        if thread == 0:
            return
