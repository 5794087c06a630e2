"""Build a card abstraction from its recipe, stage by stage.

A stage is one table of features, the public buckets, or the buckets of one street. Tables are kept for all recipes
(`points`); the other stages are kept beside the result until it is whole, so that a build that was stopped goes on with the
stage it was in. Later streets come first, since the potential of a hand is seen in the clusters that follow it; only
percentiles go forward.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from riverboat.abstraction.cards.card_abstraction import (
    MOST_BUCKETS,
    STREETS,
    CardAbstraction,
    StreetBuckets,
    load_abstraction,
    street_buckets,
)
from riverboat.abstraction.cards.perfect_recall import cut_street
from riverboat.abstraction.clustering import kmeans, points, potential_aware
from riverboat.abstraction.clustering.flop_textures import groups
from riverboat.abstraction.clustering.members import Members, extremes, members
from riverboat.abstraction.clustering.public_clusters import (
    PrivateBuckets,
    PublicBuckets,
    cluster_private,
    cluster_public,
    look_ups,
    public_distances,
    transitions,
)
from riverboat.abstraction.estimate import Stage, plan
from riverboat.abstraction.recipe import CANONICAL, Recipe, StreetRecipe
from riverboat.cards.features.street_features import BOARD_CARDS, FULL, rounds
from riverboat.cards.isomorphism import Indexer
from riverboat.core import artifacts, atomic_io
from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, InputError, check_threads

Progress: TypeAlias = Callable[[Stage, float], None]  # the stage, and how much of it is done
KIND = "abstraction stage"
UNITS = {"histogram": "bins", "ochs": "steps of 1/255", "potential": "ground distance"}
_KNOWN = ("centres", "sizes", "spread", "nearest", "farthest")
_SEEDS = {"preflop": 0, "flop": 1, "turn": 2, "river": 3, "base": 4, "public": 5}


def build(
    recipe: Recipe,
    out: str | Path,
    threads: int = 1,
    resume: bool = False,
    progress: Progress | None = None,
    device: kmeans.Device | None = None,
) -> CardAbstraction:
    """Build an abstraction in a folder. With `resume`, stages that are done there already are not done again.

    `device`: what finds the nearest centres of k-means instead of the processor; the result is the same.
    """
    out = Path(out)
    check_threads(threads)
    if resume and (out / artifacts.MANIFEST).is_file():
        made = load_abstraction(out)
        if made.recipe != recipe.to_dict():
            raise InputError(f"{out}: made by another recipe; choose another folder")
        return made
    work = _Work(recipe, out.with_name(f"{out.name}.stages"), threads, progress, device)
    with atomic_io.held(work.folder):
        return _build(work, out, resume)


def _build(work: _Work, out: Path, resume: bool) -> CardAbstraction:
    recipe, threads = work.recipe, work.threads
    work.open(out, resume)
    for stage in plan(recipe):
        work.stage = stage
        if stage.kind == "table":
            if not points.have(stage.name):
                points.table(stage.name, threads, work.tell)
        else:
            work.do(stage.name)
        work.tell(1.0)
    streets = tuple(work.done[street] for street in STREETS)
    made = CardAbstraction(streets, public=work.public, name=recipe.name, recipe=recipe.to_dict())
    made.save(out)
    shutil.rmtree(work.folder, ignore_errors=True)
    return load_abstraction(out)


@dataclass
class _Work:
    """A build on its way."""

    recipe: Recipe
    folder: Path  # of finished stages
    threads: int
    progress: Progress | None
    device: kmeans.Device | None = None
    stage: Stage | None = None
    done: dict[str, StreetBuckets] = field(default_factory=dict)
    read: dict[str, Array] = field(default_factory=dict)  # tables of features

    def tell(self, share: float) -> None:
        if self.progress is not None and self.stage is not None:
            self.progress(self.stage, min(1.0, share))

    def open(self, out: Path, resume: bool) -> None:
        """See what is there."""
        if (out / artifacts.MANIFEST).is_file():
            raise InputError(f"{out}: there is one already; choose another folder, or delete it first")
        if out.exists() and not (out / artifacts.MANIFEST).is_file() and any(out.iterdir()):
            raise InputError(f"{out}: holds other files; choose an empty folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        if not resume and any(path.name != atomic_io.LOCK for path in self.folder.iterdir()):
            raise InputError(f"{self.folder}: a build was stopped here; go on with --resume, or delete it")
        artifacts.discard_leftovers(self.folder)

    def do(self, name: str) -> None:
        """Do a stage, or take it from where it was left."""
        buckets = self._left(name)
        if buckets is None:
            begun = time.perf_counter()
            buckets = STAGES[name](self)
            facts = {**buckets.facts, "seconds": round(time.perf_counter() - begun, 1), "threads": self.threads}
            meta = {"recipe": self.recipe.fingerprint, "count": buckets.count, "facts": facts}
            artifacts.write(self.folder / name, KIND, buckets.arrays(), meta)
            buckets = self._left(name)
            assert buckets is not None
        self.done[name] = buckets

    def _left(self, name: str) -> StreetBuckets | None:
        folder = self.folder / name
        if not folder.exists():
            return None
        try:
            entries, arrays = artifacts.read(folder, private=True)
            made = street_buckets(arrays, entries.whole("count", 1, MOST_BUCKETS), entries.table("facts"))
        except CorruptError:
            shutil.rmtree(folder)  # torn: done again
            return None
        if entries["recipe"] != self.recipe.fingerprint:
            raise InputError(f"{folder}: a stage of another recipe; delete {self.folder}, or choose another folder")
        return made

    def points(self, street: str, method: str) -> Array:
        """What the hands of a street are compared by."""
        name, key = ("ochs", "ochs") if method == "ochs" else (street, "histogram")
        if name not in self.read:
            rows = points.table(name, self.threads)[key]
            self.read = {name: rows if rows.dtype.kind == "u" else rows.astype(np.float32)}  # one at a time
        return self.read[name]

    def seed(self, name: str) -> int:
        """A seed of its own for every stage."""
        return int(np.random.SeedSequence((self.recipe.seed, _SEEDS[name])).generate_state(1)[0])

    @property
    def public(self) -> PublicBuckets | None:
        """The public buckets, where there are some."""
        buckets = self.done.get("public")
        return PublicBuckets(np.array(buckets.labels[0], np.int32)) if buckets is not None else None


# --- streets ------------------------------------------------------------------------------------------


def _street(work: _Work, street: str) -> StreetBuckets:
    """The buckets of one street."""
    recipe = work.recipe.street(street)
    if recipe.method == "lossless":
        return StreetBuckets(CANONICAL[street], facts={"method": "lossless"})
    if recipe.method == "strength":
        return _by_strength(work, recipe)
    if recipe.method == "percentile":
        before = [work.done[name] for name in STREETS[: STREETS.index(street)]]
        value = points.table("strength")["strength"] if street == "river" else points.table(street)[recipe.value]
        facts = {"method": "percentile", "value": recipe.value}
        return cut_street(before, value, recipe.buckets, threads=work.threads, progress=work.tell, facts=facts)
    if work.public is not None and street != "preflop":
        return _inside_public(work, street, recipe)
    following = work.done.get(STREETS[STREETS.index(street) + 1]) if street != "river" else None
    after = None
    if recipe.method == "potential" and following is not None:
        after = following.labels[0], _ground(work, STREETS[STREETS.index(street) + 1])
    clusters, inside = _cluster(
        work, street, recipe, None, points.weights(street, work.threads), recipe.buckets, work.seed(street), work.tell, after
    )  # fmt: skip
    kind = np.uint16 if recipe.buckets <= 1 << 16 else np.int32
    return StreetBuckets(
        recipe.buckets,
        clusters.labels.astype(kind)[None],
        centres=clusters.centres,
        sizes=clusters.sizes,
        spread=inside.spread,
        nearest=inside.nearest,
        farthest=inside.farthest,
        facts=_facts(recipe, clusters.cost, clusters.square, clusters.iterations),
    )


def _facts(recipe: StreetRecipe, cost: float, square: float, iterations: int) -> dict[str, Any]:
    return {
        "method": recipe.method,
        **({"metric": recipe.metric} if recipe.metric else {}),
        "unit": UNITS[recipe.method],
        "cost": cost,
        "square": square,
        "passes": iterations,
    }


def _cluster(
    work: _Work,
    street: str,
    recipe: StreetRecipe,
    hands: Array | None,  # int64 [n]: of the whole street for None
    weights: Array,
    k: int,
    seed: int,
    tell: Callable[[float], None],
    after: tuple[Array, potential_aware.Ground]
    | None = None,  # potential: clusters of the next street, and how far apart
) -> tuple[kmeans.Clusters, Members]:
    """Cluster hands of a street. Members are canonical numbers."""
    sample = recipe.sampled(k)

    def step(now: kmeans.Step) -> None:
        if now.stage == "whole":
            tell(0.3 + 0.7 * (now.iteration - 1 + now.done) / (recipe.passes + 1))
        else:
            tell(0.3 * (now.restart + (0.2 if now.stage == "sample" else 0.2 * now.done)) / recipe.restarts)

    if recipe.method == "potential":
        assert after is not None
        labels, ground = after
        here, then = (Indexer(rounds(s)) for s in (street, STREETS[STREETS.index(street) + 1]))
        spots = potential_aware.histograms(here, then, labels, hands, work.threads)
        clusters = potential_aware.cluster(
            spots, weights, k, ground, seed, recipe.restarts, work.threads, sample, recipe.passes, progress=step
        )
        apart = potential_aware.distances(spots, np.arange(len(weights)), clusters.centres, clusters.labels, ground)
        inside = extremes(apart, weights, clusters.labels, k)
    else:
        metric = recipe.distance
        table = work.points(street, recipe.method)
        some = table if hands is None else table[hands]
        clusters = kmeans.cluster(
            some, weights, k, metric, seed, recipe.restarts, work.threads, sample, passes=recipe.passes,
            medians=metric == "emd", progress=step, device=work.device,
        )  # fmt: skip
        inside = members(some, weights, clusters, metric, work.threads)
    if hands is not None:
        named = [np.where(m >= 0, hands[m], -1) for m in (inside.nearest, inside.farthest)]
        inside = Members(inside.spread, *named)
    return clusters, inside


def _ground(work: _Work, street: str, bucket: int | None = None) -> potential_aware.Ground:
    """Distances between the clusters of a street, in one public bucket where there are some.

    Where clusters are potential-aware themselves, their centres are compared by what they lead to in turn: the greedy
    distance, which is not quite symmetric, is taken both ways.
    """
    recipe, centres = work.recipe.street(street), _centres(work, street, bucket)
    if recipe.method != "potential":
        return potential_aware.ground(centres, recipe.distance)
    beyond = _ground(work, STREETS[STREETS.index(street) + 1], bucket)
    k = len(centres)
    centres = centres[:, : len(beyond.distance)]  # a public bucket may have fewer clusters than another
    pairs = potential_aware.distances(
        potential_aware.sparse(centres), np.repeat(np.arange(k), k), centres, np.tile(np.arange(k), k), beyond
    ).reshape(k, k)
    apart = (pairs + pairs.T) / 2
    np.fill_diagonal(apart, 0.0)
    return potential_aware.ground_from(apart)


def _centres(work: _Work, street: str, bucket: int | None) -> Array:
    """Centres of a street, or of one public bucket of it. float [clusters, d]"""
    buckets = work.done[street]
    return np.asarray(
        buckets.centres if bucket is None else buckets.centres[slice(*buckets.first[bucket : bucket + 2])]
    )


def _by_strength(work: _Work, recipe: StreetRecipe) -> StreetBuckets:
    """Parts of equal weight by river strength: the table of strengths itself, and where it is cut."""
    strength, weight = points.table("strength")["strength"], points.weights("river", work.threads)
    mass = np.zeros(FULL + 1)
    for first in range(0, len(strength), 1 << 22):
        part = slice(first, first + (1 << 22))
        mass += np.bincount(strength[part], weight[part], FULL + 1)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    label = np.minimum((recipe.buckets * middle).astype(np.int64), recipe.buckets - 1)
    cuts = np.searchsorted(label, np.arange(1, recipe.buckets)).astype(np.uint16)
    size = np.bincount(label, mass, recipe.buckets)
    share = np.arange(FULL + 1) / FULL
    mean = np.divide(
        np.bincount(label, mass * share, recipe.buckets), size, out=np.zeros(recipe.buckets), where=size > 0
    )
    gap = np.abs(share - mean[label])
    spread = np.divide(
        np.bincount(label, mass * gap, recipe.buckets), size, out=np.zeros(recipe.buckets), where=size > 0
    )
    cost, square = (float((mass * gap**n).sum() / mass.sum()) for n in (1, 2))
    return StreetBuckets(
        recipe.buckets,
        np.asarray(strength)[None],
        cuts=cuts[None],
        centres=mean[:, None].astype(np.float32),
        sizes=size,
        spread=spread.astype(np.float32),
        facts={"method": "strength", "unit": "share of the pot", "cost": cost, "square": square},
    )


# --- public buckets -----------------------------------------------------------------------------------


def _base(work: _Work) -> StreetBuckets:
    """Flop clusters by which flops are compared."""
    assert work.recipe.public is not None
    recipe = StreetRecipe("histogram", work.recipe.public.base)
    weight = points.weights("flop", work.threads)
    clusters, _ = _cluster(work, "flop", recipe, None, weight, recipe.buckets, work.seed("base"), work.tell)
    return StreetBuckets(
        recipe.buckets,
        clusters.labels.astype(np.int32)[None],
        facts=_facts(recipe, clusters.cost, clusters.square, clusters.iterations),
    )


def _public(work: _Work) -> StreetBuckets:
    """Public buckets of flops (Algorithms 2 and 3, or as the recipe says)."""
    recipe = work.recipe.public
    assert recipe is not None
    if recipe.by_hand:
        labels = groups(recipe.groups)
        sizes = np.bincount(labels).astype(float)
        return StreetBuckets(
            recipe.buckets, labels[None], sizes=sizes, facts={"method": "public", "flops": recipe.method}
        )
    table = transitions(look_ups(np.asarray(work.done["base"].labels[0])), recipe.base)
    distance = public_distances(table, work.threads, work.tell)
    clusters = cluster_public(
        distance, recipe.buckets, seed=work.seed("public"), restarts=recipe.restarts, objective=recipe.method
    )
    return StreetBuckets(
        recipe.buckets,
        clusters.labels[None],
        sizes=clusters.sizes,
        facts={
            "method": "public",
            "flops": recipe.method,
            "cost": clusters.cost,
            "iterations": clusters.iterations,
            "settled": clusters.settled,
        },
    )


def _inside_public(work: _Work, street: str, recipe: StreetRecipe) -> StreetBuckets:
    """Clusters of a street inside every public bucket (Algorithm 1)."""
    public = work.public
    assert public is not None
    cards, count = BOARD_CARDS[street], public.count
    following = None
    if recipe.method == "potential":
        then = work.done[STREETS[STREETS.index(street) + 1]]
        following = PrivateBuckets(public, BOARD_CARDS[street] + 1, then.layer, then.labels, then.first)
    parts: list[dict[str, Any]] = []
    seeds = np.random.SeedSequence(work.seed(street)).generate_state(count)

    def one(bucket: int, hands: Array, weights: Array) -> Array:
        after = None
        if following is not None:
            after = following.within(bucket), _ground(work, STREETS[STREETS.index(street) + 1], bucket)
        clusters, inside = _cluster(
            work, street, recipe, hands, weights, min(recipe.buckets, len(hands)), int(seeds[bucket]),
            lambda share: work.tell((bucket + share) / count), after,
        )  # fmt: skip
        used = int(clusters.labels.max()) + 1
        arrays = {"centres": clusters.centres, "sizes": clusters.sizes, **vars(inside)}
        facts = {"cost": clusters.cost, "square": clusters.square, "mass": weights.sum(), "passes": clusters.iterations}
        parts.append({name: array[:used] for name, array in arrays.items()} | facts)
        return clusters.labels

    layers, hands = int((public.openings(cards) > 0).sum(axis=1).max()), CANONICAL[street]
    kind = np.uint16 if recipe.buckets * count < 1 << 16 else np.int32
    buckets = cluster_private(public, cards, one, np.empty((layers, hands), kind), work.threads)
    mass = [part["mass"] for part in parts]
    cost, square = (float(np.average([part[name] for part in parts], weights=mass)) for name in ("cost", "square"))
    width = max(part["centres"].shape[1] for part in parts)  # of potential: as many as the next street has there
    for part in parts:
        part["centres"] = np.pad(part["centres"], ((0, 0), (0, width - part["centres"].shape[1])))
    known: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in _KNOWN}
    passes = max(part["passes"] for part in parts)
    facts = _facts(recipe, cost, square, passes) | {"layers": layers}
    return StreetBuckets(
        int(buckets.first[-1]), buckets.labels, buckets.layer, first=buckets.first, facts=facts, **known
    )


STAGES: dict[str, Callable[[_Work], StreetBuckets]] = {
    "base": _base,
    "public": _public,
    **{street: lambda work, street=street: _street(work, street) for street in STREETS},  # type: ignore[misc]
}
