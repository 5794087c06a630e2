"""The client of a bot with a web API: recorded exchanges and a small bot on loopback; no test contacts a live host."""

from __future__ import annotations

import json
import random
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from riverboat.acpc import web_bot
from riverboat.agents.registry import make_agent
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.rules import read_game

RULES = read_game("nolimit-200bb")
CARDS = {"hole_cards": ["Ah", "Kd"], "token": "t"}
# From published descriptions of the API: the bot has the button, raises, and is called down.
RECORD = [
    ("new_hand", {}, {**CARDS, "client_pos": 0, "board": [], "action": "b200", "old_action": ""}),
    ("act", {"token": "t", "incr": "c"}, {**CARDS, "client_pos": 0, "board": ["2c", "7d", "9h"], "action": "b200c/"}),
    (
        "act",
        {"token": "t", "incr": "k"},
        {**CARDS, "client_pos": 0, "board": ["2c", "7d", "9h"], "action": "b200c/kb300"},
    ),
    (
        "act",
        {"token": "t", "incr": "c"},
        {**CARDS, "client_pos": 0, "board": ["2c", "7d", "9h", "Ks"], "action": "b200c/kb300c/"},
    ),
    (
        "act",
        {"token": "t", "incr": "k"},
        {**CARDS, "client_pos": 0, "board": ["2c", "7d", "9h", "Ks", "3s"], "action": "b200c/kb300c/kk/"},
    ),
    (
        "act",
        {"token": "t", "incr": "k"},
        {**CARDS, "client_pos": 0, "action": "b200c/kb300c/kk/kk", "winnings": 500, "bot_hole_cards": ["Qs", "Qd"]},
    ),
    ("new_hand", {"token": "t"}, {**CARDS, "client_pos": 0, "board": [], "action": "f", "winnings": 50}),
]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    lines = [json.dumps({"ask": ask, "with": body, "reply": reply}) for ask, body, reply in RECORD]
    (tmp_path / "record.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path / "record.jsonl"


def test_recorded_hands_are_replayed(record: Path, tmp_path: Path) -> None:
    caller = make_agent("always-call")
    exchange = web_bot.recording_exchange(web_bot.replay_exchange(record), tmp_path / "again.jsonl")
    told: list[tuple[int, int]] = []
    played = web_bot.play_online(caller, exchange, 2, lambda *now: told.append(now))
    assert played.chips == (500, 50)
    assert told == [(1, 500), (2, 550)]
    assert played.mbb_per_game == 2750
    assert (tmp_path / "again.jsonl").read_text() == record.read_text(encoding="utf-8")
    assert played.ci95 == pytest.approx(1.959963984540054 * 2250)  # 5,000 and 500, minus their mean
    one = web_bot.play_online(caller, web_bot.replay_exchange(record), 1)
    assert (one.ci95, one.claim, one.to_dict()["claims"]) == (None, None, [])
    assert "1 hand" in str(one)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"error_msg": "no such token"}, "new_hand .*no such token"),
        ({"action": "b200x"}, "'x' .letter 5."),
        ({"action": "b200/"}, "'b200'"),
        ({"action": "b200k"}, "'k' .letter 5.: .*100"),  # a check facing a bet
        ({"action": "b200c/c"}, "'c' .letter 7."),
        ({"action": "b30"}, "r30"),
        ({"board": ["2c"]}, "1 cards"),
        ({"client_pos": 2}, "seat"),
        ({"hole_cards": ["Ah", "Ah"]}, "Ah"),
        ({"winnings": "many"}, "'many'"),
        ({"winnings": True}, "True chips"),
    ],
)
def test_invalid_replies_raise_in_one_line(change: dict[str, object], match: str) -> None:
    reply = {**RECORD[0][2], **change}
    with pytest.raises(InputError, match=match) as error:
        web_bot.play_online(make_agent("always-call"), lambda what, body: reply, 1)
    assert "\n" not in str(error.value)


def test_lines_are_translated_both_ways() -> None:
    draw = random.Random(4)
    for _ in range(200):
        state, line = BettingState.start(RULES), ""
        while state.actor != TERMINAL:
            if state.actor == CHANCE:
                state, line = state.next_street(), line + "/"
                continue
            raises = state.raise_range()
            labels = ["c"] + ["f"] * (state.to_call > 0)
            if raises is not None:
                labels += [f"r{min(raises.most, raises.least + draw.choice((0, 150, 40_000)))}"]
            label = draw.choice(labels)
            line += web_bot.format_move(label, state)
            state = state.apply_action(state.parse_action(label))
            assert web_bot.parse_line(line, RULES).compact == state.compact
    assert (
        web_bot.parse_line("b200c/kb300b900", RULES).line == "r200c/cr500r1100"
    )  # chips of the street, and of the hand


class Bot(BaseHTTPRequestHandler):
    """A bot that deals the same cards, checks or calls, and raises once preflop."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        line = "" if self.path.endswith("new_hand") else self.server.line + body["incr"]  # type: ignore[attr-defined]
        state = web_bot.parse_line(line, RULES)
        while state.actor in (CHANCE, 0):
            if state.actor == CHANCE:
                state, line = state.next_street(), line + "/"
            else:
                line += web_bot.format_move("c", state)
                state = state.apply_action(state.parse_action("c"))
        self.server.line = line  # type: ignore[attr-defined]
        board = ["2c", "7d", "9h", "Ks", "3s"][: RULES.board_sizes[state.street]]
        reply = {"token": "x", "client_pos": 1, "hole_cards": ["Ah", "Kd"], "board": board, "action": line}
        if state.actor == TERMINAL:
            reply["winnings"] = state.spent[0] if state.compact.turn == 0 or not line.endswith("f") else -state.spent[1]
        answer = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def bot() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bot)
    server.line = ""  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/api"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_bot_on_loopback_is_played_over_http(bot: str) -> None:
    played = web_bot.play_online(make_agent("random", 3), web_bot.http_exchange(bot), 8)
    assert len(played.chips) == 8
    assert any(played.chips)
    with pytest.raises(InputError, match=r"bot\.example"):
        web_bot.http_exchange("bot.example")
    with pytest.raises(InputError, match=r"127\.0\.0\.1:9"):
        web_bot.http_exchange("http://127.0.0.1:9", timeout=1)("new_hand", {})


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:abc/api",
        "http://localhost:99999/api",
        "http://exa mple/api",
        "http://\u00fcn\u00ef.invalid/\u00e4",
        "http://[::1",
        "http:///api",
        "http://a\nb/api",
    ],
)
def test_invalid_urls_raise_before_a_request(url: str) -> None:
    with pytest.raises(InputError, match=r"^url 'http"):
        web_bot.http_exchange(url)


@pytest.mark.parametrize("reply", [b"garbage\n", b"", b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 200_000])
def test_invalid_http_responses(reply: bytes) -> None:
    class Strange(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.connection.recv(4096)
            self.wfile.write(reply)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Strange) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with pytest.raises(InputError, match=r"127\.0\.0\.1"):
            web_bot.http_exchange(f"http://127.0.0.1:{server.server_address[1]}/api", timeout=5)("new_hand", {})
        server.shutdown()
    with pytest.raises(InputError, match="label"):  # an invalid host name
        web_bot.http_exchange(f"http://{'a' * 70}.invalid/api", timeout=1)("new_hand", {})
