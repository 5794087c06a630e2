"""How much a best response wins against a blueprint, in the real game.

The responder sees its cards and the board and remembers everything; the blueprint sees buckets. This is the figure that
counts at a table. It is also an upper bound on exploitability inside the abstract game: whoever sees buckets alone, even with
a memory for all of them, has fewer responses to choose from. That smaller figure is not given here: a responder who sees
buckets must make one choice for hands on many boards, so values would have to be summed over boards before a move is chosen,
while the walk here chooses on each board.

The walk is that of Johanson, Waugh, Bowling & Zinkevich (2011): the betting once for each board, with vectors of hands, and
boards that suits cannot tell apart only once. It needs no memory for boards, but time for all of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, nan
from typing import Any

import numpy as np

from riverboat.cards.isomorphism import Indexer
from riverboat.core import cores
from riverboat.core.claims import EXACT, Claim
from riverboat.core.errors import InputError, MemoryLimitError, check_threads
from riverboat.core.formatting import show_bytes
from riverboat.engines.devices import CPU, choose
from riverboat.evaluation.best_response._kernels import traversal as kernels
from riverboat.evaluation.best_response.layout import ITSELF, RESPONDERS
from riverboat.evaluation.best_response.pieces import Means, walk_all
from riverboat.evaluation.best_response.traversal import ROWS_BYTES, Plan
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.blueprint import BlueprintStrategy

MOST_BYTES = 4 << 30
LONG = 120.0  # seconds of one core: what takes longer is walked in float32 on the last street, and without self-play
# Measured nanoseconds for one hand on one board, on one core: to find its bucket and to rank it; before the last street for
# each move of the opponent's decisions and of one's own, for each fold and exit; on it for a batch of subtrees, for a
# sequence that meets a showdown, for one that does not, and for an operation on the way up.
_HAND, _OTHER, _OWN, _FOLD, _EXIT = 90.0, 2.0, 0.7, 2.0, 1.5
_BATCH, _SHOWN, _FOLDED, _OP = 3.0, 15.0, 10.0, 3.5
_DEVICE = 100.0  # cores that a GPU stands for, about


@dataclass(frozen=True)
class RealQuality(Quality):
    """How good a blueprint is in the real game, in chips a hand; `mbb_per_game` in thousandths of a big blind."""

    big_blind: int = 1
    boards: int = 0  # walked, of all streets
    seconds: float = 0.0

    @property
    def mbb_per_game(self) -> float:
        """Exploitability: what best responses win, the mean of both seats."""
        return 1000 * self.exploitability / self.big_blind

    @property
    def claim(self) -> Claim:
        """The same with what it is: exact in the game with this betting tree."""
        return Claim("exploitability", self.mbb_per_game, "mbb/g", EXACT)


@dataclass(frozen=True)
class Work:
    """What a best response needs."""

    boards: tuple[int, ...]  # by street, up to the names of suits
    bytes: int  # of vectors, for each thread
    row_bytes: int  # of the weights of one bucket on the last street
    seconds: float  # roughly, on one thread

    def on(self, device: str, threads: int) -> float:
        """Seconds, roughly, on so many threads or on a GPU."""
        return self.seconds / (min(threads, cores.available_cores()) if device == CPU else _DEVICE)


def quality(
    strategy: BlueprintStrategy,
    threads: int = 1,
    most_minutes: float = 10.0,
    *,
    self_play: bool | None = None,
    means: Means | None = None,
    device: str = CPU,
) -> RealQuality:
    """Best-response values of both seats and the value of the strategy against itself.

    Refused where it would take more than `most_minutes`, by `estimate`. The result does not depend on the number of threads,
    nor on `means`: a folder in which pieces are kept, a cluster, a callback. On a GPU (`device`) the betting is walked,
    while threads deal boards and find buckets; the result is the same to rounding.
    Without `self_play` the strategy's own value is not known, and exploitability needs none: pay-offs sum to zero. By default
    it is left out where the walk takes minutes.
    """
    check_threads(threads)
    threads = min(threads, cores.available_cores())
    device = choose(device)
    work = _check(strategy, threads, most_minutes, device)
    start = time.perf_counter()
    long = work.seconds > LONG
    both = not long if self_play is None else self_play
    players = (*RESPONDERS, ITSELF) if both else RESPONDERS
    means = replace(means or Means(), threads=threads if device == CPU else max(2, threads), device=device)
    (first, second, *own), boards = walk_all(strategy, players, number_type(work), means)
    return RealQuality(
        (first, second),
        (own[0], -own[0]) if own else (nan, nan),
        big_blind=strategy.rules.big_blind,
        boards=boards,
        seconds=time.perf_counter() - start,
    )


def number_type(work: Work) -> type[np.floating[Any]]:
    """In which the last street is walked."""
    return np.float32 if work.seconds > LONG else np.float64


@lru_cache(maxsize=1)  # training asks at every check
def estimate(tree: ActionTree) -> Work:
    """How many boards a best response walks, and what that takes."""
    rules, plan = tree.rules, Plan.of(tree, RESPONDERS, np.float32)
    items, last = plan.items, plan.last
    boards, seconds = [], 0.0
    for street in range(rules.rounds):
        rounds = tuple(n for n in rules.board[1 : street + 1] if n)
        boards.append(Indexer.for_deck(rules.deck, rounds).size() if rounds else 1)
        hands = comb(len(rules.deck.cards) - rules.board_sizes[street], rules.hole)
        cost = _HAND
        if street == rules.rounds - 1:
            shown, every = last.batch[:, 1].sum(), last.batch[:, 2].sum()
            cost += _BATCH * len(last.batch) + _SHOWN * shown + _FOLDED * (every - shown) + _OP * len(last.op)
        else:
            here = slice(int(items.at[street]), int(items.at[street + 1]))
            kind, moves = items.kind[here], items.count[here]
            cost += sum(each * moves[kind == k].sum() for k, each in ((kernels.OTHER, _OTHER), (kernels.OWN, _OWN)))
            cost += sum(each * (kind == k).sum() for k, each in ((kernels.FOLD, _FOLD), (kernels.EXIT, _EXIT)))
        seconds += boards[-1] * hands * cost * 1e-9
    return Work(tuple(boards), plan.room_bytes(0), plan.rows_bytes(1), float(seconds))


def check_memory(strategy: BlueprintStrategy, threads: int, work: Work) -> None:
    """Refuse a walk that needs too much."""
    rules = strategy.rules
    rows = work.row_bytes * strategy.buckets[-1]  # shared by all threads, where they are not made board by board
    lazy = rows > ROWS_BYTES
    each = work.bytes + (work.row_bytes * rules.deck.hand_count if lazy else 0)
    if each * (threads + 1) + (0 if lazy else rows) > MOST_BYTES:
        raise MemoryLimitError(
            f"best response in {rules.name}: vectors of hands for {len(strategy.tree):,} nodes take "
            f"{show_bytes(each)} for each of {threads} threads, {show_bytes(MOST_BYTES)} are allowed: "
            "take fewer threads, or measure by duels"
        )


def _check(strategy: BlueprintStrategy, threads: int, most_minutes: float, device: str) -> Work:
    rules, work = strategy.rules, estimate(strategy.tree)
    if rules.board[0]:
        raise InputError(f"{rules.name}: {rules.board[0]} board cards before the first round: none can be there")
    check_memory(strategy, threads, work)
    minutes, whose = work.on(device, threads) / 60, "a GPU" if device != CPU else f"{threads} threads"
    if minutes > most_minutes:
        raise InputError(
            f"best response in {rules.name}: {work.boards[-1]:,} boards with {len(strategy.tree):,} nodes of betting take "
            f"about {minutes:,.0f} minutes on {whose}, more than the {most_minutes:g} allowed: "
            "raise most_minutes, or measure by duels"
        )
    return work
