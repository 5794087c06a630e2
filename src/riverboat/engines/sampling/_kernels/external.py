"""Compiled external sampling over betting tree × buckets (Lanctot et al. 2009; Brown, Ganzfried & Sandholm 2015, Alg. 4).

A walk has two halves. `descend` goes through the tree breadth first: all moves at the traverser's decisions, one drawn by
regret matching at the opponent's, which also adds to the opponent's average. It asks memory for the cells that it will
visit next, and notes the traverser's decisions. `ascend` goes through the notes from the last to the first, values the
decisions and adds the regrets. What lies beyond a street can be left out by `descend` and valued elsewhere before `ascend`.

All random numbers of a deal come from its key: number k is `draw(key, k)`, and each decision has a k of its own. So the order
of visits does not matter, a walk can be repeated, and deal i of a run is the same on any thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import BLOCK
from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel
from riverboat.compiled.jit import walked_part as part
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.cell import average_at, regret_at, set_average, set_regret
from riverboat.engines.sampling._kernels.deal import STREETS
from riverboat.engines.sampling._kernels.deal import Block as Block
from riverboat.engines.sampling._kernels.deal import Deals as Deals
from riverboat.engines.sampling._kernels.deal import Direct as Direct
from riverboat.engines.sampling._kernels.deal import Game as Game
from riverboat.engines.sampling._kernels.deal import Tally as Tally
from riverboat.engines.sampling._kernels.deal import compare as compare
from riverboat.engines.sampling._kernels.deal import deal_cards as deal_cards
from riverboat.engines.sampling._kernels.deal import draw as draw
from riverboat.engines.sampling._kernels.deal import low_bits as low_bits
from riverboat.engines.sampling._kernels.deal import prepare as prepare
from riverboat.engines.sampling._kernels.deal import share_of as share_of

U = np.uint64
# The first word of a node: its row among the eight of a deal (street | seat << 2), ends, number of moves.
ROW, SEAT, OVER, SHOWDOWN, COUNT_AT = 7, 4, 8, 16, 8
STREET = 3
SIGNS = 2 * STREETS  # of a walk
FOR_PRUNING = 63  # numbers of a deal: below, its cards; from FOR_NODES on, two for each node
FOR_NODES = 64
SKIPPED = np.float32(3e38)  # value of a move that was pruned
AVERAGE = 256  # in the journal: amounts for averages, not regrets
MOVES = 255


class WalkNotes(NamedTuple):
    """Room for the walks of a group of deals, two for each: of deal w >> 1 of the group, with seat w & 1 as traverser.

    Decisions are noted as node << 35 | slot << 7 | walk. A slot is where a value goes: each walk has one, then each move of
    the traversers' decisions.
    """

    own: Array  # uint64 [own decisions]: traversers' decisions
    other: Array  # uint64 [decisions]: opponents'
    at: Array  # uint64 [own decisions]: first cell
    first: Array  # int64 [own decisions]: slot of the first move << 8 | number of moves
    sigma: Array  # float32 [slots]: the traverser's strategy
    value: Array  # float32 [slots]: to the traverser
    cut: Array  # uint64 [cuts]: decisions beyond the last street of a walk
    sign: Array  # float32 [SIGNS · walks of a group]: on pay-offs after a fold and at a showdown, by street


class Lengths(NamedTuple):
    """Of the lists of `WalkNotes`."""

    own: int  # traversers' decisions
    other: int  # opponents' decisions
    cuts: int


class Journal(NamedTuple):
    """Increments that wait, of one chunk of deals. Empty arrays: increments are written at once."""

    head: Array  # uint64 [entries, 2]: first cell; moves | average << 8 | noise << 32
    amount: Array  # float32 [amounts]
    used: Array  # int64 [2]: entries and amounts


class Rule(NamedTuple):
    """How increments are weighed and moves pruned."""

    share: float  # what one visit adds to an average
    floor: float  # regrets end at or above it
    threshold: float  # moves with regrets below may be skipped
    odds: float  # share of deals on which they are
    prune_from: int  # the first deal on which they may be


class Hot(NamedTuple):
    """A thread's copy of the first street, which all threads write to on every deal."""

    cells: int  # of the first street; 0: there is no copy
    mine: int  # where the copy lies; `Game.base` leads there
    every: int  # blocks between two exchanges


# --- walks ------------------------------------------------------------------------------------


