"""Match states of the ACPC protocol, what one player observes: `MATCHSTATE:position:hand:betting:cards`.

    MATCHSTATE:0:30:cc/r250c/:9s8h|/8c8d5c/6s

The fields are the seat of the player, the number of the hand in the match, the betting with a `/` for every round that
was dealt, and the cards: hole cards by seat (empty if hidden), then the board, round by round. Only a showdown shows
the opponent's hand. After a called all-in the rest of the board is there at once: `r20000c///`.

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
from riverboat.cards.notation import format_cards, token_error
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.rules import PokerRules

TAG = "MATCHSTATE"
MAX_HAND_NUMBER = 2**32 - 1  # the protocol counts hands in 32 bits

HoleCards: TypeAlias = tuple[int, ...]  # hole cards in the order dealt; () if hidden
Holes: TypeAlias = tuple[HoleCards, HoleCards]  # by seat

_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_ACTION = re.compile(r"([fc]|r[0-9]*)/*\Z")  # the last action of a line
_FORMAT = f"{TAG}:position:hand:betting:cards"


class BettingNode:
    """A cached betting state at a decision or at the end of a hand, with its actor and the successors seen so far."""

    __slots__ = ("actor", "betting", "children")

    def __init__(self, betting: BettingState) -> None:
        self.betting, self.actor = betting, betting.actor
        self.children: dict[str, BettingNode] = {}  # by the legal actions that were played here

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BettingNode) and self.betting == other.betting

    def __hash__(self) -> int:
        return hash(self.betting.line)


class BettingNodeCache:
    """Cache of the betting nodes and card texts of a game, since a match visits the same ones again and again."""

    def __init__(self, rules: PokerRules, max_nodes: int = 1 << 14) -> None:
        if rules.board[0]:
            reason = "a match state has no field for board cards before the first betting round"
            raise InputError(f"game {short_repr(rules.name)}: board={rules.board}: {reason}")
        self.rules, self.max_nodes = rules, max_nodes
        self.cards = {card_name(card): card for card in rules.deck.cards.tolist()}  # As, never aS
        self.parsed_cards: dict[str, HoleCards] = {}  # texts of cards parsed so far
        self._nodes: dict[str, BettingNode] = {}
        self.start = self.node_at(BettingState.start(rules).deal_due_streets().line)

    def node_at(self, line: str) -> BettingNode:
        """Return the node of a line such as `cr300c/`."""
        node = self._nodes.get(line) or self._extend_known_line(line)
        if node is not None:
            return node
        betting = BettingState.from_line(self.rules, line)
        if betting.actor == CHANCE:
            raise InputError(
                f"line {short_repr(line)}: its last round is over, so a '/' must follow: "
                f"{short_repr(betting.deal_due_streets().line)}"
            )
        return self._store(betting)

    def node_after(self, point: BettingNode, label: str) -> BettingNode:
        """Return the node after a legal action; rounds that are due are dealt."""
        following = point.children.get(label)
        if following is None:
            betting = point.betting.play(point.betting.parse_action(label))
            following = point.children[label] = self._nodes.get(betting.line) or self._store(betting)
        return following

    def _extend_known_line(self, line: str) -> BettingNode | None:
        """Return the node of a line that is one legal action longer than a cached one; None for other lines."""
        move = _LAST_ACTION.search(line)
        before = self._nodes.get(line[: move.start()]) if move is not None else None
        if move is None or before is None or before.betting.find_action(move[1]) is None:
            return None
        after = self.node_after(before, move[1])
        return after if after.betting.line == line else None

    def _store(self, betting: BettingState) -> BettingNode:
        if len(self._nodes) >= self.max_nodes:  # arbitrary sizes make unboundedly many lines
            self._nodes.clear()
            self._nodes[self.start.betting.line] = self.start
            self.start.children.clear()
        node = self._nodes[betting.line] = BettingNode(betting)
        return node


@dataclass(frozen=True, slots=True)
class MatchState:
    """What one player observes of a hand: seat, number of the hand, betting, and visible cards."""

    position: int  # seat of the player
    hand: int  # from 0
    node: BettingNode
    holes: Holes
    board: tuple[int, ...]  # in the order dealt

    @property
    def betting(self) -> BettingState:
        """The betting state."""
        return self.node.betting

    @property
    def rules(self) -> PokerRules:
        """The rules of the game."""
        return self.node.betting.rules

    @property
    def hole(self) -> HoleCards:
        """The hole cards of the player."""
        return self.holes[self.position]

    @property
    def acting(self) -> bool:
        """Whether the player is to act."""
        return self.node.actor == self.position

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return self.node.actor == TERMINAL

    def reply(self, action: str) -> str:
        """Return the client's reply: the state and its action."""
        return f"{self}:{action}"

    def __str__(self) -> str:
        cards = format_deal(self.holes, self.board, self.betting)
        return format_match_state(self.position, self.hand, self.betting.line, cards)


# --- formatting ---


def format_match_state(position: int, hand: int, line: str, cards: str) -> str:
    """Format a match state from its fields."""
    return f"{TAG}:{position}:{hand}:{line}:{cards}"


def format_deal(holes: Holes, board: Sequence[int], betting: BettingState) -> str:
    """Format hole cards, and the board up to the current round: `9s8h|/8c8d5c/6s`."""
    return f"{format_cards(holes[0])}|{format_cards(holes[1])}{format_board(board, betting.rules, betting.street)}"


