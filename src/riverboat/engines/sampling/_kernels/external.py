"""Compiled external sampling over betting tree × buckets (Lanctot et al. 2009).

It is the traversal of Brown, Ganzfried & Sandholm 2015, Algorithm 4.

A traversal has two passes. `descend` is breadth first. It takes all actions at the traverser's decisions, and samples
one by regret matching at the opponent's, which also updates the opponent's average. It prefetches the cells that come
next, and records the traverser's decisions. `ascend` processes the records from the last to the first, computes values
and adds the regrets. `descend` can stop before a street, whose values are computed elsewhere before `ascend`.

All random numbers of a deal come from its key: number k is `random_bits(key, k)`, and each decision has its own k. So
the order of visits does not matter, a traversal can be repeated, and deal i of a run is the same on any thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels import LOOKUP_BLOCK
from riverboat.compiled.atomics import fetch_add
from riverboat.compiled.jit import inline_optimized, kernel
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.cell import (
    action_probability,
    average_at,
    regret_at,
    regret_matching_scale,
    set_average,
    set_regret,
)
from riverboat.engines.sampling._kernels.deal import STREETS, low_bits, prepare_deals, random_bits, uniform_from_bits
from riverboat.engines.sampling._kernels.deal import SamplingTally as SamplingTally

U = np.uint64
# The first word of a node: its row among the eight of a deal (street | seat << 2), terminal bits, number of actions.
ROW_MASK, SEAT_BIT, TERMINAL_BIT, SHOWDOWN_BIT, COUNT_SHIFT = 7, 4, 8, 16, 8
STREET_MASK = 3
SIGNS = 2 * STREETS  # signs of a traversal
PRUNING_DRAW = 63  # draws of a deal: below, its cards; from FIRST_NODE_DRAW on, two for each node
FIRST_NODE_DRAW = 64
PRUNED_VALUE = np.float32(3e38)  # value of a pruned action
AVERAGE_FLAG = 256  # in the journal: increments of averages, not of regrets
COUNT_MASK = 255


class TraversalNotes(NamedTuple):
    """Memory of the traversals of a group of deals: traversal w is of deal w >> 1 of the group, with traverser w & 1.

    Decisions are recorded as node << 35 | slot << 7 | traversal. A slot holds a value: each traversal has one, then
    each action of the traversers' decisions.
    """

    own: Array  # uint64 [own decisions]: traversers' decisions
    other: Array  # uint64 [decisions]: opponents' decisions
    at: Array  # uint64 [own decisions]: first cell
    first: Array  # int64 [own decisions]: slot of the first action << 8 | number of actions
    sigma: Array  # float32 [slots]: the traverser's strategy
    value: Array  # float32 [slots]: value of the traverser
    cut: Array  # uint64 [cuts]: decisions after the last street of a traversal
    sign: Array  # float32 [SIGNS · traversals]: factors on payoffs after a fold and at a showdown, by street


class NoteLengths(NamedTuple):
    """Lengths of the lists of `TraversalNotes`."""

    own: int  # traversers' decisions
    other: int  # opponents' decisions
    cuts: int


class Journal(NamedTuple):
    """Pending increments of one chunk of deals. Empty arrays: increments are applied at once."""

    head: Array  # uint64 [entries, 2]: first cell; actions | average << 8 | noise << 32
    amount: Array  # float32 [amounts]
    used: Array  # int64 [2]: entries and amounts


class UpdateRule(NamedTuple):
    """Weights of increments, and pruning of actions."""

    share: float  # increment of an average by one visit
    floor: float  # lower bound of regrets
    threshold: float  # actions with lower regrets may be pruned
    odds: float  # probability that a deal prunes
    prune_from: int  # first deal that may prune


class FirstStreetCopy(NamedTuple):
    """A thread's copy of the first street, which all threads update on every deal."""

    cells: int  # cells of the first street; 0: no copy
    mine: int  # first cell of the copy; `SamplingGame.base` refers to it
    every: int  # blocks between two exchanges


# --- traversals -------------------------------------------------------------------------------


