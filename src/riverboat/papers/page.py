"""The documentation page of reproductions: one table of all experiments, and a section for each, from stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riverboat.core import files
from riverboat.core.errors import InputError
from riverboat.papers.registry import EXPERIMENTS, Experiment
from riverboat.papers.results import (
    StoredResult,
    StoredResults,
    StoredRow,
    differing_rows,
    read_results,
    with_run,
    write_results,
)
from riverboat.papers.rows import RowVerdict, format_verdict

_HEADER = """# Reproductions

Values of the papers next to ours. Written by `riverboat reproduce --all --docs FILE`; a single experiment with `--docs`
replaces its own section and its row of the table. Seconds are those of the machine that ran the experiment; parts that were
read from the cache count with the time that computing them took.

"""

_VERDICTS = """
- A *printed figure* matches if ours rounds to its digits. An estimate (ours with its interval, or the paper's with its
  error) also matches within the errors of both, but only if these are less than half the distance to the alternatives: the
  values that other rules or conventions would give. Otherwise it is *too wide to tell*.
- A *theorem or proposition* holds up to rounding; the paper's column has what it requires.
- A *finding* is an order or a direction that the paper shows without a number, computed from the run: it could come out
  otherwise.
- *New* figures are ours alone. If their interval is tested, they are *significant* or not.
- *Differs, explained*: a row of the same table, named in the note, varies the supposed cause and *confirms* it by giving
  the paper's figure. *Differs, cause not tested*: the note has a supposition. *Differs: no reading was found that gives the
  figure*: the note has what was tried. Known differences are stored with our value at that time, and the row fails if ours
  moves away from it.

Each table says whether ours are of the paper's size. Intervals are 95 % confidence intervals, or certified where noted.

```sh
riverboat reproduce --list
riverboat reproduce emd-example
riverboat reproduce emd-example --json
```

`--full` runs an experiment at the paper's size, or as near to it as it goes, `--seed N` with other random numbers, and
`--plot FILE` draws it. The exit code is 1 if a row fails: a figure that differs or cannot be distinguished from its
alternatives and is not on record, a difference on record of another value than ours, a variation that refutes its cause, or a
theorem that does not hold.
"""


def format_number(value: float | None) -> str:
    """Format a number of a table; empty for None."""
    if value is None:
        return ""
    return "0" if abs(value) < 1e-12 else f"{value:.6g}"  # rounding error of sums that cancel


def row_cells(row: StoredRow) -> list[str]:
    """Return the cells of a row: figure, paper, ours, interval, verdict and note."""
    sign = {"=": "", "<=": "≤ ", ">=": "≥ "}[row.relation]
    interval = "" if row.low is None else f"[{format_number(row.low)}, {format_number(row.high)}]"
    tested = f"tested by: {row.test}" if row.test else ""
    tried = "tried: " if row.why and row.verdict == "not found" else ""
    note = "; ".join(text for text in (row.note, tried + row.why, tested) if text)
    return [row.name, sign + format_number(row.paper), format_number(row.ours), interval, format_verdict(row), note]


def ours_title(experiment: Experiment, full: bool) -> str:
    """Return the title of the column of our figures, with the size of the run."""
    size = experiment.format_size(full)
    return f"ours, {size}" if size else "ours"


def _table_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


# --- The table of all experiments ---

_CAUSE_TITLES: dict[RowVerdict, str] = {
    "explained": "explained by a test",
    "untested": "supposed, not tested",
    "not found": "no reading was found that gives the figure; tried",
}


def format_outcome(result: StoredResult) -> str:
    """Return whether a result agrees with its source: `agrees`, `differs` with a count, or `not comparable`.

    A result with theorems alone has no figure of a source to compare.
    """
    compared = [row for row in result.rows if row.kind not in ("new", "variation")]
    differing = differing_rows(compared)
    num_wide = sum(row.verdict == "blurred" for row in differing)
    parts = [(len(differing) - num_wide, "differs"), (num_wide, "too wide to tell")]
    if differing:
        return ", ".join(f"{label} in {number} of {len(compared)}" for number, label in parts if number)
    if all(row.kind == "theorem" for row in compared):
        return "not comparable; theorems hold" if compared else "not comparable"
    return "agrees"


def format_causes(experiment: Experiment, result: StoredResult) -> str:
    """Return the causes of the differences of a result, and what reduces the experiment."""
    causes = [
        f"{_CAUSE_TITLES.get(row.verdict, format_verdict(row))}: {row.why or row.name}"
        for row in differing_rows(result.rows)
    ]
    if experiment.reduction:
        causes.append(f"size: {experiment.reduction}")
    elif experiment.size == "full" and not result.full:
        causes.append("size: the default run, smaller than with `--full`")
    return "; ".join(dict.fromkeys(causes))


def overview_table(results: StoredResults) -> str:
    """Return the table of all stored results: source, experiment, size, outcome and causes."""
    lines = [
        "| source, table or figure | experiment | size | result | cause of differences, reductions |",
        "|---|---|---|---|---|",
    ]
    for name, result in results.items():
        experiment = EXPERIMENTS[name]
        size = experiment.format_size(result.full) or "no paper's"
        link = f"[{name}](#{name})"
        cells = experiment.source, link, size, format_outcome(result), format_causes(experiment, result)
        lines.append(_table_row(cells))
    return "\n".join(lines) + "\n"


# --- Sections ---


def result_section(result: StoredResult) -> str:
    """Return the section of an experiment."""
    experiment = EXPERIMENTS[result.id]
    size = "with `--full`" if result.full else "at default size"
    lines = [
        f"## {result.id}",
        "",
        f"{experiment.title}. Source: {experiment.source}. {result.summary}. Run {size}, seed {result.seed}: "
        f"{result.seconds:,.1f} s.",
        "",
        f"| figure | paper | {ours_title(experiment, result.full)} | interval | verdict | note |",
        "|---|--:|--:|--:|---|---|",
    ]
    lines += [_table_row(row_cells(row)) for row in result.rows]
    if result.notes:
        lines += ["", *(f"- {note}" for note in result.notes)]
    return "\n".join(lines) + "\n"


def format_page(results: StoredResults) -> str:
    """Return the whole page."""
    shown = {name: results[name] for name in EXPERIMENTS if name in results}
    return "\n".join([_HEADER + overview_table(shown) + _VERDICTS, *map(result_section, shown.values())])


def check_page(page: Path) -> None:
    """Raise an error before the work if the page cannot be written: it is unreadable, or is no page of results."""
    with files.disk_errors(page):
        foreign = page.exists() and bool(files.read_text(page, "page").strip()) and not results_path(page).exists()
    if foreign:
        raise InputError(
            f"page {page}: exists without {results_path(page).name}, from which it is written: choose another name"
        )
    read_results(results_path(page))


def results_path(page: Path) -> Path:
    """Return the file with the results of a page."""
    return page.with_suffix(".json")


def store_run(page: Path, run: StoredResult) -> None:
    """Store a run, and write the page of all stored results."""
    results = with_run(read_results(results_path(page)), run, EXPERIMENTS)
    write_results(results_path(page), results)
    files.write_text(page, format_page(results))
