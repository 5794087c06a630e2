"""One iteration of CFR written out node by node, as in a textbook.

    print(trace(make("kuhn"), "QJ"))

The trace is a plain recursion over the tree with a payoff for every pair of hands. It shares nothing with the compiled
kernels, so it also checks them. For one deal, reach and regrets are *given the deal*; the regrets of the whole
iteration are those of all deals, each weighted by the probability of its deal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from riverboat.core.arguments import PositiveCount, checked
from riverboat.core.arrays import normalize
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportColumn, ReportTable
from riverboat.games.base import CHANCE, TERMINAL, Array, ComparisonPayoff, ConstantPayoff, Game, Payoff, append_label
from riverboat.solvers import schedules
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import as_tree, to_history_tree
from riverboat.trees.drawing import HandPair, count_nodes, find_deal
from riverboat.trees.public import Infoset, PublicTree

MAX_NODES = 5_000  # nodes in the traced part
MAX_CELLS = 50_000_000  # nodes times pairs of hands in one traversal: some seconds
MAX_DEPTH = 200  # the traversal recurses
ROUNDING = 1e-12  # regrets up to this are rounding errors: tied actions get equal probabilities
EMPTY: Array = np.zeros((0, 1, 1))


@dataclass(frozen=True)
class NodeRow:
    """One node in one traversal. Reach, `chance` and `counterfactual` are given the traced deal.

    Attributes
    ----------
    walk
        Index of the traversal; alternating schedules have one per player.
    line
        Actions that lead to the node.
    actor
        Player, `CHANCE` or `TERMINAL`.
    infoset
        Name of the information set; empty unless a player acts.
    reach
        Reach probability of each player.
    chance
        Reach probability of chance.
    value
        Expected payoffs from here, by player.
    strategy
        Probability of each action of the actor, or of chance.
    counterfactual
        Counterfactual value by action, for players who update.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.trace(rb.game("kuhn"), "QJ").nodes[0].strategy
    {'c': 0.5, 'r': 0.5}
    """

    walk: int  # index of the traversal; alternating schedules have one per player
    line: str
    actor: int  # player, CHANCE or TERMINAL
    infoset: str
    reach: tuple[float, ...]  # reach probability of each player
    chance: float  # reach probability of chance
    value: tuple[float, ...]  # expected payoffs from here
    strategy: dict[str, float]  # probability of each action of the actor, or of chance
    counterfactual: dict[str, float]  # counterfactual value by action, for players who update


@dataclass(frozen=True)
class InfosetRow:
    """The update of one information set in the traced iteration.

    Attributes
    ----------
    name
        Name of the information set.
    player
        Player who acts there.
    strategy
        Strategy of the iteration.
    deal_regrets
        Regrets given the traced deal.
    regrets
        Regrets of the whole iteration.
    cumulative
        Regrets after the iteration.
    next_strategy
        Strategy of the next iteration.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.trace(rb.game("kuhn"), "QJ")["Q:"].player
    0
    """

    name: str
    player: int
    strategy: dict[str, float]
    deal_regrets: dict[str, float]  # regrets given the traced deal
    regrets: dict[str, float]  # regrets of the whole iteration
    cumulative: dict[str, float]  # cumulative regrets after the iteration
    next_strategy: dict[str, float]


@dataclass(frozen=True)
class Trace:
    """One CFR iteration in detail: values at every node and the resulting regret updates.

    Attributes
    ----------
    game
        Name of the game.
    schedule
        The schedule as text.
    iteration
        The traced iteration, from 1.
    deal
        Hands of both players; None if the whole tree is traced.
    probability
        Probability of the deal.
    walks
        Players who update in each traversal.
    nodes
        One row for each node and traversal.
    infosets
        One row for each updated information set.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.trace(rb.game("kuhn"), "QJ").title
    'kuhn, iteration 1 of vanilla: player 0 holds Q, player 1 holds J (probability 0.1667)'
    """

    game: str
    schedule: str
    iteration: int
    deal: tuple[str, str] | None  # None: the whole tree
    probability: float  # probability of the deal
    walks: tuple[tuple[int, ...], ...]  # players who update in each traversal
    nodes: tuple[NodeRow, ...]
    infosets: tuple[InfosetRow, ...]

    @property
    def title(self) -> str:
        """Game, iteration, schedule and deal in one line."""
        text = f"{self.game}, iteration {self.iteration} of {self.schedule}"
        if self.deal is None:
            return f"{text}: the whole tree"
        hands = ", ".join(f"player {p} holds {hand}" for p, hand in enumerate(self.deal))
        return f"{text}: {hands} (probability {self.probability:.4g})"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain data, for JSON."""
        return asdict(self)

    def __getitem__(self, name: str) -> InfosetRow:
        for row in self.infosets:
            if row.name == name:
                return row
        raise InputError(
            f"{self.game}: information set {name!r} is not traced: {', '.join(r.name for r in self.infosets)}"
        )

    def _tables(self) -> Iterator[ReportTable]:
        players = range(len(self.nodes[0].reach))
        columns = (
            ReportColumn("line"), ReportColumn("turn"), ReportColumn("infoset", rank=1), ReportColumn("strategy"),
            *(ReportColumn(f"reach {p}") for p in players), ReportColumn("chance", rank=1),
            *(ReportColumn(f"value {p}") for p in players), ReportColumn("counterfactual values"),
        )  # fmt: skip
        for walk, learners in enumerate(self.walks):
            players_text = " and ".join(f"player {p}" for p in learners)
            title = f"Nodes, {players_text} learning" + (", given the deal" if self.deal else "")
            rows = [_node_cells(row) for row in self.nodes if row.walk == walk]
            yield ReportTable(title, columns, tuple(rows))
        regrets = ("given the deal", "all deals") if self.deal else ("regrets",)
        names = "infoset", "turn", "strategy", *regrets, "cumulative", "next"
        title = "Information sets and their regrets" + (", given the deal and of all deals" if self.deal else "")
        rows = [_infoset_cells(row, bool(self.deal)) for row in self.infosets]
        yield ReportTable(title, tuple(map(ReportColumn, names)), tuple(rows))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.title, style="bold")
        for table in self._tables():
            yield ""
            yield table

    def __str__(self) -> str:
        return "\n\n".join([self.title, *map(str, self._tables())])

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.title)}</b></p>" + "".join(table._repr_html_() for table in self._tables())


