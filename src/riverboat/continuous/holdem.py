"""Hold'em rivers as continuous games: ranges become distributions of ranks, and thresholds become strategies of hands.

The signal of a hand is its rank among all hands on the board. Each hand of a player is weighted by the number of
compatible hands in the opponent's range; otherwise the two signals are independent, an approximation that ignores card
removal. Hands of one rank are an atom. Thresholds belong to distribution functions through these points. A threshold
inside an atom makes its hands mix. `RiverSolution.exploitability` measures the cost of the approximation in the exact
river.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.cards.ranges import compatible_weights
from riverboat.cards.ranking import describe, hand_strengths
from riverboat.continuous import _kernels as kernels
from riverboat.continuous.best_response import EquilibriumCertificate, certify
from riverboat.continuous.game import ROOT, ContinuousGame, ContinuousTree, DecisionNode, Leaf
from riverboat.continuous.signals import Signals, from_atoms, uniform
from riverboat.continuous.solver import ModelSolution, solve
from riverboat.continuous.strategies import QualitativeModel, ThresholdProfile
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.errors import InputError
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.spots.spot import Spot
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

GOOD_EPSILON = 1e-3  # share of the pot at which no further models are tried


@dataclass(frozen=True, eq=False)
class RankDistribution:
    """The ranks of the hands on a board, with each player's probability of each rank."""

    hand_rank: Array  # int [1326]: index of the hand's rank, from weak to strong; -1 for hands outside both ranges
    signals: Signals  # one atom for each rank

    @staticmethod
    def from_ranges(board: tuple[int, ...], weights: tuple[Array, Array]) -> RankDistribution:
        """Build the distribution from the players' ranges. weights: float64 [1326] each"""
        if len(board) != 5:
            raise InputError(f"board of {len(board)} cards: a river has five")
        strength = hand_strengths(board)
        in_range = (weights[0] > 0) | (weights[1] > 0)
        ranks, numbers = np.unique(strength[in_range], return_inverse=True)
        group = np.full(len(strength), -1)
        group[in_range] = numbers
        dealt = [w * compatible_weights(other) for w, other in (weights, weights[::-1])]
        if dealt[0].sum() <= 0:
            raise InputError("every hand of one player shares a card with every hand of the other: no deal is possible")
        mass = np.stack([np.bincount(numbers, d[in_range], len(ranks)) / d.sum() for d in dealt])
        return RankDistribution(group, from_atoms(ranks.astype(float), mass))


@dataclass(frozen=True, eq=False)
class RiverBetting:
    """The betting of a river as the tree of a continuous game, with the betting node of each situation."""

    tree: ContinuousTree
    pot: float
    nodes: dict[str, int]  # by name of the situation: node of the betting tree

    @staticmethod
    def from_spot(spot: Spot) -> RiverBetting:
        """Build the tree of a spot; labels drop the chips where they stay unique: `b` for `b120`."""
        if len(spot.board) != 5:
            raise InputError(f"{spot.name}: {len(spot.board)} board cards: a river has five")
        betting = spot.betting
        nodes: dict[str, int] = {}

        def visit(node: int, line: str) -> ContinuousTree:
            if betting.actor[node] < 0:
                return _make_leaf(betting, node)
            nodes[line or ROOT] = node
            actions = betting.actions(node)
            short = [action[:1] for action in actions]
            labels = short if len(set(short)) == len(short) else list(actions)
            below = zip(labels, betting.children(node), strict=True)
            moves = tuple((label, visit(child, f"{line}-{label}" if line else label)) for label, child in below)
            return DecisionNode(int(betting.actor[node]), moves)

        return RiverBetting(visit(0, ""), float(spot.pot), nodes)

    def game(self, signals: Signals, name: str = "river") -> ContinuousGame:
        """Return the continuous game with these signals."""
        return ContinuousGame(name, signals, self.tree, self.pot)


def _make_leaf(betting: BettingTree, node: int) -> Leaf:
    win, tie, lose = betting.payoffs[node]
    if not betting.showdown[node]:
        return Leaf((float(win[0]), float(win[1])))
    prize = float(win[0] - lose[0])
    if abs(float(lose[1] - win[1]) - prize) > 1e-9 or abs(float(tie[0]) - float(lose[0]) - prize / 2) > 1e-9:
        raise InputError("a showdown must pay one prize, split by ties")
    return Leaf((float(lose[0]), float(win[1])), prize, (0, 1))


