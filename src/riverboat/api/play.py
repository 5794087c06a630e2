"""`rb.play`: a table at which somebody plays hands against an agent.

    table = play("rule-based", seed=1)
    table.hole, table.legal()       # ('Kd', 'Ts'), ('f', 'c', 'r200 to r20000')
    table.act("c")                  # the agent answers; what happened is returned, and kept in table.events
    table.deal()                    # the next hand, once this one is over

The table knows no clock and no screen: a program, a page or the terminal asks it what is there and tells it moves, which are
written as in the ACPC protocol: `f`, `c`, `r300` with the total over the whole hand.

A solved spot (`runs/spot`) deals hands of its own subgame: from its ranges, at its root, in its tree. What is won there is a
share of the final pot less the chips put in since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from riverboat.agents.base import Agent
from riverboat.api import seating
from riverboat.cards.notation import show_cards
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import play_move, read_move, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import Hand, Holes, settled
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules

Kind: TypeAlias = Literal["hand", "street", "move", "showdown", "won"]


@dataclass(frozen=True)
class Event:
    """Something that both players saw."""

    kind: Kind
    state: Betting  # before a move, after anything else
    who: int | None = None  # of a move: the seat
    move: str = ""
    won: float = 0  # of the end of a hand: chips of the person


class Table:
    """A person and an agent, hand after hand, all stacks full at the beginning of each.

    The seats are exchanged, unless the person has asked for one. Cards depend on the seed and the number of the hand alone.
    """

    def __init__(self, agent: Agent, rules: Rules, seed: int, seat: int | None = None, *, dealt: bool = True) -> None:
        if seat not in (None, 0, 1):
            raise InputError(f"seat={seat}: seats are 0 and 1, which is the dealer")
        self.agent, self.rules, self.seed, self.fixed_seat = agent, rules, seed, seat
        self.number = -1  # of the hand, from 0
        self.version = 0  # deals and moves so far: two states of a table never share one
        self.hands = 0  # that are over
        self.won: float = 0  # chips that the person has won in them
        self.events: list[Event] = []  # of this hand
        self.start: Betting = getattr(agent, "start", None) or settled(Betting.start(rules))
        self.state = self.start
        self._cards: tuple[Holes, Hand] = (((), ()), ())
        if dealt:
            self.deal()

    def __repr__(self) -> str:
        return f"<Table with {self.agent.name}, {self.rules.name}: {self.won:+,} chips in {self.hands:,} hands>"

    # --- what the person sees -------------------------------------------------------------------

    @property
    def seat(self) -> int:
        """Of the person; seat 1 is the dealer's, where there is one."""
        return 1 - self.number % 2 if self.fixed_seat is None else self.fixed_seat

    @property
    def cards(self) -> tuple[Holes, Hand]:
        """All cards of the hand, also those that nobody sees yet: for records."""
        return self._cards

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return self.state.actor == TERMINAL

    @property
    def hole(self) -> tuple[str, ...]:
        """The person's cards."""
        return _names(self._cards[0][self.seat])

    @property
    def board(self) -> tuple[str, ...]:
        """The cards that lie on the table; all of them at a showdown."""
        return _names(self._cards[1][: self.rules.board_sizes[self.state.street]])

    @property
    def shown(self) -> tuple[str, ...] | None:
        """The agent's cards, once they are shown."""
        if not self.over or self.state.folded is not None:
            return None
        return _names(self._cards[0][1 - self.seat])

    def legal(self) -> tuple[str, ...]:
        """What the person may do now: `f`, `c`, `r` in limit games, `r200 to r20000` else; nothing when the hand is over."""
        if self.over:
            return ()
        menu = self._menu()
        if menu is not None:
            return menu
        moves = [label for label in ("f", "c") if self.state.legal(label)]
        span = self.state.raise_range()
        if span is not None:
            least, most = f"r{span.least}", f"r{span.most}"
            moves.append("r" if self.rules.limit else least if least == most else f"{least} to {most}")
        return tuple(moves)

    def _menu(self) -> tuple[str, ...] | None:
        """The moves that the agent's tree has, where it knows no others."""
        menu = getattr(self.agent, "menu", None)
        return None if menu is None else tuple(menu(self.state, self._cards[1]))

    def to_dict(self) -> dict[str, Any]:
        """What the person sees, for JSON."""
        shown = self.shown
        return {
            "agent": self.agent.name,
            "game": self.rules.name,
            "hand": self.number + 1,
            "seat": self.seat,
            "hole": list(self.hole),
            "board": list(self.board),
            "line": self.state.line,
            "pot": self.state.pot,
            "to_call": 0 if self.over else self.state.to_call,
            "legal": list(self.legal()),
            "over": self.over,
            "shown": None if shown is None else list(shown),
            "hands": self.hands,
            "won": self.won,
            "unit": "chips",
            "seed": self.seed,
        }

    # --- what happens ---------------------------------------------------------------------------

    def deal(self) -> tuple[Event, ...]:
        """Deal the next hand; the agent acts first where it is its turn."""
        if self.number >= 0 and not self.over:
            raise InputError(f"hand {self.number + 1}: is not over; act first: {', '.join(self.legal())}")
        rng = np.random.default_rng([self.seed, self.number + 1])
        dealt: Callable[[np.random.Generator], tuple[Hand, Hand, Hand]] = getattr(self.agent, "deal", self._dealt)
        with self._whole():
            first, second, board = dealt(rng)
            self._begin((first, second), board)
            return self._answers(0)

    def _dealt(self, rng: np.random.Generator) -> tuple[Hand, Hand, Hand]:
        """From the whole deck."""
        hole = self.rules.hole
        cards = rng.permutation(self.rules.deck.cards)[: 2 * hole + self.rules.board_sizes[-1]].tolist()
        return tuple(cards[:hole]), tuple(cards[hole : 2 * hole]), tuple(cards[2 * hole :])

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Undo what an error leaves half-done: an agent that fails has not answered, and the move was not made."""
        before = self.number, self.version, self.hands, self.won, list(self.events), self.state, self._cards
        try:
            yield
        except BaseException:
            self.number, self.version, self.hands, self.won, self.events, self.state, self._cards = before
            raise

    def _begin(self, holes: Holes, board: Hand) -> None:
        self.number, self.version = self.number + 1, self.version + 1
        self._cards = holes, board
        self.state, self.events = self.start, []
        self._happened("hand")

    def replay(self, holes: Holes, board: Hand, moves: Sequence[str]) -> None:
        """The next hand as it was played before, by both: nobody is asked. It may end in the middle."""
        if self.number >= 0 and not self.over:
            raise InputError(f"hand {self.number + 1}: is not over, so no other can be played")
        self._begin(holes, board)
        for move in moves:
            if self.over:
                raise InputError(f"hand {self.number + 1}: is over at {self.state.line!r}, so {move!r} cannot follow")
            self._move(move, self.state.actor)

    def go_on(self) -> tuple[Event, ...]:
        """Let the agent act where it is its turn, behind a replay."""
        return self._answers(len(self.events))

    def act(self, move: str) -> tuple[Event, ...]:
        """Make a move and let the agent answer: what happened until it is the person's turn again, or the hand is over."""
        if self.over:
            raise InputError(f"{move!r}: hand {self.number + 1} is over; deal the next one")
        menu = self._menu()
        if menu is not None and move not in menu and self.state.legal(move):
            raise InputError(
                f"{move!r} at {self.state.line!r}: not in the tree of {self.agent.name}: {', '.join(menu)}"
            )
        before = len(self.events)
        with self._whole():
            self._move(move, self.seat)
            return self._answers(before)

    def _answers(self, before: int) -> tuple[Event, ...]:
        """Let the agent act while it is its turn."""
        while not self.over and self.state.actor != self.seat:
            hole, board = self._cards[0][1 - self.seat], self._cards[1]
            view = Views.of([self.state], [hole], [board[: self.rules.board_sizes[self.state.street]]], [self.number])
            self._move(agent_move(self.agent, view), 1 - self.seat)
        return tuple(self.events[before:])

    def _move(self, move: str, seat: int) -> None:
        before = self.state
        after = play_move(before, read_move(move, before))
        self._happened("move", before, who=seat, move=move)
        self.state, self.version = after, self.version + 1
        if self.over:
            if after.folded is None:
                self._happened("showdown")
            won = paid(self.start, after, *self._cards, self.seat)
            self.hands, self.won = self.hands + 1, self.won + won
            self._happened("won", won=won)
        elif after.street > before.street:
            self._happened("street")

    def _happened(self, kind: Kind, state: Betting | None = None, **more: Any) -> None:
        self.events.append(Event(kind, self.state if state is None else state, **more))


