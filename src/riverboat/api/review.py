"""Reviews of recorded matches: winnings re-estimated with AIVAT, and the hands that cost most.

review = review_match("match.log", agents={"demo": "demo"})
review.match.claim            # winnings of the first player without luck
review.reviews                # its most expensive hands
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.registry import make_agent
from riverboat.api.match import known_agents, match_to_dict
from riverboat.api.options import Flag, Limits, Threads
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.evaluation.confidence_intervals import SampleSums
from riverboat.evaluation.identity import describe_result
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.hand_review import MatchHandReview, WorstHands
from riverboat.evaluation.matches.match import DuplicateMatchResult
from riverboat.formats.hand_files import read_hands
from riverboat.games.holdem.actions import HIDDEN_CARD
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules, read_game

BATCH_SIZE = 1024  # hands
_UNKNOWN_FIELDS = ("seed", "pairs", "seconds", "hands_per_second")  # fields that a recorded match does not have


@dataclass(frozen=True)
class RecordedPlayer:
    """A player of a recorded match whose strategy is unknown.

    Attributes
    ----------
    name
        Name in the record.

    Examples
    --------
    >>> RecordedPlayer("villain").name
    'villain'
    """

    name: str

    @property
    def fingerprint(self) -> str:
        """Identity in ledgers; it never changes, although the class was renamed."""
        return f"riverboat.interfaces.log_reviews:Stranger {self.name}"

    def check_rules(self, rules: PokerRules) -> None:
        """Accept any rules.

        Parameters
        ----------
        rules
            Rules of the match.
        """

    def act(self, observations: Observations) -> Array:
        """Raise an error: a recorded player cannot act.

        Parameters
        ----------
        observations
            Observations of the player.
        """
        raise InputError(f"player {self.name!r}: is only recorded, and cannot act")


@dataclass(frozen=True, eq=False)
class RecordedMatchReview:
    """A recorded match, re-estimated with AIVAT for the first of its players.

    Attributes
    ----------
    match
        Winnings of the first player, with and without luck.
    hands
        Number of hands.
    duplicate
        Whether every deal was played twice with exchanged seats.
    rules
        Rules of all hands.
    identity
        Fingerprints of rules and players, and the release.
    known
        Players whose strategies AIVAT used.
    reviews
        Hands that cost the first player most.

    Examples
    --------
    >>> RecordedMatchReview.__name__
    'RecordedMatchReview'
    """

    match: DuplicateMatchResult
    hands: int
    duplicate: bool
    rules: PokerRules = field(repr=False)
    identity: Mapping[str, Any] = field(repr=False)
    known: tuple[str, ...] = ()
    reviews: tuple[MatchHandReview, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the review as a JSON object, as ledgers read it."""

        record = match_to_dict(self.match, self.rules)
        facts = {key: value for key, value in record.items() if key not in _UNKNOWN_FIELDS}
        claim = replace(self.match.claim, seed=None, size=self.hands)  # the seed of a recorded match is unknown
        facts |= {"hands": self.hands, "duplicate": self.duplicate, "claims": [claim.to_dict()]}
        if self.reviews:
            facts["worst"] = [hand.record(self.rules.big_blind) for hand in self.reviews]
        return facts | {"aivat": {"known": list(self.known)}} | dict(self.identity)


