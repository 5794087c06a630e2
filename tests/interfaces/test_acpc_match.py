"""Matches over TCP: whole ones, the log played again, what is given wrong, and the command. All on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.acpc_players import LIMIT, NAMES, NOLIMIT, Match, call, client, drawn, least_raise, raw

from processes import Processes
from reference.acpc_log import play_log
from riverboat.acpc.dealer import LOOPBACK, Limits, deals, listen, port_of, run_match
from riverboat.cards.ranking import rank
from riverboat.cli import acpc
from riverboat.core.errors import InputError, RiverboatError
from riverboat.formats.acpc_log import check_names, parse_log, read_log, replay
from riverboat.games.holdem.match_state import MatchState, values
from riverboat.games.holdem.rules import read_game

GAMES = ("nolimit-200bb", "limit", "kuhn", "leduc", "bench-3x20")


# --- whole matches ----------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_a_match_and_its_log(game: str, tmp_path: Path) -> None:
    rules, hands, log = read_game(game), 120, tmp_path / "match.log"
    seen: list[list[MatchState]] = [[], []]
    match = Match(
        rules,
        hands,
        *(client(rules, drawn(k), watch=seen[k].append) for k in (0, 1)),
        log=log,
    )
    result = match.result
    assert (result.complete, result.faults, result.replaced, result.ignored) == (True, [], [0, 0], [0, 0])
    assert [played.finished and played.hands for played in match.returned] == [hands, hands]
    read = read_log(log)  # the game is in its first line
    assert (read.rules, len(read.hands), read.players, read.score) == (rules, hands, NAMES, result.score)
    assert replay(read) == result.score
    # The same by a plain reader of such logs.
    assert play_log(log.read_text(), rules) == dict(zip(NAMES, result.score, strict=True))
    # What is read is written again.
    assert [str(hand) for hand in read.hands] == [x for x in log.read_text().splitlines() if x.startswith("STATE")]
    # Seats change, and each player was shown the hands of the log: to the end, and what the seat may know.
    for k in (0, 1):
        ends = [state for state in seen[k] if state.over]
        assert [state.hand for state in ends] == list(range(hands))
        for state, hand in zip(ends, read.hands, strict=True):
            assert (state.position, hand.names[state.position]) == ((k + state.hand) % 2, NAMES[k])
            assert (state.betting, state.board, state.hole) == (hand.betting, hand.board, hand.holes[state.position])
            if hand.betting.showdown:
                assert values(state.betting, state.holes, state.board) == hand.won
            else:
                assert not state.holes[1 - state.position]


@pytest.mark.parametrize("game", ["nolimit-200bb", "leduc"])
def test_a_log_dealt_again_is_the_same_log(game: str, tmp_path: Path) -> None:
    """Players who repeat the moves of a log, and a dealer with its seed, write the log again, byte by byte."""
    rules = read_game(game)
    first, second = tmp_path / "first.log", tmp_path / "second.log"
    Match(rules, 60, client(rules, drawn(1)), client(rules, drawn(2)), log=first)
    lines = [hand.betting.line for hand in read_log(first).hands]

    def repeat(state: MatchState) -> str:
        rest = lines[state.hand][len(state.betting.line) :].lstrip("/")
        label = rest[0]
        if label == "r" and not rules.limit:
            label += "".join(c for c in rest[1:].replace("c", " ").replace("f", " ").replace("r", " ").split(" ")[0])
        return label

    Match(rules, 60, client(rules, repeat), client(rules, repeat), log=second)
    assert second.read_bytes() == first.read_bytes()


def test_states_are_sent_to_both_after_every_move() -> None:
    """By hand: two calls in Kuhn poker."""
    kuhn = read_game("kuhn")
    match = Match(kuhn, 1, *(raw(kuhn, lambda player, state: player.say(state.reply("c"))) for _ in (0, 1)))
    deal = next(deals(kuhn, 7))
    both, mine, theirs = "|".join(deal.holes), f"{deal.holes[0]}|", f"|{deal.holes[1]}"
    assert match.returned[0] == [f"MATCHSTATE:0:0:{x}" for x in (f":{mine}", f"c:{mine}", f"cc:{both}")]
    assert match.returned[1] == [f"MATCHSTATE:1:0:{x}" for x in (f":{theirs}", f"c:{theirs}", f"cc:{both}")]


def test_cards_are_those_of_the_seed() -> None:
    first = [deal for deal, _ in zip(deals(NOLIMIT, 3), range(2500), strict=False)]
    assert first == [deal for deal, _ in zip(deals(NOLIMIT, 3), range(2500), strict=False)]
    assert first != [deal for deal, _ in zip(deals(NOLIMIT, 4), range(2500), strict=False)]
    twice = [deal for deal, _ in zip(deals(NOLIMIT, 3, duplicate=True), range(5000), strict=False)]
    assert twice[0::2] == twice[1::2] == first
    for deal in first[:200]:
        board = deal.boards[-1].replace("/", "")
        ranks = [rank(hole + board) for hole in deal.holes]
        assert deal.better == (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
        cards = deal.holes[0] + deal.holes[1] + board
        assert len({cards[k : k + 2] for k in range(0, 18, 2)}) == 9
        assert [text.count("/") for text in deal.boards] == [0, 1, 2, 3]


def test_every_card_is_dealt_as_often() -> None:
    """Chi-square over the first card of each seat: 51 degrees of freedom, 99.99 % of them below 102."""
    for seat in (0, 1):
        counts: dict[str, int] = {}
        for deal, _ in zip(deals(NOLIMIT, 5), range(10_000), strict=False):
            name = deal.holes[seat][:2]
            counts[name] = counts.get(name, 0) + 1
        expected = 10_000 / 52
        assert len(counts) == 52
        assert sum((count - expected) ** 2 / expected for count in counts.values()) < 102


def test_a_duplicate_match_of_equals_is_even(tmp_path: Path) -> None:
    """Players who do the same with the same cards win nothing from each other, hand by hand."""
    match = Match(
        NOLIMIT, 200, client(NOLIMIT, call), client(NOLIMIT, call), duplicate=True, log=tmp_path / "duplicate.log"
    )
    won = np.array(match.result.won)
    assert won[0::2].any()
    assert (won[0::2] + won[1::2] == 0).all()
    facts = acpc.report(match.result, 100, 200, 7, duplicate=True)
    assert (facts["mbb_per_game"], facts["ci95"]) == (0, 0)
    hands = read_log(tmp_path / "duplicate.log").hands
    assert all(a.holes == b.holes and a.names == b.names[::-1] for a, b in zip(hands[::2], hands[1::2], strict=True))


def test_exchanged_players_of_one_seed_are_a_duplicate_match() -> None:
    there = Match(LIMIT, 100, client(LIMIT, call), client(LIMIT, least_raise)).result
    back = Match(LIMIT, 100, client(LIMIT, least_raise), client(LIMIT, call)).result
    assert there.score[0] == -there.score[1]
    # Neither looks at its cards, so what the caller wins in one match it loses in the other.
    assert there.score[0] == -back.score[1]


def test_the_longest_line() -> None:
    """199 least raises of a no-limit hand fit."""
    match = Match(NOLIMIT, 2, client(NOLIMIT, least_raise), client(NOLIMIT, least_raise))
    assert match.result.complete
    assert match.returned[0].decisions + match.returned[1].decisions == 2 * 200


# --- what is given wrong ----------------------------------------------------------------------


def test_ports() -> None:
    one, two = listen()
    with one, two:
        with pytest.raises(InputError, match="give others, or 0 for free ones"):
            listen((0, port_of(one)))
        assert one.getsockname()[0] == "127.0.0.1"
    for wrong in ((1,), (0, 70_000), (-1, 0)):
        with pytest.raises(InputError, match="two from 1 to 65535"):
            listen(wrong)


@pytest.mark.parametrize(
    "names", [("a", "a"), ("a:b", "c"), ("", "c"), ("a|b", "c"), ("a b", "c"), ("a\n", "c"), ("a",)]
)
def test_names(names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="player name"):
        check_names(names)


def test_options_of_a_match(tmp_path: Path) -> None:
    for wrong, reason in (({"hands": 0}, "0 hands"), ({"seed": -1}, "seed -1"), ({"log": tmp_path}, "is a directory")):
        listening = listen()
        given: dict[str, Any] = {"hands": 1, "seed": 0} | wrong
        with pytest.raises(RiverboatError, match=reason):
            run_match(LIMIT, listening=listening, **given)
        for listener in listening:
            listener.close()
    with pytest.raises(InputError, match="time limit answer=-1"):
        Limits(answer=-1)


# --- logs -------------------------------------------------------------------------------------

LOG = """\
# name/game/hands/seed match nolimit-200bb 2 7
#--t_response 600000
STATE:0:r300f:9s8h|KdKc:-100|100:alice|bob
STATE:1:cc/cc/cc/cc:9s8h|KdKc/8c8d5c/6s/2d:100|-100:bob|alice
SCORE:-200|200:alice|bob
"""


def test_a_log_by_hand() -> None:
    log = parse_log(LOG)
    assert (log.score, replay(log), len(log.hands)) == ((-200, 200), (-200, 200), 2)
    broken = parse_log(LOG.rpartition("SCORE")[0])
    assert (broken.score, replay(broken)) == (None, (-200, 200))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "-100|100:alice",
            "100|-100:alice",
            r"hand 0: the log says \(100, -100\), its cards and betting \(-100, 100\)",
        ),
        ("9s8h|KdKc/8c", "KhKs|KdKc/8c", "hand 1: the log says"),
        ("SCORE:-200|200", "SCORE:-300|300", "the log's score is"),
        ("STATE:0:r300f", "STATE:0:r300", "line 3: betting 'r300': seat 0 is to move"),
        ("r300f", "r30f", "line 3: betting: illegal action 'r30'"),
        ("/2d", "/2x", "line 4.*token '2x'"),
        ("9s8h|KdKc:", "9s8h|:", "line 3.*the cards of both seats"),
        ("bob|alice", "bob|carol", "hand 1 is played by"),
        ("-100|100:alice", "-100:alice", "line 3: values '-100'"),
        ("STATE:1:", "STAT:1:", "line 4.*write STATE"),
        ("# name", "# nam", "give the rules"),
        ("SCORE:", "SCORE:0|0:alice|bob\nSCORE:", "line 6.*nothing stands behind the SCORE"),
    ],
)
def test_logs_that_are_not_right(old: str, new: str, reason: str) -> None:
    assert old in LOG
    with pytest.raises(InputError, match=reason):
        replay(parse_log(LOG.replace(old, new, 1)))


# --- the command ------------------------------------------------------------------------------

PLAYER = """\
import random, sys
from riverboat.games.acpc import read_game
from riverboat.interfaces.acpc_client import play

