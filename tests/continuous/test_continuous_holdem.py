"""Rivers of hold'em: ranks, compiled loops against polynomials and brute force, thresholds played by hands."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import hand_strengths
from riverboat.continuous import _kernels as kernels
from riverboat.continuous.best_response import certify
from riverboat.continuous.holdem import Betting, Ranks, RiverPlayer, _bands, _shape, solution
from riverboat.continuous.newton import Finder
from riverboat.continuous.profile import Profile
from riverboat.continuous.qualitative_model import Model
from riverboat.continuous.signals import Signals, uniform
from riverboat.continuous.solve import solve_model
from riverboat.core.errors import InputError
from riverboat.games.spots.spot import Spot
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

BANDS = {"root": "b x b x", "x": "b x b", "x-b": "r f c r", "x-b-r": "f c", "b": "r f c r", "b-r": "f c"}


def river(oop: str = "22+,A2s+,KTs+,QTs+,J9s+", ip: str = "55+,A8s+,AJo+,K9s+,QJs,T9s", **more: object) -> Spot:
    options = {"board": "Td9d6hQc2s", "pot": 400, "stack": 4000, "bets": "25%", "raises": "2x", "raise_cap": 1}
    return Spot.make(oop=oop, ip=ip, **(options | more))  # type: ignore[arg-type]


def frequencies(profile: Profile) -> np.ndarray:
    shape, bands = _shape(profile.game), _bands(Model("", tuple(b.moves for b in profile.bands)))
    out = np.zeros((len(shape.player), int(shape.width.max()), len(profile.game.signals.edges) - 1))
    kernels.fill(shape, bands, profile.game.signals.edges, profile.cuts, out)
    return out


@pytest.mark.parametrize("seed", range(5))
def test_gains_are_those_of_the_polynomials(seed: int) -> None:
    """Ranks are atoms: best responses of the ranks and over the continuum are the same, whatever the thresholds."""
    rng = np.random.default_rng(seed)
    betting = Betting.of(river())
    count = int(rng.integers(3, 12))
    mass = rng.dirichlet(np.ones(count), 2)
    edges = np.concatenate([[0.0], np.cumsum(mass.mean(axis=0))])
    values = np.stack([np.arange(count + 1.0)] * 2, axis=1)
    game = betting.game(Signals(edges, mass, np.ones(count, bool), values, np.zeros_like(mass)))
    model = Model.make(game, BANDS)
    cuts = np.concatenate([np.sort(rng.uniform(0, 1, len(moves) - 1)) for moves in model.bands])
    profile = model.profile(game, cuts)
    exact, shape, found = certify(profile), _shape(game), np.zeros((2, 2))
    played = frequencies(profile)
    assert played.sum(axis=1) == pytest.approx(1.0)
    kernels.gains(shape, mass, played, np.zeros((len(shape.player) + 1, *played.shape[1:])), found)
    assert found[:, 0] == pytest.approx(exact.values, abs=1e-9)
    assert found[:, 1] == pytest.approx(exact.best, abs=1e-9)


@pytest.mark.slow
def test_newton_is_that_of_the_linear_forms() -> None:
    """The compiled steps and the plain ones meet at the same thresholds, from the same start."""
    spot = river()
    betting, ranks = Betting.of(spot), Ranks.make(spot.board, spot.weights)
    answer = solve_model(betting.game(uniform()), Model.make(betting.game(uniform()), BANDS))
    assert answer.profile is not None
    player = RiverPlayer(betting, [(answer.model, answer.profile.cuts)])
    fast = player.find(ranks, 0)
    game = betting.game(ranks.signals.untied())
    slow, left = Finder(game, answer.model).find(game, fast.cuts + 1e-6)
    assert fast.left < 1e-9
    assert left < 1e-9 * spot.pot
    assert slow == pytest.approx(fast.cuts, abs=1e-9)
    assert fast.epsilon == pytest.approx(fast.certificate.share, abs=1e-9)
    assert fast.epsilon < 0.01
    assert player.play(ranks).epsilon == fast.epsilon


def test_cfr_on_ranks_finds_an_equilibrium() -> None:
    spot = river()
    betting, ranks = Betting.of(spot), Ranks.make(spot.board, spot.weights)
    player = RiverPlayer(betting, [])
    errors = []
    for iterations in (10, 100, 2000):
        played, found = player.bucketed(ranks, iterations), np.zeros((2, 2))
        room = np.zeros((len(played) + 1, *played.shape[1:]))
        kernels.gains(player.shape, ranks.signals.mass, played, room, found)
        assert found[:, 0].sum() == pytest.approx(spot.pot)
        errors.append(float((found[:, 1] - found[:, 0]).sum()) / 2 / spot.pot)
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4


def test_ranks() -> None:
    spot = river(oop="AA,KK", ip="QQ,JJ,TT")
    ranks = Ranks.make(spot.board, spot.weights)
    strength = hand_strengths(spot.board)
    first = np.flatnonzero(spot.weights[0] > 0)
    for a, b in product(first, first):
        assert (ranks.group[a] < ranks.group[b]) == (strength[a] < strength[b])
    assert ranks.signals.mass.sum(axis=1) == pytest.approx([1.0, 1.0])
    aces = ranks.group[Range.parse("AsAh").weights > 0][0]
    kings = ranks.group[Range.parse("KsKh").weights > 0][0]
    assert ranks.signals.mass[0, aces] == pytest.approx(0.5)
    assert aces > kings
    with pytest.raises(InputError, match="a river has five"):
        Ranks.make(spot.board[:4], spot.weights)


def test_hands_play_as_their_ranks_do() -> None:
    """What the solution earns is what every pair of hands earns, dealt one by one."""
    spot = river(oop="AA,KK,T8s,54s", ip="QQ,JJ,A9s,53s")
    betting, ranks, tree = Betting.of(spot), Ranks.make(spot.board, spot.weights), BoardTree(spot)
    rng = np.random.default_rng(0)
    game = betting.game(ranks.signals)
    shape = _shape(game)
    played = np.zeros((len(shape.player), int(shape.width.max()), len(ranks.signals.edges) - 1))
    for s, width in enumerate(shape.width):
        played[s, :width] = rng.dirichlet(np.ones(width), played.shape[2]).T
    found = solution(tree, ranks, betting, played)
    strength = hand_strengths(spot.board)
    total = np.zeros(2)
    weight = 0.0
    for a, b in product(*(np.flatnonzero(w > 0) for w in spot.weights)):
        if set(HAND_CARDS[a]) & set(HAND_CARDS[b]):
            continue
        weight += 1.0
        for ending in game.endings:
            chance = 1.0
            for hand, choices in zip((a, b), ending.choices, strict=True):
                for s, move in choices:
                    chance *= played[s, move, ranks.group[hand]]
            pay = np.array(ending.leaf.base)
            if ending.leaf.prize:
                won = 0.5 if strength[a] == strength[b] else float(strength[a] > strength[b])
                pay += ending.leaf.prize * np.array([won, 1 - won])
            total += chance * pay
    assert isinstance(found, Solution)
    assert [found.earnings(0), found.earnings(1)] == pytest.approx(total / weight, rel=1e-9)


def test_the_betting_of_a_spot() -> None:
    betting = Betting.of(river())
    assert list(betting.nodes) == ["root", "x", "x-b", "x-b-r", "b", "b-r"]
    assert betting.game(uniform()).constant_sum == 400
    sizes = Betting.of(river(bets="25%, 75%", raises=""))
    assert "b100" in sizes.nodes
    with pytest.raises(InputError, match="a river has five"):
        Betting.of(river(board="Td9d6hQc", bets={"turn": {"bet": "50%"}}, raises=None))
