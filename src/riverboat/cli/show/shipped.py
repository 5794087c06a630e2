"""What is known of the agent that comes with Riverboat: how it was made, and its published measurements."""

from __future__ import annotations

from riverboat.agents import registry
from riverboat.cli.matches.ledger import measure, measurement_table
from riverboat.core.tables import ReportTable
from riverboat.engines.devices import CUDA
from riverboat.evaluation.identity import identity
from riverboat.evaluation.ledger import Entry, Ledger, read_ledger
from riverboat.solvers.mccfr.sizing import DEVICE_CORES
from riverboat.strategies.blueprint import load_blueprint

HEADING = "Measurements in mbb/g (LBR and best response: lower bounds on exploitability)"


def is_shipped() -> bool:
    """Return whether an agent with measurements comes with this installation."""
    return registry.SHIPPED_LEDGER.is_file()


def provenance() -> str:
    """Describe in one line how the shipped agent was made."""
    known = load_blueprint(registry.SHIPPED).provenance
    made = identity(registry.make_agent(registry.DEFAULT))
    beside = f" (a GPU counts as {DEVICE_CORES} cores)" if known.get("device") == CUDA else ""
    return (
        f"{registry.DEFAULT}: recipe {known.get('recipe')}, cards {made['cards']}, seed {known.get('seed')}, "
        f"{made.get('core_hours', 0):.2f} core-hours{beside}, fingerprint {made['fingerprint']}"
    )


def lines() -> list[str]:
    """Describe the shipped agent and each measurement in a line, for JSON; no line where no agent is shipped."""
    if not is_shipped():
        return []
    ledger = read_ledger(registry.SHIPPED_LEDGER)
    names = ledger.names()
    return [
        provenance(),
        *(f"{names[entry.agents[0]]}, {measure(entry, names)}: {entry.claim}" for entry in _entries(ledger)),
    ]


def table(demo: str | None = None) -> tuple[ReportTable, list[str]]:
    """Return the measurements as a table, and notes on it.

    `demo` is the fingerprint of the demo agent on this machine. Measurements of another training of it are marked.
    """
    ledger = read_ledger(registry.SHIPPED_LEDGER)
    names, notes = ledger.names(), []
    for mark, facts in ledger.agents.items():
        if facts["name"] == registry.DEMO and demo not in (None, mark):
            names[mark] = f"{registry.DEMO} ({mark[:6]})"
            notes.append(f"{names[mark]}: another training of the same recipe; the one here is {demo}")
    return measurement_table(_entries(ledger), names), notes


def _entries(ledger: Ledger) -> list[Entry]:
    """All results, pieces of a measurement as one; the shipped agents first, and what they won before what they lose."""
    kinds = dict.fromkeys(
        sorted((entry.kind for entry in ledger.entries), reverse=True)
    )  # matches, LBR, exploitability
    entries = [entry for kind in kinds for entry in ledger.pooled(kind)]
    return sorted(entries, key=lambda entry: ledger.agents[entry.agents[0]]["name"])
