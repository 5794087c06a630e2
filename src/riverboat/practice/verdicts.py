"""What a decision was worth: the moves that there were, how often each is right, and what each is worth to the hand.

    verdict.cost("r300")          # EV lost: what the best move is worth more, in chips
    verdict.stands_for(37)        # the move that a number from 0 to 99 means, where several are mixed

EVs count from the pot as it stands: what the hand wins of it, its own later chips deducted. To fold is worth 0, exactly.
The value of a move that is hardly ever made is hardly known: it is counted as no better than the best of the others, so that
the figures of a verdict never contradict its judgement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from riverboat.core.errors import InputError, shown

FOLD = "f"
MIXED = 0.1  # a move that is made less often is no part of a mix
CLOSE = 1.0  # % of the pot: moves that are worth as much are close
NUMBERS = 100  # to randomise by: 0 to 99


class Option(NamedTuple):
    """One of the moves."""

    move: str  # as at the table: f, c, r300
    probability: float  # how often it is right with this hand
    ev: float | None  # chips; None where nothing is known


@dataclass(frozen=True)
class Verdict:
    """What is known of one decision with one hand."""

    options: tuple[Option, ...]  # fold, call, raises upwards
    source: str  # where the EVs come from
    pot: float
    least: float = 0.0  # moves that are made less often are no measure: their values are hardly known
    unit: str = "chips"
    share_of: str = "the pot"  # what `pot` is, for figures in %
    played: Mapping[str, float] | None = None  # what the agent itself would have played, where that is another strategy

    def __post_init__(self) -> None:
        top = self.best
        if top is None or top.ev is None:
            return
        most = top.ev
        capped = [
            option if option.ev is None or self.sure(option) else option._replace(ev=min(option.ev, most))
            for option in self.options
        ]
        object.__setattr__(self, "options", tuple(capped))

    @property
    def moves(self) -> tuple[str, ...]:
        """All moves."""
        return tuple(option.move for option in self.options)

    def sure(self, option: Option) -> bool:
        """Whether an option's value is a measure: of a fold always, of another move if it is made often enough."""
        return option.move == FOLD or option.probability >= self.least

    @cached_property
    def best(self) -> Option | None:
        """The move that is worth most, of those that are a measure; None where some are not known."""
        if not self.options or any(option.ev is None for option in self.options):
            return None
        measures = [option for option in self.options if self.sure(option)] or list(self.options)
        return max(measures, key=lambda option: option.ev or 0.0)

    def read(self, move: str) -> str:
        """The move of these that a move is read as: itself, or the nearest raise."""
        if move in self.moves:
            return move
        raises = [m for m in self.moves if m.startswith("r") and m[1:].isdigit()]
        if not move.startswith("r") or not move[1:].isdigit() or not raises:
            raise InputError(f"move {shown(move)}: none of {', '.join(self.moves)}")
        return min(raises, key=lambda m: (abs(int(m[1:]) - int(move[1:])), int(m[1:])))

    def of(self, move: str) -> Option:
        """The option of a move."""
        return self.options[self.moves.index(self.read(move))]

    def cost(self, move: str) -> float | None:
        """EV lost by a move, in chips; None where nothing is known."""
        ev = self.of(move).ev
        return None if self.best is None or self.best.ev is None or ev is None else max(0.0, self.best.ev - ev)

    @property
    def mixed(self) -> bool:
        """Whether several moves are right now and then."""
        return sum(option.probability >= MIXED for option in self.options) > 1

    @property
    def close(self) -> bool:
        """Whether another move is nearly as good as the best."""
        if self.best is None or self.best.ev is None:
            return False
        near = self.best.ev - CLOSE / 100 * self.pot
        return sum(option.ev is not None and option.ev >= near for option in self.options) > 1

    def stands_for(self, number: int) -> str:
        """The move that a number from 0 to 99 means: shares of the hundred, from the first move upwards."""
        if not 0 <= number < NUMBERS:
            raise InputError(f"number {number}: must be from 0 to {NUMBERS - 1}")
        total = 0.0
        for option in self.options:
            total += option.probability
            if number + 0.5 < NUMBERS * total:
                return option.move
        return max(self.options, key=lambda option: option.probability).move

    def to_dict(self) -> dict[str, Any]:
        """For JSON; chips."""
        best = self.best
        return {
            "options": [option._asdict() | {"sure": self.sure(option)} for option in self.options],
            "best": None if best is None else best.move,
            "mixed": self.mixed,
            "close": self.close,
            "source": self.source,
            "pot": self.pot,
            "agent": None if self.played is None else dict(self.played),
            "unit": self.unit,
            "share_of": self.share_of,
        }
