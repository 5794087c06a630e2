"""A user's compiled rule in place of regret matching: `examples/own_rule.py` and a few more.

Each rule is compiled once per process, for some seconds: few rules here, shared by the tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from tests.random_games import random_public_game
from tests.reference import cfr as reference

from riverboat.core.errors import InputError
from riverboat.games.registry import make
from riverboat.solvers import schedules
from riverboat.solvers.schedules import Rule
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game, histories
from riverboat.trees.public import PublicTree

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).parents[2]
MATCHING, HEDGE = "examples.own_rule:REGRET_MATCHING", "examples.own_rule:HEDGE"


@pytest.fixture(autouse=True)
def _examples_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def kuhn_and_leduc() -> list[Tree]:
    """Public trees and histories."""
    public = [compile_game(make(spec)) for spec in ("kuhn", "leduc")]
    return [*public, *(histories(tree) for tree in public)]


def shares(tree: Tree, traversal: str) -> np.ndarray:
    """What a rule's regrets are multiplied by to be the built-in ones, which keep the scale of the walk."""
    found = np.ones(tree.table)
    if isinstance(tree, PublicTree) and traversal not in ("external", "outcome"):
        for player, rows in enumerate(tree.views(found)):
            rows[:] = tree.deal.weights[player] / tree.total
    return found


