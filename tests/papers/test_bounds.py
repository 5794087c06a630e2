"""Bounds of two theorems next to measured values."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from tests.reference import cfr as reference

from riverboat.games.registry import game_from_spec
from riverboat.games.small.toy_games import CoinToss
from riverboat.papers.endgames.small_games import COIN_TOSS_BASE, base_strategies, compute_safety_bound
from riverboat.papers.public_chance_sampling import bound as pcs_bound
from riverboat.papers.registry import find
from riverboat.papers.rows import theorem_row
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.resolving import lines_after_chance
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree


@pytest.fixture(scope="module")
def kuhn() -> SequenceForm:
    return SequenceForm(compile_game(game_from_spec("kuhn")))


def test_bound_by_hand(kuhn: SequenceForm) -> None:
    """Kuhn: player 0 has three information sets before its first action and three after a check, player 1 has six."""
    assert pcs_bound.bound_constant_m(kuhn, 0) == pytest.approx(2 * 3**0.5)
    assert pcs_bound.bound_constant_m(kuhn, 1) == pytest.approx(6**0.5)
    # Payoffs from -2 to 2, two actions.
    by_hand = (1 + 2 / 0.05**0.5) * 4 * 6**0.5 * 2**0.5 / 100**0.5
    assert pcs_bound.regret_bound(kuhn, 1, 100) == pytest.approx(by_hand)
    assert pcs_bound.regret_bound(kuhn, 1, 400) == pytest.approx(by_hand / 2)


@pytest.mark.parametrize("traversal", ["external", "pcs"])
def test_regret_by_definition(kuhn: SequenceForm, traversal: str) -> None:
    """Compare with all 64 pure strategies of each player, history by history."""
    count = 6
    solver = CFR(kuhn.tree, "vanilla", traversal, seed=2)
    profiles = [reference.profile(solver.current())]
    for _ in range(count):
        solver.step(1)
        profiles.append(reference.profile(solver.current()))
    root = reference.expand(game_from_spec("kuhn"))
    sets = [[i.name for i in kuhn.tree.infosets() if i.player == p] for p in (0, 1)]
    found = pcs_bound.measure_regret(kuhn, traversal, count, seed=2)[count]
    for me in (0, 1):
        # Both play their strategies before the iteration, but player 1 responds to player 0's updated strategy.
        played = [
            {**before, **{name: after[name] for name in sets[0]}} if me == 1 else before
            for before, after in pairwise(profiles)
        ]
        earned = sum(reference.values(root, profile)[me] for profile in played)
        best = max(
            sum(reference.values(root, profile | dict(zip(sets[me], pure, strict=True)))[me] for profile in played)
            for pure in product(([1.0, 0.0], [0.0, 1.0]), repeat=len(sets[me]))
        )
        assert found[me] == pytest.approx((best - earned) / count)


def test_measured_regret_falls_within_the_bound(kuhn: SequenceForm) -> None:
    for seed in range(3):
        first, *_, last = pcs_bound.measure_regret(kuhn, "pcs", 512, seed).values()
        for player in (0, 1):
            assert 0 <= last[player] < first[player] + 1e-9
            assert last[player] <= pcs_bound.regret_bound(kuhn, player, 512)


def coin_toss() -> Strategy:
    return Strategy.from_mapping(PublicTree(CoinToss()), COIN_TOSS_BASE)


def test_coin_toss_by_hand() -> None:
    """Tails goes Right in both cases: with probability 1/2 it has lost 1/4 and 1/2. The bound is tight."""
    for method, reduction in (("maxmargin", 1 / 8), ("reach_maxmargin", 1 / 4)):
        bound = compute_safety_bound(coin_toss(), ["right"], method, 1)
        assert bound.before == pytest.approx(1 / 2)
        assert bound.guaranteed_reduction == pytest.approx(reduction)
        assert bound.binding_infoset == "tails at right"
        assert bound.bound == pytest.approx(bound.after)


def test_unsafe_solving_violates_the_bound() -> None:
    found = compute_safety_bound(coin_toss(), ["right"], "unsafe", 1)
    assert found.guaranteed_reduction == 0  # no positive margin
    assert not theorem_row("unsafe", found.bound, found.after, "<=").passes


def test_small_leduc() -> None:
    tree = PublicTree(game_from_spec("leduc:ranks=3,suits=1"))  # type: ignore[arg-type]
    lines, reductions = lines_after_chance(tree), []
    for base in base_strategies(tree).values():
        for method in ("maxmargin", "reach_maxmargin"):
            for player in (0, 1):
                bound = compute_safety_bound(base, lines, method, player)
                assert bound.after <= bound.bound + 1e-6
                reductions.append(bound.guaranteed_reduction)
    assert np.sum(np.array(reductions) > 0.01) > 2  # the bound is not trivial


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pcs-bound", "endgame-bound"])
def test_whole_experiment(name: str) -> None:
    assert find(name).run(False, 1).passes
