"""`riverboat ship`: a trained blueprint in the few megabytes that an agent comes with."""

from __future__ import annotations

from pathlib import Path

from riverboat.interfaces.terminal import emit, plain_console
from riverboat.strategy import shipping
from riverboat.words import show_bytes


def ship(folder: Path, out: Path, json: bool) -> None:
    """Write it and say how large it is."""
    made = shipping.ship(folder, out)
    if json:
        emit(made.to_dict())
        return
    buckets = " – ".join(f"{count:,}" for count in made.buckets)
    plain_console().print(f"{made.folder}: {show_bytes(made.bytes)}, {made.nodes:,} nodes, buckets {buckets}")
