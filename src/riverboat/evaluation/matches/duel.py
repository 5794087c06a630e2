"""Duels: duplicate matches of two blueprints over one betting tree, in one compiled loop.

Every deal is played twice, with the seats exchanged.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.cards.card_abstraction import STREETS
from riverboat.cards.ranking import rank_tables as ranking_tables
from riverboat.compiled.rng import match_key
from riverboat.core import resources
from riverboat.core.arrays import Array
from riverboat.core.claims import ESTIMATE, Claim
from riverboat.core.errors import InputError, check_threads, unknown_name_error
from riverboat.core.parallel import map_in_order
from riverboat.evaluation.confidence_intervals import ConfidenceInterval, SampleSums, Winnings
from riverboat.evaluation.matches._kernels import match as kernels
from riverboat.games.holdem.action_tree import FOLD, ActionTree
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.blueprint import Blueprint

CHUNK_PAIRS = 4096  # pairs per unit of work of a thread
TREE_BASELINE_ACTIONS = ("call", "fold", "raise", "random")


@dataclass(frozen=True)
class DuelResult(Winnings):
    """Winnings of the first of two strategies in a duplicate match.

    Attributes
    ----------
    pairs
        Number of pairs.
    seed
        Seed of the cards.
    big_blind
        Chips of a big blind.
    chips
        Winnings of the first strategy per hand; samples are pairs.
    seconds
        Time of the match.

    Examples
    --------
    >>> from riverboat.evaluation.confidence_intervals import ConfidenceInterval
    >>> from riverboat.evaluation.matches.duel import DuelResult
    >>> DuelResult(50, 0, 100, ConfidenceInterval(1.0, 2.0, 50), 0.1).mbb_per_game
    10.0
    """

    pairs: int
    seed: int
    big_blind: int
    chips: ConfidenceInterval  # winnings of the first strategy per hand; samples are pairs
    seconds: float

    @property
    def hands(self) -> int:
        """Number of hands played."""
        return 2 * self.pairs

    @property
    def bb_per_100(self) -> float:
        """Winnings in big blinds per hundred hands."""
        return self.mbb_per_game / 10

    @property
    def claim(self) -> Claim:
        """Estimate of the first strategy's winnings per hand, in mbb/g."""
        return self._claim("won", ESTIMATE, self.hands, "hands")

    @property
    def hands_per_second(self) -> float:
        """Hands played per second."""
        return self.hands / self.seconds if self.seconds > 0 else 0.0

    def record(self) -> dict[str, float | int]:
        """Return the result as a JSON object, without timings."""
        return {key: getattr(self, key) for key in ("mbb_per_game", "bb_per_100", "ci95", "hands", "pairs", "seed")}

    def __str__(self) -> str:
        return str(self.claim)


