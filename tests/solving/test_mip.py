"""ε-equilibria of three-player games by mixed integer programs."""

from __future__ import annotations

import numpy as np
import pytest

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.solvers.exact.mip import solve_mip
from riverboat.trees.history import HistoryTree


@pytest.fixture(scope="module")
def kuhn() -> HistoryTree:
    return HistoryTree.from_game(rb.game("kuhn:players=3"))


def test_three_player_kuhn_is_open_spiel_s(kuhn: HistoryTree) -> None:
    """Sizes, and what uniform play earns and concedes."""
    pytest.importorskip("pyspiel")
    theirs = HistoryTree.from_game(rb.game("open_spiel:kuhn_poker(players=3)"))
    assert (kuhn.infoset_count, kuhn.table) == (theirs.infoset_count, theirs.table) == (48, 96)
    ours, other = (rb.quality(rb.Strategy.uniform(tree)) for tree in (kuhn, theirs))
    assert ours.values == pytest.approx(other.values, abs=1e-12)
    assert ours.best == pytest.approx(other.best, abs=1e-12)


def test_an_exact_equilibrium_near_a_rough_one(kuhn: HistoryTree) -> None:
    solver = rb.CFR(kuhn, "cfr+")
    solver.step(200)
    rough = rb.quality(solver.average())
    found = solve_mip(kuhn, around=solver.average(), width=0.2)
    assert rough.nash_conv > 1e-4
    assert found.epsilon < 1e-9
    assert sum(found.values) == pytest.approx(0.0, abs=1e-12)
    assert found.values[1] == pytest.approx(-1 / 48, abs=1e-9)  # Szafron, Gibson & Sturtevant 2013
    again = rb.quality(found.strategy)
    assert max(np.array(again.best) - np.array(again.values)) == pytest.approx(found.epsilon, abs=1e-12)


def test_what_is_refused(kuhn: HistoryTree) -> None:
    with pytest.raises(InputError, match="2 players"):
        solve_mip(HistoryTree.from_game(rb.game("rps")))
    with pytest.raises(InputError, match="width=0"):
        solve_mip(kuhn, width=0.0)
