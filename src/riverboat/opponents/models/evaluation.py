"""Evaluation of opponent models: log-loss of predictions on held-out hands.

    evaluation = evaluate_models(strategy, hands, name)
    evaluation.loss("em"), evaluation.gain("em", "equilibrium")

Models are fitted to the first part of a player's hands and tested on the last fifth: the log-loss of the player's
translated actions, in nats per decision. A prediction uses the model's own range by Bayes' rule on the real board,
given the player's actions in this hand so far, and its strategy. All predictions are mixed with a small uniform share,
so that an action with predicted probability zero has a finite loss. Intervals are over hands: decisions of one hand are
not independent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.opponents.models.hand_lines import TreeDecisions, read_hands
from riverboat.opponents.models.hierarchical import MODEL_FITTERS, TIED, fit_model_kind
from riverboat.opponents.models.tree import CLUSTERS, MoveCounts, count_moves, fit_model, strategy_tables
from riverboat.opponents.statistics import Z_95
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.policy import board_buckets

TRAIN_SHARE = 0.8  # share of a player's hands to which models are fitted
UNIFORM_SHARE = 0.01  # weight of the uniform distribution in every prediction
RANGE_NOISE = 0.001  # added to every probability in a range update, so that no hand is excluded for good
EQUILIBRIUM, FREQUENCIES = "equilibrium", "frequencies"
POPULATION, SHOWDOWNS = "population", "showdowns"
NUM_CALIBRATION_BINS = 10


@dataclass(frozen=True, eq=False)
class ModelEvaluation:
    """Predictions of several models for the decisions in a player's test hands, and the actions played."""

    name: str  # name of the player
    num_train_hands: int
    num_test_hands: int  # with at least one decision on the tree
    off_tree_share: float  # share of all decisions of the record that are off the tree
    predictions: Mapping[str, Array]  # by name of the model: action probabilities, float64 [decisions, max actions]
    move: Array  # int64 [decisions]: the played action
    count: Array  # int64 [decisions]: number of actions
    hand: Array  # int64 [decisions]: hand index, ascending

    @property
    def decisions(self) -> int:
        """Number of test decisions."""
        return len(self.move)

    def losses(self, predictor: str) -> Array:
        """Return the log-loss of each decision in nats. float64 [decisions]"""
        return -np.log(self.predictions[predictor][np.arange(self.decisions), self.move])

    def loss(self, predictor: str) -> tuple[float, float]:
        """Return the mean log-loss in nats per decision, and the half-width of its 95 % interval over hands."""
        return self._mean(self.losses(predictor))

    def gain(self, predictor: str, other: str) -> tuple[float, float]:
        """Return how much lower the mean loss of `predictor` is than that of `other`, in nats per decision.

        The second number is the half-width of its 95 % interval, from paired differences.
        """
        return self._mean(self.losses(other) - self.losses(predictor))

    def _mean(self, values: Array) -> tuple[float, float]:
        hands, hand_index = np.unique(self.hand, return_inverse=True)
        mean = float(values.mean())
        hand_deviations = np.bincount(hand_index, values - mean)  # linearized ratio of two sums
        spread = sqrt(float(hand_deviations @ hand_deviations) * len(hands) / max(len(hands) - 1, 1))
        return mean, Z_95 * spread / self.decisions

    def calibration(self, predictor: str) -> list[tuple[float, float, int]]:
        """Return calibration bins of predicted probabilities, over all actions of all decisions.

        Each has the mean predicted probability, the observed frequency, and the number of actions.
        """
        moves = np.arange(self.predictions[predictor].shape[1])
        mask = moves < self.count[:, None]
        predicted, played = self.predictions[predictor][mask], (moves == self.move[:, None])[mask]
        bin_index = np.minimum((predicted * NUM_CALIBRATION_BINS).astype(int), NUM_CALIBRATION_BINS - 1)
        bins = [bin_index == k for k in np.unique(bin_index)]
        return [(float(predicted[each].mean()), float(played[each].mean()), int(each.sum())) for each in bins]


