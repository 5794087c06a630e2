"""Answers to a model in a blueprint's tree, by sampled CFR: best responses, restricted Nash, data-biased responses.

    responder = Responder(base, p=0.9)
    responder.improve(model, 1_000_000)
    responder.strategy()                               # a blueprint: what is played against the model

The opponent is the model, or plays as it likes. With `p` it is the model in that share of all iterations, everywhere at
once (restricted Nash, Johanson, Zinkevich & Bowling 2007); with `confidence` at each node by itself, the more surely the
more often it was seen there (data-biased responses, Johanson & Bowling 2009). p = 1 is a best response: all of it in the
abstract game, where hands are buckets and bets those of the menu.

Nothing of the walk changes. Where the opponent is to be the model, its regrets are the model's shares times a number that no
regret of a run comes near, so that regret matching plays the model; what the walk adds there is thrown away. Whether it is
the model is drawn for many iterations at once, evenly spread, and not for each: the mean over iterations is the same.
What is not visited keeps to the base, and so does what has not done better than luck explains (`opponents.responses.handicaps`).
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.opponents.models.tied import alike
from riverboat.opponents.models.tree import Counts, shares_of
from riverboat.opponents.responses.handicaps import distance, handicaps, reaches
from riverboat.solvers.mccfr.tables import BucketTables
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.blueprint import BlueprintStrategy

SURE = np.float32(1e24)  # times a share: a regret that nothing moves
BEGIN = 1.0  # chips of regret that the base has where it has nothing else: what is never visited
ROUNDS = 40  # in which an answer is worked out: between them the opponent may change. What was learnt against models
# before the last counts as so many rounds: a quarter of an answer that is as long as those before it
HANDICAP = (
    1.5  # standard deviations by which moves must beat those of the base, against an opponent who plays as it does
)
FAR = 0.5  # distance from the base at which there is no handicap


def confidence(
    tree: ActionTree, counts: Counts, most: float = 0.9, full: int = 10, *, tied: bool = False
) -> dict[int, float]:
    """How sure a model is of its nodes: up to `most`, in a straight line over `full` observations.

    Of a `tied` model all those count that were made in places alike: on the street, at the price, after as many raises.
    """
    if not 0 <= most <= 1 or full < 1:
        raise InputError(f"most={most:g}, full={full}: a share, and observations")
    seen = alike(tree, counts) if tied else {node: float(made.sum()) for node, made in counts.moves.items()}
    return {node: most * min(n, full) / full for node, n in seen.items()}


class Responder:
    """Both seats of an answer, each against the model in the other."""

    def __init__(
        self,
        base: BlueprintStrategy,
        p: float = 1.0,
        confidence: Mapping[int, float] | None = None,
        seed: int = 0,
    ) -> None:
        if not 0 <= p <= 1:
            raise InputError(f"p={p:g}: the share of the opponent that is the model, 0 to 1")
        self.base, self.p = base, p
        self.iterations = 0
        self._plain = shares_of(base)
        self._reach = self._reaches(self._plain)
        self._sides = [_Side(base, seat, self._plain, seed + seat) for seat in (0, 1)]
        self.be_sure(confidence)

    def be_sure(self, confidence: Mapping[int, float] | None) -> None:
        """At which nodes the opponent is the model, and in which share of the iterations; None: p everywhere."""
        tree = self.base.tree
        self._alone = confidence is None and self.p == 1
        chance = np.full(len(tree), self.p) if confidence is None else np.zeros(len(tree))
        for node, share in ({} if confidence is None else confidence).items():
            chance[node] = share
        # One coin for the whole of the opponent, or one for each of its nodes.
        offset = np.zeros(len(tree)) if confidence is None else np.random.default_rng(3).random(len(tree))
        for side in self._sides:
            side.spread(chance, offset)

    def improve(self, model: BlueprintStrategy, iterations: int) -> None:
        """Answer a model for so many iterations in each seat; what was learnt against others before counts less."""
        if model.tree.fingerprint != self.base.tree.fingerprint or model.buckets != self.base.buckets:
            raise InputError(f"model of {model.rules.name!r}: it must stand in the tree and the buckets of the base")
        if iterations < 1:
            raise InputError(f"{iterations} iterations: at least 1")
        played = shares_of(model)
        reach = self._reaches(played)
        given = self.base.tree, self.base.cards, self._plain
        for seat, side in enumerate(self._sides):
            far = distance(*given, played, 1 - seat, self._reach[seat])
            side.begin(
                handicaps(*given, self._reach[seat], reach[1 - seat], seat), HANDICAP * max(0.0, 1.0 - far / FAR)
            )
        with ThreadPoolExecutor(2) as pool:  # each seat is one thread's, so that a seed gives one answer
            list(pool.map(lambda side: side.answer(played, iterations), self._sides))
        self.iterations += iterations

    def _reaches(self, tables: tuple[Array, ...]) -> tuple[Array, Array]:
        tree, cards = self.base.tree, self.base.cards
        return reaches(tree, cards, tables, 0), reaches(tree, cards, tables, 1)

    def strategy(self) -> BlueprintStrategy:
        """What has been learnt, each seat from its own side: the average, or against nobody but the model the last."""
        tables = []
        for street, plain in enumerate(self._plain):
            mine = np.array(plain, np.float32)
            for side in self._sides:
                sums = side.last(street) if self._alone else side.average(street)
                learnt = side.at_nodes(street, sums) > 0
                mine[:, side.own[street]] = np.where(learnt, sums, mine[:, side.own[street]])
            tables.append(mine)
        facts = {**self.base.provenance, "answer": "best response" if self.p == 1 else "restricted", "p": self.p}
        return replace(self.base, average=tuple(tables), provenance=facts)


class _Side:
    """A seat that learns, against the other, which is the model or free."""

    def __init__(self, base: BlueprintStrategy, seat: int, plain: tuple[Array, ...], seed: int) -> None:
        tree = base.tree
        self.solver = Blueprint(tree, base.cards, seed=seed)
        self.views = [_view(self.solver.tables, street) for street in range(tree.rules.rounds)]
        self.round = 0
        self.weight = 0  # rounds that count in what was learnt
        self.noise = 0.0  # iterations that make as much noise as there is in it
        self.scale = 0.0  # of the handicaps, which are among the regrets
        self.handicaps: list[Array] = []
        self.own, self.theirs, self.regrets, self.averages = [], [], [], []
        self.node: list[Array] = []  # of every column of the opponent
        self.mine: list[Array] = []  # and of the seat itself
        for street in range(tree.rules.rounds):
            nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
            count = tree.count[nodes].astype(np.int64)
            column = np.repeat(nodes, count)
            within = np.arange(len(column)) - np.repeat(np.cumsum(count) - count, count)
            at = 2 * tree.slot[column].astype(np.int64) + within
            mine = tree.actor[column] == seat
            self.own.append(np.flatnonzero(mine))
            self.theirs.append(np.flatnonzero(~mine))
            self.regrets.append(at)
            self.averages.append(at + tree.count[column])
            self.node.append(column[~mine])
            self.mine.append(column[mine])
            view = self.views[street]
            view[:, at] = BEGIN * plain[street]
            view[:, self.averages[-1]] = plain[street]
        self.free = [self.views[s][:, self.regrets[s][self.theirs[s]]] for s in range(len(self.views))]

    def spread(self, chance: Array, offset: Array) -> None:
        self.chance = [chance[node] for node in self.node]
        self.offset = [offset[node] for node in self.node]

    def begin(self, handicaps: tuple[Array, ...], deviations: float) -> None:
        """A new model, with handicaps of one deviation after one iteration, and how many deviations it shall be."""
        if self.handicaps:
            self._weigh(1.0, 0.0)
        scale = np.float32(deviations / self.solver.tables.unit)
        self.handicaps = [scale * table[:, own] for table, own in zip(handicaps, self.own, strict=True)]
        self.weight = min(self.weight, ROUNDS)

    def answer(self, played: tuple[Array, ...], iterations: int) -> None:
        part = -(-iterations // ROUNDS)
        for _ in range(ROUNDS):
            # Linear weighting, round by round (Brown & Sandholm 2019).
            keep = self.weight / (self.weight + 1) if self.weight else 1.0
            self.noise = keep**2 * self.noise + part
            self._weigh(keep, self.noise**0.5)
            locked = self._lock(played)
            self.solver.step(part)
            self._unlock(locked)
            self.round += 1
            self.weight += 1

    def _weigh(self, keep: float, scale: float) -> None:
        """Keep a share of all sums, and scale the handicaps."""
        more = np.float32(scale - keep * self.scale)
        for street, view in enumerate(self.views):
            own = self.own[street]
            regrets = self.regrets[street][own]
            view[:, regrets] = np.float32(keep) * view[:, regrets] + more * self.handicaps[street]
            view[:, self.averages[street][own]] *= np.float32(keep**2)  # late strategies count more, as in DCFR
        self.scale = scale

    def _lock(self, played: tuple[Array, ...]) -> list[Array]:
        """Put the model where it is this round's opponent; returns those columns."""
        locked = []
        for street, view in enumerate(self.views):
            chance, offset = self.chance[street], self.offset[street]
            now = np.floor((self.round + 1) * chance + offset) > np.floor(self.round * chance + offset)
            places = self.regrets[street][self.theirs[street]]
            view[:, places] = np.where(now, SURE * played[street][:, self.theirs[street]], self.free[street])
            locked.append(now)
        return locked

    def _unlock(self, locked: list[Array]) -> None:
        """Keep what the free opponent has learnt."""
        for street, now in enumerate(locked):
            if not now.all():
                places = self.regrets[street][self.theirs[street]]
                self.free[street][:, ~now] = self.views[street][:, places[~now]]

    def average(self, street: int) -> Array:
        sums: Array = self.views[street][:, self.averages[street][self.own[street]]]
        return sums

    def last(self, street: int) -> Array:
        """What regret matching plays next."""
        regrets = self.views[street][:, self.regrets[street][self.own[street]]]
        positive: Array = np.maximum(regrets, 0)
        return positive

    def at_nodes(self, street: int, values: Array) -> Array:
        """The sum over the moves of the node, for each move. [buckets, own columns]"""
        first = np.flatnonzero(np.diff(self.mine[street], prepend=-1))
        moves = np.diff(first, append=len(self.mine[street]))
        total: Array = np.repeat(np.add.reduceat(values, first, axis=1), moves, axis=1) if len(first) else values
        return total


def _view(tables: BucketTables, street: int) -> Array:
    """The cells of a street. float32 [buckets, cells of a row]"""
    base, width, count = int(tables.base[street]), int(tables.width[street]), tables.counts[street]
    return tables.cells[base : base + count * width].reshape(count, width)