@part
def visit(game, cells, rows, k, node, slot, walk, last, f, n):
    """Value a terminal, or note a decision. Takes the lengths of the lists, and returns them.

    What a child is depends on a random draw, which no processor predicts: so everything is written, and the lengths decide.
    """
    place = U(node) << U(2)
    word = U(game.nodes[place])
    f.value[U(slot)] = game.pay[place + U(3)] * f.sign[U(walk) << U(3) | (word >> U(2)) & U(4) | word & U(STREET)]
    prefetch(cells, rows[U(k) << U(3) | word & U(ROW)] + U(game.nodes[place + U(2)]))
    entry = U(node) << U(35) | U(slot) << U(7) | U(walk)
    decision = np.int64((word >> U(3) & U(1)) ^ U(1))
    if np.int64(word & U(STREET)) > last:
        f.cut[U(n.cuts)] = entry
        return Lengths(n.own, n.other, n.cuts + decision)
    f.own[U(n.own)] = entry
    f.other[U(n.other)] = entry
    mine = decision & np.int64((word >> U(2) ^ U(walk) ^ U(1)) & U(1))
    return Lengths(n.own + mine, n.other + decision - mine, n.cuts)


@part
def set_signs(block, k, walk, f):
    """What the pay-offs of deal k of a block mean to a walk."""
    gain = np.float32(1 - 2 * (walk & 1))
    for street in range(STREETS):
        f.sign[SIGNS * walk + street] = gain
        f.sign[SIGNS * walk + STREETS + street] = gain * block.result[STREETS * k + street]


@part
def begin_walks(game, cells, block, begin, deals, root, last, f):
    """Note the root for both walks of each deal of a group, and what pay-offs mean to them. Returns the lengths."""
    n = Lengths(np.int64(0), np.int64(0), np.int64(0))
    for w in range(2 * deals):
        set_signs(block, begin + (w >> 1), w, f)
        n = visit(game, cells, block.rows, begin + (w >> 1), root, w, w, last, f, n)
    return n


@part
def matched(cells, at, count):
    """Regret matching: what positive regrets are multiplied by, and what is added to all."""
    zero, one = np.float32(0), np.float32(1)
    # Most decisions have two moves. Said apart, they need no loop.
    total = max(regret_at(cells, at), zero) + max(regret_at(cells, at + U(1)), zero)
    if count != 2:
        total = zero
        for a in range(count):
            total += max(regret_at(cells, at + U(a)), zero)
    some = total > zero
    return one / total if some else zero, zero if some else one / np.float32(count)


@part
def descend(
    game,  # Game
    cells,  # float32 or uint16 [cells + 1] INOUT: the table, and one cell more
    block,  # Block
    begin,  # the first deal of the group in the block
    walks,
    n,  # Lengths: of the roots
    last,  # the last street that is walked
    rule,  # Rule
    journal,  # Journal INOUT
    f,  # WalkNotes INOUT
):
    """The way down. Returns the lengths."""
    nodes, sigma, rows, zero = game.nodes, f.sigma, block.rows, np.float32(0)
    last_street = len(game.base) - 1
    waits = len(journal.head) > 0
    i, j, slots = 0, 0, walks
    while i < n.own or j < n.other:
        while j < n.other:
            entry = f.other[U(j)]
            j += 1
            node, slot, walk = entry >> U(35), entry >> U(7) & U(0xFFFFFFF), entry & U(127)
            k = U(begin) + (walk >> U(1))
            word, first = U(nodes[node << U(2)]), U(nodes[node << U(2) | U(1)])
            count = np.int64(word >> U(COUNT_AT))
            at = rows[k << U(3) | word & U(ROW)] + U(nodes[node << U(2) | U(2)])
            scale, rest = matched(cells, at, count)
            bits = draw(block.keys[k], U(FOR_NODES) + (node << U(1) | walk & U(1)))
            x, noise = share_of(bits), low_bits(bits)
            used = 0
            if waits:
                used = note(journal, at + U(count), count | AVERAGE, noise)
            chosen, sum_so_far, share = 0, zero, rule.share * block.weight[k]
            for a in range(count):
                p = max(regret_at(cells, at + U(a)), zero) * scale + rest
                if waits:
                    journal.amount[U(used + a)] = p * np.float32(share)
                else:
                    cell = at + U(count + a)
                    set_average(cells, cell, average_at(cells, cell) + p * share, noise)
                sum_so_far += p
                chosen += x >= sum_so_far
            chosen = min(chosen, count - 1)  # where rounding leaves the sum below x
            n = visit(game, cells, rows, k, first + U(chosen), slot, walk, last, f, n)
        while i < n.own:
            entry = f.own[U(i)]
            node, walk = entry >> U(35), entry & U(127)
            k = U(begin) + (walk >> U(1))
            word, first = U(nodes[node << U(2)]), U(nodes[node << U(2) | U(1)])
            count = np.int64(word >> U(COUNT_AT))
            at = rows[k << U(3) | word & U(ROW)] + U(nodes[node << U(2) | U(2)])
            scale, rest = matched(cells, at, count)
            f.at[U(i)] = at
            f.first[U(i)] = slots << 8 | count
            i += 1
            threshold = np.float32(-np.inf)
            if block.prune[k] and np.int64(word & U(STREET)) < last_street:
                left = 0
                for a in range(count):
                    ends = nodes[(first + U(a)) << U(2)] & OVER
                    left += ends != 0 or regret_at(cells, at + U(a)) >= np.float32(rule.threshold)
                if 0 < left < count:
                    threshold = np.float32(rule.threshold)
                    if rest > zero:
                        rest = np.float32(1) / np.float32(left)
            for a in range(count):
                r = regret_at(cells, at + U(a))
                if r < threshold and nodes[(first + U(a)) << U(2)] & OVER == 0:
                    sigma[U(slots + a)] = zero
                    f.value[U(slots + a)] = SKIPPED
                    continue
                sigma[U(slots + a)] = max(r, zero) * scale + rest
                n = visit(game, cells, rows, k, first + U(a), slots + a, walk, last, f, n)
            slots += count
    return n


