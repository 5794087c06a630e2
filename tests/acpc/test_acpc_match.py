"""Matches over TCP on loopback: whole matches, replayed logs, invalid arguments, and the command."""

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
from reference.matches import hand_payoffs
from riverboat.acpc import programs
from riverboat.acpc.dealer import LOOPBACK, DealerLimits, deal_hands, listening_port, open_listeners, run_match
from riverboat.cards.ranking import rank
from riverboat.cli.matches import remote
from riverboat.core.errors import InputError, RiverboatError
from riverboat.formats.acpc_log import check_names, parse_log, read_log, verify_log
from riverboat.games.holdem.match_state import MatchState
from riverboat.games.holdem.rules import read_game

GAMES = ("nolimit-200bb", "limit", "kuhn", "leduc", "bench-3x20")


# --- Whole matches ---


@pytest.mark.parametrize("game", GAMES)
def test_a_match_and_its_log(game: str, tmp_path: Path) -> None:
    rules, hands, log = read_game(game), 120, tmp_path / "match.log"
    seen: list[list[MatchState]] = [[], []]
    match = Match(
        rules,
        hands,
        *(client(rules, drawn(k), observe=seen[k].append) for k in (0, 1)),
        log=log,
    )
    result = match.result
    assert (result.complete, result.faults, result.replaced, result.ignored) == (True, [], [0, 0], [0, 0])
    assert [played.finished and played.hands for played in match.returned] == [hands, hands]
    read = read_log(log)  # the first line names the game
    assert (read.rules, len(read.hands), read.players, read.score) == (rules, hands, NAMES, result.score)
    assert verify_log(read) == result.score
    # The same with an independent reader of such logs.
    assert play_log(log.read_text(), rules) == dict(zip(NAMES, result.score, strict=True))
    # Reading and writing round-trips.
    assert [str(hand) for hand in read.hands] == [x for x in log.read_text().splitlines() if x.startswith("STATE")]
    # Seats alternate, and each player saw the hands of the log as its seat may see them.
    for k in (0, 1):
        ends = [state for state in seen[k] if state.over]
        assert [state.hand for state in ends] == list(range(hands))
        for state, hand in zip(ends, read.hands, strict=True):
            assert (state.position, hand.names[state.position]) == ((k + state.hand) % 2, NAMES[k])
            assert (state.betting, state.board, state.hole) == (hand.betting, hand.board, hand.holes[state.position])
            if hand.betting.showdown:
                assert hand_payoffs(state.betting, state.holes, state.board) == hand.won
            else:
                assert not state.holes[1 - state.position]


@pytest.mark.parametrize("game", ["nolimit-200bb", "leduc"])
def test_replayed_match_writes_the_same_log(game: str, tmp_path: Path) -> None:
    """Players who repeat the actions of a log, and a dealer with its seed, write the same bytes."""
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


def test_both_players_get_every_state() -> None:
    """Example: two calls in Kuhn poker."""
    kuhn = read_game("kuhn")
    match = Match(kuhn, 1, *(raw(kuhn, lambda player, state: player.say(state.reply("c"))) for _ in (0, 1)))
    deal = next(deal_hands(kuhn, 7))
    both, mine, theirs = "|".join(deal.hole_cards), f"{deal.hole_cards[0]}|", f"|{deal.hole_cards[1]}"
    assert match.returned[0] == [f"MATCHSTATE:0:0:{x}" for x in (f":{mine}", f"c:{mine}", f"cc:{both}")]
    assert match.returned[1] == [f"MATCHSTATE:1:0:{x}" for x in (f":{theirs}", f"c:{theirs}", f"cc:{both}")]


