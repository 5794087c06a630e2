"""Charts: the strategy with each of the 169 starting hands, as grids to browse, compare, print and save.

    book = load_charts("demo")                  # or runs/spot, push:10,10,15?payouts=50,30,20, runs/small?state=5,5,5
    book["cr300"].grid.save("open.png")
    save_sheet(book.charts[:6], "sheet.png")    # one picture

A book has a chart for every decision of a blueprint before the flop, for nodes of a solved spot, or for every
decision of a push/fold table, which may be a state of a tournament.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.search import SearchAgent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.cards.grid import CLASS_NAMES, HandGrid
from riverboat.cards.notation import format_cards
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, RiverboatError, short_repr, unknown_name_error
from riverboat.games.holdem.menus import SEATS
from riverboat.games.holdem.rules import PokerRules
from riverboat.plots.figures import save_figure
from riverboat.practice.verdicts import DecisionVerdict, VerdictOption
from riverboat.strategies import files as strategy_files
from riverboat.strategies.public_strategy import PublicStateCache
from riverboat.strategies.reports.blueprint import first_street_nodes, strategy_grid
from riverboat.strategies.reports.public_state import PublicStateNode, policy_node
from riverboat.tournaments.equilibrium import make_push_fold_game, solve
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.run import ARTIFACT_KIND, SolvedTournament, load_tournament
from riverboat.tournaments.stage_game import PushFoldStage
from riverboat.tournaments.tournament import Tournament

# --- Push/fold tables ---

PREFIX = "push:"
ITERATIONS = 2000
TARGETS = {2: 1e-6, 3: 1e-4}  # ε by players, as a share of the prizes or of the big blind
MULTIPLAYER_TARGET = 1e-3  # ε with more players
FOLD, JAM = "fold", "all-in"
_OPTION_KEYS = ("blinds", "ante", "payouts")
_OPEN_TOURNAMENTS = artifacts.ArtifactCache[SolvedTournament](4)
_SOLVED_TABLES: PublicStateCache[PushTable] = PublicStateCache(16)  # key: name of the table


@dataclass(frozen=True, eq=False)
class PushTable:
    """Solved push/fold table. EVs are winnings over the whole hand, in chips or in money.

    Attributes
    ----------
    name
        Text that names the table.
    spot
        Stacks, blinds, ante and payouts.
    strategy
        Probability of going all-in, float64 [lines, classes].
    line_numbers
        Index of each line.
    counterfactual_values
        Function that returns the counterfactual values of both actions, and reach probabilities.
    prizes
        Sum of the prizes, if the table is played for money.
    states
        States of its tournament, as stacks in units: each is a table.
    state
        State of this table.

    Examples
    --------
    >>> table = push_table("push:10,10")
    >>> table.lines, table.pot("J")
    (('', 'J'), 11.0)
    """

    name: str
    spot: PushFold
    strategy: Array  # float64 [lines, classes]: probability of going all-in
    line_numbers: Mapping[str, int]  # index of each line
    counterfactual_values: Callable[[], tuple[Array, Array]]  # values of both actions, and reach probabilities
    prizes: float | None = None  # sum of the prizes, if the table is played for money
    states: tuple[str, ...] = ()  # states of its tournament, as stacks in units: each is a table
    state: str = ""  # state of this table

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines at which a player decides."""
        return tuple(self.line_numbers)

    def line_number(self, line: str) -> int:
        """Return the index of a line.

        Parameters
        ----------
        line
            J and F by player.

        Raises
        ------
        InputError
            If no player decides there.
        """
        if line not in self.line_numbers:
            examples = ", ".join(map(short_repr, self.lines[:6]))
            raise InputError(
                f"line {short_repr(line)}: no player decides there; lines are J and F by player, such as {examples}"
            )
        return self.line_numbers[line]

    @cached_property
    def evs(self) -> Array:
        """EVs of all-in and fold for each class at each line. float64 [lines, 2, classes]; NaN: never reached"""
        values, reach = self.counterfactual_values()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(reach[:, None, :] > 1e-15, values / reach[:, None, :], np.nan)

    def pot(self, line: str) -> float:
        """Return the pot at a line.

        Parameters
        ----------
        line
            J and F by player.
        """
        jammed = [self.spot.stacks[i] for i, move in enumerate(line) if move == "J"]
        rest = [self.spot.posted[i] for i in range(self.spot.players) if line[i : i + 1] != "J"]
        return float(sum(jammed) + sum(rest))

    def verdict(self, line: str, group: int) -> DecisionVerdict:
        """Return the verdict for a class of hands at a line.

        Parameters
        ----------
        line
            J and F by player.
        group
            Class of the hand, 0 to 168, row by row from AA.
        """
        k = self.line_number(line)
        jam = float(self.strategy[k, group])
        evs = [None if np.isnan(x) else float(x) for x in self.evs[k, :, group]]
        options = (VerdictOption(FOLD, 1 - jam, evs[1]), VerdictOption(JAM, jam, evs[0]))
        if self.prizes is None:
            return DecisionVerdict(options, "the chart", self.pot(line))
        return DecisionVerdict(options, "the chart", self.prizes, unit="of the payouts", share_of="the prizes")


