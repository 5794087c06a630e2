"""Charts: what is done with each of the 169 starting hands, as grids to click through, compare, print and save.

    book = charts_of("demo")                    # or runs/spot, push:10,10,15?payouts=50,30,20, runs/small?state=5,5,5
    book["cr300"].grid.save("open.png")
    save_sheet(book.charts[:6], "sheet.png")    # one picture

A book has a chart for every decision of a blueprint before the flop, for nodes of a solved spot, or for every decision of a
push or fold table, which may be a state of a tournament.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.search import SearchingAgent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.cards.grid import CLASS_NAMES, Grid
from riverboat.cards.notation import show_cards
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.games.holdem.menus import SEATS
from riverboat.games.holdem.rules import Rules
from riverboat.practice.push_charts import FOLD, JAM, PushTable, is_push, push_table
from riverboat.strategies.reports.blueprint import first_street
from riverboat.strategies.reports.blueprint import grid as node_grid
from riverboat.strategies.reports.public_state import PlaceNode, player_node

ACROSS = 3  # grids in a row of a sheet
MOST = 12  # grids of a sheet


@dataclass(frozen=True, eq=False)
class Chart:
    """One decision."""

    line: str
    who: str
    title: str
    grid: Grid
    reached: float | None = None  # how often it comes to that; None where it is not known

    @property
    def moves(self) -> tuple[str, ...]:
        """Passive ones first."""
        return tuple(reversed(self.grid.frequencies))

    def to_dict(self) -> dict[str, Any]:
        """For JSON: weights and frequencies of the 169 cells, row by row from AA."""
        grid = self.grid
        return {
            "line": self.line,
            "who": self.who,
            "title": self.title,
            "reached": self.reached,
            "moves": list(self.moves),
            "colours": {name: grid.colours[name] for name in self.moves},
            "totals": {name: grid.share(name) for name in self.moves},
            "weight": grid.weight.ravel().tolist(),
            "strategy": {name: grid.frequencies[name].ravel().tolist() for name in self.moves},
            "cells": list(CLASS_NAMES),
        }


@dataclass(frozen=True, eq=False)
class Book:
    """The charts of one source, in the order of play; `shove` is the line of the answer to an all-in as the first raise."""

    name: str
    charts: tuple[Chart, ...]
    shove: str | None = None
    states: tuple[str, ...] = ()  # of a tournament: there is a book for each, NAME?state=5,5,5
    state: str = ""  # that of this one

    @cached_property
    def _by_line(self) -> dict[str, Chart]:
        return {chart.line: chart for chart in self.charts}

    def __getitem__(self, line: str) -> Chart:
        if line not in self._by_line:
            some = ", ".join(shown(known) for known in list(self._by_line)[:8])
            raise InputError(f"line {shown(line)}: {self.name} has no chart of it; it has {some}")
        return self._by_line[line]


def charts_of(source: str | Agent, line: str = "", depth: int = 1) -> Book:
    """The charts of a source by its name, or of an agent. In a solved spot those on the way to a line, and so many moves
    behind it."""
    if isinstance(source, str) and is_push(source):
        return push_book(push_table(source))
    agent = make_agent(source) if isinstance(source, str) else source
    if isinstance(agent, SolutionAgent):
        return _spot_book(agent, line, depth)
    base = agent.base if isinstance(agent, SearchingAgent) else agent
    if isinstance(base, BlueprintAgent):
        return _blueprint_book(base)
    raise InputError(
        f"agent {agent.name!r}: has no charts; blueprints, solved spots, tournaments and {shown('push:10,10')} have some"
    )


def push_book(table: PushTable) -> Book:
    """All decisions of a push or fold table."""
    charts = []
    for line in table.lines:
        square = table.jams(line).reshape(13, 13)
        stacks = f"stacks {table.state}: " if table.state else ""
        title = f"{stacks}{table.who(line)}, {_said(line)}"
        charts.append(Chart(line, table.who(line), title, Grid.actions({FOLD: 1.0 - square, JAM: square}, title=title)))
    return Book(table.name, tuple(charts), states=table.states, state=table.state)


def _said(line: str) -> str:
    jams = line.count("J")
    return "first in" if not jams else f"behind {jams} all-in{'s' * (jams > 1)} ({line})"


def _blueprint_book(agent: BlueprintAgent) -> Book:
    """Every decision of the blueprint before the flop, and the answer to a shove if that is none of them."""
    charts = [_chart(agent, node) for node in first_street(agent.played.on_tree())]
    shove = shove_line(agent.played.strategy.rules)
    if shove is not None and not any(chart.line == shove for chart in charts):
        charts.append(_chart(agent, player_node(agent, agent.played.strategy.rules, shove)))
    return Book(agent.name, tuple(charts), shove)


def _chart(agent: BlueprintAgent, node: PlaceNode) -> Chart:
    grid = node_grid(node)
    if grid is None:
        raise InputError(f"agent {agent.name!r}: its hands have one card; charts are of two")
    return Chart(node.line, SEATS[node.seat], grid.title, grid, node.chance)


def shove_line(rules: Rules) -> str | None:
    """The line in which the first player raises all-in; None where bets have limits or stacks none."""
    return None if rules.limit or rules.stacks is None else f"r{min(rules.stacks)}"


def _spot_book(agent: SolutionAgent, line: str, depth: int) -> Book:
    """The decisions on the way to a node, the node itself and those behind its moves; cards are dealt as the line says."""
    charts, waiting = [], [*((before, depth) for before in _way(line)), (line, 0)]
    while waiting:
        here, far = waiting.pop(0)
        node = agent.solution[here]
        if node.player < 0:
            continue
        grid = node.grid()
        title = f"{show_cards(node.board, ' ')} {here or 'root'}: {SEATS[node.player]}"
        grid.title = title
        charts.append(Chart(here, SEATS[node.player], title, grid, node.played))
        if far < depth:
            waiting += [(f"{here}-{move}".removeprefix("-"), far + 1) for move in node.actions if move != "f"]
    if not charts:
        raise InputError(f"line {shown(line)}: nobody acts there")
    return Book(agent.name, tuple(charts))


def _way(line: str) -> list[str]:
    """The lines before a line: `b50-c/8h` has the root, `b50` and `b50-c`."""
    return ["", *(line[: mark.start()] for mark in re.finditer(r"[-/]", line))] if line else []


# --- two charts, and many in one picture --------------------------------------------------------


def difference(one: Chart, other: Chart) -> dict[str, Any]:
    """Where two charts differ: for each move of either, the frequency in the second less that in the first, by cell."""
    moves = dict.fromkeys((*one.moves, *other.moves))
    nothing = np.zeros((13, 13))
    change = {m: other.grid.frequencies.get(m, nothing) - one.grid.frequencies.get(m, nothing) for m in moves}
    held = np.minimum(one.grid.weight, other.grid.weight) * one.grid.combos
    apart = sum((np.abs(each) for each in change.values()), nothing) / 2
    return {
        "lines": [one.line, other.line],
        "moves": list(moves),
        "change": {move: each.ravel().tolist() for move, each in change.items()},
        "apart": apart.ravel().tolist(),
        "mean": float((apart * held).sum() / max(held.sum(), 1e-300)),
        "cells": list(CLASS_NAMES),
    }


def save_sheet(charts: Sequence[Chart], path: str | Path) -> Path:
    """Draw charts side by side into one .png, .svg or .pdf file."""
    if not 1 <= len(charts) <= MOST:
        raise InputError(f"{len(charts)} charts: a sheet has 1 to {MOST}; choose some by their lines")
    return atomic_io.save_picture(_sheet(charts), path)


def _sheet(charts: Sequence[Chart]) -> Any:
    from matplotlib.figure import Figure

    across = min(ACROSS, len(charts))
    down = ceil(len(charts) / across)
    figure = Figure(figsize=(6.4 * across, 7.0 * down), layout="constrained")
    for number, axes in enumerate(figure.subplots(down, across, squeeze=False).ravel()):
        if number < len(charts):
            charts[number].grid.draw(axes)
        else:
            axes.set_axis_off()
    return figure
