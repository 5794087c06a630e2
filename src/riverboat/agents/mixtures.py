"""An agent that is one of several, drawn in secret for every hand.

    agent = MixedAgent((blueprint, answer), (0.9, 0.1))

Who draws a strategy before the hand plays their mixture in the game as a whole: it wins the mean of what they win from
anybody, and guarantees at least the mean of what they guarantee. What it plays at a place is the mean over the parts, each
weighed by how likely it was to come there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riverboat.agents.base import Agent, rules_of
from riverboat.agents.delegation import PlaysAs
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import END
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.public_strategy import Answering, Strategies, reach

_MIX, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class OfParts:
    """Something made of agents that play the same game."""

    parts: tuple[Agent, ...]

    @property
    def made_of(self) -> tuple[Agent, ...]:
        """Agents by which it is known (`evaluation.identity`)."""
        return self.parts

    @property
    def rules(self) -> Rules | None:
        """The game that its parts play; None where they play any."""
        return rules_of(*self.parts)

    def check_rules(self, rules: Rules) -> None:
        """All parts must be able to play them."""
        for part in self.parts:
            part.check_rules(rules)


class MixedAgent(OfParts):
    """Plays each hand as one of its parts."""

    def __init__(self, parts: Sequence[Agent], shares: Sequence[float], name: str = "mixture", seed: int = 0) -> None:
        if len(parts) != len(shares) or not parts:
            raise InputError(f"{len(shares)} shares for {len(parts)} agents: give one for each")
        if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
            raise InputError(f"shares {', '.join(f'{s:g}' for s in shares)}: must sum to one, none below zero")
        self.parts, self.shares, self.name, self.seed = tuple(parts), tuple(shares), name, seed

    def shares_at(self, places: Places, seats: Array) -> Array:
        """Chances of the parts in hands that come to places. float64 [n, parts]"""
        return np.tile(np.array(self.shares, float), (len(places), 1))

    def drawn(self, hand: Array, seat: Array, shares: Array) -> Array:
        """Which part plays hands in seats, by chances of the parts. int64 [n]"""
        bits = (np.asarray(hand, np.uint64) << np.uint64(1)) + np.asarray(seat, np.uint64) + np.uint64(1)
        z = np.uint64(self.seed % 2**64) + bits * _MIX  # splitmix64
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        share = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(float) / 2.0**53
        chosen: Array = (np.cumsum(shares, axis=1) <= share[:, None]).sum(axis=1)
        return np.minimum(chosen, len(self.parts) - 1)

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        out = np.zeros(len(views), np.int32)
        who = self.drawn(views.hand, views.seat, self.shares_at(views.places, views.seat))
        for k, part in enumerate(self.parts):
            some = np.flatnonzero(who == k)
            if len(some):
                out[some] = part.act(views.take(some))
        return out

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What it plays with all hands at public places; with `draw`, in hands of these numbers."""
        actor = places.actor
        shares = self.shares_at(places, actor)
        used = [k for k in range(len(self.parts)) if (shares[:, k] > 0).any()]
        answers = {k: self._answering(k).strategies(places, draw) for k in used}
        weights = self._weights(places, actor, shares, used, draw)
        total = np.sum(list(weights.values()), axis=0)
        labels = [
            sorted({int(m) for a in answers.values() for m in a.moves[i] if m != END}) for i in range(len(places))
        ]
        columns = max(map(len, labels), default=0)
        moves = np.full((len(places), columns), END, np.int32)
        chances = np.zeros((len(places), places.rules.deck.hand_count, columns))
        for i, some in enumerate(labels):
            moves[i, : len(some)] = some
            for k, answer in answers.items():
                share = np.where(total[i] > 0, weights[k][i] / np.where(total[i] > 0, total[i], 1.0), shares[i, k])
                for column, move in enumerate(answer.moves[i].tolist()):
                    if move != END:
                        chances[i, :, some.index(move)] += share * answer.probabilities[i, :, column]
        return Strategies(places, actor, moves, chances)

    def reach(self, places: Places, seat: int) -> Array:
        """Probability that it makes its moves of the line, in a seat and with each hand. float64 [n, hands]"""
        shares = self.shares_at(places, np.full(len(places), seat))
        used = [k for k in range(len(self.parts)) if (shares[:, k] > 0).any()]
        parts = [shares[:, k, None] * reach(self._answering(k), places, seat) for k in used]
        total: Array = np.sum(parts, axis=0)
        return total

    def _weights(
        self, places: Places, actor: Array, shares: Array, used: list[int], draw: Array | None
    ) -> dict[int, Array]:
        """How likely each part is to be the one that has come to places. float64 [n, hands] of each"""
        out = {k: np.zeros((len(places), places.rules.deck.hand_count)) for k in used}
        if draw is not None:
            who = self.drawn(draw, np.maximum(actor, 0), shares)
            for k in used:
                out[k][who == k] = 1.0
            return out
        for seat in (0, 1):
            some = np.flatnonzero(actor == seat)
            for k in used if len(some) else ():
                out[k][some] = shares[some, k, None] * reach(self._answering(k), places.take(some), seat)
        return out

    def _answering(self, k: int) -> Answering:
        part = self.parts[k]
        if not isinstance(part, Answering):
            raise InputError(f"agent {part.name!r} cannot be asked about all hands, and so {self.name!r} cannot")
        return part


class PlaysAMixture(PlaysAs):
    """What is played is a mixture, which changes between batches of `every` hands alone: what it rests on is for so many."""

    now: MixedAgent
    every: int

    @property
    def tables_at_once(self) -> int:
        """As many as there are hands between two mixtures."""
        return self.every
