"""The contract of `StrategyMapping`, which `Strategy` and `Solution` both fulfil."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import riverboat as rb
from riverboat.core.errors import InputError, UnknownKeyError
from riverboat.strategies.mapping import StrategyMapping


def leduc() -> StrategyMapping[Any]:
    return rb.solve("leduc", iterations=2).strategy


def river() -> StrategyMapping[Any]:
    spot = rb.Spot.make(board="QsJh2h8c3d", pot=100, stack=200, oop="AA,KK,QJs", ip="QQ,JJ,AKs", bets="50%, a")
    return rb.solve(spot, iterations=2).strategy


def turn() -> StrategyMapping[Any]:
    spot = rb.Spot.make(board="QsJs2s8s", pot=100, stack=100, oop="AA,KK", ip="QQ,JJ", bets="a")
    return rb.solve(spot, iterations=2).strategy


@pytest.mark.parametrize("make", [leduc, river, turn])
def test_a_strategy_is_a_mapping_of_its_decisions(make: Any) -> None:
    strategy = make()
    assert isinstance(strategy, Mapping)
    assert isinstance(strategy, StrategyMapping)
    keys = list(strategy)
    assert len(keys) == len(set(keys)) == len(strategy) > 0
    assert list(strategy.keys()) == keys
    assert [key for key, _ in strategy.items()] == keys
    assert len(strategy.items()) == len(strategy.values()) == len(keys)
    for key in keys[:: max(1, len(keys) // 20)]:
        assert key in strategy
        assert strategy.get(key) is not None
    assert strategy.tree.name
    assert strategy.provenance["iterations"] == 2
    with pytest.raises(TypeError):
        strategy.provenance["iterations"] = 3  # type: ignore[index]


@pytest.mark.parametrize("make", [leduc, river])
def test_unknown_keys(make: Any) -> None:
    strategy = make()
    for key in ("no such decision", 7, None):
        assert key not in strategy
        assert strategy.get(key) is None
        with pytest.raises(UnknownKeyError, match=strategy.tree.name if not isinstance(key, str) else "no such"):
            strategy[key]
        with pytest.raises((InputError, KeyError)):
            strategy[key]


@pytest.mark.parametrize("make", [leduc, river])
def test_equality_and_hashes(make: Any) -> None:
    strategy = make()
    assert {strategy: "found"}[strategy] == "found"  # equality of arrays must not raise
    assert strategy != make().tree


def test_items_of_a_solution_are_its_nodes() -> None:
    solution = turn()
    decisions = int((solution.tree.betting.actor >= 0).sum())
    assert len(solution) > decisions  # rivers are decisions on many boards
    for line, node in solution.items():
        assert node.line == line
        assert node.player >= 0
        again = solution[line]
        assert (again.betting_node, again.dealt_cards) == (node.betting_node, node.dealt_cards)
    assert solution["x-x"].player < 0  # a deal: found, though not a key
    assert "x-x" not in list(solution)
