"""What a player sees of a hand, as the ACPC protocol writes it: `MATCHSTATE:position:hand:betting:cards`.

    MATCHSTATE:0:30:cc/r250c/:9s8h|/8c8d5c/6s

The seat that looks, the number of the hand in the match, the betting with a `/` for every round that was dealt, and the
cards: hole cards by seat (nothing where they are hidden), then the board, round by round. Only a showdown shows the other
hand. When somebody is all-in and called, the rest of the board stands there at once: `r20000c///`.

    state = parse_match_state("MATCHSTATE:0:30:cc/r250c/:9s8h|/8c8d5c/6s", read_game("nolimit-200bb"))
    state.acting, state.betting.raise_range(), state.hole      # True, (350, 20000), the cards 9s8h
    state.reply("r500")                                        # MATCHSTATE:0:30:cc/r250c/:9s8h|/8c8d5c/6s:r500
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from riverboat.cards.deck import card_name
from riverboat.cards.notation import bad_token, show_cards
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError, shown
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.rules import Rules

TAG = "MATCHSTATE"
LAST_HAND = 2**32 - 1  # the protocol counts hands in 32 bits

Hand: TypeAlias = tuple[int, ...]  # hole cards in the order dealt; () where they are hidden
Holes: TypeAlias = tuple[Hand, Hand]  # by seat

_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST = re.compile(r"([fc]|r[0-9]*)/*\Z")  # the last move of a line
_FORM = f"{TAG}:position:hand:betting:cards"


class Point:
    """A betting state where a player is to move or the hand is over, with whose turn it is and what was seen to follow."""

    __slots__ = ("actor", "betting", "next")

    def __init__(self, betting: Betting) -> None:
        self.betting, self.actor = betting, betting.actor
        self.next: dict[str, Point] = {}  # by legal moves that were played here

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.betting == other.betting

    def __hash__(self) -> int:
        return hash(self.betting.line)


class Lines:
    """Points of a game by their lines, each worked out once: a match comes to the same ones again and again."""

    def __init__(self, rules: Rules, most: int = 1 << 14) -> None:
        if rules.board[0]:
            reason = "a match state has no place for board cards before the first betting"
            raise InputError(f"game {shown(rules.name)}: board={rules.board}: {reason}")
        self.rules, self.most = rules, most
        self.cards = {card_name(card): card for card in rules.deck.cards.tolist()}  # As, never aS
        self.read: dict[str, Hand] = {}  # texts of cards that were met
        self._points: dict[str, Point] = {}
        self.start = self.at(settled(Betting.start(rules)).line)

    def at(self, line: str) -> Point:
        """The point that a line leads to, such as `cr300c/`."""
        point = self._points.get(line) or self._follow(line)
        if point is not None:
            return point
        betting = Betting.from_line(self.rules, line)
        if betting.actor == CHANCE:
            raise InputError(
                f"line {shown(line)}: its last round is over, so a '/' follows: {shown(settled(betting).line)}"
            )
        return self._keep(betting)

    def after(self, point: Point, label: str) -> Point:
        """The point after a legal move; rounds are dealt where it ends one."""
        following = point.next.get(label)
        if following is None:
            betting = settled(point.betting.play(label))
            following = point.next[label] = self._points.get(betting.line) or self._keep(betting)
        return following

    def _follow(self, line: str) -> Point | None:
        """The point of a line that is one move longer than a known one: whoever watches a hand comes by it."""
        move = _LAST.search(line)
        before = self._points.get(line[: move.start()]) if move is not None else None
        if move is None or before is None or not before.betting.legal(move[1]):
            return None
        after = self.after(before, move[1])
        return after if after.betting.line == line else None

    def _keep(self, betting: Betting) -> Point:
        if len(self._points) >= self.most:  # random sizes make lines without end
            self._points.clear()
            self._points[self.start.betting.line] = self.start
            self.start.next.clear()
        point = self._points[betting.line] = Point(betting)
        return point


def settled(betting: Betting) -> Betting:
    """The state once the rounds that are due are dealt: a player's turn, or the end."""
    while betting.actor == CHANCE:
        betting = betting.next_street()
    return betting


@dataclass(frozen=True, slots=True)
class MatchState:
    """A hand from one seat."""

    position: int  # the seat that looks
    hand: int  # from 0
    point: Point
    holes: Holes
    board: tuple[int, ...]  # in the order dealt

    @property
    def betting(self) -> Betting:
        """Who has put in what."""
        return self.point.betting

    @property
    def rules(self) -> Rules:
        """Of the game."""
        return self.point.betting.rules

    @property
    def hole(self) -> Hand:
        """The cards of the seat that looks."""
        return self.holes[self.position]

    @property
    def acting(self) -> bool:
        """Whether the seat that looks is to move."""
        return self.point.actor == self.position

    @property
    def over(self) -> bool:
        """Whether the hand is at its end."""
        return self.point.actor == TERMINAL

    def reply(self, action: str) -> str:
        """What a client sends: the state and its move."""
        return f"{self}:{action}"

    def __str__(self) -> str:
        cards = show_deal(self.holes, self.board, self.betting)
        return show_match_state(self.position, self.hand, self.betting.line, cards)


# --- writing ----------------------------------------------------------------------------------


def show_match_state(position: int, hand: int, line: str, cards: str) -> str:
    """The text, from its parts."""
    return f"{TAG}:{position}:{hand}:{line}:{cards}"


