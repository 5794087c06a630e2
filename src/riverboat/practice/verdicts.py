"""Verdicts on decisions: the available actions, their frequencies in the reference strategy, and their expected values.

    verdict.cost("r300")               # EV lost compared with the best action, in chips
    verdict.action_for_number(37)      # action for a random number from 0 to 99, where actions are mixed

EVs count from the current pot: the share of it that the hand wins, less its own later chips. The EV of a fold is
exactly 0. The value of a rare action is unreliable: it is capped at the best of the others, so that the figures never
contradict the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from riverboat.core.errors import InputError, short_repr

FOLD = "f"
MIN_MIX_PROBABILITY = 0.1  # rarer actions are not part of a mix
CLOSE_PERCENT = 1.0  # % of the pot: actions within this EV of the best are close
NUM_RANDOM = 100  # random numbers, 0 to 99


class VerdictOption(NamedTuple):
    """One available action.

    Attributes
    ----------
    move
        Action in table notation: `f`, `c`, `r300`.
    probability
        Its probability in the reference strategy with this hand.
    ev
        EV in chips; None if unknown.

    Examples
    --------
    >>> VerdictOption("c", 0.8, 30.0).ev
    30.0
    """

    move: str  # action in table notation: f, c, r300
    probability: float  # probability in the reference strategy with this hand
    ev: float | None  # EV in chips; None if unknown


@dataclass(frozen=True)
class DecisionVerdict:
    """Verdict on one decision with one hand.

    Attributes
    ----------
    options
        Actions: fold, call, raises in ascending order.
    source
        Source of the EVs, in words.
    pot
        Chips that figures in % refer to.
    min_probability
        Values of rarer actions are unreliable.
    unit
        Unit of the EVs.
    share_of
        Meaning of `pot`, for figures in %.
    played
        The agent's own strategy by action, if it differs from the reference.

    Examples
    --------
    >>> verdict = DecisionVerdict((VerdictOption("f", 0.2, 0.0), VerdictOption("c", 0.8, 30.0)), "example", pot=200.0)
    >>> verdict.best.move, verdict.cost("f"), verdict.mixed
    ('c', 30.0, True)
    """

    options: tuple[VerdictOption, ...]  # fold, call, raises in ascending order
    source: str  # source of the EVs
    pot: float
    min_probability: float = 0.0  # values of rarer actions are unreliable
    unit: str = "chips"
    share_of: str = "the pot"  # meaning of `pot`, for figures in %
    played: Mapping[str, float] | None = None  # the agent's own strategy, if it differs from the reference

    def __post_init__(self) -> None:
        best = self.best
        if best is None or best.ev is None:
            return
        best_ev = best.ev
        capped = [
            option if option.ev is None or self.is_reliable(option) else option._replace(ev=min(option.ev, best_ev))
            for option in self.options
        ]
        object.__setattr__(self, "options", tuple(capped))

    @property
    def moves(self) -> tuple[str, ...]:
        """All available actions, in the order of the options."""
        return tuple(option.move for option in self.options)

    def is_reliable(self, option: VerdictOption) -> bool:
        """Whether an option's value is reliable: always for a fold, else if the action is frequent enough.

        Parameters
        ----------
        option
            Option of this verdict.
        """
        return option.move == FOLD or option.probability >= self.min_probability

    @cached_property
    def best(self) -> VerdictOption | None:
        """Option with the largest EV among the reliable ones; None if an EV is unknown."""
        if not self.options or any(option.ev is None for option in self.options):
            return None
        reliable = [option for option in self.options if self.is_reliable(option)] or list(self.options)
        return max(reliable, key=lambda option: option.ev or 0.0)

    def nearest_action(self, move: str) -> str:
        """Return the option's action for an action: itself, or the nearest raise.

        Parameters
        ----------
        move
            Action in table notation.

        Raises
        ------
        InputError
            If the action is not available.
        """
        if move in self.moves:
            return move
        raises = [m for m in self.moves if m.startswith("r") and m[1:].isdigit()]
        if not move.startswith("r") or not move[1:].isdigit() or not raises:
            raise InputError(f"move {short_repr(move)}: must be one of {', '.join(self.moves)}")
        return min(raises, key=lambda m: (abs(int(m[1:]) - int(move[1:])), int(m[1:])))

    def option_for(self, move: str) -> VerdictOption:
        """Return the option of an action, or of the nearest raise.

        Parameters
        ----------
        move
            Action in table notation.
        """
        return self.options[self.moves.index(self.nearest_action(move))]

    def cost(self, move: str) -> float | None:
        """Return the EV lost by an action, in chips; None if unknown.

        Parameters
        ----------
        move
            Action in table notation.
        """
        ev = self.option_for(move).ev
        return None if self.best is None or self.best.ev is None or ev is None else max(0.0, self.best.ev - ev)

    @property
    def mixed(self) -> bool:
        """Whether several actions have a frequency of at least 10 % in the reference strategy."""
        return sum(option.probability >= MIN_MIX_PROBABILITY for option in self.options) > 1

    @property
    def close(self) -> bool:
        """Whether the EV of another action is within 1 % of the pot of the best one."""
        if self.best is None or self.best.ev is None:
            return False
        threshold = self.best.ev - CLOSE_PERCENT / 100 * self.pot
        return sum(option.ev is not None and option.ev >= threshold for option in self.options) > 1

    def action_for_number(self, number: int) -> str:
        """Return the action for a random number from 0 to 99, by cumulative frequency.

        Parameters
        ----------
        number
            Number from 0 to 99.

        Raises
        ------
        InputError
            If the number is out of range.
        """
        if not 0 <= number < NUM_RANDOM:
            raise InputError(f"number {number}: must be from 0 to {NUM_RANDOM - 1}")
        total = 0.0
        for option in self.options:
            total += option.probability
            if number + 0.5 < NUM_RANDOM * total:
                return option.move
        return max(self.options, key=lambda option: option.probability).move

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as a JSON object, in chips."""
        best = self.best
        return {
            "options": [option._asdict() | {"sure": self.is_reliable(option)} for option in self.options],
            "best": None if best is None else best.move,
            "mixed": self.mixed,
            "close": self.close,
            "source": self.source,
            "pot": self.pot,
            "agent": None if self.played is None else dict(self.played),
            "unit": self.unit,
            "share_of": self.share_of,
        }