@checked
def trace(
    game_or_tree: str | Game | Tree,
    deal: HandPair | None = None,
    schedule: str | schedules.ScheduleOrFactory = "vanilla",
    iterations: PositiveCount = 1,
) -> Trace:
    """Trace one iteration of CFR for one deal of the hands, or in the whole tree.

    Parameters
    ----------
    game_or_tree
        Game, its name, or a compiled tree.
    deal
        Hands of both players, such as "QJ"; by default the whole tree is traced.
    schedule
        Name of a schedule, or a `Schedule`; user-defined rules are not supported.
    iterations
        Number of the traced iteration, from 1; earlier ones are run without a record.

    Returns
    -------
    Trace
        Values at every node, and the regret updates.

    Raises
    ------
    InputError
        If the deal or the schedule is invalid, or the game is too large to trace.

    References
    ----------
    .. [1] Neller & Lanctot, "An introduction to counterfactual regret minimization", 2013.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.trace(rb.game("kuhn"), "QJ")["Q:"].strategy
    {'c': 0.5, 'r': 0.5}
    """
    tree = as_tree(game_or_tree)
    pair = None if deal is None else find_deal(tree, deal)
    plan = schedules.reject_stakes(schedules.parse(schedule), "a trace")
    if not isinstance(plan, schedules.Schedule):
        raise InputError(
            f"schedule {plan.name!r}: a trace supports regret matching only: {', '.join(schedules.SCHEDULES)}"
        )
    _check_size(tree, pair)
    if pair is None:
        tree = to_history_tree(tree)
    solver = _TextbookCFR(tree, plan)
    for t in range(1, iterations):
        solver.iterate(t)
    recorder = _TraceRecorder(pair or (0, 0))
    solver.iterate(iterations, recorder)
    nodes = tuple(recorder.nodes[key] for key in sorted(recorder.nodes))
    hands = (tree.hands[0][pair[0]], tree.hands[1][pair[1]]) if pair and isinstance(tree, PublicTree) else None
    probability, infosets = float(solver.joint[recorder.pair]), tuple(_infoset_rows(solver, recorder, nodes))
    return Trace(tree.name, str(plan), iterations, hands, probability, solver.traversals, nodes, infosets)


