"""`riverboat show` for agents: what one really plays with every hand at any line, after translation and post-processing."""

from __future__ import annotations

from pathlib import Path

from riverboat.agents.base import Answering
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import DEFAULT, make_agent
from riverboat.agents.search import SearchingAgent
from riverboat.agents.spec import is_agent_spec
from riverboat.api.seating import rules_for
from riverboat.cli.progress import ProgressLine
from riverboat.cli.show import shipped
from riverboat.cli.show.blueprint import PREFLOP, need_board, show_node, show_place, show_preflop
from riverboat.cli.show.spot import ROOT, View
from riverboat.cli.terminal import plain_console
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.reports.blueprint import BUCKETS
from riverboat.strategies.reports.public_state import player_node


def show(name: str, line: str | None, view: View, json: bool, game: str | None = None) -> None:
    """What an agent does at a line, the first decision by default; ranges are those of the agent against itself.

    What the folder of a blueprint shows, an agent that plays one shows too: the decisions before the flop, buckets, values.
    """
    if view.runouts:
        raise InputError(f"agent {name!r}: --runouts is for spots, here give --board")
    agent, rules = answering(name, game)
    moves = "" if line in (None, ROOT) else str(line)
    strategy = _blueprint(agent) if line == PREFLOP or view.values or view.table == BUCKETS else None
    if strategy is not None and line == PREFLOP:
        show_preflop(strategy, view, json, {"agent": name})
        return
    if strategy is not None:
        show_node(strategy, moves, view, json, {"agent": name})
        return
    if line == PREFLOP or view.values:
        asked = PREFLOP if line == PREFLOP else "--values"
        raise InputError(f"agent {name!r}: {asked} is for agents that play a blueprint; name a line, such as {ROOT}")
    need_board(rules, settled(Betting.from_line(rules, moves)).street, moves, view.board)
    node = player_node(agent, rules, moves, view.board or "")
    known = shipped.lines() if name == DEFAULT and line is None else []
    if known and not json:
        table, _ = shipped.table()
        for part in (known[0], shipped.HEADING, table, ""):
            plain_console().print(part)
    facts = {"agent": name, "game": rules.name}
    show_place(node, view, json, facts | ({"known": known} if known else {}))


def _blueprint(agent: Answering) -> BlueprintStrategy | None:
    """The blueprint that an agent plays, post-processed as it is played; None where it plays none."""
    base = agent.base if isinstance(agent, SearchingAgent) else agent
    return base.played.on_tree() if isinstance(base, BlueprintAgent) else None


def answering(name: str, game: str | None, seed: int = 0) -> tuple[Answering, Rules]:
    """An agent that answers for all hands, and the game that it is asked about."""
    with ProgressLine(f"reading {name}"):
        agent = make_agent(name, seed)
    if not isinstance(agent, Answering):
        raise InputError(f"agent {name!r}: has no strategies(places), so it cannot say what it does with all hands")
    return agent, rules_for([agent], game)


def is_agent(text: Path) -> bool:
    """Whether `riverboat show` is asked about an agent: no folder of that name, and a name that agents have."""
    return not text.is_dir() and is_agent_spec(str(text))
