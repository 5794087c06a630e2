"""Hands looked at again: what each decision of a player cost, and what there was instead.

    for hand in review(judge, played): hand.lost, hand.decisions

`Played` hands come from a sitting or from a file; the other's cards are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from riverboat.cards.notation import show_cards
from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.records.hand_records import UNKNOWN, Hands
from riverboat.practice.evaluators import Judge
from riverboat.practice.verdicts import Verdict


@dataclass(frozen=True)
class PlayedHand:
    """A hand that somebody played, as that player saw it."""

    number: int
    seat: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    start: Betting
    end: Betting  # or where the hand stands
    won: float | None = None

    @property
    def dealt(self) -> tuple[int, ...]:
        """The board as far as the hand went."""
        return self.board[: self.end.rules.board_sizes[self.end.street]]

    def decisions(self) -> Iterator[tuple[Betting, str]]:
        """The states at which the player acted, and its moves."""
        state = Betting.start(self.start.rules)
        for label in steps(self.end.line):
            if label == "/":
                state = state.next_street()
                continue
            if state.actor == self.seat and len(state.line) >= len(self.start.line):
                yield state, label
            state = state.play(label)


@dataclass(frozen=True)
class Decision:
    """One move of the player."""

    street: str
    line: str  # before it
    board: str
    pot: int
    to_call: int
    move: str
    verdict: Verdict | None  # None where nothing can be said
    why: str = ""  # nothing can be said

    @property
    def cost(self) -> float | None:
        """EV lost, in chips; None where nothing is known."""
        return None if self.verdict is None else self.verdict.cost(self.move)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; chips."""
        verdict = self.verdict
        return {
            "street": self.street,
            "line": self.line,
            "board": self.board,
            "pot": self.pot,
            "to_call": self.to_call,
            "move": self.move,
            "read_as": None if verdict is None else verdict.read(self.move),
            "ev_lost": self.cost,
            "unit": "chips",
            "verdict": None if verdict is None else verdict.to_dict(),
            "why": self.why or None,
        }


@dataclass(frozen=True)
class HandReview:
    """One hand."""

    hand: PlayedHand
    decisions: tuple[Decision, ...]

    @property
    def lost(self) -> float:
        """EV lost by all decisions of which something is known, in chips."""
        return sum(decision.cost or 0.0 for decision in self.decisions)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; chips."""
        hand = self.hand
        return {
            "hand": hand.number,
            "seat": hand.seat,
            "hole": show_cards(hand.hole),
            "board": show_cards(hand.dealt),
            "line": hand.end.line,
            "won": hand.won,
            "ev_lost": self.lost,
            "unit": "chips",
            "decisions": [decision.to_dict() for decision in self.decisions],
        }


def review_hand(judge: Judge, hand: PlayedHand) -> HandReview:
    """Every decision of one hand. The checks by which a file leads a hand to a spot (`other_tables.whole`) are none."""
    form = getattr(judge, "begins", 0) if hand.end.rules.big_blind == 0 else 0
    made = [(state, move) for state, move in hand.decisions() if state.street >= form]
    return HandReview(hand, tuple(_decision(judge, hand, *each) for each in made))


def _decision(judge: Judge, hand: PlayedHand, state: Betting, move: str) -> Decision:
    rules = state.rules
    board = hand.board[: rules.board_sizes[state.street]]
    verdict, why = None, ""
    try:
        verdict = judge.verdict(state, board, hand.hole, move)
        verdict.read(move)
    except RiverboatError as error:
        verdict, why = None, str(error)
    return Decision(
        rules.streets[state.street], state.line, show_cards(board), state.pot, state.to_call, move, verdict, why
    )


def review(judge: Judge, hands: Iterable[PlayedHand]) -> Iterator[HandReview]:
    """Hands one after the other."""
    for hand in hands:
        yield review_hand(judge, hand)


def ev_lost(reviews: Sequence[HandReview]) -> float:
    """EV lost over some hands, in chips."""
    return sum(hand.lost for hand in reviews)


def hands_of(record: Hands, player: str) -> list[PlayedHand]:
    """The hands of a record in which a player's cards were seen, as that player saw them."""
    which = record.of(player)
    seats = record.seat_of(player)
    hands = []
    for i in which.nonzero()[0].tolist():
        seat = int(seats[i])
        hole = record.hole(i, seat)
        if not hole:
            continue
        rules = record.rules_of(i)
        won = int(record.won[i, seat])
        known = None if won == UNKNOWN else won
        start = Betting.start(rules)
        hands.append(PlayedHand(int(record.number[i]), seat, hole, record.board(i), start, record.betting(i), known))
    if not hands:
        raise InputError(f"player {player!r}: nobody saw its cards in these {len(record):,} hands")
    return hands
