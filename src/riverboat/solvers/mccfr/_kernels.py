"""Compiled tables of terminal values by bucket, for best responses inside an abstract game."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.external import COUNT_SHIFT, SHOWDOWN_BIT, STREET_MASK, TERMINAL_BIT
from riverboat.engines.sampling._kernels.public_chance import find_buckets, order_hands, send_reach, terminal_values

UNKNOWN, AMBIGUOUS = -1, -2


class BucketStrategyTable(NamedTuple):
    """Strategies of all buckets."""

    table: Array  # float32 [infoset-actions]: probabilities, street by street and bucket by bucket
    rows: Array  # int64 [streets]: offset of a street's table


class BucketParents(NamedTuple):
    """The bucket of the previous street that each bucket follows."""

    before: Array  # int64 [streets]: number of buckets on earlier streets
    parent: Array  # int64 [buckets of all streets]: the bucket that each follows; UNKNOWN or AMBIGUOUS


class BucketTerminalValues(NamedTuple):
    """Terminal values by bucket."""

    start: Array  # int64 [nodes]: offset of a terminal's buckets in `value`
    value: Array  # float64 [2, buckets of all terminals]: counterfactual value to a seat


@inline
def record_parents(b, parents):
    """Record the bucket of the previous street that each bucket follows."""
    before, parent = parents.before, parents.parent
    for s in range(1, len(b.live)):
        for i in range(b.live[s]):
            at = before[s] + b.bucket[s, b.member[s, i]]
            above = b.bucket[s - 1, b.member[s - 1, i]]
            if parent[at] == UNKNOWN:
                parent[at] = above
            elif parent[at] != above:
                parent[at] = AMBIGUOUS


@inline
def add_board_values(game, hands, b, strategy, weight, f, out):
    """Traverse the betting on one board, and add the hands' counterfactual values at terminals by bucket to `out`.

    `weight` is the share of all boards that this one represents.
    """
    last, d = len(hands.shown) - 1, 0
    f.node[0], f.move[0] = 0, 0
    for i in range(b.live[0]):
        f.reach[0, 0, i] = 1
        f.reach[0, 1, i] = 1
    while d >= 0:
        node, a = f.node[d], f.move[d]
        word, first = np.int64(game.nodes[4 * node]), np.int64(game.nodes[4 * node + 1])
        street, seat, count = word & STREET_MASK, word >> 2 & 1, word >> COUNT_SHIFT
        if a == 0:
            slot = game.nodes[4 * node + 2] // 2
            for j in range(b.kinds[street]):
                at = strategy.rows[street] + b.bucket[street, j] * (game.width[street] // 2) + slot
                for move in range(count):
                    f.sigma[d, move, j] = strategy.table[at + move]
        if a == count:
            d -= 1
            continue
        f.move[d] = a + 1
        child = first + a
        child_word = np.int64(game.nodes[4 * child])
        live = b.live[last] if child_word & SHOWDOWN_BIT else b.live[child_word & STREET_MASK]
        reached = False
        for p in range(2):
            reached |= send_reach(b.member[street], p, a, p == seat, 0, live, f, d) > 0
        if not reached:
            continue
        if child_word & TERMINAL_BIT == 0:
            d += 1
            f.node[d], f.move[d] = child, 0
            continue
        for p in range(2):
            terminal_values(game, hands, b, child, p, p, f, d + 1)
            for i in range(live):
                bucket = b.bucket[street, b.member[street, i]]
                out.value[p, out.start[child] + bucket] += weight * f.value[d + 1, p, i]


@kernel
def tabulate_terminal_values(
    game,  # SamplingGame
    look,  # BucketLookup
    hands,  # DeckHands
    b,  # BoardWorkspace
    f,  # HandFrames
    strategy,  # BucketStrategyTable
    boards,  # uint8 [boards, cards]
    weights,  # float64 [boards]: share of all boards
    parents,  # BucketParents INOUT
    out,  # BucketTerminalValues INOUT
):
    """Sum the values of every terminal by the buckets of both seats on its street, over all boards."""
    for k in range(len(boards)):
        for c in range(game.board):
            b.cards[game.hole + c] = boards[k, c]
        order_hands(game, hands, b)
        find_buckets(game, look, hands, b)
        record_parents(b, parents)
        add_board_values(game, hands, b, strategy, weights[k], f, out)
