"""Output of `riverboat match` and `review`: duplicate matches, round robins and reviewed hands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat.api.match import MatchResult, RoundRobinResult
from riverboat.api.review import RecordedMatchReview
from riverboat.cards.notation import format_cards
from riverboat.cli.progress import ProgressBar
from riverboat.cli.terminal import plain_console
from riverboat.core.errors import InputError, short_repr
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable

if TYPE_CHECKING:
    from rich.console import Console

    from riverboat.evaluation.matches.hand_review import MatchDecisionReview, MatchHandReview
    from riverboat.evaluation.matches.match import DuplicateMatchResult
    from riverboat.games.holdem.hand_records import HandRecords

# --- Reviewed hands, within 80 columns ---

_REVIEW_COLUMNS = (
    ReportColumn("street"), ReportColumn("player"), ReportColumn("pot", FIGURE), ReportColumn("action"),
    ReportColumn("frequency", FIGURE, rank=2),
    ReportColumn("EV lost", FIGURE), ReportColumn("best"), ReportColumn("luck", FIGURE, rank=1),
)  # fmt: skip
REVIEW_NOTES = (
    "All in big blinds. EV lost: estimated gain of the player's best action over the",
    "one played. luck: what the first agent won by the random choice of the action;",
    "the luck of the cards is a mean over all hands that would have played this way.",
)


def print_reviews(console: Console, reviews: Sequence[MatchHandReview], big_blind: int) -> None:
    """Print a heading and a table for each reviewed hand."""
    for hand in reviews:
        for line in _review_heading(hand, big_blind):
            console.print(line)
        console.print(
            ReportTable("", _REVIEW_COLUMNS, tuple(_decision_row(hand, d, big_blind) for d in hand.decisions))
        )
    for line in REVIEW_NOTES if reviews else ():
        console.print(line)


def _review_heading(hand: MatchHandReview, big_blind: int) -> list[str]:
    first, other = hand.names[hand.first_seat], hand.names[1 - hand.first_seat]
    own_hand, other_hand = (format_cards(hand.hole[seat]) or "?" for seat in (hand.first_seat, 1 - hand.first_seat))
    board = format_cards(hand.board, " ") or "none"
    luck = ", ".join(f"{name} {chips / big_blind:+.2f}" for name, chips in hand.luck)
    head = f"hand {hand.number}: {hand.won / big_blind:+.2f}, without luck {hand.estimate / big_blind:+.2f}"
    return [
        "",
        head + (f"; luck: {luck}" if luck else ""),
        f"{own_hand} {_shorten_name(first)} (seat {hand.first_seat}), {other_hand} {_shorten_name(other)}; board {board}",
    ]


def _shorten_name(name: str, max_length: int = 24) -> str:
    """Shorten a long name to its end, which says more than its beginning."""
    return name if len(name) <= max_length else "…" + name[1 - max_length :]


def _decision_row(hand: MatchHandReview, d: MatchDecisionReview, big_blind: int) -> tuple[str, ...]:
    return (
        d.street,
        _shorten_name(hand.names[d.seat], 16),
        f"{d.pot / big_blind:.1f}",
        d.move,
        "" if d.probability is None else f"{100 * d.probability:.0f} %",
        "" if d.cost is None else f"{d.cost / big_blind:.2f}",
        d.best_action,
        f"{d.luck / big_blind:+.2f}" if d.luck else "",
    )


def open_histories(path: Path | None) -> AbstractContextManager[Callable[[HandRecords], None] | None]:
    """Return a context that writes the hands of a match to a file, or nothing if no file is given."""
    if path is None:
        return nullcontext(None)
    from riverboat.formats.hand_files import open_hand_writer

    return open_hand_writer(path)


def parse_bounds(text: str) -> tuple[float, float]:
    """Parse LOW,HIGH."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--until-settled {short_repr(text)}: write two numbers in mbb/g, such as -50,50") from None
    if not (isfinite(low) and isfinite(high)) or low >= high:
        raise InputError(f"--until-settled {short_repr(text)}: write the lower number first, such as -50,50")
    return low, high


