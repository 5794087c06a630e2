"""k-means on a GPU: which centre is nearest to each point, all compared with all."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import from_dtype

from riverboat.core.arrays import Array
from riverboat.core.errors import MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.engines.cuda._kernels import point as kernels
from riverboat.engines.cuda.board_engine import free_bytes
from riverboat.engines.cuda.compilation import SIMULATED, bound, cuda

THREADS = 4 if SIMULATED else 256


@cache
def _compiled(width: int, emd: bool) -> Any:
    names = {**vars(kernels), "WIDTH": width, "ROOM": kernels.TILE * width, "EMD": emd}
    names["FLOAT"] = from_dtype(np.dtype(np.float32))
    return cuda.jit(bound(kernels.nearest_two, names))


class Nearest:
    """Points on a device, which are asked for their nearest centres again and again.

    Distances are those of `riverboat.abstraction.clustering.kmeans` to rounding, which looks again where two are nearly the same.
    """

    def __init__(self, points: Array, emd: bool) -> None:
        numbers = points.astype(np.float32) if points.dtype == np.float16 else np.ascontiguousarray(points)
        free, need = free_bytes(), numbers.nbytes + 8 * len(points)
        if free is not None and need > free:
            raise MemoryLimitError(
                f"k-means: the points need {show_bytes(need)} and the device has {show_bytes(free)} free"
            )
        self.points, self.emd = cuda.to_device(numbers), emd
        self.labels, self.lower = (cuda.device_array(len(points), kind) for kind in (np.int32, np.float32))

    def __call__(self, rows: Array, labels: Array, lower: Array) -> None:
        """Write the number of the nearest row for each point, and how far the second nearest is."""
        kernel, count = _compiled(rows.shape[1], self.emd), len(labels)
        centres = cuda.to_device(np.ascontiguousarray(rows))
        kernel[-(-count // THREADS), THREADS](self.points, centres, self.labels, self.lower)
        self.labels.copy_to_host(labels)
        self.lower.copy_to_host(lower)
