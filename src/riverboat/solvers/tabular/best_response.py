"""Best responses, exploitability and expected values of strategies on game trees.

On a public tree one traversal with vectors of hands gives the best response for all hands at once (Johanson et al.
2011). On a history tree the payoffs are summed by the responder's sequences, and the treeplex is evaluated from the
leaves. NashConv is the sum over players of (best response − value). Exploitability is half of it for two players; for
more players it is ε, the largest of these gains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.core.arrays import safe_divide
from riverboat.core.errors import InputError, ZeroSumError
from riverboat.core.tables import COUNT, ReportColumn, ReportTable, none_if_nan
from riverboat.engines.tables import writeable_alias
from riverboat.games.base import TERMINAL, Array
from riverboat.solvers.tabular._kernels import traversal
from riverboat.solvers.tabular.tree_engine import TreeEngine
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees._kernels import tree as tree_kernels
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


@dataclass(frozen=True)
class Quality:
    """Quality of a strategy profile. Values are in the game's unit, exact up to rounding.

    Attributes
    ----------
    best
        Best-response value of each player.
    values
        Expected value of the profile to each player; NaN if not computed.
    total
        Constant sum of the payoffs; None if the game has no value to certify.
    recalls
        Whether all players have perfect recall; otherwise `best` is an upper bound.

    Examples
    --------
    >>> from riverboat.solvers.tabular.best_response import Quality
    >>> Quality(best=(0.5, 0.25), values=(0.25, -0.25)).exploitability
    0.375
    """

    best: tuple[float, ...]  # best-response value, per player
    values: tuple[float, ...]  # expected value of the profile, per player; NaN if not computed
    total: float | None = 0.0  # constant sum of the payoffs; None if the game has no value to certify
    recalls: bool = True  # whether all players have perfect recall; otherwise `best` is an upper bound

    @property
    def gains(self) -> tuple[float, ...]:
        """Gain of each player's best response over the profile."""
        return tuple(b - v for b, v in zip(self.best, self.values, strict=True))

    @property
    def nash_conv(self) -> float:
        """NashConv: the sum of the gains of all players."""
        if self.total is not None and any(math.isnan(value) for value in self.values):
            return sum(self.best) - self.total  # equal, because the values sum to the constant
        return sum(self.gains)

    @property
    def exploitability(self) -> float:
        """Half of NashConv for two players; the largest gain, ε, for more."""
        return self.nash_conv / len(self.best) if len(self.best) <= 2 else max(self.gains)

    @property
    def bracket(self) -> tuple[float, float]:
        """Interval that contains the value of a constant-sum game to player 0.

        Player 0's strategy guarantees the low end, player 1's strategy the high end. There is no such value without a
        constant sum (rake), with more than two players, or with imperfect recall: both ends are then the expected value
        of the profile.
        """
        if self.total is None:
            return self.values[0], self.values[0]
        return self.total - self.best[1], self.best[0]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The certified interval of the value to player 0; None if nothing is certified."""
        if self.total is None:
            return None
        low, high = self.bracket
        return min(low, high), max(low, high)  # rounding may swap them at an exact equilibrium

    @property
    def value(self) -> float:
        """The middle of the certified interval; without one, the expected value of the profile to player 0."""
        return self.values[0] if self.interval is None else sum(self.interval) / 2

    def scaled(self, unit: float) -> Quality:
        """Return the same quality in another unit.

        Parameters
        ----------
        unit
            Units of the result for each unit of this quality.
        """
        best, values = (tuple(unit * value for value in each) for each in (self.best, self.values))
        return Quality(best, values, None if self.total is None else unit * self.total, self.recalls)

    def report(self) -> ReportTable:
        """Return a table with a row per player: value, best-response value and gain."""
        columns = ReportColumn("player"), *(ReportColumn(name, COUNT) for name in ("value", "best response", "gain"))
        rows = enumerate(zip(self.values, self.best, self.gains, strict=True))
        title = f"exploitability {self.exploitability:.6g}, NashConv {self.nash_conv:.6g}"
        return ReportTable(title, columns, tuple((f"{p}", *map(none_if_nan, row)) for p, row in rows))

    def to_frame(self) -> Any:
        """Return the report as a pandas data frame."""
        return self.report().to_frame()

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def check_zero_sum(tree: Tree) -> None:
    """Raise ZeroSumError unless the two players' payoffs sum to zero at every terminal.

    Parameters
    ----------
    tree
        Tree of a two-player game.

    Raises
    ------
    ZeroSumError
        If they do not.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.best_response import check_zero_sum
    >>> check_zero_sum(rb.compile_game(rb.game("kuhn")))
    """
    if isinstance(tree, HistoryTree):
        tree.check_zero_sum()
        return
    first, second = tree.player_arrays
    for e in range(len(first.kind)):
        if first.kind[e] == 2:
            wrong = np.abs(first.matrix[first.row[e]] + second.matrix[second.row[e]].T).max() > 1e-9
        else:
            wrong = np.abs(first.pay[e] + second.pay[e][::-1]).max() > 1e-9
        if wrong:
            raise ZeroSumError(f"{tree.name}: not zero-sum: {tree.layout.payoffs[e]}")


def quality(strategy: Strategy, threads: int = 1) -> Quality:
    """Compute best-response values and expected values of a strategy profile.

    Parameters
    ----------
    strategy
        Profile to measure.
    threads
        Threads that traverse the tree. Results do not depend on it.

    Returns
    -------
    Quality
        Values in the game's unit.

    Notes
    -----
    On a public tree, one traversal with vectors of hands for each player [1]_.

    References
    ----------
    .. [1] Johanson, Waugh, Bowling & Zinkevich, "Accelerating best response calculation in large extensive games",
       IJCAI 2011.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.best_response import quality
    >>> round(quality(rb.Strategy.uniform(rb.compile_game(rb.game("kuhn")))).exploitability, 4)
    0.4583
    """
    return quality_of_averages(strategy.tree, strategy.probabilities, threads)


def quality_of_averages(tree: Tree, sums: Array, threads: int = 1) -> Quality:
    """Compute the quality of a table of strategy sums, normalized on the fly (no copy is made).

    Parameters
    ----------
    tree
        Tree of the game.
    sums
        Strategy sums. float [tree.table_size]
    threads
        Threads that traverse the tree. Results do not depend on it.

    Returns
    -------
    Quality
        Values in the game's unit.

    Examples
    --------
    >>> import numpy as np
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.best_response import quality_of_averages
    >>> tree = rb.compile_game(rb.game("kuhn"))
    >>> round(quality_of_averages(tree, np.ones(tree.table_size)).nash_conv, 4)
    0.9167
    """
    if isinstance(tree, PublicTree):
        engine, tables = TreeEngine(tree, np.float64, threads), [_strategy_tables(tree, me, sums) for me in (0, 1)]
        responses, values = (
            tuple(_expectation(tree, me, engine.traverse(me, tables[me], mode)) for me in (0, 1))
            for mode in (traversal.RESPOND, traversal.EVALUATE)
        )
        return Quality(responses, values, tree.constant_sum)
    probabilities = Strategy.from_sums(tree, sums).probabilities
    best = [float(_history_best_response(tree, probabilities, me)[0][0]) for me in range(tree.players)]
    recalls = tree.perfect_recall
    total = tree.constant_sum if recalls else None
    return Quality(tuple(best), _history_values(tree, probabilities), total, recalls)


def expected_value(tree: PublicTree, player: int, own: Array, opponent: Array) -> float:
    """Return a player's expected value when it plays one table of strategy sums and the opponent another.

    Parameters
    ----------
    tree
        Public tree of the game.
    player
        Seat, 0 or 1.
    own
        Strategy sums of the player. float64 [tree.table_size]
    opponent
        Strategy sums of the opponent. float64 [tree.table_size]

    Returns
    -------
    float
        Value in the game's unit.

    Examples
    --------
    >>> import numpy as np
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.best_response import expected_value
    >>> tree = rb.compile_game(rb.game("kuhn"))
    >>> round(expected_value(tree, 0, np.ones(tree.table_size), np.ones(tree.table_size)), 4)
    0.125
    """
    tables = _strategy_tables(tree, player, own, opponent)
    return _expectation(tree, player, TreeEngine(tree, np.float64, 1).traverse(player, tables, traversal.EVALUATE))


def best_response(strategy: Strategy, player: int) -> tuple[float, Strategy]:
    """Compute a best response of one player to a strategy profile.

    Parameters
    ----------
    strategy
        Profile to respond to. Only the other players' parts are used.
    player
        Seat of the responder, from 0.

    Returns
    -------
    float
        Value of the response, in the game's unit.
    Strategy
        The profile with the player's part replaced by the response.

    Raises
    ------
    InputError
        If the player has imperfect recall.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.best_response import best_response
    >>> value, response = best_response(rb.Strategy.uniform(rb.compile_game(rb.game("kuhn"))), 0)
    >>> round(value, 4)
    0.5
    """
    tree = strategy.tree
    table = np.array(strategy.probabilities, float)
    if isinstance(tree, PublicTree):
        tables = _strategy_tables(tree, player, strategy.probabilities)
        tables = tables._replace(delta=np.zeros(tables.average.shape))
        value = _expectation(tree, player, TreeEngine(tree, np.float64, 1).traverse(player, tables, traversal.RESPOND))
        tree.player_tables(table)[player][:] = tables.delta
    else:
        tree.check_recall(player)
        values, best = _history_best_response(tree, strategy.probabilities, player)
        value = float(values[0])
        for i, infoset in enumerate(np.flatnonzero(tree.owner == player)):
            at, width = tree.offsets[infoset], tree.action_counts[infoset]
            table[at : at + width] = np.arange(width) == best[i]
    return value, Strategy(tree, table, {"method": "best response", "player": player})


def hand_values(strategy: Strategy, player: int, *, respond: bool = False) -> Array:
    """Return the expected value of each hand of a player at the root of a public tree.

    Parameters
    ----------
    strategy
        Profile to evaluate.
    player
        Seat, 0 or 1.
    respond
        Whether the player best-responds instead of following the strategy.

    Returns
    -------
    array
        float64 [hands], in the game's unit; zero for hands that cannot be dealt.

    Raises
    ------
    InputError
        If the game has no hands.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.best_response import hand_values
    >>> hand_values(rb.Strategy.uniform(rb.compile_game(rb.game("kuhn"))), 0).round(3).tolist()
    [-0.875, 0.125, 1.125]
    """
    tree = strategy.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: values by hand need a public game with hands")
    mode = traversal.RESPOND if respond else traversal.EVALUATE
    raw = TreeEngine(tree, np.float64, 1).traverse(player, _strategy_tables(tree, player, strategy.probabilities), mode)
    dealt = tree.deal.joint().sum(axis=1 - player) * tree.total
    return safe_divide(raw * tree.player_arrays[player].weight, dealt)


def _strategy_tables(tree: PublicTree, me: int, sums: Array, theirs: Array | None = None) -> traversal.RegretTables:
    """Wrap strategy sums as tables of a traversal that only reads them.

    Player `me` plays `sums`, the opponent `theirs` (by default `sums` too).
    """
    own = tree.player_tables(writeable_alias(sums))[me]
    opp = tree.player_tables(writeable_alias(sums if theirs is None else theirs))[1 - me]
    return traversal.RegretTables(own[:0], own, own[:0], np.zeros((0, own.shape[1])), opp[:0], opp[:0], opp)


def _expectation(tree: PublicTree, me: int, values: Array) -> float:
    # expected value over the deal, from the counterfactual values of the player's hands
    return float(np.dot(tree.player_arrays[me].weight, values)) / tree.total


def _history_best_response(tree: HistoryTree, probabilities: Array, me: int) -> tuple[Array, Array]:
    """Return the best-response value after each sequence of player `me`, and its best action at each information set.

    The first entry, of the empty sequence, is the best-response value of the game.

    A player with imperfect recall is treated as if it had perfect recall: its own best response is NP-hard to find.
    """
    plex, last = tree.perfect_recall_treeplex(me)
    terminals, reach = _terminal_reach(tree, probabilities, me)
    payoffs = tree.payoffs[tree.nodes.data[terminals], me]
    value = np.bincount(last[terminals], reach * payoffs, minlength=plex.sequences)
    best = np.zeros(len(plex.parent), np.int32)
    tree_kernels.treeplex_best_response(plex.parent, plex.first, plex.width, value, best)
    return value, best


def _history_values(tree: HistoryTree, probabilities: Array) -> tuple[float, ...]:
    terminals, reach = _terminal_reach(tree, probabilities, None)
    return tuple(float(np.dot(reach, tree.payoffs[tree.nodes.data[terminals], p])) for p in range(tree.players))


def _terminal_reach(tree: HistoryTree, probabilities: Array, left_out: int | None) -> tuple[Array, Array]:
    """Return the terminal nodes and their reach probabilities, without the contribution of player `left_out`."""
    n = tree.nodes
    reach, terminals = np.empty(len(n.actor)), np.flatnonzero(n.actor == TERMINAL)
    tree_kernels.opponents_reach(
        n.actor, n.end, n.data, tree.chance, probabilities, -9 if left_out is None else left_out, reach
    )
    return terminals, reach[terminals]
