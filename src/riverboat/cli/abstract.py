"""`riverboat abstract`: build a card abstraction from a recipe, after printing its time and memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from riverboat.api import abstract as abstract_api
from riverboat.api.options import Flag
from riverboat.cli.progress import StageDisplay
from riverboat.cli.terminal import figure, format_counts, make_table, print_parts, print_result, prose, say
from riverboat.core.errors import InputError
from riverboat.core.formatting import format_bytes, shell_quote


def abstract(
    recipe: str | None = None,
    *,
    out: Path | None = None,
    estimate: bool = False,
    listing: Annotated[bool, Flag("--list")] = False,
    json: bool = False,
    **options: Any,
) -> None:
    """Build a card abstraction: group hands into buckets.

    Parameters
    ----------
    recipe
        A preset (--list) or a .toml file.
    out
        Folder for the abstraction.
    estimate
        Only print the estimated time and memory.
    listing
        List the presets.
    """
    if listing + (recipe is not None) != 1:
        raise InputError("abstract: name a recipe, or give --list")
    if recipe is None:
        recipes = abstract_api.abstraction_presets()
        facts = {name: {"about": r.about, "counts": list(r.counts)} for name, r in recipes.items()}
        rows = ((name, format_counts(r.counts), r.about) for name, r in recipes.items())
        print_result({"presets": facts}, [make_table(["recipe", "buckets", prose("description")], rows)], json)
        return
    if estimate:
        plan = abstract_api.plan_abstraction(recipe, threads=options["threads"])
        print_result(plan, _plan_parts(plan), json)
        return
    if out is None:
        raise InputError("--out is missing: name the folder of the abstraction, or give --estimate")
    with AbstractionDisplay(quiet=json) as display:
        try:
            built = abstract_api.abstract(recipe, out, observer=display, **options)
        except KeyboardInterrupt:
            command = f"riverboat abstract {shell_quote(recipe)} --out {shell_quote(out)} --resume"
            say(f"stopped; finished stages are saved: continue with {command}")
            raise
    size = sum(street.nbytes for street in built.cards.streets)
    lines = (
        f"{built.cards!r} in {built.seconds:,.1f} s, {format_bytes(size)}",
        f"written to {out}; riverboat show {shell_quote(out)} describes it",
    )
    print_result(built, lines, json)


class AbstractionDisplay(StageDisplay):
    """Shows the plan of a build, and a bar for each stage."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet  # no plan

    def plan(self, plan: Any) -> None:
        if isinstance(plan, abstract_api.AbstractionPlan) and not self.quiet:
            print_parts(_plan_parts(plan), stderr=True)

    def progress(self, now: Any) -> None:
        if not isinstance(now, abstract_api.BuildStageProgress):
            return
        about = now.stage.about
        label = about if now.stage.kind == "table" else f"{now.stage.name}, {about}"
        bar = self.open(f"Card abstraction, step {now.number} of {now.stages}: {label}")
        if now.share > 0:
            bar(now.share)
        if now.number == now.stages and now.share >= 1:
            self.close_line()


def _plan_parts(plan: abstract_api.AbstractionPlan) -> Iterator[Any]:
    """Yield the stages of a build with their time and memory."""
    facts = plan.to_dict()
    rows = (
        (stage["stage"], stage["about"], f"{stage['seconds']:,.0f}", format_bytes(stage["memory_mb"] * 1e6))
        for stage in facts["stages"]
    )
    yield make_table(["stage", prose("description"), figure("estimate, s"), figure("memory")], rows)
    yield (
        f"{plan.recipe.name}: {format_counts(plan.recipe.counts)}; about {facts['seconds']:,.0f} s on {plan.threads} "
        f"threads, {format_bytes(facts['memory_mb'] * 1e6)} at the peak"
    )
