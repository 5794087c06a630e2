"""Within-cluster earth mover's distance of `kmeans.cluster`, compared with other k-means from the same start.

    python bench/abstraction_peers.py [--hands 20000] [--k 50 200] [--seeds 3] [--pot-k 10] [--json]

20,000 flop hands are drawn by their deal frequency, and every method gets the same histograms, the same k and the same
first centers (our k-means++ and one iteration). The comparison is the mean distance of a hand to its nearest center,
measured by one function for all methods, averaged over some seeds. Peers:

- `lloyd`: assignment by L1 of cumulative histograms, means as centers, in NumPy: our start, without its pruning;
- `medians`: the same with the exact medians of the cumulative histograms as centers, which ours approximates at the end;
- `scikit-learn`: KMeans on cumulative histograms, whose squared Euclidean distance is not the earth mover's;
- `POT, 1-D`: `lloyd` with distances from `ot.wasserstein_1d`; minutes for k = 10, so with `--pot-k` of its own;
- `POT`: the same from `ot.emd2` (network simplex), pair by pair, on 300 hands and 10 clusters.

Packages that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from riverboat.abstraction.clustering import kmeans
from riverboat.abstraction.clustering.features import board_features
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.isomorphism import canonical_boards
from riverboat.core.arrays import Array

Peer: TypeAlias = Callable[[Array, Array], Array | None]
ITERATIONS = 30


def sample(hands: int, seed: int = 0, boards: int = 150) -> Array:
    """Return histograms of hands drawn on some flops by deal frequency. float32 [hands, 50]"""
    rng = np.random.default_rng(seed)
    flops, times = canonical_boards(3)
    histograms = []
    for flop in rng.choice(len(flops), boards, p=times / times.sum()):
        live = ~np.isin(HAND_CARDS, flops[flop]).any(axis=1)
        histograms.append(board_features(flops[flop].tolist()).histogram[live])
    every = np.concatenate(histograms)
    return np.asarray(every[rng.choice(len(every), hands, replace=False)], np.float32)


def distances(points: Array, centres: Array) -> tuple[Array, Array]:
    """Return the nearest center of each point and its earth mover's distance, in bins. int [n], float [n]"""
    first, second = np.cumsum(points, axis=1, dtype=float), np.cumsum(centres, axis=1, dtype=float)
    labels, nearest = np.empty(len(points), int), np.empty(len(points))
    for begin in range(0, len(points), 500):
        part = slice(begin, begin + 500)
        apart = np.abs(first[part, None, :-1] - second[None, :, :-1]).sum(axis=2)
        labels[part], nearest[part] = apart.argmin(axis=1), apart.min(axis=1)
    return labels, nearest


def centres_of(points: Array, labels: Array, centres: Array, *, median: bool) -> Array:
    """Return mean histograms, or medians of the cumulative ones; an empty cluster keeps its center."""
    out = np.array(centres, float)
    for c in np.unique(labels):
        mine = points[labels == c]
        sums = np.median(np.cumsum(mine, axis=1, dtype=float), axis=0) if median else None
        out[c] = mine.mean(axis=0) if sums is None else np.diff(sums, prepend=0.0)
    return out


def iterate(
    points: Array, start: Array, nearest: Callable[[Array, Array], tuple[Array, Array]], *, median: bool = False
) -> Array:
    """Run Lloyd's algorithm with a given assignment, and return the best centers of all iterations."""
    centres, best, before = np.array(start, float), (np.inf, np.array(start, float)), None
    for _ in range(ITERATIONS):
        labels, away = nearest(points, centres)
        best = min(best, (float(away.mean()), centres), key=lambda b: b[0])
        if before is not None and (labels == before).mean() > 0.999:
            break
        before, centres = labels, centres_of(points, labels, centres, median=median)
    return best[1]


def ours(points: Array, start: Array) -> Array:
    """Run `riverboat.abstraction.clustering.kmeans`."""
    return kmeans.kmeans(
        points, None, len(start), "emd", initial_centres=start, iterations=ITERATIONS, medians=True
    ).centres


def lloyd(points: Array, start: Array) -> Array:
    """Run Lloyd's algorithm with all distances in every iteration."""
    return iterate(points, start, distances)


def medians(points: Array, start: Array) -> Array:
    """Run Lloyd's algorithm with the centers that minimize the distance."""
    return iterate(points, start, distances, median=True)


