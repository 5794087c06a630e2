"""The report of an evening: hands read and refused, results, statistics, and the most expensive decisions.

report = session_report(["hands/"], review=20)
report.stakes, report.statistics.get("vpip"), report.worst
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from riverboat.core import files
from riverboat.core.errors import InputError, RiverboatError, unknown_name_error
from riverboat.formats.sites.reader import ReadHands, read_files
from riverboat.formats.table_phh import format_table_hand
from riverboat.games.holdem.table_hands import TableHand
from riverboat.practice.hands.pots import PotDecision, PotReview, review_pot, reviewable
from riverboat.practice.hands.ranges import RangeLibrary
from riverboat.practice.hands.results import StakeResult, stake_results
from riverboat.practice.hands.statistics import TableStatistics, table_statistics

WORST_DECISIONS = 10
MAX_REVIEWS = 10_000
PlayedHands = Sequence[tuple[TableHand, int]]


@dataclass(frozen=True)
class SessionReport:
    """Results, statistics and reviews of a player's hands.

    Attributes
    ----------
    read
        Hands read, and what was refused.
    played
        Hands of the player, each with its number there.
    stakes
        Results by stake.
    statistics
        Statistics by position and street.
    reviewable
        Number of heads-up pots that can be reviewed.
    reviews
        Reviews of the largest of them.
    failed
        Hands whose review failed, with the reason.
    """

    read: ReadHands
    played: PlayedHands
    stakes: list[StakeResult]
    statistics: TableStatistics
    reviewable: int = 0
    reviews: list[PotReview] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def worst(self) -> list[tuple[PotReview, PotDecision]]:
        """The decisions that lost most, in big blinds; at most ten."""
        return worst_decisions(self.reviews)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "files": self.read.files, "hands": len(self.read.hands), "duplicates": self.read.duplicates,
            "refused": [refusal.to_dict() for refusal in self.read.refused], "reasons": self.read.reasons,
            "seconds": self.read.seconds, "hands_per_minute": hands_per_minute(self.read),
            "player": self.statistics.player, "played": len(self.played),
            "stakes": [stake.to_dict() for stake in self.stakes], "statistics": self.statistics.to_dict(),
            "reviewable": self.reviewable, "reviews": [review.to_dict() for review in self.reviews],
            "failed": [{"number": number, "why": why} for number, why in self.failed],
            "worst": [worst_to_dict(review, decision) for review, decision in self.worst],
        }  # fmt: skip


def hands_per_minute(read: ReadHands) -> float | None:
    """Return the rate of reading; None if nothing was read.

    Parameters
    ----------
    read
        Hands read.
    """
    count = len(read.hands) + len(read.refused) + read.duplicates
    return 60 * count / read.seconds if read.seconds > 0 and count else None


def worst_decisions(reviews: Sequence[PotReview]) -> list[tuple[PotReview, PotDecision]]:
    """Return the ten decisions that lost most, in big blinds, and more than the error of their solution.

    Parameters
    ----------
    reviews
        Reviewed pots.

    Examples
    --------
    >>> worst_decisions([])
    []
    """
    every = [
        (review, decision)
        for review in reviews
        for decision in review.decisions
        if (decision.ev_lost or 0) > decision.error
    ]
    every.sort(key=lambda pair: -(pair[1].ev_lost or 0.0) / pair[0].hand.big_blind)
    return every[:WORST_DECISIONS]


def worst_to_dict(review: PotReview, decision: PotDecision) -> dict[str, Any]:
    """Return an expensive decision with its hand as a JSON object."""
    hand = review.hand
    lost = decision.ev_lost or 0.0
    facts = {"number": hand.number, "site": hand.site, "time": hand.time, "position": hand.positions[review.player]}
    return facts | decision.to_dict() | {"ev_lost_bb": lost / hand.big_blind, "ev_lost_money": lost / hand.scale}


def hands_of_player(hands: Sequence[TableHand], players: Sequence[str] = ()) -> PlayedHands:
    """Return the hands of a player: of the names given, or of the one whose cards the site showed.

    Parameters
    ----------
    hands
        All hands.
    players
        Names of one player, who may have another at each site.

    Returns
    -------
    sequence of tuple
        Hands, each with the number of the player.

    Raises
    ------
    InputError
        A name occurs in no hand.

    Examples
    --------
    >>> hands_of_player([])
    []
    """
    if not players:
        return [(hand, hand.hero) for hand in hands if hand.hero >= 0]
    known = {name for hand in hands for name in hand.names}
    for name in players:
        if name not in known:
            raise unknown_name_error("player", name, sorted(known))
    found = []
    for hand in hands:
        number = next((k for k, name in enumerate(hand.names) if name in players), -1)
        if number >= 0:
            found.append((hand, number))
    return found


def make_report(
    read: ReadHands,
    players: Sequence[str] = (),
    *,
    review: int = 0,
    library: RangeLibrary | None = None,
    threads: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> SessionReport:
    """Make the report of hands that were read.

    Parameters
    ----------
    read
        Hands read.
    players
        Names of the player; by default the one whose cards the site showed.
    review
        Review this many heads-up pots, the largest in big blinds first.
    library
        Preflop ranges; those of the package by default.
    threads
        Threads that solve.
    progress
        Callback with the number of reviewed pots and their total.

    Returns
    -------
    SessionReport
        The report.

    Raises
    ------
    InputError
        The player occurs in no hand.

    Examples
    --------
    >>> make_report(ReadHands()).to_dict()["hands"]
    0
    """
    if not 0 <= review <= MAX_REVIEWS:
        raise InputError(f"review={review}: must be from 0 to {MAX_REVIEWS:,}")
    played = hands_of_player(read.hands, players)
    pots = [(hand, player) for hand, player in played if reviewable(hand, player)]
    pots.sort(key=lambda pair: -sum(pair[0].contributed) / pair[0].big_blind)
    reviews, failed, library = list[PotReview](), list[tuple[str, str]](), library or RangeLibrary.load()
    for number, (hand, player) in enumerate(pots[:review], 1):
        try:
            reviews.append(review_pot(hand, player, library, threads=threads))
        except RiverboatError as error:
            failed.append((hand.number, str(error)))
        if progress is not None:
            progress(number, min(review, len(pots)))
    return SessionReport(read, played, stake_results(played), table_statistics(played), len(pots), reviews, failed)


def session_report(
    files: Sequence[str | Path],
    *,
    players: Sequence[str] = (),
    review: int = 0,
    ranges: str | Path | None = None,
    threads: int = 2,
    reading: Callable[[int, int], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SessionReport:
    """Read hand histories of sites and make the report of an evening.

    Parameters
    ----------
    files
        Files and folders.
    players
        Names of the player; by default the one whose cards the site showed.
    review
        Review this many heads-up pots, the largest first.
    ranges
        A TOML file with preflop ranges that replace those of the package.
    threads
        Threads that solve.
    reading
        Callback with the number of files read and their total.
    progress
        Callback with the number of reviewed pots and their total.

    Returns
    -------
    SessionReport
        The report.

    Raises
    ------
    InputError
        A file does not exist, the ranges are invalid, or the player occurs in no hand.

    Examples
    --------
    >>> session_report([]).stakes
    []
    """
    library = RangeLibrary.load(ranges)
    return make_report(
        read_files(files, reading), players, review=review, library=library, threads=threads, progress=progress
    )


def write_phhs(path: str | Path, hands: Sequence[TableHand]) -> None:
    """Write hands as PHH.

    Parameters
    ----------
    path
        A `.phhs` file.
    hands
        The hands.

    Raises
    ------
    InputError
        The suffix is another.

    Examples
    --------
    >>> write_phhs("evening.txt", [])
    Traceback (most recent call last):
    riverboat.core.errors.InputError: out 'evening.txt': the suffix must be .phhs
    """
    if Path(path).suffix != ".phhs":
        raise InputError(f"out {str(path)!r}: the suffix must be .phhs")
    files.write_text(Path(path), format_hands(hands))


def format_hands(hands: Sequence[TableHand]) -> str:
    """Return hands as the text of a `.phhs` file.

    Parameters
    ----------
    hands
        The hands.

    Examples
    --------
    >>> format_hands([])
    ''
    """
    return "\n".join(f"[{k}]\n{format_table_hand(hand)}\n" for k, hand in enumerate(hands, 1))
