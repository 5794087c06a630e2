"""`Strategy`: the probability of every action at every information set of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.core.tables import PROSE, ReportColumn, ReportTable, to_dataframe
from riverboat.games.base import Array
from riverboat.strategies._kernels import table as table_kernels
from riverboat.strategies.mapping import StrategyMapping
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import Infoset, PublicTree

Tree: TypeAlias = PublicTree | HistoryTree
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
        if probabilities.shape != (tree.table_size,):
            raise InputError(f"{tree.name}: {probabilities.shape} probabilities for a table of {tree.table_size}")
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
        out = np.empty(tree.table_size)
        n = tree.nodes
        tables = zip(tree.player_tables(sums), tree.player_tables(out), strict=True)
        for player, (player_sums, player_out) in enumerate(tables):
            table_kernels.normalise(n.actor, n.width, n.data, player, player_sums, player_out)
        out.flags.writeable = False
        return Strategy(tree, out, provenance)

    @staticmethod
    def uniform(tree: Tree) -> Strategy:
        """Return the strategy that plays all actions with equal probability.

        Parameters
        ----------
        tree
            Compiled game.
        """
        return Strategy.from_sums(tree, np.zeros(tree.table_size), {"method": "uniform"})

    @staticmethod
    def from_mapping(tree: Tree, rows: Mapping[str, Mapping[str, float]]) -> Strategy:
        """Build a strategy from `{information set: {action: probability}}`.

        Parameters
        ----------
        tree
            Compiled game.
        rows
            Probabilities of each given information set; they must sum to one. Missing information sets are uniform.

        Returns
        -------
        Strategy
            The complete strategy.
        """
        table = Strategy.uniform(tree).probabilities.copy()
        for name, row in rows.items():
            infoset = tree.infoset(name)
            unknown = set(row) - set(infoset.actions)
            if unknown:
                raise InputError(
                    f"{tree.name}: no action {sorted(unknown)[0]!r} at {name!r}: {', '.join(infoset.actions)}"
                )
            values = [float(row.get(action, 0.0)) for action in infoset.actions]
            if not (min(values) >= 0 and abs(sum(values) - 1) <= TOLERANCE):
                raise InputError(f"{tree.name}: probabilities {values} at {name!r} do not sum to one")
            for k, value in enumerate(values):
                table[infoset.offset + k * infoset.stride] = value
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
    def from_open_spiel(tree: Tree, policy: Any) -> Strategy:
        """Convert an OpenSpiel policy to a strategy for a tree.

        Parameters
        ----------
        tree
            Compiled game.
        policy
            Policy of OpenSpiel.
        """
        from riverboat.strategies.open_spiel import from_open_spiel

        return from_open_spiel(tree, policy)

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