def scikit(points: Array, start: Array) -> Array | None:
    """Run scikit-learn on cumulative histograms."""
    try:
        from sklearn.cluster import KMeans
    except ImportError:
        return None
    rows = KMeans(len(start), init=np.cumsum(start, axis=1), n_init=1, max_iter=ITERATIONS).fit(
        np.cumsum(points, axis=1)
    )
    return np.asarray(np.diff(rows.cluster_centers_, axis=1, prepend=0.0))


def pot_1d(points: Array, start: Array) -> Array | None:
    """Run POT with its one-dimensional solver, one center against all points at a time."""
    try:
        import ot
    except ImportError:
        return None
    columns = np.ascontiguousarray(points.T / points.sum(axis=1), float)
    places = np.broadcast_to(np.arange(len(columns), dtype=float)[:, None], columns.shape).copy()

    def nearest(points: Array, centres: Array) -> tuple[Array, Array]:
        every = np.empty((len(points), len(centres)))
        for c, centre in enumerate(centres / centres.sum(axis=1, keepdims=True)):
            mass = np.broadcast_to(centre[:, None], columns.shape).copy()
            every[:, c] = ot.wasserstein_1d(places, places, mass, columns)
        return every.argmin(axis=1), every.min(axis=1)

    return iterate(points, start, nearest)


def pot(points: Array, start: Array) -> Array | None:
    """Run POT with its network simplex, pair by pair."""
    try:
        import ot
    except ImportError:
        return None
    bins = np.arange(points.shape[1], dtype=float)
    ground = np.abs(bins[:, None] - bins)

    def nearest(points: Array, centres: Array) -> tuple[Array, Array]:
        unit = centres / centres.sum(axis=1, keepdims=True)
        mass = np.asarray(points, float) / np.sum(points, axis=1, keepdims=True, dtype=float)
        every = np.array([[ot.emd2(p, c, ground) for c in unit] for p in mass])
        return every.argmin(axis=1), every.min(axis=1)

    return iterate(points, start, nearest)


def compare(points: Array, k: int, peers: Mapping[str, Peer], seeds: int) -> list[dict[str, Any]]:
    """Return mean distance and seconds of each peer from the same starts."""
    by_peer: dict[str, list[tuple[float, float]]] = {}
    for seed in range(seeds):
        start = kmeans.kmeans(points, None, k, "emd", seed=seed, iterations=1).centres
        for name, method in peers.items():
            started = time.perf_counter()
            centres = method(points, start)
            if centres is not None:
                seconds = time.perf_counter() - started
                by_peer.setdefault(name, []).append((float(distances(points, centres)[1].mean()), seconds))
    return [
        {"method": name, "hands": len(points), "k": k, "seeds": seeds}
        | {"emd": float(np.mean([e for e, _ in runs])), "every": [e for e, _ in runs]}
        | {"seconds": round(float(np.mean([s for _, s in runs])), 3)}
        for name, runs in by_peer.items()
    ]


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description="Within-cluster earth mover's distance, compared with other k-means")
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--k", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pot-k", type=int, default=10, help="0: without POT")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    points = sample(arguments.hands)
    ours(points[:1000], points[:10])  # compiled before it is timed
    plain: dict[str, Peer] = {"riverboat": ours, "lloyd": lloyd, "scikit-learn": scikit, "medians": medians}
    runs: list[tuple[Array, int, Mapping[str, Peer], int]] = [(points, k, plain, arguments.seeds) for k in arguments.k]
    if arguments.pot_k:
        runs.append((points, arguments.pot_k, {"riverboat": ours, "POT, 1-D": pot_1d, "scikit-learn": scikit}, 1))
        runs.append((points[:300], 10, {"riverboat": ours, "POT": pot}, 1))
    if not arguments.json:
        print(f"{'method':<14}{'hands':>8}{'k':>6}{'seeds':>7}{'mean EMD':>11}{'seconds':>10}")
    rows = []
    for run in runs:
        rows += (compared := compare(*run))
        for row in compared if not arguments.json else []:
            counts = f"{row['hands']:>8,}{row['k']:>6}{row['seeds']:>7}"
            print(f"{row['method']:<14}{counts}{row['emd']:>11.5f}{row['seconds']:>10.2f}", flush=True)
    if arguments.json:
        print(json.dumps({"iterations": ITERATIONS, "rows": rows}))


if __name__ == "__main__":
    main()
