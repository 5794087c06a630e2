"""Explanation of a hand's buckets: its bucket on every street, members, neighbouring buckets, and the hand's features.

The features of one hand are computed on demand from its board, without the tables that the abstraction was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from riverboat.abstraction import quality
from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.abstraction.clustering import features as points
from riverboat.abstraction.clustering import potential_aware
from riverboat.abstraction.clustering.features import board_features, board_ochs
from riverboat.abstraction.clustering.kmeans import earth_movers_distance, euclidean_distance
from riverboat.abstraction.clustering.public_clusters import PrivateBuckets
from riverboat.cards.deck import FULL_DECK, hand_index
from riverboat.cards.isomorphism import HandIndexer
from riverboat.cards.notation import Cards, as_cards, format_cards
from riverboat.core.arrays import Array, normalize
from riverboat.core.errors import InputError
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

NUM_NEIGHBOURS, NUM_MEMBERS = 5, 8
SEED = 0  # default seed for drawing members, so that they are the same ones every time
_CHUNK_HANDS = 1 << 14
_CHUNKS_PER_SEARCH = 64  # similar hands are adjacent, so many chunks from all over the table are searched
_MIN_CANDIDATES = 4096  # hands to draw from
_MAX_SAMPLED_DEALS = 1 << 15  # deals that are looked up to find members
_BAR_CHARACTERS = " ▁▂▃▄▅▆▇█"


# --- members of a bucket ------------------------------------------------------------------------------


def sample_members(
    abstraction: CardAbstraction, street: int, bucket: int, count: int = NUM_MEMBERS, seed: int = SEED
) -> list[str]:
    """Sample at most `count` different hands of a bucket, in proportion to how often they are dealt.

    Returns texts such as `KsJs on Td9d6h`. The same seed gives the same hands.
    """
    buckets = abstraction.streets[street]
    if not 0 <= bucket < buckets.count:
        raise InputError(f"bucket {bucket}: the {STREETS[street]} has 0 to {buckets.count - 1:,}")
    rng = np.random.default_rng([seed, street, bucket])
    hole, shown = abstraction.deck.hole, abstraction.board_sizes[street]
    chosen: dict[int, str] = {}
    for numbers in _candidate_hands(abstraction, street, bucket, rng):
        indexer = abstraction.indexer(street)
        weight = np.asarray(indexer.count(numbers), float)
        sampled = rng.choice(numbers, min(_MAX_SAMPLED_DEALS, 64 * len(numbers)), p=weight / weight.sum())
        deals = indexer.unindex(sampled)
        if shown:  # public buckets and earlier buckets depend on the order of the board
            order = np.argsort(rng.random((len(deals), shown)), axis=1)
            deals[:, hole:] = np.take_along_axis(deals[:, hole:], order, axis=1)
        inside = abstraction.buckets(deals, check=False)[:, 0, street] == bucket
        for number, deal in zip(sampled[inside].tolist(), deals[inside], strict=True):
            hand = sorted(deal[:hole].tolist(), reverse=True)
            chosen.setdefault(number, quality.show_deal(hand, _sort_board_by_street(abstraction, deal[hole:])))
            if len(chosen) >= count:
                return list(chosen.values())
    return list(chosen.values())


def _sort_board_by_street(abstraction: CardAbstraction, board: Array) -> list[int]:
    """Sort the cards of each street of a board, high cards first."""
    ends = [shown for shown in abstraction.board_sizes if shown <= len(board)]
    parts = [board[start:end].tolist() for start, end in pairwise(ends)]
    return [card for part in parts for card in sorted(part, reverse=True)]


def _candidate_hands(
    abstraction: CardAbstraction, street: int, bucket: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Yield canonical indices of hands that may be in a bucket, in batches; the table is read in random order."""
    buckets = abstraction.streets[street]
    if not buckets.labels.size:
        yield np.array([bucket])
        return
    low, high = bucket, bucket + 1
    if buckets.cuts.size:
        family, part = divmod(bucket, buckets.cuts.shape[1] + 1)
        edges = [0, *buckets.cuts[family if len(buckets.cuts) > 1 else 0].tolist(), np.iinfo(np.int64).max]
        low, high = edges[part], edges[part + 1]
    pieces: list[Array] = []
    begins = rng.permutation(np.arange(0, buckets.labels.shape[1], _CHUNK_HANDS)).tolist()
    for num_read, begin in enumerate(begins, start=1):
        labels = buckets.labels[:, begin : begin + _CHUNK_HANDS]
        pieces.append(begin + np.flatnonzero(((labels >= low) & (labels < high)).any(axis=0)))
        if num_read % _CHUNKS_PER_SEARCH == 0 and sum(map(len, pieces)) >= _MIN_CANDIDATES:
            yield np.concatenate(pieces)
            pieces = []
    if sum(map(len, pieces)):
        yield np.concatenate(pieces)