def paid(start: Betting, end: Betting, holes: Holes, board: Hand, seat: int) -> float:
    """Return what a seat has won at the end of a hand, in whole chips where it is."""
    better = 0
    if end.folded is None:
        mine, theirs = (rank((*hole, *board)) for hole in holes)
        better = (mine > theirs) - (mine < theirs)
    won = end.pay(start.spent if start.rules.pot else (0, 0))[1 - better][seat]
    return int(won) if won == int(won) else won


def _names(cards: Hand) -> tuple[str, ...]:
    return tuple(show_cards([card]) for card in cards)


def agent_move(agent: Agent, view: Views) -> str:
    """The agent's move at one table; one that is not legal is told with the place."""
    label, state = show_move(int(agent.act(view)[0]), view.rules), view.betting(0)
    try:
        state.play(label)
    except InputError as error:
        raise InputError(f"agent {agent.name!r}, {view.match_state(0)}: {error}") from None
    return label


def play(agent: str | Agent, *, seed: int = 0, game: str | Rules | None = None, seat: int | None = None) -> Table:
    """Sit down with an agent: the first hand is dealt. `seed` is that of the cards, and of an agent by name that draws.

    `seat` is the person's, 0 (big blind, out of position) or 1 (dealer); they are exchanged where none is given.
    """
    made = seating.agent(agent, seed)
    return Table(made, seating.rules_for([made], game), seed, seat)


# --- moves in words ---------------------------------------------------------------------------


def described(label: str, state: Betting) -> str:
    """A legal move in words: fold, check, call 50, bet 300, raise to 900."""
    if label == "f":
        return "fold"
    after = state.move(label)
    mine = after.spent[state.turn]
    all_in = " (all-in)" if state.rules.stacks is not None and mine == state.rules.stacks[state.turn] else ""
    if label == "c":
        return f"call {state.to_call:,}{all_in}" if state.to_call else "check"
    if not opened(state):
        return f"bet {mine - state.spent[state.turn]:,}{all_in}"
    return f"raise to {mine - state.before:,}{all_in}"  # on this street, as players say it


def opened(state: Betting) -> bool:
    """Whether somebody has bet on this street; a big blind is a bet, antes are none."""
    return bool(state.to_call) or (state.street == 0 and state.rules.blinds[0] != state.rules.blinds[1])
