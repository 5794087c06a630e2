"""Simple players to measure others by. Each plays any game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.agents import _kernels as kernels
from riverboat.agents.base import Choice
from riverboat.agents.view import Views, cards_of, states_of
from riverboat.arrays import Array
from riverboat.errors import unknown
from riverboat.games.acpc import Rules
from riverboat.games.batches import book_of, spans
from riverboat.games.match_state import MatchState
from riverboat.games.moves import CALL, FOLD

YARDSTICKS: dict[str, tuple[int, str]] = {
    "always-fold": (kernels.FOLDER, "folds when it faces a bet, else checks"),
    "always-call": (kernels.CALLER, "checks and calls"),
    "always-raise": (kernels.RAISER, "raises by the least while it can, then calls"),
    "random": (kernels.RANDOM, "folds, calls or raises to any legal total, each as often"),
    "rule-based": (kernels.BY_RULES, "bets the pot with strong hands, calls when the price is right"),
}


@dataclass(frozen=True)
class Yardstick:
    """One of `YARDSTICKS`. Only `random` draws, and needs a seed."""

    name: str
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in YARDSTICKS:
            raise unknown("yardstick", self.name, YARDSTICKS)

    def check_rules(self, rules: Rules) -> None:
        """All games can be played."""

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        out = np.empty(len(views), np.int32)
        kernels.act(
            YARDSTICKS[self.name][0],
            book_of(views.rules),
            cards_of(views.rules),
            np.uint64(self.seed % 2**64),
            views.hand,
            views.hole,
            views.board,
            views.moves,
            views.length,
            out,
        )
        return out

    def at_once(self, state: MatchState) -> str | None:
        """The move at one table, where it needs no arrays: for players of the ACPC protocol, which see one at a time."""
        betting = state.betting
        if self.name == "always-call" or (self.name == "always-fold" and not betting.to_call):
            return "c"
        if self.name == "always-fold":
            return "f"
        if self.name == "always-raise":
            span = betting.raise_range()
            return "c" if span is None else "r" if state.rules.limit else f"r{span.least}"
        return None

    def probabilities(self, views: Views) -> list[Choice]:
        """Moves and their probabilities; of `random`, all legal ones."""
        if self.name != "random":
            return [[(move, 1.0)] for move in self.act(views).tolist()]
        return [_uniform(*row) for row in spans(views.rules, states_of(views)).tolist()]


def _uniform(price: int, least: int, most: int) -> Choice:
    kinds = [*([FOLD] if price else []), CALL]
    share = 1 / (len(kinds) + (least <= most))
    raises = range(least, most + 1)
    return [(move, share) for move in kinds] + [(total, share / len(raises)) for total in raises]
