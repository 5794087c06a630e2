"""Quality of a card abstraction: distances of hands to their centroids, sizes of buckets, and members.

Distances are those that the clustering stored with its tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.abstraction.clustering.features import HISTOGRAM_BINS
from riverboat.cards.equity.equities import starting_hand_classes
from riverboat.cards.features.hand_features import published_ochs_groups
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import format_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.tables import FIGURE, PROSE, ReportColumn, ReportTable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

# --- statistics of buckets ----------------------------------------------------------------------------

OCHS_STEPS = 255  # resolution of strengths that are stored in bytes
_MAX_COUNTED_HANDS = 2_000_000  # most hands that are counted if the sizes are not stored


# --- members as deals ---------------------------------------------------------------------------------


def public_bucket_of(abstraction: CardAbstraction, street: int, bucket: int) -> int | None:
    """Return the public bucket that contains a bucket.

    Parameters
    ----------
    abstraction
        The abstraction.
    street
        Street, from 0.
    bucket
        Bucket of the street.

    Returns
    -------
    int or None
        None if the street has no public buckets.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> public_bucket_of(lossless_abstraction(), 1, 5) is None
    True
    """
    first = abstraction.streets[street].first
    return int(np.searchsorted(first, bucket, side="right")) - 1 if first.size else None


def representative_deal(
    abstraction: CardAbstraction, street: int, number: int, bucket: int | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return hole cards and board of a canonical index, high cards first.

    Parameters
    ----------
    abstraction
        The abstraction.
    street
        Street, from 0.
    number
        Canonical index of the hand on the street.
    bucket
        Bucket whose public cards come first on the board, if it has public ones.

    Returns
    -------
    tuple of tuple of int
        Card numbers of the hand and of the board.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> hand, board = representative_deal(lossless_abstraction(), 1, 0)
    >>> len(hand), len(board)
    (2, 3)
    """
    hole = abstraction.deck.hole
    cards = abstraction.indexer(street).unindex(int(number)).tolist()
    hand, board = sorted(cards[:hole], reverse=True), sorted(cards[hole:], reverse=True)
    public = public_bucket_of(abstraction, street, bucket) if bucket is not None else None
    if abstraction.public is not None and public is not None and len(board) > abstraction.public.cards:
        for flop in combinations(board, abstraction.public.cards):
            if int(abstraction.public.buckets(np.array(flop, np.uint8))) == public:
                board = [*flop, *(card for card in board if card not in flop)]
                break
    return tuple(hand), tuple(board)


def show_deal(hand: Iterable[int], board: Iterable[int]) -> str:
    """Format a deal as `KsJs on Td9d6h`; before the flop the hand alone.

    Parameters
    ----------
    hand, board
        Card numbers.

    Returns
    -------
    str
        The deal.

    Examples
    --------
    >>> show_deal([47, 39], [33, 29, 18])
    'KsJs on Td9d6h'
    """
    shown = format_cards(board)
    return format_cards(hand) + (f" on {shown}" if shown else "")


def member_deal(abstraction: CardAbstraction, street: int, bucket: int, extreme: str) -> str | None:
    """Return the nearest or farthest member of a bucket as a deal.

    Parameters
    ----------
    abstraction
        The abstraction.
    street
        Street, from 0.
    bucket
        Bucket of the street.
    extreme
        `nearest` or `farthest`, from the centroid.

    Returns
    -------
    str or None
        None if the abstraction does not store it.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> member_deal(lossless_abstraction(), 0, 0, "nearest") is None
    True
    """
    numbers = getattr(abstraction.streets[street], extreme)
    if not numbers.size or numbers[bucket] < 0:
        return None
    return show_deal(*representative_deal(abstraction, street, int(numbers[bucket]), bucket))


def clustering_method(abstraction: CardAbstraction, street: int) -> str:
    """Return the method that made the buckets of a street.

    Parameters
    ----------
    abstraction
        The abstraction.
    street
        Street, from 0.

    Returns
    -------
    str
        Method of the recipe, or `unknown`.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> clustering_method(lossless_abstraction(), 0)
    'lossless'
    """
    buckets = abstraction.streets[street]
    return str(buckets.metadata.get("method", "unknown" if buckets.labels.size else "lossless"))


