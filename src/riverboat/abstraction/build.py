"""Build a card abstraction from its recipe, stage by stage.

A stage is one feature table, the public buckets, or the buckets of one street. Feature tables are cached for all
recipes (`riverboat.abstraction.clustering.features`). The other stages are stored next to the result until it is
complete, so that a stopped build resumes with the stage it was in. Later streets are built first, because
potential-aware clustering compares hands by the clusters of the next street (Johanson et al. 2013; Ganzfried & Sandholm
2014). Only percentile buckets are built from the first street on.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from riverboat.abstraction.cards.card_abstraction import (
    MAX_BUCKETS,
    STATISTICS_ARRAYS,
    STREETS,
    CardAbstraction,
    StreetBuckets,
    load_abstraction,
    read_street_buckets,
)
from riverboat.abstraction.cards.percentile_buckets import cut_street
from riverboat.abstraction.clustering import features, kmeans, potential_aware
from riverboat.abstraction.clustering.kmeans import ClusterMembers, cluster_members, members_from_distances
from riverboat.abstraction.clustering.public_clusters import (
    PrivateBuckets,
    PublicBuckets,
    bucket_lookups,
    cluster_private,
    cluster_public,
    flop_groups,
    public_distances,
    transition_counts,
    transition_probabilities,
)
from riverboat.abstraction.recipe import (
    CANONICAL_HANDS,
    TRANSITIONS_METHOD,
    AbstractionRecipe,
    BuildStage,
    PublicRecipe,
    StreetRecipe,
    feature_table,
    plan_stages,
)
from riverboat.cards.features.hand_features import BOARD_CARDS, MAX_STRENGTH, live_deals, street_rounds
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.core import artifacts, files
from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, InputError, check_threads

BuildProgress: TypeAlias = Callable[[BuildStage, float], None]  # the stage, and the completed share of it
STAGE_KIND = "abstraction stage"
TRANSITION_BUCKETS = 10  # preflop buckets, and flop buckets in each, of transition tables
DISTANCE_UNITS = {"histogram": "bins", "ochs": "steps of 1/255", "potential": "ground distance"}
_SEED_KEYS = {"preflop": 0, "flop": 1, "turn": 2, "river": 3, "base": 4, "public": 5}


def build_abstraction(
    recipe: AbstractionRecipe,
    out: str | Path,
    threads: int = 1,
    resume: bool = False,
    progress: BuildProgress | None = None,
    device: kmeans.NearestAssignerFactory | None = None,
) -> CardAbstraction:
    """Build a card abstraction in a folder.

    Parameters
    ----------
    recipe
        What to build.
    out
        Folder of the result; it must be empty or not exist.
    threads
        Number of threads.
    resume
        Reuse the stages that an interrupted build has completed.
    progress
        Called with the current stage and the completed share of it.
    device
        Search of nearest centroids for k-means on an accelerator. The result is the same.
    """
    out = Path(out)
    check_threads(threads)
    if resume and (out / artifacts.MANIFEST).is_file():
        abstraction = load_abstraction(out)
        if abstraction.recipe != recipe.to_dict():
            raise InputError(f"{out}: built from another recipe; choose another folder")
        return abstraction
    work = _AbstractionBuild(recipe, out.with_name(f"{out.name}.stages"), threads, progress, device)
    with files.folder_lock(work.folder):
        work.prepare_folder(out, resume)
        for stage in plan_stages(recipe):
            work.stage = stage
            if stage.kind != "table":
                work.run_stage(stage.name)
            elif not features.has_feature_table(stage.name):
                features.load_feature_table(stage.name, threads, work.report_progress)
            work.report_progress(1.0)
        streets = tuple(work.finished_stages[street] for street in STREETS)
        abstraction = CardAbstraction(streets, public=work.public, name=recipe.name, recipe=recipe.to_dict())
        abstraction.save(out)
        shutil.rmtree(work.folder, ignore_errors=True)
        return load_abstraction(out)


@dataclass
class _AbstractionBuild:
    """State of a build in progress."""

    recipe: AbstractionRecipe
    folder: Path  # stored stages
    threads: int
    progress: BuildProgress | None
    device: kmeans.NearestAssignerFactory | None = None
    stage: BuildStage | None = None
    finished_stages: dict[str, StreetBuckets] = field(default_factory=dict)
    loaded_features: dict[str, Array] = field(default_factory=dict)  # feature tables in memory

    def report_progress(self, share: float) -> None:
        """Report the completed share of the current stage."""
        if self.progress is not None and self.stage is not None:
            self.progress(self.stage, min(1.0, share))

    def prepare_folder(self, out: Path, resume: bool) -> None:
        """Create the folder of the stages.

        Raises InputError if the result exists, its folder holds other files, or stages are left over without `resume`.
        """
        if (out / artifacts.MANIFEST).is_file():
            raise InputError(f"{out}: an abstraction exists already; choose another folder, or delete it first")
        if out.exists() and not (out / artifacts.MANIFEST).is_file() and any(out.iterdir()):
            raise InputError(f"{out}: the folder contains other files; choose an empty folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        if not resume and any(path.name != files.LOCK_FILE for path in self.folder.iterdir()):
            raise InputError(f"{self.folder}: a build was stopped here; continue with --resume, or delete the folder")
        artifacts.discard_leftovers(self.folder)

    def run_stage(self, name: str) -> None:
        """Run a stage, or load it if it has been completed before, and add it to `finished_stages`."""
        buckets = self._load_stage(name)
        if buckets is None:
            started = time.perf_counter()
            buckets = STAGE_BUILDERS[name](self)
            metadata = {**buckets.metadata, "seconds": round(time.perf_counter() - started, 1), "threads": self.threads}
            meta = {"recipe": self.recipe.fingerprint, "count": buckets.count, "facts": metadata}
            artifacts.write(self.folder / name, STAGE_KIND, buckets.arrays(), meta)
            buckets = self._load_stage(name)
            assert buckets is not None
        self.finished_stages[name] = buckets

    def _load_stage(self, name: str) -> StreetBuckets | None:
        """Load a completed stage; return None if there is none or its files are damaged."""
        folder = self.folder / name
        if not folder.exists():
            return None
        try:
            entries, arrays = artifacts.read(folder, private=True)
            buckets = read_street_buckets(arrays, entries.integer("count", 1, MAX_BUCKETS), entries.table("facts"))
        except CorruptError:
            shutil.rmtree(folder)  # damaged: build it again
            return None
        if entries["recipe"] != self.recipe.fingerprint:
            raise InputError(
                f"{folder}: this stage belongs to another recipe; delete {self.folder}, or choose another folder"
            )
        return buckets

    def load_features(self, street: str, method: str) -> Array:
        """Load the features of all hands of a street for a clustering method. [canonical hands, d]"""
        name = feature_table(street, method)
        if name not in self.loaded_features:
            rows = features.load_feature_table(name, self.threads)[method]
            # only one table in memory
            self.loaded_features = {name: rows if rows.dtype.kind == "u" else rows.astype(np.float32)}
        return self.loaded_features[name]

    def stage_seed(self, name: str) -> int:
        """Return the random seed of a stage, derived from the seed of the recipe."""
        return int(np.random.SeedSequence((self.recipe.seed, _SEED_KEYS[name])).generate_state(1)[0])

    @property
    def public(self) -> PublicBuckets | None:
        """The public buckets, or None."""
        buckets = self.finished_stages.get("public")
        return PublicBuckets(np.array(buckets.labels[0], np.int32)) if buckets is not None else None


# --- streets ------------------------------------------------------------------------------------------


def _build_street(work: _AbstractionBuild, street: str) -> StreetBuckets:
    """Build the buckets of one street."""
    recipe = work.recipe.street(street)
    if recipe.method == "lossless":
        return StreetBuckets(CANONICAL_HANDS[street], metadata={"method": "lossless"})
    if recipe.method == "strength":
        return _strength_buckets(work, recipe)
    if recipe.method == "percentile":
        previous_streets = [work.finished_stages[name] for name in STREETS[: STREETS.index(street)]]
        table = features.load_feature_table(feature_table(street, recipe.method))
        value = table["strength" if street == "river" else recipe.value]
        metadata = {"method": "percentile", "value": recipe.value}
        options: dict[str, Any] = {"threads": work.threads, "progress": work.report_progress, "metadata": metadata}
        return cut_street(previous_streets, value, recipe.buckets, **options)
    if work.public is not None and street != "preflop":
        return _private_buckets(work, street, recipe)
    next_street = None
    if recipe.method == "potential":
        after = _street_after(street)
        next_street = work.finished_stages[after].labels[0], _ground_distances(work, after)
    weights, seed = features.deal_weights(street, work.threads), work.stage_seed(street)
    return _cluster_hands(work, street, recipe, None, weights, recipe.buckets, seed, work.report_progress, next_street)


def _street_after(street: str) -> str:
    return STREETS[STREETS.index(street) + 1]


def _cluster_hands(
    work: _AbstractionBuild,
    street: str,
    recipe: StreetRecipe,
    hands: Array | None,  # int64 [n]: canonical indices; None for the whole street
    weights: Array,
    k: int,
    seed: int,
    report: Callable[[float], None],
    # for `potential`: cluster of each canonical hand of the next street, and the distances between these clusters
    next_street: tuple[Array, potential_aware.GroundDistances] | None = None,
) -> StreetBuckets:
    """Cluster hands of a street into k buckets by the method of a recipe, for one public bucket or the whole street."""
    sample = recipe.sample_size(k)

    def step(now: kmeans.KMeansStep) -> None:
        if now.stage == "whole":
            report(0.3 + 0.7 * (now.iteration - 1 + now.done) / (recipe.passes + 1))
        else:
            report(0.3 * (now.restart + (0.2 if now.stage == "sample" else 0.2 * now.done)) / recipe.restarts)

    if recipe.method == "potential":
        assert next_street is not None
        labels, ground = next_street
        indexer, next_indexer = (HandIndexer(street_rounds(s)) for s in (street, _street_after(street)))
        histograms = potential_aware.successor_histograms(indexer, next_indexer, labels, hands, work.threads)
        clusters = potential_aware.potential_kmeans(
            histograms, weights, k, ground, seed, recipe.restarts, work.threads, sample, recipe.passes, progress=step
        )
        rows = np.arange(len(weights))
        distances = potential_aware.greedy_distances(histograms, rows, clusters.centres, clusters.labels, ground)
        members = members_from_distances(distances, weights, clusters.labels, k)
    else:
        metric = recipe.effective_metric
        table = work.load_features(street, recipe.method)
        points = table if hands is None else table[hands]
        clusters = kmeans.kmeans(
            points, weights, k, metric, seed, recipe.restarts, work.threads, sample, passes=recipe.passes,
            medians=metric == "emd", progress=step, device=work.device,
        )  # fmt: skip
        members = cluster_members(points, weights, clusters, metric, work.threads)
    if hands is not None:
        indices = [np.where(m >= 0, hands[m], -1) for m in (members.nearest, members.farthest)]
        members = ClusterMembers(members.spread, *indices)
    metadata = {
        "method": recipe.method,
        **({"metric": recipe.metric} if recipe.metric else {}),
        "unit": DISTANCE_UNITS[recipe.method],
        "cost": clusters.cost,
        "square": clusters.square,
        "passes": clusters.iterations,
    }
    labels = clusters.labels.astype(np.uint16 if k <= 1 << 16 else np.int32)[None]
    statistics = {"centres": clusters.centres, "sizes": clusters.sizes, **vars(members)}
    return StreetBuckets(k, labels, metadata=metadata, **statistics)


def _ground_distances(
    work: _AbstractionBuild, street: str, bucket: int | None = None
) -> potential_aware.GroundDistances:
    """Return the distances between the clusters of a street, or of one public bucket.

    Where the clusters are potential-aware themselves, their centroids are compared by their own successor clusters. The
    greedy distance is not quite symmetric, so both directions are averaged.
    """
    recipe, buckets = work.recipe.street(street), work.finished_stages[street]
    part = slice(None) if bucket is None else slice(*buckets.first[bucket : bucket + 2])
    centres = np.asarray(buckets.centres[part])
    if recipe.method != "potential":
        return potential_aware.ground_distances(centres, recipe.effective_metric)
    next_ground = _ground_distances(work, _street_after(street), bucket)
    k = len(centres)
    centres = centres[:, : len(next_ground.distance)]  # a public bucket may have fewer clusters than another
    pairs = potential_aware.greedy_distances(
        potential_aware.to_sparse(centres), np.repeat(np.arange(k), k), centres, np.tile(np.arange(k), k), next_ground
    ).reshape(k, k)
    distances = (pairs + pairs.T) / 2
    np.fill_diagonal(distances, 0.0)
    return potential_aware.ground_distances_from_matrix(distances)


def _strength_buckets(work: _AbstractionBuild, recipe: StreetRecipe) -> StreetBuckets:
    """Make river buckets of equal weight by strength: `labels` are the strengths of hands, `cuts` divide them."""
    strength, weight = features.load_feature_table("strength")["strength"], features.deal_weights("river", work.threads)
    mass = np.zeros(MAX_STRENGTH + 1)
    for first in range(0, len(strength), 1 << 22):
        part = slice(first, first + (1 << 22))
        mass += np.bincount(strength[part], weight[part], MAX_STRENGTH + 1)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    label = np.minimum((recipe.buckets * middle).astype(np.int64), recipe.buckets - 1)
    cuts = np.searchsorted(label, np.arange(1, recipe.buckets)).astype(np.uint16)
    size = np.bincount(label, mass, recipe.buckets)
    share = np.arange(MAX_STRENGTH + 1) / MAX_STRENGTH
    divisor = np.where(size > 0, size, 1.0)  # empty buckets have zeros
    mean = np.bincount(label, mass * share, recipe.buckets) / divisor
    gap = np.abs(share - mean[label])
    spread = np.bincount(label, mass * gap, recipe.buckets) / divisor
    cost, square = (float((mass * gap**n).sum() / mass.sum()) for n in (1, 2))
    return StreetBuckets(
        recipe.buckets,
        np.asarray(strength)[None],
        cuts=cuts[None],
        centres=mean[:, None].astype(np.float32),
        sizes=size,
        spread=spread.astype(np.float32),
        metadata={"method": "strength", "unit": "share of the pot", "cost": cost, "square": square},
    )


# --- public buckets -----------------------------------------------------------------------------------


def _base_buckets(work: _AbstractionBuild) -> StreetBuckets:
    """Cluster all flop hands together: the base abstraction, by which flops are compared (Brown et al. 2015)."""
    assert work.recipe.public is not None
    recipe = StreetRecipe("histogram", work.recipe.public.base)
    weight, seed = features.deal_weights("flop", work.threads), work.stage_seed("base")
    return _cluster_hands(work, "flop", recipe, None, weight, recipe.buckets, seed, work.report_progress)


def _public_buckets(work: _AbstractionBuild) -> StreetBuckets:
    """Cluster flops into public buckets (Brown, Ganzfried & Sandholm 2015, Alg. 2 and 3), or group them by texture."""
    recipe = work.recipe.public
    assert recipe is not None
    if recipe.manual:
        labels, metadata = flop_groups(recipe.groups), {"method": "public", "flops": recipe.method}
        return StreetBuckets(recipe.buckets, labels[None], sizes=np.bincount(labels).astype(float), metadata=metadata)
    if recipe.method == TRANSITIONS_METHOD:
        return _cluster_transitions(work, recipe)
    table = transition_counts(bucket_lookups(np.asarray(work.finished_stages["base"].labels[0])), recipe.base)
    distance = public_distances(table, work.threads, work.report_progress)
    clusters = cluster_public(
        distance, recipe.buckets, seed=work.stage_seed("public"), restarts=recipe.restarts, objective=recipe.method
    )
    results = {"cost": clusters.cost, "iterations": clusters.iterations, "settled": clusters.converged}
    facts = {"method": "public", "flops": recipe.method, **results}
    return StreetBuckets(recipe.buckets, clusters.labels[None], sizes=clusters.sizes, metadata=facts)


def _cluster_transitions(work: _AbstractionBuild, recipe: PublicRecipe) -> StreetBuckets:
    """Cluster flops by k-means over their transition tables (Waugh et al. 2009).

    The tables have the probabilities of 10 flop buckets for each of 10 preflop buckets, by percentiles of E[HS²] with
    perfect recall.
    """
    base: list[StreetBuckets] = []
    for street in STREETS[:2]:
        value = features.load_feature_table(feature_table(street, "percentile"))["square"]
        base.append(cut_street(base, value, TRANSITION_BUCKETS, threads=work.threads))
    boards, _ = canonical_boards(BOARD_CARDS["flop"])
    _, deals = live_deals(boards)
    preflop, flop = (
        CardAbstraction(tuple(base)).buckets(deals, check=False).reshape(len(boards), -1, 2).transpose(2, 0, 1)
    )
    table = transition_probabilities(preflop, flop % TRANSITION_BUCKETS, (TRANSITION_BUCKETS, TRANSITION_BUCKETS))
    seed = work.stage_seed("public")
    clusters = kmeans.kmeans(table, None, recipe.buckets, "l2", seed, recipe.restarts, work.threads)
    facts = {"method": "public", "flops": recipe.method, "cost": clusters.cost, "iterations": clusters.iterations}
    return StreetBuckets(recipe.buckets, clusters.labels.astype(np.int32)[None], sizes=clusters.sizes, metadata=facts)


def _private_buckets(work: _AbstractionBuild, street: str, recipe: StreetRecipe) -> StreetBuckets:
    """Cluster a street inside every public bucket (Brown, Ganzfried & Sandholm 2015, Algorithm 1)."""
    public = work.public
    assert public is not None
    cards, count = BOARD_CARDS[street], public.count
    next_private = None
    if recipe.method == "potential":
        following = work.finished_stages[_street_after(street)]
        next_private = PrivateBuckets(public, cards + 1, following.layer, following.labels, following.first)
    parts: list[StreetBuckets] = []
    mass: list[float] = []
    seeds = np.random.SeedSequence(work.stage_seed(street)).generate_state(count)

    def cluster_one(bucket: int, hands: Array, weights: Array) -> Array:
        after = None
        if next_private is not None:
            ground = _ground_distances(work, _street_after(street), bucket)
            after = next_private.labels_in_public_bucket(bucket), ground
        clusters = _cluster_hands(
            work, street, recipe, hands, weights, min(recipe.buckets, len(hands)), int(seeds[bucket]),
            lambda share: work.report_progress((bucket + share) / count), after,
        )  # fmt: skip
        parts.append(clusters)
        mass.append(weights.sum())
        return np.asarray(clusters.labels[0].astype(np.int32))

    layers, hands = int((public.flop_counts(cards) > 0).sum(axis=1).max()), CANONICAL_HANDS[street]
    dtype = np.uint16 if recipe.buckets * count < 1 << 16 else np.int32
    buckets = cluster_private(public, cards, cluster_one, np.empty((layers, hands), dtype), work.threads)
    width = max(part.centres.shape[1] for part in parts)  # for potential: the number of clusters of the next street
    parts = [
        replace(part, centres=np.pad(part.centres, ((0, 0), (0, width - part.centres.shape[1])))) for part in parts
    ]
    used = [n for n in np.diff(buckets.first).tolist() if n]  # a public bucket without hands has no part
    statistics: dict[str, Any] = {
        name: np.concatenate([getattr(part, name)[:n] for part, n in zip(parts, used, strict=True)])
        for name in STATISTICS_ARRAYS
    }
    means = {
        name: float(np.average([part.metadata[name] for part in parts], weights=mass)) for name in ("cost", "square")
    }
    passes = max(part.metadata["passes"] for part in parts)
    facts = {**parts[0].metadata, **means, "passes": passes, "layers": layers}
    return StreetBuckets(
        int(buckets.first[-1]), buckets.labels, buckets.layer, first=buckets.first, metadata=facts, **statistics
    )


STAGE_BUILDERS: dict[str, Callable[[_AbstractionBuild], StreetBuckets]] = {
    "base": _base_buckets,
    "public": _public_buckets,
    **{street: lambda work, street=street: _build_street(work, street) for street in STREETS},  # type: ignore[misc]
}
