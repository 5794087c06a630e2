"""Cooperative cancellation: equal results in small steps, and an early end on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.cards.equity.equities import map_chunks
from riverboat.core.budget import BuildMonitor
from riverboat.core.cancellation import CancelledError, cancellation_check, check_cancellation, has_cancellation_check
from riverboat.evaluation.matches import value_tables
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.tournaments.equilibrium import solve
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.stage_game import PushFoldStage


def counted(work: Callable[[], Any]) -> tuple[Any, int]:
    """Return the result of the work, and how often it checked for cancellation."""
    polls: list[int] = []
    with cancellation_check(lambda: polls.append(1)):
        assert has_cancellation_check()
        value = work()
    assert not has_cancellation_check()
    return value, len(polls)


def stops(work: Callable[[], Any]) -> bool:
    """Return whether the work ends at its second check."""
    polls: list[int] = []

    def check() -> None:
        polls.append(1)
        if len(polls) == 2:
            raise CancelledError("enough")

    with cancellation_check(check), pytest.raises(CancelledError):
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
    monkeypatch.setattr(value_tables, "cached_arrays", lambda name, make: dict(make()))  # no cache
    strategy = random_blueprint("leduc")

    def work() -> Any:
        return value_tables.value_tables(strategy, deals=500)

    plain = work()
    stepped, polls = counted(work)
    assert polls >= 500 / value_tables.DEALS_PER_POLL
    for one, other in zip((*plain.after, *plain.begin), (*stepped.after, *stepped.begin), strict=True):
        assert np.array_equal(one, other)
    assert stops(work)


def test_push_or_fold_and_chunked_work() -> None:
    game = PushFoldStage(PushFold((4.0, 4.0), (0.5, 1.0)))
    _, polls = counted(lambda: solve(game, iterations=6))
    assert polls == 6
    assert stops(lambda: solve(game, iterations=6))
    started: list[slice] = []

    def part(some: slice) -> tuple[Any, ...]:
        started.append(some)
        return ()

    assert stops(lambda: map_chunks(part, 1000, 1, chunk=10))
    assert len(started) == 2
    assert stops(lambda: map_chunks(part, 1000, 2, chunk=10))


def test_tree_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.budget.CHECK_INTERVAL", -1.0)  # check at every count

    def work() -> None:
        with BuildMonitor("a game", "building", "nodes", 1) as monitor:
            for count in range(1, 100):
                monitor(count)

    assert counted(work)[1] == 99
    assert stops(work)


def test_there_is_no_check_by_default() -> None:
    check_cancellation()
    with cancellation_check(lambda: pytest.fail("polled")), cancellation_check(None):
        check_cancellation()