def is_push_source(text: str) -> bool:
    """Whether a text names a push/fold table: stacks, or the folder of a tournament.

    Parameters
    ----------
    text
        Name of a source.

    Returns
    -------
    bool
        False also if a folder cannot be read.

    Examples
    --------
    >>> is_push_source("push:10,10"), is_push_source("rule-based")
    (True, False)
    """
    folder = Path(text.partition("?")[0])
    if not text.startswith(PREFIX) and folder.is_dir():
        with suppress(RiverboatError):
            return artifacts.read_manifest(strategy_files.latest_artifact(folder)).text("kind") == ARTIFACT_KIND
    return text.startswith(PREFIX)


def push_table(text: str) -> PushTable:
    """Return the push/fold table that a text names.

    Parameters
    ----------
    text
        `push:10,10,15?ante=0.1&payouts=50,30,20&blinds=0.5,1` has stacks in the order of action;
        `runs/small?state=5,5,5` is a state of a solved tournament, with stacks in units.

    Returns
    -------
    PushTable
        The table, solved the first time and then cached.

    Raises
    ------
    InputError
        If the text is invalid.

    Examples
    --------
    >>> push_table("push:10,10").verdict("", 0).best.move
    'all-in'
    """
    if not text.startswith(PREFIX):
        return _tournament_table(text)
    return _SOLVED_TABLES.get_or_compute(_table_key(text), lambda: _solve_table(text))


def _table_key(text: str) -> bytes:
    """Return the key of a table; arguments of a command may hold bytes that are no UTF-8."""
    return text.encode(errors="surrogateescape")


def is_solved(text: str) -> bool:
    """Whether `push_table` only reads: a state of a tournament, or a table that is already solved.

    Parameters
    ----------
    text
        Name of a push/fold table.

    Returns
    -------
    bool
        Whether no solving is needed.

    Examples
    --------
    >>> is_solved("push:9,9")
    False
    """
    return not text.startswith(PREFIX) or _SOLVED_TABLES.get(_table_key(text)) is not None


def _tournament_table(text: str) -> PushTable:
    """Return the table of one tournament state; next states are worth their values in the solution, not by ICM."""
    folder, _, tail = text.partition("?")
    solved = _OPEN_TOURNAMENTS.get(strategy_files.latest_artifact(folder), lambda: load_tournament(Path(folder)))
    tournament = solved.tournament
    key, _, value = tail.partition("=")
    if tail and key != "state":
        raise InputError(f"chart {short_repr(text)}: {unknown_name_error('option', key, ('state',))}")
    most_equal = min(tournament.states, key=lambda state: (-len(state), max(state) - min(state), state))
    state = _parse_state(tournament, value, text) if tail else most_equal
    spot = tournament.spot(state)
    strategy = solved.strategy(state)

    def action_values() -> tuple[Array, Array]:
        problem = PushFoldStage(spot).response_problem(strategy)
        pay = solved.outcome_payoffs(state)
        return problem.action_values(pay), problem.action_values(np.ones_like(pay))[:, 1]

    numbers = {line: k for k, line in enumerate(spot.lines)}
    states = tuple(",".join(map(str, stacks)) for stacks in tournament.states)
    name = states[tournament.state_index[state]]
    return PushTable(text, spot, strategy, numbers, action_values, sum(tournament.payouts), states, name)


def _parse_state(played: Tournament, value: str, text: str) -> tuple[int, ...]:
    state = tuple(int(part) if re.fullmatch(r"\d{1,6}", part, re.ASCII) else 0 for part in value.split(","))
    if state not in played.state_index:
        raise InputError(
            f"chart {short_repr(text)}: state {short_repr(value)}: must be 2 to {played.players} whole numbers that sum to "
            f"{played.units} units of {played.unit:g} chips"
        )
    return state


