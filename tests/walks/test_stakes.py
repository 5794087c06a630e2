"""Moves that count by the pots that they lead to."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.abstraction.card_abstraction import CardAbstraction, lossless
from riverboat.cards.deck import Deck
from riverboat.errors import InputError
from riverboat.games.holdem import holdem
from riverboat.games.registry import make
from riverboat.games.spot import Spot
from riverboat.solving.batches import solve_many
from riverboat.solving.boards import STAKES_SCHEDULE, BoardCFR
from riverboat.solving.run import Run
from riverboat.solving.schedules import dcfr
from riverboat.solving.trace import trace
from riverboat.trees.boards import BoardTree
from riverboat.trees.streets import stakes
from riverboat.walks.tables import block


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
        lambda: Run("leduc", schedule="dcfr:trunk=2"),
        lambda: Run("holdem:2-1,ranks=4,suits=2", schedule="dcfr:trunk=2", traversal="pcs"),
        lambda: solve_many([spot()], schedule="dcfr:trunk=2"),
        lambda: dcfr(trunk=float("nan")),
    ],
)
def test_refused_where_it_means_nothing(refused: object) -> None:
    with pytest.raises(InputError, match=r"stakes|trunk"):
        refused()  # type: ignore[operator]


@pytest.mark.parametrize(("threads", "cards"), [(1, None), (2, None), (1, lossless((3,), Deck.small(4, 2)))])
def test_the_trunk_has_its_own_discount(threads: int, cards: CardAbstraction | None) -> None:
    """In the walk of the first player the trunk forgets by its own exponent, and all other boards as ever."""
    tree = BoardTree(holdem("2-1", ranks=4, suits=2))
    begun = BoardCFR(tree, "dcfr", dtype="float64", threads=threads, cards=cards)
    begun.step(3)
    before, state = {name: table.copy() for name, table in begun.state()[0].items()}, begun.state()[1]
    after = []
    for schedule in (dcfr(), dcfr(trunk=3.0)):
        solver = BoardCFR(tree, schedule, dtype="float64", threads=threads, cards=cards)
        solver.restore(before, state)
        solver.step(1)
        after.append(solver.walker.read("regret"))
    for board in range(len(tree.rows)):
        first, end = int(tree.boards.base[board, 0]), int(tree.boards.base[board, 1])  # what the first player learns
        kept = np.maximum(before["regret"][first:end], 0.0) * (27 / 28 - 3**1.5 / (3**1.5 + 1) if board == 0 else 0.0)
        np.testing.assert_allclose(after[1][first:end] - after[0][first:end], kept, rtol=1e-9, atol=1e-14)
    assert np.abs(after[1] - after[0]).max() > 1e-9
