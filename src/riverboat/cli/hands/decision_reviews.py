"""What decisions cost, as people read it: the hands of a sitting, or those of a player in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from riverboat.agents.registry import make_agent
from riverboat.cards.notation import show_cards
from riverboat.cli.matches.match import watched
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.errors import InputError
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.formats.hand_files import read_units
from riverboat.games.holdem.rules import read_game
from riverboat.practice.evaluators import judge_of
from riverboat.practice.luck import Results, results
from riverboat.practice.reviews import Decision, HandReview, ev_lost, hands_of, review_hand
from riverboat.practice.session import Sitting

_COLUMNS = (
    Column("street"), Column("line"), Column("pot", FIGURE), Column("move"), Column("how often", FIGURE),
    Column("EV lost", FIGURE), Column("best"), Column("by", rank=1),
)  # fmt: skip
ABOUT = "EV lost in chips: what the best move is worth more with that hand. how often: by the same judge."


def print_hands(console: Console, hands: Sequence[HandReview]) -> None:
    """A head and a table for each."""
    for hand in hands:
        won = "" if hand.hand.won is None else f", won {hand.hand.won:+,.6g}"
        board = show_cards(hand.hand.dealt, " ") or "no board"
        console.print(
            f"\nhand {hand.hand.number + 1}: {show_cards(hand.hand.hole, ' ')} on {board}{won}, EV lost {hand.lost:,.1f}",
            highlight=False,
        )
        console.print(ReportTable("", _COLUMNS, tuple(map(_row, hand.decisions))))
    if hands:
        console.print(ABOUT, highlight=False)


def _row(made: Decision) -> tuple[str, ...]:
    verdict = made.verdict
    if verdict is None:
        return made.street, made.line or "–", f"{made.pot:,}", made.move, "", "", "", made.why
    best = "" if verdict.best is None else verdict.best.move
    read = verdict.read(made.move)
    cost = "" if made.cost is None else f"{made.cost:,.1f}"
    move = made.move if read == made.move else f"{made.move} as {read}"
    often = f"{100 * verdict.of(made.move).probability:.0f} %"
    return made.street, made.line or "–", f"{made.pot:,}", move, often, cost, best, verdict.source


def print_sitting(console: Console, sitting: Sitting) -> None:
    """Decisions of all hands that are over, and the results without luck."""
    with watched("reviews") as progress:
        hands = []
        count = len(sitting.finished)
        for number in range(count):
            hands.append(sitting.review(number))
            progress(number + 1, count)
    print_hands(console, hands)
    for line in lines_of(results(sitting), ev_lost(hands)):
        console.print(line, highlight=False)


def lines_of(told: Results, lost: float) -> list[str]:
    """The results in words."""
    lines = [f"won {told.won:+,.6g} chips in {told.hands:,} hands; EV lost {lost:,.1f} chips"]
    for name, words in (("raw", "as played"), ("all_in", "all-ins by equity"), ("aivat", "without luck (AIVAT)")):
        interval = told.to_dict()[name]
        if interval is not None:
            lines.append(f"{words}: {interval['mean']:+,.0f} ± {interval['ci95']:,.0f} {told.unit}")
    return lines


def review(file: Path, player: str, judge: str, worst: int, game: str | None, json: bool) -> None:
    """The decisions of a player in a file of hands: all as JSON, the most expensive hands on a screen."""
    record = read_units(file, None if game is None else read_game(game)).hands
    if player not in record.names:
        raise InputError(f"--player {player!r}: plays in none of {file}: {', '.join(record.names[:8])}")
    hands, by = hands_of(record, player), judge_of(make_agent(judge))
    told = []
    with watched(f"{len(hands):,} hands") as progress:
        for number, hand in enumerate(hands, 1):
            told.append(review_hand(by, hand))
            progress(number, len(hands))
    known = sum(decision.cost is not None for hand in told for decision in hand.decisions)
    every = sum(len(hand.decisions) for hand in told)
    if json:
        facts = {"file": str(file), "player": player, "judge": judge, "hands": [hand.to_dict() for hand in told]}
        sums = {"decisions": every, "judged": known, "ev_lost": ev_lost(told), "unit": "chips", "scale": record.scale}
        emit({**facts, **sums})
        return
    console = plain_console()
    print_hands(console, sorted(told, key=lambda hand: -hand.lost)[:worst])
    console.print(
        f"{player}: {len(told):,} hands, {known:,} of {every:,} decisions judged by {judge}, "
        f"EV lost {ev_lost(told):,.1f} chips" + ("" if record.scale == 1 else f" of {record.scale} to the file's unit"),
        highlight=False,
    )
    why = {decision.why for hand in told for decision in hand.decisions if decision.why}
    for reason in sorted(why)[:3]:
        console.print(f"not judged: {reason}", highlight=False)
