"""Half-street games against their known values."""

from __future__ import annotations

import pytest

from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.games.small.toy_games import bet_grid, clairvoyance, half_street_kuhn
from riverboat.solvers.exact.lp import solve_lp
from riverboat.testing import check_game
from riverboat.trees.compile import compile_game


@pytest.mark.parametrize("game", [clairvoyance((1.0, 3.0)), half_street_kuhn((0.4, 1.0))], ids=lambda g: g.name)
def test_contract(game: object) -> None:
    check_game(game)  # type: ignore[arg-type]


@pytest.mark.parametrize("stack", [1, 3, 10])
def test_clairvoyance(stack: int) -> None:
    # Ankenman & Chen 2006: n / (2 (n + 1)); the game of the registry is the same.
    found = solve_lp(compile_game(clairvoyance(bet_grid(stack)))).value
    assert found == pytest.approx(stack / (2 * (stack + 1)), abs=1e-9)
    assert found == pytest.approx(solve_lp(compile_game(game_from_spec(f"clairvoyance:stack={stack}"))).value, abs=1e-9)


@pytest.mark.parametrize("stack", [1, 3, 5])
def test_kuhn(stack: int) -> None:
    # With bets of x the king gains x (1 - x) / (1 + x) / 2 in a third of the deals: 1/35 at 0.4, the best on the grid.
    tree = compile_game(half_street_kuhn(bet_grid(stack)))
    found = solve_lp(tree)
    assert found.value == pytest.approx(1 / 35, abs=1e-9)
    # Ganzfried & Sandholm 2013: the one bet of the equilibrium is 0.4 pots for every stack.
    assert {label for label, p in found.strategy["K:"].items() if p > 1e-9} <= {"c", "r0.4"}


def test_grid() -> None:
    assert bet_grid(0.5) == (0.1, 0.2, 0.3, 0.4, 0.5)
    assert bet_grid(2, 1) == (1, 2)
    assert bet_grid(0.25) == (0.1, 0.2, 0.25)
    with pytest.raises(InputError, match=r"stack=0.05"):
        bet_grid(0.05)


@pytest.mark.parametrize("bets", [(), (1.0, 1.0), (0.0, 1.0), (2.0, 1.0), (1.0, float("inf"))])
def test_bets_must_increase(bets: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="bets"):
        clairvoyance(bets)