# --- explanations -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NeighbourBucket:
    """A bucket whose centroid is near that of the explained bucket. Unknown values are None."""

    bucket: int
    distance: float  # between the centroids
    share: float | None  # of all deals
    strength: float | None  # E[HS] of the centroid
    nearest: str | None  # member nearest to the centroid, as a deal


@dataclass(frozen=True)
class BucketPlacement:
    """Bucket of a hand on one street, with features and neighbours. Unknown values are None or empty."""

    street: str
    board: str
    method: str
    bucket: int
    buckets: int  # number of buckets of the street
    public: int | None  # public bucket that contains the bucket
    share: float | None  # share of all deals that the bucket has
    deals: float | None  # number of deals in the bucket
    unit: str  # unit of distances
    spread: float | None  # mean distance of the bucket's hands to its centroid
    distance: float | None  # from the hand to its centroid
    strength: float | None  # E[HS] of the hand
    square: float | None  # E[HS²] of the hand
    centre_strength: float | None  # E[HS] of the centroid
    histogram: tuple[float, ...]  # river strength of the hand, normalized
    centre_histogram: tuple[float, ...]  # the same of the centroid, if the hand has a histogram
    ochs: tuple[float, ...]  # strength of the hand against each OCHS group of starting hands
    centre_ochs: tuple[float, ...]  # the same of the centroid
    nearest: str | None  # member nearest to the centroid, as a deal
    farthest: str | None  # member farthest from the centroid
    neighbours: tuple[NeighbourBucket, ...]
    members: tuple[str, ...]  # sample of the bucket's hands, as deals
    value: int | None = None  # strength value by which hands were sorted; the following ones are for buckets with cuts
    cuts: tuple[int, ...] = ()  # smallest value of each bucket but the lowest, of those with the same previous bucket
    part: int | None = None  # index of the hand's bucket among these, from 0


