"""`rb.match`: agents against each other in duplicate hands, two of them or everybody against everybody else.

won = match("demo", "rule-based", hands=20_000, aivat=True)
won.claim                     # won 512.3 ± 20.1 mbb/g (estimate, 20,000 hands, seed 0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, overload

from riverboat.agents.base import Agent
from riverboat.api import seating
from riverboat.core import validation
from riverboat.core.errors import InputError, shown
from riverboat.evaluation.identity import about
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.match import Match, RoundRobin, play_match, round_robin
from riverboat.evaluation.matches.sequential_test import LEAST
from riverboat.evaluation.matches.thinning import Thinning
from riverboat.evaluation.matches.workers import Workers
from riverboat.evaluation.review import Review, Worst
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands

UNITS = {
    "mbb_per_game": "mbb/g",
    "bb_per_100": "bb/100",
    "ci95": "mbb/g, half the width of the 95 % interval over pairs",
}
ANY_TIME = "mbb/g, half the width over pairs of a 95 % interval that holds whenever the match stops"


@dataclass(frozen=True)
class MatchResult(Match):
    """What the first of two agents won, and what the result is of."""

    rules: Rules = field(kw_only=True, repr=False)
    of: Mapping[str, Any] = field(kw_only=True, repr=False)  # fingerprints of rules and agents, the release
    known: tuple[str, ...] | None = field(default=None, kw_only=True)  # agents whose strategies AIVAT used
    reviews: tuple[Review, ...] = field(default=(), kw_only=True, repr=False)  # of the hands that cost the first most

    @property
    def game(self) -> str:
        """What was played."""
        return self.rules.name

    def to_dict(self) -> dict[str, Any]:
        """For JSON; a ledger takes it."""
        facts = match_facts(self, self.rules)
        if self.known is not None:
            facts["aivat"] = {"known": list(self.known)}
        facts |= self.of
        if self.reviews:
            facts["worst"] = [hand.record(self.big_blind) for hand in self.reviews]
        return facts


@dataclass(frozen=True)
class RoundRobinResult(RoundRobin):
    """Everybody against everybody else, and what the results are of."""

    rules: Rules = field(kw_only=True, repr=False)
    of: tuple[Mapping[str, Any], ...] = field(kw_only=True, repr=False)  # of the matches, in their order
    hands: int = field(kw_only=True)
    seed: int = field(kw_only=True)
    aivat: bool = field(kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; a ledger takes all of its matches."""
        told = self.record()
        pairs = [self.matches[key] for key in sorted(self.matches)]
        for each, match, of in zip(told["matches"], pairs, self.of, strict=True):
            each |= {"aivat": True} if self.aivat else {}
            each |= {**of, "claims": [match.claim.to_dict()]}
        how = {"hands": self.hands, "pairs": self.hands // 2, "seed": self.seed}
        return told | how | {"game": self.rules.name, "unit": "mbb/g", "units": UNITS}


def match_facts(played: Match, rules: Rules) -> dict[str, Any]:
    """A match as one object."""
    units = UNITS if played.verdict is None else UNITS | {"ci95": ANY_TIME, "bounds": "mbb/g"}
    return {
        **played.record(),
        "names": list(played.names),
        "game": rules.name,
        "unit": "mbb/g",
        "units": units,
        "claims": [played.claim.to_dict()],
        "seconds": round(played.seconds, 3),
        "hands_per_second": round(played.hands_per_second),
    }


def _check_bounds(bounds: Any) -> None:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InputError(f"until_settled={shown(bounds)}: must be two numbers of mbb/g, the lower one first")
    for bound in bounds:
        validation.number("until_settled", bound, -math.inf)


@overload
def match(
    first: str | Agent,
    second: str | Agent,
    /,
    *,
    hands: int = ...,
    seed: int = ...,
    game: str | Rules | None = ...,
    aivat: bool = ...,
    until_settled: tuple[float, float] | None = ...,
    thin: str | None = ...,
    threads: int = ...,
    workers: int = ...,
    worst: int = ...,
    observe: Callable[[Hands], None] | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    preparing: Callable[[float], None] | None = ...,
) -> MatchResult: ...


@overload
def match(
    first: str | Agent,
    second: str | Agent,
    third: str | Agent,
    /,
    *others: str | Agent,
    hands: int = ...,
    seed: int = ...,
    game: str | Rules | None = ...,
    aivat: bool = ...,
    threads: int = ...,
    progress: Callable[[int, int], None] | None = ...,
    preparing: Callable[[float], None] | None = ...,
) -> RoundRobinResult: ...


def match(
    *agents: str | Agent,
    hands: int = 20_000,
    seed: int = 0,
    game: str | Rules | None = None,
    aivat: bool = False,
    until_settled: tuple[float, float] | None = None,
    thin: str | None = None,
    threads: int = 1,
    workers: int = 1,
    worst: int = 0,
    observe: Callable[[Hands], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    preparing: Callable[[float], None] | None = None,
) -> MatchResult | RoundRobinResult:
    """Play two agents against each other, or several in a round robin; every deal twice, with the seats exchanged.

    `seed` is that of the cards, and of agents by name that draw and name no other. `aivat` takes most of the luck out of the
    result; its tables may have to be made first, and `preparing` is told the share that is done. With `until_settled`, two
    bounds in mbb/g, a match of two ends as soon as it is known on which side of them the first one stands. `thin` names a
    street: pairs with small pots there are played less often and count more (`Thinning`). `workers` are processes that play
    parts of a match of two, the result being the same; their agents are named, not given. `worst` hands that cost the first
    most are looked at again (with `aivat`). `observe` is given the hands, `progress` those that are done, and all.
    """
    if len(agents) < 2:
        raise InputError(f"match: {len(agents)} agents: name two, or more for a round robin")
    validation.threads(threads)
    validation.threads(workers, "workers")
    validation.whole("hands", hands, 1)
    validation.whole("worst", worst)
    if until_settled is not None:
        _check_bounds(until_settled)
    validation.unless_none(validation.text, "thin", thin)
    made = [seating.agent(each, seed) for each in agents]
    rules = seating.rules_for(made, game)
    estimator = partial(_estimator, rules=rules, threads=threads, preparing=preparing) if aivat else None
    if len(made) > 2:
        of_two = {
            "observe": observe,
            "until_settled": until_settled,
            "thin": thin,
            "worst": worst,
            "workers": workers > 1,
        }
        for what, asked in of_two.items():
            if asked:
                raise InputError(f"{what}: of matches between two agents; {len(made)} are named")
        names = [agent if isinstance(agent, str) else agent.name for agent in agents]
        table = dict(zip(names, made, strict=True))
        if len(table) < len(made):
            raise InputError(
                f"match: {len(made)} agents, {len(table)} different ones: in a round robin each is named once"
            )
        crossed = round_robin(table, rules, hands, seed, estimator=estimator, progress=progress)
        pairs = [crossed.matches[key].names for key in sorted(crossed.matches)]
        of = tuple(about("match", rules, *(table[name] for name in pair)) for pair in pairs)
        return RoundRobinResult(**vars(crossed), rules=rules, of=of, hands=hands, seed=seed, aivat=aivat)
    if until_settled is not None and hands < 2 * LEAST:
        raise InputError(f"hands={hands}: until a match is settled, at least {2 * LEAST:,} are allowed for")
    if worst and estimator is None:
        raise InputError(f"worst={worst}: needs aivat, which knows what moves are worth")
    first, second = made
    values = None if estimator is None else estimator(first, second)
    kept = Worst(worst) if worst else None
    with _processes(agents, seed, workers) as elsewhere:
        played = play_match(
            first,
            second,
            rules,
            hands,
            seed,
            aivat=values,
            until=until_settled,
            thin=None if thin is None else Thinning(thin),
            observe=observe,
            estimated=kept,
            progress=progress,
            workers=elsewhere,
        )
    known = None
    if values is not None:
        known = tuple(agent.name for agent, used in zip(values.agents, values.known, strict=True) if used)
    reviews = () if kept is None or values is None else tuple(kept.reviews(values))
    of_these = about("match", rules, first, second)
    return MatchResult(**vars(played), rules=rules, of=of_these, known=known, reviews=reviews)


def _processes(agents: Sequence[str | Agent], seed: int, count: int) -> AbstractContextManager[Workers | None]:
    """Processes that play in place of this one; None: it plays itself."""
    if count == 1:
        return nullcontext()
    names = [agent for agent in agents if isinstance(agent, str)]
    if len(names) < len(agents):
        raise InputError(f"workers={count}: each makes agents of its own, so these are given by name")
    return Workers(partial(_seated, names[0], names[1], seed), count)


def _seated(first: str, second: str, seed: int) -> tuple[Agent, Agent]:
    return seating.agent(first, seed), seating.agent(second, seed)


def _estimator(
    first: Agent, second: Agent, rules: Rules, threads: int, preparing: Callable[[float], None] | None
) -> Aivat:
    return Aivat(first, second, rules, threads=threads, progress=preparing)
