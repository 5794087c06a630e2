"""Opponent models in a blueprint's tree: DBBR (Ganzfried & Sandholm 2011) for hold'em.

    counts = count_moves(read_hands(strategy.tree, hands), strategy.tree, player)
    model = fit_model(strategy, counts, fit="em")

A public history is a node of the betting tree, and buckets are those of the blueprint. At every observed node, from the
root down: compute the posterior frequencies of its actions, the player's bucket weights by the rows fitted so far, and
the rows nearest to the blueprint's that match these frequencies. A model is a `Blueprint`, so that everything
that reads, plays or evaluates a blueprint accepts a model; a model of many players can be the prior for one of them.

Bucket weights move from street to street by the transition probabilities of buckets over all deals. The other player's
cards and actions are ignored, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from itertools import accumulate
from operator import matmul
from typing import TypeAlias, TypeVar

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.features.hand_features import hand_strengths_on_boards
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.games.holdem.actions import HIDDEN_CARD
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.opponents.dbbr import FITS, fit_l1
from riverboat.opponents.models.hand_lines import TreeDecisions
from riverboat.strategies.blueprint import Blueprint, current_buckets, normalize_table

# --- clusters by action ---------------------------------------------------------------------------

NUM_ROUNDS = 2  # alternations between the centres of clusters and the members
SOFTNESS = 0.05  # entropic regularization, in squared distances scaled by the spread of all hands
MAX_SINKHORN_STEPS = 100


def fit_clusters(weights: Array, rows: Array, target: Array, points: Array, shown: Array) -> Array:
    """Fit action probabilities of buckets by clustering: Σ_b weights_b rows_b = target, as far as shown hands allow.

    Parameters
    ----------
    weights
        Probabilities of the buckets, float64 [buckets].
    rows
        Initial clusters, float64 [buckets, actions]; rows of the `shown` buckets stay.
    target
        Frequencies over all buckets, float64 [actions].
    points
        Features of the buckets, float64 [buckets, features].
    shown
        Whether a bucket has showdowns, bool [buckets].

    Returns
    -------
    Array
        Fitted rows, float64 [buckets, actions].

    Examples
    --------
    >>> rows = np.array([[0.6, 0.4], [0.4, 0.6]])
    >>> fitted = fit_clusters(np.full(2, 0.5), rows, np.full(2, 0.5), np.array([[0.0], [1.0]]), np.zeros(2, bool))
    >>> fitted.round(2)
    array([[1., 0.],
           [0., 1.]])
    """
    fitted = rows.copy()
    free = np.flatnonzero(~shown & (weights > 0))
    remaining = np.maximum(target - weights[shown] @ rows[shown], 0.0)
    if not len(free) or remaining.sum() <= 0:
        return fitted
    remaining *= weights[free].sum() / remaining.sum()
    scaled_points = points / np.maximum(points.std(axis=0), 1e-9)
    for _ in range(NUM_ROUNDS):
        mass = weights[:, None] * fitted
        centres = (mass.T @ scaled_points) / np.maximum(mass.sum(axis=0), 1e-12)[:, None]
        distances = ((scaled_points[free, None, :] - centres[None]) ** 2).sum(axis=2)
        fitted[free] = _sinkhorn_transport(weights[free], remaining, distances)
    return fitted


def _sinkhorn_transport(supply: Array, demand: Array, cost: Array) -> Array:
    """Solve an entropy-regularized transport problem; return the share of every supply that goes to each demand.

    Supplies and demands have the same sum. Sinkhorn's iteration (Cuturi 2013); `fit_l1` removes a remaining error.
    float64 [supplies, demands]
    """
    affinity = np.exp(-(cost - cost.min(axis=1, keepdims=True)) / SOFTNESS)
    scale = (demand > 0).astype(float)
    affinity[affinity @ scale < 1e-250] = 1.0  # supplies whose only near demand is empty
    for _ in range(MAX_SINKHORN_STEPS):
        shares = affinity * scale
        shares /= shares.sum(axis=1, keepdims=True)
        sent = supply @ shares
        if np.abs(sent - demand).max() < 1e-9 * supply.sum():
            break
        scale = np.clip(scale * demand / np.maximum(sent, 1e-300), 0.0, 1e200)
        scale /= scale.max()
    return fit_l1(supply / supply.sum(), shares, demand / supply.sum())


# --- columns of strategy tables -------------------------------------------------------------------


def child_nodes(tree: ActionTree, nodes: Array) -> tuple[Array, Array]:
    """Return, for each action at some nodes, the index of its node among them and the child. int64 [actions] each

    Parameters
    ----------
    tree
        Betting tree.
    nodes
        Nodes, int64 [n]; terminals have no actions.

    Returns
    -------
    tuple of Array
        Indices into `nodes`, and children.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> child_nodes(tree, np.array([0]))
    (array([0, 0]), array([1, 2]))
    """
    count = np.where(tree.actor[nodes] >= 0, tree.count[nodes], 0).astype(np.int64)
    row = np.repeat(np.arange(len(nodes)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, tree.first[nodes[row]] + within


def street_columns(tree: ActionTree, street: int) -> tuple[Array, Array]:
    """Return the decision node and the child of each column of a street's table. int64 [columns] each

    Parameters
    ----------
    tree
        Betting tree.
    street
        Street, from 0.

    Returns
    -------
    tuple of Array
        Nodes and children.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> street_columns(tree, 0)[0]
    array([0, 0, 1, 1, 2, 2, 4, 4])
    """
    nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
    row, child = child_nodes(tree, nodes)
    return nodes[row], child


# --- bucket probabilities and strengths -----------------------------------------------------------

NUM_DEALS = 200_000
NUM_STRENGTH_DEALS = 30_000  # deals to estimate the strength of buckets


@lru_cache(maxsize=4)
def bucket_probabilities(cards: CardAbstraction, rounds: int) -> tuple[Array, tuple[Array, ...]]:
    """Estimate bucket probabilities and transitions from sampled deals.

    Parameters
    ----------
    cards
        Card abstraction.
    rounds
        Number of betting rounds.

    Returns
    -------
    tuple
        float64 [buckets of the first street], then [before, after] by street.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> bucket_probabilities(cards, 1)[0].round(2)
    array([0.33, 0.33, 0.33])
    """
    buckets = cards.buckets(_sample_deals(cards, rounds, NUM_DEALS, 7), check=False)[:, 0, :]
    first = np.bincount(buckets[:, 0], minlength=cards.counts[0]).astype(float)
    transitions = []
    for s in range(rounds - 1):
        joint = np.zeros((cards.counts[s], cards.counts[s + 1]))
        np.add.at(joint, (buckets[:, s], buckets[:, s + 1]), 1.0)
        transitions.append(safe_divide(joint, joint.sum(axis=1, keepdims=True)))
    return first / first.sum(), tuple(transitions)


def bucket_marginals(cards: CardAbstraction, rounds: int) -> tuple[Array, ...]:
    """Return the probability of each bucket, by street. float64 [buckets]

    Parameters
    ----------
    cards
        Card abstraction.
    rounds
        Number of betting rounds.

    Returns
    -------
    tuple of Array
        Probabilities by street.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> [len(probabilities) for probabilities in bucket_marginals(cards, 1)]
    [3]
    """
    first, transitions = bucket_probabilities(cards, rounds)
    return tuple(accumulate(transitions, matmul, initial=first))


@lru_cache(maxsize=4)
def bucket_strength_moments(cards: CardAbstraction, rounds: int) -> tuple[Array, ...]:
    """Return mean and standard deviation of the share of hands that a bucket beats at showdown, by street.

    A bucket without deals gets the middle.

    Parameters
    ----------
    cards
        Card abstraction.
    rounds
        Number of betting rounds.

    Returns
    -------
    tuple of Array
        By street, float64 [buckets, 2].

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> bucket_strength_moments(cards, 1)[0][:, 0]
    array([0. , 0.5, 1. ])
    """
    hole = cards.deck.hole
    deals = _sample_deals(cards, rounds, NUM_STRENGTH_DEALS, 11)
    buckets = cards.buckets(deals, check=False)[:, 0, :]
    share = hand_strengths_on_boards(deals[:, :hole], deals[:, hole:], cards.deck)
    out = []
    for street in range(rounds):
        counts = np.bincount(buckets[:, street], minlength=cards.counts[street])
        divisor = np.maximum(counts, 1)
        mean = np.bincount(buckets[:, street], share, cards.counts[street]) / divisor
        square = np.bincount(buckets[:, street], share**2, cards.counts[street]) / divisor
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        out.append(np.stack([np.where(counts > 0, mean, 0.5), spread], axis=1))
    return tuple(out)


def _sample_deals(cards: CardAbstraction, rounds: int, deals: int, seed: int) -> Array:
    """Sample deals: hole cards of one player and a board up to the last round. uint8 [deals, hole + board]"""
    rng, deck = np.random.default_rng(seed), cards.deck
    num_cards = deck.hole + cards.board_sizes[rounds - 1]
    if num_cards < len(deck.cards):
        chosen = rng.random((deals, len(deck.cards))).argpartition(num_cards, axis=1)[:, :num_cards]
    else:
        chosen = np.tile(np.arange(num_cards), (deals, 1))
    return np.ascontiguousarray(rng.permuted(np.array(deck.cards, np.uint8)[chosen], axis=1))


PRIOR = 5.0  # weight of the base, in hands, at every public history (Ganzfried & Sandholm 2011)
SHOWN_PRIOR = 2.0  # weight of the base, in hands, at every bucket with showdowns

CLUSTERS = "clusters"  # name of a fit: hands clustered by their actions at showdowns

K = TypeVar("K")  # a node, or a node and a bucket
NodeCounts: TypeAlias = Mapping[int, Array]  # node -> action counts, float64 [actions]


@dataclass(frozen=True, eq=False)
class MoveCounts:
    """Counts of a player's actions.

    Attributes
    ----------
    moves
        Action counts by node, float64 [actions].
    showdowns
        Action counts of shown hands, by node and bucket.

    Examples
    --------
    >>> (MoveCounts({1: np.array([1.0, 3.0])}) + MoveCounts({1: np.array([1.0, 0.0])})).decisions
    5
    """

    moves: NodeCounts
    showdowns: Mapping[tuple[int, int], Array] = field(default_factory=dict)  # in shown hands, by node and bucket

    def __add__(self, other: MoveCounts) -> MoveCounts:
        """Add two counts."""
        return MoveCounts(_add_counts(self.moves, other.moves), _add_counts(self.showdowns, other.showdowns))

    @property
    def decisions(self) -> int:
        """Number of observed decisions."""
        return int(sum(count.sum() for count in self.moves.values()))

    def on_street(self, tree: ActionTree, street: int) -> MoveCounts:
        """Return the counts of one street.

        Parameters
        ----------
        tree
            Betting tree.
        street
            Street, from 0.
        """
        moves = {node: counts for node, counts in self.moves.items() if tree.street[node] == street}
        return MoveCounts(moves, {key: counts for key, counts in self.showdowns.items() if key[0] in moves})


def _add_counts(one: Mapping[K, Array], two: Mapping[K, Array]) -> dict[K, Array]:
    return {**one, **{key: one[key] + counts if key in one else counts for key, counts in two.items()}}


def count_moves(
    decisions: TreeDecisions,
    tree: ActionTree,
    selection: Array,
    hands: HandRecords | None = None,
    cards: CardAbstraction | None = None,
) -> MoveCounts:
    """Count the actions of selected decisions; with `hands` and `cards`, also those of shown hands by bucket.

    Parameters
    ----------
    decisions
        Decisions of a record on the tree.
    tree
        Betting tree.
    selection
        Mask or indices of decisions.
    hands
        The record, for shown hands.
    cards
        Card abstraction, for shown hands.

    Returns
    -------
    MoveCounts
        The counts.

    Examples
    --------
    >>> from riverboat.games.holdem.betting import BettingState
    >>> from riverboat.games.holdem.hand_records import RecordedHand, build_records
    >>> from riverboat.opponents.models.hand_lines import read_hands
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> hands = build_records([RecordedHand(0, ("Ann", "Bob"), BettingState.from_line(rules, "cc"), ((), (), ()))], rules)
    >>> decisions = read_hands(tree, hands)
    >>> count_moves(decisions, tree, decisions.player == 0).moves
    {0: array([1., 0.])}
    """
    selected = decisions.take(selection)
    buckets = np.full(len(selected), -1)
    if hands is not None and cards is not None:
        buckets = _held_buckets(selected, tree, hands, cards)
    moves: dict[int, Array] = {}
    shown: dict[tuple[int, int], Array] = {}
    for node, bucket, move in np.stack([selected.node, buckets, selected.move], axis=1).tolist():
        zeros = np.zeros(int(tree.count[node]))
        moves.setdefault(node, zeros.copy())[move] += 1
        if bucket >= 0:
            shown.setdefault((node, bucket), zeros)[move] += 1
    return MoveCounts(moves, shown)


def _held_buckets(decisions: TreeDecisions, tree: ActionTree, hands: HandRecords, cards: CardAbstraction) -> Array:
    """Return the player's bucket at each decision; -1 for hidden cards. int32 [n]"""
    hole, seat, dealt_cards = hands.rules.hole, tree.actor[decisions.node], hands.cards[decisions.hand]
    hole_cards = np.where(seat[:, None] == 0, dealt_cards[:, :hole], dealt_cards[:, hole : 2 * hole])
    streets = np.where((hole_cards != HIDDEN_CARD).all(axis=1), tree.street[decisions.node], -1)
    return current_buckets(cards, streets, hole_cards, dealt_cards[:, 2 * hole :])


