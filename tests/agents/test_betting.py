"""Compiled betting agrees with the rules on random lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import (
    FOLD,
    call_and_raise_bounds,
    format_action,
    replay_lines,
)
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules, read_game
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


def row(state: BettingState) -> list[int]:
    """Return the fields of a compiled state, after due deals."""
    over = 0 if state.actor != TERMINAL else 1 if state.folded is not None else 2
    led = -1 if state.previous_aggressor is None else state.previous_aggressor
    return [
        *state.spent,
        state.turn,
        state.street,
        state.raises,
        state.num_actions,
        state.last_raise,
        state.committed_before_street,
        over,
        led,
    ]


def arrays(lines: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    moves = np.full((len(lines), max(map(len, lines)) + 1), -2, np.int32)
    for i, line in enumerate(lines):
        moves[i, : len(line)] = line
    return moves, np.array([len(line) for line in lines], np.int32)


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_states_and_raise_bounds(rules: PokerRules) -> None:
    rng = np.random.default_rng(1)
    states = [state for _ in range(150) for state in random_line(rules, rng)]
    moves, length = arrays([list(state.actions) for state in states])
    found, wrong = replay_lines(rules, moves, length)
    assert wrong is None
    assert found.tolist() == [row(state) for state in states]
    for state, (price, least, most) in zip(states, call_and_raise_bounds(rules, found).tolist(), strict=True):
        assert price == state.to_call
        assert (least, most) == (state.raise_range() or (0, -1))


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_finished_hands(rules: PokerRules) -> None:
    """One more action: folds, showdowns, all-ins before the river."""
    rng, ends = np.random.default_rng(2), []
    for _ in range(300):
        last = random_line(rules, rng)[-1]
        ends += [last.play(last.parse_action(label)) for label in ("f", "c") if last.find_action(label) is not None]
    ends = [end for end in ends if end.actor == TERMINAL]
    moves, length = arrays([list(end.actions) for end in ends])
    found, wrong = replay_lines(rules, moves, length)
    assert wrong is None
    for end, states in zip(ends, found.tolist(), strict=True):
        if end.folded is not None:
            assert states == row(end)
            assert states[2] == end.folded
        else:
            # Rounds without betting are skipped.
            assert states[:2] == list(end.spent)
            assert states[8] == 2
    assert {end.folded is None for end in ends} == {True, False}
    if rules.rounds > 1 and rules.stacks is not None:
        assert any(end.line.endswith("c/") or end.line.endswith("//") for end in ends)


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_illegal_actions(rules: PokerRules) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        state = random_line(rules, rng)[-1]
        line, span = list(state.actions), state.raise_range()
        wrong = [-2, -7, max(state.spent)]
        wrong += [] if state.is_legal(FOLD) else [FOLD]
        wrong += [span.least - 1, span.most + 1] if span is not None else [max(state.spent) + 1, 10**9]
        for move in wrong:
            if span is not None and span.least <= move <= span.most:
                continue
            moves, length = arrays([[*line, move]])
            assert replay_lines(rules, moves, length)[1] == (0, len(line))


def test_actions_as_integers() -> None:
    assert BettingState.from_line(NOLIMIT, "cr300c/r600f").actions == (0, 300, 0, 600, -1)
    assert BettingState.from_line(LIMIT, "rrc/crc/").actions == (20, 30, 0, 0, 40, 0)
    state = BettingState.from_line(LIMIT, "rr")
    assert (state.parse_action("r"), format_action(40, LIMIT), format_action(300, NOLIMIT)) == (40, "r", "r300")
    with pytest.raises(InputError, match="200-20000"):
        BettingState.start(NOLIMIT).parse_action("r199")


def test_illegal_lines_in_observations() -> None:
    views = Observations.from_betting([BettingState.start(NOLIMIT)], [(0, 1)], [()])
    wrong = replace(views, moves=np.array([[150]], np.int32), length=np.array([1], np.int32))
    with pytest.raises(InputError, match="'r150'"):
        _ = wrong.public_states.states
