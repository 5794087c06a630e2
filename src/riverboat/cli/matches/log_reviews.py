"""`riverboat review`: a match on record, without luck, and its most expensive hands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.registry import make_agent
from riverboat.api.match import match_facts
from riverboat.cli.hands.hand_reviews import print_reviews
from riverboat.cli.matches.match import compared, estimator, results, told_of, watched
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown
from riverboat.evaluation.identity import about
from riverboat.evaluation.intervals import Tally
from riverboat.evaluation.matches.aivat import Estimates
from riverboat.evaluation.matches.match import Match
from riverboat.evaluation.review import Worst
from riverboat.formats.hand_files import read_hands
from riverboat.games.holdem.actions import HIDDEN
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.games.records.hand_records import Hands

AT_ONCE = 1024  # hands
_UNKNOWN = ("seed", "pairs", "seconds", "hands_per_second")  # of a match that was played elsewhere


@dataclass(frozen=True)
class Stranger:
    """Somebody who played and says nothing."""

    name: str

    def check_rules(self, rules: Rules) -> None:
        """Whatever was played."""

    def act(self, views: Views) -> Array:
        """Nobody asks."""
        raise InputError(f"player {self.name!r}: is on record, and cannot be asked")


def review(log: Path, agents: list[str], worst: int, game: str | None, threads: int, json: bool) -> None:
    """Estimate a match on record for the first of its players, and show its most expensive hands."""
    hands = read_hands(log, None if game is None else read_game(game)).hands
    first, second = _players(log, hands, agents)
    rules = _rules(log, hands, (first, second))
    aivat = estimator(first, second, rules, threads)
    kept, raw, better = Worst(worst) if worst else None, Tally(), Tally()
    paired = _paired(hands)
    with watched(f"{len(hands):,} hands") as progress:
        for at in range(0, len(hands), AT_ONCE):
            told = aivat.estimate(hands.take(np.arange(at, min(at + AT_ONCE, len(hands)))))
            raw, better = raw.plus(_samples(_won(told), paired)), better.plus(_samples(told.total, paired))
            if kept is not None:
                kept(told)
            progress(at + len(told), len(hands))
    without, corrected = raw.interval(), better.interval()
    factor = (without.half_width / corrected.half_width) ** 2 if corrected.half_width > 0 else None
    match = Match(len(hands) // 2, 0, rules.big_blind, corrected, 0.0, (first.name, second.name), without, factor)
    reviews = [] if kept is None else kept.reviews(aivat)
    if json:
        told_facts = {key: value for key, value in match_facts(match, rules).items() if key not in _UNKNOWN}
        claim = replace(match.claim, seed=None, size=len(hands))  # nobody knows the seed of what was played elsewhere
        told_facts |= {"hands": len(hands), "duplicate": paired, "claims": [claim.to_dict()]}
        told_facts |= {"worst": [hand.record(rules.big_blind) for hand in reviews]} if reviews else {}
        emit(told_facts | told_of(aivat) | about("match", rules, first, second))
        return
    console = plain_console()
    console.print(results([match]))
    console.print(compared(match))
    print_reviews(console, reviews, rules.big_blind)


def _players(log: Path, hands: Hands, given: list[str]) -> tuple[Agent, Agent]:
    """Agents for the names of a record, NAME=AGENT; the others are strangers."""
    if len(hands.names) != 2 or len(hands) < 4:
        raise InputError(f"{log}: {len(hands)} hands of {len(hands.names)} players; a match between two is needed")
    known = {}
    for text in given:
        name = next((name for name in hands.names if text.startswith(f"{name}=")), None)
        if name is None:
            raise InputError(
                f"--agent {shown(text)}: write NAME=AGENT, with a player of {log}: {' or '.join(hands.names)}"
            )
        known[name] = make_agent(text.removeprefix(f"{name}="))
    first, second = (known.get(name, Stranger(name)) for name in hands.names)
    return first, second


def _rules(log: Path, hands: Hands, players: tuple[Agent, Agent]) -> Rules:
    """The rules that all hands share; everything must have been seen."""
    chips = hands.chips
    if (chips != chips[0]).any():
        raise InputError(f"{log}: blinds or stacks change from hand to hand; a match of equal hands is needed")
    hole = hands.cards[:, : 2 * hands.rules.hole]
    unseen = int((hole == HIDDEN).any(axis=1).sum())
    if unseen:
        raise InputError(f"{log}: nobody saw all cards of {unseen:,} hands; a dealer's log has them")
    rules = hands.rules_of(0)
    for player in players:
        player.check_rules(rules)
    return rules


def _won(told: Estimates) -> Array:
    """Chips of the first player."""
    won = told.hands.won
    return np.where(told.hands.player[:, 0] == 0, won[:, 0], won[:, 1])


def _paired(hands: Hands) -> bool:
    """Whether every deal was played twice, with the seats exchanged."""
    hole = hands.cards[:, : 2 * hands.rules.hole]
    if len(hands) % 2 or not np.array_equal(hole[0::2], hole[1::2]):
        return False
    return bool((hands.player[0::2, 0] == hands.player[1::2, 1]).all())


def _samples(chips: Array, paired: bool) -> Array:
    """What is independent: pairs, or hands."""
    return (chips[0::2] + chips[1::2]) / 2 if paired else chips
