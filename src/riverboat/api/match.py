"""`rb.match`: duplicate matches of two agents, and round robins of several.

result = match("demo", "rule-based", hands=20_000, aivat=True)
result.claim                  # won 512.3 ± 20.1 mbb/g (estimate, 20,000 hands, seed 0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, TypedDict, Unpack, overload

from riverboat.agents.base import Agent, ReportingAgent
from riverboat.api import agent as agent_api
from riverboat.api.options import Duration, Limits, PositiveCount, Seed, Threads, checked, parse_seconds
from riverboat.core import validation
from riverboat.core.errors import InputError, short_repr
from riverboat.evaluation.confidence_intervals import MIN_PAIRS
from riverboat.evaluation.identity import describe_result
from riverboat.evaluation.matches import match as matches
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.hand_review import MatchHandReview, WorstHands
from riverboat.evaluation.matches.pairs import MatchWorkers
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.rules import PokerRules

UNITS = {
    "mbb_per_game": "mbb/g",
    "bb_per_100": "bb/100",
    "ci95": "mbb/g, half the width of the 95 % interval over pairs",
}
ANYTIME_UNIT = "mbb/g, half the width over pairs of a 95 % interval that holds whenever the match stops"


@dataclass(frozen=True)
class MatchResult(matches.DuplicateMatchResult):
    """Winnings of the first of two agents, with the identity of the match.

    Attributes
    ----------
    pairs
        Number of duplicate pairs.
    seed
        Seed of the cards.
    big_blind
        Chips of the big blind.
    chips
        Chips won per hand, with their confidence interval.
    seconds
        Seconds of play.
    names
        Names of both agents.
    raw
        The same without AIVAT; None if it was not used.
    factor
        How many times the hands would be needed without AIVAT.
    bounds
        Bounds of a sequential test, in mbb/g.
    verdict
        Result of the sequential test: better, worse, between or open.
    played
        Hands that were played, if small pots were thinned out.
    rules
        The game.
    identity
        Fingerprints of rules and agents, and the release.
    known
        Agents whose strategies AIVAT used.
    reviews
        Hands in which the first agent lost most.
    accounts
        Summaries of agents that report on a match, by name.

    Examples
    --------
    >>> result = match("always-fold", "always-raise", hands=40)
    >>> result.mbb_per_game, result.game
    (-750.0, 'nolimit-200bb')
    """

    rules: PokerRules = field(kw_only=True, repr=False)
    identity: Mapping[str, Any] = field(kw_only=True, repr=False)  # fingerprints of rules and agents, the release
    known: tuple[str, ...] | None = field(default=None, kw_only=True)  # agents whose strategies AIVAT used
    # reviews of the hands in which the first agent lost most
    reviews: tuple[MatchHandReview, ...] = field(default=(), kw_only=True, repr=False)
    accounts: Mapping[str, str] = field(default_factory=dict, kw_only=True, repr=False)  # by name of the agent

    @property
    def game(self) -> str:
        """Name of the game."""
        return self.rules.name

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, as ledgers read it."""
        facts = match_to_dict(self, self.rules)
        if self.known is not None:
            facts["aivat"] = {"known": list(self.known)}
        facts |= self.identity
        if self.reviews:
            facts["worst"] = [hand.record(self.big_blind) for hand in self.reviews]
        if self.accounts:
            facts["accounts"] = dict(self.accounts)
        return facts


