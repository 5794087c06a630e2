"""Questions of drills, and their sources.

A `QuestionSource` deals decisions of its game: a solved spot those that its own strategy reaches, an agent those of
whole hands against itself, a chart those of a push/fold table. All have the same type of question and answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from riverboat.agents.base import Agent, ranges
from riverboat.agents.registry import make_agent
from riverboat.agents.spot_solution import SolutionAgent, deal_holes
from riverboat.api.play import describe_action
from riverboat.cards.deck import HAND_CARDS, RANKS, hand_index
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.hand_classes import classify
from riverboat.cards.notation import format_cards
from riverboat.core.errors import InputError, short_repr
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import HoleCards, Holes
from riverboat.games.holdem.menus import SEATS
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.practice.charts import PushTable, is_push_source, push_table
from riverboat.practice.evaluators import DecisionEvaluator, make_evaluator
from riverboat.practice.verdicts import DecisionVerdict

# --- Classes of boards and hands ---

SUIT_NAMES = {1: "rainbow", 2: "two-tone", 3: "three of a suit"}  # key: most cards of one suit
HIGH_CARD_NAMES = {12: "ace high", 11: "king high", 10: "queen high", 9: "jack high"}


def _board_class(board: Sequence[int]) -> str:
    """Return the class of a board in players' terms, such as `king high, two-tone, paired`."""
    if not board:
        return "before the flop"
    ranks, suits = Counter(card >> 2 for card in board), Counter(card & 3 for card in board)
    max_suited = max(suits.values())
    suited = "monotone" if max_suited == len(board) == 3 else SUIT_NAMES.get(max_suited, "flush board")
    high = HIGH_CARD_NAMES.get(max(ranks), "ten high or lower")
    paired = ", trips" if max(ranks.values()) > 2 else ", paired" if max(ranks.values()) == 2 else ""
    return f"{high}, {suited}{paired}"


def hand_class(hole: Sequence[int], board: Sequence[int]) -> str:
    """Return the class of a hand in players' terms: the made hand and its first draw, or the kind of starting hand.

    Parameters
    ----------
    hole
        Two cards.
    board
        Board cards, none before the flop.

    Returns
    -------
    str
        Words.

    Examples
    --------
    >>> hand_class((50, 51), ())
    'high pair'
    """
    if len(board) >= 3:
        kind = classify(tuple(hole), tuple(board))
        draws = [draw for draw in kind.draws if draw not in ("no draw", "overcards", "backdoor flush draw")]
        return f"{kind.made}, {draws[0]}" if draws else kind.made
    return _starting_class(CLASS_NAMES[int(CLASS_OF_HAND[hand_index(*hole)])])


def _starting_class(name: str) -> str:
    """Return the kind of a starting hand in players' terms, such as `suited ace` for `AKs`."""
    high, low = (RANKS.index(letter) for letter in name[:2])
    if high == low:
        return "high pair" if high >= 8 else "middle pair" if high >= 4 else "low pair"
    suited = "suited" if name.endswith("s") else "offsuit"
    if high == 12:
        return f"{suited} ace"
    if low >= 8:
        return f"{suited} broadway"
    return f"{suited} connector" if high - low <= 2 else f"{suited} other"


@dataclass(frozen=True)
class DrillQuestion:
    """Decision with one hand; `verdict` is the answer, computed with the question.

    Attributes
    ----------
    hole
        The hand as text.
    board
        Board cards as text.
    line
        Betting line in the source's notation.
    seat
        Seat or position of the player.
    street
        Name of the street.
    pot
        Chips in the pot.
    behind
        Chips of the smaller stack.
    to_call
        Chips to call.
    moves
        Available actions.
    words
        The actions in words.
    number
        Random number from 0 to 99, for mixed decisions.
    verdict
        The answer.
    kinds
        Groups of the record: line, board, hand.

    Examples
    --------
    >>> question = next(make_source("push:10,10").play_hand(np.random.default_rng(0), "", None))
    >>> question.moves, question.seat
    (('fold', 'all-in'), 'SB')
    """

    hole: str
    board: str
    line: str  # betting line in the source's notation
    seat: str
    street: str
    pot: float
    behind: float
    to_call: float
    moves: tuple[str, ...]
    words: tuple[str, ...]  # the actions in words
    number: int  # random number from 0 to 99
    verdict: DecisionVerdict
    kinds: dict[str, str] = field(default_factory=dict)  # line, board, hand: the groups of the record

    def to_dict(self) -> dict[str, Any]:
        """Return the question as a JSON object, without the answer."""
        fields = {name: value for name, value in vars(self).items() if name != "verdict"}
        lists = {"moves": list(self.moves), "words": list(self.words), "kinds": dict(self.kinds)}
        return {**fields, **lists, "unit": "chips"}


