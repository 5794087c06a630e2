"""Pairs of duplicate hands, played in batches by two agents, in this process or in worker processes.

    hands = DuplicatePairs((first, second), ("a", "b"), rules, seed=0).play(np.arange(1000))

Tables advance together, one action each in turn, so that agents decide in batches. All randomness is keyed: the cards
by the seed and the number of the pair, an agent's draws by its own seed, that number and the position in the line.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from types import TracebackType

import numpy as np

from riverboat.agents.base import Agent
from riverboat.cards.ranking import rank_tables as ranking_tables
from riverboat.compiled.rng import match_key
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.evaluation.matches._kernels import match as kernels
from riverboat.games.holdem.actions import END_OF_LINE, STATE_FIELDS, compact_rules_arrays
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules

_INITIAL_LINE_LENGTH = 16  # allocated actions per line; doubled when needed


@dataclass(frozen=True, eq=False)
class DuplicatePairs:
    """Two agents and a game; every deal is played twice, with the seats exchanged.

    Parameters
    ----------
    agents
        The two agents.
    names
        Their names in the records.
    rules
        Two-player game.
    seed
        Seed of the cards.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.matches.pairs import DuplicatePairs
    >>> from riverboat.games.holdem.rules import read_game
    >>> agents = make_agent("always-call"), make_agent("always-fold")
    >>> len(DuplicatePairs(agents, ("a", "b"), read_game("leduc"), seed=0).play(np.arange(3)))
    6
    """

    agents: tuple[Agent, Agent]
    names: tuple[str, str]
    rules: PokerRules
    seed: int

    def play(self, numbers: Array) -> HandRecords:
        """Play both hands of some pairs.

        Parameters
        ----------
        numbers
            Numbers of the pairs, in ascending order. int64 [pairs]

        Raises
        ------
        InputError
            If an agent takes an illegal action.
        """
        return _play_pairs(self.agents, self.names, self.rules, _make_dealer(self.rules), match_key(self.seed), numbers)


def _make_dealer(rules: PokerRules) -> kernels.MatchDealer:
    board = rules.board_sizes[-1]
    return kernels.MatchDealer(rules.deck.cards, ranking_tables(rules.hole + board), rules.hole, board)


def _play_pairs(
    agents: tuple[Agent, Agent],
    names: tuple[str, str],
    rules: PokerRules,
    dealer: kernels.MatchDealer,
    seed: np.uint64,
    numbers: Array,
) -> HandRecords:
    """Play both hands of the pairs with these numbers, in ascending order."""
    deals, book = len(numbers), compact_rules_arrays(rules)
    n = 2 * deals
    cards, result = np.empty((deals, 2 * dealer.hole + dealer.board), np.uint8), np.empty(deals, np.int8)
    tables = kernels.MatchTables(
        cards,
        np.empty((n, STATE_FIELDS), np.int64),
        np.full((n, _INITIAL_LINE_LENGTH), END_OF_LINE, np.int32),
        np.zeros(n, np.int32),
    )
    for run in np.split(np.arange(deals), np.flatnonzero(np.diff(numbers) > 1) + 1):  # runs of consecutive numbers
        if len(run):
            begin, end = int(run[0]), int(run[-1]) + 1
            part = kernels.MatchTables(cards[begin:end], *(each[2 * begin : 2 * end] for each in tables[1:]))
            kernels.deal_hands(dealer, book, seed, int(numbers[begin]), part.cards.reshape(-1), result[begin:end], part)
    active = np.arange(n)
    while len(active):
        if tables.length.max() == tables.moves.shape[1]:
            tables = tables._replace(
                moves=np.concatenate([tables.moves, np.full_like(tables.moves, END_OF_LINE)], axis=1)
            )
        actor = tables.states[active, 2] ^ (active & 1)  # in odd hands seat 0 is the second agent's
        for index, agent in enumerate(agents):
            chosen = active[actor == index]
            if len(chosen):
                observations = _observations(rules, dealer, tables, chosen, numbers)
                actions = _agent_actions(agent, observations)
                illegal = kernels.apply_actions(book, chosen, actions, tables)
                if illegal >= 0:
                    raise _illegal_action_error(agent, observations, illegal, int(actions[illegal]))
        active = active[tables.states[active, 8] == 0]
    won = np.empty(n, np.int64)
    kernels.compute_winnings(tables, result, won)
    number = (2 * numbers[:, None] + np.arange(2)).reshape(-1)
    return _to_hands(rules, names, number, np.repeat(cards, 2, axis=0), tables, won)


def _to_hands(
    rules: PokerRules, names: tuple[str, str], number: Array, cards: Array, tables: kernels.MatchTables, won: Array
) -> HandRecords:
    """Build the records of a match: the first agent has seat 0 in even hands.

    If both agents have one name, the second gets a suffix.
    """
    n = len(number)
    player_names = names if names[0] != names[1] else (names[0], f"{names[1]}-2")
    player = np.stack([number % 2, 1 - number % 2], axis=1).astype(np.int32)
    blinds, stacks = (
        np.broadcast_to(np.array(chips, np.int64), (n, 2)) for chips in (rules.blinds, rules.stacks or (0, 0))
    )
    by_seat = np.stack([won, -won], axis=1)
    ante = np.full(n, rules.ante, np.int64)
    return HandRecords(
        rules, 1, player_names, player, number, blinds, stacks, ante, cards, tables.moves, tables.length, by_seat
    )


def _observations(
    rules: PokerRules, dealer: kernels.MatchDealer, tables: kernels.MatchTables, chosen: Array, numbers: Array
) -> Observations:
    """Return the observations of the players to act in the chosen hands. Both hands of a pair have its number."""
    n, max_length = len(chosen), max(1, int(tables.length[chosen].max()))
    observations = Observations(
        rules,
        numbers[chosen >> 1],
        np.empty(n, np.int8),
        np.empty((n, dealer.hole), np.uint8),
        np.empty((n, dealer.board), np.uint8),
        np.empty((n, max_length), np.int32),
        np.empty(n, np.int32),
    )
    kernels.observe_tables(
        dealer,
        compact_rules_arrays(rules),
        tables,
        chosen,
        observations.seat,
        observations.hole,
        observations.board,
        observations.moves,
        observations.length,
    )
    return observations


def _agent_actions(agent: Agent, observations: Observations) -> Array:
    actions = np.asarray(agent.act(observations))
    if actions.shape != (len(observations),) or actions.dtype.kind not in "iu":
        raise InputError(
            f"agent {agent.name!r} answered {len(observations)} observations with {actions.dtype} {actions.shape}: "
            "must return one integer for each"
        )
    return actions.astype(np.int32, copy=False)


def _illegal_action_error(agent: Agent, observations: Observations, i: int, move: int) -> InputError:
    state = observations.betting(i)
    try:
        state.apply_action(move)
    except InputError as error:
        return InputError(f"agent {agent.name!r}, {observations.match_state(i)}: {error}")
    return InputError(
        f"agent {agent.name!r}, {observations.match_state(i)}: {move} is not an action: fold is -1, call 0, a raise its total"
    )


# --- Worker processes ---

AgentFactory = Callable[[], tuple[Agent, Agent]]
_BATCHES_AHEAD = 2  # batches in the queue of each process, so that none is idle


class MatchWorkers:
    """Pool of processes that play the pairs of a match.

    Parameters
    ----------
    make_agents
        Function that creates the two agents of one process, and can be pickled.
    count
        Number of processes.

    Examples
    --------
    >>> from riverboat.evaluation.matches.pairs import MatchWorkers
    >>> with MatchWorkers(tuple, 2) as workers:
    ...     workers.count
    2
    """

    def __init__(self, make_agents: AgentFactory, count: int) -> None:
        self.count, self._make_agents = count, make_agents
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> MatchWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def play(
        self, names: tuple[str, str], rules: PokerRules, seed: int, batches: Iterable[Array]
    ) -> Iterator[HandRecords]:
        """Yield both hands of the pairs of each batch, in order.

        Parameters
        ----------
        names
            Names of the agents in the records.
        rules
            Two-player game.
        seed
            Seed of the cards.
        batches
            Numbers of the pairs of each batch.

        Raises
        ------
        MemoryLimitError
            If a process ends unexpectedly.
        """
        # Spawned, not forked: CUDA cannot be used in a fork of a process that has used it.
        self._pool = ProcessPoolExecutor(
            self.count, get_context("spawn"), initializer=_init_worker, initargs=(self._make_agents, names, rules, seed)
        )
        futures: deque[Future[HandRecords]] = deque()
        remaining = iter(batches)
        try:
            while True:
                futures.extend(
                    self._pool.submit(_play_batch_in_worker, batch)
                    for batch in islice(remaining, _BATCHES_AHEAD * self.count - len(futures))
                )
                if not futures:
                    return
                yield futures.popleft().result()
        except BrokenProcessPool:
            raise MemoryLimitError(
                f"match: one of {self.count} processes ended unexpectedly, perhaps out of memory; use fewer workers"
            ) from None


_WORKER_PAIRS: list[DuplicatePairs] = []  # of this process


def _init_worker(make_agents: AgentFactory, names: tuple[str, str], rules: PokerRules, seed: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent process reports an interruption, not its workers
    _WORKER_PAIRS[:] = [DuplicatePairs(make_agents(), names, rules, seed)]


def _play_batch_in_worker(numbers: Array) -> HandRecords:
    return _WORKER_PAIRS[0].play(numbers)