def test_seed_determines_the_cards() -> None:
    first = [deal for deal, _ in zip(deal_hands(NOLIMIT, 3), range(2500), strict=False)]
    assert first == [deal for deal, _ in zip(deal_hands(NOLIMIT, 3), range(2500), strict=False)]
    assert first != [deal for deal, _ in zip(deal_hands(NOLIMIT, 4), range(2500), strict=False)]
    twice = [deal for deal, _ in zip(deal_hands(NOLIMIT, 3, duplicate=True), range(5000), strict=False)]
    assert twice[0::2] == twice[1::2] == first
    for deal in first[:200]:
        board = deal.boards[-1].replace("/", "")
        ranks = [rank(hole + board) for hole in deal.hole_cards]
        assert deal.showdown_sign == (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
        cards = deal.hole_cards[0] + deal.hole_cards[1] + board
        assert len({cards[k : k + 2] for k in range(0, 18, 2)}) == 9
        assert [text.count("/") for text in deal.boards] == [0, 1, 2, 3]


def test_cards_are_uniform() -> None:
    """Chi-square test of the first card of each seat: 51 degrees of freedom, 99.99 % quantile below 102."""
    for seat in (0, 1):
        counts: dict[str, int] = {}
        for deal, _ in zip(deal_hands(NOLIMIT, 5), range(10_000), strict=False):
            name = deal.hole_cards[seat][:2]
            counts[name] = counts.get(name, 0) + 1
        expected = 10_000 / 52
        assert len(counts) == 52
        assert sum((count - expected) ** 2 / expected for count in counts.values()) < 102


def test_a_duplicate_match_of_equals_is_even(tmp_path: Path) -> None:
    """Players with the same deterministic strategy break even over each pair of hands."""
    match = Match(
        NOLIMIT, 200, client(NOLIMIT, call), client(NOLIMIT, call), duplicate=True, log=tmp_path / "duplicate.log"
    )
    won = np.array(match.result.won)
    assert won[0::2].any()
    assert (won[0::2] + won[1::2] == 0).all()
    facts = programs.dealer_match_report(match.result, 100, 200, 7, duplicate=True)
    assert (facts["mbb_per_game"], facts["ci95"]) == (0, 0)
    hands = read_log(tmp_path / "duplicate.log").hands
    assert all(a.holes == b.holes and a.names == b.names[::-1] for a, b in zip(hands[::2], hands[1::2], strict=True))


def test_exchanged_players_of_one_seed_are_a_duplicate_match() -> None:
    there = Match(LIMIT, 100, client(LIMIT, call), client(LIMIT, least_raise)).result
    back = Match(LIMIT, 100, client(LIMIT, least_raise), client(LIMIT, call)).result
    assert there.score[0] == -there.score[1]
    # Neither looks at its cards, so the caller's wins in one match are its losses in the other.
    assert there.score[0] == -back.score[1]


def test_the_longest_line() -> None:
    """A no-limit hand with 199 minimum raises fits."""
    match = Match(NOLIMIT, 2, client(NOLIMIT, least_raise), client(NOLIMIT, least_raise))
    assert match.result.complete
    assert match.returned[0].decisions + match.returned[1].decisions == 2 * 200


# --- Invalid arguments ---


def test_ports() -> None:
    one, two = open_listeners()
    with one, two:
        with pytest.raises(InputError, match=f"port {listening_port(one)}"):
            open_listeners((0, listening_port(one)))
        assert one.getsockname()[0] == "127.0.0.1"
    for wrong in ((1,), (0, 70_000), (-1, 0)):
        with pytest.raises(InputError, match="1 to 65535"):
            open_listeners(wrong)


@pytest.mark.parametrize(
    "names", [("a", "a"), ("a:b", "c"), ("", "c"), ("a|b", "c"), ("a b", "c"), ("a\n", "c"), ("a",)]
)
def test_names(names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="player name"):
        check_names(names)


def test_options_of_a_match(tmp_path: Path) -> None:
    for wrong, reason in (({"hands": 0}, "0 hands"), ({"seed": -1}, "seed -1"), ({"log": tmp_path}, "is a directory")):
        listening = open_listeners()
        given: dict[str, Any] = {"hands": 1, "seed": 0} | wrong
        with pytest.raises(RiverboatError, match=reason):
            run_match(LIMIT, listeners=listening, **given)
        for listener in listening:
            listener.close()
    with pytest.raises(InputError, match="time limit answer=-1"):
        DealerLimits(answer=-1)


# --- Logs ---

LOG = """\
# name/game/hands/seed match nolimit-200bb 2 7
#--t_response 600000
STATE:0:r300f:9s8h|KdKc:-100|100:alice|bob
STATE:1:cc/cc/cc/cc:9s8h|KdKc/8c8d5c/6s/2d:100|-100:bob|alice
SCORE:-200|200:alice|bob
"""


def test_a_log_by_hand() -> None:
    log = parse_log(LOG)
    assert (log.score, verify_log(log), len(log.hands)) == ((-200, 200), (-200, 200), 2)
    broken = parse_log(LOG.rpartition("SCORE")[0])
    assert (broken.score, verify_log(broken)) == (None, (-200, 200))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "-100|100:alice",
            "100|-100:alice",
            r"hand 0: .*\(100, -100\).*\(-100, 100\)",
        ),
        ("9s8h|KdKc/8c", "KhKs|KdKc/8c", "hand 1"),
        ("SCORE:-200|200", "SCORE:-300|300", "300"),
        ("STATE:0:r300f", "STATE:0:r300", "line 3: .*'r300'"),
        ("r300f", "r30f", "line 3: .*'r30'"),
        ("/2d", "/2x", "line 4.*'2x'"),
        ("9s8h|KdKc:", "9s8h|:", "line 3"),
        ("bob|alice", "bob|carol", "hand 1.*carol"),
        ("-100|100:alice", "-100:alice", "line 3: .*'-100'"),
        ("STATE:1:", "STAT:1:", "line 4.*STATE"),
        ("# name", "# nam", "rules"),
        ("SCORE:", "SCORE:0|0:alice|bob\nSCORE:", "line 6.*SCORE"),
    ],
)
def test_invalid_logs(old: str, new: str, reason: str) -> None:
    assert old in LOG
    with pytest.raises(InputError, match=reason):
        verify_log(parse_log(LOG.replace(old, new, 1)))


