"""Public states: made from lines, boards and match states, and their properties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import HIDDEN_CARD
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.public_states import TERMINAL_ACTOR, PublicStates
from riverboat.games.holdem.rules import read_game
from riverboat.testing.agents import random_views

NOLIMIT = read_game("nolimit-200bb")
LINES = ["", "cr300c/", "cr300c", "r250f", "r20000c///", "cr300c/cr600c/"]
BOARDS = ["", "8c8d5c", "8c8d5c", "", "8c8d5cAs2h", "8c8d5cAs"]


def test_lines_and_boards() -> None:
    states = PublicStates.from_lines(NOLIMIT, LINES, BOARDS)
    assert states.actor.tolist() == [1, 0, 0, TERMINAL_ACTOR, TERMINAL_ACTOR, 0]
    assert [states.line(i) for i in range(6)] == ["", "cr300c/", "cr300c/", "r250f", "r20000c///", "cr300c/cr600c/"]
    assert states.board_cards(5) == parse_cards("8c8d5cAs")
    assert (states.board[1, 3:] == HIDDEN_CARD).all()
    assert states.live_hands.sum(axis=1).tolist() == [
        1326,
        49 * 48 // 2,
        49 * 48 // 2,
        1326,
        47 * 46 // 2,
        48 * 47 // 2,
    ]
    hands = NOLIMIT.deck.hands
    assert not any(set(hands[h].tolist()) & set(states.board_cards(5)) for h in np.flatnonzero(states.live_hands[5]))


def test_keys_are_lines_and_boards() -> None:
    states = PublicStates.from_lines(NOLIMIT, LINES, BOARDS)
    keys = [states.key(i) for i in range(6)]
    assert keys[1] == keys[2]
    assert len(set(keys)) == 5
    wide = replace(states, moves=np.pad(states.moves, ((0, 0), (0, 5)), constant_values=-2))
    assert [wide.key(i) for i in range(6)] == keys
    other = PublicStates.from_lines(NOLIMIT, ["cr300c/"], ["8c8d5d"])
    assert other.key(0) != keys[1]


def test_decisions_on_the_path() -> None:
    observations = random_views(NOLIMIT, 60, np.random.default_rng(3))
    states = observations.public_states
    decisions, owner, actions = states.decisions()
    assert len(decisions) == states.length.sum()
    for k in range(len(decisions)):
        i, position = int(owner[k]), int(decisions.length[k])
        assert actions[k] == states.moves[i, position]
        assert decisions.moves[k, :position].tolist() == states.moves[i, :position].tolist()
        state = decisions.betting(k)
        assert decisions.actor[k] == state.turn
        assert decisions.board_cards(k) == states.board_cards(i)[: NOLIMIT.board_sizes[state.street]]
    assert len(PublicStates.from_lines(NOLIMIT, [""]).decisions()[0]) == 0


def test_public_states_of_match_states() -> None:
    text = "MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c"
    states = PublicStates.from_match_states([parse_match_state(text, NOLIMIT)])
    assert (states.line(0), states.board_cards(0), states.actor.tolist()) == ("cr300c/", parse_cards("8c8d5c"), [0])


@pytest.mark.parametrize(
    ("lines", "boards", "reason"),
    [
        ([], [], "public states"),
        (["cr300c/"], ["", ""], "1 states, 2 boards"),
        (["cr300c/"], [""], "0 board cards; .*flop nolimit-200bb has 3"),
        ([""], ["As"], "1 board cards; .*preflop nolimit-200bb has 0"),
        (["cr300c/"], ["8c8d8c"], "token '8c' at position 5"),
        (["cr30c/"], ["8c8d5c"], "illegal action 'r30'"),
    ],
)
def test_invalid_lines_and_boards(lines: list[str], boards: list[str], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        PublicStates.from_lines(NOLIMIT, lines, boards)


def test_cards_of_other_decks_and_other_rules() -> None:
    leduc = read_game("leduc")
    with pytest.raises(InputError, match=r"card 0 .*leduc"):
        PublicStates.from_betting([BettingState.from_line(leduc, "cc/")], [[0]])
    with pytest.raises(InputError, match="public state 1 at ''"):
        PublicStates.from_betting([BettingState.start(leduc), BettingState.start(NOLIMIT)], [[], []])
    with pytest.raises(InputError, match="As As"):
        PublicStates.from_betting([BettingState.from_line(NOLIMIT, "cc/")], [[51, 51, 3]])


def test_illegal_actions_are_found() -> None:
    states = PublicStates.from_lines(NOLIMIT, ["cr300c/"], ["8c8d5c"])
    wrong = replace(states, moves=np.array([[0, 300, 300]], np.int32))
    with pytest.raises(InputError, match="illegal action 'r300'"):
        _ = wrong.actor
