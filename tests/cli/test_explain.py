"""`riverboat explain`: printed output, files and invalid arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import riverboat as rb
from riverboat.api.boards import node_figures
from riverboat.cli import main
from riverboat.games.spots.spot import Spot
from riverboat.strategies.solution import Solution


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main.main(["explain", *words])
    return int(end.value.code or 0)


@pytest.fixture(scope="module")
def kuhn(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("explain") / "kuhn"
    rb.save(rb.solve("kuhn", method="lp").strategy, folder)
    return str(folder)


def test_saved_rules_evaluate_the_same(kuhn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture = tmp_path / "second.rules", tmp_path / "dial.png"
    words = (kuhn, "--player", "1", "--rules", "4", "--method", "list", "--json")
    assert command(*words, "--out", str(path), "--plot", str(picture)) == 0
    (learned,) = json.loads(capsys.readouterr().out)["explanations"]
    assert picture.stat().st_size > 0
    assert learned["costs"]["exploitability"] == pytest.approx(0, abs=1e-9)
    assert [row["rules"] for row in learned["dial"]] == [1, 2, 3, 4]
    assert {row["instead"] for row in learned["baselines"]} >= {"the same everywhere", "purified"}
    assert command(kuhn, "--player", "1", "--list", str(path), "--json") == 0
    (measured,) = json.loads(capsys.readouterr().out)["explanations"]
    assert measured["costs"]["exploitability"] == pytest.approx(0, abs=1e-5)  # six digits were written
    assert measured["seen"]["rules"] == 4


def test_text_output(kuhn: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(kuhn, "r", "--rules", "3") == 0
    out = capsys.readouterr().out
    assert "kuhn, player 1 at r" in out
    assert "exploitability" in out
    assert command(kuhn) == 0  # both players
    assert "kuhn, player 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("cc",), "'cc'"),
        (("--player", "2"), "0 to 1"),
        (("--method", "forest"), "'forest'"),
        (("--out", "x.rules"), "--player"),
        (("--list", "no.rules", "--player", "0"), "no.rules"),
        (("--plot", "dial.xyz"), "dial.xyz"),
    ],
)
def test_invalid_arguments(
    kuhn: str,
    words: tuple[str, ...],
    error: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(kuhn, *words) == 2
    assert error in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# --- Spots, boards, agents ---

SPOT = """
board = "Td9d6hQc2s"
pot = 200
stack = 300
[ranges]
oop = "QQ+,AK,AQ,JT,T9s"
ip = "TT-66,AQ,KJ,87s"
[bets]
river = { bet = "60%" }
"""


@pytest.fixture(scope="module")
def river(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("spots")
    (folder / "river.toml").write_text(SPOT)
    with pytest.raises(SystemExit):
        main.main(["solve", str(folder / "river.toml"), "--iterations", "60", "--out", str(folder / "river")])
    return str(folder / "river")


def test_a_spot_a_hand_and_a_comparison(river: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(river, "--rules", "3", "--method", "list", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["explanations"]
    assert told["unit"] == "% of pot"
    assert told["seen"]["ev_lost"] > -0.02  # at most the exploitability
    assert set(told["costs"]) == {"exploitability"}
    assert command(river, "root", "--hand", "AsKs", "--json") == 0
    found = json.loads(capsys.readouterr().out)["why"]
    assert [move["total"] for move in found["moves"]] == pytest.approx(
        [move["ev"] for move in found["moves"]], abs=0.05
    )
    assert command(river, "root", "--hand", "AsKs") == 0
    assert "AsKs: " in capsys.readouterr().out
    assert command(river, "root", "--against", river, "--json") == 0
    assert json.loads(capsys.readouterr().out)["comparison"]["distance"] == 0
    assert command(river, "root", "--against", river, "--against-line", "x") == 0
    assert "second: x on" in capsys.readouterr().out


def test_many_boards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "river.toml").write_text(SPOT)
    (tmp_path / "boards.txt").write_text("Td9d6hQc2s\nTd9d6hQc3s\nTd9d6hQcKs\n")
    out = str(tmp_path / "many")
    with pytest.raises(SystemExit):
        main.main(
            [
                "solve",
                str(tmp_path / "river.toml"),
                "--boards",
                str(tmp_path / "boards.txt"),
                "--iterations",
                "20",
                "--out",
                out,
            ]
        )
    capsys.readouterr()
    assert command(out, "--rules", "2", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["explanations"]
    assert "3 boards" in told["title"]
    assert command(out, "x") == 2
    assert "'root'" in capsys.readouterr().err


def test_board_rows_have_player_and_pot() -> None:
    spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=300, oop="QQ+,AK", ip="TT-66,AQ", bets="60%")
    solution = rb.solve(spot, iterations=5).strategy
    assert isinstance(solution, Solution)
    node = node_figures(solution, "b120")
    assert (node["player"], node["pot"]) == ("ip", 320)


def test_agents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rules learned from a rule agent play as the first rules."""
    path, again = tmp_path / "mine.rules", tmp_path / "again.rules"
    path.write_text("if made >= top pair: raise 0.5 pot\notherwise: call\n")
    words = (str(path), "cc/", "--board", "8c8d5c", "--game", "nolimit-200bb")
    assert command(*words, "--rules", "4", "--out", str(again), "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["explanations"]
    assert told["seen"]["agreement"] == pytest.approx(1)
    assert command(*words, "--against", str(path), "--json") == 0
    assert json.loads(capsys.readouterr().out)["comparison"]["distance"] == 0
    assert command(str(path), "--game", "nolimit-200bb", "--hands", "100", "--rules", "2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["explanations"][0]["seen"]["agreement"] > 0.95
    assert command(str(path), "--board", "8c8d5c", "--game", "nolimit-200bb") == 2
    assert "--board" in capsys.readouterr().err