def review_match(
    log: str | Path,
    *,
    agents: Annotated[Mapping[str, str] | Sequence[str], Flag("--agent")] = (),
    worst: Annotated[int, Limits(0, 1000)] = 5,
    game: str | None = None,
    threads: Threads = 2,
    preparing: Callable[[float], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RecordedMatchReview:
    """Estimate a recorded match for the first of its players with AIVAT, and review its most expensive hands.

    Parameters
    ----------
    log
        A recorded match with all cards: FILE.log (ACPC) or FILE.phhs.
    agents
        NAME=AGENT: the agent that a recorded player was, so that its strategy is known. Or a mapping from names to agents.
    worst
        Print this many hands that cost the first player most.
    game
        A game or .game file; by default the agents' game.
    threads
        Threads.
    preparing
        Callback with the completed fraction of the value tables, which are computed once.
    progress
        Callback with the number of completed hands and the total.

    Returns
    -------
    RecordedMatchReview
        Winnings with confidence intervals, and reviews.

    Raises
    ------
    InputError
        If the file is not a match of two players that shows all cards, or a player does not occur.

    Examples
    --------
    >>> review_match("missing.log")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """

    path = Path(log)
    hands = read_hands(path, None if game is None else read_game(game)).hands
    first, second = _agents_of_record(path, hands, agents)
    rules = _common_rules(path, hands, (first, second))
    aivat = Aivat(first, second, rules, threads=threads, progress=preparing)
    worst_hands, raw, reduced = WorstHands(worst) if worst else None, SampleSums(), SampleSums()
    paired = _is_duplicate(hands)

    def independent_samples(chips: Array) -> Array:
        """Return the means of duplicate pairs, or the values of single hands if the match is not duplicate."""
        return (chips[0::2] + chips[1::2]) / 2 if paired else chips

    for at in range(0, len(hands), BATCH_SIZE):
        estimates = aivat.estimate(hands.take(np.arange(at, min(at + BATCH_SIZE, len(hands)))))
        won = estimates.hands.won
        chips = np.where(estimates.hands.player[:, 0] == 0, won[:, 0], won[:, 1])  # chips of the first player
        raw = raw.add_samples(independent_samples(chips))
        reduced = reduced.add_samples(independent_samples(estimates.total))
        if worst_hands is not None:
            worst_hands(estimates)
        if progress is not None:
            progress(at + len(estimates), len(hands))
    raw_interval, interval = raw.confidence_interval(), reduced.confidence_interval()
    factor = (raw_interval.half_width / interval.half_width) ** 2 if interval.half_width > 0 else None
    names = first.name, second.name
    match = DuplicateMatchResult(len(hands) // 2, 0, rules.big_blind, interval, 0.0, names, raw_interval, factor)
    identity = describe_result("match", rules, first, second)
    reviews = () if worst_hands is None else tuple(worst_hands.reviews(aivat))
    return RecordedMatchReview(match, len(hands), paired, rules, identity, known_agents(aivat), reviews)


def _agents_of_record(log: Path, hands: HandRecords, agents: Mapping[str, str] | Sequence[str]) -> tuple[Agent, Agent]:
    """Return an agent for each player of a record, from texts NAME=AGENT; the strategy of others is unknown."""

    if len(hands.names) != 2 or len(hands) < 4:
        raise InputError(
            f"{log}: {len(hands)} hands of {len(hands.names)} players; a review needs a match of two players with at "
            f"least 4 hands"
        )
    texts = [f"{name}={spec}" for name, spec in agents.items()] if isinstance(agents, Mapping) else agents
    made: dict[str, Agent] = {}
    for text in texts:
        name = next((name for name in hands.names if text.startswith(f"{name}=")), None)
        if name is None:
            raise InputError(
                f"agent {short_repr(text)}: write NAME=AGENT, with a player of {log}: {' or '.join(hands.names)}"
            )
        made[name] = make_agent(text.removeprefix(f"{name}="))
    first, second = (made.get(name, RecordedPlayer(name)) for name in hands.names)
    return first, second


def _common_rules(log: Path, hands: HandRecords, players: tuple[Agent, Agent]) -> PokerRules:
    """Return the rules that all hands share; raise unless stacks are constant and all hole cards are visible."""

    chips = hands.chip_settings
    if (chips != chips[0]).any():
        raise InputError(f"{log}: blinds or stacks change from hand to hand; a review needs the same in all hands")
    hole = hands.cards[:, : 2 * hands.rules.hole]
    hidden = int((hole == HIDDEN_CARD).any(axis=1).sum())
    if hidden:
        raise InputError(f"{log}: {hidden:,} hands have hidden cards; use a dealer's log, which shows all")
    rules = hands.rules_of(0)
    for player in players:
        player.check_rules(rules)
    return rules


def _is_duplicate(hands: HandRecords) -> bool:
    """Return whether every deal was played twice with exchanged seats."""

    hole = hands.cards[:, : 2 * hands.rules.hole]
    if len(hands) % 2 or not np.array_equal(hole[0::2], hole[1::2]):
        return False
    return bool((hands.player[0::2, 0] == hands.player[1::2, 1]).all())
