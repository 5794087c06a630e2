"""An agent that plays by a rule list: a text file that people read and edit.

    agent = RuleAgent.read("mine.rules")
    agent.act(views)

Features are those of `strategies.features.HOLDEM`: what anybody sees at a table of hold'em. A raise of so many pots is
rounded to a legal total; where none is legal it is a call, and a fold that is free is a check.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path

import numpy as np

from riverboat.agents.base import Choice
from riverboat.cards.deck import FULL_DECK
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown
from riverboat.core.text_files import read_text
from riverboat.games.holdem.actions import CALL, END, FOLD
from riverboat.games.holdem.betting_batch import spans
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies import rule_list
from riverboat.strategies.features import HOLDEM, hand_columns, situation_columns
from riverboat.strategies.public_strategy import Strategies, no_strategies
from riverboat.strategies.rule_list import OTHER, Columns, Move, RuleList

SUFFIX = ".rules"
MOST_TEXT = 1 << 20  # bytes of a file


@dataclass(frozen=True, eq=False)
class RuleAgent:
    """Plays by rules; what it draws depends on its seed, the number of the hand and the place in the line."""

    rules_list: RuleList
    name: str = "rules"
    seed: int = 0

    def __post_init__(self) -> None:
        strange = [move for move in self.rules_list.moves if move.kind == OTHER]
        if strange:
            raise InputError(
                f"agent {shown(self.name)}: move {shown(strange[0].label)}: fold, check, call, raise, raise 0.75 pot, all-in"
            )

    @staticmethod
    def read(path: str | Path, name: str | None = None, seed: int = 0) -> RuleAgent:
        """From a text file."""
        try:
            rules = RuleList.parse(read_text(path, "rules", MOST_TEXT), HOLDEM)
        except InputError as error:
            raise InputError(f"agent {shown(name or str(path))}: {error}") from None
        return RuleAgent(rules, name or str(path), seed)

    def check_rules(self, rules: Rules) -> None:
        """Hold'em with two cards each and boards of up to five, of 52 cards."""
        if rules.hole != 2 or rules.deck != FULL_DECK or any(n not in (0, 3, 4, 5) for n in rules.board_sizes):
            raise InputError(f"agent {shown(self.name)}: its rules speak of hold'em, not of {shown(rules.name)}")

    # --- at tables ------------------------------------------------------------------------------

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        moves, chances = self._tables(views)
        left = _drawn(self.seed, views.hand, views.length)
        chosen = (np.cumsum(chances, axis=1) <= left[:, None]).sum(axis=1)
        last = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)  # where rounding leaves nothing behind it
        chosen_moves: Array = moves[np.arange(len(views)), np.minimum(chosen, last)].astype(np.int32)
        return chosen_moves

    def probabilities(self, views: Views) -> list[Choice]:
        """Moves and their probabilities; moves of the list that come out alike are one."""
        moves, chances = self._tables(views)
        out = []
        for row, shares in zip(moves.tolist(), chances.tolist(), strict=True):
            sums: dict[int, float] = {}
            for move, p in zip(row, shares, strict=True):
                if p > 0:
                    sums[move] = sums.get(move, 0.0) + p
            out.append(sorted(sums.items()))
        return out

    def _tables(self, views: Views) -> tuple[Array, Array]:
        """Moves of the list as real ones, and their probabilities. int64 [n, moves], float64 [n, moves]"""
        self.check_rules(views.rules)
        states = views.places.states
        columns = situation_columns(views.rules, states)
        shown_cards = np.array(views.rules.board_sizes)[states[:, 3]]
        needed = self.rules_list.needed()
        hands = {f.name: np.zeros(len(views)) for f in HOLDEM if f.name in needed and f.name not in columns}
        for count in np.unique(shown_cards).tolist() if hands else ():
            rows = np.flatnonzero(shown_cards == count)
            for name, x in hand_columns(views.hole[rows], views.board[rows, :count], needed).items():
                hands[name][rows] = x
        which = self.rules_list.which(columns | hands, len(views))
        return _real(views.rules, states, self.rules_list.moves), self._mixes[which]

    @property
    def _mixes(self) -> Array:
        return self.rules_list.mixes(self.rules_list.moves)

    # --- for all hands --------------------------------------------------------------------------

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What is played with all hands. Nothing is drawn once for a hand, so `draw` changes nothing."""
        self.check_rules(places.rules)
        moves = _real(places.rules, places.states, self.rules_list.moves)
        answers = no_strategies(places, moves.shape[1])
        columns = situation_columns(places.rules, places.states)
        needed = frozenset(self.rules_list.needed())
        for i in np.flatnonzero(answers.actor >= 0).tolist():
            real, column = np.unique(moves[i], return_inverse=True)
            live = np.flatnonzero(places.live[i])
            seen: Columns = _on_board(places.shown(i), needed) | {
                name: np.full(len(live), x[i]) for name, x in columns.items() if name in needed
            }
            which = self.rules_list.which(seen, len(live))
            together = np.zeros((len(self.rules_list), len(real)))
            np.add.at(together.T, column, self._mixes.T)
            used = (together[np.unique(which)] > 0).any(axis=0)
            answers.moves[i, : used.sum()] = real[used]
            answers.probabilities[i, live, : used.sum()] = together[which][:, used]
        return answers


def _real(rules: Rules, states: Array, moves: tuple[Move, ...]) -> Array:
    """Moves of a list where the betting stands as in some states; END where nobody acts. int64 [n, moves]"""
    price, least, most = spans(rules, states).T
    spent = np.maximum(states[:, 0], states[:, 1])
    pot = states[:, 0] + states[:, 1] + price
    out = np.empty((len(states), len(moves)), np.int64)
    for k, move in enumerate(moves):
        if move.kind == rule_list.FOLD:
            out[:, k] = np.where(price > 0, FOLD, CALL)
        elif move.kind == rule_list.CALL:
            out[:, k] = CALL
        else:
            total = most if move.size == inf else np.floor(spent + move.size * pot + 0.5)
            out[:, k] = np.where(least <= most, np.minimum(np.maximum(total, least), most), CALL)
    out[states[:, 8] != 0] = END
    return out


@lru_cache(maxsize=4096)
def _on_board(board: tuple[int, ...], needed: frozenset[str]) -> dict[str, Array]:
    """Features of all hands that a board leaves."""
    hands = FULL_DECK.hands[~np.isin(FULL_DECK.hands, board).any(axis=1)]
    boards = np.broadcast_to(np.array(board, np.uint8), (len(hands), len(board)))
    return hand_columns(hands, boards, needed)


def _drawn(seed: int, hands: Array, lengths: Array) -> Array:
    """Numbers in [0, 1) that depend on seed, hand and place alone: splitmix64 of the three. float64 [n]"""
    with np.errstate(over="ignore"):
        z = np.uint64(seed % 2**64) * np.uint64(0x9E3779B97F4A7C15) + hands.astype(np.uint64)
        for step in (np.uint64(0), lengths.astype(np.uint64) + np.uint64(1)):
            z = (z + step) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
    drawn: Array = (z >> np.uint64(11)).astype(float) / 2.0**53
    return drawn
