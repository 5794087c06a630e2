"""The betting of one hand by the rules of the ACPC protocol, whatever the cards and with every legal size.

Moves are `f` fold (only where chips are to be called), `c` check or call, and `r` in limit games or `r300` in no-limit ones,
with the TOTAL that the player has then put in over the whole hand. A raise adds at least what the last raise of the round
added, and at least a big blind, unless it is all-in. A line joins the moves and writes `/` where the next round is dealt:
`cr300c/`. When somebody is all-in and called, the rounds that are left are dealt without betting: `r20000c///`.

    state = Betting.from_line(read_game("nolimit-200bb"), "cr300c/")
    state.actor, state.pot, state.raise_range()      # 0, 600, (400, 20000)
    state = state.play("r600")
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from riverboat.errors import InputError, shown
from riverboat.games.acpc import Rules
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.board_game import Pay
from riverboat.games.sizes import Situation

_STEP = re.compile(r"[fc/]|r\d*")


class RaiseRange(NamedTuple):
    """Totals that a raise may reach; all between them too."""

    least: int
    most: int


def steps(line: str) -> Iterator[str]:
    """Moves and slashes of a line: `cr300c/` is c, r300, c, /."""
    place = 0
    while place < len(line):
        found = _STEP.match(line, place)
        if found is None:
            raise InputError(
                f"line {shown(line)}: {shown(line[place])} (letter {place + 1}) is no move: write f, c, r300, or / for a deal"
            )
        yield found[0]
        place = found.end()


@dataclass(frozen=True)
class Betting:
    """Who has put in what, and whose turn it is. Immutable."""

    rules: Rules
    spent: tuple[int, int]  # by seat, over the whole hand, blinds included
    turn: int
    street: int = 0
    raises: int = 0  # bets and raises of this round
    acted: int = 0  # moves of this round
    last_raise: int = 0  # what the last bet or raise of this round added; the big blind before one
    before: int = 0  # what each seat had put in when this round began; 0 in the first
    folded: int | None = None
    line: str = ""

    @staticmethod
    def start(rules: Rules) -> Betting:
        """Blinds are in."""
        return Betting(rules, rules.blinds, rules.first[0], last_raise=rules.big_blind)

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
        if self.folded is not None:
            return TERMINAL
        if (self.acted >= 2 and not self.to_call) or self.all_in_and_called:
            return CHANCE if self.street < self.rules.rounds - 1 else TERMINAL
        return self.turn

    @property
    def to_call(self) -> int:
        """Chips that the seat whose turn it is would add by calling."""
        return min(max(self.spent), self._stack(self.turn)) - self.spent[self.turn]

    @property
    def all_in_and_called(self) -> bool:
        """Nobody will bet any more."""
        return not self.to_call and self._all_in(0, 1)

    @property
    def showdown(self) -> bool:
        """Nobody folded."""
        return self.folded is None

    @property
    def pot(self) -> int:
        """Chips in the middle."""
        return sum(self.spent)

    @property
    def behind(self) -> tuple[int, int]:
        """Chips that each seat has left. Without stacks there is no end, and none is known."""
        if self.rules.stacks is None:
            raise InputError(f"game {shown(self.rules.name)} has no stacks, so nobody has a number of chips left")
        return self.rules.stacks[0] - self.spent[0], self.rules.stacks[1] - self.spent[1]

    @property
    def situation(self) -> Situation:
        """What the sizes of a bet or raise are measured by; totals count this round alone, from `before` on."""
        high = max(self.spent)
        stack = min(self.rules.stacks) if self.rules.stacks is not None else high
        return Situation(
            2 * high, high - self.before, self.last_raise, stack - self.before, self.rules.rounds - self.street
        )

    def _stack(self, seat: int) -> int:
        return (
            self.rules.stacks[seat] if self.rules.stacks is not None else max(self.spent) + max(self.rules.raise_sizes)
        )

    def _all_in(self, *seats: int) -> bool:
        return self.rules.stacks is not None and any(self.spent[seat] == self.rules.stacks[seat] for seat in seats)

    # --- moves ---------------------------------------------------------------------------------

    def raise_range(self) -> RaiseRange | None:
        """The least and the most total of a raise; in limit games they are the same. None: no raise is legal."""
        most_raises, high = self.rules.most_raises, max(self.spent)
        if self.actor < 0 or self._all_in(1 - self.turn) or self._stack(self.turn) <= high:
            return None
        if most_raises is not None and self.raises >= most_raises[self.street]:
            return None
        by = self.rules.raise_sizes[self.street] if self.rules.limit else self.last_raise
        least = min(high + by, self._stack(self.turn))
        return RaiseRange(least, least if self.rules.limit else self._stack(self.turn))

    def legal(self, label: str) -> bool:
        """Whether a move may be played here."""
        if self.actor < 0:
            return False
        if label in ("f", "c"):
            return label == "c" or self.to_call > 0
        span = self.raise_range()
        if span is None or self.rules.limit:
            return span is not None and label == "r"
        return (
            re.fullmatch(r"r[1-9]\d{0,15}", label, re.ASCII) is not None and span.least <= int(label[1:]) <= span.most
        )

    def moves(self) -> tuple[str, ...]:
        """Labels of all legal moves: fold, call, then raises upwards. Many, where stacks are deep."""
        passive = tuple(label for label in ("f", "c") if self.legal(label))
        span = self.raise_range()
        if span is None:
            return passive
        if self.rules.limit:
            return (*passive, "r")
        return (*passive, *(f"r{total}" for total in range(span.least, span.most + 1)))

    def play(self, label: str) -> Betting:
        """The state after a legal move."""
        if not self.legal(label):
            raise InputError(f"illegal action {shown(label)} at {shown(self.line)}: {self._options()}")
        return self.move(label)

    def move(self, label: str) -> Betting:
        """The state after a move that is known to be legal."""
        me, line = self.turn, self.line + label
        if label == "f":
            return replace(self, folded=me, line=line)
        high = max(self.spent)
        if label == "c":
            total = self.spent[me] + self.to_call
        elif self.rules.limit:
            total = min(high + self.rules.raise_sizes[self.street], self._stack(me))
        else:
            total = int(label[1:])
        spent = (total, self.spent[1]) if me == 0 else (self.spent[0], total)
        after = replace(self, spent=spent, turn=1 - me, acted=self.acted + 1, line=line)
        if total <= high:
            return after
        # A raise that is short of the minimum is all-in and cannot be raised again: it need not be told apart.
        return replace(after, raises=self.raises + 1, last_raise=max(self.last_raise, total - high))

    def next_street(self) -> Betting:
        """At CHANCE: the state after the deal."""
        if self.actor != CHANCE:
            raise InputError(f"no round is dealt at {shown(self.line)}: {self._options()}")
        street = self.street + 1
        return Betting(
            self.rules,
            self.spent,
            self.rules.first[street],
            street,
            last_raise=self.rules.big_blind,
            before=min(self.spent),
            line=self.line + "/",
        )

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

    def pay(self) -> Pay:
        """What (seat 0, seat 1) win when seat 0's hand is stronger, equal, weaker."""
        stake = float(self.stake)
        first, second = (stake, 0.0 - stake), (0.0 - stake, stake)
        if self.folded is not None:
            return (second,) * 3 if self.folded == 0 else (first,) * 3
        return first, (0.0, 0.0), second
