"""How good any strategy is, with what each figure is: exact, a bound and on which side, or an estimate.

    quality(strategy).exploitability                   # of a small game or a spot, exact, as everywhere
    quality(blueprint).claims                          # exact in the game with its menu, a bound in the game at the table
    quality(agent, rules=read_game("leduc")).claims    # exact where all that it does can be written down, else a bound

Exploitability is what best responses gain: the mean of two players, the largest gain of more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, inf, isnan, nan
from typing import Any, TypeAlias

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless
from riverboat.core.arrays import Array
from riverboat.core.claims import EXACT, LOWER, UPPER, Claim, Kind
from riverboat.core.errors import InputError
from riverboat.core.tables import COUNT, Column, ReportTable
from riverboat.engines.devices import AUTO, CPU, choose, reader
from riverboat.evaluation.best_response import exact
from riverboat.evaluation.best_response.pieces import Means
from riverboat.evaluation.local_best_response.estimate import local_best_response
from riverboat.games.holdem.action_tree import ActionTree, compile_actions, measure
from riverboat.games.holdem.actions import read_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import every_size
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.solvers.tabular import best_response as response
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.policy import Played
from riverboat.strategies.public_strategy import Answering
from riverboat.strategies.queries import Asked, rules_of
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy

MOST_PLACES = 200_000  # at which an agent is asked for everything that it does
_BATCH = 2_000
_ALIKE = 1e-9

Cards: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Measured(Quality):
    """Best responses and values, in `unit` where figures have no other, and what they say about the strategy."""

    unit: str = "chips"
    kind: Kind = EXACT  # of the exploitability in the game that is played
    per_game: float | None = None  # thousandths of a big blind in one of the unit; None where there are no blinds
    of: str = ""  # the game in which best responses are exact, where that is a smaller one
    # of the 95 % intervals of a bound that is an estimate, in `unit`: of the exploitability, of what is won in each seat
    half_widths: tuple[float, ...] = ()
    seed: int | None = None  # of the samples of such an estimate
    hands: int | None = None  # walked for it

    @property
    def bracket(self) -> tuple[float, float]:
        """An interval that holds the value to player 0; what is only estimated guarantees nothing."""
        return (-inf, inf) if self.half_widths else super().bracket

    @property
    def scale(self) -> float:
        """Of figures: what best responses and values are multiplied by."""
        return 1.0 if self.per_game is None else self.per_game

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All that can be said, the exploitability first."""
        factor, unit = self.scale, self.unit if self.per_game is None else "mbb/g"
        widths: list[float | None] = [factor * width for width in self.half_widths]
        widths = widths or [None] * (1 + len(self.best))
        doubled = None if widths[0] is None else len(self.best) * widths[0]
        drawn: dict[str, Any] = {"seed": self.seed, "size": self.hands, "samples": "hands" if self.hands else ""}
        claimed = [Claim("exploitability", factor * self.exploitability, unit, self.kind, widths[0], **drawn)]
        if self.of:
            claimed.append(Claim("exploitability", factor * self.exploitability, unit, EXACT, of=self.of))
        claimed.append(Claim("NashConv", factor * self.nash_conv, unit, self.kind, doubled, **drawn))
        claimed += [
            Claim(f"best response of player {p}", factor * best, unit, self.kind, width, **drawn)
            for p, (best, width) in enumerate(zip(self.best, widths[1:], strict=True))
        ]
        claimed += [
            Claim(f"value to player {p}", factor * value, unit, EXACT)
            for p, value in enumerate(self.values)
            if not isnan(value)
        ]
        return tuple(claimed)

    def report(self) -> ReportTable:
        """A row for each figure."""
        columns = (
            Column("figure"),
            Column("value", COUNT),
            Column("half_width", COUNT, "±"),
            Column("unit"),
            Column("kind"),
        )
        rows = tuple((c.name, c.value, c.half_width, c.unit, c.grounds) for c in self.claims)
        return ReportTable("", columns, rows)


