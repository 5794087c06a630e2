"""A CFR variant is a few numbers for each iteration T = 1, 2, …

The clock, once for the whole project: on iteration T the stored regrets are first multiplied by
`positive` (where they are above zero) or `negative`, then the new regrets are added, then everything
below `floor` is lifted to it; the stored average is multiplied by `decay`, then reach × strategy is added. A
discount t^x / (t^x + 1) "after iteration t" of Brown & Sandholm 2019 is therefore applied here at T = t + 1,
which plays the same strategies. `decay` = ((T - 1) / T)^gamma weighs iteration T by T^gamma.

`predictive` plays the positive part of regret + prediction, the prediction being the last increment (Farina,
Kroer & Sandholm 2021). Alternating: player 1 answers the strategy that player 0 has just updated to;
simultaneous: both answer the same profile. Sampled traversals always alternate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from riverboat.core import plugins
from riverboat.core.errors import InputError, shown, unknown
from riverboat.games.base import Array

NEVER = math.inf  # an exponent: the factor is one, nothing is discounted
MOST_STAKES = 2.0
RISEN = 100  # iterations over which alpha rises


class Step(NamedTuple):
    """The numbers of one iteration."""

    positive: float  # factor on stored regrets above zero
    negative: float  # factor on stored regrets below zero
    floor: float  # regrets end at or above this
    decay: float  # factor on the stored average
    t: float  # the iteration


@dataclass(frozen=True)
class Schedule:
    """Exponents and switches; `step(T)` gives the numbers."""

    name: str
    alpha: float = NEVER
    beta: float = NEVER
    gamma: float = 0.0
    floored: bool = False
    predictive: bool = False
    alternating: bool = True
    stakes: float = 0.0  # power of pots by which the regrets of large moves count less; betting × boards only
    rise: float = 0.0  # alpha is larger by so much after a hundred iterations

    rule: ClassVar[None] = None

    def __post_init__(self) -> None:
        _check_gamma(self.name, self.gamma)
        for what, exponent in (("alpha", self.alpha), ("beta", self.beta)):
            if math.isnan(exponent):
                raise InputError(f"schedule {self.name!r}: {what} is not a number")
        if not math.isfinite(self.rise):
            raise InputError(f"schedule {self.name!r}: rise={self.rise:g}: by how much alpha grows, such as 0.4")
        if not 0 <= self.stakes <= MOST_STAKES:
            raise InputError(f"schedule {self.name!r}: stakes={self.stakes:g}: from 0 to {MOST_STAKES:g}")

    def step(self, t: int) -> Step:
        """The numbers of iteration t (from 1)."""
        if t < 1:
            raise InputError(f"iteration {t}: iterations count from 1")
        return Step(
            _discount(t - 1, self.alpha + self.rise * min(t / RISEN, 1.0)),
            _discount(t - 1, self.beta),
            0.0 if self.floored else -math.inf,
            ((t - 1) / t) ** self.gamma,
            float(t),
        )

    @property
    def discounts(self) -> bool:
        """Whether old iterations count less than new ones anywhere."""
        return self.alpha != NEVER or self.beta != NEVER or self.gamma != 0.0

    def steps(self, first: int, count: int) -> Array:
        """The numbers of iterations first … first + count - 1. float64 [count, 5]"""
        return np.array([self.step(t) for t in range(first, first + count)], float).reshape(count, 5)

    def __str__(self) -> str:
        default = _TABLE.get(self.name)
        if default is None:
            return self.name
        changed = [
            f"{f.name}={_show(getattr(self, f.name))}"
            for f in fields(self)
            if f.name != "name" and getattr(self, f.name) != getattr(default, f.name)
        ]
        return self.name + (":" + ",".join(changed) if changed else "")


@dataclass(frozen=True)
class Rule:
    """A regret minimiser of your own, compiled with `numba.njit`, in place of the built-in one.

    `strategy(regret, prediction, t, out)` writes the probabilities, `update(regret, prediction, instant, t)` takes
    the regrets of one iteration; all arrays are [actions, hands]. Averages weigh iteration T by T^gamma.
    """

    strategy: Callable[..., None]
    update: Callable[..., None]
    name: str = "rule"
    gamma: float = 0.0
    predictive: bool = False  # whether a prediction table is kept
    alternating: bool = True
    discounts: ClassVar[bool] = True
    stakes: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        _check_gamma(self.name, self.gamma)

    @property
    def rule(self) -> Rule:
        """Itself."""
        return self

    def step(self, t: int) -> Step:
        """Only `decay` and `t` are used."""
        return Step(1.0, 1.0, -math.inf, ((t - 1) / t) ** self.gamma, float(t))

    def steps(self, first: int, count: int) -> Array:
        """The numbers of iterations first … first + count - 1. float64 [count, 5]"""
        return np.array([self.step(t) for t in range(first, first + count)], float).reshape(count, 5)

    def __str__(self) -> str:
        return self.name


AnySchedule: TypeAlias = Schedule | Rule


def _discount(t: int, exponent: float) -> float:
    """t^x / (t^x + 1), by which regrets are multiplied after iteration t."""
    if exponent == NEVER:
        return 1.0
    if exponent == -NEVER:
        return 0.0
    if t == 0:
        return 0.0
    power = -exponent * math.log(t)
    return 1.0 / (1.0 + math.exp(power)) if power < 700 else 0.0  # beyond, exp would overflow


def _check_gamma(name: str, gamma: float) -> None:
    if not 0 <= gamma < math.inf:
        raise InputError(f"schedule {name!r}: gamma={gamma:g}: averages weigh iteration T by T^gamma, gamma 0 or more")


_TABLE: dict[str, Schedule] = {
    # Zinkevich et al. 2007: both players answer the same profile
    "vanilla": Schedule("vanilla", alternating=False),
    # Tammelin et al. 2015
    "cfr+": Schedule("cfr+", gamma=1.0, floored=True),
    # Brown & Sandholm 2019
    "linear": Schedule("linear", alpha=1.0, beta=1.0, gamma=1.0),
    "dcfr": Schedule("dcfr", alpha=1.5, beta=0.0, gamma=2.0),
    # Farina, Kroer & Sandholm 2021
    "pcfr+": Schedule("pcfr+", gamma=2.0, floored=True, predictive=True),
}
_ALIASES = {"cfr": "vanilla", "cfrplus": "cfr+", "cfr_plus": "cfr+", "lcfr": "linear", "pcfr_plus": "pcfr+"}
SCHEDULES = tuple(_TABLE)


def vanilla(*, alternating: bool = False) -> Schedule:
    """Counterfactual regret minimisation as first published."""
    return replace(_TABLE["vanilla"], alternating=alternating)


def cfr_plus(*, gamma: float = 1.0, alternating: bool = True) -> Schedule:
    """CFR+: regrets floored at zero, linear averaging."""
    return replace(_TABLE["cfr+"], gamma=gamma, alternating=alternating)


def linear(*, alternating: bool = True) -> Schedule:
    """Linear CFR: iteration T counts T times."""
    return replace(_TABLE["linear"], alternating=alternating)


def dcfr(
    alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0, *, alternating: bool = True, stakes: float = 0.0,
    rise: float = 0.0,
) -> Schedule:  # fmt: skip
    """Discounted CFR."""
    return replace(
        _TABLE["dcfr"], alpha=alpha, beta=beta, gamma=gamma, alternating=alternating, stakes=stakes, rise=rise
    )


def pcfr_plus(*, gamma: float = 2.0, alternating: bool = True) -> Schedule:
    """Predictive CFR+, quadratic averaging."""
    return replace(_TABLE["pcfr+"], gamma=gamma, alternating=alternating)


def parse(text: str | AnySchedule, *, imports: bool = True) -> AnySchedule:
    """A schedule by name with numbers (`dcfr:alpha=1.5,beta=0,gamma=2`), or `module:object`.

    Without `imports` the last is refused: what stands in a file does not say which code is run.
    """
    if not isinstance(text, str):
        return text
    head, _, tail = text.partition(":")
    name = _ALIASES.get(head.lower(), head.lower())
    if name in _TABLE:
        return _with_options(_TABLE[name], text, tail)
    if imports and tail.isidentifier() and all(part.isidentifier() for part in head.split(".")):
        return _import(text, head, tail)
    raise unknown("schedule", head, [*SCHEDULES, *(["module:object"] if imports else [])])


def without_stakes(schedule: AnySchedule, where: str) -> AnySchedule:
    """The schedule, refused where it weighs moves by pots and the solver cannot."""
    if schedule.stakes:
        raise InputError(f"schedule {schedule}: {where} cannot weigh moves by their pots: leave out stakes")
    return schedule


def _with_options(schedule: Schedule, text: str, tail: str) -> Schedule:
    kinds = {f.name: getattr(schedule, f.name) for f in fields(schedule) if f.name != "name"}
    changes: dict[str, Any] = {}
    for option in (o for o in tail.split(",") if o):
        key, equals, value = option.partition("=")
        if key not in kinds:
            raise InputError(f"schedule {shown(text)}: {unknown('option', key, kinds)}")
        if not equals:
            raise InputError(f"schedule {shown(text)}: option {key!r} needs a number: {key}=…")
        try:
            number = float(value)
        except ValueError:
            raise InputError(f"schedule {shown(text)}: {key}={shown(value)} is not a number") from None
        if math.isnan(number):
            raise InputError(f"schedule {shown(text)}: {key}={shown(value)} is not a number")
        changes[key] = bool(number) if isinstance(kinds[key], bool) else number
    return replace(schedule, **changes)


def _import(text: str, module: str, name: str) -> AnySchedule:
    schedule = plugins.attribute("schedule", text, module, name)
    if callable(schedule) and not isinstance(schedule, Schedule | Rule):
        with plugins.told("schedule", text, f"{name} cannot be made; a maker takes no arguments"):
            schedule = schedule()
    if not isinstance(schedule, Schedule | Rule):
        raise InputError(f"schedule {shown(text)}: {type(schedule).__name__} is neither a Schedule nor a Rule")
    return schedule


def _show(value: float) -> str:
    if isinstance(value, bool):
        return f"{int(value)}"
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
