"""Maxmargin gadgets with limits on boards, against a linear program: one endgame of 20 cards, on one flop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS
from riverboat.cards.notation import parse_cards
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.holdem import flop_holdem
from riverboat.games.boards.root_gadgets import MaxmarginGadget
from riverboat.games.boards.subtrees import BoardSubgame, extract_betting_subtree
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.subgames.gadget_solving import check_times, solve_gadget
from riverboat.trees.boards import BoardTree

FLOP = "TsJhJd"


@dataclass
class BoardProgram:
    """The linear program of a refined player's largest least margin on one board.

    Variables: its realization plan times its range, the opponent's value at each of its decisions, minus the margin.
    """

    betting: BettingTree
    player: int
    own: Array  # int64: hands of the refined player
    others: Array  # int64: hands of the opponent
    reach: Array  # float64 [own hands]
    board: tuple[int, ...]

    @cached_property
    def compatible(self) -> Array:
        cards = HAND_CARDS[self.others][:, None, :, None] == HAND_CARDS[self.own][None, :, None, :]
        return ~cards.any(axis=(2, 3))

    @cached_property
    def outcome(self) -> Array:
        """Index of the payoff, if player 0's hand is stronger, equal or weaker. int64 [other hands, own hands]"""
        ranks = [
            rank_batch(np.hstack([HAND_CARDS[h], np.tile(self.board, (len(h), 1))]).astype(np.uint8)).astype(int)
            for h in (self.others, self.own)
        ]
        sign = np.sign(ranks[0][:, None] - ranks[1][None, :])  # of the opponent's hand
        return 1 - sign if self.player == 1 else 1 + sign

    def solve(self, shifts: Array, limits: Array, caps: Array) -> tuple[float, Array]:
        """Return the least margin, and which hands are at their caps."""
        met = self.compatible @ self.reach
        covered = np.zeros(len(self.others), bool)
        while True:
            most = np.where(covered, np.minimum(limits, shifts - caps), limits) * met
            margin = self._margin(most, (shifts * met)[~covered], met[~covered], ~covered)
            more = ~covered & (caps < margin - 1e-9)
            if not more.any() or (covered | more).all():
                return margin, covered
            covered |= more

    def _margin(self, most: Array, shifted: Array, met: Array, chosen: Array) -> float:
        inequalities, bounds = [], []
        plan, value = self._rows
        for rows in value:  # a decision of the opponent is worth at least each of its actions
            inequalities.append(hstack([rows, csr_array((rows.shape[0], 1))]))
            bounds.append(np.zeros(rows.shape[0]))
        root = self._root
        inequalities.append(hstack([root, csr_array((root.shape[0], 1))]))
        bounds.append(most)
        inequalities.append(hstack([root[chosen], csr_array(met[:, None])]))
        bounds.append(shifted)
        equal = hstack([plan, csr_array((plan.shape[0], 1))])
        right = np.zeros(plan.shape[0])
        right[: len(self.own)] = self.reach
        free = plan.shape[1] - self.num_plans
        cost = np.zeros(plan.shape[1] + 1)
        cost[-1] = -1
        found = linprog(
            cost, vstack(inequalities), np.concatenate(bounds), equal, right,
            bounds=[(0, None)] * self.num_plans + [(None, None)] * (free + 1), method="highs",
        )  # fmt: skip
        assert found.status == 0, found.message
        return float(-found.fun)

    @cached_property
    def num_plans(self) -> int:
        decisions = np.flatnonzero(self.betting.actor == self.player)
        return len(self.own) * (1 + sum(len(list(self.betting.children(int(n)))) for n in decisions))

    @cached_property
    def _parts(self) -> tuple[Any, list[Any], Any]:
        betting, own, others = self.betting, len(self.own), len(self.others)
        width = self.num_plans + others * int((betting.actor == 1 - self.player).sum())
        equal, value = [self._block(0, np.eye(own), width)], []
        next_plan, next_value = own, self.num_plans

        def visit(node: int, plan: int) -> Any:
            """Return the opponent's value at a node, [other hands, variables]; `plan`: the player's last sequence."""
            nonlocal next_plan, next_value
            actor = int(betting.actor[node])
            if actor == TERMINAL:
                payoff = betting.payoffs[node][self.outcome, 1 - self.player] * self.compatible
                return self._block(plan, payoff, width)
            children = list(betting.children(node))
            if actor == self.player:
                plans = [next_plan + own * k for k in range(len(children))]
                next_plan += own * len(children)
                equal.append(
                    sum(self._block(p, np.eye(own), width) for p in plans) - self._block(plan, np.eye(own), width)
                )
                return sum(visit(child, p) for child, p in zip(children, plans, strict=True))
            at = next_value
            next_value += others
            here = self._block(at, np.eye(others), width)
            value.extend(visit(child, plan) - here for child in children)
            return here

        root = visit(0, 0)
        return vstack(equal).tocsr(), value, root.tocsr()

    @staticmethod
    def _block(at: int, block: Array, width: int) -> Any:
        return hstack(
            [csr_array((len(block), at)), csr_array(block), csr_array((len(block), width - at - block.shape[1]))]
        ).tocsr()

    @property
    def _rows(self) -> tuple[Any, list[Any]]:
        return self._parts[0], self._parts[1]

    @property
    def _root(self) -> Any:
        return self._parts[2]


