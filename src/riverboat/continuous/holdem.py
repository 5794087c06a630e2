"""Rivers of hold'em as continuous games: ranges become distributions of strength, thresholds become play of hands again.

A hand's signal is its rank among all hands on the board. The distribution of a player's signal counts each hand as often as
it is dealt beside the other's range; after that the two are taken as independent, which card removal is not. Hands of
one rank are an atom. Thresholds are found for distribution functions through these points; one that falls inside an
atom splits its hands: they mix. What that costs is not argued but measured, in the river as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.cards.card_removal import without_shared
from riverboat.cards.ranking import describe, hand_strengths
from riverboat.continuous import _kernels as kernels
from riverboat.continuous.best_response import Certificate, certify
from riverboat.continuous.game import ROOT, ContinuousGame, Decision, Leaf, Tree
from riverboat.continuous.profile import Profile
from riverboat.continuous.qualitative_model import Model
from riverboat.continuous.signals import Signals, uniform
from riverboat.continuous.solve import Answer, solve
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.spots.spot import Spot
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

_THIN = 1e-9  # the width of an atom that nobody holds


@dataclass(frozen=True, eq=False)
class Ranks:
    """The ranks of the hands on a board, and how often each player has each."""

    group: Array  # int [1326]: the number of the hand's rank, from weak to strong; -1 for hands that nobody holds
    signals: Signals  # one atom for each rank

    @staticmethod
    def make(board: tuple[int, ...], weights: tuple[Array, Array]) -> Ranks:
        """From what each player may hold. weights: float64 [1326] each"""
        if len(board) != 5:
            raise InputError(f"board of {len(board)} cards: a river has five")
        strength = hand_strengths(board)
        held = (weights[0] > 0) | (weights[1] > 0)
        ranks, numbers = np.unique(strength[held], return_inverse=True)
        group = np.full(len(strength), -1)
        group[held] = numbers
        dealt = [w * without_shared(other) for w, other in (weights, weights[::-1])]
        if dealt[0].sum() <= 0:
            raise InputError("every hand of one player shares a card with every hand of the other: no deal is possible")
        mass = np.stack([np.bincount(numbers, d[held], len(ranks)) / d.sum() for d in dealt])
        edges = np.concatenate([[0.0], np.cumsum(np.maximum(mass.mean(axis=0), _THIN))])
        values = np.stack([np.concatenate([ranks[:1], ranks]), np.concatenate([ranks, ranks[-1:]])], axis=1).astype(
            float
        )
        return Ranks(group, Signals(edges, mass, np.ones(len(ranks), bool), values, np.zeros_like(mass)))


@dataclass(frozen=True, eq=False)
class Betting:
    """The betting of a river as the tree of a continuous game, and where its situations are in the spot."""

    tree: Tree
    pot: float
    nodes: dict[str, int]  # by situation: the node of the betting tree

    @staticmethod
    def of(spot: Spot) -> Betting:
        """Moves lose their chips where that leaves them apart: `b` for `b120`."""
        if len(spot.board) != 5:
            raise InputError(f"{spot.name}: {len(spot.board)} cards lie on the board: a river has five")
        betting = spot.betting
        nodes: dict[str, int] = {}

        def visit(node: int, line: str) -> Tree:
            if betting.actor[node] < 0:
                return _leaf(betting, node)
            nodes[line or ROOT] = node
            moves = betting.moves(node)
            short = [move[:1] for move in moves]
            labels = short if len(set(short)) == len(short) else list(moves)
            below = zip(labels, betting.children(node), strict=True)
            return Decision(
                int(betting.actor[node]),
                tuple((label, visit(child, f"{line}-{label}" if line else label)) for label, child in below),
            )

        return Betting(visit(0, ""), float(spot.pot), nodes)

    def game(self, signals: Signals, name: str = "river") -> ContinuousGame:
        """The betting with signals."""
        return ContinuousGame(name, signals, self.tree, self.pot)


def _leaf(betting: BettingTree, node: int) -> Leaf:
    win, tie, lose = betting.pay[node]
    if not betting.showdown[node]:
        return Leaf((float(win[0]), float(win[1])))
    prize = float(win[0] - lose[0])
    if abs(float(lose[1] - win[1]) - prize) > 1e-9 or abs(float(tie[0]) - float(lose[0]) - prize / 2) > 1e-9:
        raise InputError("a showdown that does not pay one prize, halved by ties")
    return Leaf((float(lose[0]), float(win[1])), prize, (0, 1))


@dataclass(frozen=True, eq=False)
class Thresholds:
    """An answer: which model, its thresholds on the axis of the river's ranks, and how good it is."""

    betting: Betting
    ranks: Ranks
    model: Model
    cuts: Array  # float64 [thresholds]
    frequencies: Array  # float64 [situations, moves, ranks]
    left: float  # of the equations of indifference, as a share of the pot
    epsilon: float  # with independent ranks, ties included: what a player could gain, as a share of the pot

    @cached_property
    def profile(self) -> Profile:
        """The thresholds as bands."""
        return self.model.profile(self.betting.game(self.ranks.signals), self.cuts)

    @cached_property
    def certificate(self) -> Certificate:
        """The same by polynomials."""
        return certify(self.profile)


