"""Opponents that change, and agents that notice.

    switch:always-call,always-raise,deals=500          plays as the first for 500 deals, then as the second
    hedge:demo,always-raise,always-call                chooses among prepared strategies by what they would have won
    demo?exploit=dbbr&notice=200                       a learner that forgets what was before a change

A deal of a duplicate match is two hands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.delegation import ChoosesAs
from riverboat.agents.learning import LearningAgent, own_name
from riverboat.agents.mixtures import MixedAgent, OfParts, PlaysAMixture
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import HIDDEN
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands, join
from riverboat.opponents.models.change_detection import Watch
from riverboat.opponents.models.hand_lines import read_in
from riverboat.strategies.public_strategy import Answering, reach
from riverboat.strategies.reports.public_state import hand_numbers


class SwitchingAgent(OfParts):
    """Plays as one agent after the other, each for so many deals; the last goes on."""

    def __init__(self, parts: Sequence[Agent], deals: int, name: str = "switch") -> None:
        if len(parts) < 2 or deals < 1:
            raise InputError(f"{len(parts)} agents, deals={deals}: at least two agents, and one deal for each")
        self.parts, self.deals, self.name = tuple(parts), deals, name

    def act(self, views: Views) -> Array:
        """Moves, by the number of the deal. int32 [n]"""
        out = np.zeros(len(views), np.int32)
        who = np.minimum(np.asarray(views.hand) // self.deals, len(self.parts) - 1)
        for k in np.unique(who).tolist():
            some = np.flatnonzero(who == k)
            out[some] = self.parts[k].act(views.take(some))
        return out


class HedgeAgent(OfParts, PlaysAMixture):
    """A choice among prepared strategies without regret: Hedge with shared weights (Herbster & Warmuth 1998).

    One of them is drawn for each hand. What every other would have won is estimated from the same hand: what was won, times
    how much likelier it was to make our moves than the mixture (importance sampling; Bowling et al. 2008). The estimate has
    no bias, and is no larger than what was won over the strategy's share. Weights are multiplied by e to the η times that,
    with η from the variance so far; then a little of all weights is shared evenly, so that a strategy that was bad for long
    comes back soon after a change.
    """

    def __init__(
        self, parts: Sequence[Agent], every: int = 200, share: float = 0.05, name: str = "hedge", seed: int = 0
    ) -> None:
        if len(parts) < 2 or every < 2 or not 0 < share < 1:
            raise InputError(f"{len(parts)} agents, every={every}, share={share:g}: two agents, 2 hands and a share")
        self._answering = [part for part in parts if isinstance(part, Answering)]
        if len(self._answering) < len(parts):
            name = next(part.name for part in parts if not isinstance(part, Answering))
            raise InputError(f"agent {name!r} cannot be asked about all hands: hedge cannot weigh it")
        self.parts, self.every, self.share, self.name, self.seed = tuple(parts), every, share, name, seed
        self.weights = np.full(len(parts), 1 / len(parts))
        self._variance = 0.0
        self._renew()

    def _renew(self) -> None:
        self.now = MixedAgent(self.parts, tuple(self.weights.tolist()), self.name, self.seed)

    def account(self) -> str:
        """Weights of the parts."""
        return "weights: " + ", ".join(
            f"{part.name} {share:.0%}" for part, share in zip(self.parts, self.weights, strict=True)
        )

    def observe(self, hands: Hands) -> None:
        """Weigh all parts by these hands."""
        won = self.estimates(hands)
        centred = won - (won @ self.weights)[:, None]
        self._variance += float((centred**2 @ self.weights).sum())
        if self._variance > 0:
            rate = np.sqrt(np.log(len(self.parts)) / self._variance)
            grown = self.weights * np.exp(rate * (centred.sum(axis=0) - centred.sum(axis=0).max()))
            self.weights = (1 - self.share) * grown / grown.sum() + self.share / len(self.parts)
        self._renew()

    def estimates(self, hands: Hands) -> Array:
        """Chips that each part would have won in each hand, estimated. float64 [n, parts]"""
        mine = own_name(self.name, hands)
        seats, hole = hands.seat_of(mine), hands.rules.hole
        board = np.array(hands.cards[:, 2 * hole :])
        places = Places(hands.rules, hands.moves, hands.length, board)
        dealt = np.array(hands.rules.board_sizes)[places.street]
        board[np.arange(board.shape[1]) >= dealt[:, None]] = HIDDEN
        chance = np.zeros((len(hands), len(self.parts)))
        for seat in (0, 1):
            some = np.flatnonzero(seats == seat)
            if not len(some):
                continue
            held = _places_of(hands.cards[some, seat * hole : (seat + 1) * hole], hands.rules)
            for k, part in enumerate(self._answering):
                chance[some, k] = reach(part, places.take(some), seat)[np.arange(len(some)), held]
        total = chance @ self.weights
        ratio = np.where(total[:, None] > 0, chance / np.where(total > 0, total, 1.0)[:, None], 0.0)
        return ratio * hands.won[np.arange(len(hands)), np.maximum(seats, 0)][:, None]


def _places_of(cards: Array, rules: Rules) -> Array:
    """Of hands among those of the deck. int64 [n]"""
    if rules.hole == 2:
        place = np.full(1 + int(hand_numbers(rules.deck.hands).max()), -1)
        place[hand_numbers(rules.deck.hands)] = np.arange(rules.deck.hand_count)
        return place[hand_numbers(np.sort(cards, axis=1))]
    place = np.full(256, -1)
    place[rules.deck.hands[:, 0]] = np.arange(rules.deck.hand_count)
    return place[cards[:, 0]]


class NoticingLearner(ChoosesAs):
    """A learner that begins anew when its opponent has changed, with the hands since then."""

    def __init__(self, make: Callable[[], LearningAgent], window: int) -> None:
        self._make = make
        self.now: LearningAgent = make()
        if self.now.settings.memory is not None:
            raise InputError("notice and memory: what is forgotten cannot be kept; give one of them")
        self.name = self.now.name
        self.watch = Watch(self.now.first.strategy.tree, window)
        self.hands = 0
        self.noticed: list[int] = []  # after how many hands
        self._recent: deque[Hands] = deque()

    @property
    def made_of(self) -> tuple[BlueprintAgent]:
        """The blueprint by which it is known."""
        return self.now.made_of

    @property
    def tables_at_once(self) -> int:
        """Few: a change is noticed between two batches."""
        return max(2, min(self.now.tables_at_once, self.watch.window // 4))

    def account(self) -> str:
        """When a change was noticed."""
        when = ", ".join(f"{n:,}" for n in self.noticed)
        return f"a change of the opponent was noticed after {when} hands" if when else "no change was noticed"

    def observe(self, hands: Hands) -> None:
        """Learn, or forget what was before a change and learn from the last hands."""
        first = self.now.first
        reading = read_in(first.strategy.tree, hands, first.translation, first.seed + self.hands)
        theirs = reading.player != hands.names.index(own_name(self.name, hands))
        self.hands += len(hands)
        self._recent.append(hands)
        while sum(map(len, self._recent)) - len(self._recent[0]) >= self.watch.window:
            self._recent.popleft()
        if self.watch.add(reading, theirs, len(hands)):
            self.noticed.append(self.hands)
            self.now = self._make()
            self.now.observe(join(self._recent))
        else:
            self.now.observe(hands)