def bucket_sizes(abstraction: CardAbstraction, street: int) -> Array | None:
    """Return the number of deals in each bucket of a street.

    Parameters
    ----------
    abstraction
        The abstraction.
    street
        Street, from 0.

    Returns
    -------
    Array or None
        float64 [buckets]; None if the sizes are not stored and there are too many hands to count.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> float(bucket_sizes(lossless_abstraction(), 0).sum())
    1326.0
    """
    buckets = abstraction.streets[street]
    if buckets.sizes.size:
        return np.asarray(buckets.sizes, float)
    indexer = abstraction.indexer(street)
    if buckets.cuts.size or buckets.layer.size or indexer.size() > _MAX_COUNTED_HANDS:
        return None
    times = np.asarray(indexer.count(np.arange(indexer.size())), float)
    return times if not buckets.labels.size else np.bincount(buckets.labels[0], times, buckets.count)


# --- centroids as strengths ---------------------------------------------------------------------------


def centroid_kind(abstraction: CardAbstraction, street: int) -> str:
    """Return the kind of a street's centroids.

    Parameters
    ----------
    abstraction
        The abstraction.
    street
        Street, from 0.

    Returns
    -------
    str
        `histogram` of river strength, `potential` (over the buckets of the next street), `ochs`, `strength`, or an
        empty text without centroids.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> centroid_kind(lossless_abstraction(), 0)
    ''
    """
    buckets = abstraction.streets[street]
    if not buckets.centres.size:
        return ""
    width = buckets.centres.shape[1]
    if buckets.metadata.get("method") == "potential" and width != HISTOGRAM_BINS:
        return "potential"
    if width == 1:
        return "strength"
    return "histogram" if np.abs(np.sum(buckets.centres, axis=1, dtype=float) - 1).max() < 1e-3 else "ochs"


def ochs_equities(centres: Array) -> Array:
    """Convert OCHS centroids, which clustering stores in whole steps, to shares from 0 to 1.

    Parameters
    ----------
    centres
        [buckets, groups], in steps of 1/255 or in shares.

    Returns
    -------
    Array
        float64 [buckets, groups].

    Examples
    --------
    >>> ochs_equities(np.array([[0, 51, 255]])).tolist()
    [[0.0, 0.2, 1.0]]
    """
    centres = np.asarray(centres, float)
    return centres / (OCHS_STEPS if centres.max() > 1 else 1)


def mean_strengths(abstraction: CardAbstraction, street: int) -> Array | None:
    """Return E[HS] of each centroid of a street.

    Parameters
    ----------
    abstraction
        The abstraction.
    street
        Street, from 0.

    Returns
    -------
    Array or None
        float64 [buckets], for OCHS weighted by the sizes of the groups; None without centroids.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> mean_strengths(lossless_abstraction(), 0) is None
    True
    """
    centres, kind = np.asarray(abstraction.streets[street].centres, float), centroid_kind(abstraction, street)
    if kind == "strength":
        return np.asarray(centres[:, 0])
    if kind == "ochs":
        groups = published_ochs_groups()
        fits = centres.shape[1] == groups.max() + 1
        combos = np.bincount(groups[starting_hand_classes()]) if fits else np.ones(centres.shape[1])
        return np.asarray(ochs_equities(centres) @ (combos / combos.sum()))
    histograms = strength_histograms(abstraction, street)
    if histograms is None:
        return None
    return np.asarray(histograms @ ((np.arange(histograms.shape[1]) + 0.5) / histograms.shape[1]))


