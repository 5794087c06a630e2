"""Curves of the ways to sample a blueprint, and a run against its own past."""

from __future__ import annotations

from pathlib import Path

import pytest

from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.rules import read_game
from riverboat.papers.sampling import blueprint_convergence
from riverboat.papers.sampling.blueprint_convergence import GAMES, NAMES, head_to_head, train
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.solvers.mccfr.training import Training


@pytest.mark.parametrize("traversal", NAMES)
def test_leduc_with_a_jack_like_a_queen(traversal: str) -> None:
    visits = 2e7  # instead of seconds: a slow machine must not decide
    first, *_, last = train(GAMES["Leduc, JQ.K"](), traversal, 0.3, 0, 4, lambda solver: solver.updates / visits)
    assert first.seconds < last.seconds
    assert first.visited < last.visited
    assert last.abstract < first.abstract
    assert last.abstract < 60 < last.real  # thousandths of an ante: training closes the abstract game alone


def test_a_run_against_its_past(tmp_path: Path) -> None:
    rules = read_game("leduc")
    solver = Blueprint(compile_actions(rules), lossless(rules.board[1:], rules.deck), seed=1)
    out = tmp_path / "run"
    run = Training(solver, out, None, {}, check_seconds=0.0, measure=lambda now, before: {})
    run.open(resume=False)
    run.run(iterations=100_000)
    found = head_to_head(out, hands=20_000)
    assert len(found.rows) == len(list((out / "snapshots").iterdir())) >= 3
    (curve,) = found.curves
    assert list(curve.x) == sorted(curve.x)
    low, high = found.rows[-1].low, found.rows[-1].high
    assert low is not None
    assert high is not None
    assert low <= 0 <= high  # the last snapshot is the end itself
    with pytest.raises(InputError, match="no snapshots"):
        head_to_head(tmp_path)


@pytest.mark.slow
def test_vectors_pay_where_buckets_are_many() -> None:
    """Johanson et al. 2012, Figure 3, in kind."""
    found = blueprint_convergence.run(False, 0)
    assert found.fine
    shares = [
        found.row(f"20 cards, percentile {parts}: exploitability of PCS at the end, shares of CS").ours
        for parts in (5, 12)
    ]
    assert shares[1] < 1.0
    assert shares[1] < shares[0]  # as in the paper: PCS overtakes as buckets grow
