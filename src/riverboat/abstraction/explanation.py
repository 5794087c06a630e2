"""Why a hand is where it is: its bucket on every street, who shares it, which buckets lie next to it, and its own features.

The features of one hand are computed on the spot, from its one board; nothing of the tables that the abstraction was made
from is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from riverboat.abstraction.cards.bucket_statistics import (
    OCHS_STEPS,
    kind_of,
    mean_strength,
    member,
    method_of,
    ochs_shares,
    public_of,
    show_deal,
    sizes_of,
    strength_histograms,
)
from riverboat.abstraction.cards.card_abstraction import STREETS, CardAbstraction
from riverboat.abstraction.clustering import points, potential_aware
from riverboat.abstraction.clustering.board_features import board_features, board_ochs
from riverboat.abstraction.clustering.distances import emd, euclidean
from riverboat.abstraction.clustering.public_clusters import PrivateBuckets
from riverboat.abstraction.quality import plain, show_number
from riverboat.cards.deck import FULL_DECK, hand_index
from riverboat.cards.isomorphism import Indexer
from riverboat.cards.notation import Cards, parse_cards, show_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.tables import FIGURE, Column, ReportTable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

NEIGHBOURS, MEMBERS = 5, 8
SEED = 0  # members are drawn, the same ones every time
_PIECE, _PIECES = 1 << 14, 64  # hands of a table that are searched at once; like hands lie together, so many pieces
_ENOUGH = 4096  # hands to draw from
_TRIES = 1 << 15  # deals that are looked up to find members
_BARS = " ▁▂▃▄▅▆▇█"


# --- members of a bucket ------------------------------------------------------------------------------


def members(
    abstraction: CardAbstraction, street: int, bucket: int, count: int = MEMBERS, seed: int = SEED
) -> list[str]:
    """Some hands of a bucket as deals, drawn by how often they are dealt. The same seed gives the same ones."""
    buckets = abstraction.streets[street]
    if not 0 <= bucket < buckets.count:
        raise InputError(f"bucket {bucket}: the {STREETS[street]} has 0 to {buckets.count - 1:,}")
    rng = np.random.default_rng([seed, street, bucket])
    hole, shown = abstraction.deck.hole, abstraction.shown[street]
    chosen: dict[int, str] = {}
    for numbers in _candidates(abstraction, street, bucket, rng):
        indexer = abstraction.indexer(street)
        weight = np.asarray(indexer.count(numbers), float)
        taken = rng.choice(numbers, min(_TRIES, 64 * len(numbers)), p=weight / weight.sum())
        deals = indexer.unindex(taken)
        if shown:  # which cards came first decides on public buckets and on earlier buckets
            order = np.argsort(rng.random((len(deals), shown)), axis=1)
            deals[:, hole:] = np.take_along_axis(deals[:, hole:], order, axis=1)
        here = abstraction.buckets(deals, check=False)[:, 0, street] == bucket
        for number, deal in zip(taken[here].tolist(), deals[here], strict=True):
            hand = sorted(deal[:hole].tolist(), reverse=True)
            chosen.setdefault(number, show_deal(hand, _by_street(abstraction, deal[hole:])))
            if len(chosen) >= count:
                return list(chosen.values())
    return list(chosen.values())


def _by_street(abstraction: CardAbstraction, board: Array) -> list[int]:
    """A board with the cards of each street, high ones first."""
    ends = [shown for shown in abstraction.shown if shown <= len(board)]
    parts = [board[start:end].tolist() for start, end in pairwise(ends)]
    return [card for part in parts for card in sorted(part, reverse=True)]


def _candidates(abstraction: CardAbstraction, street: int, bucket: int, rng: np.random.Generator) -> Iterator[Array]:
    """Canonical hands that may be in a bucket, some at a time, from all over the table."""
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
    for read, begin in enumerate(rng.permutation(np.arange(0, buckets.labels.shape[1], _PIECE)).tolist(), start=1):
        part_of = buckets.labels[:, begin : begin + _PIECE]
        pieces.append(begin + np.flatnonzero(((part_of >= low) & (part_of < high)).any(axis=0)))
        if read % _PIECES == 0 and sum(map(len, pieces)) >= _ENOUGH:
            yield np.concatenate(pieces)
            pieces = []
    if sum(map(len, pieces)):
        yield np.concatenate(pieces)


# --- the explanation ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Neighbour:
    """A bucket near another."""

    bucket: int
    distance: float  # of the centres
    share: float | None
    strength: float | None
    nearest: str | None


@dataclass(frozen=True)
class Place:
    """Where a hand is on one street. None and empty where something is not known."""

    street: str
    board: str
    method: str
    bucket: int
    buckets: int
    public: int | None
    share: float | None  # of all deals
    deals: float | None
    unit: str  # of distances
    spread: float | None  # of the bucket
    distance: float | None  # of the hand to its centre
    strength: float | None  # E[HS]
    square: float | None  # E[HS²]
    centre_strength: float | None
    histogram: tuple[float, ...]  # of river strength, mass one
    centre_histogram: tuple[float, ...]  # of the bucket; where hands have one
    ochs: tuple[float, ...]  # strength against each group of starting hands
    centre_ochs: tuple[float, ...]
    nearest: str | None
    farthest: str | None
    neighbours: tuple[Neighbour, ...]
    members: tuple[str, ...]
    value: int | None = None  # percentiles: what is cut,
    cuts: tuple[int, ...] = ()  # where
    part: int | None = None  # and which part, from 0, that is


@dataclass(frozen=True)
class Explanation:
    """One hand on every street up to its board."""

    name: str
    hand: str
    board: str
    public: int | None
    streets: tuple[Place, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return plain(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        public = f", public bucket {self.public}" if self.public is not None else ""
        on = f" on {self.board}" if self.board else ""
        yield Text(f"{self.hand}{on} in {self.name}{public}", style="bold")
        for place in self.streets:
            yield Text("")
            yield from _show(place)


def explain(
    abstraction: CardAbstraction,
    hand: Cards,
    board: Cards = "",
    neighbours: int = NEIGHBOURS,
    others: int = MEMBERS,
    seed: int = SEED,
) -> Explanation:
    """Where a hand is on each street up to its board, which is given in the order of the streets: `Td9d6h`, `Td9d6h2c`."""
    held, public = _numbers(hand, "hand"), _numbers(board, "board")
    if len(held) != abstraction.deck.hole:
        raise InputError(f"hand {show_cards(held)!r} has {len(held)} cards: {abstraction.deck.hole} are dealt")
    last = abstraction.street_of(public)
    buckets = abstraction.buckets(np.array([[*held, *public]]))[0, 0]
    asked = neighbours, others, seed
    places = tuple(
        _place(abstraction, r, (held, public[: abstraction.shown[r]]), buckets, *asked) for r in range(last + 1)
    )
    where = abstraction.bucket_of_public(public)
    return Explanation(abstraction.name, show_cards(held), show_cards(public), where, places)


def _numbers(cards: Cards, what: str) -> tuple[int, ...]:
    return parse_cards(cards, what) if isinstance(cards, str) else tuple(int(c) for c in cards)


Deal: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # hole cards and board


def _place(
    abstraction: CardAbstraction, r: int, deal: Deal, buckets: Array, neighbours: int, others: int, seed: int
) -> Place:
    here, bucket, kind = abstraction.streets[r], int(buckets[r]), kind_of(abstraction, r)
    sizes, strength = sizes_of(abstraction, r), mean_strength(abstraction, r)
    features = _features(abstraction, deal, kind)
    shown = strength_histograms(abstraction, r) if features["histogram"] else None
    metric = _Metric(abstraction, r, bucket, kind)
    return Place(
        street=STREETS[r],
        board=show_cards(deal[1]),
        method=method_of(abstraction, r),
        bucket=bucket,
        buckets=here.count,
        public=public_of(abstraction, r, bucket),
        share=float(sizes[bucket] / sizes.sum()) if sizes is not None else None,
        deals=float(sizes[bucket]) if sizes is not None else None,
        unit=str(here.facts.get("unit", "")),
        spread=float(here.spread[bucket]) if here.spread.size else None,
        distance=metric.of_hand(deal, features),
        centre_strength=float(strength[bucket]) if strength is not None else None,
        centre_histogram=tuple(shown[bucket].tolist()) if shown is not None else (),
        centre_ochs=tuple(ochs_shares(here.centres)[bucket].tolist()) if kind == "ochs" else (),
        nearest=member(abstraction, r, bucket, "nearest"),
        farthest=member(abstraction, r, bucket, "farthest"),
        neighbours=_neighbours(metric, sizes, strength, neighbours),
        members=tuple(members(abstraction, r, bucket, others, seed)) if others else (),
        **features,
        **_percentile(abstraction, r, deal, buckets),
    )


def _features(abstraction: CardAbstraction, deal: Deal, kind: str) -> dict[str, Any]:
    """Strength, histogram and OCHS of a hold'em hand; nothing of other games, nor where they would take long."""
    out: dict[str, Any] = {"strength": None, "square": None, "histogram": (), "ochs": ()}
    hand, board = deal
    if abstraction.deck != FULL_DECK:
        return out
    if not board:
        if points.have("preflop"):
            table, number = points.table("preflop"), int(Indexer((2,)).index(np.array(hand, np.uint8)))
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