@inline_optimized
def visit_node(game, cells, rows, k, node, slot, traversal, last, f, n):
    """Write a terminal's value to its slot, or record a decision; return the new lengths of the lists (`n` before).

    `slot`: slot of the node's value; `last`: street after which decisions are recorded as cuts. The kind of a sampled
    child is unpredictable. So instead of a branch, a node is written as terminal and as decision of both, and only the
    length of the right list grows.
    """
    at = U(node) << U(2)
    word = U(game.nodes[at])
    f.value[U(slot)] = (
        game.pay[at + U(3)] * f.sign[U(traversal) << U(3) | (word >> U(2)) & U(4) | word & U(STREET_MASK)]
    )
    prefetch(cells, rows[U(k) << U(3) | word & U(ROW_MASK)] + U(game.nodes[at + U(2)]))
    entry = U(node) << U(35) | U(slot) << U(7) | U(traversal)
    decision = np.int64((word >> U(3) & U(1)) ^ U(1))
    if np.int64(word & U(STREET_MASK)) > last:
        f.cut[U(n.cuts)] = entry
        return NoteLengths(n.own, n.other, n.cuts + decision)
    f.own[U(n.own)] = entry
    f.other[U(n.other)] = entry
    own = decision & np.int64((word >> U(2) ^ U(traversal) ^ U(1)) & U(1))
    return NoteLengths(n.own + own, n.other + decision - own, n.cuts)


@inline_optimized
def set_payoff_signs(block, k, traversal, f):
    """Set the factors that turn payoffs of seat 0 into the traverser's payoffs for deal k of a block."""
    gain = np.float32(1 - 2 * (traversal & 1))
    for street in range(STREETS):
        f.sign[SIGNS * traversal + street] = gain
        f.sign[SIGNS * traversal + STREETS + street] = gain * block.result[STREETS * k + street]


@inline_optimized
def begin_traversals(game, cells, block, begin, deals, root, last, f):
    """Record the root for both traversals of each deal of a group, with the factors on payoffs. Return the lengths."""
    n = NoteLengths(np.int64(0), np.int64(0), np.int64(0))
    for w in range(2 * deals):
        set_payoff_signs(block, begin + (w >> 1), w, f)
        n = visit_node(game, cells, block.rows, begin + (w >> 1), root, w, w, last, f, n)
    return n


@inline_optimized
def descend(
    game,  # SamplingGame
    cells,  # float32 or uint16 [cells + 1] INOUT: the table, and one extra cell
    block,  # DealBlock
    begin,  # the first deal of the group in the block
    traversals,
    n,  # NoteLengths of the roots
    last,  # last street of the traversal
    rule,  # UpdateRule
    journal,  # Journal INOUT
    f,  # TraversalNotes INOUT
):
    """Run the pass down: record traversers' decisions, sample opponents' actions and update their averages.

    Returns the new lengths of the lists.
    """
    nodes, sigma, rows, zero = game.nodes, f.sigma, block.rows, np.float32(0)
    last_street = len(game.base) - 1
    journaled = len(journal.head) > 0
    i, j, slots = 0, 0, traversals
    while i < n.own or j < n.other:
        while j < n.other:
            entry = f.other[U(j)]
            j += 1
            node, slot, traversal = entry >> U(35), entry >> U(7) & U(0xFFFFFFF), entry & U(127)
            k = U(begin) + (traversal >> U(1))
            word, first = U(nodes[node << U(2)]), U(nodes[node << U(2) | U(1)])
            count = np.int64(word >> U(COUNT_SHIFT))
            at = rows[k << U(3) | word & U(ROW_MASK)] + U(nodes[node << U(2) | U(2)])
            scale, rest = regret_matching_scale(cells, at, count)
            bits = random_bits(block.keys[k], U(FIRST_NODE_DRAW) + (node << U(1) | traversal & U(1)))
            x, noise = uniform_from_bits(bits), low_bits(bits)
            used = 0
            if journaled:
                used = begin_entry(journal, at + U(count), count | AVERAGE_FLAG, noise)
            chosen, sum_so_far, share = 0, zero, rule.share * block.weight[k]
            for a in range(count):
                p = action_probability(cells, at + U(a), scale, rest)
                if journaled:
                    journal.amount[U(used + a)] = p * np.float32(share)
                else:
                    cell = at + U(count + a)
                    set_average(cells, cell, average_at(cells, cell) + p * share, noise)
                sum_so_far += p
                chosen += x >= sum_so_far
            chosen = min(chosen, count - 1)  # in case rounding leaves the sum below x
            n = visit_node(game, cells, rows, k, first + U(chosen), slot, traversal, last, f, n)
        while i < n.own:
            entry = f.own[U(i)]
            node, traversal = entry >> U(35), entry & U(127)
            k = U(begin) + (traversal >> U(1))
            word, first = U(nodes[node << U(2)]), U(nodes[node << U(2) | U(1)])
            count = np.int64(word >> U(COUNT_SHIFT))
            at = rows[k << U(3) | word & U(ROW_MASK)] + U(nodes[node << U(2) | U(2)])
            scale, rest = regret_matching_scale(cells, at, count)
            f.at[U(i)] = at
            f.first[U(i)] = slots << 8 | count
            i += 1
            threshold = np.float32(-np.inf)
            if block.prune[k] and np.int64(word & U(STREET_MASK)) < last_street:
                num_unpruned = 0
                for a in range(count):
                    is_terminal = nodes[(first + U(a)) << U(2)] & TERMINAL_BIT
                    num_unpruned += is_terminal != 0 or regret_at(cells, at + U(a)) >= np.float32(rule.threshold)
                if 0 < num_unpruned < count:
                    threshold = np.float32(rule.threshold)
                    if rest > zero:
                        rest = np.float32(1) / np.float32(num_unpruned)
            for a in range(count):
                r = regret_at(cells, at + U(a))
                if r < threshold and nodes[(first + U(a)) << U(2)] & TERMINAL_BIT == 0:
                    sigma[U(slots + a)] = zero
                    f.value[U(slots + a)] = PRUNED_VALUE
                    continue
                sigma[U(slots + a)] = max(r, zero) * scale + rest
                n = visit_node(game, cells, rows, k, first + U(a), slots + a, traversal, last, f, n)
            slots += count
    return n


