"""Match states of the ACPC protocol: examples of its specification, random hands there and back, and what is refused."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import Lines, MatchState, parse_match_state, settled, values
from riverboat.games.holdem.rules import Rules, read_game, shipped

NOLIMIT = read_game("nolimit-200bb")
GAMES = {name: read_game(name) for name in shipped()}
TURN = "MATCHSTATE:0:30:cc/r250c/:9s8h|/8c8d5c/6s"


def test_examples_of_the_specification() -> None:
    """Both from the protocol's specification, version 2.0.0."""
    state = parse_match_state(TURN, NOLIMIT)
    assert (state.position, state.hand, state.acting, state.over) == (0, 30, True, False)
    assert (state.hole, state.holes[1], state.board) == (parse_cards("9s8h"), (), parse_cards("8c8d5c6s"))
    assert (state.betting.street, state.betting.spent) == (2, (250, 250))
    assert str(state) == TURN
    assert state.reply("r500") == f"{TURN}:r500"
    text = "MATCHSTATE:1:31:r300r900c/r1800r3600r9000c/r20000c/:KsJs|JdTc/6dJc9c/Kh/Qc"
    state = parse_match_state(text, NOLIMIT)
    assert (state.over, state.acting, str(state)) == (True, False, text)
    # Jd Tc makes K Q J T 9, a straight, against two pairs.
    assert values(state.betting, state.holes, state.board) == (-20_000, 20_000)


def dealt(rules: Rules, position: int, hand: int, betting: Betting, source: random.Random) -> MatchState:
    """A state with random cards, as a dealer would show it."""
    pack = source.sample(rules.deck.cards.tolist(), 2 * rules.hole + sum(rules.board))
    holes = [tuple(pack[: rules.hole]), tuple(pack[rules.hole : 2 * rules.hole])]
    point = Lines(rules).at(betting.line)
    if not (point.actor == TERMINAL and betting.showdown):
        holes[1 - position] = ()
    board = pack[2 * rules.hole :][: rules.board_sizes[betting.street]]
    return MatchState(position, hand, point, (holes[0], holes[1]), tuple(board))


def random_betting(rules: Rules, source: random.Random) -> Betting:
    """A random line, of any length."""
    betting = Betting.start(rules)
    while betting.actor != TERMINAL and source.random() < 0.9:
        span = betting.raise_range()
        choices = [label for label in ("f", "c", "c", "c") if betting.legal(label)]
        if span is not None:
            choices.append("r" if rules.limit else f"r{source.randint(*span)}")
        betting = settled(betting.play(source.choice(choices)))
    return betting


@given(st.sampled_from(sorted(GAMES)), st.integers(0, 1), st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_what_is_shown_is_read_again(name: str, position: int, hand: int, source: random.Random) -> None:
    rules = GAMES[name]
    state = dealt(rules, position, hand, random_betting(rules, source), source)
    again = parse_match_state(str(state), rules)
    assert again == state
    assert str(again) == str(state)
    assert again.betting == Betting.from_line(rules, state.betting.line)
    assert again.acting == (again.betting.actor == position)


@given(st.sampled_from(sorted(GAMES)), st.randoms(use_true_random=False), st.data())
def test_a_changed_letter_is_refused_or_another_state(name: str, source: random.Random, data: st.DataObject) -> None:
    """Never the same state for two texts, and never an error but InputError."""
    rules = GAMES[name]
    text = str(dealt(rules, 0, 7, random_betting(rules, source), source))
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("0129AKQTsShdcfr/|: \r\nM-٣"))
    changed = data.draw(st.sampled_from([text[:place] + letter + text[place + 1 :], text[:place] + text[place + 1 :]]))
    try:
        state = parse_match_state(changed, rules)
    except InputError:
        return
    assert str(state) == changed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "1 fields, and 5 are needed"),
        (f"{TURN}:r500", "6 fields, and 5 are needed"),
        (TURN.lower(), "'matchstate': a match state begins with MATCHSTATE"),
        ("MATCHSTATE:2:30:cc/r250c/:9s8h|/8c8d5c/6s", "position '2': seats are 0 and 1"),
        ("MATCHSTATE:0:-3:cc/r250c/:9s8h|/8c8d5c/6s", "hand '-3': a whole number"),
        ("MATCHSTATE:0:030:cc/r250c/:9s8h|/8c8d5c/6s", "hand '030': a whole number"),
        ("MATCHSTATE:0:4294967296:cc/r250c/:9s8h|/8c8d5c/6s", "hand '4294967296': a whole number from 0 to 4294967295"),
        ("MATCHSTATE:0:30:cc/x:9s8h|/8c8d5c", "'x' (letter 4) is no move"),
        ("MATCHSTATE:0:30:cc/r50:9s8h|/8c8d5c", "illegal action 'r50' at 'cc/'"),
        ("MATCHSTATE:0:30:cc:9s8h|", "its last round is over, so a '/' follows: 'cc/'"),
        ("MATCHSTATE:0:30:r20000c:9s8h|", "so a '/' follows: 'r20000c///'"),
        ("MATCHSTATE:0:30:cc/:9s8h/8c8d5c", "divided by one '|'"),
        ("MATCHSTATE:0:30:cc/:9s8h|", "0 '/', and the betting 'cc/' has 1"),
        ("MATCHSTATE:0:30:cc/:9s8h|/8c8d5c/6s", "2 '/', and the betting 'cc/' has 1"),
        ("MATCHSTATE:0:30:cc/:9s8h|/8c8d", "flop '8c8d': 3 cards are dealt"),
        ("MATCHSTATE:0:30:cc/:9s|/8c8d5c", "hole cards '9s' of seat 0: 2 are dealt"),
        ("MATCHSTATE:0:30:cc/:9S8h|/8c8d5c", "token '9S' at position 1: no card of this game"),
        ("MATCHSTATE:0:30:cc/:9s8h|/8c8d5", "token '5' at position 5: no card of this game"),
        ("MATCHSTATE:0:30:cc/:9s8h|/8c8d9s", "token '9s' at position 11: this card is there already"),
        ("MATCHSTATE:1:30:cc/:9s8h|/8c8d5c", "those of seat 1, which looks, are missing"),
        ("MATCHSTATE:0:30:cc/:9s8h|KsKd/8c8d5c", "those of seat 1 are there, and only a showdown shows them"),
        ("MATCHSTATE:0:30:cr200f:9s8h|KsKd", "those of seat 1 are there, and only a showdown shows them"),
        (
            "MATCHSTATE:0:30:cc/cc/cc/cc:9s8h|/8c8d5c/6s/2d",
            "those of seat 1 are missing, and the hand is at its showdown",
        ),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError) as error:
        parse_match_state(text, NOLIMIT)
    assert reason in str(error.value)
    assert repr(text) in str(error.value)


