"""User-defined compiled rules in place of regret matching: `examples/own_rule.py` and a few more.

Each rule is compiled once per process, for some seconds: the tests share a few rules.
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
from riverboat.games.registry import game_from_spec
from riverboat.solvers import schedules
from riverboat.solvers.schedules import Rule
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.public import PublicTree

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).parents[2]
MATCHING, HEDGE = "examples.own_rule:REGRET_MATCHING", "examples.own_rule:HEDGE"


@pytest.fixture(autouse=True)
def _examples_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def kuhn_and_leduc() -> list[Tree]:
    """Public trees and history trees."""
    public = [compile_game(game_from_spec(spec)) for spec in ("kuhn", "leduc")]
    return [*public, *(to_history_tree(tree) for tree in public)]


def shares(tree: Tree, traversal: str) -> np.ndarray:
    """Factors from a rule's regrets to the built-in ones, which have the scale of the traversal."""
    result = np.ones(tree.table_size)
    if isinstance(tree, PublicTree) and traversal not in ("external", "outcome"):
        for player, rows in enumerate(tree.player_tables(result)):
            rows[:] = tree.deal.weights[player] / tree.total
    return result


def possible_entries(tree: Tree) -> np.ndarray:
    """Mask of the entries of the table that an information set has. bool [table]"""
    possible = np.zeros(tree.table_size, bool)
    for infoset in tree.infosets():
        possible[infoset.offset + infoset.stride * np.arange(len(infoset.actions))] = True
    return possible


def assert_equal_runs(tree: Tree, rule: str | Rule, schedule: str, traversal: str, count: int, **options: Any) -> None:
    """From random regrets, so that no tie depends on rounding, which compilers may do in another order."""
    own, built_in = CFR(tree, rule, traversal, **options), CFR(tree, schedule, traversal, **options)
    share = shares(tree, traversal)
    start = np.random.default_rng(0).random(tree.table_size)
    built_in.regret[:], own.regret[:] = start, start * share
    for solver in (own, built_in):
        solver.step(count)
    possible = possible_entries(tree)  # elsewhere a rule gets zeros, the built-in one numbers that are never read
    currents = own.current().probabilities, built_in.current().probabilities
    for ours, theirs in ((own.regret, built_in.regret * share), (own.averages, built_in.averages), currents):
        np.testing.assert_allclose(ours[possible], theirs[possible], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("traversal", ["full", "chance", "external", "outcome", "pcs", "opcs", "spcs"])
def test_regret_matching_is_vanilla_everywhere(traversal: str) -> None:
    for tree in kuhn_and_leduc():
        if isinstance(tree, PublicTree) or traversal not in ("pcs", "opcs", "spcs"):
            assert_equal_runs(tree, MATCHING, "vanilla", traversal, 300, seed=5, tick=7)


@njit
def match_prediction(regret, prediction, t, out):
    """Regret matching on regrets plus predictions."""
    for h in range(regret.shape[1]):
        total = 0.0
        for a in range(regret.shape[0]):
            out[a, h] = max(regret[a, h] + prediction[a, h], 0.0)
            total += out[a, h]
        for a in range(regret.shape[0]):
            out[a, h] = out[a, h] * (1.0 / total) if total > 0 else 1.0 / regret.shape[0]


@njit
def floor_and_predict(regret, prediction, instant, t):
    """Floor at zero; the prediction is the last increment."""
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            regret[a, h] = max(regret[a, h] + instant[a, h], 0.0)
            prediction[a, h] = instant[a, h]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["kuhn", "leduc"])
@pytest.mark.parametrize("unroll", [False, True])
def test_predictive_cfr_as_a_rule(spec: str, unroll: bool) -> None:
    """Another update, another strategy and a prediction, with vectors of hands and history by history.

    History by history would fail if `update_infosets` comes before `update_infoset`, which it calls, in its module:
    `recompile_callers` goes through them in that order and would keep the built-in update in full traversals.
    """
    rule = Rule(match_prediction, floor_and_predict, "mine", gamma=2.0, predictive=True)
    tree = compile_game(game_from_spec(spec))
    assert_equal_runs(to_history_tree(tree) if unroll else tree, rule, "pcfr+", "full", 30)


