"""A library of endgames: distances, look-up, what is kept, and what is played."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.agents.test_searching import SMALL, base

from random_blueprints import random_blueprint
from riverboat.agents.search import LibraryAgent
from riverboat.cards.deck import HAND_CARDS
from riverboat.cli.endgames import endgames as commands
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import Betting
from riverboat.solvers.boards.batches import solve_many
from riverboat.subgames.database import build as library_build
from riverboat.subgames.database.build import build, load_library, reached
from riverboat.subgames.database.database import (
    GRID,
    POT,
    RUNGS,
    Kept,
    Key,
    Library,
    distance,
    kept_of,
    rung_betting,
    rung_spot,
)
from riverboat.subgames.database.policy import READS, Reading
from riverboat.subgames.search.search import SearchSettings
from riverboat.testing.agents import check_agent

BOARD = (3, 17, 22, 35, 50)


def ranges(seed: int, board: tuple[int, ...] = BOARD) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    live = ~np.isin(HAND_CARDS, board).any(axis=1)
    return [rng.random(1326) ** 3 * (rng.random(1326) < 0.3) * live for _ in range(2)]


@cache
def solved(seed: int):
    key = Key.of(BOARD, 100, 200, ranges(seed))
    return key, solve_many([rung_spot(key.rung, BOARD, ranges(seed))], iterations=60)[0]


def random_shelf(count: int, seed: int = 0) -> Library:
    rng = np.random.default_rng(seed)
    moves = kept_of(*solved(1)).play.shape[0]
    cdf = np.sort(rng.random((count, 2, GRID)), axis=2).astype(np.float32)
    kept = [Kept(c, np.zeros((2, 25), np.float32), np.zeros((moves, 25), np.uint8)) for c in cdf]
    return Library.of([(solved(1)[0].rung, k) for k in kept])


def test_an_endgame_finds_itself() -> None:
    keys = [solved(seed)[0] for seed in (1, 2, 3)]
    library = Library.of([(key.rung, kept_of(key, solved(seed)[1])) for key, seed in zip(keys, (1, 2, 3), strict=True)])
    for number, key in enumerate(keys):
        assert library.nearest(key) == (key.rung, number, 0.0)


def test_suits_make_no_difference() -> None:
    """Cards with their suits exchanged: the same key, to rounding."""
    turn = np.array([2, 0, 3, 1])
    card = 4 * (np.arange(52) // 4) + turn[np.arange(52) % 4]
    hand = {tuple(sorted(cards)): number for number, cards in enumerate(HAND_CARDS.tolist())}
    image = np.array([hand[tuple(sorted(card[cards].tolist()))] for cards in HAND_CARDS])
    held = ranges(5)
    moved = [np.zeros(1326), np.zeros(1326)]
    for seat in (0, 1):
        moved[seat][image] = held[seat]
    one, other = Key.of(BOARD, 100, 200, held), Key.of(tuple(card[list(BOARD)].tolist()), 100, 200, moved)
    np.testing.assert_allclose(one.cdf, other.cdf, atol=1e-6)


def test_distances_are_a_metric() -> None:
    some = [Key.of(BOARD, 100, 200, ranges(seed)).cdf for seed in range(6)]
    for a in some:
        for b in some:
            assert distance(a, b) == distance(b, a)
            for c in some:
                assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-9
    assert min(distance(a, b) for i, a in enumerate(some) for b in some[:i]) > 0


@pytest.mark.parametrize("count", [1, 5, 400])
def test_bounds_lose_no_neighbour(count: int) -> None:
    library = random_shelf(count)
    (rung,) = library.shelves
    shelf = library.shelves[rung]
    for seed in range(20):
        cdf = np.sort(np.random.default_rng(100 + seed).random((2, GRID)), axis=1).astype(np.float32)
        by_hand = min(distance(cdf, other) for other in shelf.cdf)
        assert shelf.nearest(cdf)[1] == pytest.approx(by_hand, abs=1e-6)


def test_what_is_kept_is_what_was_solved() -> None:
    key, solution = solved(1)
    kept, root = kept_of(key, solution), solution[""]
    library = Library.of([(key.rung, kept)])
    values = library.values(library.nearest(key), key)
    for seat in (0, 1):
        exact = root.mean(seat, root.ev(seat)) / POT
        mine = np.nansum(values[seat] * key.weight[seat]) / key.weight[seat].sum()
        assert mine == pytest.approx(exact, abs=0.003)
    played = library.play(library.nearest(key), 0, key.equity[0])
    weight = key.weight[0] / key.weight[0].sum()
    np.testing.assert_allclose(played @ weight, np.nan_to_num(root.strategy) @ weight, atol=0.01)


def test_a_build_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strategy = base().strategy
    whole = build(strategy, tmp_path / "whole", 6, part=3)
    build(strategy, tmp_path / "parts", 3, part=3)
    with pytest.raises(InputError, match="resume"):
        build(strategy, tmp_path / "parts", 6, part=3)
    with pytest.raises(InputError, match="another seed"):
        build(strategy, tmp_path / "parts", 6, part=3, resume=True, seed=1)
    parts = build(strategy, tmp_path / "parts", 6, part=3, resume=True)
    assert len(whole) == len(parts) == 6
    for rung, shelf in whole.shelves.items():
        np.testing.assert_array_equal(shelf.play, parts.shelves[rung].play)
    with pytest.raises(InputError, match="no endgames"):
        load_library(tmp_path)
    # Of the real stack and pot: with s pots behind, who has the nuts or nothing wins (1 + s / (1 + s)) / 2 of the pot.
    commands.query(tmp_path / "whole", "2c2d2h7s9c", "KsKd", "AsAd,QsJd", pot=30, stack=75, exact=True, json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["exact"]["ip"] == pytest.approx((1 + 2.5 / 3.5) / 2, abs=0.002)
    assert list(told["first"]) == ["x", "b15", "b30", "a"]


def test_who_interrupts_a_build_is_told_how_to_go_on(tmp_path: Path, monkeypatch, capsys) -> None:
    def stopped(strategy, folder, count, *, tell, **more) -> None:
        tell(library_build.Progress(3, count, 1.0, 3))
        raise KeyboardInterrupt

    monkeypatch.setattr(library_build, "build", stopped)
    monkeypatch.setattr(commands, "_blueprint", lambda agent: base().strategy)
    with pytest.raises(KeyboardInterrupt):
        commands.build(tmp_path / "some", "demo", 6, False, False, 0, 1, "cpu", False)
    assert "3 of 6 endgames are kept in" in (told := capsys.readouterr().err)
    assert "--resume" in told


def test_a_range_that_the_board_takes_away_is_named() -> None:
    held = np.zeros(1326)
    held[np.flatnonzero((BOARD[0] == HAND_CARDS).any(axis=1))[0]] = 1.0
    with pytest.raises(InputError, match=r"range of ip has no hand"):
        Key.of(BOARD, 100, 200, [ranges(1)[0], held])


def test_it_plays_rivers(tmp_path: Path) -> None:
    library = build(base().strategy, tmp_path / "library", 8, part=8)
    check_agent(LibraryAgent(base(), SearchSettings("river"), library=library), tables=40)


def test_bets_are_read_by_their_share_of_the_pot() -> None:
    """Half a pot is the library's half pot, whatever the pot is; a bet between two sizes goes to the nearer."""
    key, solution = solved(1)
    library = Library.of([(key.rung, kept_of(key, solution))])
    state = Betting.on(SMALL, 3, 500)  # a pot of 1,000, 1,000 behind
    river = Reading(library, key, library.nearest(key), state)
    betting = rung_betting(key.rung)
    children = list(betting.children(0))
    assert READS == "det-pshar"
    assert [river._read(0, state, total) for total in (1000, 1500)] == [children[1], children[2]]
    assert river._read(0, state, 1010) == children[1]
    answer = river.at([1000])
    assert answer is not None
    assert answer.moves[:2] == (-1, 0)
    assert RUNGS[key.rung] == 2.0


def test_rivers_are_those_that_are_reached() -> None:
    source = reached(base().strategy, 3)
    rivers = [next(source) for _ in range(50)]
    assert all(r.line.count("/") == 3 for r in rivers)
    assert all(r.pot + 2 * r.stack == 2 * 1500 for r in rivers)
    assert len({r.line for r in rivers}) > 5


def test_a_blueprint_of_another_game_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leduc: endgames are rivers of no-limit hold'em"):
        build(random_blueprint("leduc"), tmp_path / "library", 1)
    assert not (tmp_path / "library").exists()
