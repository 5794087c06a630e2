"""Compiled tables of what terminals are worth to buckets, for best responses inside an abstract game."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.external import COUNT_AT, OVER, SHOWDOWN, STREET
from riverboat.engines.sampling._kernels.public_chance import find_buckets, order_hands, send, settle

UNKNOWN, SEVERAL = -1, -2


class Played(NamedTuple):
    """A strategy."""

    table: Array  # float32 [moves of all information sets]: street by street and bucket by bucket
    rows: Array  # int64 [streets]: where the table of a street begins


class Parents(NamedTuple):
    """Which bucket of the street before each bucket follows."""

    before: Array  # int64 [streets]: buckets of the streets before
    parent: Array  # int64 [buckets of all streets]: the bucket that each follows; UNKNOWN, or SEVERAL


class Worth(NamedTuple):
    """What terminals are worth."""

    start: Array  # int64 [nodes]: where the buckets of a terminal begin in `value`
    value: Array  # float64 [2, buckets of all terminals]: to a seat, given that it plays to get there


@part
def note_parents(b, parents):
    """Note which bucket of the street before each bucket follows."""
    before, parent = parents.before, parents.parent
    for s in range(1, len(b.live)):
        for i in range(b.live[s]):
            at = before[s] + b.bucket[s, b.member[s, i]]
            above = b.bucket[s - 1, b.member[s - 1, i]]
            if parent[at] == UNKNOWN:
                parent[at] = above
            elif parent[at] != above:
                parent[at] = SEVERAL


@part
def settle_board(game, hands, b, played, times, f, out):
    """Add what one board makes of all terminals."""
    last, d = len(hands.shown) - 1, 0
    f.node[0], f.move[0] = 0, 0
    for i in range(b.live[0]):
        f.reach[0, 0, i] = 1
        f.reach[0, 1, i] = 1
    while d >= 0:
        node, a = f.node[d], f.move[d]
        word, first = np.int64(game.nodes[4 * node]), np.int64(game.nodes[4 * node + 1])
        street, seat, count = word & STREET, word >> 2 & 1, word >> COUNT_AT
        if a == 0:
            slot = game.nodes[4 * node + 2] // 2
            for j in range(b.kinds[street]):
                at = played.rows[street] + b.bucket[street, j] * (game.width[street] // 2) + slot
                for move in range(count):
                    f.sigma[d, move, j] = played.table[at + move]
        if a == count:
            d -= 1
            continue
        f.move[d] = a + 1
        child = first + a
        below = np.int64(game.nodes[4 * child])
        live = b.live[last] if below & SHOWDOWN else b.live[below & STREET]
        if not send(b, street, seat, a, live, f, d):
            continue
        if below & OVER == 0:
            d += 1
            f.node[d], f.move[d] = child, 0
            continue
        settle(game, hands, b, child, f, d + 1)
        for p in range(2):
            for i in range(live):
                bucket = b.bucket[street, b.member[street, i]]
                out.value[p, out.start[child] + bucket] += times * f.value[d + 1, p, i]


@kernel
def tabulate(
    game,  # Game
    look,  # LookUp
    hands,  # Hands
    b,  # Board
    f,  # HandFrames
    played,  # Played
    boards,  # uint8 [boards, cards]
    times,  # float64 [boards]: share of all boards
    parents,  # Parents INOUT
    out,  # Worth INOUT
):
    """What every terminal is worth to the buckets that both seats have on its street, over all boards."""
    for k in range(len(boards)):
        for c in range(game.board):
            b.cards[game.hole + c] = boards[k, c]
        order_hands(game, hands, b)
        find_buckets(game, look, hands, b)
        note_parents(b, parents)
        settle_board(game, hands, b, played, times[k], f, out)