@inline_optimized
def begin_entry(journal, at, what, noise):
    """Begin an entry of the journal; return the index of its first increment.

    `at`: first cell; `what`: number of actions, plus AVERAGE_FLAG for averages; `noise`: 32 bits for rounding.
    """
    entry, used = journal.used[0], journal.used[1]
    journal.head[U(entry), U(0)] = at
    journal.head[U(entry), U(1)] = U(what) | (U(noise) << U(32))
    journal.used[0] = entry + 1
    journal.used[1] = used + (what & COUNT_MASK)
    return used


@inline_optimized
def ascend(
    cells,  # float32 or uint16 [cells + 1] INOUT
    block,  # DealBlock
    begin,
    own,  # number of traversers' decisions
    rule,  # UpdateRule
    journal,  # Journal INOUT
    f,  # TraversalNotes INOUT: has the values of terminals and cuts; values of the traversals go to the first slots
):
    """Run the pass up: compute the values of traversers' decisions, last to first, and update their regrets."""
    floor, journaled = np.float32(rule.floor), len(journal.head) > 0
    for i in range(own - 1, -1, -1):
        entry, first, at = f.own[U(i)], U(f.first[U(i)] >> 8), f.at[U(i)]
        count = f.first[U(i)] & COUNT_MASK
        node, slot, traversal = entry >> U(35), entry >> U(7) & U(0xFFFFFFF), entry & U(127)
        k = U(begin) + (traversal >> U(1))
        weight = block.weight[k]
        total = f.sigma[first] * f.value[first]
        for a in range(1, count):
            total += f.sigma[first + U(a)] * f.value[first + U(a)]
        f.value[slot] = total
        number = U(FIRST_NODE_DRAW) + (node << U(1) | traversal & U(1))
        if journaled:
            used = begin_entry(journal, at, count, low_bits(random_bits(block.keys[k], number)))
            for a in range(count):
                x = f.value[first + U(a)]
                journal.amount[U(used + a)] = weight * (x - total) if x != PRUNED_VALUE else np.float32(0)
        else:
            noise = low_bits(random_bits(block.keys[k], number))
            for a in range(count):
                x = f.value[first + U(a)]
                if x != PRUNED_VALUE:
                    cell = at + U(a)
                    set_regret(cells, cell, max(regret_at(cells, cell) + weight * (x - total), floor), noise)


# --- iterations -------------------------------------------------------------------------------


@kernel
def traverse_group(game, cells, block, begin, deals, rule, journal, f, tally):
    """Run both traversals of deals begin … begin + deals - 1 of a block: all pass down before any regret changes."""
    last = len(game.base) - 1
    n = begin_traversals(game, cells, block, begin, deals, 0, last, f)
    n = descend(game, cells, block, begin, 2 * deals, n, last, rule, journal, f)
    ascend(cells, block, begin, n.own, rule, journal, f)
    for w in range(2 * deals):
        tally.payoff[w & 1] += f.value[w]
    tally.decisions[0] += n.own
    tally.decisions[1] += n.other


@inline_optimized
def decide_pruning(rule, deal, key):
    """Return whether a deal's traversals skip actions with very negative regrets (`UpdateRule`), decided at random."""
    return deal >= rule.prune_from and uniform_from_bits(random_bits(key, PRUNING_DRAW)) < rule.odds


@inline_optimized
def prepare_group(game, look, seed, first, count, rule, block):
    """Draw deals first … first + count - 1 of a run into `block`, with their buckets, and decide which traversals prune."""
    prepare_deals(game, look, seed, first, count, block)
    for k in range(count):
        block.weight[k] = 1
        block.prune[k] = decide_pruning(rule, first + k, block.keys[k])


