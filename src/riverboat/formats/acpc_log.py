"""Logs of ACPC matches: a line for every hand, and the score.

    # name/game/hands/seed match nolimit-200bb 2 7
    STATE:0:r300f:9s8h|KdKc:-100|100:alice|bob
    STATE:1:cc/cc/cc/cc:9s8h|KdKc/8c8d5c/6s/2d:100|-100:bob|alice
    SCORE:-200|200:alice|bob

A STATE has the number of the hand, the betting, all cards that were dealt, and chips won and names by seat. The SCORE
has totals and names by player, in the order of the first hand; an unfinished match has none. Lines that begin with `#`
are comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from riverboat.core.errors import InputError, located_errors
from riverboat.core.files import read_text
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import HandRecords, RecordedHand, build_records
from riverboat.games.holdem.match_state import (
    BettingNodeCache,
    Holes,
    format_deal,
    parse_deal,
    parse_line,
    parse_number,
)
from riverboat.games.holdem.rules import PokerRules, read_game

_HEADER = "# name/game/hands/seed "
ChipPair = tuple[int, int]
PlayerNames = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LoggedHand:
    r"""A finished hand of a log.

    Attributes
    ----------
    hand
        Number of the hand.
    betting
        The betting, finished.
    holes
        Hole cards by seat.
    board
        Board cards that were dealt.
    won
        Chips won, by seat.
    names
        Players, by seat.

    Examples
    --------
    >>> log = parse_log("# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n")
    >>> print(log.hands[0])
    STATE:0:r300f:9s8h|KdKc:-100|100:alice|bob
    """

    hand: int
    betting: BettingState
    holes: Holes
    board: tuple[int, ...]
    won: ChipPair  # chips, by seat
    names: PlayerNames  # by seat

    def __str__(self) -> str:
        cards = format_deal(self.holes, self.board, self.betting)
        return format_state_line(self.hand, self.betting.line, cards, self.won, self.names)


@dataclass(frozen=True)
class MatchLog:
    r"""Hands of a match in order, and the score if the match is finished.

    Attributes
    ----------
    rules
        Rules of the game.
    hands
        The hands.
    players
        Names of both players.
    score
        Chips won by player; None if the match is unfinished.

    Examples
    --------
    >>> log = parse_log("# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n")
    >>> log.totals(), log.score
    ((-100, 100), None)
    """

    rules: PokerRules
    hands: list[LoggedHand]
    players: PlayerNames
    score: ChipPair | None  # by player; None if the match is unfinished

    def totals(self) -> ChipPair:
        """Return the chips won by player, over the hands of the log."""
        first, second = self.players
        won = {first: 0, second: 0}
        for hand in self.hands:
            for name, chips in zip(hand.names, hand.won, strict=True):
                won[name] += chips
        return won[first], won[second]

    def to_records(self, scale: int = 1) -> HandRecords:
        """Return the hands as records; the chips won are computed again from betting and cards.

        Parameters
        ----------
        scale
            Chips per unit of money.
        """
        played = [RecordedHand(h.hand, h.names, h.betting, (*h.holes, h.board)) for h in self.hands]
        return build_records(played, self.rules, scale)


# --- formatting ---


def format_header(name: str, game: str, hands: int, seed: int, milliseconds: tuple[int, int, int]) -> str:
    """Format the comments at the start of a log.

    Parameters
    ----------
    name
        Name of the match.
    game
        Name of the game.
    hands
        Number of hands.
    seed
        Seed of the deals.
    milliseconds
        Time limits per action, per hand, and per hand on average.

    Returns
    -------
    str
        Four lines.

    Examples
    --------
    >>> print(format_header("match", "nolimit-200bb", 2, 7, (600000, 6000000, 7000)).splitlines()[0])
    # name/game/hands/seed match nolimit-200bb 2 7
    """
    answer, hand, average = milliseconds
    return f"{_HEADER}{name} {game} {hands} {seed}\n#--t_response {answer}\n#--t_hand {hand}\n#--t_per_hand {average}\n"


def format_state_line(hand: int, line: str, cards: str, won: ChipPair, names: PlayerNames) -> str:
    """Format the STATE line of a hand.

    Parameters
    ----------
    hand
        Number of the hand.
    line
        The betting.
    cards
        All cards that were dealt.
    won
        Chips won, by seat.
    names
        Players, by seat.

    Returns
    -------
    str
        The line, without its end.

    Examples
    --------
    >>> format_state_line(0, "r300f", "9s8h|KdKc", (-100, 100), ("alice", "bob"))
    'STATE:0:r300f:9s8h|KdKc:-100|100:alice|bob'
    """
    return f"STATE:{hand}:{line}:{cards}:{won[0]}|{won[1]}:{names[0]}|{names[1]}"


def format_score_line(score: ChipPair, players: PlayerNames) -> str:
    """Format the SCORE line of a finished match.

    Parameters
    ----------
    score
        Chips won, by player.
    players
        Names of both players.

    Returns
    -------
    str
        The line, without its end.

    Examples
    --------
    >>> format_score_line((-200, 200), ("alice", "bob"))
    'SCORE:-200|200:alice|bob'
    """
    return f"SCORE:{score[0]}|{score[1]}:{players[0]}|{players[1]}"


def check_names(names: Iterable[str]) -> None:
    """Raise InputError unless the names of both players differ and contain no `:`, `|` or space.

    Parameters
    ----------
    names
        The names.

    Raises
    ------
    InputError
        A name is invalid, or there are not two different names.

    Examples
    --------
    >>> check_names(["alice", "bob"])
    """
    both = list(names)
    for name in both:
        if not name or not name.isprintable() or any(c in ":| " for c in name):
            raise InputError(f"player name {name!r}: use letters without ':', '|' and spaces")
    if len(both) != 2 or both[0] == both[1]:
        raise InputError(f"player names {both}: must be two different names")


# --- parsing ---


def read_log(path: str | Path, rules: PokerRules | None = None) -> MatchLog:
    """Read a log from a file.

    Parameters
    ----------
    path
        The file.
    rules
        Rules of the game; by default those of the game that the first line names.

    Returns
    -------
    MatchLog
        The hands, and the score.

    Raises
    ------
    InputError
        The file cannot be read, or a line is malformed.

    Examples
    --------
    >>> read_log("missing.log")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: log 'missing.log': No such file or directory
    """
    return parse_log(read_text(path, "log", max_bytes=1 << 30), rules, str(path))


def parse_log(
    text: str,
    rules: PokerRules | None = None,
    where: str = "log",
    on_error: Callable[[InputError], None] | None = None,
) -> MatchLog:
    r"""Parse a log, and check its lines against the rules of the game; `verify_log` checks the chips won.

    Parameters
    ----------
    text
        Text of the log.
    rules
        Rules of the game; by default those of the game that the first line names.
    where
        What the text is, for messages.
    on_error
        Called with the error of each unreadable hand, which is then skipped; None raises it.

    Returns
    -------
    MatchLog
        The hands, and the score.

    Raises
    ------
    InputError
        A line is malformed, the rules are not known, or the log is empty.

    Examples
    --------
    >>> log = parse_log("# name/game/hands/seed match nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n")
    >>> log.players
    ('alice', 'bob')
    """
    lines: BettingNodeCache | None = None
    hands: list[LoggedHand] = []
    score: tuple[ChipPair, PlayerNames] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        location = f"{where}, line {number}"
        if raw.startswith(_HEADER) and rules is None:
            rules = _rules_from_header(raw, location)
        if not raw.strip() or raw.startswith(("#", ";")):
            continue
        if rules is None:
            raise InputError(f"{location}: no line above this one names the game; pass the rules")
        lines = lines or BettingNodeCache(rules)
        if score is not None:
            raise InputError(f"{location}: {raw!r}: the SCORE must be the last line")
        kind, *fields = raw.split(":")
        if kind == "STATE" and len(fields) == 5:
            try:
                hands.append(_parse_hand(fields, lines, location))
            except InputError as error:
                if on_error is None:
                    raise
                on_error(error)
        elif kind == "SCORE" and len(fields) == 2:
            score = _parse_pair(fields[0], location), _parse_names(fields[1], location)
        else:
            form = "STATE:hand:betting:cards:won|won:name|name or SCORE:won|won:name|name"
            raise InputError(f"{location}: {raw!r}: write {form}")
    if rules is None or (score is None and not hands):
        raise InputError(f"{where}: the log has neither hands nor a score")
    players = score[1] if score is not None else hands[0].names
    log = MatchLog(rules, hands, players, score[0] if score is not None else None)
    for hand in hands:
        if set(hand.names) != set(players):
            raise InputError(f"{where}: hand {hand.hand} is played by {hand.names}, the match by {players}")
    return log


def verify_log(log: MatchLog) -> ChipPair:
    r"""Recompute the chips won from betting and cards.

    Parameters
    ----------
    log
        The log.

    Returns
    -------
    tuple of int
        Totals of both players.

    Raises
    ------
    InputError
        A hand or the score of the log differs.

    Examples
    --------
    >>> verify_log(parse_log("# name/game/hands/seed m nolimit-200bb 1 7\nSTATE:0:r300f:9s8h|KdKc:-100|100:alice|bob\n"))
    (-100, 100)
    """
    for hand, won in zip(log.hands, log.to_records().won.tolist() if log.hands else [], strict=True):
        if tuple(won) != hand.won:
            raise InputError(f"hand {hand.hand}: the log says {hand.won}, its cards and betting {tuple(won)}: {hand}")
    totals = log.totals()
    if log.score is not None and totals != log.score:
        raise InputError(f"the log's score is {log.score}, the sum over its {len(log.hands)} hands {totals}")
    return totals


def _rules_from_header(line: str, place: str) -> PokerRules:
    words = line.removeprefix(_HEADER).split()
    if len(words) != 4:
        raise InputError(f"{place}: {line!r}: name, game, hands and seed are needed")
    try:
        return read_game(words[1])
    except InputError as error:
        raise InputError(f"{place}: {error}; or give the rules") from None


def _parse_hand(fields: list[str], lines: BettingNodeCache, place: str) -> LoggedHand:
    number, line, cards, won, names = fields
    node = parse_line(line, lines, place)
    if node.actor != TERMINAL:
        raise InputError(f"{place}: betting {line!r}: seat {node.actor} is to act, but a log has finished hands only")
    holes, board = parse_deal(cards, node.betting, lines, place)
    if not all(holes):
        raise InputError(f"{place}: cards {cards!r}: a log needs the cards of both seats")
    return LoggedHand(
        parse_number(number, place), node.betting, holes, board, _parse_pair(won, place), _parse_names(names, place)
    )


def _parse_pair(text: str, place: str) -> ChipPair:
    try:
        first, second = (int(part) for part in text.split("|"))
    except ValueError:
        raise InputError(f"{place}: values {text!r}: two whole numbers of chips are needed, such as -100|100") from None
    return first, second


def _parse_names(text: str, place: str) -> PlayerNames:
    names = text.split("|")
    with located_errors(place):
        check_names(names)
    return names[0], names[1]
