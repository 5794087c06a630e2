"""A match against a bot behind a web API: hands are asked for and moves sent as JSON over HTTP.

    exchange = over_http("https://bot.example/api")
    played = play_online(make_agent("default"), exchange, hands=100)
    played.mbb_per_game, played.ci95

The API is the one that Slumbot offers, from published descriptions of it: `new_hand` and `act`, a token that tells sessions
apart, blinds of 50 and 100, stacks of 20,000 in every hand. Lines are written with `k` check, `c` call, `f` fold and `b300`,
the chips of this street; `client_pos` 0 is the big blind. Exchanges can be written to a file and played again from there,
which is how this is tested: no test asks a live host.
"""

from __future__ import annotations

import json
import re
import time as clock
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import numpy as np

from riverboat.agents.base import Agent
from riverboat.api.play import agent_move
from riverboat.core import atomic_io
from riverboat.core.claims import ESTIMATE, Claim
from riverboat.core.errors import InputError, shown
from riverboat.core.text_files import read_text
from riverboat.evaluation.intervals import Tally
from riverboat.games.base import CHANCE
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules, read_game

GAME = "nolimit-200bb"
SIZES = (0, 3, 4, 5)  # cards of the board by street
MOST_REPLY = 1 << 20  # bytes
_STEP = re.compile(r"[kcf/]|b\d{1,9}", re.ASCII)

Exchange: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]  # what is asked, and with what; the reply


@dataclass(frozen=True)
class OnlineMatch:
    """What was won, in chips, hand by hand."""

    agent: str
    rules: Rules
    chips: tuple[int, ...]
    seconds: float

    @property
    def mbb_per_game(self) -> float:
        """A hand."""
        return 1000 * float(np.mean(self.chips)) / self.rules.big_blind

    @property
    def ci95(self) -> float | None:
        """Half the width of the interval; no duplicate, so it is wide. None after one hand, which says nothing of it."""
        if len(self.chips) < 2:
            return None
        return Tally().plus(np.array(self.chips)).times(1000 / self.rules.big_blind).interval().half_width

    @property
    def claim(self) -> Claim | None:
        """The result; None without an interval."""
        if self.ci95 is None:
            return None
        return Claim("won", self.mbb_per_game, "mbb/g", ESTIMATE, self.ci95, size=len(self.chips), samples="hands")

    def __str__(self) -> str:
        won = f"won {self.mbb_per_game:,.9g} mbb/g (1 hand: an interval needs two or more)"
        return f"{self.agent}: {self.claim or won}; {sum(self.chips):+,} chips"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "agent": self.agent,
            "game": self.rules.name,
            "hands": len(self.chips),
            "chips": sum(self.chips),
            "mbb_per_game": self.mbb_per_game,
            "ci95": self.ci95,
            "seconds": round(self.seconds, 1),
            "claims": [] if self.claim is None else [self.claim.to_dict()],
        }


# --- lines ------------------------------------------------------------------------------------------


def betting_of(line: str, rules: Rules) -> Betting:
    """The state that a line of the API leads to: `b200c/kb300`."""
    state, place = Betting.start(rules), 0
    while place < len(line):
        step = _STEP.match(line, place)
        if step is None:
            raise InputError(f"line {shown(line)}: {shown(line[place])} (letter {place + 1}) is no move of the API")
        place = step.end()
        if step[0] == "/":
            if state.actor != CHANCE:
                raise InputError(f"line {shown(line)}: no cards are dealt after {shown(line[: place - 1])}")
            state = state.next_street()
        elif step[0][0] == "b":
            state = state.play(f"r{state.at.before + int(step[0][1:])}")
        elif (step[0] == "k" and state.to_call) or (step[0] == "c" and not state.to_call):
            why = f"there are {state.to_call:,} to call" if state.to_call else "there is nothing to call"
            raise InputError(f"line {shown(line)}: {shown(step[0])} (letter {place}): {why}")
        else:
            state = state.play("f" if step[0] == "f" else "c")
    return state


def move_of(label: str, state: Betting) -> str:
    """A move as the API writes it: `k`, `c`, `f`, `b300` with the chips of this street."""
    if label[0] == "r":
        return f"b{int(label[1:]) - state.at.before}"
    return "k" if label == "c" and not state.to_call else label


# --- a match ----------------------------------------------------------------------------------------


