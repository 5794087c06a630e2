"""Local best response (LBR): a lower bound on exploitability in the full game (Lisý and Bowling 2017).

    bound = local_best_response(agent, rules, actions="fcpa", start="turn", hands=20_000)
    bound.mbb_per_game, bound.ci95                     # at most the agent's exploitability, up to the interval

The responder tracks the agent's range by Bayes' rule and looks one action ahead, off the agent's betting tree too. At
each decision it takes the action with the largest utility, on the assumption that both players check and call from
then on:

    call:   wp · pot - (1 - wp) · to_call
    raise:  fp · pot + (1 - fp) · (wp' · (pot + a) - (1 - wp') · (to_call + a))

`wp` is the probability that its hand wins against the agent's range over all runouts. `fp` is the probability that
the range folds to the raise, and `wp'` the win probability against the rest of the range; the raise adds `a` to a
call. If no utility is positive, the responder folds, or checks. On streets before `start` it only calls.

The estimator does not play single hands. A public state carries the ranges of both players over all hands: the
responder's reach is 0 or 1, the agent's comes from its strategy. Terminal values are computed exactly as means over
all pairs of hands; an all-in is averaged over runouts. Lines that continue are sampled: a number of trajectories
start at the root of a deal and are split among the actions in proportion to the stakes behind them. Each trajectory
sees its own turn and river. It is weighted by the inverse of its sampling probability, so every deal gives an
unbiased mean. Control variates for the sampled actions and cards lower the variance (`lbr_traversal`). Deals are
independent; the interval is over them.

`LbrSums` has the sums over deals. A run can go on from them, and the sums of runs with different seeds can be added.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from typing import Any

import numpy as np

from riverboat.core.claims import LOWER, Claim
from riverboat.core.errors import InputError, MemoryLimitError, check_threads, unknown_name_error
from riverboat.core.parallel import map_in_order, submit_in_order
from riverboat.core.schema import FileEntries
from riverboat.evaluation.confidence_intervals import ConfidenceInterval, SampleSums, Winnings
from riverboat.evaluation.lbr_traversal import DealSample, LbrTraversal
from riverboat.evaluation.local_responder import (
    ACTION_SETS,
    SETTINGS,
    LbrNode,
    LbrSetting,
    LocalResponder,
    agent_name,
    raises_by_street,
)
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.public_strategy import PublicPolicy

__all__ = [
    "ACTION_SETS",
    "SETTINGS",
    "LbrNode",
    "LbrSetting",
    "LbrSums",
    "LbrTraversal",
    "LbrWorkers",
    "LocalBestResponseResult",
    "LocalResponder",
    "limit_trajectories",
    "local_best_response",
]
NUM_TRAJECTORIES = 32  # per deal and seat
SECONDS_PER_CHECKPOINT = 20.0
_SUMS = ("corrected", "raw", "seat_0", "seat_1")  # keys of `LbrSums` in JSON


@dataclass(frozen=True)
class LbrSums:
    """Sums over deals, from which a run goes on, and which can be added to those of other runs.

    Attributes
    ----------
    corrected
        Winnings per hand in chips, the mean of both seats, with control variates.
    raw
        The same without control variates.
    seats
        With control variates, the responder in seat 0, and in seat 1.

    Examples
    --------
    >>> from riverboat.evaluation.lbr_traversal import DealSample
    >>> from riverboat.evaluation.local_best_response import LbrSums
    >>> one = LbrSums().add_deal((DealSample(1.0, 2.0), DealSample(3.0, 4.0)))
    >>> (one + one).corrected.mean, (one + one).deals
    (3.0, 2)
    """

    corrected: SampleSums = field(default_factory=SampleSums)
    raw: SampleSums = field(default_factory=SampleSums)
    seats: tuple[SampleSums, SampleSums] = (SampleSums(), SampleSums())

    @property
    def deals(self) -> int:
        """Number of deals."""
        return self.corrected.count

    def add_deal(self, samples: tuple[DealSample, DealSample]) -> LbrSums:
        """Return the sums with one more deal.

        Parameters
        ----------
        samples
            Estimates with the responder in seat 0, and in seat 1.
        """
        first, second = samples
        return LbrSums(
            self.corrected.add_samples(np.array([(first.corrected + second.corrected) / 2])),
            self.raw.add_samples(np.array([(first.value + second.value) / 2])),
            (
                self.seats[0].add_samples(np.array([first.corrected])),
                self.seats[1].add_samples(np.array([second.corrected])),
            ),
        )

    def __add__(self, other: LbrSums) -> LbrSums:
        """Return the sums over the deals of both."""
        mine, others = ((sums.corrected, sums.raw, *sums.seats) for sums in (self, other))
        corrected, raw, *seats = (
            SampleSums(a.count + b.count, a.total + b.total, a.squares + b.squares)
            for a, b in zip(mine, others, strict=True)
        )
        return LbrSums(corrected, raw, (seats[0], seats[1]))

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as a JSON object: sums and sums of squares, in chips per hand."""
        parts = (self.corrected, self.raw, *self.seats)
        pairs = {key: [part.total, part.squares] for key, part in zip(_SUMS, parts, strict=True)}
        return {"deals": self.deals, **pairs}

    @classmethod
    def from_dict(cls, entries: FileEntries) -> LbrSums:
        """Read the sums from a JSON object.

        Parameters
        ----------
        entries
            The object as `to_dict` returns it.

        Raises
        ------
        CorruptError
            If an entry is missing or invalid.
        """
        deals = entries.integer("deals", 0)
        corrected, raw, *seats = (SampleSums(deals, *entries.number_row(key, 2)) for key in _SUMS)
        return cls(corrected, raw, (seats[0], seats[1]))


