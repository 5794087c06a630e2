"""Output of `riverboat exploitability`, `lbr`, `cost` and `litmus`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riverboat.api import evaluate
from riverboat.api.devices import note_cpu_fallback
from riverboat.cli.progress import DeferredProgressBar, ProgressBar, StageDisplay, StageProgressLine
from riverboat.cli.solve.multiplayer import print_multiplayer_exploitability
from riverboat.cli.terminal import figure, make_table, print_result, prose
from riverboat.core.claims import EXACT
from riverboat.core.formatting import format_seconds
from riverboat.games.holdem.rules import STREETS

if TYPE_CHECKING:
    from riverboat.evaluation.cost import AgentCost
    from riverboat.evaluation.litmus import LitmusCheckResult

MAX_FAILURES_SHOWN = 3  # failures printed per check


def exploitability(folder: Path, *, json: bool = False, **options: Any) -> None:
    """Measure the exploitability of a strategy: exactly, or a lower bound and the cost of the exact value.

    Parameters
    ----------
    folder
        Folder of a run or a strategy, or an agent.
    """
    note_cpu_fallback(StageDisplay(), options.get("device", ""))
    with DeferredProgressBar("buckets of all hands, once") as preparing, StageProgressLine() as progress:
        result = evaluate.exploitability(folder, **options, preparing=preparing, progress=progress)
    if result.is_multiplayer and result.quality is not None:
        print_multiplayer_exploitability(result.game, result.quality, json)
    else:
        print_result(result, _exploitability_lines(result, options.get("threads", 1)), json)


def lbr(agent: str, *, json: bool = False, **options: Any) -> None:
    """Compute a local best response to an agent: a lower bound on its exploitability."""
    with ProgressBar(f"local best response to {agent}") as progress:
        result = evaluate.lbr(agent, **options, progress=progress)
    print_result(result, _lbr_lines(agent, result), json)


def litmus(agent: str, *, json: bool = False, **options: Any) -> bool:
    """Run checks of poker sense: aces, the nuts, pot odds, bet sizes."""
    with ProgressBar(f"litmus of {agent}") as progress:
        result = evaluate.litmus(agent, **options, progress=progress)
    print_result(result, _litmus_parts(result), json)
    return result.passes


def cost(agent: str, *, json: bool = False, **options: Any) -> None:
    """Measure what an agent costs: core-hours, megabytes, seconds to load and per decision."""
    with ProgressBar(f"{agent} plays") as bar:
        measured = evaluate.cost(agent, **options, progress=lambda done, count: bar(done / count))
    print_result(measured, _cost_parts(agent, measured), json)


def _exploitability_lines(result: evaluate.ExploitabilityResult, threads: int) -> Iterator[str]:
    """Yield the exploitability of a strategy as lines of text."""
    facts, quality = result.to_dict(), result.quality
    if result.bound is not None:
        yield (
            f"{result.game}: {result.bound.claim}: a response fitted on {result.bound.fitting_boards:,} boards and "
            f"evaluated on others"
        )
        yield from _abstract_exploitability_lines(facts)
        yield (
            f"the exact value takes about {format_seconds(facts['exact_seconds'])} on {threads} threads, over "
            f"{facts['exact_boards']:,} boards: --exact"
        )
        return
    assert quality is not None
    claim, of = quality.claims[0], quality.exact_in
    if quality.half_widths:
        yield f"{result.game}: {claim}: value of a local best response; for options use riverboat lbr"
        return
    kind = claim.kind + (f"; exact {of}" if of else "")
    yield f"{result.game}: exploitability {claim.value:.9g} {claim.unit} ({kind}), NashConv {facts['nash_conv']:.9g}"
    value_text = "no certified value: the game is not constant-sum"
    if facts["value_low"] is not None:
        value_text = f"the game's value is in [{facts['value_low']:.9g}, {facts['value_high']:.9g}]{of and f' {of}'}"
    self_play = "" if facts["value"] is None else f"value to player 0 in self-play {facts['value']:.9g}; "
    yield self_play + value_text
    yield from _abstract_exploitability_lines(facts)


def _abstract_exploitability_lines(facts: dict[str, Any]) -> Iterator[str]:
    if facts.get("abstract_mbb_per_game") is None:
        return
    won, kind = f"{facts['abstract_mbb_per_game']:.9g}", f"({EXACT})"
    if facts["abstract_is"] == "bound":
        won = f"at least {facts['abstract_mbb_per_game']:,.0f} ± {facts['abstract_ci95']:,.0f}"
        kind = "(value of a response that sees only buckets)"
    yield f"in the abstract game: {won} mbb/g {kind}"


def _lbr_lines(name: str, result: evaluate.LbrResult) -> Iterator[str]:
    """Yield the value of a local best response as lines of text."""
    response = result.response
    by_seat = (1000 * chips / response.big_blind for chips in response.by_seat)
    seats = ", ".join(f"{won:+,.0f} in seat {seat}" for seat, won in enumerate(by_seat))
    yield f"{name}: {response.claim}"
    yield f"local best response with {response.actions} from the {response.start} on; {seats}"
    if response.variance_factor is not None:
        raw = 1000 * response.raw.half_width / response.big_blind
        yield f"without control variates ± {raw:,.0f}: {response.variance_factor:.1f} times the variance"
    yield (
        f"{result.rules.name}, {response.chips.count:,} deals; {response.seconds:,.1f} s, "
        f"{response.hands_per_second:,.0f} hands per second"
    )


def _cost_parts(name: str, measured: AgentCost) -> Iterator[Any]:
    """Yield training cost, size, load time and time per decision."""
    facts = measured.to_dict()
    words = {"core_hours": "core-hours of training", "megabytes": "MB"}
    parts = [f"{facts[key]:,g} {word}" for key, word in words.items() if facts[key] is not None]
    yield f"{name}: {', '.join([*parts, f'loaded in {format_seconds(measured.load_seconds)}'])}"
    rows = (
        (STREETS[street] if street < len(STREETS) else str(street), f"{count:,}", _format_milliseconds(seconds))
        for street, (count, seconds) in enumerate(zip(measured.decisions, measured.seconds_by_street, strict=True))
    )
    yield make_table(["street", figure("decisions"), figure("ms each")], rows)
    figures = measured.mean_seconds, measured.median_seconds, measured.worst_seconds, measured.processor_seconds
    mean, median, worst, processor = map(_format_milliseconds, figures)
    yield (
        f"per decision: mean {mean} ms, median {median}, at worst {worst}; CPU time {processor} "
        f"({measured.hands:,} hands against random, seed {measured.seed})"
    )


def _format_milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.3g}"


def _litmus_parts(result: evaluate.LitmusResult) -> Iterator[Any]:
    """Yield the verdicts, and the worst failures of each check."""
    report = result.report
    rows = [
        (v.check.name, v.status, f"{v.num_states:,}", f"{len(v.failures):,}" if v.failures else v.skipped)
        for v in report.results
    ]
    yield make_table([prose("check"), "verdict", figure("states"), prose("failures", 1)], rows)
    yield from (_describe_failures(verdict) for verdict in report.results if verdict.failures)
    yield f"{result.agent}, {result.game}: {report.num_failed} of {report.num_checks} checks failed"


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
