"""Matches against a bot with a web API: JSON over HTTP.

    exchange = http_exchange("https://bot.example/api")
    match = play_online(make_agent("default"), exchange, hands=100)
    match.mbb_per_game, match.ci95

The API is that of Slumbot, from published descriptions: `new_hand` and `act`, a token per session, blinds of 50 and
100, stacks of 20,000 in every hand. Lines use `k` check, `c` call, `f` fold and `b300`, the chips bet on this street;
`client_pos` 0 is the big blind. Exchanges can be recorded in a file and replayed, which the tests do: no test contacts
a live host.
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
from riverboat.core import files
from riverboat.core.claims import ESTIMATE, Claim
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import read_text
from riverboat.evaluation.confidence_intervals import SampleSums
from riverboat.games.base import CHANCE
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules, read_game

GAME = "nolimit-200bb"
MAX_REPLY_BYTES = 1 << 20
_TOKEN_PATTERN = re.compile(r"[kcf/]|b\d{1,9}", re.ASCII)

Exchange: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]  # (endpoint, body) -> reply


@dataclass(frozen=True)
class OnlineMatch:
    """Result of an online match, with the chips won in each hand.

    Attributes
    ----------
    agent
        Name of the agent.
    rules
        Game of the bot.
    chips
        Chips won in each hand.
    seconds
        Time that was used.

    Examples
    --------
    >>> OnlineMatch("always-call", read_game(GAME), (100, -50), 1.0).mbb_per_game
    250.0
    """

    agent: str
    rules: PokerRules
    chips: tuple[int, ...]
    seconds: float

    @property
    def mbb_per_game(self) -> float:
        """Mean result in mbb/g."""
        return 1000 * float(np.mean(self.chips)) / self.rules.big_blind

    @property
    def ci95(self) -> float | None:
        """Half-width of the 95 % interval, wide because the match is not duplicate; None after a single hand."""
        if len(self.chips) < 2:
            return None
        sums = SampleSums().add_samples(np.array(self.chips)).scale(1000 / self.rules.big_blind)
        return sums.confidence_interval().half_width

    @property
    def claim(self) -> Claim | None:
        """The result as a claim; None without an interval."""
        if self.ci95 is None:
            return None
        return Claim("won", self.mbb_per_game, "mbb/g", ESTIMATE, self.ci95, size=len(self.chips), samples="hands")

    def __str__(self) -> str:
        won = f"won {self.mbb_per_game:,.9g} mbb/g (1 hand: an interval needs two or more)"
        return f"{self.agent}: {self.claim or won}; {sum(self.chips):+,} chips"

    def to_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
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


# --- Lines ---


def parse_line(line: str, rules: PokerRules) -> BettingState:
    """Return the betting state after a line of the API.

    Parameters
    ----------
    line
        Line such as `b200c/kb300`, with the chips bet on this street.
    rules
        Game of the bot.

    Returns
    -------
    BettingState
        The state.

    Raises
    ------
    InputError
        If a letter or an action is invalid.

    Examples
    --------
    >>> parse_line("b200c/kb300", read_game(GAME)).line
    'r200c/cr500'
    """
    state, position = BettingState.start(rules), 0
    while position < len(line):
        token = _TOKEN_PATTERN.match(line, position)
        if token is None:
            raise InputError(
                f"line {short_repr(line)}: {short_repr(line[position])} (letter {position + 1}) is not a move of the API"
            )
        position = token.end()
        if token[0] == "/":
            if state.actor != CHANCE:
                raise InputError(
                    f"line {short_repr(line)}: no cards are dealt after {short_repr(line[: position - 1])}"
                )
            state = state.next_street()
        elif token[0][0] == "b":
            state = state.apply_action(state.compact.before + int(token[0][1:]))
        elif (token[0] == "k" and state.to_call) or (token[0] == "c" and not state.to_call):
            reason = f"{state.to_call:,} chips are to be called" if state.to_call else "there is nothing to call"
            raise InputError(f"line {short_repr(line)}: {short_repr(token[0])} (letter {position}): {reason}")
        else:
            state = state.apply_action(FOLD if token[0] == "f" else CALL)
    return state


def format_move(label: str, state: BettingState) -> str:
    """Return a move in the API's notation: `k`, `c`, `f`, or `b300` with the chips of this street.

    Parameters
    ----------
    label
        Move in our notation: `c`, `f` or `r500`.
    state
        State at which the player acts.

    Returns
    -------
    str
        The move.

    Examples
    --------
    >>> format_move("r500", parse_line("b200c/k", read_game(GAME)))
    'b300'
    """
    if label[0] == "r":
        return f"b{int(label[1:]) - state.compact.before}"
    return "k" if label == "c" and not state.to_call else label


# --- Match ---


def play_online(
    agent: Agent, exchange: Exchange, hands: int, observe: Callable[[int, int], None] | None = None
) -> OnlineMatch:
    """Play hands against a bot.

    Parameters
    ----------
    agent
        Our agent.
    exchange
        Function from endpoint and body to a reply.
    hands
        Number of hands.
    observe
        Function of the number of finished hands and the chips won so far.

    Returns
    -------
    OnlineMatch
        Chips of each hand.

    Raises
    ------
    InputError
        If the bot rejects a request or its reply is invalid.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> def folding_bot(endpoint, body):
    ...     return {"token": "t", "winnings": 50}
    >>> play_online(make_agent("always-call"), folding_bot, hands=2).chips
    (50, 50)
    """
    if hands < 1:
        raise InputError(f"hands={hands}: must be at least 1")
    rules, token, chips, start = read_game(GAME), None, [], clock.perf_counter()
    agent.check_rules(rules)
    for number in range(hands):
        reply = _request(exchange, "new_hand", {} if token is None else {"token": token})
        token = reply.get("token", token)
        while reply.get("winnings") is None:
            line = reply.get("action")
            if not isinstance(line, str):
                raise InputError(f"the bot's reply has action = {short_repr(line)}: must be a string")
            state = parse_line(line, rules)
            label = agent_move(agent, _observation(reply, state, number))
            reply = _request(exchange, "act", {"token": token, "incr": format_move(label, state)})
            token = reply.get("token", token)
        won = reply["winnings"]
        if not isinstance(won, int) or isinstance(won, bool) or abs(won) > rules.stack:
            raise InputError(
                f"the bot reports winnings of {short_repr(won)} chips, which is not possible in {rules.name}"
            )
        chips.append(won)
        if observe is not None:
            observe(number + 1, sum(chips))
    return OnlineMatch(agent.name, rules, tuple(chips), clock.perf_counter() - start)


def _request(exchange: Exchange, what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    reply = exchange(what, body)
    if reply.get("error_msg"):
        raise InputError(f"the bot rejected {what} {json.dumps(dict(body))}: {short_repr(str(reply['error_msg']))}")
    return reply


def _observation(reply: Mapping[str, Any], state: BettingState, number: int) -> Observations:
    """Return the agent's observation from a reply of the API, the betting state and the number of the hand."""
    seat, hole, board = reply.get("client_pos"), reply.get("hole_cards"), reply.get("board") or []
    if seat not in (0, 1) or not isinstance(hole, list) or not isinstance(board, list):
        raise InputError(f"the bot's reply has no seat, hole cards and board: {short_repr(dict(reply))}")
    sizes = state.rules.board_sizes
    if len(board) != sizes[state.street]:
        raise InputError(
            f"the bot shows {len(board)} cards after {short_repr(state.line)}: there must be {sizes[state.street]}"
        )
    shown_streets = [board[low:high] for low, high in pairwise(sizes) if high <= len(board)]
    cards = "".join(map(str, hole))
    text = f"MATCHSTATE:{seat}:{number}:{state.line}:{cards + '|' if seat == 0 else '|' + cards}"
    boards = "".join("/" + "".join(map(str, part)) for part in shown_streets)
    return Observations.from_match_state(text + boards, state.rules)


