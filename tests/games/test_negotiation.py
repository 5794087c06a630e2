"""The negotiation: rules by hand, and vectors against one pair of limits at a time."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.games.small.toy_games import negotiation
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game


class Twin:
    """The rules once more, from their description: one cost, one value, one line of offers at a time."""

    def __init__(self, strategy: Strategy, limits: int, offers: int) -> None:
        self.limits, self.offers, self.strategy = limits, offers, strategy

    def value(self) -> float:
        """What the seller wins on average."""
        pairs = [(cost, value) for cost in range(self.limits) for value in range(self.limits)]
        return sum(self.talk(cost, value, []) for cost, value in pairs) / len(pairs)

    def talk(self, cost: int, value: int, said: list[int]) -> float:
        seller = len(said) % 2 == 0
        name = f"cost{cost}:" if seller else f"value{value}:"
        chances = self.strategy[name + "-".join(map(str, said))]
        return sum(p * self.after(move, cost, value, said) for move, p in chances.items())

    def after(self, move: str, cost: int, value: int, said: list[int]) -> float:
        if move == "a":
            gains = said[-1] - cost, value - said[-1]
            return float(gains[0] > gains[1]) - float(gains[0] < gains[1])
        if move == "w":
            buyer_walks = len(said) % 2 == 1
            return 0.0 if value < cost else 1.0 if buyer_walks else -1.0
        return self.talk(cost, value, [*said, int(move)])


@pytest.mark.parametrize(("limits", "offers"), [(4, 3), (5, 2), (3, 4)])
def test_payoffs_of_vectors_agree_with_pairs(limits: int, offers: int) -> None:
    tree = compile_game(negotiation(limits, offers))
    for seed in range(3):
        table = np.random.default_rng(seed).random(tree.table_size) ** 3
        strategy = Strategy.from_sums(tree, table)
        assert quality(strategy).values[0] == pytest.approx(Twin(strategy, limits, offers).value(), abs=1e-12)


def test_one_offer_by_hand() -> None:
    """Two limits, one offer. At price 0 the buyer always accepts, and the seller never wins. At price 1 a buyer of 1 accepts
    (it ties with a seller of 1) and one of 0 walks (with a seller of 1 no price could please both): the seller wins with
    cost 0 and nobody does with cost 1.
    """
    assert solve_lp(compile_game(game_from_spec("negotiation:limits=2,offers=1"))).value == pytest.approx(
        1 / 2, abs=1e-9
    )
    assert solve_lp(compile_game(game_from_spec("negotiation:limits=1,offers=1"))).value == pytest.approx(0.0, abs=1e-9)


def test_cfr_agrees_with_the_linear_program() -> None:
    tree = compile_game(game_from_spec("negotiation:limits=3,offers=2"))
    exact = solve_lp(tree)
    assert exact.gap < 1e-9
    for traversal in ("full", "pcs", "opcs"):
        solver = CFR(tree, "vanilla", traversal, seed=1)
        solver.step(2000)
        low, high = solver.quality().bracket
        assert low - 1e-9 <= exact.value <= high + 1e-9
        assert high - low < 0.2


def test_invalid_options() -> None:
    with pytest.raises(InputError, match="at least 1"):
        game_from_spec("negotiation:limits=0")
    for limits, offers in ((50, 9), (100_000, 1), (2_000, 1), (10**9, 1), (2, 10**9), (1, 10**9)):
        with pytest.raises(InputError, match=f"{limits:,} limits: .*4,000,000"):
            game_from_spec(f"negotiation:limits={limits},offers={offers}")
    game_from_spec("negotiation:limits=1999,offers=1")
