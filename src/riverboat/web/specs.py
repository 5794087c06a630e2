"""Specs of agents and of push or fold tables from requests: never code, never a path outside the data folder."""

from __future__ import annotations

from riverboat.agents.baselines import YARDSTICKS
from riverboat.agents.spec import DEFAULT, DEMO, AgentSpec, Origin, parse_agent
from riverboat.core.errors import InputError, shown
from riverboat.practice.push_charts import PREFIX, is_push
from riverboat.web.data_folder import DataFolder

MOST_SEATS = 9  # of push or fold tables that are solved here
MOST_CHARACTERS = 500  # of a spec


def agent_spec(text: str | None, data: DataFolder) -> AgentSpec:
    """Parse the spec of an agent as a request may write it: names of agents, and runs of the data folder."""
    if not text:
        raise InputError("agent: name one, such as demo, or a run with a blueprint")
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"agent {shown(text)}: {len(text):,} characters; at most {MOST_CHARACTERS}")
    return parse_agent(text, Origin("a request", find=data.run))


def push_spec(text: str, data: DataFolder) -> str | None:
    """Return the push or fold table that a request names, `push:10,10` or a tournament's `small?state=5,5,5`; else None."""
    base, mark, options = text.partition("?")
    if text.startswith(PREFIX):
        if base.count(",") + 1 > MOST_SEATS or len(text) > 200:
            raise InputError(f"chart {shown(text[:60])}: two to {MOST_SEATS} stacks")
        return text
    if base in (*YARDSTICKS, DEMO, DEFAULT) or ":" in base:
        return None
    name = f"{data.run(base)}{mark}{options}"
    return name if is_push(name) else None
