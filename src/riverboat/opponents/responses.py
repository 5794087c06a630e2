"""Responses to a model in a blueprint's tree by MCCFR: best responses, restricted Nash and data-biased responses.

    responder = ModelResponder(base, p=0.9)
    responder.improve(model, 1_000_000)
    responder.strategy()                               # a blueprint: the response to the model

The opponent is the model, or plays freely. With `p` it is the model in that share of all iterations, everywhere at once
(restricted Nash, Johanson, Zinkevich & Bowling 2007). With `confidence` this holds at each node separately, with a
larger share the more often the node was observed (data-biased responses, Johanson & Bowling 2009). p = 1 is a best
response, in the abstract game with buckets and the bets of the menu.

The traversal is unchanged. Where the opponent is the model, its regrets are the model's probabilities times a constant
far above all regrets of a run, so that regret matching plays the model; updates there are discarded. Whether it is the
model is decided for whole rounds of iterations, evenly spread, instead of each iteration: the mean is the same.
Decisions that are never visited keep the base strategy, and so do those whose advantage is within sampling noise
(`initial_handicaps`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache, reduce
from operator import matmul

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.opponents.models.hierarchical import similar_counts
from riverboat.opponents.models.tree import (
    MoveCounts,
    bucket_marginals,
    bucket_probabilities,
    child_nodes,
    strategy_tables,
    street_columns,
)
from riverboat.solvers.mccfr.tables import BucketTables
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import Blueprint

# --- handicaps: the advantage that an action needs to replace the blueprint's ----------------------


@lru_cache(maxsize=4)
def tree_levels(tree: ActionTree) -> tuple[Array, ...]:
    """Return the nodes of each depth, from the root on.

    Parameters
    ----------
    tree
        Betting tree.

    Returns
    -------
    tuple of Array
        Nodes of each depth, int64.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> tree_levels(tree)[1]
    array([1, 2])
    """
    out, nodes = [], np.zeros(1, np.int64)
    while len(nodes):
        out.append(nodes)
        nodes = child_nodes(tree, nodes)[1]
    return tuple(out)


def _iterate_reach(
    tree: ActionTree, cards: CardAbstraction, tables: tuple[Array, ...], seat: int
) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Yield batches of decisions, by street and depth, and of their children, with a player's reach by bucket.

    The reach is the probability that the bucket is dealt and the player's actions lead to the node.
    Decisions int64 [n], reach float64 [n, buckets]; children int64 [actions], reach float64 [actions, same buckets]
    """
    first, transitions = bucket_probabilities(cards, tree.rules.rounds)
    entries: list[list[tuple[Array, Array]]] = [[] for _ in range(tree.rules.rounds)]
    entries[0].append((np.zeros(1, np.int64), first[None]))
    for street, roots in enumerate(entries):
        if not roots:
            continue
        nodes, weights = (np.concatenate(parts) for parts in zip(*roots, strict=True))
        while len(nodes):
            row, child = child_nodes(tree, nodes)
            parent, child_weights = nodes[row], weights[row]
            own = np.flatnonzero(tree.actor[parent] == seat)
            child_weights[own] *= tables[street][:, tree.slot[parent[own]] + child[own] - tree.first[parent[own]]].T
            yield nodes, weights, child, child_weights
            child_street = np.where(tree.actor[child] >= 0, tree.street[child], -1)
            for later in np.unique(child_street[child_street > street]).tolist():
                selected = np.flatnonzero(child_street == later)
                dealt = reduce(matmul, transitions[street:later], child_weights[selected])
                entries[later].append((child[selected], dealt))
            same_street = child_street == street
            nodes, weights = child[same_street], child_weights[same_street]


def node_reach(tree: ActionTree, cards: CardAbstraction, tables: tuple[Array, ...], seat: int) -> Array:
    """Return the probability that a player's actions lead to each node, over all its hands. float64 [nodes]

    Parameters
    ----------
    tree
        Betting tree.
    cards
        Card abstraction.
    tables
        Strategy by street, as `strategy_tables` returns it.
    seat
        Seat of the player.

    Returns
    -------
    Array
        Probability of each node.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> node_reach(tree, cards, strategy_tables(base), seat=0)[:3].round(2)
    array([1. , 0.5, 0.5])
    """
    out = np.zeros(len(tree))
    out[0] = 1.0
    for _, _, child, weights in _iterate_reach(tree, cards, tables, seat):
        out[child] = weights.sum(axis=1)
    return out


