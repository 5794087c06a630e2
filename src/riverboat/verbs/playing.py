"""`rb.play`: a table at which somebody plays hands against an agent.

    table = play("rule-based", seed=1)
    table.hole, table.legal()       # ('Kd', 'Ts'), ('f', 'c', 'r200 to r20000')
    table.act("c")                  # the agent answers; what happened is returned, and kept in table.events
    table.deal()                    # the next hand, once this one is over

The table knows no clock and no screen: a program, a page or the terminal asks it what is there and tells it moves, which are
written as in the ACPC protocol: `f`, `c`, `r300` with the total over the whole hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from riverboat.agents.base import Agent
from riverboat.cards.notation import show_cards
from riverboat.errors import InputError
from riverboat.games.acpc import Rules
from riverboat.games.base import TERMINAL
from riverboat.games.betting import Betting
from riverboat.games.match_state import Hand, Holes, settled, values
from riverboat.games.moves import play_move, read_move, show_move
from riverboat.games.views import Views
from riverboat.verbs import seating

Kind: TypeAlias = Literal["hand", "street", "move", "showdown", "won"]


@dataclass(frozen=True)
class Event:
    """Something that both players saw."""

    kind: Kind
    state: Betting  # before a move, after anything else
    who: int | None = None  # of a move: the seat
    move: str = ""
    won: int = 0  # of the end of a hand: chips of the person


class Table:
    """A person and an agent, hand after hand, all stacks full at the beginning of each; the seats are exchanged."""

    def __init__(self, agent: Agent, rules: Rules, seed: int) -> None:
        self.agent, self.rules, self.seed = agent, rules, seed
        self.number = -1  # of the hand, from 0
        self.hands, self.won = 0, 0  # that are over, and chips that the person has won in them
        self.events: list[Event] = []  # of this hand
        self._dealer = np.random.default_rng(seed)
        self.state = settled(Betting.start(rules))
        self._cards: tuple[Holes, Hand] = (((), ()), ())
        self.deal()

    def __repr__(self) -> str:
        return f"<Table with {self.agent.name}, {self.rules.name}: {self.won:+,} chips in {self.hands:,} hands>"

    # --- what the person sees -------------------------------------------------------------------

    @property
    def seat(self) -> int:
        """Of the person; seat 1 is the dealer's, where there is one."""
        return 1 - self.number % 2

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
        moves = [label for label in ("f", "c") if self.state.legal(label)]
        span = self.state.raise_range()
        if span is not None:
            least, most = f"r{span.least}", f"r{span.most}"
            moves.append("r" if self.rules.limit else least if least == most else f"{least} to {most}")
        return tuple(moves)

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
        self.number += 1
        rules = self.rules
        cards = self._dealer.permutation(rules.deck.cards)[: 2 * rules.hole + rules.board_sizes[-1]].tolist()
        holes = tuple(cards[: rules.hole]), tuple(cards[rules.hole : 2 * rules.hole])
        self._cards = holes, tuple(cards[2 * rules.hole :])
        self.state, self.events = settled(Betting.start(rules)), []
        self._happened("hand")
        return self._answers(0)

    def act(self, move: str) -> tuple[Event, ...]:
        """Make a move and let the agent answer: what happened until it is the person's turn again, or the hand is over."""
        if self.over:
            raise InputError(f"{move!r}: hand {self.number + 1} is over; deal the next one")
        before = len(self.events)
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
        self.state = after
        if self.over:
            if after.folded is None:
                self._happened("showdown")
            won = values(after, *self._cards)[self.seat]
            self.hands, self.won = self.hands + 1, self.won + won
            self._happened("won", won=won)
        elif after.street > before.street:
            self._happened("street")

    def _happened(self, kind: Kind, state: Betting | None = None, **more: Any) -> None:
        self.events.append(Event(kind, self.state if state is None else state, **more))


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


def play(agent: str | Agent, *, seed: int = 0, game: str | Rules | None = None) -> Table:
    """Sit down with an agent: the first hand is dealt. `seed` is that of the cards, and of an agent by name that draws."""
    made = seating.agent(agent, seed)
    return Table(made, seating.rules_for([made], game), seed)