def _solve_table(text: str) -> PushTable:
    stacks, _, tail = text.removeprefix(PREFIX).partition("?")
    options: dict[str, str] = {}
    for part in filter(None, tail.split("&")):
        key, _, value = part.partition("=")
        if key not in _OPTION_KEYS or key in options:
            raise InputError(f"chart {short_repr(text)}: {unknown_name_error('option', key, _OPTION_KEYS)}")
        options[key] = value
    blinds = _parse_numbers(options.get("blinds", "0.5,1"), text)
    if len(blinds) != 2:
        raise InputError(f"chart {short_repr(text)}: blinds: must be the small and the big blind, such as 0.5,1")
    (ante,) = _parse_numbers(options.get("ante", "0"), text)[:1]
    payouts = _parse_numbers(options["payouts"], text) if "payouts" in options else None
    spot = PushFold(_parse_numbers(stacks, text), (blinds[0], blinds[1]), ante, payouts)
    scale = sum(payouts) if payouts is not None else blinds[1]
    game = make_push_fold_game(spot)
    strategy = solve(game, "cfr", ITERATIONS, TARGETS.get(spot.players, MULTIPLAYER_TARGET) * scale).strategy
    return PushTable(
        text, spot, strategy, game.lines, lambda: (game.counterfactual_values(strategy), game.reach(strategy)),
        None if payouts is None else scale,
    )  # fmt: skip


def _parse_numbers(text: str, where: str) -> tuple[float, ...]:
    parts = text.split(",")
    if not all(re.fullmatch(r"\s*\d+(\.\d+)?\s*", part, re.ASCII) for part in parts):
        raise InputError(f"chart {short_repr(where)}: {short_repr(text)}: write numbers such as 10,10,15")
    return tuple(map(float, parts))


MAX_GRIDS = 12  # most grids of a sheet


