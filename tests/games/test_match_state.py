"""Match states of the ACPC protocol: examples of its specification, round trips of random hands, and invalid texts."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.matches import hand_payoffs
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import (
    BettingNodeCache,
    MatchState,
    parse_match_state,
)
from riverboat.games.holdem.rules import PokerRules, read_game, shipped_games

NOLIMIT = read_game("nolimit-200bb")
GAMES = {name: read_game(name) for name in shipped_games()}
TURN = "MATCHSTATE:0:30:cc/r250c/:9s8h|/8c8d5c/6s"


def test_examples_of_the_specification() -> None:
    """Both are from the protocol's specification, version 2.0.0."""
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
    assert hand_payoffs(state.betting, state.holes, state.board) == (-20_000, 20_000)


def dealt(rules: PokerRules, position: int, hand: int, betting: BettingState, source: random.Random) -> MatchState:
    """Return a state with random cards, as a dealer would send it."""
    pack = source.sample(rules.deck.cards.tolist(), 2 * rules.hole + sum(rules.board))
    holes = [tuple(pack[: rules.hole]), tuple(pack[rules.hole : 2 * rules.hole])]
    point = BettingNodeCache(rules).node_at(betting.line)
    if not (point.actor == TERMINAL and betting.showdown):
        holes[1 - position] = ()
    board = pack[2 * rules.hole :][: rules.board_sizes[betting.street]]
    return MatchState(position, hand, point, (holes[0], holes[1]), tuple(board))


def random_betting(rules: PokerRules, source: random.Random) -> BettingState:
    """Return a random line of any length."""
    betting = BettingState.start(rules)
    while betting.actor != TERMINAL and source.random() < 0.9:
        span = betting.raise_range()
        choices = [label for label in ("f", "c", "c", "c") if betting.find_action(label) is not None]
        if span is not None:
            choices.append("r" if rules.limit else f"r{source.randint(*span)}")
        betting = betting.play(betting.parse_action(source.choice(choices)))
    return betting


@given(st.sampled_from(sorted(GAMES)), st.integers(0, 1), st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_states_round_trip(name: str, position: int, hand: int, source: random.Random) -> None:
    rules = GAMES[name]
    state = dealt(rules, position, hand, random_betting(rules, source), source)
    again = parse_match_state(str(state), rules)
    assert again == state
    assert str(again) == str(state)
    assert again.betting == BettingState.from_line(rules, state.betting.line)
    assert again.acting == (again.betting.actor == position)


@given(st.sampled_from(sorted(GAMES)), st.randoms(use_true_random=False), st.data())
def test_a_changed_character_is_rejected_or_another_state(
    name: str, source: random.Random, data: st.DataObject
) -> None:
    """Different texts never give the same state, and errors are always InputErrors."""
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
        ("", "1 fields"),
        (f"{TURN}:r500", "6 fields"),
        (TURN.lower(), "'matchstate': "),
        ("MATCHSTATE:2:30:cc/r250c/:9s8h|/8c8d5c/6s", "position '2': "),
        ("MATCHSTATE:0:-3:cc/r250c/:9s8h|/8c8d5c/6s", "hand '-3': "),
        ("MATCHSTATE:0:030:cc/r250c/:9s8h|/8c8d5c/6s", "hand '030': "),
        ("MATCHSTATE:0:4294967296:cc/r250c/:9s8h|/8c8d5c/6s", "hand '4294967296': "),
        ("MATCHSTATE:0:30:cc/x:9s8h|/8c8d5c", "'x' (letter 4)"),
        ("MATCHSTATE:0:30:cc/r50:9s8h|/8c8d5c", "illegal action 'r50' at 'cc/'"),
        ("MATCHSTATE:0:30:cc:9s8h|", "line 'cc': "),
        ("MATCHSTATE:0:30:r20000c:9s8h|", "'r20000c///'"),
        ("MATCHSTATE:0:30:cc/:9s8h/8c8d5c", "'9s8h/8c8d5c': "),
        ("MATCHSTATE:0:30:cc/:9s8h|", "0 '/', and the betting 'cc/' has 1"),
        ("MATCHSTATE:0:30:cc/:9s8h|/8c8d5c/6s", "2 '/', and the betting 'cc/' has 1"),
        ("MATCHSTATE:0:30:cc/:9s8h|/8c8d", "flop '8c8d': 3"),
        ("MATCHSTATE:0:30:cc/:9s|/8c8d5c", "hole cards '9s' of seat 0: 2"),
        ("MATCHSTATE:0:30:cc/:9S8h|/8c8d5c", "token '9S' at position 1: "),
        ("MATCHSTATE:0:30:cc/:9s8h|/8c8d5", "token '5' at position 5: "),
        ("MATCHSTATE:0:30:cc/:9s8h|/8c8d9s", "token '9s' at position 11: "),
        ("MATCHSTATE:1:30:cc/:9s8h|/8c8d5c", "cards '9s8h|/8c8d5c': those of seat 1"),
        ("MATCHSTATE:0:30:cc/:9s8h|KsKd/8c8d5c", "cards '9s8h|KsKd/8c8d5c': those of seat 1"),
        ("MATCHSTATE:0:30:cr200f:9s8h|KsKd", "cards '9s8h|KsKd': those of seat 1"),
        (
            "MATCHSTATE:0:30:cc/cc/cc/cc:9s8h|/8c8d5c/6s/2d",
            "cards '9s8h|/8c8d5c/6s/2d': those of seat 1",
        ),
    ],
)
def test_invalid_states(text: str, reason: str) -> None:
    with pytest.raises(InputError) as error:
        parse_match_state(text, NOLIMIT)
    assert reason in str(error.value)
    assert repr(text) in str(error.value)


