"""What a player sees of the tables it sits at: its cards, the board, the betting so far. Never the other's cards.

    views = Views.from_match_state("MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c", read_game("nolimit-200bb"))
    views.betting(0).raise_range()

Lines are numbers, as in `riverboat.games.holdem.actions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import MatchState, parse_match_state, show_deal, show_match_state
from riverboat.games.holdem.public_state import Places, check_cards
from riverboat.games.holdem.rules import Rules


@dataclass(frozen=True, eq=False)
class Views:
    """n tables of one game, at each of which `seat` is to act. Made by those who know them right; `of` checks."""

    rules: Rules
    hand: Array  # int64 [n]: number of the hand in the match; what an agent draws depends on it
    seat: Array  # int8 [n]
    hole: Array  # uint8 [n, hole]
    board: Array  # uint8 [n, board cards of the game]; HIDDEN where not dealt
    moves: Array  # int32 [n, most]: FOLD, CALL or the total of a raise; END behind the last
    length: Array  # int32 [n]

    def __len__(self) -> int:
        return len(self.length)

    def take(self, tables: Array) -> Views:
        """Some of the tables, by number or by mask."""
        chosen = np.asarray(tables)
        return Views(
            self.rules,
            *(part[chosen] for part in (self.hand, self.seat, self.hole, self.board, self.moves, self.length)),
        )

    # --- one table ------------------------------------------------------------------------------

    @cached_property
    def places(self) -> Places:
        """What everybody sees."""
        return Places(self.rules, self.moves, self.length, self.board)

    def line(self, i: int) -> str:
        """The betting of a table as the protocol writes it: `cr300c/`."""
        return self.places.line(i)

    def betting(self, i: int) -> Betting:
        """The state of the betting of a table."""
        return self.places.betting(i)

    def match_state(self, i: int) -> str:
        """The table as the ACPC protocol shows it to its player."""
        betting, seat, hole = self.betting(i), int(self.seat[i]), tuple(self.hole[i].tolist())
        holes = (hole, ()) if seat == 0 else ((), hole)
        return show_match_state(
            seat, int(self.hand[i]), betting.line, show_deal(holes, self.board[i].tolist(), betting)
        )

    # --- making ---------------------------------------------------------------------------------

    @staticmethod
    def of(
        states: Sequence[Betting],
        holes: Sequence[Sequence[int] | Array],
        boards: Sequence[Sequence[int] | Array],
        hands: Iterable[int] | None = None,
    ) -> Views:
        """Tables whose betting stands as in `states`, seen by the seat to act: its cards, and the cards on the board."""
        if not states:
            raise InputError("no tables: a batch of views has at least one")
        rules, n = states[0].rules, len(states)
        numbers = np.arange(n) if hands is None else np.fromiter(hands, np.int64)
        if not len(holes) == len(boards) == len(numbers) == n:
            raise InputError(f"{n} states, {len(holes)} hands of cards, {len(boards)} boards: give one of each a table")
        for i, state in enumerate(states):
            where = f"table {i} at {state.line!r}"
            if state.rules is not rules and state.rules != rules:
                raise InputError(f"{where}: a game of other rules than table 0")
            if state.actor < 0:
                raise InputError(f"{where}: nobody is to act")
            check_cards(rules, state.street, boards[i], where, holes[i])
        at = Places.of(states, boards)
        seat, hole = np.array([state.turn for state in states], np.int8), np.array(holes, np.uint8)
        return Views(rules, numbers.astype(np.int64), seat, hole.reshape(n, -1), at.board, at.moves, at.length)

    @staticmethod
    def from_match_state(text: str, rules: Rules) -> Views:
        """One table, as the ACPC protocol shows it to the player who is to act: `MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c`."""
        return Views.from_match_states([parse_match_state(text.strip(), rules)])

    @staticmethod
    def from_match_states(states: Sequence[MatchState]) -> Views:
        """Tables that are shown to the players who are to act there."""
        for state in states:
            if not state.acting:
                whose = "the hand is over" if state.over else f"it is the turn of seat {state.point.actor}"
                raise InputError(f"match state {str(state)!r}: seat {state.position} is not to act, {whose}")
        return Views.of(
            [state.betting for state in states],
            [state.hole for state in states],
            [state.board for state in states],
            [state.hand for state in states],
        )
