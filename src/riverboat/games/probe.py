"""How many nodes a tree may have, from random lines through it (Knuth 1975, Estimating the efficiency of backtrack programs).

On the way down, a node with w children stands for the product of the widths above it; their sum over a line is an unbiased
estimate of the number of nodes. Lines differ wildly, so it tells the order of magnitude.
"""

from __future__ import annotations

import math
import random
import time as clock
from collections.abc import Sequence
from typing import Protocol

from riverboat.games.base import CHANCE, TERMINAL

LINES = 2_000  # at most


class Node(Protocol):
    """A state of either shape of a game, as far as it is needed here."""

    @property
    def actor(self) -> int: ...

    def actions(self) -> Sequence[str]: ...

    def child(self, index: int, /) -> Node: ...


def width(state: Node) -> int:
    """How many children a state has."""
    if state.actor == CHANCE and hasattr(state, "outcomes"):
        return len(state.outcomes())
    return len(state.actions())


def size(root: Node, seconds: float) -> float:
    """About how many nodes there are below a state; at most `seconds` are spent on it."""
    draw = random.Random(0)
    stop = clock.monotonic() + seconds
    total, lines = 0.0, 0
    while lines < LINES and (lines == 0 or clock.monotonic() < stop):
        total += _line(root, draw, stop)
        lines += 1
    return total / lines


def _line(root: Node, draw: random.Random, stop: float) -> float:
    """The estimate of one line, cut short when time is up: then it is too low."""
    state, product, total = root, 1.0, 1.0
    while state.actor != TERMINAL and clock.monotonic() < stop and math.isfinite(total):
        moves = width(state)
        product *= moves
        total += product
        state = state.child(draw.randrange(moves))
    return total
