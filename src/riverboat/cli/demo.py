"""`riverboat demo`: build an agent for no-limit hold'em from scratch and measure how well it plays.

Card abstraction and blueprint are built once in the user's data folder and loaded afterwards. `riverboat play demo` plays
against the result. The agent that comes with Riverboat, `default`, also plays a match against it: this shows how much longer
training gains over one minute.
"""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat.api import match as match_api
from riverboat.api.agent import DEFAULT, DEMO, agent_folder, baseline_descriptions, demo_status, rebuild_hint
from riverboat.api.artifacts import load_blueprint
from riverboat.api.options import PositiveCount, Seed, Threads
from riverboat.cli import abstract, train
from riverboat.cli.matches.match import match_table
from riverboat.cli.progress import DeferredProgressBar
from riverboat.cli.terminal import format_counts, plain_console, print_parts, say
from riverboat.core.errors import InputError
from riverboat.core.formatting import shell_quote
from riverboat.reports import ledger

if TYPE_CHECKING:
    from riverboat.strategies.blueprint import Blueprint

MAX_PAIRS = 10_000  # most duplicate pairs against each baseline agent
NO_CHECK_SECONDS = 365 * 86400.0  # no strength checks during training: the matches afterwards measure it


def demo(
    *, time: str | None = None, pairs: PositiveCount = MAX_PAIRS, threads: Threads = 2, seed: Seed = 0
) -> list[match_api.MatchResult]:
    """Build or load an agent for no-limit hold'em, and play it against baseline agents.

    Parameters
    ----------
    time
        Train for 60s, 5m; a minute by default.
    pairs
        Duplicate pairs against each baseline agent.
    threads
        Threads that build and train.

    Returns
    -------
    list
        The matches.
    """
    if not 2 <= pairs <= MAX_PAIRS:
        raise InputError(f"pairs={pairs}: from 2 to {MAX_PAIRS:,}")
    console, started = plain_console(), clock.perf_counter()
    folder, strategy = _build_blueprint(time, threads, seed)
    console.print(f"{DEMO}: {_describe_blueprint(strategy)}")
    played = [_play(DEMO, name, pairs, seed) for name in baseline_descriptions()]  # all with the same cards
    shipped = load_blueprint(agent_folder(DEFAULT))
    if shipped.rules == strategy.rules and shipped.fingerprint != strategy.fingerprint:
        console.print(f"{DEFAULT}: {_describe_blueprint(shipped)}")
        played.insert(0, _play(DEFAULT, DEMO, pairs, seed))
    console.print(match_table(played))
    console.print(
        f"{pairs:,} duplicate pairs against each; ± is the half-width of the 95 % confidence interval. "
        f"{clock.perf_counter() - started:,.0f} s in all"
    )
    if ledger.has_shipped_measurements():
        table, notes = ledger.shipped_measurement_table(ledger.agent_fingerprint(DEMO))
        print_parts(["", ledger.MEASUREMENTS_HEADING, table, *notes, ""])
    for purpose, command in (
        ("play against the agent that comes with Riverboat", "riverboat play"),
        ("play against it", f"riverboat play {DEMO}"),
        ("play it against others", f"riverboat match {DEMO} rule-based --hands 100000"),
        ("show its first decision", f"riverboat show {shell_quote(folder)} preflop"),
    ):
        console.print(f"{purpose}: {command}", soft_wrap=True)
    return played


def _build_blueprint(time: str | None, threads: int, seed: int) -> tuple[Path, Blueprint]:
    """Return the folder and the blueprint of `demo`, trained for at least the requested time."""
    status = demo_status(time)
    folder, cards = status.folder, status.folder.with_name(status.recipe.abstraction)
    if status.blueprint is not None and status.complete:
        say(f"{DEMO}: already built, in {folder}")
        return folder, status.blueprint
    if status.blueprint is not None:
        say(
            f"{DEMO}: trained for {status.blueprint.provenance['seconds']:,.0f} s so far; continuing up to {status.time}"
        )
    say(f"Step 1 of 2, card abstraction: {status.abstraction.about}")
    with rebuild_hint(cards):
        abstract.abstract(status.recipe.abstraction, out=cards, threads=threads, resume=True)
    say(f"Step 2 of 2, blueprint: {status.recipe.about}")
    with rebuild_hint(folder):
        train.train(
            DEMO, out=folder, abstraction=cards, time=status.time, threads=threads, seed=seed,
            resume=status.blueprint is not None, check_seconds=NO_CHECK_SECONDS,
        )  # fmt: skip
        return folder, load_blueprint(folder)


def _describe_blueprint(strategy: Blueprint) -> str:
    provenance = strategy.provenance
    buckets = format_counts(strategy.cards.counts)
    trained = ""
    if "seconds" in provenance:
        trained = f", {provenance['iterations']:,} iterations in {provenance['seconds']:,.0f} s"
    return f"{strategy.rules.name}, buckets {buckets}{trained}"


def _play(first: str, second: str, pairs: int, seed: int) -> match_api.MatchResult:
    with DeferredProgressBar(f"{first} against {second}") as progress:
        return match_api.match(first, second, hands=2 * pairs, seed=seed, progress=progress.update_count)