def print_match(result: MatchResult) -> None:
    """Print a match of two agents."""
    console = plain_console()
    console.print(match_table([result]))
    for name, account in result.accounts.items():
        console.print(f"{name}: {account}")
    thinned = "" if result.played is None else f" of which {result.played // 2:,} were played"
    console.print(
        f"{result.game}, {result.pairs:,} duplicate pairs{thinned}, seed {result.seed}; {result.seconds:,.1f} s, "
        f"{result.hands_per_second:,.0f} hands per second"
    )
    if result.raw is not None:
        console.print(describe_variance_reduction(result))
    if result.verdict is not None:
        console.print(_describe_sequential_verdict(result))
    print_reviews(console, result.reviews, result.big_blind)


def describe_variance_reduction(played: DuplicateMatchResult) -> str:
    """Describe the effect of AIVAT in one line."""
    assert played.raw is not None
    raw, half = (1000 * x / played.big_blind for x in (played.raw.mean, played.raw.half_width))
    saved = "" if played.factor is None else f"; the same interval would take {played.factor:,.1f} times the hands"
    return f"with AIVAT; without it {raw:+,.1f} ± {half:,.1f} mbb/g{saved}"


def _describe_sequential_verdict(played: DuplicateMatchResult) -> str:
    low, high = played.bounds or (0.0, 0.0)
    meaning = {
        "better": f"more than {high:g}",
        "worse": f"less than {low:g}",
        "between": f"between {low:g} and {high:g}",
        "open": f"undecided between below {low:g}, above {high:g} and between",
    }
    return f"{played.verdict}: {meaning[played.verdict or 'open']} mbb/g; the interval is valid at any stopping time"


_MATCH_COLUMNS = (
    ReportColumn("agent"), ReportColumn("against"), ReportColumn("mbb/g", FIGURE), ReportColumn("± 95 %", FIGURE),
    ReportColumn("bb/100", FIGURE, rank=2), ReportColumn("hands", FIGURE, rank=1), ReportColumn("verdict", rank=3),
)  # fmt: skip


def match_table(matches: Iterable[DuplicateMatchResult]) -> ReportTable:
    """Return a table with one row per match, from the first agent's point of view."""
    rows = []
    for played in matches:
        mean, half = f"{played.mbb_per_game:+,.1f}", f"{played.ci95:,.1f}"
        rows.append(
            (*played.names, mean, half, f"{played.bb_per_100:+,.2f}", f"{played.hands:,}", interval_verdict(played))
        )
    return ReportTable("", _MATCH_COLUMNS, tuple(rows))


def interval_verdict(played: DuplicateMatchResult) -> str:
    """Return the verdict of the confidence interval: wins, loses or undecided."""
    if played.mbb_per_game > played.ci95:
        return "wins"
    return "loses" if played.mbb_per_game < -played.ci95 else "undecided"


def print_round_robin(result: RoundRobinResult) -> None:
    """Print the table of a round robin."""
    console, (head, *rows) = plain_console(), result.rows()
    columns = ReportColumn(head[0]), *(ReportColumn(name, FIGURE) for name in head[1:])
    console.print(ReportTable("", columns, tuple(map(tuple, rows))))
    console.print(
        f"win rate of the row agent against the column agent, mbb/g ± 95 %; {result.rules.name}, {result.hands:,} hands "
        f"in duplicate pairs each, seed {result.seed}" + (", with AIVAT" if result.aivat else ""),
    )


def print_review(review: RecordedMatchReview) -> None:
    """Print a recorded match with its most expensive hands."""
    console = plain_console()
    console.print(match_table([review.match]))
    console.print(describe_variance_reduction(review.match))
    print_reviews(console, review.reviews, review.rules.big_blind)


@contextmanager
def hands_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar over hands; yields a callback."""
    with ProgressBar(title) as bar:
        yield lambda played, hands: bar(played / hands)