class _Metric:
    """Distances to the centres of one street, of those in the public bucket of a bucket."""

    def __init__(self, abstraction: CardAbstraction, r: int, bucket: int, kind: str) -> None:
        self.abstraction, self.r, self.bucket, self.kind = abstraction, r, bucket, kind
        buckets, public = abstraction.streets[r], public_of(abstraction, r, bucket)
        self.begin, self.end = 0, buckets.count
        if public is not None:
            self.begin, self.end = (int(x) for x in buckets.first[public : public + 2])
        self.centres = np.asarray(buckets.centres[self.begin : self.end], float) if kind else np.zeros((0, 0))
        self.centre = self.centres[bucket - self.begin] if kind else np.zeros(0)

    def between(self) -> Array:
        """From the bucket's centre to all. float [centres]"""
        if self.kind == "potential":
            every = np.arange(len(self.centres))
            point = potential_aware.sparse(self.centre[None])
            return potential_aware.distances(point, np.zeros_like(every), self.centres, every, self._ground())
        if self.kind == "histogram":
            return emd(_mass_one(self.centres), _mass_one(self.centre))
        return euclidean(self.centres, self.centre)

    def of_hand(self, deal: Deal, features: Mapping[str, Any]) -> float | None:
        """From a hand to its centre; None where it is not known."""
        if self.kind == "potential":
            point = potential_aware.sparse(self._leads_to(deal)[None])
            return float(
                potential_aware.distances(point, np.zeros(1, int), self.centre[None], np.zeros(1, int), self._ground())[
                    0
                ]
            )
        if self.kind == "strength" and features["strength"] is not None:
            return abs(float(features["strength"]) - float(self.centre[0]))
        own = np.array(features["ochs" if self.kind == "ochs" else "histogram"])
        if not self.kind or own.shape != self.centre.shape:
            return None
        if self.kind == "histogram":
            return float(emd(own, _mass_one(self.centre)))
        steps = OCHS_STEPS if self.centres.max() > 1 else 1
        return float(euclidean(np.rint(steps * own) if steps > 1 else own, self.centre))

    def _leads_to(self, deal: Deal) -> Array:
        """A hand's chances of the next street's buckets. float32 [buckets there]"""
        here, after = self.abstraction.indexer(self.r), self.abstraction.indexer(self.r + 1)
        number = int(here.index(np.array([*deal[0], *deal[1]], np.uint8)))
        labels, _ = self._following()
        histogram = potential_aware.histograms(here, after, labels, np.array([number]))
        return np.asarray(potential_aware.dense(histogram, len(self.centre))[0])

    def _ground(self) -> potential_aware.Ground:
        _, centres = self._following()
        return potential_aware.ground(centres, "emd" if kind_of(self.abstraction, self.r + 1) == "histogram" else "l2")

    def _following(self) -> tuple[Array, Array]:
        """Buckets of the next street, from 0, and their centres: all, or those of the public bucket."""
        then, public = self.abstraction.streets[self.r + 1], public_of(self.abstraction, self.r, self.bucket)
        if public is None or self.abstraction.public is None:
            return np.asarray(then.labels[0], np.int32), then.centres
        inside = PrivateBuckets(
            self.abstraction.public, self.abstraction.shown[self.r + 1], then.layer, then.labels, then.first
        )
        return inside.within(public), then.centres[then.first[public] : then.first[public + 1]]


