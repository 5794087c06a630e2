"""`riverboat play` and `riverboat act` in the terminal."""

import io
import json
import re

import numpy as np
import pytest

import riverboat as rb
from random_blueprints import random_blueprint
from reference.matches import hand_payoffs
from riverboat.agents.registry import make_agent
from riverboat.cards.notation import parse_cards
from riverboat.cli import play as play_commands
from riverboat.cli.matches import reviews
from riverboat.core.errors import InputError
from riverboat.formats.hand_files import write_hands
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import read_game
from riverboat.strategies.blueprint import save_blueprint

NOLIMIT, LIMIT, KUHN, LEDUC = (read_game(name) for name in ("nolimit-200bb", "limit", "kuhn", "leduc"))


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    return str(save_blueprint(random_blueprint("leduc"), tmp_path_factory.mktemp("runs") / "leduc"))


@pytest.fixture
def play(capsys):
    """A function that plays typed lines and returns the chips won and the output."""

    def call(name, typed, **options):
        won = play_commands.play(name, **({"seed": 1} | options), input_lines=io.StringIO(typed))
        return won, capsys.readouterr().out

    return call


# --- Typed moves ---


@pytest.mark.parametrize(
    ("line", "typed", "label"),
    [
        ("", "f", "f"),
        ("", "fold", "f"),
        ("", "call", "c"),
        ("c", "check", "c"),
        ("c", "x", "c"),
        ("", "r300", "r300"),
        ("", "raise to 300", "r300"),
        ("", "raise 0300", "r300"),
        ("cr300c/", "r450", "r450"),  # total for the hand
        ("cr300c/", "b150", "r450"),  # on this street
        ("cr300c/", "bet 150", "r450"),
        ("cr300c/", "pot", "r900"),  # a pot of 600 on top of 300
        ("cr300c/", "half", "r600"),
        ("cr300c/", "b 75%", "r750"),
        ("cr300c/r600", "2.5x", "r1050"),  # 2.5 times the 300 of this street
        ("cr300c/r600", "50%", "r1200"),  # half of 1,200 on top of the call
        ("cr300c/r600", "1%", "r900"),  # the minimum raise
        ("", "min", "r200"),
        ("", "a", "r20000"),
        ("", "all-in", "r20000"),
        ("", "900%", "r1900"),
        ("", "99999%", "r20000"),
    ],
)
def test_typed_moves(line, typed, label):
    assert play_commands.parse_typed_move(typed, BettingState.from_line(NOLIMIT, line)) == label


def test_typed_moves_in_limit_games():
    state = BettingState.start(LIMIT)
    assert [play_commands.parse_typed_move(word, state) for word in ("r", "raise", "b", "c", "f")] == [
        "r",
        "r",
        "r",
        "c",
        "f",
    ]
    assert play_commands.parse_typed_move("bet", BettingState.from_line(LIMIT, "cc/")) == "r"
    with pytest.raises(InputError, match="'pot'"):
        play_commands.parse_typed_move("pot", state)


@pytest.mark.parametrize(
    ("line", "typed", "reason"),
    [
        ("c", "f", "'f'"),
        ("", "r150", "200-20000"),
        ("", "r20001", "200-20000"),
        ("", "hello", "'hello'"),
        ("", "0%", "0%"),
        ("cc/", "2x", "2x"),
        ("r20000", "a", "'a'"),
        ("r20000", "pot", "'pot'"),
    ],
)
def test_invalid_moves(line, typed, reason):
    with pytest.raises(InputError, match=reason):
        play_commands.parse_typed_move(typed, BettingState.from_line(NOLIMIT, line))


@pytest.mark.parametrize(
    ("rules", "line", "typed", "legal"),
    [
        (NOLIMIT, "", "x", {"f", "c", "r200"}),  # 50 to call
        (NOLIMIT, "", "k", {"f", "c", "r200"}),
        (NOLIMIT, "cc/r300", "check", {"f", "c", "r500"}),
        (NOLIMIT, "cc/cr20000", "x", {"f", "c"}),  # all-in: nobody can raise
        (NOLIMIT, "c", "call", {"c", "r200"}),  # nothing to call
        (NOLIMIT, "cc/", "call", {"c", "r200"}),
        (NOLIMIT, "cc/r300", "bet 900", {"f", "c", "r500"}),
        (NOLIMIT, "cc/r300", "bet 75%", {"f", "c", "r500"}),
        (NOLIMIT, "cc/", "raise to 300", {"c", "r200"}),
        (NOLIMIT, "cc/", "raise 50%", {"c", "r200"}),
        (LIMIT, "", "check", {"f", "c", "r"}),
        (LIMIT, "", "bet", {"f", "c", "r"}),
        (LIMIT, "cc/", "raise", {"c", "r"}),
        (KUHN, "r", "x", {"f", "c"}),
    ],
)
def test_words_for_unavailable_moves_are_rejected(rules, line, typed, legal):
    """`check` facing a bet is not a call: the legal moves are listed, and nothing is played."""
    state = BettingState.from_line(rules, line)
    with pytest.raises(InputError) as error:
        play_commands.parse_typed_move(typed, state)
    message = str(error.value)
    assert typed in message
    assert {part.split()[0] for part in message.partition("legal here: ")[2].split(", ")} - {"total"} == legal
    assert play_commands.parse_typed_move("c", state) == "c"  # `c` means both check and call