class RiverPlayer:
    """Plays rivers of one betting tree by thresholds.

    Every model is followed from its thresholds for equal distributions to those of the river, in stages, by Newton's method,
    and judged by best responses of the ranks. All of it is compiled.
    """

    def __init__(self, betting: Betting, models: Sequence[tuple[Model, Array]], stages: int = 10) -> None:
        """`models` come with their thresholds for uniform signals."""
        self.betting, self.stages = betting, stages
        self.models = tuple(model for model, _ in models)
        self.shape = _shape(betting.game(uniform()))
        self._starts = [np.asarray(start, float) for _, start in models]
        self._bands = [_bands(model) for model in self.models]

    def find(self, ranks: Ranks, number: int, stages: int | None = None) -> Thresholds:
        """Thresholds of one model."""
        stages = stages or self.stages
        signals, bands, model = ranks.signals, self._bands[number], self.models[number]
        edges, count = signals.edges, len(model.thresholds)
        both = signals.below.mean(axis=0)
        cuts = np.interp(self._starts[number], both, edges)
        order = np.tile(np.arange(count), (2, 1))
        act = np.zeros((len(model.bands), count + 1), np.int64)
        at, row, system, best = (
            np.zeros((4, count + 2)),
            np.zeros(count + 1),
            np.zeros((count, count + 1)),
            np.zeros(count),
        )
        room = kernels.NewtonRoom(order, act, at, row, system, best)
        left = 0.0
        for stage in range(1, stages + 1):
            below = both + (signals.below - both) * (stage / stages)
            steps = 40 if stage == stages else 6
            left = kernels.newton(self.shape, bands, edges, below, steps, cuts, room)
        strategy = np.zeros((len(self.shape.player), int(self.shape.width.max()), signals.mass.shape[1]))
        kernels.fill(self.shape, bands, edges, cuts, strategy)
        worth = np.zeros((len(strategy) + 1, *strategy.shape[1:]))
        values = np.zeros((2, 2))
        kernels.gains(self.shape, signals.mass, strategy, worth, values)
        epsilon = float((values[:, 1] - values[:, 0]).max()) / self.betting.pot
        return Thresholds(self.betting, ranks, model, cuts, strategy, left / self.betting.pot, epsilon)

    def play(self, ranks: Ranks, enough: float = 1e-3) -> Thresholds:
        """The first model that is good enough, else the best."""
        best: Thresholds | None = None
        for number in range(len(self.models)):
            thresholds = self.find(ranks, number)
            if best is None or thresholds.epsilon < best.epsilon:
                best = thresholds
            if thresholds.epsilon <= enough:
                break
        assert best is not None
        return best

    def bucketed(self, ranks: Ranks, iterations: int) -> Array:
        """What CFR+ on the ranks plays, each rank a bucket of its own. float64 [situations, moves, ranks]"""
        mass = ranks.signals.mass
        size = (len(self.shape.player), int(self.shape.width.max()), mass.shape[1])
        regret, sums, strategy = np.zeros(size), np.zeros(size), np.zeros(size)
        worth = np.zeros((size[0] + 1, *size[1:]))
        kernels.regret_matching(self.shape, mass, iterations, regret, sums, strategy, worth)
        total = sums.sum(axis=1, keepdims=True)
        even = (np.arange(size[1])[None, :, None] < self.shape.width[:, None, None]) / self.shape.width[:, None, None]
        return np.where(total > 0, sums / np.where(total > 0, total, 1.0), even)


