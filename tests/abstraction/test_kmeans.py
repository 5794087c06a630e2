"""K-means of hands."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import kmeans as plain
from riverboat.abstraction.clustering import kmeans
from riverboat.abstraction.clustering.kmeans import (
    KMeansClusters,
    KMeansStep,
    earth_movers_distance,
    euclidean_distance,
)
from riverboat.abstraction.clustering.kmeans import kmeans as cluster
from riverboat.core.errors import InputError

METRICS = ("emd", "l2")


def histograms(n: int, bins: int = 12, seed: int = 0) -> np.ndarray:
    """Return normalized histograms with a few modes. float32 [n, bins]"""
    rng = np.random.default_rng(seed)
    x = np.exp(-(((np.arange(bins) - rng.random((n, 1)) * bins) / (0.5 + 3 * rng.random((n, 1)))) ** 2))
    x += 0.2 * rng.random((n, bins))
    return (x / x.sum(axis=1, keepdims=True)).astype(np.float32)


def counts(n: int, bins: int = 12, runouts: int = 46, seed: int = 0) -> np.ndarray:
    """Return histograms of counts with `runouts` runouts each. uint8 or uint16 [n, bins]"""
    rng = np.random.default_rng(seed)
    shapes = histograms(n, bins, seed).astype(float)
    drawn = rng.multinomial(runouts, shapes / shapes.sum(axis=1, keepdims=True))
    return drawn.astype(np.uint8 if runouts < 256 else np.uint16)


def same(first: KMeansClusters, second: KMeansClusters) -> bool:
    """Return whether two results are bitwise equal."""
    return (
        np.array_equal(first.labels, second.labels)
        and np.array_equal(first.centres, second.centres)
        and np.array_equal(first.sizes, second.sizes)
        and (first.cost, first.square, first.iterations) == (second.cost, second.square, second.iterations)
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_equals_the_reference_implementation(metric: str, iterations: int) -> None:
    points, weights = histograms(150), np.random.default_rng(1).integers(1, 25, 150)
    # The last iteration with EMD need not be the best; here costs decrease, so both stop at the same centroids.
    found = cluster(points, weights, 6, metric, initial_centres=points[:6], iterations=iterations, tolerance=-1.0)
    centres, labels, cost = plain.lloyd(points.tolist(), weights.tolist(), points[:6].tolist(), metric, iterations)
    assert found.iterations == iterations
    assert found.labels.tolist() == labels
    assert found.centres == pytest.approx(np.array(centres), abs=1e-6)
    assert found.cost == pytest.approx(cost, rel=1e-5)
    assert found.sizes == pytest.approx(np.bincount(labels, weights, minlength=6))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_pruning_changes_nothing(data: st.DataObject) -> None:
    # Small whole numbers give many equal distances; few neighbours exhaust the neighbour lists.
    n, d, k = data.draw(st.integers(2, 80)), data.draw(st.integers(1, 5)), data.draw(st.integers(1, 12))
    seed, metric = data.draw(st.integers(0, 2**20)), data.draw(st.sampled_from(METRICS))
    points = np.random.default_rng(seed).integers(0, 6, (n, d)).astype(np.uint8)
    points[:, 0] += 1  # every histogram has mass
    start = np.random.default_rng(seed + 1).integers(1, 6, (min(k, n), d))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kmeans, "MAX_NEIGHBOURS", data.draw(st.sampled_from([1, 3, 256])))
        pruned, full = (
            cluster(points, None, len(start), metric, initial_centres=start, iterations=6, tolerance=0.0, prune=prune)
            for prune in (True, False)
        )
    assert same(pruned, full)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "dtype", ["uint8", *(pytest.param(t, marks=pytest.mark.slow) for t in ("uint16", "float32")), "float16"]
)
def test_pruning_at_size(metric: str, dtype: str) -> None:
    points = counts(12_000, 20, 1081 if dtype == "uint16" else 46).astype(dtype)
    weights = np.random.default_rng(2).integers(1, 25, len(points))
    pruned, full = (
        cluster(points, weights, 300, metric, iterations=8, tolerance=0.0, prune=prune) for prune in (True, False)
    )
    assert same(pruned, full)
    assert pruned.evaluated < full.evaluated / (5 if metric == "emd" else 1.05)


@pytest.mark.parametrize("metric", METRICS)
def test_threads_change_nothing(metric: str) -> None:
    points, weights = histograms(20_000), np.random.default_rng(3).random(20_000) + 0.1
    runs = [
        cluster(points, weights, 40, metric, seed=7, restarts=2, sample=3000, iterations=6, threads=threads)
        for threads in (1, 2, 3)
    ]
    assert same(runs[0], runs[1])
    assert same(runs[0], runs[2])
    assert not same(runs[0], cluster(points, weights, 40, metric, seed=8, restarts=2, sample=3000, iterations=6))


@pytest.mark.parametrize("metric", METRICS)
def test_fields_of_the_result(metric: str) -> None:
    points, weights = histograms(3000), np.random.default_rng(4).integers(1, 25, 3000)
    found = cluster(points, weights, 25, metric, iterations=300, tolerance=0.0)
    measure = earth_movers_distance if metric == "emd" else euclidean_distance
    shape = points / points.sum(axis=1, keepdims=True, dtype=float)
    centres = found.centres / found.centres.sum(axis=1, keepdims=True, dtype=float)
    apart = measure(shape[:, None], centres)
    assert (apart[np.arange(3000), found.labels] <= apart.min(axis=1) + 1e-6).all()
    assert found.cost == pytest.approx(np.average(apart.min(axis=1), weights=weights), rel=1e-4)
    assert found.square == pytest.approx(np.average(apart.min(axis=1) ** 2, weights=weights), rel=1e-4)
    assert found.sizes == pytest.approx(np.bincount(found.labels, weights, minlength=25))
    if metric == "l2":  # converged, so centroids are means; for EMD the best pass may be an earlier one
        means = [np.average(shape[found.labels == c], axis=0, weights=weights[found.labels == c]) for c in range(25)]
        assert found.centres == pytest.approx(np.array(means), abs=1e-5)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_are_copies(metric: str) -> None:
    points, weights = histograms(400), np.random.default_rng(5).integers(1, 5, 400)
    once = cluster(points, weights, 9, metric, initial_centres=points[:9], iterations=7, tolerance=0.0)
    several = cluster(
        np.repeat(points, weights, axis=0), None, 9, metric, initial_centres=points[:9], iterations=7, tolerance=0.0
    )
    assert np.repeat(once.labels, weights).tolist() == several.labels.tolist()
    assert once.sizes == pytest.approx(several.sizes)
    assert once.cost == pytest.approx(several.cost)


def test_counts_are_histograms() -> None:
    whole = counts(2000)
    start = histograms(15, seed=5)  # not whole numbers, so that no distances are equal
    first = cluster(whole, None, 15, "emd", initial_centres=start, iterations=5)
    second = cluster((whole / np.float32(46)).astype(np.float32), None, 15, "emd", initial_centres=start, iterations=5)
    assert first.labels.tolist() == second.labels.tolist()
    assert first.cost == pytest.approx(second.cost, rel=1e-5)
    assert first.centres.sum(axis=1) == pytest.approx(np.ones(15), abs=1e-5)


def test_half_precision() -> None:
    half = np.random.default_rng(6).random((9000, 8)).astype(np.float16)
    assert same(cluster(half, None, 30, iterations=4), cluster(half.astype(np.float32), None, 30, iterations=4))


def test_emd_respects_the_order_of_bins() -> None:
    # Ganzfried, thesis proposal, figure 2: all unit masses are √2 apart in L2; in earth mover's distance neighbours are near.
    points = np.repeat(np.eye(6, dtype=np.float32)[[0, 1, 4, 5]], 5, axis=0)
    found = cluster(points, None, 2, "emd", restarts=5)
    assert found.cost == pytest.approx(0.5)
    assert len(set(found.labels[:10])) == 1
    assert len(set(found.labels[10:])) == 1


@pytest.mark.parametrize("metric", METRICS)
def test_seeds_are_drawn_by_weight_and_squared_distance(metric: str) -> None:
    points, weights = histograms(5, 4, seed=11), np.array([1.0, 4.0, 2.0, 3.0, 1.0])
    rows = kmeans._KMeansProblem(points, weights, 2, metric == "emd", 1, True)
    every = rows.rows_of_centres(points[:2]).shape[1]
    drawn = np.zeros((5, 5))
    known = {rows_of(points, i, metric, every): i for i in range(5)}
    for state in np.random.SeedSequence(0).generate_state(8000, np.uint64):
        centres, _ = kmeans._seed_centroids(rows, state, kmeans.StepReporter(None, "seed", 0))
        drawn[known[key(centres[0])], known[key(centres[1])]] += 1
    first = plain.chances(points.tolist(), weights.tolist(), [], metric)
    expected = 8000 * np.array(
        [first[i] * np.array(plain.chances(points.tolist(), weights.tolist(), [i], metric)) for i in range(5)]
    )
    assert (drawn[expected == 0] == 0).all()
    free = expected > 0
    chi = ((drawn[free] - expected[free]) ** 2 / expected[free]).sum()
    assert chi < 45  # 19 degrees of freedom: once in 1,400 seeds


def key(row: np.ndarray) -> tuple[float, ...]:
    return tuple(np.round(row.astype(float), 4).tolist())


def rows_of(points: np.ndarray, i: int, metric: str, width: int) -> tuple[float, ...]:
    row = np.zeros(width)
    used = np.cumsum(points[i], dtype=float)[:-1] if metric == "emd" else points[i]
    row[: len(used)] = used
    return key(row)


@pytest.mark.parametrize("metric", METRICS)
def test_empty_clusters_are_filled(metric: str) -> None:
    points = histograms(12_000)
    start = np.repeat(points[:2], 10, axis=0)  # of equal centroids, only the first gets points
    assert (cluster(points, None, 20, metric, initial_centres=start, iterations=1).sizes > 0).sum() == 2
    found = cluster(points, None, 20, metric, initial_centres=start, iterations=60)
    assert (found.sizes > 0).all()
    assert found.cost < 1.15 * cluster(points, None, 20, metric, iterations=60).cost


def test_best_iteration_is_returned() -> None:
    seen: list[KMeansStep] = []
    points = counts(3000, 8, 10)
    risen = 0
    for seed in range(6):
        seen.clear()
        found = cluster(points, None, 60, "emd", seed=seed, iterations=40, tolerance=0.0, progress=seen.append)
        costs = [step.cost for step in seen if step.stage == "whole" and step.done == 1.0 and step.cost == step.cost]
        risen += any(after > before for before, after in pairwise(costs))
        assert found.cost == min(costs)
    assert risen  # otherwise this test checks nothing


def test_restarts_and_samples() -> None:
    points, weights = histograms(20_000), np.random.default_rng(9).integers(1, 25, 20_000)
    one = cluster(points, weights, 50, "emd", seed=3)
    many = cluster(points, weights, 50, "emd", seed=3, restarts=4)
    assert many.cost <= one.cost
    sampled = cluster(points, weights, 50, "emd", seed=3, restarts=4, sample=4000)
    assert sampled.cost < 1.03 * many.cost
    assert same(sampled, cluster(points, weights, 50, "emd", seed=3, restarts=4, sample=4000))


def test_sample_is_drawn_by_weight() -> None:
    points, weights = np.arange(1000, dtype=np.float32)[:, None], np.ones(1000, np.uint8)
    weights[500:] = 3
    small = kmeans._sample_points(kmeans._KMeansProblem(points, weights, 2, False, 1, True), 200, 0)
    assert small.weights.sum() == 200
    heavy = small.weights[small.points[:, 0] >= 500].sum()
    assert heavy == pytest.approx(150, abs=1)


def test_progress() -> None:
    seen: list[KMeansStep] = []
    cluster(histograms(9000), None, 10, "emd", sample=2000, restarts=2, iterations=3, progress=seen.append)
    assert [step.stage for step in seen if step.done == 1.0 and step.iteration == 0] == ["seed", "seed"]
    assert {(step.stage, step.restart) for step in seen} == {
        ("seed", 0), ("sample", 0), ("seed", 1), ("sample", 1), ("whole", 0)
    }  # fmt: skip
    last = seen[-1]
    assert last.stage == "whole"
    assert last.done == 1.0
    assert 0 <= last.changed <= 1


def test_points_are_not_copied() -> None:
    points = counts(200_000, 50)
    cluster(points[:5000], None, 20, "emd", iterations=1)  # compile before memory is measured
    tracemalloc.start()
    try:
        cluster(points, None, 20, "emd", sample=5000, iterations=3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < points.nbytes  # 10 MB; as float32 they would be 40


def test_scikit_learn() -> None:
    from sklearn.cluster import KMeans  # slow to load

    points = histograms(5000)
    theirs = KMeans(40, init=points[:40], n_init=1, tol=0.0, max_iter=300).fit(points)
    ours = cluster(points, None, 40, initial_centres=points[:40], tolerance=0.0, iterations=300)
    assert ours.square * 5000 <= theirs.inertia_ * 1.001


def test_errors() -> None:
    points = histograms(10)
    with pytest.raises(InputError, match=r"'emdd'.*'emd'"):
        cluster(points, None, 2, "emdd")
    with pytest.raises(InputError, match="float64"):
        cluster(points.astype(float), None, 2)
    with pytest.raises(InputError, match="k=11"):
        cluster(points, None, 11)
    with pytest.raises(InputError, match=r"weights.*\(9,\).*10"):
        cluster(points, np.ones(9), 2)
    with pytest.raises(InputError, match="weights of points 0 to 9"):
        cluster(points, np.zeros(10), 2)
    with pytest.raises(InputError, match="restarts=0"):
        cluster(points, None, 2, restarts=0)
    with pytest.raises(InputError, match="sample=1"):
        cluster(points, None, 2, sample=1)
    with pytest.raises(InputError, match=r"initial_centres.*\(3, 12\)"):
        cluster(points, None, 2, initial_centres=points[:3])
    with pytest.raises(InputError, match=r"k=3.* 2 .*k=2"):
        cluster(points[[0, 1, 0, 1]], None, 3)
    with pytest.raises(InputError, match="points 0 to 1: 1 histograms"):
        cluster(np.array([[0, 0], [1, 2]], np.uint8), None, 1, "emd")
    with pytest.raises(InputError, match=r"points 0 to 9.*negative"):
        cluster(-points, None, 2, "emd")
    with pytest.raises(InputError, match=r"points 0 to 9.*finite"):
        cluster(points * np.float32(np.nan), None, 2)


def test_medians_have_lower_cost_than_means():
    rng = np.random.default_rng(31)
    points = rng.integers(0, 9, (600, 12)).astype(np.uint8)
    weights = rng.integers(1, 5, 600).astype(float)
    means = cluster(points, weights, 8, "emd", seed=2, tolerance=0.0)
    medians = cluster(points, weights, 8, "emd", seed=2, tolerance=0.0, medians=True)
    assert medians.cost < 0.999 * means.cost
    rows = np.cumsum(points / points.sum(axis=1, keepdims=True), axis=1)
    for c in range(8):  # one centroid against the median of its members, by plain search
        mine, mass = rows[medians.labels == c], weights[medians.labels == c]
        best = sum(min((mass * np.abs(mine[:, j] - x)).sum() for x in mine[:, j]) for j in range(11))
        found = (mass[:, None] * np.abs(mine - np.cumsum(medians.centres[c]))).sum()
        assert best - 1e-9 <= found < 1.03 * best
    with pytest.raises(InputError, match=r"medians.*'l2'"):
        cluster(points, weights, 8, "l2", medians=True)
