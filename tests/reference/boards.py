"""References for the hold'em engine: tree CFR on all cards, and enumeration of hands and runouts.

`same_run` starts the engine and tree CFR with the same regrets. `Slow` evaluates a solution by enumeration: a profile
maps line and hand to the probability of each action. It shares with the engine only the betting tree and the ranking of
seven cards, which have tests of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from riverboat.cards.deck import HAND_CARDS, hand_index
from riverboat.cards.notation import format_cards, parse_cards
from riverboat.cards.ranking import rank
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.tables import TABLE_FORMATS
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import BoardGame
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.boards import NO_ROW, BoardTree
from riverboat.trees.public import PublicTree

Profile = Callable[[str, int], Sequence[float]]


def hand(text: str) -> int:
    """The index of a hand such as `AsKd`."""
    first, second = parse_cards(text, "hand")
    return hand_index(first, second)


def profile_of(solver: CFR) -> Profile:
    """The profile of tree CFR's average strategy."""
    table: dict[tuple[str, int], list[float]] = {}
    for name, row in solver.average().items():
        hand_name, _, line = name.partition(":")
        table[line, hand(hand_name)] = list(row.values())
    return lambda line, h: table[line, h]


# --- tree CFR -------------------------------------------------------------------------


def same_places(tree: BoardTree, oracle: PublicTree) -> tuple[Array, Array, Array]:
    """Matching table indices i and j of both solvers, and the factor between their regrets.

    The engine's payoffs and weights are scaled (`BoardEngine`), and it applies chance probabilities on the way up,
    whereas tree CFR has them in the opponent's reach. At forced actions tree CFR stores nothing.
    """
    engine = CpuBoardEngine(tree, TABLE_FORMATS["float64"])
    where: dict[str, tuple[int, int, Array, float]] = {}
    result: list[tuple[int, int, float]] = []
    for infoset in oracle.infosets():
        hand_name, _, line = infoset.name.partition(":")
        if line not in where:
            node, dealt = tree.betting.find(line, tree.game.joiner)
            boards, maps = tree.deals.locate(dealt)
            board, who = boards[-1], int(tree.betting.actor[node])
            assert who == infoset.player
            rows = int(tree.boards.rows[board, who])
            n = int(np.flatnonzero(tree.forest.node == node)[0])
            at = int(tree.boards.base[board, who]) + int(tree.forest.slot[n]) * rows
            unit = engine.root.mass[1 - who] * float(np.prod(tree.boards.chance[boards[1:]])) / engine.scale
            where[line] = at, rows, tree.row_of[board, who][maps[-1]], unit
        if len(infoset.actions) > 1:
            at, rows, row_of, unit = where[line]
            row = int(row_of[hand(hand_name)])
            assert row != NO_ROW
            result += [
                (at + k * rows + row, infoset.offset + k * infoset.stride, unit) for k in range(len(infoset.actions))
            ]
    first, second, units = np.array(result).T
    return first.astype(int), second.astype(int), units


def same_run(
    tree: BoardTree, oracle_tree: PublicTree, schedule: str, seed: int, places: tuple[Array, Array, Array]
) -> tuple[BoardCFR, CFR]:
    """Both solvers after the same five iterations, from the same random regrets.

    Exact ties between actions are frequent in the first iterations. Tree CFR cuts off their rounding errors, the engine
    does not, and an error of 1e-18 would become a pure strategy: random regrets avoid ties. Schedules that discard the
    regrets before the first iteration start with the second.
    """
    own, oracle = BoardCFR(tree, schedule, dtype="float64"), CFR(oracle_tree, schedule)
    index, oracle_index, unit = places
    own.engine.write("regret", np.random.default_rng(seed).random(tree.table_size) / 256)
    oracle.regret[oracle_index] = own.engine.read("regret")[index] * unit
    own.iteration = oracle.iteration = 1
    own.step(5)
    oracle.step(5)
    return own, oracle


