"""Subgames of two-round hold'em: values against enumeration, safety of the safe methods, and the effect of the
improvement.
"""

from __future__ import annotations

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
    FLOP_METHODS,
    BettingRound,
    guaranteed_values,
    has_decisions,
    make_subgame,
    opponent_bounds,
    refine_flop,
)
from riverboat.subgames.gadget_solving import solve_gadget
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
    """With all subgames refined at once, best responses gain at most what inexact gadget solutions allow.

    The bound by hands is not above that by the gadgets' exploitability, except for limits, which have a penalty.
    """
    opening = base(kind)
    found = refine_flop(opening, method, iterations=60, dtype="float64")
    rise = best(found.table) - best(opening.table)
    for player in (0, 1):
        assert rise[1 - player] <= found.slacks[player] + ROUNDING
        assert found.own_exploitability(player) > 0
        assert FLOP_METHODS[method].limited or found.slacks[player] <= found.own_exploitability(player) + ROUNDING


def test_iterations_stop_at_the_target() -> None:
    """The gadgets' own exploitability, weighted by reach, is at most the target; a lower target needs more iterations."""
    results = [refine_flop(base("3"), "reach_maxmargin", iterations=5000, until=x, dtype="float64") for x in (50, 5)]
    for found, target in zip(results, (50, 5), strict=True):
        assert all(found.own_exploitability(player) <= target for player in (0, 1))
        assert max(solved.iterations for solved in found.endgames) < 5000
    assert results[1].iterations > results[0].iterations


@pytest.mark.parametrize("method", WHOLE)
def test_whole_gifts_are_safe_for_one_subgame(method: str) -> None:
    opening = base("5")
    for node in opening.leaves:
        found = refine_flop(opening, method, iterations=60, lines=[opening.line(node)], dtype="float64")
        rise = best(found.table) - best(opening.table)
        assert all(rise[1 - player] <= found.slacks[player] + ROUNDING for player in (0, 1))


def test_unsafe_solves_the_subgame_without_guarantee() -> None:
    opening = base("3")
    found = refine_flop(opening, "unsafe", iterations=300, dtype="float64")
    assert [(solved.player, solved.own) for solved in found.endgames] == [(None, 0.0)] * len(opening.leaves)
    assert all(solved.exploitability < 1 for solved in found.endgames)


@pytest.mark.parametrize("kind", ["3", "4", "5"])
def test_improvement_raises_margins_of_other_hands(kind: str) -> None:
    """Hands that had better leave the path keep margins of their caps, so that the least margin of others grows."""
    opening, found = base(kind), {}
    for method in ("reach_maxmargin", "reach_maxmargin_plain"):
        for node in opening.leaves:
            for player in (0, 1):
                part, subgame, bounds = make_subgame(opening, node, FLOP_METHODS[method], player)
                if subgame is None or bounds is None or not has_decisions(part.betting, 0, player):
                    continue
                solver = BoardCFR(subgame, dtype="float64")
                caps = None if bounds.caps is None else opening.rows_to_hands(bounds.caps, 1 - player)
                solution = solve_gadget(solver, 600, caps=caps)
                found[method, node, player] = solution.margin, solution.exploitability, solver.engine, caps
    covered_hands = 0
    for (method, node, player), (margin, exploitability, engine, caps) in found.items():
        plain = found["reach_maxmargin_plain", node, player]
        if method == "reach_maxmargin":
            assert margin >= plain[0] - 2 * (exploitability + plain[1]) - 1e-9
            covered = np.isnan(engine.margins()) & ~np.isnan(plain[2].margins())
            covered_hands += int(covered.sum())
            assert (caps[covered] * tree().per_chip <= margin + 2 * exploitability + 1e-9).all()
    assert covered_hands > 0


def test_a_single_subgame_spends_its_gifts() -> None:
    """Then limits include gifts, and off-path actions have their values against the base strategy."""
    opening = base("4")
    for node in opening.leaves:
        alone, several = (
            opponent_bounds(opening, node, FLOP_METHODS["reach_maxmargin"], 1, alone=alone) for alone in (True, False)
        )
        assert alone.limits is not None
        assert several.limits is not None
        assert alone.caps is not None
        assert several.caps is not None
        assert (alone.limits >= several.limits - 1e-9).all()
        assert (alone.caps <= several.caps + 1e-9).all()
        np.testing.assert_allclose(several.limits, opening.cbv(1, node))


@pytest.mark.parametrize("kind", ["3", "4"])
def test_lower_bounds_hold_for_every_refinement(kind: str) -> None:
    opening = base(kind)
    for method in ("unsafe", "maxmargin"):
        refined = BettingRound(tree(), refine_flop(opening, method, iterations=40, dtype="float64").table)
        for opponent in (0, 1):
            assert (opening.lower_bounds(opponent) <= opening.best_response_values(opponent) + 1e-9).all()
            assert (opening.lower_bounds(opponent) <= refined.best_response_values(opponent) + 1e-9).all()


def test_unknown_lines_and_methods() -> None:
    with pytest.raises(InputError, match="'zz'"):
        refine_flop(base("3"), "maxmargin", lines=["cc", "zz"])
    with pytest.raises(InputError, match="'magic'"):
        refine_flop(base("3"), "magic")
