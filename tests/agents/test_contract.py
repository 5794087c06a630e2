"""The contract suite for agents finds every kind of violation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from riverboat.agents.baselines import BaselineAgent
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD
from riverboat.games.holdem.rules import read_game
from riverboat.testing.agents import check_agent, random_views

NOLIMIT = read_game("nolimit-200bb")


class Caller:
    """Agent that satisfies the contract; the classes below violate it."""

    name: Any = "mine"

    def check_rules(self, rules) -> None:
        pass

    def act(self, views):
        return np.zeros(len(views), np.int64)


class Nameless(Caller):
    name = ""


class Picky(Caller):
    def check_rules(self, rules) -> None:
        raise InputError("only on Sundays")


class Rich(Caller):
    def act(self, views):
        return np.full(len(views), 20_001)


class Proud(Caller):
    def act(self, views):  # folds where a check is free
        return np.full(len(views), FOLD)


class Wordy(Caller):
    def act(self, views):
        return ["c"] * len(views)


class Moody(Caller):
    calls = 0

    def act(self, views):
        self.calls += 1
        return BaselineAgent("always-raise" if self.calls > 1 else "always-call").act(views)


class Crowd(Caller):
    def act(self, views):  # depends on the batch
        return BaselineAgent("always-raise" if len(views) > 1 else "always-call").act(views)


class Neighbour(Caller):
    def act(self, views):  # depends on the previous table
        moves = BaselineAgent("always-raise").act(views)
        return np.where(np.roll(views.hole[:, 0], 1) % 2, moves, CALL)


class Wide(Caller):
    def act(self, views):  # depends on the padding of lines
        return BaselineAgent("always-raise" if views.moves.shape[1] % 2 else "always-call").act(views)


class Scribbler(Caller):
    def act(self, views):
        views.board[:] = 0
        return np.zeros(len(views), np.int64)


class Sure(Caller):
    """Agent whose probabilities differ from its actions."""

    shares: ClassVar[Any] = [(CALL, 1.0)]

    def probabilities(self, views):
        return [self.shares] * len(views)


class HalfSure(Sure):
    shares: ClassVar[Any] = [(CALL, 0.5)]


class Mistaken(Sure):
    shares: ClassVar[Any] = [(20_000_000, 1.0)]


class Answers(Caller):
    """Agent with strategies for all hands; the classes below violate their contract."""

    def strategies(self, places, draw=None):
        return BaselineAgent("always-call").strategies(places, draw)


class Boastful(Answers):  # its strategy raises, its actions call
    def strategies(self, places, draw=None):
        return BaselineAgent("always-raise").strategies(places, draw)


class Careless(Answers):  # ignores blocked hands
    def strategies(self, places, draw=None):
        found = super().strategies(places, draw)
        found.probabilities[:, :, 0] = 1.0
        return found


class Forgetful(Answers):  # depends on earlier calls
    calls = 0

    def strategies(self, places, draw=None):
        self.calls += 1
        found = super().strategies(places, draw)
        moves = np.full((len(places), 2), END_OF_LINE, np.int32)
        moves[:, 0], shares = CALL, np.zeros((*found.probabilities.shape[:2], 2))
        shares[:, :, 0] = places.live_hands
        if self.calls > 2:
            shares[:, :, 0] *= 1 - 1e-12
        return replace(found, moves=moves, probabilities=shares)


class Downwards(Answers):
    def strategies(self, places, draw=None):
        found = super().strategies(places, draw)
        return replace(found, moves=np.full_like(found.moves, CALL))


class Secretive(Caller):
    """Agent that folds a tenth of its hands; its strategy says half."""

    def act(self, views):
        return np.where(views.hand % 10 == 0, BaselineAgent("always-fold").act(views), CALL)

    def strategies(self, places, draw=None):
        fold, call = (BaselineAgent(f"always-{name}").strategies(places) for name in ("fold", "call"))
        half = [(found.moves[:, 0], found.probabilities[:, :, 0]) for found in (fold, call)]
        same = (half[0][0] == half[1][0])[:, None]
        moves = np.stack([half[0][0], np.where(same[:, 0], END_OF_LINE, half[1][0])], axis=1)
        shares = np.stack([np.where(same, 1.0, 0.5) * half[0][1], np.where(same, 0.0, 0.5) * half[1][1]], axis=2)
        return replace(fold, moves=moves, probabilities=shares)


class Deaf(Caller):
    def observe(self, hands):
        raise InputError("not listening")


class Peeker(Caller):
    def observe(self, hands):  # needs cards that it never saw
        assert all(hands.hole(i, 1 - seat) for i, seat in enumerate(hands.seat_of(self.name).tolist()))


class Biased(Caller):
    def act(self, views):
        folds = BaselineAgent("always-fold").act(views)
        return np.where(views.hand % 10 == 0, folds, CALL)

    def probabilities(self, views):
        folds = BaselineAgent("always-fold").act(views).tolist()
        return [[(FOLD, 0.5), (CALL, 0.5)] if fold else [(CALL, 1.0)] for fold in folds]


@pytest.mark.parametrize("agent", [Caller(), Sure(), Answers()], ids=["caller", "sure", "answers"])
def test_valid_agents(agent) -> None:
    check_agent(agent, tables=60)


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (Nameless(), "''"),
        (Picky(), r"check_rules\(nolimit-200bb\).*only on Sundays"),
        (Rich(), "20001"),
        (Proud(), "-1; expected"),
        (Wordy(), "<U1"),
        (Moody(), "again"),
        (Crowd(), "one table at a time"),
        (Neighbour(), "in another order"),
        (Wide(), "padding"),
        (Scribbler(), "`board`"),
        (HalfSure(), "sum to 0.5"),
        (Mistaken(), "'mine' at MATCHSTATE.*20000000|'mine' at MATCHSTATE.* c,"),
        (Biased(), r"% of 4,000 hands; expected 50\.0%"),
        (Boastful(), "with this draw"),
        (Careless(), "strategies: rows sum to"),
        (Forgetful(), "again, its strategy"),
        (Downwards(), r"moves \[0, 0"),
        (Secretive(), r"% of 4,000 hands; expected 50\.0%"),
        (Deaf(), "observe.*not listening"),
        (Peeker(), "observe"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_violations(agent, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        check_agent(agent, NOLIMIT, tables=60)


def test_random_tables_have_every_kind_of_bet() -> None:
    for rules in (NOLIMIT, replace(NOLIMIT, stacks=(900, 900)), read_game("limit")):
        views = random_views(rules, 400, np.random.default_rng(0))
        states = [views.betting(i) for i in range(len(views))]
        assert {state.street for state in states} == {0, 1, 2, 3}
        assert any(state.to_call for state in states)
        if not rules.limit:
            assert any(max(state.spent) == rules.stacks[0] for state in states)  # facing all-in
