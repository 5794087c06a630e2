"""Sampled lower bounds on the exploitability of a blueprint, for games with too many boards for an exact best response.

A fixed response is evaluated on random complete boards, each with all hands of both players. Before the last street
it plays by the blueprint's own buckets: for each bucket the action that was best on *other* boards. On the last
street, where no chance is left, it takes the best action of every hand, knowing the board. This is one strategy of
many, so its winnings are at most those of a best response. The mean over random boards is unbiased, with an interval
over boards.

`abstract_lower_bound` evaluates a response of the abstract game, which sees buckets on the last street too. The
difference between the two shows how much the buckets hide.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from riverboat.core import resources
from riverboat.core.arrays import Array
from riverboat.core.claims import LOWER, Claim
from riverboat.core.errors import InputError, check_threads
from riverboat.core.parallel import map_in_order
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response._kernels.last_street import add_terminal_values
from riverboat.evaluation.best_response.exact import PieceProgress, check_memory, estimate_cost, last_street_dtype
from riverboat.evaluation.best_response.traversal import (
    Precision,
    ResponsePlan,
    ResponsePlayer,
    ResponseTraversal,
    nodes_of_street,
)
from riverboat.evaluation.confidence_intervals import ConfidenceInterval, Winnings, mean_interval
from riverboat.evaluation.matches.duel import DuelResult, duel
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.blueprint import Blueprint

# --- Responses by buckets, fitted on random boards ---

# Both play the fitted table before the last street. On it, real responders take the best action of each hand, abstract
# ones play the table too.
REAL_RESPONDERS = tuple(ResponsePlayer(seat, kernels.FOLLOW_STRATEGY, kernels.MAXIMIZE) for seat in (0, 1))
ABSTRACT_RESPONDERS = tuple(player._replace(last=kernels.FOLLOW_STRATEGY) for player in REAL_RESPONDERS)
CHUNK_BOARDS = 32  # boards per unit of work of a thread


def draw_boards(rules: PokerRules, count: int, seed: int, stream: int) -> Array:
    """Draw complete boards at random, street by street.

    Parameters
    ----------
    rules
        The game.
    count
        Number of boards.
    seed
        Seed of the boards.
    stream
        Number of the stream; streams of one seed are independent.

    Returns
    -------
    array
        uint8 [count, cards]

    Examples
    --------
    >>> from riverboat.evaluation.best_response.lower_bound import draw_boards
    >>> from riverboat.games.holdem.rules import read_game
    >>> draw_boards(read_game("leduc"), 4, seed=0, stream=0).shape
    (4, 1)
    """
    rng = np.random.default_rng([seed, stream])
    size, deck = rules.board_sizes[-1], rules.deck.cards
    boards: Array = deck[np.argsort(rng.random((count, len(deck))), axis=1)[:, :size]]
    for low, high in zip((0, *rules.board_sizes[:-1]), rules.board_sizes, strict=True):
        boards[:, low:high] = np.sort(boards[:, low:high], axis=1)
    return np.ascontiguousarray(boards)


@dataclass(frozen=True)
class BoardSampling:
    """Options for drawing random boards and evaluating them.

    Attributes
    ----------
    seed
        Seed of the boards.
    threads
        Threads. Results do not depend on it.
    dtype
        Precision on the last street.
    on_boards_done
        Callback with the number of boards of each completed chunk.

    Examples
    --------
    >>> from riverboat.evaluation.best_response.lower_bound import BoardSampling
    >>> BoardSampling(seed=1).threads
    1
    """

    seed: int = 0
    threads: int = 1
    dtype: Precision = np.float64
    on_boards_done: Callable[[int], None] | None = None


DEFAULT_SAMPLING = BoardSampling()
# (sums of a chunk, index of the board in the chunk, workspace, values at the ends of the first street)
AddBoard: TypeAlias = Callable[[Array, int, kernels.ResponseWorkspace, Array], None]


def _sums_by_chunk(
    traversal: ResponseTraversal, boards: Array, sampling: BoardSampling, new_sums: Callable[[], Array], add: AddBoard
) -> Iterator[tuple[int, Array]]:
    """Evaluate boards one by one, in chunks; yield the number of boards of each chunk and its sums, in order.

    `add` gets the sums of the chunk (an array of `new_sums`), the index of a board in the chunk, the workspace after
    the board's traversal, and the values at the ends of the first street.
    """
    multiplicity, groups = np.array([traversal.cards.deals[1]]), np.ones(1, np.int64)

    def work(low: int) -> tuple[int, Array]:
        high, sums = min(low + CHUNK_BOARDS, len(boards)), new_sums()
        with traversal.borrow_workspace() as workspace:
            for i in range(low, high):
                values = traversal.evaluate_boards(workspace, boards[i : i + 1], multiplicity, groups)
                add(sums, i - low, workspace, values)
        return high - low, sums

    for count, sums in map_in_order(work, range(0, len(boards), CHUNK_BOARDS), sampling.threads):
        yield count, sums
        if sampling.on_boards_done is not None:
            sampling.on_boards_done(count)


def fit_response(
    strategy: Blueprint, boards: int | Array, sampling: BoardSampling = DEFAULT_SAMPLING, *, abstract: bool = False
) -> Blueprint:
    """Fit a response by buckets: for each bucket the action that was best on sampled boards of each street.

    Parameters
    ----------
    strategy
        Blueprint to respond to.
    boards
        Number of boards to draw for each street, or an array of boards that is used for all streets.
    sampling
        Seed, threads, precision and callback.
    abstract
        Whether it responds in the abstract game, by buckets on the last street too. Otherwise its table on the last
        street is the strategy's, and the player takes the best action of every hand there.

    Returns
    -------
    Blueprint
        The response.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.best_response.lower_bound import fit_response
    >>> fit_response(blueprint, 8).buckets
    (3, 15)
    """
    response, last = strategy, strategy.rules.rounds - 1
    plan = ResponsePlan.build(strategy.tree, ABSTRACT_RESPONDERS if abstract else REAL_RESPONDERS, sampling.dtype)
    for street in range(last if abstract else last - 1, -1, -1):
        drawn = (
            boards if isinstance(boards, np.ndarray) else draw_boards(strategy.rules, boards, sampling.seed, street + 1)
        )
        traversal = ResponseTraversal(strategy, plan, response)
        values_type: type[_LastStreetValues | _StreetValues] = _LastStreetValues if street == last else _StreetValues
        values = values_type(traversal, street, strategy.buckets[street])
        for _, sums in _sums_by_chunk(traversal, drawn, sampling, values.new_sums, values.add):
            values.sums += sums
        table = np.array(strategy.average[street])
        for seat in (0, 1):
            _write_best_actions(strategy.tree, street, seat, values.at_ends(seat), table)
        response = replace(response, average=(*response.average[:street], table, *response.average[street + 1 :]))
    return response


class _StreetValues:
    """Values at the folds and street ends of a street by bucket of the responder's hand, summed over boards."""

    def __init__(self, traversal: ResponseTraversal, street: int, buckets: int) -> None:
        self.traversal, self.street, items = traversal, street, traversal.items
        self.nodes = nodes_of_street(traversal.plan.tree, street)
        street_items = np.arange(items.at[street], items.at[street + 1])
        self.ends = street_items[items.kind[street_items] >= kernels.FOLD]
        self.street_ends = self.ends[items.kind[self.ends] == kernels.STREET_END]
        self.sums = np.zeros((len(self.ends), buckets))

    def new_sums(self) -> Array:
        """Return zeros for the sums of a chunk."""
        return np.zeros_like(self.sums)

    def add(self, sums: Array, _: int, workspace: kernels.ResponseWorkspace, gained: Array) -> None:
        """Add the values on one board to the sums of its chunk (see `AddBoard`)."""
        if self.street == 0:  # unlike folds, not yet weighted by the probability of a board
            workspace.value[self.street_ends] *= self.traversal.cards.chance[1]
        kernels.add_by_bucket(self.ends, self.traversal.items.reach, workspace, self.street, sums)

    def at_ends(self, seat: int) -> dict[int, Array]:
        """Return the values of a seat by tree node (folds and street ends). float64 [buckets] each"""
        player, item = np.divmod(self.ends - self.traversal.items.at[self.street], len(self.nodes))
        return {int(self.nodes[item[k]]): self.sums[k] for k in np.flatnonzero(player == seat)}