@dataclass(frozen=True, eq=False)
class RiverThresholds:
    """A threshold solution of a river: its model, thresholds on the axis of ranks, and quality."""

    model: QualitativeModel
    cuts: Array  # float64 [thresholds]
    frequencies: Array  # float64 [situations, moves, ranks]
    residual: float  # largest residual of the indifference equations, as a share of the pot
    epsilon: float  # largest gain by deviating, with independent ranks and ties, as a share of the pot


class RiverThresholdPlayer:
    """Threshold strategies for all rivers of one betting tree.

    For every model, Newton's method follows the thresholds in stages from equal distributions to those of the river.
    Best responses of the ranks select the model. All loops are compiled.
    """

    def __init__(self, betting: RiverBetting, models: Sequence[tuple[QualitativeModel, Array]]) -> None:
        """Prepare models; each comes with its thresholds for uniform signals."""
        self.betting = betting
        self.models = tuple(model for model, _ in models)
        self.game_arrays = _game_arrays(betting.game(uniform()))
        self._starts = [np.asarray(start, float) for _, start in models]
        self._bands = [_band_arrays(model) for model in self.models]

    def find_thresholds(self, ranks: RankDistribution, model_index: int, stages: int = 10) -> RiverThresholds:
        """Find the thresholds of one model, followed from equal distributions to the river's in `stages` stages."""
        signals, bands, model = ranks.signals, self._bands[model_index], self.models[model_index]
        edges, count = signals.edges, len(model.thresholds)
        mean_cdf = signals.cdf_at_edges.mean(axis=0)
        cuts = np.interp(self._starts[model_index], mean_cdf, edges)
        order = np.tile(np.arange(count), (2, 1))
        act = np.zeros((len(model.bands), count + 1), np.int64)
        shapes = (4, count + 2), count + 1, (count, count + 1), count
        workspace = kernels.NewtonWorkspace(order, act, *(np.zeros(shape) for shape in shapes))
        residual = 0.0
        for stage in range(1, stages + 1):
            below = mean_cdf + (signals.cdf_at_edges - mean_cdf) * (stage / stages)
            steps = 40 if stage == stages else 6
            residual = kernels.newton(self.game_arrays, bands, edges, below, steps, cuts, workspace)
        strategy = _frequencies(self.game_arrays, bands, edges, cuts)
        action_values = np.zeros((len(strategy) + 1, *strategy.shape[1:]))
        values = np.zeros((2, 2))
        kernels.value_and_best_response(self.game_arrays, signals.mass, strategy, action_values, values)
        epsilon = float((values[:, 1] - values[:, 0]).max()) / self.betting.pot
        return RiverThresholds(model, cuts, strategy, residual / self.betting.pot, epsilon)

    def best_thresholds(self, ranks: RankDistribution) -> RiverThresholds:
        """Return the thresholds of the first model with ε at most `GOOD_EPSILON`, else those with the smallest ε."""
        found: list[RiverThresholds] = []
        for index in range(len(self.models)):
            found.append(self.find_thresholds(ranks, index))
            if found[-1].epsilon <= GOOD_EPSILON:
                break
        return min(found, key=lambda thresholds: thresholds.epsilon)

    def cfr_plus_frequencies(self, ranks: RankDistribution, iterations: int) -> Array:
        """Run CFR+ with each rank as its own bucket and return its average strategy.

        float64 [situations, moves, ranks]
        """
        mass = ranks.signals.mass
        size = (len(self.game_arrays.player), int(self.game_arrays.width.max()), mass.shape[1])
        regret, sums, strategy = (np.zeros(size) for _ in range(3))
        action_values = np.zeros((size[0] + 1, *size[1:]))
        kernels.cfr_plus(self.game_arrays, mass, iterations, regret, sums, strategy, action_values)
        width = self.game_arrays.width[:, None, None]
        uniform_strategy = (np.arange(size[1])[None, :, None] < width) / width
        return safe_divide(sums, sums.sum(axis=1, keepdims=True), uniform_strategy)


