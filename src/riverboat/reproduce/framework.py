"""What an experiment is, and which there are.

An experiment compares figures of a paper with ours. It is thin: the algorithms are public API of their rooms. Each lives
in a module of its own with a module-level `EXPERIMENT`, imported when it is asked for.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from riverboat.errors import InputError, unknown

Verdict: TypeAlias = Literal["match", "differs", "new"]

MODULES: dict[str, str] = {
    "essay-kuhn-trace": "essay_kuhn_trace",
    "essay-rps": "essay_rps",
    "emd-example": "emd_example",
    "purification-matrices": "purification_matrices",
    "purification-leduc": "purification_leduc",
    "translation-clairvoyance": "translation_clairvoyance",
    "translation-kuhn": "translation_kuhn",
    "translation-leduc": "translation_leduc",
    "safe-exploitation-kuhn": "safe_exploitation_kuhn",
    "rpst": "rpst",
    "dbbr-leduc": "dbbr_leduc",
    "restricted-nash-leduc": "restricted_nash_leduc",
    "coin-toss": "coin_toss",
    "blueprint-convergence": "blueprint_convergence",
}


@dataclass(frozen=True)
class Row:
    """One figure. A paper's figure matches when it is within `tolerance` of ours or inside our interval.

    `explained` marks a difference whose reason `note` gives, such as a misprint; it is still a difference.
    """

    name: str
    paper: float | None  # None where no paper prints the figure
    ours: float
    low: float | None = None  # our interval, for figures that are estimates
    high: float | None = None
    tolerance: float = 0.0
    note: str = ""
    explained: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(self.ours):
            raise InputError(f"row {self.name!r}: ours={self.ours}: must be finite")
        if (self.low is None) != (self.high is None):
            raise InputError(f"row {self.name!r}: an interval needs low and high; low={self.low}, high={self.high}")
        if self.explained and not self.note:
            raise InputError(f"row {self.name!r}: explained without a note: say why it differs")

    @property
    def verdict(self) -> Verdict:
        """`match`, `differs`, or `new` where there is nothing to compare with."""
        if self.paper is None:
            return "new"
        inside = self.low is not None and self.high is not None and self.low <= self.paper <= self.high
        # A tolerance is a decimal such as 0.005 and differences of decimals carry rounding errors.
        near = abs(self.ours - self.paper) <= self.tolerance * (1 + 1e-9) + 1e-12
        return "match" if inside or near else "differs"

    @property
    def fine(self) -> bool:
        """Nothing differs without an explanation."""
        return self.explained or self.verdict != "differs"


@dataclass(frozen=True)
class Curve:
    """A line of a picture."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    panel: str = ""  # curves of one panel share its axes; the panel's title

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise InputError(f"curve {self.name!r}: {len(self.x)} x for {len(self.y)} y")


@dataclass(frozen=True)
class Report:
    """What a run found."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()  # conventions, slips of the text, what was left out
    curves: tuple[Curve, ...] = ()
    log: bool = False  # whether the picture's axes are logarithmic

    @property
    def fine(self) -> bool:
        """No row differs without an explanation."""
        return all(row.fine for row in self.rows)

    def row(self, name: str) -> Row:
        """A row by its name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise unknown("row", name, [row.name for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "rows": [asdict(row) | {"verdict": row.verdict} for row in self.rows],
            "notes": list(self.notes),
            "curves": [asdict(curve) for curve in self.curves],
            "fine": self.fine,
        }


@dataclass(frozen=True)
class Experiment:
    """A table or figure that can be computed again."""

    id: str
    title: str
    source: str  # authors, year, table or figure
    cost: str  # of the default run on two cores, such as "20 s"
    full_cost: str  # with --full; the same where the default is already everything
    run: Callable[[bool, int], Report]  # (full, seed)


def find(name: str) -> Experiment:
    """An experiment by its id."""
    if name not in MODULES:
        raise unknown("experiment", name, MODULES)
    module = importlib.import_module(f"riverboat.reproduce.{MODULES[name]}")
    experiment: Experiment = module.EXPERIMENT
    return experiment
