"""What `auto` came to, where it is not the GPU."""

from __future__ import annotations

from collections.abc import Iterable

from riverboat.agents.base import Agent
from riverboat.cli.terminal import say
from riverboat.engines.devices import AUTO, why_not


def tell(device: str, unfit: str | None = None) -> None:
    """Say that the processor works, and why: there is no device, or it would not do for this (`unfit`)."""
    if device == AUTO and (reason := why_not() or unfit) is not None:
        say(f"device auto: cpu; {reason}")


def tell_agents(agents: Iterable[Agent]) -> None:
    """The same, once, of agents that search."""
    devices = {getattr(getattr(agent, "settings", None), "device", "") for agent in agents}
    if AUTO in devices:
        tell(AUTO)
