"""Common part of the CFR solvers of trees and boards: their average strategy and its provenance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.games.base import Array
from riverboat.solvers.schedules import AnySchedule
from riverboat.solvers.tabular.best_response import Quality

S = TypeVar("S")  # type of the strategies


class CFRSolver(ABC, Generic[S]):
    """Base class of CFR solvers: an iteration counter, and the average strategy with its provenance and quality."""

    finished = False  # there is always another iteration
    tree: Any
    schedule: AnySchedule
    traversal: Any = "full"  # a name or a `Traversal`
    seed: int = 0
    threads: int
    dtype: str
    iteration: int = 0
    cards: CardAbstraction | None = None

    @abstractmethod
    def _strategy(self, table: Array | None, provenance: dict[str, Any]) -> S:
        """Make a strategy from a table of averages, by default from the solver's current table."""

    @abstractmethod
    def quality(self) -> Quality:
        """Compute best-response values and expected values of the average strategy, in the tree's unit."""

    def average_provenance(self) -> dict[str, Any]:
        """Return the provenance of the average strategy."""
        cards = {} if self.cards is None else {"cards": self.cards.name, "cards_fingerprint": self.cards.fingerprint}
        facts: dict[str, Any] = {"game": self.tree.name, "method": "cfr", "schedule": str(self.schedule)}
        facts |= {"traversal": str(self.traversal), "iterations": self.iteration, "seed": self.seed}
        return {**facts, "dtype": self.dtype, **cards}

    def average(self, table: Array | None = None, iteration: int | None = None) -> S:
        """Return the average strategy, which converges.

        On boards it shares the solver's table: further steps change it.

        Parameters
        ----------
        table
            Earlier copy of the averages, by default the averages of now.
        iteration
            Iteration of that copy.
        """
        provenance = self.average_provenance()
        return self._strategy(table, provenance if table is None else {**provenance, "iterations": iteration})

    def exploitability(self) -> float:
        """Compute the exploitability of the average strategy, in the game's unit."""
        return self.quality().exploitability
