"""Features by which hands are compared: cached tables for all of hold'em, and features of single boards.

The tables are artifacts in the user's cache folder, mapped into memory and shared between recipes. `riverboat cache`
lists and clears them. Features: E[HS], E[HS²] and histograms of hand strength, and OCHS (Johanson et al. 2013).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from riverboat.cards.equity.equities import ProgressCallback, map_chunks, starting_hand_classes
from riverboat.cards.features import hand_features
from riverboat.cards.features.hand_features import (
    MAX_STRENGTH,
    RUNOUTS,
    StrengthFeatures,
    live_deals,
    ochs_on_boards,
    published_ochs_groups,
    runout_features,
    street_rounds,
)
from riverboat.cards.isomorphism import HandIndexer
from riverboat.cards.notation import Cards, as_postflop_board
from riverboat.core import artifacts
from riverboat.core.arrays import Array, map_npy
from riverboat.core.cache import cache_folder
from riverboat.core.errors import RiverboatError
from riverboat.core.validation import check_name

HISTOGRAM_BINS = 50
FEATURES_VERSION = 1


class FeatureTable(NamedTuple):
    """Size and computing time of a feature table."""

    bytes: int
    seconds: float  # measured on one thread of a machine of 2024; used for estimates


FEATURE_TABLES = {
    "preflop": FeatureTable(169 * 8 * HISTOGRAM_BINS, 15.0),
    "flop": FeatureTable(1_286_792 * (8 + 2 * HISTOGRAM_BINS), 8.0),
    "turn": FeatureTable(13_960_050 * (8 + HISTOGRAM_BINS), 22.0),
    "strength": FeatureTable(123_156_254 * 2, 16.0),
    "ochs": FeatureTable(123_156_254 * 8, 60.0),
}


def _compute_table(name: str, threads: int, progress: ProgressCallback | None) -> dict[str, Array]:
    """Compute a feature table, a key of FEATURE_TABLES: its arrays by name, as in `load_feature_table`."""
    if name == "strength":
        return {name: hand_features.river_strengths(threads, progress)}
    if name == "ochs":  # steps of 1/255 are fine enough for 990 opponent hands
        groups = int(published_ochs_groups().max()) + 1
        out = np.empty((HandIndexer(street_rounds("river")).size(), groups), np.uint8)
        return {name: hand_features.ochs_features("river", threads=threads, progress=progress, out=out)}
    if name == "flop":
        turn = StrengthFeatures(**load_feature_table("turn", threads))
        return hand_features.flop_features_from_turn(turn, threads, progress)._asdict()
    return hand_features.street_features(name, HISTOGRAM_BINS, threads, progress)._asdict()


def table_folder(name: str) -> Path:
    """Return the cache folder of a feature table."""
    check_name("table", name, FEATURE_TABLES)
    return cache_folder() / f"features-{name}-{FEATURES_VERSION}"


def has_feature_table(name: str) -> bool:
    """Return whether a feature table is cached."""
    return (table_folder(name) / artifacts.MANIFEST).is_file()


def load_feature_table(name: str, threads: int = 1, progress: ProgressCallback | None = None) -> dict[str, Array]:
    """Load a feature table, a key of FEATURE_TABLES, from the cache, or compute and cache it.

    Arrays are `mean` (E[HS]), `square` (E[HS²]) and `histogram`, or for the river `strength` or `ochs`. The first axis
    is the canonical hand.
    """
    folder = table_folder(name)
    if has_feature_table(name):
        try:
            entries, cached = artifacts.read(folder, private=True)
            river = name in ("strength", "ochs")
            keys, street = ({name}, "river") if river else ({"mean", "square", "histogram"}, name)
            hands = HandIndexer(street_rounds(street)).size()
            contents = entries["kind"], entries.get("bins"), {*cached}
            if contents == ("features", HISTOGRAM_BINS, keys) and all(len(cached[key]) == hands for key in keys):
                return cached
        except (RiverboatError, TypeError):
            pass  # damaged: compute it again
    arrays = _compute_table(name, threads, progress)
    try:
        artifacts.discard_leftovers(folder.parent)
        artifacts.write(folder, "features", arrays, {"table": name, "bins": HISTOGRAM_BINS})
    except OSError:
        return arrays  # a cache that is not writable only costs time
    return {key: map_npy(folder / f"{key}.npy", private=True) for key in arrays}


def deal_counts(indexer: HandIndexer, threads: int = 1) -> Array:
    """Return the number of deals that each canonical hand represents. uint8 [hands]"""
    out = np.empty(indexer.size(), np.uint8)

    def work(part: slice) -> None:
        out[part] = indexer.count(np.arange(part.start, part.stop))

    map_chunks(work, len(out), threads, chunk=1 << 18)
    return out


def deal_weights(street: str, threads: int = 1) -> Array:
    """Return the number of deals that each canonical hand of a street represents. uint8 [hands]"""
    return deal_counts(HandIndexer(street_rounds(street)), threads)


# --- features of all hands on one board: a tenth of a second for a flop ------------------------------


def board_features(board: Cards, bins: int = HISTOGRAM_BINS) -> StrengthFeatures:
    """Compute E[HS], E[HS²] and normalized histograms of all hands on a flop, a turn or a river.

    Hands that the board blocks have NaN strengths and histograms of zeros.
    """
    cards = np.array([as_postflop_board(board, "board features")], np.uint8)
    live, runouts = live_deals(cards)[0][0], RUNOUTS[cards.shape[1]]
    count, first, second = (table[0] for table in runout_features(cards, bins))
    mean, square = first / (MAX_STRENGTH * runouts), second / (MAX_STRENGTH**2 * runouts)
    return StrengthFeatures(np.where(live, mean, np.nan), np.where(live, square, np.nan), count / runouts)


def board_ochs(board: Cards) -> Array:
    """Compute the mean river strength of all hands on a board against each OCHS group. float64 [1326, groups]"""
    cards = np.array([as_postflop_board(board, "board features")], np.uint8)
    shares = ochs_on_boards(cards, published_ochs_groups()[starting_hand_classes()])
    return np.asarray(shares[0] / RUNOUTS[cards.shape[1]])