def _check_size(tree: Tree, pair: tuple[int, int] | None) -> None:
    size = count_nodes(tree, pair)
    if size > MAX_NODES:
        advice = "; trace one deal with deal=" if pair is None and isinstance(tree, PublicTree) else ""
        raise InputError(f"{tree.name}: {size:,} nodes to trace, more than {MAX_NODES:,}{advice}")
    cells = len(tree.nodes.actor) * math.prod(tree.hand_counts)
    if pair is not None and cells > MAX_CELLS:
        raise InputError(
            f"{tree.name}: {cells:,} nodes times pairs of hands, more than {MAX_CELLS:,}; trace a smaller game"
        )
    if tree.depth > MAX_DEPTH:
        raise InputError(f"{tree.name}: {tree.depth} actions deep, more than {MAX_DEPTH}; trace a smaller game")


def regret_matching(regrets: Array) -> Array:
    """Return strategies proportional to positive regrets, uniform if none is positive.

    Parameters
    ----------
    regrets
        Cumulative regrets. float64 [actions, …]

    Returns
    -------
    array
        Probabilities. float64 [actions, …]

    References
    ----------
    .. [1] Hart & Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", Econometrica 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.solvers.tabular.trace import regret_matching
    >>> regret_matching(np.array([3.0, 1.0, -2.0])).tolist()
    [0.75, 0.25, 0.0]
    """
    return normalize(np.where(regrets > ROUNDING, regrets, 0.0))


def _payoff_table(payoff: Payoff, counts: tuple[int, int]) -> Array:
    """Return the payoffs of every pair of hands. float64 [2, hands0, hands1]"""
    if isinstance(payoff, ConstantPayoff):
        return np.broadcast_to(np.reshape(payoff.payoffs, (2, 1, 1)), (2, *counts))
    if isinstance(payoff, ComparisonPayoff):
        first, second = (np.asarray(strength) for strength in payoff.strengths)
        better = np.sign(first[:, None] - second[None, :])
        return np.moveaxis(np.array([payoff.lose, payoff.tie, payoff.win])[better + 1], -1, 0)
    return np.asarray(payoff.payoffs)


@dataclass(frozen=True, eq=False)
class _TraceRecorder:
    """Rows recorded during the traced iteration, for one pair of hands."""

    pair: tuple[int, int]
    nodes: dict[tuple[int, int], NodeRow] = field(default_factory=dict)  # by traversal and node
    table_indices: dict[str, Array] = field(default_factory=dict)  # entries of an infoset's actions, by its name

    def select_hands(self, array: Array) -> Array:
        """Return the entries of an array [..., hands0, hands1] for the traced pair of hands. float64 [...]"""
        h0, h1 = (min(h, n - 1) for h, n in zip(self.pair, array.shape[-2:], strict=True))
        return np.asarray(array[..., h0, h1])


