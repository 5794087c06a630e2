"""The compiled betting beside the rules, on random lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import FOLD, moves_of, read_move, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.betting_batch import spans, states_after
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.testing.agents import random_line

NOLIMIT, LIMIT = read_game("nolimit-200bb"), read_game("limit")
GAMES = {
    "nolimit": NOLIMIT,
    "short": replace(NOLIMIT, stacks=(330, 330)),
    "unequal": replace(NOLIMIT, stacks=(700, 1510)),
    "odd blinds": replace(NOLIMIT, stacks=(2_000, 1_111), blinds=(75, 30)),
    "capped": replace(NOLIMIT, most_raises=(2, 1, 0, 3)),
    "limit": LIMIT,
    "short limit": replace(LIMIT, stacks=(47, 33)),
    "leduc": read_game("leduc"),
    "kuhn": read_game("kuhn"),
}


def row(state: Betting) -> list[int]:
    """As the compiled states are, once the deals that are due are done."""
    over = 0 if state.actor != TERMINAL else 1 if state.folded is not None else 2
    led = -1 if state.led is None else state.led
    return [
        *state.spent,
        state.turn,
        state.street,
        state.raises,
        state.acted,
        state.last_raise,
        state.before,
        over,
        led,
    ]


def arrays(lines: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    moves = np.full((len(lines), max(map(len, lines)) + 1), -2, np.int32)
    for i, line in enumerate(lines):
        moves[i, : len(line)] = line
    return moves, np.array([len(line) for line in lines], np.int32)


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_states_and_raises_are_those_of_the_rules(rules: Rules) -> None:
    rng = np.random.default_rng(1)
    states = [state for _ in range(150) for state in random_line(rules, rng)]
    moves, length = arrays([list(moves_of(rules, state.line)) for state in states])
    found, wrong = states_after(rules, moves, length)
    assert wrong is None
    assert found.tolist() == [row(state) for state in states]
    for state, (price, least, most) in zip(states, spans(rules, found).tolist(), strict=True):
        assert price == state.to_call
        assert (least, most) == (state.raise_range() or (0, -1))


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_the_ends_of_hands(rules: Rules) -> None:
    """One move more: folds, showdowns, all-ins before the river."""
    rng, ends = np.random.default_rng(2), []
    for _ in range(300):
        last = random_line(rules, rng)[-1]
        ends += [settled(last.play(label)) for label in ("f", "c") if last.legal(label)]
    ends = [end for end in ends if end.actor == TERMINAL]
    moves, length = arrays([list(moves_of(rules, end.line)) for end in ends])
    found, wrong = states_after(rules, moves, length)
    assert wrong is None
    for end, states in zip(ends, found.tolist(), strict=True):
        if end.folded is not None:
            assert states == row(end)
            assert states[2] == end.folded
        else:
            # Rounds that nobody bets in are not gone through.
            assert states[:2] == list(end.spent)
            assert states[8] == 2
    assert {end.folded is None for end in ends} == {True, False}
    if rules.rounds > 1 and rules.stacks is not None:
        assert any(end.line.endswith("c/") or end.line.endswith("//") for end in ends)


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_illegal_moves_are_found(rules: Rules) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        state = random_line(rules, rng)[-1]
        line, span = list(moves_of(rules, state.line)), state.raise_range()
        wrong = [-2, -7, max(state.spent)]
        wrong += [] if state.legal("f") else [FOLD]
        wrong += [span.least - 1, span.most + 1] if span is not None else [max(state.spent) + 1, 10**9]
        for move in wrong:
            if span is not None and span.least <= move <= span.most:
                continue
            moves, length = arrays([[*line, move]])
            assert states_after(rules, moves, length)[1] == (0, len(line))


def test_moves_as_numbers() -> None:
    assert moves_of(NOLIMIT, "cr300c/r600f") == (0, 300, 0, 600, -1)
    assert moves_of(LIMIT, "rrc/crc/") == (20, 30, 0, 0, 40, 0)
    state = Betting.from_line(LIMIT, "rr")
    assert (read_move("r", state), show_move(40, LIMIT), show_move(300, NOLIMIT)) == (40, "r", "r300")
    with pytest.raises(InputError, match="raise to 200-20000"):
        read_move("r199", Betting.start(NOLIMIT))


def test_illegal_lines_in_views_are_refused() -> None:
    views = Views.of([Betting.start(NOLIMIT)], [(0, 1)], [()])
    wrong = replace(views, moves=np.array([[150]], np.int32), length=np.array([1], np.int32))
    with pytest.raises(InputError, match="illegal action 'r150'"):
        _ = wrong.places.states
