"""Compact form of a trained blueprint for shipping: a few megabytes that are memory-mapped and play at once.

    ship_blueprint("runs/blueprint", "src/riverboat/agents/shipped/default")

Tables have one byte per action. Turn and river buckets are computed from cluster centres on demand: labels of all turns
and rivers would take 274 MB. The flop keeps its labels, 2.6 MB: a histogram over 1,081 runouts takes milliseconds.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction, StreetBuckets, empty_table
from riverboat.abstraction.cards.centroid_buckets import BOARD_CARDS_OF_METHOD
from riverboat.cards.deck import FULL_DECK
from riverboat.core import artifacts
from riverboat.core.errors import InputError
from riverboat.strategies.blueprint import (
    ABSTRACTION_FOLDER,
    ARTIFACT_KIND,
    QUANTIZATION_STEPS,
    Blueprint,
    load_blueprint,
    manifest_entries,
    quantize_table,
)

MAX_ZIPPED_BYTES = 20_000_000  # compressed size of the shipped folder in a wheel
SHIPPED_STEPS = 63  # integer units of probabilities: 255 would make the wheel a third larger


@dataclass(frozen=True)
class ShippedBlueprint:
    """Result of `ship_blueprint`: the folder, and its size in bytes."""

    folder: Path
    bytes: int  # uncompressed
    zipped: int  # compressed, as in a wheel
    buckets: tuple[int, ...]
    nodes: int
    provenance: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON."""
        return {**vars(self), "folder": str(self.folder), "buckets": [*self.buckets], "provenance": {**self.provenance}}


def without_late_labels(cards: CardAbstraction) -> CardAbstraction:
    """Return the card abstraction without stored turn and river labels; those buckets are then computed on demand.

    A lossless abstraction is returned as it is.
    """
    if not any(street.labels.size or street.computed for street in cards.streets):
        return cards
    if cards.public is not None or cards.deck != FULL_DECK or len(cards.streets) != len(STREETS):
        raise InputError(f"card abstraction {cards.name!r}: only hold'em without public buckets can be shipped")
    streets = [*cards.streets[:2], *(_computed_street(cards, r) for r in (2, 3))]
    return CardAbstraction(tuple(streets), cards.deals, cards.deck, None, cards.name, cards.recipe)


def _computed_street(cards: CardAbstraction, street: int) -> StreetBuckets:
    buckets, num_cards = cards.streets[street], cards.board_sizes[street]
    method = str(buckets.metadata.get("method"))
    computable = (
        buckets.metadata.get("metric") in (None, "emd")
        and BOARD_CARDS_OF_METHOD.get(method) == num_cards
        and len(buckets.cuts) <= 1
        and len(buckets.centres) == buckets.count
    )
    if not computable and not buckets.computed:
        methods = ", ".join(name for name, board in BOARD_CARDS_OF_METHOD.items() if board == num_cards)
        raise InputError(
            f"card abstraction {cards.name!r}: buckets of the {STREETS[street]} by {method} cannot be computed at the table; "
            f"{methods} can"
        )
    return replace(buckets, labels=empty_table(), computed=True)


def ship_blueprint(blueprint: str | Path | Blueprint, out: str | Path, steps: int = SHIPPED_STEPS) -> ShippedBlueprint:
    """Write a blueprint, or the one in the folder of a run or strategy, in compact form to the new folder `out`.

    Probabilities are rounded to multiples of 1 / `steps`; each changes by less than 1 / `steps`.
    """
    if not 1 <= steps <= QUANTIZATION_STEPS:
        raise InputError(f"steps={steps}: units that probabilities are rounded to, must be 1 to {QUANTIZATION_STEPS}")
    target = Path(out)
    if target.exists():
        raise InputError(f"{target}: exists already; choose another folder, or delete it first")
    strategy = blueprint if isinstance(blueprint, Blueprint) else load_blueprint(blueprint)
    cards = without_late_labels(strategy.cards)
    temporary = target.with_name(f".{target.name}.{ABSTRACTION_FOLDER}")
    try:
        compact = replace(strategy, cards=cards, cards_path=None if cards is strategy.cards else cards.save(temporary))
        entries = manifest_entries(compact.tree, cards, compact.cards_path)
        if compact.cards_path is not None:
            # Inside the artifact: paths of the build machine are not recorded.
            entries["abstraction"]["path"] = ABSTRACTION_FOLDER
        provenance = {key: value for key, value in compact.provenance.items() if key != "folder"}
        tables = [quantize_table(table, *compact.slots(street), steps) for street, table in enumerate(compact.average)]
        arrays = {f"average_{street}": table for street, table in enumerate(tables)}
        artifacts.write(target, ARTIFACT_KIND, arrays, entries | {"provenance": provenance})
        if compact.cards_path is not None:
            artifacts.link(temporary, target / ABSTRACTION_FOLDER)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    files = [path for path in target.rglob("*") if path.is_file()]
    size, zipped = sum(path.stat().st_size for path in files), sum(map(zipped_size, files))
    if zipped > MAX_ZIPPED_BYTES:
        shutil.rmtree(target)
        raise InputError(
            f"{target}: {zipped:,} bytes when zipped; at most {MAX_ZIPPED_BYTES:,} can be shipped: use "
            "fewer steps, fewer buckets or a smaller menu"
        )
    return ShippedBlueprint(target, size, zipped, compact.buckets, len(compact.tree), provenance)


def zipped_size(path: Path) -> int:
    """Return the size of a file in bytes after compression by zlib, as in a wheel."""
    return len(zlib.compress(path.read_bytes()))