@dataclass(frozen=True)
class BucketExplanation:
    """Buckets of one hand on every street up to its board."""

    name: str
    hand: str
    board: str
    public: int | None  # public bucket of the board
    streets: tuple[BucketPlacement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dictionary of its fields, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return quality.render_plain(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        public = f", public bucket {self.public}" if self.public is not None else ""
        on = f" on {self.board}" if self.board else ""
        yield Text(f"{self.hand}{on} in {self.name}{public}", style="bold")
        for place in self.streets:
            yield Text("")
            yield from _render_placement(place)


def explain_buckets(
    abstraction: CardAbstraction,
    hand: Cards,
    board: Cards = "",
    num_neighbours: int = NUM_NEIGHBOURS,
    num_members: int = NUM_MEMBERS,
    seed: int = SEED,
) -> BucketExplanation:
    """Explain the bucket of a hand on each street up to its board: features, members, and the nearest other buckets.

    The board is in the order of the streets: `Td9d6h`, `Td9d6h2c`.
    """
    held, public = as_cards(hand, "hand"), as_cards(board, "board")
    if len(held) != abstraction.deck.hole:
        raise InputError(f"hand {format_cards(held)!r} has {len(held)} cards: {abstraction.deck.hole} are dealt")
    last = abstraction.street_of(public)
    buckets = abstraction.buckets(np.array([[*held, *public]]))[0, 0]
    options = num_neighbours, num_members, seed
    placements = tuple(
        _explain_street(abstraction, r, (held, public[: abstraction.board_sizes[r]]), buckets, *options)
        for r in range(last + 1)
    )
    public_bucket = abstraction.public_bucket(public)
    return BucketExplanation(abstraction.name, format_cards(held), format_cards(public), public_bucket, placements)


HandAndBoard: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # hole cards and board


def _explain_street(
    abstraction: CardAbstraction,
    r: int,
    deal: HandAndBoard,
    buckets: Array,
    num_neighbours: int,
    num_members: int,
    seed: int,
) -> BucketPlacement:
    """Explain the bucket of a hand on street r; `buckets` are its buckets on all streets."""
    street, bucket, kind = abstraction.streets[r], int(buckets[r]), quality.centroid_kind(abstraction, r)
    sizes, strength = quality.bucket_sizes(abstraction, r), quality.mean_strengths(abstraction, r)
    features = _hand_features(abstraction, deal, kind)
    histograms = quality.strength_histograms(abstraction, r) if features["histogram"] else None
    metric = _CentroidDistances(abstraction, r, bucket, kind)
    return BucketPlacement(
        street=STREETS[r],
        board=format_cards(deal[1]),
        method=quality.clustering_method(abstraction, r),
        bucket=bucket,
        buckets=street.count,
        public=quality.public_bucket_of(abstraction, r, bucket),
        share=float(sizes[bucket] / sizes.sum()) if sizes is not None else None,
        deals=float(sizes[bucket]) if sizes is not None else None,
        unit=str(street.metadata.get("unit", "")),
        spread=float(street.spread[bucket]) if street.spread.size else None,
        distance=metric.hand_distance(deal, features),
        centre_strength=float(strength[bucket]) if strength is not None else None,
        centre_histogram=tuple(histograms[bucket].tolist()) if histograms is not None else (),
        centre_ochs=tuple(quality.ochs_equities(street.centres)[bucket].tolist()) if kind == "ochs" else (),
        nearest=quality.member_deal(abstraction, r, bucket, "nearest"),
        farthest=quality.member_deal(abstraction, r, bucket, "farthest"),
        neighbours=_nearest_buckets(metric, sizes, strength, num_neighbours),
        members=tuple(sample_members(abstraction, r, bucket, num_members, seed)) if num_members else (),
        **features,
        **_percentile_cuts(abstraction, r, deal, buckets),
    )


def _hand_features(abstraction: CardAbstraction, deal: HandAndBoard, kind: str) -> dict[str, Any]:
    """Compute the features of a hold'em hand: `strength` (E[HS]), `square` (E[HS²]), `histogram` and `ochs`.

    They are None or empty in other games, before the flop without a cached table, and on streets that do not use them.
    """
    out: dict[str, Any] = {"strength": None, "square": None, "histogram": (), "ochs": ()}
    hand, board = deal
    if abstraction.deck != FULL_DECK:
        return out
    if not board:
        if points.has_feature_table("preflop"):
            table, number = points.load_feature_table("preflop"), int(HandIndexer((2,)).index(np.array(hand, np.uint8)))
            row = np.asarray(table["histogram"][number], float)
            out |= {"strength": float(table["mean"][number]), "square": float(table["square"][number])}
            out["histogram"] = tuple((row / row.sum()).tolist())
    elif len(board) in (3, 4, 5):
        strengths, number = board_features(board), hand_index(*hand)
        out |= {"strength": float(strengths.mean[number]), "square": float(strengths.square[number])}
        if len(board) < 5:
            out["histogram"] = tuple(strengths.histogram[number].tolist())
        if kind == "ochs":
            out["ochs"] = tuple(board_ochs(board)[number].tolist())
    return out


class _CentroidDistances:
    """Distances to centroids of street r; with public buckets, only to those in the public bucket of `bucket`."""

    def __init__(self, abstraction: CardAbstraction, r: int, bucket: int, kind: str) -> None:
        self.abstraction, self.r, self.bucket, self.kind = abstraction, r, bucket, kind
        buckets, public = abstraction.streets[r], quality.public_bucket_of(abstraction, r, bucket)
        self.begin, self.end = 0, buckets.count
        if public is not None:
            self.begin, self.end = (int(x) for x in buckets.first[public : public + 2])
        self.centres = np.asarray(buckets.centres[self.begin : self.end], float) if kind else np.zeros((0, 0))
        self.centre = self.centres[bucket - self.begin] if kind else np.zeros(0)

    def centroid_distances(self) -> Array:
        """Return the distances of the bucket's centroid to centroids `begin` to `end` - 1. float [centroids]"""
        if self.kind == "potential":
            return self._greedy_distances(self.centre, self.centres)
        if self.kind == "histogram":
            return earth_movers_distance(normalize(self.centres, -1), normalize(self.centre))
        return euclidean_distance(self.centres, self.centre)

    def hand_distance(self, deal: HandAndBoard, features: Mapping[str, Any]) -> float | None:
        """Return the distance of a hand to the centroid of its bucket; None without centroids or features."""
        if self.kind == "potential":
            return float(self._greedy_distances(self._successor_histogram(deal), self.centre[None])[0])
        if self.kind == "strength" and features["strength"] is not None:
            return abs(float(features["strength"]) - float(self.centre[0]))
        own = np.array(features["ochs" if self.kind == "ochs" else "histogram"])
        if not self.kind or own.shape != self.centre.shape:
            return None
        if self.kind == "histogram":
            return float(earth_movers_distance(own, normalize(self.centre)))
        steps = quality.OCHS_STEPS if self.centres.max() > 1 else 1
        return float(euclidean_distance(np.rint(steps * own) if steps > 1 else own, self.centre))

    def _successor_histogram(self, deal: HandAndBoard) -> Array:
        """Return a hand's histogram over the next street's buckets. float32 [buckets there]"""
        indexer, next_indexer = self.abstraction.indexer(self.r), self.abstraction.indexer(self.r + 1)
        number = int(indexer.index(np.array([*deal[0], *deal[1]], np.uint8)))
        labels, _ = self._next_street_clusters()
        histogram = potential_aware.successor_histograms(indexer, next_indexer, labels, np.array([number]))
        return np.asarray(potential_aware.to_dense(histogram, len(self.centre))[0])

    def _greedy_distances(self, histogram: Array, centres: Array) -> Array:
        """Return greedy distances from a histogram over the next street's buckets to centroids. float32 [centroids]"""
        metric = "emd" if quality.centroid_kind(self.abstraction, self.r + 1) == "histogram" else "l2"
        ground = potential_aware.ground_distances(self._next_street_clusters()[1], metric)
        point, indices = potential_aware.to_sparse(histogram[None]), np.arange(len(centres))
        return potential_aware.greedy_distances(point, np.zeros_like(indices), centres, indices, ground)

    def _next_street_clusters(self) -> tuple[Array, Array]:
        """Return the cluster of each hand of the next street, and the centroids of these clusters.

        With public buckets, only those inside the public bucket, numbered from 0; other hands have -1.
        """
        made, after = self.abstraction, self.abstraction.streets[self.r + 1]
        public = quality.public_bucket_of(made, self.r, self.bucket)
        if public is None or made.public is None:
            return np.asarray(after.labels[0], np.int32), after.centres
        private = PrivateBuckets(made.public, made.board_sizes[self.r + 1], after.layer, after.labels, after.first)
        return private.labels_in_public_bucket(public), after.centres[after.first[public] : after.first[public + 1]]


def _nearest_buckets(
    metric: _CentroidDistances, sizes: Array | None, strength: Array | None, count: int
) -> tuple[NeighbourBucket, ...]:
    """Return the `count` nearest other buckets that are not empty, from sizes and strengths of all buckets."""
    if not metric.kind or not count:
        return ()
    distances = metric.centroid_distances()
    filled = np.ones(len(distances), bool) if sizes is None else sizes[metric.begin : metric.end] > 0
    filled[metric.bucket - metric.begin] = False
    rows = np.flatnonzero(filled)
    nearest = metric.begin + rows[np.argsort(distances[rows], kind="stable")][:count]
    return tuple(
        NeighbourBucket(
            b,
            float(distances[b - metric.begin]),
            float(sizes[b] / sizes.sum()) if sizes is not None else None,
            float(strength[b]) if strength is not None else None,
            quality.member_deal(metric.abstraction, metric.r, b, "nearest"),
        )
        for b in nearest.tolist()
    )


def _percentile_cuts(abstraction: CardAbstraction, r: int, deal: HandAndBoard, buckets: Array) -> dict[str, Any]:
    """Return `value`, `cuts` and `part` of `BucketPlacement` for a hand; empty if the street has no cuts.

    On a street with cuts, hands are sorted by a strength value and cut into buckets, all together or for each bucket of
    the previous street (perfect recall).
    """
    street = abstraction.streets[r]
    if not street.cuts.size:
        return {}
    family = int(buckets[r - 1]) if len(street.cuts) > 1 else 0
    number = int(abstraction.indexer(r).index(np.array([*deal[0], *deal[1]], np.uint8)))
    part = int(buckets[r]) - family * (street.cuts.shape[1] + 1)
    return {"value": int(street.labels[0, number]), "cuts": tuple(street.cuts[family].tolist()), "part": part}


# --- tables -------------------------------------------------------------------------------------------


def draw_bars(values: Iterable[float], top: float | None = None) -> str:
    """Draw values as a line of bar characters; the highest bar stands for `top`, the largest value by default."""
    heights, steps = list(values), len(_BAR_CHARACTERS) - 1
    top = max([*heights, 1e-300]) if top is None else top
    return "".join(
        _BAR_CHARACTERS[0 if value <= 0 else min(steps, max(1, round(steps * value / top)))] for value in heights
    )


def _render_placement(place: BucketPlacement) -> Iterator[RenderableType]:
    """Yield the lines and tables that show the bucket of a hand on one street in a terminal."""
    from rich.text import Text

    public_text = f" in public bucket {place.public}" if place.public is not None else ""
    size = f", {quality.format_number(place.share, 'share')} % of all deals" if place.share is not None else ""
    yield Text(f"{place.street} {place.board}".rstrip(), style="bold")
    yield Text(f"bucket {place.bucket:,} of {place.buckets:,}{public_text} ({place.method}){size}")
    if place.strength is not None and place.square is not None:
        centre = f" (centre {place.centre_strength:.4f})" if place.centre_strength is not None else ""
        yield Text(f"E[HS] {place.strength:.4f}{centre}, E[HS²] {place.square:.4f}")
    if place.distance is not None:
        mean = f"; its hands on average {quality.format_number(place.spread)}" if place.spread is not None else ""
        yield Text(f"{quality.format_number(place.distance)} {place.unit} from the centre{mean}")
    if place.part is not None:
        yield Text(_format_cuts(place))
    if place.histogram:
        top = max([*place.histogram, *place.centre_histogram])
        yield Text(f"  hand    0 |{draw_bars(place.histogram, top)}| 1")
        if place.centre_histogram:
            yield Text(f"  centre  0 |{draw_bars(place.centre_histogram, top)}| 1")
    if place.ochs:
        groups = ReportColumn("against group"), *(ReportColumn(str(g + 1), FIGURE) for g in range(len(place.ochs)))
        shares = ("hand", place.ochs), ("centre", place.centre_ochs)
        yield ReportTable("", groups, tuple((name, *(f"{x:.3f}" for x in row)) for name, row in shares))
    members = [("nearest to the centre", place.nearest), ("farthest from it", place.farthest)]
    members.append(("others", "  ".join(place.members)))
    yield from (Text(f"{name}: {text}") for name, text in members if text)
    if place.neighbours:
        names = "next bucket", "distance", "share %", "strength"
        columns = *(ReportColumn(name, FIGURE) for name in names), ReportColumn("its nearest hand")
        yield ReportTable("", columns, tuple(_neighbour_row(n) for n in place.neighbours))


def _neighbour_row(n: NeighbourBucket) -> tuple[str, ...]:
    figures = (
        quality.format_number(n.distance),
        quality.format_number(n.share, "share"),
        quality.format_number(n.strength),
    )
    return f"{n.bucket:,}", *figures, n.nearest or "–"


def _format_cuts(place: BucketPlacement) -> str:
    """Format the strength value of a hand with the cuts below and above it."""
    assert place.part is not None
    edges = ["lowest", *map(str, place.cuts), "highest"]
    low, high = edges[place.part : place.part + 2]
    return f"part {place.part + 1} of {len(place.cuts) + 1}: value {place.value}, from {low} to {high}"
