"""Contract suite for schedules and rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np

from riverboat.core.arguments import Limits, PositiveCount, checked
from riverboat.games.base import Array
from riverboat.games.small.poker import kuhn
from riverboat.solvers import schedules
from riverboat.solvers.schedules import AnySchedule, Rule, ScheduleOrFactory, ScheduleStep
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.testing.failures import TOLERANCE, fail, report_location
from riverboat.testing.strategies import check_strategy
from riverboat.trees.compile import compile_game, to_history_tree

CHECKED_ITERATIONS = (*range(1, 33), 100, 1_000, 10_000, 1_000_000)  # iterations whose steps are checked


@checked
def check_schedule(
    schedule: str | ScheduleOrFactory,
    *,
    iterations: PositiveCount = 500,
    target: Annotated[float, Limits(0)] = 0.05,
) -> None:
    """Check that a schedule, or a rule, can drive a solver; raise AssertionError if not.

    Parameters
    ----------
    schedule
        Schedule, or its spec such as `dcfr:1.5,0,2`.
    iterations
        Iterations on Kuhn poker.
    target
        Largest exploitability of the average strategy after them, in chips (uniform play has 11/24).

    Raises
    ------
    AssertionError
        If the schedule breaks the contract; the message says where, what, and what was expected.

    Notes
    -----
    - `step(T)` returns numbers that are not NaN, the same at every call: factors on regrets and `decay` from 0 to 1,
      `floor` at most 0 (minus infinity for none), `t` equal to T. `steps` returns the same numbers in rows.
    - `discounts` is true if any factor is below one, since samplers skip discounting if it is false.
    - For a rule: `strategy` writes a distribution for every hand and nothing else; `update` leaves finite numbers;
      both work on slices, treat each hand by itself, and are deterministic.
    - The target is reached with vectors of hands and history by history; two runs give the same strategy.

    Examples
    --------
    >>> check_schedule("cfr+", iterations=200)
    """
    with report_location(f"schedule {schedule!s}"):
        parsed = schedules.parse(schedule)
    where = f"schedule {parsed}"
    _check_switches(parsed, where)
    _check_steps(parsed, where)
    if parsed.rule is not None:
        _check_rule(parsed.rule)
    vectors = compile_game(kuhn())
    for tree, representation in ((vectors, "on the public tree"), (to_history_tree(vectors), "history by history")):
        _check_solves(parsed, tree, f"{where}, Kuhn poker {representation}", iterations, target)


def _check_switches(schedule: AnySchedule, where: str) -> None:
    for switch in ("predictive", "alternating", "discounts"):
        value = getattr(schedule, switch, None)
        if not isinstance(value, bool):
            fail(where, f"{switch} is {value!r}", "True or False")
    if not isinstance(schedule.rule, Rule | None):
        fail(where, f"rule is a {type(schedule.rule).__name__}", "a Rule, or None for regret matching")


def _check_steps(schedule: AnySchedule, where: str) -> None:
    for t in CHECKED_ITERATIONS:
        with report_location(f"{where}: step({t})"):
            step = ScheduleStep(*schedule.step(t))
            rows = schedule.steps(t, 2)
        here = f"{where} at T = {t}"
        for name in ("positive", "negative", "decay"):
            if not 0 <= getattr(step, name) <= 1:
                fail(here, f"{name} is {getattr(step, name)}", "a factor from 0 to 1")
        if not step.floor <= 0:
            fail(here, f"floor is {step.floor}", "at most 0, or -inf for none")
        if step.t != t:
            fail(here, f"t is {step.t}", f"{t}")
        if ScheduleStep(*schedule.step(t)) != step:
            fail(here, f"two calls of step return {step} and {schedule.step(t)}", "the same numbers")
        expected = np.array([step, schedule.step(t + 1)])
        if np.shape(rows) != (2, 5) or not np.array_equal(rows, expected):
            fail(here, f"steps({t}, 2) is {np.asarray(rows).tolist()}", f"{expected.tolist()}, as step says")
        if rows.dtype != np.float64:  # the kernels would be compiled again
            fail(here, f"steps({t}, 2) has numbers of type {rows.dtype}", "float64: write 1.0 instead of 1")
        if not schedule.discounts and min(step.positive, step.negative, step.decay) < 1:
            fail(here, f"discounts is False and the step is {step}", "discounts to be True where a factor is below 1")


# --- Rules ---


def _check_rule(rule: Rule) -> None:
    random = np.random.default_rng(0)
    for width, hands in ((1, 1), (2, 3), (3, 4), (5, 1)):
        regret = random.normal(size=(width, hands))
        prediction = random.normal(size=(width, hands)) if rule.predictive else regret
        zeros = np.zeros((width, hands))
        _check_rule_strategy(rule, zeros, zeros, 1.0)
        _check_rule_strategy(rule, -np.abs(regret), prediction, 2.0)
        _check_rule_strategy(rule, 1e3 * regret, 1e3 * prediction, 7.0)
        _check_rule_update(rule, regret, prediction, random.normal(size=(width, hands)), 7.0)


def _embedded(values: Array) -> Array:
    """Return a copy of the values as a slice of a larger array of NaN, since kernels pass slices."""
    around = np.full((values.shape[0] + 2, values.shape[1] + 3), np.nan)
    inside = around[1:-1, 2:-1]
    inside[:] = values
    return inside


def _check_repeatable(where: str, ask: Callable[[slice], Array], together: Array) -> None:
    """Check that the result for all hands together is repeatable, and equals that of each hand alone.

    `ask` computes the result for a slice of the hands, `together` is its result for all of them.
    """
    again, hands = ask(slice(None)), together.shape[-1]
    if not np.array_equal(together, again):
        fail(where, f"the same question was answered {together.tolist()} and {again.tolist()}", "one answer")
    for hand in range(hands):
        single = ask(slice(hand, hand + 1))[..., 0]
        if not np.allclose(single, together[..., hand], rtol=1e-9, atol=1e-12):
            what = f"hand {hand} alone gives {single.tolist()}, among {hands} hands {together[..., hand].tolist()}"
            fail(where, what, "columns that do not depend on each other: arrays are [actions, hands]")


def _check_rule_strategy(rule: Rule, regret: Array, prediction: Array, t: float) -> None:
    where = f"rule {rule}: strategy of regrets {regret.tolist()} at T = {t:g}"

    def ask(hands: slice) -> Array:
        regrets, predictions = _embedded(regret[:, hands]), _embedded(prediction[:, hands])
        out = _embedded(np.full(regrets.shape, np.nan))
        with report_location(where):
            rule.strategy(regrets, predictions if rule.predictive else regrets, t, out)
        if not (np.array_equal(regrets, regret[:, hands]) and np.array_equal(predictions, prediction[:, hands])):
            fail(where, "regrets or predictions were changed", "only `out` to be written")
        if np.isfinite(np.asarray(out.base)).sum() > out.size:
            fail(where, "numbers were written outside `out`", "only `out` to be written")
        return out

    strategy = ask(slice(None))
    if not (np.all(strategy >= 0) and np.all(np.abs(strategy.sum(axis=0) - 1) <= TOLERANCE)):
        fail(
            where,
            f"probabilities {strategy.tolist()}",
            "numbers of at least 0 that sum to one over axis 0, the actions",
        )
    _check_repeatable(where, ask, strategy)


def _check_rule_update(rule: Rule, regret: Array, prediction: Array, instant: Array, t: float) -> None:
    where = f"rule {rule}: update of regrets {regret.tolist()} by {instant.tolist()} at T = {t:g}"

    def ask(hands: slice) -> Array:
        regrets, predictions, new = (_embedded(a[:, hands]) for a in (regret, prediction, instant))
        with report_location(where):
            rule.update(regrets, predictions if rule.predictive else regrets, new, t)
        return np.stack([regrets, predictions if rule.predictive else regrets])

    updated = ask(slice(None))
    if not np.all(np.isfinite(updated)):
        fail(where, f"regrets {updated[0].tolist()} and predictions {updated[1].tolist()}", "finite numbers")
    _check_repeatable(where, ask, updated)


# --- Solving ---


def _check_solves(schedule: AnySchedule, tree: Tree, where: str, iterations: int, target: float) -> None:
    with report_location(where):
        first, second = CFR(tree, schedule), CFR(tree, schedule)
        first.step(iterations)
        for part in (iterations // 3, iterations - iterations // 3):
            second.step(part)
        average = first.average()
    check_strategy(average)
    check_strategy(first.current())
    if not np.array_equal(average.probabilities, second.average().probabilities):
        fail(where, f"{iterations} iterations in one go and in two gave different strategies", "the same strategy")
    exploitability = first.exploitability()
    if not (math.isfinite(exploitability) and exploitability <= target):
        fail(where, f"exploitability {exploitability:g} after {iterations} iterations", f"at most {target:g} chips")
