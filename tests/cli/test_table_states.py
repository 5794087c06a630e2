"""Match states as spots: pot and stacks of the table, ranges by Bayes' rule, and solving them."""

from __future__ import annotations

import json
import re
from itertools import combinations

import numpy as np
import pytest

from evaluation.test_best_response import blueprint, bucketed
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.api.spots import spot_from_match_state
from riverboat.cards.deck import NUM_HANDS, hand_index
from riverboat.core.errors import InputError
from riverboat.formats import spot_file
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.menus import one_size_menu, parse_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.strategies.public_strategy import spot_from_state
from riverboat.strategies.reports.blueprint import node_at_line

RULES = PokerRules(blinds=(10, 5), stacks=(200, 150), ranks=4, suits=4, name="small")
MENU = parse_menu('preflop = ["3x"]\nflop = ["50%", "a"]\nmost_raises = 1')
RIVER = "MATCHSTATE:1:30:cr300c/cc/cr600c/r900:|9s8h/8c8d5c/6s/2h"
SIZES = 'preflop = ""\nflop = "a"\n'


@pytest.fixture(scope="module")
def agent() -> BlueprintAgent:
    """An untrained blueprint of a game with sixteen cards."""
    return BlueprintAgent(blueprint(RULES, MENU, bucketed(RULES, (9, 8, 7, 6), 1), 2))


def state(line: str, cards: str, rules: PokerRules = RULES):
    return parse_match_state(f"MATCHSTATE:0:7:{line}:{cards}", rules)


def test_pot_stacks_and_bets(agent: BlueprintAgent) -> None:
    found = state("cr30c/cc/r60", "AsKs|/AdKdQd/Jd")
    spot = spot_from_state(found.betting, found.board, agent, menu=MENU)
    assert (spot.pot, spot.behind, spot.start.actor) == (90, (140, 120), 1)
    assert (spot.board, spot.deck) == (found.board, RULES.deck)
    assert spot.betting.actions(0) == ("f", "c")  # the menu has one bet per street
    assert spot.betting.payoffs[1, 0].tolist() == [90, 0]  # after a fold


def test_ranges_by_bayes_rule(agent: BlueprintAgent) -> None:
    """On its own tree a blueprint's range is the product of its action probabilities, up to a scale."""
    line, board = "cr30c/cc/", "AdKdQdJd"
    found = state(line, "AsKs|/AdKdQd/Jd")
    spot = spot_from_state(found.betting, found.board, agent, menu=MENU)
    node = node_at_line(agent.strategy, line, board)
    for seat in (0, 1):
        wanted = np.zeros(NUM_HANDS)
        for hand, weight in zip(node.hands.tolist(), node.reach[seat], strict=True):
            wanted[hand_index(*hand)] = weight
        assert wanted.max() > 0
        np.testing.assert_allclose(spot.ranges[seat].weights, wanted / wanted.max(), rtol=1e-9, atol=1e-12)
    # The ranges do not depend on the hole cards of the match state.
    other = state(line, "QcJc|/AdKdQd/Jd")
    again = spot_from_state(other.betting, other.board, agent, menu=MENU)
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(spot.ranges, again.ranges, strict=True))
    assert spot.ranges[0].weights[hand_index(*found.hole)] == again.ranges[0].weights[hand_index(*found.hole)]


def test_a_floor_leaves_no_range_empty() -> None:
    rules = read_game("nolimit-200bb")
    seen = parse_match_state("MATCHSTATE:1:30:cr300c/r900:|9s8h/8c8d5c", rules)
    folds = make_agent("always-fold")
    with pytest.raises(InputError, match=r"oop.*'cr300c/r900'.*floor"):
        spot_from_state(seen.betting, seen.board, folds, menu=one_size_menu("a"))
    spot = spot_from_state(seen.betting, seen.board, folds, menu=one_size_menu("a"), floor=0.25)
    left = [hand_index(*hand) for hand in combinations([c for c in range(52) if c not in seen.board], 2)]
    wanted = np.zeros(NUM_HANDS)
    wanted[left] = 0.25
    assert all(np.array_equal(held.weights, wanted) for held in spot.ranges)
    for floor in (-0.1, 1.5, float("nan")):
        with pytest.raises(InputError, match=r"floor|0 to 1"):
            spot_from_state(seen.betting, seen.board, folds, menu=one_size_menu("a"), floor=floor)


