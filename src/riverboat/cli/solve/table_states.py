"""`riverboat solve "MATCHSTATE:…" --ranges AGENT`: a state of a table, opened as a spot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from riverboat.agents.base import Agent
from riverboat.agents.registry import make_agent
from riverboat.api.seating import rules_for
from riverboat.cli.progress import ProgressLine
from riverboat.cli.solve.options import TableFlags
from riverboat.cli.terminal import say
from riverboat.core.errors import InputError, shown
from riverboat.formats import spot_file
from riverboat.games.holdem.match_state import TAG, parse_match_state
from riverboat.games.holdem.menus import Menu, load_menu, parse_menu
from riverboat.games.holdem.rules import Rules
from riverboat.games.spots.spot import Spot
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.public_strategy import Answering
from riverboat.strategies.table_spot import table_spot

# Where neither a file nor a blueprint says what is bet: two sizes and all-in, then the pot and all-in.
SIZES = parse_menu('preflop = ""\nflop = ["50%, 100%, a", "100%, a", "a"]')


def is_state(name: str) -> bool:
    """Whether a name is a match state."""
    return name.lstrip().startswith(TAG)


def read(text: str, flags: TableFlags) -> Spot:
    """The spot of a match state."""
    if flags.ranges is None:
        raise InputError(f"solve {TAG}: --ranges is missing; name an agent whose strategy gives both ranges")
    return spot_of(text, make_agent(flags.ranges), flags)


def spot_of(text: str, agent: Agent, flags: TableFlags) -> Spot:
    """Return the spot of a match state, with the ranges of an agent."""
    rules = rules_for([agent], flags.game)
    state = parse_match_state(text.strip(), rules)
    if not isinstance(agent, Answering):
        raise InputError(
            f"--ranges {shown(agent.name)}: it does not say what it plays with all hands (no method strategies)"
        )
    menu = menu_of(agent, rules, flags.menu)
    floor = 0.0 if flags.floor is None else flags.floor
    with ProgressLine("ranges by Bayes"):
        spot = _spot(text, state, agent, menu, floor)
    if flags.spot_file is not None:
        spot_file.save(spot, flags.spot_file)
        say(f"spot: {flags.spot_file}")
    return spot


def facts(text: str, spot: Spot, flags: TableFlags) -> dict[str, Any]:
    """What `--json` says beside what it says of any spot."""
    return {
        "match_state": text.strip(),
        "ranges": flags.ranges,
        "behind": list(spot.behind),
        "played": spot.played,
    }


def _spot(text: str, state: Any, agent: Answering, menu: Menu | None, floor: float) -> Spot:
    try:
        return table_spot(state.betting, state.board, agent, menu=menu, floor=floor)
    except InputError as error:
        told = str(error).replace("give a floor such as 0.01", "give --floor 0.01")
        raise InputError(f"match state {shown(text)}: {told}") from None


def menu_of(agent: Agent, rules: Rules, path: Path | None) -> Menu | None:
    """The one in a file, else that of a blueprint, else some sizes."""
    if rules.limit:
        if path is not None:
            raise InputError(f"--menu {path}: {rules.name} is a limit game, and its rules say what can be bet")
        return None
    if path is not None:
        return load_menu(path)
    own = getattr(agent, "strategy", None)
    return own.menu if isinstance(own, BlueprintStrategy) and own.menu is not None else SIZES
