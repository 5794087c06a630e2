"""Public places: made from lines, boards and match states, and what is asked of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import HIDDEN
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.public_state import OVER, Places
from riverboat.games.holdem.rules import read_game
from riverboat.testing.agents import random_views

NOLIMIT = read_game("nolimit-200bb")
LINES = ["", "cr300c/", "cr300c", "r250f", "r20000c///", "cr300c/cr600c/"]
BOARDS = ["", "8c8d5c", "8c8d5c", "", "8c8d5cAs2h", "8c8d5cAs"]


def test_lines_and_boards() -> None:
    places = Places.from_lines(NOLIMIT, LINES, BOARDS)
    assert places.actor.tolist() == [1, 0, 0, OVER, OVER, 0]
    assert [places.line(i) for i in range(6)] == ["", "cr300c/", "cr300c/", "r250f", "r20000c///", "cr300c/cr600c/"]
    assert places.shown(5) == parse_cards("8c8d5cAs")
    assert (places.board[1, 3:] == HIDDEN).all()
    assert places.live.sum(axis=1).tolist() == [1326, 49 * 48 // 2, 49 * 48 // 2, 1326, 47 * 46 // 2, 48 * 47 // 2]
    hands = NOLIMIT.deck.hands
    assert not any(set(hands[h].tolist()) & set(places.shown(5)) for h in np.flatnonzero(places.live[5]))


def test_a_place_is_known_by_its_line_and_board() -> None:
    places = Places.from_lines(NOLIMIT, LINES, BOARDS)
    keys = [places.key(i) for i in range(6)]
    assert keys[1] == keys[2]
    assert len(set(keys)) == 5
    wide = replace(places, moves=np.pad(places.moves, ((0, 0), (0, 5)), constant_values=-2))
    assert [wide.key(i) for i in range(6)] == keys
    other = Places.from_lines(NOLIMIT, ["cr300c/"], ["8c8d5d"])
    assert other.key(0) != keys[1]


def test_decisions_on_the_way() -> None:
    views = random_views(NOLIMIT, 60, np.random.default_rng(3))
    places = views.places
    way, owner, made = places.decisions()
    assert len(way) == places.length.sum()
    for k in range(len(way)):
        i, at = int(owner[k]), int(way.length[k])
        assert made[k] == places.moves[i, at]
        assert way.moves[k, :at].tolist() == places.moves[i, :at].tolist()
        state = way.betting(k)
        assert way.actor[k] == state.turn
        assert way.shown(k) == places.shown(i)[: NOLIMIT.board_sizes[state.street]]
    assert len(Places.from_lines(NOLIMIT, [""]).decisions()[0]) == 0


def test_match_states_and_views_stand_at_places() -> None:
    text = "MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c"
    places = Places.from_match_states([parse_match_state(text, NOLIMIT)])
    assert (places.line(0), places.shown(0), places.actor.tolist()) == ("cr300c/", parse_cards("8c8d5c"), [0])


@pytest.mark.parametrize(
    ("lines", "boards", "reason"),
    [
        ([], [], "no places"),
        (["cr300c/"], ["", ""], "1 states, 2 boards"),
        (["cr300c/"], [""], "0 board cards; on the flop nolimit-200bb has 3"),
        ([""], ["As"], "1 board cards; on the preflop nolimit-200bb has 0"),
        (["cr300c/"], ["8c8d8c"], "there already"),
        (["cr30c/"], ["8c8d5c"], "illegal action 'r30'"),
    ],
)
def test_what_is_no_place(lines: list[str], boards: list[str], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Places.from_lines(NOLIMIT, lines, boards)


def test_cards_of_other_decks_and_other_rules() -> None:
    leduc = read_game("leduc")
    with pytest.raises(InputError, match="card 0 is not in the deck of leduc"):
        Places.of([Betting.from_line(leduc, "cc/")], [[0]])
    with pytest.raises(InputError, match="other rules"):
        Places.of([Betting.start(leduc), Betting.start(NOLIMIT)], [[], []])
    with pytest.raises(InputError, match="a card is dealt twice: As As"):
        Places.of([Betting.from_line(NOLIMIT, "cc/")], [[51, 51, 3]])


def test_illegal_moves_are_found() -> None:
    places = Places.from_lines(NOLIMIT, ["cr300c/"], ["8c8d5c"])
    wrong = replace(places, moves=np.array([[0, 300, 300]], np.int32))
    with pytest.raises(InputError, match="illegal action 'r300'"):
        _ = wrong.actor
