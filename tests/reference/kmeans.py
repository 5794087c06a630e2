"""k-means as the papers have it, one point and one centre at a time, in float64 and without bounds.

Lloyd 1982 for vectors; Johanson et al. 2013 for histograms over ordered bins: the earth mover's distance decides who belongs
where, and a centre is the mean of its histograms. Seeding is k-means++ (Arthur & Vassilvitskii 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = Sequence[float]


def distance(first: Point, second: Point, metric: str) -> float:
    """Euclidean, or the earth carried from bin to bin until both histograms, at mass one, are alike."""
    if metric == "l2":
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(first, second, strict=True)))
    work, carried = 0.0, 0.0
    for a, b in zip(first, second, strict=True):
        carried += a / sum(first) - b / sum(second)
        work += abs(carried)
    return work


def nearest(point: Point, centres: list[list[float]], metric: str) -> tuple[float, int]:
    """Distance and number of the nearest centre, the lowest of equals."""
    return min((distance(point, centre, metric), c) for c, centre in enumerate(centres))


def lloyd(
    points: Sequence[Point], weights: Sequence[float], start: Sequence[Point], metric: str, iterations: int
) -> tuple[list[list[float]], list[int], float]:
    """Centres, labels for them, and the weighted mean distance, after some iterations; clusters must not run empty."""
    centres = [list(map(float, centre)) for centre in start]
    labels: list[int] = []
    for _ in range(iterations):
        if labels:
            for c in range(len(centres)):
                mine = [i for i in range(len(points)) if labels[i] == c]
                mass = sum(weights[i] for i in mine)
                shapes = {i: [x / (sum(points[i]) if metric == "emd" else 1) for x in points[i]] for i in mine}
                centres[c] = [sum(weights[i] * shapes[i][j] for i in mine) / mass for j in range(len(centres[c]))]
        found = [nearest(point, centres, metric) for point in points]
        labels = [c for _, c in found]
    cost = sum(w * d for w, (d, _) in zip(weights, found, strict=True)) / sum(weights)
    return centres, labels, cost


def chances(points: Sequence[Point], weights: Sequence[float], chosen: list[int], metric: str) -> list[float]:
    """The probability of each point to be the next centre of k-means++, when some points are centres already."""
    centres = [list(points[i]) for i in chosen]
    score = [w * (nearest(p, centres, metric)[0] ** 2 if chosen else 1.0) for p, w in zip(points, weights, strict=True)]
    return [s / sum(score) for s in score]
