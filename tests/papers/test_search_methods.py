"""Methods of search: all rows are present, and the values are those of the measures themselves."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.evaluation.local_best_response import local_best_response
from riverboat.papers.endgames import search_methods
from riverboat.papers.registry import find


@pytest.mark.slow
def test_every_method_by_both_measures() -> None:
    size = "hands=40,deals=3,walkers=2,iterations=5"
    found = find(f"search-methods:{size}").run(False, 0)
    names = [row.name for row in found.rows]
    assert "search from the turn on" in found.notes[0]
    for method in search_methods.SEARCH_METHODS:
        assert f"{method}: won of the blueprint" in names
        reduction = found.row(f"{method}: local best response, less than of the blueprint").ours
        value = found.row(f"{method}: local best response").ours
        assert reduction == pytest.approx(found.row("blueprint: local best response").ours - value)


@pytest.mark.slow
def test_losses_are_local_best_responses() -> None:
    """Compare with the function of the command, on the same deals."""
    base, size = search_methods.train_twelve_card_blueprint(0), search_methods.SearchExperimentSize(0, 5, 4, 8.0)
    lost = search_methods.local_best_response_gains(base, base.rules, size, "turn", seed=3)
    bound = local_best_response(base, base.rules, start="turn", hands=5 * 8, seed=3, trajectories=4)
    assert np.mean(lost) == pytest.approx(bound.mbb_per_game)
