"""What an agent is.

Only `name`, `check_rules` and `act` are needed to play. What else an agent can do, others find by its methods:

- `strategies(places, draw=None)`: what it plays with all hands at public places (`Answering`). Ranges by Bayes, best
  responses and search need it. What the agent draws in secret for a hand is averaged over, given its moves so far.
- `probabilities(views)`: what its moves are drawn from at tables (`Chooser`).
- `observe(hands)`: it learns from hands that are over (`Learner`).
- `account()`: what it has to tell of a match, in a sentence (`Accounting`); `riverboat match` prints it.
- `tables_at_once`: as many tables as it likes to be asked about together in matches.
- `at_once(state)`: its move at one table without arrays, or None; for players of the ACPC protocol.

An agent that works something out at a place may keep it for the next time, in a `PublicCache`: what it does must not depend
on what is still there.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import show_move
from riverboat.games.holdem.match_state import MatchState
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands
from riverboat.strategies.public_cache import PublicCache as PublicCache
from riverboat.strategies.public_strategy import Answering as Answering
from riverboat.strategies.public_strategy import Strategies as Strategies
from riverboat.strategies.public_strategy import ranges as ranges

Choice: TypeAlias = list[tuple[int, float]]  # moves and their probabilities


@runtime_checkable
class Agent(Protocol):
    """A player. What it does is a function of the view alone: it keeps nothing between calls but what it has learnt from
    hands that it was shown, and whatever it draws is decided by its seed, the number of the hand and the place in the line.
    `riverboat.testing.check_agent` tests it.
    """

    @property
    def name(self) -> str:
        """What tables and messages call it."""
        ...

    def check_rules(self, rules: Rules) -> None:
        """Raise `InputError` where the agent cannot play these rules."""
        ...

    def act(self, views: Views) -> Array:
        """The moves that the agent makes, one for each table. int32 [n]: FOLD, CALL, or the total of a raise"""
        ...


@runtime_checkable
class Chooser(Agent, Protocol):
    """An agent that can say what its moves are drawn from."""

    def probabilities(self, views: Views) -> list[Choice]:
        """For each table the moves with their probabilities, which are above zero and sum to one."""
        ...


@runtime_checkable
class Learner(Agent, Protocol):
    """An agent that learns from hands that are over."""

    def observe(self, hands: Hands) -> None:
        """Hands that it has played, in their order, as it saw them: `Hands.seen_by`. Matches call this after every batch."""
        ...


@runtime_checkable
class Accounting(Agent, Protocol):
    """An agent that has something to tell after a match."""

    def account(self) -> str:
        """What was learnt, given or noticed, in a sentence."""
        ...


def refuse_rules(name: str, own: Rules, rules: Rules) -> None:
    """Refuse rules other than an agent's own."""
    if own != rules:
        other = (
            f"{rules.name!r}, which has other rules"
            if rules.name != own.name
            else "a game of that name with other rules"
        )
        raise InputError(f"agent {name!r} plays {own.name!r} and cannot sit down at {other}")


def answer(agent: Agent, state: MatchState) -> str:
    """What an agent does at one table: f, c or r300, for players of the ACPC protocol.

    An agent may have `at_once(state)` for this: its move, or None where it must see the table as arrays.
    """
    quick = getattr(agent, "at_once", None)
    move: str | None = quick(state) if quick is not None else None
    if move is not None:
        return move
    return show_move(int(agent.act(Views.from_match_states([state]))[0]), state.rules)


def rules_of(*agents: Agent) -> Rules | None:
    """The game that these agents play; None where they play any."""
    for agent in agents:
        own = getattr(agent, "rules", None)
        if isinstance(own, Rules):
            return own
    return None
