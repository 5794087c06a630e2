"""Hands looked at again, as people read them: within 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from riverboat.cards.notation import show_cards
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.evaluation.review import Decision, Review

_COLUMNS = (
    Column("street"), Column("who"), Column("pot", FIGURE), Column("move"), Column("how often", FIGURE, rank=2),
    Column("cost", FIGURE), Column("better"), Column("drawn", FIGURE, rank=1),
)  # fmt: skip
ABOUT = (
    "All in big blinds. cost: what the best of the player's moves is worth more with",
    "its hand, by estimates. drawn: what the first agent won by the draw of a move,",
    "and luck by the cards, on average over all hands that would have played so.",
)


def print_reviews(console: Console, reviews: Sequence[Review], big_blind: int) -> None:
    """A head and a table for each."""
    for hand in reviews:
        for line in _head(hand, big_blind):
            console.print(line)
        console.print(ReportTable("", _COLUMNS, tuple(_row(hand, d, big_blind) for d in hand.decisions)))
    for line in ABOUT if reviews else ():
        console.print(line)


def _head(hand: Review, big_blind: int) -> list[str]:
    first, other = hand.names[hand.first], hand.names[1 - hand.first]
    mine, theirs = (show_cards(hand.hole[seat]) or "?" for seat in (hand.first, 1 - hand.first))
    board = show_cards(hand.board, " ") or "none"
    luck = ", ".join(f"{name} {chips / big_blind:+.2f}" for name, chips in hand.luck)
    head = f"hand {hand.number}: {hand.won / big_blind:+.2f}, without luck {hand.estimate / big_blind:+.2f}"
    return [
        "",
        head + (f"; luck: {luck}" if luck else ""),
        f"{mine} {_short(first)} (seat {hand.first}), {theirs} {_short(other)}; board {board}",
    ]


def _short(name: str, most: int = 24) -> str:
    """The end of a long name, which says more than its beginning."""
    return name if len(name) <= most else "…" + name[1 - most :]


def _row(hand: Review, d: Decision, big_blind: int) -> tuple[str, ...]:
    return (
        d.street,
        _short(hand.names[d.seat], 16),
        f"{d.pot / big_blind:.1f}",
        d.move,
        "" if d.probability is None else f"{100 * d.probability:.0f} %",
        "" if d.cost is None else f"{d.cost / big_blind:.2f}",
        d.instead,
        f"{d.luck / big_blind:+.2f}" if d.luck else "",
    )
