"""`rb.refine` with arbitrary arguments: a refinement or an InputError, never another exception."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riverboat as rb
from riverboat.api.refine import Refinement
from riverboat.core.errors import InputError
from riverboat.games import registry
from riverboat.strategies.profiles import as_strategy
from riverboat.subgames.resolving import METHODS, lines_after_chance
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

SMALL = {
    "bluff": "bluff:1,1",
    "flop_holdem": "flop_holdem:one-bet,ranks=4,suits=2",
    "holdem": "holdem:2-1,ranks=3,suits=3",
    "kuhn": "kuhn",
    "leduc": "leduc:ranks=2,cap=1",
    "negotiation": "negotiation:limits=1,offers=1",
    "rhode_island": "rhode_island:ranks=4,suits=1,cap=1",
}
OTHERS = [
    "kuhn:players=3",
    rb.matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]]),  # general sum
    rb.matrix([[[4, 1], [2, 3]], [[2, 3], [4, 1]]]),  # constant sum, not zero
    rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+", ip="22+", bets="60%"),
]


def tried(base: Any, where: Any, **options: Any) -> Refinement | InputError:
    """Return the result or the InputError; any other exception fails the test."""
    try:
        refined = rb.refine(base, where, **options)
    except InputError as error:
        return error
    assert np.isfinite(refined.strategy.probabilities).all()
    return refined


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("game", [*sorted(registry.GAMES), *OTHERS], ids=str)
def test_every_kind_of_game(game: Any, method: str) -> None:
    found = rb.solve(SMALL.get(game, game) if isinstance(game, str) else game, iterations=3).strategy
    solved = as_strategy(found)
    tree = solved.tree
    if not isinstance(found, rb.Strategy):  # a solution on boards
        assert isinstance(tried(found, "", method=method, solver=2), Refinement)
        assert isinstance(tried(found, "nowhere", method=method, solver=2), InputError)
        return
    subgames = (lines_after_chance(tree) or [""]) if isinstance(tree, PublicTree) else [i.name for i in tree.infosets()]
    outcomes = [
        tried(solved, where, method=method, solver=2) for where in (subgames[0], subgames[-1], subgames, "nowhere", "")
    ]
    zero_sum = tree.players == 2 and tree.constant_sum == 0
    assert any(isinstance(outcome, Refinement) for outcome in outcomes) == zero_sum
    assert isinstance(outcomes[3], InputError)


def test_every_kind_of_strategy(tmp_path: Path) -> None:
    result = rb.solve("leduc", iterations=3)
    rb.save(result.strategy, tmp_path / "saved")
    where = lines_after_chance(compile_game(registry.game_from_spec("leduc")))[:2]
    for base in (result.strategy, rb.load(tmp_path / "saved"), rb.refine(result.strategy, where, solver=3).strategy):
        assert isinstance(tried(base, where, solver=3), Refinement)
    for base in (result, tmp_path / "saved", str(tmp_path / "saved")):
        assert isinstance(tried(base, where, solver=3), Refinement)
    for base in ({}, lambda infoset: [1.0] + [0.0] * (len(infoset.actions) - 1)):
        assert isinstance(tried(base, where, solver=3, game="leduc"), Refinement)
    flop = rb.Spot.make(board="Td9d6h", pot=100, stack=300, oop="99+", ip="22+", bets="60%")
    large = rb.solve(flop, iterations=1)
    for other in (large, "leduc", None, 3, {}, rb.game("leduc"), rb.agent("default"), rb.Strategy):
        assert isinstance(tried(other, where), InputError)


@pytest.mark.parametrize(
    "options",
    [
        {"where": None}, {"where": 3}, {"where": []}, {"where": [[]]}, {"where": [3]}, {"where": [("cc/Ks", "cc/Qs")]},
        {"where": ["cc/Ks", "cc/Ks"]}, {"where": "cc/Ks", "players": 0}, {"where": "cc/Ks", "players": (2,)},
        {"where": "cc/Ks", "players": ()}, {"where": "cc/Ks", "players": "01"}, {"where": "cc/Ks", "solver": 0},
        {"where": "cc/Ks", "solver": -1}, {"where": "cc/Ks", "solver": 1.5}, {"where": "cc/Ks", "solver": "lp"},
        {"where": "cc/Ks", "method": "safe"}, {"where": "cc/Ks", "method": None}, {"where": "cc/Ks", "method": ["unsafe"]},
    ],
)  # fmt: skip
def test_every_kind_of_argument(options: dict[str, Any]) -> None:
    base = rb.Strategy.uniform(compile_game(registry.game_from_spec("leduc")))
    assert isinstance(tried(base, **options), InputError)
