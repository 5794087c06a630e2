"""Reviews of played hands: the EV that each decision of a player lost, and the alternatives.

    review = review_hand(evaluator, hand)
    review.ev_lost, review.decisions

`PlayedHand` objects come from a session or from a file; the opponent's cards are not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from riverboat.cards.notation import format_cards
from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.betting import DEAL, BettingState
from riverboat.games.holdem.hand_records import UNKNOWN_RESULT, HandRecords
from riverboat.practice.evaluators import DecisionEvaluator
from riverboat.practice.verdicts import DecisionVerdict


@dataclass(frozen=True)
class PlayedHand:
    """Hand as one of its players saw it.

    Attributes
    ----------
    number
        Number of the hand.
    seat
        Seat of the player: 0 big blind, 1 dealer.
    hole
        The player's cards.
    board
        Board cards.
    start
        State at the start of the hand.
    end
        State at its end, or the current state.
    won
        Chips won; None if unknown.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> start, end = BettingState.start(rules), BettingState.from_line(rules, "r300f")
    >>> hand = PlayedHand(0, 1, (0, 5), (), start, end, won=100.0)
    >>> [action for _, action in hand.decisions()]
    [300]
    """

    number: int
    seat: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    start: BettingState
    end: BettingState  # final state, or the current one
    won: float | None = None

    @property
    def dealt(self) -> tuple[int, ...]:
        """Board cards that were dealt up to the last street played."""
        return self.board[: self.end.rules.board_sizes[self.end.street]]

    def decisions(self) -> Iterator[tuple[BettingState, int]]:
        """Yield each state at which the player acted, with the action: FOLD, CALL, or the total of a raise."""
        state = BettingState.start(self.start.rules)
        for action in self.end.history:
            if action == DEAL:
                state = state.next_street()
                continue
            if state.actor == self.seat and len(state.history) >= len(self.start.history):
                yield state, action
            state = state.apply_action(action)


@dataclass(frozen=True)
class DecisionReview:
    """Review of one action of the player.

    Attributes
    ----------
    state
        State before the action.
    board
        Board cards.
    action
        The action: FOLD, CALL, or the total of a raise.
    verdict
        Verdict on the decision; None if it cannot be evaluated.
    unknown_reason
        Why it cannot be evaluated.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> decision = DecisionReview(BettingState.start(read_game("nolimit-200bb")), (), 300, None, "no values")
    >>> decision.move, decision.street, decision.cost
    ('r300', 'preflop', None)
    """

    state: BettingState  # before the action
    board: tuple[int, ...]
    action: int
    verdict: DecisionVerdict | None  # None if it cannot be evaluated
    unknown_reason: str = ""  # why it cannot be evaluated

    @property
    def move(self) -> str:
        """The action as text."""
        return format_action(self.action, self.state.rules)

    @property
    def street(self) -> str:
        """Name of the street."""
        return self.state.rules.streets[self.state.street]

    @property
    def cost(self) -> float | None:
        """EV lost, in chips; None if unknown."""
        return None if self.verdict is None else self.verdict.cost(self.move)

    def to_dict(self) -> dict[str, Any]:
        """Return the review as a JSON object, in chips."""
        verdict, state = self.verdict, self.state
        return {
            "street": self.street,
            "line": state.line,
            "board": format_cards(self.board),
            "pot": state.pot,
            "to_call": state.to_call,
            "move": self.move,
            "read_as": None if verdict is None else verdict.nearest_action(self.move),
            "ev_lost": self.cost,
            "unit": "chips",
            "verdict": None if verdict is None else verdict.to_dict(),
            "why": self.unknown_reason or None,
        }


@dataclass(frozen=True)
class HandReview:
    """Review of one hand.

    Attributes
    ----------
    hand
        The hand.
    decisions
        Reviews of the player's decisions.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> start, end = BettingState.start(rules), BettingState.from_line(rules, "r300f")
    >>> hand = PlayedHand(0, 1, (0, 5), (), start, end, won=100.0)
    >>> HandReview(hand, ()).ev_lost
    0
    """

    hand: PlayedHand
    decisions: tuple[DecisionReview, ...]

    @property
    def ev_lost(self) -> float:
        """EV lost by all evaluated decisions, in chips."""
        return sum(decision.cost or 0.0 for decision in self.decisions)

    def to_dict(self) -> dict[str, Any]:
        """Return the review as a JSON object, in chips."""
        hand = self.hand
        return {
            "hand": hand.number,
            "seat": hand.seat,
            "hole": format_cards(hand.hole),
            "board": format_cards(hand.dealt),
            "line": hand.end.line,
            "won": hand.won,
            "ev_lost": self.ev_lost,
            "unit": "chips",
            "decisions": [decision.to_dict() for decision in self.decisions],
        }


def review_hand(evaluator: DecisionEvaluator, hand: PlayedHand) -> HandReview:
    """Review every decision of one hand.

    The checks by which a file leads a hand to a spot (`evaluators.convert_to_whole_hand`) do not count as decisions.

    Parameters
    ----------
    evaluator
        Source of verdicts.
    hand
        The hand.

    Returns
    -------
    HandReview
        Decisions that cannot be evaluated have a reason.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.practice.evaluators import make_evaluator
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> start, end = BettingState.start(rules), BettingState.from_line(rules, "r300f")
    >>> hand = PlayedHand(0, 1, (0, 5), (), start, end, won=100.0)
    >>> review = review_hand(make_evaluator(make_agent("rule-based")), hand)
    >>> review.decisions[0].move, review.ev_lost
    ('r300', 0.0)
    """
    first_street = getattr(evaluator, "begins", 0) if hand.end.rules.big_blind == 0 else 0
    decisions = [(state, action) for state, action in hand.decisions() if state.street >= first_street]
    return HandReview(hand, tuple(_review_action(evaluator, hand, *decision) for decision in decisions))


def _review_action(evaluator: DecisionEvaluator, hand: PlayedHand, state: BettingState, action: int) -> DecisionReview:
    board = hand.board[: state.rules.board_sizes[state.street]]
    try:
        verdict = evaluator.verdict(state, board, hand.hole, action)
        verdict.nearest_action(format_action(action, state.rules))
    except RiverboatError as error:
        return DecisionReview(state, board, action, None, str(error))
    return DecisionReview(state, board, action, verdict)


def total_ev_lost(reviews: Sequence[HandReview]) -> float:
    """Return the EV lost over some hands, in chips.

    Parameters
    ----------
    reviews
        Reviews of the hands.

    Returns
    -------
    float
        Sum of the EV lost.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> start, end = BettingState.start(rules), BettingState.from_line(rules, "r300f")
    >>> hand = PlayedHand(0, 1, (0, 5), (), start, end, won=100.0)
    >>> total_ev_lost([HandReview(hand, ())])
    0
    """
    return sum(hand.ev_lost for hand in reviews)


def hands_of_player(record: HandRecords, player: str) -> list[PlayedHand]:
    """Return the hands of a record in which a player's cards are known, as that player saw them.

    Parameters
    ----------
    record
        Recorded hands.
    player
        Name of the player.

    Returns
    -------
    list of PlayedHand
        The hands.

    Raises
    ------
    InputError
        If the player's cards are unknown in all hands.

    Examples
    --------
    >>> from riverboat.games.holdem.hand_records import RecordedHand, build_records
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> end = BettingState.from_line(rules, "r300f")
    >>> record = build_records([RecordedHand(0, ("Ann", "Bob"), end, ((), (0, 5), ()))], rules)
    >>> hands_of_player(record, "Bob")[0].won
    100
    """
    seats, hands = record.seat_of(player), []
    for i in record.played_by(player).nonzero()[0].tolist():
        seat = int(seats[i])
        hole, won = record.hole(i, seat), int(record.won[i, seat])
        if not hole:
            continue
        start, result = BettingState.start(record.rules_of(i)), None if won == UNKNOWN_RESULT else won
        hands.append(PlayedHand(int(record.number[i]), seat, hole, record.board(i), start, record.betting(i), result))
    if not hands:
        raise InputError(f"player {player!r}: its cards are unknown in all of these {len(record):,} hands")
    return hands