source = random.Random(5)

def decide(state):
    moves = list("fccccc" if state.betting.to_call else "ccccc")
    span = state.betting.raise_range()
    if span is not None:
        moves.append("r" if state.rules.limit else f"r{source.randint(*span)}")
    return source.choice(moves)

play(sys.argv[2], int(sys.argv[3]), read_game(sys.argv[1]), decide)
"""


def test_the_dealer_starts_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "player.py"
    script.write_text(PLAYER)
    command = f"{sys.executable} {script} leduc"
    options = acpc.Options(
        hands=50, seed=3, commands=[command, command], log=tmp_path / "log", limits=Limits(start=60, answer=20)
    )
    assert acpc.dealer("leduc", options)
    ports, score = capsys.readouterr().out.splitlines()
    assert len({int(port) for port in ports.split()}) == 2
    assert (tmp_path / "log").read_text().splitlines()[-1] == score
    assert len(read_log(tmp_path / "log").hands) == 50


def test_an_agent_at_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A yardstick plays as the function of the same meaning does."""
    by_hand = Match(LIMIT, 40, client(LIMIT, least_raise), client(LIMIT, drawn(4)))
    by_agent = Match(
        LIMIT, 40, lambda port: acpc.client("always-raise", "limit", LOOPBACK, port), client(LIMIT, drawn(4))
    )
    assert by_agent.result.won == by_hand.result.won
    assert by_agent.returned[0] is True
    assert "always-raise: 40 hands" in capsys.readouterr().out


