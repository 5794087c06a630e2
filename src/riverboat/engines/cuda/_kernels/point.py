"""Distances of points to centres on a GPU: a thread for each point, centres through the block's memory.

Compiled by `riverboat.engines.cuda.points`, which sets the names that are None here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.engines.cuda._kernels.numbers import cuda

WIDTH: Any = None  # numbers of a row
ROOM: Any = None  # of the centres that a block holds at a time
EMD: Any = None  # rows are cumulative histograms, distances sums of differences; else as they are, and Euclidean
FLOAT: Any = None  # float32 for a block's memory
TILE = 64  # how many those are
FAR = np.float32(3e38)


def nearest_two(points, rows, labels, lower):
    """The nearest centre of each point, and the distance of the second nearest."""
    tile = cuda.shared.array(ROOM, FLOAT)
    mine = cuda.local.array(WIDTH, FLOAT)
    i, n, k, d = cuda.grid(1), points.shape[0], rows.shape[0], points.shape[1]
    for j in range(WIDTH):
        mine[j] = np.float32(0)
    if i < n:
        if EMD:
            total, passed = np.float32(0), np.float32(0)
            for j in range(d):
                total += np.float32(points[i, j])
            for j in range(d - 1):
                passed += np.float32(points[i, j])
                mine[j] = passed / total
        else:
            for j in range(d):
                mine[j] = np.float32(points[i, j])
    best, second, label = FAR, FAR, 0
    for first in range(0, k, TILE):
        cuda.syncthreads()
        for t in range(cuda.threadIdx.x, ROOM, cuda.blockDim.x):
            c = first + t // WIDTH
            tile[t] = rows[c, t % WIDTH] if c < k else FAR
        cuda.syncthreads()
        for c in range(min(TILE, k - first)):
            apart = np.float32(0)
            for j in range(WIDTH):
                x = mine[j] - tile[c * WIDTH + j]
                apart += abs(x) if EMD else x * x
            if apart < best:
                second, best, label = best, apart, first + c
            elif apart < second:
                second = apart
    if i < n:
        labels[i] = label
        lower[i] = second if EMD else second ** np.float32(0.5)
