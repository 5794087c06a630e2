"""How well a model tells what a player does next, on hands that it has not seen.

    judgement = judge(strategy, hands, name)
    judgement.loss["em"], judgement.gain["em", "equilibrium"]

The first part of a player's hands is learnt from, the last fifth is judged: the log-loss of the player's moves, as the tree
reads them, in nats a decision. A prediction is the model's own: its hands by Bayes on the real board, from the player's moves
of this hand so far, and what it plays with them. Every forecaster's shares are mixed with a little of the uniform ones: a
move which it takes to be impossible costs much and not everything. Intervals are over hands: decisions of one hand are not
independent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.records.hand_records import Hands
from riverboat.opponents.models.hand_lines import Reading, read_in
from riverboat.opponents.models.registry import MODELS, TIED, make_model
from riverboat.opponents.models.tree import CLUSTERS, Counts, count_moves, fit_model, shares_of
from riverboat.opponents.statistics import NORMAL_95
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.board_buckets import board_buckets

LEARN = 0.8  # of a player's hands
MIX = 0.01  # of every forecast is uniform
DOUBT = 0.001  # of every move that narrows a range, so that no hand is ruled out for good
EQUILIBRIUM, FREQUENCIES = "equilibrium", "frequencies"
POPULATION, SHOWDOWNS = "population", "showdowns"
BINS = 10


@dataclass(frozen=True, eq=False)
class Judged:
    """What forecasters said of a player's last hands."""

    name: str
    learnt: int  # hands
    hands: int  # judged, in which the player has a decision that the tree has a place for
    missed: float  # share of all decisions of the record that it has none for
    forecasts: Mapping[str, Array]  # by forecaster: shares of the moves, float64 [decisions, most moves]
    move: Array  # int64 [decisions]: what was done
    count: Array  # int64 [decisions]: moves that could be
    hand: Array  # int64 [decisions]: rising with the hands

    @property
    def decisions(self) -> int:
        """That were judged."""
        return len(self.move)

    def losses(self, who: str) -> Array:
        """Nats. float64 [decisions]"""
        return -np.log(self.forecasts[who][np.arange(self.decisions), self.move])

    def loss(self, who: str) -> tuple[float, float]:
        """Nats a decision, and half the width of the 95 % interval over hands."""
        return self._mean(self.losses(who))

    def gain(self, who: str, other: str) -> tuple[float, float]:
        """By how much the loss of the one is below that of the other: nats a decision ± 95 %, both on the same moves."""
        return self._mean(self.losses(other) - self.losses(who))

    def _mean(self, values: Array) -> tuple[float, float]:
        hands, place = np.unique(self.hand, return_inverse=True)
        mean = float(values.mean())
        apart = np.bincount(place, values - mean)  # the ratio of two sums, linearised
        spread = sqrt(float(apart @ apart) * len(hands) / max(len(hands) - 1, 1))
        return mean, NORMAL_95 * spread / self.decisions

    def calibration(self, who: str) -> list[tuple[float, float, int]]:
        """Of all moves that could be made, by what was said of them: the mean share, how often it was made, how many."""
        told = np.arange(self.forecasts[who].shape[1]) < self.count[:, None]
        said = self.forecasts[who][told]
        made = (np.arange(self.forecasts[who].shape[1]) == self.move[:, None])[told]
        place = np.minimum((said * BINS).astype(int), BINS - 1)
        bins = []
        for k in range(BINS):
            here = place == k
            if here.any():
                bins.append((float(said[here].mean()), float(made[here].mean()), int(here.sum())))
        return bins