def test_cards_of_a_small_deck() -> None:
    leduc = read_game("leduc")
    assert parse_match_state("MATCHSTATE:1:0:rc/:|Qs/Ah", leduc).board == parse_cards("Ah")
    with pytest.raises(InputError, match="a rank of QKA and a suit of hs"):
        parse_match_state("MATCHSTATE:1:0:rc/:|Js/Ah", leduc)


def test_a_board_before_the_first_betting_has_no_place() -> None:
    with pytest.raises(InputError, match="no place for board cards before the first betting"):
        Lines(replace(NOLIMIT, board=(1, 3, 1, 0)))


def test_lines_are_the_betting() -> None:
    """However little is kept, the points are those of the betting itself."""
    source, most = random.Random(3), 5
    for rules in GAMES.values():
        lines, small = Lines(rules), Lines(rules, most=most)
        for _ in range(50):
            point, other, betting = lines.start, small.start, Betting.start(rules)
            while betting.actor != TERMINAL:
                assert (point.betting, point.actor, other) == (betting, betting.actor, point)
                assert lines.at(betting.line) == point
                span = betting.raise_range()
                labels = [label for label in ("f", "c", "c") if betting.legal(label)]
                if span is not None:
                    labels.append("r" if rules.limit else f"r{source.choice([span.least, span.most])}")
                label = source.choice(labels)
                point, other, betting = lines.after(point, label), small.after(other, label), betting.play(label)
                while betting.actor == CHANCE:
                    betting = betting.next_street()
            assert (point.betting, point.actor, other) == (betting, TERMINAL, point)
            assert len(small._points) <= most
    with pytest.raises(InputError, match="illegal action 'f'"):
        Lines(NOLIMIT).after(Lines(NOLIMIT).at("c"), "f")


def test_values() -> None:
    board = parse_cards("8c8d5c6s2d")
    aces, kings = parse_cards("AsAd"), parse_cards("KsKd")
    showdown = Betting.from_line(NOLIMIT, "cr300c/cc/cc/cc")
    assert values(showdown, (aces, kings), board) == (300, -300)
    assert values(showdown, (kings, aces), board) == (-300, 300)
    assert values(showdown, (parse_cards("AsKd"), parse_cards("AdKs")), board) == (0, 0)
    assert values(Betting.from_line(NOLIMIT, "r500f"), (aces, kings), ()) == (-100, 100)
    assert values(Betting.from_line(NOLIMIT, "f"), (aces, kings), ()) == (50, -50)
    with pytest.raises(InputError, match="the hand is not over"):
        values(Betting.from_line(NOLIMIT, "cc/"), (aces, kings), board[:3])
