"""Table states as spots: the real pot and stacks, ranges by Bayes, and what is done with the result."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from evaluation.test_best_response import blueprint, bucketed
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.cards.deck import HANDS, hand_index
from riverboat.core.errors import InputError
from riverboat.formats import spot_file
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.menus import one_size, parse_menu
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.strategies.reports.blueprint import at_line
from riverboat.strategies.table_spot import table_spot

RULES = Rules(blinds=(10, 5), stacks=(200, 150), ranks=4, suits=4, name="small")
MENU = parse_menu('preflop = ["3x"]\nflop = ["50%", "a"]\nmost_raises = 1')
RIVER = "MATCHSTATE:1:30:cr300c/cc/cr600c/r900:|9s8h/8c8d5c/6s/2h"
SIZES = 'preflop = ""\nflop = "a"\n'


@pytest.fixture(scope="module")
def agent() -> BlueprintAgent:
    """A blueprint that nobody trained, of sixteen cards."""
    return BlueprintAgent(blueprint(RULES, MENU, bucketed(RULES, (9, 8, 7, 6), 1), 2))


def state(line: str, cards: str, rules: Rules = RULES):
    return parse_match_state(f"MATCHSTATE:0:7:{line}:{cards}", rules)


def test_pot_stacks_and_bets_are_those_of_the_table(agent: BlueprintAgent) -> None:
    found = state("cr30c/cc/r60", "AsKs|/AdKdQd/Jd")
    spot = table_spot(found.betting, found.board, agent, menu=MENU)
    assert (spot.pot, spot.behind, spot.start.actor) == (90, (140, 120), 1)
    assert (spot.board, spot.deck) == (found.board, RULES.deck)
    assert spot.betting.moves(0) == ("f", "c")  # the menu has one bet a street
    assert spot.betting.pay[1, 0].tolist() == [90, 0]  # after a fold


def test_ranges_are_what_the_strategy_plays_to_the_line_with(agent: BlueprintAgent) -> None:
    """On lines of its own tree a blueprint's range is the product of its probabilities, up to a scale."""
    line, board = "cr30c/cc/", "AdKdQdJd"
    found = state(line, "AsKs|/AdKdQd/Jd")
    spot = table_spot(found.betting, found.board, agent, menu=MENU)
    node = at_line(agent.strategy, line, board)
    for seat in (0, 1):
        wanted = np.zeros(HANDS)
        for hand, weight in zip(node.hands.tolist(), node.reach[seat], strict=True):
            wanted[hand_index(*hand)] = weight
        assert wanted.max() > 0
        np.testing.assert_allclose(spot.ranges[seat].weights, wanted / wanted.max(), rtol=1e-9, atol=1e-12)
    # Whoever looks, with whatever cards: an observer knows neither.
    other = state(line, "QcJc|/AdKdQd/Jd")
    again = table_spot(other.betting, other.board, agent, menu=MENU)
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(spot.ranges, again.ranges, strict=True))
    assert spot.ranges[0].weights[hand_index(*found.hole)] == again.ranges[0].weights[hand_index(*found.hole)]


def test_a_floor_leaves_no_range_empty() -> None:
    rules = read_game("nolimit-200bb")
    seen = parse_match_state("MATCHSTATE:1:30:cr300c/r900:|9s8h/8c8d5c", rules)
    folds = make_agent("always-fold")
    with pytest.raises(InputError, match=r"range of oop: no hand plays 'cr300c/r900' by this strategy; give a floor"):
        table_spot(seen.betting, seen.board, folds, menu=one_size("a"))
    spot = table_spot(seen.betting, seen.board, folds, menu=one_size("a"), floor=0.25)
    left = [hand_index(*hand) for hand in combinations([c for c in range(52) if c not in seen.board], 2)]
    wanted = np.zeros(HANDS)
    wanted[left] = 0.25
    assert all(np.array_equal(held.weights, wanted) for held in spot.ranges)
    for floor in (-0.1, 1.5, float("nan")):
        with pytest.raises(InputError, match="must be a weight from 0 to 1"):
            table_spot(seen.betting, seen.board, folds, menu=one_size("a"), floor=floor)


