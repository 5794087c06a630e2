"""The tree of betting for solvers that walk vectors of hands: made from any state, through a menu, in any notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from riverboat.core.budget import Growth, guessed
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.games import tree_size
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import BettingTree, Pay
from riverboat.games.holdem.action_labels import ACPC, Notation
from riverboat.games.holdem.betting import Betting, actor_of
from riverboat.games.holdem.betting_rules import FOLDED, State, deal, step
from riverboat.games.holdem.menus import Choices, Menu

MOST_NODES = 500_000  # of a betting tree: half a minute; on a river with 500 hands tables of 1.5 GB
GUESSED_WRONG = 5  # how much too high a guess may be
NODE_BYTES = 250  # of a betting node while the tree is made, at the least


def make(
    root: Betting,
    name: str,
    menu: Menu | None = None,
    *,
    notation: Notation = ACPC,
    since_root: bool = False,
    table_bytes: int = 0,
) -> BettingTree:
    """Walk the betting from a state on. A limit game needs no menu.

    `since_root`: chips and pay-offs are counted from there, and what lies in the middle belongs to nobody, as in a spot;
    else over the whole hand. Refused where memory does not hold the tree, or `table_bytes` for each node.
    """
    if root.actor < 0:
        raise InputError(f"{name}: nobody acts at {root.line!r}: a tree of betting begins where somebody does")
    choices = Choices(root.rules, menu)
    guess = partial(tree_size.size, _Line(choices, root.at))
    with Growth(name, "building the betting of", "betting nodes", NODE_BYTES + table_bytes, guess) as grown:
        return _walk(root, choices, notation, root.spent if since_root else (0, 0), grown)


@dataclass(frozen=True)
class _Line:
    """Betting as a tree that `probe` can go through."""

    choices: Choices
    at: State

    @property
    def actor(self) -> int:
        return actor_of(self.choices.rules.book, self.at)

    def actions(self) -> Sequence[str]:
        return ("/",) if self.actor == CHANCE else tuple(map(str, self.choices.moves(self.at)))

    def child(self, index: int) -> _Line:
        book = self.choices.rules.book
        after = deal(book, self.at) if self.actor == CHANCE else step(book, self.at, self.choices.moves(self.at)[index])
        return _Line(self.choices, after)


def _check_size(grown: Growth) -> None:
    """Trees that would take minutes to lay out and years to solve are refused, as soon as they are known to be ones."""
    about = max(grown.count, grown.about or 0)
    if grown.count > MOST_NODES or about > GUESSED_WRONG * MOST_NODES:
        count = f"more than {grown.count:,}" if grown.about is None else guessed(about)
        raise MemoryLimitError(f"{grown.name}: {count} betting nodes, and at most {MOST_NODES:,} are laid out")


def _walk(root: Betting, choices: Choices, notation: Notation, paid: tuple[int, int], grown: Growth) -> BettingTree:
    """An explicit stack: lines may be longer than Python's recursion allows."""
    rules, book = root.rules, root.rules.book
    actor: list[int] = []
    end: list[int] = []
    street: list[int] = []
    label: list[str] = []
    showdown: list[bool] = []
    pay: list[Pay] = []
    spent: list[tuple[int, int]] = []
    nothing: Pay = ((0.0, 0.0),) * 3
    work: list[tuple[State | None, int, str]] = [(root.at, -1, "")]
    while work:
        s, closing, written = work.pop()
        if s is None:
            end[closing] = len(actor)
            continue
        node, who = len(actor), actor_of(book, s)
        grown(node)
        _check_size(grown)
        over = who == TERMINAL
        actor.append(who)
        end.append(node + 1)
        street.append(s.street - root.street)
        label.append(written)
        showdown.append(over and s.over != FOLDED)
        pay.append(Betting(rules, s).pay(paid) if over else nothing)
        spent.append((s.spent0 - paid[0], s.spent1 - paid[1]))
        if over:
            continue
        work.append((None, node, ""))
        if who == CHANCE:
            work.append((deal(book, s), -1, ""))
        else:
            moves = reversed(choices.moves(s))
            work += [(step(book, s, move), -1, notation.write(book, s, move)) for move in moves]
    return BettingTree(
        np.array(actor, np.int8),
        np.array(end, np.int32),
        np.array(street, np.int8),
        tuple(label),
        np.array(showdown, np.bool_),
        np.array(pay, np.float64),
        np.array(spent, np.float64),
    )