def strength_histograms(abstraction: CardAbstraction, street: int) -> Array | None:
    """Return the centroids of a street as normalized histograms of river strength.

    Parameters
    ----------
    abstraction
        The abstraction.
    street
        Street, from 0.

    Returns
    -------
    Array or None
        float64 [buckets, bins]. For `potential` the histograms of the next street's centroids are mixed; OCHS and
        strengths fall into one bin. None without centroids.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> strength_histograms(lossless_abstraction(), 0) is None
    True
    """
    buckets, kind = abstraction.streets[street], centroid_kind(abstraction, street)
    centres = np.asarray(buckets.centres, float)
    if kind == "histogram":
        return np.asarray(centres / centres.sum(axis=1, keepdims=True))
    if kind == "potential":
        next_histograms = strength_histograms(abstraction, street + 1)
        if next_histograms is None:
            return None
        if not buckets.first.size:
            return np.asarray(centres @ next_histograms)
        next_first = abstraction.streets[street + 1].first
        out = np.zeros((len(centres), next_histograms.shape[1]))
        for c in range(len(buckets.first) - 1):
            rows, successors = (slice(*first[c : c + 2].tolist()) for first in (buckets.first, next_first))
            inside = next_histograms[successors]
            out[rows] = centres[rows, : len(inside)] @ inside
        return out
    strength = mean_strengths(abstraction, street) if kind else None
    if strength is None:
        return None
    return np.asarray(np.eye(HISTOGRAM_BINS)[np.minimum((HISTOGRAM_BINS * strength).astype(int), HISTOGRAM_BINS - 1)])


QUANTILES = (0.1, 0.5, 0.9)
NUM_EXTREMES = 5  # tightest and widest buckets of a street
NUM_SAMPLE_BOARDS = 4  # sample boards of a public bucket
_TEXT_WIDTH = 150  # columns of plain text


# --- reports ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BucketReport:
    """Statistics of one bucket. Unknown values are None.

    Attributes
    ----------
    bucket
        Number of the bucket on its street.
    share
        Share of all deals of the street.
    spread
        Mean distance of its hands to the centroid.
    strength
        Strength of the centroid, 0 to 1.
    nearest, farthest
        The members nearest to the centroid and farthest from it, as deals.

    Examples
    --------
    >>> BucketReport(3, 0.01, None, 0.5, "AsKs", None).share
    0.01
    """

    bucket: int
    share: float | None
    spread: float | None  # mean distance of its hands to the centroid
    strength: float | None  # of the centroid, 0 to 1
    nearest: str | None
    farthest: str | None


@dataclass(frozen=True)
class StreetReport:
    """Statistics of the buckets of one street. Unknown values are None.

    Attributes
    ----------
    street
        Name of the street.
    method
        Method that made the buckets.
    unit
        Unit of distances.
    buckets
        Number of buckets.
    hands
        Number of canonical hands.
    deals
        Number of deals.
    empty
        Number of buckets without hands.
    distance
        Distance from a hand to its centroid, mean over deals.
    quantiles
        Quantiles of the buckets' mean distances, over deals.
    smallest, median, largest
        Shares of all deals, over buckets that are not empty.
    effective
        Effective number of buckets: two deals share a bucket with probability 1 / effective.
    tightest, widest
        Buckets with the smallest and the largest mean distances.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> report_quality(lossless_abstraction((3,)))["preflop"].buckets
    169
    """

    street: str
    method: str
    unit: str  # of distances
    buckets: int
    hands: int  # canonical
    deals: float | None
    empty: int | None  # buckets without hands
    distance: float | None  # from a hand to its centroid, mean over deals
    quantiles: dict[str, float]  # of the buckets' mean distances, over deals
    smallest: float | None  # shares of all deals, over buckets that are not empty
    median: float | None
    largest: float | None
    effective: float | None  # two deals share a bucket with probability 1 / effective
    tightest: tuple[BucketReport, ...]
    widest: tuple[BucketReport, ...]


@dataclass(frozen=True)
class PublicBucketReport:
    """Statistics of one public bucket.

    Attributes
    ----------
    bucket
        Number of the public bucket.
    boards
        Number of canonical boards.
    deals
        Number of boards, suits distinguished.
    share
        Share of all boards.
    hands
        Number of private buckets on each street.
    sample
        Sample boards.

    Examples
    --------
    >>> PublicBucketReport(0, 10, 120, 0.005, {"flop": 50}, ("AsKsQs",)).boards
    10
    """

    bucket: int
    boards: int  # canonical
    deals: int  # boards, suits distinguished
    share: float  # of all boards
    hands: dict[str, int]  # number of private buckets on each street
    sample: tuple[str, ...]  # sample boards