def _mass_one(histograms: Array) -> Array:
    return np.asarray(histograms / histograms.sum(axis=-1, keepdims=True))


def _neighbours(metric: _Metric, sizes: Array | None, strength: Array | None, count: int) -> tuple[Neighbour, ...]:
    """The nearest other buckets that have hands."""
    if not metric.kind or not count:
        return ()
    distances = metric.between()
    filled = np.ones(len(distances), bool) if sizes is None else sizes[metric.begin : metric.end] > 0
    filled[metric.bucket - metric.begin] = False
    rows = np.flatnonzero(filled)
    nearest = metric.begin + rows[np.argsort(distances[rows], kind="stable")][:count]
    return tuple(
        Neighbour(
            b,
            float(distances[b - metric.begin]),
            float(sizes[b] / sizes.sum()) if sizes is not None else None,
            float(strength[b]) if strength is not None else None,
            member(metric.abstraction, metric.r, b, "nearest"),
        )
        for b in nearest.tolist()
    )


def _percentile(abstraction: CardAbstraction, r: int, deal: Deal, buckets: Array) -> dict[str, Any]:
    """The value of a hand that is cut, where, and its part; nothing where labels are buckets."""
    street = abstraction.streets[r]
    if not street.cuts.size:
        return {}
    family = int(buckets[r - 1]) if len(street.cuts) > 1 else 0
    number = int(abstraction.indexer(r).index(np.array([*deal[0], *deal[1]], np.uint8)))
    part = int(buckets[r]) - family * (street.cuts.shape[1] + 1)
    return {"value": int(street.labels[0, number]), "cuts": tuple(street.cuts[family].tolist()), "part": part}