def duel(first: Blueprint, second: Blueprint, hands: int = 100_000, seed: int = 0, threads: int = 1) -> DuelResult:
    """Play a duplicate match of two blueprints over one betting tree.

    Card abstractions may differ, betting trees may not. An all-in is decided by the board that was dealt.

    Parameters
    ----------
    first
        Blueprint whose winnings are measured.
    second
        Its opponent.
    hands
        Number of hands, even: they are played in hands / 2 pairs.
    seed
        Seed of the cards.
    threads
        Threads. Results do not depend on it.

    Returns
    -------
    DuelResult
        Winnings of the first, with their confidence interval.

    Raises
    ------
    InputError
        If the rules or betting trees differ, or `hands` is odd or below four.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.matches.duel import baseline_strategy, duel
    >>> strategies = (baseline_strategy(action, blueprint) for action in ("raise", "fold"))
    >>> duel(*strategies, hands=1_000).mbb_per_game > 0
    True
    """
    _check_compatible(first, second)
    if hands < 4 or hands % 2:
        raise InputError(f"hands={hands}: must be an even number, four or more: hands are played in duplicate pairs")
    check_threads(threads)
    pairs, key = hands // 2, match_key(seed)
    tree, sides = played_tree(first.tree), (strategy_tables(first), strategy_tables(second))
    chunks = range(0, pairs, CHUNK_PAIRS)
    out = np.zeros((len(chunks), 2))
    start = time.perf_counter()

    def play(begin: int) -> None:
        deals = _duel_deals(first, second, key, begin, min(begin + CHUNK_PAIRS, pairs))
        node, active = np.zeros((2, 2 * kernels.BLOCK), np.int32)
        workspace = kernels.DuelWorkspace(node, active, np.zeros(kernels.BLOCK, np.int64))
        kernels.play_deals(tree, *sides, deals, workspace, out[begin // CHUNK_PAIRS])

    for _ in map_in_order(play, chunks, min(threads, resources.available_cores())):
        pass
    seconds = time.perf_counter() - start
    total, squares = out.sum(axis=0).tolist()  # in the order of the chunks, so that threads do not change the sum
    won = SampleSums(pairs, total / 2, squares / 4).confidence_interval()
    return DuelResult(pairs, seed, first.rules.big_blind, won, seconds)


def baseline_strategy(action: str, template: Blueprint) -> Blueprint:
    """Build a baseline strategy over the tree and cards of another.

    Parameters
    ----------
    action
        "call", "fold" (check if that is free) and "raise" (the smallest raise of the tree, else call) always take one
        action; "random" draws among all actions of the tree.
    template
        Blueprint with the tree and the cards.

    Returns
    -------
    Blueprint
        The baseline.

    Raises
    ------
    InputError
        If the name is another one.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.matches.duel import baseline_strategy
    >>> int(baseline_strategy("raise", blueprint).average[0].max())
    1
    """
    if action not in TREE_BASELINE_ACTIONS:
        raise unknown_name_error("baseline", action, TREE_BASELINE_ACTIONS)
    tree, counts = template.tree, template.cards.counts
    average = []
    for street, buckets in enumerate(counts[: tree.rules.rounds]):
        row = np.zeros(int(tree.width[street]), np.uint8)
        if action != "random":
            row[_action_slots(tree, street, action)] = 1
        average.append(np.broadcast_to(row, (buckets, len(row))))  # one row in memory for all buckets
    method = action if action == "random" else f"always {action}"
    return Blueprint(template.rules, template.menu, tree, template.cards, tuple(average), {"method": method})


def _action_slots(tree: ActionTree, street: int, move: str) -> Array:
    """Return the table columns (slots) of the action that a baseline takes at each decision. int64 [decisions]"""
    nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
    # Actions are in the order fold, call, raises; a call always exists.
    call = (tree.kind[tree.first[nodes]] == FOLD).astype(np.int64)
    raises = np.where(tree.count[nodes] > call + 1, call + 1, call)
    return np.asarray(tree.slot[nodes] + {"fold": 0, "call": call, "raise": raises}[move], np.int64)


def _check_compatible(first: Blueprint, second: Blueprint) -> None:
    if first.rules != second.rules:
        raise InputError(
            f"duel: the first plays {first.rules.name!r} and the second {second.rules.name!r}, which have different rules"
        )
    if 0 in first.rules.board[1:]:
        raise InputError(
            f"duel: {first.rules.name!r} deals {first.rules.board} board cards: each later round must deal one or more"
        )
    if first.tree is not second.tree and first.tree.fingerprint != second.tree.fingerprint:
        raise InputError(
            f"duel: betting trees of {len(first.tree):,} and {len(second.tree):,} nodes with different actions; a duel needs "
            "one tree for both: play a match between agents instead, which translate bets"
        )


def draw_deals(rules: PokerRules, seed: np.uint64, begin: int, end: int) -> tuple[Array, Array, Array]:
    """Draw deals begin … end - 1 of a match, each by its own key.

    Parameters
    ----------
    rules
        The game.
    seed
        Seed of all deals.
    begin, end
        Range of deals.

    Returns
    -------
    tuple of array
        Keys, uint64 [deals]; cards, uint8 [deals, 2 hands and board]; and 1 where seat 0 wins a showdown, -1 where it
        loses, int8 [deals].

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.evaluation.matches.duel import draw_deals
    >>> from riverboat.games.holdem.rules import read_game
    >>> draw_deals(read_game("leduc"), np.uint64(0), 0, 5)[1].shape
    (5, 3)
    """
    board, count = rules.board_sizes[-1], end - begin
    dealer = kernels.MatchDealer(rules.deck.cards, ranking_tables(rules.hole + board), rules.hole, board)
    keys, result = np.empty(count, np.uint64), np.empty(count, np.int8)
    cards = np.empty((count, 2 * rules.hole + board), np.uint8)
    kernels.draw_deals(dealer, seed, begin, keys, cards.reshape(-1), result)
    return keys, cards, result


def played_tree(tree: ActionTree) -> kernels.PlayedTree:
    """Return the arrays of a betting tree for loops that play to its terminals.

    Parameters
    ----------
    tree
        The tree.

    Returns
    -------
    PlayedTree
        Its arrays.

    Examples
    --------
    >>> from riverboat.evaluation.matches.duel import played_tree
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> played_tree(compile_action_tree(read_game("leduc"))).actor.dtype.name
    'int8'
    """
    return kernels.PlayedTree(*(getattr(tree, name) for name in kernels.PlayedTree._fields))


def strategy_tables(strategy: Blueprint) -> kernels.StrategyTables:
    """Return the tables of a strategy in the layout of compiled loops; contiguous tables are not copied.

    Parameters
    ----------
    strategy
        The blueprint.

    Returns
    -------
    StrategyTables
        Flat tables, one per street, and the strides between buckets.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> blueprint = tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc")))
    >>> from riverboat.evaluation.matches.duel import strategy_tables
    >>> strategy_tables(blueprint).stride.tolist() == [table.shape[1] for table in blueprint.average]
    True
    """
    tables = [(table, table.strides[0] == 0) for table in strategy.average]  # shared: one row for all buckets
    flat = [np.array(table[0]) if shared else np.ascontiguousarray(table).reshape(-1) for table, shared in tables]
    stride = [0 if shared else table.shape[1] for table, shared in tables]
    # The tuple has the same length for every game, since that is part of the compiled type.
    flat += flat[-1:] * (len(STREETS) - len(flat))
    return kernels.StrategyTables(tuple(flat), np.array(stride, np.int64))


def _duel_deals(first: Blueprint, second: Blueprint, seed: np.uint64, begin: int, end: int) -> kernels.DuelDeals:
    """Deal pairs begin … end - 1 of a match, and look up their buckets."""
    keys, cards, result = draw_deals(first.rules, seed, begin, end)
    buckets = second_buckets = first.cards.buckets(cards, 2, check=False)
    if first.cards is not second.cards and first.cards.fingerprint != second.cards.fingerprint:
        second_buckets = second.cards.buckets(cards, 2, check=False)
    return kernels.DuelDeals(keys, cards, result, buckets, second_buckets)
