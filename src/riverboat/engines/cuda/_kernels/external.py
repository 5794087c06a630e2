"""External sampling MCCFR over betting tree × buckets on a GPU (Lanctot et al. 2009).

This is the traversal of `riverboat.engines.sampling._kernels.external` by many threads. A thread draws a deal, finds
its buckets and compares its hands. Then a thread block traverses a group of deals, two traversals each. On the pass
down its threads take the pending decisions and append those that follow, level by level. On the pass up they compute
values, from the last level on. All blocks read and write one table, like racing threads on processors.

A deal draws the same random numbers as on processors, from its key. So one block with the groups of the processor gives
the result of one thread, up to the order of sums. Functions of the processor's kernels that are used here are compiled
for the device by `riverboat.solvers.mccfr.cuda_trainer`, which sets the names that are None here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.abstraction.cards._kernels import bucket_at, locate_labels
from riverboat.engines.cuda.compilation import cuda
from riverboat.engines.sampling._kernels.deal import compare_hands, deal_cards, low_bits, random_bits, uniform_from_bits
from riverboat.engines.sampling._kernels.external import (
    COUNT_SHIFT,
    FIRST_NODE_DRAW,
    ROW_MASK,
    SEAT_BIT,
    SHOWDOWN_BIT,
    TERMINAL_BIT,
)

# Number types of local and shared memory.
UINT8: Any = None
INT32: Any = None
INT64: Any = None

real = np.float32
U = np.uint64
CARDS, PLAYERS, STREETS = 16, 2, 4  # most in a deal
OWN, OTHER, SLOTS, COUNTERS = 0, 1, 2, 3  # indices of a block's list lengths
LEVELS = 512  # most decisions on a line
MIN_INCREMENT = real(2.0**-10)  # averages grow in multiples of this, or of the step that their size allows
MANTISSA_STEPS = real(2.0**23)  # steps of a float32: larger numbers need larger steps
BITS_TO_UNIFORM = real(2.0**-32)  # converts 32 random bits to a uniform number


def deal_hands(
    dealer,  # CudaDealer
    look,  # BucketLookup
    seed,  # uint64
    begin,  # deals begin … begin + count - 1 of a run
    count,
    dealt,  # CudaDeals OUT
):
    """Draw deals, look up their buckets and compare their hands: one thread for each deal."""
    k = cuda.grid(1)
    if k >= count:
        return
    cards = cuda.local.array(CARDS, UINT8)
    layers = cuda.local.array(STREETS, INT64)
    numbers = cuda.local.array((PLAYERS, STREETS), INT64)
    streets = len(dealer.base)
    for r in range(streets):
        layers[r] = 0
    key = random_bits(seed, begin + k)
    dealt.keys[k] = key
    deal_cards(dealer.deck, key, U(0), 0, cards, 0, PLAYERS * dealer.hole + dealer.board)
    locate_labels(look, cards, 0, PLAYERS, streets, layers, numbers)
    for p in range(PLAYERS):
        bucket = np.int64(0)
        for r in range(streets):
            bucket = bucket_at(look, r, layers[r], numbers[p, r], bucket)
            dealt.rows[8 * k + 4 * p + r] = dealer.base[r] + bucket * dealer.width[r]
    dealt.result[k] = compare_hands(dealer, cards, 0)


def regret_matching_scale(cells, at, count):
    """Return the numbers (scale, rest) of regret matching: an action has probability max(regret, 0) · scale + rest."""
    total = real(0)
    for a in range(count):
        total += max(cells[at + a], real(0))
    if total > real(0):
        return real(1) / total, real(0)
    return real(0), real(1) / real(count)


def visit_node(tree, dealt, k, node, slot, traversal, lengths, notes, block):
    """Write a terminal's value to its slot, or append a decision to the block's lists; `k`: deal."""
    word = tree.nodes[4 * node]
    if word & TERMINAL_BIT:
        x = tree.pay[4 * node + 3]
        if traversal & 1:
            x = -x
        notes.value[block, slot] = x * dealt.result[k] if word & SHOWDOWN_BIT else x
        return
    entry = U(node) << U(35) | U(slot) << U(7) | U(traversal)
    if (word & SEAT_BIT != 0) == (traversal & 1 == 1):
        notes.own[block, cuda.atomic.add(lengths, OWN, 1)] = entry
    else:
        notes.other[block, cuda.atomic.add(lengths, OTHER, 1)] = entry


def average_increment(average, amount, noise):
    """Return the increment of an average, rounded up or down at random to a step that its size allows.

    Beyond 2^24 a float32 no longer grows by one, and small increments are lost long before.
    """
    step = MIN_INCREMENT
    while average >= step * MANTISSA_STEPS:
        step += step
    return step * real(np.int32(amount / step + noise))


def locate_decision(tree, dealt, begin, entry):
    """Return the node, traversal, deal, number of actions and first cell of a decision in the lists."""
    node, traversal = np.int64(entry >> U(35)), np.int64(entry & U(127))
    k, word = begin + (traversal >> 1), tree.nodes[4 * node]
    return node, traversal, k, word >> COUNT_SHIFT, dealt.rows[8 * k + (word & ROW_MASK)] + tree.nodes[4 * node + 2]


def opponent_decision(tree, cells, dealt, begin, share, entry, lengths, notes, block):
    """Sample one action at a decision of the opponent, and update its average."""
    node, traversal, k, count, at = locate_decision(tree, dealt, begin, entry)
    slot = np.int64(entry >> U(7) & U(0xFFFFFFF))
    scale, rest = regret_matching_scale(cells, at, count)
    bits = random_bits(dealt.keys[k], FIRST_NODE_DRAW + (node << 1 | traversal & 1))
    x, noise = uniform_from_bits(bits), real(low_bits(bits)) * BITS_TO_UNIFORM
    chosen, sum_so_far = 0, real(0)
    for a in range(count):
        p = max(cells[at + a], real(0)) * scale + rest
        sum_so_far += p
        if x >= sum_so_far:
            chosen += 1
        if p > real(0):
            increment = average_increment(cells[at + count + a], p * share, noise)
            if increment > real(0):
                cuda.atomic.add(cells, at + count + a, increment)
    chosen = min(chosen, count - 1)  # in case rounding leaves the sum below x
    visit_node(tree, dealt, k, tree.nodes[4 * node + 1] + chosen, slot, traversal, lengths, notes, block)


def traverser_decision(tree, cells, dealt, begin, i, lengths, notes, block):
    """Record the strategy at a decision of the traverser, number i of the block's list, and visit all actions."""
    node, traversal, k, count, at = locate_decision(tree, dealt, begin, notes.own[block, i])
    scale, rest = regret_matching_scale(cells, at, count)
    first = np.int64(cuda.atomic.add(lengths, SLOTS, count))
    notes.at[block, i] = at
    notes.first[block, i] = first << 8 | count
    for a in range(count):
        notes.sigma[block, first + a] = max(cells[at + a], real(0)) * scale + rest
        visit_node(tree, dealt, k, tree.nodes[4 * node + 1] + a, first + a, traversal, lengths, notes, block)


