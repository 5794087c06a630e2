"""Betting trees for solvers with vectors of hands, built from any betting state through a menu, in any notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from riverboat.core.budget import BuildMonitor, format_estimate
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.games import tree_layout
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import BettingTree, ShowdownPayoffs
from riverboat.games.holdem.betting import ACPC_NOTATION, ActionNotation, BettingState, current_actor
from riverboat.games.holdem.betting_rules import FOLDED, CompactBettingState, apply_action, deal_street
from riverboat.games.holdem.menus import ActionMenu, MenuActions

MAX_BETTING_NODES = 500_000  # takes half a minute; on a river with 500 hands, tables of 1.5 GB
MAX_OVERESTIMATE = 5  # factor by which an estimate may be too high
NODE_BYTES = 250  # minimum memory per node while the tree is built


def build_betting_tree(
    root: BettingState,
    name: str,
    menu: ActionMenu | None = None,
    *,
    notation: ActionNotation = ACPC_NOTATION,
    since_root: bool = False,
    table_bytes: int = 0,
) -> BettingTree:
    """Build the betting tree below a state. A limit game needs no menu.

    With `since_root`, chips and payoffs count from the root, and the chips already in the pot belong to nobody, as in a
    spot; otherwise they count over the whole hand. Raises MemoryLimitError if memory does not hold the tree with
    `table_bytes` more per node, for a solver's tables. `name` is that of the game, for messages.
    """
    if root.actor < 0:
        raise InputError(f"{name}: nobody acts at {root.line!r}: a betting tree must begin at a decision")
    rules, book, choices = root.rules, root.rules.compact, MenuActions(root.rules, menu)
    paid = root.spent if since_root else (0, 0)
    actor: list[int] = []
    street: list[int] = []
    label: list[str] = []
    showdown: list[bool] = []
    pay: list[ShowdownPayoffs] = []
    spent: list[tuple[int, int]] = []
    no_payoffs: ShowdownPayoffs = ((0.0, 0.0),) * 3

    def visit(node: tuple[CompactBettingState, str]) -> list[tuple[CompactBettingState, str]]:
        s, move_label = node
        who = current_actor(book, s)
        monitor(len(actor))
        _check_size(monitor)
        over = who == TERMINAL
        actor.append(who)
        street.append(s.street - root.street)
        label.append(move_label)
        showdown.append(over and s.over != FOLDED)
        pay.append(BettingState(rules, s).payoffs(paid) if over else no_payoffs)
        spent.append((s.spent0 - paid[0], s.spent1 - paid[1]))
        if over:
            return []
        if who == CHANCE:
            return [(deal_street(book, s), "")]
        return [(apply_action(book, s, move), notation.format(book, s, move)) for move in choices.actions(s)]

    estimate = partial(tree_layout.estimate_tree_size, _BettingTreeState(choices, root.compact))
    with BuildMonitor(name, "building the betting of", "betting nodes", NODE_BYTES + table_bytes, estimate) as monitor:
        end = tree_layout.traverse_preorder((root.compact, ""), visit)
        nodes = np.array(actor, np.int8), np.array(end, np.int32), np.array(street, np.int8)
        chips = np.array(showdown, np.bool_), np.array(pay, np.float64), np.array(spent, np.float64)
        return BettingTree(*nodes, tuple(label), *chips)


@dataclass(frozen=True)
class _BettingTreeState:
    """A betting state with the interface that `tree_layout.estimate_tree_size` needs."""

    choices: MenuActions
    at: CompactBettingState

    @property
    def actor(self) -> int:
        return current_actor(self.choices.rules.compact, self.at)

    def actions(self) -> Sequence[str]:
        return ("/",) if self.actor == CHANCE else tuple(map(str, self.choices.actions(self.at)))

    def child(self, index: int) -> _BettingTreeState:
        rules = self.choices.rules.compact
        if self.actor == CHANCE:
            return _BettingTreeState(self.choices, deal_street(rules, self.at))
        return _BettingTreeState(self.choices, apply_action(rules, self.at, self.choices.actions(self.at)[index]))


def _check_size(grown: BuildMonitor) -> None:
    """Raise MemoryLimitError if the tree has, or by the estimate will have, far too many nodes."""
    estimate = max(grown.count, grown.expected or 0)
    if grown.count > MAX_BETTING_NODES or estimate > MAX_OVERESTIMATE * MAX_BETTING_NODES:
        count = f"more than {grown.count:,}" if grown.expected is None else format_estimate(estimate)
        raise MemoryLimitError(f"{grown.name}: {count} betting nodes, and at most {MAX_BETTING_NODES:,} are allowed")
