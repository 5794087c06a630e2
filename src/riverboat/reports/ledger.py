"""Recorded results: tables of a ledger, a Markdown page, and the measurements of the shipped agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from riverboat.agents import registry
from riverboat.core.errors import InputError
from riverboat.core.formatting import shell_quote
from riverboat.core.tables import FIGURE, PROSE, ReportColumn, ReportTable
from riverboat.engines.devices import CUDA
from riverboat.evaluation import ledger as ledgers
from riverboat.evaluation.identity import agent_identity
from riverboat.evaluation.ledger import Ledger, LedgerEntry
from riverboat.solvers.mccfr.recipe import DEVICE_CORES
from riverboat.strategies.blueprint import load_blueprint

LEDGER_UNITS = {
    "mbb_per_game": "mbb/g",
    "ci95": "mbb/g, half the width of a 95 % interval",
    "core_hours": f"hours of one core; a GPU hour counts as {DEVICE_CORES}",
    "megabytes": "10^6 bytes of tables",
    "decision_seconds": "wall-clock seconds, mean over all decisions",
}


def open_ledger(file: Path, add: Sequence[Path] = ()) -> Ledger:
    """Read the ledger in a file; with result files to add, append their results and write the ledger.

    Raises InputError if the ledger does not exist and there is nothing to add.
    """
    ledger = ledgers.read_ledger(file)
    for path in add:
        ledger = ledger.add(ledgers.read_result(path), str(path))
    if ledger.game is None:
        raise InputError(f"ledger {str(file)!r}: does not exist yet; --add RESULT.json creates it")
    if add:
        ledger.write()
    return ledger


def ledger_to_dict(book: Ledger) -> dict[str, Any]:
    """Return a ledger as a JSON object: game, agents, ratings, results, pooled results of split measurements, units."""
    names, pooled = book.names(), [entry for kind in ledgers.RESULT_KINDS for entry in book.pooled_entries(kind)]
    return {
        "game": dict(book.game or {}),
        "agents": [{"fingerprint": mark, **facts, "name": names[mark]} for mark, facts in sorted(book.agents.items())],
        "ratings": [{"agent": rating.agent, "name": names[rating.agent]} | asdict(rating) for rating in book.ratings()],
        "results": [entry.to_dict() | {"claims": [entry.claim.to_dict()]} for entry in book.entries],
        "pooled": [entry.to_dict() for entry in pooled if "pieces" in entry.extra],
        "unit": "mbb/g",
        "units": LEDGER_UNITS,
    }


# --- Tables ---


def ledger_tables(book: Ledger) -> list[tuple[str, ReportTable]]:
    """Return the non-empty tables of a ledger with their titles."""
    bounds = (*book.pooled_entries(ledgers.EXPLOITABILITY), *book.pooled_entries(ledgers.LBR))
    tables = (
        ("Ratings", _rating_table(book)),
        ("Matches", _match_rows(book)),
        ("Exploitability: exact, or a lower bound", measurement_table(bounds, book.names())),
        ("Agents", _agent_table(book)),
        ("Cost", _cost_table(book)),
    )
    return [(title, table) for title, table in tables if len(table)]


AGENT, MBB, HALF_WIDTH = ReportColumn("agent"), ReportColumn("mbb/g", FIGURE), ReportColumn("± 95 %", FIGURE)


def _rating_table(book: Ledger) -> ReportTable:
    names, ratings = book.names(), book.ratings()
    columns = [AGENT, MBB, HALF_WIDTH, ReportColumn("matches", FIGURE, rank=1), ReportColumn("hands", FIGURE, rank=2)]
    if len({rating.group for rating in ratings}) > 1:
        columns.append(ReportColumn("group", FIGURE))
    rows = []
    for r in ratings:
        figures = f"{r.mbb_per_game:+,.0f}", f"{r.ci95:,.0f}", f"{r.matches}", f"{r.hands:,}", f"{r.group + 1}"
        rows.append((names[r.agent], *figures)[: len(columns)])
    return ReportTable("", tuple(columns), tuple(rows))


def _match_rows(book: Ledger) -> ReportTable:
    names, rows = book.names(), []
    for entry in book.pooled_entries(ledgers.MATCH):
        figures = f"{entry.mbb_per_game:+,.1f}", f"{entry.ci95:,.1f}", f"{entry.hands or 0:,}"
        seed = "" if entry.seed is None else str(entry.seed)
        rows.append((*(names[agent] for agent in entry.agents), *figures, seed, " ".join(_match_conditions(entry))))
    columns = (
        AGENT, ReportColumn("against"), MBB, HALF_WIDTH, ReportColumn("hands", FIGURE, rank=1),
        ReportColumn("seed", FIGURE, rank=3), ReportColumn("how", rank=2),
    )  # fmt: skip
    return ReportTable("", columns, tuple(rows))


def _match_conditions(entry: LedgerEntry) -> list[str]:
    words = ["AIVAT"] if entry.extra.get("aivat") else []
    words += ["thinned"] if entry.extra.get("played") else []
    words += [f"{entry.extra['pieces']} pieces"] if "pieces" in entry.extra else []
    return words + ([str(entry.extra["verdict"])] if "verdict" in entry.extra else [])


def measure_name(entry: LedgerEntry, names: Mapping[str, str]) -> str:
    """Name what a result measures: `won against demo`, `LBR fcpa from the turn`, `best response`."""
    if entry.kind == ledgers.MATCH:
        return f"won against {names[entry.agents[1]]}"
    if entry.kind == ledgers.EXPLOITABILITY:
        return "best response" + (" (exact)" if entry.extra.get("is") == "exact" else "")
    start = entry.extra.get("from")
    return f"LBR {entry.extra.get('actions', '')}" + (f" from the {start}" if start not in (None, "preflop") else "")


def measurement_table(entries: Iterable[LedgerEntry], names: Mapping[str, str]) -> ReportTable:
    """Tabulate results of any kind, one a row: agent, measure, mbb/g, half-width of the 95 % interval, hands."""
    rows = []
    for entry in entries:
        figure = f"{entry.mbb_per_game:{'+' if entry.kind == ledgers.MATCH else ''},.1f}"
        half_width = "exact" if entry.extra.get("is") == "exact" else f"{entry.ci95:,.1f}"
        hands = f"{entry.hands:,}" if entry.hands else ""
        rows.append((names[entry.agents[0]], measure_name(entry, names), figure, half_width, hands))
    columns = AGENT, ReportColumn("measure", PROSE), MBB, HALF_WIDTH, ReportColumn("hands", FIGURE, rank=1)
    return ReportTable("", columns, tuple(rows))


def _sorted_agents(book: Ledger) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Return name, fingerprint and recorded properties of each agent of the ledger, sorted by name."""
    names = book.names()
    return sorted(((names[mark], mark, facts) for mark, facts in book.agents.items()), key=lambda agent: agent[:2])