# --- Exchanges ---


def http_exchange(url: str, timeout: float = 30.0, pause: float = 0.0) -> Exchange:
    """Return an exchange over HTTP.

    Parameters
    ----------
    url
        Address of the API.
    timeout
        Seconds to wait for a reply.
    pause
        Seconds to wait before each request.

    Returns
    -------
    Exchange
        Function from endpoint and body to a reply.

    Raises
    ------
    InputError
        If the URL is invalid; calls raise it if a request fails.

    Examples
    --------
    >>> http_exchange("bot.example")
    Traceback (most recent call last):
    ...
    riverboat.core.errors.InputError: url 'bot.example': must start with https:// or http://
    """
    _check_url(url)

    def request_reply(endpoint: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        if pause:
            clock.sleep(pause)
        try:
            address, content = f"{url.rstrip('/')}/{endpoint}", json.dumps(dict(body)).encode()
            request = urllib.request.Request(address, content, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=timeout) as response:
                text = response.read(MAX_REPLY_BYTES).decode("utf-8", "replace")
        except HTTPException as error:  # the response is not valid HTTP
            raise InputError(f"{url}: {type(error).__name__}: {short_repr(str(error))}; is it a web API?") from None
        except (OSError, ValueError) as error:  # ValueError: invalid host names, here or in a redirect
            raise InputError(f"{url}: {getattr(error, 'reason', error)}") from None
        return _parse_reply(text, url)

    return request_reply


def _check_url(url: str) -> None:
    """Raise an error for an invalid URL before anything is sent."""
    if not url.startswith(("http://", "https://")):
        raise InputError(f"url {short_repr(url)}: must start with https:// or http://")
    try:
        parts = urlsplit(url)
        problem = "no host" if not parts.hostname or parts.port == 0 else ""
    except ValueError as error:
        problem = str(error)
    if not url.isascii() or not url.isprintable() or " " in url:
        problem = "invalid characters"
    if problem:
        raise InputError(
            f"url {short_repr(url)}: {problem}; write https://HOST/PATH or https://HOST:PORT/PATH, in ASCII"
        )


def _parse_reply(text: str, where: str) -> Mapping[str, Any]:
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):  # RecursionError: deeply nested lists
        reply = None
    if not isinstance(reply, dict):
        raise InputError(f"{where}: {short_repr(text[:100])} is not a JSON object")
    return reply


