"""Devices: which of the processor and the GPU does the work, and why."""

from __future__ import annotations

from collections.abc import Iterable

from riverboat.core.errors import InputError
from riverboat.core.observer import Observer
from riverboat.engines import devices
from riverboat.engines.devices import resolve_device


def cpu_fallback_reason(device: str, obstacle: str | None = None) -> str | None:
    """Return why the device `auto` means the processor.

    Parameters
    ----------
    device
        cpu, cuda, or auto (a GPU if there is one).
    obstacle
        Reason why a GPU cannot do this work, if there is one.

    Returns
    -------
    str or None
        The reason; None if the device was chosen by the caller, or a GPU is used.

    Examples
    --------
    >>> cpu_fallback_reason("cpu") is None
    True
    """

    return (devices.cuda_unavailable_reason() or obstacle) if device == devices.AUTO else None


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
    if (reason := cpu_fallback_reason(device, obstacle)) is not None:
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
    if "auto" in search_devices(agents):
        note_cpu_fallback(observer, "auto")


def check_device(device: str) -> None:
    """Check that a device exists and can be used here.

    Parameters
    ----------
    device
        cpu, cuda, or auto (a GPU if there is one).

    Raises
    ------
    InputError
        If the name is unknown, or no GPU is available.

    Examples
    --------
    >>> check_device("cpu")
    """

    resolve_device(device)


def search_devices(agents: Iterable[str]) -> set[str]:
    """Return the devices on which agents search.

    Parameters
    ----------
    agents
        Names of agents.

    Returns
    -------
    set of str
        Devices as they are named: cpu, cuda or auto. Empty if no agent searches.

    Raises
    ------
    InputError
        If a name is invalid.

    Examples
    --------
    >>> search_devices(["random", "default?search=river&device=auto"])
    {'auto'}
    """
    from riverboat.agents.spec import parse_agent

    settings = (parse_agent(name).blueprint.search for name in agents)
    return {search.device for search in settings if search is not None}


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

    check_device(device)
    names = list(agents)
    changed = [spec.with_search_device(name, device) for name in names]
    if not any(changed):
        raise InputError(
            f"device {device}: none of these agents searches; add search=river to one, or leave the device out"
        )
    return [new or old for new, old in zip(changed, names, strict=True)]
