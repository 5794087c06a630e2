"""Moves that count by the pots that they lead to."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.engines.tables import block
from riverboat.games.registry import make
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import STAKES_SCHEDULE, BoardCFR
from riverboat.solvers.run import Run
from riverboat.solvers.schedules import dcfr
from riverboat.solvers.tabular.trace import trace
from riverboat.trees.boards import BoardTree
from riverboat.trees.streets import stakes


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
def test_stakes_are_what_hands_are_shown_for(line: str, pot: int) -> None:
    """Everybody calls from there on; who has folded has left the last bet uncalled."""
    for cards in ("Td9d6hQc2s", "Td9d6hQc"):
        betting = spot(board=cards).betting
        assert stakes(betting)[betting.find(line).node] == pot


def test_regrets_count_by_the_share_of_the_stake() -> None:
    """In the first walk of the first player everybody still plays at random, whatever moves count."""
    tree = BoardTree(spot())
    plain, weighed = (BoardCFR(tree, dcfr(stakes=power), dtype="float64") for power in (0.0, 0.5))
    for solver in (plain, weighed):
        solver.step(1)
    tables = [solver.walker.read("regret") for solver in (plain, weighed)]
    for line, pots in (("", (20, 40, 200)), ("b10-a", (40, 200)), ("x-b10", (20, 40, 200)), ("x-a", (20, 200))):
        node = tree.betting.find(line).node
        at, width, rows = block(tree, 0, node)
        before, after = (table[at : at + width * rows].reshape(width, rows) for table in tables)
        share = np.sqrt(pots[0] / np.array(pots))[:, None]
        np.testing.assert_allclose(after, before * share, rtol=1e-9, atol=1e-15)
        assert np.abs(before).max() > 0


def test_deep_stacks_settle_sooner() -> None:
    deep = BoardTree(spot(pot=10, stack=400, bets="50%,100%,a", raises="100%,a"))
    plain, weighed = BoardCFR(deep), BoardCFR(deep, STAKES_SCHEDULE)
    for solver in (plain, weighed):
        solver.step(150)
    assert weighed.exploitability() < 0.5 < plain.exploitability()
    assert weighed.quality().values[0] == pytest.approx(plain.quality().values[0], abs=3)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: Run("leduc", schedule="dcfr:stakes=1"),
        lambda: dcfr(stakes=-1.0),
        lambda: dcfr(stakes=float("nan")),
        lambda: trace(make("kuhn"), schedule="dcfr:stakes=1"),
    ],
)
def test_refused_where_it_means_nothing(refused: object) -> None:
    with pytest.raises(InputError, match="stakes"):
        refused()  # type: ignore[operator]
