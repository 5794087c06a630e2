"""Spots in short deck: what a showdown pays, by the rules written out, and the value by linear programming."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.reference import short_deck

from riverboat.cards.deck import Deck, card_name
from riverboat.cards.ranking_rules import RULES
from riverboat.games.boards.unrolled import Unrolled
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.exact.lp import solve_lp
from riverboat.strategies import files
from riverboat.trees.boards import BoardTree
from riverboat.trees.public import PublicTree

# Straights, trips, flushes and full houses meet, A-6-7-8-9 among them.
GIVEN: dict[str, Any] = {
    "board": "7s8s9d9s", "pot": 20, "stack": 40, "oop": "As6c,9h8h,KsQs,7h7d:0.5,Kd9h", "ip": "9c9h:0.5,8c8d,JdTh,AcKc",
}  # fmt: skip
SHORT = [name for name in RULES if name != "standard"]


def spot(rules: str, **more: Any) -> Spot:
    return Spot.make(**GIVEN | {"deck": Deck("6789TJQKA", rules=rules)} | more)


@pytest.mark.parametrize("rules", SHORT)
def test_checked_down_hands_get_what_the_rules_give_them(rules: str) -> None:
    game = spot(rules)  # no bets
    solution = BoardCFR(BoardTree(game), dtype="float64").average()
    board = [card_name(c) for c in game.board]
    held = [[(h, w) for h, w in zip(game.hands[p], game.weights[p][game.held[p]], strict=True)] for p in (0, 1)]
    sums: dict[str, list[float]] = {}
    for (first, _), (second, weight) in product(*held):
        mine, theirs = [first[:2], first[2:]], [second[:2], second[2:]]
        if set(mine) & set(theirs):
            continue
        left = [c for c in map(card_name, game.deck.cards) if c not in board + mine + theirs]
        for river in left:
            ours, other = (
                short_deck.strength([*hole, *board, river], trips=rules == "short-trips") for hole in (mine, theirs)
            )
            share = 1.0 if ours > other else 0.5 if ours == other else 0.0
            found = sums.setdefault(first, [0.0, 0.0])
            found[0] += weight * share / len(left)
            found[1] += weight / len(left)
    node = solution[""]
    for name, (won, met) in sums.items():
        assert node.hand(name, "oop").ev == pytest.approx(20 * won / met, rel=1e-9)
        assert node.hand(name, "oop").equity == pytest.approx(won / met, rel=1e-9)


def test_value_is_that_of_the_linear_program() -> None:
    values = {}
    for rules in RULES:
        game = spot(rules, bets="75%", raises="a")
        exact = solve_lp(PublicTree(Unrolled.zero_sum(game)))
        solver = BoardCFR(BoardTree(game), "dcfr", dtype="float64")
        solver.step(1000)
        found = solver.average()
        assert solver.quality().exploitability < 0.05
        assert found.earnings(0) - 10 == pytest.approx(exact.value, abs=0.02)
        values[rules] = exact.value
    assert len({round(value, 3) for value in values.values()}) == 3  # the rules matter here


def test_rules_are_part_of_the_fingerprint_and_of_the_file(tmp_path: Any) -> None:
    assert len({BoardTree(spot(rules)).fingerprint for rules in RULES}) == 3
    solver = BoardCFR(BoardTree(spot("short-trips", bets="75%")), dtype="float64")
    solver.step(3)
    files.save(solver.average(), tmp_path / "kept")
    loaded: Any = files.load(tmp_path / "kept")
    assert loaded.tree.game.deck.rules == "short-trips"
    np.testing.assert_array_equal(loaded[""].ev(0), solver.average()[""].ev(0))


def test_hands_are_named_by_the_rules() -> None:
    named = {rules: BoardCFR(BoardTree(spot(rules))).average()[""].hand("As6c").made for rules in RULES}
    assert named == {"standard": "board pair", "short": "straight", "short-trips": "straight"}
    assert BoardCFR(BoardTree(spot("short"))).average()["x"].hand("JdTh").made == "straight"
