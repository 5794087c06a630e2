"""Distances of points to centroids on a GPU: one thread for each point, centroids in shared memory.

`riverboat.engines.cuda.nearest_centroid` compiles the kernel and sets the names that are None here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from riverboat.engines.cuda._kernels.intrinsics import cuda

WIDTH: Any = None  # numbers of a row
TILE_SIZE: Any = None  # numbers of the centroids in shared memory
EMD: Any = None  # whether rows are cumulative histograms with L1 distance; else Euclidean distance
FLOAT: Any = None  # float32, the type of shared memory
TILE = 64  # centroids in shared memory at a time
MAX_DISTANCE = np.float32(3e38)


def nearest_two_centroids(points, rows, labels, lower):
    """Write the nearest centroid of each point to `labels`, and the distance of the second nearest to `lower`.

    `rows`: centroids.
    """
    tile = cuda.shared.array(TILE_SIZE, FLOAT)
    row = cuda.local.array(WIDTH, FLOAT)
    i, n, k, d = cuda.grid(1), points.shape[0], rows.shape[0], points.shape[1]
    for j in range(WIDTH):
        row[j] = np.float32(0)
    if i < n:
        if EMD:
            total, cumulative = np.float32(0), np.float32(0)
            for j in range(d):
                total += np.float32(points[i, j])
            for j in range(d - 1):
                cumulative += np.float32(points[i, j])
                row[j] = cumulative / total
        else:
            for j in range(d):
                row[j] = np.float32(points[i, j])
    best, second, label = MAX_DISTANCE, MAX_DISTANCE, 0
    for first in range(0, k, TILE):
        cuda.syncthreads()
        for t in range(cuda.threadIdx.x, TILE_SIZE, cuda.blockDim.x):
            c = first + t // WIDTH
            tile[t] = rows[c, t % WIDTH] if c < k else MAX_DISTANCE
        cuda.syncthreads()
        for c in range(min(TILE, k - first)):
            distance = np.float32(0)
            for j in range(WIDTH):
                x = row[j] - tile[c * WIDTH + j]
                distance += abs(x) if EMD else x * x
            if distance < best:
                second, best, label = best, distance, first + c
            elif distance < second:
                second = distance
    if i < n:
        labels[i] = label
        lower[i] = second if EMD else second ** np.float32(0.5)