def quality(
    strategy: Asked,
    threads: int = 1,
    *,
    rules: Rules | None = None,
    most_minutes: float = 10.0,
    means: Means | None = None,
    hands: int = 4_000,
    device: str = CPU,
) -> Measured:
    """Best responses to a strategy, and what it earns against itself.

    - A `Strategy` or `Solution`: exact, in the unit of its game; an upper bound where a player forgets its own moves.
    - A blueprint: exact against responders that see all cards and bet by its menu. In a limit game that is the game; in a
      no-limit game others may bet as they like, and this is a lower bound.
    - An agent: exact where all that it does can be written down: at most one deal to the board, few lines. A blueprint that
      is translated and post-processed: as a blueprint, with the post-processed strategy. Of all others a lower bound, what a
      local best response (`fcpa`) wins in `hands` hands, with its interval. An agent that plays any game needs `rules`.

    `device`: where best responses to a `Solution` or a blueprint are walked; others are walked on processors.
    """
    where = choose(device)
    if where != CPU and device != AUTO and not isinstance(strategy, Solution | BlueprintStrategy):
        raise InputError(f"device {device!r} is for solved spots, hold'em and blueprints; take 'cpu' or 'auto'")
    if isinstance(strategy, Strategy):
        measured = response.quality(strategy, threads)
        kind = EXACT if measured.recalls else UPPER
        return Measured(measured.best, measured.values, measured.total, measured.recalls, strategy.tree.unit, kind)
    if isinstance(strategy, Solution):
        return _of_solution(strategy, where, threads)
    if isinstance(strategy, BlueprintStrategy):
        return _of_blueprint(strategy, threads, most_minutes, means, where)
    if isinstance(strategy, Answering):
        return _of_player(strategy, rules or rules_of(strategy), threads, most_minutes, hands)
    raise InputError(f"{type(strategy).__name__}: neither a strategy nor an agent that answers for all hands")


def _of_solution(solution: Solution, device: str, threads: int) -> Measured:
    tree = solution.tree
    solution.check_whole()
    walker = reader(device, tree, solution.table, threads=threads, root=solution.root)
    constant = walker.constant
    best = [tree.per_chip * walker.earnings(player, respond=True) for player in (0, 1)]
    values = [tree.per_chip * walker.earnings(player) for player in (0, 1)]
    total = None if constant is None else tree.per_chip * constant  # a gadget's choice included
    return Measured((best[0], best[1]), (values[0], values[1]), total, unit=tree.unit)


def _of_blueprint(
    strategy: BlueprintStrategy, threads: int, most_minutes: float, means: Means | None = None, device: str = CPU
) -> Measured:
    rules = strategy.rules
    measured = exact.quality(strategy, threads, most_minutes, means=means, device=device)
    whole = rules.limit or strategy.menu == every_size()
    kind, of = EXACT if whole else LOWER, "" if whole else "where all bets are those of its menu"
    return Measured(measured.best, measured.values, unit="chips", kind=kind, per_game=1000 / rules.big_blind, of=of)


# --- agents -----------------------------------------------------------------------------------


def _of_player(player: Answering, rules: Rules, threads: int, most_minutes: float, hands: int) -> Measured:
    name = str(getattr(player, "name", "this player"))
    small = whole_tree(rules)
    if small is not None:
        return _of_blueprint(tabulated(player, small, name), threads, most_minutes)
    played = player if isinstance(player, Played) else getattr(player, "played", None)
    if isinstance(played, Played):
        return _of_blueprint(played.on_tree(), threads, most_minutes)
    measured = local_best_response(player, rules, hands=hands, threads=threads)
    widths = tuple(part.half_width for part in (measured.chips, *measured.seats))
    per_game = 1000 / rules.big_blind
    drawn: dict[str, Any] = {"half_widths": widths, "seed": measured.seed, "hands": measured.hands}
    return Measured(measured.by_seat, (nan, nan), kind=LOWER, per_game=per_game, **drawn)


