"""Experiments with continuous games, at a small size."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.registry import make_agent
from riverboat.continuous.holdem import RankDistribution, RiverBetting, hand_solution, rank_solution
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import read_game
from riverboat.papers import reached_rivers
from riverboat.papers.continuous import holdem_rivers
from riverboat.papers.continuous import rivers as limit_river
from riverboat.papers.continuous import rivers as three_players
from riverboat.papers.continuous import rivers as von_neumann
from riverboat.strategies.public_strategy import ranges
from riverboat.trees.boards import BoardTree


def test_von_neumann(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(von_neumann, "STEPS", (7, 13))
    report = von_neumann.run_von_neumann(False, 0)
    assert report.passes
    assert [report.row(name).ours for name in ("a: bets below", "b: bets above", "c: calls above")] == pytest.approx(
        [0.1, 0.7, 0.4], abs=1e-9
    )


@pytest.mark.slow
def test_limit_river(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit_river, "POTS", (1.0, 2.0))
    report = limit_river.run_limit_river(False, 0)
    assert report.passes
    assert report.row("pot 2: models").ours == 128
    assert report.row("pot 2: models that are equilibria").ours >= 4


def test_three_players(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(three_players, "THREE_WAY_POTS", (1.0, 3.0))
    rows, notes = three_players.three_way_river_rows()
    assert all(row.passes for row in rows)
    assert "b x b x b" in notes[1]  # at a pot of 3 there is a thin value bet in the middle


@pytest.mark.slow
def test_holdem_rivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rivers of one solved turn: losses are positive and small, and coverages are right."""
    monkeypatch.setattr(holdem_rivers, "MODELS", dict(list(holdem_rivers.MODELS.items())[:2]))
    rivers = list(reached_rivers.rivers_from_solved_turns(2, 0))
    player = holdem_rivers.make_river_player(RiverBetting.from_spot(rivers[0].spot()))
    measured = [holdem_rivers.measure_river(river, player) for river in rivers]
    for measurement in measured:
        assert 0 < measurement.percent["loss of ranks without card removal, % of pot"] < 2
        assert 0 < measurement.percent["loss of the threshold player, % of pot"] < 5
        assert (
            measurement.percent["against the exact solution, % of pot a hand"] < 0.06
        )  # the exact solution may lose up to its exploitability
    epsilon = np.array([[0.001, 0.1], [0.1, 0.001], [0.1, 0.1]])
    assert holdem_rivers.best_coverage(epsilon, 1)[0] == pytest.approx(1 / 3)
    assert holdem_rivers.best_coverage(epsilon, 2)[0] == pytest.approx(2 / 3)


def test_rivers_from_self_play() -> None:
    """Ranges are those of the line, and the base strategy is the agent's, bets of all sizes together."""
    rules, agent = read_game("nolimit-200bb"), make_agent("rule-based")
    rivers, _ = reached_rivers.rivers_from_self_play(agent, rules, 4, 0)  # type: ignore[arg-type]
    assert len(rivers) == 4
    for river in rivers:
        assert river.line.count("/") == 3
        assert "r" in river.line
        assert river.base is not None
        state = PublicStates.from_lines(rules, [river.line], [river.board])
        strategies = agent.strategies(state)  # type: ignore[attr-defined]
        assert np.array_equal(np.array(river.ranges), ranges(state, agent)[0])  # type: ignore[arg-type]
        live = state.live_hands[0]
        for rows in river.base.values():
            assert rows.sum(axis=0)[live] == pytest.approx(1.0)
        bets = sum(
            strategies.probabilities[0, :, k] for k, move in enumerate(strategies.labels(0)) if move.startswith("r")
        )
        assert river.base["root"][1] == pytest.approx(bets)


def test_win_rates_are_antisymmetric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_rivers, "MODELS", dict(list(holdem_rivers.MODELS.items())[:1]))
    agent = make_agent("rule-based")
    (river,), _ = reached_rivers.rivers_from_self_play(agent, read_game("nolimit-200bb"), 1, 3)  # type: ignore[arg-type]
    spot = river.spot()
    player = holdem_rivers.make_river_player(RiverBetting.from_spot(spot))
    measurement = holdem_rivers.measure_river(river, player)
    assert set(measurement.percent) == set(holdem_rivers.PERCENT_NOTES)
    won_from_base = measurement.percent["against the base agent, % of pot a hand"]
    lost, exact_loss, base_loss = (
        measurement.percent[f"loss of {name}, % of pot"]
        for name in ("the threshold player", "the exact solution", "the base agent")
    )
    assert exact_loss < 0.06 < base_loss
    assert -lost <= won_from_base <= base_loss  # nobody loses more than its exploitability
    tree = BoardTree(spot)
    ranks = RankDistribution.from_ranges(spot.board, spot.weights)
    ours = rank_solution(tree, ranks, player.betting, player.best_thresholds(ranks).frequencies)
    assert river.base is not None
    theirs = hand_solution(tree, player.betting, river.base)
    assert holdem_rivers.win_rate_percent(tree, ours, ours) == pytest.approx(0.0, abs=1e-9)
    won = holdem_rivers.win_rate_percent(tree, ours, theirs)
    assert won == pytest.approx(-holdem_rivers.win_rate_percent(tree, theirs, ours), abs=1e-9)
    assert won == pytest.approx(won_from_base, abs=1e-9)