@pytest.mark.parametrize(
    ("rules", "line", "label", "words"),
    [
        (NOLIMIT, "", "f", "fold"),
        (NOLIMIT, "", "c", "call 50"),
        (NOLIMIT, "c", "c", "check"),
        (NOLIMIT, "c", "r300", "raise to 300"),
        (NOLIMIT, "cr300c/", "r450", "bet 150"),
        (NOLIMIT, "cr300c/r450", "r900", "raise to 600"),
        (NOLIMIT, "r20000", "c", "call 19,900 (all-in)"),
        (NOLIMIT, "", "r20000", "raise to 20,000 (all-in)"),
        (KUHN, "", "r", "bet 1"),
        (LEDUC, "r", "r", "raise to 5"),  # an ante of 1 and two times 2
    ],
)
def test_descriptions_of_moves(rules, line, label, words):
    assert play_commands.describe_action(label, BettingState.from_line(rules, line)) == words


# --- Sessions ---


def test_folding_loses_the_blind(play):
    won, shown = play("always-call", "f\n" * 10, hands=1, game="nolimit-200bb")
    assert won == -50
    assert "you lose 50" in shown
    assert "-50 chips in 1 hand, -500 mbb/g" in shown
    assert "f fold, c call 50, r200 to r20000 raise, total for the hand > f" in shown


def test_a_hand_to_its_showdown_is_paid_by_the_cards(play):
    won, shown = play("always-call", "c\n" * 100, hands=6)
    assert shown.count("showdown: ") == 6
    total = 0
    deals = re.findall(
        r"hand (\d): you have (\w\w) (\w\w);.*?showdown: ([\w ]+), pot 200.*?always-call has (\w\w) (\w\w)",
        shown,
        re.DOTALL,
    )
    assert len(deals) == 6
    for number, *mine, board, first, second in deals:
        you = int(number) % 2  # dealer in the first hand
        holes = [parse_cards("".join(mine)), parse_cards(first + second)]
        end = BettingState.from_line(NOLIMIT, "cc/cc/cc/cc")
        total += hand_payoffs(end, (holes[you], holes[1 - you]), parse_cards(board))[you]
    assert won == total
    assert f"{won:+,} chips in 6 hands" in shown


def test_invalid_moves_are_asked_again(play):
    won, shown = play("always-fold", "what\n?\n\nr150\npot\n", hands=1)
    assert won == 100
    assert "'what'" in shown
    assert play_commands.HELP_TEXT in shown
    assert "200-20000" in shown
    assert "always-fold folds" in shown
    assert "you win 100" in shown


@pytest.mark.parametrize("typed", ["c\nc\nq\n", "c\nc\n", "c\nQuit\n"])
def test_leaving_in_the_middle_of_a_hand(play, typed):
    won, shown = play("always-call", typed)
    assert won == 0
    assert "--seed 1" in shown


def test_seeds(play):
    first = play("random", "c\n" * 300, hands=8, seed=5)
    assert first == play("random", "c\n" * 300, hands=8, seed=5)
    assert first != play("random", "c\n" * 300, hands=8, seed=6)


def test_blueprints_play_their_own_game(play, leduc):
    won, shown = play(leduc, "c\n" * 200, hands=20)
    assert "leduc against" in shown
    assert "in 20 hands" in shown
    assert f"{won:+,} chips" in shown
    with pytest.raises(InputError, match="'leduc'"):
        play(leduc, "", game="nolimit-200bb")


def test_the_agent_sees_no_card_of_the_person(play, monkeypatch):
    """All cards that the agent sees are its own or already on the board."""
    seen = []

    class Watcher:
        name = "watcher"

        def check_rules(self, rules):
            pass

        def act(self, views):
            seen.append(views.match_state(0))
            return np.zeros(len(views), np.int32)

    monkeypatch.setattr(play_commands, "make_agent", lambda name, seed: Watcher())
    _, shown = play("watcher", "c\n" * 30, hands=2)
    mine = re.findall(r"you have (\w\w) (\w\w);", shown)
    assert len(seen) == 8
    for state in seen:
        number = int(state.split(":")[2])
        assert not any(card in state.split(":")[4] for card in mine[number])
    assert [state.split(":")[1] for state in seen] == ["0"] * 4 + ["1"] * 4


