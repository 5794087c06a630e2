"""Slow twins of the engine for hold'em: the general walk on all cards, and every pair of hands on every runout.

`same_run` starts the engine and the general walk alike. `Slow` answers what can be asked of a solution: a profile says
what is played, line and hand -> probability of each move; nothing is shared with the engine but the betting tree of the game
and the ranking of seven cards, which have tests of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from riverboat.cards.deck import HAND_CARDS, hand_index
from riverboat.cards.notation import parse_cards, show_cards
from riverboat.cards.ranking import rank
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.tables import FORMATS
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import BoardGame
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.boards import NOWHERE, BoardTree
from riverboat.trees.public import PublicTree

Profile = Callable[[str, int], Sequence[float]]


def hand(text: str) -> int:
    """The number of a hand such as `AsKd`."""
    first, second = parse_cards(text, "hand")
    return hand_index(first, second)


def profile_of(solver: CFR) -> Profile:
    """What the general walk's average plays."""
    table: dict[tuple[str, int], list[float]] = {}
    for name, row in solver.average().items():
        held, _, line = name.partition(":")
        table[line, hand(held)] = list(row.values())
    return lambda line, held: table[line, held]


# --- the general walk -------------------------------------------------------------------------


def same_places(tree: BoardTree, oracle: PublicTree) -> tuple[Array, Array, Array]:
    """Number i of one table is number j of the other; and how much of the one's regret is one of the other's.

    The engine's pay-offs and weights are scaled (`BoardWalker`), and it counts the probability of a deal on the way up,
    where the general walk has it in the reach of the opponent. Where there is one move, the general walk learns nothing.
    """
    walker = BoardWalker.learner(tree, FORMATS["float64"])
    where: dict[str, tuple[int, int, Array, float]] = {}
    found: list[tuple[int, int, float]] = []
    for infoset in oracle.infosets():
        held, _, line = infoset.name.partition(":")
        if line not in where:
            node, dealt = tree.betting.find(line, tree.game.joiner)
            boards, maps = tree.deals.locate(dealt)
            board, who = boards[-1], int(tree.betting.actor[node])
            assert who == infoset.player
            rows = int(tree.boards.rows[board, who])
            n = int(np.flatnonzero(tree.forest.node == node)[0])
            at = int(tree.boards.base[board, who]) + int(tree.forest.slot[n]) * rows
            unit = walker.root.mass[1 - who] * float(np.prod(tree.boards.chance[boards[1:]])) / walker.scale
            where[line] = at, rows, tree.row_of[board, who][maps[-1]], unit
        if len(infoset.actions) > 1:
            at, rows, row_of, unit = where[line]
            row = int(row_of[hand(held)])
            assert row != NOWHERE
            found += [
                (at + k * rows + row, infoset.offset + k * infoset.stride, unit) for k in range(len(infoset.actions))
            ]
    first, second, units = np.array(found).T
    return first.astype(int), second.astype(int), units


def same_run(
    tree: BoardTree, oracle_tree: PublicTree, schedule: str, seed: int, places: tuple[Array, Array, Array]
) -> tuple[BoardCFR, CFR]:
    """Both solvers after the same five iterations, from the same random regrets.

    Exact ties between actions are many in the first iterations. The general walk cuts off what rounding makes of
    them, the engine does not, and one of 1e-18 would become a pure strategy: random regrets leave no ties. Schedules
    that forget the regrets before the first iteration start with the second.
    """
    own, oracle = BoardCFR(tree, schedule, dtype="float64"), CFR(oracle_tree, schedule)
    here, there, unit = places
    own.walker.write("regret", np.random.default_rng(seed).random(tree.table) / 256)
    oracle.regret[there] = own.walker.read("regret")[here] * unit
    own.iteration = oracle.iteration = 1
    own.step(5)
    oracle.step(5)
    return own, oracle