def strategy_distance(
    tree: ActionTree,
    cards: CardAbstraction,
    base_tables: tuple[Array, ...],
    model_tables: tuple[Array, ...],
    seat: int,
    opponent_reach: Array,
) -> float:
    """Return the mean total variation distance of a model from the blueprint over a player's decisions, from 0 to 1.

    Parameters
    ----------
    tree
        Betting tree.
    cards
        Card abstraction.
    base_tables
        Strategy of the blueprint by street.
    model_tables
        Strategy of the model by street.
    seat
        Seat of the player.
    opponent_reach
        `node_reach` of the opponent.

    Returns
    -------
    float
        Mean distance.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> tables = strategy_tables(base)
    >>> strategy_distance(tree, cards, tables, tables, 0, node_reach(tree, cards, tables, 1))
    0.0
    """
    distances = [np.abs(model - base) / 2 for model, base in zip(model_tables, base_tables, strict=True)]
    total = distance = 0.0
    for nodes, weights, _, _ in _iterate_reach(tree, cards, model_tables, seat):
        own = np.flatnonzero(tree.actor[nodes] == seat)
        for node, weight in zip(nodes[own].tolist(), weights[own], strict=True):
            slot, count, reach = int(tree.slot[node]), int(tree.count[node]), weight * opponent_reach[node]
            distance += float(reach @ distances[int(tree.street[node])][:, slot : slot + count].sum(axis=1))
            total += float(reach.sum())
    return distance / total if total > 0 else 0.0


def initial_handicaps(
    tree: ActionTree,
    cards: CardAbstraction,
    base_tables: tuple[Array, ...],
    own_reach: Array,
    opponent_reach: Array,
    seat: int,
) -> tuple[Array, ...]:
    """Return initial regrets of a seat's actions, in standard deviations after one iteration.

    They are positive for the blueprint's actions and negative for others. Scaled with the sampling noise of a run, they
    keep the blueprint's actions unless others are better by more than that noise.

    Parameters
    ----------
    tree
        Betting tree.
    cards
        Card abstraction.
    base_tables
        Strategy of the blueprint by street.
    own_reach
        `node_reach` of the seat.
    opponent_reach
        `node_reach` of its opponent.
    seat
        Seat whose handicaps are computed.

    Returns
    -------
    tuple of Array
        By street, float32 [buckets, actions of the street]; columns of the other seat have no meaning.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> tables = strategy_tables(base)
    >>> own, other = (node_reach(tree, cards, tables, seat) for seat in (0, 1))
    >>> initial_handicaps(tree, cards, tables, own, other, seat=0)[0].shape
    (3, 8)
    """
    deviation = _payoff_deviations(tree, np.where(np.arange(2) == seat, own_reach[:, None], opponent_reach[:, None]))
    out = []
    for street, marginals in enumerate(bucket_marginals(cards, tree.rules.rounds)):
        nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
        row, child = child_nodes(tree, nodes)
        shares, deviations = base_tables[street], deviation[child]
        first = np.flatnonzero(np.diff(row, prepend=-1))
        mean = np.add.reduceat(shares * deviations, first, axis=1)[:, row] if len(row) else shares
        visits = np.sqrt(marginals[:, None] * opponent_reach[nodes[row]])
        out.append((visits * (shares * mean - (1 - shares) * deviations)).astype(np.float32))
    return tuple(out)


def _payoff_deviations(tree: ActionTree, reach: Array) -> Array:
    """Return the root mean square of payoffs below each node, in chips, if seats play as their reach says.

    `reach` float64 [nodes, 2]: `node_reach` of both seats -> float64 [nodes]
    """
    nodes, parents = np.arange(1, len(tree)), tree.parent[1:].astype(np.int64)
    parent_reach = reach[parents, tree.actor[parents]]
    probability = np.ones(len(tree))
    shares = reach[nodes, tree.actor[parents]] / np.where(parent_reach > 0, parent_reach, 1)
    probability[1:] = np.where(parent_reach > 0, shares, 1 / tree.count[parents])
    square = np.where(tree.actor < 0, tree.payoff.astype(np.float64) ** 2, 0.0)
    for level in reversed(tree_levels(tree)[1:]):
        np.add.at(square, tree.parent[level], probability[level] * square[level])
    return np.sqrt(square)