@part
def note(journal, at, what, noise):
    """Begin an entry of the journal; returns where its amounts go."""
    entry, used = journal.used[0], journal.used[1]
    journal.head[U(entry), U(0)] = at
    journal.head[U(entry), U(1)] = U(what) | (U(noise) << U(32))
    journal.used[0] = entry + 1
    journal.used[1] = used + (what & MOVES)
    return used


@part
def ascend(
    cells,  # float32 or uint16 [cells + 1] INOUT
    block,  # Block
    begin,
    own,  # traversers' decisions
    rule,  # Rule
    journal,  # Journal INOUT
    f,  # WalkNotes INOUT: values of all terminals and cuts are in; those of the walks go to the first slots
):
    """The way up: values and regrets."""
    floor, waits = np.float32(rule.floor), len(journal.head) > 0
    for i in range(own - 1, -1, -1):
        entry, first, at = f.own[U(i)], U(f.first[U(i)] >> 8), f.at[U(i)]
        count = f.first[U(i)] & MOVES
        node, slot, walk = entry >> U(35), entry >> U(7) & U(0xFFFFFFF), entry & U(127)
        k = U(begin) + (walk >> U(1))
        weight = block.weight[k]
        total = f.sigma[first] * f.value[first]
        for a in range(1, count):
            total += f.sigma[first + U(a)] * f.value[first + U(a)]
        f.value[slot] = total
        number = U(FOR_NODES) + (node << U(1) | walk & U(1))
        if waits:
            used = note(journal, at, count, low_bits(draw(block.keys[k], number)))
            for a in range(count):
                x = f.value[first + U(a)]
                journal.amount[U(used + a)] = weight * (x - total) if x != SKIPPED else np.float32(0)
        else:
            noise = low_bits(draw(block.keys[k], number))
            for a in range(count):
                x = f.value[first + U(a)]
                if x != SKIPPED:
                    cell = at + U(a)
                    set_regret(cells, cell, max(regret_at(cells, cell) + weight * (x - total), floor), noise)


# --- iterations -------------------------------------------------------------------------------


@kernel
def walk_group(game, cells, block, begin, deals, rule, journal, f, tally):
    """Both walks of some deals of a block, with the strategy that the table has at their start."""
    last = len(game.base) - 1
    n = begin_walks(game, cells, block, begin, deals, 0, last, f)
    n = descend(game, cells, block, begin, 2 * deals, n, last, rule, journal, f)
    ascend(cells, block, begin, n.own, rule, journal, f)
    for w in range(2 * deals):
        tally.payoff[w & 1] += f.value[w]
    tally.decisions[0] += n.own
    tally.decisions[1] += n.other


@part
def ready(game, look, seed, first, count, rule, block):
    """Prepare deals and decide on which of them moves are skipped."""
    prepare(game, look, seed, first, count, block)
    for k in range(count):
        block.weight[k] = 1
        block.prune[k] = first + k >= rule.prune_from and share_of(draw(block.keys[k], FOR_PRUNING)) < rule.odds


