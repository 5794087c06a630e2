"""Time and error of exact and greedy earth mover's distances over unordered clusters, next to POT and HiGHS.

    python bench/transport.py [--clusters 40 200 1000] [--pairs 100] [--json]

Points are counts of 46 cards over clusters in three dimensions, as of a flop hand over turn clusters; means are averages of
40 points. Every method gets the same pairs; times are the least CPU time of three runs. POT (`ot.emd2`, a network
simplex) gets the nonzero part of each pair, and is left out if it is not installed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from riverboat.abstraction.clustering import potential_aware
from riverboat.abstraction.clustering.transport import exact_distances
from riverboat.core.arrays import Array

CARDS, POINTS, MEANS, POINTS_PER_MEAN, LP_PAIRS = 46, 300, 30, 40, 10


def sample(clusters: int, seed: int = 0) -> tuple[Array, Array, potential_aware.GroundDistances]:
    """Return dense points and means, and the ground distances of random clusters."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(clusters, 3))
    centres = 0.7 * rng.normal(size=(POINTS, 3))
    density = np.exp(-3 * np.square(places[None] - centres[:, None]).sum(axis=2))
    rows = np.array([rng.multinomial(CARDS, d / d.sum()) for d in density]) / CARDS
    means = np.array([rows[rng.choice(POINTS, POINTS_PER_MEAN)].mean(axis=0) for _ in range(MEANS)])
    return rows, means.astype(np.float32), potential_aware.ground_distances(places, "l2")


def milliseconds(compute: Callable[[], Array], count: int, repeats: int = 3) -> tuple[Array, float]:
    """Return a result, and the least CPU time of some runs in milliseconds for each of `count`."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = compute()
        seconds.append(time.process_time() - start)
    return result, 1000 * min(seconds) / count


def pot_distances(rows: Array, means: Array, distance: Array) -> Array | None:
    """Return the distances of pairs by POT; None if it is not installed."""
    try:
        import ot
    except ImportError:
        return None
    out = []
    for p, q in zip(rows, means.astype(float), strict=True):
        entries, columns = p > 0, q > 0
        ground = np.ascontiguousarray(distance[np.ix_(entries, columns)], float)
        out.append(ot.emd2(p[entries] / p[entries].sum(), q[columns] / q[columns].sum(), ground))
    return np.array(out)


def compare(clusters: int, pairs: int) -> dict[str, Any]:
    """Return times of all methods, errors of the greedy distance, and the largest differences of the exact ones."""
    rows, means, ground = sample(clusters)
    points, rng = potential_aware.to_sparse(rows), np.random.default_rng(1)
    hand, mean = rng.integers(POINTS, size=pairs), rng.integers(MEANS, size=pairs)
    few = min(pairs, LP_PAIRS)
    exact_distances(points, hand[:1], means, mean[:1], ground)  # compiled before it is timed
    potential_aware.greedy_distances(points, hand[:1], means, mean[:1], ground)
    exact, exact_ms = milliseconds(lambda: exact_distances(points, hand, means, mean, ground), pairs)
    greedy, greedy_ms = milliseconds(lambda: potential_aware.greedy_distances(points, hand, means, mean, ground), pairs)
    by_lp, lp_ms = milliseconds(lambda: exact_distances(points, hand[:few], means, mean[:few], ground, "lp"), few, 1)
    error = (greedy - exact) / exact
    row: dict[str, Any] = {
        "clusters": clusters,
        "support": float(np.count_nonzero(means[mean], axis=1).mean()),
        "greedy_ms": greedy_ms,
        "paths_ms": exact_ms,
        "lp_ms": lp_ms,
        "greedy_error": float(error.mean()),
        "lp_difference": float(np.abs(by_lp - exact[:few]).max()),
    }
    if pot_distances(rows[hand[:1]], means[mean[:1]], ground.distance) is not None:
        by_pot, pot_ms = milliseconds(lambda: pot_distances(rows[hand], means[mean], ground.distance), pairs)  # type: ignore[arg-type, return-value]
        row |= {"pot_ms": pot_ms, "pot_difference": float(np.abs(by_pot - exact).max())}
    return row


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description="Exact and greedy earth mover's distances, next to POT and HiGHS")
    parser.add_argument("--clusters", type=int, nargs="+", default=[40, 200, 1000])
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [compare(clusters, arguments.pairs) for clusters in arguments.clusters]
    if arguments.json:
        print(json.dumps({"rows": rows}))
        return
    for row in rows:
        print("  ".join(f"{key} {value:.4g}" for key, value in row.items()))


if __name__ == "__main__":
    main()
