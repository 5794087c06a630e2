"""Parameters of rules without another compilation, clear errors of rules, and instant regrets of impossible hands."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from numba import njit

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.engines.rules import compile_functions
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.schedules import Rule
from riverboat.solvers.tabular.cfr import CFR, kernels_for
from riverboat.strategies.tabular import Tree
from riverboat.trees.boards import BoardTree


@njit
def softmax(regret, prediction, t, out, parameters):  # type: ignore[no-untyped-def]
    """Hedge with the learning rate parameters[0]."""
    actions, hands = regret.shape
    for h in range(hands):
        top = regret[0, h]
        for a in range(1, actions):
            top = max(top, regret[a, h])
        total = 0.0
        for a in range(actions):
            out[a, h] = math.exp(parameters[0] * (regret[a, h] - top) / math.sqrt(t))
            total += out[a, h]
        for a in range(actions):
            out[a, h] /= total


@njit
def add(regret, prediction, instant, t, parameters):  # type: ignore[no-untyped-def]
    """Sum of the regrets, times parameters[1]; of their absolute values if parameters[2] is positive."""
    for a in range(regret.shape[0]):
        for h in range(regret.shape[1]):
            x = instant[a, h]
            regret[a, h] += parameters[1] * (abs(x) if parameters[2] > 0 else x)


HEDGE = Rule(softmax, add, "hedge", gamma=1.0, parameters=[30.0, 1.0, 0.0])
COLLECT = HEDGE.with_parameters(0.0, 1.0, 1.0)  # uniform play


def compiled_signatures(rule: Rule) -> int:
    """Number of compiled versions of the loop over iterations."""
    return len(kernels_for(rule, "float64").full_iterations.signatures)


def test_other_parameters_need_no_compilation() -> None:
    tree = rb.compile_game(rb.game("kuhn"))
    slow = HEDGE.with_parameters(1.0, 1.0, 0.0)
    first = CFR(tree, HEDGE)
    first.step(50)
    assert compiled_signatures(HEDGE) == 1
    second, third = CFR(tree, slow), CFR(tree, HEDGE.with_parameters(1.0, 30.0, 0.0))
    for _ in range(5):  # in turns: neither sees the parameters of the other
        for solver in (second, third):
            solver.step(10)
    assert kernels_for(slow, "float64") is kernels_for(HEDGE, "float64")
    assert compiled_signatures(slow) == 1
    # A rate of 30 is a rate of 1 on regrets times 30.
    np.testing.assert_allclose(third.averages, first.averages, rtol=1e-9)
    assert np.abs(second.averages - first.averages).max() > 1e-3
    assert first.exploitability() < second.exploitability()


def test_parameters_change_between_steps() -> None:
    tree = rb.compile_game(rb.game("kuhn"))
    rule = HEDGE.with_parameters(30.0, 0.0, 0.0)
    solver = CFR(tree, rule)
    solver.step(10)
    assert not solver.regret.any()  # updates have no effect with parameters[1] = 0
    rule.parameters[1] = 1.0
    solver.step(1)
    assert solver.regret.any()
    assert HEDGE.parameters[1] == 1.0
    assert str(rule) == "hedge(30,0,0)"  # a run has one name


@pytest.mark.slow
def test_parameters_on_boards_and_in_sampled_runs() -> None:
    spot = rb.Spot.make(board="Qs Jh 2h 8c 3d", pot=100, stack=200, oop="AA,KK", ip="QQ,JJ", bets="50%")
    tree = BoardTree(spot)
    played = []
    for rate in (0.0, 30.0):  # with a rate of 0 play is uniform
        solver = BoardCFR(tree, HEDGE.with_parameters(rate, 1.0, 0.0))
        solver.step(20)
        strategy = solver.average()[""].strategy
        played.append(float(np.nanmax(np.abs(strategy - 1 / len(strategy)))))
    assert played[0] < 1e-3 < 0.01 < played[1]
    sampled = CFR(rb.compile_game(rb.game("kuhn")), HEDGE.with_parameters(0.0, 1.0, 0.0), "external")
    sampled.step(10)
    assert set(sampled.current()["K:"].values()) == {0.5}


@njit
def match_in_arrays(regret, prediction, t, out):  # type: ignore[no-untyped-def]
    """Regret matching on whole rows, with temporaries."""
    positive = np.maximum(regret, 0.0)
    total = positive.sum(axis=0)
    for a in range(regret.shape[0]):
        out[a] = np.where(total > 0, positive[a] / np.maximum(total, 1e-30), 1.0 / regret.shape[0])


@njit
def add_in_arrays(regret, prediction, instant, t):  # type: ignore[no-untyped-def]
    """Sum the regrets with a temporary array."""
    regret[:] = regret + instant


@pytest.mark.slow
def test_array_expressions_on_boards() -> None:
    spot = rb.Spot.make(board="Qs Jh 2h 8c 3d", pot=100, stack=200, oop="AA,KK", ip="QQ,JJ", bets="50%")
    result = rb.solve(spot, schedule=Rule(match_in_arrays, add_in_arrays, "arrays"), iterations=300)
    assert result.exploitability < 1.0


def test_rules_are_copied_and_compared() -> None:
    copy = pickle.loads(pickle.dumps(HEDGE))
    assert list(copy.parameters) == [30.0, 1.0, 0.0]
    assert (str(HEDGE), str(copy)) == ("hedge(30,1,0)", "hedge(30,1,0)")
    with pytest.raises(InputError, match=r"rule 'hedge': 1 parameters, but it has 3"):
        HEDGE.with_parameters(1.0)
    for wrong in ("x", [[1.0]], [math.nan], None, 3):
        with pytest.raises(InputError, match="must be a list of finite numbers"):
            Rule(softmax, add, parameters=wrong)  # type: ignore[arg-type]


# --- errors ---------------------------------------------------------------------------------


@njit
def unknown_name(regret, prediction, t, out):  # type: ignore[no-untyped-def]
    """Does not compile: the line below uses an unknown name."""
    out[:] = 1.0 / len(out)
    out[0] = no_such_name  # type: ignore[name-defined]  # noqa: F821


@njit
def wrong_types(regret, prediction, t, out):  # type: ignore[no-untyped-def]
    out[:] = regret + "text"


@njit
def nothing(regret, prediction, instant, t):  # type: ignore[no-untyped-def]
    """Update nothing."""


@njit
def too_few(regret, out):  # type: ignore[no-untyped-def]
    """Take other arguments than a rule does."""


@njit
def fails(regret, prediction, t, out):  # type: ignore[no-untyped-def]
    raise ValueError("no such thing")


@pytest.mark.parametrize(
    ("strategy", "what"),
    [
        (unknown_name, r"strategy does not compile: .*no_such_name.*test_rule_parameters\.py, line \d+\)$"),
        (wrong_types, r"strategy does not compile: .*add.*test_rule_parameters\.py, line \d+\)$"),
        (too_few, r"strategy must have the arguments \(regret, prediction, t, out\).*line \d+\)$"),
        (fails, r"strategy fails: ValueError: no such thing \(.*line \d+\)$"),
    ],
)
def test_a_rule_that_fails_says_where(strategy: Any, what: str) -> None:
    with pytest.raises(InputError, match=f"^rule 'mine': {what}") as caught:
        CFR(rb.compile_game(rb.game("kuhn")), Rule(strategy, nothing, "mine"))
    assert "\n" not in str(caught.value)
    if strategy in (unknown_name, wrong_types):  # the line inside the function, not its first one
        line = int(str(caught.value).rsplit("line ", 1)[1].rstrip(")"))
        first = strategy.py_func.__code__.co_firstlineno
        assert first < line <= first + 4


def test_missing_and_superfluous_parameters() -> None:
    with pytest.raises(InputError, match=r"strategy must have the arguments \(regret, prediction, t, out\)"):
        compile_functions(Rule(softmax, add, "hedge"), "float64")
    with pytest.raises(InputError, match="instant, t, parameters"):
        compile_functions(Rule(softmax, nothing, "hedge", parameters=[1.0]), "float64")


# --- instant regrets ------------------------------------------------------------------------


def impossible_entries(tree: Tree) -> np.ndarray:
    """Mask of the entries of the table that no information set has. bool [table]"""
    possible = np.zeros(tree.table_size, bool)
    for infoset in tree.infosets():
        possible[infoset.offset + infoset.stride * np.arange(len(infoset.actions))] = True
    return ~possible


@pytest.mark.parametrize(
    "traversal", ["full", *(pytest.param(name, marks=pytest.mark.slow) for name in ("pcs", "opcs"))]
)
def test_instant_is_zero_for_impossible_hands(traversal: str) -> None:
    tree = rb.compile_game(rb.game("leduc"))
    impossible = impossible_entries(tree)
    assert (impossible.sum(), len(impossible)) == (420, 2604)
    solver = CFR(tree, COLLECT, traversal)
    solver.step(20)
    assert np.count_nonzero(solver.regret[impossible]) == 0
    assert np.count_nonzero(solver.regret[~impossible]) > 1000
