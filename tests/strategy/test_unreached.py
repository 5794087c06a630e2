"""Places that a strategy never reaches, and figures that are undefined."""

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
from riverboat.api.seating import agent
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.practice.charts import charts_of, shove_line
from riverboat.strategies.reports import blueprint as report
from riverboat.strategies.reports.node import LEAST_EQUITY, figures, mean_eqr
from riverboat.strategies.reports.public_state import PlaceNode


@cache
def opening() -> report.BlueprintNode:
    """What answers the first raise in hold'em that ends on the flop."""
    return report.at_line(flop_blueprint(), "r300")


@settings(max_examples=25, deadline=None)
@given(absent=st.sets(st.sampled_from([0, 1])), seed=st.integers(0, 9))
def test_what_is_played_is_told_wherever_it_is(absent: set[int], seed: int) -> None:
    """Shares of the actions sum to one, and agree with the grid and with the tables, whoever gets there."""
    rng = np.random.default_rng(seed)
    here = opening()
    reach = rng.random(here.reach.shape)
    reach[sorted(absent)] = 0
    node: PlaceNode = replace(here, reach=reach)
    assert node.absent == tuple(sorted(absent))
    assert bool(node.absent) == (node.chance == 0)
    assert bool(node.absent) == ("never" in report.headline(node))
    shares = node.frequencies
    assert sum(shares.values()) == pytest.approx(1)
    told = list(report.actions(node))
    assert sum(row["combos"] for row in told) == pytest.approx(node.reach[node.seat].sum())
    grid = report.grid(node)
    assert grid is not None
    for name, share in shares.items():
        assert grid.share(name) == pytest.approx(share)
    rows = list(report.table(node, "classes"))
    assert len(rows) == 169
    for row in rows:
        assert sum(row[name] for name in shares) == pytest.approx(1)
    if node.seat in absent and 1 - node.seat in absent:  # every hand alike
        assert list(shares.values()) == pytest.approx(node.played.mean(axis=0).tolist())


def test_charts_have_the_answer_to_a_shove() -> None:
    book = charts_of("default")
    assert book.shove == "r20000"
    chart = book["r20000"]
    assert (chart.who, chart.reached) == ("oop", 0.0)
    assert sum(chart.grid.share(name) for name in chart.moves) == pytest.approx(1)
    cells = dict(zip(chart.to_dict()["cells"], chart.to_dict()["strategy"]["c"], strict=True))
    assert cells["AA"] > 0.99
    assert cells["72o"] < 0.01
    for each in book.charts:
        assert sum(each.grid.share(name) for name in each.moves) == pytest.approx(1)


@pytest.mark.parametrize("stacks", [(20_000, 20_000), (2_150, 900), (900, 2_150), (150, 150), (101, 101)])
def test_a_shove_is_the_last_raise(stacks: tuple[int, int]) -> None:
    rules = Rules(blinds=(100, 50), stacks=stacks, board=(0, 3))
    line = shove_line(rules)
    assert line is not None
    assert settled(Betting.from_line(rules, line + "c")).actor == TERMINAL  # nobody has a decision behind a call
    assert shove_line(read_game("leduc")) is None


def test_a_blueprint_without_shoves_answers_one_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as the nearest bet that it knows."""
    from riverboat.agents.blueprint import BlueprintAgent

    player: Any = BlueprintAgent(flop_blueprint(), "no shoves")
    book = charts_of(player)
    assert all(chart.line != book.shove for chart in book.charts[:-1])
    chart = book[str(book.shove)]
    assert sum(chart.grid.share(name) for name in chart.moves) == pytest.approx(1)
    assert agent("default").name == "default"


# --- equity realisation ---------------------------------------------------------------------------------


def test_without_equity_there_is_none_to_realise() -> None:
    """A straight flush on the board's side: hands that cannot win have EV 0, and no EQR."""
    spot = rb.Spot.make(board="AsKsQsJs2d", pot=100, stack=100, oop="Ts9h,33", ip="44,55", bets="50%")
    node = rb.solve(spot, iterations=50).strategy[""]
    mine = figures(node, 1)
    dead = mine.here & (mine.equity < LEAST_EQUITY)
    held = mine.here & (mine.equity >= LEAST_EQUITY)
    assert np.isnan(mine.eqr[dead]).all()
    assert np.isfinite(mine.eqr[held]).all()
    assert held.any()


@pytest.mark.parametrize(("ev", "equity"), [(0.0, 0.0), (1e-12, 1e-14), (0.004, 4e-5), (float("nan"), float("nan"))])
def test_means_without_equity(ev: float, equity: float) -> None:
    assert mean_eqr(ev, equity, 100.0) is None


def test_means_with_equity() -> None:
    assert mean_eqr(20.0, 0.4, 100.0) == pytest.approx(0.5)
