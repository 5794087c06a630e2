"""Best responses inside the abstract game, against plain enumeration and against the real game."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.rules import read_game
from riverboat.games.registry import make
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.solvers.mccfr.export import small_game_strategy
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.solvers.tabular.best_response import quality
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree


def leduc(labels: list[int] | None, after: list[int] | None = None) -> Blueprint:
    """Leduc with buckets before the public card, and after it; None: all cards are kept."""
    rules = read_game("leduc")
    whole = lossless(rules.board[1:], rules.deck)
    given = [
        kept if some is None else StreetBuckets(max(some) + 1, np.array([some], np.uint16))
        for some, kept in zip((labels, after), whole.streets, strict=True)
    ]
    return Blueprint(compile_actions(rules), CardAbstraction(tuple(given), whole.deals, rules.deck), seed=1)


def enumerated(solver: Blueprint, me: int) -> float:
    """What the best response of a seat wins: deals that it cannot tell apart share a move."""
    rules = solver.tree.rules
    deals = [(1.0, deal[:2], deal[2:]) for deal in permutations(rules.deck.cards.tolist(), 3)]

    def value(state: Betting, deals: list) -> float:
        while state.actor == CHANCE:
            state = state.next_street()
        if state.actor == TERMINAL:
            total = 0.0
            for weight, hands, board in deals:
                first, second = (rank([hand, *board]) for hand in hands)
                total += weight * state.pay()[0 if first > second else 1 if first == second else 2][me]
            return total
        node = solver.tree.find(state.line)
        moves = [state.play(move) for move in solver.tree.moves(node)]
        seen: dict[int, list] = {}
        for weight, hands, board in deals:
            bucket = solver.cards.bucket([hands[state.actor]], board[: rules.board_sizes[state.street]])
            seen.setdefault(bucket, []).append((weight, hands, board))
        if state.actor == me:
            return sum(max(value(after, some) for after in moves) for some in seen.values())
        total = 0.0
        for a, after in enumerate(moves):
            met = []
            for bucket, some in seen.items():
                p = float(solver.average(node, bucket)[a])
                met += [(weight * p, hands, board) for weight, hands, board in some]
            total += value(after, met)
        return total

    return value(Betting.start(rules), deals) / len(deals)


@pytest.mark.parametrize("labels", [None, [0, 0, 1], [0, 1, 1]])
def test_the_same_as_enumeration(labels: list[int] | None) -> None:
    solver = leduc(labels)
    solver.step(2_000)
    found = abstract_quality(solver)
    assert found.best == pytest.approx([enumerated(solver, me) for me in (0, 1)], abs=1e-6)
    assert found.exploitability > 0.01


def test_nothing_lost_is_the_real_game() -> None:
    for name in ("kuhn", "leduc"):
        rules = read_game(name)
        solver = Blueprint(compile_actions(rules), lossless(rules.board[1:], rules.deck), seed=1)
        solver.step(3_000)
        tree = compile_game(make(name))
        assert isinstance(tree, PublicTree)
        real, found = quality(small_game_strategy(solver, tree)), abstract_quality(solver)
        assert found.best == pytest.approx(real.best, abs=1e-6)
        assert found.values == pytest.approx(real.values, abs=1e-6)


def test_training_closes_the_abstract_game_alone() -> None:
    solver = leduc([0, 0, 1])
    solver.step(500_000)
    tree = compile_game(make("leduc"))
    assert isinstance(tree, PublicTree)
    assert abstract_quality(solver).exploitability < 0.03
    assert quality(small_game_strategy(solver, tree)).exploitability > 0.1


def test_forgetting_is_refused() -> None:
    solver = leduc([0, 0, 1], [0, 1] * 7 + [0])
    with pytest.raises(InputError, match="perfect recall"):
        abstract_quality(solver)