class _TextbookCFR:
    """Recursive CFR without compiled kernels: regrets in a flat table in the tree's layout, and their updates.

    The last two axes of all arrays are player 0's hand and player 1's. Quantities that depend on one player's hand only
    have length 1 along the other's axis. A history tree has one hand for each player.
    """

    def __init__(self, tree: Tree, schedule: schedules.Schedule) -> None:
        self.tree, self.schedule = tree, schedule
        self.players = tuple(range(tree.players))
        self.traversals = tuple((p,) for p in self.players) if schedule.alternating else (self.players,)
        self.regret, self.prediction = np.zeros(tree.table_size), np.zeros(tree.table_size)
        self.owner = np.zeros(tree.table_size, int)  # player of each table entry
        self.infosets: list[Infoset] = []
        if isinstance(tree, PublicTree):
            self.joint, self.joiner = tree.deal.joint(), tree.joiner
            self.owner[tree.player_offsets[1] :] = 1
        else:
            self.joint, self.joiner = np.ones((1, 1)), " "
            self.infosets = list(tree.infosets())
            for i in self.infosets:
                self.owner[i.offset : i.offset + len(i.actions)] = i.player

    def iterate(self, t: int, notes: _TraceRecorder | None = None) -> None:
        """Run iteration t: discount regrets, add the new ones, apply the floor; `notes` records the nodes, if given."""
        self.notes, self.instant_regret = notes, np.zeros(self.tree.table_size)
        step = self.schedule.step(t)
        for number, learners in enumerate(self.traversals):
            self.traversal_index = number
            self.traverse(0, "", (np.ones((1, 1)),) * self.tree.players, np.ones(self.joint.shape))
            updated = np.isin(self.owner, learners)
            old = self.regret[updated]
            discounted = old * np.where(old > 0, step.positive, step.negative)
            self.regret[updated] = np.maximum(discounted + self.instant_regret[updated], step.floor)
            if self.schedule.predictive:
                self.prediction[updated] = self.instant_regret[updated]

    def traverse(self, node: int, line: str, reach: tuple[Array, ...], chance: Array) -> Array:
        """Return expected payoffs from a node and accumulate regrets below it. float64 [players, hands0, hands1]"""
        actor = int(self.tree.nodes.actor[node])
        strategy, action_values = EMPTY, EMPTY  # by action
        if actor == TERMINAL:
            value = self.payoffs(node)
        else:
            if actor == CHANCE:
                strategy = self.chance_probabilities(node)
                steps = [(reach, chance * probability) for probability in strategy]
            else:
                indices = self.table_indices(node)
                strategy = regret_matching(self.regret[indices] + self.prediction[indices])
                steps = [
                    ((*reach[:actor], reach[actor] * probability, *reach[actor + 1 :]), chance)
                    for probability in strategy
                ]
            lines = (append_label(line, self.joiner, label) for label in self.tree.labels(node))
            children = zip(self.tree.children(node), lines, steps, strict=True)
            child_values = np.array([self.traverse(child, to, *step) for child, to, step in children])
            value = np.sum(strategy[:, None] * child_values, axis=0)
            if actor in self.traversals[self.traversal_index]:
                # Counterfactual reach: the probability if the actor played to reach this node.
                others_reach = chance * math.prod(reach[p] for p in self.players if p != actor)
                action_values = others_reach * child_values[:, actor]
                regrets = action_values - others_reach * value[actor]
                opponent_axis = 2 if actor == 0 else 1  # the axis of the other player's hand
                self.instant_regret[indices] += np.sum(self.joint * regrets, axis=opponent_axis, keepdims=True)
        if self.notes is not None and self.notes.select_hands(chance) > 0:
            row = self.node_row(self.notes, node, line, reach, chance, value, strategy, action_values)
            self.notes.nodes[self.traversal_index, node] = row
        return value

    def payoffs(self, node: int) -> Array:
        """Return the payoffs at a terminal. float64 [players, hands0, hands1]"""
        if isinstance(self.tree, PublicTree):
            return _payoff_table(self.tree.layout.payoffs[self.tree.layout.index[node]], self.tree.hand_counts)
        return np.reshape(self.tree.payoffs[self.tree.nodes.data[node]], (-1, 1, 1))

    def chance_probabilities(self, node: int) -> Array:
        """Return chance probabilities, zero if the hands exclude an outcome. float64 [outcomes, hands0, hands1]"""
        if isinstance(self.tree, PublicTree):
            outcomes = self.tree.layout.chance_outcomes[self.tree.layout.index[node]]
            probabilities = np.zeros((len(outcomes), *self.tree.hand_counts))
            for k, outcome in enumerate(outcomes):
                probabilities[k] = outcome.weight
                probabilities[k, list(outcome.dead[0]), :] = 0.0
                probabilities[k, :, list(outcome.dead[1])] = 0.0
            return probabilities
        first, width = int(self.tree.nodes.data[node]), int(self.tree.nodes.width[node])
        probabilities = self.tree.chance[first : first + width].reshape(-1, 1, 1)
        return probabilities

    def table_indices(self, node: int) -> Array:
        """Return the table indices of a decision's actions for each hand. int64 [actions, hands0 or 1, hands1 or 1]"""
        actor, hands, base = int(self.tree.nodes.actor[node]), 1, 0
        if isinstance(self.tree, PublicTree):
            hands, base = self.tree.hand_counts[actor], self.tree.player_offsets[actor]
        rows = int(self.tree.nodes.data[node]) + np.arange(int(self.tree.nodes.width[node]))
        flat = base + rows[:, None] * hands + np.arange(hands)
        return flat[:, :, None] if actor == 0 else flat[:, None, :]

    def node_row(
        self, notes: _TraceRecorder, node: int, line: str, reach: tuple[Array, ...], chance: Array, *arrays: Array
    ) -> NodeRow:
        """Return a node's row for the traced hands; `arrays` are values, strategy and counterfactual values."""
        actor, name = int(self.tree.nodes.actor[node]), ""
        labels = self.tree.labels(node)
        value, probabilities, action_values = (notes.select_hands(array) for array in arrays)
        if actor >= 0:
            if isinstance(self.tree, PublicTree):
                name = f"{self.tree.hands[actor][notes.pair[actor]]}:{line}"
            else:
                name = self.infosets[int(self.tree.node_infoset[node])].name
            notes.table_indices[name] = notes.select_hands(self.table_indices(node))
        reached = tuple(float(notes.select_hands(part)) for part in reach)
        strategy, counterfactual = _by_label(labels, probabilities), _by_label(labels, action_values)
        values, at_chance = tuple((value + 0.0).tolist()), float(notes.select_hands(chance))
        place = self.traversal_index, line, actor, name
        return NodeRow(*place, reached, at_chance, values, strategy, counterfactual)


