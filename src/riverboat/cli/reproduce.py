"""`riverboat reproduce`: values of the papers next to ours, as a table, as JSON, as an image or as a documentation
page.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from riverboat.api.options import Flag, Seed
from riverboat.cli.terminal import emit, figure, make_table, print_parts, print_result, prose, save_picture, say
from riverboat.core.cache import reused_seconds
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportColumn
from riverboat.papers.framework import ExperimentReport, listen
from riverboat.papers.page import check_page, format_outcome, ours_title, row_cells, store_run
from riverboat.papers.registry import EXPERIMENTS, Experiment, find
from riverboat.papers.results import StoredResult, published_results
from riverboat.papers.rows import summarize_rows


@dataclass(frozen=True)
class ExperimentRun:
    """A completed run of an experiment."""

    experiment: Experiment
    report: ExperimentReport
    full: bool
    seed: int
    seconds: float  # of computing, including that of parts read from the cache

    @property
    def stored(self) -> StoredResult:
        """The run as it is stored for the documentation."""
        return StoredResult.of(self.experiment, self.report, self.full, self.seed, self.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return the run for JSON."""
        about = {key: getattr(self.experiment, key) for key in ("id", "title", "source")}
        settings = {"full": self.full, "seed": self.seed, "seconds": self.seconds}
        return about | settings | self.report.to_dict()


def reproduce(
    experiment: str | None = None,
    *,
    listing: Annotated[bool, Flag("--list")] = False,
    every: Annotated[bool, Flag("--all")] = False,
    full: bool = False,
    seed: Seed = 0,
    plot: Path | None = None,
    docs: Path | None = None,
    json: bool = False,
) -> bool:
    """Reproduce tables and figures of the papers, next to the published values.

    Parameters
    ----------
    experiment
        Name of the experiment; --list shows all.
    listing
        List all experiments with their cost, and what their last full run found.
    every
        Run all experiments.
    full
        Use the paper's size instead of a quick one.
    plot
        Draw the result to an image file.
    docs
        Write the results into this documentation page, and into a JSON file beside it.
    """
    if listing + every + (experiment is not None) != 1:
        raise InputError("reproduce: name one experiment, or give --list or --all")
    if listing:
        _list_experiments(json)
        return True
    names = [*EXPERIMENTS] if experiment is None else [experiment]
    if plot is not None and len(names) != 1:
        raise InputError("--plot draws a single experiment, so name one")
    if docs is not None and any(name not in EXPERIMENTS for name in names):
        raise InputError(f"--docs {docs}: the page contains only the listed experiments, without options")
    if docs is not None:
        check_page(docs)  # raises before the work, not after it
    runs: list[ExperimentRun] = []
    for name in names:
        found, started, reused = find(name), clock.perf_counter(), reused_seconds()
        with listen(say):
            report = found.run(full, seed)
        seconds = clock.perf_counter() - started + reused_seconds() - reused
        run = ExperimentRun(found, report, full, seed, seconds)
        runs.append(run)
        if docs is not None:
            store_run(docs, run.stored)  # immediately, so that an interrupted --all keeps its results
            say(f"{name}: section of {docs}, {run.seconds:.1f} s")
        if not json:
            _print_run(run)
    if plot is not None:
        plot_report(runs[0].report, runs[0].experiment.title, plot)
    if json:
        emit({"experiments": [run.to_dict() for run in runs]} if every else runs[0].to_dict())
    return all(run.report.passes for run in runs)


def _list_experiments(json: bool) -> None:
    results = published_results()
    rows = [
        (e.id, e.title, e.source, e.cost, e.full_cost, _last_finding(results.get(e.id))) for e in EXPERIMENTS.values()
    ]
    keys = ("id", "title", "source", "cost", "full_cost", "found")
    columns = (
        "experiment", prose("description"), prose("source", 2), "cost", ReportColumn("--full", rank=1), prose("found", 1)
    )  # fmt: skip
    facts = {"experiments": [dict(zip(keys, row, strict=True)) for row in rows]}
    print_result(facts, [make_table(columns, rows)], json)


def _last_finding(result: StoredResult | None) -> str:
    """Return what the last full run of an experiment found; if there was none, what the last default run found."""
    if result is None:
        return "no run on record"
    return result.full_summary or f"{format_outcome(result)}, default size: {result.summary}"


# --- Table ---


def _print_run(run: ExperimentRun) -> None:
    title = ours_title(run.experiment, run.full)
    columns = "figure", figure("paper"), figure(title), figure("interval", 1), "verdict", prose("note", 2)
    parts = (
        f"{run.experiment.id}: {run.experiment.title} ({run.experiment.source})",
        make_table(columns, map(row_cells, run.stored.rows)),
        *(f"note: {note}" for note in run.report.notes),
        f"{summarize_rows(run.report.rows)}; {run.seconds:.1f} s",
    )
    print_parts(parts)


# --- Plot ---


def plot_report(report: ExperimentReport, title: str, path: Path) -> None:
    """Write a picture of a report: its own figure, or its curves panel by panel, or its rows as bars."""
    if report.draw is None and not report.rows and not any(curve.x for curve in report.curves):
        raise InputError(f"picture {path}: nothing to draw: {title!r} has no curves and no rows")
    from riverboat.plots.results import plot_experiment  # loads matplotlib

    save_picture(plot_experiment(report, title) if report.draw is None else report.draw(), path)