def assert_same_state(own: BoardCFR, oracle: CFR, places: tuple[Array, Array, Array]) -> None:
    """Compare regrets, averages and values. 1e-9: rounding errors of 1e-16 grow if sums cancel."""
    index, oracle_index, unit = places
    close = {"rtol": 1e-9, "atol": 1e-9 / 256}
    np.testing.assert_allclose(own.engine.read("regret")[index], oracle.regret[oracle_index] / unit, **close)
    np.testing.assert_allclose(own.averages[index] * own.weight, oracle.averages[oracle_index], rtol=1e-9, atol=1e-9)
    if own.schedule.predictive:
        np.testing.assert_allclose(
            own.engine.read("prediction")[index], oracle.prediction[oracle_index] / unit, **close
        )
    ours, other, per_chip = own.quality(), oracle.quality(), own.tree.per_chip
    np.testing.assert_allclose(ours.best, per_chip * np.array(other.best), rtol=1e-9)
    solution = own.average()
    for player in (0, 1):
        np.testing.assert_allclose(solution.expected_value(player), other.values[player], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(
            solution.expected_value(player, respond=True), other.best[player], rtol=1e-8, atol=1e-9
        )
    np.testing.assert_allclose(ours.nash_conv, per_chip * other.nash_conv, rtol=1e-8)


# --- enumeration ------------------------------------------------------------------------------


@dataclass
class Slow:
    """A game and a strategy profile."""

    game: BoardGame
    profile: Profile
    ranks: dict[tuple[int, ...], int] = field(default_factory=dict)

    def _rank(self, held: int, board: tuple[int, ...]) -> int:
        key = held, *sorted(board)
        if key not in self.ranks:
            self.ranks[key] = rank([*map(int, HAND_CARDS[held]), *board])
        return self.ranks[key]

    def hands(self, player: int, board: tuple[int, ...]) -> Iterator[tuple[int, float]]:
        """The hands of a range that the board allows, and their weights."""
        for h, weight in enumerate(self.game.weights[player]):
            if weight > 0 and not set(HAND_CARDS[h].tolist()) & set(board):
                yield h, float(weight)

    def _steps(self, line: str) -> list[tuple[int, str, int]]:
        """Decisions on a line: node, the line up to it, the action taken."""
        betting, node, so_far, result = self.game.betting, 0, "", []
        for part_number, part in enumerate(line.split("/")):
            steps = part.split("-") if part else []
            if part_number:
                so_far, node = f"{so_far}/{steps.pop(0)}", node + 1
            for step in steps:
                moves = betting.actions(node)
                result.append((node, so_far, moves.index(step)))
                node = list(betting.children(node))[moves.index(step)]
                so_far = f"{so_far}-{step}" if so_far else step
        return result

    def board(self, line: str) -> tuple[int, ...]:
        """Board cards after a line."""
        dealt = [part.split("-")[0] for part in line.split("/")[1:]]
        return (*self.game.board, *(c for text in dealt for c in parse_cards(text, line)))

    def reach(self, line: str, player: int) -> dict[int, float]:
        """Weight of each hand times its probability of playing the line."""
        result = {}
        for h, weight in self.hands(player, self.board(line)):
            for node, before, move in self._steps(line):
                if self.game.betting.actor[node] == player:
                    weight *= self.profile(before, h)[move]
            result[h] = weight
        return result

    def worth(self, node: int, line: str, board: tuple[int, ...], pair: tuple[int, int]) -> tuple[float, float]:
        """Payoffs of two hands from a node on, in chips."""
        betting = self.game.betting
        if betting.actor[node] == TERMINAL:
            case = 0
            if betting.showdown[node]:
                own, other = (self._rank(h, board) for h in pair)
                case = 0 if own > other else 1 if own == other else 2
            return float(betting.payoffs[node][case][0]), float(betting.payoffs[node][case][1])
        parts: list[tuple[float, tuple[float, float]]] = []
        if betting.actor[node] == CHANCE:
            gone = {*board, *(int(c) for h in pair for c in HAND_CARDS[h])}
            count = self.game.deals[int(betting.street[node])]
            deals = list(combinations([int(c) for c in self.game.deck.cards if c not in gone], count))
            for cards in deals:
                after = self.worth(node + 1, f"{line}/{format_cards(cards)}", (*board, *cards), pair)
                parts.append((1 / len(deals), after))
        else:
            h = pair[int(betting.actor[node])]
            for p, child in zip(self.profile(line, h), betting.children(node), strict=True):
                after_line = f"{line}-{betting.label[child]}" if line else betting.label[child]
                parts.append((p, self.worth(child, after_line, board, pair)))
        return sum(p * w[0] for p, w in parts), sum(p * w[1] for p, w in parts)

    def ev(self, line: str, me: int, move: int | None = None) -> dict[int, float]:
        """EV of each hand: its share of the pot after a line, minus its own later chips."""
        betting, board = self.game.betting, self.board(line)
        node = betting.find(line).node
        start, after = node, line
        if move is not None:
            start = list(betting.children(node))[move]
            after = f"{line}-{betting.label[start]}" if line else betting.label[start]
        behind = float(betting.spent[node, me] - betting.spent[0, me])
        opponent_reach = self.reach(line, 1 - me)
        result = {}
        for own, _ in self.hands(me, board):
            total = mass = 0.0
            for other, weight in opponent_reach.items():
                if weight > 0 and not set(HAND_CARDS[own].tolist()) & set(HAND_CARDS[other].tolist()):
                    pair = (own, other) if me == 0 else (other, own)
                    total += weight * self.worth(start, after, board, pair)[me]
                    mass += weight
            if mass > 0:
                result[own] = total / mass + behind
        return result

    def equity(self, line: str, me: int) -> dict[int, float]:
        """Share of the pot without further bets."""
        board, opponent_reach = self.board(line), self.reach(line, 1 - me)
        result = {}
        for own, _ in self.hands(me, board):
            won = reached = 0.0
            for other, weight in opponent_reach.items():
                gone = {*board, *HAND_CARDS[own].tolist(), *HAND_CARDS[other].tolist()}
                if len(gone) < len(board) + 4:
                    continue
                for cards in combinations([int(c) for c in self.game.deck.cards if c not in gone], 5 - len(board)):
                    a, b = self._rank(own, (*board, *cards)), self._rank(other, (*board, *cards))
                    won += weight * (1.0 if a > b else 0.5 if a == b else 0.0)
                    reached += weight
            if reached > 0:
                result[own] = won / reached
        return result
