"""Common part of trainers that sample: the loop of batches, discounts, and the counts of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import LOOKUP_BLOCK, Weighting, round_weight


class SamplingTrainer(ABC):
    """A trainer around a traverser, which samples, traverses and updates the tables, on one machine or on many.

    Attributes
    ----------
    tree, cards
        Betting tree and card abstraction.
    seed
        Seed of all samples.
    traverser
        Has the methods `train` and `discount` of a `Traverser`.
    weighting
        Weighting of iterations.
    iterations
        Iterations so far.
    updates
        Decisions visited, by traversers and opponents.
    weight
        Discounted weight of all iterations.
    payoff
        Undiscounted total payoff of each seat as traverser, in chips. float64 [2]
    """

    def __init__(
        self, tree: ActionTree, cards: CardAbstraction, seed: int, weighting: str | Weighting, traverser: Any
    ) -> None:
        self.tree, self.cards, self.seed, self.traverser = tree, cards, seed, traverser
        self.weighting = weighting if isinstance(weighting, Weighting) else Weighting(weighting)
        self.iterations, self.updates = 0, 0
        self.weight, self.payoff = 0.0, np.zeros(2)

    @property
    @abstractmethod
    def tables(self) -> Any:
        """Regrets and averages, up to date."""

    # --- training ----------------------------------------------------------------------------------

    @abstractmethod
    def _batch_end(self, begin: int, target: int) -> int:
        """Return the end of the next batch, given the begin of the period and the end of the step."""

    def step(self, iterations: int) -> None:
        """Train for at least some iterations: whole blocks of 64, or whole batches if traversals run in batches.

        One long step equals many short ones.

        Parameters
        ----------
        iterations
            Deals, or boards for traversals with vectors of hands; 0 or more.

        Raises
        ------
        InputError
            If `iterations` is negative.
        """
        if iterations < 0:
            raise InputError(f"{iterations} iterations: must not be negative")
        target = -(-(self.iterations + iterations) // LOOKUP_BLOCK) * LOOKUP_BLOCK
        period, discounts = self.weighting.period, self.weighting.discounts
        while self.iterations < target:
            begin = self.iterations // period * period if discounts else 0
            end = self._batch_end(begin, target)
            if discounts:
                end = min(end, begin + period)
            visited, self.payoff = self.traverser.train(self.seed, self.iterations, end, self.payoff)
            self.updates += visited
            self.weight += end - self.iterations
            self.iterations = end
            factors = self.weighting.factors(end // period + 1) if discounts and end % period == 0 else None
            if factors is not None:  # at the start of a period, see `schedules`
                self.traverser.discount(*factors, end)
                self.weight = self._round_weight(self.weight * factors[0])

    def _round_weight(self, weight: float) -> float:
        """Round a discounted weight so that steps of any length add up to the same."""
        return round_weight(weight)

    # --- figures of the run ------------------------------------------------------------------------

    def visited_infosets(self) -> tuple[int, ...]:
        """Count the visited information sets by street."""
        return tuple(self.tables.sampled_regret(None)[0].tolist())

    def regret_bound(self, rows: int = 4096) -> tuple[float, float]:
        """Estimate each seat's average regret, in chips per hand.

        It is the sum over information sets of the largest regret, divided by the weight of all iterations. It bounds
        the sampled regret from above and falls with training.

        Parameters
        ----------
        rows
            Most evenly spaced buckets of a street that are read and extrapolated.
        """
        first, second = self.tables.sampled_regret(rows)[1] / max(self.weight, 1.0)
        return float(first), float(second)

    @property
    def value(self) -> float:
        """Average payoff of seat 0 per hand over the run, as traverser and as opponent."""
        return float(self.payoff[0] - self.payoff[1]) / 2 / max(self.iterations, 1)

    # --- counts in checkpoints ---------------------------------------------------------------------

    def _counts(self, *updates: int) -> dict[str, Array]:
        """Return the seed and all counts as arrays, with `updates` by part of the trainer."""
        return {
            "numbers": np.array([self.iterations, *updates], np.int64),
            "seed": np.array([self.seed % 2**64], np.uint64),
            "sums": np.array([self.weight, *self.payoff]),
        }

    def _restore_counts(self, state: Mapping[str, Array]) -> None:
        """Restore what `_counts` returned."""
        self.iterations, *updates = (int(n) for n in state["numbers"])
        self.updates, self.seed = sum(updates), int(state["seed"][0])
        self.weight, self.payoff = float(state["sums"][0]), np.array(state["sums"][1:], float)
