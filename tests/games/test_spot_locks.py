"""Adding locks one after the other: earlier ones stay for the hands that later ones do not cover."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.games.spots.locks import NodeLock, add_locks, locked_hands
from riverboat.games.spots.spot import Spot

SPOT = Spot.make(board="QsJh2h7c", pot=100, stack=100, oop="AA,KK,T9s", ip="QQ,JTs,A5s", bets="50%, a")
CHECK, BET = (("x", 1.0),), (("b50", 1.0),)
LINES = ("", "x-x/*", "x-x/3d", "x-x/3h")
HANDS = (None, "AA", "KK,T9s", "AA,KK")


def lock(line: str, hands: str | None, strategy: tuple[tuple[str, float], ...]) -> NodeLock:
    return NodeLock(line, strategy, None if hands is None else Range.parse(hands))


def played(spot: Spot, line: str, hand: int) -> tuple[tuple[str, float], ...] | None:
    """Return the strategy of the last lock that covers a hand at a line: the meaning of a list of locks."""
    found = None
    for one in spot.locks:
        speaks = one.line == line or (one.line == "x-x/*" and line.startswith("x-x/"))
        if speaks and (one.hands is None or one.hands.weights[hand] > 0):
            found = one.strategy
    return found


@pytest.mark.parametrize("first", [(line, hands) for line in LINES for hands in HANDS])
def test_an_added_lock_takes_precedence(first: tuple[str, str | None]) -> None:
    held = np.flatnonzero(SPOT.weights[0]).tolist()
    for line in LINES:
        for hands in HANDS:
            before = add_locks(SPOT, [lock(*first, CHECK)])
            after = add_locks(before, [lock(line, hands, BET)])
            new = add_locks(SPOT, [lock(line, hands, BET)])
            for place in ("", "x-x/3d", "x-x/3h", "x-x/9c"):
                node, dealt = SPOT.betting.find(place)
                for hand in held:
                    strategy = played(after, place, hand)
                    assert strategy == (played(new, place, hand) or played(before, place, hand))
                    assert locked_hands(after, node, dealt)[hand] == (strategy is not None)


def test_locks_of_unknown_actions_are_rejected() -> None:
    with pytest.raises(InputError, match="b99"):
        add_locks(SPOT, [NodeLock("", (("b99", 1.0),))])