# --- buckets ----------------------------------------------------------------------------------


class BucketReach:
    """Cached bucket reach of players at nodes of a tree, given their tables.

    Parameters
    ----------
    tree
        Betting tree.
    cards
        Card abstraction.
    tables
        Strategy by street, as `strategy_tables` returns it.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> BucketReach(tree, cards, strategy_tables(base)).reach(1, seat=0).sum().round(3)
    np.float64(0.5)
    """

    def __init__(self, tree: ActionTree, cards: CardAbstraction, tables: tuple[Array, ...]) -> None:
        self.tree, self.tables = tree, tables
        self.initial, self.transitions = bucket_probabilities(cards, tree.rules.rounds)
        self._cached_reach: dict[tuple[int, int], Array] = {}

    def rows(self, node: int) -> Array:
        """Return the rows of a decision. float64 [buckets, actions], a view of the tables

        Parameters
        ----------
        node
            Decision node.
        """
        slot = int(self.tree.slot[node])
        return self.tables[int(self.tree.street[node])][:, slot : slot + int(self.tree.count[node])]

    def reach(self, node: int, seat: int) -> Array:
        """Return a player's bucket weights; their sum is the probability of its actions.

        A weight is the probability that the bucket is dealt and the player takes its actions on the path to the node.
        float64 [buckets of the node's street]

        Parameters
        ----------
        node
            Node of the tree.
        seat
            Seat of the player.
        """
        weights = self._cached_reach.get((node, seat))
        if weights is not None:
            return weights
        tree, path, current = self.tree, [], node
        while current > 0 and (current, seat) not in self._cached_reach:
            path.append(current)
            current = int(tree.parent[current])
        weights = self._cached_reach.setdefault((current, seat), self.initial)
        for child in reversed(path):
            parent = int(tree.parent[child])
            if tree.actor[parent] == seat:
                weights = weights * self.rows(parent)[:, child - int(tree.first[parent])]
            dealt = self.transitions[tree.street[parent] : tree.street[child]]
            weights = self._cached_reach[child, seat] = reduce(matmul, dealt, weights)
        return weights

    def reach_shares(self, node: int) -> Array:
        """Return the actor's normalized bucket weights; the deal probabilities if its reach is zero. float64 [buckets]

        Parameters
        ----------
        node
            Decision node.
        """
        weights = self.reach(node, int(self.tree.actor[node]))
        if weights.sum() > 1e-12:
            return np.asarray(weights / weights.sum())
        return reduce(matmul, self.transitions[: self.tree.street[node]], self.initial)


