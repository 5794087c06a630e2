"""`BoardEngine`: the protocol of engines for betting × boards on any device.

An engine is made from a `BoardTree` and a table format, and owns the memory of its tables. It runs iterations with the
given schedule parameters and returns values of hands. It knows nothing of runs, files or clocks. Values are arrays over
the rows of a board, in chips. `riverboat.engines.cpu.board_engine.CpuBoardEngine` is the reference; any other engine
must pass its tests and agree with it up to rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypedDict

from riverboat.core.errors import InputError
from riverboat.engines.roots import RootState
from riverboat.engines.rules import LocalRule
from riverboat.games.base import Array
from riverboat.trees.boards import BoardTree


class SubtreeStart(NamedTuple):
    """Start of a traversal below the root: a node on a board, with both players' ranges there.

    Attributes
    ----------
    board
        Index of the board.
    node
        Node of the forest (`BoardTree.forest`).
    reach
        Reach of one hand of each row, for both players. float64 [rows of the board] each

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.engines.protocol import SubtreeStart
    >>> SubtreeStart(board=0, node=3, reach=(np.ones(2), np.ones(2))).node
    3
    """

    board: int
    node: int  # node of the forest (`BoardTree.forest`)
    reach: tuple[Array, Array]  # float64 [rows of the board] each: reach of one hand of each row


class EngineOptions(TypedDict, total=False):
    """Options of engines: `predictive`, `simultaneous` and `stakes` follow from the schedule; the rest is for CPUs."""

    predictive: bool
    simultaneous: bool
    stakes: float
    threads: int
    rule: LocalRule | None
    memory: int | None


class BoardEngine(Protocol):
    """Engine that runs CFR iterations, evaluates strategies and computes best responses on a `BoardTree`.

    Attributes
    ----------
    tree
        The tree that the engine traverses.
    root
        Ranges at the root, and the state of a gadget.
    """

    tree: BoardTree
    root: RootState
    _tables: Any  # has fields `regret`, `average` and `prediction`, empty if they are not used

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the tables of a checkpoint: `regret`, `average`, those of the schedule, and those of a gadget."""
        own = tuple(name for name in ("regret", "average", "prediction") if len(getattr(self._tables, name)))
        return own + self.root.table_names

    def _check_table(self, name: str) -> None:
        if name not in self.table_names:
            raise InputError(f"{self.tree.name}: no table {name!r} (tables: {', '.join(self.table_names)})")

    def read(self, name: str) -> Array:
        """Return a table in its storage format.

        It may be the engine's own memory, which iterations change: copy it to keep it.

        Parameters
        ----------
        name
            One of `table_names`.
        """

    def write(self, name: str, numbers: Array, start: int = 0) -> None:
        """Write numbers into a table.

        Parameters
        ----------
        name
            One of `table_names`.
        numbers
            Numbers in the storage format of the table.
        start
            Index of the first number in the table.
        """

    def iterate(self, steps: Array, start: SubtreeStart | None = None) -> None:
        """Run iterations of both players.

        Parameters
        ----------
        steps
            One row for each iteration, float64 [iterations, 6]: the factor on positive regrets, the factor on negative
            regrets, the floor, the factor on the averages, t, and the weight of the new strategy in the averages.
        start
            Node and ranges of a subtree; the whole tree by default.
        """

    def strategy_values(self, player: int, start: SubtreeStart | None = None) -> Array:
        """Return the values of a player's rows at a node and after each action there. float64 [1 + actions, rows]

        Both players follow the average strategy. Values are sums over the opponent's hands, each times its weight or
        reach.

        Parameters
        ----------
        player
            Seat, 0 or 1.
        start
            Node and ranges; the root by default.
        """
        return self._values_at(player, start, respond=False)

    def best_response_values(self, player: int, start: SubtreeStart | None = None) -> Array:
        """Return the same values when the player plays a best response to the opponent's average strategy.

        Parameters
        ----------
        player
            Seat, 0 or 1.
        start
            Node and ranges; the root by default.
        """
        return self._values_at(player, start, respond=True)

    def _values_at(self, player: int, start: SubtreeStart | None, *, respond: bool) -> Array:
        """Return a player's values at a node and after each action there; `respond`: as in `best_response_values`."""

    def expected_value(self, player: int, *, respond: bool = False) -> float:
        """Return the expected value of a player at the root, in chips.

        Parameters
        ----------
        player
            Seat, 0 or 1.
        respond
            Whether the player plays a best response instead of its average strategy.
        """

    def expected_values(self, *, respond: bool = False) -> tuple[float, float]:
        """Return the expected values of both players at the root, in chips.

        Parameters
        ----------
        respond
            Whether each player plays a best response to the other's average strategy.
        """

    @property
    def constant_sum(self) -> float | None:
        """Sum of both players' values, in chips; None if it depends on their strategies."""
        return self.root.constant_sum

    def margins(self) -> Array:
        """Return the margin of each hand of the gadget's player. float64 [1326], NaN where a hand has no choice.

        A margin is the stop payoff or the shift, minus the best-response value of entering. A gadget at the root is
        required.
        """
        return self.root.margins(self._gadget_values())

    def excesses(self) -> Array:
        """Return by how much each hand of the gadget's player exceeds its limit. float64 [1326], NaN without a limit

        It is the best-response value of entering minus the limit, times the gadget's weight of the hand.
        """
        return self.root.excesses(self._gadget_values())

    def _gadget_values(self) -> Array:
        """Return the best-response values of the rows of the gadget's player at the root. float64 [rows]"""
        if self.root.gadget is None:
            raise InputError(f"{self.tree.name}: there is no gadget at the root, so there are no margins")
        values: Array = self.best_response_values(self.root.gadget.player)[0]
        return values

    def adjust_gadget(self, caps: Array | None = None) -> None:
        """Adapt a gadget with limits at the root to the average strategy so far: multipliers, and hands at their caps.

        Nothing changes without limits. Between calls, iterations solve the same game.

        Parameters
        ----------
        caps
            Most that the margin of each hand needs to be, as in `RootState.adjust`; None: no caps.
        """
        if self.root.has_limits:
            self.root.adjust(self._gadget_values(), caps)

    def average_strategy(self, board: int, node: int) -> Array:
        """Return the average strategy, with locks, at a decision. float64 [actions, rows]

        Parameters
        ----------
        board
            Index of the board.
        node
            Node of the forest (`BoardTree.forest`).
        """
