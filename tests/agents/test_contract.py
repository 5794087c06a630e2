"""The contract suite finds what is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from riverboat.agents.yardsticks import Yardstick
from riverboat.errors import InputError
from riverboat.games.acpc import read_game
from riverboat.games.moves import CALL, FOLD
from riverboat.testing.agents import check_agent, random_views

NOLIMIT = read_game("nolimit-200bb")


class Caller:
    """Keeps the contract; others break it."""

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
        return Yardstick("always-raise" if self.calls > 1 else "always-call").act(views)


class Crowd(Caller):
    def act(self, views):  # looks at the batch
        return Yardstick("always-raise" if len(views) > 1 else "always-call").act(views)


class Neighbour(Caller):
    def act(self, views):  # looks at the table before
        moves = Yardstick("always-raise").act(views)
        return np.where(np.roll(views.hole[:, 0], 1) % 2, moves, CALL)


class Wide(Caller):
    def act(self, views):  # looks behind the end of lines
        return Yardstick("always-raise" if views.moves.shape[1] % 2 else "always-call").act(views)


class Scribbler(Caller):
    def act(self, views):
        views.board[:] = 0
        return np.zeros(len(views), np.int64)


class Sure(Caller):
    """Says something else than it does."""

    shares: ClassVar[Any] = [(CALL, 1.0)]

    def probabilities(self, views):
        return [self.shares] * len(views)


class HalfSure(Sure):
    shares: ClassVar[Any] = [(CALL, 0.5)]


class Mistaken(Sure):
    shares: ClassVar[Any] = [(20_000_000, 1.0)]


class Biased(Caller):
    def act(self, views):
        folds = Yardstick("always-fold").act(views)
        return np.where(views.hand % 10 == 0, folds, CALL)

    def probabilities(self, views):
        folds = Yardstick("always-fold").act(views).tolist()
        return [[(FOLD, 0.5), (CALL, 0.5)] if fold else [(CALL, 1.0)] for fold in folds]


@pytest.mark.parametrize("agent", [Caller(), Sure()], ids=["caller", "sure"])
def test_what_is_right(agent) -> None:
    check_agent(agent, tables=60)


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (Nameless(), "agent without a name"),
        (Picky(), "refused: only on Sundays"),
        (Rich(), r"it plays 20001; expected call \(0\)"),
        (Proud(), "it plays -1; expected call"),
        (Wordy(), "one whole number for each"),
        (Moody(), "asked again"),
        (Crowd(), "one table at a time"),
        (Neighbour(), "in another order"),
        (Wide(), "more room behind the lines"),
        (Scribbler(), "it overwrites `board`"),
        (HalfSure(), "sum to 0.5"),
        (Mistaken(), "which has no probability"),
        (Biased(), "is played in"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_broken(agent, reason: str) -> None:
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
