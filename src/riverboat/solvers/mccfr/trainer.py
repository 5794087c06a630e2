"""Blueprint trainers: MCCFR over a betting tree × card buckets.

With external sampling (Lanctot et al. 2009) an iteration is one deal, traversed twice, with each seat as traverser; the
opponent's average is updated at its sampled actions. Deals are traversed in groups with the strategy of the group's
start: both traversers respond to the same profile, so that samples are unbiased, and memory latency is hidden.

    rules = read_game("leduc")
    trainer = BlueprintTrainer(compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck), seed=1)
    trainer.step(1_000_000)
    trainer.average(0, bucket=2)      # first decision with the third bucket: probabilities of the actions

Tables are bucket-major and take 8 bytes per infoset-action, or 4 with `16-bit`. In mode `racing` many threads write to
the same tables without locks, as on the blades of Brown, Ganzfried & Sandholm (2015); one thread is reproducible for a
seed. In mode `deterministic` the increments of a batch are collected and added in a fixed order: the result is the same
on any number of threads. Batches end at fixed iterations, so a run depends on its seed and its end, and not on its
steps.

A trainer holds a traverser (`riverboat.solvers.mccfr.traversers`), which samples, traverses and updates the tables; the
trainer counts iterations, discounts, and reads strategies (`SamplingTrainer`), and stores states.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.engines.devices import CPU, CUDA
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import LOOKUP_BLOCK, BucketTables, Weighting, round_weight
from riverboat.solvers.mccfr.traversers import ExternalTraverser, SamplingTraverser, Traverser

TRAVERSALS = {
    "external": "one deal, the opponent's actions sampled (Lanctot et al. 2009)",
    "chance": "one deal, all actions (Zinkevich et al. 2007)",
    "pcs": "one board, all hands as vectors, all actions (Johanson et al. 2012)",
    "opcs": "one board and a hand of the opponent, all hands of the traverser (Johanson et al. 2012)",
    "spcs": "one board and a hand of the traverser, all hands of the opponent (Johanson et al. 2012)",
    "pure": "one deal, all players' actions sampled (Gibson 2014)",
    "cfr-br": "one board, each seat against a best response without card abstraction (Johanson et al. 2012)",
}
DEVICE_TRAVERSALS = ("external", "pcs")  # supported on a GPU
# Checkpoints store the index: append new ones at the end.
_TRAVERSAL_CODES = ("external", "chance", "pcs", "pure", "cfr-br", "opcs", "spcs")


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

    Examples
    --------
    >>> from riverboat.solvers.mccfr.trainer import BlueprintTrainer, SamplingTrainer
    >>> issubclass(BlueprintTrainer, SamplingTrainer)
    True
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
        """Return the iteration that ends the next batch; the period starts at `begin`, the step ends at `target`."""

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
        """Round the discounted weight of all iterations, so that its sums do not depend on the length of steps."""
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

    # --- strategies --------------------------------------------------------------------------------

    def average(self, node: int, bucket: int) -> Array:
        """Return the average strategy at a decision: probabilities of its actions. float32 [actions]

        Parameters
        ----------
        node
            Decision of the betting tree (`tree.find(line)`).
        bucket
            Bucket on its street.
        """
        return self._strategy(node, bucket, averages=True)

    def current(self, node: int, bucket: int) -> Array:
        """Return the current strategy at a decision, by regret matching. float32 [actions]

        Parameters
        ----------
        node
            Decision of the betting tree (`tree.find(line)`).
        bucket
            Bucket on its street.
        """
        return self._strategy(node, bucket, averages=False)

    def _strategy(self, node: int, bucket: int, *, averages: bool) -> Array:
        tree = self.tree
        if not 0 <= node < len(tree) or tree.actor[node] < 0:
            raise InputError(f"node {node}: not a decision of this tree; `tree.find(line)` returns the node of a line")
        row: Array = self.tables.strategies(int(tree.street[node]), np.array([bucket]), averages=averages)[0]
        at = int(tree.slot[node])
        return row[at : at + int(tree.count[node])]

    def averages(self, street: int, rows: Array | None = None) -> Array:
        """Return the average strategies of a street. float32 [buckets, width]

        The actions of a decision start at its slot in `tree.slot`.

        Parameters
        ----------
        street
            Street, from 0.
        rows
            Buckets; by default all. int64 [buckets]
        """
        table: Array = self.tables.strategies(street, rows, averages=True)
        return table

    # --- counts in checkpoints ---------------------------------------------------------------------

    def _counts(self, *updates: int) -> dict[str, Array]:
        """Return the seed and all counts as arrays; `updates` are the decisions visited, by part of the trainer."""
        numbers, seed = np.array([self.iterations, *updates], np.int64), np.array([self.seed % 2**64], np.uint64)
        return {"numbers": numbers, "seed": seed, "sums": np.array([self.weight, *self.payoff])}

    def _restore_counts(self, state: Mapping[str, Array]) -> None:
        """Restore what `_counts` returned."""
        self.iterations, *updates = (int(n) for n in state["numbers"])
        self.updates, self.seed = sum(updates), int(state["seed"][0])
        self.weight, self.payoff = float(state["sums"][0]), np.array(state["sums"][1:], float)


def _device_traverser(traversal: str) -> Callable[..., Traverser]:
    """Return the class of a traverser on a GPU."""
    if traversal == "external":
        from riverboat.solvers.mccfr.cuda_trainer import CudaExternalTraverser

        return CudaExternalTraverser
    if traversal == "pcs":
        from riverboat.solvers.mccfr.cuda_public_chance import CudaPublicChanceTraverser

        return CudaPublicChanceTraverser
    raise unknown_name_error("traversal on a GPU", traversal, DEVICE_TRAVERSALS)


class BlueprintTrainer(SamplingTrainer):
    """Trainer of a blueprint: tables of regrets and averages that a traverser updates.

    Parameters
    ----------
    tree
        Betting tree.
    cards
        Card abstraction.
    traversal
        One of `TRAVERSALS`.
    seed
        Seed of all samples.
    weighting
        "none", "linear", "dcfr:…" or a `Weighting`.
    device
        "cpu", or "cuda" for external sampling and PCS on a GPU.
    options
        Those of `ExternalTraverser` for "external", else those of `SamplingTraverser`; on a GPU, those of
        `CudaExternalTraverser` or `CudaPublicChanceTraverser`.

    Raises
    ------
    InputError
        If a name or an option is invalid, or the card abstraction is for another game.
    MemoryLimitError
        If the unabstracted opponent of CFR-BR is too large.

    References
    ----------
    .. [1] Lanctot, Waugh, Zinkevich & Bowling, "Monte Carlo sampling for regret minimization in extensive games", NIPS
       2009.
    .. [2] Brown, Ganzfried & Sandholm, "Hierarchical abstraction, distributed equilibrium computation, and
       post-processing", AAMAS 2015.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("leduc")
    >>> game = compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)
    >>> from riverboat.solvers.mccfr.trainer import BlueprintTrainer
    >>> trainer = BlueprintTrainer(*game, seed=1)
    >>> trainer.step(10_000)
    >>> trainer.average(0, bucket=2).shape
    (2,)
    """

    traverser: Traverser

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        traversal: str = "external",
        *,
        seed: int = 0,
        weighting: str | Weighting = "none",
        device: str = CPU,
        **options: Any,
    ) -> None:
        if traversal not in TRAVERSALS:
            raise unknown_name_error("traversal", traversal, list(TRAVERSALS))
        traverser: Traverser
        if device == CUDA:
            traverser = _device_traverser(traversal)(tree, cards, **options)
        elif traversal == "external":
            traverser = ExternalTraverser(tree, cards, **options)
        else:
            traverser = SamplingTraverser(tree, cards, traversal, **options)
        super().__init__(tree, cards, seed, weighting, traverser)

    @property
    def tables(self) -> BucketTables:
        """Regrets and averages, up to date."""
        return self.traverser.tables

    def _batch_end(self, begin: int, target: int) -> int:
        """Return the iteration at which the next batch ends; without batches, the end of the step."""
        batch = self.traverser.batch
        # A batch must not end with a step: the strategy changes when its increments are added.
        return begin + ((self.iterations - begin) // batch + 1) * batch if batch else target

    # --- state -------------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        """Return the complete state, with the table itself, not a copy."""
        hybrid, traversal = self.traverser.hybrid, self.traverser.traversal
        state = {"cells": self.tables.cells, **self._counts(self.updates)}
        if hybrid is not None:
            state["hybrid"] = hybrid.cells
        if traversal != "external":
            state["traversal"] = np.array([_TRAVERSAL_CODES.index(traversal)])
        return state

    def restore(self, state: Mapping[str, Array]) -> None:
        """Restore a state. On one thread, or in the deterministic mode, the run continues exactly.

        Parameters
        ----------
        state
            Arrays that `state` returned.

        Raises
        ------
        InputError
            If the state is of another traversal, or of tables of another size.
        """
        before = _TRAVERSAL_CODES[int(state["traversal"][0])] if "traversal" in state else "external"
        if self.traverser.traversal not in ("external", before):
            raise InputError(f"the state is of a run by {before!r}, this run is by {self.traverser.traversal!r}")
        self.tables.put(state["cells"])
        if self.traverser.hybrid is not None:
            self.traverser.hybrid.put(state["hybrid"], "the opponent of cfr-br")
        self._restore_counts(state)
