"""Games of more than two players: gains of each player, resumed runs, and team-maxmin."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import riverboat as rb
from random_games import random_history_game
from riverboat.core.errors import InputError, ZeroSumError
from riverboat.games.base import TERMINAL
from riverboat.games.small.normal_form import NormalForm
from riverboat.solvers.exact.team_maxmin import team_maxmin
from riverboat.solvers.result import NO_GUARANTEE
from riverboat.trees.history import HistoryTree

KUHN = "kuhn:players=3"


@pytest.mark.parametrize("schedule", ["dcfr", "cfr+", "linear", "pcfr+"])
def test_kuhn_to_a_thousandth(schedule: str) -> None:
    """Small ε on every schedule; player 1 loses 1/48 in the known family (Szafron, Gibson & Sturtevant 2013)."""
    result = rb.solve(KUHN, schedule=schedule, until=1e-4)
    assert result.reached
    assert max(result.gains) == result.exploitability <= 1e-4
    assert result.nash_conv == pytest.approx(sum(result.gains), abs=1e-15)
    assert sum(result.values) == pytest.approx(0.0, abs=1e-12)
    assert result.values[1] == pytest.approx(-1 / 48, abs=5e-4)
    assert not result.certified
    assert result.to_dict()["guarantee"] == NO_GUARANTEE


@pytest.mark.parametrize("spec", [KUHN, "kuhn:players=4", "open_spiel:kuhn_poker(players=4)"])
def test_gains_equal_open_spiel(spec: str) -> None:
    """The same strategy has the same values and NashConv there."""
    pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import expected_game_score, exploitability

    from riverboat.strategies.open_spiel import to_open_spiel

    tree = rb.compile_game(rb.game(spec))
    strategy = rb.Strategy.from_sums(tree, np.random.default_rng(7).random(tree.table_size))
    policy, result = to_open_spiel(strategy), rb.quality(strategy)
    state = policy.game.new_initial_state()
    assert min(result.gains) > 0.1
    assert exploitability.nash_conv(policy.game, policy) == pytest.approx(result.nash_conv, abs=1e-12)
    assert expected_game_score.policy_value(state, [policy] * len(result.values)) == pytest.approx(
        result.values, abs=1e-12
    )


def test_run_resumes(tmp_path: Path) -> None:
    rb.solve(KUHN, schedule="vanilla", iterations=40, out=tmp_path / "run", check_every=10)
    again = rb.solve(KUHN, schedule="vanilla", iterations=80, out=tmp_path / "run", check_every=10, resume=True)
    full = rb.solve(KUHN, schedule="vanilla", iterations=80, check_every=10)
    assert np.array_equal(again.strategy.probabilities, full.strategy.probabilities)
    assert again.gains == full.gains
    read = rb.quality(rb.load(tmp_path / "run"))
    assert read.gains == pytest.approx(full.gains, abs=1e-12)
    assert read.bracket == (read.values[0], read.values[0])  # no value is certified


def test_three_player_general_sum() -> None:
    three = NormalForm(np.random.default_rng(1).normal(size=(2, 2, 2, 3)), (("a", "b"),) * 3, "three")
    assert len(rb.solve(three, iterations=50).gains) == 3
    with pytest.raises(ZeroSumError, match="3 players"):
        rb.solve(three, method="lp")


# --- teams --------------------------------------------------------------------------------------


def by_brute_force(tree: HistoryTree, adversary: int) -> float:
    """With correlation: the matrix game of all joint pure plans against all pure plans of the adversary."""
    sets = [[i for i in tree.infosets() if i.player == p] for p in range(tree.players)]
    pure = [list(product(*(range(len(i.actions)) for i in own))) for own in sets]
    ends = np.flatnonzero(tree.nodes.actor == TERMINAL)
    pay = tree.chance_reach[ends] * tree.payoffs[tree.nodes.data[ends], adversary]
    plays: list[list[Any]] = []
    for p in range(tree.players):
        plex = tree.treeplex(p)
        rows = []
        for choice in pure[p]:
            plan = np.ones(plex.sequences)
            for i in range(len(plex.infosets)):
                moves = np.arange(plex.width[i]) == choice[i]
                plan[plex.first[i] : plex.first[i] + plex.width[i]] = plan[plex.parent[i]] * moves
            rows.append(plan[tree.last_sequence[ends, p]])
        plays.append(rows)
    team = [p for p in range(tree.players) if p != adversary]
    joint = [np.prod(plans, axis=0) for plans in product(*(plays[p] for p in team))]
    table = np.array([[float((a * b) @ pay) for b in joint] for a in plays[adversary]])
    rows, columns = table.shape
    result = linprog(
        [*np.zeros(columns), 1.0], A_ub=np.column_stack([table, -np.ones(rows)]), b_ub=np.zeros(rows),
        A_eq=[[*np.ones(columns), 0.0]], b_eq=[1.0], bounds=[(0, None)] * columns + [(None, None)],
    )  # fmt: skip
    return float(result.fun)


@pytest.mark.parametrize("seed", range(8))
def test_team_maxmin_equals_brute_force(seed: int) -> None:
    tree = HistoryTree.from_game(random_history_game(seed, depth=4, width=2, players=3))
    for adversary in range(3):
        result = team_maxmin(tree, adversary, seconds=2.0)
        exact = by_brute_force(tree, adversary)
        assert result.correlated == pytest.approx((exact, exact), abs=1e-6)
        low, high = result.uncorrelated
        assert exact - 1e-6 <= low <= high + 1e-6
        assert rb.quality(result.strategy).best[adversary] == high


def test_team_without_correlation_loses() -> None:
    """Both members must name the adversary's side: half the time with a common coin, a quarter without (by hand)."""
    pay = np.zeros((2, 2, 2, 3))
    for side in (0, 1):
        pay[side, side, side] = (0.5, 0.5, -1.0)
    tree = HistoryTree.from_game(NormalForm(pay, (("l", "r"),) * 3, "agree"))
    result = team_maxmin(tree, 2, gap=0.01)
    assert result.correlated == pytest.approx((-0.5, -0.5), abs=1e-7)
    assert result.plans == 2
    assert result.uncorrelated[0] == pytest.approx(-0.25, abs=0.01)
    assert result.uncorrelated[1] == pytest.approx(-0.25, abs=1e-9)


@pytest.mark.slow
def test_team_against_kuhns_last_player() -> None:
    """1/24 with and without correlation: a published computation of three-player Kuhn has 0.0417."""
    result = team_maxmin(HistoryTree.from_game(rb.game(KUHN)), 2, seconds=1.0)  # type: ignore[arg-type]
    assert result.correlated == pytest.approx((1 / 24, 1 / 24), abs=1e-6)
    assert result.uncorrelated == pytest.approx((1 / 24, 1 / 24), abs=1e-6)


def test_invalid_teams() -> None:
    with pytest.raises(InputError, match="2 players"):
        team_maxmin(HistoryTree.from_game(rb.game("rps")), 0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no player 3"):
        team_maxmin(HistoryTree.from_game(rb.game(KUHN)), 3)  # type: ignore[arg-type]


def test_seltens_horse() -> None:
    """Selten 1975: the perfect equilibria pay 1 to each player; the file is Gambit's."""
    result = rb.solve(str(Path(__file__).parents[1] / "games" / "data" / "horse.efg"), until=1e-5)
    assert result.reached
    assert result.values == pytest.approx((1.0, 1.0, 1.0), abs=1e-3)
