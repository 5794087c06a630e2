"""Three histograms that L2 distance cannot distinguish and earth mover's distance can."""

from __future__ import annotations

import math

import numpy as np

from riverboat.abstraction.clustering.kmeans import earth_movers_distance, euclidean_distance
from riverboat.papers.framework import ExperimentReport
from riverboat.papers.rows import printed_row

NUM_BINS = 5


def run_emd_example(full: bool, seed: int) -> ExperimentReport:
    """Compare all mass in bin 1 with all mass in bin 2 and in bin 5."""
    histograms = np.eye(NUM_BINS)
    l2_near, l2_far = euclidean_distance(histograms[0], histograms[[1, 4]])
    emd_near, emd_far = earth_movers_distance(histograms[0], histograms[[1, 4]])
    rows = (
        printed_row("L2, bin 1 to bin 2", math.sqrt(2), l2_near),
        printed_row("L2, bin 1 to bin 5", math.sqrt(2), l2_far),
        printed_row("EMD, bin 1 to bin 2", 1.0, emd_near),
        printed_row("EMD, bin 1 to bin 5", 4.0, emd_far),
    )
    return ExperimentReport(rows)
