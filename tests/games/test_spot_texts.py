"""Long texts of spots: a range may give each of 1,326 hands a weight of many digits, on several lines."""

from __future__ import annotations

import numpy as np
import pytest

import riverboat as rb
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError


def test_ranges_have_weights_of_any_precision() -> None:
    weights = np.random.default_rng(3).random(1326)
    text = str(Range(weights))
    assert len(text) > 4096
    spot = rb.Spot.make(board="Ks9h5d3c2s", pot=100, stack=100, oop=text.replace(",", ",\n"), ip="AA", bets="a")
    assert np.count_nonzero(spot.weights[0]) == 1081
    with pytest.raises(InputError, match=r"oop.*1,000,000"):
        rb.Spot.make(board="Ks9h5d3c2s", pot=100, stack=100, oop="AA," * 400_000, ip="AA", bets="a")
