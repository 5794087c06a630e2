"""Errors at a table over TCP: illegal actions, noise, silence, disconnecting players, and faulty dealers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.acpc_players import LIMIT, NOLIMIT, Match, Raw, call, client, least_raise, raw

from riverboat.acpc.client import ClientSummary, play_client
from riverboat.acpc.dealer import LOOPBACK, DealerLimits, correct_move, listening_port, open_listeners
from riverboat.core.errors import InputError
from riverboat.formats.acpc_log import read_log, verify_log
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import MatchState, parse_match_state
from riverboat.games.holdem.rules import PokerRules, read_game


@pytest.mark.parametrize(
    ("rules", "line", "answer", "move"),
    [
        (NOLIMIT, "", "r250", "r250"),
        (NOLIMIT, "", "r199", "r200"),
        (NOLIMIT, "", "r0", "r200"),
        (NOLIMIT, "", "r20001", "r20000"),
        (NOLIMIT, "", "r999999999999999", "r20000"),
        (NOLIMIT, "", "r00300", "r300"),
        (NOLIMIT, "", "r", "c"),
        (NOLIMIT, "", "r-5", "c"),
        (NOLIMIT, "", "r" + "9" * 5000, "c"),
        (NOLIMIT, "", "r٣00", "c"),
        (NOLIMIT, "", "", "c"),
        (NOLIMIT, "", "call", "c"),
        (NOLIMIT, "", "f", "f"),
        (NOLIMIT, "c", "f", "c"),
        (NOLIMIT, "r20000", "r20000", "c"),
        (NOLIMIT, "r19950", "r19960", "r20000"),
        (LIMIT, "", "r", "r"),
        (LIMIT, "", "r20", "r"),
        (LIMIT, "rrr", "r", "c"),
        (LIMIT, "c", "f", "c"),
    ],
)
def test_moves_are_corrected(rules: PokerRules, line: str, answer: str, move: str) -> None:
    """Actions are corrected as by the competition's dealer: sizes to the nearest legal one, all else to a call."""
    betting = BettingState.from_line(rules, line)
    found, wrong = correct_move(betting, answer)
    assert found == move
    assert betting.find_action(found) is not None
    assert (wrong is None) == (answer in (move, "r00300", "r20"))


@pytest.mark.parametrize(
    ("answer", "line"), [("r5", "r200f"), ("r90000", "r20000f"), ("bet", "cc/cc/cc/cc"), ("R300", "cc/cc/cc/cc")]
)
def test_illegal_actions_are_replaced(answer: str, line: str, tmp_path: Path) -> None:
    def wrong(player: Raw, state: MatchState) -> None:
        player.say(state.reply(answer if state.betting.line == "" else "c"))

    fold = client(NOLIMIT, lambda state: "f" if state.betting.to_call else "c")
    match = Match(NOLIMIT, 2, fold, raw(NOLIMIT, wrong), log=tmp_path / "log")
    assert match.result.complete
    assert match.result.replaced == [0, 1]
    assert len(match.warnings) == 1
    hands = read_log(tmp_path / "log").hands
    assert hands[0].betting.line == line
    assert verify_log(read_log(tmp_path / "log")) == match.result.score


def test_fold_without_a_bet_is_a_call() -> None:
    match = Match(NOLIMIT, 4, client(NOLIMIT, call), raw(NOLIMIT, lambda p, s: p.say(s.reply("f"))))
    assert match.result.complete
    # In seat 1 it folds its small blind; in seat 0 it never faces a bet, and its folds are calls.
    assert match.result.replaced == [0, 2 * 4]
    assert match.result.won[0] == match.result.won[2] == 50


def test_too_many_illegal_actions(tmp_path: Path) -> None:
    limits = DealerLimits(start=10, answer=10, invalid=3)
    match = Match(
        LIMIT,
        50,
        raw(LIMIT, lambda p, s: p.say(s.reply("x"))),
        client(LIMIT, call),
        limits=limits,
        log=tmp_path / "log",
    )
    assert not match.result.complete
    assert [(fault.player, fault.kind) for fault in match.result.faults] == [(0, "invalid")]


def test_noise_is_ignored() -> None:
    """Comments, garbage, responses to another state, invalid bytes, partial lines, and an endless line are ignored."""

    def noisy(player: Raw, state: MatchState) -> None:
        text = state.reply("c")
        player.say("# thinking", "\n")
        player.say("; still")
        player.say("")
        player.say("hello dealer")
        player.say(text.replace(f":{state.hand}:", f":{state.hand + 1}:"))
        player.say(str(state) + "/:c")
        player.socket.sendall(b"\xff\xfe\x00\n" + b"x" * 200_000 + b"\r\n")
        player.say(text[:9], "")
        player.say(text[9:], "\n")  # a bare newline also ends a line

    match = Match(LIMIT, 10, client(LIMIT, call), raw(LIMIT, noisy))
    assert match.result.complete
    assert match.result.replaced == [0, 0]
    assert match.result.ignored == [0, 4 * 4 * 10]
    assert match.returned[0].hands == 10


