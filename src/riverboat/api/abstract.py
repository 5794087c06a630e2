"""`rb.abstract`: the hands of hold'em put into buckets, in a folder that trainings read.

made = abstract("tiny", "runs/tiny")
made.cards.counts               # buckets of each street
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riverboat.abstraction import estimate
from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.abstraction.estimate import Stage
from riverboat.abstraction.recipe import Recipe, load_recipe
from riverboat.core import validation
from riverboat.core.errors import MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.core.resources import available_memory
from riverboat.engines.devices import CPU, nearest_finder


@dataclass(frozen=True)
class Abstracted:
    """A card abstraction and where it lies."""

    cards: CardAbstraction
    out: Path
    seconds: float
    threads: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        made = self.cards
        return {
            "name": made.name,
            "out": str(self.out),
            "counts": list(made.counts),
            "public_buckets": made.public.count if made.public is not None else None,
            "fingerprint": made.fingerprint,
            "megabytes": round(sum(street.nbytes for street in made.streets) / 1e6, 3),
            "streets": {
                name: {**street.facts, "buckets": street.count, "table_mb": round(street.nbytes / 1e6, 3)}
                for name, street in zip(STREETS, made.streets, strict=False)
            },
            "units": {"megabytes": "MB (10^6 bytes) of tables", "cost": "mean distance to the centre, in `unit`"},
            "seconds": round(self.seconds, 2),
            "threads": self.threads,
        }


def abstract(
    recipe: str | Path | Recipe,
    out: str | Path,
    *,
    threads: int = 2,
    resume: bool = False,
    progress: Callable[[Stage, float], None] | None = None,
    device: str = CPU,
) -> Abstracted:
    """Build a recipe (a preset, a file, or as it is) in a folder; what does not fit in memory is refused before.

    Stages that are done are kept: after an interrupt, `resume` goes on with those that are left. On a GPU (`device`) points
    are compared with centres there.
    """
    from riverboat.abstraction.build import build  # brings its loops along

    validation.threads(threads)
    validation.path("out", out)
    if not isinstance(recipe, Recipe):
        validation.path("recipe", recipe)
    made = recipe if isinstance(recipe, Recipe) else load_recipe(str(recipe))
    need, free = max(stage.memory for stage in estimate.plan(made)), available_memory()
    if free is not None and need > free:
        raise MemoryLimitError(
            f"{made.name}: needs about {show_bytes(need)}, {show_bytes(free)} are free; "
            "fewer buckets do not help, the tables of hands are as large; a larger machine does"
        )
    started = time.perf_counter()
    cards = build(made, out, threads, resume, progress, nearest_finder(device))
    return Abstracted(cards, Path(out), time.perf_counter() - started, threads)
