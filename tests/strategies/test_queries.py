"""Strategy queries for all kinds of strategies."""

from __future__ import annotations

import numpy as np
import pytest

from random_blueprints import blueprint_of, random_blueprint
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.errors import InputError
from riverboat.games.holdem.rules import read_game
from riverboat.games.registry import game_from_spec
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.policy import BlueprintPolicy
from riverboat.strategies.queries import StrategyQueryResult, ask, ask_all
from riverboat.strategies.tabular import Strategy
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import compile_game


def solved(game: str, iterations: int = 20) -> Strategy:
    solver = CFR(compile_game(game_from_spec(game)), "dcfr")
    solver.step(iterations)
    return solver.average()


def check(found: StrategyQueryResult) -> None:
    """Check invariants of every result."""
    assert found.probabilities.min() >= 0
    sums = found.probabilities.sum(axis=1)
    assert np.all(np.isclose(sums, 1) | (sums == 0))
    assert (found.ranges[found.actor][sums == 0] == 0).all()
    assert len(found.moves) == found.probabilities.shape[1]
    assert [len(weights) for weights in found.ranges] == [len(names) for names in found.hands]
    assert sum(found.frequencies.values()) == pytest.approx(1)


def test_tabular_strategies() -> None:
    strategy = solved("leduc")
    found = ask(strategy, "cr")
    check(found)
    assert (found.actor, found.moves) == (0, ("f", "c", "r"))
    for hand in found.hands[0]:
        assert found.row(hand) == strategy[f"{hand}:cr"]
    assert found.ranges[0].tolist() == [strategy[f"{hand}:"]["c"] for hand in found.hands[0]]
    later = ask(strategy, "cc/Ks/c")
    check(later)
    blocked = later.hands[1].index("Ks")
    assert later.probabilities[blocked].tolist() == [0, 0]
    assert later.ranges[0][blocked] == later.ranges[1][blocked] == 0
    assert later.row("Qs") == strategy["Qs:cc/Ks/c"]
    over = ask(strategy, "cc")
    assert (over.actor, over.moves, over.frequencies) == (-1, (), {})


def test_spots() -> None:
    spot = Spot.make(board="Ks9d5h2c3s", pot=100, stack=200, oop="AA,KQ,76", ip="KK,QQ,A5", bets="50%")
    tree = BoardTree(spot)
    solver = BoardCFR(tree, "dcfr")
    solver.step(10)
    solution = solver.average()
    found, node = ask(solution, "x"), solution["x"]
    check(found)
    assert found.actor == node.player
    assert np.array_equal(found.ranges, node.reach)
    live = ~np.isnan(node.strategy[0])
    assert np.array_equal(found.probabilities[live], node.strategy.T[live])
    with pytest.raises(InputError, match="board As"):
        ask(solution, "x", "As")


def test_blueprint_and_its_agent_agree() -> None:
    """On the blueprint's own tree both have the same strategy."""
    for strategy in (random_blueprint("leduc"), blueprint_of("pairs")):
        tree, rng = strategy.tree, np.random.default_rng(1)
        agent = BlueprintAgent(strategy)
        for node in rng.permutation(np.flatnonzero(tree.actor >= 0))[:12].tolist():
            num_cards = strategy.rules.board_sizes[int(tree.street[node])]
            board = rng.permutation(strategy.rules.deck.cards)[:num_cards].tolist()
            table, played = ask(strategy, tree.line(node), board), ask(agent, tree.line(node), board)
            check(played)
            assert (table.line, table.actor, table.board) == (played.line, played.actor, played.board)
            assert np.allclose(table.ranges, played.ranges, atol=1e-12)
            # Abstract actions with the same realization are merged: compare by name.
            for k, move in enumerate(played.moves):
                columns = [a for a, label in enumerate(table.moves) if label == move]
                assert np.allclose(table.probabilities[:, columns].sum(axis=1), played.probabilities[:, k], atol=1e-12)


def test_batches_and_agents_of_any_game() -> None:
    rules = read_game("nolimit-200bb")
    lines, boards = ["", "r300c/", "r300"], ["", "8c8d5c", ""]
    found = ask_all(BaselineAgent("rule-based"), lines, boards, rules=rules)
    assert [result.actor for result in found] == [1, 0, 0]
    for result, line, board in zip(found, lines, boards, strict=True):
        check(result)
        alone = ask(BaselineAgent("rule-based"), line, board, rules=rules)
        assert np.array_equal(alone.probabilities, result.probabilities)
    assert found[0].row("AsAh")["r300"] == 1
    assert ask(BaselineAgent("always-call"), "r300f", rules=rules).actor == -1


@pytest.mark.parametrize(
    ("strategy", "line", "board", "place"),
    [
        (solved("leduc", 1), "cc/Ks/", "Ks", "leduc: board Ks"),
        (BaselineAgent("random"), "", "", "'random'.*rules="),
        (BlueprintPolicy(blueprint_of("demo")), "", "As", "1 board cards.*preflop"),
        (blueprint_of("demo"), "r317", "", "'r317'"),
        (3, "", "", "int: .*strategies"),
    ],
    ids=["card", "any game", "board", "off the tree", "not a strategy"],
)
def test_invalid_queries(strategy, line: str, board: str, place: str) -> None:
    with pytest.raises(InputError, match=place):
        ask(strategy, line, board)


def test_invalid_hands_and_games_without_public_states() -> None:
    with pytest.raises(InputError, match="'As' at ''"):
        ask(solved("kuhn", 1)).row("As")
    with pytest.raises(InputError, match=r"rps: .*strategy\["):
        ask(Strategy.uniform(compile_game(game_from_spec("rps"))))
    with pytest.raises(InputError, match="2 lines, 1 boards"):
        ask_all(blueprint_of("demo"), ["", "c"], [""])
