"""Exact and greedy earth mover's distances between histograms over unordered clusters (Ganzfried & Sandholm 2014).

A deck of 15 cards: turn hands are clustered by their histograms of river strength, and flop hands are histograms over
the turn clusters. Compared are the error of the greedy distance, the times of all methods, k-means under both distances,
and the exploitability of strategies that are trained in both abstractions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets
from riverboat.abstraction.clustering import kmeans, potential_aware
from riverboat.abstraction.clustering.potential_aware import GroundDistances, SparseHistograms
from riverboat.abstraction.clustering.transport import exact_distances
from riverboat.cards.features.small_deck_features import hand_indexer, small_deck_features, small_deck_strengths
from riverboat.core.arrays import Array
from riverboat.evaluation.best_response.exact import quality
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import PokerRules
from riverboat.papers.framework import ExperimentReport, format_notes, load_figures
from riverboat.papers.rows import ComparisonRow, finding_row, mean_row, new_row, student_half_width, theorem_row
from riverboat.papers.training import train_blueprint

RULES = PokerRules(blinds=(2, 1), stacks=(60, 60), board=(0, 3, 1, 1), ranks=5, suits=3, name="15 cards")
DECK, DEALS = RULES.deck, (3, 1, 1)
FLOP, TURN, RIVER = 3, 4, 5  # board cards
NUM_TURN_CLUSTERS, NUM_FLOP_BUCKETS, NUM_RIVER_BUCKETS = 100, 30, 20
NUM_PAIRS = {False: 400, True: 4000}  # of a flop hand and a mean, by `full`
NUM_LP_PAIRS = 40
NUM_SEEDS = {False: 4, True: 10}  # pairs of abstractions, by `full`
TRAINING_ITERATIONS = {False: 1500, True: 10_000}  # boards of PCS
PAPER_ERRORS = load_figures("exact-emd")  # mean relative errors: greedy, and by river strengths alone


@dataclass(frozen=True, eq=False)
class FlopHistograms:
    """Flop hands as histograms over turn clusters, and as histograms of river strength."""

    points: SparseHistograms
    weights: Array  # float64 [hands]: deals of each hand
    ground: GroundDistances
    strengths: Array  # float32 [hands, bins]: histograms of river strength
    turn_labels: Array  # int32 [turn hands]


def flop_histograms(seed: int) -> FlopHistograms:
    """Cluster the turn hands of the deck by river strength, and return the flop hands over these clusters."""
    turn = small_deck_features(DECK, DEALS, 2).histogram.astype(np.float32)
    flop = small_deck_features(DECK, DEALS, 1).histogram.astype(np.float32)
    here, after = hand_indexer(DECK, FLOP), hand_indexer(DECK, TURN)
    clusters = kmeans.kmeans(turn, _deal_counts(TURN), NUM_TURN_CLUSTERS, "emd", seed=seed, restarts=3)
    points = potential_aware.successor_histograms(here, after, clusters.labels)
    ground = potential_aware.ground_distances(clusters.centres, "emd")
    return FlopHistograms(points, _deal_counts(FLOP), ground, flop, clusters.labels)


def _deal_counts(board: int) -> Array:
    indexer = hand_indexer(DECK, board)
    return np.asarray(indexer.count(np.arange(indexer.size())), float)


def cluster_flop(hands: FlopHistograms, seed: int, exact: bool) -> kmeans.KMeansClusters:
    """Cluster the flop hands by k-means under the exact or the greedy distance, from the same random numbers."""
    return potential_aware.potential_kmeans(
        hands.points, hands.weights, NUM_FLOP_BUCKETS, hands.ground, seed, restarts=2, exact=exact
    )


def exact_cost(hands: FlopHistograms, clusters: kmeans.KMeansClusters) -> float:
    """Return the mean exact distance of a hand to the mean of its bucket."""
    rows = np.arange(len(hands.weights))
    distances = exact_distances(hands.points, rows, clusters.centres, clusters.labels, hands.ground)
    return float(np.average(distances, weights=hands.weights))


def train_and_measure(hands: FlopHistograms, clusters: kmeans.KMeansClusters, iterations: int, seed: int) -> float:
    """Return the exploitability in the real game, in mbb/g, of a strategy trained with these flop buckets."""
    strengths = small_deck_strengths(DECK, RIVER)
    order = np.argsort(np.argsort(strengths, kind="stable"), kind="stable")
    river_labels = order * NUM_RIVER_BUCKETS // len(strengths)
    streets = [StreetBuckets(hand_indexer(DECK, 0).size())]
    streets += [_street_buckets(labels) for labels in (clusters.labels, hands.turn_labels, river_labels)]
    cards = CardAbstraction(tuple(streets), DEALS, DECK)
    tree = compile_action_tree(RULES, one_size_menu("100%", 1))
    blueprint = train_blueprint((tree, cards), "pcs", iterations, seed=seed)
    return quality(blueprint, threads=1, self_play=False).mbb_per_game


def _street_buckets(labels: Array) -> StreetBuckets:
    return StreetBuckets(int(labels.max()) + 1, labels.astype(np.uint16)[None])


def milliseconds(compute: Callable[[], Array], count: int) -> tuple[Array, float]:
    """Return the result of a computation, and the least CPU time of three runs in milliseconds for each of `count`."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        result = compute()
        seconds.append(time.process_time() - start)
    return result, 1000 * min(seconds) / count


