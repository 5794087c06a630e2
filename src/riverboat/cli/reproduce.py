"""`riverboat reproduce`: figures of the papers beside ours, as a table, as JSON, as a picture, as a page."""

from __future__ import annotations

import re
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError
from riverboat.core.tables import FIGURE, PROSE, Column, ReportTable
from riverboat.core.text_files import read_text
from riverboat.papers.framework import MODULES as MODULES
from riverboat.papers.framework import Experiment, Report, find
from riverboat.papers.rows import Row, summary, verdict_words

_HEAD = """# Reproductions

Figures of the papers beside ours. Written by `riverboat reproduce --all --docs FILE`; a single experiment with `--docs`
replaces its own section. Seconds are those of the machine that wrote the section.

- A *printed figure* matches when ours rounds to the printed digits. An estimate (of ours, with its interval, or of the
  paper, with its error) also matches within the errors of both, but only where those are less than half of what separates
  the figure from its rivals: what other rules or conventions have in its place. Otherwise it is *too wide to tell*.
- A *theorem or proposition* holds up to rounding; the column of the paper has what it demands.
- A *finding* is an order or a direction that the paper shows without a figure.
- *New* figures are ours alone. Where their interval is tested, they are *significant* or not.
- *Differs, explained*: the note says why. The explanation is kept with the value that we had then, and the row fails when
  ours moves away from it.

Intervals are 95 %, or certified where that is said.

```sh
riverboat reproduce --list
riverboat reproduce emd-example
riverboat reproduce emd-example --json
```

`--full` runs an experiment at the paper's size, `--seed N` with other random numbers, and `--plot FILE` draws it. The
exit code is 1 where a row fails: a figure that differs or cannot be told from its rivals and is not explained, an
explanation of another value than ours, a theorem that does not hold.
"""


@dataclass(frozen=True)
class Run:
    """An experiment that was run."""

    experiment: Experiment
    report: Report
    full: bool
    seed: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        about = {key: getattr(self.experiment, key) for key in ("id", "title", "source")}
        how = {"full": self.full, "seed": self.seed, "seconds": self.seconds}
        return about | how | self.report.to_dict()


def listing(json: bool) -> None:
    """All experiments with their cost."""
    experiments = [find(name) for name in MODULES]
    if json:
        keys = ("id", "title", "source", "cost", "full_cost")
        emit({"experiments": [{key: getattr(e, key) for key in keys} for e in experiments]})
        return
    columns = Column("experiment"), Column("what it is", PROSE), Column("source", PROSE, rank=2), Column("cost")
    rows = [(e.id, e.title, e.source, e.cost, e.full_cost) for e in experiments]
    plain_console().print(ReportTable("", (*columns, Column("--full", rank=1)), tuple(rows)))


def reproduce(
    names: list[str], full: bool, seed: int, json: bool, plot: Path | None, docs: Path | None, *, every: bool
) -> bool:
    """Run experiments and report them; true when no row fails."""
    if plot is not None and len(names) != 1:
        raise InputError("--plot draws one experiment: name it")
    if plot is not None:
        atomic_io.check_picture(plot)
    if docs is not None and any(name not in MODULES for name in names):
        raise InputError(f"--docs {docs}: the page has the experiments of the list, without options")
    if docs is not None:
        _page(docs)  # told before the work, not after it
    runs: list[Run] = []
    for name in names:
        run = _run(find(name), full, seed)
        runs.append(run)
        if docs is not None:
            write_section(docs, run)  # at once: an interrupted --all keeps what it has
            say(f"{name}: section of {docs}, {run.seconds:.1f} s")
        if not json:
            _print(run)
    if plot is not None:
        picture(runs[0].report, runs[0].experiment.title, plot)
        say(f"picture: {plot}")
    if json:
        emit({"experiments": [run.to_dict() for run in runs]} if every else runs[0].to_dict())
    return all(run.report.fine for run in runs)


def _run(experiment: Experiment, full: bool, seed: int) -> Run:
    started = clock.perf_counter()
    report = experiment.run(full, seed)
    return Run(experiment, report, full, seed, clock.perf_counter() - started)


# --- the table ------------------------------------------------------------------------------


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "0" if abs(value) < 1e-12 else f"{value:.6g}"  # what is left of sums that cancel


def _interval(row: Row) -> str:
    return "" if row.low is None else f"[{_number(row.low)}, {_number(row.high)}]"


