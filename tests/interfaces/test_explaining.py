"""`riverboat explain`: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import riverboat as rb
from riverboat.interfaces import cli


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        cli.main(["explain", *words])
    return int(end.value.code or 0)


@pytest.fixture(scope="module")
def kuhn(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("explain") / "kuhn"
    rb.save(rb.solve("kuhn", method="lp").strategy, folder)
    return str(folder)


def test_a_list_that_is_written_measures_the_same(
    kuhn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_words_for_people(kuhn: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(kuhn, "r", "--rules", "3") == 0
    out = capsys.readouterr().out
    assert "kuhn, player 1 at r" in out
    assert "exploitability" in out
    assert command(kuhn) == 0  # both players
    assert "kuhn, player 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("cc",), "nobody acts"),
        (("--player", "2"), "players 0 to 1"),
        (("--method", "forest"), "unknown method"),
        (("--out", "x.rules"), "choose one with --player"),
        (("--list", "no.rules", "--player", "0"), "No such file"),
        (("--plot", "dial.xyz"), "dial.xyz"),
    ],
)
def test_refused(
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