def endgame(player: int, seed: int, every: int) -> tuple[BoardProgram, BoardSubgame]:
    """One flop of 20 cards after a raise and a call; each player holds one of `every` hands."""
    game, board = flop_holdem("small", ranks=5, suits=4), tuple(parse_cards(FLOP))
    rng = np.random.default_rng(seed)
    betting = game.betting
    leaf = 1 + next(n for n in np.flatnonzero(betting.actor == CHANCE) if betting.spent[n].tolist() == [300, 300])
    part = extract_betting_subtree(betting, int(leaf))
    live = [h[~np.isin(HAND_CARDS[h], board).any(axis=1)] for h in game.hand_indices]
    live = [np.sort(rng.permutation(h)[: len(h) // every]) for h in live]
    weights = [np.zeros(NUM_HANDS), np.zeros(NUM_HANDS)]
    weights[player][live[player]] = rng.random(len(live[player])) ** 2
    weights[1 - player][live[1 - player]] = 1.0
    program = BoardProgram(part.betting, player, live[player], live[1 - player], weights[player][live[player]], board)
    return program, BoardSubgame(game, "endgame", part.betting, (weights[0], weights[1]), None, board, ())


SLOW = [(0, 2, 1, True), (1, 3, 1, False), (1, 3, 6, True), (0, 0, 6, True)]


@pytest.mark.parametrize(
    ("player", "seed", "every", "capped"),
    [
        (0, 0, 4, False),
        (1, 1, 6, False),
        (0, 2, 6, True),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW),
    ],
)
def test_margins_equal_those_of_the_linear_program(player: int, seed: int, every: int, capped: bool) -> None:
    """The least margin with gifts is that of the linear program, no hand exceeds its limit, and caps take effect.

    Limits are counterfactual best-response values against the strategy after a few iterations.
    """
    program, plain = endgame(player, seed, every)
    rng, opponent, tree = np.random.default_rng(seed + 100), 1 - player, BoardTree(plain)
    blueprint = BoardCFR(tree, dtype="float64")
    blueprint.step(20)
    row = tree.row_of[0, opponent][program.others]
    limits = blueprint.engine.best_response_values(opponent)[0][row] / (program.compatible @ program.reach)
    # A hand that can only fold loses 300 against any strategy: without a gift its margin of 0 would be the least.
    gifts = rng.uniform(0, 400, len(row)) * ((rng.random(len(row)) < 0.7) | (limits < -200))
    caps = rng.uniform(0, 300, len(row)) if capped else np.full(len(row), 1e9)
    exact, covered = program.solve(limits + gifts, limits, caps)
    without_limits, _ = program.solve(limits + gifts, np.full(len(row), 1e6), np.full(len(row), 1e9))
    assert covered.any() if capped else exact < without_limits - 1  # caps and limits matter
    vectors = [np.zeros(NUM_HANDS) for _ in range(3)]
    for vector, numbers in zip(vectors, (limits + gifts, limits, caps), strict=True):
        vector[program.others] = numbers
    gadget = MaxmarginGadget(opponent, vectors[0], limits=vectors[1])
    game = BoardSubgame(plain.full_game, "gadget", plain.betting, plain.weights, gadget, plain.board, ())
    solver = BoardCFR(BoardTree(game), "dcfr:alpha=1.1,beta=0.25,gamma=4", dtype="float64")
    found = solve_gadget(solver, 6000, caps=vectors[2] if capped else None)
    chips = solver.tree.per_chip
    assert found.margin / chips == pytest.approx(exact, abs=0.5)  # in a pot of 600
    assert found.excess.max() / chips < 0.2
    np.testing.assert_array_equal(np.isnan(solver.engine.margins())[program.others], covered)


def test_checks() -> None:
    times = check_times(20_000)
    assert (times[0], times[-1], len(times)) == (16, 20_000, 34)
    assert check_times(5) == [5]
    assert check_times(40, 25) == [31, 38, 40]
