"""Rows of a reproduction: a number of a paper next to ours, and the verdict on the two.

There are five kinds, counted separately:

- `printed`: the paper prints the number. Ours matches if it rounds to the printed digits. If either is an estimate, it
  matches within the errors, but only if the errors are small enough to separate the number from its `rivals`: the
  values of other rules or conventions. An error of half the distance to a rival, or more, proves nothing.
- `theorem`: a value that a theorem or proposition requires of ours, up to rounding.
- `finding`: an order or a direction that a table or figure of the paper shows, without a number of its own. It is
  computed from the run and could come out otherwise; what holds by construction is a theorem or a new number.
- `variation`: a run that varies the supposed cause of a difference. It confirms the cause if it gives the paper's number.
- `new`: a number of ours. Nothing is compared; its interval may be tested against a null value.

A known difference is recorded with our value at that time: the row fails if ours moves, or if it is too uncertain to
tell. The difference is explained only if a row of the same report tests its cause. Otherwise the cause is untested, or
no reading of the paper was found that gives the figure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, SupportsFloat, TypeAlias

import numpy as np
from scipy.special import stdtrit

from riverboat.core.arrays import Array
from riverboat.core.claims import ESTIMATE, EXACT, LOWER, UPPER, Claim
from riverboat.core.errors import InputError

RowKind: TypeAlias = Literal["printed", "theorem", "finding", "variation", "new"]
Relation: TypeAlias = Literal["=", "<=", ">="]
RowVerdict: TypeAlias = Literal[
    "match",
    "differs",
    "blurred",
    "explained",
    "untested",
    "not found",
    "moved",
    "new",
    "significant",
    "not significant",
]

FAILED_VERDICTS: tuple[RowVerdict, ...] = ("differs", "blurred", "moved")
ESTIMATED_KINDS = "printed", "variation"  # kinds of rows that an estimate may match within errors
MAX_ROUNDING = 1e-5  # largest rounding tolerance of theorem rows, for linear programs and sums


@dataclass(frozen=True)
class ExplainedDifference:
    """A known difference from the paper's number: our value when it was recorded, and its cause or what was tried.

    Write `at` as a constant, never from a result.
    """

    at: float  # our value when the difference was recorded
    why: str = ""  # supposed cause
    within: float = 0.0  # allowed distance of ours from `at`, in addition to the noise of an estimate
    test: str = ""  # name of the row of the same report that tests the cause
    tried: str = ""  # readings that were tried, if none gives the figure; instead of `why`

    def __post_init__(self) -> None:
        if bool(self.why) == bool(self.tried):
            raise InputError(
                f"explained at {self.at:g}: give either why, the cause, or tried, readings without success"
            )
        if self.test and not self.why:
            raise InputError(f"explained at {self.at:g}: the test {self.test!r} needs why, the cause that it tests")
        if not self.within > 0:
            raise InputError(f"explained at {self.at:g}, within {self.within:g}: must be above 0")


@dataclass(frozen=True)
class ComparisonRow:
    """One number of ours, with the paper's number or the value that it is compared with.

    Create rows with `printed_row`, `theorem_row`, `finding_row`, `variation_row` and `new_row`.
    """

    name: str
    kind: RowKind
    ours: float
    paper: float | None = None  # printed or required value; None for new numbers
    relation: Relation = "="  # required relation of ours to the paper's
    rounding: float = 0.0  # half a unit of the last printed digit; for theorems the rounding tolerance
    low: float | None = None  # our interval, for estimates
    high: float | None = None
    certified: bool = False  # the interval is proved, not sampled: its middle has no noise
    error: float = 0.0  # half-width of the interval of the paper's estimate
    rivals: tuple[float, ...] = ()  # values of other rules or conventions
    null: float | None = None  # null value that the interval of a new number is tested against
    explained: ExplainedDifference | None = None
    note: str = ""

    def __post_init__(self) -> None:
        where = f"row {self.name!r}"
        if not math.isfinite(self.ours):
            raise InputError(f"{where}: ours={self.ours}: must be finite")
        if (self.low is None) != (self.high is None):
            raise InputError(f"{where}: an interval needs low and high; low={self.low}, high={self.high}")
        if self.low is not None and self.high is not None and not self.low <= self.ours <= self.high:
            raise InputError(f"{where}: ours={self.ours} is outside its interval {self.low} to {self.high}")
        if (self.kind == "new") != (self.paper is None):
            raise InputError(
                f"{where}: kind {self.kind!r} with paper={self.paper}: only rows of kind 'new' have no paper value"
            )
        if self.paper is None:
            if self.null is not None and self.low is None:
                raise InputError(f"{where}: null={self.null:g} needs an interval")
            return
        if self.kind not in ESTIMATED_KINDS and self.rounding > MAX_ROUNDING * max(1.0, abs(self.paper)):
            raise InputError(
                f"{where}: rounding {self.rounding:g}: larger than rounding errors; give an interval instead"
            )
        if self.kind in ESTIMATED_KINDS and self.combined_error and not self.rivals:
            raise InputError(f"{where}: an estimate needs rivals: give the values it must be distinguished from")
        if self.explained is not None:
            largest = self._required_resolution(self.explained, self.paper) / 2
            if self.explained.within > largest * (1 + 1e-9):
                raise InputError(
                    f"{where}: explained at {self.explained.at:g} within {self.explained.within:g}: must be at most "
                    f"{largest:.3g}, half of the required resolution"
                )

    def _required_resolution(self, explained: ExplainedDifference, paper: float) -> float:
        """Return the distance that an explained row must resolve.

        It is that of our value from the paper's, or of the paper's from its rivals.
        """
        return max(abs(explained.at - paper), self.rival_distance if math.isfinite(self.rival_distance) else 0.0)

    @property
    def combined_error(self) -> float:
        """Combined half-width of our interval and the paper's error; 0 if neither is an estimate."""
        return math.hypot(self.half_width, self.error)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Claims of our number: exact, an estimate with its interval, or bounds for a certified interval."""
        if self.low is None or self.high is None or self.half_width == 0:
            return (Claim(self.name, self.ours, "", EXACT),)
        if self.certified:
            return Claim(self.name, self.low, "", LOWER), Claim(self.name, self.high, "", UPPER)
        return (Claim(self.name, self.ours, "", ESTIMATE, self.half_width),)

    @property
    def half_width(self) -> float:
        """Half-width of our interval."""
        return 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def rival_distance(self) -> float:
        """Distance of the nearest rival to the paper's number."""
        assert self.paper is not None
        return min((abs(rival - self.paper) for rival in self.rivals), default=math.inf)

    @property
    def verdict(self) -> RowVerdict:
        """Verdict of the row: how our figure compares with the paper's.

        `blurred`: the figures agree within our interval, but the interval is too wide to exclude a real difference;
        `moved`: a known difference was recorded with its value, and our figure now differs from that value;
        `untested`: no row tests the supposed cause of a known difference; `not found`: no reading gives the figure.
        """
        if self.paper is None:
            if self.null is None or self.low is None or self.high is None:
                return "new"
            return "not significant" if self.low <= self.null <= self.high else "significant"
        compared = self._compare(self.paper)
        if self.explained is None:
            return compared
        allowed = self.explained.within + (0.0 if self.certified else self.half_width)
        if abs(self.ours - self.explained.at) > allowed:
            return "moved"
        if compared in FAILED_VERDICTS:
            if allowed > self._required_resolution(self.explained, self.paper):
                return "blurred"
            if self.explained.tried:
                return "not found"
            return "explained" if self.explained.test else "untested"
        return compared

    def _compare(self, paper: float) -> RowVerdict:
        exact = self.rounding * (1 + 1e-9) + 1e-12  # differences of decimals have rounding errors
        gap = self.ours - paper
        ordered = self.kind == "finding" and self.relation != "="
        if ordered and self.low is not None and self.high is not None and self.low < paper < self.high:
            return "blurred"
        if self.relation != "=" or self.combined_error <= self.rounding:
            holds = {"<=": gap <= exact, ">=": gap >= -exact, "=": abs(gap) <= exact}
            return "match" if holds[self.relation] else "differs"
        inside = self.low is not None and self.high is not None and self.low <= paper <= self.high
        if not inside and abs(gap) > self.combined_error:
            return "differs"
        return "match" if 2 * self.combined_error < self.rival_distance else "blurred"

    @property
    def passes(self) -> bool:
        """Whether the row passes."""
        return self.verdict not in FAILED_VERDICTS