LOCKED_REGRET = np.float32(1e24)  # times a probability: a regret that no update changes
INITIAL_REGRET = 1.0  # initial regrets of the base strategy in chips, for decisions that are never visited
# Rounds per call of `improve`: nodes at which the opponent is the model may change from round to round. Regrets against
# earlier models have the weight of this many rounds: a quarter of the result if the new run is as long as the old ones.
NUM_ROUNDS = 40
# Standard deviations by which actions must beat those of the base, if the model of the opponent is the base strategy.
HANDICAP_DEVIATIONS = 1.5
MAX_HANDICAP_DISTANCE = 0.5  # distance of the model from the base from which on there is no handicap


def model_confidence(
    tree: ActionTree,
    counts: MoveCounts,
    max_confidence: float = 0.9,
    full_observations: int = 10,
    *,
    tied: bool = False,
) -> dict[int, float]:
    """Return the confidence in a model at its nodes: linear in the observations, up to `max_confidence`.

    Parameters
    ----------
    tree
        Betting tree.
    counts
        Observed actions.
    max_confidence
        Largest confidence, from 0 to 1.
    full_observations
        Observations at which it is reached, at least 1.
    tied
        For a hierarchical model: observations at similar nodes count too, of the same street, price and number of
        raises.

    Returns
    -------
    dict of float
        Confidence by node.

    Raises
    ------
    InputError
        If a number is out of range.

    References
    ----------
    .. [1] Johanson and Bowling, "Data biased robust counter strategies", AISTATS 2009.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> model_confidence(tree, MoveCounts({1: np.array([1.0, 4.0])}))
    {1: 0.45}
    """
    if not 0 <= max_confidence <= 1 or full_observations < 1:
        raise InputError(
            f"max_confidence={max_confidence:g}, full_observations={full_observations}: must be from 0 to 1, and at least 1"
        )
    own_counts = {node: float(node_counts.sum()) for node, node_counts in counts.moves.items()}
    observations = similar_counts(tree, counts) if tied else own_counts
    return {node: max_confidence * min(n, full_observations) / full_observations for node, n in observations.items()}


