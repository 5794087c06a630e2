"""Action translation: a bet outside the menu is read as one of its neighbours in the menu.

Sizes are fractions of the pot; check and call are 0. For neighbours A < x < B a mapping gives f, the probability that x is
read as A (Ganzfried & Sandholm 2013). What a mapping should satisfy, and which do:

1. f(A) = 1 and f(B) = 0                             all, by definition
2. f does not increase in x                          all
3. f stays the same when all chips are scaled        all: sizes are fractions of the pot
4. f is continuous in x                              the randomised ones
5. f is continuous in A and B                        the randomised ones, the geometric ones only while A > 0

The geometric mappings read every bet as B when A = 0. In chips rather than pots the pseudo-harmonic mapping
needs the pot as well: its indifference argument has the pot as its unit.

A deterministic mapping has a threshold. A bet exactly on it is read as B, as the paper's text says (`tie="high"`), or as A
(`tie="low"`); whole chips and round sizes meet thresholds often, and the paper's own tables do not agree on the rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from riverboat.core.errors import InputError, unknown
from riverboat.games.small.betting import SmallBetting

_ROUNDING = 1e-9  # sizes such as 0.3 are rounded numbers


Tie: TypeAlias = Literal["low", "high"]


@dataclass(frozen=True)
class Mapping:
    """A way to read bets, by neighbours A < B: a share for each x between them, or a threshold."""

    title: str  # as tables print it
    share: Callable[[float, float, float], float] | None = None  # (A, B, x) -> probability of A
    threshold: Callable[[float, float], float] | None = None  # (A, B) -> smallest x that is read as B

    @property
    def randomised(self) -> bool:
        """Whether a bet may be read in two ways."""
        return self.share is not None


MAPPINGS: dict[str, Mapping] = {
    "det-arith": Mapping("Det-Arith", threshold=lambda a, b: (a + b) / 2),
    "rand-arith": Mapping("Rand-Arith", share=lambda a, b, x: (b - x) / (b - a)),
    "det-geo": Mapping("Det-Geo", threshold=lambda a, b: math.sqrt(a * b)),
    "rand-geo-1": Mapping("Rand-Geo-1", share=lambda a, b, x: a * (b - x) / (a * (b - x) + x * (x - a))),
    "rand-geo-2": Mapping("Rand-Geo-2", share=lambda a, b, x: a * (b + x) * (b - x) / ((b - a) * (x * x + a * b))),
    "det-pshar": Mapping("Det-psHar", threshold=lambda a, b: (a + b + 2 * a * b) / (a + b + 2)),
    "rand-pshar": Mapping("Rand-psHar", share=lambda a, b, x: (b - x) * (1 + a) / ((b - a) * (1 + x))),
}


def share(mapping: str, low: float, high: float, x: float, tie: Tie = "high") -> float:
    """Probability that a bet of x is read as `low` rather than `high`."""
    if mapping not in MAPPINGS:
        raise unknown("mapping", mapping, MAPPINGS)
    if not 0 <= low < high:
        raise InputError(f"{mapping}: neighbours {low:g} and {high:g}: must be 0 or more, and rising")
    if tie not in ("low", "high"):
        raise unknown("tie rule", tie, ("low", "high"))
    if x <= low + _ROUNDING:
        return 1.0
    if x >= high - _ROUNDING:
        return 0.0
    rule = MAPPINGS[mapping]
    if rule.share is not None:
        return rule.share(low, high, x)
    assert rule.threshold is not None
    margin = _ROUNDING if tie == "low" else -_ROUNDING  # two sums that should be equal may differ in the last digit
    return float(x < rule.threshold(low, high) + margin)


def readings(mapping: str, sizes: Sequence[float], x: float, tie: Tie = "high") -> dict[int, float]:
    """How a bet of x is read: probability by place in the rising list of sizes.

    Below the smallest and above the largest size there is one neighbour, which gets everything.
    """
    if not sizes or any(b <= a for a, b in pairwise(sizes)):
        raise InputError(f"{mapping}: sizes {list(sizes)}: must be rising, at least one")
    above = next((k for k, size in enumerate(sizes) if size > x), len(sizes))
    if above == 0:
        return {0: 1.0}
    if above == len(sizes):
        return {above - 1: 1.0}
    first = share(mapping, sizes[above - 1], sizes[above], x, tie)
    return {k: p for k, p in ((above - 1, first), (above, 1.0 - first)) if p > 0}


# --- sizes of the moves of a state ------------------------------------------------------------


class Size(NamedTuple):
    """What a move puts in beyond a call, as a fraction of the pot after the call."""

    fraction: float
    all_in: bool = False


CALL = Size(0.0)


def move_sizes(state: Any) -> tuple[Size | None, ...]:
    """Sizes of the moves of a betting state, in their order; None for a fold.

    Knows states with a no-limit `betting`, and others that answer `sizes()`: (fraction, all-in) or None by move.
    """
    betting = getattr(state, "betting", None)
    if isinstance(betting, SmallBetting):
        return _betting_sizes(betting)
    own = getattr(state, "sizes", None)
    if not callable(own):
        raise InputError(f"{type(state).__name__}: no bet sizes; give it a method sizes(), or a no-limit `betting`")
    return tuple(None if size is None else Size(*size) for size in own())


@lru_cache(maxsize=200_000)
def _betting_sizes(betting: SmallBetting) -> tuple[Size | None, ...]:
    rules = betting.rules
    if rules.sizes is not None or rules.stack is None:
        raise InputError("action translation is for no-limit games; in a limit game every bet is in the menu")
    high = max(betting.spent)
    top = rules.units(rules.ante, "ante") + rules.units(rules.stack, "stack")
    sizes: list[Size | None] = []
    for label in betting.moves():
        if label[0] == "r":
            total = rules.units(float(label[1:]), "raise")
            sizes.append(Size((total - high) / (2 * high), total == top))
        else:
            sizes.append(None if label == "f" else CALL)
    return tuple(sizes)


def read(mapping: str, menu: Sequence[Size | None], bet: Size, tie: Tie = "high") -> dict[int, float]:
    """How a bet is read where the menu's moves have these sizes: probability by move.

    An all-in bet is read as all-in where the menu has it, whatever the pots are.
    """
    order = sorted((size, k) for k, size in enumerate(menu) if size is not None)
    if bet.all_in:
        for size, k in order:
            if size.all_in:
                return {k: 1.0}
    chances = readings(mapping, [size.fraction for size, _ in order], bet.fraction, tie)
    return {order[place][1]: p for place, p in chances.items()}


def carry_out(menu: Sequence[Size | None], intended: Size | None) -> int:
    """The move that comes closest to what was intended in another pot.

    All-in stays all-in, other bets take the nearest fraction (the larger of two that are equally near), a bet where none
    is possible becomes a call, and so does a fold where there is nothing to fold to.
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
