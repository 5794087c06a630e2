"""k-means as in the papers, one point and one center at a time, in float64 and without bounds.

Lloyd 1982 for vectors; Johanson et al. 2013 for histograms over ordered bins: the earth mover's distance decides the
assignment, and a center is the mean of its histograms. Seeding is k-means++ (Arthur & Vassilvitskii 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Point = Sequence[float]


def distance(first: Point, second: Point, metric: str) -> float:
    """Euclidean distance, or the earth mover's distance of two histograms of mass one."""
    if metric == "l2":
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(first, second, strict=True)))
    work, carried = 0.0, 0.0
    for a, b in zip(first, second, strict=True):
        carried += a / sum(first) - b / sum(second)
        work += abs(carried)
    return work


def nearest(point: Point, centres: list[list[float]], metric: str) -> tuple[float, int]:
    """Distance and index of the nearest center, the lowest of equals."""
    return min((distance(point, centre, metric), c) for c, centre in enumerate(centres))


def lloyd(
    points: Sequence[Point], weights: Sequence[float], start: Sequence[Point], metric: str, iterations: int
) -> tuple[list[list[float]], list[int], float]:
    """Centers, their labels, and the weighted mean distance after some iterations; clusters must not become empty."""
    centres = [list(map(float, centre)) for centre in start]
    labels: list[int] = []
    for _ in range(iterations):
        if labels:
            for c in range(len(centres)):
                own = [i for i in range(len(points)) if labels[i] == c]
                mass = sum(weights[i] for i in own)
                shapes = {i: [x / (sum(points[i]) if metric == "emd" else 1) for x in points[i]] for i in own}
                centres[c] = [sum(weights[i] * shapes[i][j] for i in own) / mass for j in range(len(centres[c]))]
        result = [nearest(point, centres, metric) for point in points]
        labels = [c for _, c in result]
    cost = sum(w * d for w, (d, _) in zip(weights, result, strict=True)) / sum(weights)
    return centres, labels, cost


def chances(points: Sequence[Point], weights: Sequence[float], chosen: list[int], metric: str) -> list[float]:
    """The probability of each point to be the next center of k-means++, given the centers so far."""
    centres = [list(points[i]) for i in chosen]
    score = [w * (nearest(p, centres, metric)[0] ** 2 if chosen else 1.0) for p, w in zip(points, weights, strict=True)]
    return [s / sum(score) for s in score]
