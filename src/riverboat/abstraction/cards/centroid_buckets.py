"""Turn and river buckets computed on demand from centroids, as in shipped agents.

The labels of all turns and rivers are 137 million numbers; the centroids behind them are a few thousand. A hand has the
same features as in clustering: a histogram of its strength over all rivers, its strength against eight groups of hands,
or its strength. Its bucket is the nearest centroid. A single hand is computed by itself. For many hands of a board, all
hands are computed together, with one sort and one pass over each river, and the most recent boards are cached. Labels
of a whole street can be computed once and stored in the user's cache folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from riverboat.abstraction.cards import _kernels as kernels
from riverboat.abstraction.clustering.features import HISTOGRAM_BINS
from riverboat.cards import ranking
from riverboat.cards.deck import FULL_DECK, HAND_CARDS
from riverboat.cards.equity.equities import map_chunks, starting_hand_classes
from riverboat.cards.features import hand_features
from riverboat.cards.features.hand_features import published_ochs_groups, strength_bins
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.core import artifacts, resources
from riverboat.core.arrays import Array
from riverboat.core.cache import LRUCache, cache_folder
from riverboat.core.errors import RiverboatError

BOARD_CARDS_OF_METHOD = {"histogram": 4, "ochs": 5, "strength": 5}  # board cards of each method
CENTROID_WIDTHS = {"histogram": HISTOGRAM_BINS, "ochs": 8, "strength": 1}
MIN_BOARD_HANDS = 12  # from this many hands of a board on, all hands are computed
MAX_CACHED_BOARDS = 512
_OCHS_STEPS = 255  # resolution of the OCHS tables
_CARDS = np.array(HAND_CARDS)


@dataclass(frozen=True, eq=False)
class CentroidBuckets:
    """Map from hands to buckets of one street: it computes a hand's features and finds the nearest centroid."""

    method: str  # a key of BOARD_CARDS_OF_METHOD
    centres: Array  # float32 [buckets, d]: normalized histograms, or strengths against groups
    cuts: Array  # [buckets - 1]: smallest strengths of the buckets after the first; only for `strength`
    # buckets of all hands on recent boards, int32 [1326] each
    _board_cache: LRUCache[Array] = field(default_factory=partial(LRUCache, MAX_CACHED_BOARDS), repr=False)

    def buckets(self, deals: Array) -> Array:
        """Return the buckets of hands. uint8 [n, 2 + board cards] -> int32 [n]"""
        boards = np.sort(deals[:, 2:], axis=1)
        out = np.empty(len(deals), np.int32)
        if len(deals) == 1:
            cached = self._board_cache.get(boards[0].tobytes())
            return self._buckets_hand_by_hand(deals) if cached is None else cached[FULL_DECK.hand_indices(deals[:, :2])]
        key = boards.astype(np.int64) @ (64 ** np.arange(boards.shape[1]))
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        single = []
        for group in np.split(order, starts[1:]):
            board = boards[group[0]]
            if len(group) >= MIN_BOARD_HANDS or self._board_cache.get(board.tobytes()) is not None:
                on_board = self._board_cache.get_or_compute(board.tobytes(), partial(self.buckets_on_board, board))
                out[group] = on_board[FULL_DECK.hand_indices(deals[group, :2])]
            else:
                single.append(group)
        if single:
            rest = np.concatenate(single)
            out[rest] = self._buckets_hand_by_hand(deals[rest])
        return out

    def buckets_on_board(self, board: Array) -> Array:
        """Compute the buckets of all hands on a board; blocked hands have bucket 0. uint8 [cards] -> int32 [1326]"""
        out = np.zeros(len(_CARDS), np.int32)
        live = ~(_CARDS[:, :, None] == board).any(axis=(1, 2))
        out[live] = self._nearest_centroids(self._board_features(board)[live])
        return out

    def _board_features(self, board: Array) -> Array:
        """Compute the features of all hands on a board, as for clustering. uint8 [cards] -> [1326, d]"""
        if self.method == "histogram":
            return np.asarray(hand_features.runout_features(board[None], HISTOGRAM_BINS)[0][0])
        if self.method == "strength":
            return hand_features.strengths_on_boards(board[None])[0, :, None]
        return np.asarray(np.rint(_OCHS_STEPS * hand_features.ochs_on_boards(board[None], self._opponent_groups)[0]))

    def _buckets_hand_by_hand(self, deals: Array) -> Array:
        """Compute the buckets of some hands, each by itself. uint8 [n, 2 + board cards] -> int32 [n]"""
        deals = np.ascontiguousarray(deals, np.uint8)
        if self.method == "ochs":
            double_wins, opponent_counts = np.zeros((2, CENTROID_WIDTHS["ochs"]))
            shares = np.empty((len(deals), len(double_wins)))
            scratch = double_wins, opponent_counts
            kernels.river_group_equities(deals, ranking.rank_tables(7), self._opponent_groups, *scratch, shares)
            return self._nearest_centroids(np.rint(_OCHS_STEPS * shares))
        if self.method == "strength":
            return self._nearest_centroids(_river_strengths(deals)[:, None])
        deal, river = np.nonzero(~(deals[:, :, None] == np.arange(52)).any(axis=1))
        bins = _BIN_OF[_river_strengths(np.column_stack([deals[deal], river]))]
        counts = np.bincount(deal * HISTOGRAM_BINS + bins, minlength=len(deals) * HISTOGRAM_BINS)
        return self._nearest_centroids(counts.reshape(len(deals), HISTOGRAM_BINS))

    def _nearest_centroids(self, features: Array) -> Array:
        """Return the nearest centroid, or for `strength` the interval between cuts, of features. [n, d] -> int32 [n]"""
        if self.method == "strength":
            return np.searchsorted(self.cuts, features[:, 0], side="right").astype(np.int32)
        rows, sums, number = self._sorted_rows
        out = np.empty(len(features), np.int32)
        points = _feature_rows(features, self.method)
        kernels.nearest_centroid(points, rows, sums, number, self.method == "histogram", out)
        return out

    @cached_property
    def _sorted_rows(self) -> tuple[Array, Array, Array]:
        """Centroids as rows in order of their sums, the sums, and the index of each centroid."""
        rows = _feature_rows(self.centres, self.method)
        sums = rows.sum(axis=1)
        number = np.argsort(sums, kind="stable").astype(np.int32)
        return np.ascontiguousarray(rows[number]), sums[number], number

    @cached_property
    def _opponent_groups(self) -> Array:
        """OCHS group of each of the opponent's hands. int8 [1326]"""
        return np.asarray(published_ochs_groups()[starting_hand_classes()])