def evaluate_models(
    base: Blueprint, hands: HandRecords, name: str, train_share: float = TRAIN_SHARE
) -> ModelEvaluation:
    """Fit all kinds of models to the first `train_share` of a player's hands, and predict its actions in the rest.

    Besides the models, the blueprint `base` and the player's own frequencies are evaluated.
    """
    if not 0 < train_share < 1:
        raise InputError(f"train_share={train_share:g}: share of the player's hands, must be above 0 and below 1")
    own_hands = np.flatnonzero(hands.played_by(name))
    first = round(train_share * len(own_hands))
    if first < 1 or first == len(own_hands):
        raise InputError(f"player {name!r}: {len(own_hands)} hands are too few to fit and to test models")
    decisions, player = read_hands(base.tree, hands), hands.names.index(name)
    train, test = np.zeros((2, len(hands)), bool)
    train[own_hands[:first]], test[own_hands[first:]] = True, True
    own = decisions.player == player
    own_counts = count_moves(decisions, base.tree, own & train[decisions.hand], hands, base.cards)
    other_counts = count_moves(decisions, base.tree, ~own & ~test[decisions.hand], hands, base.cards)
    tested = decisions.take(own & test[decisions.hand])
    num_test_hands = len(np.unique(tested.hand))
    if num_test_hands < 2:  # an interval needs two hands
        raise InputError(
            f"player {name!r}: of its last {len(own_hands) - first} hands fewer than two have a decision on the tree: "
            "too few to test models"
        )
    strategies = _fit_models(base, own_counts, other_counts)
    max_moves = int(base.tree.count[tested.node].max())
    count = base.tree.count[tested.node].astype(np.int64)
    predictions = {FREQUENCIES: _observed_frequencies(tested, own_counts, count, max_moves)}
    predictions |= _predict_moves(strategies, tested, hands, max_moves)
    uniform = (np.arange(max_moves) < count[:, None]) / count[:, None]
    mixed = {key: (1 - UNIFORM_SHARE) * rows + UNIFORM_SHARE * uniform for key, rows in predictions.items()}
    off_tree_share = decisions.num_missed / max(decisions.num_missed + len(decisions), 1)
    return ModelEvaluation(name, first, num_test_hands, off_tree_share, mixed, tested.move, count, tested.hand)


def _fit_models(base: Blueprint, seen: MoveCounts, others: MoveCounts) -> dict[str, Blueprint]:
    """Fit all evaluated models, by name: from public actions alone, with showdowns, with the population as prior.

    `seen` are counts of the player, `others` those of all other players (the population).
    """
    public = MoveCounts(seen.moves)
    strategies = {EQUILIBRIUM: base, **{kind: fit_model_kind(kind, base, public) for kind in MODEL_FITTERS}}
    strategies[SHOWDOWNS] = fit_model(base, seen, "l1")
    strategies[POPULATION] = fit_model(fit_model(base, MoveCounts(others.moves), "l1"), public, "l1")
    strategies[f"{POPULATION}, {SHOWDOWNS}"] = fit_model(fit_model(base, others, "l1"), seen, "l1")
    strategies[f"{TIED}, {SHOWDOWNS}"] = fit_model_kind(TIED, base, seen)
    strategies[f"{CLUSTERS}, {SHOWDOWNS}"] = fit_model_kind(CLUSTERS, base, seen)
    strategies[f"{POPULATION}, {TIED}, {SHOWDOWNS}"] = fit_model_kind(TIED, fit_model_kind(TIED, base, others), seen)
    return strategies


def _observed_frequencies(test_decisions: TreeDecisions, seen: MoveCounts, count: Array, max_moves: int) -> Array:
    """Return, for each decision, the player's action frequencies at its node in training, with Laplace smoothing.

    float64 [n, max actions]
    """
    rows = np.zeros((len(test_decisions), max_moves))
    for i, (node, moves) in enumerate(zip(test_decisions.node.tolist(), count.tolist(), strict=True)):
        smoothed = seen.moves.get(node, np.zeros(moves)) + 1
        rows[i, :moves] = smoothed / smoothed.sum()
    return rows


def _predict_moves(
    strategies: Mapping[str, Blueprint], test_decisions: TreeDecisions, hands: HandRecords, max_moves: int
) -> dict[str, Array]:
    """Return, for each strategy, its action probabilities at decisions, over the hands that the player may hold.

    A player's range starts uniform in each hand, and is updated by the strategy with Bayes' rule on the real board.
    float64 [decisions, max actions]
    """
    first = next(iter(strategies.values()))
    tree, cards, hole = first.tree, first.cards, hands.rules.hole
    tables = {key: strategy_tables(strategy) for key, strategy in strategies.items()}
    out = {key: np.zeros((len(test_decisions), max_moves)) for key in strategies}
    ranges: dict[str, Array] = {}
    last, street, live, buckets = -1, -1, np.zeros(0, np.int64), np.zeros(0, np.int64)
    fields = test_decisions.hand, test_decisions.node, test_decisions.move
    for i, (hand, node, move) in enumerate(np.stack(fields, axis=1).tolist()):
        if hand != last:
            ranges = {key: np.ones(cards.deck.num_hands) for key in strategies}
            last, street = hand, -1
        if tree.street[node] != street:
            street = int(tree.street[node])
            dealt = hands.rules.board_sizes[street]
            hands_on_board = board_buckets(cards, hands.cards[hand : hand + 1, 2 * hole : 2 * hole + dealt])
            live = hands_on_board.live[0, : hands_on_board.left[0]]
            buckets = hands_on_board.buckets[0, street, live]
        slot, moves = int(tree.slot[node]), int(tree.count[node])
        for key in strategies:
            rows = tables[key][street][buckets, slot : slot + moves]
            weights = ranges[key][live]
            out[key][i, :moves] = weights @ rows / weights.sum()
            ranges[key][live] = weights * ((1 - RANGE_NOISE) * rows[:, move] + RANGE_NOISE)
    return out