def test_early_responses_are_ignored() -> None:
    """One player responds out of turn, and twice on its turn."""
    kuhn = read_game("kuhn")

    def eager(port: int) -> int:
        player, count = Raw(port), 0
        while line := player.hear():
            if parse_match_state(line, kuhn).over:
                count += 1
            else:
                player.say(f"{line}:c")
                player.say(f"{line}:f")
        player.close()
        return count

    match = Match(kuhn, 20, eager, client(kuhn, least_raise))
    assert match.result.complete
    assert match.returned[0] == 20
    assert match.result.ignored[0] > 0
    assert match.result.replaced == [0, 0]


@pytest.mark.parametrize(
    "version", ["VERSION:1.0.0", "VERSION:3.0.0", "VERSION:2.1.0", "VERSION:2.0", "version:2.0.0", "hello", ""]
)
def test_a_wrong_version(version: str, tmp_path: Path) -> None:
    match = Match(LIMIT, 5, client(LIMIT, call), raw(LIMIT, lambda p, s: None, version), log=tmp_path / "log")
    (fault,) = match.result.faults
    assert (fault.player, fault.kind) == (1, "version")
    assert f"{version!r}" in fault.reason
    assert "VERSION:2.0.0" in fault.reason
    assert not match.result.complete
    assert not match.result.won
    assert match.returned[0].hands == 0
    assert fault.reason in (tmp_path / "log").read_text()


@pytest.mark.parametrize("version", ["VERSION:2.0.0", "VERSION:2.0.7", "# a comment\r\nVERSION:2.0.0"])
def test_supported_versions(version: str) -> None:
    assert Match(LIMIT, 2, client(LIMIT, call), raw(LIMIT, lambda p, s: p.say(s.reply("c")), version)).result.complete


def silent(player: Raw, state: MatchState) -> None:
    if state.hand < 3 or state.betting.street < 1:
        player.say(state.reply("c"))


def closing(player: Raw, state: MatchState) -> None:
    if state.hand < 3 or state.betting.street < 1:
        player.say(state.reply("c"))
    else:
        player.close()


def slow_drip(player: Raw, state: MatchState) -> None:
    """Send comments all the time, and never an action."""
    silent(player, state)
    while state.hand >= 3 and state.betting.street >= 1:
        player.say("# one moment")


FAULTS = [(silent, "timeout"), (closing, "closed"), (slow_drip, "timeout")]


@pytest.mark.parametrize(("behaviour", "kind"), FAULTS)
@pytest.mark.parametrize("seat", [0, 1])
def test_player_hangs_or_disconnects(
    behaviour: Callable[[Raw, MatchState], None], kind: str, seat: int, tmp_path: Path
) -> None:
    """The match ends; three hands are in the log, and the unfinished fourth in a comment."""
    players = [client(LIMIT, call), client(LIMIT, call)]
    players[seat] = raw(LIMIT, behaviour)
    match = Match(LIMIT, 9, *players, limits=DealerLimits(start=10, answer=0.3), log=tmp_path / "log")
    assert [(fault.player, fault.kind) for fault in match.result.faults] == [(seat, kind)]
    assert not match.result.complete
    assert len(match.result.won) == 3
    log = read_log(tmp_path / "log")
    assert (log.score, len(log.hands), verify_log(log)) == (None, 3, match.result.score)
    assert "# not finished: 3:cc/" in (tmp_path / "log").read_text()
    assert match.returned[1 - seat] == ClientSummary(3, match.returned[1 - seat].decisions, 0, False)


@pytest.mark.parametrize(("behaviour", "kind"), FAULTS)
@pytest.mark.parametrize("seat", [0, 1])
def test_forfeit(behaviour: Callable[[Raw, MatchState], None], kind: str, seat: int, tmp_path: Path) -> None:
    """With `forfeit` every hand is played: the lost player checks or folds."""
    players = [client(LIMIT, least_raise), client(LIMIT, least_raise)]
    players[seat] = raw(LIMIT, behaviour)
    limits = DealerLimits(start=10, answer=0.3)
    match = Match(LIMIT, 9, *players, limits=limits, log=tmp_path / "log", forfeit=True)
    assert [(fault.player, fault.kind) for fault in match.result.faults] == [(seat, kind)]
    assert match.result.complete
    assert len(match.result.won) == 9
    log = read_log(tmp_path / "log")
    assert (log.score, len(log.hands), verify_log(log)) == (match.result.score, 9, match.result.score)
    assert match.returned[1 - seat].hands == 9
    # The lost player folds to the first raise and loses its blind.
    assert all(abs(won) <= 10 and (won > 0) == (seat == 1) for won in match.result.won[4:])


