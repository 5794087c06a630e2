"""What hands are compared by, for all of hold'em: tables of features, kept on disk and shared between recipes.

The tables lie in the user's cache folder as artefacts and are mapped into memory, so that a second recipe begins at once;
`riverboat cache` shows and clears them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from riverboat.cards.equity.equities import spread
from riverboat.cards.features import street_features
from riverboat.cards.isomorphism import Indexer
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.cache import folder as cache_folder
from riverboat.core.errors import InputError, RiverboatError, unknown
from riverboat.core.npy_file import map_numbers

Progress: TypeAlias = Callable[[float], None]
BINS = 50
VERSION = 1


@dataclass(frozen=True)
class Table:
    """A table of features and what it costs."""

    name: str
    bytes: int
    seconds: float  # on one thread of a machine of 2024, measured; a guide for estimates
    make: Callable[[int, Progress | None], dict[str, Array]]


def _turn(threads: int, progress: Progress | None) -> dict[str, Array]:
    strengths = street_features.features("turn", BINS, threads, progress)
    return {"mean": strengths.mean, "square": strengths.square, "histogram": strengths.histogram}


def _flop(threads: int, progress: Progress | None) -> dict[str, Array]:
    turn = table("turn", threads)
    before = street_features.Features("turn", turn["mean"], turn["square"], turn["histogram"])
    strengths = street_features.flop_from_turn(before, threads, progress)
    return {"mean": strengths.mean, "square": strengths.square, "histogram": strengths.histogram}


def _preflop(threads: int, progress: Progress | None) -> dict[str, Array]:
    strengths = street_features.features("preflop", BINS, threads, progress)
    return {"mean": strengths.mean, "square": strengths.square, "histogram": strengths.histogram}


def _strength(threads: int, progress: Progress | None) -> dict[str, Array]:
    return {"strength": street_features.river_strengths(threads, progress)}


def _ochs(threads: int, progress: Progress | None) -> dict[str, Array]:
    groups = (
        int(street_features.published_groups().max()) + 1
    )  # steps of 1/255 are finer than 990 opponents can tell apart
    out = np.empty((Indexer(street_features.rounds("river")).size(), groups), np.uint8)
    street_features.ochs("river", threads=threads, progress=progress, out=out)
    return {"ochs": out}


TABLES = {
    kind.name: kind
    for kind in (
        Table("preflop", 169 * 8 * BINS, 15.0, _preflop),
        Table("flop", 1_286_792 * (8 + 2 * BINS), 8.0, _flop),
        Table("turn", 13_960_050 * (8 + BINS), 22.0, _turn),
        Table("strength", 123_156_254 * 2, 16.0, _strength),
        Table("ochs", 123_156_254 * 8, 60.0, _ochs),
    )
}


_SHAPES = {"strength": (("strength",), "river"), "ochs": (("ochs",), "river")}  # arrays, and the street of their hands


def place(name: str) -> Path:
    """Where a table is kept."""
    if name not in TABLES:
        raise unknown("table", name, TABLES)
    return cache_folder() / f"features-{name}-{VERSION}"


def have(name: str) -> bool:
    """Whether a table is there already."""
    return (place(name) / artifacts.MANIFEST).is_file()


def table(name: str, threads: int = 1, progress: Progress | None = None) -> dict[str, Array]:
    """The arrays of a table, mapped into memory where they are kept, else computed and kept."""
    folder = place(name)
    if have(name):
        try:
            entries, kept = artifacts.read(folder, private=True)
            keys, hands = _SHAPES.get(name, (("mean", "square", "histogram"), name))
            right = all(len(kept[key]) == Indexer(street_features.rounds(hands)).size() for key in keys)
            if right and (entries["kind"], entries.get("bins"), {*keys}) == ("features", BINS, {*kept}):
                return kept
        except (RiverboatError, TypeError):
            pass  # spoilt: made again
    arrays = TABLES[name].make(threads, progress)
    try:
        artifacts.discard_leftovers(folder.parent)
        artifacts.write(folder, "features", arrays, {"table": name, "bins": BINS})
    except OSError:
        return arrays  # a place that cannot be written to only costs time
    return {key: map_numbers(folder / f"{key}.npy", private=True) for key in arrays}


def weights(street: str, threads: int = 1) -> Array:
    """How many deals each canonical hand of a street stands for. uint8 [hands]"""
    indexer = Indexer(street_features.rounds(street))
    out = np.empty(indexer.size(), np.uint8)

    def work(part: slice) -> tuple[Array, ...]:
        out[part] = indexer.count(np.arange(part.start, part.stop))
        return ()

    spread(work, len(out), threads, chunk=1 << 18)
    if out.max(initial=1) < 1:
        raise InputError(f"{street}: a hand that stands for no deal")
    return out
