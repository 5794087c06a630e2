"""Pairs of duplicate hands, played in batches by two agents, in this process or in worker processes.

    hands = DuplicatePairs((first, second), ("a", "b"), rules, seed=0).play(np.arange(1000))

Tables advance together, one action each in turn, so that agents decide in batches. All randomness is keyed: the cards
by the seed and the number of the pair, an agent's draws by its own seed, that number and the position in the line.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from riverboat.agents.base import Agent
from riverboat.compiled.rng import match_key
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.parallel import submit_in_order
from riverboat.evaluation.matches._kernels import match as kernels
from riverboat.evaluation.matches.duel import draw_deals
from riverboat.games.holdem.actions import END_OF_LINE, compact_rules_arrays
from riverboat.games.holdem.betting_rules import FOLDED
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
        rules, seed, book = self.rules, match_key(self.seed), compact_rules_arrays(self.rules)
        runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)  # runs of consecutive numbers
        dealt = [draw_deals(rules, seed, *((int(run[0]), int(run[-1]) + 1) if len(run) else (0, 0))) for run in runs]
        _, cards, result = (np.concatenate(parts) for parts in zip(*dealt, strict=True))
        n = 2 * len(numbers)
        states = np.tile(np.array(rules.compact.start, np.int64), (n, 1))
        moves = np.full((n, _INITIAL_LINE_LENGTH), END_OF_LINE, np.int32)
        tables = kernels.MatchTables(cards, states, moves, np.zeros(n, np.int32))
        active = np.arange(n)
        while len(active):
            if tables.length.max() == tables.moves.shape[1]:
                unused = np.full_like(tables.moves, END_OF_LINE)
                tables = tables._replace(moves=np.concatenate([tables.moves, unused], axis=1))
            actor = tables.states[active, 2] ^ (active & 1)  # in odd hands seat 0 is the second agent's
            for index, agent in enumerate(self.agents):
                chosen = active[actor == index]
                if len(chosen):
                    observations = self._observations(tables, chosen, numbers)
                    actions = _agent_actions(agent, observations)
                    illegal = kernels.apply_actions(book, chosen, actions, tables)
                    if illegal >= 0:
                        raise _illegal_action_error(agent, observations, illegal, int(actions[illegal]))
            active = active[tables.states[active, 8] == 0]
        stakes = states[:, :2].min(axis=1)  # the uncalled part of a bet is returned
        won_after_fold = np.where(states[:, 2] == 0, -stakes, stakes)
        won = np.where(states[:, 8] == FOLDED, won_after_fold, stakes * np.repeat(result, 2))
        number = (2 * numbers[:, None] + np.arange(2)).reshape(-1)
        # The first agent has seat 0 in even hands. If both agents have one name, the second gets a suffix.
        names = self.names if self.names[0] != self.names[1] else (self.names[0], f"{self.names[1]}-2")
        player = np.stack([number % 2, 1 - number % 2], axis=1).astype(np.int32)
        chips = rules.blinds, rules.stacks or (0, 0)
        blinds, stacks = (np.broadcast_to(np.array(each, np.int64), (n, 2)) for each in chips)
        ante, all_cards = np.full(n, rules.ante, np.int64), np.repeat(cards, 2, axis=0)
        lines, won_by_seat = (tables.moves, tables.length), np.stack([won, -won], axis=1)
        return HandRecords(rules, 1, names, player, number, blinds, stacks, ante, all_cards, *lines, won_by_seat)

    def _observations(self, tables: kernels.MatchTables, chosen: Array, numbers: Array) -> Observations:
        """Return the observations of the players to act in the chosen hands; both hands of a pair have its number."""
        n, columns, shown = len(chosen), max(1, int(tables.length[chosen].max())), self.rules.board_sizes
        shapes = (n,), (n, self.rules.hole), (n, shown[-1]), (n, columns), (n,)
        kinds = np.int8, np.uint8, np.uint8, np.int32, np.int32
        parts = [np.empty(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]
        kernels.observe_tables(np.array(shown, np.int64), tables, chosen, *parts)
        return Observations(self.rules, numbers[chosen >> 1], *parts)


def _agent_actions(agent: Agent, observations: Observations) -> Array:
    actions = np.asarray(agent.act(observations))
    if actions.shape != (len(observations),) or actions.dtype.kind not in "iu":
        raise InputError(
            f"agent {agent.name!r} answered {len(observations)} observations with {actions.dtype} {actions.shape}: "
            "must return one integer for each"
        )
    return actions.astype(np.int32, copy=False)


def _illegal_action_error(agent: Agent, observations: Observations, i: int, move: int) -> InputError:
    reason = f"{move} is not an action: fold is -1, call 0, a raise its total"
    try:
        observations.betting(i).apply_action(move)
    except InputError as error:
        reason = str(error)
    return InputError(f"agent {agent.name!r}, {observations.match_state(i)}: {reason}")


# --- Worker processes ---

AgentFactory = Callable[[], tuple[Agent, Agent]]


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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
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
        arguments = self._make_agents, names, rules, seed
        self._pool = ProcessPoolExecutor(self.count, get_context("spawn"), _init_worker, arguments)
        try:
            yield from submit_in_order(self._pool, _play_batch_in_worker, batches, self.count)
        except BrokenProcessPool:
            raise MemoryLimitError(
                f"match: one of {self.count} processes ended unexpectedly, perhaps out of memory; use fewer workers"
            ) from None


_WORKER_PAIRS: list[DuplicatePairs] = []  # one entry in a worker process: the match that it plays


def _init_worker(make_agents: AgentFactory, names: tuple[str, str], rules: PokerRules, seed: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent process reports an interruption, not its workers
    _WORKER_PAIRS[:] = [DuplicatePairs(make_agents(), names, rules, seed)]


def _play_batch_in_worker(numbers: Array) -> HandRecords:
    return _WORKER_PAIRS[0].play(numbers)
