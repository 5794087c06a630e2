"""Compiled showdowns of many ranges at once: all hands against sixteen ranges side by side, and all pairs of hands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.ranking import START, plain_value, ranked
from riverboat.cards.equity._kernels.sweep import sort_by_strength, sweep
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import LANES, load, same, store
from riverboat.core.arrays import Array

U = np.uint64
L = U(LANES)
CARDS = 53  # and the one that a hand of one card has as its second
ROWS = 8  # of pairs that are counted side by side, so that a runout's strengths stay near


class Held(NamedTuple):
    """The hands of a deck, and how they are ranked when the board is complete."""

    first: Array  # uint8 [hands]
    second: Array  # uint8 [hands]: 52 where a hand has one card
    mask: Array  # uint64 [hands]: a bit for each card
    key: Array  # uint64 [hands]: sums of ranking keys
    suits: Array  # uint64 [hands]: and of their masks
    deck: Array  # uint8 [cards]
    ranks: RankTables
    two: bool  # hands have two cards
    flushes: bool  # hands and board are large enough for them


class Room(NamedTuple):
    """Room for one board."""

    hand: Array  # int32 [hands]: those that the board leaves, from weak to strong
    spare: Array  # int32 [hands]
    digits: Array  # int64 [257]
    strength: Array  # uint16 [hands]
    first: Array  # uint8 [hands]: cards and strength, in the order of `hand`
    second: Array  # uint8 [hands]
    rank: Array  # uint16 [hands]
    reach: Array  # float64 [hands · 16]
    beats: Array  # float64 [hands · 16]
    sums: Array  # float64 [CARDS · 16]


@part
def rank_live(held, board, i, hand, strength):
    """Rank the hands that board i leaves and list them; how many they are."""
    t, key, mask, taken, live = held.ranks, START, U(0), U(0), 0
    for k in range(board.shape[1]):
        key += t.key[board[i, k]]
        mask += t.mask[board[i, k]]
        taken |= U(1) << U(board[i, k])
    for h in range(len(held.mask)):
        if held.mask[h] & taken == U(0):
            if held.flushes:
                strength[h] = ranked(key + held.key[h], mask + held.suits[h], t.offset, t.value, t.flush)
            else:
                strength[h] = plain_value(key + held.key[h], t.offset, t.value)
            hand[live] = h
            live += 1
    return live


@kernel
def add_beaten(
    held,  # Held
    boards,  # uint8 [boards, cards]: complete
    ranges,  # float64 [groups · hands · 16]: the weight of a hand in sixteen ranges, side by side
    room,  # Room
    out,  # float64 [groups · hands · 16] INOUT: twice what is weaker plus what is as strong, over all boards
):
    """What every hand beats of every range."""
    hands, zero = len(held.mask), same(room.sums, np.float64(0))
    groups = len(ranges) // (hands * LANES)
    for b in range(len(boards)):
        live = rank_live(held, boards, b, room.hand, room.strength)
        sort_by_strength(room.hand, live, room.strength, room.spare, room.digits)
        for k in range(live):
            h = room.hand[k]
            room.first[k], room.second[k], room.rank[k] = held.first[h], held.second[h], room.strength[h]
        for g in range(groups):
            base = U(g * hands)
            for k in range(live):
                store(room.reach, U(k) * L, load(ranges, (base + U(room.hand[k])) * L))
            sweep(
                held.deck, room.first, room.second, room.rank, held.two, live, room.reach, room.sums, room.beats, zero
            )
            for k in range(live):
                at = (base + U(room.hand[k])) * L
                store(out, at, load(out, at) + load(room.beats, U(k) * L))


@kernel
def rank_boards(
    held,  # Held
    boards,  # uint8 [boards, cards]: complete
    room,  # Room
    above,  # int16 [boards, hands] OUT: strength; beyond all where the board blocks the hand
    below,  # int16 [boards, hands] OUT: strength; below all where it does
):
    """Strengths of all hands on many boards."""
    for b in range(len(boards)):
        for h in range(above.shape[1]):
            above[b, h], below[b, h] = 32767, -1
        live = rank_live(held, boards, b, room.hand, room.strength)
        for k in range(live):
            h = room.hand[k]
            above[b, h] = below[b, h] = room.strength[h]


@kernel
def count_pairs(
    above,  # int16 [boards, hands]: as `rank_boards` leaves them
    below,  # int16 [boards, hands]
    out,  # int16 [hands, hands] INOUT: boards on which the row's hand is stronger less those on which it is weaker
):
    """All hands against all others; pairs that share a card are counted too, and mean nothing. The lower half alone."""
    boards, hands = above.shape
    for top in range(0, hands, ROWS):
        for b in range(boards):
            for h in range(top, min(top + ROWS, hands)):
                mine = above[b, h]
                if mine == below[b, h]:
                    for o in range(h):
                        out[h, o] += np.int16(mine > above[b, o]) - np.int16(mine < below[b, o])
