"""Regrets weighted by the pots that actions lead to."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.engines.tables import table_block
from riverboat.games.registry import game_from_spec
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import SEVERAL_STREETS_SCHEDULE, BoardCFR
from riverboat.solvers.run import CFRRun
from riverboat.solvers.schedules import dcfr
from riverboat.solvers.tabular.trace import trace
from riverboat.trees.betting import checkdown_pots
from riverboat.trees.boards import BoardTree


def spot(**more: object) -> Spot:
    given = {
        "board": "Td9d6hQc2s",
        "pot": 20,
        "stack": 90,
        "bets": "50%,a",
        "raises": "a",
        "oop": "random",
        "ip": "random",
    }
    return Spot.make(**{**given, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "pot"),
    [("", 20), ("x", 20), ("b10", 40), ("b10-f", 20), ("b10-c", 40), ("b10-a", 200), ("b10-a-f", 40), ("a", 200)],
)
def test_checkdown_pots(line: str, pot: int) -> None:
    """Both players call from there on; after a fold the last bet is uncalled."""
    for cards in ("Td9d6hQc2s", "Td9d6hQc"):
        betting = spot(board=cards).betting
        assert checkdown_pots(betting)[betting.find(line).node] == pot


def test_regrets_are_weighted_by_stakes() -> None:
    """In the first traversal of the first player all strategies are uniform, for any weights."""
    tree = BoardTree(spot())
    plain, weighed = (BoardCFR(tree, dcfr(stakes=power), dtype="float64") for power in (0.0, 0.5))
    for solver in (plain, weighed):
        solver.step(1)
    tables = [solver.engine.read("regret") for solver in (plain, weighed)]
    for line, pots in (("", (20, 40, 200)), ("b10-a", (40, 200)), ("x-b10", (20, 40, 200)), ("x-a", (20, 200))):
        node = tree.betting.find(line).node
        at, width, rows = table_block(tree, 0, node)
        before, after = (table[at : at + width * rows].reshape(width, rows) for table in tables)
        share = np.sqrt(pots[0] / np.array(pots))[:, None]
        np.testing.assert_allclose(after, before * share, rtol=1e-9, atol=1e-15)
        assert np.abs(before).max() > 0


def test_deep_stacks_converge_faster() -> None:
    deep = BoardTree(spot(pot=10, stack=400, bets="50%,100%,a", raises="100%,a"))
    plain, weighed = BoardCFR(deep), BoardCFR(deep, SEVERAL_STREETS_SCHEDULE)
    for solver in (plain, weighed):
        solver.step(150)
    assert weighed.exploitability() < 0.5 < plain.exploitability()
    assert weighed.quality().values[0] == pytest.approx(plain.quality().values[0], abs=3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: CFRRun("leduc", schedule="dcfr:stakes=1"),
        lambda: dcfr(stakes=-1.0),
        lambda: dcfr(stakes=float("nan")),
        lambda: trace(game_from_spec("kuhn"), schedule="dcfr:stakes=1"),
    ],
)
def test_stakes_are_rejected_where_unsupported(call: object) -> None:
    with pytest.raises(InputError, match="stakes"):
        call()  # type: ignore[operator]
