"""Features of all hold'em hands on one board, computed on the spot: a tenth of a second for a flop.

`riverboat.cards.features.street_features` has them for every canonical hand of a street.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.clustering.points import BINS
from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity._kernels import showdown as kernels
from riverboat.cards.equity.equities import hand_classes
from riverboat.cards.features.street_features import FULL, bin_numbers, published_groups
from riverboat.cards.notation import Cards, as_board
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

_CARDS = np.array(HAND_CARDS)
_RUNOUTS = {3: 1081, 4: 46, 5: 1}  # by the cards of the board, for a hand


@dataclass(frozen=True, eq=False)
class BoardFeatures:
    """Strength of all hold'em hands on one board; NaN and zeros where the board blocks a hand."""

    mean: Array  # float64 [1326]: E[HS]
    square: Array  # float64 [1326]: E[HS²]
    histogram: Array  # float64 [1326, bins]: of river strength, mass one


def board_features(board: Cards, bins: int = BINS) -> BoardFeatures:
    """E[HS], E[HS²] and histograms of all hands on a flop, a turn or a river."""
    cards = _postflop(board)
    live = ~np.isin(_CARDS, cards).any(axis=1)
    tables, bin_of = ranking.tables(7), bin_numbers(bins)
    count = np.zeros((1, 1326, bins), np.uint16)
    first, second = np.zeros((1, 1326), np.int64), np.zeros((1, 1326), np.int64)
    here, below = np.array([cards], np.uint8), np.zeros(52, np.int32)
    if len(cards) == 5:
        strength = np.empty((1, 1326), np.uint16)
        kernels.strength_boards(here, _CARDS, tables, kernels.scratch(), below, strength)
        held = np.flatnonzero(live)
        first[0, held] = strength[0, held]
        second = first**2
        count[0, held, bin_of[strength[0, held]]] = 1
    else:
        kernels.runout_features(
            here, _CARDS, tables, kernels.scratch(), below, np.zeros(5, np.uint8), bin_of, count, first, second
        )
    runouts = _RUNOUTS[len(cards)]
    mean, square = first[0] / (FULL * runouts), second[0] / (FULL**2 * runouts)
    return BoardFeatures(np.where(live, mean, np.nan), np.where(live, square, np.nan), count[0] / runouts)


def board_ochs(board: Cards) -> Array:
    """Strength of all hands on a board against each published group of starting hands. float64 [1326, groups]"""
    cards = _postflop(board)
    groups = published_groups()
    count = int(groups.max()) + 1
    shares = np.zeros((1, 1326, count))
    kernels.group_boards(
        np.array([cards], np.uint8), _CARDS, groups[hand_classes()].astype(np.int8), ranking.tables(7),
        kernels.scratch(count), np.zeros(5, np.uint8), np.zeros((1326, count)), shares,
    )  # fmt: skip
    return np.asarray(shares[0] / _RUNOUTS[len(cards)])


def _postflop(board: Cards) -> tuple[int, ...]:
    cards = as_board(board)
    if not cards:
        raise InputError("features of a board need 3 to 5 cards, such as Td9d6h")
    return cards
