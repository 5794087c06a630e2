"""Observations of players in hold'em: their own cards, the board and the betting, never the opponent's cards.

    observations = Observations.from_match_state("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", read_game("nolimit-200bb"))
    observations.betting(0).raise_range()

Lines are numbers, as in `riverboat.games.holdem.actions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import MatchState, format_deal, format_match_state, parse_match_state
from riverboat.games.holdem.public_states import PublicStates, check_cards
from riverboat.games.holdem.rules import PokerRules


@dataclass(frozen=True, eq=False)
class Observations:
    """Observations at n tables of one game, at each of which `seat` is to act.

    The constructor does not check its arguments; the `from_` methods do.

    Attributes
    ----------
    rules
        Rules of the game.
    hand
        int64 [n]: number of the hand in the match, which seeds an agent's random choices.
    seat
        Seat of the player to act. int8 [n]
    hole
        Hole cards of the player. uint8 [n, hole]
    board
        uint8 [n, board cards of the game]; HIDDEN_CARD if not dealt.
    moves
        int32 [n, most]: FOLD, CALL or the total of a raise; END_OF_LINE after the last.
    length
        Number of actions of the line. int32 [n]

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> tables = Observations.from_match_state("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", read_game("nolimit-200bb"))
    >>> len(tables), tables.line(0), tables.betting(0).raise_range()
    (1, 'cr300c/', RaiseRange(least=400, most=20000))
    """

    rules: PokerRules
    hand: Array  # int64 [n]: number of the hand in the match, which seeds an agent's random choices
    seat: Array  # int8 [n]
    hole: Array  # uint8 [n, hole]
    board: Array  # uint8 [n, board cards of the game]; HIDDEN_CARD if not dealt
    moves: Array  # int32 [n, most]: FOLD, CALL or the total of a raise; END_OF_LINE after the last
    length: Array  # int32 [n]

    def __len__(self) -> int:
        return len(self.length)

    def take(self, tables: Array) -> Observations:
        """Return some of the observations, by index or by mask.

        Parameters
        ----------
        tables
            Indices or a mask.
        """
        chosen = np.asarray(tables)
        arrays = self.hand, self.seat, self.hole, self.board, self.moves, self.length
        return Observations(self.rules, *(array[chosen] for array in arrays))

    # --- single tables ---

    @cached_property
    def public_states(self) -> PublicStates:
        """The public states of the tables: lines and boards without hole cards."""
        return PublicStates(self.rules, self.moves, self.length, self.board)

    def line(self, i: int) -> str:
        """Return the betting line of a table as in the ACPC protocol: `cr300c/`.

        Parameters
        ----------
        i
            Index of a table.
        """
        return self.public_states.line(i)

    def betting(self, i: int) -> BettingState:
        """Return the betting state of a table.

        Parameters
        ----------
        i
            Index of a table.
        """
        return self.public_states.betting(i)

    def match_state(self, i: int) -> str:
        """Return the match state of a table that the ACPC protocol sends to its player.

        Parameters
        ----------
        i
            Index of a table.
        """
        betting, seat, hole = self.betting(i), int(self.seat[i]), tuple(self.hole[i].tolist())
        holes = (hole, ()) if seat == 0 else ((), hole)
        return format_match_state(
            seat, int(self.hand[i]), betting.line, format_deal(holes, self.board[i].tolist(), betting)
        )

    # --- constructors ---

    @staticmethod
    def from_betting(
        states: Sequence[BettingState],
        holes: Sequence[Sequence[int] | Array],
        boards: Sequence[Sequence[int] | Array],
        hands: Iterable[int] | None = None,
    ) -> Observations:
        """Make observations of the seats to act in betting states, from their hole cards and boards.

        Parameters
        ----------
        states
            Betting states, in which a seat is to act.
        holes
            Hole cards of that seat.
        boards
            Board cards.
        hands
            Numbers of the hands in the match; 0, 1, … by default.
        """
        if not states:
            raise InputError("no states: a batch of observations needs at least one")
        rules, n = states[0].rules, len(states)
        numbers = np.arange(n) if hands is None else np.fromiter(hands, np.int64)
        if not len(holes) == len(boards) == len(numbers) == n:
            raise InputError(
                f"{n} states, {len(holes)} hands of cards, {len(boards)} boards: give one of each per table"
            )
        for i, state in enumerate(states):
            where = f"table {i} at {state.line!r}"
            if state.rules is not rules and state.rules != rules:
                raise InputError(f"{where}: its rules differ from those of table 0")
            if state.actor < 0:
                raise InputError(f"{where}: nobody is to act")
            check_cards(rules, state.street, boards[i], where, holes[i])
        public_states = PublicStates.from_betting(states, boards)
        seat, hole = np.array([state.turn for state in states], np.int8), np.array(holes, np.uint8)
        board, moves, length = public_states.board, public_states.moves, public_states.length
        return Observations(rules, numbers.astype(np.int64), seat, hole.reshape(n, -1), board, moves, length)

    @staticmethod
    def from_match_state(text: str, rules: PokerRules) -> Observations:
        """Make an observation from an ACPC match state of the player to act: `MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c`.

        Parameters
        ----------
        text
            Match state of the ACPC protocol.
        rules
            Rules of the game.
        """
        return Observations.from_match_states([parse_match_state(text.strip(), rules)])

    @staticmethod
    def from_match_states(states: Sequence[MatchState]) -> Observations:
        """Make observations from match states of the players to act.

        Parameters
        ----------
        states
            Match states of the players to act.
        """
        for state in states:
            if not state.acting:
                reason = "the hand is over" if state.over else f"it is the turn of seat {state.node.actor}"
                raise InputError(f"match state {str(state)!r}: seat {state.position} is not to act, {reason}")
        return Observations.from_betting(
            [state.betting for state in states],
            [state.hole for state in states],
            [state.board for state in states],
            [state.hand for state in states],
        )
