"""Reports of experiments that reproduce tables and figures of papers, and cached parts of long experiments.

An experiment is a function of `full` and `seed` that compares the numbers of a paper with those of this package and
returns an `ExperimentReport`. It contains no algorithms of its own: it calls the public API of other packages.
`experiments.toml` describes all experiments, with the notes of their reports; `papers.registry` lists them.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any, SupportsFloat, TypeAlias

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.cache import cached_arrays, reused_seconds
from riverboat.core.claims import to_dicts
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.core.files import parse_toml
from riverboat.papers.rows import ComparisonRow


@dataclass(init=False)
class Curve:
    """One curve of a figure."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    panel: str  # title of the panel; curves of one panel share its axes

    def __init__(self, name: str, x: Iterable[SupportsFloat], y: Iterable[SupportsFloat], panel: str = "") -> None:
        self.name, self.x, self.y, self.panel = name, tuple(map(float, x)), tuple(map(float, y)), panel
        if len(self.x) != len(self.y):
            raise InputError(f"curve {self.name!r}: {len(self.x)} x for {len(self.y)} y")


@dataclass(frozen=True)
class ExperimentReport:
    """The results of an experiment."""

    rows: Sequence[ComparisonRow]
    notes: Sequence[str] = ()  # conventions, errors in the paper, omissions
    curves: Sequence[Curve] = ()
    log: bool = False  # whether the axes of the figure are logarithmic
    draw: Callable[[], Any] | None = None  # makes the figure, instead of curves or bars of rows

    def __post_init__(self) -> None:
        kinds = {row.name: row.kind for row in self.rows}
        for row in self.rows:
            test = row.explained.test if row.explained else ""
            if test and kinds.get(test, "new") == "new":
                raise InputError(
                    f"row {row.name!r}: its cause is tested by {test!r}: no row with a comparison has that name"
                )

    @property
    def passes(self) -> bool:
        """Whether every row passes."""
        return all(row.passes for row in self.rows)

    def row(self, name: str) -> ComparisonRow:
        """Return a row by its name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise unknown_name_error("row", name, [row.name for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        return {
            "rows": [
                asdict(row) | {"verdict": row.verdict, "fine": row.passes, "claims": to_dicts(row.claims)}
                for row in self.rows
            ],
            "notes": list(self.notes),
            "curves": [asdict(curve) for curve in self.curves],
            "fine": self.passes,
        }


# --- Descriptions of experiments ---


@cache
def experiment_descriptions() -> dict[str, dict[str, Any]]:
    """Read `experiments.toml`: title, source, cost, function, options and notes of each experiment by its id."""
    return parse_toml(resources.files("riverboat.papers").joinpath("experiments.toml").read_text(encoding="utf-8"))


def load_figures(experiment: str, table: str = "printed") -> dict[str, Any]:
    """Return a table of `experiments.toml`: the printed figures of an experiment, or its `explained` differences."""
    return dict(experiment_descriptions()[experiment][table])


def format_notes(experiment: str, **values: object) -> tuple[str, ...]:
    """Return the notes of an experiment in `experiments.toml`; `values` replace the placeholders."""
    return tuple(note.format_map(values) for note in experiment_descriptions()[experiment]["notes"])


# --- Announcements of long experiments ---

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listen(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with the announcements of experiments that run in this context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def announce(text: str) -> None:
    """Tell whoever listens what a part of an experiment is about to do."""
    listener = _listener.get()
    if listener is not None:
        listener(text)


# --- Long experiments in cached parts ---

PartArrays: TypeAlias = dict[str, Array]


class PartNotRequested(Exception):
    """Raised for a part that is not in the cache and not requested in this run."""


class ExperimentParts:
    """The parts of a long experiment, read from the user's cache or computed; an interrupted run resumes after them."""

    def __init__(self, name: str, cache_key: str, *, use_cache: bool, part: int = 0) -> None:
        """Create the parts of an experiment `name`.

        `cache_key` identifies all settings that results depend on. `part` is the number of the only part to compute,
        from 1 in the order of the calls of `get_or_compute`, or 0 for all.
        """
        if part < 0:
            raise InputError(f"part={part}: must be 1 or more, or 0 for all parts")
        digest = hashlib.sha256(cache_key.encode()).hexdigest()[:12]
        self.name, self.use_cache, self.part = f"{name}-{digest}", use_cache, part
        self.num_requested = 0
        self.seconds = 0.0  # total time of all available parts, including those of earlier runs
        self.missing: list[str] = []

    def get_or_compute(self, name: str, compute: Callable[[], Mapping[str, object]]) -> PartArrays | None:
        """Return the arrays of a part from the cache or by `compute`; None if it is neither cached nor requested."""
        self.num_requested += 1

        def work() -> PartArrays:
            if self.part not in (0, self.num_requested):
                raise PartNotRequested
            start_time, reused = time.perf_counter(), reused_seconds()
            results = {key: np.asarray(value, float) for key, value in compute().items()}
            return results | {"seconds": np.array(time.perf_counter() - start_time + reused_seconds() - reused)}

        try:
            results = cached_arrays(f"{self.name}-{name}", work) if self.use_cache else work()
        except PartNotRequested:
            self.missing.append(f"{name} (part={self.num_requested})")
            return None
        self.seconds += float(results["seconds"])
        return results

    @property
    def note(self) -> str:
        """Description of the available parts; complete only after the last part."""
        if self.part > self.num_requested:
            raise InputError(f"part={self.part}: must be 1 to {self.num_requested}, or 0 for all parts")
        if not self.missing:
            return f"All {self.num_requested} parts took {self.seconds:,.0f} s."
        done = f"{self.num_requested - len(self.missing)} of {self.num_requested} parts took {self.seconds:,.0f} s."
        return f"{done} Missing: {', '.join(self.missing)}."
