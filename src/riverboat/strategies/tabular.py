"""`Strategy`: the probability of every action at every information set of a tree."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from riverboat.core.dataframes import frame
from riverboat.core.errors import InputError, UnknownKeyError
from riverboat.core.tables import PROSE, Column, ReportTable
from riverboat.games.base import Array
from riverboat.strategies._kernels import tabular
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import Infoset, PublicTree

Tree: TypeAlias = PublicTree | HistoryTree
CLOSE = 1e-6  # what probabilities may be off by
SHOWN = 20  # information sets in a notebook


class Strategy(Mapping[str, dict[str, float]]):
    """What every player does everywhere: a mapping from information sets to probabilities of moves.

    Immutable; needs no solver to be read. Two strategies are equal when all their probabilities are.
    """

    def __init__(self, tree: Tree, probabilities: Array, provenance: Mapping[str, Any] | None = None) -> None:
        if probabilities.shape != (tree.table,):
            raise InputError(f"{tree.name}: {probabilities.shape} probabilities for a table of {tree.table}")
        if not np.isfinite(probabilities).all():
            raise InputError(
                f"{tree.name}: {np.count_nonzero(~np.isfinite(probabilities)):,} probabilities are not finite"
            )
        self.tree = tree
        if probabilities.flags.writeable:  # somebody may still write to it
            probabilities = probabilities.copy()
            probabilities.flags.writeable = False
        self.probabilities = probabilities  # float [table]; tree.views gives [rows, hands]
        self.provenance: Mapping[str, Any] = MappingProxyType(dict(provenance or {}))

    @staticmethod
    def from_sums(tree: Tree, sums: Array, provenance: Mapping[str, Any] | None = None) -> Strategy:
        """Normalise accumulated weights; uniform where nothing was accumulated."""
        out = np.empty(tree.table)
        n = tree.nodes
        for me, (given, made) in enumerate(zip(tree.views(sums), tree.views(out), strict=True)):
            tabular.normalise(n.actor, n.width, n.data, me, given, made)
        out.flags.writeable = False
        return Strategy(tree, out, provenance)

    @staticmethod
    def uniform(tree: Tree) -> Strategy:
        """Every action equally likely."""
        return Strategy.from_sums(tree, np.zeros(tree.table), {"method": "uniform"})

    @staticmethod
    def from_mapping(tree: Tree, rows: Mapping[str, Mapping[str, float]]) -> Strategy:
        """From `{information set: {action: probability}}`; sets that are left out are uniform."""
        table = Strategy.uniform(tree).probabilities.copy()
        for name, row in rows.items():
            infoset = tree.infoset(name)
            unknown = set(row) - set(infoset.actions)
            if unknown:
                raise InputError(
                    f"{tree.name}: no action {sorted(unknown)[0]!r} at {name!r}: {', '.join(infoset.actions)}"
                )
            values = [float(row.get(action, 0.0)) for action in infoset.actions]
            if not (min(values) >= 0 and abs(sum(values) - 1) <= CLOSE):
                raise InputError(f"{tree.name}: probabilities {values} at {name!r} do not sum to one")
            for k, value in enumerate(values):
                table[infoset.offset + k * infoset.stride] = value
        return Strategy(tree, table)

    def row(self, infoset: Infoset) -> Array:
        """Probabilities at an information set, in the order of its actions."""
        stop = infoset.offset + len(infoset.actions) * infoset.stride
        row: Array = self.probabilities[infoset.offset : stop : infoset.stride]
        return row

    # --- as a mapping -----------------------------------------------------------------------

    def __getitem__(self, name: str) -> dict[str, float]:
        if not isinstance(name, str):
            raise UnknownKeyError(f"{self.tree.name}: {name!r} is no name of an information set")
        try:
            infoset = self.tree.infoset(name)
        except InputError as error:
            raise UnknownKeyError(str(error)) from None
        return self._dict(infoset)

    def _dict(self, infoset: Infoset) -> dict[str, float]:
        return dict(zip(infoset.actions, self.row(infoset).tolist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        return (infoset.name for infoset in self.tree.infosets())

    def __len__(self) -> int:
        return self.tree.infoset_count

    def items(self) -> ItemsView[str, dict[str, float]]:
        """Every information set with its probabilities."""
        return _Items(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strategy):
            return Mapping.__eq__(self, other)
        same = self.tree is other.tree or self.tree.fingerprint == other.tree.fingerprint
        return same and np.array_equal(self.probabilities, other.probabilities)

    def __hash__(self) -> int:
        return hash(self.tree.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return Strategy, (self.tree, np.asarray(self.probabilities), dict(self.provenance))

    # --- elsewhere --------------------------------------------------------------------------

    def mapping(self) -> dict[str, dict[str, float]]:
        """The same as a plain dictionary."""
        return dict(self.items())

    def to_frame(self) -> Any:
        """For pandas: a row for each move of each information set."""
        rows = [
            (infoset.name, infoset.player, action, probability)
            for infoset in self.tree.infosets()
            for action, probability in self._dict(infoset).items()
        ]
        names = ("infoset", "player", "action", "probability")
        return frame({name: [row[k] for row in rows] for k, name in enumerate(names)})

    def to_open_spiel(self) -> Any:
        """As a `TabularPolicy` of OpenSpiel, for games that are there too."""
        from riverboat.strategies.open_spiel import to_open_spiel  # an optional library

        return to_open_spiel(self)

    @staticmethod
    def from_open_spiel(tree: Tree, policy: Any) -> Strategy:
        """The strategy for a tree that a policy of OpenSpiel describes."""
        from riverboat.strategies.open_spiel import from_open_spiel

        return from_open_spiel(tree, policy)

    def __repr__(self) -> str:
        return f"<Strategy for {self.tree.name}: {len(self)} information sets>"

    def _repr_html_(self) -> str:
        rows = tuple(
            (infoset.name, f"{infoset.player}", "  ".join(f"{a} {p:.1%}" for a, p in self._dict(infoset).items()))
            for infoset in islice(self.tree.infosets(), SHOWN)
        )
        more = f"; the first {SHOWN}" if len(self) > SHOWN else ""
        title = f"{self.tree.name}: {len(self):,} information sets{more}"
        columns = Column("infoset", title="information set"), Column("player"), Column("strategy", PROSE)
        return ReportTable(title, columns, rows)._repr_html_()


class _Items(ItemsView[str, dict[str, float]]):
    """Pairs without looking up each name."""

    def __init__(self, strategy: Strategy) -> None:
        super().__init__(strategy)
        self._strategy = strategy

    def __iter__(self) -> Iterator[tuple[str, dict[str, float]]]:
        strategy = self._strategy
        return ((infoset.name, strategy._dict(infoset)) for infoset in strategy.tree.infosets())
