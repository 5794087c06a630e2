"""What a figure claims: that it is exact, a bound and on which side, or an estimate and how sure it is.

    Claim("exploitability", 0.0012, "chips", EXACT)
    Claim("exploitability", 812.0, "mbb/g", LOWER, 40.0, seed=0, size=4_000, samples="hands")

    str(claim)           # exploitability 812.0 ± 40.0 mbb/g (lower bound, 4,000 hands, seed 0)
    claim.to_dict()      # the same for JSON
    claim.interval       # where the true figure lies: from 772 on, in 95 cases of 100

Results, matches, best responses, reproductions and the ledger all say what they know in this one way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from riverboat.core.errors import InputError, unknown

Kind: TypeAlias = Literal["exact", "lower bound", "upper bound", "estimate"]

EXACT: Kind = "exact"
LOWER: Kind = "lower bound"
UPPER: Kind = "upper bound"
ESTIMATE: Kind = "estimate"
KINDS: tuple[Kind, ...] = (EXACT, LOWER, UPPER, ESTIMATE)
_SIDES = {LOWER: "lower", UPPER: "upper"}
_DIGITS, _MOST = 3, 9  # of a half-width; the figure has as many decimals, and so many at most


@dataclass(frozen=True)
class Claim:
    """One figure, and what it is."""

    name: str  # exploitability, NashConv, won, …
    value: float
    unit: str
    kind: Kind
    half_width: float | None = None  # of the 95 % interval, where samples were drawn
    of: str = ""  # the game, where that is not the one that is played
    seed: int | None = None  # of the samples
    size: int | None = None  # how many samples there were,
    samples: str = ""  # and of what: hands, pairs, boards

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown("kind of claim", self.kind, KINDS)
        if math.isnan(self.value):
            raise InputError(f"{self.name}: nothing is claimed by a figure that is no number")
        if self.half_width is None and self.kind == ESTIMATE:
            raise InputError(f"{self.name}: an estimate of {self.value:g} {self.unit} without its half-width")
        if self.half_width is not None and (self.kind == EXACT or not self.half_width >= 0):
            raise InputError(f"{self.name}: {self.kind} with a half-width of {self.half_width:g}")

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true figure lies: surely, or in 95 cases of 100 where samples were drawn."""
        width = 0.0 if self.half_width is None else self.half_width
        low = -math.inf if self.kind == UPPER else self.value - width
        return low, math.inf if self.kind == LOWER else self.value + width

    def times(self, factor: float, unit: str) -> Claim:
        """The same in another unit; a factor below zero exchanges the sides."""
        width = None if self.half_width is None else abs(factor) * self.half_width
        turned = {LOWER: UPPER, UPPER: LOWER}.get(self.kind, self.kind) if factor < 0 else self.kind
        return replace(self, value=factor * self.value, unit=unit, kind=turned, half_width=width)

    @property
    def figure(self) -> str:
        """The number with its half-width and unit: `812.0 ± 40.0 mbb/g`."""
        if self.half_width is None:
            return f"{self.value:.9g} {self.unit}".rstrip()
        if not 0 < self.half_width < math.inf:
            return f"{self.value:,.9g} ± {self.half_width:g} {self.unit}".rstrip()
        decimals = min(max(0, _DIGITS - 1 - math.floor(math.log10(self.half_width))), _MOST)
        return f"{self.value:,.{decimals}f} ± {self.half_width:,.{decimals}f} {self.unit}".rstrip()

    @property
    def grounds(self) -> str:
        """What the figure is and rests on: `lower bound, 4,000 hands, seed 0`."""
        words: list[str] = [self.kind]
        words += [self.of] if self.of else []
        words += [f"{self.size:,} {self.samples or 'samples'}"] if self.size is not None else []
        words += [f"seed {self.seed}"] if self.seed is not None else []
        return ", ".join(words)

    def __str__(self) -> str:
        return f"{self.name} {self.figure} ({self.grounds})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON; what is not known is left out."""
        facts: dict[str, Any] = {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "is": "bound" if self.kind in _SIDES else self.kind,
            "side": _SIDES.get(self.kind),
            "ci95": self.half_width,
            "of": self.of or None,
            "seed": self.seed,
            "size": self.size,
            "samples": self.samples or None,
        }
        return {key: value for key, value in facts.items() if value is not None}

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> Claim:
        """What `to_dict` wrote."""
        kinds: dict[str, Kind] = {"lower": LOWER, "upper": UPPER}
        kind: Kind = kinds[told["side"]] if told["is"] == "bound" else told["is"]
        return Claim(
            told["name"], told["value"], told["unit"], kind, told.get("ci95"), told.get("of", ""), told.get("seed"),
            told.get("size"), told.get("samples", ""),
        )  # fmt: skip


def to_dicts(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """Claims for JSON; those without an end (a value that nothing bounds) are left out."""
    return [claim.to_dict() for claim in claims if math.isfinite(claim.value)]