@dataclass(frozen=True, eq=False)
class Chart:
    """Chart of one decision.

    Attributes
    ----------
    line
        Line of the decision.
    position
        Seat or position that decides.
    title
        Title of the chart.
    grid
        Frequencies of the 169 classes.
    reached
        Probability of reaching the decision; None if unknown.

    Examples
    --------
    >>> chart = load_charts("push:10,10")[""]
    >>> chart.title, chart.moves
    ('SB, first in', ('fold', 'all-in'))
    """

    line: str
    position: str
    title: str
    grid: HandGrid
    reached: float | None = None  # probability of reaching the decision; None if unknown

    @property
    def moves(self) -> tuple[str, ...]:
        """Actions, passive ones first."""
        return tuple(reversed(self.grid.frequencies))

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as a JSON object: weights and frequencies of the 169 cells, row by row from AA."""
        grid = self.grid
        return {
            "line": self.line,
            "who": self.position,
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
class ChartBook:
    """Charts of one source, in the order of play.

    Attributes
    ----------
    name
        Name of the source.
    charts
        The charts; `book[line]` finds one.
    shove_line
        Line of the response to an all-in as the first raise; None if there is none.
    states
        States of a tournament: each has a book, `NAME?state=5,5,5`.
    state
        State of this book.

    Examples
    --------
    >>> [chart.line for chart in load_charts("push:10,10").charts]
    ['', 'J']
    """

    name: str
    charts: tuple[Chart, ...]
    shove_line: str | None = None
    states: tuple[str, ...] = ()  # states of a tournament: each has a book, NAME?state=5,5,5
    state: str = ""  # state of this book

    def __getitem__(self, line: str) -> Chart:
        for chart in self.charts:
            if chart.line == line:
                return chart
        examples = ", ".join(short_repr(chart.line) for chart in self.charts[:8])
        raise InputError(f"line {short_repr(line)}: {self.name} has no chart of it; it has {examples}")


def load_charts(source: str | Agent, line: str = "") -> ChartBook:
    """Load the charts of a source by its name, or of an agent.

    Parameters
    ----------
    source
        Push/fold table, folder of a tournament or of a solved spot, agent spec, or agent.
    line
        For a solved spot: the charts are the decisions up to this line, and those after one more action.

    Returns
    -------
    ChartBook
        The charts.

    Raises
    ------
    InputError
        If the source has no charts.

    Examples
    --------
    >>> load_charts("push:10,10")["J"].position
    'BB'
    """
    if isinstance(source, str) and is_push_source(source):
        return push_book(push_table(source))
    agent = make_agent(source) if isinstance(source, str) else source
    if isinstance(agent, SolutionAgent):
        return _spot_book(agent, line)
    base = agent.base if isinstance(agent, SearchAgent) else agent
    if isinstance(base, BlueprintAgent):
        return _blueprint_book(base)
    raise InputError(
        f"agent {agent.name!r}: has no charts; use a blueprint, a solved spot, a tournament or {short_repr('push:10,10')}"
    )


def push_book(table: PushTable) -> ChartBook:
    """Return the charts of all decisions of a push/fold table.

    Parameters
    ----------
    table
        Solved table.

    Returns
    -------
    ChartBook
        One chart for each line.

    Examples
    --------
    >>> len(push_book(push_table("push:10,10")).charts)
    2
    """
    charts = []
    for line in table.lines:
        square, position = table.strategy[table.line_number(line)].reshape(13, 13), table.spot.positions[len(line)]
        stacks, jams = f"stacks {table.state}: " if table.state else "", line.count("J")
        action = f"behind {jams} all-in{'s' * (jams > 1)} ({line})" if jams else "first in"
        title = f"{stacks}{position}, {action}"
        charts.append(Chart(line, position, title, HandGrid.actions({FOLD: 1.0 - square, JAM: square}, title=title)))
    return ChartBook(table.name, tuple(charts), states=table.states, state=table.state)


def _blueprint_book(agent: BlueprintAgent) -> ChartBook:
    """Return charts of all decisions of a blueprint before the flop, and of the response to a first all-in raise."""
    charts = [_make_chart(agent, node) for node in first_street_nodes(agent.policy.tree_strategy())]
    shove = shove_line(agent.policy.strategy.rules)
    if shove is not None and not any(chart.line == shove for chart in charts):
        charts.append(_make_chart(agent, policy_node(agent, agent.policy.strategy.rules, shove)))
    return ChartBook(agent.name, tuple(charts), shove)


def _make_chart(agent: BlueprintAgent, node: PublicStateNode) -> Chart:
    grid = strategy_grid(node)
    if grid is None:
        raise InputError(f"agent {agent.name!r}: its hands have one card; charts need two")
    return Chart(node.line, SEATS[node.seat], grid.title, grid, node.reach_probability)


def shove_line(rules: PokerRules) -> str | None:
    """Return the line in which the first player raises all-in.

    Parameters
    ----------
    rules
        Game.

    Returns
    -------
    str or None
        None in limit games or without stacks.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> shove_line(read_game("nolimit-200bb"))
    'r20000'
    """
    return None if rules.limit or rules.stacks is None else f"r{min(rules.stacks)}"


def _spot_book(agent: SolutionAgent, line: str) -> ChartBook:
    """Return charts of the decisions on the path to a line, at the line, and after each of its actions but a fold."""
    before = ["", *(line[: mark.start()] for mark in re.finditer(r"[-/]", line))] if line else []
    after = [f"{line}-{move}".removeprefix("-") for move in agent.solution[line].actions if move != "f"]
    charts = []
    for node_line in (*before, line, *after):
        node = agent.solution[node_line]
        if node.player < 0:
            continue
        grid = node.grid()
        grid.title = f"{format_cards(node.board, ' ')} {node_line or 'root'}: {SEATS[node.player]}"
        charts.append(Chart(node_line, SEATS[node.player], grid.title, grid, node.reach_probability))
    if not charts:
        raise InputError(f"line {short_repr(line)}: no player acts there")
    return ChartBook(agent.name, tuple(charts))


# --- Comparison and printing ---


def compare_charts(one: Chart, other: Chart) -> dict[str, Any]:
    """Compare two charts: for each action, its frequency in the second minus that in the first, by cell.

    Parameters
    ----------
    one
        First chart.
    other
        Second chart.

    Returns
    -------
    dict
        A JSON object with the changes by action and cell, and the mean total variation distance.

    Examples
    --------
    >>> book = load_charts("push:10,10")
    >>> compare_charts(book[""], book[""])["mean"]
    0.0
    """
    moves = dict.fromkeys((*one.moves, *other.moves))
    zeros = np.zeros((13, 13))
    change = {m: other.grid.frequencies.get(m, zeros) - one.grid.frequencies.get(m, zeros) for m in moves}
    combos = np.minimum(one.grid.weight, other.grid.weight) * one.grid.combos
    distance = sum((np.abs(difference) for difference in change.values()), zeros) / 2
    return {
        "lines": [one.line, other.line],
        "moves": list(moves),
        "change": {move: difference.ravel().tolist() for move, difference in change.items()},
        "apart": distance.ravel().tolist(),
        "mean": float((distance * combos).sum() / max(combos.sum(), 1e-300)),
        "cells": list(CLASS_NAMES),
    }


def save_sheet(charts: Sequence[Chart], path: str | Path) -> Path:
    """Draw several charts into one .png, .svg or .pdf file.

    Parameters
    ----------
    charts
        1 to 12 charts.
    path
        The file; its ending selects the format.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If there are no charts or too many.

    Examples
    --------
    >>> save_sheet([], "sheet.png")
    Traceback (most recent call last):
    ...
    riverboat.core.errors.InputError: 0 charts: a sheet must have 1 to 12; choose some by their lines
    """
    if not 1 <= len(charts) <= MAX_GRIDS:
        raise InputError(f"{len(charts)} charts: a sheet must have 1 to {MAX_GRIDS}; choose some by their lines")
    from riverboat.plots.hand_grids import plot_grids  # loads matplotlib

    return save_figure(plot_grids([chart.grid for chart in charts]), path)
