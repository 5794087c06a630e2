"""Computations that are polled: equal answers, in small steps, and an end where somebody wants one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.cards.equity.equities import spread
from riverboat.core.budget import Growth
from riverboat.core.cancellation import CancelledError, is_polled, poll, polled
from riverboat.evaluation.matches import value_tables
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.tournaments.equilibrium import solve
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.stage import Stage


def counted(work: Callable[[], Any]) -> tuple[Any, int]:
    """What work gives, and how often it polled."""
    polls: list[int] = []
    with polled(lambda: polls.append(1)):
        assert is_polled()
        value = work()
    assert not is_polled()
    return value, len(polls)


def stops(work: Callable[[], Any]) -> bool:
    """Whether work ends at its second poll."""
    polls: list[int] = []

    def check() -> None:
        polls.append(1)
        if len(polls) == 2:
            raise CancelledError("enough")

    with polled(check), pytest.raises(CancelledError):
        work()
    return len(polls) == 2


def test_solves_of_many_spots() -> None:
    spot = Spot.make(board="Td9d6hQc", pot=100, stack=200, oop="AA,KJ,77", ip="QQ,AT,88", bets="50%")

    def work() -> Any:
        return solve_many([spot], iterations=60, until=0.5)[0]

    plain = work()
    stepped, polls = counted(work)
    assert stepped.table.tobytes() == plain.table.tobytes()
    assert stepped.provenance == plain.provenance
    assert polls >= stepped.provenance["iterations"] / 5
    assert stops(work)


def test_values_of_a_blueprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_tables, "kept", lambda name, make: dict(make()))  # nothing from disk
    strategy = random_blueprint("leduc")

    def work() -> Any:
        return value_tables.value_tables(strategy, deals=500)

    plain = work()
    stepped, polls = counted(work)
    assert polls >= 500 / value_tables.POLLED
    for one, other in zip((*plain.after, *plain.begin), (*stepped.after, *stepped.begin), strict=True):
        assert np.array_equal(one, other)
    assert stops(work)


def test_push_or_fold_and_work_in_parts() -> None:
    game = Stage(PushFold((4.0, 4.0), (0.5, 1.0)))
    _, polls = counted(lambda: solve(game, iterations=6))
    assert polls == 6
    assert stops(lambda: solve(game, iterations=6))
    begun: list[slice] = []

    def part(some: slice) -> tuple[Any, ...]:
        begun.append(some)
        return ()

    assert stops(lambda: spread(part, 1000, 1, chunk=10))
    assert len(begun) == 2
    assert stops(lambda: spread(part, 1000, 2, chunk=10))


def test_trees_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.budget.BEAT", -1.0)  # look at once

    def work() -> None:
        with Growth("a game", "building", "nodes", 1) as grown:
            for count in range(1, 100):
                grown(count)

    assert counted(work)[1] == 99
    assert stops(work)


def test_nobody_polls_by_default() -> None:
    poll()
    with polled(lambda: pytest.fail("polled")), polled(None):
        poll()
