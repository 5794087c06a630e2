"""Nodes by the name of a run: a node of a solution, or a decision of a blueprint or an agent on a board.

source = find_source("default", find_run=Path)
node = read_node(source, "cr300c/", "8c8d5c")
node.public.frequencies       # of the actions, over the whole range
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from riverboat.agents.base import PublicPolicy
from riverboat.agents.registry import DEFAULT, DEMO
from riverboat.agents.spec import is_agent_spec
from riverboat.api.agent import agent_folder, rules_for
from riverboat.api.artifacts import load_policy, newest_artifact
from riverboat.cards.notation import format_cards, parse_board
from riverboat.core import artifacts
from riverboat.core.errors import InputError, short_repr
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import ActionMenu
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.blueprint import ARTIFACT_KINDS, Blueprint, load_blueprint
from riverboat.strategies.reports.blueprint import node_at_line
from riverboat.strategies.reports.public_state import PublicStateNode, policy_node


@dataclass(frozen=True)
class NodeSource:
    """What the name of a run means.

    Attributes
    ----------
    name
        The name, with the options of an agent.
    kind
        solution (of a spot), blueprint (read from its own tree), or agent (queried as a policy).
    folder
        Newest artifact behind the name; for an agent with options that of its base, None for baseline agents.

    Examples
    --------
    >>> NodeSource("always-call", "agent", None).version
    ('always-call', 'None')
    """

    name: str
    kind: Literal["solution", "blueprint", "agent"]
    folder: Path | None

    @property
    def version(self) -> tuple[Any, ...]:
        """Key that changes when the artifact changes: name, newest folder and file stamp."""
        return _version(self.name, self.folder)


def _version(name: str, folder: Path | None) -> tuple[Any, ...]:

    return (name, str(folder), *(artifacts.file_stamp(folder / artifacts.MANIFEST) if folder else ()))


def _source_folder(name: str, find_run: Callable[[str], Path]) -> Path | None:
    """Return the newest artifact behind a name; None for baseline agents, and for a demo that was never built."""

    base = name.partition("?")[0]
    if base in (DEMO, DEFAULT):
        folder = agent_folder(base)
        return newest_artifact(folder) if folder.is_dir() else None
    if is_agent_spec(base) and ":" not in base:
        return None
    return newest_artifact(find_run(base))


def source_version(name: str, find_run: Callable[[str], Path]) -> tuple[Any, ...]:
    """Return a key that changes when the artifact behind a name changes.

    Parameters
    ----------
    name
        Name of a run or an agent.
    find_run
        Function that returns the folder of a run, and raises an error for other names.

    Returns
    -------
    tuple
        The name, the newest folder and its file stamp.

    Examples
    --------
    >>> source_version("always-call", Path)
    ('always-call', 'None')
    """
    return _version(name, _source_folder(name, find_run))


def find_source(name: str, find_run: Callable[[str], Path]) -> NodeSource:
    """Find out what the name of a run means: `default` is the shipped blueprint, others are runs or agents.

    Parameters
    ----------
    name
        Name of a run or an agent, with options: demo?purify.
    find_run
        Function that returns the folder of a run, and raises an error for other names.

    Returns
    -------
    NodeSource
        Kind and folder.

    Raises
    ------
    InputError
        If nothing has this name.

    Examples
    --------
    >>> find_source("always-call", Path).kind
    'agent'
    """

    folder = _source_folder(name, find_run)
    if folder is None or "?" in name:
        return NodeSource(name, "agent", folder)
    is_blueprint = artifacts.read_manifest(folder)["kind"] in ARTIFACT_KINDS
    return NodeSource(name, "blueprint" if is_blueprint else "solution", folder)


@dataclass(frozen=True, eq=False)
class PublicNode:
    """A public state of a blueprint or an agent: a decision, a deal whose cards are not given, or the end of a hand.

    Attributes
    ----------
    rules
        The game.
    menu
        Menu of bet sizes of the blueprint; None without one.
    state
        Betting state of the line.
    board
        Cards that are dealt there, out of the given ones.
    public
        Ranges and strategy of a decision; None at deals and ends.

    Examples
    --------
    >>> read_node(find_source("always-call", Path), "cc/").kind
    'deal'
    """

    rules: PokerRules
    menu: ActionMenu | None
    state: BettingState
    board: str
    public: PublicStateNode | None

    @property
    def kind(self) -> Literal["decision", "deal", "end"]:
        """Kind of the node."""
        return "end" if self.state.actor < 0 else "deal" if self.public is None else "decision"


def read_node(
    source: NodeSource, line: str = "", board: str = "", *, make_agent: Callable[[str], PublicPolicy] | None = None
) -> PublicNode:
    """Read a decision of a blueprint or an agent.

    A line that is not in the tree of a blueprint is read from its agent, which translates actions.

    Parameters
    ----------
    source
        A blueprint or an agent from `find_source`.
    line
        Actions that lead to the node, such as cr300c/.
    board
        Cards of its street; cards of later streets are ignored.
    make_agent
        Function that makes the agent of a name; by default any agent is allowed.

    Returns
    -------
    PublicNode
        The decision, deal or end.

    Raises
    ------
    InputError
        If the line is not legal, or the source is a solution.

    Examples
    --------
    >>> read_node(find_source("always-call", Path), "cc/", "8c8d5c").public.moves
    ('c',)
    """

    if source.kind == "solution":
        raise InputError(f"run {short_repr(source.name)}: holds a solution, whose nodes are solution[line]")
    strategy = load_blueprint(source.folder) if source.kind == "blueprint" and source.folder is not None else None
    if strategy is not None:
        try:
            strategy.tree.find(line)
        except InputError:
            strategy = None
    read: Callable[[str, str], PublicStateNode]
    if strategy is not None:
        rules, menu, read = strategy.rules, strategy.menu, partial(node_at_line, strategy)
    else:
        agent = load_policy(source.name)[0] if make_agent is None else make_agent(source.name)
        rules, menu = rules_for([agent], None), blueprint_menu(agent)  # type: ignore[list-item]
        read = partial(policy_node, agent, rules)
    state = BettingState.from_line(rules, line).deal_due_streets()
    needed = rules.board_sizes[state.street]
    cards = parse_board(board)[:needed]
    shown = format_cards(cards)
    public = read(line, shown) if state.actor >= 0 and len(cards) >= needed else None
    return PublicNode(rules, menu, state, shown, public)


def blueprint_menu(agent: PublicPolicy) -> ActionMenu | None:
    """Return the menu of bet sizes of an agent's blueprint.

    Parameters
    ----------
    agent
        An agent.

    Returns
    -------
    ActionMenu or None
        The menu; None if the agent has no blueprint.

    Examples
    --------
    >>> from riverboat.api.artifacts import load_policy
    >>> blueprint_menu(load_policy("always-call")[0]) is None
    True
    """

    parts = (getattr(each, "strategy", None) for each in (agent, *getattr(agent, "made_of", ())))
    return next((part.menu for part in parts if isinstance(part, Blueprint)), None)
