"""The betting of one hand, whatever the cards, with every legal size: `betting_rules` as an immutable state.

Moves are written as in the ACPC protocol: `f` fold (only where chips are to be called), `c` check or call, and `r` in limit
games or `r300` in no-limit ones, with the TOTAL that the player has then put in over the whole hand. A line joins the moves
and writes `/` where the next round is dealt: `cr300c/`. When somebody is all-in and called, the rounds that are left are
dealt without betting: `r20000c///`.

    state = Betting.from_line(read_game("nolimit-200bb"), "cr300c/")
    state.actor, state.pot, state.raise_range()      # 0, 600, (400, 20000)
    state = state.play("r600")

Seat 0 has the big blind, is out of position and speaks first from the flop on; seat 1 is the dealer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from riverboat.core.errors import InputError, shown
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import Pay
from riverboat.games.holdem import betting_rules as core
from riverboat.games.holdem.action_labels import ACPC
from riverboat.games.holdem.bet_sizes import Situation
from riverboat.games.holdem.betting_rules import CALL, FOLD, FOLDED, GOING, NOBODY, Book, State
from riverboat.games.holdem.rules import Rules

_STEP = re.compile(r"[fc/]|r\d*")


class RaiseRange(NamedTuple):
    """Totals that a raise may reach; all between them too."""

    least: int
    most: int


def steps(line: str) -> Iterator[str]:
    """Moves and slashes of a line: `cr300c/` is c, r300, c, /."""
    place = 0
    while place < len(line):
        match = _STEP.match(line, place)
        if match is None:
            raise InputError(
                f"line {shown(line)}: {shown(line[place])} (letter {place + 1}) is no move: write f, c, r300, or / for a deal"
            )
        yield match[0]
        place = match.end()


def actor_of(book: Book, s: State) -> int:
    """The seat to move, CHANCE when the next round is dealt, TERMINAL when the hand is over."""
    if s.over == GOING:
        return s.turn
    return CHANCE if s.over != FOLDED and s.street < len(book.first) - 1 else TERMINAL


def situation_of(rules: Rules, s: State) -> Situation:
    """What the sizes of a bet or raise are measured by; totals count this round alone, from `before` on."""
    high = max(s.spent0, s.spent1)
    stack = high if rules.stacks is None else rules.stack
    left = rules.rounds - s.street
    return Situation(rules.pot + 2 * high, high - s.before, s.last_raise, stack - s.before, left)


@dataclass(frozen=True)
class Betting:
    """Who has put in what, and whose turn it is. Immutable; any of them can be the root of a tree."""

    rules: Rules
    at: State
    line: str = ""

    @staticmethod
    def start(rules: Rules) -> Betting:
        """Blinds and antes are in."""
        return Betting(rules, State(*rules.book.start))

    @staticmethod
    def on(rules: Rules, street: int, spent: int = 0) -> Betting:
        """The start of a round, after each seat has put in so much: the root of a spot."""
        if not 0 <= street < rules.rounds:
            raise InputError(f"street {street} of game {shown(rules.name)}: it has the rounds 0 to {rules.rounds - 1}")
        if not 0 <= spent < (core.NO_END if rules.stacks is None else rules.stack):
            raise InputError(f"{spent} chips of each seat: must be 0 or more and leave something to bet")
        turn, least = rules.first[street], rules.book.least_bet
        return Betting(rules, State(spent, spent, turn, street, 0, 0, least, spent, GOING, NOBODY))

    @staticmethod
    def from_line(rules: Rules, line: str) -> Betting:
        """The state that a line leads to, such as `cr300c/cr600`."""
        state = Betting.start(rules)
        for step in steps(line):
            if step != "/":
                state = state.play(step)
            elif state.actor == CHANCE:
                state = state.next_street()
            else:
                raise InputError(f"line {shown(line)}: no round is dealt at {shown(state.line)}: {state._options()}")
        return state

    # --- where the hand stands -----------------------------------------------------------------

    @property
    def actor(self) -> int:
        """The seat to move, CHANCE when the next round is dealt, TERMINAL when the hand is over."""
        return actor_of(self.rules.book, self.at)

    @property
    def turn(self) -> int:
        """The seat whose turn it is, or who folded."""
        return self.at.turn

    @property
    def street(self) -> int:
        """The round, from 0."""
        return self.at.street

    @property
    def spent(self) -> tuple[int, int]:
        """By seat, over the whole hand, blinds and antes included."""
        return self.at[:2]

    @property
    def raises(self) -> int:
        """Bets and raises of this round."""
        return self.at.raises

    @property
    def acted(self) -> int:
        """Moves of this round."""
        return self.at.acted

    @property
    def last_raise(self) -> int:
        """What the last bet or raise of this round added; the least bet before one."""
        return self.at.last_raise

    @property
    def before(self) -> int:
        """What each seat had put in when this round began; in the first, the ante."""
        return self.at.before

    @property
    def led(self) -> int | None:
        """The seat that bet or raised last on the round before."""
        return None if self.at.led == NOBODY else self.at.led

    @property
    def folded(self) -> int | None:
        """The seat that folded."""
        return self.at.turn if self.at.over == FOLDED else None

    @property
    def to_call(self) -> int:
        """Chips that the seat whose turn it is would add by calling."""
        return core.price(self.rules.book, self.at)

    @property
    def showdown(self) -> bool:
        """Nobody folded."""
        return self.at.over != FOLDED

    @property
    def pot(self) -> int:
        """Chips in the middle."""
        return self.rules.pot + sum(self.spent)

    @property
    def behind(self) -> tuple[int, int]:
        """Chips that each seat has left. Without stacks there is no end, and none is known."""
        if self.rules.stacks is None:
            raise InputError(f"game {shown(self.rules.name)} has no stacks, so nobody has a number of chips left")
        return self.rules.stacks[0] - self.spent[0], self.rules.stacks[1] - self.spent[1]

    @property
    def situation(self) -> Situation:
        """What the sizes of a bet or raise are measured by; totals count this round alone, from `before` on."""
        return situation_of(self.rules, self.at)

    # --- moves ---------------------------------------------------------------------------------

    def raise_range(self) -> RaiseRange | None:
        """The least and the most total of a raise; in limit games they are the same. None: no raise is legal."""
        least, most = core.span(self.rules.book, self.at)
        return RaiseRange(least, most) if self.at.over == GOING and least <= most else None

    def legal(self, label: str) -> bool:
        """Whether a move may be played here."""
        book, s = self.rules.book, self.at
        move = ACPC.read(book, s, label) if s.over == GOING else None
        return move is not None and core.allowed(core.price(book, s), *core.span(book, s), move)

    def moves(self) -> tuple[str, ...]:
        """Labels of all legal moves: fold, call, then raises upwards. Many, where stacks are deep."""
        if self.at.over != GOING:
            return ()
        span = self.raise_range()
        passive = (FOLD, CALL) if self.to_call else (CALL,)
        raises = range(span.least, span.most + 1) if span is not None else ()
        return tuple(ACPC.write(self.rules.book, self.at, move) for move in (*passive, *raises))

    def play(self, label: str) -> Betting:
        """The state after a legal move."""
        if not self.legal(label):
            raise InputError(f"illegal action {shown(label)} at {shown(self.line)}: {self._options()}")
        return self.move(label)

    def move(self, label: str) -> Betting:
        """The state after a move that is known to be legal."""
        move = ACPC.read(self.rules.book, self.at, label)
        assert move is not None
        return Betting(self.rules, core.step(self.rules.book, self.at, move), self.line + label)

    def next_street(self) -> Betting:
        """At CHANCE: the state after the deal."""
        if self.actor != CHANCE:
            raise InputError(f"no round is dealt at {shown(self.line)}: {self._options()}")
        return Betting(self.rules, core.deal(self.rules.book, self.at), self.line + "/")

    def _options(self) -> str:
        """What can follow, in words."""
        if self.actor == TERMINAL:
            return "the hand is over"
        if self.actor == CHANCE:
            return f"the {self.rules.streets[self.street + 1]} is dealt there, written '/'"
        span = self.raise_range()
        others = ", ".join(repr(label) for label in ("c", "f") if self.legal(label))
        if span is None:
            return f"{others} can be played, and nobody can raise"
        if self.rules.limit:
            return f"'r', or {others}"
        return (
            f"raise to {span.least}-{span.most}, or {others}"
            if span.least < span.most
            else f"'r{span.most}', or {others}"
        )

    # --- the end -------------------------------------------------------------------------------

    @property
    def stake(self) -> int:
        """What the loser loses: chips that nobody called go back."""
        return min(self.spent)

    def pay(self, paid: tuple[int, int] = (0, 0)) -> Pay:
        """What (seat 0, seat 1) win when seat 0's hand is stronger, equal, weaker: net chips of the whole hand.

        `paid`: chips that lay in the middle already at a root and belong to nobody there; what is won since is then the
        share of the final pot, less the chips put in since. No rake is taken of what nobody called.
        """
        rules, stake = self.rules, float(self.stake)
        pot = rules.pot + 2 * stake
        left = pot - rules.rake.of(pot)
        win, lose, half = left - stake, 0.0 - stake, left / 2 - stake
        first, second = (win + paid[0], lose + paid[1]), (lose + paid[0], win + paid[1])
        if self.folded is not None:
            return (second,) * 3 if self.folded == 0 else (first,) * 3
        return first, (half + paid[0], half + paid[1]), second