def test_two_players_have_ranges_of_their_own() -> None:
    rules = read_game("nolimit-200bb")
    seen = parse_match_state("MATCHSTATE:1:30:cr300c/cc/:|9s8h/8c8d5c/6s", rules)
    rule_based, calls = make_agent("rule-based"), make_agent("random")
    both, first = (
        spot_from_state(seen.betting, seen.board, rule_based, other, menu=one_size_menu("a"), floor=0.1)
        for other in (None, calls)
    )
    assert np.array_equal(both.ranges[0].weights, first.ranges[0].weights)
    assert not np.array_equal(both.ranges[1].weights, first.ranges[1].weights)
    assert set(np.unique(first.ranges[1].weights)) == {0.0, 1.0}  # a random player can hold any hand


# --- Command ---


def said(run, *words) -> str:
    """Return the output of a command that must succeed."""
    code, out, err = run(*words)
    assert code == 0, err
    return out


def test_solve_show_export_and_lock(tmp_path, monkeypatch, run) -> None:
    """The result is an ordinary spot."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "menu.toml").write_text(SIZES)
    words = ["--ranges", "rule-based", "--menu", "menu.toml", "--floor", 0.05, "--iterations", 30]
    told = json.loads(said(run, "solve", RIVER, *words, "--out", "run", "--spot-file", "spot.toml", "--json"))
    assert (told["pot"], told["behind"], told["played"]) == (1500, [19100, 19400], "b300")
    assert told["ev_oop"] + told["ev_ip"] == pytest.approx(1500, abs=0.1)
    assert 0 < told["frequencies"]["f"] < 1
    root = json.loads(said(run, "show", "run", "root", "--json"))
    assert (root["player"], root["street"]) == ("ip", "river")
    assert said(run, "export", "run", "--csv").count("\n") > 100
    # The spot as a file, with the strategy of one player locked.
    spot = spot_file.load(tmp_path / "spot.toml")
    text = (tmp_path / "spot.toml").read_text() + '[[lock]]\nline = ""\nstrategy = { f = 1.0 }\n'
    (tmp_path / "spot.toml").write_text(text)
    locked = json.loads(said(run, "solve", "spot.toml", "--iterations", 30, "--json"))
    assert locked["ev_oop"] == pytest.approx(spot.pot)
    # The same state resumes where it stopped.
    again = json.loads(said(run, "solve", RIVER, *words[:-1], 40, "--out", "run", "--resume", "--json"))
    assert again["iterations"] == 40


def test_menu_of_the_blueprint_is_the_default(tmp_path, agent) -> None:
    text = "MATCHSTATE:0:7:cr30c/cc/:AsKs|/AdKdQd/Jd"
    assert spot_from_match_state(text, ranges=agent, floor=0.1).betting.actions(0) == ("x", "b30")
    (tmp_path / "menu.toml").write_text('preflop = ""\nflop = "100%"\n')
    spot = spot_from_match_state(text, ranges=agent, floor=0.1, menu=tmp_path / "menu.toml")
    assert spot.betting.actions(0) == ("x", "b60")


def test_a_limit_game_needs_no_menu(tmp_path, monkeypatch, run) -> None:
    monkeypatch.chdir(tmp_path)
    text = "MATCHSTATE:0:30:crc/cc/cc/r:9s8h|/8c8d5c/6s/2h"
    told = json.loads(
        said(
            run, "solve", text, "--ranges", "always-call", "--game", "limit", "--iterations", 3, "--floor", 1, "--json"
        )
    )
    assert (told["pot"], len(told["frequencies"])) == (60, 3)


def test_invalid_arguments(run) -> None:
    for words, message in (
        ((RIVER,), "--ranges"),
        ((RIVER, "--ranges", "nobody"), "'nobody'"),
        ((RIVER, "--ranges", "always-fold"), "--floor 0.01"),
        ((RIVER, "--ranges", "random", "--pot", 3), "--pot .*--menu"),
        ((RIVER, "--ranges", "random", "--boards", "all"), "--boards"),
        ((RIVER, "--ranges", "random", "--game", "limit"), "betting: "),
        ((RIVER, "--ranges", "random", "--game", "leduc"), "match state"),
        (("MATCHSTATE:0:0:cr300:9s8h|", "--ranges", "random"), "flop"),
        (("MATCHSTATE:0:0:cr300f:9s8h|", "--ranges", "random"), "cr300f"),
        (("kuhn", "--ranges", "random"), "--ranges .*MATCHSTATE"),
    ):
        code, out, err = run("solve", *words)
        assert (code, out) == (2, "")
        assert re.search(message, err), err
        assert err.count("\n") == 1
