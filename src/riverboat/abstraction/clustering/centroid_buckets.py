"""Buckets of turn and river that are computed when they are asked for, from centres: what an agent is shipped with.

Labels of all turns and rivers are 137 million numbers; the centres that they come from are a few thousand. A hand is
described as it was when the clusters were made (a histogram of its strength on all rivers, its strength against eight groups,
or its strength), and its bucket is the centre next to it. One hand is described by itself; where many hands of a board are
asked for, all of them are, by one sort and one sweep of each river, and the last boards are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from riverboat.abstraction.clustering._kernels import centroid as kernels
from riverboat.abstraction.clustering.points import BINS
from riverboat.cards import ranking
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity.equities import hand_classes
from riverboat.cards.features import board_features
from riverboat.cards.features.street_features import bin_numbers, published_groups
from riverboat.core.arrays import Array

METHODS = {"histogram": 4, "ochs": 5, "strength": 5}  # board cards that each is for
CENTRE_SIZES = {"histogram": BINS, "ochs": 8, "strength": 1}
MANY = 12  # hands of a board that are asked for: then all are computed
KEPT = 512  # boards
_STEPS = 255  # of a share, as tables of OCHS have it
_CARDS = np.array(HAND_CARDS)


@dataclass(frozen=True, eq=False)
class CentreBuckets:
    """The buckets of one street."""

    method: str  # one of METHODS
    centres: Array  # float32 [buckets, d]: histograms of mass one, or strengths against groups
    cuts: Array  # [buckets - 1]: least strengths of the buckets above the first; `strength` alone
    _boards: dict[bytes, Array] = field(default_factory=dict, repr=False)  # int32 [1326]: of the last boards

    def of(self, deals: Array) -> Array:
        """Buckets of hands. uint8 [n, 2 + cards of the board] -> int32 [n]"""
        boards = np.sort(deals[:, 2:], axis=1)
        out = np.empty(len(deals), np.int32)
        if len(deals) == 1:
            known = self._boards.get(boards[0].tobytes())
            return self._apart(deals) if known is None else known[_numbers(deals)]
        key = boards.astype(np.int64) @ (64 ** np.arange(boards.shape[1]))
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        alone = []
        for here in np.split(order, starts[1:]):
            board = boards[here[0]]
            if len(here) >= MANY or board.tobytes() in self._boards:
                out[here] = self._all(board)[_numbers(deals[here])]
            else:
                alone.append(here)
        if alone:
            rest = np.concatenate(alone)
            out[rest] = self._apart(deals[rest])
        return out

    def _all(self, board: Array) -> Array:
        """Of all hands on a board; those that it blocks have bucket 0. int32 [1326]"""
        key = board.tobytes()
        known = self._boards.get(key)
        if known is None:
            known = self._boards[key] = self.on_board(board)
            for old in list(self._boards)[:-KEPT]:
                self._boards.pop(old, None)
        return known

    def on_board(self, board: Array) -> Array:
        """The same, computed. uint8 [cards] -> int32 [1326]"""
        out = np.zeros(len(_CARDS), np.int32)
        live = ~(_CARDS[:, :, None] == board).any(axis=(1, 2))
        out[live] = self._labels(self._features(board)[live])
        return out

    def _features(self, board: Array) -> Array:
        """Of all hands on a board. uint8 [cards] -> [1326, d]"""
        if self.method == "histogram":
            return board_features.turn_histograms(board, BINS)
        if self.method == "strength":
            return board_features.river_strengths(board)[:, None]
        return np.asarray(np.rint(_STEPS * board_features.river_shares(board, self._group)))

    def _apart(self, deals: Array) -> Array:
        """Of some hands, each by itself."""
        tables, room = ranking.tables(7), (np.zeros(self._groups), np.zeros(self._groups))
        deals = np.ascontiguousarray(deals, np.uint8)
        if self.method == "histogram":
            count = np.zeros((len(deals), BINS), np.uint16)
            kernels.turn_histograms(deals, tables, self._group, _BIN_OF, np.zeros(7, np.uint8), *room, count)
            return self._labels(count)
        shares = np.empty((len(deals), self._groups))
        kernels.river_shares(deals, tables, self._group, *room, shares)
        return self._labels(np.rint((_STEPS if self.method == "ochs" else board_features.FULL) * shares))

    def _labels(self, features: Array) -> Array:
        """The nearest centres. [n, d] -> int32 [n]"""
        if self.method == "strength":
            return np.searchsorted(self.cuts, features[:, 0], side="right").astype(np.int32)
        rows, sums, number = self._rows
        out = np.empty(len(features), np.int32)
        kernels.nearest(_as_rows(features, self.method), rows, sums, number, self.method == "histogram", out)
        return out

    @cached_property
    def _rows(self) -> tuple[Array, Array, Array]:
        """Centres as rows by their sums, the sums, and which centre each is."""
        rows = _as_rows(self.centres, self.method)
        sums = rows.sum(axis=1)
        number = np.argsort(sums, kind="stable").astype(np.int32)
        return np.ascontiguousarray(rows[number]), sums[number], number

    @cached_property
    def _group(self) -> Array:
        """Groups of the opponent's hands. int8 [1326]"""
        return published_groups()[hand_classes()] if self.method == "ochs" else np.zeros(len(_CARDS), np.int8)

    @property
    def _groups(self) -> int:
        return int(self._group.max()) + 1


_BIN_OF = bin_numbers(BINS)


def _as_rows(features: Array, method: str) -> Array:
    """In which distances are measured: cumulative histograms at mass one, or points as they are. float32 [n, width]"""
    features = np.asarray(features, np.float64)
    if method != "histogram":
        return np.ascontiguousarray(features, np.float32)
    sums = np.cumsum(features, axis=1)
    return np.ascontiguousarray(sums[:, :-1] / sums[:, -1:], np.float32)


def _numbers(deals: Array) -> Array:
    """Which of the 1,326 hands each deal begins with."""
    high, low = (deals[:, :2].max(axis=1).astype(np.int64), deals[:, :2].min(axis=1).astype(np.int64))
    numbers: Array = high * (high - 1) // 2 + low
    return numbers
