"""The numbers of every schedule against values computed by hand, and schedules as text."""

from __future__ import annotations

import math
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverboat.core.errors import InputError
from riverboat.solvers import schedules
from riverboat.solvers.schedules import NEVER, SCHEDULES, Rule, Schedule, parse

NONE = -math.inf

# By hand, for T = 1 … 5: (factor on positive regrets, on negative ones, floor, factor on the average). On the first
# iteration nothing is stored yet, so its factors do not matter.
BY_HAND = {
    "vanilla": [(1, 1, NONE, 1)] * 5,
    "cfr+": [(1, 1, 0, 0), (1, 1, 0, 1 / 2), (1, 1, 0, 2 / 3), (1, 1, 0, 3 / 4), (1, 1, 0, 4 / 5)],
    "linear": [
        (0, 0, NONE, 0),
        (1 / 2, 1 / 2, NONE, 1 / 2),
        (2 / 3, 2 / 3, NONE, 2 / 3),
        (3 / 4, 3 / 4, NONE, 3 / 4),
        (4 / 5, 4 / 5, NONE, 4 / 5),
    ],
    "dcfr": [
        (0, 0, NONE, 0),
        (1 / 2, 1 / 2, NONE, 1 / 4),
        (2.828427124746190 / 3.828427124746190, 1 / 2, NONE, 4 / 9),  # 2^1.5 = √8
        (5.196152422706632 / 6.196152422706632, 1 / 2, NONE, 9 / 16),  # 3^1.5 = √27
        (8 / 9, 1 / 2, NONE, 16 / 25),  # 4^1.5 = 8
    ],
    "pcfr+": [(1, 1, 0, 0), (1, 1, 0, 1 / 4), (1, 1, 0, 4 / 9), (1, 1, 0, 9 / 16), (1, 1, 0, 16 / 25)],
}


def test_every_schedule_is_tabulated() -> None:
    assert set(BY_HAND) == set(SCHEDULES)


@pytest.mark.parametrize("name", BY_HAND)
def test_numbers_by_hand(name: str) -> None:
    schedule = parse(name)
    for t, (positive, negative, floor, decay) in enumerate(BY_HAND[name], start=1):
        step = schedule.step(t)
        assert step[:4] == pytest.approx((positive, negative, floor, decay), rel=1e-15, abs=0)
        assert step.t == t
    np.testing.assert_array_equal(schedule.steps(1, 5), [schedule.step(t) for t in range(1, 6)])
    np.testing.assert_array_equal(schedule.steps(3, 2), schedule.steps(1, 5)[2:4])
    assert schedule.steps(7, 0).shape == (0, 5)


def test_switches() -> None:
    assert {name: parse(name).alternating for name in SCHEDULES} == {
        "vanilla": False,  # Zinkevich et al. 2007
        "cfr+": True,
        "linear": True,
        "dcfr": True,
        "pcfr+": True,
    }
    assert [name for name in SCHEDULES if parse(name).predictive] == ["pcfr+"]
    assert [name for name in SCHEDULES if not parse(name).discounts] == ["vanilla"]


@pytest.mark.parametrize(
    "schedule", ["linear", "dcfr", "dcfr:alpha=2,beta=0.5,gamma=3", "dcfr:alpha=1,beta=-1,gamma=0"]
)
def test_schedule_equals_the_paper(schedule: str) -> None:
    """Discounting before adding at T = t + 1 equals discounting after adding at t (Brown & Sandholm 2019)."""
    made = parse(schedule)
    stored = paper = 0.0
    average = sums = 0.0
    increments = [3.0, -1.0, -7.0, 2.5, 4.0, -0.5]
    for t, r in enumerate(increments, start=1):
        positive, negative, _, decay, _ = made.step(t)
        stored = stored * (positive if stored > 0 else negative) + r
        paper += r
        paper *= t**made.alpha / (t**made.alpha + 1) if paper > 0 else t**made.beta / (t**made.beta + 1)
        after = made.step(t + 1)
        assert paper == pytest.approx(stored * (after.positive if stored > 0 else after.negative), rel=1e-14)
        # Averages: the sum of t^γ x_t, up to the factor T^γ that normalization removes.
        average = average * decay + abs(r)
        sums += t**made.gamma * abs(r)
        assert sums == pytest.approx(average * t**made.gamma, rel=1e-14)


def test_linear_weights_iteration_t_by_t() -> None:
    stored = sums = 0.0
    for t, r in enumerate([3.0, -1.0, -7.0, 2.5], start=1):
        step = parse("linear").step(t)
        stored = stored * step.positive + r
        sums += t * r
        assert sums == pytest.approx(t * stored, rel=1e-14)


def test_names_of_one_family() -> None:
    """Linear CFR is DCFR(1, 1, 1); CFR+ discards negative regrets, which is β = −∞."""
    assert parse("dcfr:alpha=1,beta=1,gamma=1").steps(1, 9).tolist() == parse("linear").steps(1, 9).tolist()
    forgets = parse("dcfr:alpha=inf,beta=-inf,gamma=1")
    assert [forgets.step(t)[:2] for t in (1, 2, 9)] == [(1.0, 0.0)] * 3
    assert [forgets.step(t).decay for t in (1, 2, 9)] == [parse("cfr+").step(t).decay for t in (1, 2, 9)]