def assert_equal_runs(tree: Tree, rule: str | Rule, schedule: str, traversal: str, count: int, **options: Any) -> None:
    """From random regrets, so that no tie is left to rounding, which compilers may do in another order."""
    own, built_in = CFR(tree, rule, traversal, **options), CFR(tree, schedule, traversal, **options)
    share = shares(tree, traversal)
    start = np.random.default_rng(0).random(tree.table)
    built_in.regret[:], own.regret[:] = start, start * share
    for solver in (own, built_in):
        solver.step(count)
    np.testing.assert_allclose(own.regret, built_in.regret * share, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(own.average_sums, built_in.average_sums, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(own.current().probabilities, built_in.current().probabilities, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("traversal", ["full", "chance", "external", "outcome", "pcs", "opcs", "spcs"])
def test_regret_matching_is_vanilla_everywhere(traversal: str) -> None:
    for tree in kuhn_and_leduc():
        if isinstance(tree, PublicTree) or traversal not in ("pcs", "opcs", "spcs"):
            assert_equal_runs(tree, MATCHING, "vanilla", traversal, 300, seed=5, tick=7)


@njit
def match_prediction(regret, prediction, t, out):
    """Regret matching on regrets and what is expected next."""
    for h in range(regret.shape[1]):
        total = 0.0
        for a in range(regret.shape[0]):
            out[a, h] = max(regret[a, h] + prediction[a, h], 0.0)
            total += out[a, h]
        for a in range(regret.shape[0]):
            out[a, h] = out[a, h] * (1.0 / total) if total > 0 else 1.0 / regret.shape[0]


@njit
def floor_and_predict(regret, prediction, instant, t):
    """Never below zero; the last increment is expected to come again."""
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            regret[a, h] = max(regret[a, h] + instant[a, h], 0.0)
            prediction[a, h] = instant[a, h]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["kuhn", "leduc"])
@pytest.mark.parametrize("unroll", [False, True])
def test_predictive_cfr_as_a_rule(spec: str, unroll: bool) -> None:
    """Another update, another strategy and a prediction, on hands as vectors and history by history.

    History by history fails while `_loops.learn_blocks` stands before `learn_block`, which it calls: `rebind`
    goes through them in that order, finds nothing to replace in the first, and full walks keep the built-in update.
    """
    rule = Rule(match_prediction, floor_and_predict, "mine", gamma=2.0, predictive=True)
    tree = compile_game(make(spec))
    assert_equal_runs(histories(tree) if unroll else tree, rule, "pcfr+", "full", 30)


# --- what `instant` is ------------------------------------------------------------------------


@njit
def leaning(regret, prediction, t, out):
    """Later moves more often, whatever was learnt."""
    width = regret.shape[0]
    for h in range(regret.shape[1]):
        for a in range(width):
            out[a, h] = 2.0 * (a + 1) / (width * (width + 1))


@njit
def write_down(regret, prediction, instant, t):
    """The sum of what comes, and of its squares."""
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            regret[a, h] += instant[a, h]
            prediction[a, h] += instant[a, h] ** 2


WATCH = Rule(leaning, write_down, "watch", predictive=True)


def told(tree: Tree, traversal: str, count: int) -> dict[str, np.ndarray]:
    """By name and action: the mean of `instant` over the iterations, and its standard error."""
    solver = CFR(tree, WATCH, traversal, seed=3)
    solver.step(count)
    found = {}
    for infoset in tree.infosets():
        if len(infoset.actions) > 1:  # nothing is learnt where there is nothing to decide
            places = infoset.offset + infoset.stride * np.arange(len(infoset.actions))
            mean, square = solver.regret[places] / count, solver.prediction[places] / count
            found[infoset.name] = np.stack([mean, np.sqrt(np.maximum(square - mean**2, 0.0) / count)])
    return found


def by_hand(game: object) -> dict[str, np.ndarray]:
    """The counterfactual regrets of the paper, history by history."""
    root = reference.expand(game)  # type: ignore[arg-type]
    profile = {}
    for name, node in reference.infosets(root).items():
        width = len(node.actions)
        profile[name] = [2 * (a + 1) / (width * (width + 1)) for a in range(width)]
    regrets = {}
    for me in (0, 1):
        regrets |= reference.counterfactual_regrets(root, profile, me)[1]
    return {name: np.array(r) for name, r in regrets.items() if len(r) > 1}


# Unequal weights, excluded pairs and chance that kills hands: what a factor could be lost in.
WATCHED = {"kuhn": make("kuhn"), **{f"random {seed}": random_public_game(seed, hands=3) for seed in (4, 11)}}


@pytest.mark.slow
@pytest.mark.parametrize("name", WATCHED)
def test_instant_is_the_counterfactual_regret(name: str) -> None:
    """Hands as vectors, and history by history: the same numbers as those of the definition."""
    expected, tree = by_hand(WATCHED[name]), compile_game(WATCHED[name])
    assert sum(np.abs(r).max() > 0.01 for r in expected.values()) > 3
    for compiled in (tree, histories(tree)):
        found = told(compiled, "full", 1)
        assert found.keys() >= expected.keys()  # a tree also has names for what cannot be dealt
        for infoset, rows in found.items():
            np.testing.assert_allclose(rows[0], expected.get(infoset, 0.0), atol=1e-12, err_msg=infoset)


def assert_estimates(game: object, tree: Tree, traversal: str) -> None:
    expected, found = by_hand(game), told(tree, traversal, 20_000)
    truth = np.concatenate([expected[name] for name in expected])
    mean = np.concatenate([found[name][0] for name in expected])
    error = np.concatenate([found[name][1] for name in expected])
    assert np.all(np.abs(mean - truth) < 6 * error + 1e-9)
    seen = error > 0
    weight = 1 / error[seen] ** 2  # what is known best counts most
    slope = (weight * mean[seen] * truth[seen]).sum() / (weight * truth[seen] ** 2).sum()
    assert slope == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("traversal", ["external", pytest.param("pcs", marks=pytest.mark.slow)])
def test_sampled_instant_is_an_estimate_of_it(traversal: str) -> None:
    game = WATCHED["random 4"]
    assert_estimates(game, compile_game(game), traversal)


@pytest.mark.slow
@pytest.mark.parametrize("traversal", ["chance", "external", "outcome", "pcs", "opcs", "spcs"])
@pytest.mark.parametrize("name", WATCHED)
def test_sampled_instant_everywhere(name: str, traversal: str) -> None:
    tree = compile_game(WATCHED[name])
    for compiled in (tree, histories(tree)):
        if isinstance(compiled, PublicTree) or traversal not in ("pcs", "opcs", "spcs"):
            assert_estimates(WATCHED[name], compiled, traversal)


@pytest.mark.slow  # docs/your-own-rule.md runs it each time
def test_hedge_converges() -> None:
    solver = CFR(compile_game(make("kuhn")), HEDGE, "external", seed=1, tick=10)
    assert str(solver.schedule) == "hedge"
    solver.step(20_000)
    low, high = solver.quality().bracket
    assert low <= -1 / 18 <= high
    assert solver.exploitability() < 0.03
    assert solver.average().provenance["schedule"] == "hedge"


@pytest.mark.slow
def test_hedge_converges_on_full_walks() -> None:
    for tree in kuhn_and_leduc():
        solver = CFR(tree, HEDGE)
        solver.step(3000)
        assert solver.exploitability() < (0.01 if tree.name == "kuhn" else 0.3)
        single = CFR(tree, HEDGE, dtype="float32")
        single.step(3000)
        assert single.exploitability() == pytest.approx(solver.exploitability(), rel=0.5)


def test_module_and_object() -> None:
    from examples import own_rule  # type: ignore[import-not-found]

    assert schedules.parse(HEDGE) is own_rule.HEDGE
    assert schedules.parse(MATCHING) is own_rule.REGRET_MATCHING
    with pytest.raises(InputError, match=r"examples\.own_rule:NONE"):
        schedules.parse("examples.own_rule:NONE")
    with pytest.raises(InputError, match="neither a Schedule nor a Rule"):
        schedules.parse("examples.own_rule:RATE")


def plain(*_: Any) -> None:
    """Not compiled."""


@njit
def compiled(*_: Any) -> None:
    """Compiled, and does nothing."""


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        (Rule(plain, compiled, "lazy"), "'lazy': strategy must be compiled"),
        (Rule(compiled, plain, "lazy"), "'lazy': update must be compiled"),
    ],
)
def test_functions_must_be_compiled(rule: Rule, what: str) -> None:
    with pytest.raises(InputError, match=what + ": put @numba.njit above it"):
        CFR(compile_game(make("kuhn")), rule)


