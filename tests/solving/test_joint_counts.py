"""Joint counts of bucket sequences beside the walk of all boards."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.abstraction.cards.perfect_recall import percentile_abstraction
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.rules import Rules
from riverboat.papers.public_chance_sampling.class_game import class_quality
from riverboat.papers.public_chance_sampling.joint_counts import drawn_boards, joint_game
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.solvers.mccfr.samplers import make_blueprint

RULES = Rules(
    limit=True, blinds=(10, 5), raise_sizes=(10, 10), most_raises=(1, 2), first=(1, 0), board=(0, 3),
    ranks=4, suits=2, name="small",
)  # fmt: skip


def test_all_boards_give_the_abstract_game() -> None:
    """Every ordered board once: the best response that walks the boards, to rounding of float32."""
    tree = compile_actions(RULES)
    cards = percentile_abstraction(3, "square", RULES.deck, RULES.board[1:])
    boards = np.array(list(permutations(RULES.deck.cards.tolist(), 3)), np.uint8)
    game = joint_game(tree, cards, boards)
    solver = make_blueprint(tree, cards, "pcs", seed=3)
    solver.step(128)
    expected = abstract_quality(solver)
    found = class_quality(game, [solver.tables.strategies(street) for street in range(2)])
    assert found.best == pytest.approx(expected.best, rel=1e-4)
    assert found.values == pytest.approx(expected.values, abs=1e-4)


def test_drawn_boards_are_boards() -> None:
    tree = compile_actions(RULES)
    boards = drawn_boards(tree, 50, 1)
    assert boards.shape == (50, 3)
    assert all(len(set(board)) == 3 for board in boards.tolist())
    assert np.isin(boards, RULES.deck.cards).all()


def test_buckets_that_forget_are_refused() -> None:
    tree = compile_actions(RULES)
    with pytest.raises(InputError, match="do not tell the ones before"):
        joint_game(tree, lossless(RULES.board[1:], RULES.deck), drawn_boards(tree, 2, 0))
