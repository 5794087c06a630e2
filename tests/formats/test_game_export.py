"""Export of games: files round trip to the same game, and probabilities sum to exactly one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riverboat as rb
from random_games import history_games, public_games
from reference import gambit
from riverboat.core.errors import InputError
from riverboat.formats.gambit import loads_efg, loads_nfg
from riverboat.formats.game_export import dumps_efg, dumps_nfg, exact_fractions, write_game
from riverboat.games.base import Game
from riverboat.games.small.normal_form import NormalForm
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.history import HistoryTree

GAMBIT = gambit.load()


def read_back(game: Game) -> tuple[HistoryTree, HistoryTree]:
    """Return the history tree of a game, and that of its file."""
    tree = to_history_tree(compile_game(game))
    again = compile_game(loads_efg(dumps_efg(tree), tree.name))
    assert isinstance(again, HistoryTree)
    return tree, again


def assert_same(one: HistoryTree, two: HistoryTree) -> None:
    """Compare shape, names and chance; random strategies have the same values up to rounding."""
    for field in ("actor", "end", "width"):
        assert np.array_equal(getattr(one.nodes, field), getattr(two.nodes, field))
    assert [*one.infosets()] == [*two.infosets()]
    assert np.array_equal(one.node_infoset, two.node_infoset)
    chances = [n for n in range(len(one.nodes.actor)) if one.nodes.actor[n] == -1]
    assert [one.labels(n) for n in chances] == [two.labels(n) for n in chances]
    table = np.random.default_rng(3).random(one.table_size)
    mine, theirs = (quality(Strategy.from_sums(tree, table)) for tree in (one, two))
    assert mine.values == pytest.approx(theirs.values, abs=1e-12)
    assert mine.best == pytest.approx(theirs.best, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(game=st.one_of(history_games(depth=4, zero_sum=False), history_games(players=3), public_games(depth=3)))
def test_random_games_round_trip(game: Any) -> None:
    assert_same(*read_back(game))


@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn:players=3", "coin_toss", "clairvoyance", "rpst"])
def test_games_by_name_round_trip(name: str) -> None:
    tree, again = read_back(rb.game(name))
    assert_same(tree, again)
    assert again.name == tree.name


@pytest.mark.parametrize("name", [n for n in GAMBIT["trees"] if not n.startswith("labels")])
def test_files_of_gambit_are_written_alike(name: str) -> None:
    """The words of Gambit's own files, but for names of players, nodes and outcomes, and the positions of payoffs."""
    theirs = loads_efg(GAMBIT["trees"][name]["written"], name)
    tree = compile_game(theirs)
    assert isinstance(tree, HistoryTree)
    kinds = [
        line.split(" ", 1)[0]
        for line in GAMBIT["trees"][name]["written"].splitlines()
        if line[:2] in ("c ", "p ", "t ")
    ]
    ours = dumps_efg(tree).splitlines()[3:]
    assert [line[0] for line in ours] == kinds
    assert_same(*read_back(theirs))


tables = st.lists(st.integers(1, 3), min_size=1, max_size=3).flatmap(
    lambda widths: st.integers(0, 2**32 - 1).map(
        lambda seed: NormalForm(
            np.random.default_rng(seed).normal(size=(*widths, len(widths))).round(seed % 4),
            tuple(tuple(f'{p} "{k}"' for k in range(width)) for p, width in enumerate(widths)),
            "table \\ of",
        )
    )
)


@settings(deadline=None)
@given(game=tables)
def test_tables_round_trip(game: NormalForm) -> None:
    again = loads_nfg(dumps_nfg(game))
    assert (again.name, again.labels) == (game.name, game.labels)
    assert np.array_equal(again.table, game.table)


@settings(deadline=None)
@given(weights=st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any), odd=st.floats(0.01, 10))
def test_probabilities_sum_to_one(weights: list[int], odd: float) -> None:
    total = sum(weights)
    meant = [Fraction(w, total) for w in weights]
    assert exact_fractions([float(f) for f in meant]) == meant
    floats = np.array(weights, float) ** odd
    some = (floats / floats.sum()).tolist()
    found = exact_fractions(some)
    assert sum(found) == 1
    assert min(found) >= 0
    assert [float(f) for f in found] == pytest.approx(some, abs=1e-15)


def test_formats_by_suffix(tmp_path: Path) -> None:
    assert rb.solve(str(write_game(rb.game("rps"), tmp_path / "rps.nfg")), method="lp").value == pytest.approx(0)
    assert rb.solve(str(write_game(rb.game("kuhn"), tmp_path / "k.EFG")), method="lp").value == pytest.approx(-1 / 18)
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=100, oop="AA,JJ", ip="KK,88", bets="a")
    assert rb.game(str(write_game(spot, tmp_path / "spot.toml"))) == spot
    for game, name, message in [
        (rb.game("kuhn"), "k.nfg", "kuhn: .*nfg"),
        (rb.game("kuhn"), "k.toml", "kuhn: .*toml"),
        (rb.game("kuhn"), "k.txt", r"k\.txt"),
    ]:
        with pytest.raises(InputError, match=message):
            write_game(game, tmp_path / name)
        assert not (tmp_path / name).exists()
