"""The sequence form of a two-player game: two treeplexes and a sparse payoff matrix.

A sequence is the list of a player's own actions so far; a *realization plan* assigns to each sequence the product of
the player's probabilities along it. Plans are the x >= 0 with E x = e, and payoffs are bilinear in them. So a game
becomes a linear program whose size is that of the game tree (Koller, Megiddo & von Stengel 1996).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Array, Game
from riverboat.solvers.exact import _kernels
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees._kernels import tree as tree_kernels
from riverboat.trees.compile import as_tree, to_history_tree
from riverboat.trees.history import HistoryTree, Treeplex


class SequenceForm:
    """The sequence form of a two-player tree with perfect recall.

    Parameters
    ----------
    tree
        Game, its name, such as "kuhn", or its tree.

    Raises
    ------
    InputError
        If the game does not have two players with perfect recall.

    References
    ----------
    .. [1] Koller, Megiddo & von Stengel, "Efficient computation of equilibria for extensive two-person games", 1996.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.SequenceForm("kuhn").matrix.shape
    (13, 13)
    """

    def __init__(self, tree: str | Game | Tree) -> None:
        tree = as_tree(tree)
        self.tree, self.name = tree, tree.name
        self.histories: HistoryTree = to_history_tree(tree)
        if self.histories.players != 2:
            players = f"{self.histories.players} players"
            raise InputError(f"{tree.name}: {players}; the sequence form is for two, use a CFR schedule instead")
        self.treeplexes: tuple[Treeplex, Treeplex] = self.histories.treeplex(0), self.histories.treeplex(1)
        # If payoffs sum to a constant, half of it is subtracted from each player's, so that they sum to zero.
        self.half_sum = (self.histories.constant_sum or 0.0) / 2
        self.payoffs = self._payoffs(0), self._payoffs(1)  # csr [own sequences, opponent sequences]

    @property
    def matrix(self) -> Any:
        """A: payoffs to player 0 minus `half_sum`, weighted by chance. csr [sequences of 0, sequences of 1]"""
        return self.payoffs[0]

    def _payoffs(self, player: int) -> Any:
        """Return a player's payoffs with its own sequences as rows. Histories with equal sequences are summed."""
        tree = self.histories
        terminals = np.flatnonzero(tree.nodes.actor == TERMINAL)
        payoffs = tree.chance_reach[terminals] * (tree.payoffs[tree.nodes.data[terminals], player] - self.half_sum)
        own, other = tree.last_sequence[terminals, player], tree.last_sequence[terminals, 1 - player]
        shape = self.treeplexes[player].sequences, self.treeplexes[1 - player].sequences
        matrix = csr_array((payoffs, (own, other)), shape=shape)
        matrix.eliminate_zeros()
        return matrix

    def constraints(self, player: int) -> tuple[Any, Array]:
        """Return E and e: the plans are the x >= 0 with E x = e. csr [1 + infosets, sequences], float64 [1 + infosets]

        Row 0 sets the empty sequence to one. Row i + 1 says that the probabilities of the actions at information set i
        sum to that of its parent sequence.

        Parameters
        ----------
        player
            Seat, 0 or 1.
        """
        return plan_constraints(self.treeplexes[player])

    # --- plans and strategies ---------------------------------------------------------------

    def plan(self, strategy: Strategy, player: int) -> Array:
        """Return the realization plan of a player's part of a strategy. float64 [sequences]

        Parameters
        ----------
        strategy
            Strategy on the same tree.
        player
            Seat, 0 or 1.

        Raises
        ------
        InputError
            If the strategy is for another tree.
        """
        if strategy.tree is not self.tree and strategy.tree.fingerprint != self.tree.fingerprint:
            raise InputError(f"{self.tree.name}: the strategy is for another tree ({strategy.tree.name})")
        origin = self._table_indices(player)
        plex = self.treeplexes[player]
        behaviour = np.ones(plex.sequences)
        behaviour[1:] = strategy.probabilities[origin]
        return realization_plan(plex, behaviour)

    def plans(self, strategy: Strategy) -> tuple[Array, Array]:
        """Return the realization plans of both players.

        Parameters
        ----------
        strategy
            Strategy on the same tree.
        """
        return self.plan(strategy, 0), self.plan(strategy, 1)

    def strategy(self, x: Array, y: Array, provenance: Mapping[str, Any] | None = None) -> Strategy:
        """Return the behavior strategy of two plans on the original tree.

        It is uniform at information sets that a player's own plan never reaches, where the plan is undefined.

        Parameters
        ----------
        x
            Plan of player 0. float64 [sequences]
        y
            Plan of player 1. float64 [sequences]
        provenance
            Facts that the strategy stores.

        Raises
        ------
        InputError
            If a plan has another number of sequences.
        """
        sums = np.zeros(self.tree.table_size)
        for player, plan in enumerate((x, y)):
            if plan.shape != (self.treeplexes[player].sequences,):
                raise InputError(
                    f"{self.tree.name}: a plan of shape {plan.shape} for player {player}, who has "
                    f"{self.treeplexes[player].sequences} sequences"
                )
            sums[self._table_indices(player)] = np.maximum(plan[1:], 0.0)
        return Strategy.from_sums(self.tree, sums, provenance)

    def _table_indices(self, player: int) -> Array:
        """Return the index of each nonempty sequence in the table of the original tree."""
        table: Array = self.treeplexes[player].table_index[1:]
        return table if self.histories is self.tree or self.histories.origin is None else self.histories.origin[table]

    def sequence_weights(self, table: Array, player: int) -> Array:
        """Convert a table of the tree to weights of a player's sequences; the empty one has 0. float64 [sequences]

        Parameters
        ----------
        table
            Table in the layout of the tree. float64 [tree.table_size]
        player
            Seat, 0 or 1.
        """
        return np.concatenate([[0.0], table[self._table_indices(player)]])

    # --- values -----------------------------------------------------------------------------

    def value(self, x: Array, y: Array) -> float:
        """Return the expected value to player 0: x'A y plus half of the constant sum.

        Parameters
        ----------
        x
            Plan of player 0. float64 [sequences]
        y
            Plan of player 1. float64 [sequences]
        """
        return float(x @ (self.matrix @ y)) + self.half_sum

    def best_response(self, player: int, other: Array) -> tuple[float, Array]:
        """Return the best-response value against a plan, minus `half_sum`, and a pure plan that attains it.

        Parameters
        ----------
        player
            Seat of the responder, 0 or 1.
        other
            Plan of the opponent. float64 [sequences]
        """
        plex = self.treeplexes[player]
        value = self.payoffs[player] @ other
        best = np.empty(len(plex.parent), np.int32)
        tree_kernels.treeplex_best_response(plex.parent, plex.first, plex.width, value, best)
        behaviour = np.zeros(plex.sequences)
        behaviour[plex.first + best] = 1.0
        return float(value[0]), realization_plan(plex, behaviour)

    def bracket(self, x: Array, y: Array) -> tuple[float, float]:
        """Return what x guarantees to player 0 and what y concedes: the value of a constant-sum game lies between them.

        Parameters
        ----------
        x
            Plan of player 0. float64 [sequences]
        y
            Plan of player 1. float64 [sequences]
        """
        return self.half_sum - self.best_response(1, x)[0], self.half_sum + self.best_response(0, y)[0]


