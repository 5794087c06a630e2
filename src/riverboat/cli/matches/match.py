"""`riverboat match`: duplicate matches, with variance reduction, plots and hand histories, and tables of their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riverboat.acpc.programs import match_programs
from riverboat.api import match as match_api
from riverboat.api.devices import note_agents_cpu_fallback, with_search_device
from riverboat.api.options import Duration, parse_seconds
from riverboat.cards.notation import format_cards
from riverboat.cli.matches.remote import WarningPrinter
from riverboat.cli.progress import DeferredProgressBar, StageDisplay
from riverboat.cli.terminal import figure, make_table, print_result, save_picture, say
from riverboat.core.errors import InputError, short_repr
from riverboat.core.tables import ReportColumn, ReportTable
from riverboat.formats.hand_files import open_hand_writer

if TYPE_CHECKING:
    from riverboat.evaluation.matches.hand_review import MatchDecisionReview, MatchHandReview
    from riverboat.evaluation.matches.match import DuplicateMatchResult


def match(
    agents: list[str],
    *,
    until_settled: str | None = None,
    device: str | None = None,
    start_timeout: Duration = 60.0,
    histories: Path | None = None,
    plot: Path | None = None,
    json: bool = False,
    **options: Any,
) -> bool:
    """Play agents against each other in duplicate matches.

    Parameters
    ----------
    agents
        Two agents, or more for a round robin; also acpc:COMMAND, a program.
    until_settled
        LOW,HIGH: stop once the result is decided (mbb/g), after at most --hands.
    device
        Device of agents that search: cpu, cuda, or auto (a GPU if there is one).
    start_timeout
        Time for programs to start and connect.
    histories
        Write the hands: FILE.phhs (PHH) or FILE.log (ACPC).
    plot
        Three or more agents: plot the table.
    """
    if len(agents) < 2:
        raise InputError(f"match: {len(agents)} agents: name two, or more for a round robin")
    names = agents if device is None else with_search_device(agents, device)
    bounds = None if until_settled is None else parse_bounds(until_settled)
    if any(name.startswith("acpc:") for name in names):
        if len(names) != 2 or any([*(options.get(name) for name in ("aivat", "thin", "worst")), histories, plot]):
            raise InputError(
                "match with acpc:COMMAND: two players, without --histories, --plot, --aivat, --worst and --thin; "
                "riverboat acpc dealer writes a log"
            )
        return _match_programs(names, bounds, parse_seconds(start_timeout, "start_timeout"), options, json)
    if plot is not None and len(names) == 2:
        raise InputError("--plot draws the table of three or more agents; only two are named")
    if histories is not None and len(names) > 2:
        raise InputError(f"--histories: only for matches between two agents; {len(names)} are named")
    note_agents_cpu_fallback(StageDisplay(), names)
    with (
        nullcontext(None) if histories is None else open_hand_writer(histories) as write,
        DeferredProgressBar("values for AIVAT, once") as values,
        DeferredProgressBar(" against ".join(names) if len(names) == 2 else f"{len(names)} agents") as bar,
    ):
        result: match_api.MatchResult | match_api.RoundRobinResult = match_api.match(
            *names, **options, until_settled=bounds, observe=write, progress=bar.update_count, preparing=values
        )
    if plot is not None and isinstance(result, match_api.RoundRobinResult):
        from riverboat.plots.results import plot_round_robin  # loads matplotlib

        save_picture(plot_round_robin(result), plot)
    parts = _round_robin_parts(result) if isinstance(result, match_api.RoundRobinResult) else _match_parts(result)
    print_result(result, parts, json)
    if histories is not None and not json:
        say(f"hand histories: {histories}")
    return True


def _match_programs(
    names: list[str],
    bounds: tuple[float, float] | None,
    start_seconds: float,
    options: Mapping[str, Any],
    json: bool,
) -> bool:
    """Play and print a match in which a player is a program that speaks the ACPC protocol; return whether it was whole."""
    warnings = WarningPrinter()
    time = options.get("time")
    facts = match_programs(
        names, options.get("game"), options.get("hands", 20_000), options.get("seed", 0), warnings, bounds=bounds,
        start_seconds=start_seconds, seconds=None if time is None else parse_seconds(time), tables=options.get("workers", 1),
    )  # fmt: skip
    warnings.close()
    result = f"{names[0]} against {names[1]}: {facts['mbb_per_game']:+,.1f} ± {facts['ci95']:,.1f} mbb/g"
    lines = [f"{result} in {facts['hands']:,} hands, {facts['hands_per_second']:,.0f} per second"]
    if bounds is not None:
        lines.append(_describe_sequential_verdict(facts["verdict"], bounds))
    for name, replaced, ignored in zip(names, facts["replaced"], facts["ignored"], strict=True):
        if replaced or ignored:
            lines.append(f"{name}: {replaced:,} illegal actions were corrected, {ignored:,} unexpected lines ignored")
    lines += [f"{names[fault['player'] == 'second']}: {fault['reason']}" for fault in facts["faults"]]
    if facts["faults"]:
        lines.append(f"ended early: {facts['hands']:,} of {facts['asked']:,} hands were played, and count")
    print_result(facts | {"unit": "mbb/g", "units": match_api.UNITS}, lines, json)
    return not facts["faults"]


# --- Reviewed hands, within 80 columns ---

_REVIEW_COLUMNS = (
    "street", "player", figure("pot"), "action", figure("frequency", 2), figure("EV lost"), "best", figure("luck", 1)
)  # fmt: skip
REVIEW_NOTES = (
    "All in big blinds. EV lost: estimated gain of the player's best action over the",
    "one played. luck: what the first agent won by the random choice of the action;",
    "the luck of the cards is a mean over all hands that would have played this way.",
)


def review_parts(reviews: Sequence[MatchHandReview], big_blind: int) -> Iterator[Any]:
    """Yield a heading and a table for each reviewed hand."""
    for hand in reviews:
        yield from _review_heading(hand, big_blind)
        yield make_table(_REVIEW_COLUMNS, (_decision_row(hand, d, big_blind) for d in hand.decisions))
    yield from REVIEW_NOTES if reviews else ()


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


def parse_bounds(text: str) -> tuple[float, float]:
    """Parse LOW,HIGH."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--until-settled {short_repr(text)}: write two numbers in mbb/g, such as -50,50") from None
    if not (isfinite(low) and isfinite(high)) or low >= high:
        raise InputError(f"--until-settled {short_repr(text)}: write the lower number first, such as -50,50")
    return low, high


