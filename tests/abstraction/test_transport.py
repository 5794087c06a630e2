"""Exact earth mover's distances: against linear programs, known distances, a library's answers and full searches."""

from __future__ import annotations

import numpy as np
import pytest

from reference import emd as reference
from riverboat.abstraction.clustering import potential_aware
from riverboat.abstraction.clustering.kmeans import earth_movers_distance
from riverboat.abstraction.clustering.transport import exact_distances
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

CLUSTERS, HANDS, MEANS = 30, 60, 8


@pytest.fixture(scope="module")
def some() -> tuple[potential_aware.SparseHistograms, Array, potential_aware.GroundDistances]:
    """Return points with many equal masses, means of some of them, and distances in a plane."""
    rng = np.random.default_rng(1)
    places = rng.normal(size=(CLUSTERS, 2))
    centres = rng.normal(size=(HANDS, 2))
    density = np.exp(-2 * np.square(places[None] - centres[:, None]).sum(axis=2))
    rows = np.array([rng.multinomial(23, d / d.sum()) for d in density]) / 23
    means = np.array([rows[rng.choice(HANDS, 6)].mean(axis=0) for _ in range(MEANS)])
    return potential_aware.to_sparse(rows), means, potential_aware.ground_distances(places, "l2")


def all_pairs() -> tuple[Array, Array]:
    return np.repeat(np.arange(HANDS), MEANS), np.tile(np.arange(MEANS), HANDS)


def test_both_methods_agree_with_the_reference(some) -> None:
    points, means, ground = some
    rows, which = all_pairs()
    found = exact_distances(points, rows, means, which, ground)
    few = slice(0, 60)
    by_lp = exact_distances(points, rows[few], means, which[few], ground, "lp")
    np.testing.assert_allclose(found[few], by_lp, atol=1e-8)
    dense = potential_aware.to_dense(points, CLUSTERS).astype(float)
    expected = [
        reference.exact(dense[i], means[m], ground.distance) for i, m in zip(rows[few], which[few], strict=True)
    ]
    np.testing.assert_allclose(found[few], expected, atol=1e-6)
    greedy = potential_aware.greedy_distances(points, rows, means, which, ground)
    assert (greedy - found).min() > -1e-5  # the greedy transport is feasible
    assert (greedy - found).max() > 0.01


def test_known_distances() -> None:
    """Ordered bins have a formula; equal histograms have no distance; scaled means are scaled back."""
    rng = np.random.default_rng(2)
    bins = potential_aware.ground_distances(np.eye(9))
    rows, means = rng.dirichlet(np.full(9, 0.4), 20), rng.dirichlet(np.full(9, 0.4), 20)
    same, points = np.arange(20), potential_aware.to_sparse(rows)
    found = exact_distances(points, same, means, same, bins)
    expected = [float(earth_movers_distance(p, q[None])[0]) for p, q in zip(rows, means, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(exact_distances(points, same, 7 * means, same, bins), found, atol=1e-6)
    np.testing.assert_allclose(exact_distances(points, same, rows, same, bins), 0.0, atol=1e-7)


def test_answers_of_a_library() -> None:
    """POT 0.9.7, `ot.emd2`: the first three answers of `test_potential.test_oracle_against_a_library`."""
    k = np.arange(9)
    plane = np.stack([k * k % 7, k * 3 % 5], axis=1).astype(float)
    ground = potential_aware.ground_distances(plane, "l2")
    answers = [0.436065753, 0.674275667, 0.641937601]
    points = potential_aware.to_sparse(np.array([(k * (3 + s) + s) % 11 for s in range(3)]))
    means = np.array([(k**2 + 5 * s) % 13 for s in range(3)], float)
    found = exact_distances(points, np.arange(3), means, np.arange(3), ground)
    assert found == pytest.approx(answers, abs=1e-6)


def test_nearest_means_and_clusters_under_the_exact_distance(some) -> None:
    points, means, ground = some
    rows, which = all_pairs()
    distances = exact_distances(points, rows, means, which, ground).reshape(HANDS, MEANS)
    labels, nearest, evaluated = potential_aware.assign_to_means(points, means, ground, exact=True)
    np.testing.assert_allclose(nearest, distances.min(axis=1), atol=1e-6)
    np.testing.assert_array_equal(labels, distances.argmin(axis=1))
    assert HANDS <= evaluated < HANDS * MEANS  # the bounds prune
    found = potential_aware.potential_kmeans(points, None, 5, ground, exact=True)
    again = exact_distances(points, np.arange(HANDS), found.centres, found.labels, ground)
    assert found.cost == pytest.approx(again.mean(), rel=1e-5)


def test_invalid_arguments(some) -> None:
    points, means, ground = some
    with pytest.raises(InputError, match=r"'simplx'.*paths"):
        exact_distances(points, [0], means, [0], ground, "simplx")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"means of shape \(8, 5\)"):
        exact_distances(points, [0], means[:, :5], [0], ground)