def test_step_of_a_rule() -> None:
    """Regrets are the rule's own; averages weigh iteration T by T^gamma."""
    rule = Rule(compiled, compiled, gamma=2.0)
    assert [rule.step(t)[:3] for t in (1, 2, 5)] == [(1.0, 1.0, -np.inf)] * 3
    assert [rule.step(t).decay for t in (1, 2, 3)] == pytest.approx([0, 1 / 4, 4 / 9])
    np.testing.assert_array_equal(rule.steps(2, 3), [rule.step(t) for t in (2, 3, 4)])
    assert rule.rule is rule


# --- what a rule is told --------------------------------------------------------------------


@njit
def clock_strategy(regret, prediction, t, out):
    """The first action with probability 1 / (1 + t), the rest shared by the others."""
    for h in range(regret.shape[1]):
        for a in range(regret.shape[0]):
            out[a, h] = 1.0 / (1.0 + t) if a == 0 else t / (1.0 + t) / (regret.shape[0] - 1)


@njit
def note(regret, prediction, instant, t):
    """Keep the time and the increments of the last update."""
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            prediction[a, h] = instant[a, h]
            regret[a, h] = t


CLOCK = Rule(clock_strategy, note, "clock", predictive=True)


@pytest.mark.slow
def test_rules_know_the_time() -> None:
    tree = compile_game(make("kuhn"))
    solver = CFR(tree, CLOCK)
    for t in (1, 2, 3):
        assert solver.current()["J:"]["c"] == pytest.approx(1 / (1 + t))
        solver.step()
        assert set(solver.regret.tolist()) == {float(t)}
    # γ = 0: the plain average of 1/2, 1/3 and 1/4
    assert solver.average()["K:"]["c"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    # The prediction table holds what the last walk gave: player 0's regrets against player 1's play at T = 3.
    told = solver.prediction[: tree.bases[1]].reshape(-1, 3)
    assert np.abs(told).max() > 0.1
    np.testing.assert_allclose(told[0] / 4 + told[1] * 3 / 4, 0, atol=1e-12)


@pytest.mark.slow
def test_sampled_rules_know_the_tick() -> None:
    """What `current` shows is what the next walk would play: a sampled run counts ticks."""
    solver = CFR(compile_game(make("kuhn")), CLOCK, "external", tick=10)
    solver.step(5)
    assert set(solver.regret.tolist()) <= {0.0, 1.0}
    assert solver.current()["J:"]["c"] == pytest.approx(1 / 2)


# --- arrays ---------------------------------------------------------------------------------


@njit
def match_in_arrays(regret, prediction, t, out):
    """Regret matching in whole rows, with temporaries."""
    positive = np.maximum(regret, 0.0)
    total = positive.sum(axis=0)
    for a in range(regret.shape[0]):
        out[a] = np.where(total > 0, positive[a] / np.maximum(total, 1e-300), 1.0 / regret.shape[0])


@njit
def add_in_arrays(regret, prediction, instant, t):
    regret[:] = regret + instant


@pytest.mark.slow
def test_rules_may_use_array_expressions() -> None:
    """The walks are compiled without reference counts, but what they call may allocate."""
    solver = CFR(compile_game(make("kuhn")), Rule(match_in_arrays, add_in_arrays, "arrays"), "external")
    solver.step(10_000)
    assert solver.exploitability() < 0.05
