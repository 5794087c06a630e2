"""Litmus: every kind of check finds who is made to fail it, and says where; files with mistakes are refused."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.agents.baselines import Yardstick
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.notation import parse_cards, show_cards
from riverboat.cards.ranking import hand_strengths
from riverboat.core.errors import InputError
from riverboat.evaluation.litmus import boards_of, litmus, state_after
from riverboat.evaluation.litmus_checks import KINDS, joined, parse_checks, shipped_checks
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.public_strategy import Strategies

NOLIMIT, LIMIT, LEDUC = (read_game(name) for name in ("nolimit-200bb", "limit", "leduc"))
CALLER = Yardstick("always-call")
HANDS = FULL_DECK.hands


class Folder:
    """Calls, and folds as often as a rule says: rule(state, board) -> float64 [hands]."""

    name = "folder"

    def __init__(self, rule) -> None:
        self.rule = rule

    def strategies(self, places, draw=None):
        moves = np.tile(np.array([-1, 0], np.int32), (len(places), 1))
        folds = np.stack(
            [np.broadcast_to(self.rule(places.betting(i), places.shown(i)), 1326) for i in range(len(places))]
        )
        chances = np.stack([folds, 1 - folds], axis=2) * places.live[:, :, None]
        return Strategies(places, places.actor, moves, chances)


def one(text: str):
    return parse_checks(f"[[check]]\n{text}")


def failures(agent, text: str, rules=NOLIMIT):
    found = litmus(agent, rules, one(text))
    assert found.checks == 1
    return found.failures


# --- what is found ----------------------------------------------------------------------------


NO_ACES = 'name = "aces"\nkind = "never"\nmove = "fold"\nhands = "AA"\nlines = ["2.5x", "c 3x"]\ntolerance = 0.1'


def test_never_finds_the_hand_and_the_place() -> None:
    aces = (HANDS >> 2 == 12).all(axis=1)
    assert not failures(CALLER, NO_ACES)
    assert not failures(Folder(lambda state, board: 0.1 * aces), NO_ACES)  # as often as is allowed
    found = failures(Folder(lambda state, board: 0.4 * aces * (state.turn == 1)), NO_ACES)
    (failure,) = found
    assert (failure.line, failure.board) == ("cr300", "")
    assert set(failure.hand[0::2]) == {"A"}
    assert failure.probabilities == pytest.approx({"fold": 0.4, "call": 0.6, "raise": 0.0})
    assert "folds 40.0 % of the time, and so do 5 other hands" in failure.reason
    state = parse_match_state(failure.match_state, NOLIMIT)
    assert state.acting
    assert show_cards(sorted(state.hole, reverse=True)) == failure.hand


def test_hands_that_never_get_there_are_not_asked() -> None:
    """Who folds aces at once cannot fold them again."""
    aces = (HANDS >> 2 == 12).all(axis=1)
    later = NO_ACES.replace('["2.5x", "c 3x"]', '["c 3x"]')  # the caller of the blind is the one who is raised
    never = Folder(lambda state, board: aces * 1.0)
    assert litmus(never, NOLIMIT, one(later)).failed == 0
    free = 'name = "x"\nkind = "never"\nmove = "call"\nhands = "any"\nlines = ["f"]'
    assert litmus(CALLER, NOLIMIT, one(free)).verdicts[0].skipped == "no such place in this game"


def test_a_fold_where_a_check_is_free() -> None:
    text = 'name = "free"\nkind = "never"\nmove = "fold"\nhands = "any"\nlines = ["~ c"]\nboards = 2'
    assert not failures(CALLER, text)
    assert len(failures(Folder(lambda state, board: 0.5 if len(board) == 5 else 0.0), text)) == 2


def test_the_nuts() -> None:
    text = 'name = "nuts"\nkind = "never"\nmove = "fold"\nhands = "nuts"\nlines = ["~ 75%"]\nboards = ["Td9d6hQc2s"]'

    def all_but_kings(state: Betting, board) -> np.ndarray:
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
    assert "AA checks or calls 50.0 % of the time, 72o 100.0 %" in failure.reason


def test_a_stronger_hand_that_folds_more_often() -> None:
    text = 'name = "order"\nkind = "monotone"\nlines = ["~ 75%"]\nboards = ["Td9d6hQc2s"]\ntolerance = 0.05'

    def by_strength(sign: int):
        def rule(state: Betting, board) -> np.ndarray:
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
    assert "folds 20.0 % of all hands to a bet of 200, but 90.0 % to one of 100" in failure.reason
    assert not failures(Folder(lambda state, board: min(state.to_call / 20_000, 1)), sizes)
    assert not failures(Folder(lambda state, board: 0.54 * (state.to_call > 0)), cheap)  # a pot needs one half
    (failure,) = failures(Folder(lambda state, board: 0.56 * (state.to_call > 0)), cheap)
    assert (failure.line, failure.hand) == ("cc/cc/cc/r300", "")
    assert "folds 56.0 % of all hands to a bet that needs 50.0 %" in failure.reason


# --- the checks of the package ------------------------------------------------------------------


def test_yardsticks() -> None:
    """Known by what they are: a caller calls with anything and never bets."""
    found = litmus(CALLER, NOLIMIT)
    failed = {verdict.check.name for verdict in found.verdicts if verdict.failures}
    assert failed == {
        "seven-deuce does not call all chips before the flop",
        "the nuts are bet when the other has checked last",
    }
    assert {check.kind for check in shipped_checks()} == set(KINDS)
    folder = {failure.check for failure in litmus(Yardstick("always-fold"), NOLIMIT).failures}
    assert {
        "aces are never folded before the flop",
        "the nuts are never folded",
        "no bet wins with any two cards",
    } <= folder


@pytest.mark.parametrize("rules", [LIMIT, LEDUC], ids=lambda rules: rules.name)
def test_other_games(rules) -> None:
    told: list[float] = []
    found = litmus(Yardstick("always-fold"), rules, progress=told.append)
    assert "the nuts are never folded" in {failure.check for failure in found.failures}
    assert told[-1] == 1.0
    aces = found.verdicts[0]
    assert (aces.word, aces.skipped) == (
        ("failed", "") if rules is LIMIT else ("skipped", "no such hands in this game")
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
    boards = boards_of(check, NOLIMIT)
    assert boards == boards_of(check, NOLIMIT)
    assert all(len(set(board)) == 5 for board in boards)


# --- files ------------------------------------------------------------------------------------


MISTAKES = {
    "name = 3": "name = 3: must be a text",
    'name = "x"\nkind = "always"': "unknown kind 'always'",
    'name = "x"\nkind = "never"\nlines = [""]': "a check of kind never needs move",
    'name = "x"\nkind = "cheap"\nlines = [""]\nmove = "fold"': "move is not for checks of kind cheap",
    'name = "x"\nkind = "cheap"': "lines = None: must be a list",
    'name = "x"\nkind = "cheap"\nlines = ["c 3y"]': "size '3y'",
    'name = "x"\nkind = "cheap"\nlines = ["?"]': "one ? stands for the size",
    'name = "x"\nkind = "sizes"\nsizes = ["a"]\nlines = ["c"]': "one ? stands for the size",
    'name = "x"\nkind = "sizes"\nsizes = ["big"]\nlines = ["?"]': "size 'big'",
    'name = "x"\nkind = "cheap"\nlines = ["c"]\nboards = -1': "boards = -1",
    'name = "x"\nkind = "cheap"\nlines = ["c"]\nboards = ["AsAs"]': "As",
    'name = "x"\nkind = "cheap"\nlines = ["c"]\ntolerance = 2': "tolerance = 2: must be a probability",
    'name = "x"\nkind = "cheap"\nlines = ["c"]\ncolour = 2': "unknown entry 'colour'",
    'name = "x"\nkind = "never"\nmove = "limp"\nhands = "AA"\nlines = [""]': "unknown move 'limp'",
    'name = "x"\nkind = "never"\nmove = "fold"\nhands = "AX"\nlines = [""]': "or write any or nuts",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_refused_by_name(text: str) -> None:
    with pytest.raises(InputError) as error:
        one(text)
    assert MISTAKES[text] in str(error.value)
    assert "check 1" in str(error.value)


def test_files_that_are_none() -> None:
    for text in ("", "check = 3", "[check]\nname = 'x'", "[[check]]\nname='x'\n[other]"):
        with pytest.raises(InputError, match="a file of checks has"):
            parse_checks(text)
    twice = '[[check]]\nname = "x"\nkind = "cheap"\nlines = ["c"]\n'
    with pytest.raises(InputError, match="two checks are named 'x'"):
        parse_checks(twice + twice)
    theirs = parse_checks(twice.replace('"x"', '"no bet wins with any two cards"') + twice)
    both = joined(shipped_checks(), theirs)
    assert len(both) == len(shipped_checks()) + 1
    assert both[len(shipped_checks()) - 1] == theirs[0]