@dataclass(frozen=True, eq=False)
class RiverSolution:
    """A spot solved by thresholds: the solution of its continuous game, and the strategy of its hands."""

    spot: Spot
    ranks: RankDistribution
    model_solution: ModelSolution
    profile: ThresholdProfile  # hands of one rank tie
    solution: Solution

    @cached_property
    def certificate(self) -> EquilibriumCertificate:
        """Certificate of the profile with independent ranks, ties included."""
        return certify(self.profile)

    @cached_property
    def exploitability(self) -> float:
        """Exploitability in the exact river with card removal, in % of the pot."""
        best = sum(self.solution.expected_value(player, respond=True) for player in (0, 1))
        values = sum(self.solution.expected_value(player) for player in (0, 1))
        return 100 * (best - values) / 2 / self.spot.pot

    def threshold_hands(self) -> dict[str, list[str]]:
        """Describe the rank at each threshold, by situation, with the share of a split rank below it."""
        signals = self.ranks.signals
        names: dict[str, list[str]] = {}
        for situation, bands in zip(self.profile.game.situations, self.profile.bands, strict=True):
            names[situation.name] = []
            for cut in bands.cuts:
                k, part = signals.share_of_segment(np.asarray(cut))
                split = f" ({100 * part:.0f} % below)" if 0.005 < part < 0.995 else ""
                names[situation.name].append(describe(int(signals.values[k, 1])) + split)
        return names


def solve_river(spot: Spot, steps: int = 60) -> RiverSolution:
    """Solve a river spot by thresholds, with models proposed from its rank distributions in `steps` steps."""
    betting = RiverBetting.from_spot(spot)
    ranks = RankDistribution.from_ranges(spot.board, spot.weights)
    best = solve(betting.game(ranks.signals.without_ties(), spot.name), steps)[0]
    profile = best.model.profile(betting.game(ranks.signals, spot.name), best.profile.cuts)
    arrays, bands = _game_arrays(profile.game), _band_arrays(best.model)
    frequencies = _frequencies(arrays, bands, ranks.signals.edges, profile.cuts)
    return RiverSolution(spot, ranks, best, profile, rank_solution(BoardTree(spot), ranks, betting, frequencies))


def _game_arrays(game: ContinuousGame) -> kernels.ContinuousGameArrays:
    situations, paths = game.situations, game.leaf_paths
    longest = max(len(c) for e in paths for c in e.choices)
    choice = [[[*c, *[(-1, -1)] * (longest - len(c))] for c in e.choices] for e in paths]
    return kernels.ContinuousGameArrays(
        np.array([s.player for s in situations], np.int64),
        np.array([s.parent or (-1, -1) for s in situations], np.int64),
        np.array([len(s.moves) for s in situations], np.int64),
        np.array([[len(c) for c in e.choices] for e in paths], np.int64),
        np.array(choice, np.int64),
        np.array([e.leaf.base for e in paths]),
        np.array([e.leaf.prize for e in paths]),
    )


def _frequencies(game: kernels.ContinuousGameArrays, bands: kernels.BandArrays, edges: Array, cuts: Array) -> Array:
    """Return the frequencies of actions for each rank. float64 [situations, moves, ranks]"""
    frequencies = np.zeros((len(game.player), int(game.width.max()), len(edges) - 1))
    kernels.fill_frequencies(game, bands, edges, cuts, frequencies)
    return frequencies


def _band_arrays(model: QualitativeModel) -> kernels.BandArrays:
    return kernels.BandArrays(
        np.array([m for moves in model.bands for m in moves], np.int64),
        np.concatenate([[0], np.cumsum([len(moves) for moves in model.bands])]).astype(np.int64),
        np.array([s for s, _ in model.thresholds], np.int64),
        np.array([model.bands[s][k] for s, k in model.thresholds], np.int64),
        np.array([model.bands[s][k + 1] for s, k in model.thresholds], np.int64),
    )


def rank_solution(tree: BoardTree, ranks: RankDistribution, betting: RiverBetting, frequencies: Array) -> Solution:
    """Convert frequencies of ranks to a solution of the spot, whose best responses are exact.

    frequencies: float64 [situations, moves, ranks]
    """
    rows = dict(zip(betting.nodes, frequencies[:, :, ranks.hand_rank], strict=True))
    return hand_solution(tree, betting, rows, {"method": "thresholds"})


def hand_solution(
    tree: BoardTree, betting: RiverBetting, rows: Mapping[str, Array], provenance: Mapping[str, Any] | None = None
) -> Solution:
    """Convert action frequencies of hands, by situation, to a solution of the spot. rows: float64 [moves, 1326] each"""
    table = np.zeros(tree.table_size, np.float64)
    position = {int(node): n for n, node in enumerate(tree.forest.node)}
    for name, node in betting.nodes.items():
        row = position[node]
        player, width = int(tree.forest.actor[row]), int(tree.forest.width[row])
        hands = tree.representatives(0, player)
        frequencies = rows[name][:width, hands]
        begin = int(tree.boards.base[0, player]) + int(tree.forest.slot[row]) * len(hands)
        table[begin : begin + frequencies.size] = frequencies.ravel()
    return Solution(tree, table, provenance)
