"""The seven translation mappings: the paper's axioms as properties, its numbers, translated bets and chosen actions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.abstraction.actions.translation import (
    CALL_SIZE,
    TRANSLATION_MAPPINGS,
    PotFraction,
    action_sizes,
    nearest_action,
    probability_of_lower,
    translate_bet,
    translation_probabilities,
)
from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.games.small.poker import leduc

NAMES = st.sampled_from(sorted(TRANSLATION_MAPPINGS))
RANDOMISED = st.sampled_from([m for m, rule in TRANSLATION_MAPPINGS.items() if rule.randomised])
ROBUST = st.sampled_from(["rand-arith", "rand-pshar"])
TIES = st.sampled_from(["low", "high"])
GEOMETRIC = ["det-geo", "rand-geo-1", "rand-geo-2"]


@st.composite
def neighbours(draw: st.DrawFn, least: float = 0.01) -> tuple[float, float]:
    low = draw(st.one_of(st.just(0.0), st.floats(least, 50))) if least == 0.01 else draw(st.floats(least, 50))
    return low, low + draw(st.floats(0.05, 50))


def between(low: float, high: float, part: float) -> float:
    return low + (high - low) * part


PART = st.floats(0, 1)


# --- axioms -----------------------------------------------------------------------------------


@settings(deadline=None)
@given(NAMES, neighbours(), TIES)
def test_boundaries(mapping: str, sizes: tuple[float, float], tie: str) -> None:
    assert probability_of_lower(mapping, *sizes, sizes[0], tie) == 1  # type: ignore[arg-type]
    assert probability_of_lower(mapping, *sizes, sizes[1], tie) == 0  # type: ignore[arg-type]


@settings(deadline=None)
@given(NAMES, neighbours(), PART, PART, TIES)
def test_monotone_and_a_probability(mapping: str, sizes: tuple[float, float], one: float, two: float, tie: str) -> None:
    small, large = sorted(between(*sizes, part) for part in (one, two))
    first, second = (probability_of_lower(mapping, *sizes, x, tie) for x in (small, large))  # type: ignore[arg-type]
    assert 0 <= second <= first + 1e-12 <= 1 + 1e-9


@settings(deadline=None)
@given(NAMES, st.floats(1, 1000), st.floats(0, 5), st.floats(0.05, 5), PART, st.integers(1, 1000))
def test_scale_invariance(mapping: str, pot: float, low: float, gap: float, part: float, scale: int) -> None:
    """Scaling the bets and the pot by the same factor changes nothing, up to rounding near a threshold."""
    x = between(low, low + gap, part)
    rule = TRANSLATION_MAPPINGS[mapping]
    if rule.threshold is not None and abs(x - rule.threshold(low, low + gap)) < 1e-6:
        return
    chips = [size * pot for size in (low, low + gap, x)]
    scaled = [size * scale / (pot * scale) for size in chips]
    if scaled[0] < scaled[1]:
        assert probability_of_lower(mapping, *scaled) == pytest.approx(
            probability_of_lower(mapping, low, low + gap, x), abs=1e-6
        )


@settings(deadline=None)
@given(st.sampled_from(["rand-arith", "rand-geo-1", "rand-geo-2"]), neighbours(0.02), PART, st.floats(0.1, 10))
def test_most_mappings_do_not_need_the_pot(mapping: str, sizes: tuple[float, float], part: float, scale: float) -> None:
    x = between(*sizes, part)
    assert probability_of_lower(mapping, *(scale * s for s in (*sizes, x))) == pytest.approx(
        probability_of_lower(mapping, *sizes, x), abs=1e-6
    )


@settings(deadline=None)
@given(RANDOMISED, neighbours(0.1), st.floats(0, 0.999))
def test_randomised_mappings_are_continuous_in_x(mapping: str, sizes: tuple[float, float], part: float) -> None:
    x, step = between(*sizes, part), (sizes[1] - sizes[0]) * 1e-6
    slope = 4 / (sizes[1] - sizes[0]) + 4 / sizes[0]  # generous; the mappings are smooth for A > 0
    assert (
        probability_of_lower(mapping, *sizes, x) - probability_of_lower(mapping, *sizes, x + step)
        <= slope * step + 1e-7
    )


@pytest.mark.parametrize("mapping", [m for m, rule in TRANSLATION_MAPPINGS.items() if not rule.randomised])
def test_deterministic_mappings_jump(mapping: str) -> None:
    threshold = TRANSLATION_MAPPINGS[mapping].threshold
    assert threshold is not None
    at = threshold(1.0, 4.0)
    assert probability_of_lower(mapping, 1, 4, at - 1e-6) == 1
    assert probability_of_lower(mapping, 1, 4, at + 1e-6) == 0
    assert probability_of_lower(mapping, 1, 4, at, "low") == 1
    assert probability_of_lower(mapping, 1, 4, at, "high") == 0


@settings(deadline=None)
@given(st.floats(0.0, 5), st.floats(1e-4, 0.1), st.floats(0.2, 20), PART)
def test_pseudo_harmonic_is_lipschitz_in_the_lower_neighbour(low: float, step: float, gap: float, part: float) -> None:
    # Ganzfried & Sandholm 2013, proposition 5: constant (1 + B) / ((B - A1) (1 + A2))
    first, second, high = low, low + step, low + step + gap
    x = between(second, high, part)
    constant = (1 + high) / ((high - first) * (1 + second))
    change = abs(
        probability_of_lower("rand-pshar", first, high, x) - probability_of_lower("rand-pshar", second, high, x)
    )
    assert change <= constant * step + 1e-7


@settings(deadline=None)
@given(ROBUST, st.floats(0.1, 0.9), st.floats(1e-6, 1e-3))
def test_robust_mappings_are_continuous_at_zero(mapping: str, x: float, step: float) -> None:
    assert abs(probability_of_lower(mapping, 0, 1, x) - probability_of_lower(mapping, step, 1, x)) <= 3 * step


@pytest.mark.parametrize("mapping", GEOMETRIC)
def test_geometric_mappings_are_not_continuous_at_zero(mapping: str) -> None:
    """With A = 0 every bet is mapped to B; with a little more, bets near A are mapped to A (proposition 6)."""
    assert probability_of_lower(mapping, 0, 1, 1e-6) == 0
    assert probability_of_lower(mapping, 1e-6, 1, 1.0001e-6) > 0.99


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mapping", "printed"),
    [  # Ganzfried & Sandholm 2013, table 1: B = 1, x = 0.25, A = 0, 0.001, 0.01, 0.05, 0.1
        ("rand-arith", (0.75, 0.751, 0.758, 0.789, 0.833)),
        ("rand-geo-1", (0.0, 0.012, 0.111, 0.429, 0.667)),
        ("rand-geo-2", (0.0, 0.015, 0.131, 0.439, 0.641)),
        ("rand-pshar", (0.6, 0.601, 0.612, 0.663, 0.733)),
    ],
)
def test_table_1(mapping: str, printed: tuple[float, ...]) -> None:
    found = [probability_of_lower(mapping, low, 1, 0.25) for low in (0, 0.001, 0.01, 0.05, 0.1)]
    assert found == pytest.approx(printed, abs=0.0006)


def test_medians() -> None:
    # The same paper, section 7: for A = 0.01 and B = 1 medians of 0.1, about 0.5 and about 0.34; 1/3 for A = 0.
    for mapping in ("rand-geo-1", "rand-geo-2"):
        assert probability_of_lower(mapping, 0.01, 1, 0.1) == pytest.approx(0.5)
    assert probability_of_lower("rand-arith", 0.01, 1, 0.505) == pytest.approx(0.5)
    assert probability_of_lower("rand-pshar", 0, 1, 1 / 3) == pytest.approx(0.5)
    threshold = TRANSLATION_MAPPINGS["det-pshar"].threshold
    assert threshold is not None
    assert threshold(0.01, 1) == pytest.approx(0.34, abs=0.005)
    assert probability_of_lower("rand-pshar", 0.01, 1, threshold(0.01, 1)) == pytest.approx(0.5)


@settings(deadline=None)
@given(st.floats(0, 20), st.floats(0.1, 20), PART)
def test_pseudo_harmonic_keeps_the_equilibrium_calling_frequency(low: float, gap: float, part: float) -> None:
    high, x = low + gap, between(low, low + gap, part)
    f = probability_of_lower("rand-pshar", low, high, x)
    assert f / (1 + low) + (1 - f) / (1 + high) == pytest.approx(1 / (1 + x))


# --- menus ------------------------------------------------------------------------------------


def test_translation_probabilities() -> None:
    assert translation_probabilities("rand-arith", [0, 1, 5], 2) == {1: 0.75, 2: 0.25}
    assert translation_probabilities("rand-arith", [0, 1, 5], 1) == {1: 1.0}
    assert translation_probabilities("rand-arith", [0, 1, 5], 9) == {2: 1.0}
    assert translation_probabilities("rand-arith", [0.5, 1], 0.2) == {0: 1.0}
    assert translation_probabilities("det-arith", [0, 1], 0.5) == {1: 1.0}
    assert translation_probabilities("det-arith", [0, 1], 0.5, "low") == {0: 1.0}


def test_sizes_of_actions() -> None:
    # Antes of 1, stacks of 12. Betting 2 into the pot of 2 is one pot; all-in is 12 more on a pot of 2.
    state = leduc(stack=12, menu="100%/a").root()
    assert dict(zip(state.actions(), action_sizes(state), strict=True)) == {
        "c": CALL_SIZE,
        "r3": PotFraction(1.0),
        "r13": PotFraction(6.0, all_in=True),
    }
    # After it the pot with the call is 6; a raise to 9 adds 6 and to 13 adds 10, the rest of the stack.
    after = state.child(1)
    assert action_sizes(after) == (None, CALL_SIZE, PotFraction(1.0), PotFraction(10 / 6, all_in=True))


def test_translate_bet() -> None:
    menu = (None, CALL_SIZE, PotFraction(1.0), PotFraction(6.0, all_in=True))
    assert translate_bet("rand-arith", menu, PotFraction(0.25)) == {1: 0.75, 2: 0.25}
    assert translate_bet("rand-arith", menu, PotFraction(2.0)) == {2: 0.8, 3: pytest.approx(0.2)}
    assert translate_bet("rand-arith", menu, CALL_SIZE) == {1: 1.0}
    assert translate_bet("rand-arith", menu, PotFraction(3.0, all_in=True)) == {3: 1.0}  # regardless of the pot
    assert translate_bet("rand-arith", (CALL_SIZE,), PotFraction(2.0)) == {0: 1.0}


def test_nearest_action() -> None:
    menu = (None, CALL_SIZE, PotFraction(0.4), PotFraction(0.8), PotFraction(1.2), PotFraction(2.0, all_in=True))
    assert nearest_action(menu, None) == 0
    assert nearest_action(menu, CALL_SIZE) == 1
    assert nearest_action(menu, PotFraction(1.0)) == 4  # the larger of two that are equally near
    assert nearest_action(menu, PotFraction(0.5)) == 2
    assert nearest_action(menu, PotFraction(9.0, all_in=True)) == 5
    assert nearest_action((CALL_SIZE, PotFraction(0.5)), None) == 0  # nothing to fold to
    assert nearest_action((None, CALL_SIZE), PotFraction(1.0)) == 1  # nothing left to bet


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: probability_of_lower("rand-pshr", 0, 1, 0.5), ["rand-pshr", "rand-pshar"]),
        (lambda: probability_of_lower("rand-pshar", 1, 1, 1), ["1 and 1"]),
        (lambda: probability_of_lower("rand-pshar", -1, 1, 0), ["-1 and 1"]),
        (lambda: probability_of_lower("det-geo", 0, 1, 0.5, "middle"), ["middle", "low"]),  # type: ignore[arg-type]
        (lambda: translation_probabilities("det-geo", [1, 1], 0.5), ["[1, 1]"]),
        (lambda: translation_probabilities("det-geo", [], 0.5), ["det-geo", "[]"]),
        (lambda: action_sizes(game_from_spec("leduc").root()), ["limit"]),
        (lambda: action_sizes(game_from_spec("bluff:1,1").root()), ["sizes()"]),
    ],
)
def test_errors(call: object, words: list[str]) -> None:
    with pytest.raises(InputError) as found:
        call()  # type: ignore[operator]
    assert all(word in str(found.value) for word in words), str(found.value)


def test_exact_square_roots() -> None:
    """Thresholds of Det-Geo such as √100 equal sizes; the tie rule decides, not rounding."""
    assert math.sqrt(1.0 * 100.0) == 10
    assert probability_of_lower("det-geo", 1, 100, 10.0, "high") == 0
    assert probability_of_lower("det-geo", 1, 100, 10.0, "low") == 1
