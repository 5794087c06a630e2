"""Artifacts: written atomically, and rejected by name if they are damaged."""

import json
import re

import numpy as np
import pytest

from riverboat.core import artifacts
from riverboat.core.errors import CorruptError, InputError
from riverboat.games.registry import game_from_spec
from riverboat.solvers.game_values import game as make_game
from riverboat.strategies import files
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import compile_game


@pytest.fixture
def folder(tmp_path):
    return artifacts.write(
        tmp_path / "thing", "test", {"numbers": np.arange(1000.0)}, {"colour": "blue"}, {"a.txt": "words"}
    )


def test_round_trip(folder):
    found, arrays = artifacts.read(folder)
    assert found["kind"] == "test"
    assert found["colour"] == "blue"
    np.testing.assert_array_equal(arrays["numbers"], np.arange(1000.0))
    assert isinstance(arrays["numbers"], np.memmap)
    assert (folder / "a.txt").read_text() == "words"


def test_replacing_leaves_no_temporary_folders(folder):
    artifacts.write(folder, "test", {"numbers": np.zeros(3)}, {})
    assert artifacts.read(folder)[1]["numbers"].shape == (3,)
    assert [p.name for p in folder.parent.iterdir()] == ["thing"]


def test_a_truncated_file_is_rejected_by_name(folder):
    path = folder / "numbers.npy"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(CorruptError, match=r"numbers\.npy.*8,120.*8,128"):
        artifacts.read(folder)


@pytest.mark.parametrize("place", [200, 4000, -1])
def test_a_flipped_bit_is_rejected_by_name(folder, place):
    path = folder / "numbers.npy"
    body = bytearray(path.read_bytes())
    body[place] ^= 1
    path.write_bytes(body)
    with pytest.raises(CorruptError, match=r"numbers\.npy.*checksum"):
        artifacts.read(folder)


def read_error(folder):
    """Return the error of reading an artifact, or None."""
    try:
        artifacts.read(folder)
    except (CorruptError, InputError) as error:
        return str(error)
    return None


def test_every_bit_of_the_manifest_counts(folder):
    path = folder / artifacts.MANIFEST
    body = path.read_bytes()
    meaning = json.loads(body)
    rejected = 0
    for position in range(0, len(body), 7):
        broken = bytearray(body)
        broken[position] ^= 1
        path.write_bytes(broken)
        problem = read_error(folder)
        if problem is None:  # white space between tokens does not matter
            assert json.loads(bytes(broken)) == meaning
        else:
            rejected += 1
            assert str(folder) in problem
    assert rejected > 50


def test_missing_files_and_other_versions(folder):
    (folder / "numbers.npy").unlink()
    with pytest.raises(CorruptError, match=r"numbers\.npy"):
        artifacts.read(folder)
    with pytest.raises(InputError, match=artifacts.MANIFEST):
        artifacts.read_manifest(folder.parent)


def test_another_format_version_is_rejected_by_name(folder, monkeypatch):
    monkeypatch.setattr(artifacts, "FORMAT_VERSION", 2)
    with pytest.raises(InputError, match=r"version 1\b.*version 2\b"):
        artifacts.read(folder)


def test_strategies_round_trip(tmp_path):
    game = game_from_spec("leduc")
    tree = compile_game(game)
    rng = np.random.default_rng(1)
    strategy = Strategy.from_sums(tree, rng.random(tree.table_size), {"method": "random"})
    files.save(strategy, tmp_path / "s", game)
    back = files.load(tmp_path / "s")
    np.testing.assert_array_equal(back.probabilities, strategy.probabilities)
    assert back.provenance["method"] == "random"
    assert back["Ks:cr"] == strategy["Ks:cr"]


def test_a_file_game_is_stored_with_its_strategy(tmp_path):
    text = 'NFG 1 R "pennies" { "a" "b" } { 2 2 }\n\n1 -1 -1 1 -1 1 1 -1\n'
    path = tmp_path / "pennies.nfg"
    path.write_text(text)
    game = game_from_spec(str(path))
    files.save(Strategy.uniform(compile_game(game)), tmp_path / "s", game)
    path.unlink()
    assert files.load(tmp_path / "s").tree.infoset_count == 2


def test_values_of_smaller_games_are_stored_with_the_strategy(tmp_path):
    game = make_game("bluff:2,1")
    tree = compile_game(game)
    files.save(Strategy.uniform(tree), tmp_path / "s", game)
    assert files.load(tmp_path / "s").tree.fingerprint == tree.fingerprint


def test_a_strategy_for_another_tree_is_rejected(tmp_path):
    game = game_from_spec("kuhn")
    files.save(Strategy.uniform(compile_game(game)), tmp_path / "s", game)
    with pytest.raises(InputError, match=r"kuhn.*trees differ"):
        files.load(tmp_path / "s", game_from_spec("kuhn:cards=4"))


def test_a_solution_of_holdem_with_another_seat_order_is_rejected_with_the_reason(tmp_path):
    """The message names a possible reason why the trees differ: player 0 used to be the dealer."""
    tree = BoardTree(game_from_spec("holdem:2-1,ranks=4,suits=2"))
    folder = files.save(Solution(tree, np.zeros(tree.table_size + 16, np.float32)), tmp_path / "s", tree.game)
    assert files.load(folder).tree.fingerprint == tree.fingerprint
    with pytest.raises(InputError, match=r"trees differ.*player 0.*big blind.*dealer"):
        files.load(folder, game_from_spec("holdem:2-1,ranks=4,suits=2,blinds=4/10"))


def test_an_unnamed_game_must_be_passed_again(tmp_path):
    from riverboat.formats.gambit import loads_efg

    text = 'EFG 2 R "t" { "a" "b" } p "" 1 1 "" { "l" "r" } 0 t "" 1 "" { 1, -1 } t "" 2 "" { -1, 1 }'
    game = loads_efg(text)
    files.save(Strategy.uniform(compile_game(game)), tmp_path / "s", game)
    with pytest.raises(InputError, match="--game"):
        files.load(tmp_path / "s")
    assert len(files.load(tmp_path / "s", game)) == 1


def test_empty_folders(tmp_path):
    with pytest.raises(InputError, match=re.escape(str(tmp_path))):
        files.load(tmp_path)
    with pytest.raises(InputError, match="nowhere"):
        files.load(tmp_path / "nowhere")
