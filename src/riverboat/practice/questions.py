"""What drills ask: a decision, and what it is worth.

A `Source` deals decisions of its game: a solved spot those that its own strategy comes to, an agent those of whole hands that
it plays against itself, a chart hands of the table. What is asked, and the answers, are of one kind.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from riverboat.agents.base import Agent, ranges
from riverboat.agents.registry import make_agent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.api.play import described
from riverboat.cards.card_removal import without_shared
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.notation import show_cards
from riverboat.core.errors import InputError, shown
from riverboat.games.holdem.actions import play_move, read_move, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import Hand, Holes, settled
from riverboat.games.holdem.menus import SEATS
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.practice.evaluators import Judge, judge_of
from riverboat.practice.push_charts import PushTable, is_push, push_table
from riverboat.practice.situations import board_class, hand_class
from riverboat.practice.verdicts import Verdict


@dataclass(frozen=True)
class Question:
    """One decision with one hand; `verdict` is the answer, worked out when it is asked."""

    hole: str
    board: str
    line: str  # as the source writes it
    seat: str
    street: str
    pot: float
    behind: float
    to_call: float
    moves: tuple[str, ...]
    words: tuple[str, ...]  # the same as people say them
    number: int  # from 0 to 99, to randomise by
    verdict: Verdict
    kinds: dict[str, str] = field(default_factory=dict)  # line, board, hand: what the record groups by

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the answer."""
        return {
            "hole": self.hole,
            "board": self.board,
            "line": self.line,
            "seat": self.seat,
            "street": self.street,
            "pot": self.pot,
            "behind": self.behind,
            "to_call": self.to_call,
            "moves": list(self.moves),
            "words": list(self.words),
            "number": self.number,
            "kinds": dict(self.kinds),
            "unit": "chips",
        }


BOARDS = 50  # that are tried for a line that hardly anybody plays
Asking: TypeAlias = Generator[Question, "str | None", None]


class Source(Protocol):
    """Who deals decisions."""

    @property
    def name(self) -> str:
        """What records call it."""
        ...

    def hand(self, rng: np.random.Generator, line: str | None, seat: int | None) -> Asking:
        """One hand as the decisions of one seat: a move that is sent is played, else the source's own."""
        ...


def source_of(text: str, seed: int = 0) -> Source:
    """What a text names: a folder with a solved spot, an agent, or `push:10,10`."""
    if is_push(text):
        return ChartSource(push_table(text), text)
    return TableSource(make_agent(text, seed), text)


