"""Best responses inside the abstract game, against plain enumeration and the full game."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from reference.small_blueprint import small_game_strategy
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.rules import read_game
from riverboat.games.registry import game_from_spec
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.tabular.best_response import quality
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree


def leduc(labels: list[int] | None, after: list[int] | None = None) -> BlueprintTrainer:
    """Leduc with card buckets before and after the public card; None: lossless."""
    rules = read_game("leduc")
    full = lossless_abstraction(rules.board[1:], rules.deck)
    streets = [
        lossless if buckets is None else StreetBuckets(max(buckets) + 1, np.array([buckets], np.uint16))
        for buckets, lossless in zip((labels, after), full.streets, strict=True)
    ]
    return BlueprintTrainer(compile_action_tree(rules), CardAbstraction(tuple(streets), full.deals, rules.deck), seed=1)


def enumerated(solver: BlueprintTrainer, me: int) -> float:
    """Best-response value of a seat by enumeration: deals that it cannot distinguish share an action."""
    rules = solver.tree.rules
    deals = [(1.0, deal[:2], deal[2:]) for deal in permutations(rules.deck.cards.tolist(), 3)]

    def value(state: BettingState, deals: list) -> float:
        while state.actor == CHANCE:
            state = state.next_street()
        if state.actor == TERMINAL:
            total = 0.0
            for weight, hands, board in deals:
                first, second = (rank([hand, *board]) for hand in hands)
                total += weight * state.payoffs()[0 if first > second else 1 if first == second else 2][me]
            return total
        node = solver.tree.find(state.line)
        moves = [state.apply_action(state.parse_action(move)) for move in solver.tree.actions(node)]
        seen: dict[int, list] = {}
        for weight, hands, board in deals:
            bucket = solver.cards.bucket([hands[state.actor]], board[: rules.board_sizes[state.street]])
            seen.setdefault(bucket, []).append((weight, hands, board))
        if state.actor == me:
            return sum(max(value(after, group) for after in moves) for group in seen.values())
        total = 0.0
        for a, after in enumerate(moves):
            reached = []
            for bucket, group in seen.items():
                p = float(solver.average(node, bucket)[a])
                reached += [(weight * p, hands, board) for weight, hands, board in group]
            total += value(after, reached)
        return total

    return value(BettingState.start(rules), deals) / len(deals)


@pytest.mark.parametrize("labels", [None, [0, 0, 1], [0, 1, 1]])
def test_equals_enumeration(labels: list[int] | None) -> None:
    solver = leduc(labels)
    solver.step(2_000)
    result = abstract_quality(solver)
    assert result.best == pytest.approx([enumerated(solver, me) for me in (0, 1)], abs=1e-6)
    assert result.exploitability > 0.01


def test_lossless_buckets_give_the_full_game() -> None:
    for name in ("kuhn", "leduc"):
        rules = read_game(name)
        solver = BlueprintTrainer(compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck), seed=1)
        solver.step(3_000)
        tree = compile_game(game_from_spec(name))
        assert isinstance(tree, PublicTree)
        real, result = quality(small_game_strategy(solver, tree)), abstract_quality(solver)
        assert result.best == pytest.approx(real.best, abs=1e-6)
        assert result.values == pytest.approx(real.values, abs=1e-6)


def test_training_solves_only_the_abstract_game() -> None:
    solver = leduc([0, 0, 1])
    solver.step(500_000)
    tree = compile_game(game_from_spec("leduc"))
    assert isinstance(tree, PublicTree)
    assert abstract_quality(solver).exploitability < 0.03
    assert quality(small_game_strategy(solver, tree)).exploitability > 0.1


def test_imperfect_recall_is_rejected() -> None:
    solver = leduc([0, 0, 1], [0, 1] * 7 + [0])
    with pytest.raises(InputError, match="perfect recall"):
        abstract_quality(solver)
