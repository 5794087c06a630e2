"""Simple players to measure others by. Each plays any game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.agents import _kernels as kernels
from riverboat.agents.base import Choice
from riverboat.cards.features.strength import ranker, sorter
from riverboat.core.arrays import Array
from riverboat.core.errors import MemoryLimitError, unknown
from riverboat.core.formatting import show_bytes
from riverboat.games.holdem.actions import CALL, END, FOLD
from riverboat.games.holdem.betting_batch import book_of, spans
from riverboat.games.holdem.match_state import MatchState
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.public_strategy import Strategies, by_chain_rule, no_strategies

YARDSTICKS: dict[str, tuple[int, str]] = {
    "always-fold": (kernels.FOLDER, "folds when it faces a bet, else checks"),
    "always-call": (kernels.CALLER, "checks and calls"),
    "always-raise": (kernels.RAISER, "raises by the least while it can, then calls"),
    "random": (kernels.RANDOM, "folds, calls or raises to any legal total, each as often"),
    "rule-based": (kernels.BY_RULES, "bets the pot with strong hands, calls when the price is right"),
}
MOST_BYTES = 4 << 30  # of what `random` answers: a column for every legal raise


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
        out, rules = np.empty(len(views), np.int32), views.rules
        kernels.act(
            YARDSTICKS[self.name][0],
            book_of(rules),
            ranker(rules.deck, rules.board_sizes),
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
        return [_uniform(*row) for row in spans(views.rules, views.places.states).tolist()]

    # --- for all hands --------------------------------------------------------------------------

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What is played with all hands. Nothing is drawn once for a hand, so `draw` changes nothing."""
        return self._drawn(places) if self.name == "random" else self._plain(places)

    def reach(self, places: Places, seat: int) -> Array:
        """Probability that it makes its moves of the line, in a seat and with each hand. float64 [n, hands]"""
        if self.name != "random":
            return by_chain_rule(self, places, seat)
        way, owner, made = places.decisions()
        price, least, most = spans(places.rules, way.states).T
        chance = 1.0 / (1 + (price > 0) + (least <= most)) / np.where(made > 0, most - least + 1, 1)
        out, mine = places.live.astype(float), way.actor == seat
        np.multiply.at(out, owner[mine], chance[mine, None])
        return out

    def _plain(self, places: Places) -> Strategies:
        """One move with each hand: fold, call or one raise."""
        rules, hands = places.rules, places.rules.deck.hand_count
        _ = places.states  # refuses illegal lines
        out = np.full((len(places), hands), END, np.int32)
        kernels.act_for_all(
            YARDSTICKS[self.name][0],
            book_of(rules),
            ranker(rules.deck, rules.board_sizes),
            np.ascontiguousarray(places.board),
            np.ascontiguousarray(places.moves),
            np.ascontiguousarray(places.length),
            places.live,
            sorter(hands),
            out,
        )
        answers, top = no_strategies(places, kernels.COLUMNS), out.max(axis=1)
        answers.moves[:, 0] = np.where((out == FOLD).any(axis=1), FOLD, CALL)
        answers.moves[:, 1] = np.where(answers.moves[:, 0] == FOLD, CALL, np.where(top > 0, top, END))
        answers.moves[:, 2] = np.where((answers.moves[:, 0] == FOLD) & (top > 0), top, END)
        answers.moves[answers.actor < 0] = END
        for column in range(kernels.COLUMNS):
            move = answers.moves[:, column, None]
            answers.probabilities[:, :, column] = (out == move) & (move != END)
        return answers

    def _drawn(self, places: Places) -> Strategies:
        """All legal moves, whatever is held."""
        acts = places.actor >= 0
        choices = [
            _uniform(*row) if act else []
            for row, act in zip(spans(places.rules, places.states).tolist(), acts.tolist(), strict=True)
        ]
        columns = max(map(len, choices))
        size = 8 * len(places) * places.rules.deck.hand_count * columns
        if size > MOST_BYTES:
            raise MemoryLimitError(
                f"agent {self.name!r}: {columns:,} legal moves with every hand at {len(places):,} places take "
                f"{show_bytes(size)}; {show_bytes(MOST_BYTES)} are allowed: ask for fewer places at a time"
            )
        answers = no_strategies(places, columns)
        for i, choice in enumerate(choices):
            answers.moves[i, : len(choice)] = [move for move, _ in choice]
            answers.probabilities[i, :, : len(choice)] = places.live[i, :, None] * np.array([p for _, p in choice])
        return answers


def _uniform(price: int, least: int, most: int) -> Choice:
    kinds = [*([FOLD] if price else []), CALL]
    share = 1 / (len(kinds) + (least <= most))
    raises = range(least, most + 1)
    return [(move, share) for move in kinds] + [(total, share / len(raises)) for total in raises]
