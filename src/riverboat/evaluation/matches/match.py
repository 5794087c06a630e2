"""Duplicate matches and round robins between any two agents: every deal is played twice, with the seats exchanged.

    agent = make_agent("runs/mine?purify")
    match = play_match(agent, make_agent("always-call"), rules_of(agent), hands=20_000)
    match.mbb_per_game, match.ci95

Tables advance together, one action each in turn, so that agents decide in batches. All randomness is keyed: the cards
by the seed and the number of the pair, an agent's draws by its own seed, that number and the position in the line. So
equal seeds give equal results for every batch size, and an agent that plays itself wins nothing.

Agents that learn observe their hands after every batch (`agents.base.ObservingAgent`). Their observations depend on
the batch size, and so may the result.

`PairSampling` plays only some of the pairs, with importance weights: pairs with small pots have little influence on
the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np

from riverboat.agents.base import Agent, ObservingAgent, ReportingAgent
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.evaluation.confidence_intervals import OPEN, ConfidenceInterval, SampleSums, SequentialTest
from riverboat.evaluation.matches.aivat import Aivat, AivatEstimates, pots_by_street
from riverboat.evaluation.matches.duel import DuelResult
from riverboat.evaluation.matches.pairs import DuplicatePairs, MatchWorkers
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.rules import PokerRules

# --- Importance sampling of pairs ---

FULL_POT = 30.0  # big blinds
MIN_PROBABILITY = 0.2  # no pair has a weight above five: small pots may grow to whole stacks
_RNG_STREAM = 7  # independent of the stream of the cards


@dataclass(frozen=True)
class PairSampling:
    """Sampling probabilities of pairs by the size of their pots in a trial match.

    Parameters
    ----------
    street
        Street whose initial pot decides.
    full_pot
        Pairs with this pot or a larger one are always played, in big blinds.
    min_probability
        Probability of pairs with the smallest pots, and of those that do not reach the street.

    Raises
    ------
    InputError
        If `full_pot` is not above zero, or `min_probability` is not above 0 and at most 1.

    Examples
    --------
    >>> from riverboat.evaluation.matches.match import PairSampling
    >>> PairSampling("turn").min_probability
    0.2
    """

    street: str  # street whose initial pot decides
    full_pot: float = FULL_POT  # big blinds: pairs with this pot or a larger one are always played
    min_probability: float = MIN_PROBABILITY  # for pairs with the smallest pots, or that do not reach the street

    def __post_init__(self) -> None:
        if not self.full_pot > 0:
            raise InputError(f"full_pot={self.full_pot:g}: must be above zero, in big blinds")
        if not 0 < self.min_probability <= 1:
            raise InputError(f"min_probability={self.min_probability:g}: must be above 0 and at most 1")

    def check_rules(self, rules: PokerRules) -> None:
        """Raise InputError if the game does not have the street.

        Parameters
        ----------
        rules
            The game.
        """
        if self.street not in rules.streets:
            raise unknown_name_error("street", self.street, rules.streets)

    def probabilities(self, trial: HandRecords) -> Array:
        """Return the sampling probability of each pair, from both hands of its trial. float64 [pairs]

        Parameters
        ----------
        trial
            Hands of the trial match, both hands of every pair.
        """
        rules = trial.rules
        pots = pots_by_street(trial)[0::2, rules.streets.index(self.street)]
        return np.clip(pots / (self.full_pot * rules.big_blind), self.min_probability, 1.0)


BATCH_PAIRS = 4096  # pairs that are played in one batch
SEQUENTIAL_BATCH_PAIRS = 500  # pairs between two looks of a sequential test
AIVAT_BATCH_PAIRS = 2048  # pairs per batch with AIVAT, which is slow: smaller batches show progress


@dataclass(frozen=True)
class DuplicateMatchResult(DuelResult):
    """Winnings of the first of two agents. With AIVAT, `chips` is the AIVAT estimate and `raw` the actual winnings.

    Attributes
    ----------
    pairs
        Number of pairs.
    seed
        Seed of the cards.
    big_blind
        Chips of a big blind.
    chips
        Winnings of the first agent per hand; samples are pairs.
    seconds
        Time of the match.
    names
        Names of the agents.
    raw
        Actual winnings, with AIVAT.
    factor
        Variance of pairs without AIVAT over the variance with it.
    verdict
        Verdict of a sequential test.
    bounds
        Bounds of the sequential test, in mbb/g; the interval is then a confidence sequence.
    played
        Hands actually played, if pairs were sampled.

    Examples
    --------
    >>> from riverboat.evaluation.confidence_intervals import ConfidenceInterval
    >>> from riverboat.evaluation.matches.match import DuplicateMatchResult
    >>> DuplicateMatchResult(50, 0, 100, ConfidenceInterval(1.0, 2.0, 50), 0.1, ("a", "b")).bb_per_100
    1.0
    """

    names: tuple[str, str]
    raw: ConfidenceInterval | None = None
    factor: float | None = None  # variance of pairs without AIVAT over the variance with it
    verdict: str | None = None  # verdict of a sequential test
    bounds: tuple[float, float] | None = None  # bounds of the test in mbb/g; the interval is then a confidence sequence
    played: int | None = None  # hands actually played, if pairs were sampled

    def record(self) -> dict[str, Any]:
        """Return the result as a JSON object, without timings."""
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
    rules: PokerRules,
    hands: int = 20_000,
    seed: int = 0,
    *,
    aivat: Aivat | None = None,
    bounds: tuple[float, float] | None = None,
    seconds: float | None = None,
    pair_sampling: PairSampling | None = None,
    observe: Callable[[HandRecords], None] | None = None,
    on_estimates: Callable[[AivatEstimates], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    batch_pairs: int | None = None,
    workers: MatchWorkers | None = None,
) -> DuplicateMatchResult:
    """Play a duplicate match of `hands` hands, in hands / 2 pairs.

    An all-in is decided by the board that was dealt.

    Parameters
    ----------
    first, second
        Agents; the first has seat 0 in even hands.
    rules
        Zero-sum two-player game.
    hands
        Number of hands, even; the largest number if `bounds` are given.
    seed
        Seed of the cards.
    aivat
        Estimator that reduces the variance of the result.
    bounds
        Two bounds in mbb/g for a sequential test. The match stops as soon as the first agent's winnings are known to
        be above the upper bound, below the lower one or between them.
    seconds
        Time after which no batch begins; the number of hands then depends on the machine.
    pair_sampling
        Importance sampling of pairs: only some are played, with weights.
    observe
        Callback with the hands in order, batch by batch. Hands 2 k and 2 k + 1 are a pair, the second with exchanged
        seats.
    on_estimates
        Callback with the AIVAT estimates of each batch.
    progress
        Callback with the number of completed hands and the total.
    batch_pairs
        Pairs per batch.
    workers
        Processes that play the batches in place of this one.

    Returns
    -------
    DuplicateMatchResult
        Winnings of the first agent with their confidence interval.

    Raises
    ------
    InputError
        If `hands` is odd or below four, an agent does not play the game, or the match cannot be split among workers.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.matches.match import play_match
    >>> from riverboat.games.holdem.rules import read_game
    >>> agents = make_agent("always-raise"), make_agent("always-fold")
    >>> play_match(*agents, read_game("leduc"), hands=100).mbb_per_game > 0
    True
    """
    if hands < 4 or hands % 2:
        raise InputError(f"hands={hands}: must be an even number, four or more: hands are played in duplicate pairs")
    agents = (first, second)
    pairs_per_batch = batch_pairs
    if pairs_per_batch is None:
        most = (
            SEQUENTIAL_BATCH_PAIRS
            if bounds or seconds is not None
            else AIVAT_BATCH_PAIRS
            if aivat is not None
            else BATCH_PAIRS
        )
        pairs_per_batch = max(1, min(most, *(getattr(agent, "tables_at_once", 2 * most) // 2 for agent in agents)))
    if pairs_per_batch < 1:
        raise InputError(f"batch_pairs={batch_pairs}: must be at least 1")
    for agent in agents:
        agent.check_rules(rules)
    rules.require_zero_sum("matches are played")  # a solved spot may not be: `riverboat play` supports it
    names = (first.name, second.name)
    table = DuplicatePairs(agents, names, rules, seed)
    pairs, raw, corrected = hands // 2, SampleSums(), SampleSums()
    test = None if bounds is None else SequentialTest(*bounds, max_pairs=pairs)
    verdict, per_game = None if test is None else OPEN, 500 / rules.big_blind  # from chips per pair to mbb/g
    start, hands_dealt = time.perf_counter(), 0
    selection = np.random.default_rng((seed, _RNG_STREAM))  # draws one number for each pair, whatever the batches
    if pair_sampling is not None:
        pair_sampling.check_rules(rules)
    worker_results = None
    if workers is not None:
        _check_parallelizable(agents, pair_sampling)
        pairs_per_batch = _balanced_batch_size(pairs, pairs_per_batch, workers.count)
        worker_results = workers.play(names, rules, seed, _batches(pairs, pairs_per_batch))
    for numbers in _batches(pairs, pairs_per_batch):
        weights: Array = np.ones(len(numbers), np.int64)
        if pair_sampling is not None:
            trial = DuplicatePairs((second, second), names, rules, seed).play(numbers)
            probabilities = pair_sampling.probabilities(trial)
            weights = (selection.random(len(numbers)) < probabilities) / probabilities
        played = table.play(numbers[weights > 0]) if worker_results is None else next(worker_results)
        hands_dealt += len(played)
        first_won = played.won[0::2, 0] + played.won[1::2, 1]  # over both hands of a pair
        raw = raw.add_samples(_importance_weighted(weights, first_won))
        if aivat is not None:  # before agents observe the hands and change
            estimates = aivat.estimate(played)
            first_estimate = estimates.total[0::2] + estimates.total[1::2]
            corrected = corrected.add_samples(_importance_weighted(weights, first_estimate))
            if on_estimates is not None:
                on_estimates(estimates)
        for agent, name in zip(agents, played.names, strict=True):
            if isinstance(agent, ObservingAgent):
                agent.observe(played.seen_by(name))
        if observe is not None:
            observe(played)
        if progress is not None:
            progress(2 * raw.count, hands)
        if test is not None:
            verdict = test.verdict((raw if aivat is None else corrected).scale(per_game))
            if verdict != OPEN:
                break
        if seconds is not None and time.perf_counter() - start >= seconds and raw.count > 1:
            break
    elapsed = time.perf_counter() - start
    tally = (raw if aivat is None else corrected).scale(0.5)  # chips per hand
    won = tally.confidence_interval() if test is None else test.interval(tally)
    raw_interval = factor = None
    if aivat is not None:
        raw_interval, width = raw.scale(0.5).confidence_interval(), tally.confidence_interval().half_width
        factor = (raw_interval.half_width / width) ** 2 if width > 0 else None
    details = raw_interval, factor, verdict, bounds, None if pair_sampling is None else hands_dealt
    return DuplicateMatchResult(raw.count, seed, rules.big_blind, won, elapsed, names, *details)


def _batches(pairs: int, batch_pairs: int) -> Iterator[Array]:
    """Yield the numbers of the pairs of each batch."""
    return (np.arange(begin, min(begin + batch_pairs, pairs)) for begin in range(0, pairs, batch_pairs))


def _balanced_batch_size(pairs: int, batch_pairs: int, workers: int) -> int:
    """Return a batch size of at most `batch_pairs` that gives every worker the same number of batches."""
    rounds = -(-pairs // (batch_pairs * workers))
    return -(-pairs // (rounds * workers))


def _check_parallelizable(agents: Sequence[Agent], pair_sampling: PairSampling | None) -> None:
    """Raise InputError if a match cannot be split among workers, which do not share what they observe."""
    for agent in agents:
        if isinstance(agent, ObservingAgent | ReportingAgent):
            raise InputError(
                f"workers: {agent.name!r} learns from the hands of a match, so one process must play them all; use one worker"
            )
    if pair_sampling is not None:
        raise InputError(
            "workers: a match with sampled pairs (thinned) runs in one process; use one worker, or do not thin"
        )


def _importance_weighted(weights: Array, won: Array) -> Array:
    """Return the importance-weighted winnings of all pairs, 0 for pairs that were not played. [pairs]"""
    out = np.zeros(len(weights), np.result_type(weights, won))
    out[weights > 0] = won
    return out * weights


# --- Round robins ---


@dataclass(frozen=True)
class RoundRobinTable:
    """Results of a round robin: every agent against every other.

    Attributes
    ----------
    names
        Names of the agents.
    matches
        Results by pair of indices i < j: agent i against agent j.

    Examples
    --------
    >>> from riverboat.evaluation.confidence_intervals import ConfidenceInterval
    >>> from riverboat.evaluation.matches.match import DuplicateMatchResult, RoundRobinTable
    >>> match = DuplicateMatchResult(50, 0, 100, ConfidenceInterval(1.0, 2.0, 50), 0.1, ("a", "b"))
    >>> RoundRobinTable(("a", "b"), {(0, 1): match}).ranking
    (0, 1)
    """

    names: tuple[str, ...]
    matches: Mapping[tuple[int, int], DuplicateMatchResult]  # i < j: agent i against agent j

    def mbb_between(self, i: int, j: int) -> tuple[float, float]:
        """Return the winnings of one agent against another in mbb/g, and the half-width of the 95 % interval.

        Parameters
        ----------
        i
            Index of the agent.
        j
            Index of its opponent.
        """
        match = self.matches[min(i, j), max(i, j)]
        return (match.mbb_per_game if i < j else 0.0 - match.mbb_per_game), match.ci95

    def mean_mbb(self, i: int) -> float:
        """Return the mean winnings of an agent over its opponents, in mbb/g.

        Parameters
        ----------
        i
            Index of the agent.
        """
        return fmean(self.mbb_between(i, j)[0] for j in range(len(self.names)) if j != i)

    @property
    def ranking(self) -> tuple[int, ...]:
        """Agents by mean winnings (total bankroll), the best first."""
        return tuple(sorted(range(len(self.names)), key=lambda i: -self.mean_mbb(i)))

    def record(self) -> dict[str, Any]:
        """Return the table as a JSON object, without timings."""
        pairs = sorted(self.matches.items())
        return {
            "agents": list(self.names),
            "mean_mbb_per_game": {name: self.mean_mbb(i) for i, name in enumerate(self.names)},
            "matches": [{"agents": list(match.names), **match.record()} for _, match in pairs],
        }

    def rows(self) -> list[list[str]]:
        """Return the table as text: a header, then a row for each agent, the best first.

        A row has the agent's name, its winnings against each opponent with their intervals, and its mean winnings.
        """
        order = self.ranking
        lines = [["mbb/g", *(self.names[j] for j in order), "mean"]]
        for i in order:
            cells = ["" if i == j else "{:+.0f} ± {:.0f}".format(*self.mbb_between(i, j)) for j in order]
            lines.append([self.names[i], *cells, f"{self.mean_mbb(i):+.0f}"])
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
    rules: PokerRules,
    hands: int = 20_000,
    seed: int = 0,
    *,
    estimator: Callable[[Agent, Agent], Aivat] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RoundRobinTable:
    """Play a duplicate match between every two agents, all with the same cards.

    Parameters
    ----------
    agents
        Two or more agents by name.
    rules
        Zero-sum two-player game.
    hands
        Hands of each match, even.
    seed
        Seed of the cards.
    estimator
        Function that creates the AIVAT estimator of a pair of agents.
    progress
        Callback with the completed hands and the total.

    Returns
    -------
    RoundRobinTable
        Results of all matches.

    Raises
    ------
    InputError
        If there are fewer than two agents, or `hands` is invalid.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.matches.match import round_robin
    >>> from riverboat.games.holdem.rules import read_game
    >>> agents = {"raiser": make_agent("always-raise"), "folder": make_agent("always-fold")}
    >>> round_robin(agents, read_game("leduc"), hands=100).ranking
    (0, 1)
    """
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
    return RoundRobinTable(names, matches)