@dataclass(frozen=True)
class LocalBestResponseResult(Winnings):
    """Winnings of a local best response against an agent: a lower bound on its exploitability.

    Attributes
    ----------
    agent
        Name of the agent.
    actions
        Set of actions of the responder.
    start
        First street on which it may fold or raise.
    big_blind
        Chips of a big blind.
    chips
        Winnings per hand, over deals.
    seats
        The same with the responder in seat 0, and in seat 1.
    hands
        Number of hands.
    seed
        Seed of all cards and samples.
    seconds
        Time of the computation, with that of the run that it went on from.
    sums
        Sums over deals.

    Examples
    --------
    >>> from riverboat.evaluation.confidence_intervals import ConfidenceInterval
    >>> from riverboat.evaluation.local_best_response import LbrSums, LocalBestResponseResult
    >>> won = ConfidenceInterval(10.0, 2.0, 100)
    >>> LocalBestResponseResult("agent", "fcpa", "preflop", 100, won, (won, won), 200, 0, 1.0, LbrSums()).mbb_per_game
    100.0
    """

    agent: str
    actions: str
    start: str
    big_blind: int
    chips: ConfidenceInterval  # per hand, over deals
    seats: tuple[ConfidenceInterval, ConfidenceInterval]  # the same with the responder in seat 0, and in seat 1
    hands: int
    seed: int
    seconds: float
    sums: LbrSums

    @property
    def raw(self) -> ConfidenceInterval:
        """Winnings per hand of the same deals without control variates, in chips."""
        return self.sums.raw.confidence_interval()

    @property
    def variance_factor(self) -> float | None:
        """Variance of the same deals without control variates over the variance with them; None if that is zero."""
        mean = abs(self.chips.mean) + self.big_blind
        if self.chips.half_width <= 1e-9 * mean:
            return None
        return (self.raw.half_width / self.chips.half_width) ** 2

    @property
    def by_seat(self) -> tuple[float, float]:
        """Winnings in chips per hand with the responder in seat 0, and in seat 1."""
        return self.seats[0].mean, self.seats[1].mean

    @property
    def claim(self) -> Claim:
        """Lower bound on the agent's exploitability."""
        return self._claim("exploitability", LOWER, self.hands, "hands")

    @property
    def hands_per_second(self) -> float:
        """Hands evaluated per second."""
        return self.hands / self.seconds if self.seconds > 0 else 0.0

    def record(self) -> dict[str, Any]:
        """Return the result as a JSON object, without timings."""
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
            "raw": {
                "mbb_per_game": 1000 * self.raw.mean / self.big_blind,
                "ci95": 1000 * self.raw.half_width / self.big_blind,
            },
            "factor": self.variance_factor,
            "sums": self.sums.to_dict(),
        }

    def __str__(self) -> str:
        return f"{self.agent}: {self.claim}"


