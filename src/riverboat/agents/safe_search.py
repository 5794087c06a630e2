"""Answers in the endgame that a bank pays for: RWYWE's rule on top of search.

Before the searched street the blueprint plays. There the rest of the hand is solved against the opponent's range by a model
(unsafe: whoever is not as modelled may gain), and played in a share λ of the hands that come to this place, drawn in secret;
the blueprint plays in the others. What that can cost is known: v(h) is what each hand h of the opponent wins at most from the
blueprint there, and w(h) from the solution, both by exact best responses on the real board. A hand wins at most
(1 − λ) v(h) + λ w(h) from the mixture, so the endgame is entered at a risk of λ · max (w(h) − v(h)) or less. λ is as large as
the allowance says.

Exact for bets that are in the menus; a bet that is not begins another subgame, as always in search.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.mixtures import MixedAgent
from riverboat.agents.search import SearchingAgent
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE
from riverboat.games.holdem.actions import play_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.public_state import Places
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.subgames.search.search import Search, SearchSettings
from riverboat.subgames.search.stacks import even_places, even_play, even_strategy
from riverboat.subgames.search.subgames import Position

WHOLE = ("turn", "river")  # streets from which hands are solved to their end
LEAST_FLOOR = 0.01  # weight of the hands that the opponent should not have


class Stake(NamedTuple):
    """What is played where an endgame begins."""

    share: float  # of hands in which the answer is played
    excess: float  # chips that the worst hand of the opponent wins more from the answer than from the blueprint

    @property
    def risk(self) -> float:
        """Chips of a hand that comes there."""
        return self.share * self.excess


class SafeEndgames(MixedAgent):
    """A blueprint with answers in its endgames, each at a risk of `allowance` chips at most."""

    def __init__(
        self, base: BlueprintAgent, settings: SearchSettings, opponent: BlueprintStrategy, allowance: float
    ) -> None:
        if settings.street not in WHOLE:
            raise InputError(
                f"search={settings.street}: what a solution that ends with its street can cost is not known; "
                f"safe needs search={' or '.join(WHOLE)}"
            )
        # Every hand of the opponent is in the subgame, or nothing would be known of what it could win.
        settings = replace(settings, floor=max(settings.floor, LEAST_FLOOR), nested=None)
        answer = SearchingAgent(base, replace(settings, method="unsafe"), opponent)
        super().__init__((base, answer), (1.0, 0.0), base.name, base.seed)
        self.search = answer.search
        self.allowance = allowance
        self._values = Search(even_play(base.played), replace(settings, method="resolve"), even_strategy(opponent))
        self._stakes: dict[tuple[str, tuple[int, ...], int], Stake] = {}

    @property
    def first(self) -> int:
        """The street on which answers begin."""
        return self.search.first

    def shares_at(self, places: Places, seats: Array) -> Array:
        """The blueprint before the searched street, a mixture from there on. float64 [n, parts]"""
        shares = np.tile([1.0, 0.0], (len(places), 1))
        for i in np.flatnonzero(places.street >= self.first).tolist():
            share = self.stake(places, i, int(seats[i])).share
            shares[i] = 1.0 - share, share
        return shares

    def stake(self, places: Places, i: int, seat: int) -> Stake:
        """What is played by a seat in the endgame that a place lies in."""
        state, board = self._begun(places, i), places.shown(i)[: places.rules.board_sizes[self.first]]
        key = state.line, board, seat
        if key not in self._stakes:
            self._stakes[key] = self._staked(state, board, seat)
        return self._stakes[key]

    def known(self, places: Places, i: int, seat: int) -> Stake | None:
        """The same where it was needed before."""
        board = places.shown(i)[: places.rules.board_sizes[self.first]]
        return self._stakes.get((self._begun(places, i).line, board, seat))

    def _staked(self, state: Betting, board: tuple[int, ...], seat: int) -> Stake:
        entry = self._values.entered(state, board, seat)
        if entry.values is None:
            return Stake(0.0, np.inf)  # the blueprint has no such line, and so no values that could be kept
        root = self.search.positions(Places.of([state], [board]), [seat])[0]
        assert isinstance(root, Position)  # solved to the end
        won = root.here.best(1 - seat)
        more = np.asarray(won - entry.values, float)
        excess = float(np.nanmax(more, initial=0.0))
        return Stake(1.0 if excess <= self.allowance else self.allowance / excess, excess)

    def _begun(self, places: Places, i: int) -> Betting:
        """Where the searched street begins on the way to a place, in the game that is searched."""
        places = even_places(places)
        state = Betting.start(places.rules)
        for move in places.moves[i, : places.length[i]].tolist():
            state = state.next_street() if state.actor == CHANCE else state
            if state.street == self.first:
                break
            state = play_move(state, move)
        return state.next_street() if state.actor == CHANCE else state