# --- Constructors: `ours` may be a number of any kind; integers remain integers ---


def printed_row(
    name: str,
    paper: float,
    ours: SupportsFloat,
    *,
    digits: int | None = None,
    interval: tuple[float, float] | None = None,
    half_width: float | None = None,
    certified: bool = False,
    error: float = 0.0,
    rivals: Sequence[float] = (),
    explained: ExplainedDifference | None = None,
    note: str = "",
) -> ComparisonRow:
    """Create a row for a number that a paper prints.

    `digits` counts the printed decimals; None if the number is exact (1/3, √2). Our interval is given by its ends or by
    its half-width. `error` is the half-width of the paper's interval. `rivals` are values that ours must be
    distinguished from.
    """
    rounding = 0.5 * 10.0**-digits if digits is not None else 1e-9 * max(1.0, abs(paper))
    return ComparisonRow(
        name, "printed", as_number(ours), paper, "=", rounding, *_ends(ours, interval, half_width), certified, error,
        tuple(rivals), explained=explained, note=note,
    )  # fmt: skip


def theorem_row(
    name: str, required: float, ours: SupportsFloat, relation: Relation = "=", *, rounding: float = 1e-9, note: str = ""
) -> ComparisonRow:
    """Create a row for a value that a theorem requires: `ours` `relation` `required`, up to `rounding`."""
    return ComparisonRow(name, "theorem", as_number(ours), required, relation, rounding, note=note)


