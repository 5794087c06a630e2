"""Litmus: checks of poker sense, asked of any agent that answers for all hands.

    result = litmus(agent, rules)                      # with the checks that come with the package
    result.failed, result.failures[0].reason

What a check asks is data (`litmus_checks`, `litmus.toml`). A failure says where: the line and the board as tables have them,
the hand, and what the agent plays there. Checks that a game has no place for, or whose hands the agent never gets there with,
are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riverboat.cards.deck import HANDS
from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array
from riverboat.evaluation.litmus_checks import (
    ALL_IN,
    ANY,
    CHEAP,
    CHECK_DOWN,
    LEAST,
    MONOTONE,
    MORE,
    NEVER,
    NUTS,
    SIZE,
    SIZES,
    Check,
    shipped_checks,
)
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.games.holdem.bet_sizes import parse_sizes, total
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled, show_deal, show_match_state
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.public_strategy import Answering, reach, rows
from riverboat.strategies.queries import hand_names

HELD = 1e-3  # an agent that gets somewhere with a hand does so at least this often
_SEED = 7  # of boards that are drawn
Cards = tuple[int, ...]


@dataclass(frozen=True)
class Failure:
    """Where a check fails, and how."""

    check: str
    reason: str
    line: str
    board: str
    hand: str  # empty where all hands together fail
    probabilities: dict[str, float]  # of fold, call and raise, with that hand or over all
    excess: float  # beyond what is allowed
    match_state: str = ""  # for `riverboat act`, where it is about one hand

    def record(self) -> dict[str, Any]:
        """For files."""
        return {
            "check": self.check,
            "reason": self.reason,
            "line": self.line,
            "board": self.board,
            "hand": self.hand,
            "probabilities": self.probabilities,
            "match_state": self.match_state,
        }


@dataclass(frozen=True)
class Verdict:
    """What became of one check."""

    check: Check
    places: int  # at which the agent was asked
    failures: tuple[Failure, ...]  # the worst first
    skipped: str = ""  # why nothing was asked

    @property
    def word(self) -> str:
        """passed, failed or skipped."""
        return "skipped" if self.skipped else "failed" if self.failures else "passed"


@dataclass(frozen=True)
class Litmus:
    """What became of all checks."""

    verdicts: tuple[Verdict, ...]

    @property
    def checks(self) -> int:
        """Checks that were asked."""
        return sum(not verdict.skipped for verdict in self.verdicts)

    @property
    def failed(self) -> int:
        """Checks with a failure."""
        return sum(bool(verdict.failures) for verdict in self.verdicts)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """All failures, check by check."""
        return tuple(failure for verdict in self.verdicts for failure in verdict.failures)


def litmus(
    agent: Answering,
    rules: Rules,
    checks: Sequence[Check] | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> Litmus:
    """Ask an agent about all checks, those of the package by default."""
    chosen = shipped_checks() if checks is None else tuple(checks)
    verdicts = []
    for k, check in enumerate(chosen, 1):
        verdicts.append(_Asked(check, rules, agent).verdict())
        if progress is not None:
            progress(k / len(chosen))
    return Litmus(tuple(verdicts))


# --- places -----------------------------------------------------------------------------------


def state_after(rules: Rules, line: str, size: str = "") -> Betting | None:
    """The state that a line of a check leads to; None where it cannot be played, or nobody acts behind it."""
    state = settled(Betting.start(rules))
    for word in line.replace("/", " ").split():
        if word == CHECK_DOWN:
            while state.street < rules.rounds - 1 and state.actor >= 0:
                state = settled(state.play("c"))
            continue
        label = _label(state, size if word == SIZE else word)
        if label is None or state.actor < 0 or not state.legal(label):
            return None
        state = settled(state.play(label))
    return state if state.actor >= 0 else None


def _label(state: Betting, word: str) -> str | None:
    """A word of a line as the protocol writes it; a size is fitted to what is legal."""
    if word in ("c", "f"):
        return word
    span = state.raise_range()
    if span is None:
        return None
    if state.rules.limit:
        return None if word == ALL_IN else "r"
    if word == LEAST:
        return f"r{span.least}"
    wanted = parse_sizes(word)[0]
    if wanted.kind == "x" and not state.situation.faced:
        return None
    return f"r{min(max(state.before + total(wanted, state.situation), span.least), span.most)}"


def boards_of(check: Check, rules: Rules) -> list[Cards]:
    """Complete boards of a check that the game can deal."""
    size, deck = rules.board_sizes[-1], rules.deck.cards.tolist()
    if not isinstance(check.boards, int):
        return [board for board in check.boards if len(board) == size and set(board) <= set(deck)]
    rng = np.random.default_rng(_SEED)
    return [tuple(rng.permutation(deck)[:size].tolist()) for _ in range(max(check.boards, 1))]


@dataclass(frozen=True)
class _Place:
    """Where an agent is asked."""

    state: Betting
    board: Cards  # that lies there
    group: tuple[str, Cards]  # line and board of the check: places that differ in a size alone


@dataclass
class _Asked:
    """One check, one agent."""

    check: Check
    rules: Rules
    agent: Answering
    failures: list[Failure] = field(default_factory=list)

    def verdict(self) -> Verdict:
        """Ask at all places."""
        places = self._places()
        if not places:
            return Verdict(self.check, 0, (), "no such place in this game")
        if not any(self._held(place).any() for place in places):
            return Verdict(self.check, 0, (), "no such hands in this game")
        table = Places.of([place.state for place in places], [place.board for place in places])
        ranges = self._ranges(table)
        judges = {NEVER: self._never, MORE: self._more, MONOTONE: self._monotone, CHEAP: self._cheap}
        judge, asked = judges.get(self.check.kind), 0
        means: dict[tuple[str, Cards], list[tuple[_Place, Array]]] = {}
        for place, weights, row in zip(places, ranges, rows(self.agent, table), strict=True):
            raises = row.chances.sum(axis=1) - row.of(FOLD) - row.of(CALL)
            chances = np.stack([row.of(FOLD), row.of(CALL), raises], axis=1)
            if not (weights > HELD).any():
                continue
            asked += 1
            means.setdefault(place.group, []).append((place, weights @ chances / weights.sum()))
            if judge is not None:
                judge(place, weights, chances)
        for some in means.values() if self.check.kind == SIZES else ():
            self._sizes(some)
        if not asked:
            return Verdict(self.check, 0, (), "the agent never gets there")
        return Verdict(self.check, asked, tuple(sorted(self.failures, key=lambda failure: -failure.excess)))

    def _places(self) -> list[_Place]:
        places: dict[tuple[str, Cards], _Place] = {}
        for line in self.check.lines:
            for size in self.check.sizes or ("",):
                state = state_after(self.rules, line, size)
                if state is None:
                    continue
                for board in boards_of(self.check, self.rules):
                    lies = board[: self.rules.board_sizes[state.street]]
                    places.setdefault((state.line, lies), _Place(state, lies, (line, lies)))
        return list(places.values())

    def _ranges(self, places: Places) -> Array:
        """How often the agent comes to each place with each hand. float64 [n, hands]"""
        out = np.zeros((len(places), self.rules.deck.hand_count))
        for seat in (0, 1):
            mine = np.flatnonzero(places.actor == seat)
            if len(mine):
                out[mine] = reach(self.agent, places.take(mine), seat)
        return out

    def _held(self, place: _Place, text: str = "") -> Array:
        """Hands that a check is about. bool [hands]"""
        deck, text = self.rules.deck, text or self.check.hands
        if text == ANY:
            return np.ones(deck.hand_count, bool)
        if text == NUTS:
            strength = hand_strengths(place.board, deck)
            best: Array = strength == strength.max()
            return best
        if deck.hole != 2:
            return np.zeros(deck.hand_count, bool)
        low, high = deck.hands.astype(int).T
        weights = Range.parse(text).weights
        assert len(weights) == HANDS
        held: Array = weights[high * (high - 1) // 2 + low] > 0
        return held

    # --- kinds ----------------------------------------------------------------------------------

    def _never(self, place: _Place, weights: Array, chances: Array) -> None:
        p = np.where(self._held(place) & (weights > HELD), chances[:, _COLUMN[self.check.move]], -1.0)
        worst = int(p.argmax())
        if p[worst] > self.check.tolerance:
            others = int((p > self.check.tolerance).sum()) - 1
            more = f", and so do {others} other hands" if others else ""
            self._fail(
                place,
                f"{_VERB[self.check.move]} {_percent(p[worst])} of the time{more}",
                p[worst],
                chances[worst],
                worst,
            )

    def _more(self, place: _Place, weights: Array, chances: Array) -> None:
        p = chances[:, _COLUMN[self.check.move]]
        mine, other = (self._held(place, text) & (weights > HELD) for text in (self.check.hands, self.check.than))
        if mine.any() and other.any():
            excess = float(p[other].mean() - p[mine].mean())
            if excess > self.check.tolerance:
                reason = (
                    f"{self.check.hands} {_VERB[self.check.move]} {_percent(p[mine].mean())} of the time, "
                    f"{self.check.than} {_percent(p[other].mean())}"
                )
                self._fail(place, reason, excess, chances[mine].mean(axis=0))

    def _monotone(self, place: _Place, weights: Array, chances: Array) -> None:
        strength = hand_strengths(place.board, self.rules.deck).astype(int)
        held = np.flatnonzero(weights > HELD)
        w, s, p = weights[held], strength[held], chances[held, 0]
        stronger = (s[:, None] > s) * np.outer(w, w)
        more = np.maximum(p[:, None] - p, 0.0) * stronger
        excess = float(more.sum() / max(stronger.sum(), 1e-300))
        if excess > self.check.tolerance:
            a, b = np.unravel_index(int(more.argmax()), more.shape)
            weaker = hand_names(self.rules.deck)[held[b]]
            reason = (
                f"of two hands the stronger folds more often by {_percent(excess)} on average; this one {_percent(p[a])}, "
                f"the weaker {weaker} {_percent(p[b])}"
            )
            self._fail(place, reason, excess, chances[held[a]], int(held[a]))

    def _cheap(self, place: _Place, weights: Array, chances: Array) -> None:
        mean = weights @ chances / weights.sum()
        price = place.state.to_call / place.state.pot
        if mean[0] > price + self.check.tolerance:
            reason = f"folds {_percent(mean[0])} of all hands to a bet that needs {_percent(price)}"
            self._fail(place, reason, float(mean[0] - price), mean)

    def _sizes(self, some: list[tuple[_Place, Array]]) -> None:
        """Places that differ in the bet that is faced, with how often all hands fold, call and raise there."""
        some.sort(key=lambda pair: pair[0].state.to_call)
        drops = [(a[1][0] - b[1][0], a, b) for k, a in enumerate(some) for b in some[k + 1 :]]
        excess, smaller, larger = max(drops, key=lambda drop: drop[0], default=(0.0, some[0], some[0]))
        if excess > self.check.tolerance:
            place, mean = larger
            reason = (
                f"folds {_percent(mean[0])} of all hands to a bet of {place.state.to_call:,}, but "
                f"{_percent(smaller[1][0])} to one of {smaller[0].state.to_call:,}"
            )
            self._fail(place, reason, float(excess), mean)

    # --- failures -------------------------------------------------------------------------------

    def _fail(self, place: _Place, reason: str, excess: float, chances: Array, hand: int = -1) -> None:
        state, named, text = place.state, "", ""
        if hand >= 0:
            named = hand_names(self.rules.deck)[hand]
            hole: Cards = tuple(self.rules.deck.hands[hand].tolist())
            holes = (hole, ()) if state.turn == 0 else ((), hole)
            text = show_match_state(state.turn, 0, state.line, show_deal(holes, place.board, state))
        played = dict(zip(_COLUMN, map(float, chances), strict=True))
        board = show_cards(place.board)
        self.failures.append(Failure(self.check.name, reason, state.line, board, named, played, float(excess), text))


_COLUMN = {"fold": 0, "call": 1, "raise": 2}
_VERB = {"fold": "folds", "call": "checks or calls", "raise": "raises"}


def _percent(p: float) -> str:
    return f"{100 * p:.1f} %"