MAX_BOARDS = 50  # most boards tried for a line that is rarely played
# Yields questions of one hand; receives the action to play, or None for the source's own action.
QuestionGenerator: TypeAlias = Generator[DrillQuestion, "str | None", None]


class QuestionSource(Protocol):
    """Source of drill questions: decisions of one game, with verdicts."""

    @property
    def name(self) -> str:
        """Name of the source in records."""

    def play_hand(self, rng: np.random.Generator, line: str | None, seat: int | None) -> QuestionGenerator:
        """Yield the decisions of one seat in one hand; an action that is sent is played, else the source's own.

        Parameters
        ----------
        rng
            Random generator.
        line
            Line at which the hand begins; None for the start.
        seat
            Seat that is asked; None for any.
        """


def make_source(text: str, seed: int = 0) -> QuestionSource:
    """Create the source that a text names.

    Parameters
    ----------
    text
        A folder with a solved spot, an agent spec, or a push/fold table such as `push:10,10`.
    seed
        Seed of the agent.

    Returns
    -------
    QuestionSource
        The source.

    Raises
    ------
    InputError
        If the text names nothing, or an agent without a game or without strategies for all hands.

    Examples
    --------
    >>> make_source("push:10,10").name
    'push:10,10'
    """
    if is_push_source(text):
        return ChartSource(push_table(text), text)
    return TableSource(make_agent(text, seed), text)