def _infoset_rows(solver: _TextbookCFR, notes: _TraceRecorder, nodes: Sequence[NodeRow]) -> Iterator[InfosetRow]:
    """Yield the updates of the information sets of the given nodes."""
    by_name: dict[str, list[NodeRow]] = {}
    for row in nodes:
        if row.counterfactual:
            by_name.setdefault(row.infoset, []).append(row)
    after = solver.regret + solver.prediction
    for name, rows in by_name.items():
        strategy, indices = rows[0].strategy, notes.table_indices[name]
        value = sum(strategy[a] * row.counterfactual[a] for row in rows for a in strategy)
        deal_regrets = {a: sum(row.counterfactual[a] for row in rows) - value for a in strategy}
        numbers = solver.instant_regret[indices], solver.regret[indices], regret_matching(after[indices])
        columns = (_by_label(tuple(strategy), column) for column in numbers)
        yield InfosetRow(name, rows[0].actor, strategy, deal_regrets, *columns)


def _by_label(labels: Sequence[str], numbers: Array) -> dict[str, float]:
    # Adding 0.0 avoids minus zeros. `numbers` is empty at nodes that have none.
    return dict(zip(labels, (numbers + 0.0).tolist(), strict=False))


# --- formatting -----------------------------------------------------------------------------------


def _node_cells(row: NodeRow) -> tuple[str, ...]:
    turn = {CHANCE: "chance", TERMINAL: "end"}.get(row.actor, f"player {row.actor}")
    possible = {label: p for label, p in row.strategy.items() if p > 0 or row.actor >= 0}
    reach = (_format_number(x) for x in (*row.reach, row.chance))
    values = (_format_number(x, "+") for x in row.value)
    counterfactual = _format_actions(row.counterfactual, "+")
    return (row.line or "start", turn, row.infoset, _format_actions(possible), *reach, *values, counterfactual)


def _infoset_cells(row: InfosetRow, given: bool) -> tuple[str, ...]:
    regrets = (row.deal_regrets, row.regrets, row.cumulative) if given else (row.regrets, row.cumulative)
    cells = (_format_actions(numbers, "+") for numbers in regrets)
    return row.name, f"player {row.player}", _format_actions(row.strategy), *cells, _format_actions(row.next_strategy)


def _format_number(value: float, sign: str = "") -> str:
    """Format a number; `sign` is "+" for a sign before positive ones too."""
    return f"{value:{sign}.4g}" if abs(value) > ROUNDING else "0"


def _format_actions(numbers: dict[str, float], sign: str = "") -> str:
    """Format values by action: up to two on one line, more on separate lines."""
    return ("  " if len(numbers) < 3 else "\n").join(f"{a} {_format_number(x, sign)}" for a, x in numbers.items())
