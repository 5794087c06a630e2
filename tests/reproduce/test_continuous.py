"""The experiments with continuous games, at a small size."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.registry import make_agent
from riverboat.continuous.holdem import Betting, Ranks, hands_solution, solution
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import read_game
from riverboat.papers import reached_rivers
from riverboat.papers.continuous import holdem_rivers, limit_river, three_players, von_neumann
from riverboat.strategies.public_strategy import ranges
from riverboat.trees.boards import BoardTree


def test_von_neumann(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(von_neumann, "STEPS", (7, 13))
    report = von_neumann.run(False, 0)
    assert report.fine
    assert [report.row(name).ours for name in ("a: bets below", "b: bets above", "c: calls above")] == pytest.approx(
        [0.1, 0.7, 0.4], abs=1e-9
    )


@pytest.mark.slow
def test_limit_river(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit_river, "POTS", (1.0, 2.0))
    report = limit_river.run(False, 0)
    assert report.fine
    assert report.row("pot 2: models").ours == 128
    assert report.row("pot 2: models that are equilibria").ours >= 4


def test_three_players(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(three_players, "POTS", (1.0, 3.0))
    rows, notes = three_players.rivers()
    assert all(row.fine for row in rows)
    assert "b x b x b" in notes[1]  # at a pot of 3 there is a thin bet in the middle


@pytest.mark.slow
def test_holdem_rivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rivers of one solved turn: shares add up, and losses are above zero and small."""
    monkeypatch.setattr(holdem_rivers, "MODELS", dict(list(holdem_rivers.MODELS.items())[:2]))
    rivers = list(reached_rivers.by_turns(2, 0))
    us = holdem_rivers.player(Betting.of(rivers[0].spot()))
    found = [holdem_rivers.measure(river, us) for river in rivers]
    for figures in found:
        assert 0 < figures.floor < 2
        assert 0 < figures.loss < 5
        assert figures.to_exact < 0.06  # the exact one may still lose what it is exploitable for
    epsilon = np.array([[0.001, 0.1], [0.1, 0.001], [0.1, 0.1]])
    assert holdem_rivers.cover(epsilon, 1)[0] == pytest.approx(1 / 3)
    assert holdem_rivers.cover(epsilon, 2)[0] == pytest.approx(2 / 3)


def test_rivers_that_an_agent_reaches() -> None:
    """Ranges are those of the line, and what it plays on with is what it answers there, bets of all sizes together."""
    rules, agent = read_game("nolimit-200bb"), make_agent("rule-based")
    rivers, _ = reached_rivers.by_play(agent, rules, 4, 0)  # type: ignore[arg-type]
    assert len(rivers) == 4
    for river in rivers:
        assert river.line.count("/") == 3
        assert "r" in river.line
        assert river.base is not None
        here = Places.from_lines(rules, [river.line], [river.board])
        found = agent.strategies(here)  # type: ignore[attr-defined]
        assert np.array_equal(np.array(river.ranges), ranges(here, agent)[0])  # type: ignore[arg-type]
        live = here.live[0]
        for rows in river.base.values():
            assert rows.sum(axis=0)[live] == pytest.approx(1.0)
        bets = sum(found.probabilities[0, :, k] for k, move in enumerate(found.labels(0)) if move.startswith("r"))
        assert river.base["root"][1] == pytest.approx(bets)


def test_a_duel_is_what_two_strategies_win_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_rivers, "MODELS", dict(list(holdem_rivers.MODELS.items())[:1]))
    agent = make_agent("rule-based")
    (river,), _ = reached_rivers.by_play(agent, read_game("nolimit-200bb"), 1, 3)  # type: ignore[arg-type]
    spot = river.spot()
    us = holdem_rivers.player(Betting.of(spot))
    figures = holdem_rivers.measure(river, us)
    assert figures.base is not None
    assert figures.to_base is not None
    assert figures.exact < 0.06 < figures.base
    assert -figures.loss <= figures.to_base <= figures.base  # nobody loses more than it is exploitable for
    tree = BoardTree(spot)
    ranks = Ranks.make(spot.board, spot.weights)
    ours = solution(tree, ranks, us.betting, us.play(ranks).frequencies)
    assert river.base is not None
    theirs = hands_solution(tree, us.betting, river.base)
    assert holdem_rivers.duel(tree, ours, ours) == pytest.approx(0.0, abs=1e-9)
    won = holdem_rivers.duel(tree, ours, theirs)
    assert won == pytest.approx(-holdem_rivers.duel(tree, theirs, ours), abs=1e-9)
    assert won == pytest.approx(figures.to_base, abs=1e-9)
