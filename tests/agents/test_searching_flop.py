"""Search on the flop: a street that is solved alone, with values where it ends."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agents.test_searching import BOARD, base, places

from riverboat.agents.searching import SearchingAgent
from riverboat.endgame.leaf_rollouts import CONTINUATIONS, Rollouts, groups_of
from riverboat.endgame.street_game import goes_on
from riverboat.endgame.table_midgame import Midgame, MidPosition
from riverboat.endgame.table_search import SearchSettings
from riverboat.strategy.blueprint_values import blueprint_values
from riverboat.testing.agents import check_agent


def agent(method: str = "unsafe", **more) -> SearchingAgent:
    return SearchingAgent(base(), SearchSettings("flop", method, **({"iterations": 20} | more)))


def midgame(seat: int = 0, line: str = "cc/") -> Midgame:
    position = agent(iterations=1).search.positions(places(line), [seat])[0]
    assert isinstance(position, MidPosition)
    return position.subgame


@pytest.mark.slow
@pytest.mark.parametrize("method", ["unsafe", pytest.param("resolve", marks=pytest.mark.slow)])
def test_it_keeps_the_contract(method: str) -> None:
    check_agent(agent(method, iterations=5), tables=12)


def all_out(here: Midgame, ways: tuple[str, ...] = tuple(CONTINUATIONS)) -> Rollouts:
    """Nothing lost: each hand a group, all runouts."""
    return Rollouts.draw(
        here.around.base, here.exits(), here.entry.board, here.hands, here.seat,
        groups=groups_of(here.around.base, here.entry.board, here.hands, 1), runouts=None, ways=ways,
    )  # fmt: skip


@pytest.mark.parametrize("seat", [0, 1])
def test_rollouts_of_everything_are_the_blueprints_values(seat: int) -> None:
    """Behind every exit, for ranges of any kind: what `blueprint_values` has by walking all boards."""
    here, rng = midgame(seat), np.random.default_rng(5)
    leaves, exits = all_out(here, ("blueprint",)), here.exits()
    reach = rng.random((2, len(exits), len(here.hands)))
    tree = here.around.base.tree
    checked = 0
    for e, state in enumerate(here.tree.states[node] for node in here.tree.exits):
        if not goes_on(state):
            continue
        total, times = np.zeros((2, len(here.hands))), 0
        for card in np.setdiff1d(state.rules.deck.cards, here.entry.board).tolist():
            ranges = np.zeros((2, 1326))
            ranges[seat, here.hands], ranges[1 - seat, here.hands] = reach[0, e], reach[1, e]
            values = blueprint_values(here.around.base, tree.line(exits[e].node), (*here.entry.board, card), [*ranges])
            worth = np.where(values.met > 0, np.nan_to_num(values.self_play) * values.met, 0.0)
            total += worth[:, here.hands]
            times += 1
        left = times - 4  # cards that leave a pair of hands
        picked = reach[1][:, None]
        np.testing.assert_allclose(leaves.chooser(reach)[e, 0], total[1 - seat] / left, rtol=2e-4, atol=0.05)
        np.testing.assert_allclose(leaves.searcher(reach, picked)[e], total[seat] / left, rtol=2e-4, atol=0.05)
        checked += 1
    assert checked > 1


def test_the_opponent_gains_by_having_more_ways_to_go_on() -> None:
    here = midgame()
    few, many = all_out(here, ("blueprint",)), all_out(here)
    reach = np.random.default_rng(1).random((2, len(here.exits()), len(here.hands)))
    one, four = few.chooser(reach)[:, 0], many.chooser(reach)
    np.testing.assert_allclose(four[:, 0], one, rtol=1e-5, atol=1e-3)
    assert (four.max(axis=1) > one + 1).any()
    assert set(many.even.tolist()) == {True, False}  # all-in, and not


def test_exits_have_the_real_pot() -> None:
    here = midgame(1, "cc/r237")
    assert {exit.pot for exit in here.exits()} == {200.0, 600.0, 474.0, 3000.0}  # the tree begins before the bet of 137


def test_a_solution_leaves_little_to_gain() -> None:
    solved = midgame().solve(200, until=0.2, seconds=None)
    assert solved.solution.exploitability <= 0.2


def test_ranges_of_the_turn_are_what_the_flop_played() -> None:
    found = agent("unsafe", floor=0.0)
    flop = found.search.positions(places("cc/"), [0])[0]
    turn = found.search.positions(places("cc/cc/"), [0])[0]
    assert isinstance(flop, MidPosition)
    check = flop.moves.index(0)
    own = turn.subgame.entry.ranges[0]
    live = own > 0
    before = np.zeros(1326)
    before[flop.subgame.hands] = flop.subgame.ranges[0]
    np.testing.assert_allclose(own[live], (before * flop.strategy[:, check])[live], rtol=1e-9)
    assert BOARD[:6] == "AsKhQh"
