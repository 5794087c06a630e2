"""How many nodes a tree may have, from random lines through it (Knuth 1975, Estimating the efficiency of backtrack programs).

On the way down, a node with w children stands for the product of the widths above it; their sum over a line is an unbiased
estimate of the number of nodes. Lines differ wildly, so it tells the order of magnitude.
"""

from __future__ import annotations

import math
import random
import time as clock
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass
class Size:
    """About how large a tree is."""

    nodes: float = 0.0
    decisions: dict[int, float] = field(default_factory=lambda: defaultdict(float))  # by player
    moves: dict[int, float] = field(default_factory=lambda: defaultdict(float))  # at all of them together


def size(root: Node, seconds: float) -> float:
    """About how many nodes there are below a state; at most `seconds` are spent on it."""
    return measure(root, seconds).nodes


def measure(root: Node, seconds: float) -> Size:
    """The same with decisions and moves of each player."""
    draw = random.Random(0)
    stop = clock.monotonic() + seconds
    total, lines = Size(), 0
    while lines < LINES and (lines == 0 or clock.monotonic() < stop):
        _line(root, draw, stop, total)
        lines += 1
    return Size(
        total.nodes / lines,
        {player: n / lines for player, n in total.decisions.items()},
        {player: n / lines for player, n in total.moves.items()},
    )


def _line(root: Node, draw: random.Random, stop: float, total: Size) -> None:
    """Add the estimate of one line, cut short when time is up: then it is too low."""
    state, product = root, 1.0
    total.nodes += 1.0
    while state.actor != TERMINAL and clock.monotonic() < stop and math.isfinite(total.nodes):
        moves = width(state)
        if state.actor >= 0:
            total.decisions[state.actor] += product
            total.moves[state.actor] += product * moves
        product *= moves
        total.nodes += product
        state = state.child(draw.randrange(moves))
