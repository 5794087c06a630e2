"""How good a card abstraction is: how far hands lie from their bucket's centre, how large buckets are, who is in them.

Distances are those that the clustering left beside its tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.abstraction.cards.bucket_statistics import mean_strength, member, method_of, sizes_of
from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import show_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.tables import FIGURE, PROSE, Column, ReportTable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

QUANTILES = (0.1, 0.5, 0.9)
EXTREMES = 5  # tightest and widest buckets of a street
SAMPLES = 4  # boards shown of a public bucket
_WIDE = 150  # columns of plain text


# --- the report ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bucket:
    """One bucket. Shares are of all deals of the street; None where something is not known."""

    bucket: int
    share: float | None
    spread: float | None  # mean distance of its hands to the centre
    strength: float | None  # of the centre, 0 to 1
    nearest: str | None
    farthest: str | None


@dataclass(frozen=True)
class StreetReport:
    """The buckets of one street."""

    street: str
    method: str
    unit: str  # of distances
    buckets: int
    hands: int  # canonical
    deals: float | None
    empty: int | None  # buckets without hands
    distance: float | None  # of a hand to its centre, the mean over deals
    quantiles: dict[str, float]  # of the buckets' mean distances, over deals
    smallest: float | None  # shares of all deals, of buckets that have some
    median: float | None
    largest: float | None
    effective: float | None  # two deals fall into one bucket with the chance 1 / effective
    tightest: tuple[Bucket, ...]
    widest: tuple[Bucket, ...]


@dataclass(frozen=True)
class PublicBucket:
    """One bucket of boards."""

    bucket: int
    boards: int  # canonical
    deals: int  # boards with their suits
    share: float  # of all boards
    hands: dict[str, int]  # buckets of hands inside it, on each street
    sample: tuple[str, ...]  # boards, likely ones first


@dataclass(frozen=True)
class Report:
    """Quality of an abstraction, street by street."""

    name: str
    fingerprint: str
    bytes: int  # of the tables
    streets: tuple[StreetReport, ...]
    public: tuple[PublicBucket, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __getitem__(self, street: str) -> StreetReport:
        for row in self.streets:
            if row.street == street:
                return row
        raise InputError(f"street {street!r}: {self.name} has {', '.join(s.street for s in self.streets)}")

    def only(self, part: str | None, limit: int | None = None) -> Report:
        """One street alone, or the public buckets alone, all for None; at most `limit` public buckets."""
        streets = self.streets if part is None else tuple(s for s in self.streets if s.street == part)
        return replace(self, streets=streets, public=self.public[:limit] if part in (None, "public") else ())

    def __str__(self) -> str:
        return plain(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        if self.streets:
            yield _streets(self.streets)
        for row in self.streets:
            for title, rows in (("tightest", row.tightest), ("widest", row.widest)):
                if rows:
                    yield Text("")
                    yield Text(f"{row.street}: {title} buckets", style="bold")
                    yield _buckets(rows, row.unit)
        if self.public:
            yield Text("")
            yield Text("public buckets", style="bold")
            yield _public(self.public)


def report(abstraction: CardAbstraction, extremes: int = EXTREMES) -> Report:
    """What is known of an abstraction's buckets; `extremes` of the tightest and of the widest on each street."""
    if extremes < 0:
        raise InputError(f"extremes={extremes}: must not be negative")
    streets = tuple(_street(abstraction, r, extremes) for r in range(len(abstraction.streets)))
    size = sum(street.nbytes for street in abstraction.streets)
    return Report(abstraction.name, abstraction.fingerprint, size, streets, _public_buckets(abstraction))


def _street(abstraction: CardAbstraction, r: int, extremes: int) -> StreetReport:
    buckets = abstraction.streets[r]
    sizes, spread, method = sizes_of(abstraction, r), np.asarray(buckets.spread, float), method_of(abstraction, r)
    filled = sizes[sizes > 0] if sizes is not None else np.zeros(0)
    share = filled / filled.sum()
    distance = _number(buckets.facts.get("cost"))
    if spread.size and sizes is not None and distance is None:
        distance = float((sizes * spread)[sizes > 0].sum() / filled.sum())
    if method == "lossless":
        distance = 0.0
    quantiles = {}
    if spread.size and sizes is not None:
        known = (sizes > 0) & np.isfinite(spread)
        values = weighted_quantiles(spread[known], sizes[known], QUANTILES)
        quantiles = {f"{100 * q:g} %": float(v) for q, v in zip(QUANTILES, values, strict=True)}
    tightest, widest = _extremes(spread, sizes, extremes)
    strength = mean_strength(abstraction, r)
    return StreetReport(
        street=STREETS[r],
        method=method,
        unit=str(buckets.facts.get("unit", "")),
        buckets=buckets.count,
        hands=abstraction.indexer(r).size(),
        deals=float(filled.sum()) if sizes is not None else None,
        empty=int((sizes == 0).sum()) if sizes is not None else None,
        distance=distance,
        quantiles=quantiles,
        smallest=float(share.min()) if len(share) else None,
        median=float(np.median(share)) if len(share) else None,
        largest=float(share.max()) if len(share) else None,
        effective=float(1 / np.square(share).sum()) if len(share) else None,
        tightest=tuple(_bucket(abstraction, r, b, sizes, strength) for b in tightest),
        widest=tuple(_bucket(abstraction, r, b, sizes, strength) for b in widest),
    )


