"""Search on a street that more streets follow: it is solved alone, with values where it ends.

The seat that searches goes on as its blueprint behind the street; the opponent chooses among several ways to go on
(`leaf_ways`). A method other than unsafe puts a gadget in front (`street_gadgets`): what hands of the opponent could win
against the blueprint is worked out with the same values at exits. Entries and places are those of later streets
(`table_subgames`): a line leads from one into the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.cards.notation import show_cards
from riverboat.compiled.blas import one_thread
from riverboat.core.arrays import Array
from riverboat.games.base import CHANCE
from riverboat.games.holdem.actions import CALL, END, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import SEATS, Menu
from riverboat.games.holdem.public_state import Places
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.policy import Played
from riverboat.strategies.reports.public_state import hand_numbers
from riverboat.subgames.depth_limited.gadgets import gadget_solver
from riverboat.subgames.depth_limited.leaf_methods import LEAVES, Street, exit_values
from riverboat.subgames.depth_limited.rollouts import RUNOUTS, SHOWN, Exit
from riverboat.subgames.depth_limited.street_game import StreetTree, goes_on, street_tree
from riverboat.subgames.search.subgames import METHODS, Entry, scaled, unfloored

CHECK_EVERY = 20  # iterations between two looks at the clock or at the exploitability
NO_VALUES = "none: before this street hands had no values of their own"
RUNOUTS_BY_CARDS = {0: 16 * RUNOUTS, 3: RUNOUTS}  # played out, by cards on the board: five vary more, and are kept


class Around(NamedTuple):
    """What a search brings to its midgames."""

    reader: Played  # reads lines in one way
    base: BlueprintStrategy  # what is played behind the street
    valued: Callable[[Entry, int], Entry]  # an entry of a later street with values of the blueprint


@dataclass(frozen=True, eq=False)
class Midgame:
    """One that will be solved, for the strategy of one seat."""

    seat: int
    entry: Entry
    menu: Menu
    around: Around
    floor: float  # the least weight of a hand of the opponent
    least: float  # the same of an own hand
    method: str = "unsafe"  # one of `table_subgames.METHODS`
    leaves: str = "continuations"  # one of `leaf_ways.LEAVES`

    @cached_property
    def tree(self) -> StreetTree:
        """The betting of the street."""
        return street_tree(self.entry.state, self.menu)

    @cached_property
    def hands(self) -> Array:
        """Numbers of the hands that the board leaves. int64 [n]"""
        left = np.setdiff1d(self.entry.state.rules.deck.cards, self.entry.board)
        return np.flatnonzero(np.isin(HAND_CARDS, left).all(axis=1))

    @cached_property
    def true_ranges(self) -> tuple[Array, Array]:
        """How often each seat comes with each hand, the likeliest weighing one. float64 [n] each"""
        live = np.zeros(HANDS, bool)
        live[self.hands] = True
        first, second = (scaled(weights, live)[self.hands] for weights in self.entry.ranges)
        return first, second

    @cached_property
    def ranges(self) -> tuple[Array, Array]:
        """The same, no hand weighing less than it should. float64 [n] each"""
        held = list(self.true_ranges)
        held[self.seat] = np.maximum(held[self.seat], self.least)
        held[1 - self.seat] = np.maximum(held[1 - self.seat], self.floor)
        return held[0], held[1]

    def exits(self) -> list[Exit]:
        """Where the street ends, and what of the blueprint stands for it."""
        tree, states = self.around.base.tree, [self.tree.states[node] for node in self.tree.exits]
        nodes = [SHOWN] * len(states)
        going = [k for k, state in enumerate(states) if goes_on(state)]
        if going:
            after, rules = [states[k].next_street() for k in going], self.entry.state.rules
            left = np.setdiff1d(rules.deck.cards, self.entry.board).tolist()  # which are dealt makes no difference
            board = (*self.entry.board, *left)[: rules.board_sizes[after[0].street]]
            places = Places.of(after, [board] * len(after))
            read = self.around.reader.read_as(places, np.full(len(after), self.seat))
            for k, node in zip(going, read.tolist(), strict=True):
                if node >= 0 and tree.actor[node] >= 0 and tree.street[node] == self.entry.state.street + 1:
                    nodes[k] = node
        return [Exit(node, float(state.pot)) for node, state in zip(nodes, states, strict=True)]

    def blueprint_play(self) -> dict[int, Array]:
        """What the blueprint plays; of sizes that the tree lacks the nearest that it has. float64 [moves, n] by node"""
        tree = self.tree
        nodes = [node for node, moves in enumerate(tree.moves) if moves]
        places = Places.of([tree.states[node] for node in nodes], [self.entry.board] * len(nodes))
        answers = self.around.reader.strategies(places)
        at = np.full(HANDS, -1)
        at[hand_numbers(self.entry.state.rules.deck.hands)] = np.arange(answers.probabilities.shape[1])
        out = {}
        for i, node in enumerate(nodes):
            shares = np.zeros((len(tree.moves[node]), len(self.hands)))
            for move, column in zip(answers.moves[i].tolist(), answers.probabilities[i].T, strict=True):
                if move != END:
                    shares[_nearest(tree.moves[node], move)] += column[at[self.hands]]
            out[node] = shares
        return out

    @property
    def street(self) -> Street:
        """Whose exits are valued."""
        return Street(
            self.around.base, self.tree, self.exits(), self.entry.board, self.hands, self.ranges, self.blueprint_play
        )

    def solve(self, iterations: int, until: float, seconds: float | None) -> MidPosition:
        """Its root, solved: so many iterations, or fewer where % of the pot are reached or the time is over."""
        began, pot = perf_counter(), self.entry.state.pot
        with one_thread():
            values = exit_values(self.leaves, self.street, self.seat, runouts=RUNOUTS_BY_CARDS[len(self.entry.board)])
            solver, margins = gadget_solver(
                self.method, self.tree, self.hands, self.ranges, values, self.seat, self.blueprint_play
            )
            while solver.iterations < iterations:
                before = perf_counter()
                solver.step(min(CHECK_EVERY, iterations - solver.iterations))
                left = None if seconds is None else seconds - (perf_counter() - began)
                if left is not None and left < 1.5 * (perf_counter() - before):
                    break
                if solver.exploitability() <= until / 100 * pot:
                    break
            exploitability = 100 * solver.exploitability() / pot
        gained = np.full(HANDS, np.nan)
        gained[self.hands] = margins()
        play = {node: solver.average(node) for node in solver.nodes}
        solution = MidSolution(play, solver.iterations, exploitability, None if self.method == "unsafe" else gained)
        return MidPosition(self, solution, 0)


def _nearest(moves: tuple[int, ...], move: int) -> int:
    """The place of a move among some; of a raise that is not there, the nearest."""
    if move in moves:
        return moves.index(move)
    raises = [m for m in moves if m > CALL] if move > CALL else []
    return moves.index(min(raises, key=lambda m: abs(m - move)) if raises else CALL)


@dataclass(frozen=True, eq=False)
class MidSolution:
    """What is played on a street that was solved, with the hands of `Midgame.hands`."""

    play: dict[int, Array]  # float64 [moves, n] by node
    iterations: int
    exploitability: float  # % of the pot, where the values of the exits are right
    margins: Array | None  # float64 [1326]: how much less the opponent can win than before; None without a gadget

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return sum(table.nbytes for table in self.play.values())


@dataclass(frozen=True, eq=False)
class MidPosition:
    """A place on a street that was solved alone, or right behind it."""

    subgame: Midgame
    solution: MidSolution
    node: int
    cards: tuple[int, ...] = ()  # of the next street, once they are dealt

    @property
    def state(self) -> Betting:
        """The real betting."""
        state = self.subgame.tree.states[self.node]
        return state.next_street() if self.cards else state

    @property
    def board(self) -> tuple[int, ...]:
        """The cards that lie."""
        return (*self.subgame.entry.board, *self.cards)

    @property
    def moves(self) -> tuple[int, ...]:
        """Real moves, upwards."""
        return self.subgame.tree.moves[self.node]

    @property
    def deals(self) -> bool:
        """Whether the next street is dealt here."""
        return not self.cards and self.state.actor == CHANCE

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self.solution.nbytes

    def after(self, move: int) -> MidPosition | None:
        """Behind a move; None where the street does not have it."""
        child = self.subgame.tree.child(self.node, move)
        return None if child is None else replace(self, node=child)

    def dealt(self, cards: tuple[int, ...]) -> MidPosition:
        """Behind the deal of the next street."""
        return replace(self, cards=cards)

    @cached_property
    def strategy(self) -> Array:
        """Probability of each move with each hand; one that should not be there plays as the range. float64 [1326, moves]"""
        seat = self.subgame.tree.states[self.node].actor
        played, reach = self.solution.play[self.node].T, self._reach[seat]
        held = reach > 0 if (reach > 0).any() else np.ones(len(reach), bool)
        mean = reach[held] @ played[held] / max(reach[held].sum(), 1e-300) if reach.any() else played.mean(axis=0)
        out = np.tile(mean, (HANDS, 1))
        out[self.subgame.hands] = np.where((self.subgame.ranges[seat] > 0)[:, None], played, mean)
        return out

    @cached_property
    def _reach(self) -> Array:
        """How often both come here with each hand. float64 [2, n]"""
        tree, reach = self.subgame.tree, np.stack(self.subgame.ranges)
        path, node = [], self.node
        parent = {child: n for n, children in enumerate(tree.children) for child in children}
        while node in parent:
            path.append((parent[node], node))
            node = parent[node]
        for above, below in path:
            reach[tree.states[above].actor] *= self.solution.play[above][tree.children[above].index(below)]
        return reach

    def entry(self) -> Entry:
        """What is known here, for a subgame that begins here."""
        subgame, ranges = self.subgame, np.zeros((2, HANDS))
        ranges[:, subgame.hands] = self._reach
        own, hands = subgame.seat, subgame.hands
        ranges[own, hands] = unfloored(ranges[own, hands], subgame.true_ranges[own], subgame.ranges[own])
        ranges[:, np.isin(HAND_CARDS, self.board).any(axis=1)] = 0.0
        entry = Entry(self.state, self.board, ranges, None, NO_VALUES)
        return subgame.around.valued(entry, subgame.seat) if self.cards else entry

    def facts(self) -> dict[str, Any]:
        """The midgame in figures, with their units: the entries of `table_report`."""
        subgame = self.subgame
        state = subgame.entry.state
        return {
            "begins": state.line,
            "board": show_cards(subgame.entry.board),
            "pot": state.pot,
            "behind": list(state.behind),
            "for": SEATS[subgame.seat],
            "method": f"depth-limited, {subgame.method}",
            "guarantee": f"{METHODS[subgame.method]}; as far as values are right where the street ends",
            "values": LEAVES[subgame.leaves],
            "betting_nodes": len(subgame.tree.kind),
            "boards": 1,
            "hands": [int(np.count_nonzero(held)) for held in subgame.ranges],
            "iterations": self.solution.iterations,
            "exploitability": self.solution.exploitability,
            "unit": "% of pot",
            "moves": [show_move(move, state.rules) for move in self.moves],
        }