@inline_optimized
def exchange_copy(cells, hot, mine):
    """Add the changes of a thread's copy of the first street to the table, and copy those of other threads back.

    The copy of `hot` cells begins at cell `mine`, followed by its state at the last exchange. Threads race.
    """
    for c in range(hot):
        change = cells[mine + c] - cells[mine + hot + c]
        total = cells[c] + change
        cells[c] = total
        cells[mine + c] = total
        cells[mine + hot + c] = total


@kernel
def train_external(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # DealRange
    rule,  # UpdateRule
    journal,  # Journal, empty
    block,  # DealBlock
    f,  # TraversalNotes: their size determines the deals of a group
    street_copy,  # FirstStreetCopy
    tally,  # SamplingTally INOUT
):
    """Run external sampling, two traversals for each deal, with immediate updates of the table: threads race."""
    group, hot, mine = len(f.sign) // (2 * SIGNS), street_copy.cells, street_copy.mine
    for c in range(hot):
        cells[mine + c] = cells[c]
        cells[mine + hot + c] = cells[c]
    blocks = 0
    while True:
        start = deals.begin + fetch_add(deals.turn) * LOOKUP_BLOCK
        if start >= deals.end:
            break
        count = min(LOOKUP_BLOCK, deals.end - start)
        prepare_group(game, look, deals.seed, start, count, rule, block)
        for low in range(0, count, group):
            traverse_group(game, cells, block, low, min(group, count - low), rule, journal, f, tally)
        blocks += 1
        if hot and blocks % street_copy.every == 0:
            exchange_copy(cells, hot, mine)
    if hot:
        exchange_copy(cells, hot, mine)


@kernel
def collect_increments(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1]: only read
    deals,  # DealRange: threads take groups in turn
    rule,  # UpdateRule
    journals,  # Journal with a leading axis: one for each group
    block,  # DealBlock
    f,  # TraversalNotes
    tallies,  # SamplingTally with a leading axis OUT
):
    """Traverse groups of deals with one strategy; increments go to a journal for each group."""
    group = len(f.sign) // (2 * SIGNS)
    while True:
        g = fetch_add(deals.turn)
        start = deals.begin + g * group
        if start >= deals.end:
            return
        count = min(group, deals.end - start)
        journal = Journal(journals.head[g], journals.amount[g], journals.used[g])
        tally = SamplingTally(tallies.decisions[g], tallies.payoff[g])
        for what in range(2):
            journal.used[what], tally.decisions[what], tally.payoff[what] = 0, 0, 0
        prepare_group(game, look, deals.seed, start, count, rule, block)
        traverse_group(game, cells, block, 0, count, rule, journal, f, tally)


@kernel
def apply_increments(
    cells,  # float32 or uint16 [cells + 1] INOUT
    journals,  # Journal with a leading axis
    groups,
    floor,
    part_of,  # index of the part of the table whose entries are applied
    parts,  # number of parts
):
    """Apply the pending increments of journals, in their order."""
    min_regret = np.float32(floor)
    for g in range(groups):
        used = 0
        for i in range(journals.used[g, 0]):
            at, flags = journals.head[g, i, 0], journals.head[g, i, 1]
            count, noise = np.int64(flags & U(COUNT_MASK)), np.uint32(flags >> U(32))
            if np.int64(at >> U(10)) % parts == part_of:
                for a in range(count):
                    amount, cell = journals.amount[g, used + a], at + U(a)
                    if flags & U(AVERAGE_FLAG):
                        set_average(cells, cell, average_at(cells, cell) + amount, noise)
                    else:
                        set_regret(cells, cell, max(regret_at(cells, cell) + amount, min_regret), noise)
            used += count


@kernel
def max_notes(
    nodes,  # int32 [4 · nodes]
    need,  # int64 [nodes, 3] scratch
    out,  # int64 [3] OUT
):
    """Compute upper bounds on the list entries of one deal's two traversals, for the allocation of `TraversalNotes`.

    `out` counts the traversers' decisions, the opponents' decisions, and slots.
    """
    for me in range(2):
        for n in range(len(need) - 1, -1, -1):
            word = np.int64(nodes[4 * n])
            count, own = word >> COUNT_SHIFT, (word & SEAT_BIT != 0) == (me == 1)
            for what in range(3):
                need[n, what] = 0
                for child in range(nodes[4 * n + 1], nodes[4 * n + 1] + count):
                    x = need[child, what]
                    need[n, what] = need[n, what] + x if own else max(need[n, what], x)
            if count > 0:
                need[n, 0] += own
                need[n, 1] += not own
                need[n, 2] += count if own else 0
        for what in range(3):
            out[what] = need[0, what] if me == 0 else out[what] + need[0, what]