def judge(base: BlueprintStrategy, hands: Hands, name: str, learn: float = LEARN) -> Judged:
    """Models of one player, learnt from the first part of its hands and judged on the rest, with all rivals."""
    if not 0 < learn < 1:
        raise InputError(f"learn={learn:g}: a share of the player's hands, above 0 and below 1")
    mine = np.flatnonzero(hands.of(name))
    first = round(learn * len(mine))
    if first < 1 or first == len(mine):
        raise InputError(f"player {name!r}: {len(mine)} hands are too few to learn from and to be judged by")
    reading, who = read_in(base.tree, hands), hands.names.index(name)
    train, test = np.zeros((2, len(hands)), bool)
    train[mine[:first]], test[mine[first:]] = True, True
    own = reading.player == who
    seen = count_moves(reading, base.tree, own & train[reading.hand], hands, base.cards)
    others = count_moves(reading, base.tree, ~own & ~test[reading.hand], hands, base.cards)
    judged = reading.take(own & test[reading.hand])
    if len(np.unique(judged.hand)) < 2:  # an interval needs two
        raise InputError(
            f"player {name!r}: of its last {len(mine) - first} hands fewer than two have a decision in the tree: too few "
            "to be judged by"
        )
    strategies = models(base, seen, others)
    most = int(base.tree.count[judged.node].max())
    count = base.tree.count[judged.node].astype(np.int64)
    forecasts = {FREQUENCIES: _frequencies(judged, seen, count, most)}
    for key, rows in forecasts_of(strategies, judged, hands, most).items():
        forecasts[key] = rows
    uniform = (np.arange(most) < count[:, None]) / count[:, None]
    mixed = {key: (1 - MIX) * rows + MIX * uniform for key, rows in forecasts.items()}
    missed = reading.missed / max(reading.missed + len(reading), 1)
    return Judged(
        name, first, len(np.unique(judged.hand)), missed, mixed, judged.move, count, judged.hand,
    )  # fmt: skip


def models(base: BlueprintStrategy, seen: Counts, others: Counts) -> dict[str, BlueprintStrategy]:
    """All that are judged: the fits from public moves alone, with showdowns, from the population, and with both."""
    public = Counts(seen.moves)
    strategies = {EQUILIBRIUM: base, **{kind: make_model(kind, base, public) for kind in MODELS}}
    strategies[SHOWDOWNS] = fit_model(base, seen, "l1")
    strategies[POPULATION] = fit_model(fit_model(base, Counts(others.moves), "l1"), public, "l1")
    strategies[f"{POPULATION}, {SHOWDOWNS}"] = fit_model(fit_model(base, others, "l1"), seen, "l1")
    strategies[f"{TIED}, {SHOWDOWNS}"] = make_model(TIED, base, seen)
    strategies[f"{CLUSTERS}, {SHOWDOWNS}"] = make_model(CLUSTERS, base, seen)
    strategies[f"{POPULATION}, {TIED}, {SHOWDOWNS}"] = make_model(TIED, make_model(TIED, base, others), seen)
    return strategies


def _frequencies(judged: Reading, seen: Counts, count: Array, most: int) -> Array:
    """The player's own at the same public history, with one move of each kind added (Laplace). float64 [n, most]"""
    rows = np.zeros((len(judged), most))
    for i, (node, moves) in enumerate(zip(judged.node.tolist(), count.tolist(), strict=True)):
        made = seen.moves.get(node, np.zeros(moves)) + 1
        rows[i, :moves] = made / made.sum()
    return rows


def forecasts_of(
    strategies: Mapping[str, BlueprintStrategy], judged: Reading, hands: Hands, most: int
) -> dict[str, Array]:
    """What strategies of one tree say of decisions, by Bayes on the real boards. float64 [decisions, most]"""
    first = next(iter(strategies.values()))
    tree, cards, hole = first.tree, first.cards, hands.rules.hole
    tables = {key: shares_of(strategy) for key, strategy in strategies.items()}
    out = {key: np.zeros((len(judged), most)) for key in strategies}
    ranges: dict[str, Array] = {}
    last, street, live, buckets = -1, -1, np.zeros(0, np.int64), np.zeros(0, np.int64)
    for i, (hand, node, move) in enumerate(
        zip(judged.hand.tolist(), judged.node.tolist(), judged.move.tolist(), strict=True)
    ):
        if hand != last:
            ranges = {key: np.ones(cards.deck.hand_count) for key in strategies}
            last, street = hand, -1
        if tree.street[node] != street:
            street = int(tree.street[node])
            dealt = hands.rules.board_sizes[street]
            on_board = board_buckets(cards, hands.cards[hand : hand + 1, 2 * hole : 2 * hole + dealt])
            live = on_board.live[0, : on_board.left[0]]
            buckets = on_board.buckets[0, street, live]
        at, moves = int(tree.slot[node]), int(tree.count[node])
        for key in strategies:
            rows = tables[key][street][buckets, at : at + moves]
            weights = ranges[key][live]
            out[key][i, :moves] = weights @ rows / weights.sum()
            ranges[key][live] = weights * ((1 - DOUBT) * rows[:, move] + DOUBT)
    return out
