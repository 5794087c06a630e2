"""One iteration of counterfactual regret minimisation, written out node by node as a textbook would.

    print(trace(make("kuhn"), "QJ"))

Plain recursion over the tree, with a pay-off for every pair of hands; nothing here is shared with the compiled
kernels, so a trace also checks them. Under one deal, reach and regrets are *given the deal*; the regrets of the whole
iteration are those of all deals, each times the probability of its deal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from riverboat.core.errors import InputError
from riverboat.core.tables import Column, ReportTable
from riverboat.games.base import CHANCE, TERMINAL, Array, Compare, Constant, Game, Payoff, extend
from riverboat.solvers import schedules
from riverboat.solvers.schedules import AnySchedule, Schedule
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import histories
from riverboat.trees.drawing import Hands, as_tree, count_nodes, find_deal
from riverboat.trees.public import Infoset, PublicTree

MAX_NODES = 5_000  # of the traced part
MAX_CELLS = 50_000_000  # nodes times pairs of hands that one walk goes through: some seconds
MAX_DEPTH = 200  # the walk recurses
ROUNDING = 1e-12  # a regret up to this is a sum of rounding errors: actions that tie are played alike
NOTHING: Array = np.zeros((0, 1, 1))


@dataclass(frozen=True)
class NodeRow:
    """One node in one walk. Reach, `chance` and `counterfactual` are given the deal that is traced."""

    walk: int  # a schedule that alternates has one walk for each player
    line: str
    actor: int  # player, CHANCE or TERMINAL
    infoset: str
    reach: tuple[float, ...]  # each player's part in the probability of coming here
    chance: float
    value: tuple[float, ...]  # expected pay-offs from here on
    strategy: dict[str, float]  # of the actor, chance included
    counterfactual: dict[str, float]  # by action: everybody else's reach times its value; of those who learn


@dataclass(frozen=True)
class InfosetRow:
    """What the iteration does to one information set."""

    name: str
    player: int
    strategy: dict[str, float]
    deal_regrets: dict[str, float]  # given the deal that is traced
    regrets: dict[str, float]  # of the whole iteration
    cumulative: dict[str, float]  # after it
    next_strategy: dict[str, float]


@dataclass(frozen=True)
class Trace:
    """One iteration in detail: what every node was worth, and what was learnt from it."""

    game: str
    schedule: str
    iteration: int
    deal: tuple[str, str] | None  # None: the whole tree
    probability: float  # of the deal
    walks: tuple[tuple[int, ...], ...]  # who learns in each walk
    nodes: tuple[NodeRow, ...]
    infosets: tuple[InfosetRow, ...]

    @property
    def title(self) -> str:
        """What is shown, in one line."""
        what = f"{self.game}, iteration {self.iteration} of {self.schedule}"
        if self.deal is None:
            return f"{what}: the whole tree"
        hands = ", ".join(f"player {p} holds {hand}" for p, hand in enumerate(self.deal))
        return f"{what}: {hands} (probability {self.probability:.4g})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
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
            Column("line"), Column("turn"), Column("infoset", rank=1), Column("strategy"),
            *(Column(f"reach {p}") for p in players), Column("chance", rank=1), *(Column(f"value {p}") for p in players),
            Column("counterfactual values"),
        )  # fmt: skip
        for walk, learners in enumerate(self.walks):
            who = " and ".join(f"player {p}" for p in learners)
            title = f"Nodes, {who} learning" + (", given the deal" if self.deal else "")
            rows = [_node_cells(row) for row in self.nodes if row.walk == walk]
            yield ReportTable(title, columns, tuple(rows))
        regrets = ("given the deal", "all deals") if self.deal else ("regrets",)
        names = "infoset", "turn", "strategy", *regrets, "cumulative", "next"
        title = "Information sets and their regrets" + (", given the deal and of all deals" if self.deal else "")
        rows = [_infoset_cells(row, bool(self.deal)) for row in self.infosets]
        yield ReportTable(title, tuple(map(Column, names)), tuple(rows))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.title, style="bold")
        for table in self._tables():
            yield ""
            yield table

    def __str__(self) -> str:
        return "\n\n".join([self.title, *map(str, self._tables())])

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.title)}</b></p>" + "".join(table._repr_html_() for table in self._tables())


def trace(
    game_or_tree: Game | Tree,
    deal: Hands | None = None,
    schedule: str | AnySchedule = "vanilla",
    iterations: int = 1,
) -> Trace:
    """Write out iteration number `iterations`, under one deal of the hands or, without `deal`, in the whole tree."""
    tree = as_tree(game_or_tree)
    pair = None if deal is None else find_deal(tree, deal)
    plan = schedules.without_stakes(schedules.parse(schedule), "a trace")
    if not isinstance(plan, Schedule):
        raise InputError(
            f"schedule {plan.name!r}: a trace knows regret matching only: {', '.join(schedules.SCHEDULES)}"
        )
    if iterations < 1:
        raise InputError(f"iterations={iterations}: iterations count from 1")
    _check_size(tree, pair)
    if pair is None:
        tree = histories(tree)
    learner = _Learner(tree, plan)
    for t in range(1, iterations):
        learner.iterate(t)
    notes = _Notes(pair or (0, 0))
    learner.iterate(iterations, notes)
    nodes = tuple(notes.nodes[key] for key in sorted(notes.nodes))
    return Trace(
        tree.name,
        str(plan),
        iterations,
        (tree.hands[0][pair[0]], tree.hands[1][pair[1]]) if pair and isinstance(tree, PublicTree) else None,
        float(learner.joint[notes.pair]),
        learner.walks,
        nodes,
        tuple(_infoset_rows(learner, notes, nodes)),
    )


def _check_size(tree: Tree, pair: tuple[int, int] | None) -> None:
    size = count_nodes(tree, pair)
    if size > MAX_NODES:
        way_out = "; trace one deal with deal=" if pair is None and isinstance(tree, PublicTree) else ""
        raise InputError(f"{tree.name}: {size:,} nodes to trace, more than {MAX_NODES:,}{way_out}")
    cells = len(tree.nodes.actor) * math.prod(tree.hand_counts)
    if pair is not None and cells > MAX_CELLS:
        raise InputError(
            f"{tree.name}: {cells:,} nodes times pairs of hands, more than {MAX_CELLS:,}; trace a smaller game"
        )
    if tree.depth > MAX_DEPTH:
        raise InputError(f"{tree.name}: {tree.depth} moves deep, more than {MAX_DEPTH}; trace a smaller game")


def regret_matching(regrets: Array) -> Array:
    """Play in proportion to positive regret; uniformly where there is none. float64 [actions, …]"""
    positive = np.where(regrets > ROUNDING, regrets, 0.0)
    total = positive.sum(axis=0)
    return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / len(regrets))


def _pay(payoff: Payoff, counts: tuple[int, int]) -> Array:
    """What every pair of hands is paid. float64 [2, hands0, hands1]"""
    if isinstance(payoff, Constant):
        return np.broadcast_to(np.reshape(payoff.payoffs, (2, 1, 1)), (2, *counts))
    if isinstance(payoff, Compare):
        first, second = (np.asarray(strength) for strength in payoff.strengths)
        better = np.sign(first[:, None] - second[None, :])
        return np.moveaxis(np.array([payoff.lose, payoff.tie, payoff.win])[better + 1], -1, 0)
    return np.asarray(payoff.payoffs)


@dataclass(frozen=True, eq=False)
class _Notes:
    """What is written down of the iteration that is traced."""

    pair: tuple[int, int]
    nodes: dict[tuple[int, int], NodeRow] = field(default_factory=dict)  # by walk and node
    places: dict[str, Array] = field(default_factory=dict)  # of information sets in the table

    def at(self, array: Array) -> Array:
        """The entries for the hands that are traced. float64 [...]"""
        h0, h1 = (min(h, n - 1) for h, n in zip(self.pair, array.shape[-2:], strict=True))
        picked: Array = array[..., h0, h1]
        return picked


class _Learner:
    """Regrets in a flat table, as the tree lays it out, and the walk that changes them.

    The last two axes of all arrays in the walk are player 0's hand and player 1's; what only one player knows has
    length 1 along the other's axis. A history tree has one hand each.
    """

    def __init__(self, tree: Tree, schedule: Schedule) -> None:
        self.tree, self.schedule = tree, schedule
        self.everybody = tuple(range(tree.players))
        self.walks = tuple((p,) for p in self.everybody) if schedule.alternating else (self.everybody,)
        self.regret, self.prediction = np.zeros(tree.table), np.zeros(tree.table)
        self.owner = np.zeros(tree.table, int)  # which player each place of the table belongs to
        self.infosets: list[Infoset] = []
        if isinstance(tree, PublicTree):
            self.joint, self.joiner = tree.deal.joint(), tree.joiner
            self.owner[tree.bases[1] :] = 1
        else:
            self.joint, self.joiner = np.ones((1, 1)), " "
            self.infosets = list(tree.infosets())
            for i in self.infosets:
                self.owner[i.offset : i.offset + len(i.actions)] = i.player

    def iterate(self, t: int, notes: _Notes | None = None) -> None:
        """Learn from iteration t: discount, add, floor."""
        self.notes, self.gain = notes, np.zeros(self.tree.table)
        step = self.schedule.step(t)
        for number, learners in enumerate(self.walks):
            self.number = number
            self.walk(0, "", (np.ones((1, 1)),) * self.tree.players, np.ones(self.joint.shape))
            mine = np.isin(self.owner, learners)
            old = self.regret[mine]
            kept = old * np.where(old > 0, step.positive, step.negative)
            self.regret[mine] = np.maximum(kept + self.gain[mine], step.floor)
            if self.schedule.predictive:
                self.prediction[mine] = self.gain[mine]

    def walk(self, node: int, line: str, reach: tuple[Array, ...], chance: Array) -> Array:
        """Expected pay-offs from a node on, with regrets on the way. float64 [players, hands0, hands1]"""
        who = int(self.tree.nodes.actor[node])
        shares, action_values = NOTHING, NOTHING  # by action
        if who == TERMINAL:
            value = self.payoffs(node)
        else:
            if who == CHANCE:
                shares = self.odds(node)
                steps = [(reach, chance * share) for share in shares]
            else:
                places = self.places(node)
                shares = regret_matching(self.regret[places] + self.prediction[places])
                steps = [((*reach[:who], reach[who] * share, *reach[who + 1 :]), chance) for share in shares]
            lines = (extend(line, self.joiner, label) for label in self.tree.labels(node))
            children = zip(self.tree.children(node), lines, steps, strict=True)
            below = np.array([self.walk(child, to, *step) for child, to, step in children])
            value = np.sum(shares[:, None] * below, axis=0)
            if who in self.walks[self.number]:
                # Counterfactual: as likely as if the actor had done everything to come here.
                others = chance * math.prod(reach[p] for p in self.everybody if p != who)
                action_values = others * below[:, who]
                regrets = action_values - others * value[who]
                unseen = 2 if who == 0 else 1  # the axis of the other player's hand
                self.gain[places] += np.sum(self.joint * regrets, axis=unseen, keepdims=True)
        if self.notes is not None and self.notes.at(chance) > 0:
            row = self.row(self.notes, node, line, reach, chance, value, shares, action_values)
            self.notes.nodes[self.number, node] = row
        return value

    def payoffs(self, node: int) -> Array:
        """What a terminal pays. float64 [players, hands0, hands1]"""
        if isinstance(self.tree, PublicTree):
            return _pay(self.tree.layout.payoffs[self.tree.layout.index[node]], self.tree.hand_counts)
        row: Array = self.tree.payoffs[self.tree.nodes.data[node]].reshape(-1, 1, 1)
        return row

    def odds(self, node: int) -> Array:
        """Probabilities of chance's outcomes, zero where the hands rule one out. float64 [outcomes, hands0, hands1]"""
        if isinstance(self.tree, PublicTree):
            outcomes = self.tree.layout.chances[self.tree.layout.index[node]]
            odds = np.zeros((len(outcomes), *self.tree.hand_counts))
            for k, outcome in enumerate(outcomes):
                odds[k] = outcome.weight
                odds[k, list(outcome.dead[0]), :] = 0.0
                odds[k, :, list(outcome.dead[1])] = 0.0
            return odds
        first, width = int(self.tree.nodes.data[node]), int(self.tree.nodes.width[node])
        odds = self.tree.chance[first : first + width].reshape(-1, 1, 1)
        return odds

    def places(self, node: int) -> Array:
        """Where a decision stands in the table. int64 [actions, hands0 or 1, hands1 or 1]"""
        who, hands, base = int(self.tree.nodes.actor[node]), 1, 0
        if isinstance(self.tree, PublicTree):
            hands, base = self.tree.hand_counts[who], self.tree.bases[who]
        rows = int(self.tree.nodes.data[node]) + np.arange(int(self.tree.nodes.width[node]))
        flat = base + rows[:, None] * hands + np.arange(hands)
        return flat[:, :, None] if who == 0 else flat[:, None, :]

    def row(
        self, notes: _Notes, node: int, line: str, reach: tuple[Array, ...], chance: Array, *arrays: Array
    ) -> NodeRow:
        """A node as the hands that are traced see it; `arrays` are values, shares and action values."""
        who, name = int(self.tree.nodes.actor[node]), ""
        labels, (value, shares, action_values) = self.tree.labels(node), (notes.at(array) for array in arrays)
        if who >= 0:
            if isinstance(self.tree, PublicTree):
                name = f"{self.tree.hands[who][notes.pair[who]]}:{line}"
            else:
                name = self.infosets[int(self.tree.node_infoset[node])].name
            notes.places[name] = notes.at(self.places(node))
        reached = tuple(float(notes.at(part)) for part in reach)
        strategy, counterfactual = _named(labels, shares), _named(labels, action_values)
        values = tuple((value + 0.0).tolist())
        return NodeRow(self.number, line, who, name, reached, float(notes.at(chance)), values, strategy, counterfactual)


