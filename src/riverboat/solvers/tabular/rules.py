"""A user's compiled rule in place of regret matching, in every traversal of trees of single games.

As on boards (`riverboat.engines.rules`): the kernels call `match` and `learn` by their global names.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from numba import njit

from riverboat.compiled.jit import OPTIONS
from riverboat.engines.rules import check_rule, rebind
from riverboat.solvers.schedules import AnySchedule, Rule
from riverboat.solvers.tabular._kernels import iterations, traversal


@cache
def _specialise(rule: Rule, dtype: str) -> SimpleNamespace:
    check_rule(rule, dtype)
    strategy, update = rule.strategy, rule.update

    @njit(nogil=True)
    def match(regret, prediction, at, width, low, high, t, out, to):  # type: ignore[no-untyped-def]
        guess = prediction if len(prediction) > 0 else regret  # the rule must not use it where none is kept
        strategy(regret[at : at + width, low:high], guess[at : at + width, low:high], t, out[to : to + width, low:high])

    @njit(nogil=True)
    def learn(regret, prediction, at, width, low, high, step, instant, to):  # type: ignore[no-untyped-def]
        guess = prediction if len(prediction) > 0 else regret
        gained = instant[to : to + width, low:high]
        update(regret[at : at + width, low:high], guess[at : at + width, low:high], gained, step[4])

    @njit(**OPTIONS)
    def reach_on(regret, prediction, at, width, low, high, t, reach, here, row):  # type: ignore[no-untyped-def]
        match(regret, prediction, at, width, low, high, t, reach, row)
        for a in range(width):
            for h in range(low, high):
                reach[row + a, h] *= reach[here, h]

    @njit(**OPTIONS)
    def absorb(tables, at, width, low, high, step, share, instant, reach, row):  # type: ignore[no-untyped-def]
        for a in range(width):
            for h in range(low, high):
                instant[row + a, h] *= share[h]  # nobody reads it after this
        learn(tables.regret, tables.prediction, at, width, low, high, step, instant, row)
        for a in range(width):
            for h in range(low, high):
                tables.average[at + a, h] = tables.average[at + a, h] * step[3] + reach[row + a, h]

    made: dict[str, Any] = {"match": match, "learn": learn, "reach_on": reach_on, "absorb": absorb}
    rebind((traversal, iterations), made)
    return SimpleNamespace(**{**vars(traversal), **vars(iterations), **made})


_BUILT_IN = SimpleNamespace(**{**vars(traversal), **vars(iterations)})


def kernels(schedule: AnySchedule, dtype: str) -> SimpleNamespace:
    """The compiled loops for a schedule or a rule."""
    return _BUILT_IN if schedule.rule is None else _specialise(schedule.rule, dtype)
