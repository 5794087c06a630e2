"""Stored results of experiments: the last run of each, and the summary of its last run at full size.

`riverboat reproduce --docs PAGE.md` stores them in `PAGE.json` beside the page, which is written from them alone.
`riverboat reproduce --list` reads those of `docs/reproductions.json`, which the wheel contains as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from riverboat.core import files
from riverboat.core.errors import InputError
from riverboat.papers.framework import ExperimentReport
from riverboat.papers.registry import Experiment
from riverboat.papers.rows import ComparisonRow, Relation, RowKind, RowVerdict, summarize_rows

PUBLISHED_FILE = "reproductions.json"
DIFFERING: tuple[RowVerdict, ...] = ("differs", "explained", "untested", "not found", "moved", "blurred")


@dataclass(frozen=True)
class StoredRow:
    """A row of a stored result: the numbers of a `ComparisonRow` with its verdict."""

    name: str
    kind: RowKind
    verdict: RowVerdict
    ours: float
    paper: float | None = None
    relation: Relation = "="
    low: float | None = None
    high: float | None = None
    note: str = ""
    why: str = ""  # cause of a known difference, or the readings that were tried
    test: str = ""  # name of the row that tests the cause

    @classmethod
    def of(cls, row: ComparisonRow) -> StoredRow:
        """Return the stored form of a row."""
        known = row.explained
        why, test = (known.why or known.tried, known.test) if known else ("", "")
        return cls(
            row.name, row.kind, row.verdict, row.ours, row.paper, row.relation, row.low, row.high, row.note, why, test
        )


@dataclass(frozen=True)
class StoredResult:
    """The last stored run of an experiment."""

    id: str
    full: bool
    seed: int
    seconds: float  # of computing, including that of parts read from the cache
    rows: tuple[StoredRow, ...]
    notes: tuple[str, ...] = ()
    full_summary: str = ""  # what the last run at full size found; empty if there was none

    @classmethod
    def of(
        cls, experiment: Experiment, report: ExperimentReport, full: bool, seed: int, seconds: float
    ) -> StoredResult:
        """Return the stored form of a run."""
        rows = tuple(map(StoredRow.of, report.rows))
        return cls(experiment.id, full, seed, seconds, rows, tuple(report.notes), summarize_rows(rows) if full else "")

    @property
    def summary(self) -> str:
        """What the run found, in one sentence."""
        return summarize_rows(self.rows)


StoredResults = dict[str, StoredResult]


def read_results(path: Path) -> StoredResults:
    """Read stored results by experiment; empty if the file does not exist."""
    with files.disk_errors(path):
        text = files.read_text(path, "results") if path.exists() else "{}"
    return _parse_results(text, str(path))


def _parse_results(text: str, place: str) -> StoredResults:
    try:
        entries: Mapping[str, Any] = json.loads(text)
        return {name: _parse_result(name, entry) for name, entry in entries.items()}
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise InputError(
            f"results {place}: {error}; delete the file, or write it again with `reproduce --docs`"
        ) from None


def _parse_result(name: str, entry: Mapping[str, Any]) -> StoredResult:
    rows = tuple(StoredRow(**row) for row in entry["rows"])
    facts = {key: entry[key] for key in ("full", "seed", "seconds", "full_summary")}
    return StoredResult(name, rows=rows, notes=tuple(entry["notes"]), **facts)


def write_results(path: Path, results: StoredResults) -> None:
    """Write stored results, one row a line."""
    files.write_text(path, _format_object({name: _format_result(result) for name, result in results.items()}) + "\n")


def _format_result(result: StoredResult) -> str:
    row_lines = (json.dumps(_without_defaults(row), ensure_ascii=False) for row in result.rows)
    facts = {key: getattr(result, key) for key in ("full", "seed", "seconds", "full_summary", "notes")}
    texts = {key: json.dumps(value, ensure_ascii=False) for key, value in facts.items()}
    return _format_object(texts | {"rows": "[\n" + ",\n".join(row_lines) + "\n]"})


def _format_object(values: Mapping[str, str]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {value}" for key, value in values.items()) + "\n}"


def _without_defaults(row: StoredRow) -> dict[str, Any]:
    defaults = StoredRow.__dataclass_fields__
    return {key: value for key, value in asdict(row).items() if value != defaults[key].default}


def with_run(results: StoredResults, run: StoredResult, order: Iterable[str]) -> StoredResults:
    """Return results with the run of an experiment replaced, in the given order; the last full summary stays."""
    before = results.get(run.id)
    if before is not None and not run.full:
        run = replace(run, full_summary=before.full_summary)
    merged = results | {run.id: run}
    return {name: merged[name] for name in order if name in merged}


def published_results() -> StoredResults:
    """Return the results of the documentation of this version; empty if it comes without them."""
    for file in (
        resources.files("riverboat.papers").joinpath(PUBLISHED_FILE),  # in a wheel
        Path(__file__).parents[3] / "docs" / PUBLISHED_FILE,  # in a checkout
    ):
        if file.is_file():
            return _parse_results(file.read_text(encoding="utf-8"), str(file))
    return {}


def differing_rows(rows: Sequence[StoredRow]) -> list[StoredRow]:
    """Return the rows in which ours differs from the paper's, tests of causes apart."""
    return [row for row in rows if row.verdict in DIFFERING and row.kind != "variation"]