@dataclass(eq=False)
class TableSource:
    """Hands that an agent plays against itself; a solved spot deals those of its subgame."""

    agent: Agent
    name: str

    def __post_init__(self) -> None:
        self.judge: Judge = judge_of(self.agent)
        self.base: Any = getattr(self.agent, "base", self.agent)  # whose strategy gives ranges
        rules = getattr(self.agent, "rules", None)
        if not isinstance(rules, Rules):
            raise InputError(f"agent {self.name!r}: plays any game; drills need one with a game of its own")
        self.rules: Rules = rules
        self.start: Betting = getattr(self.agent, "start", None) or Betting.start(rules)

    def hand(self, rng: np.random.Generator, line: str | None, seat: int | None) -> Asking:
        """With a line, hands begin there: whoever holds them has played so. Else at the root, or the deal."""
        if line is None:
            (holes, board), state = self._deal(rng), self.start
            mine = seat if seat is not None else int(rng.integers(2))
        else:
            state, known = self._behind(line)
            holes, board = self._dealt_at(rng, state, known)
            mine = seat if seat is not None else state.actor
        number = int(rng.integers(1 << 40))
        while state.actor >= 0:
            move = None
            if state.actor == mine:
                move = yield self._question(rng, state, board, holes[mine], mine)
            if move is None:
                shown_cards = board[: self.rules.board_sizes[state.street]]
                view = Views.of([state], [holes[state.actor]], [shown_cards], [number])
                move = show_move(int(self.agent.act(view)[0]), self.rules)
            state = play_move(state, read_move(move, state))

    def _behind(self, line: str) -> tuple[Betting, Hand]:
        """The state behind a line, and the board as far as it is given. A spot's own notation says its cards: `x-b50/8h`."""
        agent = self.agent
        if isinstance(agent, SolutionAgent) and (set(line) & set("-xba") or any(c.isupper() for c in line)):
            state, board = agent.behind(line)
        else:
            whole = line if line.startswith(self.start.line) else self.start.line + line
            state, board = settled(Betting.from_line(self.rules, whole)), ()
        if state.actor < 0:
            raise InputError(f"line {shown(line)}: nobody is to act there")
        return state, board

    def _dealt_at(self, rng: np.random.Generator, state: Betting, known: Hand) -> tuple[Holes, Hand]:
        """Cards of a hand that has come to a state: the board as it falls, hands as often as they are played there."""
        for _ in range(BOARDS):
            (_, _), board = self._deal(rng)
            board = (*known, *(card for card in board if card not in known))[: self.rules.board_sizes[-1]]
            shown_cards = board[: self.rules.board_sizes[state.street]]
            if isinstance(self.agent, SolutionAgent):
                first, second = self.agent.node(state, shown_cards).reach
            else:
                first, second = ranges(Places.of([state], [shown_cards]), self.base)[0]
            hands = self.rules.deck.hands
            pairs = first * without_shared(second) if len(hands) == len(HAND_CARDS) else first
            if pairs.sum() <= 0:
                continue
            mine = hands[rng.choice(len(hands), p=pairs / pairs.sum())]
            second = np.where(np.isin(hands, mine).any(axis=1), 0.0, second)
            if second.sum() <= 0:
                continue
            theirs = hands[rng.choice(len(hands), p=second / second.sum())]
            gone = {*mine.tolist(), *theirs.tolist(), *shown_cards}
            later = [card for card in rng.permutation(self.rules.deck.cards).tolist() if card not in gone]
            holes = tuple(mine.tolist()), tuple(theirs.tolist())
            return holes, (*shown_cards, *later)[: self.rules.board_sizes[-1]]
        raise InputError(f"line {shown(state.line)}: no hand of {self.name} is ever played so")

    def _deal(self, rng: np.random.Generator) -> tuple[Holes, Hand]:
        deal = getattr(self.agent, "deal", None)
        if deal is not None:
            first, second, board = deal(rng)
            return (first, second), board
        hole = self.rules.hole
        cards = rng.permutation(self.rules.deck.cards)[: 2 * hole + self.rules.board_sizes[-1]].tolist()
        return (tuple(cards[:hole]), tuple(cards[hole : 2 * hole])), tuple(cards[2 * hole :])

    def _question(self, rng: np.random.Generator, state: Betting, board: Hand, hole: Hand, seat: int) -> Question:
        dealt = board[: self.rules.board_sizes[state.street]]
        verdict = self.judge.verdict(state, dealt, hole)
        shown_line = self.agent.line(state, dealt) if isinstance(self.agent, SolutionAgent) else state.line
        street = self.rules.streets[state.street]
        kinds = {"line": f"{street} {_shape(state.line)}", "board": board_class(dealt), "hand": hand_class(hole, dealt)}
        behind = min(state.behind) if self.rules.stacks is not None else 0
        return Question(
            show_cards(hole),
            show_cards(dealt),
            shown_line,
            SEATS[seat],
            street,
            state.pot,
            behind,
            state.to_call,
            verdict.moves,
            tuple(described(move, state) for move in verdict.moves),
            int(rng.integers(100)),
            verdict,
            kinds,
        )


def _shape(line: str) -> str:
    """The moves of the last street, without sizes: `r300c/cr600` as `cr`."""
    last = line.rpartition("/")[2]
    return "".join(letter for letter in last if letter.isalpha()) or "first to act"


@dataclass(eq=False)
class ChartSource:
    """Hands of a push or fold table."""

    table: PushTable
    name: str

    def hand(self, rng: np.random.Generator, line: str | None, seat: int | None) -> Asking:
        """Each line as often as any other, hands as they are dealt."""
        if line is not None:
            self.table.number(line)
        yield self._question(rng, line if line is not None else str(rng.choice(list(self.table.lines))))

    def _question(self, rng: np.random.Generator, line: str) -> Question:
        hand = int(rng.integers(len(HAND_CARDS)))
        hole = tuple(HAND_CARDS[hand].tolist())
        group = int(CLASS_OF_HAND[hand])
        verdict = self.table.verdict(line, group)
        moves = tuple(option.move for option in verdict.options)
        spot = self.table.spot
        kinds = {"line": line or "first in", "board": "before the flop", "hand": hand_class(hole, ())}
        return Question(
            show_cards(hole), "", line, self.table.who(line), "preflop", self.table.pot(line), spot.stacks[len(line)],
            0.0, moves, moves, int(rng.integers(100)), verdict, kinds,
        )  # fmt: skip
