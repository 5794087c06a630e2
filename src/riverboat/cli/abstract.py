"""`riverboat abstract`: build a card abstraction from a recipe, its time and memory told first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from riverboat.abstraction import estimate
from riverboat.abstraction.recipe import Recipe, load_recipe, presets
from riverboat.api import abstract as verbs
from riverboat.api.abstract import Abstracted
from riverboat.cli import device_notes
from riverboat.cli.progress import Bar
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.errors import InputError, check_threads
from riverboat.core.formatting import quote, show_bytes
from riverboat.core.tables import FIGURE, PROSE, Column, ReportTable


def listing(json: bool) -> None:
    """The recipes that come with Riverboat."""
    recipes = {name: load_recipe(name) for name in presets()}
    if json:
        emit({"presets": {name: {"about": r.about, "counts": list(r.counts)} for name, r in recipes.items()}})
        return
    columns = Column("recipe"), Column("buckets"), Column("what it is", PROSE)
    rows = [(name, " – ".join(f"{count:,}" for count in r.counts), r.about) for name, r in recipes.items()]
    plain_console().print(ReportTable("", columns, tuple(rows)))


def abstract(
    source: str, out: Path | None, threads: int, resume: bool, only_estimate: bool, device: str, json: bool
) -> None:
    """Build a recipe in a folder."""
    recipe = load_recipe(source)
    stages = estimate.plan(recipe)
    planned = _plan(recipe, stages, threads)
    if only_estimate:
        if json:
            emit(planned)
        else:
            _show_plan(plain_console(), planned)
        return
    if out is None:
        raise InputError("no --out: say in which folder the abstraction shall live, or give --estimate")
    if not json:
        _show_plan(plain_console(stderr=True), planned)
    device_notes.tell(device)
    built = _build(source, recipe, out, threads, resume, stages, device)
    if json:
        emit(built.to_dict())
        return
    console = plain_console()
    size = sum(street.nbytes for street in built.cards.streets)
    console.print(f"{built.cards!r} in {built.seconds:,.1f} s, {show_bytes(size)}")
    console.print(f"written to {out}; riverboat show {quote(out)} tells more")


def _build(
    source: str, recipe: Recipe, out: Path, threads: int, resume: bool, stages: list[estimate.Stage], device: str
) -> Abstracted:
    bars: dict[str, Bar] = {}

    def progress(stage: estimate.Stage, share: float) -> None:
        key = f"{stage.kind} {stage.name}"
        if key not in bars:
            _close(bars)
            place = [f"{s.kind} {s.name}" for s in stages].index(key) + 1
            what = stage.about if stage.kind == "table" else f"{stage.name}, {stage.about}"
            bars[key] = Bar(f"Card abstraction, step {place} of {len(stages)}: {what}")
        if share > 0:
            bars[key](share)

    try:
        return verbs.abstract(recipe, out, threads=threads, resume=resume, progress=progress, device=device)
    except KeyboardInterrupt:
        again = f"riverboat abstract {quote(source)} --out {quote(out)} --resume"
        say(f"stopped; finished stages are kept: go on with {again}")
        raise
    finally:
        _close(bars)


def _close(bars: dict[str, Bar]) -> None:
    for bar in bars.values():
        bar.done()


def _plan(recipe: Recipe, stages: list[estimate.Stage], threads: int) -> dict[str, Any]:
    check_threads(threads)
    shares = threads
    return {
        "recipe": recipe.to_dict(),
        "counts": list(recipe.counts),
        "threads": threads,
        "stages": [
            {
                "stage": f"{s.kind} {s.name}" if s.kind == "table" else s.name,
                "about": s.about,
                "seconds": round(s.seconds / shares, 1),
                "memory_mb": round(s.memory / 1e6, 3),
            }
            for s in stages
        ],
        "seconds": round(sum(s.seconds for s in stages) / shares, 1),
        "memory_mb": round(max(s.memory for s in stages) / 1e6, 3),
        "figures_are": "estimates from measured rates",
        "units": {"seconds": "s", "memory_mb": "MB (10^6 bytes) at the peak"},
    }


def _show_plan(console: Console, planned: dict[str, Any]) -> None:
    columns = Column("stage"), Column("what", PROSE), Column("about, s", FIGURE), Column("memory", FIGURE)
    rows = [
        (stage["stage"], stage["about"], f"{stage['seconds']:,.0f}", show_bytes(stage["memory_mb"] * 1e6))
        for stage in planned["stages"]
    ]
    console.print(ReportTable("", columns, tuple(rows)))
    counts = " – ".join(f"{count:,}" for count in planned["counts"])
    console.print(
        f"{planned['recipe']['name']}: {counts}; about {planned['seconds']:,.0f} s on {planned['threads']} threads, "
        f"{show_bytes(planned['memory_mb'] * 1e6)} at the peak",
    )
