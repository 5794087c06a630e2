"""Local best response (Lisý and Bowling 2017): a player that keeps the agent's range by Bayes and looks one move ahead.

    bound = local_best_response(agent, rules, actions="fcpa", start="turn", hands=20_000)
    bound.mbb_per_game, bound.ci95                     # no more than this agent's exploitability, up to the interval

What it wins is a lower bound on the agent's exploitability in the real game, off the agent's betting tree too. At its turn
it takes the move with the largest utility, as if everybody checked and called from then on:

    call:   wp · pot - (1 - wp) · asked
    raise:  fp · pot + (1 - fp) · (wp' · (pot + a) - (1 - wp') · (asked + a))

`wp` is what its hand wins of the agent's range over all runouts, `fp` how often the range folds to the raise, `wp'` what the
hand wins of the rest, `a` what the raise adds to a call. Where nothing is above zero it folds, or checks. Before `start` it
only calls.

No single hands are played. At a public place are all hands of both players, each with the probability of its own moves: for
the responder 0 or 1, for the agent what it answers for all hands. Ends that a move leads to are paid at once, as means over
all pairs of hands and, when all chips are in, over the runouts. Whatever goes on is walked for a sample of moves and cards:
some walkers begin at the root of a deal, are divided among the moves in proportion to what is at stake behind them, and each
sees a turn and a river of its own. A walker counts by the inverse of its probability, so every deal has the right mean; deals
are independent, and the interval is over them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from riverboat.core.claims import LOWER, Claim
from riverboat.core.errors import InputError, check_threads, unknown
from riverboat.evaluation.intervals import Interval, interval
from riverboat.evaluation.local_best_response.choice import ACTIONS, Responder, name_of
from riverboat.evaluation.local_best_response.traversal import Walk
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.public_strategy import Answering

WALKERS = 32  # of a deal, in each seat


@dataclass(frozen=True)
class LocalBestResponse:
    """What a local best response wins of an agent."""

    agent: str
    actions: str
    start: str
    big_blind: int
    chips: Interval  # a hand, over deals
    seats: tuple[Interval, Interval]  # the same where the responder has seat 0, and seat 1
    hands: int
    seed: int
    seconds: float

    @property
    def mbb_per_game(self) -> float:
        """Thousandths of a big blind a hand, in both seats alike."""
        return 1000 * self.chips.mean / self.big_blind

    @property
    def by_seat(self) -> tuple[float, float]:
        """Chips a hand, where the responder has seat 0, and seat 1."""
        return self.seats[0].mean, self.seats[1].mean

    @property
    def ci95(self) -> float:
        """Half the width of its 95 % interval."""
        return 1000 * self.chips.half_width / self.big_blind

    @property
    def claim(self) -> Claim:
        """What is known of the agent's exploitability."""
        return Claim(
            "exploitability",
            self.mbb_per_game,
            "mbb/g",
            LOWER,
            self.ci95,
            seed=self.seed,
            size=self.hands,
            samples="hands",
        )

    @property
    def hands_per_second(self) -> float:
        """Speed."""
        return self.hands / self.seconds if self.seconds > 0 else 0.0

    def record(self) -> dict[str, Any]:
        """For files, without what depends on the machine."""
        return {
            "mbb_per_game": self.mbb_per_game,
            "ci95": self.ci95,
            "is": "bound",
            "side": "lower",
            "hands": self.hands,
            "deals": self.chips.count,
            "actions": self.actions,
            "from": self.start,
            "by_seat": [1000 * chips / self.big_blind for chips in self.by_seat],
            "seed": self.seed,
        }

    def __str__(self) -> str:
        return f"{self.agent}: {self.claim}"


def local_best_response(
    agent: Answering,
    rules: Rules,
    *,
    actions: str = "fcpa",
    start: str = "preflop",
    hands: int | None = 4_000,
    seconds: float | None = None,
    seed: int = 0,
    threads: int = 1,
    walkers: int = WALKERS,
    progress: Callable[[float], None] | None = None,
) -> LocalBestResponse:
    """Walk so many hands, rounded up to whole deals, or for so many seconds; two deals at least.

    Equal seeds give equal results on any number of threads, unless time decides. With more than one thread the agent is asked
    from all of them.
    """
    if actions not in ACTIONS:
        raise unknown("set of actions", actions, ACTIONS)
    if start not in rules.streets:
        raise unknown("street", start, rules.streets)
    if not isinstance(agent, Answering):
        raise InputError(f"agent {name_of(agent)!r} does not answer for all hands: it has no strategies(places)")
    if (hands is None) == (seconds is None):
        raise InputError(f"hands={hands}, seconds={seconds}: give one of the two")
    if hands is not None and hands < 4:
        raise InputError(f"hands={hands}: two deals in two seats are the least, four hands")
    check_threads(threads)
    rules.need_zero_sum("local best responses are known")
    walkers = walkers if hands is None else min(walkers, max(1, hands // 4))
    walk = Walk(Responder(agent, rules, actions, rules.streets.index(start)), walkers, seed)
    began = time.perf_counter()
    pairs: list[tuple[float, float]] = []
    deals = None if hands is None else max(2, -(-hands // (2 * walkers)))
    for values in _in_order(walk.deal, threads, deals):
        pairs.append(values)
        spent = time.perf_counter() - began
        if progress is not None:
            progress(len(pairs) / deals if deals is not None else min(spent / (seconds or spent), 1.0))
        if seconds is not None and spent >= seconds and len(pairs) >= 2:
            break
    first, second = np.array(pairs).T
    chips, *seats = (
        interval(len(won), float(won.sum()), float((won**2).sum())) for won in ((first + second) / 2, first, second)
    )
    spent = time.perf_counter() - began
    played = 2 * walkers * len(pairs)
    return LocalBestResponse(
        name_of(agent), actions, start, rules.big_blind, chips, (seats[0], seats[1]), played, seed, spent
    )


def _in_order(
    work: Callable[[int], tuple[float, float]], threads: int, number: int | None
) -> Iterator[tuple[float, float]]:
    """Answers to 0, 1, 2, … in their order, some of them worked out ahead on threads."""
    if threads == 1:
        yield from map(work, count() if number is None else range(number))
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="riverboat") as pool:
        ahead = [pool.submit(work, i) for i in range(2 * threads if number is None else min(2 * threads, number))]
        following = len(ahead)
        try:
            while ahead:
                yield ahead.pop(0).result()
                if number is None or following < number:
                    ahead.append(pool.submit(work, following))
                    following += 1
        finally:
            for left in ahead:
                left.cancel()
