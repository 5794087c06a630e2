"""Duplicate matches between any two agents: every deal is played twice, with the seats exchanged.

    agent = make_agent("runs/mine?purify")
    match = play_match(agent, make_agent("always-call"), rules_of(agent), hands=20_000)
    match.mbb_per_game, match.ci95

Tables advance together, one move each in turn, so that agents decide in batches. All that is random is keyed: the cards by
the seed and the number of the pair, what an agent draws by its own seed, that number and the place in the line. So equal
seeds give equal results whatever the size of the batches, and an agent that plays itself wins nothing.

Agents that learn are shown their hands after every batch (`agents.base.Learner`): what they see depends on the size of the
batches, and so may the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from riverboat.agents.base import Accounting, Agent, Learner
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.intervals import Interval, Tally
from riverboat.evaluation.matches.aivat import Aivat, Estimates
from riverboat.evaluation.matches.duel import Duel
from riverboat.evaluation.matches.pairs import Pairs
from riverboat.evaluation.matches.sequential_test import OPEN, Settling
from riverboat.evaluation.matches.thinning import Thinning, draws
from riverboat.evaluation.matches.workers import Workers
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands

PAIRS = 4096  # played side by side
PAIRS_OF_A_LOOK = 500  # where a match may be settled
PAIRS_OF_AIVAT = 2048  # where estimates take time, and who watches wants to see it pass


@dataclass(frozen=True)
class Match(Duel):
    """What the first of two agents won. With AIVAT, `chips` is its estimate, and `raw` what was really won."""

    names: tuple[str, str]
    raw: Interval | None = None
    factor: float | None = (
        None  # so many times the hands were needed without AIVAT: the ratio of the variances of pairs
    )
    verdict: str | None = None  # of a match that stops when it is settled
    bounds: tuple[float, float] | None = None  # of the verdict, in mbb/g; the interval then holds at any time
    played: int | None = None  # hands, where a match was thinned; all others stand for them

    def record(self) -> dict[str, Any]:
        """The result for files, without what depends on the machine."""
        facts: dict[str, Any] = super().record()
        if self.raw is not None:
            per_game = 1000 / self.big_blind
            facts["raw"] = {"mbb_per_game": self.raw.mean * per_game, "ci95": self.raw.half_width * per_game}
            facts["factor"] = self.factor
        if self.verdict is not None:
            facts |= {"verdict": self.verdict, "bounds": list(self.bounds or ())}
        if self.played is not None:
            facts["played"] = self.played
        return facts

    def __str__(self) -> str:
        return f"{self.names[0]} against {self.names[1]}: {super().__str__()}"


def play_match(
    first: Agent,
    second: Agent,
    rules: Rules,
    hands: int = 20_000,
    seed: int = 0,
    *,
    aivat: Aivat | None = None,
    until: tuple[float, float] | None = None,
    thin: Thinning | None = None,
    observe: Callable[[Hands], None] | None = None,
    estimated: Callable[[Estimates], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    pairs_at_once: int | None = None,
    workers: Workers | None = None,
) -> Match:
    """Play `hands` hands in hands / 2 duplicate pairs. An all-in is paid by the board that was dealt.

    `aivat` takes most of the luck out of the result. `until` are two bounds in mbb/g: the match ends as soon as it is settled
    whether the first agent wins more than the upper one, less than the lower one or something between, after `hands` hands
    at the latest. With `thin` only some pairs are played, and stand for all. `observe` is given the hands in their order,
    batch by batch: hands 2 k and 2 k + 1 are those of a pair, the second with exchanged seats; `estimated` what AIVAT says
    of them. `progress` is given the hands that are done, and all. `workers` are processes that play in place of this one.
    """
    if hands < 4 or hands % 2:
        raise InputError(f"hands={hands}: a duplicate match has an even number of hands, four or more")
    usual = PAIRS_OF_A_LOOK if until is not None else PAIRS_OF_AIVAT if aivat is not None else PAIRS
    liked = [2 * usual, *(agent.tables_at_once for agent in (first, second) if hasattr(agent, "tables_at_once"))]
    usual = max(1, min(liked) // 2)
    at_once = usual if pairs_at_once is None else pairs_at_once
    if at_once < 1:
        raise InputError(f"pairs_at_once={pairs_at_once}: must be at least 1")
    agents = (first, second)
    for agent in agents:
        agent.check_rules(rules)
    rules.need_zero_sum("matches are played")  # a solved spot is not: `riverboat play` sits down with it
    names = (first.name, second.name)
    table = Pairs(agents, names, rules, seed)
    pairs, raw, better = hands // 2, Tally(), Tally()
    test = None if until is None else Settling(*until, most=pairs)
    verdict, per_game = None if test is None else OPEN, 500 / rules.big_blind  # mbb/g of the chips of a pair
    start, chosen_by, dealt = time.perf_counter(), draws(seed), 0
    if thin is not None:
        thin.check(rules)
    elsewhere = None
    if workers is not None:
        _check_apart(agents, thin)
        at_once = _even(pairs, at_once, workers.count)
        elsewhere = workers.play(names, rules, seed, _numbers(pairs, at_once))
    for numbers in _numbers(pairs, at_once):
        weights: Array = np.ones(len(numbers), np.int64)
        if thin is not None:
            chances = thin.chances(Pairs((second, second), names, rules, seed).play(numbers))
            weights = (chosen_by.random(len(numbers)) < chances) / chances
        played = table.play(numbers[weights > 0]) if elsewhere is None else next(elsewhere)
        dealt += len(played)
        first_won = played.won[0::2, 0] + played.won[1::2, 1]  # in both hands of a pair
        raw = raw.plus(_weighed(weights, first_won))
        if aivat is not None:  # before anybody learns
            told = aivat.estimate(played)
            better = better.plus(_weighed(weights, told.total[0::2] + told.total[1::2]))
            if estimated is not None:
                estimated(told)
        for agent, name in zip(agents, played.names, strict=True):
            if isinstance(agent, Learner):
                agent.observe(played.seen_by(name))
        if observe is not None:
            observe(played)
        if progress is not None:
            progress(2 * raw.count, hands)
        if test is not None:
            verdict = test.told((raw if aivat is None else better).times(per_game))
            if verdict != OPEN:
                break
    seconds = time.perf_counter() - start
    tally = (raw if aivat is None else better).times(0.5)  # chips a hand
    won = tally.interval() if test is None else test.interval(tally)
    without = None if aivat is None else raw.times(0.5).interval()
    factor = None if without is None else _ratio(without.half_width, tally.interval().half_width)
    hands_played = None if thin is None else dealt
    return Match(raw.count, seed, rules.big_blind, won, seconds, names, without, factor, verdict, until, hands_played)


def _numbers(pairs: int, at_once: int) -> Iterator[Array]:
    """Of the pairs of each batch."""
    return (np.arange(begin, min(begin + at_once, pairs)) for begin in range(0, pairs, at_once))


def _even(pairs: int, at_once: int, workers: int) -> int:
    """Pairs of a batch, no more than that, such that all workers get as many batches."""
    rounds = -(-pairs // (at_once * workers))
    return -(-pairs // (rounds * workers))


def _check_apart(agents: Sequence[Agent], thin: Thinning | None) -> None:
    """Workers play parts of a match that know nothing of each other."""
    for agent in agents:
        if isinstance(agent, Learner | Accounting):
            raise InputError(
                f"workers: {agent.name!r} remembers the hands of a match, so one process plays them all; take one worker"
            )
    if thin is not None:
        raise InputError("workers: a match that is thinned is played by one process; take one worker, or do not thin")


def _weighed(weights: Array, won: Array) -> Array:
    """What all pairs count, from what those won that were played. [pairs]"""
    out = np.zeros(len(weights), np.result_type(weights, won))
    out[weights > 0] = won
    return out * weights


def _ratio(one: float, other: float) -> float | None:
    """Of variances, from widths; none where nothing is left of either."""
    return (one / other) ** 2 if other > 0 else None


# --- round robins -----------------------------------------------------------------------------


@dataclass(frozen=True)
class RoundRobin:
    """Everybody against everybody else."""

    names: tuple[str, ...]
    matches: Mapping[tuple[int, int], Match]  # i < j: agent i against agent j

    def mbb(self, i: int, j: int) -> tuple[float, float]:
        """What agent i won of agent j, in mbb/g, and half the width of its 95 % interval."""
        match = self.matches[min(i, j), max(i, j)]
        return (match.mbb_per_game if i < j else 0.0 - match.mbb_per_game), match.ci95

    def mean(self, i: int) -> float:
        """What agent i won on average over its opponents, in mbb/g."""
        return fmean(self.mbb(i, j)[0] for j in range(len(self.names)) if j != i)

    @property
    def ranking(self) -> tuple[int, ...]:
        """Agents by what they won on average, the best first: total bankroll."""
        return tuple(sorted(range(len(self.names)), key=lambda i: -self.mean(i)))

    def record(self) -> dict[str, Any]:
        """For files, without what depends on the machine."""
        pairs = sorted(self.matches.items())
        return {
            "agents": list(self.names),
            "mean_mbb_per_game": {name: self.mean(i) for i, name in enumerate(self.names)},
            "matches": [{"agents": list(match.names), **match.record()} for _, match in pairs],
        }

    def rows(self) -> list[list[str]]:
        """The table as text, a row for each agent, the best first: its name, what it won of each, the mean."""
        order = self.ranking
        lines = [["mbb/g", *(self.names[j] for j in order), "mean"]]
        for i in order:
            cells = ["" if i == j else "{:+.0f} ± {:.0f}".format(*self.mbb(i, j)) for j in order]
            lines.append([self.names[i], *cells, f"{self.mean(i):+.0f}"])
        return lines

    def __str__(self) -> str:
        rows = self.rows()
        width = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(width[0]), *(cell.rjust(w) for cell, w in zip(row[1:], width[1:], strict=True))])
            for row in rows
        )


def round_robin(
    agents: Mapping[str, Agent],
    rules: Rules,
    hands: int = 20_000,
    seed: int = 0,
    *,
    estimator: Callable[[Agent, Agent], Aivat] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RoundRobin:
    """A duplicate match of `hands` hands for every two agents, all with the same cards; `estimator` makes AIVAT for two."""
    if len(agents) < 2:
        raise InputError(f"{len(agents)} agents: a round robin needs two or more")
    names, games = tuple(agents), list(combinations(range(len(agents)), 2))
    matches = {}
    for done, (i, j) in enumerate(games):

        def report(played: int, _: int, before: int = done * hands) -> None:
            if progress is not None:
                progress(before + played, len(games) * hands)

        pair = agents[names[i]], agents[names[j]]
        aivat = None if estimator is None else estimator(*pair)
        match = play_match(*pair, rules, hands, seed, aivat=aivat, progress=report)
        matches[i, j] = replace(match, names=(names[i], names[j]))
    return RoundRobin(names, matches)
