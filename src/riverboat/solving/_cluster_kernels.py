"""Compiled work of the head and the blades of a cluster (Brown, Ganzfried & Sandholm 2015, Algorithm 4).

The head walks the first street of a batch of deals and notes where the walks leave it (`record`); increments wait in
journals, so that the first pass changes nothing. Blades deal the board and walk on from there (`value`). The head puts their
values in and goes up the same notes (`finish`): the second pass repeats no choice, since it has kept them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction._lookup_kernels import BLOCK, look_up_block
from riverboat.arrays import Array
from riverboat.counter import take
from riverboat.jit import kernel, part
from riverboat.solving._blueprint_deal_kernels import compare, deal_cards, draw, rows_of, share_of
from riverboat.solving._blueprint_kernels import FOR_PRUNING, Frames, Journal, ascend, begin_walks, descend, visit

U = np.uint64
CARDS = 52
FOR_FLOPS = 1 << 39  # numbers of a blade's key: below, those of walks; from here on, tries at a flop
FOR_BLADES = 1 << 40  # numbers of the head's key: the keys of its blades
SLOT = U(0xFFFFFFF)


class Flops(NamedTuple):
    """The flops of a blade, and how many of them hold given cards."""

    cards: Array  # uint8 [flops, cards of a flop]
    one: Array  # int32 [52]
    two: Array  # int32 [52 · 52]
    three: Array  # int32 [52 · 52 · 52]


class Batch(NamedTuple):
    """What the head asks its blades."""

    keys: Array  # uint64 [deals]
    hands: Array  # uint8 [deals · 2 · hole]
    prune: Array  # bool [deals]
    start: Array  # int64 [deals + 1]: the first continuation of each deal
    root: Array  # int32 [continuations]: node << 1 | traverser


class Cuts(NamedTuple):
    """Where the walks of a batch leave the first street, in the order of the deals of each group."""

    root: Array  # int32 [groups, most]: node << 1 | traverser
    slot: Array  # int32 [groups, most]: where the value goes
    of_deal: Array  # int64 [batch + 1]: continuations of each deal
    own: Array  # int64 [groups, 3]: decisions of traversers, of opponents, cuts


# --- the head ---------------------------------------------------------------------------------


@part
def deal_first_street(game, look, seed, first, prune_from, rule, low, count, block, hands, layers, numbers):
    """Draw some deals of a run; the board is there for those who are all-in before it."""
    held, size = 2 * game.hole, 2 * game.hole + game.board
    for k in range(low, low + count):
        key = draw(seed, first + k)
        block.keys[k] = key
        deal_cards(game.deck, key, U(0), 0, block.cards, k * size, size)
        for c in range(held):
            hands[k * held + c] = block.cards[k * size + c]
    look_up_block(look, hands, low, low + count, 2, layers, numbers, block.buckets)
    for k in range(low, low + count):
        block.result[k] = compare(game, block.cards, k * size)
        block.weight[k] = 1
        block.prune[k] = first + k >= prune_from and share_of(draw(block.keys[k], FOR_PRUNING)) < rule.odds
        for p in range(2):
            block.rows[8 * k + 4 * p] = U(game.base[0] + block.buckets[k, p, 0] * game.width[0])


@part
def group_of(frames, journals, g):
    """Notes and journal of one group."""
    f = Frames(
        frames.own[g], frames.other[g], frames.at[g], frames.first[g],
        frames.sigma[g], frames.value[g], frames.cut[g], frames.sign[g],
    )  # fmt: skip
    return f, Journal(journals.head[g], journals.amount[g], journals.used[g])


@kernel
def record(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1]: only read
    seed,  # uint64: deal i has the key draw(seed, i)
    first,
    deals,  # deals first … first + deals - 1 of a run
    prune_from,
    rule,  # Rule
    turn,  # int64 [1] INOUT: the next group, shared by all threads
    journals,  # Journal with one more axis in front: one for each group
    frames,  # Frames with one more axis
    block,  # Block with room for the batch
    hands,  # uint8 [deals · 2 · hole] OUT
    cuts,  # Cuts OUT
    layers,  # int64 [BLOCK, 1] scratch
    numbers,  # int64 [BLOCK, 2, 1] scratch
):
    """The first pass: walk the first street and note the continuations."""
    group = frames.sign.shape[1] // 4
    while True:
        g = take(turn)
        low = g * group
        if low >= deals:
            return
        count = min(group, deals - low)
        f, journal = group_of(frames, journals, g)
        journal.used[0], journal.used[1] = 0, 0
        deal_first_street(game, look, seed, first, prune_from, rule, low, count, block, hands, layers, numbers)
        own, other = begin_walks(game, cells, block, low, count, 0, 0, f)
        own, other, found = descend(game, cells, block, low, 2 * count, own, other, 0, rule, journal, f)
        cuts.own[g, 0], cuts.own[g, 1], cuts.own[g, 2] = own, other, found
        sort_cuts(f, low, count, found, cuts.of_deal, cuts.root[g], cuts.slot[g])


@part
def sort_cuts(f, low, deals, found, count, root, slot):
    """The cuts of a group in the order of its deals. `count` holds places for a while."""
    for k in range(deals):
        count[low + k] = 0
    for c in range(found):
        count[low + np.int64(f.cut[c] >> U(1) & U(63))] += 1
    end = 0
    for k in range(deals):
        end += count[low + k]
        count[low + k] = end - count[low + k]
    for c in range(found):
        entry = f.cut[c]
        k = low + np.int64(entry >> U(1) & U(63))
        to = count[k]
        root[to] = np.int32(entry >> U(35)) << 1 | np.int32(entry & U(1))
        slot[to] = np.int32(entry >> U(7) & SLOT)
        count[k] = to + 1
    before = 0
    for k in range(deals):
        end = count[low + k]
        count[low + k] = end - before
        before = end


@kernel
def pack(
    cuts,  # Cuts
    deals,
    group,
    start,  # int64 [deals + 1] OUT
    root,  # int32 [continuations] OUT
):
    """The continuations of all groups, one after the other."""
    total = 0
    for g in range((deals + group - 1) // group):
        for c in range(cuts.own[g, 2]):
            root[total + c] = cuts.root[g, c]
        for k in range(g * group, min(deals, (g + 1) * group)):
            start[k] = total
            total += cuts.of_deal[k]
    start[deals] = total


@kernel
def mix(
    start,  # int64 [deals + 1]
    flops,  # int32 [deals]: of a blade
    values,  # float32 [continuations]: a blade's
    total,  # float64 [continuations] INOUT: sums of flops · value
):
    """Add what a blade says, weighted by its flops."""
    for k in range(len(flops)):
        for c in range(start[k], start[k + 1]):
            total[c] += np.float64(flops[k]) * values[c]


@kernel
def finish(
    cells,  # float32 or uint16 [cells + 1]: only read
    deals,
    rule,  # Rule
    turn,  # int64 [1] INOUT
    journals,  # Journal with one more axis INOUT
    frames,  # Frames with one more axis INOUT
    block,  # Block
    start,  # int64 [deals + 1]
    cuts,  # Cuts
    values,  # float64 [continuations]: of the continuations
    payoff,  # float64 [groups, 2] OUT: sums of what each seat won as traverser
):
    """The second pass: from the values of the continuations up to the root."""
    group = frames.sign.shape[1] // 4
    while True:
        g = take(turn)
        low = g * group
        if low >= deals:
            return
        f, journal = group_of(frames, journals, g)
        for c in range(cuts.own[g, 2]):
            f.value[cuts.slot[g, c]] = np.float32(values[start[low] + c])
        ascend(cells, block, low, cuts.own[g, 0], rule, journal, f)
        payoff[g, 0], payoff[g, 1] = 0, 0
        for w in range(2 * min(group, deals - low)):
            payoff[g, w & 1] += f.value[w]


# --- a blade ----------------------------------------------------------------------------------


@kernel
def count_flops(
    cards,  # uint8 [flops, cards of a flop]
    one,  # int32 [52] OUT
    two,  # int32 [52 · 52] OUT
    three,  # int32 [52 · 52 · 52] OUT
):
    """How many flops hold each card, each two and each three, in any order."""
    size = cards.shape[1]
    for i in range(len(cards)):
        for a in range(size):
            x = np.int64(cards[i, a])
            one[x] += 1
            for b in range(size):
                y = np.int64(cards[i, b])
                if b != a:
                    two[x * CARDS + y] += 1
                for c in range(size):
                    if a != b and b != c and a != c:
                        three[(x * CARDS + y) * CARDS + np.int64(cards[i, c])] += 1


@part
def avoiding(flops, hands, at, held):
    """|F|: how many flops hold none of some cards, by inclusion and exclusion. Flops have three cards at most."""
    found = np.int64(len(flops.cards))
    for a in range(at, at + held):
        x = np.int64(hands[a])
        found -= flops.one[x]
        for b in range(at, a):
            y = x * CARDS + np.int64(hands[b])
            found += flops.two[y]
            for c in range(at, b):
                found -= flops.three[y * CARDS + np.int64(hands[c])]
    return found


@kernel
def avoid(flops, hands, held, out):
    """|F| of many deals. uint8 [deals · held] -> int32 [deals]"""
    for k in range(len(out)):
        out[k] = avoiding(flops, hands, k * held, held)


@part
def deal_board(game, flops, key, cards, at):
    """A flop of the blade that avoids the hands, each with the same chance, then the rest of the board."""
    place, held, taken = game.direct.place, 2 * game.hole, U(0)
    for c in range(at, at + held):
        taken |= U(1) << U(place[cards[c]])
    size, tries, board = flops.cards.shape[1], 0, at + held
    while True:
        number = (draw(key, FOR_FLOPS + tries) >> U(32)) * U(len(flops.cards)) >> U(32)
        tries += 1
        mask = U(0)
        for c in range(size):
            card = flops.cards[number, c]
            cards[board + c] = card
            mask |= U(1) << U(place[card])
        if mask & taken == U(0):
            break
    deal_cards(game.deck, key, taken | mask, 0, cards, board + size, game.board - size)


@part
def ready(game, look, flops, batch, begin, end, blade, scale, block, where, out):
    """Prepare those of some deals that can be played here. Returns how many they are."""
    held, size, count = 2 * game.hole, 2 * game.hole + game.board, 0
    for d in range(begin, end):
        found = avoiding(flops, batch.hands, d * held, held)
        out[d] = found
        if found > 0 and batch.start[d + 1] > batch.start[d]:
            for c in range(held):
                block.cards[count * size + c] = batch.hands[d * held + c]
            key = draw(batch.keys[d], FOR_BLADES + blade)
            deal_board(game, flops, key, block.cards, count * size)
            block.keys[count], block.prune[count] = key, batch.prune[d]
            block.weight[count] = np.float32(found * scale) if scale > 0 else np.float32(1)
            where[count] = d
            count += 1
    if count > 0:
        look_up_block(look, block.cards, 0, count, 2, block.layers, block.numbers, block.buckets)
    for k in range(count):
        block.result[k] = compare(game, block.cards, k * size)
        rows_of(game, block.buckets, k, block.rows, k)
    return count


@kernel
def value(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1] INOUT
    flops,  # Flops
    batch,  # Batch
    blade,  # its number
    scale,  # increments are multiplied by |F| · scale; 0: by one
    rule,  # Rule
    turn,  # int64 [1] INOUT: the next block of deals, shared by all threads
    journal,  # Journal, empty
    block,  # Block
    f,  # Frames: their size says how many deals a group has
    where,  # int64 [BLOCK] scratch: deals of the block
    values,  # float32 [continuations] OUT: to the traverser; stays as it is where no flop is possible
    counts,  # int32 [deals] OUT: |F|
    tally,  # int64 [2] INOUT: decisions of traversers and of opponents
):
    """External sampling from the continuations on. All of one deal see the same board, as walks of a whole deal do."""
    group, last, deals = len(f.sign) // 4, len(game.base) - 1, len(batch.keys)
    while True:
        begin = take(turn) * BLOCK
        if begin >= deals:
            return
        count = ready(game, look, flops, batch, begin, min(begin + BLOCK, deals), blade, scale, block, where, counts)
        for low in range(0, count, group):
            here = min(group, count - low)
            own, other, roots = 0, 0, 0
            for k in range(here):
                for p in range(2):
                    gain = np.float32(1 - 2 * p)
                    f.sign[4 * k + 2 * p] = gain
                    f.sign[4 * k + 2 * p + 1] = gain * block.result[low + k]
                d = where[low + k]
                for c in range(batch.start[d], batch.start[d + 1]):
                    node, walk = batch.root[c] >> 1, 2 * k + (batch.root[c] & 1)
                    own, other, _ = visit(game, cells, block.rows, low + k, node, roots, walk, last, f, own, other, 0)
                    roots += 1
            own, other, _ = descend(game, cells, block, low, roots, own, other, last, rule, journal, f)
            ascend(cells, block, low, own, rule, journal, f)
            roots = 0
            for k in range(here):
                d = where[low + k]
                for c in range(batch.start[d], batch.start[d + 1]):
                    values[c] = f.value[roots]
                    roots += 1
            tally[0] += own
            tally[1] += other