def update_regrets(cells, i, notes, block):
    """Compute the value of decision i of the traverser from those of its actions, and add its regrets to the table."""
    entry, at, packed = notes.own[block, i], notes.at[block, i], notes.first[block, i]
    first, count, total = packed >> 8, packed & 255, real(0)
    for a in range(count):
        total += notes.sigma[block, first + a] * notes.value[block, first + a]
    notes.value[block, np.int64(entry >> U(7) & U(0xFFFFFFF))] = total
    for a in range(count):
        cuda.atomic.add(cells, at + a, notes.value[block, first + a] - total)


def traverse(
    tree,  # CudaBettingNodes
    cells,  # float32 [cells] INOUT
    dealt,  # CudaDeals
    count,  # deals
    group,  # deals that a block traverses at a time
    share,  # increment of an average by one visit
    notes,  # CudaTraversalNotes: a row for each block
    tally,  # CudaTally INOUT
):
    """Run external sampling, two traversals for each deal; blocks take groups in turn."""
    t, threads, block = cuda.threadIdx.x, cuda.blockDim.x, cuda.blockIdx.x
    lengths = cuda.shared.array(COUNTERS, INT32)
    level = cuda.shared.array(LEVELS, INT32)
    decisions = 0
    for begin in range(block * group, count, cuda.gridDim.x * group):
        traversals = PLAYERS * min(group, count - begin)
        if t == 0:
            lengths[OWN], lengths[OTHER], lengths[SLOTS] = 0, 0, traversals
        cuda.syncthreads()
        for w in range(t, traversals, threads):
            visit_node(tree, dealt, begin + (w >> 1), 0, w, w, lengths, notes, block)
        i, j, depth = 0, 0, 0
        while True:
            cuda.syncthreads()
            own, other = lengths[OWN], lengths[OTHER]
            if t == 0:
                level[depth] = i
            cuda.syncthreads()  # all threads know the pending decisions before more are appended
            if i == own and j == other:
                break
            for e in range(j + t, other, threads):
                entry = notes.other[block, e]
                opponent_decision(tree, cells, dealt, begin, share, entry, lengths, notes, block)
            for e in range(i + t, own, threads):
                traverser_decision(tree, cells, dealt, begin, e, lengths, notes, block)
            i, j, depth = own, other, depth + 1
        for up in range(depth):
            d = depth - 1 - up
            for e in range(level[d] + t, level[d + 1], threads):
                update_regrets(cells, e, notes, block)
            cuda.syncthreads()
        for w in range(t, traversals, threads):
            cuda.atomic.add(tally.paid, w & 1, np.float64(notes.value[block, w]))
        decisions += i + j
        cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(tally.visits, 0, decisions)


def discount(
    cells,  # float32 [cells] INOUT
    base,  # int64: first cell of a street's rows
    end,  # int64: end of its cells
    averages,  # bool [cells of a row]: which of them are averages
    positive,
    negative,
    decay,
):
    """Multiply positive and negative regrets of a street, and its averages, by factors; one thread for each cell."""
    cell = base + cuda.grid(1)
    if cell >= end:
        return
    x = cells[cell]
    if averages[(cell - base) % len(averages)]:
        cells[cell] = x * decay
    else:
        cells[cell] = x * (positive if x > real(0) else negative)
