"""Three histograms that L2 cannot tell apart and earth mover's distance can."""

from __future__ import annotations

import math

import numpy as np

from riverboat.abstraction.clustering.distances import emd, euclidean
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import printed

BINS = 5


def run(full: bool, seed: int) -> Report:
    """All mass in bin 1, against all of it in bin 2 and in bin 5."""
    histograms = np.eye(BINS)
    near, far = euclidean(histograms[0], histograms[[1, 4]])
    moved, carried = emd(histograms[0], histograms[[1, 4]])
    return Report(
        (
            printed("L2, bin 1 to bin 2", math.sqrt(2), float(near)),
            printed("L2, bin 1 to bin 5", math.sqrt(2), float(far)),
            printed("EMD, bin 1 to bin 2", 1.0, float(moved)),
            printed("EMD, bin 1 to bin 5", 4.0, float(carried)),
        )
    )


EXPERIMENT = Experiment(
    "emd-example",
    "Distances of three histograms",
    "Ganzfried, thesis proposal, figure 2",
    "0 s",
    "0 s",
    run,
)
