"""Action translation: map a bet outside the menu to one of its neighbours in the menu.

Sizes are fractions of the pot; check and call have size 0. For neighbours A < x < B a mapping gives f(x), the
probability that x is mapped to A (Ganzfried & Sandholm 2013). The paper asks for these properties:

1. f(A) = 1 and f(B) = 0                             all mappings, by definition
2. f does not increase in x                          all mappings
3. f does not change when all chips are scaled       all mappings: sizes are fractions of the pot
4. f is continuous in x                              the randomised mappings
5. f is continuous in A and B                        the randomised mappings, the geometric ones only while A > 0

The geometric mappings map every bet to B if A = 0. The indifference argument of the pseudo-harmonic mapping has the pot
as its unit, so with sizes in chips this mapping also needs the pot.

A deterministic mapping has a threshold. A bet exactly on it is mapped to B, as the paper's text says (`tie="high"`), or
to A (`tie="low"`). Whole chips and round sizes often hit thresholds, and the paper's own tables do not agree on the
rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.games.small.betting import SmallBettingState

_ROUNDING = 1e-9  # tolerance of comparisons: sizes such as 0.3 are not exact in binary


TieRule: TypeAlias = Literal["low", "high"]


@dataclass(frozen=True)
class TranslationMapping:
    """A mapping of bets to neighbours A < B: randomised by a probability, or deterministic by a threshold.

    Parameters
    ----------
    title
        Name in printed tables.
    lower_probability
        Maps (A, B, x) to the probability of A; None for deterministic mappings.
    threshold
        Maps (A, B) to the smallest x that is mapped to B; None for randomised mappings.

    Examples
    --------
    >>> TRANSLATION_MAPPINGS["rand-pshar"].randomised
    True
    """

    title: str  # name in printed tables
    lower_probability: Callable[[float, float, float], float] | None = None  # (A, B, x) -> probability of A
    threshold: Callable[[float, float], float] | None = None  # (A, B) -> smallest x that is mapped to B

    @property
    def randomised(self) -> bool:
        """Whether a bet may be mapped to either neighbour."""
        return self.lower_probability is not None


TRANSLATION_MAPPINGS: dict[str, TranslationMapping] = {
    "det-arith": TranslationMapping("Det-Arith", threshold=lambda a, b: (a + b) / 2),
    "rand-arith": TranslationMapping("Rand-Arith", lambda a, b, x: (b - x) / (b - a)),
    "det-geo": TranslationMapping("Det-Geo", threshold=lambda a, b: math.sqrt(a * b)),
    "rand-geo-1": TranslationMapping("Rand-Geo-1", lambda a, b, x: a * (b - x) / (a * (b - x) + x * (x - a))),
    "rand-geo-2": TranslationMapping("Rand-Geo-2", lambda a, b, x: a * (b + x) * (b - x) / ((b - a) * (x * x + a * b))),
    "det-pshar": TranslationMapping("Det-psHar", threshold=lambda a, b: (a + b + 2 * a * b) / (a + b + 2)),
    "rand-pshar": TranslationMapping("Rand-psHar", lambda a, b, x: (b - x) * (1 + a) / ((b - a) * (1 + x))),
}


def probability_of_lower(mapping: str, low: float, high: float, x: float, tie: TieRule = "high") -> float:
    """Return the probability that a bet of x is mapped to `low` rather than `high`.

    Parameters
    ----------
    mapping
        A key of `TRANSLATION_MAPPINGS`.
    low, high
        Neighbours in the menu, as fractions of the pot, 0 ≤ low < high.
    x
        The bet, as a fraction of the pot.
    tie
        Neighbour that a deterministic mapping chooses for a bet on its threshold.

    Returns
    -------
    float
        The probability; 1 at or below `low`, 0 at or above `high`.

    Raises
    ------
    InputError
        The mapping or the tie rule is unknown, or the neighbours are not in increasing order.

    References
    ----------
    .. [1] Ganzfried & Sandholm, "Action translation in extensive-form games with large action spaces: axioms,
       paradoxes, and the pseudo-harmonic mapping", IJCAI 2013.

    Examples
    --------
    >>> round(probability_of_lower("rand-pshar", 0.0, 1.0, 1 / 3), 9)
    0.5
    """
    check_name("mapping", mapping, TRANSLATION_MAPPINGS)
    if not 0 <= low < high:
        raise InputError(f"{mapping}: neighbours {low:g} and {high:g}: must be 0 or more, in increasing order")
    check_name("tie rule", tie, ("low", "high"))
    if x <= low + _ROUNDING:
        return 1.0
    if x >= high - _ROUNDING:
        return 0.0
    rule = TRANSLATION_MAPPINGS[mapping]
    if rule.lower_probability is not None:
        return rule.lower_probability(low, high, x)
    assert rule.threshold is not None
    margin = _ROUNDING if tie == "low" else -_ROUNDING  # sums that are equal in theory may differ in the last digit
    return float(x < rule.threshold(low, high) + margin)


def translation_probabilities(
    mapping: str, sizes: Sequence[float], x: float, tie: TieRule = "high"
) -> dict[int, float]:
    """Return the probability of each size of a menu for a bet of x.

    Parameters
    ----------
    mapping
        A key of `TRANSLATION_MAPPINGS`.
    sizes
        Sizes of the menu as fractions of the pot, in increasing order.
    x
        The bet, as a fraction of the pot.
    tie
        Neighbour that a deterministic mapping chooses for a bet on its threshold.

    Returns
    -------
    dict of float
        Indices of `sizes`, and their probabilities if these are positive. A bet below the smallest or above the largest
        size is mapped to that size with probability one.

    Raises
    ------
    InputError
        The mapping is unknown, or the sizes are not in increasing order.

    Examples
    --------
    >>> translation_probabilities("det-arith", [0.0, 0.5, 1.0], 0.6)
    {1: 1.0}
    """
    if not sizes or any(b <= a for a, b in pairwise(sizes)):
        raise InputError(f"{mapping}: sizes {list(sizes)}: must be in increasing order, at least one")
    above = next((k for k, size in enumerate(sizes) if size > x), len(sizes))
    if above == 0:
        return {0: 1.0}
    if above == len(sizes):
        return {above - 1: 1.0}
    first = probability_of_lower(mapping, sizes[above - 1], sizes[above], x, tie)
    return {k: p for k, p in ((above - 1, first), (above, 1.0 - first)) if p > 0}


# --- sizes of actions -------------------------------------------------------------------------


class PotFraction(NamedTuple):
    """Size of an action: chips beyond a call, as a fraction of the pot after the call.

    Parameters
    ----------
    fraction
        The fraction; 0 for check and call.
    all_in
        Whether the bet is all-in.

    Examples
    --------
    >>> PotFraction(0.5) < PotFraction(2.0, True)
    True
    """

    fraction: float
    all_in: bool = False


CALL_SIZE = PotFraction(0.0)


def action_sizes(state: Any) -> tuple[PotFraction | None, ...]:
    """Return the sizes of the actions of a betting state, in their order.

    Parameters
    ----------
    state
        A state with a no-limit `betting`, or with a method `sizes()` that returns (fraction, all-in) or None for each
        action.

    Returns
    -------
    tuple of PotFraction or None
        None for a fold.

    Raises
    ------
    InputError
        The state has no bet sizes, or the game is a limit game.

    Examples
    --------
    >>> class State:
    ...     def sizes(self):
    ...         return [None, (0.0, False), (1.0, True)]
    >>> action_sizes(State())[1]
    PotFraction(fraction=0.0, all_in=False)
    """
    betting = getattr(state, "betting", None)
    if isinstance(betting, SmallBettingState):
        return _betting_sizes(betting)
    own = getattr(state, "sizes", None)
    if not callable(own):
        raise InputError(f"{type(state).__name__}: no bet sizes; add a method sizes(), or a no-limit `betting`")
    return tuple(None if size is None else PotFraction(*size) for size in own())


@lru_cache(maxsize=200_000)
def _betting_sizes(betting: SmallBettingState) -> tuple[PotFraction | None, ...]:
    rules = betting.rules
    if rules.sizes is not None or rules.stack is None:
        raise InputError("action translation is for no-limit games; in a limit game every bet is in the menu")
    high = max(betting.spent)
    top = rules.units(rules.ante, "ante") + rules.units(rules.stack, "stack")
    sizes: list[PotFraction | None] = []
    for label in betting.legal_actions():
        if label[0] == "r":
            total = rules.units(float(label[1:]), "raise")
            sizes.append(PotFraction((total - high) / (2 * high), total == top))
        else:
            sizes.append(None if label == "f" else CALL_SIZE)
    return tuple(sizes)


def translate_bet(
    mapping: str, menu: Sequence[PotFraction | None], bet: PotFraction, tie: TieRule = "high"
) -> dict[int, float]:
    """Return the probability of each action of a menu for a bet outside of it.

    Parameters
    ----------
    mapping
        A key of `TRANSLATION_MAPPINGS`.
    menu
        Sizes of the menu's actions; None for a fold.
    bet
        The bet. An all-in bet is mapped to all-in if the menu has it, regardless of its size.
    tie
        Neighbour that a deterministic mapping chooses for a bet on its threshold.

    Returns
    -------
    dict of float
        Indices of `menu`, and their probabilities if these are positive.

    Raises
    ------
    InputError
        The mapping is unknown, or two actions have the same size.

    Examples
    --------
    >>> menu = [None, CALL_SIZE, PotFraction(1.0), PotFraction(4.0, True)]
    >>> translate_bet("rand-pshar", menu, PotFraction(2.0, True))
    {3: 1.0}
    """
    order = sorted((size, k) for k, size in enumerate(menu) if size is not None)
    if bet.all_in:
        for size, k in order:
            if size.all_in:
                return {k: 1.0}
    chances = translation_probabilities(mapping, [size.fraction for size, _ in order], bet.fraction, tie)
    return {order[rank][1]: p for rank, p in chances.items()}


def nearest_action(menu: Sequence[PotFraction | None], intended: PotFraction | None) -> int:
    """Return the legal action nearest to an intended one, which was chosen in another pot.

    All-in stays all-in. Other bets become the nearest fraction, and the larger of two that are equally near. A bet
    becomes a call where no bet is legal, and so does a fold where there is nothing to fold to.

    Parameters
    ----------
    menu
        Sizes of the legal actions; None for a fold.
    intended
        Size of the intended action; None for a fold.

    Returns
    -------
    int
        Index of that action in `menu`.

    Examples
    --------
    >>> nearest_action([None, CALL_SIZE, PotFraction(0.5), PotFraction(1.0)], PotFraction(0.8))
    3
    """
    call = next(k for k, size in enumerate(menu) if size is not None and size.fraction == 0)
    if intended is None:
        return next((k for k, size in enumerate(menu) if size is None), call)
    bets = [(size, k) for k, size in enumerate(menu) if size is not None and size.fraction > 0]
    if intended.fraction == 0 or not bets:
        return call
    if intended.all_in:
        return max(bets)[1]
    return min(bets, key=lambda bet: (abs(bet[0].fraction - intended.fraction), -bet[0].fraction))[1]
