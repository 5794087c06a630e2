"""`riverboat ship`: a trained blueprint in the few megabytes that an agent comes with."""

from __future__ import annotations

from pathlib import Path

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.spec import is_agent_spec
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.errors import InputError
from riverboat.core.formatting import show_bytes
from riverboat.strategies import shipping
from riverboat.strategies.blueprint import BlueprintStrategy, load_blueprint


def ship(what: str, out: Path, steps: int, json: bool) -> None:
    """Write it and say how large it is."""
    made = shipping.ship(_strategy(what), out, steps)
    if json:
        emit(made.to_dict())
        return
    buckets = " – ".join(f"{count:,}" for count in made.buckets)
    sizes = f"{show_bytes(made.bytes)}, {show_bytes(made.zipped)} in a wheel"
    plain_console().print(f"{made.folder}: {sizes}, {made.nodes:,} nodes, buckets {buckets}")


def _strategy(what: str) -> BlueprintStrategy:
    """That of a folder, or what an agent plays in its own tree: post-processed where its name says so."""
    if Path(what).is_dir() or not is_agent_spec(what):
        return load_blueprint(what)
    agent = make_agent(what)
    if not isinstance(agent, BlueprintAgent):
        raise InputError(
            f"agent {what!r}: a blueprint is shipped, without search and learning; name one, or its folder"
        )
    return agent.played.on_tree()
