"""Labels of all hands of a street whose buckets are computed from centres: once, then kept in the user's cache folder.

An agent is shipped with centres and plays from them at once. Whoever deals by the million (exploitability, AIVAT, training)
looks hands up in tables; these are made board by board, just as buckets are at the table: with 100 buckets a street about 50
seconds of one core and 274 MB in all, with 500 buckets about 140 seconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from riverboat.abstraction.clustering.centroid_buckets import METHODS, CentreBuckets
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity.equities import spread
from riverboat.cards.isomorphism import Indexer, canonical_boards
from riverboat.core import artifacts, cores
from riverboat.core.arrays import Array
from riverboat.core.cache import folder as cache_folder
from riverboat.core.errors import RiverboatError

KIND = "labels"
VERSION = 1
_CARDS = np.array(HAND_CARDS)
_CHUNK = 64  # boards


def place(buckets: CentreBuckets) -> Path:
    """Where the labels of a street are kept: under a name that says which centres they are of."""
    digest = hashlib.sha256(buckets.method.encode())
    for array in (buckets.centres, buckets.cuts):
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return cache_folder() / f"labels-{buckets.method}-{digest.hexdigest()[:16]}-{VERSION}"


def have(buckets: CentreBuckets) -> bool:
    """Whether they are there already."""
    return (place(buckets) / artifacts.MANIFEST).is_file()


def labels(
    buckets: CentreBuckets, threads: int | None = None, progress: Callable[[float], None] | None = None
) -> Array:
    """The bucket of every canonical hand, mapped into memory where it is kept, else computed and kept. uint16 [1, hands]"""
    folder, indexer = place(buckets), Indexer((2, METHODS[buckets.method]))
    if have(buckets):
        try:
            entries, kept = artifacts.read(folder, private=True)
            entries.text("kind", (KIND,))
            return kept.take("labels", ("uint16",), (1, indexer.size()), 0, max(len(buckets.centres) - 1, 0))
        except RiverboatError:
            pass  # spoilt: made again
    made = compute(buckets, threads or cores.available_cores(), progress)
    try:
        artifacts.discard_leftovers(folder.parent)
        artifacts.write(folder, KIND, {"labels": made}, {"method": buckets.method, "buckets": len(buckets.centres)})
    except OSError:
        pass  # a place that cannot be written to only costs time
    return made


def compute(buckets: CentreBuckets, threads: int, progress: Callable[[float], None] | None = None) -> Array:
    """The same, computed. uint16 [1, hands]"""
    indexer = Indexer((2, METHODS[buckets.method]))
    boards, _ = canonical_boards(METHODS[buckets.method])
    out = np.empty((1, indexer.size()), np.uint16)

    def work(part: slice) -> tuple[Array, ...]:
        for board in boards[part].astype(np.uint8):
            live = ~(_CARDS[:, :, None] == board).any(axis=(1, 2))
            dealt = np.concatenate([_CARDS[live], np.broadcast_to(board, (int(live.sum()), len(board)))], axis=1)
            out[0, indexer.index(dealt, check=False)] = buckets.on_board(board)[live]
        return ()

    spread(work, len(boards), threads, progress, chunk=_CHUNK)
    return out
