"""Baseline agents play as their names say, at tables and with all hands."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from riverboat.agents.baselines import BASELINES, BaselineAgent
from riverboat.cards.equity._kernels import showdown as kernels
from riverboat.cards.features.hand_features import board_hand_strengths, hand_strength_tables
from riverboat.cards.notation import parse_cards
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD, compact_rules_arrays, format_action
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.public_strategy import ranges
from riverboat.testing.agents import check_agent, random_views

NOLIMIT = read_game("nolimit-200bb")
PARTS = ("hand", "seat", "hole", "board", "moves", "length")


@pytest.mark.parametrize("game", ["nolimit-200bb", "limit", "leduc"])
@pytest.mark.parametrize("name", BASELINES)
def test_contract(name: str, game: str) -> None:
    rules = read_game(game)
    if name == "random" and not rules.limit:
        rules = replace(rules, stacks=(900, 900))  # its strategies have a column for each legal raise
    check_agent(BaselineAgent(name, seed=5), rules, tables=60)


@pytest.mark.parametrize("game", ["nolimit-200bb", "limit"])
def test_actions_match_names(game: str) -> None:
    views = random_views(read_game(game), 200, np.random.default_rng(4))
    moves = {name: BaselineAgent(name).act(views).tolist() for name in BASELINES}
    for i in range(len(views)):
        state = views.betting(i)
        span = state.raise_range()
        assert moves["always-fold"][i] == (FOLD if state.to_call else CALL)
        assert moves["always-call"][i] == CALL
        assert moves["always-raise"][i] == (span.least if span else CALL)
    assert {FOLD, CALL} < set(moves["random"])


def test_random_is_uniform_over_fold_call_and_raises() -> None:
    views = Observations.from_match_state("MATCHSTATE:1:30:cr300c/r19996:|9s8h/8c8d5c", NOLIMIT)
    (choice,) = BaselineAgent("random").probabilities(views)
    assert choice == [(FOLD, pytest.approx(1 / 3)), (CALL, pytest.approx(1 / 3)), (20_000, pytest.approx(1 / 3))]
    start = Observations.from_match_state("MATCHSTATE:1:0::|9s8h", NOLIMIT)
    (choice,) = BaselineAgent("random").probabilities(start)
    assert len(choice) == 2 + 20_000 - 199
    many = Observations(
        NOLIMIT,
        np.arange(30_000),
        *(np.repeat(getattr(start, part), 30_000, axis=0) for part in ("seat", "hole", "board", "moves", "length")),
    )
    drawn = BaselineAgent("random", seed=1).act(many)
    raised = drawn[drawn > 0]
    assert (drawn == FOLD).mean() == pytest.approx(1 / 3, abs=0.015)
    assert len(raised) / 30_000 == pytest.approx(1 / 3, abs=0.015)
    assert (raised.min(), raised.max()) == (pytest.approx(200, abs=20), pytest.approx(20_000, abs=20))
    assert raised.mean() == pytest.approx(10_100, abs=300)
    assert (drawn != BaselineAgent("random", seed=2).act(many)).any()


@pytest.mark.parametrize(
    ("hand", "board"), [("AsAh", ""), ("7c2d", ""), ("9s8h", "8c8d5c"), ("KdQd", "2d7dJs3d"), ("6c5c", "AhKhQhJhTh")]
)
def test_strength_is_the_share_of_hands_beaten(hand: str, board: str) -> None:
    mine, shown = parse_cards(hand), parse_cards(board)
    left = [card for card in range(52) if card not in (*mine, *shown)]
    own = rank((*mine, *shown))
    scores = [(own > other) + (own == other) / 2 for pair in combinations(left, 2) for other in [rank((*pair, *shown))]]
    out = np.empty((1, 2), np.int64)
    table = np.full((1, 5), 255, np.uint8)
    table[0, : len(shown)] = shown
    street = NOLIMIT.board_sizes.index(len(shown))
    kernels.hand_strength_batch(
        hand_strength_tables(NOLIMIT.deck, NOLIMIT.board_sizes),
        street,
        np.array([mine], np.uint8),
        table,
        len(shown),
        out,
    )
    assert out[0, 0] / out[0, 1] == pytest.approx(np.mean(scores))


def test_rule_based_agent() -> None:
    def plays(text: str) -> int:
        return int(BaselineAgent("rule-based").act(Observations.from_match_state(text, NOLIMIT))[0])

    assert plays("MATCHSTATE:1:0::|AsAh") == 300  # the pot: three times the big blind
    assert plays("MATCHSTATE:1:0::|7c2d") == FOLD
    assert plays("MATCHSTATE:0:0:c:7c2d|") == CALL  # free
    assert plays("MATCHSTATE:0:0:cc/:9s8h|/8c8d5c") == 300
    assert plays("MATCHSTATE:0:0:cc/cr20000:7s2h|/AcKdQc") == FOLD
    assert plays("MATCHSTATE:0:0:cc/cr20000:As2h|/AcKdQc") == CALL
    book = compact_rules_arrays(NOLIMIT)
    assert book.shown.tolist() == [0, 3, 4, 5]


def test_unknown_names() -> None:
    with pytest.raises(InputError, match=r"'allways-fold'.*'always-fold'"):
        BaselineAgent("allways-fold")


@pytest.mark.parametrize("name", ["nolimit-200bb", "limit", "leduc"])
def test_one_table_at_a_time_is_the_same_as_arrays(name):
    rules = read_game(name)
    views = random_views(rules, 80, np.random.default_rng(5))
    for k in range(len(views)):
        state = parse_match_state(views.match_state(k), rules)
        for agent in (BaselineAgent("always-fold"), BaselineAgent("always-call"), BaselineAgent("always-raise")):
            assert agent.at_once(state) == format_action(int(agent.act(views)[k]), rules)
        assert BaselineAgent("random").at_once(state) is None


@pytest.mark.parametrize("game", ["nolimit-200bb", "limit", "leduc"])
@pytest.mark.parametrize("name", BASELINES)
def test_strategies_agree_with_probabilities(name: str, game: str) -> None:
    rules = read_game(game)
    if name == "random" and not rules.limit:
        rules = replace(rules, stacks=(900, 900))  # its strategies have a column for each legal raise
    views = random_views(rules, 12, np.random.default_rng(2))
    agent, hands = BaselineAgent(name), rules.deck.hands
    for i in range(len(views)):
        one = views.public_states.take(np.array([i]))
        found = agent.strategies(one)
        live = np.flatnonzero(one.live_hands[0])[:: 1 + len(hands) // 40]
        same = Observations(rules, *(np.repeat(getattr(views, p)[[i]], len(live), axis=0) for p in PARTS))
        wanted = agent.probabilities(replace(same, hole=hands[live]))
        for hand, choice in zip(live.tolist(), wanted, strict=True):
            row = found.probabilities[0, hand]
            assert [(m, p) for m, p in zip(found.moves[0].tolist(), row.tolist(), strict=True) if p > 0] == choice
        sums = found.probabilities[0].sum(axis=1)
        assert np.allclose(sums, one.live_hands[0])


def test_ranges() -> None:
    """A rule-based player that bets the flop has a strong hand; one that only calls may have any hand."""
    places = PublicStates.from_lines(NOLIMIT, ["cc/r300"], ["8c8d5c"])
    both = ranges(places, BaselineAgent("rule-based"), BaselineAgent("always-call"))[0]
    strong, dealt = (
        board_hand_strengths(places.board_cards(0)),
        board_hand_strengths(()),
    )  # it would have raised the best hands before the flop
    assert np.array_equal(both[0], (strong >= 0.85) & (dealt < 0.85) & places.live_hands[0])
    assert np.array_equal(both[1], places.live_hands[0].astype(float))
    assert not ranges(places, BaselineAgent("always-call"))[0, 0].any()


def test_finished_hands_and_too_large_strategies() -> None:
    short = replace(NOLIMIT, stacks=(900, 900))
    for name in BASELINES:
        over = PublicStates.from_lines(short, ["r300f", "r300"])
        found = BaselineAgent(name).strategies(over)
        assert found.actor.tolist() == [-1, 0]
        assert not found.probabilities[0].any()
        assert (found.moves[0] == END_OF_LINE).all()
    with pytest.raises(MemoryLimitError, match=r"'random'.* 99 "):
        BaselineAgent("random").strategies(PublicStates.from_lines(NOLIMIT, ["r300"] * 99))
