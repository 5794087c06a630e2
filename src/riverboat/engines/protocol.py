"""`Walker`: what an engine of betting × boards offers, whatever it runs on.

A walker is made from a `BoardTree` and a format of tables, and owns their memory. It runs iterations when it is handed the
numbers of each, and answers what hands are worth; it knows nothing of runs, files or clocks. Values come as arrays by
the rows of a board, in chips. `riverboat.engines.cpu.board_engine.BoardWalker` is the one for processors; any other must pass its
tests, and agree with it to rounding.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree


class Start(NamedTuple):
    """Where a walk begins when not at the root: a node on a board, and who holds what there."""

    board: int
    node: int  # of the forest (`BoardTree.forest`)
    reach: tuple[Array, Array]  # float64 [rows of the board] each: how often a player comes with one hand of each row


class Walker(Protocol):
    """Learns, responds, evaluates."""

    @property
    def tree(self) -> BoardTree:
        """What it walks."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The tables that are needed to go on elsewhere: `regret`, `average`, what the schedule adds, and a gadget's own."""
        ...

    def read(self, name: str) -> Array:
        """A table, as it is kept. It may be the walker's own memory, which learning changes: copy what should stay."""
        ...

    def write(self, name: str, numbers: Array, start: int = 0) -> None:
        """Set the numbers of a table from a place on."""
        ...

    def learn(self, steps: Array, start: Start | None = None) -> None:
        """Iterations, both players in each: float64 [iterations, 6].

        A row is the factor on positive regrets, on negative ones, the floor, the factor on the averages, t, and the
        weight of what is added to the averages.
        """
        ...

    def evaluate(self, player: int, start: Start | None = None) -> Array:
        """What each row of a player wins from a node on, and after each move there. float64 [1 + moves, rows]

        Both players follow the averages. Values are sums over the opponent's hands, each times its weight or reach.
        """
        ...

    def respond(self, player: int, start: Start | None = None) -> Array:
        """The same when the player does the best that there is against the opponent's averages."""
        ...

    def earnings(self, player: int, *, respond: bool = False) -> float:
        """What a player wins on average from the root, in chips."""
        ...

    @property
    def constant(self) -> float | None:
        """What both players earn together, in chips; None where that depends on what they do."""
        ...

    def margins(self) -> Array:
        """Where a gadget stands at the root: how much less than its stop pay-off or shift each hand of the gadget's player
        gets by entering, doing its best. float64 [1326], NaN where a hand is no choice"""
        ...

    def play(self, board: int, node: int) -> Array:
        """What the averages, and locks, play at a decision. float64 [moves, rows]"""
        ...