def strategy_tables(strategy: Blueprint) -> tuple[Array, ...]:
    """Return the normalized strategy by street. float64 [buckets, actions of the street]

    Parameters
    ----------
    strategy
        Blueprint.

    Returns
    -------
    tuple of Array
        Tables by street; uniform where a row has no weight.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> strategy_tables(base)[0][0, :2]
    array([0.5, 0.5])
    """
    return tuple(normalize_table(table, *strategy.slots(street)) for street, table in enumerate(strategy.average))


# --- fitting ----------------------------------------------------------------------------------


def fit_model(
    base: Blueprint, counts: MoveCounts, fit: str = "em", prior: float = PRIOR, shown_prior: float = SHOWN_PRIOR
) -> Blueprint:
    """Fit the strategy nearest to `base` that matches counts, in both seats.

    Rows of buckets with showdowns are moved first, to the posterior of the shown actions; then all rows are moved to
    match the frequencies of all hands. Nodes without observations keep their rows.

    Parameters
    ----------
    base
        Blueprint that the model stays close to.
    counts
        Observed actions, with those of shown hands by bucket.
    fit
        `l1`, `l2`, `em` or `clusters`.
    prior
        Hands of the base strategy at every public history.
    shown_prior
        Hands of the base strategy at every bucket with showdowns.

    Returns
    -------
    Blueprint
        The model.

    Raises
    ------
    InputError
        If the fit is unknown, or a prior is not above 0.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Game theory-based opponent modeling in large imperfect-information games", AAMAS
       2011.

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> fit_model(base, MoveCounts({0: np.array([5.0, 0.0])}), fit="l1").average[0][0, :2]
    array([0.75, 0.25], dtype=float32)
    """
    check_name("fit", fit, (*FITS, CLUSTERS))
    if not (prior > 0 and shown_prior > 0):
        raise InputError(f"prior={prior:g}, shown_prior={shown_prior:g}: must be above 0 hands")
    tree, base_tables = base.tree, strategy_tables(base)
    points = bucket_strength_moments(base.cards, tree.rules.rounds) if fit == CLUSTERS else ()
    tables = tuple(table.copy() for table in base_tables)
    base_reach, model_reach = BucketReach(tree, base.cards, base_tables), BucketReach(tree, base.cards, tables)
    showdowns: dict[int, list[tuple[int, Array]]] = {}
    for (node, bucket), observed in counts.showdowns.items():
        showdowns.setdefault(node, []).append((bucket, observed))
    for node in sorted(counts.moves):  # parents come before children
        observed = counts.moves[node]
        expected = base_reach.reach_shares(node) @ base_reach.rows(node)
        target = (prior * expected + observed) / (prior + observed.sum())
        weights, rows = model_reach.reach_shares(node), model_reach.rows(node)
        for bucket, shown_counts in showdowns.get(node, ()):
            rows[bucket] = (shown_prior * rows[bucket] + shown_counts) / (shown_prior + shown_counts.sum())
        if fit == CLUSTERS:
            has_showdown = np.isin(np.arange(len(rows)), [bucket for bucket, _ in showdowns.get(node, ())])
            fitted = fit_clusters(weights, rows, target, points[int(tree.street[node])], has_showdown)
        else:
            fitted = np.maximum(FITS[fit](weights, rows, target), 0.0)
        rows[:] = fitted / fitted.sum(axis=1, keepdims=True)
    provenance = {**base.provenance, "model": fit, "decisions": counts.decisions}
    return replace(base, average=tuple(table.astype(np.float32) for table in tables), provenance=provenance)