def assert_same_state(own: BoardCFR, oracle: CFR, places: tuple[Array, Array, Array]) -> None:
    """Regrets, averages and what they are worth. 1e-9: rounding weighs 1e-16 and grows where sums cancel."""
    here, there, unit = places
    close = {"rtol": 1e-9, "atol": 1e-9 / 256}
    np.testing.assert_allclose(own.walker.read("regret")[here], oracle.regret[there] / unit, **close)
    np.testing.assert_allclose(own.averages[here] * own.weight, oracle.average_sums[there], rtol=1e-9, atol=1e-9)
    if own.schedule.predictive:
        np.testing.assert_allclose(own.walker.read("prediction")[here], oracle.prediction[there] / unit, **close)
    ours, theirs, per_chip = own.quality(), oracle.quality(), own.tree.per_chip
    np.testing.assert_allclose(ours.best, per_chip * np.array(theirs.best), rtol=1e-9)
    solution = own.average()
    for player in (0, 1):
        np.testing.assert_allclose(solution.earnings(player), theirs.values[player], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(solution.earnings(player, respond=True), theirs.best[player], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.nash_conv, per_chip * theirs.nash_conv, rtol=1e-8)


# --- enumeration ------------------------------------------------------------------------------


@dataclass
class Slow:
    """A game and what both players do in it."""

    game: BoardGame
    profile: Profile
    ranks: dict[tuple[int, ...], int] = field(default_factory=dict)

    def _rank(self, held: int, board: tuple[int, ...]) -> int:
        key = held, *sorted(board)
        if key not in self.ranks:
            self.ranks[key] = rank([*map(int, HAND_CARDS[held]), *board])
        return self.ranks[key]

    def hands(self, player: int, board: tuple[int, ...]) -> Iterator[tuple[int, float]]:
        """The hands of a range that the board leaves, and their weights."""
        for held, weight in enumerate(self.game.weights[player]):
            if weight > 0 and not set(HAND_CARDS[held].tolist()) & set(board):
                yield held, float(weight)

    def _steps(self, line: str) -> list[tuple[int, str, int]]:
        """Decisions on the way to a line: node, the line up to there, the move taken."""
        betting, here, so_far, found = self.game.betting, 0, "", []
        for part_number, part in enumerate(line.split("/")):
            steps = part.split("-") if part else []
            if part_number:
                so_far, here = f"{so_far}/{steps.pop(0)}", here + 1
            for step in steps:
                moves = betting.moves(here)
                found.append((here, so_far, moves.index(step)))
                here = list(betting.children(here))[moves.index(step)]
                so_far = f"{so_far}-{step}" if so_far else step
        return found

    def board(self, line: str) -> tuple[int, ...]:
        """Cards that lie after a line."""
        dealt = [part.split("-")[0] for part in line.split("/")[1:]]
        return (*self.game.board, *(c for text in dealt for c in parse_cards(text, line)))

    def reach(self, line: str, player: int) -> dict[int, float]:
        """Weight of each hand, times the probability that it played so."""
        found = {}
        for held, weight in self.hands(player, self.board(line)):
            for node, before, move in self._steps(line):
                if self.game.betting.actor[node] == player:
                    weight *= self.profile(before, held)[move]
            found[held] = weight
        return found

    def worth(self, node: int, line: str, board: tuple[int, ...], pair: tuple[int, int]) -> tuple[float, float]:
        """What two hands get from a node on, in chips as the game pays them."""
        betting = self.game.betting
        if betting.actor[node] == TERMINAL:
            case = 0
            if betting.showdown[node]:
                mine, theirs = (self._rank(h, board) for h in pair)
                case = 0 if mine > theirs else 1 if mine == theirs else 2
            return float(betting.pay[node][case][0]), float(betting.pay[node][case][1])
        parts: list[tuple[float, tuple[float, float]]] = []
        if betting.actor[node] == CHANCE:
            gone = {*board, *(int(c) for h in pair for c in HAND_CARDS[h])}
            count = self.game.deals[int(betting.street[node])]
            deals = list(combinations([int(c) for c in self.game.deck.cards if c not in gone], count))
            for cards in deals:
                after = self.worth(node + 1, f"{line}/{show_cards(cards)}", (*board, *cards), pair)
                parts.append((1 / len(deals), after))
        else:
            held = pair[int(betting.actor[node])]
            for p, child in zip(self.profile(line, held), betting.children(node), strict=True):
                after_line = f"{line}-{betting.label[child]}" if line else betting.label[child]
                parts.append((p, self.worth(child, after_line, board, pair)))
        return sum(p * w[0] for p, w in parts), sum(p * w[1] for p, w in parts)

    def ev(self, line: str, me: int, move: int | None = None) -> dict[int, float]:
        """What each hand wins from the pot as it stands after a line; own chips from there on are deducted."""
        betting, board = self.game.betting, self.board(line)
        node = betting.find(line).node
        start, after = node, line
        if move is not None:
            start = list(betting.children(node))[move]
            after = f"{line}-{betting.label[start]}" if line else betting.label[start]
        behind = float(betting.spent[node, me] - betting.spent[0, me])
        theirs = self.reach(line, 1 - me)
        found = {}
        for mine, _ in self.hands(me, board):
            total = mass = 0.0
            for other, weight in theirs.items():
                if weight > 0 and not set(HAND_CARDS[mine].tolist()) & set(HAND_CARDS[other].tolist()):
                    pair = (mine, other) if me == 0 else (other, mine)
                    total += weight * self.worth(start, after, board, pair)[me]
                    mass += weight
            if mass > 0:
                found[mine] = total / mass + behind
        return found

    def equity(self, line: str, me: int) -> dict[int, float]:
        """Share of the pot when no more is bet."""
        board, theirs = self.board(line), self.reach(line, 1 - me)
        found = {}
        for mine, _ in self.hands(me, board):
            won = met = 0.0
            for other, weight in theirs.items():
                gone = {*board, *HAND_CARDS[mine].tolist(), *HAND_CARDS[other].tolist()}
                if len(gone) < len(board) + 4:
                    continue
                for cards in combinations([int(c) for c in self.game.deck.cards if c not in gone], 5 - len(board)):
                    a, b = self._rank(mine, (*board, *cards)), self._rank(other, (*board, *cards))
                    won += weight * (1.0 if a > b else 0.5 if a == b else 0.0)
                    met += weight
            if met > 0:
                found[mine] = won / met
        return found
