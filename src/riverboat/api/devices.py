"""Devices: which of the processor and the GPU does the work, and why."""

from __future__ import annotations

from collections.abc import Iterable

from riverboat.core.errors import InputError
from riverboat.core.observer import Observer
from riverboat.engines import devices


def note_cpu_fallback(observer: Observer, device: str, obstacle: str | None = None) -> None:
    """Note why the device `auto` means the processor, if it does.

    Parameters
    ----------
    observer
        Receives the note.
    device
        cpu, cuda, or auto (a GPU if there is one).
    obstacle
        Reason why a GPU cannot do this work, if there is one.

    Examples
    --------
    >>> note_cpu_fallback(Observer(), "cpu")
    """
    if device == devices.AUTO and (reason := devices.cuda_unavailable_reason() or obstacle) is not None:
        observer.note(f"device auto: cpu; {reason}")


def note_agents_cpu_fallback(observer: Observer, agents: Iterable[str]) -> None:
    """Note why the device `auto` of agents that search means the processor, if it does.

    Parameters
    ----------
    observer
        Receives the note.
    agents
        Names of agents.

    Examples
    --------
    >>> note_agents_cpu_fallback(Observer(), ["random"])
    """
    from riverboat.agents.spec import parse_agent

    searches = (parse_agent(name).blueprint.search for name in agents)
    if any(search is not None and search.device == devices.AUTO for search in searches):
        note_cpu_fallback(observer, devices.AUTO)


def with_search_device(agents: Iterable[str], device: str) -> list[str]:
    """Add a device to the names of agents that search, unless they name one.

    Parameters
    ----------
    agents
        Names of agents.
    device
        cpu, cuda, or auto (a GPU if there is one).

    Returns
    -------
    list of str
        Names of the same agents.

    Raises
    ------
    InputError
        If no agent searches, or the device is not available.

    Examples
    --------
    >>> with_search_device(["random", "default?search=river"], "cpu")
    ['random', 'default?search=river&device=cpu']
    """
    from riverboat.agents import spec

    devices.resolve_device(device)
    names = list(agents)
    changed = [spec.with_search_device(name, device) for name in names]
    if not any(changed):
        raise InputError(
            f"device {device}: none of these agents searches; add search=river to one, or leave the device out"
        )
    return [new or old for new, old in zip(changed, names, strict=True)]
