"""Output of `riverboat hands` for histories of sites: hands read and refused, results, statistics, and reviews."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riverboat.cli.progress import DeferredProgressBar
from riverboat.cli.terminal import figure, make_table, print_result, prose, say
from riverboat.core.errors import InputError, short_repr
from riverboat.core.tables import COUNT, Cell, ReportColumn, ReportTable
from riverboat.formats.sites.reader import ReadHands
from riverboat.games.holdem.rules import STREETS
from riverboat.practice.hands.report import SessionReport, hands_per_minute, session_report, write_phhs
from riverboat.practice.hands.results import StakeResult, money
from riverboat.practice.hands.statistics import ALL, BY_HAND, POSTFLOP, PREFLOP, STATISTICS, TableStatistics

if TYPE_CHECKING:
    from riverboat.opponents.statistics import FrequencyEstimate

MAX_REFUSALS_SHOWN = 12


def report_hands(
    files: Sequence[Path],
    *,
    players: Sequence[str],
    out: Path | None,
    review: int,
    ranges: Path | None,
    threads: int,
    json: bool,
) -> None:
    """Read histories, write them as PHH if `out` is given, and print the report."""
    if out is not None:
        write_phhs(out, ())  # raises before the work
    with DeferredProgressBar("files") as reading, DeferredProgressBar("heads-up pots") as reviewing:
        report = session_report(
            files, players=players, review=review, ranges=ranges, threads=threads, reading=reading.update_count,
            progress=reviewing.update_count,
        )  # fmt: skip
    if not report.read.hands:
        raise InputError(f"hands {short_repr(str(files[0]))}: none can be read: {describe_refusals(report.read)}")
    if out is not None:
        write_phhs(out, report.read.hands)
        say(f"saved {len(report.read.hands):,} hands in {out}")
    print_result(report, _parts(report), json)


def describe_refusals(read: ReadHands) -> str:
    """Describe in one line why nothing could be read: reasons with their counts, and the first place."""
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in list(read.reasons.items())[:4])
    if not read.refused:
        return "there is no file of hands (.txt, .xml, .phh, .phhs, .hh)"
    first = read.refused[0]
    return f"{reasons}; {first.file}:{first.line}: {first.detail or first.reason}"


def _parts(report: SessionReport) -> Iterator[Any]:
    read = report.read
    rate = hands_per_minute(read)
    speed = "" if rate is None else f" in {read.seconds:.2g} s ({rate:,.0f} a minute)"
    again = f", {read.duplicates:,} occur again" if read.duplicates else ""
    yield f"{len(read.hands):,} hands of {read.files:,} files read{speed}; {len(read.refused):,} refused{again}"
    if read.refused:
        yield _refusals(report)
    if not report.played:
        if read.hands:
            yield "no hand shows a player's own cards: name the player with --player"
        return
    figures = "won", "all-in EV", "bb/100", "± 95 %", "all-in EV bb/100", "± 95 %", "rake"
    yield make_table(
        ("stake", ReportColumn("hands", COUNT), *map(figure, figures)),
        map(_stake_row, report.stakes),
        f"{report.statistics.player}: {len(report.played):,} hands",
    )  # fmt: skip
    yield from _statistics(report.statistics)
    yield from _reviews(report)


def _refusals(report: SessionReport) -> ReportTable:
    rows = []
    for reason, count in list(report.read.reasons.items())[:MAX_REFUSALS_SHOWN]:
        first = next(refusal for refusal in report.read.refused if refusal.reason == reason)
        rows.append((reason, f"{count:,}", f"{Path(first.file).name}:{first.line}", first.detail[:80]))
    return make_table(("refused", figure("times"), "first", prose("detail")), rows)


def _stake_row(stake: StakeResult) -> tuple[Any, ...]:
    won, expected, rake = (
        money(value, stake.currency, 1, sign=True) for value in (stake.won, stake.expected, stake.rake)
    )
    rates = [stake.rate, stake.rate_ci95, stake.expected_rate, stake.expected_ci95]
    texts = ["" if rate is None else f"{rate:+.1f}" if k % 2 == 0 else f"{rate:.1f}" for k, rate in enumerate(rates)]
    return stake.stake, stake.hands, won, expected, *texts, rake.removeprefix("+")


def _statistics(statistics: TableStatistics) -> Iterator[ReportTable]:
    names = (*PREFLOP, "c_bet", "fold_to_c_bet", *BY_HAND)
    rows: list[tuple[Cell, ...]] = []
    for position in statistics.positions:
        shares = (_percent(statistics.get(name, position)) for name in names)
        rows.append((position, statistics.hands[position], *shares))
    titles = (figure(STATISTICS[name][0]) for name in names)
    yield make_table(
        ("position", ReportColumn("hands", COUNT), *titles), rows, "by position, % (count of opportunities)"
    )
    rows = [
        (STATISTICS[name][0], street, *_interval(statistics.get(name, ALL, street)))
        for name, streets in [(name, (ALL,)) for name in (*PREFLOP, *BY_HAND)]
        + [(name, (*STREETS, ALL)) for name in POSTFLOP]
        for street in streets
        if statistics.get(name, ALL, street).opportunities
    ]
    yield make_table(("statistic", "street", figure("%"), figure("95 %"), figure("count")), rows, "all positions")


def _percent(share: FrequencyEstimate) -> str:
    return "" if share.frequency is None else f"{100 * share.frequency:.0f} ({share.opportunities})"


def _interval(share: FrequencyEstimate) -> tuple[str, str, str]:
    value = "" if share.frequency is None else f"{100 * share.frequency:.1f}"
    return value, f"{100 * share.low:.0f} – {100 * share.high:.0f}", f"{share.count:,} of {share.opportunities:,}"


def _reviews(report: SessionReport) -> Iterator[Any]:
    if not report.reviews:
        if report.reviewable:
            yield f"{report.reviewable:,} heads-up pots can be reviewed by EV: --review {min(report.reviewable, 10)}"
        return
    rows = []
    for review, decision in report.worst:
        hand, lost = review.hand, decision.ev_lost or 0.0
        rows.append((
            hand.number, hand.positions[review.player], STREETS[decision.street], decision.words, decision.best,
            f"{lost / hand.big_blind:.2f}", money(lost, hand.currency, hand.scale),
        ))  # fmt: skip
    columns = "hand", "position", "street", "played", "better", figure("bb lost"), figure("lost")
    number = sum(len(review.decisions) for review in report.reviews)
    title = f"most expensive decisions of {len(report.reviews):,} heads-up pots ({report.reviewable:,} can be reviewed)"
    yield make_table(columns, rows, title)
    total = sum(review.ev_lost / review.hand.big_blind for review in report.reviews)
    yield f"{number:,} decisions lost {total:.2f} bb; ranges at the flop, out of position and in position:"
    for review in report.reviews[:MAX_REFUSALS_SHOWN]:
        first, second = review.ranges
        sources = {decision.verdict.source for decision in review.decisions if decision.verdict is not None}
        names = f"{first.name} [{first.entry}] against {second.name} [{second.entry}]"
        yield f"  {review.hand.number}: {names}; {', '.join(sorted(sources))}"
    for number_text, why in report.failed:
        yield f"  {number_text}: not reviewed: {why}"
