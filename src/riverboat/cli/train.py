"""`riverboat train`: train a blueprint from a recipe, after printing its size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from riverboat.api.abstract import BuildStageProgress
from riverboat.api.train import VISITS_PER_SECOND, TrainingResult, TrainPlan, plan_training, train, training_presets
from riverboat.api.training import SIZED_RECIPE, load_recipe
from riverboat.cli import termination
from riverboat.cli.abstract import AbstractionDisplay
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.errors import InputError
from riverboat.core.formatting import format_seconds, shell_quote
from riverboat.core.tables import PROSE, ReportColumn, ReportTable

if TYPE_CHECKING:
    from riverboat.solvers.mccfr.training import TrainingProgress


def list_recipes(json: bool) -> None:
    """Print the training recipes that come with Riverboat."""
    recipes = training_presets()
    if json:
        facts = {
            name: {"about": r.about, "worth": r.measured_strength, "cards": r.abstraction, "time": r.time}
            for name, r in recipes.items()
        }
        emit({"presets": facts})
        return
    columns = (
        ReportColumn("recipe"),
        ReportColumn("cards"),
        ReportColumn("time"),
        ReportColumn("description and measured strength", PROSE),
    )
    rows = [
        (name, r.abstraction, r.time or "", f"{r.about}. Strength: {r.measured_strength}")
        for name, r in recipes.items()
    ]
    plain_console().print(ReportTable("", columns, tuple(rows)))
    say("riverboat train RECIPE --estimate prints nodes, information sets and memory")


def train_blueprint(
    recipe: str | None,
    out: str | Path | None,
    *,
    estimate: bool = False,
    plot: Path | None = None,
    json: bool = False,
    **options: Any,
) -> None:
    """Train a blueprint in a folder, or print the estimate of its size."""
    if estimate:
        sizes = ("abstraction", "time", "iterations", "threads", "device")
        _print_plan(plan_training(recipe, **{name: options[name] for name in sizes}), json, plain_console())
        return
    if out is None:
        raise InputError("--out is missing: name the folder of the run, or give --estimate")
    with TrainDisplay(quiet=json) as display, termination.defer_signals() as interrupted:
        trained = train(recipe, out=out, observer=display, stop=lambda: interrupted() is not None, **options)
        stopped = interrupted()
    if plot is not None and stopped is None:
        _plot_snapshots(Path(out), plot)
    _print_trained(trained, recipe or SIZED_RECIPE, json)
    if stopped is not None:
        say(f"interrupted; continue with --out {shell_quote(out)} --resume")
        raise stopped


def _print_trained(trained: TrainingResult, recipe: str, json: bool) -> None:
    facts = trained.to_dict()
    if json:
        emit(facts)
        return
    console = plain_console()
    console.print(
        f"{load_recipe(recipe).name}: {trained.iterations:,} iterations in {facts['seconds']:,.1f} s, "
        f"{facts['iterations_per_second']:,.3g} per second; {trained.touched:,} information sets visited",
    )
    for claim in trained.claims:
        console.print(f"at the last check: {claim}")
    console.print(f"written to {trained.out}; riverboat show {shell_quote(trained.out)} preflop shows it")


def _plot_snapshots(run: Path, picture: Path) -> None:
    """Plot the results of a run's snapshots against its last strategy."""
    from riverboat.cli import reproduce
    from riverboat.papers.sampling import compare_snapshots

    report = compare_snapshots(run)
    reproduce.plot_report(report, "snapshots against the last strategy", picture)
    for row in report.rows:
        say(f"{row.name}: {row.ours:+,.0f} mbb/g  {row.note}")
    say(f"picture: {picture}")


# --- Sizes ---


def _print_plan(plan: TrainPlan, json: bool, console: Console) -> None:
    facts = plan.to_dict()
    if json:
        emit(facts)
        return
    console.print(plan.counts)
    if plan.visits_per_infoset is not None:
        console.print(
            f"{facts['time']} on {plan.threads} threads: about {plan.visits_per_infoset:,.3g} visits of each information "
            f"set, at {VISITS_PER_SECOND:,.0f} visits per second and thread",
        )


# --- Progress ---


class TrainDisplay(AbstractionDisplay):
    """Shows the size of a training and its progress; also those of a card abstraction that is built first."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._line: _TrainingProgressLine | None = None

    def plan(self, plan: Any) -> None:
        self._close_line()
        if not isinstance(plan, TrainPlan):
            super().plan(plan)
            return
        if not self.quiet:
            _print_plan(plan, False, plain_console(stderr=True))
        self._line = _TrainingProgressLine(plan.recipe.name)

    def progress(self, now: Any) -> None:
        if isinstance(now, BuildStageProgress) or self._line is None:
            super().progress(now)
        else:
            self._line(now)

    def _close_line(self) -> None:
        if self._line is not None:
            self._line.done()
            self._line = None

    def close(self) -> None:
        self._close_line()
        super().close()


class _TrainingProgressLine(ProgressLine):
    """Progress of training: strength first if it is measured, then the remaining time and the visits."""

    last: TrainingProgress | None = None
    last_details: tuple[str, ...] = ("", "", "")
    warned = False

    def __call__(self, now: TrainingProgress) -> None:
        if now.trouble is not None and not self.warned:
            self.warned = True
            say(f"warning: {now.trouble}; the run continues and tries again")
        if now.touched is not None:
            self.last_details = _format_strength(now.strength), f"regret {now.regret:.3g}", f"{now.touched:,} touched"
        self.last = now
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
