"""Subgames of two-round hold'em: values against enumeration, safety of the safe methods, and the effect of the
improvement.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from reference.endgame import Opponent
from riverboat.cards.deck import hand_index
from riverboat.cards.notation import parse_hand
from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.games.base import CHANCE
from riverboat.games.boards.holdem import holdem
from riverboat.games.boards.subtrees import extract_betting_subtree
from riverboat.solvers.boards.cfr import BoardCFR, engine_quality
from riverboat.strategies.solution import Solution
from riverboat.subgames.flop_refinement import (
    COVERED_MARGIN_FACTOR,
    FLOP_METHODS,
    BettingRound,
    guaranteed_values,
    make_subgame,
    refine_flop,
)
from riverboat.trees.boards import BoardTree

ROUNDING = 1e-6  # in mbb/g
SAFE = [name for name, method in FLOP_METHODS.items() if method.safe]
WHOLE = [name for name, method in FLOP_METHODS.items() if method.gifts == "whole"]
GAME: dict[str, Any] = {
    "kind": "2-2",
    "ranks": 4,
    "suits": 2,
    "raises": "2/1",
}  # five subgames after up to three decisions


@cache
def tree() -> BoardTree:
    return BoardTree(holdem(**GAME))


@cache
def base(kind: str) -> BettingRound:
    """A strategy after few iterations, or a random one with some zeros."""
    if kind == "blueprint":
        solver = BoardCFR(tree(), dtype="float64")
        solver.step(4)
        return BettingRound(tree(), solver.averages.copy())
    random = np.random.default_rng(int(kind))
    table = random.random(tree().table_size + 16) ** 3 * (random.random(tree().table_size + 16) > 0.2)
    return BettingRound(tree(), table)


def best(table: Any) -> np.ndarray:
    return np.array(engine_quality(CpuBoardEngine.from_average(tree(), table)).best)


class TestParts:
    def test_subtree_is_the_betting_below_its_root(self) -> None:
        betting = tree().betting
        for root in np.flatnonzero(betting.actor == CHANCE):
            part, origin = extract_betting_subtree(betting, int(root))
            assert len(part.actor) == betting.end[root] - root
            for node, before in enumerate(origin):
                assert part.actions(node) == betting.actions(before)
                assert (part.payoffs[node] == betting.payoffs[before]).all()
                assert [origin[c] for c in part.children(node)] == list(betting.children(before))

    def test_dropped_actions_remove_their_subtrees(self) -> None:
        betting = tree().betting
        dropped = [n for n, label in enumerate(betting.label) if label == "r" and betting.street[n] == 1]
        part, origin = extract_betting_subtree(betting, 0, dropped)
        assert "r" not in {part.label[n] for n in range(len(origin)) if part.street[n] == 1}
        for node, before in enumerate(origin):
            kept = [c for c in betting.children(int(before)) if c not in dropped]
            assert [origin[c] for c in part.children(node)] == kept

    def test_nodes_need_an_action(self) -> None:
        betting = tree().betting
        with pytest.raises(InputError, match="node 0"):
            extract_betting_subtree(betting, 0, list(betting.children(0)))
        with pytest.raises(InputError, match="node 3"):
            extract_betting_subtree(betting, 3, [3])

    def test_tree_with_shared_boards_equals_a_new_tree(self) -> None:
        opening = base("0")
        for player in (None, 0, 1):
            _, shared, _ = make_subgame(opening, opening.leaves[1], FLOP_METHODS["maxmargin"], player)
            assert shared is not None
            runs = [BoardCFR(t, "dcfr", dtype="float64") for t in (shared, BoardTree(shared.game))]
            for run in runs:
                run.step(20)
            assert runs[0].quality().best == pytest.approx(runs[1].quality().best, abs=1e-9)

    def test_other_cards(self) -> None:
        game = holdem(**{**GAME, "ranks": 5})
        with pytest.raises(InputError, match="holdem"):
            tree().with_game(game)


class TestValues:
    def test_values_equal_enumeration(self) -> None:
        """Reach and best-response values of some hands on the longest line, against a recursion over states."""
        opening, game = base("1"), tree().game
        solution = Solution(tree(), opening.table)
        node = max(opening.leaves, key=lambda n: len(opening.path(n)))
        nodes = [0, *(child for _, child in opening.path(node))]
        labels = tuple(opening.line(node))
        for opponent in (0, 1):
            reference = Opponent(game, _Rows(solution), opponent)
            for hand in (0, 5, 17):
                row = tree().row_of[0, opponent][game.hand_indices[opponent][hand]]
                for n, (_, weight, value) in zip(nodes, reference.down(labels, hand), strict=True):
                    assert opening.opponent_weights(opponent)[n][row] == pytest.approx(weight, abs=1e-9)
                    assert opening.best_response_values(opponent)[n][row] == pytest.approx(value, abs=1e-9)

    def test_split_gifts_sum_to_the_gift(self) -> None:
        opening = base("2")
        for opponent in (0, 1):
            for decision in range(opening.count):
                if tree().forest.actor[decision] != opponent:
                    continue
                for child in opening.children(decision):
                    below = [e for e in opening.leaves if child <= e < tree().forest.end[child]]
                    gift = (
                        opening.best_response_values(opponent)[decision] - opening.best_response_values(opponent)[child]
                    )
                    # gifts of the subgames below the action, without those of later decisions
                    spent: Any = sum(opening.gifts(opponent, e, split=True) for e in below)
                    assert (gift >= -1e-9).all()
                    if below and opening.first_decision(opponent, below[0]) == decision:
                        later = sum(_gifts_after(opening, opponent, e, child) for e in below)
                        possible = opening.opponent_weights(opponent)[below].sum(axis=0) > 0
                        assert np.allclose((spent - later)[possible], gift[possible], atol=1e-6)

    def test_guaranteed_values(self) -> None:
        """A player who calls and then folds loses its chips in the pot: 5 or 10 of blinds, or a bet of 10 more."""
        betting = tree().betting
        floor = guaranteed_values(betting, 1)  # the dealer, with a small blind of 5
        assert floor[0] == -5
        call, raised = betting.find("c", "").node, betting.find("r", "").node
        assert (floor[call], floor[raised]) == (-10, -20)
        assert guaranteed_values(betting, 0)[call] == -10


class _Rows:
    """A solution as the reference reads it: `hand:line` gives probabilities by action."""

    def __init__(self, solution: Solution) -> None:
        self.spot = cache(lambda line: solution[line])

    def __getitem__(self, key: str) -> dict[str, float]:
        hand, _, line = key.partition(":")
        spot = self.spot(line)
        return dict(zip(spot.actions, spot.strategy[:, hand_index(*parse_hand(hand))], strict=True))


def _gifts_after(opening: BettingRound, opponent: int, node: int, child: int) -> Any:
    """Gifts at the decisions below a node, as `BettingRound.gifts` splits them."""
    total = np.zeros(opening.best_response_values(opponent).shape[1])
    weights = opening.opponent_weights(opponent)
    for parent, next_node in opening.path(node):
        if parent >= child and tree().forest.actor[parent] == opponent:
            sharing = [e for e in opening.leaves if next_node <= e < tree().forest.end[next_node]]
            share = weights[node] / np.maximum(weights[sharing].sum(axis=0), 1e-300)
            total += (
                opening.best_response_values(opponent)[parent] - opening.best_response_values(opponent)[next_node]
            ) * share
    return total


@pytest.mark.parametrize("kind", ["blueprint", "3", "4"])
@pytest.mark.parametrize("method", SAFE)
def test_safe_methods_bound_the_gain(method: str, kind: str) -> None:
    """With all subgames refined at once, best responses gain at most what inexact gadget solutions allow."""
    opening = base(kind)
    found = refine_flop(opening, method, iterations=60, dtype="float64")
    rise = best(found.table) - best(opening.table)
    for player in (0, 1):
        assert rise[1 - player] <= found.allowance(player) + ROUNDING
        assert found.allowance(player) > 0


@pytest.mark.parametrize("method", WHOLE)
def test_whole_gifts_are_safe_for_one_subgame(method: str) -> None:
    opening = base("5")
    for node in opening.leaves:
        found = refine_flop(opening, method, iterations=60, lines=[opening.line(node)], dtype="float64")
        rise = best(found.table) - best(opening.table)
        assert all(rise[1 - player] <= found.allowance(player) + ROUNDING for player in (0, 1))


def test_unsafe_solves_the_subgame_without_guarantee() -> None:
    opening = base("3")
    found = refine_flop(opening, "unsafe", iterations=300, dtype="float64")
    assert [(solved.player, solved.allowance) for solved in found.endgames] == [(None, 0.0)] * len(opening.leaves)
    assert all(solved.exploitability < 1 for solved in found.endgames)


def test_improvement_raises_margins_of_uncovered_hands() -> None:
    """Margins of hands without a better off-path action are no smaller than without the improvement."""
    compared = 0
    for kind in ("3", "4", "5"):
        opening = base(kind)
        for node in opening.leaves:
            for player in (0, 1):
                covered = opening.rows_to_hands(opening.covered_rows(1 - player, node).astype(float), 1 - player) > 0
                results = []
                for method in (FLOP_METHODS["reach"], replace(FLOP_METHODS["reach"], improved=False)):
                    _, subgame, _ = make_subgame(opening, node, method, player)
                    if subgame is None:
                        break
                    solver = BoardCFR(subgame, dtype="float64")
                    solver.step(150)
                    margins = np.where(covered, np.nan, solver.engine.margins())
                    results.append(
                        (np.nanmin(margins) if not np.isnan(margins).all() else np.nan, solver.exploitability())
                    )
                if len(results) == 2 and covered.any() and not np.isnan(results[0][0]):
                    compared += 1
                    slack = 2 * (results[0][1] + results[1][1]) / tree().per_chip
                    assert results[0][0] >= results[1][0] - slack - 1e-9
    assert compared > 3
    assert COVERED_MARGIN_FACTOR > 1


def test_unknown_lines_and_methods() -> None:
    with pytest.raises(InputError, match="'zz'"):
        refine_flop(base("3"), "maxmargin", lines=["cc", "zz"])
    with pytest.raises(InputError, match="'magic'"):
        refine_flop(base("3"), "magic")