def _agent_table(book: Ledger) -> ReportTable:
    rows = tuple(
        (name, mark, str(facts.get("recipe", facts["kind"])), str(facts.get("cards", "")))
        for name, mark, facts in _sorted_agents(book)
    )
    columns = AGENT, ReportColumn("fingerprint"), ReportColumn("recipe", rank=1), ReportColumn("cards", rank=2)
    return ReportTable("", columns, rows)


def _cost_table(book: Ledger) -> ReportTable:
    rows = tuple(
        (name, *(f"{facts[key]:.4g}" if key in facts else "" for key in ledgers.COST_KEYS))
        for name, _, facts in _sorted_agents(book)
        if any(key in facts for key in ledgers.COST_KEYS)
    )
    costs = (ReportColumn(title, FIGURE) for title in ("core-hours", "MB", "seconds per decision"))
    return ReportTable("", (AGENT, *costs), rows)


def describe_scale(book: Ledger) -> str:
    """Describe the game of a ledger, and what its ratings are relative to, in one line."""
    assert book.game is not None
    groups = len({rating.group for rating in book.ratings()})
    separate = "" if groups < 2 else f"; {groups} groups without a match between them, each rated around its own mean"
    stacks = book.game["stacks"]
    stack_text = "" if stacks is None else f", stacks {' and '.join(f'{s:,}' for s in stacks)}"
    return (
        f"{book.game['name']}{stack_text}, release {book.game['version']}; ratings are relative to the mean of "
        f"all{separate}"
    )


