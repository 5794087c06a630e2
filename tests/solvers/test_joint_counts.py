"""Joint counts of bucket sequences, against an enumeration of all boards."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.abstraction.cards.percentile_buckets import percentile_abstraction
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import PokerRules
from riverboat.papers.public_chance_sampling.class_game import class_game_from_boards, class_quality, sample_boards
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.solvers.mccfr.trainer import BlueprintTrainer

RULES = PokerRules(
    limit=True, blinds=(10, 5), raise_sizes=(10, 10), most_raises=(1, 2), first=(1, 0), board=(0, 3),
    ranks=4, suits=2, name="small",
)  # fmt: skip


def test_all_boards_equal_the_abstract_game() -> None:
    """Every ordered board once: equal to the best response by enumeration of boards, up to float32 rounding."""
    tree = compile_action_tree(RULES)
    cards = percentile_abstraction(3, "square", RULES.deck, RULES.board[1:])
    boards = np.array(list(permutations(RULES.deck.cards.tolist(), 3)), np.uint8)
    game = class_game_from_boards(tree, cards, boards)
    solver = BlueprintTrainer(tree, cards, "pcs", seed=3)
    solver.step(128)
    expected = abstract_quality(solver)
    result = class_quality(game, [solver.tables.strategies(street) for street in range(2)])
    assert result.best == pytest.approx(expected.best, rel=1e-4)
    assert result.values == pytest.approx(expected.values, abs=1e-4)


def test_sampled_boards_are_valid() -> None:
    tree = compile_action_tree(RULES)
    boards = sample_boards(tree, 50, 1)
    assert boards.shape == (50, 3)
    assert all(len(set(board)) == 3 for board in boards.tolist())
    assert np.isin(boards, RULES.deck.cards).all()


def test_imperfect_recall_is_rejected() -> None:
    tree = compile_action_tree(RULES)
    with pytest.raises(InputError, match=r"street \d.*percentile"):
        class_game_from_boards(tree, lossless_abstraction(RULES.board[1:], RULES.deck), sample_boards(tree, 2, 0))
