"""Cheap and costly requests: a GET reads what is stored or in memory; everything else is a POST.

A link can make a browser send a GET, so a GET never writes, never solves, and never makes an agent that searches or
models opponents. A GET that would need this gets status 405 and `"costly": true`; the POST of the same path computes it
on the user's request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from riverboat.api.agent import DEFAULT, DEMO, baseline_descriptions, parse_request
from riverboat.core.errors import InputError, RiverboatError, short_repr
from riverboat.practice.charts import PREFIX, is_push_source, is_solved
from riverboat.web.data_folder import DataFolder

if TYPE_CHECKING:
    from riverboat.agents.spec import AgentSpec

# --- Specs of agents and push/fold tables in requests: never code, never a path outside the data folder ---

MAX_SEATS = 9  # players of a push/fold table
MAX_SPEC_LENGTH = 500  # characters


def parse_agent_spec(text: str | None, data: DataFolder) -> AgentSpec:
    """Parse the spec of an agent in a request: names of agents, and runs of the data folder."""
    if not text:
        raise InputError("agent: name one, such as demo, or a run with a blueprint")
    if len(text) > MAX_SPEC_LENGTH:
        raise InputError(f"agent {short_repr(text)}: {len(text):,} characters; at most {MAX_SPEC_LENGTH}")
    return parse_request(text, data.run_folder)


def parse_push_spec(text: str, data: DataFolder) -> str | None:
    """Return the push/fold table that a request names: `push:10,10`, or `small?state=5,5,5` of a run; else None.

    The name of a tournament's run becomes the path of its folder.
    """
    base, mark, options = text.partition("?")
    if text.startswith(PREFIX):
        if base.count(",") + 1 > MAX_SEATS or len(text) > 200:
            raise InputError(f"chart {short_repr(text[:60])}: must have two to {MAX_SEATS} stacks")
        return text
    if base in (*baseline_descriptions(), DEMO, DEFAULT) or ":" in base:
        return None
    name = f"{data.run_folder(base)}{mark}{options}"
    return name if is_push_source(name) else None


class CostlyError(RiverboatError):
    """A GET would need a long computation; the POST of the same path does it."""


def is_cheap(source: str, data: DataFolder) -> bool:
    """Return whether an agent, run or push/fold table can be read without solving, search or learning.

    Raises for sources that a request may not name.
    """
    push = parse_push_spec(source, data)
    if push is not None:
        return not push.startswith(PREFIX) or is_solved(push)
    return not parse_agent_spec(source, data).is_expensive


def require_cheap(data: DataFolder, *sources: str) -> None:
    """Raise `CostlyError` if one of the sources needs solving, search or learning, which a GET may not do."""
    for source in sources:
        if not is_cheap(source, data):
            raise CostlyError(
                f"{short_repr(source)}: is not computed yet, and a GET computes nothing; use POST with the same path"
            )
