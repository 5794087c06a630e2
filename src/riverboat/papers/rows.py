"""Rows of a reproduction: a figure of a paper beside ours, and what may be said of the two.

There are four kinds, counted apart:

- `printed`: a paper prints the figure. Ours matches when it rounds to the printed digits. Where either is an estimate, it
  matches within the errors, but only if those are small enough to tell the figure from its `rivals`: what other
  rules or conventions have in its place. An error of half the distance to a rival, or more, proves nothing.
- `theorem`: what a theorem or proposition demands of ours, up to rounding.
- `finding`: an order or a direction that a paper's table or picture shows, without a figure of its own.
- `new`: a figure of ours. Nothing is compared; its interval may be tested against a number.

A difference may be explained. The explanation holds for the value that we had then, and the row fails when ours moves, or
when it is too wide to tell whether it has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from riverboat.core.claims import ESTIMATE, EXACT, LOWER, UPPER, Claim
from riverboat.core.errors import InputError

Kind: TypeAlias = Literal["printed", "theorem", "finding", "new"]
Relation: TypeAlias = Literal["=", "<=", ">="]
Verdict: TypeAlias = Literal[
    "match", "differs", "blurred", "explained", "moved", "new", "significant", "not significant"
]

FAILS: tuple[Verdict, ...] = ("differs", "blurred", "moved")
ROUNDING = 1e-5  # of what a theorem demands: the most that linear programs and sums may be off


@dataclass(frozen=True)
class Explained:
    """Why a figure differs, and what ours was when that was understood. Write it as a constant, never from a result."""

    at: float  # ours, then
    why: str
    within: float  # how far ours may be from that now, beside the noise of an estimate

    def __post_init__(self) -> None:
        if not self.why:
            raise InputError(f"explained at {self.at:g} without a reason: say why it differs")
        if not self.within > 0:
            raise InputError(f"explained at {self.at:g}, within {self.within:g}: must be above 0")


@dataclass(frozen=True)
class Row:
    """One figure. Made by `printed`, `theorem`, `finding` and `new`."""

    name: str
    kind: Kind
    ours: float
    paper: float | None = None  # printed, or demanded; None for a figure that is ours alone
    relation: Relation = "="  # of ours to the paper's
    rounding: float = 0.0  # half a unit of the last printed digit; for theorems what rounding may be off
    low: float | None = None  # our interval, for estimates
    high: float | None = None
    certified: bool = False  # the interval is proved, not drawn: its middle has no noise
    error: float = 0.0  # of the paper's own estimate
    rivals: tuple[float, ...] = ()  # what other rules or conventions have in this place
    null: float | None = None  # the number that the interval of a new figure is tested against
    explained: Explained | None = None
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
            raise InputError(f"{where}: kind {self.kind!r} with paper={self.paper}: only new figures have none")
        if self.paper is None:
            if self.null is not None and self.low is None:
                raise InputError(f"{where}: tested against {self.null:g} without an interval")
            return
        if self.kind != "printed" and self.rounding > ROUNDING * max(1.0, abs(self.paper)):
            raise InputError(
                f"{where}: rounding {self.rounding:g}: more than rounding errors; give an interval instead"
            )
        if self.kind == "printed" and self.spread and not self.rivals:
            raise InputError(f"{where}: an estimate without rivals: say what it must be told apart from")
        self._check_explanation(where, self.paper)

    def _check_explanation(self, where: str, paper: float) -> None:
        if self.explained is not None and self.explained.within > self._most(self.explained, paper) / 2 * (1 + 1e-9):
            raise InputError(
                f"{where}: explained at {self.explained.at:g} within {self.explained.within:g}: "
                f"at most {self._most(self.explained, paper) / 2:.3g}, half of what the row must tell apart"
            )

    def _most(self, explained: Explained, paper: float) -> float:
        """What an explained row must tell apart: our value then from the paper's, or the paper's from its rivals."""
        return max(abs(explained.at - paper), self.apart if math.isfinite(self.apart) else 0.0)

    # --- what can be told apart -------------------------------------------------------------

    @property
    def spread(self) -> float:
        """Half the width of our interval and the paper's error together; 0 where neither is an estimate."""
        return math.hypot(self.half, self.error)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What is said of our figure: exact, an estimate with its interval, or bounds where the interval is proved."""
        if self.low is None or self.high is None or self.half == 0:
            return (Claim(self.name, self.ours, "", EXACT),)
        if self.certified:
            return Claim(self.name, self.low, "", LOWER), Claim(self.name, self.high, "", UPPER)
        return (Claim(self.name, self.ours, "", ESTIMATE, self.half),)

    @property
    def half(self) -> float:
        """Half the width of our interval."""
        return 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def apart(self) -> float:
        """How far the nearest rival is from the paper's figure."""
        assert self.paper is not None
        return min((abs(rival - self.paper) for rival in self.rivals), default=math.inf)

    # --- verdict ----------------------------------------------------------------------------

    @property
    def verdict(self) -> Verdict:
        """What the row says: `blurred` where estimates agree but are too wide to mean it, `moved` where an explanation
        is of another value than ours."""
        if self.paper is None:
            if self.null is None or self.low is None or self.high is None:
                return "new"
            return "not significant" if self.low <= self.null <= self.high else "significant"
        compared = self._compare(self.paper)
        if self.explained is None:
            return compared
        allowed = self.explained.within + (0.0 if self.certified else self.half)
        if abs(self.ours - self.explained.at) > allowed:
            return "moved"
        if compared in FAILS:
            return "explained" if allowed <= self._most(self.explained, self.paper) else "blurred"
        return compared

    def _compare(self, paper: float) -> Verdict:
        exact = self.rounding * (1 + 1e-9) + 1e-12  # differences of decimals carry rounding errors
        gap = self.ours - paper
        if self.relation == "<=":
            return "match" if gap <= exact else "differs"
        if self.relation == ">=":
            return "match" if gap >= -exact else "differs"
        if self.spread <= self.rounding:
            return "match" if abs(gap) <= exact else "differs"
        inside = self.low is not None and self.high is not None and self.low <= paper <= self.high
        if not inside and abs(gap) > self.spread:
            return "differs"
        return "match" if 2 * self.spread < self.apart else "blurred"

    @property
    def fine(self) -> bool:
        """Whether the row passes."""
        return self.verdict not in FAILS


