"""What is known of the agent that comes with Riverboat: how it was made, and what matches and bounds have said."""

from __future__ import annotations

from riverboat.agents import registry
from riverboat.evaluation.identity import identity
from riverboat.evaluation.ledger import LBR, MATCH, Entry, read_ledger
from riverboat.solving.sizing import DEVICE_CORES
from riverboat.strategy.blueprint import load_blueprint
from riverboat.walks.devices import CUDA


def lines(demo: str | None = None) -> list[str]:
    """A line each; none where no agent is shipped. `demo` is the fingerprint of the demo that stands beside them: figures of
    another say so.
    """
    if not registry.SHIPPED_LEDGER.is_file():
        return []
    known = load_blueprint(registry.SHIPPED).provenance
    made = identity(registry.make_agent(registry.DEFAULT))
    beside = f" (a GPU counts as {DEVICE_CORES} cores)" if known.get("device") == CUDA else ""
    told = [
        f"{registry.DEFAULT}: recipe {known.get('recipe')}, cards {made['cards']}, seed {known.get('seed')}, "
        f"{made.get('core_hours', 0):.2f} core-hours{beside}, fingerprint {made['fingerprint']}"
    ]
    ledger = read_ledger(registry.SHIPPED_LEDGER)
    names = ledger.names()
    if demo is not None:
        for mark, facts in ledger.agents.items():
            if facts["name"] == registry.DEMO and mark != demo:
                names[mark] += f" ({mark}: another training of the same recipe; the one here is {demo})"
    kinds = dict.fromkeys(entry.kind for entry in ledger.entries)
    entries = [entry for kind in kinds for entry in ledger.pooled(kind)]
    return told + [f"{names[entry.agents[0]]}{_what(entry, names)}: {entry.claim}" for entry in entries]


def _what(entry: Entry, names: dict[str, str]) -> str:
    if entry.kind == MATCH:
        return f" against {names[entry.agents[1]]}"
    return f", LBR {entry.more.get('actions')} from the {entry.more.get('from')}" if entry.kind == LBR else ""
