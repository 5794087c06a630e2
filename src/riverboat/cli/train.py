"""`riverboat train`: train a blueprint from a recipe, after printing its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from riverboat.api import train as train_api
from riverboat.api.abstract import BuildStageProgress
from riverboat.api.options import Flag
from riverboat.cli import termination
from riverboat.cli.abstract import AbstractionDisplay
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import make_table, print_parts, print_result, prose, say
from riverboat.core.errors import InputError
from riverboat.core.formatting import format_seconds, shell_quote

if TYPE_CHECKING:
    from riverboat.solvers.mccfr.training import TrainingProgress


def train(
    recipe: str | None = None,
    *,
    out: Path | None = None,
    plot: Path | None = None,
    estimate: bool = False,
    listing: Annotated[bool, Flag("--list")] = False,
    json: bool = False,
    **options: Any,
) -> None:
    """Train a blueprint: Monte Carlo CFR over a betting tree and card buckets.

    Parameters
    ----------
    recipe
        A preset (--list) or a .toml file; by default a size that fits --time.
    out
        Folder of the run.
    plot
        At the end, plot the snapshots' results against the last one.
    estimate
        Only print the sizes.
    listing
        List the presets.
    """
    if listing and recipe is not None:
        raise InputError("train: name a recipe, or give --list")
    if recipe is None and options["time"] is None and not listing:
        raise InputError("train: name a recipe, give --list, or give --time alone: it then determines the size")
    if listing:
        _list_recipes(json)
        return
    if estimate:
        sizes = ("abstraction", "time", "iterations", "threads", "device")
        plan = train_api.plan_training(recipe, **{name: options[name] for name in sizes})
        print_result(plan, _plan_parts(plan), json)
        return
    if out is None:
        raise InputError("--out is missing: name the folder of the run, or give --estimate")
    with TrainDisplay(quiet=json) as display, termination.defer_signals() as interrupted:
        trained = train_api.train(recipe, out=out, observer=display, stop=lambda: interrupted() is not None, **options)
        stopped = interrupted()
    if plot is not None and stopped is None:
        _plot_snapshots(out, plot)
    print_result(trained, _training_lines(trained, recipe or train_api.SIZED_RECIPE), json)
    if stopped is not None:
        say(f"interrupted; continue with --out {shell_quote(out)} --resume")
        raise stopped


def _list_recipes(json: bool) -> None:
    """Print the training recipes that come with Riverboat."""
    recipes = train_api.training_presets()
    facts = {
        name: {"about": r.about, "worth": r.measured_strength, "cards": r.abstraction, "time": r.time}
        for name, r in recipes.items()
    }
    rows = (
        (name, r.abstraction, r.time or "", f"{r.about}. Strength: {r.measured_strength}")
        for name, r in recipes.items()
    )
    columns = "recipe", "cards", "time", prose("description and measured strength")
    print_result({"presets": facts}, [make_table(columns, rows)], json)
    if not json:
        say("riverboat train RECIPE --estimate prints nodes, information sets and memory")


def _training_lines(trained: train_api.TrainingResult, recipe: str) -> Iterator[str]:
    facts = trained.to_dict()
    yield (
        f"{train_api.load_recipe(recipe).name}: {trained.iterations:,} iterations in {facts['seconds']:,.1f} s, "
        f"{facts['iterations_per_second']:,.3g} per second; {trained.touched:,} information sets visited"
    )
    for claim in trained.claims:
        yield f"at the last check: {claim}"
    yield f"written to {trained.out}; riverboat show {shell_quote(trained.out)} preflop shows it"


def _plot_snapshots(run: Path, picture: Path) -> None:
    """Play a run's snapshots against its last strategy, print the results, and plot them."""
    from riverboat.cli import reproduce
    from riverboat.papers.sampling import compare_snapshots

    report = compare_snapshots(run)
    for row in report.rows:
        say(f"{row.name}: {row.ours:+,.0f} mbb/g  {row.note}")
    reproduce.plot_report(report, "snapshots against the last strategy", picture)


# --- Sizes ---


def _plan_parts(plan: train_api.TrainPlan) -> Iterator[Any]:
    yield plan.counts
    if plan.visits_per_infoset is not None:
        yield (
            f"{plan.to_dict()['time']} on {plan.threads} threads: about {plan.visits_per_infoset:,.3g} visits of each "
            f"information set, at {train_api.VISITS_PER_SECOND:,.0f} visits per second and thread"
        )


# --- Progress ---


class TrainDisplay(AbstractionDisplay):
    """Shows the size of a training and its progress; also those of a card abstraction that is built first."""

    def plan(self, plan: Any) -> None:
        self.close_line()
        if not isinstance(plan, train_api.TrainPlan):
            super().plan(plan)
            return
        if not self.quiet:
            print_parts(_plan_parts(plan), stderr=True)
        self.line = _TrainingProgressLine(plan.recipe.name)

    def progress(self, now: Any) -> None:
        if isinstance(self.line, _TrainingProgressLine) and not isinstance(now, BuildStageProgress):
            self.line(now)
        else:
            super().progress(now)


class _TrainingProgressLine(ProgressLine):
    """Progress line of training: last strength if it was measured, remaining time, iterations, speed and visits."""

    last_details: tuple[str, ...] = ("", "", "")
    warned = False

    def __call__(self, now: TrainingProgress) -> None:
        if now.trouble is not None and not self.warned:
            self.warned = True
            say(f"warning: {now.trouble}; the run continues and tries again")
        if now.touched is not None:
            self.last_details = _format_strength(now.strength), f"regret {now.regret:.3g}", f"{now.touched:,} touched"
        strength, *visited = self.last_details
        left = f"{format_seconds(now.left)} left" if now.left is not None else ""
        self.update(now.share, strength, left, f"{now.iterations:,} iterations", f"{now.rate:,.3g}/s", *visited)


def _format_strength(strength: Mapping[str, Any] | None) -> str:
    if not strength:
        return ""
    if "exploitability" in strength:
        inside = strength.get("abstract_exploitability")
        real = f"exploitability {strength['exploitability']:.4g} {strength['unit']} ({strength['is']})"
        return real if inside is None else f"{real}, {inside:.4g} in the abstract game"
    return f"{strength['against_snapshot']:+.0f} ± {strength['ci95']:.0f} mbb/g against the last snapshot"
