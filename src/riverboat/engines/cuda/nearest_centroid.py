"""Nearest centroids of k-means on a GPU, by comparing all points with all centroids."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import from_dtype

from riverboat.core.arrays import Array
from riverboat.engines.cuda._kernels import nearest_centroid as kernels
from riverboat.engines.cuda.board_engine import require_device_memory
from riverboat.engines.cuda.compilation import SIMULATED, bind_globals, cuda

THREADS = 4 if SIMULATED else 256


@cache
def _compile_kernel(width: int, emd: bool) -> Any:
    names = {**vars(kernels), "WIDTH": width, "TILE_SIZE": kernels.TILE * width, "EMD": emd}
    names["FLOAT"] = from_dtype(np.dtype(np.float32))
    return cuda.jit(bind_globals(kernels.nearest_two_centroids, names))


class NearestCentroidFinder:
    """Points on a device, for repeated searches of their nearest centroids.

    Distances equal those of `riverboat.abstraction.clustering.kmeans` up to rounding; k-means verifies near ties.
    """

    def __init__(self, points: Array, emd: bool) -> None:
        numbers = points.astype(np.float32) if points.dtype == np.float16 else np.ascontiguousarray(points)
        require_device_memory("k-means: the points", numbers.nbytes + 8 * len(points))
        self.points, self.emd = cuda.to_device(numbers), emd
        self.labels, self.lower = (cuda.device_array(len(points), kind) for kind in (np.int32, np.float32))

    def __call__(self, rows: Array, labels: Array, lower: Array) -> None:
        """Write the index of the nearest centroid of each point to `labels`, and the second distance to `lower`.

        `rows`: centroids; `lower` is the distance of the second nearest one.
        """
        kernel, count = _compile_kernel(rows.shape[1], self.emd), len(labels)
        centres = cuda.to_device(np.ascontiguousarray(rows))
        kernel[-(-count // THREADS), THREADS](self.points, centres, self.labels, self.lower)
        self.labels.copy_to_host(labels)
        self.lower.copy_to_host(lower)