# --- Markdown page ---


def to_markdown_page(book: Ledger, page: Path) -> str:
    """Return the ledger as a Markdown page that names the command that writes it."""
    parts = [
        "# Strength",
        f"Written by `riverboat ledger {shell_quote(book.path)} --write {shell_quote(page)}`: {describe_scale(book)}.",
        "Figures are mbb/g ± half the width of a 95 % interval. A rating is the least-squares fit to all matches; its error "
        "is wider where they contradict each other. Exploitability is exact or a lower bound.",
    ]
    parts += [f"## {title}\n\n{_markdown_table(table)}" for title, table in ledger_tables(book)]
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: ReportTable) -> str:
    head = "| " + " | ".join(column.name for column in table.columns) + " |"
    rule = "|" + "|".join("--:" if column.kind == FIGURE else "---" for column in table.columns) + "|"
    rows = ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in table.rows]
    return "\n".join([head, rule, *rows])


# --- The shipped agent: provenance and published measurements ---

MEASUREMENTS_HEADING = "Measurements in mbb/g (LBR and best response: lower bounds on exploitability)"


def has_shipped_measurements() -> bool:
    """Return whether an agent with measurements comes with this installation."""
    return registry.SHIPPED_LEDGER.is_file()


def describe_shipped_provenance() -> str:
    """Describe in one line how the shipped agent was made."""
    provenance = load_blueprint(registry.SHIPPED).provenance
    identity = agent_identity(registry.make_agent(registry.DEFAULT))
    note = f" (a GPU counts as {DEVICE_CORES} cores)" if provenance.get("device") == CUDA else ""
    return (
        f"{registry.DEFAULT}: recipe {provenance.get('recipe')}, cards {identity['cards']}, seed {provenance.get('seed')}, "
        f"{identity.get('core_hours', 0):.2f} core-hours{note}, fingerprint {identity['fingerprint']}"
    )


def describe_shipped_agent() -> list[str]:
    """Describe the shipped agent and each of its measurements, one line each, for JSON; empty if none is shipped."""
    if not has_shipped_measurements():
        return []
    ledger = ledgers.read_ledger(registry.SHIPPED_LEDGER)
    names = ledger.names()
    lines = [f"{names[e.agents[0]]}, {measure_name(e, names)}: {e.claim}" for e in _sorted_entries(ledger)]
    return [describe_shipped_provenance(), *lines]


def agent_fingerprint(name: str) -> str:
    """Return the fingerprint that identifies an agent, given by its spec, in ledgers."""
    return str(agent_identity(registry.make_agent(name))["fingerprint"])


def shipped_measurement_table(demo_fingerprint: str | None = None) -> tuple[ReportTable, list[str]]:
    """Return the published measurements of the shipped agent as a table, and notes on the agents in it.

    `demo_fingerprint` is the fingerprint of the local demo agent. A demo agent of another training run is
    named with its own fingerprint.
    """
    ledger = ledgers.read_ledger(registry.SHIPPED_LEDGER)
    names, notes = ledger.names(), []
    for mark, facts in ledger.agents.items():
        if facts["name"] == registry.DEMO and demo_fingerprint not in (None, mark):
            names[mark] = f"{registry.DEMO} ({mark[:6]})"
            notes.append(f"{names[mark]}: another training run of the same recipe; the local one is {demo_fingerprint}")
    return measurement_table(_sorted_entries(ledger), names), notes


def _sorted_entries(ledger: Ledger) -> list[LedgerEntry]:
    """Return all results, pieces of one measurement pooled, sorted by agent; matches come before bounds."""
    kinds = sorted({entry.kind for entry in ledger.entries}, reverse=True)  # matches, LBR, exploitability
    entries = [entry for kind in kinds for entry in ledger.pooled_entries(kind)]
    return sorted(entries, key=lambda entry: ledger.agents[entry.agents[0]]["name"])
