"""Compiled duplicate matches of two blueprints over one betting tree.

Hands of a block are played side by side, one decision each in turn, so that what memory takes for one is spent on the
others. All random numbers of a deal come from its key, and a decision at a node has the same one in both hands of a pair:
a strategy against itself plays the same line twice and wins nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.external import FOR_NODES, compare, deal_cards, draw, share_of

U = np.uint64
BLOCK = 64  # deals whose hands are played side by side


class Game(NamedTuple):
    """The betting tree and the cards."""

    actor: Array  # int8 [nodes]
    street: Array  # int8 [nodes]
    first: Array  # int32 [nodes]
    count: Array  # type: ignore[assignment]  # int8 [nodes]
    showdown: Array  # bool [nodes]
    pay: Array  # int32 [nodes]
    slot: Array  # int32 [nodes]
    deck: Array  # uint8 [cards]
    ranks: RankTables
    hole: int
    board: int  # cards, when all are dealt


class Side(NamedTuple):
    """What one of the two plays."""

    tables: tuple[Array, ...]  # a street each: weights of moves, flat
    stride: Array  # int64 [streets]: from the row of one bucket to that of the next; 0 where all share one


class Deals(NamedTuple):
    """Some deals, and what both strategies make of them."""

    keys: Array  # uint64 [deals]
    cards: Array  # uint8 [deals, 2 hands and board]
    result: Array  # float32 [deals]: 1 where seat 0's hand is better, -1 where it is worse
    buckets: Array  # int32 [deals, 2, streets]: as the first strategy has them
    others: Array  # int32 [deals, 2, streets]: as the second has them


class Room(NamedTuple):
    """Hands 2 k and 2 k + 1 are those of deal k of a block."""

    node: Array  # int32 [2 · BLOCK]: where each hand is
    going: Array  # int32 [2 · BLOCK]: those that are not over
    won: Array  # int64 [BLOCK]: by the first strategy, in both hands of a deal


@kernel
def draw_deals(
    game,  # Game
    seed,  # uint64: deal i has the key draw(seed, i)
    begin,  # the first deal
    keys,  # uint64 [deals] OUT
    cards,  # uint8 [deals · cards of a deal] OUT
    result,  # float32 [deals] OUT
):
    """Draw deals and compare their hands."""
    size = 2 * game.hole + game.board
    for k in range(len(keys)):
        keys[k] = draw(seed, U(begin + k))
        deal_cards(game.deck, keys[k], U(0), 0, cards, k * size, size)
        result[k] = compare(game, cards, k * size)


@part
def row_at(side, buckets, k, seat, street, slot):
    """Where the weights of a decision begin."""
    return U(np.int64(buckets[k, seat, street]) * side.stride[street] + slot)


@part
def pick(table, at, count, share):
    """A move drawn by its weight; all alike where there is none."""
    total = np.float64(0)
    for a in range(count):
        total += np.float64(table[at + U(a)])
    if total <= 0:
        return min(np.int64(share * count), count - 1)
    left = share * total
    chosen = np.int64(0)
    for a in range(count):
        weight = np.float64(table[at + U(a)])
        if weight > 0:
            chosen = a
            left -= weight
            if left < 0:
                break
    return chosen


@part
def ask(game, first, second, deals, k, swapped, node):
    """Fetch the weights that a hand needs next."""
    seat, street, slot = np.int64(game.actor[node]), np.int64(game.street[node]), np.int64(game.slot[node])
    if seat == swapped:
        prefetch(first.tables[street], row_at(first, deals.buckets, k, seat, street, slot))
    else:
        prefetch(second.tables[street], row_at(second, deals.others, k, seat, street, slot))


@kernel
def play(
    game,  # Game
    first,  # Side
    second,  # Side
    deals,  # Deals
    room,  # Room
    out,  # float64 [2] OUT: sum of what the first won with a deal, and of its square
):
    """Play every deal twice: the first strategy has seat 0 in even hands and seat 1 in odd ones."""
    total, squares = np.float64(0), np.float64(0)
    for begin in range(0, len(deals.keys), BLOCK):
        count = min(BLOCK, len(deals.keys) - begin)
        going = 2 * count
        for g in range(going):
            room.node[g] = 0
            room.going[g] = g
            room.won[g >> 1] = 0
            ask(game, first, second, deals, begin + (g >> 1), g & 1, 0)
        while going > 0:
            still = 0
            for i in range(going):
                g = np.int64(room.going[i])
                k, swapped, node = begin + (g >> 1), g & 1, np.int64(room.node[g])
                seat, street, slot = np.int64(game.actor[node]), np.int64(game.street[node]), np.int64(game.slot[node])
                moves = np.int64(game.count[node])
                share = np.float64(share_of(draw(deals.keys[k], U(FOR_NODES) + U(node))))
                if seat == swapped:
                    at = row_at(first, deals.buckets, k, seat, street, slot)
                    move = pick(first.tables[street], at, moves, share)
                else:
                    at = row_at(second, deals.others, k, seat, street, slot)
                    move = pick(second.tables[street], at, moves, share)
                node = np.int64(game.first[node]) + move
                if game.actor[node] >= 0:
                    room.node[g] = node
                    room.going[still] = g
                    still += 1
                    ask(game, first, second, deals, k, swapped, node)
                    continue
                pay = np.int64(game.pay[node])
                if game.showdown[node]:
                    pay = pay * np.int64(deals.result[k])
                room.won[g >> 1] += pay if swapped == 0 else -pay
            going = still
        for k in range(count):
            won = np.float64(room.won[k])
            total += won
            squares += won * won
    out[0] = total
    out[1] = squares