def finding_row(
    name: str,
    paper: float,
    ours: SupportsFloat,
    relation: Relation = "=",
    *,
    half_width: float | None = None,
    explained: ExplainedDifference | None = None,
    note: str = "",
) -> ComparisonRow:
    """Create a row for an order or a direction that a paper shows: `ours` `relation` `paper`.

    `ours` is computed from the run and could come out otherwise. An estimate has the half-width of its interval, which
    must lie on one side of `paper` to tell, or contain it if the paper shows no difference (`=`).
    """
    low, high = _ends(ours, None, half_width)
    return ComparisonRow(
        name, "finding", as_number(ours), paper, relation, low=low, high=high, explained=explained, note=note
    )


def variation_row(
    name: str,
    paper: float,
    ours: SupportsFloat,
    relation: Relation = "=",
    *,
    digits: int | None = None,
    half_width: float | None = None,
    error: float = 0.0,
    rivals: Sequence[float] = (),
    note: str = "",
) -> ComparisonRow:
    """Create a row that tests the cause of a difference: `ours` is our number with the supposed cause varied.

    The cause is confirmed if it matches the paper's number, under the same rules as a printed number; `rivals` contain
    our number without the variation, which an estimate must be distinguished from.
    """
    rounding = 0.5 * 10.0**-digits if digits is not None else 1e-9 * max(1.0, abs(paper))
    return ComparisonRow(
        name, "variation", as_number(ours), paper, relation, rounding, *_ends(ours, None, half_width), False, error,
        tuple(rivals), note=note,
    )  # fmt: skip