def test_both_leave() -> None:
    match = Match(LIMIT, 50, raw(LIMIT, closing), raw(LIMIT, closing), forfeit=True)
    assert match.result.complete
    assert len(match.result.won) == 50
    assert {fault.player for fault in match.result.faults} == {0, 1}


@pytest.mark.parametrize(
    "limits",
    [
        DealerLimits(start=10, answer=10, hand=1),
        DealerLimits(start=10, answer=10, average=0.2),
    ],
)
def test_time_of_a_hand_and_of_the_match(limits: DealerLimits) -> None:
    """With 0.4 s per response, three are too many for a hand of 1 s, and four for a match of 6 hands with 0.2 s each."""

    def slow(state: MatchState) -> str:
        threading.Event().wait(0.4)
        return "c"

    match = Match(LIMIT, 6, client(LIMIT, slow), client(LIMIT, call), limits=limits)
    assert [(fault.player, fault.kind) for fault in match.result.faults] == [(0, "timeout")]
    assert not match.result.complete
    assert match.result.seconds_used[1] < match.result.seconds_used[0]


def test_no_player_connects() -> None:
    for count in (0, 1):
        match = Match(LIMIT, 5, *[client(LIMIT, call)] * count, limits=DealerLimits(start=0.3))
        assert [(fault.player, fault.kind) for fault in match.result.faults] == [(count, "absent")]


def test_silent_player() -> None:
    def mute(port: int) -> str:
        player = Raw(port, None)
        heard = player.hear()
        player.close()
        return heard

    match = Match(LIMIT, 5, mute, client(LIMIT, call), limits=DealerLimits(start=0.3))
    assert [(fault.player, fault.kind) for fault in match.result.faults] == [(0, "timeout")]
    assert match.returned[0] == ""


def test_player_leaves_after_the_last_action() -> None:
    """The match is complete."""

    def hasty(player: Raw, state: MatchState) -> None:
        player.say(state.reply("c"))
        if state.hand == 2:
            player.close()

    kuhn = read_game("kuhn")
    result = Match(kuhn, 3, client(kuhn, call), raw(kuhn, hasty)).result
    assert result.complete
    assert len(result.won) == 3


# --- Client ---


def serve(*lines: str) -> tuple[threading.Thread, int, list[str]]:
    """Simulate a dealer that sends lines and closes the connection."""
    listener = socket.create_server((LOOPBACK, 0))
    heard: list[str] = []

    def run() -> None:
        listener.settimeout(10)
        peer, _ = listener.accept()
        with listener, peer, peer.makefile("rw", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line)
                file.flush()
            heard.append(file.readline())
            heard.append(file.readline())

    thread = threading.Thread(target=run)
    thread.start()
    return thread, listening_port(listener), heard


def test_client_ignores_unknown_lines() -> None:
    thread, port, heard = serve("# comment\r\n", "GREETING\r\n", "MATCHSTATE:0:5::|Ks\n".replace("|Ks", "Ks|"))
    played = play_client(LOOPBACK, port, read_game("kuhn"), lambda state: "r")
    thread.join(10)
    assert heard == ["VERSION:2.0.0\r\n", "MATCHSTATE:0:5::Ks|:r\r\n"]
    assert played == ClientSummary(0, 1, 1, False)


def test_client_detects_another_game() -> None:
    thread, port, _ = serve("MATCHSTATE:0:5::9s8h|\r\n")
    with pytest.raises(InputError, match="9s"):
        play_client(LOOPBACK, port, read_game("kuhn"), call)
    thread.join(10)


def test_client_sends_no_illegal_action() -> None:
    thread, port, heard = serve("MATCHSTATE:0:5::Ks|\r\n")
    with pytest.raises(InputError, match="'f' at ''"):
        play_client(LOOPBACK, port, read_game("kuhn"), lambda state: "f")
    thread.join(10)
    assert heard == ["VERSION:2.0.0\r\n", ""]


def test_client_timeouts() -> None:
    listeners = open_listeners()
    ports = [listening_port(listener) for listener in listeners]
    listeners[1].close()
    with pytest.raises(InputError, match=rf"{ports[1]}.*0\.2 s"):
        play_client(LOOPBACK, ports[1], LIMIT, call, connect_seconds=0.2)
    with pytest.raises(InputError, match=rf"{ports[0]}.*0\.2 s"):
        play_client(LOOPBACK, ports[0], LIMIT, call, line_timeout=0.2)
    listeners[0].close()