@dataclass(eq=False)
class TableSource:
    """Hands that an agent plays against itself; a solved spot deals hands of its subgame.

    Parameters
    ----------
    agent
        Agent with its own game.
    name
        Name of the source in records.

    Raises
    ------
    InputError
        If the agent plays any game, or cannot evaluate decisions.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> agent = SolutionAgent(solution, "river")
    >>> source = TableSource(agent, "river")
    >>> next(source.play_hand(np.random.default_rng(0), None, 0)).moves
    ('c', 'r100')
    """

    agent: Agent
    name: str

    def __post_init__(self) -> None:
        self.evaluator: DecisionEvaluator = make_evaluator(self.agent)
        self.base: Any = getattr(self.agent, "base", self.agent)  # the strategy that gives the ranges
        rules = getattr(self.agent, "rules", None)
        if not isinstance(rules, PokerRules):
            raise InputError(f"agent {self.name!r}: plays any game; drills need an agent with its own game")
        self.rules: PokerRules = rules
        self.start: BettingState = getattr(self.agent, "start", None) or BettingState.start(rules)

    def play_hand(self, rng: np.random.Generator, line: str | None, seat: int | None) -> QuestionGenerator:
        """Yield the decisions of one seat; with a line, hands begin there, with hands from the ranges of that line.

        Parameters
        ----------
        rng
            Random generator.
        line
            Line at which the hand begins; None for the start.
        seat
            Seat that is asked; None for any.
        """
        if line is None:
            (holes, board), state = self._deal(rng), self.start
        else:
            state, dealt = self._state_at(line)
            holes, board = self._deal_at(rng, state, dealt)
        own_seat = seat if seat is not None else state.actor if line is not None else int(rng.integers(2))
        number = int(rng.integers(1 << 40))
        while state.actor >= 0:
            move = None
            if state.actor == own_seat:
                move = yield self._question(rng, state, board, holes[own_seat], own_seat)
            if move is None:
                shown_cards = board[: self.rules.board_sizes[state.street]]
                view = Observations.from_betting([state], [holes[state.actor]], [shown_cards], [number])
                state = state.play(int(self.agent.act(view)[0]))
            else:
                state = state.play(state.parse_action(move))

    def _state_at(self, line: str) -> tuple[BettingState, HoleCards]:
        """Return the state at a line, and the board cards that the line contains (notation of spots, `x-b50/8h`)."""
        agent = self.agent
        if isinstance(agent, SolutionAgent) and (set(line) & set("-xba") or any(c.isupper() for c in line)):
            state, board = agent.state_at(line)
        else:
            whole = line if line.startswith(self.start.line) else self.start.line + line
            state, board = BettingState.from_line(self.rules, whole).deal_due_streets(), ()
        if state.actor < 0:
            raise InputError(f"line {short_repr(line)}: no player acts there")
        return state, board

    def _deal_at(self, rng: np.random.Generator, state: BettingState, known: HoleCards) -> tuple[Holes, HoleCards]:
        """Deal a hand that has reached a state: a random board with the known cards, and hands from both ranges."""
        for _ in range(MAX_BOARDS):
            (_, _), board = self._deal(rng)
            board = (*known, *(card for card in board if card not in known))[: self.rules.board_sizes[-1]]
            shown_cards = board[: self.rules.board_sizes[state.street]]
            if isinstance(self.agent, SolutionAgent):
                first, second = self.agent.node_at(state, shown_cards).reach
            else:
                first, second = ranges(PublicStates.from_betting([state], [shown_cards]), self.base)[0]
            holes = deal_holes(rng, self.rules.deck.hands, first, second)
            if holes is None:
                continue
            used = {*holes[0], *holes[1], *shown_cards}
            later = [card for card in rng.permutation(self.rules.deck.cards).tolist() if card not in used]
            return holes, (*shown_cards, *later)[: self.rules.board_sizes[-1]]
        raise InputError(f"line {short_repr(state.line)}: {self.name} never plays this line with any hand")

    def _deal(self, rng: np.random.Generator) -> tuple[Holes, HoleCards]:
        deal = getattr(self.agent, "deal", None)
        if deal is not None:
            first, second, board = deal(rng)
            return (first, second), board
        hole = self.rules.hole
        cards = rng.permutation(self.rules.deck.cards)[: 2 * hole + self.rules.board_sizes[-1]].tolist()
        return (tuple(cards[:hole]), tuple(cards[hole : 2 * hole])), tuple(cards[2 * hole :])

    def _question(
        self, rng: np.random.Generator, state: BettingState, board: HoleCards, hole: HoleCards, seat: int
    ) -> DrillQuestion:
        dealt = board[: self.rules.board_sizes[state.street]]
        verdict = self.evaluator.verdict(state, dealt, hole)
        shown_line = self.agent.solution_line(state, dealt) if isinstance(self.agent, SolutionAgent) else state.line
        street = self.rules.streets[state.street]
        actions = "".join(letter for letter in state.line.rpartition("/")[2] if letter.isalpha()) or "first to act"
        kinds = {"line": f"{street} {actions}", "board": _board_class(dealt), "hand": hand_class(hole, dealt)}
        behind = min(state.behind) if self.rules.stacks is not None else 0
        words = tuple(describe_action(move, state) for move in verdict.moves)
        return DrillQuestion(
            format_cards(hole), format_cards(dealt), shown_line, SEATS[seat], street, state.pot, behind, state.to_call,
            verdict.moves, words, int(rng.integers(100)), verdict, kinds,
        )  # fmt: skip


@dataclass(eq=False)
class ChartSource:
    """Hands of a push/fold table.

    Parameters
    ----------
    table
        Solved table.
    name
        Name of the source in records.

    Examples
    --------
    >>> source = ChartSource(push_table("push:10,10"), "ten blinds")
    >>> next(source.play_hand(np.random.default_rng(0), "J", None)).seat
    'BB'
    """

    table: PushTable
    name: str

    def play_hand(self, rng: np.random.Generator, line: str | None, seat: int | None) -> QuestionGenerator:
        """Yield one question: a line with equal probability, and a random hand.

        Parameters
        ----------
        rng
            Random generator.
        line
            Line of the question; None for any.
        seat
            Not used: the line determines the seat.
        """
        if line is not None:
            self.table.line_number(line)
        else:
            line = str(rng.choice(list(self.table.lines)))
        hand = int(rng.integers(len(HAND_CARDS)))
        hole = tuple(HAND_CARDS[hand].tolist())
        verdict = self.table.verdict(line, int(CLASS_OF_HAND[hand]))
        moves, spot = verdict.moves, self.table.spot
        kinds = {"line": line or "first in", "board": "before the flop", "hand": hand_class(hole, ())}
        yield DrillQuestion(
            format_cards(hole), "", line, spot.positions[len(line)], "preflop", self.table.pot(line),
            spot.stacks[len(line)], 0.0, moves, moves, int(rng.integers(100)), verdict, kinds,
        )  # fmt: skip