# --- as text --------------------------------------------------------------------------------


def test_parsing() -> None:
    assert parse("dcfr:alpha=1.5,beta=0,gamma=2") == parse("dcfr") == schedules.dcfr() == schedules.dcfr(1.5, 0, 2)
    assert parse("dcfr:alpha=2").alpha == 2
    assert parse("vanilla:alternating=1") == schedules.vanilla(alternating=True)
    assert parse("cfr+:gamma=2,alternating=0") == schedules.cfr_plus(gamma=2, alternating=False)
    assert parse("pcfr+:gamma=1") == schedules.pcfr_plus(gamma=1)
    assert parse("linear") == schedules.linear()
    assert parse("dcfr:alpha=inf").alpha == NEVER
    made = schedules.dcfr(alpha=3)
    assert parse(made) is made


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("cfr", "vanilla"),
        ("CFR", "vanilla"),
        ("cfrplus", "cfr+"),
        ("cfr_plus", "cfr+"),
        ("CFR+", "cfr+"),
        ("lcfr", "linear"),
        ("LCFR", "linear"),
        ("DCFR", "dcfr"),
        ("pcfr_plus", "pcfr+"),
        ("cfr+:", "cfr+"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    assert parse(alias) == parse(name)
    assert str(parse(alias)) == name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "dcrf",
            r"'dcrf'.*'dcfr'.*cfr\+, dcfr, linear, module:object, pcfr\+, vanilla",
        ),
        ("", "schedule ''"),
        (
            "dcfr:delta=1",
            r"'dcfr:delta=1'.*'delta'.*alpha, alternating, beta, floored, gamma, predictive",
        ),
        ("dcfr:alpa=1", "'alpa'.*'alpha'"),
        ("dcfr:alpha=big", "alpha='big'"),
        ("dcfr:alpha=nan", "alpha='nan'"),
        ("dcfr:alpha=", "alpha=''"),
        ("dcfr:alpha", "dcfr:alpha"),
        ("no_such_module_here:thing", "no_such_module_here"),
        ("math:no_such_name", "no_such_name"),
        ("math:pi", "'math:pi'.*float"),
    ],
)
def test_errors_list_valid_names(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse(text)


def test_negative_gamma_is_rejected() -> None:
    """0^γ of the first iteration is undefined for γ < 0: an InputError, not a Python traceback."""
    with pytest.raises(InputError, match="gamma"):
        parse("dcfr:gamma=-1").step(1)


@pytest.mark.parametrize("t", [0, -1])
def test_iterations_count_from_one(t: int) -> None:
    for name in SCHEDULES:
        with pytest.raises(InputError, match=rf"{t}\b.* 1$"):
            parse(name).step(t)


def test_module_and_object(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("my_schedules")
    module.mine = Schedule("mine", alpha=2.0)  # type: ignore[attr-defined]
    module.make = lambda: schedules.dcfr(alpha=3)  # type: ignore[attr-defined]
    module.rule = Rule(len, len, "twist")  # type: ignore[attr-defined, arg-type]
    monkeypatch.setitem(sys.modules, "my_schedules", module)
    assert parse("my_schedules:mine") is module.mine
    assert str(module.mine) == "mine"
    assert parse("my_schedules:make").alpha == 3
    assert parse("my_schedules:rule").rule is module.rule
    assert str(module.rule) == "twist"


NUMBERS = st.floats(allow_nan=False)


@given(st.sampled_from(SCHEDULES), NUMBERS, NUMBERS, st.floats(0, 100), st.booleans(), st.booleans(), st.booleans())
def test_round_trip(
    name: str, alpha: float, beta: float, gamma: float, floored: bool, predictive: bool, alternating: bool
) -> None:
    """The text in provenance restores the schedule exactly."""
    made = Schedule(name, alpha, beta, gamma, floored, predictive, alternating)
    assert parse(str(made)) == made


def test_text_is_short() -> None:
    assert str(parse("dcfr:alpha=1.5,beta=0,gamma=2")) == "dcfr"
    assert str(parse("dcfr:beta=0.5,alpha=2")) == "dcfr:alpha=2,beta=0.5"
    assert str(parse("vanilla:alternating=1")) == "vanilla:alternating=1"
    assert str(parse("cfr+:alternating=0")) == "cfr+:alternating=0"


@given(NUMBERS, st.integers(1, 10**6))
def test_any_exponent_gives_factors(exponent: float, t: int) -> None:
    step = Schedule("any", alpha=exponent, beta=exponent).step(t)
    assert 0 <= step.positive <= 1
    assert step.positive == step.negative


def test_alpha_rises_over_the_first_hundred_iterations() -> None:
    rising = schedules.parse("dcfr:alpha=1,rise=0.5")
    assert str(rising) == "dcfr:alpha=1,rise=0.5"
    for t, alpha in ((1, 1.005), (21, 1.105), (100, 1.5), (300, 1.5)):
        assert rising.step(t) == schedules.dcfr(alpha=alpha).step(t)
    with pytest.raises(InputError, match="rise=inf"):
        schedules.dcfr(rise=float("inf"))
