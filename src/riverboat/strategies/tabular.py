"""`Strategy`: the probability of every action at every information set of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from riverboat.core.arguments import checked
from riverboat.core.errors import InputError, short_repr
from riverboat.core.plugins import user_code_errors
from riverboat.core.tables import PROSE, ReportColumn, ReportTable, to_dataframe
from riverboat.games.base import Array, Game
from riverboat.strategies._kernels import table as table_kernels
from riverboat.strategies.mapping import StrategyMapping
from riverboat.trees.compile import as_tree
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import Infoset, PublicTree

Tree: TypeAlias = PublicTree | HistoryTree
Probabilities: TypeAlias = Mapping[str, float] | Sequence[float] | Array  # by action, or in the order of the actions
TOLERANCE = 1e-6  # largest difference from one of a sum of probabilities
MAX_SHOWN = 20  # information sets that a notebook shows


class Strategy(StrategyMapping[dict[str, float]]):
    """Strategy profile: a mapping from information sets to action probabilities.

    Immutable, and independent of the solver. Two strategies are equal if all their probabilities are equal.

    Parameters
    ----------
    tree
        Compiled game.
    probabilities
        Table in the layout of the tree, float [table_size]. A writable array is copied.
    provenance
        Origin of the strategy: method, iterations and so on.

    Raises
    ------
    InputError
        If the table has another size, or a probability is not finite.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> strategy = Strategy.from_mapping(compile_game(kuhn()), {"K:": {"r": 1.0}, "J:": {"c": 0.75, "r": 0.25}})
    >>> strategy["K:"], len(strategy)
    ({'c': 0.0, 'r': 1.0}, 12)
    """

    def __init__(self, tree: Tree, probabilities: Array, provenance: Mapping[str, Any] | None = None) -> None:
        _check_table(tree, probabilities, "probabilities")
        if count := np.count_nonzero(~np.isfinite(probabilities)):
            raise InputError(f"{tree.name}: {count:,} probabilities are not finite")
        super().__init__(tree, provenance)
        self.tree: Tree = tree
        if probabilities.flags.writeable:  # the caller may still write to it
            probabilities = probabilities.copy()
            probabilities.flags.writeable = False
        self.probabilities = probabilities  # float [table]; tree.views gives [rows, hands]

    @staticmethod
    def from_sums(tree: Tree, sums: Array, provenance: Mapping[str, Any] | None = None) -> Strategy:
        """Normalize accumulated weights; information sets without weight are uniform.

        Parameters
        ----------
        tree
            Compiled game.
        sums
            Accumulated weights of the actions, in the layout of the tree. float [table_size]
        provenance
            Origin of the strategy: method, iterations and so on.
        """
        _check_table(tree, sums, "sums")
        out = np.empty(tree.table_size)
        n = tree.nodes
        tables = zip(tree.player_tables(sums), tree.player_tables(out), strict=True)
        for player, (player_sums, player_out) in enumerate(tables):
            table_kernels.normalise(n.actor, n.width, n.data, player, player_sums, player_out)
        out.flags.writeable = False
        return Strategy(tree, out, provenance)

    @staticmethod
    def uniform(tree: str | Game | Tree) -> Strategy:
        """Return the strategy that plays all actions with equal probability.

        Parameters
        ----------
        tree
            Game, its name, or its tree.
        """
        tree = as_tree(tree)
        return Strategy.from_sums(tree, np.zeros(tree.table_size), {"method": "uniform"})

    @staticmethod
    @checked
    def from_mapping(tree: str | Game | Tree, rows: Mapping[str, Mapping[str, float]]) -> Strategy:
        """Build a strategy from `{information set: {action: probability}}`.

        Parameters
        ----------
        tree
            Game, its name, or its tree.
        rows
            Probabilities of each given information set; they must sum to one. Missing information sets are uniform.

        Returns
        -------
        Strategy
            The complete strategy.
        """
        tree = as_tree(tree)
        table = Strategy.uniform(tree).probabilities.copy()
        for name, row in rows.items():
            _write_row(tree, table, tree.infoset(name), row)
        return Strategy(tree, table)

    @staticmethod
    @checked
    def from_function(game: str | Game | Tree, function: Callable[[Infoset], Probabilities]) -> Strategy:
        """Build a strategy from a function of the information set.

        Parameters
        ----------
        game
            Game, its name, or its tree.
        function
            Called with each `Infoset`: its `name`, the `player` to act and the labels of the `actions`. It returns a mapping
            from actions to probabilities, where missing actions have none, or a sequence in the order of the actions.

        Returns
        -------
        Strategy
            The strategy.

        Raises
        ------
        InputError
            If the function fails, or returns no probabilities of the actions that sum to one.

        Examples
        --------
        >>> caller = Strategy.from_function("kuhn", lambda infoset: {"c": 1.0})
        >>> caller["Q:r"]
        {'f': 0.0, 'c': 1.0}
        """
        tree = as_tree(game)
        table = np.zeros(tree.table_size)
        table[:] = Strategy.uniform(tree).probabilities  # of hands that are never dealt
        for infoset in tree.infosets():
            with user_code_errors("strategy", infoset.name, "the function fails"):
                row = function(infoset)
            _write_row(tree, table, infoset, row)
        return Strategy(tree, table)

    def row(self, infoset: Infoset) -> Array:
        """Return the probabilities at an information set, in the order of its actions.

        Parameters
        ----------
        infoset
            Information set of the tree.
        """
        stop = infoset.offset + len(infoset.actions) * infoset.stride
        return self.probabilities[infoset.offset : stop : infoset.stride]

    # --- mapping ----------------------------------------------------------------------------

    def _find(self, key: str) -> dict[str, float]:
        return self._row_dict(self.tree.infoset(key))

    def _row_dict(self, infoset: Infoset) -> dict[str, float]:
        return dict(zip(infoset.actions, self.row(infoset).tolist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        return (infoset.name for infoset in self.tree.infosets())

    def __len__(self) -> int:
        return self.tree.infoset_count

    def _entries(self) -> Iterator[tuple[str, dict[str, float]]]:
        return ((infoset.name, self._row_dict(infoset)) for infoset in self.tree.infosets())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strategy):
            return Mapping.__eq__(self, other)
        same = self.tree is other.tree or self.tree.fingerprint == other.tree.fingerprint
        return same and np.array_equal(self.probabilities, other.probabilities)

    def __hash__(self) -> int:
        return hash(self.tree.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return Strategy, (self.tree, np.asarray(self.probabilities), dict(self.provenance))

    # --- conversion -------------------------------------------------------------------------

    def mapping(self) -> dict[str, dict[str, float]]:
        """Return the strategy as a plain dictionary."""
        return dict(self.items())

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each action of each information set."""
        rows = [
            (infoset.name, infoset.player, action, probability)
            for infoset in self.tree.infosets()
            for action, probability in self._row_dict(infoset).items()
        ]
        names = ("infoset", "player", "action", "probability")
        return to_dataframe({name: [row[k] for row in rows] for k, name in enumerate(names)})

    def to_open_spiel(self) -> Any:
        """Convert to a `TabularPolicy` of OpenSpiel, for games that OpenSpiel has."""
        from riverboat.strategies.open_spiel import to_open_spiel  # an optional library

        return to_open_spiel(self)

    @staticmethod
    def from_open_spiel(tree: str | Game | Tree, policy: Any) -> Strategy:
        """Convert an OpenSpiel policy to a strategy for a tree.

        Parameters
        ----------
        tree
            Game, its name, or its tree.
        policy
            Policy of OpenSpiel.
        """
        from riverboat.strategies.open_spiel import from_open_spiel

        return from_open_spiel(as_tree(tree), policy)

    def __repr__(self) -> str:
        return f"<Strategy for {self.tree.name}: {len(self)} information sets>"

    def _repr_html_(self) -> str:
        rows = tuple(
            (infoset.name, f"{infoset.player}", "  ".join(f"{a} {p:.1%}" for a, p in self._row_dict(infoset).items()))
            for infoset in islice(self.tree.infosets(), MAX_SHOWN)
        )
        more = f"; the first {MAX_SHOWN}" if len(self) > MAX_SHOWN else ""
        title = f"{self.tree.name}: {len(self):,} information sets{more}"
        head = ReportColumn("infoset", title="information set")
        columns = head, ReportColumn("player"), ReportColumn("strategy", PROSE)
        return ReportTable(title, columns, rows)._repr_html_()


