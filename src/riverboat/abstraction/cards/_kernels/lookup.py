"""Compiled look-up of buckets. Other loops call `look_up_block` for some deals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards._kernels.isomorphism import IndexTables, close, deal, number_at, start, take
from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array

STREETS = 4
BLOCK = 64  # deals whose table entries are asked for before the first is needed


class Street(NamedTuple):
    """How the hands of one street find their buckets. Empty arrays: that step is left out."""

    labels: Array  # uint16 or int32 [layers, hands]: buckets, or values to be cut; empty: the number is the bucket
    layer: Array  # uint8 [boards, public buckets]: which layer of labels a board has for a public bucket
    cuts: Array  # uint16 or int32 [parents, n - 1], as labels: least values of parts 1, 2, … of a parent's n parts


class LookUp(NamedTuple):
    """All streets, the first before any board. There are always STREETS of them, so that loops are compiled once."""

    streets: tuple[Street, ...]  # those that the game does not have are empty
    numbering: IndexTables  # numbers of hands and boards, joined
    hand: Array  # int64 [streets, 2]: where those of the hands of a street begin in `numbering`
    board: Array  # int64 [streets, 2]: and those of its boards
    flop: Array  # int64 [2]: and those of the boards that decide the public bucket
    public: Array  # int32 [those boards]: public buckets; empty where there are none
    shown: Array  # int64 [streets]: board cards that lie on each
    hole: int
    decides: int  # board cards that decide the public bucket


@part
def number_of(look, state, at):
    """The number of cards; `at` says where their tables begin."""
    return number_at(look.numbering, state, at[0], at[1])


@part
def bucket_at(look, r, layer, number, parent):
    """The bucket of a hand by its layer and number on street r; `parent` is its bucket on the street before."""
    street = look.streets[r]
    if street.labels.size == 0:
        return number
    value = np.int64(street.labels[layer, number])
    if street.cuts.size == 0:
        return value
    family = parent if len(street.cuts) > 1 else np.int64(0)
    cuts = street.cuts[family]
    low, some = np.int64(0), np.int64(len(cuts))
    while some > 1:  # how many cuts are not above the value; no branch to predict
        half = some >> 1
        low += half * np.int64(cuts[low + half - 1] <= value)
        some -= half
    low += np.int64(some == 1 and cuts[low] <= value)
    return family * (len(cuts) + 1) + low


@part
def places(
    look,  # LookUp
    cards,  # uint8, flat: at `at` the hole cards of all players and the board
    at,
    players,
    streets,  # that the board has reached
    layers,  # int64 [streets] OUT
    numbers,  # int64 [players, streets] OUT
):
    """Where the labels of a deal's hands lie. The board is one round on every street, so cards add up."""
    t, hole = look.numbering, look.hole
    board = at + players * hole
    if look.public.size:
        public = np.int64(-1)
        dealt = (0, 0, 0)
        for r in range(1, streets):
            street = look.streets[r]
            dealt = take(t, 0, dealt, cards, board + look.shown[r - 1], look.shown[r] - look.shown[r - 1])
            if look.shown[r] == look.decides:
                public = np.int64(look.public[number_of(look, close(t, start(), dealt, look.shown[r]), look.flop)])
            layers[r] = 0
            if len(street.labels) > 1:
                layers[r] = street.layer[
                    number_of(look, close(t, start(), dealt, look.shown[r]), look.board[r]), public
                ]
    for p in range(players):
        held = deal(t, start(), cards, at + p * hole, hole)
        numbers[p, 0] = number_of(look, held, look.hand[0])
        dealt = (0, 0, 0)
        for r in range(1, streets):
            dealt = take(t, held[0], dealt, cards, board + look.shown[r - 1], look.shown[r] - look.shown[r - 1])
            numbers[p, r] = number_of(look, close(t, held, dealt, look.shown[r]), look.hand[r])


@part
def look_up_block(
    look,  # LookUp
    cards,  # uint8 [deals · (players · hole + board)], flat
    begin,  # deals begin to end, at most BLOCK
    end,
    players,
    layers,  # int64 [BLOCK, streets] scratch
    numbers,  # int64 [BLOCK, players, streets] scratch
    out,  # int32 [deals, players, streets] OUT
):
    """Buckets of a block of deals. All places first, then the tables: loads from memory overlap."""
    streets = out.shape[2]
    width = players * look.hole + look.shown[streets - 1]
    for k in range(end - begin):
        places(look, cards, (begin + k) * width, players, streets, layers[k], numbers[k])
    for k in range(end - begin):
        for p in range(players):
            bucket = np.int64(0)
            for r in range(streets):
                bucket = bucket_at(look, r, layers[k, r], numbers[k, p, r], bucket)
                out[begin + k, p, r] = bucket


@kernel
def look_up(look, cards, players, layers, numbers, out):
    """Buckets of many deals, as in `look_up_block`."""
    for begin in range(0, len(out), BLOCK):
        look_up_block(look, cards, begin, min(begin + BLOCK, len(out)), players, layers, numbers, out)
