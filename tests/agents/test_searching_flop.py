"""Search on the flop: a street that is solved alone, with values where it ends."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.agents.test_searching import BOARD, base, places

from riverboat.agents.search import SearchingAgent
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.holdem.public_state import Places
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.subgames.depth_limited.leaf_methods import LEAVES
from riverboat.subgames.depth_limited.quality import Flop
from riverboat.subgames.depth_limited.rollouts import CONTINUATIONS, SHOWN, Exit, Rollouts, groups_of
from riverboat.subgames.depth_limited.street_game import Beside, goes_on
from riverboat.subgames.search.depth_limited import Midgame, MidPosition
from riverboat.subgames.search.report import Explanation
from riverboat.subgames.search.search import SearchSettings
from riverboat.testing.agents import check_agent


def agent(method: str = "unsafe", **more) -> SearchingAgent:
    return SearchingAgent(base(), SearchSettings("flop", method, **({"iterations": 20} | more)))


def midgame(seat: int = 0, line: str = "cc/", **more) -> Midgame:
    position = agent(**({"iterations": 1} | more)).search.positions(places(line), [seat])[0]
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


def test_a_group_is_worth_the_mean_of_its_hands() -> None:
    """Cards that come leave more hands of some groups than of others: boards must count by what they leave."""
    here = midgame()
    groups = np.arange(len(here.hands)) // 6  # neighbours share cards
    board, shown = here.entry.board, [Exit(SHOWN, 1.0)]

    def drawn(groups: np.ndarray, runouts: int | None) -> np.ndarray:
        return Rollouts.draw(
            here.around.base, shown, board, here.hands, 0, groups=groups, runouts=runouts, ways=("blueprint",)
        ).values[0, 0]

    exact = drawn(np.arange(len(here.hands)), None)
    apart = Beside(here.hands).apart
    total, pairs = np.zeros((6, 6)), np.zeros((6, 6))
    np.add.at(total, (groups[:, None], groups[None, :]), exact * apart)
    np.add.at(pairs, (groups[:, None], groups[None, :]), apart)
    met = pairs > 12  # of few pairs a sample is small
    np.testing.assert_allclose(drawn(groups, 6_000)[met], total[met] / pairs[met], atol=0.035)


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


# --- gadgets, other values, and the street before the flop --------------------------------------


def test_what_the_blueprint_plays_on_a_street_is_what_stands_in_its_table() -> None:
    """Asked for all hands as at a table, against the table that walks fill."""
    here = midgame()
    by_table = Flop.of(base().strategy, "cc/", parse_cards(BOARD[:6])).blueprint_play()
    for node, play in here.blueprint_play().items():
        np.testing.assert_allclose(play, by_table[node], atol=1e-6)


@pytest.mark.parametrize("method", ["resolve", "maxmargin"])
@pytest.mark.parametrize("seat", [0, 1])
def test_no_hand_of_the_opponent_gains_behind_a_gadget(method: str, seat: int) -> None:
    here = midgame(seat, method=method)
    pot = here.entry.state.pot
    solved = here.solve(300, until=0.02, seconds=None)
    margins = solved.solution.margins
    assert margins is not None
    known = margins[~np.isnan(margins)]
    assert known.min() > -0.02 * pot
    assert known.max() > 0.02 * pot  # and some lose
    assert Explanation(solved).facts()["margins"]["least"] == known.min()
    if method == "maxmargin":  # which makes the least of them as large as it can
        other = midgame(seat, method="resolve").solve(300, until=0.02, seconds=None).solution.margins
        assert known.min() > np.nanmin(other) - 0.005 * pot


@pytest.mark.slow
@pytest.mark.parametrize("leaves", LEAVES)
def test_exits_may_be_valued_in_each_way(leaves: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # what is learnt is kept there
    solved = midgame(leaves=leaves).solve(100, until=0.5, seconds=None)
    assert solved.solution.exploitability <= 0.5
    assert Explanation(solved).facts()["values"] == LEAVES[leaves]


def test_other_streets_have_no_exits() -> None:
    with pytest.raises(InputError, match=r"leaves=table.*search=flop"):
        SearchSettings("turn", leaves="table")


@pytest.mark.slow
def test_before_the_flop_exits_are_worth_what_the_blueprint_makes_of_all_flops(tmp_path, monkeypatch) -> None:
    """Sampled, so to a few per cent of the pot for the whole of two ranges."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where they are kept
    found = SearchingAgent(base(), SearchSettings("preflop", iterations=1))
    here = found.search.positions(Places.from_lines(found.rules, [""], [()]), [1])[0].subgame
    assert isinstance(here, Midgame)
    exits = here.exits()
    e = next(k for k, end in enumerate(exits) if end.node >= 0)
    leaves = Rollouts.draw(here.around.base, exits, (), here.hands, 1, runouts=600, ways=("blueprint",))
    reach = np.random.default_rng(1).random((2, len(exits), len(here.hands)))
    ranges = np.zeros((2, 1326))
    ranges[1, here.hands], ranges[0, here.hands] = reach[0, e], reach[1, e]
    line, won, met = here.around.base.tree.line(exits[e].node), 0.0, 0.0
    for flop in combinations(found.rules.deck.cards.tolist(), 3):
        live = ranges * ~np.isin(HAND_CARDS, flop).any(axis=1)
        values = blueprint_values(here.around.base, line, flop, [*live])
        won += float(np.nansum(live[0] * values.met[0] * np.nan_to_num(values.self_play[0])))
        met += float((live[0] * values.met[0]).sum())
    by_leaves = float(reach[1, e] @ leaves.chooser(reach)[e, 0])
    pairs = float(reach[1, e] @ leaves.beside(reach[0])[e])
    assert by_leaves / pairs == pytest.approx(won / met, abs=0.03 * exits[e].pot)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["unsafe", "resolve"])
def test_it_searches_before_the_flop(method: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = SearchingAgent(base(), SearchSettings("preflop", method, iterations=5, floor=0.0))
    check_agent(found, tables=8)
    flop = found.search.positions(places("cc/"), [0])[0]
    first = found.search.positions(Places.from_lines(found.rules, ["c"], [()]), [0])[0]
    assert isinstance(flop, MidPosition)
    assert isinstance(first, MidPosition)
    live = flop.subgame.entry.ranges[0] > 0
    np.testing.assert_allclose(
        flop.subgame.entry.ranges[0][live], first.strategy[:, first.moves.index(0)][live], rtol=1e-9
    )