def format_board(board: Sequence[int], rules: PokerRules, street: int) -> str:
    """Format the board up to a round: `/8c8d5c/6s`."""
    ends = rules.board_sizes
    return "".join("/" + format_cards(board[ends[k - 1] : ends[k]]) for k in range(1, street + 1))


# --- parsing ---


def parse_match_state(text: str, rules: PokerRules, lines: BettingNodeCache | None = None) -> MatchState:
    """Parse a match state and check it against the rules; a cache `lines`, passed to every call, saves time."""
    lines = lines if lines is not None else BettingNodeCache(rules)
    where = f"match state {short_repr(text)}"
    fields = text.split(":")
    if len(fields) != 5:
        raise InputError(f"{where}: {len(fields)} fields, and 5 are needed: {_FORMAT}")
    tag, position, hand, line, cards = fields
    if tag != TAG:
        raise InputError(f"{where}: {short_repr(tag)}: a match state begins with {TAG}")
    if position not in ("0", "1"):
        raise InputError(f"{where}: position {short_repr(position)}: seats are 0 and 1")
    seat, number, node = int(position), parse_number(hand, where), parse_line(line, lines, where)
    holes, board = parse_deal(cards, node.betting, lines, where)
    if not holes[seat]:
        raise InputError(f"{where}: cards {short_repr(cards)}: those of seat {seat}, the player, are missing")
    is_showdown = node.actor == TERMINAL and node.betting.folded is None
    if bool(holes[1 - seat]) != is_showdown:
        reason = "missing at a showdown" if is_showdown else "shown before a showdown"
        raise InputError(f"{where}: cards {short_repr(cards)}: those of seat {1 - seat} are {reason}")
    return MatchState(seat, number, node, holes, board)


def parse_number(text: str, where: str) -> int:
    """Parse the number of a hand; `where` locates it in error messages."""
    if not _NUMBER.fullmatch(text) or int(text) > MAX_HAND_NUMBER:
        raise InputError(f"{where}: hand {short_repr(text)}: a whole number from 0 to {MAX_HAND_NUMBER} is needed")
    return int(text)


def parse_line(line: str, lines: BettingNodeCache, where: str) -> BettingNode:
    """Parse the betting line, which must end at a player's turn or at the end of the hand."""
    try:
        return lines.node_at(line)
    except InputError as error:
        raise InputError(f"{where}: betting: {error}") from None


def parse_deal(text: str, betting: BettingState, lines: BettingNodeCache, where: str) -> tuple[Holes, tuple[int, ...]]:
    """Parse the hole cards, all or none of each seat, and the board up to the current round."""
    rules = lines.rules
    hole_text, *rounds = text.split("/")
    sides = hole_text.split("|")
    if len(sides) != 2:
        raise InputError(f"{where}: cards {short_repr(text)}: the hole cards of 2 seats are needed, divided by one '|'")
    if len(rounds) != betting.street:
        raise InputError(
            f"{where}: cards {short_repr(text)}: {len(rounds)} '/', and the betting "
            f"{short_repr(betting.line)} has {betting.street}"
        )
    first, second = (_parse_cards(side, lines, where) for side in sides)
    for seat, hole in enumerate((first, second)):
        if len(hole) not in (0, rules.hole):
            raise InputError(f"{where}: hole cards {short_repr(sides[seat])} of seat {seat}: {rules.hole} are dealt")
    board: HoleCards = ()
    for street, part in enumerate(rounds, 1):
        dealt = _parse_cards(part, lines, where)
        if len(dealt) != rules.board[street]:
            raise InputError(
                f"{where}: {rules.streets[street]} {short_repr(part)}: {rules.board[street]} cards are dealt"
            )
        board += dealt
    cards = (*first, *second, *board)
    if len(set(cards)) < len(cards):
        token = card_name(next(card for card in cards if cards.count(card) > 1))
        position = text.index(token, text.index(token) + 1)
        raise token_error(f"{where}: cards {short_repr(text)}", token, position, "duplicate card")
    return (first, second), board


def _parse_cards(text: str, lines: BettingNodeCache, where: str) -> HoleCards:
    """Parse cards of the deck, with a cache, since a hand shows the same cards again and again."""
    hand = lines.parsed_cards.get(text)
    if hand is not None:
        return hand
    cards = []
    for position in range(0, len(text), 2):
        token = text[position : position + 2]
        card = lines.cards.get(token)
        if card is None:
            deck = lines.rules.deck
            reason = f"not a card of this game: write a rank of {deck.ranks} and a suit of {deck.suits}"
            raise token_error(f"{where}: cards {short_repr(text)}", token, position, reason)
        cards.append(card)
    if len(lines.parsed_cards) >= lines.max_nodes:
        lines.parsed_cards.clear()
    hand = lines.parsed_cards[text] = tuple(cards)
    return hand


# --- payoffs ---


def payoffs_of_result(betting: BettingState, result: int) -> tuple[int, int]:
    """Return the chips that each seat has won if seat 0 wins (1), ties (0) or loses (-1)."""
    betting.rules.require_zero_sum("hands are scored")
    won = result * betting.stake
    return won, -won
