"""What every `Walker` must do, on the one for processors. Values and iterations have their oracles in `test_boards`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from riverboat.cards.deck import Deck
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.protocol import Start, Walker
from riverboat.engines.tables import FORMATS
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
    """Rows of numbers as a run makes them."""
    found, weight, rule = [], 0.0, schedules.parse(schedule)
    for t in range(2, count + 2):  # the first one forgets the regrets before it
        step = rule.step(t)
        old = weight * step.decay
        weight = old + 1
        found.append((step.positive, step.negative, step.floor, old / weight, step.t, 1 / weight))
    return np.array(found)


def learnt(name: str, count: int = 8) -> BoardWalker:
    walker = BoardWalker.learner(tree(name), FORMATS["float64"])
    walker.write("regret", np.random.default_rng(1).random(tree(name).table) / 256)  # no ties
    walker.learn(steps(count))
    return walker


def at_root(some: BoardTree) -> Start:
    return Start(0, 0, some.weights)


def test_it_is_a_walker() -> None:
    walker: Walker = learnt("river")
    assert walker.names == ("regret", "average")


@pytest.mark.parametrize("name", SPOTS)
def test_learning_from_the_root_as_a_node_is_learning_from_the_root(name: str) -> None:
    """Reach and regrets are in other units there, which changes no strategy."""
    ours, theirs = learnt(name), BoardWalker.learner(tree(name), FORMATS["float64"])
    unit = np.empty(tree(name).table)
    for board in range(len(tree(name).rows)):
        for who in (0, 1):
            begin = int(tree(name).boards.base[board, who])
            unit[begin:] = ours.root.mass[1 - who] / tree(name).weights[1 - who].max()
    start = np.random.default_rng(1).random(tree(name).table) / 256
    theirs.write("regret", start * unit)
    theirs.learn(steps(8), at_root(tree(name)))
    size = tree(name).table
    np.testing.assert_allclose(theirs.read("regret")[:size] / unit, ours.read("regret")[:size], rtol=1e-8, atol=1e-12)
    for node in np.flatnonzero(tree(name).forest.actor >= 0):
        street = int(np.searchsorted(tree(name).forest.first, node, "right")) - 1
        board = tree(name).street_at[street]
        np.testing.assert_allclose(theirs.play(board, int(node)), ours.play(board, int(node)), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", SPOTS)
@pytest.mark.parametrize("mode", ["evaluate", "respond"])
def test_values_from_any_node_fit_together(name: str, mode: str) -> None:
    """From every node of every street: my best or my mean over what follows, the sum over the opponent's moves."""
    walker, f = learnt(name), tree(name).forest
    rng = np.random.default_rng(0)
    for street in range(tree(name).streets):
        board = int(tree(name).street_at[street + 1]) - 1
        rows = tree(name).rows[board]
        for node in range(f.first[street], f.first[street + 1]):
            if f.actor[node] in (CHANCE, TERMINAL):
                continue
            reach = rng.random(rows[0]), rng.random(rows[1])
            children = [node + 1]
            for _ in range(int(f.width[node]) - 1):
                children.append(int(f.end[children[-1]]))
            who, played = int(f.actor[node]), walker.play(board, node)
            for me in (0, 1):
                ask = getattr(walker, mode)
                found = ask(me, Start(board, node, reach))
                assert found.shape == (1 + len(children), rows[me])
                for a, child in enumerate(children):
                    after = [r * played[a] if p == who and p != me else r for p, r in enumerate(reach)]
                    below = ask(me, Start(board, child, (after[0], after[1])))[0]
                    np.testing.assert_allclose(found[1 + a], below, rtol=1e-9, atol=1e-9)
                if who != me:
                    expected = found[1:].sum(axis=0)
                elif mode == "respond":
                    expected = found[1:].max(axis=0)
                else:
                    expected = (played * found[1:]).sum(axis=0)
                np.testing.assert_allclose(found[0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SPOTS)
def test_the_root_is_a_node(name: str) -> None:
    walker = learnt(name)
    for me in (0, 1):
        np.testing.assert_allclose(walker.evaluate(me), walker.evaluate(me, at_root(tree(name))), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(walker.respond(me), walker.respond(me, at_root(tree(name))), rtol=1e-9, atol=1e-9)


def test_what_was_read_can_be_written() -> None:
    whole, first, second = learnt("turn", 6), learnt("turn", 2), BoardWalker.learner(tree("turn"), FORMATS["float64"])
    for name in first.names:
        second.write(name, first.read(name).copy())
    second.learn(steps(6)[2:])
    for name in whole.names:
        np.testing.assert_array_equal(second.read(name), whole.read(name))
    reader = BoardWalker.reader(tree("turn"), whole.read("average"))
    assert reader.names == ("average",)
    for me in (0, 1):
        np.testing.assert_array_equal(reader.evaluate(me), whole.evaluate(me))
    with pytest.raises(InputError, match="no table 'regret'; there are average"):
        reader.read("regret")
