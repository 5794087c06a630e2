"""Endgame databases: distances, lookup, stored values, and play."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.agents.test_search import SMALL, base

from random_blueprints import random_blueprint
from riverboat.agents.search import SubgameLibraryAgent
from riverboat.api import endgames
from riverboat.cards.deck import HAND_CARDS
from riverboat.cli import endgames as commands
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import BettingState
from riverboat.solvers.boards.batches import solve_many
from riverboat.subgames.database import database as library_build
from riverboat.subgames.database.database import (
    ENDGAME_POT,
    NUM_CDF_STEPS,
    STACK_LEVELS,
    EndgameDatabase,
    EndgameEntry,
    EndgameKey,
    build_database,
    endgame_spot,
    load_database,
    make_entry,
    sample_reached_streets,
    stack_level_betting,
)
from riverboat.subgames.database.policy import TRANSLATION, DatabaseRiver
from riverboat.subgames.search.search import SearchSettings
from riverboat.testing.agents import check_agent

BOARD = (3, 17, 22, 35, 50)


def ranges(seed: int, board: tuple[int, ...] = BOARD) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    live = ~np.isin(HAND_CARDS, board).any(axis=1)
    return [rng.random(1326) ** 3 * (rng.random(1326) < 0.3) * live for _ in range(2)]


@cache
def solved(seed: int):
    key = EndgameKey.from_river(BOARD, 100, 200, ranges(seed))
    return key, solve_many([endgame_spot(key.stack_level, BOARD, ranges(seed))], iterations=60)[0]


def random_database(count: int, seed: int = 0) -> EndgameDatabase:
    rng = np.random.default_rng(seed)
    num_columns = make_entry(*solved(1)).play.shape[0]
    cdf = np.sort(rng.random((count, 2, NUM_CDF_STEPS)), axis=2).astype(np.float32)
    entries = [EndgameEntry(c, np.zeros((2, 25), np.float32), np.zeros((num_columns, 25), np.uint8)) for c in cdf]
    return EndgameDatabase.from_entries([(solved(1)[0].stack_level, entry) for entry in entries])


def test_entries_find_themselves() -> None:
    keys = [solved(seed)[0] for seed in (1, 2, 3)]
    database = EndgameDatabase.from_entries(
        [(key.stack_level, make_entry(key, solved(seed)[1])) for key, seed in zip(keys, (1, 2, 3), strict=True)]
    )
    for index, key in enumerate(keys):
        assert database.nearest(key) == (key.stack_level, index, 0.0)


def test_suit_symmetry() -> None:
    """Permuted suits give the same key, up to rounding."""
    permutation = np.array([2, 0, 3, 1])
    card = 4 * (np.arange(52) // 4) + permutation[np.arange(52) % 4]
    hand = {tuple(sorted(cards)): number for number, cards in enumerate(HAND_CARDS.tolist())}
    image = np.array([hand[tuple(sorted(card[cards].tolist()))] for cards in HAND_CARDS])
    original = ranges(5)
    moved = [np.zeros(1326), np.zeros(1326)]
    for seat in (0, 1):
        moved[seat][image] = original[seat]
    key, other = (
        EndgameKey.from_river(BOARD, 100, 200, original),
        EndgameKey.from_river(tuple(card[list(BOARD)].tolist()), 100, 200, moved),
    )
    np.testing.assert_allclose(key.cdf, other.cdf, atol=1e-6)


def key_distance(one: Array, other: Array) -> float:
    """Return the larger of both players' earth mover's distances between two keys. float32 [2, NUM_CDF_STEPS] each"""
    return float(np.abs(one.astype(np.float64) - other).sum(axis=1).max() / NUM_CDF_STEPS)


def test_distances_are_a_metric() -> None:
    cdfs = [EndgameKey.from_river(BOARD, 100, 200, ranges(seed)).cdf for seed in range(6)]
    for a in cdfs:
        for b in cdfs:
            assert key_distance(a, b) == key_distance(b, a)
            for c in cdfs:
                assert key_distance(a, c) <= key_distance(a, b) + key_distance(b, c) + 1e-9
    assert min(key_distance(a, b) for i, a in enumerate(cdfs) for b in cdfs[:i]) > 0


@pytest.mark.parametrize("count", [1, 5, 400])
def test_nearest_neighbor_search_is_exact(count: int) -> None:
    database = random_database(count)
    (level,) = database.entries_by_level
    entries = database.entries_by_level[level]
    for seed in range(20):
        cdf = np.sort(np.random.default_rng(100 + seed).random((2, NUM_CDF_STEPS)), axis=1).astype(np.float32)
        exact = min(key_distance(cdf, other) for other in entries.cdf)
        assert entries.nearest(cdf)[1] == pytest.approx(exact, abs=1e-6)


def test_entries_reproduce_the_solution() -> None:
    key, solution = solved(1)
    entry, root = make_entry(key, solution), solution[""]
    database = EndgameDatabase.from_entries([(key.stack_level, entry)])
    values = database.hand_values(database.nearest(key), key)
    for seat in (0, 1):
        exact = root.range_mean(seat, root.ev(seat)) / ENDGAME_POT
        stored = np.nansum(values[seat] * key.weight[seat]) / key.weight[seat].sum()
        assert stored == pytest.approx(exact, abs=0.003)
    played = database.strategy(database.nearest(key), 0, key.equity[0])
    weight = key.weight[0] / key.weight[0].sum()
    np.testing.assert_allclose(played @ weight, np.nan_to_num(root.strategy) @ weight, atol=0.01)


def test_build_and_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strategy = base().strategy
    whole = build_database(strategy, tmp_path / "whole", 6, part_size=3)
    build_database(strategy, tmp_path / "parts", 3, part_size=3)
    with pytest.raises(InputError, match="resume"):
        build_database(strategy, tmp_path / "parts", 6, part_size=3)
    with pytest.raises(InputError, match=r"seed.*0"):
        build_database(strategy, tmp_path / "parts", 6, part_size=3, resume=True, seed=1)
    parts = build_database(strategy, tmp_path / "parts", 6, part_size=3, resume=True)
    assert len(whole) == len(parts) == 6
    for level, entries in whole.entries_by_level.items():
        np.testing.assert_array_equal(entries.play, parts.entries_by_level[level].play)
    with pytest.raises(InputError, match="endgames"):
        load_database(tmp_path)
    # With s pots behind, a range of nuts and air wins (1 + s / (1 + s)) / 2 of the real pot.
    commands.query(
        tmp_path / "whole", board="2c2d2h7s9c", oop="KsKd", ip="AsAd,QsJd", pot=30, stack=75, exact=True, json=True
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed["exact"]["ip"] == pytest.approx((1 + 2.5 / 3.5) / 2, abs=0.002)
    assert list(printed["first"]) == ["x", "b15", "b30", "a"]


def test_interrupted_build_explains_resume(tmp_path: Path, monkeypatch, capsys) -> None:
    def stopped(strategy, folder, count, *, on_progress, **more) -> None:
        on_progress(library_build.DatabaseProgress(3, count, 1.0, 3))
        raise KeyboardInterrupt

    monkeypatch.setattr(library_build, "build_database", stopped)
    monkeypatch.setattr(endgames, "_load_blueprint", lambda agent: base().strategy)
    with pytest.raises(KeyboardInterrupt):
        commands.build(tmp_path / "some", count=6)
    assert "3 of 6" in (printed := capsys.readouterr().err)
    assert "--resume" in printed


def test_blocked_range_is_named() -> None:
    blocked = np.zeros(1326)
    blocked[np.flatnonzero((BOARD[0] == HAND_CARDS).any(axis=1))[0]] = 1.0
    with pytest.raises(InputError, match="range of ip"):
        EndgameKey.from_river(BOARD, 100, 200, [ranges(1)[0], blocked])


def test_agent_contract(tmp_path: Path) -> None:
    database = build_database(base().strategy, tmp_path / "library", 8, part_size=8)
    check_agent(SubgameLibraryAgent(base(), SearchSettings("river"), library=database), tables=40)


def test_bets_are_translated_by_pot_fraction() -> None:
    """Half a pot is the database's half pot, whatever the pot is; a bet between two sizes maps to the nearer one."""
    key, solution = solved(1)
    database = EndgameDatabase.from_entries([(key.stack_level, make_entry(key, solution))])
    state = BettingState.at_street(SMALL, 3, 500)  # a pot of 1,000, 1,000 behind
    river = DatabaseRiver(database, key, database.nearest(key), state)
    betting = stack_level_betting(key.stack_level)
    children = list(betting.children(0))
    assert TRANSLATION == "det-pshar"
    assert [river._translate_move(0, state, total) for total in (1000, 1500)] == [children[1], children[2]]
    assert river._translate_move(0, state, 1010) == children[1]
    strategy = river.strategy_after([1000])
    assert strategy is not None
    assert strategy.moves[:2] == (-1, 0)
    assert STACK_LEVELS[key.stack_level] == 2.0


def test_sampled_rivers() -> None:
    strategy = base().strategy
    source = sample_reached_streets(strategy, 3)
    rivers = [next(source) for _ in range(50)]
    assert all(strategy.tree.street[r.node] == 3 for r in rivers)
    assert all(r.pot + 2 * r.stack == 2 * 1500 for r in rivers)
    assert len({r.node for r in rivers}) > 5


def test_other_games_leave_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leduc: "):
        build_database(random_blueprint("leduc"), tmp_path / "library", 1)
    assert not (tmp_path / "library").exists()
