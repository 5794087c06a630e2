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


def test_three_player_kuhn_equals_open_spiel(kuhn: HistoryTree) -> None:
    """Sizes, values and best-response values of uniform play."""
    pytest.importorskip("pyspiel")
    spiel_tree = HistoryTree.from_game(rb.game("open_spiel:kuhn_poker(players=3)"))
    assert (kuhn.infoset_count, kuhn.table_size) == (spiel_tree.infoset_count, spiel_tree.table_size) == (48, 96)
    ours, other = (rb.quality(rb.Strategy.uniform(tree)) for tree in (kuhn, spiel_tree))
    assert ours.values == pytest.approx(other.values, abs=1e-12)
    assert ours.best == pytest.approx(other.best, abs=1e-12)


def test_exact_equilibrium_near_an_approximate_one(kuhn: HistoryTree) -> None:
    solver = rb.CFR(kuhn, "cfr+")
    solver.step(200)
    rough = rb.quality(solver.average())
    result = solve_mip(kuhn, around=solver.average(), width=0.2)
    assert rough.nash_conv > 1e-4
    assert result.epsilon < 1e-9
    assert sum(result.values) == pytest.approx(0.0, abs=1e-12)
    assert result.values[1] == pytest.approx(-1 / 48, abs=1e-9)  # Szafron, Gibson & Sturtevant 2013
    again = rb.quality(result.strategy)
    assert max(np.array(again.best) - np.array(again.values)) == pytest.approx(result.epsilon, abs=1e-12)


def test_invalid_input(kuhn: HistoryTree) -> None:
    with pytest.raises(InputError, match="2 players"):
        solve_mip(HistoryTree.from_game(rb.game("rps")))
    with pytest.raises(InputError, match="width=0"):
        solve_mip(kuhn, width=0.0)
