"""Compiled traversals of one deal over betting tree × buckets: chance sampling and pure CFR.

Chance sampling (Zinkevich et al. 2007) samples the cards and traverses all actions of both players with two reach
probabilities. Pure CFR (Gibson 2014, *Regret Minimization in Games and the Development of Champion Multiplayer Computer
Poker-Playing Agents*) samples an action of every player as well: the opponent's is followed, and the traverser's is the
baseline of its other actions. Payoffs are then whole chips, and so are the regrets.

A traversal writes a list of nodes, with the children of a decision adjacent, and processes it backwards for the values.
Random numbers are those of `riverboat.engines.sampling._kernels.external`: number k of the deal's key, two for each
node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels import LOOKUP_BLOCK
from riverboat.compiled.atomics import fetch_add
from riverboat.compiled.jit import inline, kernel
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
from riverboat.engines.sampling._kernels.deal import low_bits, prepare_deals, random_bits, uniform_from_bits
from riverboat.engines.sampling._kernels.external import (
    COUNT_SHIFT,
    FIRST_NODE_DRAW,
    ROW_MASK,
    SHOWDOWN_BIT,
    STREET_MASK,
    TERMINAL_BIT,
)

U = np.uint64
CELLS_PER_LINE = 16  # cells of one prefetch
PREFETCH_CELLS = 1024  # most cells of a row that are prefetched


class VisitList(NamedTuple):
    """Memory of one traversal: a list of nodes, as long as the tree has nodes."""

    node: Array  # int32 [entries]
    first: Array  # int32 [entries]: index of the first child; 0 without children
    reach: Array  # float32 [entries, 2]: reach of each seat; pure CFR: the sampled action
    share: Array  # float32 [entries]: probability of the action that leads here
    value: Array  # float32 [entries]: value of seat 0; pure CFR: of the traverser


@inline
def first_cell(game, block, k, node):
    """Return the first cell of a decision for deal k of a block: of the row of the actor's bucket."""
    at = U(node) << U(2)
    return block.rows[U(k) << U(3) | U(game.nodes[at]) & U(ROW_MASK)] + U(game.nodes[at | U(2)])


@inline
def terminal_payoff(game, block, k, node):
    """Return the payoff of seat 0 at a terminal for deal k of a block."""
    at = U(node) << U(2)
    pay = game.pay[at | U(3)]
    word = game.nodes[at]
    return pay * block.result[U(k) << U(2) | U(word & STREET_MASK)] if word & SHOWDOWN_BIT else pay


@inline
def prefetch_rows(game, cells, block, k):
    """Prefetch the table rows of deal k, which is traversed next."""
    for r in range(len(game.base)):
        for p in range(2):
            row = block.rows[8 * k + 4 * p + r]
            for c in range(0, min(game.width[r], PREFETCH_CELLS), CELLS_PER_LINE):
                prefetch(cells, row + U(c))


# --- chance sampling --------------------------------------------------------------------------


@inline
def traverse_deal(game, cells, block, k, share, v):
    """Traverse all actions for deal k and update both seats; return the value of seat 0 and the number of decisions.

    Nodes that neither seat reaches are skipped: their values are multiplied by zero everywhere.
    """
    zero, one = np.float32(0), np.float32(1)
    v.node[0], v.share[0] = 0, one
    v.reach[0, 0], v.reach[0, 1] = one, one
    used, i, visited = 1, 0, 0
    while i < used:
        node = v.node[U(i)]
        word = game.nodes[U(node) << U(2)]
        v.first[U(i)] = 0
        v.value[U(i)] = zero
        if word & TERMINAL_BIT:
            v.value[U(i)] = terminal_payoff(game, block, k, node)
        elif v.reach[U(i), U(0)] > zero or v.reach[U(i), U(1)] > zero:
            visited += 1
            count, seat = np.int64(word) >> COUNT_SHIFT, np.int64(word) >> 2 & 1
            at = first_cell(game, block, k, node)
            scale, rest = regret_matching_scale(cells, at, count)
            own, other = v.reach[U(i), U(seat)], v.reach[U(i), U(1 - seat)]
            noise = low_bits(random_bits(block.keys[k], U(FIRST_NODE_DRAW) + U(2 * node)))
            v.first[U(i)] = used
            for a in range(count):
                p = action_probability(cells, at + U(a), scale, rest)
                v.node[U(used)] = game.nodes[U(node) << U(2) | U(1)] + a
                v.share[U(used)] = p
                v.reach[U(used), U(seat)] = own * p
                v.reach[U(used), U(1 - seat)] = other
                used += 1
                if own > zero:
                    cell = at + U(count + a)
                    set_average(cells, cell, average_at(cells, cell) + np.float64(own * p) * share, noise)
        i += 1
    for i in range(used - 1, -1, -1):
        first = v.first[U(i)]
        if first == 0:
            continue
        node = v.node[U(i)]
        word = np.int64(game.nodes[U(node) << U(2)])
        count, seat = word >> COUNT_SHIFT, word >> 2 & 1
        total = zero
        for a in range(first, first + count):
            total += v.share[U(a)] * v.value[U(a)]
        v.value[U(i)] = total
        gain = v.reach[U(i), U(1 - seat)] * np.float32(1 - 2 * seat)
        if gain != zero:
            at = first_cell(game, block, k, node)
            noise = low_bits(random_bits(block.keys[k], U(FIRST_NODE_DRAW) + U(2 * node + 1)))
            for a in range(count):
                cell = at + U(a)
                set_regret(cells, cell, regret_at(cells, cell) + gain * (v.value[U(first + a)] - total), noise)
    return v.value[0], visited