def play_online(
    agent: Agent, exchange: Exchange, hands: int, watch: Callable[[int, int], None] | None = None
) -> OnlineMatch:
    """Play some hands. `watch` is told how many are over, and the chips won so far."""
    if hands < 1:
        raise InputError(f"hands={hands}: at least one")
    rules, token, chips, begun = read_game(GAME), None, [], clock.perf_counter()
    agent.check_rules(rules)
    for number in range(hands):
        reply = _asked(exchange, "new_hand", {} if token is None else {"token": token})
        token = reply.get("token", token)
        while reply.get("winnings") is None:
            state = betting_of(_text(reply, "action"), rules)
            label = agent_move(agent, _views(reply, state, number))
            reply = _asked(exchange, "act", {"token": token, "incr": move_of(label, state)})
            token = reply.get("token", token)
        won = reply["winnings"]
        if not isinstance(won, int) or isinstance(won, bool) or abs(won) > rules.stack:
            raise InputError(f"the bot says that {shown(won)} chips were won: no result of {rules.name}")
        chips.append(won)
        if watch is not None:
            watch(number + 1, sum(chips))
    return OnlineMatch(agent.name, rules, tuple(chips), clock.perf_counter() - begun)


def _asked(exchange: Exchange, what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    reply = exchange(what, body)
    if reply.get("error_msg"):
        raise InputError(f"the bot refused {what} {json.dumps(dict(body))}: {shown(str(reply['error_msg']))}")
    return reply


def _text(reply: Mapping[str, Any], key: str) -> str:
    value = reply.get(key)
    if not isinstance(value, str):
        raise InputError(f"the bot's reply has {key} = {shown(value)}: a text was expected")
    return value


def _views(reply: Mapping[str, Any], state: Betting, number: int) -> Views:
    """The table as the agent sees it."""
    seat, hole, board = reply.get("client_pos"), reply.get("hole_cards"), reply.get("board") or []
    if seat not in (0, 1) or not isinstance(hole, list) or not isinstance(board, list):
        raise InputError(f"the bot's reply has no seat, hole cards and board: {shown(dict(reply))}")
    if len(board) != SIZES[state.street]:
        raise InputError(f"the bot shows {len(board)} cards after {shown(state.line)}: {SIZES[state.street]} lie there")
    shown_streets = [board[low:high] for low, high in pairwise(SIZES) if high <= len(board)]
    cards = "".join(map(str, hole))
    text = f"MATCHSTATE:{seat}:{number}:{state.line}:{cards + '|' if seat == 0 else '|' + cards}"
    return Views.from_match_state(text + "".join("/" + "".join(map(str, part)) for part in shown_streets), state.rules)


# --- exchanges --------------------------------------------------------------------------------------


def over_http(url: str, timeout: float = 30.0, pause: float = 0.0) -> Exchange:
    """Ask a host; `pause` seconds before each question."""
    _check_url(url)

    def ask(what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        if pause:
            clock.sleep(pause)
        try:
            request = urllib.request.Request(
                f"{url.rstrip('/')}/{what}", json.dumps(dict(body)).encode(), {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                text = answer.read(MOST_REPLY).decode("utf-8", "replace")
        except HTTPException as error:  # something answers there, but not as the web does
            raise InputError(f"{url}: {type(error).__name__}: {shown(str(error))}; is it a web API?") from None
        except (OSError, ValueError) as error:  # ValueError: names of hosts, here or in a redirection
            raise InputError(f"{url}: {getattr(error, 'reason', error)}") from None
        return _read(text, url)

    return ask


def _check_url(url: str) -> None:
    """Refuse what is no address before anybody is asked."""
    if not url.startswith(("http://", "https://")):
        raise InputError(f"url {shown(url)}: begins with https:// or http://")
    try:
        parts = urlsplit(url)
        problem = "no host" if not parts.hostname or parts.port == 0 else ""
    except ValueError as error:
        problem = str(error)
    if not url.isascii() or not url.isprintable() or " " in url:
        problem = "letters that an address cannot have"
    if problem:
        raise InputError(f"url {shown(url)}: {problem}; write https://HOST/PATH or https://HOST:PORT/PATH, in ASCII")


def _read(text: str, where: str) -> Mapping[str, Any]:
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):  # the second where lists are nested without end
        reply = None
    if not isinstance(reply, dict):
        raise InputError(f"{where}: {shown(text[:100])} is no JSON object")
    return reply


def recorded(exchange: Exchange, path: Path) -> Exchange:
    """The same, with every question and reply appended to a file, one JSON object a line."""

    def ask(what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        reply = exchange(what, body)
        atomic_io.append(path, json.dumps({"ask": what, "with": dict(body), "reply": dict(reply)}))
        return reply

    return ask


def from_record(path: Path) -> Exchange:
    """Replies from such a file: the same questions have to come in the same order."""
    lines = [_read(line, str(path)) for line in read_text(path, "record").splitlines() if line.strip()]
    left = iter(lines)

    def ask(what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        line = next(left, None)
        if line is None:
            raise InputError(f"{path}: the record ends before {what} {json.dumps(dict(body))}")
        if (line.get("ask"), line.get("with")) != (what, dict(body)):
            now = f"{what} {json.dumps(dict(body))}"
            raise InputError(f"{path}: {line.get('ask')} {json.dumps(line.get('with'))} is on record, not {now}")
        reply = line.get("reply")
        if not isinstance(reply, dict):
            raise InputError(f"{path}: a line without a reply")
        return reply

    return ask