def recording_exchange(exchange: Exchange, path: Path) -> Exchange:
    """Return an exchange that appends every request and reply to a file, one JSON object per line.

    Parameters
    ----------
    exchange
        Exchange to record.
    path
        The file.

    Returns
    -------
    Exchange
        Function from endpoint and body to a reply.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "record.jsonl"
    ...     reply = recording_exchange(lambda endpoint, body: {"winnings": 50}, path)("new_hand", {})
    ...     replay_exchange(path)("new_hand", {})
    {'winnings': 50}
    """

    def record(endpoint: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        reply = exchange(endpoint, body)
        files.append_line(path, json.dumps({"ask": endpoint, "with": dict(body), "reply": dict(reply)}))
        return reply

    return record


def replay_exchange(path: Path) -> Exchange:
    """Return an exchange that replays a recorded file; requests must come in the recorded order.

    Parameters
    ----------
    path
        File of `recording_exchange`.

    Returns
    -------
    Exchange
        Function from endpoint and body to a reply.

    Raises
    ------
    InputError
        If the file is invalid; calls raise it if a request differs from the recorded one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "record.jsonl"
    ...     _ = path.write_text('{"ask": "new_hand", "with": {}, "reply": {"winnings": 50}}', encoding="utf-8")
    ...     replay_exchange(path)("new_hand", {})
    {'winnings': 50}
    """
    remaining = iter([_parse_reply(line, str(path)) for line in read_text(path, "record").splitlines() if line.strip()])

    def replay(endpoint: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        line = next(remaining, None)
        if line is None:
            raise InputError(f"{path}: the record ends before {endpoint} {json.dumps(dict(body))}")
        if (line.get("ask"), line.get("with")) != (endpoint, dict(body)):
            request = f"{endpoint} {json.dumps(dict(body))}"
            raise InputError(f"{path}: {line.get('ask')} {json.dumps(line.get('with'))} is recorded, not {request}")
        reply = line.get("reply")
        if not isinstance(reply, dict):
            raise InputError(f"{path}: a line without a reply")
        return reply

    return replay
