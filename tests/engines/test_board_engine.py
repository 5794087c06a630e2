"""Contract of every `BoardEngine`, checked on the one for processors.

`test_boards` has oracles of values and iterations.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from riverboat.cards.deck import Deck
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.protocol import BoardEngine, SubtreeStart
from riverboat.engines.tables import TABLE_FORMATS
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.spots.spot import Spot
from riverboat.solvers import schedules
from riverboat.trees.boards import BoardTree

SPOTS: dict[str, dict[str, Any]] = {
    "river": {
        "board": "Td9d6hQc2s", "pot": 200, "stack": 900, "bets": "60%,a", "raises": "2.5x",
        "oop": "AA:0.3,KsJs:0.7,T9s,55:0.9,A5s:0.4", "ip": "QQ,TT:0.5,AdKd:0.8,87s,A9o:0.35",
    },
    "turn": {
        "board": "Ts9s6s2s", "pot": 20, "stack": 60, "bets": "60%", "raises": "a",
        "oop": "AA:0.3,KJs:0.7,T9o:0.6", "ip": "QQ,TT:0.5,AKs:0.8,87o:0.2",
    },
    "flop": {
        "board": "AsKhQd", "pot": 20, "stack": 40, "bets": "75%", "deck": Deck.small(6, 3),
        "oop": "AA,KTs:0.5,JJ:0.3", "ip": "QQ,JTs:0.7,99",
    },
}  # fmt: skip


@cache
def tree(name: str) -> BoardTree:
    return BoardTree(Spot.make(**SPOTS[name]))


def steps(count: int, schedule: str = "dcfr") -> Array:
    """Return the schedule parameters of iterations as a run makes them."""
    found, weight, rule = [], 0.0, schedules.parse(schedule)
    for t in range(2, count + 2):  # the first one discards earlier regrets
        step = rule.step(t)
        old = weight * step.decay
        weight = old + 1
        found.append((step.positive, step.negative, step.floor, old / weight, step.t, 1 / weight))
    return np.array(found)


def trained_engine(name: str, count: int = 8) -> CpuBoardEngine:
    engine = CpuBoardEngine(tree(name), TABLE_FORMATS["float64"])
    engine.write("regret", np.random.default_rng(1).random(tree(name).table_size) / 256)  # no ties
    engine.iterate(steps(count))
    return engine


def at_root(some: BoardTree) -> SubtreeStart:
    return SubtreeStart(0, 0, some.weights)


def test_implements_the_protocol() -> None:
    engine: BoardEngine = trained_engine("river")
    assert engine.table_names == ("regret", "average")


@pytest.mark.parametrize("name", SPOTS)
def test_iterations_from_the_root_node_equal_iterations_of_the_tree(name: str) -> None:
    """Reach and regrets have other units there, which changes no strategy."""
    ours, theirs = trained_engine(name), CpuBoardEngine(tree(name), TABLE_FORMATS["float64"])
    unit = np.empty(tree(name).table_size)
    for board in range(len(tree(name).rows)):
        for who in (0, 1):
            begin = int(tree(name).boards.base[board, who])
            unit[begin:] = ours.root.mass[1 - who] / tree(name).weights[1 - who].max()
    start = np.random.default_rng(1).random(tree(name).table_size) / 256
    theirs.write("regret", start * unit)
    theirs.iterate(steps(8), at_root(tree(name)))
    size = tree(name).table_size
    np.testing.assert_allclose(theirs.read("regret")[:size] / unit, ours.read("regret")[:size], rtol=1e-8, atol=1e-12)
    for node in np.flatnonzero(tree(name).forest.actor >= 0):
        street = int(np.searchsorted(tree(name).forest.first, node, "right")) - 1
        board = tree(name).street_start[street]
        np.testing.assert_allclose(
            theirs.average_strategy(board, int(node)), ours.average_strategy(board, int(node)), rtol=1e-8, atol=1e-12
        )


@pytest.mark.parametrize("name", SPOTS)
@pytest.mark.parametrize("mode", ["strategy_values", "best_response_values"])
def test_values_of_nodes_are_consistent(name: str, mode: str) -> None:
    """At every node: the maximum or mean over the player's own actions, the sum over the opponent's actions."""
    engine, f = trained_engine(name), tree(name).forest
    rng = np.random.default_rng(0)
    for street in range(tree(name).streets):
        board = int(tree(name).street_start[street + 1]) - 1
        rows = tree(name).rows[board]
        for node in range(f.first[street], f.first[street + 1]):
            if f.actor[node] in (CHANCE, TERMINAL):
                continue
            reach = rng.random(rows[0]), rng.random(rows[1])
            children = [node + 1]
            for _ in range(int(f.width[node]) - 1):
                children.append(int(f.end[children[-1]]))
            who, played = int(f.actor[node]), engine.average_strategy(board, node)
            for me in (0, 1):
                values_of = getattr(engine, mode)
                found = values_of(me, SubtreeStart(board, node, reach))
                assert found.shape == (1 + len(children), rows[me])
                for a, child in enumerate(children):
                    after = [r * played[a] if p == who and p != me else r for p, r in enumerate(reach)]
                    below = values_of(me, SubtreeStart(board, child, (after[0], after[1])))[0]
                    np.testing.assert_allclose(found[1 + a], below, rtol=1e-9, atol=1e-9)
                if who != me:
                    expected = found[1:].sum(axis=0)
                elif mode == "best_response_values":
                    expected = found[1:].max(axis=0)
                else:
                    expected = (played * found[1:]).sum(axis=0)
                np.testing.assert_allclose(found[0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SPOTS)
def test_values_at_the_root_node(name: str) -> None:
    engine = trained_engine(name)
    for me in (0, 1):
        np.testing.assert_allclose(
            engine.strategy_values(me), engine.strategy_values(me, at_root(tree(name))), rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(
            engine.best_response_values(me), engine.best_response_values(me, at_root(tree(name))), rtol=1e-9, atol=1e-9
        )


def test_tables_can_be_read_and_written() -> None:
    whole, first, second = (
        trained_engine("turn", 6),
        trained_engine("turn", 2),
        CpuBoardEngine(tree("turn"), TABLE_FORMATS["float64"]),
    )
    for name in first.table_names:
        second.write(name, first.read(name).copy())
    second.iterate(steps(6)[2:])
    for name in whole.table_names:
        np.testing.assert_array_equal(second.read(name), whole.read(name))
    reader = CpuBoardEngine.from_average(tree("turn"), whole.read("average"))
    assert reader.table_names == ("average",)
    for me in (0, 1):
        np.testing.assert_array_equal(reader.strategy_values(me), whole.strategy_values(me))
    with pytest.raises(InputError, match=r"'regret'.*average"):
        reader.read("regret")
