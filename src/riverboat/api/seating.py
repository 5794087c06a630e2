"""Who sits at a table, and at which: agents and rules by name or as they are."""

from __future__ import annotations

from collections.abc import Sequence

from riverboat.agents.base import Agent, rules_of
from riverboat.agents.registry import make_agent
from riverboat.core import validation
from riverboat.core.errors import InputError, shown
from riverboat.games.holdem.rules import Rules, read_game

GAME = "nolimit-200bb"  # where neither the user nor an agent names one


def agent(name: str | Agent, seed: int = 0) -> Agent:
    """An agent by its name (docs/playing.md), or as it is; `seed` is for those that draw and name no other."""
    validation.whole("seed", seed)
    if isinstance(name, str):
        validation.text("agent", name)
        return make_agent(name, seed)
    if not callable(getattr(name, "act", None)):
        raise InputError(f"agent={shown(name)}: must be the name of an agent, or an object that can act")
    return name


def rules_for(agents: Sequence[Agent], game: str | Rules | None) -> Rules:
    """The game that is named, else the one that the agents play; each of them agrees or says why not."""
    own = rules_of(*agents)
    if isinstance(game, str):
        validation.text("game", game)
    elif game is not None and not isinstance(game, Rules):
        raise InputError(f"game={shown(game)}: must be the name of a game, the path of a game file, or `Rules`")
    asked = read_game(game) if isinstance(game, str) else game
    rules = asked if asked is not None else own if own is not None else read_game(GAME)
    for each in agents:
        each.check_rules(rules)
    return rules
