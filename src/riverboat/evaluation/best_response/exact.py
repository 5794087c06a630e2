"""Exact best responses to a blueprint in the full game, after Johanson, Waugh, Bowling and Zinkevich (2011).

The responder sees its cards and the board and has perfect recall; the blueprint sees buckets. The exploitability in
the full game is also an upper bound on the exploitability in the abstract game, because a responder that sees only
buckets has fewer strategies. The abstract figure is not computed here: it makes one choice for hands on
many boards, so values would have to be summed over boards before an action is chosen, while this traversal chooses on
each board.

The traversal evaluates the betting once for each board with vectors of hands, and only one board of each class under
suit isomorphism. Its memory does not grow with the number of boards, its time does. Pieces of the traversal run on
threads, over Ray or on a GPU, and are stored on disk, so that a run can be resumed.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, nan
from pathlib import Path
from threading import Event
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.isomorphism import HandIndexer
from riverboat.core import artifacts, files, resources
from riverboat.core.arrays import Array
from riverboat.core.claims import EXACT, Claim
from riverboat.core.errors import InputError, MemoryLimitError, check_threads
from riverboat.core.formatting import format_bytes
from riverboat.engines.devices import CPU, resolve_device
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response.traversal import (
    MAX_WEIGHT_BYTES,
    RESPONDERS,
    SELF_PLAYER,
    Precision,
    ResponsePlan,
    ResponseTraversal,
)
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.cluster.backends import connect_ray
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.blueprint import Blueprint

# --- Pieces of a traversal ---

ARTIFACT_KIND = "piece of a best response"
PieceProgress: TypeAlias = Callable[[int, int], None]  # completed pieces, and their total
_Piece: TypeAlias = tuple[int, Array, Array]  # number, values at the ends of the first street, boards by street


@dataclass(frozen=True)
class BestResponseExecution:
    """Execution options of a best response; none of them changes the result.

    Attributes
    ----------
    threads
        Threads that evaluate boards.
    folder
        Folder where pieces are stored.
    resume
        Whether the folder may contain pieces already.
    cluster
        "local", or the address of a Ray cluster, which replaces threads.
    device
        "cpu" or "cuda": where boards are evaluated.
    progress
        Callback with the completed pieces and their total.

    Examples
    --------
    >>> from riverboat.evaluation.best_response.exact import BestResponseExecution
    >>> BestResponseExecution(threads=2).device
    'cpu'
    """

    threads: int = 1
    folder: Path | None = None  # where pieces are stored
    resume: bool = False  # whether the folder may contain pieces already
    cluster: str | None = None  # local, or the address of a Ray cluster, which replaces threads
    device: str = CPU  # or CUDA: where boards are evaluated
    progress: PieceProgress | None = None


def _evaluate_all_pieces(
    strategy: Blueprint, plan: ResponsePlan, means: BestResponseExecution
) -> tuple[tuple[float, ...], int]:
    """Return the value of each player, in chips per hand, over all boards, and the number of boards visited."""
    traversal_type: type[ResponseTraversal] = ResponseTraversal
    if means.device != CPU:
        from riverboat.evaluation.best_response.cuda import DeviceResponseTraversal

        traversal_type = DeviceResponseTraversal
    traversal = traversal_type(strategy, plan)
    store = None if means.folder is None else _PieceStore(means.folder, means.resume, traversal, strategy)
    pieces = {} if store is None else store.read()
    missing = [number for number in range(traversal.num_pieces) if number not in pieces]
    if means.cluster:
        results = _run_on_ray(strategy, plan, missing, means)
    else:
        results = _run_on_threads(traversal, missing, means.threads)
    for number, values, visited in results:
        if store is not None:
            store.write(number, values, visited)
        pieces[number] = values, visited
        if means.progress is not None:
            means.progress(len(pieces), traversal.num_pieces)
    boards = int(traversal.root.boards_visited.sum() + sum(int(visited.sum()) for _, visited in pieces.values()))
    total = sum((pieces[number][0] for number in range(1, traversal.num_pieces)), pieces[0][0]) if pieces else None
    return traversal.player_values(total), boards


# --- Execution ---


def _run_on_threads(traversal: ResponseTraversal, numbers: Sequence[int], threads: int) -> Iterator[_Piece]:
    stopped = Event()  # set on interruption, so that threads do not finish pieces that take minutes

    def work(number: int) -> _Piece:
        with traversal.borrow_workspace() as workspace:
            return number, *traversal.evaluate_piece(number, workspace, stopped.is_set)

    if threads == 1:
        yield from map(work, numbers)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="riverboat") as pool:
        try:
            for future in as_completed([pool.submit(work, number) for number in numbers]):
                yield future.result()
        finally:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


class _PieceWorker:
    """Ray worker that evaluates pieces."""

    def __init__(self, pickled: bytes) -> None:
        # Pickled by hand: Ray's arrays are read-only, and kernels would be compiled again for them.
        self.traversal = ResponseTraversal(*pickle.loads(pickled))
        self.workspace = self.traversal.make_workspace()

    def evaluate_piece(self, number: int) -> _Piece:
        """Return the number of a piece, its values at the ends of the first street, and its boards by street."""
        return number, *self.traversal.evaluate_piece(number, self.workspace)


def _run_on_ray(
    strategy: Blueprint, plan: ResponsePlan, numbers: Sequence[int], means: BestResponseExecution
) -> Iterator[_Piece]:
    """Evaluate pieces on all processors of a cluster; each worker gets its next piece when it is done with one."""
    ray, started_here = connect_ray(str(means.cluster), means.threads)
    workers: list[Any] = []
    try:
        shipped = ray.put(pickle.dumps((strategy, plan)))
        make = ray.remote(num_cpus=1)(_PieceWorker)
        count = min(len(numbers), int(ray.cluster_resources().get("CPU", 1)))
        workers = [make.remote(shipped) for _ in range(count)]
        queue = deque(numbers)
        running = {worker.evaluate_piece.remote(queue.popleft()): worker for worker in workers}
        while running:
            done, _ = ray.wait(list(running))
            worker = running.pop(done[0])
            piece = ray.get(done[0])
            if queue:
                running[worker.evaluate_piece.remote(queue.popleft())] = worker
            yield piece
    finally:
        for worker in workers:
            ray.kill(worker)
        if started_here:
            ray.shutdown()


# --- Storage ---


class _PieceStore:
    """Pieces in a folder, each an artifact with the fingerprint of its traversal."""

    def __init__(self, folder: Path, resume: bool, traversal: ResponseTraversal, strategy: Blueprint) -> None:
        self.folder, self.traversal, plan = folder, traversal, traversal.plan
        parts = repr((strategy.fingerprint, plan.players, plan.last.pay.dtype.name, traversal.num_pieces))
        parts = parts.replace("ResponsePlayer(", "Player(")  # pieces of earlier releases have the old name
        self.fingerprint = hashlib.sha256(parts.encode()).hexdigest()
        with files.disk_errors(self.folder):
            occupied = self.folder.is_dir() and any(path.name != files.LOCK_FILE for path in self.folder.iterdir())
        if occupied and not resume:
            raise InputError(f"{self.folder}: is not empty; continue with --resume, or choose another folder")
        artifacts.discard_leftovers(self.folder)

    def _piece_folder(self, number: int) -> Path:
        return self.folder / f"piece-{number:03d}"

    def read(self) -> dict[int, tuple[Array, Array]]:
        """Return the stored pieces by number: values at the ends of the first street, and boards visited by street."""
        pieces = {}
        for number in range(self.traversal.num_pieces):
            piece_folder = self._piece_folder(number)
            if not piece_folder.is_dir():
                continue
            facts, arrays = artifacts.read(piece_folder)
            facts.text("kind", (ARTIFACT_KIND,))
            if facts.text("fingerprint") != self.fingerprint:
                raise InputError(f"{piece_folder}: belongs to another strategy; choose another folder")
            shape = len(self.traversal.street_ends), len(self.traversal.cards.held.mask)
            values = arrays.get_checked("gained", ("float64",), shape)
            boards = arrays.get_checked("walked", ("int64",), self.traversal.root.boards_visited.shape)
            pieces[number] = np.array(values), np.array(boards)
        return pieces

    def write(self, number: int, gained: Array, walked: Array) -> None:
        """Store one piece: its values at the ends of the first street, and the boards visited by street."""
        arrays = {"gained": gained, "walked": walked}
        facts = {"fingerprint": self.fingerprint, "pieces": self.traversal.num_pieces}
        artifacts.write(self._piece_folder(number), ARTIFACT_KIND, arrays, facts)


MAX_BYTES = 4 << 30
LONG_SECONDS = 120.0  # seconds of one core: longer runs use float32 on the last street, and skip self-play
# Measured nanoseconds per hand and board on one core. All streets: bucket and rank of the hand. Before the last street:
# each action of the opponent and of the player, each fold and each end of a street. Last street: each batch of
# subtrees, each sequence with a showdown, each other sequence, and each operation of the backup.
_HAND_NS, _OPPONENT_NS, _OWN_NS, _FOLD_NS, _STREET_END_NS = 90.0, 2.0, 0.7, 2.0, 1.5
_BATCH_NS, _SHOWDOWN_NS, _SEQUENCE_NS, _OP_NS = 3.0, 15.0, 10.0, 3.5
_DEVICE_CORES = 100.0  # approximate speed of a GPU, in cores


@dataclass(frozen=True)
class BlueprintQuality(Quality):
    """Quality of a blueprint in the full game, in chips per hand; `mbb_per_game` is in thousandths of a big blind.

    Attributes
    ----------
    best
        Best-response value of each seat.
    values
        Value of the strategy against itself; NaN without self-play.
    total
        Constant sum of the payoffs.
    recalls
        Whether all players have perfect recall.
    big_blind
        Chips of a big blind.
    boards
        Boards visited, over all streets.
    seconds
        Time of the computation.

    Examples
    --------
    >>> from riverboat.evaluation.best_response.exact import BlueprintQuality
    >>> BlueprintQuality((2.0, 1.0), (0.5, -0.5), big_blind=100).mbb_per_game
    15.0
    """

    big_blind: int = 1
    boards: int = 0  # boards visited, over all streets
    seconds: float = 0.0

    @property
    def mbb_per_game(self) -> float:
        """Exploitability in mbb/g: the mean of the best-response values of both seats."""
        return 1000 * self.exploitability / self.big_blind

    @property
    def claim(self) -> Claim:
        """Claim of the exploitability, which is exact in the game with this betting tree."""
        return Claim("exploitability", self.mbb_per_game, "mbb/g", EXACT)


@dataclass(frozen=True)
class BestResponseCost:
    """Estimated cost of a best response.

    Attributes
    ----------
    boards
        Boards by street, up to suit isomorphism.
    bytes
        Bytes of vectors, per thread.
    row_bytes
        Bytes of the weights of one bucket on the last street.
    seconds
        Approximate time on one thread.

    Examples
    --------
    >>> from riverboat.evaluation.best_response.exact import estimate_cost
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> estimate_cost(compile_action_tree(read_game("leduc"))).boards
    (1, 3)
    """

    boards: tuple[int, ...]  # boards by street, up to suit isomorphism
    bytes: int  # bytes of vectors, per thread
    row_bytes: int  # bytes of the weights of one bucket on the last street
    seconds: float  # approximate time on one thread

    def seconds_on(self, device: str, threads: int) -> float:
        """Estimate the seconds on a number of threads, or on a GPU.

        Parameters
        ----------
        device
            "cpu" or "cuda".
        threads
            Threads of the CPU.
        """
        return self.seconds / (min(threads, resources.available_cores()) if device == CPU else _DEVICE_CORES)


def quality(
    strategy: Blueprint,
    threads: int = 1,
    most_minutes: float = 10.0,
    *,
    self_play: bool | None = None,
    means: BestResponseExecution | None = None,
    device: str = CPU,
) -> BlueprintQuality:
    """Compute the best-response values of both seats and the value of the strategy against itself.

    Parameters
    ----------
    strategy
        Blueprint to respond to.
    threads
        Threads that evaluate boards; the result does not depend on it.
    most_minutes
        Limit on the estimated time (`estimate_cost`); a longer computation raises InputError.
    self_play
        Whether to compute the strategy's own value too. Exploitability does not need it, because payoffs sum to zero.
        By default it is skipped if the traversal takes minutes.
    means
        Folder for the pieces, Ray cluster and progress callback; they do not change the result.
    device
        `cuda` evaluates the betting on a GPU while threads deal boards and find buckets; results agree up to rounding.

    Returns
    -------
    BlueprintQuality
        Values in chips per hand; own values are NaN without self-play.

    Raises
    ------
    InputError
        If the computation would take longer than `most_minutes`, or the game is not supported.
    MemoryLimitError
        If the vectors do not fit in memory.

    References
    ----------
    .. [1] Johanson, Waugh, Bowling & Zinkevich, "Accelerating best response calculation in large extensive games",
       IJCAI 2011.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.best_response.exact import quality
    >>> quality(blueprint).exploitability > 0
    True
    """
    check_threads(threads)
    threads = min(threads, resources.available_cores())
    device = resolve_device(device)
    cost = _check_feasible(strategy, threads, most_minutes, device)
    start = time.perf_counter()
    is_long = cost.seconds > LONG_SECONDS
    with_self_play = not is_long if self_play is None else self_play
    players = (*RESPONDERS, SELF_PLAYER) if with_self_play else RESPONDERS
    means = replace(means or BestResponseExecution(), device=device, threads=max(threads, 1 if device == CPU else 2))
    plan = ResponsePlan.build(strategy.tree, players, last_street_dtype(cost))
    (first, second, *own_values), boards = _evaluate_all_pieces(strategy, plan, means)
    values = (own_values[0], -own_values[0]) if own_values else (nan, nan)
    big_blind, seconds = strategy.rules.big_blind, time.perf_counter() - start
    return BlueprintQuality((first, second), values, big_blind=big_blind, boards=boards, seconds=seconds)


def last_street_dtype(cost: BestResponseCost) -> Precision:
    """Return the precision in which the last street is evaluated.

    Parameters
    ----------
    cost
        Estimated cost of the best response.

    Returns
    -------
    type
        `numpy.float32` if it takes more than two minutes on one core, else `numpy.float64`.

    Examples
    --------
    >>> from riverboat.evaluation.best_response.exact import BestResponseCost, last_street_dtype
    >>> last_street_dtype(BestResponseCost((1,), 8, 8, 1.0)).__name__
    'float64'
    """
    return np.float32 if cost.seconds > LONG_SECONDS else np.float64


@lru_cache(maxsize=1)  # training calls it at every evaluation
def estimate_cost(tree: ActionTree) -> BestResponseCost:
    """Estimate the boards, memory and time of a best response.

    Parameters
    ----------
    tree
        Betting tree of the blueprint.

    Returns
    -------
    BestResponseCost
        The estimate.

    Examples
    --------
    >>> from riverboat.evaluation.best_response.exact import estimate_cost
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> estimate_cost(compile_action_tree(read_game("leduc"))).seconds < 1
    True
    """
    rules, plan = tree.rules, ResponsePlan.build(tree, RESPONDERS, np.float32)
    items, last = plan.items, plan.last
    boards, seconds = [], 0.0
    for street in range(rules.rounds):
        rounds = tuple(n for n in rules.board[1 : street + 1] if n)
        boards.append(HandIndexer.for_deck(rules.deck, rounds).size() if rounds else 1)
        hands = comb(len(rules.deck.cards) - rules.board_sizes[street], rules.hole)
        cost = _HAND_NS
        if street == rules.rounds - 1:
            shown, sequences = last.batch[:, 1].sum(), last.batch[:, 2].sum()
            cost += _BATCH_NS * len(last.batch) + _OP_NS * len(last.op)
            cost += _SHOWDOWN_NS * shown + _SEQUENCE_NS * (sequences - shown)
        else:
            street_items = slice(int(items.at[street]), int(items.at[street + 1]))
            kind, moves = items.kind[street_items], items.count[street_items]
            opponent, own = (moves[kind == actor].sum() for actor in (kernels.OPPONENT, kernels.MAXIMIZE))
            cost += _OPPONENT_NS * opponent + _OWN_NS * own
            cost += _FOLD_NS * (kind == kernels.FOLD).sum() + _STREET_END_NS * (kind == kernels.STREET_END).sum()
        seconds += boards[-1] * hands * cost * 1e-9
    return BestResponseCost(tuple(boards), plan.workspace_bytes(0), plan.weight_bytes(1), float(seconds))


def check_memory(strategy: Blueprint, threads: int, cost: BestResponseCost) -> None:
    """Raise MemoryLimitError if a traversal needs too much memory.

    Parameters
    ----------
    strategy
        Blueprint to respond to.
    threads
        Threads that evaluate boards.
    cost
        Estimated cost of the best response.

    Raises
    ------
    MemoryLimitError
        If the vectors of all threads take more than 4 GiB.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.best_response.exact import check_memory, estimate_cost
    >>> check_memory(blueprint, 2, estimate_cost(blueprint.tree))
    """
    rules = strategy.rules
    rows = cost.row_bytes * strategy.buckets[-1]  # shared by all threads, unless they are computed board by board
    lazy = rows > MAX_WEIGHT_BYTES
    thread_bytes = cost.bytes + (cost.row_bytes * rules.deck.num_hands if lazy else 0)
    if thread_bytes * (threads + 1) + (0 if lazy else rows) > MAX_BYTES:
        raise MemoryLimitError(
            f"best response in {rules.name}: vectors of hands for {len(strategy.tree):,} nodes take "
            f"{format_bytes(thread_bytes)} for each of {threads} threads, the limit is {format_bytes(MAX_BYTES)}: "
            "use fewer threads, or measure by duels"
        )


def _check_feasible(strategy: Blueprint, threads: int, most_minutes: float, device: str) -> BestResponseCost:
    rules, cost = strategy.rules, estimate_cost(strategy.tree)
    if rules.board[0]:
        raise InputError(f"{rules.name}: {rules.board[0]} board cards before the first round are not supported")
    check_memory(strategy, threads, cost)
    minutes, device_text = cost.seconds_on(device, threads) / 60, "a GPU" if device != CPU else f"{threads} threads"
    if minutes > most_minutes:
        raise InputError(
            f"best response in {rules.name}: {cost.boards[-1]:,} boards with {len(strategy.tree):,} nodes of betting take "
            f"about {minutes:,.0f} minutes on {device_text}, more than the {most_minutes:g} allowed: "
            "raise most_minutes, or measure by duels"
        )
    return cost
