"""What all hands of one board are like, by one sort and one sweep of each river; `features` has it for whole streets."""

from __future__ import annotations

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity._kernels import showdown as kernels
from riverboat.cards.features.street_features import FULL as FULL  # the strength of a hand that beats everything
from riverboat.cards.features.street_features import bin_numbers
from riverboat.core.arrays import Array

_CARDS = np.array(HAND_CARDS)


def turn_histograms(board: Array, bins: int) -> Array:
    """Rivers by the strength that each hand has there. uint8 [4] -> uint16 [1326, bins]"""
    count = np.zeros((1, len(_CARDS), bins), np.uint16)
    first, second = np.zeros((1, len(_CARDS)), np.int64), np.zeros((1, len(_CARDS)), np.int64)
    kernels.runout_features(
        np.ascontiguousarray(board, np.uint8)[None], _CARDS, ranking.tables(7), kernels.scratch(), np.zeros(52, np.int32),
        np.zeros(5, np.uint8), bin_numbers(bins), count, first, second,
    )  # fmt: skip
    out: Array = count[0]
    return out


def river_strengths(board: Array) -> Array:
    """2 wins + ties of every hand, of FULL; 65535 where the board blocks it. uint8 [5] -> uint16 [1326]"""
    out = np.empty((1, len(_CARDS)), np.uint16)
    shown = np.ascontiguousarray(board, np.uint8)[None]
    kernels.strength_boards(shown, _CARDS, ranking.tables(7), kernels.scratch(), np.zeros(52, np.int32), out)
    strengths: Array = out[0]
    return strengths


def river_shares(board: Array, group: Array) -> Array:
    """Share of each group of hands that a hand beats. uint8 [5], int8 [1326] -> float64 [1326, groups]"""
    groups = int(group.max()) + 1
    out, room = np.zeros((1, len(_CARDS), groups)), np.zeros((len(_CARDS), groups))
    shown = np.ascontiguousarray(board, np.uint8)[None]
    kernels.group_boards(
        shown, _CARDS, group, ranking.tables(7), kernels.scratch(groups), np.zeros(5, np.uint8), room, out
    )
    shares: Array = out[0]
    return shares
