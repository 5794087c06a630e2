"""`riverboat review --player`: decisions reviewed by EV lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat.api.agent import agent as make_agent
from riverboat.cards.notation import format_cards
from riverboat.cli.matches.match import hands_progress
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.errors import InputError
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable
from riverboat.formats.hand_files import read_hands_in_file_units
from riverboat.games.holdem.rules import read_game
from riverboat.practice.evaluators import make_evaluator
from riverboat.practice.reviews import DecisionReview, HandReview, hands_of_player, review_hand, total_ev_lost
from riverboat.practice.session import PracticeSession, SessionResults, session_results

if TYPE_CHECKING:
    from rich.console import Console

_EV_LOST_COLUMNS = (
    ReportColumn("street"), ReportColumn("line"), ReportColumn("pot", FIGURE), ReportColumn("action"),
    ReportColumn("frequency", FIGURE),
    ReportColumn("EV lost", FIGURE), ReportColumn("best"), ReportColumn("source", rank=1),
)  # fmt: skip
EV_LOST_NOTE = (
    "EV lost in chips: EV of the best action minus EV of the one played. Frequencies are those of the reference."
)


def print_hand_reviews(console: Console, hands: Sequence[HandReview]) -> None:
    """Print a heading and a table for each hand."""
    for hand in hands:
        won = "" if hand.hand.won is None else f", won {hand.hand.won:+,.6g}"
        board = format_cards(hand.hand.dealt, " ") or "no board"
        console.print(
            f"\nhand {hand.hand.number + 1}: {format_cards(hand.hand.hole, ' ')} on {board}{won}, EV lost "
            f"{hand.ev_lost:,.1f}",
            highlight=False,
        )
        console.print(ReportTable("", _EV_LOST_COLUMNS, tuple(map(_ev_lost_row, hand.decisions))))
    if hands:
        console.print(EV_LOST_NOTE, highlight=False)


def _ev_lost_row(made: DecisionReview) -> tuple[str, ...]:
    verdict = made.verdict
    if verdict is None:
        return made.street, made.line or "–", f"{made.pot:,}", made.move, "", "", "", made.unknown_reason
    best = "" if verdict.best is None else verdict.best.move
    nearest = verdict.nearest_action(made.move)
    cost = "" if made.cost is None else f"{made.cost:,.1f}"
    move = made.move if nearest == made.move else f"{made.move} as {nearest}"
    frequency = f"{100 * verdict.option_for(made.move).probability:.0f} %"
    return made.street, made.line or "–", f"{made.pot:,}", move, frequency, cost, best, verdict.source


def print_session_review(console: Console, session: PracticeSession) -> None:
    """Print the decisions of all finished hands of a session, and its results with luck removed."""
    with hands_progress("reviews") as progress:
        hands = []
        count = len(session.finished)
        for number in range(count):
            hands.append(session.review(number))
            progress(number + 1, count)
    print_hand_reviews(console, hands)
    for line in describe_results(session_results(session.finished, session.table.agent), total_ev_lost(hands)):
        console.print(line, highlight=False)


def describe_results(results: SessionResults, lost: float) -> list[str]:
    """Return the results of a session as lines of text."""
    lines = [f"won {results.won:+,.6g} chips in {results.hands:,} hands; EV lost {lost:,.1f} chips"]
    for name, label in (("raw", "as played"), ("all_in", "all-ins by equity"), ("aivat", "without luck (AIVAT)")):
        interval = results.to_dict()[name]
        if interval is not None:
            lines.append(f"{label}: {interval['mean']:+,.0f} ± {interval['ci95']:,.0f} {results.unit}")
    return lines


def review_decisions(file: Path, player: str, judge: str, worst: int, game: str | None, json: bool) -> None:
    """Review the decisions of a player in a hand history: all as JSON, or print the most expensive hands."""
    record = read_hands_in_file_units(file, None if game is None else read_game(game)).hands
    if player not in record.names:
        raise InputError(f"--player {player!r}: not a player in {file}; players: {', '.join(record.names[:8])}")
    hands, evaluator = hands_of_player(record, player), make_evaluator(make_agent(judge))
    reviews = []
    with hands_progress(f"{len(hands):,} hands") as progress:
        for number, hand in enumerate(hands, 1):
            reviews.append(review_hand(evaluator, hand))
            progress(number, len(hands))
    num_judged = sum(decision.cost is not None for hand in reviews for decision in hand.decisions)
    num_decisions = sum(len(hand.decisions) for hand in reviews)
    if json:
        facts = {"file": str(file), "player": player, "judge": judge, "hands": [hand.to_dict() for hand in reviews]}
        sums = {
            "decisions": num_decisions,
            "judged": num_judged,
            "ev_lost": total_ev_lost(reviews),
            "unit": "chips",
            "scale": record.scale,
        }
        emit({**facts, **sums})
        return
    console = plain_console()
    print_hand_reviews(console, sorted(reviews, key=lambda hand: -hand.ev_lost)[:worst])
    console.print(
        f"{player}: {len(reviews):,} hands, {num_judged:,} of {num_decisions:,} decisions reviewed by {judge}, "
        f"EV lost {total_ev_lost(reviews):,.1f} chips"
        + ("" if record.scale == 1 else f" ({record.scale} chips are one unit of the file)"),
        highlight=False,
    )
    reasons = {decision.unknown_reason for hand in reviews for decision in hand.decisions if decision.unknown_reason}
    for reason in sorted(reasons)[:3]:
        console.print(f"not reviewed: {reason}", highlight=False)
