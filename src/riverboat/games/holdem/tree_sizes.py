"""How large a tree of betting is, and what tables over it and buckets of hands will take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from riverboat.core.errors import InputError
from riverboat.core.formatting import show_bytes
from riverboat.core.tables import FIGURE, Column, ReportTable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

ByStreet: TypeAlias = tuple[int, ...]
_COLUMNS = (
    Column("street"), Column("decisions", FIGURE, rank=2), Column("actions", FIGURE, rank=2),
    Column("buckets", FIGURE, rank=1), Column("information sets", FIGURE), Column("infoset-actions", FIGURE, rank=1),
    Column("memory", FIGURE),
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """How large a tree of betting is. Terminals belong to the street of the move that ends the hand."""

    name: str
    streets: tuple[str, ...]
    decisions: tuple[tuple[int, int], ...]  # by street, then by seat
    actions: tuple[tuple[int, int], ...]  # of these decisions
    folds: ByStreet
    showdowns: ByStreet  # also all-in and called before the last street

    @property
    def nodes(self) -> int:
        """Decisions and terminals."""
        return sum(map(sum, self.decisions)) + self.terminals

    @property
    def terminals(self) -> int:
        """Ends of a hand."""
        return sum(self.folds) + sum(self.showdowns)

    def counts(self, buckets: Sequence[int], entry_bytes: float = 8) -> Counts:
        """Sizes of tables with so many buckets on each street, and so many bytes for an action of an information set."""
        if len(buckets) != len(self.streets) or min(buckets) < 1:
            raise InputError(
                f"buckets={tuple(buckets)}: give a number above zero for each of {', '.join(self.streets)}"
            )
        return Counts(self, tuple(int(b) for b in buckets), entry_bytes)


@dataclass(frozen=True)
class Counts:
    """A tree of betting times buckets: what a solver will allocate. `str` gives it as a table."""

    shape: Shape
    buckets: ByStreet
    entry_bytes: float

    @property
    def infosets(self) -> ByStreet:
        """Information sets of both players, by street."""
        return tuple(sum(d) * b for d, b in zip(self.shape.decisions, self.buckets, strict=True))

    @property
    def infoset_actions(self) -> ByStreet:
        """Actions of these information sets, by street."""
        return tuple(sum(a) * b for a, b in zip(self.shape.actions, self.buckets, strict=True))

    @property
    def bytes(self) -> ByStreet:
        """Memory of the tables, by street."""
        return tuple(int(n * self.entry_bytes) for n in self.infoset_actions)

    @property
    def table(self) -> ReportTable:
        """A row for each street, and one for all."""
        shape, rows = self.shape, []
        for street, name in enumerate(shape.streets):
            here = (sum(shape.decisions[street]), sum(shape.actions[street]), self.buckets[street])
            tables = (self.infosets[street], self.infoset_actions[street])
            rows.append((name, *(f"{n:,}" for n in here + tables), show_bytes(self.bytes[street])))
        both = (sum(map(sum, shape.decisions)), sum(map(sum, shape.actions)))
        sums = (f"{sum(self.infosets):,}", f"{sum(self.infoset_actions):,}", show_bytes(sum(self.bytes)))
        rows.append(("all", *(f"{n:,}" for n in both), "", *sums))
        return ReportTable("", _COLUMNS, tuple(rows))

    def _parts(self) -> tuple[str, ReportTable, str]:
        shape = self.shape
        head = (
            f"{shape.name}: {shape.nodes:,} nodes, {sum(map(sum, shape.decisions)):,} decisions and "
            f"{shape.terminals:,} terminals ({sum(shape.folds):,} folds, {sum(shape.showdowns):,} showdowns)"
        )
        return head, self.table, f"at {self.entry_bytes:g} bytes an infoset-action"

    def __str__(self) -> str:
        return "\n".join(map(str, self._parts()))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        yield from self._parts()