def _match_parts(result: match_api.MatchResult) -> Iterator[Any]:
    """Yield the result of a match of two agents."""
    yield match_table([result])
    for name, account in result.accounts.items():
        yield f"{name}: {account}"
    thinned = "" if result.played is None else f" of which {result.played // 2:,} were played"
    yield (
        f"{result.game}, {result.pairs:,} duplicate pairs{thinned}, seed {result.seed}; {result.seconds:,.1f} s, "
        f"{result.hands_per_second:,.0f} hands per second"
    )
    if result.raw is not None:
        yield describe_variance_reduction(result)
    if result.verdict is not None:
        yield _describe_sequential_verdict(result.verdict, result.bounds or (0.0, 0.0))
    yield from review_parts(result.reviews, result.big_blind)


def describe_variance_reduction(played: DuplicateMatchResult) -> str:
    """Describe the effect of AIVAT in one line."""
    assert played.raw is not None
    raw, half = (1000 * x / played.big_blind for x in (played.raw.mean, played.raw.half_width))
    saved = "" if played.factor is None else f"; the same interval would take {played.factor:,.1f} times the hands"
    return f"with AIVAT; without it {raw:+,.1f} ± {half:,.1f} mbb/g{saved}"


def _describe_sequential_verdict(verdict: str, bounds: tuple[float, float]) -> str:
    low, high = bounds
    meaning = {
        "better": f"more than {high:g}",
        "worse": f"less than {low:g}",
        "between": f"between {low:g} and {high:g}",
        "open": f"undecided between below {low:g}, above {high:g} and between",
    }
    return f"{verdict}: {meaning[verdict]} mbb/g; the interval is valid at any stopping time"


def match_table(matches: Iterable[DuplicateMatchResult]) -> ReportTable:
    """Return a table with one row per match, from the first agent's point of view."""
    rows = []
    for played in matches:
        mean, half = f"{played.mbb_per_game:+,.1f}", f"{played.ci95:,.1f}"
        rate, hands = f"{played.bb_per_100:+,.2f}", f"{played.hands:,}"
        rows.append((*played.names, mean, half, rate, hands, interval_verdict(played)))
    columns = "agent", "against", figure("mbb/g"), figure("± 95 %"), figure("bb/100", 2), figure("hands", 1)
    return make_table([*columns, ReportColumn("verdict", rank=3)], rows)


def interval_verdict(played: DuplicateMatchResult) -> str:
    """Return the verdict of the confidence interval: wins, loses or undecided."""
    if played.mbb_per_game > played.ci95:
        return "wins"
    return "loses" if played.mbb_per_game < -played.ci95 else "undecided"


def _round_robin_parts(result: match_api.RoundRobinResult) -> Iterator[Any]:
    """Yield the table of a round robin."""
    head, *rows = result.rows()
    yield make_table([head[0], *map(figure, head[1:])], rows)
    yield (
        f"win rate of the row agent against the column agent, mbb/g ± 95 %; {result.rules.name}, {result.hands:,} hands "
        f"in duplicate pairs each, seed {result.seed}" + (", with AIVAT" if result.aivat else "")
    )
