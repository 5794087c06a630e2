"""Search on the flop: a depth-limited subgame of one street with leaf values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.agents.test_search import BOARD, base, places

from riverboat.agents.search import SearchAgent
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.holdem.public_states import PublicStates
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.subgames.depth_limited.leaf_values import LEAF_METHODS
from riverboat.subgames.depth_limited.quality import StreetEvaluation
from riverboat.subgames.depth_limited.rollouts import CONTINUATIONS, RolloutLeafValues, group_hands
from riverboat.subgames.depth_limited.solver import (
    SHOWDOWN_NODE,
    BlueprintLeaf,
    CompatibleWeights,
    has_later_betting,
)
from riverboat.subgames.search.depth_limited import DepthLimitedPosition, DepthLimitedSubgame
from riverboat.subgames.search.report import SubgameReport
from riverboat.subgames.search.search import SearchSettings
from riverboat.testing.agents import check_agent


def agent(method: str = "unsafe", **more) -> SearchAgent:
    return SearchAgent(base(), SearchSettings("flop", method, **({"iterations": 20} | more)))


def midgame(seat: int = 0, line: str = "cc/", **more) -> DepthLimitedSubgame:
    position = agent(**({"iterations": 1} | more)).search.positions(places(line), [seat])[0]
    assert isinstance(position, DepthLimitedPosition)
    return position.subgame


@pytest.mark.slow
@pytest.mark.parametrize("method", ["unsafe", pytest.param("resolve", marks=pytest.mark.slow)])
def test_contract(method: str) -> None:
    check_agent(agent(method, iterations=5), tables=12)


def all_out(here: DepthLimitedSubgame, continuations: tuple[str, ...] = tuple(CONTINUATIONS)) -> RolloutLeafValues:
    """Return exact leaf values: each hand is a group, and all runouts are used."""
    return RolloutLeafValues.sample(
        here.context.base, here.leaf_nodes(), here.root.board, here.hands, here.seat,
        groups=group_hands(here.context.base, here.root.board, here.hands, 1), runouts=None, continuations=continuations,
    )  # fmt: skip


@pytest.mark.parametrize("seat", [0, 1])
def test_full_rollouts_agree_with_blueprint_values(seat: int) -> None:
    """At every leaf and for arbitrary ranges the values agree with `blueprint_values` over all boards."""
    here, rng = midgame(seat), np.random.default_rng(5)
    leaves, exits = all_out(here, ("blueprint",)), here.leaf_nodes()
    reach = rng.random((2, len(exits), len(here.hands)))
    tree = here.context.base.tree
    checked = 0
    for e, state in enumerate(here.tree.states[node] for node in here.tree.leaves):
        if not has_later_betting(state):
            continue
        total, times = np.zeros((2, len(here.hands))), 0
        for card in np.setdiff1d(state.rules.deck.cards, here.root.board).tolist():
            ranges = np.zeros((2, 1326))
            ranges[seat, here.hands], ranges[1 - seat, here.hands] = reach[0, e], reach[1, e]
            values = blueprint_values(here.context.base, tree.line(exits[e].node), (*here.root.board, card), [*ranges])
            worth = np.where(values.opponent_weight > 0, np.nan_to_num(values.self_play) * values.opponent_weight, 0.0)
            total += worth[:, here.hands]
            times += 1
        left = times - 4  # cards that block neither hand of a pair
        picked = reach[1][:, None]
        np.testing.assert_allclose(leaves.opponent_values(reach)[e, 0], total[1 - seat] / left, rtol=2e-4, atol=0.05)
        np.testing.assert_allclose(leaves.searcher_values(reach, picked)[e], total[seat] / left, rtol=2e-4, atol=0.05)
        checked += 1
    assert checked > 1


def test_group_values_are_means_of_hands() -> None:
    """Board cards block more hands of some groups than of others: boards must be weighted by the unblocked hands."""
    here = midgame()
    groups = np.arange(len(here.hands)) // 6  # neighbours share cards
    board, shown = here.root.board, [BlueprintLeaf(SHOWDOWN_NODE, 1.0)]

    def drawn(groups: np.ndarray, runouts: int | None) -> np.ndarray:
        return RolloutLeafValues.sample(
            here.context.base, shown, board, here.hands, 0, groups=groups, runouts=runouts, continuations=("blueprint",)
        ).values[0, 0]

    exact = drawn(np.arange(len(here.hands)), None)
    apart = CompatibleWeights(here.hands).compatible
    total, pairs = np.zeros((6, 6)), np.zeros((6, 6))
    np.add.at(total, (groups[:, None], groups[None, :]), exact * apart)
    np.add.at(pairs, (groups[:, None], groups[None, :]), apart)
    met = pairs > 12  # groups with few pairs have few samples
    np.testing.assert_allclose(drawn(groups, 6_000)[met], total[met] / pairs[met], atol=0.035)


def test_opponent_gains_with_more_continuations() -> None:
    here = midgame()
    few, many = all_out(here, ("blueprint",)), all_out(here)
    reach = np.random.default_rng(1).random((2, len(here.leaf_nodes()), len(here.hands)))
    one, four = few.opponent_values(reach)[:, 0], many.opponent_values(reach)
    np.testing.assert_allclose(four[:, 0], one, rtol=1e-5, atol=1e-3)
    assert (four.max(axis=1) > one + 1).any()
    assert set(many.is_continuation_free.tolist()) == {True, False}  # all-in, and not


def test_leaves_have_the_real_pot() -> None:
    here = midgame(1, "cc/r237")
    assert {exit.pot for exit in here.leaf_nodes()} == {
        200.0,
        600.0,
        474.0,
        3000.0,
    }  # the tree begins before the bet of 137


def test_exploitability_of_a_solution() -> None:
    solved = midgame().solve(200, until=0.2, seconds=None)
    assert solved.solution.exploitability <= 0.2


def test_ranges_of_the_turn_follow_the_flop_strategy() -> None:
    found = agent("unsafe", floor=0.0)
    flop = found.search.positions(places("cc/"), [0])[0]
    turn = found.search.positions(places("cc/cc/"), [0])[0]
    assert isinstance(flop, DepthLimitedPosition)
    check = flop.moves.index(0)
    own = turn.subgame.root.ranges[0]
    live = own > 0
    before = np.zeros(1326)
    before[flop.subgame.hands] = flop.subgame.ranges[0]
    np.testing.assert_allclose(own[live], (before * flop.strategy[:, check])[live], rtol=1e-9)
    assert BOARD[:6] == "AsKhQh"


# --- Gadgets, other leaf values, and search before the flop ---


def test_blueprint_strategy_of_a_street() -> None:
    """The strategy queried for all hands equals the table that the traversal fills."""
    here = midgame()
    by_table = StreetEvaluation.from_blueprint(base().strategy, "cc/", parse_cards(BOARD[:6])).blueprint_strategy()
    for node, play in here.blueprint_strategy().items():
        np.testing.assert_allclose(play, by_table[node], atol=1e-6)


@pytest.mark.parametrize("method", ["resolve", "maxmargin"])
@pytest.mark.parametrize("seat", [0, 1])
def test_gadgets_keep_the_margins(method: str, seat: int) -> None:
    here = midgame(seat, method=method)
    pot = here.root.state.pot
    solved = here.solve(300, until=0.02, seconds=None)
    margins = solved.solution.margins
    assert margins is not None
    known = margins[~np.isnan(margins)]
    assert known.min() > -0.02 * pot
    assert known.max() > 0.02 * pot  # some hands lose
    assert SubgameReport(solved).summary()["margins"]["least"] == known.min()
    if method == "maxmargin":  # maximizes the smallest margin
        other = midgame(seat, method="resolve").solve(300, until=0.02, seconds=None).solution.margins
        assert known.min() > np.nanmin(other) - 0.005 * pot


@pytest.mark.slow
@pytest.mark.parametrize("leaves", LEAF_METHODS)
def test_leaf_methods(leaves: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # learned values are cached there
    solved = midgame(leaves=leaves).solve(100, until=0.5, seconds=None)
    assert solved.solution.exploitability <= 0.5
    assert SubgameReport(solved).summary()["values"] == LEAF_METHODS[leaves]


def test_leaves_need_search_on_the_flop() -> None:
    with pytest.raises(InputError, match=r"leaves=table.*search=flop"):
        SearchSettings("turn", leaves="table")


@pytest.mark.slow
def test_leaf_values_before_the_flop(tmp_path, monkeypatch) -> None:
    """Sampled values agree with the blueprint's values over all flops to a few per cent of the pot, for two whole
    ranges.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # values are cached there
    found = SearchAgent(base(), SearchSettings("preflop", iterations=1))
    here = found.search.positions(PublicStates.from_lines(found.rules, [""], [()]), [1])[0].subgame
    assert isinstance(here, DepthLimitedSubgame)
    exits = here.leaf_nodes()
    e = next(k for k, end in enumerate(exits) if end.node >= 0)
    leaves = RolloutLeafValues.sample(
        here.context.base, exits, (), here.hands, 1, runouts=600, continuations=("blueprint",)
    )
    reach = np.random.default_rng(1).random((2, len(exits), len(here.hands)))
    ranges = np.zeros((2, 1326))
    ranges[1, here.hands], ranges[0, here.hands] = reach[0, e], reach[1, e]
    line, won, met = here.context.base.tree.line(exits[e].node), 0.0, 0.0
    for flop in combinations(found.rules.deck.cards.tolist(), 3):
        live = ranges * ~np.isin(HAND_CARDS, flop).any(axis=1)
        values = blueprint_values(here.context.base, line, flop, [*live])
        won += float(np.nansum(live[0] * values.opponent_weight[0] * np.nan_to_num(values.self_play[0])))
        met += float((live[0] * values.opponent_weight[0]).sum())
    by_leaves = float(reach[1, e] @ leaves.opponent_values(reach)[e, 0])
    pairs = float(reach[1, e] @ leaves.compatible_weights(reach[0])[e])
    assert by_leaves / pairs == pytest.approx(won / met, abs=0.03 * exits[e].pot)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["unsafe", "resolve"])
def test_search_before_the_flop(method: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = SearchAgent(base(), SearchSettings("preflop", method, iterations=5, floor=0.0))
    check_agent(found, tables=8)
    flop = found.search.positions(places("cc/"), [0])[0]
    first = found.search.positions(PublicStates.from_lines(found.rules, ["c"], [()]), [0])[0]
    assert isinstance(flop, DepthLimitedPosition)
    assert isinstance(first, DepthLimitedPosition)
    live = flop.subgame.root.ranges[0] > 0
    np.testing.assert_allclose(
        flop.subgame.root.ranges[0][live], first.strategy[:, first.moves.index(0)][live], rtol=1e-9
    )