def whole_tree(rules: Rules) -> ActionTree | None:
    """The tree of all legal lines of a game, where an agent can be asked at every place of it; None in larger games.

    After more than one deal to the board its order may matter, which tables of hands do not know.
    """
    if rules.rounds > 2 or rules.board[0] or not rules.zero_sum:
        return None
    menu = None if rules.limit else every_size()
    if menu is not None and min(rules.stacks or (10**9,)) > 40 * rules.big_blind:
        return None  # too many sizes to count
    lines = measure(rules, menu).decisions
    boards = [comb(len(rules.deck.cards), shown) for shown in rules.board_sizes]
    places = sum(sum(seats) * count for seats, count in zip(lines, boards, strict=True))
    return compile_actions(rules, menu) if places <= MOST_PLACES else None


def tabulated(player: Answering, tree: ActionTree, name: str = "player") -> BlueprintStrategy:
    """All that a player does, as a blueprint without card abstraction on the tree of all legal lines."""
    rules = tree.rules
    cards = lossless(rules.board[1:], rules.deck)
    tables = tuple(np.full((cards.counts[s], int(tree.width[s])), np.nan) for s in range(rules.rounds))
    for nodes, boards in _places_of(tree):
        states = [Betting.from_line(rules, tree.line(node)) for node in nodes]
        answers = player.strategies(Places.of(states, boards))
        for i, (node, board) in enumerate(zip(nodes, boards, strict=True)):
            wanted = [read_move(label, states[i]) for label in tree.moves(node)]
            columns = [np.flatnonzero(answers.moves[i] == move) for move in wanted]
            live, buckets = _buckets(cards, rules, board)
            rows = np.zeros((len(live), len(wanted)))
            for k, column in enumerate(columns):
                if len(column):
                    rows[:, k] = answers.probabilities[i, live, column[0]]
            _write(
                tables[int(tree.street[node])],
                buckets,
                int(tree.slot[node]),
                rows,
                f"agent {name!r} at {states[i].line!r}",
            )
    sums = tuple(np.nan_to_num(table).astype(np.float64) for table in tables)
    return BlueprintStrategy(rules, tree.menu, tree, cards, sums, {"method": f"asked of {name}"})


def _write(table: Array, buckets: Array, slot: int, rows: Array, where: str) -> None:
    """Rows of hands into those of their buckets; hands that suits alone tell apart must play alike."""
    part = table[:, slot : slot + rows.shape[1]]
    old = part[buckets]
    if not np.abs(rows.sum(axis=1) - 1).max(initial=0) < 1e-6:
        raise InputError(f"{where}: its moves are not all legal ones, or do not sum to one")
    part[buckets] = rows
    if (np.abs(part[buckets] - rows) > _ALIKE).any() or (np.abs(old - rows) > _ALIKE).any():
        raise InputError(
            f"{where}: it plays hands that suits alone tell apart in different ways; riverboat lbr has a lower bound"
        )


def _places_of(tree: ActionTree) -> Iterator[tuple[list[int], list[Cards]]]:
    """All decisions on all boards, some at a time."""
    rules, nodes, boards = tree.rules, [], []
    for node in np.flatnonzero(tree.actor >= 0).tolist():
        shown = rules.board_sizes[int(tree.street[node])]
        for board in combinations(rules.deck.cards.tolist(), shown):
            nodes.append(node)
            boards.append(board)
            if len(nodes) == _BATCH:
                yield nodes, boards
                nodes, boards = [], []
    if nodes:
        yield nodes, boards


def _buckets(cards: CardAbstraction, rules: Rules, board: Cards) -> tuple[Array, Array]:
    """Hands that a board leaves, and their buckets on its street."""
    hands = rules.deck.hands
    live = np.flatnonzero(~np.isin(hands, board).any(axis=1))
    deals = np.concatenate([hands[live], np.tile(np.array(board, np.uint8), (len(live), 1))], axis=1)
    return live, cards.buckets(deals, check=False)[:, 0, -1]