# --- tables -------------------------------------------------------------------------------------------


def bars(values: Iterable[float], top: float | None = None) -> str:
    """A line of bars, as high as `top` or as the highest; whatever is above zero is seen."""
    shown, steps = list(values), len(_BARS) - 1
    top = max([*shown, 1e-300]) if top is None else top
    return "".join(_BARS[0 if value <= 0 else min(steps, max(1, round(steps * value / top)))] for value in shown)


def _show(place: Place) -> Iterator[RenderableType]:
    from rich.text import Text

    where = f" in public bucket {place.public}" if place.public is not None else ""
    size = f", {show_number(place.share, 'share')} % of all deals" if place.share is not None else ""
    yield Text(f"{place.street} {place.board}".rstrip(), style="bold")
    yield Text(f"bucket {place.bucket:,} of {place.buckets:,}{where} ({place.method}){size}")
    if place.strength is not None and place.square is not None:
        centre = f" (centre {place.centre_strength:.4f})" if place.centre_strength is not None else ""
        yield Text(f"E[HS] {place.strength:.4f}{centre}, E[HS²] {place.square:.4f}")
    if place.distance is not None:
        mean = f"; its hands on average {show_number(place.spread)}" if place.spread is not None else ""
        yield Text(f"{show_number(place.distance)} {place.unit} from the centre{mean}")
    if place.part is not None:
        yield Text(_show_cuts(place))
    if place.histogram:
        top = max([*place.histogram, *place.centre_histogram])
        yield Text(f"  hand    0 |{bars(place.histogram, top)}| 1")
        if place.centre_histogram:
            yield Text(f"  centre  0 |{bars(place.centre_histogram, top)}| 1")
    if place.ochs:
        groups = Column("against group"), *(Column(str(g + 1), FIGURE) for g in range(len(place.ochs)))
        rows = [
            (name, *(f"{x:.3f}" for x in row)) for name, row in (("hand", place.ochs), ("centre", place.centre_ochs))
        ]
        yield ReportTable("", groups, tuple(rows))
    known = [("nearest to the centre", place.nearest), ("farthest from it", place.farthest)]
    known.append(("others", "  ".join(place.members)))
    yield from (Text(f"{name}: {text}") for name, text in known if text)
    if place.neighbours:
        names = "next bucket", "distance", "share %", "strength"
        columns = *(Column(name, FIGURE) for name in names), Column("its nearest hand")
        yield ReportTable("", columns, tuple(_show_neighbour(n) for n in place.neighbours))


def _show_neighbour(n: Neighbour) -> tuple[str, ...]:
    figures = show_number(n.distance), show_number(n.share, "share"), show_number(n.strength)
    return f"{n.bucket:,}", *figures, n.nearest or "–"


def _show_cuts(place: Place) -> str:
    """The value between the cuts beside it."""
    assert place.part is not None
    edges = ["lowest", *map(str, place.cuts), "highest"]
    low, high = edges[place.part : place.part + 2]
    return f"part {place.part + 1} of {len(place.cuts) + 1}: value {place.value}, from {low} to {high}"
