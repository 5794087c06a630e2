"""External sampling over betting tree × buckets on a GPU: the walk of `_blueprint_kernels` by many threads.

A thread draws a deal, finds its buckets and ranks its hands. Then a block of threads walks a group of deals, two walks each:
on the way down its threads take the decisions that wait, and note those that follow, level by level; on the way up they
value them, the last level first. All blocks read and write one table, as threads that race do on processors.

A deal draws the same random numbers as on processors, from its key. One block and the groups of the processor therefore
learn what one thread learns, but for the order in which sums are taken. Parts of the processor's loops that are used here
are compiled for the device by `riverboat.solvers.mccfr.cuda_external`, which sets the names that are None here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import bucket_at, places
from riverboat.engines.cuda.compilation import cuda
from riverboat.engines.sampling._kernels.deal import compare, deal_cards, draw, low_bits, share_of
from riverboat.engines.sampling._kernels.external import COUNT_AT, FOR_NODES, OVER, ROW, SEAT, SHOWDOWN

# Types of numbers, for memory of threads and blocks.
UINT8: Any = None
INT32: Any = None
INT64: Any = None

real = np.float32
U = np.uint64
CARDS, PLAYERS, STREETS = 16, 2, 4  # at most in a deal
OWN, OTHER, SLOTS, COUNTERS = 0, 1, 2, 3  # lengths of a block's lists
LEVELS = 512  # decisions on the longest line
FINEST = real(2.0**-10)  # averages are sums of multiples of this, or of what their size allows
PLACES = real(2.0**23)  # of a float32: what is larger than so many steps needs larger steps
SMALLEST = real(2.0**-32)  # 32 random bits as a share


def deal(
    dealer,  # Dealer
    look,  # LookUp
    seed,  # uint64
    begin,  # deals begin … begin + count - 1 of a run
    count,
    dealt,  # Dealt OUT
):
    """Draw deals, look up their buckets, rank their hands: a thread each."""
    k = cuda.grid(1)
    if k >= count:
        return
    cards = cuda.local.array(CARDS, UINT8)
    layers = cuda.local.array(STREETS, INT64)
    numbers = cuda.local.array((PLAYERS, STREETS), INT64)
    streets = len(dealer.base)
    for r in range(streets):
        layers[r] = 0
    key = draw(seed, begin + k)
    dealt.keys[k] = key
    deal_cards(dealer.deck, key, U(0), 0, cards, 0, PLAYERS * dealer.hole + dealer.board)
    places(look, cards, 0, PLAYERS, streets, layers, numbers)
    for p in range(PLAYERS):
        bucket = np.int64(0)
        for r in range(streets):
            bucket = bucket_at(look, r, layers[r], numbers[p, r], bucket)
            dealt.rows[8 * k + 4 * p + r] = dealer.base[r] + bucket * dealer.width[r]
    dealt.result[k] = compare(dealer, cards, 0)


def scale_of(cells, at, count):
    """Regret matching: what positive regrets are multiplied by, and what is added to all."""
    total = real(0)
    for a in range(count):
        total += max(cells[at + a], real(0))
    if total > real(0):
        return real(1) / total, real(0)
    return real(0), real(1) / real(count)


def visit(tree, dealt, k, node, slot, walk, lengths, notes, block):
    """Value a terminal, or note a decision."""
    word = tree.nodes[4 * node]
    if word & OVER:
        x = tree.pay[4 * node + 3]
        if walk & 1:
            x = -x
        notes.value[block, slot] = x * dealt.result[k] if word & SHOWDOWN else x
        return
    entry = U(node) << U(35) | U(slot) << U(7) | U(walk)
    if (word & SEAT != 0) == (walk & 1 == 1):
        notes.own[block, cuda.atomic.add(lengths, OWN, 1)] = entry
    else:
        notes.other[block, cuda.atomic.add(lengths, OTHER, 1)] = entry


def grown(average, amount, noise):
    """What an average grows by: a multiple of the step that its size allows, up or down at random.

    Past 2^24 a float32 would not grow by one any more, and small shares would be lost long before.
    """
    step = FINEST
    while average >= step * PLACES:
        step += step
    return step * real(np.int32(amount / step + noise))


def pass_on(tree, cells, dealt, begin, share, entry, lengths, notes, block):
    """A decision of the opponent: one move is drawn, its average grows."""
    node, slot, walk = np.int64(entry >> U(35)), np.int64(entry >> U(7) & U(0xFFFFFFF)), np.int64(entry & U(127))
    k = begin + (walk >> 1)
    word = tree.nodes[4 * node]
    count, at = word >> COUNT_AT, dealt.rows[8 * k + (word & ROW)] + tree.nodes[4 * node + 2]
    scale, rest = scale_of(cells, at, count)
    bits = draw(dealt.keys[k], FOR_NODES + (node << 1 | walk & 1))
    x, noise = share_of(bits), real(low_bits(bits)) * SMALLEST
    chosen, sum_so_far = 0, real(0)
    for a in range(count):
        p = max(cells[at + a], real(0)) * scale + rest
        sum_so_far += p
        if x >= sum_so_far:
            chosen += 1
        if p > real(0):
            more = grown(cells[at + count + a], p * share, noise)
            if more > real(0):
                cuda.atomic.add(cells, at + count + a, more)
    chosen = min(chosen, count - 1)  # where rounding leaves the sum below x
    visit(tree, dealt, k, tree.nodes[4 * node + 1] + chosen, slot, walk, lengths, notes, block)


def spread_out(tree, cells, dealt, begin, i, lengths, notes, block):
    """A decision of the traverser: all moves."""
    entry = notes.own[block, i]
    node, walk = np.int64(entry >> U(35)), np.int64(entry & U(127))
    k = begin + (walk >> 1)
    word = tree.nodes[4 * node]
    count, at = word >> COUNT_AT, dealt.rows[8 * k + (word & ROW)] + tree.nodes[4 * node + 2]
    scale, rest = scale_of(cells, at, count)
    first = np.int64(cuda.atomic.add(lengths, SLOTS, count))
    notes.at[block, i] = at
    notes.first[block, i] = first << 8 | count
    for a in range(count):
        notes.sigma[block, first + a] = max(cells[at + a], real(0)) * scale + rest
        visit(tree, dealt, k, tree.nodes[4 * node + 1] + a, first + a, walk, lengths, notes, block)


def learn(cells, i, notes, block):
    """Value a decision of the traverser, whose moves are valued, and add its regrets."""
    entry, at, packed = notes.own[block, i], notes.at[block, i], notes.first[block, i]
    first, count, total = packed >> 8, packed & 255, real(0)
    for a in range(count):
        total += notes.sigma[block, first + a] * notes.value[block, first + a]
    notes.value[block, np.int64(entry >> U(7) & U(0xFFFFFFF))] = total
    for a in range(count):
        cuda.atomic.add(cells, at + a, notes.value[block, first + a] - total)


def walk(
    tree,  # Nodes
    cells,  # float32 [cells] INOUT
    dealt,  # Dealt
    count,  # deals
    group,  # deals that a block walks at a time
    share,  # what one visit adds to an average
    notes,  # Notes: a row for each block
    tally,  # Tally INOUT
):
    """External sampling, both walks of each deal; blocks take groups in turn."""
    t, threads, block = cuda.threadIdx.x, cuda.blockDim.x, cuda.blockIdx.x
    lengths = cuda.shared.array(COUNTERS, INT32)
    level = cuda.shared.array(LEVELS, INT32)
    decisions = 0
    for begin in range(block * group, count, cuda.gridDim.x * group):
        walks = PLAYERS * min(group, count - begin)
        if t == 0:
            lengths[OWN], lengths[OTHER], lengths[SLOTS] = 0, 0, walks
        cuda.syncthreads()
        for w in range(t, walks, threads):
            visit(tree, dealt, begin + (w >> 1), 0, w, w, lengths, notes, block)
        i, j, depth = 0, 0, 0
        while True:
            cuda.syncthreads()
            own, other = lengths[OWN], lengths[OTHER]
            if t == 0:
                level[depth] = i
            cuda.syncthreads()  # all know what waits, before more is noted
            if i == own and j == other:
                break
            for e in range(j + t, other, threads):
                entry = notes.other[block, e]
                pass_on(tree, cells, dealt, begin, share, entry, lengths, notes, block)
            for e in range(i + t, own, threads):
                spread_out(tree, cells, dealt, begin, e, lengths, notes, block)
            i, j, depth = own, other, depth + 1
        for up in range(depth):
            d = depth - 1 - up
            for e in range(level[d] + t, level[d + 1], threads):
                learn(cells, e, notes, block)
            cuda.syncthreads()
        for w in range(t, walks, threads):
            cuda.atomic.add(tally.paid, w & 1, np.float64(notes.value[block, w]))
        decisions += i + j
        cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(tally.visits, 0, decisions)


def discount(
    cells,  # float32 [cells] INOUT
    base,  # int64: where a street's rows begin
    end,  # and end
    averages,  # bool [cells of a row]: which of them are averages
    positive,
    negative,
    decay,
):
    """Multiply the regrets of a street above and below zero, and its averages: a thread each."""
    cell = base + cuda.grid(1)
    if cell >= end:
        return
    x = cells[cell]
    if averages[(cell - base) % len(averages)]:
        cells[cell] = x * decay
    else:
        cells[cell] = x * (positive if x > real(0) else negative)
