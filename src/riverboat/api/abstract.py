"""`rb.abstract`: build a card abstraction of hold'em in a folder that training reads.

result = abstract("tiny", "runs/tiny")
result.cards.counts               # buckets of each street
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from riverboat.abstraction.build import build_abstraction
from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.abstraction.recipe import AbstractionRecipe, BuildStage, load_recipe, plan_stages, preset_names
from riverboat.api.devices import note_cpu_fallback
from riverboat.api.options import Threads, checked
from riverboat.core import validation
from riverboat.core.errors import MemoryLimitError
from riverboat.core.formatting import format_bytes
from riverboat.core.observer import SILENT, Observer
from riverboat.core.resources import available_memory
from riverboat.engines.devices import nearest_centroid_finder


@dataclass(frozen=True)
class AbstractionResult:
    """Card abstraction and its folder.

    Attributes
    ----------
    cards
        The abstraction.
    out
        Its folder.
    seconds
        Time of the build.
    threads
        Threads that built it.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.abstract("tiny", "runs/tiny").cards.counts  # doctest: +SKIP
    """

    cards: CardAbstraction
    out: Path
    seconds: float
    threads: int

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""

        cards = self.cards
        return {
            "name": cards.name,
            "out": str(self.out),
            "counts": list(cards.counts),
            "public_buckets": cards.public.count if cards.public is not None else None,
            "fingerprint": cards.fingerprint,
            "megabytes": round(sum(street.nbytes for street in cards.streets) / 1e6, 3),
            "streets": {
                name: {**street.metadata, "buckets": street.count, "table_mb": round(street.nbytes / 1e6, 3)}
                for name, street in zip(STREETS, cards.streets, strict=False)
            },
            "units": {"megabytes": "MB (10^6 bytes) of tables", "cost": "mean distance to the centre, in `unit`"},
            "seconds": round(self.seconds, 2),
            "threads": self.threads,
        }


@dataclass(frozen=True)
class AbstractionPlan:
    """What a build of a card abstraction is about to do.

    Attributes
    ----------
    recipe, threads
        The recipe and the threads that build it.
    stages
        Stages of the build, with estimated time and memory.

    Examples
    --------
    >>> plan_abstraction("tiny").to_dict()["threads"]
    2
    """

    recipe: AbstractionRecipe
    threads: int
    stages: tuple[BuildStage, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the JSON object of `riverboat abstract --estimate`."""
        return {
            "recipe": self.recipe.to_dict(),
            "counts": list(self.recipe.counts),
            "threads": self.threads,
            "stages": [
                {
                    "stage": f"{s.kind} {s.name}" if s.kind == "table" else s.name,
                    "about": s.about,
                    "seconds": round(s.seconds / self.threads, 1),
                    "memory_mb": round(s.memory / 1e6, 3),
                }
                for s in self.stages
            ],
            "seconds": round(sum(s.seconds for s in self.stages) / self.threads, 1),
            "memory_mb": round(max(s.memory for s in self.stages) / 1e6, 3),
            "figures_are": "estimates from measured rates",
            "units": {"seconds": "s", "memory_mb": "MB (10^6 bytes) at the peak"},
        }


def abstraction_presets() -> dict[str, AbstractionRecipe]:
    """Return the recipes of card abstractions that come with Riverboat.

    Returns
    -------
    dict
        Recipes by name.

    Examples
    --------
    >>> "tiny" in abstraction_presets()
    True
    """

    return {name: load_recipe(name) for name in preset_names()}


class BuildStageProgress(NamedTuple):
    """Progress of a build.

    Attributes
    ----------
    stage
        The stage.
    number, stages
        Its number from 1, and the number of stages.
    share
        Share of the stage that is done.

    Examples
    --------
    >>> BuildStageProgress(plan_abstraction("tiny").stages[0], 1, 7, 0.5).share
    0.5
    """

    stage: BuildStage
    number: int
    stages: int
    share: float


def plan_abstraction(recipe: str | Path | AbstractionRecipe, *, threads: int = 2) -> AbstractionPlan:
    """Return the stages of a build with their estimated time and memory, without building.

    Parameters
    ----------
    recipe
        A preset (`riverboat abstract --list`), a .toml file, or a recipe.
    threads
        Threads of the build.

    Returns
    -------
    AbstractionPlan
        Recipe and stages.

    Examples
    --------
    >>> plan_abstraction("tiny").recipe.counts[0]
    169
    """

    validation.check_thread_count(threads)
    if not isinstance(recipe, AbstractionRecipe):
        validation.check_path("recipe", recipe)
        recipe = load_recipe(str(recipe))
    return AbstractionPlan(recipe, threads, tuple(plan_stages(recipe)))


@checked
def abstract(
    recipe: str | Path | AbstractionRecipe,
    out: str | Path,
    *,
    threads: Threads = 2,
    resume: bool = False,
    progress: Callable[[BuildStage, float], None] | None = None,
    device: str = "cpu",
    observer: Observer = SILENT,
) -> AbstractionResult:
    """Build a card abstraction: group hands into buckets.

    Parameters
    ----------
    recipe
        A preset (`riverboat abstract --list`), a .toml file, or a recipe.
    out
        Folder for the abstraction.
    threads
        Threads; the result does not depend on them.
    resume
        Continue with the stages that are left.
    progress
        Callback with the current stage and its completed fraction.
    device
        For k-means: cpu, cuda, or auto (a GPU if there is one).
    observer
        Receives the plan, the progress of each stage and notes.

    Returns
    -------
    AbstractionResult
        The abstraction and its folder.

    Raises
    ------
    InputError
        If the recipe is invalid, or `out` holds something else.
    MemoryLimitError
        If the build does not fit in memory; this is checked before it starts.

    Examples
    --------
    >>> import riverboat as rb
    >>> built = rb.abstract("tiny", "runs/tiny")  # doctest: +SKIP
    >>> built.cards.counts  # doctest: +SKIP
    (169, 100, 100, 100)
    """

    validation.check_path("out", out)
    plan = plan_abstraction(recipe, threads=threads)
    observer.plan(plan)
    note_cpu_fallback(observer, device)
    need, free = max(stage.memory for stage in plan.stages), available_memory()
    if free is not None and need > free:
        raise MemoryLimitError(
            f"{plan.recipe.name}: needs about {format_bytes(need)}, {format_bytes(free)} are free; "
            "use a machine with more memory (fewer buckets do not help, the tables of hands stay as large)"
        )
    numbers = {(stage.kind, stage.name): number for number, stage in enumerate(plan.stages, 1)}

    def report(stage: BuildStage, share: float) -> None:
        observer.progress(BuildStageProgress(stage, numbers[stage.kind, stage.name], len(plan.stages), share))
        if progress is not None:
            progress(stage, share)

    started = time.perf_counter()
    cards = build_abstraction(plan.recipe, out, threads, resume, report, nearest_centroid_finder(device))
    return AbstractionResult(cards, Path(out), time.perf_counter() - started, threads)
