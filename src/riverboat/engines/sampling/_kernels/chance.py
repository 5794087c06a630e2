"""Compiled walks of one deal over betting tree × buckets: chance sampling and pure CFR.

Chance sampling (Zinkevich et al. 2007) draws the cards and walks all moves of both players with two reach probabilities. Pure
CFR (Gibson 2014, *Regret Minimization in Games and the Development of Champion Multiplayer Computer Poker-Playing Agents*)
draws a move for everybody as well: the opponent's is followed, the traverser's is what its other moves are compared with.
Pay-offs are then whole chips, and so are the regrets.

A walk writes a list, with the children of a decision side by side, and goes through it backwards for the values. Random
numbers are those of `_blueprint_kernels`: number k of the deal's key, two for each node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import BLOCK
from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.cell import average_at, regret_at, set_average, set_regret
from riverboat.engines.sampling._kernels.deal import draw, low_bits, prepare, share_of
from riverboat.engines.sampling._kernels.external import COUNT_AT, FOR_NODES, OVER, ROW, SHOWDOWN, STREET, matched

U = np.uint64
LINE = 16  # cells that are asked for at once
FAR = 1024  # cells of a row that are asked for ahead


class Visits(NamedTuple):
    """Room for one walk: a list of nodes, with as many places as the tree has."""

    node: Array  # int32 [places]
    first: Array  # int32 [places]: place of the first child; 0 where there is none
    reach: Array  # float32 [places, 2]: of each seat; pure CFR: the drawn move
    share: Array  # float32 [places]: probability of the move that leads here
    value: Array  # float32 [places]: to seat 0; pure CFR: to the traverser


@part
def first_cell(game, block, k, node):
    """Where the regrets of a decision lie for a deal."""
    place = U(node) << U(2)
    return block.rows[U(k) << U(3) | U(game.nodes[place]) & U(ROW)] + U(game.nodes[place | U(2)])


@part
def paid(game, block, k, node):
    """What seat 0 wins at a terminal."""
    place = U(node) << U(2)
    pay = game.pay[place | U(3)]
    word = game.nodes[place]
    return pay * block.result[U(k) << U(2) | U(word & STREET)] if word & SHOWDOWN else pay


@part
def ask(game, cells, block, k):
    """Ask memory for the rows of a deal; the deal before it is walked meanwhile."""
    for r in range(len(game.base)):
        for p in range(2):
            row = block.rows[8 * k + 4 * p + r]
            for c in range(0, min(game.width[r], FAR), LINE):
                prefetch(cells, row + U(c))


# --- chance sampling --------------------------------------------------------------------------


@part
def walk_deal(game, cells, block, k, share, v):
    """All moves of one deal; both seats learn. Returns the value to seat 0 and the decisions visited.

    What neither seat reaches is left out: its values are multiplied by zero wherever they go.
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
        if word & OVER:
            v.value[U(i)] = paid(game, block, k, node)
        elif v.reach[U(i), U(0)] > zero or v.reach[U(i), U(1)] > zero:
            visited += 1
            count, seat = np.int64(word) >> COUNT_AT, np.int64(word) >> 2 & 1
            at = first_cell(game, block, k, node)
            scale, rest = matched(cells, at, count)
            own, other = v.reach[U(i), U(seat)], v.reach[U(i), U(1 - seat)]
            noise = low_bits(draw(block.keys[k], U(FOR_NODES) + U(2 * node)))
            v.first[U(i)] = used
            for a in range(count):
                p = max(regret_at(cells, at + U(a)), zero) * scale + rest
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
        count, seat = word >> COUNT_AT, word >> 2 & 1
        total = zero
        for a in range(first, first + count):
            total += v.share[U(a)] * v.value[U(a)]
        v.value[U(i)] = total
        gain = v.reach[U(i), U(1 - seat)] * np.float32(1 - 2 * seat)
        if gain != zero:
            at = first_cell(game, block, k, node)
            noise = low_bits(draw(block.keys[k], U(FOR_NODES) + U(2 * node + 1)))
            for a in range(count):
                cell = at + U(a)
                set_regret(cells, cell, regret_at(cells, cell) + gain * (v.value[U(first + a)] - total), noise)
    return v.value[0], visited


