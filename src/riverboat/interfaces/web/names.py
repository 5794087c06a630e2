"""Names of agents as they come from outside: yardsticks, the demo, and blueprints of the data folder. Never code."""

from __future__ import annotations

from riverboat.agents.registry import DEFAULT, DEMO
from riverboat.agents.yardsticks import YARDSTICKS
from riverboat.errors import InputError, shown
from riverboat.interfaces.web.data_folder import DataFolder


def agent_name(text: str | None, data: DataFolder) -> str:
    """An agent as the library names it; `module:object` and paths elsewhere are refused."""
    if not text:
        raise InputError("agent: name one, such as demo, or a run with a blueprint")
    base, mark, options = text.partition("?")
    if "abstraction" in options:
        raise InputError(f"agent {shown(text)}: abstraction=… names a folder; here a run has its own")
    if base in (*YARDSTICKS, DEMO, DEFAULT):
        return text
    return f"{data.run(base)}{mark}{options}"
