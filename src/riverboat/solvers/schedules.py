"""Schedules of CFR: a variant is a few numbers for each iteration T = 1, 2, …

One convention holds for the whole project. On iteration T the stored regrets are first multiplied by `positive` (if
above zero) or `negative`. Then the new regrets are added, and everything below `floor` is raised to it. The stored
average is multiplied by `decay`, then reach × strategy is added.

Brown & Sandholm (2019) discount by t^x / (t^x + 1) after iteration t. Here the same factor is applied at T = t + 1,
which plays the same strategies. `decay` = ((T - 1) / T)^gamma weights iteration T by T^gamma.

`predictive` matches the positive part of regret + prediction; the prediction is the last increment (Farina, Kroer &
Sandholm 2021). Alternating: player 1 responds to the strategy to which player 0 has just updated; simultaneous: both
respond to the same profile. Sampled traversals always alternate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from riverboat.core import plugins, validation
from riverboat.core.errors import InputError, located_errors, short_repr, unknown_name_error
from riverboat.games.base import Array

NEVER = math.inf  # an exponent that gives the factor one: no discount
MAX_STAKES = 2.0
RISE_ITERATIONS = 100  # iterations over which alpha rises


class ScheduleStep(NamedTuple):
    """The numbers of a schedule at one iteration.

    Attributes
    ----------
    positive
        Factor on stored regrets above zero.
    negative
        Factor on stored regrets below zero.
    floor
        Lower bound of regrets after the update; minus infinity without a floor.
    decay
        Factor on the stored average.
    t
        The iteration, from 1.

    Examples
    --------
    >>> from riverboat.solvers import schedules
    >>> schedules.cfr_plus().step(2)
    ScheduleStep(positive=1.0, negative=1.0, floor=0.0, decay=0.5, t=2.0)
    """

    positive: float  # factor on stored regrets above zero
    negative: float  # factor on stored regrets below zero
    floor: float  # lower bound of regrets
    decay: float  # factor on the stored average
    t: float  # the iteration


@dataclass(frozen=True)
class Schedule:
    """A CFR variant: exponents and switches. `step(T)` returns the numbers of iteration T.

    Parameters
    ----------
    name
        Name in texts, such as "dcfr".
    alpha
        Exponent of the discount on positive regrets; infinity: no discount.
    beta
        Exponent of the discount on negative regrets; infinity: no discount.
    gamma
        Averages weight iteration T by T^gamma; 0 or more.
    floored
        Whether regrets below zero are raised to zero, as in CFR+.
    predictive
        Whether regret matching adds the last increment as a prediction (Farina, Kroer & Sandholm 2021).
    alternating
        Whether players update in turn; otherwise both respond to the same profile.
    stakes
        Power of the pot by which regrets of large actions count less, from 0 to 2; betting × boards only.
    rise
        Increase of alpha over the first hundred iterations.

    Raises
    ------
    InputError
        If an exponent is not a number, or `gamma`, `rise` or `stakes` is out of range.

    Examples
    --------
    >>> from riverboat.solvers.schedules import Schedule
    >>> Schedule("mine", alpha=1.5, beta=0.0, gamma=2.0).step(3).decay
    0.4444444444444444
    """

    name: str
    alpha: float = NEVER
    beta: float = NEVER
    gamma: float = 0.0
    floored: bool = False
    predictive: bool = False
    alternating: bool = True
    stakes: float = 0.0  # power of the pot by which regrets of large actions count less; betting × boards only
    rise: float = 0.0  # increase of alpha over the first hundred iterations

    rule: ClassVar[None] = None

    def __post_init__(self) -> None:
        validation.check_text("name", self.name)
        _check_gamma(self.name, self.gamma)
        for name in ("floored", "predictive", "alternating"):
            validation.check_boolean(name, getattr(self, name))
        for name in ("alpha", "beta", "stakes", "rise"):
            with located_errors(f"schedule {self.name!r}"):
                validation.check_number(name, getattr(self, name), -math.inf)
        if not math.isfinite(self.rise):
            raise InputError(
                f"schedule {self.name!r}: rise={self.rise:g}: must be a finite increase of alpha, such as 0.4"
            )
        if not 0 <= self.stakes <= MAX_STAKES:
            raise InputError(f"schedule {self.name!r}: stakes={self.stakes:g}: must be from 0 to {MAX_STAKES:g}")

    def step(self, t: int) -> ScheduleStep:
        """Return the numbers of one iteration.

        Parameters
        ----------
        t
            The iteration, from 1.

        Raises
        ------
        InputError
            If `t` is below 1.
        """
        if t < 1:
            raise InputError(f"iteration {t}: iterations count from 1")
        positive = _discount(t - 1, self.alpha + self.rise * min(t / RISE_ITERATIONS, 1.0))
        floor = 0.0 if self.floored else -math.inf
        return ScheduleStep(positive, _discount(t - 1, self.beta), floor, ((t - 1) / t) ** self.gamma, float(t))

    @property
    def discounts(self) -> bool:
        """Whether any regrets or averages are discounted."""
        return self.alpha != NEVER or self.beta != NEVER or self.gamma != 0.0

    def steps(self, first: int, count: int) -> Array:
        """Return the numbers of several iterations. float64 [count, 5]

        Parameters
        ----------
        first
            The first iteration, from 1.
        count
            Number of iterations.
        """
        return np.array([self.step(t) for t in range(first, first + count)], float).reshape(count, 5)

    def __str__(self) -> str:
        default = _TABLE.get(self.name)
        if default is None:
            return self.name
        changed = [f.name for f in fields(self) if getattr(self, f.name) != getattr(default, f.name)]
        options = ",".join(f"{name}={_show(getattr(self, name))}" for name in changed)
        return f"{self.name}:{options}" if options else self.name


@dataclass(frozen=True, eq=False)
class Rule:
    """A user-defined regret minimizer, compiled with `numba.njit`, in place of the built-in regret matching.

    All arrays are [actions, hands].

    Parameters
    ----------
    strategy
        `strategy(regret, prediction, t, out)` writes the probabilities of the actions to `out`.
    update
        `update(regret, prediction, instant, t)` adds the regrets `instant` of one iteration.
    name
        Name in results and messages.
    gamma
        Averages weight iteration T by T^gamma; 0 or more.
    predictive
        Whether the rule uses a prediction table.
    alternating
        Whether players update in turn.
    parameters
        Numbers that both functions receive as a last argument, a float64 array. Without any they have no such argument.
        Other numbers need no other code: `rule.with_parameters(…)` for another run, `rule.parameters[0] = …` between two
        steps of a solver.

    Raises
    ------
    InputError
        If `gamma` is negative or infinite, or another argument is of the wrong type.

    Examples
    --------
    >>> from numba import njit
    >>> from riverboat.solvers.schedules import Rule
    >>> @njit
    ... def uniform(regret, prediction, t, out):
    ...     out[:] = 1.0 / len(out)
    >>> @njit
    ... def add(regret, prediction, instant, t):
    ...     regret += instant
    >>> str(Rule(uniform, add, name="uniform"))
    'uniform'
    """

    strategy: Callable[..., None]
    update: Callable[..., None]
    name: str = "rule"
    gamma: float = 0.0
    predictive: bool = False  # whether the rule uses a prediction table
    alternating: bool = True
    parameters: Array = field(default_factory=lambda: np.zeros(0))  # float64 [parameters], writable
    discounts: ClassVar[bool] = True
    stakes: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        validation.check_text("name", self.name)
        for name in ("strategy", "update"):
            if not callable(getattr(self, name)) or isinstance(getattr(self, name), type):
                raise InputError(
                    f"rule {self.name!r}: {name}={short_repr(getattr(self, name))}: must be a function compiled by Numba"
                )
        for name in ("predictive", "alternating"):
            validation.check_boolean(name, getattr(self, name))
        _check_gamma(self.name, self.gamma)
        object.__setattr__(self, "parameters", _parse_parameters(self.name, self.parameters))
        numbers = ",".join(_show(float(number)) for number in self.parameters)
        object.__setattr__(self, "_label", f"{self.name}({numbers})" if numbers else self.name)

    def with_parameters(self, *parameters: float) -> Rule:
        """Return the same rule with other parameters; nothing is compiled again.

        Parameters
        ----------
        *parameters
            As many numbers as the rule has.

        Raises
        ------
        InputError
            If they are not numbers, or not as many.
        """
        if len(parameters) != len(self.parameters):
            raise InputError(f"rule {self.name!r}: {len(parameters)} parameters, but it has {len(self.parameters)}")
        return replace(self, parameters=np.array(_parse_parameters(self.name, parameters)))

    @property
    def rule(self) -> Rule:
        """The rule itself; None for a schedule."""
        return self

    def step(self, t: int) -> ScheduleStep:
        """Return the numbers of one iteration; only `decay` and `t` are used.

        Parameters
        ----------
        t
            The iteration, from 1.
        """
        return ScheduleStep(1.0, 1.0, -math.inf, ((t - 1) / t) ** self.gamma, float(t))

    def steps(self, first: int, count: int) -> Array:
        """Return the numbers of several iterations. float64 [count, 5]

        Parameters
        ----------
        first
            The first iteration, from 1.
        count
            Number of iterations.
        """
        return np.array([self.step(t) for t in range(first, first + count)], float).reshape(count, 5)

    def __str__(self) -> str:
        return str(self.__dict__["_label"])  # with the parameters that it began with


AnySchedule: TypeAlias = Schedule | Rule
ScheduleOrFactory: TypeAlias = Schedule | Rule | Callable[[], Schedule | Rule]  # such as `schedules.cfr_plus`


def _discount(t: int, exponent: float) -> float:
    """Return t^x / (t^x + 1), the factor on regrets after iteration t."""
    if exponent == NEVER:
        return 1.0
    if exponent == -NEVER or t == 0:
        return 0.0
    power = -exponent * math.log(t)
    return 1.0 / (1.0 + math.exp(power)) if power < 700 else 0.0  # beyond, exp would overflow


def _parse_parameters(rule: str, parameters: Any) -> Array:
    """Return the parameters of a rule as an array of its own. float64 [parameters]"""
    with suppress(TypeError, ValueError):
        numbers = np.array(parameters, dtype=np.float64)
        if numbers.ndim == 1 and np.isfinite(numbers).all():
            return numbers
    raise InputError(f"rule {rule!r}: parameters={short_repr(parameters)}: must be a list of finite numbers")


def _check_gamma(name: str, gamma: float) -> None:
    validation.check_number("gamma", gamma, -math.inf)
    if not 0 <= gamma < math.inf:
        raise InputError(
            f"schedule {name!r}: gamma={gamma:g}: must be 0 or more (averages weight iteration T by T^gamma)"
        )


_TABLE: dict[str, Schedule] = {
    # Zinkevich et al. 2007: both players respond to the same profile
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
    """Return vanilla CFR: no discounts, uniform averaging.

    Parameters
    ----------
    alternating
        Whether players update in turn; by default both respond to the same profile, as in the paper.

    Returns
    -------
    Schedule
        The schedule "vanilla".

    References
    ----------
    .. [1] Zinkevich, Johanson, Bowling & Piccione, "Regret minimization in games with incomplete information", NIPS 2007.

    Examples
    --------
    >>> from riverboat.solvers import schedules
    >>> schedules.vanilla().discounts
    False
    """
    return replace(_TABLE["vanilla"], alternating=alternating)


def cfr_plus(*, gamma: float = 1.0, alternating: bool = True) -> Schedule:
    """Return CFR+: regrets floored at zero, linear averaging.

    Parameters
    ----------
    gamma
        Averages weight iteration T by T^gamma.
    alternating
        Whether players update in turn.

    Returns
    -------
    Schedule
        The schedule "cfr+".

    References
    ----------
    .. [1] Tammelin, Burch, Johanson & Bowling, "Solving heads-up limit Texas hold'em", IJCAI 2015.

    Examples
    --------
    >>> from riverboat.solvers import schedules
    >>> str(schedules.cfr_plus(gamma=2))
    'cfr+:gamma=2'
    """
    return replace(_TABLE["cfr+"], gamma=gamma, alternating=alternating)


def linear(*, alternating: bool = True) -> Schedule:
    """Return linear CFR: iteration T has weight T.

    Parameters
    ----------
    alternating
        Whether players update in turn.

    Returns
    -------
    Schedule
        The schedule "linear".

    References
    ----------
    .. [1] Brown & Sandholm, "Solving imperfect-information games via discounted regret minimization", AAAI 2019.

    Examples
    --------
    >>> from riverboat.solvers import schedules
    >>> schedules.linear().step(4).decay
    0.75
    """
    return replace(_TABLE["linear"], alternating=alternating)


def dcfr(
    alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0, *, alternating: bool = True, stakes: float = 0.0,
    rise: float = 0.0,
) -> Schedule:  # fmt: skip
    """Return discounted CFR.

    Parameters
    ----------
    alpha
        Exponent of the discount on positive regrets: after iteration t they are multiplied by t^alpha / (t^alpha + 1).
    beta
        Exponent of the discount on negative regrets.
    gamma
        Averages weight iteration T by T^gamma.
    alternating
        Whether players update in turn.
    stakes
        Power of the pot by which regrets of large actions count less, from 0 to 2; betting × boards only.
    rise
        Increase of alpha over the first hundred iterations.

    Returns
    -------
    Schedule
        The schedule "dcfr".

    Raises
    ------
    InputError
        If a number is out of range.

    References
    ----------
    .. [1] Brown & Sandholm, "Solving imperfect-information games via discounted regret minimization", AAAI 2019.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.dcfr().step(2)
    ScheduleStep(positive=0.5, negative=0.5, floor=-inf, decay=0.25, t=2.0)
    """
    return replace(
        _TABLE["dcfr"], alpha=alpha, beta=beta, gamma=gamma, alternating=alternating, stakes=stakes, rise=rise
    )


def pcfr_plus(*, gamma: float = 2.0, alternating: bool = True) -> Schedule:
    """Return predictive CFR+ with quadratic averaging.

    Parameters
    ----------
    gamma
        Averages weight iteration T by T^gamma.
    alternating
        Whether players update in turn.

    Returns
    -------
    Schedule
        The schedule "pcfr+".

    References
    ----------
    .. [1] Farina, Kroer & Sandholm, "Faster game solving via predictive Blackwell approachability", AAAI 2021.

    Examples
    --------
    >>> from riverboat.solvers import schedules
    >>> schedules.pcfr_plus().predictive
    True
    """
    return replace(_TABLE["pcfr+"], gamma=gamma, alternating=alternating)


def parse(text: str | ScheduleOrFactory, *, imports: bool = True) -> AnySchedule:
    """Parse a schedule.

    Parameters
    ----------
    text
        A name with options, such as "dcfr:alpha=1.5,beta=0,gamma=2"; `module:object`, a `Schedule`, a `Rule` or a function
        that returns one; or a schedule, which is returned. Names are in `SCHEDULES`.
    imports
        Whether `module:object` is accepted. Without it a file cannot choose which code runs.

    Returns
    -------
    Schedule or Rule
        The schedule.

    Raises
    ------
    InputError
        If the name or an option is unknown, or a value is not a number.

    Examples
    --------
    >>> from riverboat.solvers import schedules
    >>> schedules.parse("dcfr:gamma=3").gamma
    3.0
    """
    validation.check_boolean("imports", imports)
    if not isinstance(text, str):
        return _call_factory(text)
    head, _, tail = text.partition(":")
    name = _ALIASES.get(head.lower(), head.lower())
    if name in _TABLE:
        return _with_options(_TABLE[name], text, tail)
    if imports and tail.isidentifier() and all(part.isidentifier() for part in head.split(".")):
        return _import(text, head, tail)
    raise unknown_name_error("schedule", head, [*SCHEDULES, *(["module:object"] if imports else [])])


def _call_factory(schedule: Any) -> AnySchedule:
    """Return a schedule or rule; a function such as `schedules.cfr_plus` is called."""
    shown = short_repr(schedule)
    if callable(schedule) and not isinstance(schedule, Schedule | Rule):
        with plugins.user_code_errors("schedule", schedule, "is a function that cannot be called without arguments"):
            schedule = schedule()
    if not isinstance(schedule, Schedule | Rule):
        raise InputError(
            f"schedule={shown}: must be a name ({', '.join(SCHEDULES)}), a Schedule, a Rule, or a function that returns one"
        )
    return schedule


def reject_stakes(schedule: AnySchedule, where: str) -> AnySchedule:
    """Return a schedule, unless it weights actions by stakes where the solver does not support that.

    Parameters
    ----------
    schedule
        The schedule to check.
    where
        Name of the game or the traversal, for the message.

    Returns
    -------
    Schedule or Rule
        `schedule`.

    Raises
    ------
    InputError
        If the schedule has stakes.

    Examples
    --------
    >>> from riverboat.solvers import schedules
    >>> str(schedules.reject_stakes(schedules.dcfr(), "leduc"))
    'dcfr'
    """
    if schedule.stakes:
        raise InputError(f"schedule {schedule}: {where} does not support stakes: leave it out")
    return schedule


def _with_options(schedule: Schedule, text: str, tail: str) -> Schedule:
    kinds = {f.name: getattr(schedule, f.name) for f in fields(schedule) if f.name != "name"}
    changes: dict[str, Any] = {}
    for option in (o for o in tail.split(",") if o):
        key, equals, value = option.partition("=")
        if key not in kinds:
            raise InputError(f"schedule {short_repr(text)}: {unknown_name_error('option', key, kinds)}")
        if not equals:
            raise InputError(f"schedule {short_repr(text)}: option {key!r} needs a number: write {key}=…")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise InputError(f"schedule {short_repr(text)}: {key}={short_repr(value)} is not a number")
        changes[key] = bool(number) if isinstance(kinds[key], bool) else number
    return replace(schedule, **changes)


def _import(text: str, module: str, name: str) -> AnySchedule:
    schedule = plugins.import_user_object("schedule", text, module, name)
    if callable(schedule) and not isinstance(schedule, Schedule | Rule):
        with plugins.user_code_errors("schedule", text, f"calling {name}() failed; a factory must take no arguments"):
            schedule = schedule()
    if not isinstance(schedule, Schedule | Rule):
        raise InputError(f"schedule {short_repr(text)}: {type(schedule).__name__} is neither a Schedule nor a Rule")
    return schedule


def _show(value: float) -> str:
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
