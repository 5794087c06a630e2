"""Compiled work of the head and the blades of a cluster (Brown, Ganzfried & Sandholm 2015, Algorithm 4).

The head traverses the first street of a batch of deals and records where traversals leave it (`record_batch`).
Increments wait in journals, so the first pass changes no table. Blades deal the board and continue from there
(`value_continuations`). The head inserts their values and goes up the same records (`finish_batch`): the second pass
samples no action again, because the records have them.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels import LOOKUP_BLOCK, look_up_block
from riverboat.compiled.atomics import fetch_add
from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.deal import bucket_rows, deal_cards, random_bits, showdown_results
from riverboat.engines.sampling._kernels.external import (
    SIGNS,
    Journal,
    NoteLengths,
    TraversalNotes,
    ascend,
    begin_traversals,
    decide_pruning,
    descend,
    set_payoff_signs,
    visit_node,
)

U = np.uint64
CARDS = 52
FLOP_DRAW = 1 << 39  # draws of a blade's key: below, those of traversals; from here on, attempts to draw a flop
BLADE_KEY_DRAW = 1 << 40  # draws of the head's key: the keys of its blades
SLOT_MASK = U(0xFFFFFFF)


class BladeFlops(NamedTuple):
    """Flops that a blade owns, and the number of them that contain one, two or three given cards."""

    cards: Array  # uint8 [flops, cards of a flop]
    one: Array  # int32 [52]
    two: Array  # int32 [52 · 52]
    three: Array  # int32 [52 · 52 · 52]


class BladePart(NamedTuple):
    """Flops that a blade owns, its index, and the scale of its increments."""

    flops: BladeFlops
    number: int  # index of the blade
    scale: float  # increments are multiplied by |F| · scale, F: its flops that the hands do not block; 0: by one


class HeadGroups(NamedTuple):
    """Notes and journals of all groups of a batch, with a leading axis for the group."""

    notes: TraversalNotes
    journals: Journal


class BladeWorkspace(NamedTuple):
    """Scratch memory of one thread of a blade."""

    notes: TraversalNotes
    journal: Journal  # empty: increments are applied at once
    where: Array  # int64 [LOOKUP_BLOCK]: deals of the block


class ContinuationBatch(NamedTuple):
    """Request of the head to its blades: deals, and the nodes where traversals leave the first street."""

    keys: Array  # uint64 [deals]
    hands: Array  # uint8 [deals · 2 · hole]
    prune: Array  # bool [deals]
    start: Array  # int64 [deals + 1]: first continuation of each deal
    root: Array  # int32 [continuations]: node << 1 | traverser


class BladeAnswer(NamedTuple):
    """Response of a blade: the values of the continuations, and counts."""

    values: Array  # float32 [continuations]: value of the traverser; unchanged if no flop is possible
    counts: Array  # int32 [deals]: |F|
    decisions: Array  # int64 [2] INOUT: decisions of traversers and of opponents, of one thread


class ContinuationCuts(NamedTuple):
    """Nodes where the traversals of a batch leave the first street, in the order of the deals of each group."""

    root: Array  # int32 [groups, max cuts]: node << 1 | traverser
    slot: Array  # int32 [groups, max cuts]: slot of the value
    of_deal: Array  # int64 [batch + 1]: number of continuations of each deal
    own: Array  # int64 [groups, 3]: decisions of traversers, of opponents, cuts


# --- head -------------------------------------------------------------------------------------


@inline
def deal_first_street(game, look, deals, rule, low, count, block, hands):
    """Draw deals low … low + count - 1 of a batch with their first-street buckets, and write their hands.

    The full board is dealt as well, for all-ins on the first street.
    """
    held, size = 2 * game.hole, 2 * game.hole + game.board
    for k in range(low, low + count):
        key = random_bits(deals.seed, deals.begin + k)
        block.keys[k] = key
        deal_cards(game.deck, key, U(0), 0, block.cards, k * size, size)
        for c in range(held):
            hands[k * held + c] = block.cards[k * size + c]
    look_up_block(look, hands, low, low + count, 2, block.layers[low:], block.numbers[low:], block.buckets)
    for k in range(low, low + count):
        showdown_results(game, block, k)
        block.weight[k] = 1
        block.prune[k] = decide_pruning(rule, deals.begin + k, block.keys[k])
        for p in range(2):
            block.rows[8 * k + 4 * p] = U(game.base[0] + block.buckets[k, p, 0] * game.width[0])


@inline
def group_of(groups, g):
    """Return the notes and journal of one group."""
    notes, journals = groups.notes, groups.journals
    f = TraversalNotes(
        notes.own[g], notes.other[g], notes.at[g], notes.first[g],
        notes.sigma[g], notes.value[g], notes.cut[g], notes.sign[g],
    )  # fmt: skip
    return f, Journal(journals.head[g], journals.amount[g], journals.used[g])


@kernel
def record_batch(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1]: only read
    deals,  # DealRange: threads take groups in turn
    rule,  # UpdateRule
    groups,  # HeadGroups INOUT
    block,  # DealBlock of the size of the batch
    hands,  # uint8 [deals · 2 · hole] OUT
    cuts,  # ContinuationCuts OUT
):
    """Run the first pass: traverse the first street and record the continuations."""
    group = groups.notes.sign.shape[1] // (2 * SIGNS)
    while True:
        g = fetch_add(deals.turn)
        low = g * group
        if low >= deals.end - deals.begin:
            return
        count = min(group, deals.end - deals.begin - low)
        f, journal = group_of(groups, g)
        journal.used[0], journal.used[1] = 0, 0
        deal_first_street(game, look, deals, rule, low, count, block, hands)
        n = begin_traversals(game, cells, block, low, count, 0, 0, f)
        n = descend(game, cells, block, low, 2 * count, n, 0, rule, journal, f)
        cuts.own[g, 0], cuts.own[g, 1], cuts.own[g, 2] = n.own, n.other, n.cuts
        sort_cuts(f, low, count, n.cuts, cuts.of_deal, cuts.root[g], cuts.slot[g])


@inline
def sort_cuts(f, low, deals, cuts, count, root, slot):
    """Sort the cuts of a group by deal into `root` and `slot`, and write the number of each deal to `count`."""
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
        slot[to] = np.int32(entry >> U(7) & SLOT_MASK)
        count[k] = to + 1
    before = 0
    for k in range(deals):
        end = count[low + k]
        count[low + k] = end - before
        before = end


@kernel
def finish_batch(
    cells,  # float32 or uint16 [cells + 1]: only read
    deals,
    rule,  # UpdateRule
    turn,  # int64 [1] INOUT: the next group, shared by all threads
    groups,  # HeadGroups INOUT
    block,  # DealBlock
    start,  # int64 [deals + 1]
    cuts,  # ContinuationCuts
    values,  # float64 [continuations]
    payoff,  # float64 [groups, 2] OUT: sums of the values of each seat as traverser
):
    """Run the second pass: from the values of the continuations up to the root."""
    group = groups.notes.sign.shape[1] // (2 * SIGNS)
    while True:
        g = fetch_add(turn)
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


# --- blades -----------------------------------------------------------------------------------


def count_flops(cards: Array) -> BladeFlops:
    """Count the flops with each card, each ordered pair and each ordered triple of cards.

    `cards`: uint8 [flops, cards of a flop]
    """
    counts = []
    for many in (1, 2, 3):
        count: Array = np.zeros(CARDS**many, np.int32)
        for columns in permutations(cards.astype(np.int64).T, many):
            key = np.ravel_multi_index(columns, (CARDS,) * many)
            count += np.bincount(key, minlength=CARDS**many).astype(np.int32)
        counts.append(count)
    return BladeFlops(cards, *counts)


@inline
def count_avoiding(flops, hands, at, held):
    """Return |F|, the number of flops without any of `held` cards, which begin at index `at` of `hands`.

    It is computed by inclusion and exclusion; flops have at most three cards.
    """
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


@inline
def deal_board(game, flops, key, cards, at):
    """Draw a uniform flop of the blade that avoids both hands, then the rest of the board; `at`: offset of the deal."""
    position, held, taken = game.direct.place, 2 * game.hole, U(0)
    for c in range(at, at + held):
        taken |= U(1) << U(position[cards[c]])
    size, tries, board = flops.cards.shape[1], 0, at + held
    while True:
        number = (random_bits(key, FLOP_DRAW + tries) >> U(32)) * U(len(flops.cards)) >> U(32)
        tries += 1
        mask = U(0)
        for c in range(size):
            card = flops.cards[number, c]
            cards[board + c] = card
            mask |= U(1) << U(position[card])
        if mask & taken == U(0):
            break
    deal_cards(game.deck, key, taken | mask, 0, cards, board + size, game.board - size)


@inline
def prepare_continuations(game, look, part_of, batch, begin, end, block, where, out):
    """Deal boards, buckets and results for deals begin … end - 1 of a request, where the blade has a possible flop.

    Returns the number of such deals; `where` receives their indices, `out` the |F| of all deals.
    """
    held, size, count = 2 * game.hole, 2 * game.hole + game.board, 0
    for d in range(begin, end):
        free = count_avoiding(part_of.flops, batch.hands, d * held, held)
        out[d] = free
        if free > 0 and batch.start[d + 1] > batch.start[d]:
            for c in range(held):
                block.cards[count * size + c] = batch.hands[d * held + c]
            key = random_bits(batch.keys[d], BLADE_KEY_DRAW + part_of.number)
            deal_board(game, part_of.flops, key, block.cards, count * size)
            block.keys[count], block.prune[count] = key, batch.prune[d]
            block.weight[count] = np.float32(free * part_of.scale) if part_of.scale > 0 else np.float32(1)
            where[count] = d
            count += 1
    if count > 0:
        look_up_block(look, block.cards, 0, count, 2, block.layers, block.numbers, block.buckets)
    for k in range(count):
        showdown_results(game, block, k)
        bucket_rows(game, block.buckets, k, block.rows, k)
    return count


@kernel
def value_continuations(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1] INOUT
    part_of,  # BladePart
    batch,  # ContinuationBatch
    rule,  # UpdateRule
    turn,  # int64 [1] INOUT: the next block of deals, shared by all threads
    block,  # DealBlock
    workspace,  # BladeWorkspace: its size determines the deals of a group
    out,  # BladeAnswer OUT
):
    """Run external sampling from the continuations on. All continuations of a deal share one board."""
    f, where = workspace.notes, workspace.where
    group, last, deals = len(f.sign) // (2 * SIGNS), len(game.base) - 1, len(batch.keys)
    while True:
        begin = fetch_add(turn) * LOOKUP_BLOCK
        if begin >= deals:
            return
        count = prepare_continuations(
            game, look, part_of, batch, begin, min(begin + LOOKUP_BLOCK, deals), block, where, out.counts
        )
        for low in range(0, count, group):
            num_deals, roots = min(group, count - low), 0
            n = NoteLengths(np.int64(0), np.int64(0), np.int64(0))
            for k in range(num_deals):
                for p in range(2):
                    set_payoff_signs(block, low + k, 2 * k + p, f)
                d = where[low + k]
                for c in range(batch.start[d], batch.start[d + 1]):
                    node, traversal = batch.root[c] >> 1, 2 * k + (batch.root[c] & 1)
                    n = visit_node(game, cells, block.rows, low + k, node, roots, traversal, last, f, n)
                    roots += 1
            n = descend(game, cells, block, low, roots, n, last, rule, workspace.journal, f)
            ascend(cells, block, low, n.own, rule, workspace.journal, f)
            roots = 0
            for k in range(num_deals):
                d = where[low + k]
                for c in range(batch.start[d], batch.start[d + 1]):
                    out.values[c] = f.value[roots]
                    roots += 1
            out.decisions[0] += n.own
            out.decisions[1] += n.other