def show_deal(holes: Holes, board: Sequence[int], betting: Betting) -> str:
    """`9s8h|/8c8d5c/6s`: hole cards, and the board as far as the betting has come."""
    return f"{show_cards(holes[0])}|{show_cards(holes[1])}{show_board(board, betting.rules, betting.street)}"


def show_board(board: Sequence[int], rules: Rules, street: int) -> str:
    """`/8c8d5c/6s`: the board up to a round."""
    ends = rules.board_sizes
    return "".join("/" + show_cards(board[ends[k - 1] : ends[k]]) for k in range(1, street + 1))


# --- reading ----------------------------------------------------------------------------------


def parse_match_state(text: str, rules: Rules, lines: Lines | None = None) -> MatchState:
    """The state that a text says, checked against the rules. Give `lines` where many are read: it saves work."""
    lines = lines if lines is not None else Lines(rules)
    where = f"match state {shown(text)}"
    fields = text.split(":")
    if len(fields) != 5:
        raise InputError(f"{where}: {len(fields)} fields, and 5 are needed: {_FORM}")
    tag, position, hand, line, cards = fields
    if tag != TAG:
        raise InputError(f"{where}: {shown(tag)}: a match state begins with {TAG}")
    if position not in ("0", "1"):
        raise InputError(f"{where}: position {shown(position)}: seats are 0 and 1")
    seat, number, point = int(position), parse_number(hand, where), parse_line(line, lines, where)
    holes, board = parse_deal(cards, point.betting, lines, where)
    if not holes[seat]:
        raise InputError(f"{where}: cards {shown(cards)}: those of seat {seat}, which looks, are missing")
    open_cards = point.actor == TERMINAL and point.betting.folded is None
    if bool(holes[1 - seat]) != open_cards:
        reason = "missing, and the hand is at its showdown" if open_cards else "there, and only a showdown shows them"
        raise InputError(f"{where}: cards {shown(cards)}: those of seat {1 - seat} are {reason}")
    return MatchState(seat, number, point, holes, board)


def parse_number(text: str, where: str) -> int:
    """The number of a hand."""
    if not _NUMBER.fullmatch(text) or int(text) > LAST_HAND:
        raise InputError(f"{where}: hand {shown(text)}: a whole number from 0 to {LAST_HAND} is needed")
    return int(text)


def parse_line(line: str, lines: Lines, where: str) -> Point:
    """The betting, at a player's turn or at the end."""
    try:
        return lines.at(line)
    except InputError as error:
        raise InputError(f"{where}: betting: {error}") from None


def parse_deal(text: str, betting: Betting, lines: Lines, where: str) -> tuple[Holes, tuple[int, ...]]:
    """Hole cards, all or none of each seat, and the board as far as the betting has come."""
    rules = lines.rules
    both, *rounds = text.split("/")
    sides = both.split("|")
    if len(sides) != 2:
        raise InputError(f"{where}: cards {shown(text)}: the hole cards of 2 seats are needed, divided by one '|'")
    if len(rounds) != betting.street:
        raise InputError(
            f"{where}: cards {shown(text)}: {len(rounds)} '/', and the betting {shown(betting.line)} has {betting.street}"
        )
    first, second = (_cards(side, lines, where) for side in sides)
    for seat, hole in enumerate((first, second)):
        if len(hole) not in (0, rules.hole):
            raise InputError(f"{where}: hole cards {shown(sides[seat])} of seat {seat}: {rules.hole} are dealt")
    board: Hand = ()
    for street, part in enumerate(rounds, 1):
        dealt = _cards(part, lines, where)
        if len(dealt) != rules.board[street]:
            raise InputError(f"{where}: {rules.streets[street]} {shown(part)}: {rules.board[street]} cards are dealt")
        board += dealt
    cards = (*first, *second, *board)
    if len(set(cards)) < len(cards):
        token = card_name(next(card for card in cards if cards.count(card) > 1))
        again = text.index(token, text.index(token) + 1)
        raise bad_token(f"{where}: cards {shown(text)}", token, again, "this card is there already; each stands once")
    return (first, second), board


def _cards(text: str, lines: Lines, where: str) -> Hand:
    """Cards of the deck; read once, since a hand shows them again and again."""
    hand = lines.read.get(text)
    if hand is not None:
        return hand
    cards = []
    for place in range(0, len(text), 2):
        token = text[place : place + 2]
        card = lines.cards.get(token)
        if card is None:
            deck = lines.rules.deck
            reason = f"no card of this game: write a rank of {deck.ranks} and a suit of {deck.suits}"
            raise bad_token(f"{where}: cards {shown(text)}", token, place, reason)
        cards.append(card)
    if len(lines.read) >= lines.most:
        lines.read.clear()
    hand = lines.read[text] = tuple(cards)
    return hand


# --- the end ----------------------------------------------------------------------------------


def values(betting: Betting, holes: Holes, board: tuple[int, ...]) -> tuple[int, int]:
    """Chips that each seat has won at the end of a hand. Both hands must be known at a showdown."""
    if betting.actor != TERMINAL:
        raise InputError(f"betting {shown(betting.line)}: the hand is not over, so nobody has won it")
    if betting.folded is not None:
        better = 1 if betting.folded == 1 else -1
    else:
        mine, theirs = (rank((*hole, *board)) for hole in holes)
        better = (mine > theirs) - (mine < theirs)
    return settle(betting, better)


def settle(betting: Betting, better: int) -> tuple[int, int]:
    """The same, where it is known whether seat 0 wins (1), nobody (0) or seat 1 (-1)."""
    betting.rules.need_zero_sum("hands are scored")
    won = better * betting.stake
    return won, -won
