"""Public states of hold'em: betting lines with boards, without private cards.

    states = PublicStates.from_lines(read_game("nolimit-200bb"), ["cr300c/", "cr300c/cr600"], ["8c8d5c", "8c8d5c"])
    states.actor                                     # seat to act at each

A strategy answers a public state for all hands at once. Lines are numbers, as in `riverboat.games.holdem.actions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.cards.notation import Cards, format_cards, parse_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import END_OF_LINE, HIDDEN_CARD, replay_lines
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import MatchState
from riverboat.games.holdem.rules import PokerRules

TERMINAL_ACTOR = -1  # instead of a seat, if nobody is to act


@dataclass(frozen=True, eq=False)
class PublicStates:
    """A batch of n public states of one game. The constructor does not check its arguments; the `from_` methods do.

    Attributes
    ----------
    rules
        Rules of the game.
    moves
        int32 [n, most]: FOLD, CALL or the total of a raise; END_OF_LINE after the last.
    length
        Number of actions of each line. int32 [n]
    board
        uint8 [n, board cards of the game]; HIDDEN_CARD if not dealt.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> states = PublicStates.from_lines(read_game("nolimit-200bb"), ["cr300c/", "cr300c/cr600"], ["8c8d5c"] * 2)
    >>> states.actor.tolist(), states.line(1)
    ([0, 0], 'cr300c/cr600')
    """

    rules: PokerRules
    moves: Array  # int32 [n, most]: FOLD, CALL or the total of a raise; END_OF_LINE after the last
    length: Array  # int32 [n]: number of actions
    board: Array  # uint8 [n, board cards of the game]; HIDDEN_CARD if not dealt

    def __len__(self) -> int:
        return len(self.length)

    def take(self, chosen: Array | slice) -> PublicStates:
        """Return some of the states, by index, mask or slice.

        Parameters
        ----------
        chosen
            Indices, a mask, or a slice.
        """
        return PublicStates(self.rules, self.moves[chosen], self.length[chosen], self.board[chosen])

    # --- properties ---

    @cached_property
    def states(self) -> Array:
        """Betting states as rows of `CompactBettingState`. Illegal lines raise InputError. int64 [n, STATE_FIELDS]"""
        out, illegal = replay_lines(self.rules, self.moves, self.length)
        if illegal is not None:
            i, position = illegal
            self.betting(i)  # raises an error that says what is wrong
            raise InputError(f"public state {i}: action {position} of its line is illegal")
        return out

    @property
    def actor(self) -> Array:
        """Seat to act; TERMINAL_ACTOR (-1) at the end of a hand. int8 [n]"""
        return np.where(self.states[:, 8] == 0, self.states[:, 2], TERMINAL_ACTOR).astype(np.int8)

    @property
    def street(self) -> Array:
        """Betting round; after a called all-in, the round of the call. int64 [n]"""
        return self.states[:, 3]

    @cached_property
    def live_hands(self) -> Array:
        """Hands that the board does not block, numbered as `deck.hands`. bool [n, hands]"""
        held = np.zeros((len(self), 256), bool)
        held[np.arange(len(self))[:, None], self.board] = True
        held[:, HIDDEN_CARD] = False
        return np.logical_not(held[:, self.rules.deck.hands].any(axis=2))

    def betting(self, i: int) -> BettingState:
        """Return the betting state of state i.

        Parameters
        ----------
        i
            Index of a state.
        """
        state = BettingState.start(self.rules)
        for action in self.moves[i, : self.length[i]].tolist():
            state = state.play(action)
        return state.deal_due_streets()

    def line(self, i: int) -> str:
        """Return the betting line of state i as in the ACPC protocol: `cr300c/`.

        Parameters
        ----------
        i
            Index of a state.
        """
        return self.betting(i).line

    def board_cards(self, i: int) -> tuple[int, ...]:
        """Return the cards on the board of state i.

        Parameters
        ----------
        i
            Index of a state.
        """
        return tuple(card for card in self.board[i].tolist() if card != HIDDEN_CARD)

    def key(self, i: int) -> bytes:
        """Return line and board of state i as bytes, a key for caches.

        Parameters
        ----------
        i
            Index of a state.
        """
        return bytes(self.moves[i, : self.length[i]].tobytes() + self.board[i].tobytes())

    def decisions(self) -> tuple[PublicStates, Array, Array]:
        """Return the m decisions on the paths to the states.

        The result has the public states of the decisions, the index of the state to which each leads (int64 [m]), and
        the action that was played (int32 [m]).
        """
        owner = np.repeat(np.arange(len(self)), self.length)
        position = np.arange(len(owner)) - np.repeat(np.cumsum(self.length) - self.length, self.length)
        moves = self.moves[owner]
        actions = moves[np.arange(len(owner)), position] if len(owner) else np.zeros(0, np.int32)
        moves[np.arange(moves.shape[1]) >= position[:, None]] = END_OF_LINE
        states = PublicStates(self.rules, moves, position.astype(np.int32), self.board[owner])
        dealt = np.array(self.rules.board_sizes)[states.street]
        states.board[np.arange(self.board.shape[1]) >= dealt[:, None]] = HIDDEN_CARD
        return states, owner, actions

    # --- constructors ---

    @staticmethod
    def from_betting(states: Sequence[BettingState], boards: Sequence[Sequence[int] | Array]) -> PublicStates:
        """Make public states from betting states and boards.

        Parameters
        ----------
        states
            Betting states; deals that are due are added.
        boards
            Board cards of each.
        """
        if not states:
            raise InputError("no public states: give at least one line")
        if len(boards) != len(states):
            raise InputError(f"{len(states)} states, {len(boards)} boards: give one of each for every public state")
        rules, states = states[0].rules, [state.deal_due_streets() for state in states]
        lines = [state.actions for state in states]
        board = np.full((len(states), rules.board_sizes[-1]), HIDDEN_CARD, np.uint8)
        moves = np.full((len(states), max(1, *map(len, lines))), END_OF_LINE, np.int32)
        for i, state in enumerate(states):
            where = f"public state {i} at {state.line!r}"
            if state.rules is not rules and state.rules != rules:
                raise InputError(f"{where}: its rules differ from those of public state 0")
            check_cards(rules, state.street, boards[i], where)
            board[i, : len(boards[i])] = boards[i]
            moves[i, : len(lines[i])] = lines[i]
        return PublicStates(rules, moves, np.array([len(line) for line in lines], np.int32), board)

    @staticmethod
    def from_lines(rules: PokerRules, lines: Sequence[str], boards: Sequence[Cards] = ()) -> PublicStates:
        """Make public states from lines, `cr300c/`, and boards, `8c8d5c`; boards may be omitted if no cards are dealt.

        Parameters
        ----------
        rules
            Rules of the game.
        lines
            Lines as in the ACPC protocol.
        boards
            Board cards of each as text or numbers; may be omitted if no cards are dealt.
        """
        cards = [
            parse_cards(b if isinstance(b, str) else format_cards(b), "board") for b in boards or [""] * len(lines)
        ]
        return PublicStates.from_betting([BettingState.from_line(rules, line) for line in lines], cards)

    @staticmethod
    def from_match_states(states: Sequence[MatchState]) -> PublicStates:
        """Make the public states of match states.

        Parameters
        ----------
        states
            Match states.
        """
        return PublicStates.from_betting([state.betting for state in states], [state.board for state in states])


def check_cards(
    rules: PokerRules, street: int, board: Sequence[int] | Array, where: str, hole: Sequence[int] | Array | None = None
) -> None:
    """Raise InputError unless a board, and a hand if given, has the cards that a street has.

    Parameters
    ----------
    rules
        Rules of the game.
    street
        Betting round, from 0.
    board
        Board cards.
    where
        Name of the table or state in messages.
    hole
        Hole cards; None: only the board is checked.

    Raises
    ------
    InputError
        If there are too few or too many cards, or one is dealt twice or not in the deck.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> check_cards(read_game("nolimit-200bb"), 1, (0, 5, 9), "table 1")
    """
    board_cards, board_list = rules.board_sizes[street], [*map(int, board)]
    hole_list = [] if hole is None else [*map(int, hole)]
    if len(board_list) != board_cards or (hole is not None and len(hole_list) != rules.hole):
        shown, expected = f"{len(board_list)} board cards", str(board_cards)
        if hole is not None:
            shown, expected = f"{len(hole_list)} hole and {shown}", f"{rules.hole} and {expected}"
        raise InputError(f"{where}: {shown}; on the {rules.streets[street]} {rules.name} has {expected}")
    deck = set(rules.deck.cards.tolist())
    foreign = [card for card in (*hole_list, *board_list) if card not in deck]
    if foreign:
        raise InputError(f"{where}: card {foreign[0]} is not in the deck of {rules.name}")
    if len({*hole_list, *board_list}) < len(hole_list) + len(board_list):
        raise InputError(f"{where}: a card is dealt twice: {format_cards([*hole_list, *board_list], ' ')}")


# --- parsing ---


def parse_game_cards(rules: PokerRules, cards: Cards, count: int, kind: str, owner: str) -> tuple[int, ...]:
    """Parse `count` cards of a game's deck, given as text or as numbers; `kind` and `owner` describe them in errors.

    Parameters
    ----------
    rules
        Rules of the game.
    cards
        Cards as text or numbers.
    count
        Number of cards needed.
    kind
        Kind of the cards, for messages: `board`.
    owner
        Who has the cards, for messages: `the flop`.

    Returns
    -------
    tuple[int, ...]
        The cards.

    Raises
    ------
    InputError
        If a card is not in the deck, or there are too few or too many.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> parse_game_cards(read_game("nolimit-200bb"), "AsKd", 2, "hand", "a hand")
    (51, 45)
    """
    numbers = parse_cards(cards if isinstance(cards, str) else format_cards(cards), kind)
    deck, shown = rules.deck.cards, format_cards(numbers)
    foreign = [card for card in numbers if card not in deck]
    if foreign:
        raise InputError(f"{kind} {shown}: {format_cards(foreign[:1])} is not in the deck of {rules.name}")
    if len(numbers) != count:
        expected = f"has {count}, such as {format_cards(deck[::-1][:count])}" if count else "has none"
        raise InputError(f"{kind} {shown!r}: {len(numbers)} card{'s' * (len(numbers) != 1)}; {owner} {expected}")
    return numbers


def parse_game_hand(rules: PokerRules, hand: Cards) -> tuple[int, ...]:
    """Parse the cards of a hand of a game.

    Parameters
    ----------
    rules
        Rules of the game.
    hand
        Cards as text or numbers.

    Returns
    -------
    tuple[int, ...]
        The cards.

    Raises
    ------
    InputError
        If a card is not in the deck, or there are too few or too many.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> parse_game_hand(read_game("nolimit-200bb"), "AsKd")
    (51, 45)
    """
    return parse_game_cards(rules, hand, rules.hole, "hand", f"a hand of {rules.name}")


def parse_game_board(rules: PokerRules, street: int, board: Cards = ()) -> tuple[int, ...]:
    """Parse the cards of a board on a street.

    Parameters
    ----------
    rules
        Rules of the game.
    street
        Betting round, from 0.
    board
        Cards as text or numbers; may be omitted if none are dealt.

    Returns
    -------
    tuple[int, ...]
        The cards.

    Raises
    ------
    InputError
        If a card is not in the deck, or there are too few or too many.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> parse_game_board(read_game("nolimit-200bb"), 1, "8c8d5c")
    (24, 25, 12)
    """
    name = rules.streets[street]
    return parse_game_cards(rules, board, rules.board_sizes[street], "board", f"the {name}" if street else name)
