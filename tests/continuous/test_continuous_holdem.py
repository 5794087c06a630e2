"""Hold'em rivers: ranks, compiled kernels against polynomials and brute force, and threshold strategies of hands."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import hand_strengths
from riverboat.continuous import _kernels as kernels
from riverboat.continuous.best_response import certify
from riverboat.continuous.holdem import (
    RankDistribution,
    RiverBetting,
    RiverThresholdPlayer,
    _band_arrays,
    _game_arrays,
    rank_solution,
)
from riverboat.continuous.newton import ThresholdFinder
from riverboat.continuous.signals import Signals, uniform
from riverboat.continuous.solver import solve_model
from riverboat.continuous.strategies import QualitativeModel, ThresholdProfile
from riverboat.core.errors import InputError
from riverboat.games.spots.spot import Spot
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

BANDS = {"root": "b x b x", "x": "b x b", "x-b": "r f c r", "x-b-r": "f c", "b": "r f c r", "b-r": "f c"}


def river(oop: str = "22+,A2s+,KTs+,QTs+,J9s+", ip: str = "55+,A8s+,AJo+,K9s+,QJs,T9s", **more: object) -> Spot:
    options = {"board": "Td9d6hQc2s", "pot": 400, "stack": 4000, "bets": "25%", "raises": "2x", "raise_cap": 1}
    return Spot.make(oop=oop, ip=ip, **(options | more))  # type: ignore[arg-type]


def frequencies(profile: ThresholdProfile) -> np.ndarray:
    shape, bands = _game_arrays(profile.game), _band_arrays(QualitativeModel("", tuple(b.moves for b in profile.bands)))
    out = np.zeros((len(shape.player), int(shape.width.max()), len(profile.game.signals.edges) - 1))
    kernels.fill_frequencies(shape, bands, profile.game.signals.edges, profile.cuts, out)
    return out


@pytest.mark.parametrize("seed", range(5))
def test_kernels_agree_with_polynomials(seed: int) -> None:
    """Ranks are atoms: best responses of ranks and over the continuum agree for all thresholds."""
    rng = np.random.default_rng(seed)
    betting = RiverBetting.from_spot(river())
    count = int(rng.integers(3, 12))
    mass = rng.dirichlet(np.ones(count), 2)
    edges = np.concatenate([[0.0], np.cumsum(mass.mean(axis=0))])
    values = np.stack([np.arange(count + 1.0)] * 2, axis=1)
    game = betting.game(Signals(edges, mass, np.ones(count, bool), values, np.zeros_like(mass)))
    model = QualitativeModel.from_words(game, BANDS)
    cuts = np.concatenate([np.sort(rng.uniform(0, 1, len(moves) - 1)) for moves in model.bands])
    profile = model.profile(game, cuts)
    exact, shape, found = certify(profile), _game_arrays(game), np.zeros((2, 2))
    played = frequencies(profile)
    assert played.sum(axis=1) == pytest.approx(1.0)
    kernels.value_and_best_response(shape, mass, played, np.zeros((len(shape.player) + 1, *played.shape[1:])), found)
    assert found[:, 0] == pytest.approx(exact.values, abs=1e-9)
    assert found[:, 1] == pytest.approx(exact.best_response_values, abs=1e-9)


@pytest.mark.slow
def test_compiled_newton_agrees_with_linear_forms() -> None:
    """The compiled and the plain method find the same thresholds from the same start."""
    spot = river()
    betting, ranks = RiverBetting.from_spot(spot), RankDistribution.from_ranges(spot.board, spot.weights)
    solution = solve_model(betting.game(uniform()), QualitativeModel.from_words(betting.game(uniform()), BANDS))
    assert solution.profile is not None
    player = RiverThresholdPlayer(betting, [(solution.model, solution.profile.cuts)])
    fast = player.find_thresholds(ranks, 0)
    game = betting.game(ranks.signals.without_ties())
    slow, residual = ThresholdFinder(game, solution.model).find(game, fast.cuts + 1e-6)
    assert fast.residual < 1e-9
    assert residual < 1e-9 * spot.pot
    assert slow == pytest.approx(fast.cuts, abs=1e-9)
    certificate = certify(fast.model.profile(betting.game(ranks.signals), fast.cuts))
    assert fast.epsilon == pytest.approx(certificate.epsilon_share, abs=1e-9)
    assert fast.epsilon < 0.01
    assert player.best_thresholds(ranks).epsilon == fast.epsilon


def test_cfr_on_ranks_converges() -> None:
    spot = river()
    betting, ranks = RiverBetting.from_spot(spot), RankDistribution.from_ranges(spot.board, spot.weights)
    player = RiverThresholdPlayer(betting, [])
    errors = []
    for iterations in (10, 100, 2000):
        played, found = player.cfr_plus_frequencies(ranks, iterations), np.zeros((2, 2))
        workspace = np.zeros((len(played) + 1, *played.shape[1:]))
        kernels.value_and_best_response(player.game_arrays, ranks.signals.mass, played, workspace, found)
        assert found[:, 0].sum() == pytest.approx(spot.pot)
        errors.append(float((found[:, 1] - found[:, 0]).sum()) / 2 / spot.pot)
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4


def test_ranks() -> None:
    spot = river(oop="AA,KK", ip="QQ,JJ,TT")
    ranks = RankDistribution.from_ranges(spot.board, spot.weights)
    strength = hand_strengths(spot.board)
    first = np.flatnonzero(spot.weights[0] > 0)
    for a, b in product(first, first):
        assert (ranks.hand_rank[a] < ranks.hand_rank[b]) == (strength[a] < strength[b])
    assert ranks.signals.mass.sum(axis=1) == pytest.approx([1.0, 1.0])
    aces = ranks.hand_rank[Range.parse("AsAh").weights > 0][0]
    kings = ranks.hand_rank[Range.parse("KsKh").weights > 0][0]
    assert ranks.signals.mass[0, aces] == pytest.approx(0.5)
    assert aces > kings
    with pytest.raises(InputError, match=r"\b4\b.*cards"):
        RankDistribution.from_ranges(spot.board[:4], spot.weights)


def test_hands_play_like_their_ranks() -> None:
    """The value of the solution is the sum over all pairs of hands."""
    spot = river(oop="AA,KK,T8s,54s", ip="QQ,JJ,A9s,53s")
    betting, ranks, tree = (
        RiverBetting.from_spot(spot),
        RankDistribution.from_ranges(spot.board, spot.weights),
        BoardTree(spot),
    )
    rng = np.random.default_rng(0)
    game = betting.game(ranks.signals)
    shape = _game_arrays(game)
    played = np.zeros((len(shape.player), int(shape.width.max()), len(ranks.signals.edges) - 1))
    for s, width in enumerate(shape.width):
        played[s, :width] = rng.dirichlet(np.ones(width), played.shape[2]).T
    found = rank_solution(tree, ranks, betting, played)
    strength = hand_strengths(spot.board)
    total = np.zeros(2)
    weight = 0.0
    for a, b in product(*(np.flatnonzero(w > 0) for w in spot.weights)):
        if set(HAND_CARDS[a]) & set(HAND_CARDS[b]):
            continue
        weight += 1.0
        for path in game.leaf_paths:
            probability = 1.0
            for hand, choices in zip((a, b), path.choices, strict=True):
                for s, move in choices:
                    probability *= played[s, move, ranks.hand_rank[hand]]
            payoffs = np.array(path.leaf.base)
            if path.leaf.prize:
                won = 0.5 if strength[a] == strength[b] else float(strength[a] > strength[b])
                payoffs += path.leaf.prize * np.array([won, 1 - won])
            total += probability * payoffs
    assert isinstance(found, Solution)
    assert [found.expected_value(0), found.expected_value(1)] == pytest.approx(total / weight, rel=1e-9)


def test_betting_of_a_spot() -> None:
    betting = RiverBetting.from_spot(river())
    assert list(betting.nodes) == ["root", "x", "x-b", "x-b-r", "b", "b-r"]
    assert betting.game(uniform()).constant_sum == 400
    sizes = RiverBetting.from_spot(river(bets="25%, 75%", raises=""))
    assert "b100" in sizes.nodes
    with pytest.raises(InputError, match=r"\b4\b.*cards"):
        RiverBetting.from_spot(river(board="Td9d6hQc", bets={"turn": {"bet": "50%"}}, raises=None))
