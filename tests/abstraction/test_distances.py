"""Distances between histograms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from riverboat.abstraction.clustering.kmeans import earth_movers_distance, euclidean_distance
from riverboat.core.errors import InputError

HISTOGRAMS = st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(lambda h: np.array(h) / sum(h))


def transport(first: np.ndarray, second: np.ndarray) -> float:
    """Return the earth mover's distance by its definition: the cheapest transport, as a linear program."""
    n = len(first)
    cost = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).ravel()
    rows = [np.kron(np.eye(n)[k], np.ones(n)) for k in range(n)] + [np.kron(np.ones(n), np.eye(n)[k]) for k in range(n)]
    found = linprog(cost, A_eq=np.array(rows), b_eq=np.concatenate([first, second]))
    return float(found.fun)


def test_three_histograms() -> None:
    # Ganzfried, thesis proposal, figure 2: L2 is √2 twice, earth mover's distance 1 and 4.
    h = np.eye(5)
    assert euclidean_distance(h[0], h[[1, 4]]) == pytest.approx([2**0.5, 2**0.5])
    assert earth_movers_distance(h[0], h[[1, 4]]) == pytest.approx([1, 4])


@settings(deadline=None)
@given(HISTOGRAMS, HISTOGRAMS)
def test_cheapest_transport(first: np.ndarray, second: np.ndarray) -> None:
    assert earth_movers_distance(first, second) == pytest.approx(transport(first, second), abs=1e-7)
    bins = np.arange(4)
    assert earth_movers_distance(first, second) == pytest.approx(
        wasserstein_distance(bins, bins, first, second), abs=1e-9
    )


@settings(deadline=None)
@given(HISTOGRAMS, HISTOGRAMS, HISTOGRAMS)
def test_a_metric(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    assert earth_movers_distance(a, a) == 0
    assert earth_movers_distance(a, b) == pytest.approx(earth_movers_distance(b, a))
    assert earth_movers_distance(a, c) <= earth_movers_distance(a, b) + earth_movers_distance(b, c) + 1e-12


def test_errors() -> None:
    with pytest.raises(InputError, match="3 and 4 bins"):
        earth_movers_distance(np.ones(3) / 3, np.ones(4) / 4)
    with pytest.raises(InputError, match="mass"):
        earth_movers_distance(np.ones(3), np.ones(3) / 3)