def test_an_agent_that_breaks_the_rules_is_named(play, monkeypatch):
    class Broken:
        name = "broken"

        def check_rules(self, rules):
            pass

        def act(self, views):
            return np.full(len(views), 101, np.int32)

    monkeypatch.setattr(play_commands, "make_agent", lambda name, seed: Broken())
    with pytest.raises(InputError, match=r"agent 'broken', MATCHSTATE:0:0:c:.*illegal action 'r101'"):
        play("broken", "c\n")


def test_what_cannot_be_played(play):
    with pytest.raises(InputError, match="hands=0"):
        play("random", "", hands=0)
    with pytest.raises(InputError, match="agent"):
        play("randon", "")


# --- act ---


def test_act_gives_probabilities_and_the_move(leduc, capsys):
    state = "MATCHSTATE:0:3:cr:Ks|"
    play_commands.act(leduc, state, seed=2, json=True)
    found = json.loads(capsys.readouterr().out)
    right = random_blueprint("leduc").hand_probabilities("cr", "Ks")
    assert found["probabilities"] == pytest.approx({label: p for label, p in right.items() if p > 0})
    agent = make_agent(leduc, 2)
    assert found["action"] == format_action(int(agent.act(Observations.from_match_state(state, LEDUC))[0]), LEDUC)
    assert found["reply"] == f"{state}:{found['action']}"
    assert (found["pot"], found["to_call"], found["game"]) == (4, 2, "leduc")
    play_commands.act(leduc, state, seed=2)
    shown = capsys.readouterr().out
    assert f"{found['probabilities']['c']:.4f}" in shown
    assert shown.splitlines()[-1].startswith(f"{found['action']}: ")
    assert shown.count("<- ") == 1


def test_act_with_baseline_agents(capsys):
    play_commands.act("always-raise", "MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["action"], found["probabilities"]) == ("r400", {"r400": 1})
    play_commands.act("random", "MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c")
    shown = capsys.readouterr().out
    rows = [" ".join(row.split()) for row in shown.splitlines()]
    assert rows[1].partition(" <- ")[0] == "c 0.5000 check"
    assert rows[2] == "… 0.5000 19,601 other moves"  # r400 to r20000


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("MATCHSTATE:1:30:cr300c/:|9s8h/8c8d5c", "seat 1"),
        ("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d", "3"),
        ("hello", "hello"),
    ],
)
def test_invalid_match_states(state, reason):
    with pytest.raises(InputError, match=reason):
        play_commands.act("random", state)


# --- Saved sessions ---


@pytest.fixture(scope="module")
def river(tmp_path_factory):
    """A solved river."""
    folder = tmp_path_factory.mktemp("runs") / "river"
    rb.solve(
        rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=200, oop="AA,77", ip="QQ,88", bets="50%"),
        iterations=20,
        out=folder,
    )
    return str(folder)


def test_playing_against_a_solved_spot(river, play):
    won, text = play(river, "b33\nx\n" + "c\n" * 9, hands=1, seat="oop")
    assert "river Td 9d 6h Qc 2s, pot 100, you are oop" in text
    assert re.search(r"'b33': .*c, r50", text)
    assert f"{won:+,} chips in 1 hand" in text
    assert "% of the pot" in text


def test_session_is_resumed_and_reviewed(river, play, tmp_path):
    out = tmp_path / "evening.json"
    _, text = play(river, "c\n" * 3 + "q\n", out=out)
    assert f"--out {out} --resume" in text
    _, text = play(river, "c\n" * 30, out=out, resume=True, hands=6, review=True)
    assert text.count("EV lost") >= 6
    assert re.search(r"as played: [+-][\d,]+ ± [\d,]+ % of the pot", text)


def test_invalid_session_options(river, play, tmp_path):
    for options, said in [
        ({"seat": "dealer"}, "--seat 'dealer'"),
        ({"resume": True}, "--out"),
        ({"resume": True, "out": tmp_path / "no.json"}, "no.json"),
        ({"histories": "x.phh"}, "FILE.phhs"),
    ]:
        with pytest.raises(InputError, match=said):
            play(river, "q\n", **options)


def test_review_of_decisions_in_a_file(river, tmp_path, capsys):
    rb.match(
        "rule-based", "always-call", hands=4, seed=2, observe=lambda hands: write_hands(tmp_path / "m.phhs", hands)
    )
    reviews.review(tmp_path / "m.phhs", player="rule-based", judge="always-call", worst=2, json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["decisions"] == sum(len(hand["decisions"]) for hand in told["hands"]) > 0
    assert told["ev_lost"] == pytest.approx(sum(d["ev_lost"] or 0 for h in told["hands"] for d in h["decisions"]))
    with pytest.raises(InputError, match="'nobody'"):
        reviews.review(tmp_path / "m.phhs", player="nobody", judge="always-call", worst=2, json=True)