@dataclass(frozen=True)
class AbstractionReport:
    """Quality of an abstraction, street by street.

    Attributes
    ----------
    name
        Name of the abstraction.
    fingerprint
        Its fingerprint.
    bytes
        Size of its look-up tables.
    streets
        Statistics of each street; `report["flop"]` is one of them.
    public
        Statistics of each public bucket.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> report = report_quality(lossless_abstraction((3,)))
    >>> [street.street for street in report.streets]
    ['preflop', 'flop']
    """

    name: str
    fingerprint: str
    bytes: int  # of the tables
    streets: tuple[StreetReport, ...]
    public: tuple[PublicBucketReport, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary of its fields, for JSON."""
        return asdict(self)

    def __getitem__(self, street: str) -> StreetReport:
        for row in self.streets:
            if row.street == street:
                return row
        raise InputError(f"street {street!r}: {self.name} has {', '.join(s.street for s in self.streets)}")

    def select(self, part: str | None, limit: int | None = None) -> AbstractionReport:
        """Select one street, or the public buckets; everything for None.

        Parameters
        ----------
        part
            Name of a street, `public`, or None.
        limit
            Most public buckets; None for all.
        """
        streets = self.streets if part is None else tuple(s for s in self.streets if s.street == part)
        return replace(self, streets=streets, public=self.public[:limit] if part in (None, "public") else ())

    def __str__(self) -> str:
        return render_plain(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        if self.streets:
            yield _street_table(self.streets)
        for row in self.streets:
            for title, rows in (("tightest", row.tightest), ("widest", row.widest)):
                if rows:
                    yield Text("")
                    yield Text(f"{row.street}: {title} buckets", style="bold")
                    yield _bucket_table(rows, row.unit)
        if self.public:
            yield Text("")
            yield Text("public buckets", style="bold")
            yield _public_table(self.public)


def report_quality(abstraction: CardAbstraction, extremes: int = NUM_EXTREMES) -> AbstractionReport:
    """Report the quality of an abstraction.

    Parameters
    ----------
    abstraction
        The abstraction.
    extremes
        Number of the tightest and of the widest buckets on each street.

    Returns
    -------
    AbstractionReport
        Statistics that print as tables.

    Raises
    ------
    InputError
        The number of extremes is negative.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> report_quality(lossless_abstraction((3,)))["flop"].distance
    0.0
    """
    if extremes < 0:
        raise InputError(f"extremes={extremes}: must not be negative")
    streets = tuple(_street_report(abstraction, r, extremes) for r in range(len(abstraction.streets)))
    size = sum(street.nbytes for street in abstraction.streets)
    return AbstractionReport(
        abstraction.name, abstraction.fingerprint, size, streets, _public_bucket_reports(abstraction)
    )


def _street_report(abstraction: CardAbstraction, r: int, extremes: int) -> StreetReport:
    """Report the quality of street r, with its `extremes` tightest and widest buckets."""
    buckets, method = abstraction.streets[r], clustering_method(abstraction, r)
    sizes, spread = bucket_sizes(abstraction, r), np.asarray(buckets.spread, float)
    filled = sizes[sizes > 0] if sizes is not None else np.zeros(0)
    share = filled / filled.sum()
    distance = _finite(buckets.metadata.get("cost"))
    if spread.size and sizes is not None and distance is None:
        distance = float((sizes * spread)[sizes > 0].sum() / filled.sum())
    if method == "lossless":
        distance = 0.0
    quantiles = {}
    if spread.size and sizes is not None:
        known = (sizes > 0) & np.isfinite(spread)
        values = weighted_quantiles(spread[known], sizes[known], QUANTILES)
        quantiles = {f"{100 * q:g} %": float(v) for q, v in zip(QUANTILES, values, strict=True)}
    tightest, widest = _extreme_buckets(spread, sizes, extremes)
    strength = mean_strengths(abstraction, r)
    return StreetReport(
        street=STREETS[r],
        method=method,
        unit=str(buckets.metadata.get("unit", "")),
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
        tightest=tuple(_bucket_report(abstraction, r, b, sizes, strength) for b in tightest),
        widest=tuple(_bucket_report(abstraction, r, b, sizes, strength) for b in widest),
    )


def _extreme_buckets(spread: Array, sizes: Array | None, count: int) -> tuple[list[int], list[int]]:
    """Return the buckets with the smallest and the largest spread; the larger bucket first in a tie."""
    if not spread.size:
        return [], []
    size = np.ones(len(spread)) if sizes is None else sizes
    known = np.flatnonzero((size > 0) & np.isfinite(spread))
    ascending = known[np.lexsort((-size[known], spread[known]))]
    descending = known[np.lexsort((-size[known], -spread[known]))]
    count = min(count, len(known))
    return ascending[:count].tolist(), descending[:count].tolist()


def _bucket_report(
    abstraction: CardAbstraction, r: int, bucket: int, sizes: Array | None, strength: Array | None
) -> BucketReport:
    spread = abstraction.streets[r].spread
    return BucketReport(
        bucket,
        float(sizes[bucket] / sizes.sum()) if sizes is not None else None,
        _finite(spread[bucket]) if spread.size else None,
        float(strength[bucket]) if strength is not None else None,
        member_deal(abstraction, r, bucket, "nearest"),
        member_deal(abstraction, r, bucket, "farthest"),
    )


def weighted_quantiles(values: Array, weights: Array, shares: Sequence[float]) -> Array:
    """Return the weighted quantiles of values: the smallest values that reach these shares.

    Parameters
    ----------
    values
        float [n].
    weights
        float [n], positive.
    shares
        Shares of the weight, 0 to 1.

    Returns
    -------
    Array
        float64 [shares].

    Examples
    --------
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.ones(3), (0.5, 1.0)).tolist()
    [2.0, 3.0]
    """
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    at = np.searchsorted(cumulative, np.asarray(shares) * cumulative[-1] * (1 - 1e-12))
    return np.asarray(values[order][np.minimum(at, len(order) - 1)], float)


def _public_bucket_reports(abstraction: CardAbstraction) -> tuple[PublicBucketReport, ...]:
    """Report size, share, private buckets and sample boards of each public bucket."""
    public = abstraction.public
    if public is None:
        return ()
    boards, times = canonical_boards(public.cards, abstraction.deck)
    labels = np.asarray(public.labels)
    rows = []
    for c in range(public.count):
        members = np.flatnonzero(labels == c)
        hands = {
            STREETS[r]: int(street.first[c + 1] - street.first[c])
            for r, street in enumerate(abstraction.streets)
            if street.first.size
        }
        sample = tuple(format_cards(sorted(boards[b].tolist(), reverse=True)) for b in sample_boards(labels, times, c))
        deals = int(times[members].sum())
        rows.append(PublicBucketReport(c, len(members), deals, deals / int(times.sum()), hands, sample))
    return tuple(rows)


def sample_boards(labels: Array, times: Array, bucket: int, count: int = NUM_SAMPLE_BOARDS) -> list[int]:
    """Return some canonical boards of a public bucket, at equal steps of how often its boards are dealt.

    Parameters
    ----------
    labels
        int [boards]: public bucket of each canonical board.
    times
        int [boards]: number of boards that each represents.
    bucket
        The public bucket.
    count
        Most boards.

    Returns
    -------
    list of int
        Canonical boards.

    Examples
    --------
    >>> sample_boards(np.array([0, 1, 1, 1]), np.array([4, 12, 12, 24]), 1, 2)
    [1, 3]
    """
    members = np.flatnonzero(labels == bucket)
    if not len(members):
        return []
    cumulative = np.cumsum(times[members])
    steps = (np.arange(count) + 0.5) / count * cumulative[-1]
    return [int(b) for b in dict.fromkeys(members[np.searchsorted(cumulative, steps)].tolist())]


def _finite(value: Any) -> float | None:
    """Return a value as a float; None if it is None or not finite."""
    return float(value) if value is not None and isfinite(float(value)) else None


# --- tables -------------------------------------------------------------------------------------------


def format_number(value: float | None, kind: str = "") -> str:
    """Format a number for a table.

    Parameters
    ----------
    value
        The number, or None.
    kind
        `share` for per cent, `count` for commas; four digits otherwise.

    Returns
    -------
    str
        The text; a dash for None.

    Examples
    --------
    >>> format_number(0.0123, "share"), format_number(12345, "count"), format_number(None)
    ('1.23', '12,345', '–')
    """
    if value is None:
        return "–"
    return f"{100 * value:.3g}" if kind == "share" else f"{value:,.0f}" if kind == "count" else f"{value:.4g}"


def render_plain(what: RenderableType) -> str:
    """Render an object as on a terminal, without colors.

    Parameters
    ----------
    what
        Anything that rich prints.

    Returns
    -------
    str
        Lines of at most 150 characters, without trailing spaces.

    Examples
    --------
    >>> render_plain("[bold]flop[/bold]")
    'flop'
    """
    from rich.console import Console

    console = Console(width=_TEXT_WIDTH, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(what)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


# Columns of a street; the quantiles and the unit belong to the distance. A narrow terminal drops high ranks first.
_STREET_COLUMNS = (
    ReportColumn("street"), ReportColumn("method", rank=1), ReportColumn("buckets", FIGURE),
    ReportColumn("empty", FIGURE, rank=3), ReportColumn("hands", FIGURE, rank=2), ReportColumn("distance", FIGURE),
    *(ReportColumn(f"{100 * q:g} %", FIGURE, rank=4) for q in QUANTILES), ReportColumn("unit", rank=1),
    *(ReportColumn(name, FIGURE, rank=3) for name in ("smallest %", "median %", "largest %")),
    ReportColumn("effective", FIGURE, rank=2),
)  # fmt: skip


def _street_table(streets: Sequence[StreetReport]) -> ReportTable:
    rows = []
    for s in streets:
        counts = [format_number(x, "count") for x in (s.buckets, s.empty, s.hands)]
        spread = [format_number(s.quantiles.get(f"{100 * q:g} %")) for q in QUANTILES]
        shares = [format_number(x, "share") for x in (s.smallest, s.median, s.largest)]
        effective = format_number(s.effective, "count")
        rows.append((s.street, s.method, *counts, format_number(s.distance), *spread, s.unit, *shares, effective))
    return ReportTable("", _STREET_COLUMNS, tuple(rows))


def _bucket_table(rows: Sequence[BucketReport], unit: str) -> ReportTable:
    names = "bucket", "share %", f"distance, {unit}" if unit else "distance", "strength"
    members = ReportColumn("nearest to its centre"), ReportColumn("farthest from it")
    columns = *(ReportColumn(name, FIGURE) for name in names), *members
    cells = []
    for row in rows:
        figures = format_number(row.share, "share"), format_number(row.spread), format_number(row.strength)
        cells.append((f"{row.bucket:,}", *figures, row.nearest or "–", row.farthest or "–"))
    return ReportTable("", columns, tuple(cells))


def _public_table(rows: Sequence[PublicBucketReport]) -> ReportTable:
    names = "bucket", "boards", "deals", "share %", *rows[0].hands
    columns = *(ReportColumn(name, FIGURE) for name in names), ReportColumn("such as", PROSE)
    cells = []
    for row in rows:
        figures = f"{row.boards:,}", f"{row.deals:,}", format_number(row.share, "share")
        hands = [f"{count:,}" for count in row.hands.values()]
        cells.append((str(row.bucket), *figures, *hands, "  ".join(row.sample)))
    return ReportTable("", columns, tuple(cells))