@dataclass(frozen=True)
class RoundRobinResult(matches.RoundRobinTable):
    """Results of a round robin, with the identities of the matches.

    Attributes
    ----------
    names
        Names of the agents.
    matches
        Matches by pairs of agents.
    rules
        The game.
    identities
        Fingerprints of rules and agents of each match.
    hands
        Hands of each match.
    seed
        Seed of the cards.
    aivat
        Whether AIVAT reduced the variance.

    Examples
    --------
    >>> table = match("always-fold", "always-call", "always-raise", hands=40)
    >>> len(table.matches)
    3
    """

    rules: PokerRules = field(kw_only=True, repr=False)
    identities: tuple[Mapping[str, Any], ...] = field(kw_only=True, repr=False)  # one for each match
    hands: int = field(kw_only=True)
    seed: int = field(kw_only=True)
    aivat: bool = field(kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a JSON object; ledgers read all of its matches."""
        record = self.record()
        pairs = [self.matches[key] for key in sorted(self.matches)]
        for entry, match, identity in zip(record["matches"], pairs, self.identities, strict=True):
            entry |= {"aivat": True} if self.aivat else {}
            entry |= {**identity, "claims": [match.claim.to_dict()]}
        settings = {"hands": self.hands, "pairs": self.hands // 2, "seed": self.seed}
        return record | settings | {"game": self.rules.name, "unit": "mbb/g", "units": UNITS}


def match_to_dict(result: matches.DuplicateMatchResult, rules: PokerRules) -> dict[str, Any]:
    """Return a match as a JSON object.

    Parameters
    ----------
    result
        The match.
    rules
        The game.

    Returns
    -------
    dict
        Winnings in mbb/g and bb/100 with units and claims.

    Examples
    --------
    >>> result = match("always-fold", "always-raise", hands=40)
    >>> match_to_dict(result, result.rules)["unit"]
    'mbb/g'
    """
    units = UNITS if result.verdict is None else UNITS | {"ci95": ANYTIME_UNIT, "bounds": "mbb/g"}
    return {
        **result.record(),
        "names": list(result.names),
        "game": rules.name,
        "unit": "mbb/g",
        "units": units,
        "claims": [result.claim.to_dict()],
        "seconds": round(result.seconds, 3),
        "hands_per_second": round(result.hands_per_second),
    }


class _MatchOptions(TypedDict, total=False):
    """Options of `match`."""

    hands: int
    time: float | str | None
    seed: int
    game: str | PokerRules | None
    aivat: bool
    until_settled: tuple[float, float] | None
    thin: str | None
    threads: int
    workers: int
    worst: int
    observe: Callable[[HandRecords], None] | None
    progress: Callable[[int, int], None] | None
    preparing: Callable[[float], None] | None


@overload
def match(first: str | Agent, second: str | Agent, /, **options: Unpack[_MatchOptions]) -> MatchResult: ...
@overload
def match(
    first: str | Agent, second: str | Agent, third: str | Agent, /, *others: str | Agent,
    **options: Unpack[_MatchOptions],
) -> RoundRobinResult: ...  # fmt: skip
@checked
def match(
    *agents: str | Agent,
    hands: PositiveCount = 20_000,
    time: Duration | None = None,
    seed: Seed = 0,
    game: str | PokerRules | None = None,
    aivat: bool = False,
    until_settled: tuple[float, float] | None = None,
    thin: str | None = None,
    threads: Threads = 2,
    workers: Threads = 1,
    worst: Annotated[int, Limits(0, 1000)] = 0,
    observe: Callable[[HandRecords], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    preparing: Callable[[float], None] | None = None,
) -> MatchResult | RoundRobinResult:
    """Play two agents against each other, or several in a round robin.

    Every deal is played twice, with the seats exchanged.

    Parameters
    ----------
    *agents
        Names of agents, or agents. Two give a match, more a round robin.
    hands
        Hands per match; every deal is played twice with exchanged seats. The largest number with `until_settled`.
    time
        Stop a match of two after 90s, 5m, 8h, between two batches of hands.
    seed
        Seed of the cards and of the agents' random choices.
    game
        A game or .game file; by default the agents' game. Or rules.
    aivat
        Reduce variance with AIVAT. Its value tables may have to be computed first.
    until_settled
        Two bounds in mbb/g: a match of two stops as soon as a sequential test decides on which side of them the first
        agent is.
    thin
        Play pairs with small pots on that street less often, with higher weight. See `PairSampling`.
    threads
        Threads of AIVAT.
    workers
        Processes for a match of two; the result does not depend on them. Agents must be given by name.
    worst
        With `aivat`: report this many hands that cost the first agent most.
    observe
        Callback with the hands of each batch.
    progress
        Callback with the number of completed hands and the total.
    preparing
        Callback with the completed fraction of the value tables.

    Returns
    -------
    MatchResult or RoundRobinResult
        Winnings with confidence intervals.

    Raises
    ------
    InputError
        If there are fewer than two agents, one cannot play the game, or an option needs a match of two.

    Examples
    --------
    >>> match("always-fold", "always-raise", hands=40).claim.unit
    'mbb/g'
    """
    if len(agents) < 2:
        raise InputError(f"match: {len(agents)} agents: must be two, or more for a round robin")
    validation.check_thread_count(threads)
    validation.check_thread_count(workers, "workers")
    validation.check_integer("hands", hands, 1)
    validation.check_integer("worst", worst)
    if until_settled is not None:
        if not isinstance(until_settled, tuple | list) or len(until_settled) != 2:
            raise InputError(
                f"until_settled={short_repr(until_settled)}: must be two numbers in mbb/g, the lower first"
            )
        for bound in until_settled:
            validation.check_number("until_settled", bound, -math.inf)
    validation.optional(validation.check_text, "thin", thin)
    seconds = None if time is None else parse_seconds(time)
    players = [agent_api.agent(spec, seed) for spec in agents]
    rules = agent_api.rules_for(players, game)
    estimator = partial(Aivat, rules=rules, threads=threads, progress=preparing) if aivat else None
    if len(players) > 2:
        two_only = {"time": time, "observe": observe, "until_settled": until_settled, "thin": thin, "worst": worst}
        for option, value in (two_only | {"workers": workers > 1}).items():
            if value:
                raise InputError(f"{option}: needs a match of two agents, not {len(players)}")
        names = [agent if isinstance(agent, str) else agent.name for agent in agents]
        table = dict(zip(names, players, strict=True))
        if len(table) < len(players):
            raise InputError(
                f"match: {len(players)} agents, {len(table)} of them different: each must occur once in a round robin"
            )
        results = matches.round_robin(table, rules, hands, seed, estimator=estimator, progress=progress)
        pairs = [results.matches[key].names for key in sorted(results.matches)]
        identities = tuple(describe_result("match", rules, *(table[name] for name in pair)) for pair in pairs)
        return RoundRobinResult(
            **vars(results), rules=rules, identities=identities, hands=hands, seed=seed, aivat=aivat
        )
    if until_settled is not None and hands < 2 * MIN_PAIRS:
        raise InputError(f"hands={hands}: must be at least {2 * MIN_PAIRS:,} with until_settled")
    if worst and estimator is None:
        raise InputError(f"worst={worst}: needs aivat, which has the values of actions")
    first, second = players
    estimator_of_two = None if estimator is None else estimator(first, second)
    worst_hands = WorstHands(worst) if worst else None
    with _make_workers(agents, seed, workers) as pool:
        result = matches.play_match(
            first,
            second,
            rules,
            hands,
            seed,
            aivat=estimator_of_two,
            bounds=until_settled,
            seconds=seconds,
            pair_sampling=None if thin is None else matches.PairSampling(thin),
            observe=observe,
            on_estimates=worst_hands,
            progress=progress,
            workers=pool,
        )
    known = None if estimator_of_two is None else known_agents(estimator_of_two)
    reviews = () if worst_hands is None or estimator_of_two is None else tuple(worst_hands.reviews(estimator_of_two))
    identity = describe_result("match", rules, first, second)
    accounts = {player.name: player.account() for player in players if isinstance(player, ReportingAgent)}
    return MatchResult(**vars(result), rules=rules, identity=identity, known=known, reviews=reviews, accounts=accounts)


def known_agents(aivat: Aivat) -> tuple[str, ...]:
    """Return the names of the agents whose strategies AIVAT uses.

    Parameters
    ----------
    aivat
        The estimator of a match.

    Returns
    -------
    tuple of str
        Names of agents that give their strategies for all hands.

    Examples
    --------
    >>> match("always-fold", "always-raise", hands=40, aivat=True).known
    ('always-fold', 'always-raise')
    """
    return tuple(agent.name for agent, is_known in zip(aivat.agents, aivat.known, strict=True) if is_known)


def _make_workers(agents: Sequence[str | Agent], seed: int, count: int) -> AbstractContextManager[MatchWorkers | None]:
    """Create the worker processes of a match; a null context with one worker."""
    if count == 1:
        return nullcontext()
    names = [agent for agent in agents if isinstance(agent, str)]
    if len(names) < len(agents):
        raise InputError(f"workers={count}: each process creates its own agents, so agents must be given by name")
    return MatchWorkers(partial(_make_agents, names[0], names[1], seed), count)


def _make_agents(first: str, second: str, seed: int) -> tuple[Agent, Agent]:
    return agent_api.agent(first, seed), agent_api.agent(second, seed)