def _infoset_rows(learner: _Learner, notes: _Notes, nodes: Sequence[NodeRow]) -> Iterator[InfosetRow]:
    """What was learnt at the information sets of the nodes."""
    by_name: dict[str, list[NodeRow]] = {}
    for row in nodes:
        if row.counterfactual:
            by_name.setdefault(row.infoset, []).append(row)
    after = learner.regret + learner.prediction
    for name, rows in by_name.items():
        strategy, places = rows[0].strategy, notes.places[name]
        value = sum(strategy[a] * row.counterfactual[a] for row in rows for a in strategy)
        columns = learner.gain[places], learner.regret[places], regret_matching(after[places])
        yield InfosetRow(
            name,
            rows[0].actor,
            strategy,
            {a: sum(row.counterfactual[a] for row in rows) - value for a in strategy},
            *(_named(tuple(strategy), column) for column in columns),
        )


def _named(labels: Sequence[str], numbers: Array) -> dict[str, float]:
    return dict(zip(labels, (numbers + 0.0).tolist(), strict=False))  # no minus zeros; there may be no numbers


# --- text -----------------------------------------------------------------------------------


def _node_cells(row: NodeRow) -> tuple[str, ...]:
    turn = {CHANCE: "chance", TERMINAL: "end"}.get(row.actor, f"player {row.actor}")
    possible = {label: p for label, p in row.strategy.items() if p > 0 or row.actor >= 0}
    reach = (_plain(x) for x in (*row.reach, row.chance))
    values = (_signed(x) for x in row.value)
    return row.line or "start", turn, row.infoset, _each(possible), *reach, *values, _each(row.counterfactual, _signed)


def _infoset_cells(row: InfosetRow, given: bool) -> tuple[str, ...]:
    regrets = (row.deal_regrets, row.regrets, row.cumulative) if given else (row.regrets, row.cumulative)
    cells = (_each(numbers, _signed) for numbers in regrets)
    return row.name, f"player {row.player}", _each(row.strategy), *cells, _each(row.next_strategy)


def _plain(value: float) -> str:
    return f"{value:.4g}" if abs(value) > ROUNDING else "0"


def _signed(value: float) -> str:
    return f"{value:+.4g}" if abs(value) > ROUNDING else "0"


def _each(numbers: dict[str, float], text: Callable[[float], str] = _plain) -> str:
    """Two actions side by side, more of them one below the other."""
    return ("  " if len(numbers) < 3 else "\n").join(f"{label} {text(x)}" for label, x in numbers.items())