def _note(row: Row) -> str:
    return "; ".join(text for text in (row.note, row.explained.why if row.explained else "") if text)


def _paper(row: Row) -> str:
    sign = {"=": "", "<=": "≤ ", ">=": "≥ "}[row.relation]
    return sign + _number(row.paper)


def _cells(row: Row) -> list[str]:
    return [row.name, _paper(row), _number(row.ours), _interval(row), verdict_words(row), _note(row)]


def _print(run: Run) -> None:
    console = plain_console()
    console.print(f"{run.experiment.id}: {run.experiment.title} ({run.experiment.source})")
    columns = Column("figure"), Column("paper", FIGURE), Column("ours", FIGURE), Column("interval", FIGURE, rank=1)
    rows = [tuple(_cells(row)) for row in run.report.rows]
    console.print(ReportTable("", (*columns, Column("verdict"), Column("note", PROSE, rank=2)), tuple(rows)))
    for note in run.report.notes:
        console.print(f"note: {note}")
    console.print(f"{summary(run.report.rows)}; {run.seconds:.1f} s")


# --- the picture ----------------------------------------------------------------------------


def picture(report: Report, title: str, path: Path) -> None:
    """The report's own picture; or its curves, panel by panel; or its rows as bars."""
    if report.draw is not None:
        report.draw(path)
        return
    curves = [curve for curve in report.curves if curve.x]
    if not curves and not report.rows:
        raise InputError(f"picture {path}: nothing to draw, no curve and no row came of {title!r}")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    panels = list(dict.fromkeys(curve.panel for curve in curves)) or [""]
    columns = min(len(panels), 2)
    lines = -(-len(panels) // columns)
    size = (9.0, 5.0) if columns == 1 else (13.0, 4.5 * lines)
    figure, grid = plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    axes = dict(zip(panels, grid.flat, strict=False))
    axis = axes[panels[0]]
    if curves:
        for curve in curves:
            axes[curve.panel].plot(curve.x, curve.y, marker="." if len(curve.x) < 50 else None, label=curve.name)
    else:
        places = range(len(report.rows))
        axis.bar([k + 0.2 for k in places], [row.ours for row in report.rows], 0.4, label="ours")
        printed = [(k - 0.2, row.paper) for k, row in enumerate(report.rows) if row.paper is not None]
        if printed:
            axis.bar([k for k, _ in printed], [paper for _, paper in printed], 0.4, label="paper")
        axis.set_xticks(list(places), [row.name for row in report.rows], rotation=60, ha="right", fontsize=7)
    for panel, one in axes.items():
        one.grid(visible=True, alpha=0.3)
        one.legend(fontsize=8)
        one.set_title(panel, fontsize=10)
        if report.log and curves:
            one.set(xscale="log", yscale="log")
    figure.suptitle(title)
    atomic_io.save_picture(figure, path)
    plt.close(figure)


# --- the page -------------------------------------------------------------------------------


def section(run: Run) -> str:
    """A section of the page of reproductions."""
    size = "at full size" if run.full else "at default size"
    lines = [
        f"## {run.experiment.id}",
        "",
        f"{run.experiment.title}. Source: {run.experiment.source}. {summary(run.report.rows)}. Run {size}, seed {run.seed}: "
        f"{run.seconds:.1f} s.",
        "",
        "| figure | paper | ours | interval | verdict | note |",
        "|---|--:|--:|--:|---|---|",
    ]
    for row in run.report.rows:
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in _cells(row)) + " |")
    if run.report.notes:
        lines += ["", *(f"- {note}" for note in run.report.notes)]
    return "\n".join(lines) + "\n"


def _page(path: Path) -> str:
    """The page as it is; nothing where there is none yet."""
    with atomic_io.told(path):
        return read_text(path, "page") if path.exists() else ""


def write_section(path: Path, run: Run) -> None:
    """Put a section in its place of the page; the page is made where there is none."""
    parts = re.split(r"^(?=## )", _page(path), flags=re.MULTILINE)[1:]
    sections = {part.partition("\n")[0].removeprefix("## ").strip(): part.rstrip() + "\n" for part in parts}
    sections[run.experiment.id] = section(run)
    atomic_io.write_text(path, "\n".join([_HEAD, *(sections[name] for name in MODULES if name in sections)]))
