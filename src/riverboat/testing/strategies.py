"""Contract suite for strategies."""

from __future__ import annotations

from itertools import islice

import numpy as np

from riverboat.core.arguments import PositiveCount, checked
from riverboat.games.base import Array
from riverboat.strategies.mapping import unwrap
from riverboat.strategies.profiles import StrategyLike, as_strategy
from riverboat.strategies.tabular import Strategy
from riverboat.testing.failures import TOLERANCE, fail, report_location
from riverboat.trees.public import PublicTree


@checked
def check_strategy(strategy: StrategyLike, *, names: PositiveCount = 2000) -> None:
    """Check the invariants of a strategy; raise AssertionError if one is violated.

    Parameters
    ----------
    strategy
        Strategy to check, or a result that has one.
    names
        Number of information sets whose names are checked, about, in large trees.

    Raises
    ------
    AssertionError
        If the strategy breaks the contract; the message says where, what, and what was expected.

    Notes
    -----
    - The table has one number for each action of each information set; it is read-only, and so is the provenance.
    - At every information set that some deal can reach, the probabilities are non-negative and sum to one.
    - There are as many information sets as `len` says, their names differ, and each name leads back to its own
      information set through `tree.infoset` and `strategy[name]`.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> check_strategy(Strategy.uniform(compile_game(kuhn())))
    """
    strategy = unwrap(strategy)
    if not isinstance(strategy, Strategy):
        strategy = as_strategy(strategy)
    where = f"strategy for {strategy.tree.name}"
    _check_read_only(strategy, where)
    _check_rows(strategy, where)
    _check_names(strategy, where, names)


def _check_read_only(strategy: Strategy, where: str) -> None:
    table, size = strategy.probabilities, strategy.tree.table_size
    if table.shape != (size,):
        fail(where, f"probabilities of shape {table.shape}", f"({size},), the size of the tree's table")
    if table.flags.writeable:
        fail(where, "probabilities can be overwritten", "a read-only array")
    if hasattr(strategy.provenance, "__setitem__"):
        fail(where, f"provenance is a {type(strategy.provenance).__name__}", "a read-only mapping")


def _check_rows(strategy: Strategy, where: str) -> None:
    """Check that every row is a distribution, all at once; names are looked up only for messages of failures."""
    tree = strategy.tree
    if isinstance(tree, PublicTree):
        for player, rows in enumerate(tree.player_tables(strategy.probabilities)):
            nodes = np.flatnonzero(tree.nodes.actor == player)
            live = tree.possible_hands[player][tree.board_of_node[nodes]]
            for block, hand in _invalid_blocks(rows, tree.nodes.data[nodes], live):
                node, first = nodes[block], tree.nodes.data[nodes[block]]
                name = f"{tree.hands[player][hand]}:{tree.line(int(node))}"
                _fail_row(rows[first : first + tree.nodes.width[node], hand], name, where)
    else:
        rows = tree.player_tables(strategy.probabilities)[0]
        for block, _ in _invalid_blocks(rows, tree.offsets, np.ones((len(tree.offsets), 1), bool)):
            first = tree.offsets[block]
            infoset = next(islice(tree.infosets(), int(block), None))
            _fail_row(rows[first : first + tree.action_counts[block], 0], infoset.name, where)


def _invalid_blocks(rows: Array, starts: Array, live: Array) -> Array:
    """Return block and hand of all information sets whose probabilities are no distribution. int64 [wrong, 2]

    Block i is rows[starts[i] : starts[i + 1]], the actions of a decision; `live` marks its possible hands.
    """
    if not len(starts):
        return np.zeros((0, 2), np.int64)
    sums, lowest = np.add.reduceat(rows, starts), np.minimum.reduceat(rows, starts)
    good = (np.abs(sums - 1) <= TOLERANCE) & (lowest >= 0)  # never true for NaN
    return np.argwhere(live & ~good)


def _fail_row(row: Array, name: str, where: str) -> None:
    what = f"information set {name!r} has probabilities {row.tolist()}"
    if np.all(np.isfinite(row)) and row.min() >= 0:
        what += f", which sum to {row.sum():g}"
    fail(where, what, "numbers of at least 0 that sum to one")


def _check_names(strategy: Strategy, where: str, names: int) -> None:
    tree = strategy.tree
    every = max(1, tree.infoset_count // max(1, names))
    seen: set[str] = set()
    count = 0
    for count, infoset in enumerate(tree.infosets(), start=1):
        if (count - 1) % every:
            continue
        name = infoset.name
        if name in seen:
            fail(where, f"two information sets are called {name!r}", "names that differ")
        seen.add(name)
        with report_location(f"{where}: tree.infoset({name!r})"):
            named = tree.infoset(name)
        if named != infoset:
            fail(where, f"the name {name!r} leads to {named}", f"{infoset}")
        row = dict(zip(infoset.actions, strategy.row(infoset).tolist(), strict=True))
        if strategy[name] != row:
            fail(where, f"strategy[{name!r}] is {strategy[name]}", f"{row}, as its row says")
    if not count == len(strategy) == tree.infoset_count:
        fail(where, f"{count} information sets are listed and len is {len(strategy)}", f"{tree.infoset_count}")
