"""Exact values and best responses against brute force over points, and against known solutions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.continuous import Brute, half_street

from riverboat.continuous import signals
from riverboat.continuous.best_response import certify
from riverboat.continuous.examples import auction, river, three_way
from riverboat.continuous.game import ContinuousGame, ContinuousTree, DecisionNode, Leaf
from riverboat.continuous.signals import Signals
from riverboat.continuous.strategies import ActionBands, ThresholdProfile


def random_cdf(rng: np.random.Generator, atoms: bool) -> list[tuple[float, float]]:
    inner = np.sort(rng.integers(1, 10, 2)) / 10
    shares = np.sort(rng.random(2))
    points = [(0.0, 0.0), (float(inner[0]), float(shares[0])), (float(inner[1]), float(shares[1])), (1.0, 1.0)]
    if atoms:
        points.insert(1, (points[1][0], float(shares[0] / 2)))
    elif inner[0] == inner[1]:
        del points[2]
    return points


def random_signals(rng: np.random.Generator, kind: str) -> Signals:
    if kind == "discrete":
        chances = rng.dirichlet(np.ones(4), 2)
        return signals.from_values([list(zip((1.0, 2.0, 3.0, 4.0), row, strict=True)) for row in chances])
    if kind == "joint":
        return signals.correlated(
            [0.0, 0.3, 0.5, 1.0], rng.dirichlet(np.ones(9)).reshape(3, 3), tied=bool(rng.integers(2))
        )
    players = 3 if kind == "three" else 2
    return signals.from_cdfs([random_cdf(rng, kind == "atoms") for _ in range(players)])


def random_tree(rng: np.random.Generator, players: int, depth: int, line: str = "") -> ContinuousTree:
    if depth == 0 or (line and rng.random() < 0.25):
        base = tuple(rng.normal(size=players))
        contenders = tuple(rng.permutation(players)[: rng.integers(2, players + 1)].tolist())
        worth = tuple(rng.random(players)) if rng.random() < 0.3 else ()
        return Leaf(base, float(rng.random() * 3), contenders, worth)
    player = int(rng.integers(players))
    moves = [chr(97 + k) for k in range(rng.integers(2, 4))]
    return DecisionNode(player, tuple((m, random_tree(rng, players, depth - 1, line + m)) for m in moves))


def random_profile(rng: np.random.Generator, game: ContinuousGame) -> ThresholdProfile:
    low, high = game.signals.low, game.signals.high
    bands = []
    for situation in game.situations:
        count = int(rng.integers(1, 4))
        moves = tuple(int(m) for m in rng.integers(0, len(situation.moves), count))
        bands.append(ActionBands(moves, tuple(float(c) for c in np.sort(rng.uniform(low, high, count - 1)))))
    return ThresholdProfile(game, tuple(bands))


@pytest.mark.parametrize("kind", ["plain", "atoms", "discrete", "joint"])
@pytest.mark.parametrize("seed", range(3))
def test_values_and_best_responses_of_random_games(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, len(kind)])
    game = ContinuousGame(kind, random_signals(rng, kind), random_tree(rng, 2, 2 + seed % 2))
    profile = random_profile(rng, game)
    found, brute = certify(profile), Brute(profile, 3)
    for player in (0, 1):
        assert found.values[player] == pytest.approx(brute.value(player), abs=1e-12)
        finer = brute.best(player)
        assert found.best_response_values[player] >= finer - 1e-12  # brute force responds at the midpoints only
        assert found.best_response_values[player] == pytest.approx(finer, abs=0.02)


@pytest.mark.parametrize("seed", range(2))
def test_three_players(seed: int) -> None:
    """Two opponents multiply: the value is piecewise cubic, so points only approximate it."""
    rng = np.random.default_rng(seed)
    game = three_way(random_signals(rng, "three"))
    profile = random_profile(rng, game)
    found, brute = certify(profile), Brute(profile, 2)
    for player in range(3):
        assert found.values[player] == pytest.approx(brute.value(player), abs=0.01)
        assert found.best_response_values[player] == pytest.approx(brute.best(player), abs=0.02)
    assert sum(found.values) == pytest.approx(0.0, abs=1e-12)


def test_linear_densities_against_many_constant_ones() -> None:
    tilted = signals.from_densities([[(0.0, 0.2), (1.0, 1.8)], [(0.0, 1.0), (0.4, 2.0), (1.0, 0.0)]])
    edges = np.linspace(0, 1, 401)
    fine = signals.from_cdfs([list(zip(edges, tilted.cdf(p, edges), strict=True)) for p in (0, 1)])
    bands = {"root": ("b x b", (0.13, 0.71)), "b": ("f c", (0.45,))}
    exact, near = (certify(ThresholdProfile.from_words(river(s, street="half"), bands)) for s in (tilted, fine))
    assert exact.values == pytest.approx(near.values, abs=1e-5)
    assert exact.best_response_values == pytest.approx(near.best_response_values, abs=1e-5)
    assert exact.epsilon > 0.01


@pytest.mark.parametrize("pot", [0.5, 1.0, 2.0, 5.0, 20.0])
def test_von_neumann(pot: float) -> None:
    """The known thresholds are an equilibrium, and others are not."""
    a, b, c = half_street(pot)
    game = river(pot=pot, street="half")
    best = certify(ThresholdProfile.from_words(game, {"root": ("b x b", (a, b)), "b": ("f c", (c,))}))
    assert best.epsilon_share < 1e-14
    for player, (da, db, dc) in enumerate([(0.0, 0.0, 0.05), (0.05, 0.0, 0.0)]):
        off = certify(ThresholdProfile.from_words(game, {"root": ("b x b", (a + da, b + db)), "b": ("f c", (c + dc,))}))
        assert off.gains[player] > 1e-4


def test_value_of_von_neumann() -> None:
    """0.1 to the bettor at a pot of 2, by integrating the two triangles."""
    found = certify(
        ThresholdProfile.from_words(river(street="half"), {"root": ("b x b", (0.1, 0.7)), "b": ("f c", (0.4,))})
    )
    assert found.values == pytest.approx((0.1, -0.1), abs=1e-14)


def test_truthful_bids_in_the_second_price_auction() -> None:
    """Bids at the middles of tenths: the bid nearest to the own value is an equilibrium, and lower bids are not."""
    bids = tuple((2 * k + 1) / 20 for k in range(10))
    game = auction(bids=bids, price="second")
    words = " ".join(f"{b:g}" for b in bids)
    cuts = tuple(k / 10 for k in range(1, 10))
    honest = certify(ThresholdProfile.from_words(game, {f"bidder {p}": (words, cuts) for p in (0, 1)}))
    assert honest.epsilon < 1e-15
    shy = tuple(min(c + 0.2, 1.0) for c in cuts)
    assert (
        certify(ThresholdProfile.from_words(game, {"bidder 0": (words, shy), "bidder 1": (words, shy)})).epsilon > 1e-3
    )


def test_check_down_is_half_the_pot() -> None:
    rng = np.random.default_rng(0)
    for kind in ("plain", "atoms", "discrete"):
        cdf = random_signals(rng, kind)
        same = Signals(cdf.edges, np.stack([cdf.mass[0]] * 2), cdf.tied, cdf.values, np.stack([cdf.tilt[0]] * 2))
        found = certify(
            ThresholdProfile.from_words(
                river(same, pot=3), {"root": ("x", ()), "x": ("x", ()), "b": ("f", ()), "x-b": ("f", ())}
            )
        )
        assert found.values == pytest.approx((0.0, 0.0), abs=1e-12)