def distance_rows(hands: FlopHistograms, num_pairs: int, seed: int) -> list[ComparisonRow]:
    """Compare greedy distances with exact ones, and all times, for random pairs of a flop hand and a mean of a bucket."""
    rng = np.random.default_rng(seed)
    means = cluster_flop(hands, seed, exact=False).centres
    hand = rng.choice(len(hands.weights), num_pairs, p=hands.weights / hands.weights.sum())
    mean = rng.integers(len(means), size=num_pairs)
    pairs = hands.points, hand, means, mean, hands.ground
    few = hands.points, hand[:NUM_LP_PAIRS], means, mean[:NUM_LP_PAIRS], hands.ground
    exact_distances(*few), potential_aware.greedy_distances(*few)  # compiled before they are timed
    exact, exact_ms = milliseconds(lambda: exact_distances(*pairs), num_pairs)
    greedy, greedy_ms = milliseconds(lambda: potential_aware.greedy_distances(*pairs), num_pairs)
    lp, lp_ms = milliseconds(lambda: exact_distances(*few, method="lp"), NUM_LP_PAIRS)
    # Histograms of river strength are those of the turn clusters' centroids: the mean histogram of the mean.
    places = hands.ground.places.astype(float)
    dense = potential_aware.to_dense(hands.points, len(places))
    by_strength = np.abs(dense[hand] @ places - means[mean] @ places).sum(axis=1)
    apart = exact > 1e-6
    greedy_error = np.abs(greedy - exact)[apart] / exact[apart]
    strength_error = np.abs(by_strength - exact)[apart] / exact[apart]
    support = np.count_nonzero(means[mean], axis=1).mean()
    advantage = greedy_error - strength_error
    half = 1.96 * float(advantage.std(ddof=1)) / len(advantage) ** 0.5
    published = f"published: {PAPER_ERRORS['greedy']} and {PAPER_ERRORS['strength']}"
    return [
        theorem_row("shortest paths less the linear program, largest difference", 0.0,
                    np.abs(exact[:NUM_LP_PAIRS] - lp).max(), rounding=1e-6),
        theorem_row("greedy less exact distance, least", 0.0, float((greedy - exact).min()), ">=", rounding=1e-5),
        mean_row("relative error of the greedy distance, mean", greedy_error),
        mean_row("relative error of river strengths alone, mean", strength_error),
        finding_row("error of the greedy distance less that of river strengths", 0.0, advantage.mean(), "<=", half_width=half,
                    note=published),
        new_row("pairs for which the greedy distance is exact, share", np.mean(greedy_error < 1e-4)),
        new_row("greedy, ms a pair", greedy_ms, note=f"{support:.0f} clusters in a mean"),
        new_row("exact by shortest paths, ms a pair", exact_ms, note=f"{exact_ms / greedy_ms:.0f} times the greedy one"),
        new_row("exact by linear program, ms a pair", lp_ms, note=f"{lp_ms / exact_ms:.0f} times the shortest paths"),
    ]  # fmt: skip


def abstraction_rows(num_seeds: int, iterations: int, seed: int) -> list[ComparisonRow]:
    """Compare k-means under both distances, and the exploitability of strategies trained with both kinds of buckets."""
    costs, exploitability = np.zeros((2, num_seeds)), np.zeros((2, num_seeds))
    agreement = []
    for k in range(num_seeds):
        hands = flop_histograms(seed + k)
        both = [cluster_flop(hands, seed + k, exact) for exact in (False, True)]
        for method, clusters in enumerate(both):
            costs[method, k] = exact_cost(hands, clusters)
            exploitability[method, k] = train_and_measure(hands, clusters, iterations, seed + k)
        agreement.append(_pair_agreement(both[0].labels, both[1].labels, hands.weights))
    rows = []
    for values, name in (
        (costs, "mean exact distance to the bucket's mean"),
        (exploitability, "exploitability, mbb/g"),
    ):
        for method, label in enumerate(("greedy", "exact")):
            half = student_half_width(values[method])
            rows.append(new_row(f"{label} k-means: {name}", values[method].mean(), half_width=half))
        gain = values[0] - values[1]
        rows.append(
            new_row(f"gain of exact k-means: {name}", gain.mean(), half_width=student_half_width(gain), null=0.0)
        )
    rows.append(new_row("pairs of hands that both put together, of those that either does", np.mean(agreement)))
    return rows


def _pair_agreement(first: Array, second: Array, weights: Array) -> float:
    """Return the Jaccard index of two clusterings: pairs that share a cluster in both, of those that do in one."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), weights)
    both = float(np.square(table).sum())
    return both / (float(np.square(table.sum(axis=0)).sum() + np.square(table.sum(axis=1)).sum()) - both)


def run(full: bool, seed: int) -> ExperimentReport:
    """Compare exact and greedy distances by error, time, k-means and exploitability."""
    rows = distance_rows(flop_histograms(seed), NUM_PAIRS[full], seed)
    rows += abstraction_rows(NUM_SEEDS[full], TRAINING_ITERATIONS[full], seed)
    notes = format_notes(
        "exact-emd", clusters=NUM_TURN_CLUSTERS, buckets=NUM_FLOP_BUCKETS, seeds=NUM_SEEDS[full],
        iterations=TRAINING_ITERATIONS[full],
    )  # fmt: skip
    return ExperimentReport(rows, notes)
