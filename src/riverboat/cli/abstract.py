"""`riverboat abstract`: build a card abstraction from a recipe, after printing its time and memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from riverboat.api.abstract import (
    AbstractionPlan,
    BuildStageProgress,
    abstract,
    abstraction_presets,
    plan_abstraction,
)
from riverboat.cli.display import StageDisplay
from riverboat.cli.progress import ProgressBar
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.errors import InputError
from riverboat.core.formatting import format_bytes, shell_quote
from riverboat.core.tables import FIGURE, PROSE, ReportColumn, ReportTable


def list_abstraction_recipes(json: bool) -> None:
    """Print the abstraction recipes that come with Riverboat."""
    recipes = abstraction_presets()
    if json:
        emit({"presets": {name: {"about": r.about, "counts": list(r.counts)} for name, r in recipes.items()}})
        return
    columns = ReportColumn("recipe"), ReportColumn("buckets"), ReportColumn("description", PROSE)
    rows = [(name, " – ".join(f"{count:,}" for count in r.counts), r.about) for name, r in recipes.items()]
    plain_console().print(ReportTable("", columns, tuple(rows)))


def build_abstraction(recipe: str, out: str | Path | None, *, estimate: bool, json: bool, **options: Any) -> None:
    """Build the card abstraction of a recipe in a folder, or print its estimate."""
    if estimate:
        plan = plan_abstraction(recipe, threads=options["threads"])
        if json:
            emit(plan.to_dict())
        else:
            print_abstraction_plan(plain_console(), plan)
        return
    if out is None:
        raise InputError("--out is missing: name the folder of the abstraction, or give --estimate")
    with AbstractionDisplay(quiet=json) as display:
        try:
            built = abstract(recipe, out, observer=display, **options)
        except KeyboardInterrupt:
            command = f"riverboat abstract {shell_quote(recipe)} --out {shell_quote(out)} --resume"
            say(f"stopped; finished stages are saved: continue with {command}")
            raise
    if json:
        emit(built.to_dict())
        return
    console = plain_console()
    size = sum(street.nbytes for street in built.cards.streets)
    console.print(f"{built.cards!r} in {built.seconds:,.1f} s, {format_bytes(size)}")
    console.print(f"written to {out}; riverboat show {shell_quote(out)} describes it")


class AbstractionDisplay(StageDisplay):
    """Shows the plan of a build, and a bar for each stage."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__()
        self.quiet = quiet  # no plan
        self._bar: ProgressBar | None = None
        self._number = 0

    def plan(self, plan: Any) -> None:
        if isinstance(plan, AbstractionPlan) and not self.quiet:
            print_abstraction_plan(plain_console(stderr=True), plan)

    def progress(self, now: Any) -> None:
        if not isinstance(now, BuildStageProgress):
            return
        if now.number != self._number or self._bar is None:
            self._close_bar()
            about = now.stage.about
            label = about if now.stage.kind == "table" else f"{now.stage.name}, {about}"
            self._bar = ProgressBar(f"Card abstraction, step {now.number} of {now.stages}: {label}")
            self._number = now.number
        if now.share > 0:
            self._bar(now.share)
        if now.number == now.stages and now.share >= 1:
            self._close_bar()

    def _close_bar(self) -> None:
        if self._bar is not None:
            self._bar.done()
            self._bar = None

    def close(self) -> None:
        self._close_bar()
        super().close()


def print_abstraction_plan(console: Console, plan: AbstractionPlan) -> None:
    """Print the stages of a build with their time and memory."""
    columns = (
        ReportColumn("stage"),
        ReportColumn("description", PROSE),
        ReportColumn("estimate, s", FIGURE),
        ReportColumn("memory", FIGURE),
    )
    facts = plan.to_dict()
    rows = [
        (stage["stage"], stage["about"], f"{stage['seconds']:,.0f}", format_bytes(stage["memory_mb"] * 1e6))
        for stage in facts["stages"]
    ]
    console.print(ReportTable("", columns, tuple(rows)))
    counts = " – ".join(f"{count:,}" for count in plan.recipe.counts)
    console.print(
        f"{plan.recipe.name}: {counts}; about {facts['seconds']:,.0f} s on {plan.threads} threads, "
        f"{format_bytes(facts['memory_mb'] * 1e6)} at the peak",
    )