# --- Command ---

PLAYER = """\
import random, sys
from riverboat.games.holdem.rules import read_game
from riverboat.acpc.client import play_client

source = random.Random(5)

def decide(state):
    moves = list("fccccc" if state.betting.to_call else "ccccc")
    span = state.betting.raise_range()
    if span is not None:
        moves.append("r" if state.rules.limit else f"r{source.randint(*span)}")
    return source.choice(moves)

play_client(sys.argv[2], int(sys.argv[3]), read_game(sys.argv[1]), decide)
"""


def test_the_dealer_starts_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "player.py"
    script.write_text(PLAYER)
    command = f"{sys.executable} {script} leduc"
    assert remote.dealer(
        "leduc",
        hands=50,
        seed=3,
        players=[command, command],
        log=tmp_path / "log",
        start_timeout="60s",
        t_response="20s",
    )
    ports, score = capsys.readouterr().out.splitlines()
    assert len({int(port) for port in ports.split()}) == 2
    assert (tmp_path / "log").read_text().splitlines()[-1] == score
    assert len(read_log(tmp_path / "log").hands) == 50


def test_agent_as_client(capsys: pytest.CaptureFixture[str]) -> None:
    """A baseline agent plays as the corresponding function does."""
    by_hand = Match(LIMIT, 40, client(LIMIT, least_raise), client(LIMIT, drawn(4)))
    by_agent = Match(
        LIMIT, 40, lambda port: remote.client("always-raise", LOOPBACK, port, game="limit"), client(LIMIT, drawn(4))
    )
    assert by_agent.result.won == by_hand.result.won
    assert by_agent.returned[0] is True
    assert "always-raise: 40 hands" in capsys.readouterr().out


def test_programs_that_exit_or_do_not_exist() -> None:
    ending = f"{sys.executable} -c 0"
    assert not remote.dealer("leduc", players=[ending, ending], start_timeout="30s")
    with pytest.raises(InputError, match="program 'no-such-program'"):
        remote.dealer("leduc", players=["no-such-program", ending], start_timeout="30s")
    with pytest.raises(InputError, match="1 programs"):
        remote.dealer("leduc", players=[ending])
    with pytest.raises(InputError, match="'a,b'"):
        remote.dealer("leduc", ports="a,b")
    with pytest.raises(InputError, match="'alice'"):
        remote.dealer("leduc", names="alice")


def test_programs_that_never_connect_are_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "_EXIT_SECONDS", 0.2)
    script = tmp_path / "sleeper.py"
    script.write_text("import time\ntime.sleep(100)\n")
    commands = [f"{sys.executable} {script}"] * 2
    started: list[subprocess.Popen[bytes]] = []

    class Kept(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(programs.subprocess, "Popen", Kept)
    assert not remote.dealer("kuhn", players=commands, start_timeout="1s", json=True)
    assert [program.poll() is not None for program in started] == [True, True]
    facts = json.loads(capsys.readouterr().out)
    assert (facts["complete"], facts["hands"], facts["mbb_per_game"]) == (False, 0, None)
    assert facts["faults"][0]["kind"] == "absent"


@pytest.mark.slow
@pytest.mark.timeout(900)  # on a busy machine
def test_a_hundred_thousand_hands(processes: Processes, tmp_path: Path) -> None:
    """Two programs play random legal actions, limit and no-limit, without a protocol error."""
    script = tmp_path / "player.py"
    script.write_text(PLAYER)
    for game, hands in (("nolimit-200bb", 70_000), ("limit", 30_000)):
        listening, log = open_listeners(), tmp_path / f"{game}.log"
        programs = [processes.python(script, game, LOOPBACK, listening_port(listener)) for listener in listening]
        rules = read_game(game)
        result = run_match(
            rules, hands, 11, listening, players=NAMES, log=log, limits=DealerLimits(start=60, answer=20)
        )
        assert [program.wait(20) for program in programs] == [0, 0]
        assert (result.complete, result.faults, result.replaced, result.ignored) == (True, [], [0, 0], [0, 0])
        assert verify_log(read_log(log)) == result.score