# --- instant regrets ------------------------------------------------------------------------


@njit
def leaning(regret, prediction, t, out):
    """Later actions more often, whatever the regrets."""
    width = regret.shape[0]
    for h in range(regret.shape[1]):
        for a in range(width):
            out[a, h] = 2.0 * (a + 1) / (width * (width + 1))


@njit
def write_down(regret, prediction, instant, t):
    """Sum of the instant regrets, and of their squares."""
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            regret[a, h] += instant[a, h]
            prediction[a, h] += instant[a, h] ** 2


WATCH = Rule(leaning, write_down, "watch", predictive=True)


def instant_statistics(tree: Tree, traversal: str, count: int) -> dict[str, np.ndarray]:
    """By infoset and action: the mean of `instant` over the iterations, and its standard error."""
    solver = CFR(tree, WATCH, traversal, seed=3)
    solver.step(count)
    result = {}
    for infoset in tree.infosets():
        if len(infoset.actions) > 1:  # forced actions have no updates
            places = infoset.offset + infoset.stride * np.arange(len(infoset.actions))
            mean, square = solver.regret[places] / count, solver.prediction[places] / count
            result[infoset.name] = np.stack([mean, np.sqrt(np.maximum(square - mean**2, 0.0) / count)])
    return result


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


# Unequal weights, excluded pairs and chance that excludes hands: each could lose a factor.
WATCHED = {"kuhn": game_from_spec("kuhn"), **{f"random {seed}": random_public_game(seed, hands=3) for seed in (4, 11)}}


@pytest.mark.slow
@pytest.mark.parametrize("name", WATCHED)
def test_instant_is_the_counterfactual_regret(name: str) -> None:
    """With vectors of hands and history by history: equal to the definition."""
    expected, tree = by_hand(WATCHED[name]), compile_game(WATCHED[name])
    assert sum(np.abs(r).max() > 0.01 for r in expected.values()) > 3
    for compiled in (tree, to_history_tree(tree)):
        result = instant_statistics(compiled, "full", 1)
        assert result.keys() >= expected.keys()  # a tree also names hands that cannot be dealt
        for infoset, rows in result.items():
            np.testing.assert_allclose(rows[0], expected.get(infoset, 0.0), atol=1e-12, err_msg=infoset)


def assert_estimates(game: object, tree: Tree, traversal: str) -> None:
    expected, result = by_hand(game), instant_statistics(tree, traversal, 20_000)
    truth = np.concatenate([expected[name] for name in expected])
    mean = np.concatenate([result[name][0] for name in expected])
    error = np.concatenate([result[name][1] for name in expected])
    assert np.all(np.abs(mean - truth) < 6 * error + 1e-9)
    seen = error > 0
    weight = 1 / error[seen] ** 2  # weighted by precision
    slope = (weight * mean[seen] * truth[seen]).sum() / (weight * truth[seen] ** 2).sum()
    assert slope == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("traversal", ["external", pytest.param("pcs", marks=pytest.mark.slow)])
def test_sampled_instant_is_unbiased(traversal: str) -> None:
    game = WATCHED["random 4"]
    assert_estimates(game, compile_game(game), traversal)


@pytest.mark.slow
@pytest.mark.parametrize("traversal", ["chance", "external", "outcome", "pcs", "opcs", "spcs"])
@pytest.mark.parametrize("name", WATCHED)
def test_sampled_instant_everywhere(name: str, traversal: str) -> None:
    tree = compile_game(WATCHED[name])
    for compiled in (tree, to_history_tree(tree)):
        if isinstance(compiled, PublicTree) or traversal not in ("pcs", "opcs", "spcs"):
            assert_estimates(WATCHED[name], compiled, traversal)


@pytest.mark.slow  # docs/your-own-rule.md runs it each time
def test_hedge_converges() -> None:
    solver = CFR(compile_game(game_from_spec("kuhn")), HEDGE, "external", seed=1, tick=10)
    assert str(solver.schedule) == "hedge"
    solver.step(20_000)
    low, high = solver.quality().bracket
    assert low <= -1 / 18 <= high
    assert solver.exploitability() < 0.03
    assert solver.average().provenance["schedule"] == "hedge"


