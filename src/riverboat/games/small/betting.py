"""Two-player betting, limit and no-limit, as an immutable state.

Amounts are whole units of `chip` inside; labels show chips. Moves are written as in the ACPC
protocol: `f`, `c` (check or call), `r` in limit, `r7` in no-limit with the total that the player has
put in over the whole hand, antes included.

A no-limit menu is a list of sizes joined by `/`: `50%` of the pot (of the pot after calling, for a
raise), `3c` chips (raise by), `a` all-in, `*` every legal size. Sizes below the minimum raise become it,
sizes above the stack become all-in, equal results are one move.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property

from riverboat.core.errors import InputError, shown

_SIZE = re.compile(r"(?P<percent>\d+(\.\d+)?)%|(?P<chips>\d+(\.\d+)?)c|(?P<all>a)|(?P<every>\*)")


MAX_SIZES = 10_000  # of one menu


@dataclass(frozen=True)
class SmallRules:
    """Limit when `sizes` is given (chips to raise by, for each round), else no-limit."""

    ante: float = 1.0
    sizes: tuple[float, ...] | None = None
    cap: int | None = None  # raises a round
    stack: float | None = None  # chips behind the ante
    menu: str = "*"
    chip: float = 1.0

    def __post_init__(self) -> None:
        for what, amount in (("chip", self.chip), ("ante", self.ante), ("stack", self.stack)):
            if amount is not None and not math.isfinite(amount):
                raise InputError(f"{what}={amount:g}: must be a finite number of chips")
        if self.chip <= 0:
            raise InputError(f"chip={self.chip:g}: the smallest chip must be above zero")
        if self.cap is not None and self.cap < 0:
            raise InputError(f"cap={self.cap}: raises a round must not be negative")
        if self.ante < 0 or self.units(self.ante, "ante") < 0:
            raise InputError(f"ante={self.ante:g}: must not be negative")
        if self.sizes is None:
            if self.stack is None or self.units(self.stack, "stack") <= 0:
                raise InputError(f"stack={self.stack}: a no-limit game needs a stack above zero")
            if not self.tokens:
                raise InputError("menu is empty: give sizes such as '100%/a', or '*' for every size")
            for token in self.tokens:
                if token["every"] and self.units(self.stack, "stack") > MAX_SIZES:
                    raise InputError(
                        f"stack={self.stack:g} with menu '*': more than {MAX_SIZES:,} sizes; name sizes, or raise chip"
                    )
                if token["chips"]:
                    self.units(float(token["chips"]), f"menu size {token[0]}")
        else:
            for size in self.sizes:
                if self.units(size, "bet size") <= 0:
                    raise InputError(f"bet size {size:g}: must be above zero")
            if self.cap is None:
                raise InputError("a limit game needs a cap on the raises of a round")

    def units(self, amount: float, what: str) -> int:
        """Chips as whole units."""
        if not math.isfinite(amount):
            raise InputError(f"{what}={amount:g}: must be a finite number of chips")
        units = round(amount / self.chip)
        if abs(units * self.chip - amount) > 1e-9:
            raise InputError(f"{what}={amount:g} is not a multiple of the smallest chip {self.chip:g}")
        return units

    @cached_property
    def tokens(self) -> tuple[re.Match[str], ...]:
        """The parsed menu."""
        matches = []
        for place, token in enumerate(self.menu.split("/"), start=1):
            match = _SIZE.fullmatch(token.strip())
            if match is None:
                raise InputError(
                    f"size {shown(token)} (number {place} of menu {shown(self.menu)}): use 50%, 3c, a or *"
                )
            matches.append(match)
        return tuple(matches)

    def show(self, units: int) -> str:
        """Units as chips."""
        return f"{units * self.chip:.10g}"


@dataclass(frozen=True)
class SmallBetting:
    """Who has put in what, and whose turn it is. Player 0 opens every round."""

    rules: SmallRules
    spent: tuple[int, int]
    round: int = 0
    actor: int = 0
    raises: int = 0
    acted: int = 0  # moves in this round
    last_raise: int = 0  # units, this round
    folded: int | None = None

    @staticmethod
    def start(rules: SmallRules) -> SmallBetting:
        """Antes are in."""
        ante = rules.units(rules.ante, "ante")
        return SmallBetting(rules, (ante, ante))

    @property
    def facing(self) -> int:
        """Units that the actor must add to call."""
        return self.spent[1 - self.actor] - self.spent[self.actor]

    @property
    def round_over(self) -> bool:
        """Both have acted and matched."""
        return self.folded is None and self.acted >= 2 and self.facing == 0

    @property
    def all_in(self) -> bool:
        """Nobody can bet any more."""
        return self._limit is not None and min(self.spent) >= self._limit

    @property
    def _limit(self) -> int | None:
        if self.rules.stack is None:
            return None
        return self.rules.units(self.rules.ante, "ante") + self.rules.units(self.rules.stack, "stack")

    def next_round(self) -> SmallBetting:
        """Open the next round."""
        return SmallBetting(self.rules, self.spent, self.round + 1)

    def moves(self) -> tuple[str, ...]:
        """Labels of the legal moves: fold (facing a bet), call, raises upwards."""
        moves = ["f", "c"] if self.facing else ["c"]
        if self.rules.sizes is not None:
            if self.raises < (self.rules.cap or 0):
                moves.append("r")
        else:
            moves += [f"r{self.rules.show(total)}" for total in self._totals()]
        return tuple(moves)

    def _totals(self) -> list[int]:
        """Totals that a no-limit raise may reach, by the menu."""
        limit = self._limit
        assert limit is not None
        high = max(self.spent)
        if high >= limit or (self.rules.cap is not None and self.raises >= self.rules.cap):
            return []
        low = min(high + max(1, self.last_raise), limit)
        totals: set[int] = set()
        for token in self.rules.tokens:
            if token["every"]:
                totals.update(range(low, limit + 1))
            elif token["all"]:
                totals.add(limit)
            else:
                if token["percent"]:
                    by = int(float(token["percent"]) / 100 * 2 * high + 0.5)  # pot after the call
                else:
                    by = self.rules.units(float(token["chips"]), "size")
                totals.add(min(max(high + by, low), limit))
        return sorted(totals)

    def move(self, label: str) -> SmallBetting:
        """The state after a move that `moves()` lists."""
        me = self.actor
        if label == "f":
            return replace(self, folded=me)
        high = max(self.spent)
        if label == "c":
            total, raised = high, 0
        elif self.rules.sizes is not None:
            raised = self.rules.units(self.rules.sizes[self.round], "bet size")
            total = high + raised
        else:
            total = self.rules.units(float(label[1:]), "raise")
            raised = total - high
        spent = (total, self.spent[1]) if me == 0 else (self.spent[0], total)
        return replace(
            self,
            spent=spent,
            actor=1 - me,
            acted=self.acted + 1,
            raises=self.raises + (raised > 0),
            last_raise=raised or self.last_raise,
        )

    def stakes(self) -> float:
        """Chips that the loser has put in."""
        return min(self.spent) * self.rules.chip