def new_row(
    name: str,
    ours: SupportsFloat,
    interval: tuple[float, float] | None = None,
    *,
    half_width: float | None = None,
    null: float | None = None,
    note: str = "",
) -> ComparisonRow:
    """Create a row for a number of ours without comparison.

    Its interval, given by its ends or by its half-width, may be tested against `null`.
    """
    low, high = _ends(ours, interval, half_width)
    return ComparisonRow(name, "new", as_number(ours), low=low, high=high, null=null, note=note)


def mean_row(
    name: str, samples: Sequence[float] | Array, *, null: float | None = None, note: str = ""
) -> ComparisonRow:
    """Create a row for the mean of independent samples, with its 95 % interval; a single sample has no width."""
    half_width = 1.96 * float(np.std(samples, ddof=1)) / len(samples) ** 0.5 if len(samples) > 1 else 0.0
    return new_row(name, np.mean(samples), half_width=half_width, null=null, note=note)


def student_half_width(samples: Sequence[float] | Array) -> float:
    """Return the half-width of the 95 % interval of the mean of a few independent samples, by Student's t."""
    return float(stdtrit(len(samples) - 1, 0.975) * np.std(samples, ddof=1) / len(samples) ** 0.5)


def as_number(value: SupportsFloat) -> float:
    """Convert a number, such as a NumPy scalar, to one that JSON can store."""
    return value if isinstance(value, int) else float(value)


def _ends(
    ours: SupportsFloat, interval: tuple[float, float] | None, half_width: float | None
) -> tuple[float | None, float | None]:
    """Return both ends of an interval that is given by its ends or by its half-width."""
    if half_width is not None:
        return float(ours) - float(half_width), float(ours) + float(half_width)
    return interval if interval is not None else (None, None)


# --- Labels ---

_VERDICT_LABELS: dict[RowVerdict, str] = {
    "explained": "differs, explained",
    "untested": "differs, cause not tested",
    "not found": "differs: no reading was found that gives the figure",
    "differs": "differs",
    "blurred": "too wide to tell",
    "moved": "moved since explained",
}
_KIND_VERDICT_LABELS = {
    "theorem": ("holds", "fails"),
    "finding": ("agrees", "differs"),
    "variation": ("confirms", "refutes"),
}


class JudgedRow(Protocol):
    """A row with its verdict: of an experiment that just ran, or of a stored result."""

    @property
    def kind(self) -> RowKind:
        """Kind of the row."""
        ...

    @property
    def verdict(self) -> RowVerdict:
        """Verdict of the row."""
        ...


def format_verdict(row: JudgedRow) -> str:
    """Return the label of a verdict for tables."""
    verdict = row.verdict
    if row.kind in _KIND_VERDICT_LABELS and verdict in ("match", "differs"):
        return _KIND_VERDICT_LABELS[row.kind][verdict == "differs"]
    return _VERDICT_LABELS.get(verdict, verdict)


_KIND_SUMMARIES = {
    "printed": ("printed figure matches", "printed figures match"),
    "theorem": ("check of a theorem holds", "checks of theorems hold"),
    "finding": ("finding agrees", "findings agree"),
    "variation": ("test confirms its cause", "tests confirm their causes"),
}
_FAILURE_SUMMARIES: dict[RowVerdict, str] = _VERDICT_LABELS | {
    "explained": "explained",
    "untested": "with an untested cause",
    "not found": "without a reading that gives the figure",
    "differs": "unexplained",
}


def summarize_rows(rows: Sequence[JudgedRow]) -> str:
    """Return a sentence with the number of rows of each kind, and how many match."""
    parts = []
    for kind, labels in _KIND_SUMMARIES.items():
        counts = Counter(row.verdict for row in rows if row.kind == kind)
        if total := counts.total():
            parts.append(f"{counts['match']} of {total} {labels[total > 1]}")
            parts[-1] += "".join(f", {counts[v]} {label}" for v, label in _FAILURE_SUMMARIES.items() if counts[v])
    if ours := sum(row.kind == "new" for row in rows):
        parts.append(f"{ours} figure{'s' * (ours > 1)} of our own")
    return "; ".join(parts)