# --- parts of programs over realization plans: their constraints, and envelopes of their products ---


def plan_constraints(plex: Treeplex) -> tuple[csr_array, Array]:
    """Return E and e: the plans are the x >= 0 with E x = e. csr [1 + infosets, sequences], float64 [1 + infosets]

    Row 0 sets the empty sequence to one. Row i + 1 says that the probabilities of the actions at information set i sum
    to that of its parent sequence.

    Parameters
    ----------
    plex
        Treeplex of a player.

    Returns
    -------
    tuple of array
        E and e.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.sequence_form import SequenceForm, plan_constraints
    >>> plan_constraints(SequenceForm(rb.compile_game(rb.game("kuhn"))).treeplexes[0])[0].shape
    (7, 13)
    """
    sets = np.arange(1, len(plex.parent) + 1)
    rows = np.concatenate([[0], sets, np.repeat(sets, plex.width)])
    columns = np.concatenate([[0], plex.parent, np.arange(1, plex.sequences)])
    values = np.ones(len(rows))
    values[1 : len(sets) + 1] = -1.0
    right = np.zeros(len(sets) + 1)
    right[0] = 1.0
    return csr_array((values, (rows, columns)), shape=(len(right), plex.sequences)), right


def place_columns(table: Any, first: int, columns: int) -> Any:
    """Return a table as columns `first` … of a program with `columns` columns, the others zero. sparse [rows, columns]

    Parameters
    ----------
    table
        Sparse table.
    first
        Its first column in the program.
    columns
        Columns of the program.

    Returns
    -------
    sparse array
        The table with all columns.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from riverboat.solvers.exact.sequence_form import place_columns
    >>> place_columns(csr_array([[1.0, 2.0]]), 1, 4).toarray().tolist()
    [[0.0, 1.0, 2.0, 0.0]]
    """
    rows, count = table.shape
    return hstack([csr_array((rows, first)), table, csr_array((rows, columns - first - count))])