def test_programs_that_end_or_are_not_there() -> None:
    limits = Limits(start=30)
    ending = f"{sys.executable} -c 0"
    assert not acpc.dealer("leduc", acpc.Options(commands=[ending, ending], limits=limits))
    with pytest.raises(InputError, match="program 'no-such-program'"):
        acpc.dealer("leduc", acpc.Options(commands=["no-such-program", ending], limits=limits))
    with pytest.raises(InputError, match="give two"):
        acpc.dealer("leduc", acpc.Options(commands=[ending]))
    with pytest.raises(InputError, match="write two numbers"):
        acpc.dealer("leduc", acpc.Options(ports="a,b"))
    with pytest.raises(InputError, match="two are needed"):
        acpc.dealer("leduc", acpc.Options(names="alice"))


def test_programs_that_never_connect_are_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(acpc, "_LEAVE", 0.2)
    script = tmp_path / "sleeper.py"
    script.write_text("import time\ntime.sleep(100)\n")
    commands = [f"{sys.executable} {script}"] * 2
    started: list[subprocess.Popen[bytes]] = []

    class Kept(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(acpc.subprocess, "Popen", Kept)
    options = acpc.Options(commands=commands, limits=Limits(start=1), json=True)
    assert not acpc.dealer("kuhn", options)
    assert [program.poll() is not None for program in started] == [True, True]
    facts = json.loads(capsys.readouterr().out)
    assert (facts["complete"], facts["hands"], facts["mbb_per_game"]) == (False, 0, None)
    assert facts["faults"][0]["kind"] == "absent"


@pytest.mark.slow
@pytest.mark.timeout(900)  # where other work takes the processors
def test_a_hundred_thousand_hands(processes: Processes, tmp_path: Path) -> None:
    """Two programs that play anything legal, limit and no-limit, without one protocol error."""
    script = tmp_path / "player.py"
    script.write_text(PLAYER)
    for game, hands in (("nolimit-200bb", 70_000), ("limit", 30_000)):
        listening, log = listen(), tmp_path / f"{game}.log"
        programs = [processes.python(script, game, LOOPBACK, port_of(listener)) for listener in listening]
        rules = read_game(game)
        result = run_match(rules, hands, 11, listening, players=NAMES, log=log, limits=Limits(start=60, answer=20))
        assert [program.wait(20) for program in programs] == [0, 0]
        assert (result.complete, result.faults, result.replaced, result.ignored) == (True, [], [0, 0], [0, 0])
        assert replay(read_log(log)) == result.score
