"""`riverboat review --player`: decisions reviewed by EV lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from riverboat.api.agent import agent as make_agent
from riverboat.api.review import review_match
from riverboat.cards.notation import format_cards
from riverboat.cli.matches.match import describe_variance_reduction, match_table, review_parts
from riverboat.cli.progress import DeferredProgressBar
from riverboat.cli.terminal import figure, make_table, print_parts, print_result
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportColumn
from riverboat.formats.hand_files import read_hands_in_file_units
from riverboat.games.holdem.rules import read_game
from riverboat.practice.evaluators import make_evaluator
from riverboat.practice.reviews import DecisionReview, HandReview, hands_of_player, review_hand, total_ev_lost
from riverboat.practice.session import PracticeSession, session_results

T = TypeVar("T")
_EV_LOST_COLUMNS = (
    "street",
    "line",
    figure("pot"),
    "action",
    figure("frequency"),
    figure("EV lost"),
    "best",
    ReportColumn("source", rank=1),
)
EV_LOST_NOTE = (
    "EV lost in chips: EV of the best action minus EV of the one played. Frequencies are those of the reference."
)


def _hand_review_parts(hands: Sequence[HandReview]) -> Iterator[Any]:
    """Yield a heading and a table for each hand."""
    for hand in hands:
        won = "" if hand.hand.won is None else f", won {hand.hand.won:+,.6g}"
        board = format_cards(hand.hand.dealt, " ") or "no board"
        hole = format_cards(hand.hand.hole, " ")
        yield f"\nhand {hand.hand.number + 1}: {hole} on {board}{won}, EV lost {hand.ev_lost:,.1f}"
        yield make_table(_EV_LOST_COLUMNS, map(_ev_lost_row, hand.decisions))
    if hands:
        yield EV_LOST_NOTE


def _ev_lost_row(made: DecisionReview) -> tuple[str, ...]:
    verdict = made.verdict
    if verdict is None:
        return made.street, made.state.line or "–", f"{made.state.pot:,}", made.move, "", "", "", made.unknown_reason
    best = "" if verdict.best is None else verdict.best.move
    nearest = verdict.nearest_action(made.move)
    cost = "" if made.cost is None else f"{made.cost:,.1f}"
    move = made.move if nearest == made.move else f"{made.move} as {nearest}"
    frequency = f"{100 * verdict.option_for(made.move).probability:.0f} %"
    return made.street, made.state.line or "–", f"{made.state.pot:,}", move, frequency, cost, best, verdict.source


def _review_hands(title: str, hands: Sequence[T], review: Callable[[T], HandReview]) -> list[HandReview]:
    """Review hands behind a progress bar."""
    reviews = []
    with DeferredProgressBar(title) as progress:
        for number, hand in enumerate(hands, 1):
            reviews.append(review(hand))
            progress.update_count(number, len(hands))
    return reviews


def print_session_review(session: PracticeSession) -> None:
    """Print the decisions of all finished hands of a session, and its results with luck removed."""
    hands = _review_hands("reviews", range(len(session.finished)), session.review)
    results = session_results(session.finished, session.table.agent)
    lost = total_ev_lost(hands)
    lines = [f"won {results.won:+,.6g} chips in {results.hands:,} hands; EV lost {lost:,.1f} chips"]
    for name, label in (("raw", "as played"), ("all_in", "all-ins by equity"), ("aivat", "without luck (AIVAT)")):
        interval = results.to_dict()[name]
        if interval is not None:
            lines.append(f"{label}: {interval['mean']:+,.0f} ± {interval['ci95']:,.0f} {results.unit}")
    print_parts([*_hand_review_parts(hands), *lines])


def review(log: Path, *, player: str | None = None, judge: str = "default", json: bool = False, **options: Any) -> None:
    """Review a recorded match with AIVAT, or the decisions of one player by EV lost.

    Parameters
    ----------
    log
        A recorded match with all cards: FILE.log (ACPC) or FILE.phhs.
    player
        Review the decisions of this player by EV lost; any recorded hands will do.
    judge
        With --player: agent whose values and solutions are the reference.
    """
    if player is not None:
        _review_decisions(log, player, judge, options.get("worst", 5), options.get("game"), json)
        return
    with DeferredProgressBar("values for AIVAT, once") as values, DeferredProgressBar("hands") as bar:
        result = review_match(log, **options, preparing=values, progress=bar.update_count)
    summary = match_table([result.match]), describe_variance_reduction(result.match)
    print_result(result, [*summary, *review_parts(result.reviews, result.rules.big_blind)], json)


def _review_decisions(file: Path, player: str, judge: str, worst: int, game: str | None, json: bool) -> None:
    record = read_hands_in_file_units(file, None if game is None else read_game(game)).hands
    if player not in record.names:
        raise InputError(f"--player {player!r}: not a player in {file}; players: {', '.join(record.names[:8])}")
    hands, evaluator = hands_of_player(record, player), make_evaluator(make_agent(judge))
    reviews = _review_hands(f"{len(hands):,} hands", hands, partial(review_hand, evaluator))
    num_judged = sum(decision.cost is not None for hand in reviews for decision in hand.decisions)
    num_decisions = sum(len(hand.decisions) for hand in reviews)
    facts = {
        "file": str(file),
        "player": player,
        "judge": judge,
        "hands": [hand.to_dict() for hand in reviews],
        "decisions": num_decisions,
        "judged": num_judged,
        "ev_lost": total_ev_lost(reviews),
        "unit": "chips",
        "scale": record.scale,
    }
    summary = (
        f"{player}: {len(reviews):,} hands, {num_judged:,} of {num_decisions:,} decisions reviewed by {judge}, "
        f"EV lost {total_ev_lost(reviews):,.1f} chips"
        + ("" if record.scale == 1 else f" ({record.scale} chips are one unit of the file)")
    )
    reasons = {decision.unknown_reason for hand in reviews for decision in hand.decisions if decision.unknown_reason}
    shown = sorted(reviews, key=lambda hand: -hand.ev_lost)[:worst]
    notes = (f"not reviewed: {reason}" for reason in sorted(reasons)[:3])
    print_result(facts, [*_hand_review_parts(shown), summary, *notes], json)
