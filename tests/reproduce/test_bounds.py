"""Bounds of two theorems beside what is measured."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from tests.reference import cfr as reference

from riverboat.games.registry import make
from riverboat.games.small.coin_toss import CoinToss
from riverboat.papers.endgames import bound
from riverboat.papers.endgames.bound import promise
from riverboat.papers.endgames.coin_toss import BASE, bases
from riverboat.papers.public_chance_sampling import bound as pcs_bound
from riverboat.papers.rows import theorem
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.resolving import after_chance
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree


@pytest.fixture(scope="module")
def kuhn() -> SequenceForm:
    return SequenceForm(compile_game(make("kuhn")))


def test_the_bound_by_hand(kuhn: SequenceForm) -> None:
    """Kuhn: player 0 has three information sets before it moved and three after a check, player 1 six before it moved."""
    assert pcs_bound.spread(kuhn, 0) == pytest.approx(2 * 3**0.5)
    assert pcs_bound.spread(kuhn, 1) == pytest.approx(6**0.5)
    # Pay-offs from -2 to 2, two moves.
    by_hand = (1 + 2 / 0.05**0.5) * 4 * 6**0.5 * 2**0.5 / 100**0.5
    assert pcs_bound.bound(kuhn, 1, 100) == pytest.approx(by_hand)
    assert pcs_bound.bound(kuhn, 1, 400) == pytest.approx(by_hand / 2)


@pytest.mark.parametrize("traversal", ["external", "pcs"])
def test_regret_by_definition(kuhn: SequenceForm, traversal: str) -> None:
    """Against all 64 pure strategies of each player, history by history."""
    count = 6
    solver = CFR(kuhn.tree, "vanilla", traversal, seed=2)
    profiles = [reference.profile(solver.current())]
    for _ in range(count):
        solver.step(1)
        profiles.append(reference.profile(solver.current()))
    root = reference.expand(make("kuhn"))
    sets = [[i.name for i in kuhn.tree.infosets() if i.player == p] for p in (0, 1)]
    found = pcs_bound.measure(kuhn, traversal, count, seed=2)[-1]
    assert found.iterations == count
    for me in (0, 1):
        # What each iteration was: both as before it, but player 1 answers what player 0 has just learnt.
        played = [
            {**before, **{name: after[name] for name in sets[0]}} if me == 1 else before
            for before, after in pairwise(profiles)
        ]
        earned = sum(reference.values(root, profile)[me] for profile in played)
        best = max(
            sum(reference.values(root, profile | dict(zip(sets[me], pure, strict=True)))[me] for profile in played)
            for pure in product(([1.0, 0.0], [0.0, 1.0]), repeat=len(sets[me]))
        )
        assert found.players[me] == pytest.approx((best - earned) / count)


def test_measured_regret_falls_and_obeys(kuhn: SequenceForm) -> None:
    for seed in range(3):
        first, *_, last = pcs_bound.measure(kuhn, "pcs", 512, seed)
        for player in (0, 1):
            assert 0 <= last.players[player] < first.players[player] + 1e-9
            assert last.players[player] <= pcs_bound.bound(kuhn, player, 512)


def coin_toss() -> Strategy:
    return Strategy.from_mapping(PublicTree(CoinToss()), BASE)


def test_coin_toss_by_hand() -> None:
    """Tails goes Right against both: it is met with probability 1/2 and has lost 1/4 and 1/2. The bound is all there is."""
    for method, promised in (("maxmargin", 1 / 8), ("reach_maxmargin", 1 / 4)):
        found = promise(coin_toss(), ["right"], method, 1)
        assert found.before == pytest.approx(1 / 2)
        assert found.promised == pytest.approx(promised)
        assert found.where == "tails at right"
        assert found.bound == pytest.approx(found.after)


def test_what_is_not_safe_breaks_it() -> None:
    found = promise(coin_toss(), ["right"], "unsafe", 1)
    assert found.promised == 0  # no margin to count on
    assert not theorem("unsafe", found.bound, found.after, "<=").fine


def test_small_leduc() -> None:
    tree = PublicTree(make("leduc:ranks=3,suits=1"))  # type: ignore[arg-type]
    lines, promises = after_chance(tree), []
    for base in bases(tree).values():
        for method in ("maxmargin", "reach_maxmargin"):
            for player in (0, 1):
                found = promise(base, lines, method, player)
                assert found.after <= found.bound + 1e-6
                promises.append(found.promised)
    assert np.sum(np.array(promises) > 0.01) > 2  # it does promise something


@pytest.mark.slow
@pytest.mark.parametrize("module", [pcs_bound, bound])
def test_the_whole_experiment(module: object) -> None:
    assert module.EXPERIMENT.run(False, 1).fine  # type: ignore[attr-defined]
