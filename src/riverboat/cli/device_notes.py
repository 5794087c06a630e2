"""Messages about the device that `auto` selects when it is not the GPU."""

from __future__ import annotations

from collections.abc import Iterable

from riverboat.api.devices import cpu_fallback_reason, search_devices
from riverboat.cli.terminal import say


def report_cpu_fallback(device: str, obstacle: str | None = None) -> None:
    """Print that the CPU is used and why: no GPU is available, or it cannot do this work (`obstacle`)."""
    if (reason := cpu_fallback_reason(device, obstacle)) is not None:
        say(f"device auto: cpu; {reason}")


def report_agents_cpu_fallback(agents: Iterable[str]) -> None:
    """Print the CPU fallback once for agents that search."""
    if "auto" in search_devices(agents):
        report_cpu_fallback("auto")
