"""Nested subgame solving: every off-tree bet is solved once, safety follows from margins; translation mixes its lines."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.tables import table_block
from riverboat.games.boards.holdem import flop_holdem
from riverboat.games.boards.subtrees import BoardSubgame
from riverboat.papers.endgames.flop_holdem import off_tree_bet_nodes
from riverboat.solvers.boards.cfr import BoardCFR, engine_quality
from riverboat.subgames.flop_nested import NESTED_METHODS, ExtendedGame, solve_nested, translate_strategy

GADGETS = [name for name, method in NESTED_METHODS.items() if method.gadget]
ROUNDING = 1e-6


@cache
def larger(raises: str) -> ExtendedGame:
    game = flop_holdem("nested", ranks=4, suits=2, raises=raises)
    whole = BoardSubgame(game, game.name, game.betting, game.weights, None, game.board, game.deals)
    return ExtendedGame.from_game(whole, off_tree_bet_nodes(game.betting))


@cache
def boards(raises: str) -> Any:
    return larger(raises).board_trees()


@cache
def base(raises: str, kind: str) -> Any:
    tree = larger(raises).tree
    if kind == "blueprint":
        solver = BoardCFR(tree, dtype="float64")
        solver.step(60)
        return solver.averages.copy()
    return np.random.default_rng(int(kind)).random(tree.table_size + 16) ** 3


def best_response_values(raises: str, kind: str) -> tuple[float, ...]:
    return engine_quality(CpuBoardEngine.from_average(larger(raises).tree, base(raises, kind))).best


def check_safety(name: str, raises: str, kind: str) -> None:
    before = best_response_values(raises, kind)
    for player in (0, 1):
        found = solve_nested(
            larger(raises), base(raises, kind), name, player, boards=boards(raises), iterations=30, dtype="float64"
        )
        assert found.best_response_value() <= before[1 - player] + found.shortfall + ROUNDING
        assert found.shortfall == 0 or found.least_margin < 0


@pytest.mark.parametrize("name", GADGETS)
def test_gain_is_bounded_by_negative_margins(name: str) -> None:
    check_safety(name, "1/1", "blueprint")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["blueprint", "1", "2"])
@pytest.mark.parametrize("name", GADGETS)
def test_gain_is_bounded_with_more_bets_and_random_bases(name: str, kind: str) -> None:
    check_safety(name, "1/2", kind)


@pytest.mark.parametrize("name", ["maxmargin", "unsafe_expensive"])
def test_every_off_tree_bet_is_solved_once(name: str) -> None:
    extended = larger("1/1")
    for player in (0, 1):
        found = solve_nested(
            extended, base("1/1", "1"), name, player, boards=boards("1/1"), iterations=2, dtype="float64"
        )
        tree, part = extended.opponent_game(1 - player)
        added = [n for n in range(len(part.origin)) if part.origin[n] in extended.added]
        flops = tree.street_start[2] - tree.street_start[1]
        assert found.num_solved == sum(1 if tree.betting.street[n] == 0 else flops for n in added)
        own = [n for n in range(len(tree.forest.actor)) if tree.forest.actor[n] == player]
        for node in own:
            street = int(node >= tree.forest.first[1])
            for b in range(tree.street_start[street], tree.street_start[street + 1]):
                offset, width, rows = table_block(tree, b, node)
                assert found.table[offset : offset + width * rows].reshape(width, rows).sum(axis=0).all()


def test_base_strategy_is_kept() -> None:
    """Decisions of the base strategy are unchanged."""
    extended = larger("1/1")
    found = solve_nested(extended, base("1/1", "1"), "resolve", 0, boards=boards("1/1"), iterations=2, dtype="float64")
    nested_engine = CpuBoardEngine.from_average(found.tree, found.table)
    base_engine = CpuBoardEngine.from_average(extended.tree, base("1/1", "1"))
    base_nodes = {int(n): k for k, n in enumerate(extended.betting.origin[extended.tree.forest.node])}
    compared = 0
    for node, origin in enumerate(found.part.origin[found.tree.forest.node]):
        if found.tree.forest.actor[node] == 0 and int(origin) in base_nodes:
            b = 0 if node < found.tree.forest.first[1] else 5
            assert np.allclose(
                nested_engine.average_strategy(b, node),
                base_engine.average_strategy(b, base_nodes[int(origin)]),
                atol=1e-12,
            )
            compared += 1
    assert compared > 10


def test_translation_mixes_both_neighbors() -> None:
    """A bet of 0.75 maps to 0.5 with (1 - 0.75)(1 + 0.5) / ((1 - 0.5)(1 + 0.75)) = 3/7 (Ganzfried & Sandholm 2013)."""
    extended = larger("1/1")
    table = base("1/1", "2")
    tree, mixed = translate_strategy(extended, table, 0)
    translated, base_engine = (
        CpuBoardEngine.from_average(tree, mixed),
        CpuBoardEngine.from_average(extended.tree, table),
    )
    betting, forest_node = tree.betting, {int(n): k for k, n in enumerate(tree.forest.node)}
    half, new, pot = (child for child in betting.children(0) if betting.label[child].startswith("r"))
    abstract = [
        child for child in extended.tree.betting.children(0) if extended.tree.betting.label[child].startswith("r")
    ]
    base_node = {int(n): k for k, n in enumerate(extended.tree.forest.node)}
    low, high = (base_engine.average_strategy(0, base_node[child]) for child in abstract)
    assert np.allclose(translated.average_strategy(0, forest_node[half]), low)
    assert np.allclose(translated.average_strategy(0, forest_node[pot]), high)
    assert np.allclose(translated.average_strategy(0, forest_node[new]), 3 / 7 * low + 4 / 7 * high)


def test_later_mixtures_are_weighted_by_own_reach() -> None:
    """On the flop the two translations are weighted by the probability that each would have called."""
    extended = larger("1/1")
    table = base("1/1", "3")
    tree, mixed = translate_strategy(extended, table, 0)
    translated, base_engine = (
        CpuBoardEngine.from_average(tree, mixed),
        CpuBoardEngine.from_average(extended.tree, table),
    )
    betting, abstract = tree.betting, extended.tree.betting
    forest_node = {int(n): k for k, n in enumerate(tree.forest.node)}
    base_node = {int(n): k for k, n in enumerate(extended.tree.forest.node)}

    def flop(b: Any, bet: int) -> tuple[int, int]:
        """Return the bet and, after a call, the first decision on the flop."""
        call = next(c for c in b.children(bet) if b.label[c] == "c")
        return bet, call + 1

    new = [c for c in betting.children(0) if betting.label[c].startswith("r")][1]
    lines = [flop(abstract, c) for c in abstract.children(0) if abstract.label[c].startswith("r")]
    board = 4
    parent_rows = tree.boards.up[tree.boards.up_at[board, 0] :][: tree.boards.rows[board, 0]]
    called = [base_engine.average_strategy(0, base_node[bet])[1][parent_rows] for bet, _ in lines]  # fold, call
    strategies = [base_engine.average_strategy(board, base_node[node]) for _, node in lines]
    weights = 3 / 7 * called[0], 4 / 7 * called[1]
    expected = (weights[0] * strategies[0] + weights[1] * strategies[1]) / (weights[0] + weights[1])
    assert np.allclose(translated.average_strategy(board, forest_node[flop(betting, new)[1]]), expected)


def test_invalid_input() -> None:
    with pytest.raises(InputError, match="'magic'"):
        solve_nested(larger("1/1"), base("1/1", "1"), "magic", 0)
    with pytest.raises(InputError, match=r"float64.*'float32'"):
        solve_nested(larger("1/1"), base("1/1", "1"), "resolve", 0, dtype="float32")
