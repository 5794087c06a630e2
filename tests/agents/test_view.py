"""Views: from the texts of the protocol and back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.base import answer, rules_of
from riverboat.agents.baselines import Yardstick
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import END, HIDDEN
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import read_game
from riverboat.testing.agents import random_views

NOLIMIT, LIMIT, LEDUC = (read_game(name) for name in ("nolimit-200bb", "limit", "leduc"))


def test_a_table_from_the_text_of_the_protocol() -> None:
    views = Views.from_match_state("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", NOLIMIT)
    assert (len(views), views.hand.tolist(), views.seat.tolist()) == (1, [30], [0])
    assert tuple(views.hole[0]) == parse_cards("9s8h")
    assert tuple(views.board[0]) == (*parse_cards("8c8d5c"), HIDDEN, HIDDEN)
    assert (views.moves.tolist(), views.length.tolist()) == ([[0, 300, 0]], [3])
    assert views.betting(0) == Betting.from_line(NOLIMIT, "cr300c/")
    assert views.line(0) == "cr300c/"


@pytest.mark.parametrize("rules", [NOLIMIT, LIMIT, LEDUC], ids=lambda rules: rules.name)
def test_what_is_shown_is_read_again(rules) -> None:
    views = random_views(rules, 50, np.random.default_rng(0))
    for i in range(len(views)):
        again = Views.from_match_state(views.match_state(i), rules)
        for part in ("hand", "seat", "hole", "board", "length"):
            assert np.array_equal(getattr(again, part)[0], getattr(views, part)[i])
        length = int(views.length[i])
        assert again.moves[0, :length].tolist() == views.moves[i, :length].tolist()
        assert (views.moves[i, length:] == END).all()
        other = again.match_state(0).split(":")[4].split("/")[0].split("|")[1 - views.seat[i]]
        assert other == ""  # nobody sees the other's cards


def test_some_of_the_tables() -> None:
    views = random_views(NOLIMIT, 20, np.random.default_rng(0))
    some = views.take(np.array([7, 3]))
    assert [some.match_state(0), some.match_state(1)] == [views.match_state(7), views.match_state(3)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("MATCHSTATE:0:30:cr300c/:9s8h|", "has 1"),
        ("MATCHSTATE:1:30:cr300c/:|9s8h/8c8d5c", "turn of seat 0"),
        ("MATCHSTATE:0:30:r300f:9s8h|", "the hand is over"),
        ("MATCHSTATE:0:30:cr300c/:9s9s|/8c8d5c", "there already"),
        ("MATCHSTATE:0:30:cr150:9s8h|", "raise to 200-20000"),
    ],
)
def test_what_is_no_view(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Views.from_match_state(text, NOLIMIT)


def test_views_of_states_are_checked() -> None:
    start = Betting.start(NOLIMIT)
    with pytest.raises(InputError, match="at least one"):
        Views.of([], [], [])
    with pytest.raises(InputError, match="1 hole and 0 board"):
        Views.of([start], [(1,)], [()])
    with pytest.raises(InputError, match="dealt twice: 2d 2d"):
        Views.of([start], [(1, 1)], [()])
    with pytest.raises(InputError, match="not in the deck of leduc"):
        Views.of([Betting.start(LEDUC)], [(0,)], [()])
    with pytest.raises(InputError, match="other rules"):
        Views.of([start, Betting.start(LIMIT)], [(0, 1), (2, 3)], [(), ()])
    with pytest.raises(InputError, match="nobody is to act"):
        Views.of([start.play("f")], [(0, 1)], [()])


def test_an_agent_answers_a_dealer() -> None:
    raiser = Yardstick("always-raise")
    assert answer(raiser, parse_match_state("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", NOLIMIT)) == "r400"
    assert answer(raiser, parse_match_state("MATCHSTATE:0:3:r:9s8h|", LIMIT)) == "r"
    assert rules_of(raiser) is None