def realization_plan(plex: Treeplex, behaviour: Array) -> Array:
    """Return the plan of a behavior strategy, the probabilities of the sequences' last actions. float64 [sequences]

    Parameters
    ----------
    plex
        Treeplex of a player.
    behaviour
        Probability of the last action of each sequence; 1 for the empty one. float64 [sequences]

    Returns
    -------
    array
        Products of the probabilities along the sequences.

    Examples
    --------
    >>> import numpy as np
    >>> import riverboat as rb
    >>> from riverboat.solvers.exact.sequence_form import SequenceForm, realization_plan
    >>> plex = SequenceForm(rb.compile_game(rb.game("kuhn"))).treeplexes[0]
    >>> float(realization_plan(plex, np.append(1.0, np.full(12, 0.5))).min())
    0.25
    """
    plan = np.empty(plex.sequences)
    _kernels.realization_plan(plex.parent, plex.first, plex.width, behaviour, plan)
    return plan


def product_envelope(
    columns: int, u: Array, v: Array, product: Array, u_box: tuple[Array, Array], v_box: tuple[Array, Array]
) -> tuple[csr_array, Array]:
    """Return McCormick's envelope of products u v in boxes, as a table A and numbers b with A x >= b.

    Parameters
    ----------
    columns
        Columns of the program.
    u, v
        Columns of the factors. int [products]
    product
        Columns of their products. int [products]
    u_box, v_box
        Lower and upper bounds of the factors.

    Returns
    -------
    tuple of array
        A and b.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.solvers.exact.sequence_form import product_envelope
    >>> box = np.zeros(1), np.ones(1)
    >>> product_envelope(3, np.array([0]), np.array([1]), np.array([2]), box, box)[0].shape
    (4, 3)
    """
    count = len(product)
    row, parts, right = np.arange(count), [], []
    for sign, low, high in ((1.0, 0, 0), (1.0, 1, 1), (-1.0, 1, 0), (-1.0, 0, 1)):
        a, b = u_box[low], v_box[high]  # product >= a v + b u - a b, or <= the same with one bound from each side
        values = np.concatenate([np.full(count, sign), -sign * a, -sign * b])
        places = np.tile(row, 3), np.concatenate([product, v, u])
        parts.append(csr_array((values, places), shape=(count, columns)))
        right.append(-sign * a * b)
    return csr_array(vstack(parts)), np.concatenate(right)
