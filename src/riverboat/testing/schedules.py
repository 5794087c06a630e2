"""The contract of a schedule, and of a rule in its place."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from riverboat.games.base import Array
from riverboat.games.small.poker import kuhn
from riverboat.solvers import schedules
from riverboat.solvers.schedules import AnySchedule, Rule, Step
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.testing.failures import TOLERANCE, at, fail
from riverboat.testing.strategies import check_strategy
from riverboat.trees.compile import compile_game, histories

CLOCK = (*range(1, 33), 100, 1_000, 10_000, 1_000_000)  # iterations whose numbers are looked at


def check_schedule(schedule: str | AnySchedule, *, iterations: int = 500, target: float = 0.05) -> None:
    """Raise unless a schedule, or a rule, can drive a solver.

    - `step(T)` gives numbers that are not NaN, the same ones whenever it is asked: factors on regrets and `decay` from
      0 to 1, `floor` at most 0 (minus infinity for none), `t` equal to T. `steps` gives the same numbers in rows.
    - `discounts` is true where any factor is below one, since samplers leave discounting out where it is false.
    - Of a rule: `strategy` writes a distribution for every hand and touches nothing else; `update` leaves finite
      numbers; both work on slices, treat each hand by itself, and give the same answer to the same question.
    - After `iterations` iterations on Kuhn poker the average strategy has an exploitability of at most `target` chips
      (uniform play has 11/24), on hands as vectors as well as history by history; run twice it is the same strategy.
    """
    with at(f"schedule {schedule!s}"):
        parsed = schedules.parse(schedule)
    where = f"schedule {parsed}"
    _check_switches(parsed, where)
    _check_steps(parsed, where)
    if parsed.rule is not None:
        _check_rule(parsed.rule)
    vectors = compile_game(kuhn())
    for tree, what in ((vectors, "on the public tree"), (histories(vectors), "history by history")):
        _check_solves(parsed, tree, f"{where}, Kuhn poker {what}", iterations, target)


def _check_switches(schedule: AnySchedule, where: str) -> None:
    for switch in ("predictive", "alternating", "discounts"):
        value = getattr(schedule, switch, None)
        if not isinstance(value, bool):
            fail(where, f"{switch} is {value!r}", "True or False")
    if not isinstance(schedule.rule, Rule | None):
        fail(where, f"rule is a {type(schedule.rule).__name__}", "a Rule, or None for regret matching")


def _check_steps(schedule: AnySchedule, where: str) -> None:
    for t in CLOCK:
        with at(f"{where}: step({t})"):
            step = Step(*schedule.step(t))
            rows = schedule.steps(t, 2)
        here = f"{where} at T = {t}"
        for name in ("positive", "negative", "decay"):
            factor = getattr(step, name)
            if not 0 <= factor <= 1:
                fail(here, f"{name} is {factor}", "a factor from 0 to 1")
        if not step.floor <= 0:
            fail(here, f"floor is {step.floor}", "at most 0, or -inf for none")
        if step.t != t:
            fail(here, f"t is {step.t}", f"{t}")
        if Step(*schedule.step(t)) != step:
            fail(here, f"asked twice it says {step} and {schedule.step(t)}", "the same numbers")
        expected = np.array([step, schedule.step(t + 1)])
        if np.shape(rows) != (2, 5) or not np.array_equal(rows, expected):
            fail(here, f"steps({t}, 2) is {np.asarray(rows).tolist()}", f"{expected.tolist()}, as step says")
        if rows.dtype != np.float64:  # the kernels would be compiled anew
            fail(here, f"steps({t}, 2) has numbers of type {rows.dtype}", "float64: write 1.0 instead of 1")
        if not schedule.discounts and min(step.positive, step.negative, step.decay) < 1:
            fail(here, f"discounts is False and the step is {step}", "discounts to be True where a factor is below 1")


# --- rules ----------------------------------------------------------------------------------


def _check_rule(rule: Rule) -> None:
    random = np.random.default_rng(0)
    for width, hands in ((1, 1), (2, 3), (3, 4), (5, 1)):
        regret = random.normal(size=(width, hands))
        prediction = random.normal(size=(width, hands)) if rule.predictive else regret
        nothing = np.zeros((width, hands))
        _check_rule_strategy(rule, nothing, nothing, 1.0)
        _check_rule_strategy(rule, -np.abs(regret), prediction, 2.0)
        _check_rule_strategy(rule, 1e3 * regret, 1e3 * prediction, 7.0)
        _check_rule_update(rule, regret, prediction, random.normal(size=(width, hands)), 7.0)


def _slice(values: Array) -> Array:
    """The values as a part of something larger, which is how the kernels hand them over."""
    around = np.full((values.shape[0] + 2, values.shape[1] + 3), np.nan)
    inside = around[1:-1, 2:-1]
    inside[:] = values
    return inside


def _check_answer(where: str, ask: Callable[[slice], Array], together: Array) -> None:
    """The answer for all hands together must be repeatable, and that of each hand alone."""
    again, hands = ask(slice(None)), together.shape[-1]
    if not np.array_equal(together, again):
        fail(where, f"the same question was answered {together.tolist()} and {again.tolist()}", "one answer")
    for hand in range(hands):
        alone = ask(slice(hand, hand + 1))[..., 0]
        if not np.allclose(alone, together[..., hand], rtol=1e-9, atol=1e-12):
            fail(
                where,
                f"hand {hand} alone gives {alone.tolist()}, among {hands} hands {together[..., hand].tolist()}",
                "columns that do not depend on each other: arrays are [actions, hands]",
            )


def _check_rule_strategy(rule: Rule, regret: Array, prediction: Array, t: float) -> None:
    where = f"rule {rule}: strategy of regrets {regret.tolist()} at T = {t:g}"

    def ask(hands: slice) -> Array:
        given, guess = _slice(regret[:, hands]), _slice(prediction[:, hands])
        out = _slice(np.full(given.shape, np.nan))
        with at(where):
            rule.strategy(given, guess if rule.predictive else given, t, out)
        if not (np.array_equal(given, regret[:, hands]) and np.array_equal(guess, prediction[:, hands])):
            fail(where, "regrets or predictions were changed", "only `out` to be written")
        around = out if out.base is None else out.base
        if np.isfinite(around).sum() > out.size:
            fail(where, "numbers were written beside `out`", "only `out` to be written")
        return out

    answer = ask(slice(None))
    if not (np.all(answer >= 0) and np.all(np.abs(answer.sum(axis=0) - 1) <= TOLERANCE)):
        fail(
            where, f"probabilities {answer.tolist()}", "numbers of at least 0 that sum to one over axis 0, the actions"
        )
    _check_answer(where, ask, answer)


def _check_rule_update(rule: Rule, regret: Array, prediction: Array, instant: Array, t: float) -> None:
    where = f"rule {rule}: update of regrets {regret.tolist()} by {instant.tolist()} at T = {t:g}"

    def ask(hands: slice) -> Array:
        given, guess, new = (_slice(a[:, hands]) for a in (regret, prediction, instant))
        with at(where):
            rule.update(given, guess if rule.predictive else given, new, t)
        return np.stack([given, guess if rule.predictive else given])

    answer = ask(slice(None))
    if not np.all(np.isfinite(answer)):
        fail(where, f"regrets {answer[0].tolist()} and predictions {answer[1].tolist()}", "finite numbers")
    _check_answer(where, ask, answer)


# --- solving --------------------------------------------------------------------------------


def _check_solves(schedule: AnySchedule, tree: Tree, where: str, iterations: int, target: float) -> None:
    with at(where):
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
