"""Signals, games and models in files, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from riverboat.cli import main
from riverboat.continuous import signals
from riverboat.continuous.examples import river
from riverboat.continuous.game_file import loads, loads_models
from riverboat.continuous.strategies import QualitativeModel
from riverboat.core.errors import InputError

HALF = "[river]\npot = 2\nstreet = 'half'\n"
MODELS = '[[model]]\nname = "bluff"\nbands = { root = "b x b", b = "f c" }\norder = "root:1 b:1 root:2"\n'


def test_explicit_tree_equals_river() -> None:
    text = """
    [tree]
    player = 0
    moves.x = { pay = [-1, -1], prize = 2 }
    moves.b = { player = 1, moves = { f = { pay = [1, -1] }, c = { pay = [-2, -2], prize = 4 } } }
    """
    written, built = loads(text), river(street="half")
    assert written.situations == built.situations
    assert [e.leaf for e in written.leaf_paths] == [e.leaf for e in built.leaf_paths]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pot = 2", "'pot'"),
        ("", "0 of tree, river"),
        (HALF + "[auction]\n", "2 of tree, river"),
        ("[river]\npots = 2", "'pots'.*'pot'"),
        ("[river]\npot = -1", "pot -1"),
        ("[river]\nstreet = 'long'", "'long'.*half.*full"),
        (HALF + "[signals]\ncdf = [[0, 0], [1, 0.9]]", "player 0: .*0 to 0.9"),
        (HALF + "[signals]\ncdf = [[0, 0], [1, 0.9], [0.5, 1]]", r"\(0\.5, 1\.0\)"),
        (HALF + "[signals]\ncdf = 3", "cdf = 3"),
        (HALF + "[signals]\ndiscrete = [[1, 0.5]]", "sum to 0.5"),
        (HALF + "[signals]\nedges = [0, 1]\njoint = [[0.5]]", "sum to 0.5"),
        (HALF + "[signals.0]\ncdf = [[0, 0], [1, 1]]", "signals.1"),
        ("[tree]\nplayer = 0", "tree: .*moves"),
        (
            "[tree]\nplayer = 0\nmoves.x = { pay = [1] }\nmoves.y = { pay = [1, 2] }",
            r"x: pays \(1\.0,\).*\b2 players",
        ),
        ("[tree]\nplayer = 2\nmoves.x = { pay = [1, -1] }", "3 players"),
        ("[river", "TOML"),
    ],
)
def test_errors_are_one_line_with_the_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        loads(text)
    assert "\n" not in str(caught.value)


def test_models_round_trip() -> None:
    game = loads(HALF)
    models = loads_models(MODELS, game)
    assert models == [QualitativeModel.from_words(game, {"root": "b x b", "b": "f c"}, "root:1 b:1 root:2", "bluff")]
    (model,) = models
    assert QualitativeModel.from_words(game, model.band_words(game), model.order_words(game), model.name) == model
    with pytest.raises(InputError, match=r"\[\[model\]\]"):
        loads_models("", game)


def test_signals() -> None:
    mixed = signals.from_cdfs([[(0.0, 0.0), (0.5, 0.25), (0.5, 0.75), (1.0, 1.0)], [(0.0, 0.0), (1.0, 1.0)]])
    assert mixed.tied.tolist() == [False, True, False]
    assert mixed.mass.tolist() == [[0.25, 0.5, 0.25], [0.5, 0.0, 0.5]]
    inside = float((mixed.edges[1] + mixed.edges[2]) / 2)
    assert mixed.value(inside) == 0.5
    assert mixed.cdf(0, np.array([inside]))[0] == pytest.approx(0.5)
    for player, share in ((0, 0.1), (0, 0.6), (1, 0.9)):
        assert mixed.cdf(player, np.array(mixed.quantile(player, share))) == pytest.approx(share)
    falling = signals.from_densities([[(0.0, 2.0), (1.0, 0.0)], [(0.0, 1.0), (1.0, 1.0)]])
    assert falling.cdf(0, np.array([0.5]))[0] == pytest.approx(0.75)
    discrete = signals.from_values([[(1, 0.2), (5, 0.8)], [(3, 1.0)]])
    assert [discrete.value(float(x)) for x in (discrete.edges[:-1] + discrete.edges[1:]) / 2] == [1, 3, 5]


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main.main(["continuous", *words])
    return int(end.value.code or 0)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game, models, picture = tmp_path / "game.toml", tmp_path / "models.toml", tmp_path / "bars.png"
    game.write_text(HALF)
    models.write_text(MODELS + '[[model]]\nname = "tame"\nbands = { root = "x b", b = "f c" }\norder = "b:1 root:1"\n')
    assert command(str(game), "--models", str(models), "--plot", str(picture), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [answer["solved"] for answer in found["answers"]] == [True, False]
    assert found["answers"][0]["situations"]["root"]["thresholds"] == pytest.approx([0.1, 0.7], abs=1e-9)
    assert found["answers"][0]["epsilon_share"] < 1e-12
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert command(str(game), "--models", str(models)) == 0
    assert "tame: " in capsys.readouterr().out
    models.write_text('[[model]]\nbands = { root = "x b", b = "f c" }\n')
    assert command(str(game), "--models", str(models)) == 1
    assert command(str(game), "--method", "lp") == 2
    assert command(str(tmp_path / "none.toml")) == 2
    assert command(str(game), "--plot", str(tmp_path / "a.xyz")) == 2