# --- pure CFR ---------------------------------------------------------------------------------


@inline
def sample_action(cells, at, count, bits):
    """Sample one of `count` actions by regret matching on the cells from `at` on, with 64 random bits."""
    scale, rest = regret_matching_scale(cells, at, count)
    x, chosen, sum_so_far = uniform_from_bits(bits), 0, np.float32(0)
    for a in range(count):
        sum_so_far += action_probability(cells, at + U(a), scale, rest)
        chosen += x >= sum_so_far
    return min(chosen, count - 1)  # in case rounding leaves the sum below x


@inline
def follow_opponent(game, cells, block, k, me, node, share):
    """Sample and follow the actions of the opponent of seat `me` from a node on, and update the opponent's averages.

    Returns the first node that is not a decision of the opponent, and the number of its decisions.
    """
    visited = 0
    while True:
        word = np.int64(game.nodes[U(node) << U(2)])
        if word & TERMINAL_BIT or word >> 2 & 1 == me:
            return node, visited
        visited += 1
        count, at = word >> COUNT_SHIFT, first_cell(game, block, k, node)
        bits = random_bits(block.keys[k], U(FIRST_NODE_DRAW) + U(2 * node + me))
        chosen = sample_action(cells, at, count, bits)
        cell = at + U(count + chosen)
        set_average(cells, cell, average_at(cells, cell) + share, low_bits(bits))
        node = np.int64(game.nodes[U(node) << U(2) | U(1)]) + chosen


@inline
def traverse_pure(game, cells, block, k, me, share, v):
    """Run pure CFR for deal k with seat `me` as traverser.

    Returns the traverser's value, and the numbers of its decisions and of the opponent's.
    """
    sign = np.float32(1 - 2 * me)
    node, other = follow_opponent(game, cells, block, k, me, np.int64(0), share)
    v.node[0] = node
    used, i, own = 1, 0, 0
    while i < used:
        node = np.int64(v.node[U(i)])
        word = np.int64(game.nodes[U(node) << U(2)])
        v.first[U(i)] = 0
        if word & TERMINAL_BIT:
            v.value[U(i)] = sign * terminal_payoff(game, block, k, node)
        else:
            own += 1
            count, first = word >> COUNT_SHIFT, np.int64(game.nodes[U(node) << U(2) | U(1)])
            bits = random_bits(block.keys[k], U(FIRST_NODE_DRAW) + U(2 * node + me))
            v.first[U(i)] = used
            v.reach[U(i), U(0)] = sample_action(cells, first_cell(game, block, k, node), count, bits)
            for a in range(count):
                next_node, visited = follow_opponent(game, cells, block, k, me, first + a, share)
                v.node[U(used)] = next_node
                used += 1
                other += visited
        i += 1
    for i in range(used - 1, -1, -1):
        first = v.first[U(i)]
        if first == 0:
            continue
        node = np.int64(v.node[U(i)])
        count, at = np.int64(game.nodes[U(node) << U(2)]) >> COUNT_SHIFT, first_cell(game, block, k, node)
        noise = low_bits(random_bits(block.keys[k], U(FIRST_NODE_DRAW) + U(2 * node + me)))
        total = v.value[U(first + np.int64(v.reach[U(i), U(0)]))]
        v.value[U(i)] = total
        for a in range(count):
            cell = at + U(a)
            set_regret(cells, cell, regret_at(cells, cell) + (v.value[U(first + a)] - total), noise)
    return v.value[0], own, other


# --- iterations -------------------------------------------------------------------------------


@kernel
def train_deals(
    game,  # SamplingGame
    look,  # BucketLookup
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # DealRange
    share,  # increment of an average by one visit
    pure,  # pure CFR, two traversals for each deal; else chance sampling, one traversal for both seats
    block,  # DealBlock
    v,  # VisitList
    tally,  # SamplingTally INOUT
):
    """Train on sampled deals by chance sampling or pure CFR, with immediate updates of the table: threads race."""
    while True:
        start = deals.begin + fetch_add(deals.turn) * LOOKUP_BLOCK
        if start >= deals.end:
            return
        count = min(LOOKUP_BLOCK, deals.end - start)
        prepare_deals(game, look, deals.seed, start, count, block)
        for k in range(count):
            prefetch_rows(game, cells, block, min(k + 1, count - 1))
            if pure:
                for me in range(2):
                    value, own, other = traverse_pure(game, cells, block, k, me, share, v)
                    tally.decisions[0] += own
                    tally.decisions[1] += other
                    tally.payoff[me] += value
            else:
                value, visited = traverse_deal(game, cells, block, k, share, v)
                tally.decisions[0] += visited
                tally.payoff[0] += value
                tally.payoff[1] -= value