@kernel
def train_chance(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # Deals
    share,  # what one visit adds to an average
    block,  # Block
    v,  # Visits
    tally,  # Tally INOUT
):
    """Chance sampling, one walk a deal for both seats, written to the table at once: threads race."""
    while True:
        start = deals.begin + take(deals.turn) * BLOCK
        if start >= deals.end:
            return
        count = min(BLOCK, deals.end - start)
        prepare(game, look, deals.seed, start, count, block)
        for k in range(count):
            ask(game, cells, block, min(k + 1, count - 1))
            won, visited = walk_deal(game, cells, block, k, share, v)
            tally.decisions[0] += visited
            tally.payoff[0] += won
            tally.payoff[1] -= won


# --- pure CFR ---------------------------------------------------------------------------------


@part
def draw_move(cells, at, count, bits):
    """A move by regret matching."""
    zero = np.float32(0)
    scale, rest = matched(cells, at, count)
    x, chosen, sum_so_far = share_of(bits), 0, zero
    for a in range(count):
        sum_so_far += max(regret_at(cells, at + U(a)), zero) * scale + rest
        chosen += x >= sum_so_far
    return min(chosen, count - 1)  # where rounding leaves the sum below x


@part
def follow(game, cells, block, k, me, node, share):
    """From a node on, the opponent's drawn moves, counted in its average. Returns where it is not its turn, and how many."""
    visited = 0
    while True:
        word = np.int64(game.nodes[U(node) << U(2)])
        if word & OVER or word >> 2 & 1 == me:
            return node, visited
        visited += 1
        count, at = word >> COUNT_AT, first_cell(game, block, k, node)
        bits = draw(block.keys[k], U(FOR_NODES) + U(2 * node + me))
        chosen = draw_move(cells, at, count, bits)
        cell = at + U(count + chosen)
        set_average(cells, cell, average_at(cells, cell) + share, low_bits(bits))
        node = np.int64(game.nodes[U(node) << U(2) | U(1)]) + chosen


@part
def walk_pure(game, cells, block, k, me, share, v):
    """One deal with one seat as traverser. Returns the value to it, its decisions and the opponent's."""
    sign = np.float32(1 - 2 * me)
    node, other = follow(game, cells, block, k, me, np.int64(0), share)
    v.node[0] = node
    used, i, own = 1, 0, 0
    while i < used:
        node = np.int64(v.node[U(i)])
        word = np.int64(game.nodes[U(node) << U(2)])
        v.first[U(i)] = 0
        if word & OVER:
            v.value[U(i)] = sign * paid(game, block, k, node)
        else:
            own += 1
            count, first = word >> COUNT_AT, np.int64(game.nodes[U(node) << U(2) | U(1)])
            bits = draw(block.keys[k], U(FOR_NODES) + U(2 * node + me))
            v.first[U(i)] = used
            v.reach[U(i), U(0)] = draw_move(cells, first_cell(game, block, k, node), count, bits)
            for a in range(count):
                there, visited = follow(game, cells, block, k, me, first + a, share)
                v.node[U(used)] = there
                used += 1
                other += visited
        i += 1
    for i in range(used - 1, -1, -1):
        first = v.first[U(i)]
        if first == 0:
            continue
        node = np.int64(v.node[U(i)])
        count, at = np.int64(game.nodes[U(node) << U(2)]) >> COUNT_AT, first_cell(game, block, k, node)
        noise = low_bits(draw(block.keys[k], U(FOR_NODES) + U(2 * node + me)))
        total = v.value[U(first + np.int64(v.reach[U(i), U(0)]))]
        v.value[U(i)] = total
        for a in range(count):
            cell = at + U(a)
            set_regret(cells, cell, regret_at(cells, cell) + (v.value[U(first + a)] - total), noise)
    return v.value[0], own, other


@kernel
def train_pure(
    game,  # Game
    look,  # LookUp
    cells,  # float32 or uint16 [cells + 1] INOUT
    deals,  # Deals
    share,  # what one visit adds to an average
    block,  # Block
    v,  # Visits
    tally,  # Tally INOUT
):
    """Pure CFR, two walks a deal, written to the table at once: threads race."""
    while True:
        start = deals.begin + take(deals.turn) * BLOCK
        if start >= deals.end:
            return
        count = min(BLOCK, deals.end - start)
        prepare(game, look, deals.seed, start, count, block)
        for k in range(count):
            ask(game, cells, block, min(k + 1, count - 1))
            for me in range(2):
                won, own, other = walk_pure(game, cells, block, k, me, share, v)
                tally.decisions[0] += own
                tally.decisions[1] += other
                tally.payoff[me] += won