class ModelResponder:
    """Responses for both seats, each against the model in the other seat.

    Parameters
    ----------
    base
        Blueprint: its tree, its buckets, and the strategy where no response was learned.
    p
        Probability that the opponent is the model: 1 gives a best response, less a restricted Nash response.
    confidence
        Probability of each node that the opponent is the model there (data-biased response); None: `p` everywhere.
    seed
        Seed of the sampled hands.

    Raises
    ------
    InputError
        If `p` is not from 0 to 1.

    References
    ----------
    .. [1] Johanson, Zinkevich and Bowling, "Computing robust counter-strategies", NIPS 2007.
    .. [2] Johanson and Bowling, "Data biased robust counter strategies", AISTATS 2009.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> responder = ModelResponder(base)
    >>> responder.improve(base, 4000)
    >>> responder.strategy().provenance["answer"]
    'best response'
    """

    def __init__(
        self, base: Blueprint, p: float = 1.0, confidence: Mapping[int, float] | None = None, seed: int = 0
    ) -> None:
        if not 0 <= p <= 1:
            raise InputError(f"p={p:g}: probability that the opponent is the model, must be from 0 to 1")
        self.base, self.p = base, p
        self.iterations = 0
        self._base_tables = strategy_tables(base)
        self._reach = self._node_reach(self._base_tables)
        self._seat_trainers = [_SeatTrainer(base, seat, self._base_tables, seed + seat) for seat in (0, 1)]
        self.set_confidence(confidence)

    def set_confidence(self, confidence: Mapping[int, float] | None) -> None:
        """Set the probability of each node that the opponent is the model there.

        Parameters
        ----------
        confidence
            Probability by node, 0 for missing nodes; None: `p` everywhere.
        """
        tree = self.base.tree
        self._model_only = confidence is None and self.p == 1
        probability, offset = np.full(len(tree), self.p), np.zeros(len(tree))  # one phase for all nodes
        if confidence is not None:  # a random phase for each node
            probability, offset = np.zeros(len(tree)), np.random.default_rng(3).random(len(tree))
            probability[list(confidence)] = list(confidence.values())
        for trainer in self._seat_trainers:
            for street in trainer.streets:
                nodes = street.opponent_nodes
                street.lock_probability, street.offset = probability[nodes], offset[nodes]

    def improve(self, model: Blueprint, iterations: int) -> None:
        """Train against a model for some iterations in each seat; training against earlier models is down-weighted.

        Parameters
        ----------
        model
            Model of the opponent, in the tree and the buckets of the base strategy.
        iterations
            Iterations, at least 1.

        Raises
        ------
        InputError
            If the model has another tree or buckets, or `iterations` is below 1.
        """
        if model.tree.fingerprint != self.base.tree.fingerprint or model.buckets != self.base.buckets:
            raise InputError(f"model of {model.rules.name!r}: must have the tree and the buckets of the base strategy")
        if iterations < 1:
            raise InputError(f"{iterations} iterations: must be at least 1")
        model_tables = strategy_tables(model)
        reach = self._node_reach(model_tables)
        base_args = self.base.tree, self.base.cards, self._base_tables
        for seat, trainer in enumerate(self._seat_trainers):
            distance = strategy_distance(*base_args, model_tables, 1 - seat, self._reach[seat])
            trainer.start_model(
                initial_handicaps(*base_args, self._reach[seat], reach[1 - seat], seat),
                HANDICAP_DEVIATIONS * max(0.0, 1.0 - distance / MAX_HANDICAP_DISTANCE),
            )
        with ThreadPoolExecutor(2) as pool:  # one thread per seat keeps results reproducible
            list(pool.map(lambda trainer: trainer.train(model_tables, iterations), self._seat_trainers))
        self.iterations += iterations

    def _node_reach(self, tables: tuple[Array, ...]) -> list[Array]:
        return [node_reach(self.base.tree, self.base.cards, tables, seat) for seat in (0, 1)]

    def strategy(self) -> Blueprint:
        """Return the trained response: the average strategy, or for a pure best response the last one."""
        tables = tuple(np.array(table, np.float32) for table in self._base_tables)
        for trainer in self._seat_trainers:
            for table, cells in zip(tables, trainer.streets, strict=True):
                table[:, cells.own] = cells.strategy(table, current=self._model_only)
        provenance = {**self.base.provenance, "answer": "best response" if self.p == 1 else "restricted", "p": self.p}
        return replace(self.base, average=tables, provenance=provenance)