class _LastStreetValues:
    """Values at the terminals of the last street by bucket of the responder's hand, summed over boards."""

    def __init__(self, traversal: ResponseTraversal, street: int, buckets: int) -> None:
        self.traversal, self.street = traversal, street
        # rows of terminals, buckets, SIMD lanes
        self.shape = (len(traversal.plan.ends.seat), buckets, traversal.last.entry.shape[1])
        self.sums = np.zeros(self.shape)

    def new_sums(self) -> Array:
        """Return zeros for the sums of a chunk."""
        return np.zeros(self.shape, self.traversal.last.pay.dtype)

    def add(self, sums: Array, _: int, workspace: kernels.ResponseWorkspace, gained: Array) -> None:
        """Add the values on one board to the sums of its chunk (see `AddBoard`)."""
        add_terminal_values(self.traversal.cards, self.traversal.last, workspace, sums.reshape(-1))

    def at_ends(self, seat: int) -> dict[int, Array]:
        """Return the values of a seat by terminal node. float64 [buckets] each"""
        ends = self.traversal.plan.ends
        rows, lanes = np.nonzero((ends.seat == seat)[:, None] & (ends.node >= 0))
        return {int(ends.node[row, lane]): self.sums[row, :, lane] for row, lane in zip(rows, lanes, strict=True)}


