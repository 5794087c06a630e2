"""`riverboat litmus`: checks of poker sense, asked of an agent."""

from __future__ import annotations

from pathlib import Path

from riverboat.cli.progress import Bar
from riverboat.cli.show.agent import answering
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.tables import FIGURE, PROSE, Column, ReportTable
from riverboat.evaluation.litmus import Litmus, Verdict
from riverboat.evaluation.litmus import litmus as ask
from riverboat.evaluation.litmus_checks import joined, read_checks, shipped_checks

WORST = 3  # failures of a check that people are shown


def litmus(name: str, game: str | None, checks: Path | None, seed: int, json: bool) -> bool:
    """Ask an agent; whether it passes."""
    chosen = shipped_checks() if checks is None else joined(shipped_checks(), read_checks(checks))
    agent, rules = answering(name, game, seed)
    with Bar(f"litmus of {name}") as bar:
        asked = ask(agent, rules, chosen, progress=bar)
    if json:
        emit(
            {
                "agent": name,
                "game": rules.name,
                "checks": asked.checks,
                "failed": asked.failed,
                "skipped": sum(bool(verdict.skipped) for verdict in asked.verdicts),
                "failures": [failure.record() for failure in asked.failures],
                "verdicts": {verdict.check.name: verdict.word for verdict in asked.verdicts},
                "units": {"probabilities": "of fold, of check or call, and of all raises"},
            }
        )
        return not asked.failed
    console = plain_console()
    console.print(_table(asked))
    for verdict in asked.verdicts:
        if verdict.failures:
            console.print(_told(verdict))
    console.print(f"{name}, {rules.name}: {asked.failed} of {asked.checks} checks failed")
    return not asked.failed


def _table(asked: Litmus) -> ReportTable:
    rows = [
        (v.check.name, v.word, f"{v.places:,}", f"{len(v.failures):,}" if v.failures else v.skipped)
        for v in asked.verdicts
    ]
    columns = Column("check", PROSE), Column("verdict"), Column("places", FIGURE), Column("failures", PROSE, rank=1)
    return ReportTable("", columns, tuple(rows))


def _told(verdict: Verdict) -> str:
    """The worst failures of a check."""
    lines = [f"\n{verdict.check.name}:"]
    for failure in verdict.failures[:WORST]:
        where = " ".join(filter(None, (repr(failure.line), failure.board and f"on {failure.board}", failure.hand)))
        lines.append(f"  at {where}: {failure.reason}")
        if failure.match_state:
            lines.append(f"    {failure.match_state}")
    if len(verdict.failures) > WORST:
        lines.append(f"  and at {len(verdict.failures) - WORST:,} other places")
    return "\n".join(lines)