def limit_trajectories(trajectories: int, hands: int | None) -> int:
    """Return the number of trajectories per deal and seat that leaves at least two deals.

    Parameters
    ----------
    trajectories
        Wanted number.
    hands
        Number of hands of the measurement; None if it is not known.

    Returns
    -------
    int
        The wanted number, or less.

    Examples
    --------
    >>> from riverboat.evaluation.local_best_response import limit_trajectories
    >>> limit_trajectories(32, 64)
    16
    """
    return trajectories if hands is None else min(trajectories, max(1, hands // 4))


class LbrWorkers:
    """Pool of processes that evaluate deals.

    Parameters
    ----------
    make_agent
        Function that creates the agent of one process, and can be pickled.
    count
        Number of processes.

    Examples
    --------
    >>> from riverboat.evaluation.local_best_response import LbrWorkers
    >>> with LbrWorkers(object, 2) as workers:
    ...     workers.count
    2
    """

    def __init__(self, make_agent: Callable[[], PublicPolicy], count: int) -> None:
        self.count, self._make_agent = count, make_agent
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> LbrWorkers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def evaluate(self, traversal: LbrTraversal, deals: Iterable[int]) -> Iterator[tuple[DealSample, DealSample]]:
        """Yield the estimates of each deal, in order.

        Parameters
        ----------
        traversal
            The traversal that each process repeats with an agent of its own.
        deals
            Numbers of the deals.

        Raises
        ------
        MemoryLimitError
            If a process ends unexpectedly.
        """
        responder = traversal.responder
        arguments = responder.rules, responder.actions, responder.start, traversal.trajectories, traversal.seed
        # Spawned, not forked: CUDA cannot be used in a fork of a process that has used it.
        self._pool = ProcessPoolExecutor(self.count, get_context("spawn"), _init_worker, (self._make_agent, *arguments))
        try:
            yield from submit_in_order(self._pool, _sample_deal_in_worker, deals, self.count)
        except BrokenProcessPool:
            raise MemoryLimitError(
                f"local best response: one of {self.count} processes ended unexpectedly, perhaps out of memory; use "
                "fewer workers"
            ) from None


_WORKER_TRAVERSAL: list[LbrTraversal] = []  # one entry in a worker process


def _init_worker(
    make_agent: Callable[[], PublicPolicy], rules: PokerRules, actions: str, start: int, trajectories: int, seed: int
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent process reports an interruption, not its workers
    responder = LocalResponder(make_agent(), rules, actions, start)
    _WORKER_TRAVERSAL[:] = [LbrTraversal(responder, trajectories, seed)]


def _sample_deal_in_worker(number: int) -> tuple[DealSample, DealSample]:
    return _WORKER_TRAVERSAL[0].sample_deal(number)


def local_best_response(
    agent: PublicPolicy,
    rules: PokerRules,
    *,
    actions: str = "fcpa",
    start: str = "preflop",
    hands: int | None = 4_000,
    seconds: float | None = None,
    seed: int = 0,
    threads: int = 1,
    trajectories: int = NUM_TRAJECTORIES,
    workers: LbrWorkers | None = None,
    sums: LbrSums | None = None,
    seconds_before: float = 0.0,
    checkpoint: Callable[[LocalBestResponseResult], None] | None = None,
    progress: Callable[[float], None] | None = None,
) -> LocalBestResponseResult:
    """Estimate how much a local best response wins against an agent.

    Parameters
    ----------
    agent
        Agent that has strategies for all hands.
    rules
        Zero-sum two-player game.
    actions
        Responder's set of actions: `fc`, `fcpa` (pot and all-in raises) or `56` (53 pot fractions and all-in); several
        with commas between them for the streets from `start` on, the last for all later ones. `SETTINGS` has those of
        the published tables.
    start
        First street on which the responder may fold or raise; before it, it only calls.
    hands, seconds
        Sample size, rounded up to whole deals, or time limit; give one of the two. At least two deals are evaluated.
        Deals in `sums` count, and time before does not.
    seed
        Seed of all cards and samples.
    threads
        Threads that evaluate deals; with more than one, all of them query the agent. Results do not depend on the
        number, unless `seconds` is given.
    trajectories
        Sampled trajectories per deal and seat.
    workers
        Processes that evaluate deals; give one of threads and workers.
    sums
        Sums of the first deals of the same measurement with the same seed; the run goes on with the next deal.
    seconds_before
        Time that these deals took.
    checkpoint
        Callback with the result so far, at most every `SECONDS_PER_CHECKPOINT` and at the end.
    progress
        Callback with the completed fraction.

    Returns
    -------
    LocalBestResponseResult
        Lower bound on the exploitability, with its interval.

    Raises
    ------
    InputError
        If an option is invalid, the agent has no strategies for all hands, or the game is not zero-sum.

    References
    ----------
    .. [1] Lisý & Bowling, "Equilibrium approximation quality of current no-limit poker bots", AAAI workshop 2017.
    .. [2] Burch et al., "AIVAT: a new variance reduction technique for agent evaluation in imperfect information
       games", AAAI 2018.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.local_best_response import local_best_response
    >>> from riverboat.games.holdem.rules import read_game
    >>> local_best_response(make_agent("always-fold"), read_game("leduc"), hands=64).mbb_per_game > 0
    True
    """
    if start not in rules.streets:
        raise unknown_name_error("street", start, rules.streets)
    raises_by_street(actions, rules.streets.index(start), rules.rounds)
    if not isinstance(agent, PublicPolicy):
        raise InputError(
            f"agent {agent_name(agent)!r} has no strategies for all hands: it lacks the method strategies(public_states)"
        )
    if (hands is None) == (seconds is None):
        raise InputError(f"hands={hands}, seconds={seconds}: give one of the two")
    if hands is not None and hands < 4:
        raise InputError(f"hands={hands}: must be at least 4: two deals in two seats")
    check_threads(threads)
    if workers is not None and threads != 1:
        raise InputError(f"threads={threads}: each of {workers.count} workers has one thread; give one of the two")
    rules.require_zero_sum("local best responses are known")
    trajectories = limit_trajectories(trajectories, hands)
    traversal = LbrTraversal(LocalResponder(agent, rules, actions, rules.streets.index(start)), trajectories, seed)
    start_time, checkpoint_time = time.perf_counter(), time.perf_counter()
    done = LbrSums() if sums is None else sums
    first_deal = done.deals
    deals = None if hands is None else max(2, -(-hands // (2 * trajectories)))

    def result() -> LocalBestResponseResult:
        chips, first, second = (part.confidence_interval() for part in (done.corrected, *done.seats))
        elapsed = seconds_before + time.perf_counter() - start_time
        facts = chips, (first, second), 2 * trajectories * done.deals, seed, elapsed, done
        return LocalBestResponseResult(agent_name(agent), actions, start, rules.big_blind, *facts)

    numbers = count(first_deal) if deals is None else range(first_deal, deals)
    samples = (
        map_in_order(traversal.sample_deal, numbers, threads)
        if workers is None
        else workers.evaluate(traversal, numbers)
    )
    for sample in samples:
        done = done.add_deal(sample)
        now = time.perf_counter()
        if progress is not None:
            progress(done.deals / deals if deals is not None else min((now - start_time) / (seconds or 1e-9), 1.0))
        if seconds is not None and now - start_time >= seconds and done.deals >= 2:
            break
        if checkpoint is not None and done.deals >= 2 and now - checkpoint_time >= SECONDS_PER_CHECKPOINT:
            checkpoint(result())
            checkpoint_time = now
    if checkpoint is not None:
        checkpoint(result())
    return result()
