"""Public states with reach zero, and undefined values."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riverboat as rb
from random_blueprints import flop_blueprint
from riverboat.api.agent import agent
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.practice.charts import load_charts, shove_line
from riverboat.strategies.reports import blueprint as report
from riverboat.strategies.reports.node import MIN_EQUITY, hand_figures, mean_eqr
from riverboat.strategies.reports.public_state import PublicStateNode


@cache
def opening() -> report.BlueprintNode:
    """The response to the first raise in hold'em that ends on the flop."""
    return report.node_at_line(flop_blueprint(), "r300")


@settings(max_examples=25, deadline=None)
@given(absent=st.sets(st.sampled_from([0, 1])), seed=st.integers(0, 9))
def test_reports_of_unreached_nodes(absent: set[int], seed: int) -> None:
    """Frequencies sum to one and agree with the grid and the tables, even if ranges are empty."""
    rng = np.random.default_rng(seed)
    opening_node = opening()
    reach = rng.random(opening_node.reach.shape)
    reach[sorted(absent)] = 0
    node: PublicStateNode = replace(opening_node, reach=reach)
    assert node.unreachable_seats == tuple(sorted(absent))
    assert bool(node.unreachable_seats) == (node.reach_probability == 0)
    assert bool(node.unreachable_seats) == ("never" in report.headline(node))
    shares = node.frequencies
    assert sum(shares.values()) == pytest.approx(1)
    actions = list(report.actions_table(node))
    assert sum(row["combos"] for row in actions) == pytest.approx(node.reach[node.seat].sum())
    grid = report.strategy_grid(node)
    assert grid is not None
    for name, share in shares.items():
        assert grid.share(name) == pytest.approx(share)
    rows = list(report.hands_table(node, "classes"))
    assert len(rows) == 169
    for row in rows:
        assert sum(row[name] for name in shares) == pytest.approx(1)
    if node.seat in absent and 1 - node.seat in absent:  # all hands have equal weight
        assert list(shares.values()) == pytest.approx(node.action_probabilities.mean(axis=0).tolist())


def test_charts_include_the_response_to_a_shove() -> None:
    charts = load_charts("default")
    assert charts.shove_line == "r20000"
    chart = charts["r20000"]
    assert (chart.position, chart.reached) == ("oop", 0.0)
    assert sum(chart.grid.share(name) for name in chart.moves) == pytest.approx(1)
    cells = dict(zip(chart.to_dict()["cells"], chart.to_dict()["strategy"]["c"], strict=True))
    assert cells["AA"] > 0.99
    assert cells["72o"] < 0.01
    for other in charts.charts:
        assert sum(other.grid.share(name) for name in other.moves) == pytest.approx(1)


@pytest.mark.parametrize("stacks", [(20_000, 20_000), (2_150, 900), (900, 2_150), (150, 150), (101, 101)])
def test_shove_ends_the_betting(stacks: tuple[int, int]) -> None:
    rules = PokerRules(blinds=(100, 50), stacks=stacks, board=(0, 3))
    line = shove_line(rules)
    assert line is not None
    assert BettingState.from_line(rules, line + "c").deal_due_streets().actor == TERMINAL  # no decision after a call
    assert shove_line(read_game("leduc")) is None


def test_response_to_a_shove_off_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shove is translated to the nearest bet of the tree."""
    from riverboat.agents.blueprint import BlueprintAgent

    player: Any = BlueprintAgent(flop_blueprint(), "no shoves")
    charts = load_charts(player)
    assert all(chart.line != charts.shove_line for chart in charts.charts[:-1])
    chart = charts[str(charts.shove_line)]
    assert sum(chart.grid.share(name) for name in chart.moves) == pytest.approx(1)
    assert agent("default").name == "default"


# --- equity realization -------------------------------------------------------------------------


def test_no_eqr_without_equity() -> None:
    """A board where some hands cannot win: they have EV 0, and no EQR."""
    spot = rb.Spot.make(board="AsKsQsJs2d", pot=100, stack=100, oop="Ts9h,33", ip="44,55", bets="50%")
    node = rb.solve(spot, iterations=50).strategy[""]
    figures = hand_figures(node, 1)
    dead = figures.in_range & (figures.equity < MIN_EQUITY)
    alive = figures.in_range & (figures.equity >= MIN_EQUITY)
    assert np.isnan(figures.eqr[dead]).all()
    assert np.isfinite(figures.eqr[alive]).all()
    assert alive.any()


@pytest.mark.parametrize(("ev", "equity"), [(0.0, 0.0), (1e-12, 1e-14), (0.004, 4e-5), (float("nan"), float("nan"))])
def test_means_without_equity(ev: float, equity: float) -> None:
    assert mean_eqr(ev, equity, 100.0) is None


def test_means_with_equity() -> None:
    assert mean_eqr(20.0, 0.4, 100.0) == pytest.approx(0.5)