def test_two_players_have_ranges_of_their_own() -> None:
    rules = read_game("nolimit-200bb")
    seen = parse_match_state("MATCHSTATE:1:30:cr300c/cc/:|9s8h/8c8d5c/6s", rules)
    rule_based, calls = make_agent("rule-based"), make_agent("random")
    both, first = (
        table_spot(seen.betting, seen.board, rule_based, other, menu=one_size("a"), floor=0.1)
        for other in (None, calls)
    )
    assert np.array_equal(both.ranges[0].weights, first.ranges[0].weights)
    assert not np.array_equal(both.ranges[1].weights, first.ranges[1].weights)
    assert set(np.unique(first.ranges[1].weights)) == {0.0, 1.0}  # who plays at random holds anything


# --- the command --------------------------------------------------------------------------------


def said(run, *words) -> str:
    """What a command writes that does what it should."""
    code, out, err = run(*words)
    assert code == 0, err
    return out


def test_solve_show_export_and_lock(tmp_path, monkeypatch, run) -> None:
    """What comes out is a spot as any other."""
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
    # The spot as a file, with what one player does fixed.
    spot = spot_file.load(tmp_path / "spot.toml")
    text = (tmp_path / "spot.toml").read_text() + '[[lock]]\nline = ""\nstrategy = { f = 1.0 }\n'
    (tmp_path / "spot.toml").write_text(text)
    locked = json.loads(said(run, "solve", "spot.toml", "--iterations", 30, "--json"))
    assert locked["ev_oop"] == pytest.approx(spot.pot)
    # The same state goes on where it stopped.
    again = json.loads(said(run, "solve", RIVER, *words[:-1], 40, "--out", "run", "--resume", "--json"))
    assert again["iterations"] == 40


def test_the_menu_is_that_of_the_blueprint_unless_one_is_given(tmp_path, agent, monkeypatch) -> None:
    from riverboat.cli.solve import table_states
    from riverboat.cli.solve.options import TableFlags

    monkeypatch.setattr(table_states, "make_agent", lambda name: agent)
    flags = TableFlags(ranges="it", floor=0.1)
    text = "MATCHSTATE:0:7:cr30c/cc/:AsKs|/AdKdQd/Jd"
    assert table_states.read(text, flags).betting.moves(0) == ("x", "b30")
    (tmp_path / "menu.toml").write_text('preflop = ""\nflop = "100%"\n')
    assert table_states.read(text, replace(flags, menu=tmp_path / "menu.toml")).betting.moves(0) == ("x", "b60")


def test_a_limit_game_needs_no_menu(tmp_path, monkeypatch, run) -> None:
    monkeypatch.chdir(tmp_path)
    text = "MATCHSTATE:0:30:crc/cc/cc/r:9s8h|/8c8d5c/6s/2h"
    told = json.loads(
        said(
            run, "solve", text, "--ranges", "always-call", "--game", "limit", "--iterations", 3, "--floor", 1, "--json"
        )
    )
    assert (told["pot"], len(told["frequencies"])) == (60, 3)


def test_wrong_questions(run) -> None:
    for words, told in (
        ((RIVER,), "--ranges is missing; name an agent"),
        ((RIVER, "--ranges", "nobody"), "unknown agent 'nobody'"),
        ((RIVER, "--ranges", "always-fold"), "no hand plays .* give --floor 0.01"),
        ((RIVER, "--ranges", "random", "--pot", 3), "--pot goes with 'riverboat solve spot'"),
        ((RIVER, "--ranges", "random", "--boards", "all"), "--boards goes with spots"),
        ((RIVER, "--ranges", "random", "--game", "limit"), "betting: "),
        ((RIVER, "--ranges", "random", "--game", "leduc"), "match state"),
        (("MATCHSTATE:0:0:cr300:9s8h|", "--ranges", "random"), "is before the flop, .* spots begin on the flop"),
        (("MATCHSTATE:0:0:cr300f:9s8h|", "--ranges", "random"), "nobody is to act there"),
        (("kuhn", "--ranges", "random"), "--ranges goes with a match state"),
    ):
        code, out, err = run("solve", *words)
        assert (code, out) == (2, "")
        assert re.search(told, err), err
        assert err.count("\n") == 1