@part
def exchange(cells, hot, mine):
    """Add to the first street what a thread's copy of it has gained, and take over what others have added.

    The copy lies at `mine`, and behind it what it was when it was taken. Threads race here as everywhere.
    """
    for c in range(hot):
        gained = cells[mine + c] - cells[mine + hot + c]
        now = cells[c] + gained
        cells[c] = now
        cells[mine + c] = now
        cells[mine + hot + c] = now


@kernel
def train(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # Deals
    rule,  # Rule
    journal,  # Journal, empty
    block,  # Block
    f,  # WalkNotes: their size says how many deals a group has
    copy,  # Hot
    tally,  # Tally INOUT
):
    """External sampling, two walks a deal, written to the table at once: threads race."""
    group, hot, mine = len(f.sign) // (2 * SIGNS), copy.cells, copy.mine
    for c in range(hot):
        cells[mine + c] = cells[c]
        cells[mine + hot + c] = cells[c]
    blocks = 0
    while True:
        start = deals.begin + take(deals.turn) * BLOCK
        if start >= deals.end:
            break
        count = min(BLOCK, deals.end - start)
        ready(game, look, deals.seed, start, count, rule, block)
        for low in range(0, count, group):
            walk_group(game, cells, block, low, min(group, count - low), rule, journal, f, tally)
        blocks += 1
        if hot and blocks % copy.every == 0:
            exchange(cells, hot, mine)
    if hot:
        exchange(cells, hot, mine)


@kernel
def collect(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1]: only read
    deals,  # Deals: threads take groups in turn
    rule,  # Rule
    journals,  # Journal with one more axis in front: one for each group
    block,  # Block
    f,  # WalkNotes
    tallies,  # Tally with one more axis OUT
):
    """Groups of deals, all with the same strategy; increments go to a journal for each group."""
    group = len(f.sign) // (2 * SIGNS)
    while True:
        g = take(deals.turn)
        start = deals.begin + g * group
        if start >= deals.end:
            return
        count = min(group, deals.end - start)
        journal = Journal(journals.head[g], journals.amount[g], journals.used[g])
        tally = Tally(tallies.decisions[g], tallies.payoff[g])
        for what in range(2):
            journal.used[what], tally.decisions[what], tally.payoff[what] = 0, 0, 0
        ready(game, look, deals.seed, start, count, rule, block)
        walk_group(game, cells, block, 0, count, rule, journal, f, tally)


@kernel
def apply(
    cells,  # float32 or uint16 [cells + 1] INOUT
    journals,  # Journal with one more axis in front
    groups,
    floor,
    part_of,  # entries of this part of the table,
    parts,  # out of so many, are applied
):
    """Add what waits in journals, in their order."""
    least = np.float32(floor)
    for g in range(groups):
        used = 0
        for i in range(journals.used[g, 0]):
            at, what = journals.head[g, i, 0], journals.head[g, i, 1]
            count, noise = np.int64(what & U(MOVES)), np.uint32(what >> U(32))
            if np.int64(at >> U(10)) % parts == part_of:
                for a in range(count):
                    amount, cell = journals.amount[g, used + a], at + U(a)
                    if what & U(AVERAGE):
                        set_average(cells, cell, average_at(cells, cell) + amount, noise)
                    else:
                        set_regret(cells, cell, max(regret_at(cells, cell) + amount, least), noise)
            used += count


@kernel
def room(
    nodes,  # int32 [4 · nodes]
    need,  # int64 [nodes, 3] scratch
    most,  # int64 [3] OUT
):
    """The most that both walks of one deal can need: own decisions, decisions of the opponent, slots."""
    for me in range(2):
        for n in range(len(need) - 1, -1, -1):
            word = np.int64(nodes[4 * n])
            count, mine = word >> COUNT_AT, (word & SEAT != 0) == (me == 1)
            for what in range(3):
                need[n, what] = 0
                for child in range(nodes[4 * n + 1], nodes[4 * n + 1] + count):
                    x = need[child, what]
                    need[n, what] = need[n, what] + x if mine else max(need[n, what], x)
            if count > 0:
                need[n, 0] += mine
                need[n, 1] += not mine
                need[n, 2] += count if mine else 0
        for what in range(3):
            most[what] = need[0, what] if me == 0 else most[what] + need[0, what]
