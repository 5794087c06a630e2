"""One way to ask four kinds of strategies."""

from __future__ import annotations

import numpy as np
import pytest

from random_blueprints import blueprint_of, random_blueprint
from riverboat.agents.baselines import Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.errors import InputError
from riverboat.games.holdem.rules import read_game
from riverboat.games.registry import make
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.policy import Played
from riverboat.strategies.queries import Answer, ask, ask_all
from riverboat.strategies.tabular import Strategy
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import compile_game


def solved(game: str, iterations: int = 20) -> Strategy:
    solver = CFR(compile_game(make(game)), "dcfr")
    solver.step(iterations)
    return solver.average()


def check(found: Answer) -> None:
    """What every answer promises."""
    assert found.probabilities.min() >= 0
    sums = found.probabilities.sum(axis=1)
    assert np.all(np.isclose(sums, 1) | (sums == 0))
    assert (found.ranges[found.actor][sums == 0] == 0).all()
    assert len(found.moves) == found.probabilities.shape[1]
    assert [len(weights) for weights in found.ranges] == [len(names) for names in found.hands]
    assert sum(found.frequencies.values()) == pytest.approx(1)


def test_tables_of_small_games() -> None:
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
    found, here = ask(solution, "x"), solution["x"]
    check(found)
    assert found.actor == here.player
    assert np.array_equal(found.ranges, here.reach)
    live = ~np.isnan(here.strategy[0])
    assert np.array_equal(found.probabilities[live], here.strategy.T[live])
    with pytest.raises(InputError, match="stand in its lines"):
        ask(solution, "x", "As")


def test_a_blueprint_and_the_agent_that_plays_it() -> None:
    """On its own tree both say the same."""
    for strategy in (random_blueprint("leduc"), blueprint_of("pairs")):
        tree, rng = strategy.tree, np.random.default_rng(1)
        agent = BlueprintAgent(strategy)
        for node in rng.permutation(np.flatnonzero(tree.actor >= 0))[:12].tolist():
            shown = strategy.rules.board_sizes[int(tree.street[node])]
            board = rng.permutation(strategy.rules.deck.cards)[:shown].tolist()
            table, played = ask(strategy, tree.line(node), board), ask(agent, tree.line(node), board)
            check(played)
            assert (table.line, table.actor, table.board) == (played.line, played.actor, played.board)
            assert np.allclose(table.ranges, played.ranges, atol=1e-12)
            # Abstract moves that come out alike are one: compare by name.
            for k, move in enumerate(played.moves):
                mine = [a for a, label in enumerate(table.moves) if label == move]
                assert np.allclose(table.probabilities[:, mine].sum(axis=1), played.probabilities[:, k], atol=1e-12)


def test_many_at_once_and_agents_of_any_game() -> None:
    rules = read_game("nolimit-200bb")
    lines, boards = ["", "r300c/", "r300"], ["", "8c8d5c", ""]
    found = ask_all(Yardstick("rule-based"), lines, boards, rules=rules)
    assert [answer.actor for answer in found] == [1, 0, 0]
    for answer, line, board in zip(found, lines, boards, strict=True):
        check(answer)
        alone = ask(Yardstick("rule-based"), line, board, rules=rules)
        assert np.array_equal(alone.probabilities, answer.probabilities)
    assert found[0].row("AsAh")["r300"] == 1
    assert ask(Yardstick("always-call"), "r300f", rules=rules).actor == -1


@pytest.mark.parametrize(
    ("strategy", "line", "board", "reason"),
    [
        (solved("leduc", 1), "cc/Ks/", "Ks", "public cards stand in its lines"),
        (Yardstick("random"), "", "", "'random' plays any game: say which"),
        (Played(blueprint_of("demo")), "", "As", "1 board cards; on the preflop"),
        (blueprint_of("demo"), "r317", "", "no move 'r317'"),
        (3, "", "", "int: cannot be asked"),
    ],
    ids=["card", "any game", "board", "off the tree", "nobody"],
)
def test_wrong_questions(strategy, line: str, board: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        ask(strategy, line, board)


def test_wrong_hands_and_games_without_public_places() -> None:
    with pytest.raises(InputError, match="write it as"):
        ask(solved("kuhn", 1)).row("As")
    with pytest.raises(InputError, match="ask for an information set by name"):
        ask(Strategy.uniform(compile_game(make("rps"))))
    with pytest.raises(InputError, match="2 lines, 1 boards"):
        ask_all(blueprint_of("demo"), ["", "c"], [""])
