"""Litmus checks: every kind finds an agent that fails it, and names the place; invalid files are rejected."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.baselines import BaselineAgent
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.notation import format_cards, parse_cards
from riverboat.cards.ranking import hand_strengths
from riverboat.core.errors import InputError
from riverboat.evaluation.litmus import (
    REQUIRED_KEYS,
    boards_for_check,
    merge_checks,
    parse_checks,
    run_litmus,
    shipped_checks,
    state_after,
)
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.public_strategy import StrategyBatch

NOLIMIT, LIMIT, LEDUC = (read_game(name) for name in ("nolimit-200bb", "limit", "leduc"))
CALLER = BaselineAgent("always-call")
HANDS = FULL_DECK.hands


class Folder:
    """Agent that calls, and folds with probabilities rule(state, board) -> float64 [hands]."""

    name = "folder"

    def __init__(self, rule) -> None:
        self.rule = rule

    def strategies(self, places, draw=None):
        moves = np.tile(np.array([-1, 0], np.int32), (len(places), 1))
        folds = np.stack(
            [np.broadcast_to(self.rule(places.betting(i), places.board_cards(i)), 1326) for i in range(len(places))]
        )
        chances = np.stack([folds, 1 - folds], axis=2) * places.live_hands[:, :, None]
        return StrategyBatch(places, places.actor, moves, chances)


def one(text: str):
    return parse_checks(f"[[check]]\n{text}")


def failures(agent, text: str, rules=NOLIMIT):
    found = run_litmus(agent, rules, one(text))
    assert found.num_checks == 1
    return found.failures


# --- Kinds of checks ---


NO_ACES = 'name = "aces"\nkind = "never"\nmove = "fold"\nhands = "AA"\nlines = ["2.5x", "c 3x"]\ntolerance = 0.1'


def test_never() -> None:
    aces = (HANDS >> 2 == 12).all(axis=1)
    assert not failures(CALLER, NO_ACES)
    assert not failures(Folder(lambda state, board: 0.1 * aces), NO_ACES)  # within the tolerance
    found = failures(Folder(lambda state, board: 0.4 * aces * (state.turn == 1)), NO_ACES)
    (failure,) = found
    assert (failure.line, failure.board) == ("cr300", "")
    assert set(failure.hand[0::2]) == {"A"}
    assert failure.probabilities == pytest.approx({"fold": 0.4, "call": 0.6, "raise": 0.0})
    assert "40.0 %" in failure.reason
    assert " 5 " in failure.reason
    state = parse_match_state(failure.match_state, NOLIMIT)
    assert state.acting
    assert format_cards(sorted(state.hole, reverse=True)) == failure.hand


def test_unreached_hands_are_not_checked() -> None:
    """An agent that folds aces at once cannot fold them again."""
    aces = (HANDS >> 2 == 12).all(axis=1)
    later = NO_ACES.replace('["2.5x", "c 3x"]', '["c 3x"]')  # the player who called the blind faces the raise
    never = Folder(lambda state, board: aces * 1.0)
    assert run_litmus(never, NOLIMIT, one(later)).num_failed == 0
    free = 'name = "x"\nkind = "never"\nmove = "call"\nhands = "any"\nlines = ["f"]'
    assert run_litmus(CALLER, NOLIMIT, one(free)).results[0].status == "skipped"


def test_folds_instead_of_free_checks() -> None:
    text = 'name = "free"\nkind = "never"\nmove = "fold"\nhands = "any"\nlines = ["~ c"]\nboards = 2'
    assert not failures(CALLER, text)
    assert len(failures(Folder(lambda state, board: 0.5 if len(board) == 5 else 0.0), text)) == 2


def test_the_nuts() -> None:
    text = 'name = "nuts"\nkind = "never"\nmove = "fold"\nhands = "nuts"\nlines = ["~ 75%"]\nboards = ["Td9d6hQc2s"]'

    def all_but_kings(state: BettingState, board) -> np.ndarray:
        jack_king = ((HANDS >> 2) == [9, 11]).all(axis=1)  # K J makes the best straight
        return np.where(jack_king, 0.0, 1.0) if board[4:] else np.zeros(1326)

    assert not failures(Folder(all_but_kings), text)
    (failure,) = failures(Folder(lambda state, board: 1 - all_but_kings(state, board) if board[4:] else 0.0), text)
    assert sorted(failure.hand[0::2]) == ["J", "K"]


def test_more() -> None:
    text = 'name = "more"\nkind = "more"\nmove = "call"\nhands = "AA"\nthan = "72o"\nlines = ["2.5x"]\ntolerance = 0.1'
    sevens = np.isin(HANDS >> 2, [0, 5]).all(axis=1)
    assert not failures(CALLER, text)
    (failure,) = failures(Folder(lambda state, board: 0.5 * ~sevens), text)
    assert failure.hand == ""
    assert all(word in failure.reason for word in ("AA", "50.0 %", "72o", "100.0 %"))


def test_monotone() -> None:
    text = 'name = "order"\nkind = "monotone"\nlines = ["~ 75%"]\nboards = ["Td9d6hQc2s"]\ntolerance = 0.05'

    def by_strength(sign: int):
        def rule(state: BettingState, board) -> np.ndarray:
            if not state.to_call:
                return np.zeros(1326)
            strength = hand_strengths(board).astype(float)
            return 0.5 + sign * (strength / strength.max() - 0.5)

        return Folder(rule)

    assert not failures(by_strength(-1), text)
    (failure,) = failures(by_strength(1), text)
    weaker = failure.reason.partition("the weaker ")[2].split()[0]
    strength = {
        frozenset(hand): int(s)
        for hand, s in zip(HANDS.tolist(), hand_strengths(parse_cards("Td9d6hQc2s")), strict=True)
    }
    assert strength[frozenset(parse_cards(failure.hand))] > strength[frozenset(parse_cards(weaker))]
    assert not failures(Folder(lambda state, board: 0.3), text)  # all alike


def test_sizes_and_prices() -> None:
    sizes = 'name = "sizes"\nkind = "sizes"\nsizes = ["min", "50%", "100%", "a"]\nlines = ["~ ?"]\nboards = 1'
    cheap = 'name = "cheap"\nkind = "cheap"\nlines = ["~ 100%"]\nboards = 1\ntolerance = 0.05'
    greedy = Folder(lambda state, board: 0.9 if 0 < state.to_call < 150 else 0.2 * (state.to_call > 0))
    (failure,) = failures(greedy, sizes)
    assert all(word in failure.reason for word in ("20.0 %", "200", "90.0 %", "100"))
    assert not failures(Folder(lambda state, board: min(state.to_call / 20_000, 1)), sizes)
    assert not failures(
        Folder(lambda state, board: 0.54 * (state.to_call > 0)), cheap
    )  # a bet of the pot must work half of the time
    (failure,) = failures(Folder(lambda state, board: 0.56 * (state.to_call > 0)), cheap)
    assert (failure.line, failure.hand) == ("cc/cc/cc/r300", "")
    assert "56.0 %" in failure.reason
    assert "50.0 %" in failure.reason


# --- Shipped checks ---


def test_baselines() -> None:
    """Known by what they are: a caller calls with anything and never bets."""
    found = run_litmus(CALLER, NOLIMIT)
    failed = {verdict.check.name for verdict in found.results if verdict.failures}
    assert failed == {
        "seven-deuce does not call all chips before the flop",
        "the nuts are bet when the other has checked last",
    }
    assert {check.kind for check in shipped_checks()} == set(REQUIRED_KEYS)
    folder = {failure.check for failure in run_litmus(BaselineAgent("always-fold"), NOLIMIT).failures}
    assert {
        "aces are never folded before the flop",
        "the nuts are never folded",
        "no bet wins with any two cards",
    } <= folder


@pytest.mark.parametrize("rules", [LIMIT, LEDUC], ids=lambda rules: rules.name)
def test_other_games(rules) -> None:
    told: list[float] = []
    found = run_litmus(BaselineAgent("always-fold"), rules, progress=told.append)
    assert "the nuts are never folded" in {failure.check for failure in found.failures}
    assert told[-1] == 1.0
    aces = found.results[0]
    assert (aces.status, aces.skipped) == (
        ("failed", "") if rules is LIMIT else ("skipped", "the game has no such hands")
    )


def test_lines_of_checks() -> None:
    lines = {
        "": "",
        "2.5x 3x": "r250r750",
        "~ 75%": "cc/cc/cc/r250",
        "2.5x c / ~ c a": "r250c/cc/cc/cr20000",
        "min": "r200",
    }
    for line, wanted in lines.items():
        state = state_after(NOLIMIT, line)
        assert state is not None
        assert state.line == wanted
    assert state_after(LIMIT, "2.5x 3x").line == "rr"  # type: ignore[union-attr]
    for impossible in ("a a", "f", "a c", "c f"):
        assert state_after(NOLIMIT, impossible) is None
    check = shipped_checks()[-1]
    boards = boards_for_check(check, NOLIMIT)
    assert boards == boards_for_check(check, NOLIMIT)
    assert all(len(set(board)) == 5 for board in boards)


# --- Files ---


MISTAKES = {
    "name = 3": "name = 3",
    'name = "x"\nkind = "always"': "'always'",
    'name = "x"\nkind = "never"\nlines = [""]': "kind never needs move",
    'name = "x"\nkind = "cheap"\nlines = [""]\nmove = "fold"': "move is not valid in checks of kind cheap",
    'name = "x"\nkind = "cheap"': "lines = None",
    'name = "x"\nkind = "cheap"\nlines = ["c 3y"]': "size '3y'",
    'name = "x"\nkind = "cheap"\nlines = ["?"]': "line '?'",
    'name = "x"\nkind = "sizes"\nsizes = ["a"]\nlines = ["c"]': "line 'c'",
    'name = "x"\nkind = "sizes"\nsizes = ["big"]\nlines = ["?"]': "size 'big'",
    'name = "x"\nkind = "cheap"\nlines = ["c"]\nboards = -1': "boards = -1",
    'name = "x"\nkind = "cheap"\nlines = ["c"]\nboards = ["AsAs"]': "As",
    'name = "x"\nkind = "cheap"\nlines = ["c"]\ntolerance = 2': "tolerance = 2",
    'name = "x"\nkind = "cheap"\nlines = ["c"]\ncolour = 2': "'colour'",
    'name = "x"\nkind = "never"\nmove = "limp"\nhands = "AA"\nlines = [""]': "'limp'",
    'name = "x"\nkind = "never"\nmove = "fold"\nhands = "AX"\nlines = [""]': "any or nuts",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_invalid_checks(text: str) -> None:
    with pytest.raises(InputError) as error:
        one(text)
    assert MISTAKES[text] in str(error.value)
    assert "check 1" in str(error.value)


def test_invalid_files() -> None:
    for text in ("", "check = 3", "[check]\nname = 'x'", "[[check]]\nname='x'\n[other]"):
        with pytest.raises(InputError, match=r"checks:.*\[\[check\]\]"):
            parse_checks(text)
    twice = '[[check]]\nname = "x"\nkind = "cheap"\nlines = ["c"]\n'
    with pytest.raises(InputError, match="'x'"):
        parse_checks(twice + twice)
    theirs = parse_checks(twice.replace('"x"', '"no bet wins with any two cards"') + twice)
    both = merge_checks(shipped_checks(), theirs)
    assert len(both) == len(shipped_checks()) + 1
    assert both[len(shipped_checks()) - 1] == theirs[0]