_BIN_OF = strength_bins(HISTOGRAM_BINS)


def _river_strengths(deals: Array) -> Array:
    """Return 2 wins + ties of hands and their full boards against all other hands. uint8 [n, 7] -> int64 [n]"""
    shares = hand_features.hand_strengths_on_boards(deals[:, :2], deals[:, 2:])
    return np.asarray(np.rint(hand_features.MAX_STRENGTH * shares), np.int64)


def _feature_rows(features: Array, method: str) -> Array:
    """Return rows to measure distances between: cumulative normalized histograms, or points. float32 [n, width]"""
    features = np.asarray(features, np.float64)
    if method != "histogram":
        return np.ascontiguousarray(features, np.float32)
    sums = np.cumsum(features, axis=1)
    return np.ascontiguousarray(sums[:, :-1] / sums[:, -1:], np.float32)


# --- cached labels of a whole street ------------------------------------------------------------------

LABELS_KIND = "labels"
LABELS_VERSION = 1
_CHUNK_BOARDS = 64


def labels_folder(buckets: CentroidBuckets) -> Path:
    """Return the cache folder of a street's labels; its name contains a hash of the centroids."""
    digest = hashlib.sha256(buckets.method.encode())
    for array in (buckets.centres, buckets.cuts):
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return cache_folder() / f"labels-{buckets.method}-{digest.hexdigest()[:16]}-{LABELS_VERSION}"


def has_cached_labels(buckets: CentroidBuckets) -> bool:
    """Return whether the labels of all hands of the street are cached."""
    return (labels_folder(buckets) / artifacts.MANIFEST).is_file()


def load_labels(
    buckets: CentroidBuckets, threads: int | None = None, progress: Callable[[float], None] | None = None
) -> Array:
    """Load the bucket of every canonical hand from the cache, or compute and cache it. uint16 [1, hands]"""
    folder, indexer = labels_folder(buckets), HandIndexer((2, BOARD_CARDS_OF_METHOD[buckets.method]))
    if has_cached_labels(buckets):
        try:
            entries, arrays = artifacts.read(folder, private=True)
            entries.text("kind", (LABELS_KIND,))
            return arrays.get_checked("labels", ("uint16",), (1, indexer.size()), 0, max(len(buckets.centres) - 1, 0))
        except RiverboatError:
            pass  # damaged: compute it again
    labels = compute_labels(buckets, threads or resources.available_cores(), progress)
    try:
        artifacts.discard_leftovers(folder.parent)
        meta = {"method": buckets.method, "buckets": len(buckets.centres)}
        artifacts.write(folder, LABELS_KIND, {"labels": labels}, meta)
    except OSError:
        pass  # a cache that is not writable only costs time
    return labels


def compute_labels(buckets: CentroidBuckets, threads: int, progress: Callable[[float], None] | None = None) -> Array:
    """Compute the bucket of every canonical hand. uint16 [1, hands]"""
    indexer = HandIndexer((2, BOARD_CARDS_OF_METHOD[buckets.method]))
    boards, _ = canonical_boards(BOARD_CARDS_OF_METHOD[buckets.method])
    out = np.empty((1, indexer.size()), np.uint16)

    def work(part: slice) -> None:
        for board in boards[part]:
            live, dealt = hand_features.live_deals(board[None])
            out[0, indexer.index(dealt, check=False)] = buckets.buckets_on_board(board)[live[0]]

    map_chunks(work, len(boards), threads, progress, chunk=_CHUNK_BOARDS)
    return out