class _StreetCells:
    """One street of a seat trainer's tables: regrets and averages of its own seat, and regrets of the opponent."""

    def __init__(self, base: Blueprint, tables: BucketTables, street: int, seat: int, base_table: Array) -> None:
        tree = base.tree
        first, width, count = int(tables.base[street]), int(tables.width[street]), tables.counts[street]
        # float32 [buckets, cells of a row]
        self.cells = tables.cells[first : first + count * width].reshape(count, width)
        node, child = street_columns(tree, street)
        regrets = 2 * tree.slot[node].astype(np.int64) + child - tree.first[node]
        averages = regrets + tree.count[node]
        self.cells[:, regrets] = INITIAL_REGRET * base_table
        self.cells[:, averages] = base_table
        own = tree.actor[node] == seat
        self.own, self.opponent = np.flatnonzero(own), np.flatnonzero(~own)  # columns of the strategy table
        self.own_nodes, self.opponent_nodes = node[own], node[~own]
        self.own_regrets, self.own_averages, self.opponent_regrets = regrets[own], averages[own], regrets[~own]
        self.handicaps = np.zeros((count, len(self.own)), np.float32)
        self.free_regrets = self.cells[:, self.opponent_regrets]  # regrets of the opponent where it plays freely
        self.is_locked = np.zeros(len(self.opponent), bool)  # columns at which the opponent is the model
        # Probability that the opponent is locked to the model, and phase of the locked rounds, by opponent column.
        self.lock_probability = self.offset = np.zeros(len(self.opponent))

    def lock(self, model_table: Array, number: int) -> None:
        """Lock the opponent to the model at some nodes in round `number`, and restore its own regrets at the others."""
        probability, offset = self.lock_probability, self.offset
        self.is_locked = np.floor((number + 1) * probability + offset) > np.floor(number * probability + offset)
        locked_regrets = LOCKED_REGRET * model_table[:, self.opponent]
        self.cells[:, self.opponent_regrets] = np.where(self.is_locked, locked_regrets, self.free_regrets)

    def unlock(self) -> None:
        """Save the opponent's regrets of nodes where it has played freely in the round."""
        free = ~self.is_locked
        self.free_regrets[:, free] = self.cells[:, self.opponent_regrets[free]]

    def strategy(self, base_table: Array, *, current: bool) -> Array:
        """Return the own seat's average or current strategy, not normalized; the base where a row has no weight.

        float32 [buckets, own columns]
        """
        weights = np.maximum(self.cells[:, self.own_regrets], 0) if current else self.cells[:, self.own_averages]
        first = np.flatnonzero(np.diff(self.own_nodes, prepend=-1))
        if not len(first):
            return np.asarray(weights)
        moves = np.diff(first, append=len(self.own_nodes))
        visited = np.repeat(np.add.reduceat(weights, first, axis=1), moves, axis=1) > 0
        return np.asarray(np.where(visited, weights, base_table[:, self.own]))


class _SeatTrainer:
    """Trainer of one seat's response; the other seat is the model or plays freely, by node and round."""

    def __init__(self, base: Blueprint, seat: int, base_tables: tuple[Array, ...], seed: int) -> None:
        self.solver = BlueprintTrainer(base.tree, base.cards, seed=seed)
        tables = self.solver.tables
        self.streets = [_StreetCells(base, tables, street, seat, table) for street, table in enumerate(base_tables)]
        self.round = 0
        self.num_weighted_rounds = 0  # weight of past rounds in the regrets
        self.noise = 0.0  # sampling noise of the regrets, in equivalent iterations
        self.scale = 0.0  # current factor of the handicaps, which are part of the regrets

    def start_model(self, handicaps: tuple[Array, ...], deviations: float) -> None:
        """Start training against a new model, with handicaps (`initial_handicaps`) of `deviations` standard deviations.

        Regrets from earlier models stay, with the weight of at most NUM_ROUNDS rounds.
        """
        if self.round:
            self._rescale(1.0, 0.0)
        scale = np.float32(deviations / self.solver.tables.unit)
        for street, table in zip(self.streets, handicaps, strict=True):
            street.handicaps = scale * table[:, street.own]
        self.num_weighted_rounds = min(self.num_weighted_rounds, NUM_ROUNDS)

    def train(self, model_tables: tuple[Array, ...], iterations: int) -> None:
        """Train for some iterations, in NUM_ROUNDS rounds, against the model's tables by street."""
        round_iterations = -(-iterations // NUM_ROUNDS)
        for _ in range(NUM_ROUNDS):
            # Linear weighting, round by round (Brown & Sandholm 2019).
            keep = self.num_weighted_rounds / (self.num_weighted_rounds + 1) if self.num_weighted_rounds else 1.0
            self.noise = keep**2 * self.noise + round_iterations
            self._rescale(keep, self.noise**0.5)
            for street, table in zip(self.streets, model_tables, strict=True):
                street.lock(table, self.round)
            self.solver.step(round_iterations)
            for street in self.streets:
                street.unlock()
            self.round += 1
            self.num_weighted_rounds += 1

    def _rescale(self, keep: float, scale: float) -> None:
        """Discount own regrets by `keep` and averages by its square; set the factor of the handicaps to `scale`."""
        change = np.float32(scale - keep * self.scale)
        for street in self.streets:
            regrets = street.cells[:, street.own_regrets]
            street.cells[:, street.own_regrets] = np.float32(keep) * regrets + change * street.handicaps
            street.cells[:, street.own_averages] *= np.float32(keep**2)  # later strategies weigh more, as in DCFR
        self.scale = scale
