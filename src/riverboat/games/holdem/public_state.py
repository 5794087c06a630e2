"""Public places of hold'em: where hands stand for everybody at the table, without anybody's cards.

    places = Places.from_lines(read_game("nolimit-200bb"), ["cr300c/", "cr300c/cr600"], ["8c8d5c", "8c8d5c"])
    places.actor                                     # who acts at each

A place is a line and the board that lies there. Whatever a strategy answers at places, it answers for all hands at once.
Lines are numbers, as in `riverboat.games.holdem.actions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.cards.notation import Cards, parse_cards, show_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import END, HIDDEN, moves_of, play_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.betting_batch import states_after
from riverboat.games.holdem.match_state import MatchState, settled
from riverboat.games.holdem.rules import Rules

OVER = -1  # in place of the seat that acts, where nobody does


@dataclass(frozen=True, eq=False)
class Places:
    """n places of one game. Made by those who know them right; the makers below check."""

    rules: Rules
    moves: Array  # int32 [n, most]: FOLD, CALL or the total of a raise; END behind the last
    length: Array  # int32 [n]
    board: Array  # uint8 [n, board cards of the game]; HIDDEN where not dealt

    def __len__(self) -> int:
        return len(self.length)

    def take(self, chosen: Array | slice) -> Places:
        """Some of the places, by number, mask or slice."""
        return Places(self.rules, self.moves[chosen], self.length[chosen], self.board[chosen])

    # --- where they are -------------------------------------------------------------------------

    @cached_property
    def states(self) -> Array:
        """The betting, as `games.holdem._kernels.betting.State`; an illegal line is refused. int64 [n, FIELDS]"""
        out, wrong = states_after(self.rules, self.moves, self.length)
        if wrong is not None:
            i, place = wrong
            self.betting(i)  # says what is wrong
            raise InputError(f"place {i}: move {place} of its line is illegal")
        return out

    @property
    def actor(self) -> Array:
        """Who acts; OVER (-1) at the end of a hand. int8 [n]"""
        return np.where(self.states[:, 8] == 0, self.states[:, 2], OVER).astype(np.int8)

    @property
    def street(self) -> Array:
        """The round of the betting; of an all-in that was called, the round of the call. int64 [n]"""
        streets: Array = self.states[:, 3]
        return streets

    @cached_property
    def live(self) -> Array:
        """Hands that the board leaves, numbered as `deck.hands`. bool [n, hands]"""
        held = np.zeros((len(self), 256), bool)
        held[np.arange(len(self))[:, None], self.board] = True
        held[:, HIDDEN] = False
        return np.logical_not(held[:, self.rules.deck.hands].any(axis=2))

    def betting(self, i: int) -> Betting:
        """The state of the betting at one of them."""
        state = Betting.start(self.rules)
        for move in self.moves[i, : self.length[i]].tolist():
            state = play_move(state, move)
        return settled(state)

    def line(self, i: int) -> str:
        """The betting as the protocol writes it: `cr300c/`."""
        return self.betting(i).line

    def shown(self, i: int) -> tuple[int, ...]:
        """The board that lies."""
        return tuple(card for card in self.board[i].tolist() if card != HIDDEN)

    def key(self, i: int) -> bytes:
        """Line and board as bytes: what is known of a place may be kept under them."""
        return bytes(self.moves[i, : self.length[i]].tobytes() + self.board[i].tobytes())

    def decisions(self) -> tuple[Places, Array, Array]:
        """All decisions on the way: their places, the number of the place that each leads to, and the move made there.

        int64 [m], int32 [m]
        """
        owner = np.repeat(np.arange(len(self)), self.length)
        at = np.arange(len(owner)) - np.repeat(np.cumsum(self.length) - self.length, self.length)
        moves = self.moves[owner]
        made = moves[np.arange(len(owner)), at] if len(owner) else np.zeros(0, np.int32)
        moves[np.arange(moves.shape[1]) >= at[:, None]] = END
        places = Places(self.rules, moves, at.astype(np.int32), self.board[owner])
        dealt = np.array(self.rules.board_sizes)[places.street]
        places.board[np.arange(self.board.shape[1]) >= dealt[:, None]] = HIDDEN
        return places, owner, made

    # --- making ---------------------------------------------------------------------------------

    @staticmethod
    def of(states: Sequence[Betting], boards: Sequence[Sequence[int] | Array]) -> Places:
        """Where the betting stands as in `states`, with the cards of the board that lie there."""
        if not states:
            raise InputError("no places: give at least one line")
        if len(boards) != len(states):
            raise InputError(f"{len(states)} states, {len(boards)} boards: give one of each for every place")
        rules, states = states[0].rules, [settled(state) for state in states]
        lines = [moves_of(rules, state.line) for state in states]
        board = np.full((len(states), rules.board_sizes[-1]), HIDDEN, np.uint8)
        moves = np.full((len(states), max(1, *map(len, lines))), END, np.int32)
        for i, state in enumerate(states):
            where = f"place {i} at {state.line!r}"
            if state.rules is not rules and state.rules != rules:
                raise InputError(f"{where}: a game of other rules than place 0")
            check_cards(rules, state.street, boards[i], where)
            board[i, : len(boards[i])] = boards[i]
            moves[i, : len(lines[i])] = lines[i]
        return Places(rules, moves, np.array([len(line) for line in lines], np.int32), board)

    @staticmethod
    def from_lines(rules: Rules, lines: Sequence[str], boards: Sequence[Cards] = ()) -> Places:
        """Places by their lines, `cr300c/`, and boards, `8c8d5c`; no boards where none is dealt."""
        cards = [parse_cards(b if isinstance(b, str) else show_cards(b), "board") for b in boards or [""] * len(lines)]
        return Places.of([Betting.from_line(rules, line) for line in lines], cards)

    @staticmethod
    def from_match_states(states: Sequence[MatchState]) -> Places:
        """The public part of match states."""
        return Places.of([state.betting for state in states], [state.board for state in states])


def check_cards(
    rules: Rules, street: int, board: Sequence[int] | Array, where: str, hole: Sequence[int] | Array | None = None
) -> None:
    """Refuse a board, and the cards of a hand where one is given, that a street does not have."""
    need, given = rules.board_sizes[street], [*map(int, board)]
    mine = [] if hole is None else [*map(int, hole)]
    if len(given) != need or (hole is not None and len(mine) != rules.hole):
        shown = f"{len(given)} board cards" if hole is None else f"{len(mine)} hole and {len(given)} board cards"
        right = str(need) if hole is None else f"{rules.hole} and {need}"
        raise InputError(f"{where}: {shown}; on the {rules.streets[street]} {rules.name} has {right}")
    known = set(rules.deck.cards.tolist())
    strange = [card for card in (*mine, *given) if card not in known]
    if strange:
        raise InputError(f"{where}: card {strange[0]} is not in the deck of {rules.name}")
    if len({*mine, *given}) < len(mine) + len(given):
        raise InputError(f"{where}: a card is dealt twice: {show_cards([*mine, *given], ' ')}")


# --- as users write them ----------------------------------------------------------------------


def cards_of(rules: Rules, cards: Cards, count: int, what: str, owner: str) -> tuple[int, ...]:
    """So many cards of a game's deck, given as text or as numbers; `what` they are, and whose, is for errors."""
    numbers = parse_cards(cards if isinstance(cards, str) else show_cards(cards), what)
    deck, shown = rules.deck.cards, show_cards(numbers)
    strange = [card for card in numbers if card not in deck]
    if strange:
        raise InputError(f"{what} {shown}: {show_cards(strange[:1])} is not in the deck of {rules.name}")
    if len(numbers) != count:
        right = f"has {count}, such as {show_cards(deck[::-1][:count])}" if count else "has none"
        raise InputError(f"{what} {shown!r}: {len(numbers)} card{'s' * (len(numbers) != 1)}; {owner} {right}")
    return numbers


def hand_of(rules: Rules, hand: Cards) -> tuple[int, ...]:
    """The cards of a hand, as many as the game deals."""
    return cards_of(rules, hand, rules.hole, "hand", f"a hand of {rules.name}")


def board_of(rules: Rules, street: int, board: Cards = ()) -> tuple[int, ...]:
    """The cards of a board, as many as a street has."""
    name = rules.streets[street]
    return cards_of(rules, board, rules.board_sizes[street], "board", f"the {name}" if street else name)
