"""Compiled work of the head and the blades of a cluster (Brown, Ganzfried & Sandholm 2015, Algorithm 4).

The head walks the first street of a batch of deals and notes where the walks leave it (`record`); increments wait in
journals, so that the first pass changes nothing. Blades deal the board and walk on from there (`value`). The head puts their
values in and goes up the same notes (`finish`): the second pass repeats no choice, since it has kept them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import BLOCK, look_up_block
from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.deal import deal_cards, draw, results_of, rows_of, share_of
from riverboat.engines.sampling._kernels.external import (
    FOR_PRUNING,
    SIGNS,
    Journal,
    Lengths,
    WalkNotes,
    ascend,
    begin_walks,
    descend,
    set_signs,
    visit,
)

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


class Part(NamedTuple):
    """The part of the game that a blade has."""

    flops: Flops
    number: int  # of the blade
    scale: float  # increments are multiplied by |F| · scale; 0: by one


class Groups(NamedTuple):
    """Notes and journals of all groups of a batch: with one more axis in front."""

    notes: WalkNotes
    journals: Journal


class BladeRoom(NamedTuple):
    """Room of a blade's thread."""

    notes: WalkNotes
    journal: Journal  # empty: increments are written at once
    where: Array  # int64 [BLOCK]: deals of the block


class LookRoom(NamedTuple):
    """Scratch for looking up buckets of the first street."""

    layers: Array  # int64 [BLOCK, 1]
    numbers: Array  # int64 [BLOCK, 2, 1]


class Batch(NamedTuple):
    """What the head asks its blades."""

    keys: Array  # uint64 [deals]
    hands: Array  # uint8 [deals · 2 · hole]
    prune: Array  # bool [deals]
    start: Array  # int64 [deals + 1]: the first continuation of each deal
    root: Array  # int32 [continuations]: node << 1 | traverser


class Answer(NamedTuple):
    """What a blade answers."""

    values: Array  # float32 [continuations]: to the traverser; stays as it is where no flop is possible
    counts: Array  # int32 [deals]: |F|
    decisions: Array  # int64 [2] INOUT: of traversers and of opponents, of one thread


class Cuts(NamedTuple):
    """Where the walks of a batch leave the first street, in the order of the deals of each group."""

    root: Array  # int32 [groups, most]: node << 1 | traverser
    slot: Array  # int32 [groups, most]: where the value goes
    of_deal: Array  # int64 [batch + 1]: continuations of each deal
    own: Array  # int64 [groups, 3]: decisions of traversers, of opponents, cuts


# --- the head ---------------------------------------------------------------------------------


@part
def deal_first_street(game, look, deals, rule, low, count, block, hands, room):
    """Draw some deals of a run; the board is there for those who are all-in before it."""
    held, size = 2 * game.hole, 2 * game.hole + game.board
    for k in range(low, low + count):
        key = draw(deals.seed, deals.begin + k)
        block.keys[k] = key
        deal_cards(game.deck, key, U(0), 0, block.cards, k * size, size)
        for c in range(held):
            hands[k * held + c] = block.cards[k * size + c]
    look_up_block(look, hands, low, low + count, 2, room.layers, room.numbers, block.buckets)
    for k in range(low, low + count):
        results_of(game, block, k)
        block.weight[k] = 1
        block.prune[k] = deals.begin + k >= rule.prune_from and share_of(draw(block.keys[k], FOR_PRUNING)) < rule.odds
        for p in range(2):
            block.rows[8 * k + 4 * p] = U(game.base[0] + block.buckets[k, p, 0] * game.width[0])


@part
def group_of(groups, g):
    """Notes and journal of one group."""
    notes, journals = groups.notes, groups.journals
    f = WalkNotes(
        notes.own[g], notes.other[g], notes.at[g], notes.first[g],
        notes.sigma[g], notes.value[g], notes.cut[g], notes.sign[g],
    )  # fmt: skip
    return f, Journal(journals.head[g], journals.amount[g], journals.used[g])


@kernel
def record(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1]: only read
    deals,  # Deals: threads take groups in turn
    rule,  # Rule
    groups,  # Groups INOUT
    block,  # Block with room for the batch
    hands,  # uint8 [deals · 2 · hole] OUT
    cuts,  # Cuts OUT
    room,  # LookRoom
):
    """The first pass: walk the first street and note the continuations."""
    group = groups.notes.sign.shape[1] // (2 * SIGNS)
    while True:
        g = take(deals.turn)
        low = g * group
        if low >= deals.end - deals.begin:
            return
        count = min(group, deals.end - deals.begin - low)
        f, journal = group_of(groups, g)
        journal.used[0], journal.used[1] = 0, 0
        deal_first_street(game, look, deals, rule, low, count, block, hands, room)
        n = begin_walks(game, cells, block, low, count, 0, 0, f)
        n = descend(game, cells, block, low, 2 * count, n, 0, rule, journal, f)
        cuts.own[g, 0], cuts.own[g, 1], cuts.own[g, 2] = n.own, n.other, n.cuts
        sort_cuts(f, low, count, n.cuts, cuts.of_deal, cuts.root[g], cuts.slot[g])