def _check_table(tree: Any, table: Any, name: str) -> None:
    """Raise InputError unless a table has the size of a tree's tables."""
    if not isinstance(tree, PublicTree | HistoryTree):
        raise InputError(f"tree={short_repr(tree)}: must be the tree of a game (riverboat.compile_game)")
    if getattr(table, "shape", None) != (tree.table_size,) or table.dtype.kind not in "fiu":
        found = getattr(table, "shape", short_repr(table))
        raise InputError(f"{tree.name}: {found} {name} for a table of {tree.table_size}")


def _write_row(tree: Tree, table: Array, infoset: Infoset, row: Any) -> None:
    """Write the probabilities of one information set; `row` is a mapping by action, or a sequence in their order."""
    actions, values = infoset.actions, None
    if isinstance(row, Mapping):
        unknown = [action for action in row if action not in actions]
        if unknown:
            raise InputError(
                f"{tree.name}: no action {short_repr(unknown[0])} at {infoset.name!r}: {', '.join(actions)}"
            )
        row = [row.get(action, 0.0) for action in actions]
    if not isinstance(row, str):
        with suppress(TypeError, ValueError):
            values = np.asarray(row, float)
    if values is None or values.shape != (len(actions),):
        raise InputError(
            f"{tree.name}: {short_repr(row)} at {infoset.name!r}: must be probabilities of {', '.join(actions)}, "
            "as a mapping or in this order"
        )
    if not (values.min() >= 0 and abs(values.sum() - 1) <= TOLERANCE):
        raise InputError(f"{tree.name}: probabilities {values.tolist()} at {infoset.name!r} do not sum to one")
    table[infoset.offset : infoset.offset + len(actions) * infoset.stride : infoset.stride] = values
