"""Walking a game state by state, and what every state must keep to.

An *inspector* knows one shape of game: it reads what a state says (`Facts`), judges it, and carries along what is
needed to judge the states below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple, Protocol

import numpy as np

from riverboat.games.base import (
    CHANCE,
    TERMINAL,
    Array,
    Compare,
    Constant,
    HistoryGame,
    Matrix,
    Outcome,
    Payoff,
    PublicGame,
    PublicState,
    State,
)
from riverboat.testing.failures import TOLERANCE, at, fail, place

LINES = 200  # random lines through a game that is too large for a full walk


class Facts(NamedTuple):
    """All that can be seen of a state; equal states have equal facts."""

    actor: int
    labels: tuple[str, ...]
    data: Any  # outcomes, probabilities, the name of an information set, or pay-offs


class Walk(NamedTuple):
    """How much of a game was seen."""

    states: int
    complete: bool


class Inspector(Protocol):
    """What the walk needs to know of a shape of game."""

    name: str
    zero_sum: bool

    def root(self) -> tuple[Any, Any]:
        """The first state and its context."""
        ...

    def read(self, state: Any) -> Facts:
        """What a state says."""
        ...

    def judge(self, facts: Facts, where: str, context: Any) -> None:
        """Fail unless the facts are in order."""
        ...

    def below(self, facts: Facts, index: int, context: Any) -> Any:
        """The context of a child."""
        ...


def walk(inspector: Inspector, limit: int, seed: int) -> Walk:
    """Judge every state, or in games of more than `limit` states the first ones and those on random lines.

    Each state is made twice and must look the same both times, and it must still look the same when everything
    below it has been visited.
    """
    name = inspector.name
    with at(f"{name}: root()"):
        (root, context), (twin, _) = inspector.root(), inspector.root()
    work: list[tuple[Any, Any, tuple[str, ...], Any, Facts | None]] = [(root, twin, (), context, None)]
    states, complete = 0, True
    while work:
        state, twin, line, context, before = work.pop()
        where = place(name, line)
        if before is not None:
            with at(where):
                after = inspector.read(state)
            if after != before:
                fail(where, f"the state changed while its children were visited, from {before} to {after}", "no change")
            continue
        if states >= limit:
            complete = False
            continue
        states += 1
        facts = _seen(inspector, state, where, context)
        with at(where):
            again = inspector.read(twin)
        if again != facts:
            fail(where, f"made twice, the state was once {facts} and once {again}", "the same both times")
        work.append((state, None, line, context, facts))
        for k in reversed(range(len(facts.labels))):
            with at(f"{where}: child({k})"):
                child, twin = state.child(k), state.child(k)
            work.append((child, twin, (*line, facts.labels[k]), inspector.below(facts, k, context), None))
    if not complete:
        states += _random_lines(inspector, Random(seed))
    return Walk(states, complete)


def _random_lines(inspector: Inspector, random: Random) -> int:
    states = 0
    for _ in range(LINES):
        state, context = inspector.root()
        line: tuple[str, ...] = ()
        while True:
            states += 1
            where = place(inspector.name, line)
            facts = _seen(inspector, state, where, context)
            if not facts.labels:
                break
            k = random.randrange(len(facts.labels))
            with at(f"{where}: child({k})"):
                state = state.child(k)
            context, line = inspector.below(facts, k, context), (*line, facts.labels[k])
    return states


def _seen(inspector: Inspector, state: Any, where: str, context: Any) -> Facts:
    with at(where):
        facts = inspector.read(state)
    inspector.judge(facts, where, context)
    return facts


def check_labels(labels: Sequence[str], where: str, what: str) -> None:
    """Fail unless there are labels, all of them different and not empty."""
    if not labels:
        fail(where, f"no {what}", "at least one")
    for label in labels:
        if not isinstance(label, str) or not label:
            fail(where, f"one of the {what} is {label!r}", "a text that is not empty")
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if list(labels).count(label) > 1)
        fail(where, f"{twice!r} is twice among the {what} {tuple(labels)}", "labels that differ")


def _check_numbers(numbers: Any, where: str, what: str) -> None:
    for number in np.asarray(numbers, float).ravel():
        if not math.isfinite(number):
            fail(where, f"{what} {numbers} with {number}", "finite numbers")


# --- history games --------------------------------------------------------------------------


class HistoryInspector:
    """What the states of a history game must keep to."""

    def __init__(self, game: HistoryGame) -> None:
        self.game, self.name, self.zero_sum = game, game.name, True
        self.infosets: dict[str, tuple[int, tuple[str, ...], str]] = {}  # player, moves, where first met

    def root(self) -> tuple[State, None]:
        return self.game.root(), None

    def read(self, state: State) -> Facts:
        actor = state.actor
        if actor == TERMINAL:
            return Facts(actor, (), tuple(state.payoffs()))
        data = tuple(state.probabilities()) if actor == CHANCE else state.infoset()
        return Facts(actor, tuple(state.actions()), data)

    def judge(self, facts: Facts, where: str, context: None) -> None:
        players = self.game.players
        if facts.actor == TERMINAL:
            if len(facts.data) != players:
                fail(where, f"pay-offs {facts.data}", f"one for each of the {players} players")
            _check_numbers(facts.data, where, "pay-offs")
            self.zero_sum &= abs(sum(facts.data)) <= TOLERANCE
            return
        if facts.actor != CHANCE and facts.actor not in range(players):
            fail(where, f"actor {facts.actor!r}", f"a player from 0 to {players - 1}, CHANCE or TERMINAL")
        check_labels(facts.labels, where, "moves")
        if facts.actor == CHANCE:
            _check_numbers(facts.data, where, "probabilities")
            if len(facts.data) != len(facts.labels) or min(facts.data) < 0:
                fail(where, f"probabilities {facts.data}", f"one of at least 0 for each outcome of {facts.labels}")
            if abs(sum(facts.data) - 1) > TOLERANCE:
                fail(where, f"probabilities {facts.data}, which sum to {sum(facts.data):g}", "a sum of one")
        else:
            self._judge_infoset(facts, where)

    def _judge_infoset(self, facts: Facts, where: str) -> None:
        if not isinstance(facts.data, str):
            fail(where, f"an information set called {facts.data!r}", "a text")
        known = self.infosets.setdefault(facts.data, (facts.actor, facts.labels, where))
        if known[:2] != (facts.actor, facts.labels):
            fail(
                where,
                f"information set {facts.data!r} of player {facts.actor} with moves {facts.labels}",
                f"player {known[0]} with moves {known[1]} as it was met before ({known[2]})",
            )

    def below(self, facts: Facts, index: int, context: None) -> None:
        return None


# --- public games ---------------------------------------------------------------------------


class PublicInspector:
    """What the states of a public game must keep to. The context is which pairs of hands are still possible."""

    def __init__(self, game: PublicGame) -> None:
        self.game, self.name, self.zero_sum = game, game.name, True
        self.counts = len(game.hands[0]), len(game.hands[1])

    def root(self) -> tuple[PublicState, Array]:
        return self.game.root(), self.game.deal.joint() > 0

    def read(self, state: PublicState) -> Facts:
        actor = state.actor
        if actor == TERMINAL:
            return Facts(actor, (), state.payoff())
        if actor == CHANCE:
            outcomes = tuple(state.outcomes())
            return Facts(actor, tuple(outcome.label for outcome in outcomes), outcomes)
        return Facts(actor, tuple(state.actions()), None)

    def judge(self, facts: Facts, where: str, context: Array) -> None:
        if facts.actor == TERMINAL:
            self._judge_payoff(facts.data, where, context)
            return
        if facts.actor not in (0, 1, CHANCE):
            fail(where, f"actor {facts.actor!r}", "0, 1, CHANCE or TERMINAL")
        check_labels(facts.labels, where, "outcomes" if facts.actor == CHANCE else "moves")
        if facts.actor == CHANCE:
            self._judge_outcomes(facts.data, where, context)

    def _judge_outcomes(self, outcomes: tuple[Outcome, ...], where: str, possible: Array) -> None:
        total = np.zeros(self.counts)
        for outcome in outcomes:
            if not (math.isfinite(outcome.weight) and outcome.weight >= 0):
                fail(where, f"outcome {outcome.label!r} has weight {outcome.weight}", "a number of at least 0")
            for player, dead in enumerate(outcome.dead):
                for hand in dead:
                    if hand not in range(self.counts[player]):
                        known = f"a number from 0 to {self.counts[player] - 1}"
                        fail(where, f"outcome {outcome.label!r} makes hand {hand!r} of player {player} dead", known)
            total += outcome.weight * self._live(outcome)
        wrong = np.argwhere(possible & (np.abs(total - 1) > TOLERANCE))
        if len(wrong):
            h0, h1 = wrong[0]
            fail(
                where,
                f"with hands {self.game.hands[0][h0]!r} and {self.game.hands[1][h1]!r} the outcomes that neither "
                f"makes dead weigh {total[h0, h1]:g} in all",
                "one for every pair of hands that is still possible",
            )

    def _live(self, outcome: Outcome) -> Array:
        """Pairs of hands that an outcome leaves possible. bool [hands0, hands1]"""
        live = [np.ones(count, bool) for count in self.counts]
        for hands, dead in zip(live, outcome.dead, strict=True):
            hands[list(dead)] = False
        return np.outer(*live)

    def _judge_payoff(self, payoff: Payoff, where: str, possible: Array) -> None:
        if not isinstance(payoff, Constant | Compare | Matrix):
            fail(where, f"a pay-off of type {type(payoff).__name__}", "Constant, Compare or Matrix")
        try:
            hash(payoff)
        except TypeError as error:
            fail(where, f"a pay-off that cannot be hashed ({error})", "tuples of plain numbers all the way down")
        if isinstance(payoff, Compare):
            lengths = tuple(len(strengths) for strengths in payoff.strengths)
            if lengths != self.counts:
                fail(where, f"strengths for {lengths} hands", f"one for each of the {self.counts} hands")
            _check_numbers(payoff.strengths[0] + payoff.strengths[1], where, "strengths")
        tables = pair_payoffs(payoff, self.counts)
        for player, table in enumerate(tables):
            if table.shape != self.counts:
                fail(where, f"pay-offs of player {player} of shape {table.shape}", f"{self.counts}, player 0 first")
            bad = np.argwhere(~np.isfinite(table))
            if len(bad):
                h0, h1 = bad[0]
                pair = f"{self.game.hands[0][h0]!r} and {self.game.hands[1][h1]!r}"
                fail(where, f"hands {pair} pay player {player} {table[h0, h1]}", "a finite number")
        self.zero_sum &= bool(np.all(np.abs(tables[0] + tables[1])[possible] <= TOLERANCE))

    def below(self, facts: Facts, index: int, context: Array) -> Array:
        return context & self._live(facts.data[index]) if facts.actor == CHANCE else context


def pair_payoffs(payoff: Payoff, counts: tuple[int, int]) -> tuple[Array, Array]:
    """What each player gets for every pair of hands, straight from the definition. float64 [hands0, hands1] each"""
    if isinstance(payoff, Constant):
        return np.full(counts, payoff.payoffs[0], float), np.full(counts, payoff.payoffs[1], float)
    if isinstance(payoff, Matrix):
        return np.asarray(payoff.payoffs[0], float), np.asarray(payoff.payoffs[1], float)
    mine, theirs = (np.asarray(strengths) for strengths in payoff.strengths)
    better = np.sign(mine[:, None] - theirs[None, :])
    first, second = (
        np.where(better > 0, payoff.win[p], np.where(better < 0, payoff.lose[p], payoff.tie[p])).astype(float)
        for p in (0, 1)
    )
    return first, second
