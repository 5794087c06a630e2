"""Output of `riverboat exploitability`, `lbr`, `cost` and `litmus`."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from riverboat.api.evaluate import ExploitabilityResult, LbrResult, LitmusResult
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import plain_console
from riverboat.core.claims import EXACT
from riverboat.core.formatting import format_seconds
from riverboat.core.tables import FIGURE, PROSE, ReportColumn, ReportTable
from riverboat.games.holdem.rules import STREETS

if TYPE_CHECKING:
    from riverboat.evaluation.cost import AgentCost
    from riverboat.evaluation.litmus import LitmusCheckResult

MAX_FAILURES_SHOWN = 3  # failures printed per check


class StageProgressLine:
    """A progress line for each stage of some work, with the remaining time."""

    def __init__(self) -> None:
        self.line: ProgressLine | None = None
        self.start, self.already_done = 0.0, 0

    def __call__(self, stage: str, done: int, count: int) -> None:
        if self.line is None or self.line.title != stage:
            self.close()
            self.line, self.start, self.already_done = ProgressLine(stage), time.monotonic(), 0
        self.already_done = self.already_done or done  # parts of an earlier run took no time now
        new = done - self.already_done
        seconds = time.monotonic() - self.start
        left = f"{format_seconds(round(seconds / new * (count - done)))} left" if new else ""
        self.line.update(done / count, left, f"{done:,} of {count:,}")

    def close(self) -> None:
        """Remove the line."""
        if self.line is not None:
            self.line.done()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def print_exploitability(result: ExploitabilityResult, threads: int) -> None:
    """Print the exploitability of a strategy."""
    console, facts, quality = plain_console(), result.to_dict(), result.quality
    if result.bound is not None:
        console.print(
            f"{result.game}: {result.bound.claim}: a response fitted on {result.bound.fitting_boards:,} boards and "
            f"evaluated on others"
        )
        _print_abstract_exploitability(facts)
        console.print(
            f"the exact value takes about {format_seconds(facts['exact_seconds'])} on {threads} threads, over "
            f"{facts['exact_boards']:,} boards: --exact"
        )
        return
    assert quality is not None
    claim, of = quality.claims[0], quality.exact_in
    if quality.half_widths:
        console.print(f"{result.game}: {claim}: value of a local best response; for options use riverboat lbr")
        return
    kind = claim.kind + (f"; exact {of}" if of else "")
    console.print(
        f"{result.game}: exploitability {claim.value:.9g} {claim.unit} ({kind}), NashConv {facts['nash_conv']:.9g}"
    )
    value_text = "no certified value: the game is not constant-sum"
    if facts["value_low"] is not None:
        value_text = f"the game's value is in [{facts['value_low']:.9g}, {facts['value_high']:.9g}]{of and f' {of}'}"
    self_play = "" if facts["value"] is None else f"value to player 0 in self-play {facts['value']:.9g}; "
    console.print(self_play + value_text)
    _print_abstract_exploitability(facts)


def _print_abstract_exploitability(facts: dict[str, Any]) -> None:
    if facts.get("abstract_mbb_per_game") is None:
        return
    won, kind = f"{facts['abstract_mbb_per_game']:.9g}", f"({EXACT})"
    if facts["abstract_is"] == "bound":
        won = f"at least {facts['abstract_mbb_per_game']:,.0f} ± {facts['abstract_ci95']:,.0f}"
        kind = "(value of a response that sees only buckets)"
    plain_console().print(f"in the abstract game: {won} mbb/g {kind}")


def print_lbr(name: str, result: LbrResult) -> None:
    """Print the value of a local best response."""
    response = result.response
    by_seat = (1000 * chips / response.big_blind for chips in response.by_seat)
    seats = ", ".join(f"{won:+,.0f} in seat {seat}" for seat, won in enumerate(by_seat))
    console = plain_console()
    console.print(f"{name}: {response.claim}")
    console.print(f"local best response with {response.actions} from the {response.start} on; {seats}")
    console.print(
        f"{result.rules.name}, {response.chips.count:,} deals; {response.seconds:,.1f} s, "
        f"{response.hands_per_second:,.0f} hands per second"
    )


def print_cost(name: str, measured: AgentCost) -> None:
    """Print training cost, size, load time and time per decision."""
    facts, console = measured.to_dict(), plain_console()
    parts = [
        f"{facts[key]:,g} {word}"
        for key, word in (("core_hours", "core-hours of training"), ("megabytes", "MB"))
        if facts[key] is not None
    ]
    console.print(f"{name}: {', '.join([*parts, f'loaded in {format_seconds(measured.load_seconds)}'])}")
    rows = tuple(
        (STREETS[street] if street < len(STREETS) else str(street), f"{count:,}", _format_milliseconds(seconds))
        for street, (count, seconds) in enumerate(zip(measured.decisions, measured.seconds_by_street, strict=True))
    )
    columns = ReportColumn("street"), ReportColumn("decisions", FIGURE), ReportColumn("ms each", FIGURE)
    console.print(ReportTable("", columns, rows))
    figures = measured.mean_seconds, measured.median_seconds, measured.worst_seconds, measured.processor_seconds
    mean, median, worst, processor = map(_format_milliseconds, figures)
    console.print(
        f"per decision: mean {mean} ms, median {median}, at worst {worst}; CPU time {processor} "
        f"({measured.hands:,} hands against random, seed {measured.seed})"
    )


def _format_milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.3g}"


def print_litmus(result: LitmusResult) -> None:
    """Print the verdicts, and the worst failures of each check."""
    rows = [
        (v.check.name, v.status, f"{v.num_states:,}", f"{len(v.failures):,}" if v.failures else v.skipped)
        for v in result.report.results
    ]
    columns = (
        ReportColumn("check", PROSE),
        ReportColumn("verdict"),
        ReportColumn("states", FIGURE),
        ReportColumn("failures", PROSE, rank=1),
    )
    console, report = plain_console(), result.report
    console.print(ReportTable("", columns, tuple(rows)))
    for verdict in report.results:
        if verdict.failures:
            console.print(_describe_failures(verdict))
    console.print(f"{result.agent}, {result.game}: {report.num_failed} of {report.num_checks} checks failed")


def _describe_failures(verdict: LitmusCheckResult) -> str:
    """Return the worst failures of a check as text."""
    lines = [f"\n{verdict.check.name}:"]
    for failure in verdict.failures[:MAX_FAILURES_SHOWN]:
        where = " ".join(filter(None, (repr(failure.line), failure.board and f"on {failure.board}", failure.hand)))
        lines.append(f"  at {where}: {failure.reason}")
        if failure.match_state:
            lines.append(f"    {failure.match_state}")
    if len(verdict.failures) > MAX_FAILURES_SHOWN:
        lines.append(f"  and at {len(verdict.failures) - MAX_FAILURES_SHOWN:,} other states")
    return "\n".join(lines)
