"""Betting of one hand, independent of the cards, with every legal size: `betting_rules` as an immutable state.

An action is a number: FOLD = -1 (only if there is a bet to call), CALL = 0 for a check or call, and for a raise the
TOTAL that the player has then put in over the whole hand, in limit games too. Text is parsed and formatted at the
edges. It is that of the ACPC protocol: `f`, `c`, and `r` in limit games or `r300` in no-limit games. A line joins the
actions and writes `/` where the next round is dealt: `cr300c/`. After a called all-in the remaining rounds are dealt
without betting: `r20000c///`.

    state = BettingState.from_line(read_game("nolimit-200bb"), "cr300c/")
    state.actor, state.pot, state.raise_range()      # 0, 600, (400, 20000)
    state = state.apply_action(600)
    state.line                                       # cr300c/r600

Seat 0 has the big blind, is out of position and acts first from the flop on; seat 1 is the dealer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import ShowdownPayoffs
from riverboat.games.holdem import betting_rules
from riverboat.games.holdem.bet_sizes import SizingContext
from riverboat.games.holdem.betting_rules import (
    CALL,
    FOLD,
    FOLDED,
    IN_PROGRESS,
    NOBODY,
    CompactBettingRules,
    CompactBettingState,
    call_amount,
    raise_bounds,
)
from riverboat.games.holdem.rules import PokerRules

# --- notations: the code handles actions as numbers (`betting_rules`); each game has a notation for its lines ---

DEAL = -3  # in the history of a state: the next round was dealt
_TOTAL_LABEL = re.compile(r"[br]([1-9]\d{0,15})", re.ASCII)


class ActionNotation(NamedTuple):
    """A notation of actions. `parse` inverts `format`.

    Attributes
    ----------
    joiner
        Text between the actions of a line.
    format
        Function that formats an action at a state.
    parse
        Function that parses a label at a state; it returns None if the label denotes no action there.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> state = BettingState.from_line(read_game("nolimit-200bb"), "cr300c/")
    >>> ACPC_NOTATION.format(state.rules.compact, state.compact, 600)
    'r600'
    >>> STREET_NOTATION.format(state.rules.compact, state.compact, 600)
    'b300'
    """

    joiner: str  # between the actions of a line
    format: Callable[[CompactBettingRules, CompactBettingState, int], str]
    parse: Callable[[CompactBettingRules, CompactBettingState, str], int | None]  # None: the label is no action here


def acpc_label(limit: bool, move: int) -> str:
    """Format an action as in the ACPC protocol: f, c, r300, in limit games r.

    Parameters
    ----------
    limit
        Whether the game is limit.
    move
        FOLD (-1), CALL (0), or the total of a raise.

    Returns
    -------
    str
        The label.

    Examples
    --------
    >>> acpc_label(False, 300), acpc_label(True, 20), acpc_label(False, -1)
    ('r300', 'r', 'f')
    """
    return "f" if move == FOLD else "c" if move == CALL else "r" if limit else f"r{move}"


def _format_acpc(book: CompactBettingRules, s: CompactBettingState, move: int) -> str:
    return acpc_label(book.limit, move)


def _parse_acpc(book: CompactBettingRules, s: CompactBettingState, label: str) -> int | None:
    if label in ("f", "c"):
        return FOLD if label == "f" else CALL
    if book.limit:
        return raise_bounds(book, s)[0] or None if label == "r" else None
    match = _TOTAL_LABEL.fullmatch(label)
    return int(match[1]) if match and label[0] == "r" else None


def _format_street(book: CompactBettingRules, s: CompactBettingState, move: int) -> str:
    # Notation of spots: x check, c call, f fold, a all-in; b120 a bet and r300 a raise, with the total of this street.
    if move <= CALL:
        return "f" if move == FOLD else "c" if call_amount(book, s) else "x"
    if move == min(book.stacks):
        return "a"
    return f"{'r' if max(s.spent0, s.spent1) > s.before else 'b'}{move - s.before}"


def _parse_street(book: CompactBettingRules, s: CompactBettingState, label: str) -> int | None:
    if label == "a":
        return int(min(book.stacks))
    match = _TOTAL_LABEL.fullmatch(label)
    move = s.before + int(match[1]) if match else {"f": FOLD, "c": CALL, "x": CALL}.get(label)
    return move if move is not None and _format_street(book, s, move) == label else None


ACPC_NOTATION = ActionNotation("", _format_acpc, _parse_acpc)
STREET_NOTATION = ActionNotation("-", _format_street, _parse_street)


_LINE_TOKEN = re.compile(r"[fc/]|r\d*")


class RaiseRange(NamedTuple):
    """Smallest and largest total of a raise; all totals between them are legal.

    Attributes
    ----------
    least
        Smallest total, in chips over the whole hand.
    most
        Largest total.

    Examples
    --------
    >>> RaiseRange(200, 20_000).least
    200
    """

    least: int
    most: int


def split_line(line: str) -> Iterator[str]:
    """Yield the actions and slashes of a line: `cr300c/` is c, r300, c, /.

    Parameters
    ----------
    line
        Line as in the ACPC protocol.

    Yields
    ------
    str
        An action or a slash.

    Raises
    ------
    InputError
        If a letter is no action.

    Examples
    --------
    >>> list(split_line("cr300c/"))
    ['c', 'r300', 'c', '/']
    """
    position = 0
    while position < len(line):
        match = _LINE_TOKEN.match(line, position)
        if match is None:
            raise InputError(
                f"line {short_repr(line)}: {short_repr(line[position])} (letter {position + 1}) is not a move: "
                "write f, c, r300, or / for a deal"
            )
        yield match[0]
        position = match.end()


def current_actor(book: CompactBettingRules, s: CompactBettingState) -> int:
    """Return the seat to act, CHANCE when the next round is dealt, TERMINAL when the hand is over.

    Parameters
    ----------
    book
        Rules for compiled loops, `rules.compact`.
    s
        State for compiled loops, `state.compact`.

    Returns
    -------
    int
        The seat to act, CHANCE when the next round is dealt, TERMINAL when the hand is over.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> state = BettingState.from_line(read_game("nolimit-200bb"), "cr300")
    >>> current_actor(state.rules.compact, state.compact)
    1
    """
    if s.over == IN_PROGRESS:
        return s.turn
    return CHANCE if s.over != FOLDED and s.street < len(book.first) - 1 else TERMINAL


def sizing_context(rules: PokerRules, s: CompactBettingState) -> SizingContext:
    """Return the amounts that bet sizes refer to; totals count this round only, from `before` on.

    Parameters
    ----------
    rules
        Rules of the game.
    s
        State for compiled loops, `state.compact`.

    Returns
    -------
    SizingContext
        The amounts that bet sizes refer to.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> state = BettingState.from_line(read_game("nolimit-200bb"), "cr300c/")
    >>> sizing_context(state.rules, state.compact).pot
    600
    """
    high = max(s.spent0, s.spent1)
    stack = high if rules.stacks is None else rules.stack
    streets_left = rules.rounds - s.street
    return SizingContext(rules.pot + 2 * high, high - s.before, s.last_raise, stack - s.before, streets_left)


@dataclass(frozen=True)
class BettingState:
    """Immutable betting state of a hand: chips put in by each seat, and whose turn it is. Any state can be a root.

    Attributes
    ----------
    rules
        Rules of the game.
    compact
        Chips and turn as numbers, for compiled loops.
    history
        Actions since the start, and DEAL where a round was dealt.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> state = BettingState.from_line(read_game("nolimit-200bb"), "cr300c/")
    >>> state.actor, state.pot, state.raise_range()
    (0, 600, RaiseRange(least=400, most=20000))
    >>> state.apply_action(600).line
    'cr300c/r600'
    """

    rules: PokerRules
    compact: CompactBettingState
    history: tuple[int, ...] = ()  # actions since the start, and DEAL where a round was dealt

    @staticmethod
    def start(rules: PokerRules) -> BettingState:
        """Return the state after blinds and antes.

        Parameters
        ----------
        rules
            Rules of the game.
        """
        return BettingState(rules, CompactBettingState(*rules.compact.start))

    @staticmethod
    def at_street(rules: PokerRules, street: int, spent: int = 0) -> BettingState:
        """Return the start of a round after each seat has put in `spent` chips: the root of a spot.

        Parameters
        ----------
        rules
            Rules of the game.
        street
            Betting round, from 0.
        spent
            Chips that each seat has put in before.
        """
        if not 0 <= street < rules.rounds:
            raise InputError(
                f"street {street} of game {short_repr(rules.name)}: its rounds are 0 to {rules.rounds - 1}"
            )
        if not 0 <= spent < (betting_rules.UNLIMITED if rules.stacks is None else rules.stack):
            raise InputError(f"spent={spent} chips of each seat: must be 0 or more and less than the stack")
        turn, least = rules.first[street], rules.compact.least_bet
        return BettingState(
            rules, CompactBettingState(spent, spent, turn, street, 0, 0, least, spent, IN_PROGRESS, NOBODY)
        )

    @staticmethod
    def from_line(rules: PokerRules, line: str) -> BettingState:
        """Return the state after a line such as `cr300c/cr600`.

        Parameters
        ----------
        rules
            Rules of the game.
        line
            Line as in the ACPC protocol, from the start of the hand.
        """
        state = BettingState.start(rules)
        for token in split_line(line):
            if token != "/":
                state = state.apply_action(state.parse_action(token))
            elif state.actor == CHANCE:
                state = state.next_street()
            else:
                raise InputError(
                    f"line {short_repr(line)}: no round is dealt at {short_repr(state.line)}: {state._describe_options()}"
                )
        return state

    # --- properties ---

    @property
    def actor(self) -> int:
        """The seat to act, CHANCE when the next round is dealt, TERMINAL when the hand is over."""
        return current_actor(self.rules.compact, self.compact)

    @property
    def actions(self) -> tuple[int, ...]:
        """The actions since the start."""
        return tuple(action for action in self.history if action != DEAL)

    @property
    def turn(self) -> int:
        """The seat whose turn it is, or the seat that folded."""
        return self.compact.turn

    @property
    def street(self) -> int:
        """The round, from 0."""
        return self.compact.street

    @property
    def spent(self) -> tuple[int, int]:
        """Chips put in by each seat over the whole hand, including blinds and antes."""
        return self.compact[:2]

    @property
    def raises(self) -> int:
        """Number of bets and raises of this round."""
        return self.compact.raises

    @property
    def num_actions(self) -> int:
        """Number of actions of this round."""
        return self.compact.acted

    @property
    def last_raise(self) -> int:
        """Increment of the last bet or raise of this round; the minimum bet before the first."""
        return self.compact.last_raise

    @property
    def committed_before_street(self) -> int:
        """Chips put in by each seat before this round; in the first round, the ante."""
        return self.compact.before

    @property
    def previous_aggressor(self) -> int | None:
        """The seat that bet or raised last on the previous round; None if nobody did."""
        return None if self.compact.led == NOBODY else self.compact.led

    @property
    def folded(self) -> int | None:
        """The seat that folded; None if nobody did."""
        return self.compact.turn if self.compact.over == FOLDED else None

    @property
    def to_call(self) -> int:
        """Chips that the seat to act would add by calling."""
        return betting_rules.call_amount(self.rules.compact, self.compact)

    @property
    def showdown(self) -> bool:
        """Whether nobody has folded; at the end of a hand, whether hands are compared."""
        return self.compact.over != FOLDED

    @property
    def pot(self) -> int:
        """Chips in the pot."""
        return self.rules.pot + sum(self.spent)

    @property
    def behind(self) -> tuple[int, int]:
        """Chips that each seat has left. Games without stacks raise InputError."""
        if self.rules.stacks is None:
            raise InputError(f"game {short_repr(self.rules.name)} has no stacks, so the chips left are not defined")
        return self.rules.stacks[0] - self.spent[0], self.rules.stacks[1] - self.spent[1]

    @property
    def sizing_context(self) -> SizingContext:
        """Amounts that bet sizes refer to; totals count the chips of this round only."""
        return sizing_context(self.rules, self.compact)

    # --- actions ---

    def raise_range(self) -> RaiseRange | None:
        """Return the smallest and largest total of a raise, equal in limit games; None if no raise is legal."""
        least, most = betting_rules.raise_bounds(self.rules.compact, self.compact)
        return RaiseRange(least, most) if self.compact.over == IN_PROGRESS and least <= most else None

    def is_legal(self, action: int) -> bool:
        """Return whether an action is legal.

        Parameters
        ----------
        action
            FOLD (-1), CALL (0), or the total of a raise over the whole hand.
        """
        book, s = self.rules.compact, self.compact
        return s.over == IN_PROGRESS and betting_rules.is_action_allowed(
            betting_rules.call_amount(book, s), *betting_rules.raise_bounds(book, s), action
        )

    def legal_actions(self) -> tuple[int, ...]:
        """Return all legal actions: fold, call, then raises upwards. Many, if stacks are deep."""
        if self.compact.over != IN_PROGRESS:
            return ()
        span = self.raise_range()
        return (*((FOLD, CALL) if self.to_call else (CALL,)), *(range(span.least, span.most + 1) if span else ()))

    def apply_action(self, action: int, *, check: bool = True) -> BettingState:
        """Return the state after an action.

        An illegal action raises InputError unless `check` is false. If stacks differ, menus have an all-in of the
        shorter stack that may be below the smallest raise of the deeper one.

        Parameters
        ----------
        action
            FOLD (-1), CALL (0), or the total of a raise over the whole hand.
        check
            Raise InputError if the action is illegal.
        """
        if check and not self.is_legal(action):
            raise self._illegal_action(acpc_label(self.rules.limit, action))
        after = betting_rules.apply_action(self.rules.compact, self.compact, action)
        return BettingState(self.rules, after, (*self.history, action))

    def play(self, action: int) -> BettingState:
        """Return the state after a legal action and the deals that follow it.

        Parameters
        ----------
        action
            FOLD (-1), CALL (0), or the total of a raise over the whole hand.
        """
        return self.apply_action(action).deal_due_streets()

    def next_street(self) -> BettingState:
        """Return the state after the deal, at a CHANCE state."""
        if self.actor != CHANCE:
            raise InputError(f"no round is dealt at {short_repr(self.line)}: {self._describe_options()}")
        after = betting_rules.deal_street(self.rules.compact, self.compact)
        return BettingState(self.rules, after, (*self.history, DEAL))

    def deal_due_streets(self) -> BettingState:
        """Apply all deals that are due; return the next state in which a player acts or the hand is over."""
        state = self
        while state.actor == CHANCE:
            state = state.next_street()
        return state

    # --- text ---

    @cached_property
    def line(self) -> str:
        """The actions since the start, as in the ACPC protocol: `cr300c/`."""
        limit = self.rules.limit
        return "".join("/" if action == DEAL else acpc_label(limit, action) for action in self.history)

    def find_action(self, label: str) -> int | None:
        """Return the legal action that a label of the ACPC protocol stands for; None if there is none.

        Parameters
        ----------
        label
            Action in the ACPC protocol: `f`, `c`, `r300`, in limit games `r`.
        """
        action = ACPC_NOTATION.parse(self.rules.compact, self.compact, label)
        return action if action is not None and self.is_legal(action) else None

    def parse_action(self, label: str) -> int:
        """Parse a legal action of the ACPC protocol: f, c, r300, in limit games r.

        Parameters
        ----------
        label
            Action in the ACPC protocol: `f`, `c`, `r300`, in limit games `r`.
        """
        action = self.find_action(label)
        if action is None:
            raise self._illegal_action(label)
        return action

    def _illegal_action(self, label: str) -> InputError:
        return InputError(f"illegal action {short_repr(label)} at {short_repr(self.line)}: {self._describe_options()}")

    def _describe_options(self) -> str:
        """Describe the legal actions or the next deal, for error messages."""
        if self.actor == TERMINAL:
            return "the hand is over"
        if self.actor == CHANCE:
            return f"the {self.rules.streets[self.street + 1]} is dealt here, written '/'"
        span = self.raise_range()
        others = ", ".join(repr(label) for label, action in (("c", CALL), ("f", FOLD)) if self.is_legal(action))
        if span is None:
            return f"{others} are legal, and nobody can raise"
        if self.rules.limit:
            return f"'r', or {others}"
        raises = f"raise to {span.least}-{span.most}" if span.least < span.most else f"'r{span.most}'"
        return f"{raises}, or {others}"

    # --- payoffs ---

    @property
    def stake(self) -> int:
        """Chips that the loser of the hand loses: the smaller total, since uncalled chips are returned."""
        return min(self.spent)

    def payoffs(self, dead_money: tuple[int, int] = (0, 0)) -> ShowdownPayoffs:
        """Return the payoffs of (seat 0, seat 1) if seat 0's hand is stronger, equal, weaker: net chips of the whole hand.

        `dead_money`: chips already in the pot at a root, which belong to nobody there. The payoff is then the share of
        the final pot, less the chips put in since. No rake is taken from uncalled chips.

        Parameters
        ----------
        dead_money
            Chips of each seat that are in the pot at a root and belong to nobody there.
        """
        rules, stake = self.rules, float(self.stake)
        pot = rules.pot + 2 * stake
        left = pot - rules.rake.amount(pot)
        win, lose, half = left - stake, 0.0 - stake, left / 2 - stake
        first, second = (win + dead_money[0], lose + dead_money[1]), (lose + dead_money[0], win + dead_money[1])
        if self.folded is not None:
            return (second,) * 3 if self.folded == 0 else (first,) * 3
        return first, (half + dead_money[0], half + dead_money[1]), second