def _write_best_actions(tree: ActionTree, street: int, seat: int, value: dict[int, Array], table: Array) -> None:
    """Write the best actions of a seat on a street to a table; buckets without samples keep theirs.

    `value` has the values at the ends of the street, by node and bucket; those of its decisions are added.
    """
    decisions = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
    for node in reversed(decisions.tolist()):  # children come after parents
        child_values = np.stack([value[child] for child in tree.children(node)])
        if tree.actor[node] != seat:
            value[node] = child_values.sum(axis=0)
            continue
        count, slot, sampled = len(child_values), int(tree.slot[node]), (child_values != 0).any(axis=0)
        best = np.zeros((len(table), count), table.dtype)
        best[np.arange(len(best)), child_values.argmax(axis=0)] = 1
        table[sampled, slot : slot + count] = best[sampled]
        value[node] = child_values.max(axis=0)


DEFAULT_BOARDS = 10_000
DEFAULT_HANDS = 4_000_000  # hands to evaluate a response of the abstract game


@dataclass(frozen=True)
class LowerBound(Winnings):
    """Estimated lower bound on exploitability: the winnings of a fixed response, with their interval.

    Attributes
    ----------
    chips
        Winnings per hand, the mean of both seats; samples are boards.
    by_seat
        Winnings of the response in each seat.
    boards
        Boards on which the response was evaluated.
    fitting_boards
        Other boards, on which it was fitted.
    seed
        Seed of the boards.
    big_blind
        Chips of a big blind.
    seconds
        Time of the computation.

    Examples
    --------
    >>> from riverboat.evaluation.best_response.lower_bound import LowerBound
    >>> from riverboat.evaluation.confidence_intervals import ConfidenceInterval
    >>> LowerBound(ConfidenceInterval(1.0, 0.5, 10), (1.0, 1.0), 10, 5, 0, 100, 0.1).mbb_per_game
    10.0
    """

    chips: ConfidenceInterval  # per hand, the mean of both seats; samples are boards
    by_seat: tuple[float, float]  # winnings of the response in each seat
    boards: int  # boards on which the response was evaluated
    fitting_boards: int  # other boards, on which it was fitted
    seed: int
    big_blind: int
    seconds: float

    @property
    def claim(self) -> Claim:
        """Lower bound on the strategy's exploitability."""
        return self._claim("exploitability", LOWER, self.boards, "boards")