@part
def sort_cuts(f, low, deals, cuts, count, root, slot):
    """The cuts of a group in the order of its deals. `count` holds places for a while."""
    for k in range(deals):
        count[low + k] = 0
    for c in range(cuts):
        count[low + np.int64(f.cut[c] >> U(1) & U(63))] += 1
    end = 0
    for k in range(deals):
        end += count[low + k]
        count[low + k] = end - count[low + k]
    for c in range(cuts):
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
    turn,  # int64 [1] INOUT: the next group, shared by all threads
    groups,  # Groups INOUT
    block,  # Block
    start,  # int64 [deals + 1]
    cuts,  # Cuts
    values,  # float64 [continuations]: of the continuations
    payoff,  # float64 [groups, 2] OUT: sums of what each seat won as traverser
):
    """The second pass: from the values of the continuations up to the root."""
    group = groups.notes.sign.shape[1] // (2 * SIGNS)
    while True:
        g = take(turn)
        low = g * group
        if low >= deals:
            return
        f, journal = group_of(groups, g)
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
    free = np.int64(len(flops.cards))
    for a in range(at, at + held):
        x = np.int64(hands[a])
        free -= flops.one[x]
        for b in range(at, a):
            y = x * CARDS + np.int64(hands[b])
            free += flops.two[y]
            for c in range(at, b):
                free -= flops.three[y * CARDS + np.int64(hands[c])]
    return free


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
def ready(game, look, part_of, batch, begin, end, block, where, out):
    """Prepare those of some deals that can be played here. Returns how many they are."""
    held, size, count = 2 * game.hole, 2 * game.hole + game.board, 0
    for d in range(begin, end):
        free = avoiding(part_of.flops, batch.hands, d * held, held)
        out[d] = free
        if free > 0 and batch.start[d + 1] > batch.start[d]:
            for c in range(held):
                block.cards[count * size + c] = batch.hands[d * held + c]
            key = draw(batch.keys[d], FOR_BLADES + part_of.number)
            deal_board(game, part_of.flops, key, block.cards, count * size)
            block.keys[count], block.prune[count] = key, batch.prune[d]
            block.weight[count] = np.float32(free * part_of.scale) if part_of.scale > 0 else np.float32(1)
            where[count] = d
            count += 1
    if count > 0:
        look_up_block(look, block.cards, 0, count, 2, block.layers, block.numbers, block.buckets)
    for k in range(count):
        results_of(game, block, k)
        rows_of(game, block.buckets, k, block.rows, k)
    return count


@kernel
def value(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1] INOUT
    part_of,  # Part
    batch,  # Batch
    rule,  # Rule
    turn,  # int64 [1] INOUT: the next block of deals, shared by all threads
    block,  # Block
    room,  # BladeRoom: its size says how many deals a group has
    out,  # Answer OUT
):
    """External sampling from the continuations on. All of one deal see the same board, as walks of a whole deal do."""
    f, where = room.notes, room.where
    group, last, deals = len(f.sign) // (2 * SIGNS), len(game.base) - 1, len(batch.keys)
    while True:
        begin = take(turn) * BLOCK
        if begin >= deals:
            return
        count = ready(game, look, part_of, batch, begin, min(begin + BLOCK, deals), block, where, out.counts)
        for low in range(0, count, group):
            here, roots = min(group, count - low), 0
            n = Lengths(np.int64(0), np.int64(0), np.int64(0))
            for k in range(here):
                for p in range(2):
                    set_signs(block, low + k, 2 * k + p, f)
                d = where[low + k]
                for c in range(batch.start[d], batch.start[d + 1]):
                    node, walk = batch.root[c] >> 1, 2 * k + (batch.root[c] & 1)
                    n = visit(game, cells, block.rows, low + k, node, roots, walk, last, f, n)
                    roots += 1
            n = descend(game, cells, block, low, roots, n, last, rule, room.journal, f)
            ascend(cells, block, low, n.own, rule, room.journal, f)
            roots = 0
            for k in range(here):
                d = where[low + k]
                for c in range(batch.start[d], batch.start[d + 1]):
                    out.values[c] = f.value[roots]
                    roots += 1
            out.decisions[0] += n.own
            out.decisions[1] += n.other
