"""A trained blueprint in the form in which an agent is shipped: a few megabytes that are mapped into memory and play at once.

    ship("runs/blueprint", "src/riverboat/agents/shipped/default")

One byte a move, and cards whose turn and river buckets are computed from centres when they are asked for: labels of all turns
and rivers would take 274 MB. The flop keeps its labels, 2.6 MB: a histogram over 1,081 runouts takes milliseconds.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction, StreetBuckets, nothing
from riverboat.abstraction.clustering.centroid_buckets import METHODS
from riverboat.cards.deck import FULL_DECK
from riverboat.core import artifacts
from riverboat.core.errors import InputError
from riverboat.strategies.blueprint import CARDS, KIND, STEPS, BlueprintStrategy, describe, load_blueprint, to_steps

MOST_BYTES = 20_000_000  # of what comes with the package, as a wheel has it: zipped
SHIPPED_STEPS = 63  # that shares are told in: with 255 a wheel has a third more to carry
_PIECE = 1 << 20


@dataclass(frozen=True)
class Shipped:
    """What was written."""

    folder: Path
    bytes: int  # as they are mapped
    zipped: int  # as a wheel has them
    buckets: tuple[int, ...]
    nodes: int
    provenance: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "folder": str(self.folder),
            "bytes": self.bytes,
            "zipped": self.zipped,
            "buckets": list(self.buckets),
            "nodes": self.nodes,
            "provenance": dict(self.provenance),
        }


def computed_cards(cards: CardAbstraction) -> CardAbstraction:
    """The same buckets without the labels of turn and river; cards that lose nothing have no labels."""
    if not any(street.labels.size or street.computed for street in cards.streets):
        return cards
    if cards.public is not None or cards.deck != FULL_DECK or len(cards.streets) != len(STREETS):
        raise InputError(f"card abstraction {cards.name!r}: only hold'em without public buckets is shipped")
    streets = [*cards.streets[:2], *(_computed(cards, r) for r in (2, 3))]
    return CardAbstraction(tuple(streets), cards.deals, cards.deck, None, cards.name, cards.recipe)


def _computed(cards: CardAbstraction, street: int) -> StreetBuckets:
    here, shown = cards.streets[street], cards.shown[street]
    method = str(here.facts.get("method"))
    usual = here.facts.get("metric") in (None, "emd")
    able = usual and METHODS.get(method) == shown and len(here.cuts) <= 1 and len(here.centres) == here.count
    if not able and not here.computed:
        ways = ", ".join(name for name, board in METHODS.items() if board == shown)
        raise InputError(
            f"card abstraction {cards.name!r}: buckets of the {STREETS[street]} by {method} cannot be computed at the table; "
            f"{ways} can"
        )
    return replace(here, labels=nothing(), computed=True)


def ship(blueprint: str | Path | BlueprintStrategy, out: str | Path, steps: int = SHIPPED_STEPS) -> Shipped:
    """Write the blueprint of a run or a strategy in the form for shipping, into a folder of its own.

    Shares are rounded to `steps` of a decision, so that no share moves by a whole one.
    """
    if not 1 <= steps <= STEPS:
        raise InputError(f"steps={steps}: how finely shares are told, 1 to {STEPS}")
    place = Path(out)
    if place.exists():
        raise InputError(f"{place}: exists already; choose another folder, or delete it first")
    strategy = blueprint if isinstance(blueprint, BlueprintStrategy) else load_blueprint(blueprint)
    cards = computed_cards(strategy.cards)
    beside = place.with_name(f".{place.name}.{CARDS}")
    try:
        light = replace(strategy, cards=cards, cards_path=None if cards is strategy.cards else cards.save(beside))
        facts = describe(light.tree, cards, light.cards_path)
        if light.cards_path is not None:
            facts["abstraction"]["path"] = CARDS  # in the folder itself: nothing is told of where it was made
        known = {key: value for key, value in light.provenance.items() if key != "folder"}
        told = [to_steps(table, *light.slots(street), steps) for street, table in enumerate(light.average)]
        arrays = {f"average_{street}": table for street, table in enumerate(told)}
        artifacts.write(place, KIND, arrays, facts | {"provenance": known})
        if light.cards_path is not None:
            artifacts.link(beside, place / CARDS)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    files = [path for path in place.rglob("*") if path.is_file()]
    size, zipped = sum(path.stat().st_size for path in files), sum(map(zipped_size, files))
    if zipped > MOST_BYTES:
        shutil.rmtree(place)
        raise InputError(
            f"{place}: {zipped:,} bytes when zipped; at most {MOST_BYTES:,} are shipped: fewer steps, fewer buckets or a "
            "smaller menu"
        )
    return Shipped(place, size, zipped, light.buckets, len(light.tree), known)


def zipped_size(path: Path) -> int:
    """Bytes of a file in a wheel."""
    packed, total = zlib.compressobj(), 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            total += len(packed.compress(piece))
    return total + len(packed.flush())