@dataclass(frozen=True, eq=False)
class RiverAnswer:
    """A spot by thresholds: the answer of its continuous game, and what it plays in the river as it is."""

    spot: Spot
    ranks: Ranks
    answer: Answer
    profile: Profile  # hands of one rank are equal
    played: Solution

    @cached_property
    def certificate(self) -> Certificate:
        """With independent ranks, ties included."""
        return certify(self.profile)

    @cached_property
    def loss(self) -> float:
        """Exploitability in the river as it is, card removal and all, in % of the pot."""
        best = sum(self.played.earnings(player, respond=True) for player in (0, 1))
        values = sum(self.played.earnings(player) for player in (0, 1))
        return 100 * (best - values) / 2 / self.spot.pot

    def hands(self) -> dict[str, list[str]]:
        """The rank at each threshold in words, by situation, and how much of it lies below where it is split."""
        signals, names = self.ranks.signals, {}
        for situation, bands in zip(self.profile.game.situations, self.profile.bands, strict=True):
            words = []
            for cut in bands.cuts:
                k = int(signals.segment(np.asarray(cut)))
                part = (cut - signals.edges[k]) / (signals.edges[k + 1] - signals.edges[k])
                split = f" ({100 * part:.0f} % below)" if 0.005 < part < 0.995 else ""
                words.append(describe(int(signals.values[k, 1])) + split)
            names[situation.name] = words
        return names


def solve_river(spot: Spot, steps: int = 60) -> RiverAnswer:
    """A river by models that are proposed for its distributions."""
    betting = Betting.of(spot)
    ranks = Ranks.make(spot.board, spot.weights)
    answer = solve(betting.game(ranks.signals.untied(), spot.name), steps)[0]
    assert answer.profile is not None
    profile = answer.model.profile(betting.game(ranks.signals, spot.name), answer.profile.cuts)
    shape = _shape(profile.game)
    frequencies = np.zeros((len(shape.player), int(shape.width.max()), ranks.signals.mass.shape[1]))
    kernels.fill(shape, _bands(answer.model), ranks.signals.edges, profile.cuts, frequencies)
    return RiverAnswer(spot, ranks, answer, profile, solution(BoardTree(spot), ranks, betting, frequencies))


def _shape(game: ContinuousGame) -> kernels.Shape:
    situations, endings = game.situations, game.endings
    longest = max(len(c) for e in endings for c in e.choices)
    choice = np.full((len(endings), 2, longest, 2), -1, np.int64)
    for z, ending in enumerate(endings):
        for p, choices in enumerate(ending.choices):
            for n, made in enumerate(choices):
                choice[z, p, n] = made
    return kernels.Shape(
        np.array([s.player for s in situations], np.int64),
        np.array([s.parent or (-1, -1) for s in situations], np.int64),
        np.array([len(s.moves) for s in situations], np.int64),
        np.array([[len(c) for c in e.choices] for e in endings], np.int64),
        choice,
        np.array([e.leaf.base for e in endings]),
        np.array([e.leaf.prize for e in endings]),
    )


def _bands(model: Model) -> kernels.Bands:
    return kernels.Bands(
        np.array([m for moves in model.bands for m in moves], np.int64),
        np.concatenate([[0], np.cumsum([len(moves) for moves in model.bands])]).astype(np.int64),
        np.array([s for s, _ in model.thresholds], np.int64),
        np.array([model.bands[s][k] for s, k in model.thresholds], np.int64),
        np.array([model.bands[s][k + 1] for s, k in model.thresholds], np.int64),
    )


def solution(tree: BoardTree, ranks: Ranks, betting: Betting, frequencies: Array) -> Solution:
    """What ranks play, hand by hand, as a solution of the spot: its best responses are exact.

    frequencies: float64 [situations, moves, ranks]
    """
    rows = dict(zip(betting.nodes, frequencies[:, :, ranks.group], strict=True))
    return hands_solution(tree, betting, rows, {"method": "thresholds"})


def hands_solution(
    tree: BoardTree, betting: Betting, rows: Mapping[str, Array], provenance: Mapping[str, Any] | None = None
) -> Solution:
    """What hands play in each situation as a solution of the spot. rows: float64 [moves, 1326] each"""
    table = np.zeros(tree.table, np.float64)
    place = {int(node): n for n, node in enumerate(tree.forest.node)}
    for name, node in betting.nodes.items():
        at = place[node]
        who, width = int(tree.forest.actor[at]), int(tree.forest.width[at])
        hands = tree.reps(0, who)
        played = rows[name][:width, hands]
        begin = int(tree.boards.base[0, who]) + int(tree.forest.slot[at]) * len(hands)
        table[begin : begin + played.size] = played.ravel()
    return Solution(tree, table, provenance)
