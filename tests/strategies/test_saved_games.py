"""Saving and loading strategies of every game, by name, by file and by numbers; caching and partial reads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riverboat as rb
from random_blueprints import random_blueprint
from riverboat.core import artifacts
from riverboat.core.errors import CorruptError, InputError
from riverboat.games import registry
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.small.normal_form import NormalForm
from riverboat.strategies import files
from riverboat.strategies.blueprint import load_blueprint, save_blueprint

SMALL = {"rhode_island": "rhode_island:ranks=3,suits=2"}  # smaller versions of large games
BOARDS = ("holdem", "flop_holdem")  # solved on boards: tested with a spot


@pytest.mark.parametrize("name", [name for name in registry.GAMES if name not in BOARDS])
def test_every_game_by_name(name: str, tmp_path: Path) -> None:
    game = rb.game(SMALL.get(name, name))
    assert not isinstance(game, BoardGame)
    loaded = _back(rb.Strategy.uniform(rb.compile_game(game)), tmp_path)
    assert registry.spec_of(loaded.tree.game) == SMALL.get(name, name)


def _back(strategy: rb.Strategy, folder: Path) -> rb.Strategy:
    found = rb.load(rb.save(strategy, folder / "saved"))
    assert isinstance(found, rb.Strategy)
    assert found.tree is not strategy.tree
    assert found == strategy
    again = rb.load(rb.save(found, folder / "again"))  # loaded strategies can be saved too
    assert again == strategy
    return found


RIVER = """board = "Td9d6hQc2s"
pot = 20
stack = 40
[ranges]
oop = "AA,66"
ip = "KK,99"
[bets]
river = { bet = "a" }
"""


@pytest.mark.parametrize("method", ["lp", "egt"])
def test_spots_solved_on_the_sequence_form(method: Literal["lp", "egt"], tmp_path: Path) -> None:
    """A spot is stored completely; a solution on its sequence form is not a board table, and loads as a tabular
    strategy.
    """
    path = tmp_path / "river.toml"
    path.write_text(RIVER)
    solved = rb.solve(str(path), method=method, until=0.5, out=tmp_path / "run").strategy
    path.unlink()
    loaded = rb.load(tmp_path / "run")
    assert isinstance(loaded, rb.Strategy)
    assert loaded == solved
    assert rb.quality(loaded).exploitability == rb.quality(solved).exploitability


@pytest.mark.parametrize("suffix", [".efg", ".nfg"])
def test_game_files_are_stored_with_the_strategy(suffix: str, tmp_path: Path) -> None:
    texts = {
        ".efg": 'EFG 2 R "t" { "a" "b" }\np "" 1 1 "x" { "l" "r" } 0\nt "" 1 "" { 1, -1 }\nt "" 2 "" { -1, 1 }\n',
        ".nfg": 'NFG 1 R "t" { "a" "b" } { 2 2 }\n\n1 -1 -1 1 -1 1 1 -1\n',
    }
    path = tmp_path / f"mine{suffix}"
    path.write_text(texts[suffix])
    strategy = rb.solve(str(path), iterations=5).strategy
    saved = rb.save(strategy, tmp_path / "saved")
    path.unlink()
    found = rb.load(saved)
    assert found == strategy
    assert found.tree.name == strategy.tree.name
    assert rb.load(rb.save(found, tmp_path / "again")) == strategy


def test_open_spiel_game(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    _back(rb.Strategy.uniform(rb.compile_game(rb.game("open_spiel:kuhn_poker"))), tmp_path)


numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))


@settings(max_examples=15, deadline=None)
@given(shape=st.tuples(st.integers(1, 4), st.integers(1, 4)), data=st.data())
def test_matrices(shape: tuple[int, int], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    rows = data.draw(
        st.lists(st.lists(numbers, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0])
    )
    game = rb.matrix(rows, name="mine")
    found = _back(rb.Strategy.uniform(rb.compile_game(game)), tmp_path_factory.mktemp("matrix"))
    loaded = found.tree.game
    assert isinstance(loaded, NormalForm)
    assert np.array_equal(loaded.table, game.table)
    assert (loaded.labels, loaded.name, loaded.unit) == (game.labels, game.name, game.unit)


def test_corrupt_matrix(tmp_path: Path) -> None:
    tree = rb.compile_game(rb.matrix([[1, 2]]))
    folder = rb.save(rb.Strategy.uniform(tree), tmp_path / "saved")
    meta, arrays = artifacts.read(folder)
    for entry in ({"moves": 3}, {"payoffs": [1.0]}, {"payoffs": ["x"] * 4}):
        wrong = {key: value for key, value in meta.items() if key not in ("format_version", "kind", "files", "version")}
        wrong["matrix"] = {**meta["matrix"], **entry}
        shutil.rmtree(folder)
        artifacts.write(folder, "strategy", dict(arrays), wrong)
        with pytest.raises(CorruptError):
            rb.load(folder)


# --- reading --------------------------------------------------------------------------------------


def test_loading_reads_only_the_strategy(tmp_path: Path) -> None:
    """Regrets of a checkpoint are for resuming only: a corrupt regret file does not affect loading the strategy."""
    result = rb.solve("kuhn", iterations=20, out=tmp_path / "run")
    (checkpoint,) = files.checkpoints(tmp_path / "run")
    data = bytearray((checkpoint / "regret.npy").read_bytes())
    data[-1] ^= 1
    (checkpoint / "regret.npy").write_bytes(data)
    assert rb.load(tmp_path / "run") == result.strategy
    with pytest.raises(CorruptError, match=r"regret\.npy"):
        rb.solve("kuhn", iterations=40, out=tmp_path / "run", resume=True)
    table = checkpoint / f"{artifacts.read_manifest(checkpoint)['table']}.npy"
    data = bytearray(table.read_bytes())
    data[-1] ^= 1
    table.write_bytes(data)
    with pytest.raises(CorruptError, match=table.name):
        rb.load(tmp_path / "run")


def test_folders_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []
    plain = artifacts._checksum
    monkeypatch.setattr(artifacts, "_checksum", lambda path: (hashed.append(path), plain(path))[1])
    folder = rb.save(rb.solve("kuhn", iterations=3).strategy, tmp_path / "kuhn")
    hashed.clear()
    first = rb.load(folder)
    assert rb.load(folder) is first
    assert rb.load(str(folder)) is first
    assert len(hashed) == 1
    other = rb.solve("kuhn", iterations=9).strategy
    shutil.rmtree(folder)
    rb.save(other, folder)
    assert rb.load(folder) == other != first

    blueprint = save_blueprint(random_blueprint("leduc"), tmp_path / "leduc")
    hashed.clear()
    loaded = load_blueprint(blueprint)
    assert load_blueprint(blueprint) is loaded is rb.load(blueprint)
    assert rb.agent(str(blueprint)).strategy is loaded  # type: ignore[attr-defined]
    assert len(hashed) == len(set(hashed))


def test_resuming_names_different_options(tmp_path: Path) -> None:
    rb.solve("kuhn", iterations=5, out=tmp_path / "run")
    with pytest.raises(
        InputError, match=r"schedule='dcfr.*', not 'cfr\+'; traversal='full', not 'external'; seed=0, not 3"
    ):
        rb.solve("kuhn", iterations=9, schedule="cfr+", traversal="external", seed=3, out=tmp_path / "run", resume=True)
