"""Convergence of sampling schemes, and a run against its own snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import read_game
from riverboat.papers import sampling
from riverboat.papers.sampling import GAMES, SAMPLER_NAMES, compare_snapshots, measure_convergence
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.mccfr.training import Training


@pytest.mark.parametrize("traversal", SAMPLER_NAMES)
def test_leduc_with_merged_ranks(traversal: str) -> None:
    visits = 2e7  # instead of seconds: the speed of the machine must not matter
    first, *_, last = measure_convergence(
        GAMES["Leduc, JQ.K"](), traversal, 0.3, 0, 4, lambda solver: solver.updates / visits
    )
    assert first.seconds < last.seconds
    assert first.infosets_visited < last.infosets_visited
    assert last.abstract_exploitability < first.abstract_exploitability
    assert (
        last.abstract_exploitability < 60 < last.real_exploitability
    )  # thousandths of an ante: only abstract exploitability converges to zero


def test_run_against_its_snapshots(tmp_path: Path) -> None:
    rules = read_game("leduc")
    solver = BlueprintTrainer(compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck), seed=1)
    out = tmp_path / "run"
    run = Training(solver, out, None, {}, check_seconds=0.0, measure=lambda now, before: {})
    run.start_or_resume(resume=False)
    run.run(iterations=100_000)
    found = compare_snapshots(out, hands=20_000)
    assert len(found.rows) == len(list((out / "snapshots").iterdir())) >= 3
    (curve,) = found.curves
    assert list(curve.x) == sorted(curve.x)
    low, high = found.rows[-1].low, found.rows[-1].high
    assert low is not None
    assert high is not None
    assert low <= 0 <= high  # the last snapshot is the final strategy
    with pytest.raises(InputError, match=tmp_path.name):
        compare_snapshots(tmp_path)


@pytest.mark.slow
def test_pcs_gains_with_more_buckets() -> None:
    """Johanson et al. 2012, Figure 3."""
    found = sampling.run_convergence(False, 0)
    assert found.passes
    shares = [
        found.row(f"20 cards, percentile {parts}: exploitability of PCS at the end, shares of CS").ours
        for parts in (5, 12)
    ]
    assert shares[1] < 1.0
    assert shares[1] < shares[0]  # as in the paper: PCS overtakes CS as buckets grow
