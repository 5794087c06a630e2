"""Methods of search side by side: every row is there, and the figures are those of the measures themselves."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.evaluation.local_best_response.estimate import local_best_response
from riverboat.papers.endgames import search_methods
from riverboat.papers.framework import find


@pytest.mark.slow
def test_every_method_in_both_measures() -> None:
    size = "hands=40,deals=3,walkers=2,iterations=5"
    found = find(f"search-methods:{size}").run(False, 0)
    names = [row.name for row in found.rows]
    assert "search from the turn on" in found.notes[0]
    for way in search_methods.WAYS:
        assert f"{way}: won of the blueprint" in names
        less = found.row(f"{way}: local best response, less than of the blueprint").ours
        there = found.row(f"{way}: local best response").ours
        assert less == pytest.approx(found.row("blueprint: local best response").ours - there)


@pytest.mark.slow
def test_what_is_lost_is_the_local_best_response() -> None:
    """By the command's own function, on the same deals."""
    base, size = search_methods.twelve_cards(0), search_methods.Size(0, 5, 4, 8.0)
    lost = search_methods.lost(base, base.rules, size, "turn", seed=3)
    bound = local_best_response(base, base.rules, start="turn", hands=5 * 8, seed=3, walkers=4)
    assert np.mean(lost) == pytest.approx(bound.mbb_per_game)