@pytest.mark.slow
def test_hedge_converges_on_full_traversals() -> None:
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
    with pytest.raises(InputError, match=r"Schedule.*Rule"):
        schedules.parse("examples.own_rule:RATE")


def plain(*_: Any) -> None:
    """A function that is not compiled."""


@njit
def compiled(*_: Any) -> None:
    """A compiled function that does nothing."""


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        (Rule(plain, compiled, "lazy"), "'lazy': strategy must be compiled"),
        (Rule(compiled, plain, "lazy"), "'lazy': update must be compiled"),
    ],
)
def test_functions_must_be_compiled(rule: Rule, what: str) -> None:
    with pytest.raises(InputError, match=what + ".*@numba.njit"):
        CFR(compile_game(game_from_spec("kuhn")), rule)


def test_step_of_a_rule() -> None:
    """Regrets are up to the rule; averages weight iteration T by T^gamma."""
    rule = Rule(compiled, compiled, gamma=2.0)
    assert [rule.step(t)[:3] for t in (1, 2, 5)] == [(1.0, 1.0, -np.inf)] * 3
    assert [rule.step(t).decay for t in (1, 2, 3)] == pytest.approx([0, 1 / 4, 4 / 9])
    np.testing.assert_array_equal(rule.steps(2, 3), [rule.step(t) for t in (2, 3, 4)])
    assert rule.rule is rule


# --- arguments of a rule --------------------------------------------------------------------


@njit
def clock_strategy(regret, prediction, t, out):
    """The first action with probability 1 / (1 + t), the rest shared by the others."""
    for h in range(regret.shape[1]):
        for a in range(regret.shape[0]):
            out[a, h] = 1.0 / (1.0 + t) if a == 0 else t / (1.0 + t) / (regret.shape[0] - 1)


@njit
def note(regret, prediction, instant, t):
    """Store the time and the increments of the last update."""
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            prediction[a, h] = instant[a, h]
            regret[a, h] = t


CLOCK = Rule(clock_strategy, note, "clock", predictive=True)


@pytest.mark.slow
def test_rules_receive_the_iteration() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    solver = CFR(tree, CLOCK)
    for t in (1, 2, 3):
        assert solver.current()["J:"]["c"] == pytest.approx(1 / (1 + t))
        solver.step()
        assert set(solver.regret.tolist()) == {float(t)}
    # γ = 0: the plain average of 1/2, 1/3 and 1/4
    assert solver.average()["K:"]["c"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    # The prediction table holds the last increments: player 0's regrets against player 1's strategy at T = 3.
    prediction = solver.prediction[: tree.player_offsets[1]].reshape(-1, 3)
    assert np.abs(prediction).max() > 0.1
    np.testing.assert_allclose(prediction[0] / 4 + prediction[1] * 3 / 4, 0, atol=1e-12)


@pytest.mark.slow
def test_sampled_rules_receive_the_tick() -> None:
    """`current` shows what the next traversal would play: a sampled run counts ticks."""
    solver = CFR(compile_game(game_from_spec("kuhn")), CLOCK, "external", tick=10)
    solver.step(5)
    assert set(solver.regret.tolist()) <= {0.0, 1.0}
    assert solver.current()["J:"]["c"] == pytest.approx(1 / 2)


# --- arrays ---------------------------------------------------------------------------------


@njit
def match_in_arrays(regret, prediction, t, out):
    """Regret matching on whole rows, with temporaries."""
    positive = np.maximum(regret, 0.0)
    total = positive.sum(axis=0)
    for a in range(regret.shape[0]):
        out[a] = np.where(total > 0, positive[a] / np.maximum(total, 1e-300), 1.0 / regret.shape[0])


@njit
def add_in_arrays(regret, prediction, instant, t):
    regret[:] = regret + instant


@pytest.mark.slow
def test_rules_may_use_array_expressions() -> None:
    """The kernels are compiled without reference counts, but the functions they call may allocate."""
    solver = CFR(compile_game(game_from_spec("kuhn")), Rule(match_in_arrays, add_in_arrays, "arrays"), "external")
    solver.step(10_000)
    assert solver.exploitability() < 0.05
