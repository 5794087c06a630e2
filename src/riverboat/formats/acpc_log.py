"""Logs of ACPC matches: a line for every hand, and the score.

    # name/game/hands/seed match nolimit-200bb 2 7
    STATE:0:r300f:9s8h|KdKc:-100|100:alice|bob
    STATE:1:cc/cc/cc/cc:9s8h|KdKc/8c8d5c/6s/2d:100|-100:bob|alice
    SCORE:-200|200:alice|bob

A STATE has the number of the hand, the betting, all cards as far as they were dealt, and chips won and names by seat. The
SCORE has totals and names by player, in the order of the first hand; a match that broke off has none. Lines that begin with
`#` are comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from riverboat.core.errors import InputError
from riverboat.core.text_files import read_text
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import Holes, Lines, parse_deal, parse_line, parse_number, show_deal
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.games.records.hand_records import Hands, Played, record

_HEADER = "# name/game/hands/seed "
Pair = tuple[int, int]
Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LoggedHand:
    """A hand that was played to its end."""

    hand: int
    betting: Betting
    holes: Holes
    board: tuple[int, ...]
    won: Pair  # chips, by seat
    names: Names  # by seat

    def __str__(self) -> str:
        cards = show_deal(self.holes, self.board, self.betting)
        return show_hand(self.hand, self.betting.line, cards, self.won, self.names)


@dataclass(frozen=True)
class MatchLog:
    """The hands of a match in order, and the score if it was played to its end."""

    rules: Rules
    hands: list[LoggedHand]
    players: Names
    score: Pair | None  # by player; None: the match broke off

    def totals(self) -> Pair:
        """Chips won by player, over the hands of the log."""
        first, second = self.players
        won = {first: 0, second: 0}
        for hand in self.hands:
            for name, chips in zip(hand.names, hand.won, strict=True):
                won[name] += chips
        return won[first], won[second]

    def record(self, scale: int = 1) -> Hands:
        """The hands as arrays; what they won is worked out again."""
        played = [Played(h.hand, h.names, h.betting, (*h.holes, h.board)) for h in self.hands]
        return record(played, self.rules, scale)


# --- writing ----------------------------------------------------------------------------------


def show_header(name: str, game: str, hands: int, seed: int, milliseconds: tuple[int, int, int]) -> str:
    """The comments that a log begins with; time limits of an answer, of a hand, and on average."""
    answer, hand, average = milliseconds
    return f"{_HEADER}{name} {game} {hands} {seed}\n#--t_response {answer}\n#--t_hand {hand}\n#--t_per_hand {average}\n"


def show_hand(hand: int, line: str, cards: str, won: Pair, names: Names) -> str:
    """The STATE line of a hand."""
    return f"STATE:{hand}:{line}:{cards}:{won[0]}|{won[1]}:{names[0]}|{names[1]}"


def show_score(score: Pair, players: Names) -> str:
    """The last line of a match that was played to its end."""
    return f"SCORE:{score[0]}|{score[1]}:{players[0]}|{players[1]}"


def check_names(names: Iterable[str]) -> None:
    """A log divides by `:`, `|` and spaces, and tells players apart by name."""
    given = list(names)
    for name in given:
        if not name or not name.isprintable() or any(c in ":| " for c in name):
            raise InputError(f"player name {name!r}: use letters without ':', '|' and spaces")
    if len(given) != 2 or given[0] == given[1]:
        raise InputError(f"player names {given}: two different ones are needed")


# --- reading ----------------------------------------------------------------------------------


def read_log(path: str | Path, rules: Rules | None = None) -> MatchLog:
    """A log from a file. Without rules, those of the game that its first line names."""
    return parse_log(read_text(path, "log", most=1 << 30), rules, str(path))


def parse_log(
    text: str,
    rules: Rules | None = None,
    where: str = "log",
    refuse: Callable[[InputError], None] | None = None,
) -> MatchLog:
    """A log from its text; lines are checked against the rules of the game, values by `replay` alone.

    With `refuse`, hands that cannot be read are told to it and left out.
    """
    lines: Lines | None = None
    hands: list[LoggedHand] = []
    score: tuple[Pair, Names] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        place = f"{where}, line {number}"
        if raw.startswith(_HEADER) and rules is None:
            rules = _named_game(raw, place)
        if not raw.strip() or raw.startswith(("#", ";")):
            continue
        if rules is None:
            raise InputError(f"{place}: no line above names the game; give the rules")
        lines = lines or Lines(rules)
        if score is not None:
            raise InputError(f"{place}: {raw!r}: nothing stands behind the SCORE")
        kind, *fields = raw.split(":")
        if kind == "STATE" and len(fields) == 5:
            try:
                hands.append(_hand(fields, lines, place))
            except InputError as error:
                if refuse is None:
                    raise
                refuse(error)
        elif kind == "SCORE" and len(fields) == 2:
            score = _pair(fields[0], place), _names(fields[1], place)
        else:
            form = "STATE:hand:betting:cards:won|won:name|name or SCORE:won|won:name|name"
            raise InputError(f"{place}: {raw!r}: write {form}")
    if rules is None or (score is None and not hands):
        raise InputError(f"{where}: neither hands nor a score")
    players = score[1] if score is not None else hands[0].names
    log = MatchLog(rules, hands, players, score[0] if score is not None else None)
    for hand in hands:
        if set(hand.names) != set(players):
            raise InputError(f"{where}: hand {hand.hand} is played by {hand.names}, the match by {players}")
    return log


def replay(log: MatchLog) -> Pair:
    """Play the hands again from their betting and cards: what both players win. Differs from the log: an error."""
    for hand, won in zip(log.hands, log.record().won.tolist() if log.hands else [], strict=True):
        if tuple(won) != hand.won:
            raise InputError(f"hand {hand.hand}: the log says {hand.won}, its cards and betting {tuple(won)}: {hand}")
    totals = log.totals()
    if log.score is not None and totals != log.score:
        raise InputError(f"the log's score is {log.score}, the sum over its {len(log.hands)} hands {totals}")
    return totals


def _named_game(line: str, place: str) -> Rules:
    words = line.removeprefix(_HEADER).split()
    if len(words) != 4:
        raise InputError(f"{place}: {line!r}: name, game, hands and seed are needed")
    try:
        return read_game(words[1])
    except InputError as error:
        raise InputError(f"{place}: {error}; or give the rules") from None


def _hand(fields: list[str], lines: Lines, place: str) -> LoggedHand:
    number, line, cards, won, names = fields
    point = parse_line(line, lines, place)
    if point.actor != TERMINAL:
        raise InputError(f"{place}: betting {line!r}: seat {point.actor} is to move, and a log has whole hands")
    holes, board = parse_deal(cards, point.betting, lines, place)
    if not all(holes):
        raise InputError(f"{place}: cards {cards!r}: a log has the cards of both seats")
    return LoggedHand(parse_number(number, place), point.betting, holes, board, _pair(won, place), _names(names, place))


def _pair(text: str, place: str) -> Pair:
    try:
        first, second = (int(part) for part in text.split("|"))
    except ValueError:
        raise InputError(f"{place}: values {text!r}: two whole numbers of chips are needed, such as -100|100") from None
    return first, second


def _names(text: str, place: str) -> Names:
    names = text.split("|")
    try:
        check_names(names)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    return names[0], names[1]
