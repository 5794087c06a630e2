"""`riverboat reproduce`: values of the papers next to ours, as a table, as JSON, as an image or as a documentation
page.
"""

from __future__ import annotations

import re
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from riverboat.api.options import Flag, Seed
from riverboat.cli.terminal import emit, figure, make_table, print_parts, print_result, prose, save_picture, say
from riverboat.core import files
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportColumn
from riverboat.papers.framework import ExperimentReport, listen
from riverboat.papers.registry import EXPERIMENTS, Experiment, find
from riverboat.papers.rows import ComparisonRow, format_verdict, summarize_rows

_PAGE_HEADER = """# Reproductions

Values of the papers next to ours. Written by `riverboat reproduce --all --docs FILE`; a single experiment with `--docs`
replaces its own section. Seconds are those of the machine that wrote the section.

- A *printed figure* matches if ours rounds to its digits. An estimate (ours with its interval, or the paper's with its
  error) also matches within the errors of both, but only if these are less than half the distance to the alternatives: the
  values that other rules or conventions would give. Otherwise it is *too wide to tell*.
- A *theorem or proposition* holds up to rounding; the paper's column has what it requires.
- A *finding* is an order or a direction that the paper shows without a number.
- *New* figures are ours alone. If their interval is tested, they are *significant* or not.
- *Differs, explained*: the note gives the reason. The explanation is stored with our value at that time, and the row fails if
  ours moves away from it.

Intervals are 95 % confidence intervals, or certified where noted.

```sh
riverboat reproduce --list
riverboat reproduce emd-example
riverboat reproduce emd-example --json
```

`--full` runs an experiment at the paper's size, `--seed N` with other random numbers, and `--plot FILE` draws it. The
exit code is 1 if a row fails: a figure that differs or cannot be distinguished from its alternatives and is not explained, an
explanation of another value than ours, or a theorem that does not hold.
"""


@dataclass(frozen=True)
class ExperimentRun:
    """A completed run of an experiment."""

    experiment: Experiment
    report: ExperimentReport
    full: bool
    seed: int
    seconds: float

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
        List all experiments with their cost.
    every
        Run all experiments.
    full
        Use the paper's size instead of a quick one.
    plot
        Draw the result to an image file.
    docs
        Write the results into this documentation page.
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
        _read_page(docs)  # raises before the work, not after it
    runs: list[ExperimentRun] = []
    for name in names:
        found, started = find(name), clock.perf_counter()
        with listen(say):
            report = found.run(full, seed)
        run = ExperimentRun(found, report, full, seed, clock.perf_counter() - started)
        runs.append(run)
        if docs is not None:
            write_section(docs, run)  # immediately, so that an interrupted --all keeps its results
            say(f"{name}: section of {docs}, {run.seconds:.1f} s")
        if not json:
            _print_run(run)
    if plot is not None:
        plot_report(runs[0].report, runs[0].experiment.title, plot)
    if json:
        emit({"experiments": [run.to_dict() for run in runs]} if every else runs[0].to_dict())
    return all(run.report.passes for run in runs)


def _list_experiments(json: bool) -> None:
    rows = [(e.id, e.title, e.source, e.cost, e.full_cost) for e in EXPERIMENTS.values()]
    keys = ("id", "title", "source", "cost", "full_cost")
    columns = "experiment", prose("description"), prose("source", 2), "cost", ReportColumn("--full", rank=1)
    facts = {"experiments": [dict(zip(keys, row, strict=True)) for row in rows]}
    print_result(facts, [make_table(columns, rows)], json)


# --- Table ---


def _format_number(value: float | None) -> str:
    if value is None:
        return ""
    return "0" if abs(value) < 1e-12 else f"{value:.6g}"  # rounding error of sums that cancel


def _row_cells(row: ComparisonRow) -> list[str]:
    sign = {"=": "", "<=": "≤ ", ">=": "≥ "}[row.relation]
    interval = "" if row.low is None else f"[{_format_number(row.low)}, {_format_number(row.high)}]"
    note = "; ".join(text for text in (row.note, row.explained.why if row.explained else "") if text)
    return [row.name, sign + _format_number(row.paper), _format_number(row.ours), interval, format_verdict(row), note]


def _print_run(run: ExperimentRun) -> None:
    columns = "figure", figure("paper"), figure("ours"), figure("interval", 1), "verdict", prose("note", 2)
    parts = (
        f"{run.experiment.id}: {run.experiment.title} ({run.experiment.source})",
        make_table(columns, map(_row_cells, run.report.rows)),
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


# --- Documentation page ---


def page_section(run: ExperimentRun) -> str:
    """Return the section of an experiment for the documentation page."""
    size = "at full size" if run.full else "at default size"
    lines = [
        f"## {run.experiment.id}",
        "",
        f"{run.experiment.title}. Source: {run.experiment.source}. {summarize_rows(run.report.rows)}. Run {size}, seed "
        f"{run.seed}: {run.seconds:.1f} s.",
        "",
        "| figure | paper | ours | interval | verdict | note |",
        "|---|--:|--:|--:|---|---|",
    ]
    for row in run.report.rows:
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in _row_cells(row)) + " |")
    if run.report.notes:
        lines += ["", *(f"- {note}" for note in run.report.notes)]
    return "\n".join(lines) + "\n"


def _read_page(path: Path) -> str:
    """Read the page; empty if it does not exist yet."""
    with files.disk_errors(path):
        return files.read_text(path, "page") if path.exists() else ""


def write_section(path: Path, run: ExperimentRun) -> None:
    """Replace the section of an experiment in the page; create the page if it does not exist."""
    parts = re.split(r"^(?=## )", _read_page(path), flags=re.MULTILINE)[1:]
    sections = {part.partition("\n")[0].removeprefix("## ").strip(): part.rstrip() + "\n" for part in parts}
    sections[run.experiment.id] = page_section(run)
    files.write_text(path, "\n".join([_PAGE_HEADER, *(sections[name] for name in EXPERIMENTS if name in sections)]))