def printed(
    name: str,
    paper: float,
    ours: float,
    *,
    digits: int | None = None,
    interval: tuple[float, float] | None = None,
    certified: bool = False,
    error: float = 0.0,
    rivals: Sequence[float] = (),
    explained: Explained | None = None,
    note: str = "",
) -> Row:
    """A figure that a paper prints with so many decimals, or exactly (1/3, √2)."""
    rounding = 0.5 * 10.0**-digits if digits is not None else 1e-9 * max(1.0, abs(paper))
    low, high = interval if interval is not None else (None, None)
    return Row(
        name,
        "printed",
        ours,
        paper,
        rounding=rounding,
        low=low,
        high=high,
        certified=certified,
        error=error,
        rivals=tuple(rivals),
        explained=explained,
        note=note,
    )


def theorem(
    name: str, demands: float, ours: float, relation: Relation = "=", *, rounding: float = 1e-9, note: str = ""
) -> Row:
    """What a theorem demands of ours."""
    return Row(name, "theorem", ours, demands, relation, rounding, note=note)


def finding(
    name: str,
    paper: float,
    ours: float,
    relation: Relation = "=",
    *,
    explained: Explained | None = None,
    note: str = "",
) -> Row:
    """An order or a direction that a paper shows."""
    return Row(name, "finding", ours, paper, relation, explained=explained, note=note)


def new(
    name: str, ours: float, interval: tuple[float, float] | None = None, *, null: float | None = None, note: str = ""
) -> Row:
    """A figure of ours that nothing is compared with; its interval may be tested against `null`."""
    low, high = interval if interval is not None else (None, None)
    return Row(name, "new", ours, low=low, high=high, null=null, note=note)


# --- words ------------------------------------------------------------------------------------

_WORDS: dict[Verdict, str] = {
    "explained": "differs, explained",
    "blurred": "too wide to tell",
    "moved": "moved since explained",
}
_AGREES = {"theorem": ("holds", "fails"), "finding": ("agrees", "differs")}


def verdict_words(row: Row) -> str:
    """The verdict as tables show it."""
    verdict = row.verdict
    if row.kind in _AGREES and verdict in ("match", "differs"):
        return _AGREES[row.kind][verdict == "differs"]
    return _WORDS.get(verdict, verdict)


def summary(rows: Sequence[Row]) -> str:
    """How many rows of each kind there are, and how many of them pass."""
    parts = []
    for kind, one, many in (
        ("printed", "printed figure matches", "printed figures match"),
        ("theorem", "check of a theorem holds", "checks of theorems hold"),
        ("finding", "finding agrees", "findings agree"),
    ):
        some = [row.verdict for row in rows if row.kind == kind]
        if some:
            seen = Counter(some)
            text = f"{seen['match']} of {len(some)} {one if len(some) == 1 else many}"
            for verdict, words in (
                ("explained", "explained"),
                ("differs", "unexplained"),
                ("blurred", "too wide to tell"),
                ("moved", "moved since explained"),
            ):
                if seen[verdict]:  # type: ignore[index]
                    text += f", {seen[verdict]} {words}"  # type: ignore[index]
            parts.append(text)
    ours = sum(row.kind == "new" for row in rows)
    if ours:
        parts.append(f"{ours} figure{'s' * (ours > 1)} of our own")
    return "; ".join(parts)
