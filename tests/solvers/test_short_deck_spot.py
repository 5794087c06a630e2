"""Spots in short deck: showdowns by the written rules, and the value by linear programming."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.reference import short_deck

from riverboat.cards.deck import HAND_RULES, Deck, card_name
from riverboat.games.boards.board_game import UnrolledBoardGame
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.exact.lp import solve_lp
from riverboat.strategies import files
from riverboat.trees.boards import BoardTree
from riverboat.trees.public import PublicTree

# Straights, trips, flushes and full houses occur, among them A-6-7-8-9.
GIVEN: dict[str, Any] = {
    "board": "7s8s9d9s", "pot": 20, "stack": 40, "oop": "As6c,9h8h,KsQs,7h7d:0.5,Kd9h", "ip": "9c9h:0.5,8c8d,JdTh,AcKc",
    "bets": "",
}  # fmt: skip
SHORT = [name for name in HAND_RULES if name != "standard"]


def spot(rules: str, **more: Any) -> Spot:
    return Spot.make(**GIVEN | {"deck": Deck("6789TJQKA", rules=rules)} | more)


@pytest.mark.parametrize("rules", SHORT)
def test_checked_down_ev_follows_the_rules(rules: str) -> None:
    game = spot(rules)  # no bets
    solution = BoardCFR(BoardTree(game), dtype="float64").average()
    board = [card_name(c) for c in game.board]
    hands = [
        [(h, w) for h, w in zip(game.hands[p], game.weights[p][game.hand_indices[p]], strict=True)] for p in (0, 1)
    ]
    sums: dict[str, list[float]] = {}
    for (first, _), (second, weight) in product(*hands):
        own, opponent = [first[:2], first[2:]], [second[:2], second[2:]]
        if set(own) & set(opponent):
            continue
        left = [c for c in map(card_name, game.deck.cards) if c not in board + own + opponent]
        for river in left:
            ours, other = (
                short_deck.strength([*hole, *board, river], trips=rules == "short-trips") for hole in (own, opponent)
            )
            share = 1.0 if ours > other else 0.5 if ours == other else 0.0
            result = sums.setdefault(first, [0.0, 0.0])
            result[0] += weight * share / len(left)
            result[1] += weight / len(left)
    node = solution[""]
    for name, (won, reached) in sums.items():
        assert node.hand(name, "oop").ev == pytest.approx(20 * won / reached, rel=1e-9)
        assert node.hand(name, "oop").equity == pytest.approx(won / reached, rel=1e-9)


def test_value_equals_the_linear_program() -> None:
    values = {}
    for rules in HAND_RULES:
        game = spot(rules, bets="75%", raises="a")
        exact = solve_lp(PublicTree(UnrolledBoardGame.zero_sum(game)))
        solver = BoardCFR(BoardTree(game), "dcfr", dtype="float64")
        solver.step(1000)
        result = solver.average()
        assert solver.quality().exploitability < 0.05
        assert result.expected_value(0) - 10 == pytest.approx(exact.value, abs=0.02)
        values[rules] = exact.value
    assert len({round(value, 3) for value in values.values()}) == 3  # the rules matter here


def test_rules_are_part_of_the_fingerprint_and_of_the_file(tmp_path: Any) -> None:
    assert len({BoardTree(spot(rules)).fingerprint for rules in HAND_RULES}) == 3
    solver = BoardCFR(BoardTree(spot("short-trips", bets="75%")), dtype="float64")
    solver.step(3)
    files.save(solver.average(), tmp_path / "kept")
    loaded: Any = files.load(tmp_path / "kept")
    assert loaded.tree.game.deck.rules == "short-trips"
    np.testing.assert_array_equal(loaded[""].ev(0), solver.average()[""].ev(0))


def test_hands_are_named_by_the_rules() -> None:
    named = {rules: BoardCFR(BoardTree(spot(rules))).average()[""].hand("As6c").made for rules in HAND_RULES}
    assert named == {"standard": "board pair", "short": "straight", "short-trips": "straight"}
    assert BoardCFR(BoardTree(spot("short"))).average()["x"].hand("JdTh").made == "straight"