def _extremes(spread: Array, sizes: Array | None, count: int) -> tuple[list[int], list[int]]:
    """Buckets with the least and the largest spread; the larger bucket first among equals."""
    if not spread.size:
        return [], []
    size = np.ones(len(spread)) if sizes is None else sizes
    known = np.flatnonzero((size > 0) & np.isfinite(spread))
    rising = known[np.lexsort((-size[known], spread[known]))]
    falling = known[np.lexsort((-size[known], -spread[known]))]
    count = min(count, len(known))
    return rising[:count].tolist(), falling[:count].tolist()


def _bucket(abstraction: CardAbstraction, r: int, bucket: int, sizes: Array | None, strength: Array | None) -> Bucket:
    spread = abstraction.streets[r].spread
    return Bucket(
        bucket,
        float(sizes[bucket] / sizes.sum()) if sizes is not None else None,
        _number(spread[bucket]) if spread.size else None,
        float(strength[bucket]) if strength is not None else None,
        member(abstraction, r, bucket, "nearest"),
        member(abstraction, r, bucket, "farthest"),
    )


def weighted_quantiles(values: Array, weights: Array, shares: Sequence[float]) -> Array:
    """The least values that these shares of the weight do not exceed. float64 [shares]"""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    at = np.searchsorted(reached, np.asarray(shares) * reached[-1] * (1 - 1e-12))
    return np.asarray(values[order][np.minimum(at, len(order) - 1)], float)


def _public_buckets(abstraction: CardAbstraction) -> tuple[PublicBucket, ...]:
    public = abstraction.public
    if public is None:
        return ()
    boards, times = canonical_boards(public.cards, abstraction.deck)
    labels = np.asarray(public.labels)
    rows = []
    for c in range(public.count):
        mine = np.flatnonzero(labels == c)
        hands = {
            STREETS[r]: int(street.first[c + 1] - street.first[c])
            for r, street in enumerate(abstraction.streets)
            if street.first.size
        }
        shown = tuple(show_cards(sorted(boards[b].tolist(), reverse=True)) for b in sample_boards(labels, times, c))
        deals = int(times[mine].sum())
        rows.append(PublicBucket(c, len(mine), deals, deals / int(times.sum()), hands, shown))
    return tuple(rows)


def sample_boards(labels: Array, times: Array, bucket: int, count: int = SAMPLES) -> list[int]:
    """Some canonical boards of a public bucket: of its boards by how often they are dealt, at equal steps."""
    mine = np.flatnonzero(labels == bucket)
    if not len(mine):
        return []
    reached = np.cumsum(times[mine])
    steps = (np.arange(count) + 0.5) / count * reached[-1]
    return [int(b) for b in dict.fromkeys(mine[np.searchsorted(reached, steps)].tolist())]


def _number(value: Any) -> float | None:
    """A finite number, or None."""
    return float(value) if value is not None and isfinite(float(value)) else None


# --- tables -------------------------------------------------------------------------------------------


def show_number(value: float | None, kind: str = "") -> str:
    """A figure of a table: `share` in %, `count` with commas; a dash for what is not known."""
    if value is None:
        return "–"
    return f"{100 * value:.3g}" if kind == "share" else f"{value:,.0f}" if kind == "count" else f"{value:.4g}"


def plain(what: RenderableType) -> str:
    """What a terminal would show, without colours."""
    from rich.console import Console

    console = Console(width=_WIDE, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(what)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


# Of a street; the quantiles and the unit go with the distance. Ranks say what a narrow terminal does without.
_STREET = (
    Column("street"), Column("method", rank=1), Column("buckets", FIGURE), Column("empty", FIGURE, rank=3),
    Column("hands", FIGURE, rank=2), Column("distance", FIGURE),
    *(Column(f"{100 * q:g} %", FIGURE, rank=4) for q in QUANTILES), Column("unit", rank=1),
    *(Column(name, FIGURE, rank=3) for name in ("smallest %", "median %", "largest %")),
    Column("effective", FIGURE, rank=2),
)  # fmt: skip


def _streets(streets: Sequence[StreetReport]) -> ReportTable:
    rows = []
    for s in streets:
        counts = [show_number(x, "count") for x in (s.buckets, s.empty, s.hands)]
        spread = [show_number(s.quantiles.get(f"{100 * q:g} %")) for q in QUANTILES]
        shares = [show_number(x, "share") for x in (s.smallest, s.median, s.largest)]
        effective = show_number(s.effective, "count")
        rows.append((s.street, s.method, *counts, show_number(s.distance), *spread, s.unit, *shares, effective))
    return ReportTable("", _STREET, tuple(rows))


def _buckets(rows: Sequence[Bucket], unit: str) -> ReportTable:
    names = "bucket", "share %", f"distance, {unit}" if unit else "distance", "strength"
    columns = *(Column(name, FIGURE) for name in names), Column("nearest to its centre"), Column("farthest from it")
    cells = []
    for row in rows:
        figures = show_number(row.share, "share"), show_number(row.spread), show_number(row.strength)
        cells.append((f"{row.bucket:,}", *figures, row.nearest or "–", row.farthest or "–"))
    return ReportTable("", columns, tuple(cells))


def _public(rows: Sequence[PublicBucket]) -> ReportTable:
    names = "bucket", "boards", "deals", "share %", *rows[0].hands
    columns = *(Column(name, FIGURE) for name in names), Column("such as", PROSE)
    cells = []
    for row in rows:
        figures = f"{row.boards:,}", f"{row.deals:,}", show_number(row.share, "share")
        hands = [f"{count:,}" for count in row.hands.values()]
        cells.append((str(row.bucket), *figures, *hands, "  ".join(row.sample)))
    return ReportTable("", columns, tuple(cells))
