"""Claims: figures that say whether they are exact, a bound (and on which side) or an estimate with its confidence.

    Claim("exploitability", 0.0012, "chips", EXACT)
    Claim("exploitability", 812.0, "mbb/g", LOWER, 40.0, seed=0, size=4_000, samples="hands")

    str(claim)           # exploitability 812.0 ± 40.0 mbb/g (lower bound, 4,000 hands, seed 0)
    claim.to_dict()      # the same for JSON
    claim.interval       # 95 % confidence interval: from 772 to infinity

Results, matches, best responses, reproductions and the ledger all report their figures in this form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from riverboat.core.errors import InputError, unknown_name_error

ClaimKind: TypeAlias = Literal["exact", "lower bound", "upper bound", "estimate"]

EXACT: ClaimKind = "exact"
LOWER: ClaimKind = "lower bound"
UPPER: ClaimKind = "upper bound"
ESTIMATE: ClaimKind = "estimate"
CLAIM_KINDS: tuple[ClaimKind, ...] = (EXACT, LOWER, UPPER, ESTIMATE)
_BOUND_SIDES = {LOWER: "lower", UPPER: "upper"}
_DIGITS, _MAX_DECIMALS = 3, 9  # significant digits of a half-width; the value has as many decimals


@dataclass(frozen=True)
class Claim:
    """A figure with its unit, its kind (exact, bound, estimate) and its confidence.

    Parameters
    ----------
    name
        What the figure is: exploitability, NashConv, won, ….
    value
        The figure. NaN is rejected.
    unit
        Unit of value and half-width, such as `mbb/g`.
    kind
        One of `CLAIM_KINDS`.
    half_width
        Half-width of the 95 % confidence interval of a sampled figure. Estimates need one; exact figures have none.
    game
        The game, if it is not the one being played.
    seed
        Seed of the samples.
    size
        Number of samples.
    samples
        Unit of the samples: hands, pairs, boards.

    Raises
    ------
    InputError
        The kind is unknown, the value is NaN, or the half-width does not fit the kind.

    Examples
    --------
    >>> print(Claim("exploitability", 812.0, "mbb/g", LOWER, 40.0, seed=0, size=4_000, samples="hands"))
    exploitability 812.0 ± 40.0 mbb/g (lower bound, 4,000 hands, seed 0)
    """

    name: str  # exploitability, NashConv, won, …
    value: float
    unit: str
    kind: ClaimKind
    half_width: float | None = None  # half-width of the 95 % confidence interval, for sampled figures
    game: str = ""  # the game, if it is not the one being played
    seed: int | None = None  # seed of the samples
    size: int | None = None  # number of samples
    samples: str = ""  # unit of the samples: hands, pairs, boards

    def __post_init__(self) -> None:
        if self.kind not in CLAIM_KINDS:
            raise unknown_name_error("kind of claim", self.kind, CLAIM_KINDS)
        if math.isnan(self.value):
            raise InputError(f"{self.name}: a claim needs a number, not NaN")
        if self.half_width is None and self.kind == ESTIMATE:
            raise InputError(f"{self.name}: an estimate of {self.value:g} {self.unit} without its half-width")
        if self.half_width is not None and (self.kind == EXACT or not self.half_width >= 0):
            raise InputError(f"{self.name}: {self.kind} with a half-width of {self.half_width:g}")

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the true figure: certain, or with 95 % confidence for sampled figures."""
        width = 0.0 if self.half_width is None else self.half_width
        low = -math.inf if self.kind == UPPER else self.value - width
        return low, math.inf if self.kind == LOWER else self.value + width

    @property
    def formatted_value(self) -> str:
        """The value with its half-width and unit: `812.0 ± 40.0 mbb/g`."""
        if self.half_width is None:
            return f"{self.value:.9g} {self.unit}".rstrip()
        if not 0 < self.half_width < math.inf:
            return f"{self.value:,.9g} ± {self.half_width:g} {self.unit}".rstrip()
        decimals = min(max(0, _DIGITS - 1 - math.floor(math.log10(self.half_width))), _MAX_DECIMALS)
        return f"{self.value:,.{decimals}f} ± {self.half_width:,.{decimals}f} {self.unit}".rstrip()

    @property
    def qualifiers(self) -> str:
        """The kind, sample size and seed of the figure: `lower bound, 4,000 hands, seed 0`."""
        words: list[str] = [self.kind]
        words += [self.game] if self.game else []
        words += [f"{self.size:,} {self.samples or 'samples'}"] if self.size is not None else []
        words += [f"seed {self.seed}"] if self.seed is not None else []
        return ", ".join(words)

    def __str__(self) -> str:
        return f"{self.name} {self.formatted_value} ({self.qualifiers})"

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as a dictionary for JSON, without unknown entries."""
        entries: dict[str, Any] = {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "is": "bound" if self.kind in _BOUND_SIDES else self.kind,
            "side": _BOUND_SIDES.get(self.kind),
            "ci95": self.half_width,
            "of": self.game or None,
            "seed": self.seed,
            "size": self.size,
            "samples": self.samples or None,
        }
        return {key: value for key, value in entries.items() if value is not None}

    @staticmethod
    def from_dict(entries: Mapping[str, Any]) -> Claim:
        """Read a claim from the dictionary that `to_dict` returns.

        Parameters
        ----------
        entries
            The dictionary.
        """
        kinds: dict[str, ClaimKind] = {"lower": LOWER, "upper": UPPER}
        kind: ClaimKind = kinds[entries["side"]] if entries["is"] == "bound" else entries["is"]
        return Claim(
            entries["name"], entries["value"], entries["unit"], kind, entries.get("ci95"), entries.get("of", ""),
            entries.get("seed"), entries.get("size"), entries.get("samples", ""),
        )  # fmt: skip


def to_dicts(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """Return claims as dictionaries for JSON, without infinite ones (values without a bound).

    Parameters
    ----------
    claims
        The claims.

    Returns
    -------
    list of dict
        One dictionary for each finite claim.

    Examples
    --------
    >>> to_dicts([Claim("value", 0.5, "chips", EXACT), Claim("value", math.inf, "chips", UPPER)])
    [{'name': 'value', 'value': 0.5, 'unit': 'chips', 'is': 'exact'}]
    """
    return [claim.to_dict() for claim in claims if math.isfinite(claim.value)]
