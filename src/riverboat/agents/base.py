"""Protocols of agents.

Only `name`, `check_rules` and `act` are needed to play. Other capabilities are found by their methods:

- `strategies(public_states, draw=None)`: the strategy with all hands at public states (`PublicPolicy`). Ranges by
  Bayes' rule, best responses and search need it. Secret draws of the agent for a hand are averaged over, conditional
  on its earlier actions.
- `probabilities(observations)`: the distribution that its actions are drawn from (`PolicyAgent`).
- `observe(hands)`: learning from finished hands (`ObservingAgent`).
- `account()`: a summary of a match in one sentence (`ReportingAgent`); `riverboat match` prints it.
- `tables_at_once`: preferred number of tables in a batch of a match.
- `at_once(state)`: the action at one table without arrays, or None; for clients of the ACPC protocol.

An agent may cache what it computes at a public state in a `PublicStateCache`. Its play must not depend on what is
still cached.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias, runtime_checkable

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.match_state import MatchState
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.public_strategy import PublicPolicy as PublicPolicy
from riverboat.strategies.public_strategy import PublicStateCache as PublicStateCache
from riverboat.strategies.public_strategy import StrategyBatch as StrategyBatch
from riverboat.strategies.public_strategy import ranges as ranges

ActionProbabilities: TypeAlias = list[tuple[int, float]]  # actions and their probabilities


@runtime_checkable
class Agent(Protocol):
    """Player of a game.

    Its actions are a function of the observation alone. Between calls it keeps only what it learned from observed
    hands. Its random draws depend only on its seed, the number of the hand and the position in the line.
    `riverboat.testing.check_agent` tests this.
    """

    @property
    def name(self) -> str:
        """Name of the agent in tables and messages."""

    def check_rules(self, rules: PokerRules) -> None:
        """Raise `InputError` if the agent cannot play these rules.

        Parameters
        ----------
        rules
            Rules of the game.
        """

    def act(self, observations: Observations) -> Array:
        """Return the agent's actions, one for each table. int32 [n]: FOLD, CALL, or the total of a raise

        Parameters
        ----------
        observations
            Tables at which the agent is to act.
        """


@runtime_checkable
class PolicyAgent(Agent, Protocol):
    """Agent that returns the probabilities of its actions."""

    def probabilities(self, observations: Observations) -> list[ActionProbabilities]:
        """Return the actions at each table with their probabilities, which are positive and sum to one.

        Parameters
        ----------
        observations
            Tables at which the agent is to act.
        """


@runtime_checkable
class ObservingAgent(Agent, Protocol):
    """Agent that learns from finished hands."""

    def observe(self, hands: HandRecords) -> None:
        """Observe hands that the agent has played, in order, as it saw them (`HandRecords.seen_by`).

        Matches call this after every batch.

        Parameters
        ----------
        hands
            Finished hands.
        """


@runtime_checkable
class ReportingAgent(Agent, Protocol):
    """Agent that reports on a match."""

    def account(self) -> str:
        """Return a summary of what it learned, risked or detected, in one sentence."""


def check_own_rules(name: str, own_rules: PokerRules, rules: PokerRules) -> None:
    """Raise InputError if the rules are not the agent's own.

    Parameters
    ----------
    name
        Name of the agent.
    own_rules
        Rules that the agent was made for.
    rules
        Rules of the match.

    Raises
    ------
    InputError
        If they differ.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> check_own_rules("demo", read_game("limit"), read_game("limit"))
    """
    if own_rules != rules:
        other = (
            f"{rules.name!r}, which has different rules"
            if rules.name != own_rules.name
            else "a game of that name with different rules"
        )
        raise InputError(f"agent {name!r} plays {own_rules.name!r} and cannot play {other}")


def act_on_match_state(agent: Agent, state: MatchState) -> str:
    """Return an agent's action at one table: f, c or r300, for clients of the ACPC protocol.

    An agent may have `at_once(state)` for this: its action, or None if it needs the table as arrays.

    Parameters
    ----------
    agent
        The agent.
    state
        Match state in which its seat is to act.

    Returns
    -------
    str
        Label of the action.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.games.holdem.match_state import parse_match_state
    >>> from riverboat.games.holdem.rules import read_game
    >>> state = parse_match_state("MATCHSTATE:1:0::|AsAh", read_game("nolimit-200bb"))
    >>> act_on_match_state(make_agent("always-call"), state)
    'c'
    """
    fast_path = getattr(agent, "at_once", None)
    action: str | None = fast_path(state) if fast_path is not None else None
    if action is not None:
        return action
    return format_action(int(agent.act(Observations.from_match_states([state]))[0]), state.rules)


def merge_actions(rows: Array, moves: Array) -> list[ActionProbabilities]:
    """Return the actions of each table with their probabilities; columns with the same action are merged.

    Parameters
    ----------
    rows
        Probabilities. float64 [n, columns]
    moves
        Action of each column. int [n, columns]

    Returns
    -------
    list of ActionProbabilities
        Actions with positive probabilities, in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> merge_actions(np.array([[0.5, 0.25, 0.25]]), np.array([[300, 0, 300]]))
    [[(0, 0.25), (300, 0.75)]]
    """
    merged = []
    for row, labels in zip(rows.tolist(), moves.tolist(), strict=True):
        sums: dict[int, float] = {}
        for p, move in zip(row, labels, strict=True):
            if p > 0:
                sums[move] = sums.get(move, 0.0) + p
        merged.append(sorted(sums.items()))
    return merged


@contextmanager
def errors_of_agent(name: str) -> Iterator[None]:
    """Begin the message of an `InputError` in the block with the name of the agent.

    Parameters
    ----------
    name
        Name or spec of the agent.

    Returns
    -------
    context manager
        Raises `InputError` with the longer message.

    Examples
    --------
    >>> with errors_of_agent("demo"):
    ...     raise InputError("no options")
    Traceback (most recent call last):
    ...
    riverboat.core.errors.InputError: agent 'demo': no options
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"agent {short_repr(name)}: {error}") from None


def rules_of_agents(*agents: Agent) -> PokerRules | None:
    """Return the game that these agents play; None if they play any game.

    Parameters
    ----------
    agents
        Agents of one match.

    Returns
    -------
    PokerRules | None
        The game that these agents play.

    Raises
    ------
    InputError
        If two agents play different games.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> rules_of_agents(make_agent("default"), make_agent("always-call")).name
    'nolimit-200bb'
    """
    for agent in agents:
        own = getattr(agent, "rules", None)
        if isinstance(own, PokerRules):
            return own
    return None