def test_cards_of_a_small_deck() -> None:
    leduc = read_game("leduc")
    assert parse_match_state("MATCHSTATE:1:0:rc/:|Qs/Ah", leduc).board == parse_cards("Ah")
    with pytest.raises(InputError, match=r"token 'Js'.* QKA .* hs"):
        parse_match_state("MATCHSTATE:1:0:rc/:|Js/Ah", leduc)


def test_board_cards_before_the_first_round_are_rejected() -> None:
    with pytest.raises(InputError, match=r"board=\(1, 3, 1, 0\)"):
        BettingNodeCache(replace(NOLIMIT, board=(1, 3, 1, 0)))


def test_cached_nodes_agree_with_the_betting() -> None:
    """For any size of the cache, its nodes are the states of the betting itself."""
    source, most = random.Random(3), 5
    for rules in GAMES.values():
        lines, small = BettingNodeCache(rules), BettingNodeCache(rules, max_nodes=most)
        for _ in range(50):
            point, other, betting = lines.start, small.start, BettingState.start(rules)
            while betting.actor != TERMINAL:
                assert (point.betting, point.actor, other) == (betting, betting.actor, point)
                assert lines.node_at(betting.line) == point
                span = betting.raise_range()
                labels = [label for label in ("f", "c", "c") if betting.find_action(label) is not None]
                if span is not None:
                    labels.append("r" if rules.limit else f"r{source.choice([span.least, span.most])}")
                label = source.choice(labels)
                point, other, betting = (
                    lines.node_after(point, label),
                    small.node_after(other, label),
                    betting.apply_action(betting.parse_action(label)),
                )
                while betting.actor == CHANCE:
                    betting = betting.next_street()
            assert (point.betting, point.actor, other) == (betting, TERMINAL, point)
            assert len(small._nodes) <= most
    with pytest.raises(InputError, match="illegal action 'f'"):
        BettingNodeCache(NOLIMIT).node_after(BettingNodeCache(NOLIMIT).node_at("c"), "f")


def test_payoffs() -> None:
    board = parse_cards("8c8d5c6s2d")
    aces, kings = parse_cards("AsAd"), parse_cards("KsKd")
    showdown = BettingState.from_line(NOLIMIT, "cr300c/cc/cc/cc")
    assert hand_payoffs(showdown, (aces, kings), board) == (300, -300)
    assert hand_payoffs(showdown, (kings, aces), board) == (-300, 300)
    assert hand_payoffs(showdown, (parse_cards("AsKd"), parse_cards("AdKs")), board) == (0, 0)
    assert hand_payoffs(BettingState.from_line(NOLIMIT, "r500f"), (aces, kings), ()) == (-100, 100)
    assert hand_payoffs(BettingState.from_line(NOLIMIT, "f"), (aces, kings), ()) == (50, -50)
