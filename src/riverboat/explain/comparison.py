"""What changes between two strategies, where, and what it is worth.

    told = compare(spot_decisions(before[""]), spot_decisions(after[""]))

Moves are compared by what they mean: folds, checks and calls, bets and raises of all sizes together; so two sizes can be
compared. Where both tables have the same hands, as before and after a lock, rules are learned for the change itself, and the
second strategy's EVs say what it is worth: what is lost by still playing as before. Where they do not, as on two boards,
groups of hands stand beside each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.tables import SHARE, Column, ReportTable, known
from riverboat.explain.decisions import Decisions
from riverboat.explain.explanation import Explanation, explain
from riverboat.explain.text import move_words
from riverboat.strategies.rule_list import CALL, FLAG, FOLD, LEVEL, OTHER, RAISE, Move

KINDS = (FOLD, CALL, RAISE)
CHANGED = 0.1  # of a probability: less is called the same


@dataclass(frozen=True)
class Comparison:
    """Two strategies beside each other; figures are of the second less the first."""

    titles: tuple[str, str]
    moves: ReportTable  # how often each is made, in both
    groups: ReportTable  # of hands, the largest changes first
    distance: float | None  # total variation over the second's hands, where both have the same ones
    worth: float | None  # what the second earns beyond playing as the first in its place, in `unit`
    unit: str
    change: Explanation | None  # rules of what changed

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "titles": list(self.titles),
            "moves": list(self.moves),
            "groups": list(self.groups),
            "distance": self.distance,
            "worth": self.worth,
            "unit": self.unit,
            "change": None if self.change is None else self.change.to_dict(),
        }


def compare(first: Decisions, second: Decisions, rules: int = 6) -> Comparison:
    """What changes from one table of decisions to another over the same features."""
    able = {move.kind for table in (first, second) for k, move in enumerate(table.moves) if table.possible[:, k].any()}
    kinds = [kind for kind in KINDS if kind in able]
    if any(move.kind == OTHER for move in (*first.moves, *second.moves)):
        raise InputError(f"{first.title} and {second.title}: only moves of poker are compared")
    one, two = (_by_kind(table, kinds) for table in (first, second))
    faced = np.array([FOLD in kinds])
    words = [move_words(Move(kind), faced) for kind in kinds]
    often = [(w, float(first.weight @ one[:, k]), float(second.weight @ two[:, k])) for k, w in enumerate(words)]
    moves = ReportTable("", _columns("move"), tuple((w, a, b, b - a) for w, a, b in often))
    same = first.names == second.names
    distance = worth = change = None
    if same:
        distance = float(second.weight @ (0.5 * np.abs(one - two).sum(axis=1)))
        if second.worth is not None and first.moves == second.moves:
            lost = ((second.played - first.played) * np.where(second.possible, second.worth, 0.0)).sum(axis=1)
            worth = float(second.weight @ lost)
        change = explain(_changes(second, one, two, words), rules, "list")
    return Comparison(
        (first.title, second.title),
        moves,
        _groups(first, second, one, two, words),
        distance,
        worth,
        second.unit,
        change,
    )


def _columns(name: str) -> tuple[Column, ...]:
    return Column(name), Column("first", SHARE), Column("second", SHARE), Column("change", SHARE)


def _by_kind(table: Decisions, kinds: list[str]) -> Array:
    """What is played, sizes put together. float64 [n, kinds]"""
    out = np.zeros((len(table), len(kinds)))
    for k, move in enumerate(table.moves):
        if move.kind in kinds:
            out[:, kinds.index(move.kind)] += table.played[:, k]
    return out


def _changes(second: Decisions, one: Array, two: Array, words: list[str]) -> Decisions:
    """Whether a hand does something more often, or the same, as a table of its own: one move for each answer."""
    grown = (two - one).argmax(axis=1)
    most = (two - one).max(axis=1)
    answers = ("the same", *(f"{word} more often" for word in words))
    place = np.where(most >= CHANGED, grown + 1, 0)
    played = (np.arange(len(answers)) == place[:, None]).astype(float)
    used = played.any(axis=0)
    moves = tuple(Move(OTHER, 0.0, answer) for answer, there in zip(answers, used, strict=True) if there)
    possible = np.ones((len(second), int(used.sum())), bool)
    return replace(
        second, title="what changes", moves=moves, possible=possible, played=played[:, used], worth=None, emphasis=None
    )


def _groups(first: Decisions, second: Decisions, one: Array, two: Array, words: list[str]) -> ReportTable:
    """Hands by level and by flag: how often the move that changes most is made in both."""
    rows = []
    shared = {f.name for f in first.features} & {f.name for f in second.features}
    for feature in (f for f in second.features if f.name in shared and f.kind in (LEVEL, FLAG)):
        values = range(len(feature.levels)) if feature.kind == LEVEL else (1,)
        for value in values:
            mine, theirs = (table.columns[feature.name] == value for table in (first, second))
            a, b = float(first.weight[mine].sum()), float(second.weight[theirs].sum())
            if min(a, b) < 0.005:
                continue
            before, after = first.weight[mine] @ one[mine] / a, second.weight[theirs] @ two[theirs] / b
            k = int(np.abs(after - before).argmax())
            name = feature.name if feature.kind == FLAG else f"{feature.name}: {feature.levels[value]}"
            change = float(after[k] - before[k])
            rows.append((name, words[k], known(float(before[k])), known(float(after[k])), change, b))
    rows.sort(key=lambda row: -abs(row[4]) * row[5])
    columns = Column("hands"), Column("move"), *_columns("")[1:], Column("share", SHARE)
    return ReportTable("", columns, tuple(rows))
