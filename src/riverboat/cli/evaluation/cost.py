"""`riverboat cost`: what an agent costs to train, to keep, to load and to ask."""

from __future__ import annotations

from riverboat.abstraction.cards.card_abstraction import STREETS
from riverboat.agents.registry import make_agent
from riverboat.api.seating import rules_for
from riverboat.cli.progress import Bar
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.formatting import show_seconds
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.evaluation import cost as measuring


def cost(name: str, hands: int, seed: int, game: str | None, json: bool) -> None:
    """Measure and tell."""
    with Bar(f"{name} plays") as bar:
        measured = measuring.cost(
            lambda: make_agent(name, seed),
            lambda agent: rules_for([agent], game),
            hands,
            seed=seed,
            progress=lambda done, count: bar(done / count),
        )
    facts = measured.to_dict()
    if json:
        emit(facts)
        return
    console = plain_console()
    known = [
        f"{facts[key]:,g} {word}"
        for key, word in (("core_hours", "core-hours of training"), ("megabytes", "MB"))
        if facts[key] is not None
    ]
    console.print(f"{name}: {', '.join([*known, f'loaded in {show_seconds(measured.load_seconds)}'])}")
    rows = tuple(
        (STREETS[street] if street < len(STREETS) else str(street), f"{count:,}", _milliseconds(seconds))
        for street, (count, seconds) in enumerate(zip(measured.decisions, measured.by_street, strict=True))
    )
    columns = Column("street"), Column("decisions", FIGURE), Column("ms each", FIGURE)
    console.print(ReportTable("", columns, rows))
    console.print(
        f"a decision: mean {_milliseconds(measured.mean_seconds)} ms, median {_milliseconds(measured.median_seconds)}, at "
        f"worst {_milliseconds(measured.worst_seconds)}; of the processor {_milliseconds(measured.processor_seconds)} "
        f"({hands:,} hands against {measuring.OPPONENT}, seed {seed})"
    )


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.3g}"