def lower_bound(
    strategy: Blueprint,
    boards: int = DEFAULT_BOARDS,
    *,
    fitting_boards: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: PieceProgress | None = None,
) -> LowerBound:
    """Fit a response on sampled boards and evaluate it on others.

    Parameters
    ----------
    strategy
        Blueprint to respond to.
    boards
        Boards on which the response is evaluated.
    fitting_boards
        Boards on which it is fitted, for each street before the last; by default a tenth of `boards`.
    seed
        Seed of the boards.
    threads
        Threads; the result does not depend on it.
    progress
        Callback with the completed boards and their total.

    Returns
    -------
    LowerBound
        Estimated lower bound on exploitability.

    Raises
    ------
    InputError
        If there are fewer than two boards, or the game deals none.
    MemoryLimitError
        If the vectors do not fit in memory.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.best_response.lower_bound import lower_bound
    >>> lower_bound(blueprint, 32).mbb_per_game > 0
    True
    """
    start, per_street = time.perf_counter(), max(1, boards // 10) if fitting_boards is None else fitting_boards
    streets = strategy.rules.rounds - 1
    sampling = _board_sampling(strategy, boards, streets * per_street + boards, seed, threads, progress)
    seats = evaluate_response(strategy, fit_response(strategy, per_street, sampling), boards, sampling)
    by_seat = float(seats[:, 0].mean()), float(seats[:, 1].mean())
    facts = boards, streets * per_street, seed, strategy.rules.big_blind, time.perf_counter() - start
    return LowerBound(mean_interval(seats.mean(axis=1)), by_seat, *facts)


def abstract_lower_bound(
    strategy: Blueprint,
    boards: int = DEFAULT_BOARDS // 20,
    *,
    hands: int = DEFAULT_HANDS,
    seed: int = 0,
    threads: int = 1,
    progress: PieceProgress | None = None,
) -> DuelResult:
    """Estimate the winnings of a response of the abstract game.

    The response is fitted by buckets, then played hand by hand. The result is a lower bound on exploitability in the
    abstract game, also with imperfect recall, where no exact figure can be computed.

    Parameters
    ----------
    strategy
        Blueprint to respond to.
    boards
        Boards on which the response is fitted, for each street.
    hands
        Hands that are played.
    seed
        Seed of boards and hands.
    threads
        Threads; the result does not depend on it.
    progress
        Callback with the completed boards and their total.

    Returns
    -------
    DuelResult
        Winnings of the response.

    Raises
    ------
    InputError
        If there are fewer than two boards, or the game deals none.
    MemoryLimitError
        If the vectors do not fit in memory.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.best_response.lower_bound import abstract_lower_bound
    >>> abstract_lower_bound(blueprint, 32, hands=1_000).hands
    1000
    """
    sampling = _board_sampling(strategy, boards, strategy.rules.rounds * boards, seed, threads, progress)
    response = fit_response(strategy, boards, sampling, abstract=True)
    return duel(response, strategy, hands, seed, threads)


def _board_sampling(
    strategy: Blueprint, boards: int, total: int, seed: int, threads: int, progress: PieceProgress | None
) -> BoardSampling:
    """Check the sample size, threads and memory; return the options for fitting and evaluating a response.

    `total` is the number of boards of both steps, for `progress`.
    """
    check_threads(threads)
    rules = strategy.rules
    if boards < 2:
        raise InputError(f"{boards} boards: must be at least 2 for an interval")
    if rules.rounds < 2 or rules.board[0] or not any(rules.board):
        raise InputError(f"{rules.name}: deals no boards, so there is nothing to sample; compute the exact figure")
    cost, threads, done = estimate_cost(strategy.tree), min(threads, resources.available_cores()), 0
    check_memory(strategy, threads, cost)

    def report(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    return BoardSampling(seed, threads, last_street_dtype(cost), report)


def evaluate_response(
    strategy: Blueprint, response: Blueprint, boards: int | Array, sampling: BoardSampling = DEFAULT_SAMPLING
) -> Array:
    """Return the winnings of a response in each seat on each board.

    Before the last street the response plays its own table, on the last street the best action of every hand. Each
    board is scaled to represent all of them, so the mean is the value in the game.

    Parameters
    ----------
    strategy
        Blueprint to respond to.
    response
        Response over the same tree and cards.
    boards
        Number of boards to draw, or an array of boards.
    sampling
        Seed, threads, precision and callback.

    Returns
    -------
    array
        Chips per hand. float64 [boards, 2]

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.best_response.lower_bound import evaluate_response
    >>> evaluate_response(blueprint, blueprint, 8).shape
    (8, 2)
    """
    board_array = boards if isinstance(boards, np.ndarray) else draw_boards(strategy.rules, boards, sampling.seed, 0)
    plan = ResponsePlan.build(strategy.tree, REAL_RESPONDERS, sampling.dtype)
    traversal = ResponseTraversal(strategy, plan, response)
    before_boards = np.zeros((len(traversal.street_ends), len(traversal.cards.held.mask)))
    fold_values = np.array(traversal.player_values(before_boards))
    half = len(traversal.street_ends) // 2
    own_reach = [_own_reach(traversal, response, player.seat) for player in REAL_RESPONDERS]
    scale = float(traversal.cards.chance[1]) / traversal.num_hand_pairs

    def add(won: Array, i: int, workspace: kernels.ResponseWorkspace, values: Array) -> None:
        for seat in (0, 1):
            won[i, seat] = scale * float((own_reach[seat] * values[seat * half : (seat + 1) * half]).sum())

    chunks = _sums_by_chunk(traversal, board_array, sampling, lambda: np.zeros((CHUNK_BOARDS, 2)), add)
    return np.asarray(np.concatenate([sums[:count] for count, sums in chunks]) + fold_values)


def _own_reach(traversal: ResponseTraversal, response: Blueprint, seat: int) -> Array:
    """Return the reach of a seat's own actions at the ends of the first street, by hand. float64 [ends, hands]"""
    tree, hands = response.tree, len(traversal.cards.held.mask)
    bucket = traversal.root.bucket[0, :hands]
    reach, street_ends = {0: np.ones(hands)}, []
    for node in range(len(tree)):  # parents come before children
        if node not in reach:
            continue
        if tree.actor[node] < 0 or tree.street[node] > 0:
            if tree.actor[node] >= 0 or tree.showdown[node]:
                street_ends.append(reach[node])
            continue
        probabilities = response.probabilities(node, bucket) if tree.actor[node] == seat else None
        for a, child in enumerate(tree.children(node)):
            reach[child] = reach[node] if probabilities is None else reach[node] * probabilities[:, a]
    return np.array(street_ends)
